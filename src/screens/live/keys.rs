//! Keys of a run that is being made: from the question or the recorded procedure to the preview, from the line that names
//! the server to the model, and from its replies to a record. Only `send` asks a model.

use std::path::PathBuf;
use std::time::Instant;

use ratatui::layout::{Position, Rect};

use crate::app::model_choice::{Mode, ModelChoice};
use crate::app::msg::{Effect, Effects};
use crate::app::state::Looks;
use crate::dialogs::dialog::{Popup, PromptPurpose};
use crate::dialogs::editor::{EditTarget, Editor, MAX_TEXT};
use crate::screens::kind::ScreenKind;
use crate::screens::live::breakpoint::Breakpoint;
use crate::screens::live::draw;
use crate::screens::live::state::{Live, LiveField, LiveOrigin, LivePane, LiveStage};
use crate::screens::live::work::{LiveReached, LiveWork};
use crate::screens::rerun::state::Kept;
use crate::screens::run::edits::{plain_text, typed_value};
use crate::screens::stack::Screens;
use crate::screens::wish::Wish;
use crate::widgets::keymap::{Action, GO_BACK, Keymap, NO_SEARCH, Reason, need};
use crate::widgets::list::{Move, scroll};
use crate::widgets::look::Look;
use crate::widgets::panes;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::call::RunId;
use stepscope_execution::live::LiveChange;
use stepscope_execution::sampling::CallEvent;
use stepscope_io::log::LineId;
use stepscope_record::types::TypeRegistry;

/// Reasons that a key does nothing: while a call runs, and while its reply is looked at.
const RUNNING: Reason = "a call is running; <escape> cancels it";
const WORKING: Reason = "checking the reply…";
/// Reason that `Enter` does nothing in a pane that is read.
const ONLY_NEXT: Reason = "<run_step> sends the next step";
/// Question before something is dropped that cost a call.
const UNSAVED: &str = "This run is not saved. <keep> saves it, the same key again discards it";

/// Checks that a procedure can be created now.
pub(crate) fn may_create(screens: &Screens, models: &ModelChoice) -> Result<(), Reason> {
    need(screens.live().is_none(), "leave this run first (<back>)")?;
    need(models.mode() != Mode::Offline, "offline mode: nothing is sent")
}

/// Checks that the open record can be run step by step.
pub(crate) fn may_step_through(screens: &Screens, models: &ModelChoice) -> Result<(), Reason> {
    need(screens.top() == ScreenKind::Run, "open a run first")?;
    need(screens.record().is_some_and(|view| view.opened.has_steps()), "this record has no steps")?;
    need(models.mode() != Mode::Offline || models.samples, "offline mode: nothing is sent")
}

/// Checks an action that the screen knows; `None`: another one.
pub(crate) fn allowed(screens: &Screens, models: &ModelChoice, action: Action) -> Option<Result<(), Reason>> {
    use Action as A;
    let live = screens.live()?;
    let idle = match live.stage {
        LiveStage::Asking => Err(RUNNING),
        LiveStage::Working => Err(WORKING),
        _ => Ok(()),
    };
    Some(match action {
        A::RunStep | A::Continue => idle.and_then(|()| need(live.stage != LiveStage::Over, "all steps ran")),
        A::Open if live.pane == LivePane::State => need(live.value_here().is_some(), "no value yet"),
        A::Open if live.stage == LiveStage::Over => match live.kept {
            Kept::Saved => Ok(()),
            _ => Err("<keep> saves the run, <back> leaves"),
        },
        // A call costs: only the line that says so sends it, and the steps.
        A::Open if matches!(live.pane, LivePane::Prompt | LivePane::Reply) => Err(ONLY_NEXT),
        A::Open if live.pane == LivePane::Steps && live.stage == LiveStage::Preview => Err(ONLY_NEXT),
        A::Open => idle,
        A::Edit => idle.and_then(|()| live.may_edit()),
        A::Tolerate => idle.and_then(|()| need(live.ends_upstream(), "only where evoproc ends at a reply")),
        A::Keep => match (&live.kept, live.totals.calls) {
            (_, 0) => Err("nothing to save yet"),
            (Kept::Saved, _) => Err("already saved"),
            (Kept::Saving(_), _) => Err("saving"),
            (Kept::Waiting(_), _) => Err("not saved; <save_again> retries"),
            _ => idle,
        },
        A::Breakpoint | A::NextPane | A::PreviousPane | A::Maximise | A::Left | A::Right => Ok(()),
        A::FindNext | A::FindPrevious => Err(NO_SEARCH),
        A::Create => may_create(screens, models),
        action => need(action.is_plain(), GO_BACK),
    })
}

/// Performs an action of this screen; `None` if it belongs to another.
pub(crate) fn act(
    screens: &mut Screens,
    models: &mut ModelChoice,
    (action, count): (Action, Option<usize>),
    is_presenting: bool,
) -> Option<Wish> {
    use Action as A;
    let live = screens.live_mut()?;
    // Only the key that asked discards, and only at once.
    live.warned = live.warned.filter(|warned| *warned == action);
    Some(match action {
        A::Open if live.stage == LiveStage::Preview && live.pane == LivePane::Top => match live.field() {
            LiveField::Send => run_on(models, live, false),
            LiveField::Model => Wish::ChooseModel,
            LiveField::From | LiveField::Task | LiveField::Release => turn_field(live, models, 1),
        },
        A::Open if live.pane == LivePane::State => {
            live.value_here().map_or(Wish::NOTHING, |(title, text)| Wish::Show(Popup { title, text }))
        }
        A::Open if live.stage == LiveStage::Over => live.saved_id.clone().map_or(Wish::NOTHING, Wish::Open),
        A::RunStep | A::Open => run_on(models, live, false),
        A::Continue => run_on(models, live, true),
        A::Left => turn_field(live, models, -1),
        A::Right => turn_field(live, models, 1),
        A::Tolerate => work(models, live, LiveChange::Tolerate),
        // What ended it can be asked otherwise.
        A::Edit if live.stage == LiveStage::Ended => {
            live.edits_next = true;
            work(models, live, LiveChange::Again)
        }
        A::Edit => edit(live),
        A::Breakpoint => {
            let proposed = match live.pane {
                LivePane::Steps => (live.steps.at + 1).to_string(),
                LivePane::State => live.variable().map_or_else(String::new, |(name, ..)| name.line().into_string()),
                _ => String::new(),
            };
            Wish::Type(PromptPurpose::Breakpoint, proposed)
        }
        // A created run asks for its file; one of a recorded procedure goes to the forks of its record.
        A::Keep => match live.origin {
            LiveOrigin::Record(..) => work(models, live, LiveChange::Save),
            LiveOrigin::Question(_) => Wish::TypeFile,
        },
        A::Escape | A::Back => leave(screens, action, is_presenting),
        A::NextPane => pane(live, count, 1),
        A::PreviousPane => pane(live, None, -1),
        A::Maximise => {
            live.maximised = !live.maximised;
            Wish::NOTHING
        }
        _ => return None,
    })
}

fn pane(live: &mut Live, number: Option<usize>, by: isize) -> Wish {
    match number.map_or(Ok(panes::turn(&LivePane::ALL, live.pane, by)), panes::numbered) {
        Ok(pane) => {
            live.pane = pane;
            Wish::NOTHING
        }
        Err(why) => Wish::Refuse(why),
    }
}

fn turn_field(live: &mut Live, models: &mut ModelChoice, by: isize) -> Wish {
    if !live.turn_field(by) {
        return Wish::NOTHING;
    }
    let id = models.next_id();
    Wish::Do(vec![Effect::Live(id, Box::new(live.begin(id)))])
}

/// Begins the work for a change.
fn work(models: &mut ModelChoice, live: &mut Live, change: LiveChange) -> Wish {
    let work = live.change(change);
    Wish::Do(begin(models, live, work))
}

fn begin(models: &mut ModelChoice, live: &mut Live, work: Option<LiveWork>) -> Effects {
    let Some(work) = work else { return Vec::new() };
    live.id = models.next_id();
    vec![Effect::Live(live.id, Box::new(work))]
}

/// Sends the next question, and those that follow it up to a breakpoint, if it is to continue. What ended the run is
/// asked again.
fn run_on(models: &mut ModelChoice, live: &mut Live, continues: bool) -> Wish {
    if let Some(never) = live.never.clone() {
        return Wish::Fail(never);
    }
    if models.server.is_none() || live.model(models).is_none() {
        return Wish::ChooseModel;
    }
    live.continues = continues;
    if live.is_looked_at() {
        live.sends_next = true;
        return Wish::NOTHING;
    }
    if live.question.is_none() && live.stage == LiveStage::Preview {
        return Wish::Refuse("still preparing the request");
    }
    if live.stage == LiveStage::Ended {
        live.sends_next = true;
        return work(models, live, LiveChange::Again);
    }
    Wish::Do(send(models, live))
}

/// Sends the next question. The one place from which a run that is being made asks a model.
fn send(models: &mut ModelChoice, live: &mut Live) -> Effects {
    let Some((id, server, calls)) = live.send(models) else { return Vec::new() };
    vec![Effect::StartRun { id, client: Box::new(server.client), calls, at_once: 1 }]
}

/// Takes in the events of the running call; `Err` gives them back: they are about another.
pub(crate) fn take_told(
    screens: &mut Screens,
    id: RunId,
    told: Vec<CallEvent>,
    now: Instant,
) -> Result<Effects, Vec<CallEvent>> {
    let Some(live) = screens.live_mut().filter(|live| live.id == id && live.is_running()) else { return Err(told) };
    Ok(live.hear(id, told, now).map(|work| Effect::Live(id, Box::new(work))).into_iter().collect())
}

/// Takes in what was worked out, and sends the next question where that follows at once.
pub(crate) fn take_reached(
    screens: &mut Screens,
    models: &mut ModelChoice,
    id: RunId,
    reached: Result<Box<LiveReached>, Shown>,
) -> Wish {
    let Some(live) = screens.live_mut().filter(|live| live.id == id) else { return Wish::NOTHING };
    let mut reached = match reached {
        Ok(reached) => *reached,
        Err(why) => {
            if live.totals.calls > 0 {
                (live.stage, live.reason, live.continues) = (LiveStage::Ended, Some(why.clone()), false);
            }
            live.never = Some(why);
            return Wish::NOTHING;
        }
    };
    let (saved, refused) = (reached.saved.take(), reached.refused);
    if live.reach(reached) {
        return Wish::Do(send(models, live));
    }
    if std::mem::take(&mut live.edits_next) && live.stage == LiveStage::Paused {
        return edit(live);
    }
    match (saved, refused) {
        (Some(line), _) => Wish::Save(line),
        (None, Some(why)) => Wish::Fail(Shown::own(why)),
        (None, None) => Wish::NOTHING,
    }
}

/// Breaks off what runs; `None`: nothing does.
pub(crate) fn cancel(screens: &mut Screens) -> Option<Effects> {
    let (id, work) = screens.live_mut()?.cancel()?;
    Some(vec![Effect::CancelRun(id), Effect::Live(id, Box::new(work))])
}

/// Edits the variable under the cursor, or the prompt that goes out next.
fn edit(live: &Live) -> Wish {
    let editor = if live.pane == LivePane::State { value_editor(live) } else { prompt_editor(live) };
    editor.map_or_else(Wish::Fail, |editor| Wish::Edit(Box::new(editor)))
}

fn value_editor(live: &Live) -> Result<Editor, Shown> {
    let (name, json, step) = live.variable().ok_or(Shown::own("no variable selected"))?;
    let plain_value = json.as_deref().and_then(plain_text);
    let plain = plain_value.is_some();
    let recorded = json.as_deref().map_or(Shown::own("nothing"), Shown::line);
    let json = json.map_or_else(String::new, |json| String::from_utf8_lossy(&json).into_owned());
    let text = plain_value.unwrap_or(json);
    if text.len() > MAX_TEXT {
        return Err(Shown::own("this value is too long to edit here"));
    }
    let title = shown!("{} before step {}, {}", name.line(), step + 1, if plain { "as text" } else { "as JSON" });
    Ok(Editor::new(EditTarget::LiveValue { name, plain }, title, recorded, &text))
}

fn prompt_editor(live: &Live) -> Result<Editor, Shown> {
    let question = live.question.as_ref().ok_or(Shown::own("no prompt to edit"))?;
    let text = question.prompt().utf8().ok_or(Shown::own("the prompt is not valid UTF-8"))?;
    if text.len() > MAX_TEXT {
        return Err(Shown::own("this prompt is too long to edit here"));
    }
    let title = shown!("prompt of step {}", question.ask.step + 1);
    let own = question.ask.request.prompt.line();
    Ok(Editor::new(EditTarget::LivePrompt, title, own, text))
}

/// Takes what was typed: the question of a new run, or a value or the prompt of the step that comes next.
pub(crate) fn typed(screens: &mut Screens, models: &mut ModelChoice, mut editor: Box<Editor>) -> Wish {
    let text = editor.text();
    let (name, plain) = match &editor.target {
        EditTarget::Question if text.trim().is_empty() => {
            editor.said = Some(Shown::own("type a question"));
            return Wish::Edit(editor);
        }
        EditTarget::Question => return Wish::Create(Untrusted::from(text)),
        EditTarget::LiveValue { name, plain } => (Some(name.clone()), *plain),
        _ => (None, false),
    };
    let Some(live) = screens.live_mut() else { return Wish::NOTHING };
    let Some(name) = name else {
        let own = live.question.as_ref().map(|question| &question.ask.request.prompt);
        let is_own = text.trim().is_empty() || own.is_some_and(|own| *own == text.as_str());
        return work(models, live, LiveChange::Prompt((!is_own).then(|| Untrusted::from(text))));
    };
    match typed_value(&mut editor, plain) {
        Ok(Some(json)) => work(models, live, LiveChange::Set(name, json)),
        Ok(None) => Wish::NOTHING,
        Err(()) => Wish::Edit(editor),
    }
}

/// Sets the breakpoint that was typed, or takes it away.
pub(crate) fn set_breakpoint(
    screens: &mut Screens,
    models: &mut ModelChoice,
    types: &TypeRegistry,
    typed: &str,
) -> Result<Effects, Shown> {
    let breakpoint = Breakpoint::parse(typed, types)?;
    let Some(live) = screens.live_mut() else { return Ok(Vec::new()) };
    let work = live.turn_breakpoint(breakpoint);
    Ok(begin(models, live, work))
}

/// Writes the run to the file that was typed.
pub(crate) fn save_to(screens: &mut Screens, models: &mut ModelChoice, typed: &str) -> Result<Effects, Shown> {
    let Some(live) = screens.live_mut() else { return Ok(Vec::new()) };
    if typed.trim().is_empty() {
        return Err(Shown::own("type the name of a file"));
    }
    live.file = Some(PathBuf::from(typed.trim()));
    let work = live.change(LiveChange::Save);
    Ok(begin(models, live, work))
}

/// Goes one level up: out of the call, out of the maximised pane, out of the screen.
fn leave(screens: &mut Screens, action: Action, is_presenting: bool) -> Wish {
    if let Some(effects) = cancel(screens) {
        return Wish::Do(effects);
    }
    if screens.live_mut().is_some_and(|live| std::mem::take(&mut live.maximised)) {
        return Wish::NOTHING;
    }
    may_drop(screens, action, is_presenting).map_or_else(Wish::Warn, |()| Wish::Leave)
}

/// Asks once before something is dropped that is not saved; `Err`: the question.
pub(crate) fn may_drop(screens: &mut Screens, action: Action, is_presenting: bool) -> Result<(), Reason> {
    let Some(live) = screens.live_mut() else { return Ok(()) };
    if is_presenting || !live.is_unsaved() || live.warned == Some(action) {
        return Ok(());
    }
    live.warned = Some(action);
    Err(UNSAVED)
}

/// Moves the cursor or scrolls.
pub(crate) fn go(looks: &Looks, screens: &mut Screens, movement: Move) {
    let Some(live) = screens.live_mut() else { return };
    let (width, height) = (live.areas.width(live.pane), live.areas.height(live.pane).max(1));
    match live.pane {
        LivePane::Top => live.fields.go(movement, live.rows().len(), height),
        LivePane::Steps => live.steps.go(movement, draw::step_count(live), height),
        LivePane::State => {
            let count = live.view.as_ref().map_or(0, |view| view.opened.variables.len());
            live.variables.go(movement, count, height);
        }
        LivePane::Prompt | LivePane::Reply => {
            let lines = draw::text_lines(live, live.pane, width, &looks.theme).len();
            let is_reply = live.pane == LivePane::Reply;
            let Some(top) = live.tops.get_mut(usize::from(is_reply)) else { return };
            if is_reply && live.follows {
                *top = lines.saturating_sub(height);
            }
            scroll(top, movement, lines, height);
            if is_reply {
                live.follows = *top + height >= lines && live.stage == LiveStage::Asking;
            }
        }
    }
}

/// Gives the keys to the pane under the mouse.
pub(crate) fn focus(screens: &mut Screens, at: Position) {
    if let Some(live) = screens.live_mut()
        && let Some((pane, _)) = live.areas.at(at)
    {
        live.pane = pane;
    }
}

/// Lays the panes out, measures the request, and keeps cursors among what there is.
pub(crate) fn settle(area: Rect, looks: &Looks, keymap: &Keymap, screens: &mut Screens, models: &ModelChoice) {
    let Some(live) = screens.live_mut() else { return };
    live.measure(models);
    live.areas = draw::areas(live, models, area, Look::new(&looks.theme, keymap, false));
    let steps = draw::step_count(live);
    let variables = live.view.as_ref().map_or(0, |view| view.opened.variables.len());
    live.fields.settle(live.rows().len(), live.rows().len());
    live.steps.settle(steps, live.areas.height(LivePane::Steps));
    live.variables.settle(variables, live.areas.height(LivePane::State));
}

/// Notes whether the record of a run is on the disk; the file that kept it until then is no longer needed.
pub(crate) fn note_saved(screens: &mut Screens, id: LineId, is_saved: bool) -> Option<Effect> {
    let live = screens.live_mut()?;
    live.note_saved(id, is_saved);
    if live.kept != Kept::Saved || !std::mem::take(&mut live.is_kept) {
        return None;
    }
    live.keep.clone().map(Effect::RemoveUnfinished)
}
