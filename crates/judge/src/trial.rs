//! Where to fix a wrong run: in the run of a step, in the procedure, or in the expected answer. From the record alone,
//! with the argument, strongest first, and honest about how sure it is.
//!
//! The procedure executed exactly is the main witness: if that gives the gold number, a step was run wrongly; if it gives
//! what the run gave, the steps are sound and the plan or the gold is not.

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::case::CaseView;
use crate::cause::Cause;
use crate::gold::{Gold, Working, working};
use crate::lost::LostValue;
use crate::quantity_links::{QuantityLinks, UnusedQuantity};
use crate::recompute::classes::Wording;
use crate::recompute::follows::{gives, may_give};
use crate::recompute::{Computed, PlanSource, Recomputed, RunAnswer, ValueBasis, may_plan, name_of, value_pointer};
use crate::rules::run;
use crate::rules::run::{ErrorCause, contradictions, differs, explained};
use crate::triage::{Argument, Confidence, Fix, Reason, Triage};
use stepscope_arithmetic::expression::{list, numbers};
use stepscope_arithmetic::number::{Number, Written, near};
use stepscope_arithmetic::quantity::{self, Quantity};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::finding::{Finding, Findings, Place, Severity};
use stepscope_record::procedure::last_step::last_step_surprise;
use stepscope_record::procedure::{PROBLEM_TEXT, Procedure};
use stepscope_record::rule_id::RuleId;
use stepscope_record::state::State;
use stepscope_record::trace::{Put, RecordedSet, asks_otherwise};
use stepscope_record::{Record, RecordKind};

/// Longest error of a step that is quoted.
const MAX_ERROR: usize = 120;
/// So far, in parts of itself, an answer may be off by rounding on the way.
const ROUNDED: f64 = 0.002;

mod cause;
mod chain;
mod change;
mod departs;
mod doubt;
mod experiment;
mod misread;
mod said;

use self::experiment::{Accused, Experiment, ExperimentBase};

/// Judges a record that the rules have looked at; `None` for what is no run. A right run costs next to nothing.
pub(crate) fn judge(case: &CaseView<'_>, findings: &[Finding], baseline: Option<f64>) -> Option<Triage> {
    judged_by(case, findings, baseline, (case.gold().cloned(), case.is_right()))
}

/// Judges a record as if this were its expected answer, and its own another.
pub(crate) fn assuming(case: &CaseView<'_>, findings: &[Finding], gold: Gold) -> Option<Triage> {
    judged_by(case, findings, None, (Some(gold), false))
}

fn judged_by(
    case: &CaseView<'_>,
    findings: &[Finding],
    baseline: Option<f64>,
    (gold, right): (Option<Gold>, bool),
) -> Option<Triage> {
    let record = case.record.as_ref()?;
    match record.kind {
        RecordKind::Error => return Some(of_error(record)),
        kind if Triage::asks_whether_right(kind) => {}
        _ => return None,
    }
    // A question that nobody ran yet.
    if record.state.is_none() && record.answer.is_none() && record.pred_num.is_none() && record.correct.is_none() {
        return None;
    }
    let (none, answered);
    // Of a right run only the answer is looked at, unless something speaks against a step.
    let slipped =
        |finding: &Finding| matches!(finding.rule, RuleId::Recompute | RuleId::Equation | RuleId::FinalMismatch);
    let is_looked_at =
        !right || case.lost().is_some() || findings.iter().any(slipped) || states_another(record, case.procedure());
    let (state, recomputed) = match case.recomputed() {
        Some(recomputed) if is_looked_at => (case.state(), recomputed),
        None if is_looked_at => (case.state(), case.executed()?),
        recomputed => {
            (none, answered) =
                (State::default(), Recomputed { answer: RunAnswer::of(record), ..Recomputed::default() });
            (&none, recomputed.unwrap_or(&answered))
        }
    };
    let links = if is_looked_at { case.quantity_links() } else { None };
    let mut trial = Trial {
        record,
        procedure: case.procedure(),
        state,
        recomputed,
        findings,
        links,
        baseline,
        right,
        lost: case.lost(),
        gold,
        working: if is_looked_at { working(record) } else { Working::default() },
        answer: recomputed.answer.value(),
        // Of a right run nothing has to be recovered, and most were not recomputed.
        recovered: recomputed.recovered.filter(|_| !right),
        corrected: false,
        acquitted: Vec::new(),
        why: Vec::new(),
        base: OnceCell::new(),
    };
    let (fix, step, confidence) = trial.judge();
    let cause = trial.cause(fix, step);
    let recovered = trial.recovered;
    let recovers_gold = recovered.zip(trial.gold.as_ref()).is_some_and(|(own, gold)| gold.value.is_near(own));
    let corrected = trial.corrected;
    let is_chain = record.kind == RecordKind::Chain;
    Some(Triage { fix, step, recovered, corrected, recovers_gold, is_chain, confidence, cause, why: trial.why })
}

/// Takes back what the rules say against a step that an experiment acquits: with its recorded value the run gives the
/// expected answer. What only words say goes, what signs prove becomes a note; the step that is accused is no note.
pub(crate) fn acquit(case: &CaseView<'_>, findings: &mut Findings) {
    let is_slip = |finding: &Finding| matches!(finding.rule, RuleId::Recompute | RuleId::Equation);
    if case.is_right() || case.gold().is_none() || !findings.iter().any(is_slip) {
        return;
    }
    let (Some(record), Some(recomputed)) = (case.record.as_ref(), case.recomputed()) else { return };
    let (state, gold) = (case.state(), case.gold().cloned());
    let trial = Trial {
        record,
        procedure: case.procedure(),
        state,
        recomputed,
        findings: &[],
        links: None,
        baseline: None,
        right: false,
        lost: None,
        gold: None,
        working: Working::default(),
        answer: recomputed.answer.value(),
        recovered: None,
        corrected: false,
        acquitted: Vec::new(),
        why: Vec::new(),
        base: OnceCell::new(),
    };
    let accused = Experiment::of(&trial).zip(gold).and_then(|(experiment, gold)| experiment.by_plan(&gold));
    let Some(accused) = accused else { return };
    let place = |n: usize| value_pointer(record, state, recomputed.writes.get(n)?).map(Place::Value);
    let is_sure =
        |n: usize| recomputed.writes.get(n).and_then(|write| write.plan.as_ref()).is_some_and(|plan| plan.sure);
    for n in accused.acquitted {
        let Some(place) = place(n) else { continue };
        findings.retain(|finding| !is_slip(finding) || *finding.place() != place || is_sure(n));
        findings.set_severity(|finding| is_slip(finding) && *finding.place() == place, Severity::Note);
    }
    if let Some(place) = place(accused.write) {
        let rule = RuleId::Recompute.severity();
        findings.set_severity(|finding| is_slip(finding) && *finding.place() == place, rule);
    }
}

type Judgement = (Fix, Option<usize>, Confidence);

/// Everything that is looked at, and what it says.
struct Trial<'c, 'a> {
    record: &'c Record<'a>,
    procedure: Option<&'c Procedure<'a>>,
    state: &'c State<'a>,
    recomputed: &'c Recomputed,
    findings: &'c [Finding],
    /// Links between the quantities of the question and what the run made of them.
    links: Option<&'c QuantityLinks>,
    /// The answer of the baseline to the same question.
    baseline: Option<f64>,
    right: bool,
    /// The first value that got lost between the steps.
    lost: Option<&'c LostValue>,
    gold: Option<Gold>,
    /// Calculations of the expected solution.
    working: Working,
    answer: Option<Written>,
    recovered: Option<Number>,
    corrected: bool,
    /// Writes that differ from what was read of their calculations, and that nothing speaks against.
    acquitted: Vec<usize>,
    why: Vec<Argument>,
    /// Basis of the experiments; `None`: nothing can be carried out again.
    base: OnceCell<Option<ExperimentBase>>,
}

impl<'c> Trial<'c, '_> {
    /// Tells whether a number is the expected number, as exactly as that is written.
    fn is_gold(gold: &Gold, number: Number) -> bool {
        gold.value.is_rounding_of(number)
    }

    /// Tells whether the answer is this number, as people write it.
    fn answers(&self, number: Number) -> bool {
        self.answer.is_some_and(|answer| answer.stands_for(number) || answer.value.is_near(number))
    }

    fn argue(&mut self, rule: &'static str, pointer: Pointer, text: Shown) {
        self.why.push(Argument { rule, pointer, text });
    }

    fn place_of(&self, write: &Computed) -> Pointer {
        argued_place(self.record, self.state, write)
    }

    fn judge(&mut self) -> Judgement {
        if self.right {
            return self.right();
        }
        if let Some(verdict) = self.out_of_date() {
            return verdict;
        }
        if let Some(verdict) = self.no_answer_asked().or_else(|| self.value_lost()) {
            return verdict;
        }
        let verdict = match self.gold.clone() {
            _ if self.record.kind == RecordKind::Chain => self.chain(),
            Some(gold) if self.record.kind == RecordKind::Baseline => self.baseline_against(&gold),
            Some(gold) => match self.overridden(&gold) {
                None => self.against(&gold),
                overridden => self.alone(overridden),
            },
            None => self.alone(None),
        };
        self.add_slips();
        // Of a chain of thought in prose the equations alone are understood.
        let is_chain = |write: &Computed| write.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Worked);
        match verdict {
            (fix, step, Confidence::Likely) if self.recomputed.writes.iter().any(is_chain) => {
                (fix, step, Confidence::Unsure)
            }
            verdict => verdict,
        }
    }

    /// The answer of a fork comes from a step that kept its values though what it reads was changed: no step is to blame
    /// for that, unless one slipped before.
    fn out_of_date(&mut self) -> Option<Judgement> {
        let last = self.last()?.step;
        let slipped = || self.first_slip(false).is_some() || self.first_waiting().is_some();
        if !self.state.is_stale(last) || slipped() {
            return None;
        }
        let first = (0..=last).find(|step| self.state.is_stale(*step))?;
        let gives = self.recovered.map(|recovered| shown!("; recomputed, the plan gives {}", recovered.shown()));
        let text = shown!(
            "The answer is out of date: what step {} reads was changed, and the step was not run again{}.",
            first + 1,
            gives.unwrap_or_default()
        );
        self.argue(Reason::OutOfDate.word(), Pointer::from_iter(["trace", "fork", "stale"]), text);
        Some((Fix::Unknown, None, Confidence::Unsure))
    }

    /// Finds what a person set in a fork, so that the expected answer need not be that of its run: another question, or
    /// a value that puts nothing right.
    fn overridden(&self, gold: &Gold) -> Option<&'c RecordedSet<'c>> {
        let is_question = |set: &&RecordedSet<'_>| set.variable == PROBLEM_TEXT;
        let mut sets = self.state.sets().iter().filter(|set| set.put == Put::Override);
        if asks_otherwise(self.record) {
            return sets.find(is_question);
        }
        let recovers_gold = self.recomputed.recovered.is_some_and(|recovered| Self::is_gold(gold, recovered));
        sets.filter(|set| !is_question(set)).find(|set| !recovers_gold && !self.puts_right(set))
    }

    /// Tells whether a person set what the step should have written, or a number of the question in place of one that it
    /// does not hold.
    fn puts_right(&self, set: &RecordedSet<'_>) -> bool {
        let Some(variable) = self.state.variable(&set.variable) else { return false };
        let mut own = self.recomputed.writes.iter().filter(|write| write.variable == variable);
        let is_set = |write: &&Computed| write.basis == ValueBasis::Override && write.step == set.step;
        let Some(now) = own.clone().find(is_set).and_then(Computed::wrote) else { return false };
        let is_given =
            |write: &Computed| write.basis == ValueBasis::Plan && write.value.is_some_and(|value| value.is_near(now));
        let stands = |number: f64| self.links.is_some_and(|links| links.stands(number));
        let stood = |was: Value<'_>| quantity::find(was.raw()).iter().any(|number| stands(number.float()));
        own.any(is_given) || (stands(now.float()) && set.was.is_some_and(|was| !stood(was)))
    }

    /// A right run. Where a step is proven wrong all the same, it is right by luck.
    fn right(&mut self) -> Judgement {
        let verdict = self.answered_rightly();
        match verdict {
            (Fix::None, ..) => self.by_luck().unwrap_or(verdict),
            _ => verdict,
        }
    }

    /// A step that is proven wrong behind a right answer.
    fn by_luck(&mut self) -> Option<Judgement> {
        if let Some(lost) = self.lost {
            let text = shown!("Right all the same: {}", lost.text);
            self.argue(Reason::Luck.word(), lost.pointer.clone(), text);
            return Some((Fix::StepRun, Some(lost.step), Confidence::Likely));
        }
        let slip = self.first_slip_write(true).filter(|write| !write.is_statement() && write.wrote().is_some());
        if let Some(slip) = slip.filter(|_| !self.leads_to_gold()) {
            let pointer = value_pointer(self.record, self.state, slip)?;
            let text = shown!("Right by luck: {}", differs(self.state, self.recomputed, slip));
            self.argue(Reason::Luck.word(), pointer, text);
            return Some((Fix::StepRun, Some(slip.step), Confidence::Likely));
        }
        let gold = self.gold.clone()?;
        let experiment = Experiment::of(self)?.before_the_answer()?;
        let reads = experiment.target().filter(|reads| !Self::is_gold(&gold, *reads))?;
        let copies_other = self.last().is_some_and(|end| end.is_statement() && end.differs());
        if !copies_other && !states_another(self.record, self.procedure) {
            return None;
        }
        let accused = experiment.by_plan(&gold).or_else(|| experiment.by_number_of_gold(&gold));
        let accused = accused.or_else(|| experiment.by_another_operation(&gold));
        let last = self.last()?.step;
        let text =
            shown!("Right by luck: step {} reads {} and states {}.", last + 1, reads.shown(), gold.value.shown());
        self.argue(Reason::Luck.word(), self.record.number_pointer(), text);
        let Some(accused) = accused else { return Some((Fix::None, None, Confidence::Unsure)) };
        let write = self.recomputed.writes.get(accused.write)?;
        let name = name_of(self.state, write.variable);
        let wrote = write.wrote().map_or_else(|| "nothing".to_owned(), Number::shown);
        let text = shown!("With {name} = {} instead of {wrote} its own values give that.", accused.value.shown());
        self.argue(Reason::Worked.word(), self.place_of(write), text);
        Some((Fix::StepRun, Some(write.step), accused.confidence.max(Confidence::Likely)))
    }

    /// Tells whether the recorded values lead to the expected answer: then none of them is proven wrong, whatever was
    /// read of its calculation.
    fn leads_to_gold(&self) -> bool {
        let Some(gold) = &self.gold else { return false };
        let leads = |experiment: &Experiment<'_, '_, '_>| experiment.gives_with(gold, &[]);
        let before = || Experiment::of(self).and_then(Experiment::before_the_answer);
        before().or_else(|| Experiment::of(self)).is_some_and(|experiment| leads(&experiment))
    }

    fn answered_rightly(&mut self) -> Judgement {
        let number = self.record.number_pointer();
        match &self.gold {
            None => {
                self.argue(
                    Reason::Judged.word(),
                    Pointer::from_iter(["correct"]),
                    Shown::own("The run is graded correct."),
                );
                (Fix::None, None, Confidence::Likely)
            }
            Some(gold) => {
                let (gold, misread) = (gold.value, gold.misread);
                let said = self.record.correct == Some(false) && misread.is_none();
                let but = if said { ", though the record says that it is wrong" } else { "" };
                let text = shown!("Answer matches the expected number ({}){but}.", gold.shown());
                self.argue(Reason::Right.word(), number, text);
                if let Some(misread) = misread {
                    let (misread, gold) = (misread.shown(), gold.shown());
                    let text = shown!("Field gold_num says {misread}, but the expected solution ends in {gold}.");
                    self.argue(RuleId::GoldNum.word(), Pointer::from_iter(["gold_num"]), text);
                }
                if misread.is_some() && self.record.correct == Some(false) {
                    return (Fix::Gold, None, Confidence::Sure);
                }
                let other = self.recomputed.answer.numerical.filter(|number| !number.value.is_near(gold));
                let Some(other) = other else { return (Fix::None, None, Confidence::Sure) };
                let text =
                    shown!("Only the answer text is right: final_answer_numerical says {}.", other.value.shown());
                self.argue(RuleId::FinalMismatch.word(), self.record.number_pointer(), text);
                // The grader read the number.
                match self.last().filter(|_| self.record.correct == Some(false)) {
                    Some(last) => (Fix::StepRun, Some(last.step), Confidence::Likely),
                    None => (Fix::None, None, Confidence::Likely),
                }
            }
        }
    }

    fn baseline_against(&mut self, gold: &Gold) -> Judgement {
        if self.wrong_marks(false) { (Fix::Gold, None, Confidence::Likely) } else { self.unknown(gold) }
    }

    /// A step whose call failed, though the run went on.
    fn failed_step(&mut self) -> Option<Judgement> {
        let mut calls = (0..self.state.step_count()).filter_map(|step| Some((step, self.state.call(step)?)));
        let (step, call, error) = calls.find_map(|(step, call)| Some((step, call, call.error?)))?;
        let error = error.string().unwrap_or(Untrusted::new(error.raw()));
        let (fault, ..) = explained("", error.readable());
        let said = error.line().cut(MAX_ERROR);
        let text = shown!("Step {} failed: {}.", step + 1, said.as_str().trim_end_matches('.'));
        self.argue(RuleId::RunError.word(), call.pointer().then("error"), text);
        Some(blamed(fault, Some(step)))
    }

    fn unknown(&mut self, gold: &Gold) -> Judgement {
        if let Some(verdict) = self.failed_step() {
            return verdict;
        }
        let gold = gold.value.shown();
        let text = match self.answer {
            Some(answer) => {
                shown!("The answer is {}, expected {gold}; the record does not show why.", answer.value.shown())
            }
            None => shown!("The run gives no number, expected {gold}; the record does not show why."),
        };
        self.argue(Reason::Unknown.word(), self.record.number_pointer(), text);
        (Fix::Unknown, None, Confidence::Unsure)
    }

    /// A wrong run with a gold number.
    fn against(&mut self, gold: &Gold) -> Judgement {
        if let Some(accused) = Experiment::of(self).and_then(|experiment| experiment.by_plan(gold)) {
            return self.accuse(gold, &accused);
        }
        let recovered = self.recomputed.recovered;
        // What was rounded on the way without need is exact here.
        let exactly = self.recomputed.replay(self.state, &[]).filter(|_| self.recomputed.exact);
        // Where the run answers what the plan gives, no step departs from it.
        let follows = |number: &Number| {
            let near = |number: &Number| self.answer.is_some_and(|answer| answer.value.is_near(*number));
            near(number) && !gold.value.is_near(*number)
        };
        let mut given = recovered.into_iter().chain(exactly).filter(|number| !follows(number));
        if given.any(|recovered| Self::is_gold(gold, recovered)) {
            self.recovered = Some(gold.value);
            return self.executed_wrongly(gold.value);
        }
        if let Some(verdict) = self.other_ending(gold) {
            return verdict;
        }
        if self.first_slip(true).is_none() && self.wrong_marks(true) {
            return (Fix::Gold, None, Confidence::Likely);
        }
        if let Some(verdict) = self.miscopied(gold) {
            return verdict;
        }
        if let Some(verdict) = self.corrected(gold).or_else(|| self.with_one_change(gold)) {
            return verdict;
        }
        if let Some(fatal) = self.fatal() {
            return fatal;
        }
        let slip = self.first_slip(true);
        if slip.is_none()
            && let Some(verdict) = self.suspect_gold(gold)
        {
            return verdict;
        }
        if let Some(verdict) = self.unknown_quantity().or_else(|| self.by_experiment(gold)) {
            return verdict;
        }
        match recovered {
            Some(recovered) => self.plan_contradicted(gold, recovered, slip),
            None => self.not_executed(gold, slip),
        }
    }

    /// A value that differs from its own calculation, and is all that keeps the run from the expected answer.
    fn accuse(&mut self, gold: &Gold, accused: &Accused) -> Judgement {
        self.acquitted.clone_from(&accused.acquitted);
        let step = self.recomputed.writes.get(accused.write).map(|write| write.step);
        let is_whole = self.recomputed.exact && self.recomputed.recovered.is_some_and(|own| Self::is_gold(gold, own));
        if let Some(write) = self.recomputed.writes.get(accused.write) {
            let differs = differs(self.state, self.recomputed, write);
            let gives = gold.value.shown();
            let text = match is_whole && self.uses_the_question() {
                true => shown!("The plan is right: recomputing it gives the expected {gives}. {differs}"),
                false => shown!("{differs} With that value the run gives {gives}, as expected."),
            };
            self.argue(RuleId::Recompute.word(), self.record.number_pointer(), text);
        }
        if !self.recomputed.exact {
            let text = Shown::own("Some values on the way cannot be recomputed and are used as recorded.");
            self.argue(Reason::Partial.word(), Pointer::from_iter(["state"]), text);
        }
        (self.recovered, self.corrected) = (Some(gold.value), !self.recomputed.exact);
        // The whole run was carried out again, from what it extracted to the expected answer.
        let confidence = match self.recomputed.exact {
            true if is_whole => Confidence::Sure,
            true => accused.confidence,
            false => Confidence::Likely,
        };
        (Fix::StepRun, step, confidence)
    }

    /// Tells whether every number of the question that asks for use is used: else a plan that gives the expected number
    /// may do so by chance.
    fn uses_the_question(&self) -> bool {
        self.links.is_none_or(|links| links.missed.is_empty())
    }

    /// A value that no plan explains, and in whose place another one gives the expected answer.
    fn by_experiment(&mut self, gold: &Gold) -> Option<Judgement> {
        let experiment = Experiment::of(self)?;
        let by_scale = experiment.by_scale(gold);
        let of_gold = if by_scale.is_some() { None } else { experiment.by_number_of_gold(gold) };
        let is_of_gold = of_gold.is_some();
        let accused = by_scale.or(of_gold).or_else(|| experiment.by_another_operation(gold))?;
        let write = self.recomputed.writes.get(accused.write)?;
        let (step, name) = (write.step, name_of(self.state, write.variable));
        let wrote = write.wrote().map_or_else(|| "nothing".to_owned(), Number::shown);
        let pointer = value_pointer(self.record, self.state, write)?;
        let (value, expected) = (accused.value.shown(), gold.value.shown());
        let source = if is_of_gold { ", as in the expected solution," } else { "" };
        let does = if accused.is_planned {
            shown!("Step {} does what it says, which is not what is asked for. ", step + 1)
        } else {
            Shown::default()
        };
        let text =
            shown!("{does}With {name} = {value}{source} instead of {wrote} the run gives {expected}, as expected.");
        self.argue(Reason::Worked.word(), pointer, text);
        (self.recovered, self.corrected) = (Some(gold.value), true);
        let fix = if accused.is_planned { Fix::Procedure } else { Fix::StepRun };
        Some((fix, Some(step), accused.confidence))
    }

    /// The last step was only to state the expected number, and wrote another one.
    fn miscopied(&mut self, gold: &Gold) -> Option<Judgement> {
        let end = self.last().filter(|end| end.is_statement())?;
        let given = self.recomputed.replay(self.state, &[]).filter(|given| Self::is_gold(gold, *given))?;
        if !end.differs() {
            // Rounded, which nobody asked for: 82 for 81.75.
            let wrote = end.recorded.filter(|wrote| wrote.stands_for(given) && !Self::is_gold(gold, wrote.value))?;
            let text = shown!("Step {} wrote {} for {}.", end.step + 1, wrote.value.shown(), given.shown());
            self.argue(RuleId::FinalMismatch.word(), self.record.number_pointer(), text);
        }
        self.recovered = Some(gold.value);
        Some((Fix::StepRun, Some(end.step), Confidence::Likely))
    }

    /// Recomputed, the procedure gives the expected number.
    fn executed_wrongly(&mut self, recovered: Number) -> Judgement {
        let rounded = |write: &&Computed| write.alone.is_some() && write.alone != write.value && !write.differs();
        let rounded = || self.recomputed.writes.iter().find(rounded).map(|write| write.step);
        let without = self.without_number();
        let step = self.first_slip(false).or_else(|| self.first_waiting()).or(without.map(|write| write.step));
        let step = step.or_else(rounded);
        let exact = self.recomputed.exact;
        let confidence = match step {
            Some(_) if exact => Confidence::Sure,
            Some(_) => Confidence::Likely,
            None => Confidence::Unsure,
        };
        let step = step.or_else(|| Some(self.last()?.step));
        let slip = self.first_slip_write(false).or(without).map(|write| differs(self.state, self.recomputed, write));
        let wrong = slip.unwrap_or_else(|| {
            let answer = self.answer.map_or_else(|| "no number".to_owned(), |answer| answer.value.shown());
            match step {
                Some(step) => shown!("The run departs from it at step {} and answers {answer}.", step + 1),
                None => shown!("The run answers {answer}."),
            }
        });
        let gives = recovered.shown();
        let text = match self.uses_the_question() {
            true => shown!("The plan is right: recomputing it gives the expected {gives}. {wrong}"),
            false => shown!("Recomputed, the plan gives {gives}, as expected. {wrong}"),
        };
        self.argue(RuleId::Recompute.word(), self.record.number_pointer(), text);
        if !exact {
            let text = Shown::own("Some values on the way cannot be recomputed and are used as recorded.");
            self.argue(Reason::Partial.word(), Pointer::from_iter(["state"]), text);
        }
        (Fix::StepRun, step, confidence)
    }

    /// A step left what later steps read without a usable value: nothing after it is the first error, and nothing before
    /// it but a step that contradicts its own signs.
    fn value_lost(&mut self) -> Option<Judgement> {
        let lost = self.lost?;
        // A call that failed is the reason why there are no values.
        if (0..self.state.step_count()).any(|step| self.state.call(step).is_some_and(|call| call.error.is_some())) {
            return None;
        }
        if self.first_slip(true).is_some_and(|slip| slip < lost.step) {
            return None;
        }
        self.argue(RuleId::OutputMissing.word(), lost.pointer.clone(), lost.text.clone());
        let recovers = self.gold.as_ref().zip(self.recomputed.recovered).filter(|_| self.recomputed.exact);
        let recovers = recovers.filter(|(gold, recovered)| Self::is_gold(gold, *recovered)).map(|(gold, _)| gold.value);
        let Some(gold) = recovers else { return Some((Fix::StepRun, Some(lost.step), Confidence::Likely)) };
        let text = shown!("The plan is right: recomputing it gives the expected {}.", gold.shown());
        self.argue(RuleId::Recompute.word(), self.record.number_pointer(), text);
        self.recovered = Some(gold);
        Some((Fix::StepRun, Some(lost.step), Confidence::Sure))
    }

    /// The ids keep evoproc from asking for the answer's number.
    fn no_answer_asked(&mut self) -> Option<Judgement> {
        let procedure = self.procedure?;
        let surprise = last_step_surprise(&procedure.steps)?;
        let asked = self.record.answer.is_some_and(|answer| answer.get("final_answer_numerical").is_some());
        if asked {
            return None;
        }
        let pointer = self.record.procedure_pointer.then("steps");
        self.argue(
            RuleId::LastStep.word(),
            pointer,
            shown!("The run has no final_answer_numerical: {}.", surprise.meaning()),
        );
        Some((Fix::Procedure, procedure.steps.len().checked_sub(1), Confidence::Sure))
    }

    fn fatal(&mut self) -> Option<Judgement> {
        let is_of_plan = |rule: RuleId| ["procedure/", "plan/"].iter().any(|subject| rule.word().starts_with(subject));
        let fatal =
            self.findings.iter().find(|finding| finding.severity == Severity::Fatal && is_of_plan(finding.rule))?;
        let (rule, pointer, text) = (fatal.rule, fatal.place().pointer(), fatal.message.line());
        self.argue(rule.word(), pointer, text);
        Some((Fix::Procedure, None, Confidence::Likely))
    }

    /// The plan continues with something that nothing ever gives: an extracted "x".
    fn unknown_quantity(&mut self) -> Option<Judgement> {
        let unknown = |write: &&Computed| {
            write.basis == ValueBasis::Extracted && write.value.is_none() && write.recorded.is_none()
        };
        let is_set = |write: &&Computed| {
            let sets = self.recomputed.writes.iter().filter(|set| set.basis == ValueBasis::Override);
            sets.into_iter().any(|set| set.variable == write.variable)
        };
        let used = |write: &&Computed| {
            let planned = |other: &Computed| {
                other.plan.as_ref().is_some_and(|plan| plan.expression.names().contains(&(write.variable as u32)))
            };
            self.recomputed.writes.iter().any(planned)
        };
        // A list or a time of day is a value of its own kind.
        let is_own_kind = |write: &&Computed| {
            let value = self.state.variables().get(write.variable).and_then(|variable| variable.final_value);
            let text = Value::text_of(value);
            let is_value = |text: &str| text.contains(|c: char| c.is_ascii_digit()) || list(text).is_some();
            text.utf8().is_some_and(is_value)
        };
        let write = self
            .recomputed
            .writes
            .iter()
            .filter(unknown)
            .filter(|write| !is_own_kind(write) && !is_set(write))
            .find(used)?;
        let pointer = value_pointer(self.record, self.state, write)?;
        let (step, name) = (write.step, name_of(self.state, write.variable));
        if self.is_named_unknown(write) {
            let text = shown!("The plan calculates with {name}, but no step gives it a number.");
            self.argue(Reason::UnknownQuantity.word(), pointer, text);
            return Some((Fix::Procedure, Some(step), Confidence::Likely));
        }
        self.argue(Reason::UnknownQuantity.word(), pointer, shown!("Step {} gives {name} no number.", step + 1));
        Some((Fix::StepRun, Some(step), Confidence::Likely))
    }

    /// Tells whether the plan itself leaves a quantity open: a letter for a number.
    fn is_named_unknown(&self, write: &Computed) -> bool {
        let variable = self.state.variables().get(write.variable);
        let text = Value::text_of(variable.and_then(|variable| variable.final_value));
        let description = Value::text_of(variable.and_then(|variable| variable.field?.description));
        let open =
            ["unknown", "unspecified", "symbolic", "to be determined", "to be found", "not given", "not specified"];
        let described = description.readable().to_lowercase();
        let letter = text
            .utf8()
            .is_some_and(|text| text.trim().chars().count() == 1 && text.trim().chars().all(char::is_alphabetic));
        let said = text.readable().to_lowercase();
        letter || open.iter().any(|word| described.contains(word) || said.contains(word))
    }

    /// The plan, recomputed, does not give the expected number.
    fn plan_contradicted(&mut self, gold: &Gold, recovered: Number, slip: Option<usize>) -> Judgement {
        let exact = self.recomputed.exact;
        let agrees = self.answers(recovered);
        if let Some(verdict) = self.misread_question() {
            return verdict;
        }
        // One slip in a plan that misses the expected number; several, and it is the execution that cannot be trusted.
        let slips = self.recomputed.writes.iter().filter(|write| write.differs()).count();
        if let Some(slip) = slip.filter(|_| !exact || slips > 1) {
            return (Fix::StepRun, Some(slip), Confidence::Unsure);
        }
        if !exact {
            return self.not_read(gold);
        }
        // A step that did not do what its words were taken for may have done what they say.
        if !agrees && slip.is_none() && slips > 0 {
            return self.not_read(gold);
        }
        let (gives, expected) = (recovered.shown(), gold.value.shown());
        let text = if agrees {
            shown!("Every step follows the plan: recomputing it gives {gives} too, expected {expected}.")
        } else {
            shown!("Recomputed, the plan gives {gives}, expected {expected}.")
        };
        self.argue(Reason::Plan.word(), self.record.number_pointer(), text);
        self.missed_quantities();
        self.hint_at_units(gold);
        let step = self.departs_from_gold(gold);
        // Where the steps are carried out in their own texts, plan and execution are one.
        let is_worked = |write: &Computed| write.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Worked);
        // Without a worked solution the expected number may be as wrong as the plan.
        let is_plan = agrees && !self.working.calculations.is_empty() && !self.recomputed.writes.iter().any(is_worked);
        (Fix::Procedure, step, if is_plan { Confidence::Likely } else { Confidence::Unsure })
    }

    /// Not every calculation was read: the procedure is at fault only where the part that it lacks is proven.
    fn not_read(&mut self, gold: &Gold) -> Judgement {
        if let Some(verdict) = self.worked_out_wrongly(gold).or_else(|| self.lacks_a_part(gold)) {
            return verdict;
        }
        if let Some(verdict) = self.failed_step() {
            return verdict;
        }
        let (read, of) = self.steps_read();
        let answer = self.answer.map_or_else(|| "no number".to_owned(), |answer| answer.value.shown());
        let steps = match of {
            0 => shown!("no step says how it calculates"),
            1 => shown!("{read} of 1 step says how it calculates"),
            _ => shown!("{read} of {of} steps say how they calculate"),
        };
        let text = shown!(
            "The answer is {answer}, expected {}; {steps}, so the record does not show why.",
            gold.value.shown(),
        );
        self.argue(Reason::Unknown.word(), self.record.number_pointer(), text);
        self.missed_quantities();
        self.hint_at_units(gold);
        (Fix::Unknown, None, Confidence::Unsure)
    }

    /// Counts the steps that calculate, and of these the ones whose calculations were all read.
    fn steps_read(&self) -> (usize, usize) {
        let end = self.last().map(|end| end.variable);
        let mut steps: Vec<(usize, bool)> = Vec::new();
        let counts = |write: &&Computed| {
            let is_stated = Some(write.variable) == end && (write.plan.is_none() || write.is_statement());
            !matches!(write.basis, ValueBasis::Extracted | ValueBasis::Override) && !is_stated
        };
        for write in self.recomputed.writes.iter().filter(counts) {
            let is_read = write.plan.as_ref().is_some_and(|plan| plan.wording != Wording::Implied);
            match steps.iter_mut().find(|(step, _)| *step == write.step) {
                Some((_, all)) => *all &= is_read,
                None => steps.push((write.step, is_read)),
            }
        }
        (steps.iter().filter(|(_, is_read)| *is_read).count(), steps.len())
    }

    /// The numbers of the expected solution, without its last line.
    fn numbers_of_gold(&self) -> Vec<Quantity> {
        let text = self.record.gold_answer.and_then(Value::string);
        let Some(text) = text.as_ref().and_then(Untrusted::utf8) else { return Vec::new() };
        quantity::find(text.rsplit_once("####").map_or(text, |(body, _)| body).as_bytes())
    }

    /// The plan lacks a part that the expected solution has: a number of the question that the plan has no variable for,
    /// or what comes after the run's answer.
    fn lacks_a_part(&mut self, gold: &Gold) -> Option<Judgement> {
        let worked = self.numbers_of_gold();
        // Values that follow from nothing are no plan's.
        let links = self.links.filter(|_| Experiment::of(self).is_some_and(|experiment| experiment.all_follow()))?;
        let is_lacking =
            |missed: &&UnusedQuantity| !missed.room && links.is_used_in(missed.quantity, &worked) && worked.len() > 1;
        let lacking = links.missed.iter().find(is_lacking).and_then(|missed| links.quantities.get(missed.quantity));
        if let Some(lacking) = lacking {
            let text = shown!(
                "No variable and no step uses the {} of the question, and the expected solution does.",
                lacking.value.shown()
            );
            self.argue(Reason::Plan.word(), Pointer::from_iter(["question"]), text);
            let step = self.departs_from_gold(gold);
            return Some((Fix::Procedure, step, Confidence::Unsure));
        }
        let step = self.stops_early(gold)?;
        Some((Fix::Procedure, Some(step), Confidence::Unsure))
    }

    /// A step whose plan is not understood wrote what follows from nothing that it reads, while a result of the gold
    /// text does follow.
    fn worked_out_wrongly(&mut self, gold: &Gold) -> Option<Judgement> {
        let marks = self.working.calculations.clone();
        let open = |write: &&Computed| write.basis == ValueBasis::Recorded && write.plan.is_none();
        for write in self.recomputed.writes.iter().filter(open) {
            let Some((wrote, values)) = write.recorded.zip(self.read_by(write)) else { continue };
            let wrote = wrote.value.float();
            let text = self.step_text(write.step);
            let constants: Vec<f64> =
                numbers(text.readable()).into_iter().map(|(number, _)| number.value.float()).collect();
            let is_result = |value: f64| marks.iter().any(|mark| near(mark.says.value.float(), value));
            let mut more = values.clone();
            let with_constant = constants.into_iter().take(3).any(|constant| {
                more.truncate(values.len());
                more.push(constant);
                may_give(&more, wrote)
            });
            if is_result(wrote) || may_give(&values, wrote) || with_constant {
                continue;
            }
            let results = marks.iter().map(|mark| mark.says.value).chain([gold.value]);
            // An input of its own is no result.
            let is_other = |result: &Number| !values.iter().any(|value| near(*value, result.float()));
            let Some(result) = results.filter(is_other).find(|result| gives(&values, result.float())) else {
                continue;
            };
            let has_it = if is_result(result.float()) { "the expected solution has it" } else { "it is expected" };
            let pointer = value_pointer(self.record, self.state, write)?;
            let text = shown!(
                "Step {} wrote {wrote}, which does not follow from its inputs; {} does, and {has_it}.",
                write.step + 1,
                result.shown()
            );
            self.argue(RuleId::Recompute.word(), pointer, text);
            return Some((Fix::StepRun, Some(write.step), Confidence::Unsure));
        }
        None
    }

    /// The numbers that a step reads; `None` if one of its inputs is none.
    fn read_by(&self, write: &Computed) -> Option<Vec<f64>> {
        let number = |input: usize| Some(self.recomputed.writes.get(input)?.wrote()?.float());
        self.inputs(write)?.into_iter().map(number).collect()
    }

    fn missed_quantities(&mut self) {
        if let Some(missed) = self.links.map(|links| links.missed.len()).filter(|missed| *missed > 0) {
            let text = shown!("The run leaves out {missed} of the question's numbers.");
            self.argue(RuleId::QuantityMissed.word(), Pointer::from_iter(["question"]), text);
        }
    }

    /// No exact execution to the end.
    fn not_executed(&mut self, gold: &Gold, slip: Option<usize>) -> Judgement {
        // No value in its place gives the expected number: the run went wrong elsewhere too, perhaps before.
        if let Some(step) = slip {
            return (Fix::StepRun, Some(step), Confidence::Unsure);
        }
        if let Some(verdict) = self.misread_question() {
            return verdict;
        }
        if let Some(slip) = self.first_slip_write(false) {
            if slip.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Implied) {
                let text = shown!("By the names alone: {}", differs(self.state, self.recomputed, slip));
                self.argue(Reason::Names.word(), self.place_of(slip), text);
            }
            return (Fix::StepRun, Some(slip.step), Confidence::Unsure);
        }
        if let Some(write) = self.without_number() {
            let text = differs(self.state, self.recomputed, write);
            self.argue(RuleId::Recompute.word(), self.place_of(write), text);
            return (Fix::StepRun, Some(write.step), Confidence::Unsure);
        }
        if let Some(step) = self.first_waiting() {
            let text = shown!("Step {} output a calculation instead of its value.", step + 1);
            self.argue(RuleId::Unevaluated.word(), self.record.number_pointer(), text);
            return (Fix::StepRun, Some(step), Confidence::Unsure);
        }
        if let Some(verdict) = self.empty_plan() {
            return verdict;
        }
        if self.answer.is_none() {
            return self.unknown(gold);
        }
        let (read, of) = self.steps_read();
        if read < of || of == 0 {
            return self.not_read(gold);
        }
        let expected = gold.value.shown();
        let text = shown!(
            "All {of} steps that calculate agree with their own calculations, but the answer is not {expected}, as expected."
        );
        self.argue(Reason::Plan.word(), self.record.number_pointer(), text);
        self.missed_quantities();
        self.hint_at_units(gold);
        (Fix::Procedure, self.departs_from_gold(gold), Confidence::Unsure)
    }

    /// The plan has nothing to do with the question: its steps share no word with it, and give no number.
    fn empty_plan(&mut self) -> Option<Judgement> {
        let procedure = self.procedure?;
        let question = self.record.question.and_then(Value::string)?;
        let question = question.utf8()?.to_lowercase();
        let end = self.last().map(|end| end.variable);
        let is_number = |write: &Computed| write.recorded.is_some() || write.unevaluated.is_some();
        if self.recomputed.writes.iter().any(|write| Some(write.variable) != end && is_number(write)) {
            return None;
        }
        let texts = procedure.value.walk().flat_map(|stop| [stop.key, Some(stop.value)]).flatten();
        let texts: Vec<String> = texts.filter_map(|text| Some(text.string()?.utf8()?.to_lowercase())).collect();
        let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphabetic()));
        let said: HashSet<&str> = words.filter(|word| word.len() > 3).collect();
        let words = question.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 3);
        if words.filter(|word| said.contains(word)).take(2).count() > 1 {
            return None;
        }
        let pointer = self.record.procedure_pointer.then("steps");
        self.argue(Reason::Plan.word(), pointer, Shown::own("The plan mentions nothing from the question."));
        Some((Fix::Procedure, None, Confidence::Likely))
    }

    /// Without a gold number, or with one that need not hold, only what contradicts itself can be said.
    fn alone(&mut self, overridden: Option<&RecordedSet<'_>>) -> Judgement {
        let slips = self.slips(false);
        // A reading that may not accuse names no step where no answer confirms it.
        let accuses =
            |write: &&Computed| write.plan.as_ref().is_some_and(|plan| plan.accuses() || write.is_statement());
        let is_proven = slips.iter().all(accuses) && (!slips.is_empty() || self.first_waiting().is_some());
        if let Some(step) = self.first_slip(true).filter(|_| is_proven) {
            return self.first_if_read(step);
        }
        if let Some(verdict) = overridden.and_then(|_| self.misread_question()) {
            return verdict;
        }
        let answer = self.answer;
        // What was rounded on the way is no slip.
        let rounded = |recovered: &Number| {
            answer.is_some_and(|answer| {
                let off = (answer.value.float() - recovered.float()).abs();
                let whole = answer.value.is_whole() && recovered.is_whole();
                !whole && off <= ROUNDED * recovered.float().abs()
            })
        };
        let recovered =
            self.recomputed.recovered.filter(|recovered| is_proven && !self.answers(*recovered) && !rounded(recovered));
        if let Some(recovered) = recovered {
            let answer = answer.map_or_else(|| "no number".to_owned(), |answer| answer.value.shown());
            let text = shown!("Recomputed, the procedure gives {}, but the run answers {answer}.", recovered.shown());
            self.argue(RuleId::Recompute.word(), self.record.number_pointer(), text);
            let waiting = self.first_waiting();
            let step = self.likeliest_slip().or(waiting).or_else(|| Some(self.last()?.step));
            // A slip against words alone may be a misread sentence.
            let is_proven = self.recomputed.exact && (waiting.is_some() || self.first_slip(false).is_none());
            return (Fix::StepRun, step, if is_proven { Confidence::Likely } else { Confidence::Unsure });
        }
        if let Some(verdict) = self.fatal() {
            return verdict;
        }
        if let Some(verdict) = self.argue_contradiction(self.last().map(|last| last.step)) {
            return verdict;
        }
        if let Some(set) = overridden {
            if let Some(step) = self.first_slip(false) {
                return (Fix::StepRun, Some(step), Confidence::Unsure);
            }
            let what = if set.variable == PROBLEM_TEXT { Shown::own("The question") } else { set.variable.line() };
            let text = shown!(
                "{what} was overridden: the expected answer need not hold, and the run does not contradict itself."
            );
            self.argue(Reason::Overridden.word(), set.pointer.clone(), text);
            return (Fix::Unknown, None, Confidence::Unsure);
        }
        let text = Shown::own("There is no expected number, and the run does not contradict itself.");
        self.argue(Reason::Unknown.word(), self.record.number_pointer(), text);
        (Fix::Unknown, None, Confidence::Unsure)
    }

    /// A step that contradicts its own signs is the first error only if all before it was recomputed.
    fn first_if_read(&mut self, step: usize) -> Judgement {
        if self.is_read_before(step) {
            return (Fix::StepRun, Some(step), Confidence::Likely);
        }
        let text = shown!("Step {} holds an error; the steps before it were not all read.", step + 1);
        let pointer = Procedure::step_pointer(&self.record.procedure_pointer, step);
        self.argue(Reason::Unknown.word(), pointer, text);
        (Fix::StepRun, Some(step), Confidence::Unsure)
    }

    /// Tells whether every calculation before a step was read. A step of a chain of thought that holds none is prose that
    /// nobody read.
    fn is_read_before(&self, step: usize) -> bool {
        let is_chain = self.record.kind == RecordKind::Chain;
        let of = |position: usize| self.recomputed.writes.iter().filter(move |write| write.step == position);
        let is_read = |write: &Computed| {
            let is_given = matches!(write.basis, ValueBasis::Extracted | ValueBasis::Override);
            is_given || write.plan.as_ref().is_some_and(|plan| plan.wording != Wording::Implied)
        };
        (0..step).all(|position| of(position).all(is_read) && !(is_chain && of(position).next().is_none()))
    }

    /// The first number that differs from its own calculation and follows from nothing that its step reads; else the first
    /// that differs.
    fn likeliest_slip(&self) -> Option<usize> {
        let slips = self.slips(false);
        let experiment = Experiment::of(self);
        let follows = |write: &Computed| experiment.as_ref().is_some_and(|experiment| experiment.follows(write));
        slips.iter().find(|write| !follows(write)).or(slips.first()).map(|write| write.step)
    }

    /// The run contradicts itself: its last step is to blame.
    fn argue_contradiction(&mut self, last: Option<usize>) -> Option<Judgement> {
        let (text, pointer) = contradictions(self.record, &self.recomputed.answer).into_iter().next()?;
        self.argue(RuleId::FinalMismatch.word(), pointer, shown!("{text}"));
        Some((Fix::StepRun, last, Confidence::Unsure))
    }

    /// Text of a step: what it says that it does.
    fn step_text(&self, step: usize) -> Untrusted<'c> {
        let text = self.procedure.and_then(|procedure| procedure.steps.get(step)?.text);
        Value::text_of(text)
    }

    fn last(&self) -> Option<&'c Computed> {
        self.recomputed.end(self.state)
    }

    /// The first step whose number is not what its calculation gives; `sure`: only calculations in signs count.
    fn first_slip(&self, sure: bool) -> Option<usize> {
        self.first_slip_write(sure).map(|write| write.step)
    }

    fn first_slip_write(&self, sure: bool) -> Option<&'c Computed> {
        self.slips(sure).first().copied()
    }

    /// The slips that the answer comes from; all of them where none is known to lead to it.
    fn slips(&self, sure: bool) -> Vec<&'c Computed> {
        let counts = |write: &Computed| {
            let stated = write.plan.as_ref().is_some_and(|plan| plan.sure || plan.wording == Wording::Statement);
            write.differs() && (!sure || stated)
        };
        let slips: Vec<(usize, &Computed)> =
            self.recomputed.writes.iter().enumerate().filter(|(_, write)| counts(write)).collect();
        let behind = if slips.len() > 1 { self.recomputed.behind_the_end(self.state) } else { Vec::new() };
        let leads = |at: usize| behind.get(at) == Some(&true);
        let any_leads = slips.iter().any(|(at, _)| leads(*at));
        slips.into_iter().filter(|(at, _)| !any_leads || leads(*at)).map(|(_, write)| write).collect()
    }

    /// The first write that should be the result of a calculation and is a text that says no number.
    fn without_number(&self) -> Option<&'c Computed> {
        let calculates = |write: &&Computed| {
            let plan = write.plan.as_ref().filter(|plan| plan.sure && plan.source != PlanSource::Value);
            plan.is_some_and(|plan| plan.expression.is_operation())
                && write.alone.is_some()
                && write.wrote().is_none()
                && !self.state.is_stale(write.step)
        };
        let says_none = |write: &&Computed| {
            let text = self.state.written(write.variable, write.step).and_then(|entry| entry.value?.string());
            // An expression in other names may be all that was asked for.
            let is_sign = |byte: &u8| byte.is_ascii_digit() || b"+-*/=^".contains(byte);
            text.is_some_and(|text| !text.bytes().iter().any(is_sign) && quantity::find(text.bytes()).is_empty())
        };
        self.recomputed.writes.iter().filter(calculates).find(says_none)
    }

    /// The first step that passed a calculation on, and may be held to it.
    fn first_waiting(&self) -> Option<usize> {
        self.waiting().next().map(|write| write.step)
    }

    /// The calculations that steps passed on, but for those that are out of date.
    fn waiting(&self) -> impl Iterator<Item = &'c Computed> {
        let state = self.state;
        let waits = move |write: &&Computed| write.unevaluated.is_some() && !state.is_stale(write.step);
        self.recomputed.writes.iter().filter(waits)
    }

    /// Adds what the single steps show, behind the main argument.
    fn add_slips(&mut self) {
        let mut arguments = Vec::new();
        let is_accused = |(n, write): &(usize, &Computed)| write.differs() && !self.acquitted.contains(n);
        for (_, write) in self.recomputed.writes.iter().enumerate().filter(is_accused).take(4) {
            let rule = if write.is_statement() { Some(RuleId::FinalMismatch) } else { run::slip(write) };
            let Some(rule) = rule.map(RuleId::word) else { continue };
            let pointer = self.place_of(write);
            arguments.push(Argument { rule, pointer, text: differs(self.state, self.recomputed, write) });
        }
        for write in self.waiting().take(3) {
            let pointer = self.place_of(write);
            let text = run::not_worked_out(self.record, &pointer, write);
            arguments.push(Argument { rule: RuleId::Unevaluated.word(), pointer, text });
        }
        self.why.append(&mut arguments);
    }
}

/// Tells whether the last step, which has nothing to calculate, states another number than the one that it reads.
fn states_another(record: &Record<'_>, procedure: Option<&Procedure<'_>>) -> bool {
    let stated = || {
        let last = procedure?.steps.last()?;
        let text = last.text.and_then(Value::string)?;
        let mut inputs = last.input_names().filter(|name| *name != PROBLEM_TEXT);
        let (input, further) = (inputs.next()?, inputs.next());
        let text = text.utf8().filter(|text| further.is_none() && !may_plan(text) && numbers(text).is_empty())?;
        let read = Written::of(record.state?.member_spelt(input.bytes())?.value)?;
        let answer = RunAnswer::of(record).value()?;
        let converts = ["convert", "round", "express", "percent"].iter().any(|word| text.to_lowercase().contains(word));
        let hundred = Number::whole(100);
        let is_scaled = |a: Number, b: Number| a.times(hundred).is_some_and(|scaled| scaled.is_near(b));
        let is_same = answer.stands_for(read.value)
            || read.stands_for(answer.value)
            || is_scaled(answer.value, read.value)
            || is_scaled(read.value, answer.value);
        Some(!is_same && !converts)
    };
    stated() == Some(true)
}

/// Finds where to fix what ended in an error, at a step if that is known.
fn blamed(fault: ErrorCause, step: Option<usize>) -> Judgement {
    match fault {
        ErrorCause::Reply => (Fix::StepRun, step, Confidence::Likely),
        ErrorCause::Plan => (Fix::Procedure, None, Confidence::Likely),
        ErrorCause::Outside => (Fix::Unknown, None, Confidence::Unsure),
    }
}

/// Finds the place of a value that an argument is about. One without a place would be about the whole record: a mistake of
/// ours, which no test lets pass.
fn argued_place(record: &Record<'_>, state: &State<'_>, write: &Computed) -> Pointer {
    let place = value_pointer(record, state, write);
    debug_assert!(place.is_some(), "an argument about step {} has no place", write.step);
    place.unwrap_or_default()
}

fn of_error(record: &Record<'_>) -> Triage {
    let (kind, error) = (Value::text_of(record.error_type), Value::text_of(record.error));
    let (fault, what, _, id) = explained(kind.readable(), error.readable());
    let (fix, step, confidence) = blamed(fault, id.and_then(|id| id.checked_sub(1)));
    let pointer = if record.error.is_some() { Pointer::from_iter(["error"]) } else { Pointer::default() };
    let why =
        vec![Argument { rule: RuleId::RunError.word(), pointer, text: shown!("The run ended with an error: {what}.") }];
    let cause = Some(Cause::Failed);
    let (recovered, corrected, recovers_gold, is_chain) = (None, false, false, false);
    Triage { fix, step, recovered, corrected, recovers_gold, is_chain, confidence, cause, why }
}

#[cfg(test)]
mod tests;
