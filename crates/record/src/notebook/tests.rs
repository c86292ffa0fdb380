use super::*;
use serde_json::{Value as Json, json};

/// A notebook with one cell of these outputs.
fn notebook_of(outputs: &[Json]) -> String {
    let cells = json!([
        {"cell_type": "markdown", "source": ["# title"], "metadata": {}},
        {"cell_type": "code", "source": [], "outputs": outputs, "metadata": {}},
    ]);
    json!({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).to_string()
}

fn read(text: &str) -> (Vec<Json>, Vec<String>) {
    let mut tape = Tape::default();
    let root = tape.parse(text.as_bytes()).unwrap();
    assert!(is_notebook(root));
    let notebook = Notebook::read(root);
    let lines: Vec<Json> =
        std::str::from_utf8(&notebook.lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), notebook.records);
    (lines, notebook.others.iter().map(|other| other.as_str().to_owned()).collect())
}

fn stdout(text: &str) -> Json {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    json!({"output_type": "stream", "name": "stdout", "text": lines})
}

/// As upstream prints it.
const RUN: &str = "\
Question: Ann has 2 apples.
She buys 3: how many?
Index:  22
Expected Answer: 5.0
Predicted Answer: 6
Did baseline get it correct?: True
Procedure Output:

--- Procedure: Add: both ---
Steps:

Step 1: Extract: the numbers
  **Inputs**:
    - problem_text: Full text
  **Outputs**:
    - had: Apples before: 2
in two lines
    - bought: Apples bought

Step 2: Say it
  **Inputs**:
    - had: Apples before
    - bought: Apples bought
  **Outputs**:
    - final_answer: The sum
[step 1] inputs: {'problem_text': \"Ann has 2 apples.\\nShe buys 3: how many?\"}
[step 1] outputs: {'had': 2, 'bought': 3.0}
[step 2] inputs: {'had': 2, 'bought': 3.0}
[step 2] outputs: {'final_answer': \"it's 6\", 'final_answer_numerical': 6, 'sure': True}
----- 


";

#[test]
fn json_in_outputs_is_a_record_as_it_is() {
    let answer = r#"{"final_answer":"It is 4.","final_answer_numerical":4,"confidence":0.9}"#;
    let result = json!({"output_type": "execute_result", "data": {"text/plain": answer.replace('"', "'")}});
    let data = json!({"output_type": "display_data", "data": {"application/json": serde_json::from_str::<Json>(answer).unwrap()}});
    for output in [stdout(answer), result, data] {
        let (lines, _) = read(&notebook_of(&[output]));
        assert_eq!(lines, [serde_json::from_str::<Json>(answer).unwrap()]);
    }
}

#[test]
fn printed_runs_become_records_with_every_step() {
    let half = RUN.find("[step 2] inputs").unwrap();
    let noise = json!({"output_type": "stream", "name": "stderr", "text": "Warning: x\u{1b}[2J\n"});
    // A warning may fall between two lines of one run.
    let (lines, others) = read(&notebook_of(&[stdout(RUN), stdout(&RUN[..half]), noise, stdout(&RUN[half..])]));
    assert_eq!(lines.len(), 2);
    let run = &lines[0];
    assert_eq!(run["question"], "Ann has 2 apples.\nShe buys 3: how many?");
    assert_eq!((&run["row_index"], &run["gold_num"], &run["pred_num"]), (&json!(22), &json!(5.0), &json!(6)));
    let steps = &run["procedure"]["steps"];
    assert_eq!(run["procedure"]["NameDescription"], "Add: both");
    assert_eq!(steps[0]["stepDescription"], "Extract: the numbers");
    assert_eq!(steps[0]["output"][0], json!({"name": "had", "description": "Apples before: 2\nin two lines"}));
    assert_eq!((&steps[1]["id"], &steps[1]["inputs"][1]["name"]), (&json!(2), &json!("bought")));
    let calls = &run["trace"]["steps"];
    assert_eq!(calls[0]["inputs"]["problem_text"], "Ann has 2 apples.\nShe buys 3: how many?");
    assert_eq!(calls[1]["outputs"], json!({"final_answer": "it's 6", "final_answer_numerical": 6, "sure": true}));
    assert_eq!(
        (&run["status"], &run["state"]["bought"], &run["state"]["final_answer"]),
        (&json!("ok"), &json!(3.0), &json!("it's 6"))
    );
    assert_eq!(
        (&run["notebook"]["cell"], &run["id"], &lines[1]["id"]),
        (&json!(2), &json!("cell-2-1"), &json!("cell-2-2"))
    );
    assert_eq!(others, ["cell 2: stderr output, Warning: x␛[2J"]);
}

#[test]
fn a_run_that_broke_off_ends_in_the_error_of_its_cell() {
    let cut = &RUN[..RUN.find("[step 2] outputs").unwrap()];
    let error = json!({"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []});
    let (lines, others) = read(&notebook_of(&[stdout(cut), error]));
    assert_eq!(
        (&lines[0]["status"], &lines[0]["error_type"], &lines[0]["error"]),
        (&json!("error"), &json!("KeyError"), &json!("'x'"))
    );
    assert_eq!(others, ["cell 2: an error, KeyError"]);
    let (lines, _) = read(&notebook_of(&[stdout(cut)]));
    assert_eq!(lines[0]["error_type"], "Interrupted");
}

#[test]
fn states_are_runs_too() {
    let text = "Finished 23/20\nState: {'problem_text': '2 + 3?', 'a': None, 'final_answer': '5'}\nIs final answer correct? False\n\
                Finished 24/20\nState: {'problem_text': 'more', 'final_answer': 'x'}\nState: not a dict\n";
    let (lines, _) = read(&notebook_of(&[stdout(text)]));
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["question"], &lines[0]["state"]["a"], &lines[0]["correct"]),
        (&json!("2 + 3?"), &json!(null), &json!(false))
    );
    assert_eq!((&lines[1]["question"], lines[1].get("correct")), (&json!("more"), None));
    // The runner's value, under what it printed; older versions printed no outputs.
    let printed =
        "[step 1] inputs: {'problem_text': 'q'}\n[step 1] outputs: {k: state[k] for k in ['a'] if k in state}\n";
    let result =
        json!({"output_type": "execute_result", "data": {"text/plain": ["{'problem_text': 'q',\n", " 'a': 1}"]}});
    let (lines, _) = read(&notebook_of(&[stdout(printed), result.clone()]));
    assert_eq!((lines.len(), &lines[0]["state"]["a"], &lines[0]["status"]), (1, &json!(1), &json!("ok")));
    assert_eq!(read(&notebook_of(&[result])).0[0]["question"], "q");
}

#[test]
fn json_in_outputs_is_read_and_the_rest_is_named() {
    let procedure =
        json!({"NameDescription": "n", "steps": [{"id": 1, "stepDescription": "s", "inputs": [], "output": []}]});
    let pretty = serde_json::to_string_pretty(&json!([procedure, procedure])).unwrap();
    let text = format!("some words\n[not json\n{pretty}\n{procedure}\n{{\"unknown\": 1}}\n");
    assert_eq!(read(&notebook_of(&[stdout(&text)])).0.len(), 3);
    let data = |data: Json| json!({"output_type": "display_data", "data": data, "metadata": {}});
    let (lines, others) = read(&notebook_of(&[
        data(json!({"application/json": {"final_answer": "5"}})),
        data(json!({"text/plain": "[{'NameDescription': 'n', 'steps': []}]"})),
        data(json!({"text/plain": "<Figure size 640x480>"})),
        data(json!({"application/json": [1, 2]})),
    ]));
    assert_eq!((lines[0]["final_answer"].as_str(), lines[1]["NameDescription"].as_str()), (Some("5"), Some("n")));
    assert_eq!(others, ["cell 2: a result, <Figure size 640x480>", "cell 2: JSON that is not a record"]);
    let (lines, others) = read(&notebook_of(&[stdout("hello\nworld\n")]));
    assert_eq!((lines.len(), others), (0, vec!["cell 2: printed text, hello".to_owned()]));
}

const RECORD: &str = r#"{"question": "2 + 3?", "steps": ["2 + 3 = 5"], "answer": 5}"#;

#[test]
fn every_record_of_an_output_is_read() {
    let result = |text: &str| json!({"output_type": "execute_result", "data": {"text/plain": text}});
    let coloured = RECORD.replace("\"question\"", "\u{1b}[94m\"question\"\u{1b}[0m");
    let printed = "{'question': '2 + 3?', 'steps': ['2 + 3 = 5'], 'answer': 5, 'ok': True}";
    let half = RECORD.len() / 2;
    for (outputs, records) in [
        (vec![stdout(&format!("{RECORD} {RECORD}{RECORD}, [{RECORD}]\n{RECORD}"))], 5),
        (vec![stdout(&format!("\u{1b}[32m{RECORD}\u{1b}[0m\n{coloured}\n"))], 2),
        (vec![stdout(&RECORD[..half]), result("<Figure>"), stdout(&RECORD[half..])], 1),
        (vec![stdout(&format!(" 10%\r 100%\r{RECORD}\n"))], 1),
        (vec![stdout(&format!("{printed}\n{printed} {RECORD}\n"))], 3),
        (vec![result(&format!("{RECORD}\n{RECORD}"))], 2),
        (vec![result(&format!("{printed}\n{printed}"))], 2),
        (vec![result(&format!("'{RECORD}\\n{RECORD}'"))], 2),
    ] {
        assert_eq!(read(&notebook_of(&outputs)).0.len(), records, "{outputs:?}");
    }
}

#[test]
fn what_looks_like_a_record_and_is_not_read_is_named() {
    let broken = &RECORD[..RECORD.len() - 4];
    let (lines, others) = read(&notebook_of(&[stdout(&format!("{RECORD}\n{broken}\n{RECORD}\n"))]));
    assert_eq!(lines.len(), 2);
    assert!(others[0].starts_with("cell 2: JSON that cannot be read, {\"question\""), "{others:?}");
    let (lines, others) = read(&notebook_of(&[stdout(&format!("{RECORD}\nINFO: {RECORD}\n  {RECORD}\nx {{'a'}}\n"))]));
    assert_eq!((lines.len(), others.len()), (1, 2), "{others:?}");
    assert!(others[0].starts_with("cell 2: a record that does not begin its line, INFO: {"), "{others:?}");
    let (lines, others) = read(&notebook_of(&[stdout(&format!("{RUN}\n{RECORD}\n"))]));
    assert_eq!((lines.len(), others.len()), (1, 1), "{others:?}");
    assert!(others[0].starts_with("cell 2: JSON next to printed runs, {"), "{others:?}");
}

#[test]
fn hostile_text_costs_no_more_than_its_size() {
    for text in [
        "[".repeat(1 << 20),
        "{\n".repeat(1 << 19),
        "[step 1] inputs: {\n".repeat(50_000),
        "Step 1: x\n".repeat(100_000),
        "{\"a\": '\n".repeat(100_000),
        "{'a': \"".repeat(100_000),
        "[1] {'a': 1} ".repeat(50_000),
    ] {
        let (lines, _) = read(&notebook_of(&[stdout(&format!("--- Procedure: p ---\n{text}"))]));
        assert!(lines.len() <= 2, "{}", lines.len());
        read(&notebook_of(&[stdout(&text)]));
    }
    let (lines, _) = read(&notebook_of(&[stdout(&format!("{}{RECORD}\n", "{\n".repeat(1000)))]));
    assert_eq!(lines.len(), 1, "what was broken before it costs no record");
}

#[test]
fn old_notebooks_have_worksheets() {
    let cell = json!({"cell_type": "code", "outputs": [{"output_type": "stream", "stream": "stdout", "text": RUN}]});
    let text = json!({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [cell]}]}).to_string();
    assert_eq!(read(&text).0.len(), 1);
}

#[test]
fn what_is_too_much_is_counted() {
    let line = r#"{"question": "2 + 3?", "steps": ["2 + 3 = 5"], "answer": 5}"#;
    let mut outputs = vec![stdout(&format!("{line}\n").repeat(MAX_RECORDS + 3))];
    outputs.resize(MAX_NAMED + 3, json!({"output_type": "error", "ename": "E", "evalue": "", "traceback": []}));
    let mut tape = Tape::default();
    let text = notebook_of(&outputs);
    let notebook = Notebook::read(tape.parse(text.as_bytes()).unwrap());
    assert_eq!((notebook.records, notebook.left_out), (MAX_RECORDS, 3));
    assert_eq!((notebook.others.len(), notebook.more_others), (MAX_NAMED, 2));
}
