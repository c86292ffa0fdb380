//! Prompts against upstream's own, byte for byte.

use std::collections::HashMap;

use crate::support::oracle::{lines, member, unpacked, writable};
use stepscope_base::canonical::sha256;
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::Untrusted;
use stepscope_execution::prompt::{AnswerShape, Refused, execution, visible_inputs};
use stepscope_execution::repair;
use stepscope_record::AnswerSchema;
use stepscope_record::formats;
use stepscope_record::procedure::Procedure;
use stepscope_record::schemas;
use stepscope_record::state::State;

/// Runs the scripted replies through our reading of upstream's runner; every prompt must be upstream's.
fn follow(case: Value<'_>) -> usize {
    let what = String::from_utf8_lossy(case.get("n").unwrap().raw()).into_owned();
    let source = member(case, "text");
    let mut tape = Tape::default();
    let procedure = Procedure::read(tape.parse(source.bytes()).expect("the procedure can be read"));
    let schema = AnswerSchema::from_word(member(case, "answer_schema").utf8().unwrap()).unwrap();
    // Every value's own text: replies go away.
    let mut state: HashMap<Untrusted<'static>, Vec<u8>> = HashMap::new();
    let problem = case.get("problem_text").unwrap().raw().to_vec();
    let mut made = 0;
    for (step, call) in case.get("calls").unwrap().items().enumerate() {
        let mut shown = b"{".to_vec();
        for field in procedure.steps[step].value.get("inputs").into_iter().flat_map(Value::items) {
            let name = field.get("name").unwrap();
            let value = match name.string().unwrap() {
                name if name == "problem_text" => &problem,
                name => &state[&name.into_owned()],
            };
            shown.extend_from_slice(if shown.len() > 1 { b"," } else { b"" });
            shown.extend_from_slice(&[name.raw(), b":", value].concat());
        }
        shown.push(b'}');
        let mut inputs = Tape::default();
        let inputs: Vec<_> =
            inputs.parse(&shown).unwrap().members().map(|member| (member.name().into_owned(), member.value)).collect();
        let request = execution(&procedure, step, &inputs, AnswerShape::Published(schema)).unwrap();
        let prompt = member(call, "prompt");
        assert!(
            request.prompt == prompt,
            "case {what} step {step}\n--- ours\n{:?}\n--- upstream's\n{:?}",
            request.prompt.prose(),
            prompt.prose()
        );
        assert!(request.schema == member(call, "schema_text"), "case {what} step {step}");
        made += 1;
        let raw = member(call, "raw");
        let mut reply = Tape::default();
        let Some(reply) = reply.parse(raw.bytes()) else { break };
        for name in request.expected {
            if let Some(value) = reply.entries().iter().find(|member| member.name() == name) {
                state.insert(name, value.value.raw().to_vec());
            }
        }
    }
    made
}

#[test]
fn prompts_are_upstreams() {
    let mut made = 0;
    for file in ["oracle/runs.jsonl.gz", "parity/prompts.jsonl.gz"] {
        let bytes = unpacked(file);
        for line in lines(&bytes) {
            let mut tape = Tape::default();
            made += follow(tape.parse(line).expect("a case"));
        }
    }
    assert!(made > 300, "{made}");
}

fn repair_prompt(source: &[u8]) -> Untrusted<'static> {
    let mut tape = Tape::default();
    repair::prompt(tape.parse(source).expect("a procedure"), &repair::diagnostics(source))
}

#[test]
fn repair_prompts_are_upstreams() {
    let (bytes, mut made) = (unpacked("oracle/prompts.jsonl.gz"), 0);
    for line in lines(&bytes) {
        let mut tape = Tape::default();
        let case = tape.parse(line).expect("a case");
        if member(case, "kind") == "repair" {
            assert_eq!(repair_prompt(&writable(&member(case, "text"))).prose(), member(case, "prompt").prose());
            assert!(repair_prompt(&writable(&member(case, "text"))) == member(case, "prompt"));
            made += 1;
        }
    }
    assert_eq!(made, 8);
    let bytes = unpacked("parity/repairs.jsonl.gz");
    for line in lines(&bytes) {
        let mut tape = Tape::default();
        let case = tape.parse(line).expect("a case");
        let source = writable(&member(case, "text"));
        let prompt = repair_prompt(&source);
        assert!(
            member(case, "sha256") == sha256(prompt.bytes()).as_str(),
            "{:?}\n{:?}",
            Untrusted::new(&source),
            prompt.prose()
        );
        made += 1;
    }
    assert!(made > 150, "{made}");
}

#[test]
fn embedded_schemas_are_upstreams() {
    let path = format!("{}/tests/fixtures/parity/schemas.json", env!("CARGO_MANIFEST_DIR"));
    let texts: HashMap<String, String> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (name, text) in texts {
        let ours = schemas::ALL.iter().find(|schema| schema.name == name).unwrap();
        assert_eq!(ours.text, format!("{text}\n"), "{name}");
    }
    for schema in AnswerSchema::ALL {
        let names: serde_json::Value = serde_json::from_str(schemas::answer(schema)).unwrap();
        let names: Vec<_> = names["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, stepscope_record::state::schema_keys(schema));
    }
}

#[test]
fn the_trace_schema_takes_its_own_kind() {
    let schema = schemas::ALL.iter().find(|schema| schema.name == "trace").unwrap();
    let schema: serde_json::Value = serde_json::from_str(schema.text).unwrap();
    jsonschema::meta::validate(&schema).expect("a valid schema");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = serde_json::json!({"id": "a", "question": "q", "own": 1, "trace": {"format": "stepscope.run_trace", "version": 1,
        "answer_schema": "gsm", "steps": [{"step_index": 0, "step_id": 1, "is_final": true, "inputs": {"problem_text": "q"},
        "prompt": "p", "schema": {"type": "object"}, "raw": "{}", "outputs": null, "error": "no JSON", "model": "m",
        "usage": {"prompt_tokens": 3, "completion_tokens": null}, "duration_ms": 1.5, "mine": true}]}});
    assert!(validator.is_valid(&good));
    for bad in [
        serde_json::json!({"id": "a"}),
        serde_json::json!({"trace": {"format": "other", "version": 1, "steps": []}}),
        serde_json::json!({"trace": {"format": "stepscope.run_trace", "version": 1, "steps": [{"inputs": []}]}}),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn a_record_gives_the_inputs_of_its_steps() {
    let record = br#"{"question": "2 + 3?", "procedure": {"steps": [
        {"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "Extract", "output": [{"name": "a"}, {"name": "b"}]},
        {"id": 2, "inputs": [{"name": "a"}, {"name": "problem_text"}, {"name": "a"}], "stepDescription": "Add", "output": [{"name": "s"}]},
        {"id": 3, "inputs": [{"name": "s"}, {"name": "gone"}], "stepDescription": "Say", "output": [{"name": "final_answer"}]}]},
        "state": {"a": 2.50, "b": 3, "s": 5, "final_answer": "5", "final_answer_numerical": 5}}"#;
    let mut tape = Tape::default();
    let record = formats::read(tape.parse(record).unwrap());
    let procedure = Procedure::read(record.procedure.unwrap());
    let state = State::of(&record, Some(&procedure));
    let inputs = visible_inputs(&procedure, &state, 1).unwrap();
    let request = execution(&procedure, 1, &inputs, AnswerShape::of(&record)).unwrap();
    let prompt = request.prompt.utf8().unwrap();
    assert!(
        prompt.starts_with("Add\n# Inputs (JSON)\n{\n  \"a\": 2.5,\n  \"problem_text\": \"2 + 3?\"\n}\n"),
        "{prompt}"
    );
    let refused = visible_inputs(&procedure, &state, 2).unwrap_err();
    assert_eq!(refused, Refused::Unresolvable(Untrusted::from("gone")));
    assert_eq!(visible_inputs(&procedure, &state, 9).unwrap_err(), Refused::NoStep);
}

/// Python makes texts of lists, and asks of every field only whether it holds "name".
#[test]
fn odd_fields_are_gone_through_as_python_does() {
    let prompt = |step: &str| {
        let text = format!(r#"{{"steps": [{step}, {{"id": 2}}]}}"#);
        let mut tape = Tape::default();
        let procedure = Procedure::read(tape.parse(text.as_bytes()).unwrap());
        let request = execution(&procedure, 0, &[], AnswerShape::Published(AnswerSchema::General));
        request.map(|request| request.prompt.utf8().unwrap().to_owned())
    };
    let odd = prompt(
        r#"{"id": 1, "stepDescription": ["Add", "b"], "inputs": ["problem_text", ["x"]],
            "output": [{"name": "a", "description": ["it's", {"k": [1, null]}]}, [], "b"]}"#,
    )
    .unwrap();
    assert!(odd.starts_with("['Add', 'b']\n# Inputs (JSON)\n{}\n"), "{odd}");
    assert!(odd.contains("- a: [\"it's\", {'k': [1, None]}]\n"), "{odd}");
    for output in [r#"{"a": 1}"#, r#""abc""#, "[]", r#"[["x"]]"#] {
        assert!(prompt(&format!(r#"{{"id": 1, "output": {output}}}"#)).is_ok(), "{output}");
    }
    for output in ["5", "[5]", "[null]", r#"["my name"]"#, r#"[["name"]]"#, r#"{"name": 1}"#] {
        assert!(matches!(prompt(&format!(r#"{{"id": 1, "output": {output}}}"#)), Err(Refused::Odd(_))), "{output}");
    }
}
