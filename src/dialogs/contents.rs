//! The document's table of contents, in a window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::{Clear, Widget};

use crate::widgets::layout::{inner_height, window};
use crate::widgets::list::List;
use crate::widgets::look::{Look, frame, put, scroll_mark, wash};
use crate::widgets::theme::Role;
use stepscope_base::text::Shown;
use stepscope_core::answer::document::Document;

pub(crate) fn place(document: &Document, area: Rect) -> Rect {
    let width = area.width.saturating_sub(4).clamp(20.min(area.width), 90);
    let lines = u16::try_from(document.toc().len()).unwrap_or(u16::MAX);
    window(area, width, lines.saturating_add(2).clamp(3, area.height.saturating_sub(2).max(3)))
}

/// How many headings the window holds.
pub(crate) fn height(document: &Document, area: Rect) -> usize {
    inner_height(place(document, area))
}

pub(crate) fn draw(document: &Document, list: List, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(document, area);
    Clear.render(place, buf);
    let title = vec![look.span("Contents", Role::Title), look.span("  Enter goes there, Esc closes", Role::Faint)];
    let inner = frame(title, place, buf, look);
    let toc = document.toc();
    for (row, n) in list.visible(toc.len(), usize::from(inner.height)).enumerate() {
        let Some(heading) = toc.get(n) else { continue };
        let page = heading.pages.0.map(|page| page.to_string()).unwrap_or_default();
        let indent = heading.level.saturating_sub(1).min(8) as usize * 2;
        let line = vec![
            look.span(format!("{page:>5}  "), Role::Faint),
            Span::raw(" ".repeat(indent)),
            look.span(Shown::line(&heading.title).into_string(), Role::Text),
        ];
        put(line, row, inner, buf);
        if n == list.at {
            wash(row, inner, buf, look.selection());
        }
    }
    scroll_mark(place, list.top, toc.len(), buf, look);
}
