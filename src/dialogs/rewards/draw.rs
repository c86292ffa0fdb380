//! The ladder of a chain of verifiers: each stage, what it gave and where it stopped.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::{Clear, Widget};

use crate::dialogs::rewards::{Rewards, StageRow};
use crate::widgets::layout::{inner_width, window};
use crate::widgets::look::{Look, Piece, frame, put, scroll_mark};
use crate::widgets::prose::{pad, wrap_up_to};
use crate::widgets::theme::Role;

/// The details of one stage take at most so many lines.
const MAX_DETAIL_LINES: usize = 6;
/// Longer names are cut.
const MAX_NAME: usize = 24;

/// Where the window is: as high as the ladder, at most the screen.
pub(crate) fn place(rewards: &Rewards, area: Rect) -> Rect {
    let width = area.width.saturating_sub(4).clamp(20.min(area.width), 100);
    let lines = content(rewards, usize::from(width.saturating_sub(4))).len();
    let lines = u16::try_from(lines).unwrap_or(u16::MAX);
    window(area, width, lines.saturating_add(2).clamp(3, area.height.saturating_sub(2).max(3)))
}

/// How many lines the ladder has in its window.
pub(crate) fn lines(rewards: &Rewards, area: Rect) -> usize {
    content(rewards, inner_width(place(rewards, area))).len()
}

/// Draws the ladder from a line on.
pub(crate) fn draw(rewards: &Rewards, top: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(rewards, area);
    Clear.render(place, buf);
    let inner = frame(title(rewards, look), place, buf, look);
    let content = content(rewards, inner_width(place));
    for (row, line) in content.iter().skip(top).take(usize::from(inner.height)).enumerate() {
        let spans: Vec<Span<'static>> = line.iter().map(|(text, role)| look.span(text.as_str(), *role)).collect();
        put(spans, row, inner, buf);
    }
    scroll_mark(place, top, content.len(), buf, look);
}

fn title(rewards: &Rewards, look: Look<'_>) -> Vec<Span<'static>> {
    let (text, role) = match rewards.reward {
        None => ("not scored".to_owned(), Role::Warning),
        Some(reward) if rewards.success => (format!("✓ {}", number(reward)), Role::Ok),
        Some(reward) => (format!("✗ {}", number(reward)), Role::Fatal),
    };
    let mut title = vec![look.span("Reward ", Role::Title), look.span(text, role)];
    if let Some(recorded) = rewards.recorded {
        let role = if rewards.differs() { Role::Warning } else { Role::Dim };
        let sign = match rewards.reward {
            None => "·",
            Some(_) if rewards.differs() => "≠",
            Some(_) => "=",
        };
        title.push(look.span(format!("  {sign} recorded {}", number(recorded)), role));
    }
    title.push(look.span("  Esc closes", Role::Faint));
    title
}

fn content(rewards: &Rewards, width: usize) -> Vec<Vec<Piece>> {
    let mut lines = Vec::new();
    if let Some(why) = &rewards.why {
        lines.extend(text(why.as_str(), width, 0, Role::Warning));
    }
    let name_width = rewards.stages.iter().map(|stage| stage.name.as_str().chars().count()).max().unwrap_or(0);
    for (n, stage) in rewards.stages.iter().enumerate() {
        lines.push(rung(n, stage, name_width.min(MAX_NAME)));
        if let Some(said) = &stage.said {
            lines.extend(text(said.details.as_str(), width, 4, Role::Dim));
        }
    }
    lines
}

fn rung(n: usize, stage: &StageRow, name_width: usize) -> Vec<Piece> {
    let name = format!("{} {}  ", n + 1, pad(stage.name.as_str(), name_width));
    let weight = number(stage.weight);
    let Some(said) = &stage.said else {
        return vec![("· ".to_owned(), Role::Faint), (name, Role::Faint), ("not reached".to_owned(), Role::Faint)];
    };
    let sum = format!("{} × {weight} = {}", number(said.reward), number(stage.adds));
    if said.success {
        return vec![("✓ ".to_owned(), Role::Ok), (name, Role::Text), (sum, Role::Number)];
    }
    let alone = if said.reward > 0.0 { format!(" (alone {})", number(said.reward)) } else { String::new() };
    vec![
        ("✗ ".to_owned(), Role::Fatal),
        (name, Role::Text),
        ("stopped here".to_owned(), Role::Fatal),
        (alone, Role::Dim),
    ]
}

fn text(text: &str, width: usize, indent: usize, role: Role) -> Vec<Vec<Piece>> {
    let room = width.saturating_sub(indent).max(1);
    let lines = wrap_up_to(text, room, MAX_DETAIL_LINES).into_iter().take(MAX_DETAIL_LINES);
    let line = |line: std::ops::Range<usize>| text.get(line).unwrap_or_default().to_owned();
    lines.map(|range| vec![(" ".repeat(indent), role), (line(range), role)]).collect()
}

/// As many decimals as it takes, at most four.
fn number(number: f64) -> String {
    let text = format!("{number:.4}");
    let short = text.trim_end_matches('0');
    let decimals = short.len() - short.find('.').map_or(0, |dot| dot + 1);
    if decimals < 2 { format!("{number:.2}") } else { short.to_owned() }
}
