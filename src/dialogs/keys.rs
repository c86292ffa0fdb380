//! Dialogs: opening and closing them, and the keys of those that belong to no screen of their own.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use stepscope_record::types::TypeRegistry;
use tui_input::Input as Line;

use crate::app::msg::Effects;
use crate::app::review::ReviewDialog;
use crate::app::state::{App, times};
use crate::app::status_line::StatusLine;
use crate::app::{export, review};
use crate::dialogs::derivation::Origin;
use crate::dialogs::dialog::{Dialog, Prompt, PromptPurpose};
use crate::dialogs::editor::EditTarget;
use crate::dialogs::palette::{Palette, PaletteRow};
use crate::dialogs::window::window;
use crate::dialogs::{fixes, repair};
use crate::screens::run::pane::RunPane;
use crate::screens::side_by_side::keys::{make, open_handle};
use crate::screens::stack::Screens;
use crate::screens::table::search::Known;
use crate::screens::table::state::Table;
use crate::screens::{answer, live, rerun, run, table, wish};
use crate::widgets::command;
use crate::widgets::keymap::{Action, Context, Key, Lookup};
use crate::widgets::line::{MAX_LINE, cursor_byte, edit, insert, replace_proposed};
use crate::widgets::look::Look;
use crate::widgets::panes::turn_to;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::session::put_last;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_table::filter::{Filter, completions};

/// Length in bytes of the longest filter that is read at every key; longer ones are read when they are applied.
const MAX_LIVE: usize = 4 << 10;

impl App {
    /// Closes the dialog, as far as nothing is lost by it: typed text is asked about first, and a call that runs is
    /// cancelled, which leaves on screen what came of it. The one place that decides what `Esc`, `^C` and a click drop.
    pub(crate) fn close(&mut self) -> Effects {
        if let Some(effects) = repair::cancel_repair(&mut self.screens) {
            return effects;
        }
        match self.screens.dialog.take() {
            Some(dialog) if dialog.is_typed_in() => self.screens.dialog = Some(Dialog::Drop(Box::new(dialog))),
            Some(dialog) => return closed(self, &dialog),
            None => {}
        }
        Vec::new()
    }

    /// Moves the cursor of the dialog, or what it has on screen.
    pub(crate) fn scroll_dialog(&mut self, rows: isize) {
        let look = Look::new(&self.looks.theme, &self.keymap, true);
        let mut scroll = self.screens.scroll;
        if let Some(window) = window(self, self.area(), &Buffer::default(), look) {
            window.go(&mut scroll, rows);
        }
        self.screens.scroll = scroll;
    }
}

/// Asks for a filter, from what was typed before.
pub(crate) fn open_filter(screens: &mut Screens, side: &SideData, text: String) {
    let mut prompt = Prompt::new(PromptPurpose::Filter, text);
    refresh_prompt(&mut prompt, side.types());
    screens.open_dialog(Dialog::Prompt(prompt));
}

/// A dialog was given up: what it left elsewhere goes with it.
fn closed(app: &mut App, dialog: &Dialog) -> Effects {
    match dialog.own() {
        Dialog::Review(ReviewDialog::Confirm { .. }) => app.status.say(Shown::own("no verdicts saved")),
        Dialog::Review(ask) => {
            if let Some(list) = review::ask::closed(&mut app.review, &app.store, &app.table, ask) {
                app.screens.open_dialog(Dialog::Review(list));
            }
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// A key for the question whether typed text is to be dropped; any other key keeps it, and only answers: an `n` does not
/// go into the text.
pub(crate) fn answer_drop(app: &mut App, event: KeyEvent) -> Effects {
    let Some(Dialog::Drop(dialog)) = app.screens.dialog.take() else { return Vec::new() };
    let key = Key::from_event(event);
    if app.keymap.look_up(&[Context::Drop], &[key]) == Lookup::Found(Action::DropText) {
        return closed(app, &dialog);
    }
    app.screens.dialog = Some(*dialog);
    Vec::new()
}

/// A key where letters are text.
pub(crate) fn text_key(app: &mut App, event: KeyEvent) -> Effects {
    let Some(dialog) = app.screens.dialog.take() else { return Vec::new() };
    let key = Key::from_event(event);
    let found = app.keymap.look_up(&[dialog.context()], &[key]);
    if found == Lookup::Found(Action::Escape) {
        app.screens.dialog = Some(dialog);
        return app.close();
    }
    match dialog {
        Dialog::Review(ask) => review::ask::ask_key(app, ask, event),
        Dialog::Prompt(prompt) => prompt_key(app, prompt, event),
        Dialog::Palette(palette) => palette_key(app, palette, event),
        Dialog::Editor(editor) => run::edit::editor_key(&mut app.screens, &app.keymap, &app.outside, editor, event)
            .unwrap_or_else(|editor| match editor.target {
                EditTarget::Value { .. } | EditTarget::Prompt(_) => run::edit::take_edit(app, editor),
                EditTarget::Question | EditTarget::LiveValue { .. } | EditTarget::LivePrompt => {
                    let wish = live::keys::typed(&mut app.screens, &mut app.models, editor);
                    wish::fulfil(app, wish)
                }
            }),
        other => {
            app.screens.dialog = Some(other);
            Vec::new()
        }
    }
}

pub(crate) fn paste(app: &mut App, text: &str) -> Effects {
    if let Some(Dialog::Drop(dialog)) = app.screens.dialog.take_if(|dialog| matches!(dialog, Dialog::Drop(_))) {
        app.screens.dialog = Some(*dialog);
    }
    if let Some(Dialog::Editor(editor)) = &mut app.screens.dialog {
        editor.insert(text);
        return Vec::new();
    }
    let is_proposed = app.screens.dialog.as_ref().is_some_and(Dialog::is_proposed);
    let Some(line) = app.screens.dialog.as_mut().and_then(Dialog::line_mut) else {
        app.status.say(app.keymap.shown("pasted text is not a command; press <find> or <filter> first"));
        return Vec::new();
    };
    if is_proposed {
        *line = Line::default();
    }
    if !insert(line, text) {
        app.status.fail(shown!("only the first {} kB were pasted", MAX_LINE >> 10));
    }
    if let Some(Dialog::Prompt(mut prompt)) = app.screens.dialog.take_if(|dialog| matches!(dialog, Dialog::Prompt(_))) {
        prompt.proposed = false;
        refresh_prompt(&mut prompt, app.side.types());
        let App { store, across, review, side, .. } = app;
        count_records(&mut prompt, side.types(), &Known { store, across, review, models: side.models() });
        app.screens.dialog = Some(Dialog::Prompt(prompt));
    }
    match &mut app.screens.dialog {
        Some(Dialog::Palette(_)) => app.screens.scroll.at = 0,
        Some(Dialog::Review(ask)) => review::ask::line_changed(ask, &mut app.review),
        _ => {}
    }
    Vec::new()
}

/// Does what a key means in the dialog in front; `None`: there is none, or it means the same everywhere.
pub(crate) fn dialog_action(app: &mut App, action: Action) -> Option<Effects> {
    let scroll = &mut app.screens.scroll;
    if let Some(Dialog::Derivation(tree)) = &mut app.screens.dialog
        && let Some(row) = tree.fold(action, scroll.at)
    {
        scroll.at = row;
        return Some(Vec::new());
    }
    let dialog = app.screens.dialog.as_ref()?;
    let page = (isize::try_from(app.size.height).unwrap_or(24) - 6).max(1);
    let times = times(app.count);
    let rows = match (action, dialog) {
        (Action::Down, _) => times,
        (Action::Up, _) => -times,
        (Action::HalfDown, _) => (page / 2).max(1),
        (Action::HalfUp, _) => -(page / 2).max(1),
        (Action::PageDown, _) => page,
        (Action::PageUp, _) => -page,
        (Action::Top, _) => isize::MIN / 2,
        (Action::Bottom, _) => isize::MAX / 2,
        (Action::CopyValue, Dialog::Popup(popup)) => return Some(app.status.copy(&popup.text.clone(), "the text")),
        (Action::CopyValue, Dialog::Derivation(tree)) => return Some(app.status.copy(&tree.text(), "the text")),
        (Action::Open, Dialog::Derivation(_)) => {
            follow_derivation(&mut app.screens, &mut app.status);
            return Some(Vec::new());
        }
        (Action::Open, Dialog::Export) => return Some(export::ask_where(app)),
        (Action::Find, Dialog::Help) => {
            app.screens.open_dialog(Dialog::Palette(Palette::of_help()));
            return Some(Vec::new());
        }
        (Action::Fold, Dialog::Export) => {
            app.export.redacts = !app.export.redacts;
            return Some(Vec::new());
        }
        (Action::Open, Dialog::Contents) => {
            answer::keys::follow_contents(&mut app.screens, &mut app.status);
            return Some(Vec::new());
        }
        (Action::Open, Dialog::Views) => {
            let name = app.views.list.get(app.screens.scroll.at).map(|view| view.name.clone());
            app.screens.dialog = None;
            return Some(
                name.map_or_else(|| Ok(Vec::new()), |name| table::keys::show_view(app, &name))
                    .unwrap_or_else(|why| app.status.fail(why)),
            );
        }
        (Action::DeleteView, Dialog::Views) => {
            let deleted = table::keys::change_views(&app.views, app.views.deleted(app.screens.scroll.at));
            return Some(deleted.unwrap_or_else(|why| app.status.fail(why)));
        }
        (Action::Open, Dialog::Repair(_)) => {
            let repaired = repair::take_repaired(&mut app.screens);
            let handle = open_handle(&app.screens, &app.store, &app.forks.tree);
            return Some(repaired.map_or_else(Vec::new, |repaired| make(&mut app.across, handle, repaired)));
        }
        (Action::Open, Dialog::Fixes(_)) => return Some(fixes::keys::open_fix(app)),
        (Action::Confirm, Dialog::Review(_)) => {
            let App { screens, store, table, review, status, .. } = app;
            return Some(review::ask::confirmed(screens, store, table, review, status));
        }
        (Action::Filter, Dialog::Review(_)) => return Some(review::ask::show_same(app)),
        (Action::Escape | Action::Back, _) => return Some(app.close()),
        (Action::Theme | Action::Mouse | Action::Suspend | Action::Redraw | Action::Quit, _) => return None,
        _ => return Some(Vec::new()),
    };
    app.scroll_dialog(rows);
    Some(Vec::new())
}

/// Goes to the subject of the row under the cursor.
fn follow_derivation(screens: &mut Screens, status: &mut StatusLine) {
    let Some(Dialog::Derivation(tree)) = screens.dialog.take() else { return };
    let Some(origin) = tree.origin(screens.scroll.at) else { return };
    let Some(view) = screens.record_mut() else { return };
    match origin {
        Origin::Written { variable, step } => {
            view.focus(RunPane::State);
            view.go_to_step(step);
            view.choose_variable(variable);
        }
        Origin::Quantity(quantity) => {
            view.focus(RunPane::Question);
            view.choose_quantity(quantity);
            run::keys::say_quantity(screens, status);
        }
    }
}

/// A click inside a list: on a row of the palette it does what that says, on a row of another one it moves the cursor
/// there, and where the cursor is it does what `Enter` does. `None`: it is outside, or there is nothing to choose.
pub(crate) fn click(app: &mut App, at: Position) -> Option<Effects> {
    let look = Look::new(&app.looks.theme, &app.keymap, true);
    let window = window(app, app.area(), &Buffer::default(), look)?;
    if !window.has_cursor || !window.place.contains(at) {
        return None;
    }
    let Some(row) = window.row_at(at, app.screens.scroll.top) else { return Some(Vec::new()) };
    drop(window);
    if let Some(Dialog::Palette(palette)) = &app.screens.dialog {
        let typed = palette.line.value().to_owned();
        let row = app.palette_rows(palette).into_iter().nth(row)?;
        app.screens.dialog = None;
        return Some(run_row(app, &row, &typed));
    }
    if row == app.screens.scroll.at {
        return dialog_action(app, Action::Open);
    }
    app.scroll_dialog(row as isize - app.screens.scroll.at as isize);
    Some(Vec::new())
}

/// Does what a row of the palette says, or says why it cannot be done here.
fn run_row(app: &mut App, row: &PaletteRow, typed: &str) -> Effects {
    let action = row.binding.action;
    if let Err(why) = app.allowed_at(app.focus_below_dialog(), action) {
        return app.status.refuse(&app.keymap, why);
    }
    let done = match (action, &row.named) {
        (Action::View, Some((name, _))) => table::keys::show_view(app, name),
        (Action::SaveView, Some((name, _))) => table::keys::change_views(&app.views, app.views.kept(name, &app.table)),
        _ => {
            app.count = command::row(typed);
            Ok(app.act(action))
        }
    };
    done.unwrap_or_else(|why| app.status.fail(why))
}

fn palette_key(app: &mut App, mut palette: Palette, event: KeyEvent) -> Effects {
    let typed = palette.line.value();
    let rows = app.palette_rows(&palette);
    match event.code {
        KeyCode::Enter => {
            let Some(row) = rows.get(app.screens.scroll.at) else {
                return app.status.refuse(&app.keymap, "No matching command");
            };
            if palette.is_chosen || command::is_clear(rows.iter().map(|row| row.fit)) {
                return run_row(app, row, typed);
            }
            // What several commands may mean is done once it is confirmed.
            app.status.say(shown!("Several commands fit: confirm again to run \"{}\", or select another", row.title()));
            palette.is_chosen = true;
        }
        KeyCode::Down | KeyCode::Tab => (app.screens.scroll.at, palette.is_chosen) = (app.screens.scroll.at + 1, true),
        KeyCode::Up | KeyCode::BackTab => {
            (app.screens.scroll.at, palette.is_chosen) = (app.screens.scroll.at.saturating_sub(1), true);
        }
        _ if edit(&mut palette.line, event) => (app.screens.scroll.at, palette.is_chosen) = (0, false),
        _ => {}
    }
    app.screens.dialog = Some(Dialog::Palette(palette));
    Vec::new()
}

fn prompt_key(app: &mut App, mut prompt: Prompt, event: KeyEvent) -> Effects {
    match event.code {
        KeyCode::Enter => {
            let typed = prompt.line.value().to_owned();
            if prompt.purpose == PromptPurpose::Filter {
                prompt.error = Filter::parse(&typed, app.side.types()).err();
            }
            if prompt.error.is_some() {
                app.screens.dialog = Some(Dialog::Prompt(prompt));
                return Vec::new();
            }
            let done = match prompt.purpose {
                PromptPurpose::Filter => table::search::try_filter(app, &typed).inspect(|_| {
                    if !typed.trim().is_empty() {
                        put_last(&mut app.table.typed_filters, typed.trim().to_owned());
                    }
                }),
                PromptPurpose::Find => table::search::find(app, &typed),
                PromptPurpose::Columns => table::keys::choose_columns(&mut app.table, &typed).map(|said| {
                    app.status.say(said);
                    Vec::new()
                }),
                PromptPurpose::ViewName => table::keys::change_views(&app.views, app.views.kept(&typed, &app.table)),
                PromptPurpose::Field(field) => rerun::keys::set_field(&mut app.screens, &mut app.models, field, &typed),
                PromptPurpose::Breakpoint => {
                    let types = app.side.clone();
                    live::keys::set_breakpoint(&mut app.screens, &mut app.models, types.types(), &typed)
                }
                PromptPurpose::SaveRun => live::keys::save_to(&mut app.screens, &mut app.models, &typed),
                PromptPurpose::Export | PromptPurpose::ExportAs(_) if typed.trim().is_empty() => {
                    Err(app.keymap.shown("type a name; <escape> writes nothing"))
                }
                PromptPurpose::Export => Ok(export::procedure::export(&app.screens, &mut app.export, &typed)),
                PromptPurpose::ExportAs(form) => export::export(app, form, &typed),
            };
            // What cannot be done stays to be mended.
            return done.unwrap_or_else(|why| {
                app.status.fail(why);
                app.screens.dialog = Some(Dialog::Prompt(prompt));
                Vec::new()
            });
        }
        KeyCode::Up | KeyCode::Down if walks_back(&prompt, &app.table, event.code) => {
            earlier_filter(&mut prompt, &app.table.typed_filters, event.code == KeyCode::Up);
            refresh_prompt(&mut prompt, app.side.types());
        }
        KeyCode::Tab | KeyCode::Down if !prompt.completions.is_empty() => choose(&mut prompt, 1, app.side.types()),
        KeyCode::BackTab | KeyCode::Up if !prompt.completions.is_empty() => choose(&mut prompt, -1, app.side.types()),
        _ => {
            replace_proposed(&mut prompt.line, prompt.proposed, event);
            if edit(&mut prompt.line, event) {
                (prompt.chosen, prompt.earlier, prompt.proposed) = (None, None, false);
                refresh_prompt(&mut prompt, app.side.types());
            }
        }
    }
    let App { store, across, review, side, .. } = app;
    count_records(&mut prompt, side.types(), &Known { store, across, review, models: side.models() });
    app.screens.dialog = Some(Dialog::Prompt(prompt));
    Vec::new()
}

/// Tells whether a key leads to an earlier filter, or back towards what was typed: until a completion is chosen.
fn walks_back(prompt: &Prompt, table: &Table, key: KeyCode) -> bool {
    let is_free = prompt.purpose == PromptPurpose::Filter && prompt.chosen.is_none();
    is_free && if key == KeyCode::Up { !table.typed_filters.is_empty() } else { prompt.earlier.is_some() }
}

/// Puts an earlier filter on the line, or the later one, or what was typed before.
fn earlier_filter(prompt: &mut Prompt, filters: &[String], back: bool) {
    let typed = prompt.earlier.as_ref().map_or_else(|| prompt.line.value().to_owned(), |(_, typed)| typed.clone());
    let others: Vec<&String> = filters.iter().rev().filter(|filter| **filter != typed.trim()).collect();
    let at = match &prompt.earlier {
        None => Some(0),
        Some((at, _)) if back => Some(at + 1),
        Some((at, _)) => at.checked_sub(1),
    };
    let at = at.map(|at| at.min(others.len().saturating_sub(1)));
    let filter = at.and_then(|at| others.get(at).copied());
    prompt.line = Line::new(filter.unwrap_or(&typed).clone());
    prompt.earlier = at.map(|at| (at, typed));
}

fn count_records(prompt: &mut Prompt, types: &TypeRegistry, known: &Known<'_>) {
    if prompt.purpose == PromptPurpose::Filter {
        let typed = Some(prompt.line.value()).filter(|typed| typed.len() <= MAX_LIVE);
        let filter = typed.and_then(|typed| Filter::parse(typed, types).ok());
        prompt.count = filter.and_then(|filter| known.count(&filter));
    }
}

fn refresh_prompt(prompt: &mut Prompt, types: &TypeRegistry) {
    if prompt.purpose != PromptPurpose::Filter {
        return;
    }
    let typed = prompt.line.value();
    if typed.len() > MAX_LIVE {
        (prompt.error, prompt.completions) = (None, Vec::new());
        return;
    }
    prompt.error = Filter::parse(typed, types).err();
    prompt.completions = completions(typed, cursor_byte(&prompt.line), types).1;
    // While a word is being typed it need not be whole.
    if !prompt.completions.is_empty() {
        prompt.error = None;
    }
}

fn choose(prompt: &mut Prompt, by: isize, types: &TypeRegistry) {
    let count = prompt.completions.len();
    let next = turn_to(prompt.chosen, by, count);
    let typed = prompt.line.value().to_owned();
    let cursor = cursor_byte(&prompt.line);
    let start = typed.get(..cursor).and_then(|before| before.rfind(char::is_whitespace)).map_or(0, |at| at + 1);
    let Some(completion) = prompt.completions.get(next) else { return };
    let (head, tail) = (typed.get(..start).unwrap_or_default(), typed.get(cursor..).unwrap_or_default());
    let text = format!("{head}{}{tail}", completion.word);
    let place = head.chars().count() + completion.word.chars().count();
    prompt.line = Line::new(text).with_cursor(place);
    prompt.chosen = Some(next);
    if count == 1 {
        prompt.chosen = None;
        refresh_prompt(prompt, types);
    }
}
