//! Where the panes of the run screen are.

use ratatui::layout::Rect;

use crate::app::open_record::OpenRecord;
use crate::screens::run::findings::Wrapping;
use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PanePlace, Places};
use crate::screens::run::state::RecordView;
use crate::screens::run::{findings, question, step, steps, variables};
use crate::widgets::layout::{THIRD, WIDE, inner_width, pane_above, pane_left, parts, rows};
use crate::widgets::look::Look;
use crate::widgets::panes::Areas;
use crate::widgets::prose;

pub(crate) fn areas(area: Rect, view: &RecordView, look: Look<'_>) -> Areas<RunPane> {
    let body = parts(area).body;
    let opened = &view.opened;
    let shared = || match opened.has_steps() {
        false if opened.prepared.has_calls && body.width >= THIRD => stacked(body, view, look),
        false => without_steps(body, view, look),
        true if body.width >= WIDE => wide(body, view, look),
        true => narrow(body, view, look),
    };
    let areas = Areas::new(body, view.maximised.then_some(view.pane), shared);
    // Where there is no room for all, the pane that has the keys is on screen; two give them up to another one.
    let stays = view.pane.def().otherwise.is_none();
    if stays && areas.height(view.pane) == 0 { Areas::new(body, Some(view.pane), Vec::new) } else { areas }
}

impl Places {
    /// Lists the panes that have a place, those above and to the left first.
    fn shown(&self, view: &RecordView) -> Vec<(RunPane, Rect)> {
        let chart = chart_of(view);
        let place = |pane: RunPane| match pane.def().place {
            PanePlace::Own(place) => place(self),
            PanePlace::Chart if Some(pane) == chart => self.chart,
            PanePlace::Chart => Rect::default(),
        };
        let panes = RunPane::ALL.map(|pane| (pane, place(pane)));
        let mut shown: Vec<_> = panes.into_iter().filter(|(_, place)| !place.is_empty()).collect();
        shown.sort_by_key(|(_, place)| (place.y, place.x));
        shown
    }
}

/// Returns the chart that is shown: the one with the keys, else the first that holds something.
fn chart_of(view: &RecordView) -> Option<RunPane> {
    let is_chart = |pane: &RunPane| matches!(pane.def().place, PanePlace::Chart) && (pane.def().holds)(view);
    Some(view.pane).filter(is_chart).or_else(|| RunPane::ALL.into_iter().find(is_chart))
}

/// Columns of the steps that hold a step as the procedure writes it.
const STEPS: u16 = 50;
/// Columns of the state and the findings.
const STATE: u16 = 72;
/// Shares of the worked answer in the width of question and answer, in twentieths: the first that takes the fewest lines.
const WORKED: [u16; 7] = [8, 9, 7, 10, 6, 11, 12];
/// Shares of prompt and reply in the width of a run without steps, in twentieths; the second where the first is too
/// small for them and the other panes hide nothing in the rest.
const CALL_OF_STACK: [u16; 2] = [11, 14];
/// Lines of a finding in full below the list: how to fix it, its place, and the reason of its rule.
const FINDING_IN_FULL: usize = 20;
/// Rows of a long chart, with its borders.
const CHART: u16 = 10;
/// Columns of prompt and reply, however short their lines are.
const NARROW_CALL: u16 = 40;
/// Columns beyond which prompt and reply gain nothing.
const CALL: u16 = 104;

/// Lays out a record without steps: the question, the reply as large as can be, and the findings; the state where it
/// says more than the question.
fn without_steps(body: Rect, view: &RecordView, look: Look<'_>) -> Vec<(RunPane, Rect)> {
    let (top, worked, rest) = question_and_worked(body, body.width >= THIRD, view, look);
    let has_state = view.panes().contains(&RunPane::State);
    let most = (rest.height / 4).max(3);
    // On a narrow screen the findings and the state share the last place.
    let is_wide = body.width >= WIDE;
    let findings = rows(findings::brief_height(view, inner_width(rest), usize::from(most), look));
    // A short reply leaves its room to them.
    let reply = rows(step::opening_height(view, inner_width(rest), look)).saturating_add(2);
    let is_short = !view.opened.notes.is_empty() && !has_state && !view.opened.conversation.is_long();
    let spare = if is_short { (rest.height + 1).saturating_sub(reply) } else { 0 };
    let findings = findings.max(1).saturating_add(2).clamp(3, most).max(spare);
    let variables = rows(view.opened.variables.len()).saturating_add(3).clamp(4, most.max(4));
    let is_state_last = has_state && !is_wide && view.pane == RunPane::State;
    let last = if is_state_last { variables } else { findings };
    let (rest, last) = pane_above(rest, (rest.height + 1).saturating_sub(last));
    let (step, state) =
        if is_wide && has_state { pane_left(rest, rest.width * 3 / 5) } else { (rest, Rect::default()) };
    let (findings, state) = if is_state_last { (Rect::default(), last) } else { (last, state) };
    let (messages, step) = messages_and_step(step, body.width >= THIRD, view);
    Places { question: top, worked, step, state, findings, messages, ..Places::default() }.shown(view)
}

/// Shares a place among a conversation and its last reply: where there is no room for both, the one with the keys has it.
fn messages_and_step(place: Rect, is_third: bool, view: &RecordView) -> (Rect, Rect) {
    match (view.opened.conversation.is_long(), is_third) {
        (false, _) => (Rect::default(), place),
        (true, true) => pane_left(place, place.width * 3 / 5),
        (true, false) if view.pane == RunPane::Step => (Rect::default(), place),
        (true, false) => (place, Rect::default()),
    }
}

fn wide(body: Rect, view: &RecordView, look: Look<'_>) -> Vec<(RunPane, Rect)> {
    let opened = &view.opened;
    let [steps, state, _] = columns(body.width, view);
    // Prompt and reply are the longest texts: they have the whole height.
    let (body, call) = pane_left(body, steps + state);
    let is_third = body.width + call.width >= THIRD;
    let (top, worked, rest) = question_and_worked(body, is_third, view, look);
    let (left, right) = pane_left(rest, steps);
    let most = (rest.height * 2 / 5).max(3);
    let wrapped = (0..opened.steps.len()).take(usize::from(most));
    let wrapped = wrapped.map(|step| steps::lines(view, step, Some(inner_width(left)), look).len()).sum();
    let steps = [rows(wrapped), rows(opened.steps.len())].map(|rows| rows.saturating_add(2).max(3));
    let steps = steps.into_iter().find(|rows| *rows <= most).unwrap_or(most);
    let (steps, step) = pane_above(left, steps);
    // The chart takes what it holds from the step where that keeps as much again; on wide screens from the findings,
    // where its values have room. Of a long one enough is on screen to see its form.
    let chart = chart_of(view).map_or(0, |chart| rows((chart.def().lines)(view, look)).saturating_add(2));
    let under = |place: Rect| {
        let least = CHART.min(place.height * 3 / 5);
        let height = chart.min(least.max(place.height / 2));
        pane_above(place, place.height - if height < 4 { 0 } else { height - 1 })
    };
    let (step, beside) = if is_third { (step, Rect::default()) } else { under(step) };
    // The state takes what it holds, and never all: the findings and the derivation get the rest.
    let notes = rows(findings::brief_height(view, inner_width(right), usize::from(rest.height), look));
    let notes = notes.saturating_add(2).clamp(3, (rest.height / 3).max(3));
    let below = if is_third { chart.min(CHART).min(rest.height / 4) } else { 0 };
    let most = rest.height.saturating_sub(notes + below).max(4);
    let tall = rows(variables::tall_height(view, inner_width(right), usize::from(most), look));
    let variables = [tall, rows(opened.variables.len())].map(|rows| rows.saturating_add(3).max(4));
    let variables = variables.into_iter().find(|rows| *rows <= most).unwrap_or(most);
    let (state, findings) = pane_above(right, variables);
    let (findings, chart) = if is_third { under(findings) } else { (findings, beside) };
    Places { question: top, worked, steps, step, state, findings, chart, call, ..Places::default() }.shown(view)
}

/// Stacks the panes of a run that ended before its first step: what is known is the call that was to make it.
fn stacked(body: Rect, view: &RecordView, look: Look<'_>) -> Vec<(RunPane, Rect)> {
    let [usual, broad] = CALL_OF_STACK.map(|share| pane_left(body, body.width - body.width * share / 20));
    let is_broad = !step::holds_call(view, usual.1, look) && stack_rows(broad.0, view, look) <= body.height;
    let (body, call) = if is_broad { broad } else { usual };
    let (top, worked, rest) = question_and_worked(body, true, view, look);
    let error = rows(step::opening_height(view, inner_width(body), look)).saturating_add(2);
    let (step, rest) = pane_above(rest, error.min(rest.height / 3));
    let most = rest.height / 2;
    let state = variables::tall_height(view, inner_width(rest), usize::from(most), look);
    let (state, findings) = pane_above(rest, rows(state).saturating_add(3).min(most));
    Places { question: top, worked, step, state, findings, call, ..Places::default() }.shown(view)
}

/// Counts the rows in which the stacked panes hide nothing.
fn stack_rows(body: Rect, view: &RecordView, look: Look<'_>) -> u16 {
    let width = inner_width(body);
    let findings = (0..view.opened.notes.len()).take(usize::from(body.height));
    let findings: usize = findings.map(|note| findings::lines(view, note, Wrapping::full(width), look).len()).sum();
    let lines = step::opening_height(view, width, look)
        + variables::tall_height(view, width, usize::from(body.height), look)
        + findings
        + FINDING_IN_FULL;
    // Borders of three panes, the heading of the state.
    rows(lines).saturating_add(top_rows(body, 0, view, look)).saturating_add(2 + 2 + 3 + 2)
}

/// Shares a width among steps, state, and prompt and reply, by what they hold; the same at every step of a record.
fn columns(width: u16, view: &RecordView) -> [u16; 3] {
    let opened = &view.opened;
    let wanted = |content: usize| rows(content).saturating_add(4);
    let call = width >= THIRD && opened.prepared.has_calls;
    let steps = wanted(steps::natural_width(view));
    if !call {
        let steps = steps.clamp(STEPS.min(width * 2 / 5), width * 2 / 5);
        return [steps, width - steps, 0];
    }
    let steps = steps.max(STEPS).min(width * 7 / 25);
    let state = wanted(variables::natural_width(view)).max(STATE).min(width * 19 / 50);
    let call = (width - steps - state).min(CALL).min(wanted(view.opened.prepared.call_width).max(NARROW_CALL));
    [steps, width - steps - call, call]
}

fn narrow(body: Rect, view: &RecordView, look: Look<'_>) -> Vec<(RunPane, Rect)> {
    let opened = &view.opened;
    let text_width = usize::from(body.width.saturating_sub(4));
    let lines = question_rows(opened, text_width, body);
    let question = lines.saturating_add(2).clamp(3, (body.height / 5).max(4)).min(body.height);
    let (top, rest) = pane_above(body, question);
    let steps = rows(opened.steps.len()).saturating_add(2).clamp(3, (rest.height / 4).max(5)).min(rest.height);
    let (steps, rest) = pane_above(rest, steps);
    // The last place is shared: findings, unless the step, a chart or a long list of findings has the keys.
    let with_keys = view.pane.def();
    let own = match with_keys.place {
        PanePlace::Chart => {
            let lines = rows((with_keys.lines)(view, look));
            Some(lines.saturating_add(2).clamp(4, (rest.height / 2).max(4)))
        }
        PanePlace::Own(_) => with_keys.from_findings.map(|rows| rows(rest.height)),
    };
    let notes = rows(opened.notes.len()).saturating_add(2);
    // Where to fix is there in full.
    let argument = opened.notes.iter().take_while(|note| note.finding.is_none()).count();
    let argument =
        rows(findings::brief_height(view, text_width, argument, look)).saturating_add(2).min(rest.height / 3);
    // What the state does not need is for the findings.
    let spare = (rest.height + 1).saturating_sub(rows(opened.variables.len()).saturating_add(3)).min(notes);
    let wanted = own.unwrap_or_else(|| match view.pane {
        RunPane::Findings => notes.clamp(4, (rest.height / 2).max(4)).max(spare),
        _ => notes.clamp(3, (rest.height / 4).max(3)).max(spare).max(argument),
    });
    let (state, bottom) = pane_above(rest, (rest.height + 1).saturating_sub(wanted));
    let mut shown = Places { question: top, steps, state, ..Places::default() }.shown(view);
    shown.push((if own.is_some() { view.pane } else { RunPane::Findings }, bottom));
    shown
}

/// The place of the question, at most a quarter of the height, of the worked answer next to it, where there is room, and
/// the rest.
fn question_and_worked(body: Rect, is_third: bool, view: &RecordView, look: Look<'_>) -> (Rect, Rect, Rect) {
    let has_worked = is_third && body.width >= WIDE && view.opened.worked.is_some();
    let shares = WORKED.map(|share| body.width * share / 20).into_iter().filter(|_| has_worked);
    let worked = shares.min_by_key(|worked| top_rows(body, *worked, view, look)).unwrap_or(0);
    let height = top_rows(body, worked, view, look).saturating_add(2).clamp(3, (body.height / 4).max(3));
    let (top, rest) = pane_above(body, height);
    let (top, worked) = pane_left(top, body.width - worked);
    (top, worked, rest)
}

/// Counts the lines of the question with its answer, or of the worked answer next to it, whichever are more.
fn top_rows(body: Rect, worked: u16, view: &RecordView, look: Look<'_>) -> u16 {
    let text_width = |width: u16| usize::from(width.saturating_sub(4));
    let question = question_rows(&view.opened, text_width(body.width - worked), body);
    let below = rows(question::answer_below(view, body.width - worked, look).len());
    question.saturating_add(below).max(worked_rows(view, text_width(worked), body))
}

/// Counts the lines that the worked answer takes, up to the height of the screen.
fn worked_rows(view: &RecordView, width: usize, body: Rect) -> u16 {
    let worked = view.opened.worked.as_ref().filter(|_| width > 0);
    worked.map_or(0, |text| rows(prose::wrap_up_to(text.as_str(), width, usize::from(body.height)).len()))
}

/// Counts the lines that the question takes, up to the height of the screen.
pub(crate) fn question_rows(opened: &OpenRecord, width: usize, body: Rect) -> u16 {
    rows(prose::wrap_up_to(opened.question_text().as_str(), width, usize::from(body.height)).len())
}
