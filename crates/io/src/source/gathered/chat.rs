//! Messages in the dialects of instrumentations, as role, content and calls of tools.

use std::collections::BTreeMap;

use super::plain::{Members, Plain, object};
use super::spans::Event;

/// Returns the messages of the conventions for generative AI, each a role with parts. Results of tools are messages of
/// their own.
pub(super) fn of_parts(list: &Plain) -> Vec<Plain> {
    list.items().iter().flat_map(message_of_parts).collect()
}

fn message_of_parts(message: &Plain) -> Vec<Plain> {
    let parts = message.get("parts").map_or(&[][..], Plain::items);
    if parts.is_empty() {
        return vec![message.clone()];
    }
    let of_type = |part: &Plain, kind: &str| part.get("type").and_then(Plain::text) == Some(kind.as_bytes());
    let texts: Vec<Vec<u8>> = parts
        .iter()
        .filter(|part| of_type(part, "text") || part.get("type").is_none())
        .filter_map(|part| part.get("content").or_else(|| part.get("text")).map(Plain::as_text))
        .collect();
    let thoughts: Vec<Vec<u8>> = parts
        .iter()
        .filter(|part| of_type(part, "reasoning") || of_type(part, "thinking"))
        .filter_map(|part| part.get("content").map(Plain::as_text))
        .collect();
    let calls: Vec<Plain> = parts
        .iter()
        .filter(|part| of_type(part, "tool_call"))
        .map(|part| call(part.get("id"), part.get("name"), part.get("arguments")))
        .collect();
    let results: Vec<Plain> = parts
        .iter()
        .filter(|part| of_type(part, "tool_call_response"))
        .map(|part| {
            let said = ["response", "result", "content"].into_iter().find_map(|key| part.get(key));
            object([
                ("role", Some(Plain::text_of(b"tool"))),
                ("tool_call_id", part.get("id").cloned()),
                ("content", Some(said.map_or_else(Plain::null, |said| Plain::Text(said.as_text())))),
            ])
        })
        .collect();
    if texts.is_empty() && calls.is_empty() && thoughts.is_empty() {
        return if results.is_empty() { vec![message.clone()] } else { results };
    }
    let whole = object([
        ("role", message.get("role").cloned()),
        ("content", Some(if texts.is_empty() { Plain::null() } else { Plain::Text(texts.concat()) })),
        ("tool_calls", Some(Plain::List(calls)).filter(|calls| !calls.items().is_empty())),
        ("reasoning", (!thoughts.is_empty()).then(|| Plain::Text(thoughts.join(&b'\n')))),
        ("finish_reason", message.get("finish_reason").cloned()),
    ]);
    std::iter::once(whole).chain(results).collect()
}

fn call(id: Option<&Plain>, name: Option<&Plain>, arguments: Option<&Plain>) -> Plain {
    let arguments = arguments.map(|arguments| arguments.clone().parsed());
    object([("id", id.cloned()), ("name", name.cloned()), ("arguments", arguments)])
}

/// Parts of a message whose attributes are numbered.
#[derive(Default)]
struct Numbered {
    plain: Members,
    texts: BTreeMap<u32, Vec<u8>>,
    calls: BTreeMap<u32, [Option<Plain>; 3]>,
}

/// Collects messages whose attributes are numbered: `PREFIX.0.role`, `PREFIX.0.message.role`.
pub(super) fn numbered(attributes: &Members, prefix: &str) -> Vec<Plain> {
    let mut all: BTreeMap<u32, Numbered> = BTreeMap::new();
    for (key, value) in attributes.iter().filter(|(_, value)| !value.is_null()) {
        let Some(rest) = key.strip_prefix(prefix.as_bytes()).and_then(|rest| rest.strip_prefix(b".")) else { continue };
        let Ok(rest) = std::str::from_utf8(rest) else { continue };
        let mut path: Vec<&str> = rest.split('.').collect();
        path.retain(|part| !matches!(*part, "message" | "message_content" | "tool_call" | "function"));
        let number = |part: &str| part.parse::<u32>().ok();
        let Some(at) = path.first().and_then(|first| number(first)) else { continue };
        let message = all.entry(at).or_default();
        match path.get(1..) {
            Some(["contents", n, "text"]) if number(n).is_some() => {
                message.texts.insert(number(n).unwrap_or(0), value.as_text());
            }
            Some(["tool_calls", n, what]) if number(n).is_some() => {
                let slot = ["id", "name", "arguments"].iter().position(|known| known == what);
                let calls = message.calls.entry(number(n).unwrap_or(0)).or_default();
                if let Some(slot) = slot.and_then(|slot| calls.get_mut(slot)) {
                    *slot = Some(value.clone());
                }
            }
            Some([name]) => message.plain.push((name.as_bytes().to_vec(), value.clone())),
            Some(names) => message.plain.push((names.join(".").into_bytes(), value.clone())),
            None => {}
        }
    }
    all.into_values().map(Numbered::message).collect()
}

impl Numbered {
    fn message(self) -> Plain {
        let mut members = self.plain;
        if !members.iter().any(|(key, _)| key == b"content") {
            let texts: Vec<Vec<u8>> = self.texts.into_values().collect();
            let content = if texts.is_empty() { Plain::null() } else { Plain::Text(texts.join(&b'\n')) };
            members.push((b"content".to_vec(), content));
        }
        let calls: Vec<Plain> = self
            .calls
            .into_values()
            .map(|[id, name, arguments]| call(id.as_ref(), name.as_ref(), arguments.as_ref()))
            .collect();
        if !calls.is_empty() {
            members.push((b"tool_calls".to_vec(), Plain::List(calls)));
        }
        Plain::Object(members)
    }
}

/// Collects the messages that events tell, before the reply and the reply, in the order of their times.
pub(super) fn of_events(events: &[Event]) -> (Vec<Plain>, Vec<Plain>) {
    let (mut asked, mut replied) = (Vec::new(), Vec::new());
    let mut in_order: Vec<&Event> = events.iter().collect();
    in_order.sort_by_key(|event| event.time);
    for event in in_order {
        match event.name.as_slice() {
            b"gen_ai.choice" => {
                let message =
                    event.body.get("message").map_or_else(|| event.body.clone(), |message| message.clone().parsed());
                replied.push(with(
                    plain_message(&message, b"assistant"),
                    "finish_reason",
                    event.body.get("finish_reason"),
                ));
            }
            name => {
                let role = name.strip_prefix(b"gen_ai.").and_then(|rest| rest.strip_suffix(b".message"));
                let known: [&[u8]; 5] = [b"system", b"developer", b"user", b"assistant", b"tool"];
                if let Some(role) = role.filter(|role| known.contains(role)) {
                    asked.push(plain_message(&event.body, role));
                }
            }
        }
    }
    (asked, replied)
}

fn plain_message(message: &Plain, role: &[u8]) -> Plain {
    object([
        ("role", Some(message.get("role").cloned().unwrap_or_else(|| Plain::text_of(role)))),
        ("content", Some(message.get("content").cloned().unwrap_or_else(Plain::null))),
        ("tool_calls", message.get("tool_calls").map(|calls| Plain::List(plain_calls(calls)))),
        ("tool_call_id", message.get("tool_call_id").or_else(|| message.get("id")).cloned()),
    ])
}

fn with(message: Plain, key: &str, value: Option<&Plain>) -> Plain {
    match (message, value) {
        (Plain::Object(mut members), Some(value)) => {
            members.push((key.as_bytes().to_vec(), value.clone()));
            Plain::Object(members)
        }
        (message, _) => message,
    }
}

/// Lists calls of tools, each with its id, name and arguments, whichever server wrote them.
pub(super) fn plain_calls(calls: &Plain) -> Vec<Plain> {
    let call_of = |item: &Plain| {
        let function = item.get("function").unwrap_or(item);
        let arguments = ["arguments", "args", "input"].into_iter().find_map(|key| function.get(key));
        let id = ["id", "call_id"].into_iter().find_map(|key| item.get(key));
        call(id, function.get("name").or_else(|| function.get("tool_name")), arguments)
    };
    calls.items().iter().map(call_of).collect()
}

/// Reply of a model.
#[derive(Default)]
pub(super) struct Replied {
    /// The text; `None`: there is no reply.
    pub text: Option<Vec<u8>>,
    pub calls: Vec<Plain>,
    pub thoughts: Option<Plain>,
    pub stop: Option<Plain>,
    pub refusal: Option<Plain>,
    /// The parts of a document that the reply cites.
    pub citations: Vec<Plain>,
}

/// Reads a reply: a text, a message, or the body of a server.
pub(super) fn replied(reply: &Plain) -> Replied {
    if let Some(text) = reply.text() {
        return Replied { text: Some(text.to_vec()), ..Replied::default() };
    }
    if let Some(choice) = reply.get("choices").and_then(|choices| choices.items().first()) {
        let stop = choice.get("finish_reason").cloned();
        let inside = choice.get("message").or_else(|| choice.get("text"));
        return inside.map_or_else(Replied::default, |message| Replied { stop, ..replied(message) });
    }
    if let Some(items) = reply.get("output").filter(|output| !output.items().is_empty()) {
        let made = of_blocks(items.items());
        return Replied { stop: reply.get("status").cloned().filter(|_| made.text.is_none()), ..made };
    }
    let mut made = match reply.get("content") {
        Some(content) if !content.items().is_empty() => of_blocks(content.items()),
        content => Replied { text: content.map(Plain::as_text), ..Replied::default() },
    };
    made.calls.extend(reply.get("tool_calls").map_or_else(Vec::new, plain_calls));
    made.refusal = made.refusal.or_else(|| reply.get("refusal").cloned());
    let stop = ["finish_reason", "stop_reason"].into_iter().find_map(|key| reply.get(key));
    made.stop = stop.cloned();
    made.thoughts =
        made.thoughts.or_else(|| reply.get("reasoning").or_else(|| reply.get("reasoning_content")).cloned());
    if made.text.is_none() {
        // A refusal is what the model said, and a call of a tool is a reply.
        made.text = made.refusal.as_ref().map(Plain::as_text).or_else(|| (!made.calls.is_empty()).then(Vec::new));
    }
    made
}

/// Returns what a reply says: its text, else the calls of tools that it is.
pub(super) fn told(reply: &Replied) -> Option<Vec<u8>> {
    let called = |call: &Plain| {
        let part = |key: &str| call.get(key).map_or_else(Vec::new, Plain::as_text);
        [part("name").as_slice(), b"(", part("arguments").as_slice(), b")"].concat()
    };
    let calls = || reply.calls.iter().map(called).collect::<Vec<_>>().join(&b'\n');
    reply.text.as_ref().map(|text| if text.is_empty() { calls() } else { text.clone() })
}

/// Reads blocks: texts, thoughts and calls, or the items of a response that hold some.
fn of_blocks(blocks: &[Plain]) -> Replied {
    let mut made = Replied::default();
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for block in blocks {
        let inner = block.get("content").map_or(&[][..], Plain::items);
        for block in std::iter::once(block).chain(inner) {
            match block.get("type").and_then(Plain::text) {
                Some(b"thinking" | b"reasoning") => thoughts.extend(block.get("thinking").map(Plain::as_text)),
                Some(b"tool_use" | b"function_call") => {
                    made.calls.extend(plain_calls(&Plain::List(vec![block.clone()])));
                }
                Some(b"refusal") => made.refusal = block.get("refusal").cloned(),
                _ => texts.extend(block.get("text").map(Plain::as_text)),
            }
            made.citations.extend(block.get("citations").map_or(&[][..], Plain::items).iter().cloned());
        }
    }
    made.thoughts = (!thoughts.is_empty()).then(|| Plain::Text(thoughts.join(&b'\n')));
    let text = (!texts.is_empty()).then(|| texts.concat());
    let refused = made.refusal.as_ref().map(Plain::as_text);
    made.text = text.or(refused).or_else(|| (!made.calls.is_empty()).then(Vec::new));
    made
}

/// Returns what a person asked last in messages.
pub(super) fn asked_last(messages: &[Plain]) -> Option<Vec<u8>> {
    let by_person = |message: &&Plain| {
        matches!(message.get("role").or_else(|| message.get("type")).and_then(Plain::text), Some(b"user" | b"human"))
    };
    let content = messages.iter().rev().find(by_person)?.get("content")?;
    let texts = |blocks: &[Plain]| {
        let of = |block: &Plain| block.get("text").or_else(|| block.get("content")).map(Plain::as_text);
        blocks.iter().filter_map(of).collect::<Vec<_>>().join(&b'\n')
    };
    let said = if content.items().is_empty() { content.as_text() } else { texts(content.items()) };
    Some(said).filter(|said| !said.is_empty())
}
