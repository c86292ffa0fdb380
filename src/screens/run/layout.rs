//! Where the panes of the run screen are.

use ratatui::layout::Rect;

use crate::screens::run::state::{RecordView, RunPane};
use crate::screens::run::{question, step, steps, variables};
use crate::widgets::layout::{THIRD, WIDE, inner_width, parts, rows, split_columns, split_rows};
use crate::widgets::look::Look;
use crate::widgets::panes::Areas;
use crate::widgets::prose;

pub(crate) fn areas(area: Rect, view: &RecordView, look: Look<'_>) -> Areas<RunPane> {
    let body = parts(area).body;
    Areas::new(body, view.maximised.then_some(view.pane), || {
        if body.width >= WIDE { wide(body, view, look) } else { narrow(body, view) }
    })
}

/// A place for each pane; those that have none are empty.
struct Places {
    question: Rect,
    worked: Rect,
    steps: Rect,
    step: Rect,
    state: Rect,
    findings: Rect,
    timeline: Rect,
    call: Rect,
}

impl Places {
    fn shown(self) -> Vec<(RunPane, Rect)> {
        let mut panes = vec![
            (RunPane::Question, self.question),
            (RunPane::Steps, self.steps),
            (RunPane::Step, self.step),
            (RunPane::State, self.state),
            (RunPane::Findings, self.findings),
        ];
        let optional = [(RunPane::Worked, self.worked), (RunPane::Timeline, self.timeline), (RunPane::Call, self.call)];
        panes.extend(optional.into_iter().filter(|(_, place)| !place.is_empty()));
        panes
    }
}

/// Columns of the steps that hold a step as the procedure writes it.
const STEPS: u16 = 50;
/// Columns of the state and the findings.
const STATE: u16 = 72;
/// Columns beyond which prompt and reply gain nothing.
const CALL: u16 = 104;

fn wide(body: Rect, view: &RecordView, look: Look<'_>) -> Vec<(RunPane, Rect)> {
    let opened = &view.opened;
    let [steps, state, _] = columns(body.width, view);
    // Prompt and reply are the longest texts: they have the whole height.
    let (body, call) = split_columns(body, steps + state);
    let worked = if body.width >= WIDE && call.width + body.width >= THIRD && opened.worked.is_some() {
        body.width * 2 / 5
    } else {
        0
    };
    let text_width = |width: u16| usize::from(width.saturating_sub(4));
    let question = question_rows(view, text_width(body.width - worked), body);
    let below = rows(question::answer_below(view, body.width - worked, look).len());
    let question = question.saturating_add(below).max(worked_rows(view, text_width(worked), body));
    let (top, rest) = split_rows(body, question.saturating_add(2).clamp(3, (body.height / 4).max(3)));
    let (top, worked) = split_columns(top, body.width - worked);
    if !opened.has_steps() && call.width > 0 {
        let error = step::opening_height(view, inner_width(body), look.theme);
        return stacked((top, worked, rest, call), rows(error).saturating_add(2), view, look);
    }
    let (left, right) = split_columns(rest, steps);
    let is_third = body.width + call.width >= THIRD;
    let most = (rest.height * 2 / 5).max(3);
    let wrapped = (0..opened.steps.len()).take(usize::from(most));
    let wrapped = wrapped.map(|step| steps::lines(view, step, Some(inner_width(left)), look).len()).sum();
    let steps = [rows(wrapped), rows(opened.steps.len())].map(|rows| rows.saturating_add(2).max(3));
    let steps = steps.into_iter().find(|rows| *rows <= most).unwrap_or(most);
    let (steps, step) = split_rows(left, steps);
    // The timeline takes what it holds from the step where that keeps as much again; on wide screens from the findings,
    // where its values have room.
    let timeline = if view.has_timeline() { rows(opened.steps.len()).saturating_add(2) } else { 0 };
    let under = |place: Rect| {
        let height = timeline.min(place.height / 2);
        split_rows(place, place.height - if height < 4 { 0 } else { height })
    };
    let (step, beside) = if is_third { (step, Rect::default()) } else { under(step) };
    // The state takes what it holds, and never all: the findings and the proof get the rest.
    let notes = rows(opened.notes.len()).saturating_add(2).clamp(3, (rest.height / 3).max(3));
    let most = rest.height.saturating_sub(notes).max(4);
    let tall = rows(variables::tall_height(view, inner_width(right), usize::from(most), look));
    let variables = [tall, rows(opened.variables.len())].map(|rows| rows.saturating_add(3).max(4));
    let variables = variables.into_iter().find(|rows| *rows <= most).unwrap_or(most);
    let (state, findings) = split_rows(right, variables);
    let (findings, timeline) = if is_third { under(findings) } else { (findings, beside) };
    Places { question: top, worked, steps, step, state, findings, timeline, call }.shown()
}

/// Stacks the panes of a run that ended before its first step: what is known is the call that was to make it.
fn stacked(
    (top, worked, rest, call): (Rect, Rect, Rect, Rect),
    error: u16,
    view: &RecordView,
    look: Look<'_>,
) -> Vec<(RunPane, Rect)> {
    let (steps, rest) = split_rows(rest, 3);
    let (step, rest) = split_rows(rest, error.min(rest.height / 3));
    let most = rest.height / 2;
    let state = variables::tall_height(view, inner_width(rest), usize::from(most), look);
    let (state, findings) = split_rows(rest, rows(state).saturating_add(3).min(most));
    Places { question: top, worked, steps, step, state, findings, timeline: Rect::default(), call }.shown()
}

/// Shares a width among steps, state, and prompt and reply, by what they hold; the same at every step of a record.
fn columns(width: u16, view: &RecordView) -> [u16; 3] {
    let opened = &view.opened;
    let wanted = |content: usize| rows(content).saturating_add(4);
    let call = width >= THIRD && opened.has_calls;
    if !opened.has_steps() {
        // The place of the steps shows the reply.
        let call = if call { width * 11 / 20 } else { 0 };
        let steps = ((width - call) * 2 / 5).clamp(34, 76);
        return [steps, width - call - steps, call];
    }
    let steps = wanted(steps::natural_width(view));
    if !call {
        let steps = steps.clamp(STEPS.min(width * 2 / 5), width * 2 / 5);
        return [steps, width - steps, 0];
    }
    let steps = steps.max(STEPS).min(width * 7 / 25);
    let state = wanted(variables::natural_width(view)).max(STATE).min(width * 21 / 50);
    let call = (width - steps - state).min(CALL);
    [steps, width - steps - call, call]
}

fn narrow(body: Rect, view: &RecordView) -> Vec<(RunPane, Rect)> {
    let opened = &view.opened;
    let text_width = usize::from(body.width.saturating_sub(4));
    let lines = question_rows(view, text_width, body);
    let question = lines.saturating_add(2).clamp(3, (body.height / 5).max(4)).min(body.height);
    let (top, rest) = split_rows(body, question);
    let steps = rows(opened.steps.len()).saturating_add(2).clamp(3, (rest.height / 4).max(5)).min(rest.height);
    let (steps, rest) = split_rows(rest, steps);
    // The last place is shared: findings, unless the step, the timeline or a long list of findings has the keys.
    let last = match view.pane {
        pane @ (RunPane::Step | RunPane::Timeline) => pane,
        _ => RunPane::Findings,
    };
    let wanted = match view.pane {
        RunPane::Step => rest.height * 3 / 5,
        RunPane::Timeline => rows(opened.steps.len()).saturating_add(2).clamp(4, (rest.height / 2).max(4)),
        RunPane::Findings => rows(opened.notes.len()).saturating_add(2).clamp(4, (rest.height / 2).max(4)),
        _ => rows(opened.notes.len()).saturating_add(2).clamp(3, (rest.height / 4).max(3)),
    };
    let (state, bottom) = split_rows(rest, rest.height.saturating_sub(wanted));
    vec![(RunPane::Question, top), (RunPane::Steps, steps), (RunPane::State, state), (last, bottom)]
}

/// Counts the lines that the worked answer takes, up to the height of the screen.
fn worked_rows(view: &RecordView, width: usize, body: Rect) -> u16 {
    let worked = view.opened.worked.as_ref().filter(|_| width > 0);
    worked.map_or(0, |text| rows(prose::wrap_up_to(text.as_str(), width, usize::from(body.height)).len()))
}

/// Counts the lines that the question takes, up to the height of the screen.
fn question_rows(view: &RecordView, width: usize, body: Rect) -> u16 {
    rows(prose::wrap_up_to(view.opened.question.as_str(), width, usize::from(body.height)).len())
}
