//! Options of a page: what it shows, and how much of it.

use super::said::Said;
use stepscope_base::canonical::Digest;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_judge::hide::Hide;

/// Options of a page: what it shows of a record, and what it says about its origin.
#[derive(Clone, Debug, Default)]
pub struct PageOptions<'p> {
    /// The step in question, from 0: it is open in the page.
    pub step: Option<usize>,
    /// Origin of the record: a file's name and a line, never a folder.
    pub source: Shown,
    /// With the lines of the document that citations lead to.
    pub passages: bool,
    /// Parts that were hidden. The record does not hold them any more.
    pub hide: Hide,
    /// The names of what was redacted. The record does not hold it any more.
    pub redacted: Vec<Shown>,
    /// Reviews of the record.
    pub said: &'p [Said],
    /// The program's version.
    pub version: &'static str,
    /// True if Markdown is written in ASCII.
    pub ascii: bool,
}

impl PageOptions<'_> {
    /// Tells whether the record differs from the one it was made from.
    pub(super) fn is_changed(&self) -> bool {
        !self.passages || !self.hide.is_empty() || !self.redacted.is_empty()
    }
}

/// Limits on what is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of a question or a whole text.
    pub(super) text: usize,
    /// Bytes of a value.
    pub(super) value: usize,
    /// Bytes of a value in the table of states.
    pub(super) cell: usize,
    pub(super) steps: usize,
    /// Values of a step, citations and lines of an item.
    pub(super) values: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) findings: usize,
    pub(super) derivations: usize,
    pub(super) derivation_lines: usize,
    pub(super) items: usize,
    /// Lines of a passage.
    pub(super) lines: usize,
}

impl Limits {
    /// From generous to so tight that any record fits.
    pub(super) const LEVELS: [Self; 4] = [
        Self {
            text: 12_000,
            value: 4_000,
            cell: 160,
            steps: 80,
            values: 60,
            rows: 80,
            columns: 40,
            findings: 80,
            derivations: 24,
            derivation_lines: 200,
            items: 80,
            lines: 24,
        },
        Self {
            text: 6_000,
            value: 1_200,
            cell: 80,
            steps: 40,
            values: 24,
            rows: 40,
            columns: 24,
            findings: 40,
            derivations: 12,
            derivation_lines: 80,
            items: 40,
            lines: 10,
        },
        Self {
            text: 3_000,
            value: 300,
            cell: 40,
            steps: 24,
            values: 12,
            rows: 24,
            columns: 16,
            findings: 24,
            derivations: 6,
            derivation_lines: 40,
            items: 24,
            lines: 5,
        },
        Self {
            text: 1_000,
            value: 120,
            cell: 24,
            steps: 12,
            values: 6,
            rows: 12,
            columns: 8,
            findings: 12,
            derivations: 3,
            derivation_lines: 12,
            items: 8,
            lines: 3,
        },
    ];
}

/// The name of the record's content.
pub(super) fn digest(case: &CaseView<'_>) -> Digest {
    case.root().filter(|_| case.record.is_some()).map_or_else(|| Digest::of_bytes(case.text()), Digest::of)
}
