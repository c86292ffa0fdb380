//! Replies of a model against what the record says came of them.

use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::quantity::find;
use stepscope_base::json::{Kind, Part, Pointer, Tape, Value};
use stepscope_base::python::Message;
use stepscope_base::text::Untrusted;
use stepscope_evidence::difference::first_difference;
use stepscope_record::finding::{Finding, Findings, Place, Severity};
use stepscope_record::procedure::{FINAL_ANSWER_NUMERICAL, PROBLEM_TEXT};
use stepscope_record::reply::{Stop, lost_command, parts};
use stepscope_record::rule_id::RuleId;
use stepscope_record::trace::{MAX_CALLS, asks_otherwise, overrides};
use stepscope_record::{Record, RecordKind};

/// Maximum number of findings of one rule in a record.
const ENOUGH: usize = 12;
/// Maximum length of a reply in prose in which numbers are looked for, in bytes.
const MAX_PROSE: usize = 20_000;
/// Maximum number of values in which lost backslashes are looked for.
const MAX_VALUES: usize = 10_000;
/// Maximum number of variables whose last values are compared with the final state.
const MAX_NAMES: usize = 1_000;
/// Keys that say why the model stopped.
const STOPS: [&str; 3] = ["finish_reason", "stop_reason", "done_reason"];

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ReplyDiffers,
        summary: "recorded reply differs from the values taken from it",
        explanation: "A run keeps what the model replied and what was taken from it: the outputs of a step, the state, the \
            answer of a baseline. If the reply says another value, the record was edited, repaired, or read wrongly, and \
            what is judged is not what the model said. Only keys that the reply has are compared; order and spelling of \
            numbers do not matter. A baseline that replies in prose must say its number somewhere.",
        bad: r#"{"id": 1, "question": "?", "mode": "baseline", "state": {"final_answer": "46", "final_answer_numerical": 46}, "raw": "{\"final_answer\": \"44\", \"final_answer_numerical\": 44}"}"#,
        good: r#"{"id": 1, "question": "?", "mode": "baseline", "state": {"final_answer": "46", "final_answer_numerical": 46}, "raw": "{\"final_answer\": \"46\", \"final_answer_numerical\": 46.0}"}"#,
        check: reply_differs,
    },
    Rule {
        id: RuleId::ReplyCut,
        summary: "reply was cut off",
        explanation: "The server stopped the reply at its token limit, or the reply ends inside its JSON. Values that were \
            taken from it may lack their end: 1 instead of 10, or a list with fewer items. If the JSON is whole all the \
            same, this is a note. Raise the limit and run the step again.",
        bad: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": null, "state": {"a": 10}, "trace": {"format": "stepscope.run_trace", "version": 1, "steps": [{"step_index": 0, "raw": "{\"a\": 1", "outputs": {"a": 10}, "finish_reason": "length"}]}}"#,
        good: r#"{"id": 1, "question": "?", "mode": "procedural", "procedure": null, "state": {"a": 10}, "trace": {"format": "stepscope.run_trace", "version": 1, "steps": [{"step_index": 0, "raw": "{\"a\": 10}", "outputs": {"a": 10}, "finish_reason": "stop"}]}}"#,
        check: reply_cut,
    },
    Rule {
        id: RuleId::QuestionDiffers,
        summary: "steps read another question than the record names",
        explanation: "The steps of a run read the question as `problem_text`. If that is not the question of the record, the \
            run answered something else, often a question that was cut, and its expected answer belongs to another. Text \
            around the question is no difference.",
        bad: r#"{"id": 1, "question": "A pen costs 2 and a book 5. What do both cost?", "mode": "procedural", "procedure": null, "state": {"problem_text": "A pen costs 2 and a", "final_answer": "7"}}"#,
        good: r#"{"id": 1, "question": "A pen costs 2 and a book 5. What do both cost?", "mode": "procedural", "procedure": null, "state": {"problem_text": "A pen costs 2 and a book 5.\nWhat do both cost?", "final_answer": "7"}}"#,
        check: question_differs,
    },
    Rule {
        id: RuleId::LostBackslash,
        summary: "control character where a LaTeX command was written",
        explanation: "In JSON \\f, \\t and \\b are a form feed, a tab and a backspace. A model that writes \\frac, \\times or \
            \\boxed without doubling the backslash gives JSON that every reader takes, with a control character and the \
            rest of the command in it. The value shown and compared is then not what the model meant.",
        bad: r#"{"id": 1, "question": "?", "mode": "baseline", "state": {"final_answer": "\frac{1}{2}"}, "raw": "x"}"#,
        good: r#"{"id": 1, "question": "?", "mode": "baseline", "state": {"final_answer": "\\frac{1}{2}"}, "raw": "x"}"#,
        check: lost_backslash,
    },
    Rule {
        id: RuleId::NotPassed,
        summary: "a verifier says why the reply failed",
        explanation: "A completion that a verifier or an assertion failed keeps the reason next to its reward. It is \
            repeated as it was recorded; whether it is right, the verifier knows. Completions that passed, and failed \
            ones without a reason, say nothing.",
        bad: r#"{"prompt": "2 + 3?", "completion": "6", "reward": 0.0, "success": false, "details": "Expected 5"}"#,
        good: r#"{"prompt": "2 + 3?", "completion": "5", "reward": 1.0, "success": true, "details": "Matched"}"#,
        check: not_passed,
    },
];

/// A recorded reply, and what was taken from it.
#[derive(Clone, Copy)]
struct Replied<'a> {
    /// Position of the call in the trace; `None`: the whole run is one reply.
    entry: Option<usize>,
    /// The call, or the whole run.
    value: Value<'a>,
    raw: Option<Value<'a>>,
    outputs: Option<Value<'a>>,
}

impl<'a> Replied<'a> {
    fn of_call(entry: usize, value: Value<'a>) -> Self {
        let (mut raw, mut outputs) = (None, None);
        for member in value.members() {
            match member.key.plain_string() {
                Some(b"raw") => raw = Some(member.value),
                Some(b"outputs") => outputs = Some(member.value),
                _ => {}
            }
        }
        Self { entry: Some(entry), value, raw: raw.filter(is_text), outputs: outputs.filter(is_object) }
    }

    fn of_run(record: &Record<'a>) -> Self {
        let (raw, outputs) = (record.raw.filter(is_text), record.state.filter(is_object));
        Self { entry: None, value: record.root, raw, outputs }
    }

    fn keys(&self) -> Vec<Untrusted<'a>> {
        self.outputs.into_iter().flat_map(Value::members).map(|member| member.name()).collect()
    }

    /// Returns why the model stopped, as the server said it.
    fn stop(&self) -> Option<Stop> {
        STOPS.iter().find_map(|key| text(self.value.get(key))).map(|stop| Stop::named(&stop))
    }

    /// Returns the position of the outputs in the record.
    fn outputs_pointer(&self) -> Pointer {
        self.entry.map_or_else(
            || Pointer::from_iter(["state"]),
            |entry| Pointer::from_iter(["trace", "steps"]).then(entry).then("outputs"),
        )
    }

    /// Returns the position of the reply in the record, or of what holds it.
    fn pointer(&self, record: &Record<'_>) -> Pointer {
        record.root.pointer_to(self.raw.unwrap_or(self.value))
    }

    /// Names the reply at the beginning of a sentence.
    fn subject(&self) -> String {
        let Some(entry) = self.entry else { return "The reply".to_owned() };
        let step: usize = self.value.get("step_index").and_then(Value::whole).unwrap_or(entry);
        format!("The reply to step {}", step.saturating_add(1))
    }

    /// Tells by a look at the text whether its last mention of each output has the value that was taken.
    fn says_all(&self) -> bool {
        let (Some(raw), Some(outputs)) = (self.raw, self.outputs) else { return false };
        outputs.members().all(|member| says(raw.raw(), member.key.raw(), member.value))
    }
}

/// Tells whether a JSON string that holds JSON has a plain value behind the last place of a key.
fn says(text: &[u8], key: &[u8], value: Value<'_>) -> bool {
    let inside = |quoted: &'_ [u8]| quoted[1..quoted.len() - 1].to_vec();
    let wanted = match value.kind() {
        Kind::String if memchr::memchr(b'\\', value.raw()).is_none() => {
            [br#"\""#, inside(value.raw()).as_slice(), br#"\""#].concat()
        }
        Kind::Int | Kind::Float | Kind::True | Kind::False => value.raw().to_vec(),
        _ => return false,
    };
    let key = [br#"\""#, inside(key).as_slice(), br#"\":"#].concat();
    let Some(at) = memchr::memmem::rfind(text, &key) else { return false };
    let rest = text[at + key.len()..].trim_ascii_start();
    let next = rest.strip_prefix(wanted.as_slice()).and_then(|rest| rest.first());
    next.is_some_and(|next| matches!(next, b',' | b'}' | b' ' | b'\\'))
}

fn is_text(value: &Value<'_>) -> bool {
    value.kind() == Kind::String
}

fn is_object(value: &Value<'_>) -> bool {
    value.kind() == Kind::Object
}

fn text(value: Option<Value<'_>>) -> Option<Untrusted<'_>> {
    value.filter(is_text)?.string()
}

/// Every recorded reply of a run: of its steps, else its only one.
fn replies<'a>(record: &Record<'a>) -> impl Iterator<Item = Replied<'a>> {
    let calls = record.trace_steps.into_iter().flat_map(Value::items).take(MAX_CALLS).enumerate();
    let is_alone = record.raw.is_some() && record.trace_steps.is_none_or(Value::is_empty);
    let alone = is_alone.then(|| Replied::of_run(record));
    calls.map(|(entry, call)| Replied::of_call(entry, call)).chain(alone)
}

fn reply_differs(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    let mut count = 0;
    for replied in replies(record) {
        let (Some(raw), Some(outputs)) = (text(replied.raw), replied.outputs) else { continue };
        if replied.says_all() {
            continue;
        }
        let keys = replied.keys();
        let parts = parts(raw.bytes(), &keys);
        let mut tape = Tape::default();
        let object = tape.parse(parts.text(raw.bytes())).filter(|object| object.kind() == Kind::Object);
        let Some(object) = object.filter(|_| parts.objects > 0) else {
            if let Some(message) = number_is_not_said(record, replied, &raw) {
                let place = Place::Value(record.number_pointer());
                findings.push(Finding::new(RuleId::ReplyDiffers, message, place).severity(Severity::Note).help(HELP));
            }
            continue;
        };
        for member in outputs.members() {
            let Some(said) = object.member_spelt(member.name().bytes()) else { continue };
            let mut pointer = Pointer::default().then(Part::Key(member.name().into_owned()));
            let Some(difference) = first_difference(member.value, said.value, &mut pointer) else { continue };
            let at = Pointer(replied.outputs_pointer().0.into_iter().chain(pointer.0).collect());
            let saved = if replied.entry.is_some() { "the output" } else { "the state" };
            let (message, place) = (difference.told(saved), Place::Value(at));
            let label = Place::Value(replied.pointer(record));
            findings.push(Finding::new(RuleId::ReplyDiffers, message, place).label(label, "the reply").help(HELP));
            count += 1;
            if count == ENOUGH {
                return;
            }
        }
    }
    state_differs(record, findings);
}

const HELP: &str = "Find out who changed the value, or run the step again.";

/// Compares what a trace says was written last with the final state.
fn state_differs(record: &Record<'_>, findings: &mut Findings) {
    let state = record.state.filter(|state| state.kind() == Kind::Object && record.trace_fork.is_none());
    let Some((state, steps)) = state.zip(record.trace_steps).filter(|_| record.kind != RecordKind::Error) else {
        return;
    };
    let calls: Vec<Value<'_>> = steps.items().take(MAX_CALLS).collect();
    // What a person set after it was written is no step's value.
    let mut seen: Vec<Untrusted<'_>> = overrides(record).map(|set| set.variable).collect();
    let mut count = 0;
    for (entry, call) in calls.iter().enumerate().rev() {
        let outputs = call.get("outputs").filter(|outputs| outputs.kind() == Kind::Object);
        for member in outputs.into_iter().flat_map(Value::members) {
            let name = member.name();
            if seen.len() >= MAX_NAMES || seen.contains(&name) {
                continue;
            }
            seen.push(name.clone());
            let held = state.member_spelt(name.bytes()).filter(|held| held.value.raw() != member.value.raw());
            let Some(held) = held else { continue };
            let mut pointer = Pointer::default().then(Part::Key(name.into_owned()));
            let Some(difference) = first_difference(held.value, member.value, &mut pointer) else { continue };
            let (message, place) = (difference.told("the final state"), Place::Value(joined("state", &pointer)));
            let written = Place::Value(Pointer::from_iter(["trace", "steps"]).then(entry).then("outputs"));
            findings.push(Finding::new(RuleId::ReplyDiffers, message, place).label(written, "written last").help(HELP));
            count += 1;
            if count == ENOUGH {
                return;
            }
        }
    }
}

fn joined(key: &'static str, pointer: &Pointer) -> Pointer {
    Pointer(std::iter::once(Part::from(key)).chain(pointer.0.iter().cloned()).collect())
}

/// Says that a reply in prose has numbers, and the number of the answer is none of them.
fn number_is_not_said(record: &Record<'_>, replied: Replied<'_>, raw: &Untrusted<'_>) -> Option<String> {
    let number = replied.outputs.filter(|_| replied.entry.is_none())?.get(FINAL_ANSWER_NUMERICAL);
    let number = Number::from_float(number.or(record.pred_num)?.float()?)?;
    let text = raw.bytes();
    if text.len() > MAX_PROSE || text.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let said = find(text);
    let hundred = Number::whole(100);
    let scaled = [Some(number), number.times(hundred), number.over(hundred), Some(number.negated())];
    let is_said = said.iter().any(|said| scaled.iter().flatten().any(|number| said.value.is_near(*number)));
    let last = said.last().filter(|_| !is_said)?;
    Some(format!(
        "The reply nowhere says {}, the number of the answer; its last number is {}.",
        number.shown(),
        last.value.shown()
    ))
}

fn reply_cut(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    for replied in replies(record).take(MAX_CALLS) {
        let is_at_limit = replied.stop() == Some(Stop::Length);
        // A completion may be any text, and most replies end as JSON ends.
        let is_json = record.kind != RecordKind::Call && replied.outputs.is_some();
        let raw = replied.raw.filter(|raw| is_json && (is_at_limit || !ends_as_json(raw.raw())));
        let parts = text(raw).map(|raw| parts(raw.bytes(), &replied.keys()));
        let is_cut = parts.as_ref().is_some_and(|parts| parts.is_cut);
        let is_whole = parts.is_some_and(|parts| parts.objects > 0 && !parts.is_cut);
        let what = match (is_at_limit, is_cut) {
            (false, false) => continue,
            (_, true) => " breaks off inside its JSON",
            (true, false) if is_whole => " ended at the token limit, behind whole JSON",
            (true, false) => " ended at the token limit",
        };
        let has_outputs = replied.outputs.is_some_and(|outputs| !outputs.is_empty());
        let taken = if is_cut && has_outputs { ", but values were taken from it" } else { "" };
        let message = Message::default().text(replied.subject()).text(what).text(taken).text(".");
        let severity = if is_whole { Severity::Note } else { RuleId::ReplyCut.severity() };
        let place = Place::Value(replied.pointer(record));
        let help = "Raise the token limit, and run it again.";
        findings.push(Finding::new(RuleId::ReplyCut, message, place).severity(severity).help(help));
    }
}

/// Tells whether a JSON string ends with a brace or a code fence.
fn ends_as_json(text: &[u8]) -> bool {
    text.ends_with(b"}\"") || text.ends_with(b"`\"")
}

fn not_passed(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = case.record.as_ref().filter(|record| record.kind == RecordKind::Call) else { return };
    let failed = record.correct == Some(false);
    let Some(details) = record.details.filter(|details| failed && details.kind() == Kind::String) else { return };
    let Some(reason) = details.string().filter(|reason| !reason.bytes().trim_ascii().is_empty()) else { return };
    let message = Message::new("The verifier says: ").text(reason.bytes());
    let place = Place::Value(record.root.pointer_to(details));
    let finding = Finding::new(RuleId::NotPassed, message, place);
    let finding = match record.raw {
        Some(raw) => finding.label(Place::Value(record.root.pointer_to(raw)), "the reply"),
        None => finding,
    };
    findings.push(finding.help("Look at the reply, and at what the verifier asks for."));
}

fn question_differs(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    let read = record.state.and_then(|state| state.get(PROBLEM_TEXT));
    if record.question.zip(read).is_none_or(|(asked, read)| asked.raw() == read.raw()) {
        return;
    }
    let (Some(asked), Some(read)) = (text(record.question), text(read)) else { return };
    if asked.bytes() == read.bytes() || asks_otherwise(record) || is_written(case, record) {
        return;
    }
    let (asked, read) = (words(asked.bytes()), words(read.bytes()));
    if asked.is_empty() || contains(&read, &asked) {
        return;
    }
    let message = if read.is_empty() {
        "Variable problem_text is empty: the steps did not read the question of the record."
    } else if contains(&asked, &read) {
        "Variable problem_text is only a part of the question: it was cut."
    } else {
        "Variable problem_text is another question than that of the record."
    };
    let place = Place::Value(Pointer::from_iter(["state", PROBLEM_TEXT]));
    let finding = Finding::new(RuleId::QuestionDiffers, message.to_owned(), place);
    let question = record.question.map(|question| Place::Value(record.root.pointer_to(question)));
    let finding = match question {
        Some(question) => finding.label(question, "the question"),
        None => finding,
    };
    findings.push(finding.help("Run it again with the question, or give the record the question that was asked."));
}

/// Tells whether a step writes `problem_text`: what the first steps read is then not what the state holds.
fn is_written(case: &CaseView<'_>, record: &Record<'_>) -> bool {
    let steps = case.procedure().into_iter().flat_map(|procedure| &procedure.steps);
    let declares =
        steps.flat_map(|step| &step.outputs).any(|output| output.name.is_some_and(|name| name.is_string(PROBLEM_TEXT)));
    let calls = record.trace_steps.into_iter().flat_map(Value::items).take(MAX_CALLS);
    let writes = calls.filter_map(|call| call.get("outputs")).any(|outputs| outputs.get(PROBLEM_TEXT).is_some());
    declares || writes
}

/// A text without what layout and quotation marks change.
fn words(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).map(u8::to_ascii_lowercase).collect()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

fn lost_backslash(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    let values = record.answer.or(record.chain.as_ref().map(|chain| chain.steps));
    let Some(values) = values.filter(|values| memchr::memchr(b'\\', values.raw()).is_some()) else { return };
    let texts = values.walk().take(MAX_VALUES).map(|stop| stop.value).filter(|value| value.kind() == Kind::String);
    let texts = texts.filter(|value| memchr::memchr(b'\\', value.raw()).is_some());
    let lost = texts.filter_map(|value| Some((value, lost_command(value.string()?.bytes())?)));
    for (value, command) in lost.take(ENOUGH) {
        let message = format!("The text has a control character where {command} was written.");
        let place = Place::Value(record.root.pointer_to(value));
        let help = "Have the backslashes of LaTeX doubled in JSON.";
        findings.push(Finding::new(RuleId::LostBackslash, message, place).help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::case::Case;
    use stepscope_record::rule_id::RuleId;

    fn said(text: &str) -> Vec<String> {
        let case = Case::read(text.as_bytes());
        let about = [RuleId::ReplyDiffers, RuleId::ReplyCut, RuleId::QuestionDiffers, RuleId::LostBackslash];
        let view = case.view();
        let found = view.findings().iter().filter(|finding| about.contains(&finding.rule));
        found
            .map(|finding| format!("{}: {}", finding.place().pointer().text().line(), finding.message.line()))
            .collect()
    }

    fn step(raw: &str, outputs: &str, more: &str) -> String {
        let raw = serde_json::to_string(raw).unwrap();
        format!(
            r#"{{"id": 1, "question": "?", "mode": "procedural", "procedure": null, "state": {{"a": 10}}, "trace": {{"steps":
            [{{"step_index": 2, "raw": {raw}, "outputs": {outputs}{more}}}]}}}}"#
        )
    }

    #[test]
    fn a_reply_is_compared_with_what_was_taken_from_it() {
        assert_eq!(
            said(&step(r#"<think>{"a": 10}</think>{"a": 11}"#, r#"{"a": 10}"#, "")),
            ["/trace/steps/0/outputs/a: The model wrote 11, but the output says 10."]
        );
        for same in [r#"{"a": 10.0, "b": 3}"#, r#"Sure: {"a": "10"}"#, r#"{"b": 1}"#, "ten", ""] {
            assert_eq!(said(&step(same, r#"{"a": 10}"#, "")), [""; 0], "{same}");
        }
        assert_eq!(
            said(&step(r#"{"a": 9}"#, r#"{"a": 9}"#, "")),
            ["/state/a: The model wrote 9, but the final state says 10."]
        );
    }

    #[test]
    fn a_cut_reply_is_told_from_one_that_only_reached_the_limit() {
        assert_eq!(
            said(&step(r#"{"a": 1"#, r#"{"a": 10}"#, "")),
            ["/trace/steps/0/raw: The reply to step 3 breaks off inside its JSON, but values were taken from it."]
        );
        assert_eq!(
            said(&step(r#"{"a": 10}"#, r#"{"a": 10}"#, r#", "finish_reason": "MAX_TOKENS""#)),
            ["/trace/steps/0/raw: The reply to step 3 ended at the token limit, behind whole JSON."]
        );
        assert_eq!(said(&step(r#"{"a": 10}"#, r#"{"a": 10}"#, r#", "finish_reason": "stop""#)), [""; 0]);
    }

    #[test]
    fn prose_that_says_the_number_is_no_contradiction() {
        let baseline = |raw: &str| {
            let raw = serde_json::to_string(raw).unwrap();
            said(&format!(
                r#"{{"id": 1, "question": "?", "mode": "baseline", "state": {{"final_answer": "46", "final_answer_numerical": 46}}, "raw": {raw}}}"#
            ))
        };
        for same in ["36 + 10 = 46, in 2 days", "It is forty-six.", "So be it.", "46%"] {
            assert_eq!(baseline(same), [""; 0], "{same}");
        }
        assert_eq!(
            baseline("It is 44."),
            [
                "/state/final_answer_numerical: The reply nowhere says 46, the number of the answer; its last number is 44."
            ]
        );
    }

    #[test]
    fn words_around_a_question_are_no_other_question() {
        let read = |text: &str| {
            said(&format!(
                r#"{{"id": 1, "question": "What is 2 + 3?", "mode": "procedural", "procedure": null, "state": {{"problem_text": "{text}"}}}}"#
            ))
        };
        assert_eq!(read("Solve this: What is  2 + 3? Think."), [""; 0]);
        assert_eq!(read("What is 2").len(), 1);
        assert_eq!(read("What is 4 + 3?").len(), 1);
    }
}
