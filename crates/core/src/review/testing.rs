//! Reviews for tests.

use super::event::{Event, ItemRef, LabelRef, Reviewer, Verdict};
use super::fold::Reviews;
use crate::case::Case;
use crate::summary::Summary;

pub(crate) fn summary(text: &str) -> Summary {
    let case = Case::read(text.as_bytes());
    let view = case.view();
    Summary::of(&view, view.findings(), None, 0)
}

/// An item that is known by its id alone.
pub(crate) fn item(id: &str) -> ItemRef {
    ItemRef { id: Some(id.to_owned().into()), ..ItemRef::default() }
}

pub(crate) fn label(id: &str) -> LabelRef {
    LabelRef { id: id.to_owned().into(), set: "default".into(), version: 0 }
}

/// Adds a person's verdict on a record; `more` completes it.
pub(crate) fn say(
    reviews: &mut Reviews,
    who: &str,
    summary: &Summary,
    verdict: Verdict,
    more: impl FnOnce(&mut Event),
) {
    let mut event = Event::verdict(Reviewer::person(who.to_owned()), summary.item.clone(), verdict);
    event.event_id = format!("e{}", reviews.events().len()).into();
    event.seen = summary.seen();
    more(&mut event);
    reviews.push(event);
}
