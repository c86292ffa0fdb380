//! The answer screen's state: which item, which citation, which line of the document. It owns its changes; `update`
//! only routes to it.

use std::collections::HashMap;
use std::ops::Range;

use crate::screens::run::find::Hit;
use crate::screens::run::pane::{OF_QUESTION, RunPane};
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::list::{List, Move, scroll, top_above};
use crate::widgets::panes;
use crate::widgets::panes::{Areas, Numbered};
use stepscope_base::json::Pointer;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::citations::lines_in_words;
use stepscope_judge::route::Route;
use stepscope_present::answer::{Fact, ItemView, ROUTE, ShownAnswer, SpanView};
use stepscope_present::notes::Note;
use stepscope_record::finding::Severity;
use stepscope_review::event::{AnswerPart, Verdict};

stepscope_base::words! {
    /// The panes of the answer screen, by their titles, in the order of Tab.
    #[derive(Default)]
    pub enum AnswerPane {
        /// Items of the answer, with their citations.
        #[default]
        Items = "Answer",
        /// Document that is cited.
        Document = "Document",
        /// One citation in full.
        Citation = "Citation",
        /// Statements of the answer about itself, findings, and what follows from them.
        Checks = "Checks",
        /// Question that was answered, under the same number as on the run screen.
        Question = "Question",
    }
}

impl Numbered for AnswerPane {
    const PANES: &'static [Self] = &Self::ALL;

    fn number(self) -> Option<usize> {
        if self == Self::Question { RunPane::Question.number() } else { Some(self as usize + 1) }
    }
}

impl AnswerPane {
    /// Lists what the pane is for.
    pub(crate) const fn actions(self) -> &'static [Action] {
        use Action as A;
        match self {
            Self::Items | Self::Citation => &[A::Open, A::NextCitation, A::CopyQuote, A::CopyValue],
            Self::Document => &[A::Contents, A::Find, A::NextCitation, A::CopyQuote],
            Self::Checks => &[A::Open, A::NextFinding, A::Explain],
            Self::Question => OF_QUESTION,
        }
    }
}

/// A row of the items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerRow {
    /// A line of an item's value; the first has its title.
    Item(usize, usize),
    /// A citation.
    Span(usize),
}

/// A row of the checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CheckRow {
    /// A statement of the answer about itself, or its route.
    Fact(usize),
    /// A finding.
    Note(usize),
}

/// Verdict on a part of the answer.
#[derive(Clone, Debug)]
pub(crate) struct PartVerdict {
    /// The part.
    pub part: AnswerPart,
    /// The verdict.
    pub verdict: Verdict,
    /// Names of its labels.
    pub labels: String,
    /// The reviewer; `None`: I gave it.
    pub by: Option<Shown>,
}

/// State of the answer screen.
#[derive(Debug)]
pub struct AnswerView {
    /// The answer.
    pub shown: ShownAnswer,
    /// The pane that has the keys.
    pub pane: AnswerPane,
    /// Areas of the panes, as they were laid out last.
    pub(crate) areas: Areas<AnswerPane>,
    /// The rows of the checks in the order of their weight: the route, the findings, what the answer says of itself.
    pub(crate) check_rows: Vec<CheckRow>,
    /// The first row of those that say the same, for each of them: it shows them all.
    pub(crate) check_heads: Vec<usize>,
    /// Number of lines that the citation takes in its pane.
    pub(crate) citation_lines: usize,
    /// Number of lines that the checks take in their pane, as far as a screen may show them.
    pub(crate) checks_lines: usize,
    /// The rows of the items.
    pub rows: Vec<AnswerRow>,
    /// The cursor among them.
    pub items: List,
    /// The cursor among the lines of the document; `top` is the first line on screen.
    pub lines: List,
    /// The cursor among the checks.
    pub checks: List,
    /// The first line of the citation on screen.
    pub citation_top: usize,
    /// The document shows where the quote was found, not where it was cited.
    pub at_found: bool,
    /// The document is to be brought to the citation.
    pub moved: bool,
    /// The verdicts on its parts that may be seen.
    pub(crate) verdicts: Vec<PartVerdict>,
    /// The record holds the question.
    pub(crate) has_question: bool,
}

impl AnswerView {
    /// Begins at the check that failed, else at the first item, its citation on screen.
    pub fn new(shown: ShownAnswer, notes: &[Note], taken: Option<Route>) -> Self {
        let mut rows = Vec::new();
        for &item in &shown.order {
            let Some(view) = shown.items.get(item) else { continue };
            rows.extend((0..view.lines.len().max(1)).map(|line| AnswerRow::Item(item, line)));
            rows.extend(view.spans.clone().map(AnswerRow::Span));
        }
        let unnamed = |fact: &&Fact| fact.name.is_empty() || fact.name == ROUTE;
        let route = shown.facts.iter().take_while(unnamed).count();
        let facts = |range: Range<usize>| range.map(CheckRow::Fact);
        let mut firsts = HashMap::new();
        let mut by_weight: Vec<(Severity, usize, usize)> = notes
            .iter()
            .enumerate()
            .map(|(n, note)| (note.severity, *firsts.entry(shown.said_by(note)).or_insert(n), n))
            .collect();
        by_weight.sort_unstable();
        let before = facts(0..route).count();
        let head = |(row, (_, first, _)): (usize, &(Severity, usize, usize))| {
            let same = by_weight.iter().take(row).rev().take_while(|(_, other, _)| other == first).count();
            before + row - same
        };
        let heads = by_weight.iter().enumerate().map(head);
        let check_heads = (0..before).chain(heads).collect();
        let note_rows = by_weight.iter().map(|(.., note)| CheckRow::Note(*note));
        let check_rows = facts(0..route).chain(note_rows).chain(facts(route..shown.facts.len())).collect();
        let mut answer = Self {
            shown,
            pane: AnswerPane::Items,
            areas: Areas::default(),
            check_rows,
            check_heads,
            citation_lines: 0,
            checks_lines: 0,
            rows,
            items: List::default(),
            lines: List::default(),
            checks: List::default(),
            citation_top: 0,
            at_found: false,
            moved: false,
            verdicts: Vec::new(),
            has_question: true,
        };
        answer.follow_cursor();
        answer.begin_at_fault(notes, taken.filter(|route| *route != Route::Ship));
        if answer.place().is_none() {
            answer.show_retrieved();
        }
        answer
    }

    /// Goes to the finding that leads to the route, else to the gravest error.
    fn begin_at_fault(&mut self, notes: &[Note], route: Option<Route>) {
        let note_at = |row: &CheckRow| if let CheckRow::Note(note) = *row { notes.get(note) } else { None };
        let leads =
            |row: &CheckRow| note_at(row).is_some_and(|note| route.is_some() && self.shown.said_by(note).2 == route);
        let is_grave = |row: &CheckRow| note_at(row).is_some_and(Note::is_grave);
        let failed = self.check_rows.iter().position(leads).or_else(|| self.check_rows.iter().position(is_grave));
        if let Some((row, note)) = failed.and_then(|row| Some((row, note_at(self.check_rows.get(row)?)?))) {
            self.checks.at = row;
            self.choose(&note.pointer);
        }
    }

    /// Moves to the first page that the model saw, the place to look when nothing is cited.
    fn show_retrieved(&mut self) {
        let document = self.shown.document.as_ref();
        let first = self.shown.retrieved.iter().min().and_then(|page| document?.page(*page));
        if let Some(lines) = first {
            self.lines.at = lines.start;
            self.moved = true;
        }
    }

    /// Takes over what a person has arranged on the record before.
    #[must_use]
    pub fn like(mut self, other: &Self) -> Self {
        self.pane = other.pane;
        self
    }

    /// Returns the item under the cursor.
    pub fn item(&self) -> Option<usize> {
        match *self.rows.get(self.items.at)? {
            AnswerRow::Item(item, _) => Some(item),
            AnswerRow::Span(span) => Some(self.shown.spans.get(span)?.item),
        }
    }

    /// Returns the citation under the cursor; on an item, its first.
    pub fn span(&self) -> Option<usize> {
        match *self.rows.get(self.items.at)? {
            AnswerRow::Span(span) => Some(span),
            AnswerRow::Item(item, _) => self.shown.items.get(item)?.spans.clone().next(),
        }
    }

    /// Returns the part of the answer under the cursor.
    pub(crate) fn part(&self) -> Option<AnswerPart> {
        match *self.rows.get(self.items.at)? {
            AnswerRow::Item(item, _) => Some(AnswerPart { item: item as u64, citation: None }),
            AnswerRow::Span(span) => self.part_of(span),
        }
    }

    /// Returns a citation as a part of its item.
    pub(crate) fn part_of(&self, span: usize) -> Option<AnswerPart> {
        let item = self.shown.spans.get(span)?.item;
        let first = self.shown.items.get(item)?.spans.start;
        Some(AnswerPart { item: item as u64, citation: Some(span.saturating_sub(first) as u64) })
    }

    /// Returns the position of a part in the record, as a JSON pointer.
    pub(crate) fn pointer_of(&self, part: AnswerPart) -> Option<Pointer> {
        let item = self.shown.items.get(usize::try_from(part.item).ok()?)?;
        let Some(citation) = part.citation else { return Some(item.pointer.clone()) };
        let span = item.spans.start + usize::try_from(citation).ok()?;
        self.shown.spans.get(span).map(|view| view.pointer.clone())
    }

    /// Lists the verdicts on a part, mine first.
    pub(crate) fn verdicts_of(&self, part: Option<AnswerPart>) -> impl Iterator<Item = &PartVerdict> {
        let of_part = move |mine: bool| {
            self.verdicts.iter().filter(move |given| Some(given.part) == part && given.by.is_none() == mine)
        };
        of_part(true).chain(of_part(false))
    }

    /// Returns the citation under the cursor.
    pub(crate) fn span_view(&self) -> Option<&SpanView> {
        self.shown.spans.get(self.span()?)
    }

    /// Returns the item whose value is under the cursor.
    pub fn value(&self) -> Option<&ItemView> {
        match *self.rows.get(self.items.at)? {
            AnswerRow::Item(item, _) => self.shown.items.get(item),
            AnswerRow::Span(_) => None,
        }
    }

    /// Returns the fact under the cursor of the checks.
    pub fn fact(&self) -> Option<&Fact> {
        match *self.check_rows.get(self.checks.at)? {
            CheckRow::Fact(fact) => self.shown.facts.get(fact),
            CheckRow::Note(_) => None,
        }
    }

    /// Returns the finding under the cursor of the checks.
    pub(crate) fn note(&self) -> Option<usize> {
        match *self.check_rows.get(self.checks.at)? {
            CheckRow::Note(note) => Some(note),
            CheckRow::Fact(_) => None,
        }
    }

    /// Returns the row of the checks that shows one of them.
    pub(crate) fn check_head(&self, row: usize) -> usize {
        self.check_heads.get(row).copied().unwrap_or(row)
    }

    /// Lists the findings that a row of the checks shows; none where another one does.
    pub(crate) fn notes_of(&self, row: usize) -> impl Iterator<Item = usize> {
        let rows = self.check_rows.iter().enumerate().skip(row);
        let own = rows.take_while(move |(other, _)| self.check_head(*other) == row);
        own.filter_map(|(_, row)| if let CheckRow::Note(note) = row { Some(*note) } else { None })
    }

    /// Goes to a finding in the checks.
    pub(crate) fn go_to_note(&mut self, note: usize) {
        self.pane = AnswerPane::Checks;
        let row = self.check_rows.iter().position(|row| *row == CheckRow::Note(note));
        self.checks.at = row.unwrap_or(self.checks.at);
    }

    /// Goes to the pane of a number, from 1, else to the next.
    pub(crate) fn next_pane(&mut self, number: Option<usize>, by: isize) -> Result<(), Reason> {
        let is_there = |pane: &AnswerPane| *pane != AnswerPane::Question || self.has_question;
        let all: Vec<AnswerPane> = AnswerPane::ALL.into_iter().filter(is_there).collect();
        let pane = number.map_or(Ok(panes::turn(&all, self.pane, by)), panes::numbered)?;
        self.pane = Some(pane).filter(is_there).ok_or(panes::NO_PANE)?;
        Ok(())
    }

    /// Moves what the keys are on.
    pub fn go(&mut self, movement: Move) {
        let height = self.areas.height(self.pane);
        match self.pane {
            AnswerPane::Items => {
                self.items.go(movement, self.rows.len(), height);
                self.follow_cursor();
            }
            AnswerPane::Document => {
                let lines = self.document_len();
                self.lines.go(movement, lines, height);
            }
            AnswerPane::Citation => scroll(&mut self.citation_top, movement, self.citation_lines, height),
            AnswerPane::Checks => self.checks.go(movement, self.check_rows.len(), height),
            // The record has it, whatever its screen.
            AnswerPane::Question => {}
        }
    }

    /// Counts the lines of the document.
    pub(crate) fn document_len(&self) -> usize {
        self.shown.document.as_ref().map_or(0, |document| document.len())
    }

    /// Goes to the next citation, from the last to the first.
    pub(crate) fn next_span(&mut self, by: isize) -> Result<(), Reason> {
        let places: Vec<usize> =
            (0..self.rows.len()).filter(|row| matches!(self.rows.get(*row), Some(AnswerRow::Span(_)))).collect();
        let Some(last) = places.len().checked_sub(1) else { return Err("this answer has no citations") };
        let here = self.items.at;
        let next = if by > 0 {
            let after = places.partition_point(|row| *row <= here) as isize;
            after + by - 1
        } else {
            places.partition_point(|row| *row < here) as isize + by
        };
        let next = next.rem_euclid(last as isize + 1) as usize;
        self.items.at = places.get(next).copied().unwrap_or(0);
        self.follow_cursor();
        Ok(())
    }

    /// Tells whether anything is cited.
    pub fn cites(&self) -> bool {
        self.rows.iter().any(|row| matches!(row, AnswerRow::Span(_)))
    }

    /// Puts the cursor on the citation or item that a pointer leads into.
    pub fn choose(&mut self, pointer: &Pointer) {
        let inside = |other: &Pointer| pointer.0.starts_with(&other.0);
        let is_in = |row: &&AnswerRow| match **row {
            AnswerRow::Span(span) => self.shown.spans.get(span).is_some_and(|view| inside(&view.pointer)),
            AnswerRow::Item(item, _) => self.shown.items.get(item).is_some_and(|view| inside(&view.pointer)),
        };
        let fits = self.rows.iter().filter(is_in);
        let found = fits.clone().find(|row| matches!(row, AnswerRow::Span(_))).or(fits.clone().next());
        let at = found.and_then(|found| self.rows.iter().position(|row| row == found));
        if let Some(at) = at {
            self.items.at = at;
            self.follow_cursor();
        }
    }

    /// Moves the document to the citation under the cursor.
    fn follow_cursor(&mut self) {
        self.citation_top = 0;
        let view = self.span_view();
        // A quote that stands elsewhere is the question; where it was cited comes first.
        self.at_found = view.is_some_and(|view| view.cited.is_none() && view.found.is_some());
        self.show_place();
    }

    /// Checks that the document can be moved: to the other place of the citation, or back to the only one.
    pub(crate) fn may_show_place(&self) -> Result<(), Reason> {
        need(self.span().is_some(), "no citation here")?;
        need(self.shown.document.is_some(), "the document was not found")?;
        let place = self.place().ok_or("not found in the document")?;
        need(self.has_other_place() || self.lines.at != place.start, "the citation has no other place")
    }

    /// Tells whether the citation is found, or something like it, in another place than the cited one.
    fn has_other_place(&self) -> bool {
        let [cited, found] = [false, true].map(|at_found| self.place_of(at_found).map(|place| place.start));
        cited != found
    }

    /// Goes to the other place of the citation: cited or found.
    pub(crate) fn other_place(&mut self) {
        self.at_found ^= self.has_other_place();
        self.show_place();
    }

    fn show_place(&mut self) {
        let place = self.place();
        if let Some(place) = place {
            self.lines.at = place.start;
            self.moved = true;
        }
    }

    /// Returns the lines that the document is to show.
    pub fn place(&self) -> Option<Range<usize>> {
        self.place_of(self.at_found)
    }

    fn place_of(&self, at_found: bool) -> Option<Range<usize>> {
        let view = self.span_view()?;
        let found = view.found.as_ref().map(|found| found.lines.clone()).or_else(|| view.near.clone());
        if at_found { found.or_else(|| view.cited.clone()) } else { view.cited.clone().or(found) }
    }

    /// Goes to a line of the document.
    pub(crate) fn go_to_line(&mut self, line: usize) {
        self.pane = AnswerPane::Document;
        self.lines.at = line.min(self.document_len().saturating_sub(1));
        self.moved = true;
    }

    /// Returns the quote with its lines, for copying: the document's own words where it has them, and the lines where
    /// those are, which need not be the ones that the answer cites.
    pub(crate) fn quote_text(&self) -> Option<Shown> {
        let view = self.span_view()?;
        let found = view.found.as_ref().map(|found| &found.lines);
        let lines = found.or(view.near.as_ref()).or(view.cited.as_ref());
        let (Some(text), Some(document), Some(lines)) = (&view.recovered, &self.shown.document, lines) else {
            return view.quote.clone();
        };
        Some(shown!("“{text}”, {}: {}", lines_in_words(document, lines), view.badge))
    }

    /// Lists every row of the items and line of the document that holds a text.
    pub fn hits(&self, is_match: impl Fn(&str) -> bool) -> Vec<Hit> {
        let text = |row: &AnswerRow| match *row {
            AnswerRow::Item(item, line) => {
                let view = self.shown.items.get(item)?;
                Some(if line == 0 {
                    shown!("{} {}", view.title, view.lines.first()?)
                } else {
                    view.lines.get(line)?.clone()
                })
            }
            AnswerRow::Span(span) => self.shown.spans.get(span)?.quote.clone(),
        };
        let rows = self.rows.iter().enumerate();
        let mut hits: Vec<Hit> = rows
            .filter(|(_, row)| text(row).is_some_and(|text| is_match(text.as_str())))
            .map(|(n, _)| Hit::Item(n))
            .collect();
        if let Some(document) = &self.shown.document {
            let lines = (0..document.len())
                .filter(|line| document.line(*line).is_some_and(|text| std::str::from_utf8(text).is_ok_and(&is_match)));
            hits.extend(lines.map(Hit::Line));
        }
        hits
    }

    /// Goes to a place that was found.
    pub(crate) fn visit(&mut self, hit: Hit) {
        match hit {
            Hit::Item(row) => {
                self.pane = AnswerPane::Items;
                self.items.at = row;
                self.follow_cursor();
            }
            Hit::Line(line) => self.go_to_line(line),
            _ => {}
        }
    }

    /// Keeps every cursor within what there is and on screen. `rows_of` says how many rows a line of the document
    /// takes, `check_lines` how many lines a check.
    pub(crate) fn settle(
        &mut self,
        rows_of: impl Fn(&Self, usize) -> usize,
        check_lines: impl Fn(&Self, usize) -> usize,
    ) {
        self.items.settle(self.rows.len(), self.areas.height(AnswerPane::Items));
        let mut checks = self.checks;
        checks.at = self.check_head(checks.at.min(self.check_rows.len().saturating_sub(1)));
        checks.settle_tall(self.check_rows.len(), self.areas.height(AnswerPane::Checks), |row| check_lines(self, row));
        self.checks = List { at: self.checks.at.min(self.check_rows.len().saturating_sub(1)), ..checks };
        let height = self.areas.height(AnswerPane::Document);
        let count = self.document_len();
        let at = self.lines.at.min(count.saturating_sub(1));
        self.lines.at = at;
        let rows = |line: usize| rows_of(self, line);
        let lowest = top_above(at, height.saturating_sub(rows(at)), &rows);
        let third = top_above(at, height / 3, &rows);
        if std::mem::take(&mut self.moved) {
            // A third of what is on screen stands before what one came to see, or all down from the place above it
            // that belongs to it.
            let above = self.places().filter(|line| (lowest..at).contains(line)).min();
            self.lines.top = above.map_or(third, |above| third.min(above));
        }
        self.lines.top = self.lines.top.clamp(lowest, at);
    }

    /// Lists the lines where the citation under the cursor is cited and where it is found.
    fn places(&self) -> impl Iterator<Item = usize> {
        let view = self.span_view();
        let cited = view.and_then(|view| view.cited.as_ref()).map(|lines| lines.start);
        let found = view.and_then(|view| view.found.as_ref()).map(|found| found.lines.start);
        cited.into_iter().chain(found)
    }
}
