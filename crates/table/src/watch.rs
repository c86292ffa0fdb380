//! Watch expressions: terms of the filter language over the values of a record, as in `state.income>1000`,
//! `changed(total)`, `at(3).x!=recomputed(x)` or `trace[2].temperature>0`.

use std::fmt::Write as _;

use crate::operator::Operator;
use stepscope_arithmetic::number::Written;
use stepscope_base::json::{Kind, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_base::words::closest;
use stepscope_judge::case::CaseView;
use stepscope_record::state::{Moment, Variable};

/// The functions, with what they take.
pub(crate) const FUNCTIONS: &[(&str, &str)] = &[
    ("at(", "value after a step: at(3).total>100, at(3).x!=recomputed(x)"),
    ("changed(", "a variable that a later step wrote otherwise: changed(total)"),
    ("count(", "entries of a list or an object: count(state.items)>3"),
    ("length(", "characters of a text: length(question)>500"),
    ("missing(", "what the record does not have: missing(state.total)"),
    ("readers(", "how many steps read a variable: readers(rate)=0"),
    ("recomputed(", "value of a variable recomputed exactly: recomputed(total)<0"),
    ("state.", "final value of a variable: state.total>100; a name alone means it too: total>100"),
    ("trace[", "call of a step, from 1, or of any: trace[2].temperature>0, trace[*].error~timeout"),
    ("type(", "number, text, list, object, bool or null: type(state.total)=text"),
    ("writer(", "last step that wrote a variable: writer(total)=3"),
];

/// Values of a column that has several, `trace[*].error`, that are shown.
const MAX_SHOWN: usize = 8;
/// Variable in which a model says how sure it is, which a reviewer may not want to see.
const CONFIDENCE: &str = "confidence";

/// A condition on the values of a record.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Watch {
    left: WatchOperand,
    /// Comparison with the right side; `None`: the left side is to be there, and neither false nor nothing.
    compared: Option<(WatchComparison, WatchOperand)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WatchComparison {
    Order(Operator),
    Unlike,
    Contains,
}

/// Longest first, so that `>=` is not read as `>`.
const COMPARISONS: [(&str, WatchComparison); 9] = [
    ("!=", WatchComparison::Unlike),
    ("≠", WatchComparison::Unlike),
    ("<=", WatchComparison::Order(Operator::AtMost)),
    (">=", WatchComparison::Order(Operator::AtLeast)),
    ("==", WatchComparison::Order(Operator::Equal)),
    ("<", WatchComparison::Order(Operator::Less)),
    (">", WatchComparison::Order(Operator::More)),
    ("=", WatchComparison::Order(Operator::Equal)),
    ("~", WatchComparison::Contains),
];

#[derive(Clone, PartialEq, Debug)]
enum WatchOperand {
    Number(f64),
    Text(String),
    Bool(bool),
    Null,
    /// A value of the record.
    Path(ValuePath),
    /// The final value of a variable, else a member of the record.
    Name(String),
    Changed(String),
    Count(ValuePath),
    Length(ValuePath),
    Missing(ValuePath),
    Readers(String),
    Recomputed(String),
    Type(ValuePath),
    Writer(String),
}

/// Way to a value.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ValuePath {
    root: PathRoot,
    parts: Vec<PathPart>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PathRoot {
    Record,
    State,
    /// The recorded calls.
    Calls,
    /// A variable after a step, by its position.
    At(usize, String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PathPart {
    Key(String),
    Index(usize),
    Every,
}

/// A value as it is compared.
enum WatchedValue<'a> {
    Json(Value<'a>),
    Number(f64),
    Text(&'a str),
    Word(&'static str),
    Bool(bool),
    Null,
}

impl WatchedValue<'_> {
    /// As a number; a text counts as the number that it says.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Json(value) => Written::of(*value).map(|written| written.value.float()).or_else(|| value.float()),
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::Word(_) | Self::Bool(_) | Self::Null => None,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Json(value) => match value.string() {
                Some(text) => text.readable().to_owned(),
                None => Untrusted::new(value.raw()).readable().to_owned(),
            },
            Self::Number(number) => number.to_string(),
            Self::Text(text) => (*text).to_owned(),
            Self::Word(word) => (*word).to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Null => "null".to_owned(),
        }
    }

    fn holds(&self) -> bool {
        match self {
            Self::Json(value) => !value.is_null() && value.bool() != Some(false),
            Self::Bool(value) => *value,
            Self::Null => false,
            Self::Number(_) | Self::Text(_) | Self::Word(_) => true,
        }
    }
}

impl WatchComparison {
    fn holds(self, left: &WatchedValue<'_>, right: &WatchedValue<'_>) -> bool {
        match self {
            Self::Unlike => !Self::Order(Operator::Equal).holds(left, right),
            Self::Contains => left.text().to_lowercase().contains(&right.text().to_lowercase()),
            Self::Order(operator) => match left.number().zip(right.number()) {
                Some((left, right)) => operator.holds_exactly(left, right),
                None => operator == Operator::Equal && left.text() == right.text(),
            },
        }
    }
}

impl Watch {
    /// Reads a term; `None`: it is none, but text to find or another field. An error says what is known.
    pub(crate) fn parse(term: &str) -> Option<Result<Self, String>> {
        let split = split(term);
        let (left, rest) = split.map_or((term, None), |(left, comparison, right)| (left, Some((comparison, right))));
        let is_call = left.contains('(') || left.starts_with("trace[");
        let is_path =
            left.starts_with("state.") || is_name(left) && rest.is_some() || left.contains('[') && rest.is_some();
        if left.is_empty() || !left.starts_with(|c: char| c.is_alphabetic() || c == '_') || !(is_call || is_path) {
            return None;
        }
        Some(Self::of(left, rest))
    }

    fn of(left: &str, rest: Option<(WatchComparison, &str)>) -> Result<Self, String> {
        let left = operand(left)?;
        let compared = match rest {
            None => None,
            Some((_, "")) => return Err("a comparison needs a value behind it, as in state.total>100".into()),
            Some((comparison, right)) => Some((comparison, value(right)?)),
        };
        Ok(Self { left, compared })
    }

    /// The name that a record must hold for the condition to hold; `None`: it may hold without one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.left.needed()
    }

    /// Tells whether it asks for nothing but what the run's state holds.
    pub(crate) fn is_of_state(&self) -> bool {
        let right = self.compared.as_ref().is_none_or(|(_, right)| right.is_of_state());
        right && self.left.is_of_state()
    }

    /// Tells whether it holds in a record; of several values for one of them.
    pub(crate) fn holds(&self, case: &CaseView<'_>) -> bool {
        let left = self.left.values(case);
        match &self.compared {
            None => left.iter().any(WatchedValue::holds),
            Some((comparison, right)) => {
                let right = right.values(case);
                left.iter().any(|left| right.iter().any(|right| comparison.holds(left, right)))
            }
        }
    }
}

/// Tells whether a word is a comparison and nothing else.
pub(crate) fn is_comparison(word: &str) -> bool {
    COMPARISONS.iter().any(|(sign, _)| *sign == word)
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
}

/// Cuts a term at its comparison, outside quotes.
fn split(term: &str) -> Option<(&str, WatchComparison, &str)> {
    let mut quoted = false;
    for (at, c) in term.char_indices() {
        quoted ^= c == '"';
        let rest = term.get(at..).filter(|_| !quoted)?;
        if let Some((sign, comparison)) = COMPARISONS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            return Some((term.get(..at)?, *comparison, rest.strip_prefix(sign)?));
        }
    }
    None
}

/// Reads the left side, or anything that is called or has a path.
fn operand(text: &str) -> Result<WatchOperand, String> {
    let Some((function, rest)) = text.split_once('(') else {
        return match is_name(text) && !text.contains('.') {
            true => Ok(WatchOperand::Name(text.to_owned())),
            false => path(text).map(WatchOperand::Path),
        };
    };
    let (argument, behind) =
        rest.split_once(')').ok_or_else(|| format!("{function}( lacks its closing parenthesis"))?;
    if argument.is_empty() {
        return Err(format!("{function}() needs an argument; {}", help(function)));
    }
    if function == "at" {
        return at(argument, behind);
    }
    if !behind.is_empty() {
        return Err(format!("nothing can follow {function}({argument})"));
    }
    let name = || match argument.strip_prefix("state.").unwrap_or(argument) {
        name if is_name(name) => Ok(name.to_owned()),
        name => Err(format!("{function}() takes the name of a variable, not {name:?}")),
    };
    match function {
        "changed" => name().map(WatchOperand::Changed),
        "readers" => name().map(WatchOperand::Readers),
        "recomputed" => name().map(WatchOperand::Recomputed),
        "writer" => name().map(WatchOperand::Writer),
        "count" => path(argument).map(WatchOperand::Count),
        "length" => path(argument).map(WatchOperand::Length),
        "missing" => path(argument).map(WatchOperand::Missing),
        "type" => path(argument).map(WatchOperand::Type),
        _ => Err(unknown(function)),
    }
}

/// The help of a function; of no function that is known, that of all.
fn help(function: &str) -> String {
    let known = FUNCTIONS.iter().find(|(name, _)| name.strip_suffix('(') == Some(function));
    known.map_or_else(|| unknown(function), |(_, help)| (*help).to_owned())
}

fn unknown(function: &str) -> String {
    let names = || FUNCTIONS.iter().filter_map(|(name, _)| name.strip_suffix('('));
    let mut said = format!("no function is called {function:?}.");
    if let Some(close) = closest(function, names()) {
        let _ = write!(said, " Did you mean {close:?}?");
    }
    let _ = write!(said, " Functions: {}", names().collect::<Vec<_>>().join(", "));
    said
}

fn at(step: &str, behind: &str) -> Result<WatchOperand, String> {
    let step = step.parse::<usize>().ok().and_then(|step| step.checked_sub(1));
    let step = step.ok_or("at() takes the number of a step, from 1, as in at(3).total")?;
    let (name, rest) = match behind.strip_prefix('.') {
        Some(rest) if !rest.is_empty() => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        _ => return Err(format!("at({}) needs a variable, as in at({}).total", step + 1, step + 1)),
    };
    Ok(WatchOperand::Path(ValuePath { root: PathRoot::At(step, name.to_owned()), parts: parts(rest, 0)? }))
}

/// Reads what a column is to show, in the words of a condition's left side, and returns what reads it in a record.
pub(crate) fn reader(text: &str) -> Result<impl Fn(&CaseView<'_>) -> Shown, String> {
    let operand = operand(text)?;
    Ok(move |case: &CaseView<'_>| {
        let values = operand.values(case).into_iter().take(MAX_SHOWN);
        Shown::listed(values.map(|value| Shown::line(value.text().as_bytes())), MAX_SHOWN)
    })
}

/// Reads a path: `state.x`, `trace[2].temperature`, `answer.items[0].value`, or a member of the record.
fn path(text: &str) -> Result<ValuePath, String> {
    if let Some(rest) = text.strip_prefix("state.") {
        return Ok(ValuePath { root: PathRoot::State, parts: parts(&format!(".{rest}"), 0)? });
    }
    if let Some(rest) = text.strip_prefix("trace").filter(|rest| rest.starts_with('[')) {
        // Steps count from 1, as people count them.
        return Ok(ValuePath { root: PathRoot::Calls, parts: parts(rest, 1)? });
    }
    Ok(ValuePath { root: PathRoot::Record, parts: parts(&format!(".{text}"), 0)? })
}

/// Reads `.key` and `[n]`; `first`: the number of the first entry of the first list.
fn parts(text: &str, first: usize) -> Result<Vec<PathPart>, String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (part, behind) = match rest.strip_prefix('[') {
            Some(inner) => {
                let (index, behind) =
                    inner.split_once(']').ok_or_else(|| format!("{text:?} lacks a closing bracket"))?;
                let first = if parts.is_empty() { first } else { 0 };
                let number = || index.parse::<usize>().ok()?.checked_sub(first).map(PathPart::Index);
                let part = if index == "*" { Some(PathPart::Every) } else { number() };
                (
                    part.ok_or_else(|| {
                        format!("[{index}] is no place in a list; it takes a number from {first}, or *")
                    })?,
                    behind,
                )
            }
            None => {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let (name, behind) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
                if name.is_empty() {
                    return Err(format!("{text:?} lacks a name behind a point"));
                }
                (PathPart::Key(name.to_owned()), behind)
            }
        };
        parts.push(part);
        rest = behind;
    }
    Ok(parts)
}

/// Reads the right side: a number, a text, or what the left side can be. A word alone is text.
fn value(text: &str) -> Result<WatchOperand, String> {
    if let Ok(number) = text.parse::<f64>() {
        return Ok(WatchOperand::Number(number));
    }
    match text {
        "true" => return Ok(WatchOperand::Bool(true)),
        "false" => return Ok(WatchOperand::Bool(false)),
        "null" => return Ok(WatchOperand::Null),
        _ => {}
    }
    let is_read = text.starts_with("state.") || text.starts_with("trace[") || text.contains('(');
    if is_read && !text.starts_with('"') { operand(text) } else { Ok(WatchOperand::Text(text.replace('"', ""))) }
}

impl WatchOperand {
    /// The name that a record must hold in some form; `None`: it may hold without one.
    fn needed(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Path(path) | Self::Count(path) | Self::Length(path) | Self::Type(path) => path.needed(),
            // The variables of a chain of thought have names that it does not hold.
            Self::Changed(_) | Self::Readers(_) | Self::Recomputed(_) | Self::Writer(_) => None,
            Self::Missing(_) | Self::Number(_) | Self::Text(_) | Self::Bool(_) | Self::Null => None,
        }
    }

    fn is_of_state(&self) -> bool {
        match self {
            Self::Number(_) | Self::Text(_) | Self::Bool(_) | Self::Null => true,
            Self::Changed(name) | Self::Readers(name) | Self::Writer(name) => name != CONFIDENCE,
            Self::Path(path) | Self::Count(path) | Self::Length(path) | Self::Type(path) | Self::Missing(path) => {
                path.is_of_state()
            }
            // A name may be a member of the record.
            Self::Name(_) | Self::Recomputed(_) => false,
        }
    }

    fn values<'a>(&'a self, case: &'a CaseView<'_>) -> Vec<WatchedValue<'a>> {
        let json = |values: Vec<Value<'a>>| values.into_iter().map(WatchedValue::Json).collect();
        let one = |held: Option<WatchedValue<'a>>| held.into_iter().collect();
        let count = |count: usize| WatchedValue::Number(count as f64);
        match self {
            Self::Number(number) => vec![WatchedValue::Number(*number)],
            Self::Text(text) => vec![WatchedValue::Text(text)],
            Self::Bool(value) => vec![WatchedValue::Bool(*value)],
            Self::Null => vec![WatchedValue::Null],
            Self::Path(path) => json(path.find(case)),
            Self::Name(name) => {
                let record = case.record.as_ref();
                let own = record.and_then(|record| record.state?.member(name));
                let member = own.or_else(|| record.and_then(|record| record.root.member(name)));
                one(member.map(|member| WatchedValue::Json(member.value)))
            }
            Self::Changed(name) => one(variable(case, name).map(|variable| WatchedValue::Bool(is_changed(variable)))),
            Self::Readers(name) => one(variable(case, name).map(|variable| count(variable.readers.len()))),
            Self::Writer(name) => {
                let last = variable(case, name).and_then(|variable| variable.writers().next_back());
                one(last.map(|step| count(step + 1)))
            }
            Self::Recomputed(name) => one(recomputed(case, name).map(WatchedValue::Number)),
            Self::Count(path) => {
                let lists = path.find(case).into_iter().filter(|value| value.is_container());
                lists.map(|value| count(value.items().count().max(value.members().count()))).collect()
            }
            Self::Length(path) => {
                let texts = path.find(case).into_iter().filter_map(Value::string);
                texts.filter_map(|text| text.utf8().map(|text| count(text.chars().count()))).collect()
            }
            Self::Missing(path) => vec![WatchedValue::Bool(path.find(case).is_empty())],
            Self::Type(path) => path.find(case).into_iter().map(|value| WatchedValue::Word(type_of(value))).collect(),
        }
    }
}

impl ValuePath {
    /// The last key on the way, which a record holds that has the value.
    fn needed(&self) -> Option<&str> {
        self.parts.iter().rev().find_map(|part| match part {
            PathPart::Key(key) => Some(key.as_str()),
            PathPart::Index(_) | PathPart::Every => None,
        })
    }

    /// Tells whether it leads to a value of the run's state that says nothing of its verdict.
    fn is_of_state(&self) -> bool {
        let is_plain = |name: &str| name != CONFIDENCE;
        match &self.root {
            PathRoot::At(_, name) => is_plain(name),
            PathRoot::State => self.needed().is_none_or(is_plain),
            PathRoot::Record | PathRoot::Calls => false,
        }
    }

    fn find<'a>(&self, case: &'a CaseView<'_>) -> Vec<Value<'a>> {
        let Some(record) = case.record.as_ref() else { return Vec::new() };
        let root = match &self.root {
            PathRoot::Record => Some(record.root),
            PathRoot::State => record.state,
            PathRoot::Calls => record.trace_steps,
            PathRoot::At(step, name) => {
                let is_there = *step < case.state().step_count();
                let at = case.state().variable(&Untrusted::from(name.as_str())).filter(|_| is_there);
                at.and_then(|at| case.state().value_at(at, Moment::after(*step))?.value)
            }
        };
        let mut found: Vec<Value<'a>> = root.into_iter().collect();
        for part in &self.parts {
            found = match part {
                PathPart::Key(key) => found.iter().filter_map(|value| Some(value.member(key)?.value)).collect(),
                PathPart::Index(n) => found.iter().filter_map(|value| value.items().nth(*n)).collect(),
                PathPart::Every => found.iter().flat_map(|value| value.items()).collect(),
            };
        }
        found
    }
}

fn variable<'a>(case: &'a CaseView<'_>, name: &str) -> Option<&'a Variable<'a>> {
    let state = case.state();
    state.variables().get(state.variable(&Untrusted::from(name))?)
}

/// Tells whether two writings of a variable differ, as far as their values are known.
fn is_changed(variable: &Variable<'_>) -> bool {
    let mut values = variable.writes.iter().filter_map(|write| write.value);
    values.next().is_some_and(|first| {
        values.any(|value| {
            !WatchComparison::Order(Operator::Equal).holds(&WatchedValue::Json(first), &WatchedValue::Json(value))
        })
    })
}

fn recomputed(case: &CaseView<'_>, name: &str) -> Option<f64> {
    let at = case.state().variable(&Untrusted::from(name))?;
    let writes = &case.recomputed()?.writes;
    writes.iter().rev().find(|write| write.variable == at)?.value.map(|value| value.float())
}

fn type_of(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::False | Kind::True => "bool",
        Kind::Int | Kind::Float | Kind::NotFinite => "number",
        Kind::String | Kind::Key => "text",
        Kind::Array => "list",
        Kind::Object => "object",
    }
}

#[cfg(test)]
mod tests {
    use crate::filter::Filter;
    use stepscope_record::types::TypeRegistry;

    const RUN: &str = r#"{"id": "r1", "question": "A cup costs 7 euros. What do 4 cups cost?", "mode": "procedural", "gold_num": 28,
        "procedure": {"NameDescription": "n", "steps": [
          {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract.",
           "output": [{"name": "cups", "description": ""}, {"name": "price", "description": ""}, {"name": "rate", "description": ""}]},
          {"id": 2, "inputs": [{"name": "cups", "description": ""}, {"name": "price", "description": ""}],
           "stepDescription": "Calculate cups * price.", "output": [{"name": "total", "description": ""}]},
          {"id": 3, "inputs": [{"name": "total", "description": ""}], "stepDescription": "Add 1 to total.",
           "output": [{"name": "total", "description": ""}]},
          {"id": 4, "inputs": [{"name": "total", "description": ""}], "stepDescription": "State the answer.",
           "output": [{"name": "final_answer", "description": "Describes the answer"}]}]},
        "state": {"cups": 4, "price": "7 euros", "rate": null, "total": 29, "parts": [4, 7], "final_answer": "It cannot be 27.",
                  "final_answer_numerical": 27, "confidence": 0.4},
        "trace": {"steps": [
          {"step": 1, "outputs": {"cups": 4, "price": "7 euros", "rate": null}, "temperature": 0, "usage": {"output_tokens": 30}},
          {"step": 2, "outputs": {"total": 27}, "temperature": 0.7, "usage": {"output_tokens": 600}},
          {"step": 3, "outputs": {"total": 29}, "temperature": 0, "error": "Timeout after 3 s"},
          {"step": 4, "outputs": {"final_answer": "It cannot be 27."}, "temperature": 0}]}}"#;

    fn fits(typed: &str) -> bool {
        let filter =
            Filter::parse(typed, TypeRegistry::built_in()).unwrap_or_else(|error| panic!("{typed}: {error:?}"));
        filter.fits_text(RUN.as_bytes())
    }

    #[test]
    fn questions_of_debugging_are_one_line_each() {
        for (typed, holds) in [
            ("state.total>28", true),
            ("state.total > 29", false),
            ("total>=29", true),
            ("gold_num=28", true),
            ("changed(total)", true),
            ("changed(cups)", false),
            ("at(2).total!=recomputed(total)", true),
            ("at(2).total=27", true),
            ("at(3).total = state.total", true),
            ("trace[2].temperature>0", true),
            ("trace[1].temperature>0", false),
            ("trace[*].usage.output_tokens>500", true),
            ("trace[*].error~timeout", true),
            ("type(state.price)=text", true),
            ("type(rate)=number", false),
            ("type(state.rate)=null", true),
            ("missing(state.discount)", true),
            ("missing(state.total)", false),
            ("count(state.parts)>1", true),
            ("state.parts[1]=7", true),
            ("readers(rate)=0", true),
            ("readers(total)>1", true),
            ("writer(total)=3", true),
            ("state.final_answer~cannot", true),
            ("state.final_answer~\"cannot be\"", true),
            ("length(question)>500", false),
            ("price~euro", true),
            ("-state.total>28", false),
            ("state.total>28 changed(cups)", false),
            ("trace[2].error", false),
            ("trace[3].error", true),
        ] {
            assert_eq!(fits(typed), holds, "{typed}");
        }
    }

    #[test]
    fn what_is_not_there_compares_with_nothing() {
        for typed in [
            "state.discount>0",
            "state.discount!=0",
            "at(9).total>1",
            "recomputed(nothing)=1",
            "trace[9].temperature=0",
        ] {
            assert!(!fits(typed), "{typed}");
            assert!(fits(&format!("-{typed}")), "-{typed}");
        }
    }

    #[test]
    fn errors_say_what_is_known() {
        let error = |typed: &str| Filter::parse(typed, TypeRegistry::built_in()).unwrap_err().message;
        assert!(error("chnged(total)").contains("Did you mean \"changed\"?"));
        assert!(error("frob(total)>1").contains("Functions: at, changed, count"));
        assert!(error("at(x).total>1").contains("from 1"));
        assert!(error("at(0).total>1").contains("from 1"));
        assert!(error("at(2)>1").contains("at(2).total"));
        assert!(error("changed()").contains("changed(total)"));
        assert!(error("trace[0].temperature>1").contains("from 1"));
        assert!(error("state.total>").contains("value behind it"));
        assert!(error("count(state.parts").contains("parenthesis"));
        assert!(error("stps>4").contains("Did you mean \"steps\"?") && error("stps>4").contains("state.stps"));
    }

    #[test]
    fn text_to_find_stays_text() {
        for typed in ["total", "cups", "\"a>b\"", "costs", "trace"] {
            let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
            assert!(
                filter.asks_hidden(stepscope_judge::hide::Hide::of(stepscope_judge::hide::Hidden::ALL)).is_none(),
                "{typed}"
            );
        }
        assert!(fits("cups") && !fits("giraffe"));
    }

    #[test]
    fn only_conditions_on_the_state_are_asked_while_something_is_hidden() {
        let hide = stepscope_judge::hide::Hide::of(stepscope_judge::hide::Hidden::ALL);
        let asks = |typed: &str| Filter::parse(typed, TypeRegistry::built_in()).unwrap().asks_hidden(hide).is_some();
        for typed in [
            "gold_num=28",
            "state.confidence>0.5",
            "recomputed(total)>1",
            "trace[1].temperature>0",
            "count(gold_answer)>1",
        ] {
            assert!(asks(typed), "{typed}");
        }
        for typed in ["state.total>28", "changed(total)", "at(2).total=state.total"] {
            assert!(!asks(typed), "{typed}");
        }
    }
}
