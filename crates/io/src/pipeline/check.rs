//! `stepscope check`: every record is checked and rendered on all cores, in input order. `check::read` is the same without the
//! rules, for commands that ask for no findings.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::failure::Failure;
use crate::pipeline::examine::id_hash;
use crate::pipeline::line::{self, Done, Task};
use crate::pipeline::room::{End, Room, cost, room_of};
use crate::pipeline::side_data::{SideData, Surroundings};
use crate::source::block::Block;
use crate::source::cut::Skips;
use crate::source::input::{Expand, Input};
use stepscope_base::guard::{guarded, lock};
use stepscope_base::json::Tape;
use stepscope_base::text::Shown;
use stepscope_judge::case::{CaseView, Context};
use stepscope_record::RecordKind;

/// Largest ratio of what is printed to what was read.
pub const MAX_OUTPUT: usize = 10;

/// Counts of records and findings.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CheckCounts {
    /// Records.
    pub records: u64,
    /// Records that could not be read as JSON.
    pub broken: u64,
    /// Records of no known format.
    pub unknown: u64,
    /// Findings of each severity, gravest first.
    pub findings: [u64; 4],
    /// Records whose gravest finding is of a severity, gravest first.
    pub worst: [u64; 4],
    /// Records that could not be checked: faults of stepscope.
    pub faults: u64,
    /// Records of which something is to be said that is not printed: it would be too much for the size of the input.
    pub unprinted: u64,
    /// Lines that are no records.
    pub skips: Skips,
}

impl CheckCounts {
    /// Tells whether there are records and none of them is of a known format.
    pub const fn is_not_understood(&self) -> bool {
        self.records > 0 && self.unknown + self.broken == self.records
    }

    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.broken += other.broken;
        self.unknown += other.unknown;
        self.faults += other.faults;
        self.unprinted += other.unprinted;
        for (to, from) in [(&mut self.findings, other.findings), (&mut self.worst, other.worst)] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        self.skips = self.skips.plus(other.skips);
    }

    fn count(&mut self, case: &CaseView<'_>, is_checked: bool) {
        self.records += 1;
        self.faults += u64::from(case.is_fault());
        self.broken += u64::from(case.kind() == RecordKind::Broken);
        self.unknown += u64::from(case.kind() == RecordKind::Unknown);
        let mut worst = None;
        for finding in is_checked.then(|| case.findings()).into_iter().flatten() {
            if let Some(count) = self.findings.get_mut(finding.severity as usize) {
                *count += finding.count() as u64;
            }
            worst = worst.min(Some(finding.severity)).or(Some(finding.severity));
        }
        if let Some(count) = worst.and_then(|severity| self.worst.get_mut(severity as usize)) {
            *count += 1;
        }
    }
}

/// Name and counts of one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceCounts {
    /// Its name.
    pub name: Shown,
    /// Counts of its records and findings.
    pub counts: CheckCounts,
    /// True if it is standard input, which may be empty: that is what a search without a hit hands on.
    pub is_piped: bool,
}

impl SourceCounts {
    /// Tells whether there should have been a record in it, and none was.
    pub const fn is_empty(&self) -> bool {
        self.counts.records == 0 && !(self.is_piped && self.is_blank())
    }

    /// Tells whether it holds no record, and nothing that might have become one.
    pub const fn is_blank(&self) -> bool {
        let skips = &self.counts.skips;
        self.counts.records == 0 && skips.cut.is_none() && skips.nul == 0
    }
}

/// A record whose id occurs earlier in the same source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Duplicate {
    /// Position of the source in [`CheckOutcome::sources`].
    pub source: usize,
    /// The line of the record.
    pub line: u64,
    /// The line where its id occurred first.
    pub first: u64,
}

/// Outcome of a check.
#[derive(Debug, Default)]
pub struct CheckOutcome {
    /// All sources together.
    pub counts: CheckCounts,
    /// Each source that could be opened, by its position among the inputs.
    pub sources: BTreeMap<usize, SourceCounts>,
    /// Failures to read a source.
    pub failures: Vec<Failure>,
    /// Documents that answers cite and that could not be read; the answers were.
    pub missing: Vec<Failure>,
    /// Notes on how databases were opened, where that matters, with their names.
    pub notes: Vec<(Shown, Shown)>,
    /// Files in folders that do not look like JSON.
    pub passed_over: u64,
    /// Report pages among them.
    pub pages: u64,
    /// Links in folders, which are not followed.
    pub links: u64,
    /// Number of hidden files and folders in folders that were left out.
    pub hidden: u64,
    /// Ids that occur twice, by source and line.
    pub duplicates: Vec<Duplicate>,
    /// The sink refused to take more.
    pub stopped: Option<io::Error>,
}

impl CheckOutcome {
    /// Lists everything that could not be read, documents last.
    pub fn unread(&self) -> impl Iterator<Item = &Failure> {
        self.failures.iter().chain(&self.missing)
    }
}

/// Options of a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// Output for a record that there is no room for; nothing if it is empty.
    pub left_out: &'static [u8],
    /// True if ids are compared, which takes memory for each record.
    pub compares_ids: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { left_out: b"", compares_ids: true }
    }
}

/// Goes through everything as [`check`] does: `record` is asked what to keep of each record, on any thread. Returns what
/// was kept, in input order.
pub fn read<K: Send>(
    inputs: Expand,
    threads: usize,
    around: &Surroundings<'_>,
    manner: Option<CheckOptions>,
    record: impl Fn(&CaseView<'_>, &Input) -> Option<K> + Sync,
) -> (Vec<K>, CheckOutcome) {
    let kept: Mutex<Vec<((usize, u64), K)>> = Mutex::new(Vec::new());
    let keep = |case: &CaseView<'_>, input: &Input, _: Option<&mut Vec<u8>>| {
        if let Some(found) = record(case, input) {
            let place = (case.origin().source, case.origin().offset);
            lock(&kept).push((place, found));
        }
    };
    let outcome = check(inputs, threads, around, manner, keep, |_, _| Ok(()));
    let mut kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Each is moved once: they may be large.
    kept.sort_by_cached_key(|(place, _)| *place);
    (kept.into_iter().map(|(_, found)| found).collect(), outcome)
}

/// Reads everything, and runs no rule but for those records whose findings `look` asks for.
pub fn read_through(
    inputs: Expand,
    threads: usize,
    side: &Arc<SideData>,
    look: impl Fn(&CaseView<'_>, &Input) + Sync,
) -> CheckOutcome {
    let look = |case: &CaseView<'_>, input: &Input, _: Option<&mut Vec<u8>>| look(case, input);
    check(inputs, threads, &side.around(), None, look, |_, _| Ok(()))
}

/// Checks everything; without a manner, reads it as [`read_through`] does. `render` writes the output for a record of an
/// input, on any thread, if there is room for it; `sink` gets the bytes of a whole block, in input order, on one thread at
/// a time. If the sink fails, everything ends. What is rendered in all is in proportion to what is read; the rest is
/// counted. `around`: the context of all records.
pub fn check(
    inputs: Expand,
    threads: usize,
    around: &Surroundings<'_>,
    manner: Option<CheckOptions>,
    render: impl Fn(&CaseView<'_>, &Input, Option<&mut Vec<u8>>) + Sync,
    mut sink: impl FnMut(&[u8], &CheckCounts) -> io::Result<()> + Send,
) -> CheckOutcome {
    let mut outcome = CheckOutcome::default();
    let mut ids = DuplicateIds::default();
    let work = |tape: &mut Tape, task: &Task, block: &Block, done: &mut Done<CheckedBlock>| {
        render_block(task, block, (tape, around, manner), &render, done);
    };
    let mut room = manner.map(|manner| Room::new(MAX_OUTPUT, manner.left_out));
    let ended = line::run(inputs, threads, Tape::default, work, |done| {
        let CheckedBlock { counts, ids: found, ends } = &mut done.tally;
        if let Some(room) = &mut room {
            counts.unprinted += room.take(done.read, &mut done.out, ends);
        }
        if outcome.stopped.is_none()
            && let Err(error) = sink(&done.out, counts)
        {
            outcome.stopped = Some(error);
        }
        outcome.counts.add(counts);
        let (name, is_piped) = (&done.name, done.is_piped);
        let new = || SourceCounts { name: name.clone(), counts: CheckCounts::default(), is_piped };
        outcome.sources.entry(done.source).or_insert_with(new).counts.add(counts);
        ids.add(done.source, found, &mut outcome.duplicates);
        outcome.stopped.is_none()
    });
    ids.finish(&mut outcome.duplicates);
    outcome.duplicates.sort_unstable();
    (outcome.failures, outcome.missing) = (ended.failures, ended.missing);
    outcome.notes = ended.notes;
    (outcome.passed_over, outcome.pages) = (ended.passed_over, ended.pages);
    (outcome.links, outcome.hidden) = (ended.links, ended.hidden);
    outcome
}

/// Hashes of ids with the lines of their records.
type IdLines = Vec<(u64, u64)>;

/// Result of checking a block.
#[derive(Default)]
struct CheckedBlock {
    counts: CheckCounts,
    ids: IdLines,
    /// Ends of the records' texts; records with findings are counted where they are left out.
    ends: Vec<End>,
}

impl line::Tally for CheckedBlock {
    fn clear(&mut self) {
        self.counts = CheckCounts::default();
        self.ids.clear();
        self.ends.clear();
    }
}

fn render_block(
    task: &Task,
    block: &Block,
    (tape, around, manner): (&mut Tape, &Surroundings<'_>, Option<CheckOptions>),
    render: &(impl Fn(&CaseView<'_>, &Input, Option<&mut Vec<u8>>) + Sync),
    done: &mut Done<CheckedBlock>,
) {
    let CheckedBlock { counts, ids, ends } = &mut done.tally;
    let out = &mut done.out;
    let checks = manner.is_some();
    let CheckOptions { left_out, compares_ids } = manner.unwrap_or_default();
    counts.skips = block.skips;
    let (input, documents) = (Some(task.input.clone()), task.documents.clone());
    let around: Arc<dyn Context> = Arc::new(Surroundings { input, documents, ..around.clone() });
    // No more is kept of a block, whatever room there is.
    let room = room_of(block.bytes.len(), MAX_OUTPUT);
    let (mut has_room, mut spent) = (true, 0);
    let name = task.input.name();
    let cut_off = task.each_case(block, tape, (&around, checks), |case, line| {
        // Asked first: a fault in it is counted once.
        let id = case.record.as_ref().filter(|_| compares_ids).and_then(id_hash);
        counts.count(case, checks);
        ids.extend(id.map(|hash| (hash, line)));
        let sound = out.len();
        let into = has_room.then_some(&mut *out);
        if guarded(|| render(case, &task.input, into)).is_none() {
            out.truncate(sound);
            counts.faults += 1;
        }
        let mut own = cost(&out[sound..], name.as_str().as_bytes());
        if spent + own > room {
            out.truncate(sound);
            (has_room, own) = (false, 0);
        }
        // What is not printed of a record without findings would not speak of any.
        let speaks = checks && !case.findings().is_empty();
        counts.unprinted += u64::from(!has_room && speaks);
        if !has_room {
            out.extend_from_slice(left_out);
            own = left_out.len();
        }
        spent += own;
        if out.len() > sound {
            // What is left out here is counted already.
            ends.push(End { at: out.len(), cost: spent, counts: speaks && has_room });
        }
    });
    counts.skips.cut = counts.skips.cut.or(cut_off);
}

/// Hashes of ids with their lines, of one source at a time.
#[derive(Default)]
struct DuplicateIds {
    source: usize,
    all: IdLines,
}

/// Number of ids of one source that are compared; 16 bytes each.
pub(crate) const MAX_IDS: usize = 16 << 20;

impl DuplicateIds {
    fn add(&mut self, source: usize, ids: &mut IdLines, duplicates: &mut Vec<Duplicate>) {
        if source != self.source {
            self.finish(duplicates);
            self.source = source;
        }
        let room = MAX_IDS.saturating_sub(self.all.len());
        self.all.extend(ids.drain(..ids.len().min(room)));
    }

    fn finish(&mut self, duplicates: &mut Vec<Duplicate>) {
        self.all.sort_unstable();
        for same in self.all.chunk_by(|a, b| a.0 == b.0) {
            let Some((&(_, first), later)) = same.split_first() else { continue };
            duplicates.extend(later.iter().map(|&(_, line)| Duplicate { source: self.source, line, first }));
        }
        self.all.clear();
    }
}
