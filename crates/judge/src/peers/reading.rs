//! Reading of a run for its peers: what it worked out, and how far its word can be trusted.

use crate::case::CaseView;
use crate::peer::Soundness;
use crate::peer::track::{MAX_VALUES, NamedValue, Track, TrackResult, TrackStep, Way};
use crate::recompute::Computed;
use stepscope_arithmetic::expression::Expression;
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::quantity::{Kind, Quantity};
use stepscope_base::json::Value;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::hash_of;
use stepscope_record::procedure::{FINAL_ANSWER, Procedure};
use stepscope_record::rule_id::RuleId;

/// Words of a run that gives up, or finds fault with the question.
const GIVES_UP: &[&str] = &[
    "impossible",
    "not possible",
    "cannot be determined",
    "can't be determined",
    "cannot determine",
    "not enough information",
    "error in the problem",
    "error in the question",
    "does not make sense",
    "doesn't make sense",
    "not consistent",
    "contradict",
    "can't have a negative",
    "can't have a fraction",
];

/// Reads a run. Of a record without steps only the answer is at hand.
pub(crate) fn track(case: &CaseView<'_>) -> Track {
    let answer = case.answer().value().map(|answer| answer.value);
    let Some(procedure) = case.procedure() else { return Track { answer, ..Track::default() } };
    if case.chain().is_some() {
        let steps = procedure.steps.iter().map(|step| TrackStep::of_text(step.text)).collect();
        return Track { steps, answer, ..Track::default() };
    }
    let plan = Some(hash_of_plan(procedure));
    Track { steps: steps_of_writes(case, procedure), named: named_values(case), answer, plan }
}

/// Hashes what a procedure asks for and what its steps read and write: runs of the same one have the same.
fn hash_of_plan(procedure: &Procedure<'_>) -> u64 {
    let mut all = Vec::new();
    for step in &procedure.steps {
        let text = step.text.and_then(Value::string);
        for part in step.input_names().chain(text).chain(step.output_names()) {
            all.extend_from_slice(part.bytes());
            all.push(0);
        }
        all.push(1);
    }
    hash_of(&all)
}

/// Lists the numbers that the steps of a run wrote, but for the answer.
fn named_values(case: &CaseView<'_>) -> Vec<NamedValue> {
    let Some(executed) = case.executed() else { return Vec::new() };
    let variables = case.state().variables();
    let named = |write: &Computed| {
        let name = &variables.get(write.variable).filter(|variable| variable.name != FINAL_ANSWER)?.name;
        Some(NamedValue { step: write.step, name: name.to_owned(), value: write.wrote()? })
    };
    executed.writes.iter().filter_map(named).take(MAX_VALUES).collect()
}

/// Reads what the steps of a run wrote into the state.
fn steps_of_writes(case: &CaseView<'_>, procedure: &Procedure<'_>) -> Vec<TrackStep> {
    let mut steps = vec![TrackStep::default(); procedure.steps.len()];
    let Some(executed) = case.executed() else { return steps };
    let wrote = |at: usize| executed.writes.get(at).and_then(Computed::wrote);
    for write in &executed.writes {
        let room = steps.get_mut(write.step).filter(|step| step.numbers.len() < MAX_VALUES);
        let Some((step, value)) = room.zip(write.wrote()) else { continue };
        step.numbers.push(value);
        let Some(plan) = write.plan.as_ref().filter(|_| !write.is_statement()) else { continue };
        let input = |name: u32| {
            let (_, from) = write.inputs.iter().find(|(variable, _)| *variable == name as usize)?;
            Some(Expression::number(wrote((*from)?)?))
        };
        let names = plan.expression.names();
        let inputs: Vec<_> = names.iter().filter_map(|name| Some((*name, input(*name)?))).collect();
        let part = |name: u32| inputs.iter().find(|(known, _)| *known == name).map(|(_, part)| part);
        let way = plan.expression.replaced(part).as_ref().map(Way::of);
        step.results.push(TrackResult {
            value: Some(value),
            ways: way.into_iter().collect(),
            is_slip: write.differs(),
        });
    }
    steps
}

/// Lists the numbers of a question in the forms in which a run may hold them.
pub(crate) fn given(case: &CaseView<'_>) -> Vec<f64> {
    let of = |quantity: &Quantity| {
        let share = quantity.value.over(Number::whole(100)).filter(|_| quantity.kind == Kind::Percent);
        std::iter::once(quantity.value).chain(share).map(Number::float).collect::<Vec<_>>()
    };
    case.numbers().iter().flat_map(of).collect()
}

/// Weighs the word of a run that the rules have looked at.
pub(super) fn soundness(case: &CaseView<'_>, findings: &[Finding]) -> Soundness {
    let speaks_against = |finding: &Finding| match finding.rule {
        RuleId::Recompute | RuleId::Equation | RuleId::FinalMismatch => finding.severity != Severity::Note,
        RuleId::RunError
        | RuleId::OutputMissing
        | RuleId::ReplyCut
        | RuleId::AnswerZero
        | RuleId::AnswerNegative
        | RuleId::AnswerNotFinite
        | RuleId::AnswerFractional => true,
        _ => false,
    };
    let speaks_against_itself = findings.iter().any(speaks_against) || has_no_end(case) || gives_up(case);
    let is_missed = |finding: &Finding| finding.rule == RuleId::QuantityMissed;
    let is_wrong = case.rightness().verdict() == Some(false);
    if case.answer().value().is_none() || is_wrong || speaks_against_itself {
        Soundness::Unsound
    } else if findings.iter().any(is_missed) {
        Soundness::Doubtful
    } else {
        Soundness::Sound
    }
}

/// Tells whether an answer has more decimals than anybody asks for: mostly a division that does not come out even.
fn has_no_end(case: &CaseView<'_>) -> bool {
    let has_many = |number: Number| !number.times(Number::whole(100)).is_some_and(Number::is_whole);
    let is_asked = || case.numbers().iter().any(|quantity| has_many(quantity.value) && quantity.kind != Kind::Fraction);
    case.answer().value().is_some_and(|answer| has_many(answer.value)) && !is_asked()
}

fn gives_up(case: &CaseView<'_>) -> bool {
    let Some(procedure) = case.procedure().filter(|_| case.chain().is_some()) else { return false };
    let says = |text: &str| {
        let text = text.to_lowercase().replace('’', "'");
        GIVES_UP.iter().any(|words| text.contains(words))
    };
    let texts = procedure.steps.iter().filter_map(|step| step.text?.string());
    texts.into_iter().any(|text| text.utf8().is_some_and(says))
}
