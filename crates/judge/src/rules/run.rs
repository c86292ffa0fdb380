//! The run against its own procedure: values that were never worked out, numbers that differ from their own calculation,
//! a final answer that contradicts itself, and the gold it is compared with.

use std::collections::HashSet;

use crate::case::CaseView;
use crate::chain::ThoughtChain;
use crate::gold::{expected_words, working};
use crate::lost::is_in_order;
use crate::recompute::classes::Wording;
use crate::recompute::{Computed, Recomputed, RunAnswer, name_of, plan_pointer, value_pointer};
use crate::rightness::answer_text;
use crate::rule::Rule;
use stepscope_arithmetic::expression::{may_hold, numbers};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::stated::{SameAnswer, Stated, of_number, same_answer};
use stepscope_base::json::{Kind, Member, Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::finding::{Finding, Findings, Place, Severity};
use stepscope_record::procedure::last_step::{last_step_surprise, runs_as_last};
use stepscope_record::procedure::{FINAL_ANSWER, Field, PROBLEM_TEXT, Procedure, Step};
use stepscope_record::rule_id::RuleId;
use stepscope_record::state::{ANSWER_KEYS, State, own_keys};
use stepscope_record::trace::failing_id;
use stepscope_record::{Record, RecordKind};

/// Maximum number of findings of one rule in a record.
const ENOUGH: usize = 12;
/// A longer value is prose, not a calculation.
const MAX_VALUE: usize = 400;
/// Characters of a calculation that a sentence quotes.
const MAX_QUOTED: usize = 60;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::RunError,
        summary: "run ended with an error",
        explanation: "evoproc ends a run at the first reply that it cannot use and keeps the text of the error. The finding \
            says what that text means: a reply that is not JSON (often cut at the token limit), a reply that leaves out a \
            key, an input that no earlier step produces, or a server that cannot be reached.",
        bad: r#"{"id": 1, "question": "?", "status": "error", "procedure": null, "error_type": "RuntimeError", "error": "Model omitted required output 'confidence' for step id=3. Returned keys: ['final_answer']"}"#,
        good: r#"{"id": 1, "question": "?", "status": "ok", "mode": "baseline", "state": {"final_answer": "So."}, "raw": "{}"}"#,
        check: error,
    },
    Rule {
        id: RuleId::LastStep,
        summary: "last step is not the one that evoproc asks for the answer",
        explanation: "evoproc takes the step whose id equals the number of steps as the last one, wherever it is in the list. \
            Only that step is asked for the answer's fields. With other ids evoproc asks no step, several steps or the \
            wrong one, and final_answer_numerical is missing or comes from an earlier step. Number the steps 1, 2, 3 in \
            order.",
        bad: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}]},
        {"id": 3, "inputs": [{"name": "a", "description": ""}], "stepDescription": "State a.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "a": 1, "final_answer": "So."}}"#,
        good: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}]},
        {"id": 2, "inputs": [{"name": "a", "description": ""}], "stepDescription": "State a.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "a": 1, "final_answer": "So."}}"#,
        check: misread_last_step,
    },
    Rule {
        id: RuleId::OutputMissing,
        summary: "declared output missing from the final state, or without a usable value",
        explanation: "A step that ran leaves its outputs in the state. If one is missing, the step was asked for something \
            else (the step whose id equals the number of steps is asked for the answer instead of its own outputs), it wrote \
            another name, or the record was made with another procedure. If it is null, NaN, empty, an error text or an \
            object in place of a number, the steps that read it had nothing to work with: the first such value is named.",
        bad: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}]},
        {"id": 2, "inputs": [{"name": "a", "description": ""}], "stepDescription": "State a.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "final_answer": "It is so."}}"#,
        good: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}]},
        {"id": 2, "inputs": [{"name": "a", "description": ""}], "stepDescription": "State a.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "a": "so", "final_answer": "It is so."}}"#,
        check: output_missing,
    },
    Rule {
        id: RuleId::OutputUndeclared,
        summary: "undeclared variable in the final state",
        explanation: "Only declared outputs and the answer's own fields are merged into the state. A variable that no step \
            declares shows that the record holds another procedure than the one that ran, or that it was changed later.",
        bad: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "State it.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "speed": 4, "final_answer": "It is so."}}"#,
        good: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "State it.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "final_answer": "It is so."}}"#,
        check: output_undeclared,
    },
    Rule {
        id: RuleId::OutputAmbiguous,
        summary: "several steps write one variable of the final state",
        explanation: "The record keeps only the last value of a variable. If several steps write it, the earlier values are \
            lost, and it is not certain that the last of these steps wrote it at all. A run trace keeps every value; so do \
            different names.",
        bad: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}]},
        {"id": 2, "inputs": [{"name": "a", "description": ""}], "stepDescription": "Refine.", "output": [{"name": "a", "description": ""}]},
        {"id": 3, "inputs": [{"name": "a", "description": ""}], "stepDescription": "State a.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "a": 1, "final_answer": "So."}}"#,
        good: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}]},
        {"id": 2, "inputs": [{"name": "a", "description": ""}], "stepDescription": "Refine.", "output": [{"name": "b", "description": ""}]},
        {"id": 3, "inputs": [{"name": "b", "description": ""}], "stepDescription": "State b.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "?", "a": 1, "b": 2, "final_answer": "So."}}"#,
        check: output_ambiguous,
    },
    Rule {
        id: RuleId::Unevaluated,
        summary: "step outputs an expression instead of its value",
        explanation: "A step that answers \"2 * length - 1\" has not calculated anything: a later step reads the text, often \
            without the numbers that belong to it, and guesses. Ask for the number in the step, or re-run it. The finding \
            gives the value of the expression, calculated from the recorded values of its names. If the run's answer is \
            right all the same, this is a note.",
        bad: r#"{"id": 1, "question": "Twice 4, less 1?", "gold_num": 7.0, "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract k.", "output": [{"name": "k", "description": "k (4)"}]},
        {"id": 2, "inputs": [{"name": "k", "description": ""}], "stepDescription": "Form r = 2 * k - 1.", "output": [{"name": "r", "description": "r"}]},
        {"id": 3, "inputs": [{"name": "r", "description": ""}], "stepDescription": "State r.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "Twice 4, less 1?", "k": 4, "r": "2 * k - 1", "final_answer": "It is 9.", "final_answer_numerical": 9}}"#,
        good: r#"{"id": 1, "question": "Twice 4, less 1?", "gold_num": 7.0, "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract k.", "output": [{"name": "k", "description": "k (4)"}]},
        {"id": 2, "inputs": [{"name": "k", "description": ""}], "stepDescription": "Form r = 2 * k - 1.", "output": [{"name": "r", "description": "r"}]},
        {"id": 3, "inputs": [{"name": "r", "description": ""}], "stepDescription": "State r.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "Twice 4, less 1?", "k": 4, "r": 7, "final_answer": "It is 7.", "final_answer_numerical": 7}}"#,
        check: unevaluated,
    },
    Rule {
        id: RuleId::Recompute,
        summary: "number differs from the step's own calculation",
        explanation: "If the procedure says how to calculate a number (in the step or in the output's description, in symbols \
            or in plain words), stepscope calculates it exactly from the recorded inputs of the step. If the step wrote \
            another number, the error is in this step: re-run it. Usual rounding is no difference, nor is 0.25 for 25 where \
            percent are meant. If the calculation was read from words, or the run's answer is right all the same, this is a \
            note.",
        bad: r#"{"id": 1, "question": "3 and 4?", "gold_num": 7.0, "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}, {"name": "b", "description": ""}]},
        {"id": 2, "inputs": [{"name": "a", "description": ""}, {"name": "b", "description": ""}], "stepDescription": "Compute total = a + b.", "output": [{"name": "total", "description": ""}]},
        {"id": 3, "inputs": [{"name": "total", "description": ""}], "stepDescription": "State the total.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "3 and 4?", "a": 3, "b": 4, "total": 8, "final_answer": "It is 8.", "final_answer_numerical": 8}}"#,
        good: r#"{"id": 1, "question": "3 and 4?", "gold_num": 7.0, "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.", "output": [{"name": "a", "description": ""}, {"name": "b", "description": ""}]},
        {"id": 2, "inputs": [{"name": "a", "description": ""}, {"name": "b", "description": ""}], "stepDescription": "Compute total = a + b.", "output": [{"name": "total", "description": ""}]},
        {"id": 3, "inputs": [{"name": "total", "description": ""}], "stepDescription": "State the total.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "3 and 4?", "a": 3, "b": 4, "total": 7, "final_answer": "It is 7.", "final_answer_numerical": 7}}"#,
        check: recompute,
    },
    Rule {
        id: RuleId::Equation,
        summary: "wrong equation in the text of a step",
        explanation: "Some procedures calculate in the text of their steps: \"16 - 3 = 13 eggs are left\". If such an equation \
            is wrong, everything that reads its result is wrong too. Usual rounding is no error, nor is another unit; \
            equations with an unknown are not checked. If the run's answer is right all the same, this is a note: the \
            answer is right by luck.",
        bad: r#"{"id": 1, "question": "16 eggs, 3 eaten?", "gold_num": 13.0, "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "There are 16 - 3 = 12 eggs left.", "output": [{"name": "left", "description": ""}]},
        {"id": 2, "inputs": [{"name": "left", "description": ""}], "stepDescription": "State what is left.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "16 eggs, 3 eaten?", "left": 12, "final_answer": "It is 12.", "final_answer_numerical": 12}}"#,
        good: r#"{"id": 1, "question": "16 eggs, 3 eaten?", "gold_num": 13.0, "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "There are 16 - 3 = 13 eggs left.", "output": [{"name": "left", "description": ""}]},
        {"id": 2, "inputs": [{"name": "left", "description": ""}], "stepDescription": "State what is left.", "output": [{"name": "final_answer", "description": ""}]}]},
        "state": {"problem_text": "16 eggs, 3 eaten?", "left": 13, "final_answer": "It is 13.", "final_answer_numerical": 13}}"#,
        check: equation,
    },
    Rule {
        id: RuleId::FinalMismatch,
        summary: "answer text, final number and input of the last step disagree",
        explanation: "A last step that only copies its input must give that number; the answer text and \
            final_answer_numerical must say the same, and pred_num is a copy of it. If they disagree, a right run may be \
            graded wrong, or the last step guessed. Re-run the last step. If the run's answer is right all the same, this \
            is a note.",
        bad: r#"{"id": 1, "question": "98 by 7?", "gold_num": 15.0, "mode": "procedural", "state": {"final_answer": "Each gets 14.", "final_answer_numerical": 0.0}, "pred_num": 0.0}"#,
        good: r#"{"id": 1, "question": "98 by 7?", "gold_num": 15.0, "mode": "procedural", "state": {"final_answer": "Each gets 14.", "final_answer_numerical": 14}, "pred_num": 14.0}"#,
        check: final_mismatch,
    },
    Rule {
        id: RuleId::Grade,
        summary: "recorded grade contradicts the expected answer",
        explanation: "The record says that the run is correct, but its answer is not the expected one; or that it is wrong, \
            and the answer is the same as the expected one: the grader read another number, or only the first digits of \
            it. stepscope counts by the expected answer. Where an answer can be read in several ways, this says nothing. \
            Grade the run again, or correct the expected answer.",
        bad: r#"{"id": 1, "question": "20 and 26?", "gold_num": 46.0, "mode": "baseline", "state": {"final_answer": "It is 44."}, "pred_num": 44.0, "correct": true, "raw": "{}"}"#,
        good: r#"{"id": 1, "question": "20 and 26?", "gold_num": 46.0, "mode": "baseline", "state": {"final_answer": "It is 44."}, "pred_num": 44.0, "correct": false, "raw": "{}"}"#,
        check: grade,
    },
    Rule {
        id: RuleId::GoldNum,
        summary: "gold_num differs from the number at the end of the expected solution",
        explanation: "The notebooks read gold_num with a pattern that stops at thousands commas: \"#### 1,080\" became 80, and \
            \"#### 10,000\" became 0. Runs with the right answer are then graded wrong. stepscope compares with the number \
            in the text. Read gold_num from the text again and grade again.",
        bad: r#"{"id": 1, "question": "45 * 52?", "gold_answer": "So it is.\n#### 2,340", "gold_num": 340.0, "mode": "baseline", "state": {"final_answer": "2340"}, "raw": "{}"}"#,
        good: r#"{"id": 1, "question": "45 * 52?", "gold_answer": "So it is.\n#### 2,340", "gold_num": 2340.0, "mode": "baseline", "state": {"final_answer": "2340"}, "raw": "{}"}"#,
        check: gold_num,
    },
    Rule {
        id: RuleId::GoldSteps,
        summary: "wrong calculation in the expected solution",
        explanation: "Expected solutions carry their calculations in marks such as <<48/2=24>>. If one is wrong, the expected \
            answer itself is suspect, and a run that disagrees with it may be right. Only runs that disagree are checked.",
        bad: r#"{"id": 1, "question": "?", "gold_answer": "It is 3*4 = <<3*4=13>>13.\n#### 13", "gold_num": 13.0, "mode": "baseline", "state": {"final_answer": "12", "final_answer_numerical": 12}, "raw": "{}"}"#,
        good: r#"{"id": 1, "question": "?", "gold_answer": "It is 3*4 = <<3*4=12>>12.\n#### 12", "gold_num": 12.0, "mode": "baseline", "state": {"final_answer": "13", "final_answer_numerical": 13}, "raw": "{}"}"#,
        check: gold_steps,
    },
];

/// A run of which some steps at least ran: one that ended early has values, but no result.
fn ran<'s, 'a>(case: &'s CaseView<'a>) -> Option<(&'s Record<'a>, &'s Procedure<'a>)> {
    let record = case.record.as_ref()?;
    let counts = record.kind == RecordKind::Error || case.run_state().is_some();
    counts.then_some((record, case.procedure()?))
}

/// A run with state and procedure.
fn planned<'s, 'a>(case: &'s CaseView<'a>) -> Option<(&'s Record<'a>, &'s Procedure<'a>, Value<'a>)> {
    Some((case.record.as_ref()?, case.procedure()?, case.run_state()?))
}

fn graded(case: &CaseView<'_>, rule: RuleId) -> Severity {
    if case.is_right() { Severity::Note } else { rule.severity() }
}

fn unevaluated(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((record, _)) = ran(case) else { return };
    // Asked first: the next rule asks it too, and most often there is nothing to look at.
    let Some(recomputed) = case.recomputed() else { return };
    let may = |value: Value<'_>| {
        value.kind() == Kind::String && value.raw().len() <= MAX_VALUE && may_hold(&value.unescaped())
    };
    // The final state of a fork need not hold what its steps wrote.
    let held = record.answer.filter(|_| record.trace_fork.is_none());
    let holds = |member: Member<'_>| !member.key.is_string(FINAL_ANSWER) && may(member.value);
    if held.is_some_and(|held| !held.members().any(holds)) {
        return;
    }
    let state = case.state();
    let severity = graded(case, RuleId::Unevaluated);
    let waiting = recomputed.writes.iter().filter(|write| write.unevaluated.is_some());
    for computed in waiting.take(ENOUGH) {
        let Some(pointer) = value_pointer(record, state, computed) else { continue };
        let message = not_worked_out(record, &pointer, computed).as_str().to_owned();
        let help = "Ask the step for the number, or re-run it.";
        findings.push(Finding::new(RuleId::Unevaluated, message, Place::Value(pointer)).severity(severity).help(help));
    }
}

/// `Step 3 output "3 + 4" instead of its value, 7.`
pub(crate) fn not_worked_out(record: &Record<'_>, pointer: &Pointer, computed: &Computed) -> Shown {
    let written = record.root.find(pointer).and_then(|found| found.value.string());
    let output =
        written.map_or_else(|| Shown::own("a calculation"), |written| shown!("\"{}\"", written.line().cut(MAX_QUOTED)));
    let value =
        computed.unevaluated_value.map_or_else(|| "a number".to_owned(), |n| format!("its value, {}", n.shown()));
    shown!("Step {} output {output} instead of {value}.", computed.step + 1)
}

fn recompute(case: &CaseView<'_>, findings: &mut Findings) {
    for link in case.chain().into_iter().flat_map(ThoughtChain::broken).take(ENOUGH) {
        let message = format!(
            "Step {} continues from {formula} to {}, but {formula} is {}; the error is corrected before the end.",
            link.step + 1,
            link.says.shown(),
            link.gives.shown(),
            formula = link.formula
        );
        let severity = graded(case, RuleId::Recompute);
        let finding = Finding::new(RuleId::Recompute, message, link.place.clone()).severity(severity);
        findings.push(finding.help("Check which of the two sides is meant."));
    }
    slipped(case, RuleId::Recompute, findings);
}

fn equation(case: &CaseView<'_>, findings: &mut Findings) {
    slipped(case, RuleId::Equation, findings);
}

fn slipped(case: &CaseView<'_>, rule: RuleId, findings: &mut Findings) {
    let Some((record, procedure)) = ran(case) else { return };
    let Some(recomputed) = case.recomputed() else { return };
    let mut differing = recomputed.writes.iter().filter(|write| slip(write) == Some(rule)).peekable();
    if differing.peek().is_none() {
        return;
    }
    let state = case.state();
    let gold = case.gold().map(|gold| gold.value);
    let proved = recomputed.recovered.is_some_and(|recovered| gold.is_some_and(|gold| gold.is_near(recovered)));
    for computed in differing.take(ENOUGH) {
        let Some(plan) = &computed.plan else { continue };
        let Some(pointer) = value_pointer(record, state, computed) else { continue };
        let sure = plan.accuses() || proved;
        let severity = if sure { graded(case, rule) } else { Severity::Note };
        let message = differs(state, recomputed, computed);
        let mut finding = Finding::new(rule, message.as_str().to_owned(), Place::Value(pointer)).severity(severity);
        if let Some(place) = plan_pointer(&record.procedure_pointer, procedure, computed) {
            finding = finding.label(Place::Value(place), "calculate this");
        }
        findings.push(finding.help("Re-run this step."));
    }
}

/// The rule by which a step slipped that wrote another number than its own calculation gives. A last step that only
/// states its input is judged by `run/final_mismatch`; what only names suggest is nobody's calculation.
pub(crate) fn slip(computed: &Computed) -> Option<RuleId> {
    let plan = computed.plan.as_ref().filter(|_| computed.differs())?;
    match plan.wording {
        Wording::Signs | Wording::Words | Wording::Constant => Some(RuleId::Recompute),
        Wording::Worked => Some(RuleId::Equation),
        Wording::Implied | Wording::Statement => None,
    }
}

/// "Step 3 should calculate 3 + 4 = 7 but wrote 8."
pub(crate) fn differs(state: &State<'_>, recomputed: &Recomputed, computed: &Computed) -> Shown {
    let wrote = match (computed.recorded, computed.unevaluated_value) {
        (Some(recorded), _) => recorded.value.shown(),
        (None, Some(value)) => format!("a calculation that gives {}", value.shown()),
        (None, None) => "no number".to_owned(),
    };
    let formula = computed.plan.as_ref().filter(|plan| plan.expression.is_operation()).map(|plan| {
        let wrote = |id| recomputed.input(computed, id)?.wrote();
        plan.expression.formula(&|id| wrote(id).map_or_else(|| name_of(state, id as usize), Number::bracketed))
    });
    let gives = computed.alone.map_or_else(String::new, Number::shown);
    let step = computed.step + 1;
    match formula {
        Some(formula) => {
            let equals = if gives.starts_with('≈') { "" } else { "= " };
            shown!("Step {step} should calculate {formula} {equals}{gives} but wrote {wrote}.")
        }
        None if computed.is_statement() => shown!("Step {step} should copy {gives} but wrote {wrote}."),
        None => shown!("Step {step} wrote {wrote}, but the procedure says {gives}."),
    }
}

/// Lists the contradictions of the final number with the rest: message and place.
pub(crate) fn contradictions(record: &Record<'_>, answer: &RunAnswer) -> Vec<(String, Pointer)> {
    let mut list = Vec::new();
    let Some(number) = answer.numerical.or(answer.pred) else { return list };
    let same = |a: Written, b: Written| a.stands_for(b.value) || b.stands_for(a.value);
    let differs = |said: &&Stated| {
        let is_rounded = said.numbers().any(|text| same(text, number));
        !is_rounded && same_answer(&of_number(number), said) == SameAnswer::Different
    };
    // The last statement of a text is not always its answer.
    let stands = |said: &&Stated| {
        let text = answer_text(record).filter(|_| !said.is_announced);
        text.is_some_and(|text| numbers(text.readable()).iter().any(|(text, _)| same(*text, number)))
    };
    if let Some(said) = answer.said().filter(differs).filter(|said| !stands(said)) {
        let said = said.number().or(said.numbers().last()).map_or_else(String::new, |said| said.value.shown());
        let field = if answer.numerical.is_some() { "final_answer_numerical" } else { "pred_num" };
        let message = format!("Answer text says {said}, {field} says {}.", number.value.shown());
        list.push((message, record.number_pointer()));
    }
    if let (Some(numerical), Some(pred)) = (answer.numerical, answer.pred)
        && !numerical.value.is_near(pred.value)
    {
        let message = format!(
            "Field pred_num says {}, final_answer_numerical says {}.",
            pred.value.shown(),
            numerical.value.shown()
        );
        list.push((message, Pointer::from_iter(["pred_num"])));
    }
    list
}

/// Tells whether the final number stands last in the final text, digit by digit, and `pred_num` is the same: the usual
/// case.
fn says_number(record: &Record<'_>) -> bool {
    let Some(answer) = record.answer else { return false };
    let (Some(number), Some(text)) = (answer.get("final_answer_numerical"), answer.get(FINAL_ANSWER)) else {
        return false;
    };
    let (digits, text) = (number.raw(), text.raw());
    let same = record.pred_num.is_none_or(|pred| pred.float() == number.float());
    let bounded = |at: usize| {
        let joins = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b',' | b'_'))
        };
        // A full stop behind it ends the sentence.
        let after = text.get(at + digits.len());
        let stop = after == Some(&b'.') && !text.get(at + digits.len() + 1).is_some_and(u8::is_ascii_digit);
        !joins(text.get(at.wrapping_sub(1))) && (stop || !joins(after))
    };
    // Digits are rare in a sentence, and a searcher costs more than a short text.
    let Some(&first) = digits.first() else { return false };
    // A sign in front may be a word.
    let stands = |at: usize| {
        let is_signed = at > 0 && digits.first() != Some(&b'-');
        let is_last = |rest: &[u8]| !rest.iter().any(u8::is_ascii_digit);
        text.get(at..at + digits.len()) == Some(digits)
            && text.get(at + digits.len()..).is_some_and(is_last)
            && bounded(at)
            && !(is_signed && ends_in_minus(text.get(..at)))
    };
    same && number.is_number() && memchr::memchr_iter(first, text).any(stands)
}

/// Tells whether a text ends in a sign that makes the number behind it negative.
fn ends_in_minus(text: Option<&[u8]>) -> bool {
    text.is_some_and(|text| {
        let text = text.trim_ascii_end().to_ascii_lowercase();
        [&b"minus"[..], b"negative", b"-", "−".as_bytes(), "–".as_bytes()].iter().any(|sign| text.ends_with(sign))
    })
}

fn final_mismatch(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    if record.kind == RecordKind::Error || record.answer.is_none() {
        return;
    }
    let help = "Re-run the last step.";
    let executed = case.procedure().and_then(|_| case.recomputed());
    if executed.is_none() && says_number(record) {
        return;
    }
    let answer = case.answer();
    let list = contradictions(record, answer);
    let stated = executed.and_then(|recomputed| {
        let end = recomputed.writes.iter().rfind(|write| write.is_statement())?;
        end.differs().then_some(end)
    });
    if list.is_empty() && stated.is_none() {
        return;
    }
    let severity = graded(case, RuleId::FinalMismatch);
    if let (Some(end), Some(given), Some(said)) = (stated, stated.and_then(|end| end.alone), answer.value()) {
        let message = format!("Step {} should copy {} but wrote {}.", end.step + 1, given.shown(), said.value.shown());
        findings.push(
            Finding::new(RuleId::FinalMismatch, message, Place::Value(record.number_pointer()))
                .severity(severity)
                .help(help),
        );
    }
    for (message, pointer) in list {
        findings
            .push(Finding::new(RuleId::FinalMismatch, message, Place::Value(pointer)).severity(severity).help(help));
    }
}

/// Keys of an object, found without walking it for each name.
struct Keys<'a>(Vec<(Untrusted<'a>, Value<'a>)>, HashSet<Untrusted<'a>>);

/// Up to so many keys a search in order beats hashing.
const FEW: usize = 32;

impl<'a> Keys<'a> {
    fn of(state: Value<'a>) -> Self {
        let list: Vec<_> = state.members().map(|member| (member.name(), member.key)).collect();
        let set = if list.len() > FEW { list.iter().map(|(name, _)| name.clone()).collect() } else { HashSet::new() };
        Self(list, set)
    }

    fn has(&self, name: &Untrusted<'_>) -> bool {
        if self.0.len() > FEW { self.1.contains(name) } else { self.0.iter().any(|(known, _)| known == name) }
    }
}

fn output_missing(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((record, procedure, state)) = planned(case) else { return };
    wrote_nothing(case, findings);
    if case.in_order(|| is_in_order(procedure, state)) {
        return;
    }
    let keys = Keys::of(state);
    let mut said = 0;
    // A step with an answer schema of the record's own is asked for its keys in place of its outputs.
    let is_asked_otherwise =
        |step: &Step<'_>| own_keys(record).is_some() && runs_as_last(step.id, procedure.steps.len());
    for (position, step) in procedure.steps.iter().enumerate().filter(|(_, step)| !is_asked_otherwise(step)) {
        for (n, field) in step.outputs.iter().enumerate() {
            let Some(name) = field.name_text() else { continue };
            if said >= ENOUGH || keys.has(&name) {
                continue;
            }
            said += 1;
            let here = Procedure::step_pointer(&record.procedure_pointer, position);
            let pointer = step.output_pointer(&here, n);
            let message =
                format!("Step {} declares {}, but the final state does not have it.", position + 1, name.line());
            findings.push(
                Finding::new(RuleId::OutputMissing, message, Place::Value(pointer))
                    .help("Check whether the step ran: its id or an older procedure may be the reason."),
            );
        }
    }
}

/// The first output that is there, and holds nothing that the steps which read it can use.
fn wrote_nothing(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(lost) = case.lost().filter(|lost| !lost.is_absent) else { return };
    let place = Place::Value(lost.pointer.clone());
    let finding = Finding::new(RuleId::OutputMissing, lost.text.as_str().to_owned(), place);
    findings.push(finding.severity(graded(case, RuleId::OutputMissing)).help("Re-run this step."));
}

fn output_undeclared(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((record, procedure, state)) = planned(case) else { return };
    if case.in_order(|| is_in_order(procedure, state)) {
        return;
    }
    let asked = own_keys(record);
    let own = |name: &Untrusted<'_>| {
        *name == PROBLEM_TEXT
            || ANSWER_KEYS.iter().any(|key| *name == *key)
            || asked.is_some_and(|keys| keys.member_spelt(name.bytes()).is_some())
    };
    let fields = || procedure.steps.iter().flat_map(|step| &step.outputs).filter_map(Field::name_text);
    let many = state.len() > FEW;
    let declared: HashSet<Untrusted<'_>> = if many { fields().collect() } else { HashSet::new() };
    let is_declared =
        |name: &Untrusted<'_>| if many { declared.contains(name) } else { fields().any(|field| field == *name) };
    let strange = state.members().map(|member| member.name()).filter(|name| !own(name) && !is_declared(name));
    for name in strange.take(ENOUGH) {
        let message = format!("The final state has {}, which no step declares.", name.line());
        let pointer = Pointer::from_iter(["state"]).then(stepscope_base::json::Part::Key(name.into_owned()));
        findings.push(
            Finding::new(RuleId::OutputUndeclared, message, Place::Key(pointer))
                .help("Check whether the record holds the procedure that was run."),
        );
    }
}

fn output_ambiguous(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((record, procedure, state)) = planned(case) else { return };
    // A run trace keeps what every step wrote.
    if record.trace_steps.is_some() || case.valid_flow().is_some_and(|(_, flow)| !flow.rewrites()) {
        return;
    }
    let mut writers: Vec<(Untrusted<'_>, usize, usize)> = Vec::new();
    let mut numbers = std::collections::HashMap::new();
    for (position, step) in procedure.steps.iter().enumerate() {
        for name in step.output_names() {
            let known = if writers.len() <= FEW {
                writers.iter().position(|(known, ..)| *known == name)
            } else {
                if numbers.len() < writers.len() {
                    numbers.extend(writers.iter().enumerate().map(|(n, (name, ..))| (name.clone(), n)));
                }
                numbers.get(&name).copied()
            };
            match known.and_then(|known| writers.get_mut(known)) {
                Some((_, count, last)) if *last != position => (*count, *last) = (*count + 1, position),
                Some(_) => {}
                None => writers.push((name, 1, position)),
            }
        }
    }
    let several = writers.iter().filter(|(_, count, _)| *count > 1);
    for (name, count, last) in several.take(ENOUGH) {
        let Some(key) = state.members().find(|member| member.name() == *name).map(|member| member.name()) else {
            continue;
        };
        let message = format!(
            "{count} steps write {}; only its last value is known, and step {} need not have written it.",
            name.line(),
            last + 1
        );
        let pointer = Pointer::from_iter(["state"]).then(stepscope_base::json::Part::Key(key.into_owned()));
        findings.push(
            Finding::new(RuleId::OutputAmbiguous, message, Place::Key(pointer))
                .help("Give the result of each step its own name."),
        );
    }
}

fn misread_last_step(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((record, procedure, _)) = planned(case) else { return };
    let Some(surprise) = last_step_surprise(&procedure.steps) else { return };
    let Some(last) = procedure.steps.len().checked_sub(1) else { return };
    let here = Procedure::step_pointer(&record.procedure_pointer, last);
    let id = procedure.steps.get(last).and_then(|step| step.value.member("id"));
    let pointer = if id.is_some() { here.then("id") } else { here };
    let message = format!("The step ids mislead evoproc: {}.", surprise.meaning());
    findings.push(
        Finding::new(RuleId::LastStep, message, Place::Value(pointer)).help("Number the steps 1, 2, 3 in order."),
    );
}

/// Cause of an error row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ErrorCause {
    /// A reply of a step.
    Reply,
    /// The procedure as it was written.
    Plan,
    /// Neither: a server, a network.
    Outside,
}

/// The key that a reply left out, in evoproc's error text; an empty one where the text names none.
fn omitted_key(error: &str) -> Option<&str> {
    let (_, rest) = error.split_once("omitted required output")?;
    Some(rest.split(['\'', '"']).nth(1).unwrap_or_default())
}

/// Explains evoproc's error text: the cause, what it is, what to do, and the id of the step.
pub(crate) fn explained(error_type: &str, error: &str) -> (ErrorCause, &'static str, &'static str, Option<usize>) {
    let step = failing_id(error).and_then(|id| id.parse().ok());
    let has = |text: &str| error.contains(text);
    let (fault, what, help) = if has("Unresolvable input") {
        (
            ErrorCause::Plan,
            "a step reads a variable that no earlier step produces",
            "Repair the procedure: add the step that produces the input, or rename it.",
        )
    } else if let Some(key) = omitted_key(error) {
        // Only the last step is asked for these, and for all of them.
        let what = if ANSWER_KEYS.contains(&key) {
            "the reply leaves out a requested key; the last step must return every key of the answer schema, optional ones too"
        } else {
            "the reply leaves out a requested key"
        };
        (ErrorCause::Reply, what, "Re-run the step, or run without strict_missing.")
    } else if has("Non-JSON response") || (error_type == "JSONDecodeError" && step.is_some()) {
        (
            ErrorCause::Reply,
            "the reply is not valid JSON (token limit reached, or format ignored)",
            "Raise the token limit or constrain the reply, and re-run the step.",
        )
    } else if error_type == "JSONDecodeError" || has("Unterminated string") || has("Expecting ") {
        (
            ErrorCause::Plan,
            "the procedure is not valid JSON (token limit reached, or format ignored)",
            "Raise the token limit or constrain the reply, and generate the procedure again.",
        )
    } else if has("validation error") || error_type == "ValidationError" {
        (ErrorCause::Plan, "the procedure does not match the schema", "Repair the procedure.")
    } else if error_type.contains("Timeout")
        || error_type.contains("Connection")
        || has("timed out")
        || has("Connection")
    {
        (ErrorCause::Outside, "the model server did not answer", "Run this record again.")
    } else {
        (ErrorCause::Outside, "the run ended before there was an answer", "Read the error, then run this record again.")
    };
    (fault, what, help, step)
}

fn error(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = case.record.as_ref().filter(|record| record.kind == RecordKind::Error) else { return };
    let text = |value: Option<Value<'_>>| Value::text_of(value).readable().to_owned();
    let (_, what, help, step) = explained(&text(record.error_type), &text(record.error));
    let message = match step {
        Some(step) => format!("The run ended with an error at step id {step}: {what}."),
        None => format!("The run ended with an error: {what}."),
    };
    let key = ["error", "error_type", "status"].into_iter().find(|key| record.root.get(key).is_some());
    let pointer = key.map_or_else(Pointer::default, |key| Pointer::from_iter([key]));
    findings.push(Finding::new(RuleId::RunError, message, Place::Value(pointer)).help(help));
}

fn grade(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    let rightness = case.rightness();
    if !rightness.is_contradicted() || record.kind == RecordKind::Error {
        return;
    }
    let expected = case.gold().map(|gold| shown!("{}", gold.value.shown()));
    let expected = expected.or_else(|| expected_words(record).map(|words| shown!("\"{}\"", words.text())));
    let expected = expected.unwrap_or_default();
    let message = if rightness.is_right() {
        shown!("Graded wrong, but the answer is the expected {expected}.")
    } else {
        match case.answer().value() {
            Some(answer) => {
                shown!(
                    "Graded correct, but the answer is {} and the expected answer is {expected}.",
                    answer.value.shown()
                )
            }
            None => shown!("Graded correct, but the answer is not the expected {expected}."),
        }
    };
    let pointer = record.chain.as_deref().and_then(|chain| chain.correct.clone());
    let pointer = pointer.unwrap_or_else(|| Pointer::from_iter(["correct"]));
    findings.push(
        Finding::new(RuleId::Grade, message.into_string(), Place::Value(pointer))
            .label(Place::Value(record.number_pointer()), "the answer")
            .help("Grade the run again, or correct the expected answer."),
    );
}

fn gold_num(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    if record.gold_num.is_none() || record.gold_answer.is_none() {
        return;
    }
    let Some((gold, misread)) = case.gold().and_then(|gold| Some((gold.value, gold.misread?))) else { return };
    let message = format!("The expected solution ends in {}, but gold_num says {}.", gold.shown(), misread.shown());
    findings.push(
        Finding::new(RuleId::GoldNum, message, Place::Value(Pointer::from_iter(["gold_num"])))
            .label(Place::Value(Pointer::from_iter(["gold_answer"])), "the expected solution")
            .help("Read gold_num from the text again, with its thousands commas."),
    );
}

fn gold_steps(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    let marked = record.gold_answer.is_some_and(|text| memchr::memchr(b'<', &text.unescaped()).is_some());
    if !marked || case.is_right() || record.state.is_none() {
        return;
    }
    let working = working(record);
    for mark in working.calculations.iter().filter(|mark| mark.marked && mark.is_wrong()).take(ENOUGH) {
        let gives = mark.gives.map_or_else(String::new, Number::shown);
        let text = shown!("{}", mark.text);
        let message = format!("The expected solution calculates {text}, which is {gives}.");
        let place = Place::Value(Pointer::from_iter(["gold_answer"]));
        findings.push(Finding::new(RuleId::GoldSteps, message, place).help("Check the expected answer."));
    }
}
