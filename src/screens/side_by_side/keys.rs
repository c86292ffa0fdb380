//! The keys of two records side by side: a fork next to its parent, and forks that need no model, shown first and kept
//! by a key.

use crate::app::across;
use crate::app::across::keys::record_handle;
use crate::app::across::{Across, RecordHandle};
use crate::app::export::procedure;
use crate::app::fork_tree::ForkTree;
use crate::app::msg::{Effect, Effects};
use crate::app::records::{current, name_of};
use crate::app::review::Review;
use crate::app::state::App;
use crate::dialogs::dialog::PromptPurpose;
use crate::screens::side_by_side::draw;
use crate::screens::side_by_side::making::Make;
use crate::screens::side_by_side::state::{Against, SideBySide, SideRow};
use crate::screens::stack::Screen;
use crate::screens::stack::{ScreenMemory, Screens};
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, NO_RECORD, Reason, need};
use crate::widgets::list::{Move, scroll};
use ratatui::layout::Rect;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::compare::{Compared, Partner};
use stepscope_io::pipeline::snapshot::Address;
use stepscope_io::pipeline::store::Store;
use stepscope_record::rule_id::RuleId;

/// Number of rows that are looked at for the next record with a partner.
const NEAR: isize = 1_000;

/// Asks for a fork of a record, to be looked at first.
pub(crate) fn make(across: &mut Across, handle: Option<RecordHandle>, make: Make) -> Effects {
    let Some(handle) = handle else { return Vec::new() };
    across.partner_of = Some(handle.record);
    vec![Effect::MakeFork(Box::new(handle), Box::new(make))]
}

/// Puts a fork next to its parent.
pub(crate) fn beside_parent(
    store: &Store,
    forks: &ForkTree,
    across: &mut Across,
    (fork, parent): (usize, usize),
) -> Effects {
    let handle = |record| record_handle(store, forks, record);
    let Some((a, b)) = handle(parent).zip(handle(fork)) else { return Vec::new() };
    across.partner_of = Some(fork);
    vec![Effect::PutSideBySide(fork, Box::new([a, b]), Against::Parent)]
}

/// Opens the next fork of the same record next to its parent, or the next record of the table next to its own partner.
fn next_beside(app: &mut App, by: isize) -> Result<Effects, Reason> {
    let App { screens, store, forks, across, review, table, .. } = app;
    if is_beside_parent(screens) {
        let (fork, parent) = fork_beside(&forks.tree, screens, store, by)?;
        table.list.at = table.row_of(fork);
        return Ok(beside_parent(store, &forks.tree, across, (fork, parent)));
    }
    let (row, record) = pair_from(screens, store, table, by, |record| has_partner(across, store, review, record))?;
    table.list.at = row;
    Ok(put_beside(app, record))
}

/// Finds the fork `by` further than the one side by side, with its parent.
fn fork_beside(forks: &ForkTree, screens: &Screens, store: &Store, by: isize) -> Result<(usize, usize), Reason> {
    let here = screens.side_by_side().and_then(|sides| store.address(sides.record));
    let here = here.ok_or("no fork here")?;
    let fork_tree = forks.of(here);
    let at = fork_tree.iter().position(|address| *address == here).unwrap_or(0);
    // The first is what was recorded: it has no parent.
    let next = at.saturating_add_signed(by).clamp(1, fork_tree.len().saturating_sub(1).max(1));
    let position = |(source, byte)| store.position(source, byte);
    let fork = fork_tree.get(next).filter(|_| next != at).copied();
    let parent = fork.and_then(|fork| forks.parent(fork)).and_then(position);
    let both = fork.and_then(position).zip(parent);
    both.ok_or(if by > 0 { "this is the last fork" } else { "this is the first fork" })
}

/// Returns the open record, to be read elsewhere.
pub(crate) fn open_handle(screens: &Screens, store: &Store, forks: &ForkTree) -> Option<RecordHandle> {
    record_handle(store, forks, screens.record()?.opened.index)
}

/// Shows the two records that were read.
pub(crate) fn take_sides(app: &mut App, record: usize, result: Result<Box<SideBySide>, Failure>) -> Effects {
    if app.across.partner_of.take_if(|wanted| *wanted == record).is_none() {
        return Vec::new();
    }
    match result {
        Ok(sides) => {
            app.status.now = None;
            show_side_by_side(&mut app.screens, &app.kept, sides, app.presenting.is_some());
        }
        Err(failure) => _ = app.status.fail(shown!("{failure}")),
    }
    Vec::new()
}

/// Shows the fork that was made of a record.
pub(crate) fn take_made(app: &mut App, record: usize, made: Result<Box<SideBySide>, Shown>) -> Effects {
    if app.across.partner_of.take_if(|wanted| *wanted == record).is_none() {
        return Vec::new();
    }
    match made {
        Ok(sides) => {
            show_side_by_side(&mut app.screens, &app.kept, sides, app.presenting.is_some());
            app.forks.warn_again();
            // Nothing is saved while presenting.
            let can_keep = app.presenting.is_none();
            app.status.say(if can_keep {
                app.keymap.shown("Not saved. <keep> saves as a fork, <back> discards")
            } else {
                Shown::own("Not saved")
            })
        }
        Err(why) => app.status.say(why),
    }
}

/// Keeps the fork that is being looked at.
fn keep_made(app: &mut App) -> Effects {
    let Some(Screen::SideBySide(sides)) = app.screens.top_screen_mut() else { return Vec::new() };
    let Some(unkept) = sides.fork.take() else { return Vec::new() };
    let mut effects = across::keys::leave(app);
    if unkept.is_edit {
        app.forks.forget_edits(&mut app.screens);
    }
    effects.extend(app.keep_fork(unkept.line).map(|(_, effect)| effect));
    effects
}

pub(crate) fn allowed(app: &App, action: Action) -> Result<(), Reason> {
    let unkept = app.screens.side_by_side().and_then(|sides| sides.fork.as_ref());
    match action {
        Action::Baseline | Action::Difference => Ok(()),
        Action::Keep => need(unkept.is_some(), "nothing to save here"),
        Action::NextRecord | Action::PreviousRecord => {
            need(unkept.is_none(), "unsaved fork: <keep> saves, <back> discards")?;
            let by = if action == Action::NextRecord { 1 } else { -1 };
            if is_beside_parent(&app.screens) {
                fork_beside(&app.forks.tree, &app.screens, &app.store, by).map(drop)
            } else {
                let is_paired = |record| has_partner(&app.across, &app.store, &app.review, record);
                pair_from(&app.screens, &app.store, &app.table, by, is_paired).map(drop)
            }
        }
        _ => need(action.is_plain(), across::keys::NOT_HERE),
    }
}

pub(crate) fn act(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    match action {
        Action::Baseline => return Some(across::keys::leave(app)),
        Action::NextRecord | Action::PreviousRecord => {
            let by = if action == Action::NextRecord { times } else { -times };
            return Some(next_beside(app, by).unwrap_or_else(|why| app.status.refuse(&app.keymap, why)));
        }
        Action::Difference => {
            if let Some(sides) = app.screens.side_by_side_mut() {
                sides.all = !sides.all;
                app.kept.shows_same = sides.all;
            }
        }
        Action::Keep => return Some(keep_made(app)),
        Action::Export if procedure::has_procedure(&app.screens) => {
            let record = current(&app.screens, &app.store, &app.table);
            let name = procedure::file_name(&app.store, &app.forks.tree, record);
            app.screens.propose(PromptPurpose::Export, name);
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Scrolls: there is no cursor, the first line on screen is what moves.
pub(crate) fn go(area: Rect, screens: &mut Screens, movement: Move) {
    let (lines, height) = draw::size(screens, area);
    if let Some(sides) = screens.side_by_side_mut() {
        scroll(&mut sides.top, movement, lines, height);
    }
}

/// Checks whether the record that keys are about has a partner, as far as is known.
pub(crate) fn may_put_beside(
    across: &Across,
    store: &Store,
    review: &Review,
    record: Option<usize>,
) -> Result<(), Reason> {
    let record = record.ok_or(NO_RECORD)?;
    let hidden = review.hidden_of(record);
    need(hidden.is_empty(), "fields are hidden until your verdict; <reveal> reveals them")?;
    let Some((compared, address)) = across.compared.as_ref().zip(store.address(record)) else {
        // Not compared yet: which ids occur earlier is known from reading.
        let is_repeated = store.row(record).is_some_and(|row| row.rules().any(|rule| rule == RuleId::DuplicateId));
        return need(!is_repeated, REPEATED);
    };
    need(compared.partner(address).is_some(), no_partner(compared, address))
}

/// Reason that a record whose id occurs earlier has no partner.
const REPEATED: &str =
    "its id occurs earlier in this run, and only the first is compared; the filter cell:duplicate lists such records";

/// Gives the reason that a record has no baseline record.
fn no_partner(compared: &Compared, address: Address) -> &'static str {
    match () {
        () if compared.is_duplicate(address) => REPEATED,
        () if compared.is_repeated(address) => {
            "its question repeats, and no id says which baseline record belongs to it; cell:repeated lists such records"
        }
        () => "no baseline record for this item, by id or by question",
    }
}

/// Puts a record next to its partner in the baseline, once it is known.
pub(crate) fn put_beside(app: &mut App, record: usize) -> Effects {
    let hidden = app.review.hidden_of(record);
    if !hidden.is_empty() {
        let key = app.keymap.key_of(Action::Reveal);
        app.status.say(shown!("Hidden until your verdict: {} · {key} reveals", hidden.phrase()));
        return Vec::new();
    }
    app.across.partner_of = Some(record);
    let Some(compared) = app.across.compared.clone() else {
        app.status.say(Shown::own("joining the runs; the record opens when done"));
        return across::keys::compare(&mut app.across, &app.store, &app.table, app.models.samples);
    };
    let address = app.store.address(record);
    let handle = |partner: Partner| {
        let store = compared.baseline();
        let reading = store.reading(partner.record)?;
        let row = *store.row(partner.record)?;
        Some(RecordHandle {
            record: partner.record,
            reading,
            row,
            name: compared.names.get(1).map(Shown::last_part).unwrap_or_default(),
        })
    };
    let own = app.store.reading(record).zip(app.store.row(record).copied());
    let name = name_of(&app.store, &app.forks.tree, record);
    let own = own.map(|(reading, row)| RecordHandle { record, reading, row, name });
    let other = address.and_then(|address| compared.partner(address)).and_then(handle);
    if let Some((own, other)) = own.zip(other) {
        return vec![Effect::PutSideBySide(record, Box::new([own, other]), Against::Baseline)];
    }
    app.across.partner_of = None;
    app.status.refuse(&app.keymap, address.map_or(NO_RECORD, |address| no_partner(&compared, address)))
}

/// Finds the record so many rows further than the one side by side, with its row.
fn pair_from(
    screens: &Screens,
    store: &Store,
    table: &Table,
    by: isize,
    has_partner: impl Fn(usize) -> bool,
) -> Result<(usize, usize), Reason> {
    let sides = screens.side_by_side().ok_or(NO_RECORD)?;
    let (row, rows) = (table.row_of(sides.record), table.len(store.len()));
    let along = (1..=NEAR).filter_map(|n| row.checked_add_signed(n * by.signum())).filter(|row| *row < rows);
    let record = |row| table.record(row).filter(|record| *record != sides.record && has_partner(*record));
    let next = along.filter_map(|row| Some((row, record(row)?))).take(by.unsigned_abs()).last();
    next.ok_or(if by > 0 { "this is the last matched record" } else { "this is the first matched record" })
}

/// Tells whether a record has a partner, as far as is known and may be shown.
fn has_partner(across: &Across, store: &Store, review: &Review, record: usize) -> bool {
    let known = across.compared.as_ref().zip(store.address(record));
    let has_partner = known.is_none_or(|(compared, address)| compared.partner(address).is_some());
    has_partner && review.hidden_of(record).is_empty()
}

fn is_beside_parent(screens: &Screens) -> bool {
    screens.side_by_side().is_some_and(|sides| sides.against == Against::Parent)
}

fn show_side_by_side(screens: &mut Screens, kept: &ScreenMemory, mut sides: Box<SideBySide>, is_presented: bool) {
    sides.all = kept.shows_same;
    // A hash means nothing to those who watch.
    let is_id = |row: &SideRow| matches!(row, SideRow::Sides { name, .. } if name.as_str() == "id");
    if let Some(at) = sides.rows.iter().position(is_id).filter(|at| is_presented && *at < sides.facts) {
        sides.rows.remove(at);
        sides.facts -= 1;
    }
    screens.open(Screen::SideBySide(sides));
}
