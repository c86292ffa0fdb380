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

use stepscope::domain::formats;
use stepscope::domain::json::Tape;
use stepscope::domain::procedure::Procedure;
use stepscope::domain::quantity::Uptake;

fn files() -> Vec<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut files = vec![format!("{root}/tests/fixtures/real/runs.jsonl")];
    if let Ok(more) = std::env::var("QUANTITY_FILES") {
        files.extend(more.split(':').map(str::to_owned));
    }
    files
}

#[test]
fn dump() {
    for file in files() {
        let bytes = std::fs::read(&file).unwrap();
        let mut counts = [[0_usize; 4]; 3];
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&b'{')) {
            let mut tape = Tape::default();
            let Some(root) = tape.parse(line) else { continue };
            let record = formats::read(root);
            let procedure = record.procedure.map(Procedure::read);
            let Some(uptake) = Uptake::of(&record, procedure.as_ref()) else { continue };
            let verdict = match record.correct {
                Some(true) => 0,
                Some(false) => 1,
                None => 2,
            };
            counts[verdict][0] += 1;
            counts[verdict][1] += usize::from(!uptake.missed.is_empty());
            counts[verdict][2] += usize::from(!uptake.invented.is_empty());
            counts[verdict][3] += usize::from(!uptake.changed.is_empty());
            let id = record.id_text().map(|id| id.line().into_string()).unwrap_or_default();
            let question = record.question.unwrap().string().unwrap();
            let state = record.state.unwrap();
            let name = |t: usize| uptake.takers[t].name(procedure.as_ref().unwrap()).unwrap();
            let value = |t: usize| {
                let member = state.members().filter(|member| member.name() == name(t)).last().unwrap();
                String::from_utf8_lossy(member.value.raw()).into_owned()
            };
            println!("{} {:?} | {}", &id[..id.len().min(8)], record.correct, question.line());
            for (n, quantity) in uptake.quantities.iter().enumerate() {
                let taken: Vec<_> = uptake.takers_of(n).map(|t| name(t).line().into_string()).collect();
                let text = String::from_utf8_lossy(&question.bytes()[quantity.span.clone()]).into_owned();
                let sure = if quantity.sure { "" } else { "?" };
                println!("    {text} = {}{sure} {} -> {}", quantity.value, quantity.kind.word(), taken.join(", "));
            }
            for missed in &uptake.missed {
                println!("  MISSED {} room {}", uptake.quantities[missed.quantity].value, missed.room);
            }
            for &taker in &uptake.invented {
                println!("  INVENTED {} {}", name(taker).line(), value(taker));
            }
            for changed in &uptake.changed {
                let own = uptake.quantities[changed.quantity].value;
                let (name, value) = (name(changed.taker), value(changed.taker));
                println!("  CHANGED {} {value} from {own} planned {}", name.line(), changed.planned);
            }
        }
        for (name, [all, missed, invented, changed]) in ["right", "wrong", "unknown"].iter().zip(counts) {
            println!("{name}: {all} runs, missed in {missed}, invented in {invented}, changed in {changed}");
        }
    }
}
