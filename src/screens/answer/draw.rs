//! Draws the answer screen.

use ratatui::buffer::Buffer;

use crate::screens::answer::state::AnswerPane;
use crate::screens::answer::{checks, citation, document, items};
use crate::screens::run::state::RecordView;
use crate::screens::run::{findings, question};
use crate::widgets::look::{Look, Spans, grounding_glyph, grounding_role};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::citations::Grounding;

/// Draws the panes.
pub(crate) fn draw(view: &RecordView, buf: &mut Buffer, look: Look<'_>) {
    let Some(answer) = &view.answer else { return };
    for (pane, place, look) in answer.areas.on_screen(answer.pane, look) {
        match pane {
            AnswerPane::Items => items::draw(answer, place, buf, look),
            AnswerPane::Document => document::draw(answer, place, buf, look),
            AnswerPane::Citation => citation::draw(answer, place, buf, look),
            AnswerPane::Checks => checks::draw(view, answer, place, buf, look),
            AnswerPane::Question => question::draw(view, place, buf, look),
        }
    }
    // They share a line with the title of another pane.
    document::draw_pages(answer, buf, look);
}

/// Explains what is under the cursor, in one sentence.
pub(crate) fn explain(view: &RecordView) -> Option<Shown> {
    let answer = view.answer.as_ref()?;
    let notes = &view.opened.notes;
    Some(match answer.pane {
        AnswerPane::Checks => checks::explain(notes, answer),
        AnswerPane::Document => {
            Shown::own("Lines of the document: ▌A is cited by item A, » is where its quote is found")
        }
        AnswerPane::Question => Shown::own("The question that the answer is to"),
        AnswerPane::Items | AnswerPane::Citation => {
            let pointer = answer.part().and_then(|part| answer.pointer_of(part))?;
            let own = notes.iter().filter(|note| note.pointer.is_within(&pointer));
            match own.min_by_key(|note| note.severity) {
                Some(note) => findings::explain(note),
                None => answer.span_view().map_or(Shown::own("no citation"), |span| {
                    meaning(answer.value().map_or(span.standing, |item| item.standing))
                }),
            }
        }
    })
}

/// Returns the sign of a grounding with what it means.
fn meaning(grounding: Grounding) -> Shown {
    let glyph = grounding_glyph(grounding);
    let meaning = sign::CITATIONS.iter().find(|(sign, _)| *sign == glyph);
    meaning.map(|(_, meaning)| shown!("{glyph} {meaning}")).unwrap_or_default()
}

/// Describes what the cursor is on.
pub(crate) fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    let Some(answer) = &view.answer else { return Vec::new() };
    if answer.pane == AnswerPane::Question {
        return Vec::new();
    }
    if answer.pane == AnswerPane::Checks {
        let texts = checks::describe(view, answer).into_iter();
        return texts.map(|(text, role)| look.span(format!("{}  ", text.as_str().replace('\n', " ")), role)).collect();
    }
    let Some(view) = answer.span_view() else { return Vec::new() };
    let mut line = vec![
        look.span(format!("{} {}  ", grounding_glyph(view.standing), view.badge), grounding_role(view.standing)),
        look.span(view.pointer.text().line().into_string(), Role::Faint),
    ];
    for sentence in &view.sentences {
        line.push(look.span(format!("   {sentence}"), Role::Dim));
    }
    line
}
