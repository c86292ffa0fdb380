//! Typed answers with cited spans: handles on what an answer object holds, whatever its dialect.
//!
//! An answer trace is one JSON object:
//! `{"format": "stepscope.answer_trace", "version": 1, "id", "doc_id", "folder", "question", "parsed_question",
//! "schema", "document", "retrieved_pages", "prompt", "answer" | "answer_text", "meta", "model", "created_at"}`.
//! `answer` is the answer object as it was written; `answer_text` its text where that is no JSON; neither: there is no
//! answer. `document` is `{"path"}`, `{"doc_id"}` or `{"lines": [{"page_num", "line_num", "text"}], "toc": [..]}`.

use super::json::{Pointer, Value};

/// Where the parts of a typed answer stand.
#[derive(Clone, Debug, Default)]
pub struct Typed<'a> {
    /// The answer object, if it could be read as one.
    pub answer: Option<Value<'a>>,
    /// Where the answer object stands, or should.
    pub pointer: Pointer,
    /// The text of an answer that is no JSON.
    pub answer_text: Option<Value<'a>>,
    /// What was asked for, as free JSON.
    pub parsed_question: Option<Value<'a>>,
    /// The name of the schema that was asked for.
    pub schema: Option<Value<'a>>,
    /// The pages that the model saw, a list of objects with `page_num`.
    pub retrieved_pages: Option<Value<'a>>,
    /// How it was made: `raw_response`, fragments, template.
    pub meta: Option<Value<'a>>,
    /// The document, or a reference to it.
    pub document: Option<Value<'a>>,
    /// Which document of its store it is about.
    pub doc_id: Option<Value<'a>>,
    /// It came with a question, so that a missing answer is one.
    pub traced: bool,
}

/// One item of an answer: a value, and the places that it rests on.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// Where it stands in the record.
    pub pointer: Pointer,
    /// The whole item.
    pub root: Value<'a>,
    /// The key and value that carry what was answered: `text`, `amount`, `date`, or one that we do not know.
    pub value: Option<(&'static str, Value<'a>)>,
    /// The cited places, in order.
    pub citations: Vec<Citation<'a>>,
}

/// One cited place.
#[derive(Clone, Debug)]
pub struct Citation<'a> {
    /// Where it stands in the record.
    pub pointer: Pointer,
    /// The whole citation.
    pub root: Value<'a>,
    /// First and last cited line as they are written, inclusive.
    pub lines: (Option<Value<'a>>, Option<Value<'a>>),
    /// First and last cited page, in the dialects that have them.
    pub pages: (Option<Value<'a>>, Option<Value<'a>>),
    /// The model's own words for what stands there.
    pub quote: Option<Value<'a>>,
}
