//! A JSON Schema, read once and then asked for every answer.
//!
//! Upstream's messages are those of Python's `jsonschema`: the first error in the order of the schema's own keys, in
//! Python's words, with `NaN` and integers of any size. The `jsonschema` crate can give neither that order nor such
//! numbers, so the common keywords are judged here, on the answer as it was read. The crate judges the schema itself,
//! and answers under the few keywords that are not known here.

use std::collections::HashMap;

use jsonschema::Draft;

use super::{View, draft, evaluate};
use crate::domain::json::{Kind, Member, Part, Pointer, Tape, Value};
use crate::domain::pyregex::Pattern;
use crate::domain::python::{self, Number};
use crate::domain::text::{Shown, Untrusted};

/// A schema, ready to judge.
#[derive(Debug, Default)]
pub struct Schema {
    pub(super) nodes: Vec<Node>,
    /// Names of the root's `properties`.
    own: Vec<Vec<u8>>,
    /// The root looks at more than its properties one by one: keys that it does not name change what it says.
    whole: bool,
    /// Judges where a keyword stands in the schema that is not known here.
    foreign: Option<Box<jsonschema::Validator>>,
}

/// Why a text is no usable schema.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SchemaFailure(pub(super) Shown);

/// Why a schema says neither yes nor no to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("undecided: {0}")]
pub struct Undecidable(&'static str);

/// Number of a node in [`Schema::nodes`]; the root is 0.
pub(super) type Id = usize;

#[derive(Debug)]
pub(super) enum Node {
    Always,
    Never,
    /// Keywords in the order in which they stand.
    Keywords(Vec<Keyword>),
}

#[derive(Debug)]
pub(super) enum Keyword {
    Type { types: Vec<Type>, words: Vec<u8> },
    Enum { options: Vec<Literal>, words: Vec<u8> },
    Const { value: Literal, words: Vec<u8> },
    Limit { limit: Limit, number: Number, words: Vec<u8> },
    MultipleOf { number: Number, is_float: bool, words: Vec<u8> },
    Length { of: Counted, most: bool, limit: usize },
    Pattern(Pattern),
    UniqueItems,
    PrefixItems(Vec<Id>),
    Items { prefix: usize, schema: Id },
    Contains { schema: Id, least: f64, most: Option<f64>, least_words: Vec<u8>, most_words: Vec<u8> },
    Properties(Vec<(Vec<u8>, Id)>),
    PatternProperties(Vec<(Pattern, Id)>),
    AdditionalProperties { known: Vec<Vec<u8>>, patterns: Vec<Pattern>, has_patterns: bool, schema: Id },
    PropertyNames(Id),
    Required(Vec<Vec<u8>>),
    DependentRequired(Vec<(Vec<u8>, Vec<Vec<u8>>)>),
    DependentSchemas(Vec<(Vec<u8>, Id)>),
    AllOf(Vec<Id>),
    AnyOf(Vec<Id>),
    OneOf(Vec<(Id, Vec<u8>)>),
    Not { schema: Id, words: Vec<u8> },
    If { test: Id, then: Option<Id>, otherwise: Option<Id> },
    Ref(Id),
}

/// The types of JSON Schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number without a fraction.
    Integer,
    /// An integer that is written as one, as draft 4 has it.
    Int,
    /// Any number.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counted {
    Characters,
    Items,
    Properties,
}

/// A value of the schema that answers are compared with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Number(Number),
    Text(Vec<u8>),
    List(Vec<Literal>),
    Object(Vec<(Vec<u8>, Literal)>),
}

impl Schema {
    /// Reads a schema of draft 2020-12 from the text of a file, whatever draft it names: so upstream reads them.
    /// Nothing outside of the text is ever fetched.
    pub fn compile(text: &[u8]) -> Result<Self, SchemaFailure> {
        Self::compile_as(text, |_| Ok(Draft::Draft202012))
    }

    /// Reads a schema of the draft that it names, as Python's `jsonschema.validate` does; without one, of 2020-12.
    pub fn compile_as_declared(text: &[u8]) -> Result<Self, SchemaFailure> {
        Self::compile_as(text, draft::declared)
    }

    fn compile_as(
        text: &[u8],
        draft: impl FnOnce(Value<'_>) -> Result<Draft, SchemaFailure>,
    ) -> Result<Self, SchemaFailure> {
        let mut tape = Tape::default();
        if !tape.read(text) {
            let why = tape.problems.last().map_or("not JSON", |problem| problem.kind.summary());
            return Err(SchemaFailure(Shown::own("the schema cannot be read: ").and(why)));
        }
        let root = tape.root(text).ok_or(SchemaFailure(Shown::own("the schema is empty")))?;
        let draft = draft(root)?;
        let mut json = evaluate::to_serde_rounded(root)
            .ok_or(SchemaFailure(Shown::own("the schema holds a number that JSON does not know")))?;
        if let Some(object) = json.as_object_mut() {
            // The draft is known; an address that nobody has heard of would be looked up.
            object.shift_remove("$schema");
        }
        let validator = jsonschema::options()
            .with_draft(draft)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .should_validate_formats(false)
            .with_retriever(Offline)
            .build(&json);
        let mut schema = Self::read_draft(root, draft).unwrap_or_default();
        let known = !schema.nodes.is_empty();
        match validator {
            // A pattern of Python's dialect, such as `\Z`: all patterns have been read here.
            Err(error) if known && is_about_regex(&error) => {}
            Err(error) => {
                let why = Shown::own("not a usable JSON Schema: ").join(&Shown::error(&error));
                return Err(SchemaFailure(why));
            }
            Ok(_) if known => {}
            Ok(_) if evaluate::to_serde(root).is_none() => {
                return Err(SchemaFailure(Shown::own("the schema holds a number of more than 64 bits")));
            }
            Ok(validator) => {
                schema = Self {
                    nodes: Vec::new(),
                    own: property_names(root),
                    whole: true,
                    foreign: Some(Box::new(validator)),
                };
            }
        }
        Ok(schema)
    }

    /// Reads a schema of known keywords; `None` if it holds others.
    pub(super) fn read(root: Value<'_>) -> Option<Self> {
        Self::read_draft(root, Draft::Draft202012)
    }

    fn read_draft(root: Value<'_>, draft: Draft) -> Option<Self> {
        let mut reader = Reader { root, draft, nodes: Vec::new(), done: HashMap::new() };
        reader.schema(root)?;
        let own = property_names(root);
        let one_by_one = |member: Member<'_>| match member.name().bytes() {
            b"properties" | b"additionalProperties" => true,
            b"type" => types(member.value).is_some_and(|types| types.contains(&Type::Object)),
            b"required" => texts(member.value).is_some_and(|names| names.iter().all(|name| own.contains(name))),
            name => !KEYWORDS.contains(&name),
        };
        let whole = !root.members().all(one_by_one);
        Some(Self { nodes: reader.nodes, own, whole, foreign: None })
    }

    /// What is wrong with a whole value, or that this cannot be told.
    pub fn judge(&self, value: Value<'_>) -> Result<Option<Untrusted<'static>>, Undecidable> {
        match &self.foreign {
            Some(_) if evaluate::to_serde(value).is_none() => Err(Undecidable(
                "this schema cannot judge NaN, an infinity, half a surrogate pair or an integer of more than 64 bits",
            )),
            Some(validator) => Ok(evaluate::foreign(validator, value).map(|problem| problem.message)),
            None => {
                let (problem, complete) = evaluate::whole(self, value);
                if complete {
                    Ok(problem.map(|problem| problem.message))
                } else {
                    Err(Undecidable("a pattern of the schema takes too many steps, or its references lead too deep"))
                }
            }
        }
    }

    /// Whether it is the root's own property.
    pub(super) fn names(&self, name: &[u8]) -> bool {
        self.own.iter().any(|own| own == name)
    }

    /// Whether keys that are no property of the root can change what it says, beyond `additionalProperties`.
    pub(super) const fn judges_whole_object(&self) -> bool {
        self.whole
    }

    /// The first error in Python's order.
    pub(super) fn first_problem<'a>(&self, answer: Value<'a>, view: View) -> Option<Problem<'a>> {
        match &self.foreign {
            Some(validator) => evaluate::foreign(validator, answer),
            None => evaluate::root(self, answer, view),
        }
    }

    /// Every place where a value does not hold the schema, in Python's order, up to a limit.
    pub fn breaches<'a>(&self, value: Value<'a>) -> Vec<Breach<'a>> {
        match &self.foreign {
            Some(validator) => {
                let problem = evaluate::foreign(validator, value);
                let breach = |Problem { message, value, key }| Breach { law: Law::Other, message, value, key };
                problem.map(breach).into_iter().collect()
            }
            None => evaluate::every(self, value),
        }
    }
}

/// Which law of a schema a value breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Law {
    /// It is of another type; the types that would do.
    Type(Vec<Type>),
    /// A key with this name is missing.
    Missing(Vec<u8>),
    /// The key is not among those that may stand here.
    Extra,
    /// It is none of the values that may stand here.
    Enum,
    /// A number that is too small or too large.
    Limit,
    /// Something else.
    Other,
}

/// One place where a value does not hold a schema.
#[derive(Clone, Debug)]
pub struct Breach<'a> {
    /// The law that is broken.
    pub law: Law,
    /// In Python's words.
    pub message: Untrusted<'static>,
    /// The value, or the object that lacks or should not have a key.
    pub value: Value<'a>,
    /// The key that should not be there.
    pub key: Option<Value<'a>>,
}

/// What is wrong, and with what.
pub(super) struct Problem<'a> {
    pub(super) message: Untrusted<'static>,
    pub(super) value: Value<'a>,
    pub(super) key: Option<Value<'a>>,
}

fn is_about_regex(error: &jsonschema::ValidationError<'_>) -> bool {
    use jsonschema::error::ValidationErrorKind;
    matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex")
}

fn property_names(root: Value<'_>) -> Vec<Vec<u8>> {
    let properties = root.get("properties");
    properties.into_iter().flat_map(Value::members).map(|member| member.name().bytes().to_vec()).collect()
}

/// Refuses every reference that leads out of the schema.
struct Offline;

impl jsonschema::Retrieve for Offline {
    fn retrieve(
        &self,
        _: &jsonschema::Uri<String>,
    ) -> Result<serde_json::Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("a schema must not refer to anything outside of itself".into())
    }
}

/// The keywords that are judged here.
const KEYWORDS: [&[u8]; 32] = [
    b"type",
    b"enum",
    b"const",
    b"minimum",
    b"maximum",
    b"exclusiveMinimum",
    b"exclusiveMaximum",
    b"multipleOf",
    b"minLength",
    b"maxLength",
    b"pattern",
    b"minItems",
    b"maxItems",
    b"uniqueItems",
    b"prefixItems",
    b"items",
    b"contains",
    b"minProperties",
    b"maxProperties",
    b"properties",
    b"patternProperties",
    b"additionalProperties",
    b"propertyNames",
    b"required",
    b"dependentRequired",
    b"dependentSchemas",
    b"allOf",
    b"anyOf",
    b"oneOf",
    b"not",
    b"if",
    b"$ref",
];

/// Keywords that older drafts have, or that the crate judges.
const ELSEWHERE: [&[u8]; 8] = [
    b"$anchor",
    b"$dynamicRef",
    b"$dynamicAnchor",
    b"$recursiveRef",
    b"unevaluatedItems",
    b"unevaluatedProperties",
    b"dependencies",
    b"additionalItems",
];

struct Reader<'s> {
    root: Value<'s>,
    draft: Draft,
    nodes: Vec<Node>,
    /// The node of each schema that was read, by its place in the text: a `$ref` may lead back to it.
    done: HashMap<usize, Id>,
}

impl<'s> Reader<'s> {
    fn schema(&mut self, value: Value<'s>) -> Option<Id> {
        if let Some(&id) = self.done.get(&value.index()) {
            return Some(id);
        }
        let id = self.nodes.len();
        self.done.insert(value.index(), id);
        self.nodes.push(Node::Always);
        let node = match value.kind() {
            Kind::True => Node::Always,
            Kind::False => Node::Never,
            Kind::Object => {
                let mut keywords = Vec::new();
                for member in value.entries() {
                    let name = member.name();
                    match name.bytes() {
                        name if !self.speaks(value, name, member.value) => {}
                        b"dependencies" => keywords.extend(self.dependencies(member.value)?),
                        name => keywords.push(self.keyword(value, name, member.value)?),
                    }
                }
                Node::Keywords(keywords)
            }
            _ => return None,
        };
        *self.nodes.get_mut(id)? = node;
        Some(id)
    }

    fn schemas(&mut self, list: Value<'s>) -> Option<Vec<Id>> {
        list.items().map(|item| self.schema(item)).collect()
    }

    fn named(&mut self, object: Value<'s>) -> Option<Vec<(Vec<u8>, Id)>> {
        let entries = object.entries();
        entries.into_iter().map(|member| Some((member.name().bytes().to_vec(), self.schema(member.value)?))).collect()
    }

    /// Whether a key of a schema says something by itself. What JSON Schema does not define is an annotation.
    fn speaks(&self, parent: Value<'s>, name: &[u8], value: Value<'s>) -> bool {
        let known = match name {
            b"$id" => parent.index() != self.root.index(),
            b"id" => self.draft == Draft::Draft4 && parent.index() != self.root.index(),
            b"uniqueItems" => value.kind() == Kind::True,
            _ => KEYWORDS.contains(&name) || ELSEWHERE.contains(&name),
        };
        known && draft::knows(self.draft, parent, name)
    }

    /// What every draft up to 7 calls `dependencies`: lists of names, or schemas.
    fn dependencies(&mut self, object: Value<'s>) -> Option<[Keyword; 2]> {
        let (mut names, mut schemas) = (Vec::new(), Vec::new());
        for member in object.entries() {
            let name = member.name().bytes().to_vec();
            match member.value.kind() {
                Kind::Array => names.push((name, texts(member.value)?)),
                _ => schemas.push((name, self.schema(member.value)?)),
            }
        }
        Some([Keyword::DependentRequired(names), Keyword::DependentSchemas(schemas)])
    }

    /// A keyword; `None` for one that is not known here.
    fn keyword(&mut self, parent: Value<'s>, name: &[u8], value: Value<'s>) -> Option<Keyword> {
        let length = |of, most| Some(Keyword::Length { of, most, limit: value.float()? as usize });
        let limit = |limit| Some(Keyword::Limit { limit, number: Number::of(value)?, words: words(value) });
        // Of draft 4, where it is a truth value.
        let excludes = |name: &str| parent.get(name).is_some_and(|value| value.kind() == Kind::True);
        Some(match name {
            b"type" => {
                let mut types = types(value)?;
                if self.draft == Draft::Draft4 {
                    types.iter_mut().filter(|one| **one == Type::Integer).for_each(|one| *one = Type::Int);
                }
                Keyword::Type { types, words: type_words(value) }
            }
            b"enum" => {
                let options = value.items().map(Literal::of).collect::<Option<_>>()?;
                Keyword::Enum { options, words: words(value) }
            }
            b"const" => Keyword::Const { value: Literal::of(value)?, words: words(value) },
            b"minimum" if excludes("exclusiveMinimum") => limit(Limit::ExclusiveMinimum)?,
            b"maximum" if excludes("exclusiveMaximum") => limit(Limit::ExclusiveMaximum)?,
            b"minimum" => limit(Limit::Minimum)?,
            b"maximum" => limit(Limit::Maximum)?,
            b"exclusiveMinimum" => limit(Limit::ExclusiveMinimum)?,
            b"exclusiveMaximum" => limit(Limit::ExclusiveMaximum)?,
            b"multipleOf" => Keyword::MultipleOf {
                number: Number::of(value)?,
                is_float: value.kind() != Kind::Int,
                words: words(value),
            },
            b"minLength" => length(Counted::Characters, false)?,
            b"maxLength" => length(Counted::Characters, true)?,
            b"minItems" => length(Counted::Items, false)?,
            b"maxItems" => length(Counted::Items, true)?,
            b"minProperties" => length(Counted::Properties, false)?,
            b"maxProperties" => length(Counted::Properties, true)?,
            b"pattern" => Keyword::Pattern(pattern(value)?),
            b"uniqueItems" => Keyword::UniqueItems,
            b"prefixItems" => Keyword::PrefixItems(self.schemas(value)?),
            b"items" if value.kind() == Kind::Array => Keyword::PrefixItems(self.schemas(value)?),
            b"additionalItems" => {
                let prefix = parent.get("items").map_or(0, Value::len);
                Keyword::Items { prefix, schema: self.schema(value)? }
            }
            b"items" => {
                let prefix = parent.get("prefixItems").map_or(0, Value::len);
                Keyword::Items { prefix, schema: self.schema(value)? }
            }
            b"contains" => {
                let counts = draft::since(self.draft, Draft::Draft201909);
                let bound = |name: &str| parent.get(name).filter(|_| counts);
                let (least, most) = (bound("minContains"), bound("maxContains"));
                Keyword::Contains {
                    schema: self.schema(value)?,
                    least: least.map_or(Some(1.0), Value::float)?,
                    most: most.and_then(Value::float),
                    least_words: least.map_or_else(|| b"1".to_vec(), words),
                    most_words: most.map(words).unwrap_or_default(),
                }
            }
            b"properties" => Keyword::Properties(self.named(value)?),
            b"patternProperties" => {
                let entries = value.entries();
                let read = |member: Member<'s>| Some((pattern(member.key)?, self.schema(member.value)?));
                Keyword::PatternProperties(entries.into_iter().map(read).collect::<Option<_>>()?)
            }
            b"additionalProperties" => {
                let patterns = parent.get("patternProperties");
                let read = patterns.map(Value::entries).unwrap_or_default().into_iter();
                let read = read.map(|member| pattern(member.key));
                Keyword::AdditionalProperties {
                    known: property_names(parent),
                    patterns: read.collect::<Option<_>>()?,
                    has_patterns: patterns.is_some(),
                    schema: self.schema(value)?,
                }
            }
            b"propertyNames" => Keyword::PropertyNames(self.schema(value)?),
            b"required" => Keyword::Required(texts(value)?),
            b"dependentRequired" => {
                let read = |member: Member<'s>| Some((member.name().bytes().to_vec(), texts(member.value)?));
                Keyword::DependentRequired(value.entries().into_iter().map(read).collect::<Option<_>>()?)
            }
            b"dependentSchemas" => Keyword::DependentSchemas(self.named(value)?),
            b"allOf" => Keyword::AllOf(self.schemas(value)?),
            b"anyOf" => Keyword::AnyOf(self.schemas(value)?),
            b"oneOf" => {
                let schemas = self.schemas(value)?;
                Keyword::OneOf(schemas.into_iter().zip(value.items().map(words)).collect())
            }
            b"not" => Keyword::Not { schema: self.schema(value)?, words: words(value) },
            b"if" => Keyword::If {
                test: self.schema(value)?,
                then: parent.get("then").map(|then| self.schema(then)).map_or(Some(None), |id| id.map(Some))?,
                otherwise: parent.get("else").map(|other| self.schema(other)).map_or(Some(None), |id| id.map(Some))?,
            },
            b"$ref" => Keyword::Ref(self.reference(value)?),
            _ => return None,
        })
    }

    /// The schema that a reference of the form `#` or `#/a/b` leads to.
    fn reference(&mut self, value: Value<'s>) -> Option<Id> {
        let text = value.string()?;
        let path = text.utf8()?.strip_prefix('#')?;
        if path.contains('%') {
            return None;
        }
        if path.is_empty() {
            return self.schema(self.root);
        }
        let mut target = self.root;
        for part in path.strip_prefix('/')?.split('/') {
            let name = part.replace("~1", "/").replace("~0", "~");
            let part = match target.kind() {
                Kind::Array => Part::Index(name.parse().ok()?),
                _ => Part::Key(Untrusted::from(name)),
            };
            target = target.find(&Pointer(vec![part]))?.value;
        }
        self.schema(target)
    }
}

fn words(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    python::repr(value, &mut out);
    out
}

fn texts(list: Value<'_>) -> Option<Vec<Vec<u8>>> {
    list.items().map(|item| Some(item.string()?.bytes().to_vec())).collect()
}

/// One or several type names.
fn type_names(value: Value<'_>) -> Vec<Value<'_>> {
    if value.kind() == Kind::Array { value.items().collect() } else { vec![value] }
}

fn types(value: Value<'_>) -> Option<Vec<Type>> {
    let one = |name: Value<'_>| {
        Some(match name.string()?.bytes() {
            b"null" => Type::Null,
            b"boolean" => Type::Boolean,
            b"integer" => Type::Integer,
            b"number" => Type::Number,
            b"string" => Type::String,
            b"array" => Type::Array,
            b"object" => Type::Object,
            _ => return None,
        })
    };
    type_names(value).into_iter().map(one).collect()
}

fn type_words(value: Value<'_>) -> Vec<u8> {
    type_names(value).into_iter().map(words).collect::<Vec<_>>().join(&b", "[..])
}

/// A pattern as Python reads it.
fn pattern(value: Value<'_>) -> Option<Pattern> {
    Pattern::new(value.string()?.utf8()?).ok()
}

impl Literal {
    pub(super) fn of(value: Value<'_>) -> Option<Self> {
        Some(match value.kind() {
            Kind::Null => Self::Null,
            Kind::True => Self::Bool(true),
            Kind::False => Self::Bool(false),
            Kind::Int | Kind::Float | Kind::NotFinite => Self::Number(Number::of(value)?),
            Kind::String | Kind::Key => Self::Text(value.string()?.bytes().to_vec()),
            Kind::Array => Self::List(value.items().map(Self::of).collect::<Option<_>>()?),
            Kind::Object => {
                let read = |member: Member<'_>| Some((member.name().bytes().to_vec(), Self::of(member.value)?));
                let mut members = value.entries().into_iter().map(read).collect::<Option<Vec<_>>>()?;
                members.sort_by(|a, b| a.0.cmp(&b.0));
                Self::Object(members)
            }
        })
    }

    /// Whether an answer's value is this one; 1 and 1.0 are one, 1 and true are not.
    pub(super) fn is(&self, value: Value<'_>) -> bool {
        match (self, value.kind()) {
            (Self::Text(text), Kind::String | Kind::Key) => match value.plain_string() {
                Some(plain) => plain == text.as_slice(),
                None => value.string().is_some_and(|string| string.bytes() == text.as_slice()),
            },
            (Self::Text(_), _) | (_, Kind::String | Kind::Key) => false,
            _ => Self::of(value).is_some_and(|value| value == *self),
        }
    }
}
