//! A procedure that lacks nothing but descriptions, with descriptions: what upstream's rules find then is told, and the
//! repair without a model fills them in.

use super::model::{SchemaErrorKind, schema_errors};
use super::{PROBLEM_TEXT, Procedure};
use stepscope_base::json::write::{Object, Raw, Style, tight};
use stepscope_base::json::{Kind, Part, Value};

/// Procedures with more missing descriptions are not filled in: nobody wrote them.
const MAX_MISSING: usize = 2_000;
/// The keys of the lists whose fields have descriptions, under both names that upstream reads.
const LISTS: [&str; 3] = ["inputs", "output", "outputs"];

/// See [`Procedure::described`].
pub(super) fn described(procedure: &Procedure<'_>) -> Option<(Vec<u8>, usize)> {
    let errors = schema_errors(procedure);
    let is_description = |part: &Part| matches!(part, Part::Key(key) if *key == "description");
    let lacks = |loc: &[Part]| loc.last().is_some_and(is_description);
    let missing = errors.listed.len();
    let only = errors.listed.iter().all(|error| error.kind == SchemaErrorKind::Missing && lacks(&error.loc));
    if missing == 0 || errors.rest > 0 || !only || missing > MAX_MISSING {
        return None;
    }
    let text = Style::BODY.object(|root| {
        for member in procedure.value.entries() {
            let name = member.name();
            let is_steps = name == "steps";
            root.put(name, if is_steps { each(member.value, step) } else { tight(member.value) });
        }
    });
    Some((text, missing))
}

/// A list with another text for each of its objects.
fn each(list: Value<'_>, one: fn(Value<'_>) -> Raw<Vec<u8>>) -> Raw<Vec<u8>> {
    if list.kind() != Kind::Array {
        return tight(list);
    }
    let texts: Vec<Vec<u8>> = list.items().map(|item| one(item).0).collect();
    Raw([b"[", texts.join(&b","[..]).as_slice(), b"]"].concat())
}

fn step(step: Value<'_>) -> Raw<Vec<u8>> {
    Raw(Style::BODY.object(|object| {
        for member in step.entries() {
            let name = member.name();
            let is_list = name.utf8().is_some_and(|name| LISTS.contains(&name));
            object.put(name, if is_list { each(member.value, field) } else { tight(member.value) });
        }
    }))
}

fn field(field: Value<'_>) -> Raw<Vec<u8>> {
    if field.kind() != Kind::Object || field.get("description").is_some() {
        return tight(field);
    }
    Raw(Style::BODY.object(|object: &mut Object<'_>| {
        for member in field.entries() {
            object.put(member.name(), tight(member.value));
        }
        let name = field.get("name").and_then(Value::string);
        // Without a name the field breaks the schema otherwise, and nothing is filled in.
        let Some(name) = name else { return };
        let words: Vec<u8> = name.bytes().iter().map(|byte| if *byte == b'_' { b' ' } else { *byte }).collect();
        let is_problem = name == PROBLEM_TEXT;
        object.text("description", if is_problem { b"The full text of the problem." } else { words.as_slice() });
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    #[test]
    fn only_descriptions_are_filled_in() {
        let described = |text: &str| {
            let mut tape = Tape::default();
            let made = super::described(&Procedure::read(tape.parse(text.as_bytes()).unwrap()));
            made.map(|(text, count)| (String::from_utf8(text).unwrap(), count))
        };
        let plan = r#"{"NameDescription":"x","steps":[{"id":1,"inputs":[{"name":"problem_text"}],"stepDescription":"Do","outputs":[{"name":"a_b","description":"d"},{"name":"final_answer","z":1}]}]}"#;
        let full =
            plan.replace(r#""problem_text"}"#, r#""problem_text","description":"The full text of the problem."}"#);
        let full = full.replace(r#""z":1}"#, r#""z":1,"description":"final answer"}"#);
        assert_eq!(described(plan), Some((full.clone(), 2)));
        assert_eq!(described(&full), None, "none is missing");
        assert_eq!(described(&plan.replace(r#""id":1,"#, "")), None, "something else is missing too");
        assert_eq!(described(&plan.replace(r#""description":"d""#, r#""description":5"#)), None);
        assert_eq!(described(&plan.replace(r#"{"name":"final_answer","z":1}"#, "{}")), None);
        assert_eq!(described("[]"), None);
    }
}
