//! Where everything is on screen, and the one function that draws it. Both are pure.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::state::App;
use crate::dialogs::dialog::Dialog;
use crate::screens::stack::Screen;
use crate::widgets::layout::parts;
use crate::widgets::look::Look;
use crate::widgets::theme::Role;

/// Draws the whole screen.
pub fn view(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    let buf = frame.buffer_mut();
    draw(app, area, buf);
    if let Some(column) = crate::app::review::strip::cursor(app, area) {
        frame.set_cursor_position((column, parts(area).footer.y.min(area.bottom().saturating_sub(1))));
    }
    match app.dialog.as_ref().map(Dialog::own) {
        Some(Dialog::Editor(editor)) => frame.set_cursor_position(crate::dialogs::editor::draw::cursor(editor, area)),
        Some(Dialog::Prompt(prompt)) => {
            let column = crate::app::bars::prompt_cursor(prompt, area);
            frame.set_cursor_position((column, parts(area).footer.y.min(area.bottom().saturating_sub(1))));
        }
        _ => {}
    }
}

fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let theme = &app.looks.theme;
    buf.set_style(area, theme.style(Role::Screen));
    let look = Look { theme, focused: app.dialog.is_none() };
    // The strip of the reviews stands between the body and the status line.
    let whole = area;
    let bars = parts(whole);
    let strip = crate::app::review::strip::rows(app).min(bars.body.height);
    let area = Rect { height: area.height - strip, ..area };
    let parts = parts(area);
    let below = Rect { y: parts.body.bottom(), height: strip, ..area };
    crate::app::review::strip::strip(app, below, buf, look);
    crate::app::bars::header(app, bars.header, buf, look);
    let inspect = app.inspect.as_ref();
    match app.screen() {
        Screen::Table => crate::screens::table::draw::draw(app, parts.body, buf, look),
        Screen::Run => {
            inspect.into_iter().for_each(|inspect| crate::screens::run::draw::draw(inspect, area, buf, look))
        }
        Screen::Evidence => {
            inspect.into_iter().for_each(|inspect| crate::screens::answer::draw::draw(inspect, area, buf, look))
        }
        Screen::Json => {
            inspect.into_iter().for_each(|inspect| crate::screens::json::draw::draw(inspect, parts.body, buf, look))
        }
        Screen::Rerun => crate::screens::rerun::draw::draw(app, area, buf, look),
        Screen::Matrix => crate::screens::matrix::draw::draw(app, parts.body, buf, look),
        Screen::Versus => crate::screens::side_by_side::draw::draw(app, parts.body, buf, look),
        Screen::Boards => crate::screens::dashboard::draw::draw(app, parts.body, buf, look),
        Screen::Disputes => crate::screens::adjudication::draw::draw(app, parts.body, buf, look),
    }
    crate::app::bars::status(app, bars.status, buf, look);
    crate::app::bars::footer(app, bars.footer, buf, look);
    match app.dialog.as_ref().map(Dialog::own) {
        Some(Dialog::Help(top)) => crate::dialogs::help::draw(app, *top, area, buf, Look { theme, focused: true }),
        Some(Dialog::Palette(palette)) => {
            crate::dialogs::palette::draw(app, palette, area, buf, Look { theme, focused: true })
        }
        Some(Dialog::Popup(popup)) => crate::dialogs::popup::draw(popup, area, buf, Look { theme, focused: true }),
        Some(Dialog::Contents(list)) => {
            let evidence = app.inspect.as_ref().and_then(|inspect| inspect.evidence.as_ref());
            if let Some(document) = evidence.and_then(|evidence| evidence.sheet.document.as_deref()) {
                crate::dialogs::contents::draw(document, *list, area, buf, Look { theme, focused: true });
            }
        }
        Some(Dialog::Editor(editor)) => {
            crate::dialogs::editor::draw::draw(editor, area, buf, Look { theme, focused: true })
        }
        Some(Dialog::Mending(mending)) => {
            crate::dialogs::repair::draw::draw(mending, area, buf, Look { theme, focused: true })
        }
        Some(Dialog::Fixes(list, fixes)) => {
            crate::dialogs::fixes::draw(fixes, *list, area, buf, Look { theme, focused: true });
        }
        Some(Dialog::Derivation(tree)) => {
            crate::dialogs::derivation::draw::draw(tree, area, buf, Look { theme, focused: true });
        }
        Some(Dialog::Ladder(top)) => {
            if let Some(rewards) = app.inspect.as_ref().and_then(|inspect| inspect.opened.rewards.as_ref()) {
                crate::dialogs::rewards::draw::draw(rewards, *top, area, buf, Look { theme, focused: true });
            }
        }
        Some(Dialog::Review(ask)) => {
            let places = [area, bars.status, bars.footer];
            crate::app::review::strip::ask(app, ask, places, buf, Look { theme, focused: true });
        }
        Some(Dialog::Prompt(prompt)) => crate::app::bars::prompt(prompt, whole, buf, Look { theme, focused: true }),
        Some(Dialog::Drop(_)) | None => {}
    }
    if matches!(app.dialog, Some(Dialog::Drop(_))) {
        crate::app::bars::drop_question(app, bars.status, buf, Look { theme, focused: true });
    }
}
