//! One citation in full: what became of it, the model's words against the document's; then the others of its item.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::screens::answer::items::sign;
use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::widgets::layout::inner_width;
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Spans, grounding_glyph, grounding_role, pane};
use crate::widgets::prose;
use crate::widgets::theme::Role;
use stepscope_base::text::Shown;
use stepscope_evidence::citations::Grounding;
use stepscope_present::answer::{ItemView, SpanView};
use stepscope_record::paint::MarkedRange;

/// Width of the label in front of the texts, in columns.
const LABEL: usize = 7;

/// Number of other citations of the item that are laid out.
const MAX_OTHERS: usize = 12;

/// Sign, letter and key take about so much of a row among the items.
const CUT: usize = 16;

/// Builds the title of the pane.
pub(crate) fn title(answer: &AnswerView, look: Look<'_>) -> Spans {
    let mut title = vec![look.span(AnswerPane::Citation.word(), Role::Title)];
    let count = answer.shown.spans.len();
    if let Some(span) = answer.span() {
        title.push(look.span(format!("  {}/{count}", span + 1), Role::Dim));
    }
    title.extend(answer.item().into_iter().flat_map(|item| [Span::raw("  "), sign(item, look)]));
    title
}

pub(crate) fn draw(answer: &AnswerView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let lines = lines(answer, inner_width(area), look);
    let rows = Rows { top: answer.citation_top, len: lines.len(), at: None };
    pane(title(answer, look), rows, |n| lines.get(n).cloned().unwrap_or_default(), area, buf, look);
}

/// Lays out all lines of the citation.
pub(crate) fn lines(answer: &AnswerView, width: usize, look: Look<'_>) -> Vec<Spans> {
    // A list of items cuts long values; here is room for all of one.
    let cut = |view: &&ItemView| view.lines.iter().any(|line| line.as_str().width() + CUT > width);
    let value = answer.value().filter(cut).map(|view| view.lines.as_slice()).unwrap_or_default();
    let value = value.iter().enumerate().flat_map(|(n, text)| {
        wrapped(if n == 0 { "value" } else { " " }, text, (&[], Role::Text), Role::Text, width, look)
    });
    let mut lines: Vec<Spans> = value.collect();
    let Some(view) = answer.span_view() else {
        let nothing = if answer.rows.is_empty() { "" } else { "no citation" };
        lines.push(vec![look.span(nothing, Role::Dim)]);
        return lines;
    };
    lines.extend(in_full(view, width, look));
    let own = answer.item().and_then(|item| answer.shown.items.get(item)).map(|item| item.spans.clone());
    let others = own.unwrap_or_default().filter(|n| answer.span() != Some(*n)).take(MAX_OTHERS);
    for other in others.filter_map(|n| answer.shown.spans.get(n)) {
        lines.push(Vec::new());
        lines.extend(in_full(other, width, look));
    }
    lines
}

/// Lays out a citation in full: its result, its place, and the words.
fn in_full(view: &SpanView, width: usize, look: Look<'_>) -> Vec<Spans> {
    let mut lines = vec![vec![
        look.span(format!("{} ", grounding_glyph(view.standing)), grounding_role(view.standing)),
        look.span(view.badge.as_str(), grounding_role(view.standing)),
    ]];
    for sentence in &view.sentences {
        lines.extend(wrapped("", sentence, (&[], Role::Dim), Role::Text, width, look));
    }
    lines.extend(quotes(view, width, look));
    lines
}

fn quotes(view: &SpanView, width: usize, look: Look<'_>) -> Vec<Spans> {
    let mut lines = Vec::new();
    let same = view.found.is_some() && view.quote_marks.is_empty() && view.recovered_marks.is_empty();
    if let (true, Some(text)) = (same, &view.recovered) {
        let mut lines = vec![vec![look.span("quote and document:", Role::Dim)]];
        lines.extend(wrapped("", text, (&[], Role::Text), Role::Text, width, look));
        return lines;
    }
    if let Some(quote) = &view.quote {
        // Of words that stand nowhere nothing is in the document's words.
        let all = 0..quote.as_str().len();
        let nowhere = view.found.is_none() && view.near.is_none();
        let marks =
            if nowhere && view.standing == Grounding::Nowhere { std::slice::from_ref(&all) } else { &view.quote_marks };
        lines.extend(wrapped("quote", quote, (marks, Role::Removed), Role::Text, width, look));
    }
    if let Some(text) = &view.recovered {
        lines.extend(wrapped("text", text, (&view.recovered_marks, Role::Added), Role::Text, width, look));
    }
    lines
}

/// Wraps a text with a label in front of its first line; what is marked in it is painted and underlined.
fn wrapped(
    label: &'static str,
    text: &Shown,
    (marks, tone): (&[Range<usize>], Role),
    role: Role,
    width: usize,
    look: Look<'_>,
) -> Vec<Spans> {
    let indent = if label.is_empty() { 0 } else { LABEL };
    let style = look.style(tone).add_modifier(ratatui::style::Modifier::UNDERLINED);
    let marks: Vec<_> = marks.iter().map(|range| MarkedRange { range: range.clone(), tone: style }).collect();
    let ranges = prose::wrap(text.as_str(), width.saturating_sub(indent).max(8));
    let line = |(n, range): (usize, &Range<usize>)| {
        let mut spans = Vec::new();
        if indent > 0 {
            spans.push(look.span(prose::pad(if n == 0 { label } else { "" }, indent), Role::Dim));
        }
        spans.extend(prose::paint(text.as_str(), range, look.style(role), &marks).spans);
        spans
    };
    ranges.iter().enumerate().map(line).collect()
}
