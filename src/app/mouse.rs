//! What the mouse does: it moves cursors, and a second click opens.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::screens::answer;
use crate::screens::answer::state as evidence;
use crate::screens::kind::ScreenKind;
use crate::screens::run;
use crate::screens::run::state::Pane;
use crate::screens::stack::Screen;
use crate::screens::table;
use crate::widgets::keymap::Action;
use crate::widgets::layout;
use crate::widgets::list::Move;

impl App {
    pub(crate) fn mouse(&mut self, event: MouseEvent) -> Effects {
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollDown => self.wheel(at, 3),
            MouseEventKind::ScrollUp => self.wheel(at, -3),
            MouseEventKind::Down(MouseButton::Left) => return self.click(at),
            _ => {}
        }
        Vec::new()
    }

    pub(crate) fn wheel(&mut self, at: Position, rows: isize) {
        if self.dialog.is_some() {
            self.scroll_dialog(rows);
            return;
        }
        if self.desk_go(Move::By(rows)) {
            return;
        }
        if self.screens.top() == ScreenKind::Run
            && let Some(pane) = self.pane_under(at)
            && let Some(inspect) = self.screens.inspect_mut()
        {
            inspect.focus(pane);
        }
        self.focus_evidence(at);
        self.click_rerun(at);
        // The wheel moves by rows, whatever count was typed.
        self.go(Move::By(rows));
    }

    pub(crate) fn pane_under(&self, at: Position) -> Option<Pane> {
        let inspect = self.screens.inspect()?;
        Pane::ALL.into_iter().find(|pane| run::layout::pane_area(self.area(), inspect, *pane).contains(at))
    }

    pub(crate) fn click(&mut self, at: Position) -> Effects {
        self.status = None;
        if let Some(dialog) = &self.dialog {
            // A slip of the hand drops no text and no call.
            return if dialog.is_held() { Vec::new() } else { self.close() };
        }
        let body = layout::parts(self.area()).body;
        if !body.contains(at) {
            return Vec::new();
        }
        match self.screens.top() {
            ScreenKind::Table => self.click_table(at, body),
            ScreenKind::Run => {
                self.click_run(at);
                Vec::new()
            }
            ScreenKind::Evidence => {
                self.click_evidence(at);
                Vec::new()
            }
            ScreenKind::Rerun => {
                self.click_rerun(at);
                Vec::new()
            }
            ScreenKind::Matrix | ScreenKind::Versus | ScreenKind::Boards | ScreenKind::Disputes => self.click_desk(at),
            ScreenKind::Json => {
                let row = usize::from((at.y - body.y).saturating_sub(1));
                if let Some(inspect) = self.screens.inspect_mut() {
                    let row = inspect.outline.list.top + row;
                    let again = row == inspect.outline.list.at;
                    inspect.outline.list.at = row.min(inspect.outline.len().saturating_sub(1));
                    if again {
                        return self.act(Action::Fold);
                    }
                }
                Vec::new()
            }
        }
    }

    pub(crate) fn click_table(&mut self, at: Position, body: Rect) -> Effects {
        if at.y == body.y {
            if let Some(sort) = table::draw::sort_at(self, body, at.x) {
                self.table.descending = sort == self.table.sort && !self.table.descending;
                self.table.sort = sort;
                self.arrange();
            }
            return Vec::new();
        }
        let row = self.table.list.top + usize::from(at.y - body.y - 1);
        if row >= self.rows() {
            return Vec::new();
        }
        if row == self.table.list.at {
            return self.act(Action::Open);
        }
        self.table.list.at = row;
        Vec::new()
    }

    pub(crate) fn click_run(&mut self, at: Position) {
        let Some(pane) = self.pane_under(at) else { return };
        let area = self.area();
        let Some(inspect) = self.screens.inspect_mut() else { return };
        let place = run::layout::pane_area(area, inspect, pane);
        inspect.focus(pane);
        let row = usize::from(at.y.saturating_sub(place.y + 1));
        let target = match pane {
            Pane::Steps => inspect.steps.top + row,
            Pane::State if row > 0 => inspect.variables.top + row - 1,
            Pane::Findings => inspect.findings.top + row,
            _ => return,
        };
        inspect.go(Move::To(target), place, &self.looks.theme);
        if pane == Pane::Findings {
            inspect.show_finding();
        }
    }

    /// The pane of the evidence screen under the mouse gets the keys.
    pub(crate) fn focus_evidence(&mut self, at: Position) -> Option<Rect> {
        let area = self.area();
        let Some(Screen::Record(inspect)) = self.screens.front_mut().filter(|top| top.kind() == ScreenKind::Evidence)
        else {
            return None;
        };
        let evidence = inspect.evidence.as_mut()?;
        let place = |pane| answer::layout::evidence_area(area, inspect.maximised, evidence.pane, pane);
        let pane = evidence::Pane::ALL.into_iter().find(|pane| place(*pane).contains(at))?;
        let place = place(pane);
        evidence.pane = pane;
        Some(place)
    }

    pub(crate) fn click_evidence(&mut self, at: Position) {
        let Some(place) = self.focus_evidence(at) else { return };
        let row = usize::from(at.y.saturating_sub(place.y + 1));
        let Some(evidence) = self.screens.inspect().and_then(|inspect| inspect.evidence.as_ref()) else { return };
        let row = match evidence.pane {
            evidence::Pane::Items => evidence.items.top + row,
            evidence::Pane::Checks => evidence.checks.top + row,
            _ => return,
        };
        self.go(Move::To(row));
    }
}
