//! Exports from the screen: asks what and where, and makes it.

pub(crate) mod procedure;
pub mod request;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::export::request::RecordExport;
use crate::app::msg::{Effect, Effects};
use crate::app::records::{current, stem_of};
use crate::app::review::Review;
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::app::{across, view};
use crate::demo::picture::{Recording, ansi, cropped, svg, texts};
use crate::dialogs::dialog::PromptPurpose;
use crate::dialogs::export::{ExportChoice, ExportForm};
use crate::screens::answer::state::AnswerPane;
use crate::screens::kind::ScreenKind;
use crate::screens::live::state::LivePane;
use crate::screens::rerun::state::Pane;
use crate::screens::run::pane::RunPane;
use crate::screens::stack::Screen;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::borders::close;
use crate::widgets::keymap::{NO_RECORD, Reason};
use crate::widgets::list::List;
use crate::widgets::panes;
use crate::widgets::theme::Theme;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::store::Store;
use stepscope_record::finding::counted;
use stepscope_redact::{PrivateHits, Redaction};
use stepscope_report::page::{Cleaner, Said};
use stepscope_review::summary::Summary;
use stepscope_terminal::colour::Depth;

/// Asks where the form under the cursor is to go.
pub(crate) fn ask_where(app: &mut App) -> Effects {
    let form = chosen(app.screens.scroll);
    let record = record_in_front(&app.screens, &app.store, &app.table);
    if let Err(why) = may_write(form, record, &app.screens) {
        return app.status.refuse(&app.keymap, why);
    }
    app.export.form = form;
    let name = match record.filter(|_| form.is_of_record()) {
        Some(record) => {
            format!(
                "{}-{}",
                stem_of(&app.store, &app.forks.tree, Some(record), "record"),
                app.table.row_of(app.forks.tree.root_of(&app.store, record)) + 1
            )
        }
        None => format!("stepscope-{}", app.screens.top().word().replace(' ', "-")),
    };
    app.screens.propose(PromptPurpose::ExportAs(form), format!("{}{name}.{}", app.export.folder, form.word()));
    Vec::new()
}

pub(crate) fn chosen(list: List) -> ExportForm {
    ExportForm::ALL.get(list.at).copied().unwrap_or_default()
}

/// Checks that a form can be written here, with this record in front.
pub(crate) fn may_write(form: ExportForm, record: Option<usize>, screens: &Screens) -> Result<(), Reason> {
    match form {
        form if form.is_of_record() && record.is_none() => Err(NO_RECORD),
        ExportForm::PanePicture if focused_pane(screens).is_none() => Err("this screen has one pane"),
        _ => Ok(()),
    }
}

/// Returns the record that is shown; screens of all records show none.
pub(crate) fn record_in_front(screens: &Screens, store: &Store, table: &Table) -> Option<usize> {
    current(screens, store, table).filter(|_| !screens.top().is_of_all())
}

/// Makes it, and remembers the folder. `Err`: it is refused.
pub(crate) fn export(app: &mut App, form: ExportForm, typed: &str) -> Result<Effects, Shown> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    app.export.folder = typed.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    app.export.asked = Some((Some(form), typed.to_owned()));
    app.export.withheld = false;
    let path = PathBuf::from(typed);
    if !form.is_of_record() {
        return of_screen(app, form, path);
    }
    let record = record_in_front(&app.screens, &app.store, &app.table);
    let handle = record.and_then(|record| across::keys::record_handle(&app.store, &app.forks.tree, record));
    let Some(handle) = handle else { return Ok(Vec::new()) };
    let wanted = of_record(&mut app.export, &app.review, &app.screens, handle.record, (form, path));
    Ok(vec![Effect::ExportRecord(Box::new(handle), Box::new(wanted))])
}

/// Decides what is written of a record: the step in front, and what may be told of it.
fn of_record(
    export: &mut ExportChoice,
    review: &Review,
    screens: &Screens,
    record: usize,
    (form, path): (ExportForm, PathBuf),
) -> RecordExport {
    let view = screens.record().filter(|view| view.opened.index == record);
    let step = view.filter(|view| view.opened.has_steps()).and_then(|view| view.moment.0.checked_sub(1));
    let redaction = if export.redacts { Redaction::all() } else { Redaction::default() };
    let cleaner = Cleaner { hide: review.hide_for(record), redaction, passages: true };
    let summary: Option<&Summary> = view.and_then(|view| view.opened.summary.as_deref());
    let found = summary.and_then(|summary| review.find(&summary.item, &summary.content));
    let mut said = found.map(|reviewed| Said::of(reviewed, &review.label_sets())).unwrap_or_default();
    let before = said.len();
    said.retain(|said| review.is_told(record, &said.who));
    export.withheld = said.len() < before;
    RecordExport { form, path, step, cleaner, said }
}

fn of_screen(app: &mut App, form: ExportForm, path: PathBuf) -> Result<Effects, Shown> {
    app.status.now = None;
    let whole = Rect::new(0, 0, app.size.width, app.size.height);
    let pane = focused_pane(&app.screens).filter(|_| form == ExportForm::PanePicture);
    let area = pane.unwrap_or(whole);
    let [mut dark, mut light] = ["dark", "light"].map(|theme| cropped(drawn_in(app, theme, whole), area));
    if pane.is_some() {
        close(&mut dark);
        close(&mut light);
    }
    let mut private = PrivateHits::default();
    for text in texts(&dark, dark.area) {
        private.look(text.as_bytes(), &Shown::own("screen"));
    }
    if !private.is_empty() {
        let look = look_private(private.count);
        return Err(shown!("not written: {look}; use stepscope export --svg --redact all"));
    }
    let title = shown!("stepscope: {}", app.screens.top().word());
    let bytes = match form {
        ExportForm::Recording => {
            let mut recording = Recording::new((area.width, area.height), 3, &title);
            recording.event("o", &ansi(&dark), Duration::ZERO);
            recording.finish()
        }
        _ => svg(&dark, &light, title.as_str()).into_bytes(),
    };
    Ok(vec![Effect::Export(path, bytes)])
}

/// Tells how many places look private.
pub(crate) fn look_private(places: usize) -> String {
    format!("{} look{} private", counted(places, "place"), if places == 1 { "s" } else { "" })
}

/// Gives a pane of the screen in front all the room, by its title. Where it is then.
pub(crate) fn alone(screens: &mut Screens, name: &str) -> Result<(), Shown> {
    match screens.top_screen_mut() {
        Some(Screen::Rerun(attempt)) => {
            attempt.pane = panes::named(&Pane::ALL, Pane::word, name)?;
            attempt.maximised = true;
        }
        Some(Screen::Live(live)) => {
            live.pane = panes::named(&LivePane::ALL, LivePane::word, name)?;
            live.maximised = true;
        }
        Some(Screen::Record(view)) if view.kind() == ScreenKind::Run => {
            let pane = panes::named(&view.panes(), RunPane::word, name)?;
            view.focus(pane);
            view.maximised = true;
        }
        Some(Screen::Record(view)) if view.kind() == ScreenKind::Answer => {
            let pane = panes::named(&AnswerPane::ALL, AnswerPane::word, name)?;
            view.answer.iter_mut().for_each(|answer| answer.pane = pane);
            view.maximised = true;
        }
        _ => return Err(shown!("the screen \"{}\" has one pane", screens.top().word())),
    }
    Ok(())
}

/// Finds the place of the pane that has the keys.
pub(crate) fn focused_pane(screens: &Screens) -> Option<Rect> {
    let place = match screens.top_screen()? {
        Screen::Rerun(attempt) => attempt.areas.of(attempt.pane),
        Screen::Live(live) => live.areas.of(live.pane),
        Screen::Record(view) if view.kind() == ScreenKind::Run => view.areas.of(view.pane),
        Screen::Record(view) if view.kind() == ScreenKind::Answer => {
            view.answer.as_ref().map(|answer| answer.areas.of(answer.pane))?
        }
        _ => return None,
    };
    Some(place).filter(|place| !place.is_empty())
}

/// The screen in one of the built-in themes.
pub(crate) fn drawn_in(app: &mut App, theme: &str, area: Rect) -> Buffer {
    let mut buf = Buffer::empty(area);
    let other = Theme::built_in(theme, Depth::True).unwrap_or_default();
    let own = std::mem::replace(&mut app.looks.theme, other);
    view::draw(app, area, &mut buf);
    app.looks.theme = own;
    buf
}

/// Reports whether the file was written; if not, returns what was asked and typed, to ask again for its name.
pub(crate) fn exported(
    export: &mut ExportChoice,
    status: &mut StatusLine,
    path: &Path,
    result: Result<(), Failure>,
) -> Option<(PromptPurpose, String)> {
    let asked = export.asked.take();
    let Err(failure) = result else {
        let withheld = if export.withheld { ", without what others said: give your verdict first" } else { "" };
        status.say(shown!("Written to {}{withheld}", Shown::path(path)));
        return None;
    };
    status.fail(shown!("{failure}"));
    asked.map(|(form, typed)| (form.map_or(PromptPurpose::Export, PromptPurpose::ExportAs), typed))
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_place_looks_and_more_look() {
        assert_eq!([1, 2].map(super::look_private), ["1 place looks private", "2 places look private"]);
    }
}
