//! Structured answers with citations: an answer trace, or an answer object alone.

use crate::format::Format;
use crate::{Record, RecordKind};
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_evidence::typed::{TypedAnswer, bare_value, has_fields, is_flat, is_rich};

/// Value of `format` in an answer trace.
const NAME: &str = "stepscope.answer_trace";

/// An answer with its question.
pub(crate) const TRACE: Format = Format {
    id: "answer_trace",
    example: r#"{"format": "stepscope.answer_trace", "version": 1, "id": "a7", "question": "What is the deductible?", "document": {"lines": [{"page_num": 1, "line_num": 1, "text": "Deductible: USD 250"}]}, "answer": {"answer_found": true, "items": [{"text": "USD 250", "spans": [{"line_start": 0, "line_end": 0, "quote": "USD 250"}]}]}}"#,
    recognise: |value| {
        value.members().any(|member| match member.key.plain_string() {
            Some(b"format") => member.value.is_string(NAME),
            Some(b"answer") => is_rich(member.value) || is_flat(member.value),
            _ => false,
        })
    },
    read: read_trace,
};

/// An answer alone.
pub const FORMAT: Format = Format {
    id: "typed",
    example: r#"{"extraction_method": "verbatim", "confidence": 0.9, "answer_found": true, "items": [{"text": "USD 250", "spans": [{"line_start": 0, "line_end": 0, "quote": "USD 250"}]}]}"#,
    recognise: |value| is_rich(value) || has_fields(value) || is_flat(value) || bare_value(value).is_some(),
    read: |value| {
        // The smallest answers carry their question beside them.
        let question = value.get("question").filter(|question| question.kind() == Kind::String);
        Record { question, id: value.get("id"), ..read(value, TypedAnswer::bare(value)) }
    },
};

fn read_trace(root: Value<'_>) -> Record<'_> {
    let present = |name| root.get(name).filter(|value| !value.is_null());
    let parsed = present("parsed_question");
    let question = present("question").or_else(|| parsed?.get("original_question"));
    let typed = TypedAnswer {
        answer: present("answer"),
        pointer: Pointer::from_iter(["answer"]),
        answer_text: present("answer_text"),
        parsed_question: parsed,
        schema: present("schema"),
        retrieved_pages: present("retrieved_pages"),
        meta: present("meta"),
        document: present("document"),
        doc_id: present("doc_id"),
        // A document that was asked nothing lacks no answer.
        traced: question.is_some() || parsed.is_some() || present("retrieved_pages").or(present("folder")).is_some(),
    };
    let model = present("model").or_else(|| typed.meta?.get("raw_response")?.get("model"));
    Record { question, id: present("id"), model, ..read(root, typed) }
}

fn read<'a>(root: Value<'a>, typed: TypedAnswer<'a>) -> Record<'a> {
    let answer = typed.answer.filter(|answer| answer.kind() == Kind::Object);
    Record { answer, typed: Some(Box::new(typed)), ..Record::bare(RecordKind::Typed, root) }
}
