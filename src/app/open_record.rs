//! The record that is open, read once into what the panes draw. Everything that comes from data is `Shown` here;
//! the true bytes stay in `OpenRecord`, for copying.

use std::collections::HashMap;
use std::sync::Arc;

use crate::app::computed::ComputedValues;
use crate::app::open_peers::OpenPeers;
use crate::dialogs::rewards::Rewards;
use crate::screens::answer::shown::ShownAnswer;
use crate::screens::json::state::value_text;
use stepscope_base::canonical::sha256;
use stepscope_base::json::{Finder, Kind, Part, Pointer, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, cut, head};
use stepscope_evidence::document::Document;
use stepscope_execution::prompt;
use stepscope_execution::prompt::AnswerShape;
use stepscope_io::pipeline::examine::case_of_row;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::side_data::Surroundings;
use stepscope_judge::case::{Case, CaseView};
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_judge::recompute::Derivation;
use stepscope_judge::route::Route;
use stepscope_judge::row::RowFacts;
use stepscope_judge::texts::gold_text;
use stepscope_judge::triage::{Argument, Confidence, Fix, Triage};
use stepscope_record::cost::RunCost;
use stepscope_record::finding::{Finding, Findings, Place, PlaceLabel, Severity};
use stepscope_record::fork_origin::ForkOrigin;
use stepscope_record::formats::chain::Labelled;
use stepscope_record::messages::{Conversation, last_asked, told};
use stepscope_record::procedure::last_step::Surprise;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, Field, Procedure};
use stepscope_record::state::{Badge, Entry, Influence, Moment, Ran, VariableOrigin, Web};
use stepscope_record::{Record, RecordKind};
use stepscope_report::text;
use stepscope_review::event::Text;
use stepscope_review::summary::Summary;
use unicode_width::UnicodeWidthStr as _;

/// Largest number of bytes of one text that are prepared for the screen.
const MAX_TEXT: usize = 256 << 10;
/// Size in bytes of the largest record that is read again for each step that is looked at: that takes less than to
/// prepare all of its steps when it is opened.
const MAX_READ_AGAIN: usize = 32 << 10;
/// Steps whose prompts and replies are measured, and bytes of each line.
const MAX_MEASURED: usize = 64;
const MAX_NATURAL: usize = 400;
/// Bytes of a reply that is with the step, and takes no room of its own.
const SHORT_REPLY: usize = 384;
/// Number of bytes of steps prepared when a larger record is opened; further steps are prepared when they are looked at.
const MAX_READY: usize = 4 << 20;
/// Largest number of values listed with a step that reads or writes them; the state has them all.
const MAX_LISTED: usize = 500;
/// Size in bytes of the largest step that is shown as it is written.
const MAX_WRITTEN: usize = 16 << 10;
/// Size in bytes of the largest record in which places are drawn.
const MAX_EXCERPTED: usize = 1 << 20;
/// Width up to which JSON of a step stands on one line.
const JSON_WIDTH: usize = 68;
/// The same where room is short: JSON rather wraps than takes one line per key.
const DENSE_WIDTH: usize = 4 * JSON_WIDTH;
/// Largest number of bytes of a value in a row.
const MAX_VALUE: usize = 2 << 10;

/// The open record.
#[derive(Debug)]
pub struct OpenRecord {
    /// Number of the record in the table, from 0.
    pub index: usize,
    /// The number of its line in the file, from 1.
    pub line: u64,
    case: Case<'static>,
    /// Hash of the whole text, where a part of it is hidden.
    whole: Option<String>,
    /// The argument of the verdict, strongest first, the findings that it rests on in their place, then all other
    /// findings: ready for the screen.
    pub notes: Vec<Note>,
    /// The values that the notes are about, in the order of the tape.
    pub marks: Vec<NoteMark>,
    /// Verdict on where to fix the run.
    pub where_to_fix: Option<WhereToFix>,
    /// Kind of the record.
    pub kind: RecordKind,
    /// Id of the record.
    pub id: Shown,
    /// The task's text.
    pub question: Shown,
    /// Values worked out from the record alone.
    pub computed: ComputedValues,
    /// Expected number.
    pub gold: Option<Shown>,
    /// The expected answer as the data set works it out, where that is more than a number.
    pub worked: Option<Shown>,
    /// The final number.
    pub pred: Option<Shown>,
    /// The final text.
    pub answer: Option<Shown>,
    /// Answer of the baseline to the same question.
    pub baseline: Option<Shown>,
    /// Other runs of its question, with what they have in the place of its values.
    pub peers: Option<OpenPeers>,
    /// Rewards that the verifiers give its completion, if any were named.
    pub rewards: Option<Rewards>,
    /// True if it counts as correct, false if as wrong.
    pub correct: Option<bool>,
    /// The error that ended it.
    pub error: Option<Shown>,
    /// The raw reply of a baseline.
    pub reply: Option<Shown>,
    /// The recorded fitness.
    pub fitness: Option<Shown>,
    /// The recorded reward.
    pub reward: Option<Shown>,
    /// The procedure's name.
    pub procedure_name: Shown,
    /// The steps.
    pub steps: Vec<StepRow>,
    /// The variables.
    pub variables: Vec<VariableRow>,
    /// Difference of evoproc's last step from the last position.
    pub surprise: Option<Surprise>,
    /// The step in which the run ended early, by position.
    pub ended_at: Option<usize>,
    /// The moment to show first: the step to fix, else the one with the gravest error, else the end.
    pub(crate) opening: Moment,
    /// True if some of the values come from a run trace.
    pub has_trace: bool,
    /// Cost of its steps, as far as the trace tells.
    pub cost: Option<RunCost>,
    /// Route of a structured answer.
    pub route: Option<Route>,
    /// Position of the first error of a chain of thought, as a person labelled it.
    pub labelled: Option<Shown>,
    /// Origin of the record, if it is a fork.
    pub fork_origin: Option<ForkOrigin>,
    /// A typed answer, until the screen takes it.
    pub structured: Option<Box<ShownAnswer>>,
    /// Identity in review logs, and content that verdicts are bound to; of the whole record, even where parts are
    /// hidden.
    pub summary: Option<Box<Summary>>,
    /// Parts of it that are not shown.
    pub hidden: Hide,
    /// The first steps of a large record in full: every key asks, and must not read it again.
    details: Vec<Detail>,
    /// Step that is looked at first, where it is not among those: prepared on the thread that reads the record.
    first: Option<(usize, Detail)>,
    /// The call that made the procedure, as far as it was recorded.
    creation: Detail,
    /// Messages to models and from them.
    pub(crate) conversation: Conversation,
    /// True if prompt or reply of a call is known.
    pub(crate) has_calls: bool,
    /// Columns of the longest line of prompts and long replies, of the first steps where there are many.
    pub(crate) call_width: usize,
    web: Web,
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
    /// True if evoproc runs it with the answer schema.
    pub is_last: bool,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

/// One variable, as the lifelines show it.
#[derive(Debug, Clone)]
pub struct VariableRow {
    /// Name of the variable.
    pub name: Shown,
    /// Description of the variable.
    pub description: Shown,
    /// Origin of the variable.
    pub origin: VariableOrigin,
    /// Every writing, in order of time.
    pub writes: Vec<WriteRow>,
    /// The steps that read it.
    pub readers: Vec<usize>,
    /// The gravest finding about it.
    pub worst: Option<Severity>,
    /// Steps that read it where nothing has written it yet.
    pub unresolved: Vec<usize>,
}

impl VariableRow {
    /// The writing that holds at a moment.
    pub fn held(&self, moment: Moment) -> Option<&WriteRow> {
        self.writes.get(self.writes.partition_point(|write| write.from <= moment).checked_sub(1)?)
    }
}

/// One writing of a variable.
#[derive(Debug, Clone)]
pub struct WriteRow {
    /// First moment at which it holds.
    pub from: Moment,
    /// The step that wrote it.
    pub step: Option<usize>,
    /// The value.
    pub value: Option<ShownValue>,
    /// Badge that tells how the value is known.
    pub badge: Badge,
    /// A later step reads it before it is written again.
    pub is_read: bool,
}

/// A value ready for the screen.
#[derive(Debug, Clone)]
pub struct ShownValue {
    /// Text on one line: strings without quotes if they are nothing but text.
    pub line: Shown,
    /// Kind of the value.
    pub kind: Kind,
    /// Position in the record, as a JSON pointer.
    pub pointer: Option<Pointer>,
}

/// Verdict on where to fix a run, as the header shows it.
#[derive(Debug, Clone)]
pub struct WhereToFix {
    /// Part to fix.
    pub fix: Fix,
    /// The part as people read it.
    pub phrase: &'static str,
    /// The first bad step.
    pub step: Option<usize>,
    /// Number that the procedure gives when it is recomputed.
    pub recovered: Option<Shown>,
    /// True if that is with a mistake corrected.
    pub corrected: bool,
    /// True if that is the expected number.
    pub recovers_gold: bool,
    /// Confidence.
    pub confidence: Confidence,
}

impl WhereToFix {
    fn of(triage: &Triage) -> Self {
        Self {
            fix: triage.fix,
            phrase: triage.phrase(),
            step: triage.step,
            recovered: triage.recovered.map(|number| shown!("{}", number.shown())),
            corrected: triage.corrected,
            recovers_gold: triage.recovers_gold,
            confidence: triage.confidence,
        }
    }
}

/// One finding, or one line of the argument, as the list shows it.
#[derive(Debug, Clone)]
pub struct Note {
    /// Index of the finding; `None`: a line of the argument that is no finding.
    pub finding: Option<usize>,
    /// Severity.
    pub severity: Severity,
    /// The rule's id.
    pub rule: &'static str,
    /// Description of the problem.
    pub message: Shown,
    /// Advice on how to fix it.
    pub help: Option<&'static str>,
    /// The step it is about.
    pub step: Option<usize>,
    /// The variable it is about.
    pub variable: Option<usize>,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

impl Note {
    /// Tells whether it is about an error.
    pub(crate) fn is_grave(&self) -> bool {
        self.severity <= Severity::Repairable
    }
}

/// A note at a value of the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoteMark {
    /// The value.
    pub node: u32,
    /// The note.
    pub note: usize,
    /// True if it is about the key.
    pub on_key: bool,
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

/// Counter of the records read for a question, on this thread, for tests.
#[cfg(test)]
pub(crate) mod analyses {
    use std::cell::Cell;

    thread_local! { static COUNT: Cell<usize> = const { Cell::new(0) } }

    pub(crate) fn note() {
        COUNT.set(COUNT.get() + 1);
    }

    /// Takes the count since this was last called.
    pub(crate) fn take() -> usize {
        COUNT.replace(0)
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

impl OpenRecord {
    /// Reads a record that is in this row of the table.
    pub fn new(index: usize, line: u64, row: &RowFacts, text: Vec<u8>, around: Surroundings<'static>) -> Self {
        let side = around.side.clone();
        let mut opened = Self::bare(index, line, case_of_row(text, Tape::default(), row, Arc::new(around)));
        opened.fork_origin = opened.root().and_then(ForkOrigin::of);
        opened.fill(&side);
        opened
    }

    /// Gives it its summary for review logs: the name of its file there, and its place in it, from 0.
    #[must_use]
    pub(crate) fn identified(mut self, dataset: Option<Text>, position: u64) -> Self {
        let mut summary = Summary::of(&self.view(), self.case.findings(), dataset, position);
        summary.take_question(&self.view());
        summary.fix = self.where_to_fix.as_ref().map(|verdict| verdict.fix);
        self.summary = Some(Box::new(summary));
        self
    }

    /// The same record without what is not to be shown. Its summary stays that of the whole record.
    #[must_use]
    pub(crate) fn hiding(self, hide: Hide, row: &RowFacts, side: &Arc<SideData>) -> Self {
        if hide.is_empty() {
            return self;
        }
        let whole = Some(self.hash());
        let text = self.root().and_then(|root| hide.without(self.text(), root));
        let text = text.unwrap_or_else(|| self.text().to_vec());
        let own = if hide.has(Hidden::Baseline) { Arc::new(side.settings_alone()) } else { side.clone() };
        let around = Surroundings { document: self.document(), ..own.around() };
        let mut case = case_of_row(text, Tape::default(), row, Arc::new(around));
        let known = self.summary.as_ref().map_or_else(|| row.rules().collect(), |summary| summary.findings.clone());
        case.hide(hide, |rule| known.contains(&rule));
        let mut opened = Self::bare(self.index, self.line, case);
        (opened.summary, opened.hidden, opened.fork_origin, opened.whole) =
            (self.summary, hide, self.fork_origin, whole);
        opened.fill(side);
        opened
    }

    fn bare(index: usize, line: u64, case: Case<'static>) -> Self {
        Self {
            index,
            line,
            case,
            whole: None,
            notes: Vec::new(),
            marks: Vec::new(),
            where_to_fix: None,
            kind: RecordKind::Broken,
            id: Shown::default(),
            question: Shown::default(),
            computed: ComputedValues::default(),
            gold: None,
            worked: None,
            pred: None,
            answer: None,
            baseline: None,
            peers: None,
            rewards: None,
            correct: None,
            error: None,
            reply: None,
            fitness: None,
            reward: None,
            procedure_name: Shown::default(),
            steps: Vec::new(),
            variables: Vec::new(),
            surprise: None,
            ended_at: None,
            opening: Moment(0),
            has_trace: false,
            cost: None,
            route: None,
            labelled: None,
            fork_origin: None,
            structured: None,
            summary: None,
            hidden: Hide::default(),
            details: Vec::new(),
            call_width: 0,
            first: None,
            creation: Detail::default(),
            conversation: Conversation::default(),
            has_calls: false,
            web: Web::default(),
        }
    }

    /// Returns the record's text as it is in the file.
    pub fn text(&self) -> &[u8] {
        self.case.text()
    }

    /// Hashes the record's text as it is in the file, what is hidden of it included.
    pub(crate) fn hash(&self) -> String {
        self.whole.clone().unwrap_or_else(|| sha256(self.text()))
    }

    /// The record's JSON, if it could be read.
    pub fn root(&self) -> Option<Value<'_>> {
        self.case.root()
    }

    /// The document that it cites.
    pub fn document(&self) -> Option<Arc<Document>> {
        self.case.view().document().cloned()
    }

    /// Analyses the record in full, for questions that are asked seldom.
    pub(crate) fn view(&self) -> CaseView<'_> {
        #[cfg(test)]
        analyses::note();
        self.case.view()
    }

    fn fill(&mut self, side: &SideData) {
        let case = &self.view();
        let findings = case.findings();
        let conversation = Conversation::of(case.record.as_ref(), case.state());
        let facts = case.record.as_ref().map(|record| Facts::of(case, record, &conversation));
        let steps = steps(case, &conversation);
        let (details, web) = (first_details(case, steps.len()), case.state().web());
        let variables = variables(case);
        let mut places = FindingPlaces::of(case);
        let notes: Vec<Note> = findings.iter().enumerate().map(|(n, finding)| places.note(n, finding)).collect();
        let nodes = places.nodes(findings);
        let (surprise, ended_at) = (case.state().last_step().surprise, case.state().ended_at());
        let cost = RunCost::of(case.state());
        let triage = case.triage().filter(|_| !self.hidden.has(Hidden::Triage));
        let opening = opening_of(triage, &notes, steps.len(), end_of(ended_at, steps.len()));
        let first = opening.0.checked_sub(1).filter(|step| (details.len()..steps.len()).contains(step));
        let first = first.map(|step| (step, detail(case, step)));
        let mut creation = Detail::default();
        if let Some(call) = case.root().and_then(|root| root.get("trace")?.get("creation")) {
            creation.take_call(|key| call.get(key));
        }
        let calls = details.iter().chain(first.iter().map(|(_, detail)| detail)).chain([&creation]);
        let is_any = || is_read_again(case) && (0..steps.len()).any(|step| detail(case, step).has_call());
        let has_calls = calls.into_iter().any(Detail::has_call) || is_any();
        let widths = if is_read_again(case) {
            (0..steps.len().min(MAX_MEASURED)).filter_map(|step| detail(case, step).call_width()).max()
        } else {
            details.iter().take(MAX_MEASURED).filter_map(Detail::call_width).max()
        };
        let call_width = widths.max(creation.call_width()).filter(|_| has_calls).unwrap_or(0);
        let peers = OpenPeers::of(case).filter(|_| !self.hidden.hides_fix());
        let baseline = case.baseline();
        let rewards = side.chain_result(case.root()).map(|ladder| Rewards::of(&ladder, case.root()));
        let argument: Vec<Note> =
            triage.iter().flat_map(|triage| &triage.why).map(|why| places.argument(why)).collect();
        let where_to_fix = triage.map(WhereToFix::of);
        let computed = ComputedValues::of(case);
        let route = case.routed().map(|routed| routed.route);
        let structured = ShownAnswer::of(case).map(Box::new);
        let parts = case.record.as_ref().and_then(|record| record.chain.as_deref());
        let labelled = parts.and_then(|parts| parts.labelled).map(Labelled::phrase);
        let procedure_name = case.procedure().and_then(|procedure| procedure.name).map(prose).unwrap_or_default();
        (self.steps, self.variables, self.surprise, self.procedure_name) = (steps, variables, surprise, procedure_name);
        (self.details, self.web) = (details, web);
        (self.ended_at, self.opening, self.first, self.peers) = (ended_at, opening, first, peers);
        (self.creation, self.has_calls, self.call_width) = (creation, has_calls, call_width);
        self.cost = cost;
        self.conversation = conversation;
        for note in &notes {
            let (step, variable) = (note.step, note.variable);
            if let Some(row) = step.and_then(|step| self.steps.get_mut(step)) {
                row.worst = Some(graver(row.worst, note.severity));
            }
            if let Some(row) = variable.and_then(|variable| self.variables.get_mut(variable)) {
                row.worst = Some(graver(row.worst, note.severity));
            }
        }
        for (position, row) in self.steps.iter_mut().enumerate() {
            row.is_confirmed = computed.confirms(position);
        }
        self.rewards = rewards;
        self.baseline = baseline.map(|number| shown!("{number}"));
        let notes = ordered(argument, notes);
        self.marks = marks(&nodes, &notes);
        (self.structured, self.route) = (structured, route);
        self.labelled = labelled;
        (self.notes, self.computed, self.where_to_fix) = (notes, computed, where_to_fix);
        if let Some(facts) = facts {
            self.kind = facts.kind;
            self.id = facts.id;
            self.question = facts.question;
            (self.gold, self.worked) = (facts.gold, facts.worked);
            (self.pred, self.answer) = (facts.pred, facts.answer);
            (self.correct, self.error, self.reply) = (facts.correct, facts.error, facts.reply);
            (self.fitness, self.reward, self.has_trace) = (facts.fitness, facts.reward, facts.has_trace);
        }
    }

    /// Counts the findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.notes.iter().filter(|note| note.finding.is_some() && note.severity == severity).count()
    }

    /// Tells whether it has steps to walk through.
    pub(crate) fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Returns one step in full.
    pub fn detail(&self, step: usize) -> Detail {
        let first = || self.first.as_ref().filter(|(first, _)| *first == step).map(|(_, detail)| detail);
        self.details.get(step).or_else(first).cloned().unwrap_or_else(|| detail(&self.view(), step))
    }

    /// Returns the call that made the procedure, which is what is known before the first step.
    pub(crate) const fn creation(&self) -> &Detail {
        &self.creation
    }

    /// Finds its end, where the answer is; of a run that ended early, the step in which it ended.
    pub fn end(&self) -> Moment {
        end_of(self.ended_at, self.steps.len())
    }

    /// The model that the record names for a step.
    pub(crate) fn model_of(&self, step: usize) -> Option<String> {
        let case = self.view();
        let model = case.state().call(step)?.get("model")?.string()?;
        model.utf8().map(ToOwned::to_owned)
    }

    /// The model that gave a typed answer.
    pub(crate) fn model_of_answer(&self) -> Option<String> {
        self.root()?.get("model")?.string()?.utf8().map(ToOwned::to_owned)
    }

    /// Traces what can influence a variable.
    pub fn influence(&self, variable: usize) -> Influence {
        self.web.ancestors(variable)
    }

    /// A value with its line breaks, by its place in the record.
    pub fn value_at(&self, pointer: &Pointer) -> Option<Shown> {
        self.root()?.find(pointer).map(|found| prose(found.value))
    }

    /// Copies the JSON of a value as it is in the record.
    pub(crate) fn json_at(&self, pointer: &Pointer) -> Option<Vec<u8>> {
        self.root()?.find(pointer).map(|found| found.value.raw().to_vec())
    }

    /// Draws the place of a note in the record with its labels, as `stepscope check` prints it; nothing for records
    /// that are too large to look through at every key.
    pub(crate) fn excerpt(&self, note: &Note, width: usize) -> Vec<Shown> {
        if self.text().len() > MAX_EXCERPTED {
            return Vec::new();
        }
        let finding = note.finding.and_then(|finding| self.case.findings().get(finding));
        let labels = match finding {
            Some(finding) => finding.labels().cloned().collect(),
            None => vec![PlaceLabel { place: Place::Value(note.pointer.clone()), text: Untrusted::default() }],
        };
        // The text and its tape are all that is asked here: nothing is worked out again.
        text::places(&self.case.view(), &labels, width)
    }

    /// The question as it is shown: its quantities numbered.
    pub fn question_text(&self) -> &Shown {
        self.computed.question.as_ref().unwrap_or(&self.question)
    }

    /// Derives the value that a step should have written.
    pub fn derivation(&self, variable: usize, step: usize) -> Option<Derivation> {
        let case = self.view();
        let recomputed = case.executed()?;
        let write = recomputed.write(variable, step);
        let write = write.or_else(|| recomputed.write(self.answer_text(variable)?, step))?;
        recomputed.derivation(case.state(), write)
    }

    /// Returns the answer's text, if a variable is its number: both are one answer.
    fn answer_text(&self, variable: usize) -> Option<usize> {
        let is = |row: &VariableRow, name: &str| row.name.as_str() == name;
        let text = || self.variables.iter().position(|row| is(row, FINAL_ANSWER));
        self.variables.get(variable).filter(|row| is(row, FINAL_ANSWER_NUMERICAL)).and_then(|_| text())
    }

    /// The whole step as JSON.
    pub(crate) fn step_json(&self, step: usize) -> Option<Shown> {
        let pointer = &self.steps.get(step)?.pointer;
        let found = self.root()?.find(pointer)?;
        Some(Shown::prose(found.value.raw()))
    }

    /// The first writing of a variable that holds at a moment.
    pub fn write_at(&self, variable: usize, moment: Moment) -> Option<&WriteRow> {
        self.variables.get(variable)?.held(moment)
    }
}

/// Finds the moment to show first: the step to fix, else the one with the gravest error, else the end.
fn opening_of(triage: Option<&Triage>, notes: &[Note], steps: usize, end: Moment) -> Moment {
    let to_fix = triage.and_then(|triage| triage.step);
    let gravest = || notes.iter().filter(|note| note.is_grave()).min_by_key(|note| note.severity)?.step;
    to_fix.or_else(gravest).filter(|step| *step < steps).map_or(end, |step| Moment(step + 1))
}

fn end_of(ended_at: Option<usize>, steps: usize) -> Moment {
    Moment(ended_at.map_or(steps, |step| step + 1))
}

fn present(value: Option<Value<'_>>) -> Option<Value<'_>> {
    value.filter(|value| !value.is_null())
}

/// The argument in its order: what it says at once, then each finding that it names at that place; then the other
/// findings.
fn ordered(argument: Vec<Note>, notes: Vec<Note>) -> Vec<Note> {
    let mut left: Vec<Option<Note>> = notes.into_iter().map(Some).collect();
    let mut all: Vec<Note> = Vec::with_capacity(argument.len() + left.len());
    for (place, why) in argument.into_iter().enumerate() {
        let same = |note: &Note| note.rule == why.rule && (note.pointer == why.pointer || note.step == why.step);
        let found = left.iter_mut().find(|note| note.as_ref().is_some_and(same)).and_then(Option::take);
        match found {
            Some(found) if place == 0 && found.message != why.message => all.extend([why, found]),
            Some(found) => all.push(found),
            None if all.iter().any(|note| note.message == why.message) => {}
            None => all.push(why),
        }
    }
    all.extend(left.into_iter().flatten());
    all
}

/// The nodes of findings with the notes that they became, of each node the first note first.
fn marks(nodes: &[(u32, usize, bool)], notes: &[Note]) -> Vec<NoteMark> {
    let places: HashMap<usize, usize> =
        notes.iter().enumerate().filter_map(|(n, note)| Some((note.finding?, n))).collect();
    let mark = |&(node, finding, on_key)| Some(NoteMark { node, note: *places.get(&finding)?, on_key });
    let mut marks: Vec<NoteMark> = nodes.iter().filter_map(mark).collect();
    marks.sort_by_key(|mark| (mark.node, mark.note));
    marks
}

fn graver(a: Option<Severity>, b: Severity) -> Severity {
    a.map_or(b, |a| a.min(b))
}

/// The plain facts of a record.
struct Facts {
    kind: RecordKind,
    id: Shown,
    question: Shown,
    gold: Option<Shown>,
    worked: Option<Shown>,
    pred: Option<Shown>,
    answer: Option<Shown>,
    correct: Option<bool>,
    error: Option<Shown>,
    reply: Option<Shown>,
    fitness: Option<Shown>,
    reward: Option<Shown>,
    has_trace: bool,
}

impl Facts {
    fn of(case: &CaseView<'_>, record: &Record<'_>, conversation: &Conversation) -> Self {
        // What was said before stands among the messages.
        let last = |asked| last_asked(asked).filter(|_| conversation.is_long()).map(|asked| Shown::prose(&asked));
        let line = |value: Option<Value<'_>>| present(value).map(one_line);
        let own = |key: &str| record.answer.and_then(|answer| answer.get(key));
        let error = present(record.error).map(|error| match present(record.error_type) {
            Some(kind) => shown!("{}: {}", one_line(kind), prose(error)),
            None => prose(error),
        });
        Self {
            kind: record.kind,
            id: record.id_text().map(|id| id.line()).unwrap_or_default(),
            question: present(record.question)
                .map(|asked| last(asked).or_else(|| told(asked)).unwrap_or_else(|| prose(asked)))
                .unwrap_or_default(),
            gold: gold_text(record),
            worked: present(record.gold_answer).filter(|gold| gold.kind() == Kind::String).map(prose).filter(is_prose),
            pred: line(record.pred_num).or_else(|| line(own("final_answer_numerical"))),
            answer: line(record.pred_answer).or_else(|| line(own("final_answer"))),
            correct: case.rightness().verdict(),
            error,
            reply: present(record.raw).map(prose),
            fitness: line(record.fitness),
            reward: line(record.reward),
            has_trace: record.trace_steps.is_some(),
        }
    }
}

/// Tells whether a text is more than a word or a number.
fn is_prose(text: &Shown) -> bool {
    text.as_str().trim().contains(char::is_whitespace)
}

fn steps(case: &CaseView<'_>, conversation: &Conversation) -> Vec<StepRow> {
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

fn variables(case: &CaseView<'_>) -> Vec<VariableRow> {
    let state = case.state();
    let variables = state.variables().iter().enumerate();
    variables
        .map(|(index, variable)| {
            let count = variable.writes.len();
            let reader = |from: usize| variable.readers.partition_point(|&reader| reader < from);
            let writes = variable.writes.iter().enumerate().map(|(n, write)| {
                let until = variable.writes.get(n + 1).map_or(usize::MAX, |next| next.from.0);
                let entry = Entry {
                    variable: index,
                    value: write.value,
                    badge: write.badge,
                    writer: write.step,
                    source: write.source,
                };
                WriteRow {
                    from: write.from,
                    step: write.step,
                    value: write.value.map(|value| ShownValue {
                        line: one_line(value),
                        kind: value.kind(),
                        pointer: state.pointer(&entry).map(|pointer| case.pointer(pointer)),
                    }),
                    badge: write.badge,
                    is_read: variable.readers.get(reader(write.from.0)).is_some_and(|&reader| reader < until),
                }
            });
            let first = variable.writes.first().map_or(usize::MAX, |write| write.from.0);
            let description = variable.field.and_then(|field| field.description);
            let mut row = VariableRow {
                name: variable.name.line(),
                description: description.map(one_line).unwrap_or_default(),
                origin: variable.origin,
                writes: Vec::with_capacity(count),
                readers: variable.readers.clone(),
                worst: None,
                unresolved: variable.readers.iter().copied().filter(|&reader| reader < first).collect(),
            };
            row.writes.extend(writes);
            row
        })
        .collect()
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

fn detail<'a>(case: &CaseView<'a>, position: usize) -> Detail {
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

/// The places of a record, for many findings at once: each container is gone through once.
struct FindingPlaces<'r, 'a> {
    case: &'r CaseView<'a>,
    finder: Option<Finder<'a>>,
    /// The steps by their entries in the trace.
    steps: HashMap<usize, usize>,
}

impl<'r, 'a> FindingPlaces<'r, 'a> {
    fn of(case: &'r CaseView<'a>) -> Self {
        let finder = case.record.as_ref().map(|record| Finder::new(record.root));
        let calls = (0..case.state().step_count()).filter_map(|step| Some((case.state().call(step)?.entry, step)));
        Self { case, finder, steps: calls.collect() }
    }

    /// The values that findings are about, for the JSON: node, finding, and whether the key is meant.
    fn nodes(&mut self, findings: &Findings) -> Vec<(u32, usize, bool)> {
        let Some(finder) = &mut self.finder else { return Vec::new() };
        let mut nodes = Vec::new();
        for (n, finding) in findings.iter().enumerate() {
            for label in finding.labels().filter(|label| !matches!(label.place, Place::Bytes { .. })) {
                let found = finder.find(&label.place.pointer());
                nodes.extend(found.map(|found| (found.value.index() as u32, n, matches!(label.place, Place::Key(_)))));
            }
        }
        nodes
    }

    fn note(&mut self, n: usize, finding: &Finding) -> Note {
        let pointer = finding.place().pointer();
        Note {
            finding: Some(n),
            severity: finding.severity,
            rule: finding.rule.word(),
            message: finding.message.line(),
            help: finding.help,
            step: self.step_at(finding.place()).or_else(|| self.writer_of(&pointer)),
            variable: finding.labels().find_map(|label| self.variable_of(&label.place)),
            pointer,
        }
    }

    fn argument(&mut self, why: &Argument) -> Note {
        Note {
            finding: None,
            severity: Severity::Note,
            rule: why.rule,
            message: why.text.clone(),
            help: None,
            step: self.step_at(&Place::Value(why.pointer.clone())).or_else(|| self.writer_of(&why.pointer)),
            variable: self.variable_of(&Place::Value(why.pointer.clone())),
            pointer: why.pointer.clone(),
        }
    }

    /// The step that wrote the value of a state that a pointer leads to.
    fn writer_of(&mut self, pointer: &Pointer) -> Option<usize> {
        let variable = self.variable_of(&Place::Value(pointer.clone()))?;
        self.case.state().variables().get(variable)?.writers().next_back()
    }

    /// The step that a place lies in.
    fn step_at(&self, place: &Place) -> Option<usize> {
        match self.case.chain() {
            Some(chain) => chain.step_at(place),
            None => self.step_of(&place.pointer()),
        }
    }

    /// The step that a pointer lies in.
    fn step_of(&self, pointer: &Pointer) -> Option<usize> {
        let below = |base: &Pointer| match pointer.0.get(base.0.len()..)? {
            [Part::Index(n), ..] if pointer.is_within(base) => Some(*n),
            _ => None,
        };
        if let Some(step) = below(&self.case.procedure_pointer().then("steps")) {
            return Some(step);
        }
        let entry = below(&Pointer::from_iter(["trace", "steps"]))?;
        self.steps.get(&entry).copied()
    }

    /// The variable that a place names: by its declaration in a step, or by its key in a state.
    fn variable_of(&mut self, place: &Place) -> Option<usize> {
        if let Some(chain) = self.case.chain() {
            return self.case.state().variable(&Untrusted::from(chain.name_at(place)?));
        }
        let pointer = place.pointer();
        if let [Part::Key(state), Part::Key(name), ..] = pointer.0.as_slice()
            && *state == "state"
        {
            return self.case.state().variable(name);
        }
        if let [.., Part::Key(outputs), Part::Key(name)] = pointer.0.as_slice()
            && (*outputs == "outputs" || *outputs == "inputs")
            && pointer.is_within(&Pointer::from_iter(["trace"]))
        {
            return self.case.state().variable(name);
        }
        let of_trace = matches!(pointer.0.first(), Some(Part::Key(key)) if *key == "trace");
        let mut sets = self.case.state().sets().iter().filter(|_| of_trace);
        if let Some(set) = sets.find(|set| pointer.is_within(&set.pointer)) {
            return self.case.state().variable(&set.variable);
        }
        let here = self.finder.as_mut()?.find(&pointer)?.value;
        let name = here.get("name").and_then(Value::string).or_else(|| {
            matches!(pointer.0.last(), Some(Part::Key(key)) if *key == "name").then(|| here.string()).flatten()
        })?;
        self.case.state().variable(&name)
    }
}

/// A value on one line; a string without its quotes.
pub fn one_line(value: Value<'_>) -> Shown {
    if value.kind() == Kind::String {
        let text = value.string().unwrap_or_default();
        let bytes = text.bytes();
        let head = head(bytes, MAX_VALUE);
        return match bytes.len() - head.len() {
            0 => text.line(),
            rest => shown!("{}… {rest} more bytes", Shown::line(head)),
        };
    }
    if value.is_container() && !value.is_empty() && value.raw().len() <= MAX_VALUE {
        return Shown::line(value.raw());
    }
    value_text(value, MAX_VALUE)
}

/// Lays out a value in full: a string as text with its line breaks, anything else as it is in the record.
pub fn prose(value: Value<'_>) -> Shown {
    let whole = value.string();
    prose_of(whole.as_ref().map_or_else(|| value.raw(), |text| text.bytes()))
}

fn prose_of(bytes: &[u8]) -> Shown {
    let head = head(bytes, MAX_TEXT);
    match bytes.len() - head.len() {
        0 => Shown::prose(bytes),
        rest => shown!("{}\n… {rest} bytes more; stepscope show prints them", Shown::prose(head)),
    }
}

/// Indents the JSON of a value; what fits into the width is on one line. Numbers and strings stay as they are in the file.
pub fn pretty(value: Value<'_>, width: usize) -> Shown {
    let mut out = String::new();
    let mut open: Vec<Kind> = Vec::new();
    let mut fresh = true;
    let mut walk = value.walk();
    while let Some(stop) = walk.next() {
        close_down_to(&mut out, &mut open, stop.depth, true);
        if stop.depth > 0 {
            if !fresh {
                out.push(',');
            }
            new_line(&mut out, stop.depth);
        }
        push_key(&mut out, stop.key);
        let used = out.rsplit('\n').next().map_or(0, |line| line.chars().count());
        let line = || in_line(stop.value, width.saturating_sub(used));
        fresh = match stop.value.is_container().then(line).flatten() {
            Some(line) => {
                out.push_str(&line);
                walk.skip_inside();
                false
            }
            None => open_value(&mut out, &mut open, stop.value),
        };
        if out.len() > MAX_TEXT {
            out.push_str("\n…");
            break;
        }
    }
    close_down_to(&mut out, &mut open, 0, true);
    shown!("{out}")
}

/// The JSON of a value on one line, where it fits.
fn in_line(value: Value<'_>, room: usize) -> Option<String> {
    let mut out = String::new();
    let mut open: Vec<Kind> = Vec::new();
    let mut fresh = true;
    for stop in value.walk() {
        close_down_to(&mut out, &mut open, stop.depth, false);
        if !fresh {
            out.push_str(", ");
        }
        push_key(&mut out, stop.key);
        if !stop.value.is_container() && stop.value.raw().len() > room {
            return None;
        }
        fresh = open_value(&mut out, &mut open, stop.value);
        if out.len() > room {
            return None;
        }
    }
    close_down_to(&mut out, &mut open, 0, false);
    Some(out).filter(|line| line.len() <= room)
}

fn push_key(out: &mut String, key: Option<Value<'_>>) {
    if let Some(key) = key {
        out.push_str(Shown::line(key.raw()).as_str());
        out.push_str(": ");
    }
}

/// Writes a value, of a container that holds something only how it begins; tells whether it is one.
fn open_value(out: &mut String, open: &mut Vec<Kind>, value: Value<'_>) -> bool {
    if !value.is_container() || value.is_empty() {
        out.push_str(Shown::line(value.raw()).as_str());
        return false;
    }
    out.push(if value.kind() == Kind::Object { '{' } else { '[' });
    open.push(value.kind());
    true
}

fn close_down_to(out: &mut String, open: &mut Vec<Kind>, depth: usize, on_lines: bool) {
    while open.len() > depth {
        let kind = open.pop();
        if on_lines {
            new_line(out, open.len());
        }
        out.push(if kind == Some(Kind::Object) { '}' } else { ']' });
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"id": "a", "question": "Two apples and one?", "gold_answer": "so #### 3", "gold_num": 3.0, "status": "ok",
        "mode": "procedural", "procedure": {"NameDescription": "Add", "steps": [
            {"id": 1, "inputs": [{"name": "problem_text", "description": "p"}], "stepDescription": "Read", "output": [{"name": "a", "description": "first"}, {"name": "dead", "description": "d"}]},
            {"id": 2, "inputs": [{"name": "a", "description": "first"}, {"name": "ghost", "description": "g"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "sum"}]}]},
        "state": {"problem_text": "Two apples and one?", "a": 2, "dead": 0, "final_answer": "3", "final_answer_numerical": 3}, "pred_num": 3, "correct": true}"#;

    #[test]
    fn of_a_long_value_every_step_shows_a_bounded_part_and_the_end_is_ready() {
        let step = |n: usize| {
            format!(
                r#"{{"id": {n}, "inputs": [{{"name": "big", "description": "d"}}], "stepDescription": "Read",
                "output": [{{"name": "a{n}", "description": "d"}}]}}"#
            )
        };
        let steps: Vec<String> = (1..=40).map(step).collect();
        let text = format!(
            r#"{{"id": "a", "question": "q", "procedure": {{"NameDescription": "n", "steps": [{}]}}, "state": {{"big": "{}"}}}}"#,
            steps.join(","),
            "x".repeat(1 << 20)
        );
        let row = RowFacts::unchecked(0, text.len() as u64);
        let opened = OpenRecord::new(0, 1, &row, text.into_bytes(), Surroundings::default());
        analyses::take();
        let detail = opened.detail(opened.opening.0 - 1);
        assert_eq!((opened.end(), analyses::take()), (Moment(40), 0), "the screen reads nothing again");
        assert!(opened.details.len() < 39, "{}", opened.details.len());
        let prompt = detail.prompt.unwrap();
        assert!(detail.prompt_rebuilt && prompt.as_str().len() < MAX_TEXT + 100, "{}", prompt.as_str().len());
        assert!(prompt.as_str().ends_with("stepscope show prints them"));
    }

    #[test]
    fn a_run_is_ready_for_the_screen() {
        let row = RowFacts::unchecked(0, RUN.len() as u64);
        let opened = OpenRecord::new(4, 5, &row, RUN.as_bytes().to_vec(), Surroundings::default());
        assert_eq!(opened.steps.len(), 2);
        let names: Vec<&str> = opened.variables.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["problem_text", "a", "dead", "ghost", "final_answer", "final_answer_numerical"]);
        assert!(opened.variables[1].writes[0].is_read);
        assert!(!opened.variables[2].writes[0].is_read);
        assert_eq!(opened.variables[3].unresolved, [1]);
        assert_eq!(opened.write_at(1, Moment::after(0)).unwrap().value.as_ref().unwrap().line.as_str(), "2");
        assert!(opened.write_at(1, Moment::before(0)).is_none());
        let detail = opened.detail(1);
        assert_eq!(detail.reads.len(), 2);
        assert_eq!(detail.writes[0].description.as_str(), "sum");
        assert!(opened.influence(4).has_variable(1));
    }

    #[test]
    fn json_is_laid_out_with_its_digits() {
        let mut tape = Tape::default();
        let root = tape.parse(br#"{"a":[1.10,{}],"b":{"c":"x"},"d":[]}"#).unwrap();
        let expected = "{\n  \"a\": [\n    1.10,\n    {}\n  ],\n  \"b\": {\n    \"c\": \"x\"\n  },\n  \"d\": []\n}";
        assert_eq!(pretty(root, 0).as_str(), expected);
        let expected = "{\n  \"a\": [1.10, {}],\n  \"b\": {\"c\": \"x\"},\n  \"d\": []\n}";
        assert_eq!(pretty(root, 17).as_str(), expected);
        assert_eq!(pretty(root, 44).as_str(), r#"{"a": [1.10, {}], "b": {"c": "x"}, "d": []}"#);
        assert_ne!(pretty(root, 42).as_str(), pretty(root, 44).as_str());
    }
}
