//! The drafts of JSON Schema: which keywords each knows.

use std::sync::OnceLock;

use super::references::metaschema;
use super::{Schema, SchemaFailure};
use crate::json::{Kind, Tape, Value};
use crate::text::Shown;

/// A draft of JSON Schema, older before newer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub(super) enum Draft {
    Four,
    Six,
    Seven,
    Of2019,
    Of2020,
}

impl Draft {
    const fn uri(self) -> &'static str {
        match self {
            Self::Four => "http://json-schema.org/draft-04/schema",
            Self::Six => "http://json-schema.org/draft-06/schema",
            Self::Seven => "http://json-schema.org/draft-07/schema",
            Self::Of2019 => "https://json-schema.org/draft/2019-09/schema",
            Self::Of2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The schema of its schemas.
    pub(super) fn metaschema(self) -> &'static Schema {
        static READ: [OnceLock<Schema>; 5] = [const { OnceLock::new() }; 5];
        let [four, six, seven, of2019, of2020] = &READ;
        let read = match self {
            Self::Four => four,
            Self::Six => six,
            Self::Seven => seven,
            Self::Of2019 => of2019,
            Self::Of2020 => of2020,
        };
        read.get_or_init(|| {
            let mut tape = Tape::default();
            let root = metaschema(self.uri()).and_then(|text| tape.parse(text.as_bytes()));
            root.and_then(|root| Schema::read_draft(root, self, true).ok()).unwrap_or_default()
        })
    }
}

/// The draft that a schema names. As in Python, one that is not known counts as the newest.
pub(super) fn declared(root: Value<'_>) -> Result<Draft, SchemaFailure> {
    let name = root.get("$schema").and_then(Value::string).unwrap_or_default();
    if name.utf8().is_some_and(|name| name.trim_end_matches('#') == "http://json-schema.org/draft-03/schema") {
        return Err(SchemaFailure(Shown::own("draft 3 is not supported; use draft 4 or newer")));
    }
    Ok(named(root).unwrap_or(Draft::Of2020))
}

/// The known draft that a schema names by itself.
pub(super) fn named(schema: Value<'_>) -> Option<Draft> {
    let name = schema.get("$schema").and_then(Value::string)?;
    let name = name.utf8().map(|name| name.strip_suffix('#').unwrap_or(name))?;
    [Draft::Four, Draft::Six, Draft::Seven, Draft::Of2019, Draft::Of2020].into_iter().find(|draft| draft.uri() == name)
}

/// True if a draft gives a key of this schema a meaning; to others it is an annotation.
pub(super) fn knows(draft: Draft, schema: Value<'_>, name: &[u8]) -> bool {
    let since = |first| draft >= first;
    if !since(Draft::Of2019) && name != b"$ref" && schema.get("$ref").is_some() {
        return false;
    }
    match name {
        b"exclusiveMinimum" | b"exclusiveMaximum" | b"const" | b"contains" | b"propertyNames" => since(Draft::Six),
        b"if" => since(Draft::Seven),
        b"dependentRequired" | b"dependentSchemas" | b"unevaluatedItems" | b"unevaluatedProperties" => {
            since(Draft::Of2019)
        }
        b"prefixItems" | b"$dynamicRef" => since(Draft::Of2020),
        b"$recursiveRef" => draft == Draft::Of2019,
        b"dependencies" => !since(Draft::Of2019),
        b"additionalItems" => {
            !since(Draft::Of2020) && schema.get("items").is_some_and(|items| items.kind() == Kind::Array)
        }
        _ => true,
    }
}
