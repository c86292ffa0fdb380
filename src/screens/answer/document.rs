//! The document with its pages and lines: what is cited in it and by which item, where the quotes really are, and the
//! lines beyond the last page that the model saw.

use std::ops::{Range, RangeInclusive};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::screens::answer::{checks, citation};
use crate::widgets::layout::{inner_width, split_columns};
use crate::widgets::look::{
    Look, Spans, border_marks, frame, grounding_glyph, grounding_role, line_pane, put, put_cell, title_width,
};
use crate::widgets::prose;
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::text::{Shown, ShownMap, head};
use stepscope_evidence::document::Document;
use stepscope_present::answer::{ShownAnswer, SpanView};
use stepscope_record::paint::MarkedRange;
use stepscope_review::event::letter;

/// Maximum number of bytes of a line that are shown.
const MAX_LINE: usize = 4 << 10;
/// Columns that the signs of a line's items take at most.
const SIGNS: usize = 2;
/// Columns between the corners of the lower border, or a title on it, and the pages.
const STRIP: u16 = 2;
/// Cells that the strip of the pages has at least: fewer say nothing.
const LEAST_CELLS: u16 = 6;
/// Width from which on the number inside the page is shown next to the line's own: the text comes first.
const BOTH_NUMBERS: usize = 100;
/// Word before the strip of the pages, with a blank.
const PAGES: &str = "pages ";

pub(crate) fn draw(answer: &AnswerView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = vec![look.span(AnswerPane::Document.word(), Role::Title)];
    let Some(document) = answer.shown.document.as_deref().filter(|document| !document.is_empty()) else {
        let line = vec![look.span("Document not found. Pass --document FILE", Role::Dim)];
        return line_pane(title, line, area, buf, look);
    };
    if let Some((page, _)) = document.number(answer.lines.at) {
        let last = document.pages().last().map_or(page, |(last, _)| *last);
        title.push(look.span(format!("  page {page}/{last}"), Role::Dim));
        title.push(look.span(format!("  line {}", answer.lines.at), Role::Faint));
    }
    let inner = frame(title, area, buf, look);
    let gutter = Gutter::of(answer, document, inner_width(area));
    let mut row = 0;
    for n in answer.lines.top..document.len() {
        if row >= usize::from(inner.height) {
            break;
        }
        if let Some(rule) = rule(&answer.shown, document, n, look) {
            put(rule, row, inner, buf);
            row += 1;
        }
        for (first, line) in text(answer, document, n, &gutter, look).into_iter().enumerate() {
            let mut spans = gutter.spans(answer, document, n, first == 0, look);
            spans.extend(line);
            put(spans, row, inner, buf);
            row += 1;
        }
    }
    let mut spans: Vec<_> = answer.shown.spans.iter().collect();
    spans.sort_by_key(|span| span.standing);
    let place = |span: &&SpanView| {
        span.found.as_ref().map(|found| &found.lines).or(span.cited.as_ref()).map(|lines| lines.start)
    };
    let marks = spans
        .iter()
        .filter_map(|span| Some((place(span)?, grounding_glyph(span.standing), grounding_role(span.standing))));
    border_marks(area, document.len(), marks, buf, look);
}

/// Draws the pages on the lower border, with what became of their citations.
pub(crate) fn draw_pages(answer: &AnswerView, buf: &mut Buffer, look: Look<'_>) {
    let Some(document) = answer.shown.document.as_deref() else { return };
    let place = pages_place(answer, look);
    let here = document.number(answer.lines.at).map(|(page, _)| page);
    if let Some(x) = place.x.checked_sub(PAGES.len() as u16).filter(|_| !strip(answer, document, place).is_empty()) {
        put(vec![look.span(PAGES, Role::Faint)], 0, Rect { x, width: PAGES.len() as u16, ..place }, buf);
    }
    for (x, cell) in (place.x..).zip(strip(answer, document, place)) {
        let style = look.style(cell.role);
        let style =
            if cell.pages.contains(&here.unwrap_or(i64::MIN)) { style.add_modifier(Modifier::REVERSED) } else { style };
        put_cell(Span::styled(cell.glyph, style), (x, place.y), buf);
    }
}

/// Finds the place of the pages: the lower border, behind the title of the pane below if that stands on it.
fn pages_place(answer: &AnswerView, look: Look<'_>) -> Rect {
    let area = answer.areas.of(AnswerPane::Document);
    let row = Rect { y: area.bottom().saturating_sub(1), height: u16::from(area.height > 2), ..area };
    let below = answer.areas.on_screen(answer.pane, look).find(|(_, place, _)| place.y == row.y && place.x == row.x);
    let title = match below {
        Some((AnswerPane::Citation, place, look)) => title_width(&citation::title(answer, look), place, look),
        Some((AnswerPane::Checks, place, look)) => title_width(&checks::title(answer, look), place, look),
        _ => 0,
    };
    let (_, place) = split_columns(row, STRIP + title + PAGES.len() as u16);
    Rect { width: place.width.saturating_sub(STRIP), ..place }
}

/// Pages of the document that share a cell of the strip.
struct PageCell {
    pages: RangeInclusive<i64>,
    glyph: &'static str,
    role: Role,
}

/// Lists the pages from the first to the last: cited with what became of it, retrieved, or neither. Of a longer
/// document several share a cell, and the worst citation shows.
fn strip(answer: &AnswerView, document: &Document, place: Rect) -> Vec<PageCell> {
    let pages = document.pages();
    if place.is_empty() || place.width < LEAST_CELLS || pages.len() < 2 {
        return Vec::new();
    }
    let cell = |pages: &[(i64, Range<usize>)]| {
        let (first, last) = (pages.first()?, pages.last()?);
        let lines = first.1.start..last.1.end;
        let touches = |range: &Range<usize>| range.start < lines.end && lines.start < range.end;
        let cited = answer.shown.spans.iter().filter(|span| {
            span.cited.as_ref().is_some_and(touches) || span.found.as_ref().is_some_and(|found| touches(&found.lines))
        });
        let retrieved = pages.iter().any(|(page, _)| answer.shown.retrieved.contains(page));
        let (glyph, role) = match cited.map(|span| span.standing).min() {
            Some(standing) => (grounding_glyph(standing), grounding_role(standing)),
            None if retrieved => (sign::RETRIEVED, Role::Dim),
            None => (sign::NOT_RETRIEVED, Role::Faint),
        };
        Some(PageCell { pages: first.0..=last.0, glyph, role })
    };
    pages.chunks(pages.len().div_ceil(usize::from(place.width))).filter_map(cell).collect()
}

/// Returns the first line of the page under the mouse.
pub(crate) fn page_at(answer: &AnswerView, at: Position, look: Look<'_>) -> Option<usize> {
    let document = answer.shown.document.as_deref()?;
    let place = pages_place(answer, look);
    let n = usize::from(at.x.checked_sub(place.x).filter(|_| place.contains(at))?);
    let cells = strip(answer, document, place);
    document.page(*cells.get(n)?.pages.start()).map(|lines| lines.start)
}

/// Counts the rows that a line takes.
pub(crate) fn rows(answer: &AnswerView, line: usize, width: usize) -> usize {
    let Some(document) = answer.shown.document.as_deref() else { return 1 };
    let gutter = Gutter::of(answer, document, width);
    let text = document.line(line).map(|text| Shown::line(head(text, MAX_LINE))).unwrap_or_default();
    prose::wrap(text.as_str(), gutter.text).len().max(1) + usize::from(begins_page(document, line))
}

fn begins_page(document: &Document, line: usize) -> bool {
    let page = |n: usize| document.number(n).map(|(page, _)| page);
    line.checked_sub(1).is_none_or(|before| page(before) != page(line))
}

/// Builds the line between two pages.
fn rule(shown: &ShownAnswer, document: &Document, line: usize, look: Look<'_>) -> Option<Spans> {
    let (page, _) = document.number(line)?;
    if !begins_page(document, line) {
        return None;
    }
    let mut spans = vec![look.span(format!("── page {page} ──"), Role::Faint)];
    if shown.peek.as_ref().is_some_and(|peek| peek.contains(&line)) {
        spans.push(look.span(" not retrieved; shown for context", Role::Peek));
    } else if shown.retrieved.contains(&page) {
        spans.push(look.span(" retrieved", Role::Faint));
    }
    Some(spans)
}

/// The columns in front of the text.
struct Gutter {
    /// Columns of the signs of items.
    signs: usize,
    number: usize,
    both: bool,
    text: usize,
}

impl Gutter {
    fn of(answer: &AnswerView, document: &Document, width: usize) -> Self {
        let signs = answer.shown.items.len().clamp(1, SIGNS);
        let number = document.len().saturating_sub(1).to_string().len();
        let both = width >= BOTH_NUMBERS;
        let inside = if both { 8 } else { 0 };
        // A mark, the items' signs, a blank, the numbers, a blank.
        Self { signs, number, both, text: width.saturating_sub(3 + signs + number + inside).max(8) }
    }

    fn spans(&self, answer: &AnswerView, document: &Document, line: usize, first: bool, look: Look<'_>) -> Spans {
        let (mark, signs) = marks(answer, line, look);
        let peeked = answer.shown.peek.as_ref().is_some_and(|peek| peek.contains(&line));
        let mut spans = vec![mark];
        if !first {
            spans.push(Span::raw(" ".repeat(2 + self.signs + self.number + if self.both { 8 } else { 0 })));
            return spans;
        }
        let width = signs.content.as_ref().width();
        spans.push(signs);
        spans.push(Span::raw(" ".repeat((self.signs + 1).saturating_sub(width))));
        let current = line == answer.lines.at;
        let role = if current {
            Role::Current
        } else if peeked {
            Role::Peek
        } else {
            Role::Faint
        };
        spans.push(look.span(format!("{line:>width$} ", width = self.number), role));
        if self.both {
            let (page, number) = document.number(line).unwrap_or_default();
            spans.push(look.span(prose::pad(&format!("{page}:{number}"), 8), Role::Faint));
        }
        spans
    }
}

/// Builds the marks of a cited line: a bar in the colour of the item, the signs of the items; `»` where a quote really
/// is.
fn marks(answer: &AnswerView, line: usize, look: Look<'_>) -> (Span<'static>, Span<'static>) {
    let current = answer.span();
    let (mut bar, mut signs, mut style) = (" ", String::new(), Style::default());
    for (n, span) in answer.shown.spans.iter().enumerate() {
        let cited = span.cited.as_ref().is_some_and(|lines| lines.contains(&line));
        let found = span.found.as_ref().is_some_and(|found| found.lines.contains(&line));
        if !cited && !found {
            continue;
        }
        let sign = letter(span.item);
        if !signs.contains(&sign) && signs.width() + sign.width() <= SIGNS {
            signs.push_str(&sign);
        }
        if bar == " " || current == Some(n) {
            (bar, style) = (if cited { "▌" } else { "»" }, look.theme.series(span.item));
        }
    }
    (Span::styled(bar, style), Span::styled(signs, style))
}

/// Lays out the text of a line, wrapped and painted.
fn text(answer: &AnswerView, document: &Document, line: usize, gutter: &Gutter, look: Look<'_>) -> Vec<Spans> {
    let bytes = document.line(line).map(|text| head(text, MAX_LINE)).unwrap_or_default();
    let map = ShownMap::line(bytes);
    let peeked = answer.shown.peek.as_ref().is_some_and(|peek| peek.contains(&line));
    let base = look.style(if peeked { Role::Peek } else { Role::Text });
    let marks = painted(answer, line, bytes.len(), &map, look);
    let lines = prose::wrap(map.text.as_str(), gutter.text);
    lines.iter().map(|range| prose::paint(map.text.as_str(), range, base, &marks).spans).collect()
}

/// Marks the cited lines, and over them the words that were found. The citation under the cursor is on top.
fn painted(answer: &AnswerView, line: usize, len: usize, map: &ShownMap, look: Look<'_>) -> Vec<MarkedRange<Style>> {
    let current = answer.span();
    let mut marks = Vec::new();
    let order = answer.shown.spans.iter().enumerate().filter(|(n, _)| current != Some(*n));
    let last = current.and_then(|n| Some((n, answer.shown.spans.get(n)?)));
    for (n, span) in order.chain(last) {
        let here = current == Some(n);
        if span.cited.as_ref().is_some_and(|lines| lines.contains(&line)) {
            let role = if here { Role::CitedCurrent } else { Role::Cited };
            // Without a quote the whole line is what was cited.
            if span.quote.is_none() || here {
                marks.push(MarkedRange {
                    range: map.range(0..len),
                    tone: look.style(if here { Role::Cited } else { role }),
                });
            }
        }
        let part = span.found.as_ref().and_then(|found| found.parts.iter().find(|(n, _)| *n == line));
        if let Some((_, part)) = part {
            let cited = span.cited.as_ref().is_some_and(|cited| cited.contains(&line));
            let role = match (here, cited) {
                (true, true) => Role::CitedCurrent,
                (true, false) => Role::Found,
                (false, _) => Role::Cited,
            };
            marks.push(MarkedRange { range: map.range(part.clone()), tone: look.style(role) });
        }
    }
    marks.extend(values(answer, line, len, map, look));
    marks
}

/// Marks the values of the items where they stand in a line.
fn values(answer: &AnswerView, line: usize, len: usize, map: &ShownMap, look: Look<'_>) -> Vec<MarkedRange<Style>> {
    let start = answer.shown.document.as_deref().and_then(|document| document.offset(line)).unwrap_or_default();
    let places = answer.shown.items.iter().flat_map(|item| &item.places);
    let inside = places.filter(|place| place.start >= start && place.end <= start + len);
    let tone = look.style(Role::Cited).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
    inside.map(|place| MarkedRange { range: map.range(place.start - start..place.end - start), tone }).collect()
}
