//! Beginning of a run that is being made: from a question, or from the open record.

use std::path::PathBuf;

use crate::app::forks::follow::forks_path;
use crate::app::model_choice::{Candidate, ModelChoice};
use crate::app::msg::{Effect, Effects};
use crate::app::records::files_of_open;
use crate::app::state::App;
use crate::dialogs::dialog::Dialog;
use crate::dialogs::editor::{EditTarget, Editor};
use crate::dialogs::export::ExportChoice;
use crate::screens::live::state::{Live, LiveOrigin};
use crate::screens::stack::{Screen, Screens};
use crate::screens::table::state::Table;
use stepscope_base::text::Shown;
use stepscope_execution::live::LiveChange;
use stepscope_io::pipeline::store::Store;
use stepscope_io::unfinished::{RUNS, Unfinished};

/// Opens an editor for the question of a new run.
pub(crate) fn question_editor() -> Dialog {
    let title = Shown::own("question of the new run");
    Dialog::Editor(Box::new(Editor::new(EditTarget::Question, title, Shown::own("a plan is created for it"), "")))
}

/// Shows what would be sent for the open procedure from the step under the cursor; where the end is shown, from its first.
pub(crate) fn step_through(app: &mut App) -> Effects {
    let Some(view) = app.screens.record() else { return Vec::new() };
    let is_at_end = view.moment.0 >= view.opened.steps.len() && view.edits.is_empty();
    let step = view.step_to_ask().filter(|_| !is_at_end).unwrap_or(0);
    let origin = LiveOrigin::Record(view.opened.text().to_vec(), step);
    let known = view.opened.model_of(step);
    let values = view.edits.pairs().into_iter().map(|(name, value)| LiveChange::Set(name, value));
    let prompt = view.edits.prompt.iter().filter(|(at, _)| *at == step);
    let prompt = prompt.map(|(_, prompt)| LiveChange::Prompt(Some(prompt.clone())));
    let edits: Vec<LiveChange> = values.chain(prompt).collect();
    let forks = forks_path(&app.forks, &app.screens, &app.store).map(|place| place.path().to_owned());
    let keep = Unfinished::beside(&forks.unwrap_or_else(|| runs_file(&app.store, &app.table, &app.export)));
    // Nothing is saved while presenting.
    let mut live = Live::new(origin, known, Some(keep).filter(|_| app.presenting.is_none()));
    (live.edits, live.files) = (edits, files_of_open(&app.screens, &app.store));
    begin(&mut app.screens, &mut app.models, live)
}

/// Returns the file that created runs go to, unless another is typed: next to that of the record in front.
pub(crate) fn runs_file(store: &Store, table: &Table, export: &ExportChoice) -> PathBuf {
    let source = table.chosen(store.len()).and_then(|record| store.source_of(record));
    let source = source.and_then(|source| store.sources().get(source));
    let place = source.and_then(|source| source.input.place()).map(|place| place.beside(RUNS.suffix));
    let own = || PathBuf::from(format!("{}created{}", export.folder, RUNS.suffix));
    place.map_or_else(own, |place| place.path().to_owned())
}

/// Begins a run, before anything is sent for it.
pub(crate) fn begin(screens: &mut Screens, models: &mut ModelChoice, mut live: Live) -> Effects {
    let id = models.next_id();
    let mut effects = vec![Effect::Live(id, Box::new(live.begin(id)))];
    screens.open(Screen::Live(Box::new(live)));
    if models.server.is_none() && models.is_configured {
        let id = models.next_id();
        models.choosing = Some(id);
        effects.push(Effect::ChooseServer(id, Candidate::Named(None)));
    }
    effects
}
