//! Review mode: the verdicts, drafts, labels and queue of the records on screen.
//! Nothing here does I/O; the handlers are in `review/keys.rs`, the threads in `review_worker.rs`.

pub(crate) mod agenda;
pub(crate) mod ask;
pub(crate) mod keys;
pub(crate) mod may;
pub(crate) mod news;
pub(crate) mod order;
pub(crate) mod strip;
pub(crate) mod verdict;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tui_input::Input as Line;

use crate::app::log::Log;
use crate::app::open_record::OpenRecord;
use crate::app::review::agenda::Agenda;
use crate::screens::answer::state::PartVerdict;
use crate::widgets::keymap::Action;
use crate::widgets::list::List;
use stepscope_base::canonical::Digest;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::log::journal;
use stepscope_io::pipeline::store::Store;
use stepscope_io::source::beneath;
use stepscope_judge::hide::Hide;
use stepscope_judge::row::RowFacts;
use stepscope_record::RecordKind;
use stepscope_record::rule_id::{QueueClass, RuleId};
use stepscope_report::page::Said;
use stepscope_review::event::{
    Anchor, AnswerPart, Event, EventKind, GoldStatus, ItemRef, LabelDefinition, LabelRef, LabelSet, Reviewer, Text,
    Verdict,
};
use stepscope_review::event_list::EventList;
use stepscope_review::fold::{ItemReviews, Reviews};
use stepscope_review::labels::LabelSets;
use stepscope_review::namesakes::Namesakes;
use stepscope_review::queue::Queue;
use stepscope_review::summary::Summary;
use stepscope_review::verdict_state::VerdictState;
use stepscope_terminal::input::Input;

/// Length of a question within a sentence.
const TITLE: usize = 40;
/// Longest pause between two keys that counts as work on an item.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Largest number of records that are judged at once.
pub(crate) const MAX_BATCH: usize = 10_000;
/// Reason that no other record can get the last verdict, before one is given.
pub(crate) const NO_VERDICT: &str = "pass or fail a record of the queue first";
/// Number of labels that have a key.
pub(crate) const LABEL_KEYS: usize = 9;
/// Number of items without a label new to the reviewer after which the labels are said to be enough.
pub const ENOUGH: usize = 20;

/// Place where reviews are saved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReviewLog {
    /// Review log to save to.
    Journal(beneath::Place),
    /// Nowhere, and why; the review logs next to several files are read all the same.
    ReadOnly(&'static str),
    /// Nowhere, and why.
    Nowhere(&'static str),
}

impl ReviewLog {
    /// Returns why no verdict can be given.
    pub(crate) const fn why_not(&self) -> Option<&'static str> {
        match self {
            Self::Journal(_) => None,
            Self::ReadOnly(why) | Self::Nowhere(why) => Some(why),
        }
    }
}

/// Known facts of a record that was looked at or judged.
#[derive(Clone, Debug)]
pub struct KnownRecord {
    /// Item that the record is.
    pub item: ItemRef,
    /// Digest of the record's content.
    pub content: Digest,
    /// The beginning of its question.
    question: Option<Shown>,
    /// State of the verdicts on it.
    pub judged: VerdictState,
}

/// The record that keys are about.
#[derive(Clone, Debug)]
pub struct ReviewTarget {
    /// Number of the record in the table.
    pub record: usize,
    /// Identity of the record, and the content that verdicts are bound to.
    pub summary: Summary,
    /// First bad step, from 1, as the verdict on where to fix names it.
    pub step: Option<u64>,
    /// Number of its steps.
    pub steps: u64,
    /// Parts of it that are not shown.
    pub hidden: Hide,
    /// True if it was judged before and is shown again.
    pub again: bool,
    /// Time at which it was shown.
    shown: Text,
    /// Time that the reviewer was busy with it.
    active: Duration,
}

/// Labels, note and corrections for an item that are not saved yet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Draft {
    /// Labels are being chosen for a failed item.
    pub choosing: bool,
    /// The part of the answer that failed; `None`: the whole record.
    pub part: Option<AnswerPart>,
    /// The labels.
    pub labels: Vec<LabelRef>,
    /// The note.
    pub note: Option<Text>,
    /// Anchors of the note: the places that it is about.
    pub anchors: Vec<Anchor>,
    /// The variable that it is about.
    pub variable: Option<Text>,
    /// Judgement of the expected answer.
    pub gold: Option<GoldStatus>,
    /// The first bad step, from 1.
    pub step: Option<u64>,
    /// Part to fix.
    pub target: Option<Text>,
    /// The right answer, as JSON.
    pub correction: Option<Text>,
}

impl Draft {
    /// Tells whether nothing was typed or chosen.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Copies an earlier event about a whole record, to be given again with a change.
    pub fn of(event: &Event) -> Self {
        Self {
            choosing: false,
            part: None,
            labels: event.labels.clone(),
            note: event.note.clone(),
            anchors: event.anchors.clone(),
            variable: event.variable.clone(),
            gold: event.gold_status,
            step: event.first_bad_step,
            target: event.fix_target.clone(),
            correction: event.correction.clone(),
        }
    }

    /// Puts it into an event.
    pub fn fill(self, event: &mut Event) {
        event.labels = self.labels;
        event.note = self.note;
        event.anchors = self.anchors;
        event.variable = self.variable;
        event.gold_status = self.gold;
        event.first_bad_step = self.step;
        event.fix_target = self.target;
        event.correction = self.correction;
    }
}

/// Purpose of a line that is typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReviewField {
    /// A note, anchored where the cursor was.
    Note,
    /// The right answer.
    Correction,
    /// The first bad step.
    Step,
    /// A new name for this label.
    Rename(Text),
}

/// Purpose of the list of labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LabelPurpose {
    /// Giving and taking labels.
    Give,
    /// Merging this label into another.
    MergeInto(Text),
    /// Labelling these records, all at once.
    All(Vec<usize>),
    /// Giving and taking labels of a final verdict.
    Decide,
}

impl LabelPurpose {
    /// The word for what choosing a label does.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Give | Self::Decide => "toggle",
            Self::MergeInto(_) => "merge",
            Self::All(_) => "select",
        }
    }
}

/// Question asked in front of the screen.
#[derive(Debug)]
pub enum ReviewDialog {
    /// A line is typed.
    Line {
        /// Purpose of the line.
        field: ReviewField,
        /// The text and its cursor.
        line: Line,
        /// The text that it began with.
        from: String,
        /// True if it is a proposal: the first letter replaces it.
        proposed: bool,
        /// Reason why it cannot be accepted.
        refused: Option<Shown>,
    },
    /// A label is looked for.
    Labels {
        /// Purpose of the list.
        purpose: LabelPurpose,
        /// The text and its cursor.
        line: Line,
        /// The cursor among the labels that fit.
        list: List,
    },
    /// Confirmation before these records are judged.
    Confirm {
        /// The records.
        records: Vec<usize>,
        /// Label or verdict that they are given.
        given: Given,
    },
}

/// Label or verdict that many records are given at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Given {
    /// A fail with this label; what was passed stays.
    Label(LabelDefinition),
    /// The verdict that another record got whose gravest finding is of the same rule; what was judged stays.
    Same(SameVerdict),
}

/// A verdict that others may get too: their gravest finding is of the same rule, at whatever step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SameVerdict {
    /// The others that are still to be judged.
    pub records: Vec<usize>,
    /// The rule of their gravest finding.
    pub rule: RuleId,
    /// Kind of the records.
    pub kind: RecordKind,
    /// The verdict.
    pub verdict: Verdict,
    /// Labels of the verdict.
    pub labels: Vec<LabelRef>,
}

impl SameVerdict {
    /// The filter that takes them, among the records that another filter takes.
    pub(crate) fn filter(&self, of: &str, has_forks: bool) -> String {
        let forks = if has_forks { " fork:false" } else { "" };
        let own = format!("first:{} kind:{} reviewed:false -verdict:defer{forks}", self.rule.word(), self.kind.word());
        if of.is_empty() || of.ends_with(&own) { own } else { format!("{of} {own}") }
    }
}

/// Reason why keys have to wait, to be handled in their order later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// The review log is being read; then this action is done.
    Journal(Action),
    /// This record is being read, to be judged from the table.
    Target(usize, Action),
    /// This record is being read, to be shown next.
    Next(usize),
}

/// Records that are labelled all at once.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Number of the batch.
    pub id: u64,
    /// Verdict that they are given.
    pub verdict: Verdict,
    /// Labels of the verdict.
    pub labels: Vec<LabelRef>,
    /// True if whatever I judged stays as it is; else only what I passed.
    pub only_open: bool,
    /// Number of records that were not read yet.
    pub left: usize,
    /// Number of records that were judged before, and left as they are.
    pub kept: usize,
    /// Number of records that had this verdict with these labels.
    pub had: usize,
    /// The events, one of each record that was labelled, to be undone together.
    pub events: Vec<Text>,
}

/// Place at which the reviewer stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resume {
    /// The record.
    pub record: usize,
    /// True if it was open as JSON.
    pub json: bool,
    /// Number of steps that had run at the moment on screen.
    pub step: Option<usize>,
    /// The cursor and the first row of what the keys were on.
    pub scroll: Option<(usize, usize)>,
}

/// Source of times and ids.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Gives an event its id and time.
    pub stamp: fn(&mut Event),
    /// The time.
    pub now: fn() -> Text,
}

/// See the module.
#[derive(Debug)]
pub struct Review {
    /// Reviewer of this session.
    pub me: Reviewer,
    /// Place where reviews are saved.
    pub place: ReviewLog,
    /// True once a review was begun: only then do verdict keys act.
    pub reviewing: bool,
    /// Reviews, including those on their way to the disk.
    pub reviews: Reviews,
    /// True once the review log was read.
    pub read: bool,
    /// Reason why the review log cannot be read or written.
    pub trouble: Option<Failure>,
    /// Parts hidden until the verdict.
    pub hide: Hide,
    /// Options of the queue.
    pub queue: Queue,
    /// The record that keys are about.
    pub target: Option<ReviewTarget>,
    /// Draft for that record.
    pub draft: Draft,
    /// Draft for the whole record while labels of a part are chosen.
    pub(crate) beneath: Draft,
    /// Drafts for other items.
    pub aside: Vec<(ItemRef, Draft)>,
    /// An event was saved, and none is unsaved.
    pub saved: bool,
    /// Keys wait for this.
    pub wait: Option<Wait>,
    /// Keys, pastes and clicks that wait.
    pub ahead: Vec<Input>,
    /// The record that is read ahead.
    pub prefetching: Option<usize>,
    /// The record that was read ahead.
    pub prefetched: Option<Box<OpenRecord>>,
    /// Records that are being labelled all at once.
    pub batch: Option<Batch>,
    /// The session waits for unsaved events before it ends; `true`: it was said that some failed.
    pub leaving: Option<bool>,
    /// Reason why drafts, and with them what is not saved, cannot be kept over a restart.
    pub drafts_failure: Option<Failure>,
    /// Number of records that are done, and number of all that are to be judged.
    pub progress: (usize, usize),
    /// The clocks.
    pub clock: Clock,
    /// Number of my verdicts since the last one with a label that was new to me.
    pub since_new_label: usize,
    /// Place at which the last session stopped, to resume there.
    pub resume: Option<Resume>,
    /// The note that is being typed.
    pub typing: Option<Text>,
    /// Number of records, from the first on, that were looked through for reviews.
    pub looked_through: usize,
    /// Records as items.
    known: HashMap<usize, Box<KnownRecord>>,
    /// The known records of each item, by its id or its place.
    places: HashMap<(Option<Text>, Option<u64>), Vec<usize>>,
    /// Known records whose names others have too.
    shared: Namesakes,
    /// Known records whose reviews changed since the agenda was built; `None`: unknown.
    changed: Option<Vec<usize>>,
    /// Rows that are left to judge.
    pub agenda: Agenda,
    /// Number of records of the queue in each of its classes.
    pub(crate) groups: [usize; QueueClass::ALL.len()],
    /// The records of the queue by kind and by the rule of their first finding.
    pub(crate) alike: HashMap<(RuleId, RecordKind), Vec<u32>>,
    /// The last verdict, as long as others may get it too; `Err`: why none may.
    pub same: Result<SameVerdict, &'static str>,
    /// My labels so far, and the number of verdicts counted.
    given: (HashSet<Text>, usize),
    /// Events that were said and are not given to the log yet.
    said: Vec<Event>,
    /// True if drafts have changed since they were kept.
    pub(crate) drafts_changed: bool,
    /// The ids that no record has been looked for yet, and those that were.
    sought: HashSet<Text>,
    undone: Vec<Vec<Text>>,
    batches: Vec<Vec<Text>>,
    last_key: Option<Instant>,
    /// Records of which everything was shown before the verdict.
    revealed: HashSet<usize>,
    /// The record that comes next.
    expected: Option<usize>,
    /// Time that the reviewer was busy in this session, and number of items judged.
    busy: (Duration, usize),
}

impl Review {
    /// A review by this reviewer, begun where there is a place for it.
    pub fn new(me: Reviewer, place: ReviewLog) -> Self {
        Self {
            me,
            reviewing: matches!(place, ReviewLog::Journal(_)),
            place,
            reviews: Reviews::default(),
            read: false,
            trouble: None,
            hide: Hide::default(),
            queue: Queue::default(),
            target: None,
            draft: Draft::default(),
            beneath: Draft::default(),
            aside: Vec::new(),
            saved: false,
            wait: None,
            ahead: Vec::new(),
            prefetching: None,
            prefetched: None,
            batch: None,
            leaving: None,
            drafts_failure: None,
            progress: (0, 0),
            clock: Clock { stamp: journal::stamp, now: journal::now },
            since_new_label: 0,
            resume: None,
            typing: None,
            looked_through: 0,
            revealed: HashSet::new(),
            expected: None,
            known: HashMap::new(),
            places: HashMap::new(),
            shared: Namesakes::default(),
            changed: None,
            agenda: Agenda::default(),
            groups: [0; QueueClass::ALL.len()],
            alike: HashMap::new(),
            same: Err(NO_VERDICT),
            given: (HashSet::new(), 0),
            said: Vec::new(),
            drafts_changed: false,
            sought: HashSet::new(),
            undone: Vec::new(),
            batches: Vec::new(),
            last_key: None,
            busy: (Duration::ZERO, 0),
        }
    }

    /// Makes a review without a review log to write: no verdict can be given, for this reason.
    pub fn nowhere(why: &'static str) -> Self {
        Self::new(Reviewer::person(Text::default()), ReviewLog::Nowhere(why))
    }

    /// Makes a review that shows what review logs hold, while no verdict can be given, for this reason.
    pub fn read_only(me: Reviewer, why: &'static str) -> Self {
        Self::new(me, ReviewLog::ReadOnly(why))
    }

    /// Tells whether verdicts can be given.
    pub(crate) const fn is_on(&self) -> bool {
        matches!(self.place, ReviewLog::Journal(_))
    }

    /// Tells whether verdicts are read from somewhere and shown, also where none can be given.
    pub(crate) const fn shows(&self) -> bool {
        !matches!(self.place, ReviewLog::Nowhere(_))
    }

    /// Tells whether a review was asked for, or something of one is there to show.
    pub(crate) fn is_begun(&self) -> bool {
        self.shows() && (self.reviewing || !self.reviews.is_empty() || self.draft.choosing)
    }

    // Labels.

    /// The sets of labels.
    pub fn label_sets(&self) -> LabelSets<'_> {
        self.reviews.label_sets()
    }

    /// The set that labels are given from.
    pub fn label_set(&self) -> LabelSet {
        self.label_sets().given_from()
    }

    /// Tells whether the labels are only offered, not written down.
    pub(crate) fn labels_are_offered(&self) -> bool {
        self.label_sets().newest().next().is_none()
    }

    /// The names of labels as they are called today.
    pub fn names(&self, labels: &[LabelRef]) -> Vec<Shown> {
        let (sets, set) = (self.label_sets(), self.label_set());
        let offered = self.labels_are_offered();
        let name = |label: &LabelRef| match set.labels.iter().find(|known| offered && known.id == label.id) {
            Some(known) => vec![known.name.line()],
            None => sets.resolve(label).into_iter().map(|label| label.name.line()).collect(),
        };
        let mut names: Vec<Shown> = labels.iter().flat_map(name).collect();
        names.dedup();
        names
    }

    /// Tells whether a label was chosen, under whatever name.
    pub fn is_chosen(&self, label: &LabelDefinition, set: &LabelSet) -> bool {
        let sets = self.label_sets();
        self.draft.labels.iter().any(|given| sets.is_now(given, set, &label.id))
    }

    // Items.

    /// Looks up the known facts of a record.
    pub fn known(&self, record: usize) -> Option<&KnownRecord> {
        self.known.get(&record).map(AsRef::as_ref)
    }

    /// Looks up the verdicts on a record; one that was never looked at has none.
    pub fn judged(&self, record: usize) -> VerdictState {
        self.known.get(&record).map(|known| known.judged.clone()).unwrap_or_default()
    }

    /// The records of which something is known.
    pub(crate) fn known_records(&self) -> impl Iterator<Item = (usize, &KnownRecord)> {
        self.known.iter().map(|(record, known)| (*record, &**known))
    }

    /// Tells whether others judged a record that I did not: what they said is not told yet.
    pub(crate) fn keeps_others(&self) -> bool {
        self.known.values().any(|known| known.judged.others && known.judged.mine.is_none())
    }

    /// Tells whether what a reviewer said of a record may be shown: of others only once I have given my verdict, or where
    /// it came with the record's page.
    pub(crate) fn is_told(&self, record: usize, reviewer: &Text) -> bool {
        let is_judged = || self.known.get(&record).is_some_and(|known| known.judged.mine.is_some());
        *reviewer == self.me.id || self.hide.is_empty() && Said::is_carried(reviewer) || is_judged()
    }

    /// Selects the parts of a record that are hidden now.
    pub(crate) fn hidden_of(&self, record: usize) -> Hide {
        let judged = self.known.get(&record).is_some_and(|known| known.judged.is_done());
        if judged || self.revealed.contains(&record) { Hide::default() } else { self.hide }
    }

    /// Selects the parts to leave out of a record when it is read: for a second verdict, those hidden the first time.
    pub(crate) fn hide_for(&self, record: usize) -> Hide {
        if self.is_due_again(record) { self.hide } else { self.hidden_of(record) }
    }

    /// Looks up the facts that may be shown of a record now.
    pub(crate) fn shown_row(&self, store: &Store, record: usize) -> Option<RowFacts> {
        Some(store.row(record)?.hiding(self.hidden_of(record)))
    }

    /// Everything of a record is shown from now on.
    pub fn reveal(&mut self, record: usize) {
        self.revealed.insert(record);
    }

    /// Tells whether a record was judged once and is to be judged a second time.
    pub(crate) fn is_due_again(&self, record: usize) -> bool {
        let once = self.known.get(&record).is_some_and(|known| known.judged.is_done() && known.judged.times == 1);
        once && self.queue.repeats(record)
    }

    /// Shows the target as a repeat again after the verdict was undone that was given as it was shown at this time.
    pub(crate) fn repeat_again(&mut self, shown: Option<&Text>) {
        let is_due = |target: &ReviewTarget| shown == Some(&target.shown) && self.is_due_again(target.record);
        let again = self.target.as_ref().is_some_and(is_due);
        if let Some(target) = self.target.as_mut().filter(|_| again) {
            target.again = true;
        }
    }

    /// Notes the record that comes next in the queue.
    pub fn expect(&mut self, record: usize) {
        self.expected = Some(record);
    }

    /// The known records of an item's name, in its file.
    fn namesakes(&self, item: &ItemRef) -> impl Iterator<Item = (usize, &KnownRecord)> {
        let records = self.places.get(&place_of(item)).into_iter().flatten();
        let known = records.filter_map(|record| Some((*record, self.known(*record)?)));
        known.filter(|(_, known)| same_item(&known.item, item))
    }

    /// Tells whether several known records have the name of an item.
    fn is_shared(&self, item: &ItemRef) -> bool {
        self.namesakes(item).nth(1).is_some()
    }

    /// Finds the reviews of a record; of several records with its name, those of this one.
    pub(crate) fn find<'a>(&'a self, item: &'a ItemRef, content: &'a Digest) -> Option<ItemReviews<'a>> {
        self.shared.choose(self.reviews.find(item, Some(content))?, item)
    }

    /// The record that an event is about; of several with its name, the one with the content that was seen, in its place.
    pub(crate) fn record_of(&self, event: &Event) -> Option<usize> {
        let (item, seen) = (event.item.as_ref()?, event.seen.content_sha256);
        let differs = |known: &KnownRecord| {
            (seen.is_some_and(|seen| seen != known.content), known.item.row_index != item.row_index)
        };
        self.namesakes(item).min_by_key(|(_, known)| differs(known)).map(|(record, _)| record)
    }

    /// Names the item of an event as people know it: by its question, else by its id, else by its number in the table.
    pub(crate) fn title_of(&self, event: &Event) -> Shown {
        let Some(item) = &event.item else { return Shown::default() };
        let record = self.record_of(event);
        let question = record.and_then(|record| self.known.get(&record)?.question.clone());
        let title = question.unwrap_or_else(|| match record.filter(|_| item.id.is_none()) {
            Some(record) => shown!("record {}", record + 1),
            None => item.name().line(),
        });
        title.cut(TITLE)
    }

    /// A record is this item.
    pub fn learn(&mut self, record: usize, summary: &Summary) {
        let (item, content, question) = (summary.item.clone(), summary.content, summary.question.clone());
        let (place, judged) = (place_of(&item), VerdictState::default());
        let before = self.known.insert(record, Box::new(KnownRecord { item, content, question, judged }));
        if let Some(before) = before.as_ref().map(|known| place_of(&known.item)).filter(|before| *before != place)
            && let Some(records) = self.places.get_mut(&before)
        {
            records.retain(|other| *other != record);
            let records = records.iter().filter_map(|record| self.known.get(record));
            self.shared.put(records.map(|known| (&known.item, &known.content)));
        }
        // Hundreds of thousands of names have one record each.
        let records = self.places.entry(place).or_insert_with(|| Vec::with_capacity(1));
        if !records.contains(&record) {
            records.push(record);
        }
        if records.len() == 1 {
            return self.renew_record(record);
        }
        records.sort_unstable();
        let count = records.len();
        let records = records.iter().filter_map(|record| self.known.get(record));
        self.shared.put(records.map(|known| (&known.item, &known.content)));
        // What was said of a name is said of one of its records alone as soon as there are two; of more, what was said of
        // a content that no other record has may be about the new one.
        if count == 2 { self.renew(Some(&summary.item)) } else { self.renew_place(record, summary) }
    }

    /// Updates the verdicts on a record that has become known, and on the others of its name that may have had what is
    /// its own.
    fn renew_place(&mut self, record: usize, summary: &Summary) {
        let is_moved = self.find(&summary.item, &summary.content).is_some_and(|reviewed| {
            let row = |event: &Event| event.item.as_ref().and_then(|item| item.row_index);
            reviewed.events().any(|event| row(&event) != summary.item.row_index)
        });
        if is_moved {
            return self.renew(Some(&summary.item));
        }
        let is_here = |known: &KnownRecord| known.item.row_index == summary.item.row_index;
        let here: Vec<usize> =
            self.namesakes(&summary.item).filter(|(_, known)| is_here(known)).map(|(record, _)| record).collect();
        here.into_iter().chain([record]).for_each(|record| self.renew_record(record));
    }

    fn change(&mut self, record: usize) {
        if let Some(changed) = &mut self.changed {
            changed.push(record);
        }
    }

    /// Returns the known records whose reviews changed since the last call; `None`: unknown.
    pub(crate) fn take_changed(&mut self) -> Option<Vec<usize>> {
        self.changed.replace(Vec::new())
    }

    /// Discards the agenda, because rows have other records now.
    pub(crate) fn reorder(&mut self) {
        self.changed = None;
    }

    fn judge(&self, item: &ItemRef, content: &Digest) -> VerdictState {
        match self.find(item, content) {
            Some(reviewed) => VerdictState::blind(reviewed, &self.me, &self.label_sets().for_people(), |event| {
                self.hide.is_empty() && Said::is_carried(&event.reviewer.id)
            }),
            None => VerdictState::default(),
        }
    }

    /// Updates the verdicts on the known records: on those of an item, or on all.
    fn renew(&mut self, item: Option<&ItemRef>) {
        let records: Vec<usize> = if let Some(item) = item {
            self.places.get(&place_of(item)).cloned().unwrap_or_default()
        } else {
            self.changed = None;
            self.known.keys().copied().collect()
        };
        for record in records {
            self.renew_record(record);
        }
    }

    fn renew_record(&mut self, record: usize) {
        let Some(known) = self.known.get(&record) else { return };
        let judged = self.judge(&known.item, &known.content);
        if let Some(known) = self.known.get_mut(&record) {
            known.judged = judged;
        }
        self.change(record);
    }

    /// Records have other numbers now.
    pub(crate) fn forget_records(&mut self) {
        self.known.clear();
        self.places.clear();
        self.shared = Namesakes::default();
        self.changed = None;
        self.sought.clear();
        self.prefetched = None;
        self.prefetching = None;
        self.revealed.clear();
        self.same = Err(NO_VERDICT);
        self.looked_through = 0;
    }

    /// Takes the ids that have reviews and that no record was looked for yet. Records without an id are looked for by
    /// an empty one.
    pub fn wanted(&mut self) -> HashSet<Text> {
        let ids = self.reviews.items().map(|reviewed| reviewed.item().id.unwrap_or_default());
        let fresh: HashSet<Text> = ids.filter(|id| !self.sought.contains(id)).collect();
        self.sought.extend(fresh.iter().cloned());
        fresh
    }

    /// The ids that records were looked for.
    pub(crate) fn sought(&self) -> HashSet<Text> {
        self.sought.clone()
    }

    /// The verdict of mine that holds on the target as it is.
    pub fn verdict(&self) -> Option<Event> {
        let summary = &self.target.as_ref()?.summary;
        self.mine(&summary.item, &summary.content)
    }

    /// The verdict of mine that holds on a record as it is.
    pub(crate) fn mine(&self, item: &ItemRef, content: &Digest) -> Option<Event> {
        let reviewed = self.find(item, content)?;
        let mine = reviewed.verdict_of(&self.me.id)?;
        reviewed.is_fresh(&mine).then_some(mine)
    }

    /// The verdicts on parts of the target as it is; those of others once I have judged it or the part, or where they
    /// came with the record's page.
    pub(crate) fn part_verdicts(&self) -> Vec<PartVerdict> {
        let Some(target) = &self.target else { return Vec::new() };
        let Some(reviewed) = self.find(&target.summary.item, &target.summary.content) else { return Vec::new() };
        let fresh: Vec<_> = reviewed.parts().filter(|(_, event)| reviewed.is_fresh(event)).collect();
        let is_mine = |event: &Event| event.reviewer.id == self.me.id;
        let judged = self.verdict().is_some() && !target.again;
        let is_seen = |part: AnswerPart, event: &Event| {
            is_mine(event)
                || judged
                || target.hidden.is_empty() && Said::is_carried(&event.reviewer.id)
                || fresh.iter().any(|(other, event)| *other == part && is_mine(event))
        };
        let verdict = |(part, event): &(AnswerPart, Event)| {
            let labels: Vec<String> = self.names(&event.labels).into_iter().map(Shown::into_string).collect();
            let by = (!is_mine(event)).then(|| event.reviewer.id.line().cut(16));
            let verdict = event.verdict.filter(|_| is_seen(*part, event))?;
            Some(PartVerdict { part: *part, verdict, labels: labels.join(", "), by })
        };
        fresh.iter().filter_map(verdict).collect()
    }

    /// The labels that I gave a part.
    pub(crate) fn part_labels(&self, part: AnswerPart) -> Vec<LabelRef> {
        let Some(summary) = self.target.as_ref().map(|target| &target.summary) else { return Vec::new() };
        let reviewed = self.find(&summary.item, &summary.content);
        let said = reviewed.and_then(|reviewed| {
            let mut mine =
                reviewed.parts().filter(|(judged, event)| *judged == part && event.reviewer.id == self.me.id);
            mine.next()
        });
        said.map(|(_, event)| event.labels).unwrap_or_default()
    }

    /// Labels of a part are no longer chosen; what was begun of the whole record is in front again. Gives what was
    /// begun of the part.
    pub(crate) fn leave_part(&mut self) -> Draft {
        if self.draft.part.is_none() {
            return Draft::default();
        }
        std::mem::replace(&mut self.draft, std::mem::take(&mut self.beneath))
    }

    /// Looks at another record.
    pub fn look_at(&mut self, mut target: ReviewTarget) {
        self.put_aside();
        target.shown = (self.clock.now)();
        target.again = self.expected.take() == Some(target.record) && self.is_due_again(target.record);
        self.learn(target.record, &target.summary);
        let place = self.aside_for(&target.summary.item);
        self.draft = place.map(|place| self.aside.remove(place).1).unwrap_or_default();
        self.target = Some(target);
    }

    /// Finds the draft for a record.
    fn aside_for(&self, item: &ItemRef) -> Option<usize> {
        let is_shared = self.is_shared(item);
        let is_for = |other: &ItemRef| same_item(other, item) && (!is_shared || other.row_index == item.row_index);
        self.aside.iter().position(|(other, _)| is_for(other))
    }

    /// Leaves the record, and keeps the draft for it.
    pub(crate) fn put_aside(&mut self) {
        self.leave_part();
        let Some(target) = self.target.take() else { return };
        let mut draft = std::mem::take(&mut self.draft);
        draft.note = self.typing.take().filter(|note| !note.is_empty()).or(draft.note);
        if !draft.is_empty() {
            self.aside.push((target.summary.item, draft));
        }
    }

    // Time.

    /// A key was pressed: the time since the last one was spent on the target, unless it was a pause.
    pub(crate) fn pressed(&mut self, now: Instant) {
        let since = self.last_key.replace(now).map(|last| now.saturating_duration_since(last));
        if let (Some(since), Some(target)) = (since.filter(|since| *since <= LONGEST_PAUSE), &mut self.target) {
            target.active += since;
            self.busy.0 += since;
        }
    }

    /// Computes the items a minute, and the minutes that the rest will take; `None`: it is too early to tell.
    pub(crate) fn pace(&self) -> Option<(f64, u64)> {
        let (busy, items) = self.busy;
        let minutes = busy.as_secs_f64() / 60.0;
        if items < 3 || minutes < 0.05 {
            return None;
        }
        let pace = items as f64 / minutes;
        let (done, all) = self.progress;
        Some((pace, (all.saturating_sub(done) as f64 / pace).ceil() as u64))
    }

    /// Counts after how many of my verdicts there was no label that is new to me.
    pub(crate) fn count_since_new_label(&mut self) {
        let (seen, counted) = &mut self.given;
        for event in self.reviews.events().skip(*counted) {
            if event.kind == EventKind::Verdict && event.reviewer.id == self.me.id {
                let fresh = event.labels.iter().filter(|label| seen.insert(label.id.clone())).count();
                self.since_new_label = if fresh > 0 { 0 } else { self.since_new_label + 1 };
            }
        }
        *counted = self.reviews.len();
        if seen.is_empty() {
            self.since_new_label = 0;
        }
    }

    // Events.

    /// An event about the target, with what was seen of it.
    pub fn event(&self, kind: EventKind) -> Option<Event> {
        let target = self.target.as_ref()?;
        let mut event = about(&target.summary, target.hidden, kind, &self.me);
        event.times.shown = Some(target.shown.clone());
        event.times.active_ms = u64::try_from(target.active.as_millis()).ok();
        Some(event)
    }

    /// Says something: it holds from now on. Gives it with its id, to be saved.
    pub fn say(&mut self, mut event: Event) -> Event {
        (self.clock.stamp)(&mut event);
        if !matches!(event.kind, EventKind::Undo | EventKind::Reveal) {
            self.undone.clear();
        }
        self.reviews.push(event.clone());
        match &event.item {
            Some(item) if event.kind != EventKind::LabelSet => self.renew(Some(&item.clone())),
            _ => self.renew(None),
        }
        self.saved = false;
        event
    }

    /// An item was judged on screen.
    pub(crate) const fn count_item(&mut self) {
        self.busy.1 += 1;
    }

    /// Takes in events that were appended to a review log or found in it; `true`: some of them were not known.
    pub(crate) fn take_events(&mut self, log: &Log, events: EventList, anew: bool) -> bool {
        if anew {
            self.reviews = Reviews::default();
            (self.given, self.since_new_label) = Default::default();
        }
        let before = self.reviews.len();
        let is_known: Vec<bool> = events.iter().map(|event| self.reviews.event(&event.event_id).is_some()).collect();
        let first_new = is_known.iter().position(|is_known| !is_known);
        let is_waiting = log.events().next().is_some();
        let is_overtaken =
            first_new.is_some_and(|first| is_waiting || is_known.iter().skip(first).any(|is_known| *is_known));
        if is_overtaken {
            self.forget(&events, log);
        }
        for event in events {
            if self.reviews.event(&event.event_id).is_none() {
                self.reviews.push(event);
            }
        }
        for (event, _) in log.events() {
            if self.reviews.event(&event.event_id).is_none() {
                self.reviews.push(event.clone());
            }
        }
        let news = anew || self.reviews.len() > before;
        if news {
            self.renew(None);
        }
        news
    }

    /// Forgets what was read just now and what still waits to be saved: somebody else wrote in between, and the order of the
    /// log holds.
    fn forget(&mut self, read: &EventList, log: &Log) {
        let waiting = log.events().map(|(event, _)| event.event_id.clone());
        let later: HashSet<Text> = read.iter().map(|event| event.event_id).chain(waiting).collect();
        let events = std::mem::take(&mut self.reviews);
        (self.given, self.since_new_label) = Default::default();
        for event in events.events().filter(|event| !later.contains(&event.event_id)) {
            self.reviews.push(event);
        }
    }

    /// Takes in what the last session left: half-finished verdicts are offered when their record opens, events that
    /// were not saved at once.
    pub(crate) fn take_kept(&mut self, log: &mut Log, events: Vec<Event>) {
        for event in events {
            match event.item.clone().filter(|_| event.draft) {
                Some(item) => self.aside.push((item, Draft { choosing: event.verdict.is_some(), ..Draft::of(&event) })),
                None if self.reviews.event(&event.event_id).is_none() => {
                    let failure = Failure::own("not saved by", &Shown::own("the last session"), "it ended early");
                    self.reviews.push(event.clone());
                    if let ReviewLog::Journal(journal) = &self.place {
                        log.left_over(journal.clone(), event, failure);
                    }
                }
                None => {}
            }
        }
        self.renew(None);
        let place = self
            .target
            .as_ref()
            .filter(|_| self.draft.is_empty())
            .and_then(|target| self.aside_for(&target.summary.item));
        if let Some(place) = place {
            self.draft = self.aside.remove(place).1;
        }
    }

    /// Collects what must survive a crash: drafts, and events that could not be saved.
    pub(crate) fn to_keep(&self, log: &Log) -> Vec<Event> {
        let typing = self.typing.clone().filter(|note| !note.is_empty());
        let current = self.target.as_ref().map(|target| {
            let own = if self.draft.part.is_some() { &self.beneath } else { &self.draft };
            let mut draft = own.clone();
            draft.note = typing.or(draft.note);
            (target.summary.item.clone(), draft)
        });
        let drafts = self.aside.iter().cloned().chain(current);
        let draft = |(n, (item, draft)): (usize, (ItemRef, Draft))| {
            let mut event = Event::new(EventKind::Note, self.me.clone());
            (event.event_id, event.item, event.draft) = (Text::from(format!("draft-{n}")), Some(item), true);
            // The word tells that labels were being chosen.
            event.verdict = draft.choosing.then_some(Verdict::Fail);
            draft.fill(&mut event);
            event
        };
        let drafts = drafts.filter(|(_, draft)| !draft.is_empty()).enumerate().map(draft);
        let failed = log.events().filter(|(_, failure)| failure.is_some());
        failed.map(|(event, _)| event.clone()).chain(drafts).collect()
    }

    // Undo.

    /// The events that the next undo takes back, and what they are.
    pub(crate) fn to_undo(&self) -> Vec<Event> {
        let is_own = |event: &Event| {
            let first = event.label_set.as_ref().is_some_and(|set| set.version <= 1);
            !matches!(event.kind, EventKind::Undo | EventKind::Reveal) && !event.draft && !first
        };
        let Some(last) = self.reviews.said_by(&self.me.id).rfind(is_own) else { return Vec::new() };
        match self.batches.iter().find(|batch| batch.contains(&last.event_id)) {
            Some(batch) => batch.iter().filter_map(|id| self.reviews.event(id)).map(|(event, _)| event).collect(),
            None => vec![last],
        }
    }

    /// Tells whether the next undo takes back a decision between reviewers.
    pub(crate) fn undoes_decision(&self) -> bool {
        matches!(self.to_undo().as_slice(), [event] if event.kind == EventKind::Adjudicate)
    }

    /// Tells whether the next redo gives a decision between reviewers again.
    pub(crate) fn redoes_decision(&self) -> bool {
        let undo = self.undone.last().and_then(|ids| self.reviews.event(ids.first()?));
        let undone = undo.and_then(|(undo, _)| self.reviews.event(undo.supersedes.as_ref()?));
        undone.is_some_and(|(event, _)| event.kind == EventKind::Adjudicate)
    }

    /// The undos that the next redo takes back.
    pub(crate) fn pop_undone(&mut self) -> Vec<Event> {
        let ids = self.undone.pop().unwrap_or_default();
        ids.iter().filter_map(|id| self.reviews.event(id)).map(|(event, _)| event).collect()
    }
}

impl ReviewTarget {
    /// A record that was read.
    pub fn new(record: usize, summary: Summary, step: Option<u64>, steps: u64, hidden: Hide) -> Self {
        Self { record, summary, step, steps, hidden, again: false, shown: Text::default(), active: Duration::ZERO }
    }
}

/// An event about a record.
pub fn about(summary: &Summary, hidden: Hide, kind: EventKind, me: &Reviewer) -> Event {
    let mut event = Event::new(kind, me.clone());
    event.item = Some(summary.item.clone());
    event.seen = summary.seen();
    event.seen.hidden = hidden.words();
    event.findings = Some(summary.findings.iter().map(|rule| Text::from(rule.word())).collect());
    event
}

/// An id for a new label: its name in letters, digits and `_`, unlike all others.
pub(crate) fn id_for(name: &str, set: &LabelSet) -> Text {
    let word = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let base: String = name.trim().chars().map(word).take(60).collect();
    let taken = |id: &str| {
        let is = |text: &Text| *text == *id;
        set.labels.iter().any(|label| is(&label.id)) || set.mapping.iter().any(|(from, _)| is(from))
    };
    let mut id = base.clone();
    for n in 2_u32.. {
        if !taken(&id) {
            break;
        }
        id = format!("{base}_{n}");
    }
    Text::from(id)
}

/// Returns the key under which the records of an item are found.
fn place_of(item: &ItemRef) -> (Option<Text>, Option<u64>) {
    (item.id.clone(), item.row_index.filter(|_| item.id.is_none()))
}

/// Tells whether two items are the same, as far as review logs tell them apart.
fn same_item(one: &ItemRef, other: &ItemRef) -> bool {
    one.dataset == other.dataset && one.id == other.id && (one.id.is_some() || one.row_index == other.row_index)
}
