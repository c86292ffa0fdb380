//! Reading one record away from the screen's thread: everything that is needed, without the store.

use std::sync::Arc;

use crate::failure::Failure;
use crate::pipeline::side_data::SideData;
use crate::pipeline::side_data::Surroundings;
use crate::source::block::WINDOW;
use crate::source::cut::{Layout, line_ends};
use crate::source::documents::Documents;
use crate::source::open::Blob;
use stepscope_base::json::MAX_TEXT;
use stepscope_base::text::Shown;
use stepscope_review::event::Text;

/// Location of a record, for another thread to read it.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The bytes of the source.
    pub blob: Arc<Blob>,
    /// The record's first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: usize,
    /// Layout of the source, with its line end.
    pub layout: Layout,
    /// Documents that the record cites.
    pub(crate) documents: Option<Documents>,
    /// A byte before the record and the number of its line, from 1.
    pub known_line: (u64, u64),
    /// The name of the record's file in review logs, where it has one.
    pub dataset: Option<Text>,
    /// The record's place in its file, from 0.
    pub position: u64,
}

impl Reading {
    /// Reads the bytes of the record; of one longer than 64 MB the first megabyte.
    pub fn read(&self) -> Result<Vec<u8>, Failure> {
        let len = if self.len > MAX_TEXT { WINDOW } else { self.len };
        self.read_head(len)
    }

    /// Reads the first bytes of the record, as many as there are.
    pub fn read_head(&self, limit: usize) -> Result<Vec<u8>, Failure> {
        let len = self.len.min(limit);
        let mut bytes = Vec::new();
        self.blob.read(self.offset, len, &mut bytes)?;
        if bytes.len() < len {
            let why = Shown::own("the file became shorter and is being read again");
            return Err(Failure { what: "cannot read a record of", path: self.blob.name().clone(), source: why });
        }
        Ok(bytes)
    }

    /// Returns the context of the record.
    pub fn around(&self, side: &Arc<SideData>) -> Surroundings<'static> {
        Surroundings { documents: self.documents.clone(), ..side.around() }
    }

    /// Computes the number of the line in which the record begins, from 1; lines before it are counted where that is
    /// needed.
    pub fn line(&self) -> Result<u64, Failure> {
        let (mut from, mut line) = self.known_line;
        let mut block = Vec::new();
        while from < self.offset {
            let wanted = usize::try_from(self.offset - from).unwrap_or(WINDOW).min(WINDOW);
            self.blob.read(from, wanted, &mut block)?;
            if block.is_empty() {
                break;
            }
            line += line_ends(self.layout, &block);
            from += block.len() as u64;
        }
        Ok(line)
    }
}
