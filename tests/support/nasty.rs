//! Records that are correct enough to open and wrong enough to hurt.

use std::fmt::Write as _;

/// Text that must not reach the terminal as it is, as JSON escapes.
pub(crate) const POISON: &str =
    "a\\u001b[31mb\\u202ec\\u200bd\\u009b2Je\\u0007f\\udb40\\udc41g\\ud800h\\u0000i\\r\\tj\\u2028k";

fn record(id: &str, question: &str, steps: &[String], state: &str) -> String {
    format!(
        "{{\"id\": \"{id}\", \"question\": \"{question}\", \"gold_answer\": \"#### 1\", \"gold_num\": 1.0, \"status\": \"ok\", \"mode\": \"procedural\", \"procedure\": {{\"NameDescription\": \"{question}\", \"steps\": [{}]}}, \"steps\": {}, \"state\": {{{state}}}, \"pred_answer\": \"{question}\", \"pred_num\": 2, \"correct\": false}}\n",
        steps.join(","),
        steps.len()
    )
}

fn field(name: &str) -> String {
    format!("{{\"name\": \"{name}\", \"description\": \"{name} is a thing\"}}")
}

fn step(id: &str, reads: &[String], text: &str, writes: &[String]) -> String {
    let fields = |names: &[String]| names.iter().map(|name| field(name)).collect::<Vec<_>>().join(",");
    format!(
        "{{\"id\": {id}, \"inputs\": [{}], \"stepDescription\": \"{text}\", \"output\": [{}]}}",
        fields(reads),
        fields(writes)
    )
}

fn pairs(names: &[String], value: &str) -> String {
    names.iter().map(|name| format!("\"{name}\": {value}")).collect::<Vec<_>>().join(",")
}

/// Makes `count` variables, all written by one step and all read by the next.
pub(crate) fn many_variables(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|n| format!("variable_{n}")).collect();
    let steps = [
        step("1", &["problem_text".into()], "write all", &names),
        step("2", &names, "read all", &["final_answer".into()]),
    ];
    record("many", "How many?", &steps, &pairs(&names, "\"x y z\""))
}

/// Makes `count` steps, each reading what the one before wrote.
pub(crate) fn many_steps(count: usize) -> String {
    let name = |n: usize| if n == 0 { "problem_text".to_owned() } else { format!("v{n}") };
    let steps: Vec<String> =
        (0..count).map(|n| step(&(n + 1).to_string(), &[name(n)], &format!("do thing {n}"), &[name(n + 1)])).collect();
    let names: Vec<String> = (1..=count).map(name).collect();
    record("steps", "How far?", &steps, &pairs(&names, "1"))
}

/// Makes texts of a megabyte, in one word, in lines, in marks and in wide characters.
pub(crate) fn long_texts(size: usize) -> String {
    let mut state = String::new();
    for (n, (name, unit)) in [
        ("word", "x"),
        ("lines", "line\\n"),
        ("marks", "e\u{301}"),
        ("bomb", "\u{336}"),
        ("wide", "漢"),
        ("zwj", "👩\u{200d}"),
    ]
    .into_iter()
    .enumerate()
    {
        let sign = if n == 0 { "" } else { ", " };
        let _ = write!(state, "{sign}\"{name}\": \"{}\"", unit.repeat(size / unit.len()));
    }
    let reads: Vec<String> = ["word", "lines", "marks", "bomb", "wide", "zwj"].map(str::to_owned).to_vec();
    let steps = [
        step("1", &["problem_text".into()], &"long text ".repeat(size / 10), &reads),
        step("2", &reads, "x", &["final_answer".into()]),
    ];
    record("long", &"very long question ".repeat(size / 19), &steps, &state)
}

/// Makes names and texts that are no honest text, in every place that is shown.
pub(crate) fn poisoned() -> String {
    let names = vec![POISON.to_owned(), "p\u{430}y".into(), "pay".into(), String::new(), " ".into(), "漢字".repeat(30)];
    let steps = [
        step(&format!("\"{POISON}\""), &["problem_text".into()], POISON, &names),
        step("1", &names, POISON, &["final_answer".into()]),
        step("99999999999999999999", &[POISON.to_owned()], "\u{301}\u{301}\u{301}", &[POISON.to_owned()]),
    ];
    let mut out = record(POISON, POISON, &steps, &pairs(&names, &format!("\"{POISON}\"")));
    let trace = format!(
        "\"trace\": {{\"format\": \"stepscope.run_trace\", \"version\": 1, \"steps\": [{{\"step_index\": 0, \"inputs\": {{\"{POISON}\": \"{POISON}\"}}, \"prompt\": \"{POISON}\", \"schema\": {{\"{POISON}\": [\"{POISON}\"]}}, \"raw\": \"{POISON}\", \"outputs\": {{\"{POISON}\": {{\"{POISON}\": 1}}}}, \"error\": \"{POISON}\", \"model\": \"{POISON}\", \"seed\": \"{POISON}\", \"usage\": {{\"prompt_tokens\": \"{POISON}\"}}}}]}}, \"state\""
    );
    out.push_str(&record("trace", POISON, &steps, &pairs(&names, "[1]")).replace("\"state\"", &trace));
    let _ = writeln!(
        out,
        "{{\"error\": \"{POISON}\", \"error_type\": \"{POISON}\", \"status\": \"error\", \"question\": null, \"procedure\": null}}"
    );
    let _ = writeln!(
        out,
        "{{\"question\": \"{POISON}\", \"mode\": \"baseline\", \"raw\": \"{POISON}\", \"state\": {{\"final_answer\": \"{POISON}\", \"{POISON}\": NaN}}}}"
    );
    let _ = writeln!(out, "{{\"{POISON}\": {{\"{POISON}\": [\"{POISON}\", 1e999, -Infinity]}}, \"{POISON}\": 1}}");
    let _ = writeln!(out, "not json \u{1b}[31m \u{202e} \u{9b}2J");
    let _ = writeln!(out, "{{\"final_answer\": \"{POISON}\", \"confidence\": \"{POISON}\"}}");
    out
}

/// Makes variables that read each other in a ring, occur twice, and look alike; steps out of order.
pub(crate) fn tangled() -> String {
    let name = |text: &str| text.to_owned();
    let steps = [
        step("3", &[name("a")], "b from a", &[name("b")]),
        step("2", &[name("b")], "a from b", &[name("a")]),
        step("2", &[name("a"), name("a"), name("b")], "twice", &[name("a"), name("a"), name("final_answer")]),
        step("-1", &[name("\u{430}")], "not an a", &[name("a\u{301}"), name("á")]),
        step("null", &[], "", &[]),
    ];
    let mut out = record("ring", "Which?", &steps, "\"a\": 1, \"a\": 2, \"b\": null, \"á\": true");
    out.push_str("{\"question\": 7, \"procedure\": {\"steps\": [null, 1, \"x\", [], {}, {\"inputs\": {}, \"output\": 3, \"stepDescription\": []}]}, \"state\": []}\n");
    out.push_str("{\"question\": {}, \"procedure\": {\"steps\": {}}, \"state\": {}, \"trace\": {\"steps\": [1, {\"step_index\": -1}, {\"step_index\": 99999999999}, {\"step_index\": 0, \"outputs\": [], \"raw\": {}}]}}\n");
    out.push_str("{\"question\": \"q\", \"procedure\": null, \"trace\": {\"steps\": [{}, {}]}, \"state\": null}\n");
    out.push_str("{\"NameDescription\": \"x\", \"steps\": []}\n");
    out.push_str("{\"question\": \"\", \"gold_answer\": \"####\", \"pred_num\": \"\", \"correct\": \"maybe\", \"procedure\": [], \"state\": \"x\"}\n");
    out
}

/// Makes a record nested so deep: as deep as it is read, or one deeper.
pub(crate) fn deep(levels: usize) -> String {
    format!("{{\"question\": \"deep\", \"state\": {}1{}}}\n", "[".repeat(levels), "]".repeat(levels))
}
