use super::*;

fn kinds(text: &str) -> Vec<&'static str> {
    let mut hits = PrivateHits::default();
    hits.look(text.as_bytes(), &Shown::own("x"));
    hits.named.iter().map(|hit| hit.kind.word()).collect()
}

pub(super) fn in_record(text: &[u8]) -> Vec<PrivateHit> {
    let mut hits = PrivateHits::default();
    hits.look_in_record(text);
    assert_eq!(hits.count, hits.named.len());
    hits.named
}

#[test]
fn all_is_counted_and_the_first_is_named() {
    let mails = |n: usize| (0..n).map(|n| format!("\"a{n}@b.example\": 1")).collect::<Vec<_>>().join(", ");
    let mut hits = PrivateHits::default();
    hits.look_in_record(format!("{{{}}}", mails(50)).as_bytes());
    assert_eq!((hits.count, hits.named.len()), (50, PrivateHits::NAMED));
    let mut both = PrivateHits::default();
    both.look(b"z@b.example", &Shown::own("first"));
    both.extend(hits);
    assert_eq!((both.count, both.named.len(), both.named[0].place.as_str()), (51, PrivateHits::NAMED, "first"));
}

#[test]
fn all_patterns_are_sound() {
    assert_eq!(PATTERNS.len(), PrivateKind::ALL.len());
}

#[test]
fn what_is_private_is_found_however_it_is_spelled() {
    let key = ["sk-", "proj-4f9aQ2xT7bLmN8"].concat();
    let spelled = |c: char| format!("\\u{:04x}", u32::from(c));
    for text in [
        key.clone(),
        key.chars().map(spelled).collect(),
        key.chars().map(|c| spelled(c).replace('\\', "\\\\")).collect(),
        key.replace('-', "%2d"),
        key.replace('-', "&#45;"),
        key.replace("4f", "4\u{200b}f"),
        key.replace("4f", "4\u{1b}[0mf"),
        format!("{{\"raw\": \"{{\\\"k\\\": \\\"{}\\\"}}\"}}", key.replace('s', "\\\\u0073")),
    ] {
        assert_eq!(kinds(&text), ["key"], "{text}");
        let redacted = String::from_utf8(Redaction::all().text(text.as_bytes()).into_owned()).unwrap();
        assert!(redacted.contains("[redacted:key]") && !redacted.contains("bLmN8"), "{redacted}");
    }
}

#[test]
fn each_kind_is_told_from_prose() {
    // Put together here, so that no scanner of repositories takes this file for a leak.
    let [aws, github, private] = [
        ["AKIA", "IOSFODNN7EXAMPLE"],
        ["ghp_", "abcdefABCDEF0123456789"],
        ["-----BEGIN", " RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----"],
    ]
    .map(|parts| parts.concat());
    for (text, expected) in [
        ("mail ada@example.org now", "email"),
        ("see /home/ada/runs", "home"),
        (r"C:\Users\ada\x", "home"),
        ("Authorization: Bearer abcdef123456", "bearer"),
        ("password = hunter2x", "secret"),
        ("https://ada:pw12@host/", "secret"),
        (&aws, "key"),
        (&github, "key"),
        ("eyJhbGciOiJI.eyJzdWIi0.c2ln", "key"),
        (&private, "key"),
    ] {
        assert_eq!(kinds(text), [expected], "{text}");
    }
    for prose in [
        "The bearer instruments are paid",
        "24 * 8 = 192 @ noon",
        "sk_total_amount_of_apples",
        "a token of appreciation",
        "max_tokens: 2048",
        "home/ada",
        "x@y",
        "the basic principles",
    ] {
        assert_eq!(kinds(prose), Vec::<&str>::new(), "{prose}");
    }
}

#[test]
fn a_record_stays_json_and_loses_it_in_keys_values_and_numbers() {
    let text = r#"{"ada@example.org": 1, "n": 4111111111111111, "api_key": "abcdefghij", "deep": ["\u0061da@example.org", {"k": "<ok>"}]}"#;
    let redaction = Redaction::read(&["card=4[0-9]{15}".to_owned(), "all".to_owned()]).unwrap();
    let redacted = String::from_utf8(redaction.record(text.as_bytes()).into_owned()).unwrap();
    let expected = r#"{"[redacted:email]": 1, "n": "[redacted:card]", "api_key": "[redacted:secret]", "deep": ["[redacted:email]", {"k": "<ok>"}]}"#;
    assert_eq!(redacted, expected);
    assert_eq!(in_record(redacted.as_bytes()), []);
    let hits = in_record(text.as_bytes());
    assert_eq!(hits.iter().map(|hit| hit.kind.word()).collect::<Vec<_>>(), ["email", "secret", "email"]);
    assert!(hits.iter().all(|hit| !hit.place.as_str().contains("ada@ex")), "{hits:?}");
}

#[test]
fn what_is_base64_may_end_in_signs() {
    assert_eq!(kinds("{\"Authorization\": \"Basic dXNlcjpwYXNzd29yZA==\""), ["bearer"]);
}

#[test]
fn what_stands_around_a_record_goes_too() {
    for text in ["{\"a\": 1} ada@example.org", "{\"a\": ada@example.org", "ada@example.org"] {
        let redacted = Redaction::all().record(text.as_bytes()).into_owned();
        assert!(!String::from_utf8(redacted).unwrap().contains("ada@"), "{text}");
        assert_eq!(in_record(text.as_bytes()).len(), 1, "{text}");
    }
}

#[test]
fn what_a_model_read_and_wrote_goes_under_every_name() {
    let text = br#"{"prompt": "a", "system": [{"type": "text", "text": "a"}], "response": "a", "reasoning": "a", "tool_calls": [{"name": "add", "arguments": {"x": "a"}}], "model": "m"}"#;
    let left = String::from_utf8(without_passages(text).into_owned()).unwrap();
    assert!(!left.contains("\"a\"") && !left.contains("add") && left.contains("\"m\""), "{left}");
}

#[test]
fn a_bad_pattern_is_refused_with_a_reason() {
    for (word, why) in [("x", "NAME=REGEX"), ("=a", "a name has"), ("a=(", "unclosed group"), ("a b=c", "a name has")] {
        let error = Redaction::read(&[word.to_owned()]).unwrap_err();
        assert!(error.as_str().contains(why), "{error}");
    }
}

#[test]
fn samples_hold_no_secret() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_runs");
    let mut records = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            for line in std::fs::read(&path).unwrap().split(|byte| *byte == b'\n') {
                assert_eq!(in_record(line), [], "{}", path.display());
                records += 1;
            }
        }
    }
    assert!(records > 200, "only {records} records were read");
}

#[test]
fn finding_secrets_takes_time_in_proportion() {
    for part in [
        "a ",
        "password is ",
        "key=",
        "token: ",
        "://a:",
        "curl ",
        "%25",
        "\\\\",
        "&amp;",
        "a1\n",
        "sk-",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "c2stcHJvai00",
        "0f",
        "secret ",
        "\"name\": \"key\", ",
        "аб",
        "Authorization: ",
        "mysql -",
        "A1b2C3d4E5f6G7h8",
        "PuTTY-User-Key-File-2",
        "<pass>",
    ] {
        let time = |size: usize| {
            let text = part.repeat(size / part.len());
            let began = std::time::Instant::now();
            std::hint::black_box(Redaction::all().text(text.as_bytes()));
            began.elapsed()
        };
        // Eight times the text: what grows with its square would take 64 times as long. Whoever else is busy may be so
        // just now, but not each time.
        let grows = || time(64_000) > time(8_000) * 28 + std::time::Duration::from_millis(30);
        assert!(!(grows() && grows() && grows()), "{part:?}");
    }
}

#[test]
fn a_long_text_is_searched_over_the_seams_of_its_parts() {
    let key = ["sk-", "proj-4f9aQ2xT7bLmN8"].concat();
    for at in [PART - 10, PART - OVERLAP - 10] {
        let text = format!("{}{key} {}", " ".repeat(at), "x ".repeat(OVERLAP));
        let clean = Redaction::all().text(text.as_bytes()).into_owned();
        assert_eq!(clean.len(), text.len() - key.len() + "[redacted:key]".len(), "{at}");
    }
}
