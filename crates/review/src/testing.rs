//! Reviews for tests.

use super::event::{
    Anchor, Event, GoldStatus, ItemRef, LabelDefinition, LabelRef, LabelSet, ReviewTimes, Reviewer, SeenRecord, Text,
    Verdict,
};
use super::fold::Reviews;
use crate::summary::Summary;
use stepscope_base::canonical::Digest;
use stepscope_judge::case::Case;

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
    event.event_id = format!("e{}", reviews.len()).into();
    event.seen = summary.seen();
    more(&mut event);
    reviews.push(event);
}

/// Creates an event in which everything is said.
pub(crate) fn full() -> Event {
    let text = |text: &str| Text::from(text.to_owned());
    let item = ItemRef { dataset: Some("runs.jsonl".into()), id: Some("a-1".into()), row_index: Some(7), side: None };
    let mut event = Event::verdict(Reviewer::person("ada"), item, Verdict::Fail);
    event.event_id = "0192f1de-0000-7000-8000-000000000001".into();
    event.seen = SeenRecord {
        content_sha256: Some(Digest::of_bytes(b"x")),
        input_sha256: Some(Digest::of_bytes(b"y")),
        execution: Some("rec".into()),
        hidden: vec!["gold".into()],
        answer: Some("7".into()),
    };
    event.labels = vec![LabelRef { id: "slip".into(), set: "default".into(), version: 2 }];
    event.fix_target = Some("step_run".into());
    event.first_bad_step = Some(3);
    event.variable = Some("total".into());
    event.anchors = vec![
        Anchor::Pointer("/state/total".into()),
        Anchor::Span {
            document: "a.pdf".into(),
            numbering: "global_0".into(),
            page: Some(2),
            line_start: 4,
            line_end: 6,
            quote: Some("quoted".into()),
        },
    ];
    event.gold_status = Some(GoldStatus::Suspect);
    event.correction = Some(text(r#"{"a":[1.50,"x"]}"#));
    event.note = Some(text("two\nlines, \u{1b}[31m and \u{1f600}"));
    event.draft = true;
    event.times = ReviewTimes { shown: Some("s".into()), decided: Some("d".into()), active_ms: Some(1200) };
    event.findings = Some(vec!["run/recompute".into()]);
    event.supersedes = Some("earlier".into());
    event.drawn = Some("7:doubtful".into());
    event.adjudicates = vec!["one".into(), "two".into()];
    event.revealed = vec!["gold".into()];
    event.label_set = Some(Box::new(LabelSet {
        id: "default".into(),
        version: 2,
        labels: vec![LabelDefinition {
            id: "slip".into(),
            name: "arithmetic slip".into(),
            guideline: Some("A wrong result.".into()),
            example: Some("2 + 2 = 5".into()),
        }],
        mapping: vec![("sum".into(), vec!["slip".into()]), ("gone".into(), vec![])],
    }));
    event.tool_version = "0.1.0".into();
    event
}
