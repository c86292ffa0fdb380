//! A schema as values are judged by it: its keywords in their order, read.

use super::references::Uri;
use crate::json::{Kind, Member, Value};
use crate::pyregex::Pattern;
use crate::python::PythonNumber;

/// Number of a node in [`Nodes::list`]; the root is 0.
pub(super) type Id = usize;

/// A schema and all that it holds or leads to.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Subschema>,
    /// Names of the root's `properties`.
    pub(super) own: Vec<Vec<u8>>,
}

impl Nodes {
    /// True for the root's own properties.
    pub(super) fn names(&self, name: &[u8]) -> bool {
        self.own.iter().any(|own| own == name)
    }
}

#[derive(Debug)]
pub(super) struct Subschema {
    pub(super) body: Body,
    /// Types that its `type` wants, also where the draft ignores it.
    pub(super) types: Vec<Type>,
    /// Its references are resolved against this address.
    pub(super) base: Uri,
}

#[derive(Debug)]
pub(super) enum Body {
    Always,
    Never,
    /// Keywords in the order in which they stand.
    Keywords(Vec<Keyword>),
}

#[derive(Debug)]
pub(super) enum Keyword {
    Type {
        types: Vec<Type>,
        words: Vec<u8>,
    },
    Enum {
        options: Vec<Literal>,
        words: Vec<u8>,
    },
    Const {
        value: Literal,
        words: Vec<u8>,
    },
    Limit {
        limit: Limit,
        number: PythonNumber,
        words: Vec<u8>,
    },
    MultipleOf {
        number: PythonNumber,
        is_float: bool,
        words: Vec<u8>,
    },
    Length {
        of: Counted,
        most: bool,
        limit: usize,
    },
    Pattern(Pattern),
    UniqueItems,
    PrefixItems(Vec<Id>),
    /// `counts`: where no more may come, their number is said.
    Items {
        prefix: usize,
        schema: Id,
        counts: bool,
    },
    AdditionalItems {
        prefix: usize,
        schema: Id,
    },
    UnevaluatedItems(Id),
    /// Before draft 2019-09.
    ContainsAny(Id),
    Contains {
        schema: Id,
        least: f64,
        most: Option<f64>,
        least_words: Vec<u8>,
        most_words: Vec<u8>,
    },
    Properties(Vec<(Vec<u8>, Id)>),
    PatternProperties(Vec<(Pattern, Id)>),
    /// `names`: of draft 2019-09, the keys of the schema.
    AdditionalProperties {
        known: Vec<Vec<u8>>,
        /// The texts of `patternProperties`, sorted.
        patterns: Option<Vec<String>>,
        /// Pattern that Python makes of them; of none, or of empty ones, it makes none.
        joined: Option<Pattern>,
        schema: Id,
        names: Option<Vec<Vec<u8>>>,
    },
    UnevaluatedProperties {
        schema: Id,
        names: Option<Vec<Vec<u8>>>,
    },
    PropertyNames(Id),
    Required(Vec<Vec<u8>>),
    Dependencies(Vec<(Vec<u8>, Dependency)>),
    DependentSchemas(Vec<(Vec<u8>, Id)>),
    AllOf(Vec<Id>),
    AnyOf(Vec<Id>),
    OneOf(Vec<(Id, Vec<u8>)>),
    Not {
        schema: Id,
        words: Vec<u8>,
    },
    If {
        test: Id,
        then: Option<Id>,
        otherwise: Option<Id>,
    },
    /// With the resources in whose scope it leads elsewhere.
    Ref {
        schema: Id,
        uri: Uri,
        dynamic: Vec<(Uri, Id)>,
    },
    /// To the root around it, or, if that is an anchor, to the outermost anchor of the scope.
    Recursive {
        own: Id,
        uri: Uri,
        is_anchor: bool,
        all: Vec<(Uri, Id)>,
    },
}

/// Demand of a property on the object.
#[derive(Debug)]
pub(super) enum Dependency {
    Names(Vec<Vec<u8>>),
    Schema(Id),
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
    Number(PythonNumber),
    Text(Vec<u8>),
    List(Vec<Literal>),
    Object(Vec<(Vec<u8>, Literal)>),
}

impl Literal {
    pub(super) fn of(value: Value<'_>) -> Option<Self> {
        Some(match value.kind() {
            Kind::Null => Self::Null,
            Kind::True => Self::Bool(true),
            Kind::False => Self::Bool(false),
            Kind::Int | Kind::Float | Kind::NotFinite => Self::Number(PythonNumber::of(value)?),
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

    /// True if an answer's value is one of these; 1 and 1.0 are one, 1 and true are not.
    pub(super) fn hold(list: &[Self], value: Value<'_>) -> bool {
        match value.string() {
            Some(string) => list.iter().any(|known| matches!(known, Self::Text(text) if string.bytes() == &**text)),
            // Read once: it may be as long as the list.
            None => Self::of(value).is_some_and(|value| list.contains(&value)),
        }
    }
}
