//! The keys and clicks of the table.

use crate::app::records::{fork_in_front, has_none};
use crate::app::review::keys::read_record;
use crate::screens::table::state::Table;
use ratatui::layout::{Position, Rect};
use stepscope_io::pipeline::store::Store;

use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::app::views::{Views, description, name_of};
use crate::dialogs::dialog::{Dialog, PromptPurpose};
use crate::dialogs::keys::open_filter;
use crate::screens::insights;
use crate::screens::insights::state::chart_of;
use crate::screens::kind::ScreenKind;
use crate::screens::side_by_side::keys::beside_parent;
use crate::screens::table::column::ChosenColumns;
use crate::screens::table::draw::{sort_at, sorts};
use crate::screens::table::search::try_filter;
use crate::screens::table::state::{SortBy, SortColumn};
use crate::widgets::keymap::{Action, Keymap, NO_RECORD, OPEN_RECORD, Reason, need};
use crate::widgets::layout::{body_height, table_height};
use crate::widgets::list::Move;
use crate::widgets::panes::turn;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::views::ViewChange;

/// Checks an action that the screen knows; `None`: another one.
pub(crate) fn allowed(app: &App, action: Action) -> Option<Result<(), Reason>> {
    use Action as A;
    Some(match action {
        A::Open | A::Json | A::CopyRecord | A::CopyQuestion => need(app.record().is_some(), NO_RECORD),
        A::Difference => need(app.record().is_some(), NO_RECORD).and_then(|()| {
            need(fork_in_front(&app.screens, &app.store, &app.table, &app.forks.tree).is_some(), "not a fork")
        }),
        A::CopyValue | A::CopyPath => Err(OPEN_RECORD),
        A::Frequency => {
            need(chart_of(app.table.sort).is_some(), "No chart of this column. Sort by another one first (<sort_next>)")
        }
        A::Find | A::Filter | A::SortNext | A::SortPrevious | A::SortReverse | A::Columns | A::View | A::SaveView => {
            need(!has_none(&app.store), "no records")
        }
        _ => return None,
    })
}

pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Open | Action::Json => {
            let screen = if action == Action::Open { ScreenKind::Run } else { ScreenKind::Json };
            let record = app.record()?;
            return Some(app.request(record, screen));
        }
        Action::Filter => {
            let text = app.table.filter_text.clone();
            let text = if text.is_empty() { text } else { text + " " };
            open_filter(&mut app.screens, &app.side, text);
        }
        Action::Columns => {
            let text = app.table.columns().text();
            app.screens.open_prompt(PromptPurpose::Columns, text);
        }
        Action::View => {
            let some = app.views.some();
            return Some(match some {
                Ok(()) => {
                    app.screens.open_dialog(Dialog::Views);
                    Vec::new()
                }
                Err(why) => app.status.say(why),
            });
        }
        Action::SaveView => {
            let name = app.views.in_force(&app.table).map_or_else(String::new, |view| view.name.clone());
            app.screens.propose(PromptPurpose::ViewName, name);
        }
        Action::Difference => {
            let fork = fork_in_front(&app.screens, &app.store, &app.table, &app.forks.tree)?;
            return Some(beside_parent(&app.store, &app.forks.tree, &mut app.across, fork));
        }
        Action::Frequency => {
            let (lines, height) = (insights::draw::lines(&app.side, &app.store), body_height(app.area()));
            let cursor = &mut app.kept.insights;
            insights::keys::open_chart(&mut app.screens, cursor, app.table.sort, &lines, height);
        }
        Action::SortNext | Action::SortPrevious => {
            let by = if action == Action::SortNext { 1 } else { -1 };
            let columns = sorts(app.area(), &app.store, &app.table, &app.review);
            let sort = next_sort(&columns, app.table.sort, by);
            // What one looks for comes first: the gravest, the longest, the least sure.
            let descending = matches!(sort, SortBy::Findings | SortBy::Number(SortColumn::Steps));
            sort_by(&mut app.table, &app.keymap, &mut app.status, (sort, descending));
            app.arrange();
        }
        Action::SortReverse => {
            let reversed = (app.table.sort, !app.table.descending);
            sort_by(&mut app.table, &app.keymap, &mut app.status, reversed);
            app.arrange();
        }
        // The record must be read first; the table keeps only its head.
        Action::CopyQuestion | Action::CopyRecord => {
            let record = app.record()?;
            let work = read_record(&app.review, &app.store, record)?;
            app.copying = Some((record, action));
            return Some(vec![work]);
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Shows these columns in place of the usual ones; no names: the usual ones. Returns what to say of it.
pub(crate) fn choose_columns(table: &mut Table, typed: &str) -> Result<Shown, Shown> {
    table.choose_columns(ChosenColumns::parse(typed)?);
    let text = table.columns().text();
    let names = if text.is_empty() { "the usual ones".to_owned() } else { text };
    Ok(shown!("Columns: {names} · [table] columns in config.toml keeps them"))
}

/// Shows a view by its name; `Err`: it cannot be shown, and nothing has changed.
pub(crate) fn show_view(app: &mut App, typed: &str) -> Result<Effects, Shown> {
    let view = app.views.named(typed)?.clone();
    let named = |why: &Shown| shown!("The view {} cannot be shown: {why}", name_of(&view.name));
    let columns = ChosenColumns::parse(&view.columns.join(" ")).map_err(|why| named(&why))?;
    let sort = match &view.sort {
        None => SortBy::default(),
        Some(word) => SortBy::from_word(word)
            .ok_or_else(|| named(&shown!("no column is called {}", Shown::line(word.as_bytes()))))?,
    };
    let effects = try_filter(app, &view.filter).map_err(|why| named(&why))?;
    (app.table.sort, app.table.descending) = (sort, view.descending);
    app.table.choose_columns(columns);
    app.arrange();
    // What the filter has to say of itself is more than what was typed just now.
    if app.status.now.is_none() {
        app.status.say(shown!("View {}: {}", name_of(&view.name), description(&view)));
    }
    Ok(effects)
}

/// Has a change of the views made, in the folder that keeps them.
pub(crate) fn change_views(views: &Views, change: Result<ViewChange, Shown>) -> Result<Effects, Shown> {
    let folder = views.folder.clone().ok_or(Shown::own("there is no folder for settings; start with --config-dir"));
    Ok(vec![Effect::ChangeViews(folder?, change?)])
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
pub(crate) fn click(app: &mut App, at: Position, body: Rect) -> Option<Action> {
    if at.y == body.y {
        if let Some(sort) = sort_at(app.area(), &app.store, &app.table, &app.review, at.x) {
            let descending = sort == app.table.sort && !app.table.descending;
            sort_by(&mut app.table, &app.keymap, &mut app.status, (sort, descending));
            app.arrange();
        }
        return None;
    }
    let row = app.table.list.top + usize::from(at.y - body.y - 1);
    let again = row == app.table.list.at;
    if row < app.rows() {
        app.table.list.at = row;
        return again.then_some(Action::Open);
    }
    None
}

/// Returns what is beside the sorted column among those on screen; a column that is not on screen stands at the beginning.
fn next_sort(columns: &[SortBy], now: SortBy, by: isize) -> SortBy {
    if columns.is_empty() { SortBy::default() } else { turn(columns, now, by) }
}

/// Sorts by a column, and says so.
/// Sorts by a column, and says so; the rows are to be arranged anew.
fn sort_by(table: &mut Table, keymap: &Keymap, status: &mut StatusLine, (sort, descending): (SortBy, bool)) {
    (table.sort, table.descending) = (sort, descending);
    let way = if descending { "descending" } else { "ascending" };
    let key = keymap.key_of(Action::SortReverse);
    status.say(shown!("Sorted by {}, {way} · {key} reverses", sort.word()));
}
