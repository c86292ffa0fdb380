//! `stepscope check`: blocks are read in order, checked and rendered on all cores, and written in order. Memory stays
//! bounded, and a closed pipe ends it at once.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::block::{Block, Cursor, Want};
use super::cut::{Layout, Skips, is_cut_off, line_ends};
use super::examine::{Examined, Examiner};
use super::failure::Failure;
use super::input::{Begun, Expand, Input, begin, begin_answers, begin_pipe};
use super::library::{Documents, Library};
use crate::domain::finding::Findings;
use crate::domain::formats::Expect;
use crate::domain::json::Tape;
use crate::domain::record::RecordKind;
use crate::domain::report::places::advance_column;
use crate::domain::rules::Subject;
use crate::domain::rules::answer::Schema;
use crate::domain::text::Shown;

/// How many blocks may wait to be written, for each worker.
const AHEAD: u64 = 4;

/// Where a record comes from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The input it was read from.
    pub input: &'a Input,
    /// The input's position among all inputs, from 0.
    pub source: usize,
    /// The number of the line in which it begins, from 1.
    pub line: u64,
    /// The column in which it begins, in characters from 1.
    pub column: usize,
    /// Its position in the source, from 0. Values that share a line share it.
    pub index: u64,
    /// Its first byte in the source.
    pub offset: u64,
}

/// One record, checked.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// Where it comes from.
    pub origin: Origin<'a>,
    /// Its bytes.
    pub text: &'a [u8],
    /// What the rules looked at.
    pub subject: &'a Subject<'a>,
    /// What they found.
    pub findings: &'a Findings,
}

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Records.
    pub records: u64,
    /// Records that could not be read as JSON.
    pub broken: u64,
    /// Findings of each severity, gravest first.
    pub findings: [u64; 4],
    /// Records whose gravest finding is of a severity, gravest first.
    pub worst: [u64; 4],
    /// Records that could not be checked: faults of stepscope.
    pub faults: u64,
    /// What is no record.
    pub skips: Skips,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.broken += other.broken;
        self.faults += other.faults;
        for (to, from) in [(&mut self.findings, other.findings), (&mut self.worst, other.worst)] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        self.skips = self.skips.plus(other.skips);
    }

    fn count(&mut self, examined: &Examined<'_>) {
        self.records += 1;
        self.faults += u64::from(examined.fault);
        self.broken += u64::from(examined.subject.record.as_ref().is_none_or(|r| r.kind == RecordKind::Broken));
        let mut worst = None;
        for finding in &examined.findings {
            if let Some(count) = self.findings.get_mut(finding.severity as usize) {
                *count += 1;
            }
            worst = worst.min(Some(finding.severity)).or(Some(finding.severity));
        }
        if let Some(count) = worst.and_then(|severity| self.worst.get_mut(severity as usize)) {
            *count += 1;
        }
    }
}

/// What one source held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceCounts {
    /// Its name.
    pub name: Shown,
    /// What was counted in it.
    pub counts: Counts,
}

/// A record whose id stands earlier in the same source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Duplicate {
    /// Position of the source in [`Outcome::sources`].
    pub source: usize,
    /// The line of the record.
    pub line: u64,
    /// The line where its id stood first.
    pub first: u64,
}

/// How it ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// All sources together.
    pub counts: Counts,
    /// Each source that could be opened, by its position among the inputs.
    pub sources: BTreeMap<usize, SourceCounts>,
    /// What could not be read.
    pub failures: Vec<Failure>,
    /// How databases were opened, where that matters: their names, and what is to be said.
    pub notes: Vec<(Shown, Shown)>,
    /// Files in folders that do not look like JSON.
    pub passed_over: u64,
    /// Ids that stand twice, by source and line.
    pub duplicates: Vec<Duplicate>,
    /// The sink refused to take more.
    pub stopped: Option<io::Error>,
}

/// Checks everything. `render` writes what is to be said of a record, on any thread; `sink` gets the bytes of a whole
/// block, in input order, on this thread. If the sink fails, everything ends. With `answers` every record is taken as an
/// answer object of that schema.
pub fn check(
    inputs: Expand,
    threads: usize,
    answers: Option<&Schema>,
    render: impl Fn(&Checked<'_>, &mut Vec<u8>) + Sync,
    mut sink: impl FnMut(&[u8], &Counts) -> io::Result<()>,
) -> Outcome {
    let threads = threads.max(1);
    let line = Line::new(inputs, threads as u64 * AHEAD);
    let mut outcome = Outcome::default();
    let mut ids = Ids::default();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| line.work(answers, &render));
        }
        while let Some(mut done) = line.next_done() {
            if outcome.stopped.is_none()
                && let Err(error) = sink(&done.out, &done.counts)
            {
                outcome.stopped = Some(error);
                line.stop();
            }
            outcome.counts.add(&done.counts);
            let name = || SourceCounts { name: done.name.clone(), counts: Counts::default() };
            outcome.sources.entry(done.source).or_insert_with(name).counts.add(&done.counts);
            ids.add(done.source, &mut done.ids, &mut outcome.duplicates);
            line.give_back(done.out, done.ids);
        }
    });
    ids.finish(&mut outcome.duplicates);
    outcome.duplicates.sort_unstable();
    let reader = line.reader.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome.failures = reader.failures;
    outcome.failures.extend(reader.library.failures());
    outcome.notes = reader.notes;
    outcome.passed_over = reader.passed_over;
    outcome
}

/// Hashes of ids with the lines of their records.
type IdLines = Vec<(u64, u64)>;

/// A block, checked and rendered.
struct Done {
    source: usize,
    name: Shown,
    out: Vec<u8>,
    counts: Counts,
    ids: IdLines,
}

/// The assembly line: a reader that hands out blocks, workers, and a shelf from which they are taken in order.
struct Line {
    reader: Mutex<Reader>,
    shelf: Mutex<Shelf>,
    /// Something was put on the shelf, or taken, or the line ended.
    moved: Condvar,
    ahead: u64,
}

struct Reader {
    inputs: Expand,
    library: Arc<Library>,
    current: Option<Current>,
    /// How many inputs were begun.
    begun: usize,
    /// The number of the next block.
    next: u64,
    failures: Vec<Failure>,
    notes: Vec<(Shown, Shown)>,
    passed_over: u64,
}

#[derive(Clone)]
struct Current {
    source: usize,
    input: Arc<Input>,
    name: Shown,
    cursor: Cursor,
}

#[derive(Default)]
struct Shelf {
    done: BTreeMap<u64, Done>,
    /// The number of the block to be taken next.
    next: u64,
    /// How many blocks there are, once that is known.
    total: Option<u64>,
    stopped: bool,
    spare: Vec<(Vec<u8>, IdLines)>,
}

/// A block to work on.
struct Task {
    number: u64,
    source: usize,
    input: Arc<Input>,
    name: Shown,
    layout: Layout,
    expect: Expect,
    documents: Option<Documents>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn new(inputs: Expand, ahead: u64) -> Self {
        let reader = Reader {
            library: inputs.library().clone(),
            inputs,
            current: None,
            begun: 0,
            next: 0,
            failures: Vec::new(),
            notes: Vec::new(),
            passed_over: 0,
        };
        Self { reader: Mutex::new(reader), shelf: Mutex::default(), moved: Condvar::new(), ahead }
    }

    fn work(&self, answers: Option<&Schema>, render: &(impl Fn(&Checked<'_>, &mut Vec<u8>) + Sync)) {
        let (mut block, mut examiner, mut tape) = (Block::default(), Examiner::judging(answers), Tape::default());
        loop {
            let Some(task) = self.next_task(&mut block) else { return };
            let (out, ids) = lock(&self.shelf).spare.pop().unwrap_or_default();
            let mut done = Done { source: task.source, name: task.name.clone(), out, counts: Counts::default(), ids };
            render_block(&task, &mut block, &mut examiner, &mut tape, render, &mut done);
            let mut shelf = lock(&self.shelf);
            shelf.done.insert(task.number, done);
            if shelf.next == task.number {
                self.moved.notify_all();
            }
        }
    }

    /// Waits until there is room, then reads the next block.
    fn next_task(&self, block: &mut Block) -> Option<Task> {
        let mut reader = lock(&self.reader);
        let mut shelf = lock(&self.shelf);
        while !shelf.stopped && shelf.total.is_none() && reader.next >= shelf.next + self.ahead {
            shelf = self.moved.wait(shelf).unwrap_or_else(PoisonError::into_inner);
        }
        if shelf.stopped || shelf.total.is_some() {
            shelf.total.get_or_insert(reader.next);
            self.moved.notify_all();
            return None;
        }
        drop(shelf);
        let task = reader.next(block);
        if task.is_none() {
            lock(&self.shelf).total = Some(reader.next);
            self.moved.notify_all();
        }
        task
    }

    fn next_done(&self) -> Option<Done> {
        let mut shelf = lock(&self.shelf);
        loop {
            let number = shelf.next;
            if let Some(done) = shelf.done.remove(&number) {
                shelf.next += 1;
                self.moved.notify_all();
                return Some(done);
            }
            if shelf.total.is_some_and(|total| number >= total) {
                return None;
            }
            shelf = self.moved.wait(shelf).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn stop(&self) {
        lock(&self.shelf).stopped = true;
        self.moved.notify_all();
    }

    fn give_back(&self, mut out: Vec<u8>, mut ids: IdLines) {
        // An unusually large answer is not kept.
        if out.capacity() <= 4 << 20 {
            out.clear();
            ids.clear();
            lock(&self.shelf).spare.push((out, ids));
        }
    }
}

impl Reader {
    fn next(&mut self, block: &mut Block) -> Option<Task> {
        loop {
            if self.current.is_none() {
                self.begin_next()?;
            }
            let Some(current) = &mut self.current else { continue };
            match current.cursor.next(block, u64::MAX, Want::Bytes) {
                Ok(true) => {
                    self.next += 1;
                    return Some(Task {
                        number: self.next - 1,
                        source: current.source,
                        input: current.input.clone(),
                        name: current.name.clone(),
                        layout: current.cursor.layout(),
                        expect: current.cursor.blob().expect(),
                        documents: current.cursor.blob().documents().cloned(),
                    });
                }
                Ok(false) => self.current = None,
                Err(failure) => {
                    self.failures.push(failure);
                    self.current = None;
                }
            }
        }
    }

    /// Opens the next input; `None`: there is none. An empty source still counts as a source.
    fn begin_next(&mut self) -> Option<()> {
        let input = match self.inputs.next()? {
            Ok(input) => input,
            Err(failure) => {
                self.failures.push(failure);
                return Some(());
            }
        };
        let source = match begin(&input, &self.library) {
            Ok(Begun::Source(source)) => Ok(source),
            Ok(Begun::Pipe(pipe)) => begin_pipe(pipe, &input.name(), &self.library),
            Ok(Begun::Answers(store)) => {
                let (source, report) = begin_answers(&store, &self.library);
                self.failures.extend(report.failures);
                self.notes.extend(report.note.map(|note| (input.name(), note)));
                match source {
                    Some(source) => Ok(source),
                    None => return Some(()),
                }
            }
            Ok(Begun::PassedOver) => {
                self.passed_over += 1;
                return Some(());
            }
            Err(failure) => Err(failure),
        };
        match source {
            Ok(source) => {
                let cursor = Cursor::new(source.blob, source.layout);
                let name = input.name();
                self.current = Some(Current { source: self.begun, input: Arc::new(input), name, cursor });
                self.begun += 1;
            }
            Err(failure) => self.failures.push(failure),
        }
        Some(())
    }
}

fn render_block(
    task: &Task,
    block: &mut Block,
    examiner: &mut Examiner<'_>,
    tape: &mut Tape,
    render: &(impl Fn(&Checked<'_>, &mut Vec<u8>) + Sync),
    done: &mut Done,
) {
    done.counts.skips = block.skips;
    examiner.expect(task.expect, task.documents.as_ref());
    let (mut line, mut column, mut counted) = (block.line, block.column, 0);
    let (last, dense) = (block.cuts.len(), block.is_dense(task.layout));
    for (n, cut) in block.cuts.iter().enumerate() {
        let text = block.text(cut);
        if dense {
            (line, column) = (block.line + n as u64, 1);
        } else {
            let before = block.bytes.get(counted..cut.range.start).unwrap_or_default();
            line += line_ends(task.layout, before);
            column = advance_column(column, before);
            counted = cut.range.start;
        }
        if block.open && n + 1 == last && matches!(task.layout, Layout::Lines(_)) && is_cut_off(tape, text) {
            done.counts.skips.cut = Some(line);
            continue;
        }
        examiner.each(text, block.len_of(cut), cut.joined, |examined| {
            done.counts.count(examined);
            done.ids.extend(examined.id_hash().map(|hash| (hash, line)));
            let start = cut.range.start + examined.range.start;
            let origin = Origin {
                input: &task.input,
                source: task.source,
                line,
                column: advance_column(column, text.get(..examined.range.start).unwrap_or_default()),
                index: block.index + n as u64,
                offset: block.start + start as u64,
            };
            let checked = Checked {
                origin,
                text: examined.subject.text,
                subject: &examined.subject,
                findings: &examined.findings,
            };
            let sound = done.out.len();
            if catch_unwind(AssertUnwindSafe(|| render(&checked, &mut done.out))).is_err() {
                done.out.truncate(sound);
                done.counts.faults += 1;
            }
        });
    }
}

/// Hashes of ids with their lines, of one source at a time.
#[derive(Default)]
struct Ids {
    source: usize,
    all: IdLines,
}

/// How many ids of one source are compared; 16 bytes each.
pub const MAX_IDS: usize = 16 << 20;

impl Ids {
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
