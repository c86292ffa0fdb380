//! Which records are listed, and clicks on them.

use ratatui::layout::{Position, Rect};

use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::screens::cell_records::state::CellRecords;
use crate::screens::kind::ScreenKind;
use crate::screens::{compare, dashboard, insights};
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, parts, with_third};
use stepscope_core::table::filter::{Filter, RowAnswer};

/// Number of rows that are looked at for one key: a key stays quick in a table of any length.
const MOST: usize = 10_000;

/// Finds the records of the cell under the cursor; asks for the texts that are missing.
pub(crate) fn renew(app: &mut App) -> Option<Effect> {
    let height = inner_height(column(app)?);
    let found = filter(app).map(|filter| records(app, &filter, height)).unwrap_or_default();
    app.cell_records = found;
    let missing = app.cell_records.records.iter().filter(|record| app.table.texts(**record).is_none());
    let missing: Vec<_> = missing.filter_map(|record| Some((*record, app.store.reading(*record)?))).collect();
    (!missing.is_empty()).then(|| Effect::RowTexts(app.table.moves(), missing))
}

/// Returns the third column of a screen whose numbers count records.
fn column(app: &App) -> Option<Rect> {
    let counts = matches!(app.screens.top(), ScreenKind::Compare | ScreenKind::Dashboard | ScreenKind::Insights);
    let (_, third) = with_third(parts(app.area()).body);
    (counts && third.width > 0).then_some(third)
}

/// Returns the filter of the cell under the cursor.
fn filter(app: &App) -> Option<Filter> {
    let typed = match app.screens.top() {
        ScreenKind::Compare => compare::draw::filter(app).ok(),
        ScreenKind::Dashboard => dashboard::draw::filter(app),
        ScreenKind::Insights => insights::draw::filter(app),
        _ => None,
    }?;
    Filter::parse(&typed, app.side.types()).ok()
}

fn records(app: &App, filter: &Filter, height: usize) -> CellRecords {
    let App { store, across, review, .. } = app;
    let asks = filter.needs_reviews();
    let mut found = CellRecords::default();
    for record in 0..store.len() {
        if record == MOST || found.records.len() > height {
            found.is_cut = true;
            break;
        }
        let Some(row) = store.row(record) else { continue };
        let fits = filter.fits_in(row, |set| across.holds(set, store.address(record))) == RowAnswer::Yes;
        if fits && (!asks || filter.fits_judged(&review.judged(record))) {
            found.records.push(record);
        }
    }
    found
}

/// Lists the records of the cell in the table, with the cursor on the one that was clicked; `None`: the click was
/// elsewhere.
pub(crate) fn click(app: &mut App, at: Position) -> Option<Effects> {
    let third = column(app).filter(|third| third.contains(at))?;
    let row = usize::from(at.y.saturating_sub(third.y + 1));
    let Some(record) = app.cell_records.records.get(row).copied() else { return Some(Vec::new()) };
    let effects = app.act(Action::Open);
    if app.screens.top() == ScreenKind::Table {
        app.table.list.at = app.table.row_of(record);
    }
    Some(effects)
}
