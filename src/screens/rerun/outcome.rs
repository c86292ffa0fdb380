//! The outcome of a re-run: the fork next to its parent, ready for the panes.

use std::sync::Arc;

use std::collections::{HashMap, HashSet};

use crate::screens::side_by_side::state::SideBySide;
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_compare::difference::{Change, Held, RecordDifference, VariableDifference};
use stepscope_execution::fork::Fork;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_judge::case::{Case, CaseView};
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_judge::triage::Fix;
use stepscope_present::computed::{ComputedValues, RecomputedValue};
use stepscope_present::values::one_line;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::state::Moment;

/// Maximum number of findings that are named.
const MAX_NAMED: usize = 200;

/// Outcome of a re-run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The fork as a record, on one line.
    pub line: Vec<u8>,
    /// Reason that it ended early.
    pub ended: Option<Shown>,
    /// Values received by then: step, by position, variable and value. They are shown, and compared with nothing.
    pub received: Vec<(usize, Shown, Shown)>,
    /// The variables: first those that the asked steps write, then the others that changed.
    pub rows: Vec<ChangedRow>,
    /// The parent.
    pub before: Side,
    /// The fork.
    pub after: Side,
    /// Findings that only the fork has, and those that only the parent has.
    pub news: [Vec<FindingLine>; 2],
    /// Steps whose recorded values rest on what is no longer so, by position.
    pub stale: Vec<usize>,
    /// The first step from which on the two are not the same, by position.
    pub diverges: Option<usize>,
    /// Diff of two structured answers, in place of the variables.
    pub sides: Option<Box<SideBySide>>,
}

/// Variable in both runs.
#[derive(Debug, Clone)]
pub struct ChangedRow {
    /// Name of the variable.
    pub name: Shown,
    /// The step that writes it, by position.
    pub step: Option<usize>,
    /// True if that step was asked again.
    pub is_asked: bool,
    /// Value in the parent.
    pub recorded: Option<RowValue>,
    /// Value in the fork.
    pub new: Option<RowValue>,
    /// Value as it is calculated exactly.
    pub computed: Option<RecomputedValue>,
    /// Change from recorded to new.
    pub change: Change,
}

/// Value of a variable in one of the two.
#[derive(Debug, Clone)]
pub struct RowValue {
    /// The value.
    pub text: Shown,
    /// Relation to the recomputed value; `None`: it is not known.
    pub relation: Option<ToRecomputed>,
}

/// Summary of one of the two.
#[derive(Debug, Default)]
pub struct Side {
    /// True if its answer is right; `None` where that is unknown.
    pub right: Option<bool>,
    /// Answer of the run.
    pub answer: Option<Shown>,
    /// Place to fix it.
    pub fix: Option<Shown>,
    /// Number of findings of each severity.
    pub counts: [usize; 4],
}

/// Finding, in short.
#[derive(Debug, Clone)]
pub struct FindingLine {
    /// Severity of the finding.
    pub severity: Severity,
    /// Id of the rule.
    pub rule: &'static str,
    /// Message in words.
    pub message: Shown,
}

impl Outcome {
    /// Compares a fork with the record that it came from.
    pub fn of(parent: &Case<'_>, fork: &Fork, line: Vec<u8>, side: &Arc<SideData>) -> Self {
        if let Some(ended) = &fork.ended {
            let (ended, received) = (Some(shown!("{ended}")), received(fork));
            return Self { line, ended, received, ..Self::default() };
        }
        let around = side.around();
        let made = Case::around(&line, Arc::new(around));
        let (one, other) = (parent.view(), made.view());
        let Some(difference) = RecordDifference::of(&one, &other) else {
            return Self { line: line.clone(), ..Self::default() };
        };
        let asked: HashSet<usize> = fork.calls.iter().map(|call| call.step).collect();
        let rows = rows(&difference, [&one, &other], &asked);
        let diverges = difference.steps.iter().flatten().next().map(|first| first.step);
        let (before, after) = (Side::of(&one), Side::of(&other));
        let news = [only(other.findings(), one.findings()), only(one.findings(), other.findings())];
        let (stale, received) = (fork.stale.clone(), Vec::new());
        let line = line.clone();
        Self { line, ended: None, received, rows, before, after, news, stale, diverges, sides: None }
    }
}

/// Lists the values of the steps that gave some.
fn received(fork: &Fork) -> Vec<(usize, Shown, Shown)> {
    let mut all = Vec::new();
    for call in &fork.calls {
        let mut tape = Tape::default();
        let outputs = call.outputs.as_deref().and_then(|outputs| tape.parse(outputs));
        let entries = outputs.map(Value::entries).unwrap_or_default();
        all.extend(entries.iter().map(|member| (call.step, member.name().line(), one_line(member.value))));
    }
    all
}

fn rows(
    difference: &RecordDifference<'_>,
    [parent, fork]: [&CaseView<'_>; 2],
    asked: &HashSet<usize>,
) -> Vec<ChangedRow> {
    let [before, after] = [parent, fork].map(ComputedValues::of);
    let state = fork.state();
    let value = |held: Option<&Held<'_>>, relation| {
        Some(RowValue { text: held.and_then(|held| held.value).map(one_line)?, relation })
    };
    let row = |variable: &VariableDifference<'_>| {
        let index = state.variable(&variable.name);
        let end = Moment(state.step_count().saturating_add(1));
        let written = index.and_then(|index| state.value_at(index, end)).and_then(|entry| entry.writer);
        let step = written.or(variable.a.as_ref().and_then(|held| held.step));
        let computed = index.and_then(|index| after.value_of(index, step));
        let own = parent.state().variable(&variable.name).and_then(|index| before.value_of(index, step));
        // Of a changed run something else is recomputed than of its parent.
        let says = |computed: &RecomputedValue| {
            let json = variable.a.as_ref().and_then(|held| held.value).map(Value::raw);
            json.is_some_and(|json| computed.is_said_by(&variable.name.line(), json))
        };
        let recorded = computed.map(|computed| match own.filter(|own| own.value == computed.value) {
            Some(own) => own.standing.relation,
            None if says(computed) => ToRecomputed::Same,
            None => ToRecomputed::Differs,
        });
        ChangedRow {
            name: variable.name.line(),
            step,
            is_asked: step.is_some_and(|step| asked.contains(&step)),
            recorded: value(variable.a.as_ref(), recorded),
            new: value(variable.b.as_ref(), computed.map(|computed| computed.standing.relation)),
            computed: computed.cloned(),
            change: variable.change,
        }
    };
    let mut rows: Vec<ChangedRow> = difference.variables.iter().map(row).collect();
    rows.retain(|row| row.is_asked || row.change != Change::Same);
    rows.sort_by_key(|row| (!row.is_asked, row.step));
    rows
}

impl Side {
    fn of(case: &CaseView<'_>) -> Self {
        let (findings, triage, record) = (case.findings(), case.triage(), case.record.as_ref());
        let fix = triage.map(|triage| match triage.fix {
            Fix::None => Shown::own("none"),
            Fix::Unknown => Shown::own("unknown"),
            _ => shown!("{} ({})", triage.phrase(), triage.confidence.word()),
        });
        let answer = record.and_then(|record| record.pred_num.or(record.pred_answer)).filter(|value| !value.is_null());
        let counts = Severity::ALL.map(|severity| findings.iter().filter(|found| found.severity == severity).count());
        Self { right: case.rightness().verdict(), answer: answer.map(one_line), fix, counts }
    }
}

/// Lists the findings of one side that the other has not; of equal ones each counts.
fn only(of: &[Finding], other: &[Finding]) -> Vec<FindingLine> {
    let key = |finding: &Finding| (finding.rule, finding.message.line());
    let mut there: HashMap<_, usize> = HashMap::new();
    for finding in other {
        *there.entry(key(finding)).or_default() += 1;
    }
    let fresh = of.iter().filter(|finding| match there.get_mut(&key(finding)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    });
    let said = |finding: &Finding| FindingLine {
        severity: finding.severity,
        rule: finding.rule.word(),
        message: finding.message.line(),
    };
    fresh.take(MAX_NAMED).map(said).collect()
}
