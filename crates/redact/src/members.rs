//! Secrets that the structure of a record gives away: the name of a member, of a list around it, or of a text beside it.

use std::collections::BTreeMap;

use super::names::{LONGEST, Secrecy};
use stepscope_base::json::{Kind, Value};

/// Members whose text names what another member of the same object holds.
const NAMING: &[&str] = stepscope_base::list![
    name key header field variable var env label id parameter param option attribute property k title
    header_name field_name type kind what
];
/// Members that hold what another one names.
const HOLDING: &[&str] = stepscope_base::list![
    value val v text content data secret plain current string raw key token input values
];
/// Members that say something about a value.
const DESCRIBING: &[&str] = stepscope_base::list![
    type description title format name kind comment hint label placeholder error message status model role
    created updated expires
];

/// An open object or list of a walk.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Secrecy of what is in it, by its own name.
    around: Option<Secrecy>,
    /// Secrecy of its members, by what one of them says.
    pair: Option<Secrecy>,
    /// Secrecy of the next text, by the one before.
    before: Option<Secrecy>,
}

/// Every key, string and number of a value in order, and whether it is secret because of a name.
pub(super) fn each_token<'a>(root: Value<'a>, mut found: impl FnMut(Value<'a>, bool)) {
    let mut frames: Vec<Frame> = Vec::new();
    for stop in root.walk() {
        frames.truncate(stop.depth);
        let frame = frames.last().copied().unwrap_or_default();
        if let Some(key) = stop.key {
            found(key, false);
        }
        let named = match stop.key {
            Some(key) => by_member(key, frame),
            None => frame.around.map(|around| (around, true)).or(frame.before.map(|before| (before, false))),
        };
        let value = stop.value;
        if let Some(frame) = frames.last_mut() {
            frame.before = stop.key.is_none().then(|| name_in(value)).flatten();
        }
        match value.kind() {
            Kind::Array | Kind::Object => {
                let around = match named {
                    Some((Secrecy::Guarded, _)) if value.kind() == Kind::Object => Some(Secrecy::Perhaps),
                    Some((Secrecy::Perhaps | Secrecy::Token, _))
                        if value.kind() == Kind::Object && stop.key.is_some() =>
                    {
                        None
                    }
                    named => named.map(|(secrecy, _)| secrecy),
                };
                frames.push(Frame { around, pair: pair(value), before: None });
            }
            Kind::String => {
                let holds = |(secrecy, direct): (Secrecy, bool)| {
                    value.string().is_some_and(|text| secrecy.holds(text.bytes(), direct))
                };
                found(value, named.is_some_and(holds));
            }
            Kind::Int | Kind::Float => {
                // Only a password may be a number.
                let is_secret = named.is_some_and(|named| named == (Secrecy::Password, true));
                found(value, is_secret && value.raw().len() >= 4);
            }
            _ => {}
        }
    }
}

/// Secrecy of a member's value by its key, or by what stands around or beside the member; and whether that is the name
/// of this very value.
fn by_member(key: Value<'_>, frame: Frame) -> Option<(Secrecy, bool)> {
    let name = key.string()?;
    let lower = name.bytes().get(..name.bytes().len().min(LONGEST))?.to_ascii_lowercase();
    let is_in = |words: &[&str]| words.iter().any(|word| lower == word.as_bytes());
    let holding = is_in(HOLDING) || lower.ends_with(b"value");
    let beside = frame.pair.or(frame.around).filter(|_| !is_in(DESCRIBING));
    match (Secrecy::of(name.bytes()), beside) {
        // `key` and `token` say less than what stands around them.
        (None | Some(Secrecy::Perhaps | Secrecy::Token), Some(beside)) => Some((beside, holding)),
        // `pass` counts tests more often than not.
        (None, None) if lower == b"pass" => Some((Secrecy::Password, false)),
        (own, _) => own.map(|own| (own, true)),
    }
}

/// Returns what a text says of the next one in a list: `"--password"`, `"Authorization"`.
fn name_in(value: Value<'_>) -> Option<Secrecy> {
    let text = value.string().filter(|_| value.kind() == Kind::String)?;
    let text = text.bytes();
    let name = text.strip_suffix(b":").unwrap_or(text);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ');
    Secrecy::of(name).filter(|_| name.iter().all(is_name))
}

/// Returns what one member of an object says of the others: `{"name": "API_KEY", "value": …}`.
fn pair(object: Value<'_>) -> Option<Secrecy> {
    let is_naming = |key: Value<'_>| {
        key.string().is_some_and(|name| {
            let lower = name.bytes().to_ascii_lowercase();
            NAMING.iter().any(|word| lower == word.as_bytes())
        })
    };
    object.members().filter(|member| is_naming(member.key)).find_map(|member| name_in(member.value))
}

/// The texts of each list that may be lines of one text: its own, and those of its objects under one name.
pub(super) fn lines<'a>(root: Value<'a>) -> Vec<Vec<Value<'a>>> {
    let mut all = Vec::new();
    for stop in root.walk().filter(|stop| stop.value.kind() == Kind::Array) {
        let mut own = Vec::new();
        let mut named: BTreeMap<Vec<u8>, Vec<Value<'a>>> = BTreeMap::new();
        for item in stop.value.items() {
            match item.kind() {
                Kind::String => own.push(item),
                Kind::Object => {
                    for member in item.members().filter(|member| member.value.kind() == Kind::String) {
                        named.entry(member.name().bytes().to_vec()).or_default().push(member.value);
                    }
                }
                _ => {}
            }
        }
        all.push(own);
        all.extend(named.into_values());
    }
    all.retain(|lines| lines.len() > 1);
    all
}
