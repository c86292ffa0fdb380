//! Asks a schema: the first error in Python's order, in Python's words.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Number as JsonNumber, Value as Json};

use super::View;
use super::schema::{Breach, Counted, Id, Keyword, Law, Limit, Literal, Node, Problem, Schema, Type};
use crate::domain::json::{Kind, Member, Value};
use crate::domain::pyregex::Pattern;
use crate::domain::python::{Message, Number};
use crate::domain::text::Untrusted;

/// References that lead back to themselves end here; Python ends in an exception.
const MAX_DEPTH: usize = 256;

type Found<'a> = Option<Problem<'a>>;

/// Judges an answer from the schema's root.
pub(super) fn root<'a>(schema: &Schema, answer: Value<'a>, view: View) -> Found<'a> {
    Evaluation { schema, view, depth: 0, given_up: &Cell::new(false) }.node(0, answer)
}

/// Judges a whole value; `false`: something was given up on the way, so that the rest says nothing.
pub(super) fn whole<'a>(schema: &Schema, value: Value<'a>) -> (Found<'a>, bool) {
    let given_up = Cell::new(false);
    let found = Evaluation { schema, view: View::Whole, depth: 0, given_up: &given_up }.node(0, value);
    (found, !given_up.get())
}

/// So many breaches of one value are told apart.
const MAX_BREACHES: usize = 100;

/// Every breach below the schema's root: of keywords that look at one member or item each, all of theirs; of the
/// others, the first.
pub(super) fn every<'a>(schema: &Schema, value: Value<'a>) -> Vec<Breach<'a>> {
    let mut breaches = Vec::new();
    Evaluation { schema, view: View::Whole, depth: 0, given_up: &Cell::new(false) }.every(0, value, &mut breaches);
    breaches
}

#[derive(Clone, Copy)]
struct Evaluation<'s> {
    schema: &'s Schema,
    /// Counts at the root only.
    view: View,
    depth: usize,
    /// A pattern took too long, or references led too deep.
    given_up: &'s Cell<bool>,
}

#[expect(clippy::unnecessary_wraps, reason = "every caller gives it on as it is")]
fn problem(value: Value<'_>, message: Message) -> Found<'_> {
    Some(Problem { message: message.into(), value, key: None })
}

/// A message that begins with the value.
fn about<'a>(value: Value<'a>, words: &str) -> Found<'a> {
    problem(value, Message::default().value(value).text(words))
}

impl<'s> Evaluation<'s> {
    fn node(self, id: Id, value: Value<'_>) -> Found<'_> {
        match self.schema.nodes.get(id)? {
            Node::Always => None,
            Node::Never => problem(value, Message::new("False schema does not allow ").value(value)),
            Node::Keywords(keywords) => keywords.iter().find_map(|keyword| self.keyword(keyword, value)),
        }
    }

    fn below(self, id: Id, value: Value<'_>) -> Found<'_> {
        if self.depth >= MAX_DEPTH {
            self.given_up.set(true);
            return None;
        }
        Self { view: View::Whole, depth: self.depth + 1, ..self }.node(id, value)
    }

    fn every<'a>(self, id: Id, value: Value<'a>, out: &mut Vec<Breach<'a>>) {
        let keywords = match self.schema.nodes.get(id) {
            Some(Node::Keywords(keywords)) if self.depth < MAX_DEPTH && out.len() < MAX_BREACHES => keywords,
            Some(Node::Never) => {
                let message = Message::new("False schema does not allow ").value(value).into();
                return out.push(Breach { law: Law::Other, message, value, key: None });
            }
            _ => return,
        };
        let below = Self { depth: self.depth + 1, ..self };
        for keyword in keywords {
            match keyword {
                Keyword::Properties(properties) => {
                    let present = properties.iter().filter_map(|(name, id)| Some((*id, get(value, name)?)));
                    present.for_each(|(id, member)| below.every(id, member, out));
                }
                Keyword::Items { prefix, schema } => {
                    value.items().skip(*prefix).for_each(|item| below.every(*schema, item, out));
                }
                Keyword::PrefixItems(schemas) => {
                    value.items().zip(schemas).for_each(|(item, &schema)| below.every(schema, item, out));
                }
                Keyword::AllOf(schemas) => schemas.iter().for_each(|&schema| below.every(schema, value, out)),
                Keyword::Ref(schema) => below.every(*schema, value, out),
                Keyword::Required(names) if value.kind() == Kind::Object => {
                    for name in names.iter().filter(|name| get(value, name).is_none()) {
                        let message = Message::default().quoted(name).text(" is a required property").into();
                        out.push(Breach { law: Law::Missing(name.clone()), message, value, key: None });
                    }
                }
                Keyword::AdditionalProperties { known, patterns, schema, .. } if value.kind() == Kind::Object => {
                    let extra = value.entries().into_iter().filter(|member| self.is_extra(member, known, patterns));
                    if matches!(self.schema.nodes.get(*schema), Some(Node::Never)) {
                        out.extend(extra.map(|member| unexpected(value, &member)));
                    } else {
                        extra.for_each(|member| below.every(*schema, member.value, out));
                    }
                }
                _ => {
                    if let Some(Problem { message, value, key }) = self.keyword(keyword, value) {
                        out.push(Breach { law: law_of(keyword), message, value, key });
                    }
                }
            }
            out.truncate(MAX_BREACHES);
        }
    }

    fn holds(self, id: Id, value: Value<'_>) -> bool {
        self.below(id, value).is_none()
    }

    fn matches(self, pattern: &Pattern, text: &Untrusted<'_>) -> bool {
        pattern.is_in(text.bytes()).unwrap_or_else(|_| {
            self.given_up.set(true);
            false
        })
    }

    /// Whether neither the names nor the patterns of a schema know a member.
    fn is_extra(self, member: &Member<'_>, known: &[Vec<u8>], patterns: &[Pattern]) -> bool {
        let name = member.name();
        !known.iter().any(|known| known.as_slice() == name.bytes())
            && !patterns.iter().any(|pattern| self.matches(pattern, &name))
    }

    fn keyword<'a>(self, keyword: &'s Keyword, value: Value<'a>) -> Found<'a> {
        match (keyword, value.kind()) {
            (Keyword::Type { types, words }, _) => {
                if types.iter().any(|&wanted| is_type(value, wanted)) {
                    return None;
                }
                problem(value, Message::default().value(value).text(" is not of type ").text(words))
            }
            (Keyword::Enum { options, words }, _) => {
                if options.iter().any(|option| option.is(value)) {
                    return None;
                }
                problem(value, Message::default().value(value).text(" is not one of ").text(words))
            }
            (Keyword::Const { value: wanted, words }, _) => {
                if wanted.is(value) {
                    return None;
                }
                problem(value, Message::default().text(words).text(" was expected"))
            }
            (Keyword::Limit { limit, number, words }, Kind::Int | Kind::Float | Kind::NotFinite) => {
                beyond(value, *limit, number, words)
            }
            (Keyword::MultipleOf { number, is_float, words }, Kind::Int | Kind::Float | Kind::NotFinite) => {
                if is_multiple(value, number, *is_float) {
                    return None;
                }
                problem(value, Message::default().value(value).text(" is not a multiple of ").text(words))
            }
            (Keyword::Length { of, most, limit }, _) => wrong_length(value, *of, *most, *limit),
            (Keyword::Pattern(pattern), Kind::String | Kind::Key) => {
                if self.matches(pattern, &value.string()?) {
                    return None;
                }
                let text = pattern.text().as_bytes();
                problem(value, Message::default().value(value).text(" does not match ").quoted(text))
            }
            (Keyword::UniqueItems, Kind::Array) => {
                let mut seen = HashSet::new();
                let again = value.items().filter_map(Literal::of).any(|item| !seen.insert(item));
                if again { about(value, " has non-unique elements") } else { None }
            }
            (Keyword::PrefixItems(schemas), Kind::Array) => {
                value.items().zip(schemas).find_map(|(item, &schema)| self.below(schema, item))
            }
            (Keyword::Items { prefix, schema }, Kind::Array) => self.items(value, *prefix, *schema),
            (Keyword::Contains { .. }, Kind::Array) => self.contains(keyword, value),
            (Keyword::AllOf(schemas), _) => schemas.iter().find_map(|&schema| self.below(schema, value)),
            (Keyword::AnyOf(schemas), _) => {
                if schemas.iter().any(|&schema| self.holds(schema, value)) {
                    return None;
                }
                about(value, " is not valid under any of the given schemas")
            }
            (Keyword::OneOf(schemas), _) => self.one_of(schemas, value),
            (Keyword::Not { schema, words }, _) => {
                if !self.holds(*schema, value) {
                    return None;
                }
                problem(value, Message::default().value(value).text(" should not be valid under ").text(words))
            }
            (Keyword::If { test, then, otherwise }, _) => {
                let branch = if self.holds(*test, value) { then } else { otherwise };
                self.below((*branch)?, value)
            }
            (Keyword::Ref(schema), _) => self.below(*schema, value),
            (_, Kind::Object) => self.object(keyword, value),
            _ => None,
        }
    }

    fn object<'a>(self, keyword: &'s Keyword, value: Value<'a>) -> Found<'a> {
        match keyword {
            Keyword::Properties(properties) => {
                properties.iter().find_map(|(name, schema)| self.below(*schema, get(value, name)?))
            }
            Keyword::PatternProperties(patterns) => {
                let entries = value.entries();
                patterns.iter().find_map(|(pattern, schema)| {
                    let mut matching = entries.iter().filter(|member| self.matches(pattern, &member.name()));
                    matching.find_map(|member| self.below(*schema, member.value))
                })
            }
            Keyword::AdditionalProperties { .. } => self.additional(keyword, value),
            Keyword::PropertyNames(schema) => {
                let problem = value.entries().into_iter().find_map(|member| self.below(*schema, member.key))?;
                Some(Problem { key: Some(problem.value), ..problem })
            }
            Keyword::Required(names) => {
                let missing = names.iter().find(|name| get(value, name).is_none())?;
                problem(value, Message::default().quoted(missing).text(" is a required property"))
            }
            Keyword::DependentRequired(dependencies) => {
                let present = dependencies.iter().filter(|(name, _)| get(value, name).is_some());
                let mut wanted = present.flat_map(|(name, wanted)| wanted.iter().map(move |each| (name, each)));
                let (name, missing) = wanted.find(|(_, each)| get(value, each).is_none())?;
                problem(value, Message::default().quoted(missing).text(" is a dependency of ").quoted(name))
            }
            Keyword::DependentSchemas(dependencies) => {
                let mut present = dependencies.iter().filter(|(name, _)| get(value, name).is_some());
                present.find_map(|&(_, schema)| self.below(schema, value))
            }
            _ => None,
        }
    }

    fn additional<'a>(self, keyword: &'s Keyword, value: Value<'a>) -> Found<'a> {
        let Keyword::AdditionalProperties { known, patterns, has_patterns, schema } = keyword else { return None };
        if self.view == View::OwnKeys || matches!(self.schema.nodes.get(*schema), Some(Node::Always)) {
            return None;
        }
        let is_extra = |member: &Member<'a>| self.is_extra(member, known, patterns);
        // Nearly always there is none: nothing is collected for that.
        value.members().find(is_extra)?;
        let mut extras: Vec<_> = value.entries().into_iter().filter(is_extra).collect();
        if !matches!(self.schema.nodes.get(*schema), Some(Node::Never)) {
            return extras.into_iter().find_map(|member| self.below(*schema, member.value));
        }
        extras.sort_by_key(Member::name);
        let names: Vec<Untrusted<'_>> = extras.iter().map(Member::name).collect();
        let names = || names.iter().map(Untrusted::bytes);
        let one = extras.len() == 1;
        let message = if *has_patterns {
            let mut patterns: Vec<_> = patterns.iter().map(Pattern::text).collect();
            patterns.sort_unstable();
            let verb = if one { " does" } else { " do" };
            let message = Message::default().quoted_each(names()).text(verb);
            message.text(" not match any of the regexes: ").quoted_each(patterns)
        } else {
            let verb = if one { " was" } else { " were" };
            let message = Message::new("Additional properties are not allowed (").quoted_each(names());
            message.text(verb).text(" unexpected)")
        };
        Some(Problem { message: message.into(), value, key: extras.first().map(|member| member.key) })
    }

    fn items(self, value: Value<'_>, prefix: usize, schema: Id) -> Found<'_> {
        let mut rest = value.items().skip(prefix);
        if !matches!(self.schema.nodes.get(schema), Some(Node::Never)) {
            return rest.find_map(|item| self.below(schema, item));
        }
        let rest: Vec<_> = rest.collect();
        let (&first, more) = rest.split_first()?;
        let items = if prefix == 1 { " item" } else { " items" };
        let mut message = Message::new("Expected at most ").number(prefix).text(items).text(" but found ");
        message = message.number(rest.len()).text(" extra: ");
        if more.is_empty() {
            return problem(first, message.value(first));
        }
        message = message.text("[").value(first);
        for &item in more {
            message = message.text(", ").value(item);
        }
        problem(first, message.text("]"))
    }

    fn contains<'a>(self, keyword: &'s Keyword, value: Value<'a>) -> Found<'a> {
        let Keyword::Contains { schema, least, most, least_words, most_words } = keyword else { return None };
        let matches = value.items().filter(|&item| self.holds(*schema, item)).count();
        if most.is_some_and(|most| matches as f64 > most) {
            let message = Message::new("Too many items match the given schema (expected at most ");
            return problem(value, message.text(most_words).text(")"));
        }
        if matches as f64 >= *least {
            return None;
        }
        if matches == 0 {
            return about(value, " does not contain items matching the given schema");
        }
        let message = Message::new("Too few items match the given schema (expected at least ").text(least_words);
        problem(value, message.text(" but only ").number(matches).text(" matched)"))
    }

    fn one_of<'a>(self, schemas: &'s [(Id, Vec<u8>)], value: Value<'a>) -> Found<'a> {
        let mut valid = schemas.iter().filter(|(schema, _)| self.holds(*schema, value));
        let Some((_, first)) = valid.next() else {
            return about(value, " is not valid under any of the given schemas");
        };
        let mut message = Message::default().value(value).text(" is valid under each of ");
        let mut more = 0;
        for (_, words) in valid {
            message = message.text(words).text(", ");
            more += 1;
        }
        if more > 0 { problem(value, message.text(first)) } else { None }
    }
}

fn unexpected<'a>(value: Value<'a>, member: &Member<'a>) -> Breach<'a> {
    let name = Message::default().quoted(member.name().bytes());
    Breach { law: Law::Extra, message: name.text(" was unexpected").into(), value, key: Some(member.key) }
}

fn law_of(keyword: &Keyword) -> Law {
    match keyword {
        Keyword::Type { types, .. } => Law::Type(types.clone()),
        Keyword::Enum { .. } | Keyword::Const { .. } => Law::Enum,
        Keyword::Limit { .. } => Law::Limit,
        _ => Law::Other,
    }
}

/// The value of a key; of duplicates the last, as Python keeps it.
fn get<'a>(object: Value<'a>, name: &[u8]) -> Option<Value<'a>> {
    let is_it = |member: &Member<'a>| match member.key.plain_string() {
        Some(plain) => plain == name,
        None => member.name().bytes() == name,
    };
    object.members().filter(is_it).last().map(|member| member.value)
}

fn is_type(value: Value<'_>, wanted: Type) -> bool {
    match (wanted, value.kind()) {
        (Type::Null, Kind::Null)
        | (Type::Boolean, Kind::True | Kind::False)
        | (Type::Integer | Type::Int, Kind::Int)
        | (Type::Number, Kind::Int | Kind::Float | Kind::NotFinite)
        | (Type::String, Kind::String | Kind::Key)
        | (Type::Array, Kind::Array)
        | (Type::Object, Kind::Object) => true,
        (Type::Integer, Kind::Float) => value.float().is_some_and(|float| float.is_finite() && float % 1.0 == 0.0),
        _ => false,
    }
}

fn beyond<'a>(value: Value<'a>, limit: Limit, number: &Number, words: &[u8]) -> Found<'a> {
    let order = Number::of(value)?.compare(number)?;
    let (wrong, how) = match limit {
        Limit::Minimum => (order.is_lt(), " is less than the minimum of "),
        Limit::Maximum => (order.is_gt(), " is greater than the maximum of "),
        Limit::ExclusiveMinimum => (order.is_le(), " is less than or equal to the minimum of "),
        Limit::ExclusiveMaximum => (order.is_ge(), " is greater than or equal to the maximum of "),
    };
    if wrong { problem(value, Message::default().value(value).text(how).text(words)) } else { None }
}

/// Python divides by a float in floats, and by an integer exactly. Where it raises an exception, nothing is said.
fn is_multiple(value: Value<'_>, number: &Number, is_float: bool) -> bool {
    let (Some(instance), divisor) = (Number::of(value), number.float()) else { return true };
    let float = value.float().unwrap_or(f64::NAN);
    if let (false, Number::Int(digits), Some(divisor)) = (is_float, &instance, small(number)) {
        let digits = digits.bytes().filter(u8::is_ascii_digit).map(|digit| u128::from(digit - b'0'));
        return divisor == 0 || digits.fold(0, |rest, digit| (rest * 10 + digit) % divisor) == 0;
    }
    let quotient = float / divisor;
    if divisor == 0.0 || (is_float && !float.is_finite()) {
        true
    } else if is_float && quotient.is_finite() {
        quotient % 1.0 == 0.0
    } else {
        float % divisor == 0.0
    }
}

fn small(number: &Number) -> Option<u128> {
    match number {
        Number::Int(digits) => digits.parse::<u64>().ok().map(u128::from),
        Number::Float(_) => None,
    }
}

fn wrong_length(value: Value<'_>, of: Counted, most: bool, limit: usize) -> Found<'_> {
    let count = match (of, value.kind()) {
        (Counted::Characters, Kind::String | Kind::Key) => {
            // An unescaped string is never longer than its text: most need no counting.
            if most && value.raw().len() <= limit.saturating_add(2) {
                return None;
            }
            value.string()?.bytes().iter().filter(|&&b| b & 0xc0 != 0x80).count()
        }
        (Counted::Items, Kind::Array) => value.len(),
        (Counted::Properties, Kind::Object) => value.entries().len(),
        _ => return None,
    };
    match (most, of) {
        (true, _) if count <= limit => None,
        (false, _) if count >= limit => None,
        (true, _) if limit == 0 => about(value, " is expected to be empty"),
        (false, _) if limit == 1 => about(value, " should be non-empty"),
        (true, Counted::Properties) => about(value, " has too many properties"),
        (false, Counted::Properties) => about(value, " does not have enough properties"),
        (true, _) => about(value, " is too long"),
        (false, _) => about(value, " is too short"),
    }
}

/// Judges by the `jsonschema` crate, in its own order and words.
pub(super) fn foreign<'a>(validator: &jsonschema::Validator, answer: Value<'a>) -> Found<'a> {
    let Some(json) = to_serde(answer) else {
        let words = "this schema cannot judge an answer with NaN, an infinity, half a surrogate pair or an integer \
                     of more than 64 bits";
        return problem(answer, Message::new(words));
    };
    let error = validator.iter_errors(&json).next()?;
    let mut value = answer;
    for part in error.instance_path().as_str().split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        let next = match value.kind() {
            Kind::Array => name.parse().ok().and_then(|n| value.items().nth(n)),
            _ => value.get(&name),
        };
        let Some(next) = next else { break };
        value = next;
    }
    problem(value, Message::new(&error.to_string()))
}

/// The value as `serde_json` has it; `None` where that could not hold it exactly.
pub(super) fn to_serde(value: Value<'_>) -> Option<Json> {
    converted(value, false)
}

/// The value as `serde_json` has it, large integers rounded and half surrogate pairs replaced: good enough to ask
/// whether a schema is one, not to judge by it. `None` for numbers that are not finite.
pub(super) fn to_serde_rounded(value: Value<'_>) -> Option<Json> {
    converted(value, true)
}

fn converted(value: Value<'_>, rounded: bool) -> Option<Json> {
    let text = |string: Untrusted<'_>| match string.utf8() {
        Some(text) => Some(text.to_owned()),
        None => rounded.then(|| String::from_utf8_lossy(string.bytes()).into_owned()),
    };
    Some(match value.kind() {
        Kind::Null => Json::Null,
        Kind::True => Json::Bool(true),
        Kind::False => Json::Bool(false),
        Kind::Int => {
            let digits = std::str::from_utf8(value.raw()).ok()?;
            let exact = digits.parse::<i64>().map(JsonNumber::from);
            let exact = exact.or_else(|_| digits.parse::<u64>().map(JsonNumber::from)).ok();
            let near = || if rounded { JsonNumber::from_f64(value.float()?) } else { None };
            Json::Number(exact.or_else(near)?)
        }
        Kind::Float | Kind::NotFinite => Json::Number(JsonNumber::from_f64(value.float()?)?),
        Kind::String | Kind::Key => Json::String(text(value.string()?)?),
        Kind::Array => Json::Array(value.items().map(|item| converted(item, rounded)).collect::<Option<_>>()?),
        Kind::Object => {
            let read = |member: Member<'_>| Some((text(member.name())?, converted(member.value, rounded)?));
            Json::Object(value.members().map(read).collect::<Option<Map<_, _>>>()?)
        }
    })
}
