//! The list of steps: glyph, position, what is to be done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::app::open_record::OpenRecord;
use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::{List, Rows, all_fit};
use crate::widgets::look::{Look, Spans, severity_role, tall_pane};
use crate::widgets::prose::{fit, hanging};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::{Shown, cut};
use stepscope_present::steps::StepRow;
use stepscope_record::paint::MarkedRange;
use stepscope_record::state::Ran;

/// Steps that are measured for the width of the list, and bytes of each.
const MAX_MEASURED: usize = 500;
const MAX_NATURAL: usize = 200;
const STEP_TO_FIX: &str = "step to fix ";
const FIRST_DIFFERENCE: &str = "first difference ";
const OUT_OF_DATE: &str = "out of date ";
/// Explanation of a step of an error row that does not say where it ended.
pub(crate) const UNAVAILABLE: &str = "unavailable: the record does not say whether this step ran";

/// The pane of the steps.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: OF_STEP,
    holds: |view| view.opened.has_steps(),
    place: PanePlace::Own(|places| places.steps),
    settled: Some(|view, place, _| {
        let mut list = List { at: view.moment.0.saturating_sub(1), ..view.list(RunPane::Steps) };
        list.settle(view.opened.steps.len(), inner_height(place));
        list
    }),
    draw,
    describe,
    explain,
    // Before the first step the cursor is on none.
    cursor: RecordView::step,
    row_at: |view, line, place, look| {
        let width = width(view, place, look);
        let lines = |step| lines(view, step, width, look).len();
        Some(view.list(RunPane::Steps).row_at(line, view.opened.steps.len(), lines))
    },
    can_edit: |_| true,
    go: RecordView::walk_in_list,
    open: Some(RecordView::go_into_step),
    ..PaneDef::BASE
};

/// Actions that a step is for, in a list of them.
pub(crate) const OF_STEP: &[Action] =
    &[Action::Open, Action::Rerun, Action::RerunFromHere, Action::RerunSamples, Action::Difference, Action::CopyStep];

fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let steps = &view.opened.steps;
    let mut title = vec![look.span(RunPane::Steps.word(), Role::Title)];
    title.push(look.span(format!("  {}", view.opened.procedure_name), Role::Faint));
    let rows = Rows { at: view.step(), ..view.list(RunPane::Steps).rows(steps.len()) };
    let width = width(view, area, look);
    tall_pane(title, rows, |position| lines(view, position, width, look), area, buf, look);
}

/// Returns the width to wrap the steps in, where all of them are on screen then; else each has one line.
fn width(view: &RecordView, area: Rect, look: Look<'_>) -> Option<usize> {
    let width = inner_width(area);
    let lines = |position| lines(view, position, Some(width), look).len();
    all_fit(view.opened.steps.len(), inner_height(area), lines).then_some(width)
}

/// Returns the width in which the longest of the steps stands on one line.
pub(crate) fn natural_width(view: &RecordView) -> usize {
    let steps = &view.opened.steps;
    let text = |(n, step): (usize, &StepRow)| {
        let mark = mark_of(view, n).map_or(0, |(mark, _)| mark.len());
        let mark = mark + if step.is_stale { OUT_OF_DATE.len() } else { 0 };
        mark + cut(step.text.as_str(), MAX_NATURAL).width()
    };
    let longest = steps.iter().enumerate().take(MAX_MEASURED).map(text).max();
    longest.map_or(0, |longest| longest + steps.len().to_string().len() + 3)
}

/// Lays out the lines of a step.
pub(crate) fn lines(view: &RecordView, position: usize, width: Option<usize>, look: Look<'_>) -> Vec<Spans> {
    let (opened, number) = (&view.opened, position + 1);
    let Some(step) = opened.steps.get(position) else { return Vec::new() };
    let digits = opened.steps.len().to_string().len();
    let current = view.step() == Some(position);
    let (glyph, role) = sign_of_step(opened, position, step);
    let text = match position < view.moment.0 && step.ran != Ran::No {
        _ if current => Role::Current,
        true => Role::Text,
        false => Role::Ghost,
    };
    let head = vec![look.span(glyph, role), look.span(format!(" {number:>digits$} "), Role::Faint)];
    let (mut words, mut marks) = (String::new(), Vec::new());
    let mut say = |text: &str, role| {
        let start = words.len();
        words.push_str(text);
        marks.push(MarkedRange { range: start..words.len(), tone: look.style(role) });
    };
    if step.id.as_str() != number.to_string() {
        say(&format!("id {} ", fit(step.id.as_str(), 12)), Role::Warning);
    }
    if let Some((mark, role)) = mark_of(view, position) {
        say(mark, role);
    }
    match step.ran {
        Ran::No => say("not run ", Role::Dim),
        Ran::Unknown => say("unavailable ", Role::Dim),
        _ if step.is_stale => say(OUT_OF_DATE, Role::Warning),
        _ => {}
    }
    if step.is_last && (opened.surprise.is_some() || number != opened.steps.len()) {
        say("⚐ runs as last ", Role::Warning);
    }
    words.push_str(step.text.as_str());
    hanging(head, &words, look.style(text), &marks, width)
}

/// Returns what is said of a step: that it is to be fixed, or, where that is another one, that its value is the first
/// that differs.
fn mark_of(view: &RecordView, position: usize) -> Option<(&'static str, Role)> {
    if is_to_fix(&view.opened, position) {
        return Some((STEP_TO_FIX, Role::Fatal));
    }
    let differs = view.difference_elsewhere().is_some_and(|(first, _)| first == position);
    differs.then_some((FIRST_DIFFERENCE, Role::Warning))
}

fn is_to_fix(opened: &OpenRecord, position: usize) -> bool {
    opened.where_to_fix.as_ref().is_some_and(|fix| fix.step == Some(position))
}

/// Returns the sign before a step: where to fix, what was found in it, or whether it ran and agrees with recomputing.
pub(crate) fn sign_of_step(opened: &OpenRecord, position: usize, step: &StepRow) -> (&'static str, Role) {
    match step.worst {
        _ if step.failed || is_to_fix(opened, position) => (sign::WRONG, Role::Fatal),
        // What is wrong with it as it is written still shows.
        None if step.ran == Ran::No => (sign::NOT_RUN, Role::Ghost),
        None if step.ran == Ran::Unknown => (" ", Role::Ghost),
        None if step.is_stale => (sign::NOT_RUN, Role::Warning),
        Some(severity) => (severity.glyph(), severity_role(severity)),
        None if step.is_confirmed => (sign::CORRECT, Role::Dim),
        None => (sign::RAN, Role::Dim),
    }
}

/// Explains the current step in one sentence.
pub(crate) fn explain(view: &RecordView, keymap: &Keymap) -> Shown {
    match view.step().and_then(|step| view.opened.steps.get(step)) {
        Some(step) if step.failed => shown!("{} the run ended with an error in this step", sign::WRONG),
        Some(step) if step.ran == Ran::No => shown!("{} not run: the run ended before this step", sign::NOT_RUN),
        Some(step) if step.ran == Ran::Unknown => Shown::own(UNAVAILABLE),
        Some(_) if view.opened.where_to_fix.as_ref().is_some_and(|fix| fix.step == view.step()) => {
            shown!("{} step to fix: the run went wrong here", sign::WRONG)
        }
        Some(step) => match step.worst {
            Some(severity) => {
                let key = keymap.key_of(Action::NextFinding);
                shown!("{} {} about this step; {key} walks the findings", severity.glyph(), severity.word())
            }
            None if step.is_confirmed => shown!("{} what this step wrote was recomputed, and agrees", sign::CORRECT),
            None => shown!("{} no finding about this step; nothing of it was recomputed", sign::RAN),
        },
        None => Shown::own("Before step 1 only the question is known"),
    }
}

/// Describes the current step: as it is written, or what surprises in the order of the steps.
pub(crate) fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    vec![match view.opened.surprise {
        Some(surprise) => look.span(format!("⚑ {}", surprise.meaning()), Role::Warning),
        None => look.span(view.detail.text.as_str().replace('\n', " "), Role::Dim),
    }]
}
