//! Contents of a review log, and what in it could not be read.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::ErrorKind;

use crate::failure::Failure;
use crate::source::beneath::{Place, folder};
use crate::source::open::{Blob, Opened, open_place, spool};
use crate::system::{FileId, stat_at, stat_of_name};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_review::event_list::EventList;
use stepscope_review::fold::Reviews;
use stepscope_review::log_line::{LineFault, LineReader, MAX_LINE, ReadEvent};

/// Size of the largest review log that is read into memory.
const MAX_JOURNAL: u64 = 1 << 30;
/// Number of bytes read at a time.
const BLOCK: usize = 1 << 20;
/// Text without a line end for so long is no line; it is read in pieces.
const MAX_PIECE: usize = 4 * MAX_LINE;
/// Number of lines that are named for each fault.
const NAMED: usize = 5;

/// Content of the review logs that were read.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// State that follows from their events.
    pub reviews: Reviews,
    /// Review logs that are not there yet.
    pub absent: Vec<Shown>,
    /// Oddities, in sentences.
    pub sentences: Vec<Shown>,
}

/// Report on a review log besides its events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// True if there is no such file yet.
    pub absent: bool,
    /// Events without a checksum, taken as they are.
    pub unchecked: u64,
    /// The lines that could not be read as they should, by what is wrong and whether events were found in them: how many,
    /// and the first of them.
    faults: BTreeMap<(LineFault, bool), (u64, Vec<u64>)>,
}

impl Report {
    fn fault(&mut self, fault: LineFault, holds_events: bool, line: u64) {
        let (count, lines) = self.faults.entry((fault, holds_events)).or_default();
        if lines.last() != Some(&line) {
            *count += 1;
            if lines.len() < NAMED {
                lines.push(line);
            }
        }
    }

    /// Counts the lines that could not be read as they should.
    pub fn faults(&self) -> u64 {
        self.faults.values().map(|(count, _)| count).sum()
    }

    /// Makes a sentence for each kind of fault, and for what is unusual; nothing is deleted because of it.
    pub fn sentences(&self, name: &Shown) -> Vec<Shown> {
        let mut sentences = Vec::new();
        for ((fault, holds_events), (count, lines)) in &self.faults {
            let named: Vec<String> = lines.iter().map(u64::to_string).collect();
            let more = if *count > lines.len() as u64 { ", …" } else { "" };
            let word = if *count == 1 { "line" } else { "lines" };
            let what = fault.phrase();
            let then = if *holds_events { "kept, complete events in it are counted" } else { "kept, not counted" };
            sentences.push(shown!("{name}: {word} {}{more}: {what}; {then}", named.join(", ")));
        }
        match self.unchecked {
            0 => {}
            1 => sentences.push(shown!("{name}: 1 event has no checksum and is used unchecked")),
            several => sentences.push(shown!("{name}: {several} events have no checksum and are used unchecked")),
        }
        sentences
    }
}

/// Reads review logs one after the other.
pub fn read_all(journals: &[Place]) -> Result<Contents, Failure> {
    let mut contents = Contents::default();
    for journal in journals {
        let report = read_lines(journal, |read, _| {
            contents.reviews.push(read.event);
        })?;
        let name = Shown::path(journal.path());
        contents.sentences.extend(report.sentences(&name));
        contents.absent.extend(report.absent.then_some(name));
    }
    Ok(contents)
}

/// Reads the events of a review log with their lines, in their order. A review log that is not there yet is no failure,
/// as long as its folder is there.
pub fn read_lines(place: impl Into<Place>, mut found: impl FnMut(ReadEvent, &[u8])) -> Result<Report, Failure> {
    read_all_lines(place, |line| {
        if let LogLine::Event(event, text) = line {
            found(event, text);
        }
    })
}

/// A line of a review log.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and none is kept")]
pub enum LogLine<'a> {
    /// An event, with its line.
    Event(ReadEvent, &'a [u8]),
    /// A line that is no event, as it is, and why; events that were found in it came before.
    Faulty(&'a [u8], LineFault),
}

/// Reads all lines of a review log as [`read_lines`] does, those that are no events too.
pub fn read_all_lines(place: impl Into<Place>, mut found: impl FnMut(LogLine<'_>)) -> Result<Report, Failure> {
    let place = place.into();
    let path = place.path();
    let mut report = Report::default();
    let folder = folder(path);
    if std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) && folder.is_dir() {
        report.absent = true;
        return Ok(report);
    }
    let blob = match open_place(&place)? {
        Opened::File(blob) => blob,
        Opened::Pipe(pipe) => {
            let blob = Blob::in_memory(Shown::path(path))?;
            spool(pipe, &blob, |_| true)?;
            blob
        }
    };
    take_lines(&blob, &mut Spot::default(), &mut report, &mut found)?;
    Ok(report)
}

/// A place in a review log between two lines: its byte, and the number of the line that begins there.
#[derive(Clone, Copy, Debug)]
struct Spot {
    at: u64,
    number: u64,
}

impl Default for Spot {
    fn default() -> Self {
        Self { at: 0, number: 1 }
    }
}

/// Reads the events from a place on, and moves it behind the last line that has an end.
fn take_lines(
    blob: &Blob,
    place: &mut Spot,
    report: &mut Report,
    found: &mut impl FnMut(LogLine<'_>),
) -> Result<(), Failure> {
    if blob.len()? > MAX_JOURNAL {
        return Err(Failure::own("cannot read", blob.name(), "it is larger than 1 GB"));
    }
    let mut lines = LineReader::default();
    each_line(blob, place, |line, number, ended| {
        let mut holds_events = false;
        let fault = lines.read(line, |read, text| {
            report.unchecked += u64::from(!read.checked);
            holds_events = true;
            found(LogLine::Event(read, text));
        });
        if let Some(fault) = fault {
            found(LogLine::Faulty(line, fault));
            let fault = match fault {
                LineFault::Damaged if !ended => LineFault::Torn,
                // It holds events, in a list or another value.
                LineFault::Foreign if holds_events => LineFault::Damaged,
                fault => fault,
            };
            report.fault(fault, holds_events, number);
        }
    })
}

/// Reads the state of a review log; of a link only where links are followed.
fn met(place: &Place) -> std::io::Result<(FileId, Metadata)> {
    match place {
        Place::Named(path) => stat_at(path),
        place => stat_of_name(place.path()),
    }
}

/// Reader that reads a review log again and again: each time what others have appended meanwhile.
#[derive(Debug)]
pub struct Follow {
    journal: Place,
    place: Spot,
    /// Identity of the file: a path may lead to another one.
    file: Option<FileId>,
    /// Length of the file when it was last read: an unfinished line is told once.
    len: Option<u64>,
}

/// New events.
#[derive(Debug, Default)]
pub struct News {
    /// The events, in their order; one of an unfinished line may come again.
    pub events: EventList,
    /// Oddities, in sentences.
    pub sentences: Vec<Shown>,
    /// The file is another one, or shorter than it was: all its events are given, from the first on.
    pub anew: bool,
}

impl Follow {
    /// Follows the review log of this path, from its beginning.
    pub fn new(journal: impl Into<Place>) -> Self {
        Self { journal: journal.into(), place: Spot::default(), file: None, len: None }
    }

    /// Starts over: everything counts as new.
    pub fn again(&mut self) {
        (self.place, self.len) = (Spot::default(), None);
    }

    /// Reads everything that was not there the last time.
    pub fn news(&mut self) -> Result<News, Failure> {
        let mut news = News::default();
        let (id, meta) = match met(&self.journal) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(news),
            Err(error) => return Err(Failure::system("cannot read", self.journal.path(), &error)),
            Ok(met) => met,
        };
        let file = Some(id);
        if self.file != file || meta.len() < self.place.at {
            news.anew = self.file.is_some();
            self.again();
            self.file = file;
        }
        if meta.is_file() && (Some(meta.len()) == self.len || meta.len() == self.place.at) {
            return Ok(news);
        }
        let Opened::File(blob) = open_place(&self.journal)? else {
            return Err(Failure::own("cannot read", &Shown::path(self.journal.path()), "it is not a regular file"));
        };
        let mut report = Report::default();
        take_lines(&blob, &mut self.place, &mut report, &mut |line| {
            if let LogLine::Event(read, _) = line {
                news.events.extend([read.event]);
            }
        })?;
        self.len = Some(meta.len());
        news.sentences = report.sentences(&Shown::path(self.journal.path()));
        Ok(news)
    }
}

/// Passes on every line from a place on with its number from 1, and whether it has an end. The place moves with the
/// ends.
fn each_line(blob: &Blob, place: &mut Spot, mut each: impl FnMut(&[u8], u64, bool)) -> Result<(), Failure> {
    let Spot { mut at, mut number } = *place;
    let (mut block, mut rest) = (Vec::new(), Vec::new());
    loop {
        blob.read(at, BLOCK, &mut block)?;
        if block.is_empty() {
            break;
        }
        let start = at;
        at += block.len() as u64;
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', &block) {
            rest.extend_from_slice(&block[from..end]);
            each(&rest, number, true);
            rest.clear();
            (from, number) = (end + 1, number + 1);
            *place = Spot { at: start + from as u64, number };
        }
        rest.extend_from_slice(&block[from..]);
        if rest.len() > MAX_PIECE {
            each(&rest, number, true);
            rest.clear();
        }
    }
    if !rest.is_empty() {
        each(&rest, number, false);
    }
    Ok(())
}
