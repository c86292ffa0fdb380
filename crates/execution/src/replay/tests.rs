use super::*;
use crate::exact::exact_fork;
use crate::rerun::{RerunMachine, edited as edited_fork};
use stepscope_judge::case::Case;
use stepscope_judge::rightness::Rightness;
use stepscope_judge::triage::Fix;
use stepscope_record::formats;
use stepscope_record::state::Ran;

/// Step 2 and 3 read what step 1 writes, step 4 reads what step 3 writes; step 2 is a dead end.
const PARENT: &str = r#"{"id": "p1", "question": "2 + 3?", "gold_num": 6.0, "status": "ok", "mode": "procedural", "own": [1.50],
    "procedure": {"steps": [
    {"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "Read", "output": [{"name": "a"}, {"name": "b"}]},
    {"id": 2, "inputs": [{"name": "b"}], "stepDescription": "Dead", "output": [{"name": "d"}]},
    {"id": 3, "inputs": [{"name": "a"}], "stepDescription": "c = a * 2", "output": [{"name": "c"}]},
    {"id": 4, "inputs": [{"name": "c"}], "stepDescription": "State c", "output": [{"name": "final_answer"}]}]},
    "state": {"problem_text": "2 + 3?", "a": 3, "b": 2, "d": 0, "c": 5, "final_answer": "5", "final_answer_numerical": 5.0, "confidence": 0.9},
    "pred_answer": "5", "pred_num": 5.0, "correct": false}"#;

fn with<T>(text: &str, then: impl FnOnce(&Record<'_>, &Procedure<'_>, &State<'_>) -> T) -> T {
    let mut tape = Tape::default();
    let record = formats::read(tape.parse(text.as_bytes()).unwrap());
    let procedure = Procedure::read(record.procedure.unwrap());
    let state = State::of(&record, Some(&procedure));
    then(&record, &procedure, &state)
}

/// Goes through a replay with scripted replies. The steps that were asked, and the fork.
fn gone(
    step: usize,
    scope: Scope,
    edits: &[(&str, &str)],
    replies: &[&str],
) -> (Vec<(usize, String)>, Result<Fork, Ended>) {
    let edits: Vec<_> =
        edits.iter().map(|(name, value)| (Untrusted::from(*name).into_owned(), value.as_bytes().to_vec())).collect();
    with(PARENT, |record, procedure, state| {
        let start = RerunStart { step, edits, scope, ..RerunStart::default() };
        let mut replay = Replay::new(record, Some(procedure), state, &start).unwrap();
        let mut asked = Vec::new();
        let mut replies = replies.iter();
        loop {
            let ask = match replay.next_ask() {
                Ok(Some(ask)) => ask,
                Ok(None) => return (asked, Ok(replay.finish(None))),
                Err(ended) => return (asked, Err(ended)),
            };
            asked.push((ask.step, String::from_utf8(ask.inputs.clone()).unwrap()));
            let executed = Executed::of(&ask, None);
            if let Err(ended) = replay.take(&ask, replies.next().unwrap().as_bytes(), executed) {
                return (asked, Err(ended));
            }
        }
    })
}

fn steps(asked: &[(usize, String)]) -> Vec<usize> {
    asked.iter().map(|(step, _)| *step).collect()
}

const LAST: &str = r#"{"final_answer": "8", "final_answer_numerical": 8, "confidence": 1}"#;

#[test]
fn one_step_leaves_later_ones_stale() {
    let (asked, fork) = gone(0, Scope::One, &[], &[r#"{"a": 4, "b": 2}"#]);
    let fork = fork.unwrap();
    assert_eq!((steps(&asked), fork.stale.as_slice()), (vec![0], &[2, 3][..]), "b came out the same");
    let (_, same) = gone(0, Scope::One, &[], &[r#"{"a": 3.0, "b": 2}"#]);
    assert!(same.unwrap().stale.is_empty());
}

#[test]
fn only_what_is_stale_is_asked_again() {
    let (asked, fork) = gone(0, Scope::Stale, &[], &[r#"{"a": 4, "b": 2}"#, r#"{"c": 8}"#, LAST]);
    assert_eq!(steps(&asked), [0, 2, 3]);
    assert_eq!(asked[2].1, r#"{"c":8}"#);
    assert!(fork.unwrap().stale.is_empty());
    let (asked, _) = gone(0, Scope::Stale, &[], &[r#"{"a": 4, "b": 2}"#, r#"{"c": 5}"#]);
    assert_eq!(steps(&asked), [0, 2], "c came out as it was: the last step need not be asked");
    let (asked, _) = gone(1, Scope::FromHere, &[], &[r#"{"d": 0}"#, r#"{"c": 5}"#, LAST]);
    assert_eq!(steps(&asked), [1, 2, 3]);
}

#[test]
fn edited_values_are_shown_to_the_steps() {
    let (asked, fork) = gone(2, Scope::Stale, &[("a", "4")], &[r#"{"c": 8}"#, LAST]);
    assert_eq!(asked[0], (2, r#"{"a":4}"#.to_owned()));
    assert_eq!(fork.unwrap().values.get(&Untrusted::from("a")).unwrap(), b"4");
    let (asked, _) = gone(0, Scope::One, &[("problem_text", "\"9?\"")], &[r#"{"a": 4, "b": 2}"#]);
    assert_eq!(asked[0].1, r#"{"problem_text":"9?"}"#);
}

#[test]
fn a_replay_ends_as_upstreams_runner_does() {
    let (_, ended) = gone(0, Scope::Stale, &[], &[r#"{"a": 4}"#]);
    assert!(ended.unwrap_err().to_string().starts_with("Model omitted required output 'b' for step id=1"));
}

#[test]
fn a_preview_counts_steps_and_tokens() {
    with(PARENT, |record, procedure, state| {
        let preview = |step, scope| {
            let start = RerunStart { step, scope, ..RerunStart::default() };
            let replay = Replay::new(record, Some(procedure), state, &start).unwrap();
            replay.preview(record)
        };
        let stale = preview(0, Scope::Stale);
        assert_eq!((stale.steps.as_slice(), stale.of), (&[0, 1, 2, 3][..], 4));
        assert_eq!(preview(1, Scope::Stale).steps, [1], "nobody reads d");
        assert_eq!(preview(1, Scope::FromHere).steps, [1, 2, 3]);
        let one = preview(2, Scope::One);
        assert!(one.steps == [2] && (100..300).contains(&one.tokens) && one.tokens < stale.tokens, "{one:?}");
        let start = RerunStart { step: 4, ..RerunStart::default() };
        let beyond = Replay::new(record, Some(procedure), state, &start).unwrap_err();
        assert_eq!(beyond, NoReplay::NoStep);
        assert_eq!(Replay::new(record, None, state, &RerunStart::default()).unwrap_err(), NoReplay::NoProcedure);
    });
}

fn read(text: &[u8]) -> serde_json::Value {
    serde_json::from_slice(text).unwrap()
}

#[test]
fn a_fork_is_a_record_that_knows_its_parent() {
    let (_, fork) = gone(0, Scope::Stale, &[("x", "\"\\u001b\"")], &[r#"{"a": 3, "b": 2}"#]);
    let fork = fork.unwrap();
    let text = with(PARENT, |record, _, _| fork.record(record, PARENT.as_bytes(), "2026-01-01T00:00:00.000Z"));
    assert!(text.is_ascii() && !text.contains(&b'\n'));
    let made = read(&text);
    assert!(made["id"].as_str().unwrap().starts_with("p1~"));
    assert_eq!(made["own"].to_string(), "[1.5]");
    assert_eq!(made["status"], "ok");
    assert_eq!(made["state"]["a"], 3);
    assert_eq!(made["correct"], false);
    assert_eq!(made["trace"]["steps"][0]["step_index"], 0);
    assert_eq!(made["trace"]["steps"][0]["outputs"], read(br#"{"a": 3, "b": 2}"#));
    let fork = &made["trace"]["fork"];
    assert_eq!((&fork["parent"], &fork["how"], &fork["step_index"]), (&"p1".into(), &"rerun".into(), &0.into()));
    assert_eq!(fork["edited"][0]["variable"], "x");
    let schema = stepscope_record::schemas::ALL.iter().find(|schema| schema.name == "trace").unwrap();
    let schema = jsonschema::validator_for(&read(schema.text.as_bytes())).unwrap();
    assert!(
        schema.is_valid(&made),
        "{:?}",
        schema.iter_errors(&made).map(|error| error.to_string()).collect::<Vec<_>>()
    );
}

#[test]
fn an_ended_fork_has_no_answer() {
    let ended = gone(2, Scope::Stale, &[], &["no"]).1.unwrap_err();
    let made = |step: usize, scope: Scope| {
        let made = with(PARENT, |record, procedure, state| {
            let start = RerunStart { step, scope, ..RerunStart::default() };
            let replay = Replay::new(record, Some(procedure), state, &start).unwrap();
            replay.finish(Some(ended.clone())).record(record, PARENT.as_bytes(), "")
        });
        let made = read(&made);
        assert_eq!((&made["status"], &made["error_type"]), (&"error".into(), &"ValueError".into()));
        assert!(made.get("pred_answer").is_none() && made.get("correct").is_none());
        made
    };
    // What was recorded of the steps that were not asked is kept.
    let one = made(2, Scope::One);
    assert_eq!(one["state"]["a"], 3);
    assert_eq!((&one["state"]["final_answer"], one["state"].get("c")), (&"5".into(), None));
    assert_eq!(one["trace"]["fork"]["stale"], serde_json::json!([3]));
    // What was to be asked, and was not come to, is not.
    let all = made(2, Scope::FromHere);
    assert_eq!((&all["state"]["d"], all["state"].get("c"), all["state"].get("final_answer")), (&0.into(), None, None));
    let text = serde_json::to_vec(&one).unwrap();
    with(std::str::from_utf8(&text).unwrap(), |record, _, state| {
        assert_eq!((Rightness::of(record).verdict(), record.answer.is_none()), (None, true), "it has no result");
        let ran: Vec<_> = (0..4).map(|step| state.has_run(step)).collect();
        assert_eq!(ran, [Ran::Yes, Ran::Yes, Ran::Failed, Ran::Yes]);
    });
}

/// Returns the same run, which crashed in its third step.
fn crashed() -> String {
    let mut made = read(traced().as_bytes());
    (made["status"], made["error_type"], made["error"]) = ("error".into(), "ValueError".into(), "no JSON".into());
    let steps = made["trace"]["steps"].as_array_mut().unwrap();
    steps.truncate(3);
    steps[2] = serde_json::json!({"step_index": 2, "outputs": {}, "error": "no JSON"});
    made["trace"]["procedure"] = made["procedure"].take();
    for key in ["state", "pred_answer", "pred_num", "correct"] {
        made.as_object_mut().unwrap().remove(key);
    }
    made.to_string()
}

#[test]
fn a_fork_of_a_run_that_crashed_is_not_whole_until_its_steps_have_run() {
    let ran = |line: &[u8]| {
        with(std::str::from_utf8(line).unwrap(), |record, _, state| {
            let ran: Vec<_> = (0..4).map(|step| state.has_run(step)).collect();
            (record.kind, ran, state.ended_at())
        })
    };
    let parent = crashed();
    // With another value before the second step, it crashes all the same.
    let line = edited(&parent, 1, &[("b", "9")]);
    assert_eq!(ran(line.as_bytes()), (RecordKind::Error, vec![Ran::Yes, Ran::Yes, Ran::Failed, Ran::No], Some(2)));
    assert_eq!(read(line.as_bytes())["error"], "no JSON");
    let asked = |scope: Scope, replies: &[&str]| {
        let start = RerunStart { step: 2, scope, ..RerunStart::default() };
        let mut machine = RerunMachine::new(Case::read(parent.clone().into_bytes()), start).unwrap();
        for reply in replies {
            let ask = machine.next_ask().unwrap().unwrap().0;
            machine.take_json(reply.as_bytes(), Executed::of(&ask, None)).unwrap();
        }
        machine.fork("").unwrap().1
    };
    let one = asked(Scope::One, &[r#"{"c": 6}"#]);
    assert_eq!(ran(&one), (RecordKind::Error, vec![Ran::Yes, Ran::Yes, Ran::Yes, Ran::No], Some(3)));
    assert_eq!((&read(&one)["state"]["c"], &read(&one)["error_type"]), (&6.into(), &"NotRun".into()));
    let all = asked(Scope::FromHere, &[r#"{"c": 6}"#, LAST]);
    assert_eq!(ran(&all), (RecordKind::Procedural, vec![Ran::Yes; 4], None));
    assert_eq!(read(&all)["pred_answer"], "8");
}

/// Lists the values at the end and their badges, `name=value badge`.
fn held(text: &str) -> Vec<String> {
    with(text, |_, _, state| {
        let end = state.at(Moment(4)).into_iter();
        let line = |entry: Entry<'_>| {
            let name = state.variables()[entry.variable].name.line();
            format!("{name}={} {}", String::from_utf8_lossy(entry.value.unwrap().raw()), entry.badge.word())
        };
        end.map(line).collect()
    })
}

/// Returns the same run with everything that its steps gave.
fn traced() -> String {
    let steps = r#""trace": {"steps": [{"step_index": 0, "inputs": {"problem_text": "2 + 3?"}, "outputs": {"a": 3, "b": 2}},
        {"step_index": 1, "inputs": {"b": 2}, "outputs": {"d": 0}}, {"step_index": 2, "inputs": {"a": 3}, "outputs": {"c": 5}},
        {"step_index": 3, "inputs": {"c": 5}, "outputs": {"final_answer": "5", "final_answer_numerical": 5.0, "confidence": 0.9}}]},
        "pred_answer""#;
    PARENT.replace("\"pred_answer\"", steps)
}

fn edited(parent: &str, step: usize, edits: &[(&str, &str)]) -> String {
    let edits = edits.iter().map(|(name, value)| (Untrusted::from(*name).into_owned(), value.as_bytes().to_vec()));
    String::from_utf8(edited_fork(&Case::read(parent.as_bytes()).view(), step, edits.collect(), "").unwrap()).unwrap()
}

fn executed(parent: &str) -> String {
    let case = Case::read(parent.as_bytes());
    let case = case.view();
    let line = exact_fork(&case).unwrap().record(case.record.as_ref().unwrap(), parent.as_bytes(), "");
    String::from_utf8(line).unwrap()
}

#[test]
fn a_fork_shows_its_own_values_whatever_its_parent_recorded() {
    for parent in [PARENT.to_owned(), traced()] {
        let line = executed(&parent);
        let values = held(&line);
        for value in ["c=6 recomputed", "final_answer=\"6\" recomputed", "final_answer_numerical=6 recomputed"] {
            assert!(values.contains(&value.to_owned()), "{values:?}");
        }
        assert!(values[1].starts_with("a=3 rec") && !values[1].contains("recomputed"), "{values:?}");
        // A value that was set, and what a later execution makes of it.
        let set = edited(&parent, 2, &[("a", "4")]);
        let values = held(&set);
        assert!(values.contains(&"a=4 override".to_owned()), "{values:?}");
        assert!(values.iter().any(|value| value.starts_with("c=5 rec")), "{values:?}");
        with(&set, |_, _, state| {
            let a = state.variable(&Untrusted::from("a")).unwrap();
            assert_eq!(state.value_at(a, Moment(2)).unwrap().value.unwrap().raw(), b"4", "set before step 3");
            assert_eq!(state.written(a, 0).unwrap().value.unwrap().raw(), b"3", "step 1 wrote it");
        });
        let both = held(&executed(&set));
        for value in ["a=4 override", "c=8 recomputed", "final_answer=\"8\" recomputed"] {
            assert!(both.contains(&value.to_owned()), "{both:?}");
        }
        // Set again, it is the new value, and what was recorded is still known.
        let again = edited(&executed(&set), 2, &[("a", "9")]);
        let values = held(&again);
        assert!(
            values.contains(&"a=9 override".to_owned()) && values.contains(&"c=8 recomputed".to_owned()),
            "{values:?}"
        );
        with(&again, |_, _, state| {
            let a = state.variable(&Untrusted::from("a")).unwrap();
            assert_eq!(state.written(a, 0).unwrap().value.unwrap().raw(), b"3");
        });
        let schema = stepscope_record::schemas::ALL.iter().find(|schema| schema.name == "trace").unwrap();
        let schema = jsonschema::validator_for(&read(schema.text.as_bytes())).unwrap();
        assert!(schema.is_valid(&read(again.as_bytes())));
    }
}

#[test]
fn a_step_that_is_asked_again_in_a_fork_of_a_fork_gives_its_own_value() {
    let set = edited(&executed(&traced()), 3, &[("c", "70")]);
    let asked = |step: usize, scope: Scope, replies: &[(usize, &str)]| {
        let start = RerunStart { step, scope, ..RerunStart::default() };
        let mut machine = RerunMachine::new(Case::read(set.clone().into_bytes()), start).unwrap();
        for (step, reply) in replies {
            let (ask, _) = machine.next_ask().unwrap().unwrap();
            assert_eq!(ask.step, *step);
            machine.take_json(reply.as_bytes(), Executed::of(&ask, None)).unwrap();
        }
        held(std::str::from_utf8(&machine.fork("").unwrap().1).unwrap())
    };
    // The step after the override is shown it, and gives what is now the answer.
    let values = asked(3, Scope::One, &[(3, LAST)]);
    assert!(values.contains(&"c=70 override".to_owned()), "{values:?}");
    assert!(values.contains(&"final_answer=\"8\" recorded".to_owned()), "{values:?}");
    // A step that writes the variable again takes the place of the override.
    let values = asked(2, Scope::One, &[(2, r#"{"c": 11}"#)]);
    assert!(values.contains(&"c=11 recorded".to_owned()), "{values:?}");
    // Another step leaves it alone.
    let values = asked(1, Scope::One, &[(1, r#"{"d": 1}"#)]);
    assert!(values.contains(&"c=70 override".to_owned()) && values.contains(&"d=1 recorded".to_owned()), "{values:?}");
}

#[test]
fn an_exact_fork_holds_what_was_calculated() {
    let fork = exact_fork(&Case::read(PARENT.as_bytes()).view()).unwrap();
    assert_eq!((fork.how, fork.step), (How::Exact, 2));
    let made = read(executed(PARENT).as_bytes());
    assert_eq!((&made["state"]["c"], &made["state"]["a"]), (&6.into(), &3.into()));
    assert_eq!((&made["pred_answer"], &made["pred_num"], &made["correct"]), (&"6".into(), &6.into(), &true.into()));
    let right = PARENT.replace("\"c\": 5", "\"c\": 6").replace(
        "\"final_answer\": \"5\", \"final_answer_numerical\": 5.0",
        "\"final_answer\": \"6\", \"final_answer_numerical\": 6",
    );
    let said = |text: &str| exact_fork(&Case::read(text.as_bytes()).view()).unwrap_err().into_string();
    assert_eq!(said(&right), "nothing to recompute: what can be calculated, 2 of 5 values, is as recorded");
    let unread = PARENT.replace("c = a * 2", "Find it").replace("State c", "Think");
    let unread = unread.replace(r#"[{"name": "c"}], "step"#, r#"[{"name": "c"}, {"name": "d"}], "step"#);
    assert_eq!(said(&unread), "nothing to recompute: the procedure does not say how any value is calculated");
    assert_eq!(said(r#"{"question": "?"}"#), "nothing to recompute: this record has no run of a procedure");
}

#[test]
fn what_an_exact_fork_keeps_though_its_input_changed_is_out_of_date() {
    // Nothing tells how step 3 makes its number of the apples, so that the answer still rests on the wrong sum.
    let parent = r#"{"question": "30 red apples and 40 green ones. Some spoil. How many can be sold?", "gold_num": 60,
        "mode": "procedural", "correct": false, "pred_answer": "1000", "pred_num": 1000, "procedure": {"steps": [
        {"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "Extract the red and the green apples.",
            "output": [{"name": "red"}, {"name": "green"}]},
        {"id": 2, "inputs": [{"name": "red"}, {"name": "green"}], "stepDescription": "Compute total = red + green.",
            "output": [{"name": "total"}]},
        {"id": 3, "inputs": [{"name": "total"}], "stepDescription": "Consider the spoilt ones.",
            "output": [{"name": "good"}]},
        {"id": 4, "inputs": [{"name": "good"}], "stepDescription": "State the answer.",
            "output": [{"name": "final_answer"}]}]},
        "state": {"red": 30, "green": 40, "total": 1200, "good": 1000, "final_answer": "1000",
            "final_answer_numerical": 1000}}"#
        .replace('\n', " ");
    let fork = read(executed(&parent).as_bytes());
    assert_eq!((&fork["state"]["total"], &fork["state"]["good"]), (&70.into(), &1000.into()));
    assert_eq!(fork["trace"]["fork"]["stale"], serde_json::json!([2, 3]));
    let values = held(&executed(&parent));
    assert!(values.iter().any(|value| value.starts_with("total=70 recomputed")), "{values:?}");
    assert!(
        !values.iter().any(|value| value.starts_with("final_answer") && value.ends_with("recomputed")),
        "{values:?}"
    );
    // Where the sum was right, nothing changes.
    let right = parent.replace("1200", "70");
    let case = Case::read(right.as_bytes());
    assert!(exact_fork(&case.view()).unwrap_err().as_str().starts_with("nothing to recompute"));
}

#[test]
fn an_exact_fork_keeps_a_text_that_says_the_number() {
    let parent = PARENT.replace("\"c\": 5", "\"c\": \"3 * 2 = 6\"");
    let fork = read(executed(&parent).as_bytes());
    assert_eq!((&fork["state"]["c"], &fork["pred_num"]), (&"3 * 2 = 6".into(), &6.into()));
}

#[test]
fn what_a_step_wrote_before_its_inputs_changed_is_out_of_date_and_no_mistake() {
    let stale = |text: &str| read(text.as_bytes())["trace"]["fork"]["stale"].clone();
    let set = edited(PARENT, 2, &[("a", "4")]);
    let case = Case::read(set.clone().into_bytes());
    let case = case.view();
    let rules: Vec<_> = case.findings().iter().map(|finding| finding.rule.word()).collect();
    assert!(!rules.iter().any(|rule| ["run/recompute", "run/final_mismatch"].contains(rule)), "{rules:?}");
    let triage = case.triage().unwrap();
    assert_eq!((triage.fix, triage.step), (Fix::Unknown, None));
    let why = triage.why.first().unwrap();
    assert!(why.text.as_str().contains("out of date") && why.text.as_str().contains("gives 8"), "{why:?}");
    // A later fork does not forget it, unless the step is run again.
    assert_eq!(stale(&set), serde_json::json!([2, 3]));
    assert_eq!(stale(&edited(&set, 1, &[("b", "1")])), serde_json::json!([1, 2, 3]));
    assert_eq!(stale(&edited(&set, 3, &[("c", "8")])), serde_json::json!([2, 3]));
    assert_eq!(stale(&executed(&set)), serde_json::json!([]));
    let start = RerunStart { step: 2, scope: Scope::Stale, ..RerunStart::default() };
    let mut machine = RerunMachine::new(Case::read(set.into_bytes()), start).unwrap();
    for reply in [r#"{"c": 8}"#, LAST] {
        let (ask, _) = machine.next_ask().unwrap().unwrap();
        machine.take_json(reply.as_bytes(), Executed::of(&ask, None)).unwrap();
    }
    assert_eq!(stale(std::str::from_utf8(&machine.fork("").unwrap().1).unwrap()), serde_json::json!([]));
}

#[test]
fn what_the_reply_of_a_step_no_longer_gives_is_not_in_the_fork() {
    let start = RerunStart { step: 3, is_lenient: true, ..RerunStart::default() };
    let mut machine = RerunMachine::new(Case::read(PARENT.as_bytes()), start).unwrap();
    let (ask, _) = machine.next_ask().unwrap().unwrap();
    machine.take_json(br#"{"final_answer_numerical": 2}"#, Executed::of(&ask, None)).unwrap();
    let fork = read(&machine.fork("").unwrap().1);
    let (state, kept) = (&fork["state"], ["problem_text", "a", "b", "d", "c"]);
    assert!(kept.iter().all(|name| state.get(name).is_some()), "{state}");
    assert_eq!((state.get("final_answer"), state.get("confidence")), (None, None));
    assert_eq!((&state["final_answer_numerical"], &fork["pred_num"]), (&2.into(), &2.into()));
}

#[test]
fn a_machine_says_the_same_as_its_replay() {
    let start = RerunStart {
        step: 0,
        edits: vec![(Untrusted::from("x"), b"1".to_vec())],
        scope: Scope::Stale,
        ..RerunStart::default()
    };
    let machine = |start: RerunStart| RerunMachine::new(Case::read(PARENT.as_bytes()), start);
    let beyond = machine(RerunStart { step: 9, ..start.clone() });
    assert_eq!(beyond.unwrap_err(), NoReplay::NoStep);
    let mut ended = machine(start.clone()).unwrap();
    let (ask, _) = ended.next_ask().unwrap().unwrap();
    assert!(ended.take_json(b"{}", Executed::of(&ask, None)).is_err());
    let (fork, _) = ended.fork("").unwrap();
    assert!(fork.calls[0].error.is_some() && fork.calls[0].outputs.is_none());
    let mut machine = machine(start).unwrap();
    assert_eq!((machine.preview().steps.len(), machine.preview().of), (4, 4));
    for (step, reply) in [(0, r#"{"a": 4, "b": 2}"#), (2, r#"{"c": 8}"#), (3, LAST)] {
        let (ask, id) = machine.next_ask().unwrap().unwrap();
        assert_eq!(ask.step, step);
        let mut executed = Executed::of(&ask, id.as_deref());
        assert_eq!(executed.step_id.as_deref(), Some((step + 1).to_string().as_bytes()));
        if step == 2 {
            executed.prompt = Untrusted::from("another prompt");
            machine.note(Executed { error: Some(Untrusted::from("the connection broke")), ..executed.clone() });
        }
        machine.take_json(reply.as_bytes(), executed).unwrap();
    }
    assert!(machine.next_ask().unwrap().is_none());
    let (fork, line) = machine.fork("").unwrap();
    assert_eq!((fork.calls.len(), fork.prompts.as_slice()), (4, &[2][..]));
    let made = read(&line);
    assert_eq!((&made["state"]["c"], &made["trace"]["fork"]["prompts_edited"]), (&8.into(), &serde_json::json!([2])));
    assert_eq!(made["state"]["x"], 1);
}

#[test]
fn a_chain_has_no_procedure_to_be_run() {
    const CHAINS: &str = include_str!("../../../../sample_runs/chains.jsonl");
    let case = Case::read(CHAINS.lines().next().unwrap().as_bytes());
    assert!(Replay::of(&case.view(), &RerunStart::default()).is_err());
}
