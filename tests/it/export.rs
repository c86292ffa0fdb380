//! Pages to send: made from the samples and opened again, and nothing private in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use crate::support::fed::fed;

use serde_json::Value;
use stepscope_io::source::column_map::ColumnMap;
use stepscope_io::source::input::{Begun, Input, begin};
use stepscope_io::source::open::Stat;

/// Put together here, so that no scanner of repositories takes this file for a leak.
const SECRETS: [&str; 6] = [
    concat!("sk-p", "roj-4f9aQ2xT7bLmN8pR3vWz"),
    "ada.lovelace@example.org",
    "/home/lovelace/runs",
    "Bearer 9f8e7d6c5b4a39281706",
    concat!("ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2"),
    concat!("AKIA", "IOSFODNN7EXAMPLE"),
];

fn stepscope(arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.args(arguments).args(paths).stdin(Stdio::null()).env_remove("XDG_CONFIG_HOME").output().unwrap()
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs").join(name)
}

/// Returns the output of `check` as JSON, without the position of each record.
fn checked(path: &Path) -> Vec<Value> {
    let output = stepscope(&["check", "--format", "jsonl", "--fail-on", "never"], &[path]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in &mut records {
        for key in ["source", "line", "index"] {
            record.as_object_mut().unwrap().remove(key);
        }
    }
    records
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_page_says_what_its_record_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    for (name, each) in [
        ("by_hand.jsonl", 3),
        ("policy.jsonl", 4),
        ("notice.jsonl", 1),
        ("word_problems.jsonl", 12),
        ("baseline.jsonl", 20),
    ] {
        for (n, record) in checked(&sample(name)).iter().enumerate().step_by(each) {
            let line = (n + 1).to_string();
            let output = stepscope(&["export", "--line", &line, "--html", page.to_str().unwrap()], &[&sample(name)]);
            assert_eq!(output.status.code(), Some(0), "{name}:{line}: {}", said(&output));
            assert_eq!(checked(&page), std::slice::from_ref(record), "{name}:{line}");
            assert!(std::fs::metadata(&page).unwrap().len() <= 200_000);
        }
    }
}

#[test]
fn a_broken_record_has_a_page_and_a_page_makes_the_same_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.jsonl"), b"{\"id\": 1}\n{\"id\": \xff, <script>\n{\"id\": 3}\n").unwrap();
    let html = |from: &Path, line: &str, to: &Path| {
        let output = stepscope(&["export", "--line", line, "--html", to.to_str().unwrap()], &[from]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        std::fs::read_to_string(to).unwrap()
    };
    let first = html(&at("a.jsonl"), "2", &at("b.html"));
    assert_eq!(checked(&at("b.html"))[0], checked(&at("a.jsonl"))[1]);
    let again = html(&at("b.html"), "1", &at("c.html"));
    assert_eq!(again.replace("b.html, line 1", "a.jsonl, line 2"), first);
}

/// Writes an answer with a secret in every kind of place.
fn planted(folder: &Path) -> PathBuf {
    let nested = serde_json::json!({ "deep": format!("{{\"k\": \"{}\"}}", SECRETS[0].replace('s', "\\u0073")) });
    let mut record = serde_json::json!({
        "id": "planted",
        "question": format!("Who is {}?", SECRETS[1]),
        "doc_id": "d",
        "document": { "path": "doc.txt" },
        "answer": {
            "items": [{ "text": SECRETS[2], "citations": [{ "line_start": 1, "line_end": 1, "quote": "the key" }] }],
            "answer_found": true, "caveats": [SECRETS[3]], "confidence": 0.5,
        },
        "meta": { "raw_response": nested.to_string() },
    });
    record[SECRETS[4]] = Value::from(1);
    let path = folder.join(format!("runs {}.jsonl", SECRETS[1]));
    std::fs::write(&path, format!("{record}\n")).unwrap();
    std::fs::write(folder.join("doc.txt"), format!("first\nthe key {}\nlast\n", SECRETS[5])).unwrap();
    let journal = folder.join("notes.jsonl");
    let note = format!("ask {} about {}", SECRETS[1], SECRETS[0]);
    let line = serde_json::json!({ "id": "planted", "verdict": "fail", "note": note }).to_string();
    let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    add.args(["review", "add", "--reviewer", "ada", "--reviews"]).arg(&journal).arg(&path);
    let added = fed(&mut add, line.as_bytes());
    assert!(added.status.success(), "{}", said(&added));
    path
}

#[test]
fn nothing_private_leaves_unless_it_is_forced() {
    let folder = tempfile::tempdir().unwrap();
    let path = planted(folder.path());
    let (page, journal) = (folder.path().join("page.html"), folder.path().join("notes.jsonl"));
    let export = |more: &[&str]| {
        let arguments =
            ["export", "--id", "planted", "--html", page.to_str().unwrap(), "--reviews", journal.to_str().unwrap()];
        stepscope(&[&arguments, more].concat(), &[&path])
    };
    let refused = export(&[]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(!page.exists());
    let list = said(&refused);
    for kind in [
        "a key or token",
        "an e-mail address",
        "a home folder",
        "a bearer token",
        "reviews:",
        "document, line 2:",
        "file name:",
    ] {
        assert!(list.contains(kind), "{kind} is not in {list}");
    }
    assert!(SECRETS.iter().all(|secret| !list.contains(&secret[..4])), "no character of them is told: {list}");
    assert_eq!(export(&["--redact", "email"]).status.code(), Some(1), "the rest is still there");
    let written = export(&["--redact", "all"]);
    assert_eq!(written.status.code(), Some(0), "{}", said(&written));
    let text = std::fs::read_to_string(&page).unwrap();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret}");
    }
    for tail in ["4f9aQ2xT7bLmN8", "lovelace", "9f8e7d6c5b4a", "IOSFODNN7"] {
        assert!(!text.contains(tail), "{tail}");
    }
    assert!(text.contains("[redacted:email]") && text.contains("The record was changed before"));
    assert_eq!(checked(&page).len(), 1, "it is still a record");
    assert_eq!(export(&["--force"]).status.code(), Some(0));
    assert!(std::fs::read_to_string(&page).unwrap().contains(SECRETS[1]));
}

#[test]
fn verdicts_leave_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = planted(folder.path());
    let journal = folder.path().join("notes.jsonl");
    let run = |more: &[&str]| {
        let begin = ["review", "export", "--reviews", journal.to_str().unwrap()];
        stepscope(&[&begin, more].concat(), &[])
    };
    let failed = path.to_str().unwrap();
    for form in [&["--format", "jsonl"][..], &["--format", "csv"], &["--format", "markdown"], &["--failed", failed]] {
        let refused = run(form);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0), "{form:?}: {}", said(&refused));
        let list = said(&refused);
        assert!(list.contains("a key or token") && !list.contains("sk-p"), "{list}");
        let clean = run(&[form, &["--redact", "all"]].concat());
        assert_eq!(clean.status.code(), Some(0), "{}", said(&clean));
        let clean = String::from_utf8(clean.stdout).unwrap();
        assert!(SECRETS.iter().all(|secret| !clean.contains(secret)), "{clean}");
        // Markdown escapes what it shows.
        assert!(clean.replace('\\', "").contains("[redacted:key]"), "{clean}");
        let forced = run(&[form, &["--force"]].concat());
        let forced = String::from_utf8(forced.stdout).unwrap();
        assert!(forced.contains("4f9aQ2xT7bLmN8pR3vWz"), "{forced}");
    }
    let note = run(&["--redact", "key"]);
    assert!(
        note.status.success() && String::from_utf8(note.stdout).unwrap().contains(SECRETS[1]),
        "who it is may stay"
    );
}

#[test]
fn what_is_shown_may_be_redacted_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = planted(folder.path());
    let run = |more: &[&str]| {
        let shown = stepscope(&[&["show", "--id", "planted"], more].concat(), &[&path]);
        assert_eq!(shown.status.code(), Some(0), "{}", said(&shown));
        String::from_utf8(shown.stdout).unwrap()
    };
    let whole = run(&[]);
    assert!([1, 2, 3].iter().all(|n| whole.contains(SECRETS[*n])), "{whole}");
    let clean = run(&["--redact", "all"]);
    assert!(SECRETS.iter().all(|secret| !clean.contains(secret)), "{clean}");
    assert!(clean.contains("Who is [redacted:email]?") && clean.contains("[redacted:email]:1"), "{clean}");
}

#[test]
fn what_is_hidden_is_not_in_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let at = page.to_str().unwrap();
    let id = "a4aeb5c252e2309a90c2202469ba655b";
    let hide = ["export", "--id", id, "--html", at, "--hide", "gold,triage,confidence"];
    assert!(stepscope(&hide, &[&sample("by_hand.jsonl")]).status.success());
    let text = std::fs::read_to_string(&page).unwrap();
    for word in ["gold_answer", "expected 29", "Fix: model output", "0.62"] {
        assert!(!text.contains(word), "{word}");
    }
    let id = "85dd93eaf5d62d39";
    assert!(
        stepscope(&["export", "--id", id, "--html", at, "--no-passages"], &[&sample("policy.jsonl")]).status.success()
    );
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("Without the passages of the document") && !text.contains("Policyholder: Ilse"), "{text}");
    let run = ["export", "--line", "2", "--html", at, "--no-passages"];
    assert!(stepscope(&run, &[&sample("word_problems.jsonl")]).status.success());
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("redacted:passage") && !text.contains("# Inputs (JSON)"), "{text}");
}

#[test]
fn a_page_judges_a_run_as_the_table_does() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages");
    let calls = folder.path().join("calls.jsonl");
    std::fs::write(
        &calls,
        "{\"prompt\": \"2 + 2?\", \"completion\": \"4\", \"reward\": 1, \"success\": true}\n{\"a\": 1}\n",
    )
    .unwrap();
    let mut samples = ["word_problems.jsonl", "by_hand.jsonl", "notice.jsonl"].map(sample).to_vec();
    samples.push(calls);
    let samples: Vec<&Path> = samples.iter().map(PathBuf::as_path).collect();
    assert!(stepscope(&["export", "--all", pages.to_str().unwrap(), "--force"], &samples).status.success());
    let index = std::fs::read_to_string(pages.join("index.html")).unwrap();
    assert!(index.contains("Scored 1.0") && index.contains("Not a record"));
    let outcomes = [
        ("✓ correct", "correct:true"),
        ("✗ wrong", "correct:false"),
        ("⊘ failed", "kind:error,broken correct:unknown"),
        ("not graded", "correct:unknown -kind:error,broken"),
    ];
    for (word, filter) in outcomes {
        let found = stepscope(&["check", "--filter", filter, "--format", "jsonl"], &samples);
        let count = String::from_utf8(found.stdout).unwrap().lines().count();
        assert!(index.contains(&format!("{word}</th><td>{count}</td>")), "{word}: {count}");
    }
}

#[test]
fn a_page_takes_the_place_of_a_page_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (page, other) = (folder.path().join("a.html"), folder.path().join("b.html"));
    let to = |path: &Path, step: &str| {
        let arguments = ["export", "--line", "2", "--step", step, "--html", path.to_str().unwrap()];
        stepscope(&arguments, &[&sample("by_hand.jsonl")])
    };
    for step in ["3", "4"] {
        let output = to(&page, step);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.trim_end().ends_with(&format!("a.html#step-{step}")), "{told}");
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains(&format!("<details id=\"step-{step}\" open>")));
    }
    std::fs::write(&other, "<!doctype html>\n<p>mine").unwrap();
    let refused = to(&other, "1");
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("nothing is overwritten"), "{}", said(&refused));
    assert_eq!(to(&page, "9").status.code(), Some(2), "no such step");
}

#[test]
fn a_picture_is_made_of_a_record_whatever_its_id_is() {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("ids.jsonl");
    let record = |id: &str| {
        format!(
            r#"{{"id": {id}, "question": "q", "gold_num": 3, "pred_num": 3, "mode": "baseline", "state": {{"final_answer": "3"}}}}"#
        )
    };
    std::fs::write(&records, [record("7.0"), record(r#""n\nl""#)].join("\n")).unwrap();
    for line in ["1", "2"] {
        let picture = folder.path().join(format!("{line}.svg"));
        let output = stepscope(&["export", "--line", line, "--svg", picture.to_str().unwrap()], &[&records]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(std::fs::read_to_string(&picture).unwrap().starts_with("<svg "));
    }
}

#[test]
fn a_folder_of_pages_has_an_index_that_leads_to_each() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("pages");
    for _ in 0..2 {
        let output = stepscope(&["export", "--all", to.to_str().unwrap()], &[&sample("by_hand.jsonl")]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    let index = std::fs::read_to_string(to.join("index.html")).unwrap();
    let links: Vec<&str> = index.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let records = checked(&sample("by_hand.jsonl"));
    assert_eq!(links.len(), records.len());
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), records.len() + 1);
    for (link, record) in links.iter().zip(&records) {
        assert_eq!(checked(&to.join(link)), std::slice::from_ref(record), "{link}");
    }
    let output = stepscope(&["export", "--all", to.to_str().unwrap()], &[&sample("notice.jsonl")]);
    let expected = format!("also holds pages of another export: {}", records.len());
    assert!(said(&output).contains(&expected), "{}", said(&output));
    let refused = folder.path().join("refused");
    let planted = planted(folder.path());
    let output = stepscope(&["export", "--all", refused.to_str().unwrap()], &[&planted]);
    assert_eq!((output.status.code(), refused.exists()), (Some(1), false), "{}", said(&output));
    // Whose index it is is looked at before any page is written.
    std::fs::create_dir(&refused).unwrap();
    std::fs::write(refused.join("index.html"), "<!doctype html>\n<p>mine").unwrap();
    let output = stepscope(&["export", "--all", refused.to_str().unwrap()], &[&sample("by_hand.jsonl")]);
    assert!(said(&output).contains("index.html: the file exists"), "{}", said(&output));
    assert_eq!((output.status.code(), std::fs::read_dir(&refused).unwrap().count()), (Some(2), 1));
}

#[test]
fn markdown_for_an_issue_means_nothing_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let nasty = "@team #12 [x](http://y) <img src=z> | `a` ``` **b** &amp; https://w\n\n```\n# title";
    let record = serde_json::json!({ "id": nasty, "question": nasty, "mode": "procedural", "state": { nasty: nasty }, "pred_answer": nasty });
    std::fs::write(&path, record.to_string()).unwrap();
    let output = stepscope(&["export", "--md", "-", "--force"], &[&path]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("<!-- stepscope -->\n### "), "{text}");
    // What is in a fence is inert; the rest holds no sign of the record.
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if ticks.len() >= open.len() && line.trim_matches('`').is_empty() => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                for bad in ["@team", " #12", "](", "<img", "http:", "**b", "`"] {
                    assert!(!line.contains(bad), "{bad} in {line}");
                }
                // Inside a line the sign of a heading is none.
                assert!(!line.trim_start().starts_with("# "), "{line}");
            }
            _ => {}
        }
    }
    assert!(fence.is_none());
}

#[test]
fn what_a_page_is_of_is_told_where_nobody_chose() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, to) = (sample("word_problems.jsonl"), folder.path().join("a.md"));
    let to = to.to_str().unwrap();
    let output = stepscope(&["export", "--md", to], &[&runs]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("word_problems.jsonl:1; --id ID or --line N chooses another"), "{}", said(&output));
    assert!(said(&output).contains("took the first of "), "{}", said(&output));
    let chosen = stepscope(&["export", "--line", "1", "--md", to], &[&runs]);
    assert!(chosen.stderr.is_empty(), "{}", said(&chosen));
    let copy = folder.path().join("runs.jsonl");
    let record = r#"{"id": "x", "question": "?", "state": {"final_answer": "1"}}"#;
    std::fs::write(&copy, format!("{record}\n{{\"id\": \"y\"}}\n{record}\n")).unwrap();
    let twice = stepscope(&["export", "--id", "x", "--md", to], &[&copy]);
    let words = "took the first of 2 records with this id, ";
    assert!(said(&twice).contains(words) && said(&twice).contains("runs.jsonl:3"), "{}", said(&twice));
    let line = stepscope(&["export", "--line", "1", "--md", to], &[&runs, &copy]);
    assert!(said(&line).contains("took the first of 2 records on this line, "), "{}", said(&line));
    std::fs::copy(&runs, &copy).unwrap();
    for option in ["--html", "--md", "--svg", "--cast"] {
        let output = stepscope(&["export", option, copy.to_str().unwrap()], &[&copy]);
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("is the input file; choose another for {option}");
        assert!(said(&output).contains(&expected), "{}", said(&output));
    }
}

#[test]
fn markdown_in_ascii_is_inert_too() {
    let folder = tempfile::tempdir().unwrap();
    let (path, to) = (folder.path().join("a.jsonl"), folder.path().join("a.md"));
    // The twins of these signs are those of Markdown.
    let nasty = "⟨b⟩ │ ✗ ▁ ´x´ “é”";
    let question = format!("{nasty}\n{nasty}");
    let record = serde_json::json!({ "id": nasty, "question": question, "mode": "procedural", "state": { nasty: nasty }, "pred_answer": nasty });
    std::fs::write(&path, record.to_string()).unwrap();
    let output = stepscope(&["export", "--ascii", "--md", to.to_str().unwrap()], &[&path]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = std::fs::read_to_string(&to).unwrap();
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains("\n<b> | x _ ") && text.contains("&#60;b> &#124; x &#95; "), "{text}");
    let plain = stepscope(&["export", "--ascii", "--md", "-"], &[&path]);
    assert_eq!(plain.stdout, text.into_bytes());
}

#[test]
fn a_pane_alone_is_as_high_as_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("a.svg");
    let export = |record: &[&str], file: &str, pane: &str| {
        let fixed = ["export", "--svg", to.to_str().unwrap(), "--pane", pane];
        let output = stepscope(&[&fixed[..], record].concat(), &[&sample(file)]);
        let picture = std::fs::read_to_string(&to).unwrap_or_default();
        (output.status.code(), picture, said(&output))
    };
    let tower = ["--id", "a4aeb5c252e2309a90c2202469ba655b", "--step", "3"];
    let height = |picture: &str| -> u32 {
        picture.split(" height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    for (pane, shown) in [
        ("steps", "Steps"),
        ("state", "Global state"),
        ("Findings", "Findings"),
        ("prompt", "Reply and prompt"),
        ("question", "Question"),
    ] {
        let (code, picture, why) = export(&tower, "by_hand.jsonl", pane);
        assert_eq!(code, Some(0), "{pane}: {why}");
        assert!(picture.contains(shown) && !picture.contains("by_hand.jsonl</text"), "{pane}: no header\n{picture}");
        let others = ["Steps", "Global state", "Findings", "Question"].into_iter().filter(|other| *other != shown);
        others.for_each(|other| assert!(!picture.contains(&format!(">{other}<")), "{pane} shows {other}"));
    }
    let (_, steps, _) = export(&tower, "by_hand.jsonl", "steps");
    let (_, question, _) = export(&tower, "by_hand.jsonl", "question");
    assert!(height(&question) < height(&steps) && height(&steps) < 300, "four steps fill no screen");
    let answer = ["--id", "70875e43349e69af"];
    let (code, picture, why) = export(&answer, "policy.jsonl", "citation");
    assert!(code == Some(0) && picture.contains("Citation") && !picture.contains("Checks"), "{why}");
    for (record, file, pane, told) in [
        (&tower[..], "by_hand.jsonl", "fidnings", "(available: steps, global state, findings, step,"),
        (&tower[..], "by_hand.jsonl", "fidnings", "Did you mean \"findings\"?"),
        (&answer[..], "policy.jsonl", "steps", "(available: answer, document, citation, checks, question)"),
    ] {
        std::fs::remove_file(&to).unwrap_or_default();
        let (code, picture, why) = export(record, file, pane);
        assert!(code == Some(2) && picture.is_empty() && why.contains(told), "{why}");
    }
    let alone = stepscope(&["export", "--pane", "steps", "--md", "-"], &[&sample("by_hand.jsonl")]);
    assert!(alone.status.code() == Some(2) && said(&alone).contains("--pane is for pictures"));
}

#[test]
fn a_picture_shows_the_record_and_nothing_private() {
    let folder = tempfile::tempdir().unwrap();
    let (svg, cast) = (folder.path().join("a.svg"), folder.path().join("a.cast"));
    let tower = "a4aeb5c252e2309a90c2202469ba655b";
    let arguments =
        ["export", "--id", tower, "--step", "3", "--svg", svg.to_str().unwrap(), "--cast", cast.to_str().unwrap()];
    for _ in 0..2 {
        let output = stepscope(&arguments, &[&sample("by_hand.jsonl")]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.contains("by_hand.jsonl") && picture.contains("step 3/4"), "{picture}");
    let recording = std::fs::read_to_string(&cast).unwrap();
    let events: Vec<Value> = recording.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let chapters: Vec<&str> =
        events.iter().filter(|event| event[1] == "m").map(|event| event[2].as_str().unwrap()).collect();
    assert_eq!(chapters, ["step 1", "step 2", "step 3", "step 4"]);
    let keys = ["export", "--id", tower, "--svg", svg.to_str().unwrap(), "--size", "80x24", "--keys", "J"];
    assert!(stepscope(&keys, &[&sample("by_hand.jsonl")]).status.success());
    assert!(std::fs::read_to_string(&svg).unwrap().contains("&quot;"), "the JSON");

    let planted = planted(folder.path());
    let to = folder.path().join("b.svg");
    let arguments = ["export", "--id", "planted", "--svg", to.to_str().unwrap()];
    assert_eq!(stepscope(&arguments, &[&planted]).status.code(), Some(1));
    assert!(!to.exists());
    let redacted = stepscope(&[&arguments[..], &["--redact", "all"]].concat(), &[&planted]);
    assert_eq!(redacted.status.code(), Some(0), "{}", said(&redacted));
    let picture = std::fs::read_to_string(&to).unwrap();
    assert!(picture.contains("redacted:email") && SECRETS.iter().all(|secret| !picture.contains(secret)), "{picture}");
}

/// Writes a review log with three verdicts of two people and a note, and the page of the record with them.
fn reviewed_page(folder: &Path, more: &[&str]) -> PathBuf {
    let (runs, page) = (folder.join("runs.jsonl"), folder.join("run.html"));
    let text = std::fs::read_to_string(sample("by_hand.jsonl")).unwrap();
    std::fs::write(&runs, text.lines().nth(1).unwrap().to_owned() + "\n").unwrap();
    let id = "a4aeb5c252e2309a90c2202469ba655b";
    let say = |reviewer: &str, line: Value| {
        let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
        add.args(["review", "add", "--reviewer", reviewer]).arg(&runs);
        assert!(fed(&mut add, line.to_string().as_bytes()).status.success());
    };
    say(
        "ada",
        serde_json::json!({ "id": id, "verdict": "fail", "labels": ["unevaluated"], "first_bad_step": 4, "correction": 29, "gold_status": "ok", "note": "it guesses" }),
    );
    let output = stepscope(&[&["export", "--html", page.to_str().unwrap()], more].concat(), &[&runs]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    page
}

#[test]
fn a_page_that_is_open_is_watched_as_the_file_that_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let page = reviewed_page(folder.path(), &[]);
    let begun = begin(&Input::Named(page.clone()), &Arc::default(), &ColumnMap::default());
    let Ok(Begun::Source(source)) = begun else { panic!("{begun:?}") };
    assert_eq!(Some(source.stat), Stat::at(&page), "else it counts as changed at once");
    assert!(source.decoded && source.blob.len().unwrap() < source.stat.len);
}

#[test]
fn what_people_said_comes_back_with_the_page_and_is_written_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let page = reviewed_page(folder.path(), &[]);
    let reviewed = |page: &Path| {
        let output = stepscope(&["check", "--reviewed", "--fail-on", "never"], &[page]);
        (String::from_utf8(output.stdout.clone()).unwrap(), said(&output))
    };
    let (told, beside) = reviewed(&page);
    assert!(told.contains("reviewed: 1 fail") && told.contains("it guesses") && told.contains("ada (page)"), "{told}");
    assert!(beside.contains("run.html (carried by the page)") && !beside.contains("no reviews yet"), "{beside}");
    assert!(!folder.path().join("run.html.reviews.jsonl").exists());
    for (command, words) in [("list", "fail"), ("stats", "0 of 1 records unreviewed"), ("export", "ada (page)")] {
        let output = stepscope(&["review", command], &[&page]);
        let out = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(out.contains(words) && said(&output).contains("carried by the page"), "{out} {}", said(&output));
    }
    let compared = stepscope(&["compare", "--format", "jsonl"], &[&page, &page]);
    assert!(said(&compared).contains("run.html (carried by the page)"), "{}", said(&compared));
    // Markdown says what the page says.
    let output = stepscope(&["export", "--md", "-"], &[&page]);
    let markdown = String::from_utf8(output.stdout).unwrap();
    for words in ["- fail by <code>ada", "Labels: ", "First wrong step: 4", "Expected answer: correct", "it guesses"] {
        assert!(markdown.contains(words), "{words}: {markdown}");
    }
    // The page of a page says the same, and names nobody twice.
    let again = folder.path().join("again.html");
    let output = stepscope(&["export", "--html", again.to_str().unwrap()], &[&page]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (told, _) = reviewed(&again);
    assert!(
        told.contains("reviewed: 1 fail") && told.contains("ada (page)") && !told.contains("(page) (page)"),
        "{told}"
    );
    // Somebody else's verdict on the page counts next to it; their log has theirs alone.
    let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    add.args(["review", "add", "--reviewer", "ada"]).arg(&page);
    let own = serde_json::json!({ "id": "a4aeb5c252e2309a90c2202469ba655b", "verdict": "pass" }).to_string();
    assert!(fed(&mut add, own.as_bytes()).status.success());
    assert!(reviewed(&page).0.contains("reviewed: 1 disputed"), "{:?}", reviewed(&page));
    let log = std::fs::read_to_string(folder.path().join("run.html.reviews.jsonl")).unwrap();
    assert!(log.lines().count() == 1 && !log.contains("(page)"), "{log}");
    // A page without them says nothing.
    let output =
        stepscope(&["export", "--no-reviews", "--html", page.to_str().unwrap()], &[&folder.path().join("runs.jsonl")]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    std::fs::remove_file(folder.path().join("run.html.reviews.jsonl")).unwrap();
    assert!(reviewed(&page).0.contains("reviewed: 1 open"), "{:?}", reviewed(&page));
}

#[test]
fn what_is_hidden_is_not_told_by_a_correction() {
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(reviewed_page(folder.path(), &["--hide", "gold"])).unwrap();
    assert!(page.contains("it guesses") && !page.contains("\"correction\"") && !page.contains("\"gold_status\""));
}

#[test]
fn a_page_that_lies_about_reviews_is_bounded_and_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let page = reviewed_page(folder.path(), &[]);
    let text = std::fs::read_to_string(&page).unwrap();
    let (head, rest) = text.split_once("\"reviews\":[").unwrap();
    let (_, tail) = rest.split_once("]}</script>").unwrap();
    let entry =
        |more: &str| format!("{{\"reviewer\":\"e\\u001b[31mve\",\"event\":\"verdict\",\"verdict\":\"fail\"{more}}}");
    let long = format!(",\"note\":\"{}\"", "x".repeat(70_000));
    for (entries, told) in [
        (vec![entry("")], "1 fail"),
        (
            vec![entry(
                ",\"note\":\"a\\u009b2J\\u202e</script >\",\"first_bad_step\":-1,\"labels\":[1,null,{}],\"correction\":\"{\"",
            )],
            "1 fail",
        ),
        (vec![entry(&long)], "1 fail"),
        ((0..5_000).map(|n| entry(&format!(",\"note\":\"{n}\""))).collect(), "1 fail"),
        (
            vec![
                "1".into(),
                "null".into(),
                "{}".into(),
                "{\"reviewer\":\"x\",\"event\":\"undo\"}".into(),
                "{\"reviewer\":\"x\",\"event\":\"verdict\",\"verdict\":\"maybe\"}".into(),
            ],
            "1 open",
        ),
        (vec![entry(",\"stale\":true")], "1 stale"),
    ] {
        std::fs::write(&page, format!("{head}\"reviews\":[{}]}}</script>{tail}", entries.join(","))).unwrap();
        let output = stepscope(&["check", "--reviewed", "--fail-on", "never"], &[&page]);
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(output.status.success() && text.contains(&format!("reviewed: {told}")), "{text} {}", said(&output));
        assert!(text.chars().all(|c| c == '\n' || !stepscope_base::text::is_hidden(c)), "{text:?}");
        assert!(output.stdout.len() < 100_000, "{} bytes", output.stdout.len());
    }
}

#[test]
fn what_is_left_out_of_an_answer_is_no_fault_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("page.html");
    let at = at.to_str().unwrap();
    let page = |more: &[&str]| {
        let command = ["export", "--id", "580d5e3062897422", "--html", at, "--force"];
        let done = stepscope(&[&command[..], more].concat(), &[&sample("policy.jsonl")]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::read_to_string(at).unwrap()
    };
    assert!(page(&[]).contains("1 of 1 items grounded"));
    for hidden in ["confidence", "triage", "gold,triage,confidence,model"] {
        let page = page(&["--hide", hidden]);
        let body = &page[page.find("<body>").unwrap()..];
        for wrong in ["missing_field", "has no confidence", "reject", "ship", "Route"] {
            assert!(!body.contains(wrong), "{hidden}: {wrong}");
        }
    }
    let page = page(&["--no-passages"]);
    assert!(page.contains("ship") && !page.contains("document not found"));
}

#[test]
fn what_is_hidden_is_not_in_pictures_either() {
    let folder = tempfile::tempdir().unwrap();
    let [svg, cast] = ["p.svg", "p.cast"].map(|name| folder.path().join(name));
    let draw = |hide: &[&str]| {
        let [svg, cast] = [&svg, &cast].map(|path| path.to_str().unwrap());
        let command = ["export", "--line", "2", "--svg", svg, "--cast", cast, "--force"];
        let done = stepscope(&[&command[..], hide].concat(), &[&sample("word_problems.jsonl")]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        [svg, cast].map(|path| std::fs::read_to_string(path).unwrap()).concat()
    };
    assert!(draw(&[]).contains("model output"));
    let hidden = draw(&["--hide", "gold,triage,model,confidence"]);
    for told in ["Fix:", "model output", "as expected", "step to fix", "smollm2"] {
        assert!(!hidden.contains(told), "{told}");
    }
}

/// What two pages of runs that differ in the expected answer alone say.
#[test]
fn a_page_without_the_expected_answer_is_the_same_whatever_that_is() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(sample("word_problems.jsonl")).unwrap();
    let run: serde_json::Value = serde_json::from_str(text.lines().nth(13).unwrap()).unwrap();
    let page = |gold: i64| {
        let mut run = run.clone();
        run["gold_answer"] = serde_json::Value::from(format!("#### {gold}"));
        run["gold_num"] = serde_json::Value::from(gold);
        run["correct"] = serde_json::Value::from(run["pred_num"].as_f64() == Some(gold as f64));
        let (source, page) = (folder.path().join("runs.jsonl"), folder.path().join("page.html"));
        std::fs::write(&source, format!("{run}\n")).unwrap();
        let command = ["export", "--line", "1", "--hide", "gold", "--force", "--html", page.to_str().unwrap()];
        let done = stepscope(&command, &[&source]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::read_to_string(&page).unwrap()
    };
    let right = run["pred_num"].as_f64().unwrap() as i64;
    assert_eq!(page(right), page(right + 7));
}

#[test]
fn what_cannot_be_written_whole_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    // A limit on the size of files stands for a full disk.
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" export --line 1 --force --html \"$1\" \"$2\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_stepscope")]).arg(&page).arg(sample("word_problems.jsonl"));
    let done = shell.output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(stepscope(&["export", "--redact", "name="], &[&sample("word_problems.jsonl")]).status.code() == Some(2));
}
