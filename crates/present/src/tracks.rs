//! Recorded values of the steps against what recomputing gives.

use stepscope_base::text::Shown;
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_record::state::Badge;

use crate::computed::ComputedValues;
use crate::variables::VariableRow;

/// Tracks are drawn of so many variables.
pub(crate) const MAX_TRACKED: usize = 2_000;

/// Value that a step wrote, against the recomputed one.
#[derive(Clone, Debug)]
pub struct ValueTrack {
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
pub(crate) fn tracks(steps: usize, variables: &[VariableRow], computed: &ComputedValues) -> Vec<Option<ValueTrack>> {
    let mut tracks: Vec<Option<ValueTrack>> = vec![None; steps];
    for (variable, row) in variables.iter().enumerate().take(MAX_TRACKED) {
        // What a person put in place of a step's value says nothing about the step.
        let is_set = row.writes.iter().any(|write| write.badge == Badge::Override);
        for write in row.writes.iter().filter(|write| !write.badge.is_put()) {
            let Some(computed) = computed.value_of(variable, write.step) else { continue };
            let Some(track) = write.step.and_then(|step| tracks.get_mut(step)) else { continue };
            if is_set && computed.standing.relation == ToRecomputed::NotComparable {
                continue;
            }
            if track.as_ref().is_none_or(|track| computed.standing.relation > track.relation) {
                let recorded = write.value.as_ref().map_or(Shown::own("nothing"), |value| value.line.clone());
                let (name, recomputed) = (row.name.clone(), computed.value.clone());
                *track = Some(ValueTrack { name, recorded, recomputed, relation: computed.standing.relation });
            }
        }
    }
    tracks
}

/// Returns the first step whose recorded value is not the recomputed one.
pub(crate) fn divergence(tracks: &[Option<ValueTrack>]) -> Option<usize> {
    tracks.iter().position(|track| track.as_ref().is_some_and(|track| track.relation == ToRecomputed::Differs))
}
