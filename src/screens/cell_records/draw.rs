//! Draws the list of the records that a number counts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::app::fork_tree::ForkTree;
use crate::app::review::Review;
use crate::app::state::App;
use crate::screens::cell_records::state::CellRecords;
use crate::screens::table::draw::{findings, outcome, title};
use crate::screens::table::state::Table;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Spans, pane};
use crate::widgets::prose::{fit, pad_left};
use crate::widgets::theme::Role;
use stepscope_io::pipeline::store::Store;
use stepscope_record::finding::counted;

/// Columns of the findings.
const FINDINGS: usize = 9;

pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    if area.width == 0 {
        return;
    }
    let look = Look { focused: false, ..look };
    let (width, height) = (inner_width(area), inner_height(area));
    let CellRecords { filter, records, next, .. } = &app.cell_records;
    let mut heading = vec![look.span("Matching records", Role::Title)];
    heading.extend(filter.as_ref().map(|_| match records.len() {
        found if found > height => look.span(format!("  first {}", counted(height, "record")), Role::Dim),
        found if *next < app.store.len() => look.span(format!("  searching…  {found} found"), Role::Accent),
        found => look.span(format!("  {}", counted(found, "record")), Role::Dim),
    }));
    let rows = Rows { top: 0, len: records.len().min(height), at: None };
    let App { store, table, forks, review, .. } = app;
    let line = |record: &usize| line(store, table, &forks.tree, review, (*record, width), look);
    let line = |n: usize| records.get(n).map(line).unwrap_or_default();
    pane(heading, rows, line, area, buf, look);
}

/// Lays out the number, outcome, findings and question of a record.
fn line(
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    review: &Review,
    (record, width): (usize, usize),
    look: Look<'_>,
) -> Spans {
    let Some(row) = review.shown_row(store, record) else { return Vec::new() };
    let number = pad_left(&(record + 1).to_string(), store.len().to_string().len());
    let (sign, role) = outcome(&row);
    let mut spans = vec![look.span(number, Role::Dim), look.span(format!(" {sign} "), role)];
    spans.extend(findings(&row, !review.hidden_of(record).is_empty(), FINDINGS, look));
    let taken: usize = spans.iter().map(|span| span.content.width()).sum();
    let (text, role) = title(store, table, forks, record);
    spans.push(look.span(format!(" {}", fit(&text, width.saturating_sub(taken + 1))), role));
    spans
}
