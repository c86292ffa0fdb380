//! The generation call of a structured answer, made again: the prompt from the question, the lines that the model saw
//! and the requested type; the reply becomes an answer trace that knows its parent, judged by the same rules. No
//! pipeline publishes its own prompt, so this one is ours, unless the trace holds what was sent.

use serde_json::{Map, Value as Json, json};

use crate::prompt::Request;
use crate::sampling::SamplingRound;
use stepscope_base::canonical::sha256;
use stepscope_base::json::write::{Raw, Style, tight};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::pyload::loads;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::TypedAnswer;
use stepscope_record::Record;
use stepscope_record::schemas;
use stepscope_record::types::TypeRegistry;

/// More lines than this, in bytes, are asked of no model.
const MAX_LINES: usize = 4 << 20;
/// Keys of a schema that say something to people only.
const ABOUT: [&str; 4] = ["$schema", "$id", "title", "description"];
/// Keys of an answer trace that are written afresh, or that say what was true of its parent only.
const OWN: &str = "format version id prompt answer answer_text meta model created_at trace reward error";

/// A generation call, ready to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generation {
    /// The prompt, the JSON Schema of the answer, and the keys that it has to have.
    pub request: Request,
    /// Number of lines of the document in the prompt; `None`: the prompt is the recorded one.
    pub lines: Option<usize>,
    /// Files whose lines are in the request, besides the record's own: that of those lines, and that of the type of
    /// values that is asked for, where a person brought it.
    pub files: Vec<Shown>,
}

/// Reason why there is nothing to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoGeneration {
    /// It is no answer with cited lines.
    #[error("not a structured answer with citations")]
    NoAnswer,
    /// Nothing says what was asked.
    #[error("the record has no question")]
    NoQuestion,
    /// The lines that the model saw are not at hand.
    #[error("document not found; pass --document FILE")]
    NoLines,
    /// They are too many.
    #[error("the retrieved pages hold more than 4 MB of text")]
    TooLong,
}

/// Every file whose lines go out, each once: the record's, and the others that a prompt is made of.
pub fn files_sent(record: Vec<Shown>, others: &[Shown]) -> Vec<Shown> {
    let mut files = record;
    for other in others {
        if !files.contains(other) {
            files.push(other.clone());
        }
    }
    files
}

impl Generation {
    /// Of a record and the document that it cites.
    pub fn of(record: &Record<'_>, document: Option<&Document>, types: &TypeRegistry) -> Result<Self, NoGeneration> {
        let typed = record.typed.as_deref().ok_or(NoGeneration::NoAnswer)?;
        let question = record.question.and_then(Value::string).ok_or(NoGeneration::NoQuestion)?;
        let (schema, expected, file) = schema(typed, types);
        if let Some(prompt) = record.root.get("prompt").and_then(Value::string) {
            let request = Request { prompt: prompt.into_owned(), schema, expected, is_final: true };
            return Ok(Self { request, lines: None, files: file.into_iter().collect() });
        }
        let document = document.filter(|document| !document.is_empty()).ok_or(NoGeneration::NoLines)?;
        let (shown, lines) = seen(typed, document)?;
        let mut prompt =
            b"Answer the question from the numbered lines of the document, and from nothing else.\n\n# Question\n"
                .to_vec();
        prompt.extend_from_slice(question.bytes());
        prompt.extend_from_slice(b"\n\n# What is asked for\n");
        prompt.extend_from_slice(&asked_for(typed));
        prompt
            .extend_from_slice(b"\n\n# Document\nEvery line begins with its number, counted from 0 over all pages.\n");
        prompt.extend_from_slice(&shown);
        prompt.extend_from_slice(RULES);
        prompt.extend_from_slice(schema.bytes());
        let request = Request { prompt: Untrusted::owned(prompt), schema, expected, is_final: true };
        Ok(Self { request, lines: Some(lines), files: document.origin().cloned().into_iter().chain(file).collect() })
    }

    /// Names the source of the prompt, in words.
    pub fn source(&self) -> Shown {
        match self.lines {
            Some(1) => Shown::own("a prompt rebuilt from 1 line"),
            Some(lines) => shown!("a prompt rebuilt from {lines} lines"),
            None => Shown::own("the recorded prompt"),
        }
    }
}

const RULES: &[u8] = b"
# Rules
- `items` holds one object for each value that was found, and nothing where nothing was; then `answer_found` is false and `extraction_method` is \"na\".
- Each item cites the lines on which it rests: `line_start` and `line_end` are the numbers before the lines, both inclusive.
- `quote` is copied letter by letter from the cited lines.
- `complete_answer_found` is false where the answer may go on behind the last line.
- Return ONLY a JSON object that conforms to the schema, without commentary.

# Schema (verbatim)
";

/// The pages that the model saw, as lines with their numbers, in the order of the document; all pages where the record
/// does not say which. How many lines those are.
fn seen(typed: &TypedAnswer<'_>, document: &Document) -> Result<(Vec<u8>, usize), NoGeneration> {
    let mut pages = typed.retrieved();
    pages.sort_unstable();
    pages.dedup();
    let all = pages.is_empty();
    let (mut out, mut count) = (Vec::new(), 0);
    for (page, lines) in document.pages() {
        if !all && pages.binary_search(page).is_err() {
            continue;
        }
        out.extend_from_slice(format!("\n## Page {page}\n").as_bytes());
        for line in lines.clone() {
            out.extend_from_slice(format!("[{line}] ").as_bytes());
            out.extend_from_slice(&document[line]);
            out.push(b'\n');
            count += 1;
        }
        if out.len() > MAX_LINES {
            return Err(NoGeneration::TooLong);
        }
    }
    if count == 0 { Err(NoGeneration::NoLines) } else { Ok((out, count)) }
}

fn kind(typed: &TypedAnswer<'_>) -> Untrusted<'static> {
    typed.asked().kind.or_else(|| typed.schema_kind()).unwrap_or_else(|| Untrusted::from("text"))
}

fn asked_for(typed: &TypedAnswer<'_>) -> Vec<u8> {
    let many: &[u8] = match typed.asked().many {
        Some(true) => b"Every value that answers the question, one item each, of the type ",
        Some(false) => b"One value, of the type ",
        None => b"The value or values that answer the question, of the type ",
    };
    [many, kind(typed).bytes(), b"."].concat()
}

/// The schema of an answer with values of the type that was asked for, the keys that it has to have, and the file of
/// that type, if a person brought it.
fn schema(
    typed: &TypedAnswer<'_>,
    types: &TypeRegistry,
) -> (Untrusted<'static>, Vec<Untrusted<'static>>, Option<Shown>) {
    let kind = kind(typed);
    let known = types.named(kind.bytes()).or_else(|| types.named(b"text"));
    let (key, value) = match known {
        Some(known) => (known.key.utf8().unwrap_or("text").to_owned(), parsed(&known.text)),
        None => ("text".to_owned(), json!({"type": "string"})),
    };
    let published =
        |name: &str| schemas::ALL.iter().find(|schema| schema.name == name).map_or("{}", |schema| schema.text);
    let span = bare(parsed(published("span").as_bytes()));
    let mut properties = Map::new();
    properties.insert(key.clone(), bare(value));
    properties.insert("spans".to_owned(), json!({"type": "array", "items": span}));
    let item =
        json!({"type": "object", "additionalProperties": false, "required": [key, "spans"], "properties": properties});
    let mut answer = bare(parsed(published("typed-answer").as_bytes()));
    if let Some(items) = answer.pointer_mut("/properties/items") {
        *items = json!({"type": "array", "items": item});
    }
    let required = answer.get("required").and_then(Json::as_array).into_iter().flatten();
    let expected = required.filter_map(Json::as_str).map(|name| Untrusted::from(name.to_owned())).collect();
    let file = known.and_then(|known| known.file.clone());
    let schema = serde_json::to_string_pretty(&answer).expect("its keys are texts");
    (Untrusted::from(schema), expected, file)
}

fn parsed(text: &[u8]) -> Json {
    serde_json::from_slice(text).unwrap_or_else(|_| json!({}))
}

/// A schema without what it says to people.
fn bare(schema: Json) -> Json {
    match schema {
        Json::Object(members) => {
            let is_name =
                |members: &Map<String, Json>| !members.contains_key("type") && !members.contains_key("$schema");
            let names = is_name(&members);
            let kept = members.into_iter().filter(|(key, value)| {
                // Among properties a key is a name: one of these words may be one.
                names || !(ABOUT.contains(&key.as_str()) && value.is_string())
            });
            Json::Object(kept.map(|(key, value)| (key, bare(value))).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(bare).collect()),
        other => other,
    }
}

/// The answer trace that a call gave, once it is judged. What failed or broke off is kept, and is no answer.
/// `parent_text` is the text by which the parent is known.
pub fn answered(parent: &Record<'_>, parent_text: &[u8], round: &SamplingRound, created_utc: &str) -> Vec<u8> {
    let reply = round.replies.first();
    let executed = reply.map(|reply| reply.executed.clone()).unwrap_or_default();
    let judged = reply.filter(|reply| reply.failed().is_none()).and_then(|reply| reply.judged.as_ref());
    let hash = sha256(parent_text);
    let made = sha256(&[hash.as_bytes(), &executed.raw, created_utc.as_bytes()].concat());
    let known = parent.id_text().unwrap_or_else(|| Untrusted::new(&hash.as_bytes()[..16]).into_owned());
    let id = [known.bytes(), b"~", &made.as_bytes()[..8]].concat();
    Style::SAVED.object(|record| {
        record.text("format", "stepscope.answer_trace").put("version", 1).text("id", id);
        let entries = parent.root.entries();
        for member in &entries {
            let name = member.name();
            if let Some(name) = name.utf8().filter(|name| !OWN.split(' ').any(|own| own == *name)) {
                record.put(name, tight(member.value));
            }
        }
        if !entries.iter().any(|member| member.name() == "question") {
            record.maybe("question", parent.question.map(tight));
        }
        record.put("prompt", &executed.prompt);
        if let Some(judged) = judged {
            let reply = judged.parts.text(&executed.raw);
            let mut tape = Tape::default();
            match loads(&mut tape, reply) {
                Ok(answer) if answer.kind() == Kind::Object => record.put("answer", tight(answer)),
                _ => record.text("answer_text", reply),
            };
        }
        record.text("model", &executed.model).text("created_at", created_utc).object("trace", |trace| {
            trace.list("steps", [Raw(executed.json())]).object("fork", |fork| {
                fork.put("parent", parent.id.map(tight)).text("parent_sha256", &hash).text("how", "rerun");
                fork.text("model", &executed.model).text("backend", &executed.backend);
                fork.text("created_utc", created_utc);
            });
        });
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use stepscope_judge::case::{Case, CaseView};

    use crate::call::{Finish, ReplyPart, RunEvent, RunId};
    use crate::machine::Question;
    use crate::sampling::{CallEvent, Sampling, ServerInfo};

    const TRACE: &str = r#"{"format": "stepscope.answer_trace", "version": 1, "id": "a7", "own": [1.50],
        "question": "What is the deductible?", "schema": "AmountAnswer", "retrieved_pages": [{"page_num": 2}],
        "document": {"lines": [{"page_num": 1, "line_num": 1, "text": "Policy"},
            {"page_num": 2, "line_num": 1, "text": "The deductible is USD 250."}]},
        "answer": {"answer_found": false, "items": []}, "meta": {"raw_response": "x"}}"#;
    const REPLY: &str = r#"{"extraction_method": "verbatim", "confidence": 0.90, "caveats": [], "answer_found": true,
        "complete_answer_found": true, "context_completeness_weak": 1, "context_structured": true,
        "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false, "suggested_clarification": null,
        "items": [{"amount": {"value": 250, "currency": "USD"}, "spans": [{"line_start": 1, "line_end": 1, "quote": "USD 250"}]}]}"#;

    fn with<T>(text: &str, then: impl FnOnce(&CaseView<'_>) -> T) -> T {
        then(&Case::read(text.as_bytes()).view())
    }

    fn generation(text: &str) -> Result<Generation, NoGeneration> {
        with(text, |view| {
            Generation::of(view.record.as_ref().unwrap(), view.document().map(AsRef::as_ref), TypeRegistry::built_in())
        })
    }

    #[test]
    fn the_prompt_holds_what_the_model_saw() {
        let made = generation(TRACE).unwrap();
        let prompt = made.request.prompt.utf8().unwrap();
        assert!(
            prompt.contains("# Question\nWhat is the deductible?\n") && prompt.contains("of the type amount."),
            "{prompt}"
        );
        assert!(prompt.contains("## Page 2\n[1] The deductible is USD 250.\n") && !prompt.contains("[0]"), "{prompt}");
        assert!(prompt.ends_with(made.request.schema.utf8().unwrap()));
        assert_eq!((made.lines, made.request.expected.len()), (Some(1), 12));
        let schema: Json = serde_json::from_slice(made.request.schema.bytes()).unwrap();
        let item = &schema["properties"]["items"]["items"];
        assert_eq!(item["required"], json!(["amount", "spans"]));
        assert_eq!(item["properties"]["amount"]["required"], json!(["value", "currency"]));
        assert_eq!(schema.get("$schema"), None);
        let sent = TRACE.replace("\"own\"", "\"prompt\": \"as sent\", \"own\"");
        assert_eq!(
            generation(&sent).map(|made| (made.request.prompt, made.lines)),
            Ok((Untrusted::from("as sent"), None))
        );
    }

    #[test]
    fn what_cannot_be_asked_says_why() {
        let without = |from: &str, to: &str| generation(&TRACE.replace(from, to)).unwrap_err();
        assert_eq!(without("\"question\"", "\"q\""), NoGeneration::NoQuestion);
        assert_eq!(without("\"document\"", "\"d\""), NoGeneration::NoLines);
        assert_eq!(without("\"page_num\": 2}]", "\"page_num\": 9}]"), NoGeneration::NoLines);
        assert_eq!(
            generation(r#"{"id": 1, "question": "?", "procedure": {"steps": []}}"#),
            Err(NoGeneration::NoAnswer)
        );
    }

    #[test]
    fn the_reply_is_an_answer_trace_that_the_rules_judge() {
        let made = generation(TRACE).unwrap();
        let fork = |reply: &str, ends: bool| {
            let question = Question::of(made.request.clone());
            let (mut round, _) = SamplingRound::new(RunId(1), question, &Sampling::default(), ServerInfo::default());
            let text = RunEvent::Text { part: ReplyPart::Content, text: Untrusted::from(reply.to_owned()) };
            for event in [Some(text), ends.then(|| RunEvent::Done(Finish::default()))].into_iter().flatten() {
                let told = CallEvent { call: 0, event, began_utc: None, elapsed: Duration::ZERO };
                round.hear(RunId(1), told, Duration::ZERO);
            }
            round.cancel(std::time::Duration::ZERO);
            round.judge();
            with(TRACE, |view| {
                answered(view.record.as_ref().unwrap(), TRACE.as_bytes(), &round, "2026-11-20T00:00:00.000Z")
            })
        };
        let rules = |line: &[u8]| {
            let text = std::str::from_utf8(line).unwrap().to_owned();
            with(&text, |view| view.findings().iter().map(|finding| finding.rule.word()).collect::<Vec<_>>())
        };
        let line = fork(&format!("```json\n{REPLY}\n```"), true);
        let read: Json = serde_json::from_slice(&line).unwrap();
        assert_eq!((&read["answer"]["items"][0]["amount"]["value"], &read["own"]), (&json!(250), &json!([1.5])));
        assert_eq!((&read["trace"]["fork"]["parent"], read.get("meta")), (&json!("a7"), None));
        assert!(read["id"].as_str().unwrap().starts_with("a7~"));
        assert_eq!(rules(&line), [""; 0]);
        assert!(rules(&fork("no", true)).contains(&"answer/json_invalid"));
        // What broke off is kept as it came, and is no answer.
        let partial = fork(REPLY, false);
        let read: Json = serde_json::from_slice(&partial).unwrap();
        assert_eq!((read.get("answer"), read["trace"]["steps"][0]["raw"].as_str()), (None, Some(REPLY)));
        assert!(rules(&partial).contains(&"answer/answer_missing"));
    }
}
