//! The document's table of contents, in a window.

use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::widgets::look::Look;
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around};
use stepscope_base::text::Shown;
use stepscope_evidence::document::Document;

pub(crate) fn window<'a>(document: &'a Document, area: Rect, look: Look<'a>) -> Window<'a> {
    let title =
        vec![look.span("Contents", Role::Title), look.keyed("  <open> goes there, <escape> closes", Role::Faint)];
    let toc = document.toc();
    let window = Window::new(around(toc.len(), area, 90), title, toc.len(), move |n| {
        let Some(heading) = toc.get(n) else { return Vec::new() };
        let page = heading.pages.0.map(|page| page.to_string()).unwrap_or_default();
        let indent = heading.level.saturating_sub(1).min(8) as usize * 2;
        vec![
            look.span(format!("{page:>5}  "), Role::Faint),
            Span::raw(" ".repeat(indent)),
            look.span(Shown::line(&heading.title).into_string(), Role::Text),
        ]
    });
    Window { has_cursor: true, ..window }
}
