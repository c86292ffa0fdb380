//! Asks a schema: Python's errors, in Python's order and words.
//!
//! Errors are given to a [`Errors`] one by one; it says when it has enough. Words are only put together for those that
//! are kept.

use std::cell::Cell;
use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::{Map, Number as JsonNumber, Value as Json};

use super::breach::{Breach, Law, Undecidable, View};
use super::nodes::{Body, Counted, Dependency, Id, Keyword, Limit, Literal, Nodes, Subschema, Type};
use super::references::Uri;
use crate::json::{Kind, Member, Value};
use crate::pyregex::{Pattern, Undecided};
use crate::python::{Message, PythonNumber};
use crate::text::Untrusted;
use crate::work;

/// References that lead back to themselves end here; Python ends in an exception.
const MAX_DEPTH: usize = 256;
/// Maximum number of schemas that are asked about the parts of one value: branches that lead back double at every
/// level.
const MAX_ASKED: u64 = 3_000_000;
/// The work of asking one schema about one value.
const ASK: u64 = 100;
/// Number of names or values of a schema that cost as much work to compare as asking one schema.
const COMPARED: u64 = 8;
/// Number of bytes of a value that cost as much work as comparing one.
const BYTES: u64 = 64;
/// Comparing the parts of a value costs this much less than making something of them.
const MADE: u64 = 16;
/// Maximum number of breaches of one value that are told apart.
const MAX_BREACHES: usize = 100;

/// The first error of an answer, from the schema's root; `Err`: as with [`best`].
pub(super) fn first<'v>(schema: &'v Nodes, answer: Value<'v>, view: View) -> Result<Option<Breach<'v>>, Undecidable> {
    let mut first = Errors::First(None);
    within_allowance(answer, |given_up| {
        let _ = Evaluation::new(schema, view, given_up).node(0, answer, &mut first);
    })?;
    let Errors::First(fault) = first else { return Ok(None) };
    Ok(fault.map(Fault::breach))
}

/// The words of the error that Python's `best_match` picks for a whole value; `Err`: something was given up on the
/// way, so that nothing is known.
pub(super) fn best(schema: &Nodes, value: Value<'_>) -> Result<Option<Untrusted<'static>>, Undecidable> {
    let mut best = Errors::Best(None);
    within_allowance(value, |given_up| {
        let _ = Evaluation::new(schema, View::Whole, given_up).node(0, value, &mut best);
    })?;
    let Errors::Best(fault) = best else { return Ok(None) };
    Ok(fault.map(|fault| (fault.relevant())().into()))
}

/// Every breach, up to a limit; where something was given up, the last says so.
pub(super) fn every<'v>(schema: &'v Nodes, value: Value<'v>) -> Vec<Breach<'v>> {
    let mut breaches = Vec::new();
    let decided = within_allowance(value, |given_up| {
        let evaluation = Evaluation::new(schema, View::Whole, given_up);
        let mut every = Errors::Every(Vec::new());
        let _ = evaluation.node(0, value, &mut every);
        let Errors::Every(faults) = every else { return };
        for fault in faults {
            if let Some(Keyword::AdditionalProperties { known, joined, .. }) = fault.keyword {
                let extra = extra_members(fault.value, known, joined.as_ref());
                breaches.extend(extra.map(|member| unexpected(fault.value, &member)));
            } else {
                breaches.push(fault.breach());
            }
        }
    });
    breaches.truncate(MAX_BREACHES);
    if let Err(why) = decided {
        let message = Untrusted::owned(why.to_string().into_bytes());
        breaches.push(Breach { law: Law::Undecided, message, value, key: None });
    }
    breaches
}

fn unexpected<'v>(value: Value<'v>, member: &Member<'v>) -> Breach<'v> {
    let name = Message::default().quoted(member.name().bytes());
    Breach { law: Law::Extra, message: name.text(" was unexpected").into(), value, key: Some(member.key) }
}

/// One step from a value to a part of it.
#[derive(Clone, Copy)]
enum PathPart<'v> {
    Item(usize),
    Key(Value<'v>),
}

impl<'v> PathPart<'v> {
    /// Key that orders steps: items before keys.
    fn rank(self) -> (Option<Untrusted<'v>>, usize) {
        match self {
            Self::Item(n) => (None, n),
            Self::Key(key) => (Some(key.string().expect("a key")), 0),
        }
    }
}

/// The words of an error, put together when they are wanted. Many errors wait while alternatives are judged: they hold
/// no list of what they name, but find it again.
type Words<'v> = Box<dyn Fn() -> Message + 'v>;

/// One error.
struct Fault<'v> {
    message: Words<'v>,
    /// Subject of the error, for people: the value, or the first part that should not be there.
    value: Value<'v>,
    key: Option<Value<'v>>,
    /// Of `required`, the name.
    missing: Option<&'v [u8]>,
    /// The broken keyword; `None`: a schema that allows nothing.
    keyword: Option<&'v Keyword>,
    /// From where the errors are compared to the value.
    path: Vec<PathPart<'v>>,
    /// The value is of a type that the schema wants.
    of_type: bool,
    /// Of `anyOf` and `oneOf`, the words of the deepest error of their branches, where one is deepest.
    deepest: Option<Words<'v>>,
}

impl<'v> Fault<'v> {
    fn breach(self) -> Breach<'v> {
        let law = match self.keyword {
            Some(Keyword::Type { types, .. }) => Law::Type(types.clone()),
            Some(Keyword::Enum { .. } | Keyword::Const { .. }) => Law::Enum,
            Some(Keyword::Limit { .. }) => Law::Limit,
            Some(Keyword::Required(_)) => self.missing.map_or(Law::Other, |name| Law::Missing(name.to_vec())),
            _ => Law::Other,
        };
        Breach { law, message: (self.message)().into(), value: self.value, key: self.key }
    }

    /// Python's `relevance`: the greatest is the best.
    fn compare(&self, other: &Self) -> Ordering {
        let is_weak = |fault: &Self| matches!(fault.keyword, Some(Keyword::AnyOf(_) | Keyword::OneOf(_)));
        Reverse(self.path.len())
            .cmp(&Reverse(other.path.len()))
            .then_with(|| self.path.iter().map(|part| part.rank()).cmp(other.path.iter().map(|part| part.rank())))
            .then_with(|| (!is_weak(self)).cmp(&!is_weak(other)))
            .then_with(|| (!self.of_type).cmp(&!other.of_type))
    }

    /// Of alternatives the words of the deepest error, as long as one is deepest.
    fn relevant(self) -> Words<'v> {
        self.deepest.unwrap_or(self.message)
    }
}

/// Treatment of errors.
enum Errors<'v> {
    /// There is one or not.
    Any(bool),
    /// The first.
    First(Option<Fault<'v>>),
    /// The most relevant.
    Best(Option<Fault<'v>>),
    /// The two least relevant, and whether there was one since that was last asked.
    Least(Vec<Fault<'v>>, bool),
    /// All, up to a limit.
    Every(Vec<Fault<'v>>),
}

impl<'v> Errors<'v> {
    fn add(&mut self, fault: impl FnOnce(bool) -> Fault<'v>) -> Flow {
        match self {
            Self::Any(any) => {
                *any = true;
                return ControlFlow::Break(());
            }
            Self::First(first) => {
                *first = Some(fault(false));
                return ControlFlow::Break(());
            }
            Self::Best(best) => {
                let fault = fault(true);
                if best.as_ref().is_none_or(|best| fault.compare(best).is_gt()) {
                    *best = Some(fault);
                }
            }
            Self::Least(least, any) => {
                *any = true;
                let fault = fault(true);
                let at = least.iter().take_while(|other| other.compare(&fault).is_le()).count();
                least.insert(at, fault);
                least.truncate(2);
            }
            Self::Every(all) => {
                if all.len() >= MAX_BREACHES {
                    return ControlFlow::Break(());
                }
                all.push(fault(false));
            }
        }
        ControlFlow::Continue(())
    }

    /// Number of errors kept to show their places.
    fn kept(&self) -> usize {
        match self {
            Self::First(first) => usize::from(first.is_some()),
            Self::Every(all) => all.len(),
            _ => 0,
        }
    }

    /// Those that came since then.
    fn since(&mut self, kept: usize) -> impl Iterator<Item = &mut Fault<'v>> {
        let all: &mut [Fault<'v>] = match self {
            Self::First(Some(first)) => std::slice::from_mut(first),
            Self::Every(all) => all,
            _ => &mut [],
        };
        all.iter_mut().skip(kept)
    }
}

/// Continues while more errors are wanted.
type Flow = ControlFlow<()>;
const ON: Flow = ControlFlow::Continue(());

/// Judges a value with the work that its size allows; `Err`: a pattern took too long, references led too deep, or too
/// many schemas were asked.
fn within_allowance(value: Value<'_>, judge: impl FnOnce(&Cell<bool>)) -> Result<(), Undecidable> {
    let given_up = Cell::new(false);
    let most = work::allowance(value.raw().len()).min(MAX_ASKED * ASK);
    work::within(work::left(most), || judge(&given_up));
    if given_up.get() { Err(Undecidable) } else { Ok(()) }
}

/// A list that grows down the stack, newest first.
struct Link<'p, T> {
    own: T,
    outer: Option<&'p Link<'p, T>>,
}

impl<'p, T> Link<'p, T> {
    fn all(link: Option<&'p Self>) -> impl Iterator<Item = &'p T> {
        std::iter::successors(link, |link| link.outer).map(|link| &link.own)
    }
}

/// A question to a schema, with what led there.
#[derive(Clone, Copy)]
struct Evaluation<'p, 'v> {
    schema: &'v Nodes,
    /// Counts at the root only.
    view: View,
    depth: usize,
    given_up: &'p Cell<bool>,
    path: Option<&'p Link<'p, PathPart<'v>>>,
    /// The addresses from which references led here: anchors in them come before those of the schema itself.
    scope: Option<&'p Link<'p, Uri>>,
}

/// An error about a value, being written.
#[derive(Clone, Copy)]
struct About<'p, 'v> {
    evaluation: Evaluation<'p, 'v>,
    node: &'v Subschema,
    keyword: Option<&'v Keyword>,
    /// The value that the schema was asked about.
    value: Value<'v>,
}

impl<'v> About<'_, 'v> {
    fn fault(self, keep: bool, message: impl Fn() -> Message + 'v) -> Fault<'v> {
        let mut path = Vec::new();
        if keep {
            path.extend(Link::all(self.evaluation.path));
            path.reverse();
        }
        let of_type = keep && self.node.types.iter().any(|&wanted| is_type(self.value, wanted));
        Fault {
            message: Box::new(message),
            value: self.value,
            key: None,
            missing: None,
            keyword: self.keyword,
            path,
            of_type,
            deepest: None,
        }
    }

    fn say(self, errors: &mut Errors<'v>, message: impl Fn() -> Message + 'v) -> Flow {
        errors.add(|keep| self.fault(keep, message))
    }

    /// A message that begins with the value.
    fn value(self, errors: &mut Errors<'v>, words: &'v str) -> Flow {
        let value = self.value;
        self.say(errors, move || Message::default().value(value).text(words))
    }
}

impl<'p, 'v> Evaluation<'p, 'v> {
    fn new(schema: &'v Nodes, view: View, given_up: &'p Cell<bool>) -> Self {
        Self { schema, view, depth: 0, given_up, path: None, scope: None }
    }

    fn give_up(self) {
        self.given_up.set(true);
    }

    /// Takes from what the value may use up.
    fn pay(self, asked: u64) -> Flow {
        let units = asked.saturating_mul(ASK);
        if work::left(units) < units {
            self.give_up();
            return ControlFlow::Break(());
        }
        work::pay(units);
        ON
    }

    fn node(self, id: Id, value: Value<'v>, errors: &mut Errors<'v>) -> Flow {
        let node = &self.schema.list[id];
        self.pay(1)?;
        match &node.body {
            Body::Always => ON,
            Body::Never => {
                let about = About { evaluation: self, node, keyword: None, value };
                about.say(errors, move || Message::new("False schema does not allow ").value(value))
            }
            Body::Keywords(keywords) => {
                for keyword in keywords {
                    self.keyword(About { evaluation: self, node, keyword: Some(keyword), value }, keyword, errors)?;
                }
                ON
            }
        }
    }

    /// Asks another schema about the same value.
    fn same(self, id: Id, value: Value<'v>, errors: &mut Errors<'v>) -> Flow {
        if self.depth >= MAX_DEPTH {
            self.give_up();
            return ON;
        }
        Self { view: View::Whole, depth: self.depth + 1, ..self }.node(id, value, errors)
    }

    /// Asks a schema about a part of the value.
    fn below(self, id: Id, part: PathPart<'v>, value: Value<'v>, errors: &mut Errors<'v>) -> Flow {
        // Python gives the error of a schema that allows nothing the place of what is around the value.
        if self.never(id) {
            return self.same(id, value, errors);
        }
        let link = Link { own: part, outer: self.path };
        Evaluation { path: Some(&link), ..self }.same(id, value, errors)
    }

    fn member(self, id: Id, member: &Member<'v>, errors: &mut Errors<'v>) -> Flow {
        self.below(id, PathPart::Key(member.key), member.value, errors)
    }

    fn holds(self, id: Id, value: Value<'v>) -> bool {
        let mut errors = Errors::Any(false);
        let _ = self.same(id, value, &mut errors);
        matches!(errors, Errors::Any(false))
    }

    fn matches(self, pattern: &Pattern, text: &Untrusted<'_>) -> bool {
        pattern.is_in(text.bytes()).unwrap_or_else(|_| {
            self.give_up();
            false
        })
    }

    /// True if neither the names nor the patterns of a schema know a member.
    fn is_extra(self, member: &Member<'_>, known: &[Vec<u8>], patterns: Option<&Pattern>) -> bool {
        is_extra(member, known, patterns).unwrap_or_else(|_| {
            self.give_up();
            true
        })
    }

    fn always(self, id: Id) -> bool {
        matches!(self.schema.list.get(id), Some(Subschema { body: Body::Always, .. }))
    }

    fn never(self, id: Id) -> bool {
        matches!(self.schema.list.get(id), Some(Subschema { body: Body::Never, .. }))
    }

    /// Keywords that ask other schemas are functions of their own: their frames stand on the stack many times over.
    fn keyword(self, about: About<'p, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
        use Keyword as K;
        self.pay(keyword.cost(about.value))?;
        match keyword {
            K::PrefixItems(_) | K::Items { .. } | K::AdditionalItems { .. } => self.items(about, keyword, errors),
            K::AllOf(_) | K::AnyOf(_) | K::OneOf(_) | K::If { .. } | K::Ref { .. } | K::Recursive { .. } => {
                self.applied(about, keyword, errors)
            }
            K::Properties(_)
            | K::PatternProperties(_)
            | K::PropertyNames(_)
            | K::DependentSchemas(_)
            | K::Dependencies(_)
            | K::AdditionalProperties { .. }
            | K::UnevaluatedProperties { .. } => self.object(about, keyword, errors),
            _ => self.assertion(about, keyword, errors),
        }
    }

    fn items(self, about: About<'p, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
        let value = about.value;
        if value.kind() != Kind::Array {
            return ON;
        }
        let (prefix, schema) = match keyword {
            Keyword::PrefixItems(schemas) => {
                for (n, (item, &schema)) in value.items().zip(schemas).enumerate() {
                    self.below(schema, PathPart::Item(n), item, errors)?;
                }
                return ON;
            }
            Keyword::Items { prefix, schema, counts: true } if self.never(*schema) => {
                return too_many_items(about, *prefix, errors);
            }
            Keyword::AdditionalItems { prefix, schema } if self.never(*schema) => {
                return extra_items(about, "Additional", move |n| n >= *prefix, errors);
            }
            Keyword::Items { prefix, schema, .. } | Keyword::AdditionalItems { prefix, schema } => (*prefix, *schema),
            _ => return ON,
        };
        for (n, item) in value.items().enumerate().skip(prefix) {
            self.below(schema, PathPart::Item(n), item, errors)?;
        }
        ON
    }

    /// Keywords that ask other schemas about the same value.
    fn applied(self, about: About<'p, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
        let value = about.value;
        match keyword {
            Keyword::AllOf(schemas) => schemas.iter().try_for_each(|&schema| self.same(schema, value, errors)),
            Keyword::AnyOf(schemas) => match self.alternatives(schemas.iter().copied(), value, errors) {
                Ok(_) => ON,
                Err(context) => none_of(about, context, errors),
            },
            Keyword::OneOf(schemas) => self.one_of(about, schemas, errors),
            Keyword::If { test, then, otherwise } => {
                let branch = if self.holds(*test, value) { then } else { otherwise };
                branch.map_or(ON, |branch| self.same(branch, value, errors))
            }
            _ => self.referred(about.node, keyword, |there, id| there.same(id, value, errors)).unwrap_or(ON),
        }
    }

    /// Keywords that look at the value itself.
    fn assertion(self, about: About<'p, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
        let value = about.value;
        match (keyword, value.kind()) {
            (Keyword::Type { types, words }, _) => {
                if types.iter().any(|&wanted| is_type(value, wanted)) {
                    return ON;
                }
                about.say(errors, move || Message::default().value(value).text(" is not of type ").text(words))
            }
            (Keyword::Enum { options, words }, _) => {
                if Literal::hold(options, value) {
                    return ON;
                }
                about.say(errors, move || Message::default().value(value).text(" is not one of ").text(words))
            }
            (Keyword::Const { value: wanted, words }, _) => {
                if Literal::hold(std::slice::from_ref(wanted), value) {
                    return ON;
                }
                about.say(errors, move || Message::default().text(words).text(" was expected"))
            }
            (Keyword::Limit { limit, number, words }, Kind::Int | Kind::Float | Kind::NotFinite) => {
                let Some(how) = beyond(value, *limit, number) else { return ON };
                about.say(errors, move || Message::default().value(value).text(how).text(words))
            }
            (Keyword::MultipleOf { number, is_float, words }, Kind::Int | Kind::Float | Kind::NotFinite) => {
                if is_multiple(value, number, *is_float) {
                    return ON;
                }
                about.say(errors, move || Message::default().value(value).text(" is not a multiple of ").text(words))
            }
            (Keyword::Length { of, most, limit }, _) => {
                wrong_length(value, *of, *most, *limit).map_or(ON, |words| about.value(errors, words))
            }
            (Keyword::Pattern(pattern), Kind::String | Kind::Key) => {
                if value.string().is_none_or(|text| self.matches(pattern, &text)) {
                    return ON;
                }
                let text = pattern.text().as_bytes();
                about.say(errors, move || Message::default().value(value).text(" does not match ").quoted(text))
            }
            (Keyword::UniqueItems, Kind::Array) => {
                let mut seen = HashSet::new();
                let again = value.items().filter_map(Literal::of).any(|item| !seen.insert(item));
                if again { about.value(errors, " has non-unique elements") } else { ON }
            }
            (Keyword::UnevaluatedItems(_), Kind::Array) => {
                let evaluated = self.evaluated_items(about.node, value);
                extra_items(about, "Unevaluated", move |n| evaluated.get(n) == Some(&false), errors)
            }
            (Keyword::Contains { .. } | Keyword::ContainsAny(_), Kind::Array) => self.contains(about, keyword, errors),
            (Keyword::Not { schema, words }, _) => {
                if !self.holds(*schema, value) {
                    return ON;
                }
                about.say(errors, move || {
                    Message::default().value(value).text(" should not be valid under ").text(words)
                })
            }
            (_, Kind::Object) => missing_names(about, keyword, errors),
            _ => ON,
        }
    }

    /// Goes where a reference leads, with the scope that holds there.
    fn referred<T>(
        self,
        node: &Subschema,
        keyword: &Keyword,
        then: impl FnOnce(Evaluation<'_, 'v>, Id) -> T,
    ) -> Option<T> {
        let pushed = Link { own: node.base, outer: self.scope };
        let scope_to = |uri: Uri| {
            if node.base != 0 && (self.scope.is_none() || uri != node.base) { Some(&pushed) } else { self.scope }
        };
        let (id, scope) = match keyword {
            Keyword::Ref { schema, uri, dynamic } => {
                let scope = scope_to(*uri);
                let redefined = |uri: &Uri| dynamic.iter().find(|(other, _)| other == uri);
                let outermost = Link::all(scope).filter_map(redefined).last();
                (outermost.map_or(*schema, |(_, id)| *id), scope)
            }
            Keyword::Recursive { own, uri, is_anchor, all } => {
                let anchor = |uri: &Uri| all.iter().find(|(other, _)| other == uri);
                let outermost = Link::all(self.scope.filter(|_| *is_anchor)).map_while(anchor).last();
                let (uri, id) = outermost.copied().unwrap_or((*uri, *own));
                (id, scope_to(uri))
            }
            _ => return None,
        };
        Some(then(Evaluation { scope, ..self }, id))
    }

    /// Asks alternatives one by one up to the first that allows the value: its number, or the context of all errors.
    fn alternatives(
        self,
        schemas: impl Iterator<Item = Id>,
        value: Value<'v>,
        errors: &Errors<'v>,
    ) -> Result<usize, Vec<Fault<'v>>> {
        if !matches!(errors, Errors::Best(_) | Errors::Least(..)) {
            let mut schemas = schemas;
            return schemas.position(|schema| self.holds(schema, value)).ok_or_else(Vec::new);
        }
        let mut context = Errors::Least(Vec::new(), false);
        let inside = Evaluation { path: None, ..self };
        for (n, schema) in schemas.enumerate() {
            if let Errors::Least(_, any) = &mut context {
                *any = false;
            }
            let _ = inside.same(schema, value, &mut context);
            if matches!(context, Errors::Least(_, false)) {
                return Ok(n);
            }
        }
        let Errors::Least(faults, _) = context else { return Err(Vec::new()) };
        Err(faults)
    }

    fn one_of(self, about: About<'p, 'v>, schemas: &'v [(Id, Vec<u8>)], errors: &mut Errors<'v>) -> Flow {
        let value = about.value;
        let first = match self.alternatives(schemas.iter().map(|(schema, _)| *schema), value, errors) {
            Ok(first) => first,
            Err(context) => return none_of(about, context, errors),
        };
        let more = schemas.iter().skip(first + 1).filter(|(schema, _)| self.holds(*schema, value));
        let mut words: Vec<&Vec<u8>> = more.map(|(_, words)| words).collect();
        if words.is_empty() {
            return ON;
        }
        words.extend(schemas.get(first).map(|(_, words)| words));
        about.say(errors, move || {
            let message = Message::default().value(value).text(" is valid under each of ");
            words
                .iter()
                .enumerate()
                .fold(message, |message, (n, words)| message.text(if n > 0 { ", " } else { "" }).text(words))
        })
    }

    fn contains(self, about: About<'p, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
        let value = about.value;
        let (schema, least, most, least_words, most_words) = match keyword {
            Keyword::ContainsAny(schema) => {
                if value.items().any(|item| self.holds(*schema, item)) {
                    return ON;
                }
                return about.say(errors, move || {
                    Message::new("None of ").value(value).text(" are valid under the given schema")
                });
            }
            Keyword::Contains { schema, least, most, least_words, most_words } => {
                (*schema, *least, *most, least_words, most_words)
            }
            _ => return ON,
        };
        let matches = value.items().filter(|&item| self.holds(schema, item)).count();
        if most.is_some_and(|most| matches as f64 > most) {
            return about.say(errors, move || {
                let message = Message::new("Too many items match the given schema (expected at most ");
                message.text(most_words).text(")")
            });
        }
        if matches as f64 >= least {
            return ON;
        }
        if matches == 0 {
            return about.value(errors, " does not contain items matching the given schema");
        }
        about.say(errors, move || {
            let message = Message::new("Too few items match the given schema (expected at least ").text(least_words);
            message.text(" but only ").number(matches).text(" matched)")
        })
    }

    fn object(self, about: About<'p, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
        let value = about.value;
        if value.kind() != Kind::Object {
            return ON;
        }
        match keyword {
            Keyword::Properties(properties) => {
                for (name, schema) in properties {
                    if let Some(member) = value.member_spelt(name) {
                        self.member(*schema, &member, errors)?;
                    }
                }
                ON
            }
            Keyword::PatternProperties(patterns) => {
                let entries = value.entries();
                for (pattern, schema) in patterns {
                    for member in entries.iter().filter(|member| self.matches(pattern, &member.name())) {
                        self.member(*schema, member, errors)?;
                    }
                }
                ON
            }
            Keyword::AdditionalProperties { .. } => self.additional(about, keyword, errors),
            Keyword::UnevaluatedProperties { schema, .. } => self.unevaluated(about, *schema, errors),
            Keyword::PropertyNames(schema) => value.entries().into_iter().try_for_each(|member| {
                let before = errors.kept();
                let flow = self.same(*schema, member.key, errors);
                // What is wrong with a name is shown at the key.
                errors.since(before).for_each(|fault| fault.key = Some(fault.value));
                flow
            }),
            Keyword::DependentSchemas(dependencies) => dependencies.iter().try_for_each(|(name, schema)| {
                if value.member_spelt(name).is_some() { self.same(*schema, value, errors) } else { ON }
            }),
            Keyword::Dependencies(dependencies) => {
                dependencies.iter().try_for_each(|(name, dependency)| match dependency {
                    _ if value.member_spelt(name).is_none() => ON,
                    Dependency::Schema(schema) => self.same(*schema, value, errors),
                    Dependency::Names(wanted) => wanted_names(about, name, wanted, errors),
                })
            }
            _ => ON,
        }
    }

    fn additional(self, about: About<'p, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
        let Keyword::AdditionalProperties { known, joined, patterns, schema, .. } = keyword else { return ON };
        let value = about.value;
        if self.view == View::OwnKeys || self.always(*schema) {
            return ON;
        }
        let is_extra = |member: &Member<'v>| self.is_extra(member, known, joined.as_ref());
        // Nearly always there is none: nothing is collected for that.
        if value.members().find(is_extra).is_none() {
            return ON;
        }
        if !self.never(*schema) {
            let extras = value.entries().into_iter().filter(is_extra);
            return extras.into_iter().try_for_each(|member| self.member(*schema, &member, errors));
        }
        let extras = value.entries().into_iter().filter(is_extra);
        let key = extras.min_by_key(Member::name).map(|member| member.key);
        let message = move || {
            let mut names: Vec<_> = extra_members(value, known, joined.as_ref()).map(|member| member.name()).collect();
            names.sort();
            let one = names.len() == 1;
            let names = || names.iter().map(Untrusted::bytes);
            if let Some(patterns) = patterns {
                let verb = if one { " does" } else { " do" };
                let message = Message::default().quoted_each(names()).text(verb);
                message.text(" not match any of the regexes: ").quoted_each(patterns)
            } else {
                let verb = if one { " was" } else { " were" };
                let message = Message::new("Additional properties are not allowed (").quoted_each(names());
                message.text(verb).text(" unexpected)")
            }
        };
        errors.add(|keep| Fault { key, ..about.fault(keep, message) })
    }

    fn unevaluated(self, about: About<'p, 'v>, schema: Id, errors: &mut Errors<'v>) -> Flow {
        let value = about.value;
        let entries = value.entries();
        let evaluated = self.evaluated_properties(about.node, value, &entries);
        // Python names a property once for each of its errors.
        let mut named: Vec<u8> = vec![0; entries.len()];
        for ((member, _), named) in entries.iter().zip(evaluated).zip(&mut named).filter(|((_, known), _)| !known) {
            let mut own = Errors::Every(Vec::new());
            let _ = self.same(schema, member.value, &mut own);
            if let Errors::Every(faults) = own {
                *named = u8::try_from(faults.len()).unwrap_or(u8::MAX);
            }
        }
        let never = self.never(schema);
        let extras = entries.iter().zip(&named).filter(|(_, named)| **named > 0).map(|(member, _)| member);
        let first = if never { extras.min_by_key(|member| member.name()) } else { extras.into_iter().next() };
        let Some(key) = first.map(|member| member.key) else { return ON };
        let message = move || {
            let entries = value.entries();
            let times = |(member, times): (&Member<'v>, &u8)| std::iter::repeat_n(member.name(), usize::from(*times));
            let mut names: Vec<Untrusted<'_>> = entries.iter().zip(&named).flat_map(times).collect();
            if never {
                names.sort();
            }
            let (begin, end) = if never {
                ("Unevaluated properties are not allowed (", " unexpected)")
            } else {
                ("Unevaluated properties are not valid under the given schema (", " unevaluated and invalid)")
            };
            let verb = if names.len() == 1 { " was" } else { " were" };
            Message::new(begin).quoted_each(names.iter().map(Untrusted::bytes)).text(verb).text(end)
        };
        errors.add(|keep| Fault { key: Some(key), ..about.fault(keep, message) })
    }

    /// Items of a list that the keywords of a schema, but for its own `unevaluatedItems`, have looked at.
    fn evaluated_items(self, node: &'v Subschema, value: Value<'v>) -> Vec<bool> {
        let mut known = vec![false; value.len()];
        self.mark_items(node, value, &mut known);
        known
    }

    fn mark_items(self, node: &'v Subschema, value: Value<'v>, known: &mut [bool]) {
        let Body::Keywords(keywords) = &node.body else { return };
        if self.depth >= MAX_DEPTH {
            return self.give_up();
        }
        let this = Self { depth: self.depth + 1, ..self };
        let all = |known: &mut [bool]| known.iter_mut().for_each(|known| *known = true);
        for keyword in keywords {
            match keyword {
                Keyword::Items { .. } | Keyword::AdditionalItems { .. } => all(known),
                Keyword::PrefixItems(schemas) => known.iter_mut().take(schemas.len()).for_each(|known| *known = true),
                Keyword::Contains { schema, .. } | Keyword::UnevaluatedItems(schema) => {
                    for (item, known) in value.items().zip(known.iter_mut()) {
                        *known = *known || this.holds(*schema, item);
                    }
                }
                _ => this.branches(node, keyword, value, &mut |there, node| there.mark_items(node, value, known)),
            }
        }
    }

    fn evaluated_properties(self, node: &'v Subschema, value: Value<'v>, entries: &[Member<'v>]) -> Vec<bool> {
        let mut known = vec![false; entries.len()];
        self.mark_properties(node, value, entries, &mut known);
        known
    }

    fn mark_properties(self, node: &'v Subschema, value: Value<'v>, entries: &[Member<'v>], known: &mut [bool]) {
        let Body::Keywords(keywords) = &node.body else { return };
        if self.depth >= MAX_DEPTH {
            return self.give_up();
        }
        let this = Self { depth: self.depth + 1, ..self };
        for keyword in keywords {
            if self.pay(keyword.cost(value)).is_break() {
                return;
            }
            let is_known = |member: &Member<'v>| match keyword {
                Keyword::Properties(properties) => {
                    properties.iter().any(|(name, _)| name.as_slice() == member.name().bytes())
                }
                Keyword::PatternProperties(patterns) => {
                    patterns.iter().any(|(pattern, _)| this.matches(pattern, &member.name()))
                }
                // Of draft 2019-09 Python takes the keys of the schema for names of properties.
                Keyword::AdditionalProperties { schema, names: Some(names), .. }
                | Keyword::UnevaluatedProperties { schema, names: Some(names) } => {
                    self.always(*schema) || names.iter().any(|name| name.as_slice() == member.name().bytes())
                }
                Keyword::AdditionalProperties { schema, .. } | Keyword::UnevaluatedProperties { schema, .. } => {
                    this.holds(*schema, member.value)
                }
                _ => false,
            };
            for (member, known) in entries.iter().zip(known.iter_mut()) {
                *known = *known || is_known(member);
            }
            if let Keyword::DependentSchemas(dependencies) = keyword {
                for (_, schema) in dependencies.iter().filter(|(name, _)| value.member_spelt(name).is_some()) {
                    if let Some(node) = self.schema.list.get(*schema) {
                        this.mark_properties(node, value, entries, known);
                    }
                }
            }
            this.branches(node, keyword, value, &mut |there, node| there.mark_properties(node, value, entries, known));
        }
    }

    /// Goes into the schemas that a keyword applies to the same value, as far as they allow it.
    fn branches(
        self,
        node: &'v Subschema,
        keyword: &'v Keyword,
        value: Value<'v>,
        each: &mut dyn FnMut(Evaluation<'_, 'v>, &'v Subschema),
    ) {
        let mut go = |there: Evaluation<'_, 'v>, id: Id| {
            if let Some(node) = self.schema.list.get(id) {
                each(there, node);
            }
        };
        match keyword {
            Keyword::Ref { .. } | Keyword::Recursive { .. } => {
                self.referred(node, keyword, &mut go);
            }
            Keyword::AllOf(schemas) | Keyword::AnyOf(schemas) => {
                schemas.iter().filter(|schema| self.holds(**schema, value)).for_each(|schema| go(self, *schema));
            }
            Keyword::OneOf(schemas) => {
                schemas
                    .iter()
                    .filter(|(schema, _)| self.holds(*schema, value))
                    .for_each(|(schema, _)| go(self, *schema));
            }
            Keyword::If { test, then, otherwise } => {
                if self.holds(*test, value) {
                    go(self, *test);
                    if let Some(then) = then {
                        go(self, *then);
                    }
                } else if let Some(otherwise) = otherwise {
                    go(self, *otherwise);
                }
            }
            _ => {}
        }
    }
}

impl Keyword {
    /// Cost of looking through the value by itself, in schemas that are asked: all of the value, as often as it has
    /// names to find there, and what it compares one value with.
    fn cost(&self, value: Value<'_>) -> u64 {
        let (compared, passes) = match (self, value.kind()) {
            (Self::Enum { options, .. }, Kind::Array | Kind::Object) => (options.len(), MADE),
            (Self::Enum { options, .. }, _) => (options.len(), 0),
            (Self::Const { .. }, Kind::Array | Kind::Object)
            | (Self::Length { .. } | Self::UnevaluatedProperties { .. }, Kind::Object)
            | (Self::Length { .. } | Self::UniqueItems | Self::UnevaluatedItems(_), Kind::Array)
            | (Self::Pattern(_), Kind::String | Kind::Key) => (0, MADE),
            (Self::Required(names), Kind::Object) => (names.len(), names.len() as u64),
            (Self::Properties(named) | Self::DependentSchemas(named), Kind::Object) => {
                (named.len(), named.len() as u64)
            }
            (Self::Dependencies(named), Kind::Object) => {
                let names = |dependency: &Dependency| match dependency {
                    Dependency::Names(names) => 1 + names.len(),
                    Dependency::Schema(_) => 1,
                };
                let names: usize = named.iter().map(|(_, dependency)| names(dependency)).sum();
                (names, names as u64)
            }
            (Self::PatternProperties(patterns), Kind::Object) => (0, MADE * patterns.len() as u64),
            (Self::AdditionalProperties { known, patterns, .. }, Kind::Object) => {
                let patterns = patterns.as_ref().map_or(0, Vec::len) as u64;
                (known.len(), known.len() as u64 + MADE * (1 + patterns))
            }
            (Self::MultipleOf { number: PythonNumber::Int(digits), .. }, Kind::Int) => (0, MADE * digits.len() as u64),
            _ => (0, 0),
        };
        (compared as u64 + passes * (value.raw().len() as u64 / BYTES)) / COMPARED
    }
}

fn missing_names<'v>(about: About<'_, 'v>, keyword: &'v Keyword, errors: &mut Errors<'v>) -> Flow {
    let Keyword::Required(names) = keyword else { return ON };
    names.iter().filter(|name| about.value.member_spelt(name).is_none()).try_for_each(|name| {
        let message = move || Message::default().quoted(name).text(" is a required property");
        errors.add(|keep| Fault { missing: Some(name), ..about.fault(keep, message) })
    })
}

fn wanted_names<'v>(about: About<'_, 'v>, name: &'v [u8], wanted: &'v [Vec<u8>], errors: &mut Errors<'v>) -> Flow {
    wanted.iter().filter(|each| about.value.member_spelt(each).is_none()).try_for_each(|each| {
        about.say(errors, move || Message::default().quoted(each).text(" is a dependency of ").quoted(name))
    })
}

/// Adds the error of alternatives of which none holds, with their two least relevant errors, if there are two.
fn none_of<'v>(about: About<'_, 'v>, least: Vec<Fault<'v>>, errors: &mut Errors<'v>) -> Flow {
    let value = about.value;
    let message = move || Message::default().value(value).text(" is not valid under any of the given schemas");
    let mut least = least.into_iter();
    let (first, second) = (least.next(), least.next());
    let is_tie = first.as_ref().zip(second.as_ref()).is_some_and(|(first, second)| first.compare(second).is_eq());
    let deepest = first.filter(|_| !is_tie).map(Fault::relevant);
    errors.add(|keep| Fault { deepest, ..about.fault(keep, message) })
}

/// True if neither the names nor the patterns of a schema know a member.
fn is_extra(member: &Member<'_>, known: &[Vec<u8>], patterns: Option<&Pattern>) -> Result<bool, Undecided> {
    let name = member.name();
    if known.iter().any(|known| known.as_slice() == name.bytes()) {
        return Ok(false);
    }
    patterns.map_or(Ok(true), |pattern| pattern.is_in(name.bytes()).map(|is_in| !is_in))
}

/// The members of an object that neither the names nor the patterns of a schema know.
fn extra_members<'v>(
    value: Value<'v>,
    known: &'v [Vec<u8>],
    patterns: Option<&'v Pattern>,
) -> impl Iterator<Item = Member<'v>> {
    value.entries().into_iter().filter(move |member| is_extra(member, known, patterns).unwrap_or(true))
}

fn too_many_items<'v>(about: About<'_, 'v>, prefix: usize, errors: &mut Errors<'v>) -> Flow {
    let value = about.value;
    let Some(first) = value.items().nth(prefix) else { return ON };
    let message = move || {
        let rest: Vec<_> = value.items().skip(prefix).collect();
        let items = if prefix == 1 { " item" } else { " items" };
        let message = Message::new("Expected at most ").number(prefix).text(items).text(" but found ");
        let message = message.number(rest.len()).text(" extra: ");
        if rest.len() == 1 { message.value(first) } else { listed(message.text("["), &rest).text("]") }
    };
    errors.add(|keep| Fault { value: first, ..about.fault(keep, message) })
}

/// Adds the error of the items of a list whose numbers say that they should not be there.
fn extra_items<'v>(
    about: About<'_, 'v>,
    which: &'v str,
    is_extra: impl Fn(usize) -> bool + 'v,
    errors: &mut Errors<'v>,
) -> Flow {
    let value = about.value;
    let Some((_, first)) = value.items().enumerate().find(|(n, _)| is_extra(*n)) else { return ON };
    let message = move || {
        let extra = value.items().enumerate().filter(|(n, _)| is_extra(*n));
        let extra: Vec<_> = extra.map(|(_, item)| item).collect();
        let verb = if extra.len() == 1 { " was" } else { " were" };
        listed(Message::new(which).text(" items are not allowed ("), &extra).text(verb).text(" unexpected)")
    };
    errors.add(|keep| Fault { value: first, ..about.fault(keep, message) })
}

fn listed(message: Message, values: &[Value<'_>]) -> Message {
    values
        .iter()
        .enumerate()
        .fold(message, |message, (n, value)| message.text(if n > 0 { ", " } else { "" }).value(*value))
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

/// Words for a number beyond a limit.
fn beyond(value: Value<'_>, limit: Limit, number: &PythonNumber) -> Option<&'static str> {
    let order = PythonNumber::of(value)?.compare(number)?;
    let (wrong, how) = match limit {
        Limit::Minimum => (order.is_lt(), " is less than the minimum of "),
        Limit::Maximum => (order.is_gt(), " is greater than the maximum of "),
        Limit::ExclusiveMinimum => (order.is_le(), " is less than or equal to the minimum of "),
        Limit::ExclusiveMaximum => (order.is_ge(), " is greater than or equal to the maximum of "),
    };
    wrong.then_some(how)
}

/// Python divides by a float in floats, and an integer by an integer exactly. Where it raises an exception, nothing is
/// said.
fn is_multiple(value: Value<'_>, number: &PythonNumber, is_float: bool) -> bool {
    if let (false, PythonNumber::Int(divisor), Some(PythonNumber::Int(digits))) =
        (is_float || value.kind() != Kind::Int, number, PythonNumber::of(value))
    {
        return divides(divisor.trim_start_matches('-'), digits.trim_start_matches('-'));
    }
    let (Some(float), divisor) = (value.float(), number.float()) else { return true };
    let quotient = float / divisor;
    if divisor == 0.0 || (is_float && !float.is_finite()) {
        true
    } else if is_float && quotient.is_finite() {
        quotient % 1.0 == 0.0
    } else {
        float % divisor == 0.0
    }
}

/// Tells by long division whether an integer is a multiple of another; of zero, every one is.
fn divides(divisor: &str, digits: &str) -> bool {
    let divisor = divisor.as_bytes();
    let mut rest: Vec<u8> = Vec::with_capacity(divisor.len() + 1);
    for &digit in digits.as_bytes() {
        if digit != b'0' || !rest.is_empty() {
            rest.push(digit);
        }
        while divisor != b"0" && (rest.len(), rest.as_slice()) >= (divisor.len(), divisor) {
            let mut borrowed = 0;
            for (digit, less) in rest.iter_mut().rev().zip(divisor.iter().rev().chain(std::iter::repeat(&b'0'))) {
                let less = less - b'0' + borrowed;
                borrowed = u8::from(*digit - b'0' < less);
                *digit = *digit + 10 * borrowed - less;
            }
            let zeros = rest.iter().take_while(|&&digit| digit == b'0').count();
            rest.drain(..zeros);
        }
    }
    rest.is_empty() || divisor == b"0"
}

fn wrong_length(value: Value<'_>, of: Counted, most: bool, limit: usize) -> Option<&'static str> {
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
        (true, _) if limit == 0 => Some(" is expected to be empty"),
        (false, _) if limit == 1 => Some(" should be non-empty"),
        (true, Counted::Properties) => Some(" has too many properties"),
        (false, Counted::Properties) => Some(" does not have enough properties"),
        (true, _) => Some(" is too long"),
        (false, _) => Some(" is too short"),
    }
}

/// A schema as `serde_json` has it, large integers rounded and half surrogate pairs replaced: good enough to ask
/// whether it is one. `None` for numbers that are not finite.
pub(super) fn to_serde(value: Value<'_>) -> Option<Json> {
    let text = |string: Untrusted<'_>| String::from_utf8_lossy(string.bytes()).into_owned();
    Some(match value.kind() {
        Kind::Null => Json::Null,
        Kind::True => Json::Bool(true),
        Kind::False => Json::Bool(false),
        Kind::Int => {
            let digits = std::str::from_utf8(value.raw()).ok()?;
            let exact = digits.parse::<i64>().map(JsonNumber::from);
            let exact = exact.or_else(|_| digits.parse::<u64>().map(JsonNumber::from)).ok();
            Json::Number(exact.or_else(|| JsonNumber::from_f64(value.float()?))?)
        }
        Kind::Float | Kind::NotFinite => Json::Number(JsonNumber::from_f64(value.float()?)?),
        Kind::String | Kind::Key => Json::String(text(value.string()?)),
        Kind::Array => Json::Array(value.items().map(to_serde).collect::<Option<_>>()?),
        Kind::Object => {
            let read = |member: Member<'_>| Some((text(member.name()), to_serde(member.value)?));
            Json::Object(value.members().map(read).collect::<Option<Map<_, _>>>()?)
        }
    })
}
