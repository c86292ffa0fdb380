//! Names, counts and places of the records, and news of their files.

use crate::app::fork_tree::ForkTree;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{OPEN_RECORD, Reason};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::store::{SourceRows, SourceState, Store};
use stepscope_io::source::cut::Skips;

/// Names the records as a whole: by their source, or by their number.
pub(crate) fn title(store: &Store, samples: bool) -> Shown {
    let all = store.sources();
    let recorded: Vec<_> = all.iter().filter(|source| !source.is_forks()).collect();
    let sources = if recorded.is_empty() { all.iter().collect() } else { recorded };
    match sources.as_slice() {
        _ if samples => Shown::own("sample runs"),
        [] => Shown::own("no files"),
        [source] => source.name().last_part(),
        sources => shown!("{} files", sources.len()),
    }
}

/// Tells whether there are no records, and none are being read.
pub(crate) fn has_none(store: &Store) -> bool {
    store.is_empty() && store.is_settled() && percent(store).is_none()
}

/// Counts the forks among the records.
pub fn fork_count(store: &Store) -> usize {
    store.sources().iter().filter(|source| source.is_forks()).map(SourceRows::len).sum()
}

/// Tells which record it is among those that are listed; a fork has the place of its root, if that is listed.
pub(crate) fn place_of(store: &Store, table: &Table, forks: &ForkTree, record: usize) -> String {
    let row = own_row_of(store, table, forks, record);
    let of = table.own_above(table.len(store.len()));
    row.map_or("filtered out".to_owned(), |row| format!("{}/{of}", table.own_above(row) + 1))
}

/// Finds the row among those of records that a record belongs to: a fork to that of its root, or to its own where
/// the root is not listed; `None`: it is not listed.
pub(crate) fn own_row_of(store: &Store, table: &Table, forks: &ForkTree, record: usize) -> Option<usize> {
    table.listed_row(forks.root_of(store, record)).or_else(|| table.listed_row(record))
}

/// Lists the files of the open record; of a fork, the one that it was written to.
pub(crate) fn files_of_open(screens: &Screens, store: &Store) -> Vec<Shown> {
    let Some(opened) = screens.record().map(|view| &view.opened) else { return Vec::new() };
    let source = store.source_of(opened.index).and_then(|source| store.sources().get(source));
    source.map(|source| source.input.files_of(opened.root())).unwrap_or_default()
}

/// The name of the source of a record; a fork is one of its parent's.
pub(crate) fn name_of(store: &Store, forks: &ForkTree, record: usize) -> Shown {
    let source = store.source_of(forks.root_of(store, record)).and_then(|source| store.sources().get(source));
    source.map(|source| source.name().last_part()).unwrap_or_default()
}

/// The name of the source of a record without its endings, or another word where there is none.
pub(crate) fn stem_of(store: &Store, forks: &ForkTree, record: Option<usize>, otherwise: &str) -> String {
    let name = record.map(|record| name_of(store, forks, record)).unwrap_or_default();
    let stem = name.as_str().split('.').next().filter(|stem| !stem.is_empty());
    stem.unwrap_or(otherwise).to_owned()
}

/// Tells in a few words that a source was replaced, cut or deleted while it was open, can no longer be read, or is a
/// snapshot.
pub fn disk_news(store: &Store) -> Option<Shown> {
    store.sources().iter().find_map(|source| match source.standing {
        SourceState::Changed if source.note.is_none() => Some(Shown::own("↻ changed on disk")),
        SourceState::Gone => Some(Shown::own("↻ deleted on disk")),
        SourceState::Failed if !source.is_empty() => Some(Shown::own("↻ unreadable on disk")),
        _ => source.note.clone(),
    })
}

/// Describes what was skipped while reading, where that is more than blank lines: in files, and files in folders.
pub(crate) fn skipped(store: &Store) -> Option<Shown> {
    let skips = store.sources().iter().fold(Skips::default(), |sum, source| sum.plus(source.skips()));
    let skipped = (skips.total() > skips.blank).then(|| skips.phrase(store.len() as u64));
    let others = match store.passed_over {
        0 => None,
        1 => Some(Shown::own("1 file skipped")),
        n => Some(shown!("{n} files skipped")),
    };
    let links = match store.links {
        0 => None,
        1 => Some(Shown::own("1 link not followed")),
        n => Some(shown!("{n} links not followed")),
    };
    [skipped, others, links].into_iter().flatten().reduce(|all, more| shown!("{all}, {more}"))
}

/// Computes the progress of reading and checking in percent; `None`: both are done.
pub(crate) fn percent(store: &Store) -> Option<usize> {
    let totals = store.totals();
    let (found, size) = store.progress();
    let behind = totals.checked < store.len() || found < size;
    behind.then(|| {
        let found = if size == 0 { 1.0 } else { found as f64 / size as f64 };
        let checked = if store.is_empty() { 0.0 } else { totals.checked as f64 / store.len() as f64 };
        ((found * checked * 100.0) as usize).min(99)
    })
}

/// Returns the record that keys are about: under the cursor of the table, or open.
pub(crate) fn current(screens: &Screens, store: &Store, table: &Table) -> Option<usize> {
    match (screens.of_record(), screens.record()) {
        (ScreenKind::Table, _) | (_, None) => table.chosen(store.len()),
        (_, Some(view)) => Some(view.opened.index).filter(|_| view.lost.is_none()),
    }
}

/// Returns the record that keys are about with its parent, if it is a fork and its parent is here.
pub(crate) fn fork_in_front(
    screens: &Screens,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
) -> Option<(usize, usize)> {
    let record = current(screens, store, table)?;
    Some((record, forks.parent_of(store, record)?))
}

/// Finds the record `by` rows further than the open one, with its row.
pub(crate) fn record_from(
    screens: &Screens,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    by: isize,
) -> Result<(usize, usize), Reason> {
    let open = screens.record().ok_or(OPEN_RECORD)?.opened.index;
    let here = own_row_of(store, table, forks, open).unwrap_or_else(|| table.row_of(forks.root_of(store, open)));
    let row = table.row_from(here, by, store.len());
    let record = table.record(row).filter(|record| *record != open);
    let record = record.ok_or(if by > 0 { "this is the last record" } else { "this is the first record" })?;
    Ok((row, record))
}
