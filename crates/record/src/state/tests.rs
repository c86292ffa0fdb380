use std::fmt::Write as _;
use std::time::Instant;

use super::*;
use crate::formats;
use crate::procedure::last_step::Surprise;
use stepscope_base::json::Tape;

/// Two steps that add, then the answer.
const PROCEDURE: &str = r#"{"NameDescription": "Add", "steps": [
  {"id": 1, "inputs": [{"name": "problem_text", "description": ""}], "stepDescription": "Extract",
   "output": [{"name": "apples", "description": "how many"}, {"name": "pears", "description": "how many"}]},
  {"id": 2, "inputs": [{"name": "apples", "description": ""}, {"name": "pears", "description": ""}],
   "stepDescription": "Add", "output": [{"name": "sum", "description": ""}]},
  {"id": 3, "inputs": [{"name": "sum", "description": ""}], "stepDescription": "Answer",
   "output": [{"name": "final_answer", "description": ""}]}]}"#;

fn run(procedure: &str, rest: &str) -> String {
    format!(
        r#"{{"id": "a", "question": "2 + 3?", "status": "ok", "mode": "procedural", "procedure": {procedure}{rest}}}"#
    )
}

fn with<T>(text: &str, look: impl for<'a> FnOnce(&State<'a>) -> T) -> T {
    let mut tape = Tape::default();
    let root = tape.parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
    let record = formats::read(root);
    let procedure = record.procedure.map(Procedure::read);
    look(&State::of(&record, procedure.as_ref()))
}

/// Writes `name=value badge @writer`, one line per variable.
fn lines(state: &State<'_>, entries: &[Entry<'_>]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| {
            let name = state.variables()[entry.variable].name.line();
            let value = entry.value.map_or("-".into(), |value| String::from_utf8_lossy(value.raw()).into_owned());
            let writer = entry.writer.map_or("given".into(), |step| step.to_string());
            format!("{name}={value} {} @{writer}", entry.badge.short())
        })
        .collect()
}

fn index(state: &State<'_>, name: &str) -> usize {
    state.variable(&Untrusted::from(name)).unwrap()
}

fn names(state: &State<'_>, flags: &[bool]) -> Vec<String> {
    let named = state.variables().iter().zip(flags).filter(|(_, flag)| **flag);
    named.map(|(variable, _)| variable.name.line().into_string()).collect()
}

#[test]
fn values_belong_to_the_step_that_writes_their_name() {
    let state = r#", "state": {"problem_text": "2 + 3?", "apples": 2, "pears": 3, "sum": 5, "final_answer": "5",
                   "final_answer_numerical": 5.0, "confidence": 1.0}"#;
    with(&run(PROCEDURE, state), |state| {
        assert_eq!(lines(state, &state.before(0)), [r#"problem_text="2 + 3?" rec @given"#]);
        assert_eq!(
            lines(state, &state.after(1)),
            [r#"problem_text="2 + 3?" rec @given"#, "apples=2 inf @0", "pears=3 inf @0", "sum=5 inf @1"]
        );
        assert_eq!(lines(state, &state.reads(1)), ["apples=2 inf @0", "pears=3 inf @0"]);
        assert_eq!(
            lines(state, &state.writes(2)),
            [r#"final_answer="5" inf @2"#, "final_answer_numerical=5.0 inf @2", "confidence=1.0 inf @2"]
        );
        assert_eq!(state.last_step(), &LastStep { positions: vec![2], surprise: None });
        let confidence = &state.variables()[index(state, "confidence")];
        assert_eq!(confidence.origin, VariableOrigin::AnswerSchema);
        let sum = &state.variables()[index(state, "sum")];
        assert_eq!((sum.writers().collect::<Vec<_>>(), &sum.readers), (vec![1], &vec![2]));
        assert_eq!(sum.origin, VariableOrigin::Declared);
        let entry = state.value_at(index(state, "sum"), Moment::after(2)).unwrap();
        assert_eq!(state.pointer(&entry).unwrap().text(), "/state/sum");
        assert!(state.value_at(index(state, "sum"), Moment::before(1)).is_none());
    });
}

#[test]
fn two_writers_are_ambiguous() {
    let procedure = PROCEDURE
        .replace(r#""output": [{"name": "sum""#, r#""output": [{"name": "apples", "description": ""}, {"name": "sum""#);
    with(&run(&procedure, r#", "state": {"apples": 4, "pears": 3, "sum": 7, "final_answer": "7"}"#), |state| {
        assert_eq!(
            lines(state, &state.after(0)),
            [r#"problem_text="2 + 3?" rec @given"#, "apples=- amb @0", "pears=3 inf @0"]
        );
        let apples = index(state, "apples");
        assert_eq!(
            state.value_at(apples, Moment::after(1)).map(|entry| lines(state, &[entry])),
            Some(vec!["apples=4 amb @1".into()])
        );
        let differences = state.difference(Moment(1), Moment(2));
        let changes: Vec<_> = differences.iter().map(|line| (line.variable, line.change)).collect();
        assert_eq!(changes, [(apples, VariableChange::Unknown), (index(state, "sum"), VariableChange::Appeared)]);
    });
}

#[test]
fn what_the_final_state_lacks_is_missing() {
    with(&run(PROCEDURE, r#", "state": {"apples": 2, "extra": [1], "sum": null, "final_answer": "x"}"#), |state| {
        assert_eq!(
            lines(state, &state.at(Moment(3))),
            [
                r#"problem_text="2 + 3?" rec @given"#,
                "apples=2 inf @0",
                "pears=- mis @0",
                "sum=null inf @1",
                r#"final_answer="x" inf @2"#,
                "extra=[1] inf @given"
            ]
        );
        let extra = &state.variables()[index(state, "extra")];
        assert_eq!(extra.origin, VariableOrigin::Undeclared);
        let given = state.before(0);
        assert_eq!(state.pointer(&given[0]).unwrap().text(), "/question");
    });
}

#[test]
fn error_rows_keep_nothing() {
    let row = r#"{"id": "e", "question": "q", "procedure": null, "status": "error", "error_type": "RuntimeError", "error": "x"}"#;
    with(row, |state| {
        assert_eq!(lines(state, &state.at(Moment(0))), [r#"problem_text="q" rec @given"#]);
        assert_eq!(state.step_count(), 0);
    });
    let with_procedure = run(PROCEDURE, "").replace(r#""status": "ok""#, r#""status": "error""#);
    with(&with_procedure, |state| {
        assert_eq!(lines(state, &state.writes(1)), ["sum=- n/a @1"]);
    });
    with(PROCEDURE, |state| {
        assert_eq!(lines(state, &state.after(0))[0], "problem_text=- n/a @given");
    });
}

#[test]
fn a_baseline_ran_no_step() {
    let row = format!(
        r#"{{"id": 1, "question": "q", "mode": "baseline", "procedure": {PROCEDURE}, "state": {{"final_answer": "5"}}, "raw": "5"}}"#
    );
    with(&row, |state| {
        assert_eq!(state.step_count(), 0);
        assert_eq!(lines(state, &state.at(Moment(0)))[1], r#"final_answer="5" inf @given"#);
    });
}

#[test]
fn a_trace_is_believed_before_the_final_state() {
    let procedure = PROCEDURE
        .replace(r#""output": [{"name": "sum""#, r#""output": [{"name": "apples", "description": ""}, {"name": "sum""#);
    let trace = r#", "state": {"problem_text": "2 + 3?", "apples": 4, "pears": 3, "sum": 7, "final_answer": "7", "final_answer_numerical": 7},
      "trace": {"format": "stepscope.run_trace", "version": 1, "steps": [
        {"step_index": 0, "inputs": {"problem_text": "2 + 3?"}, "outputs": {"apples": 2, "pears": 3}},
        {"step_index": 1, "inputs": {"apples": 2, "pears": 3}, "outputs": {"apples": 4, "sum": 6}},
        {"step_index": 2, "inputs": {"sum": 6}, "error": "cut", "outputs": null},
        {"step_index": 2, "inputs": {"sum": 6}, "outputs": {"final_answer": "7", "final_answer_numerical": 7}},
        {"step_index": 900000000000000000000, "outputs": {"apples": 9}}, 7, {"step_index": -1}]}"#;
    with(&run(&procedure, trace), |state| {
        assert_eq!(lines(state, &state.writes(0)), ["apples=2 rec @0", "pears=3 rec @0"]);
        assert_eq!(lines(state, &state.writes(1)), ["apples=4 rec @1", "sum=6 rec @1"]);
        assert_eq!(lines(state, &state.writes(2)), [r#"final_answer="7" rec @2"#, "final_answer_numerical=7 rec @2"]);
        let apples = index(state, "apples");
        let differences = state.difference(Moment(2), Moment(1));
        assert_eq!(differences[0].change, VariableChange::Changed);
        assert_eq!(differences[0].variable, apples);
        let read = state.reads(2)[0];
        assert_eq!(state.pointer(&read).unwrap().text(), "/trace/steps/3/inputs/sum");
        let written = state.writes(1)[1];
        assert_eq!(state.pointer(&written).unwrap().text(), "/trace/steps/1/outputs/sum");
        assert_eq!(state.call(2).unwrap().entry, 3);
        let numerical = &state.variables()[index(state, "final_answer_numerical")];
        assert_eq!(numerical.origin, VariableOrigin::AnswerSchema);
    });
}

#[test]
fn a_reader_recorded_what_the_writer_did_not() {
    let trace = r#", "trace": {"steps": [{"step_index": 1, "inputs": {"apples": 2, "pears": 3}, "error": "no JSON"}]}"#;
    let text = run(PROCEDURE, trace).replace(r#""status": "ok""#, r#""status": "error""#);
    with(&text, |state| {
        assert_eq!(lines(state, &state.writes(0)), ["apples=2 rec @0", "pears=3 rec @0"]);
        assert_eq!(lines(state, &state.writes(1)), ["sum=- n/a @1"]);
        assert_eq!(state.pointer(&state.writes(0)[0]).unwrap().text(), "/trace/steps/0/inputs/apples");
    });
}

/// Lists how the steps ran, a letter each, and the step in which the run ended.
fn ran(text: &str) -> (String, Option<usize>) {
    with(text, |state| {
        let letter = |step| match state.has_run(step) {
            Ran::Yes => 'y',
            Ran::Failed => 'f',
            Ran::No => '-',
            Ran::Unknown => '?',
        };
        ((0..state.step_count()).map(letter).collect(), state.ended_at())
    })
}

#[test]
fn a_run_that_ended_early_did_not_run_the_steps_after_its_end() {
    let error = |said: &str, rest: &str| {
        run(PROCEDURE, rest).replace(r#""status": "ok""#, &format!(r#""status": "error", "error": "{said}""#))
    };
    let steps = |steps: &str| format!(r#", "state": null, "trace": {{"steps": [{steps}]}}"#);
    let first = r#"{"step_index": 0, "outputs": {"apples": 2, "pears": 3}}"#;
    let failed = r#"{"step_index": 1, "outputs": {}, "error": "no JSON"}"#;
    let is = |text: &str, letters: &str, at: Option<usize>| assert_eq!(ran(text), (letters.to_owned(), at), "{text}");
    is(&error("cut", &steps(&format!("{first}, {failed}"))), "yf-", Some(1));
    // What failed may not have been recorded.
    is(&error("cut", &steps(first)), "yf-", Some(1));
    is(&error("Non-JSON response for step id=2: Expecting value", ""), "yf-", Some(1));
    is(&error("Non-JSON response for step id=3: Expecting value", ", \"state\": null"), "yyf", Some(2));
    // Without a step in the error, with nothing kept, nobody knows; a fork says of itself that it was stopped.
    is(&error("no answer from the model server", ""), "???", Some(0));
    is(&error("cut", ", \"error_type\": \"NotRun\""), "---", Some(0));
    is(&error("cut", r#", "state": {"final_answer": "5"}"#), "??y", Some(0));
    // The values that somebody kept say it too.
    is(&error("cut", r#", "state": {"problem_text": "?", "apples": 2, "pears": 3}"#), "yf-", Some(1));
    // Nobody wrote a status: the trace says it.
    is(&run(PROCEDURE, &steps(&format!("{first}, {failed}"))), "yf-", Some(1));
    // A call that failed and was made again is no end, in either order of the entries.
    let again = r#"{"step_index": 1, "outputs": {"sum": 5}}"#;
    let last = r#"{"step_index": 2, "outputs": {"final_answer": "5"}}"#;
    for two in [[failed, again], [again, failed]] {
        is(&run(PROCEDURE, &steps(&[first, two[0], two[1], last].join(","))), "yyy", None);
    }
    is(&run(PROCEDURE, r#", "state": {"final_answer": "5"}"#), "yyy", None);
    is(&run(PROCEDURE, r#", "pred_num": 5"#), "yyy", None);
    is(&run(PROCEDURE, ""), "---", Some(0));
    is(PROCEDURE, "yyy", None);
    with(&error("cut", &steps(&format!("{first}, {failed}"))), |state| {
        assert_eq!(lines(state, &state.writes(1)), ["sum=- n/a @1"]);
        assert_eq!(lines(state, &state.writes(2)), ["final_answer=- – @2"]);
        assert!(state.difference(Moment(2), Moment(3)).is_empty());
    });
}

#[test]
fn the_values_of_a_fork_are_the_forks() {
    let trace = |fork: &str| {
        format!(
            r#", "state": {{"problem_text": "2 + 3?", "apples": 4, "pears": 3, "sum": 7, "final_answer": "7"}}, "trace": {{"steps": [
            {{"step_index": 0, "outputs": {{"apples": 2, "pears": 3}}}},
            {{"step_index": 1, "inputs": {{"apples": 2, "pears": 3}}, "outputs": {{"sum": 6}}}},
            {{"step_index": 2, "inputs": {{"sum": 6}}, "outputs": {{"final_answer": "6"}}}}], "fork": {fork}}}"#
        )
    };
    let fork = r#"{"parent": "a", "how": "exact", "step_index": 1, "edited": [], "values": [
        {"variable": "apples", "badge": "override", "step_index": 1, "value": 4, "was": 2},
        {"variable": "sum", "badge": "recomputed", "step_index": 1, "value": 7},
        {"variable": "final_answer", "badge": "recomputed", "step_index": 2, "value": "7"}]}"#;
    with(&run(PROCEDURE, &trace(fork)), |state| {
        assert_eq!(lines(state, &state.writes(0)), ["apples=2 rec @0", "pears=3 rec @0"]);
        assert_eq!(lines(state, &state.reads(1)), ["apples=4 ✎ @given", "pears=3 rec @0"]);
        assert_eq!(lines(state, &state.reads(2)), ["sum=7 ≙ @1"]);
        assert_eq!(lines(state, &state.writes(2)), [r#"final_answer="7" ≙ @2"#]);
        assert_eq!(state.pointer(&state.writes(1)[0]).unwrap().text(), "/trace/fork/values/1/value");
        let apples = index(state, "apples");
        assert_eq!(state.ancestors(apples).steps.get(1), Some(&false));
    });
    // Of an earlier version, which kept only what was edited and the final state.
    let older = r#"{"parent": "a", "how": "exact", "step_index": 1, "edited": [{"variable": "apples", "value": 4}]}"#;
    with(&run(PROCEDURE, &trace(older)), |state| {
        assert_eq!(lines(state, &state.reads(1)), ["apples=4 ✎ @given", "pears=3 rec @0"]);
        assert_eq!(lines(state, &state.writes(1)), ["sum=7 ≙ @1"]);
        assert_eq!(state.pointer(&state.writes(1)[0]).unwrap().text(), "/state/sum");
    });
    // Without a trace, what the override took the place of stands beside it.
    let text =
        run(PROCEDURE, &trace(fork)).replace("\"steps\": [\n            {\"step_index\"", "\"old\": [{\"step_index\"");
    with(&text, |state| {
        assert_eq!(lines(state, &state.writes(0)), ["apples=2 inf @0", "pears=3 inf @0"]);
        assert_eq!(lines(state, &state.after(2))[1], "apples=4 ✎ @given");
    });
}

#[test]
fn a_trace_without_procedure_has_steps_of_its_own() {
    let text = r#"{"question": "q", "trace": {"steps": [{"step_index": 7, "inputs": {"problem_text": "q"}, "outputs": {"a": 1}},
                   {"step_index": 7, "inputs": {"a": 1}, "outputs": {"final_answer": "1"}}]}}"#;
    with(text, |state| {
        assert_eq!(state.step_count(), 2);
        assert_eq!(
            lines(state, &state.after(1)),
            [r#"problem_text="q" rec @given"#, "a=1 rec @0", r#"final_answer="1" rec @1"#]
        );
    });
}

#[test]
fn upstreams_last_step_is_found_by_its_id() {
    for (ids, positions, surprise) in [
        (["1", "2", "3"], vec![2], None),
        (["1", "2", "3.0"], vec![2], None),
        (["3", "2", "1"], vec![0], Some(Surprise::Elsewhere)),
        (["3", "3", "3"], vec![0, 1, 2], Some(Surprise::Several)),
        (["10", "20", "30"], vec![], Some(Surprise::None)),
        (["1", "2", "\"3\""], vec![], Some(Surprise::None)),
        (["1", "null", "99999999999999999999999999999999999999999999"], vec![], Some(Surprise::None)),
    ] {
        let mut text = PROCEDURE.replace(r#"{"id": "#, r#"{"id": #"#);
        for (n, id) in ids.iter().enumerate() {
            text = text.replace(&format!("#{},", n + 1), &format!("{id},"));
        }
        with(&text, |state| assert_eq!(state.last_step(), &LastStep { positions, surprise }, "{ids:?}"));
    }
    with(r#"{"steps": [{"id": true}]}"#, |state| assert_eq!(state.last_step().positions, [0]));
}

#[test]
fn the_last_step_overwrites_the_answer_keys() {
    // Step 1 writes final_answer too, and step 1 is not the last.
    let procedure = PROCEDURE.replace(r#""name": "pears""#, r#""name": "final_answer""#);
    with(&run(&procedure, r#", "state": {"final_answer": "5", "confidence": 1}"#), |state| {
        assert_eq!(lines(state, &state.writes(0)), ["apples=- mis @0", "final_answer=- amb @0"]);
        assert_eq!(lines(state, &state.writes(2)), [r#"final_answer="5" amb @2"#, "confidence=1 inf @2"]);
    });
    // No step runs as the last: nobody wrote confidence.
    let disordered = PROCEDURE.replace(r#""id": 3"#, r#""id": 9"#);
    with(&run(&disordered, r#", "state": {"final_answer": "5", "confidence": 1}"#), |state| {
        assert_eq!(state.variables()[index(state, "confidence")].origin, VariableOrigin::Undeclared);
    });
}

#[test]
fn influence_follows_time() {
    with(PROCEDURE, |state| {
        let before = state.ancestors(index(state, "sum"));
        assert_eq!(names(state, &before.variables), ["problem_text", "apples", "pears", "sum"]);
        assert_eq!(before.steps, [true, true, false]);
    });
    // `b` is read before it is written, `a` twice written: a cycle by name, none in time.
    let text = r#"{"steps": [
        {"id": 1, "inputs": [{"name": "b"}, {"name": "b"}], "output": [{"name": "a"}, {"name": "a"}]},
        {"id": 2, "inputs": [{"name": "a"}], "output": [{"name": "b"}]},
        {"id": 3, "inputs": [{"name": "c"}], "output": [{"name": "a"}]},
        {"id": 4, "inputs": [{"name": "a"}], "output": [{"name": "d"}]}]}"#;
    with(text, |state| {
        assert_eq!(names(state, &state.ancestors(index(state, "d")).variables), ["a", "c", "d"]);
        assert_eq!(names(state, &state.ancestors(index(state, "b")).variables), ["b", "a"]);
        assert_eq!(lines(state, &state.reads(0)), ["b=- mis @given"]);
        assert_eq!(state.variables()[index(state, "c")].origin, VariableOrigin::Unproduced);
        assert_eq!(lines(state, &state.reads(2)), ["c=- mis @given"]);
    });
}

#[test]
fn odd_shapes_are_borne() {
    for text in [
        r#"{"procedure": 7, "state": [1], "trace": {"steps": {}}}"#,
        r#"{"procedure": {"steps": [1, null, {"output": 3, "inputs": {"name": "x"}}]}, "state": {}, "question": null}"#,
        r#"{"procedure": {"steps": "x"}, "state": {"a": 1, "a": 2}, "trace": {"steps": [null, 1, {"outputs": []}]}}"#,
        r#"{"steps": [{"inputs": [{"name": 3}, 4, {"name": "problem_text"}], "output": [{"name": "problem_text"}]}]}"#,
    ] {
        with(text, |state| {
            for moment in 0..5 {
                let entries = state.at(Moment(moment));
                assert!(entries.iter().all(|entry| entry.value.is_none() || state.pointer(entry).is_some()), "{text}");
                state.difference(Moment(0), Moment(moment));
                state.reads(moment);
            }
            for variable in 0..9 {
                state.ancestors(variable);
            }
        });
    }
    with(r#"{"question": "q", "status": "ok", "id": 1, "state": {"a": 1, "a": 2}}"#, |state| {
        assert_eq!(lines(state, &state.at(Moment(9)))[1], "a=2 inf @given");
    });
}

#[test]
fn a_step_may_write_over_the_problem_text() {
    let procedure = PROCEDURE.replace(r#""name": "sum""#, r#""name": "problem_text""#);
    with(&run(&procedure, r#", "state": {"problem_text": "changed"}"#), |state| {
        assert_eq!(lines(state, &state.before(1))[0], r#"problem_text="2 + 3?" rec @given"#);
        assert_eq!(lines(state, &state.after(1))[0], r#"problem_text="changed" inf @1"#);
    });
}

#[test]
fn equal_values_are_equal_however_written() {
    let mut tape = Tape::default();
    let root =
        tape.parse(br#"[35, 35.0, "a", "\u0061", [1, {"k": 2}], [1.0, {"k": 2.0}], true, 1, [1], [1, 2]]"#).unwrap();
    let items: Vec<_> = root.items().collect();
    let same = |a: usize, b: usize| same_value(items[a], items[b]);
    assert!(same(0, 1) && same(2, 3) && same(4, 5));
    assert!(!same(6, 7) && !same(8, 9) && !same(0, 2));
}

#[test]
fn ten_thousand_steps_and_inputs_are_cheap() {
    let mut steps = String::new();
    let mut values = String::from(r#""a0": 0"#);
    for n in 1..10_000 {
        let _ =
            write!(steps, r#"{{"id": {n}, "inputs": [{{"name": "a{}"}}], "output": [{{"name": "a{n}"}}]}},"#, n - 1);
        let _ = write!(values, r#", "a{n}": {n}"#);
    }
    let all: Vec<_> = (0..10_000).map(|n| format!(r#"{{"name": "a{n}"}}"#)).collect();
    let _ = write!(steps, r#"{{"id": 10000, "inputs": [{}], "output": [{{"name": "final_answer"}}]}}"#, all.join(","));
    let text = run(&format!(r#"{{"steps": [{steps}]}}"#), &format!(r#", "state": {{{values}, "final_answer": 1}}"#));
    let start = Instant::now();
    with(&text, |state| {
        let influence = state.ancestors(index(state, "final_answer"));
        assert!(influence.steps.iter().all(|flag| *flag));
        assert_eq!(state.after(9_999).len(), 10_002);
        assert_eq!(state.reads(9_999).len(), 10_000);
    });
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
