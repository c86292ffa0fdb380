//! The help: every key, made from the table of keys, and what the signs mean.

use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::app::state::App;
use crate::screens::run::variables::LEGEND;
use crate::widgets::keymap::{Context, Keymap};
use crate::widgets::look::Look;
use crate::widgets::prose::pad;
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, centred};
use stepscope_core::table::filter::FIELDS;

pub(crate) fn window<'a>(app: &App, area: Rect, look: Look<'a>) -> Window<'a> {
    let title = vec![look.span("Help", Role::Title), look.span("  j k scroll, Esc closes", Role::Faint)];
    let place = centred(area, area.width.saturating_sub(4).min(96), area.height.saturating_sub(2));
    let lines = content(app, look);
    Window::new(place, title, lines.len(), move |n| lines.get(n).cloned().unwrap_or_default())
}

fn content(app: &App, look: Look<'_>) -> Vec<Vec<Span<'static>>> {
    let heading = |text: &'static str| vec![look.span(text, Role::Accent)];
    let row = |name: &str, help: &str| {
        vec![look.span(format!("  {}", pad(name, 14)), Role::HintKey), look.span(help, Role::Text)]
    };
    let mut lines = Vec::new();
    let mut contexts = app.focus_below_dialog().contexts();
    let others = Context::ALL.into_iter().filter(|context| !contexts.contains(context));
    contexts.extend(others.collect::<Vec<_>>());
    for context in contexts {
        lines.push(heading(context.word()));
        for binding in Keymap::rows(context) {
            let names = app.keymap.names(binding);
            // What has no key is called by its name.
            let is_named = binding.keys.is_empty() && names.is_empty();
            let name = if is_named { format!(":{}", binding.action.word()) } else { names.join("  ") };
            lines.push(row(&name, binding.help));
        }
        lines.push(Vec::new());
    }
    lines.push(heading("Lifelines"));
    lines.extend(LEGEND.iter().map(|(sign, help)| row(sign, help)));
    lines.push(Vec::new());
    lines.push(heading("Filter"));
    lines.extend(FIELDS.iter().map(|(field, help)| row(field, help)));
    lines.push(row("-term", "what must not hold; terms side by side must all hold; a,b is either"));
    lines
}
