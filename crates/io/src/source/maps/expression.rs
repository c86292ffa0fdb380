//! Expression of a map for one key: a path, several paths of which the first counts, a constant, or one of a few operations.

use super::path::Path;
use stepscope_base::json::write::{Letters, Style, tight};
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::messages::split;

/// Source of a value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    /// The first of these that leads to a value.
    First(Vec<Expression>),
    /// The value at a path.
    At(Path),
    /// The same for every row, as JSON.
    Constant(Vec<u8>),
    /// True if what is there is this value, false if it is another one.
    Equals(Box<Expression>, Vec<u8>),
    /// A value, where a condition holds.
    When(Box<Expression>, Box<Expression>),
    /// A value as a text, JSON where it is none.
    Text(Box<Expression>),
    /// Texts with blanks between them.
    Join(Vec<Expression>),
    /// The messages before the last reply in a conversation.
    Prompt(Path),
    /// The text of the last reply in a conversation.
    Reply(Path),
    /// The place of the largest of some numbers, from 0.
    Largest(Path),
}

impl Expression {
    /// Reads what a map says of a key; `Err`: the reason why it says nothing.
    pub(crate) fn parse(value: &toml::Value) -> Result<Self, Shown> {
        const FORMS: &str = "write a path such as \"$.input\", a list of paths, a constant, or a table with one of \
                             path, first, text, join, prompt, reply, largest, and equals or when";
        match value {
            toml::Value::String(text) if text.starts_with('$') => Ok(Self::At(path(text)?)),
            toml::Value::Array(items) => items.iter().map(Self::parse).collect::<Result<_, _>>().map(Self::First),
            toml::Value::Table(table) => Self::of_table(table).unwrap_or_else(|| Err(Shown::own(FORMS))),
            other => constant(other).map(Self::Constant).ok_or_else(|| Shown::own(FORMS)),
        }
    }

    /// Reads a table; `None`: it has no known form.
    fn of_table(table: &toml::Table) -> Option<Result<Self, Shown>> {
        let (mut form, mut equals, mut when) = (None, None, None);
        for (key, value) in table {
            match key.as_str() {
                "equals" => equals = Some(constant(value)?),
                "when" => when = Some(Self::parse(value)),
                _ if form.is_some() => return None,
                "path" | "first" => form = Some(Self::parse(value)),
                "text" => form = Some(Self::parse(value).map(|of| Self::Text(Box::new(of)))),
                "join" => form = Some(Self::parse(value).map(|of| Self::Join(of.list()))),
                "prompt" => form = Some(path(value.as_str()?).map(Self::Prompt)),
                "reply" => form = Some(path(value.as_str()?).map(Self::Reply)),
                "largest" => form = Some(path(value.as_str()?).map(Self::Largest)),
                _ => return None,
            }
        }
        let mut made = form?;
        if let Some(equals) = equals {
            made = made.map(|of| Self::Equals(Box::new(of), equals));
        }
        match when {
            Some(when) => Some(made.and_then(|of| Ok(Self::When(Box::new(of), Box::new(when?))))),
            None => Some(made),
        }
    }

    /// Lists the paths that it reads.
    pub(super) fn paths(&self) -> Vec<&Path> {
        match self {
            Self::First(all) | Self::Join(all) => all.iter().flat_map(Self::paths).collect(),
            Self::At(path) | Self::Prompt(path) | Self::Reply(path) | Self::Largest(path) => vec![path],
            Self::Constant(_) => Vec::new(),
            Self::Equals(of, _) | Self::Text(of) => of.paths(),
            Self::When(of, condition) => of.paths().into_iter().chain(condition.paths()).collect(),
        }
    }

    fn list(self) -> Vec<Self> {
        if let Self::First(list) = self { list } else { vec![self] }
    }

    /// Returns its value in a row, as JSON; `None`: the row has none.
    pub(crate) fn value(&self, row: Value<'_>) -> Option<Vec<u8>> {
        match self {
            Self::First(all) => all.iter().find_map(|one| one.value(row)),
            Self::At(path) => Some(on_one_line(path.first(row)?)),
            Self::Constant(json) => Some(json.clone()),
            Self::Equals(of, wanted) => {
                Some(if is_same(&of.value(row)?, wanted) { b"true".into() } else { b"false".into() })
            }
            Self::When(of, condition) if condition.value(row)? == b"true" => of.value(row),
            Self::When(..) => None,
            Self::Text(of) => Some(as_text(of.value(row)?)),
            Self::Join(all) => {
                let texts: Vec<Vec<u8>> = all.iter().filter_map(|one| Some(bare(&one.value(row)?))).collect();
                (!texts.is_empty()).then(|| json_text(&texts.join(&b' ')))
            }
            Self::Prompt(path) => prompt(path.first(row)?),
            Self::Reply(path) => split(path.first(row)?).1.map(|said| json_text(&said)),
            Self::Largest(path) => largest(&path.all(row)),
        }
    }
}

/// Returns the JSON of a text. Its bytes stay as they are: what is wrong with them is a finding of the record.
fn json_text(text: &[u8]) -> Vec<u8> {
    Style { letters: Letters::Canonical, ..Style::ASCII }.of(Untrusted::new(text))
}

fn path(text: &str) -> Result<Path, Shown> {
    Path::parse(text).map_err(|why| shown!("{}: {why}", Shown::line(text.as_bytes())))
}

/// Returns the JSON of a constant, if JSON has such a value.
fn constant(value: &toml::Value) -> Option<Vec<u8>> {
    match value {
        toml::Value::String(text) => Some(json_text(text.as_bytes())),
        toml::Value::Integer(number) => Some(number.to_string().into_bytes()),
        toml::Value::Float(number) if number.is_finite() => Some(number.to_string().into_bytes()),
        toml::Value::Boolean(on) => Some(on.to_string().into_bytes()),
        _ => None,
    }
}

fn on_one_line(value: Value<'_>) -> Vec<u8> {
    tight(value).0
}

/// Tells whether two values are the same: numbers by what they are, everything else by how it is written.
fn is_same(value: &[u8], wanted: &[u8]) -> bool {
    let number = |json: &[u8]| std::str::from_utf8(json).ok()?.parse::<f64>().ok();
    value == wanted || number(value).is_some_and(|value| number(wanted) == Some(value))
}

/// Returns a text as it is, and the JSON of anything else as a text.
fn as_text(json: Vec<u8>) -> Vec<u8> {
    if json.starts_with(b"\"") { json } else { json_text(&json) }
}

/// Returns what a text says, and the JSON of anything else.
fn bare(json: &[u8]) -> Vec<u8> {
    let mut tape = stepscope_base::json::Tape::default();
    let text = tape.parse(json).and_then(Value::string).map(|text| text.bytes().to_vec());
    text.unwrap_or_else(|| json.to_vec())
}

fn prompt(value: Value<'_>) -> Option<Vec<u8>> {
    let (asked, _) = split(value);
    let messages = asked.iter().map(|message| on_one_line(*message)).collect::<Vec<_>>().join(&b',');
    (!asked.is_empty()).then(|| [b"[", &messages[..], b"]"].concat())
}

fn largest(values: &[Value<'_>]) -> Option<Vec<u8>> {
    let number = |value: &Value<'_>| match value.kind() {
        Kind::String => value.string()?.utf8()?.trim().parse::<f64>().ok(),
        _ => value.float(),
    };
    let numbers: Vec<f64> = values.iter().map(number).collect::<Option<_>>()?;
    let (at, _) = numbers.iter().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    Some(json_text(at.to_string().as_bytes()))
}
