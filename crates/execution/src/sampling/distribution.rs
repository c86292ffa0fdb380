//! Several replies to the same request, counted: per field the values that came, how often, and what did not count.
//!
//! Values are compared as upstream's users compare them: numbers rounded to six places, texts trimmed, in lower case
//! and with single blanks, truth values apart. As there, a reply counts if it has every expected key, even one that the
//! schema lets be and even if it breaks the schema. Upstream drops the others without a word; here they are counted.

use std::collections::HashMap;

use crate::call::{JudgedReply, ReplyVerdict};
use stepscope_base::json::write::{Letters, Spacing, Style, int_digits};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::text::Untrusted;

/// One value and how often it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// The value as it first came, as JSON text.
    pub text: Vec<u8>,
    /// The replies that gave it, by their number from 0.
    pub samples: Vec<usize>,
}

/// One field over all replies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldCounts {
    /// Name of the field.
    pub name: Untrusted<'static>,
    /// The values, the most frequent first; of equals the one that came first.
    pub buckets: Vec<Bucket>,
    /// Replies that do not have it.
    pub absent: Vec<usize>,
}

impl FieldCounts {
    /// Tells whether the first place is shared.
    pub fn is_tie(&self) -> bool {
        let count = |n: usize| self.buckets.get(n).map(|bucket| bucket.samples.len());
        count(0).is_some() && count(0) == count(1)
    }
}

/// Distribution of the values of several replies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    /// Counts of every expected field.
    pub fields: Vec<FieldCounts>,
    /// Replies that are not JSON.
    pub invalid: Vec<usize>,
    /// Replies without anything in them.
    pub empty: Vec<usize>,
    /// Replies that break the schema, whether they count or not.
    pub breaking: Vec<usize>,
    /// Replies without one of the expected keys; they do not count for any field.
    pub incomplete: Vec<usize>,
    /// Replies that count: objects with every expected key.
    pub valid: Vec<usize>,
    /// Calls that failed.
    pub failed: Vec<usize>,
}

impl Distribution {
    /// Counts the values of each expected field. A reply of `None` is a call that failed.
    pub fn of(expected: &[Untrusted<'static>], replies: &[Option<JudgedReply>]) -> Self {
        let mut made = Self::default();
        let mut read = Vec::new();
        for (n, reply) in replies.iter().enumerate() {
            let Some(reply) = reply else {
                made.failed.push(n);
                continue;
            };
            let list = match &reply.verdict {
                ReplyVerdict::Empty => &mut made.empty,
                ReplyVerdict::Invalid(_) => &mut made.invalid,
                ReplyVerdict::Obeyed | ReplyVerdict::Breaks(_) => {
                    if matches!(reply.verdict, ReplyVerdict::Breaks(_)) {
                        made.breaking.push(n);
                    }
                    read.push((n, reply));
                    if reply.missing.is_empty() { &mut made.valid } else { &mut made.incomplete }
                }
            };
            list.push(n);
        }
        for name in expected {
            if made.fields.iter().all(|field| field.name != *name) {
                made.fields.push(field(name, &read));
            }
        }
        made
    }

    /// Returns the most frequent value of every field that came at all; of equals the first one, as upstream takes it.
    pub fn consensus(&self) -> Vec<(Untrusted<'static>, Vec<u8>)> {
        let first = |field: &FieldCounts| Some((field.name.clone(), field.buckets.first()?.text.clone()));
        self.fields.iter().filter_map(first).collect()
    }
}

fn field(name: &Untrusted<'static>, read: &[(usize, &JudgedReply)]) -> FieldCounts {
    let mut field = FieldCounts { name: name.clone(), buckets: Vec::new(), absent: Vec::new() };
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    for (n, reply) in read {
        let Some((_, text)) = reply.outputs.iter().find(|(other, _)| other == name) else {
            field.absent.push(*n);
            continue;
        };
        if !reply.missing.is_empty() {
            continue;
        }
        let place = *places.entry(normal(text)).or_insert(field.buckets.len());
        match field.buckets.get_mut(place) {
            Some(bucket) => bucket.samples.push(*n),
            None => field.buckets.push(Bucket { text: text.clone(), samples: vec![*n] }),
        }
    }
    field.buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.samples.len()));
    field
}

/// Normalizes the text of a value, so that equal values compare equal.
pub fn normal(text: &[u8]) -> Vec<u8> {
    let mut tape = Tape::default();
    tape.parse(text).map_or_else(|| text.to_vec(), normal_value)
}

fn normal_value(value: Value<'_>) -> Vec<u8> {
    match value.kind() {
        Kind::Int => [b"number ", int_digits(value)].concat(),
        Kind::Float => {
            let rounded = format!("{:.6}", value.float().unwrap_or(f64::NAN));
            let short = rounded.trim_end_matches('0').trim_end_matches('.');
            let short = if rounded.contains('.') { short } else { &rounded };
            format!("number {}", if short == "-0" { "0" } else { short }).into_bytes()
        }
        Kind::String | Kind::Key => {
            let string = value.string().expect("a string or a key");
            let Some(text) = string.utf8() else { return [b"text ", string.bytes()].concat() };
            let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            [b"text ", folded.as_bytes()].concat()
        }
        _ => {
            let mut out = b"other ".to_vec();
            Style::python(Letters::Kept, Spacing::Tight).append(value, &mut out);
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Judge;

    #[test]
    fn values_are_compared_as_upstream_does() {
        let same = |a: &str, b: &str| normal(a.as_bytes()) == normal(b.as_bytes());
        for (a, b) in [
            ("35", "35.0"),
            ("1.0000001", "1"),
            ("-0.0", "0"),
            ("0.1234564", "0.12345641"),
            ("\" A  b\\n\"", "\"a B\""),
            ("1e2", "100"),
            ("{\"a\":1}", "{ \"a\" : 1 }"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
        for (a, b) in [("35", "\"35\""), ("true", "1"), ("true", "\"true\""), ("1.00001", "1"), ("null", "\"null\"")] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert!(!same("100000000000000000001", "100000000000000000000"), "integers are exact");
    }

    #[test]
    fn what_does_not_count_is_counted() {
        let schema = r#"{"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}, "required": ["a"]}"#;
        let expected = ["a", "b"].map(Untrusted::from);
        let judge = Judge::new(Some(&Untrusted::from(schema)), &expected);
        let replies = [
            "{\"a\": 2, \"b\": \"X\"}",
            "",
            "{\"a\": [2]}",
            "no",
            "{\"a\": 3, \"b\": \"x \"}",
            "{\"a\": 2.0, \"b\": null, \"c\": 1}",
            "{\"a\": 3}",
            "[3]",
            "{\"a\": 3.0, \"b\": \"y\"}",
        ];
        let mut replies: Vec<_> = replies.iter().map(|reply| Some(judge.judge(reply.as_bytes()))).collect();
        replies.push(None);
        let made = Distribution::of(&expected, &replies);
        assert_eq!((made.empty, made.invalid, made.failed), (vec![1], vec![3], vec![9]));
        assert_eq!((made.breaking, made.incomplete, made.valid), (vec![2, 5, 7], vec![2, 6, 7], vec![0, 4, 5, 8]));
        let [a, b] = made.fields.as_slice() else { panic!() };
        assert!(a.is_tie() && !b.is_tie());
        assert_eq!(a.buckets[0], Bucket { text: b"2".to_vec(), samples: vec![0, 5] });
        assert_eq!(
            (b.buckets.len(), b.buckets[0].samples.as_slice(), b.absent.as_slice()),
            (3, &[0, 4][..], &[2, 6, 7][..])
        );
        let made = Distribution::of(&expected, &replies);
        assert_eq!(
            made.consensus(),
            [(Untrusted::from("a"), b"2".to_vec()), (Untrusted::from("b"), b"\"X\"".to_vec())]
        );
    }
}
