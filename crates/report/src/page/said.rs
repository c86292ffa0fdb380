//! The reviews of a record, as a page shows them.

use stepscope_base::canonical::Digest;
use stepscope_base::json::write::{Json, Writer};
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::triage::Fix;
use stepscope_review::event::{
    Anchor, AnswerPart, Event, EventKind, GoldStatus, ItemRef, LabelRef, MAX_TEXT, ReviewTimes, Reviewer, SeenRecord,
    Text, Verdict, place,
};
use stepscope_review::fold::ItemReviews;
use stepscope_review::labels::{LabelSets, name_for_people};
use stepscope_review::log_line::{read_anchor, read_part, write_anchor, write_part};

/// Mark after the name of a reviewer whose review comes from a page.
const CARRIED: &[u8] = b" (page)";
/// Longest text of a reason that is shown.
pub(super) const MAX_REASON: usize = 400;
/// More labels than this are not read.
const MAX_LABELS: usize = 50;

/// A verdict, a decision or a note.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Said {
    /// The reviewer.
    pub who: Text,
    /// Kind of the event.
    pub kind: EventKind,
    /// Verdict on the record, or on a part of it.
    pub verdict: Option<Verdict>,
    /// Part of the answer that the verdict is about; `None`: the whole record.
    pub part: Option<AnswerPart>,
    /// Reasons, as names of labels.
    pub labels: Vec<Text>,
    /// No label was written down: those that are offered have their names.
    pub is_offered: bool,
    /// Place to fix.
    pub fix: Option<Text>,
    /// The first step that went wrong, from 1.
    pub step: Option<u64>,
    /// Status of the expected answer, as the reviewer sees it.
    pub gold: Option<GoldStatus>,
    /// The right answer.
    pub correction: Option<Text>,
    /// In their own words.
    pub note: Option<Text>,
    /// Variable that the note is about.
    pub variable: Option<Text>,
    /// Place that the note is about, without its quote: the page has the document.
    pub anchor: Option<Anchor>,
    /// Time, RFC 3339.
    pub when: Option<Text>,
    /// It was said of another content.
    pub is_stale: bool,
}

impl Said {
    /// The decision between reviewers, the verdicts and the notes, in this order.
    pub fn of(reviewed: ItemReviews<'_>, sets: &LabelSets<'_>) -> Vec<Self> {
        let one = |event: &Event| Self {
            who: event.reviewer.id.clone(),
            kind: event.kind,
            verdict: event.verdict,
            part: event.part,
            labels: sets.resolve_all([event]).into_iter().map(|label| label.name).collect(),
            is_offered: sets.is_empty() && !event.labels.is_empty(),
            fix: event.fix_target.clone(),
            step: event.first_bad_step,
            gold: event.gold_status,
            correction: event.correction.clone(),
            note: event.note.clone(),
            variable: event.variable.clone(),
            anchor: event.anchors.first().cloned().map(Anchor::without_quote),
            when: event.times.decided.clone(),
            is_stale: !reviewed.is_fresh(event),
        };
        reviewed.said().map(|event| one(&event)).collect()
    }

    /// Returns the words for it: whether it decides between reviewers, and its verdict.
    pub(super) fn words(&self) -> [&'static str; 2] {
        let decides = self.kind == EventKind::Adjudicate && self.verdict.is_some();
        [if decides { "decided: " } else { "" }, self.verdict.map_or("note", Verdict::word)]
    }

    /// Phrases the place of the note; empty for the whole record.
    pub(super) fn place(&self) -> Shown {
        let place = self.note.as_ref().and_then(|_| place(self.variable.as_ref(), self.anchor.as_ref()));
        place.map(|place| shown!("on {place}: ")).unwrap_or_default()
    }

    /// Lists the reasons of the verdict, each with its name and no longer than that.
    pub(super) fn reasons(&self, longest: usize) -> impl Iterator<Item = (&'static str, Shown)> {
        let labels: Vec<String> =
            self.labels.iter().map(|label| name_for_people(label, self.is_offered).into_string()).collect();
        let labels = (!labels.is_empty()).then(|| shown!("{}", labels.join(", ")).shortened(longest));
        let correction = self.correction.as_ref().map(|correction| correction.line().shortened(longest));
        let reasons = [
            ("Labels", labels),
            ("Where to fix", self.fix.as_ref().map(|fix| Fix::phrase_of(fix).cut(80))),
            ("Expected answer", self.gold.map(|gold| Shown::own(gold.phrase()))),
            ("Correct answer", correction),
        ];
        reasons.into_iter().filter_map(|(name, text)| Some((name, text?)))
    }

    /// Reads what a page says; `None`: it is nothing that a page would say.
    pub(super) fn read(value: Value<'_>) -> Option<Self> {
        let short = |text: Text| Some(text).filter(|text| text.bytes().len() <= MAX_TEXT);
        let text = |key: &str| value.get(key)?.string().map(Untrusted::into_owned).and_then(short);
        let word = |key: &str| text(key)?.utf8().map(ToOwned::to_owned);
        let kind = EventKind::from_word(&word("event")?)?;
        let verdict = word("verdict").and_then(|word| Verdict::from_word(&word));
        let part = value.get("part").and_then(read_part);
        let is_said = match kind {
            EventKind::Verdict | EventKind::Adjudicate => verdict.is_some() && part.is_none(),
            EventKind::Note => verdict.is_some() || part.is_none(),
            _ => false,
        };
        let labels = value.get("labels").into_iter().flat_map(Value::items).filter_map(Value::string);
        let is_json = |json: &Text| Tape::default().read(json.bytes());
        let is_short = |anchor: &Anchor| anchor.name().bytes().len() <= MAX_TEXT;
        is_said.then_some(())?;
        Some(Self {
            who: text("reviewer")?,
            kind,
            verdict,
            part,
            labels: labels.map(Untrusted::into_owned).filter_map(short).take(MAX_LABELS).collect(),
            is_offered: value.get("labels_offered").and_then(Value::bool).unwrap_or(false),
            fix: text("fix_target"),
            step: value.get("first_bad_step").and_then(Value::whole),
            gold: word("gold_status").and_then(|word| GoldStatus::from_word(&word)),
            correction: text("correction").filter(is_json),
            note: text("note"),
            variable: text("variable"),
            anchor: value.get("anchor").and_then(read_anchor).filter(is_short).map(Anchor::without_quote),
            when: text("decided"),
            is_stale: value.get("stale").and_then(Value::bool).unwrap_or(false),
        })
    }

    /// As an event about an item with this content. Who says it is marked: it is nobody who writes a log here.
    pub(super) fn event(self, raw: &[u8], item: &ItemRef, content: Digest) -> Event {
        let mut who = self.who.bytes().to_vec();
        if !who.ends_with(CARRIED) {
            who.extend_from_slice(CARRIED);
        }
        let dataset = item.dataset.as_ref().map(Text::bytes).unwrap_or_default();
        // The same of the same page is said once.
        let id = Digest::of_bytes(&[dataset, b"\n", content.to_string().as_bytes(), b"\n", raw].concat());
        let label = |id| LabelRef { id, set: "page".into(), version: 0 };
        let seen = if self.is_stale { Digest::of_bytes(b"another content") } else { content };
        Event {
            event_id: Text::from(format!("page-{id}")),
            item: Some(item.clone()),
            seen: SeenRecord { content_sha256: Some(seen), ..SeenRecord::default() },
            verdict: self.verdict,
            labels: self.labels.into_iter().map(label).collect(),
            fix_target: self.fix,
            first_bad_step: self.step,
            gold_status: self.gold,
            correction: self.correction,
            note: self.note,
            variable: self.variable,
            anchors: self.anchor.into_iter().collect(),
            part: self.part,
            times: ReviewTimes { decided: self.when, ..ReviewTimes::default() },
            ..Event::new(self.kind, Reviewer::person(Text::owned(who)))
        }
    }

    /// Tells whether what a reviewer of this name said was carried by a page.
    pub fn is_carried(reviewer: &Text) -> bool {
        reviewer.bytes().ends_with(CARRIED)
    }

    /// Every text in it.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut Text> {
        let some = [&mut self.fix, &mut self.correction, &mut self.note, &mut self.variable, &mut self.when];
        let some = some.into_iter().flatten().chain(self.anchor.as_mut().map(Anchor::name_mut));
        std::iter::once(&mut self.who).chain(&mut self.labels).chain(some)
    }

    /// The same, to look at.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        let some = [&self.fix, &self.correction, &self.note, &self.variable, &self.when];
        let some = some.into_iter().flatten().chain(self.anchor.as_ref().map(Anchor::name));
        std::iter::once(&self.who).chain(&self.labels).chain(some)
    }
}

impl Json for Said {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.object(|object| {
            object.put("reviewer", &self.who).put("event", self.kind.word());
            object.maybe("verdict", self.verdict.map(Verdict::word));
            if let Some(part) = self.part {
                object.object("part", |object| write_part(part, object));
            }
            object.list("labels", &self.labels);
            object.maybe("labels_offered", self.is_offered.then_some(true));
            object.maybe("fix_target", self.fix.as_ref()).maybe("first_bad_step", self.step);
            object.maybe("gold_status", self.gold.map(GoldStatus::word)).maybe("correction", self.correction.as_ref());
            object.maybe("note", self.note.as_ref()).maybe("variable", self.variable.as_ref());
            if let Some(anchor) = &self.anchor {
                object.object("anchor", |object| write_anchor(anchor, object));
            }
            object.maybe("decided", self.when.as_ref());
            object.put("stale", self.is_stale);
        });
    }
}
