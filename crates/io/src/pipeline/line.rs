//! The assembly line of the commands: blocks are read in order, worked on by all cores, and handed over in order.
//! Memory stays bounded, and it ends at once when nobody wants more.
//!
//! No thread only reads or only hands over: whoever needs a block reads it, and whoever finishes the block that is next
//! hands it over, with all that wait behind it. So a thread seldom waits for another.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::failure::Failure;
use crate::pipeline::examine::Text;
use crate::source::block::{Block, Cursor, Want};
use crate::source::cut::{Cut, Layout, is_cut_off, line_ends};
use crate::source::documents::{DocumentCache, Documents};
use crate::source::input::{Begun, Expand, Input, PassedOver, Source, begin, begin_answers, begin_pipe};
use stepscope_base::guard::{guarded, lock, strike};
use stepscope_base::json::Tape;
use stepscope_base::text::Shown;
use stepscope_judge::case::{CaseView, Context, Location};
use stepscope_report::places::advance_column;

/// Number of blocks that may wait to be handed over, for each worker.
const AHEAD: u64 = 4;
/// Size of the largest output that is kept to be filled again.
const MAX_SPARE: usize = 4 << 20;

/// Counts made while working on a block.
pub(crate) trait Tally: Default + Send {
    /// Makes it as good as new, but keeps its memory.
    fn clear(&mut self);
}

impl<T: Send> Tally for Vec<T> {
    fn clear(&mut self) {
        self.clear();
    }
}

/// A block to work on.
pub(crate) struct Task {
    /// Size of its part of the input, in bytes.
    read: u64,
    number: u64,
    source: usize,
    pub(crate) input: Arc<Input>,
    name: Shown,
    pub(crate) layout: Layout,
    decoded: bool,
    pub(crate) documents: Option<Documents>,
}

/// A block, worked on.
pub(crate) struct Done<T> {
    pub(crate) source: usize,
    pub(crate) name: Shown,
    /// True if it comes through standard input.
    pub(crate) is_piped: bool,
    /// Size of its part of the input, in bytes.
    pub(crate) read: u64,
    pub(crate) out: Vec<u8>,
    pub(crate) tally: T,
}

/// Failures and notes at the end of the input.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) failures: Vec<Failure>,
    /// Documents that answers cite and that are not available: the answers themselves were read.
    pub(crate) missing: Vec<Failure>,
    /// Notes on how databases were opened, where that matters, with their names.
    pub(crate) notes: Vec<(Shown, Shown)>,
    /// Files in folders that do not look like JSON.
    pub(crate) passed_over: u64,
    /// Report pages among them.
    pub(crate) pages: u64,
    /// Links in folders, which are not followed.
    pub(crate) links: u64,
    /// Number of hidden files and folders that were left out.
    pub(crate) hidden: u64,
}

/// Works on every block of the inputs. Each thread begins with a `worker` and gives it each of its blocks by `work`;
/// `sink` gets them in order, on any thread but one at a time, until it says `false`. This thread is one of them.
pub(crate) fn run<W, T: Tally>(
    inputs: Expand,
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &Task, &Block, &mut Done<T>) + Sync,
    sink: impl FnMut(&mut Done<T>) -> bool + Send,
) -> Ended {
    let threads = threads.max(1);
    let line = Line::new(inputs, threads as u64 * AHEAD, sink);
    on_threads(threads, || line.work(&worker, &work));
    let reader = line.reader.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missing = reader.cache.failures();
    let links = reader.links + reader.inputs.links();
    let hidden = reader.inputs.hidden();
    let BlockReader { failures, notes, passed_over, pages, .. } = reader;
    Ended { failures, missing, notes, passed_over, pages, links, hidden }
}

/// Does the same on so many threads, of which this is one; where no more are to be had, those that there are do all of it.
pub(super) fn on_threads(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}

impl Task {
    /// Gives every cut of the block, with where it begins.
    pub(crate) fn each(&self, block: &Block, mut found: impl FnMut(CutPlace<'_>, &Cut)) {
        let (mut line, mut column, mut counted) = (block.line, block.column, 0);
        let (last, dense) = (block.cuts.len(), block.is_dense(self.layout));
        for (n, cut) in block.cuts.iter().enumerate() {
            if dense {
                let before = &block.bytes[..cut.range.start];
                let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                (line, column) = (block.line + n as u64, 1 + blanks);
            } else {
                let before = &block.bytes[counted..cut.range.start];
                line += line_ends(self.layout, before);
                column = advance_column(column, before);
                counted = cut.range.start;
            }
            let text = block.text(cut);
            let open = block.open && n + 1 == last && matches!(self.layout, Layout::Lines(_));
            let offset = block.start + cut.range.start as u64;
            let index = block.index + n as u64;
            found(CutPlace { task: self, text, line, column, index, offset, open }, cut);
        }
    }

    /// Gives every record of the block as a case with the line of its cut, with what the rules find if it is to be
    /// checked. What is cut off at the end is none; its line comes back.
    pub(crate) fn each_case<'t>(
        &self,
        block: &'t Block,
        tape: &mut Tape,
        (around, checks): (&Arc<dyn Context + 't>, bool),
        mut found: impl FnMut(&CaseView<'_>, u64),
    ) -> Option<u64> {
        let mut cut_off = None;
        self.each(block, |place, cut| {
            // Nobody writes on at the end of standard input: what is cut off there is a broken record.
            let mut is_cut_off = || guarded(|| is_cut_off(tape, place.text)) == Some(true);
            if place.open && !matches!(*self.input, Input::Standard) && is_cut_off() {
                cut_off = Some(place.line);
                return;
            }
            Text::of(block, cut).case(tape, around, checks, place.origin(), |case| found(case, place.line));
        });
        cut_off
    }
}

/// A cut of a block, and where it begins.
pub(crate) struct CutPlace<'a> {
    task: &'a Task,
    pub(crate) text: &'a [u8],
    pub(crate) line: u64,
    column: usize,
    index: u64,
    offset: u64,
    /// True if it is the last line, and no line end follows.
    pub(crate) open: bool,
}

impl CutPlace<'_> {
    /// Locates the record in its source.
    pub(crate) fn origin(&self) -> Location {
        Location {
            source: self.task.source,
            line: self.line,
            column: self.column,
            index: self.index,
            offset: self.offset,
            decoded: self.task.decoded,
            ..Location::default()
        }
    }
}

/// The assembly line: a reader that hands out blocks, and the finished ones, which go to the sink in order.
struct Line<T, S> {
    reader: Mutex<BlockReader>,
    finished: Mutex<FinishedBlocks<T>>,
    /// Signal that blocks were handed over, or that the line ended.
    moved: Condvar,
    ahead: u64,
    sink: Mutex<S>,
}

struct BlockReader {
    inputs: Expand,
    cache: Arc<DocumentCache>,
    current: Option<Current>,
    /// Number of inputs that were begun.
    begun: usize,
    /// The number of the next block.
    next: u64,
    failures: Vec<Failure>,
    notes: Vec<(Shown, Shown)>,
    passed_over: u64,
    pages: u64,
    links: u64,
}

#[derive(Clone)]
struct Current {
    source: usize,
    input: Arc<Input>,
    name: Shown,
    cursor: Cursor,
    decoded: bool,
    documents: Option<Documents>,
    /// Number of bytes of it that were not read yet. The lines that are made of a store may be many times as long.
    left: u64,
}

struct FinishedBlocks<T> {
    done: BTreeMap<u64, Done<T>>,
    /// The number of the block to be handed over next.
    next: u64,
    /// True while a thread hands blocks over.
    handing_over: bool,
    /// Number of blocks, once that is known.
    total: Option<u64>,
    stopped: bool,
    spare: Vec<(Vec<u8>, T)>,
}

/// Stops the line when the thread that holds it panics: the others would wait for its block for ever.
struct Alarm<'l, T: Tally, S>(&'l Line<T, S>);

impl<T: Tally, S> Drop for Alarm<'_, T, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut finished = lock(&self.0.finished);
            (finished.stopped, finished.total) = (true, Some(finished.next));
            self.0.moved.notify_all();
        }
    }
}

impl<T: Tally> FinishedBlocks<T> {
    /// Takes the block that is next; `None`: it is not finished.
    fn take_next(&mut self) -> Option<Done<T>> {
        let done = self.done.remove(&self.next)?;
        self.next += 1;
        Some(done)
    }

    fn give_back(&mut self, mut done: Done<T>) {
        if done.out.capacity() <= MAX_SPARE {
            done.out.clear();
            done.tally.clear();
            self.spare.push((done.out, done.tally));
        }
    }
}

impl<T: Tally, S: FnMut(&mut Done<T>) -> bool> Line<T, S> {
    fn new(inputs: Expand, ahead: u64, sink: S) -> Self {
        let reader = BlockReader {
            cache: inputs.cache().clone(),
            inputs,
            current: None,
            begun: 0,
            next: 0,
            failures: Vec::new(),
            notes: Vec::new(),
            passed_over: 0,
            pages: 0,
            links: 0,
        };
        let finished = FinishedBlocks {
            done: BTreeMap::new(),
            next: 0,
            handing_over: false,
            total: None,
            stopped: false,
            spare: Vec::new(),
        };
        let (reader, finished, sink) = (Mutex::new(reader), Mutex::new(finished), Mutex::new(sink));
        Self { reader, finished, moved: Condvar::new(), ahead, sink }
    }

    fn work<W>(&self, worker: &impl Fn() -> W, work: &impl Fn(&mut W, &Task, &Block, &mut Done<T>)) {
        let _alarm = Alarm(self);
        let (mut block, mut worker) = (Block::default(), worker());
        while let Some((task, (out, tally))) = self.next_task(&mut block) {
            strike("worker");
            let is_piped = matches!(*task.input, Input::Standard);
            let (source, name, read, number) = (task.source, task.name.clone(), task.read, task.number);
            let mut done = Done { source, name, is_piped, read, out, tally };
            work(&mut worker, &task, &block, &mut done);
            self.finish(number, done);
        }
    }

    /// Waits until there is room, then reads the next block. Gives memory for what becomes of it too.
    fn next_task(&self, block: &mut Block) -> Option<(Task, (Vec<u8>, T))> {
        let mut reader = lock(&self.reader);
        let mut finished = lock(&self.finished);
        while !finished.stopped && finished.total.is_none() && reader.next >= finished.next + self.ahead {
            finished = self.moved.wait(finished).unwrap_or_else(PoisonError::into_inner);
        }
        let is_over = finished.stopped || finished.total.is_some();
        let spare = finished.spare.pop().unwrap_or_default();
        drop(finished);
        let task = if is_over { None } else { reader.next(block) };
        if task.is_none() {
            self.end_at(reader.next);
        }
        task.map(|task| (task, spare))
    }

    /// Sets the number of blocks, which is lower where another thread panicked meanwhile: its block is not waited for.
    fn end_at(&self, blocks: u64) {
        lock(&self.finished).total.get_or_insert(blocks);
        self.moved.notify_all();
    }

    /// Puts a block among the finished ones. If it is next, it goes to the sink, and so does what waits behind it, unless
    /// another thread is handing over: then that one takes it along.
    fn finish(&self, number: u64, done: Done<T>) {
        let mut finished = lock(&self.finished);
        finished.done.insert(number, done);
        if finished.handing_over {
            return;
        }
        while let Some(mut done) = finished.take_next() {
            finished.handing_over = true;
            drop(finished);
            let wants_more = (lock(&self.sink))(&mut done);
            finished = lock(&self.finished);
            finished.handing_over = false;
            finished.stopped |= !wants_more;
            finished.give_back(done);
            self.moved.notify_all();
        }
    }
}

impl BlockReader {
    fn next(&mut self, block: &mut Block) -> Option<Task> {
        loop {
            if self.current.is_none() {
                self.begin_next()?;
            }
            let Some(current) = &mut self.current else { continue };
            if self.inputs.ends_before(current.cursor.line) {
                self.current = None;
                continue;
            }
            match current.cursor.next(block, u64::MAX, Want::Bytes) {
                Ok(true) => {
                    self.next += 1;
                    let read = current.left.min(block.bytes.len() as u64);
                    current.left -= read;
                    return Some(Task {
                        read,
                        number: self.next - 1,
                        source: current.source,
                        input: current.input.clone(),
                        name: current.name.clone(),
                        layout: current.cursor.layout(),
                        decoded: current.decoded,
                        documents: current.documents.clone(),
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
        let mut size = u64::MAX;
        let source = match begin(&input, &self.cache, self.inputs.columns()) {
            Ok(Begun::Source(source)) => Ok(source),
            Ok(Begun::Pipe(pipe)) => begin_pipe(pipe, &input.name(), &self.cache, self.inputs.columns()),
            Ok(Begun::Answers(store)) => {
                let (source, report) = begin_answers(&store, &self.cache);
                self.failures.extend(report.failures);
                self.links += report.links;
                self.notes.extend(report.note.map(|note| (input.name(), note)));
                size = report.size;
                match source {
                    Some(source) => Ok(source),
                    None => return Some(()),
                }
            }
            Ok(Begun::PassedOver(why)) => {
                self.passed_over += 1;
                match why {
                    PassedOver::Other => {}
                    PassedOver::Page => self.pages += 1,
                    PassedOver::Unread(why) => self.notes.push((input.name(), Shown::own(why))),
                }
                return Some(());
            }
            Err(failure) => Err(failure),
        };
        match source {
            Ok(source) => {
                self.failures.extend(source.failures);
                self.notes.extend(source.note.map(|note| (input.name(), note)));
                let Source { blob, layout, decoded, documents, .. } = source;
                let (source, name, input) = (self.begun, input.name(), Arc::new(input));
                let cursor = Cursor::new(blob, layout);
                self.current = Some(Current { source, input, name, cursor, decoded, documents, left: size });
                self.begun += 1;
            }
            Err(failure) => self.failures.push(failure),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_input_does_not_bring_back_the_block_of_a_thread_that_panicked() {
        let line = Line::new(Expand::default(), 1, |_: &mut Done<Vec<u8>>| true);
        let fault = std::thread::scope(|scope| {
            let faulty = scope.spawn(|| {
                let _alarm = Alarm(&line);
                panic!("the fault that this test is about");
            });
            faulty.join()
        });
        assert!(fault.is_err());
        // Another thread was reading when that happened, and finds the end behind the lost block.
        line.end_at(1);
        assert_eq!(lock(&line.finished).total, Some(0));
        assert!(line.next_task(&mut Block::default()).is_none());
    }

    #[test]
    fn blocks_are_handed_over_in_order_whoever_finishes_first() {
        let handed = Mutex::new(Vec::new());
        let line = Line::new(Expand::default(), 4, |done: &mut Done<Vec<u8>>| {
            lock(&handed).extend_from_slice(&done.out);
            true
        });
        for (number, so_far) in [(2, &[][..]), (0, &[0][..]), (1, &[0, 1, 2][..]), (3, &[0, 1, 2, 3][..])] {
            let (source, name, is_piped, read, tally) = (0, Shown::default(), false, 1, Vec::new());
            line.finish(number, Done { source, name, is_piped, read, out: vec![number as u8], tally });
            assert_eq!(*lock(&handed), so_far, "after {number}");
        }
    }
}
