//! The re-run screen: from the key to the preview, from the line that names the endpoint to the server, and from the
//! reply to a fork. Only `send` asks a model, and only [`Field::Send`] leads to it.

use std::time::Instant;

use ratatui::layout::{Position, Rect};

use crate::app::forks;
use crate::app::forks::Forks;
use crate::app::model_choice::ModelChoice;
use crate::app::model_choice::{Candidate, Mode};
use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::app::state::Looks;
use crate::app::status_line::StatusLine;
use crate::dialogs::dialog::PromptPurpose;
use crate::dialogs::fixes::keys::look_for_fixes;
use crate::screens::kind::ScreenKind;
use crate::screens::rerun::choosing::candidate;
use crate::screens::rerun::draw::Sent;
use crate::screens::rerun::state::{
    AT_ONCE, Attempt, ChoosesFor, Field, Kept, MAX_SAMPLES, Of, Pane, ReplyAmount, SAMPLES, Stage, farther, turned,
};
use crate::screens::rerun::transition::Reached;
use crate::screens::run::state::RecordView;
use crate::screens::side_by_side::keys::{beside_parent, open_handle};
use crate::screens::stack::Screen;
use crate::screens::stack::Screens;
use crate::screens::wish::{Wish, fulfil};
use crate::screens::{rerun, run};
use crate::widgets::keymap::{Action, GO_BACK, Keymap, NO_SEARCH, Reason, need};
use crate::widgets::list::Move;
use crate::widgets::look::Look;
use crate::widgets::panes;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::call::{Phase, Received, RunId};
use stepscope_execution::fork::Scope;
use stepscope_execution::sampling;
use stepscope_execution::sampling::CallEvent;
use stepscope_io::log::LineId;
use stepscope_io::model::cassette::RECORDING;
use stepscope_io::model::setup::Server;

/// Reason that only one call is made for an answer.
const ONE_CALL: &str = "a structured answer is one call; <rerun> re-runs it";
/// Reason that no model can be selected.
const NO_MODEL: &str = "no model to choose; start a local server, or pass --url";
/// Reason that nothing is sent yet.
const OPENING: &str = "still opening what answers";
/// Reasons that a key does nothing: while a call runs, and while its reply is judged.
const RUNNING: &str = "a call is running; <escape> cancels it";
const JUDGED: &str = "checking the result…";
/// Question before a running call is dropped with what came of it.
const RUNNING_UNSAVED: &str =
    "A call is running. <escape> cancels it and keeps the replies, the same key again discards all";
/// Maximum length of the name of a model that is typed, in bytes.
const MAX_MODEL: usize = 200;

impl App {
    /// Takes values in place of the recorded ones, as JSON texts, and a prompt in place of the step's own; shows what
    /// would be sent now. Nothing is sent.
    pub fn rerun_edited(
        &mut self,
        edits: Vec<(Untrusted<'static>, Vec<u8>)>,
        prompt: Option<Untrusted<'static>>,
    ) -> Effects {
        if self.screens.attempt().is_none() {
            rerun(&mut self.screens, &mut self.models, Action::Rerun);
        }
        if let Some(attempt) = self.screens.attempt_mut() {
            (attempt.edits, attempt.prompt) = (edits, prompt);
        }
        plan(&mut self.screens, &mut self.models)
    }
}

/// Checks an action that the screen knows; `None`: another one.
pub(crate) fn allowed(
    screens: &Screens,
    models: &ModelChoice,
    action: Action,
    has_forks: impl FnOnce() -> bool,
) -> Option<Result<(), Reason>> {
    use Action as A;
    Some(match action {
        A::Open | A::Keep | A::Edit => may_rerun(screens, models, action),
        A::NextPane | A::PreviousPane | A::Maximise => Ok(()),
        A::Json
        | A::NextRecord
        | A::PreviousRecord
        | A::NextFinding
        | A::PreviousFinding
        | A::JumpBack
        | A::JumpForth
        | A::NextWrong
        | A::PreviousWrong
        | A::NextFlagged
        | A::PreviousFlagged
        | A::PreviousFork
        | A::Find => Err(GO_BACK),
        A::FindNext | A::FindPrevious => Err(NO_SEARCH),
        A::NextFork | A::Difference => leads_to_fork(screens, has_forks),
        _ => return None,
    })
}

/// Checks that what was saved can be opened from the result.
pub(crate) fn leads_to_fork(screens: &Screens, has_forks: impl FnOnce() -> bool) -> Result<(), Reason> {
    let is_saved = |attempt: &Attempt| attempt.stage == Stage::Over && attempt.kept == Kept::Saved;
    need(screens.attempt().is_some_and(is_saved), GO_BACK)?;
    need(has_forks(), "the fork is being read")
}

/// Checks whether a step can be re-run; `Err`: why not. The keys and the footer ask it.
pub(crate) fn may_rerun(screens: &Screens, models: &ModelChoice, action: Action) -> Result<(), Reason> {
    if let Some(attempt) = screens.attempt().filter(|_| screens.top() == ScreenKind::Rerun) {
        return may_on_preview(attempt, action);
    }
    let view = screens.record();
    if screens.top() == ScreenKind::Answer {
        need(action == Action::Rerun, ONE_CALL)?;
    } else {
        need(screens.top() == ScreenKind::Run, "open a run first")?;
        let has_steps = view.is_some_and(|view| view.opened.has_steps());
        need(has_steps, "this record has no steps")?;
        need(view.and_then(RecordView::step_to_ask).is_some(), "before step 1: go to a step (<next_step>)")?;
    }
    let offline = models.mode() == Mode::Offline && !models.samples;
    need(!offline, "offline mode: nothing is sent")
}

/// Checks an action on the re-run itself.
fn may_on_preview(attempt: &Attempt, action: Action) -> Result<(), Reason> {
    let idle = match attempt.stage {
        Stage::Asking => Err(RUNNING),
        Stage::Judging => Err(JUDGED),
        _ => Ok(()),
    };
    let is_farther = matches!(action, Action::RerunFromHere | Action::RerunStale | Action::RerunSamples);
    match action {
        _ if attempt.is_answer() && is_farther => Err(ONE_CALL),
        Action::Edit if attempt.is_answer() => Err("only prompts of steps can be edited"),
        Action::Keep => match (&attempt.outcome, &attempt.kept) {
            (None, _) => Err("nothing to save yet"),
            (_, Kept::Saved) => Err("already saved"),
            (_, Kept::Saving(_)) => Err("saving"),
            (_, Kept::Waiting(_)) => Err("not saved; <save_again> retries"),
            _ => Ok(()),
        },
        Action::Open => match (attempt.stage, attempt.pane) {
            (Stage::Choosing, _) if attempt.picker.candidates.is_empty() => Err(NO_MODEL),
            (Stage::Asking | Stage::Judging, _) => idle,
            (Stage::Over, _) if attempt.ended().is_some() => Err("ended early; <rerun> re-runs, <back> leaves"),
            (Stage::Over, _) => Err("<keep> saves, <rerun> re-runs, <back> leaves"),
            (_, Pane::Top) => Ok(()),
            _ => Err("go to the box at the top (<next_pane>)"),
        },
        Action::RerunFromHere if attempt.stage == Stage::Several => attempt.can_take(),
        Action::Edit => {
            idle?;
            need(attempt.stage == Stage::Preview, "press <rerun> first (back to the preview)")?;
            need(attempt.ready.is_some(), "still preparing the request")
        }
        Action::Rerun => {
            idle?;
            let is_preview = matches!(attempt.stage, Stage::Preview | Stage::Choosing);
            need(
                !is_preview || attempt.scope != Scope::One || attempt.samples > 1 || attempt.to_fix.is_some(),
                "this is the preview already; <open> sends",
            )
        }
        _ => {
            idle?;
            need(attempt.stage == Stage::Preview, "press <rerun> first (back to the preview)")
        }
    }
}

/// Shows what asking the step under the cursor again would send.
fn rerun(screens: &mut Screens, models: &mut ModelChoice, action: Action) -> Wish {
    if screens.top() == ScreenKind::Rerun {
        return rerun_again(screens, models, action);
    }
    let is_answer = screens.top() == ScreenKind::Answer;
    let attempt =
        screens.record().and_then(|view| if is_answer { Some(of_answer(view)) } else { of_step(view, action) });
    let Some(attempt) = attempt else { return Wish::NOTHING };
    screens.open(Screen::Rerun(Box::new(attempt)));
    Wish::Do(plan(screens, models))
}

/// Prepares the call of the open answer.
fn of_answer(view: &RecordView) -> Attempt {
    let opened = &view.opened;
    let (of, known) = (Of::Answer(opened.document()), opened.model_of_answer());
    Attempt::new(of, opened.text().to_vec(), 0, 1, known)
}

/// Prepares a re-run from the step under the cursor.
fn of_step(view: &RecordView, action: Action) -> Option<Attempt> {
    let (step, opened, edits) = (view.step_to_ask()?, &view.opened, &view.edits);
    let known = opened.model_of(step);
    let mut attempt = Attempt::new(Of::Run, opened.text().to_vec(), step, opened.steps.len(), known);
    (attempt.scope, attempt.samples) = wanted(action);
    attempt.edits = edits.pairs();
    attempt.prompt = edits.prompt.as_ref().filter(|(at, _)| *at == step).map(|(_, prompt)| prompt.clone());
    // Edits belong to this step.
    let to_fix = view.step_to_rerun().filter(|to_fix| edits.is_empty() && *to_fix != step);
    attempt.to_fix = to_fix.map(|step| (step, opened.model_of(step)));
    Some(attempt)
}

/// Re-runs the same step, or further ones.
fn rerun_again(screens: &mut Screens, models: &mut ModelChoice, action: Action) -> Wish {
    let Some(attempt) = screens.attempt_mut() else { return Wish::NOTHING };
    if attempt.stage == Stage::Several && action == Action::RerunFromHere {
        return take_reply(attempt, Some(Scope::FromHere));
    }
    if matches!(attempt.stage, Stage::Preview | Stage::Choosing) {
        if action == Action::Rerun {
            attempt.turn_to_fix();
        }
        (attempt.scope, attempt.samples) = wanted(action);
    } else if let Err(why) = attempt.may_drop(action) {
        return Wish::Warn(why);
    } else {
        attempt.again();
    }
    Wish::Do(plan(screens, models))
}

/// Works out what would be sent, and to which server.
fn plan(screens: &mut Screens, models: &mut ModelChoice) -> Effects {
    let Some(attempt) = screens.attempt_mut() else { return Vec::new() };
    let id = models.next_id();
    let transition = attempt.begin(id);
    let mut effects = vec![Effect::Transition(id, Box::new(transition))];
    if models.server.is_some() {
        return effects;
    }
    if models.is_configured {
        attempt.picker.is_opening = true;
        effects.push(Effect::ChooseServer(id, Candidate::Named(None)));
    } else {
        effects.extend(candidate(screens, models, id));
    }
    effects
}

/// Takes in the server that was chosen, ready to be asked.
pub(crate) fn take_chosen(app: &mut App, id: RunId, chosen: Result<Box<Server>, Shown>) -> Effects {
    let Some(attempt) = app.screens.attempt_mut().filter(|attempt| attempt.id == id) else { return Vec::new() };
    attempt.picker.is_opening = false;
    match chosen {
        Ok(server) => {
            app.models.server = Some(*server);
            app.models.model = None;
            attempt.measure(&app.models);
            if attempt.model(&app.models).is_none() {
                return candidate(&mut app.screens, &app.models, id);
            }
            let purpose = attempt.chooses_for;
            if purpose.is_some() {
                app.screens.pop();
                // Its request is measured for the new server.
                app.screens.live_mut().into_iter().for_each(|live| live.bytes = None);
            }
            if purpose != Some(ChoosesFor::Repair) {
                return Vec::new();
            }
            let handle = open_handle(&app.screens, &app.store, &app.forks.tree);
            look_for_fixes(&mut app.across, handle)
        }
        Err(why) => {
            let effects =
                if attempt.stage == Stage::Preview { candidate(&mut app.screens, &app.models, id) } else { Vec::new() };
            app.status.fail(why);
            effects
        }
    }
}

/// Takes in the result of a transition, and sends the next call if there is one.
pub(crate) fn take_reached(
    screens: &mut Screens,
    models: &mut ModelChoice,
    keymap: &Keymap,
    status: &mut StatusLine,
    (id, reached): (RunId, Reached),
) -> Effects {
    let Some(attempt) = screens.attempt_mut().filter(|attempt| attempt.id == id) else { return Vec::new() };
    let goes_on = attempt.reach(reached);
    attempt.measure(models);
    drop_stage_status(screens, keymap, status);
    let next = screens.attempt_mut().filter(|_| goes_on);
    next.map_or_else(Vec::new, |attempt| send(attempt, models))
}

/// Takes in the events of the running calls.
pub(crate) fn take_told(
    screens: &mut Screens,
    keymap: &Keymap,
    status: &mut StatusLine,
    (id, told): (RunId, Vec<CallEvent>),
    now: Instant,
) -> Effects {
    let transition = screens.attempt_mut().and_then(|attempt| attempt.hear(id, told, now));
    if transition.is_some() {
        drop_stage_status(screens, keymap, status);
    }
    transition.map(|transition| Effect::Transition(id, Box::new(transition))).into_iter().collect()
}

/// Drops the message about a running call once that is over.
fn drop_stage_status(screens: &Screens, keymap: &Keymap, status: &mut StatusLine) {
    let stage = screens.attempt().map(|attempt| attempt.stage);
    let running = [RUNNING, RUNNING_UNSAVED].map(|text| keymap.shown(text));
    let is_running = |said: &str| running.iter().any(|running| running.as_str() == said);
    let is_over = |said: &str| match stage {
        Some(Stage::Asking) => said == JUDGED,
        Some(Stage::Judging) => is_running(said),
        _ => is_running(said) || said == JUDGED,
    };
    if status.now.as_ref().is_some_and(|status| is_over(status.text.as_str())) {
        status.now = None;
    }
}

/// Sends the request. Only this and the repair of a procedure lead to a server.
fn send(attempt: &mut Attempt, models: &mut ModelChoice) -> Effects {
    let Some((id, server, calls)) = attempt.send(models) else { return Vec::new() };
    let client = Box::new(server.client);
    vec![Effect::StartRun { id, client, calls, at_once: AT_ONCE }]
}

/// Breaks off what runs; `None`: nothing does.
pub(crate) fn cancel_run(screens: &mut Screens, status: &mut StatusLine) -> Option<Effects> {
    let (id, transition) = screens.attempt_mut()?.cancel()?;
    let attempt = screens.attempt()?;
    let text = match (attempt.amount(), attempt.past.is_empty()) {
        (ReplyAmount::Nothing, true) => "Cancelled. Nothing had come",
        (ReplyAmount::Nothing, false) => "Cancelled. Nothing had come of this step; those before it are kept here",
        _ => "Cancelled. The partial reply is kept here; it is not an answer",
    };
    status.say(Shown::own(text));
    Some(vec![Effect::CancelRun(id), Effect::Transition(id, Box::new(transition))])
}

/// Sends, chooses, takes or edits what the cursor is on, for `Enter`.
fn open_in_rerun(screens: &mut Screens, models: &mut ModelChoice, keymap: &Keymap) -> Wish {
    let Some(attempt) = screens.attempt_mut() else { return Wish::NOTHING };
    match attempt.stage {
        Stage::Choosing => {
            let id = attempt.id;
            let Some(candidate) = attempt.picker.candidates.get(attempt.picker.list.at).cloned() else {
                return Wish::Refuse(NO_MODEL);
            };
            attempt.stage = Stage::Preview;
            attempt.list.at = 0;
            attempt.picker.is_opening = true;
            Wish::Do(vec![Effect::ChooseServer(id, candidate)])
        }
        Stage::Preview => open_field(screens, models, keymap),
        Stage::Several => take_reply(attempt, None),
        Stage::Asking | Stage::Judging | Stage::Over => Wish::NOTHING,
    }
}

fn open_field(screens: &mut Screens, models: &mut ModelChoice, keymap: &Keymap) -> Wish {
    let Some(attempt) = screens.attempt_mut() else { return Wish::NOTHING };
    let field = attempt.field();
    let sampling = &models.sampling;
    let text = match field {
        Field::Send => return ask(attempt, models, keymap),
        Field::Server => {
            let id = attempt.id;
            return Wish::Do(candidate(screens, models, id));
        }
        Field::Scope | Field::Enforcement => return Wish::Do(turn_field(screens, models, 1)),
        Field::Model => attempt.model(models).unwrap_or_default(),
        Field::Samples => attempt.samples.to_string(),
        Field::Temperature => sampling.temperature.map_or("none".to_owned(), |t| t.to_string()),
        Field::Seed => sampling.seed.map_or("none".to_owned(), |seed| seed.to_string()),
    };
    Wish::Type(PromptPurpose::Field(field), text)
}

/// Sends the request once the line that names the endpoint was confirmed, or tells why it cannot be sent.
fn ask(attempt: &mut Attempt, models: &mut ModelChoice, keymap: &Keymap) -> Wish {
    Wish::Fail(if let Some(never) = &attempt.never {
        never.clone()
    } else if attempt.picker.is_opening {
        Shown::own(OPENING)
    } else if models.server.is_none() {
        keymap.shown("no model selected: <open> on the line \"server\"")
    } else if attempt.model(models).is_none() {
        keymap.shown("no model selected: <open> on the line \"model\"")
    } else if attempt.ready.is_none() {
        Shown::own("still preparing the request")
    } else {
        return Wish::Do(send(attempt, models));
    })
}

/// Changes the field under the cursor, for left and right.
fn turn_field(screens: &mut Screens, models: &mut ModelChoice, by: isize) -> Effects {
    let Some(attempt) = screens.attempt_mut().filter(|attempt| attempt.pane == Pane::Top) else {
        return Vec::new();
    };
    if attempt.stage != Stage::Preview {
        return Vec::new();
    }
    let sampling = &mut models.sampling;
    match attempt.field() {
        Field::Scope => {
            attempt.scope = farther(attempt.scope, by);
            return plan(screens, models);
        }
        Field::Samples => {
            attempt.samples = attempt.samples.saturating_add_signed(by).clamp(1, MAX_SAMPLES);
            return plan(screens, models);
        }
        Field::Temperature => {
            let tenths = (sampling.temperature.unwrap_or(0.0) * 10.0).round() + by as f64;
            sampling.temperature = Some((tenths / 10.0).max(0.0));
        }
        Field::Seed => sampling.seed = Some(sampling.seed.unwrap_or(0).saturating_add(by as i64)),
        Field::Enforcement => sampling.enforcement = turned(sampling.enforcement, by),
        Field::Send | Field::Server | Field::Model => return Vec::new(),
    }
    attempt.measure(models);
    Vec::new()
}

/// Takes what was typed for a field.
pub(crate) fn set_field(
    screens: &mut Screens,
    models: &mut ModelChoice,
    field: Field,
    typed: &str,
) -> Result<Effects, Shown> {
    let Some(attempt) = screens.attempt_mut() else { return Ok(Vec::new()) };
    let typed = typed.trim();
    let sampling = &mut models.sampling;
    match field {
        Field::Model if typed.is_empty() || typed.len() > MAX_MODEL => {
            return Err(Shown::own("enter a model name; `stepscope models` lists them"));
        }
        Field::Model => models.model = Some(typed.to_owned()),
        Field::Samples => {
            let count = typed.parse().ok().filter(|count| (1..=MAX_SAMPLES).contains(count));
            attempt.samples = count.ok_or(shown!("enter a number from 1 to {MAX_SAMPLES}"))?;
            return Ok(plan(screens, models));
        }
        Field::Temperature => {
            sampling.temperature = sampling::temperature(typed).map_err(Shown::own)?;
        }
        Field::Seed => {
            sampling.seed = sampling::seed(typed).map_err(Shown::own)?;
        }
        Field::Send | Field::Server | Field::Scope | Field::Enforcement => {}
    }
    attempt.measure(models);
    Ok(Vec::new())
}

/// Takes the reply under the cursor, or all of them together.
fn take_reply(attempt: &mut Attempt, scope: Option<Scope>) -> Wish {
    if let Err(why) = attempt.can_take() {
        return Wish::Warn(why);
    }
    let id = attempt.id;
    Wish::Do(attempt.take(scope).map(|transition| Effect::Transition(id, Box::new(transition))).into_iter().collect())
}

/// Keeps what came as a fork.
fn keep_attempt(app: &mut App) -> Effects {
    let Some(attempt) = app.screens.attempt_mut() else { return Vec::new() };
    let Some(outcome) = &attempt.outcome else { return Vec::new() };
    let line = outcome.line.clone();
    let kept = app.keep_fork(line);
    if let Some(attempt) = app.screens.attempt_mut() {
        attempt.kept = kept.as_ref().map_or(Kept::Failed, |(id, _)| Kept::Saving(*id));
    }
    kept.map(|(_, effect)| effect).into_iter().collect()
}

/// Notes on the re-run screen whether its fork is on the disk.
pub(crate) fn note_saved(screens: &mut Screens, forks: &mut Forks, id: LineId, is_saved: bool) {
    let Some(attempt) = screens.attempt_mut() else { return };
    if matches!(attempt.kept, Kept::Saving(other) | Kept::Waiting(other) if other == id) {
        attempt.kept = if is_saved { Kept::Saved } else { Kept::Waiting(id) };
        if is_saved {
            // They are in the fork now.
            forks.forget_edits(screens);
        }
    }
}

/// Goes one level up: out of the maximised pane, out of the call, out of the list, out of the screen.
fn leave_rerun(screens: &mut Screens, models: &ModelChoice, status: &mut StatusLine, action: Action) -> Wish {
    if let Some(effects) = cancel_run(screens, status) {
        return Wish::Do(effects);
    }
    let Some(attempt) = screens.attempt_mut() else {
        screens.pop();
        return Wish::NOTHING;
    };
    if std::mem::take(&mut attempt.maximised) {
        return Wish::NOTHING;
    }
    let id = attempt.id;
    if attempt.stage == Stage::Choosing && models.server.is_some() {
        attempt.stage = Stage::Preview;
    } else if let Err(why) = attempt.may_drop(action) {
        return Wish::Warn(why);
    } else {
        screens.pop();
    }
    Wish::Do(vec![Effect::CancelRun(id)])
}

/// Asks once before something is dropped that is not safe.
pub(crate) fn may_drop(screens: &mut Screens, action: Action) -> Result<(), Reason> {
    screens.attempt_mut().map_or(Ok(()), |attempt| attempt.may_drop(action))
}

impl Attempt {
    /// Tells whether the reply that is shown was recorded earlier.
    pub(crate) fn is_replay(&self) -> bool {
        let reply = self.round.as_ref().and_then(|round| round.replies.first()).map(|reply| &reply.received);
        // A request that is not in the recording has no reply in it.
        let is_heard = |received: &Received| {
            !received.content.is_empty() || matches!(received.phase, Phase::Streaming | Phase::Done(_))
        };
        reply.is_some_and(|received| plays(received) && is_heard(received))
    }

    /// Asks once before what is not safe is dropped: `Err` holds the question, which the same action answers.
    fn may_drop(&mut self, action: Action) -> Result<(), Reason> {
        if !self.is_unsaved() || self.warned == Some(action) {
            return Ok(());
        }
        self.warned = Some(action);
        Err(match self.stage {
            Stage::Asking => RUNNING_UNSAVED,
            Stage::Several => "No reply chosen. <open> selects one, the same key again discards all",
            _ => "Unsaved result. <keep> saves, the same key again discards",
        })
    }
}

/// Moves the cursor or scrolls.
pub(crate) fn go(looks: &Looks, screens: &mut Screens, movement: Move) {
    let Some(attempt) = screens.attempt_mut() else { return };
    let (width, height) = (attempt.areas.width(attempt.pane), attempt.areas.height(attempt.pane).max(1));
    let lower = Pane::LOWER.iter().position(|pane| *pane == attempt.pane);
    let Some(lower) = lower else {
        if attempt.stage == Stage::Choosing {
            attempt.picker.list.go(movement, attempt.picker.candidates.len(), height);
        } else {
            attempt.list.go(movement, attempt.rows(), height);
        }
        return;
    };
    let Some(attempt) = screens.attempt() else { return };
    let (view, theme) = (screens.record(), &looks.theme);
    let lines = rerun::draw::lines(attempt, view, attempt.pane, width, theme);
    let last = lines.len().saturating_sub(height);
    let Some(attempt) = screens.attempt_mut() else { return };
    let is_reply = attempt.pane == Pane::Reply;
    let Some(top) = attempt.tops.get_mut(lower) else { return };
    if is_reply && attempt.follows {
        *top = last;
    }
    let page = isize::try_from(height).unwrap_or(isize::MAX);
    *top = match movement {
        Move::By(rows) => top.saturating_add_signed(rows),
        Move::HalfPages(n) => top.saturating_add_signed(n.saturating_mul((page / 2).max(1))),
        Move::Pages(n) => top.saturating_add_signed(n.saturating_mul(page)),
        Move::To(line) => line,
    };
    *top = (*top).min(last);
    if is_reply {
        attempt.follows = *top == last && attempt.stage == Stage::Asking;
    }
}

/// Returns the text to copy from the pane that has the keys.
pub(crate) fn copied_of_rerun(screens: &Screens) -> Option<Shown> {
    let attempt = screens.attempt()?;
    if attempt.pane == Pane::Request {
        return attempt.request().map(Untrusted::prose);
    }
    let reply = attempt.round.as_ref()?.replies.get(attempt.shown_reply())?;
    Some(Shown::prose(&reply.received.content))
}

/// Goes to the pane of a number, from 1, else `by` panes further.
fn pane_in_rerun(screens: &mut Screens, number: Option<usize>, by: isize) -> Result<(), Reason> {
    let Some(attempt) = screens.attempt_mut() else { return Ok(()) };
    attempt.pane = number.map_or(Ok(panes::turn(&Pane::ALL, attempt.pane, by)), panes::numbered)?;
    Ok(())
}

/// Tells whether a reply is looked for in a recording.
pub(crate) fn plays(received: &Received) -> bool {
    received.endpoint.as_str() == RECORDING
}

/// Returns the scope of an action, and the number of times that it asks.
const fn wanted(action: Action) -> (Scope, usize) {
    match action {
        Action::RerunFromHere => (Scope::FromHere, 1),
        Action::RerunStale => (Scope::Stale, 1),
        Action::RerunSamples => (Scope::One, SAMPLES),
        _ => (Scope::One, 1),
    }
}

/// Performs an action of this screen; `None` if it belongs to another.
pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    use Action as A;
    // Only the key that asked discards, and only at once.
    if let Some(attempt) = app.screens.attempt_mut() {
        attempt.warned = attempt.warned.filter(|warned| *warned == action);
    }
    let App { screens, models, keymap, status, .. } = app;
    let wish = match action {
        A::Rerun | A::RerunFromHere | A::RerunStale | A::RerunSamples => rerun(screens, models, action),
        _ if screens.top() != ScreenKind::Rerun => return None,
        A::Open => open_in_rerun(screens, models, keymap),
        A::Edit => run::edit::edit(screens, keymap).map_or_else(Wish::Say, |()| Wish::NOTHING),
        A::Escape | A::Back => leave_rerun(screens, models, status, action),
        A::Left => Wish::Do(turn_field(screens, models, -1)),
        A::Right => Wish::Do(turn_field(screens, models, 1)),
        A::NextPane => pane_in_rerun(screens, app.count, 1).map_or_else(Wish::Refuse, |()| Wish::NOTHING),
        A::PreviousPane => pane_in_rerun(screens, None, -1).map_or_else(Wish::Refuse, |()| Wish::NOTHING),
        A::Maximise => {
            screens.attempt_mut().into_iter().for_each(|attempt| attempt.maximised = !attempt.maximised);
            Wish::NOTHING
        }
        A::Keep => return Some(keep_attempt(app)),
        // The fork that was saved last, in place of the result.
        A::NextFork => {
            app.screens.pop();
            let found = forks::follow::fork_from(&app.screens, &app.store, &app.table, &app.forks.tree, -1);
            let Ok((row, record)) = found else { return Some(Vec::new()) };
            app.table.list.at = row;
            return Some(app.request(record, app.screens.top()));
        }
        // The same fork, next to the record.
        A::Difference => {
            let fork = *app.fork_tree().last()?;
            let parent = app.forks.tree.parent(fork)?;
            let [fork, parent] = [fork, parent].map(|(source, byte)| app.store.position(source, byte));
            return Some(beside_parent(&app.store, &app.forks.tree, &mut app.across, (fork?, parent?)));
        }
        _ => return None,
    };
    Some(fulfil(app, wish))
}

/// Gives the keys to the pane under the mouse.
pub(crate) fn focus(screens: &mut Screens, at: Position) {
    let Some(attempt) = screens.attempt_mut() else { return };
    if let Some((pane, _)) = attempt.areas.at(at) {
        attempt.pane = pane;
    }
}

/// Lays the panes out, and keeps the cursor among what there is.
pub(crate) fn settle(area: Rect, screens: &mut Screens, sent: Sent<'_>, look: Look<'_>) {
    let Some(attempt) = screens.attempt_mut() else { return };
    attempt.areas = rerun::draw::areas(sent, attempt, area, look);
    let (rows, height) = (attempt.rows(), attempt.areas.height(Pane::Top).max(1));
    attempt.picker.list.settle(attempt.picker.candidates.len(), height);
    attempt.list.settle(rows, height);
}
