//! Needs of actions on screens that say nothing of them, and in dialogs.

use crate::app::export;
use crate::app::fork_tree::ForkTree;
use crate::app::log::Log;
use crate::app::records::record_from;
use crate::app::review::ask::{allowed_for_label, labels_that_fit};
use crate::app::review::{Given, Review, ReviewDialog};
use crate::app::state::App;
use crate::app::state::Outside;
use crate::app::wanted::Wanted;
use crate::dialogs::dialog::Dialog;
use crate::screens::run::state::RecordView;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Context, GO_BACK, NO_SEARCH, OPEN_RECORD, Reason, need};
use stepscope_io::pipeline::store::Store;

/// Reason given in a dialog for what is done elsewhere.
pub(crate) const CLOSE_FIRST: Reason = "close this window first (<escape>)";

/// Refuses below a re-run what is done to the steps of the run.
pub(crate) fn of_steps(view: Option<&RecordView>) -> Result<(), Reason> {
    need(view.is_some_and(|view| view.opened.has_steps()), "this record has no steps")?;
    Err(GO_BACK)
}

pub(crate) fn has_rewards(view: Option<&RecordView>) -> Result<(), Reason> {
    need(view.ok_or(OPEN_RECORD)?.opened.rewards.is_some(), "no verifier; start with --chain or --verifier")
}

pub(crate) fn has_edits(view: Option<&RecordView>) -> Result<(), Reason> {
    need(view.is_some_and(|view| !view.edits.is_empty()), "no overrides")
}

/// Checks that there is a record so many rows further.
pub(crate) fn may_turn(
    screens: &Screens,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    by: isize,
) -> Result<(), Reason> {
    need(table.len(store.len()) > 1, "this is the only record")?;
    record_from(screens, store, table, forks, by).map(drop)
}

/// Checks that a record other than the one that keys are about is what is sought.
pub(crate) fn are_wanted(
    store: &Store,
    table: &Table,
    review: &Review,
    current: Option<usize>,
    action: Action,
) -> Result<(), Reason> {
    need(table.len(store.len()) > 0, "no records")?;
    let wanted = Wanted::of(action);
    let others = wanted.are_others(store.totals(), current.and_then(|record| store.row(record)));
    need(others || !review.hide.is_empty() && store.len() > 1, wanted.none())
}

pub(crate) fn has_findings(view: Option<&RecordView>) -> Result<(), Reason> {
    need(view.is_some_and(|view| !view.opened.notes.is_empty()), "no findings in this record")
}

pub(crate) fn has_searched(screens: &Screens, table: &Table) -> Result<(), Reason> {
    let in_record = screens.record().is_some_and(RecordView::has_searched);
    need(table.finding.is_some() || in_record, NO_SEARCH)
}

/// Checks that something is not saved.
pub(crate) fn is_unsaved(log: &Log) -> Result<(), Reason> {
    need(log.failed_forks() + log.failed_events() > 0, "everything is saved")
}

// Dialogs.

pub(crate) const fn unless_typing(kind: Context, _: &Dialog) -> bool {
    !kind.takes_text()
}

pub(crate) const fn scrolls(kind: Context, _: &Dialog) -> bool {
    !matches!(kind, Context::Confirm | Context::Drop | Context::Repair)
}

pub(crate) const fn in_derivation(kind: Context, _: &Dialog) -> bool {
    matches!(kind, Context::Derivation)
}

pub(crate) const fn folds(kind: Context, _: &Dialog) -> bool {
    matches!(kind, Context::Derivation | Context::Export)
}

pub(crate) const fn on_text(_: Context, dialog: &Dialog) -> bool {
    matches!(dialog, Dialog::Popup(_) | Dialog::Derivation(_))
}

pub(crate) const fn in_help(_: Context, dialog: &Dialog) -> bool {
    matches!(dialog, Dialog::Help)
}

pub(crate) const fn in_views(kind: Context, _: &Dialog) -> bool {
    matches!(kind, Context::Views)
}

pub(crate) const fn in_batch(_: Context, dialog: &Dialog) -> bool {
    matches!(dialog, Dialog::Review(ReviewDialog::Confirm { given: Given::Same(_), .. }))
}

pub(crate) const fn takes_edit(kind: Context, _: &Dialog) -> bool {
    matches!(kind, Context::Editor | Context::Line)
}

pub(crate) fn may_leave_to_editor(outside: &Outside, kind: Context) -> Result<(), Reason> {
    need(kind == Context::Editor, "only while typing text")?;
    need(outside.command.is_some(), "no editor set; set $VISUAL or $EDITOR before you start")
}

/// Checks that the row under the cursor of a dialog can be opened.
pub(crate) fn may_open_in(app: &App, kind: Context) -> Result<(), Reason> {
    match &app.screens.dialog {
        Some(Dialog::Repair(repair)) => need(repair.machine.is_over && repair.machine.is_changed, CLOSE_FIRST),
        Some(Dialog::Review(_)) => {
            let fits = labels_that_fit(&app.screens, &app.across, &app.review, &app.store, &app.table);
            allowed_for_label(app.screens.dialog.as_ref(), &fits, Action::Open)
        }
        Some(Dialog::Palette(palette)) => {
            let rows = app.palette_rows(palette);
            let chosen = rows.get(app.screens.scroll.at).ok_or("No matching command")?;
            app.allowed_at(app.focus_below_dialog(), chosen.binding.action)
        }
        Some(Dialog::Export) => {
            let record = export::record_in_front(&app.screens, &app.store, &app.table);
            export::may_write(export::chosen(app.screens.scroll), record, &app.screens)
        }
        _ => {
            let is_list = matches!(kind, Context::Derivation | Context::Contents | Context::Views | Context::Fixes);
            need(is_list, CLOSE_FIRST)
        }
    }
}
