//! One message of a conversation, read: what it says, the tools it calls, and what those gave.

use super::{is_of_model, role};
use stepscope_base::json::write::{Letters, Style};
use stepscope_base::json::{Kind, Member, Tape, Value};
use stepscope_base::text::Shown;

/// Items of a response that stand in a list of messages and name no role.
const ITEMS: [(&str, &str); 3] =
    [("function_call", "assistant"), ("function_call_output", "tool"), ("reasoning", "assistant")];
/// Blocks whose content nobody can read.
const SEALED: [&str; 2] = ["redacted_thinking", "reasoning.encrypted"];
/// Bytes of a block that is no text, as long as its JSON is shown.
const MAX_OTHER: usize = 200;
/// Way in which values are written for people.
const WRITTEN: Style = Style { letters: Letters::All, ..Style::ASCII };
/// Keys of a model's thoughts.
const THOUGHTS: [&str; 3] = ["reasoning", "reasoning_content", "thinking"];

/// Content of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct SaidText {
    pub role: Vec<u8>,
    pub text: Vec<u8>,
    pub thoughts: Vec<u8>,
    pub calls: Vec<ToolCall>,
    pub results: Vec<ToolResult>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolCall {
    pub id: Option<Vec<u8>>,
    pub name: Vec<u8>,
    /// JSON of the arguments, or the text that stands in its place.
    pub arguments: Vec<u8>,
    pub result: Option<Vec<u8>>,
}

/// Result of a tool.
#[derive(Clone, Debug)]
pub(super) struct ToolResult {
    pub id: Option<Vec<u8>>,
    pub name: Option<Vec<u8>>,
    /// Arguments of its call, where it names them and no id.
    pub arguments: Option<Vec<u8>>,
    pub text: Vec<u8>,
}

impl ToolResult {
    /// Tells whether it names no call.
    pub(super) const fn is_unnamed(&self) -> bool {
        self.id.is_none() && self.name.is_none()
    }
}

/// Returns the role of an item of a response; `None`: it is another item.
pub(super) fn role_of_item(item: Value<'_>) -> Option<&'static str> {
    let kind = item.get("type")?;
    let named = ["call_id", "name", "summary"].iter().any(|key| item.get(key).is_some());
    ITEMS.iter().find(|(word, _)| named && kind.is_string(word)).map(|(_, role)| *role)
}

impl SaidText {
    /// Reads a message.
    pub(super) fn of(message: Value<'_>) -> Self {
        let mut said =
            Self { role: role(message).map_or_else(Vec::new, |role| role.bytes().to_vec()), ..Self::default() };
        if role_of_item(message).is_some() {
            said.item(message);
            return said;
        }
        let content = ["content", "value", "parts"].into_iter().find_map(|key| message.get(key));
        match content {
            Some(blocks) if blocks.kind() == Kind::Array => blocks.items().for_each(|block| said.block(block)),
            Some(content) if !content.is_null() => said.add(&text_of(content)),
            _ => said.add(&message.get("refusal").map_or_else(Vec::new, text_of)),
        }
        for key in THOUGHTS {
            said.think(message.get(key));
        }
        said.calls_of(message);
        said.take_thoughts();
        // The whole message of a tool is its result, or its call.
        let id = ["tool_call_id", "tool_use_id"].into_iter().find_map(|key| own_text(message, key));
        let is_result = [&b"tool"[..], b"function", b"observation"].contains(&said.role.as_slice());
        if said.role == b"function_call" {
            let text = std::mem::take(&mut said.text);
            let call = Tape::default().parse(&text).and_then(tool_call);
            (said.text, said.calls) = call.map_or((text, Vec::new()), |call| (Vec::new(), vec![call]));
        } else if said.results.is_empty() && (id.is_some() || is_result) {
            let name = ["name", "tool_name"].into_iter().find_map(|key| own_text(message, key));
            let text = std::mem::take(&mut said.text);
            said.results.push(ToolResult { id, name, arguments: None, text });
        }
        said
    }

    /// Takes thoughts out of what a model says, where they stand before it in tags.
    fn take_thoughts(&mut self) {
        let rest = self.text.trim_ascii_start().strip_prefix(b"<think>");
        let Some(rest) = rest.filter(|_| is_of_model(&self.role)) else { return };
        let Some(end) = memchr::memmem::find(rest, b"</think>") else { return };
        let (thoughts, said) = rest.split_at(end);
        add_line(&mut self.thoughts, thoughts.trim_ascii());
        self.text = said.trim_ascii_start().strip_prefix(b"</think>").unwrap_or(said).trim_ascii_start().to_vec();
    }

    /// Reads a text that somebody of a role said.
    pub(super) fn by(role: &str, text: Value<'_>) -> Self {
        Self { role: role.as_bytes().to_vec(), text: text_of(text), ..Self::default() }
    }

    /// Joins what several items say.
    pub(super) fn joined<'s>(parts: impl IntoIterator<Item = &'s Self>) -> Self {
        let mut all = Self::default();
        for said in parts {
            add_line(&mut all.text, &said.text);
            all.calls.extend(said.calls.iter().cloned());
        }
        all
    }

    /// Reads what a recorded call says that its model replied.
    pub(super) fn of_reply(call: Value<'_>, reply: Option<Value<'_>>) -> Option<Self> {
        let mut said = Self { role: b"assistant".to_vec(), ..Self::default() };
        said.add(&reply.map_or_else(Vec::new, text_of));
        said.think(call.get("reasoning"));
        said.calls_of(call);
        said.take_thoughts();
        // Where nothing else was said, a reply that is a call of a tool holds that call as its text.
        let is_call = |call: &ToolCall| said.text.starts_with(&[call.name.as_slice(), b"("].concat());
        if said.calls.first().is_some_and(is_call) {
            said.text.clear();
        }
        (!said.is_empty()).then_some(said)
    }

    /// Reads a turn of a session that logs what was said and no prompts: a turn of a model, of a person, or a result.
    pub(super) fn of_turn(step: Value<'_>) -> Option<Self> {
        let kind = step.get("span_kind")?.string()?;
        let outputs = step.get("outputs").or_else(|| step.get("error"));
        let text = outputs.map_or_else(Vec::new, |outputs| {
            let only = ["text", "result"].into_iter().find_map(|key| outputs.get(key)).filter(|_| outputs.len() == 1);
            text_of(only.unwrap_or(outputs))
        });
        match kind.bytes() {
            b"model" => {
                let said = Self::of_reply(step, step.get("raw"))?;
                Some(Self { role: own_text(step, "name").unwrap_or(said.role), ..said })
            }
            b"tool" => {
                let (name, arguments) = (own_text(step, "name"), step.get("inputs").map(|given| WRITTEN.of(given)));
                let results = vec![ToolResult { id: None, name, arguments, text }];
                Some(Self { role: b"tool".to_vec(), results, ..Self::default() })
            }
            role => Some(Self { role: role.to_vec(), text, ..Self::default() }),
        }
    }

    /// Returns all of it but the thoughts, as data: text, results, and each call as `name(JSON)`.
    pub(super) fn told(&self) -> Vec<u8> {
        let mut told = self.text.clone();
        self.results.iter().for_each(|result| add_line(&mut told, &result.text));
        for call in &self.calls {
            add_line(&mut told, &[call.name.as_slice(), b"(", &call.arguments, b")"].concat());
        }
        told
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thoughts.is_empty() && self.calls.is_empty() && self.results.is_empty()
    }

    fn calls_of(&mut self, message: Value<'_>) {
        let list = message.get("tool_calls").into_iter().flat_map(Value::items);
        for call in list.chain(message.get("function_call").filter(|call| call.get("name").is_some())) {
            // Some programs write a call twice, as a block and here.
            let call = tool_call(call).filter(|call| !self.calls.contains(call));
            self.calls.extend(call);
        }
    }

    /// Reads an item of a response that is no message.
    fn item(&mut self, item: Value<'_>) {
        match item.get("type").and_then(Value::string).as_ref().map(|kind| kind.bytes()) {
            Some(b"function_call") => self.calls.extend(tool_call(item)),
            Some(b"function_call_output") => self.results.push(ToolResult {
                id: own_text(item, "call_id"),
                name: None,
                arguments: None,
                text: item.get("output").map_or_else(Vec::new, text_of),
            }),
            _ => item.get("summary").into_iter().flat_map(Value::items).for_each(|part| self.think(part.get("text"))),
        }
    }

    /// Reads a block of a message: a text, a thought, a call of a tool or its result; anything else as JSON.
    fn block(&mut self, block: Value<'_>) {
        let is = |word: &str| block.get("type").is_some_and(|kind| kind.is_string(word));
        let inside = |key: &str| block.get(key).filter(|inner| inner.kind() == Kind::Object);
        let is_thought = block.get("thought").and_then(Value::bool) == Some(true);
        if is("thinking") || is("reasoning") || is_thought {
            self.think(block.get("thinking").or_else(|| block.get("text")));
        } else if SEALED.iter().any(|kind| is(kind)) {
            // There is nothing to read.
        } else if is("tool_use") || is("tool_call") || is("function_call") {
            self.calls.extend(tool_call(block));
        } else if is("tool_result") || is("tool_call_response") {
            let id = ["tool_use_id", "tool_call_id", "id"].into_iter().find_map(|key| own_text(block, key));
            let text = ["content", "response", "result"].into_iter().find_map(|key| block.get(key));
            self.results.push(ToolResult {
                id,
                name: None,
                arguments: None,
                text: text.map_or_else(Vec::new, text_of),
            });
        } else if let Some(call) = inside("functionCall").or_else(|| inside("function_call")) {
            self.calls.extend(tool_call(call));
        } else if let Some(result) = inside("functionResponse").or_else(|| inside("function_response")) {
            let text = result.get("response").map_or_else(Vec::new, text_of);
            let (id, name) = (own_text(result, "id"), own_text(result, "name"));
            self.results.push(ToolResult { id, name, arguments: None, text });
        } else {
            self.add(&text_of_block(block));
        }
    }

    fn add(&mut self, text: &[u8]) {
        add_line(&mut self.text, text);
    }

    fn think(&mut self, thought: Option<Value<'_>>) {
        if let Some(thought) = thought.and_then(Value::string) {
            add_line(&mut self.thoughts, thought.bytes());
        }
    }
}

fn add_line(lines: &mut Vec<u8>, line: &[u8]) {
    if !lines.is_empty() && !line.is_empty() {
        lines.push(b'\n');
    }
    lines.extend_from_slice(line);
}

fn own_text(value: Value<'_>, key: &str) -> Option<Vec<u8>> {
    Some(value.get(key)?.string()?.bytes().to_vec())
}

/// Returns a text; of blocks their texts, of nothing nothing, of anything else its JSON.
fn text_of(value: Value<'_>) -> Vec<u8> {
    match value.kind() {
        Kind::String => value.string().map_or_else(Vec::new, |text| text.bytes().to_vec()),
        Kind::Null => Vec::new(),
        Kind::Array if value.items().all(|item| item.get("text").is_some()) => {
            value.items().map(text_of_block).collect::<Vec<_>>().join(&b'\n')
        }
        _ => WRITTEN.of(value),
    }
}

fn text_of_block(block: Value<'_>) -> Vec<u8> {
    let text = ["text", "content", "refusal"].into_iter().find_map(|key| block.get(key));
    let text = text.filter(|text| text.kind() == Kind::String);
    text.map_or_else(|| text_of_other(block), text_of)
}

/// Returns a text, else the JSON of a block; of a long one, which is a picture or a file, what it is.
fn text_of_other(block: Value<'_>) -> Vec<u8> {
    let raw = block.raw().len();
    match own_text(block, "type") {
        _ if block.kind() == Kind::String => text_of(block),
        Some(kind) if raw > MAX_OTHER => [b"[", kind.as_slice(), format!(", {raw} bytes]").as_bytes()].concat(),
        _ => WRITTEN.of(block),
    }
}

/// Reads a call of a tool, whichever server wrote it. Arguments may be JSON in a text.
fn tool_call(call: Value<'_>) -> Option<ToolCall> {
    let function = call.get("function").unwrap_or(call);
    let name = own_text(function, "name").or_else(|| own_text(function, "tool_name"))?;
    let id = ["call_id", "id"].into_iter().find_map(|key| own_text(call, key));
    let arguments = ["arguments", "args", "input"].into_iter().find_map(|key| function.get(key));
    let arguments = arguments.map_or_else(Vec::new, |arguments| match arguments.string() {
        Some(text) => {
            Tape::default().parse(text.bytes()).map_or_else(|| text.bytes().to_vec(), |json| WRITTEN.of(json))
        }
        None => WRITTEN.of(arguments),
    });
    Some(ToolCall { id, name, arguments, result: None })
}

impl ToolCall {
    /// Writes the call as people do: `add(a=2, b=2)`.
    pub(super) fn shown(&self) -> Shown {
        let (mut tape, mut written) = (Tape::default(), self.arguments.clone());
        if let Some(given) = tape.parse(&self.arguments) {
            written = match given.kind() {
                Kind::Object => given.members().map(named).collect::<Vec<_>>().join(&b", "[..]),
                Kind::Null => Vec::new(),
                _ => written,
            };
        }
        Shown::line(&[self.name.as_slice(), b"(", &written, b")"].concat())
    }
}

fn named(member: Member<'_>) -> Vec<u8> {
    [member.name().bytes(), b"=", &WRITTEN.of(member.value)].concat()
}
