//! A repair by a model in progress: the outcome of each call, and the reply as it streams.

use ratatui::layout::Rect;

use crate::dialogs::repair::state::Repairing;
use crate::widgets::layout::{inner_height, inner_width, parts};
use crate::widgets::look::Look;
use crate::widgets::prose::wrapped;
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, centred};
use stepscope_base::text::Shown;

/// Number of bytes shown of the end of a long reply.
const TAIL: usize = 16 << 10;

pub(crate) fn window<'a>(repair: &Repairing, area: Rect, look: Look<'a>) -> Window<'a> {
    let body = parts(area).body;
    let place = centred(body, body.width.saturating_sub(4).min(110), body.height.saturating_sub(2).max(3));
    let machine = &repair.machine;
    let keys = match (machine.is_over, machine.is_changed) {
        (false, _) => "  <escape> cancels",
        (true, true) => "  <open> shows changes, <escape> discards",
        (true, false) => "  <escape> closes",
    };
    let title = vec![
        look.span("Repair by ", Role::Title),
        look.span(repair.server.as_str(), Role::Title),
        look.keyed(keys, Role::Faint),
    ];
    let (before, after) = machine.diagnostics;
    let role = if after == 0 { Role::Ok } else { Role::Warning };
    let mut lines = vec![(format!("errors {before} → {after}"), role)];
    lines.extend(machine.outcomes.iter().map(|said| (said.as_str().to_owned(), Role::Text)));
    let content = repair.content();
    if !machine.is_over {
        lines.push((format!("{} bytes so far", content.len()), Role::Current));
    }
    lines.push((String::new(), Role::Text));
    let room = inner_height(place).saturating_sub(lines.len());
    let text = Shown::prose(content.get(content.len().saturating_sub(TAIL)..).unwrap_or_default());
    let reply: Vec<&str> = wrapped(text.as_str(), inner_width(place), usize::MAX).collect();
    let end = reply.iter().skip(reply.len().saturating_sub(room));
    lines.extend(end.map(|line| ((*line).to_owned(), Role::Dim)));
    lines.truncate(inner_height(place));
    Window::new(place, title, lines.len(), move |n| look.spans(lines.get(n..=n).unwrap_or_default()))
}
