//! Content of a page about a record, worked out once for every form of it: texts ready to be shown, none longer than the
//! limits allow.

use std::ops::{Range, RangeInclusive};

use super::html::PageLink;
use super::options::{Limits, PageOptions};
use super::peers::PeersPart;
use stepscope_base::json::Value;
use stepscope_base::shown;
use stepscope_base::text::{Shown, ShownMap, head};
use stepscope_evidence::citations::Grounding;
use stepscope_evidence::document::Document;
use stepscope_judge::case::CaseView;
use stepscope_judge::hide::Hidden;
use stepscope_judge::recompute::standing::{Standing, ToRecomputed};
use stepscope_judge::recompute::{Derivation, Recomputed};
use stepscope_judge::triage::Fix;
use stepscope_present::answer::{FoundView, ItemView, ShownAnswer, SpanView};
use stepscope_present::content::RecordContent;
use stepscope_present::values::short_line;
use stepscope_present::verdict::{FixReason, Mood, WhereToFix};
use stepscope_record::finding::{Finding, Severity, grouped};
use stepscope_record::fork_origin::ForkOrigin;
use stepscope_record::messages::joined;
use stepscope_record::state::{Entry, Moment, State, VariableOrigin};
use stepscope_record::{Record, RecordKind};

/// Everything that a page says.
#[derive(Debug)]
pub(super) struct PageModel {
    /// The question; without one the name.
    pub(super) title: Shown,
    /// Kind and id of the record.
    pub(super) name: Shown,
    pub(super) kind: &'static str,
    pub(super) question: Option<Shown>,
    pub(super) facts: Vec<(&'static str, Shown)>,
    pub(super) mood: Mood,
    pub(super) verdict: Shown,
    /// Place to fix, with its confidence.
    pub(super) fix: Option<Shown>,
    pub(super) why: Vec<PageReason>,
    /// Note on the first step whose value differs.
    pub(super) first_difference: Option<Shown>,
    pub(super) steps: Vec<StepPart>,
    pub(super) steps_left: Vec<LeftOut>,
    pub(super) state: Option<StateTable>,
    pub(super) peers: Option<PeersPart>,
    pub(super) derivations: Vec<DerivedPart>,
    pub(super) derivations_left: usize,
    pub(super) items: Vec<ItemPart>,
    pub(super) items_left: usize,
    pub(super) texts: Vec<(&'static str, Shown)>,
    pub(super) findings: Vec<FindingPart>,
    pub(super) findings_left: usize,
}

/// Numbers of steps, one behind the other, that are not shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LeftOut(pub(super) RangeInclusive<usize>);

impl LeftOut {
    /// Finds what is between the numbers that are shown, before and behind them.
    fn between(shown: impl IntoIterator<Item = usize>, count: usize) -> Vec<Self> {
        let (mut all, mut next) = (Vec::new(), 1);
        for number in shown.into_iter().chain([count + 1]) {
            all.extend((next < number).then(|| Self(next..=number - 1)));
            next = next.max(number + 1);
        }
        all
    }

    /// Finds what is left out just before a step; without one, behind all that are shown.
    pub(super) fn before(all: &[Self], step: Option<usize>, last: usize) -> Option<&Self> {
        all.iter().find(|left| step.map_or(*left.0.start() > last, |step| left.0.end() + 1 == step))
    }

    pub(super) fn words(&self) -> Shown {
        let (first, last) = (*self.0.start(), *self.0.end());
        if first == last {
            return shown!("and 1 more step ({first}), not shown here");
        }
        shown!("and {} more steps ({first} to {last}), not shown here", grouped(last + 1 - first))
    }
}

/// One argument for where to fix it.
#[derive(Debug)]
pub(super) struct PageReason {
    pub(super) text: Shown,
    pub(super) rule: Shown,
    /// The step that proves it, from 1.
    pub(super) step: Option<usize>,
}

/// One step.
#[derive(Debug)]
pub(super) struct StepPart {
    /// From 1.
    pub(super) number: usize,
    pub(super) text: Shown,
    pub(super) mood: Mood,
    pub(super) word: &'static str,
    pub(super) reads: Vec<ValuePart>,
    pub(super) writes: Vec<ValuePart>,
    pub(super) calls: Vec<(&'static str, Shown)>,
    /// The numbers of its findings, from 1.
    pub(super) findings: Vec<usize>,
    pub(super) is_open: bool,
}

/// A variable with its value at some step.
#[derive(Debug)]
pub(super) struct ValuePart {
    pub(super) name: Shown,
    /// Its cell in the table of states.
    pub(super) cell: Option<PageLink>,
    pub(super) value: Shown,
    pub(super) badge: &'static str,
    pub(super) mark: Option<MarkPart>,
}

/// Words of recomputing about a value.
#[derive(Clone, Debug)]
pub(super) struct MarkPart {
    pub(super) mood: Mood,
    pub(super) words: Shown,
}

impl MarkPart {
    /// Of a value that is not as its step should have written it.
    fn of(standing: &Standing) -> Option<Self> {
        let mood = if standing.relation == ToRecomputed::Differs { Mood::Bad } else { Mood::Open };
        standing.words().map(|words| Self { mood, words })
    }
}

/// The global state: one row per variable, one column per step.
#[derive(Debug)]
pub(super) struct StateTable {
    /// Numbers of the steps, from 1; 0 is what was there before.
    pub(super) columns: Vec<usize>,
    pub(super) rows: Vec<(Shown, Vec<StateCell>)>,
    pub(super) rows_left: usize,
    pub(super) columns_left: Vec<LeftOut>,
}

impl StateTable {
    /// Names the column of what was there before the first step; where it is the only one, nothing comes after it.
    pub(super) fn first_head(&self) -> &'static str {
        if self.columns.len() == 1 { "Final" } else { "Start" }
    }
}

/// Value of a variable after a step.
#[derive(Debug)]
pub(super) struct StateCell {
    pub(super) anchor: PageLink,
    pub(super) value: Option<Shown>,
    /// The step wrote it.
    pub(super) is_set: bool,
    pub(super) mark: Option<MarkPart>,
}

/// A recomputed value, how the recorded one stands to it, and its derivation.
#[derive(Debug)]
pub(super) struct DerivedPart {
    pub(super) mark: MarkPart,
    pub(super) tree: DerivationPart,
}

/// Derivation of a value, with that of its inputs.
#[derive(Debug)]
pub(super) struct DerivationPart {
    pub(super) name: Shown,
    pub(super) value: Shown,
    pub(super) formula: Option<Shown>,
    /// From 1.
    pub(super) step: usize,
    pub(super) from: Vec<DerivationPart>,
    /// Number of values that went in and are not shown.
    pub(super) left: usize,
}

/// One item of an answer.
#[derive(Debug)]
pub(super) struct ItemPart {
    pub(super) title: Shown,
    pub(super) value: Shown,
    pub(super) mood: Mood,
    pub(super) citations: Vec<CitationPart>,
}

/// One citation, and the passage that it leads to.
#[derive(Debug)]
pub(super) struct CitationPart {
    /// From 1, over all items.
    pub(super) number: usize,
    pub(super) mood: Mood,
    pub(super) badge: Shown,
    pub(super) quote: Option<Shown>,
    pub(super) place: Option<Shown>,
    pub(super) lines: Vec<PassageLine>,
}

/// One line of a passage.
#[derive(Debug)]
pub(super) struct PassageLine {
    pub(super) number: usize,
    pub(super) text: Shown,
    /// Ranges of the text that belong to the quote, or are nearest to it.
    pub(super) marks: Vec<Range<usize>>,
}

/// One finding.
#[derive(Debug)]
pub(super) struct FindingPart {
    pub(super) severity: Severity,
    pub(super) mood: Mood,
    pub(super) rule: &'static str,
    pub(super) message: Shown,
    pub(super) pointer: Shown,
    /// From 1.
    pub(super) step: Option<usize>,
    pub(super) labels: Vec<Shown>,
    pub(super) help: Option<&'static str>,
}

/// A value as people read it: a string without its quotes, anything else as it was written.
pub(super) fn value_text(value: Value<'_>, bytes: usize) -> Shown {
    match value.string() {
        Some(text) => cut(text.bytes(), bytes),
        None => cut(value.raw(), bytes),
    }
}

/// The beginning of a text, and how much is missing.
fn cut(text: &[u8], bytes: usize) -> Shown {
    let begin = head(text, bytes);
    let shown = Shown::prose(begin);
    match text.len() - begin.len() {
        0 => shown,
        rest => shown!("{shown}… {} bytes more", grouped(rest)),
    }
}

impl PageModel {
    /// Of a record and what is shown of it.
    pub(super) fn of(content: &RecordContent, case: &CaseView<'_>, options: &PageOptions<'_>, limits: &Limits) -> Self {
        let hides_fix = options.hide.has(Hidden::Triage);
        let findings: Vec<FindingPart> = case
            .findings()
            .iter()
            .enumerate()
            .take(limits.findings)
            .map(|(n, finding)| finding_part(content, n, finding, limits))
            .collect();
        let record = case.record.as_ref();
        let grave = || findings.iter().filter(|finding| finding.mood == Mood::Bad).find_map(|finding| finding.step);
        let first_bad = content.step_to_fix().or_else(|| grave().map(|step| step - 1));
        let places: Vec<usize> = options.step.into_iter().chain(first_bad).collect();
        let columns = columns(case, limits, &places);
        let rows = chosen_rows(case.state(), limits, &places, columns.as_deref().unwrap_or_default());
        let executed = case.executed().filter(|_| !hides_fix);
        let maker = Maker { content, case, limits, hides_fix, executed, places, columns, rows };
        let (steps, steps_left) = maker.steps(&findings);
        let (derivations, derivations_left) = maker.derivations();
        let (items, items_left) = maker.items(options.passages);
        let id = record.and_then(Record::id_text);
        let name = match &id {
            Some(id) => shown!("{} {}", title_of(case.kind()), id.line().cut(80)),
            None => Shown::own(title_of(case.kind())),
        };
        let question = record.and_then(|record| record.question).map(|question| value_text(question, limits.text));
        let asked = question.as_ref().map(|question| shown!("{}", question.as_str().replace('\n', " ")).cut(TITLE));
        let fix = content.where_to_fix.as_ref();
        Self {
            title: asked.filter(|asked| !asked.as_str().trim().is_empty()).unwrap_or_else(|| name.clone()),
            name,
            kind: case.kind().phrase(),
            question,
            facts: maker.facts(),
            mood: content.verdict.mood,
            verdict: content.verdict.words.clone(),
            fix: fix.filter(|fix| fix.fix != Fix::None || !fix.why.is_empty()).map(WhereToFix::heading),
            why: fix.map(|fix| reasons(fix, limits)).unwrap_or_default(),
            first_difference: content.difference.as_ref().map(|note| note.message.clone()),
            steps,
            steps_left,
            state: maker.state(),
            peers: content.peers.as_ref().map(|peers| PeersPart::of(peers, limits)),
            derivations,
            derivations_left,
            items,
            items_left,
            texts: maker.texts(),
            findings_left: case.findings().total().saturating_sub(findings.len()),
            findings,
        }
    }
}

/// Characters of a question that stand in the heading.
const TITLE: usize = 160;

const fn title_of(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Procedure => "Procedure",
        RecordKind::Procedural | RecordKind::Fixed | RecordKind::Error => "Run",
        RecordKind::Baseline => "Baseline run",
        RecordKind::Chain => "Chain of thought",
        RecordKind::Answer | RecordKind::Typed => "Answer",
        RecordKind::Call => "Model call",
        RecordKind::Unknown | RecordKind::Broken => "Record",
    }
}

fn reasons(fix: &WhereToFix, limits: &Limits) -> Vec<PageReason> {
    let reason = |argument: &FixReason| PageReason {
        text: argument.text.clone().shortened(limits.value),
        rule: Shown::own(argument.rule),
        step: argument.step.map(|step| step + 1),
    };
    fix.why.iter().take(limits.findings).map(reason).collect()
}

fn finding_part(content: &RecordContent, n: usize, finding: &Finding, limits: &Limits) -> FindingPart {
    let labels = finding.labels().filter(|label| !label.text.is_empty()).take(6);
    FindingPart {
        severity: finding.severity,
        mood: Mood::of(finding.severity),
        rule: finding.rule.word(),
        message: finding.message.prose().shortened(limits.value),
        step: content.step_of_finding(n).map(|step| step + 1),
        pointer: finding.place().pointer().text().line().shortened(200),
        labels: labels.map(|label| label.text.line().shortened(limits.cell * 4)).collect(),
        help: finding.help,
    }
}

/// The variables that the table of states has rows for.
fn rows<'s>(state: &'s State<'_>) -> impl Iterator<Item = usize> + 's {
    let variables = state.variables().iter().enumerate();
    variables.filter(|(_, variable)| variable.origin != VariableOrigin::Given).map(|(n, _)| n)
}

/// Chooses which of many steps are shown: those around the ones in question.
fn window(count: usize, most: usize, places: &[usize]) -> Vec<usize> {
    let around = |first: usize, last: usize, most: usize| {
        let room = most.saturating_sub(last - first + 1);
        let from = first.saturating_sub(room.div_ceil(2)).min(count.saturating_sub(most));
        from..count.min(from + most)
    };
    let places = || places.iter().copied().filter(|place| *place < count);
    let (first, last) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
    if last - first < most {
        return around(first, last, most).collect();
    }
    around(first, first, most / 2).chain(around(last, last, most / 2)).collect()
}

/// After how many steps the columns of the table of states stand; `None`: there is no table.
fn columns(case: &CaseView<'_>, limits: &Limits, places: &[usize]) -> Option<Vec<usize>> {
    let state = case.state();
    if case.kind() == RecordKind::Procedure || rows(state).next().is_none() {
        return None;
    }
    let steps = window(state.step_count(), limits.columns, places);
    let is_there_before = rows(state).any(|variable| state.value_at(variable, Moment(0)).is_some());
    let start = (is_there_before || steps.is_empty()).then_some(0);
    Some(start.into_iter().chain(steps.into_iter().map(|step| step + 1)).collect())
}

/// Chooses which of many variables have a row: what the steps in question write, and the ones around them write and read.
fn chosen_rows(state: &State<'_>, limits: &Limits, places: &[usize], columns: &[usize]) -> Vec<usize> {
    let mut chosen: Vec<usize> = rows(state).collect();
    if chosen.len() > limits.rows {
        let is_shown = |step: usize| columns.binary_search(&(step + 1)).is_ok();
        chosen.sort_by_cached_key(|variable| {
            let variable = state.variables().get(*variable);
            let writes =
                |wanted: &dyn Fn(usize) -> bool| variable.is_some_and(|variable| variable.writers().any(wanted));
            let reads = || variable.is_some_and(|variable| variable.readers.iter().any(|step| is_shown(*step)));
            match () {
                () if writes(&|step| places.contains(&step)) => 0,
                () if writes(&is_shown) => 1,
                () if reads() => 2,
                () => 3,
            }
        });
        chosen.truncate(limits.rows);
        chosen.sort_unstable();
    }
    chosen
}

struct Maker<'m, 'c> {
    content: &'m RecordContent,
    case: &'m CaseView<'c>,
    limits: &'m Limits,
    hides_fix: bool,
    executed: Option<&'c Recomputed>,
    /// The steps in question: the one that was asked for, and the first bad one.
    places: Vec<usize>,
    /// After how many steps each column of the table of states stands; `None`: there is no table.
    columns: Option<Vec<usize>>,
    /// The variables that it has rows for.
    rows: Vec<usize>,
}

impl Maker<'_, '_> {
    fn facts(&self) -> Vec<(&'static str, Shown)> {
        let Some(record) = &self.case.record else { return Vec::new() };
        let mut facts = Vec::new();
        let mut put = |name, value: Option<Value<'_>>| {
            let value = value.filter(|value| !value.is_null());
            facts.extend(value.map(|value| (name, value_text(value, self.limits.value))));
        };
        put("Expected answer", record.gold_answer.or(record.gold_num));
        put("Answer", record.pred_answer.or_else(|| record.answer?.get("final_answer")));
        put("Error", record.error);
        // What a structured answer says of itself follows.
        let plain = record.answer.filter(|_| self.content.structured.is_none());
        put("Confidence", plain.and_then(|answer| answer.get("confidence")));
        put("Model", record.root.get("model"));
        let answer = self.content.structured.as_ref();
        facts.extend(answer.iter().flat_map(|answer| self.answer_facts(answer)));
        if let Some((cause, slip)) = &self.content.cause {
            facts.push(("Cause", Shown::own(cause.phrase())));
            facts.extend(slip.as_ref().map(|slip| ("Slip", slip.phrase())));
        }
        if let Some(origin) = ForkOrigin::of(record.root) {
            facts.push(("Fork", origin.phrase().shortened(400)));
        }
        facts
    }

    /// Statements of a structured answer about itself, and what follows: rows without a name continue the one above.
    fn answer_facts(&self, answer: &ShownAnswer) -> Vec<(&'static str, Shown)> {
        let mut facts: Vec<(&'static str, Shown)> = Vec::new();
        for fact in answer.facts.iter().filter(|fact| fact.whole.is_none()) {
            let text = fact.text.clone().shortened(self.limits.value);
            match facts.last_mut().filter(|_| fact.name.is_empty()) {
                Some((_, above)) => *above = shown!("{above}\n{text}"),
                None => facts.push((fact.title(), text)),
            }
        }
        facts
    }

    fn step_count(&self) -> usize {
        let declared = self.case.procedure().map(|procedure| procedure.steps.len());
        declared.unwrap_or_else(|| self.case.state().step_count())
    }

    fn steps(&self, findings: &[FindingPart]) -> (Vec<StepPart>, Vec<LeftOut>) {
        let count = self.step_count();
        let open = self.places.first().copied();
        let steps = window(count, self.limits.steps, &self.places);
        let steps: Vec<StepPart> = steps.into_iter().map(|step| self.step(step, open, findings)).collect();
        let left = LeftOut::between(steps.iter().map(|step| step.number), count);
        (steps, left)
    }

    fn step(&self, step: usize, open: Option<usize>, findings: &[FindingPart]) -> StepPart {
        let (state, limits) = (self.case.state(), self.limits);
        let declared = self.case.procedure().and_then(|procedure| procedure.steps.get(step));
        let own = findings.iter().enumerate().filter(|(_, finding)| finding.step == Some(step + 1));
        let status = self.content.steps.get(step).map(|row| row.status).unwrap_or_default();
        let rows = |entries: Vec<Entry<'_>>| {
            entries.iter().take(limits.values).map(|entry| self.value(entry, step, limits.value)).collect()
        };
        let call = state.call(step);
        let got = |name: &'static str, key: &str| {
            let value = call?.get(key).filter(|value| !value.is_null())?;
            Some((name, value_text(value, limits.value)))
        };
        let calls = [("Model", "model"), ("Error", "error"), ("Reply", "raw"), ("Prompt", "prompt")];
        let said = cut(joined(self.content.conversation.of_step(step)).as_str().as_bytes(), limits.value);
        let is_talk = !said.as_str().is_empty();
        let calls = calls.into_iter().filter(|(_, key)| !is_talk || !["raw", "prompt"].contains(key));
        let calls = calls.filter_map(|(name, key)| got(name, key)).chain(is_talk.then_some(("Messages", said)));
        // Without a procedure the program that was recorded may have named its steps.
        let text = declared.map_or_else(|| call.and_then(|call| call.get("name")), |step| step.text);
        StepPart {
            number: step + 1,
            text: text
                .map(|text| value_text(text, limits.value))
                .or_else(|| self.content.conversation.did(step).filter(|_| declared.is_none()))
                .unwrap_or_default(),
            mood: status.mood(),
            word: status.word(),
            reads: rows(state.reads(step)),
            writes: rows(state.writes(step)),
            calls: calls.collect(),
            findings: own.map(|(n, _)| n + 1).collect(),
            is_open: open == Some(step),
        }
    }

    fn value(&self, entry: &Entry<'_>, step: usize, bytes: usize) -> ValuePart {
        let state = self.case.state();
        let variable = state.variables().get(entry.variable);
        let name = variable.map(|variable| variable.name.line()).unwrap_or_default();
        let is_given = variable.is_none_or(|variable| variable.origin == VariableOrigin::Given);
        let after = entry.writer.map_or(0, |writer| writer + 1);
        let has_cell = !is_given
            && self.columns.as_ref().is_some_and(|columns| columns.contains(&after))
            && self.rows.contains(&entry.variable);
        ValuePart {
            cell: has_cell.then(|| PageLink::variable(name.as_str(), entry.variable, after)),
            name: name.cut(120),
            value: match entry.value {
                Some(_) if is_given && variable.is_some() => Shown::own("the question"),
                Some(value) => value_text(value, bytes),
                None => Shown::own("–"),
            },
            badge: entry.badge.label(),
            mark: self.mark(entry, step),
        }
    }

    /// Marks what a step wrote, where recomputing gives another value.
    fn mark(&self, entry: &Entry<'_>, step: usize) -> Option<MarkPart> {
        let is_own = entry.writer == Some(step) && !entry.badge.is_put();
        if self.hides_fix || !is_own {
            return None;
        }
        MarkPart::of(&self.content.computed.value_of(entry.variable, Some(step))?.standing)
    }

    fn state(&self) -> Option<StateTable> {
        let state = self.case.state();
        let columns = self.columns.clone()?;
        let rows_left = rows(state).count() - self.rows.len();
        let rows: Vec<_> = self.rows.iter().map(|variable| self.state_row(state, *variable, &columns)).collect();
        let shown = columns.iter().copied().filter(|column| *column > 0);
        Some(StateTable { columns_left: LeftOut::between(shown, state.step_count()), columns, rows, rows_left })
    }

    fn state_row(&self, state: &State<'_>, variable: usize, columns: &[usize]) -> (Shown, Vec<StateCell>) {
        let name = state.variables().get(variable).map(|variable| variable.name.line()).unwrap_or_default();
        let cell = |column: &usize| {
            let entry = state.value_at(variable, Moment(*column));
            let own = entry.filter(|entry| entry.writer.is_some_and(|writer| writer + 1 == *column));
            StateCell {
                anchor: PageLink::variable(name.as_str(), variable, *column),
                value: entry.map(|entry| match entry.value {
                    Some(value) => short_line(value, self.limits.cell),
                    None => Shown::own(entry.badge.word()),
                }),
                is_set: own.is_some() || state.is_put_at(variable, Moment(*column)),
                mark: own.and_then(|own| self.mark(&own, column.checked_sub(1)?)),
            }
        };
        let cells = columns.iter().map(cell).collect();
        (name.cut(80), cells)
    }

    /// The derivations, those of wrong values first, and how many are left out.
    fn derivations(&self) -> (Vec<DerivedPart>, usize) {
        let (Some(executed), state) = (self.executed, self.case.state()) else { return (Vec::new(), 0) };
        let end = executed.end(state).map(|end| (end.variable, end.step));
        let calculated = executed.writes.iter().filter(|write| write.plan.is_some() && write.value.is_some());
        let trees = calculated.filter_map(|write| {
            let (variable, step) = (write.variable, write.step);
            let tree = executed.write(variable, step).and_then(|write| executed.derivation(state, write));
            let tree = tree.filter(|tree| tree.formula.is_some() || !tree.from.is_empty())?;
            Some((self.derived_mark(variable, step), tree))
        });
        let mut trees: Vec<(MarkPart, Derivation)> = trees.collect();
        trees.sort_by_key(|(mark, tree)| match mark.mood {
            Mood::Bad if self.places.contains(&tree.step) => 0,
            Mood::Bad => 1,
            _ if end == Some((tree.variable, tree.step)) => 2,
            _ => 3,
        });
        let (count, mut lines) = (trees.len(), self.limits.derivation_lines);
        let mut found = Vec::new();
        for (mark, tree) in trees.into_iter().take(self.limits.derivations) {
            if lines == 0 {
                break;
            }
            found.push(DerivedPart { mark, tree: part_of(executed, &tree, &mut lines) });
        }
        let left = count - found.len();
        (found, left)
    }

    /// Says how the recorded value stands to a derived one.
    fn derived_mark(&self, variable: usize, step: usize) -> MarkPart {
        let entry = self.case.state().written(variable, step);
        let put = entry.map(|entry| entry.badge).filter(|badge| badge.is_put());
        let recorded = entry.and_then(|entry| entry.value).map_or(Shown::own("nothing"), |value| short_line(value, 80));
        match (put, entry.and_then(|entry| self.mark(&entry, step))) {
            (Some(badge), _) => MarkPart { mood: Mood::Open, words: Shown::own(badge.label()) },
            (None, Some(mark)) => MarkPart { words: shown!("recorded {recorded}, {}", mark.words), ..mark },
            (None, None) => MarkPart { mood: Mood::Good, words: Shown::own("as recorded") },
        }
    }

    fn items(&self, with_passages: bool) -> (Vec<ItemPart>, usize) {
        let Some(answer) = self.content.structured.as_ref() else { return (Vec::new(), 0) };
        let part = |item: &ItemView| {
            let spans = item.spans.clone().take(self.limits.values);
            let cited = |n: usize| Some(self.citation(n + 1, answer.spans.get(n)?, with_passages));
            ItemPart {
                title: item.title.clone().cut(80),
                value: self.item_value(item),
                mood: Mood::of_citation(item.standing),
                citations: spans.filter_map(cited).collect(),
            }
        };
        let parts: Vec<ItemPart> = answer.items.iter().take(self.limits.items).map(part).collect();
        let left = answer.items.len() - parts.len();
        (parts, left)
    }

    /// The value of an item in lines, without the blanks that align it with others on a screen.
    fn item_value(&self, item: &ItemView) -> Shown {
        let lines = item.lines.iter().take(self.limits.values).map(|line| line.as_str().trim_start());
        let text = shown!("{}", lines.collect::<Vec<_>>().join("\n")).shortened(self.limits.value);
        match item.lines.len().saturating_sub(self.limits.values) {
            0 => text,
            rest => shown!("{text}\nand {} more", grouped(rest)),
        }
    }

    fn citation(&self, number: usize, span: &SpanView, with_passages: bool) -> CitationPart {
        let document = self.case.document().map(AsRef::as_ref);
        let passage = span.passage.as_ref().zip(document).filter(|_| with_passages);
        CitationPart {
            number,
            mood: if span.place.is_some() { Mood::of_citation(span.standing) } else { Mood::Open },
            badge: match (&span.place, with_passages) {
                // No legend says what the tier is.
                (Some(_), _) if span.standing == Grounding::Grounded => shown!("found: {}", span.badge),
                (None, false) => Shown::own("document left out"),
                _ => span.badge.clone(),
            },
            quote: span.quote.clone().map(|quote| quote.shortened(self.limits.value)),
            place: span.place.clone(),
            lines: passage.map(|(passage, document)| self.passage(document, passage)).unwrap_or_default(),
        }
    }

    /// The lines of a passage, with one before and one behind it.
    fn passage(&self, document: &Document, passage: &FoundView) -> Vec<PassageLine> {
        let (lines, marked) = (&passage.lines, &passage.parts);
        let around = lines.start.saturating_sub(1)..(lines.end + 1).min(document.len());
        let line = |n: usize| {
            let map = ShownMap::line(head(document.line(n)?, self.limits.value));
            let own = marked.iter().filter(|(at, _)| *at == n).map(|(_, range)| map.range(range.clone()));
            let marks = own.filter(|range| !range.is_empty()).collect();
            Some(PassageLine { number: n, marks, text: map.text })
        };
        around.take(self.limits.lines).filter_map(line).collect()
    }

    /// Collects what is shown as text because nothing else is known of it.
    fn texts(&self) -> Vec<(&'static str, Shown)> {
        let Some(record) = &self.case.record else {
            return vec![("Text", cut(self.case.text(), self.limits.text))];
        };
        match record.kind {
            RecordKind::Baseline | RecordKind::Call => {
                record.raw.map(|raw| ("Reply", value_text(raw, self.limits.text))).into_iter().collect()
            }
            RecordKind::Answer | RecordKind::Unknown => vec![("JSON", cut(record.root.raw(), self.limits.text))],
            RecordKind::Typed if self.case.items().is_empty() => {
                let text = self.case.typed().and_then(|typed| typed.answer_text.or(typed.answer));
                text.map(|text| ("Answer as given", value_text(text, self.limits.text))).into_iter().collect()
            }
            RecordKind::Typed
            | RecordKind::Procedure
            | RecordKind::Procedural
            | RecordKind::Fixed
            | RecordKind::Error
            | RecordKind::Chain
            | RecordKind::Broken => Vec::new(),
        }
    }
}

fn part_of(executed: &Recomputed, tree: &Derivation, lines: &mut usize) -> DerivationPart {
    *lines = lines.saturating_sub(1);
    let mut from = Vec::new();
    for one in &tree.from {
        if *lines > 0 {
            from.push(part_of(executed, one, lines));
        }
    }
    DerivationPart {
        name: shown!("{}", tree.name).cut(80),
        value: shown!("{}", tree.value.shown()),
        formula: tree.formula.as_ref().map(|formula| shown!("{formula}").shortened(400)),
        step: tree.step + 1,
        left: executed.inputs_of(tree).saturating_sub(from.len()),
        from,
    }
}
