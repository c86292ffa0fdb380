//! The answer against what it was made of: the raw response, and the page that the model did not see.

use super::super::{Rule, RuleId};
use super::Report;
use crate::answer::truncation::TruncationVerdict;
use crate::answer::typed::{BASE_FIELDS, has_fields, is_rich};
use crate::case::CaseView;
use crate::finding::{Findings, Place};
use stepscope_base::json::{Kind, Member, Part, Pointer, Tape, Value};
use stepscope_base::python::{Message, repr};
use stepscope_base::text::{Untrusted, head};

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::AnswerDiffersFromRawResponse,
        summary: "answer differs from the model's raw response",
        explanation: "The raw response holds the answer as the model wrote it, and it says something else: the answer was \
            edited later, belongs to another run, or changed while it was read. Changes that every reader makes are \
            ignored: order, null for a missing field, `1.0` for `1`, fields that the contract does not have.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "answer": {"answer_found": true, "confidence": 0.9, "items": [{"text": "USD 250", "spans": []}]}, "meta": {"raw_response": {"output": [{"content": [{"type": "output_text", "text": "{\"answer_found\": true, \"confidence\": 0.9, \"items\": [{\"text\": \"USD 350\", \"spans\": []}]}"}]}]}}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "answer": {"answer_found": true, "confidence": 0.9, "items": [{"text": "USD 350", "spans": []}]}, "meta": {"raw_response": {"output": [{"content": [{"type": "output_text", "text": "{\"answer_found\": true, \"confidence\": 0.90, \"items\": [{\"text\": \"USD 350\", \"spans\": []}]}"}]}]}}}"#,
        check: check_raw,
    },
    Rule {
        id: RuleId::ListTruncatedNextPage,
        summary: "list continues on a page that the model did not see",
        explanation: "The list continues on the page after the last that the model saw: the next letter or number, another \
            bullet, the rest of a sentence. The answer can be right in every line and still be incomplete. Retrieve that \
            page too, and re-run the call.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "parsed_question": {"expected_answer_shape": "list"}, "retrieved_pages": [{"page_num": 5}], "document": {"lines": [{"page_num": 5, "line_num": 1, "text": "(a) wear;"}, {"page_num": 5, "line_num": 2, "text": "(b) theft."}, {"page_num": 6, "line_num": 1, "text": "(c) flood."}]}, "answer": {"answer_found": true, "items": [{"text": "wear", "spans": [{"line_start": 0, "line_end": 0}]}, {"text": "theft", "spans": [{"line_start": 1, "line_end": 1}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "parsed_question": {"expected_answer_shape": "list"}, "retrieved_pages": [{"page_num": 5}], "document": {"lines": [{"page_num": 5, "line_num": 1, "text": "(a) wear;"}, {"page_num": 5, "line_num": 2, "text": "(b) theft."}, {"page_num": 6, "line_num": 1, "text": "Section 5. Limits"}]}, "answer": {"answer_found": true, "items": [{"text": "wear", "spans": [{"line_start": 0, "line_end": 0}]}, {"text": "theft", "spans": [{"line_start": 1, "line_end": 1}]}]}}"#,
        check: check_truncated,
    },
];

/// So much of a value is quoted.
const MAX_QUOTED: usize = 60;

fn check_truncated(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((_, answered)) = case.answered() else { return };
    let Some(truncation) = case.truncation().filter(|found| found.verdict == TruncationVerdict::Truncated) else {
        return;
    };
    let Some(last) = answered.items.last() else { return };
    let place = last.citations.last().map_or(&last.pointer, |citation| &citation.pointer);
    let number = truncation.line.and_then(|line| case.document()?.number(line));
    let page = number.map(|(page, line)| format!(" (page {page}, line {line})")).unwrap_or_default();
    let reason = truncation.reason.bytes();
    let message = Message::default().text(reason.strip_suffix(b".").unwrap_or(reason)).text(page).text(".");
    let help = "Give the model the next page too: the answer cannot be complete.";
    Report::new(RuleId::ListTruncatedNextPage, help, findings).add(message, Place::Value(place.clone()));
}

fn check_raw(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(typed) = case.typed() else { return };
    let Some(answer) = typed.answer.filter(|answer| answer.kind() == Kind::Object) else { return };
    let Some(text) = typed.meta.and_then(|meta| raw_text(meta.get("raw_response")?)) else { return };
    let mut tape = Tape::default();
    let Some(raw) = tape.parse(object_in(text.bytes())).filter(|raw| is_rich(*raw) || has_fields(*raw)) else { return };
    let mut pointer = Pointer::default();
    if let Some(difference) = first_difference(answer, raw, &mut pointer) {
        let help = "Find out why they differ: the answer was edited, or belongs to another run.";
        let at = Pointer(typed.pointer.0.iter().chain(&pointer.0).cloned().collect());
        let (message, place) = difference.told(at);
        Report::new(RuleId::AnswerDiffersFromRawResponse, help, findings).add(message, place);
    }
}

/// The text that the model wrote, in the shapes that servers have: a Responses-API object, a chat completion, a text.
fn raw_text(raw: Value<'_>) -> Option<Untrusted<'static>> {
    let mut text = Vec::new();
    let parts = raw.get("output").into_iter().flat_map(Value::items).filter_map(|output| output.get("content"));
    for part in
        parts.flat_map(Value::items).filter(|part| part.get("type").is_none_or(|kind| kind.is_string("output_text")))
    {
        text.extend_from_slice(part.get("text")?.string()?.bytes());
    }
    if text.is_empty() {
        let message = raw.get("choices").and_then(|choices| choices.items().next()?.get("message")?.get("content"));
        let plain = message.or(raw.get("output_text")).or(raw.get("response")).or(raw.get("text")).unwrap_or(raw);
        text.extend_from_slice(plain.string()?.bytes());
    }
    (!text.is_empty()).then(|| Untrusted::owned(text))
}

/// The outermost braces in a text: without what a model thought before, and the fence around.
fn object_in(text: &[u8]) -> &[u8] {
    let thought = memchr::memmem::rfind(text, b"</think>").map_or(0, |at| at + 8);
    let text = text.get(thought..).unwrap_or_default();
    let (start, end) = (memchr::memchr(b'{', text), memchr::memrchr(b'}', text));
    start.zip(end).and_then(|(start, end)| text.get(start..=end)).unwrap_or_default()
}

/// Difference between the answer and the raw response.
enum Difference {
    /// Both values, as they are written.
    Values(Vec<u8>, Vec<u8>),
    /// A field that only the raw response has.
    Lost(Untrusted<'static>),
}

impl Difference {
    fn told(self, at: Pointer) -> (Message, Place) {
        match self {
            Self::Values(here, raw) => {
                let message =
                    Message::new("The model wrote ").text(raw).text(", but the answer says ").text(here).text(".");
                (message, Place::Value(at))
            }
            Self::Lost(name) => {
                let message = Message::new("The model wrote a field \"")
                    .text(name.bytes())
                    .text("\" that the answer does not have.");
                (message, Place::Value(at))
            }
        }
    }
}

/// The first difference in the order of the answer; `pointer` is left where it stands.
fn first_difference(here: Value<'_>, raw: Value<'_>, pointer: &mut Pointer) -> Option<Difference> {
    match (here.kind(), raw.kind()) {
        (Kind::Object, Kind::Object) => members_differ(here, raw, pointer),
        (Kind::Array, Kind::Array) if here.len() == raw.len() => {
            for (n, (here, raw)) in here.items().zip(raw.items()).enumerate() {
                pointer.0.push(Part::Index(n));
                if let Some(difference) = first_difference(here, raw, pointer) {
                    return Some(difference);
                }
                pointer.0.pop();
            }
            None
        }
        _ if is_same(here, raw) => None,
        _ => Some(Difference::Values(quoted(here), quoted(raw))),
    }
}

fn members_differ(here: Value<'_>, raw: Value<'_>, pointer: &mut Pointer) -> Option<Difference> {
    let (own, mut theirs) = (here.entries(), raw.entries());
    theirs.sort_by_key(Member::name);
    let find = |name: &Untrusted<'_>| {
        let at = theirs.binary_search_by(|member| member.name().cmp(name)).ok()?;
        theirs.get(at).map(|member| member.value)
    };
    for member in &own {
        let name = member.name();
        pointer.0.push(Part::Key(name.to_owned()));
        let difference = match find(&name) {
            Some(raw) => first_difference(member.value, raw, pointer),
            None if member.value.is_null() => None,
            None => Some(Difference::Values(quoted(member.value), b"nothing".to_vec())),
        };
        if difference.is_some() {
            return difference;
        }
        pointer.0.pop();
    }
    let mut names: Vec<_> = own.iter().map(Member::name).collect();
    names.sort();
    let lost = theirs.iter().filter(|member| !member.value.is_null() && names.binary_search(&member.name()).is_err());
    // Lenient readers drop fields that the contract does not have.
    let is_ours = |name: &str| BASE_FIELDS.contains(&name) || name == "items";
    let mut lost = lost.filter(|member| !pointer.0.is_empty() || member.name().utf8().is_some_and(is_ours));
    lost.next().map(|member| Difference::Lost(member.name().into_owned()))
}

/// Equal, but for how numbers are written.
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    let number = |value: Value<'_>| value.float().or_else(|| value.string()?.utf8()?.trim().parse().ok());
    match (a.kind(), b.kind()) {
        (Kind::String, Kind::String) => a.string() == b.string(),
        (Kind::True | Kind::False | Kind::Null, _) | (_, Kind::True | Kind::False | Kind::Null) => a.kind() == b.kind(),
        _ => number(a)
            .zip(number(b))
            .is_some_and(|(a, b)| a.total_cmp(&b).is_eq() || (a - b).abs() <= f64::EPSILON * a.abs()),
    }
}

fn quoted(value: Value<'_>) -> Vec<u8> {
    if value.is_container() {
        let what: &[u8] = if value.kind() == Kind::Array { b" items" } else { b" fields" };
        return [value.len().to_string().as_bytes(), what].concat();
    }
    let mut out = Vec::new();
    repr(value, &mut out);
    if out.len() > MAX_QUOTED {
        out = [head(&out, MAX_QUOTED), "…".as_bytes()].concat();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(here: &str, raw: &str) -> Option<(String, String)> {
        let (mut a, mut b) = (Tape::default(), Tape::default());
        let (here, raw) = (a.parse(here.as_bytes()).unwrap(), b.parse(raw.as_bytes()).unwrap());
        let mut pointer = Pointer::default();
        let found = first_difference(here, raw, &mut pointer)?;
        let (message, _) = found.told(pointer.clone());
        let message: Untrusted<'_> = message.into();
        Some((pointer.text().line().into_string(), message.line().into_string()))
    }

    #[test]
    fn only_what_says_something_else_is_a_difference() {
        let same = [
            (r#"{"a": 1, "b": null}"#, r#"{"a": 1.0}"#),
            (r#"{"a": 1}"#, r#"{"notes": "x", "a": "1"}"#),
            (r#"{"items": [{"x": {"y": [1]}}]}"#, r#"{"items": [{"x": {"y": [1.0], "unit": null}}]}"#),
            (r#"{"a": NaN}"#, r#"{"a": NaN}"#),
        ];
        for (here, raw) in same {
            assert_eq!(difference(here, raw), None, "{here} {raw}");
        }
        let other = [
            (
                r#"{"items": [{"a": "x"}, {"a": "y"}]}"#,
                r#"{"items": [{"a": "x"}]}"#,
                "/items",
                "The model wrote 1 items, but the answer says 2 items.",
            ),
            (r#"{"a": {"b": true}}"#, r#"{"a": {"b": 1}}"#, "/a/b", "The model wrote 1, but the answer says True."),
            (
                r#"{"a": {}}"#,
                r#"{"a": {"b": 1}}"#,
                "/a",
                "The model wrote a field \"b\" that the answer does not have.",
            ),
            (
                r#"{"a": 1}"#,
                r#"{"a": 1, "items": []}"#,
                "",
                "The model wrote a field \"items\" that the answer does not have.",
            ),
            (r#"{"a": 1}"#, "{}", "/a", "The model wrote nothing, but the answer says 1."),
        ];
        for (here, raw, pointer, message) in other {
            assert_eq!(difference(here, raw), Some((pointer.to_owned(), message.to_owned())), "{here} {raw}");
        }
    }

    #[test]
    fn the_raw_text_is_found_in_the_shapes_of_servers() {
        let text = |raw: &str| {
            let mut tape = Tape::default();
            raw_text(tape.parse(raw.as_bytes()).unwrap()).map(|text| text.line().into_string())
        };
        assert_eq!(text(r#"{"choices": [{"message": {"content": "c"}}]}"#).as_deref(), Some("c"));
        let reasoning = r#"{"output": [{"type": "reasoning"}, {"content": [{"type": "output_text", "text": "a"}, {"type": "refusal"}]}, {"content": [{"text": "b"}]}]}"#;
        assert_eq!(text(reasoning).as_deref(), Some("ab"));
        assert_eq!(text(r#""plain""#).as_deref(), Some("plain"));
        assert_eq!(text("{}"), None);
        assert_eq!(object_in(b"<think>{no}</think>```json\n{\"a\": 1}\n```"), b"{\"a\": 1}");
        assert_eq!(object_in(b"} {"), b"");
    }
}
