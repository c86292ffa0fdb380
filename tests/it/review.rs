//! Reviews and comparisons as a shell runs them: in, out, agreement, expectations, five cells.

use std::path::PathBuf;
use std::process::Command;

use crate::support::fed::fed;
use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

/// Result of a command.
struct Ran {
    code: i32,
    out: String,
    said: String,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a command in the folder.
    fn run(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
        let command =
            command.args(arguments).current_dir(self.0.path()).env("STEPSCOPE_REVIEWER", "ada").env("TERM", "xterm");
        let output = fed(command, input);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap(), out: text(output.stdout), said: text(output.stderr) }
    }

    /// Runs a command that must be clean.
    fn ok(&self, arguments: &[&str], input: &str) -> String {
        let ran = self.run(arguments, input);
        assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.out, ran.said);
        ran.out
    }

    /// Returns the JSON lines of a command that must be clean.
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        self.ok(arguments, "").lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Formats a run of one question, as users save it.
fn run(id: usize, answer: f64, gold: f64) -> String {
    let (correct, question) = ((answer - gold).abs() < 1e-6, format!("What is question {id}?"));
    json!({
        "id": format!("r{id}"), "row_index": id, "question": question, "gold_answer": format!("x\n#### {gold}"), "gold_num": gold,
        "status": "ok", "mode": "baseline", "state": {"final_answer": format!("{answer}"), "final_answer_numerical": answer, "confidence": 0.9},
        "pred_answer": format!("{answer}"), "pred_num": answer, "correct": correct, "raw": "x"
    })
    .to_string()
}

fn error(id: usize) -> String {
    json!({"id": format!("r{id}"), "row_index": id, "question": format!("What is question {id}?"), "gold_num": 5.0,
        "procedure": null, "status": "error", "error_type": "ValueError", "error": "x", "timestamp_utc": "t"})
    .to_string()
}

/// Formats 275 runs: 232 right, 42 wrong (ids r0 to r41), and the last ended in an error.
fn runs() -> String {
    let mut lines: Vec<String> = (0..274).map(|id| run(id, if id < 42 { 4.0 } else { 5.0 }, 5.0)).collect();
    lines.push(error(274));
    lines.join("\n") + "\n"
}

fn verdict(id: usize, verdict: &str, more: &Value) -> String {
    let mut line = json!({"id": format!("r{id}"), "verdict": verdict});
    line.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    line.to_string() + "\n"
}

/// Formats verdicts on every wrong run: 20 to fix in the step run, 15 in the procedure, 7 with a wrong expected answer.
fn verdicts() -> String {
    let of = |id| match id {
        0..20 => json!({"labels": ["arithmetic_slip"], "fix_target": "step_run", "first_bad_step": 2}),
        20..35 => json!({"labels": ["wrong_plan"], "fix_target": "procedure", "note": "missed a quantity"}),
        _ => json!({"labels": ["wrong_gold"], "fix_target": "gold", "gold_status": "wrong"}),
    };
    (0..42).map(|id| verdict(id, "fail", &of(id))).collect()
}

#[test]
fn forty_two_wrong_runs_are_judged_counted_and_run_again() {
    let folder = Folder::new();
    folder.write("runs.jsonl", runs());
    let saved = folder.ok(&["review", "add", "runs.jsonl"], &verdicts());
    let expected: Vec<String> = (0..42).map(|id| format!("saved r{id}")).collect();
    assert_eq!(saved.lines().collect::<Vec<_>>(), expected);
    // The journal lies beside the records and is none of them.
    let checked = folder.run(&["check", "."], "");
    assert!(checked.out.lines().last().unwrap().starts_with("275 records, "), "{}", checked.out);
    assert!(
        checked.out.ends_with("; 1 other file does not begin with records\n") && checked.said.is_empty(),
        "{}",
        checked.out
    );
    assert!(folder.run(&["check", "runs.jsonl.reviews.jsonl"], "").said.contains("this is a review log"));

    let event: Value = serde_json::from_str(folder.text("runs.jsonl.reviews.jsonl").lines().next().unwrap()).unwrap();
    let schema: Value = serde_json::from_str(&folder.ok(&["schema", "review"], "")).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&event), "{event}");
    assert_eq!(event["item"], json!({"dataset": "runs.jsonl", "id": "r0", "row_index": 0}));
    assert_eq!((&event["reviewer"]["id"], &event["seen"]["answer"]), (&json!("ada"), &json!("4")));
    assert_eq!((&event["v"], &event["tool_version"]), (&json!(1), &json!(env!("CARGO_PKG_VERSION"))));

    let stats = &folder.json(&["review", "stats", "runs.jsonl", "--format", "jsonl"])[0];
    assert_eq!((&stats["outcomes"]["fail"], &stats["gold"]["wrong"]), (&json!(42), &json!(7)));
    let ids = |arguments: &[&str]| {
        folder.ok(&[&["review", "list", "runs.jsonl", "--ids"], arguments].concat(), "").lines().count()
    };
    assert_eq!(
        (ids(&[]), ids(&["--disputed-gold"]), ids(&["--label", "wrong_plan"]), ids(&["--fix", "step_run"])),
        (42, 7, 15, 20)
    );
    let again = folder.ok(&["review", "list", "runs.jsonl", "--ids", "--regenerate"], "");
    assert_eq!((again.lines().count(), again.lines().last()), (36, Some("r274")), "also what ended in an error");

    let failed = folder.ok(&["review", "export", "--failed", "runs.jsonl"], "");
    assert!(failed.lines().eq(runs().lines().take(42)) && failed.ends_with('\n'), "byte for byte");
    let some = folder.ok(&["review", "export", "--failed", "runs.jsonl", "--label", "wrong_gold"], "");
    assert_eq!(some.lines().count(), 7);
}

#[test]
fn a_label_has_one_name_for_people_and_its_word_for_programs() {
    let folder = Folder::new();
    folder.write("runs.jsonl", runs());
    folder.ok(&["review", "add", "runs.jsonl"], &verdicts());
    folder.ok(&["review", "add", "runs.jsonl", "--reviewer", "bob"], &verdicts());
    // No label set was written down.
    assert!(!folder.text("runs.jsonl.reviews.jsonl").contains("label_set"));
    let command = |name: &str, more: &[&str]| folder.ok(&[&["review", name, "runs.jsonl"], more].concat(), "");
    let markdown = command("export", &["--format", "markdown"]).replace('\\', "");
    for people in [command("stats", &[]), command("agreement", &[]), command("list", &[]), markdown] {
        assert!(people.contains("arithmetic slip") && people.contains("expected answer is wrong"), "{people}");
        assert!(!people.contains("arithmetic_slip") && !people.contains("wrong_gold"), "{people}");
    }
    let page = folder.ok(&["export", "runs.jsonl", "--line", "1", "--md", "-"], "");
    assert!(page.contains("arithmetic slip") && !page.contains("arithmetic_slip"), "{page}");
    let jsonl = ["--format", "jsonl"];
    for programs in [
        command("stats", &jsonl),
        command("agreement", &jsonl),
        command("list", &jsonl),
        command("export", &jsonl),
        command("export", &["--format", "csv"]),
    ] {
        assert!(programs.contains("arithmetic_slip") && programs.contains("wrong_gold"), "{programs}");
        assert!(!programs.contains("arithmetic slip"), "{programs}");
    }
    assert_eq!(command("list", &["--ids", "--label", "arithmetic slip"]).lines().count(), 20, "it may be called so");
}

#[test]
fn lists_name_questions_and_take_a_filter() {
    let folder = Folder::new();
    folder.write("runs.jsonl", runs());
    folder.ok(&["review", "add", "runs.jsonl"], &verdicts());
    let list = |more: &[&str]| folder.ok(&[&["review", "list", "runs.jsonl"], more].concat(), "");
    let all = list(&[]);
    assert!(all.starts_with("r0   fail      What is question 0?   arithmetic slip · ada fail"), "{all}");
    let errors = list(&["--regenerate"]);
    assert!(errors.contains("r274  error     What is question 274?  the run ended"), "{errors}");
    // Without the records nobody knows what was asked.
    let alone = folder.ok(&["review", "list", "--reviews", "runs.jsonl.reviews.jsonl"], "");
    assert!(alone.starts_with("r0   fail      arithmetic slip · ada fail"), "{alone}");

    // The same for programs, with all that was said.
    let objects = folder.json(&["review", "list", "runs.jsonl", "--regenerate", "--format", "jsonl"]);
    let (first, last) = (&objects[0], objects.last().unwrap());
    assert_eq!(objects.len(), errors.lines().count());
    assert_eq!((&first["question"], &first["events"][0]["verdict"]), (&json!("What is question 0?"), &json!("fail")));
    assert_eq!((&last["id"], &last["question"]), (&json!("r274"), &json!("What is question 274?")));
    assert_eq!((&last["outcome"], &last["events"]), (&json!("error"), &Value::Null));

    let ids = |filter: &str| list(&["--ids", "--filter", filter]).lines().count();
    assert_eq!((ids("correct:false"), ids("correct:true"), ids("label:wrong_plan"), ids("id:r1")), (42, 0, 15, 11));
    assert_eq!((ids("label:wrong_plan id:r2"), ids("-verdict:fail"), ids("reviewed:true")), (10, 275 - 42, 42));
    assert_eq!(list(&["--ids", "--regenerate", "--filter", "kind:error"]), "r274\n");
    for (arguments, words) in [
        (&["review", "list", "runs.jsonl", "--filter", "corect:true"][..], "Did you mean \"correct\"?"),
        (&["review", "list", "--reviews", "runs.jsonl.reviews.jsonl", "--filter", "correct:true"], "pass their file"),
        (&["show", "runs.jsonl", "--filter", "corect:true"], "--filter: unknown field \"corect\". Did you mean"),
        (&["show", "runs.jsonl", "--filter", "steps>900"], "no record fits --filter; 275 were read"),
        (&["compare", "runs.jsonl", "runs.jsonl", "--filter", "corect:true"], "--filter: unknown field \"corect\""),
    ] {
        let ran = folder.run(arguments, "");
        assert!(ran.code == 2 && ran.said.contains(words), "{arguments:?}: {}{}", ran.out, ran.said);
    }

    let shown = folder.run(&["show", "runs.jsonl", "--filter", "correct:true pred=5"], "");
    assert!(shown.out.starts_with("runs.jsonl:43  id r42"), "{}", shown.out);
    assert!(shown.said.contains("231 more records fit; select with --id or --line:\n"), "{}", shown.said);
    assert!(shown.said.contains("  runs.jsonl:44  What is question 43?\n"), "{}", shown.said);

    folder.write("b.jsonl", (0..275).map(|id| run(id, 5.0, 5.0) + "\n").collect::<String>());
    let compared = folder.ok(&["compare", "runs.jsonl", "b.jsonl", "--cell", "only_b", "--filter", "label:slip"], "");
    assert_eq!(compared.lines().filter(|line| line.contains("B only  ")).count(), 20 + 1, "{compared}");
    assert!(compared.lines().last().unwrap().starts_with("r19"), "{compared}");
    assert!(compared.contains("  What is question 7?  "), "{compared}");
    assert!(compared.starts_with("filter label:slip: 20 of 275 items\n"), "{compared}");
    let none = folder.run(&["compare", "runs.jsonl", "b.jsonl", "--filter", "id:nobody"], "");
    assert_eq!((none.code, none.out.as_str()), (2, ""), "{}", none.out);
    assert!(none.said.contains("no item fits --filter; 275 were compared"), "{}", none.said);
    folder.write("twice.jsonl", [run(1, 5.0, 5.0), run(1, 5.0, 5.0), run(2, 5.0, 5.0)].join("\n"));
    let twice = |filter: &str| folder.ok(&["compare", "twice.jsonl", "b.jsonl", "--filter", filter], "");
    assert!(twice("id:r1").contains("; duplicate ids: 1 in A, 0 in B"), "{}", twice("id:r1"));
    assert!(!twice("id:r2").contains("duplicate"), "{}", twice("id:r2"));
    let checked = |more: &[&str]| folder.run(&[&["check", "twice.jsonl"], more].concat(), "").out;
    assert!(checked(&[]).contains("repeats an id") && !checked(&["--filter", "id:r2"]).contains("repeats an id"));
}

#[test]
fn a_mistyped_choice_is_no_empty_list() {
    let folder = Folder::new();
    folder.write("runs.jsonl", format!("{}\n", run(1, 4.0, 5.0)));
    let list = |more: &[&str]| folder.run(&[&["review", "list", "runs.jsonl", "--ids"], more].concat(), "");
    assert_eq!(list(&["--label", "arithmetic_slp"]).code, 0, "without reviews there is nothing to choose from");
    let fail = json!({"labels": ["arithmetic slip"], "fix_target": "step_run"});
    folder.ok(&["review", "add", "runs.jsonl"], &verdict(1, "fail", &fail));
    for more in [["--label", "arithmetic slip"], ["--fix", "model output"], ["--fix", "step_run"], ["--by", "ada"]] {
        let ran = list(&more);
        assert_eq!((ran.code, ran.out.as_str(), ran.said.as_str()), (0, "r1\n", ""), "{more:?}");
    }
    for (more, code, said) in [
        (["--label", "arithmetic_slp"], 2, "unknown label \"arithmetic_slp\" (use arithmetic_slip, incomplete, "),
        (["--label", "arithmetic_slp"], 2, "Did you mean \"arithmetic_slip\"?"),
        (
            ["--fix", "modle output"],
            2,
            "unknown place to fix \"modle output\" (use gold, none, procedure, step_run, unknown)",
        ),
        (["--by", "adda"], 0, "unknown reviewer \"adda\" (use ada). Did you mean \"ada\"?"),
    ] {
        let ran = list(&more);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{more:?}");
        assert!(ran.said.contains(said), "{more:?}: {}", ran.said);
    }
    let failed = ["review", "export", "--failed", "runs.jsonl", "--label", "slpi"];
    assert_eq!(folder.run(&failed, "").code, 2);
    assert_eq!(list(&["--label", "wrong_plan"]).said, "", "a label of the set that nobody gave");
}

#[test]
fn a_record_that_changed_shows_its_verdict_as_stale() {
    let folder = Folder::new();
    let one = run(1, 4.0, 5.0);
    folder.write("runs.jsonl", format!("{one}\n"));
    folder.ok(&["review", "add", "runs.jsonl"], &verdict(1, "fail", &json!({"labels": ["arithmetic slip"]})));
    let outcome = || folder.json(&["review", "export", "runs.jsonl"])[0]["outcome"].clone();
    assert_eq!(outcome(), "fail");
    let value: Value = serde_json::from_str(&one).unwrap();
    folder.write("runs.jsonl", format!("  {value:#}\n"));
    assert_eq!(outcome(), "fail", "blanks and order are no change");
    folder.write("runs.jsonl", format!("{}\n", one.replace("\"raw\":\"x\"", "\"raw\":\"y\"")));
    assert_eq!(outcome(), "stale");
    assert!(folder.ok(&["review", "list", "runs.jsonl"], "").contains("ada fail (out of date)"));
    assert_eq!(folder.ok(&["review", "export", "--failed", "runs.jsonl"], ""), "");
    // The file may have another name.
    folder.write("moved.jsonl", format!("{one}\n"));
    let moved = ["review", "export", "moved.jsonl", "--reviews", "runs.jsonl.reviews.jsonl"];
    assert_eq!(folder.json(&moved)[0]["outcome"], "fail");
}

#[test]
fn what_is_not_understood_is_not_saved_and_the_rest_is() {
    let folder = Folder::new();
    folder.write("runs.jsonl", format!("{}\n", run(1, 4.0, 5.0)));
    let lines = [
        r#"{"id": "r1", "verdict": "fail", "correction": "five"}"#,
        r#"{"id": "nobody", "verdict": "pass"}"#,
        r#"{"id": "r1", "verdict": "perhaps"}"#,
        r#"{"id": "r1"}"#,
        "",
        "what is this",
        r#"{"id": "r1", "verdict": "fail", "correction": 5.0}"#,
        r#"{"id": "r1", "verdict""#,
    ];
    let ran = folder.run(&["review", "add", "runs.jsonl"], &lines.join("\n"));
    assert_eq!((ran.code, ran.out.as_str()), (2, "saved r1\n"));
    let said: Vec<&str> = ran.said.lines().collect();
    for (said, expected) in said.iter().zip([
        "line 1 is not saved: the correction must be a number, as the answer is",
        "line 2 is not saved: no record has the id \"nobody\"",
        "line 3 is not saved: invalid verdict \"perhaps\" (use pass, fail, defer or skip)",
        "line 4 is not saved: this verdict lacks a verdict",
        "line 6 is not saved: it is not JSON: not JSON from here on",
        "line 8 is not saved: it is not JSON: the text ends in the middle of a value",
    ]) {
        assert_eq!(*said, format!("stepscope: {expected}"));
    }
    assert_eq!(said.len(), 6);
    let ran = folder.run(&["review", "add", "--reviews", "runs.jsonl"], &verdict(1, "pass", &json!({})));
    assert_eq!(ran.code, 2);
    assert!(ran.said.contains("runs.jsonl: it does not hold reviews and was not changed"), "{}", ran.said);
    assert_eq!(folder.text("runs.jsonl"), format!("{}\n", run(1, 4.0, 5.0)));
    assert_eq!(folder.run(&["review", "list"], "").code, 2);
    assert_eq!(folder.run(&["review", "list", "--reviews", "none/j"], "").code, 2);
    let none = folder.run(&["review", "list", "--ids", "--reviews", "none"], "");
    assert_eq!((none.code, none.out.as_str()), (0, ""));
    assert!(none.said.contains("none: no reviews yet"));
}

/// Formats a run of two steps, as evoproc records it.
fn procedural(id: usize) -> String {
    let name = |name: &str| json!([{"name": name, "description": name}]);
    json!({
        "id": format!("r{id}"), "question": "2 + 3?", "gold_num": 5.0, "status": "ok", "mode": "procedural",
        "procedure": {"NameDescription": "Add", "steps": [
            {"id": 1, "inputs": name("problem_text"), "stepDescription": "Add them", "output": name("sum")},
            {"id": 2, "inputs": name("sum"), "stepDescription": "State sum", "output": name("final_answer")}]},
        "state": {"problem_text": "2 + 3?", "sum": 6, "final_answer": "6", "final_answer_numerical": 6.0},
        "pred_answer": "6", "pred_num": 6.0, "correct": false
    })
    .to_string()
}

#[test]
fn verdicts_are_held_against_the_record_and_the_label_set() {
    let folder = Folder::new();
    let no_id =
        r#"{"question": "2 + 3?", "gold_num": 5.0, "state": {"final_answer": "5"}, "pred_num": 5.0, "raw": "x"}"#;
    folder.write("runs.jsonl", format!("{}\n{no_id}\n", procedural(1)));
    let refused = [
        (r#""labels": ["nonsense"]"#, "unknown label \"nonsense\" (use arithmetic_slip, unevaluated"),
        (r#""labels": "misread;nonsense""#, "unknown label \"nonsense\""),
        (r#""labels": 7"#, "labels must be a list"),
        (r#""first_bad_step": 99"#, "no step 99: this record has 2 steps"),
        (r#""first_bad_step": 3"#, "no step 3: this record has 2 steps"),
        (r#""first_bad_step": 0"#, "first_bad_step 0 is not a whole number of 1 or more"),
        (r#""first_bad_step": "one""#, "is not a whole number of 1 or more"),
        (r#""fix_target": "banana""#, "invalid fix_target \"banana\" (use step_run, procedure, gold"),
        (r#""variable": "nowhere""#, "this record has no variable \"nowhere\""),
        (r#""gold_status": "banana""#, "(use ok, suspect or wrong)"),
        (r#""correction": "five""#, "the correction must be a number"),
        (r#""lables": ["misread"]"#, "unknown member \"lables\". Did you mean \"labels\"?"),
        (r#""verdict": "pass", "labels": ["misread"]"#, "labels belong to the verdict fail, and this one is pass"),
    ];
    let line = |more: &str| {
        let verdict = if more.starts_with("\"verdict\"") { "" } else { "\"verdict\": \"fail\", " };
        format!("{{\"id\": \"r1\", {verdict}{more}}}")
    };
    let lines: Vec<String> = refused.iter().map(|(more, _)| line(more)).collect();
    let ran = folder.run(&["review", "add", "runs.jsonl"], &lines.join("\n"));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    for (n, ((_, words), said)) in refused.iter().zip(ran.said.lines()).enumerate() {
        assert!(
            said.starts_with(&format!("stepscope: line {} is not saved: ", n + 1)) && said.contains(words),
            "{said}"
        );
    }
    let good = json!({"labels": ["arithmetic slip", "misread"], "first_bad_step": 2, "fix_target": "step_run",
        "variable": "sum", "gold_status": "ok", "correction": 5});
    folder.ok(&["review", "add", "runs.jsonl"], &verdict(1, "fail", &good));
    let event: Value = serde_json::from_str(folder.text("runs.jsonl.reviews.jsonl").lines().last().unwrap()).unwrap();
    assert_eq!(event["labels"][0]["id"], "arithmetic_slip", "a name stands for its id");
    // A record without an id is named by its place.
    folder.ok(&["review", "add", "runs.jsonl"], "{\"row_index\": 1, \"verdict\": \"pass\"}\n");
    let ran = folder.run(&["review", "add", "runs.jsonl"], "{\"row_index\": 0, \"verdict\": \"pass\"}\n");
    assert!(ran.said.contains("no record without an id has this row_index"), "{}", ran.said);
    // The same goes for flags and tables.
    let flags = ["review", "add", "runs.jsonl", "--id", "r1", "--verdict", "pass", "--label", "misread"];
    let ran = folder.run(&flags, "");
    assert!(ran.code == 2 && ran.said.contains("not saved: labels belong to the verdict fail"), "{}", ran.said);
    folder.write("v.csv", "id,verdict,labels\nr1,fail,nonsense\n");
    let ran = folder.run(&["review", "import", "v.csv", "runs.jsonl"], "");
    assert!(
        ran.code == 2 && ran.said.contains("row 1 (line 2) is not saved: unknown label \"nonsense\""),
        "{}",
        ran.said
    );
}

#[test]
fn records_that_share_a_line_are_judged_one_by_one() {
    let folder = Folder::new();
    let chain = |n: usize| format!(r#"{{"question": "{n} + 1?", "steps": ["{n} + 1 = {0}"], "answer": {0}}}"#, n + 1);
    folder.write("chains.jsonl", format!("{} {}{}\n{}\n", chain(1), chain(2), chain(3), chain(4)));
    let checked =
        folder.run(&["check", "chains.jsonl", "--format", "jsonl", "--fields", "line,index", "--fail-on", "never"], "");
    let places: Vec<&str> = checked.out.lines().collect();
    assert_eq!(
        places,
        [r#"{"line":1,"index":0}"#, r#"{"line":1,"index":1}"#, r#"{"line":1,"index":2}"#, r#"{"line":2,"index":3}"#]
    );
    folder.ok(&["review", "add", "chains.jsonl", "--row", "1", "--verdict", "fail"], "");
    folder.ok(&["review", "add", "chains.jsonl", "--row", "2", "--verdict", "pass"], "");
    let events = folder.text("chains.jsonl.reviews.jsonl");
    let events: Vec<Value> = events.lines().map(|line| line.parse().unwrap()).collect();
    let said: Vec<_> = events.iter().map(|event| (&event["item"]["row_index"], &event["verdict"])).collect();
    assert_eq!(said, [(&json!(1), &json!("fail")), (&json!(2), &json!("pass"))], "{events:?}");
    assert_ne!(events[0]["seen"]["content_sha256"], events[1]["seen"]["content_sha256"]);
    let listed = folder.ok(&["review", "list", "chains.jsonl"], "");
    assert!(listed.contains("row 1") && listed.contains("row 2"), "{listed}");
}

#[test]
fn a_verdict_names_the_rules_that_spoke_in_whatever_way_it_is_given() {
    let folder = Folder::new();
    let unlike = |id: usize, row: Option<usize>| {
        let mut record: Value = serde_json::from_str(&run(id, 4.0, 4.0)).unwrap();
        // The text and the number of the answer differ.
        record["state"]["final_answer"] = json!("9");
        match row {
            Some(_) => drop(record.as_object_mut().unwrap().remove("id")),
            None => record["id"] = json!(format!("r{id}")),
        }
        record.to_string() + "\n"
    };
    folder.write("runs.jsonl", &(unlike(0, None) + &unlike(1, None) + &unlike(2, None) + &unlike(3, Some(3))));
    let checked: Value =
        folder.run(&["check", "runs.jsonl", "--format", "jsonl"], "").out.lines().next().unwrap().parse().unwrap();
    let rules: Vec<&Value> = checked["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]).collect();
    assert!(!rules.is_empty(), "{checked}");
    folder.ok(&["review", "add", "runs.jsonl"], &verdict(0, "pass", &json!({})));
    folder.ok(&["review", "add", "runs.jsonl", "--id", "r1", "--verdict", "pass"], "");
    folder.ok(&["review", "add", "runs.jsonl", "--row", "3", "--verdict", "pass"], "");
    folder.write("v.csv", "id,verdict\nr2,pass\n");
    folder.ok(&["review", "import", "v.csv", "runs.jsonl"], "");
    let events = folder.text("runs.jsonl.reviews.jsonl");
    let events: Vec<Value> = events.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(events.len(), 4);
    for event in &events {
        assert_eq!(event["findings"], json!(rules), "{event}");
        assert!(event["seen"]["content_sha256"].is_string(), "{event}");
    }
}

#[test]
fn a_missing_document_keeps_nobody_from_judging() {
    let folder = Folder::new();
    let answer = |id: usize, document: &str| {
        json!({"format": "stepscope.answer_trace", "version": 1, "id": format!("r{id}"), "question": "Which?",
            "document": {"path": document}, "parsed_question": {"expected_answer_shape": "date"},
            "answer": {"answer_found": true, "confidence": 1, "items": []}})
        .to_string()
    };
    folder.write("answers.jsonl", format!("{}\n{}\n", answer(1, "nowhere.txt"), answer(2, "../outside.txt")));
    for id in [1, 2] {
        let ran = folder.run(&["review", "add", "answers.jsonl"], &verdict(id, "pass", &json!({})));
        assert_eq!((ran.code, ran.out), (0, format!("saved r{id}\n")), "{}", ran.said);
        assert!(ran.said.contains("nowhere.txt") && ran.said.contains("outside.txt"), "it is said: {}", ran.said);
    }
    assert_eq!(folder.ok(&["review", "list", "answers.jsonl", "--ids"], ""), "r1\nr2\n");
    assert_eq!(folder.run(&["check", "answers.jsonl"], "").code, 2, "a check lacks something");
}

#[test]
fn what_is_sent_again_is_said_once() {
    let folder = Folder::new();
    folder.write("runs.jsonl", format!("{}\n", procedural(1)));
    let add = |line: &str| folder.ok(&["review", "add", "runs.jsonl"], line);
    let events = || folder.text("runs.jsonl.reviews.jsonl").lines().count();
    let failed = verdict(1, "fail", &json!({"labels": ["misread"], "note": "n", "active_ms": 1200}));
    let note = "{\"id\": \"r1\", \"note\": \"look\"}\n";
    for _ in 0..3 {
        assert_eq!(add(&failed), "saved r1\n", "it is safe on the disk");
        assert_eq!(add(note), "saved r1\n");
    }
    assert_eq!(events(), 2);
    let repeats = || folder.json(&["review", "stats", "runs.jsonl", "--format", "jsonl"])[0]["repeats"]["of"].clone();
    assert_eq!(repeats(), 0);
    // Somebody who has another mind, and then the first again, said three things.
    add(&verdict(1, "pass", &json!({})));
    add(&failed);
    assert_eq!(events(), 4);
    // With an id of its own a verdict is another one; with the same id it is the same.
    let again = |id: &str| verdict(1, "fail", &json!({"event_id": id}));
    for id in ["one", "two", "two"] {
        add(&again(id));
    }
    assert_eq!(events(), 6);
    // A batch with ids that was cut off is sent again whole, and says nothing twice.
    let line = |id: &str, word| verdict(1, word, &json!({"event_id": id}));
    let batch = [line("three", "pass"), line("four", "fail"), line("five", "pass")];
    add(&batch[..2].concat());
    assert_eq!(add(&batch.concat()), "saved r1\n".repeat(3));
    assert_eq!((events(), repeats()), (9, json!(0)), "nothing was shown again: these are changes of mind");
    // So is one whose lines judge an item twice.
    let twice = verdict(1, "pass", &json!({"note": "a"})) + &verdict(1, "fail", &json!({}));
    let with_id = verdict(1, "pass", &json!({"note": "b"})) + &line("six", "fail");
    for batch in [&twice, &with_id] {
        add(batch);
        let (before, outcome) = (events(), folder.ok(&["review", "list", "runs.jsonl"], ""));
        assert_eq!(add(batch), "saved r1\n".repeat(2));
        assert_eq!((events(), folder.ok(&["review", "list", "runs.jsonl"], "")), (before, outcome));
    }
    folder.write("twice.csv", "id,verdict,note\nr1,pass,c\nr1,fail,d\n");
    for saved in ["saved r1\nsaved r1\n", ""] {
        assert_eq!(folder.ok(&["review", "import", "twice.csv", "runs.jsonl"], ""), saved);
    }
    let before = events();
    add(&verdict(1, "pass", &json!({"note": "c"})));
    assert_eq!(events(), before + 1, "one line alone is another mind");
    let ran = folder.run(&["review", "add", "runs.jsonl"], &verdict(1, "pass", &json!({"event_id": "two"})));
    assert!(ran.code == 2 && ran.said.contains("another event has the event_id two"), "{}", ran.said);
    for (of, words) in [("nothing", "no event nothing in the review log"), ("two", "who alone can undo it")] {
        let undo = format!("{}\n", json!({"kind": "undo", "supersedes": of}));
        let ran = folder.run(&["review", "add", "runs.jsonl", "--reviewer", "eve"], &undo);
        assert!(ran.code == 2 && ran.said.contains(words), "{}", ran.said);
    }
}

#[test]
fn undo_and_redo_notes_and_label_sets_go_the_same_way() {
    let folder = Folder::new();
    let add = |lines: &str| folder.ok(&["review", "add", "--reviews", "j"], lines);
    let outcome = || folder.json(&["review", "export", "--reviews", "j"])[0]["outcome"].clone();
    add(&verdict(1, "fail", &json!({"labels": ["sum"]})));
    add(&verdict(1, "pass", &json!({})));
    let undo = "{\"kind\": \"undo\", \"id\": \"r1\"}\n";
    assert_eq!(add(undo), "saved r1\n");
    assert_eq!(outcome(), "fail");
    let event: Value = serde_json::from_str(folder.text("j").lines().last().unwrap()).unwrap();
    add(&format!("{}\n", json!({"kind": "undo", "supersedes": event["event_id"]})));
    assert_eq!(outcome(), "pass");
    add(undo);
    assert_eq!(outcome(), "fail");
    folder.write("runs.jsonl", format!("{}\n{}\n", procedural(1), procedural(2)));
    folder.ok(&["review", "add", "runs.jsonl", "--id", "r2", "--verdict", "pass"], "");
    folder.ok(&["review", "add", "runs.jsonl"], "{\"kind\": \"undo\", \"id\": \"r2\"}\n");
    let open = folder.ok(&["review", "list", "runs.jsonl", "--outcome", "open", "--ids"], "");
    assert_eq!(open, "r1\nr2\n", "each once");
    let set = json!({"kind": "label_set", "label_set": {"id": "default", "version": 1,
        "labels": [{"id": "slip", "name": "arithmetic slip"}], "mapping": [{"from": "sum", "to": ["slip"]}]}});
    add(&format!("{set}\n"));
    assert!(
        folder.ok(&["review", "list", "--reviews", "j"], "").starts_with("r1  fail      arithmetic slip · ada fail")
    );
    // From now on the set says which labels there are.
    let unknown = folder.run(&["review", "add", "--reviews", "j"], &verdict(1, "fail", &json!({"labels": ["sum"]})));
    assert!(unknown.code == 2 && unknown.said.contains("unknown label \"sum\" (use slip)"), "{}", unknown.said);
    add("{\"id\": \"r1\", \"note\": \"look at step 2\"}\n");
    assert!(
        folder
            .ok(&["review", "list", "--reviews", "j", "--label", "arithmetic slip"], "")
            .contains("ada notes: look at")
    );
}

#[test]
fn two_reviewers_agree_as_far_as_they_do_and_a_third_decides() {
    let folder = Folder::new();
    let add = |reviewer: &str, journal: &str, lines: &str| {
        folder.ok(&["review", "add", "--reviewer", reviewer, "--reviews", journal], lines);
    };
    let lines = |odd: usize| -> String {
        (0..40).map(|id| verdict(id, if id < 10 && id != odd { "fail" } else { "pass" }, &json!({}))).collect()
    };
    add("ada", "ada.jsonl", &lines(99));
    add("bob", "bob.jsonl", &lines(3));
    let merged = folder.ok(&["review", "merge", "ada.jsonl", "bob.jsonl", "ada.jsonl"], "");
    assert_eq!(merged, folder.text("ada.jsonl") + &folder.text("bob.jsonl"), "each event once, as it stands");
    folder.write("all.jsonl", &merged);
    let text = folder.ok(&["review", "agreement", "--reviews", "all.jsonl"], "");
    // sklearn.metrics.cohen_kappa_score of the same verdicts: 0.9310344827586207.
    assert!(text.contains("98 % agree (39 of 40), used on 10, Cohen's kappa 0.93"), "{text}");
    let json =
        &folder.json(&["review", "agreement", "--reviews", "ada.jsonl", "--reviews", "bob.jsonl", "--format", "jsonl"])
            [0];
    let kappa = json["groups"][0]["verdict"]["kappa"].as_f64().unwrap();
    assert!((kappa - 0.931_034_482_758_620_7).abs() < 1e-12, "{kappa}");
    let disputed = || folder.ok(&["review", "list", "--ids", "--outcome", "disputed", "--reviews", "all.jsonl"], "");
    assert_eq!(disputed(), "r3\n");
    add("eve", "all.jsonl", &verdict(3, "pass", &json!({"kind": "adjudicate"})));
    assert_eq!(disputed(), "");
}

#[test]
fn of_two_records_with_one_id_each_has_its_own_verdict_in_every_command() {
    let folder = Folder::new();
    let other = run(1, 7.0, 5.0).replace("\"row_index\":1", "\"row_index\":2");
    folder.write("runs.jsonl", format!("{}\n{other}\n{}\n", run(1, 4.0, 5.0), run(3, 5.0, 5.0)));
    let say = |who: &str, row: &str, verdict: &str| {
        let judged = ["review", "add", "runs.jsonl", "--id", "r1", "--row", row, "--verdict", verdict];
        folder.ok(&[&judged[..], &["--reviewer", who]].concat(), "");
    };
    say("eve", "1", "fail");
    let without = folder.run(&["review", "add", "runs.jsonl", "--id", "r1", "--verdict", "pass"], "");
    assert!(without.said.contains("2 records have this name; add --row or --sha256 of one"), "{}", without.said);
    let next = |more: &[&str]| folder.run(&[&["review", "next", "runs.jsonl", "--ids"], more].concat(), "").out;
    assert_eq!(next(&["--reviewer", "eve", "--filter", "verdict:stale"]), "", "nobody reviewed the other");
    let checked = || folder.run(&["check", "runs.jsonl", "--reviewed", "--format", "short"], "");
    assert!(checked().said.contains("reviewed: 1 fail, 2 open"), "{}", checked().said);
    say("bob", "2", "pass");
    say("ada", "1", "fail");
    let ran = checked();
    assert!(ran.said.contains("reviewed: 1 pass, 1 fail, 1 open"), "{}", ran.said);
    assert!(ran.out.contains("eve failed this; ada failed this") && !ran.out.contains("bob"), "{}", ran.out);
    for (line, has, lacks) in [("1", "fail by <code>ada", "bob"), ("2", "pass by <code>bob", "ada")] {
        let page = folder.ok(&["export", "runs.jsonl", "--line", line, "--md", "-"], "");
        assert!(page.contains(has) && !page.contains(lacks), "{page}");
    }
    folder.ok(&["export", "runs.jsonl", "--all", "pages"], "");
    let page = std::fs::read_dir(folder.path("pages")).unwrap().map(|page| page.unwrap().path());
    let pages = page.map(|page| std::fs::read_to_string(page).unwrap()).filter(|page| page.contains("<strong>bob"));
    assert_eq!(pages.filter(|page| !page.contains("<strong>ada") && !page.contains("changed since")).count(), 1);
    let failed = folder.ok(&["review", "export", "--failed", "runs.jsonl"], "");
    assert_eq!(failed.trim_end(), run(1, 4.0, 5.0));
    // An undo takes back what was said of the record that it names.
    let undo = json!({"kind": "undo", "id": "r1", "row_index": 2});
    let ran = folder.run(&["review", "add", "runs.jsonl", "--reviewer", "ada"], &format!("{undo}\n"));
    assert_eq!(ran.code, 2, "ada said nothing of that one: {}{}", ran.out, ran.said);
    folder.write("b.jsonl", run(1, 5.0, 5.0));
    let compared = folder.json(&["compare", "runs.jsonl", "b.jsonl", "--format", "jsonl"]);
    assert_eq!(compared[0]["cell"]["reviewed"], json!("only_b"), "{}", compared[0]);
}

/// Two runs of the same questions in one file, as `cat run1 run2` makes it: the records of a question have one id and one
/// row. Ada passed the first run, bob failed the second.
fn two_runs_in_one_file() -> Folder {
    let folder = Folder::new();
    let runs = |answer: f64| (1..4).map(|id| run(id, answer, 5.0) + "\n").collect::<String>();
    folder.write("r.jsonl", runs(5.0) + &runs(6.0));
    let checked = folder.run(&["check", "r.jsonl", "--format", "jsonl"], "").out;
    let records: Vec<Value> = checked.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (who, verdict, records) in [("ada", "pass", &records[..3]), ("bob", "fail", &records[3..6])] {
        let line = |record: &Value| json!({"id": record["id"], "sha256": record["sha256"], "verdict": verdict});
        let lines: Vec<String> = records.iter().map(|record| line(record).to_string()).collect();
        folder.ok(&["review", "add", "r.jsonl", "--reviewer", who], &lines.join("\n"));
    }
    folder
}

#[test]
fn of_two_records_with_one_id_in_one_row_each_has_its_own_verdict_in_every_command() {
    let folder = two_runs_in_one_file();
    let stats = folder.ok(&["review", "stats", "r.jsonl"], "");
    assert!(stats.starts_with("6 items: 3 pass, 3 fail\n"), "{stats}");
    let by = |who: &str| stats.lines().find(|line| line.trim_start().starts_with(who)).unwrap().ends_with(" 3");
    assert!(by("ada") && by("bob"), "{stats}");
    let agreement = folder.ok(&["review", "agreement", "r.jsonl"], "");
    assert!(agreement.starts_with("ada reviewed 3\nbob reviewed 3\noverlap 0\n\n"), "{agreement}");
    let list = folder.ok(&["review", "list", "r.jsonl"], "");
    assert!(!list.contains("out of date") && !list.contains("ada pass · bob"), "{list}");
    let checked = folder.run(&["check", "r.jsonl", "--reviewed", "--format", "short"], "");
    assert!(checked.said.contains("reviewed: 3 pass, 3 fail"), "{}", checked.said);
    assert!(checked.out.contains("bob failed this") && !checked.out.contains("ada"), "{}", checked.out);
    let again = folder.run(&["check", "r.jsonl", "--expect", "r.jsonl.reviews.jsonl"], "");
    assert!(again.out.contains("6 reviewed: 3 holds, 0 regressed, 3 still_failing"), "{}{}", again.out, again.said);
    for (line, has, lacks) in [("1", "pass by <code>ada", "bob"), ("4", "fail by <code>bob", "ada")] {
        let page = folder.ok(&["export", "r.jsonl", "--line", line, "--md", "-"], "");
        assert!(page.contains(has) && !page.contains(lacks) && !page.contains("changed since"), "{page}");
    }
    // The first of the second run is edited: bob's verdict on it is stale, and nothing else.
    folder.write("r.jsonl", folder.text("r.jsonl").replacen("\"final_answer\":\"6\"", "\"final_answer\":\"7\"", 1));
    let stats = folder.ok(&["review", "stats", "r.jsonl"], "");
    assert!(stats.starts_with("6 items: 3 pass, 2 fail, 1 stale\n"), "{stats}");
    let checked = folder.run(&["check", "r.jsonl", "--reviewed", "--format", "short"], "");
    assert!(checked.said.contains("reviewed: 3 pass, 2 fail, 1 stale"), "{}", checked.said);
}

#[test]
fn what_is_exported_of_two_records_with_one_id_in_one_row_comes_back_to_both() {
    let folder = two_runs_in_one_file();
    let table = folder.ok(&["review", "export", "r.jsonl", "--format", "csv"], "").replace("bob", "ada");
    folder.write("e.csv", &table);
    let ran = folder.run(&["review", "import", "e.csv", "r.jsonl", "--reviewer", "ada", "--reviews", "new"], "");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 6), "{}{}", ran.out, ran.said);
    assert!(!ran.said.contains("changes row") && !ran.said.contains("sha256"), "{}", ran.said);
    let seen = |log: &str| -> Vec<(Value, Value)> {
        let events = folder.text(log);
        let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.map(|event| (event["seen"]["content_sha256"].clone(), event["verdict"].clone())).collect()
    };
    let [mut before, mut after] = ["r.jsonl.reviews.jsonl", "new"].map(seen);
    before.sort_by_key(|said| said.0.to_string());
    after.sort_by_key(|said| said.0.to_string());
    assert_eq!(before, after);
    let stats = folder.ok(&["review", "stats", "r.jsonl", "--reviews", "new"], "");
    assert!(stats.starts_with("6 items: 3 pass, 3 fail\n"), "{stats}");
    let sha256 = after[0].0.as_str().unwrap();
    folder.write("e.csv", table.replace(sha256, "12"));
    let ran = folder.run(&["review", "import", "e.csv", "r.jsonl", "--reviewer", "ada", "--reviews", "other"], "");
    assert_eq!((ran.code, ran.out.lines().count()), (2, 5));
    assert!(ran.said.contains("is not saved: sha256 \"12\" is not 64 hexadecimal digits"), "{}", ran.said);
}

#[test]
fn a_row_is_the_row_index_of_the_record_and_no_folder_is_a_point() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("runs")).unwrap();
    let unnamed = |row: usize, question: &str| {
        json!({"row_index": row, "question": question, "mode": "baseline", "state": {}, "pred_num": 1}).to_string()
    };
    folder.write("runs/a.jsonl", format!("{}\n{}\n", unnamed(1, "First?"), unnamed(0, "Second?")));
    folder.ok(&["review", "add", "runs", "--row", "0", "--verdict", "pass"], "");
    let list = |file: &str, more: &[&str]| folder.run(&[&["review", "list", file], more].concat(), "");
    assert!(list("runs", &[]).out.starts_with("row 0  pass      Second?"), "{}", list("runs", &[]).out);
    // The same folder under another name has the same review log.
    assert_eq!(list("runs/../runs", &[]).out, list("runs", &[]).out);
    let mut inside = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    let inside = inside.args(["review", "list", "."]).current_dir(folder.path("runs")).output().unwrap();
    assert_eq!(String::from_utf8(inside.stdout).unwrap(), list("runs", &[]).out);
    folder.ok(&["review", "add", "runs/a.jsonl", "--row", "1", "--verdict", "fail"], "");
    let said = list("runs", &[]).said;
    assert!(said.contains("runs: 1 review log of its files not read; pass them with --reviews"), "{said}");
    let help = folder.ok(&["review", "add", "--help"], "");
    assert!(help.contains("`row_index` of a record without an id"), "{help}");
}

#[test]
fn records_are_not_merged_as_reviews() {
    let folder = Folder::new();
    folder.write("runs.jsonl", format!("{}\n", run(1, 4.0, 5.0)));
    folder.ok(&["review", "add", "runs.jsonl"], &verdict(1, "pass", &json!({})));
    let ran = folder.run(&["review", "merge", "runs.jsonl"], "");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.said);
    assert!(ran.said.contains("cannot merge runs.jsonl: no line of it is a review event"), "{}", ran.said);
    folder.write("empty.jsonl", "");
    let both = folder.ok(&["review", "merge", "empty.jsonl", "runs.jsonl.reviews.jsonl"], "");
    assert_eq!(both, folder.text("runs.jsonl.reviews.jsonl"), "an empty review log is one");
}

#[test]
fn what_is_exported_of_two_files_with_one_id_comes_back_to_both() {
    let folder = Folder::new();
    folder.write("a.jsonl", run(1, 4.0, 5.0));
    folder.write("b.jsonl", run(1, 5.0, 5.0));
    let log = ["--reviews", "log"];
    for (file, verdict) in [("a.jsonl", "fail"), ("b.jsonl", "pass")] {
        folder.ok(&[&["review", "add", file, "--id", "r1", "--verdict", verdict], &log[..]].concat(), "");
    }
    let both = ["a.jsonl", "b.jsonl"];
    folder.write("v.csv", folder.ok(&[&["review", "export", "--format", "csv"], &both[..], &log].concat(), ""));
    let ran = folder.run(&[&["review", "import", "v.csv"], &both[..], &["--reviews", "again"]].concat(), "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "saved r1\nsaved r1\n"), "{}", ran.said);
    for (file, outcome) in [("a.jsonl", "fail"), ("b.jsonl", "pass")] {
        let listed = folder.ok(&["review", "list", file, "--reviews", "again"], "");
        assert!(listed.contains(outcome), "{file}: {listed}");
    }
}

#[test]
fn merged_logs_keep_every_line_that_is_no_event() {
    let folder = Folder::new();
    folder
        .ok(&["review", "add", "--reviews", "a"], &(verdict(1, "pass", &json!({})) + &verdict(2, "fail", &json!({}))));
    let own = folder.text("a");
    let (first, second) = own.split_once('\n').unwrap();
    let newer = r#"{"v":2,"event_id":"n","kind":"verdict","more":1}"#;
    let senseless = r#"{"v":1,"event_id":"s","kind":"verdict","verdict":"maybe"}"#;
    let damaged = first.replace("pass", "paXX");
    let text = [first, newer, &damaged, senseless, second].join("\n");
    folder.write("a", &text);
    folder.write("b", format!("{newer}\n{}", second.trim_end()));
    folder.write("newer", newer);
    let merged = folder.run(&["review", "merge", "a", "b", "newer"], "");
    assert_eq!((merged.code, merged.out.as_str()), (0, text.as_str()), "{}", merged.said);
    assert!(merged.said.contains("a: line 2: written by a newer stepscope; kept, not counted"), "{}", merged.said);
    folder.write("all", &merged.out);
    assert_eq!(folder.ok(&["review", "merge", "all", "a"], ""), merged.out);
}

#[test]
fn unreviewed_records_are_listed_as_open() {
    let folder = Folder::new();
    folder.write("runs.jsonl", [run(1, 5.0, 5.0), run(2, 4.0, 5.0), error(3)].join("\n"));
    folder.ok(&["review", "add", "runs.jsonl", "--id", "r1", "--verdict", "pass"], "");
    let list = |more: &[&str]| folder.ok(&[&["review", "list", "runs.jsonl", "--outcome", "open"], more].concat(), "");
    assert_eq!(list(&["--ids"]), "r2\nr3\n");
    assert!(list(&[]).starts_with("r2  open      What is question 2?  unreviewed\n"), "{}", list(&[]));
    let objects: Vec<Value> =
        list(&["--format", "jsonl"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&objects[0]["id"], &objects[0]["outcome"]), (&json!("r2"), &json!("open")));
    assert_eq!(list(&["--ids", "--filter", "correct:false"]), "r2\n");
    for filter in ["verdict:open", "reviewed:false"] {
        assert_eq!(folder.ok(&["review", "list", "runs.jsonl", "--ids", "--filter", filter], ""), "r2\nr3\n");
    }
    assert_eq!(folder.ok(&["review", "list", "runs.jsonl", "--ids", "--filter", "correct:false"], ""), "");
    assert_eq!(list(&["--ids", "--by", "ada"]), "", "nobody judged them");
    assert_eq!(folder.ok(&["review", "list", "runs.jsonl", "--outcome", "open,pass", "--ids"], ""), "r1\nr2\nr3\n");
    assert_eq!(folder.ok(&["review", "list", "runs.jsonl", "--ids"], ""), "r1\n");
}

#[test]
fn agreement_is_about_the_records_as_they_are() {
    let folder = Folder::new();
    let records = [run(1, 5.0, 5.0), run(2, 4.0, 5.0)].join("\n");
    folder.write("runs.jsonl", &records);
    folder.write("other.jsonl", &records);
    let both = verdict(1, "pass", &json!({})) + &verdict(2, "fail", &json!({}));
    folder.ok(&["review", "add", "runs.jsonl", "--reviews", "ada"], &both);
    folder.ok(&["review", "add", "other.jsonl", "--reviews", "eve", "--reviewer", "eve"], &both);
    let logs = ["--reviews", "ada", "--reviews", "eve", "--format", "jsonl"];
    let agreement = |files: &[&str]| folder.json(&[&["review", "agreement"], files, &logs].concat()).remove(0);
    for files in [&["runs.jsonl"][..], &["other.jsonl"], &[]] {
        assert_eq!((&agreement(files)["overlap"], &agreement(files)["stale"]), (&json!(2), &json!(0)), "{files:?}");
    }
    let stats = folder.ok(&[&["review", "stats", "runs.jsonl"], &logs[..4]].concat(), "");
    assert!(stats.starts_with("2 items: 1 pass, 1 fail\n"), "{stats}");
    folder.write("runs.jsonl", [run(1, 5.0, 5.0), run(2, 5.0, 5.0)].join("\n"));
    let now = agreement(&["runs.jsonl"]);
    assert_eq!((&now["overlap"], &now["stale"]), (&json!(1), &json!(1)), "{now}");
}

#[test]
fn verdicts_on_records_that_are_gone_count_nowhere_and_every_command_says_so() {
    let folder = Folder::new();
    folder.write("runs.jsonl", (1..5).map(|id| run(id, 5.0, 5.0) + "\n").collect::<String>());
    let line = |id, verdict: &str| json!({"id": format!("r{id}"), "verdict": verdict}).to_string() + "\n";
    let lines = |verdict| (1..4).map(|id| line(id, verdict)).collect::<String>();
    folder.ok(&["review", "add", "runs.jsonl"], &lines("pass"));
    folder.ok(&["review", "add", "runs.jsonl", "--reviewer", "bob"], &lines("fail"));
    folder.write("runs.jsonl", (2..5).map(|id| run(id, 5.0, 5.0) + "\n").collect::<String>());
    let gone = "1 item of a record that is gone (left out)\n";
    let stats = folder.ok(&["review", "stats", "runs.jsonl"], "");
    assert!(stats.starts_with(&format!("2 items: 2 disputed\n{gone}")), "{stats}");
    assert!(stats.ends_with("1 of 3 records unreviewed\n"), "{stats}");
    let agreement = folder.ok(&["review", "agreement", "runs.jsonl"], "");
    assert!(agreement.starts_with(&format!("ada reviewed 2\nbob reviewed 2\noverlap 2\n{gone}\n")), "{agreement}");
    for (command, lines) in [("list", 2), ("export", 2)] {
        let ran = folder.run(&["review", command, "runs.jsonl"], "");
        assert_eq!((ran.out.lines().count(), ran.said), (lines, format!("stepscope: {gone}")), "{command}");
    }
    for command in ["stats", "agreement"] {
        let object = &folder.json(&["review", command, "runs.jsonl", "--format", "jsonl"])[0];
        assert_eq!(object["gone"], json!(1), "{command}");
    }
    // The log alone knows nothing of records.
    let stats = folder.ok(&["review", "stats", "--reviews", "runs.jsonl.reviews.jsonl"], "");
    assert!(stats.starts_with("3 items: 3 disputed\n\n"), "{stats}");
}

#[test]
fn a_csv_goes_out_inert_and_comes_back() {
    let folder = Folder::new();
    let hostile =
        json!({"id": "=cmd|' /C calc'!A0", "verdict": "fail", "labels": ["@x", "b"], "note": "\u{1b}]0;x\u{7}\n-1"});
    folder.ok(&["review", "add", "--reviews", "j"], &format!("{hostile}\n{}", verdict(1, "pass", &json!({}))));
    let csv = folder.ok(&["review", "export", "--format", "csv", "--reviews", "j"], "");
    assert!(csv.contains("\n'=cmd|' /C calc'!A0,fail,'@x;b,\"␛]0;x␇\n-1\",fail,"), "{csv}");
    assert!(csv.chars().all(|c| c == '\n' || !stepscope_base::text::is_hidden(c)));
    folder.write("raw.csv", folder.ok(&["review", "export", "--format", "csv", "--raw", "--reviews", "j"], ""));
    assert_eq!(
        folder.ok(&["review", "import", "raw.csv", "--reviews", "k"], ""),
        "saved =cmd|' /C calc'!A0\nsaved r1\n"
    );
    let items = folder.json(&["review", "export", "--reviews", "k"]);
    assert_eq!((&items[0]["id"], &items[0]["events"][0]["note"]), (&hostile["id"], &hostile["note"]));
    let again = folder.run(&["review", "import", "raw.csv", "--reviews", "k"], "");
    assert_eq!((again.code, again.out.as_str()), (0, ""), "a table can be imported twice");
    assert_eq!(folder.text("k").lines().count(), 2);

    folder.write("bad.csv", "id,verdict\n,pass\nr1,maybe\nr2,PASS\n");
    let bad = folder.run(&["review", "import", "bad.csv", "--reviews", "k"], "");
    assert_eq!((bad.code, bad.out.as_str()), (2, "saved r2\n"));
    assert!(
        bad.said.contains("row 1 (line 2) is not saved: it has no id")
            && bad.said.contains("row 2 (line 3) is not saved"),
        "{}",
        bad.said
    );
    folder.write("other.csv", "id,verdict,note\nr3,pass,so, so\nr4,pass\nr5,fail,\"open\nr6,pass\n");
    let other = folder.run(&["review", "import", "other.csv", "--reviews", "k"], "");
    assert_eq!((other.code, other.out.as_str()), (2, "saved r4\n"));
    let said = "row 3 (line 4) is not saved: a quote in it is not closed; no row after it is read";
    assert!(
        other.said.contains("row 1 (line 2) is not saved: \" so\" is") && other.said.contains(said),
        "{}",
        other.said
    );
    // As Excel writes "Unicode text".
    let wide = "\u{feff}id\tverdict\tnote\r\nr7\tpass\tgrößer\r\n";
    folder.write("wide.csv", wide.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    assert_eq!(folder.ok(&["review", "import", "wide.csv", "--reviews", "k"], ""), "saved r7\n");
    assert!(
        folder.text("k").contains("größer") || folder.text("k").contains("gr\\u00f6\\u00dfer"),
        "{}",
        folder.text("k")
    );
    folder.write("none.csv", "a,b\n1,2\n");
    assert_eq!(folder.run(&["review", "import", "none.csv", "--reviews", "k"], "").code, 2);
}

#[test]
fn an_exported_csv_loses_no_part_of_a_verdict_and_takes_over_nobody_elses() {
    let folder = Folder::new();
    let no_id =
        r#"{"question": "2 + 3?", "gold_num": 5.0, "state": {"final_answer": "5"}, "pred_num": 5.0, "raw": "x"}"#;
    folder.write("runs.jsonl", format!("{}\n{}\n{no_id}\n", procedural(1), procedural(2)));
    let whole = json!({"labels": ["misread"], "fix_target": "step_run", "first_bad_step": 2, "variable": "sum",
        "gold_status": "suspect", "correction": -5, "note": "n"});
    let mine =
        verdict(1, "fail", &whole) + &verdict(2, "pass", &json!({})) + "{\"row_index\": 2, \"verdict\": \"pass\"}\n";
    folder.ok(&["review", "add", "runs.jsonl", "--reviewer", "ada"], &mine);
    folder.ok(&["review", "add", "runs.jsonl", "--reviewer", "bob"], &verdict(2, "fail", &json!({})));
    folder
        .ok(&["review", "add", "runs.jsonl", "--reviewer", "ada"], &verdict(2, "pass", &json!({"kind": "adjudicate"})));
    folder.write("v.csv", folder.ok(&["review", "export", "--format", "csv", "runs.jsonl"], ""));
    let to = |who| folder.run(&["review", "import", "v.csv", "runs.jsonl", "--reviews", "k", "--reviewer", who], "");
    let ran = to("ada");
    assert_eq!((ran.code, ran.out.as_str()), (2, "saved r1\nsaved r2\nsaved r2\nsaved row 2\n"), "{}", ran.said);
    let ignored = "columns that are not imported: outcome, place, side, decided, event_id\n";
    assert!(ran.said.contains(ignored), "{}", ran.said);
    assert!(ran.said.contains("not saved: rows of the reviewer bob (1); --reviewer bob imports them"), "{}", ran.said);
    assert_eq!(to("bob").out, "saved r2\n");
    let told = |log: &[&str]| {
        let mut items = folder.json(&[&["review", "export", "runs.jsonl"], log].concat());
        for event in items.iter_mut().flat_map(|item| item["events"].as_array_mut().unwrap()) {
            event.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "event_id" | "decided"));
        }
        items
    };
    assert_eq!(told(&["--reviews", "k"]), told(&[]));
    // What the reviewer judged is not there any more.
    folder.write("runs.jsonl", format!("{}\n", procedural(1).replace("2 + 3?", "3 + 3?")));
    folder.write("v.csv", folder.ok(&["review", "export", "--format", "csv", "runs.jsonl"], ""));
    let ran = folder.run(&["review", "import", "v.csv", "runs.jsonl", "--reviews", "l", "--reviewer", "ada"], "");
    assert!(ran.said.contains("row 1 (line 2) is not saved: its record has changed since"), "{}", ran.said);
    // As tools write it that take a column with empty cells for fractions, and ids for numbers.
    folder.write("floats.csv", "id,verdict,first_bad_step,row_index\nr1,fail,2.0,0.0\n7.0,pass,,\n,pass,,x\n");
    let ran = folder.run(&["review", "import", "floats.csv", "runs.jsonl", "--reviews", "f"], "");
    assert_eq!(ran.out, "saved r1\n", "{}", ran.said);
    assert_eq!(folder.json(&["review", "export", "--reviews", "f"])[0]["events"][0]["first_bad_step"], 2);
    for words in
        ["row 2 (line 3) is not saved: no record has the id \"7.0\"; if a spreadsheet", "row_index \"x\" is not"]
    {
        assert!(ran.said.contains(words), "{}", ran.said);
    }
    folder.write("words.csv", "id,verdict,correction\nr1,fail,six\n");
    assert_eq!(folder.run(&["review", "import", "words.csv", "--reviews", "m"], "").code, 0);
    assert_eq!(folder.json(&["review", "export", "--reviews", "m"])[0]["events"][0]["correction"], "six");
}

#[test]
fn a_note_says_what_it_is_about_in_every_form() {
    let folder = Folder::new();
    folder.write("runs.jsonl", format!("{}\n", procedural(1)));
    let lines = json!({"document": "d", "numbering": "global_0", "line_start": 3, "line_end": 5, "quote": "not here"});
    let notes = verdict(1, "fail", &json!({"variable": "sum", "note": "off by one"}))
        + &format!("{}\n", json!({"id": "r1", "note": "no such line", "anchors": [lines]}));
    folder.ok(&["review", "add", "runs.jsonl", "--reviewer", "ada"], &notes);
    let list = folder.ok(&["review", "list", "runs.jsonl"], "");
    assert!(list.contains("on sum: off by one") && list.contains("on lines 3 to 5: no such line"), "{list}");
    let markdown = folder.ok(&["review", "export", "--format", "markdown", "runs.jsonl"], "");
    assert!(markdown.contains("on lines 3 to 5: no such line"), "{markdown}");
    let csv = folder.ok(&["review", "export", "--format", "csv", "runs.jsonl"], "");
    assert!(csv.contains("variable,place,") && csv.contains(",lines 3 to 5,"), "{csv}");
    assert_eq!(folder.json(&["review", "export", "runs.jsonl"])[0]["events"][1]["anchors"], json!([lines]));
    folder.ok(&["export", "runs.jsonl", "--html", "run.html"], "");
    assert!(!folder.text("run.html").contains("not here"));
    for page in ["runs.jsonl", "run.html"] {
        let markdown = folder.ok(&["export", "--md", "-", page], "");
        assert!(markdown.contains("on sum: off by one") && markdown.contains("on lines 3 to 5: no such"), "{markdown}");
    }
}

#[test]
fn check_accepts_what_people_passed_and_names_what_they_failed() {
    let folder = Folder::new();
    // A gold number that was misread is a finding; nothing is found in the second.
    let odd = run(1, 1080.0, 80.0).replace("#### 80", "#### 1,080");
    folder.write("runs.jsonl", format!("{odd}\n{}\n", run(2, 5.0, 5.0)));
    assert_eq!(folder.run(&["check", "runs.jsonl"], "").code, 1);
    folder.ok(&["review", "add", "runs.jsonl"], &verdict(1, "pass", &json!({})));
    let reviewed = ["check", "runs.jsonl", "--reviewed", "--format"];
    let passed = folder.run(&[&reviewed[..], &["text"]].concat(), "");
    assert_eq!((passed.code, passed.out.as_str()), (0, "2 records, no findings; reviewed: 1 pass, 1 open\n"));
    // A journal that came with the records changes what is said of them: so it is named.
    let there =
        "counts the verdicts in runs.jsonl.reviews.jsonl (found next to the records; --reviews FILE selects another)";
    assert!(passed.said.contains(there), "{}", passed.said);
    folder.write("mine.jsonl", "");
    let named = |journal: &str| folder.run(&["check", "runs.jsonl", "--reviewed", "--reviews", journal], "");
    assert!(named("mine.jsonl").code == 1 && named("mine.jsonl").said.contains("mine.jsonl (named by --reviews)"));
    assert!(named("none.jsonl").code == 2 && named("none.jsonl").said.contains("none.jsonl: no such file"));
    assert!(folder.run(&["check", "-", "--reviewed"], "").said.contains("standard input has no review log"));
    let compared = folder.run(&["compare", "runs.jsonl", "runs.jsonl"], "");
    assert!(compared.said.contains(there), "{}", compared.said);
    let failed = verdict(2, "fail", &json!({"labels": ["misread"], "note": "off by one", "variable": "final_answer"}));
    folder.ok(&["review", "add", "runs.jsonl"], &failed);
    let ran = folder.run(&[&reviewed[..], &["short"]].concat(), "");
    let expected = "warning[review/failed] ada failed this: question misread: off by one (/state/final_answer)\n";
    assert_eq!(ran.code, 1);
    assert!(ran.out.ends_with(expected) && ran.out.starts_with("runs.jsonl:2:"), "{}", ran.out);
    let lines = folder.run(&[&reviewed[..], &["jsonl"]].concat(), "").out;
    let second: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["findings"][0]["details"]["labels"], json!(["misread"]));
    let examples = [("failed", "ada failed this"), ("disputed", "bob passed this"), ("stale", "ada passed this")];
    for (rule, said) in examples {
        assert!(folder.ok(&["rules", &format!("review/{rule}")], "").contains(said), "{rule}");
    }
}

#[test]
fn reviews_are_a_regression_set() {
    let folder = Folder::new();
    folder.write(
        "old.jsonl",
        [run(1, 5.0, 5.0), run(2, 5.0, 5.0), run(3, 4.0, 5.0), run(4, 4.0, 5.0), run(5, 7.0, 5.0)].join("\n"),
    );
    let lines = [
        verdict(1, "pass", &json!({})),
        verdict(2, "pass", &json!({})),
        verdict(3, "fail", &json!({"labels": ["misread"]})),
        verdict(4, "fail", &json!({"correction": 6.0})),
        verdict(5, "pass", &json!({"gold_status": "wrong"})),
    ];
    folder.ok(&["review", "add", "old.jsonl"], &lines.concat());
    let expect = |name: &str, more: &[&str]| {
        folder.run(&[&["check", name, "--expect", "old.jsonl.reviews.jsonl"], more].concat(), "")
    };
    let same = expect("old.jsonl", &[]);
    assert_eq!(same.code, 0);
    assert!(same.out.ends_with("5 reviewed: 3 holds, 0 regressed, 2 still_failing, 0 fixed, 0 gone\n"), "{}", same.out);
    assert!(same.out.contains("still_failing  r3  What is question 3?  question misread\n"));
    // Another run of the same questions, one under another id.
    let other = run(2, 4.0, 5.0).replace("r2", "other");
    folder
        .write("new.jsonl", [run(1, 5.0, 5.0).replace('x', "y"), other, run(4, 6.0, 5.0), run(5, 5.0, 5.0)].join("\n"));
    let new = expect("new.jsonl", &["--format", "jsonl"]);
    assert_eq!(new.code, 1);
    let lines: Vec<Value> = new.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<_> =
        lines.iter().map(|line| (line["id"].as_str().unwrap(), line["expectation"].as_str().unwrap())).collect();
    assert_eq!(said, [("r1", "holds"), ("r2", "regressed"), ("r3", "gone"), ("r4", "fixed"), ("r5", "regressed")]);
    assert_eq!(lines[1]["why"], json!(["answer changed from 5 to 4"]));
    assert_eq!(expect("new.jsonl", &["--fail-on", "never"]).code, 0);
    assert_eq!(expect("new.jsonl", &["--format", "sarif"]).code, 2);
    folder.write("empty", "");
    assert_eq!(folder.run(&["check", "old.jsonl", "--expect", "empty"], "").code, 2);
}

#[test]
fn records_without_ids_that_share_a_question_are_expected_each_by_itself() {
    let folder = Folder::new();
    let run = |question: u8, answer: u8| {
        json!({"question": format!("What is {question}?"), "gold_num": 5, "mode": "baseline", "status": "ok", "pred_num": answer,
            "state": {"final_answer": format!("{answer}"), "final_answer_numerical": answer}})
        .to_string()
            + "\n"
    };
    folder.write("runs.jsonl", [run(1, 6), run(1, 5), run(2, 5), run(2, 6)].concat());
    for (row, verdict) in [("0", "fail"), ("1", "pass"), ("2", "pass"), ("3", "fail")] {
        folder.ok(&["review", "add", "runs.jsonl", "--row", row, "--verdict", verdict], "");
    }
    let said = folder.ok(&["check", "runs.jsonl", "--expect", "runs.jsonl.reviews.jsonl"], "");
    assert!(said.ends_with("4 reviewed: 2 holds, 0 regressed, 2 still_failing, 0 fixed, 0 gone\n"), "{said}");
}

#[test]
fn a_log_of_two_runs_with_the_same_ids_keeps_them_apart() {
    let folder = Folder::new();
    folder.write("a.jsonl", &(run(1, 5.0, 5.0) + "\n" + &run(2, 5.0, 5.0)));
    folder.write("b.jsonl", run(1, 4.0, 5.0));
    let add = |file: &str, says: &str| {
        folder.ok(&["review", "add", file, "--reviews", "two", "--id", "r1", "--verdict", says], "");
    };
    add("a.jsonl", "pass");
    add("b.jsonl", "fail");
    let list = folder.run(&["review", "list", "a.jsonl", "--reviews", "two", "--ids", "--regenerate"], "");
    assert_eq!((list.code, list.out.as_str()), (0, ""));
    let sentence = "reviewed items of other files left out: 1, of b.jsonl; pass their file too";
    assert!(list.said.contains(sentence), "{}", list.said);
    let stats = folder.ok(&["review", "stats", "a.jsonl", "--reviews", "two"], "");
    assert!(stats.starts_with("1 item: 1 pass\n") && stats.ends_with("1 of 2 records unreviewed\n"), "{stats}");
    let export = folder.ok(&["review", "export", "a.jsonl", "--reviews", "two"], "");
    assert_eq!(export.lines().count(), 1, "{export}");
    let expected = folder.ok(&["check", "a.jsonl", "--expect", "two"], "");
    assert_eq!(expected, "1 reviewed: 1 holds, 0 regressed, 0 still_failing, 0 fixed, 0 gone\n");
    let both = folder.json(&["review", "stats", "a.jsonl", "b.jsonl", "--reviews", "two", "--format", "jsonl"]);
    assert_eq!((&both[0]["outcomes"]["pass"], &both[0]["outcomes"]["fail"]), (&json!(1), &json!(1)));
    let all = folder.ok(&["review", "list", "--reviews", "two"], "");
    assert_eq!(all.lines().count(), 2, "without records every item is listed: {all}");
}

#[test]
fn two_runs_fall_into_five_cells_on_three_bases() {
    let folder = Folder::new();
    folder.write("a.jsonl", runs());
    // The baseline lacks r40 and r41, has r0 to r14 right and r42 to r51 wrong, in another order and twice r60.
    let mut baseline: Vec<String> = (0..275)
        .rev()
        .filter(|id| ![40, 41].contains(id))
        .map(|id| run(id, if (15..52).contains(&id) { 4.0 } else { 5.0 }, 5.0))
        .collect();
    baseline.push(run(60, 4.0, 5.0));
    folder.write("b.jsonl", baseline.join("\n"));
    let summary = |more: &[&str]| {
        let lines = folder.run(&[&["compare", "a.jsonl", "b.jsonl", "--format", "jsonl"], more].concat(), "");
        let last: Value = serde_json::from_str(lines.out.lines().last().unwrap()).unwrap();
        (lines.code, lines.out.lines().count(), last)
    };
    let (code, count, found) = summary(&[]);
    assert_eq!((code, count), (0, 276));
    let cells =
        |found: &Value| ["both", "only_a", "only_b", "none", "missing"].map(|cell| found[cell].as_u64().unwrap());
    assert_eq!(cells(&found["recorded"]), [222, 10, 15, 25, 3]);
    assert_eq!(found["a"], json!({"source": "a.jsonl", "records": 275, "duplicates": 0, "unmatched": 2}));
    assert_eq!(found["b"], json!({"source": "b.jsonl", "records": 274, "duplicates": 1, "unmatched": 0}));
    assert_eq!(found["joined"], json!({"id": 273, "question": 0, "different_questions": 0}));
    let accuracy = &found["recorded"]["accuracy_a"];
    assert_eq!((&accuracy["hits"], &accuracy["of"]), (&json!(232), &json!(274)));
    // statsmodels' mcnemar(exact=True) of 10 against 15.
    assert!((found["recorded"]["mcnemar_p"].as_f64().unwrap() - 0.424_356_222_152_709_96).abs() < 1e-12);
    assert_eq!(
        (found["gold_adjusted"].clone(), found["reviewed"].clone()),
        (found["recorded"].clone(), found["recorded"].clone())
    );

    folder.ok(&["review", "add", "a.jsonl"], &verdicts());
    folder.ok(&["review", "add", "a.jsonl"], &verdict(0, "pass", &json!({})));
    let (_, _, found) = summary(&[]);
    assert_eq!(cells(&found["reviewed"]), [223, 10, 14, 25, 3]);
    // r35 to r39 are none right and r40, r41 missing; all seven have a wrong gold answer.
    assert_eq!(
        (cells(&found["gold_adjusted"]), &found["gold_adjusted"]["left_out"]),
        ([223, 10, 14, 20, 1], &json!(7))
    );
    assert_eq!(found["gold_adjusted"]["accuracy_a"]["of"], json!(267));
    let (code, count, found) = summary(&["--fail-on-regression", "--cell", "only_b"]);
    // r1 to r14, and r274, which ended in an error.
    assert_eq!((code, count, &found["regressions"]), (1, 15, &json!(15)));
    let text = folder.ok(&["compare", "a.jsonl", "b.jsonl", "--cell", "missing"], "");
    assert!(text.contains(
        "joined 273 by id, 0 by question; unmatched: 2 in A, 0 in B; duplicate ids: 0 in A, 1 in B (first one used)"
    ));
    assert!(text.contains("accuracy of A as graded      84.7 % [79.9, 88.5]  232 of 274"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("r274  "), "{text}");
    assert_eq!(folder.run(&["compare", "b.jsonl", "b.jsonl", "--fail-on-regression"], "").code, 0);
    assert_eq!(folder.run(&["compare", "a.jsonl", "nowhere"], "").code, 2);
    // Where nothing can be compared, there is no word of "no regression".
    folder.write("other.jsonl", run(300, 5.0, 5.0));
    folder.write("empty.jsonl", "");
    folder.write(
        "blind.jsonl",
        json!({"id": "r1", "question": "What is question 1?", "state": {"final_answer": "x"}, "raw": "x"}).to_string(),
    );
    let ungraded = run(2, 4.0, 4.0).replace("\"correct\"", "\"judged\"").replace("gold", "old");
    folder.write("ungraded.jsonl", &(run(1, 5.0, 5.0) + "\n" + &ungraded));
    let both = run(1, 5.0, 5.0) + "\n" + &run(2, 5.0, 5.0);
    folder.write("both.jsonl", &both);
    folder.write("cut.jsonl", both.get(..both.len() - 20).unwrap());
    folder.write("broken.jsonl", both.replacen(',', "", 1));
    for (a, b, words) in [
        ("ungraded.jsonl", "both.jsonl", "1 correct in B and not graded in A"),
        ("both.jsonl", "cut.jsonl", "cut.jsonl: line 2 is cut off and not counted"),
        ("both.jsonl", "cut.jsonl", "the last line of a file is cut off"),
        ("both.jsonl", "broken.jsonl", "1 record could not be read"),
        ("a.jsonl", "other.jsonl", "no record of A matches one of B"),
        ("empty.jsonl", "b.jsonl", "no record of A matches one of B"),
        ("a.jsonl", "blind.jsonl", "says whether B is correct"),
    ] {
        let ran = folder.run(&["compare", a, b, "--fail-on-regression"], "");
        assert!(ran.code == 2 && ran.said.contains(words), "{a} {b}: {} {}", ran.code, ran.said);
        assert_eq!(folder.run(&["compare", a, b], "").code, 0);
    }
}

#[test]
fn two_records_are_compared_field_by_field() {
    let folder = Folder::new();
    folder.write("a.jsonl", run(1, 4.0, 5.0));
    folder.write("b.jsonl", run(1, 5.0, 5.0).replace("r1", "other"));
    let text = folder.ok(&["compare", "a.jsonl", "b.jsonl", "--id", "r1"], "");
    assert!(text.contains("/pred_num                    differs  A 4.0  B 5.0"), "{text}");
    let json = &folder.json(&["compare", "a.jsonl", "b.jsonl", "--id", "other", "--format", "jsonl"])[0];
    let variable = json["variables"].as_array().unwrap().iter().find(|one| one["name"] == "final_answer_numerical");
    assert_eq!(variable.unwrap()["b"]["value"], json!(5.0));
    assert_eq!(folder.run(&["compare", "a.jsonl", "b.jsonl", "--id", "nobody"], "").code, 2);
}

#[test]
fn samples_of_one_question_are_not_paired_by_position() {
    let folder = Folder::new();
    let sample = |question: usize, right: bool| {
        format!(
            r#"{{"prompt": "Question {question}?", "completion": "x", "reward": {}, "success": {right}}}"#,
            u8::from(right)
        )
    };
    let lines: Vec<String> = (0..40).map(|n| sample(n / 4, n % 3 == 0)).collect();
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    folder.write("a.jsonl", lines.join("\n"));
    folder.write("sorted.jsonl", sorted.join("\n"));
    let compared = folder.run(&["compare", "a.jsonl", "sorted.jsonl", "--fail-on-regression"], "");
    assert_eq!(compared.code, 2, "{}", compared.out);
    assert!(compared.said.contains("cannot check for regressions: questions repeat"), "{}", compared.said);
    for told in ["; repeated questions: 40 in A, 40 in B (not paired)", "McNemar's exact test   none  ", "14 of 40"] {
        assert!(compared.out.contains(told), "{told}: {}", compared.out);
    }
    let json = folder.json(&["compare", "a.jsonl", "sorted.jsonl", "--format", "jsonl"]);
    let (item, summary) = (&json[0], json.last().unwrap());
    assert_eq!(
        (&item["joined_by"], &item["question"], &item["a"]["dataset"], &item["a"]["line"], &item["b"]),
        (&json!("repeated"), &json!("Question 0?"), &json!("a.jsonl"), &json!(1), &Value::Null)
    );
    assert_eq!((&summary["b"]["repeated_questions"], &summary["regressions"]), (&json!(40), &json!(0)));
    assert_eq!(summary["recorded"]["mcnemar_p"], Value::Null);
    let text = folder.ok(&["compare", "a.jsonl", "sorted.jsonl", "--cell", "missing"], "");
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("sorted.jsonl:40 ") && last.contains("Question 9?"), "{last}");
    assert!(last.ends_with("A not paired  B graded correct"), "{last}");

    // Where nothing can be worse, whatever belongs together, there is no regression.
    folder.write("right.jsonl", [sample(0, true), sample(0, true), sample(1, true)].join("\n"));
    folder.write("once.jsonl", [sample(0, true), sample(1, true)].join("\n"));
    assert_eq!(folder.run(&["compare", "right.jsonl", "once.jsonl", "--fail-on-regression"], "").code, 0);
}

#[test]
fn a_question_is_joined_within_its_document() {
    let folder = Folder::new();
    let trace = |document: &str| {
        format!(
            r#"{{"format": "stepscope.answer_trace", "id": "q", "doc_id": "{document}", "question": "?", "answer": {{"answer_found": true, "items": []}}}}"#
        )
    };
    folder.write("a.jsonl", [trace("lark"), trace("other")].join("\n"));
    folder.write("b.jsonl", trace("other"));
    let json = folder.json(&["compare", "a.jsonl", "b.jsonl", "--format", "jsonl"]);
    let [alone, both, summary] = json.as_slice() else { panic!("{json:?}") };
    assert_eq!((&alone["doc_id"], &alone["joined_by"]), (&json!("lark"), &json!("alone")));
    assert_eq!((&both["doc_id"], &both["joined_by"], &both["a"]["line"]), (&json!("other"), &json!("id"), &json!(2)));
    assert_eq!(summary["a"]["duplicates"], json!(0));
    let checked = folder.run(&["check", "a.jsonl", "--fail-on", "never"], "");
    assert!(!checked.out.contains("repeats an id"), "{}", checked.out);
    let fields = folder.ok(&["compare", "a.jsonl", "b.jsonl", "--id", "q"], "");
    assert!(fields.starts_with("A  a.jsonl:2"), "{fields}");
}

#[test]
fn a_damaged_journal_is_listed_as_far_as_it_goes() {
    let folder = Folder::new();
    folder.ok(
        &["review", "add", "--reviews", "j"],
        &(0..20).map(|id| verdict(id, "pass", &json!({}))).collect::<String>(),
    );
    let mut bytes = std::fs::read(folder.path("j")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    bytes.extend_from_slice(b"{\"v\":2,\"event_id\":\"x\",\"kind\":\"dream\"}\n{\"id\": 7}\nwhat\n\0\0\0");
    std::fs::write(folder.path("j"), &bytes).unwrap();
    let ran = folder.run(&["review", "list", "--ids", "--reviews", "j"], "");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 19));
    for what in [
        "incomplete: its writer was stopped or is still writing",
        "damaged",
        "not a review event",
        "written by a newer stepscope",
    ] {
        assert!(ran.said.contains(&format!("{what}; kept, not counted")), "{what}: {}", ran.said);
    }
    let merged = folder.run(&["review", "merge", "j"], "");
    assert!(merged.code == 0 && merged.out.as_bytes() == [&bytes[..], b"\n"].concat(), "{}", merged.out);
    assert!(bytes.starts_with(&std::fs::read(folder.path("j")).unwrap()), "nothing is deleted");
}

#[test]
fn a_hundred_thousand_events_fold_in_time() {
    let folder = Folder::new();
    folder.ok(&["review", "add", "--reviews", "one"], &verdict(1, "fail", &json!({"labels": ["slip"], "note": "n"})));
    let line = folder.text("one");
    let event: Value = serde_json::from_str(&line).unwrap();
    let id = event["event_id"].as_str().unwrap();
    let body = line.split(",\"crc\"").next().unwrap();
    let mut journal = String::new();
    for n in 0..100_000 {
        let one = body.replace("\"id\":\"r1\"", &format!("\"id\":\"r{}\"", n % 30_000)).replace(id, &format!("e{n}"));
        journal.push_str(&one.replace("\"times\":{", &format!("\"times\":{{\"shown\":\"t{n}\",")));
        journal.push_str("}\n");
    }
    folder.write("j", &journal);
    let began = std::time::Instant::now();
    let stats = &folder.json(&["review", "stats", "--reviews", "j", "--format", "jsonl"])[0];
    assert_eq!((&stats["outcomes"]["fail"], &stats["repeats"]["of"]), (&json!(30_000), &json!(70_000)));
    // A second in a release build; this one need not be one.
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn next_and_add_are_a_loop_in_the_shell() {
    let folder = Folder::new();
    folder.write(
        "runs.jsonl",
        [run(0, 5.0, 5.0), run(1, 4.0, 5.0), error(2), run(3, 4.0, 5.0)].map(|line| line + "\n").concat(),
    );
    let next = |more: &[&str]| folder.run(&[&["review", "next", "runs.jsonl"], more].concat(), "");
    let first = next(&[]);
    assert_eq!(first.code, 0, "{}", first.said);
    for words in [
        "failed or no answer: 1 of 1 left; 0 of 4 reviewed\n",
        "runs.jsonl:3  id r2",
        "What is question 2?",
        "arithmetic_slip      Right numbers and operation",
        "\n  stepscope review add runs.jsonl --id r2 --verdict pass\n",
    ] {
        assert!(first.out.contains(words), "{words}: {}", first.out);
    }
    let mut seen = Vec::new();
    loop {
        let asked = next(&["--ids"]);
        if asked.code == 1 {
            assert!(asked.said.contains("queue done: 4 of 4 records reviewed by ada"), "{}", asked.said);
            break;
        }
        let id = asked.out.trim().to_owned();
        let added =
            ["review", "add", "runs.jsonl", "--id", &id, "--verdict", "fail", "--label", "misread", "--note", "n"];
        assert_eq!(folder.ok(&added, "this is not read"), format!("saved {id}\n"));
        seen.push(id);
    }
    assert_eq!(seen, ["r2", "r1", "r3", "r0"], "worst first");
    assert_eq!(next(&["--reviewer", "bob", "--ids"]).out, "r2\n");
    assert_eq!(next(&["--reviewer", "bob", "--ids", "--filter", "correct:false"]).out, "r1\n");
    // Put off comes last.
    folder.ok(&["review", "add", "runs.jsonl", "--id", "r2", "--verdict", "defer", "--reviewer", "bob"], "");
    let object = next(&["--reviewer", "bob", "--format", "jsonl"]).out;
    let object: Value = serde_json::from_str(&object).unwrap();
    assert_eq!((&object["id"], &object["class"], &object["class_left"]), (&json!("r1"), &json!("flagged"), &json!(2)));
    assert_eq!((&object["left"], &object["records"]), (&json!(4), &json!(4)));
    for (more, words) in [
        (&["--id", "r9", "--verdict", "pass"][..], "not saved: no record has the id \"r9\""),
        (&["--id", "r1", "--verdict", "maybe"], "not saved: invalid verdict \"maybe\" (use pass"),
        (&["--verdict", "pass"], "lacks an item"),
        (&["--id", "r1"], "--verdict"),
    ] {
        let ran = folder.run(&[&["review", "add", "runs.jsonl"], more].concat(), "");
        assert!(ran.code == 2 && ran.said.contains(words), "{more:?}: {}", ran.said);
    }
}

#[test]
fn what_next_proposes_judges_the_record_that_it_showed() {
    let folder = Folder::new();
    let proposed = |arguments: &[&str]| {
        let next = folder.ok(&[&["review", "next"], arguments].concat(), "");
        let command = next.lines().find_map(|line| line.strip_prefix("  stepscope "));
        command.expect(&next).split(' ').map(str::to_owned).collect::<Vec<String>>()
    };
    let judge = |command: &[String]| {
        folder.ok(&command.iter().map(String::as_str).collect::<Vec<_>>(), "");
    };
    let add = |more: &[&str]| folder.run(&[&["review", "add", "two.jsonl", "--verdict", "fail"], more].concat(), "");

    // Two records with one id.
    folder.write(
        "two.jsonl",
        [run(1, 5.0, 5.0), run(1, 6.0, 6.0).replace("\"row_index\":1", "\"row_index\":2")].join("\n"),
    );
    // An id that begins like an option, and one that is not shown as it is.
    folder.write(
        "odd.jsonl",
        run(1, 5.0, 5.0).replace("\"r1\"", "\"-x\"")
            + "\n"
            + &run(2, 5.0, 5.0).replace("\"r2\"", "\"a\\u0007\\ud800\""),
    );
    judge(&proposed(&["odd.jsonl"]));
    assert_eq!(
        folder.ok(&["review", "add", "odd.jsonl", "--id", "-x", "--verdict", "pass", "--note", "-"], ""),
        "saved -x\n"
    );
    let next = folder.ok(&["review", "next", "odd.jsonl"], "");
    let (line, command) = next.lines().last().unwrap().split_once(" | stepscope ").unwrap();
    let line = line.strip_prefix("  printf '%s\\n' '").unwrap().strip_suffix('\'').unwrap();
    folder.ok(&command.split(' ').collect::<Vec<_>>(), line);
    assert_eq!(folder.run(&["review", "next", "odd.jsonl"], "").code, 1);
    let first = proposed(&["two.jsonl", "--reviewer", "bob", "--reviewer-kind", "model"]);
    assert!(first.join(" ").ends_with("--reviewer bob --reviewer-kind model --verdict pass"), "{first:?}");
    judge(&first);
    assert_eq!(
        folder.run(&["check", "two.jsonl", "--expect", "none"], "").said,
        "stepscope: cannot open none: no such file\n"
    );
    let checked = folder.ok(&["check", "two.jsonl", "--reviewed"], "");
    assert!(
        checked.ends_with("; reviewed: 1 pass, 1 open; 1 record repeats an id: line 2 has the id of line 1\n"),
        "{checked}"
    );
    let ambiguous = add(&["--id", "r1"]);
    assert_eq!(ambiguous.code, 2);
    assert!(ambiguous.said.contains("2 records have this name; add --row or --sha256"), "{}", ambiguous.said);
    let filtered = |filter: &str| {
        folder.run(&["review", "next", "two.jsonl", "--ids", "--reviewer", "eve", "--filter", filter], "").code
    };
    assert_eq!((filtered("verdict:pass"), filtered("verdict:open")), (1, 0), "it tells nobody what others said");
    let object: Value =
        serde_json::from_str(&folder.ok(&["review", "next", "two.jsonl", "--format", "jsonl"], "")).unwrap();
    assert_eq!(object["sha256"].as_str().map(str::len), Some(64), "{object}");
    judge(&proposed(&["two.jsonl", "--reviewer", "bob"]));
    assert_eq!(folder.run(&["review", "next", "two.jsonl", "--reviewer", "bob"], "").code, 1, "each is judged once");
    assert_eq!(add(&["--id", "r1", "--row", "2"]).code, 0);
    let elsewhere = add(&["--id", "r1", "--row", "9"]);
    assert!(elsewhere.code == 2 && elsewhere.said.contains("the record \"r1\" is not in row 9"), "{}", elsewhere.said);
    let rows: Vec<_> = folder.json(&["review", "list", "two.jsonl", "--format", "jsonl"]);
    let rows: Vec<_> =
        rows.iter().map(|row| (row["row_index"].as_u64().unwrap(), row["outcome"].as_str().unwrap())).collect();
    assert_eq!(rows, [(1, "pass"), (2, "disputed")]);
    let changed = add(&["--id", "r1", "--sha256", &"0".repeat(64)]);
    assert!(changed.code == 2 && changed.said.contains("it has changed"), "{}", changed.said);
    let table = folder.ok(&["review", "export", "two.jsonl", "--format", "csv"], "");
    folder.write("two.csv", table.replace("ada", "eve").replace("bob", "eve"));
    folder.ok(&["review", "import", "two.csv", "two.jsonl", "--reviewer", "eve", "--reviews", "eve"], "");
    let events: Vec<Value> = folder.text("eve").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.iter().map(|event| &event["item"]["row_index"]).collect::<Vec<_>>(), [1, 2, 2]);

    // The same id in two files, each with its own log.
    folder.write("a.jsonl", run(1, 5.0, 5.0));
    folder.write("b.jsonl", run(1, 6.0, 6.0));
    let command = proposed(&["a.jsonl", "b.jsonl"]);
    assert_eq!(command[2], "a.jsonl");
    judge(&command);
    judge(&proposed(&["a.jsonl", "b.jsonl"]));
    assert_eq!(folder.run(&["review", "next", "a.jsonl", "b.jsonl"], "").code, 1);
    // In one log of its own.
    for _ in 0..2 {
        judge(&proposed(&["a.jsonl", "b.jsonl", "--reviews", "both", "--reviews", "two.jsonl.reviews.jsonl"]));
    }
    assert_eq!(folder.text("both").lines().count(), 2);
}

#[test]
fn parts_of_several_files_are_numbered_over_all_of_them_as_on_the_screen() {
    let folder = Folder::new();
    let runs = |ids: std::ops::Range<usize>| ids.map(|n| run(n, 4.0, 5.0) + "\n").collect::<String>();
    folder.write("a.jsonl", runs(0..3));
    folder.write("b.jsonl", runs(10..14));
    folder.write("j", "");
    let files = ["a.jsonl", "b.jsonl", "--reviews", "j"];
    let part = |part: &str, by: &str| {
        let mut ids = Vec::new();
        loop {
            let asked = ["--assign", part, "--reviewer", by, "--ids"];
            let ran = folder.run(&[&["review", "next"], &files[..], &asked].concat(), "");
            if ran.code == 1 {
                return ids;
            }
            let id = ran.out.trim().to_owned();
            let said = ["--id", &id, "--verdict", "pass", "--reviewer", by];
            folder.ok(&[&["review", "add"], &files[..], &said].concat(), "");
            ids.push(id);
        }
    };
    assert_eq!(part("1/2", "ada"), ["r0", "r2", "r11", "r13"]);
    assert_eq!(part("2/2", "bob"), ["r1", "r10", "r12"]);
    // Two sources of which one is read only once cannot be numbered before they are read.
    let piped = folder.run(&["review", "next", "a.jsonl", "-", "--reviews", "j", "--assign", "1/2"], "");
    assert!(piped.code == 2 && piped.said.contains("pass files"), "{}", piped.said);
}

#[test]
fn an_item_that_one_batch_judges_twice_is_told() {
    let folder = Folder::new();
    let no_id = |answer: f64| {
        let mut record: Value = serde_json::from_str(&run(0, answer, 5.0)).unwrap();
        let object = record.as_object_mut().unwrap();
        object.retain(|key, _| key != "id" && key != "row_index");
        record.to_string() + "\n"
    };
    folder.write("runs.jsonl", &(no_id(5.0) + &no_id(4.0)));
    let lines = [
        json!({"row_index": 0, "verdict": "pass"}),
        json!({"row_index": 1, "verdict": "pass"}),
        json!({"row_index": 1, "verdict": "fail", "labels": ["misread"]}),
        json!({"row_index": 1, "verdict": "fail", "labels": ["misread"]}),
        json!({"row_index": 0, "verdict": "pass", "note": "sure"}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let ran = folder.run(&["review", "add", "runs.jsonl"], &lines);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 5), "{}{}", ran.out, ran.said);
    let said: Vec<&str> = ran.said.lines().collect();
    let expected = [
        "stepscope: line 3 changes line 2: row 1 was pass, is fail now",
        "stepscope: line 5 changes line 1: row 0 stays pass, with other words or labels",
    ];
    assert_eq!(said, expected);
    folder.write("others.jsonl", &(run(1, 4.0, 5.0) + "\n"));
    folder.write("twice.csv", "id,verdict\nr1,pass\nr1,fail\n");
    let imported = folder.run(&["review", "import", "twice.csv", "others.jsonl"], "");
    assert_eq!(imported.said, "stepscope: row 2 changes row 1: r1 was pass, is fail now\n");
    // Each is judged once: a later verdict takes the place of the earlier.
    let list = folder.ok(&["review", "list", "runs.jsonl"], "");
    assert_eq!(list.lines().count(), 2);
    assert!(list.contains("row 0  pass") && list.contains("row 1  fail"), "{list}");
}

#[test]
fn parts_of_an_answer_are_judged_listed_and_exported() {
    let folder = Folder::new();
    let span = json!({"line_start": 0, "line_end": 0, "quote": "red"});
    let answer = json!({"format": "stepscope.answer_trace", "version": 1, "id": "r1", "question": "Which?",
        "answer": {"answer_found": true, "items": [{"text": "red", "spans": [span]}, {"text": "blue", "spans": [span, span]}]}});
    folder.write("answers.jsonl", format!("{answer}\n{}\n", run(2, 4.0, 5.0)));
    let part = |id, verdict_word: &str, more: &Value| verdict(id, verdict_word, more);
    let lines = part(1, "fail", &json!({"part": {"item": 1}, "labels": ["wrong_citation"]}))
        + &part(1, "pass", &json!({"part": {"item": 1, "citation": 1}}))
        + &part(1, "pass", &json!({"part": {"item": 0}}))
        + &part(1, "fail", &json!({"part": {"item": 0}}));
    let added = folder.run(&["review", "add", "answers.jsonl"], &lines);
    assert_eq!(added.said, "stepscope: line 4 changes line 3: r1, item A was pass, is fail now\n");
    let list = folder.ok(&["review", "list", "answers.jsonl"], "");
    let said = "ada fail item A · ada fail item B (wrong citation) · ada pass item B, citation 2";
    assert!(list.starts_with(&format!("r1  open      Which?  {said}\n")), "{list}");
    let exported = &folder.json(&["review", "export", "answers.jsonl"])[0];
    assert_eq!((&exported["outcome"], exported["events"].as_array().unwrap().len()), (&json!("open"), 3));
    assert_eq!(exported["events"][2]["part"], json!({"item": 1, "citation": 1}));
    let csv = folder.ok(&["review", "export", "answers.jsonl", "--format", "csv"], "");
    assert!(csv.lines().next().unwrap().ends_with(",event_id,item,citation,sha256"), "{csv}");
    let (cells, sha256) = csv.lines().nth(3).unwrap().rsplit_once(',').unwrap();
    assert!(cells.ends_with(",1,1") && sha256.len() == 64, "{csv}");
    let markdown = folder.ok(&["review", "export", "answers.jsonl", "--format", "markdown"], "");
    let said = "| ada: fail item A, ada: fail item B (wrong citation), ada: pass item B, citation 2 |";
    assert!(markdown.contains(said), "{markdown}");
    let stats = &folder.json(&["review", "stats", "answers.jsonl", "--format", "jsonl"])[0];
    assert_eq!(stats["parts"], json!({"pass": 1, "fail": 2, "defer": 0, "skip": 0}));
    assert_eq!(stats["part_labels"], json!([{"name": "wrong_citation", "items": 1}]));
    assert_eq!(stats["outcomes"]["open"], json!(1), "the item itself is not judged by them");
    let told = folder.ok(&["review", "stats", "answers.jsonl"], "");
    assert!(told.contains("2 of 2 records unreviewed"), "{told}");
    assert!(told.contains("verdicts on parts of answers\n  pass ") && told.contains("failed parts by label"), "{told}");
    // In another's table, too, no part becomes a verdict on the whole answer.
    folder.write("said.csv", csv.replace(",ada,", ",bob,"));
    folder.ok(&["review", "import", "said.csv", "answers.jsonl", "--reviewer", "bob"], "");
    let list = folder.ok(&["review", "list", "answers.jsonl"], "");
    assert!(list.starts_with("r1  open ") && list.contains("bob pass item B, citation 2"), "{list}");
    for (cells, words) in [("x,", "\"x\" names no item or citation"), (",1", "it has a citation and no item")] {
        folder.write("wrong.csv", format!("id,verdict,item,citation\nr1,fail,{cells}\n"));
        let ran = folder.run(&["review", "import", "wrong.csv", "answers.jsonl"], "");
        assert!(ran.code == 2 && ran.said.contains(words), "{}", ran.said);
    }
    // And they go with the page, on which each names its part, and come back from it.
    folder.ok(&["export", "answers.jsonl", "--id", "r1", "--html", "page.html", "--md", "page.md"], "");
    let page = folder.text("page.html");
    assert!(page.contains("fail</span> item B <strong>ada"), "{page}");
    assert!(folder.text("page.md").contains("- pass of item B, citation 2 by"));
    folder.ok(&["export", "page.html", "--html", "again.html"], "");
    assert!(folder.text("again.html").contains(r#""verdict":"fail","part":{"item":1},"labels":["wrong_citation"]"#));
    for (id, more, words) in [
        (1, json!({"part": {"item": 2}}), "there is no item 2 (from 0): this answer has 2"),
        (1, json!({"part": {"item": 0, "citation": 1}}), "there is no citation 1 (from 0): this item has 1"),
        (2, json!({"part": {"item": 0}}), "this record is no answer with cited lines"),
    ] {
        let ran = folder.run(&["review", "add", "answers.jsonl"], &verdict(id, "pass", &more));
        assert!(ran.code == 2 && ran.said.contains(words), "{}", ran.said);
    }
}

#[test]
fn everything_given_is_saved_whoever_reads_what_is_said_of_it() {
    let folder = Folder::new();
    let passed: Vec<String> = (1..=40).map(|n| format!(r#"{{"id": "r{n}", "verdict": "pass"}}"#)).collect();
    folder.write("in", passed.join("\n"));
    let add = "\"$0\" review add --reviews r.jsonl --reviewer ada < in";
    let run = |script: &str| {
        let mut command = Command::new("sh");
        let command = command.args(["-c", script, env!("CARGO_BIN_EXE_stepscope")]).current_dir(folder.0.path());
        command.output().unwrap().status.code()
    };
    assert_eq!(run(&format!("{{ {add}; echo $? > code; }} | head -n 1 > first")), Some(0));
    assert_eq!((folder.text("first").as_str(), folder.text("code").as_str()), ("saved r1\n", "0\n"));
    assert_eq!(folder.text("r.jsonl").lines().count(), 40);
    std::fs::remove_file(folder.path("r.jsonl")).unwrap();
    assert_eq!(run(&format!("{add} > /dev/full 2> said")), Some(2));
    assert_eq!(folder.text("r.jsonl").lines().count(), 1, "nobody could be told of more");
    assert!(folder.text("said").contains("what follows line 1 is not saved; give it again"));
}

#[test]
fn a_file_that_is_named_twice_counts_once() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{\"id\": \"a\", \"question\": \"Q?\", \"gold_num\": 1.0, \"correct\": false}\n");
    let two = ["a.jsonl", "./a.jsonl"];
    assert!(folder.ok(&[&["review", "stats"], &two[..]].concat(), "").ends_with("1 of 1 records unreviewed\n"));
    let once = folder.ok(&["review", "next", "a.jsonl"], "");
    assert_eq!(folder.ok(&[&["review", "next"], &two[..]].concat(), ""), once);
    folder.ok(&[&["review", "add"], &two[..], &["--id", "a", "--verdict", "pass"]].concat(), "");
    assert_eq!(folder.run(&[&["review", "next"], &two[..]].concat(), "").code, 1);
}

#[test]
fn commands_that_do_not_take_standard_input_say_so() {
    let folder = Folder::new();
    for command in ["merge", "import"] {
        let ran = folder.run(&["review", command, "-"], "");
        assert_eq!((ran.code, ran.said.as_str()), (2, "stepscope: standard input is not taken here; pass a file\n"));
    }
}

#[test]
fn verdicts_in_the_order_drawn_say_how_accurate_all_records_are() {
    let folder = Folder::new();
    folder.write("runs.jsonl", runs());
    let stats = |folder: &Folder| folder.json(&["review", "stats", "runs.jsonl", "--format", "jsonl"]).remove(0);
    let next = || folder.json(&["review", "next", "runs.jsonl", "--sample", "7", "--format", "jsonl"]).remove(0);
    let first = next();
    let drawn = first["drawn"].as_str().unwrap();
    assert!(drawn == "7:doubtful" || drawn == "7:clear", "{first}");
    let text = folder.ok(&["review", "next", "runs.jsonl", "--sample", "7"], "");
    assert!(text.contains(&format!("--drawn {drawn} --verdict pass")), "{text}");
    // Without a draw nothing is stated, whatever people chose.
    let chosen = r#"{"id": "r100", "verdict": "pass"}"#;
    folder.ok(&["review", "add", "runs.jsonl"], chosen);
    assert!(stats(&folder)["accuracy"]["why_not"].as_str().unwrap().contains("no verdict says its record was drawn"));
    let printed = folder.ok(&["review", "stats", "runs.jsonl"], "");
    assert!(printed.contains("accuracy not stated: no verdict says its record was drawn"), "{printed}");
    // The order of the queue, judged as far as the first seventy.
    for n in 0..70 {
        let (id, drawn) = {
            let next = next();
            (next["id"].as_str().unwrap().to_owned(), next["drawn"].as_str().unwrap().to_owned())
        };
        let verdict = if id[1..].parse::<usize>().unwrap() < 42 { "fail" } else { "pass" };
        folder.ok(&["review", "add", "runs.jsonl", "--id", &id, "--drawn", &drawn, "--verdict", verdict], "");
        if n == 20 {
            let few = stats(&folder)["accuracy"]["why_not"].as_str().unwrap().to_owned();
            assert!(few.starts_with("not stated yet: "), "{few}");
        }
    }
    let accuracy = &stats(&folder)["accuracy"];
    let [share, low, high] = ["share", "low", "high"].map(|key| accuracy[key].as_f64().unwrap());
    assert!(low <= 232.0 / 275.0 && 232.0 / 275.0 <= high && low < share && share < high, "{accuracy}");
    // The expected answers tell nearly all: the interval is far narrower than that of seventy random records.
    assert!(high - low < 0.08, "{accuracy}");
    assert_eq!(accuracy["records"], 275);
    let printed = folder.ok(&["review", "stats", "runs.jsonl"], "");
    let line = printed.lines().find(|line| line.starts_with("accuracy ")).unwrap();
    assert!(line.contains(" % ± ") && line.contains(" verdicts"), "{line}");
    // A draw is what the queue says, and a queue of a part draws nothing.
    let ran = folder.run(&["review", "add", "runs.jsonl"], r#"{"id": "r101", "verdict": "pass", "drawn": "by dice"}"#);
    assert!(ran.code == 2 && ran.said.contains("7:doubtful"), "{}", ran.said);
    let part = folder.json(&["review", "next", "runs.jsonl", "--shuffle", "7", "--assign", "1/2", "--format", "jsonl"]);
    let filtered = ["review", "next", "runs.jsonl", "--shuffle", "7", "--filter", "correct:true", "--format", "jsonl"];
    assert!(part[0].get("drawn").is_none() && folder.json(&filtered)[0].get("drawn").is_none());
    let whole = folder.json(&["review", "next", "runs.jsonl", "--shuffle", "7", "--format", "jsonl"]);
    assert_eq!(whole[0]["drawn"], "7:all");
    assert_eq!(folder.run(&["review", "next", "runs.jsonl", "--sample", "7", "--shuffle", "7"], "").code, 2);
}

#[test]
fn peers_are_signals_of_the_queue_and_of_the_figures() {
    let folder = Folder::new();
    let all = |wrong: usize, order: fn(usize) -> String| {
        let chain = |id: usize| {
            let (sum, question) =
                (id + 5 + usize::from(id.is_multiple_of(wrong)), format!("Ann has {id} pens and buys 5. How many?"));
            let step = format!("{} = {sum}. The answer is {sum}.", order(id));
            format!("{}\n", json!({"id": id, "question": question, "steps": [step]}))
        };
        (10..130).map(chain).collect::<String>()
    };
    folder.write("runs.jsonl", all(4, |id| format!("{id} + 5")));
    folder.write("other.jsonl", all(7, |id| format!("5 + {id}")));
    let queue = ["review", "next", "runs.jsonl", "--sample", "7", "--format", "jsonl", "--peers", "other.jsonl"];
    for _ in 0..70 {
        let next = folder.json(&queue).remove(0);
        let id = next["id"].as_str().unwrap();
        let verdict = if id.parse::<usize>().unwrap() % 4 == 0 { "fail" } else { "pass" };
        let line = json!({"id": id, "verdict": verdict, "drawn": next["drawn"]}).to_string();
        folder.ok(&["review", "add", "runs.jsonl"], &line);
    }
    let stats = |peers: &[&str]| {
        folder.json(&[&["review", "stats", "runs.jsonl", "--format", "jsonl"], peers].concat())[0]["accuracy"].clone()
    };
    let stated = stats(&["--peers", "other.jsonl"]);
    assert!(stated["low"].as_f64().unwrap() <= 0.75 && stated["high"].as_f64().unwrap() >= 0.75, "{stated}");
    let without = stats(&[]);
    assert!(without["why_not"].as_str().unwrap().contains("pass the same --peers"), "{without}");
}
