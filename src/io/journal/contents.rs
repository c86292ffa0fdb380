//! What stands in a journal, and what in it could not be read.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::domain::review::fold::Reviews;
use crate::domain::review::line::{Fault, Lines, MAX_LINE, Read};
use crate::domain::text::Shown;
use crate::io::failure::Failure;
use crate::io::open::{Blob, Opened, open, spool};
use crate::shown;

/// A larger journal is not read into memory.
const MAX_JOURNAL: u64 = 1 << 30;
/// So much is read at a time.
const BLOCK: usize = 1 << 20;
/// What has no line end for so long is no line; it is read in pieces.
const MAX_PIECE: usize = 4 * MAX_LINE;
/// So many lines are named for each fault.
const NAMED: usize = 5;

/// Journals that were read.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// What follows from their events.
    pub reviews: Reviews,
    /// Journals that are not there yet.
    pub absent: Vec<Shown>,
    /// What is unusual in the others, in sentences.
    pub sentences: Vec<Shown>,
}

/// What is to be said of a journal besides its events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// There is no such file yet.
    pub absent: bool,
    /// Events without a checksum, taken as they are.
    pub unchecked: u64,
    faults: BTreeMap<Fault, (u64, Vec<u64>)>,
}

impl Report {
    fn fault(&mut self, fault: Fault, line: u64) {
        let (count, lines) = self.faults.entry(fault).or_default();
        if lines.last() != Some(&line) {
            *count += 1;
            if lines.len() < NAMED {
                lines.push(line);
            }
        }
    }

    /// How many lines could not be read as they should.
    pub fn faults(&self) -> u64 {
        self.faults.values().map(|(count, _)| count).sum()
    }

    /// A sentence for each kind of fault, and for what is unusual; nothing is deleted because of it.
    pub fn sentences(&self, name: &Shown) -> Vec<Shown> {
        let mut sentences = Vec::new();
        for (fault, (count, lines)) in &self.faults {
            let named: Vec<String> = lines.iter().map(u64::to_string).collect();
            let more = if *count > lines.len() as u64 { ", …" } else { "" };
            let word = if *count == 1 { "line" } else { "lines" };
            let what = fault.phrase();
            sentences.push(shown!("{name}: {word} {}{more}: {what}; kept, not counted", named.join(", ")));
        }
        if self.unchecked > 0 {
            sentences.push(shown!("{name}: {} events have no checksum and are taken as they are", self.unchecked));
        }
        sentences
    }
}

/// Reads journals one behind the other.
pub fn read_all(paths: &[PathBuf]) -> Result<Contents, Failure> {
    let mut contents = Contents::default();
    for path in paths {
        let report = read_lines(path, |read, _| {
            contents.reviews.push(read.event);
        })?;
        let name = Shown::path(path);
        contents.sentences.extend(report.sentences(&name));
        contents.absent.extend(report.absent.then_some(name));
    }
    Ok(contents)
}

/// Reads the events of a journal with their lines, in their order. That there is no journal yet is no failure, as long
/// as its folder is there.
pub fn read_lines(path: &Path, mut found: impl FnMut(Read, &[u8])) -> Result<Report, Failure> {
    let mut report = Report::default();
    let folder = crate::io::append::folder(path);
    if std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) && folder.is_dir() {
        report.absent = true;
        return Ok(report);
    }
    let blob = match open(path)? {
        Opened::File(blob) => blob,
        Opened::Pipe(pipe) => {
            let blob = Blob::in_memory(Shown::path(path))?;
            spool(pipe, &blob, |_| true)?;
            blob
        }
    };
    if blob.len()? > MAX_JOURNAL {
        return Err(Failure::own("cannot read", blob.name(), "it is larger than 1 GB"));
    }
    let mut lines = Lines::default();
    each_line(&blob, |line, number, ended| {
        let fault = lines.read(line, |read, text| {
            report.unchecked += u64::from(!read.checked);
            found(read, text);
        });
        if let Some(fault) = fault {
            report.fault(if ended || fault != Fault::Damaged { fault } else { Fault::Torn }, number);
        }
    })?;
    Ok(report)
}

/// Every line with its number from 1, and whether it has an end.
fn each_line(blob: &Blob, mut each: impl FnMut(&[u8], u64, bool)) -> Result<(), Failure> {
    let (mut at, mut number) = (0, 1);
    let (mut block, mut rest) = (Vec::new(), Vec::new());
    loop {
        blob.read(at, BLOCK, &mut block)?;
        if block.is_empty() {
            break;
        }
        at += block.len() as u64;
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', &block) {
            rest.extend_from_slice(block.get(from..end).unwrap_or_default());
            each(&rest, number, true);
            rest.clear();
            (from, number) = (end + 1, number + 1);
        }
        rest.extend_from_slice(block.get(from..).unwrap_or_default());
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
