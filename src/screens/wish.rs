//! Wishes of the screens that ask a model: what their keys and replies ask of the rest of the program, and the one place
//! that grants them.

use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup, PromptPurpose};
use crate::dialogs::editor::Editor;
use crate::screens::live::begin::{begin, runs_file};
use crate::screens::live::state::{Live, LiveOrigin};
use crate::screens::rerun::choosing::choose_model;
use crate::screens::rerun::state::{ChoosesFor, Kept};
use crate::screens::stack::Screen;
use crate::widgets::keymap::Reason;
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_io::unfinished::Unfinished;

/// See the module.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Effects, and nothing else.
    Do(Effects),
    /// Reason that a key does nothing.
    Refuse(Reason),
    /// Question whether something is to be dropped; the same key answers it.
    Warn(Reason),
    /// Sentence to be said.
    Say(Shown),
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

/// Grants a wish. The one function of the run that is being made that changes the session.
pub(crate) fn fulfil(app: &mut App, wish: Wish) -> Effects {
    match wish {
        Wish::Do(effects) => effects,
        Wish::Refuse(why) => app.status.refuse(&app.keymap, why),
        Wish::Warn(why) => app.status.say(app.keymap.shown(why)),
        Wish::Say(text) => app.status.say(text),
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
            let file = runs_file(&app.store, &app.table, &app.export).to_string_lossy().into_owned();
            app.screens.propose(PromptPurpose::SaveRun, file);
            Vec::new()
        }
        Wish::ChooseModel => choose_model(&mut app.screens, &mut app.models, ChoosesFor::Live),
        Wish::Create(question) => {
            let keep = Unfinished::beside(&runs_file(&app.store, &app.table, &app.export));
            // Nothing is saved while presenting.
            let keep = Some(keep).filter(|_| app.presenting.is_none());
            begin(&mut app.screens, &mut app.models, Live::new(LiveOrigin::Question(question), None, keep))
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

fn record_id(line: &[u8]) -> Option<String> {
    let mut tape = Tape::default();
    let id = tape.parse(line)?.get("id").and_then(Value::string)?;
    id.utf8().map(ToOwned::to_owned)
}
