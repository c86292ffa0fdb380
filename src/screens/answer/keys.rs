//! The keys of the answer screen.

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::answer;
use crate::screens::answer::layout::pane_area;
use crate::screens::answer::shown::TRUNCATION;
use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Move;
use crate::widgets::look::Look;
use crate::widgets::panes;
use ratatui::layout::{Position, Rect};
use stepscope_base::text::Shown;

/// Does what a key means on the answer screen; `None`: what it means everywhere.
pub(crate) fn act(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    let answer = app.screens.record_mut()?.answer.as_mut()?;
    let done = match action {
        Action::NextCitation => answer.next_span(times),
        Action::PreviousCitation => answer.next_span(-times),
        Action::NextPane => {
            answer.next_pane(1);
            Ok(())
        }
        Action::PreviousPane => {
            answer.next_pane(-1);
            Ok(())
        }
        Action::Open => return Some(open(app)),
        Action::Contents => open_contents(app),
        Action::NextFinding => next_finding(app, times),
        Action::PreviousFinding => next_finding(app, -times),
        Action::CopyQuote => {
            let quote = answer.quote_text();
            return Some(app.copy_if_any(quote, "the quote with its lines"));
        }
        _ => return None,
    };
    if let Err(why) = done {
        app.refuse(why);
    }
    Some(Vec::new())
}

pub(crate) fn go(app: &mut App, movement: Move) {
    let area = app.area();
    let theme = &app.looks.theme;
    let Some(view) = app.screens.record_mut() else { return };
    let Some(mut answer) = view.answer.take() else { return };
    let place = pane_area(area, view.maximised, answer.pane, answer.pane);
    let look = Look { theme, focused: false };
    let citation = answer::citation::lines(&answer, inner_width(place), look).len();
    let checks = answer::checks::len(view, &answer);
    answer.go(movement, inner_height(place), checks, citation);
    view.answer = Some(answer);
}

/// Keeps the cursors of the answer screen within what there is and on screen.
pub(crate) fn settle(app: &mut App) {
    let area = app.area();
    let Some(view) = app.screens.record_mut() else { return };
    let Some(mut answer) = view.answer.take() else { return };
    let place = |pane| pane_area(area, view.maximised, answer.pane, pane);
    let (items, document, checks) = (place(AnswerPane::Items), place(AnswerPane::Document), place(AnswerPane::Checks));
    let width = inner_width(document);
    let rows = |answer: &AnswerView, line: usize| answer::document::rows(answer, line, width);
    let count = answer::checks::len(view, &answer);
    answer.settle(inner_height(items), (count, inner_height(checks)), inner_height(document), rows);
    view.answer = Some(answer);
}

fn open(app: &mut App) -> Effects {
    let Some(view) = app.screens.record_mut() else { return Vec::new() };
    let Some(answer) = &mut view.answer else { return Vec::new() };
    if answer.pane != AnswerPane::Checks {
        if let Err(why) = answer.other_place() {
            app.say(Shown::own(why));
        }
        return Vec::new();
    }
    if let Some(fact) = answer.fact() {
        if fact.name == TRUNCATION
            && let Some(peek) = answer.shown.peek.clone()
        {
            answer.go_to_line(peek.start);
            return Vec::new();
        }
        let text = fact.whole.clone().unwrap_or_else(|| fact.text.clone());
        let title = Shown::own(fact.name);
        app.open_dialog(Dialog::Popup(Popup { title, text }));
        return Vec::new();
    }
    let note = answer.checks.at - answer.shown.facts.len();
    if let Some(pointer) = view.opened.notes.get(note).map(|note| note.pointer.clone()) {
        view.show_in_json(&pointer);
        app.show_json();
    }
    Vec::new()
}

fn open_contents(app: &mut App) -> Result<(), &'static str> {
    let answer = app.screens.record().and_then(|view| view.answer.as_ref());
    let document = answer.and_then(|answer| answer.shown.document.as_ref());
    let toc = document.map(|document| document.toc()).unwrap_or_default();
    if toc.is_empty() {
        return Err("the document has no table of contents");
    }
    let here = answer.and_then(|answer| document?.number(answer.lines.at)).map_or(1, |(page, _)| page);
    let before = toc.iter().rposition(|heading| heading.pages.0.is_some_and(|first| first <= here));
    app.open_dialog(Dialog::Contents);
    app.scroll.at = before.unwrap_or(0);
    Ok(())
}

/// To the heading under the cursor of the contents.
pub(crate) fn follow_contents(app: &mut App) {
    app.dialog = None;
    let Some(answer) = app.screens.record_mut().and_then(|view| view.answer.as_mut()) else { return };
    let Some(document) = answer.shown.document.clone() else { return };
    let page = document.toc().get(app.scroll.at).and_then(|heading| heading.pages.0);
    if let Some(lines) = page.and_then(|page| document.page(page)) {
        answer.go_to_line(lines.start);
    } else {
        app.say(Shown::own("no line is known of this section"));
    }
}

/// To the next finding: the cursor of the checks, and the citation it is about.
fn next_finding(app: &mut App, by: isize) -> Result<(), &'static str> {
    let Some(view) = app.screens.record_mut() else { return Ok(()) };
    let Some(answer) = &mut view.answer else { return Ok(()) };
    let (facts, notes) = (answer.shown.facts.len(), view.opened.notes.len() as isize);
    if notes == 0 {
        return Err("the rules find nothing in this record");
    }
    let here = answer.checks.at as isize - facts as isize;
    let next = if here < 0 { if by > 0 { by - 1 } else { by } } else { here + by };
    let next = next.rem_euclid(notes) as usize;
    answer.checks.at = facts + next;
    answer.pane = AnswerPane::Checks;
    if let Some(note) = view.opened.notes.get(next) {
        answer.choose(&note.pointer);
    }
    Ok(())
}

/// The pane under the mouse gets the keys; its place.
pub(crate) fn focus(app: &mut App, at: Position) -> Option<Rect> {
    let area = app.area();
    let view = app.screens.record_mut()?;
    let answer = view.answer.as_mut()?;
    let (maximised, focused) = (view.maximised, answer.pane);
    let (pane, place) = panes::under(&AnswerPane::ALL, |pane| pane_area(area, maximised, focused, pane), at)?;
    answer.pane = pane;
    Some(place)
}

/// Brings the cursor of a pane where the mouse is.
pub(crate) fn click(app: &mut App, at: Position) {
    let Some(place) = focus(app, at) else { return };
    let row = usize::from(at.y.saturating_sub(place.y + 1));
    let Some(answer) = app.screens.record().and_then(|view| view.answer.as_ref()) else { return };
    let row = match answer.pane {
        AnswerPane::Items => answer.items.top + row,
        AnswerPane::Checks => answer.checks.top + row,
        _ => return,
    };
    go(app, Move::To(row));
}
