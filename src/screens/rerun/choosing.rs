//! Choice of the model that is asked: for a re-run, a repair, or a run that is being made.

use crate::app::model_choice::{Candidate, ModelChoice};
use crate::app::msg::{Effect, Effects};
use crate::screens::rerun::state::{Attempt, ChoosesFor, Pane, Stage};
use crate::screens::stack::{Screen, Screens};
use stepscope_base::text::Shown;
use stepscope_execution::call::RunId;

/// Opens the list of models for something else than a re-run, which goes on once one is chosen.
pub(crate) fn choose_model(screens: &mut Screens, models: &mut ModelChoice, purpose: ChoosesFor) -> Effects {
    let id = models.next_id();
    let attempt = Attempt::choosing(id, purpose);
    screens.dialog = None;
    screens.open(Screen::Rerun(Box::new(attempt)));
    candidate(screens, models, id)
}

/// Opens the list of those who may be asked.
pub(crate) fn candidate(screens: &mut Screens, models: &ModelChoice, id: RunId) -> Effects {
    let is_offline = models.setup.wanted.offline;
    let profiles = models.profiles.iter().filter(|_| !is_offline).cloned().map(Candidate::Profile);
    let is_recorded = screens.live().is_none_or(|live| live.asks().is_none());
    let samples = (models.samples && is_recorded).then_some(Candidate::Samples);
    let Some(attempt) = screens.attempt_mut() else { return Vec::new() };
    // No recording holds repairs, or plans for other questions.
    let samples = samples.filter(|_| attempt.chooses_for != Some(ChoosesFor::Repair));
    attempt.picker.candidates = profiles.chain(samples).collect();
    (attempt.picker.is_looking, attempt.picker.trouble) = (!is_offline, None);
    attempt.picker.list.at = 0;
    (attempt.stage, attempt.pane) = (Stage::Choosing, Pane::Top);
    if is_offline { Vec::new() } else { vec![Effect::FindServers(id)] }
}

/// Takes in the servers that were found.
pub(crate) fn take_candidates(screens: &mut Screens, id: RunId, candidates: Vec<Candidate>, trouble: Option<Shown>) {
    if let Some(attempt) = screens.attempt_mut().filter(|attempt| attempt.id == id) {
        attempt.picker.candidates.extend(candidates);
        (attempt.picker.is_looking, attempt.picker.trouble) = (false, trouble);
    }
}
