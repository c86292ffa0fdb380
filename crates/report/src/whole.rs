//! A whole record as plain text: question, where to fix it, timeline, steps with their values, and findings.

use crate::text::{Look, write};
use stepscope_base::charts;
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::prompt::{AnswerShape, Refused, execution, visible_inputs};
use stepscope_execution::verify::recorded_reward;
use stepscope_judge::aligned::AlignedValue;
use stepscope_judge::case::CaseView;
use stepscope_judge::hide::Hide;
use stepscope_judge::recompute::Recomputed;
use stepscope_judge::route::Routed;
use stepscope_judge::triage::Fix;
use stepscope_present::answer::ROUTE;
use stepscope_present::content::RecordContent;
use stepscope_present::steps::StepStatus;
use stepscope_present::verdict::{Mood, WhereToFix};
use stepscope_record::cost::{StepCost, duration};
use stepscope_record::finding::{counted, grouped};
use stepscope_record::fork_origin::ForkOrigin;
use stepscope_record::messages::{Conversation, told};
use stepscope_record::procedure::Procedure;
use stepscope_record::state::{Badge, Entry, Moment, State, VariableOrigin};
use stepscope_record::trace::{Put, TraceStep};
use stepscope_record::{Record, RecordKind};
use stepscope_review::event::letter;

/// Maximum length of a value, in characters, unless one step alone is shown.
const CUT: usize = 120;
/// Maximum number of values of global states that are printed for all steps together; then only what each step writes.
const MAX_STATES: usize = 5_000;
/// Maximum number of calls that created a procedure which are printed.
const MAX_CREATION: usize = 100;
/// Width of the waterfall of a run, in columns.
const BAR: usize = 32;
/// Printed text of a record.
#[derive(Default)]
pub struct RecordText {
    /// The text.
    pub out: Vec<u8>,
    /// Reason that it is not what was asked for.
    pub refused: Option<Shown>,
}

impl RecordText {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn line(&mut self, line: &Shown) {
        self.text(line.as_str());
        self.out.push(b'\n');
    }
}

/// Formats the place of a record, as a link where there are links.
fn place(case: &CaseView<'_>, look: &Look) -> String {
    look.place(&case.place_name(), case.line() as usize)
}

/// Part of a record that is printed; by default all but the states.
#[derive(Clone, Copy, Default)]
pub struct RecordPart {
    /// One step alone, from 1.
    pub step: Option<usize>,
    /// Of the step only its prompt.
    pub prompt: bool,
    /// Also the global state before and after each step.
    pub state: bool,
    /// Neither place and id nor steps and findings: what it is, its question and answer, and where to fix it.
    pub brief: bool,
    /// Parts that are hidden: with the triage, where to fix it.
    pub hide: Hide,
}

/// Prints a record. More than `room` bytes of steps are counted instead; a prompt is made safe for a `terminal`, and is
/// exact elsewhere.
pub fn record(show: RecordPart, case: &CaseView<'_>, look: &Look, terminal: bool, room: usize) -> RecordText {
    let mut out = RecordText::default();
    let Some(record) = &case.record else {
        if show.brief {
            out.line(&Shown::own("not readable as JSON"));
            return out;
        }
        out.text(&place(case, look));
        out.line(&Shown::own(": not readable as JSON\n"));
        write(case, case.findings(), look, &mut out.out);
        return out;
    };
    let (procedure, state) = (case.procedure(), case.state());
    let content = &RecordContent::of(case, show.hide);
    let view = WholeRecord { case, record, procedure, state, content, room };
    if let Some(number) = show.step {
        match number.checked_sub(1).filter(|step| *step < view.steps()) {
            None => out.refused = Some(shown!("no step {number}: this record has {}", view.steps())),
            Some(step) if show.prompt => view.prompt(step, terminal, &mut out),
            Some(step) => view.step_alone(step, show.state, &mut out),
        }
        return out;
    }
    if show.brief {
        view.verdict(&mut out);
    } else {
        view.place(look, &mut out);
    }
    view.head(&mut out);
    if let Some(fix) = &content.where_to_fix {
        view.where_to_fix(fix, show.brief, &mut out);
    }
    if let Some(routed) = case.routed() {
        WholeRecord::route(routed, &mut out);
    }
    view.items(&mut out);
    if show.brief {
        return out;
    }
    view.peers(&mut out);
    view.creation(&mut out);
    view.timeline(&mut out);
    view.all_steps(show.state, &mut out);
    if !case.findings().is_empty() {
        out.line(&Shown::own("Findings\n"));
        write(case, case.findings(), look, &mut out.out);
    }
    out
}

struct WholeRecord<'v, 'a> {
    case: &'v CaseView<'a>,
    record: &'v Record<'a>,
    procedure: Option<&'v Procedure<'a>>,
    state: &'v State<'a>,
    content: &'v RecordContent,
    room: usize,
}

impl WholeRecord<'_, '_> {
    fn steps(&self) -> usize {
        self.procedure.map_or(self.state.step_count(), |procedure| procedure.steps.len())
    }

    /// Prints where the record is, what it is and whether it is right.
    fn place(&self, look: &Look, out: &mut RecordText) {
        let id = self.record.id_text().map_or_else(|| Shown::own("none"), |id| id.line());
        out.text(&place(self.case, look));
        out.line(&shown!("  id {id}  {}{}\n", self.record.kind.phrase(), self.graded()));
    }

    /// Prints what the record is, whether it is right, and where it is to be fixed.
    fn verdict(&self, out: &mut RecordText) {
        let fix = self.content.where_to_fix.as_ref().filter(|fix| !matches!(fix.fix, Fix::None | Fix::Unknown));
        let fix = fix.map_or_else(Shown::default, |fix| shown!("; fix: {}", fix.words()));
        out.line(&shown!("{}{}{fix}\n", self.record.kind.phrase(), self.graded()));
    }

    /// Phrases whether the record is right.
    fn graded(&self) -> &'static str {
        let rightness = self.case.rightness();
        match (rightness.recorded, rightness.verdict()) {
            (Some(true), Some(false)) => ", graded correct, but the answer is not as expected",
            (Some(false), Some(true)) => ", graded wrong, but the answer is as expected",
            (Some(true), _) if self.content.is_lucky => ", graded correct, by luck",
            (Some(true), _) => ", graded correct",
            (Some(false), _) => ", graded wrong",
            (None, Some(true)) => ", answer as expected",
            (None, Some(false)) => ", answer not as expected",
            (None, None) => "",
        }
    }

    fn head(&self, out: &mut RecordText) {
        let record = self.record;
        match record.question.filter(|question| !question.is_null()) {
            Some(prompt) if record.kind == RecordKind::Call => call_prompt(record.root, prompt, out),
            Some(question) => out.line(&shown!("Question\n{}\n", paragraph(question))),
            None => {}
        }
        let reasoning = || record.root.get("reasoning").filter(|_| record.kind == RecordKind::Call);
        // The state of a run of another program is no answer, and items are listed below.
        let has_items = || self.content.structured.as_ref().is_some_and(|answer| !answer.items.is_empty());
        let is_listed = || record.is_gathered || has_items();
        let is_reply = |kind| matches!(kind, RecordKind::Procedure | RecordKind::Baseline | RecordKind::Call);
        for (title, value) in [
            ("Expected answer (gold)", record.gold_answer.or(record.gold_num)),
            ("Answer", record.pred_answer.or(self.chain_answer()).or(record.answer.filter(|_| !is_listed()))),
            ("Waits for", record.root.get("waits_for").filter(|_| record.is_gathered)),
            ("Number", record.pred_num),
            ("Error", record.error),
            ("Reasoning", reasoning()),
            ("Reply", record.raw.filter(|_| is_reply(record.kind))),
        ] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                out.line(&shown!("{title}\n{}\n", paragraph(value)));
            }
        }
        let listed = |key| record.root.get(key).filter(|_| record.kind == RecordKind::Call).into_iter();
        let said = |key| listed(key).flat_map(Value::items).map(|one| cut_line(one, usize::MAX)).collect();
        let reply = self.content.conversation.messages.last().filter(|message| message.is_reply);
        let tools = reply.map_or_else(|| said("tool_calls"), |reply| reply.tools.clone());
        for (title, lines) in [("Tool calls", tools), ("Other choices", said("choices"))] {
            let lines: Vec<Shown> = lines;
            if !lines.is_empty() && record.kind == RecordKind::Call {
                out.line(&shown!("{title}"));
                for line in lines {
                    out.line(&shown!("  {line}"));
                }
                out.line(&Shown::default());
            }
        }
        if let Some(reward) = recorded_reward(record.root).filter(|_| record.kind == RecordKind::Call) {
            out.line(&shown!("Reward\n  {reward:?}\n"));
        }
        if let Some(labelled) = record.chain.as_ref().and_then(|parts| parts.labelled) {
            out.line(&shown!("Labelled\n  {}\n", labelled.phrase()));
        }
        if let Some(fork_origin) = ForkOrigin::of(record.root) {
            let parent = fork_origin.parent.as_ref().map(|id| shown!(" of {}", id.line())).unwrap_or_default();
            out.line(&shown!("Fork{parent}\n  {}\n", fork_origin.phrase()));
        }
        if let Some(surprise) = self.state.last_step().surprise {
            out.line(&shown!("Note: {}\n", surprise.meaning()));
        }
    }

    /// Returns the final answer of a chain of thought.
    fn chain_answer(&self) -> Option<Value<'_>> {
        self.record.chain.as_ref()?;
        self.record.state?.get("final_answer")
    }

    /// Prints where a structured answer goes, and why.
    fn route(routed: &Routed, out: &mut RecordText) {
        out.line(&shown!("Route\n  {}", routed.route.phrase()));
        for trigger in &routed.triggers {
            let (why, place) = (trigger.why.line(), trigger.pointer.text());
            out.line(&shown!("  - {}: {why}  [{}]", trigger.route.phrase(), place.line()));
        }
        out.line(&Shown::default());
    }

    /// Prints where to fix the run, and the argument.
    fn where_to_fix(&self, fix: &WhereToFix, brief: bool, out: &mut RecordText) {
        out.line(&shown!("Where to fix\n  {}", fix.words()));
        for reason in &fix.why {
            let source = shown!("  [{} {}]", reason.rule, reason.pointer.text().line());
            out.line(&shown!("  - {}{}", reason.text, if brief { Shown::default() } else { source }));
        }
        if let Some(note) = &self.content.difference {
            out.line(&shown!("  {}", note.message));
        }
        if let Some((cause, slip)) = &self.content.cause {
            let slip = slip.as_ref().map_or_else(Shown::default, |slip| shown!("; {}", slip.phrase()));
            out.line(&shown!("  Cause: {}{slip}", cause.phrase()));
        }
        if let Some(line) = self.case.executed().and_then(|executed| self.derived(executed)).filter(|_| !brief) {
            out.line(&line);
        }
        out.line(&Shown::default());
    }

    /// Prints the items of a structured answer with their citations, and what each rests on.
    fn items(&self, out: &mut RecordText) {
        let Some(answer) = self.content.structured.as_ref().filter(|answer| !answer.items.is_empty()) else { return };
        out.line(&Shown::own("Answer"));
        // The route, with what leads to it, stands above.
        let own = answer.facts.iter().skip_while(|fact| fact.name == ROUTE || fact.name.is_empty());
        // What a screen opens in a window is in the JSON.
        let own = own.filter(|fact| fact.whole.is_none());
        own.for_each(|fact| out.line(&shown!("  {:12} {}", fact.name, Shown::line(fact.text.as_str().as_bytes()))));
        out.line(&Shown::own("\nItems"));
        for (n, item) in answer.items.iter().enumerate() {
            if out.out.len() > self.room {
                out.line(&shown!("  and {} more", grouped(answer.items.len() - n)));
                break;
            }
            let mut lines = item.lines.iter().map(|line| line.as_str().trim_start());
            let sign = Mood::of_citation(item.standing).glyph();
            out.line(&shown!("  {sign} {} {}  {}", letter(n), item.title, lines.next().unwrap_or_default()));
            lines.for_each(|line| out.line(&shown!("      {line}")));
            if item.is_missing {
                out.line(&Shown::own("      its value is not in the cited lines"));
            }
            for span in answer.spans.get(item.spans.clone()).into_iter().flatten() {
                out.line(&shown!("      {}: {}", span.place.as_ref().unwrap_or(&span.written), span.badge));
                let quote = span.quote.iter().map(|quote| shown!("      “{}”", cut_text(quote)));
                quote.for_each(|quote| out.line(&quote));
            }
        }
        out.line(&Shown::default());
    }

    /// Prints its values next to those of other runs of its question, a line each: a sign a peer, and the values that
    /// some have in its place.
    fn peers(&self, out: &mut RecordText) {
        let Some(peers) = &self.content.peers else { return };
        out.line(&Shown::own("Peers"));
        for (n, name) in peers.names().iter().enumerate() {
            out.line(&shown!("  {:>3} {name}", n + 1));
        }
        let formula =
            |value: &AlignedValue| value.formula.as_ref().map_or_else(Shown::default, |of| shown!(" as {of}"));
        let text = |value: &AlignedValue| shown!("{}{}", value.shown(), formula(value)).cut(CUT);
        let width = peers.values().map(|(_, value)| text(value).as_str().chars().count()).max().unwrap_or(0).min(40);
        for (step, value) in peers.values() {
            if out.out.len() > self.room {
                break;
            }
            let number = step.map_or_else(Shown::default, |step| shown!("{}", step + 1));
            let leaves = if step.is_some() && step == peers.leaves { "  leaves its peers" } else { "" };
            let signs: String = value.counterparts.iter().map(|one| one.sign()).collect();
            let counts = value.counts();
            out.line(&shown!(
                "  {number:>5}  {:width$}  {signs}  {}/{}{}{leaves}",
                text(value),
                counts.same,
                counts.of,
                others(value)
            ));
        }
        out.line(&Shown::own("  = the same number, ≠ another value, ≈ the same number from other numbers,"));
        out.line(&Shown::own(
            "  ⊂ the same numbers in one calculation with others, □ not found; blank: not compared\n",
        ));
    }

    /// Prints the calls that created the procedure, one line each: they are paid for, and no steps.
    fn creation(&self, out: &mut RecordText) {
        let calls = self.record.root.get("trace").and_then(|trace| trace.get("creation"));
        let Some(calls) = calls.filter(|calls| calls.kind() == Kind::Array && !calls.is_empty()) else { return };
        out.line(&Shown::own("Creation of the procedure"));
        for (n, call) in calls.items().take(MAX_CREATION).enumerate() {
            let what = if n == 0 { Shown::own("created") } else { shown!("repair {n}") };
            let errors = call.get("errors").and_then(Value::whole).map(|errors: usize| counted(errors, "error"));
            let took = call.get("duration_ms").and_then(Value::float).map(duration);
            let tokens = |key| call.get("usage").and_then(|usage| usage.get(key)).and_then(Value::whole);
            let (tokens_in, tokens_out) = (tokens("prompt_tokens"), tokens("completion_tokens"));
            let tokens = StepCost { tokens_in, tokens_out, ..StepCost::default() }.tokens();
            let tokens = Some(tokens).filter(|tokens| !tokens.as_str().is_empty());
            let said = [errors.map(|errors| shown!("{errors}")), took, tokens.map(|tokens| shown!("{tokens} tokens"))];
            let texts = ["tolerated", "error"].map(|key| call.get(key).and_then(Value::string));
            let [tolerated, error] = texts.map(|text| text.map(|text| text.line().shortened(CUT)));
            let said = said.into_iter().chain([tolerated.map(|what| shown!("tolerated: {what}")), error]).flatten();
            out.line(&shown!("  {:<9} {}", what.as_str(), Shown::listed(said, usize::MAX)));
        }
        out.line(&Shown::default());
    }

    /// Prints what the steps took, one line per step.
    fn timeline(&self, out: &mut RecordText) {
        let Some(cost) = &self.content.cost else { return };
        // What nobody measured is not none.
        let time = (cost.time > 0.0).then(|| duration(cost.time));
        let tokens = (cost.tokens > 0).then(|| shown!("{} tokens", grouped(cost.tokens as usize)));
        out.line(&shown!("Timeline ({})", Shown::listed(time.into_iter().chain(tokens), 2)));
        for (n, step) in cost.steps.iter().enumerate() {
            let took = step.took.map(duration).unwrap_or_default();
            let bar = charts::span(step.start, step.took.unwrap_or_default(), cost.time, BAR);
            out.line(&shown!("  {:>3} {:>9}  {bar:BAR$}  {}", n + 1, took, step.tokens()));
            if out.out.len() > self.room {
                break;
            }
        }
        out.line(&Shown::default());
    }

    /// Formats the derivation of the exact answer, one line per step.
    fn derived(&self, recomputed: &Recomputed) -> Option<Shown> {
        recomputed.recovered?;
        let end = recomputed.end(self.state)?;
        let tree = recomputed.derivation(self.state, recomputed.write(end.variable, end.step)?)?;
        let mut lines = Vec::new();
        let mut todo = vec![(&tree, 0)];
        while let Some((one, depth)) = todo.pop() {
            lines.push(format!("  {:1$}≙ {2} {3}", "", depth * 2, one.name, one.line()));
            todo.extend(one.from.iter().rev().filter(|from| from.formula.is_some()).map(|from| (from, depth + 1)));
        }
        Some(shown!("{}", lines.join("\n")))
    }

    fn all_steps(&self, with_state: bool, out: &mut RecordText) {
        let mut room = MAX_STATES;
        for step in 0..self.steps() {
            if out.out.len() > self.room {
                let rest = grouped(self.steps() - step);
                out.line(&shown!("and {rest} more steps; `--step N` prints one\n"));
                break;
            }
            self.step(step, false, out);
            if with_state && room > 0 {
                self.states(step, &mut room, out);
            } else if with_state {
                // All states would be as many values as there are steps, times variables.
                out.line(&shown!(
                    "  state after: as before, but for what it writes; `--step {} --state` prints it",
                    step + 1
                ));
            }
            out.line(&Shown::default());
        }
        // What no step is known to have written; of a baseline that is all there is.
        let end = Moment(self.state.step_count());
        let origin = |entry: &Entry<'_>| self.state.variables().get(entry.variable).map(|variable| variable.origin);
        let unwritten = |entry: &Entry<'_>| {
            entry.writer.is_none() && origin(entry) != Some(VariableOrigin::Given) && entry.badge != Badge::Override
        };
        let rest: Vec<_> = self.state.at(end).into_iter().filter(unwritten).collect();
        if self.record.kind != RecordKind::Procedure && !rest.is_empty() {
            // A step of which nothing is noted may have written them.
            let says_nothing = |step: usize| {
                let call = self.state.call(step);
                call.is_some_and(|call| ["outputs", "raw", "error"].iter().all(|key| call.get(key).is_none()))
            };
            let is_unknown = (0..self.state.step_count()).any(says_nothing);
            let title =
                if is_unknown { "Values that no step is known to have written" } else { "Values written by no step" };
            out.line(&Shown::own(title));
            self.entries(&rest, false, usize::MAX, out);
            out.line(&Shown::default());
        }
    }

    fn step_alone(&self, step: usize, with_state: bool, out: &mut RecordText) {
        self.step(step, true, out);
        if let Some(call) = self.state.call(step) {
            recorded(call, out);
        }
        if with_state {
            self.states(step, &mut { usize::MAX }, out);
        }
    }

    fn step(&self, step: usize, whole: bool, out: &mut RecordText) {
        let declared = self.procedure.and_then(|procedure| procedure.steps.get(step));
        let id = declared.and_then(|step| step.id).map_or_else(|| Shown::own("none"), |id| cut_line(id, 20));
        let last = if self.state.last_step().contains(step) { ", uses the answer schema" } else { "" };
        let status = self.content.steps.get(step).map(|row| row.status).unwrap_or_default();
        // What was found is listed below.
        let is_said = !matches!(status, StepStatus::Found(_) | StepStatus::Confirmed | StepStatus::NotRecomputed);
        let status = if is_said { shown!("  {}", status.word()) } else { Shown::default() };
        // The steps of a chain of thought have no ids, and none was run.
        match self.record.chain {
            Some(_) => out.line(&shown!("Step {}{status}", step + 1)),
            None => out.line(&shown!("Step {} (id {id}{last}{}){status}", step + 1, self.within(step))),
        }
        // Without a procedure the program that was recorded may have named its steps.
        let name = || self.state.call(step).and_then(|call| call.get("name"));
        if let Some(text) = declared.map_or_else(name, |step| step.text) {
            out.line(&paragraph(text));
        }
        let set = self.state.sets().iter().enumerate().filter(|(_, set)| set.put == Put::Override && set.step == step);
        let set: Vec<_> = set.filter_map(|(n, _)| self.state.set_entry(n)).collect();
        if !set.is_empty() {
            out.line(&Shown::own("  set before it"));
            self.entries(&set, whole, usize::MAX, out);
        }
        let (reads, writes) = (self.state.reads(step), self.state.writes(step));
        if let (true, true, Some(call)) = (reads.is_empty(), writes.is_empty(), self.state.call(step))
            && call_of_model(step, call, &self.content.conversation, whole, out)
        {
            return;
        }
        // What no procedure declares and no call notes is not known.
        let noted =
            |key: &str| self.state.call(step).and_then(|call| call.get(key)).is_some_and(|value| !value.is_null());
        for (title, key, entries) in [("reads", "inputs", reads), ("writes", "outputs", writes)] {
            let none = if declared.is_some() || noted(key) { " nothing" } else { " not recorded" };
            out.line(&shown!("  {title}{}", if entries.is_empty() { none } else { "" }));
            self.entries(&entries, whole, usize::MAX, out);
        }
    }

    /// Names the step inside of which another one ran.
    fn within(&self, step: usize) -> Shown {
        let parent = self.state.call(step).and_then(|call| call.get("parent")?.whole::<usize>());
        parent.filter(|parent| *parent < step).map_or_else(Shown::default, |parent| shown!(", in step {}", parent + 1))
    }

    /// Prints the states before and after a step, and takes their entries off the room that is left.
    fn states(&self, step: usize, room: &mut usize, out: &mut RecordText) {
        for (title, entries) in [("before", self.state.before(step)), ("after", self.state.after(step))] {
            out.line(&shown!("  state {title}"));
            self.entries(&entries, false, *room, out);
            *room = room.saturating_sub(entries.len().max(1));
        }
    }

    /// Prints entries, at most `most` of them, and the number of the rest.
    fn entries(&self, entries: &[Entry<'_>], whole: bool, most: usize, out: &mut RecordText) {
        let (entries, left_out) = entries.split_at(most.min(entries.len()));
        let name = |entry: &Entry<'_>| {
            let name = self.state.variables().get(entry.variable).map(|variable| variable.name.line());
            name.map(|name| if whole { name } else { name.cut(CUT) }).unwrap_or_default()
        };
        let width = entries.iter().map(|entry| name(entry).as_str().chars().count()).max().unwrap_or(0).min(40);
        for entry in entries {
            let value = entry
                .value
                .map_or_else(|| Shown::own("-"), |value| cut_line(value, if whole { usize::MAX } else { CUT }));
            out.line(&shown!("    {:width$}  {value}  [{}]", name(entry), entry.badge.label()));
        }
        if !left_out.is_empty() {
            out.line(&shown!("    and {} more", grouped(left_out.len())));
        }
    }

    /// Prints the prompt: into a file or pipe the exact bytes, on a terminal only what it can show.
    fn prompt(&self, step: usize, terminal: bool, out: &mut RecordText) {
        let Some(procedure) = self.procedure else {
            out.refused = Some(Shown::own("this record has no procedure to build a prompt from"));
            return;
        };
        let request = visible_inputs(procedure, self.state, step)
            .and_then(|inputs| execution(procedure, step, &inputs, AnswerShape::of(self.record)));
        match request {
            Ok(request) if terminal => out.line(&request.prompt.prose()),
            Ok(request) => out.out.extend_from_slice(request.prompt.bytes()),
            Err(Refused::NoStep) => out.refused = Some(Shown::own("no such step")),
            Err(Refused::Unresolvable(name)) => {
                let (name, step) = (name.line(), step + 1);
                out.refused = Some(shown!("no prompt: the value of {name} is not known before step {step}"));
            }
            Err(Refused::OddSchema(_)) => {
                out.refused = Some(Shown::own("no prompt: evoproc's runner fails on the shape of the answer schema"));
            }
            Err(Refused::Odd(_)) => {
                out.refused = Some(Shown::own("no prompt: evoproc's runner fails on the shape of this step"));
            }
        }
    }
}

/// `  12 (1, 3), 13 (2)`: the values that peers have in the place of one, with their numbers.
fn others(value: &AlignedValue) -> Shown {
    let others = value.others().into_iter().map(|(value, peers)| {
        let peers = peers.into_iter().map(|peer| Shown::count(peer + 1));
        shown!("{} ({})", value.shown(), Shown::listed(peers, usize::MAX))
    });
    let listed = Shown::listed(others, usize::MAX);
    if listed.as_str().is_empty() { listed } else { shown!("  {listed}") }
}

/// Cuts a text to a line.
fn cut_text(text: &Shown) -> Shown {
    Shown::line(text.as_str().as_bytes()).cut(CUT)
}

/// Prints what a model was asked: the system prompt and the text, or the messages, each below its role.
fn call_prompt(call: Value<'_>, prompt: Value<'_>, out: &mut RecordText) {
    if let Some(system) = call.get("system").filter(|system| !system.is_null()) {
        out.line(&shown!("System prompt\n{}\n", paragraph(system)));
    }
    match told(prompt) {
        Some(told) => out.line(&shown!("Question\n{}\n", indented(&told))),
        None => out.line(&shown!("Question\n{}\n", paragraph(prompt))),
    }
}

/// Indents the lines of a text, but for empty ones.
fn indented(text: &Shown) -> Shown {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("  {line}") };
    shown!("{}", text.as_str().lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// Prints what a step that names no values asked a model, and what came back; `false`: it asked none.
fn call_of_model(step: usize, call: &TraceStep<'_>, talk: &Conversation, whole: bool, out: &mut RecordText) -> bool {
    let line = |title: &str, text: &[u8], out: &mut RecordText| {
        out.line(&shown!("  {title:8} {}", Shown::line(text).cut(CUT)));
    };
    let mut said = talk.of_step(step).peekable();
    if said.peek().is_some() {
        for message in said {
            let title = if message.is_reply { "replied" } else { message.role.as_str() };
            // Alone it is followed by all of both.
            if !whole && !message.text.as_str().is_empty() {
                line(title, message.text.as_str().as_bytes(), out);
            }
            message.tools.iter().for_each(|tool| line("calls", tool.as_str().as_bytes(), out));
        }
        return true;
    }
    let texts = [("asked", "prompt"), ("replied", "raw")];
    let texts = texts.map(|(title, key)| (title, call.get(key).map(text_of).filter(|text| !text.bytes().is_empty())));
    for (title, text) in &texts {
        if let Some(text) = text.as_ref().filter(|_| !whole) {
            line(title, text.bytes(), out);
        }
    }
    texts.iter().any(|(_, text)| text.is_some())
}

/// Prints what was recorded of a call, beyond values.
fn recorded(call: &TraceStep<'_>, out: &mut RecordText) {
    let keys =
        ["model", "served_model", "backend", "endpoint", "seed", "temperature", "max_tokens", "finish_reason", "usage"]
            .map(|key| (key, key));
    for (title, key) in keys.into_iter().chain([("started", "started_utc"), ("took (ms)", "duration_ms")]) {
        if let Some(value) = call.get(key) {
            out.line(&shown!("  {title:12} {}", cut_line(value, CUT)));
        }
    }
    for (title, value) in [("error", call.error), ("prompt", call.get("prompt")), ("reply", call.get("raw"))] {
        let Some(value) = value else { continue };
        match told(value).filter(|_| title == "prompt") {
            Some(told) => out.line(&shown!("  {title}\n{}", indented(&told))),
            None => out.line(&shown!("  {title}\n{}", paragraph(value))),
        }
    }
}

/// Formats a value on one line, as it is in the record, cut to a number of characters.
fn cut_line(value: Value<'_>, characters: usize) -> Shown {
    // What is cut away need not be made printable first.
    let bytes = value.raw();
    let head = bytes.get(..characters.saturating_mul(4).min(bytes.len())).unwrap_or(bytes);
    let (shown, whole) = (Shown::line(head), head.len() == bytes.len());
    if whole || shown.as_str().chars().count() > characters { shown.cut(characters) } else { shown.and("…") }
}

/// Returns a text, of any other value its JSON.
fn text_of(value: Value<'_>) -> Untrusted<'_> {
    value.string().unwrap_or_else(|| Untrusted::new(value.raw()))
}

/// Formats a text as indented lines, any other value as it is.
fn paragraph(value: Value<'_>) -> Shown {
    let lines: Vec<String> = text_of(value).prose().as_str().lines().map(|line| format!("  {line}")).collect();
    shown!("{}", lines.join("\n"))
}
