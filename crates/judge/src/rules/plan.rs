//! Rules of our own about procedures: how a plan should be made, beyond what evoproc's validator looks at. What that one
//! says is in `procedure.rs`, under its own prefix.

use super::procedure::{GOOD, GOOD_TWO_STEPS, check_all, unread};
use crate::case::{Case, CaseView};
use crate::rule::Rule;
use stepscope_arithmetic::expression::{may_hold, plain_signs, worked};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::quantity::fit::converts;
use stepscope_arithmetic::quantity::{Kind, Quantity, find, near};
use stepscope_base::json::{Pointer, Tape, Value};
use stepscope_base::pyload::loads;
use stepscope_base::python::Message;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, head};
use stepscope_record::finding::{Finding, Findings, Place};
use stepscope_record::formats;
use stepscope_record::procedure::{PROBLEM_TEXT, Procedure, Step, UNREAD};
use stepscope_record::rule_id::RuleId;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::PlanNotJson,
        summary: "procedure is not valid JSON",
        explanation: "A population keeps a reply that could not be read as JSON under the key __invalid_json__, in place of a \
            procedure. There is nothing to validate then: evoproc would only say that every key is missing. The finding \
            says where the text stops being JSON, and how it begins. Mostly it was cut at the token limit, or prose \
            surrounds the JSON. Raise the limit or constrain the reply, and generate it again.",
        bad: r#"{"__invalid_json__": "Here is the procedure: {\"NameDescription\": \"Add\", \"steps\": ["}"#,
        good: GOOD,
        check: check_text,
    },
    Rule {
        id: RuleId::FinalStepDescribes,
        summary: "last step reads several values and does not say how to combine them",
        explanation: "The last step reads several variables, but its text only asks to describe or present the answer: no \
            calculation, no choice, no comparison. The model must decide at the last moment how to combine them, and errors \
            are common there. Calculate the answer in a separate step, and let the last step state it.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the numbers", "output": [{"name": "a", "description": "first"}, {"name": "b", "description": "second"}]}, {"id": 2, "inputs": [{"name": "a", "description": "first"}, {"name": "b", "description": "second"}], "stepDescription": "Present the final answer clearly.", "output": [{"name": "final_answer", "description": "the answer"}]}]}"#,
        good: GOOD_TWO_STEPS,
        check: check_final_step_works,
    },
    Rule {
        id: RuleId::ComputedNumber,
        summary: "step of the plan names a number that it computed itself",
        explanation: "A plan says how to calculate; the numbers come when it is run. evoproc's prompt for procedures forbids \
            numeric results in them: a model that plans does not check its arithmetic, and a number that is in the plan \
            replaces what the steps would find, for this question and for every other. The finding names a calculation \
            that gives the number. A number that the question says is no result, nor is a factor between units. Name the \
            variables instead, and let the step calculate.",
        bad: r#"{"NameDescription": "Clips", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the price and the number of pens", "output": [{"name": "price", "description": "dollars a pen"}, {"name": "pens", "description": "number"}]}, {"id": 2, "inputs": [{"name": "price", "description": "dollars"}, {"name": "pens", "description": "number"}], "stepDescription": "Multiply 3 by 4 to get 12", "output": [{"name": "final_answer", "description": "cost"}]}]}"#,
        good: r#"{"NameDescription": "Clips", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the price and the number of pens", "output": [{"name": "price", "description": "dollars a pen"}, {"name": "pens", "description": "number"}]}, {"id": 2, "inputs": [{"name": "price", "description": "dollars"}, {"name": "pens", "description": "number"}], "stepDescription": "Multiply price by pens", "output": [{"name": "final_answer", "description": "cost"}]}]}"#,
        check: check_computed,
    },
    Rule {
        id: RuleId::OnceDescribed,
        summary: "error that evoproc reports only once the missing descriptions are there",
        explanation: "evoproc's validator stops at its typed model: where a description is missing it says \"Field required\", \
            and looks at nothing else. A procedure that lacks nothing but descriptions is read here as if it had them, and \
            what the validator would say next is told at once. Fill in the descriptions and repair the rest in one go; \
            `stepscope repair --without-model` writes them from the names.",
        bad: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "Extract the number", "output": [{"name": "a", "description": "first"}]}, {"id": 2, "inputs": [{"name": "b", "description": "second"}], "stepDescription": "Double it", "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
        good: GOOD_TWO_STEPS,
        check: check_once_described,
    },
];

/// A last step that reads several values and says nothing of what becomes of them.
fn check_final_step_works(case: &CaseView<'_>, findings: &mut Findings) {
    const TELLS: &[&str] = stepscope_base::list![
        describe explain present state report summarize summarise provide return output write give format express answer
        deliver show display phrase formulate
    ];
    const WORKS: [&str; 56] = [
        "add", "sum", "total", "plus", "subtract", "minus", "differ", "remain", "left", "multipl", "product", "times",
        "divid", "quotient", "ratio", "percent", "average", "mean", "comput", "calculat", "determin", "compar",
        "combin", "choos", "select", "pick", "count", "convert", "round", "solve", "deriv", "evaluat", "find", "check",
        "whether", "larg", "small", "more", "less", "max", "min", "if ", "each", "per ", "using", "apply", "use ",
        "join", "concat", "merge", "filter", "sort", "match", "infer", "conclude", "decide",
    ];
    let Some((procedure, record)) = case.valid_procedure().zip(case.record.as_ref()) else { return };
    let Some((position, step)) = procedure.steps.iter().enumerate().next_back() else { return };
    let reads = step.input_names().filter(|name| *name != PROBLEM_TEXT).count();
    let Some(text) = step.text.and_then(Value::string).filter(|_| reads >= 2) else { return };
    let Some(text) = text.utf8() else { return };
    let first = text.trim_start().split(|c: char| !c.is_alphabetic()).next().expect("a split has a first part");
    // Most last steps begin with another verb: the rest is looked at only of those that do not.
    if !TELLS.iter().any(|verb| first.eq_ignore_ascii_case(verb)) {
        return;
    }
    let works = |text: &str| {
        let lower = text.to_lowercase();
        WORKS.iter().any(|word| lower.contains(word)) || may_hold(text.as_bytes())
    };
    let mut described = step.outputs.iter().filter_map(|field| field.description?.string());
    if works(text) || described.any(|text| text.utf8().is_some_and(works)) {
        return;
    }
    let pointer = Procedure::step_pointer(&record.procedure_pointer, position);
    let message =
        format!("The last step reads {reads} variables, but does not say how to combine them into the answer.");
    let help = "Calculate the answer in an earlier step, and let the last step state it.";
    findings.push(Finding::new(RuleId::FinalStepDescribes, message, Place::Value(pointer)).help(help));
}

/// Longest quoted part of a text that is no JSON, in bytes.
const MAX_QUOTED: usize = 160;

fn check_text(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(unread) = unread(case) else { return };
    let text = unread.string();
    let bytes = text.as_ref().map_or(unread.raw(), Untrusted::bytes);
    let mut tape = Tape::default();
    let said =
        loads(&mut tape, bytes).err().map(|said| shown!(": {}", Untrusted::from(said).line())).unwrap_or_default();
    let begins = Shown::line(head(bytes, MAX_QUOTED));
    let more = if bytes.len() > MAX_QUOTED { "…" } else { "" };
    let message = shown!("The procedure is not valid JSON{said}. It begins: {begins}{more}");
    let place = Place::Value(case.procedure_pointer().then(UNREAD));
    findings.push(
        Finding::new(RuleId::PlanNotJson, message.into_string(), place)
            .help("Raise the token limit or constrain the reply, and generate the procedure again."),
    );
}

/// Tells what evoproc's validator says of the procedure once its descriptions are there.
fn check_once_described(case: &CaseView<'_>, findings: &mut Findings) {
    if case.procedure_errors().is_empty() {
        return;
    }
    let Some((text, _)) = case.procedure().and_then(Procedure::described) else { return };
    let base = case.procedure_pointer();
    // The descriptions come last in their objects: what was there keeps its place.
    let under = |place: &Place| match place {
        Place::Key(pointer) => Place::Key(Pointer(base.0.iter().chain(&pointer.0).cloned().collect())),
        place => Place::Value(Pointer(base.0.iter().chain(&place.pointer().0).cloned().collect())),
    };
    let filled = Case::read(text);
    let mut found = Findings::new();
    check_all(&filled.view_as(formats::procedure::FORMAT.read), &mut found);
    for hidden in &found {
        let message = Message::new("Once the descriptions are there: ").text(hidden.message.bytes());
        let finding = Finding::new(RuleId::OnceDescribed, message, under(hidden.place()));
        let labels = hidden.labels().skip(1);
        let finding = labels.fold(finding, |finding, label| finding.label(under(&label.place), label.text.clone()));
        findings.push(
            finding.help("Fill in the descriptions, then repair this; stepscope repair --without-model does both."),
        );
    }
}

/// Signs and words between a calculation and its result.
const IS: [&str; 7] = ["=", "≈", " is ", " equal", " gives ", " makes ", " totals "];
/// Words behind the numbers of a calculation that tell its result.
const GIVES: [&str; 13] = [
    " to get",
    " to obtain",
    " to give",
    " giving",
    " gives",
    " which is",
    " resulting in",
    " results in",
    " equals",
    " yields",
    " makes",
    " for a total of",
    " equal to",
];
/// Beginnings of the words that say how numbers are calculated with.
const CALCULATES: [&str; 14] = [
    "add", "sum", "plus", "subtract", "minus", "take", "differ", "multipl", "times", "product", "divid", "split",
    "double", "halve",
];
/// Verbs with which a step writes a value down.
const SETS: &[&str] = stepscope_base::list![set assign let define initialize initialise store record put write];
/// Words before a number that is written down.
const TO: [&str; 8] = [" to", " as", "=", " be", " is", " equals", " equal to", " value"];
/// Words before what is only an example.
const EXAMPLES: [&str; 5] = ["e.g", "example", "such as", "for instance", "like "];

/// So many characters before a calculation may say that it is only an example.
const EXAMPLE: usize = 40;

/// A step of the plan that names a number which it computed.
fn check_computed(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((procedure, record)) = case.valid_procedure().zip(case.record.as_ref()) else { return };
    for (position, step) in procedure.steps.iter().enumerate() {
        let Some(text) = step.text.and_then(Value::string) else { continue };
        let Some(text) = text.utf8().filter(|text| text.bytes().any(|byte| byte.is_ascii_digit())) else { continue };
        let calculation = calculated(text, case).or_else(|| told(text, case)).or_else(|| set(text, step, case));
        let Some(calculation) = calculation else { continue };
        let place = step.text.map(|text| record.root.pointer_to(text));
        let place = place.unwrap_or_else(|| Procedure::step_pointer(&record.procedure_pointer, position));
        let message = shown!("Step {} of the plan {calculation}.", position + 1);
        let help = "Name the variables in the plan, and let the step calculate when it is run.";
        findings.push(Finding::new(RuleId::ComputedNumber, message.into_string(), Place::Value(place)).help(help));
    }
}

/// Tells whether the question says a number: a step may copy it.
fn is_asked(asked: &[Quantity], number: f64) -> bool {
    asked.iter().any(|quantity| near(quantity.float(), number) || near(quantity.float(), number * 100.0))
}

/// Tells whether what begins here is only an example.
fn is_example(before: &str) -> bool {
    let near: String = before.chars().rev().take(EXAMPLE).collect::<Vec<_>>().into_iter().rev().collect();
    let near = near.to_lowercase();
    EXAMPLES.iter().any(|word| near.contains(word))
}

/// An equation with its result: "3 * 4 = 12".
fn calculated(text: &str, case: &CaseView<'_>) -> Option<Shown> {
    if !IS.iter().any(|is| text.contains(is)) {
        return None;
    }
    let plain = plain_signs(text);
    worked(text).into_iter().find_map(|worked| {
        let says = worked.says.value;
        let before = plain.get(..worked.range.start)?;
        if is_example(before) || is_asked(case.numbers(), says.float()) {
            return None;
        }
        let formula = worked.expression.formula(&|_| String::new());
        Some(shown!("computes a number: {formula} = {}", says.shown()))
    })
}

/// An operation of two numbers, in signs.
fn operation(a: f64, b: f64, gives: f64) -> Option<&'static str> {
    let all = [("+", a + b), ("−", a - b), ("×", a * b), ("÷", a / b)];
    all.into_iter().find(|(_, result)| result.is_finite() && near(*result, gives)).map(|(sign, _)| sign)
}

/// A calculation with its result in words: "Multiply 3 by 4 to get 12".
fn told(text: &str, case: &CaseView<'_>) -> Option<Shown> {
    let lower = text.to_lowercase();
    if !GIVES.iter().any(|words| lower.contains(words)) {
        return None;
    }
    // Letters whose small form has another length move the places.
    if lower.len() != text.len() {
        return None;
    }
    let found = find(lower.as_bytes());
    found.windows(3).find_map(|three| {
        let [a, b, gives] = three else { return None };
        let before = lower.get(..b.span.start)?;
        let between = lower.get(b.span.end..gives.span.start)?;
        let sentence = before.rsplit(['.', ';', '\n']).next().unwrap_or(before);
        let is_told = CALCULATES.iter().any(|word| sentence.contains(word)) && !between.contains(['.', ';', '\n']);
        if !is_told || !GIVES.iter().any(|words| between.contains(words)) || is_example(before) {
            return None;
        }
        if is_asked(case.numbers(), gives.float()) {
            return None;
        }
        let pairs = [(a, b), (b, a)];
        let (formula, gives) = pairs.into_iter().find_map(|(a, b)| formula(a, b, gives.float()))?;
        Some(shown!("computes a number: {formula} = {gives}"))
    })
}

/// The calculation by which two numbers give a third, and that one.
fn formula(a: &Quantity, b: &Quantity, gives: f64) -> Option<(Shown, String)> {
    let sign = operation(a.float(), b.float(), gives)?;
    let gives = Number::from_float(gives)?.shown();
    Some((shown!("{} {sign} {}", a.value.shown(), b.value.shown()), gives))
}

/// A number that is written down, is not in the question, and is what two of its numbers give: "Set cost to 12".
fn set(text: &str, step: &Step<'_>, case: &CaseView<'_>) -> Option<Shown> {
    let first = text.trim_start().split(|c: char| !c.is_alphabetic()).next()?;
    if !SETS.iter().any(|verb| first.eq_ignore_ascii_case(verb)) {
        return None;
    }
    let asked = case.numbers();
    let names = step.outputs.iter().flat_map(|field| [field.name, field.description]).flatten();
    let names =
        names.filter_map(Value::string).fold(text.as_bytes().to_vec(), |all, name| [&all, name.bytes()].join(&b' '));
    find(text.as_bytes()).into_iter().find_map(|number| {
        let value = number.float();
        let before = text.get(..number.span.start)?.trim_end().to_lowercase();
        let is_written = TO.iter().any(|word| before.trim_end_matches('$').trim_end().ends_with(word));
        // Small and round numbers are in every text, and belong to no question.
        let is_usual = [0.0, 1.0, 2.0, 10.0, 100.0, 1000.0].iter().any(|usual| near(*usual, value));
        let is_number = matches!(number.kind, Kind::Number | Kind::Money) && number.sure;
        if !is_written
            || !is_number
            || is_usual
            || is_asked(asked, value)
            || converts(value, &names)
            || is_example(&before)
        {
            return None;
        }
        let counts = |quantity: &&Quantity| {
            quantity.sure && matches!(quantity.kind, Kind::Number | Kind::Money | Kind::Percent | Kind::Multiple)
        };
        let asked: Vec<&Quantity> = asked.iter().filter(counts).collect();
        let pairs = asked
            .iter()
            .enumerate()
            .flat_map(|(n, a)| asked.iter().enumerate().filter(move |(m, _)| *m != n).map(move |(_, b)| (*a, *b)));
        // That these two were meant is not known: others may give the same.
        let (formula, gives) = pairs.into_iter().find_map(|(a, b)| formula(a, b, value))?;
        Some(shown!("names {gives}, which the question does not say; {formula} gives it"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::check_by;

    fn said(question: &str, text: &str) -> Option<String> {
        let plan = format!(
            r#"{{"NameDescription": "x", "steps": [{{"id": 1, "inputs": [{{"name": "problem_text", "description": "t"}}], "stepDescription": "{text}", "output": [{{"name": "final_answer", "description": "d"}}]}}]}}"#
        );
        let record = format!(r#"{{"question": "{question}", "procedure": {plan}, "mode": "procedural"}}"#);
        let case = Case::read(record.into_bytes());
        let found = check_by(&case.view(), |rule| rule == RuleId::ComputedNumber);
        found.iter().next().map(|finding| finding.message.line().into_string())
    }

    #[test]
    fn numbers_of_a_plan_are_results_or_facts() {
        const PENS: &str = "Ann buys 4 pens at $3 each and a bag for $5. How much does she pay?";
        for (question, text, computes) in [
            (PENS, "Set cost to 12", Some("names 12, which the question does not say; 4 × 3 gives it")),
            ("", "Multiply 3 by 4 to get 12", Some("computes a number: 3 × 4 = 12")),
            ("", "Subtract 5 from 20, which is 15 dollars.", Some("computes a number: 20 − 5 = 15")),
            (PENS, "The pens cost 4 * 3 = $12 in all", Some("computes a number: 4 × 3 = 12")),
            // Copied, named, converted, an example, or no result of anything.
            (PENS, "Set pens to 4", None),
            (PENS, "Set cost to 13", None),
            (PENS, "Set price to $3 and pens to 4", None),
            ("", "Set cost to 12", None),
            (PENS, "Set months to 12", None),
            (PENS, "Multiply price by pens", None),
            (PENS, "cost = price * 4", None),
            (PENS, "Add the numbers, e.g. 4 + 3 = 7", None),
            ("12 pens at 3 dollars, 4 each?", "Set pens to 12", None),
            ("", "Divide by 60 to get hours", None),
            ("", "Extract 3 numbers, multiply by 4 and compare to 12", None),
            ("", "Round to 2 decimals", None),
        ] {
            let expected = computes.map(|formula| format!("Step 1 of the plan {formula}."));
            assert_eq!(said(question, text), expected, "{text}");
        }
    }

    #[test]
    fn what_missing_descriptions_hide_is_told_at_its_place() {
        let record =
            br#"{"id": 1, "question": "q", "mode": "procedural", "procedure": {"NameDescription": "x", "steps": [
            {"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "s", "output": [{"name": "a"}]},
            {"id": 2, "inputs": [{"name": "b"}], "stepDescription": "s", "output": [{"name": "a"}]}]}}"#;
        let case = Case::read(record.as_slice());
        let found = check_by(&case.view(), |rule| rule == RuleId::OnceDescribed);
        let said: Vec<_> = found.iter().map(|finding| finding.message.line().into_string()).collect();
        let said: Vec<_> =
            said.iter().map(|said| said.trim_start_matches("Once the descriptions are there: ")).collect();
        assert_eq!(
            said,
            [
                "Final step must produce exactly ['final_answer'].",
                "Input 'b' of Step 2 is not produced by any prior step.",
                "Avoid re-defining existing variables at Step 2: ['a']",
                "Remove unused outputs at Step 1: ['a']",
                "Remove unused outputs at Step 2: ['a']",
            ]
        );
        let mut tape = Tape::default();
        let root = tape.parse(record).unwrap();
        for finding in &found {
            assert!(finding.labels().all(|label| root.find(&label.place.pointer()).is_some()), "{finding:?}");
        }
    }
}
