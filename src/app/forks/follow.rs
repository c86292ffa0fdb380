//! Saves forks, follows their files, and walks from one to the next.

use std::collections::BTreeSet;

use crate::app::fork_tree::ForkTree;
use crate::app::forks::Forks;
use crate::app::log::Log;
use crate::app::msg::{Effect, Effects};
use crate::app::review;
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::screens::run::state::LostSearch;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Keymap, Reason};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::log::forks::FORKS;
use stepscope_io::log::{Appended, LineId};
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::store::Store;
use stepscope_io::pipeline::store::{LoadEvent, SourceRows};
use stepscope_io::source::beneath::Place;
use stepscope_io::source::input::Input;
use stepscope_judge::row::RowFacts;

/// Reason that there is no fork to go to.
pub(crate) const NO_FORKS: Reason = "this record has no forks";

impl App {
    /// Keeps a fork of the open record, one line without its end: appended next to the record's file, or where told,
    /// and called saved when it is on the disk.
    pub fn keep_fork(&mut self, line: Vec<u8>) -> Option<(LineId, Effect)> {
        let Some(path) = forks_path(&self.forks, &self.screens, &self.store) else {
            self.status.fail(Shown::own(
                "not saved: these records have no file to save forks next to; start with --forks FILE",
            ));
            return None;
        };
        if let Some(view) = self.screens.placed()
            && let Some(address) = self.store.address(view.opened.index)
        {
            self.forks.tree.know(view.opened.hash(), address);
        }
        Some(self.log.fork(path, line))
    }
}

/// Finds the file that keeps the forks of the open record.
pub(crate) fn forks_path(forks: &Forks, screens: &Screens, store: &Store) -> Option<Place> {
    if let Some(path) = &forks.path {
        return Some(Place::Named(path.clone()));
    }
    let view = screens.record()?;
    let source = view.lost.as_ref().map(|lost| lost.source).or_else(|| store.source_of(view.opened.index))?;
    let input = &store.sources().get(source)?.input;
    match input {
        // A fork of a fork lies with it.
        Input::Forks(place) => Some(place.clone()),
        input => input.place().map(|place| place.beside(FORKS.suffix)),
    }
}

/// Reports what became of the line of a fork, or of a created run.
pub(crate) fn fork_wrote(
    forks: &mut Forks,
    keymap: &Keymap,
    status: &mut StatusLine,
    input: Input,
    result: Result<Appended, Failure>,
) -> Effects {
    match result {
        Ok(met) => {
            let name = input.name().last_part();
            let also = match met {
                Appended { anew: true, .. } => "; the file was moved, a new one was started",
                Appended { sealed: true, .. } => "; its last line was incomplete and is now closed",
                _ => "",
            };
            status.say(shown!("saved in {name}{also}"));
            vec![Effect::Follow(input)]
        }
        Err(failure) => {
            forks.warn_again();
            let Failure { source, path, .. } = failure;
            let key = keymap.key_of(Action::SaveAgain);
            status.fail(shown!("NOT SAVED, {source} ({key} retries): {path}"))
        }
    }
}

/// Finds another of the open record and its forks, in a circle, with its row.
pub(crate) fn fork_from(
    screens: &Screens,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    by: isize,
) -> Result<(usize, usize), Reason> {
    let here = screens.placed().and_then(|view| store.address(view.opened.index)).ok_or(NO_FORKS)?;
    let all = forks.of(here);
    let at = all.iter().position(|address| *address == here).unwrap_or(0) as isize;
    let next = at.saturating_add(by).rem_euclid(all.len().max(1) as isize) as usize;
    let record = all.get(next).and_then(|(source, byte)| store.position(*source, *byte)).ok_or(NO_FORKS)?;
    Ok((table.row_of(record), record))
}

/// Finds the source of forks that an event is about; `true`: it is read from the start.
pub(crate) fn forks_source(store: &Store, event: &LoadEvent) -> Option<(usize, bool)> {
    let (source, anew) = match event {
        LoadEvent::Opened { source, .. } => (*source, true),
        LoadEvent::Found { source, .. } => (*source, false),
        _ => return None,
    };
    let is_forks = store.sources().get(source).is_some_and(SourceRows::is_forks);
    is_forks.then_some((source, anew))
}

/// Asks about the forks that were found before the loop ran.
pub(crate) fn first_forks(store: &Store, forks: &mut Forks, table: &Table, screens: &mut Screens) -> Effects {
    let sources = store.sources().iter().enumerate();
    let found: Vec<usize> = sources.filter(|(_, rows)| rows.is_forks()).map(|(source, _)| source).collect();
    let found = found.into_iter().map(|source| Some((source, false)));
    found.flat_map(|found| follow_fork_tree(store, forks, table, screens, found)).collect()
}

/// Asks what is not known yet of the forks that were found, and where their parents are.
pub(crate) fn follow_fork_tree(
    store: &Store,
    forks: &mut Forks,
    table: &Table,
    screens: &mut Screens,
    found: Option<(usize, bool)>,
) -> Effects {
    let Some((source, anew)) = found else {
        return if store.is_settled() {
            look_by_hash(store, forks, table, screens).into_iter().collect()
        } else {
            Vec::new()
        };
    };
    if anew {
        forks.tree.forget(source);
    }
    let fresh = forks.tree.ask(store, source).into_iter();
    let readings: Vec<_> = fresh.filter_map(|(address, at)| Some((address, store.reading(at)?))).collect();
    if readings.is_empty() { Vec::new() } else { vec![Effect::ForkOrigins(readings)] }
}

/// Looks among the records for those that forks come from, each of them once, and for the open one where its file was
/// replaced.
pub(crate) fn look_by_hash(store: &Store, forks: &mut Forks, table: &Table, screens: &mut Screens) -> Option<Effect> {
    let fork_tree = &mut forks.tree;
    if !store.is_settled() {
        return None;
    }
    let lost = screens.record_mut().and_then(|view| view.lost.as_mut()).filter(|lost| lost.search == LostSearch::Due);
    let are_due = !fork_tree.is_empty() && fork_tree.looked_to < store.len();
    let mut missing = if are_due { fork_tree.missing() } else { BTreeSet::new() };
    let mut from = store.len();
    if are_due {
        from = std::mem::replace(&mut fork_tree.looked_to, store.len());
    }
    let mut lengths = fork_tree.missing_lengths();
    if let Some(lost) = lost {
        lost.search = LostSearch::Running;
        missing.insert(lost.hash.clone());
        (from, lengths) = (0, None);
    }
    if missing.is_empty() {
        return None;
    }
    let fits = |_, row: &RowFacts| lengths.as_ref().is_none_or(|lengths| lengths.contains(&u64::from(row.len)));
    Some(Effect::ByHash(table.moves(), Plan::of(store, from, fits), missing))
}

/// Takes the records that were looked for.
pub(crate) fn take_by_hash(app: &mut App, moves: u64, found: Vec<(u32, String)>) -> Effects {
    if moves != app.table.moves() {
        app.forks.tree.looked_to = 0;
        if let Some(lost) = app.screens.record_mut().and_then(|view| view.lost.as_mut()) {
            lost.search = LostSearch::Due;
        }
        return look_by_hash(&app.store, &mut app.forks, &app.table, &mut app.screens).into_iter().collect();
    }
    let mut effects = Vec::new();
    if let Some(record) = find_open_again(&mut app.screens, &found) {
        app.table.list.at = app.table.row_of(record);
        app.forks.recall_edits(&mut app.screens, &app.store);
        effects.extend(review::keys::look_at_open(app));
    }
    let place = |(record, hash): (u32, String)| Some((hash, app.store.address(record as usize)?));
    let found: Vec<_> = found.into_iter().filter_map(place).collect();
    if !found.is_empty() {
        app.forks.tree.take_parents(found);
        app.arrange();
    }
    effects
}

/// Gives the open record its number again after its file was replaced, if it is among these; returns the number.
fn find_open_again(screens: &mut Screens, found: &[(u32, String)]) -> Option<usize> {
    let view = screens.record_mut()?;
    let lost = view.lost.as_mut().filter(|lost| lost.search == LostSearch::Running)?;
    let Some((record, _)) = found.iter().find(|(_, hash)| *hash == lost.hash) else {
        lost.search = LostSearch::Failed;
        return None;
    };
    (view.opened.index, view.lost) = (*record as usize, None);
    Some(view.opened.index)
}

/// Gives again what could not be saved.
pub(crate) fn save_again(log: &mut Log, status: &mut StatusLine) -> Effects {
    let effects = log.again();
    status.say(shown!("saving {} again…", effects.len()));
    effects
}
