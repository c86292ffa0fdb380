//! Verdicts as programs write them: `{"id": "a-1", "verdict": "fail", "labels": ["slip"], "note": "..."}`, with
//! other members of an event under their own names. The short form of `stepscope review add`.

use super::draw::Draw;
use super::event::{AnswerPart, Event, EventKind, GoldStatus, ItemRef, LabelRef, MAX_TEXT, Reviewer, Text, Verdict};
use super::labels::{DEFAULT_SET, LabelSets};
use super::log_line;
use stepscope_base::canonical::Digest;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_base::words::closest;
use stepscope_judge::triage::Fix;
use stepscope_record::id_text;

/// Members that are read. What is not among them would be lost, and often is one of them misspelt.
const MEMBERS: &[&str] = stepscope_base::list![
    id row_index sha256 dataset side kind verdict labels note fix_target first_bad_step variable gold_status correction part
    anchors active_ms drawn event_id supersedes adjudicates revealed label_set
];
/// Members of an event that stepscope writes itself.
const WRITTEN: &[&str] = stepscope_base::list![v item seen reviewer draft times findings tool_version crc];

/// Maximum number of labels that are named where one is unknown.
const MAX_NAMED: usize = 30;

/// Makes an event of it; what it lacks is the caller's to add or to refuse.
pub fn read(value: Value<'_>, reviewer: &Reviewer, sets: &LabelSets<'_>) -> Result<Event, Shown> {
    if value.kind() != Kind::Object {
        return Err(Shown::own("not a JSON object"));
    }
    only_known(value)?;
    let verdict = word(value, "verdict", Verdict::from_word, "pass, fail, defer or skip")?;
    let kind = word(value, "kind", EventKind::from_word, "verdict, note, label_set, undo, adjudicate or reveal")?;
    let part = part(value)?;
    let kind = kind.unwrap_or(if part.is_some() || (verdict.is_none() && value.get("note").is_some()) {
        EventKind::Note
    } else {
        EventKind::Verdict
    });
    if part.is_some() && kind != EventKind::Note {
        return Err(shown!("a {} is about the whole item; leave out kind, or the part", kind.word()));
    }
    let mut event = Event::new(kind, reviewer.clone());
    event.event_id = text(value, "event_id")?.unwrap_or_default();
    event.item = item(value);
    event.seen.content_sha256 = content(value)?;
    event.verdict = verdict;
    event.labels = labels(value, sets)?;
    event.fix_target = said(value, "fix_target").map(|said| fix_target(&said)).transpose()?;
    event.first_bad_step = step(value)?;
    event.variable = text(value, "variable")?;
    event.anchors = log_line::items(value, "anchors").filter_map(log_line::read_anchor).collect();
    event.gold_status = said(value, "gold_status").map(|said| gold_status(&said)).transpose()?;
    event.correction = value.get("correction").filter(|value| !value.is_null()).map(|value| {
        let json = Style::SORTED.of(value);
        Untrusted::owned(json)
    });
    event.note = text(value, "note")?;
    event.part = part;
    event.times.active_ms = log_line::whole(value, "active_ms");
    event.drawn = said(value, "drawn").map(|said| drawn(&said)).transpose()?;
    event.supersedes = text(value, "supersedes")?;
    event.adjudicates = log_line::texts_of_key(value, "adjudicates");
    event.revealed = log_line::texts_of_key(value, "revealed");
    event.label_set = value.get("label_set").and_then(log_line::read_label_set).map(Box::new);
    let event_id = Some(&event.event_id).filter(|id| !id.is_empty()).cloned();
    for (name, text) in [("note", &event.note), ("correction", &event.correction), ("event_id", &event_id)] {
        if text.as_ref().is_some_and(|text| text.bytes().len() > MAX_TEXT) {
            return Err(shown!("{name} is longer than {} kB", MAX_TEXT >> 10));
        }
    }
    Ok(event)
}

/// Refuses members that mean nothing here.
fn only_known(value: Value<'_>) -> Result<(), Shown> {
    let is_known = |name: &Untrusted<'_>| MEMBERS.iter().any(|known| *name == *known);
    let Some(name) = value.members().map(|member| member.name().into_owned()).find(|name| !is_known(name)) else {
        return Ok(());
    };
    let said = name.line().cut(40);
    if name == "reviewer" {
        return Err(Shown::own("unknown member \"reviewer\"; --reviewer says who judges"));
    }
    if WRITTEN.iter().any(|written| name == *written) {
        return Err(shown!("unknown member \"{said}\"; stepscope writes it itself"));
    }
    Err(match name.utf8().and_then(|name| closest(name, MEMBERS.iter().copied())) {
        Some(near) => shown!("unknown member \"{said}\". Did you mean \"{near}\"?"),
        None => shown!("unknown member \"{said}\" (use {})", MEMBERS.join(", ")),
    })
}

fn item(value: Value<'_>) -> Option<ItemRef> {
    let id = value.get("id").and_then(id_text).map(Untrusted::into_owned);
    let (dataset, side) = (log_line::text(value, "dataset"), log_line::text(value, "side"));
    let row_index = log_line::whole(value, "row_index");
    (id.is_some() || row_index.is_some()).then_some(ItemRef { dataset, id, row_index, side })
}

/// Reads a member that is a text if it is there; any other value is an error.
fn text(value: Value<'_>, key: &'static str) -> Result<Option<Text>, Shown> {
    let Some(found) = value.get(key).filter(|found| !found.is_null()) else { return Ok(None) };
    match found.string() {
        Some(text) => Ok(Some(text.into_owned())),
        None => Err(shown!("{key} {} is not a string", Shown::line(found.raw()).cut(40))),
    }
}

/// Reads the SHA-256 of the record's content.
fn content(value: Value<'_>) -> Result<Option<Digest>, Shown> {
    let Some(hex) = text(value, "sha256")? else { return Ok(None) };
    let why = || shown!("sha256 \"{}\" is not 64 hexadecimal digits", hex.line().cut(70));
    Digest::parse(hex.bytes()).map(Some).ok_or_else(why)
}

/// Reads a part of an answer, its item and citation counted from 0.
fn part(value: Value<'_>) -> Result<Option<AnswerPart>, Shown> {
    let Some(found) = value.get("part").filter(|found| !found.is_null()) else { return Ok(None) };
    let citation = found.get("citation").filter(|citation| !citation.is_null());
    let part = log_line::read_part(found).filter(|part| part.citation.is_some() == citation.is_some());
    let why = || {
        shown!("the part {} is not {{\"item\": N, \"citation\": N}}, counted from 0", Shown::line(found.raw()).cut(40))
    };
    part.map(Some).ok_or_else(why)
}

/// Steps are counted from 1.
fn step(value: Value<'_>) -> Result<Option<u64>, Shown> {
    let Some(found) = value.get("first_bad_step").filter(|found| !found.is_null()) else { return Ok(None) };
    let step = log_line::whole(value, "first_bad_step").filter(|step| *step > 0);
    let why = || shown!("first_bad_step {} is not a whole number of 1 or more", Shown::line(found.raw()).cut(40));
    step.map(Some).ok_or_else(why)
}

/// Labels by their ids or names, as a list or as one text with `;` between them.
fn labels(value: Value<'_>, sets: &LabelSets<'_>) -> Result<Vec<LabelRef>, Shown> {
    let Some(list) = value.get("labels").filter(|list| !list.is_null()) else { return Ok(Vec::new()) };
    if let Some(text) = list.string() {
        return split(&text.into_owned()).map(|label| known(sets.give(&label), sets)).collect();
    }
    if list.kind() != Kind::Array {
        return Err(Shown::own("labels must be a list, or a string separated by ;"));
    }
    let label = |label: Value<'_>| {
        if let Some(text) = label.string() {
            return known(sets.give(&text.into_owned()), sets);
        }
        let given = log_line::label_ref(label);
        let given = given.ok_or_else(|| shown!("label {} has no id", Shown::line(label.raw()).cut(40)))?;
        let set = if given.set.is_empty() { DEFAULT_SET.into() } else { given.set };
        known(LabelRef { set, ..given }, sets)
    };
    list.items().map(label).collect()
}

/// Accepts a label that is in its set; `Err`: which there are. Where there is no set, labels are as they are given.
pub fn known(label: LabelRef, sets: &LabelSets<'_>) -> Result<LabelRef, Shown> {
    if sets.knows(&label) || sets.newest().next().is_none() {
        return Ok(label);
    }
    let all = sets.newest().flat_map(|set| &set.labels).map(|label| label.id.line());
    let (name, all) = (label.id.line().cut(40), Shown::listed(all, MAX_NAMED));
    Err(shown!("unknown label \"{name}\" (use {all}); an event of kind label_set adds one"))
}

/// Lists the labels of one text.
pub fn split(text: &Text) -> impl Iterator<Item = Text> + '_ {
    let parts = text.bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    parts.filter(|part| !part.is_empty()).map(|part| Untrusted::new(part).into_owned())
}

/// Reads the word of a place to fix.
pub fn fix_target(said: &Untrusted<'_>) -> Result<Text, Shown> {
    let fix = known_word(said, "fix_target", Fix::from_word, "step_run, procedure, gold, none or unknown")?;
    Ok(Text::from(fix.word()))
}

/// Reads how chance chose the record, as `review next` prints it.
fn drawn(said: &Untrusted<'_>) -> Result<Text, Shown> {
    let draw = Draw::parse(&said.to_owned()).map(Draw::text);
    draw.ok_or_else(|| {
        Shown::own("drawn is what `review next` prints: a seed and all, doubtful or clear, as in 7:doubtful")
    })
}

/// Reads the word of a judgment of the expected answer.
pub fn gold_status(said: &Untrusted<'_>) -> Result<GoldStatus, Shown> {
    known_word(said, "gold_status", GoldStatus::from_word, "ok, suspect or wrong")
}

/// Reads a member that is a word; of any other value its text is read, which is no word.
fn said<'a>(value: Value<'a>, key: &str) -> Option<Untrusted<'a>> {
    let word = value.get(key).filter(|word| !word.is_null())?;
    Some(word.string().unwrap_or_else(|| Untrusted::new(word.raw())))
}

fn word<T>(
    value: Value<'_>,
    key: &'static str,
    known: impl Fn(&str) -> Option<T>,
    words: &'static str,
) -> Result<Option<T>, Shown> {
    said(value, key).map(|said| known_word(&said, key, known, words)).transpose()
}

fn known_word<T>(
    said: &Untrusted<'_>,
    key: &'static str,
    known: impl Fn(&str) -> Option<T>,
    words: &'static str,
) -> Result<T, Shown> {
    let why = || shown!("invalid {key} \"{}\" (use {words})", said.line().cut(40));
    said.utf8().and_then(known).ok_or_else(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{LabelDefinition, LabelSet};
    use stepscope_base::json::Tape;

    fn asked(json: &str) -> Result<Event, String> {
        let set = LabelSet {
            id: "default".into(),
            version: 3,
            labels: vec![LabelDefinition {
                id: "slip".into(),
                name: "arithmetic slip".into(),
                ..LabelDefinition::default()
            }],
            mapping: vec![],
        };
        let who = Reviewer::person("ada");
        let mut tape = Tape::default();
        read(tape.parse(json.as_bytes()).unwrap(), &who, &LabelSets::of([&set])).map_err(Shown::into_string)
    }

    #[test]
    fn the_short_form_is_an_event() {
        let event = asked(r#"{"id": 35, "verdict": "fail", "labels": ["slip", "arithmetic slip"], "note": "n"}"#);
        let event = event.unwrap();
        assert_eq!((event.kind, event.verdict, event.lacks()), (EventKind::Verdict, Some(Verdict::Fail), None));
        assert_eq!(event.item.unwrap().id, Some("35".into()));
        let labels: Vec<_> = event.labels.iter().map(|label| (label.id.utf8().unwrap(), label.version)).collect();
        assert_eq!(labels, [("slip", 3), ("slip", 3)]);
        assert_eq!(asked(r#"{"id": "a", "note": "x"}"#).unwrap().kind, EventKind::Note);
        let more = asked(
            r#"{"row_index": 0, "verdict": "fail", "labels": "slip; arithmetic slip;", "correction": {"b": 1.50, "a": 2}}"#,
        );
        let more = more.unwrap();
        assert_eq!((more.labels.len(), more.correction), (2, Some(r#"{"a":2,"b":1.50}"#.into())));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert!(asked("[]").unwrap_err().contains("not a JSON object"));
        assert!(
            asked(r#"{"id": 1, "verdict": "\u001bmaybe"}"#).unwrap_err().starts_with("invalid verdict \"␛maybe\" (use")
        );
        assert!(asked(r#"{"id": 1, "verdict": "pass", "gold_status": 3}"#).unwrap_err().contains("ok, suspect"));
        assert_eq!(asked(r#"{"verdict": "pass"}"#).unwrap().lacks(), Some("an item with an id or a row_index"));
        assert_eq!(asked(r#"{"id": 1}"#).unwrap().lacks(), Some("a verdict"));
        for (json, words) in [
            (
                r#"{"id": 1, "verdict": "fail", "labels": ["slip", "\u001bslipp"]}"#,
                "unknown label \"␛slipp\" (use slip",
            ),
            (r#"{"id": 1, "verdict": "fail", "labels": "slip;b"}"#, "unknown label \"b\""),
            (r#"{"id": 1, "verdict": "fail", "labels": [{"id": "slip", "set": "own"}]}"#, "unknown label \"slip\""),
            (r#"{"id": 1, "verdict": "fail", "labels": [7]}"#, "label 7 has no id"),
            (r#"{"id": 1, "verdict": "fail", "labels": 7}"#, "a list, or a string"),
            (r#"{"id": 1, "verdict": "fail", "fix_target": "banana"}"#, "invalid fix_target \"banana\" (use step_run"),
            (r#"{"id": 1, "verdict": "fail", "first_bad_step": 0}"#, "first_bad_step 0 is not a whole number"),
            (r#"{"id": 1, "verdict": "fail", "first_bad_step": "2"}"#, "is not a whole number of 1"),
            (r#"{"id": 1, "verdict": "fail", "first_bad_step": -1.5}"#, "is not a whole number of 1"),
            (r#"{"id": 1, "note": 5}"#, "note 5 is not a string"),
            (
                r#"{"id": 1, "verdict": "fail", "lables": ["slip"]}"#,
                "unknown member \"lables\". Did you mean \"labels\"?",
            ),
            (r#"{"id": 1, "verdict": "fail", "\u001bwxyz": 1}"#, "unknown member \"␛wxyz\" (use id, row_index, "),
            (r#"{"id": 1, "verdict": "fail", "reviewer": "bob"}"#, "--reviewer says who judges"),
            (r#"{"id": 1, "verdict": "fail", "times": {}}"#, "stepscope writes it itself"),
            (r#"{"id": 1, "verdict": "fail", "variable": ["x"]}"#, "is not a string"),
        ] {
            assert!(asked(json).unwrap_err().contains(words), "{json}: {}", asked(json).unwrap_err());
        }
        let part =
            asked(r#"{"id": 1, "verdict": "fail", "labels": "slip", "part": {"item": 1, "citation": 0}}"#).unwrap();
        assert_eq!((part.kind, part.part), (EventKind::Note, Some(AnswerPart { item: 1, citation: Some(0) })));
        assert_eq!(part.part.unwrap().phrase(), "item B, citation 1");
        assert_eq!(asked(r#"{"id": 1, "part": {"item": 0}}"#).unwrap().lacks(), Some("a verdict"));
        for (json, words) in [
            (r#"{"id": 1, "verdict": "fail", "part": {"item": -1}}"#, "counted from 0"),
            (r#"{"id": 1, "verdict": "fail", "part": {"item": 1, "citation": "2"}}"#, "counted from 0"),
            (r#"{"id": 1, "kind": "verdict", "verdict": "fail", "part": {"item": 0}}"#, "about the whole item"),
        ] {
            assert!(asked(json).unwrap_err().contains(words), "{json}: {}", asked(json).unwrap_err());
        }
        let old = r#"{"id": 1, "verdict": "fail", "labels": [{"id": "slip", "set": "default", "version": 1}, {"id": "slip"}]}"#;
        assert_eq!(asked(old).unwrap().labels.len(), 2);
        let long = format!(r#"{{"id": 1, "note": "{}"}}"#, "x".repeat(MAX_TEXT + 1));
        assert!(asked(&long).unwrap_err().contains("longer than 64 kB"));
    }
}
