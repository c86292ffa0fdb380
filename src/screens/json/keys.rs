//! The keys and clicks of the JSON.

use ratatui::layout::{Position, Rect};

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::screens::json::draw::{raw_lines, raw_tops};
use crate::screens::run::state::Inspect;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_width, json_height, parts};
use crate::widgets::list::Move;

pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    let Inspect { opened, outline, .. } = app.screens.inspect_mut()?;
    let root = opened.root();
    match (action, root) {
        (Action::Left, Some(root)) => outline.left(root),
        (Action::Right, Some(root)) => outline.right(root),
        (Action::Fold, Some(root)) => outline.fold(root, None),
        (Action::FoldAll | Action::UnfoldAll, Some(root)) => outline.fold_all(root, action == Action::FoldAll),
        (Action::Left | Action::Right | Action::Fold | Action::FoldAll | Action::UnfoldAll, None) => {}
        _ => return None,
    }
    Some(Vec::new())
}

pub(crate) fn go(app: &mut App, movement: Move) {
    let area = app.area();
    if let Some(inspect) = app.screens.inspect_mut() {
        let (len, height) = rows(inspect, area);
        inspect.outline.list.go(movement, len, height);
    }
}

/// Brings the cursor where the mouse is; where it is already, folds.
pub(crate) fn click(app: &mut App, at: Position, body: Rect) -> Effects {
    let row = usize::from((at.y - body.y).saturating_sub(1));
    let Some(inspect) = app.screens.inspect_mut() else { return Vec::new() };
    let row = inspect.outline.list.top + row;
    let again = row == inspect.outline.list.at;
    inspect.outline.list.at = row.min(inspect.outline.len().saturating_sub(1));
    if again { app.act(Action::Fold) } else { Vec::new() }
}

/// How many rows the cursor of the JSON can be on, and how many are on screen. Where there is no JSON, the first line
/// on screen is the cursor.
pub(crate) fn rows(inspect: &mut Inspect, area: Rect) -> (usize, usize) {
    if inspect.outline.is_empty() {
        let body = parts(area).body;
        let lines = inspect.raw_lines(inner_width(body), raw_lines);
        return (raw_tops(inspect, lines, body), 1);
    }
    (inspect.outline.len(), json_height(area))
}
