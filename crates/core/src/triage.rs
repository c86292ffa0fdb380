//! Where to fix a wrong run: in the run of a step, in the procedure, or in the expected answer. From the record alone,
//! with the argument, strongest first, and honest about how sure it is.
//!
//! The procedure executed exactly is the main witness: if that gives the gold number, a step was run wrongly; if it gives
//! what the run gave, the steps are sound and the plan or the gold is not.

use std::collections::HashSet;

use crate::arithmetic::expression::{clock, list, numbers};
use crate::arithmetic::gold::{Gold, Working, working};
use crate::arithmetic::number::{Number, Written};
use crate::arithmetic::quantity::{self, QuantityLinks};
use crate::arithmetic::recompute::follows::{gives, may_give};
use crate::arithmetic::recompute::{
    Computed, PlanSource, Recomputed, RunAnswer, ValueBasis, Wording, name_of, value_pointer,
};
use crate::case::CaseView;
use crate::finding::{Finding, Severity};
use crate::procedure::last_step::last_step_surprise;
use crate::procedure::{PROBLEM_TEXT, Procedure};
use crate::record::{Record, RecordKind};
use crate::rules::RuleId;
use crate::rules::run::{self, ErrorCause, contradictions, differs, explained};
use crate::run::state::State;
use crate::run::trace::{Put, RecordedSet, asks_otherwise};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

/// Longest error of a step that is quoted.
const MAX_ERROR: usize = 120;
/// So far, in parts of itself, an answer may be off by rounding on the way.
const ROUNDED: f64 = 0.002;

mod chain;
mod change;
mod departs;
mod doubt;
mod misread;
pub mod verdict;

pub use verdict::{Argument, Confidence, Fix, Reason, Triage};

impl Triage {
    /// Tells whether a right record of a kind needs no fix: one that ended in an error needs one, and others are no runs.
    pub(crate) const fn asks_whether_right(kind: RecordKind) -> bool {
        matches!(kind, RecordKind::Procedural | RecordKind::Fixed | RecordKind::Baseline | RecordKind::Chain)
    }

    /// Judges a record that the rules have looked at; `None` for what is no run. A right run costs next to nothing.
    pub fn judge(case: &CaseView<'_>, findings: &[Finding], baseline: Option<f64>) -> Option<Self> {
        let record = case.record.as_ref()?;
        match record.kind {
            RecordKind::Error => return Some(of_error(record)),
            kind if Self::asks_whether_right(kind) => {}
            _ => return None,
        }
        // A question that nobody ran yet.
        if record.state.is_none() && record.answer.is_none() && record.pred_num.is_none() && record.correct.is_none() {
            return None;
        }
        let right = case.is_right();
        let (none, answered);
        // Of a right run only the answer is looked at.
        let (state, recomputed) = match case.recomputed() {
            Some(recomputed) if !right => (case.state(), recomputed),
            None if !right => (case.state(), case.executed()?),
            recomputed => {
                (none, answered) =
                    (State::default(), Recomputed { answer: RunAnswer::of(record), ..Recomputed::default() });
                (&none, recomputed.unwrap_or(&answered))
            }
        };
        let links = if right { None } else { case.quantity_links() };
        let mut trial = Trial {
            record,
            procedure: case.procedure(),
            state,
            recomputed,
            findings,
            links,
            baseline,
            right,
            gold: case.gold().cloned(),
            working: if right { Working::default() } else { working(record) },
            answer: recomputed.answer.value(),
            // Of a right run nothing has to be recovered, and most were not recomputed.
            recovered: recomputed.recovered.filter(|_| !right),
            corrected: false,
            why: Vec::new(),
        };
        let (fix, step, confidence) = trial.judge();
        let recovered = trial.recovered;
        let recovers_gold = recovered.zip(trial.gold.as_ref()).is_some_and(|(own, gold)| gold.value.is_near(own));
        let corrected = trial.corrected;
        Some(Self { fix, step, recovered, corrected, recovers_gold, confidence, why: trial.why })
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
    gold: Option<Gold>,
    /// Calculations of the expected solution.
    working: Working,
    answer: Option<Written>,
    recovered: Option<Number>,
    corrected: bool,
    why: Vec<Argument>,
}

impl<'c> Trial<'c, '_> {
    /// Tells whether a number is the expected number, as exactly as that is written.
    fn is_gold(gold: &Gold, number: Number) -> bool {
        let scale = [10, 100, 1000].map(Number::whole).into_iter();
        let step = scale.into_iter().find(|scale| gold.value.times(*scale).is_some_and(Number::is_whole));
        let half = step.filter(|_| !gold.value.is_whole()).map_or(0.0, |step| 0.5 / step.float() + 1e-9);
        gold.value.is_near(number) || (gold.value.float() - number.float()).abs() <= half
    }

    /// Tells whether the answer is this number, as people write it.
    fn answers(&self, number: Number) -> bool {
        self.answer.is_some_and(|answer| answer.stands_for(number) || answer.value.is_near(number))
    }

    fn argue(&mut self, rule: &'static str, pointer: Pointer, text: Shown) {
        self.why.push(Argument { rule, pointer, text });
    }

    fn judge(&mut self) -> Judgement {
        if self.right {
            return self.right();
        }
        if let Some(verdict) = self.out_of_date() {
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

    fn right(&mut self) -> Judgement {
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
                // Whoever graded it read the number.
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
        let (fault, ..) = explained("", error.utf8().unwrap_or_default());
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
        if let Some(verdict) = self.no_answer_asked() {
            return verdict;
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
        if let Some(verdict) = self.unknown_quantity() {
            return verdict;
        }
        match recovered {
            Some(recovered) => self.plan_contradicted(gold, recovered, slip),
            None => self.not_executed(gold, slip),
        }
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
        let text = shown!("The plan is right: recomputed it gives {}, as expected. {wrong}", recovered.shown());
        self.argue(RuleId::Recompute.word(), self.record.number_pointer(), text);
        if !exact {
            let text = Shown::own("Some values on the way cannot be recomputed and are used as recorded.");
            self.argue(Reason::Partial.word(), Pointer::from_iter(["state"]), text);
        }
        (Fix::StepRun, step, confidence)
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
        let fatal = self
            .findings
            .iter()
            .find(|finding| finding.severity == Severity::Fatal && finding.rule.word().starts_with("procedure/"))?;
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
            let text = value.and_then(Value::string).unwrap_or_default();
            text.utf8().is_some_and(|text| clock(text).is_some() || list(text).is_some())
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
        let text = variable.and_then(|variable| variable.final_value).and_then(Value::string).unwrap_or_default();
        let description =
            variable.and_then(|variable| variable.field?.description).and_then(Value::string).unwrap_or_default();
        let open =
            ["unknown", "unspecified", "symbolic", "to be determined", "to be found", "not given", "not specified"];
        let described = description.utf8().map(str::to_lowercase).unwrap_or_default();
        let letter = text
            .utf8()
            .is_some_and(|text| text.trim().chars().count() == 1 && text.trim().chars().all(char::is_alphabetic));
        let said = text.utf8().map(str::to_lowercase).unwrap_or_default();
        letter || open.iter().any(|word| described.contains(word) || said.contains(word))
    }

    /// The plan, recomputed, does not give the expected number.
    fn plan_contradicted(&mut self, gold: &Gold, recovered: Number, slip: Option<usize>) -> Judgement {
        let exact = self.recomputed.exact;
        let agrees = self.answers(recovered);
        if let Some(verdict) = self.misread_question().or_else(|| self.other_numbers(gold, slip)) {
            return verdict;
        }
        let (gives, expected) = (recovered.shown(), gold.value.shown());
        let text = if agrees && exact {
            shown!("Every step follows the plan: recomputed it gives {gives} too, expected {expected}.")
        } else if exact {
            shown!("Recomputed, the plan gives {gives}, expected {expected}.")
        } else {
            shown!(
                "With the recorded values of steps that could not be read, the plan gives {gives}, expected {expected}."
            )
        };
        let pointer = self.record.number_pointer();
        // One slip in a plan that misses the expected number; several, and it is the execution that cannot be trusted.
        let slips = self.recomputed.writes.iter().filter(|write| write.differs()).count();
        if let Some(slip) = slip.filter(|_| !exact || slips > 1) {
            return (Fix::StepRun, Some(slip), Confidence::Unsure);
        }
        if let Some(verdict) = self.worked_out_wrongly(gold).filter(|_| !exact) {
            return verdict;
        }
        // What comes after a slip was not recomputed from what the step should have written.
        if let Some(slip) = self.first_slip(false).filter(|_| !exact && agrees) {
            return (Fix::StepRun, Some(slip), Confidence::Unsure);
        }
        self.argue(Reason::Plan.word(), pointer, text);
        self.missed_quantities();
        self.hint_at_units(gold);
        let step = self.departs_from_gold(gold);
        // Where the steps are carried out in their own texts, plan and execution are one.
        let is_worked = |write: &Computed| write.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Worked);
        let is_plan = exact && agrees && !self.recomputed.writes.iter().any(is_worked);
        (Fix::Procedure, step, if is_plan { Confidence::Likely } else { Confidence::Unsure })
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
                numbers(text.utf8().unwrap_or_default()).into_iter().map(|(number, _)| number.value.float()).collect();
            let is_result = |value: f64| marks.iter().any(|mark| (mark.says.value.float() - value).abs() < 1e-6);
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
            let is_other = |result: &Number| !values.iter().any(|value| (value - result.float()).abs() < 1e-9);
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
        if let Some(step) = slip {
            return (Fix::StepRun, Some(step), Confidence::Likely);
        }
        if let Some(verdict) = self.misread_question() {
            return verdict;
        }
        if let Some(slip) = self.first_slip_write(false) {
            if slip.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Implied) {
                let pointer = value_pointer(self.record, self.state, slip).unwrap_or_default();
                let text = shown!("By the names alone: {}", differs(self.state, self.recomputed, slip));
                self.argue(Reason::Names.word(), pointer, text);
            }
            return (Fix::StepRun, Some(slip.step), Confidence::Unsure);
        }
        if let Some(write) = self.without_number() {
            let pointer = value_pointer(self.record, self.state, write).unwrap_or_default();
            self.argue(RuleId::Recompute.word(), pointer, differs(self.state, self.recomputed, write));
            return (Fix::StepRun, Some(write.step), Confidence::Unsure);
        }
        if let Some(step) = self.first_waiting() {
            let text = shown!("Step {} output a calculation instead of its value.", step + 1);
            self.argue(RuleId::Unevaluated.word(), self.record.number_pointer(), text);
            return (Fix::StepRun, Some(step), Confidence::Unsure);
        }
        if let Some(verdict) = self.worked_out_wrongly(gold).or_else(|| self.empty_plan()) {
            return verdict;
        }
        // Values that follow from one another are those of a plan, even if nobody wrote it down as a calculation.
        let counts = |write: &&Computed| write.basis != ValueBasis::Extracted && write.recorded.is_some();
        let planned = self.recomputed.writes.iter().filter(counts).count() > 1
            || self.recomputed.writes.iter().any(|write| write.basis == ValueBasis::Plan);
        if !planned || self.answer.is_none() {
            return self.unknown(gold);
        }
        let behind = self.recomputed.behind_the_end(self.state);
        let is_unread = |write: &Computed| write.basis == ValueBasis::Recorded && write.recorded.is_some();
        let unread = self.recomputed.writes.iter().zip(behind).any(|(write, is_behind)| is_behind && is_unread(write));
        let steps = if unread { "Every step that could be read" } else { "Every step" };
        let text = shown!(
            "{steps} agrees with its own calculation, but the answer is not {}, as expected.",
            gold.value.shown()
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
        if let Some(verdict) = self.no_answer_asked() {
            return verdict;
        }
        if let Some(step) = self.first_slip(true) {
            return (Fix::StepRun, Some(step), Confidence::Likely);
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
        let recovered = self.recomputed.recovered.filter(|recovered| !self.answers(*recovered) && !rounded(recovered));
        if let Some(recovered) = recovered {
            let answer = answer.map_or_else(|| "no number".to_owned(), |answer| answer.value.shown());
            let text = shown!("Recomputed, the procedure gives {}, but the run answers {answer}.", recovered.shown());
            self.argue(RuleId::Recompute.word(), self.record.number_pointer(), text);
            let step = self.first_slip(false).or_else(|| self.first_waiting()).or_else(|| Some(self.last()?.step));
            let confidence = if self.recomputed.exact { Confidence::Likely } else { Confidence::Unsure };
            return (Fix::StepRun, step, confidence);
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

    /// The run contradicts itself: its last step is to blame.
    fn argue_contradiction(&mut self, last: Option<usize>) -> Option<Judgement> {
        let (text, pointer) = contradictions(self.record, &self.recomputed.answer).into_iter().next()?;
        self.argue(RuleId::FinalMismatch.word(), pointer, shown!("{text}"));
        Some((Fix::StepRun, last, Confidence::Unsure))
    }

    /// Text of a step: what it says that it does.
    fn step_text(&self, step: usize) -> Untrusted<'c> {
        let text = self.procedure.and_then(|procedure| procedure.steps.get(step)?.text);
        text.and_then(Value::string).unwrap_or_default()
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
        for write in self.recomputed.writes.iter().filter(|write| write.differs()).take(4) {
            let rule = if write.is_statement() { Some(RuleId::FinalMismatch) } else { run::slip(write) };
            let Some(rule) = rule.map(RuleId::word) else { continue };
            let pointer = value_pointer(self.record, self.state, write).unwrap_or_default();
            arguments.push(Argument { rule, pointer, text: differs(self.state, self.recomputed, write) });
        }
        for write in self.waiting().take(3) {
            let pointer = value_pointer(self.record, self.state, write).unwrap_or_default();
            let text = run::not_worked_out(self.record, &pointer, write);
            arguments.push(Argument { rule: RuleId::Unevaluated.word(), pointer, text });
        }
        self.why.append(&mut arguments);
    }
}

/// Finds where to fix what ended in an error, at a step if that is known.
fn blamed(fault: ErrorCause, step: Option<usize>) -> Judgement {
    match fault {
        ErrorCause::Reply => (Fix::StepRun, step, Confidence::Likely),
        ErrorCause::Plan => (Fix::Procedure, None, Confidence::Likely),
        ErrorCause::Outside => (Fix::Unknown, None, Confidence::Unsure),
    }
}

fn of_error(record: &Record<'_>) -> Triage {
    let (kind, error) = (
        record.error_type.and_then(Value::string).unwrap_or_default(),
        record.error.and_then(Value::string).unwrap_or_default(),
    );
    let (fault, what, _, id) = explained(kind.utf8().unwrap_or_default(), error.utf8().unwrap_or_default());
    let (fix, step, confidence) = blamed(fault, id.and_then(|id| id.checked_sub(1)));
    let pointer = if record.error.is_some() { Pointer::from_iter(["error"]) } else { Pointer::default() };
    let why =
        vec![Argument { rule: RuleId::RunError.word(), pointer, text: shown!("The run ended with an error: {what}.") }];
    Triage { fix, step, recovered: None, corrected: false, recovers_gold: false, confidence, why }
}

#[cfg(test)]
mod tests;
