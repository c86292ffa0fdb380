//! The keys and clicks of the table.

use crate::screens::table::state::Table;
use ratatui::layout::{Position, Rect};
use stepscope_io::pipeline::store::Store;

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::dialogs::dialog::PromptPurpose;
use crate::screens::insights;
use crate::screens::kind::ScreenKind;
use crate::screens::side_by_side::keys::put_beside_parent;
use crate::screens::table::column::ChosenColumns;
use crate::screens::table::draw::{sort_at, sorts};
use crate::screens::table::state::{SortBy, SortColumn};
use crate::widgets::keymap::{Action, NO_RECORD, OPEN_RECORD, Reason, need};
use crate::widgets::layout::table_height;
use crate::widgets::list::Move;
use crate::widgets::panes::turn;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Checks an action that the screen knows; `None`: another one.
pub(crate) fn allowed(app: &App, action: Action) -> Option<Result<(), Reason>> {
    use Action as A;
    Some(match action {
        A::Open | A::Json | A::CopyRecord | A::CopyQuestion => need(app.record().is_some(), NO_RECORD),
        A::Difference => {
            need(app.record().is_some(), NO_RECORD).and_then(|()| need(app.parent_of_current().is_some(), "not a fork"))
        }
        A::CopyValue | A::CopyPath => Err(OPEN_RECORD),
        A::Find | A::Frequency | A::Filter | A::SortNext | A::SortPrevious | A::SortReverse | A::Columns => {
            need(!app.has_no_records(), "no records")
        }
        _ => return None,
    })
}

pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Open => return Some(request(app, ScreenKind::Run)),
        Action::Json => return Some(request(app, ScreenKind::Json)),
        Action::Filter => {
            let text = app.table.filter_text.clone();
            let text = if text.is_empty() { text } else { text + " " };
            app.open_prompt(PromptPurpose::Filter, text);
        }
        Action::Columns => {
            let text = app.table.columns.text();
            app.open_prompt(PromptPurpose::Columns, text);
        }
        Action::Difference => return put_beside_parent(app),
        Action::Frequency => insights::keys::open_chart(app),
        Action::SortNext => sort_by(app, 1),
        Action::SortPrevious => sort_by(app, -1),
        Action::SortReverse => {
            app.table.descending = !app.table.descending;
            app.arrange();
            say_order(app);
        }
        // The record must be read first; the table keeps only its head.
        Action::CopyQuestion | Action::CopyRecord => {
            let record = app.record()?;
            let work = app.read_record(record)?;
            app.copying = Some((record, action));
            return Some(vec![work]);
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Shows these columns in place of the usual ones; no names: the usual ones. Returns what to say of it.
pub(crate) fn choose_columns(table: &mut Table, typed: &str) -> Result<Shown, Shown> {
    table.columns = ChosenColumns::parse(typed)?;
    let text = table.columns.text();
    let names = if text.is_empty() { "the usual ones".to_owned() } else { text };
    Ok(shown!("Columns: {names} · [table] columns in config.toml keeps them"))
}

fn request(app: &mut App, screen: ScreenKind) -> Effects {
    app.record().map_or_else(Vec::new, |record| app.request(record, screen))
}

pub(crate) fn go(area: Rect, store: &Store, table: &mut Table, movement: Move) {
    let (rows, height) = (table.len(store.len()), table_height(area));
    table.list.go(movement, rows, height);
}

/// Keeps the cursor on screen.
pub(crate) fn settle(area: Rect, store: &Store, table: &mut Table) {
    go(area, store, table, Move::By(0));
}

/// Brings the cursor where the mouse is; where it is already, opens. On the heading, sorts.
pub(crate) fn click(app: &mut App, at: Position, body: Rect) -> Effects {
    if at.y == body.y {
        if let Some(sort) = sort_at(app, body, at.x) {
            app.table.descending = sort == app.table.sort && !app.table.descending;
            app.table.sort = sort;
            app.arrange();
            say_order(app);
        }
        return Vec::new();
    }
    let row = app.table.list.top + usize::from(at.y - body.y - 1);
    if row >= app.rows() {
        return Vec::new();
    }
    if row == app.table.list.at {
        return app.act(Action::Open);
    }
    app.table.list.at = row;
    Vec::new()
}

fn sort_by(app: &mut App, by: isize) {
    // What is beside the sorted column on screen; a column that is not on screen stands at the beginning.
    let columns = sorts(app);
    app.table.sort = if columns.is_empty() { SortBy::default() } else { turn(&columns, app.table.sort, by) };
    // What one looks for comes first: the gravest, the longest, the least sure.
    app.table.descending = matches!(app.table.sort, SortBy::Findings | SortBy::Number(SortColumn::Steps));
    app.arrange();
    say_order(app);
}

fn say_order(app: &mut App) {
    let way = if app.table.descending { "descending" } else { "ascending" };
    app.say(shown!("Sorted by {}, {way} · {} reverses", app.table.sort.word(), app.key_of(Action::SortReverse)));
}
