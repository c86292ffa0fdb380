//! The first place in which a saved value differs from what the model wrote.

use crate::typed::BASE_FIELDS;
use stepscope_base::json::{Kind, Member, Part, Pointer, Value};
use stepscope_base::python::{Message, repr};
use stepscope_base::text::{Untrusted, head};

/// Maximum length of a value that is quoted, in bytes.
const MAX_QUOTED: usize = 60;

/// Difference between a saved value and the model's reply.
pub enum Difference {
    /// Both values, as they are written.
    Values(Vec<u8>, Vec<u8>),
    /// A field that only the raw response has.
    Lost(Untrusted<'static>),
}

impl Difference {
    /// Says the difference; `saved` names what was saved: "the answer".
    pub fn told(self, saved: &'static str) -> Message {
        match self {
            Self::Values(here, raw) => Message::new("The model wrote ")
                .text(raw)
                .text(", but ")
                .text(saved)
                .text(" says ")
                .text(here)
                .text("."),
            Self::Lost(name) => Message::new("The model wrote a field \"")
                .text(name.bytes())
                .text("\" that ")
                .text(saved)
                .text(" does not have."),
        }
    }
}

/// The first difference in the order of the answer; `pointer` is left where it stands.
pub fn first_difference(here: Value<'_>, raw: Value<'_>, pointer: &mut Pointer) -> Option<Difference> {
    match (here.kind(), raw.kind()) {
        (Kind::Object, Kind::Object) => members_differ(here, raw, pointer),
        (Kind::Array, Kind::Array) if here.len() == raw.len() => {
            for (n, (here, raw)) in here.items().zip(raw.items()).enumerate() {
                pointer.0.push(Part::Index(n));
                if let Some(difference) = first_difference(here, raw, pointer) {
                    return Some(difference);
                }
                pointer.0.pop();
            }
            None
        }
        _ if is_same(here, raw) => None,
        _ => Some(Difference::Values(quoted(here), quoted(raw))),
    }
}

fn members_differ(here: Value<'_>, raw: Value<'_>, pointer: &mut Pointer) -> Option<Difference> {
    let (own, mut theirs) = (here.entries(), raw.entries());
    theirs.sort_by_key(Member::name);
    let find = |name: &Untrusted<'_>| {
        let at = theirs.binary_search_by(|member| member.name().cmp(name)).ok()?;
        theirs.get(at).map(|member| member.value)
    };
    for member in &own {
        let name = member.name();
        pointer.0.push(Part::Key(name.to_owned()));
        let difference = match find(&name) {
            Some(raw) => first_difference(member.value, raw, pointer),
            None if member.value.is_null() => None,
            None => Some(Difference::Values(quoted(member.value), b"nothing".to_vec())),
        };
        if difference.is_some() {
            return difference;
        }
        pointer.0.pop();
    }
    let mut names: Vec<_> = own.iter().map(Member::name).collect();
    names.sort();
    let lost = theirs.iter().filter(|member| !member.value.is_null() && names.binary_search(&member.name()).is_err());
    // Lenient readers drop fields that the contract does not have.
    let is_ours = |name: &str| BASE_FIELDS.contains(&name) || name == "items";
    let mut lost = lost.filter(|member| !pointer.0.is_empty() || member.name().utf8().is_some_and(is_ours));
    lost.next().map(|member| Difference::Lost(member.name().into_owned()))
}

/// Equal, but for how numbers are written.
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    let number = |value: Value<'_>| value.float().or_else(|| value.string()?.utf8()?.trim().parse().ok());
    match (a.kind(), b.kind()) {
        (Kind::String, Kind::String) => {
            let trimmed = |value: Value<'_>| value.string().map(|text| text.bytes().trim_ascii().to_vec());
            a.string() == b.string() || trimmed(a) == trimmed(b)
        }
        (Kind::True | Kind::False | Kind::Null, _) | (_, Kind::True | Kind::False | Kind::Null) => a.kind() == b.kind(),
        _ => number(a)
            .zip(number(b))
            .is_some_and(|(a, b)| a.total_cmp(&b).is_eq() || (a - b).abs() <= f64::EPSILON * a.abs()),
    }
}

fn quoted(value: Value<'_>) -> Vec<u8> {
    if value.is_container() {
        let what: &[u8] = if value.kind() == Kind::Array { b" items" } else { b" fields" };
        return [value.len().to_string().as_bytes(), what].concat();
    }
    let mut out = Vec::new();
    repr(value, &mut out);
    if out.len() > MAX_QUOTED {
        out = [head(&out, MAX_QUOTED), "…".as_bytes()].concat();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    fn difference(here: &str, raw: &str) -> Option<(String, String)> {
        let (mut a, mut b) = (Tape::default(), Tape::default());
        let (here, raw) = (a.parse(here.as_bytes()).unwrap(), b.parse(raw.as_bytes()).unwrap());
        let mut pointer = Pointer::default();
        let found = first_difference(here, raw, &mut pointer)?;
        let message: Untrusted<'_> = found.told("the answer").into();
        Some((pointer.text().line().into_string(), message.line().into_string()))
    }

    #[test]
    fn only_what_says_something_else_is_a_difference() {
        let same = [
            (r#"{"a": 1, "b": null}"#, r#"{"a": 1.0}"#),
            (r#"{"a": 1}"#, r#"{"notes": "x", "a": "1"}"#),
            (r#"{"items": [{"x": {"y": [1]}}]}"#, r#"{"items": [{"x": {"y": [1.0], "unit": null}}]}"#),
            (r#"{"a": NaN}"#, r#"{"a": NaN}"#),
        ];
        for (here, raw) in same {
            assert_eq!(difference(here, raw), None, "{here} {raw}");
        }
        let other = [
            (
                r#"{"items": [{"a": "x"}, {"a": "y"}]}"#,
                r#"{"items": [{"a": "x"}]}"#,
                "/items",
                "The model wrote 1 items, but the answer says 2 items.",
            ),
            (r#"{"a": {"b": true}}"#, r#"{"a": {"b": 1}}"#, "/a/b", "The model wrote 1, but the answer says True."),
            (
                r#"{"a": {}}"#,
                r#"{"a": {"b": 1}}"#,
                "/a",
                "The model wrote a field \"b\" that the answer does not have.",
            ),
            (
                r#"{"a": 1}"#,
                r#"{"a": 1, "items": []}"#,
                "",
                "The model wrote a field \"items\" that the answer does not have.",
            ),
            (r#"{"a": 1}"#, "{}", "/a", "The model wrote nothing, but the answer says 1."),
        ];
        for (here, raw, pointer, message) in other {
            assert_eq!(difference(here, raw), Some((pointer.to_owned(), message.to_owned())), "{here} {raw}");
        }
    }
}
