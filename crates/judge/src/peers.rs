//! Peers of a run: other runs of the same question, which say without an expected answer where it goes wrong.
//!
//! `track` reads what a run worked out; `departure` finds the first value in which it leaves its peers; `opinion`
//! weighs how many say so, how far they can be trusted and how independent they are; `words` says it. All of it is pure:
//! who has which peers is the [`Context`](crate::case::Context)'s.

use crate::case::CaseView;
use crate::triage::Triage;
use stepscope_base::text::Shown;
use stepscope_record::{Record, hash_of};

use self::track::{Soundness, Track};

pub(crate) mod departure;
pub(crate) mod opinion;
pub(crate) mod track;
mod words;

pub use opinion::PeerOpinion;
#[cfg(test)]
use opinion::PeerStanding;

/// Another run of the same question.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its source and line, for people.
    pub name: Shown,
    /// Number of who made it: the same for runs of one model, else for those of one source.
    pub(crate) maker: u64,
    /// Number of its text: the record itself is no peer.
    content: u64,
    /// Values that it worked out.
    pub(crate) track: Track,
    /// Weight of its word.
    pub(crate) soundness: Soundness,
}

impl Peer {
    /// Reads a run that others are compared with; `None` of what is no run.
    pub fn of(case: &CaseView<'_>) -> Option<Self> {
        Triage::asks_whether_right(case.kind()).then(|| Self {
            name: case.place_name(),
            maker: maker(case),
            content: hash_of(case.text()),
            track: Track::of(case),
            soundness: Soundness::of(case, case.findings()),
        })
    }

    /// The same run under another name.
    #[must_use]
    pub fn called(&self, name: Shown) -> Self {
        Self { name, ..self.clone() }
    }

    /// Tells whether it is the same record.
    pub fn is(&self, case: &CaseView<'_>) -> bool {
        self.content == hash_of(case.text())
    }
}

/// Computes the number of who made a run.
fn maker(case: &CaseView<'_>) -> u64 {
    let model = case.record.as_ref().and_then(Record::model);
    model.map_or_else(|| hash_of(case.source().bytes()), |model| hash_of(model.bytes()))
}

#[cfg(test)]
mod tests;
