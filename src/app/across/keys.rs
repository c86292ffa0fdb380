//! The keys of the desk: the matrix of a comparison, and two records side by side.

use ratatui::layout::Position;

use crate::app::across::{Errand, News, Pending, Seat};
use crate::app::allowed::{is_plain, need};
use crate::app::msg::Effects;
use crate::app::msg::Work;
use crate::app::review;
use crate::app::state::{App, short_name};
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::adjudication;
use crate::screens::adjudication::state as disputes;
use crate::screens::dashboard;
use crate::screens::kind::ScreenKind;
use crate::screens::matrix;
use crate::screens::side_by_side;
use crate::screens::side_by_side::state::{Against, Versus};
use crate::screens::stack::Screen;
use crate::widgets::keymap::Action;
use crate::widgets::list::{List, Move};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::compare::Basis;
use stepscope_core::review::event::{Event, Verdict};
use stepscope_core::review::stats::name_of;
use stepscope_core::table::filter::Filter;
use stepscope_io::boards;
use stepscope_io::compare::{Partner, Wanted};
use stepscope_io::snapshot::Snapshot;
use stepscope_terminal::run::Effect;

/// So many rows are looked at for the next record with a partner.
const NEAR: isize = 1_000;
/// Why a record is not put next to its baseline record.
const NO_PARTNER: &str = "the baseline has no record of this item, by id or by question";

/// Whether an action can be done, where this part has to say so; `None`: ask on.
pub(crate) fn desk_allowed(app: &App, screen: ScreenKind, action: Action) -> Option<Result<(), &'static str>> {
    use Action as A;
    let because = |holds: bool, why: &'static str| Some(need(holds, why));
    if matches!(action, A::Matrix | A::Baseline) && app.desk.baseline.is_none() {
        return because(false, "there is no baseline: start with --baseline PATH");
    }
    let unkept = app.screens.versus().and_then(|versus| versus.fork.as_ref());
    match (screen, action) {
        (_, A::Matrix | A::Boards | A::Disputes)
        | (ScreenKind::Versus, A::Baseline | A::Difference)
        | (ScreenKind::Matrix | ScreenKind::Boards, A::Left | A::Right)
        | (ScreenKind::Disputes, A::NextPane) => Some(Ok(())),
        (_, A::SaveAgain) => None,
        (ScreenKind::Versus, A::Keep) => because(unkept.is_some(), "there is nothing to keep here"),
        (ScreenKind::Versus, A::NextRecord | A::PreviousRecord) => {
            let by = if action == A::NextRecord { 1 } else { -1 };
            let walk = || {
                if is_beside_parent(app) {
                    side_by_side::keys::fork_beside(app, by).map(drop)
                } else {
                    versus_from(app, by).map(drop)
                }
            };
            Some(need(unkept.is_none(), "this fork is not kept yet: s keeps it, q drops it").and_then(|()| walk()))
        }
        (ScreenKind::Versus, A::Export) => {
            let procedure = unkept.is_some_and(|unkept| unkept.procedure.is_some());
            because(procedure, "only a repaired procedure is written to a file")
        }
        (ScreenKind::Rerun, A::Baseline) => because(false, "go back to the run first: q"),
        (_, A::Baseline) if screen == ScreenKind::Table || screen.is_of_record() => Some(may_put_beside(app)),
        (_, A::Baseline) => because(false, "open a record first"),
        (ScreenKind::Matrix | ScreenKind::Boards | ScreenKind::Disputes, A::Open) if is_held_below(app) => {
            because(false, "a re-run lies below this: go back to it with q, and end it first")
        }
        (ScreenKind::Matrix, A::Open) => {
            let compared = app.desk.compared.as_ref().ok_or("the two runs are being joined");
            Some(compared.and_then(|compared| app.desk.matrix.filter(compared).map(drop)))
        }
        (ScreenKind::Boards, A::Open) => {
            let cell = app.desk.judged.as_ref().and_then(|judged| app.desk.boards.cell(judged));
            because(cell.is_some(), "there are no records behind this")
        }
        (ScreenKind::Disputes, A::DecidePass | A::DecideFail) if app.review.is_on() && !app.review.reviewing => {
            Some(review::keys::may_review(app))
        }
        (ScreenKind::Disputes, A::Open | A::DecidePass | A::DecideFail) => {
            let any = app.desk.judged.as_ref().is_some_and(|judged| app.desk.disputes.case(judged).is_some());
            because(any, "there is nothing to decide")
        }
        (_, A::DecidePass | A::DecideFail) => because(false, "open the disputes first: A"),
        (screen, action) if screen.is_of_all() || screen == ScreenKind::Versus => {
            because(is_plain(action), "this is not for here; q goes back")
        }
        _ => None,
    }
}

/// Whether the record that keys are about has a partner, as far as is known.
fn may_put_beside(app: &App) -> Result<(), &'static str> {
    let record = app.current().ok_or("there is no record here")?;
    let hidden = app.review.hidden_of(record);
    need(hidden.is_empty(), "some of this record is hidden until your verdict: * shows it")?;
    let Some((compared, address)) = app.desk.compared.as_ref().zip(app.store.address(record)) else {
        return Ok(());
    };
    need(compared.partner(address).is_some(), NO_PARTNER)
}

/// Below lies a re-run that would be lost: its call is running, or its result is not saved.
fn is_held_below(app: &App) -> bool {
    let attempt = app.screens.attempt().filter(|_| app.screens.holds(ScreenKind::Rerun));
    attempt.is_some_and(|attempt| attempt.is_busy() || attempt.is_unsaved())
}

/// Does what a key means for what is worked out from all records, or opens it; `None`: what it means everywhere.
pub(crate) fn desk_action(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    // Who does something else meanwhile does not want to be taken away from it.
    app.desk.partner_of = None;
    let screen = app.screens.top();
    match (action, screen) {
        (Action::Matrix | Action::Boards | Action::Disputes, _) => {
            let wanted = match action {
                Action::Matrix => Screen::Matrix,
                Action::Boards => Screen::Boards,
                _ => Screen::Disputes,
            };
            if screen == wanted.kind() {
                return Some(leave_desk(app));
            }
            if screen.is_of_all() {
                app.desk.disputes.choosing = None;
                app.screens.pop();
            }
            app.open_screen(wanted);
            return Some(if action == Action::Matrix { compare(app) } else { read_boards(app) });
        }
        (Action::Baseline, ScreenKind::Versus) => return Some(leave_desk(app)),
        (Action::Baseline, _) => return app.current().map(|record| put_beside(app, record)),
        (Action::Difference, ScreenKind::Run | ScreenKind::Table) => return side_by_side::keys::put_beside_parent(app),
        (Action::Open, ScreenKind::Disputes) if app.desk.disputes.choosing.is_some() => {
            let chosen = app.desk.disputes.choosing.take().unwrap_or_default();
            return Some(decide(app, Verdict::Fail, &chosen));
        }
        (Action::Escape | Action::Back, ScreenKind::Disputes) if app.desk.disputes.choosing.is_some() => {
            app.desk.disputes.choosing = None;
        }
        (Action::GiveLabel, ScreenKind::Disputes) => give_decided(app),
        (Action::Back | Action::Escape, _) if screen.is_of_all() || screen == ScreenKind::Versus => {
            return Some(leave_desk(app));
        }
        (Action::NextPane, ScreenKind::Disputes) => show_agreement(app),
        (Action::Open, ScreenKind::Boards) => return Some(open_number(app)),
        (Action::Open, ScreenKind::Disputes) => return Some(open_case(app)),
        (Action::Open, ScreenKind::Matrix) => return Some(open_cell(app)),
        (Action::DecidePass, ScreenKind::Disputes) => return Some(decide(app, Verdict::Pass, &[])),
        (Action::DecideFail, ScreenKind::Disputes) => app.desk.disputes.choosing = Some(Vec::new()),
        (Action::NextRecord | Action::PreviousRecord, ScreenKind::Versus) => {
            let by = if action == Action::NextRecord { times } else { -times };
            return Some(if is_beside_parent(app) {
                side_by_side::keys::fork_beside_by(app, by)
            } else {
                versus_by(app, by)
            });
        }
        (Action::Difference, ScreenKind::Versus) => {
            if let Some(versus) = app.screens.versus_mut() {
                versus.all = !versus.all;
                app.desk.shows_same = versus.all;
            }
        }
        (Action::Left, ScreenKind::Matrix | ScreenKind::Boards) => desk_sideways(app, -1),
        (Action::Right, ScreenKind::Matrix | ScreenKind::Boards) => desk_sideways(app, 1),
        _ => return None,
    }
    Some(Vec::new())
}

pub(crate) fn leave_desk(app: &mut App) -> Effects {
    app.desk.disputes.choosing = None;
    let Some(Screen::Versus(versus)) = app.screens.pop() else { return Vec::new() };
    // Who walked on side by side finds the same record behind.
    let record = Some(versus.record);
    let open = app.screens.inspect().map(|inspect| inspect.opened.index);
    match record.filter(|record| open.is_some_and(|open| open != *record)) {
        Some(record) => app.request(record, app.screens.of_record()),
        None => Vec::new(),
    }
}

/// Moves the screen in front; `false`: it is another part's.
pub(crate) fn desk_go(app: &mut App, movement: Move) -> bool {
    let area = app.area();
    match app.screens.top() {
        ScreenKind::Matrix => {
            let rows = app.desk.compared.as_ref().map_or(0, |compared| matrix::state::rows(compared).len());
            app.desk.matrix.list.go(movement, rows, matrix::draw::height(app));
        }
        ScreenKind::Boards => {
            let height = dashboard::draw::height(app);
            if let Some(judged) = app.desk.judged.clone() {
                app.desk.boards.go(movement, &judged, height);
            }
        }
        ScreenKind::Disputes => {
            let cases = app.desk.judged.as_ref().map_or(0, |judged| judged.cases.len());
            let (lines, room) = adjudication::draw::size(app);
            let height = adjudication::draw::height(app);
            let disputes = &mut app.desk.disputes;
            let before = disputes.list.at;
            if matches!(movement, Move::HalfPages(_) | Move::Pages(_)) {
                let mut list = List { at: disputes.top, top: disputes.top };
                list.go(movement, lines.saturating_sub(room) + 1, room);
                disputes.top = list.at;
            } else {
                disputes.list.go(movement, cases, height);
            }
            if disputes.list.at != before {
                (disputes.top, disputes.choosing) = (0, None);
            }
            disputes.top = disputes.top.min(lines.saturating_sub(room));
        }
        ScreenKind::Versus => {
            let (lines, height) = side_by_side::draw::size(app, area);
            if let Some(versus) = app.screens.versus_mut() {
                // There is no cursor: the first line on screen is what moves.
                let mut list = List { at: versus.top, top: versus.top };
                list.go(movement, lines.saturating_sub(height) + 1, height);
                versus.top = list.at;
            }
        }
        _ => return false,
    }
    true
}

fn desk_sideways(app: &mut App, by: isize) {
    if app.screens.top() == ScreenKind::Boards {
        if let Some(judged) = app.desk.judged.clone() {
            app.desk.boards.turn(by, &judged);
        }
        return;
    }
    let basis = &mut app.desk.matrix.basis;
    *basis = basis.saturating_add_signed(by).min(Basis::ALL.len() - 1);
}

/// Keeps the desk within what there is.
pub(crate) fn settle_desk(app: &mut App) {
    match app.screens.top() {
        ScreenKind::Matrix | ScreenKind::Boards | ScreenKind::Disputes => {
            desk_go(app, Move::By(0));
        }
        ScreenKind::Versus => {
            let (lines, height) = side_by_side::draw::size(app, app.area());
            if let Some(versus) = app.screens.versus_mut() {
                versus.top = versus.top.min(lines.saturating_sub(height));
            }
        }
        _ => {}
    }
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click_desk(app: &mut App, at: Position) -> Effects {
    let again = match app.screens.top() {
        ScreenKind::Matrix => matrix::draw::place_of(app, at).map(|(row, basis)| {
            let matrix = &mut app.desk.matrix;
            let before = (matrix.list.at, matrix.basis);
            (matrix.list.at, matrix.basis) = (row, basis.unwrap_or(matrix.basis));
            before == (matrix.list.at, matrix.basis)
        }),
        ScreenKind::Boards => dashboard::draw::place_of(app, at).map(|(line, column)| {
            let boards = &mut app.desk.boards;
            let before = (boards.line, boards.column);
            (boards.line, boards.column) = (line, column.unwrap_or(boards.column));
            before == (boards.line, boards.column)
        }),
        ScreenKind::Disputes => adjudication::draw::row_of(app, at).map(|row| {
            let again = app.desk.disputes.list.at == row;
            desk_go(app, Move::To(row));
            again
        }),
        _ => None,
    };
    if again == Some(true) { app.act(Action::Open) } else { Vec::new() }
}

// The comparison.

/// Compares as soon as all records are read; what was compared before stays on screen meanwhile.
fn compare(app: &mut App) -> Effects {
    app.desk.comparing.due = true;
    begin_errands(app)
}

/// Reads the reviews anew as soon as all records are read.
fn read_boards(app: &mut App) -> Effects {
    app.desk.judging.due = true;
    begin_errands(app)
}

/// When the records have changed: works out anew what is on screen or asked for by the filter.
pub(crate) fn refresh_desk(app: &mut App) -> Effects {
    let now = (app.store.len(), app.table.moves());
    if app.store.is_settled() && app.desk.of != now {
        let asked = |field: &str| app.table.filter.sets().any(|set| set.starts_with(field));
        let compared = app.screens.holds(ScreenKind::Matrix) || asked("cell:");
        let judged =
            app.screens.holds(ScreenKind::Boards) || app.screens.holds(ScreenKind::Disputes) || asked("board:");
        app.desk.comparing.due |= compared && app.desk.compared.is_some();
        app.desk.judging.due |= judged && app.desk.judged.is_some();
    }
    begin_errands(app)
}

/// Begins what is due, if it can be done now.
fn begin_errands(app: &mut App) -> Effects {
    if !app.store.is_settled() {
        return Vec::new();
    }
    let mut errands = Vec::new();
    let id = app.desk.number();
    app.desk.of = (app.store.len(), app.table.moves());
    let ready = |pending: &Pending| pending.due && pending.running.is_none();
    if let Some(baseline) = app.desk.baseline.clone().filter(|_| ready(&app.desk.comparing)) {
        let (run, name) = (Snapshot::of(&app.store), app.title());
        let (document, journals) = (app.desk.document.clone(), app.desk.journals.clone());
        let wanted = Wanted { run, name, baseline, document, journals };
        app.desk.comparing = Pending { running: Some(id), ..Pending::default() };
        errands.push(Errand::Compare(id, Box::new(wanted)));
    }
    if ready(&app.desk.judging) {
        let (run, journals) = (Snapshot::of(&app.store), app.desk.journals.clone());
        app.desk.judging = Pending { running: Some(id), ..Pending::default() };
        errands.push(Errand::Judge(id, Box::new(boards::Wanted { run, journals })));
    }
    errands.into_iter().map(|errand| Effect::Work(Work::Desk(errand))).collect()
}

pub(crate) fn take_news(app: &mut App, news: News) -> Effects {
    match news {
        News::Compared(id, result) => {
            let Some(result) = app.desk.comparing.done(id, result) else { return Vec::new() };
            match result {
                Ok(compared) => {
                    app.desk.compared = Some(compared);
                    app.arrange();
                }
                Err(why) => app.fail(why),
            }
            let wanted = app.desk.partner_of.take().filter(|_| app.desk.compared.is_some());
            let mut effects = wanted.map(|record| put_beside(app, record)).unwrap_or_default();
            effects.extend(begin_errands(app));
            effects
        }
        News::Judged(id, result) => {
            match app.desk.judging.done(id, result) {
                Some(Ok(judged)) => {
                    app.desk.judged = Some(judged);
                    app.arrange();
                }
                Some(Err(why)) => app.fail(why),
                None => {}
            }
            begin_errands(app)
        }
        News::Decided(event, result) => {
            let name = event.item.as_ref().map(|item| name_of(item).line()).unwrap_or_default();
            match result {
                Ok(()) => {
                    app.desk.unsaved = None;
                    app.say(shown!("saved {name}"));
                    read_boards(app)
                }
                Err(failure) => {
                    app.desk.unsaved = Some(event);
                    app.fail(shown!("NOT SAVED {name}: {failure}; decide again to try again"));
                    Vec::new()
                }
            }
        }
        News::Sides(record, result) => {
            if app.desk.partner_of.take_if(|wanted| *wanted == record).is_none() {
                return Vec::new();
            }
            match result {
                Ok(versus) => show_versus(app, versus),
                Err(failure) => app.fail(shown!("{failure}")),
            }
            Vec::new()
        }
        News::Made(record, made) => {
            side_by_side::keys::take_made(app, record, made);
            Vec::new()
        }
        News::Fixes(record, found) => {
            side_by_side::keys::take_fixes(app, record, found);
            Vec::new()
        }
    }
}

pub(crate) fn show_versus(app: &mut App, mut versus: Box<Versus>) {
    versus.all = app.desk.shows_same;
    app.status = None;
    app.open_screen(Screen::Versus(versus));
}

/// To the records behind the number that the cursor is on.
fn open_cell(app: &mut App) -> Effects {
    let Some(compared) = &app.desk.compared else { return Vec::new() };
    match app.desk.matrix.filter(compared) {
        Ok(filter) => {
            let (matrix, compared) = (app.desk.matrix, compared.clone());
            let effects = show_filtered(app, &filter);
            let hidden = matrix.hidden(&compared, &filter);
            if hidden > 0 {
                let are = if hidden == 1 { "is" } else { "are" };
                app.say(shown!("{hidden} more {are} in B alone and not in this table"));
            }
            effects
        }
        Err(why) => {
            app.say(Shown::own(why));
            Vec::new()
        }
    }
}

/// The table with this filter alone.
fn show_filtered(app: &mut App, filter: &str) -> Effects {
    let mut effects = app.back_to_table();
    app.table.list = List::default();
    effects.extend(app.set_filter(filter));
    effects
}

/// What a filter needs that is not worked out yet; `Err`: it cannot be.
pub(crate) fn prepare_sets(app: &mut App, filter: &Filter) -> Result<Effects, &'static str> {
    let asks = |field: &str| filter.sets().any(|set| set.starts_with(field));
    let mut effects = Vec::new();
    if asks("board:") && app.desk.judged.is_none() {
        effects.extend(read_boards(app));
    }
    if asks("cell:") && app.desk.compared.is_none() {
        if app.desk.baseline.is_none() {
            return Err("cell: is about a comparison; start with --baseline PATH");
        }
        effects.extend(compare(app));
    }
    Ok(effects)
}

// The boards and the disputes.

/// To the records behind the number under the cursor.
fn open_number(app: &mut App) -> Effects {
    let cell = app.desk.judged.as_ref().and_then(|judged| app.desk.boards.cell(judged)).cloned();
    if let Some(cell) = cell {
        return show_filtered(app, &cell.set);
    }
    app.say(Shown::own("there are no records behind this"));
    Vec::new()
}

/// Opens the record that reviewers disagree about.
fn open_case(app: &mut App) -> Effects {
    let case = app.desk.judged.as_ref().and_then(|judged| app.desk.disputes.case(judged));
    let record = case.and_then(|case| app.store.position(case.address.0, case.address.1));
    let Some(record) = record else {
        app.say(Shown::own("this record is no longer there"));
        return Vec::new();
    };
    let mut effects = app.back_to_table();
    app.table.list.at = app.table.row_of(record);
    effects.extend(app.request(record, ScreenKind::Run));
    effects
}

/// Gives or takes the label of the number that was typed.
fn give_decided(app: &mut App) {
    let (Some(judged), Some(label)) = (app.desk.judged.clone(), app.count.and_then(|n| n.checked_sub(1))) else {
        return;
    };
    let offered = app.desk.disputes.case(&judged).map_or(0, |case| disputes::offered(&judged, case).len());
    if label < offered {
        app.desk.disputes.toggle(label);
    } else {
        app.say(Shown::own("there is no such label"));
    }
}

fn decide(app: &mut App, verdict: Verdict, chosen: &[usize]) -> Effects {
    app.desk.disputes.choosing = None;
    let Some(judged) = app.desk.judged.clone() else { return Vec::new() };
    let Some(case) = app.desk.disputes.case(&judged) else { return Vec::new() };
    let (Some(journal), Some(reviewer)) = (app.desk.journals.own(), app.desk.reviewer.clone()) else {
        app.fail(Shown::own("verdicts are saved to one journal; name it with --reviews"));
        return Vec::new();
    };
    let offered = disputes::offered(&judged, case);
    let labels = chosen.iter().filter_map(|label| Some(offered.get(*label)?.0.clone())).collect();
    let mut event = disputes::decide(case, reviewer, verdict, labels);
    let same = |earlier: &&Event| {
        (&earlier.item, earlier.verdict, &earlier.labels) == (&event.item, event.verdict, &event.labels)
    };
    if let Some(earlier) = app.desk.unsaved.as_deref().filter(same) {
        event.event_id = earlier.event_id.clone();
    }
    vec![Effect::Work(Work::Desk(Errand::Decide(journal, Box::new(event))))]
}

fn show_agreement(app: &mut App) {
    let Some(judged) = app.desk.judged.as_ref().filter(|judged| !judged.agreement.is_empty()) else {
        app.say(Shown::own("nobody judged anything yet"));
        return;
    };
    let text = judged.agreement.iter().cloned().reduce(|text, line| text.and("\n").join(&line)).unwrap_or_default();
    app.dialog = Some(Dialog::Popup(Popup { title: Shown::own("Agreement"), text, top: 0 }));
}

// Side by side.

/// Puts a record beside its partner in the baseline, once it is known.
fn put_beside(app: &mut App, record: usize) -> Effects {
    let hidden = app.review.hidden_of(record);
    if !hidden.is_empty() {
        app.say(shown!("hidden until your verdict: {}; * shows it", hidden.phrase()));
        return Vec::new();
    }
    app.desk.partner_of = Some(record);
    let Some(compared) = app.desk.compared.clone() else {
        app.say(Shown::own("the two runs are being joined; the record opens when that is done, unless you go on"));
        return compare(app);
    };
    let address = app.store.address(record);
    let seat = |partner: Partner| {
        let store = compared.baseline();
        let reading = store.reading(partner.record)?;
        let row = *store.row(partner.record)?;
        Some(Seat {
            record: partner.record,
            reading,
            row,
            name: compared.names.get(1).map(short_name).unwrap_or_default(),
        })
    };
    let own = app.store.reading(record).zip(app.store.row(record).copied());
    let name = app.name_of(record);
    let own = own.map(|(reading, row)| Seat { record, reading, row, name });
    let other = address.and_then(|address| compared.partner(address)).and_then(seat);
    if let Some((own, other)) = own.zip(other) {
        return vec![Effect::Work(Work::Desk(Errand::Sides(record, Box::new([own, other]), Against::Baseline)))];
    }
    app.desk.partner_of = None;
    app.refuse(NO_PARTNER);
    Vec::new()
}

/// To the next record of the table, beside its own partner.
fn versus_by(app: &mut App, by: isize) -> Effects {
    match versus_from(app, by) {
        Ok((row, record)) => {
            app.table.list.at = row;
            put_beside(app, record)
        }
        Err(why) => {
            app.refuse(why);
            Vec::new()
        }
    }
}

/// The record so many rows further than the one side by side, with its row.
fn versus_from(app: &App, by: isize) -> Result<(usize, usize), &'static str> {
    let versus = app.screens.versus().ok_or("there is no record here")?;
    let (row, rows) = (app.table.row_of(versus.record), app.rows());
    let along = (1..=NEAR).filter_map(|n| row.checked_add_signed(n * by.signum())).filter(|row| *row < rows);
    let partnered = |row: usize| {
        let record = app.table.record(row).filter(|record| *record != versus.record)?;
        let known = app.desk.compared.as_ref().zip(app.store.address(record));
        let has_partner = known.is_none_or(|(compared, address)| compared.partner(address).is_some());
        (has_partner && app.review.hidden_of(record).is_empty()).then_some((row, record))
    };
    let next = along.filter_map(partnered).take(by.unsigned_abs()).last();
    next.ok_or(if by > 0 {
        "this is the last record with a partner"
    } else {
        "this is the first record with a partner"
    })
}

fn is_beside_parent(app: &App) -> bool {
    app.screens.versus().is_some_and(|versus| versus.against == Against::Parent)
}
