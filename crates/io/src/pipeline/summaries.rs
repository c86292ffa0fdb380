//! The records of files as cards, in the order of the files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::failure::Failure;
use crate::pipeline::check::{Outcome, check};
use crate::pipeline::examine::Neighbours;
use crate::source::input::{Input, expand};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_core::card::Card;
use stepscope_core::case::CaseView;
use stepscope_core::finding::Finding;
use stepscope_core::review::event::Item;
use stepscope_core::review::fold::Reviews;

/// A shorter record is hardly one.
const TINY: usize = 40;
/// With more of those a file is not taken: a card is much larger than such a record.
const MAX_TINY: usize = 100_000;

/// Counts the records that are hardly any.
#[derive(Default)]
struct Tiny(AtomicUsize);

impl Tiny {
    /// Whether a card is kept of a record.
    fn takes(&self, case: &CaseView<'_>) -> bool {
        case.text().len() >= TINY || self.0.fetch_add(1, Ordering::Relaxed) < MAX_TINY
    }

    /// The cards, or why there are none.
    fn judge(self, cards: Vec<Placed>, mut outcome: Outcome, paths: &[PathBuf]) -> Cards {
        const WHY: &str = "more than 100,000 of its records are shorter than 40 bytes, which no run is";
        if self.0.into_inner() <= MAX_TINY {
            return Cards { cards, outcome };
        }
        let name = paths.first().map(|path| Shown::path(path)).unwrap_or_default();
        outcome.failures.push(Failure::own("cannot keep apart what is in", &name, WHY));
        Cards { cards: Vec::new(), outcome }
    }
}

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
    let tiny = Tiny::default();
    let card = |case: &CaseView<'_>, input: &Input| {
        tiny.takes(case).then(|| placed_if(case, input, &[], |item| reviews.names(item)))
    };
    let (cards, outcome) = crate::pipeline::check::read(expand(paths), threads, card);
    tiny.judge(cards, outcome, paths)
}

/// Reads and checks files (or folders): the cards say which rules spoke.
pub fn read_checked(paths: &[PathBuf], threads: usize) -> Cards {
    read_with(paths, threads, placed)
}

/// The same, and judges where each run is to be fixed.
pub fn read_judged(paths: &[PathBuf], threads: usize) -> Cards {
    read_with(paths, threads, |case, input| {
        let mut placed = placed(case, input);
        placed.card.fix = case.triage().map(|triage| triage.fix);
        placed
    })
}

/// The same, with the names of variables: whoever speaks of one is told where there is none.
pub fn read_named(paths: &[PathBuf], threads: usize) -> Cards {
    read_with(paths, threads, |case, input| {
        let mut placed = placed(case, input);
        placed.card.take_variables(case);
        placed
    })
}

fn read_with(paths: &[PathBuf], threads: usize, placed: impl Fn(&CaseView<'_>, &Input) -> Placed + Sync) -> Cards {
    let (cards, tiny) = (Mutex::new(Vec::new()), Tiny::default());
    let outcome = check(
        expand(paths),
        threads,
        &Neighbours::default(),
        |case, input, _| {
            if tiny.takes(case) {
                let placed = placed(case, input);
                cards.lock().unwrap_or_else(PoisonError::into_inner).push(placed);
            }
        },
        |_, _| Ok(()),
    );
    let mut cards = cards.into_inner().unwrap_or_else(PoisonError::into_inner);
    cards.sort_unstable_by_key(|placed| (placed.source, placed.offset));
    tiny.judge(cards, outcome, paths)
}

/// The card of a record that was only read.
pub fn card(case: &CaseView<'_>, input: &Input) -> Card {
    placed_if(case, input, &[], |_| true).card
}

/// The card of a checked record.
pub fn placed(case: &CaseView<'_>, input: &Input) -> Placed {
    placed_if(case, input, case.findings(), |_| true)
}

fn placed_if(case: &CaseView<'_>, input: &Input, findings: &[Finding], is_asked: impl FnOnce(&Item) -> bool) -> Placed {
    let (origin, dataset) = (case.origin(), input.path().and_then(dataset));
    Placed {
        card: Card::of_asked(case, findings, dataset, origin.index, is_asked),
        source: origin.source,
        line: origin.line,
        offset: origin.offset,
    }
}

/// The name of a record file in journals: without its folder, so that it may move.
pub fn dataset(path: &Path) -> Option<Untrusted<'static>> {
    let name = path.file_name()?;
    Some(stepscope_core::card::id_of(&Untrusted::new(name.as_encoded_bytes())))
}
