//! The answer against what it was made of: the raw response, and the page that the model did not see.

use super::Report;
use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_base::json::{Kind, Pointer, Tape, Value};
use stepscope_base::python::Message;
use stepscope_base::text::{Untrusted, head};
use stepscope_evidence::difference::first_difference;
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_evidence::typed::TypedAnswer;
use stepscope_evidence::typed::{has_fields, is_flat, is_rich};
use stepscope_record::finding::{Findings, Place};
use stepscope_record::rule_id::RuleId;
use stepscope_record::saved_reply::SavedReply;

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
        id: RuleId::RawResponseUnusable,
        summary: "raw response was cut, refused, or holds no answer",
        explanation: "There is an answer, although the reply that it was made of ended at the token limit, breaks off inside \
            its JSON, is a refusal, or holds no JSON object. A repaired reply loses what was not written any more: a list \
            looks complete with fewer items. Run the call again; do not use the answer as it is.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "answer": {"answer_found": true, "confidence": 0.9, "items": [{"text": "a", "spans": []}]}, "meta": {"raw_response": {"stop_reason": "max_tokens", "content": [{"type": "text", "text": "{\"answer_found\": true, \"confidence\": 0.9, \"items\": [{\"text\": \"a\", \"spans\": []}, {\"te"}]}}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "answer": {"answer_found": true, "confidence": 0.9, "items": [{"text": "a", "spans": []}]}, "meta": {"raw_response": {"stop_reason": "end_turn", "content": [{"type": "text", "text": "{\"answer_found\": true, \"confidence\": 0.9, \"items\": [{\"text\": \"a\", \"spans\": []}]}"}]}}}"#,
        check: check_unusable,
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

/// Maximum length of a refusal that is quoted, in bytes.
const MAX_QUOTED: usize = 60;

fn check_truncated(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((_, answered)) = case.answered() else { return };
    let Some(truncation) = case.truncation().filter(|found| found.verdict == TruncationVerdict::Truncated) else {
        return;
    };
    let Some(last) = answered.items.last() else { return };
    let place = last.citations.last().map_or(&last.pointer, |citation| &citation.pointer);
    let number = truncation.line.and_then(|line| case.document()?.number(line));
    let reason = truncation.reason.bytes();
    let mut message = Message::default().text(reason.strip_suffix(b".").unwrap_or(reason));
    if let Some((page, line)) = number {
        message = message.text(format!(" (page {page}, line {line})"));
    }
    let message = message.text(".");
    let help = "Give the model the next page too: the answer cannot be complete.";
    Report::new(RuleId::ListTruncatedNextPage, help, findings).add(message, Place::Value(place.clone()));
}

/// An answer and the reply that it was made of.
fn replied<'s, 'a>(case: &'s CaseView<'a>) -> Option<(&'s TypedAnswer<'a>, Value<'a>, Value<'a>, SavedReply)> {
    let typed = case.typed()?;
    let answer = typed.answer.filter(|answer| answer.kind() == Kind::Object)?;
    // Runners of one's own keep it next to the answer.
    let root = || case.record.as_ref().and_then(|record| record.root.get("raw_response"));
    let raw = typed.meta.and_then(|meta| meta.get("raw_response")).or_else(root).filter(|raw| !raw.is_null())?;
    Some((typed, answer, raw, SavedReply::of(raw)))
}

fn is_answer(value: Value<'_>) -> bool {
    is_rich(value) || has_fields(value) || is_flat(value)
}

fn check_raw(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answer, raw, reply)) = replied(case) else { return };
    let compare = |raw: Value<'_>| {
        let mut pointer = Pointer::default();
        let difference = first_difference(answer, raw, &mut pointer);
        difference.map(|difference| (difference, pointer))
    };
    let found = if is_answer(raw) {
        compare(raw)
    } else {
        let keys: Vec<Untrusted<'_>> = answer.members().map(|member| member.name()).collect();
        let mut replies = reply.parts(&keys).filter_map(|(text, parts)| {
            let mut tape = Tape::default();
            tape.parse(parts.text(text)).filter(|raw| is_answer(*raw)).map(compare)
        });
        replies.next().flatten()
    };
    let Some((difference, pointer)) = found else { return };
    let help = "Find out why they differ: the answer was edited, or belongs to another run.";
    let at = Pointer(typed.pointer.0.iter().cloned().chain(pointer.0).collect());
    let (message, place) = (difference.told("the answer"), Place::Value(at));
    Report::new(RuleId::AnswerDiffersFromRawResponse, help, findings).add(message, place);
}

fn check_unusable(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answer, raw, reply)) = replied(case) else { return };
    let keys: Vec<Untrusted<'_>> = answer.members().map(|member| member.name()).collect();
    let objects = reply.parts(&keys).any(|(_, parts)| parts.objects > 0) || is_answer(raw);
    let is_cut = reply.parts(&keys).any(|(_, parts)| parts.is_cut);
    let message = if reply.is_cut_by_limit() {
        Message::new("The raw response ended at the token limit, and the answer was taken from it all the same.")
    } else if let Some(refusal) = reply.refusal.as_ref().filter(|_| !objects) {
        let words = head(refusal.bytes(), MAX_QUOTED);
        let quoted = if words.is_empty() { Vec::new() } else { [b" (\"", words, b"\")"].concat() };
        Message::new("The raw response is a refusal").text(quoted).text(", but there is an answer.")
    } else if reply.is_cut_by_filter() {
        Message::new("A filter of the provider ended the raw response, and the answer was taken from it all the same.")
    } else if is_cut {
        Message::new("The raw response breaks off inside its JSON: the answer holds at most a part of it.")
    } else if !objects && reply.texts().next().is_some() {
        Message::new("The raw response holds no JSON object, but there is an answer.")
    } else {
        return;
    };
    let place = Place::Value(typed.pointer.clone());
    let help = "Ask the model again, with a higher token limit if the reply was cut.";
    Report::new(RuleId::RawResponseUnusable, help, findings).add(message, place);
}

#[cfg(test)]
mod tests {
    use crate::case::Case;
    use stepscope_record::rule_id::RuleId;

    /// The rules about the raw response that speak of an answer with one amount.
    fn said(raw: &str) -> Vec<RuleId> {
        let text = format!(
            r#"{{"format": "stepscope.answer_trace", "version": 1, "answer": {{"answer_found": true, "confidence": 0.9,
            "items": [{{"text": "USD 250", "spans": []}}]}}, "meta": {{"raw_response": {raw}}}}}"#
        );
        let case = Case::read(text.as_bytes());
        let rules = case.view().findings().iter().map(|finding| finding.rule).collect::<Vec<_>>();
        let about = [RuleId::AnswerDiffersFromRawResponse, RuleId::RawResponseUnusable];
        rules.into_iter().filter(|rule| about.contains(rule)).collect()
    }

    #[test]
    fn every_provider_is_compared() {
        let answer = |text: &str| {
            format!(r#"{{"answer_found": true, "confidence": 0.9, "items": [{{"text": "{text}", "spans": []}}]}}"#)
        };
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        let shapes: [fn(&str, &str) -> String; 7] = [
            |_, text| format!(r#"{{"content": [{{"type": "text", "text": {text}}}]}}"#),
            |json, _| format!(r#"{{"content": [{{"type": "tool_use", "input": {json}}}]}}"#),
            |_, text| format!(r#"{{"candidates": [{{"content": {{"parts": [{{"text": {text}}}]}}}}]}}"#),
            |_, text| format!(r#"{{"message": {{"content": {text}}}, "done_reason": "stop"}}"#),
            |_, text| serde_json::to_string(text).unwrap(),
            |json, _| {
                serde_json::to_string(&format!("Set {{x}}: <think>{{\"items\": []}}</think>{json}\nBye {{y}}")).unwrap()
            },
            |json, _| json.to_owned(),
        ];
        for shape in shapes {
            let of = |text: &str| shape(&answer(text), &quoted(&answer(text)));
            assert_eq!(said(&of("USD 250")), [], "{}", of("USD 250"));
            assert_eq!(said(&of("USD 350 </think>")), [RuleId::AnswerDiffersFromRawResponse], "{}", of("USD 350"));
        }
    }

    #[test]
    fn what_gives_no_answer_is_said() {
        for raw in [
            r#""I don't know""#,
            r#"{"choices": [{"finish_reason": "length", "message": {"content": "{\"items\": [{"}}]}"#,
            r#"{"choices": [{"message": {"content": null, "refusal": "I cannot help."}}]}"#,
            r#""{\"answer_found\": true, \"items\": [{\"text\": \"USD 250\"}, {\"te""#,
        ] {
            assert_eq!(said(raw), [RuleId::RawResponseUnusable], "{raw}");
        }
        assert_eq!(said(r#"{"id": "resp_1", "model": "m"}"#), [], "a reply whose text was not kept says nothing");
    }
}
