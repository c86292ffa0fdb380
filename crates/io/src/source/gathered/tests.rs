//! Tests of what is gathered, on small files of every program.

use std::path::Path;

use super::*;
use crate::source::open::Blob as Bytes;
use crate::source::open::{Opened, open};
use serde_json::Value as Json;
use stepscope_base::json::Tape;
use stepscope_base::text::Shown;
use stepscope_record::{RecordKind, formats};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/gathered").join(name)
}

fn gathered(blob: Blob, named: &[PathBuf]) -> Option<GatheredLines> {
    let mut text = Vec::new();
    blob.read(0, 1 << 24, &mut text).unwrap();
    let layout = Layout::of(&text, true)?;
    let mut found: Option<&'static Gatherer> = None;
    let blob = Arc::new(blob);
    Values::new(blob.clone(), layout)
        .each(&mut |root, _| {
            found = found.or_else(|| root.and_then(gatherer_of));
            Ok(())
        })
        .unwrap();
    let gatherer = found?;
    Some(gatherer.read(&blob, layout, named).unwrap())
}

fn lines(made: &GatheredLines) -> Vec<String> {
    let mut text = Vec::new();
    made.lines.read(0, made.lines.len().unwrap() as usize, &mut text).unwrap();
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// Reads a file, each line of which must be a record of a known kind.
fn read_at(path: &Path) -> (Vec<Json>, String) {
    let Opened::File(blob) = open(path).unwrap() else { panic!("no file") };
    let made = gathered(blob, &[]).expect("recognised");
    let known = |line: &String| {
        let mut tape = Tape::default();
        let kind = formats::read(tape.parse(line.as_bytes()).unwrap()).kind;
        use RecordKind::{Call, Error, Procedural, Typed};
        assert!(matches!(kind, Procedural | Error | Call | Typed), "{kind:?} {line}");
        serde_json::from_str(line).unwrap()
    };
    (lines(&made).iter().map(known).collect(), made.note.as_str().to_owned())
}

fn read(name: &str) -> (Vec<Json>, String) {
    read_at(&fixture(name))
}

fn names(run: &Json) -> Vec<(&str, Option<u64>)> {
    let steps = run["trace"]["steps"].as_array().unwrap();
    steps.iter().map(|step| (step["name"].as_str().unwrap(), step["parent"].as_u64())).collect()
}

#[test]
fn a_trace_is_one_run_with_its_spans_as_steps() {
    let (runs, note) = read("openinference.jsonl");
    assert_eq!((runs.len(), note.as_str()), (2, "read as traces"));
    let [found, failed] = runs.as_slice() else { panic!("two") };
    assert_eq!(found["question"], "Where is order 17?");
    assert_eq!(found["pred_answer"], "In Graz, two days from you.");
    assert_eq!((&found["model"], &found["status"]), (&Json::from("tiny-2"), &Json::from("ok")));
    let below = Some(0);
    assert_eq!(
        names(found),
        [("support", None), ("ChatCompletion", below), ("find_order", below), ("ChatCompletion", below)]
    );
    let steps = &found["trace"]["steps"];
    assert_eq!(
        steps[1]["tool_calls"],
        serde_json::json!([{"id": "c1", "name": "find_order", "arguments": {"number": 17}}])
    );
    assert_eq!(steps[1]["usage"], serde_json::json!({"prompt_tokens": 31, "completion_tokens": 9}));
    assert_eq!((&steps[1]["finish_reason"], &steps[1]["raw"]), (&Json::from("tool_calls"), &Json::from("")));
    assert_eq!(steps[1]["prompt"][1]["content"], "Where is order 17?");
    assert_eq!(steps[1]["attributes"]["user.id"], "zoë", "what nothing else tells is kept");
    assert_eq!(steps[1]["duration_ms"], 20);
    assert_eq!(steps[2]["inputs"], serde_json::json!({"number": 17}));
    assert_eq!(steps[2]["outputs"], serde_json::json!({"result": {"city": "Graz", "days": 2}}));
    assert_eq!((&failed["status"], &failed["error"]), (&Json::from("error"), &Json::from("RateLimitError: slow down")));
    assert_eq!((failed.get("pred_answer"), &failed["trace"]["steps"][1]["error"]), (None, &failed["error"]));
}

#[test]
fn every_dialect_says_the_same() {
    for name in ["genai.jsonl", "genai_old.jsonl", "logged.jsonl"] {
        let (runs, note) = read(name);
        assert_eq!(runs.len(), 1, "{name}");
        let (run, steps) = (&runs[0], &runs[0]["trace"]["steps"]);
        assert_eq!(
            (&run["question"], &run["pred_answer"]),
            (&"Where is order 17?".into(), &"In Graz.".into()),
            "{name}"
        );
        let [first, last] = [&steps[1], &steps[2]];
        assert_eq!(first["tool_calls"][0]["arguments"]["number"], 17, "{name}");
        assert!(first["finish_reason"].as_str().unwrap().starts_with("tool_call"), "{name}");
        assert_eq!((&last["raw"], &last["finish_reason"]), (&"In Graz.".into(), &"stop".into()), "{name}");
        assert_eq!(last["usage"]["completion_tokens"], 9, "{name}");
        assert!(last["model"].as_str().unwrap().starts_with("tiny-2"), "{name}");
        assert_eq!(note.contains("with the texts in"), name == "logged.jsonl", "{note}");
    }
    assert_eq!(read("genai.jsonl").0[0]["trace"]["steps"][1]["prompt"][0]["content"], "Use the tools.");
    let (runs, _) = read("logged.jsonl");
    let roles = |message: &Json| message["role"].as_str().unwrap().to_owned();
    let prompt = runs[0]["trace"]["steps"][1]["prompt"].as_array().unwrap();
    assert_eq!(prompt.iter().map(roles).collect::<Vec<_>>(), ["system", "user"], "in the order of their times");
    let (runs, _) = read("console.json");
    assert_eq!((&runs[0]["question"], &runs[0]["pred_answer"]), (&"Where is order 17?".into(), &"In Graz.".into()));
    assert_eq!(runs[0]["trace"]["steps"][1]["started_utc"], "2025-10-09T08:53:20.005Z");
}

#[test]
fn texts_of_logs_alone_are_calls_and_their_absence_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        std::fs::copy(fixture(name), folder.path().join(name)).unwrap();
        read_at(&folder.path().join(name))
    };
    let (_, note) = copy("logged.jsonl");
    assert!(note.contains("2 calls have no texts: they were not recorded"), "{note}");
    let (runs, _) = read("logged.logs.jsonl");
    let steps = runs[0]["trace"]["steps"].as_array().unwrap();
    assert_eq!((runs.len(), steps.len(), &steps[1]["raw"]), (1, 2, &"In Graz.".into()));
}

#[test]
fn what_services_that_observe_runs_export_is_a_run() {
    let (runs, note) = read("langsmith.jsonl");
    assert_eq!((runs.len(), note.as_str()), (2, "read as traces"));
    let (run, below) = (&runs[0], Some(0));
    assert_eq!((&run["question"], &run["pred_answer"]), (&"Where is order 17?".into(), &"In Graz.".into()));
    assert_eq!(
        names(run),
        [("support", None), ("ChatModel", below), ("find_order", below), ("ChatModel", below)],
        "in the order of their times"
    );
    let steps = &run["trace"]["steps"];
    assert_eq!(steps[1]["prompt"][1], serde_json::json!({"role": "user", "content": "Where is order 17?"}));
    assert_eq!(steps[1]["tool_calls"][0]["arguments"]["number"], 17);
    assert_eq!((&steps[1]["model"], &steps[1]["temperature"]), (&"tiny-2".into(), &0.2.into()));
    assert_eq!(steps[1]["started_utc"], "2025-10-09T08:53:20.005Z", "times without a zone are of UTC");
    assert_eq!(
        (&steps[2]["inputs"]["number"], &steps[2]["outputs"]["result"]["output"]["city"]),
        (&17.into(), &"Graz".into())
    );
    assert_eq!((&steps[3]["prompt"], &steps[3]["raw"]), (&"Order 17 is in Graz. Say so.".into(), &"In Graz.".into()));
    assert_eq!(steps[0].get("usage"), None, "a chain has the sums of those inside of it");
    assert_eq!((&runs[1]["status"], &runs[1]["error"]), (&"error".into(), &"RateLimitError: slow down".into()));

    let (runs, _) = read("langfuse.json");
    let (run, steps) = (&runs[0], &runs[0]["trace"]["steps"]);
    assert_eq!((&run["question"], &run["pred_answer"]), (&"Where is order 17?".into(), &"In Graz.".into()));
    assert_eq!(names(run), [("support", None), ("work", below), ("orders", Some(1)), ("answer", Some(1))]);
    assert_eq!((&steps[2]["span_kind"], &steps[2]["error"]), (&"retriever".into(), &"index is old".into()));
    assert_eq!((&steps[3]["raw"], &steps[3]["usage"]["prompt_tokens"]), (&"In Graz.".into(), &21.into()));
    assert_eq!(steps[0]["attributes"]["scores"][0]["name"], "helpful");
}

#[test]
fn sessions_of_agents_are_runs_with_their_turns() {
    for (name, note) in [
        ("adk.json", "sessions of Google ADK"),
        ("autogen.json", "conversations of AutoGen"),
        ("claude.jsonl", "sessions of Claude Code"),
        ("codex.jsonl", "a session of Codex; 1 line is no turn and left out"),
    ] {
        let (runs, said) = read(name);
        assert_eq!((runs.len(), said.as_str()), (1, format!("read as {note}").as_str()));
        let (run, steps) = (&runs[0], &runs[0]["trace"]["steps"]);
        assert_eq!(
            (&run["question"], &run["pred_answer"]),
            (&"Where is order 17?".into(), &"In Graz.".into()),
            "{name}"
        );
        assert_eq!(steps[0]["tool_calls"][0]["name"], "find_order", "{name}");
        assert_eq!(steps[0]["tool_calls"][0]["arguments"], serde_json::json!({"number": 17}), "{name}");
        assert_eq!((&steps[1]["name"], &steps[1]["inputs"]["number"]), (&"find_order".into(), &17.into()), "{name}");
        assert_eq!((&steps[2]["raw"], &steps[1]["span_kind"]), (&"In Graz.".into(), &"tool".into()), "{name}");
        let thought = &steps[0]["reasoning"];
        assert!(name == "autogen.json" || thought == "look it up", "{name} {thought}");
        assert!(name == "autogen.json" || run["model"] == "tiny-2", "{name}");
        assert!(name == "codex.jsonl" || steps[0]["usage"]["completion_tokens"] == 9, "{name}");
        assert!(steps[0]["started_utc"].as_str().unwrap().starts_with("2025-10-09T08:53:2"), "{name}");
    }
    let state = read("adk.json").0;
    assert_eq!(state[0]["state"], serde_json::json!({"found": "Graz", "answer": "In Graz."}));
    assert_eq!(state[0]["trace"]["steps"][1]["outputs"], serde_json::json!({"found": "Graz"}), "written by the tool");
    let failed = read("autogen.json").0;
    assert_eq!(
        (&failed[0]["trace"]["steps"][1]["error"], &failed[0]["status"]),
        (&"index is old".into(), &"ok".into())
    );
    assert_eq!(failed[0]["stop_reason"], "done");
    let later = read("claude.jsonl").0;
    assert_eq!(later[0]["trace"]["steps"][3]["outputs"]["text"], "Thanks", "what a person says later is a turn");
}

#[test]
fn what_only_looks_like_such_an_export_is_none() {
    for text in [
        r#"{"run_type": "chain"}"#,
        r#"{"run_type": "sprint", "parent_run_id": null}"#,
        r#"{"observations": []}"#,
        r#"{"observations": [{"type": "bird", "startTime": "dawn"}]}"#,
        r#"{"observations": [{"type": "SPAN"}]}"#,
        r#"{"app_name": "x", "events": [{"author": "a"}]}"#,
        r#"{"source": "user", "type": "TextMessage"}"#,
        r#"{"messages": [{"source": "a", "type": "X", "models_usage": null}], "stop_reason": "x"}"#,
        r#"{"type": "user", "message": {"role": "user"}, "uuid": "u1"}"#,
        r#"{"type": "summary", "summary": "x"}"#,
        r#"{"type": "response_item", "payload": 7, "timestamp": "t"}"#,
    ] {
        let mut tape = Tape::default();
        assert!(gatherer_of(tape.parse(text.as_bytes()).unwrap()).is_none(), "{text}");
    }
}

#[test]
fn traces_of_mlflow_keep_what_was_assessed() {
    let (runs, _) = read("mlflow.jsonl");
    assert_eq!(runs.len(), 2);
    let run = &runs[0];
    assert_eq!(
        (&run["id"], &run["question"], &run["pred_answer"]),
        (&"tr-7".into(), &"Where is order 17?".into(), &"In Graz.".into())
    );
    assert_eq!(run["assessments"][0]["rationale"], "names the town");
    assert_eq!(
        (&run["trace"]["steps"][1]["raw"], &run["trace"]["steps"][1]["model"]),
        (&"In Graz.".into(), &"tiny-2".into())
    );
    assert_eq!(run["trace"]["steps"][1]["usage"]["prompt_tokens"], 31);
    assert_eq!((&runs[1]["error"], names(&runs[1])), (&"KeyError: 99".into(), vec![("lookup", None)]));
}

#[test]
fn batches_are_joined_with_the_requests_of_their_vendor() {
    let (calls, note) = read("batch/orders_output.jsonl");
    assert!(note.contains("with the requests in") && note.ends_with("orders_input.jsonl"), "{note}");
    let ids: Vec<&str> = calls.iter().map(|call| call["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["o-3", "o-1", "o-2"]);
    assert_eq!(
        (&calls[1]["response"], &calls[1]["prompt"][1]["content"]),
        (&"In Graz.".into(), &"Where is order 17?".into())
    );
    assert_eq!((&calls[1]["model"], &calls[1]["usage"]["prompt_tokens"]), (&"tiny-2-0301".into(), &14.into()));
    assert_eq!(
        [&calls[0]["error"], &calls[2]["error"]],
        ["batch_expired: too late", "invalid_request_error: no such model"]
    );
    let (calls, _) = read("batch/notes_results.jsonl");
    assert_eq!((&calls[0]["error"], &calls[1]["response"]), (&"expired".into(), &"Thank you, Ada.".into()));
    assert_eq!((&calls[1]["prompt"][0]["content"], &calls[1]["reasoning"]), (&"Be kind.".into(), &"short".into()));
}

#[test]
fn a_reply_that_cites_its_documents_is_an_answer() {
    let (answers, _) = read("cited/club-replies.jsonl");
    let [answer] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((&answer["id"], &answer["question"]), (&"a1".into(), &"What does a member pay in August?".into()));
    let lines: Vec<(u64, &str)> = answer["document"]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["page_num"].as_u64().unwrap(), line["text"].as_str().unwrap()))
        .collect();
    let page = |page| lines.iter().filter(|line| line.0 == page).map(|line| line.1).collect::<Vec<_>>();
    assert_eq!(page(1), ["Terms of the club.", "Members pay CHF 30 a month.", "Guests pay nothing."]);
    assert_eq!(page(2), ["Minutes of May.", "The fee rises to CHF 35 – from July.", "Nobody objected."]);
    let statement = |n: usize| &answer["answer"]["fields"][format!("statement {n}")];
    let spans = |n: usize| {
        let spans = statement(n)["spans"].as_array().unwrap().iter();
        spans.map(|span| (span["line_start"].as_u64(), span["line_end"].as_u64())).collect::<Vec<_>>()
    };
    assert_eq!(spans(1), [(Some(4), Some(4))], "characters are counted, not bytes");
    assert_eq!(spans(2), [(Some(1), Some(2))], "over a line break");
    assert_eq!(statement(2)["value"], "CHF 30");

    // Of what is cited otherwise, or of a document that is not there, nothing is said.
    let changed = |from: &str, to: &str| {
        let folder = tempfile::tempdir().unwrap();
        for name in ["club-requests.jsonl", "club-replies.jsonl"] {
            let text = std::fs::read_to_string(fixture("cited").join(name)).unwrap();
            std::fs::write(folder.path().join(name), text.replace(from, to)).unwrap();
        }
        let (records, _) = read_at(&folder.path().join("club-replies.jsonl"));
        let replies = std::fs::read_to_string(fixture("cited/club-replies.jsonl")).unwrap();
        assert_eq!(records[0]["citations"].as_array().unwrap().len(), replies.matches("cited_text").count());
        records[0].clone()
    };
    for (from, to) in [
        (
            "\"type\": \"text\", \"media_type\": \"text/plain\"",
            "\"type\": \"base64\", \"media_type\": \"application/pdf\"",
        ),
        ("\"start_char_index\"", "\"start_page_number\""),
        ("\"document_index\": 1", "\"document_index\": \"1\""),
    ] {
        assert!(changed(from, to).get("answer").is_none(), "{to}");
    }
    let beyond = changed("\"document_index\": 1", "\"document_index\": 7");
    assert!(beyond["answer"]["fields"]["statement 1"]["spans"][0].get("line_start").is_none(), "leads to no line");
}

#[test]
fn requests_are_shown_once() {
    let folder = crate::source::beneath::UnderRoot::root(&fixture("batch")).unwrap();
    let found = |name: &str| gathered(crate::source::open::open_beneath(&folder.join(name)).unwrap(), &[]).unwrap();
    let requests = found("orders_input.jsonl");
    assert_eq!(lines(&requests).len(), 1, "nothing replied to one");
    assert!(requests.note.as_str().contains("3 of its requests are shown with their replies in"), "{}", requests.note);
    assert_eq!(lines(&found("notes_requests.jsonl")).len(), 0);
    assert_eq!(read("batch/orders_input.jsonl").0.len(), 4, "named alone");
    let one = tempfile::tempdir().unwrap();
    let alone = one.path().join("orders_output.jsonl");
    std::fs::copy(fixture("batch/orders_output.jsonl"), &alone).unwrap();
    let (calls, note) = read_at(&alone);
    assert!(calls.len() == 3 && calls[1]["prompt"].is_null() && note.contains("their prompts are not known"), "{note}");
    let Opened::File(blob) = open(&alone).unwrap() else { panic!("no file") };
    let named = gathered(blob, &[alone, fixture("batch/orders_input.jsonl")]).unwrap();
    assert!(lines(&named)[1].contains("Where is order 17?"), "named along with it");
}

#[test]
fn a_request_that_could_be_of_two_files_is_no_guess() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, of: &str, other: &str| {
        let text = std::fs::read_to_string(fixture(of)).unwrap().replace("order", other);
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    put("may_out.jsonl", "batch/orders_output.jsonl", "order");
    put("may_in.jsonl", "batch/orders_input.jsonl", "order");
    put("june_in.jsonl", "batch/orders_input.jsonl", "parcel");
    let (calls, _) = read_at(&folder.path().join("may_out.jsonl"));
    assert_eq!(calls[1]["prompt"][1]["content"], "Where is order 17?", "by its name");
    std::fs::rename(folder.path().join("may_out.jsonl"), folder.path().join("out.jsonl")).unwrap();
    let (calls, note) = read_at(&folder.path().join("out.jsonl"));
    assert!(calls[1]["prompt"].is_null(), "{note}");
}

#[test]
fn an_application_of_burr_is_one_run() {
    let (runs, note) = read("burr/log.jsonl");
    assert_eq!((runs.len(), note.as_str()), (1, "read as a run of Burr"));
    let (run, steps) = (&runs[0], &runs[0]["trace"]["steps"]);
    assert_eq!(
        (&run["id"], &run["question"], &run["status"]),
        (&"burr".into(), &"Where is order 17?".into(), &"error".into())
    );
    assert_eq!((&run["error"], run.get("pred_answer")), (&"KeyError: 'days'".into(), None));
    assert_eq!(names(run), [("look", None), ("ask", None), ("tell", None)]);
    assert_eq!(steps[0]["inputs"], serde_json::json!({"question": "Where is order 17?"}));
    assert_eq!(steps[0]["outputs"], serde_json::json!({"town": "Graz"}));
    assert_eq!(steps[1]["inputs"], serde_json::json!({"reply": "yes"}));
    assert_eq!(
        steps[1]["state"],
        serde_json::json!({"question": "Where is order 17?", "limit": 3, "town": "Graz", "kind": true})
    );
    assert_eq!(steps[2]["inputs"], serde_json::json!({"town": "Graz", "kind": true}));
    assert_eq!((steps[2].get("outputs"), &steps[2]["writes"][0]), (None, &"final_answer".into()));
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("a.jsonl");
    std::fs::copy(fixture("burr/log.jsonl"), &alone).unwrap();
    let (runs, note) = read_at(&alone);
    assert!(note.contains("graph.json is not next to it"), "{note}");
    assert_eq!(runs[0]["trace"]["steps"][1]["outputs"], serde_json::json!({"kind": true}), "what changed");
}

#[test]
fn messages_of_a_conversation_are_one_call() {
    let (calls, note) = read("turns.json");
    assert_eq!((calls.len(), note.as_str()), (1, "read as messages of pydantic-ai"));
    let call = &calls[0];
    assert_eq!((&call["id"], &call["response"], &call["model"]), (&"c-9".into(), &"In Graz.".into(), &"tiny-2".into()));
    assert_eq!((&call["usage"]["completion_tokens"], &call["reasoning"]), (&11.into(), &"short".into()));
    let prompt = call["prompt"].as_array().unwrap();
    let roles: Vec<&str> = prompt.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert_eq!(prompt[2]["tool_calls"][0]["arguments"]["number"], 17);
}

/// Values that have no place in what is read.
const WRONG: [&str; 9] =
    ["null", "0", "-1e999", "\"\"", "\"x\"", "[]", "{}", "[[{}]]", "{\"stringValue\": {\"intValue\": []}}"];

#[test]
fn whatever_a_value_is_replaced_by_nothing_is_lost_in_silence() {
    for name in [
        "openinference.jsonl",
        "genai.jsonl",
        "genai_old.jsonl",
        "logged.logs.jsonl",
        "console.json",
        "mlflow.jsonl",
        "batch/orders_output.jsonl",
        "batch/notes_requests.jsonl",
        "burr/log.jsonl",
        "turns.json",
    ] {
        let text = std::fs::read(fixture(name)).unwrap();
        let mut tape = Tape::default();
        let layout = Layout::of(&text, true).unwrap();
        let mut places = Vec::new();
        let blob = Arc::new(Bytes::of_bytes(Shown::default(), &text).unwrap());
        Values::new(blob, layout)
            .each(&mut |_, value| {
                let at = memchr::memmem::find(&text, value).unwrap();
                let root = tape.parse(value).unwrap();
                places.extend(root.walk().map(|stop| (at + stop.value.range().start)..(at + stop.value.range().end)));
                Ok(())
            })
            .unwrap();
        for (n, place) in places.iter().enumerate() {
            let wrong = WRONG[n % WRONG.len()];
            let changed = [&text[..place.start], wrong.as_bytes(), &text[place.end..]].concat();
            let Some(made) = gathered(Bytes::of_bytes(Shown::default(), &changed).unwrap(), &[]) else { continue };
            for line in lines(&made) {
                assert!(Tape::default().parse(line.as_bytes()).is_some(), "{name}: {wrong} in place of {n}: {line}");
            }
        }
    }
}

fn of_text(text: &str) -> Option<GatheredLines> {
    gathered(Bytes::of_bytes(Shown::default(), text.as_bytes()).unwrap(), &[])
}

fn otlp(spans: &str) -> String {
    format!("{{\"resourceSpans\": [{{\"scopeSpans\": [{{\"spans\": [{spans}]}}]}}]}}\n")
}

#[test]
fn circles_depth_and_crowds_have_limits() {
    let span = |id: usize, parent: usize| {
        format!(r#"{{"traceId": "t", "spanId": "{id}x", "parentSpanId": "{parent}x", "name": "n"}}"#)
    };
    let circle = of_text(&otlp(&[span(1, 2), span(2, 3), span(3, 1)].join(","))).unwrap();
    assert_eq!(lines(&circle)[0].matches("\"step_index\"").count(), 3);
    let deep =
        format!("{}1{}", r#"{"kvlistValue": {"values": [{"key": "k", "value": "#.repeat(100), "}]}}".repeat(100));
    let span_of =
        format!(r#"{{"traceId": "t", "spanId": "s", "attributes": [{{"key": "input.value", "value": {deep}}}]}}"#);
    assert_eq!(lines(&of_text(&otlp(&span_of)).unwrap()).len(), 1);
    let crowd: String = (1..=20_100).map(|n| otlp(&span(n, n - 1))).collect();
    let made = of_text(&crowd).unwrap();
    assert!(made.note.as_str().contains("100 steps left out"), "{}", made.note);
    assert_eq!((lines(&made).len(), lines(&made)[0].matches("\"step_index\"").count()), (1, 20_000));
}

#[test]
fn one_mark_is_none() {
    for text in [
        r#"{"resourceSpans": []}"#,
        r#"{"resourceSpans": [{"a": 1}]}"#,
        r#"{"context": {"trace_id": "a"}, "name": "x"}"#,
        r#"{"info": {}, "data": {"spans": []}}"#,
        r#"{"custom_id": "a"}"#,
        r#"{"custom_id": "a", "body": {}}"#,
        r#"{"custom_id": "a", "response": "x", "error": null}"#,
        r#"{"type": "begin_entry", "action": "a"}"#,
        r#"{"sequence_id": 1, "action": "a"}"#,
    ] {
        assert!(of_text(text).is_none(), "{text}");
    }
}
