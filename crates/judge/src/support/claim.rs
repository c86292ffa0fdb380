//! The claim of an item, the texts that it cites, and what was found of the one in the other.

use std::ops::Range;

use stepscope_arithmetic::scripts::is_unspaced;
use stepscope_base::json::Pointer;
use stepscope_base::text::Untrusted;
use stepscope_evidence::document::Document;
use stepscope_evidence::figures::{Convention, Figure, Language, figures, header_scale};
use stepscope_evidence::wording::find_unspaced;
use stepscope_record::finding::Severity;

/// Number of faults of one item that are kept.
const MAX_FAULTS: usize = 8;

/// Result of looking for a value in its citation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ValueStanding {
    /// Something that it says is not in the cited lines, or they say the opposite.
    Missing,
    /// Its words are others than those of the cited lines.
    Paraphrased,
    /// It was not compared: it is computed or concluded, or the cited lines are not at hand.
    Unchecked,
    /// It stands there.
    Stands,
}

impl ValueStanding {
    /// The standing in a word, as lines of results write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Paraphrased => "paraphrased",
            Self::Unchecked => "unchecked",
            Self::Stands => "stands",
        }
    }
}

/// Something of a value that its citation does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueFault {
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
    /// The missing part, in a sentence.
    pub message: Untrusted<'static>,
    /// Severity: a warning, or a note where only words differ.
    pub severity: Severity,
}

/// An item against what it cites.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemSupport {
    /// Result.
    pub standing: ValueStanding,
    /// Bytes of the document at which the value or its parts stand, in order.
    pub places: Vec<Range<usize>>,
    /// The missing part.
    pub faults: Vec<ValueFault>,
    /// Reason to think that the question names another value of the document.
    pub doubt: Option<ValueFault>,
}

impl ItemSupport {
    pub(super) const UNCHECKED: Self =
        Self { standing: ValueStanding::Unchecked, places: Vec::new(), faults: Vec::new(), doubt: None };

    /// Settles the standing by what was found to be missing.
    pub(super) fn settled(mut self) -> Self {
        self.faults.truncate(MAX_FAULTS);
        self.places.sort_by_key(|range| (range.start, range.end));
        self.places.dedup();
        self
    }
}

/// Claim and citations of one item, for the readers of values.
pub(super) struct Claimed<'i> {
    pub(super) evidence: &'i Evidence<'i>,
    pub(super) question: &'i str,
    pub(super) found: ItemSupport,
}

impl Claimed<'_> {
    pub(super) fn miss(&mut self, pointer: Pointer, message: impl Into<Untrusted<'static>>) {
        self.found.standing = ValueStanding::Missing;
        self.found.faults.push(ValueFault { pointer, message: message.into(), severity: self.evidence.severity() });
    }

    pub(super) fn note(&mut self, pointer: Pointer, message: impl Into<Untrusted<'static>>) {
        self.found.standing = self.found.standing.min(ValueStanding::Paraphrased);
        self.found.faults.push(ValueFault { pointer, message: message.into(), severity: Severity::Note });
    }

    /// Says nothing: what is cited could not be read.
    pub(super) fn leave_open(&mut self) {
        self.found.standing = self.found.standing.min(ValueStanding::Unchecked);
    }

    /// Tells whether a text of a script that parts no words stands in what is cited. Within other letters it is left open: `対象`
    /// is in `対象外`.
    pub(super) fn stands_unspaced(&mut self, said: &str) -> bool {
        let found = if said.chars().any(is_unspaced) { find_unspaced(said, &self.evidence.text()) } else { None };
        if found == Some(false) {
            self.leave_open();
        }
        found.is_some()
    }

    /// Keeps a place, given in bytes of a passage.
    pub(super) fn stands(&mut self, passage: &Passage<'_>, range: Range<usize>) {
        if let Some(base) = passage.base {
            self.found.places.push(base + range.start..base + range.end);
        }
    }
}

/// A text that an item cites.
pub(super) struct Passage<'d> {
    pub(super) text: &'d str,
    /// Byte of the document at which it begins; `None`: the model's own words.
    pub(super) base: Option<usize>,
}

/// The texts that an item cites, and how numbers are written around them.
pub(super) struct Evidence<'d> {
    pub(super) quotes: Vec<Passage<'d>>,
    pub(super) lines: Vec<Passage<'d>>,
    /// Lines around the cited ones.
    pub(super) around: Vec<&'d str>,
    pub(super) convention: Convention,
    pub(super) language: Option<Language>,
    pub(super) document: Option<&'d Document>,
}

impl<'d> Evidence<'d> {
    pub(super) fn severity(&self) -> Severity {
        if self.document.is_some() { Severity::Warning } else { Severity::Note }
    }

    /// The passages to look into, in order: quotes, then lines.
    pub(super) fn passages(&self) -> impl Iterator<Item = &Passage<'d>> {
        self.quotes.iter().chain(&self.lines)
    }

    /// Everything that is cited, as one text.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> =
            if self.lines.is_empty() { &self.quotes } else { &self.lines }.iter().map(|one| one.text).collect();
        texts.join("\n")
    }

    pub(super) fn figures(&self, passage: &Passage<'_>) -> Vec<Figure> {
        figures(passage.text, self.convention)
    }

    /// The scale that the cited lines or a heading above them count in.
    pub(super) fn header_scale(&self) -> Option<i64> {
        let cited = self.passages().find_map(|passage| passage.text.lines().find_map(header_scale));
        cited.or_else(|| self.around.iter().rev().find_map(|line| header_scale(line)))
    }
}

/// Names the cited lines in a message.
pub(super) fn place_word(evidence: &Evidence<'_>) -> &'static str {
    if evidence.document.is_some() { "the cited lines" } else { "the quote" }
}
