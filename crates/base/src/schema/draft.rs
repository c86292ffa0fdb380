//! The drafts of JSON Schema: which keywords each knows.

use stepscope_schema::Draft;

use crate::json::{Kind, Value};
use crate::text::Shown;

/// Name of the newest draft, which a schema has that names none.
pub const NEWEST: &str = "draft 2020-12";

/// The draft that a schema names. As in Python, one that is not known counts as the newest.
pub(super) fn declared(root: Value<'_>) -> Result<Draft, Shown> {
    let name = Value::text_of(root.get("$schema"));
    if name.utf8().is_some_and(|name| name.trim_end_matches('#') == "http://json-schema.org/draft-03/schema") {
        return Err(Shown::own("draft 3 is not supported; use draft 4 or newer"));
    }
    Ok(named(root).unwrap_or(Draft::Draft202012))
}

/// The known draft that a schema names by itself.
pub(super) fn named(schema: Value<'_>) -> Option<Draft> {
    let name = schema.get("$schema").and_then(Value::string)?;
    Some(match name.utf8().map(|name| name.strip_suffix('#').unwrap_or(name))? {
        "http://json-schema.org/draft-04/schema" => Draft::Draft4,
        "http://json-schema.org/draft-06/schema" => Draft::Draft6,
        "http://json-schema.org/draft-07/schema" => Draft::Draft7,
        "https://json-schema.org/draft/2019-09/schema" => Draft::Draft201909,
        "https://json-schema.org/draft/2020-12/schema" => Draft::Draft202012,
        _ => return None,
    })
}

/// Names a draft for people.
pub(super) const fn name(draft: Draft) -> &'static str {
    match draft {
        Draft::Draft4 => "draft 4",
        Draft::Draft6 => "draft 6",
        Draft::Draft7 => "draft 7",
        Draft::Draft201909 => "draft 2019-09",
        _ => NEWEST,
    }
}

/// True if a draft is at least as new as another.
pub(super) fn since(draft: Draft, first: Draft) -> bool {
    let age = |draft| match draft {
        Draft::Draft4 => 0,
        Draft::Draft6 => 1,
        Draft::Draft7 => 2,
        Draft::Draft201909 => 3,
        _ => 4,
    };
    age(draft) >= age(first)
}

/// True if a draft gives a key of this schema a meaning; to others it is an annotation.
pub(super) fn knows(draft: Draft, schema: Value<'_>, name: &[u8]) -> bool {
    let since = |first| since(draft, first);
    if !since(Draft::Draft201909) && name != b"$ref" && schema.get("$ref").is_some() {
        return false;
    }
    match name {
        b"exclusiveMinimum" | b"exclusiveMaximum" | b"const" | b"contains" | b"propertyNames" => since(Draft::Draft6),
        b"if" => since(Draft::Draft7),
        b"dependentRequired" | b"dependentSchemas" | b"unevaluatedItems" | b"unevaluatedProperties" => {
            since(Draft::Draft201909)
        }
        b"prefixItems" | b"$dynamicRef" => since(Draft::Draft202012),
        b"$recursiveRef" => draft == Draft::Draft201909,
        b"dependencies" => !since(Draft::Draft201909),
        b"additionalItems" => {
            !since(Draft::Draft202012) && schema.get("items").is_some_and(|items| items.kind() == Kind::Array)
        }
        _ => true,
    }
}
