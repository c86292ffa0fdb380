//! The question's quantities against the values that the run extracted. A run that came out right is left alone: what
//! it did not take up it did not need.

use crate::case::CaseView;
use crate::quantity_links::{LinkedVariable, QuantityLinks, UnusedQuantity, question_of};
use crate::rule::Rule;
use stepscope_arithmetic::quantity::{Kind, Quantity, find, near};
use stepscope_base::json::{Part, Pointer, Value};
use stepscope_base::python::Message;
use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Datum, Finding, Findings, Place, Severity};
use stepscope_record::procedure::Procedure;
use stepscope_record::rule_id::RuleId;

/// Of one kind, so many are told apart; the last one counts the rest.
const TOLD: usize = 3;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::QuantityMissed,
        summary: "a number of the question is never used",
        explanation: "A number of the question that the run never uses cannot enter the answer. Either the plan has no \
            variable for it, and the procedure is at fault; or its variable holds something else, and the step that reads \
            the question is at fault: the detail \"fault\" says which. Not every number matters: if the expected solution \
            does without it too, or if it is not known whether the run is right, this is a note. Runs with the right answer are \
            not checked.",
        bad: r#"{"question": "Ann buys 4 pens at $3 each and pays with $20. How much change does she get?", "gold_answer": "4*3 = 12, 20-12 = 8\n#### 8", "procedure": {"NameDescription": "Pens", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the facts", "output": [{"name": "pens", "description": "number of pens"}, {"name": "price", "description": "price of a pen"}]}, {"id": 2, "inputs": [{"name": "pens", "description": "number"}, {"name": "price", "description": "price"}], "stepDescription": "Multiply", "output": [{"name": "final_answer", "description": "answer"}]}]}, "state": {"pens": 4, "price": 3, "final_answer": "She gets $12."}, "pred_num": 12, "correct": false}"#,
        good: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "gold_answer": "4*3 = 12\n#### 12", "procedure": {"NameDescription": "Pens", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the facts", "output": [{"name": "pens", "description": "number of pens"}, {"name": "price", "description": "price of a pen"}]}, {"id": 2, "inputs": [{"name": "pens", "description": "number"}, {"name": "price", "description": "price"}], "stepDescription": "Multiply", "output": [{"name": "final_answer", "description": "answer"}]}]}, "state": {"pens": 4, "price": 3, "final_answer": "She pays $7."}, "pred_num": 7, "correct": false}"#,
        check: check_missed,
    },
    Rule {
        id: RuleId::QuantityInvented,
        summary: "extracted number not found in the question",
        explanation: "A step that extracts facts wrote a number that is not in the question, in any unit or form, and is no \
            sum, product, count or conversion of its numbers. Everything calculated from it has no basis. Re-run the step; \
            if the plan itself names the number, repair the plan.",
        bad: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "procedure": {"NameDescription": "Pens", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the facts", "output": [{"name": "pens", "description": "number of pens"}, {"name": "price", "description": "price of a pen"}]}, {"id": 2, "inputs": [{"name": "pens", "description": "number"}, {"name": "price", "description": "price"}], "stepDescription": "Multiply", "output": [{"name": "final_answer", "description": "answer"}]}]}, "state": {"pens": 4, "price": 3592867, "final_answer": "She pays $14371468."}, "pred_num": 14371468, "correct": false}"#,
        good: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "procedure": {"NameDescription": "Pens", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the facts", "output": [{"name": "pens", "description": "number of pens"}, {"name": "price", "description": "price of a pen in cents"}]}, {"id": 2, "inputs": [{"name": "pens", "description": "number"}, {"name": "price", "description": "price"}], "stepDescription": "Multiply", "output": [{"name": "final_answer", "description": "answer"}]}]}, "state": {"pens": 4, "price": 300, "final_answer": "She pays $14."}, "pred_num": 14, "correct": false}"#,
        check: check_invented,
    },
    Rule {
        id: RuleId::QuantityChanged,
        summary: "number of the question misread",
        explanation: "A variable holds a number that is not in the question but resembles one that nothing uses: two digits \
            swapped, one lost, a factor of ten, off by one; or it holds another number than its own description names. The \
            step misread the question: re-run it.",
        bad: r#"{"question": "Ann has 24 pens and buys 13 more. How many has she?", "procedure": {"NameDescription": "Pens", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the facts", "output": [{"name": "pens", "description": "pens at first"}, {"name": "more", "description": "pens bought"}]}, {"id": 2, "inputs": [{"name": "pens", "description": "first"}, {"name": "more", "description": "more"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "answer"}]}]}, "state": {"pens": 42, "more": 13, "final_answer": "She has 55."}, "pred_num": 55, "correct": false}"#,
        good: r#"{"question": "Ann has 24 pens and buys 13 more. How many has she?", "procedure": {"NameDescription": "Pens", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the facts", "output": [{"name": "pens", "description": "pens at first"}, {"name": "more", "description": "pens bought"}]}, {"id": 2, "inputs": [{"name": "pens", "description": "first"}, {"name": "more", "description": "more"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "answer"}]}]}, "state": {"pens": 24, "more": 13, "final_answer": "She has 55."}, "pred_num": 55, "correct": false}"#,
        check: check_changed,
    },
];

/// The links of a run that is worth explaining.
fn links<'s>(case: &'s CaseView<'_>) -> Option<&'s QuantityLinks> {
    if case.is_right() { None } else { case.quantity_links() }
}

/// The severity of a rule here: what a run leaves out or reads otherwise may be meant so, and is a note unless the run is
/// known to be wrong.
fn judged(case: &CaseView<'_>, rule: RuleId) -> Severity {
    if case.rightness().verdict().is_some() { rule.severity() } else { Severity::Note }
}

/// A holder with its name, its value and what the plan says of it.
struct Taken<'a> {
    holder: LinkedVariable,
    name: Untrusted<'a>,
    value: Value<'a>,
    description: Option<Untrusted<'a>>,
}

impl<'a> Taken<'a> {
    fn of(case: &CaseView<'a>, holder: LinkedVariable) -> Option<Self> {
        let field = holder.field(case.procedure()?)?;
        let name = field.name_text()?;
        let value = case.record.as_ref()?.state?.member_spelt(name.bytes())?.value;
        Some(Self { holder, name, value, description: field.description.and_then(Value::string) })
    }

    /// Tells whether the plan itself names the number that the variable holds.
    fn is_planned(&self) -> bool {
        let named = |value: f64| {
            let text = self.description.as_ref().map(Untrusted::bytes);
            text.is_some_and(|text| find(text).iter().any(|number| near(number.float(), value)))
        };
        self.value.float().is_some_and(named)
    }
}

fn check_missed(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(links) = links(case) else { return };
    let Some(&UnusedQuantity { room, .. }) = links.missed.first() else { return };
    let working = working(case);
    let is_needed = |missed: &&UnusedQuantity| match &working {
        Some(working) => links.is_used_in(missed.quantity, working),
        None => missed.room,
    };
    // What matters comes first, then the rest.
    let needed = links.missed.iter().filter(is_needed);
    let spare = links.missed.iter().filter(|missed| !is_needed(missed));
    let is_needed = needed.clone().next().is_some();
    let severity = if is_needed { judged(case, RuleId::QuantityMissed) } else { Severity::Note };
    let mut quantities = needed.chain(spare).filter_map(|missed| links.quantities.get(missed.quantity)).take(TOLD);
    let Some(first) = quantities.next() else { return };
    let (fault, nothing, room, help) = if room {
        (
            "step_run",
            "The run does not use ",
            "; a variable of the plan may be meant for it.",
            "Check what the step that reads the question wrote, and re-run it.",
        )
    } else {
        (
            "procedure",
            "No variable and no step uses ",
            ".",
            "If the answer depends on it, let the first step extract it and a later step use it.",
        )
    };
    let mut message = said(case, first, Message::new(nothing));
    if let more @ 1.. = links.missed.len() - 1 {
        message = message.text(" and ").number(more).text(if more == 1 { " other number" } else { " other numbers" });
    }
    message = message.text(" of the question").text(room);
    let mut finding = Finding::new(RuleId::QuantityMissed, message, place(case, first))
        .severity(severity)
        .detail("value", value(first))
        .detail("fault", Datum::Text(Untrusted::from(fault)))
        .help(help);
    for quantity in quantities {
        finding = finding.label(place(case, quantity), "not used either");
    }
    findings.push(finding);
}

fn check_invented(case: &CaseView<'_>, findings: &mut Findings) {
    // A question without numbers is not where the numbers come from.
    let Some(links) = links(case).filter(|links| !links.quantities.is_empty()) else { return };
    let count = links.invented.len();
    let holders = links.invented.iter().filter_map(|&holder| Taken::of(case, *links.holders.get(holder)?));
    for (n, holder) in holders.enumerate().take(TOLD) {
        let (fault, why) = if holder.is_planned() {
            ("procedure", ", as the plan says, but it is not in the question and does not follow from it")
        } else {
            ("step_run", ", which is not in the question and does not follow from it")
        };
        let message = more(holds(&holder).text(why.as_bytes()), n, count);
        let finding = Finding::new(RuleId::QuantityInvented, message, Place::Value(state_pointer(&holder)))
            .severity(judged(case, RuleId::QuantityInvented))
            .label(declared(case, holder.holder), "declared here")
            .detail("fault", Datum::Text(Untrusted::from(fault)))
            .help("Compare it with the question, and re-run the step that extracted it.");
        findings.push(finding);
    }
}

fn check_changed(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(links) = links(case) else { return };
    let count = links.changed.len();
    for (n, changed) in links.changed.iter().enumerate().take(TOLD) {
        let holder = links.holders.get(changed.holder).and_then(|holder| Taken::of(case, *holder));
        let Some((quantity, holder)) = links.quantities.get(changed.quantity).zip(holder) else { continue };
        let fault = if holder.is_planned() { "procedure" } else { "step_run" };
        let says = if changed.planned { ", but the plan and the question say " } else { ", but the question says " };
        let percent = if quantity.kind == Kind::Percent { " %" } else { "" };
        let message = holds(&holder).text(says.as_bytes()).text(quantity.value.to_string().as_bytes()).text(percent);
        let finding =
            Finding::new(RuleId::QuantityChanged, more(message, n, count), Place::Value(state_pointer(&holder)))
                .severity(judged(case, RuleId::QuantityChanged))
                .label(place(case, quantity), "the question says")
                .label(declared(case, holder.holder), "declared here")
                .detail("value", value(quantity))
                .detail("fault", Datum::Text(Untrusted::from(fault)))
                .help("The step that reads the question misread it: re-run it.");
        findings.push(finding);
    }
}

/// The numbers of the expected solution; `None` where there is only a result.
fn working(case: &CaseView<'_>) -> Option<Vec<Quantity>> {
    let gold = case.record.as_ref()?.gold_answer?.string()?;
    let text = gold.bytes();
    let end = memchr::memchr_iter(b'#', text).find(|&at| text.get(at..at + 4) == Some(b"####")).unwrap_or(text.len());
    let numbers = find(text.get(..end)?);
    (numbers.len() >= 2).then_some(numbers)
}

fn said(case: &CaseView<'_>, quantity: &Quantity, message: Message) -> Message {
    let question = Value::text_of(case.record.as_ref().and_then(question_of));
    let text = &question.bytes()[quantity.span.clone()];
    let message = message.text("\"").text(text).text("\"");
    let digits = quantity.value.to_string();
    if text == digits.as_bytes() { message } else { message.text(" (").text(digits.as_bytes()).text(")") }
}

fn holds(holder: &Taken<'_>) -> Message {
    let value = holder.value.raw();
    Message::new("Variable \"").text(holder.name.bytes()).text("\" holds ").text(value.get(..32).unwrap_or(value))
}

fn more(message: Message, n: usize, count: usize) -> Message {
    let message = message.text(".");
    if n + 1 == TOLD && count > TOLD { message.text(" ").number(count - TOLD).text(" more like it.") } else { message }
}

fn value(quantity: &Quantity) -> Datum {
    Datum::Text(Untrusted::from(quantity.value.to_string()))
}

fn state_pointer(holder: &Taken<'_>) -> Pointer {
    Pointer::from_iter(["state"]).then(Part::Key(holder.name.to_owned()))
}

fn declared(case: &CaseView<'_>, holder: LinkedVariable) -> Place {
    let base = case.procedure_pointer();
    let step = Procedure::step_pointer(base, holder.step);
    let output = case.procedure().and_then(|procedure| procedure.steps.get(holder.step));
    Place::Value(output.map_or_else(|| step.clone(), |declaring| declaring.output_pointer(&step, holder.output)))
}

/// Returns the place of a quantity in the record.
fn place(case: &CaseView<'_>, quantity: &Quantity) -> Place {
    let own = case.record.as_ref().is_some_and(|record| record.question.is_some());
    let path: &[&'static str] = if own { &["question"] } else { &["state", "problem_text"] };
    let pointer = path.iter().copied().collect();
    Place::Span { pointer, start: quantity.span.start, end: quantity.span.end }
}
