//! Equal to Python: what `re`, sacrebleu, `json` and jsonschema gave (see `tests/parity/make_verdicts.py`), compared
//! with ours; and what nobody may do to a verifier.
//!
//! `STEPSCOPE_PARITY_CASES` names a further folder with `patterns.jsonl`, `bleu.jsonl`, `verdicts.jsonl` and
//! `words.jsonl`, for a long comparison.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value as Json;
use stepscope_base::json::{Tape, Value};
use stepscope_base::pyregex::Pattern;
use stepscope_base::text::Untrusted;
use stepscope_execution::verify::bleu::{References, score_with};
use stepscope_execution::verify::{Candidate, Verifier, VerifyResult};
use stepscope_io::config::verifiers::{VerifierChoice, build};

/// Reads the cases of a fixture. Texts in them may hold half surrogate pairs, which `serde_json` refuses: they are read
/// by `text` from the line itself.
fn cases(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/parity/{name}.jsonl.gz"));
    let mut all = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut all).unwrap();
    if let Some(folder) = std::env::var_os("STEPSCOPE_PARITY_CASES") {
        all.extend(std::fs::read(Path::new(&folder).join(format!("{name}.jsonl"))).unwrap());
    }
    let cases: Vec<_> = all.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
    assert!(cases.len() >= 500, "{name}");
    cases
}

/// Runs `then` with a handle on the values of a case.
fn with<T>(case: &[u8], then: impl FnOnce(Value<'_>) -> T) -> T {
    let mut tape = Tape::default();
    then(tape.parse(case).expect("a case is JSON"))
}

fn text(case: &[u8], key: &str) -> Untrusted<'static> {
    with(case, |case| case.get(key).and_then(Value::string).unwrap_or_default().into_owned())
}

#[test]
fn patterns_match_as_in_python() {
    let mut wrong = Vec::new();
    for case in cases("patterns") {
        let (pattern, subject) = (text(&case, "pattern"), text(&case, "text"));
        let refused = with(&case, |case| case.get("refused").is_some());
        let expected = with(&case, |case| {
            let search = case.get("search").and_then(Value::float).map(|at| at as usize);
            (search, case.get("full").and_then(Value::bool).unwrap_or(false))
        });
        let same = match Pattern::new(pattern.utf8().unwrap()) {
            Err(_) => refused,
            Ok(pattern) => {
                let found = (pattern.search(subject.bytes()).unwrap(), pattern.is_all_of(subject.bytes()).unwrap());
                !refused && found == expected
            }
        };
        if !same {
            wrong.push(String::from_utf8_lossy(&case).into_owned());
        }
    }
    assert!(wrong.is_empty(), "{} cases, such as\n{}", wrong.len(), wrong.iter().take(5).cloned().collect::<String>());
}

#[test]
fn bleu_is_that_of_sacrebleu() {
    for case in cases("bleu") {
        let subject = text(&case, "text");
        let references = with(&case, |case| {
            let texts: Vec<_> =
                case.get("references").unwrap().items().map(|text| text.string().unwrap().into_owned()).collect();
            References::new(texts.iter().map(Untrusted::bytes)).unwrap()
        });
        for (key, effective_order) in [("sentence", true), ("corpus", false)] {
            let expected = with(&case, |case| case.get(key).unwrap().float().unwrap());
            let score = score_with(&[&references], subject.bytes(), effective_order).unwrap();
            assert!((score - expected).abs() < 1e-9, "{key} {score} {}", String::from_utf8_lossy(&case));
        }
    }
}

/// Builds the verifier of a case, by way of a TOML file as a user writes it.
fn verifier(folder: &Path, spec: &Json) -> Verifier {
    let mut spec = spec.clone();
    let mut schemas = 0;
    let mut outside = |stage: &mut Json| {
        // TOML has no null, which a schema may hold: schemas are files.
        if let Some(schema) = stage.get_mut("schema") {
            let name = format!("schema{schemas}.json");
            schemas += 1;
            std::fs::write(folder.join(&name), schema.to_string()).unwrap();
            *schema = name.into();
        }
    };
    let stages = match spec.get_mut("stages") {
        Some(stages) => stages.take(),
        None => serde_json::json!([spec]),
    };
    let mut file = serde_json::json!({ "stage": stages });
    file["stage"].as_array_mut().unwrap().iter_mut().for_each(&mut outside);
    let path = folder.join("chain.toml");
    std::fs::write(&path, toml::to_string(&file).unwrap()).unwrap();
    build(&VerifierChoice::Chain(path)).unwrap_or_else(|failure| panic!("{failure} {file}"))
}

fn judge(verifier: &Verifier, text: &[u8]) -> VerifyResult {
    let (mut record, mut tape) = (Tape::default(), Tape::default());
    let record = record.parse(b"{}").unwrap();
    verifier.verify(Candidate { text, record }, &mut tape)
}

#[test]
fn verdicts_and_rewards_are_those_of_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for case in cases("verdicts") {
        let spec: Json = with(&case, |case| serde_json::from_slice(case.get("verifier").unwrap().raw()).unwrap());
        let verifier = verifier(folder.path(), &spec);
        let subject = text(&case, "text");
        let (success, reward) = with(&case, |case| {
            (case.get("success").unwrap().bool().unwrap(), case.get("reward").unwrap().float().unwrap())
        });
        let mut result = judge(&verifier, subject.bytes());
        // A verifier alone was made a chain of one stage, which gives nothing for half a success.
        let alone = spec.get("stages").is_none();
        if alone && let stepscope_execution::verify::Metadata::Failed { result: own, .. } = result.metadata {
            result = *own;
        }
        let details = result.details.bytes();
        let details = details.strip_prefix(b"Stage 1: ").filter(|_| alone).unwrap_or(details);
        let error = result.error.as_ref().map_or(&b""[..], |error| error.bytes());
        let same_words = details == text(&case, "details").bytes() && error == text(&case, "error").bytes();
        if result.success != success || (result.reward - reward).abs() > 1e-9 || !same_words {
            wrong.push(format!("{result:?}\n{}\n", String::from_utf8_lossy(&case)));
        }
    }
    assert!(wrong.is_empty(), "{} cases, such as\n{}", wrong.len(), wrong.iter().take(5).cloned().collect::<String>());
}

#[test]
fn schemas_speak_in_the_words_of_jsonschema() {
    use stepscope_base::schema::{Schema, View};
    use stepscope_judge::rules::answer::validate;
    let (mut wrong, mut all) = (Vec::new(), 0);
    for case in cases("words") {
        let (schema, instance) = (text(&case, "schema"), text(&case, "text"));
        let said = match Schema::compile_as_declared(schema.bytes()) {
            Err(failure) => (Some(failure.to_string()), None),
            Ok(schema) => {
                let mut tape = Tape::default();
                let value = tape.parse(instance.bytes()).unwrap();
                let first =
                    validate(value, value, &schema, View::Whole).map(|problem| problem.message.line().into_string());
                let best = schema.judge(value).map(|words| words.map(|words| words.line().into_string()));
                (best.unwrap_or_else(|why| Some(why.to_string())), first)
            }
        };
        let expected = ["best", "first"].map(|key| {
            with(&case, |case| case.get(key).and_then(Value::string).map(|words| words.line().into_string()))
        });
        let first = expected[1].as_ref().map(|words| format!("schema validation error: {words}"));
        all += 1;
        if said != (expected[0].clone(), first) {
            wrong.push(format!("{said:?}\n{}\n", String::from_utf8_lossy(&case)));
        }
    }
    if let Some(file) = std::env::var_os("STEPSCOPE_PARITY_WRONG") {
        std::fs::write(file, wrong.concat()).unwrap();
    }
    assert!(
        wrong.is_empty(),
        "{} of {all}, such as\n{}",
        wrong.len(),
        wrong.iter().take(5).cloned().collect::<String>()
    );
}

/// Pieces of which texts are made that a verifier may not like.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"1",
    b"a",
    b" ",
    b"\n",
    b"```",
    b"```json\n",
    b"\\u",
    b"\\",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"\x1c",
    b"NaN",
    b"&amp;",
    b"1,5",
    b"-",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x98\x80",
    b"\0",
    b"null",
    b"<skipped>",
];

proptest::proptest! {
    #[test]
    fn no_text_ends_a_verifier(picks in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let text: Vec<u8> = picks.iter().flat_map(|&pick| PIECES[pick].iter().copied()).collect();
        let folder = tempfile::tempdir().unwrap();
        let specs = [
            serde_json::json!({"verifier": "json_structure"}),
            serde_json::json!({"verifier": "json_schema", "schema": {"items": {"pattern": "^(?=a)"}, "uniqueItems": true}}),
            serde_json::json!({"verifier": "regex_format", "pattern": "(?s)(.)\\b.*?\\1$|\\S+$", "full_match": true}),
            serde_json::json!({"verifier": "bleu", "references": ["1,5 a", ""]}),
        ];
        for spec in specs {
            let result = judge(&verifier(folder.path(), &spec), &text);
            let mut out = Vec::new();
            stepscope_base::json::write::Style::ASCII.append_object(&mut out, |object| result.members(None, object));
            let line: Json = serde_json::from_slice(&out).unwrap();
            let reward = line["reward"].as_f64();
            proptest::prop_assert_eq!(reward.is_some(), result.judged, "what is undecided has no reward");
            proptest::prop_assert!(reward.is_none_or(|reward| (0.0..=1.0).contains(&reward)));
            proptest::prop_assert_eq!(line["error"].is_null(), result.error.is_none());
        }
    }
}
