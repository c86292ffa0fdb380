//! Wishes of a run that is being made: what its keys and replies ask of the rest of the program, and the one place that
//! grants them.

use std::path::PathBuf;

use crate::app::forks::follow::forks_path;
use crate::app::model_choice::Candidate;
use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup, PromptPurpose};
use crate::dialogs::editor::{EditTarget, Editor};
use crate::screens::live::state::{Live, LiveOrigin};
use crate::screens::rerun::keys::choose_model;
use crate::screens::rerun::state::{ChoosesFor, Kept};
use crate::screens::stack::Screen;
use crate::widgets::keymap::Reason;
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::live::LiveChange;
use stepscope_io::unfinished::{RUNS, Unfinished};

/// See the module.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Effects, and nothing else.
    Do(Effects),
    /// Reason that a key does nothing.
    Refuse(Reason),
    /// Question whether something is to be dropped; the same key answers it.
    Warn(Reason),
    /// Failure to be told.
    Fail(Shown),
    /// Text to be shown in full.
    Show(Popup),
    /// Text to be edited.
    Edit(Box<Editor>),
    /// Line to be typed, with a proposal.
    Type(PromptPurpose, String),
    /// Name of the file that a created run is appended to.
    TypeFile,
    /// Choice of a model.
    ChooseModel,
    /// Preview of a run for this question.
    Create(Untrusted<'static>),
    /// Record to be saved.
    Save(Vec<u8>),
    /// Record of this id to be opened.
    Open(String),
    /// Way out of the screen.
    Leave,
}

impl Wish {
    /// Wishes for nothing.
    pub(crate) const NOTHING: Self = Self::Do(Vec::new());
}

/// Grants a wish. The one function of the screen that changes the session.
pub(crate) fn fulfil(app: &mut App, wish: Wish) -> Effects {
    match wish {
        Wish::Do(effects) => effects,
        Wish::Refuse(why) => app.status.refuse(&app.keymap, why),
        Wish::Warn(why) => app.status.say(app.keymap.shown(why)),
        Wish::Fail(why) => app.status.fail(why),
        Wish::Show(popup) => {
            app.screens.open_dialog(Dialog::Popup(popup));
            Vec::new()
        }
        Wish::Edit(editor) => {
            app.screens.open_dialog(Dialog::Editor(editor));
            Vec::new()
        }
        Wish::Type(purpose, proposed) => {
            app.screens.propose(purpose, proposed);
            Vec::new()
        }
        Wish::TypeFile => {
            let file = runs_file(app).to_string_lossy().into_owned();
            app.screens.propose(PromptPurpose::SaveRun, file);
            Vec::new()
        }
        Wish::ChooseModel => choose_model(app, ChoosesFor::Live),
        Wish::Create(question) => {
            let keep = Unfinished::beside(&runs_file(app));
            open(app, Live::new(LiveOrigin::Question(question), None, Some(keep)))
        }
        Wish::Save(line) => {
            let file = app.screens.live().and_then(|live| live.file.clone());
            let id = record_id(&line);
            let kept = match file {
                Some(file) => Some(app.log.run(file.as_path().into(), line)),
                None => app.keep_fork(line),
            };
            if let Some(live) = app.screens.live_mut() {
                live.saved_id = id;
                live.kept = kept.as_ref().map_or(Kept::Failed, |(id, _)| Kept::Saving(*id));
            }
            kept.map(|(_, effect)| effect).into_iter().collect()
        }
        Wish::Open(id) => app.seek(&id, None),
        Wish::Leave => {
            let Some(Screen::Live(live)) = app.screens.pop() else { return Vec::new() };
            let left = live.keep.filter(|_| live.round.is_some()).map(Effect::RemoveUnfinished);
            std::iter::once(Effect::CancelRun(live.id)).chain(left).collect()
        }
    }
}

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
    let keep = Unfinished::beside(&forks.unwrap_or_else(|| runs_file(app)));
    let mut live = Live::new(origin, known, Some(keep));
    live.edits = edits;
    open(app, live)
}

/// Returns the file that created runs go to, unless another is typed: next to that of the record in front.
fn runs_file(app: &App) -> PathBuf {
    let source = app.record().and_then(|record| app.store.source_of(record));
    let source = source.and_then(|source| app.store.sources().get(source));
    let place = source.and_then(|source| source.input.place()).map(|place| place.beside(RUNS.suffix));
    let own = || PathBuf::from(format!("{}created{}", app.export.folder, RUNS.suffix));
    place.map_or_else(own, |place| place.path().to_owned())
}

fn open(app: &mut App, mut live: Live) -> Effects {
    // Nothing is saved while presenting.
    live.keep = live.keep.filter(|_| app.presenting.is_none());
    if matches!(live.origin, LiveOrigin::Record(..)) {
        live.files = app.files_of_open();
    }
    let id = app.models.next_id();
    let mut effects = vec![Effect::Live(id, Box::new(live.begin(id)))];
    app.screens.open(Screen::Live(Box::new(live)));
    if app.models.server.is_none() && app.models.is_configured {
        let id = app.models.next_id();
        app.models.choosing = Some(id);
        effects.push(Effect::ChooseServer(id, Candidate::Named(None)));
    }
    effects
}

fn record_id(line: &[u8]) -> Option<String> {
    let mut tape = Tape::default();
    let id = tape.parse(line)?.get("id").and_then(Value::string)?;
    id.utf8().map(ToOwned::to_owned)
}
