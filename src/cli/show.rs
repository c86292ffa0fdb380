//! `stepscope show`: one record as plain text.

use std::ops::ControlFlow;

use super::check::item;
use super::reader::{Read, each};
use super::{CLEAN, FAILED, Out, Show};
use crate::domain::json::Value;
use crate::domain::procedure::Procedure;
use crate::domain::prompt::{AnswerShape, Refused, execution, visible_inputs};
use crate::domain::record::{Record, RecordKind};
use crate::domain::report::text::{Look, write};
use crate::domain::rules;
use crate::domain::state::{Entry, Moment, State};
use crate::domain::text::{Shown, Untrusted};
use crate::domain::trace::TraceStep;
use crate::shown;

/// A longer value is cut, unless one step alone is shown.
const CUT: usize = 120;
/// How many other places of the same id are named.
const NAMED: usize = 5;

pub(super) fn run(show: &Show, out: &mut Out) -> u8 {
    let (mut code, mut others, mut lines) = (None, 0, Vec::new());
    let mut records = 0;
    let failures = each(&show.paths, None, |read| {
        records += 1;
        if !wanted(show, read) {
            return ControlFlow::Continue(());
        }
        if code.is_none() {
            code = Some(one(show, read, out));
        } else {
            others += 1;
            if lines.len() < NAMED {
                lines.push(shown!("{}:{}", read.source.line(), read.line));
            }
        }
        ControlFlow::Continue(())
    });
    for failure in &failures {
        out.complain(failure);
    }
    if others > 0 {
        let lines: Vec<_> = lines.iter().map(Shown::as_str).collect();
        let what = if show.id.is_some() { "have this id too" } else { "are not shown; choose with --id or --line" };
        out.complain(&shown!("{others} more records {what}: {}", lines.join(", ")));
    }
    let Some(code) = code else {
        let what = match (&show.id, show.line) {
            (Some(id), _) => shown!("no record has the id {}", Shown::line(id.as_bytes())),
            (_, Some(line)) => shown!("no record begins on line {line}"),
            _ => Shown::own("there is no record"),
        };
        out.complain(&shown!("{what}; {records} were read, `stepscope check --format jsonl` lists their ids"));
        return FAILED;
    };
    if failures.is_empty() { code } else { FAILED }
}

fn wanted(show: &Show, read: &Read<'_>) -> bool {
    match (&show.id, show.line) {
        (Some(id), _) => {
            let text = read.subject.record.as_ref().and_then(Record::id_text);
            text.is_some_and(|text| text == id.as_str())
        }
        (_, Some(line)) => read.line == line,
        _ => true,
    }
}

fn one(show: &Show, read: &Read<'_>, out: &mut Out) -> u8 {
    let subject = read.subject;
    let findings = rules::check(subject);
    let item = item(read, &findings);
    let mut text = Vec::new();
    let Some(record) = &subject.record else {
        out.line(&shown!("{}:{}: not readable as JSON\n", read.source.line(), read.line));
        write(&item, &Look::new(out.colours(show.color)), &mut text);
        out.write(&text);
        return CLEAN;
    };
    let view =
        View { record, procedure: subject.procedure.as_ref(), state: State::of(record, subject.procedure.as_ref()) };
    if let Some(number) = show.step {
        let Some(step) = number.checked_sub(1).filter(|step| *step < view.steps()) else {
            out.complain(&shown!("there is no step {number}: this record has {}", view.steps()));
            return FAILED;
        };
        return if show.prompt { view.prompt(step, out) } else { view.step_alone(step, show.state, out) };
    }
    view.head(read, out);
    view.all_steps(show.state, out);
    if !findings.is_empty() {
        write(&item, &Look::new(out.colours(show.color)), &mut text);
        out.write(b"Findings\n\n");
        out.write(&text);
    }
    CLEAN
}

struct View<'v, 'a> {
    record: &'v Record<'a>,
    procedure: Option<&'v Procedure<'a>>,
    state: State<'a>,
}

impl View<'_, '_> {
    fn steps(&self) -> usize {
        self.procedure.map_or(self.state.step_count(), |procedure| procedure.steps.len())
    }

    fn head(&self, read: &Read<'_>, out: &mut Out) {
        let record = self.record;
        let id = record.id_text().map_or_else(|| Shown::own("none"), |id| id.line());
        let verdict = match record.correct {
            Some(true) => ", judged right",
            Some(false) => ", judged wrong",
            None => "",
        };
        out.line(&shown!("{}:{}  id {id}  {}{verdict}\n", read.source.line(), read.line, record.kind.word()));
        for (title, value) in [
            ("Question", record.question),
            ("Gold", record.gold_answer.or(record.gold_num)),
            ("Answer", record.pred_answer.or(record.answer)),
            ("Number", record.pred_num),
            ("Error", record.error),
        ] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                out.line(&shown!("{title}\n{}\n", paragraph(value)));
            }
        }
        if let Some(surprise) = self.state.last_step().surprise {
            out.line(&shown!("Note: {}\n", surprise.meaning()));
        }
    }

    fn all_steps(&self, with_state: bool, out: &mut Out) {
        for step in 0..self.steps() {
            self.step(step, false, out);
            if with_state {
                self.states(step, out);
            }
            out.write(b"\n");
        }
        // What no step is known to have written; of a baseline that is all there is.
        let end = Moment(self.state.step_count());
        let rest: Vec<_> = self.state.at(end).into_iter().filter(|entry| entry.writer.is_none()).collect();
        if self.record.kind != RecordKind::Procedure && !rest.is_empty() {
            out.write(b"Values that no step writes\n");
            self.entries(&rest, false, out);
            out.write(b"\n");
        }
    }

    fn step_alone(&self, step: usize, with_state: bool, out: &mut Out) -> u8 {
        self.step(step, true, out);
        if let Some(call) = self.state.call(step) {
            recorded(call, out);
        }
        if with_state {
            self.states(step, out);
        }
        CLEAN
    }

    fn step(&self, step: usize, whole: bool, out: &mut Out) {
        let declared = self.procedure.and_then(|procedure| procedure.steps.get(step));
        let id = declared.and_then(|step| step.id).map_or_else(|| Shown::own("none"), |id| raw(id, 20));
        let last = if self.state.last_step().positions.contains(&step) { ", run with the answer schema" } else { "" };
        out.line(&shown!("Step {} (id {id}{last})", step + 1));
        if let Some(text) = declared.and_then(|step| step.text) {
            out.line(&paragraph(text));
        }
        for (title, entries) in [("reads", self.state.reads(step)), ("writes", self.state.writes(step))] {
            out.line(&shown!("  {title}{}", if entries.is_empty() { " nothing" } else { "" }));
            self.entries(&entries, whole, out);
        }
    }

    fn states(&self, step: usize, out: &mut Out) {
        out.write(b"  state before\n");
        self.entries(&self.state.before(step), false, out);
        out.write(b"  state after\n");
        self.entries(&self.state.after(step), false, out);
    }

    fn entries(&self, entries: &[Entry<'_>], whole: bool, out: &mut Out) {
        let name = |entry: &Entry<'_>| {
            self.state.variables().get(entry.variable).map(|variable| variable.name.line()).unwrap_or_default()
        };
        let width = entries.iter().map(|entry| name(entry).as_str().chars().count()).max().unwrap_or(0).min(40);
        for entry in entries {
            let value =
                entry.value.map_or_else(|| Shown::own("-"), |value| raw(value, if whole { usize::MAX } else { CUT }));
            out.line(&shown!("    {:width$}  {value}  [{}]", name(entry), entry.badge.word()));
        }
    }

    fn prompt(&self, step: usize, out: &mut Out) -> u8 {
        let Some(procedure) = self.procedure else {
            out.complain(&Shown::own("this record has no procedure to make a prompt from"));
            return FAILED;
        };
        let request = visible_inputs(procedure, &self.state, step)
            .and_then(|inputs| execution(procedure, step, &inputs, AnswerShape::of(self.record)));
        match request {
            Ok(request) => {
                // Into a file or pipe the exact bytes, to a terminal only what it can show.
                if out.is_terminal() {
                    out.line(&request.prompt.prose());
                } else {
                    out.write(request.prompt.bytes());
                    out.write(b"\n");
                }
                CLEAN
            }
            Err(refused) => {
                out.complain(&match refused {
                    Refused::NoStep => Shown::own("there is no such step"),
                    Refused::Unresolvable(name) => shown!(
                        "upstream would send nothing: the value of {} is not known before step {}",
                        name.line(),
                        step + 1
                    ),
                    Refused::Odd => {
                        Shown::own("upstream would send nothing: the step's shape is not one that it survives")
                    }
                });
                FAILED
            }
        }
    }
}

/// What was recorded of a call, beyond values.
fn recorded(call: &TraceStep<'_>, out: &mut Out) {
    for (title, value) in [
        ("model", call.model),
        ("backend", call.backend),
        ("endpoint", call.endpoint),
        ("seed", call.seed),
        ("temperature", call.temperature),
        ("max_tokens", call.max_tokens),
        ("usage", call.usage),
        ("started", call.started_utc),
        ("took (ms)", call.duration_ms),
    ] {
        if let Some(value) = value {
            out.line(&shown!("  {title:12} {}", raw(value, CUT)));
        }
    }
    for (title, value) in [("error", call.error), ("prompt", call.prompt), ("reply", call.raw)] {
        if let Some(value) = value {
            out.line(&shown!("  {title}\n{}", paragraph(value)));
        }
    }
}

/// A value on one line, as it stands in the record, cut to a number of characters.
fn raw(value: Value<'_>, characters: usize) -> Shown {
    // What is cut away need not be made printable first.
    let bytes = value.raw();
    let head = bytes.get(..characters.saturating_mul(4).min(bytes.len())).unwrap_or(bytes);
    let shown = Shown::line(head);
    match shown.as_str().char_indices().nth(characters) {
        None if head.len() == bytes.len() => shown,
        None => shown.and("…"),
        Some((at, _)) => shown!("{}…", shown.as_str().get(..at).unwrap_or_default()),
    }
}

/// A text as indented lines; any other value as it stands.
fn paragraph(value: Value<'_>) -> Shown {
    let text = value.string().unwrap_or_else(|| Untrusted::new(value.raw()));
    let lines: Vec<String> = text.prose().as_str().lines().map(|line| format!("  {line}")).collect();
    shown!("{}", lines.join("\n"))
}
