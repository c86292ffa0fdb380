//! The answer against its schema, in the words of evoproc's `validate_answer`.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::case::CaseView;
use crate::rule::Rule;
pub use crate::validation::{AnswerProblem, validate};
use crate::validation::{NOT_FINITE, NOT_NUMBER};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::python::Message;
use stepscope_base::schema::{Schema, View};
use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Finding, Findings, Place, Severity};
use stepscope_record::reply::parts;
use stepscope_record::rule_id::RuleId;
use stepscope_record::schemas;
use stepscope_record::{AnswerSchema, PublishedSchema, Record, RecordKind};

mod words;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[SCHEMA, words::FINAL_BOOL, words::FINAL_LETTER];

const SCHEMA: Rule = Rule {
    id: RuleId::AnswerSchema,
    summary: "answer does not match its schema",
    explanation: "The last step is asked for an answer of a published shape (general, bool, gsm or arc), or of your own. \
            The schema of --answer-schema decides, else the one that the record names (`trace.answer_schema`, the \
            `response_format` of a call), else the published one whose keys the answer has; an answer that only an earlier version \
            of it allows is a note. A server that ignores the schema replies all the same, and its reply is compared and counted as \
            if it were right. The message is evoproc's: the first violation in the order of the schema. In a run only the \
            schema's own keys are checked, because the state holds the variables of all steps. Numbers must be finite: \
            Python writes NaN and Infinity, which JSON does not have.",
    bad: r#"{"final_answer": "It is 7.", "final_answer_numerical": "7", "confidence": 0.9}"#,
    good: r#"{"final_answer": "It is 7.", "final_answer_numerical": 7, "confidence": 0.9}"#,
    check,
};

/// The schema that a name means in its version, ready to judge.
pub fn schema_named(named: PublishedSchema) -> &'static Schema {
    if named.is_first { published_first() } else { published(named.schema) }
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

/// The gsm schema before 1.1.0, ready to judge.
fn published_first() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::built_in(schemas::GSM_1_0));
    &SCHEMA
}

fn place(problem: &AnswerProblem) -> Place {
    let pointer = problem.pointer.clone();
    if problem.is_key { Place::Key(pointer) } else { Place::Value(pointer) }
}

fn check(case: &CaseView<'_>, findings: &mut Findings) {
    // A structured answer has a contract of its own.
    let Some(record) = case.record.as_ref().filter(|record| record.kind != RecordKind::Typed) else { return };
    if record.kind == RecordKind::Call && case.answer_schema().is_none() {
        return check_call(record, findings);
    }
    let Some(answer) = record.answer else { return };
    let judged = |schema: &Schema| {
        let view = if record.kind == RecordKind::Answer { View::Whole } else { View::OwnKeys };
        let is_of_number = |message: &Untrusted<'_>| *message == NOT_FINITE || *message == NOT_NUMBER;
        let judged = validate(record.root, answer, schema, view);
        judged.filter(|problem| case.checks_finite() || !is_of_number(&problem.message))
    };
    let given = case.answer_schema().or_else(|| case.state_schema());
    let problem = match (given, named_by(record)) {
        (Some(schema), _) => judged(schema),
        (None, NamedSchema::Own(schema)) => compiled(schema.raw()).and_then(|schema| judged(&schema)),
        (None, NamedSchema::Published(named)) if named.is_first || named.has_version => judged(schema_named(named)),
        (None, NamedSchema::Published(_)) => judged_by_any(record, &judged, findings),
        // What does not say that it is evoproc's owes nothing to evoproc's schemas.
        (None, NamedSchema::Nothing) if record.procedure.is_some() || has_final_answer(answer) => {
            judged_by_any(record, &judged, findings)
        }
        (None, NamedSchema::Nothing) => None,
    };
    if let Some(problem) = problem {
        findings.push(finding(problem));
    }
}

/// Schema that a record names for its answer.
enum NamedSchema<'a> {
    Own(Value<'a>),
    Published(PublishedSchema),
    Nothing,
}

fn named_by<'a>(record: &Record<'a>) -> NamedSchema<'a> {
    let Some(named) = record.root.get("trace").and_then(|trace| trace.get("answer_schema")) else {
        return NamedSchema::Nothing;
    };
    let published = |name: Untrusted<'_>| name.utf8().and_then(AnswerSchema::named).map(NamedSchema::Published);
    match named.kind() {
        Kind::Object => NamedSchema::Own(named),
        Kind::String => named.string().and_then(published).unwrap_or(NamedSchema::Nothing),
        _ => NamedSchema::Nothing,
    }
}

fn has_final_answer(answer: Value<'_>) -> bool {
    answer.members().any(|member| member.name().bytes().starts_with(b"final_answer"))
}

/// Judges by the newest version of the schema whose keys the answer has. What only an earlier version allows is a note.
fn judged_by_any(
    record: &Record<'_>,
    judged: &dyn Fn(&Schema) -> Option<AnswerProblem>,
    findings: &mut Findings,
) -> Option<AnswerProblem> {
    let schema = record.answer_schema?;
    let problem = judged(published(schema))?;
    if schema != AnswerSchema::Gsm || judged(published_first()).is_some() {
        return Some(problem);
    }
    let said = problem.message.bytes();
    let said = said.strip_prefix(b"schema validation error: ").unwrap_or(said);
    let message =
        Message::new("Valid under the gsm schema of evoproc-procedures 0.1.0 and 1.0.0, not under that of 1.1.0: ");
    let finding = Finding::new(RuleId::AnswerSchema, message.text(said).text("."), place(&problem));
    findings.push(
        finding.severity(Severity::Note).help("Nothing to do if that version made it: see --answer-schema gsm@1.0."),
    );
    None
}

/// Judges the reply of a call by the schema that its request names.
fn check_call(record: &Record<'_>, findings: &mut Findings) {
    let Some(raw) = record.raw.filter(|raw| raw.kind() == Kind::String) else { return };
    let Some(schema) = requested_schema(record.root) else { return };
    let Some((text, schema)) = raw.string().zip(compiled(schema.raw())) else { return };
    if text.bytes().trim_ascii().is_empty() {
        return;
    }
    let keys: Vec<Untrusted<'_>> = requested_schema(record.root)
        .and_then(|schema| schema.get("properties"))
        .into_iter()
        .flat_map(Value::members)
        .map(|member| member.name())
        .collect();
    let parts = parts(text.bytes(), &keys);
    let mut tape = Tape::default();
    let message = match tape.parse(parts.text(text.bytes())) {
        Some(value) => validate(value, value, &schema, View::Whole).map(|problem| problem.message),
        None => Some(Untrusted::from("The reply is not JSON, but a schema was asked for.")),
    };
    if let Some(message) = message {
        let pointer = record.root.pointer_to(raw);
        findings.push(finding(AnswerProblem { message, pointer, is_key: false }));
    }
}

/// Finds the schema in a request, in the dialects of chat completions, Responses and Ollama.
fn requested_schema(request: Value<'_>) -> Option<Value<'_>> {
    let format = request
        .get("response_format")
        .or_else(|| request.get("text")?.get("format"))
        .or_else(|| request.get("format").filter(|format| format.kind() == Kind::Object))?;
    let schema = format.get("json_schema").and_then(|json| json.get("schema")).or_else(|| format.get("schema"));
    schema.or_else(|| format.get("properties").map(|_| format)).filter(|schema| schema.kind() == Kind::Object)
}

fn finding(problem: AnswerProblem) -> Finding {
    let place = place(&problem);
    Finding::new(RuleId::AnswerSchema, problem.message, place)
        .help("Correct the value, or re-run the last step with a server that enforces the schema.")
}

/// Maximum number of schemas of records that are kept: the records of a file name one or a few.
const MAX_KEPT: usize = 16;

/// Makes a schema of a record ready, once for all records that name it. One that cannot be used judges nothing.
fn compiled(text: &[u8]) -> Option<Arc<Schema>> {
    type Kept = Vec<(Vec<u8>, Option<Arc<Schema>>)>;
    static KEPT: Mutex<Kept> = Mutex::new(Vec::new());
    let find = |kept: &Kept| kept.iter().find(|(known, _)| known == text).map(|(_, schema)| schema.clone());
    if let Some(known) = find(&KEPT.lock().unwrap_or_else(PoisonError::into_inner)) {
        return known;
    }
    let schema = Schema::compile_as_declared(text).ok().map(Arc::new);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() == MAX_KEPT {
        kept.clear();
    }
    kept.push((text.to_vec(), schema.clone()));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use stepscope_base::json::Pointer;
    use stepscope_base::schema::Law;

    fn problem(schema: &str, answer: &str, view: View) -> Option<(String, Place)> {
        let schema = Schema::compile(schema.as_bytes()).unwrap();
        let mut tape = Tape::default();
        let root = tape.parse(answer.as_bytes()).unwrap();
        let problem = validate(root, root, &schema, view)?;
        Some((problem.message.line().into_string(), place(&problem)))
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

    fn said(text: &str) -> Vec<(Severity, String)> {
        let case = Case::read(text.as_bytes());
        let view = case.view();
        let mut findings = Findings::new();
        check(&view, &mut findings);
        findings.iter().map(|finding| (finding.severity, finding.message.line().into_string())).collect()
    }

    #[test]
    fn the_schema_that_a_record_names_is_its_law() {
        let run = |state: &str| {
            said(&format!(
                r#"{{"mode": "procedural", "procedure": {{"steps": []}}, "state": {{"problem_text": "?", {state}}}, "trace": {{"answer_schema":
                {{"type": "object", "properties": {{"team": {{"type": "string"}}}}, "required": ["team"], "additionalProperties": false}}}}}}"#
            ))
        };
        assert_eq!(run(r#""team": "a", "other": 1"#), []);
        assert_eq!(run(r#""team": 5"#)[0].1, "schema validation error: 5 is not of type 'string'");
        let call = |reply: &str| {
            said(&format!(
                r#"{{"prompt": "?", "response": {reply}, "response_format": {{"type": "json_schema", "json_schema": {{"schema":
                {{"properties": {{"a": {{"type": "number"}}}}, "required": ["a"]}}}}}}}}"#
            ))
        };
        assert_eq!(call(r#""<think>{}</think>{\"a\": 1}""#), []);
        assert_eq!(call(r#""{\"a\": \"x\"}""#).len(), 1);
        assert_eq!(call(r#""no""#)[0].1, "The reply is not JSON, but a schema was asked for.");
        let other = r#"{"mode": "baseline", "status": "ok", "question": "?", "state": {"summary": "s"}, "raw": "x"}"#;
        assert_eq!(said(other), [], "not evoproc's");
    }

    #[test]
    fn an_answer_of_an_earlier_version_is_a_note() {
        for answer in [
            r#"{"final_answer": "7", "final_answer_numerical": 7}"#,
            r#"{"final_answer": "7", "final_answer_numerical": 7, "units": "km", "confidence": 1}"#,
        ] {
            let said = said(answer);
            assert!(said.len() == 1 && said[0].0 == Severity::Note && said[0].1.contains("1.0.0"), "{said:?}");
        }
        let broken = said(r#"{"final_answer": "7", "final_answer_numerical": "7"}"#);
        assert_eq!(broken[0].0, Severity::Repairable);
        let named = |name: &str| {
            said(&format!(
                r#"{{"procedure": {{"steps": []}}, "state": {{"final_answer": "7", "final_answer_numerical": 7}}, "trace": {{"answer_schema": "{name}"}}}}"#
            ))
        };
        assert_eq!(named("gsm@1.0"), []);
        assert_eq!(named("gsm@1.2.0")[0].0, Severity::Repairable);
        assert_eq!(named("gsm")[0].0, Severity::Note);
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
