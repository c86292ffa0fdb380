//! The answer as a whole, each check once and in full: its route, what the rules say, what it says of itself.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::screens::answer::state::{AnswerPane, AnswerView, CheckRow};
use crate::screens::run::findings;
use crate::screens::run::state::RecordView;
use crate::widgets::layout::inner_width;
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Spans, route_sign, severity_role, tall_pane};
use crate::widgets::prose::{hanging, pad, wrapped};
use crate::widgets::theme::Role;
use stepscope_base::text::{Shown, cut};
use stepscope_present::answer::{Fact, ROUTE, Tone, route_name};
use stepscope_present::notes::Note;
use stepscope_record::finding::counted;
use stepscope_record::paint::MarkedRange;

/// Columns of a name.
const NAME: usize = 12;
/// Columns before the text of a finding.
const INDENT: usize = 2;
/// Lines of one check; Enter shows all.
const MAX_LINES: usize = 12;
/// Bytes of a message; the JSON has all of it.
const MAX_MESSAGE: usize = 1_000;

/// Builds the title of the pane.
pub(crate) fn title(answer: &AnswerView, look: Look<'_>) -> Spans {
    let mut title = vec![look.span(AnswerPane::Checks.word(), Role::Title)];
    let notes = answer.check_rows.iter().filter(|row| matches!(row, CheckRow::Note(_))).count();
    if notes > 0 {
        title.push(look.span(format!("  {}", counted(notes, "finding")), Role::Dim));
    }
    title
}

pub(crate) fn draw(view: &RecordView, answer: &AnswerView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let notes = &view.opened.notes;
    let at = (answer.pane == AnswerPane::Checks).then_some(answer.check_head(answer.checks.at));
    let rows = Rows { at, ..answer.checks.rows(answer.check_rows.len()) };
    let width = inner_width(area);
    tall_pane(title(answer, look), rows, |n| lines(notes, answer, n, width, look), area, buf, look);
}

/// Describes the row under the cursor, for the status line.
pub(crate) fn describe(view: &RecordView, answer: &AnswerView) -> Vec<(Shown, Role)> {
    if let Some(fact) = answer.fact() {
        let pointer = fact.pointer.as_ref().map(|pointer| (pointer.text().line(), Role::Faint));
        return [(fact.text.clone(), Role::Text)].into_iter().chain(pointer).collect();
    }
    let note = answer.note().and_then(|note| view.opened.notes.get(note));
    let texts = note.map(|note| {
        let help = Shown::own(note.help.unwrap_or_default());
        let pointer = note.pointer.text().line();
        [(pointer, Role::Faint), (note.message.clone(), severity_role(note.severity)), (help, Role::Dim)]
    });
    texts.into_iter().flatten().filter(|(text, _)| !text.as_str().is_empty()).collect()
}

/// Explains the row under the cursor, in one sentence.
pub(crate) fn explain(notes: &[Note], answer: &AnswerView) -> Shown {
    let note = match answer.fact() {
        Some(fact) => contradiction(notes, fact),
        None => answer.note().and_then(|note| notes.get(note)),
    };
    match (note, answer.fact().map(|fact| fact.name)) {
        (Some(note), _) => findings::explain(note),
        (None, Some(ROUTE)) => Shown::own("What to do with the answer next, by what it says and by its findings"),
        (None, Some(_)) => Shown::own("Statement of the answer about itself, or what follows from it"),
        (None, None) => Shown::own("No findings"),
    }
}

/// Counts the lines that the rows take, with the longest advice; stops once there are more than `most`. It is the same
/// wherever the cursor is.
pub(crate) fn height(notes: &[Note], answer: &AnswerView, width: usize, most: usize, look: Look<'_>) -> usize {
    let (mut lines, mut advice) = (0, 0);
    for (n, row) in answer.check_rows.iter().enumerate() {
        if lines > most {
            break;
        }
        lines += match row {
            CheckRow::Fact(fact) => {
                answer.shown.facts.get(*fact).map_or(0, |fact| fact_lines(notes, answer, fact, width, look).len())
            }
            CheckRow::Note(_) => {
                let [bare, full] =
                    [false, true].map(|chosen| note_lines(notes, answer, n, (width, chosen), look).len());
                advice = advice.max(full - bare);
                bare
            }
        };
    }
    lines + advice
}

/// Lays out the lines of a row.
pub(crate) fn lines(notes: &[Note], answer: &AnswerView, row: usize, width: usize, look: Look<'_>) -> Vec<Spans> {
    match answer.check_rows.get(row) {
        Some(CheckRow::Fact(fact)) => {
            let fact = answer.shown.facts.get(*fact);
            fact.map(|fact| fact_lines(notes, answer, fact, width, look)).unwrap_or_default()
        }
        Some(CheckRow::Note(_)) => {
            let chosen = answer.check_head(answer.checks.at) == row;
            note_lines(notes, answer, row, (width, chosen), look)
        }
        None => Vec::new(),
    }
}

/// Returns the finding that contradicts a statement.
fn contradiction<'n>(notes: &'n [Note], fact: &Fact) -> Option<&'n Note> {
    notes.iter().find(|note| fact.pointer.as_ref() == Some(&note.pointer))
}

/// Returns the colour of a fact: that of the route, of the row that names it.
fn fact_role(answer: &AnswerView, fact: &Fact) -> Role {
    let decided = answer.shown.decided.as_ref().filter(|_| fact.name == ROUTE);
    decided.map_or_else(|| tone_role(fact.tone), |(route, _)| route_sign(*route).1)
}

const fn tone_role(tone: Tone) -> Role {
    match tone {
        Tone::Plain => Role::Text,
        Tone::Quiet => Role::Dim,
        Tone::Good => Role::Ok,
        Tone::Doubt => Role::Warning,
    }
}

fn fact_lines(notes: &[Note], answer: &AnswerView, fact: &Fact, width: usize, look: Look<'_>) -> Vec<Spans> {
    // What the rules contradict is marked where it is said.
    let contradicted = contradiction(notes, fact);
    let line = |(n, text): (usize, &str)| {
        let name = pad(if n == 0 { fact.name } else { "" }, NAME);
        let mark = contradicted.filter(|_| n == 0);
        let mark = mark.map(|note| look.span(format!("{} ", note.severity.glyph()), severity_role(note.severity)));
        let text = look.span(text, fact_role(answer, fact));
        [look.span(name, Role::Dim)].into_iter().chain(mark).chain([text]).collect()
    };
    let room = width.saturating_sub(NAME + if contradicted.is_some() { 2 } else { 0 });
    wrapped(fact.text.as_str(), room, MAX_LINES).enumerate().map(line).collect()
}

/// Lays out the findings that a row shows: where they lead, the letters of their items, what they say, and for the row
/// under the cursor what to do.
fn note_lines(
    notes: &[Note],
    answer: &AnswerView,
    row: usize,
    (width, chosen): (usize, bool),
    look: Look<'_>,
) -> Vec<Spans> {
    let own = || answer.notes_of(row).filter_map(|note| notes.get(note));
    let Some(note) = own().next() else { return Vec::new() };
    let role = severity_role(note.severity);
    let (mut text, mut marks) = (note.rule.to_owned(), Vec::new());
    marks.push(MarkedRange { range: 0..text.len(), tone: look.style(role) });
    if let (.., Some(route)) = answer.shown.said_by(note) {
        let start = text.len();
        let _ = write!(text, " → {}", route_name(route));
        marks.push(MarkedRange { range: start..text.len(), tone: look.style(Role::Accent) });
    }
    let current = answer.note().and_then(|note| notes.get(note)).filter(|_| chosen && look.focused);
    let current = current.and_then(|note| answer.shown.letter_at(&note.pointer));
    let mut letters: Vec<String> = own().filter_map(|note| answer.shown.letter_at(&note.pointer)).collect();
    letters.dedup();
    for (n, letter) in letters.iter().enumerate() {
        text.push_str(if n == 0 { "  " } else { " " });
        let start = text.len();
        text.push_str(letter);
        let role = if current.as_ref() == Some(letter) { Role::Current } else { Role::Key };
        marks.push(MarkedRange { range: start..text.len(), tone: look.style(role) });
    }
    text.push_str("  ");
    text.push_str(cut(note.message.as_str(), MAX_MESSAGE));
    let head = vec![look.span(format!("{} ", note.severity.glyph()), role)];
    let mut lines = hanging(head, &text, look.style(Role::Text), &marks, Some(width));
    if let Some(help) = note.help.filter(|_| chosen) {
        let indent = vec![Span::raw(" ".repeat(INDENT))];
        lines.extend(hanging(indent, help, look.style(Role::Dim), &[], Some(width)));
    }
    lines
}
