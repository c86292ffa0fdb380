//! Draws the record as JSON, findings marked at their key or value; what is no JSON, as plain text.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;

use crate::screens::json::state::{JsonRow, JsonRowText};
use crate::screens::run::findings;
use crate::screens::run::state::RecordView;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::look::{Look, Spans, border_marks, frame, kind_role, pane, put, severity_role};
use crate::widgets::prose;
use crate::widgets::theme::Role;
use stepscope_base::json::Value;
use stepscope_base::shown;
use stepscope_base::text::{Shown, head};
use stepscope_present::notes::Note;
use stepscope_present::notes::NoteMark;

/// Records that are no JSON are shown up to so many bytes.
const MAX_RAW: usize = 64 << 10;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let title = vec![
        look.span("Record", Role::Title),
        look.span(format!("  line {}  {}", view.opened.line, view.opened.id), Role::Dim),
    ];
    let Some(root) = view.opened.root() else {
        raw(view, area, frame(title, area, buf, look), buf, look);
        return;
    };
    let outline = &view.outline;
    let line = |n: usize| {
        let Some((row, text)) = outline.texts(root, n, 1).pop() else { return Vec::new() };
        let (mark, hidden) = mark_of(view, row, root);
        spans(row, &text, mark, hidden, view, look)
    };
    pane(title, outline.list.rows(outline.len()), line, area, buf, look);
    // Where the findings are, those out of sight too; the gravest first.
    let mut marks: Vec<_> =
        view.opened.marks.iter().filter_map(|mark| Some((mark, view.opened.notes.get(mark.note)?))).collect();
    marks.sort_by_key(|(_, note)| note.severity);
    let marks = marks
        .into_iter()
        .map(|(mark, note)| (outline.row_of(mark.node), note.severity.glyph(), severity_role(note.severity)));
    border_marks(area, outline.len(), marks, buf, look);
}

/// Returns the marks of the values from one node up to another.
fn marks(view: &RecordView, nodes: Range<usize>) -> &[NoteMark] {
    let marks = &view.opened.marks;
    let place = |node: usize| marks.partition_point(|mark| (mark.node as usize) < node);
    marks.get(place(nodes.start)..place(nodes.end)).unwrap_or_default()
}

/// Returns the marks of a value.
fn here(view: &RecordView, row: JsonRow) -> &[NoteMark] {
    let node = row.node as usize;
    marks(view, node..node + 1)
}

/// Returns the finding on a row, else the first inside it, where it is folded.
fn mark_of<'i>(view: &'i RecordView, row: JsonRow, root: Value<'_>) -> (Option<&'i NoteMark>, Option<&'i NoteMark>) {
    let mark = here(view, row).first();
    (mark, mark.is_none().then(|| hidden_mark(view, row, root)).flatten())
}

/// Returns the first finding inside a folded container.
fn hidden_mark<'i>(view: &'i RecordView, row: JsonRow, root: Value<'_>) -> Option<&'i NoteMark> {
    let inside = root.nth(row.node as usize).filter(|_| row.folded)?.value;
    marks(view, inside.index() + 1..inside.next_index()).iter().min_by_key(|mark| mark.note)
}

fn spans(
    row: JsonRow,
    text: &JsonRowText,
    mark: Option<&NoteMark>,
    hidden: Option<&NoteMark>,
    view: &RecordView,
    look: Look<'_>,
) -> Spans {
    let note = |mark: Option<&NoteMark>| mark.and_then(|mark| view.opened.notes.get(mark.note));
    let role = |note: &Note| severity_role(note.severity);
    let mut line = vec![match (note(mark), note(hidden)) {
        (Some(note), _) => look.span(format!("{} ", note.severity.glyph()), role(note)),
        (_, Some(note)) => look.span("┆ ", role(note)),
        _ => Span::raw("  "),
    }];
    line.push(Span::raw("  ".repeat(usize::from(row.depth))));
    let fold = match (row.folded, row.container) {
        (true, _) => "▸ ",
        (false, true) => "▾ ",
        (false, false) => "  ",
    };
    line.push(look.span(fold, Role::Faint));
    let underlined = |role: Role| look.style(role).add_modifier(Modifier::UNDERLINED);
    if let Some(key) = &text.key {
        let style = match note(mark).filter(|_| mark.is_some_and(|mark| mark.on_key)) {
            Some(note) => underlined(role(note)),
            None => look.style(if text.is_index { Role::Faint } else { Role::Key }),
        };
        line.push(Span::styled(key.as_str().to_owned(), style));
        line.push(look.span(": ", Role::Punct));
    }
    let style = match note(mark).filter(|_| mark.is_some_and(|mark| !mark.on_key)) {
        Some(note) => underlined(role(note)),
        None => look.style(kind_role(text.kind)),
    };
    line.push(Span::styled(text.text.as_str().to_owned(), style));
    if let Some(note) = note(mark) {
        line.push(look.span(format!("  ← {}", note.message), role(note)));
    }
    line
}

/// Counts the lines that a record that is not JSON takes.
pub(crate) fn raw_lines(view: &RecordView, width: usize) -> usize {
    prose::wrap(raw_text(view).as_str(), width).len()
}

/// Counts the lines of such a record, of `lines` in all, that can be the first one on screen in `area`.
pub(crate) fn raw_tops(view: &RecordView, lines: usize, area: Rect) -> usize {
    (lines + 1).saturating_sub(raw_height(view, inner_height(area))).max(1)
}

fn raw_text(view: &RecordView) -> Shown {
    let text = view.opened.text();
    Shown::prose(head(text, MAX_RAW))
}

/// Returns the height that is left for the text below the findings and a blank line.
fn raw_height(view: &RecordView, height: usize) -> usize {
    height.saturating_sub(view.opened.notes.len() + 1)
}

fn raw(view: &RecordView, area: Rect, inner: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut row = 0;
    for note in &view.opened.notes {
        let line = format!("{} {}  {}", note.severity.glyph(), note.rule, note.message);
        put(vec![look.span(line, severity_role(note.severity))], row, inner, buf);
        row += 1;
    }
    let text = raw_text(view);
    let height = raw_height(view, usize::from(inner.height));
    let window = view.outline.list.at..view.outline.list.at + height;
    for (n, line) in prose::lines(&text, inner_width(area), window, look.style(Role::Text), &[]).into_iter().enumerate()
    {
        put(line.spans, row + 1 + n, inner, buf);
    }
}

/// Explains the finding on the value under the cursor, in one sentence.
pub(crate) fn explain(view: &RecordView) -> Shown {
    let note = |mark: &NoteMark| view.opened.notes.get(mark.note);
    let (Some(root), Some(row)) = (view.opened.root(), view.outline.current()) else {
        return view.opened.notes.first().map_or(Shown::own("No findings"), findings::explain);
    };
    let (mark, hidden) = mark_of(view, row, root);
    match (mark.and_then(note), hidden.and_then(note)) {
        (Some(note), _) => findings::explain(note),
        (None, Some(note)) => shown!("┆ inside: {}", findings::explain(note)),
        (None, None) => Shown::own("No finding on this value"),
    }
}

/// Describes the value under the cursor: its path, and the findings on it.
pub(crate) fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    let Some(root) = view.opened.root() else { return Vec::new() };
    let Some(row) = view.outline.current() else { return Vec::new() };
    let pointer = pointer_of(root, row.node).text();
    let mut line =
        vec![look.span(if pointer.is_empty() { "/".into() } else { pointer.line().into_string() }, Role::Faint)];
    for note in here(view, row).iter().filter_map(|mark| view.opened.notes.get(mark.note)) {
        line.push(look.span(format!("  {} {}", note.severity.glyph(), note.message), severity_role(note.severity)));
    }
    line
}

/// Returns the pointer of a value of the tape.
pub(crate) fn pointer_of(root: Value<'_>, node: u32) -> stepscope_base::json::Pointer {
    root.nth(node as usize).map(|found| root.pointer_to(found.value)).unwrap_or_default()
}
