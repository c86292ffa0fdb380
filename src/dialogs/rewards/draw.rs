//! The reward by verifier stage: each, what it gave and where it stopped.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::dialogs::rewards::{Rewards, StageRow};
use crate::widgets::look::{Look, Piece, Spans};
use crate::widgets::prose::{pad, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around, width};

const WIDTH: u16 = 100;
/// Largest number of lines for the details of one stage.
const MAX_DETAIL_LINES: usize = 6;
/// Length above which names are cut.
const MAX_NAME: usize = 24;

pub(crate) fn window<'a>(rewards: &'a Rewards, area: Rect, look: Look<'a>) -> Window<'a> {
    let lines = content(rewards, usize::from(width(area, WIDTH).saturating_sub(4)));
    Window::new(around(lines.len(), area, WIDTH), title(rewards, look), lines.len(), move |n| {
        look.spans(lines.get(n).map(Vec::as_slice).unwrap_or_default())
    })
}

fn title(rewards: &Rewards, look: Look<'_>) -> Spans {
    let (text, role) = match rewards.reward {
        None => ("not scored".to_owned(), Role::Warning),
        Some(reward) if rewards.success => (format!("{} passed", number(reward)), Role::Ok),
        Some(reward) => (format!("{} failed", number(reward)), Role::Fatal),
    };
    let mut title = vec![look.span("Reward ", Role::Title), look.span(text, role)];
    if let Some(recorded) = rewards.recorded {
        let role = if rewards.differs() { Role::Warning } else { Role::Dim };
        let sign = match rewards.reward {
            None => sign::NOT_RUN,
            Some(_) if rewards.differs() => "≠",
            Some(_) => "=",
        };
        title.push(look.span(format!("  {sign} recorded {}", number(recorded)), role));
    }
    title.push(look.keyed("  <escape> closes", Role::Faint));
    title
}

fn content(rewards: &Rewards, width: usize) -> Vec<Vec<Piece>> {
    let mut lines = Vec::new();
    if let Some(why) = &rewards.why {
        lines.extend(text(why.as_str(), width, 0, Role::Warning));
    }
    let name_width = rewards.stages.iter().map(|stage| stage.name.as_str().width()).max().unwrap_or(0);
    for (n, stage) in rewards.stages.iter().enumerate() {
        lines.push(stage_line(n, stage, name_width.min(MAX_NAME)));
        if let Some(result) = &stage.result {
            lines.extend(text(result.details.as_str(), width, 4, Role::Dim));
        }
    }
    lines
}

fn stage_line(n: usize, stage: &StageRow, name_width: usize) -> Vec<Piece> {
    let name = format!("{} {}  ", n + 1, pad(stage.name.as_str(), name_width));
    let weight = number(stage.weight);
    let Some(result) = &stage.result else {
        return vec![
            (format!("{} ", sign::NOT_RUN), Role::Faint),
            (name, Role::Faint),
            ("not reached".to_owned(), Role::Faint),
        ];
    };
    let sum = format!("{} × {weight} = {}", number(result.reward), number(stage.adds));
    if result.success {
        return vec![("+ ".to_owned(), Role::Ok), (name, Role::Text), (sum, Role::Number)];
    }
    let alone = if result.reward > 0.0 { format!(" (alone {})", number(result.reward)) } else { String::new() };
    vec![
        ("- ".to_owned(), Role::Fatal),
        (name, Role::Text),
        ("stopped here".to_owned(), Role::Fatal),
        (alone, Role::Dim),
    ]
}

fn text(text: &str, width: usize, indent: usize, role: Role) -> Vec<Vec<Piece>> {
    let lines = wrapped(text, width.saturating_sub(indent).max(1), MAX_DETAIL_LINES);
    lines.map(|line| vec![(" ".repeat(indent), role), (line.to_owned(), role)]).collect()
}

/// Writes a number with as many decimals as it takes, at most four.
fn number(number: f64) -> String {
    let text = format!("{number:.4}");
    let short = text.trim_end_matches('0');
    let decimals = short.len() - short.find('.').map_or(0, |dot| dot + 1);
    if decimals < 2 { format!("{number:.2}") } else { short.to_owned() }
}
