//! Equality of values as a reader sees them.

use crate::json::{Kind, Value};

/// Tells whether two values are the same to a reader: numbers by value, texts by their characters, containers in order.
pub fn same_value(a: Value<'_>, b: Value<'_>) -> bool {
    if a.raw() == b.raw() {
        return true;
    }
    let (mut left, mut right) = (a.walk(), b.walk());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(l), Some(r)) => {
                let same_key = l.key.and_then(Value::string) == r.key.and_then(Value::string);
                if l.depth != r.depth || !same_key || !same_scalar(l.value, r.value) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

fn same_scalar(a: Value<'_>, b: Value<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (Kind::Int, Kind::Int) => a.raw() == b.raw(),
        _ if a.is_number() && b.is_number() => a.float() == b.float(),
        (Kind::String, Kind::String) => a.string() == b.string(),
        (left, right) => left == right,
    }
}
