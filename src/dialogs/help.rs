//! The help: what the glyphs on this screen mean, then every key, made from the table of keys.

use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::app::state::App;
use crate::screens::kind::ScreenKind;
use crate::screens::run::variables::LEGEND;
use crate::widgets::keymap::{Context, Keymap};
use crate::widgets::look::Look;
use crate::widgets::prose::pad;
use crate::widgets::sign::{self, Meaning};
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
    let mut lines = vec![heading("Symbols on this screen")];
    let sets = legend(app);
    lines.extend(sets.into_iter().flatten().map(|(glyph, help)| row(glyph, help)));
    lines.push(Vec::new());
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
    lines.push(heading("Filter"));
    lines.extend(FIELDS.iter().map(|(field, help)| row(field, help)));
    lines.push(row("-term", "-x excludes · space = and · a,b = or"));
    lines
}

/// The sets of glyphs that the screen below the help uses.
fn legend(app: &App) -> Vec<&'static [Meaning]> {
    let mut sets: Vec<&'static [Meaning]> = match app.screen() {
        ScreenKind::Table => vec![&sign::OUTCOMES, &sign::SEVERITIES, &sign::TABLE],
        ScreenKind::Run => vec![&LEGEND, &sign::OUTCOMES, &sign::SEVERITIES, &REASONS],
        ScreenKind::Answer => vec![&sign::CITATIONS, &sign::SEVERITIES, &CITED],
        ScreenKind::Json => vec![&sign::SEVERITIES],
        ScreenKind::Rerun => vec![&sign::VALIDITY, &sign::OUTCOMES, &DIFFERENCES],
        ScreenKind::Compare => vec![&CELLS],
        ScreenKind::SideBySide => vec![&DIFFERENCES, &sign::OUTCOMES, &sign::SEVERITIES],
        ScreenKind::Dashboard => vec![],
        ScreenKind::Insights => vec![&CHARTS],
        ScreenKind::Adjudication => vec![&sign::OUTCOMES],
    };
    if app.review.is_begun() || app.screen() == ScreenKind::Adjudication {
        sets.push(&sign::VERDICTS);
    }
    sets
}

const REASONS: [Meaning; 1] = [(sign::REASON, "reason for the place to fix, strongest first")];

const CITED: [Meaning; 5] = [
    ("▌", "line cited by an item (its letter follows)"),
    ("»", "line where the quote is found"),
    ("A B C", "items of the answer"),
    ("▒", "page strip below the document: page retrieved, not cited"),
    ("·", "page strip: page not retrieved"),
];

const CELLS: [Meaning; 5] = [
    (sign::CORRECT, "both correct"),
    ("◧", "only A correct"),
    ("◨", "only B correct"),
    (sign::WRONG, "both wrong"),
    (sign::FAILED, "missing or failed"),
];

const CHARTS: [Meaning; 5] = [
    ("█", "bar: its share of the whole"),
    ("░▒▓", "heat map: few to many"),
    ("●", "accuracy of the records in a bin"),
    ("┼", "their mean confidence"),
    ("·", "none"),
];

const DIFFERENCES: [Meaning; 4] =
    [("=", "same in both"), ("≠", "differs"), ("+", "only in the new one"), ("−", "only in the recorded one")];
