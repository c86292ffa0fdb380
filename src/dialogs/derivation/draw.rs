//! Derivation of a computed value, as a tree in a window.

use ratatui::layout::Rect;

use crate::dialogs::derivation::{Branch, Departure, Origin, Tree};
use crate::widgets::look::{Look, Spans};
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around};

pub(crate) fn window<'a>(tree: &'a Tree, area: Rect, look: Look<'a>) -> Window<'a> {
    let title = vec![
        look.span(tree.title.as_str(), Role::Title),
        look.keyed("  <open> goes there, <escape> closes", Role::Faint),
    ];
    let badge = format!("{}  ", tree.badge.label());
    let held = vec![look.span(badge, Role::Dim), look.span(tree.held.as_str(), Role::Text)];
    let head = vec![held, Vec::new()];
    let rows = tree.rows();
    let place = around(rows.len() + head.len(), area, 110);
    let window = Window::new(place, title, rows.len(), move |n| {
        let Some(branch) = rows.get(n) else { return Vec::new() };
        let fold = match (branch.folded, branch.below) {
            (true, _) => "▸ ",
            (false, 0) => "",
            (false, _) => "▾ ",
        };
        row(branch, fold, look)
    });
    Window { head, has_cursor: true, ..window }
}

/// Lays out a row: its place in the tree, the sign of its fold, its value, and what was recorded instead.
pub(crate) fn row(branch: &Branch, fold: &'static str, look: Look<'_>) -> Spans {
    let role = match branch.origin {
        Origin::Written { .. } => Role::Text,
        Origin::Quantity(_) => Role::Cited,
    };
    let mut spans = vec![
        look.span(branch.joint.as_str(), Role::Faint),
        look.span(fold, Role::Faint),
        look.span(branch.text.as_str(), role),
    ];
    if let Some(recorded) = &branch.recorded {
        let role = match recorded.departure {
            Departure::Form | Departure::Unevaluated => Role::Dim,
            Departure::Follows => Role::Warning,
            Departure::Leaves => Role::Fatal,
        };
        spans.push(look.span(format!("  {}", recorded.words()), role));
    }
    spans
}
