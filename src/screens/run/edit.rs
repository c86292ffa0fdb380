//! Time travel: values and prompts are changed before a record is re-run.

use crossterm::event::{KeyCode, KeyEvent};
use tempfile::TempPath;

use crate::app::forks::Forks;
use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::app::state::Outside;
use crate::app::status_line::StatusLine;
use crate::dialogs::dialog::Dialog;
use crate::dialogs::editor::{EditTarget, Editor, MAX_TEXT};
use crate::screens::kind::ScreenKind;
use crate::screens::run;
use crate::screens::run::edits::{Edits, plain_text, typed_value};
use crate::screens::run::pane::RunPane;
use crate::screens::run::state::RecordView;
use crate::screens::run::state::Tab;
use crate::screens::side_by_side::making::Make;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Binding, Context, Key, Keymap, Lookup, need};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::replay::{Replay, RerunStart};
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::store::Store;
use stepscope_terminal::run::on_file;

impl Forks {
    /// Remembers the edits of the open record while others are looked at.
    fn keep_edits(&mut self, view: &RecordView) {
        let record = view.opened.hash();
        if view.edits.is_empty() {
            self.edits.remove(&record);
        } else {
            self.edits.insert(record, view.edits.clone());
            self.warn_again();
        }
    }

    /// Discards the edits of the open record, so that it is as it was recorded.
    pub(crate) fn forget_edits(&mut self, screens: &mut Screens) {
        if let Some(view) = screens.record_mut() {
            view.edits = Edits::default();
            self.keep_edits(view);
        }
    }

    /// Restores the edits of the open record, from when it was looked at before.
    pub(crate) fn recall_edits(&self, screens: &mut Screens, store: &Store) {
        let Some(view) = screens.record_mut() else { return };
        let address = store.address(view.opened.index);
        view.execution = address.map_or_else(String::new, |address| self.tree.execution(address));
        let kept = if self.edits.is_empty() { None } else { self.edits.get(&view.opened.hash()) };
        view.edits = kept.cloned().unwrap_or_default();
    }
}

/// Opens the editor on the value or the prompt that the keys are about; `Err`: why there is none.
pub(crate) fn edit(screens: &mut Screens, keymap: &Keymap) -> Result<(), Shown> {
    let Some(view) = screens.record() else { return Ok(()) };
    let editor = match view.pane {
        _ if screens.top() == ScreenKind::Rerun => prompt_editor(keymap, screens),
        RunPane::Step if view.tab == Tab::Prompt => prompt_editor(keymap, screens),
        _ => value_editor(keymap, screens),
    };
    screens.open_dialog(Dialog::Editor(Box::new(editor?)));
    Ok(())
}

/// Checks whether what the cursor is on can be edited; `Err`: why not.
pub(crate) fn may_edit(screens: &Screens) -> Result<(), &'static str> {
    let Some(view) = screens.record() else { return Err("open a run with steps first") };
    if view.pane == RunPane::Step {
        need(view.step().is_some(), "before step 1: go to a step (<next_step>)")?;
        return need(view.detail.prompt.is_some(), "this step makes no call");
    }
    need(view.opened.variables.get(view.variables.at).is_some(), "no variable selected")?;
    let moment = editable_moment(view)?;
    let is_elsewhere = view.edits.refuses(moment);
    need(!is_elsewhere, "overrides exist before another step; go there, or discard them first (<drop_edits>)")
}

fn value_editor(keymap: &Keymap, screens: &mut Screens) -> Result<Editor, Shown> {
    let view = screens.record().ok_or_else(Shown::default)?;
    let moment = editable_moment(view).map_err(|why| keymap.shown(why))?;
    let view = screens.record_mut().ok_or_else(Shown::default)?;
    let variable = view.variables.at;
    if moment != view.moment.0 {
        view.go_to_moment(moment);
    }
    let step = view.moment.0;
    let name = row_name(view, variable).ok_or(Shown::own("no variable selected"))?;
    let edited = view.edits.at(variable, view.moment, None).map(|edit| edit.json.clone());
    let held = view.opened.write_at(variable, view.moment).and_then(|write| write.value.as_ref());
    let json = held.and_then(|value| view.opened.json_at(value.pointer.as_ref()?));
    let recorded = held.map_or(Shown::own("nothing"), |value| value.line.clone());
    let json = edited.or(json).unwrap_or_default();
    let text = plain_text(&json);
    let plain = text.is_some();
    let text = text.unwrap_or_else(|| String::from_utf8_lossy(&json).into_owned());
    if text.len() > MAX_TEXT {
        return Err(Shown::own("this value is too long to edit here"));
    }
    let what = if plain { "as text" } else { "as JSON" };
    let title = shown!("{} before step {}, {what}", name.line(), step + 1);
    let row = view.opened.variables.get(variable);
    let later = row.and_then(|row| row.writes.iter().filter_map(|write| write.step).find(|at| *at >= step));
    let mut editor = Editor::new(EditTarget::Value { variable, name, step, plain }, title, recorded, &text);
    editor.said = later.map(|later| shown!("step {} overwrites it", later + 1));
    Ok(editor)
}

fn prompt_editor(keymap: &Keymap, screens: &Screens) -> Result<Editor, Shown> {
    let view = screens.record().ok_or_else(Shown::default)?;
    let sent = screens.attempt().filter(|_| screens.top() == ScreenKind::Rerun).map(|attempt| attempt.step);
    let step = sent.or(view.step()).ok_or_else(|| keymap.shown("before step 1: go to a step (<next_step>)"))?;
    let edited = view.edits.prompt.as_ref().filter(|(at, _)| *at == step).map(|(_, prompt)| prompt.clone());
    let own = own_prompt(view, step)?;
    let text = edited.as_ref().unwrap_or(&own).utf8().ok_or(Shown::own("the prompt is not valid UTF-8"))?.to_owned();
    if text.len() > MAX_TEXT {
        return Err(Shown::own("this prompt is too long to edit here"));
    }
    let title = shown!("prompt of step {}", step + 1);
    Ok(Editor::new(EditTarget::Prompt(step), title, own.line(), &text))
}

/// Handles a key while a text is being typed; `Err`: what was typed is to be taken.
pub(crate) fn editor_key(
    screens: &mut Screens,
    keymap: &Keymap,
    outside: &Outside,
    mut editor: Box<Editor>,
    event: KeyEvent,
) -> Result<Effects, Box<Editor>> {
    let mut effects = Vec::new();
    match keymap.look_up(&[Context::Editor], &[Key::from_event(event)]) {
        // In a text of several lines the key breaks the line.
        Lookup::Found(Action::TakeEdit) if !editor.is_large || event.code != KeyCode::Enter => return Err(editor),
        Lookup::Found(Action::ExternalEditor) if outside.command.is_some() => {
            effects.push(Effect::WriteForEditor(editor.text()));
        }
        Lookup::Found(Action::ExternalEditor) => {
            editor.said = Some(Shown::own("no editor set; set $VISUAL or $EDITOR before you start"));
        }
        _ => drop(editor.key(event)),
    }
    screens.dialog = Some(Dialog::Editor(editor));
    Ok(effects)
}

/// Takes what was typed, if it is a value.
pub(crate) fn take_edit(app: &mut App, mut editor: Box<Editor>) -> Effects {
    let typed = match &editor.target {
        EditTarget::Value { plain, .. } => {
            let plain = *plain;
            typed_value(&mut editor, plain)
        }
        _ => Ok(None),
    };
    let Ok(typed) = typed else {
        app.screens.dialog = Some(Dialog::Editor(editor));
        return Vec::new();
    };
    let text = editor.text();
    let Some(view) = app.screens.record_mut() else { return Vec::new() };
    match editor.target.clone() {
        EditTarget::Value { variable, name, step, .. } => {
            let Some(json) = typed else {
                view.edits.drop_value(variable);
                app.forks.keep_edits(view);
                return app.status.say(Shown::own("recorded value restored"));
            };
            view.edits.set(step, variable, name, json);
            app.forks.keep_edits(view);
            let keys = app.keymap.shown("<rerun> re-runs from there · <keep> saves as a fork");
            app.status.say(shown!("Override before step {} · {keys}", step + 1));
        }
        EditTarget::Prompt(step) => {
            let own = own_prompt(view, step).ok();
            let is_own = text.trim().is_empty() || own.is_some_and(|own| own == text.as_str());
            let prompt = (!is_own).then(|| Untrusted::from(text));
            view.edits.prompt = prompt.clone().map(|prompt| (step, prompt));
            let values = view.edits.pairs();
            app.forks.keep_edits(view);
            if app.screens.top() == ScreenKind::Rerun {
                return app.rerun_edited(values, prompt);
            }
            let what = if is_own { "recorded prompt restored" } else { "Prompt edited" };
            app.status.say(Shown::own(what));
        }
        EditTarget::LiveValue { .. } | EditTarget::LivePrompt | EditTarget::Question => {}
    }
    Vec::new()
}

/// Takes back everything that was edited.
pub(crate) fn drop_edits(screens: &mut Screens, forks: &mut Forks, status: &mut StatusLine) {
    forks.forget_edits(screens);
    status.say(Shown::own("Overrides discarded"));
}

/// Returns the fork that holds the edits of a record.
pub(crate) fn fork_of_edits(view: &RecordView) -> Make {
    Make::Edit { step: view.edits.step, edits: view.edits.pairs() }
}

// The editor of the user's choice.

/// Opens the editor on the file that holds the text.
pub(crate) fn editor_file(
    screens: &Screens,
    outside: &mut Outside,
    status: &mut StatusLine,
    file: Result<TempPath, Failure>,
) -> Effects {
    let path = match file {
        Ok(path) => path,
        Err(failure) => return status.fail(shown!("{failure}")),
    };
    let (Some(command), Some(Dialog::Editor(_))) = (&outside.command, screens.dialog.as_ref().map(Dialog::own)) else {
        return Vec::new();
    };
    let effect = Effect::Foreground(on_file(command, &path));
    outside.file = Some(path);
    vec![effect]
}

/// Reads the text once the editor has ended.
pub(crate) fn returned(outside: &mut Outside, status: &mut StatusLine, ended: Result<(), Shown>) -> Effects {
    let Some(path) = outside.file.take() else { return Vec::new() };
    match ended {
        Ok(()) => vec![Effect::ReadFromEditor(path)],
        Err(why) => status.fail(shown!("the editor {why}; nothing changed")),
    }
}

/// Takes back the text from the external editor. `apply`: the key that takes it.
pub(crate) fn editor_text(screens: &mut Screens, status: &mut StatusLine, text: Result<String, Failure>, apply: &str) {
    match (text, screens.dialog.as_mut().map(Dialog::own_mut)) {
        (Ok(text), Some(Dialog::Editor(editor))) => {
            editor.set(text.strip_suffix('\n').unwrap_or(&text));
            editor.said = Some(shown!("back from the editor: {apply} applies it"));
        }
        (Err(failure), _) => _ = status.fail(shown!("{failure}")),
        _ => {}
    }
}

/// The row of the key that takes what was typed.
pub(crate) fn taking() -> Option<&'static Binding> {
    Keymap::rows(Context::Editor).find(|binding| binding.action == Action::TakeEdit)
}

/// Returns the moment at which the chosen variable can be edited: the one on screen; at the end, after which no step
/// runs, the one since which the value holds.
fn editable_moment(view: &run::state::RecordView) -> Result<usize, &'static str> {
    let steps = view.opened.steps.len();
    if view.moment.0 < steps {
        return Ok(view.moment.0);
    }
    let from = view.opened.write_at(view.variables.at, view.moment).map(|write| write.from.0);
    from.filter(|from| *from < steps)
        .ok_or("Nothing runs after the last step. Go to an earlier step (<previous_step>) to override a value")
}

fn row_name(view: &run::state::RecordView, variable: usize) -> Option<Untrusted<'static>> {
    view.opened.view().state().variables().get(variable).map(|variable| variable.name.to_owned())
}

/// Builds the prompt that would be sent for a step, including values that were edited before it.
fn own_prompt(view: &run::state::RecordView, step: usize) -> Result<Untrusted<'static>, Shown> {
    let edits = if view.edits.step == step { view.edits.pairs() } else { Vec::new() };
    let (case, start) = (view.opened.view(), RerunStart { step, edits, ..RerunStart::default() });
    let mut replay = Replay::of(&case, &start).map_err(|why| Shown::error(&why))?;
    let ask = replay.next_ask().map_err(|ended| shown!("{ended}"))?;
    ask.map(|ask| ask.request.prompt).ok_or(Shown::own("this step makes no call"))
}
