//! Two records side by side: in columns where there is room, else one below the other.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::screens::side_by_side::state::{SideBySide, SideRow};
use crate::screens::stack::Screens;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{WIDE, inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Piece, Spans, pane};
use crate::widgets::prose::{fit, pad};
use crate::widgets::theme::Role;
use crate::widgets::{layout, prose};
use stepscope_base::text::Shown;
use stepscope_compare::difference::Change;

/// A value takes at most so many lines.
const MAX_LINES: usize = 400;
/// Width of the column of names next to both sides.
const NAME: usize = 22;

/// Counts all lines, and those on screen.
pub(crate) fn size(screens: &Screens, area: Rect) -> (usize, usize) {
    let body = layout::parts(area).body;
    let lines = screens.side_by_side().map_or(0, |sides| lines(sides, inner_width(body)).len());
    (lines, inner_height(body))
}

pub(crate) fn draw(screens: &Screens, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let Some(sides) = screens.side_by_side() else { return };
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
            SideRow::Sides { name, change, a, b, marks } => {
                let plain = [role_of(*change); 2];
                let is_outcome = row.is_outcome();
                let roles = if is_outcome { sides.outcomes.map(|role| role.unwrap_or(plain[0])) } else { plain };
                let side = |n: usize, text| SideText {
                    text,
                    role: roles.get(n).copied().unwrap_or(Role::Text),
                    // The colour of an outcome says more than that it is another one.
                    marks: marks.get(n).filter(|_| !is_outcome).map(Vec::as_slice).unwrap_or_default(),
                };
                let both = [side(0, a.as_ref()), side(1, b.as_ref())];
                let lay_out = if wide { columns } else { stacked };
                lines.extend(lay_out(name, *change, both, width));
            }
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

/// Value of one of the two.
#[derive(Clone, Copy)]
struct SideText<'s> {
    text: Option<&'s Shown>,
    role: Role,
    /// Parts in which it differs from the other, in bytes.
    marks: &'s [Range<usize>],
}

impl SideText<'_> {
    /// Wraps the value in a width; what differs is in the colour of changes.
    fn lines(self, width: usize) -> Vec<Vec<Piece>> {
        let text = self.text.map_or("", Shown::as_str);
        let ranges = prose::wrap_up_to(text, width, MAX_LINES);
        ranges.into_iter().map(|line| self.pieces(text, &line)).collect()
    }

    fn pieces(self, text: &str, line: &Range<usize>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = line.start;
        let mut push = |range: Range<usize>, role| {
            pieces.extend(text.get(range).filter(|part| !part.is_empty()).map(|part| (part.to_owned(), role)));
        };
        for mark in self.marks.iter().filter(|mark| mark.start < line.end && mark.end > line.start) {
            let mark = mark.start.max(at)..mark.end.min(line.end);
            push(at..mark.start, self.role);
            push(mark.clone(), Role::Changed);
            at = mark.end.max(at);
        }
        push(at..line.end, self.role);
        pieces
    }
}

/// Fills a line with blanks up to a width.
fn filled(mut line: Vec<Piece>, width: usize) -> Vec<Piece> {
    let taken: usize = line.iter().map(|(text, _)| text.width()).sum();
    line.push((" ".repeat(width.saturating_sub(taken)), Role::Text));
    line
}

fn columns(name: &Shown, change: Change, sides: [SideText<'_>; 2], width: usize) -> Vec<Vec<Piece>> {
    // Long texts without a name take its place too.
    let name_width = if name.as_str().is_empty() { 0 } else { NAME };
    let side = width.saturating_sub(name_width + 2 + 6) / 2;
    let (mark, role) = sign(change);
    let names = if name_width == 0 { Vec::new() } else { wrapped(name, NAME) };
    let [a, b] = sides.map(|text| text.text.map(|_| text.lines(side)).unwrap_or_default());
    let cell = |lines: &[Vec<Piece>], n: usize| match lines.get(n) {
        Some(line) => filled(line.clone(), side),
        None if n == 0 && lines.is_empty() => vec![(pad("—", side), Role::Faint)],
        None => filled(Vec::new(), side),
    };
    (0..names.len().max(a.len()).max(b.len()).max(1))
        .map(|n| {
            let mark = if n == 0 { format!("{mark} ") } else { "  ".to_owned() };
            let name = pad(names.get(n).map_or("", String::as_str), name_width);
            let gap = || vec![(" │ ".to_owned(), Role::Faint)];
            [vec![(mark, role), (name, Role::Key)], gap(), cell(&a, n), gap(), cell(&b, n)].concat()
        })
        .collect()
}

fn stacked(name: &Shown, change: Change, sides: [SideText<'_>; 2], width: usize) -> Vec<Vec<Piece>> {
    let (mark, role) = sign(change);
    let mut lines = Vec::new();
    let short =
        |text: &Shown| text.as_str().width() + 4 < width.saturating_sub(NAME + 4) / 2 && !text.as_str().contains('\n');
    let head = |name: &Shown| vec![(format!("{mark} "), role), (pad(name.as_str(), NAME), Role::Key)];
    let nothing = || vec![vec![("—".to_owned(), Role::Faint)]];
    // What fits goes on one line.
    if name.as_str().width() <= NAME && sides.iter().all(|side| side.text.is_none_or(short)) {
        let mut line = head(name);
        let room = width.saturating_sub(NAME + 8) / 2;
        for (letter, side) in ["A", "B"].into_iter().zip(sides) {
            line.push((format!(" {letter} "), Role::Faint));
            let text = if side.text.is_some() { side.lines(room) } else { nothing() };
            line.extend(filled(text.into_iter().next().unwrap_or_default(), room));
        }
        return vec![line];
    }
    if !name.as_str().is_empty() {
        lines.push(vec![(format!("{mark} "), role), (name.as_str().to_owned(), Role::Key)]);
    }
    for (letter, side) in ["A", "B"].into_iter().zip(sides) {
        let text = if side.text.is_some() { side.lines(width.saturating_sub(6)) } else { nothing() };
        for (n, line) in text.into_iter().enumerate() {
            let letter = if n == 0 { letter } else { " " };
            lines.push([vec![(format!("    {letter} "), Role::Faint)], line].concat());
        }
    }
    lines
}

/// Tells how many unchanged rows are hidden.
pub(crate) fn describe(screens: &Screens, look: Look<'_>) -> Spans {
    let Some(sides) = screens.side_by_side() else { return Vec::new() };
    let hidden = sides.rows.len() - sides.shown().count();
    let text = match (sides.all, hidden) {
        (true, _) => look.keymap.keyed("all shown; <difference> hides unchanged"),
        (false, 0) => "nothing hidden".to_owned(),
        (false, n) => format!("{n} unchanged hidden ({})", look.keymap.key_of(Action::Difference)),
    };
    vec![look.span(text, Role::Dim)]
}
