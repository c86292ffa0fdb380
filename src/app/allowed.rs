//! The actions that can be done now. Keys, footer and palette ask `App::allowed`: a key that is shown works, a key that
//! does not says why.

use crate::app::review::{Given, ReviewDialog};
use crate::app::state::App;
use crate::app::{across, export, present, review, seek};
use crate::dialogs::dialog::Dialog;
use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::screens::kind::ScreenKind;
use crate::screens::run::state::{RecordView, RunPane, Tab};
use crate::screens::stack::Focus;
use crate::screens::{adjudication, compare, dashboard, insights, rerun, run, side_by_side};
use crate::widgets::keymap::{Action, Context, Reason, need};
use stepscope_core::record::RecordKind;

impl App {
    /// Checks that an action can be done now; `Err` holds the reason why not.
    pub fn allowed(&self, action: Action) -> Result<(), Reason> {
        self.allowed_at(self.focus(), action)
    }

    /// Checks that an action could be done if this were in front.
    pub(crate) fn allowed_at(&self, front: Focus, action: Action) -> Result<(), Reason> {
        present::keys::allowed(self, action)?;
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
            Some(Dialog::Palette(line)) => {
                let rows = app.palette_rows(line.value());
                let chosen = rows.get(app.scroll.at).ok_or("No matching command")?;
                return app.allowed_at(app.focus_below_dialog(), chosen.action);
            }
            Some(Dialog::Export) => return export::may_write(app),
            _ => matches!(kind, K::Derivation | K::Contents | K::Fixes),
        },
        A::Fold if kind == K::Export => true,
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
    use Action as A;
    if action == A::Review
        && let Some(why) = app.review.place.why_not()
    {
        return Err(why);
    }
    if action == A::CopyLink {
        return seek::follow::link(app).map(drop);
    }
    if let Some(said) = across::keys::allowed(app, screen, action) {
        return said;
    }
    match screen {
        _ if action == A::SaveAgain => {}
        _ if action == A::Explain => return Ok(()),
        ScreenKind::Compare => return compare::keys::allowed(app, action),
        ScreenKind::SideBySide => return side_by_side::keys::allowed(app, action),
        ScreenKind::Dashboard => return dashboard::keys::allowed(app, action),
        ScreenKind::Adjudication => return adjudication::keys::allowed(app, action),
        ScreenKind::Insights => return insights::keys::allowed(app, action),
        ScreenKind::Table | ScreenKind::Run | ScreenKind::Answer | ScreenKind::Json | ScreenKind::Rerun => {}
    }
    let view = app.screens.record();
    let steps = view.is_some_and(|view| view.opened.has_steps());
    if let Some(allowed) = review::keys::review_allowed(app, screen, action) {
        return allowed;
    }
    let forks = makes_fork(action);
    if forks && view.is_some_and(|view| !view.opened.hidden.is_empty()) {
        // A fork is bound to the whole text of its parent.
        return Err("fields are hidden until your verdict; <reveal> reveals them");
    }
    if forks && view.is_some_and(|view| view.opened.kind == RecordKind::Chain) {
        return Err("a chain of thought has no procedure to run again");
    }
    match action {
        A::Open | A::CopyRecord | A::CopyQuestion if screen == ScreenKind::Table => {
            need(app.record().is_some(), "no record here")
        }
        A::Open | A::Keep | A::Edit if screen == ScreenKind::Rerun => rerun::keys::may_rerun(app, action),
        A::Open if screen == ScreenKind::Answer => {
            let answer = view.and_then(|view| view.answer.as_ref()).filter(|answer| answer.pane != AnswerPane::Checks);
            answer.map_or(Ok(()), AnswerView::may_show_place)
        }
        A::Open => need(screen != ScreenKind::Json, "use <fold> to fold"),
        A::Json if screen == ScreenKind::Table => need(app.record().is_some(), "no record here"),
        A::Difference if screen == ScreenKind::Table => {
            need(app.record().is_some(), "no record here")?;
            need(app.parent_of_current().is_some(), "not a fork")
        }
        A::NextStep | A::PreviousStep | A::Difference | A::Writer | A::Reader => {
            need(steps, "this record has no steps")?;
            need(screen == ScreenKind::Run, "go back to the run first (<back>)")?;
            match (view, action) {
                (Some(view), A::NextStep) => view.may_walk(1),
                (Some(view), A::PreviousStep) => view.may_walk(-1),
                (Some(view), A::Writer) => view.writer().map(drop),
                (Some(view), A::Reader) => view.reader().map(drop),
                _ => Ok(()),
            }
        }
        A::Prove => {
            need(screen == ScreenKind::Run, "go back to the run first (<back>)")?;
            need(view.is_some_and(RecordView::can_prove), "no recomputed value here")
        }
        A::CopyStep => need(steps && screen == ScreenKind::Run, "no step here"),
        A::CopyValue | A::CopyPath => need(screen != ScreenKind::Table, "open the record first"),
        A::NextPane | A::PreviousPane | A::Maximise => {
            let has_panes = matches!(screen, ScreenKind::Run | ScreenKind::Answer | ScreenKind::Rerun);
            need(has_panes, "this screen has one pane")
        }
        A::NextCitation | A::PreviousCitation | A::CopyQuote | A::Contents => {
            need(screen == ScreenKind::Answer, "only for answers with citations")?;
            let answer = view.and_then(|view| view.answer.as_ref());
            match action {
                A::CopyQuote => Ok(()),
                A::Contents => {
                    let document = view.and_then(RecordView::document);
                    let has_contents = document.map(|document| !document.toc().is_empty());
                    need(has_contents.ok_or("the document was not found")?, "the document has no table of contents")
                }
                _ => need(answer.is_some_and(AnswerView::cites), "this answer has no citations"),
            }
        }
        A::Rerun | A::RerunFromHere | A::RerunStale | A::RerunSamples => rerun::keys::may_rerun(app, action),
        A::Json if screen == ScreenKind::Rerun => need(false, "go back to the run first (<back>)"),
        A::Rewards => match view.filter(|_| screen != ScreenKind::Table) {
            Some(view) => need(view.opened.rewards.is_some(), "no verifier; start with --chain or --verifier"),
            None => need(false, "open the record first"),
        },
        A::NextRecord | A::PreviousRecord if screen == ScreenKind::Rerun => Err("go back to the run first (<back>)"),
        A::NextRecord | A::PreviousRecord => {
            need(app.rows() > 1, "this is the only record")?;
            app.record_from(if action == A::NextRecord { 1 } else { -1 }).map(drop)
        }
        A::NextFinding | A::PreviousFinding => match view {
            Some(view) if screen != ScreenKind::Table => {
                need(screen != ScreenKind::Rerun, "go back to the run first (<back>)")?;
                need(!view.opened.notes.is_empty(), "no findings in this record")
            }
            _ => {
                need(app.rows() > 0, "no records")?;
                need(others_have_findings(app), "no other record has findings")
            }
        },
        A::NextFork | A::PreviousFork => {
            need(screen != ScreenKind::Rerun, "go back to the run first (<back>)")?;
            need(app.has_forks(), "this record has no forks")
        }
        A::Exact | A::Repair | A::Between => need(steps && screen == ScreenKind::Run, "open a run with steps first"),
        A::Edit => {
            need(steps && screen == ScreenKind::Run, "open a run with steps first")?;
            let place = view.is_some_and(|view| match view.pane {
                RunPane::State | RunPane::Steps | RunPane::Timeline | RunPane::Findings => true,
                pane => pane == RunPane::Step && view.tab == Tab::Prompt,
            });
            need(place, "select a variable, or the prompt of a step (<next_pane>)")?;
            run::edit::may_edit(app)
        }
        A::Keep if screen == ScreenKind::Run => {
            let edited = view.is_some_and(|view| !view.edits.values.is_empty());
            need(edited, "no overrides; <edit> overrides a value")
        }
        A::Keep => need(false, "nothing to save here"),
        A::DropEdits => need(view.is_some_and(|view| !view.edits.is_empty()), "no overrides"),
        A::TakeEdit | A::ExternalEditor | A::NewLabel | A::RenameLabel | A::MergeLabel | A::Confirm | A::DropText => {
            need(false, "only while typing text")
        }
        A::SaveAgain => need(app.log.failed_forks() + app.log.failed_events() > 0, "everything is saved"),
        A::GiveLabel | A::SaveFail | A::FindLabel | A::PutAside => Err("press <fail> first"),
        A::FindNext | A::FindPrevious => need(has_search(app, screen), "no search yet; <find> searches"),
        A::Find => {
            need(screen != ScreenKind::Rerun, "go back to the run first (<back>)")?;
            need(screen != ScreenKind::Table || !app.has_no_records(), "no records")
        }
        A::Frequency | A::Filter | A::SortNext | A::SortPrevious | A::SortReverse => {
            need(screen == ScreenKind::Table, "go back to the table first")?;
            need(!app.has_no_records(), "no records")
        }
        A::Fold | A::FoldAll | A::UnfoldAll | A::NextSibling | A::PreviousSibling => {
            need(screen == ScreenKind::Json, "open the raw JSON first (<json>)")
        }
        _ => Ok(()),
    }
}

/// Tells whether a record other than the one under the cursor has findings, listed in the table or not.
fn others_have_findings(app: &App) -> bool {
    if !app.review.hide.is_empty() {
        return app.store.len() > 1;
    }
    let own = app.record().and_then(|record| app.store.row(record)).map(|row| row.counts).unwrap_or_default();
    app.store.totals().with.iter().zip(own).any(|(&with, own)| with > usize::from(own > 0))
}

fn has_search(app: &App, screen: ScreenKind) -> bool {
    matches!(screen, ScreenKind::Table | ScreenKind::Run | ScreenKind::Answer | ScreenKind::Json)
        && (app.table.finding.is_some() || app.screens.record().is_some_and(RecordView::has_searched))
}
