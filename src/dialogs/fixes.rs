//! Fixes of a procedure, in a window: those that need no model, and last a model.

pub(crate) mod keys;

use ratatui::layout::Rect;

use crate::screens::side_by_side::making::Fixes;
use crate::widgets::look::Look;
use crate::widgets::prose::{fit, pad, wrapped};
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around, width};
use stepscope_base::text::Shown;
use stepscope_record::finding::counted;

const WIDTH: u16 = 100;
/// Largest number of lines for the names of files.
const MAX_FILES: usize = 4;

/// Builds the window; below the fixes are the names of the files whose lines a model would be sent.
pub(crate) fn window<'a>(fixes: &'a Fixes, area: Rect, look: Look<'a>) -> Window<'a> {
    let inner = usize::from(width(area, WIDTH).saturating_sub(4));
    let names = fixes.files.iter().map(Shown::as_str).collect::<Vec<_>>().join(", ");
    let names =
        if names.is_empty() { names } else { format!("sent to the model: the procedure; nothing else of {names}") };
    let files = wrapped(&names, inner, MAX_FILES).filter(|line| !line.is_empty());
    let files: Vec<_> = files.map(|line| vec![look.span(line, Role::Faint)]).collect();
    let title = vec![
        look.span("Repair", Role::Title),
        look.span(format!("  {}   ", counted(fixes.diagnostics, "error")), Role::Warning),
        look.keyed(if fixes.list.is_empty() { "No automatic fix" } else { "<open> previews the fix" }, Role::Faint),
    ];
    let room = inner.saturating_sub(9);
    let line = move |n: usize| match fixes.list.get(n) {
        Some(fix) => vec![
            look.span(pad(&fit(fix.title.as_str(), room), room), Role::Text),
            look.span(
                format!(" {} → {}", fix.before, fix.after),
                if fix.after == 0 { Role::Ok } else { Role::Warning },
            ),
        ],
        None => vec![look.span(fit(fixes.model.as_str(), room + 9), Role::Accent)],
    };
    let place = around(fixes.rows() + files.len(), area, WIDTH);
    Window { foot: files, has_cursor: true, ..Window::new(place, title, fixes.rows(), line) }
}
