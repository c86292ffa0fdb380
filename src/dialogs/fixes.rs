//! What can be done about a procedure, in a window: the fixes that need no model, and last a model.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use crate::screens::side_by_side::making::Fixes;
use crate::widgets::layout::{inner_height, inner_width, window};
use crate::widgets::list::List;
use crate::widgets::look::{Look, frame, put, scroll_mark, wash};
use crate::widgets::prose::{fit, pad, wrap_up_to};
use crate::widgets::theme::Role;
use stepscope_base::text::Shown;

/// Names of files take so many lines at most.
const MAX_FILES: usize = 4;

/// Where the window is, and below the fixes the names of the files whose lines a model would be sent.
fn place(fixes: &Fixes, area: Rect) -> (Rect, Vec<String>) {
    let width = area.width.saturating_sub(4).clamp(20.min(area.width), 100);
    let names = fixes.files.iter().map(Shown::as_str).collect::<Vec<_>>().join(", ");
    let names = if names.is_empty() { names } else { format!("files sent to a model: {names}") };
    let lines = wrap_up_to(&names, inner_width(Rect { width, ..area }), MAX_FILES);
    let lines: Vec<String> = lines
        .into_iter()
        .filter_map(|range| Some(names.get(range)?.to_owned()))
        .filter(|line| !line.is_empty())
        .collect();
    let rows = u16::try_from(fixes.rows() + lines.len()).unwrap_or(u16::MAX);
    (window(area, width, rows.saturating_add(2).clamp(3, area.height.saturating_sub(2).max(3))), lines)
}

/// How many fixes the window holds.
pub(crate) fn height(fixes: &Fixes, area: Rect) -> usize {
    let (place, files) = place(fixes, area);
    inner_height(place).saturating_sub(files.len()).max(1)
}

pub(crate) fn draw(fixes: &Fixes, list: List, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let (place, files) = place(fixes, area);
    Clear.render(place, buf);
    let title = vec![
        look.span("Repair", Role::Title),
        look.span(format!("  {} diagnostics   ", fixes.diagnostics), Role::Warning),
        look.span("Enter: see what changes, or ask", Role::Faint),
    ];
    let inner = frame(title, place, buf, look);
    let room = usize::from(inner.width).saturating_sub(9);
    let tall = usize::from(inner.height).saturating_sub(files.len()).max(1);
    for (row, n) in list.visible(fixes.rows(), tall).enumerate() {
        let line = match fixes.list.get(n) {
            Some(fix) => vec![
                look.span(pad(&fit(fix.title.as_str(), room), room), Role::Text),
                look.span(
                    format!(" {} → {}", fix.before, fix.after),
                    if fix.after == 0 { Role::Ok } else { Role::Warning },
                ),
            ],
            None => vec![look.span(fit(fixes.model.as_str(), room + 9), Role::Accent)],
        };
        put(line, row, inner, buf);
        if n == list.at {
            wash(row, inner, buf, look.selection());
        }
    }
    for (row, line) in files.into_iter().enumerate().filter(|(row, _)| tall + row < usize::from(inner.height)) {
        put(vec![look.span(line, Role::Faint)], tall + row, inner, buf);
    }
    scroll_mark(place, list.top, fixes.rows(), buf, look);
}
