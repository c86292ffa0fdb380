//! The keys of the evidence screen.

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::answer;
use crate::screens::answer::layout::evidence_area;
use crate::screens::answer::sheet::STRONG;
use crate::screens::answer::state::{Evidence, Pane};
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Move;
use crate::widgets::look::Look;
use crate::widgets::{list, panes};
use ratatui::layout::{Position, Rect};
use stepscope_base::text::Shown;

/// Does what a key means on the evidence screen; `None`: what it means everywhere.
pub(crate) fn act(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    let evidence = app.screens.inspect_mut()?.evidence.as_mut()?;
    let done = match action {
        Action::NextSpan => evidence.next_span(times),
        Action::PreviousSpan => evidence.next_span(-times),
        Action::NextPane => {
            evidence.next_pane(1);
            Ok(())
        }
        Action::PreviousPane => {
            evidence.next_pane(-1);
            Ok(())
        }
        Action::Open => return Some(open_evidence(app)),
        Action::Contents => open_contents(app),
        Action::NextFinding => evidence_finding(app, times),
        Action::PreviousFinding => evidence_finding(app, -times),
        Action::CopyQuote => {
            let quote = evidence.quote_text();
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
    let Some(inspect) = app.screens.inspect_mut() else { return };
    let Some(mut evidence) = inspect.evidence.take() else { return };
    let place = evidence_area(area, inspect.maximised, evidence.pane, evidence.pane);
    let look = Look { theme, focused: false };
    let citation = answer::citation::lines(&evidence, inner_width(place), look).len();
    let checks = answer::checks::len(inspect, &evidence);
    evidence.go(movement, inner_height(place), checks, citation);
    inspect.evidence = Some(evidence);
}

/// Keeps the cursors of the evidence screen within what there is and on screen.
pub(crate) fn settle(app: &mut App) {
    let area = app.area();
    let Some(inspect) = app.screens.inspect_mut() else { return };
    let Some(mut evidence) = inspect.evidence.take() else { return };
    let place = |pane| evidence_area(area, inspect.maximised, evidence.pane, pane);
    let (items, document, checks) = (place(Pane::Items), place(Pane::Document), place(Pane::Checks));
    let width = inner_width(document);
    let rows = |evidence: &Evidence, line: usize| answer::document::rows(evidence, line, width);
    let count = answer::checks::len(inspect, &evidence);
    evidence.settle(inner_height(items), (count, inner_height(checks)), inner_height(document), rows);
    inspect.evidence = Some(evidence);
}

fn open_evidence(app: &mut App) -> Effects {
    let Some(inspect) = app.screens.inspect_mut() else { return Vec::new() };
    let Some(evidence) = &mut inspect.evidence else { return Vec::new() };
    if evidence.pane != Pane::Checks {
        if let Err(why) = evidence.other_place() {
            app.say(Shown::own(why));
        }
        return Vec::new();
    }
    if let Some(fact) = evidence.fact() {
        if fact.name == STRONG
            && let Some(peek) = evidence.sheet.peek.clone()
        {
            evidence.go_to_line(peek.start);
            return Vec::new();
        }
        let text = fact.whole.clone().unwrap_or_else(|| fact.text.clone());
        let title = Shown::own(fact.name);
        app.open_dialog(Dialog::Popup(Popup { title, text, top: 0 }));
        return Vec::new();
    }
    let note = evidence.checks.at - evidence.sheet.facts.len();
    if let Some(pointer) = inspect.opened.notes.get(note).map(|note| note.pointer.clone()) {
        inspect.show_in_json(&pointer);
        app.show_json();
    }
    Vec::new()
}

fn open_contents(app: &mut App) -> Result<(), &'static str> {
    let evidence = app.screens.inspect().and_then(|inspect| inspect.evidence.as_ref());
    let document = evidence.and_then(|evidence| evidence.sheet.document.as_ref());
    let toc = document.map(|document| document.toc()).unwrap_or_default();
    if toc.is_empty() {
        return Err("the document has no table of contents");
    }
    let here = evidence.and_then(|evidence| document?.number(evidence.lines.at)).map_or(1, |(page, _)| page);
    let before = toc.iter().rposition(|heading| heading.pages.0.is_some_and(|first| first <= here));
    let list = list::List { at: before.unwrap_or(0), top: 0 };
    app.open_dialog(Dialog::Contents(list));
    Ok(())
}

/// To the heading under the cursor of the contents.
pub(crate) fn follow_contents(app: &mut App) {
    let Some(Dialog::Contents(list)) = app.dialog.take() else { return };
    let Some(evidence) = app.screens.inspect_mut().and_then(|inspect| inspect.evidence.as_mut()) else { return };
    let Some(document) = evidence.sheet.document.clone() else { return };
    let page = document.toc().get(list.at).and_then(|heading| heading.pages.0);
    if let Some(lines) = page.and_then(|page| document.page(page)) {
        evidence.go_to_line(lines.start);
    } else {
        app.say(Shown::own("no line is known of this section"));
    }
}

/// To the next finding: the cursor of the checks, and the citation it is about.
fn evidence_finding(app: &mut App, by: isize) -> Result<(), &'static str> {
    let Some(inspect) = app.screens.inspect_mut() else { return Ok(()) };
    let Some(evidence) = &mut inspect.evidence else { return Ok(()) };
    let (facts, notes) = (evidence.sheet.facts.len(), inspect.opened.notes.len() as isize);
    if notes == 0 {
        return Err("the rules find nothing in this record");
    }
    let here = evidence.checks.at as isize - facts as isize;
    let next = if here < 0 { if by > 0 { by - 1 } else { by } } else { here + by };
    let next = next.rem_euclid(notes) as usize;
    evidence.checks.at = facts + next;
    evidence.pane = Pane::Checks;
    if let Some(note) = inspect.opened.notes.get(next) {
        evidence.choose(&note.pointer);
    }
    Ok(())
}

/// The pane under the mouse gets the keys; its place.
pub(crate) fn focus(app: &mut App, at: Position) -> Option<Rect> {
    let area = app.area();
    let inspect = app.screens.inspect_mut()?;
    let evidence = inspect.evidence.as_mut()?;
    let (maximised, focused) = (inspect.maximised, evidence.pane);
    let (pane, place) = panes::under(&Pane::ALL, |pane| evidence_area(area, maximised, focused, pane), at)?;
    evidence.pane = pane;
    Some(place)
}

/// Brings the cursor of a pane where the mouse is.
pub(crate) fn click(app: &mut App, at: Position) {
    let Some(place) = focus(app, at) else { return };
    let row = usize::from(at.y.saturating_sub(place.y + 1));
    let Some(evidence) = app.screens.inspect().and_then(|inspect| inspect.evidence.as_ref()) else { return };
    let row = match evidence.pane {
        Pane::Items => evidence.items.top + row,
        Pane::Checks => evidence.checks.top + row,
        _ => return,
    };
    go(app, Move::To(row));
}
