//! Values of other programs, taken out of what they were wrapped in: owned JSON that is looked at and written again.

use stepscope_base::json::write::{Json, Letters, Style, Writer, tight};
use stepscope_base::json::{Kind, Tape, Value};

/// Depth below which values are kept as their JSON, and not looked at.
const MAX_DEPTH: usize = 24;
/// The way in which records are written. Bytes stay as they are: what is wrong with them is a finding of the record.
const STYLE: Style = Style { letters: Letters::Canonical, ..Style::ASCII };

/// Owned JSON.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Plain {
    /// A number, a truth value, null, or anything else, as it was written.
    Raw(Vec<u8>),
    Text(Vec<u8>),
    List(Vec<Plain>),
    Object(Members),
}

impl Default for Plain {
    fn default() -> Self {
        Self::null()
    }
}

/// Members of an object, in their order.
pub(super) type Members = Vec<(Vec<u8>, Plain)>;

impl Plain {
    pub(super) fn of(value: Value<'_>) -> Self {
        Self::inside(value, 0)
    }

    fn inside(value: Value<'_>, depth: usize) -> Self {
        match value.kind() {
            _ if depth > MAX_DEPTH => Self::Raw(tight(value).0),
            Kind::Array => Self::List(value.items().map(|item| Self::inside(item, depth + 1)).collect()),
            Kind::Object => {
                let members = value.members();
                Self::Object(
                    members
                        .map(|member| (member.name().bytes().to_vec(), Self::inside(member.value, depth + 1)))
                        .collect(),
                )
            }
            _ => value.string().map_or_else(|| Self::Raw(tight(value).0), |text| Self::Text(text.bytes().to_vec())),
        }
    }

    /// Reads an attribute as OpenTelemetry wraps it: the type is the key.
    pub(super) fn of_any(value: Value<'_>) -> Self {
        Self::any_inside(value, 0)
    }

    fn any_inside(value: Value<'_>, depth: usize) -> Self {
        let of = |keys: [&str; 2]| keys.into_iter().find_map(|key| value.get(key)).filter(|inner| !inner.is_null());
        if depth > MAX_DEPTH || value.kind() != Kind::Object {
            return Self::inside(value, depth);
        }
        if let Some(number) = of(["intValue", "int_value"]) {
            return match number.string() {
                Some(text) if is_whole(text.bytes()) => Self::Raw(text.bytes().to_vec()),
                _ => Self::inside(number, depth),
            };
        }
        if let Some(list) = of(["arrayValue", "array_value"]) {
            return Self::List(values_of(list).map(|item| Self::any_inside(item, depth + 1)).collect());
        }
        if let Some(list) = of(["kvlistValue", "kvlist_value"]) {
            return Self::Object(values_of(list).filter_map(|item| keyed(item, depth + 1)).collect());
        }
        let others = [["stringValue", "string_value"], ["boolValue", "bool_value"], ["doubleValue", "double_value"]];
        let other = others.into_iter().chain([["bytesValue", "bytes_value"]]).find_map(of);
        other.map_or_else(Self::null, |other| Self::inside(other, depth))
    }

    pub(super) fn null() -> Self {
        Self::Raw(b"null".to_vec())
    }

    pub(super) fn text_of(text: &[u8]) -> Self {
        Self::Text(text.to_vec())
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(name, value)| name == key.as_bytes() && !value.is_null()).map(|(_, value)| value)
    }

    pub(super) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    pub(super) fn text(&self) -> Option<&[u8]> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns a text that says something.
    pub(super) fn said(&self) -> Option<&[u8]> {
        self.text().filter(|text| !text.trim_ascii().is_empty())
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Raw(raw) if raw == b"null")
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Raw(raw) if raw.first().is_some_and(|first| first.is_ascii_digit() || *first == b'-'))
    }

    /// Returns what a text says that holds an object or a list as JSON; anything else as it is.
    pub(super) fn parsed(self) -> Self {
        let is_container = |text: &[u8]| matches!(text.trim_ascii().first(), Some(b'{' | b'['));
        match &self {
            Self::Text(text) if is_container(text) => from_json(text).unwrap_or(self),
            _ => self,
        }
    }

    /// Returns what a text says that is JSON of any kind; anything else as it is.
    pub(super) fn unwrapped(self) -> Self {
        match &self {
            Self::Text(text) => from_json(text).unwrap_or(self),
            _ => self,
        }
    }

    /// Returns a text as it is, and anything else as its JSON.
    pub(super) fn as_text(&self) -> Vec<u8> {
        self.text().map_or_else(|| self.json(), <[u8]>::to_vec)
    }

    pub(super) fn json(&self) -> Vec<u8> {
        STYLE.of(self)
    }
}

impl Json for Plain {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Raw(json) => writer.raw(json),
            Self::Text(text) => writer.text(text),
            Self::List(items) => writer.list(items, |item, writer| item.write(writer)),
            Self::Object(members) => writer.object(|object| {
                for (key, value) in members {
                    object.put(key, value);
                }
            }),
        }
    }
}

/// Makes an object of members that have a value.
pub(super) fn object<const N: usize>(members: [(&str, Option<Plain>); N]) -> Plain {
    let members = members.into_iter();
    Plain::Object(members.filter_map(|(key, value)| Some((key.as_bytes().to_vec(), value?))).collect())
}

/// Reads attributes: an object, or a list of keys with wrapped values.
pub(super) fn attributes(value: Value<'_>) -> Members {
    match value.kind() {
        Kind::Array => value.items().filter_map(|item| keyed(item, 0)).collect(),
        _ => match Plain::of(value) {
            Plain::Object(members) => members,
            _ => Vec::new(),
        },
    }
}

fn keyed(item: Value<'_>, depth: usize) -> Option<(Vec<u8>, Plain)> {
    Some((item.get("key")?.string()?.bytes().to_vec(), Plain::any_inside(item.get("value")?, depth)))
}

fn values_of(list: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    list.get("values").into_iter().flat_map(Value::items)
}

fn is_whole(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_plain = digits == b"0" || !digits.starts_with(b"0");
    (1..=40).contains(&digits.len()) && is_plain && digits.iter().all(u8::is_ascii_digit)
}

fn from_json(text: &[u8]) -> Option<Plain> {
    let mut tape = Tape::default();
    // A text that is only almost JSON stays a text.
    let root = tape.parse(text).map(Plain::of);
    root.filter(|_| tape.problems().is_empty())
}

impl Plain {
    /// Returns an object with the members of another one in front.
    pub(super) fn behind(self, front: Self) -> Self {
        match (front, self) {
            (Self::Object(mut all), Self::Object(members)) => {
                all.extend(members);
                Self::Object(all)
            }
            (_, other) => other,
        }
    }
}
