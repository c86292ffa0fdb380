//! Follows a link into the records: opens the record of an id at a step as soon as it is found. And makes such a link.

use std::sync::Arc;

use crate::app::msg::{Effect, Effects};
use crate::app::review;
use crate::app::seek::Seek;
use crate::app::state::App;
use crate::screens::kind::ScreenKind;
use crate::screens::table::search::end_of;
use crate::screens::table::state::Search;
use crate::widgets::keymap::NO_RECORD;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::{shell_option, shell_word};
use stepscope_io::config::session::FileView;
use stepscope_io::pipeline::search::Plan;
use stepscope_table::filter::Filter;

impl App {
    /// Opens the record of this id, at this step, in place of what is open.
    pub fn seek(&mut self, id: &str, step: Option<usize>) -> Effects {
        let filter = match Filter::of_id(id) {
            Ok(filter) => Arc::new(filter),
            Err(why) => return self.status.fail(shown!("{why}")),
        };
        let mut effects = end(self);
        let search = Search::new(self.table.new_search_id(), "", filter);
        self.seek = Some(Seek { id: id.to_owned(), step, search });
        effects.extend(go_on(self));
        effects
    }
}

/// Ends the search for the record of a link.
fn end(app: &mut App) -> Effects {
    app.seek.take().and_then(|seek| end_of(Some(seek.search))).into_iter().collect()
}

/// Looks through the records that came since, or says that there is no such record.
pub(crate) fn go_on(app: &mut App) -> Effects {
    let App { store, seek: Some(seek), review, .. } = app else { return Vec::new() };
    let search = &mut seek.search;
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
    let id = Shown::line(seek.id.as_bytes());
    let mut effects = end(app);
    effects.extend(app.status.fail(shown!("no record has the id \"{id}\"")));
    effects
}

/// Takes in the result of a search, if it is the one for this link.
pub(crate) fn take_found(app: &mut App, id: u64, found: &[u32], done: bool) -> Effects {
    let Some(seek) = app.seek.as_mut().filter(|seek| seek.search.id == id) else { return Vec::new() };
    seek.search.take(found, done);
    let (step, record) = (seek.step, seek.search.found.first().copied());
    let Some(record) = record else { return if done { go_on(app) } else { Vec::new() } };
    let mut effects = end(app);
    if app.screens.top() != ScreenKind::Table {
        effects.extend(app.back_to_table());
    }
    let row = app.table.row_of(record as usize);
    if app.table.record(row) == Some(record as usize) {
        app.table.list.at = row;
    }
    effects.extend(open_at(app, u64::from(record), step));
    effects
}

/// Opens a record at a step, as soon as it is there.
pub(crate) fn open_at(app: &mut App, record: u64, step: Option<usize>) -> Effects {
    let view = FileView { screen: Some("run".to_owned()), record, step, ..FileView::default() };
    review::keys::resume_at(&mut app.review, &view);
    review::keys::resume(app)
}

/// The shell command that opens the record that keys are about, at its step; why there is none.
pub(crate) fn link(app: &App) -> Result<Shown, &'static str> {
    let record = app.current().ok_or(NO_RECORD)?;
    let view = app.screens.record().filter(|view| view.opened.index == record);
    let id = match view {
        Some(view) => Some(view.opened.id.clone()),
        None => app.table.texts(record).map(|texts| texts.id.clone()),
    };
    let id = id.filter(|id| !id.as_str().is_empty()).ok_or("this record has no id")?;
    let source = app.store.source_of(app.root_of(record)).and_then(|source| app.store.sources().get(source));
    let path = match source.and_then(|source| source.input.path()) {
        Some(path) => {
            let path = path.to_str().ok_or("this file's name is no text")?;
            format!(" {}{}", if path.starts_with('-') { "./" } else { "" }, shell_word(path))
        }
        None if app.models.samples => String::new(),
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
pub(crate) fn copy_link(app: &mut App) -> Effects {
    match link(app) {
        Ok(link) => app.copy(&link, "the command"),
        Err(why) => app.status.refuse(&app.keymap, why),
    }
}
