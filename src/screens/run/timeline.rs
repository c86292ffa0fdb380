//! Duration of every step, as a waterfall, and what it wrote against what recomputing gives: the first row that differs is
//! where the run leaves its plan.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::peers;
use crate::screens::run::state::RecordView;
use crate::screens::run::steps::{OF_STEP, explain};
use crate::screens::run::tracks::Track;
use crate::widgets::charts;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::{List, Rows};
use crate::widgets::look::{Look, Spans, pane, title_room};
use crate::widgets::prose::{fit, pad, pad_left};
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_present::peers::PeersView;
use stepscope_record::cost::duration;
use stepscope_record::finding::grouped;

/// The columns of a duration and of tokens.
const TIME: usize = 9;
const TOKENS: usize = 13;
/// Width from which on a step shows what it recorded and what recomputing gives.
const BOTH: usize = 16;
/// The waterfall has at least so many columns.
const BAR: usize = 12;

/// Says whether what was recorded is what recomputing gives; nothing where nothing was recomputed.
fn comparison(view: &RecordView, look: Look<'_>) -> Option<Span<'static>> {
    let worst = view.tracks.iter().flatten().map(|track| track.relation).max()?;
    Some(match (worst, view.divergence()) {
        (_, Some(step)) => look.span(format!("  first difference: step {}", step + 1), Role::Fatal),
        (ToRecomputed::Same, None) => {
            let (known, of) = (view.tracks.iter().flatten().count(), view.tracks.len());
            let part = if known < of { format!(" in {known} of {of} steps") } else { String::new() };
            look.span(format!("  recorded = recomputed{part}"), Role::Ok)
        }
        (_, None) => {
            let tracks = view.tracks.iter().flatten();
            let count = tracks.clone().filter(|track| track.relation != ToRecomputed::Same).count();
            look.span(format!("  not comparable: {count} of {}", tracks.count()), Role::Dim)
        }
    })
}

/// The pane of the timeline.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: OF_STEP,
    // The steps took time or tokens that are known, or some can be recomputed.
    holds: |view| view.opened.has_steps() && (view.opened.cost.is_some() || view.tracks.iter().any(Option::is_some)),
    place: PanePlace::Chart,
    lines: |view, _| view.opened.steps.len(),
    settled: Some(settled),
    draw,
    describe,
    explain,
    cursor: RecordView::step,
    row_at: |view, line, _, _| Some(view.list(RunPane::Timeline).top + line),
    can_edit: |_| true,
    go: RecordView::walk_in_list,
    open: Some(RecordView::go_into_step),
    ..PaneDef::BASE
};

/// Keeps the current step on screen; until somebody walks, the first one whose value differs.
fn settled(view: &RecordView, place: Rect, _: Look<'_>) -> List {
    let (height, at) = (inner_height(place), view.moment.0.saturating_sub(1));
    let is_at_end = view.pane != RunPane::Timeline && view.moment == view.opened.end();
    let mut list = match view.divergence().filter(|_| is_at_end) {
        Some(first) => List { at: first, top: first.saturating_sub(height / 3) },
        None => List { at, ..view.list(RunPane::Timeline) },
    };
    list.settle(view.opened.steps.len(), height);
    List { at, ..list }
}

fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = vec![look.span(RunPane::Timeline.word(), Role::Title)];
    title.extend(comparison(view, look));
    if let Some(cost) = &view.opened.cost {
        let time = if cost.time > 0.0 { format!("  {}", duration(cost.time)) } else { String::new() };
        let tokens =
            if cost.tokens > 0 { format!("  {} tokens", grouped(cost.tokens as usize)) } else { String::new() };
        // What does not fit whole is left out: the rows say it step by step.
        for part in [time, tokens] {
            let taken: usize = title.iter().map(Span::width).sum();
            if taken + part.width() <= title_room(area, look) {
                title.push(look.span(part, Role::Dim));
            }
        }
    }
    let width = inner_width(area);
    let rows = Rows { at: view.step(), ..view.list(RunPane::Timeline).rows(view.opened.steps.len()) };
    pane(title, rows, |step| line(view, step, width, look), area, buf, look);
}

fn line(view: &RecordView, step: usize, width: usize, look: Look<'_>) -> Spans {
    let digits = view.opened.steps.len().to_string().len();
    let mut spans = vec![look.span(format!("{:>digits$} ", step + 1), Role::Faint)];
    let mut room = width.saturating_sub(digits + 1);
    let cost = view.opened.cost.as_ref();
    // The bars take what the values leave.
    let longest = view.tracks.iter().flatten().map(track_width).max().unwrap_or(0);
    if view.tracks.iter().any(Option::is_some) {
        let signs = view.opened.peers.as_ref().map_or(0, PeersView::signs);
        let value = match cost {
            None if signs > 0 => room.saturating_sub(signs).min(longest),
            Some(_) => room.saturating_sub(TIME + TOKENS + BAR + 2 + signs).min(longest.max(BOTH)).max(8),
            None => room,
        };
        spans.extend(track(view, step, value, look));
        room = room.saturating_sub(value);
    }
    if let Some(peers) = &view.opened.peers {
        let columns = peers.signs();
        spans.extend(peers::signs(peers.value(step), columns.min(room), look));
        room = room.saturating_sub(columns);
    }
    let Some((all, cost)) = cost.and_then(|all| Some((all, all.steps.get(step)?))) else { return spans };
    let bar = room.saturating_sub(TIME + TOKENS);
    let took = cost.took.unwrap_or_default();
    spans.push(look.span(pad(&charts::span(cost.start, took, all.time, bar), bar), Role::Accent));
    let time = cost.took.map(|took| duration(took).into_string()).unwrap_or_default();
    spans.push(look.span(pad_left(&time, TIME), Role::Number));
    spans.push(look.span(pad_left(cost.tokens().as_str(), TOKENS), Role::Dim));
    spans
}

/// Columns in which a track stands in full.
fn track_width(track: &Track) -> usize {
    let differs = track.relation == ToRecomputed::Differs;
    let recomputed = if differs { track.recomputed.as_str().width() + 3 } else { 0 };
    track.recorded.as_str().width() + recomputed + 3
}

fn track(view: &RecordView, step: usize, width: usize, look: Look<'_>) -> Spans {
    let Some(Some(track)) = view.tracks.get(step) else { return vec![Span::raw(" ".repeat(width))] };
    let is_first = view.divergence() == Some(step);
    if track.relation != ToRecomputed::Differs {
        let glyph = if track.relation == ToRecomputed::Same { "≙" } else { " " };
        let value = pad(&format!(" {}", track.recorded), width.saturating_sub(1));
        return vec![look.span(glyph, Role::Ok), look.span(value, Role::Text)];
    }
    let role = if is_first { Role::Fatal } else { Role::Warning };
    // What was recorded takes the room that the recomputed value leaves, at least a half; where there is no room for
    // both, it is left to the state.
    let rest = width.saturating_sub(5);
    let recomputed = track.recomputed.as_str().width().min(rest / 2);
    let recorded = if width < BOTH { String::new() } else { fit(track.recorded.as_str(), rest - recomputed) + " " };
    let recomputed = fit(track.recomputed.as_str(), width.saturating_sub(4 + recorded.width()));
    let text = format!(" {recorded}≠ {recomputed}");
    let mut style = look.style(role);
    if is_first {
        style = style.add_modifier(Modifier::BOLD);
    }
    vec![Span::raw(" "), Span::styled(pad(&text, width.saturating_sub(1)), style)]
}

/// Describes the row under the cursor, in full.
fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    let Some(step) = view.step() else { return vec![look.span("Before step 1", Role::Dim)] };
    let mut spans = Vec::new();
    if let Some(Some(track)) = view.tracks.get(step) {
        let (name, recorded, recomputed) = (&track.name, &track.recorded, &track.recomputed);
        let (text, role) = match track.relation {
            ToRecomputed::Same => (shown!("{name}: {recorded}, recomputed the same  "), Role::Text),
            ToRecomputed::NotComparable => {
                (shown!("{name}: recorded {recorded}, which is no number; recomputed {recomputed}  "), Role::Text)
            }
            ToRecomputed::Differs => (shown!("{name}: recorded {recorded}, recomputed {recomputed}  "), Role::Warning),
        };
        spans.push(look.span(text.into_string(), role));
    }
    if let Some(cost) = view.opened.cost.as_ref().and_then(|cost| cost.steps.get(step)) {
        let took = cost.took.map_or(Shown::own("time unknown"), duration);
        spans.push(look.span(format!("{took}  tokens {}", cost.tokens()), Role::Dim));
    }
    spans
}
