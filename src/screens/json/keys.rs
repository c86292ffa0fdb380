//! The keys and clicks of the JSON.

use ratatui::layout::{Position, Rect};
use stepscope_base::text::Shown;

use crate::app::msg::Effects;
use crate::app::status_line::StatusLine;
use crate::screens::json::draw::{raw_lines, raw_tops};
use crate::screens::run::state::RecordView;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason};
use crate::widgets::layout::{body_height, inner_width, parts};
use crate::widgets::list::Move;

/// Checks an action that the screen knows; `None`: another one.
pub(crate) const fn allowed(action: Action) -> Option<Result<(), Reason>> {
    use Action as A;
    Some(match action {
        A::Open => Err("use <fold> to fold"),
        A::Fold | A::FoldAll | A::UnfoldAll | A::NextSibling | A::PreviousSibling => Ok(()),
        _ => return None,
    })
}

pub(crate) fn act(screens: &mut Screens, status: &mut StatusLine, action: Action) -> Option<Effects> {
    let RecordView { opened, outline, .. } = screens.record_mut()?;
    let root = opened.root();
    match (action, root) {
        (Action::Left, Some(root)) => outline.left(root),
        (Action::Right, Some(root)) => outline.right(root),
        (Action::Fold, Some(root)) => outline.fold(root, None),
        (Action::FoldAll | Action::UnfoldAll, Some(root)) => outline.fold_all(root, action == Action::FoldAll),
        (Action::NextSibling | Action::PreviousSibling, Some(_)) => {
            let by = if action == Action::NextSibling { 1 } else { -1 };
            let Some(row) = outline.sibling(by) else {
                // The end of a list is no refusal.
                let end = if by > 0 { "this is the last value here" } else { "this is the first value here" };
                return Some(status.say(Shown::own(end)));
            };
            outline.list.at = row;
        }
        (Action::Left | Action::Right | Action::Fold | Action::FoldAll | Action::UnfoldAll, None) => {}
        _ => return None,
    }
    Some(Vec::new())
}

/// Moves the cursor, and keeps it on screen.
pub(crate) fn go(area: Rect, screens: &mut Screens, movement: Move) {
    if let Some(view) = screens.record_mut() {
        let (len, height) = rows(view, area);
        view.outline.list.go(movement, len, height);
    }
}

/// Brings the cursor where the mouse is; where it is already, folds.
pub(crate) fn click(screens: &mut Screens, at: Position, body: Rect) -> Option<Action> {
    let row = usize::from((at.y - body.y).saturating_sub(1));
    let outline = &mut screens.record_mut()?.outline;
    let row = outline.list.top + row;
    let again = row == outline.list.at;
    outline.list.at = row.min(outline.len().saturating_sub(1));
    again.then_some(Action::Fold)
}

/// Counts the rows that the cursor of the JSON can be on, and those on screen. Where there is no JSON, the first line
/// on screen is the cursor.
fn rows(view: &mut RecordView, area: Rect) -> (usize, usize) {
    if view.outline.is_empty() {
        let body = parts(area).body;
        let lines = view.raw_lines(inner_width(body), raw_lines);
        return (raw_tops(view, lines, body), 1);
    }
    (view.outline.len(), body_height(area))
}
