//! Verdicts of the verifiers, in the words of the reference, and what they say where the reference would not end.

use super::bleu::{TooLong, score_with};
use super::*;
use stepscope_base::json::write::Style;

fn pattern(text: &str) -> Box<Pattern> {
    Box::new(Pattern::new(text).unwrap())
}

fn regex_format(text: &str, full_match: bool, partial_credit: bool) -> Verifier {
    Verifier::RegexFormat { pattern: pattern(text), full_match, partial_credit }
}

fn schema(text: &str, partial_credit: bool) -> Verifier {
    let schema = Schema::compile_as_declared(text.as_bytes()).unwrap();
    Verifier::JsonSchema { schema: Some(Box::new(schema)), partial_credit }
}

fn bleu(references: &[&str], field: Option<&str>) -> Verifier {
    let references = References::new(references.iter().map(|text| text.as_bytes())).unwrap();
    Verifier::Bleu(Bleu { references, field: field.map(FieldPath::new), threshold: THRESHOLD, effective_order: false })
}

fn on_record(verifier: &Verifier, text: &str, record: &str) -> VerifyResult {
    let (mut tape, mut inner) = (Tape::default(), Tape::default());
    let record = tape.parse(record.as_bytes()).unwrap();
    verifier.verify(Candidate { text: text.as_bytes(), record }, &mut inner)
}

fn on(verifier: &Verifier, text: &str) -> VerifyResult {
    on_record(verifier, text, "{}")
}

/// Success, reward, details and error.
fn said(verifier: &Verifier, text: &str) -> (bool, f64, String, String) {
    let result = on(verifier, text);
    let error = result.error.map(|error| error.line().into_string()).unwrap_or_default();
    (result.success, result.reward, result.details.line().into_string(), error)
}

fn is(success: bool, reward: f64, details: &str, error: &str) -> (bool, f64, String, String) {
    (success, reward, details.to_owned(), error.to_owned())
}

#[test]
fn json_is_json_as_python_reads_it() {
    let json = Verifier::JsonStructure;
    for (text, kind) in [
        ("{}", "dict"),
        (" \u{a0}[1]\u{2003}", "list"),
        ("```json\n\"a\"\n```", "str"),
        ("```\nNaN", "float"),
        ("```json\r\nnull\r\n```  ", "NoneType"),
        ("1", "int"),
        ("\x1ctrue", "bool"),
    ] {
        assert_eq!(said(&json, text), is(true, 1.0, &format!("Valid JSON ({kind})"), ""), "{text}");
    }
    for text in ["", " \n\u{2028}"] {
        assert_eq!(said(&json, text), is(false, 0.0, "Empty response", "empty_response"));
    }
    for text in
        ["{'a': 1}", "```json {}```", "```", "```\n```", "Sure: {}", "\u{feff}{}", "{\"a\": \"b\tc\"}", "{}\n```"]
    {
        let (success, reward, details, error) = said(&json, text);
        assert_eq!((success, reward, error.as_str()), (false, 0.0, "invalid_json"), "{text}");
        assert!(details.starts_with("Invalid JSON: "), "{details}");
    }
    for (text, words) in [
        ("{\"é\": 1,\n \"b\" 2}", "Expecting ':' delimiter: line 2 column 6 (char 14)"),
        ("```json\n{'a': 1}\n```", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("```\n```", "Expecting value: line 1 column 1 (char 0)"),
        ("{} {}", "Extra data: line 1 column 4 (char 3)"),
        ("[1, 2", "Expecting ',' delimiter: line 1 column 6 (char 5)"),
        ("\"a\tb\"", "Invalid control character at: line 1 column 3 (char 2)"),
    ] {
        assert_eq!(said(&json, text).2, format!("Invalid JSON: {words}"), "{text}");
    }
}

#[test]
fn what_python_refuses_is_found_behind_many_oddities() {
    let odd = |end: &str| format!("[{}{end}]", "NaN,".repeat(100));
    assert!(on(&Verifier::JsonStructure, &odd("1")).success);
    for end in ["\"\u{1}\"", "{\"\n\": 1}"] {
        let (success, .., error) = said(&Verifier::JsonStructure, &odd(end));
        assert_eq!((success, error.as_str()), (false, "invalid_json"), "{end}");
    }
    // What the reference does not catch ends the whole chain.
    let passed = (Verifier::JsonStructure, None);
    for verifier in [Verifier::JsonStructure, chain(vec![(regex_format("N", false, false), None), passed])] {
        let (success, reward, details, error) = said(&verifier, &odd(&"1".repeat(4301)));
        assert_eq!((success, reward, details.as_str()), (false, 0.0, "Verification exception"));
        assert!(error.starts_with("Exceeds the limit (4300 digits)"), "{error}");
    }
    assert!(!on(&Verifier::JsonStructure, &"[".repeat(600)).judged, "Python reads deeper than we do");
}

#[test]
fn a_schema_gives_all_half_or_nothing() {
    let text = r#"{"type": "object", "required": ["x"]}"#;
    let (half, strict) = (schema(text, true), schema(text, false));
    assert_eq!(said(&half, "```json\n{\"x\": 1}\n```"), is(true, 1.0, "JSON valid + schema-compliant", ""));
    let details = "Schema validation failed: 'x' is a required property";
    assert_eq!(said(&half, "{}"), is(false, 0.5, details, "schema_invalid"));
    assert_eq!(said(&strict, "{}"), is(false, 0.0, details, "schema_invalid"));
    assert_eq!(said(&half, "{").3, "invalid_json");
    assert_eq!(said(&half, "```\n```"), is(false, 0.0, "Empty response", "empty_response"));
    let none = Verifier::JsonSchema { schema: None, partial_credit: true };
    assert_eq!(said(&none, "7"), is(true, 1.0, "No schema configured; valid JSON.", ""));
}

#[test]
fn a_schema_is_of_the_draft_that_it_names() {
    let judged = |text: &str, value: &str| on(&schema(text, true), value).reward;
    let list = r#""items": [{"type": "integer"}], "additionalItems": false"#;
    let of = |draft: &str, rest: &str| format!("{{\"$schema\": \"http://json-schema.org/{draft}/schema#\", {rest}}}");
    for draft in ["draft-04", "draft-06", "draft-07"] {
        assert!(judged(&of(draft, list), "[1, 2]") < 1.0);
        assert!(judged(&of(draft, r#""dependencies": {"a": ["b"]}"#), r#"{"a": 1}"#) < 1.0);
    }
    assert!(judged(&of("draft-04", r#""type": "integer""#), "1.0") < 1.0);
    assert!(judged(&of("draft-06", r#""type": "integer""#), "1.0") > 0.9);
    assert!(judged(&of("draft-04", r#""minimum": 1, "exclusiveMinimum": true"#), "1") < 1.0);
    assert!(judged(&of("draft-04", r#""const": 1"#), "2") > 0.9);
    assert!(judged(r#"{"const": 1}"#, "2") < 1.0);
    assert!(judged(r#"{"type": "string", "format": "date"}"#, "\"never\"") > 0.9);
    assert!(judged(r#"{"minimum": 0}"#, "NaN") > 0.9, "as Python compares it");
    assert!(Schema::compile_as_declared(of("draft-03", "\"type\": \"any\"").as_bytes()).is_err());
    for outside in ["http://127.0.0.1:1/s.json", "file:///etc/hostname", "other.json"] {
        assert!(Schema::compile_as_declared(format!("{{\"$ref\": \"{outside}\"}}").as_bytes()).is_err(), "{outside}");
    }
}

#[test]
fn a_schema_is_judged_as_python_judges_it() {
    let refused = |text: &str| Schema::compile_as_declared(text.as_bytes()).err().map(|why| why.to_string());
    let old = |draft: &str, rest: &str| format!(r#"{{"$schema": "http://json-schema.org/{draft}/schema#", {rest}}}"#);
    for draft in ["draft-04", "draft-06", "draft-07"] {
        for pattern in ["(?i)^a", "\\\\Z", "(?P<n>a)", "{", "a++", "(?>a)", "(?#a)"] {
            let inner = format!(r#"{{"pattern": "{pattern}", "patternProperties": {{"{pattern}": {{}}}}}}"#);
            for rest in [
                format!(r#""items": {inner}"#),
                format!(r#""items": [{inner}], "additionalItems": {inner}"#),
                format!(r#""additionalProperties": {inner}, "dependencies": {{"a": {inner}}}"#),
            ] {
                assert_eq!(refused(&old(draft, &rest)), None, "{draft} {rest}");
            }
        }
        let wrong = r#""items": {"pattern": "\\Z", "maxLength": -1}"#;
        assert!(refused(&old(draft, wrong)).unwrap().contains("at /items, "), "a fault behind a pattern");
    }
    for draft in ["2019-09", "2020-12"] {
        let of = |rest: &str| format!(r#"{{"$schema": "https://json-schema.org/draft/{draft}/schema", {rest}}}"#);
        assert_eq!(refused(&of(r#""items": {"pattern": "(?i)a"}"#)), None);
        // A reference through a pattern finds it, and a property of that name is none.
        let through = r##""patternProperties": {"^a": {}}, "items": {"$ref": "#/patternProperties/%5Ea"}"##;
        assert_eq!(refused(&of(through)), None);
        let property = r#""properties": {"patternProperties": {"type": 5}, "pattern": {"pattern": "(?i)a"}}"#;
        let why = refused(&of(property)).unwrap();
        assert!(why.contains("at /properties/patternProperties/type, "), "{why}");
        let why = refused(&of(r#""patternProperties": {"(?i)a": {"anyOf": []}}"#)).unwrap();
        assert!(why.contains("at /patternProperties/(?i)a/anyOf, "), "{why}");
    }
}

#[test]
fn further_properties_are_those_that_the_joined_patterns_do_not_match() {
    let judged = |patterns: &str, value: &str| {
        let text = format!(r#"{{"patternProperties": {{{patterns}}}, "additionalProperties": false}}"#);
        on(&schema(&text, true), value).details.line().into_string()
    };
    for (patterns, value) in [(r#""(?i)b": {}, "a": {}"#, r#"{"A": 1}"#), (r#""": {}, "a": {}"#, r#"{"b": 1}"#)] {
        assert_eq!(judged(patterns, value), "JSON valid + schema-compliant", "{patterns}");
    }
    for (patterns, value, said) in [
        (r#""": {}"#, r#"{"a": 1}"#, "'a' does not match any of the regexes: ''"),
        ("", r#"{"a": 1}"#, "'a' does not match any of the regexes: "),
        (
            r#""(x)y": {}, "^(a)\\1$": {}"#,
            r#"{"aa": 1}"#,
            r"'aa' does not match any of the regexes: '(x)y', '^(a)\\1$'",
        ),
        (r#""(?x)b #c": {}, "a": {}"#, r#"{"a": 1}"#, "'a' does not match any of the regexes: '(?x)b #c', 'a'"),
    ] {
        assert_eq!(judged(patterns, value), format!("Schema validation failed: {said}"), "{patterns}");
    }
}

#[test]
fn integers_are_divided_exactly() {
    for (divisor, number, is_multiple) in [
        ("18446744073709551616", "18446744073709551616", true),
        ("18446744073709551616", "18446744073709551617", false),
        ("18446744073709551616", "-36893488147419103232", true),
        ("100000000000000000000000", "0", true),
        ("100000000000000000000000", "99999999999999999999999", false),
        ("3", "1000000000000000000000000000002", true),
        ("3", "1000000000000000000000000000003", false),
        ("7", "6", false),
    ] {
        let passes = on(&schema(&format!(r#"{{"multipleOf": {divisor}}}"#), true), number).success;
        assert_eq!(passes, is_multiple, "{number} of {divisor}");
    }
}

#[test]
fn patterns_are_searched_or_match_all() {
    let search = regex_format(r"answer:\s*(\d+)", false, false);
    assert_eq!(said(&search, "the ä answer: 42"), is(true, 1.0, "Matched at offset 6", ""));
    assert_eq!(said(&search, "none"), is(false, 0.0, r"No match for /answer:\s*(\d+)/", "no_match"));
    assert_eq!(said(&search, ""), is(false, 0.0, "Empty response", "empty_response"));
    let full = |partial| regex_format(r"\d+", true, partial);
    assert_eq!(said(&full(false), "123"), is(true, 1.0, r"Full match against /\d+/", ""));
    assert_eq!(said(&full(false), "is 42"), is(false, 0.0, r"No match for /\d+/", "no_match"));
    let half = is(false, 0.5, "Pattern found at offset 3 but not full-match", "partial_match");
    assert_eq!(said(&full(true), "is 42"), half);
    assert_eq!(said(&full(true), "is"), is(false, 0.0, r"No match for /\d+/", "no_match"));
    assert!(!on(&regex_format(r"\d+$", true, false), "1\n").success);
    assert!(on(&regex_format(r"\d+$", false, false), "1\n").success);
}

#[test]
fn a_pattern_that_takes_too_long_is_undecided() {
    let result = on(&regex_format(r"(a+)+\1b", false, false), &"a".repeat(3000));
    assert!(!result.success && !result.judged && result.reward == 0.0);
    assert!(result.error.unwrap().utf8().unwrap().starts_with("undecided: "));
    let result = on(&schema(r#"{"pattern": "^(a+)+\\1b$"}"#, true), &format!("\"{}\"", "a".repeat(3000)));
    assert!(!result.judged && result.reward == 0.0, "{result:?}");
}

#[test]
fn bleu_says_its_score_and_passes_from_the_threshold_on() {
    let verifier = bleu(&["the cat sat on the mat"], None);
    assert_eq!(said(&verifier, "the cat sat on the mat"), is(true, 1.0, "BLEU = 1.0000 (threshold 0.30)", ""));
    let (success, reward, details, error) = said(&verifier, "a dog");
    assert_eq!((success, reward, details.as_str(), error.as_str()), (false, 0.0, "BLEU = 0.0000 (threshold 0.30)", ""));
    assert_eq!(said(&verifier, ""), is(false, 0.0, "Empty candidate", "empty_response"));
    // All four orders count: a text of three tokens has no four-gram.
    assert_eq!(said(&verifier, "the cat sat"), is(false, 0.0, "BLEU = 0.0000 (threshold 0.30)", ""));
    assert!(said(&verifier, "the cat sat on").1 > 0.5);
    let references = References::new([&b"the cat"[..]]).unwrap();
    assert!(score_with(&[&references], b"the cat", false).unwrap() < 1e-9);
    assert!((score_with(&[&references], b"the cat", true).unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(score_with(&[&references], &b"a ".repeat(250_001), true), Err(TooLong));
}

#[test]
fn references_may_stand_in_the_record() {
    let verifier = bleu(&[], Some("gold.texts"));
    for record in [r#"{"gold": {"texts": "a b c d"}}"#, r#"{"gold": {"texts": ["x", "a b c d"]}}"#] {
        assert!(on_record(&verifier, "a b c d", record).reward > 0.99, "{record}");
    }
    for record in ["{}", r#"{"gold": {"texts": []}}"#, r#"{"gold": {"texts": [1]}}"#, r#"{"gold": null}"#] {
        let result = on_record(&verifier, "a b c d", record);
        assert!(!result.judged && !result.success && result.error.is_some(), "{record}");
    }
    assert!(on_record(&bleu(&["a b c d"], Some("more")), "a b c d", "{}").reward > 0.99);
}

fn chain(stages: Vec<(Verifier, Option<f64>)>) -> Verifier {
    let stages = stages.into_iter().map(|(verifier, weight)| (Shown::own(verifier.kind()), verifier, weight));
    Verifier::Chained(Chain::new(stages.collect()).unwrap())
}

#[test]
fn a_chain_adds_up_to_its_first_failure() {
    let stages =
        || vec![Verifier::JsonStructure, schema(r#"{"type": "object"}"#, true), regex_format("a", false, false)];
    let even = chain(stages().into_iter().map(|verifier| (verifier, None)).collect());
    let result = on(&even, "{\"a\": 1}");
    assert!((result.reward - 1.0).abs() < 1e-12 && result.success);
    assert_eq!(
        result.details,
        "Stage 1: Valid JSON (dict); Stage 2: JSON valid + schema-compliant; Stage 3: Matched at offset 2"
    );
    assert_eq!(result.metadata, Metadata::Passed { stages: 3 });

    let weighted = chain(stages().into_iter().zip([0.2, 0.5, 0.3].map(Some)).collect());
    let result = on(&weighted, "[1]");
    // The half of the stage that failed does not count.
    assert!((result.reward - 0.2).abs() < 1e-12 && !result.success);
    assert_eq!(result.details, "Stage 2 failed: Schema validation failed: [1] is not of type 'object'");
    assert_eq!(result.error.as_ref().unwrap(), &"schema_invalid");
    let Metadata::Failed { stage: 1, result: own } = &result.metadata else { panic!("{result:?}") };
    assert!((own.reward - 0.5).abs() < 1e-12);

    let nested = chain(vec![(weighted, Some(1.0)), (Verifier::JsonStructure, Some(0.0))]);
    assert_eq!(
        on(&nested, "[1]").details,
        "Stage 1 failed: Stage 2 failed: Schema validation failed: [1] is not of type 'object'"
    );
}

#[test]
fn chains_that_say_nothing_are_refused() {
    let chain = |weights: &[Option<f64>]| {
        let stage = |weight: &Option<f64>| (Shown::own("json_structure"), Verifier::JsonStructure, *weight);
        Chain::new(weights.iter().map(stage).collect()).map(|chain| chain.stages().len())
    };
    assert_eq!(chain(&[]), Err(ChainError::Empty));
    assert_eq!(chain(&[Some(1.0), None]), Err(ChainError::SomeWeights));
    assert_eq!(chain(&[Some(f64::NAN)]), Err(ChainError::Weight));
    assert_eq!(chain(&[Some(1.0), Some(1.0)]), Ok(2));
}

#[test]
fn a_ladder_shows_every_stage_and_where_it_stopped() {
    let stages = vec![
        (Verifier::JsonStructure, Some(0.25)),
        (regex_format("b", false, false), Some(0.25)),
        (Verifier::JsonStructure, Some(0.5)),
    ];
    let verifier = chain(stages);
    let (mut tape, mut inner) = (Tape::default(), Tape::default());
    let record = tape.parse(b"{}").unwrap();
    let mut judge_stages = |text: &[u8]| verifier.judge_stages(Candidate { text, record }, &mut inner);
    let chain = judge_stages(b"[]");
    assert_eq!(chain.stopped(), Some(1));
    let stages: Vec<_> =
        chain.stages.iter().map(|stage| (stage.name.as_str(), stage.adds, stage.result.is_some())).collect();
    assert_eq!(stages, [("json_structure", 0.25, true), ("regex_format", 0.0, true), ("json_structure", 0.0, false)]);
    assert_eq!(chain.result, on(&verifier, "[]"));
    let chain = judge_stages(b"[\"b\"]");
    assert_eq!((chain.stopped(), chain.result.success), (None, true));
    assert!((chain.stages.iter().map(|stage| stage.adds).sum::<f64>() - chain.result.reward).abs() < 1e-12);

    let alone = Verifier::JsonStructure.judge_stages(Candidate { text: b"x", record }, &mut inner);
    assert_eq!((alone.stages.len(), alone.stopped()), (1, Some(0)));
}

#[test]
fn results_are_written_as_one_safe_line() {
    let verifier = chain(vec![(regex_format("\u{202e}x", false, false), None)]);
    let out = Style::ASCII.object(|object| on(&verifier, "y").members(Some(1.0), object));
    let stage = r#"{"success":false,"reward":0.0,"details":"No match for /\u202ex/","error":"no_match","metadata":{}}"#;
    let expected = format!(
        "{{\"success\":false,\"reward\":0.0,\"details\":\"Stage 1 failed: No match for /\\u202ex/\",\
         \"error\":\"no_match\",\"metadata\":{{\"failed_stage\":0,\"stage_result\":{stage},\"recorded_reward\":1.0}}}}"
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let out = Style::ASCII.object(|object| on(&Verifier::JsonStructure, "1").members(None, object));
    assert!(out.ends_with(br#""error":null,"metadata":{}}"#));
}

#[test]
fn a_field_is_a_key_a_path_or_a_pointer() {
    let record = br#"{"a.b": "key", "a": {"b": "path", "c": [{"d/e": "deep"}]}, "completion": null, "n": 1}"#;
    let mut tape = Tape::default();
    let record = tape.parse(record).unwrap();
    let text = |field: &str| completion(record, &FieldPath::new(field)).map(|text| text.line().into_string());
    assert_eq!(text("a.b").as_deref(), Ok("key"));
    assert_eq!(text("/a/b").as_deref(), Ok("path"));
    assert_eq!(text("/a/c/0/d~1e").as_deref(), Ok("deep"));
    assert_eq!(text("a.c.0.d/e").as_deref(), Ok("deep"));
    assert_eq!(text("completion").as_deref(), Ok(""));
    assert_eq!(text("a.c.7").unwrap_err().as_str(), "no field \"a.c.7\"; set --field");
    assert_eq!(text("n").unwrap_err().as_str(), "field \"n\" is not a string");
}

#[test]
fn rewards_that_were_recorded_are_compared() {
    let recorded = |record: &str| {
        let mut tape = Tape::default();
        recorded_reward(tape.parse(record.as_bytes()).unwrap())
    };
    assert_eq!(recorded(r#"{"reward": 1}"#), Some(1.0));
    for none in ["{}", r#"{"reward": "1"}"#, r#"{"reward": NaN}"#, r#"{"reward": true}"#, "7"] {
        assert_eq!(recorded(none), None, "{none}");
    }
    assert!(differ(0.5, 0.0) && !differ(0.1 + 0.2, 0.3));
}

#[test]
fn schemas_ask_as_much_as_a_value_allows_and_have_a_size() {
    let doubling = |times: usize| {
        let twice = |inner, _| format!("{{\"allOf\": [{inner}, {inner}]}}");
        schema(&(0..times).fold("{\"type\": \"array\"}".to_owned(), twice), false)
    };
    let (much, too_much) = (doubling(8), doubling(14));
    for _ in 0..20 {
        let (one, other) = (on(&much, "[]"), on(&too_much, "[]"));
        assert!(one.success && !other.judged, "whatever was judged before: {one:?} {other:?}");
    }

    let long = format!("{{\"enum\": [{}1]}}", "1,".repeat(300_000));
    let refused = Schema::compile(long.as_bytes()).unwrap_err().to_string();
    assert_eq!(refused, "the schema holds more than 150,000 names and values; split it");
    let patterns = |n: usize| (0..n).map(|n| format!("\"^{n}\": {{}}")).collect::<Vec<_>>().join(",");
    let of = |n: usize| Schema::compile(format!("{{\"patternProperties\": {{{}}}}}", patterns(n)).as_bytes());
    assert!(of(100).is_ok());
    assert_eq!(
        of(1_001).unwrap_err().to_string(),
        "the schema holds more than 1,000 patterns or 100,000 bytes of them; split it"
    );
}

#[test]
fn references_in_two_parts_are_one_set() {
    let texts = ["the cat sat on the mat", "a dog sat on a log", "the mat", "one two three four five six seven"];
    let of = |texts: &[&str]| References::new(texts.iter().map(|text| text.as_bytes())).unwrap();
    for split in 0..=texts.len() {
        let (one, other) = (of(&texts[..split]), of(&texts[split..]));
        for text in ["the cat sat on a log", "a dog", "nothing of it", "the the the sat on", ""] {
            for effective_order in [false, true] {
                let score = |references: &[&References]| score_with(references, text.as_bytes(), effective_order);
                assert_eq!(score(&[&one, &other]), score(&[&of(&texts)]), "{split} {text}");
            }
        }
    }
}
