//! `stepscope verify`: every completion is judged on all cores, in input order.

use std::io;

use crate::failure::Failure;
use crate::pipeline::examine::Text;
use crate::pipeline::line::{self, Done, Task};
use crate::pipeline::room::{End, LEFT_OUT, Room, room_of};
use crate::source::block::Block;
use crate::source::cut::Skips;
use crate::source::input::Expand;
use stepscope_base::guard::{FAULT, guarded};
use stepscope_base::json::write::Style;
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::Shown;
use stepscope_execution::verify::{
    Candidate, ChainResult, FieldPath, Verifier, VerifyResult, completion, differ, recorded_reward,
};
use stepscope_report::jsonl::{LineShape, identity};

/// Largest ratio of what is printed to what was read.
pub const MAX_OUTPUT: usize = 16;

/// Verifier of completions, and their place in a record.
#[derive(Debug)]
pub struct Judge {
    /// Verifier that judges.
    pub verifier: Verifier,
    /// Path of the completion in a record.
    pub field: FieldPath,
}

impl Judge {
    /// Judges the completion of a record and keeps what every stage said. Without a completion no stage is reached.
    pub fn judge_stages(&self, record: Value<'_>) -> ChainResult {
        match completion(record, &self.field) {
            Ok(text) => self.verifier.judge_stages(Candidate { text: text.bytes(), record }, &mut Tape::default()),
            Err(why) => ChainResult { stages: Vec::new(), result: VerifyResult::not_judged(&why) },
        }
    }

    fn judge(&self, record: Value<'_>, tape: &mut Tape) -> VerifyResult {
        match completion(record, &self.field) {
            Ok(text) => self.verifier.verify(Candidate { text: text.bytes(), record }, tape),
            Err(why) => VerifyResult::not_judged(&why),
        }
    }
}

/// Counts of completions and rewards.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct VerifyCounts {
    /// Records.
    pub records: u64,
    /// Completions that passed.
    pub passed: u64,
    /// Records that could not be judged.
    pub not_judged: u64,
    /// All rewards together.
    pub reward: f64,
    /// Records that were judged and hold a reward.
    pub recorded: u64,
    /// Number of those whose reward is another one now.
    pub differ: u64,
    /// Records whose results are not printed: that would be too much for the size of the input.
    pub unprinted: u64,
    /// Lines that are no records.
    pub skips: Skips,
}

impl VerifyCounts {
    /// Records that could be judged.
    pub const fn scored(&self) -> u64 {
        self.records - self.not_judged
    }

    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.passed += other.passed;
        self.not_judged += other.not_judged;
        self.reward += other.reward;
        self.recorded += other.recorded;
        self.differ += other.differ;
        self.unprinted += other.unprinted;
        self.skips = self.skips.plus(other.skips);
    }

    fn count(&mut self, result: &VerifyResult, recorded: Option<f64>) {
        self.records += 1;
        let Some(reward) = result.scored() else {
            self.not_judged += 1;
            return;
        };
        self.passed += u64::from(result.success);
        self.reward += reward;
        self.recorded += u64::from(recorded.is_some());
        self.differ += u64::from(recorded.is_some_and(|recorded| differ(recorded, reward)));
    }
}

/// Result of judging a block.
#[derive(Default)]
struct JudgedBlock {
    counts: VerifyCounts,
    ends: Vec<End>,
}

impl line::Tally for JudgedBlock {
    fn clear(&mut self) {
        self.counts = VerifyCounts::default();
        self.ends.clear();
    }
}

/// Outcome of a verification.
#[derive(Debug, Default)]
pub struct VerifyOutcome {
    /// All sources together.
    pub counts: VerifyCounts,
    /// Failures to read a source.
    pub failures: Vec<Failure>,
    /// Notes on how sources were read, with their names.
    pub notes: Vec<(Shown, Shown)>,
}

/// Judges the completion of every record. `shape`: what of each result is printed. `sink` gets the results as JSON
/// lines, a block at a time, in input order, on one thread at a time; if it fails, everything ends.
pub fn verify(
    inputs: Expand,
    threads: usize,
    judge: &Judge,
    shape: &LineShape,
    mut sink: impl FnMut(&[u8]) -> io::Result<()> + Send,
) -> VerifyOutcome {
    let (mut counts, mut room) = (VerifyCounts::default(), Room::new(MAX_OUTPUT, LEFT_OUT));
    let work = |tapes: &mut (Tape, Tape), task: &Task, block: &Block, done: &mut Done<JudgedBlock>| {
        verify_block((judge, shape), tapes, task, block, done);
    };
    let ended = line::run(inputs, threads, Default::default, work, |done| {
        let JudgedBlock { counts: found, ends } = &mut done.tally;
        found.unprinted += room.take(done.read, &mut done.out, ends);
        counts.add(found);
        sink(&done.out).is_ok()
    });
    let failures = ended.failures.into_iter().chain(ended.missing).collect();
    VerifyOutcome { counts, failures, notes: ended.notes }
}

fn verify_block(
    (judge, shape): (&Judge, &LineShape),
    (tape, inner): &mut (Tape, Tape),
    task: &Task,
    block: &Block,
    done: &mut Done<JudgedBlock>,
) {
    let JudgedBlock { counts, ends } = &mut done.tally;
    let out = &mut done.out;
    counts.skips = block.skips;
    let room = room_of(block.bytes.len(), MAX_OUTPUT);
    let mut has_room = true;
    task.each(block, |place, cut| {
        Text::of(block, cut).read(tape, |tape, is_sound| {
            let root = tape.root(place.text);
            let judged = || {
                let Some(record) = root else {
                    let why = tape.problems().last().map_or("it is empty", |problem| problem.kind.summary());
                    return VerifyResult::not_judged(&Shown::own("not a record: ").and(why));
                };
                judge.judge(record, inner)
            };
            let result = is_sound.then(|| guarded(judged)).flatten();
            let result = result.unwrap_or_else(|| VerifyResult::not_judged(&Shown::own(FAULT)));
            let recorded = root.and_then(recorded_reward);
            counts.count(&result, recorded);
            if has_room {
                let sound = out.len();
                shape.line(out, |out| {
                    Style::ASCII.line(out, |object| {
                        result.members(recorded, object);
                        object.put("line", place.line);
                        identity(root, place.text, shape.record, object);
                    });
                });
                if out.len() > room {
                    out.truncate(sound);
                    has_room = false;
                } else {
                    ends.push(End::plain(out.len(), true));
                }
            }
            if !has_room {
                counts.unprinted += 1;
                out.extend_from_slice(LEFT_OUT);
                ends.push(End::plain(out.len(), false));
            }
        });
    });
}
