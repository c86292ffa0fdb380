//! Note on the first step whose recorded value is not the recomputed one.

use super::RecordContent;
use crate::notes::Note;
use crate::tracks::ValueTrack;
use stepscope_base::shown;
use stepscope_record::finding::Severity;
use stepscope_record::state::Moment;

/// Tells of the first step whose value differs, where nothing else does: that it does no harm, or why it is not the step
/// to fix.
pub(super) fn difference(content: &RecordContent) -> Option<Note> {
    harmless(content).or_else(|| two_places(content))
}

/// Tells of the first step of a correct run whose value differs, where no finding does.
fn harmless(content: &RecordContent) -> Option<Note> {
    let step = content.divergence().filter(|_| content.correct == Some(true))?;
    let track = content.tracks.get(step)?.as_ref()?;
    // What is said of the plan says nothing of the value.
    let is_of_value = |note: &Note| note.finding.is_some() && !note.rule.starts_with("plan/");
    let is_told = content.notes.iter().any(|note| is_of_value(note) && note.step == Some(step));
    let variable = content.variables.iter().position(|row| row.name == track.name);
    let write = variable.and_then(|variable| content.write_at(variable, Moment(step + 1)));
    let pointer = write.and_then(|write| write.value.as_ref()?.pointer.clone()).unwrap_or_default();
    let (number, ValueTrack { name, recorded, recomputed, .. }) = (step + 1, track);
    let text = "the answer is right all the same";
    (!is_told).then(|| Note {
        finding: None,
        severity: Severity::Note,
        rule: "",
        message: shown!("Step {number} wrote {recorded} for {name}, should be {recomputed}; {text}."),
        help: None,
        step: Some(step),
        variable,
        pointer,
    })
}

/// Tells why the first step whose value differs is not the step to fix.
fn two_places(content: &RecordContent) -> Option<Note> {
    let (step, to_fix) = content.difference_elsewhere()?;
    let ValueTrack { name, recorded, recomputed, .. } = content.tracks.get(step)?.as_ref()?;
    let variable = content.variables.iter().position(|row| row.name == *name)?;
    let write = content.write_at(variable, Moment(step + 1));
    let pointer = write.and_then(|write| write.value.as_ref()?.pointer.clone()).unwrap_or_default();
    let is_only_form = content.computed.value_of(variable, Some(step))?.only_unevaluated;
    let (step_number, to_fix) = (step + 1, to_fix + 1);
    let message = if is_only_form {
        shown!(
            "First difference: step {step_number} wrote {name} as a calculation, which gives {recomputed}, as \
             recomputed: no wrong value. The step to fix is {to_fix}."
        )
    } else {
        shown!(
            "First difference: step {step_number} wrote {recorded} for {name}, recomputed {recomputed}; by the reasons \
             above, the step to fix is {to_fix}."
        )
    };
    let severity = Severity::Note;
    Some(Note {
        finding: None,
        severity,
        rule: "",
        message,
        help: None,
        step: Some(step),
        variable: Some(variable),
        pointer,
    })
}
