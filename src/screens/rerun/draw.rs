//! The re-run screen: a box that says what is sent, what comes and what became of it, and below it request, reply and
//! difference: side by side where there is room, else one at a time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::app::bars;
use crate::app::call_clock::CallClock;
use crate::app::model_choice::{Candidate, Mode, ModelChoice};
use crate::app::state::App;
use crate::screens::rerun::keys::leads_to_fork;
use crate::screens::rerun::outcome::{ChangedRow, Outcome, RowValue, Side};
use crate::screens::rerun::state::{Attempt, ChoosesFor, Field, Kept, Pane, ReplyAmount, Stage, scope_words};
use crate::screens::rerun::transition::NextCall;
use crate::screens::run::state::RecordView;
use crate::screens::stack::Screens;
use crate::screens::{rerun, side_by_side};
use crate::widgets::keymap::Action;
use crate::widgets::layout::{WIDE, inner_width, pane_above, pane_left, parts};
use crate::widgets::look::{Look, Spans, frame, named_panes, put, put_lines, scroll_mark, select, severity_role};
use crate::widgets::panes::Areas;
use crate::widgets::prose::{MAX_PROSE, fit, pad, size, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::{Role, Theme};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_compare::difference::Change;
use stepscope_execution::call::{JudgedReply, Phase};
use stepscope_execution::generation::files_sent;
use stepscope_execution::sampling::distribution::{Distribution, normal};
use stepscope_execution::sampling::{Reply, SamplingRound};
use stepscope_io::model::endpoint::{Backend, NOT_SENT};
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_record::finding::Severity;
use stepscope_record::reply::thoughts;

/// Warning before a request to which the recording holds no reply.
pub(crate) const NOT_RECORDED: &str = "! No recorded reply for this request. Choose a live model, or ask as recorded";
/// The words before the fields of the preview.
const WORD: usize = 15;
/// The longest bar of a distribution.
const BAR: usize = 20;
/// A value takes at most so many lines of its histogram.
const MAX_LABEL: usize = 6;
/// Width from which on there is room behind the bars for what a value is.
const MARKED: usize = 60;
/// Column of a value in the difference, and the most lines that it takes.
const VALUE_AT: usize = 13;
const MAX_VALUE: usize = 60;
/// Rows that the pane below the preview keeps.
const MIN_LOWER: u16 = 4;
/// Columns of an answer in the title.
const TITLED: usize = 20;
/// Number of variables that are listed.
const MAX_ROWS: usize = 1_000;
/// Number of the variables that a step is to write that are listed.
const MAX_EXPECTED: usize = 200;
/// Bytes of a reply that is still coming that are laid out for each row on screen.
const TAIL: usize = 4;

/// Lays the panes out.
pub(crate) fn areas((models, files): Sent<'_>, attempt: &Attempt, area: Rect, look: Look<'_>) -> Areas<Pane> {
    let body = parts(area).body;
    // Where only a model is chosen there is no request yet.
    let alone = attempt.chooses_for.map(|_| Pane::Top).or(attempt.maximised.then_some(attempt.pane));
    Areas::new(body, alone, || {
        let (top, lower) = pane_above(body, top_height((models, files), attempt, body, look));
        if body.width < WIDE {
            return vec![(Pane::Top, top), (shown_pane(attempt), lower)];
        }
        let (first, rest) = pane_left(lower, lower.width / 3);
        let (middle, last) = pane_left(rest, rest.width / 2);
        vec![(Pane::Top, top), (Pane::Request, first), (Pane::Reply, middle), (Pane::Difference, last)]
    })
}

/// Returns the lower pane that is shown where there is room for one.
fn shown_pane(attempt: &Attempt) -> Pane {
    match (attempt.pane, attempt.stage) {
        (Pane::Top, Stage::Choosing | Stage::Preview) => Pane::Request,
        (Pane::Top, Stage::Several | Stage::Asking | Stage::Judging) => Pane::Reply,
        (Pane::Top, Stage::Over) => Pane::Difference,
        (pane, _) => pane,
    }
}

fn top_height((models, files): Sent<'_>, attempt: &Attempt, body: Rect, look: Look<'_>) -> u16 {
    let rows = match attempt.stage {
        Stage::Choosing => attempt.picker.candidates.len() + 2,
        Stage::Preview => preview((models, files), attempt, inner_width(body), look).lines.len(),
        Stage::Asking | Stage::Judging => 2 + attempt.past.len().min(3),
        Stage::Several => attempt.rows() + 1,
        Stage::Over => 4 + attempt.past.len().min(3),
    };
    let most = match attempt.stage {
        // What goes out is named in full before anything is sent; the prompt can be scrolled.
        Stage::Preview => body.height.saturating_sub(MIN_LOWER),
        _ => body.height / 2,
    };
    u16::try_from(rows + 2).unwrap_or(u16::MAX).clamp(4, most.max(4))
}

pub(crate) fn draw(screens: &Screens, (models, files): Sent<'_>, buf: &mut Buffer, look: Look<'_>) {
    let Some(attempt) = screens.attempt() else { return };
    for (pane, place, look) in attempt.areas.on_screen(attempt.pane, look) {
        match pane {
            Pane::Top => top((models, files), attempt, place, buf, look),
            _ => lower(screens.record(), attempt, pane, place, buf, look),
        }
    }
}

/// Builds the hint in the line above the keys.
pub(crate) fn describe(app: &App, look: Look<'_>) -> Spans {
    let Some(attempt) = app.screens.attempt() else { return Vec::new() };
    let text = match (attempt.stage, attempt.pane) {
        (Stage::Choosing, _) if attempt.picker.candidates.is_empty() => "Nothing sent yet",
        (Stage::Choosing, _) => "Nothing sent yet. <open> selects this model",
        (Stage::Preview, Pane::Top) => match attempt.field() {
            Field::Send if app.models.replays() => "Nothing is sent: <open> on this line replays the recording",
            Field::Send => "Nothing sent yet. <open> on this line sends",
            Field::Server => "<open> selects another",
            Field::Scope | Field::Enforcement => "Left, right or <open> change it",
            Field::Model => "<open> changes it",
            Field::Samples | Field::Temperature | Field::Seed => "Left and right change it, <open> types a value",
        },
        (Stage::Preview, _) if app.models.replays() => "Nothing is sent. <next_pane> goes to the line that replays",
        (Stage::Preview, _) => "Nothing sent yet. <next_pane> goes to the line that sends",
        (Stage::Asking, _) => "<escape> cancels; the partial reply is kept",
        (Stage::Judging, _) => "checking the result…",
        (Stage::Several, _) => "<open> selects this reply, <rerun_from_here> selects it and continues",
        (Stage::Over, _) if app.presenting.is_some() && attempt.kept == Kept::No => {
            "Not saved while presenting. <rerun> re-runs, <back> goes back"
        }
        (Stage::Over, _) if attempt.ended().is_some() && attempt.kept == Kept::No => {
            "Ended early: <keep> saves a failed fork, <rerun> re-runs, <back> goes back"
        }
        (Stage::Over, _) => match attempt.kept {
            Kept::Saved if leads_to_fork(&app.screens, || app.fork_tree().len() > 1).is_ok() => {
                "Saved. <next_fork> opens the fork, there <difference> compares it with its parent; <back> goes back"
            }
            Kept::Saved => "Saved. <rerun> re-runs, <back> goes back",
            Kept::Saving(_) => "saving",
            Kept::Waiting(_) => "NOT SAVED: <save_again> retries",
            Kept::No | Kept::Failed => "Not saved. <keep> saves as a fork, <rerun> re-runs, <back> goes back",
        },
    };
    let is_early = matches!(attempt.stage, Stage::Choosing | Stage::Preview);
    let to_fix = attempt.to_fix.as_ref().filter(|_| is_early).map(|(step, _)| {
        let key = look.keymap.key_of(Action::Rerun);
        look.span(format!("The step to fix is {}: {key} re-runs that one   ", step + 1), Role::Accent)
    });
    to_fix.into_iter().chain([look.keyed(text, Role::Dim)]).collect()
}

fn top((models, files): Sent<'_>, attempt: &Attempt, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = heading(attempt, look);
    if attempt.is_replay() {
        title.push(look.span("  ↺ replay of a recorded reply", Role::Warning));
    } else if models.mode() == Mode::Cassette {
        title.push(look.span("  ↺ replaying recorded replies", Role::Warning));
    }
    let inner = frame(title, area, buf, look);
    let width = usize::from(inner.width);
    let page = match attempt.stage {
        Stage::Choosing => picker(attempt, width, look),
        Stage::Preview => preview((models, files), attempt, width, look),
        Stage::Asking | Stage::Judging => progress(attempt, look),
        Stage::Several => choices(attempt, look),
        Stage::Over => judgement(attempt, width, look),
    };
    // What the cursor is on stays on screen.
    let height = usize::from(inner.height);
    let end = page.lines.len().saturating_sub(height);
    let is_cut = attempt.stage == Stage::Preview && end > 0;
    let skip = match page.cursor {
        // Behind its last row the preview names what goes out.
        Some(row) if is_cut && attempt.list.at + 1 == attempt.rows() => end.min(row),
        Some(row) => (row + 1 + usize::from(is_cut)).saturating_sub(height).min(end),
        None => 0,
    };
    for (row, line) in page.lines.iter().skip(skip).take(height).enumerate() {
        put(line.clone(), row, inner, buf);
    }
    if is_cut && skip < end {
        let text = format!("… {} more lines below: {}", end - skip + 1, look.keymap.key_of(Action::Bottom));
        put(vec![look.span(pad(&text, width), Role::Warning)], height.saturating_sub(1), inner, buf);
    }
    if let Some(row) = page.cursor {
        for row in row..row + page.tall {
            select(row.saturating_sub(skip), inner, buf, look);
        }
    }
}

/// Lines, and the ones under the cursor.
struct BoxLines {
    lines: Vec<Spans>,
    cursor: Option<usize>,
    tall: usize,
}

impl BoxLines {
    fn plain(lines: Vec<Spans>) -> Self {
        Self { lines, cursor: None, tall: 1 }
    }
}

fn heading(attempt: &Attempt, look: Look<'_>) -> Spans {
    let text = match attempt.stage {
        Stage::Choosing if attempt.chooses_for == Some(ChoosesFor::Repair) => "Choose a model for the repair",
        Stage::Choosing => "Choose a model",
        Stage::Preview => "Preview (not sent)",
        Stage::Asking => "Asking",
        Stage::Judging => "Judging",
        Stage::Several => "Samples: choose one",
        Stage::Over => match attempt.outcome.as_ref().filter(|outcome| outcome.ended.is_none()) {
            Some(outcome) => return result(attempt, outcome, look),
            None => "Result",
        },
    };
    vec![look.span(text, Role::Title)]
}

/// Says what came of it in one line: what was asked again, the answers, and whether that is better.
fn result(attempt: &Attempt, outcome: &Outcome, look: Look<'_>) -> Spans {
    let what = match attempt.preview.steps.as_slice() {
        _ if attempt.is_answer() => "Re-run".to_owned(),
        [step] => format!("Step {} again", step + 1),
        [first, .., last] if last - first + 1 == attempt.preview.steps.len() => {
            format!("Steps {} to {} again", first + 1, last + 1)
        }
        _ => format!("Step {} and its dependents again", attempt.step + 1),
    };
    let (before, after) = (&outcome.before, &outcome.after);
    let answer = |side: &Side| side.answer.as_ref().map_or("no answer".into(), |answer| fit(answer.as_str(), TITLED));
    let (said, role) = match (before.right, after.right) {
        (Some(false), Some(true)) => (", now correct", Role::Ok),
        (Some(true), Some(true)) => (", still correct", Role::Ok),
        (Some(false), Some(false)) => (", still wrong", Role::Fatal),
        (Some(true), Some(false)) => (", now wrong", Role::Fatal),
        (None, Some(true)) => (", correct", Role::Ok),
        (None, Some(false)) => (", wrong", Role::Fatal),
        (_, None) => ("", Role::Title),
    };
    // Of an answer its route says what became of it; its values are long.
    let (told, said) = match (&before.fix, &after.fix) {
        (Some(before), Some(after)) if attempt.is_answer() && before == after => (format!("{after}"), ", as before"),
        (Some(before), Some(after)) if attempt.is_answer() => (format!("{before} → {after}"), ""),
        _ => (format!("{} → {}", answer(before), answer(after)), said),
    };
    vec![look.span(format!("{what}: {told}"), Role::Title), look.span(said, role)]
}

fn picker(attempt: &Attempt, width: usize, look: Look<'_>) -> BoxLines {
    let picker = &attempt.picker;
    let mut lines: Vec<_> = picker.candidates.iter().map(|candidate| candidate_line(candidate, width, look)).collect();
    let cursor = (!lines.is_empty()).then_some(picker.list.at);
    if picker.is_looking {
        let text = "Looking for local model servers…";
        lines.push(vec![look.span(text, Role::Accent)]);
    } else if !picker.candidates.iter().any(|candidate| matches!(candidate, Candidate::Found(..) | Candidate::Named(_)))
    {
        let text = "No local server found. Start one, or pass --url";
        lines.push(vec![look.span(text, Role::Warning)]);
    }
    lines.extend(picker.trouble.as_ref().map(|why| vec![look.span(why.as_str(), Role::Warning)]));
    BoxLines { lines, cursor, tall: 1 }
}

fn candidate_line(candidate: &Candidate, width: usize, look: Look<'_>) -> Spans {
    let name = |model: &Option<String>| match model {
        Some(model) => Shown::line(model.as_bytes()).into_string(),
        None => "(no models)".to_owned(),
    };
    let (what, place) = match candidate {
        Candidate::Named(model) => (name(model), "server from flags, environment or config.toml".to_owned()),
        Candidate::Found(endpoint, usually, model) => {
            let address = endpoint.shown();
            let address = address.as_str().trim_start_matches("http://");
            // Only Ollama tells who it is; what else answers has the format of OpenAI.
            let place = match endpoint.backend {
                Backend::Ollama | Backend::OllamaChat => format!("{usually} at {address}"),
                other => format!("{address}, {} format, probably {usually}", other.phrase()),
            };
            (name(model), place)
        }
        Candidate::Profile(profile) => {
            (Shown::line(profile.as_bytes()).into_string(), "profile of config.toml".to_owned())
        }
        Candidate::Samples => ("recording".to_owned(), "Recorded replies for the sample runs (offline)".to_owned()),
    };
    vec![look.span(pad(&what, (width / 3).min(34)), Role::Text), look.span(format!("  {place}"), Role::Dim)]
}

/// Tells what Enter would do, in full.
fn sending(attempt: &Attempt, models: &ModelChoice) -> (Shown, Role) {
    if let Some(never) = &attempt.never {
        return (never.clone(), Role::Fatal);
    }
    if attempt.picker.is_opening {
        return (Shown::own("opening what answers…"), Role::Dim);
    }
    let Some(server) = &models.server else { return (Shown::own("no model selected"), Role::Warning) };
    let Some(model) = attempt.model(models) else { return (Shown::own("no model selected"), Role::Warning) };
    let (Some(_), Some(bytes)) = (&attempt.ready, attempt.bytes) else {
        return (Shown::own("preparing the request…"), Role::Dim);
    };
    let named = server.named(&model);
    let from = if models.is_proposed() { " (model of the record)" } else { "" };
    let (preview, tokens) = (&attempt.preview, attempt.tokens());
    let verb = if models.replays() { "replay" } else { "send" };
    let size = size(bytes);
    if let Some(NextCall::Answer(answer)) = attempt.ready.as_ref().map(|ready| &ready.machine) {
        let source = &answer.source;
        return (shown!("{verb} {source} ({size}) · ~{tokens} tokens · {named}{from}"), Role::Live);
    }
    let times = attempt.samples;
    let steps = match preview.steps.as_slice() {
        [step] if times > 1 => format!("step {}, {times} samples (prompt {size})", step + 1),
        [step] => format!("step {} (prompt {size})", step + 1),
        steps if times > 1 => format!("{} of {} steps, {times} samples of the first ({size})", steps.len(), preview.of),
        steps => format!("{} of {} steps (first prompt {size})", steps.len(), preview.of),
    };
    (shown!("{verb} {steps} · ~{tokens} tokens · {named}{from}"), Role::Live)
}

fn preview((models, files): Sent<'_>, attempt: &Attempt, width: usize, look: Look<'_>) -> BoxLines {
    let mut lines = Vec::new();
    let (what, role) = sending(attempt, models);
    let sends = shown!("{}: {what}", look.keymap.key_of(Action::Open));
    for text in wrapped(sends.as_str(), width.saturating_sub(2), usize::MAX).take(3) {
        let head = if lines.is_empty() { "▸ " } else { "  " };
        lines.push(vec![look.span(head, Role::Accent), look.span(text.to_owned(), role)]);
    }
    let tall = lines.len();
    let row = |word: &str, text: String, role| {
        vec![look.span(format!("  {}", pad(word, WORD)), Role::Faint), look.span(text, role)]
    };
    let values = attempt.fields().iter().skip(1);
    lines.extend(values.map(|field| row(field.word(), value(*field, attempt, models), Role::Text)));
    for (n, said) in data_sent((models, files), attempt).iter().enumerate() {
        for (m, text) in wrapped(said.as_str(), width.saturating_sub(WORD + 2), usize::MAX).enumerate() {
            lines.push(row(if n + m == 0 { "data sent" } else { "" }, text.to_owned(), Role::Text));
        }
    }
    let edits = attempt.edits.iter().take(3).map(|(name, json)| format!("{} = {}", name.line(), Shown::line(json)));
    let prompt = attempt.prompt.iter().map(|_| "prompt edited".to_owned());
    lines.extend(edits.chain(prompt).map(|text| row("edited", text, Role::Changed)));
    lines.extend((attempt.is_recorded == Some(false)).then(|| vec![look.span(NOT_RECORDED, Role::Warning)]));
    let at = attempt.list.at;
    let cursor = if at == 0 { 0 } else { tall + at - 1 };
    BoxLines { lines, cursor: Some(cursor), tall: if at == 0 { tall } else { 1 } }
}

/// Models that may be asked, and the files of the record whose lines are sent.
pub(crate) type Sent<'s> = (&'s ModelChoice, &'s [Shown]);

/// Says what leaves this machine: the prompt, and the files whose lines are in it.
fn data_sent((models, files): Sent<'_>, attempt: &Attempt) -> Vec<Shown> {
    if models.replays() {
        return vec![Shown::own("nothing: the reply comes from the recording")];
    }
    let own = files.to_vec();
    if let Some(NextCall::Answer(answer)) = attempt.ready.as_ref().map(|ready| &ready.machine) {
        let files = files_sent(own, &answer.files);
        return std::iter::once(Shown::own("the prompt below, with lines of")).chain(files).collect();
    }
    let own = own.into_iter().reduce(|all, file| all.and(", ").join(&file));
    vec![own.map_or(Shown::own("the prompt below"), |own| shown!("the prompt below; nothing else of {own}"))]
}

fn value(field: Field, attempt: &Attempt, models: &ModelChoice) -> String {
    let sampling = &models.sampling;
    let own = |text: Option<String>| text.unwrap_or_else(|| "server default".to_owned());
    let takes_seed = models.server.as_ref().is_none_or(|server| server.client.endpoint().backend.takes_seed());
    match field {
        Field::Send => String::new(),
        Field::Server => match &models.server {
            None => "not selected".to_owned(),
            Some(server) => server.phrase().into_string(),
        },
        Field::Model => {
            let model = attempt.model(models);
            model.map_or_else(|| "not selected".to_owned(), |model| Shown::line(model.as_bytes()).into_string())
        }
        Field::Scope => scope_words(attempt.scope).to_owned(),
        Field::Samples => match attempt.samples {
            n if attempt.recorded_samples == Some(n) => format!("{n} (the recording has no more)"),
            1 => "1".to_owned(),
            n => {
                let seeds = if takes_seed && sampling.seed.is_some() { ", seeds count up" } else { "" };
                format!("{n} ({} parallel{seeds})", rerun::state::AT_ONCE)
            }
        },
        Field::Temperature => own(sampling.temperature.map(|t| t.to_string())),
        Field::Seed => {
            let said = |seed| if takes_seed { format!("{seed}") } else { format!("{seed} ({NOT_SENT})") };
            own(sampling.seed.map(said))
        }
        Field::Enforcement => {
            let how = match sampling.enforcement.word() {
                "schema" => "JSON schema, enforced by the server",
                "json" => "any JSON",
                _ => "schema in the prompt only",
            };
            how.to_owned()
        }
    }
}

fn progress(attempt: &Attempt, look: Look<'_>) -> BoxLines {
    let mut lines = past(attempt, look);
    let Some(round) = &attempt.round else { return BoxLines::plain(lines) };
    let (step, done, all) = (attempt.named(round.ask.step), attempt.past.len() + 1, attempt.preview.steps.len().max(1));
    let mut line = vec![look.span(
        if attempt.is_answer() { step.into_string() } else { format!("{step}, {done} of {all}") },
        Role::Current,
    )];
    let first = round.replies.first();
    if let Some(reply) = first.filter(|reply| !reply.received.endpoint.as_str().is_empty()) {
        let model = Shown::line(round.model().as_bytes());
        let at = if rerun::keys::plays(&reply.received) { "from" } else { "at" };
        line.push(look.span(format!("   {model} {at} {}", reply.received.endpoint), Role::Live));
    }
    lines.push(line);
    lines.push(in_progress(round, attempt.clock, look));
    BoxLines::plain(lines)
}

/// Says how far the calls of a round are, how long they take, and how fast they come.
pub(crate) fn in_progress(round: &SamplingRound, clock: CallClock, look: Look<'_>) -> Spans {
    let running = round.replies.iter().filter(|reply| reply.received.phase == Phase::Streaming).count();
    let busy = clock.retrying_in();
    let busy = busy.map(|left| format!("server is busy: retrying in {:.1} s", left.as_secs_f64()));
    let mut line = vec![look.span(busy.unwrap_or_else(|| state_of(round, running)), Role::Accent)];
    line.push(look.span(format!("   {:.1} s", clock.elapsed().as_secs_f64()), Role::Text));
    line.extend(speed(round).map(|speed| look.span(format!("   {speed}"), Role::Dim)));
    line.extend(round.enforcement().map(|said| look.span(format!("   {said}"), Role::Dim)));
    line
}

fn past(attempt: &Attempt, look: Look<'_>) -> Vec<Spans> {
    let last = attempt.past.len().saturating_sub(3);
    let lines = attempt.past.iter().skip(last);
    lines.map(|text| vec![look.span("  ", Role::Faint), look.span(text.as_str(), Role::Dim)]).collect()
}

fn state_of(round: &SamplingRound, running: usize) -> String {
    let over = round.replies.iter().filter(|reply| !reply.received.is_running()).count();
    match round.replies.as_slice() {
        [reply] => match &reply.received.phase {
            Phase::Connecting if reply.received.endpoint.as_str().is_empty() => "connecting".to_owned(),
            Phase::Connecting => "waiting for first token".to_owned(),
            Phase::Streaming => "receiving".to_owned(),
            _ => "reply complete".to_owned(),
        },
        reply => format!("{over} of {} replies complete, {running} running", reply.len()),
    }
}

/// Tokens a second: as the server counted them, else a fourth of the bytes.
fn speed(round: &SamplingRound) -> Option<String> {
    let bytes: usize =
        round.replies.iter().map(|reply| reply.received.content.len() + reply.received.reasoning.len()).sum();
    let counted: Option<u64> = match round.replies.as_slice() {
        [reply] => match &reply.received.phase {
            Phase::Done(finish) => finish.usage.completion,
            _ => None,
        },
        _ => None,
    };
    let began = round.replies.iter().filter_map(|reply| reply.first).min()?;
    let ended = round.replies.iter().map(|reply| reply.elapsed).max()?;
    let seconds = ended.checked_sub(began)?.as_secs_f64();
    if seconds < 0.05 {
        return Some(size(bytes));
    }
    let (about, tokens) = counted.map_or(("about ", bytes as f64 / 4.0), |tokens| ("", tokens as f64));
    Some(format!("{}, {about}{:.1} tokens/s", size(bytes), tokens / seconds))
}

fn choices(attempt: &Attempt, look: Look<'_>) -> BoxLines {
    let Some(round) = &attempt.round else { return BoxLines::plain(Vec::new()) };
    let made = round.distribution();
    let ties = made.fields.iter().filter(|field| field.is_tie()).count();
    let tie = match ties {
        0 => String::new(),
        1 => "   no majority in 1 field; first reply used".to_owned(),
        n => format!("   no majority in {n} fields; first reply used"),
    };
    let majority = if made.valid.is_empty() {
        look.span("none: no reply has every key", Role::Warning)
    } else {
        look.span(fields(&made.consensus()), Role::Text)
    };
    let mut lines = vec![vec![look.span(pad("majority", 12), Role::Accent), majority, look.span(tie, Role::Warning)]];
    for (n, reply) in round.replies.iter().enumerate() {
        let (glyph, role, text) = reply_line(reply);
        let head = look.span(pad(&format!("reply {}", n + 1), 10), Role::Faint);
        lines.push(vec![head, look.span(format!("{glyph} "), role), look.span(text, Role::Text)]);
    }
    lines.push(vec![look.span(round.tally().into_string(), Role::Dim)]);
    BoxLines { lines, cursor: Some(attempt.list.at), tall: 1 }
}

fn reply_line(reply: &Reply) -> (&'static str, Role, String) {
    if let Some(why) = reply.failed() {
        return (sign::FAILED, Role::Fatal, format!("failed: {why}"));
    }
    let Some(judged) = &reply.judged else { return ("?", Role::Warning, String::new()) };
    match judged.verdict.why() {
        None => (sign::VALID, Role::Ok, fields(&judged.outputs)),
        Some(why) => (sign::INVALID, Role::Warning, format!("{}: {why}", judged.verdict.word())),
    }
}

fn fields(values: &[(Untrusted<'static>, Vec<u8>)]) -> String {
    let text = |(name, value): &(Untrusted<'static>, Vec<u8>)| format!("{} {}", name.line(), Shown::line(value));
    values.iter().map(text).collect::<Vec<_>>().join("   ")
}

fn judgement(attempt: &Attempt, width: usize, look: Look<'_>) -> BoxLines {
    let mut lines = past(attempt, look);
    let Some(outcome) = &attempt.outcome else { return BoxLines::plain(lines) };
    if let Some(ended) = &outcome.ended {
        for (n, text) in wrapped(ended.as_str(), width.saturating_sub(2), usize::MAX).take(2).enumerate() {
            let head = if n == 0 { format!("{} ", sign::FAILED) } else { "  ".to_owned() };
            lines.push(vec![look.span(head, Role::Fatal), look.span(text.to_owned(), Role::Fatal)]);
        }
        let text = match attempt.amount() {
            ReplyAmount::Nothing => "nothing came of this step, so it is not compared",
            ReplyAmount::Part => "partial reply below; not a result, not compared",
            ReplyAmount::Whole => "the whole reply is below; not a result, not compared",
        };
        lines.push(vec![look.span(text, Role::Dim)]);
        if attempt.kept != Kept::No {
            lines.push(kept(attempt, look));
        }
        return BoxLines::plain(lines);
    }
    lines.push(answers(outcome, look));
    let mut line = vec![look.span("findings ", Role::Faint)];
    line.extend(bars::counts(outcome.before.counts, look));
    line.push(look.span("→ ", Role::Faint));
    line.extend(bars::counts(outcome.after.counts, look));
    if let (Some(before), Some(after)) = (&outcome.before.fix, &outcome.after.fix) {
        let what = if attempt.is_answer() { "" } else { "fix: " };
        let fix = if before == after { format!("  {what}{after}") } else { format!("  {what}{before} → {after}") };
        line.push(look.span(fix, Role::Accent));
    }
    lines.push(line);
    if !outcome.stale.is_empty() {
        let stale: Vec<_> = outcome.stale.iter().map(|step| (step + 1).to_string()).collect();
        let (steps, them) = if stale.len() == 1 { ("step", "it") } else { ("steps", "them") };
        let text = format!(
            "Out of date: {steps} {}. {}, then {} re-runs {them}",
            stale.join(", "),
            look.keymap.key_of(Action::Rerun),
            look.keymap.key_of(Action::RerunStale)
        );
        lines.push(vec![look.span("▲ ", Role::Warning), look.span(text, Role::Warning)]);
    }
    lines.push(kept(attempt, look));
    BoxLines::plain(lines)
}

fn kept(attempt: &Attempt, look: Look<'_>) -> Spans {
    let (text, role) = match attempt.kept {
        Kept::No => ("Not saved", Role::Dim),
        Kept::Saving(_) => ("saving…", Role::Accent),
        Kept::Saved if attempt.ended().is_some() => ("saved as a failed fork", Role::Ok),
        Kept::Saved => ("saved as a fork", Role::Ok),
        Kept::Waiting(_) => ("! NOT SAVED: <save_again> retries", Role::Fatal),
        Kept::Failed => ("! NOT SAVED: no file to save it in", Role::Fatal),
    };
    vec![look.keyed(text, role)]
}

fn answers(outcome: &Outcome, look: Look<'_>) -> Spans {
    let side = |side: &Side| {
        let answer = side.answer.as_ref().map_or_else(|| "no answer".to_owned(), |answer| fit(answer.as_str(), 24));
        let (mark, role) = match side.right {
            Some(true) => (format!(" {} correct", sign::CORRECT), Role::Ok),
            Some(false) => (format!(" {} wrong", sign::WRONG), Role::Fatal),
            None => (String::new(), Role::Text),
        };
        [look.span(answer, Role::Text), look.span(mark, role)]
    };
    let mut line = vec![look.span("answer ", Role::Faint)];
    line.extend(side(&outcome.before));
    line.push(look.span(" → ", Role::Faint));
    line.extend(side(&outcome.after));
    line
}

fn lower(view: Option<&RecordView>, attempt: &Attempt, pane: Pane, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = Vec::new();
    // The panes that have no room are named next to the one that has it.
    if attempt.areas.places().count() < Pane::ALL.len() {
        title.extend(named_panes(&Pane::LOWER.map(|other| (other.word(), other == pane)), look));
    } else {
        title.push(look.span(pane.word(), Role::Title));
    }
    if pane == Pane::Reply {
        title.extend(about_reply(attempt, look));
    }
    let inner = frame(title, area, buf, look);
    let height = usize::from(inner.height);
    let lines = lines(attempt, view, pane, inner_width(area), look.theme);
    let at = Pane::LOWER.iter().position(|other| *other == pane).unwrap_or(0);
    let last = lines.len().saturating_sub(height);
    let top = if pane == Pane::Reply && attempt.follows {
        last
    } else {
        attempt.tops.get(at).copied().unwrap_or(0).min(last)
    };
    put_lines(&lines, top, inner, buf);
    scroll_mark(area, top, lines.len(), buf, look);
}

fn about_reply(attempt: &Attempt, look: Look<'_>) -> Spans {
    let reply = attempt.round.as_ref().and_then(|round| round.replies.get(attempt.shown_reply()));
    let Some(reply) = reply else { return Vec::new() };
    let mut line = Vec::new();
    if attempt.is_replay() {
        line.push(look.span("  ↺ replay", Role::Warning));
    }
    if matches!(reply.received.phase, Phase::Failed(_) | Phase::Cancelled) {
        let text =
            if attempt.amount() == ReplyAmount::Nothing { "  ✗ nothing came" } else { "  ✗ partial, no answer" };
        line.push(look.span(text, Role::Fatal));
    }
    line
}

/// Lays out the lines of one of the lower panes.
pub(crate) fn lines(
    attempt: &Attempt,
    view: Option<&RecordView>,
    pane: Pane,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut text = Text { lines: Vec::new(), width, theme };
    match pane {
        Pane::Top => {}
        Pane::Request => text.request(attempt),
        Pane::Reply => text.reply(attempt, view),
        Pane::Difference => text.difference(attempt, view),
    }
    text.lines
}

/// Lays out a prompt, as much of it as can be.
pub(crate) fn prompt_lines(prompt: &Untrusted<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut text = Text { lines: Vec::new(), width, theme };
    text.data(prompt.bytes(), Role::Text);
    text.lines
}

/// Lays out a reply: its end while it is still coming, else its beginning.
pub(crate) fn reply_lines(reply: &Reply, at_end: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut text = Text { lines: Vec::new(), width, theme };
    text.one_reply(reply, at_end);
    text.lines
}

/// Lines as they are put together.
struct Text<'t> {
    lines: Vec<Line<'static>>,
    width: usize,
    theme: &'t Theme,
}

impl Text<'_> {
    fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    fn prose(&mut self, text: &Shown, role: Role) {
        let style = self.style(role);
        let lines = wrapped(text.as_str(), self.width, usize::MAX);
        self.lines.extend(lines.map(|line| Line::styled(line.to_owned(), style)));
    }

    fn say(&mut self, text: impl Into<String>, role: Role) {
        let text = text.into();
        self.prose(&shown!("{text}"), role);
    }

    fn spans(&mut self, spans: Vec<(String, Role)>) {
        let spans = spans.into_iter().map(|(text, role)| Span::styled(text, self.style(role)));
        self.lines.push(spans.collect());
    }

    /// Adds a text from data, as much of it as can be laid out.
    fn data(&mut self, bytes: &[u8], role: Role) {
        let head = stepscope_base::text::head(bytes, MAX_PROSE - 1024);
        self.prose(&Shown::prose(head), role);
        if head.len() < bytes.len() {
            self.say(format!("… {} bytes more", bytes.len() - head.len()), Role::Faint);
        }
    }

    fn request(&mut self, attempt: &Attempt) {
        match attempt.request() {
            Some(prompt) => self.data(prompt.bytes(), Role::Text),
            None => self.say("preparing the request…", Role::Dim),
        }
    }

    fn reply(&mut self, attempt: &Attempt, view: Option<&RecordView>) {
        let Some(round) = &attempt.round else {
            return self.say("not run yet", Role::Dim);
        };
        if round.replies.len() > 1 {
            match attempt.stage {
                Stage::Several if attempt.list.at == 0 => {
                    return self.distribution(&round.distribution(), round, &expected(attempt, view));
                }
                Stage::Several => {}
                _ => return self.replies(round),
            }
        }
        if let Some(reply) = round.replies.get(attempt.shown_reply()) {
            self.one_reply(reply, attempt.follows && attempt.is_running());
        }
    }

    /// Adds one line for each of several replies that are coming.
    fn replies(&mut self, round: &SamplingRound) {
        for (n, reply) in round.replies.iter().enumerate() {
            let (glyph, role) = match &reply.received.phase {
                Phase::Streaming => ("▸", Role::Live),
                Phase::Done(_) => ("=", Role::Dim),
                Phase::Failed(_) | Phase::Cancelled => (sign::FAILED, Role::Fatal),
                Phase::Idle | Phase::Connecting => ("…", Role::Dim),
            };
            let text = match reply.failed().filter(|_| !reply.received.is_running()) {
                Some(why) => why.into_string(),
                None => Shown::line(stepscope_base::text::head(&reply.received.content, 400)).into_string(),
            };
            let text = fit(&text, self.width.saturating_sub(6));
            self.spans(vec![(format!("{:>3} ", n + 1), Role::Faint), (format!("{glyph} "), role), (text, Role::Text)]);
        }
    }

    fn one_reply(&mut self, reply: &Reply, at_end: bool) {
        for line in &reply.received.log {
            self.say(format!("▲ {line}"), Role::Warning);
        }
        let (before, content) = apart(reply);
        let reasoning = if reply.received.reasoning.is_empty() { before } else { reply.received.reasoning.as_slice() };
        if !reasoning.is_empty() {
            self.say("reasoning", Role::Faint);
            self.bytes(reasoning, Role::Dim, at_end);
            self.say("reply", Role::Faint);
        }
        self.bytes(content, Role::Text, at_end);
        match &reply.received.phase {
            Phase::Failed(trouble) => self.say(format!("{} {}", sign::FAILED, trouble.sentence), Role::Fatal),
            Phase::Cancelled => self.say("cancelled here: partial, no answer", Role::Fatal),
            Phase::Connecting => self.say("waiting…", Role::Dim),
            Phase::Done(finish) => {
                if let Some(early) = finish.stop.early() {
                    self.say(format!("! {early}"), Role::Warning);
                }
            }
            Phase::Idle | Phase::Streaming => {}
        }
        if let Some(judged) = reply.judged.as_ref().filter(|_| reply.failed().is_none()) {
            self.judged(judged);
        }
    }

    fn judged(&mut self, judged: &JudgedReply) {
        match judged.verdict.why() {
            None => self.say(format!("{} matches the schema (says nothing about correctness)", sign::VALID), Role::Ok),
            Some(why) => self.say(format!("{} {why}", sign::INVALID), Role::Warning),
        }
        if !judged.parts.around.is_nothing() {
            self.say(format!("{} {} removed", Severity::Note.glyph(), judged.parts.around.words()), Role::Dim);
        }
        for note in judged.notes() {
            self.say(format!("! {note}"), Role::Warning);
        }
        if !judged.missing.is_empty() {
            let names: Vec<_> = judged.missing.iter().map(|name| name.line().into_string()).collect();
            self.say(format!("! missing {}", names.join(", ")), Role::Warning);
        }
    }

    /// Adds the end of what is still coming, or the beginning of what is there.
    fn bytes(&mut self, bytes: &[u8], role: Role, at_end: bool) {
        let room = self.width.max(1) * 200 * TAIL;
        let room = room.min(16 << 10);
        if !at_end || bytes.len() <= room {
            return self.data(bytes, role);
        }
        let from = bytes.len() - room;
        // A character is not cut.
        let start = (from..bytes.len()).find(|at| bytes.get(*at).is_some_and(|byte| byte & 0xc0 != 0x80));
        self.say(format!("… {} bytes above", start.unwrap_or(from)), Role::Faint);
        self.prose(&Shown::prose(bytes.get(start.unwrap_or(from)..).unwrap_or_default()), role);
    }

    fn distribution(&mut self, made: &Distribution, round: &SamplingRound, known: &[ChangedRow]) {
        let all = round.replies.len();
        for field in &made.fields {
            let name = field.name.line();
            let known = known.iter().find(|row| row.name == name);
            let most = field.buckets.first().map_or(0, |bucket| bucket.samples.len());
            let agreement = format!("   {most} of {} agree", made.valid.len());
            let tie = if field.is_tie() { "   tie: first reply used" } else { "" };
            self.spans(vec![(name.into_string(), Role::Key), (agreement, Role::Dim), (tie.to_owned(), Role::Warning)]);
            for bucket in &field.buckets {
                self.value_bar(&bucket.text, bucket.samples.len(), all, known);
            }
            let missed = known.filter(|row| !field.buckets.iter().any(|bucket| is_recomputed(&bucket.text, row)));
            if let Some(missed) = missed.and_then(|row| row.computed.as_ref()) {
                self.say(format!("  {}  recomputed, in no reply", missed.value), Role::Warning);
            }
            if !field.absent.is_empty() {
                self.bar("(not in the reply)", field.absent.len(), all, Role::Dim);
            }
        }
        if !made.breaking.is_empty() {
            self.say(format!("{} of {all} break the schema", made.breaking.len()), Role::Warning);
        }
        let others = [
            ("lacks a key", &made.incomplete, Role::Warning),
            ("not JSON", &made.invalid, Role::Warning),
            ("is empty", &made.empty, Role::Warning),
            ("failed", &made.failed, Role::Fatal),
        ];
        if others.iter().any(|(_, samples, _)| !samples.is_empty()) {
            self.say("not counted", Role::Faint);
        }
        for (word, samples, role) in others.into_iter().filter(|(_, samples, _)| !samples.is_empty()) {
            self.bar(word, samples.len(), all, role);
        }
    }

    /// Adds a value in full with its bar, and what it is: the recomputed one, the recorded one.
    fn value_bar(&mut self, text: &[u8], count: usize, all: usize, known: Option<&ChangedRow>) {
        let recorded = known.and_then(|row| row.recorded.as_ref());
        let is_recorded = recorded.is_some_and(|recorded| is_value(text, &recorded.text));
        let mark = match (known.is_some_and(|row| is_recomputed(text, row)), is_recorded) {
            (true, true) => ("  ≙ recomputed, recorded", Role::Ok),
            (true, false) => ("  ≙ recomputed", Role::Ok),
            (false, true) => ("  recorded", Role::Dim),
            (false, false) => ("", Role::Dim),
        };
        let shown = Shown::line(text);
        let mut lines: Vec<&str> = wrapped(shown.as_str(), self.bar_widths().0, MAX_LABEL).collect();
        let last = lines.pop().unwrap_or_default();
        for line in lines {
            self.say(format!("  {line}"), Role::Text);
        }
        self.bar(last, count, all, Role::Text);
        if !mark.0.is_empty() && self.width < MARKED {
            // No room behind the bar.
            self.say(format!("  {}", mark.0), mark.1);
        } else if let Some(line) = self.lines.last_mut() {
            line.spans.push(Span::styled(mark.0, self.theme.style(mark.1)));
        }
    }

    /// Measures the columns of a bar's label, and of the bar.
    fn bar_widths(&self) -> (usize, usize) {
        // Behind a bar are its count and what the value is.
        let width = self.width.saturating_sub(10 + if self.width >= MARKED { 26 } else { 0 });
        let longest = BAR.min(width / 2).max(1);
        (width.saturating_sub(longest).max(4), longest)
    }

    fn bar(&mut self, label: &str, count: usize, all: usize, role: Role) {
        let (label_width, longest) = self.bar_widths();
        let filled = (count * longest).div_ceil(all.max(1));
        let bar = format!("{}{}", "█".repeat(filled), " ".repeat(longest.saturating_sub(filled)));
        let label = pad(label, label_width);
        self.spans(vec![(format!("  {label}"), role), (bar, Role::Live), (format!(" {count}/{all}"), Role::Dim)]);
    }

    fn difference(&mut self, attempt: &Attempt, view: Option<&RecordView>) {
        if let Some(outcome) = &attempt.outcome {
            return self.outcome(outcome, attempt.is_answer());
        }
        if attempt.is_answer() {
            return self.say("the new answer appears here when the reply is complete", Role::Dim);
        }
        self.rows(&expected(attempt, view));
        let is_coming = matches!(attempt.stage, Stage::Asking | Stage::Judging);
        let more = if is_coming { "; new values appear when the reply is complete" } else { "" };
        self.say(format!("recorded and recomputed values{more}"), Role::Faint);
    }

    fn outcome(&mut self, outcome: &Outcome, is_answer: bool) {
        if is_answer && outcome.sides.is_none() {
            return self.say("no reply: the recorded answer is unchanged", Role::Dim);
        }
        if outcome.ended.is_some() {
            return self.received(outcome);
        }
        if let Some(sides) = &outcome.sides {
            return side_by_side::draw::lines(sides, self.width).into_iter().for_each(|line| self.spans(line));
        }
        // The result comes first, and what changed before what did not.
        match outcome.diverges {
            Some(step) => self.say(format!("First difference: step {}", step + 1), Role::Text),
            None => self.say("No change", Role::Text),
        }
        let (same, changed): (Vec<_>, Vec<_>) =
            outcome.rows.iter().cloned().partition(|row| row.change == Change::Same);
        self.rows(&[changed, same].concat());
        for (said, sign, role) in [(&outcome.news[0], "+", Role::Added), (&outcome.news[1], "−", Role::Removed)] {
            let heading = if sign == "+" { "New findings" } else { "Resolved findings" };
            if !said.is_empty() {
                self.say(heading, Role::Faint);
            }
            for one in said {
                let glyph = (format!("{sign} {} ", one.severity.glyph()), severity_role(one.severity));
                let text = fit(&format!("{}  {}", one.rule, one.message), self.width.saturating_sub(4));
                self.spans(vec![glyph, (text, role)]);
            }
        }
    }

    /// Adds the values that came before the run ended early.
    fn received(&mut self, outcome: &Outcome) {
        if outcome.received.is_empty() {
            return self.say("no answer: the recorded values are unchanged", Role::Dim);
        }
        self.say("received before the run ended; not a result", Role::Faint);
        for (step, name, value) in &outcome.received {
            let head = format!("  {}", fit(name.as_str(), self.width / 2));
            let room = self.width.saturating_sub(head.width() + 12);
            let step = format!("  step {}", step + 1);
            self.spans(vec![
                (head, Role::Key),
                (format!("  {}", fit(value.as_str(), room)), Role::Text),
                (step, Role::Faint),
            ]);
        }
    }

    fn rows(&mut self, rows: &[ChangedRow]) {
        for row in rows.iter().take(MAX_ROWS) {
            let (glyph, role) = match row.change {
                Change::Same => ("=", Role::Dim),
                Change::Differs => ("≠", Role::Changed),
                Change::OnlyA => ("−", Role::Removed),
                Change::OnlyB => ("+", Role::Added),
            };
            let step = row.step.map_or_else(String::new, |step| format!("  step {}", step + 1));
            let how = if row.is_asked { ", re-run" } else { "" };
            let name = fit(row.name.as_str(), self.width.saturating_sub(20));
            self.spans(vec![(format!("{glyph} "), role), (name, Role::Key), (format!("{step}{how}"), Role::Faint)]);
            let computed = row.computed.as_ref().map(|computed| &computed.value);
            self.side("recorded", row.recorded.as_ref(), computed);
            if row.new.is_some() || row.change == Change::OnlyA {
                self.side("new", row.new.as_ref(), computed);
            }
            if let Some(computed) = computed {
                let value = RowValue { text: computed.clone(), relation: None };
                self.side("recomputed", Some(&value), None);
            }
        }
        if rows.len() > MAX_ROWS {
            self.say(format!("… {} more", rows.len() - MAX_ROWS), Role::Faint);
        }
    }

    fn side(&mut self, word: &str, value: Option<&RowValue>, computed: Option<&Shown>) {
        let text = value.map_or("—", |value| value.text.as_str());
        let is_said = value.is_some() && computed.is_some_and(|computed| computed.as_str() == text);
        let mark = match value.and_then(|value| value.relation) {
            _ if is_said => (" ≙".to_owned(), Role::Ok),
            Some(ToRecomputed::Same) => (" ≙".to_owned(), Role::Ok),
            Some(ToRecomputed::Differs) => (" ≠ recomputed".to_owned(), Role::Warning),
            Some(ToRecomputed::NotComparable) | None => (String::new(), Role::Dim),
        };
        let room = self.width.saturating_sub(VALUE_AT + 1);
        let role = if word == "recomputed" { Role::Accent } else { Role::Text };
        let lines: Vec<&str> = wrapped(text, room, MAX_VALUE).collect();
        let last = lines.len().saturating_sub(1);
        // The mark has a line of its own where the value leaves it no room.
        let is_apart = lines.last().map_or(0, |line| line.width()) + mark.0.width() > room;
        for (n, line) in lines.into_iter().enumerate() {
            let head = pad(if n == 0 { word } else { "" }, VALUE_AT - 2);
            let mark = if n == last && !is_apart { mark.clone() } else { (String::new(), Role::Dim) };
            self.spans(vec![(format!("  {head}"), Role::Faint), (line.to_owned(), role), mark]);
        }
        if is_apart && !mark.0.is_empty() {
            self.spans(vec![(" ".repeat(VALUE_AT - 1), Role::Dim), mark]);
        }
    }
}

/// Tells whether a value of a reply is this one, be it written as a text or as a number.
fn is_value(text: &[u8], value: &Shown) -> bool {
    let line = Shown::line(text);
    let plain = line.as_str().trim_matches('"');
    plain == value.as_str() || normal(plain.as_bytes()) == normal(value.as_str().as_bytes())
}

/// Tells whether a value of a reply is the recomputed one of its variable.
fn is_recomputed(text: &[u8], row: &ChangedRow) -> bool {
    row.computed
        .as_ref()
        .is_some_and(|computed| is_value(text, &computed.value) || computed.is_said_by(&row.name, text))
}

/// Separates reasoning in marks from what follows it.
fn apart(reply: &Reply) -> (&[u8], &[u8]) {
    let content = reply.received.content.as_slice();
    let (reasoning, behind) = thoughts(content);
    match content.get(reasoning) {
        Some(reasoning) if !reasoning.is_empty() => {
            (reasoning, content.get(behind..).unwrap_or_default().trim_ascii_start())
        }
        _ => (b"", content),
    }
}

/// Lists the variables that the step is to write, as they were recorded.
fn expected(attempt: &Attempt, view: Option<&RecordView>) -> Vec<ChangedRow> {
    let (Some(ask), Some(view)) = (attempt.ask(), view) else { return Vec::new() };
    let judged = attempt.round.as_ref().and_then(|round| match round.replies.as_slice() {
        [reply] => reply.judged.as_ref(),
        _ => None,
    });
    let opened = &view.opened;
    let row = |name: &Untrusted<'static>| {
        let shown = name.line();
        let index = opened.variables.iter().position(|variable| variable.name == shown);
        let write = index.and_then(|index| opened.variables.get(index)).map(|variable| &variable.writes);
        let write = write.and_then(|writes| writes.iter().find(|write| write.step == Some(ask.step)));
        let recorded = write.and_then(|write| write.value.as_ref()).map(|value| value.line.clone());
        let computed = index.and_then(|index| opened.computed.value_of(index, Some(ask.step)));
        let recorded =
            recorded.map(|text| RowValue { text, relation: computed.map(|computed| computed.standing.relation) });
        let new = judged.and_then(|judged| judged.outputs.iter().find(|(other, _)| other == name));
        let is_same = |json: &[u8]| computed.is_some_and(|computed| computed.is_said_by(&shown, json));
        let relation = |json: &[u8]| is_same(json).then_some(ToRecomputed::Same);
        let new = new.map(|(_, json)| RowValue { text: Shown::line(json), relation: relation(json) });
        ChangedRow {
            name: shown,
            step: Some(ask.step),
            is_asked: true,
            recorded,
            new,
            computed: computed.cloned(),
            change: Change::Same,
        }
    };
    ask.request.expected.iter().take(MAX_EXPECTED).map(row).collect()
}
