//! How a computed value comes about, as a tree in a window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::{Clear, Widget};

use crate::dialogs::derivation::{Branch, Origin, Tree};
use crate::widgets::layout::{inner_height, window};
use crate::widgets::look::{Look, frame, put, scroll_mark, wash};
use crate::widgets::theme::Role;

/// The recorded value, and a blank line.
const HEAD: usize = 2;

/// Where the window is: as high as the tree, at most the screen.
pub(crate) fn place(tree: &Tree, area: Rect) -> Rect {
    let width = area.width.saturating_sub(4).clamp(20.min(area.width), 110);
    let lines = u16::try_from(tree.rows().len() + HEAD).unwrap_or(u16::MAX);
    window(area, width, lines.saturating_add(2).clamp(3, area.height.saturating_sub(2).max(3)))
}

/// How many rows of the tree the window holds.
pub(crate) fn height(tree: &Tree, area: Rect) -> usize {
    inner_height(place(tree, area)).saturating_sub(HEAD)
}

pub(crate) fn draw(tree: &Tree, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(tree, area);
    Clear.render(place, buf);
    let title =
        vec![look.span(tree.title.as_str(), Role::Title), look.span("  Enter goes there, Esc closes", Role::Faint)];
    let inner = frame(title, place, buf, look);
    put(vec![look.span("recorded  ", Role::Dim), look.span(tree.recorded.as_str(), Role::Text)], 0, inner, buf);
    let rows = tree.rows();
    let visible = tree.list.visible(rows.len(), height(tree, area));
    for (n, branch) in rows.iter().enumerate().take(visible.end).skip(visible.start) {
        let row = n - visible.start + HEAD;
        put(spans(branch, look), row, inner, buf);
        if n == tree.list.at {
            wash(row, inner, buf, look.selection());
        }
    }
    scroll_mark(place, tree.list.top, rows.len() + HEAD, buf, look);
}

fn spans(branch: &Branch, look: Look<'_>) -> Vec<Span<'static>> {
    let fold = match (branch.folded, branch.below) {
        (true, _) => "▸ ",
        (false, 0) => "",
        (false, _) => "▾ ",
    };
    let role = match branch.origin {
        Origin::Written { .. } => Role::Text,
        Origin::Quantity(_) => Role::Cited,
    };
    vec![
        look.span(branch.joint.as_str(), Role::Faint),
        look.span(fold, Role::Faint),
        look.span(branch.text.as_str(), role),
    ]
}
