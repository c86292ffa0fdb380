//! Two records side by side: in columns where there is room, else one below the other.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::app::state::App;
use crate::screens::side_by_side::state::{SideBySide, SideRow};
use crate::widgets::keymap::Action;
use crate::widgets::layout::{WIDE, inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Piece, Spans, pane};
use crate::widgets::prose::{fit, pad};
use crate::widgets::theme::Role;
use crate::widgets::{layout, prose};
use stepscope_base::text::Shown;
use stepscope_core::compare::difference::Change;

/// A value takes at most so many lines.
const MAX_LINES: usize = 400;
/// Width of the column of names next to both sides.
const NAME: usize = 22;

/// Counts all lines, and those on screen.
pub(crate) fn size(app: &App, area: Rect) -> (usize, usize) {
    let body = layout::parts(area).body;
    let lines = app.screens.side_by_side().map_or(0, |sides| lines(sides, inner_width(body)).len());
    (lines, inner_height(body))
}

pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let Some(sides) = app.screens.side_by_side() else { return };
    let [a, b] = &sides.names;
    let title = vec![
        look.span("A ", Role::Accent),
        look.span(fit(a.as_str(), 40), Role::Title),
        look.span("  against  ", Role::Faint),
        look.span("B ", Role::Accent),
        look.span(fit(b.as_str(), 40), Role::Title),
    ];
    let lines = lines(sides, inner_width(area));
    let rows = Rows { top: sides.top, len: lines.len(), at: None };
    pane(title, rows, |n| look.spans(lines.get(n).map(Vec::as_slice).unwrap_or_default()), area, buf, look);
}

/// Lays out everything in a width.
pub(crate) fn lines(sides: &SideBySide, width: usize) -> Vec<Vec<Piece>> {
    let wide = width >= usize::from(WIDE) - 4;
    let mut lines = Vec::new();
    for row in sides.shown() {
        match row {
            SideRow::Heading(text) => {
                lines.push(Vec::new());
                let rule = "─".repeat(width.saturating_sub(text.as_str().width() + 1));
                lines.push(vec![(format!("{text} "), Role::Title), (rule, Role::Faint)]);
            }
            SideRow::Sentence(text) => {
                lines.extend(wrapped(text, width).into_iter().map(|line| vec![(line, Role::Dim)]));
            }
            SideRow::Line(change, text) => {
                let (sign, role) = match change {
                    Change::OnlyA => ("- ", Role::Removed),
                    Change::OnlyB => ("+ ", Role::Added),
                    _ => ("  ", Role::Dim),
                };
                let wrapped = wrapped(text, width.saturating_sub(2)).into_iter();
                lines.extend(wrapped.map(|line| vec![(sign.to_owned(), role), (line, role)]));
            }
            SideRow::Sides { name, change, a, b } if wide => lines.extend(columns(name, *change, [a, b], width)),
            SideRow::Sides { name, change, a, b } => lines.extend(stacked(name, *change, [a, b], width)),
        }
    }
    lines
}

fn wrapped(text: &Shown, width: usize) -> Vec<String> {
    prose::wrapped(text.as_str(), width, MAX_LINES).map(ToOwned::to_owned).collect()
}

const fn sign(change: Change) -> (&'static str, Role) {
    match change {
        Change::Same => ("=", Role::Dim),
        Change::Differs => ("≠", Role::Changed),
        Change::OnlyA => ("A", Role::Removed),
        Change::OnlyB => ("B", Role::Added),
    }
}

const fn role_of(change: Change) -> Role {
    match change {
        Change::Same => Role::Dim,
        _ => Role::Text,
    }
}

fn columns(name: &Shown, change: Change, sides: [&Option<Shown>; 2], width: usize) -> Vec<Vec<Piece>> {
    // Long texts without a name take its place too.
    let name_width = if name.as_str().is_empty() { 0 } else { NAME };
    let side = width.saturating_sub(name_width + 2 + 6) / 2;
    let (mark, role) = sign(change);
    let names = if name_width == 0 { Vec::new() } else { wrapped(name, NAME) };
    let [a, b] = sides.map(|text| text.as_ref().map(|text| wrapped(text, side)).unwrap_or_default());
    let cell = |lines: &[String], n: usize| match lines.get(n) {
        Some(line) => (pad(line, side), role_of(change)),
        None if n == 0 && lines.is_empty() => (pad("—", side), Role::Faint),
        None => (pad("", side), Role::Text),
    };
    (0..names.len().max(a.len()).max(b.len()).max(1))
        .map(|n| {
            let mark = if n == 0 { format!("{mark} ") } else { "  ".to_owned() };
            let name = pad(names.get(n).map_or("", String::as_str), name_width);
            let gap = || (" │ ".to_owned(), Role::Faint);
            vec![(mark, role), (name, Role::Key), gap(), cell(&a, n), gap(), cell(&b, n)]
        })
        .collect()
}

fn stacked(name: &Shown, change: Change, sides: [&Option<Shown>; 2], width: usize) -> Vec<Vec<Piece>> {
    let (mark, role) = sign(change);
    let mut lines = Vec::new();
    let short =
        |text: &&Shown| text.as_str().width() + 4 < width.saturating_sub(NAME + 4) / 2 && !text.as_str().contains('\n');
    let head = |name: &Shown| vec![(format!("{mark} "), role), (pad(name.as_str(), NAME), Role::Key)];
    // What fits goes on one line.
    if name.as_str().width() <= NAME && sides.iter().all(|side| side.as_ref().as_ref().is_none_or(short)) {
        let mut line = head(name);
        for (letter, side) in ["A", "B"].into_iter().zip(sides) {
            let text = side.as_ref().map_or("—", Shown::as_str);
            line.push((format!(" {letter} "), Role::Faint));
            line.push((pad(text, width.saturating_sub(NAME + 8) / 2), role_of(change)));
        }
        return vec![line];
    }
    if !name.as_str().is_empty() {
        lines.push(vec![(format!("{mark} "), role), (name.as_str().to_owned(), Role::Key)]);
    }
    for (letter, side) in ["A", "B"].into_iter().zip(sides) {
        let text = side.as_ref().map_or_else(|| vec!["—".to_owned()], |text| wrapped(text, width.saturating_sub(6)));
        for (n, line) in text.into_iter().enumerate() {
            let letter = if n == 0 { letter } else { " " };
            lines.push(vec![(format!("    {letter} "), Role::Faint), (line, role_of(change))]);
        }
    }
    lines
}

/// Tells how many unchanged rows are hidden.
pub(crate) fn describe(app: &App, look: Look<'_>) -> Spans {
    let Some(sides) = app.screens.side_by_side() else { return Vec::new() };
    let hidden = sides.rows.len() - sides.shown().count();
    let text = match (sides.all, hidden) {
        (true, _) => look.keymap.keyed("all shown; <difference> hides unchanged"),
        (false, 0) => "nothing hidden".to_owned(),
        (false, n) => format!("{n} unchanged hidden ({})", look.keymap.key_of(Action::Difference)),
    };
    vec![look.span(text, Role::Dim)]
}
