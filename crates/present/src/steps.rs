//! Steps of a run: the row of each in a list, and each in full.

use std::collections::HashMap;

use stepscope_base::json::{Kind, Pointer, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, cut};
use stepscope_execution::prompt;
use stepscope_execution::prompt::AnswerShape;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::Severity;
use stepscope_record::messages::{Conversation, told};
use stepscope_record::procedure::{Field, Procedure};
use stepscope_record::state::{Badge, Entry, Moment, Ran};
use unicode_width::UnicodeWidthStr as _;

use crate::values::{one_line, present, pretty, prose, prose_of};
use crate::verdict::Mood;

/// Size in bytes of the largest record that is read again for each step that is looked at: that takes less than to
/// prepare all of its steps when it is opened.
const MAX_READ_AGAIN: usize = 32 << 10;
/// Steps whose prompts and replies are measured.
const MAX_MEASURED: usize = 64;
/// Bytes of a line of a prompt or reply that are measured.
const MAX_NATURAL: usize = 400;
/// Bytes of a reply that is with the step, and takes no room of its own.
const SHORT_REPLY: usize = 384;
/// Number of bytes of steps prepared when a larger record is opened; further steps are prepared when they are looked at.
const MAX_READY: usize = 4 << 20;
/// Largest number of values listed with a step that reads or writes them; the state has them all.
const MAX_LISTED: usize = 500;
/// Size in bytes of the largest step that is shown as it is written.
const MAX_WRITTEN: usize = 16 << 10;
/// Width up to which JSON of a step stands on one line.
const JSON_WIDTH: usize = 68;
/// The same where room is short: JSON rather wraps than takes one line per key.
const DENSE_WIDTH: usize = 4 * JSON_WIDTH;

/// Status of a step: what happened to it, else the gravest that is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepStatus {
    /// Its call failed, and the run went on.
    Failed,
    /// The run ended in it.
    EndedHere,
    /// The run ended before it.
    NotRun,
    /// Nothing tells whether it ran.
    Unavailable,
    /// The run is to be fixed here.
    ToFix,
    /// It kept its values though what it reads was changed.
    OutOfDate,
    /// Something was found in it.
    Found(Severity),
    /// Recomputed, with the value that it wrote.
    Confirmed,
    /// Nothing of it was recomputed.
    #[default]
    NotRecomputed,
}

impl StepStatus {
    /// Returns it in a word or two.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::EndedHere => "run ended here",
            Self::NotRun => "not run",
            Self::Unavailable => "unavailable",
            Self::ToFix => "step to fix",
            Self::OutOfDate => "out of date",
            Self::Found(Severity::Fatal | Severity::Repairable) => "error",
            Self::Found(Severity::Warning) => "warning",
            Self::Found(Severity::Note) => "note",
            Self::Confirmed => "as recomputed",
            Self::NotRecomputed => "not recomputed",
        }
    }

    /// Rates it.
    pub const fn mood(self) -> Mood {
        match self {
            Self::Failed | Self::EndedHere | Self::ToFix => Mood::Bad,
            Self::Found(severity) => Mood::of(severity),
            Self::OutOfDate => Mood::Doubt,
            Self::Confirmed => Mood::Good,
            Self::NotRun | Self::Unavailable | Self::NotRecomputed => Mood::Open,
        }
    }

    /// Returns the status of a step of a run.
    pub(crate) fn of(case: &CaseView<'_>, position: usize, row: &StepRow, is_to_fix: bool) -> Self {
        let state = case.state();
        let went_on = || (position + 1..state.step_count()).any(|later| state.call(later).is_some());
        match row.ran {
            _ if row.failed && went_on() => Self::Failed,
            _ if row.failed => Self::EndedHere,
            Ran::No => Self::NotRun,
            Ran::Unknown => Self::Unavailable,
            _ if is_to_fix => Self::ToFix,
            _ if row.is_stale => Self::OutOfDate,
            _ => match row.worst {
                Some(severity) => Self::Found(severity),
                None if row.is_confirmed => Self::Confirmed,
                None => Self::NotRecomputed,
            },
        }
    }
}

/// One step, as the list shows it.
#[derive(Debug, Clone)]
pub struct StepRow {
    /// Id of the step, as written.
    pub id: Shown,
    /// Instruction of the step, on one line.
    pub text: Shown,
    /// The gravest finding in it.
    pub worst: Option<Severity>,
    /// True if its call ended in an error.
    pub failed: bool,
    /// Execution state: whether the step ran.
    pub ran: Ran,
    /// True if it kept its values though what it reads was changed.
    pub is_stale: bool,
    /// True if a value that it wrote was recomputed, and none of them differs.
    pub is_confirmed: bool,
    /// Status in the run, and what is known of it.
    pub status: StepStatus,
    /// True if evoproc runs it with the answer schema.
    pub is_last: bool,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

/// One step in full.
#[derive(Debug, Clone, Default)]
pub struct Detail {
    /// Values that it reads.
    pub reads: Vec<DetailValue>,
    /// Values that it writes.
    pub writes: Vec<DetailValue>,
    /// Numbers of further values that it reads and writes, beyond those listed.
    pub more: (usize, usize),
    /// No procedure declares what it reads and writes, and its call does not note it.
    pub unrecorded: (bool, bool),
    /// Instruction of the step.
    pub text: Shown,
    /// The prompt.
    pub prompt: Option<Shown>,
    /// The prompt was made again from the record; nothing says that it was sent.
    pub prompt_rebuilt: bool,
    /// The schema that was asked for.
    pub schema: Option<Shown>,
    /// True if the prompt holds that schema too.
    pub schema_in_prompt: bool,
    /// The reply as it came.
    pub reply: Option<Shown>,
    /// The step as the procedure writes it, indented, where it is not large.
    pub written: Option<Shown>,
    /// The same in fewer lines.
    pub written_dense: Option<Shown>,
    /// Reason of the failure.
    pub error: Option<Shown>,
    /// Model, server, seed, tokens, times: name and value.
    pub facts: Vec<(&'static str, Shown)>,
}

impl Detail {
    /// Measures the longest line of the prompt and of a long reply, in columns.
    fn call_width(&self) -> Option<usize> {
        let reply = self.reply.as_ref().filter(|reply| reply.as_str().len() > SHORT_REPLY);
        let lines = self.prompt.iter().chain(reply).flat_map(|text| text.as_str().lines());
        lines.map(|line| cut(line, MAX_NATURAL).width()).max()
    }

    /// Takes over what was recorded of a call of a model.
    fn take_call<'a>(&mut self, get: impl Fn(&str) -> Option<Value<'a>>) {
        let get = |key: &str| present(get(key));
        self.prompt = get("prompt").map(|prompt| told(prompt).unwrap_or_else(|| prose(prompt)));
        self.schema = get("schema").map(|schema| pretty(schema, JSON_WIDTH));
        self.reply = get("raw").map(prose);
        let usage = |key: &str| present(get("usage")?.get(key));
        let plain = [
            ("model", get("model")),
            ("served as", get("served_model")),
            ("server", get("backend")),
            ("endpoint", get("endpoint")),
            ("seed", get("seed")),
            ("temperature", get("temperature")),
            ("max tokens", get("max_tokens")),
            ("tokens in", usage("prompt_tokens")),
            ("tokens out", usage("completion_tokens")),
            ("ended by", get("finish_reason")),
        ];
        let plain = plain.into_iter().filter_map(|(name, value)| value.map(|value| (name, one_line(value))));
        let took = get("duration_ms").map(|ms| ("took", shown!("{} ms", one_line(ms))));
        let started = get("started_utc").map(|time| ("started", one_line(time)));
        self.facts = plain.chain(took).chain(started).collect();
    }

    /// Tells whether a prompt or a reply is known.
    fn has_call(&self) -> bool {
        self.prompt.is_some() || self.reply.is_some()
    }

    /// About how many bytes it takes.
    fn size(&self) -> usize {
        let values = self.reads.iter().chain(&self.writes);
        let texts = [&self.prompt, &self.schema, &self.reply, &self.written, &self.written_dense, &self.error]
            .map(Option::as_ref);
        let texts = texts.into_iter().chain([Some(&self.text)]);
        let of_values = values.flat_map(|value| [Some(&value.name), Some(&value.description), value.value.as_ref()]);
        size_of::<Self>()
            + of_values.chain(texts).map(|text| 32 + text.map_or(0, |text| text.as_str().len())).sum::<usize>()
    }
}

/// A value in a step.
#[derive(Debug, Clone)]
pub struct DetailValue {
    /// The variable.
    pub variable: usize,
    /// Name of the variable.
    pub name: Shown,
    /// Description of the variable by the step.
    pub description: Shown,
    /// The value, with its line breaks.
    pub value: Option<Shown>,
    /// Kind of the value.
    pub kind: Kind,
    /// Badge that tells how the value is known.
    pub badge: Badge,
}

pub(crate) fn steps(case: &CaseView<'_>, conversation: &Conversation) -> Vec<StepRow> {
    let base = case.procedure_pointer();
    let declared = case.procedure().map(|procedure| procedure.steps.as_slice()).unwrap_or_default();
    let last = case.state().last_step();
    (0..declared.len().max(case.state().step_count()))
        .map(|position| {
            let step = declared.get(position);
            let call = case.state().call(position);
            // Without a procedure the program that was recorded may have named its steps.
            let (id, text, nothing) = match step {
                Some(step) => (step.id.map_or_else(|| Shown::own("?"), one_line), step.text, "(no text)"),
                None => (shown!("{}", position + 1), call.and_then(|call| call.get("name")), "(call of a model)"),
            };
            let text = text.filter(|text| !text.is_null()).map(one_line);
            let did = || conversation.did(position).filter(|_| step.is_none());
            StepRow {
                id,
                text: indent(call.and_then(|call| call.get("depth")?.whole()))
                    .join(&text.or_else(did).unwrap_or(Shown::own(nothing))),
                worst: None,
                failed: call.is_some_and(|call| call.error.is_some()) || case.state().has_run(position) == Ran::Failed,
                ran: case.state().has_run(position),
                is_stale: case.state().is_stale(position),
                is_confirmed: false,
                status: StepStatus::default(),
                is_last: last.contains(position),
                pointer: match (step, call) {
                    (None, Some(call)) => call.pointer(),
                    _ => case.pointer(Procedure::step_pointer(base, position)),
                },
            }
        })
        .collect()
}

/// Blanks before the name of a step that ran inside of so many others.
fn indent(depth: Option<usize>) -> Shown {
    const MOST: usize = 8;
    shown!("{:1$}", "", 2 * depth.map_or(0, |depth| depth.min(MOST)))
}

/// Tells whether its steps are prepared when they are looked at.
fn is_read_again(case: &CaseView<'_>) -> bool {
    case.text().len() <= MAX_READ_AGAIN
}

/// Prepares the first steps of a large record in full, within a bounded amount of memory.
fn first_details(case: &CaseView<'_>, steps: usize) -> Vec<Detail> {
    let (mut details, mut room) = (Vec::new(), MAX_READY);
    if is_read_again(case) {
        return details;
    }
    for step in 0..steps {
        let detail = detail(case, step);
        let Some(left) = room.checked_sub(detail.size()) else { break };
        room = left;
        details.push(detail);
    }
    details
}

/// Prepares one step in full.
pub fn detail<'a>(case: &CaseView<'a>, position: usize) -> Detail {
    let step = case.procedure().and_then(|procedure| procedure.steps.get(position));
    // Steps with thousands of fields exist: each is looked up, not looked for.
    let by_name = |fields: Option<&[Field<'a>]>| {
        let mut found: HashMap<Untrusted<'a>, Field<'a>> = HashMap::new();
        for field in fields.unwrap_or_default() {
            if let Some(name) = field.name_text() {
                found.entry(name).or_insert(*field);
            }
        }
        found
    };
    let describe = |entry: &Entry<'a>, fields: &HashMap<Untrusted<'a>, Field<'a>>| {
        let variable = case.state().variables().get(entry.variable);
        let name = variable.map(|variable| variable.name.clone()).unwrap_or_default();
        let field = fields.get(&name);
        DetailValue {
            variable: entry.variable,
            description: field.and_then(|field| field.description).map(one_line).unwrap_or_default(),
            name: name.line(),
            value: entry.value.map(prose),
            kind: entry.value.map_or(Kind::Null, Value::kind),
            badge: entry.badge,
        }
    };
    let inputs = by_name(step.map(|step| step.inputs.as_slice()));
    let outputs = by_name(step.map(|step| step.outputs.as_slice()));
    let (reads, writes) = (case.state().reads(position), case.state().writes(position));
    let call = case.state().call(position);
    let is_unrecorded = |key| step.is_none() && call.is_some_and(|call| present(call.get(key)).is_none());
    let mut detail = Detail {
        unrecorded: (is_unrecorded("inputs"), is_unrecorded("outputs")),
        reads: reads.iter().take(MAX_LISTED).map(|entry| describe(entry, &inputs)).collect(),
        writes: writes.iter().take(MAX_LISTED).map(|entry| describe(entry, &outputs)).collect(),
        more: (reads.len().saturating_sub(MAX_LISTED), writes.len().saturating_sub(MAX_LISTED)),
        text: step.and_then(|step| step.text).map(prose).unwrap_or_default(),
        ..Detail::default()
    };
    // The steps of a chain are read from its text; the record has no procedure.
    let written = step.map(|step| step.value).filter(|step| case.chain().is_none() && step.raw().len() <= MAX_WRITTEN);
    detail.written = written.map(|step| pretty(step, JSON_WIDTH));
    detail.written_dense = written.map(|step| pretty(step, DENSE_WIDTH));
    if let Some(call) = call {
        detail.error = call.error.map(prose);
        detail.take_call(|key| call.get(key));
    }
    if detail.prompt.is_none() {
        rebuild_prompt(case, position, &mut detail);
    }
    if let (Some(prompt), Some(schema)) = (&detail.prompt, &detail.schema) {
        let solid = |text: &Shown| text.as_str().chars().filter(|c| !c.is_whitespace()).collect::<String>();
        detail.schema_in_prompt = solid(prompt).contains(&solid(schema));
    }
    detail
}

/// Makes the prompt and schema that evoproc would send, where none was recorded.
fn rebuild_prompt(case: &CaseView<'_>, position: usize, detail: &mut Detail) {
    let (Some(procedure), Some(record), None) = (case.procedure(), &case.record, case.chain()) else { return };
    let request = prompt::visible_inputs(procedure, case.state(), position)
        .and_then(|inputs| prompt::execution(procedure, position, &inputs, AnswerShape::of(record)));
    if let Ok(request) = request {
        detail.prompt = Some(prose_of(request.prompt.bytes()));
        let mut tape = Tape::default();
        let schema = || match tape.parse(request.schema.bytes()) {
            Some(schema) => pretty(schema, JSON_WIDTH),
            None => prose_of(request.schema.bytes()),
        };
        detail.schema = Some(detail.schema.take().unwrap_or_else(schema));
        detail.prompt_rebuilt = true;
    }
}

/// Steps in full that are ready for every key, and what is known of the calls of all steps.
#[derive(Debug)]
pub struct PreparedSteps {
    /// The first steps of a large record: they must not be read again.
    details: Vec<Detail>,
    /// Step that is looked at first, where it is not among those: prepared on the thread that reads the record.
    first: Option<(usize, Detail)>,
    /// The call that made the procedure, as far as it was recorded.
    pub creation: Detail,
    /// True if prompt or reply of a call is known.
    pub has_calls: bool,
    /// Columns of the longest line of prompts and long replies, of the first steps where there are many.
    pub call_width: usize,
}

impl PreparedSteps {
    /// Prepares the steps of a record that opens at a moment.
    pub fn of(case: &CaseView<'_>, steps: usize, opening: Moment) -> Self {
        let details = first_details(case, steps);
        let first = opening.0.checked_sub(1).filter(|step| (details.len()..steps).contains(step));
        let first = first.map(|step| (step, detail(case, step)));
        let mut creation = Detail::default();
        if let Some(call) = case.root().and_then(|root| root.get("trace")?.get("creation")) {
            creation.take_call(|key| call.get(key));
        }
        let ready = details.iter().chain(first.iter().map(|(_, detail)| detail)).chain([&creation]);
        let is_among_others = || is_read_again(case) && (0..steps).any(|step| detail(case, step).has_call());
        let has_calls = ready.into_iter().any(Detail::has_call) || is_among_others();
        let widths = if is_read_again(case) {
            (0..steps.min(MAX_MEASURED)).filter_map(|step| detail(case, step).call_width()).max()
        } else {
            details.iter().take(MAX_MEASURED).filter_map(Detail::call_width).max()
        };
        let call_width = widths.max(creation.call_width()).filter(|_| has_calls).unwrap_or(0);
        Self { details, first, creation, has_calls, call_width }
    }

    /// Returns a step in full, where it is ready: of a small record it is read again.
    pub fn get(&self, step: usize) -> Option<&Detail> {
        let first = || self.first.as_ref().filter(|(first, _)| *first == step).map(|(_, detail)| detail);
        self.details.get(step).or_else(first)
    }
}
