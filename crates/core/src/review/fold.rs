//! The state that follows from the events, in the order in which they were appended. One event more costs the same at
//! the end of a long journal as at its beginning.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashMapExt as _, HashSet};
use hashbrown::HashTable;

use super::event::{AnswerPart, Event, EventKind, GoldStatus, ItemRef, Text, Verdict};
use super::labels::{CurrentLabel, LabelSets};
use super::namesakes::NameGroup;
use stepscope_base::canonical::Digest;

/// An undo of an undo of an undo is followed so far; the keys of the screen never go beyond two.
const MAX_UNDO_CHAIN: usize = 64;

/// Events of all reviewers, and which of them hold.
#[derive(Clone, Debug, Default)]
pub struct Reviews {
    events: Vec<Event>,
    /// Number of undos that hold and are aimed at each event.
    undone: Vec<u32>,
    by_id: Positions,
    /// Undos that came before what they undo, as in files put together in another order.
    waiting: HashMap<Text, Vec<usize>>,
    /// The events of each item.
    items: Vec<Vec<usize>>,
    by_item: Positions,
    /// The items of each name, whatever their file and side.
    names: Vec<NamedItems>,
    by_name: Positions,
    /// Events of each reviewer.
    by_reviewer: HashMap<Text, Vec<usize>>,
    label_sets: Vec<usize>,
    counts: SkippedEvents,
    /// Number that no reviews with other events have: what was worked out of these holds as long as it is the same.
    stamp: u64,
}

/// The last stamp that was given.
static LAST_STAMP: AtomicU64 = AtomicU64::new(0);

/// The items of one name.
#[derive(Clone, Debug, Default)]
struct NamedItems {
    places: Vec<usize>,
    /// The events on each content, in their order, once there are several items: one content may be in several files.
    by_content: HashMap<Digest, Vec<usize>>,
}

impl NamedItems {
    fn note(&mut self, event: &Event, at: usize) {
        if let Some(content) = event.seen.content_sha256 {
            self.by_content.entry(content).or_default().push(at);
        }
    }
}

/// Counts of the events that were passed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SkippedEvents {
    /// Number of events that occur twice.
    pub duplicates: u64,
    /// Undos of what somebody else said, or of nothing that is there.
    pub idle_undos: u64,
}

/// Positions in a list, found by keys that lie in the list: a review log may hold many, and no key is kept twice.
#[derive(Clone, Debug, Default)]
struct Positions {
    /// Each with the hash of its key, so that growing looks at no key.
    table: HashTable<(u64, usize)>,
    hasher: RandomState,
}

impl Positions {
    /// Finds the position of a key; `is` compares it with the one that lies there.
    fn find(&self, key: impl Hash, is: impl Fn(usize) -> bool) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |(known, at)| *known == hash && is(*at)).map(|(_, at)| *at)
    }

    /// Takes the position of a key that is not there yet.
    fn insert(&mut self, key: impl Hash, at: usize) {
        let hash = self.hasher.hash_one(key);
        self.table.insert_unique(hash, (hash, at), |(hash, _)| *hash);
    }
}

/// The record's id, or its position where it has none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ItemName<'a> {
    Id(&'a Text),
    Row(u64),
}

impl<'a> ItemName<'a> {
    pub(crate) fn of(item: &'a ItemRef) -> Option<Self> {
        item.id.as_ref().map(Self::Id).or(item.row_index.map(Self::Row))
    }
}

/// Key that tells items apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct ItemKey<'a> {
    name: ItemName<'a>,
    dataset: Option<&'a Text>,
    side: Option<&'a Text>,
}

impl<'a> ItemKey<'a> {
    fn of(item: &'a ItemRef) -> Option<Self> {
        let ItemRef { dataset, side, .. } = item;
        Some(Self { name: ItemName::of(item)?, dataset: dataset.as_ref(), side: side.as_ref() })
    }
}

impl Reviews {
    /// Takes one more event; `false`: it is there already.
    pub fn push(&mut self, event: Event) -> bool {
        if self.position(&event.event_id).is_some() {
            self.counts.duplicates += 1;
            return false;
        }
        let at = self.events.len();
        self.by_id.insert(&event.event_id, at);
        match event.kind {
            EventKind::LabelSet => self.label_sets.push(at),
            EventKind::Undo => {}
            _ => self.add_to_item(&event, at),
        }
        match self.by_reviewer.get_mut(&event.reviewer.id) {
            Some(own) => own.push(at),
            None => _ = self.by_reviewer.insert(event.reviewer.id.clone(), vec![at]),
        }
        self.events.push(event);
        self.undone.push(0);
        self.settle(at);
        self.stamp = LAST_STAMP.fetch_add(1, Ordering::Relaxed) + 1;
        true
    }

    /// Finds the position of the event of an id.
    fn position(&self, id: &Text) -> Option<usize> {
        self.by_id.find(id, |at| self.events.get(at).is_some_and(|event| event.event_id == *id))
    }

    /// Returns an item, as it was first named.
    fn item(&self, place: usize) -> Option<&ItemRef> {
        self.events.get(*self.items.get(place)?.first()?)?.item.as_ref()
    }

    /// Finds the item of a key.
    fn place(&self, key: ItemKey<'_>) -> Option<usize> {
        self.by_item.find(key, |place| self.item(place).and_then(ItemKey::of) == Some(key))
    }

    /// Finds the items of a name among `names`, in the order in which they were first named.
    fn places(&self, name: ItemName<'_>) -> Option<usize> {
        let of = |named: &NamedItems| self.item(*named.places.first()?).and_then(ItemName::of);
        self.by_name.find(name, |at| self.names.get(at).and_then(of) == Some(name))
    }

    fn named(&self, item: &ItemRef) -> Option<&NamedItems> {
        self.names.get(self.places(ItemName::of(item)?)?)
    }

    fn add_to_item(&mut self, event: &Event, at: usize) {
        let Some(key) = event.item.as_ref().and_then(ItemKey::of) else { return };
        let (found, name) = (self.place(key), self.places(key.name));
        let place = found.unwrap_or(self.items.len());
        if let Some(events) = found.and_then(|place| self.items.get_mut(place)) {
            events.push(at);
        } else {
            self.by_item.insert(key, place);
            self.items.push(vec![at]);
        }
        let Some(named) = name.and_then(|name| self.names.get_mut(name)) else {
            self.by_name.insert(key.name, self.names.len());
            self.names.push(NamedItems { places: vec![place], ..NamedItems::default() });
            return;
        };
        if found.is_none() {
            // The second item of this name: from now on it matters what was said of one content in several files.
            if let [first] = *named.places.as_slice() {
                for &at in self.items.get(first).into_iter().flatten() {
                    self.events.get(at).into_iter().for_each(|event| named.note(event, at));
                }
            }
            named.places.push(place);
        }
        if named.places.len() > 1 {
            named.note(event, at);
        }
    }

    /// Carries out what the new event undoes, and what undoes it.
    fn settle(&mut self, at: usize) {
        let waiting = self.events.get(at).and_then(|event| self.waiting.remove(&event.event_id));
        for undo in waiting.unwrap_or_default() {
            if self.may_undo(undo, at) && self.holds(undo) {
                self.bump(at, true);
                self.counts.idle_undos -= 1;
            }
        }
        let Some(undo) = self.events.get(at).filter(|event| event.kind == EventKind::Undo) else { return };
        let Some(target) = undo.supersedes.clone() else { return };
        match self.position(&target) {
            Some(target) if target < at && self.may_undo(at, target) => self.shift(target, true),
            Some(_) => self.counts.idle_undos += 1,
            None => {
                self.counts.idle_undos += 1;
                self.waiting.entry(target).or_default().push(at);
            }
        }
    }

    /// Tells whether an undo may take an event back: only its own reviewer may. An undo waits for no other undo: so
    /// undos never go in a circle.
    fn may_undo(&self, undo: usize, target: usize) -> bool {
        match (self.events.get(undo), self.events.get(target)) {
            (Some(undo), Some(event)) => {
                undo.reviewer.id == event.reviewer.id && (event.kind != EventKind::Undo || self.is_before(target, undo))
            }
            _ => false,
        }
    }

    fn is_before(&self, one: usize, other: &Event) -> bool {
        self.position(&other.event_id).is_some_and(|other| one < other)
    }

    /// Notes that an undo of this event holds now, or does not any more; so on down the chain of undos.
    fn shift(&mut self, mut target: usize, mut more: bool) {
        for _ in 0..MAX_UNDO_CHAIN {
            let before = self.holds(target);
            self.bump(target, more);
            let Some(event) = self.events.get(target) else { return };
            if before == self.holds(target) || event.kind != EventKind::Undo {
                return;
            }
            let next = event.supersedes.as_ref().and_then(|id| self.position(id));
            let Some(next) = next.filter(|next| self.may_undo(target, *next)) else { return };
            (target, more) = (next, !more);
        }
    }

    fn bump(&mut self, target: usize, more: bool) {
        if let Some(count) = self.undone.get_mut(target) {
            *count = if more { count.saturating_add(1) } else { count.saturating_sub(1) };
        }
    }

    fn holds(&self, at: usize) -> bool {
        self.undone.get(at) == Some(&0)
    }

    /// Returns all events, whether they hold or not, in their order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Finds the event of an id, and tells whether it holds.
    pub fn event(&self, id: &Text) -> Option<(&Event, bool)> {
        let at = self.position(id)?;
        Some((self.events.get(at)?, self.holds(at)))
    }

    /// Lists every item that has an event, in the order of the first ones.
    pub fn items(&self) -> impl Iterator<Item = ItemReviews<'_>> {
        (0..self.items.len()).filter_map(|place| self.at_place(place, None))
    }

    /// Returns the reviews of an item.
    fn at_place<'a>(&'a self, place: usize, content: Option<&'a Digest>) -> Option<ItemReviews<'a>> {
        let (own, item) = (self.items.get(place)?, self.item(place)?);
        let found = ItemReviews { reviews: self, item, own, same: &[], content, in_later_run: false, several: None };
        Some(found.at(content))
    }

    /// Tells whether there is an event about an item of this name, in whatever file.
    pub fn names(&self, item: &ItemRef) -> bool {
        self.named(item).is_some()
    }

    /// Tells whether somebody said where an item of this name is to be fixed, in whatever file.
    pub fn names_fix(&self, item: &ItemRef) -> bool {
        let places = self.named(item).into_iter().flat_map(|named| &named.places);
        let events = places.filter_map(|place| self.items.get(*place)).flatten();
        events.filter_map(|at| self.events.get(*at)).any(|event| event.fix_target.is_some())
    }

    /// Finds the reviews of a record with this content: those of its own file, else those that name no file; and those
    /// of the very same content in files of other names. Whoever knows the other records asks [`super::join::Index`]:
    /// several may have the name.
    pub fn find<'a>(&'a self, item: &ItemRef, content: Option<&'a Digest>) -> Option<ItemReviews<'a>> {
        let key = ItemKey::of(item)?;
        let named = self.place(key).or_else(|| self.place(ItemKey { dataset: None, ..key }));
        let place = named.or_else(|| self.place_of_content(item, content?))?;
        self.at_place(place, content)
    }

    /// Finds the item of this name, in whatever file, of which something was said on this very content.
    fn place_of_content(&self, item: &ItemRef, content: &Digest) -> Option<usize> {
        let named = self.named(item)?;
        let is_same = |at: &&usize| {
            self.holds(**at)
                && self.events.get(**at).is_some_and(|event| {
                    event.seen.content_sha256.as_ref() == Some(content) && side_of(event) == item.side.as_ref()
                })
        };
        if let [only] = named.places.as_slice() {
            return self.items.get(*only)?.iter().any(|at| is_same(&at)).then_some(*only);
        }
        let at = named.by_content.get(content)?.iter().find(is_same)?;
        self.place(ItemKey::of(self.events.get(*at)?.item.as_ref()?)?)
    }

    /// Collects the sets of labels that hold.
    pub fn label_sets(&self) -> LabelSets<'_> {
        let hold = self.label_sets.iter().filter(|at| self.holds(**at));
        LabelSets::of(hold.filter_map(|at| self.events.get(*at)?.label_set.as_deref()))
    }

    /// Lists the events of a reviewer that hold, in their order.
    pub fn said_by(&self, reviewer: &Text) -> impl DoubleEndedIterator<Item = &Event> {
        let own = self.by_reviewer.get(reviewer).into_iter().flatten();
        own.filter(|at| self.holds(**at)).filter_map(|at| self.events.get(*at))
    }
}

/// Reviews of one item, seen from the content that its record has now: what somebody said of this very content counts
/// before what they said of another, later or in whatever file. Without a content nothing is stale.
#[derive(Clone, Copy, Debug)]
pub struct ItemReviews<'a> {
    reviews: &'a Reviews,
    /// The item, as it was first named.
    item: &'a ItemRef,
    /// Its events.
    own: &'a [usize],
    /// Events on its content, in files of any name.
    same: &'a [usize],
    content: Option<&'a Digest>,
    /// True if nothing is stale although the content is known.
    in_later_run: bool,
    /// The record, where several have its name, and those: another content may be that of another of them.
    several: Option<(&'a ItemRef, &'a NameGroup)>,
}

stepscope_base::words! {
    /// Outcome of the reviews of an item.
    pub enum Outcome {
        /// Right.
        Pass = "pass",
        /// Wrong.
        Fail = "fail",
        /// The item is to be judged later.
        Defer = "defer",
        /// The item is not to be judged.
        Skip = "skip",
        /// Reviewers disagree, and it is not decided yet.
        Disputed = "disputed",
        /// Judged on another content than it has now: shown, not counted.
        Stale = "stale",
        /// The item is not judged yet.
        Open = "open",
    }
}

impl<'a> ItemReviews<'a> {
    /// Returns the same, for a record with this content.
    #[must_use]
    pub fn at(self, content: Option<&'a Digest>) -> Self {
        let same = || self.reviews.named(self.item)?.by_content.get(content?);
        Self { content, same: same().map_or(&[], Vec::as_slice), ..self }
    }

    /// Returns the same for a record of a later run: that its content is another is what a later run is about.
    #[must_use]
    pub const fn in_later_run(self) -> Self {
        Self { in_later_run: true, ..self }
    }

    /// Lists its events that hold, in their order: those about it, and those about its very content in other files.
    pub fn events(self) -> impl DoubleEndedIterator<Item = &'a Event> {
        let positions = self.positions();
        let hold = (0..positions.len()).filter_map(move |n| positions.get(n).copied());
        let hold = hold.filter(move |at| self.reviews.holds(*at));
        hold.filter_map(move |at| self.reviews.events.get(at))
    }

    fn positions(self) -> Cow<'a, [usize]> {
        let Self { reviews, item, same, .. } = self;
        let own = self.of_record();
        let is_same_side =
            |at: &usize| reviews.events.get(*at).is_some_and(|event| side_of(event) == item.side.as_ref());
        let is_other = |at: &&usize| own.binary_search(at).is_err() && is_same_side(at);
        let others: Vec<usize> = same.iter().filter(is_other).copied().collect();
        if others.is_empty() {
            return own;
        }
        let mut all = [own.as_ref(), &others].concat();
        all.sort_unstable();
        Cow::Owned(all)
    }

    /// Returns the reviews of one of several records with one name.
    #[must_use]
    pub(super) const fn of_several(self, record: &'a ItemRef, group: &'a NameGroup) -> Self {
        Self { several: Some((record, group)), ..self }
    }

    /// Lists which of the item's events are about this one of several records.
    fn of_record(self) -> Cow<'a, [usize]> {
        let Some((content, (_, group))) = self.content.zip(self.several) else { return Cow::Borrowed(self.own) };
        let shares = || {
            let hold = self.own.iter().filter(|at| self.reviews.holds(**at));
            let (at, events): (Vec<usize>, Vec<&Event>) =
                hold.filter_map(|at| Some((*at, self.reviews.events.get(*at)?))).unzip();
            group.shares(&at, &events)
        };
        let key = (self.reviews.stamp, self.own.first().copied());
        match group.kept(key, shares) {
            Some(shares) => Cow::Borrowed(shares.get(content).map_or(&[], Vec::as_slice)),
            None => Cow::Owned(shares().remove(content).unwrap_or_default()),
        }
    }

    /// Tells whether something among these reviews may be about another record with the name: it is not known to be about
    /// this content.
    pub fn may_be_of_others(self) -> bool {
        self.events().any(|event| event.seen.content_sha256.as_ref() != self.content)
    }

    /// Tells whether something that was said of another item is among these reviews too.
    pub(crate) fn share(self, other: Self) -> bool {
        let positions = self.positions();
        other.own.iter().any(|at| self.reviews.holds(*at) && positions.binary_search(at).is_ok())
    }

    /// Returns the item: the one of several records that have its name, else as it was first named.
    pub const fn item(self) -> Option<&'a ItemRef> {
        match self.several {
            Some((record, _)) => Some(record),
            None => Some(self.item),
        }
    }

    /// Returns the item as it was first named, whatever other records have the name.
    pub const fn named(self) -> &'a ItemRef {
        self.item
    }

    /// Tells whether one of its events was about this content.
    pub(crate) fn saw(self, content: Option<&Digest>) -> bool {
        content.is_some() && self.events().any(|event| event.seen.content_sha256.as_ref() == content)
    }

    /// Lists the verdict of each reviewer that holds, in the order of the reviewers' first verdicts.
    pub fn verdicts(self) -> Vec<&'a Event> {
        let judged = |event: &&Event| event.kind == EventKind::Verdict && !event.draft;
        let mut verdicts: Vec<&Event> = self.events().filter(judged).collect();
        self.prefer_same_content(&mut verdicts);
        let mut current: Vec<&Event> = Vec::new();
        let mut places: HashMap<&Text, usize> = HashMap::new();
        let replaced: HashSet<(&Text, &Text)> =
            verdicts.iter().filter_map(|event| Some((&event.reviewer.id, event.supersedes.as_ref()?))).collect();
        for event in verdicts {
            let place = *places.entry(&event.reviewer.id).or_insert(current.len());
            let gone = replaced.contains(&(&event.reviewer.id, &event.event_id));
            match current.get_mut(place) {
                None => current.push(event),
                // A verdict that another took the place of never comes back, in whatever order files were put together.
                Some(earlier) if !gone || replaced.contains(&(&earlier.reviewer.id, &earlier.event_id)) => {
                    *earlier = event;
                }
                Some(_) => {}
            }
        }
        current
    }

    /// Drops what reviewers said of another content, if they judged this one too.
    fn prefer_same_content(self, verdicts: &mut Vec<&Event>) {
        let is_same = |event: &&Event| is_fresh(event, self.content);
        if !verdicts.iter().all(is_same) {
            let of_this: HashSet<&Text> = verdicts.iter().filter(|e| is_same(e)).map(|e| &e.reviewer.id).collect();
            let keep: Vec<bool> = verdicts.iter().map(|e| is_same(e) || !of_this.contains(&e.reviewer.id)).collect();
            let mut keep = keep.into_iter();
            verdicts.retain(|_| keep.next() == Some(true));
        }
    }

    /// Lists each reviewer's verdicts, one a look: changes while an item is in front belong to the same look.
    pub fn looks(self) -> BTreeMap<&'a Text, Vec<&'a Event>> {
        let mut looks: BTreeMap<&Text, Vec<&Event>> = BTreeMap::new();
        for event in self.events().filter(|event| event.kind == EventKind::Verdict && !event.draft) {
            let own = looks.entry(&event.reviewer.id).or_default();
            let shown = &event.times.shown;
            match own.last_mut().filter(|last| shown.is_some() && last.times.shown == *shown) {
                Some(last) => *last = event,
                None => own.push(event),
            }
        }
        looks
    }

    /// Finds the verdict of one reviewer that holds.
    pub fn verdict_of(self, reviewer: &Text) -> Option<&'a Event> {
        self.verdicts().into_iter().find(|event| event.reviewer.id == *reviewer)
    }

    /// Finds the verdict between reviewers who disagree.
    pub fn adjudication(self) -> Option<&'a Event> {
        let decisions = || self.events().filter(|event| event.kind == EventKind::Adjudicate);
        decisions().rfind(|event| is_fresh(event, self.content)).or_else(|| decisions().next_back())
    }

    /// Notes without a verdict.
    pub fn notes(self) -> impl Iterator<Item = &'a Event> {
        self.events().filter(|event| event.kind == EventKind::Note && event.part.is_none() && !event.draft)
    }

    /// Lists the last note of each reviewer on each part of an answer, in the order of the parts.
    pub fn parts(self) -> impl Iterator<Item = (AnswerPart, &'a Event)> {
        let judged = |event: &'a Event| (event.kind == EventKind::Note && !event.draft).then_some((event.part?, event));
        let (same, other): (Vec<&Event>, Vec<&Event>) = self.events().partition(|event| is_fresh(event, self.content));
        let last: BTreeMap<(AnswerPart, &Text), &Event> = (other.into_iter().chain(same))
            .filter_map(judged)
            .map(|(part, event)| ((part, &event.reviewer.id), event))
            .collect();
        last.into_iter().map(|((part, _), event)| (part, event))
    }

    /// Finds the draft that a reviewer was typing when they were interrupted.
    pub fn draft(self, reviewer: &Text) -> Option<&'a Event> {
        self.events().rfind(|event| event.reviewer.id == *reviewer).filter(|event| event.draft)
    }

    /// Lists what was hidden and then looked at by a reviewer.
    pub fn revealed(self, reviewer: &Text) -> impl Iterator<Item = &'a Text> {
        let own = move |event: &&Event| event.kind == EventKind::Reveal && event.reviewer.id == *reviewer;
        let revealed: Vec<&Text> = self.events().filter(own).flat_map(|event| &event.revealed).collect();
        revealed.into_iter()
    }

    /// Lists the adjudication, the verdicts, those on parts of the answer, and the notes, in this order.
    pub(crate) fn said(self) -> impl Iterator<Item = &'a Event> {
        let parts = self.parts().map(|(_, event)| event);
        self.adjudication().into_iter().chain(self.verdicts()).chain(parts).chain(self.notes())
    }

    /// Tells whether an event was about the content that the record has now, as far as one can know.
    pub fn is_fresh(self, event: &Event) -> bool {
        self.in_later_run || is_fresh(event, self.content)
    }

    /// Lists the verdicts to count by: the adjudication alone, or each reviewer's.
    pub fn fresh(self) -> Vec<&'a Event> {
        let fresh = |event: &&Event| self.is_fresh(event);
        match self.adjudication().filter(fresh) {
            Some(adjudication) => vec![adjudication],
            None => self.verdicts().into_iter().filter(fresh).collect(),
        }
    }

    /// Determines the outcome to count it as.
    pub fn outcome(self) -> Outcome {
        let fresh = self.fresh();
        let said = |verdict| fresh.iter().any(|event| event.verdict == Some(verdict));
        match (said(Verdict::Pass), said(Verdict::Fail)) {
            (true, true) => Outcome::Disputed,
            (true, false) => Outcome::Pass,
            (false, true) => Outcome::Fail,
            _ if said(Verdict::Defer) => Outcome::Defer,
            _ if said(Verdict::Skip) => Outcome::Skip,
            _ if self.adjudication().is_some() || !self.verdicts().is_empty() => Outcome::Stale,
            _ => Outcome::Open,
        }
    }

    /// Returns the judgment of the expected answer: the worst counts.
    pub fn gold(self) -> Option<GoldStatus> {
        self.fresh().iter().filter_map(|event| event.gold_status).max()
    }

    /// Tells whether a reviewer disputes the expected answer.
    pub fn disputes_gold(self) -> bool {
        self.gold().is_some_and(GoldStatus::is_disputed)
    }

    /// Lists the labels that count, by what they are called today, each once.
    pub fn labels(self, sets: &LabelSets<'_>) -> Vec<CurrentLabel> {
        sets.resolve_all(self.fresh())
    }
}

fn side_of(event: &Event) -> Option<&Text> {
    event.item.as_ref()?.side.as_ref()
}

/// Tells whether a verdict was given on this content, as far as one can know.
pub fn is_fresh(event: &Event, content: Option<&Digest>) -> bool {
    match (&event.seen.content_sha256, content) {
        (Some(seen), Some(now)) => seen == now,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
