//! A report page that carries its record: opened as the record, next to the document that it cites.

use std::path::Path;
use std::sync::Arc;

use crate::failure::Failure;
use crate::source::cut::Layout;
use crate::source::documents::{DocumentCache, Documents};
use crate::source::input::{Source, source};
use crate::source::open::{Blob, Opened, all_of, open};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_report::page::carried::{BEGIN, CarriedRecord, NotCarried, is_page, read, reviews};
use stepscope_review::event::Event;

/// A larger page is none of ours.
const MAX_PAGE: u64 = 64 << 20;
const READ: &str = "cannot read";

/// Tells whether a file is a page.
pub(crate) fn is_one(blob: &Blob) -> bool {
    let mut head = Vec::new();
    blob.read(0, BEGIN.len(), &mut head).is_ok() && is_page(&head)
}

/// Opens the source in a file, if the file is a page.
pub(crate) fn begin(blob: &Blob, cache: &Arc<DocumentCache>) -> Result<Option<Source>, Failure> {
    if !is_one(blob) {
        return Ok(None);
    }
    let mut head = Vec::new();
    let len = blob.len()?;
    if len > MAX_PAGE {
        return Err(Failure::own(READ, blob.name(), "this report page is larger than 64 MB"));
    }
    blob.read(0, len as usize, &mut head)?;
    let carried = taken(&head, blob.name())?;
    let mut text = carried.text;
    // What stood on a line is one record, whatever it looks like.
    let is_line = !text.contains(&b'\n');
    // A last line without its end would count as one that is still being written.
    text.push(b'\n');
    let documents = Documents::of_page(cache.clone(), carried.document.map(Arc::new));
    // The file that is watched is the page.
    let stat = blob.stat()?;
    let blob = Blob::of_bytes(blob.name().clone(), &text)?;
    let source = source(Arc::new(blob), &text, true, stat)?;
    let layout = if is_line { Layout::Lines(b'\n') } else { source.layout };
    Ok(Some(Source { layout, ..source }.citing(documents)))
}

fn taken(page: &[u8], name: &Shown) -> Result<CarriedRecord, Failure> {
    read(page).map_err(|why| {
        let why = match why {
            NotCarried::LeftOut => "this report page has no record: it was too large, or the page is an index",
            NotCarried::Damaged => "this report page was changed, and its record cannot be read",
        };
        Failure::own(READ, name, why)
    })
}

/// Reads the reviews of the record of a page, as events that belong to no log; nothing where the file is no page.
pub fn reviews_of(path: &Path) -> Vec<Event> {
    let Some((page, name)) = file(path).zip(path.file_name()) else { return Vec::new() };
    reviews(&page, Untrusted::owned(name.as_encoded_bytes().to_vec())).unwrap_or_default()
}

/// Reads a page that can be read again and again.
fn file(path: &Path) -> Option<Vec<u8>> {
    // A pipe can be read once only, and not here.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let Opened::File(blob) = open(path).ok()? else { return None };
    is_one(&blob).then(|| all_of(&blob, MAX_PAGE, READ).ok())?
}

/// Reads the step in question of a page, from 0, if it names one; `None`: the file is no page that carries a record.
pub fn step_of(path: &Path) -> Option<Option<usize>> {
    let page = file(path)?;
    Some(read(&page).ok()?.step)
}
