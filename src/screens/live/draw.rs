//! The screen of a run that is being made: what goes out, what happens and what it cost at the top, below it the plan or
//! the steps, the global state, the prompt that goes out next and the reply.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

use crate::app::model_choice::ModelChoice;
use crate::screens::live::state::{Live, LiveField, LiveOrigin, LivePane, LiveStage};
use crate::screens::live::work::LiveView;
use crate::screens::rerun::draw::{NOT_RECORDED, in_progress, prompt_lines, reply_lines};
use crate::screens::rerun::state::Kept;
use crate::screens::run::steps::sign_of_step;
use crate::screens::stack::Screens;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{WIDE, inner_height, inner_width, pane_above, pane_left, parts};
use crate::widgets::list::all_fit;
use crate::widgets::look::{
    Look, Spans, badge_role, frame, kind_role, named_panes, pane, put, put_lines, scroll_mark, select, severity_role,
    tall_pane,
};
use crate::widgets::panes::Areas;
use crate::widgets::prose::{fit, hanging, pad, size, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::{Role, Theme};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_compare::difference::Change;
use stepscope_execution::create::stream::WholeStep;
use stepscope_execution::repair::MAX_TRIES;
use stepscope_present::notes::Note;
use stepscope_present::steps::StepRow;
use stepscope_record::cost::duration;
use stepscope_record::finding::{Severity, counted, grouped};
use stepscope_record::state::{Moment, Ran, VariableOrigin};

/// Columns of the words before the fields.
const WORD: usize = 13;
/// Largest number of rows of the box at the top.
const MAX_TOP: u16 = 12;
/// Mark of a breakpoint before a step.
const BREAKPOINT: &str = "●";

pub(crate) fn areas(live: &Live, models: &ModelChoice, area: Rect, look: Look<'_>) -> Areas<LivePane> {
    let body = parts(area).body;
    Areas::new(body, live.maximised.then_some(live.pane), || {
        let lines = top_lines(live, models, inner_width(body), look).lines.len();
        let height = u16::try_from(lines + 2).unwrap_or(MAX_TOP).min(MAX_TOP).min(body.height / 2).max(4);
        let (top, lower) = pane_above(body, height);
        let (left, right) = pane_left(lower, lower.width * 2 / 5);
        if body.width < WIDE {
            return vec![(LivePane::Top, top), (LivePane::Steps, left), (right_pane(live), right)];
        }
        let variables = live.view.as_ref().map_or(0, |view| view.opened.variables.len());
        let state = u16::try_from(variables + 2).unwrap_or(left.height);
        let (steps, state) = pane_above(left, left.height.saturating_sub(state).max(left.height / 2));
        let (prompt, reply) = pane_above(right, right.height / 2);
        vec![
            (LivePane::Top, top),
            (LivePane::Steps, steps),
            (LivePane::State, state),
            (LivePane::Prompt, prompt),
            (LivePane::Reply, reply),
        ]
    })
}

/// Returns the pane on the right where there is room for one.
fn right_pane(live: &Live) -> LivePane {
    match (live.pane, live.stage) {
        (pane @ (LivePane::State | LivePane::Prompt | LivePane::Reply), _) => pane,
        (_, LiveStage::Preview) => LivePane::Prompt,
        (_, LiveStage::Asking | LiveStage::Working | LiveStage::Ended) => LivePane::Reply,
        (_, LiveStage::Paused | LiveStage::Over) if live.is_creating() => LivePane::Reply,
        (_, LiveStage::Paused | LiveStage::Over) => LivePane::State,
    }
}

/// Counts the rows of the steps: those of the plan, with the errors in it below.
pub(crate) fn step_count(live: &Live) -> usize {
    let opened = live.view.as_ref().map_or(0, |view| view.opened.steps.len() + view.errors.len());
    if is_streaming(live) { live.streamed.len() } else { opened }
}

fn is_streaming(live: &Live) -> bool {
    !live.streamed.is_empty()
}

pub(crate) fn draw(screens: &Screens, models: &ModelChoice, buf: &mut Buffer, look: Look<'_>) {
    let Some(live) = screens.live() else { return };
    for (pane, place, look) in live.areas.on_screen(live.pane, look) {
        match pane {
            LivePane::Top => top(live, models, place, buf, look),
            LivePane::Steps => steps(live, place, buf, look),
            LivePane::State => state(live, place, buf, look),
            LivePane::Prompt | LivePane::Reply => text(live, pane, place, buf, look),
        }
    }
}

/// Builds the hint in the line above the keys.
pub(crate) fn describe(screens: &Screens, models: &ModelChoice, look: Look<'_>) -> Spans {
    let Some(live) = screens.live() else { return Vec::new() };
    if let Some(note) = note_here(live) {
        return vec![look.span(note.message.as_str(), severity_role(note.severity))];
    }
    let text = match live.stage {
        LiveStage::Preview if live.pane == LivePane::Top => match live.field() {
            LiveField::Send if models.replays() => "Nothing is sent: <open> on this line replays the recording",
            LiveField::Send => "Nothing sent yet. <open> on this line sends",
            LiveField::Model => "<open> selects another",
            LiveField::From | LiveField::Task | LiveField::Release => "Left, right or <open> change it",
        },
        LiveStage::Preview => "Nothing sent yet. <run_step> sends",
        LiveStage::Asking => "<escape> cancels; the partial reply is kept with the run",
        LiveStage::Working => "checking the reply…",
        LiveStage::Paused if live.is_creating() => "<run_step> sends the next request",
        LiveStage::Paused if live.pane == LivePane::State => {
            "<run_step> next step, <continue> up to a breakpoint; <edit> overrides this value before it"
        }
        LiveStage::Paused => "<run_step> next step, <continue> up to a breakpoint; <edit> edits its prompt",
        LiveStage::Ended if live.ends_upstream() => {
            "evoproc ends here. <run_step> retries, <tolerate> takes the JSON in the reply, <keep> saves"
        }
        LiveStage::Ended => "<run_step> retries, <edit> changes what is asked, <keep> saves what there is",
        LiveStage::Over => match live.kept {
            Kept::Saved => "Saved. <open> opens the record, <back> leaves",
            Kept::Saving(_) => "saving",
            Kept::Waiting(_) => "NOT SAVED: <save_again> retries",
            Kept::No | Kept::Failed => "All steps ran. <keep> saves the run as a record, <back> leaves",
        },
    };
    vec![look.keyed(text, Role::Dim)]
}

/// Returns the first finding about the step under the cursor.
fn note_here(live: &Live) -> Option<&Note> {
    let view = live.view.as_ref().filter(|view| live.pane == LivePane::Steps && !view.is_creating)?;
    notes_of(view, live.steps.at).next()
}

/// Lists what was found at a step.
fn notes_of(view: &LiveView, step: usize) -> impl Iterator<Item = &Note> {
    let is_about = move |note: &&Note| note.step == Some(step) && note.severity <= Severity::Warning;
    view.opened.notes.iter().filter(is_about)
}

/// Lines of the box at the top, and the one under the cursor.
struct TopLines {
    lines: Vec<Spans>,
    cursor: Option<usize>,
}

fn top(live: &Live, models: &ModelChoice, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let title = match live.stage {
        LiveStage::Preview => "Preview (not sent)",
        LiveStage::Asking => "Asking",
        LiveStage::Working => "Checking",
        LiveStage::Paused => "Paused",
        LiveStage::Ended => "Ended early",
        LiveStage::Over => "Done",
    };
    let mut title = vec![look.span(title, Role::Title)];
    if live.is_replay {
        title.push(look.span("  ↺ replay of recorded replies", Role::Warning));
    }
    let inner = frame(title, area, buf, look);
    let page = top_lines(live, models, usize::from(inner.width), look);
    let skip = page.cursor.map_or(0, |at| (at + 1).saturating_sub(usize::from(inner.height)));
    for (row, line) in page.lines.iter().skip(skip).take(usize::from(inner.height)).enumerate() {
        put(line.clone(), row, inner, buf);
    }
    // In a frame without room for a line there is no row to select.
    if let Some(row) = page.cursor.and_then(|at| at.checked_sub(skip)) {
        select(row, inner, buf, look);
    }
}

fn top_lines(live: &Live, models: &ModelChoice, width: usize, look: Look<'_>) -> TopLines {
    if live.stage == LiveStage::Preview {
        return preview(live, models, width, look);
    }
    let mut lines = vec![happens(live, look)];
    lines.extend(live.reason.as_ref().map(|reason| vec![look.span(format!("  {reason}"), Role::Accent)]));
    let ended = live.view.as_ref().and_then(|view| view.ended.as_ref()).filter(|_| live.stage == LiveStage::Ended);
    let ended = ended.map(|(ended, _)| wrapped(ended.as_str(), width.saturating_sub(2), usize::MAX).take(3));
    lines.extend(ended.into_iter().flatten().map(|line| vec![look.span(format!("  {line}"), Role::Fatal)]));
    lines.extend(live.past.iter().map(|past| vec![look.span(format!("  {past}"), Role::Dim)]));
    lines.push(cost(live, models, look));
    lines.extend(not_recorded(live, look));
    lines.extend(breakpoints(live, look));
    lines.extend(kept(live, look));
    TopLines { lines, cursor: None }
}

/// Says what happens now.
fn happens(live: &Live, look: Look<'_>) -> Spans {
    let (next, all) = (live.view.as_ref().and_then(|view| view.next), steps_of(live));
    let step = |step: usize| format!("step {} of {all}", step + 1);
    match live.stage {
        LiveStage::Asking | LiveStage::Working => {
            let Some(round) = &live.round else { return Vec::new() };
            let what = match (live.is_creating(), live.has_plan()) {
                (true, false) => "the plan".to_owned(),
                (true, true) => format!("repair {} of at most {MAX_TRIES}", live.repairs + 1),
                (false, _) => step(round.ask.step),
            };
            let mut line = vec![look.span(what, Role::Current)];
            line.push(look.span("   ", Role::Text));
            line.extend(in_progress(round, live.clock, look));
            line
        }
        LiveStage::Paused => {
            let creating = if live.has_plan() { "before the next repair" } else { "before the plan" };
            let what = next.map_or(creating.to_owned(), |next| format!("before {}", step(next)));
            let edited = if live.is_prompt_edited { "   prompt edited" } else { "" };
            vec![look.span(what, Role::Current), look.span(edited, Role::Changed)]
        }
        LiveStage::Ended if live.ends_upstream() => vec![look.span("evoproc ends here", Role::Fatal)],
        LiveStage::Ended => vec![look.span("no reply that counts", Role::Fatal)],
        LiveStage::Over => answer(live, look),
        LiveStage::Preview => Vec::new(),
    }
}

fn steps_of(live: &Live) -> usize {
    live.view.as_ref().map_or(0, |view| view.opened.steps.len())
}

/// Says what came out.
fn answer(live: &Live, look: Look<'_>) -> Spans {
    let Some(opened) = live.view.as_ref().map(|view| &view.opened) else { return Vec::new() };
    let answer = opened.pred.as_ref().or(opened.answer.as_ref());
    let mut line = vec![look.span(
        answer.map_or("no answer".to_owned(), |answer| format!("answer {}", fit(answer.as_str(), 60))),
        Role::Title,
    )];
    line.extend(opened.correct.map(|right| match right {
        true => look.span(format!("   {} correct", sign::CORRECT), Role::Ok),
        false => look.span(format!("   {} wrong", sign::WRONG), Role::Fatal),
    }));
    let fix = opened.where_to_fix.as_ref().and_then(|fix| Some((fix.phrase, fix.step?, fix.confidence.word())));
    line.extend(
        fix.map(|(phrase, step, sure)| {
            look.span(format!("   Fix: {phrase}, step {} ({sure})", step + 1), Role::Accent)
        }),
    );
    line
}

/// Says who answers, and what it cost so far.
fn cost(live: &Live, models: &ModelChoice, look: Look<'_>) -> Spans {
    let totals = live.totals;
    let mut line = Vec::new();
    if let (Some(model), Some(server)) = (live.model(models), &models.server) {
        line.push(look.span(format!("{}   ", server.named(&model)), Role::Live));
    }
    line.push(look.span(counted(totals.calls, "call"), Role::Text));
    let tokens = if totals.tokens == 0 {
        "tokens unknown".to_owned()
    } else {
        format!("{} tokens", grouped(totals.tokens as usize))
    };
    line.extend((totals.calls > 0).then(|| look.span(format!("   {tokens}   {}", duration(totals.took)), Role::Text)));
    line
}

/// Warns that a recording cannot answer what would be asked next.
fn not_recorded(live: &Live, look: Look<'_>) -> Option<Spans> {
    let is_missing = live.question.is_some() && live.is_recorded == Some(false);
    is_missing.then(|| vec![look.span(NOT_RECORDED, Role::Warning)])
}

fn breakpoints(live: &Live, look: Look<'_>) -> Option<Spans> {
    let typed = live.breakpoints.iter().map(|breakpoint| Shown::line(breakpoint.typed.as_bytes()));
    let listed = Shown::listed(typed, 12);
    (!live.breakpoints.is_empty())
        .then(|| vec![look.span(format!("{BREAKPOINT} "), Role::Fatal), look.span(listed.into_string(), Role::Text)])
}

/// Says where the run is kept until it is saved.
fn kept(live: &Live, look: Look<'_>) -> Option<Spans> {
    let (text, role) = match &live.kept {
        Kept::Saved => (Shown::own("saved"), Role::Ok),
        Kept::Saving(_) => (Shown::own("saving"), Role::Dim),
        Kept::Waiting(_) | Kept::Failed => (Shown::own("NOT SAVED"), Role::Fatal),
        Kept::No if live.is_kept => (shown!("until it is saved: {}", live.keep.as_ref()?.place()), Role::Faint),
        Kept::No => return None,
    };
    Some(vec![look.span(text.as_str(), role)])
}

/// Says what the line that sends would do.
fn sending(live: &Live, models: &ModelChoice) -> (Shown, Role) {
    if let Some(never) = &live.never {
        return (never.clone(), Role::Fatal);
    }
    let (Some(server), Some(model)) = (&models.server, live.model(models)) else {
        return (Shown::own("no model selected"), Role::Warning);
    };
    if let Some((ended, _)) = live.view.as_ref().and_then(|view| view.ended.as_ref()) {
        return (shown!("nothing to send: {ended}"), Role::Fatal);
    }
    let (Some(_), Some(bytes)) = (&live.question, live.bytes) else {
        return (Shown::own("preparing the request…"), Role::Dim);
    };
    let from = if models.is_proposed() { " (model of the record)" } else { "" };
    let verb = if models.replays() { "replay" } else { "send" };
    let what = match live.view.as_ref().and_then(|view| view.next) {
        Some(step) => shown!("{verb} step {} of {}", step + 1, steps_of(live)),
        None => shown!("{verb} the question, for a plan"),
    };
    (shown!("{what} · {} · {}{from}", size(bytes), server.named(&model)), Role::Live)
}

fn preview(live: &Live, models: &ModelChoice, width: usize, look: Look<'_>) -> TopLines {
    let (what, role) = sending(live, models);
    let sends = shown!("▸ {}: {what}", look.keymap.key_of(Action::Open));
    let mut lines: Vec<Spans> = Vec::new();
    for text in wrapped(sends.as_str(), width, usize::MAX).take(3) {
        lines.push(vec![look.span(text.to_owned(), role)]);
    }
    let tall = lines.len();
    let row = |word: &str, text: String, role| {
        vec![look.span(format!("  {}", pad(word, WORD)), Role::Faint), look.span(text, role)]
    };
    for field in live.rows().iter().skip(1) {
        let text = match field {
            LiveField::Send => String::new(),
            LiveField::Model => {
                let model = live.model(models).map(|model| Shown::line(model.as_bytes()).into_string());
                model.unwrap_or("not selected".to_owned())
            }
            LiveField::From => from_step(live),
            LiveField::Task => live.task.word().to_owned(),
            LiveField::Release => format!("evoproc-procedures {}", live.release.word()),
        };
        lines.push(row(field.word(), text, Role::Text));
    }
    let sent = match &live.origin {
        _ if models.replays() => "nothing: the replies come from the recording".to_owned(),
        LiveOrigin::Question(_) => "the question; then repairs, then each step with its inputs".to_owned(),
        LiveOrigin::Record(..) => {
            let files = Shown::listed(live.files.iter().cloned(), usize::MAX);
            let rest = if live.files.is_empty() { String::new() } else { format!("; nothing else of {files}") };
            format!("the prompt below, then that of each step{rest}")
        }
    };
    for (n, text) in wrapped(&sent, width.saturating_sub(WORD + 2), usize::MAX).enumerate() {
        lines.push(row(if n == 0 { "data sent" } else { "" }, text.to_owned(), Role::Text));
    }
    lines.extend(not_recorded(live, look));
    lines.extend(breakpoints(live, look));
    let at = live.fields.at;
    TopLines { lines, cursor: Some(if at == 0 { 0 } else { tall + at - 1 }) }
}

/// Says from which step a recorded procedure is run, and with which state.
fn from_step(live: &Live) -> String {
    match live.origin {
        LiveOrigin::Record(_, 0) => "step 1".to_owned(),
        LiveOrigin::Record(_, step) => format!("step {}, with the recorded state before it", step + 1),
        LiveOrigin::Question(_) => String::new(),
    }
}

fn steps(live: &Live, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let title = vec![look.span(if live.is_creating() { "Plan" } else { "Steps" }, Role::Title)];
    let (count, width) = (step_count(live), inner_width(area));
    let fits = all_fit(count, inner_height(area), |n| step_lines(live, n, Some(width), look).len());
    let width = fits.then_some(width);
    let mut rows = live.steps.rows(count);
    rows.at = rows.at.filter(|_| !is_streaming(live));
    tall_pane(title, rows, |n| step_lines(live, n, width, look), area, buf, look);
}

/// Lays out a row of the steps: a step with what was found at it, or, behind them, an error of the plan.
fn step_lines(live: &Live, n: usize, width: Option<usize>, look: Look<'_>) -> Vec<Spans> {
    if is_streaming(live) {
        return live.streamed.get(n).map_or_else(Vec::new, |step| streamed(step, width, look));
    }
    let Some(view) = &live.view else { return Vec::new() };
    if let Some(step) = view.opened.steps.get(n) {
        return step_of_plan(live, view, (n, step), width, look);
    }
    let error = view.errors.get(n - view.opened.steps.len());
    error.map_or_else(Vec::new, |error| below(error.as_str(), Role::Warning, width, look))
}

/// Lays out a step of a plan that is still coming, and what is wrong at it.
fn streamed(step: &WholeStep, width: Option<usize>, look: Look<'_>) -> Vec<Spans> {
    let head = vec![look.span(format!("  {:>2} ", step.position + 1), Role::Faint)];
    let mut lines = hanging(head, step.text.as_str(), look.style(Role::Text), &[], width);
    lines.extend(step.findings.iter().flat_map(|found| below(found.as_str(), Role::Warning, width, look)));
    lines
}

fn step_of_plan(
    live: &Live,
    view: &LiveView,
    (n, step): (usize, &StepRow),
    width: Option<usize>,
    look: Look<'_>,
) -> Vec<Spans> {
    let is_next = view.next == Some(n);
    let (glyph, role) = match view.is_creating {
        true => (" ", Role::Ghost),
        false if is_next => (sign::POINTER, Role::Current),
        false => sign_of_step(&view.opened, n, step),
    };
    let is_breakpoint = live.breakpoints.iter().any(|breakpoint| breakpoint.step() == Some(n));
    let text = match step.ran {
        _ if is_next => Role::Current,
        Ran::No => Role::Dim,
        _ => Role::Text,
    };
    let head = vec![
        look.span(if is_breakpoint { BREAKPOINT } else { " " }, Role::Fatal),
        look.span(glyph, role),
        look.span(format!("{:>2} ", n + 1), Role::Faint),
    ];
    let mut lines = hanging(head, step.text.as_str(), look.style(text), &[], width);
    let notes = notes_of(view, n).filter(|_| !view.is_creating);
    lines.extend(notes.flat_map(|note| below(note.message.as_str(), severity_role(note.severity), width, look)));
    lines
}

/// Lines of what was found, below the step that it is about.
fn below(text: &str, role: Role, width: Option<usize>, look: Look<'_>) -> Vec<Spans> {
    hanging(vec![look.span("     ", role)], text, look.style(role), &[], width)
}

fn state(live: &Live, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let title = right_title(live, LivePane::State, area, look);
    let Some(view) = live.view.as_ref().filter(|view| !view.is_creating) else {
        let inner = frame(title, area, buf, look);
        return put(vec![look.span("no step ran yet", Role::Dim)], 0, inner, buf);
    };
    let variables = &view.opened.variables;
    let name = variables
        .iter()
        .map(|row| row.name.as_str().width())
        .max()
        .unwrap_or(0)
        .clamp(4, 24)
        .min((inner_width(area) / 2).max(8));
    let rows = live.variables.rows(variables.len());
    pane(title, rows, |n| variable(view, n, name, inner_width(area), look), area, buf, look);
}

/// Writes a variable as it is now: its value, and where that is from.
fn variable(view: &LiveView, n: usize, name: usize, width: usize, look: Look<'_>) -> Spans {
    let Some(row) = view.opened.variables.get(n) else { return Vec::new() };
    let moment = Moment(view.next.unwrap_or(view.opened.steps.len()));
    let held = row.held(moment).filter(|write| write.value.is_some());
    let from = held.map_or_else(String::new, |write| match write.step {
        Some(step) => format!("step {}", step + 1),
        None if row.origin == VariableOrigin::Given && write.from == Moment(0) => "question".to_owned(),
        None => write.badge.word().to_owned(),
    });
    let value = held.and_then(|write| write.value.as_ref());
    let (text, role) = value.map_or(("–", Role::Ghost), |value| (value.line.as_str(), kind_role(value.kind)));
    let room = width.saturating_sub(name + 2 + from.len() + 2);
    let role_of_badge = held.map_or(Role::Faint, |write| badge_role(write.badge));
    vec![
        look.span(format!("{} ", pad(row.name.as_str(), name)), Role::Key),
        look.span(format!("{}  ", pad(text, room)), role),
        look.span(from, role_of_badge),
    ]
}

/// Writes the title of a pane on the right; where there is room for one, the others are named in it.
fn right_title(live: &Live, pane: LivePane, area: Rect, look: Look<'_>) -> Spans {
    let is_alone =
        live.maximised || live.areas.of(LivePane::State).is_empty() || live.areas.of(LivePane::Reply).is_empty();
    if !is_alone || area.is_empty() {
        return vec![look.span(pane.word(), Role::Title)];
    }
    named_panes(&[LivePane::State, LivePane::Prompt, LivePane::Reply].map(|other| (other.word(), other == pane)), look)
}

fn text(live: &Live, pane: LivePane, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let inner = frame(right_title(live, pane, area, look), area, buf, look);
    let lines = text_lines(live, pane, inner_width(area), look.theme);
    let height = usize::from(inner.height);
    let last = lines.len().saturating_sub(height);
    let is_reply = pane == LivePane::Reply;
    let kept = live.tops.get(usize::from(is_reply)).copied().unwrap_or(0).min(last);
    let top = if is_reply && live.follows { last } else { kept };
    put_lines(&lines, top, inner, buf);
    scroll_mark(area, top, lines.len(), buf, look);
}

/// Lays out the prompt that goes out next, or the reply.
pub(crate) fn text_lines(live: &Live, pane: LivePane, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let say = |text: &str| vec![Line::styled(text.to_owned(), theme.style(Role::Dim))];
    let round = live.round.as_ref();
    if pane == LivePane::Prompt {
        let next = live.question.as_ref().map(|question| question.prompt());
        let last = round.and_then(|round| round.replies.first()).map(|reply| &reply.executed.prompt);
        return next.or(last).map_or_else(|| say("no prompt yet"), |prompt| prompt_lines(prompt, width, theme));
    }
    let Some(reply) = round.and_then(|round| round.replies.first()) else { return say("not asked yet") };
    let changes =
        live.view.as_ref().map_or(&[][..], |view| view.changes.as_slice()).iter().filter(|_| !live.is_running());
    let mut lines: Vec<Line<'static>> = changes.map(|change| change_line(change.as_ref(), width, theme)).collect();
    if !lines.is_empty() {
        lines.insert(0, Line::styled("changed by this repair", theme.style(Role::Faint)));
        lines.push(Line::styled("reply", theme.style(Role::Faint)));
    }
    lines.extend(reply_lines(reply, live.follows && live.is_running(), width, theme));
    lines
}

fn change_line(change: Option<&(Change, Shown)>, width: usize, theme: &Theme) -> Line<'static> {
    let (mark, role, text) = match change {
        None => ("", Role::Faint, "…"),
        Some((Change::OnlyA, text)) => ("- ", Role::Removed, text.as_str()),
        Some((Change::OnlyB, text)) => ("+ ", Role::Added, text.as_str()),
        Some((_, text)) => ("  ", Role::Dim, text.as_str()),
    };
    Line::styled(format!("{mark}{}", fit(text, width.saturating_sub(2))), theme.style(role))
}
