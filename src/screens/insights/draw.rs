//! The charts, one below the other.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::records::percent;
use crate::app::state::App;
use crate::screens::insights::state::{InsightCursor, line_at};
use crate::widgets::layout::{inner_line, parts, with_third_pane};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Spans, pane};
use crate::widgets::prose::{pad, pad_left, whole_parts};
use crate::widgets::theme::Role;
use crate::widgets::{charts, layout};
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::store::Store;
use stepscope_record::finding::counted;
use stepscope_report::insight_lines;
use stepscope_report::insight_lines::InsightLine;
use stepscope_report::insight_lines::part_of;
use stepscope_table::insights::RowOutcome;

/// The width of names at least and at most, and of a figure.
const NAME: usize = 28;
const LONG_NAME: usize = 44;
/// Width from which on names take what they need.
const WIDE: usize = 100;
const FIGURE: usize = 7;
/// The width of a cell of a heat map, at least and at most.
const NARROW: usize = 5;
const CELL: usize = 8;
/// Bars are no longer, however wide the screen is.
const LONGEST: usize = 80;

/// Collects the lines of all charts.
pub(crate) fn lines(side: &SideData, store: &Store) -> Vec<InsightLine> {
    insight_lines::lines(store.totals().insights(), side.models())
}

pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let lines = lines(&app.side, &app.store);
    let mut title = vec![look.span("Insights", Role::Title)];
    let records = app.store.totals().insights().records();
    let of_all = if app.table.filter.is_empty() { "" } else { "; the filter does not apply here" };
    title.push(look.span(format!("  {}{of_all}", counted(records, "record")), Role::Dim));
    if let Some(percent) = percent(&app.store) {
        title.push(look.span(format!("  checking {percent} %"), Role::Accent));
    }
    let cursor = app.kept.insights;
    let at = line_at(&lines, cursor.list.at);
    let rows = Rows { top: cursor.list.top, len: lines.len(), at };
    let width = layout::inner_width(area);
    let columns = (name_width(&lines, width), width);
    let line = |n: usize| {
        let chosen = (at == Some(n)).then_some(cursor.cell);
        lines.get(n).map(|line| spans(line, chosen, columns, look)).unwrap_or_default()
    };
    let inner = pane(title, rows, line, area, buf, look);
    let chart = columns.0 + 2 * FIGURE + 2;
    if let Some(row) = at.and_then(|at| at.checked_sub(rows.top)).filter(|row| *row < usize::from(inner.height)) {
        let place = Rect { x: inner.x + chart as u16, y: inner.y + row as u16, width: inner.width, height: 1 };
        // Where the selection is shown in reverse, a bar in reverse would be the rest of its scale; on a strong
        // ground, a hole in it.
        let role = match at.and_then(|at| lines.get(at)) {
            Some(InsightLine::Bar { filter, .. }) => bar_role(filter),
            _ => Role::Accent,
        };
        let bar = if look.selection().fg.is_some() {
            let ground = look.style(Role::Screen).bg.or(Style::reset().bg);
            Style { bg: ground, ..look.style(role) }.remove_modifier(Modifier::BOLD)
        } else {
            Style::new()
        };
        // The selection goes one column further than the lines.
        let marked = Rect { width: inner.width + 1, ..inner };
        buf.set_style(place.intersection(marked), bar.remove_modifier(Modifier::REVERSED));
    }
}

/// Returns the width of the names, with the blanks around them.
fn name_width(lines: &[InsightLine], width: usize) -> usize {
    let longest = lines.iter().map(|line| line.name().width() + 3).max().unwrap_or(0);
    if width < WIDE { NAME } else { longest.clamp(NAME, LONG_NAME) }
}

/// Returns the colour of a bar: an outcome has its own, as in the table.
fn bar_role(filter: &str) -> Role {
    match RowOutcome::ALL.into_iter().find(|outcome| filter.ends_with(outcome.phrase())) {
        Some(RowOutcome::Correct) => Role::Ok,
        Some(RowOutcome::Wrong) => Role::Fatal,
        Some(RowOutcome::Failed) => Role::Repairable,
        Some(RowOutcome::Ungraded) => Role::Dim,
        None => Role::Accent,
    }
}

/// All cells of a heat map are on screen.
fn cell_width(cells: usize, width: usize) -> usize {
    (width / cells.max(1)).clamp(NARROW, CELL)
}

/// `columns`: the width of the names, and of all.
fn spans(line: &InsightLine, chosen: Option<usize>, (name_width, width): (usize, usize), look: Look<'_>) -> Spans {
    let name_span = |name: &str| look.span(pad(&format!("  {name}"), name_width), Role::Text);
    let rest = width.saturating_sub(name_width);
    let room = rest.saturating_sub(2 * FIGURE + 2).clamp(4, LONGEST);
    match line {
        InsightLine::Blank => Vec::new(),
        InsightLine::Title(title, said) => {
            vec![
                look.span(format!("{title:name_width$}"), Role::Title),
                look.span(format!("  {}", whole_parts(said, rest.saturating_sub(2))), Role::Dim),
            ]
        }
        InsightLine::Heads(heads) => {
            let cell = cell_width(heads.len(), rest);
            let heads = heads.iter().map(|head| look.span(pad_left(head, cell), Role::Faint));
            std::iter::once(look.span(pad("  step", name_width), Role::Faint)).chain(heads).collect()
        }
        InsightLine::Bar { name, count, whole, filter } => vec![
            name_span(name),
            look.span(pad_left(&count.to_string(), FIGURE), Role::Number),
            look.span(pad_left(&charts::share(*count, *whole), FIGURE), Role::Dim),
            look.span(format!("  {}", charts::bar(*count, *whole, room)), bar_role(filter)),
        ],
        InsightLine::Heat { name, cells, most } => {
            let cell_width = cell_width(cells.len(), rest);
            let gap = if cell_width < CELL { "" } else { " " };
            let cell = |(n, (count, _)): (usize, &(usize, String))| {
                // A dot keeps the place of a cell; figures are where there is something to open.
                let text = if *count == 0 {
                    "·".to_owned()
                } else {
                    let count_width = cell_width.saturating_sub(1 + 2 * gap.len());
                    format!("{}{gap}{}", charts::shade(*count, *most), charts::short(*count, count_width))
                };
                let style = look.style(if *count == 0 { Role::Faint } else { Role::Number });
                let style = if chosen == Some(n) { style.patch(look.style(Role::CitedCurrent)) } else { style };
                Span::styled(pad_left(&text, cell_width), style)
            };
            std::iter::once(name_span(name)).chain(cells.iter().enumerate().map(cell)).collect()
        }
        InsightLine::Mean { name, mean, count, scale, .. } => {
            let at = part_of(*mean, *scale);
            vec![
                name_span(name),
                look.span(pad_left(&count.to_string(), FIGURE), Role::Dim),
                look.span(pad_left(&format!("{mean:.2}"), FIGURE), Role::Number),
                look.span(format!("  {}", charts::dumbbell(at, at, room.min(41))), Role::Accent),
            ]
        }
        InsightLine::Bin { name, confidence, correct, graded, scores, .. } => {
            let accuracy = *correct as f64 / (*graded).max(1) as f64;
            vec![
                name_span(name),
                look.span(pad_left(&format!("{correct}/{graded}"), FIGURE), Role::Number),
                look.span(pad_left(&charts::share(*correct, *graded), FIGURE), Role::Dim),
                look.span(format!("  {}", charts::dumbbell(accuracy, *confidence, room.min(41))), Role::Accent),
                look.span(format!("  {:+.0}", (accuracy - confidence) * 100.0), Role::Dim),
                look.span(scores.map(|scores| format!("  {}", scores.phrase())).unwrap_or_default(), Role::Dim),
            ]
        }
    }
}

/// Finds the line with cells at a place of the screen, by its number among such lines, and the cell.
pub(crate) fn place_of(
    area: Rect,
    lines: &[InsightLine],
    cursor: InsightCursor,
    at: Position,
) -> Option<(usize, usize)> {
    let (area, _) = with_third_pane(parts(area).body);
    let row = inner_line(area, at.y)?;
    let line = cursor.list.top + row;
    let n = (0..lines.len()).find(|n| line_at(lines, *n) == Some(line))?;
    let width = layout::inner_width(area);
    let name_width = name_width(lines, width);
    let column = usize::from(at.x).saturating_sub(usize::from(area.x) + 2 + name_width);
    let cells = lines.get(line).map_or(0, |line| line.filters().len());
    Some((n, column / cell_width(cells, width.saturating_sub(name_width))))
}

/// Returns the filter of the cell under the cursor: the records that its number counts, without forks.
pub(crate) fn filter(side: &SideData, store: &Store, cursor: InsightCursor) -> Option<String> {
    let filter = cursor.filter(&lines(side, store))?;
    let totals = store.totals();
    let has_forks = !totals.counts_forks()
        && (totals.has_forks() || store.sources().iter().any(|source| source.is_forks() && !source.is_empty()));
    Some(if has_forks { format!("{filter} fork:false") } else { filter })
}

/// Describes what opening would do.
pub(crate) fn describe(side: &SideData, store: &Store, cursor: InsightCursor, look: Look<'_>) -> Spans {
    match filter(side, store, cursor) {
        Some(filter) => vec![look.keyed("<open>: filter ", Role::Faint), look.span(filter, Role::Accent)],
        None if store.is_empty() => vec![look.span("No records", Role::Dim)],
        None => vec![look.span("No records are checked yet", Role::Dim)],
    }
}
