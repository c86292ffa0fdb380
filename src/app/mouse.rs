//! What the mouse does: it moves cursors, and a second click opens.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use crate::app::across;
use crate::app::msg::Effects;
use crate::app::state::App;
use crate::screens::answer;
use crate::screens::answer::state as evidence;
use crate::screens::kind::ScreenKind;
use crate::screens::rerun;
use crate::screens::run;
use crate::screens::run::state::Pane;
use crate::screens::stack::Screen;
use crate::screens::table;
use crate::widgets::keymap::Action;
use crate::widgets::layout;
use crate::widgets::list::Move;

pub(crate) fn mouse(app: &mut App, event: MouseEvent) -> Effects {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollDown => wheel(app, at, 3),
        MouseEventKind::ScrollUp => wheel(app, at, -3),
        MouseEventKind::Down(MouseButton::Left) => return click(app, at),
        _ => {}
    }
    Vec::new()
}

fn wheel(app: &mut App, at: Position, rows: isize) {
    if app.dialog.is_some() {
        app.scroll_dialog(rows);
        return;
    }
    if across::keys::desk_go(app, Move::By(rows)) {
        return;
    }
    if app.screens.top() == ScreenKind::Run
        && let Some(pane) = pane_under(app, at)
        && let Some(inspect) = app.screens.inspect_mut()
    {
        inspect.focus(pane);
    }
    focus_evidence(app, at);
    rerun::keys::click_rerun(app, at);
    // The wheel moves by rows, whatever count was typed.
    app.go(Move::By(rows));
}

fn pane_under(app: &App, at: Position) -> Option<Pane> {
    let inspect = app.screens.inspect()?;
    Pane::ALL.into_iter().find(|pane| run::layout::pane_area(app.area(), inspect, *pane).contains(at))
}

fn click(app: &mut App, at: Position) -> Effects {
    app.status = None;
    if let Some(dialog) = &app.dialog {
        // A slip of the hand drops no text and no call.
        return if dialog.is_held() { Vec::new() } else { app.close() };
    }
    let body = layout::parts(app.area()).body;
    if !body.contains(at) {
        return Vec::new();
    }
    match app.screens.top() {
        ScreenKind::Table => click_table(app, at, body),
        ScreenKind::Run => {
            click_run(app, at);
            Vec::new()
        }
        ScreenKind::Evidence => {
            click_evidence(app, at);
            Vec::new()
        }
        ScreenKind::Rerun => {
            rerun::keys::click_rerun(app, at);
            Vec::new()
        }
        ScreenKind::Matrix | ScreenKind::Versus | ScreenKind::Boards | ScreenKind::Disputes => {
            across::keys::click_desk(app, at)
        }
        ScreenKind::Json => {
            let row = usize::from((at.y - body.y).saturating_sub(1));
            if let Some(inspect) = app.screens.inspect_mut() {
                let row = inspect.outline.list.top + row;
                let again = row == inspect.outline.list.at;
                inspect.outline.list.at = row.min(inspect.outline.len().saturating_sub(1));
                if again {
                    return app.act(Action::Fold);
                }
            }
            Vec::new()
        }
    }
}

fn click_table(app: &mut App, at: Position, body: Rect) -> Effects {
    if at.y == body.y {
        if let Some(sort) = table::draw::sort_at(app, body, at.x) {
            app.table.descending = sort == app.table.sort && !app.table.descending;
            app.table.sort = sort;
            app.arrange();
        }
        return Vec::new();
    }
    let row = app.table.list.top + usize::from(at.y - body.y - 1);
    if row >= app.rows() {
        return Vec::new();
    }
    if row == app.table.list.at {
        return app.act(Action::Open);
    }
    app.table.list.at = row;
    Vec::new()
}

fn click_run(app: &mut App, at: Position) {
    let Some(pane) = pane_under(app, at) else { return };
    let area = app.area();
    let Some(inspect) = app.screens.inspect_mut() else { return };
    let place = run::layout::pane_area(area, inspect, pane);
    inspect.focus(pane);
    let row = usize::from(at.y.saturating_sub(place.y + 1));
    let target = match pane {
        Pane::Steps => inspect.steps.top + row,
        Pane::State if row > 0 => inspect.variables.top + row - 1,
        Pane::Findings => inspect.findings.top + row,
        _ => return,
    };
    inspect.go(Move::To(target), place, &app.looks.theme);
    if pane == Pane::Findings {
        inspect.show_finding();
    }
}

/// The pane of the evidence screen under the mouse gets the keys.
fn focus_evidence(app: &mut App, at: Position) -> Option<Rect> {
    let area = app.area();
    let Some(Screen::Record(inspect)) = app.screens.front_mut().filter(|top| top.kind() == ScreenKind::Evidence) else {
        return None;
    };
    let evidence = inspect.evidence.as_mut()?;
    let place = |pane| answer::layout::evidence_area(area, inspect.maximised, evidence.pane, pane);
    let pane = evidence::Pane::ALL.into_iter().find(|pane| place(*pane).contains(at))?;
    let place = place(pane);
    evidence.pane = pane;
    Some(place)
}

fn click_evidence(app: &mut App, at: Position) {
    let Some(place) = focus_evidence(app, at) else { return };
    let row = usize::from(at.y.saturating_sub(place.y + 1));
    let Some(evidence) = app.screens.inspect().and_then(|inspect| inspect.evidence.as_ref()) else { return };
    let row = match evidence.pane {
        evidence::Pane::Items => evidence.items.top + row,
        evidence::Pane::Checks => evidence.checks.top + row,
        _ => return,
    };
    app.go(Move::To(row));
}
