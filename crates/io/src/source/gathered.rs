//! Records of other programs that lie over several lines or files: traces, batches, applications of Burr. All of a file is
//! read, and each record is written on one line, in a form that is known.

use std::path::PathBuf;
use std::sync::Arc;

use crate::failure::Failure;
use crate::source::cut::Layout;
use crate::source::open::Blob;
use stepscope_base::json::Value;

mod adk;
mod autogen;
mod batches;
mod burr;
mod chat;
mod cited;
mod coding;
mod made;
mod neighbours;
mod observed;
mod plain;
mod session;
mod shelf;
mod spans;
mod step;
pub(crate) mod stores;
mod traces;
mod tree;
mod turns;

pub(crate) use burr::is_description;
pub(crate) use made::GatheredLines;

use neighbours::{Neighbour, Values};

/// Reader of one kind of file.
pub(crate) struct Gatherer {
    /// Recognises one of its values.
    is_part: fn(Value<'_>) -> bool,
    read: fn(&Values, &[Neighbour]) -> Result<GatheredLines, Failure>,
    /// Names of keys of which a value has one, between quotes: to tell one that is longer than the beginning of a file.
    keys: &'static [&'static str],
}

const GATHERERS: &[Gatherer] = &[
    Gatherer {
        is_part: traces::is_part,
        read: traces::read,
        keys: &[
            "\"resourceSpans\"",
            "\"resource_spans\"",
            "\"resourceLogs\"",
            "\"resource_logs\"",
            "\"spans\"",
            "\"span_id\"",
            "\"run_type\"",
            "\"observations\"",
        ],
    },
    Gatherer { is_part: batches::is_line, read: batches::read, keys: &["\"custom_id\""] },
    Gatherer { is_part: burr::is_line, read: burr::read, keys: &["\"sequence_id\""] },
    Gatherer { is_part: turns::is_part, read: turns::read, keys: &["\"part_kind\""] },
    Gatherer { is_part: adk::is_session, read: adk::read, keys: &["\"invocation_id\""] },
    Gatherer {
        is_part: stores::langgraph::history::is_snapshot,
        read: stores::langgraph::history::read,
        keys: &["\"checkpoint_id\""],
    },
    Gatherer { is_part: autogen::is_part, read: autogen::read, keys: &["\"models_usage\""] },
    Gatherer { is_part: coding::is_claude, read: coding::read_claude, keys: &["\"sessionId\""] },
    Gatherer { is_part: coding::is_codex, read: coding::read_codex, keys: &["\"payload\""] },
];

/// Finds the reader of a file by its first value.
pub(crate) fn gatherer_of(first: Value<'_>) -> Option<&'static Gatherer> {
    GATHERERS.iter().find(|gatherer| (gatherer.is_part)(first))
}

/// Tells whether what begins like this may be a value that is gathered, which is longer than its beginning.
pub(crate) fn may_be_gathered(head: &[u8]) -> bool {
    let mut keys = GATHERERS.iter().flat_map(|gatherer| gatherer.keys);
    keys.any(|key| memchr::memmem::find(head, key.as_bytes()).is_some())
}

impl Gatherer {
    /// Reads all records of a file. `named`: the files that a person named along with it.
    pub(crate) fn read(&self, blob: &Arc<Blob>, layout: Layout, named: &[PathBuf]) -> Result<GatheredLines, Failure> {
        (self.read)(&Values::new(blob.clone(), layout), &neighbours::of(blob, named))
    }
}

#[cfg(test)]
mod tests;
