//! Second opinion on JSON Schemas, by the `jsonschema` crate.
//!
//! A library of its own, because that crate is generic: whoever calls it compiles it again. Here that is done for a
//! small program, in `stepscope-base` it would be done for a fast one.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Retrieve, Uri};
use serde_json::Value;

pub use jsonschema::Draft;

/// Reason why a schema cannot be used.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Cause, as far as callers tell causes apart.
    pub kind: FaultKind,
    /// JSON pointer into the schema.
    pub place: String,
    /// The words of the `jsonschema` crate, without the values of the schema.
    pub words: String,
}

/// Kind of a [`Fault`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// A reference without a target.
    Reference,
    /// Something else that the draft does not allow.
    Other,
}

/// Finds why a schema is not one of this draft. `metaschema` gives the text of the metaschema with an address; nothing
/// else is ever fetched.
pub fn fault(schema: &Value, draft: Draft, metaschema: fn(&str) -> Option<&'static str>) -> Option<Fault> {
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
        .with_retriever(Offline(metaschema));
    let error = options.build(schema).err()?;
    let kind = match error.kind() {
        ValidationErrorKind::Referencing(_) => FaultKind::Reference,
        _ => FaultKind::Other,
    };
    Some(Fault { kind, place: error.instance_path().to_string(), words: error.masked().to_string() })
}

/// Refuses every reference that leads out of the schema, but to a metaschema.
struct Offline(fn(&str) -> Option<&'static str>);

impl Retrieve for Offline {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let text = (self.0)(uri.as_str()).ok_or("a schema cannot refer to anything outside itself")?;
        Ok(serde_json::from_str(text)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn kind_of(schema: &str) -> Option<FaultKind> {
        fault(&serde_json::from_str(schema).unwrap(), Draft::Draft202012, |_| None).map(|fault| fault.kind)
    }

    #[test]
    fn a_fault_is_of_a_kind_and_has_a_place() {
        assert_eq!(kind_of(r#"{"type": "object"}"#), None);
        assert_eq!(kind_of(r#"{"pattern": "("}"#), Some(FaultKind::Other));
        assert_eq!(kind_of(r##"{"$ref": "#/$defs/a"}"##), Some(FaultKind::Reference));
        assert_eq!(kind_of(r#"{"$ref": "https://example.com/a.json"}"#), Some(FaultKind::Reference));
        let wrong = serde_json::from_str(r#"{"properties": {"a": {"type": 5}}}"#).unwrap();
        let fault = fault(&wrong, Draft::Draft202012, |_| None).unwrap();
        assert_eq!((fault.kind, &*fault.place), (FaultKind::Other, "/properties/a/type"));
        assert!(!fault.words.contains('5'), "{}", fault.words);
    }
}
