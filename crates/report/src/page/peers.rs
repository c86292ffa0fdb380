//! The peers of a run on its page: its values next to what other runs of its question have in their place.

use super::options::Limits;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::aligned::{AlignedValue, Counterpart};
use stepscope_present::peers::PeersView;

/// Largest number of peers with a column.
const MAX_PEERS: usize = 8;

/// A run and its peers.
#[derive(Debug)]
pub(super) struct PeersPart {
    pub(super) names: Vec<Shown>,
    pub(super) peers_left: usize,
    pub(super) rows: Vec<PeersRow>,
    pub(super) rows_left: usize,
}

/// A value with what each peer has in its place.
#[derive(Debug)]
pub(super) struct PeersRow {
    /// From 1; `None`: the answer.
    pub(super) step: Option<usize>,
    pub(super) value: Shown,
    /// The run leaves its peers here.
    pub(super) leaves: bool,
    /// Words on all of them.
    pub(super) counts: Shown,
    /// Sign, words, and whether it is another value.
    pub(super) cells: Vec<(&'static str, Shown, bool)>,
}

impl PeersPart {
    /// Of a run with peers.
    pub(super) fn of(peers: &PeersView, limits: &Limits) -> Self {
        let leaves = peers.leaves;
        let names: Vec<Shown> = peers.names().iter().take(MAX_PEERS).map(Shown::last_part).collect();
        let row = |(step, value): (Option<usize>, &AlignedValue)| PeersRow {
            step: step.map(|step| step + 1),
            value: with_formula(value).shortened(limits.cell),
            leaves: step.is_some() && step == leaves,
            counts: counts(value),
            cells: value.counterparts.iter().take(MAX_PEERS).map(|one| cell(value, *one)).collect(),
        };
        Self {
            peers_left: peers.names().len() - names.len(),
            names,
            rows: peers.values().take(limits.steps).map(row).collect(),
            rows_left: peers.values().count().saturating_sub(limits.steps),
        }
    }
}

/// `total = 54 as 6 × 9`
fn with_formula(value: &AlignedValue) -> Shown {
    match &value.formula {
        Some(formula) => shown!("{} as {formula}", value.shown()),
        None => value.shown(),
    }
}

/// `1 of 3, they differ`
fn counts(value: &AlignedValue) -> Shown {
    let counts = value.counts();
    match (counts.of, counts.is_split) {
        (0, _) => Shown::own("–"),
        (of, false) => shown!("{} of {of}", counts.same),
        (of, true) => shown!("{} of {of}, they differ", counts.same),
    }
}

fn cell(value: &AlignedValue, counterpart: Counterpart) -> (&'static str, Shown, bool) {
    let is_other = matches!(counterpart, Counterpart::Other { .. });
    (counterpart.sign(), value.phrase(counterpart), is_other)
}
