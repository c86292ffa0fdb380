//! The keys of the answer screen.

use ratatui::layout::{Position, Rect};

use crate::app::msg::Effects;
use crate::app::review::Review;
use crate::app::state::{App, Looks};
use crate::app::status_line::StatusLine;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::answer::layout::areas;
use crate::screens::answer::state::{AnswerPane, AnswerView, CheckRow};
use crate::screens::answer::{checks, citation, document};
use crate::screens::run::state::RecordView;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Keymap, Reason, need};
use crate::widgets::list::Move;
use crate::widgets::look::Look;
use crate::widgets::panes;
use stepscope_base::text::Shown;
use stepscope_evidence::document::{Document, Heading};
use stepscope_present::answer::TRUNCATION;

/// Checks an action that the screen knows; `None`: another one.
pub(crate) fn allowed(screens: &Screens, action: Action) -> Option<Result<(), Reason>> {
    use Action as A;
    let view = screens.record();
    let answer = view.and_then(|view| view.answer.as_ref());
    Some(match action {
        A::Open => {
            let answer = answer.filter(|answer| !matches!(answer.pane, AnswerPane::Checks | AnswerPane::Question));
            answer.map_or(Ok(()), AnswerView::may_show_place)
        }
        A::NextPane | A::PreviousPane | A::Maximise | A::CopyQuote => Ok(()),
        A::NextCitation | A::PreviousCitation => {
            need(answer.is_some_and(AnswerView::cites), "this answer has no citations")
        }
        A::Contents => {
            let document = view.and_then(RecordView::document).ok_or("the document was not found");
            document.and_then(|document| need(!document.toc().is_empty(), "the document has no table of contents"))
        }
        _ => return None,
    })
}

/// Does what a key means on the answer screen; `None`: what it means everywhere.
pub(crate) fn act(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    let count = app.count;
    let answer = answer_mut(&mut app.screens)?;
    let done = match action {
        Action::NextCitation => answer.next_span(times),
        Action::PreviousCitation => answer.next_span(-times),
        Action::NextPane => answer.next_pane(count, 1),
        Action::PreviousPane => answer.next_pane(None, -1),
        Action::Open => {
            open(&mut app.screens);
            Ok(())
        }
        Action::Contents => open_contents(&mut app.screens),
        Action::NextFinding => next_finding(&mut app.screens, times),
        Action::PreviousFinding => next_finding(&mut app.screens, -times),
        Action::CopyQuote => {
            let quote = answer.quote_text();
            return Some(app.status.copy_if_any(quote, "quote with its lines"));
        }
        _ => return None,
    };
    if let Err(why) = done {
        app.status.refuse(&app.keymap, why);
    }
    Some(Vec::new())
}

fn answer_mut(screens: &mut Screens) -> Option<&mut AnswerView> {
    screens.record_mut()?.answer.as_mut()
}

pub(crate) fn go(screens: &mut Screens, movement: Move) {
    let Some(view) = screens.record_mut() else { return };
    match &mut view.answer {
        Some(answer) if answer.pane == AnswerPane::Question => {
            let area = answer.areas.of(AnswerPane::Question);
            view.scroll_question(movement, area);
        }
        answer => answer.iter_mut().for_each(|answer| answer.go(movement)),
    }
}

/// Lays the panes out, and keeps the cursors within what there is and on screen.
pub(crate) fn settle(area: Rect, screens: &mut Screens, review: &Review, looks: &Looks, keymap: &Keymap) {
    let look = Look::new(&looks.theme, keymap, false);
    let Some(view) = screens.record_mut() else { return };
    let RecordView { opened, maximised, answer: Some(answer), .. } = view else { return };
    answer.verdicts = review.part_verdicts();
    answer.has_question = !opened.question_text().as_str().is_empty();
    if answer.pane == AnswerPane::Question && !answer.has_question {
        answer.pane = AnswerPane::Items;
    }
    answer.areas = areas(area, *maximised, opened, answer);
    answer.citation_lines = citation::lines(answer, answer.areas.width(AnswerPane::Citation), look).len();
    let (width, most) = (answer.areas.width(AnswerPane::Checks), usize::from(area.height));
    answer.checks_lines = checks::height(&opened.notes, answer, width, most, look);
    // How wide they are does not depend on their lines; how high they are does.
    answer.areas = areas(area, *maximised, opened, answer);
    let width = answer.areas.width(AnswerPane::Document);
    let checks = answer.areas.width(AnswerPane::Checks);
    answer.settle(
        |answer, line| document::rows(answer, line, width),
        |answer, row| checks::lines(&opened.notes, answer, row, checks, look).len(),
    );
    let question = answer.areas.of(AnswerPane::Question);
    view.settle_question(question);
}

fn open(screens: &mut Screens) {
    let Some(view) = screens.record_mut() else { return };
    let Some(answer) = &mut view.answer else { return };
    match answer.pane {
        AnswerPane::Checks => {}
        AnswerPane::Question => {
            let popup = Popup { title: Shown::own("question"), text: view.opened.question.clone() };
            screens.open_dialog(Dialog::Popup(popup));
            return;
        }
        AnswerPane::Items | AnswerPane::Document | AnswerPane::Citation => {
            answer.other_place();
            return;
        }
    }
    if let Some(fact) = answer.fact() {
        if fact.name == TRUNCATION
            && let Some(peek) = answer.shown.peek.clone()
        {
            answer.go_to_line(peek.start);
            return;
        }
        let text = fact.whole.clone().unwrap_or_else(|| fact.text.clone());
        let title = Shown::own(fact.name);
        screens.open_dialog(Dialog::Popup(Popup { title, text }));
        return;
    }
    let note = answer.note().and_then(|note| view.opened.notes.get(note));
    if let Some(pointer) = note.map(|note| note.pointer.clone()) {
        view.show_in_json(&pointer);
        screens.show_json();
    }
}

fn open_contents(screens: &mut Screens) -> Result<(), Reason> {
    let view = screens.record();
    let Some((answer, document)) = view.and_then(|view| Some((view.answer.as_ref()?, view.document()?))) else {
        return Err("the document has no table of contents");
    };
    let here = document.number(answer.lines.at).map_or(1, |(page, _)| page);
    // On the same page its own line tells.
    let line = answer.lines.at;
    let is_above = |heading: &Heading| {
        let is_later = || line_of(document, heading).is_some_and(|own| own > line);
        heading.pages.0.is_some_and(|first| first < here || first == here && !is_later())
    };
    let at = document.toc().iter().rposition(is_above).unwrap_or(0);
    screens.open_dialog(Dialog::Contents);
    screens.scroll.at = at;
    Ok(())
}

/// Finds the line of a heading on its first page, by its words.
fn line_of(document: &Document, heading: &Heading) -> Option<usize> {
    let words =
        |text: &[u8]| String::from_utf8_lossy(text).to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let title = words(&heading.title);
    let mut lines = document.page(heading.pages.0?)?;
    lines.find(|line| words(document.text(*line..*line + 1)).starts_with(&title)).filter(|_| !title.is_empty())
}

/// Goes to the heading under the cursor of the contents.
pub(crate) fn follow_contents(screens: &mut Screens, status: &mut StatusLine) {
    screens.dialog = None;
    let row = screens.scroll.at;
    let Some(answer) = answer_mut(screens) else { return };
    let Some(document) = answer.shown.document.clone() else { return };
    let heading = document.toc().get(row);
    let page = || document.page(heading?.pages.0?).map(|lines| lines.start);
    if let Some(line) = heading.and_then(|heading| line_of(&document, heading)).or_else(page) {
        answer.go_to_line(line);
    } else {
        status.say(Shown::own("this section has no known line"));
    }
}

/// Goes to the next finding: moves the cursor of the checks, and shows the citation that it is about.
fn next_finding(screens: &mut Screens, by: isize) -> Result<(), Reason> {
    let Some(view) = screens.record_mut() else { return Ok(()) };
    let Some(answer) = &mut view.answer else { return Ok(()) };
    let rows = answer.check_rows.iter().enumerate();
    let notes: Vec<usize> = rows.filter(|(_, row)| matches!(row, CheckRow::Note(_))).map(|(n, _)| n).collect();
    if notes.is_empty() {
        return Err("no findings in this record");
    }
    let here = notes.iter().position(|row| *row == answer.checks.at);
    // The first press shows the finding under the cursor; only the next one moves on.
    let by = if answer.pane == AnswerPane::Checks || here.is_none() { by } else { by - by.signum() };
    let next = panes::turn_to(here, by, notes.len());
    answer.checks.at = notes.get(next).copied().unwrap_or(0);
    answer.pane = AnswerPane::Checks;
    if let Some(note) = answer.note().and_then(|note| view.opened.notes.get(note)) {
        answer.choose(&note.pointer);
    }
    Ok(())
}

/// Gives the keys to the pane under the mouse, and returns the line there.
pub(crate) fn focus(screens: &mut Screens, at: Position) -> Option<usize> {
    let answer = answer_mut(screens)?;
    let (pane, line) = answer.areas.at(at)?;
    answer.pane = pane;
    Some(line)
}

/// Brings the cursor of a pane where the mouse is.
pub(crate) fn click(keymap: &Keymap, looks: &Looks, screens: &mut Screens, at: Position) {
    let look = Look::new(&looks.theme, keymap, false);
    let Some(RecordView { opened, answer: Some(answer), .. }) = screens.record_mut() else { return };
    if let Some(line) = document::page_at(answer, at, look) {
        answer.go_to_line(line);
        return;
    }
    let Some((pane, line)) = answer.areas.at(at) else { return };
    answer.pane = pane;
    match answer.pane {
        AnswerPane::Items => answer.go(Move::To(answer.items.top + line)),
        AnswerPane::Checks => {
            let width = answer.areas.width(AnswerPane::Checks);
            let lines = |row: usize| checks::lines(&opened.notes, answer, row, width, look).len();
            let row = answer.checks.row_at(line, answer.check_rows.len(), lines);
            answer.go(Move::To(row));
        }
        AnswerPane::Document | AnswerPane::Citation | AnswerPane::Question => {}
    }
}
