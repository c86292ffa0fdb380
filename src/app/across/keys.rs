//! Keys that lead across all records: the comparison, the dashboards, and a record next to its baseline record.

use std::sync::Arc;

use crate::app::across::Across;
use crate::app::across::{Pending, RecordHandle};
use crate::app::fork_tree::ForkTree;
use crate::app::msg::{Effect, Effects, WorkId};
use crate::app::records::title;
use crate::app::review::Review;
use crate::app::state::App;
use crate::screens::kind::ScreenKind;
use crate::screens::side_by_side;
use crate::screens::stack::Screen;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, GO_BACK, Reason, need};
use crate::widgets::list::List;
use stepscope_base::shown;
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::compare::{CompareRequest, Compared};
use stepscope_io::pipeline::dashboard::{BoardData, DashboardRequest};
use stepscope_io::pipeline::snapshot::Snapshot;
use stepscope_io::pipeline::store::Store;
use stepscope_record::fork_origin::ForkOrigin;
use stepscope_table::filter::Filter;

/// Reason given for a key that needs a record, on a screen without one.
pub(crate) const NOT_HERE: &str = "not available here; <back> goes back";

/// Reason given where there is nothing to compare with.
const NO_BASELINE: Reason = "no baseline; start with --baseline PATH";

/// Checks that the comparison can be opened.
pub(crate) fn may_compare(across: &Across, review: &Review) -> Result<(), Reason> {
    let baseline = need(across.baseline.is_some(), NO_BASELINE);
    baseline.and_then(|()| may_count(review, Action::Compare))
}

/// Checks that the open record can be put next to its baseline record.
pub(crate) fn may_show_baseline(
    across: &Across,
    screen: ScreenKind,
    beside: impl FnOnce() -> Result<(), Reason>,
) -> Result<(), Reason> {
    need(across.baseline.is_some(), NO_BASELINE)?;
    match screen {
        ScreenKind::SideBySide => Ok(()),
        ScreenKind::Rerun | ScreenKind::Live => Err(GO_BACK),
        screen if screen.is_judged_on() => beside(),
        _ => Err("open a record first"),
    }
}

/// Refuses a final verdict elsewhere than on the disagreements.
pub(crate) fn in_adjudication(screen: ScreenKind) -> Option<Result<(), Reason>> {
    (screen != ScreenKind::Adjudication).then_some(Err("open the disagreements first (<disputes>)"))
}

/// Reason given when a filter leads to such counts.
const HIDDEN_SET: &str =
    "the filter asks for records behind a number that counts what --hide hides; start without --hide";

/// Checks that an action may show what is said of all records: that gives away records that are still to be judged. The
/// reason names what would be shown, since one key does not tell it.
pub(crate) fn may_count(review: &Review, action: Action) -> Result<(), Reason> {
    let why = match action {
        Action::Compare => "the comparison counts what --hide hides; start without --hide to see it",
        Action::Insights => "the insights count what --hide hides; start without --hide to see them",
        Action::Frequency => "the frequencies count what --hide hides; start without --hide to see them",
        Action::Adjudication => "the disagreements show what --hide hides; start without --hide to see them",
        _ => "the review dashboard counts what --hide hides; start without --hide to see it",
    };
    need(review.hide.is_empty(), why)
}

/// Checks that a filter may replace the screens below it: no re-run is lost whose call is running or whose result is
/// not saved.
pub(crate) fn may_show_filtered(screens: &Screens) -> Result<(), Reason> {
    let is_held = screens.attempt().is_some_and(|attempt| attempt.is_busy() || attempt.is_unsaved());
    need(!is_held, "a re-run is still open; go back to it (<back>) and end it first")
}

/// Checks that an action can be done on a screen of numbers, each of which leads to records by a filter.
pub(crate) fn allowed_on_numbers(
    screens: &Screens,
    action: Action,
    filter: impl FnOnce() -> Result<(), Reason>,
) -> Result<(), Reason> {
    match action {
        Action::Left | Action::Right => Ok(()),
        Action::Open => may_show_filtered(screens).and_then(|()| filter()),
        _ => need(action.is_plain(), NOT_HERE),
    }
}

/// Opens the screen of all records that an action names; where it is in front, closes it.
pub(crate) fn of_all(app: &mut App, action: Action, _: isize) -> Effects {
    let Some(wanted) = action.def().opens else { return Vec::new() };
    let screen = app.screens.top();
    if screen == wanted {
        return leave(app);
    }
    if screen.is_of_all() {
        leave(app);
    }
    app.screens.open(Screen::OfAll(wanted));
    match wanted {
        ScreenKind::Compare => compare(&mut app.across, &app.store, &app.table, app.models.samples),
        // The charts are made of what is counted as records come and go.
        ScreenKind::Insights => Vec::new(),
        _ => read_boards(&mut app.across, &app.store, &app.table, app.models.samples),
    }
}

/// Leaves a screen of all records, or two records side by side.
pub(crate) fn leave(app: &mut App) -> Effects {
    app.kept.adjudication.choosing = None;
    let Some(Screen::SideBySide(sides)) = app.screens.pop() else { return Vec::new() };
    // The screen behind follows a walk through records side by side.
    let open = app.screens.record().map(|view| view.opened.index);
    match open.filter(|open| *open != sides.record) {
        Some(_) => app.request(sides.record, app.screens.of_record()),
        None => Vec::new(),
    }
}

/// Tells whether an action leaves such a screen.
pub(crate) const fn leaves(action: Action) -> bool {
    matches!(action, Action::Back | Action::Escape)
}

/// Compares as soon as all records are read; what was compared before stays on screen meanwhile.
pub(crate) fn compare(across: &mut Across, store: &Store, table: &Table, samples: bool) -> Effects {
    across.comparing.due = true;
    begin_due(across, store, table, samples)
}

/// Reads the reviews again as soon as all records are read.
pub(crate) fn read_boards(across: &mut Across, store: &Store, table: &Table, samples: bool) -> Effects {
    across.judging.due = true;
    begin_due(across, store, table, samples)
}

/// Recomputes what is on screen or asked for by the filter when the records have changed.
pub(crate) fn refresh_across(
    across: &mut Across,
    store: &Store,
    table: &Table,
    screens: &Screens,
    samples: bool,
) -> Effects {
    let now = (store.len(), table.moves());
    if store.is_settled() && across.of != now {
        let asked = |field: &str| table.filter.sets().any(|set| set.starts_with(field));
        let compared = screens.holds(ScreenKind::Compare) || asked("cell:");
        let judged = screens.holds(ScreenKind::Dashboard) || screens.holds(ScreenKind::Adjudication) || asked("board:");
        across.comparing.due |= compared && across.compared.is_some();
        across.judging.due |= judged && across.judged.is_some();
    }
    begin_due(across, store, table, samples)
}

/// Begins what is due, if it can be done now.
pub(crate) fn begin_due(across: &mut Across, store: &Store, table: &Table, samples: bool) -> Effects {
    if !store.is_settled() {
        return Vec::new();
    }
    let mut effects = Vec::new();
    across.of = (store.len(), table.moves());
    let ready = |pending: &Pending| pending.due && pending.running.is_none();
    if let Some(baseline) = across.baseline.clone().filter(|_| ready(&across.comparing)) {
        let (run, name) = (Snapshot::of(store), title(store, samples));
        let (document, journals) = (across.document.clone(), across.journals.clone());
        let columns = across.columns.clone();
        let wanted = CompareRequest { run, name, baseline, document, columns, journals };
        let id = across.number();
        across.comparing = Pending { running: Some(id), ..Pending::default() };
        effects.push(Effect::Compare(id, Box::new(wanted)));
    }
    if ready(&across.judging) {
        let (run, journals) = (Snapshot::with_forks(store), across.journals.clone());
        let id = across.number();
        across.judging = Pending { running: Some(id), ..Pending::default() };
        effects.push(Effect::ReadDashboard(id, Box::new(DashboardRequest { run, journals })));
    }
    effects
}

pub(crate) fn take_percent(across: &mut Across, id: WorkId, percent: usize) -> Effects {
    for pending in [&mut across.comparing, &mut across.judging] {
        if pending.running == Some(id) {
            pending.percent = pending.percent.max(percent);
        }
    }
    Vec::new()
}

pub(crate) fn take_comparison(app: &mut App, id: WorkId, result: Result<Arc<Compared>, Failure>) -> Effects {
    let Some(result) = app.across.comparing.done(id, result) else { return Vec::new() };
    match result {
        Ok(compared) => {
            if app.across.compared.is_none() {
                app.kept.compare.begin(&compared);
            }
            app.across.compared = Some(compared);
            app.arrange();
        }
        Err(why) => _ = app.status.fail(why),
    }
    let wanted = app.across.partner_of.take().filter(|_| app.across.compared.is_some());
    let mut effects = wanted.map(|record| side_by_side::keys::put_beside(app, record)).unwrap_or_default();
    effects.extend(begin_due(&mut app.across, &app.store, &app.table, app.models.samples));
    effects
}

pub(crate) fn take_dashboard(app: &mut App, id: WorkId, result: Result<Arc<BoardData>, Failure>) -> Effects {
    match app.across.judging.done(id, result) {
        Some(Ok(judged)) => {
            app.kept.adjudication.find_sought(&judged);
            app.across.judged = Some(judged);
            app.arrange();
        }
        Some(Err(why)) => _ = app.status.fail(why),
        None => {}
    }
    begin_due(&mut app.across, &app.store, &app.table, app.models.samples)
}

/// Returns a record, to be opened elsewhere, with the name of its execution.
pub(crate) fn record_handle(store: &Store, forks: &ForkTree, record: usize) -> Option<RecordHandle> {
    let (reading, row) = (store.reading(record)?, *store.row(record)?);
    let execution = forks.execution(store.address(record)?);
    let what = forks.fork_of(store, record).and_then(|(known, ..)| known.fork_origin.as_ref()).map(ForkOrigin::phrase);
    let name = what.map_or(shown!("{execution}"), |what| shown!("{execution}, {what}"));
    Some(RecordHandle { record, reading, row, name })
}

/// The table with this filter alone.
pub(crate) fn show_filtered(app: &mut App, filter: &str) -> Effects {
    let mut effects = app.back_to_table();
    app.table.list = List::default();
    effects.extend(app.set_filter(filter));
    effects
}

/// Marks what a filter needs and what is not worked out yet as due; `false`: nothing is. `Err`: it cannot be had.
pub(crate) fn prepare_sets(across: &mut Across, review: &Review, filter: &Filter) -> Result<bool, Reason> {
    let asks = |field: &str| filter.sets().any(|set| set.starts_with(field));
    if filter.sets().next().is_some() {
        need(review.hide.is_empty(), HIDDEN_SET)?;
    }
    let judges = asks("board:") && across.judged.is_none();
    let compares = asks("cell:") && across.compared.is_none();
    if compares {
        need(across.baseline.is_some(), "`cell:` needs a comparison; start with --baseline PATH")?;
    }
    across.judging.due |= judges;
    across.comparing.due |= compares;
    Ok(judges || compares)
}
