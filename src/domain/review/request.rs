//! What a program asks to have said: `{"id": "a-1", "verdict": "fail", "labels": ["slip"], "note": "..."}`, with any
//! other member of an event under its own name. The short form of `stepscope review add`.

use super::event::{Event, EventKind, GoldStatus, Item, LabelRef, MAX_TEXT, Reviewer, Text, Verdict};
use super::labels::LabelSets;
use super::line;
use crate::domain::canonical::write_ascii;
use crate::domain::json::{Kind, Value};
use crate::domain::text::{Shown, Untrusted};
use crate::shown;

/// Makes an event of it; what it lacks is the caller's to add or to refuse.
pub fn read(value: Value<'_>, reviewer: &Reviewer, sets: &LabelSets<'_>) -> Result<Event, Shown> {
    if value.kind() != Kind::Object {
        return Err(Shown::own("this is no JSON object"));
    }
    let verdict = word(value, "verdict", Verdict::from_word, "pass, fail, defer or skip")?;
    let kind = word(value, "kind", EventKind::from_word, "verdict, note, label_set, undo, adjudicate or reveal")?;
    let kind = kind.unwrap_or(if verdict.is_none() && value.get("note").is_some() {
        EventKind::Note
    } else {
        EventKind::Verdict
    });
    let mut event = Event::new(kind, reviewer.clone());
    event.item = item(value);
    event.verdict = verdict;
    event.labels = labels(value, sets);
    event.fix_target = line::text(value, "fix_target");
    event.first_bad_step = line::whole(value, "first_bad_step");
    event.variable = line::text(value, "variable");
    event.anchors = line::items(value, "anchors").filter_map(line::read_anchor).collect();
    event.gold_status = word(value, "gold_status", GoldStatus::from_word, "ok, suspect or wrong")?;
    event.correction = value.get("correction").filter(|value| !value.is_null()).map(|value| {
        let mut json = Vec::new();
        write_ascii(value, &mut json);
        Untrusted::owned(json)
    });
    event.note = line::text(value, "note");
    event.times.active_ms = line::whole(value, "active_ms");
    event.supersedes = line::text(value, "supersedes");
    event.adjudicates = line::texts(value, "adjudicates");
    event.revealed = line::texts(value, "revealed");
    event.label_set = value.get("label_set").and_then(line::read_label_set);
    for (name, text) in [("note", &event.note), ("correction", &event.correction)] {
        if text.as_ref().is_some_and(|text| text.bytes().len() > MAX_TEXT) {
            return Err(shown!("the {name} is longer than {} kB", MAX_TEXT >> 10));
        }
    }
    Ok(event)
}

fn item(value: Value<'_>) -> Option<Item> {
    let id = value.get("id").and_then(|id| match id.kind() {
        Kind::Int | Kind::Float => Some(Untrusted::new(id.raw()).to_owned()),
        _ => id.string().map(Untrusted::into_owned),
    });
    let (dataset, side) = (line::text(value, "dataset"), line::text(value, "side"));
    let row_index = line::whole(value, "row_index");
    (id.is_some() || row_index.is_some()).then_some(Item { dataset, id, row_index, side })
}

/// Labels by their ids or names, as a list or as one text with `;` between them.
fn labels(value: Value<'_>, sets: &LabelSets<'_>) -> Vec<LabelRef> {
    if let Some(text) = line::text(value, "labels") {
        return split(&text).map(|label| sets.give(&label)).collect();
    }
    let label = |label: Value<'_>| match label.string() {
        Some(text) => Some(sets.give(&text.into_owned())),
        None => line::label_ref(label),
    };
    line::items(value, "labels").filter_map(label).collect()
}

/// The labels of one text.
pub fn split(text: &Text) -> impl Iterator<Item = Text> + '_ {
    let parts = text.bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    parts.filter(|part| !part.is_empty()).map(|part| Untrusted::new(part).into_owned())
}

fn word<T>(
    value: Value<'_>,
    key: &'static str,
    known: impl Fn(&str) -> Option<T>,
    words: &'static str,
) -> Result<Option<T>, Shown> {
    let Some(word) = value.get(key).filter(|word| !word.is_null()) else { return Ok(None) };
    let said = word.string().unwrap_or_else(|| Untrusted::new(word.raw()));
    match said.utf8().and_then(known) {
        Some(known) => Ok(Some(known)),
        None => Err(shown!("the {key} {} is none of {words}", said.line().cut(40))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::json::Tape;
    use crate::domain::review::event::{Label, LabelSet, ReviewerKind};

    fn asked(json: &str) -> Result<Event, String> {
        let set = LabelSet {
            id: "default".into(),
            version: 3,
            labels: vec![Label { id: "slip".into(), name: "arithmetic slip".into() }],
            mapping: vec![],
        };
        let who = Reviewer { id: "ada".into(), kind: ReviewerKind::Person };
        let mut tape = Tape::default();
        read(tape.parse(json.as_bytes()).unwrap(), &who, &LabelSets::of([&set])).map_err(Shown::into_string)
    }

    #[test]
    fn the_short_form_is_an_event() {
        let event =
            asked(r#"{"id": 35, "verdict": "fail", "labels": ["slip", "arithmetic slip", "own"], "note": "n"}"#);
        let event = event.unwrap();
        assert_eq!((event.kind, event.verdict, event.lacks()), (EventKind::Verdict, Some(Verdict::Fail), None));
        assert_eq!(event.item.unwrap().id, Some("35".into()));
        let labels: Vec<_> = event.labels.iter().map(|label| (label.id.utf8().unwrap(), label.version)).collect();
        assert_eq!(labels, [("slip", 3), ("slip", 3), ("own", 3)]);
        assert_eq!(asked(r#"{"id": "a", "note": "x"}"#).unwrap().kind, EventKind::Note);
        let more =
            asked(r#"{"row_index": 0, "verdict": "pass", "labels": "a; b;", "correction": {"b": 1.50, "a": 2}}"#);
        let more = more.unwrap();
        assert_eq!((more.labels.len(), more.correction), (2, Some(r#"{"a":2,"b":1.50}"#.into())));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert!(asked("[]").unwrap_err().contains("no JSON object"));
        assert!(
            asked(r#"{"id": 1, "verdict": "\u001bmaybe"}"#).unwrap_err().starts_with("the verdict ␛maybe is none of")
        );
        assert!(asked(r#"{"id": 1, "verdict": "pass", "gold_status": 3}"#).unwrap_err().contains("ok, suspect"));
        assert_eq!(asked(r#"{"verdict": "pass"}"#).unwrap().lacks(), Some("an item with an id or a row_index"));
        assert_eq!(asked(r#"{"id": 1}"#).unwrap().lacks(), Some("a verdict"));
        let long = format!(r#"{{"id": 1, "note": "{}"}}"#, "x".repeat(MAX_TEXT + 1));
        assert!(asked(&long).unwrap_err().contains("longer than 64 kB"));
    }
}
