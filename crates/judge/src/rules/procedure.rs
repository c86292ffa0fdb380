//! The rules of evoproc's validator (`evoproc.validators`), word for word: first the schema, and only if that holds the
//! five rules over the flow of variables.

use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_base::json::{Part, Pointer, Value};
use stepscope_base::python::Message;
use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Action, Datum, Finding, Findings, Place};
use stepscope_record::procedure::flow::{Flow, StepFlow};
use stepscope_record::procedure::model::coerced_id;
use stepscope_record::procedure::{FINAL_ANSWER, Field, PROBLEM_TEXT, Procedure, Step};
use stepscope_record::rule_id::RuleId;

mod fitness;

pub use fitness::fitness;

/// The ids of upstream's own rules: what they find counts for upstream's fitness.
pub const UPSTREAM: [RuleId; 6] = [
    RuleId::ProcedureSchema,
    RuleId::FirstStepInputs,
    RuleId::FinalStepOutput,
    RuleId::UnresolvedInput,
    RuleId::Redefined,
    RuleId::Unused,
];

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ProcedureSchema,
        summary: "procedure does not match evoproc's model (NameDescription, steps with id, stepDescription, inputs, output)",
        explanation: "evoproc first reads a procedure into a typed model. One that does not fit cannot be run, scored or \
            repaired step by step, and no other procedure rule checks it. The reader is lenient where it can be: an id may \
            be \"1\", \" 2 \", 1.0 or true, unknown keys are ignored, inputs and output may be left out. It is strict where \
            it matters: descriptions must be there, a number is never a text, null is never a list. Add the missing key, \
            or give the value the type that the message names.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 0, "inputs": [{"name": "problem_text", "description": "task"}], "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
        good: GOOD,
        check: check_schema,
    },
    Rule {
        id: RuleId::FirstStepInputs,
        summary: "first step does not read exactly problem_text",
        explanation: "Before the first step the global state holds nothing but problem_text. A first step that reads \
            anything else, or nothing, cannot be run as declared. Make problem_text its only input, and let it extract \
            the facts that later steps need.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [], "stepDescription": "Add the numbers", "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
        good: GOOD,
        check: check_first_step,
    },
    Rule {
        id: RuleId::FinalStepOutput,
        summary: "last step does not write exactly final_answer",
        explanation: "The last step is run with the answer schema, and only final_answer leaves the procedure. If it \
            writes something else the run has no answer; if it writes more, the rest is lost. Let the last step write \
            final_answer alone, or add a step that does.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Add the numbers", "output": []}]}"#,
        good: GOOD,
        check: check_final_step,
    },
    Rule {
        id: RuleId::UnresolvedInput,
        summary: "step reads a variable that no earlier step writes",
        explanation: "A step sees only its declared inputs, taken from the global state. An input that no earlier step \
            writes is absent when the step runs, and the model fills the gap with a guess. Often the name is misspelt, or \
            two steps are in the wrong order: the second label then shows where the variable is written too late.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the numbers", "output": [{"name": "a", "description": "first"}]}, {"id": 2, "inputs": [{"name": "a", "description": "first"}, {"name": "b", "description": "second"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
        good: GOOD_TWO_STEPS,
        check: check_unresolved,
    },
    Rule {
        id: RuleId::Redefined,
        summary: "step writes a variable again (final_answer excepted)",
        explanation: "The global state keeps one value per name. A step that writes a name again silently replaces the value \
            that later steps may still mean, and the record no longer shows which step a stored value came from. Give the \
            new value its own name, such as total_after_discount, or do not write it again.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the number", "output": [{"name": "a", "description": "first"}]}, {"id": 2, "inputs": [{"name": "a", "description": "first"}], "stepDescription": "Double it", "output": [{"name": "a", "description": "doubled"}]}, {"id": 3, "inputs": [{"name": "a", "description": "doubled"}], "stepDescription": "Answer", "output": [{"name": "final_answer", "description": "answer"}]}]}"#,
        good: GOOD_TWO_STEPS,
        check: check_redefined,
    },
    Rule {
        id: RuleId::Unused,
        summary: "output that no later step reads (final_answer and problem_text excepted)",
        explanation: "A variable that no step reads costs model output and attention, and is often the trace of a forgotten \
            step: a number of the question that was extracted and then left out of the calculation. Remove it, or let the \
            step that should use it read it.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the numbers", "output": [{"name": "a", "description": "first"}, {"name": "b", "description": "second"}]}, {"id": 2, "inputs": [{"name": "a", "description": "first"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
        good: GOOD_TWO_STEPS,
        check: check_unused,
    },
];

pub(super) const GOOD: &str = r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Add the numbers", "output": [{"name": "final_answer", "description": "sum"}]}]}"#;
pub(super) const GOOD_TWO_STEPS: &str = r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the numbers", "output": [{"name": "a", "description": "first"}, {"name": "b", "description": "second"}]}, {"id": 2, "inputs": [{"name": "a", "description": "first"}, {"name": "b", "description": "second"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "sum"}]}]}"#;

pub(super) fn unread<'a>(case: &CaseView<'a>) -> Option<Value<'a>> {
    Procedure::unread(case.procedure()?.value)
}

/// Finds all that upstream's validator says of a procedure.
pub(super) fn check_all(case: &CaseView<'_>, findings: &mut Findings) {
    for rule in RULES {
        (rule.check)(case, findings);
    }
}

fn check_schema(case: &CaseView<'_>, findings: &mut Findings) {
    if unread(case).is_some() {
        return;
    }
    for error in &case.procedure_errors().listed {
        let mut loc = Message::default();
        for (n, part) in error.loc.iter().enumerate() {
            let dot = if n > 0 { "." } else { "" };
            loc = match part {
                Part::Key(key) => loc.text(dot).text(key.bytes()),
                Part::Index(index) => loc.text(dot).number(*index),
            };
        }
        let loc = Untrusted::from(loc);
        let message =
            Message::new("Schema error at ").text(loc.bytes()).text(": ").text(error.kind.message().as_bytes());
        let parts = error.loc.iter().map(|part| match part {
            Part::Key(key) => Datum::Text(key.clone()),
            Part::Index(index) => Datum::Int(index.to_string()),
        });
        let finding = Finding::new(RuleId::ProcedureSchema, message, error.place(case.procedure_pointer()))
            .action(Action::PatchLocally)
            .detail("loc", Datum::List(parts.collect()))
            .detail("type", Datum::Text(Untrusted::from(error.kind.word())))
            .help(error.kind.help());
        findings.push(finding);
    }
    findings.count_more(RuleId::ProcedureSchema, case.procedure_errors().rest);
}

/// Tells whether a list of fields names exactly one variable, and that one.
fn is_only(fields: &[Field<'_>], name: &str) -> bool {
    matches!(fields, [field] if field.name.is_some_and(|value| value.is_string(name)))
}

fn names(fields: &[Field<'_>]) -> Datum {
    Datum::List(fields.iter().map(|field| Datum::Text(name_of(field).into_owned())).collect())
}

fn name_of<'a>(field: &Field<'a>) -> Untrusted<'a> {
    Value::text_of(field.name)
}

fn check_first_step(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(step) = case.valid_procedure().and_then(|procedure| procedure.steps.first()) else { return };
    if is_only(&step.inputs, PROBLEM_TEXT) {
        return;
    }
    let pointer = Procedure::step_pointer(case.procedure_pointer(), 0);
    let place = list_place(pointer, step.inputs_member.map(|member| member.name()));
    let message = "Step 1 inputs must be exactly ['problem_text'].";
    let finding = Finding::new(RuleId::FirstStepInputs, message.to_owned(), place)
        .action(Action::RewriteFirstStep)
        .detail("found", names(&step.inputs))
        .help("Let the first step read problem_text and nothing else.");
    findings.push(finding);
}

fn check_final_step(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(procedure) = case.valid_procedure() else { return };
    let Some(step) = procedure.steps.last() else { return };
    if is_only(&step.outputs, FINAL_ANSWER) {
        return;
    }
    let pointer = Procedure::step_pointer(case.procedure_pointer(), procedure.steps.len() - 1);
    let place = list_place(pointer, step.outputs_member.map(|member| member.name()));
    let answers = step.outputs.iter().any(|field| field.name.is_some_and(|name| name.is_string(FINAL_ANSWER)));
    let (action, help) = if answers {
        (Action::AddFinalStep, "Let the last step write final_answer alone; move its other outputs to an earlier step.")
    } else {
        (Action::ExtendProcedureToFinal, "Add a last step that writes final_answer and nothing else.")
    };
    let message = "Final step must produce exactly ['final_answer'].";
    let finding = Finding::new(RuleId::FinalStepOutput, message.to_owned(), place)
        .action(action)
        .detail("found", names(&step.outputs))
        .help(help);
    findings.push(finding);
}

/// The key of a step's list; the step itself where the list is left out.
fn list_place(step: Pointer, key: Option<Untrusted<'_>>) -> Place {
    match key {
        Some(key) => Place::Key(step.then(Part::Key(key.into_owned()))),
        None => Place::Value(step),
    }
}

fn step_id(step: &Step<'_>) -> Datum {
    step.id.and_then(|id| coerced_id(id).ok()).map_or(Datum::Null, |id| Datum::Int(id.into_owned()))
}

fn input_place(base: &Pointer, step: &StepFlow<'_, '_>, n: usize) -> Place {
    let pointer = step.step.input_pointer(&Procedure::step_pointer(base, step.position), n);
    Place::Value(pointer.then("name"))
}

fn output_place(base: &Pointer, step: &StepFlow<'_, '_>, n: usize) -> Place {
    let pointer = step.step.output_pointer(&Procedure::step_pointer(base, step.position), n);
    Place::Value(pointer.then("name"))
}

fn check_unresolved(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((procedure, flow)) = case.valid_flow() else { return };
    // Which variable was last reported for which step: the same input twice in one step is one diagnostic upstream.
    let mut reported: Vec<Option<usize>> = Vec::new();
    for step in flow.steps(procedure) {
        for (n, &variable) in step.reads.iter().enumerate() {
            if flow.is_written_before(variable, step.position) || *flow.name(variable) == PROBLEM_TEXT {
                continue;
            }
            reported.resize(flow.len(), None);
            let Some(last) = reported.get_mut(variable as usize) else { continue };
            if last.replace(step.position) == Some(step.position) {
                continue;
            }
            findings.push(unresolved(case, procedure, flow, &step, n, variable));
        }
    }
}

fn unresolved(
    case: &CaseView<'_>,
    procedure: &Procedure<'_>,
    flow: &Flow<'_>,
    step: &StepFlow<'_, '_>,
    n: usize,
    variable: u32,
) -> Finding {
    let base = case.procedure_pointer();
    let name = flow.name(variable);
    let message = Message::new("Input '")
        .text(name.bytes())
        .text("' of Step ")
        .number(step.position + 1)
        .text(" is not produced by any prior step.");
    let finding = Finding::new(RuleId::UnresolvedInput, message, input_place(base, step, n))
        .action(Action::AddMissingProducer)
        .detail("step_id", step_id(step.step))
        .detail("input", Datum::Text(name.to_owned()));
    let Some((writer, output)) = flow.first_write(variable) else {
        return finding.help("Let an earlier step write this variable, or read one that exists.");
    };
    let Some(writing) = procedure.steps.get(writer) else { return finding };
    let place = Procedure::step_pointer(base, writer);
    let place = Place::Value(writing.output_pointer(&place, output).then("name"));
    let how =
        if flow.is_written_once(variable) { "written only here, in step " } else { "first written here, in step " };
    finding
        .label(place, Message::new(how).number(writer + 1))
        .help("Move the step that writes this variable before the step that reads it.")
}

/// Makes what two rules say of some outputs of a step: the first is its place, the others are labelled.
fn of_outputs(
    rule: RuleId,
    (words, again): (&'static str, &'static str),
    (base, step): (&Pointer, &StepFlow<'_, '_>),
    outputs: &[(usize, u32)],
    names: &[&Untrusted<'_>],
) -> Option<Finding> {
    let ((first, _), rest) = outputs.split_first()?;
    let message = Message::new(words).number(step.position + 1).text(": ").list(names.iter().map(|name| name.bytes()));
    let finding = Finding::new(rule, message, output_place(base, step, *first))
        .action(Action::PatchLocally)
        .detail("step_id", step_id(step.step));
    let label = |finding: Finding, (n, _): &(usize, u32)| finding.label(output_place(base, step, *n), again.to_owned());
    Some(rest.iter().fold(finding, label))
}

fn outputs_that(step: &StepFlow<'_, '_>, is_meant: impl Fn(u32) -> bool) -> Vec<(usize, u32)> {
    step.writes.iter().copied().enumerate().filter(|&(_, variable)| is_meant(variable)).collect()
}

fn check_redefined(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((procedure, flow)) = case.valid_flow().filter(|(_, flow)| flow.rewrites()) else { return };
    let base = case.procedure_pointer();
    let words = ("Avoid re-defining existing variables at Step ", "written again");
    for step in flow.steps(procedure) {
        let again = |variable| flow.is_written_before(variable, step.position) && *flow.name(variable) != FINAL_ANSWER;
        let outputs = outputs_that(&step, again);
        let names: Vec<_> = outputs.iter().map(|&(_, variable)| flow.name(variable)).collect();
        let Some(finding) = of_outputs(RuleId::Redefined, words, (base, &step), &outputs, &names) else { continue };
        let mut finding = finding
            .detail("consider_renaming", Datum::texts(names.iter().copied()))
            .help("Give the new value its own name, and let later steps read that.");
        for &(_, variable) in &outputs {
            let Some((writer, output)) = flow.first_write(variable) else { continue };
            let Some(writing) = procedure.steps.get(writer) else { continue };
            let place = writing.output_pointer(&Procedure::step_pointer(base, writer), output).then("name");
            let text = Message::new("first written here, in step ").number(writer + 1);
            finding = finding.label(Place::Value(place), text);
        }
        findings.push(finding);
    }
}

fn check_unused(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((procedure, flow)) = case.valid_flow() else { return };
    let base = case.procedure_pointer();
    let words = ("Remove unused outputs at Step ", "never read by a later step");
    for step in flow.steps(procedure) {
        let outputs = outputs_that(&step, |variable| flow.is_unused(variable, step.position));
        // Untrusted sorts by code points, as Python does.
        let mut names: Vec<_> = outputs.iter().map(|&(_, variable)| flow.name(variable)).collect();
        names.sort_unstable();
        let Some(finding) = of_outputs(RuleId::Unused, words, (base, &step), &outputs, &names) else { continue };
        findings.push(
            finding
                .detail("remove_from_outputs", Datum::texts(names.iter().copied()))
                .help("Remove the output, or let a later step read it."),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use stepscope_record::finding::{MAX_FINDINGS, PlaceLabel};

    use stepscope_base::json::Tape;

    /// Lists the findings in the procedure of a run record: message, then each place with its label.
    fn said(procedure: &str) -> Vec<String> {
        let text = format!(r#"{{"procedure": {procedure}, "mode": "procedural"}}"#);
        let mut tape = Tape::default();
        let root = tape.parse(text.as_bytes()).unwrap();
        let place = |label: &PlaceLabel| {
            let (sign, pointer) = match &label.place {
                Place::Key(pointer) => ("key ", pointer),
                Place::Value(pointer) => ("", pointer),
                Place::Bytes { .. } | Place::Span { .. } => panic!("{label:?}"),
            };
            assert!(root.find(pointer).is_some(), "{pointer:?}");
            format!(" @ {sign}{} {}", pointer.text().line(), label.text.line())
        };
        let findings = Case::read(text.as_bytes()).findings().clone();
        let said = |finding: &Finding| {
            let labels: String = finding.labels().map(place).collect();
            format!("{}{labels}", finding.message.line())
        };
        findings.iter().map(said).collect()
    }

    fn fields(names: &[&str]) -> String {
        let field = |name: &&str| format!(r#"{{"name": "{name}", "description": "d"}}"#);
        format!("[{}]", names.iter().map(field).collect::<Vec<_>>().join(", "))
    }

    fn procedure(steps: &[(&[&str], &[&str])]) -> String {
        let step = |(n, (inputs, outputs)): (usize, &(&[&str], &[&str]))| {
            let (inputs, outputs) = (fields(inputs), fields(outputs));
            format!(r#"{{"id": 1{n}, "inputs": {inputs}, "stepDescription": "s", "output": {outputs}}}"#)
        };
        let steps: Vec<_> = steps.iter().enumerate().map(step).collect();
        format!(r#"{{"NameDescription": "n", "steps": [{}]}}"#, steps.join(", "))
    }

    #[test]
    fn labels_lead_to_the_names() {
        let text = procedure(&[
            (&["problem_text"], &["a", "z", "b"]),
            (&["a", "late", "late", "gone"], &["a"]),
            (&["b"], &["late", "a"]),
            (&["late", "a"], &["final_answer"]),
        ]);
        assert_eq!(
            said(&text),
            [
                "Input 'late' of Step 2 is not produced by any prior step. @ /procedure/steps/1/inputs/1/name  \
             @ /procedure/steps/2/output/0/name written only here, in step 3",
                "Input 'gone' of Step 2 is not produced by any prior step. @ /procedure/steps/1/inputs/3/name ",
                "Avoid re-defining existing variables at Step 2: ['a'] @ /procedure/steps/1/output/0/name  \
             @ /procedure/steps/0/output/0/name first written here, in step 1",
                "Avoid re-defining existing variables at Step 3: ['a'] @ /procedure/steps/2/output/1/name  \
             @ /procedure/steps/0/output/0/name first written here, in step 1",
                "Remove unused outputs at Step 1: ['z'] @ /procedure/steps/0/output/1/name ",
            ]
        );
    }

    #[test]
    fn a_list_that_is_left_out_is_placed_at_its_step() {
        let snake = r#"{"name_description": "n", "steps": [{"id": 1, "step_description": "s", "outputs": []}]}"#;
        assert_eq!(
            said(snake),
            [
                "Step 1 inputs must be exactly ['problem_text']. @ /procedure/steps/0 ",
                "Final step must produce exactly ['final_answer']. @ key /procedure/steps/0/outputs ",
            ]
        );
        assert_eq!(
            said(r#"{"name_description": 1, "steps": [{"id": 1.5, "inputs": [{"name": "v"}]}]}"#),
            [
                "Schema error at name_description: Input should be a valid string @ /procedure/name_description ",
                "Schema error at steps.0.id: Input should be a valid integer, got a number with a fractional part \
             @ /procedure/steps/0/id ",
                "Schema error at steps.0.inputs.0.description: Field required @ /procedure/steps/0/inputs/0 ",
                "Schema error at steps.0.stepDescription: Field required @ /procedure/steps/0 ",
            ]
        );
        assert_eq!(
            said("[]"),
            ["Schema error at : Input should be a valid dictionary or instance of Procedure @ /procedure ",]
        );
    }

    #[test]
    fn a_large_procedure_is_judged_in_one_pass() {
        let names: Vec<String> = (0..20_000).map(|n| format!("v{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text =
            procedure(&[(&["problem_text"], &["a"]), (&names, &names), (&["a"], &names), (&["a"], &["final_answer"])]);
        // Every input comes too late; then one redefinition and two unused lists.
        assert_eq!(said_count(&text), (20_000 + 1 + 2, MAX_FINDINGS + 1 + 2));
    }

    /// Counts all findings, and those that are listed.
    fn said_count(procedure: &str) -> (usize, usize) {
        let mut tape = Tape::default();
        let _root = tape.parse(procedure.as_bytes()).unwrap();
        let found = Case::read(procedure.as_bytes()).findings().clone();
        (found.total(), found.len())
    }
}
