//! Checks of what can be said of the record in front; `Err` holds the reason why not.

use crate::app::review::{Review, ReviewLog};
use crate::screens::kind::ScreenKind;
use crate::screens::run::state::RecordView;
use crate::screens::table::state::SortBy;
use crate::widgets::keymap::{GO_BACK, NO_RECORD, OPEN_RECORD, Reason, need};

/// Reason given when verdict keys do nothing.
const OFF: &str = "Not reviewing, so verdict keys are off. :review (or --queue) starts a review";

/// The screen in front, and the records that a verdict there can be about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFront<'a> {
    /// The screen.
    pub screen: ScreenKind,
    /// The record under the cursor of the table.
    pub row: Option<usize>,
    /// The open record.
    pub view: Option<&'a RecordView>,
    /// Key by which the table is sorted.
    pub order: SortBy,
}

impl InFront<'_> {
    /// Checks that there is a record to be judged.
    fn has_target(self) -> Result<(), Reason> {
        match self.screen {
            ScreenKind::Table => need(self.row.is_some(), NO_RECORD),
            ScreenKind::Rerun | ScreenKind::Live => Err(GO_BACK),
            _ => need(self.view.is_some(), OPEN_RECORD),
        }
    }
}

/// Checks that a review was begun; `Err` says how to begin one.
pub(crate) fn may_review(review: &Review) -> Result<(), Reason> {
    match &review.place {
        ReviewLog::ReadOnly(why) | ReviewLog::Nowhere(why) => Err(why),
        ReviewLog::Journal(_) => need(review.reviewing, OFF),
    }
}

/// Checks that a review was begun, and that there is a record to be judged.
pub(crate) fn may_judge(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_review(review).and_then(|()| front.has_target())
}

/// Checks that the record can be left without a verdict.
pub(crate) fn may_pass_over(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_judge(review, front)?;
    let again = front.screen != ScreenKind::Table && review.target.as_ref().is_some_and(|target| target.again);
    need(!again, "a repeat is judged again or left; the first verdict is kept")
}

/// Checks that an item of an answer can be judged.
pub(crate) fn may_judge_part(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_judge(review, front)?;
    let answer = front.view.and_then(|view| view.answer.as_ref());
    let there = front.screen == ScreenKind::Answer && answer.is_some_and(|answer| answer.part().is_some());
    need(there, "only for the items of an answer with citations")
}

/// Checks that a step can be named.
pub(crate) fn may_name_step(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_judge(review, front)?;
    need(front.screen != ScreenKind::Table, OPEN_RECORD)?;
    need(front.view.is_some_and(|view| view.opened.has_steps()), "this record has no steps")
}

/// Checks that there is something to reveal.
pub(crate) fn may_reveal(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_review(review)?;
    let is_hidden = review.target.as_ref().is_some_and(|target| !target.hidden.is_empty());
    need(is_hidden && front.screen != ScreenKind::Table, "nothing is hidden here")
}

/// Checks what holds for all keys about verdicts that were given.
fn may_change(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    if front.screen.is_judged_on() { may_review(review) } else { may_judge(review, front) }
}

pub(crate) fn may_undo(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_change(review, front)?;
    need(!review.to_undo().is_empty(), "nothing to undo")
}

pub(crate) fn may_redo(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_change(review, front)?;
    need(!review.undone.is_empty(), "nothing to redo")
}

/// Checks that the last verdict can be given to other records.
pub(crate) fn may_repeat(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_change(review, front)?;
    match review.same {
        Ok(_) => Ok(()),
        Err(_) if front.order != SortBy::Review => {
            Err("only in the order of the queue: sort by the review column, or start with --queue")
        }
        Err(why) => Err(why),
    }
}

/// Checks that all listed records can be judged.
pub(crate) fn may_label_all(review: &Review, front: InFront<'_>) -> Result<(), Reason> {
    may_review(review)?;
    need(front.screen == ScreenKind::Table, "go back to the table first")?;
    front.has_target()
}

/// Checks that labels are being given.
pub(crate) fn may_label(review: &Review, _: InFront<'_>) -> Result<(), Reason> {
    need(review.draft.choosing, "press <fail> first")
}
