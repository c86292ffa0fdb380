//! What is found in the questions of real runs, with the verdict of the run left aside.
//! `cargo test --test quantity_eval -- --nocapture` prints it; `QUANTITY_FILES=a.jsonl:b.jsonl` adds files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

use stepscope_base::json::Tape;
use stepscope_core::arithmetic::quantity::{QuantityLinks, find};
use stepscope_core::case::Case;
use stepscope_core::finding::Severity;
use stepscope_core::procedure::Procedure;
use stepscope_core::record::formats;

fn files() -> Vec<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut files = vec![format!("{root}/tests/fixtures/real/runs.jsonl")];
    if let Ok(more) = std::env::var("QUANTITY_FILES") {
        files.extend(more.split(':').map(str::to_owned));
    }
    files
}

/// The quantities of the thirteen real questions, found by hand; what may be none at all is left out.
const BY_HAND: [&[&str]; 13] = [
    &["three", "two", "twice"],
    &["$60", "$30", "eight", "four", "twice"],
    &["six", "six", "24"],
    &["ten", "ten", "five", "eight"],
    &["four", "1", "3", "4", "half", "16"],
    &["two", "50%", "25%", "5%"],
    &["four", "three", "10", "7", "three", "100"],
    &["5", "24", "5/8", "2", "2", "2/3"],
    &["12", "150", "16", "30"],
    &["2", "$10", "half", "twice"],
    &["15", "two", "35", "50", "15"],
    &["9", "14", "9", "4", "$1.50", "$5.50"],
    &["1000", "25", "1/4", "half"],
];

#[test]
fn the_quantities_of_real_questions_are_found() {
    let bytes = std::fs::read(files().swap_remove(0)).unwrap();
    for (line, wanted) in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).zip(BY_HAND) {
        let mut tape = Tape::default();
        let question = tape.parse(line).unwrap().get("question").unwrap().string().unwrap();
        let text = question.utf8().unwrap();
        let found: Vec<_> =
            find(text.as_bytes()).into_iter().filter(|one| one.sure).map(|one| &text[one.span]).collect();
        assert_eq!(found, wanted, "{text}");
    }
}

/// What the rules say of runs, by file; nothing above a note may be said of a right one, whether or not the record
/// says that it is right.
#[test]
fn right_runs_raise_no_alarm() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut alarms = Vec::new();
    let mut right = 0;
    for file in [
        "tests/fixtures/real/runs.jsonl",
        "tests/fixtures/triage/cases.jsonl",
        "sample_runs/word_problems.jsonl",
        "sample_runs/by_hand.jsonl",
    ] {
        let bytes = std::fs::read(format!("{root}/{file}")).unwrap();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&b'{')) {
            let case = Case::read(line);
            let case = case.view();
            if !case.is_right() {
                continue;
            }
            right += 1;
            let found = case.findings();
            let grave = found
                .iter()
                .filter(|found| found.severity < Severity::Note && found.rule.word().starts_with("run/quantity"));
            assert_eq!(grave.count(), 0, "{file}");
            // The same run with its verdict unknown.
            let Some(links) = case.quantity_links() else { continue };
            let missed = links.missed.iter().any(|missed| missed.room);
            if missed || !links.invented.is_empty() || !links.changed.is_empty() {
                alarms.push(case.record.as_ref().unwrap().id_text().unwrap().line().into_string());
            }
        }
    }
    println!("{right} right runs, without their verdict {} would be warned of: {alarms:?}", alarms.len());
    assert!(right >= 40 && alarms.is_empty(), "{right} {alarms:?}");
}

#[test]
fn the_links_of_every_run_is_told_without_fault() {
    let mut told = 0;
    for file in files() {
        let bytes = std::fs::read(&file).unwrap();
        let mut counts = [[0_usize; 4]; 3];
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&b'{')) {
            let mut tape = Tape::default();
            let Some(root) = tape.parse(line) else { continue };
            let record = formats::read(root);
            let procedure = record.procedure.map(Procedure::read);
            let Some(links) = QuantityLinks::of(&record, procedure.as_ref()) else { continue };
            let verdict = match record.correct {
                Some(true) => 0,
                Some(false) => 1,
                None => 2,
            };
            counts[verdict][0] += 1;
            counts[verdict][1] += usize::from(!links.missed.is_empty());
            counts[verdict][2] += usize::from(!links.invented.is_empty());
            counts[verdict][3] += usize::from(!links.changed.is_empty());
            let id = record.id_text().map(|id| id.line().into_string()).unwrap_or_default();
            let question = record.question.unwrap().string().unwrap();
            let state = record.state.unwrap();
            let name = |t: usize| links.holders[t].name(procedure.as_ref().unwrap()).unwrap();
            let value = |t: usize| {
                let member = state.members().filter(|member| member.name() == name(t)).last().unwrap();
                String::from_utf8_lossy(member.value.raw()).into_owned()
            };
            println!("{} {:?} | {}", &id[..id.len().min(8)], record.correct, question.line());
            for (n, quantity) in links.quantities.iter().enumerate() {
                let taken: Vec<_> = links.holders_of(n).map(|t| name(t).line().into_string()).collect();
                let text = String::from_utf8_lossy(&question.bytes()[quantity.span.clone()]).into_owned();
                let sure = if quantity.sure { "" } else { "?" };
                println!("    {text} = {}{sure} {} -> {}", quantity.value, quantity.kind.word(), taken.join(", "));
            }
            for missed in &links.missed {
                println!("  MISSED {} room {}", links.quantities[missed.quantity].value, missed.room);
            }
            for &holder in &links.invented {
                println!("  INVENTED {} {}", name(holder).line(), value(holder));
            }
            for changed in &links.changed {
                let own = links.quantities[changed.quantity].value;
                let (name, value) = (name(changed.holder), value(changed.holder));
                println!("  CHANGED {} {value} from {own} planned {}", name.line(), changed.planned);
            }
        }
        for (name, [all, missed, invented, changed]) in ["right", "wrong", "unknown"].iter().zip(counts) {
            println!("{name}: {all} runs, missed in {missed}, invented in {invented}, changed in {changed}");
            told += all;
        }
    }
    assert!(told > 0, "no run has a question and steps");
}
