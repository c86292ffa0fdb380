//! Where everything is on screen, and the one function that draws it. Both are pure.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::app::App;
use crate::tui::dialog::Dialog;
use crate::tui::evidence;
use crate::tui::front::Screen;
use crate::tui::inspect::{Inspect, Pane};
use crate::tui::panes::{self, Look};
use crate::tui::prose;
use crate::tui::theme::Role;

/// From this width on the panes of a run stand side by side.
pub const WIDE: u16 = 100;

/// The parts of every screen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// The first line.
    pub header: Rect,
    /// What the screen is for.
    pub body: Rect,
    /// The line that describes what the cursor is on, or answers a key.
    pub status: Rect,
    /// The last line: keys.
    pub footer: Rect,
}

/// Cuts a screen into its parts; the smallest screens keep the body.
pub fn parts(area: Rect) -> Parts {
    let header = u16::from(area.height >= 3);
    let footer = u16::from(area.height >= 4);
    let status = u16::from(area.height >= 8);
    let body = area.height - header - footer - status;
    let line = |y: u16, height: u16| Rect { y: area.y + y, height, ..area };
    Parts {
        header: line(0, header),
        body: line(header, body),
        status: line(header + body, status),
        footer: line(header + body + status, footer),
    }
}

/// Where a pane of the run screen is; of no height if it is hidden.
pub fn pane_area(area: Rect, inspect: &Inspect, pane: Pane) -> Rect {
    let body = parts(area).body;
    let hidden = Rect { height: 0, ..body };
    if inspect.maximised {
        return if pane == inspect.pane { body } else { hidden };
    }
    let places = if body.width >= WIDE { wide(body, inspect) } else { narrow(body, inspect) };
    places.into_iter().find(|(other, _)| *other == pane).map_or(hidden, |(_, place)| place)
}

fn wide(body: Rect, inspect: &Inspect) -> Vec<(Pane, Rect)> {
    let opened = &inspect.opened;
    let text_width = usize::from(body.width.saturating_sub(4));
    let question = question_rows(inspect, text_width, body).saturating_add(2).clamp(3, (body.height / 4).max(3));
    let (top, rest) = split_rows(body, question);
    let left_width = (body.width * 2 / 5).clamp(34, 76);
    let left = Rect { width: left_width, ..rest };
    let right = Rect { x: rest.x + left_width, width: rest.width - left_width, ..rest };
    let steps = rows(opened.steps.len()).saturating_add(2).clamp(3, (rest.height * 2 / 5).max(3));
    let (steps, step) = split_rows(left, steps);
    let notes = rows(opened.notes.len()).saturating_add(2).clamp(3, (rest.height / 3).max(3));
    let variables = rows(opened.variables.len()).saturating_add(3);
    // Findings get what the state does not need.
    let state = variables.clamp(4, rest.height.saturating_sub(notes).max(4)).max(rest.height / 2);
    let (state, findings) = split_rows(right, state.min(rest.height.saturating_sub(notes)));
    vec![
        (Pane::Question, top),
        (Pane::Steps, steps),
        (Pane::Step, step),
        (Pane::State, state),
        (Pane::Findings, findings),
    ]
}

fn narrow(body: Rect, inspect: &Inspect) -> Vec<(Pane, Rect)> {
    let opened = &inspect.opened;
    let text_width = usize::from(body.width.saturating_sub(4));
    let lines = question_rows(inspect, text_width, body);
    let question = lines.saturating_add(2).clamp(3, (body.height / 5).max(4)).min(body.height);
    let (top, rest) = split_rows(body, question);
    let steps = rows(opened.steps.len()).saturating_add(2).clamp(3, (rest.height / 4).max(5)).min(rest.height);
    let (steps, rest) = split_rows(rest, steps);
    // The last place is shared: findings, unless the step or a long list of them has the keys.
    let last = if inspect.pane == Pane::Step { Pane::Step } else { Pane::Findings };
    let wanted = match inspect.pane {
        Pane::Step => rest.height * 3 / 5,
        Pane::Findings => rows(opened.notes.len()).saturating_add(2).clamp(4, (rest.height / 2).max(4)),
        _ => rows(opened.notes.len()).saturating_add(2).clamp(3, (rest.height / 4).max(3)),
    };
    let (state, bottom) = split_rows(rest, rest.height.saturating_sub(wanted));
    vec![(Pane::Question, top), (Pane::Steps, steps), (Pane::State, state), (last, bottom)]
}

/// Where a pane of the evidence screen is, beside the one that has the keys; of no height if it is hidden.
pub fn evidence_area(area: Rect, maximised: bool, focused: evidence::Pane, pane: evidence::Pane) -> Rect {
    use evidence::Pane::{Checks, Citation, Document, Items};
    let body = parts(area).body;
    let body = Rect { y: body.y + question_height(body), height: body.height - question_height(body), ..body };
    if maximised {
        return if pane == focused { body } else { Rect { height: 0, ..body } };
    }
    if body.width >= WIDE {
        let side = (body.width * 3 / 10).clamp(32, 64);
        let left = Rect { width: side, ..body };
        let middle = Rect { x: body.x + side, width: body.width - 2 * side, ..body };
        let right = Rect { x: middle.right(), width: side, ..body };
        let (items, citation) = split_rows(left, body.height * 11 / 20);
        return match pane {
            Items => items,
            Citation => citation,
            Document => middle,
            Checks => right,
        };
    }
    // What has the keys gets more; the citation and the checks share the last place.
    let items_height = if focused == Items { body.height * 3 / 10 } else { body.height / 4 };
    let (items, rest) = split_rows(body, items_height.max(4));
    let (document, last) = split_rows(rest, if focused == Document { rest.height * 2 / 3 } else { rest.height / 2 });
    let hidden = Rect { height: 0, ..body };
    match pane {
        Items => items,
        Document => document,
        Citation => {
            if focused == Checks {
                hidden
            } else {
                last
            }
        }
        Checks => {
            if focused == Checks {
                last
            } else {
                hidden
            }
        }
    }
}

/// The question stands above the evidence, without a border.
pub fn question_height(body: Rect) -> u16 {
    u16::from(body.height >= 10) + u16::from(body.height >= 30)
}

/// How many lines the question takes, as far as the screen is high.
fn question_rows(inspect: &Inspect, width: usize, body: Rect) -> u16 {
    rows(prose::wrap_up_to(inspect.opened.question.as_str(), width, usize::from(body.height)).len())
}

/// As many rows as a screen can have.
fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn split_rows(area: Rect, first: u16) -> (Rect, Rect) {
    let first = first.min(area.height);
    (Rect { height: first, ..area }, Rect { y: area.y + first, height: area.height - first, ..area })
}

/// How many rows of the table are on screen.
pub fn table_height(area: Rect) -> usize {
    usize::from(parts(area).body.height.saturating_sub(1))
}

/// How many rows of the JSON are on screen.
pub fn json_height(area: Rect) -> usize {
    usize::from(parts(area).body.height.saturating_sub(2))
}

/// The place of a window in the middle.
pub fn window(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

/// Draws the whole screen.
pub fn view(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    let buf = frame.buffer_mut();
    draw(app, area, buf);
    if let Some(column) = panes::review::cursor(app, area) {
        frame.set_cursor_position((column, parts(area).footer.y.min(area.bottom().saturating_sub(1))));
    }
    match app.dialog.as_ref().map(Dialog::own) {
        Some(Dialog::Editor(editor)) => frame.set_cursor_position(panes::editor::cursor(editor, area)),
        Some(Dialog::Prompt(prompt)) => {
            let column = panes::bars::prompt_cursor(prompt, area);
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
    let strip = panes::review::rows(app).min(bars.body.height);
    let area = Rect { height: area.height - strip, ..area };
    let parts = parts(area);
    let below = Rect { y: parts.body.bottom(), height: strip, ..area };
    panes::review::strip(app, below, buf, look);
    panes::bars::header(app, bars.header, buf, look);
    let inspect = app.inspect.as_ref();
    match app.screen() {
        Screen::Table => panes::table::draw(app, parts.body, buf, look),
        Screen::Run => inspect.into_iter().for_each(|inspect| run(inspect, area, buf, look)),
        Screen::Evidence => inspect.into_iter().for_each(|inspect| answer(inspect, area, buf, look)),
        Screen::Json => inspect.into_iter().for_each(|inspect| panes::json::draw(inspect, parts.body, buf, look)),
        Screen::Rerun => panes::rerun::draw(app, area, buf, look),
        Screen::Matrix => panes::matrix::draw(app, parts.body, buf, look),
        Screen::Versus => panes::versus::draw(app, parts.body, buf, look),
        Screen::Boards => panes::boards::draw(app, parts.body, buf, look),
        Screen::Disputes => panes::disputes::draw(app, parts.body, buf, look),
    }
    panes::bars::status(app, bars.status, buf, look);
    panes::bars::footer(app, bars.footer, buf, look);
    match app.dialog.as_ref().map(Dialog::own) {
        Some(Dialog::Help(top)) => panes::help::draw(app, *top, area, buf, Look { theme, focused: true }),
        Some(Dialog::Palette(palette)) => panes::palette::draw(app, palette, area, buf, Look { theme, focused: true }),
        Some(Dialog::Popup(popup)) => panes::popup::draw(popup, area, buf, Look { theme, focused: true }),
        Some(Dialog::Contents(list)) => {
            let evidence = app.inspect.as_ref().and_then(|inspect| inspect.evidence.as_ref());
            if let Some(document) = evidence.and_then(|evidence| evidence.sheet.document.as_deref()) {
                panes::contents::draw(document, *list, area, buf, Look { theme, focused: true });
            }
        }
        Some(Dialog::Editor(editor)) => panes::editor::draw(editor, area, buf, Look { theme, focused: true }),
        Some(Dialog::Mending(mending)) => panes::mend::draw(mending, area, buf, Look { theme, focused: true }),
        Some(Dialog::Fixes(list, fixes)) => {
            panes::fixes::draw(fixes, *list, area, buf, Look { theme, focused: true });
        }
        Some(Dialog::Derivation(tree)) => {
            panes::derivation::draw(tree, area, buf, Look { theme, focused: true });
        }
        Some(Dialog::Ladder(top)) => {
            if let Some(rewards) = app.inspect.as_ref().and_then(|inspect| inspect.opened.rewards.as_ref()) {
                panes::ladder::draw(rewards, *top, area, buf, Look { theme, focused: true });
            }
        }
        Some(Dialog::Review(ask)) => {
            let places = [area, bars.status, bars.footer];
            panes::review::ask(app, ask, places, buf, Look { theme, focused: true });
        }
        Some(Dialog::Prompt(prompt)) => panes::bars::prompt(prompt, whole, buf, Look { theme, focused: true }),
        Some(Dialog::Drop(_)) | None => {}
    }
    if matches!(app.dialog, Some(Dialog::Drop(_))) {
        panes::bars::drop_question(app, bars.status, buf, Look { theme, focused: true });
    }
}

fn run(inspect: &Inspect, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    for pane in Pane::ALL {
        let place = pane_area(area, inspect, pane);
        if place.height < 2 || place.width < 4 {
            continue;
        }
        let look = Look { focused: look.focused && pane == inspect.pane, ..look };
        match pane {
            Pane::Question => panes::question::draw(inspect, place, buf, look),
            Pane::Steps => panes::steps::draw(inspect, place, buf, look),
            Pane::Step => panes::step::draw(inspect, place, buf, look),
            Pane::State => panes::state::draw(inspect, place, buf, look),
            Pane::Findings => panes::findings::draw(inspect, place, buf, look),
        }
    }
}

fn answer(inspect: &Inspect, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let Some(evidence) = &inspect.evidence else { return };
    let body = parts(area).body;
    let height = usize::from(question_height(body));
    let inner = Rect { x: body.x + 1.min(body.width), width: body.width.saturating_sub(2), ..body };
    let question =
        prose::lines(&inspect.opened.question, usize::from(inner.width), 0..height, look.style(Role::Question), &[]);
    for (row, line) in question.into_iter().enumerate() {
        panes::put(line.spans, row, inner, buf);
    }
    for pane in evidence::Pane::ALL {
        let place = evidence_area(area, inspect.maximised, evidence.pane, pane);
        if place.height < 2 || place.width < 4 {
            continue;
        }
        let look = Look { focused: look.focused && pane == evidence.pane, ..look };
        match pane {
            evidence::Pane::Items => panes::items::draw(evidence, place, buf, look),
            evidence::Pane::Document => panes::document::draw(evidence, place, buf, look),
            evidence::Pane::Citation => panes::citation::draw(evidence, place, buf, look),
            evidence::Pane::Checks => panes::checks::draw(inspect, evidence, place, buf, look),
        }
    }
}
