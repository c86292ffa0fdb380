//! Where everything is on screen, and the one function that draws it. Both are pure.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::app::state::App;
use crate::app::{bars, review};
use crate::dialogs::dialog::Dialog;
use crate::dialogs::editor;
use crate::dialogs::window::window;
use crate::screens::cell_records;
use crate::screens::kind::ScreenKind;
use crate::widgets::ascii;
use crate::widgets::layout::parts;
use crate::widgets::look::{Look, clear, ground, mark_matches, pointer, shade};
use crate::widgets::theme::Role;
use stepscope_base::guard::strike;

/// Draws the whole screen, and returns where its cursor is.
pub(crate) fn view(app: &App, buf: &mut Buffer) -> Option<Position> {
    let area = buf.area;
    draw(app, area, buf);
    let selected = pointer(buf, &app.looks.theme);
    if app.looks.ascii {
        ascii::draw(buf);
    }
    let in_footer = |x: u16| Position { x, y: parts(area).footer.y.min(area.bottom().saturating_sub(1)) };
    match app.screens.dialog.as_ref().map(Dialog::own) {
        Some(Dialog::Editor(editor)) => Some(editor::draw::cursor(editor, area)),
        Some(Dialog::Prompt(prompt)) => Some(in_footer(bars::prompt_cursor(prompt, area))),
        _ => review::strip::cursor(app.screens.dialog.as_ref(), &app.review, area)
            .map(in_footer)
            .or(selected)
            .or_else(|| first_text(buf, parts(area).body)),
    }
}

/// Finds the first line that says something: below the heads of a table that has no rows, else on the first one.
fn first_text(buf: &Buffer, body: Rect) -> Option<Position> {
    let is_text = |at: &Position| buf.cell(*at).is_some_and(|cell| cell.symbol() != " ");
    let below = Rect { y: body.y + 1, height: body.height.saturating_sub(1), ..body };
    below.positions().chain(body.positions()).find(is_text)
}

/// Draws it into a part of the screen, without a cursor.
pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let strong = app.presenting.as_ref().map(|_| app.looks.theme.for_presenting());
    let theme = strong.as_ref().unwrap_or(&app.looks.theme);
    shade(area, buf, theme.style(Role::Screen));
    let look = Look::new(theme, &app.keymap, app.screens.dialog.is_none());
    // The strip of the reviews stands between the body and the status line.
    let whole = area;
    let bars = parts(whole);
    let strip = (app.size.height - app.area().height).min(bars.body.height);
    let area = Rect { height: area.height - strip, ..area };
    let parts = parts(area);
    bars::header(app, bars.header, buf, look);
    let view = app.screens.record();
    if view.is_some() {
        strike("record");
    }
    let screen = app.screens.top().def();
    (screen.draw)(app, parts.body, buf, look);
    let found = match app.screens.top() {
        ScreenKind::Table => app.table.finding.as_ref().map(|finding| &finding.sought.shown),
        screen => view.filter(|_| screen.is_of_record()).and_then(|view| view.find.shown.as_ref()),
    };
    if let Some(pattern) = found {
        mark_matches(pattern, parts.body, buf, theme.style(Role::Match));
    }
    if app.screens.top().counts_records() {
        let (_, third) = (screen.split)(app, parts.body);
        cell_records::draw::draw(app, third, buf, look);
    }
    // An answer of several lines lifts the strip.
    let lift = bars::status(app, bars.status, buf, look);
    let below = Rect { y: parts.body.bottom().saturating_sub(lift), height: strip, ..area };
    clear(below, buf);
    review::strip::strip(app, below, buf, look);
    bars::footer(app, bars.footer, buf, look);
    let front = Look::new(theme, &app.keymap, true);
    if let Some(window) = window(app, area, buf, front) {
        window.draw(app.screens.scroll, buf, front);
    }
    match app.screens.dialog.as_ref().map(Dialog::own) {
        Some(Dialog::Editor(editor)) => editor::draw::draw(editor, area, buf, front),
        Some(Dialog::Review(ask)) => {
            let places = [area, bars.status, bars.footer];
            review::strip::ask(app, ask, places, buf, front);
        }
        Some(Dialog::Prompt(prompt)) => bars::prompt(prompt, !app.table.typed_filters.is_empty(), whole, buf, front),
        _ => {}
    }
    if matches!(app.screens.dialog, Some(Dialog::Drop(_))) {
        bars::drop_question(&app.keymap, bars.status, buf, front);
    }
    ground(buf, whole, theme.style(Role::Screen));
}
