//! The charts, one below the other.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

use crate::app::state::App;
use crate::screens::insights::state::line_at;
use crate::widgets::layout::{inner_height, inner_line, parts, with_third};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, pane};
use crate::widgets::prose::{counted, pad, pad_left};
use crate::widgets::theme::Role;
use crate::widgets::{charts, layout};
use stepscope_core::report::insight_lines::{InsightLine, lines};

/// The width of names, of a figure.
const NAME: usize = 28;
const FIGURE: usize = 7;
/// The width of a cell of a heat map, at least and at most.
const NARROW: usize = 5;
const CELL: usize = 8;
/// Bars are no longer, however wide the screen is.
const LONGEST: usize = 80;

/// Counts the lines on screen.
pub(crate) fn height(app: &App) -> usize {
    inner_height(parts(app.area()).body)
}

pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let lines = lines(&app.store.totals().insights);
    let mut title = vec![look.span("Insights", Role::Title)];
    title.push(look.span(format!("  {}", counted(app.store.totals().checked, "record")), Role::Dim));
    if let Some(percent) = app.percent() {
        title.push(look.span(format!("  checking {percent} %"), Role::Accent));
    }
    let cursor = app.insights;
    let at = line_at(&lines, cursor.list.at);
    let rows = Rows { top: cursor.list.top, len: lines.len(), at };
    let width = layout::inner_width(area);
    let line = |n: usize| {
        let chosen = (at == Some(n)).then_some(cursor.cell);
        lines.get(n).map(|line| spans(line, chosen, width, look)).unwrap_or_default()
    };
    pane(title, rows, line, area, buf, look);
}

/// All cells of a heat map are on screen.
fn cell_width(cells: usize, width: usize) -> usize {
    (width.saturating_sub(NAME) / cells.max(1)).clamp(NARROW, CELL)
}

fn spans(line: &InsightLine, chosen: Option<usize>, width: usize, look: Look<'_>) -> Vec<Span<'static>> {
    let room = width.saturating_sub(NAME + 2 * FIGURE + 2).clamp(4, LONGEST);
    match line {
        InsightLine::Blank => Vec::new(),
        InsightLine::Title(title, said) => {
            vec![look.span(format!("{title:NAME$}"), Role::Title), look.span(format!("  {said}"), Role::Dim)]
        }
        InsightLine::Heads(heads) => {
            let cell = cell_width(heads.len(), width);
            let heads = heads.iter().map(|head| look.span(pad_left(head, cell), Role::Faint));
            std::iter::once(look.span(pad("  steps", NAME), Role::Faint)).chain(heads).collect()
        }
        InsightLine::Bar { name, count, whole, .. } => vec![
            look.span(pad(&format!("  {name}"), NAME), Role::Text),
            look.span(pad_left(&count.to_string(), FIGURE), Role::Number),
            look.span(pad_left(&charts::share(*count, *whole), FIGURE), Role::Dim),
            look.span(format!("  {}", charts::bar(*count, *whole, room)), Role::Accent),
        ],
        InsightLine::Heat { name, cells, most } => {
            let cell_width = cell_width(cells.len(), width);
            let gap = if cell_width < CELL { "" } else { " " };
            let cell = |(n, (count, _)): (usize, &(usize, String))| {
                let text =
                    if *count == 0 { "·".to_owned() } else { format!("{}{gap}{count}", charts::shade(*count, *most)) };
                let style = look.style(if *count == 0 { Role::Faint } else { Role::Number });
                let style = if chosen == Some(n) { style.patch(look.style(Role::CitedCurrent)) } else { style };
                Span::styled(pad_left(&text, cell_width), style)
            };
            let name = look.span(pad(&format!("  {name}"), NAME), Role::Text);
            std::iter::once(name).chain(cells.iter().enumerate().map(cell)).collect()
        }
        InsightLine::Bin { name, confidence, correct, graded, note, .. } => {
            let accuracy = *correct as f64 / (*graded).max(1) as f64;
            vec![
                look.span(pad(&format!("  {name}"), NAME), Role::Text),
                look.span(pad_left(&format!("{correct}/{graded}"), FIGURE), Role::Number),
                look.span(pad_left(&charts::share(*correct, *graded), FIGURE), Role::Dim),
                look.span(format!("  {}", charts::dumbbell(accuracy, *confidence, room.min(41))), Role::Accent),
                look.span(format!("  {:+.0}  {note}", (accuracy - confidence) * 100.0), Role::Dim),
            ]
        }
    }
}

/// Finds the line with cells at a place of the screen, by its number among such lines, and the cell.
pub(crate) fn place_of(app: &App, at: Position) -> Option<(usize, usize)> {
    let (area, _) = with_third(parts(app.area()).body);
    let row = inner_line(area, at.y)?;
    let lines = lines(&app.store.totals().insights);
    let line = app.insights.list.top + row;
    let n = (0..lines.len()).find(|n| line_at(&lines, *n) == Some(line))?;
    let column = usize::from(at.x).saturating_sub(usize::from(area.x) + 2 + NAME);
    let cells = lines.get(line).map_or(0, |line| line.filters().len());
    Some((n, column / cell_width(cells, layout::inner_width(area))))
}

/// Returns the filter of the cell under the cursor.
pub(crate) fn filter(app: &App) -> Option<String> {
    app.insights.filter(&lines(&app.store.totals().insights))
}

/// Describes what Enter would do.
pub(crate) fn describe(app: &App, look: Look<'_>) -> Vec<Span<'static>> {
    match filter(app) {
        Some(filter) => vec![look.span("Enter: filter ", Role::Faint), look.span(filter, Role::Accent)],
        None => vec![look.span("No records are checked yet", Role::Dim)],
    }
}
