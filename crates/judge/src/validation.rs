//! An answer object against a JSON Schema, in the words of evoproc's `validate_answer`.

use stepscope_base::json::{Kind, Pointer, Tape, Value};
use stepscope_base::python::Message;
use stepscope_base::schema::{Schema, View};
use stepscope_base::text::Untrusted;
use stepscope_record::procedure::FINAL_ANSWER_NUMERICAL;

/// Messages of evoproc, unless it is called with `check_finite_number=False`.
pub(crate) const NOT_FINITE: &str = "final_answer_numerical must be finite";
pub(crate) const NOT_NUMBER: &str = "final_answer_numerical must be a number";

/// Fault of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerProblem {
    /// In upstream's words.
    pub message: Untrusted<'static>,
    /// Position of the value, or of the object that lacks one.
    pub pointer: Pointer,
    /// True if the key is at fault, not the value.
    pub is_key: bool,
}

/// Validates an answer somewhere in `root` as evoproc's `validate_answer` does, and returns its fault.
pub fn validate(root: Value<'_>, answer: Value<'_>, schema: &Schema, view: View) -> Option<AnswerProblem> {
    if view == View::OwnKeys && schema.judges_whole_object() {
        return validate_copy(root, answer, schema);
    }
    let problem = match schema.first_breach(answer, view) {
        Ok(problem) => problem,
        Err(why) => {
            let message = Untrusted::owned(why.to_string().into_bytes());
            return Some(AnswerProblem { message, pointer: root.pointer_to(answer), is_key: false });
        }
    };
    if let Some(problem) = problem {
        let message = Message::new("schema validation error: ").text(problem.message.bytes()).into();
        let pointer = root.pointer_to(problem.key.unwrap_or(problem.value));
        return Some(AnswerProblem { message, pointer, is_key: problem.key.is_some() });
    }
    if view == View::OwnKeys && !schema.names(FINAL_ANSWER_NUMERICAL.as_bytes()) {
        return None;
    }
    let number = answer.get(FINAL_ANSWER_NUMERICAL)?;
    let message = match number.kind() {
        // In Python a truth value is a number too.
        Kind::True | Kind::False | Kind::Int => return None,
        Kind::Float | Kind::NotFinite if number.float().is_some_and(f64::is_finite) => return None,
        Kind::Float | Kind::NotFinite => NOT_FINITE,
        _ => NOT_NUMBER,
    };
    Some(AnswerProblem { message: Untrusted::from(message), pointer: root.pointer_to(number), is_key: false })
}

/// Judges a copy of the answer that holds the schema's own keys alone, for schemas that count or name keys.
fn validate_copy(root: Value<'_>, answer: Value<'_>, schema: &Schema) -> Option<AnswerProblem> {
    if answer.kind() != Kind::Object {
        return validate(root, answer, schema, View::Whole);
    }
    let mut text = b"{".to_vec();
    for member in answer.entries() {
        if schema.names(member.name().bytes()) {
            text.extend_from_slice(if text.len() > 1 { b"," } else { b"" });
            text.extend_from_slice(member.key.raw());
            text.push(b':');
            text.extend_from_slice(member.value.raw());
        }
    }
    text.push(b'}');
    let mut tape = Tape::default();
    let copy = tape.parse(&text)?;
    let mut problem = validate(copy, copy, schema, View::Whole)?;
    let base = root.pointer_to(answer);
    problem.pointer = Pointer(base.0.into_iter().chain(problem.pointer.0).collect());
    Some(problem)
}
