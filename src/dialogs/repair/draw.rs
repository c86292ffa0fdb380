//! A repair by a model as it goes: what came of each call, and the reply as it comes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use crate::widgets::layout::{inner_width, parts, window};
use crate::widgets::look::{Look, frame, put};
use crate::widgets::prose::wrap;
use crate::widgets::theme::Role;
use stepscope_base::text::Shown;
use stepscope_core::procedure::repair::model::ModelRepair;

/// Of a long reply the end is shown.
const TAIL: usize = 16 << 10;

pub(crate) fn draw(repair: &ModelRepair, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let body = parts(area).body;
    let place = window(body, body.width.saturating_sub(4).min(110), body.height.saturating_sub(2).max(3));
    Clear.render(place, buf);
    let keys = match (repair.is_over, repair.is_changed) {
        (false, _) => "  Esc breaks it off",
        (true, true) => "  Enter shows what changed, Esc drops it",
        (true, false) => "  Esc closes",
    };
    let title = vec![
        look.span("Repair by ", Role::Title),
        look.span(repair.server.as_str(), Role::Title),
        look.span(keys, Role::Faint),
    ];
    let inner = frame(title, place, buf, look);
    let (before, after) = repair.diagnostics;
    let mut lines =
        vec![(format!("diagnostics {before} → {after}"), if after == 0 { Role::Ok } else { Role::Warning })];
    lines.extend(repair.outcomes.iter().map(|said| (said.as_str().to_owned(), Role::Text)));
    if !repair.is_over {
        lines.push((format!("{} bytes so far", repair.received.content.len()), Role::Current));
    }
    lines.push((String::new(), Role::Text));
    let room = usize::from(inner.height).saturating_sub(lines.len());
    let content = &repair.received.content;
    let tail = content.get(content.len().saturating_sub(TAIL)..).unwrap_or_default();
    let text = Shown::prose(tail);
    let wrapped = wrap(text.as_str(), inner_width(place));
    let from = wrapped.len().saturating_sub(room);
    let reply = wrapped.into_iter().skip(from).map(|range| text.as_str().get(range).unwrap_or_default().to_owned());
    lines.extend(reply.map(|line| (line, Role::Dim)));
    for (row, (line, role)) in lines.into_iter().take(usize::from(inner.height)).enumerate() {
        put(vec![look.span(line, role)], row, inner, buf);
    }
}
