//! Content of a record for people: all that the screen, `show` and pages say of it, in the order and the words in which
//! they say it.

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_judge::cause::Cause;
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_judge::route::Route;
use stepscope_judge::slip_form::Slip;
use stepscope_record::RecordKind;
use stepscope_record::cost::RunCost;
use stepscope_record::finding::Severity;
use stepscope_record::formats::chain::Labelled;
use stepscope_record::messages::Conversation;
use stepscope_record::procedure::last_step::Surprise;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL};
use stepscope_record::state::{Influence, Moment, Web};

use crate::answer::ShownAnswer;
use crate::computed::ComputedValues;
use crate::notes::{FindingPlaces, Note, NoteMark, end_of, graver, marks, opening_of, ordered};
use crate::peers::PeersView;
use crate::steps::{StepRow, StepStatus, steps};
use crate::tracks::{MAX_TRACKED, ValueTrack, divergence, tracks};
use crate::values::prose;
use crate::variables::{VariableRow, WriteRow, variables};
use crate::verdict::{Facts, RecordVerdict, WhereToFix};

mod difference;

use difference::difference;

/// Content of a record.
#[derive(Debug)]
pub struct RecordContent {
    /// The argument of the verdict, strongest first, the findings that it rests on in their place, then all other
    /// findings: ready for the screen.
    pub notes: Vec<Note>,
    /// The values that the notes are about, in the order of the tape.
    pub marks: Vec<NoteMark>,
    /// Verdict on it, in a sentence.
    pub verdict: RecordVerdict,
    /// True if it is right although one of its steps, or its plan, is proven wrong.
    pub is_lucky: bool,
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
    pub peers: Option<PeersView>,
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
    pub opening: Moment,
    /// True if some of the values come from a run trace.
    pub has_trace: bool,
    /// Recorded values of the steps against what recomputing gives, by position.
    pub tracks: Vec<Option<ValueTrack>>,
    /// Cost of its steps, as far as the trace tells.
    pub cost: Option<RunCost>,
    /// Route of a structured answer.
    pub route: Option<Route>,
    /// Position of the first error of a chain of thought, as a person labelled it.
    pub labelled: Option<Shown>,
    /// Structured answer.
    pub structured: Option<Box<ShownAnswer>>,
    /// Messages to models and from them.
    pub conversation: Conversation,
    web: Web,
    /// Note on the first step whose value differs; the last of the notes too.
    pub difference: Option<Note>,
    /// Cause of a wrong run, and the form of its slip.
    pub cause: Option<(Cause, Option<Slip>)>,
}

impl RecordContent {
    /// Prepares what is written of a record, but for what is hidden: all but the rows of many variables, and steps in
    /// full, which a writer takes from the case one by one.
    pub fn of(case: &CaseView<'_>, hide: Hide) -> Self {
        Self::up_to(MAX_TRACKED, case, hide)
    }

    /// Prepares all of a record, to be looked at again and again.
    pub fn whole(case: &CaseView<'_>, hide: Hide) -> Self {
        Self::up_to(usize::MAX, case, hide)
    }

    fn up_to(most_variables: usize, case: &CaseView<'_>, hide: Hide) -> Self {
        let findings = case.findings();
        let conversation = Conversation::of(case.record.as_ref(), case.state());
        let facts = case.record.as_ref().map_or_else(Facts::default, |record| Facts::of(case, record, &conversation));
        let mut steps = steps(case, &conversation);
        let mut variables = variables(case, most_variables);
        let mut places = FindingPlaces::of(case);
        let notes: Vec<Note> = findings.iter().enumerate().map(|(n, finding)| places.note(n, finding)).collect();
        let nodes = places.nodes(findings);
        let triage = case.triage().filter(|_| !hide.has(Hidden::Triage));
        let ended_at = case.state().ended_at();
        let opening = opening_of(triage, &notes, steps.len(), end_of(ended_at, steps.len()));
        let argument: Vec<Note> =
            triage.iter().flat_map(|triage| &triage.why).map(|why| places.argument(why)).collect();
        let mut computed = ComputedValues::of(case);
        if hide.has(Hidden::Triage) {
            computed.forget_values();
        }
        for note in &notes {
            if let Some(row) = note.step.and_then(|step| steps.get_mut(step)) {
                row.worst = Some(graver(row.worst, note.severity));
            }
            if let Some(row) = note.variable.and_then(|variable| variables.get_mut(variable)) {
                row.worst = Some(graver(row.worst, note.severity));
            }
        }
        let where_to_fix = triage.map(|triage| WhereToFix::of(triage, &mut places));
        let to_fix = where_to_fix.as_ref().and_then(|of| of.step);
        let is_lucky = facts.correct == Some(true) && where_to_fix.as_ref().is_some_and(|of| of.fix.is_in_run());
        for (position, row) in steps.iter_mut().enumerate() {
            row.is_confirmed = computed.confirms(position);
            row.status = StepStatus::of(case, position, row, to_fix == Some(position));
        }
        let notes = ordered(argument, notes);
        let cause = triage.and_then(|triage| case.cause(findings, Some(triage)));
        let cause = cause.map(|cause| (cause, Slip::of(case, Some(cause), triage)));
        let parts = case.record.as_ref().and_then(|record| record.chain.as_deref());
        let procedure_name = case.procedure().and_then(|procedure| procedure.name);
        let mut content = Self {
            marks: marks(&nodes, &notes),
            notes,
            verdict: RecordVerdict::of(case, is_lucky),
            is_lucky,
            where_to_fix,
            kind: case.kind(),
            id: facts.id,
            question: facts.question,
            gold: facts.gold,
            worked: facts.worked,
            pred: facts.pred,
            answer: facts.answer,
            baseline: case.baseline().map(|number| shown!("{number}")),
            peers: PeersView::of(case).filter(|_| !hide.hides_fix()),
            correct: facts.correct,
            error: facts.error,
            reply: facts.reply,
            fitness: facts.fitness,
            reward: facts.reward,
            procedure_name: procedure_name.map(prose).unwrap_or_default(),
            tracks: tracks(steps.len(), &variables, &computed),
            computed,
            steps,
            variables,
            surprise: case.state().last_step().surprise,
            ended_at,
            opening,
            has_trace: facts.has_trace,
            cost: RunCost::of(case.state()),
            route: case.routed().map(|routed| routed.route),
            labelled: parts.and_then(|parts| parts.labelled).map(Labelled::phrase),
            structured: ShownAnswer::of(case).map(Box::new),
            conversation,
            web: case.state().web(),
            difference: None,
            cause,
        };
        content.difference = difference(&content);
        content.notes.extend(content.difference.clone());
        content
    }

    /// Counts the findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.notes.iter().filter(|note| note.finding.is_some() && note.severity == severity).count()
    }

    /// Returns the step that a finding is about, by the finding's position.
    pub fn step_of_finding(&self, finding: usize) -> Option<usize> {
        self.notes.iter().find(|note| note.finding == Some(finding))?.step
    }

    /// Tells whether it has steps to walk through.
    pub fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Returns the first step whose recorded value is not the recomputed one.
    pub fn divergence(&self) -> Option<usize> {
        divergence(&self.tracks)
    }

    /// Returns the first step whose value differs, where that is not the step to fix, and the step to fix.
    pub fn difference_elsewhere(&self) -> Option<(usize, usize)> {
        let to_fix = self.step_to_fix()?;
        let first = self.divergence().filter(|first| *first != to_fix && self.correct != Some(true))?;
        Some((first, to_fix))
    }

    /// Returns the step to fix, where the run is known to have one.
    pub fn step_to_fix(&self) -> Option<usize> {
        self.where_to_fix.as_ref()?.step
    }

    /// Finds its end, where the answer is; of a run that ended early, the step in which it ended.
    pub fn end(&self) -> Moment {
        end_of(self.ended_at, self.steps.len())
    }

    /// Traces what can influence a variable.
    pub fn influence(&self, variable: usize) -> Influence {
        self.web.ancestors(variable)
    }

    /// The question as it is shown: its quantities numbered.
    pub fn question_text(&self) -> &Shown {
        self.computed.question.as_ref().unwrap_or(&self.question)
    }

    /// Returns the answer's text, if a variable is its number: both are one answer.
    pub fn answer_text(&self, variable: usize) -> Option<usize> {
        let is = |row: &VariableRow, name: &str| row.name.as_str() == name;
        let text = || self.variables.iter().position(|row| is(row, FINAL_ANSWER));
        self.variables.get(variable).filter(|row| is(row, FINAL_ANSWER_NUMERICAL)).and_then(|_| text())
    }

    /// The first writing of a variable that holds at a moment.
    pub fn write_at(&self, variable: usize, moment: Moment) -> Option<&WriteRow> {
        self.variables.get(variable)?.held(moment)
    }
}
