//! The keys of the evidence screen.

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::answer;
use crate::screens::answer::sheet::STRONG;
use crate::screens::answer::state::{Evidence, Pane};
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screen;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list;
use crate::widgets::list::Move;
use crate::widgets::look::Look;
use stepscope_base::text::Shown;

impl App {
    /// Does what a key means on the evidence screen; `None`: what it means everywhere.
    pub(crate) fn evidence_action(&mut self, action: Action, times: isize) -> Option<Effects> {
        let Some(Screen::Record(inspect)) = self.screens.front_mut().filter(|top| top.kind() == ScreenKind::Evidence)
        else {
            return None;
        };
        let evidence = inspect.evidence.as_mut()?;
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
            Action::Open => return Some(self.open_evidence()),
            Action::Contents => self.open_contents(),
            Action::NextFinding => self.evidence_finding(times),
            Action::PreviousFinding => self.evidence_finding(-times),
            Action::CopyQuote => {
                let quote = evidence.quote_text();
                return Some(self.copy_if_any(quote, "the quote with its lines"));
            }
            _ => return None,
        };
        if let Err(why) = done {
            self.refuse(why);
        }
        Some(Vec::new())
    }

    pub(crate) fn go_in_evidence(&mut self, movement: Move) {
        let area = self.area();
        let theme = &self.looks.theme;
        let Some(inspect) = self.screens.inspect_mut() else { return };
        let Some(mut evidence) = inspect.evidence.take() else { return };
        let place = answer::layout::evidence_area(area, inspect.maximised, evidence.pane, evidence.pane);
        let look = Look { theme, focused: false };
        let citation = answer::citation::lines(&evidence, inner_width(place), look).len();
        let checks = answer::checks::len(inspect, &evidence);
        evidence.go(movement, inner_height(place), checks, citation);
        inspect.evidence = Some(evidence);
    }

    /// Keeps the cursors of the evidence screen within what there is and on screen.
    pub(crate) fn settle_evidence(&mut self) {
        let area = self.area();
        let Some(inspect) = self.screens.inspect_mut() else { return };
        let Some(mut evidence) = inspect.evidence.take() else { return };
        let place = |pane| answer::layout::evidence_area(area, inspect.maximised, evidence.pane, pane);
        let (items, document, checks) = (place(Pane::Items), place(Pane::Document), place(Pane::Checks));
        let width = inner_width(document);
        let rows = |evidence: &Evidence, line: usize| answer::document::rows(evidence, line, width);
        let count = answer::checks::len(inspect, &evidence);
        evidence.settle(inner_height(items), (count, inner_height(checks)), inner_height(document), rows);
        inspect.evidence = Some(evidence);
    }

    pub(crate) fn open_evidence(&mut self) -> Effects {
        let Some(inspect) = self.screens.inspect_mut() else { return Vec::new() };
        let Some(evidence) = &mut inspect.evidence else { return Vec::new() };
        if evidence.pane != Pane::Checks {
            if let Err(why) = evidence.other_place() {
                self.say(Shown::own(why));
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
            self.open_dialog(Dialog::Popup(Popup { title, text, top: 0 }));
            return Vec::new();
        }
        let note = evidence.checks.at - evidence.sheet.facts.len();
        if let Some(pointer) = inspect.opened.notes.get(note).map(|note| note.pointer.clone()) {
            inspect.show_in_json(&pointer);
            self.show_json();
        }
        Vec::new()
    }

    pub(crate) fn open_contents(&mut self) -> Result<(), &'static str> {
        let evidence = self.screens.inspect().and_then(|inspect| inspect.evidence.as_ref());
        let document = evidence.and_then(|evidence| evidence.sheet.document.as_ref());
        let toc = document.map(|document| document.toc()).unwrap_or_default();
        if toc.is_empty() {
            return Err("the document has no table of contents");
        }
        let here = evidence.and_then(|evidence| document?.number(evidence.lines.at)).map_or(1, |(page, _)| page);
        let before = toc.iter().rposition(|heading| heading.pages.0.is_some_and(|first| first <= here));
        let list = list::List { at: before.unwrap_or(0), top: 0 };
        self.open_dialog(Dialog::Contents(list));
        Ok(())
    }

    /// To the heading under the cursor of the contents.
    pub(crate) fn follow_contents(&mut self) {
        let Some(Dialog::Contents(list)) = self.dialog.take() else { return };
        let Some(evidence) = self.screens.inspect_mut().and_then(|inspect| inspect.evidence.as_mut()) else { return };
        let Some(document) = evidence.sheet.document.clone() else { return };
        let page = document.toc().get(list.at).and_then(|heading| heading.pages.0);
        if let Some(lines) = page.and_then(|page| document.page(page)) {
            evidence.go_to_line(lines.start);
        } else {
            self.say(Shown::own("no line is known of this section"));
        }
    }

    /// To the next finding: the cursor of the checks, and the citation it is about.
    pub(crate) fn evidence_finding(&mut self, by: isize) -> Result<(), &'static str> {
        let Some(inspect) = self.screens.inspect_mut() else { return Ok(()) };
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
}
