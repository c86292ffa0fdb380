//! Follows a link into the records: opens the record of an id at a step as soon as it is found. And makes such a link.

use std::sync::Arc;

use crate::app::fork_tree::ForkTree;
use crate::app::msg::{Effect, Effects};
use crate::app::records::current;
use crate::app::review;
use crate::app::review::Review;
use crate::app::review::keys::to_resume;
use crate::app::seek::Seek;
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::screens::table::search::end_of;
use crate::screens::table::state::{Search, Table};
use crate::widgets::keymap::{Keymap, NO_RECORD, Reason};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::{shell_option, shell_word};
use stepscope_io::config::session::FileView;
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::store::Store;
use stepscope_table::filter::Filter;

impl App {
    /// Opens the record of this id, at this step, in place of what is open.
    pub fn seek(&mut self, id: &str, step: Option<usize>) -> Effects {
        let filter = match Filter::of_id(id) {
            Ok(filter) => Arc::new(filter),
            Err(why) => return self.status.fail(shown!("{why}")),
        };
        let mut effects = end(&mut self.seek);
        let search = Search::new(self.table.new_search_id(), "", filter);
        self.seek = Some(Seek { id: id.to_owned(), step, search });
        effects.extend(go_on(&mut self.seek, &self.store, &self.review, &mut self.status));
        effects
    }
}

/// Ends the search for the record of a link.
fn end(seek: &mut Option<Seek>) -> Effects {
    seek.take().and_then(|seek| end_of(Some(seek.search))).into_iter().collect()
}

/// Looks through the records that came since, or says that there is no such record.
pub(crate) fn go_on(seek: &mut Option<Seek>, store: &Store, review: &Review, status: &mut StatusLine) -> Effects {
    let Some(sought) = seek else { return Vec::new() };
    let search = &mut sought.search;
    if search.running {
        return Vec::new();
    }
    if search.planned < store.len() {
        let plan = Plan::of(store, search.planned, |_, _| true).hiding(|record| review.hide_for(record));
        (search.running, search.done, search.planned) = (true, false, store.len());
        return vec![Effect::Search(search.id, search.filter.clone(), plan)];
    }
    if !store.is_settled() {
        return Vec::new();
    }
    let id = Shown::line(sought.id.as_bytes());
    let mut effects = end(seek);
    effects.extend(status.fail(shown!("no record has the id \"{id}\"")));
    effects
}

/// Takes in the result of a search, if it is the one for this link.
pub(crate) fn take_found(app: &mut App, id: u64, found: &[u32], done: bool) -> Effects {
    let Some(seek) = app.seek.as_mut().filter(|seek| seek.search.id == id) else { return Vec::new() };
    seek.search.take(found, done);
    let (step, record) = (seek.step, seek.search.found.first().copied());
    let Some(record) = record else {
        return if done { go_on(&mut app.seek, &app.store, &app.review, &mut app.status) } else { Vec::new() };
    };
    let mut effects = end(&mut app.seek);
    if app.screens.top() != ScreenKind::Table {
        effects.extend(app.back_to_table());
    }
    let row = app.table.row_of(record as usize);
    if app.table.record(row) == Some(record as usize) {
        app.table.list.at = row;
    }
    // It is opened at the step as soon as it is there.
    let view = FileView { screen: Some("run".to_owned()), record: record.into(), step, ..FileView::default() };
    review::keys::resume_at(&mut app.review, &view);
    if let Some((record, screen)) = to_resume(&app.review, &app.store, &app.screens) {
        effects.extend(app.request(record, screen));
    }
    effects
}

/// The shell command that opens the record that keys are about, at its step; why there is none.
pub(crate) fn link(
    screens: &Screens,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    samples: bool,
) -> Result<Shown, Reason> {
    let record = current(screens, store, table).ok_or(NO_RECORD)?;
    let view = screens.record().filter(|view| view.opened.index == record);
    let id = match view {
        Some(view) => Some(view.opened.id.clone()),
        None => table.texts(record).map(|texts| texts.id.clone()),
    };
    let id = id.filter(|id| !id.as_str().is_empty()).ok_or("this record has no id")?;
    let source = store.source_of(forks.root_of(store, record)).and_then(|source| store.sources().get(source));
    let path = match source.and_then(|source| source.input.path()) {
        Some(path) => {
            let path = path.to_str().ok_or("this file's name is no text")?;
            format!(" {}{}", if path.starts_with('-') { "./" } else { "" }, shell_word(path))
        }
        None if samples => String::new(),
        None => return Err("standard input cannot be opened again; save it to a file first"),
    };
    let step = view.filter(|view| view.opened.has_steps() && view.moment.0 > 0);
    let step = step.map(|view| format!(" --step {}", view.moment.0)).unwrap_or_default();
    let link = format!("stepscope{path} {}{step}", shell_option("--id", id.as_str()));
    let shown = Shown::line(link.as_bytes());
    // What is not shown as it is would not be found by it.
    if shown.as_str() == link {
        Ok(shown)
    } else {
        Err("the id or the file's name has characters that cannot be copied")
    }
}

/// Copies the command that opens what is in front.
pub(crate) fn copy_link(link: Result<Shown, Reason>, keymap: &Keymap, status: &mut StatusLine) -> Effects {
    match link {
        Ok(link) => status.copy(&link, "the command"),
        Err(why) => status.refuse(keymap, why),
    }
}
