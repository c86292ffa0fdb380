//! What a schema says of a value: that it holds, where it does not, or that nobody can tell.

use super::nodes::Type;
use crate::json::Value;
use crate::text::Untrusted;

/// Keys of an object that a schema judges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// All.
    Whole,
    /// Those that it names: the object holds others that are not its business.
    OwnKeys,
}

/// Reason why a schema says neither yes nor no to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("undecided: a pattern of the schema takes too many steps, or its references are nested too deep")]
pub struct Undecidable;

/// Law of a schema that a value breaks.
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
    /// The rest is undecided.
    Undecided,
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
