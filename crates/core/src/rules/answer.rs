//! The answer against its schema, in the words of evoproc's `validate_answer`.

use std::sync::LazyLock;

use super::{Rule, RuleId};
use crate::case::CaseView;
use crate::finding::{Finding, Findings, Place};
use crate::procedure::FINAL_ANSWER_NUMERICAL;
use crate::record::{AnswerSchema, RecordKind};
use crate::schemas;
use stepscope_base::json::{Kind, Pointer, Tape, Value};
use stepscope_base::python::Message;
use stepscope_base::schema::{Schema, View};
use stepscope_base::text::Untrusted;

mod words;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[SCHEMA, words::FINAL_BOOL, words::FINAL_LETTER];

const SCHEMA: Rule = Rule {
    id: RuleId::AnswerSchema,
    summary: "answer does not match its schema",
    explanation: "The last step is asked for an answer of a published shape (general, bool, gsm or arc), or of your own \
            with --schema. A server that ignores the schema replies all the same, and its reply is compared and counted as \
            if it were right. The message is evoproc's: the first violation in the order of the schema. In a run only the \
            schema's own keys are checked, because the state holds the variables of all steps. Numbers must be finite: \
            Python writes NaN and Infinity, which JSON does not have.",
    bad: r#"{"final_answer": "It is 7.", "final_answer_numerical": "7", "confidence": 0.9}"#,
    good: r#"{"final_answer": "It is 7.", "final_answer_numerical": 7, "confidence": 0.9}"#,
    check,
};

/// Messages of evoproc, unless it is called with `check_finite_number=False`.
const NOT_FINITE: &str = "final_answer_numerical must be finite";
const NOT_NUMBER: &str = "final_answer_numerical must be a number";

/// Fault of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerProblem {
    /// In upstream's words.
    pub message: Untrusted<'static>,
    /// The value, the key, or the object that lacks one.
    pub place: Place,
}

/// One of upstream's schemas, ready to judge.
pub fn published(schema: AnswerSchema) -> &'static Schema {
    static SCHEMAS: LazyLock<[Schema; 4]> =
        LazyLock::new(|| AnswerSchema::ALL.map(|schema| Schema::built_in(schemas::answer(schema))));
    let [general, bool, gsm, arc] = &*SCHEMAS;
    match schema {
        AnswerSchema::General => general,
        AnswerSchema::Bool => bool,
        AnswerSchema::Gsm => gsm,
        AnswerSchema::Arc => arc,
    }
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
            return Some(AnswerProblem { message, place: Place::Value(root.pointer_to(answer)) });
        }
    };
    if let Some(problem) = problem {
        let message = Message::new("schema validation error: ").text(problem.message.bytes()).into();
        let place = match problem.key {
            Some(key) => Place::Key(root.pointer_to(key)),
            None => Place::Value(root.pointer_to(problem.value)),
        };
        return Some(AnswerProblem { message, place });
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
    Some(AnswerProblem { message: Untrusted::from(message), place: Place::Value(root.pointer_to(number)) })
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
    let moved = |pointer: &Pointer| Pointer(base.0.iter().chain(&pointer.0).cloned().collect());
    problem.place = match &problem.place {
        Place::Key(pointer) => Place::Key(moved(pointer)),
        Place::Value(pointer) => Place::Value(moved(pointer)),
        Place::Bytes { .. } | Place::Span { .. } => Place::Value(base),
    };
    Some(problem)
}

fn check(case: &CaseView<'_>, findings: &mut Findings) {
    // A structured answer has a contract of its own.
    let Some(record) = case.record.as_ref().filter(|record| record.kind != RecordKind::Typed) else { return };
    let Some(answer) = record.answer else { return };
    let Some(schema) = case.answer_schema().or_else(|| record.answer_schema.map(published)) else { return };
    let view = match record.kind {
        RecordKind::Answer | RecordKind::Baseline => View::Whole,
        _ => View::OwnKeys,
    };
    let judged = validate(record.root, answer, schema, view);
    let is_of_number = |message: &Untrusted<'_>| *message == NOT_FINITE || *message == NOT_NUMBER;
    let judged = judged.filter(|problem| case.checks_finite() || !is_of_number(&problem.message));
    if let Some(problem) = judged {
        let finding = Finding::new(RuleId::AnswerSchema, problem.message, problem.place)
            .help("Correct the value, or re-run the last step with a server that enforces the schema.");
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use stepscope_base::schema::Law;

    fn problem(schema: &str, answer: &str, view: View) -> Option<(String, Place)> {
        let schema = Schema::compile(schema.as_bytes()).unwrap();
        let mut tape = Tape::default();
        let root = tape.parse(answer.as_bytes()).unwrap();
        let problem = validate(root, root, &schema, view)?;
        Some((problem.message.line().into_string(), problem.place))
    }

    fn pointer(parts: &[&'static str]) -> Pointer {
        parts.iter().copied().collect()
    }

    #[test]
    fn what_is_given_up_is_undecided_for_all_who_ask() {
        let said =
            Some("undecided: a pattern of the schema takes too many steps, or its references are nested too deep");
        let patterns = r#"{"properties": {"a": {"pattern": "(?=(a+)+$)b"}}}"#;
        let answer = format!(r#"{{"a": "{}!"}}"#, "a".repeat(200));
        for (schema, answer) in [(r##"{"$ref": "#"}"##, "1"), (patterns, answer.as_str())] {
            let found = problem(schema, answer, View::Whole);
            assert_eq!(found.map(|(message, _)| message).as_deref(), said, "{schema}");
            let schema = Schema::compile(schema.as_bytes()).unwrap();
            let mut tape = Tape::default();
            let breaches = schema.breaches(tape.parse(answer.as_bytes()).unwrap());
            let last = breaches.last().unwrap();
            assert_eq!((&last.law, last.message.utf8()), (&Law::Undecided, said));
        }
    }

    #[test]
    fn a_state_is_judged_by_the_schemas_own_keys() {
        let text = br#"{"procedure": {"steps": []}, "mode": "procedural", "state": {"problem_text": "?", "a": NaN,
            "final_answer": "7", "final_answer_numerical": Infinity, "confidence": 0.5}}"#;
        let case = Case::read(text);
        let view = case.view();
        let mut findings = Findings::new();
        check(&view, &mut findings);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "final_answer_numerical must be finite");
        assert_eq!(*findings[0].place(), Place::Value(pointer(&["state", "final_answer_numerical"])));

        let schema = r#"{"properties": {"a": {}, "b": {}}, "minProperties": 2, "maxProperties": 2}"#;
        assert_eq!(problem(schema, r#"{"a": 1, "x": 2, "b": 3}"#, View::OwnKeys), None);
        let (message, place) = problem(schema, r#"{"x": 2, "b": {"y": 1}}"#, View::OwnKeys).unwrap();
        assert_eq!(message, "schema validation error: {'b': {'y': 1}} does not have enough properties");
        assert_eq!(place, Place::Value(Pointer::default()));
    }

    #[test]
    fn places_are_exact() {
        let gsm = schemas::answer(AnswerSchema::Gsm);
        let place = |answer| problem(gsm, answer, View::Whole).unwrap().1;
        assert_eq!(place(r#"{"final_answer": 1}"#), Place::Value(pointer(&["final_answer"])));
        assert_eq!(place(r#"{"final_answer": "a"}"#), Place::Value(Pointer::default()));
        let extra = r#"{"final_answer": "a", "final_answer_numerical": 1, "z": 1, "confidence": 1, "b": 2}"#;
        assert_eq!(place(extra), Place::Key(pointer(&["b"])));
    }

    #[test]
    fn nothing_outside_of_the_schema_is_fetched() {
        for schema in [
            r#"{"$ref": "http://127.0.0.1:1/schema.json"}"#,
            r#"{"$ref": "file:///etc/hostname"}"#,
            r#"{"$ref": "other.json#/a"}"#,
            r#"{"properties": {"a": {"$dynamicRef": "https://example.com/x"}}}"#,
        ] {
            assert!(Schema::compile(schema.as_bytes()).is_err(), "{schema}");
        }
        for schema in
            ["", "{", "3", r#"{"type": "text"}"#, r#"{"maxLength": -1}"#, r#"{"pattern": "("}"#, "{\"minimum\": NaN}"]
        {
            assert!(Schema::compile(schema.as_bytes()).is_err(), "{schema}");
        }
    }

    #[test]
    fn rare_keywords_are_judged_too() {
        let schema = r#"{"properties": {"a": {"type": "string"}}, "unevaluatedProperties": false}"#;
        assert_eq!(problem(schema, r#"{"a": "x"}"#, View::Whole), None);
        let (_, place) = problem(schema, r#"{"a": 1}"#, View::Whole).unwrap();
        assert_eq!(place, Place::Value(pointer(&["a"])));
        let (message, place) = problem(schema, r#"{"a": "x", "b": NaN}"#, View::Whole).unwrap();
        let words = "Unevaluated properties are not allowed ('b' was unexpected)";
        assert_eq!((message, place), (format!("schema validation error: {words}"), Place::Key(pointer(&["b"]))));
        assert_eq!(problem(schema, r#"{"a": "x", "step_variable": NaN}"#, View::OwnKeys), None);
        let meta = r#"{"properties": {"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}"#;
        assert_eq!(
            problem(meta, r#"{"schema": {"items": [{"type": "text"}]}}"#, View::Whole).unwrap().1,
            Place::Value(pointer(&["schema", "items"]))
        );
        assert_eq!(problem(meta, r#"{"schema": {"items": {"type": "string"}}}"#, View::Whole), None);
    }

    #[test]
    fn branches_that_lead_back_come_to_an_end() {
        let schema = r##"{"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "string"}"##;
        let schema = Schema::compile(schema.as_bytes()).unwrap();
        let mut tape = Tape::default();
        assert!(schema.judge(tape.parse(b"1").unwrap()).is_err());
    }

    #[test]
    fn references_may_lead_back() {
        let list = r##"{"type": "object", "properties": {"next": {"$ref": "#"}}}"##;
        let (message, place) = problem(list, r#"{"next": {"next": 1}}"#, View::Whole).unwrap();
        assert_eq!(message, "schema validation error: 1 is not of type 'object'");
        assert_eq!(place, Place::Value(pointer(&["next", "next"])));
        let deep = format!("{}1{}", r#"{"next":"#.repeat(500), "}".repeat(500));
        let (message, place) = problem(list, &deep, View::Whole).unwrap();
        assert!(message.starts_with("undecided: ") && place == Place::Value(pointer(&[])), "{message}");
    }
}
