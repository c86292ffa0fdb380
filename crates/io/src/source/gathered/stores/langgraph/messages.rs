//! Messages of `LangChain`, as LangGraph's stores and dumps have them, as role, content and calls of tools.

use super::super::super::chat::plain_calls;
use super::super::super::plain::{Members, Plain};

/// Classes that are looked into no deeper than this.
const MAX_DEPTH: usize = 24;

/// Tells whether the fields of a class are those of a message.
pub(super) fn is_message(module: &[u8], class: &[u8], fields: &Plain) -> bool {
    let named = class.ends_with(b"Message") || class.ends_with(b"MessageChunk");
    (module.starts_with(b"langchain") || named) && is_dumped(fields)
}

/// Tells whether an object is a message as `model_dump` gives it.
fn is_dumped(fields: &Plain) -> bool {
    let Plain::Object(members) = fields else { return false };
    let has = |key: &str| members.iter().any(|(name, _)| name == key.as_bytes());
    fields.get("type").and_then(Plain::text).is_some_and(|kind| role(kind).is_some())
        && has("content")
        && has("additional_kwargs")
}

fn role(kind: &[u8]) -> Option<&[u8]> {
    Some(match kind {
        b"human" | b"HumanMessageChunk" => b"user",
        b"ai" | b"AIMessageChunk" => b"assistant",
        b"system" | b"SystemMessageChunk" => b"system",
        b"tool" | b"ToolMessageChunk" => b"tool",
        b"function" | b"FunctionMessageChunk" => b"function",
        b"chat" | b"ChatMessageChunk" | b"developer" | b"remove" => kind,
        _ => return None,
    })
}

/// Makes a message of its fields; those that say nothing are left out.
pub(super) fn message(fields: Plain) -> Plain {
    let Plain::Object(members) = fields else { return fields };
    let mut made = Members::new();
    for (key, value) in members {
        let says_nothing = match &value {
            Plain::List(items) => items.is_empty(),
            Plain::Object(members) => members.is_empty(),
            value => value.is_null() || (key == b"example" && value.json() == b"false"),
        };
        match key.as_slice() {
            b"type" => {
                let kind = value.as_text();
                let role = role(&kind).map_or(kind.clone(), <[u8]>::to_vec);
                made.insert(0, (b"role".to_vec(), Plain::Text(role)));
            }
            b"tool_calls" if !says_nothing => made.push((key, Plain::List(plain_calls(&value)))),
            b"content" => made.push((key, value)),
            _ if says_nothing => {}
            _ => made.push((key, value)),
        }
    }
    Plain::Object(made)
}

/// Makes messages of all that are in a value: as `model_dump` gives them, or as `LangChain` serialises classes.
pub(super) fn with_messages(value: Plain) -> Plain {
    inside(value, 0)
}

fn inside(value: Plain, depth: usize) -> Plain {
    if depth > MAX_DEPTH {
        return value;
    }
    match value {
        Plain::List(items) => Plain::List(items.into_iter().map(|item| inside(item, depth + 1)).collect()),
        Plain::Object(_) if is_dumped(&value) => message(value),
        Plain::Object(members) => match class_of(&members) {
            Some((class, fields)) => of_class(&class, inside(fields, depth + 1)),
            None => {
                let each = members.into_iter().map(|(key, value)| (key, inside(value, depth + 1)));
                Plain::Object(each.collect())
            }
        },
        value => value,
    }
}

/// Returns the class and the arguments of what `LangChain` serialised.
fn class_of(members: &Members) -> Option<(Vec<u8>, Plain)> {
    let find = |key: &[u8]| members.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    find(b"lc")?;
    let class = find(b"id")?.items().last()?.text()?.to_vec();
    let arguments = find(b"kwargs").or_else(|| find(b"args"))?;
    Some((class, arguments.clone()))
}

fn of_class(class: &[u8], fields: Plain) -> Plain {
    let kind: &[u8] = match class {
        b"HumanMessage" | b"HumanMessageChunk" => b"human",
        b"AIMessage" | b"AIMessageChunk" => b"ai",
        b"SystemMessage" => b"system",
        b"ToolMessage" => b"tool",
        _ => return fields,
    };
    let Plain::Object(mut members) = fields else { return fields };
    members.retain(|(key, _)| key != b"type");
    members.insert(0, (b"type".to_vec(), Plain::text_of(kind)));
    message(Plain::Object(members))
}
