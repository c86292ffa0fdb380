//! Looks up the listed records, and takes clicks on them.

use std::time::Instant;

use ratatui::layout::{Position, Rect};

use crate::app::across;
use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::screens::cell_records::state::CellRecords;
use crate::screens::kind::ScreenKind;
use crate::screens::table::search::Known;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, inner_line, parts};
use stepscope_base::text::Shown;
use stepscope_record::types::TypeRegistry;
use stepscope_table::filter::Filter;
use stepscope_table::filter::RowAnswer;

/// Number of records that are looked at for one key: a key stays quick in a table of any length.
const MOST: usize = 4_000;

/// Looks for the records of the cell under the cursor; asks for the texts that are missing.
pub(crate) fn renew(app: &mut App, now: Instant) -> Option<Effect> {
    app.cell_records.go_on_at = None;
    let height = inner_height(column(app)?);
    let filter = (app.screens.top().def().filter)(app);
    if app.cell_records.filter != filter {
        app.cell_records = CellRecords { filter, ..CellRecords::default() };
    }
    let App { store, across, review, side, cell_records, .. } = app;
    let known = Known { store, across, review, models: side.models() };
    if look_further(cell_records, &known, side.types(), height).is_some() && app.store.is_settled() {
        app.cell_records.go_on_at = Some(now);
    }
    let shown = app.cell_records.records.iter().take(height).copied();
    let missing: Vec<usize> = shown.filter(|record| app.table.texts(*record).is_none()).collect();
    if app.table.has_asked(&missing) {
        return None;
    }
    let missing = app.table.ask_row_texts(missing, &app.store);
    let values = app.table.columns().values();
    (!missing.is_empty()).then(|| Effect::RowTexts(app.table.moves(), missing, values))
}

/// Looks at the next records; `None`: enough were found, or there are no more.
fn look_further(cell: &mut CellRecords, known: &Known<'_>, types: &TypeRegistry, height: usize) -> Option<()> {
    let all = known.store.len();
    let is_wanted = |cell: &CellRecords| cell.next < all && cell.records.len() <= height;
    let typed = cell.filter.as_ref().filter(|_| is_wanted(cell))?;
    let filter = Filter::parse(typed, types).ok()?;
    let end = all.min(cell.next + MOST);
    while is_wanted(cell) && cell.next < end {
        let record = cell.next;
        cell.next += 1;
        if known.answer(&filter, record) == RowAnswer::Yes {
            cell.records.push(record);
        }
    }
    is_wanted(cell).then_some(())
}

/// Opens the records behind the number under the cursor.
pub(crate) fn open(app: &mut App) -> Effects {
    match (app.screens.top().def().filter)(app) {
        Some(filter) => across::keys::show_filtered(app, &filter),
        None => app.status.say(Shown::own("No records")),
    }
}

/// Returns the pane of the records of a screen whose numbers count some.
fn column(app: &App) -> Option<Rect> {
    let (_, third) = (app.screens.top().def().split)(app, parts(app.area()).body);
    (third.width > 0).then_some(third)
}

/// Lists the records of the cell in the table, with the cursor on the one that was clicked; `None`: the click was
/// elsewhere.
pub(crate) fn click(app: &mut App, at: Position) -> Option<Effects> {
    let third = column(app).filter(|third| third.contains(at))?;
    let row = inner_line(third, at.y);
    let Some(record) = row.and_then(|row| app.cell_records.records.get(row).copied()) else { return Some(Vec::new()) };
    let effects = app.act(Action::Open);
    if app.screens.top() == ScreenKind::Table {
        app.table.list.at = app.table.row_of(record);
    }
    Some(effects)
}
