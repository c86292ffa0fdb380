//! Drawing helpers of the panes: frames, rows, scroll marks and pieces of text in the colours of the theme.
//!
//! Every pane is drawn from the state by a `draw` that gets what it shows, its place, and `Look`: the theme and whether
//! the pane has the keys. It changes nothing.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Margin, Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use regex::bytes::Regex;

use crate::widgets::borders;
use crate::widgets::keymap::Keymap;
use crate::widgets::layout::rows;
use crate::widgets::list::Rows;
use crate::widgets::prose::{fit, wrap_up_to};
use crate::widgets::sign;
use crate::widgets::theme::{Role, Theme};
use stepscope_base::json::Kind;
use stepscope_base::text::{columns, split_plain};
use stepscope_evidence::citations::Grounding;
use stepscope_judge::route::Route;
use stepscope_record::finding::Severity;
use stepscope_record::state::Badge;

/// A piece of text and its role.
pub(crate) type Piece = (String, Role);

/// The pieces of a line, each with its style.
pub(crate) type Spans = Vec<Span<'static>>;

/// Appearance of a pane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    /// The colours.
    pub theme: &'a Theme,
    /// The keys in force.
    pub keymap: &'a Keymap,
    /// The pane has the keys.
    pub focused: bool,
    /// The pane's number, where several share the screen: typed before Tab it leads there.
    pub number: Option<usize>,
}

impl<'a> Look<'a> {
    /// Makes the look of something without panes.
    pub(crate) const fn new(theme: &'a Theme, keymap: &'a Keymap, focused: bool) -> Self {
        Self { theme, keymap, focused, number: None }
    }
}

impl Look<'_> {
    /// The style of a role.
    pub(crate) fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// A piece of text in a role.
    pub(crate) fn span(&self, text: impl Into<String>, role: Role) -> Span<'static> {
        Span::styled(text.into(), self.style(role))
    }

    /// A text of ours in a role, with the keys in force of the actions that it names: see [`Keymap::keyed`].
    pub(crate) fn keyed(&self, text: &'static str, role: Role) -> Span<'static> {
        self.span(self.keymap.keyed(text), role)
    }

    /// Pieces of text, each in its role.
    pub(crate) fn spans(&self, pieces: &[Piece]) -> Spans {
        pieces.iter().map(|(text, role)| self.span(text.as_str(), *role)).collect()
    }

    /// The row under the cursor.
    pub(crate) fn selection(&self) -> Style {
        self.style(if self.focused { Role::Selection } else { Role::SelectionDim })
    }
}

/// Returns the sign and the colour of a route: what can be used, what is refused, what goes somewhere else first.
pub(crate) const fn route_sign(route: Route) -> (&'static str, Role) {
    match route {
        Route::Ship => (sign::CORRECT, Role::Ok),
        Route::Reject => (sign::WRONG, Role::Fatal),
        Route::Pending => ("…", Role::Warning),
        _ => (sign::ROUTED, Role::Accent),
    }
}

/// Draws a pane's border with its title and gives what is inside, one blank column at both sides.
pub(crate) fn frame(title: Spans, area: Rect, buf: &mut Buffer, look: Look<'_>) -> Rect {
    let border = if look.focused { Role::BorderFocus } else { Role::Border };
    let mut line = vec![look.span(" ", border)];
    line.extend(look.number.map(|number| look.span(format!("{number} "), Role::Faint)));
    line.extend(fit_spans(title, title_room(area, look)));
    line.push(look.span(" ", border));
    borders::draw(area, look, buf);
    let inner = area.inner(Margin::new(1, 1));
    put(line, 0, Rect { y: area.y, height: area.height, ..inner }, buf);
    Rect { x: inner.x.saturating_add(1).min(inner.right()), width: inner.width.saturating_sub(2), ..inner }
}

/// Finds the span of a pane's title that is at a place of the screen.
pub(crate) fn title_span_at(title: &[Span<'_>], area: Rect, look: Look<'_>, at: Position) -> Option<usize> {
    let mut left = usize::from(at.x.checked_sub(area.x + before_title(look)).filter(|_| at.y == area.y)?);
    title.iter().position(|span| {
        let is_it = left < span.width();
        left = left.saturating_sub(span.width());
        is_it
    })
}

/// The columns of a pane's upper border up to the end of its title, with the blank behind it.
pub(crate) fn title_width(title: &[Span<'_>], area: Rect, look: Look<'_>) -> u16 {
    let width = title.iter().map(Span::width).sum::<usize>().min(title_room(area, look));
    before_title(look) + rows(width) + 1
}

const fn before_title(look: Look<'_>) -> u16 {
    if look.number.is_some() { 4 } else { 2 }
}

/// The columns that a pane has for its title.
pub(crate) fn title_room(area: Rect, look: Look<'_>) -> usize {
    usize::from(area.width.saturating_sub(if look.number.is_some() { 7 } else { 5 }))
}

/// The spans that fit into some columns, the last one cut.
pub(crate) fn fit_spans(spans: Spans, width: usize) -> Spans {
    let mut left = width;
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let columns = columns(&span.content);
        if columns <= left {
            left -= columns;
            out.push(span);
        } else {
            out.push(Span::styled(fit(&span.content, left), span.style));
            break;
        }
    }
    out
}

/// Draws a line in a row of an area; what does not fit is cut.
pub(crate) fn put(line: Spans, row: usize, area: Rect, buf: &mut Buffer) {
    let Some(row) = u16::try_from(row).ok().filter(|row| *row < area.height) else { return };
    let place = Rect { y: area.y + row, height: 1, ..area }.intersection(*buf.area());
    if !place.is_empty() {
        let spans = fit_spans(line, usize::from(area.width));
        spans.iter().fold(place.x, |x, span| put_span(span, x, place, buf));
    }
}

/// Draws lines from one on, as many as there is room for; a span has the style of its line where it has none of its own.
pub(crate) fn put_lines(lines: &[Line<'static>], top: usize, area: Rect, buf: &mut Buffer) {
    for (row, line) in lines.iter().skip(top).take(usize::from(area.height)).enumerate() {
        let spans = line.spans.iter().cloned().map(|span| Span { style: line.style.patch(span.style), ..span });
        put(spans.collect(), row, area, buf);
    }
}

/// Draws a span in a row of the screen, from a column on, and gives the column after it. Plain text, which is most, need
/// not be parted into what belongs together.
fn put_span(span: &Span<'_>, x: u16, row: Rect, buf: &mut Buffer) -> u16 {
    let room = usize::from(row.right().saturating_sub(x));
    if room == 0 {
        return x;
    }
    let (head, columns, tail) = split_plain(&span.content);
    let first = buf.index_of(x, row.y);
    let cells = buf.content.iter_mut().skip(first).take(room);
    cells.zip(head.chars()).for_each(|(cell, c)| _ = cell.set_char(c).set_style(span.style));
    let x = x.saturating_add(columns.min(room) as u16);
    let room = room.saturating_sub(columns);
    if tail.is_empty() || room == 0 { x } else { buf.set_stringn(x, row.y, tail, room, span.style).0 }
}

/// Gives an area a style.
pub(crate) fn shade(area: Rect, buf: &mut Buffer, style: Style) {
    cells(area, buf).for_each(|cell| _ = cell.set_style(style));
}

/// Most lines that the answer to a key takes.
const ANSWER_LINES: usize = 3;

/// Draws the answer to a key in the status line, and over the lines above it where one line does not hold it. Returns
/// the number of lines.
pub(crate) fn answer_key(text: &str, role: Role, status: Rect, buf: &mut Buffer, look: Look<'_>) -> u16 {
    let room = usize::from(status.width).saturating_sub(1);
    let lines = wrap_up_to(text, room, ANSWER_LINES.min(usize::from(status.bottom() / 3)).max(1));
    let height = lines.len().max(1) as u16;
    let place = Rect { y: status.bottom().saturating_sub(height), height, ..status };
    clear(place, buf);
    for (n, line) in lines.iter().enumerate() {
        // What the last line does not hold is cut off with a sign.
        let end = if n + 1 == lines.len() { text.len() } else { line.end };
        let line = fit(text.get(line.start..end).unwrap_or_default(), room);
        put(vec![Span::raw(" "), look.span(line, role)], n, place, buf);
    }
    height
}

/// Makes an area blank.
pub(crate) fn clear(area: Rect, buf: &mut Buffer) {
    cells(area, buf).for_each(Cell::reset);
}

/// Gives what was cleared, or drawn without colours, those of a painted screen.
pub(crate) fn ground(buf: &mut Buffer, area: Rect, screen: Style) {
    let (Some(bg), Some(fg)) = (screen.bg, screen.fg) else { return };
    let bare = Cell::default();
    for cell in cells(area, buf) {
        cell.bg = if cell.bg == bare.bg { bg } else { cell.bg };
        cell.fg = if cell.fg == bare.fg { fg } else { cell.fg };
    }
}

/// Marks what a search found in an area, as far as it is on one line of a pane; frames with their titles are left out.
pub(crate) fn mark_matches(pattern: &Regex, area: Rect, buf: &mut Buffer, style: Style) {
    const EDGES: [char; 11] = ['│', '┃', '├', '┤', '╭', '╮', '╰', '╯', '┬', '┴', '┼'];
    let is_frame = |part: &str| part.contains("───") && !part.contains(['◆', '○', '◇']);
    let area = area.intersection(buf.area);
    for y in area.top()..area.bottom() {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for x in area.left()..area.right() {
            starts.push(text.len());
            text.push_str(buf.cell((x, y)).map_or("", Cell::symbol));
        }
        let mut at = 0;
        for part in text.split_inclusive(EDGES) {
            for found in pattern.find_iter(part.as_bytes()).filter(|found| !found.is_empty() && !is_frame(part)) {
                let first = starts.partition_point(|start| *start <= at + found.start()) - 1;
                let last = starts.partition_point(|start| *start < at + found.end());
                let place = Rect { x: area.x + first as u16, y, width: (last - first) as u16, height: 1 };
                shade(place, buf, style);
            }
            at += part.len();
        }
    }
}

/// Goes over the cells of an area row by row: ratatui looks for the place of each cell anew.
fn cells(area: Rect, buf: &mut Buffer) -> impl Iterator<Item = &mut Cell> {
    let area = area.intersection(buf.area);
    let (left, width) = (usize::from(area.x - buf.area.x), usize::from(area.width));
    let rows = buf.content.chunks_mut(usize::from(buf.area.width).max(1));
    let rows = rows.skip(usize::from(area.y - buf.area.y)).take(usize::from(area.height));
    rows.flat_map(move |row| row.iter_mut().skip(left).take(width))
}

/// Draws the rows that an area has room for.
pub(crate) fn fill(rows: Rows, line: impl Fn(usize) -> Spans, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    for (row, n) in (rows.top..rows.len).take(usize::from(area.height)).enumerate() {
        put(line(n), row, area, buf);
        if rows.at == Some(n) {
            select(row, area, buf, look);
        }
    }
}

/// [`fill`] with rows of several lines each; how many rows are on screen.
pub(crate) fn fill_tall(
    rows: Rows,
    lines: impl Fn(usize) -> Vec<Spans>,
    area: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) -> usize {
    let mut line = 0;
    let mut shown = 0;
    for n in rows.top..rows.len {
        if line >= usize::from(area.height) {
            break;
        }
        for (of_row, spans) in lines(n).into_iter().enumerate() {
            put(spans, line, area, buf);
            if rows.at == Some(n) && of_row == 0 {
                select(line, area, buf, look);
            } else if rows.at == Some(n) {
                tint(line, area, buf, look);
            }
            line += 1;
        }
        shown += 1;
    }
    shown
}

/// [`pane`] with rows of several lines each.
pub(crate) fn tall_pane(
    title: Spans,
    rows: Rows,
    lines: impl Fn(usize) -> Vec<Spans>,
    area: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) -> Rect {
    let inner = frame(title, area, buf, look);
    let shown = fill_tall(rows, lines, inner, buf, look);
    scroll_mark_of(area, (rows.top, shown), rows.len, buf, look);
    inner
}

/// Draws a pane with the rows that it has room for; what is inside.
pub(crate) fn pane(
    title: Spans,
    rows: Rows,
    line: impl Fn(usize) -> Spans,
    area: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) -> Rect {
    let inner = frame(title, area, buf, look);
    fill(rows, line, inner, buf, look);
    scroll_mark(area, rows.top, rows.len, buf, look);
    inner
}

/// Writes the title of a place that several panes share: the names of all, and which one is there.
pub(crate) fn named_panes(panes: &[(&str, bool)], look: Look<'_>) -> Spans {
    let name = |(word, is_there): &(&str, bool)| match is_there {
        true => look.span(format!("[{word}]"), Role::Accent),
        false => look.span(format!(" {word} "), Role::Faint),
    };
    panes.iter().map(name).collect()
}

/// Draws a pane that has but one line to show.
pub(crate) fn line_pane(title: Spans, line: Spans, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    put(line, 0, frame(title, area, buf, look), buf);
}

/// Marks the selected row of an area: a style over all of it, borders left out, and a pointer in the blank column
/// before it.
pub(crate) fn select(row: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    if let Some(place) = tint(row, area, buf, look) {
        point(place, area, look.selection(), buf, look);
    }
}

/// Marks the row in which a cell of an area is selected: the cell has the style, the row a pointer before it.
pub(crate) fn point_at(row: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    if let Some(place) = row_with_borders(row, area) {
        point(place, area, look.style(Role::Text), buf, look);
    }
}

/// Draws the pointer; in the pane that has the keys as a block, which a projector shows where it swallows the ground of
/// the row.
fn point(place: Rect, area: Rect, style: Style, buf: &mut Buffer, look: Look<'_>) {
    let style = style.patch(look.style(pointer_role(look.focused)));
    let style = if look.focused { style.add_modifier(Modifier::REVERSED) } else { style };
    let pointer = Span::styled(sign::POINTER, style);
    let before = Rect { width: 1.min(area.x - place.x), ..place };
    Line::from(pointer).render(before.intersection(*buf.area()), buf);
}

/// Gives a row of an area the style of the selection, and returns its place, with the blank columns at both sides that
/// belong to it.
fn tint(row: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) -> Option<Rect> {
    let place = row_with_borders(row, area)?;
    shade(place, buf, look.selection());
    Some(place)
}

fn row_with_borders(row: usize, area: Rect) -> Option<Rect> {
    let row = u16::try_from(row).ok().filter(|row| *row < area.height)?;
    Some(Rect { x: area.x.saturating_sub(1), y: area.y + row, width: area.width + 2, height: 1 })
}

const fn pointer_role(focused: bool) -> Role {
    if focused { Role::BorderFocus } else { Role::Faint }
}

/// Finds what screen readers and magnifiers are to follow by the terminal's cursor: the pointer of the selected row, or the
/// first row of the pane or window in front, where none is selected.
pub(crate) fn pointer(buf: &Buffer, theme: &Theme) -> Option<Position> {
    let own = theme.style(pointer_role(true)).fg;
    // Without colours the row of another pane is told by its line.
    let other = theme.style(Role::SelectionDim).add_modifier;
    let is_other = |cell: &Cell| own.is_none() && !other.is_empty() && cell.modifier.contains(other);
    let is_pointer =
        |cell: &Cell| own.is_none_or(|fg| cell.fg == fg) && cell.symbol() == sign::POINTER && !is_other(cell);
    let place = |at: usize| Position::from(buf.pos_of(at));
    let selected = buf.content.iter().position(is_pointer).map(place);
    let corner = || buf.content.iter().position(|cell| is_front_corner(cell, theme)).map(place);
    selected.or_else(|| corner().map(|Position { x, y }| Position { x: x + 1, y: y + 1 }))
}

/// Tells whether a cell is an upper corner of what is in front: its frame has a colour of its own, or else a double line.
fn is_front_corner(cell: &Cell, theme: &Theme) -> bool {
    match theme.style(pointer_role(true)).fg {
        Some(own) => cell.fg == own && matches!(cell.symbol(), "╭" | "├" | "┬" | "┼"),
        None => matches!(cell.symbol(), "╔" | "╠" | "╦" | "╬" | "╒" | "╓" | "╞" | "╟" | "╤" | "╥" | "╪" | "╫"),
    }
}

/// Draws a scroll mark on the right border where not everything is on screen.
pub(crate) fn scroll_mark(area: Rect, top: usize, len: usize, buf: &mut Buffer, look: Look<'_>) {
    scroll_mark_of(area, (top, usize::from(area.height.saturating_sub(2))), len, buf, look);
}

/// Draws a [`scroll_mark`] with this number of rows on screen, from the top one on.
fn scroll_mark_of(area: Rect, (top, shown): (usize, usize), len: usize, buf: &mut Buffer, look: Look<'_>) {
    let height = usize::from(area.height.saturating_sub(2));
    if len <= shown || height == 0 {
        return;
    }
    let size = (height * shown / len).clamp(1, height);
    let room = height - size;
    let start = (top * room).checked_div(len - shown).unwrap_or(0).min(room);
    let style = look.style(if look.focused { Role::BorderFocus } else { Role::Faint });
    for row in start..start + size {
        let place = (area.right().saturating_sub(1), area.y + 1 + row as u16);
        put_cell(Span::styled(sign::SCROLL, style), place, buf);
    }
}

/// Draws a sign in a cell of its own.
pub(crate) fn put_cell(sign: Span<'static>, (x, y): (u16, u16), buf: &mut Buffer) {
    Line::from(sign).render(Rect { x, y, width: 1, height: 1 }.intersection(*buf.area()), buf);
}

/// Marks rows on the right border of a pane that cannot show all of them at once; of several in one place the first
/// counts.
pub(crate) fn border_marks(
    area: Rect,
    len: usize,
    marks: impl IntoIterator<Item = (usize, &'static str, Role)>,
    buf: &mut Buffer,
    look: Look<'_>,
) {
    let height = usize::from(area.height.saturating_sub(2));
    if len <= height || height == 0 {
        return;
    }
    let mut taken = vec![false; height];
    for (row, glyph, role) in marks {
        let at = (row * height / len).min(height - 1);
        if let Some(taken @ false) = taken.get_mut(at) {
            put_cell(look.span(glyph, role), (area.right().saturating_sub(1), area.y + 1 + at as u16), buf);
            *taken = true;
        }
    }
}

pub(crate) const fn severity_role(severity: Severity) -> Role {
    match severity {
        Severity::Fatal => Role::Fatal,
        Severity::Repairable => Role::Repairable,
        Severity::Warning => Role::Warning,
        Severity::Note => Role::Note,
    }
}

/// The role of a value.
pub(crate) const fn kind_role(kind: Kind) -> Role {
    match kind {
        Kind::String => Role::String,
        Kind::Int | Kind::Float => Role::Number,
        Kind::NotFinite => Role::Warning,
        Kind::True | Kind::False => Role::Bool,
        Kind::Null => Role::Null,
        Kind::Key => Role::Key,
        Kind::Array | Kind::Object => Role::Punct,
    }
}

pub(crate) const fn badge_role(badge: Badge) -> Role {
    match badge {
        Badge::Recorded | Badge::Reconstructed => Role::Badge,
        Badge::Recomputed => Role::Ok,
        Badge::Override => Role::Changed,
        Badge::NotRun => Role::Ghost,
        Badge::Ambiguous | Badge::Missing | Badge::Unavailable => Role::BadgeDoubt,
    }
}

/// The sign of a grounding.
pub(crate) const fn grounding_glyph(grounding: Grounding) -> &'static str {
    match grounding {
        Grounding::Nowhere => sign::NOT_FOUND,
        Grounding::Misplaced => sign::MISPLACED,
        Grounding::Unproven => sign::UNPROVEN,
        Grounding::Grounded => sign::CITED,
    }
}

/// The role of a grounding.
pub(crate) const fn grounding_role(grounding: Grounding) -> Role {
    match grounding {
        Grounding::Nowhere => Role::Fatal,
        Grounding::Misplaced => Role::Warning,
        Grounding::Unproven => Role::Note,
        Grounding::Grounded => Role::Ok,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_is_drawn_as_ratatui_draws_it(
            texts in prop::collection::vec("[ab1 漢é≈\\u{301}\\u{fe0f}\\u{20e3}\\u{200d}😀\\u{600}]{0,9}", 0..4),
            width in 1_u16..20,
        ) {
            let area = Rect::new(2, 1, width, 1);
            let (mut own, mut theirs) = (Buffer::empty(Rect::new(1, 0, 24, 3)), Buffer::empty(Rect::new(1, 0, 24, 3)));
            let styles = [Style::new().bold(), Style::new(), Style::new().italic(), Style::new().dim()];
            let line: Spans = texts.iter().zip(styles).map(|(text, style)| Span::styled(text.clone(), style)).collect();
            put(line.clone(), 0, area, &mut own);
            theirs.set_line(area.x, area.y, &Line::from(fit_spans(line, usize::from(width))), width);
            prop_assert_eq!(own, theirs);
        }

        #[test]
        fn an_area_is_shaded_as_ratatui_does(x in 0_u16..9, y in 0_u16..9, width in 0_u16..9, height in 0_u16..9) {
            let (mut own, mut theirs) = (Buffer::empty(Rect::new(1, 2, 6, 4)), Buffer::empty(Rect::new(1, 2, 6, 4)));
            let (area, style) = (Rect::new(x, y, width, height), Style::new().bold());
            shade(area, &mut own, style);
            theirs.set_style(area, style);
            prop_assert_eq!(own, theirs);
        }
    }
}
