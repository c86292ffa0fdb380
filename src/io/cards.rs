//! The records of files as cards, in the order of the files.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::check::{Checked, Outcome, check};
use super::input::expand;
use crate::domain::card::Card;
use crate::domain::review::event::Item;
use crate::domain::review::fold::Reviews;
use crate::domain::text::Untrusted;
use crate::domain::triage::Triage;

/// A card and where its record stands.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What is kept of the record.
    pub card: Card,
    /// The position of its file among the inputs, from 0.
    pub source: usize,
    /// The line in which it begins, from 1.
    pub line: u64,
    /// Its first byte in the source.
    pub offset: u64,
}

/// All records of files.
#[derive(Debug, Default)]
pub struct Cards {
    /// In the order of the files.
    pub cards: Vec<Placed>,
    /// How the reading ended: what could not be read, and ids that stand twice.
    pub outcome: Outcome,
}

/// Reads files (or folders); no rule looks at the records, and their content is worked out where reviews speak of them.
pub fn read(paths: &[PathBuf], reviews: &Reviews, threads: usize) -> Cards {
    let card = |checked: &Checked<'_>| Some(placed_if(checked, |item| reviews.names(item)));
    let (cards, outcome) = super::check::read(expand(paths), threads, card);
    Cards { cards, outcome }
}

/// Reads and checks files (or folders): the cards say which rules spoke.
pub fn read_checked(paths: &[PathBuf], threads: usize) -> Cards {
    read_with(paths, threads, placed)
}

/// The same, and judges where each run is to be fixed.
pub fn read_judged(paths: &[PathBuf], threads: usize) -> Cards {
    read_with(paths, threads, |checked| {
        let mut placed = placed(checked);
        placed.card.fix = Triage::judge(checked.subject, checked.findings, None).map(|triage| triage.fix);
        placed
    })
}

/// The same, with the names of variables: whoever speaks of one is told where there is none.
pub fn read_named(paths: &[PathBuf], threads: usize) -> Cards {
    read_with(paths, threads, |checked| {
        let mut placed = placed(checked);
        if let Some(record) = &checked.subject.record {
            placed.card.take_variables(record);
        }
        placed
    })
}

fn read_with(paths: &[PathBuf], threads: usize, placed: impl Fn(&Checked<'_>) -> Placed + Sync) -> Cards {
    let cards = Mutex::new(Vec::new());
    let outcome = check(
        expand(paths),
        threads,
        None,
        |checked, _| {
            let placed = placed(checked);
            cards.lock().unwrap_or_else(PoisonError::into_inner).push(placed);
        },
        |_, _| Ok(()),
    );
    let mut cards = cards.into_inner().unwrap_or_else(PoisonError::into_inner);
    cards.sort_by_key(|placed| (placed.source, placed.offset));
    Cards { cards, outcome }
}

/// The card of a checked record.
pub fn placed(checked: &Checked<'_>) -> Placed {
    placed_if(checked, |_| true)
}

fn placed_if(checked: &Checked<'_>, is_asked: impl FnOnce(&Item) -> bool) -> Placed {
    let origin = &checked.origin;
    let dataset = origin.input.path().and_then(dataset);
    Placed {
        card: Card::of_asked(checked.subject, checked.findings, dataset, origin.index, is_asked),
        source: origin.source,
        line: origin.line,
        offset: origin.offset,
    }
}

/// The name of a record file in journals: without its folder, so that it may move.
pub fn dataset(path: &Path) -> Option<Untrusted<'static>> {
    let name = path.file_name()?;
    Some(crate::domain::card::id_of(&Untrusted::new(name.as_encoded_bytes())))
}
