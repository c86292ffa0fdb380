//! The values of a file, and the files next to it that may hold the rest of its records.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::failure::Failure;
use crate::source::beneath::Place;
use crate::source::block::{BLOCK, Block, Cursor, Want};
use crate::source::cut::{Layout, Skips, State, cut};
use crate::source::open::Opened;
use crate::source::open::{Blob, open, open_beneath};
use crate::system::FileType;
use stepscope_base::json::{MAX_TEXT, Tape, Value};
use stepscope_base::text::Shown;

/// Number of files next to one that are looked at.
const MAX_FILES: usize = 256;
/// A larger file next to one is left alone.
const MAX_SIZE: u64 = 1 << 30;

/// A file, value by value.
#[derive(Clone)]
pub(super) struct Values {
    pub blob: Arc<Blob>,
    layout: Layout,
}

/// A file next to another one.
pub(super) struct Neighbour {
    pub values: Values,
    /// It is read too, and shows its own records.
    pub is_read: bool,
    head: Vec<u8>,
}

/// Takes a value, `None` where it is broken, with its text.
type PartTaker<'a> = dyn FnMut(Option<Value<'_>>, &[u8]) -> Result<(), Failure> + 'a;

impl Values {
    pub(super) const fn new(blob: Arc<Blob>, layout: Layout) -> Self {
        Self { blob, layout }
    }

    pub(super) fn name(&self) -> &Shown {
        self.blob.name()
    }

    /// Goes through the values, as records are read.
    pub(super) fn each(&self, act: &mut PartTaker<'_>) -> Result<(), Failure> {
        self.each_of(&[], act)
    }

    /// Goes through the values whose text has one of some marks; of no marks, through all.
    pub(super) fn each_of(&self, marks: &[&str], act: &mut PartTaker<'_>) -> Result<(), Failure> {
        const LONG: &str = "one of its values is longer than 64 MB; write it in smaller batches";
        let marks: Vec<Finder<'_>> = marks.iter().map(|mark| Finder::new(*mark)).collect();
        let (mut cursor, mut block) = (Cursor::new(self.blob.clone(), self.layout), Block::default());
        let mut tape = Tape::default();
        while cursor.next(&mut block, u64::MAX, Want::Bytes)? {
            if block.long.is_some_and(|len| len > MAX_TEXT as u64) {
                return Err(Failure::own("cannot read", self.blob.name(), LONG));
            }
            for cut in &block.cuts {
                let text = block.text(cut);
                if marks.is_empty() || marks.iter().any(|mark| mark.find(text).is_some()) {
                    act(tape.parse(text), text)?;
                }
            }
        }
        Ok(())
    }
}

impl Neighbour {
    /// Opens a file; `None`: it is nothing that could hold records.
    fn of(blob: Blob, is_read: bool) -> Option<Self> {
        let mut head = Vec::new();
        blob.read(0, BLOCK, &mut head).ok()?;
        let layout = Layout::of(&head, head.len() < BLOCK)?;
        let is_small = blob.len().is_ok_and(|len| len <= MAX_SIZE);
        is_small.then(|| Self { values: Values::new(Arc::new(blob), layout), is_read, head })
    }

    /// Tells whether something holds for its first value.
    pub(super) fn begins(&self, holds: impl Fn(Value<'_>) -> bool) -> bool {
        let (mut cuts, mut tape) = (Vec::new(), Tape::default());
        let is_all = self.head.len() < BLOCK;
        cut(self.values.layout, &mut State::default(), &self.head, is_all, &mut cuts, &mut Skips::default());
        let first = cuts.first().and_then(|cut| self.head.get(cut.range.clone()));
        first.and_then(|text| tape.parse(text)).is_some_and(holds)
    }
}

/// Opens the files of JSON next to one, and those that a person named along with it. Without a link: who wrote a file is
/// not who opens it.
pub(super) fn of(blob: &Blob, named: &[PathBuf]) -> Vec<Neighbour> {
    let Some(place) = blob.place() else { return Vec::new() };
    let is_found = matches!(place, Place::UnderRoot(_));
    let (mut found, mut ids) = (Vec::new(), vec![blob.id()]);
    let mut add = |blob: Blob, is_read: bool| {
        if !ids.contains(&blob.id()) {
            ids.push(blob.id());
            found.extend(Neighbour::of(blob, is_read));
        }
    };
    for path in named.iter().filter(|path| path.as_path() != place.path() && claims_json(path) && path.is_file()) {
        if let Ok(Opened::File(blob)) = open(path) {
            add(blob, true);
        }
    }
    let folder = place.beneath().ok().and_then(|at| at.parent());
    let mut names = Vec::new();
    if let Some(folder) = &folder {
        let listed = folder.list(|entry| {
            if entry.kind == FileType::RegularFile && claims_json(Path::new(&entry.name)) {
                names.push(entry.name);
            }
            names.len() < MAX_FILES
        });
        if listed.is_err() {
            names.clear();
        }
        names.sort_unstable();
        for name in names {
            if let Ok(blob) = open_beneath(&folder.join(&name)) {
                add(blob, is_found);
            }
        }
    }
    found
}

fn claims_json(path: &Path) -> bool {
    let extension = path.extension().and_then(std::ffi::OsStr::to_str);
    extension.is_some_and(|found| ["json", "jsonl", "ndjson"].iter().any(|known| found.eq_ignore_ascii_case(known)))
}
