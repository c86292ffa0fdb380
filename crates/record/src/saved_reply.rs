//! Replies as servers send them and records keep them: the text, the arguments of tool calls, and why the model stopped.
//!
//! Chat completions, Responses, Anthropic, Gemini, Bedrock, Ollama, LangChain messages, plain texts, and any of them as
//! JSON in a string.

use crate::reply;
use crate::reply::{Parts, Stop};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::text::Untrusted;

/// Maximum depth at which the text of a reply is looked for.
const MAX_DEPTH: usize = 8;
/// Maximum number of texts and tool calls of one reply that are read.
const MAX_TEXTS: usize = 64;
/// Keys under which servers, batches and frameworks put the message.
const INSIDE: [&str; 6] = ["message", "response", "body", "result", "kwargs", "raw"];
/// Keys of a reply that is one text.
const TEXTS: [&str; 5] = ["output_text", "generated_text", "text", "completion", "refusal"];
/// Keys that say why the model stopped.
const STOPS: [&str; 5] = ["finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason"];

/// A reply as a record keeps it.
#[derive(Debug, Default)]
pub struct SavedReply {
    /// The text of the message, without thoughts.
    text: Vec<u8>,
    /// The arguments of each tool call.
    arguments: Vec<Vec<u8>>,
    /// Reason why the model stopped, where that is said.
    pub stop: Option<Stop>,
    /// Words in which the model refused; empty if only a mark says that it did.
    pub refusal: Option<Untrusted<'static>>,
}

impl SavedReply {
    /// Reads a reply.
    pub fn of(value: Value<'_>) -> Self {
        let mut saved = Self::default();
        saved.read(value, 0);
        saved
    }

    /// Everything that may hold the answer: tool calls and the text.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let text = Some(self.text.as_slice()).filter(|text| !text.trim_ascii().is_empty());
        self.arguments.iter().map(Vec::as_slice).chain(text)
    }

    /// Takes the texts apart that may hold an object with these keys.
    pub fn parts<'s>(&'s self, keys: &'s [Untrusted<'s>]) -> impl Iterator<Item = (&'s [u8], Parts)> {
        self.texts().map(move |text| (text, reply::parts(text, keys)))
    }

    /// Tells whether the limit of the reply ended it.
    pub fn is_cut_by_limit(&self) -> bool {
        self.stop == Some(Stop::Length)
    }

    /// Tells whether a filter of the provider ended the reply.
    pub fn is_cut_by_filter(&self) -> bool {
        matches!(&self.stop, Some(Stop::Other(why)) if is_refusal(why.bytes()))
    }

    fn read(&mut self, value: Value<'_>, depth: usize) {
        if depth > MAX_DEPTH || self.arguments.len() > MAX_TEXTS {
            return;
        }
        match value.kind() {
            Kind::String => self.string(value, depth),
            Kind::Array => value.items().take(MAX_TEXTS).for_each(|item| self.read(item, depth + 1)),
            Kind::Object => self.object(value, depth),
            _ => {}
        }
    }

    /// A text, or a whole reply written as one.
    fn string(&mut self, value: Value<'_>, depth: usize) {
        let Some(text) = value.string() else { return };
        let trimmed = text.bytes().trim_ascii();
        if matches!(trimmed.first(), Some(b'{' | b'[' | b'"')) {
            let mut tape = Tape::default();
            if let Some(inner) = tape.parse(trimmed).filter(|inner| inner.kind() == Kind::String || is_reply(*inner)) {
                return self.read(inner, depth + 1);
            }
        }
        self.text.extend_from_slice(text.bytes());
    }

    fn object(&mut self, value: Value<'_>, depth: usize) {
        let kind = Value::text_of(value.get("type"));
        let is_thought = matches!(kind.bytes(), b"thinking" | b"redacted_thinking" | b"reasoning")
            || value.get("thought").and_then(Value::bool) == Some(true);
        if is_thought {
            return;
        }
        let is_incomplete = value.get("status").is_some_and(|status| status.is_string("incomplete"));
        let reason = value.get("incomplete_details").and_then(|details| details.get("reason"));
        let said = STOPS.iter().find_map(|key| value.get(key).and_then(Value::string));
        let said = said.or_else(|| reason.and_then(Value::string));
        match said {
            Some(said) => self.stopped(Stop::named(&said)),
            None if is_incomplete => self.stopped(Stop::Length),
            None => {}
        }
        let blocked = value.get("promptFeedback").and_then(|feedback| feedback.get("blockReason"));
        if let Some(blocked) = blocked.and_then(Value::string) {
            self.refused(blocked);
        }
        if let Some(about) = value.get("response_metadata") {
            self.object(about, depth + 1);
        }
        self.tools(value);
        if kind.bytes() == b"refusal" || value.get("refusal").is_some_and(|refusal| refusal.kind() == Kind::String) {
            self.refused(Value::text_of(value.get("refusal")));
        }
        for list in ["choices", "candidates", "generations"] {
            if let Some(first) = value.get(list).and_then(|list| list.items().next()) {
                return self.read(first, depth + 1);
            }
        }
        // One text stands under several names in some replies.
        let inside = ["content", "parts", "output"].iter().chain(&INSIDE).filter_map(|key| value.get(key));
        let before = self.size();
        for inner in inside.filter(|inner| inner.kind() == Kind::String || inner.is_container()) {
            self.read(inner, depth + 1);
            if self.size() > before {
                return;
            }
        }
        let text = TEXTS.iter().take(TEXTS.len() - 1).find_map(|key| value.get(key));
        match text {
            Some(text) if text.kind() == Kind::Object => self.read(text.get("value").unwrap_or(text), depth + 1),
            Some(text) => self.read(text, depth + 1),
            None => {}
        }
    }

    fn size(&self) -> usize {
        self.text.len() + self.arguments.len()
    }

    /// Reads the tool calls of a message, or of one part of it.
    fn tools(&mut self, value: Value<'_>) {
        let calls = value.get("tool_calls").into_iter().flat_map(Value::items).take(MAX_TEXTS);
        for call in calls.chain(value.get("function_call")).chain(value.get("functionCall")).chain(value.get("toolUse"))
        {
            self.arguments(call.get("function").unwrap_or(call));
        }
        let kind = value.get("type");
        if kind.is_some_and(|kind| kind.is_string("tool_use") || kind.is_string("function_call")) {
            self.arguments(value);
        }
    }

    fn arguments(&mut self, call: Value<'_>) {
        let given = ["arguments", "args", "input"].iter().find_map(|key| call.get(key));
        let Some(given) = given.filter(|_| self.arguments.len() < MAX_TEXTS) else { return };
        match given.string() {
            Some(text) if given.kind() == Kind::String => self.arguments.push(text.bytes().to_vec()),
            _ => self.arguments.push(given.raw().to_vec()),
        }
    }

    fn stopped(&mut self, stop: Stop) {
        if let Stop::Other(why) = &stop
            && is_refusal(why.bytes())
        {
            self.refusal.get_or_insert_with(Untrusted::default);
        }
        self.stop.get_or_insert(stop);
    }

    fn refused(&mut self, words: Untrusted<'_>) {
        self.refusal = Some(words.into_owned());
    }
}

/// Tells whether a reason for an end says that nothing was answered.
fn is_refusal(why: &[u8]) -> bool {
    const REFUSALS: [&str; 9] = [
        "refusal",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
    ];
    REFUSALS.iter().any(|known| why.eq_ignore_ascii_case(known.as_bytes()))
}

/// Tells whether JSON in a text is a whole reply of a server, and not what the model wrote.
fn is_reply(value: Value<'_>) -> bool {
    let has = |key: &str| value.get(key).is_some();
    match value.kind() {
        Kind::Array => value.items().next().is_some_and(|first| first.get("type").is_some() && is_part(first)),
        _ => {
            has("choices")
                || has("candidates")
                || (has("output") && has("status"))
                || (has("role") && has("content"))
                || (has("message") && has("done"))
                || (has("model") && (has("response") || has("message") || has("done")))
        }
    }
}

fn is_part(value: Value<'_>) -> bool {
    ["text", "input", "content", "thinking"].iter().any(|key| value.get(key).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Option<Stop>, bool) {
        let mut tape = Tape::default();
        let saved = SavedReply::of(tape.parse(text.as_bytes()).expect(text));
        let texts: Vec<_> = saved.texts().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        (texts.join("|"), saved.stop, saved.refusal.is_some())
    }

    #[test]
    fn the_text_is_found_in_the_shapes_of_servers() {
        for (text, expected) in [
            (r#""plain""#, "plain"),
            (r#"{"choices": [{"message": {"content": "c"}}]}"#, "c"),
            (r#"{"choices": [{"text": "c"}]}"#, "c"),
            (
                r#"{"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}"#,
                "ab",
            ),
            (
                r#"{"choices": [{"message": {"content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1}"}}]}}]}"#,
                "{\"a\": 1}",
            ),
            (
                r#"{"output": [{"type": "reasoning", "content": [{"type": "reasoning_text", "text": "t"}]}, {"type": "message", "content": [{"type": "output_text", "text": "a"}]}, {"content": [{"text": "b"}]}]}"#,
                "ab",
            ),
            (r#"{"output_text": "o"}"#, "o"),
            (
                r#"{"type": "message", "content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]}"#,
                "a",
            ),
            (r#"{"content": [{"type": "tool_use", "name": "f", "input": {"a": 1}}]}"#, "{\"a\": 1}"),
            (r#"{"candidates": [{"content": {"parts": [{"text": "t", "thought": true}, {"text": "g"}]}}]}"#, "g"),
            (
                r#"{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}}]}"#,
                "{\"a\": 1}",
            ),
            (r#"{"model": "m", "response": "r", "done": true}"#, "r"),
            (r#"{"model": "m", "message": {"role": "assistant", "content": "r", "thinking": "t"}}"#, "r"),
            (r#"{"output": {"message": {"content": [{"text": "b"}]}}, "stopReason": "end_turn"}"#, "b"),
            (r#""{\"choices\": [{\"message\": {\"content\": \"c\"}}]}""#, "c"),
            (r#"[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]"#, "ab"),
            (r#""{\"items\": []}""#, "{\"items\": []}"),
            ("{}", ""),
            ("null", ""),
        ] {
            assert_eq!(read(text).0, expected, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_reply_is_found() {
        for text in [
            r#"{"choices": [{"finish_reason": "length", "message": {"content": "x"}}]}"#,
            r#"{"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}"#,
            r#"{"content": [], "stop_reason": "max_tokens"}"#,
            r#"{"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": []}}]}"#,
            r#"{"response": "x", "done_reason": "length"}"#,
            r#"{"content": "x", "response_metadata": {"finish_reason": "length"}}"#,
        ] {
            assert_eq!(read(text).1, Some(Stop::Length), "{text}");
        }
        for text in [
            r#"{"choices": [{"finish_reason": "stop", "message": {"content": null, "refusal": "No."}}]}"#,
            r#"{"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]}"#,
            r#"{"content": [], "stop_reason": "refusal"}"#,
            r#"{"candidates": [{"finishReason": "SAFETY"}]}"#,
            r#"{"promptFeedback": {"blockReason": "SAFETY"}}"#,
        ] {
            assert!(read(text).2, "{text}");
        }
        assert_eq!(read(r#"{"choices": [{"finish_reason": "stop", "message": {"content": "x"}}]}"#).1, Some(Stop::End));
    }
}
