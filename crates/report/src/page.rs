//! A record as a page to send: one file that asks for nothing, runs nothing, and carries its record so that it can be
//! opened and checked again. All forms of it show one model, so that they say the same.

use stepscope_judge::case::CaseView;
use stepscope_judge::hide::Hide;
use stepscope_present::content::RecordContent;

pub mod carried;
mod cleaned;
mod document;
mod html;
mod index;
mod markdown;
mod model;
mod options;
mod peers;
mod said;
mod style;

pub use cleaned::Cleaner;
pub use html::push_markup;
pub use index::{IndexRow, index};
pub use markdown::BEGIN as BEGIN_MARKDOWN;
pub(crate) use markdown::Markdown;
use options::Limits;
pub use options::PageOptions;
pub use said::Said;

/// A page is no longer than this; what does not fit is cut, and counted where it stood.
pub const MAX_PAGE: usize = 200_000;

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
    let content = RecordContent::of(case, options.hide);
    let carried = carried::write(case, options);
    let room = Some(carried).filter(|carried| carried.len() < MAX_PAGE);
    for carried in room.as_deref().into_iter().map(Some).chain([None]) {
        for limits in &Limits::LEVELS {
            let model = model::PageModel::of(&content, case, options, limits);
            let text = document::write(&model, case, options, carried);
            if text.len() <= MAX_PAGE {
                return PageText { text, carries: carried.is_some() };
            }
        }
    }
    // Every text of the last level together is shorter than the limit; a page is never refused.
    let [.., tightest] = &Limits::LEVELS;
    let model = model::PageModel::of(&content, case, options, tightest);
    PageText { text: document::write(&model, case, options, None), carries: false }
}

/// The page of a record as Markdown for an issue. It carries nothing.
pub fn markdown(case: &CaseView<'_>, options: &PageOptions<'_>) -> String {
    let content = RecordContent::of(case, options.hide);
    let mut text = String::new();
    for limits in &Limits::LEVELS {
        text = markdown::write(&model::PageModel::of(&content, case, options, limits), options);
        if text.len() <= markdown::MAX_MARKDOWN {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests;
