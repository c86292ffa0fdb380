//! A record as a page to send: one file that asks for nothing, runs nothing, and carries its record so that it can be
//! opened and checked again. All forms of it show one model, so that they say the same.

use stepscope_base::canonical::Digest;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_judge::hide::Hide;

pub mod carried;
mod cleaned;
mod document;
mod html;
mod index;
mod markdown;
mod model;
mod said;
mod style;

pub use cleaned::Cleaner;
pub use html::push_markup;
pub use index::{IndexRow, index};
pub use markdown::BEGIN as BEGIN_MARKDOWN;
pub(crate) use markdown::Markdown;
pub use said::Said;

/// A page is no longer than this; what does not fit is cut, and counted where it stood.
pub const MAX_PAGE: usize = 200_000;

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

/// A picture or recording of one record, made from its page.
#[derive(Debug)]
pub struct PagePicture<'p> {
    /// The page.
    pub page: &'p [u8],
    /// The name of the file that it came from.
    pub name: &'p str,
    /// The record's id.
    pub id: Option<String>,
    /// The steps, from 1, each a frame; none: as it opens.
    pub steps: Vec<usize>,
    /// Names of keys, pressed at each.
    pub keys: &'p str,
    /// The title of the only pane to draw.
    pub pane: Option<&'p str>,
    /// Columns and rows.
    pub size: (u16, u16),
    /// A recording instead of a picture.
    pub is_recording: bool,
    /// Parts that are hidden on it.
    pub hide: Hide,
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
    text: usize,
    /// Bytes of a value.
    value: usize,
    /// Bytes of a value in the table of states.
    cell: usize,
    steps: usize,
    /// Values of a step, citations and lines of an item.
    values: usize,
    rows: usize,
    columns: usize,
    findings: usize,
    derivations: usize,
    derivation_lines: usize,
    items: usize,
    /// Lines of a passage.
    lines: usize,
}

impl Limits {
    /// From generous to so tight that any record fits.
    const LEVELS: [Self; 4] = [
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

/// A finished page.
#[derive(Debug)]
pub struct PageText {
    /// The document.
    pub text: String,
    /// It carries its record, so that it can be opened and checked again.
    pub carries: bool,
}

/// The page of a record as HTML. A record for which there is no room is not carried, and the page says so.
pub fn html(case: &CaseView<'_>, options: &PageOptions<'_>) -> PageText {
    let carried = carried::write(case, options);
    let room = Some(carried).filter(|carried| carried.len() < MAX_PAGE);
    for carried in room.as_deref().into_iter().map(Some).chain([None]) {
        for limits in &Limits::LEVELS {
            let model = model::PageModel::of(case, options, limits);
            let text = document::write(&model, case, options, carried);
            if text.len() <= MAX_PAGE {
                return PageText { text, carries: carried.is_some() };
            }
        }
    }
    // Every text of the last level together is shorter than the limit; a page is never refused.
    let [.., tightest] = &Limits::LEVELS;
    let model = model::PageModel::of(case, options, tightest);
    PageText { text: document::write(&model, case, options, None), carries: false }
}

/// The page of a record as Markdown for an issue. It carries nothing.
pub fn markdown(case: &CaseView<'_>, options: &PageOptions<'_>) -> String {
    let mut text = String::new();
    for limits in &Limits::LEVELS {
        text = markdown::write(&model::PageModel::of(case, options, limits), options);
        if text.len() <= markdown::MAX_MARKDOWN {
            break;
        }
    }
    text
}

/// The name of the record's content.
pub(super) fn digest(case: &CaseView<'_>) -> Digest {
    case.root().filter(|_| case.record.is_some()).map_or_else(|| Digest::of_bytes(case.text()), Digest::of)
}

#[cfg(test)]
mod tests;
