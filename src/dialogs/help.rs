//! The help: every key, made from the table of keys, and what the signs mean.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::{Clear, Widget};

use crate::app::state::App;
use crate::screens::run::variables as state;
use crate::widgets::keymap::{Context, Keymap};
use crate::widgets::layout::window;
use crate::widgets::look::{Look, frame, put, scroll_mark};
use crate::widgets::prose::pad;
use crate::widgets::theme::Role;

pub(crate) fn place(area: Rect) -> Rect {
    window(area, area.width.saturating_sub(4).min(96), area.height.saturating_sub(2))
}

/// How many lines it has.
pub(crate) fn lines(app: &App) -> usize {
    content(app).len()
}

enum Item {
    Heading(&'static str),
    Row(String, String),
    Blank,
}

fn content(app: &App) -> Vec<Item> {
    let mut items = Vec::new();
    let mut contexts = app.focus_below_dialog().contexts();
    let others = Context::ALL.into_iter().filter(|context| !contexts.contains(context));
    contexts.extend(others.collect::<Vec<_>>());
    for context in contexts {
        items.push(Item::Heading(context.title()));
        for binding in Keymap::rows(context) {
            let names = app.keymap.names(binding);
            // What has no key is called by its name.
            let names = if binding.keys.is_empty() && names.is_empty() {
                format!(":{}", binding.action.word())
            } else {
                names.join("  ")
            };
            items.push(Item::Row(names, binding.help.to_owned()));
        }
        items.push(Item::Blank);
    }
    items.push(Item::Heading("Lifelines"));
    items.extend(state::LEGEND.iter().map(|(sign, help)| Item::Row((*sign).to_owned(), (*help).to_owned())));
    items.push(Item::Blank);
    items.push(Item::Heading("Filter"));
    for (field, help) in stepscope_core::table::filter::FIELDS {
        items.push(Item::Row((*field).to_owned(), (*help).to_owned()));
    }
    items.push(Item::Row("-term".into(), "what must not hold; terms side by side must all hold; a,b is either".into()));
    items
}

/// Draws the help from a line on.
pub(crate) fn draw(app: &App, top: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(area);
    Clear.render(place, buf);
    let title = vec![look.span("Help", Role::Title), look.span("  j k scroll, Esc closes", Role::Faint)];
    let inner = frame(title, place, buf, look);
    let items = content(app);
    for (row, item) in items.iter().skip(top).take(usize::from(inner.height)).enumerate() {
        let line: Vec<Span<'static>> = match item {
            Item::Heading(text) => vec![look.span(*text, Role::Accent)],
            Item::Row(keys, help) => {
                vec![look.span(format!("  {}", pad(keys, 14)), Role::HintKey), look.span(help.clone(), Role::Text)]
            }
            Item::Blank => Vec::new(),
        };
        put(line, row, inner, buf);
    }
    scroll_mark(place, top, items.len(), buf, look);
}
