//! Saves forks, follows their files, and walks from one to the next.

use std::collections::BTreeSet;

use crate::app::fork_tree::Address;
use crate::app::forks::Forks;
use crate::app::msg::{Effect, Effects};
use crate::app::review;
use crate::app::state::App;
use crate::screens::run::state::LostSearch;
use crate::screens::stack::Screens;
use crate::widgets::keymap::Action;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::log::forks::{FORKS, KnownFork};
use stepscope_io::log::{Appended, LineId};
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::store::Store;
use stepscope_io::pipeline::store::{LoadEvent, SourceRows};
use stepscope_io::source::beneath::Place;
use stepscope_io::source::input::Input;
use stepscope_judge::row::RowFacts;

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
        if let Some(view) = self.placed()
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
pub(crate) fn fork_wrote(app: &mut App, input: Input, result: Result<Appended, Failure>) -> Effects {
    match result {
        Ok(met) => {
            let name = input.name().last_part();
            let also = match met {
                Appended { anew: true, .. } => "; the file was moved, a new one was started",
                Appended { sealed: true, .. } => "; its last line was incomplete and is now closed",
                _ => "",
            };
            app.status.say(shown!("saved in {name}{also}"));
            vec![Effect::Follow(input)]
        }
        Err(failure) => {
            app.forks.warn_again();
            let Failure { source, path, .. } = failure;
            let key = app.keymap.key_of(Action::SaveAgain);
            app.status.fail(shown!("NOT SAVED, {source} ({key} retries): {path}"))
        }
    }
}

/// Opens another of the record and its forks, in a circle.
pub(crate) fn fork_by(app: &mut App, by: isize) -> Effects {
    let fork_tree = app.fork_tree();
    let here = app.screens.record().and_then(|view| app.store.address(view.opened.index));
    let at = fork_tree.iter().position(|address| Some(*address) == here).unwrap_or(0) as isize;
    let next = at.saturating_add(by).rem_euclid(fork_tree.len().max(1) as isize) as usize;
    let Some(&(source, byte)) = fork_tree.get(next) else { return Vec::new() };
    let Some(record) = app.store.position(source, byte) else { return Vec::new() };
    app.table.list.at = app.table.row_of(record);
    app.request(record, app.screens.top())
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
pub(crate) fn first_forks(app: &mut App) -> Effects {
    let sources = app.store.sources().iter().enumerate();
    let forks: Vec<usize> = sources.filter(|(_, rows)| rows.is_forks()).map(|(source, _)| source).collect();
    forks.into_iter().flat_map(|source| follow_fork_tree(app, Some((source, false)))).collect()
}

/// Asks what is not known yet of the forks that were found, and where their parents are.
pub(crate) fn follow_fork_tree(app: &mut App, found: Option<(usize, bool)>) -> Effects {
    let App { store, forks, .. } = app;
    let Some((source, anew)) = found else {
        return if store.is_settled() { look_by_hash(app).into_iter().collect() } else { Vec::new() };
    };
    if anew {
        forks.tree.forget(source);
    }
    let fresh = forks.tree.ask(store, source).into_iter();
    let readings: Vec<_> = fresh.filter_map(|(address, at)| Some((address, store.reading(at)?))).collect();
    if readings.is_empty() { Vec::new() } else { vec![Effect::ForkOrigins(readings)] }
}

/// Takes what was read of forks.
pub(crate) fn take_fork_origins(app: &mut App, known: Vec<(Address, Option<KnownFork>)>) -> Effects {
    app.forks.tree.take_fork_origins(known);
    app.arrange();
    look_by_hash(app).into_iter().collect()
}

/// Looks among the records for those that forks come from, each of them once, and for the open one where its file was
/// replaced.
fn look_by_hash(app: &mut App) -> Option<Effect> {
    let App { store, forks, table, screens, .. } = app;
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
        return look_by_hash(app).into_iter().collect();
    }
    let effects = find_open_again(app, &found);
    let place = |(record, hash): (u32, String)| Some((hash, app.store.address(record as usize)?));
    let found: Vec<_> = found.into_iter().filter_map(place).collect();
    if !found.is_empty() {
        app.forks.tree.take_parents(found);
        app.arrange();
    }
    effects
}

/// Gives the open record its number again after its file was replaced, if it is among these.
fn find_open_again(app: &mut App, found: &[(u32, String)]) -> Effects {
    let Some(view) = app.screens.record_mut() else { return Vec::new() };
    let Some(lost) = view.lost.as_mut().filter(|lost| lost.search == LostSearch::Running) else { return Vec::new() };
    let Some((record, _)) = found.iter().find(|(_, hash)| *hash == lost.hash) else {
        lost.search = LostSearch::Failed;
        return Vec::new();
    };
    let record = *record as usize;
    (view.opened.index, view.lost) = (record, None);
    app.table.list.at = app.table.row_of(record);
    app.forks.recall_edits(&mut app.screens, &app.store);
    review::keys::look_at_open(app)
}

/// Gives again what could not be saved.
pub(crate) fn save_again(app: &mut App) -> Effects {
    let effects = app.log.again();
    app.status.say(shown!("saving {} again…", effects.len()));
    effects
}
