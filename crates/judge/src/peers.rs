//! Peers of a run: other runs of the same question, which say without an expected answer where it goes wrong.
//!
//! `reading` reads what a run worked out; `departure` finds the first value in which it leaves its peers; `circle`
//! weighs how many say so, how far they can be trusted and how independent they are; `words` says it. All of it is pure:
//! who has which peers is the [`Context`](crate::case::Context)'s.

use std::sync::Arc;

use crate::case::CaseView;
use crate::peer::Peer;
use crate::peer::opinion::PeerOpinion;
use crate::triage::Triage;
use stepscope_record::finding::Finding;
use stepscope_record::{Record, hash_of};

use self::circle::Circle;
use self::reading::{soundness, track};

mod circle;
pub(crate) mod departure;
pub(crate) mod reading;
mod words;

/// Reads a run that others are compared with, and that the rules have looked at; `None` of what is no run.
pub(crate) fn peer(case: &CaseView<'_>, findings: &[Finding]) -> Option<Peer> {
    Triage::asks_whether_right(case.kind()).then(|| Peer {
        name: case.place_name(),
        maker: maker(case),
        content: hash_of(case.text()),
        track: track(case),
        soundness: soundness(case, findings),
    })
}

/// Asks the peers of a run that the rules have looked at, and says what there is to be told; `None`: it has none.
pub(crate) fn opinion(
    case: &CaseView<'_>,
    peers: &[Arc<Peer>],
    findings: &[Finding],
) -> Option<(PeerOpinion, Option<Finding>)> {
    let has_peers = !peers.is_empty() && Triage::asks_whether_right(case.kind());
    has_peers.then(|| Circle::of(case, peers, findings).opinion(findings))
}

/// Computes the number of who made a run.
fn maker(case: &CaseView<'_>) -> u64 {
    let model = case.record.as_ref().and_then(Record::model);
    model.map_or_else(|| hash_of(case.source().bytes()), |model| hash_of(model.bytes()))
}

#[cfg(test)]
mod tests;
