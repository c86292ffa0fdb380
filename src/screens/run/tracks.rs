//! Recorded values of the steps against what recomputing gives.

use crate::app::open_record::OpenRecord;
use stepscope_base::text::Shown;
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_record::state::Badge;

/// Tracks are drawn of so many variables.
const MAX_VARIABLES: usize = 2_000;

/// Value that a step wrote, against the recomputed one.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// The variable.
    pub name: Shown,
    /// Value that the step wrote.
    pub recorded: Shown,
    /// Value that recomputing gives.
    pub recomputed: Shown,
    /// Relation of the one to the other.
    pub relation: ToRecomputed,
}

/// Lists the tracks of the steps, by position: of each the first variable that differs, else the first that cannot be
/// compared, else the first.
pub(crate) fn tracks(opened: &OpenRecord) -> Vec<Option<Track>> {
    let mut tracks: Vec<Option<Track>> = vec![None; opened.steps.len()];
    for (variable, row) in opened.variables.iter().enumerate().take(MAX_VARIABLES) {
        // What a person put in place of a step's value says nothing about the step.
        let is_set = row.writes.iter().any(|write| write.badge == Badge::Override);
        for write in row.writes.iter().filter(|write| !write.badge.is_put()) {
            let Some(computed) = opened.computed.value_of(variable, write.step) else { continue };
            let Some(track) = write.step.and_then(|step| tracks.get_mut(step)) else { continue };
            if is_set && computed.standing.relation == ToRecomputed::NotComparable {
                continue;
            }
            if track.as_ref().is_none_or(|track| computed.standing.relation > track.relation) {
                let recorded = write.value.as_ref().map_or(Shown::own("nothing"), |value| value.line.clone());
                let (name, recomputed) = (row.name.clone(), computed.value.clone());
                *track = Some(Track { name, recorded, recomputed, relation: computed.standing.relation });
            }
        }
    }
    tracks
}

/// Returns the first step whose recorded value is not the recomputed one.
pub(crate) fn divergence(tracks: &[Option<Track>]) -> Option<usize> {
    tracks.iter().position(|track| track.as_ref().is_some_and(|track| track.relation == ToRecomputed::Differs))
}
