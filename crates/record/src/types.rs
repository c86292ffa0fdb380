//! The value types of structured answers: a JSON Schema each, the program's own and the user's.
//!
//! A type is known by the key under which an item carries its value. A schema checks values, says how to show them,
//! and is what a model is asked to keep to. It never leads outside of its own text.

use std::sync::LazyLock;

use crate::schemas;
use stepscope_base::schema::{Schema, SchemaFailure};
use stepscope_base::text::{Shown, Untrusted};

/// One type of values.
#[derive(Debug)]
pub struct ValueType {
    /// Its name, as questions ask for it.
    pub name: Untrusted<'static>,
    /// The key of an item that carries a value of it.
    pub key: Untrusted<'static>,
    /// Its JSON Schema as text.
    pub text: Vec<u8>,
    /// The schema, ready to judge.
    pub schema: Schema,
    /// The user's file that it came from; `None`: it is a part of the program.
    pub file: Option<Shown>,
}

/// All types that are known.
#[derive(Debug, Default)]
pub struct TypeRegistry {
    types: Vec<ValueType>,
}

impl TypeRegistry {
    /// The types of the program.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<TypeRegistry> = LazyLock::new(|| TypeRegistry { types: own_types() });
        &BUILT_IN
    }

    /// The types of the program and those of the user, by name, schema text and file; a name of the program's own
    /// replaces that type. What is no usable schema is left out, and named.
    pub fn with(texts: Vec<(String, Vec<u8>, Shown)>) -> (Self, Vec<(String, SchemaFailure)>) {
        let (mut types, mut failures) = (own_types(), Vec::new());
        for (name, text, file) in texts {
            match Schema::compile(&text) {
                Ok(schema) => {
                    types.retain(|known| known.name != name.as_str());
                    let name = Untrusted::from(name);
                    types.push(ValueType { key: name.clone(), name, text, schema, file: Some(file) });
                }
                Err(failure) => failures.push((name, failure)),
            }
        }
        (Self { types }, failures)
    }

    /// Every type, the program's own first.
    pub fn types(&self) -> &[ValueType] {
        &self.types
    }

    /// The type of a name.
    pub fn named(&self, name: &[u8]) -> Option<&ValueType> {
        self.types.iter().find(|known| known.name.bytes() == name)
    }

    /// The type whose values stand under a key.
    pub fn under(&self, key: &[u8]) -> Option<&ValueType> {
        self.types.iter().find(|known| known.name.bytes() == key && known.key.bytes() == key)
    }

    /// The place of a type among all, from 0.
    pub fn position(&self, name: &[u8]) -> Option<usize> {
        self.types.iter().position(|known| known.name.bytes() == name)
    }
}

fn own_types() -> Vec<ValueType> {
    let own = schemas::TYPES.iter().map(|known| ValueType {
        name: Untrusted::from(known.name),
        // A list is several texts.
        key: Untrusted::from(if known.name == "list" { "text" } else { known.name }),
        text: known.text.as_bytes().to_vec(),
        schema: Schema::built_in(known.text),
        file: None,
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_own_type_has_a_usable_schema() {
        for known in &schemas::TYPES {
            Schema::compile(known.text.as_bytes()).expect(known.name);
            assert!(known.text.contains(&format!("\"title\": \"{}\"", known.name)), "{}", known.name);
        }
        assert_eq!(TypeRegistry::built_in().named(b"list").unwrap().key, "text");
        assert!(TypeRegistry::built_in().under(b"list").is_none());
    }

    #[test]
    fn a_user_adds_and_replaces_types_but_nothing_is_fetched() {
        let file = || Shown::own("a.json");
        let text = |text: &str| text.as_bytes().to_vec();
        let (registry, failures) = TypeRegistry::with(vec![
            ("vin".to_owned(), text(r#"{"type": "string", "minLength": 17}"#), file()),
            ("text".to_owned(), text(r#"{"type": "string", "maxLength": 3}"#), file()),
            ("far".to_owned(), text(r#"{"$ref": "file:///etc/hostname"}"#), file()),
            ("cut".to_owned(), text("{"), file()),
        ]);
        assert_eq!(failures.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["far", "cut"]);
        assert!(registry.under(b"vin").is_some() && registry.named(b"far").is_none());
        assert_eq!(registry.named(b"text").unwrap().file, Some(file()));
        assert_eq!(registry.types().len(), schemas::TYPES.len() + 1);
    }
}
