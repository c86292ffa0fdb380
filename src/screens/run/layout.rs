//! Where the panes of the run screen are.

use ratatui::layout::Rect;

use crate::screens::run::state::{RecordView, RunPane};
use crate::screens::run::{steps, variables};
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

fn wide(body: Rect, view: &RecordView, look: Look<'_>) -> Vec<(RunPane, Rect)> {
    let opened = &view.opened;
    let worked = if body.width >= THIRD && opened.worked.is_some() { body.width * 2 / 5 } else { 0 };
    let text_width = |width: u16| usize::from(width.saturating_sub(4));
    let question = question_rows(view, text_width(body.width - worked), body);
    let question = question.max(worked_rows(view, text_width(worked), body));
    let (top, rest) = split_rows(body, question.saturating_add(2).clamp(3, (body.height / 4).max(3)));
    let (top, worked) = split_columns(top, body.width - worked);
    let third = if body.width >= THIRD && opened.has_steps() { (body.width * 3 / 10).min(80) } else { 0 };
    let (rest, call) = split_columns(rest, rest.width - third);
    let (left, right) = split_columns(rest, (rest.width * 2 / 5).clamp(34, 76));
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
    let (step, beside) = if third > 0 { (step, Rect::default()) } else { under(step) };
    // The state takes what it holds, and never all: the findings and the proof get the rest.
    let notes = rows(opened.notes.len()).saturating_add(2).clamp(3, (rest.height / 3).max(3));
    let most = rest.height.saturating_sub(notes).max(4);
    let tall = rows(variables::tall_height(view, inner_width(right), usize::from(most), look));
    let variables = [tall, rows(opened.variables.len())].map(|rows| rows.saturating_add(3).max(4));
    let variables = variables.into_iter().find(|rows| *rows <= most).unwrap_or(most);
    let (state, findings) = split_rows(right, variables);
    let (findings, timeline) = if third > 0 { under(findings) } else { (findings, beside) };
    let mut panes = vec![
        (RunPane::Question, top),
        (RunPane::Steps, steps),
        (RunPane::Step, step),
        (RunPane::State, state),
        (RunPane::Findings, findings),
    ];
    if worked.width > 0 {
        panes.push((RunPane::Worked, worked));
    }
    if timeline.height > 0 {
        panes.push((RunPane::Timeline, timeline));
    }
    if third > 0 {
        panes.push((RunPane::Call, call));
    }
    panes
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
