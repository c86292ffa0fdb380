//! The reconstructed state against what real runs printed while they ran (`tests/fixtures/real`, 13 runs).

use stepscope_base::json::same::same_value;
use stepscope_base::json::{Tape, Value};
use stepscope_record::formats;
use stepscope_record::procedure::Procedure;
use stepscope_record::state::{Badge, Entry, State};

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/real/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect()
}

/// Checks that the entries hold every value of the object, and nothing else.
fn assert_same(state: &State<'_>, entries: &[Entry<'_>], printed: Value<'_>, what: &str) {
    assert_eq!(entries.len(), printed.len(), "{what}");
    for member in printed.members() {
        let variable = state.variable(&member.name()).unwrap_or_else(|| panic!("{what}: {:?}", member.name()));
        let entry = entries.iter().find(|entry| entry.variable == variable).unwrap_or_else(|| panic!("{what}"));
        assert!(matches!(entry.badge, Badge::Reconstructed | Badge::Recorded), "{what}: {entry:?}");
        assert!(same_value(entry.value.unwrap(), member.value), "{what}: {:?}", member.name());
    }
}

#[test]
fn what_is_reconstructed_is_what_was_printed() {
    let (runs, values) = (fixture("runs.jsonl"), fixture("step_values.jsonl"));
    let mut compared = 0;
    for (run, values) in lines(&runs).into_iter().zip(lines(&values)) {
        let (mut run_tape, mut values_tape) = (Tape::default(), Tape::default());
        let record = formats::read(run_tape.parse(run).unwrap());
        let printed = values_tape.parse(values).unwrap();
        assert!(same_value(record.id.unwrap(), printed.get("id").unwrap()));
        let procedure = Procedure::read(record.procedure.unwrap());
        let state = State::of(&record, Some(&procedure));
        assert_eq!(state.last_step().surprise, None);
        for (step, call) in printed.get("steps").unwrap().items().enumerate() {
            let what = format!("{:?} step {}", record.id_text().unwrap(), step + 1);
            assert_same(&state, &state.reads(step), call.get("inputs").unwrap(), &what);
            assert_same(&state, &state.writes(step), call.get("outputs").unwrap(), &what);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}
