//! The actions that can be done now. Keys, footer and palette ask `App::allowed`: a key that is shown works, a key that
//! does not says why.

use crate::app::review::{Given, ReviewDialog};
use crate::app::state::App;
use crate::app::wanted::Wanted;
use crate::app::{across, export, present, review, seek};
use crate::dialogs::dialog::Dialog;
use crate::screens::kind::ScreenKind;
use crate::screens::rerun;
use crate::screens::run::state::RecordView;
use crate::screens::stack::Focus;
use crate::widgets::keymap::{Action, Context, GO_BACK, NO_SEARCH, OPEN_RECORD, Reason, need};
use stepscope_core::record::RecordKind;

impl App {
    /// Checks that an action can be done now; `Err` holds the reason why not.
    pub fn allowed(&self, action: Action) -> Result<(), Reason> {
        self.allowed_at(self.focus(), action)
    }

    /// Checks that an action could be done if this were in front.
    pub(crate) fn allowed_at(&self, front: Focus, action: Action) -> Result<(), Reason> {
        present::keys::allowed(self, front, action)?;
        match front {
            Focus::Dialog(kind) => allowed_in(self, kind, action),
            Focus::Decision
                if matches!(action, Action::Open | Action::GiveLabel | Action::FindLabel | Action::Escape) =>
            {
                Ok(())
            }
            Focus::Decision => need(action.is_plain(), "cancel the final verdict first (<escape>)"),
            Focus::Screen(screen) | Focus::Labels(screen) => {
                may_act(self, screen, action)?;
                allowed_on(self, screen, action)
            }
        }
    }
}

/// Tells whether an action makes a fork of the open record.
const fn makes_fork(action: Action) -> bool {
    use Action as A;
    matches!(action, A::Rerun | A::RerunFromHere | A::RerunStale | A::RerunSamples | A::Exact | A::Repair | A::Edit)
}

/// Refuses what is done to the open record while it has no place in the list: its file was replaced.
fn may_act(app: &App, screen: ScreenKind, action: Action) -> Result<(), Reason> {
    use Action as A;
    let leads_elsewhere = matches!(
        action,
        A::NextOpen | A::NextRecord | A::PreviousRecord | A::NextFork | A::PreviousFork | A::Difference | A::Between
    );
    let acts = makes_fork(action)
        || review::keys::judges_record(action)
        || leads_elsewhere
        || matches!(action, A::Export | A::GiveLabel | A::SaveFail | A::SameVerdict | A::Reveal | A::CopyLink)
        || action == A::Keep && screen == ScreenKind::Run;
    let lost = app.screens.record().is_some_and(|view| screen.is_of_record() && view.lost.is_some());
    if !acts || !lost {
        return Ok(());
    }
    need(!app.is_looked_for(), "its file was replaced: this record is looked for in it")?;
    Err("its file was replaced, and this record is not in it as it is shown; <back>, then open it again")
}

/// Checks that an action can be done in a dialog.
fn allowed_in(app: &App, kind: Context, action: Action) -> Result<(), Reason> {
    use Action as A;
    use Context as K;
    let dialog = app.dialog.as_ref();
    let holds = match action {
        A::Escape | A::Back => true,
        A::Theme | A::Mouse | A::Redraw | A::Suspend | A::Quit => !kind.takes_text(),
        _ if action.is_movement() => !matches!(kind, K::Confirm | K::Drop | K::Repair),
        A::CopyValue => matches!(dialog, Some(Dialog::Popup(_) | Dialog::Derivation(_))),
        A::Open => match dialog {
            Some(Dialog::Repair(repair)) => repair.machine.is_over && repair.machine.is_changed,
            Some(Dialog::Review(_)) => return review::ask::allowed_for_label(app, action),
            Some(Dialog::Palette(palette)) => {
                let rows = app.palette_rows(palette);
                let chosen = rows.get(app.scroll.at).ok_or("No matching command")?;
                return app.allowed_at(app.focus_below_dialog(), chosen.action);
            }
            Some(Dialog::Export) => return export::may_write(app),
            _ => matches!(kind, K::Derivation | K::Contents | K::Fixes),
        },
        A::Fold if kind == K::Export => true,
        A::Find => matches!(dialog, Some(Dialog::Help)),
        A::Left | A::Right | A::Fold | A::FoldAll | A::UnfoldAll => kind == K::Derivation,
        A::TakeEdit => matches!(kind, K::Editor | K::Line),
        A::ExternalEditor => {
            need(kind == K::Editor, "only while typing text")?;
            return need(app.outside.command.is_some(), "no editor set; set $VISUAL or $EDITOR before you start");
        }
        A::NewLabel | A::RenameLabel | A::MergeLabel => return review::ask::allowed_for_label(app, action),
        A::Confirm => kind == K::Confirm,
        A::Filter => matches!(dialog, Some(Dialog::Review(ReviewDialog::Confirm { given: Given::Same(_), .. }))),
        A::DropText => kind == K::Drop,
        _ => false,
    };
    need(holds, "close this window first (<escape>)")
}

/// Checks that an action can be done on a screen.
fn allowed_on(app: &App, screen: ScreenKind, action: Action) -> Result<(), Reason> {
    match action {
        Action::Review => return app.review.place.why_not().map_or(Ok(()), Err),
        Action::CopyLink => return seek::follow::link(app).map(drop),
        Action::SaveAgain => {
            return need(app.log.failed_forks() + app.log.failed_events() > 0, "everything is saved");
        }
        Action::Explain => return Ok(()),
        _ => {}
    }
    let shows_record = screen == ScreenKind::Table || screen.is_of_record();
    let said = across::keys::allowed(app, screen, action)
        .or_else(|| if shows_record { on_record(app, screen, action) } else { None });
    let on_screen = || (screen.def().allowed)(app, action);
    said.or_else(on_screen).unwrap_or_else(|| elsewhere(app, action))
}

/// Checks what is said of every record: its review, and that a fork can be made of it; `None`: the screen knows.
fn on_record(app: &App, screen: ScreenKind, action: Action) -> Option<Result<(), Reason>> {
    if let Some(said) = review::keys::review_allowed(app, screen, action) {
        return Some(said);
    }
    let opened = &app.screens.record().filter(|_| makes_fork(action))?.opened;
    if !opened.hidden.is_empty() {
        // A fork is bound to the whole text of its parent.
        return Some(Err("fields are hidden until your verdict; <reveal> reveals them"));
    }
    (opened.kind == RecordKind::Chain).then_some(Err("a chain of thought has no procedure to run again"))
}

/// Checks an action of which the screen itself, one with a record or the table, says nothing.
fn elsewhere(app: &App, action: Action) -> Result<(), Reason> {
    use Action as A;
    let view = app.screens.record();
    match action {
        A::NextStep | A::PreviousStep | A::Difference | A::Writer | A::Reader => {
            need(view.is_some_and(|view| view.opened.has_steps()), "this record has no steps")?;
            Err(GO_BACK)
        }
        A::Prove => Err(GO_BACK),
        A::CopyStep => Err("no step here"),
        A::NextPane | A::PreviousPane | A::Maximise => Err("this screen has one pane"),
        A::NextCitation | A::PreviousCitation | A::CopyQuote | A::Contents => Err("only for answers with citations"),
        A::Rerun | A::RerunFromHere | A::RerunStale | A::RerunSamples => rerun::keys::may_rerun(app, action),
        A::Rewards => {
            need(view.ok_or(OPEN_RECORD)?.opened.rewards.is_some(), "no verifier; start with --chain or --verifier")
        }
        A::NextRecord | A::PreviousRecord => {
            need(app.rows() > 1, "this is the only record")?;
            app.record_from(if action == A::NextRecord { 1 } else { -1 }).map(drop)
        }
        _ if Wanted::is_sought_by(action, app.screens.top() == ScreenKind::Table) => {
            need(app.rows() > 0, "no records")?;
            let wanted = Wanted::of(action);
            let own = app.current().and_then(|record| app.store.row(record));
            let others = wanted.are_others(app.store.totals(), own);
            need(others || !app.review.hide.is_empty() && app.store.len() > 1, wanted.none())
        }
        A::NextFinding | A::PreviousFinding => {
            need(view.is_some_and(|view| !view.opened.notes.is_empty()), "no findings in this record")
        }
        A::JumpBack | A::JumpForth => app.jumps.allowed(action),
        A::NextFork | A::PreviousFork => need(app.has_forks(), "this record has no forks"),
        A::Exact | A::Repair | A::Between | A::Edit => Err("open a run with steps first"),
        A::Keep => Err("nothing to save here"),
        A::DropEdits => need(view.is_some_and(|view| !view.edits.is_empty()), "no overrides"),
        A::TakeEdit | A::ExternalEditor | A::NewLabel | A::RenameLabel | A::MergeLabel | A::Confirm | A::DropText => {
            Err("only while typing text")
        }
        A::FindNext | A::FindPrevious => {
            let has_searched = app.table.finding.is_some() || view.is_some_and(RecordView::has_searched);
            need(has_searched, NO_SEARCH)
        }
        A::Frequency | A::Filter | A::SortNext | A::SortPrevious | A::SortReverse => Err("go back to the table first"),
        A::Fold | A::FoldAll | A::UnfoldAll | A::NextSibling | A::PreviousSibling => {
            Err("open the raw JSON first (<json>)")
        }
        _ => Ok(()),
    }
}
