//! Paths into JSON: the singular queries of RFC 9535 (`$.a['b c'][0]`), and `[*]` for every item.
//!
//! Values are found on the tape of the record, so that their digits stay as they were written; the crates for the whole
//! language read into values of their own.

use std::fmt;

use stepscope_base::json::{Kind, Value};

/// No path has more parts.
const MAX_PARTS: usize = 32;
/// No path with `[*]` leads to more values.
const MAX_FOUND: usize = 1_000_000;
/// Number of ways that are listed of one row, and how long each is.
const MAX_LEAVES: usize = 200;
const MAX_DEPTH: usize = 6;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Key(String),
    /// From the end where it is negative.
    Index(i64),
    Every,
}

/// Way from a value to others within it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Path(Vec<Part>);

impl Path {
    /// Reads a path; `Err`: the reason why it is none.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut rest = text.strip_prefix('$').ok_or("a path begins with $")?;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (part, behind) = part_of(rest)?;
            parts.push(part);
            rest = behind;
            if parts.len() > MAX_PARTS {
                return Err("it has too many parts");
            }
        }
        Ok(Self(parts))
    }

    /// Returns the first value that it leads to, unless that is null.
    pub(crate) fn first<'v>(&self, root: Value<'v>) -> Option<Value<'v>> {
        let mut found = root;
        for part in &self.0 {
            found = match part {
                Part::Every => found.items().next()?,
                part => step(found, part)?,
            };
        }
        Some(found).filter(|value| !value.is_null())
    }

    /// Lists all values that it leads to.
    pub(crate) fn all<'v>(&self, root: Value<'v>) -> Vec<Value<'v>> {
        let mut found = vec![root];
        for part in &self.0 {
            found = match part {
                Part::Every => found.iter().flat_map(|value| value.items()).take(MAX_FOUND).collect(),
                part => found.into_iter().filter_map(|value| step(value, part)).collect(),
            };
        }
        found
    }

    /// Lists the ways to all values of a row that hold no others, of lists those of the first item.
    pub(super) fn leaves(root: Value<'_>) -> Vec<(Self, Value<'_>)> {
        let (mut leaves, mut open) = (Vec::new(), vec![(Self(Vec::new()), root)]);
        while let Some((path, value)) = open.pop() {
            let inner: Vec<(Part, Value<'_>)> = match value.kind() {
                Kind::Object => {
                    let key = |name: &str| Part::Key(name.to_owned());
                    value
                        .first_entries(MAX_LEAVES)
                        .iter()
                        .filter_map(|entry| Some((key(entry.name().utf8()?), entry.value)))
                        .collect()
                }
                Kind::Array => value.items().next().map(|item| (Part::Index(0), item)).into_iter().collect(),
                _ => Vec::new(),
            };
            if inner.is_empty() || path.0.len() > MAX_DEPTH || leaves.len() + open.len() > MAX_LEAVES {
                leaves.push((path, value));
                continue;
            }
            open.extend(inner.into_iter().rev().map(|(part, value)| {
                let mut way = path.clone();
                way.0.push(part);
                (way, value)
            }));
        }
        leaves
    }

    /// Tells whether one of two ways leads through the other.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Part, &Part)| {
            one == other || matches!((one, other), (Part::Every | Part::Index(_), Part::Every | Part::Index(_)))
        };
        self.0.iter().zip(&other.0).all(is_same)
    }

    /// Returns its last key.
    pub(super) fn last_key(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|part| if let Part::Key(key) = part { Some(key.as_str()) } else { None })
    }

    /// Returns the key that it begins with.
    pub(crate) fn first_key(&self) -> Option<&str> {
        match self.0.first()? {
            Part::Key(key) => Some(key),
            _ => None,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|part| match part {
            Part::Key(key) if key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                write!(f, ".{key}")
            }
            Part::Key(key) => write!(f, "[\"{key}\"]"),
            Part::Index(at) => write!(f, "[{at}]"),
            Part::Every => f.write_str("[*]"),
        })
    }
}

fn step<'v>(value: Value<'v>, part: &Part) -> Option<Value<'v>> {
    match (part, value.kind()) {
        (Part::Key(key), Kind::Object) => value.get(key),
        (Part::Index(at), Kind::Array) if *at < 0 => {
            let from_start = value.len().checked_sub(usize::try_from(at.unsigned_abs()).ok()?)?;
            value.items().nth(from_start)
        }
        (Part::Index(at), Kind::Array) => value.items().nth(usize::try_from(*at).ok()?),
        _ => None,
    }
}

/// Reads the first part of the rest of a path.
fn part_of(text: &str) -> Result<(Part, &str), &'static str> {
    const OPEN: &str = "a [ is not closed";
    if let Some(name) = text.strip_prefix('.') {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (key, rest) = name.split_at(end);
        return match key {
            "" => Err("a name is missing behind a point"),
            "*" => Ok((Part::Every, rest)),
            key => Ok((Part::Key(key.to_owned()), rest)),
        };
    }
    let inner = text.strip_prefix('[').ok_or("after $ comes .name, ['name'] or [0]")?;
    for quote in ['\'', '"'] {
        if let Some(quoted) = inner.strip_prefix(quote) {
            let (key, rest) = quoted.split_once(quote).ok_or(OPEN)?;
            return Ok((Part::Key(key.to_owned()), rest.strip_prefix(']').ok_or(OPEN)?));
        }
    }
    let (inside, rest) = inner.split_once(']').ok_or(OPEN)?;
    match inside {
        "*" => Ok((Part::Every, rest)),
        number => {
            number.parse().map(|at| (Part::Index(at), rest)).map_err(|_| "between [ and ] is a number, a 'name' or *")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    fn found(path: &str, json: &str) -> Vec<String> {
        let mut tape = Tape::default();
        let values = Path::parse(path).unwrap().all(tape.parse(json.as_bytes()).unwrap());
        values.iter().map(|value| String::from_utf8_lossy(value.raw()).into_owned()).collect()
    }

    #[test]
    fn paths_lead_where_they_say() {
        let json = r#"{"a": {"b c": [1.50, null, {"d": "x"}]}, "e": [[1, 2], [3]]}"#;
        assert_eq!(found("$.a['b c'][0]", json), ["1.50"]);
        assert_eq!(found("$.a[\"b c\"][-1].d", json), ["\"x\""]);
        assert_eq!(found("$.e[*][0]", json), ["1", "3"]);
        assert_eq!(found("$.e.*[*]", json), ["1", "2", "3"]);
        assert_eq!(found("$.a[0]", json), [""; 0], "an object has no places");
        assert_eq!(found("$.e[9]", json), [""; 0]);
        assert_eq!(found("$", "7"), ["7"]);
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (text, why) in [
            ("a", "begins with $"),
            ("$a", "comes .name"),
            ("$.a[", "not closed"),
            ("$.a['b", "not closed"),
            ("$..b", "name is missing"),
            ("$[x]", "between [ and ]"),
        ] {
            assert!(Path::parse(text).is_err_and(|said| said.contains(why)), "{text}");
        }
    }
}
