//! The state that follows from the events, in the order in which they were appended. One event more costs the same at
//! the end of a long journal as at its beginning.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashMapExt as _, HashSet};
use hashbrown::HashTable;

use super::event::{AnswerPart, Event, EventKind, GoldStatus, ItemRef, LabelSet, Text, Verdict};
use super::event_list::EventList;
use super::labels::{CurrentLabel, LabelSets};
use super::name_group::NameGroup;
use stepscope_base::canonical::Digest;

/// An undo of an undo of an undo is followed so far; the keys of the screen never go beyond two.
const MAX_UNDO_CHAIN: usize = 64;

/// Events of all reviewers, and which of them hold.
#[derive(Clone, Debug, Default)]
pub struct Reviews {
    events: EventList,
    /// Number of undos that hold and are aimed at an event, where there are any.
    undone: HashMap<u32, u32>,
    by_id: Positions,
    /// Undos that came before what they undo, as in files put together in another order.
    waiting: HashMap<Text, Vec<u32>>,
    /// The events of each item.
    items: Vec<Events>,
    /// The first item of each name, whatever its file and side.
    by_name: Positions,
    /// All items of a name that has several, by the first of them.
    names: HashMap<u32, NamedItems>,
    /// Events of each reviewer.
    by_reviewer: HashMap<Text, Vec<u32>>,
    label_sets: Vec<(u32, Box<LabelSet>)>,
    counts: SkippedEvents,
    /// Number that no reviews with other events have: what was worked out of these holds as long as it is the same.
    stamp: u64,
}

/// The last stamp that was given.
static LAST_STAMP: AtomicU64 = AtomicU64::new(0);

/// Positions of events, which are mostly one.
#[derive(Clone, Debug)]
enum Events {
    One(u32),
    #[expect(clippy::box_collection, reason = "there are hundreds of thousands of these, and few are several")]
    Several(Box<Vec<u32>>),
}

impl Events {
    fn push(&mut self, at: u32) {
        match self {
            Self::One(first) => *self = Self::Several(Box::new(vec![*first, at])),
            Self::Several(all) => all.push(at),
        }
    }

    fn as_slice(&self) -> &[u32] {
        match self {
            Self::One(at) => std::slice::from_ref(at),
            Self::Several(all) => all,
        }
    }
}

/// Several items of one name.
#[derive(Clone, Debug, Default)]
struct NamedItems {
    places: Vec<u32>,
    by_key: Positions,
    /// The events on each content, in their order: one content may be in several files.
    by_content: HashMap<Digest, Vec<u32>>,
}

impl NamedItems {
    fn note(&mut self, event: &Event, at: u32) {
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
pub(super) struct Positions {
    /// Each with a half of its key's hash, so that growing looks at no key.
    table: HashTable<(u32, u32)>,
    hasher: RandomState,
}

impl Positions {
    /// Finds the position of a key; `is` compares it with the one that lies there.
    pub(super) fn find(&self, key: impl Hash, is: impl Fn(u32) -> bool) -> Option<u32> {
        let half = self.half(key);
        self.table.find(whole(half), |(known, at)| *known == half && is(*at)).map(|(_, at)| *at)
    }

    /// Takes the position of a key that is not there yet.
    pub(super) fn insert(&mut self, key: impl Hash, at: u32) {
        let half = self.half(key);
        self.table.insert_unique(whole(half), (half, at), |(half, _)| whole(*half));
    }

    fn half(&self, key: impl Hash) -> u32 {
        self.hasher.hash_one(key) as u32
    }
}

/// Makes a hash for a table, which looks at both ends of it, of the half that is kept.
const fn whole(half: u32) -> u64 {
    (half as u64) << 32 | half as u64
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
    pub fn push(&mut self, mut event: Event) -> bool {
        if self.position(&event.event_id).is_some() {
            self.counts.duplicates += 1;
            return false;
        }
        let at = self.events.len() as u32;
        self.by_id.insert(&event.event_id, at);
        self.events.push(&event);
        match event.kind {
            EventKind::LabelSet => self.label_sets.extend(event.label_set.take().map(|set| (at, set))),
            EventKind::Undo => {}
            _ => self.add_to_item(&event, at),
        }
        match self.by_reviewer.get_mut(&event.reviewer.id) {
            Some(own) => own.push(at),
            None => _ = self.by_reviewer.insert(event.reviewer.id.clone(), vec![at]),
        }
        self.settle(&event, at);
        self.stamp = LAST_STAMP.fetch_add(1, Ordering::Relaxed) + 1;
        true
    }

    fn get(&self, at: u32) -> Option<Event> {
        self.events.get(at as usize)
    }

    /// Finds the position of the event of an id.
    fn position(&self, id: &Text) -> Option<u32> {
        self.by_id.find(id, |at| self.events.id(at as usize).as_ref() == Some(id))
    }

    /// Returns an item, as it was first named.
    fn item(&self, place: u32) -> Option<ItemRef> {
        self.events.item(*self.items.get(place as usize)?.as_slice().first()? as usize)
    }

    /// Finds the item of a key.
    fn place(&self, key: ItemKey<'_>) -> Option<u32> {
        self.place_from(self.first_of(key.name)?, key)
    }

    /// Finds the item of a key, given the first one of its name.
    fn place_from(&self, first: u32, key: ItemKey<'_>) -> Option<u32> {
        let is = |place: u32| self.item(place).is_some_and(|item| ItemKey::of(&item) == Some(key));
        match self.names.get(&first) {
            Some(named) => named.by_key.find(key, is),
            None => is(first).then_some(first),
        }
    }

    /// Finds the item of a name that was named first.
    fn first_of(&self, name: ItemName<'_>) -> Option<u32> {
        self.by_name.find(name, |place| self.item(place).is_some_and(|item| ItemName::of(&item) == Some(name)))
    }

    /// Finds the items of a name, in the order in which they were first named.
    fn places(&self, item: &ItemRef) -> Vec<u32> {
        let first = ItemName::of(item).and_then(|name| self.first_of(name));
        let all = first.map(|first| self.names.get(&first).map_or(vec![first], |named| named.places.clone()));
        all.unwrap_or_default()
    }

    fn add_to_item(&mut self, event: &Event, at: u32) {
        let Some(key) = event.item.as_ref().and_then(ItemKey::of) else { return };
        let first = self.first_of(key.name);
        let found = first.and_then(|first| self.place_from(first, key));
        let place = found.unwrap_or(self.items.len() as u32);
        if let Some(events) = found.and_then(|place| self.items.get_mut(place as usize)) {
            events.push(at);
        } else {
            self.items.push(Events::One(at));
        }
        let Some(first) = first else { return self.by_name.insert(key.name, place) };
        if found.is_none() && !self.names.contains_key(&first) {
            // The second item of this name: from now on it matters what was said of one content in several files.
            let named = self.named_alone(first);
            self.names.insert(first, named);
        }
        if let Some(named) = self.names.get_mut(&first) {
            if found.is_none() {
                named.places.push(place);
                named.by_key.insert(key, place);
            }
            named.note(event, at);
        }
    }

    /// Makes the items of a name of the only one so far.
    fn named_alone(&self, place: u32) -> NamedItems {
        let mut named = NamedItems { places: vec![place], ..NamedItems::default() };
        if let Some(key) = self.item(place).as_ref().and_then(ItemKey::of) {
            named.by_key.insert(key, place);
        }
        for at in self.items.get(place as usize).into_iter().flat_map(Events::as_slice) {
            self.get(*at).iter().for_each(|event| named.note(event, *at));
        }
        named
    }

    /// Carries out what the new event undoes, and what undoes it.
    fn settle(&mut self, event: &Event, at: u32) {
        for undo in self.waiting.remove(&event.event_id).into_iter().flatten() {
            let may = self.get(undo).is_some_and(|by| may_undo((undo, &by), (at, event)));
            if may && self.holds(undo) {
                self.bump(at, true);
                self.counts.idle_undos -= 1;
            }
        }
        let Some(id) = event.supersedes.as_ref().filter(|_| event.kind == EventKind::Undo) else { return };
        let target = self.position(id);
        match target.and_then(|target| Some((target, self.get(target)?))) {
            Some((target, undone)) if target < at && may_undo((at, event), (target, &undone)) => {
                self.shift(target, undone, true);
            }
            Some(_) => self.counts.idle_undos += 1,
            None => {
                self.counts.idle_undos += 1;
                self.waiting.entry(id.clone()).or_default().push(at);
            }
        }
    }

    /// Notes that an undo of this event holds now, or does not any more; so on down the chain of undos.
    fn shift(&mut self, mut target: u32, mut event: Event, mut more: bool) {
        for _ in 0..MAX_UNDO_CHAIN {
            let before = self.holds(target);
            self.bump(target, more);
            if before == self.holds(target) || event.kind != EventKind::Undo {
                return;
            }
            let next = event.supersedes.as_ref().and_then(|id| self.position(id));
            let Some((next, undone)) = next.and_then(|next| Some((next, self.get(next)?))) else { return };
            if !may_undo((target, &event), (next, &undone)) {
                return;
            }
            (target, event, more) = (next, undone, !more);
        }
    }

    fn bump(&mut self, target: u32, more: bool) {
        let count = self.undone.entry(target).or_default();
        *count = if more { count.saturating_add(1) } else { count.saturating_sub(1) };
    }

    fn holds(&self, at: u32) -> bool {
        self.undone.get(&at).is_none_or(|count| *count == 0)
    }

    /// Counts all events, whether they hold or not.
    pub const fn len(&self) -> usize {
        self.events.len()
    }

    /// Tells whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lists all events, whether they hold or not, in their order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = Event> {
        self.events.iter()
    }

    /// Finds the event of an id, and tells whether it holds.
    pub fn event(&self, id: &Text) -> Option<(Event, bool)> {
        let at = self.position(id)?;
        Some((self.get(at)?, self.holds(at)))
    }

    /// Lists every item that has an event, in the order of the first ones.
    pub fn items(&self) -> impl Iterator<Item = ItemReviews<'_>> {
        (0..self.items.len() as u32).filter_map(|place| self.at_place(place, None))
    }

    /// Returns the reviews of an item.
    fn at_place<'a>(&'a self, place: u32, content: Option<&'a Digest>) -> Option<ItemReviews<'a>> {
        let is_there = (place as usize) < self.items.len();
        is_there.then_some(ItemReviews { reviews: self, place, content, in_later_run: false, several: None })
    }

    /// Tells whether there is an event about an item of this name, in whatever file.
    pub fn names(&self, item: &ItemRef) -> bool {
        ItemName::of(item).is_some_and(|name| self.first_of(name).is_some())
    }

    /// Tells whether somebody said where an item of this name is to be fixed, in whatever file.
    pub fn names_fix(&self, item: &ItemRef) -> bool {
        let places = self.places(item);
        let events = places.iter().filter_map(|place| self.items.get(*place as usize)).flat_map(Events::as_slice);
        events.filter_map(|at| self.get(*at)).any(|event| event.fix_target.is_some())
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
    fn place_of_content(&self, item: &ItemRef, content: &Digest) -> Option<u32> {
        let is_same =
            |event: &Event| event.seen.content_sha256.as_ref() == Some(content) && side_of(event) == item.side.as_ref();
        let same = |at: &u32| self.get(*at).filter(|event| self.holds(*at) && is_same(event));
        let first = self.first_of(ItemName::of(item)?)?;
        let Some(named) = self.names.get(&first) else {
            let own = self.items.get(first as usize)?.as_slice();
            return own.iter().find_map(same).map(|_| first);
        };
        let event = named.by_content.get(content)?.iter().find_map(same)?;
        self.place(ItemKey::of(event.item.as_ref()?)?)
    }

    /// Lists the events on a content, in files of any name, where an item's name is that of several items.
    fn on_content(&self, item: &ItemRef, content: &Digest) -> &[u32] {
        let named = || self.names.get(&self.first_of(ItemName::of(item)?)?)?.by_content.get(content);
        named().map_or(&[], Vec::as_slice)
    }

    /// Collects the sets of labels that hold.
    pub fn label_sets(&self) -> LabelSets<'_> {
        let hold = self.label_sets.iter().filter(|(at, _)| self.holds(*at));
        LabelSets::of(hold.map(|(_, set)| &**set))
    }

    /// Lists the events of a reviewer that hold, in their order.
    pub fn said_by(&self, reviewer: &Text) -> impl DoubleEndedIterator<Item = Event> {
        let own = self.by_reviewer.get(reviewer).into_iter().flatten();
        own.filter(|at| self.holds(**at)).filter_map(|at| self.get(*at))
    }
}

/// Reviews of one item, seen from the content that its record has now: what somebody said of this very content counts
/// before what they said of another, later or in whatever file. Without a content nothing is stale.
#[derive(Clone, Copy, Debug)]
pub struct ItemReviews<'a> {
    reviews: &'a Reviews,
    place: u32,
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
    pub const fn at(self, content: Option<&'a Digest>) -> Self {
        Self { content, ..self }
    }

    /// Returns the same for a record of a later run: that its content is another is what a later run is about.
    #[must_use]
    pub const fn in_later_run(self) -> Self {
        Self { in_later_run: true, ..self }
    }

    /// Lists its events that hold, in their order: those about it, and those about its very content in other files.
    pub fn events(self) -> impl DoubleEndedIterator<Item = Event> + use<'a> {
        let positions = self.positions();
        let hold = (0..positions.len()).filter_map(move |n| positions.get(n).copied());
        hold.filter(move |at| self.reviews.holds(*at)).filter_map(move |at| self.reviews.get(at))
    }

    /// Lists those of a kind.
    fn of_kind(self, kind: EventKind) -> impl DoubleEndedIterator<Item = Event> + use<'a> {
        let positions = self.positions();
        let hold = (0..positions.len()).filter_map(move |n| positions.get(n).copied());
        let is_wanted = move |at: &u32| self.reviews.events.kind(*at as usize) == Some(kind) && self.reviews.holds(*at);
        hold.filter(is_wanted).filter_map(move |at| self.reviews.get(at))
    }

    /// Its events, whether they hold or not.
    fn own(self) -> &'a [u32] {
        self.reviews.items.get(self.place as usize).map_or(&[], Events::as_slice)
    }

    fn positions(self) -> Cow<'a, [u32]> {
        let (reviews, own) = (self.reviews, self.of_record());
        let Some(content) = self.content.filter(|_| !reviews.names.is_empty()) else { return own };
        let item = self.named();
        let (same, side) = (reviews.on_content(&item, content), &item.side);
        let is_same_side = |at: &u32| reviews.get(*at).is_some_and(|event| side_of(&event) == side.as_ref());
        let is_other = |at: &&u32| own.binary_search(at).is_err() && is_same_side(at);
        let others: Vec<u32> = same.iter().filter(is_other).copied().collect();
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
    fn of_record(self) -> Cow<'a, [u32]> {
        let Some((content, (_, group))) = self.content.zip(self.several) else { return Cow::Borrowed(self.own()) };
        let shares = || {
            let hold = self.own().iter().filter(|at| self.reviews.holds(**at));
            let (at, events): (Vec<u32>, Vec<Event>) =
                hold.filter_map(|at| Some((*at, self.reviews.get(*at)?))).unzip();
            group.shares(&at, &events)
        };
        let key = (self.reviews.stamp, self.own().first().copied());
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
        other.own().iter().any(|at| self.reviews.holds(*at) && positions.binary_search(at).is_ok())
    }

    /// Returns the item: the one of several records that have its name, else as it was first named.
    pub fn item(self) -> ItemRef {
        self.several.map_or_else(|| self.named(), |(record, _)| record.clone())
    }

    /// Returns the item as it was first named, whatever other records have the name.
    pub fn named(self) -> ItemRef {
        self.reviews.item(self.place).unwrap_or_default()
    }

    /// Tells whether one of its events was about this content.
    pub fn saw(self, content: Option<&Digest>) -> bool {
        content.is_some() && self.events().any(|event| event.seen.content_sha256.as_ref() == content)
    }

    /// Lists the verdict of each reviewer that holds, in the order of the reviewers' first verdicts.
    pub(crate) fn verdicts(self) -> Vec<Event> {
        self.current(self.of_kind(EventKind::Verdict).filter(|event| !event.draft).collect())
    }

    /// Leaves of all verdicts in their order those that count.
    fn current(self, mut verdicts: Vec<Event>) -> Vec<Event> {
        if verdicts.len() < 2 {
            return verdicts;
        }
        self.prefer_same_content(&mut verdicts);
        let mut current: Vec<usize> = Vec::new();
        let mut places: HashMap<&Text, usize> = HashMap::new();
        let replaced: HashSet<(&Text, &Text)> =
            verdicts.iter().filter_map(|event| Some((&event.reviewer.id, event.supersedes.as_ref()?))).collect();
        let is_gone = |event: &Event| replaced.contains(&(&event.reviewer.id, &event.event_id));
        for (n, event) in verdicts.iter().enumerate() {
            let place = *places.entry(&event.reviewer.id).or_insert(current.len());
            match current.get_mut(place) {
                None => current.push(n),
                // A verdict that another took the place of never comes back, in whatever order files were put together.
                Some(earlier) if !is_gone(event) || verdicts.get(*earlier).is_some_and(is_gone) => *earlier = n,
                Some(_) => {}
            }
        }
        current.iter().filter_map(|n| verdicts.get(*n).cloned()).collect()
    }

    /// Drops what reviewers said of another content, if they judged this one too.
    fn prefer_same_content(self, verdicts: &mut Vec<Event>) {
        let is_same = |event: &Event| is_fresh(event, self.content);
        if !verdicts.iter().all(is_same) {
            let of_this: HashSet<&Text> = verdicts.iter().filter(|e| is_same(e)).map(|e| &e.reviewer.id).collect();
            let keep: Vec<bool> = verdicts.iter().map(|e| is_same(e) || !of_this.contains(&e.reviewer.id)).collect();
            let mut keep = keep.into_iter();
            verdicts.retain(|_| keep.next() == Some(true));
        }
    }

    /// Lists each reviewer's verdicts, one a look: changes while an item is in front belong to the same look.
    pub(crate) fn looks(self) -> BTreeMap<Text, Vec<Event>> {
        let mut looks: BTreeMap<Text, Vec<Event>> = BTreeMap::new();
        for event in self.of_kind(EventKind::Verdict).filter(|event| !event.draft) {
            let own = looks.entry(event.reviewer.id.clone()).or_default();
            let shown = &event.times.shown;
            match own.last_mut().filter(|last| shown.is_some() && last.times.shown == *shown) {
                Some(last) => *last = event,
                None => own.push(event),
            }
        }
        looks
    }

    /// Finds the verdict of one reviewer that holds.
    pub fn verdict_of(self, reviewer: &Text) -> Option<Event> {
        self.verdicts().into_iter().find(|event| event.reviewer.id == *reviewer)
    }

    /// Finds the verdict between reviewers who disagree.
    pub fn adjudication(self) -> Option<Event> {
        let decisions = || self.of_kind(EventKind::Adjudicate);
        decisions().rfind(|event| is_fresh(event, self.content)).or_else(|| decisions().next_back())
    }

    /// Notes without a verdict.
    pub fn notes(self) -> impl Iterator<Item = Event> + use<'a> {
        self.of_kind(EventKind::Note).filter(|event| event.part.is_none() && !event.draft)
    }

    /// Lists the last note of each reviewer on each part of an answer, in the order of the parts.
    pub fn parts(self) -> impl Iterator<Item = (AnswerPart, Event)> + use<'a> {
        let judged = |event: Event| (!event.draft).then_some((event.part?, event));
        let notes = self.of_kind(EventKind::Note);
        let (same, other): (Vec<Event>, Vec<Event>) = notes.partition(|event| is_fresh(event, self.content));
        let last: BTreeMap<(AnswerPart, Text), Event> = (other.into_iter().chain(same))
            .filter_map(judged)
            .map(|(part, event)| ((part, event.reviewer.id.clone()), event))
            .collect();
        last.into_iter().map(|((part, _), event)| (part, event))
    }

    /// Finds the draft that a reviewer was typing when they were interrupted.
    pub fn draft(self, reviewer: &Text) -> Option<Event> {
        self.events().rfind(|event| event.reviewer.id == *reviewer).filter(|event| event.draft)
    }

    /// Lists the adjudication, the verdicts, those on parts of the answer, and the notes, in this order.
    pub fn said(self) -> impl Iterator<Item = Event> + use<'a> {
        let parts = self.parts().map(|(_, event)| event);
        self.adjudication().into_iter().chain(self.verdicts()).chain(parts).chain(self.notes())
    }

    /// Tells whether an event was about the content that the record has now, as far as one can know.
    pub fn is_fresh(self, event: &Event) -> bool {
        self.in_later_run || is_fresh(event, self.content)
    }

    /// Lists the verdicts to count by: the adjudication alone, or each reviewer's.
    pub fn fresh(self) -> Vec<Event> {
        self.judged().0
    }

    /// Lists the verdicts to count by, and tells whether there are any at all.
    fn judged(self) -> (Vec<Event>, bool) {
        let (decision, mut verdicts) = (self.adjudication(), self.verdicts());
        let is_judged = decision.is_some() || !verdicts.is_empty();
        if let Some(decision) = decision.filter(|decision| self.is_fresh(decision)) {
            return (vec![decision], is_judged);
        }
        verdicts.retain(|event| self.is_fresh(event));
        (verdicts, is_judged)
    }

    /// Determines the outcome to count it as.
    pub fn outcome(self) -> Outcome {
        let (fresh, is_judged) = self.judged();
        let said = |verdict| fresh.iter().any(|event| event.verdict == Some(verdict));
        match (said(Verdict::Pass), said(Verdict::Fail)) {
            (true, true) => Outcome::Disputed,
            (true, false) => Outcome::Pass,
            (false, true) => Outcome::Fail,
            _ if said(Verdict::Defer) => Outcome::Defer,
            _ if said(Verdict::Skip) => Outcome::Skip,
            _ if is_judged => Outcome::Stale,
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
        sets.resolve_all(&self.fresh())
    }
}

/// Tells whether an undo may take an event back, each with its position: only its own reviewer may. An undo waits for no
/// other undo: so undos never go in a circle.
fn may_undo((undo, by): (u32, &Event), (target, event): (u32, &Event)) -> bool {
    by.reviewer.id == event.reviewer.id && (event.kind != EventKind::Undo || target < undo)
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
