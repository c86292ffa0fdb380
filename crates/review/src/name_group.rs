//! Several records of one name: which of them each event is about.

use std::sync::OnceLock;

use foldhash::{HashMap, HashSet};

use super::event::{Event, Text};
use stepscope_base::canonical::Digest;

/// Several records of one name, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameGroup {
    records: Vec<GroupedRecord>,
    /// Events of each record, kept from the first time: many may have one name, and each asks again and again.
    shares: OnceLock<(ShareKey, EventShares)>,
}

/// Positions of the events that are about the records of each content.
pub(crate) type EventShares = HashMap<Digest, Vec<u32>>;

/// Stamp of the reviews, and the first event of the item.
pub(crate) type ShareKey = (u64, Option<u32>);

/// Place and content of a record: its name alone does not tell it apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct GroupedRecord {
    row: Option<u64>,
    content: Digest,
}

impl NameGroup {
    /// Hands out the events of an item, each with its position, to the contents of the records that they are about.
    pub(crate) fn shares(&self, positions: &[u32], events: &[Event]) -> EventShares {
        let mut shares = EventShares::default();
        for (at, owner) in positions.iter().zip(self.owners(events)) {
            if let Some(content) = owner.and_then(|owner| self.content(owner)) {
                shares.entry(*content).or_default().push(*at);
            }
        }
        shares
    }

    /// Returns what was handed out of the same item of the same reviews; what is asked first is kept. `None`: something
    /// else was.
    pub(crate) fn kept(&self, key: ShareKey, shares: impl FnOnce() -> EventShares) -> Option<&EventShares> {
        let (kept, shares) = self.shares.get_or_init(|| (key, shares()));
        (*kept == key).then_some(shares)
    }

    /// Returns the content of a record by its position in the group.
    pub(crate) fn content(&self, at: usize) -> Option<&Digest> {
        self.records.get(at).map(|record| &record.content)
    }

    /// Adds a record by its place and content.
    pub(crate) fn push(&mut self, row: Option<u64>, content: Digest) {
        self.records.push(GroupedRecord { row, content });
    }

    /// Counts its records.
    pub(crate) const fn len(&self) -> usize {
        self.records.len()
    }

    /// Finds for each of the events of the name the record that it is about, by its position in the group; `None`: that is
    /// not among them. The content that was seen decides. Where no record has it, a record was edited since: the one on
    /// which the reviewer took the verdict back up, else one in the same place whose own content nobody saw.
    pub(crate) fn owners(&self, events: &[Event]) -> Vec<Option<usize>> {
        let mut known: HashMap<&Digest, usize> = HashMap::default();
        for (at, record) in self.records.iter().enumerate() {
            known.entry(&record.content).or_insert(at);
        }
        let by_id: HashMap<&Text, &Event> = events.iter().map(|event| (&event.event_id, event)).collect();
        let replaced = |event: &Event| {
            let earlier = by_id.get(event.supersedes.as_ref()?)?;
            (earlier.reviewer.id == event.reviewer.id).then_some(*earlier)
        };
        for event in events.iter().rev() {
            let owner = seen(event).and_then(|content| known.get(content).copied());
            if let Some((owner, earlier)) = owner.zip(replaced(event).and_then(seen)) {
                known.entry(earlier).or_insert(owner);
            }
        }
        let taken = events.iter().filter_map(|event| known.get(seen(event)?).copied());
        let mut heirs = RowHeirs::of(&self.records, taken.collect());
        for event in events {
            let Some(content) = seen(event).filter(|content| !known.contains_key(content)) else { continue };
            let again = || known.get(seen(replaced(event)?)?).copied();
            if let Some(owner) = again().or_else(|| heirs.heir(row(event))) {
                known.insert(content, owner);
            }
        }
        let owner = |event: &Event| match seen(event) {
            Some(content) => known.get(content).copied(),
            None => Some(heirs.first(row(event)).unwrap_or(0)),
        };
        events.iter().map(owner).collect()
    }
}

/// Content that was seen when an event was made.
const fn seen(event: &Event) -> Option<&Digest> {
    event.seen.content_sha256.as_ref()
}

fn row(event: &Event) -> Option<u64> {
    event.item.as_ref()?.row_index
}

/// The records of a group by the rows that they are in.
struct RowHeirs {
    in_row: HashMap<Option<u64>, Vec<usize>>,
    /// Number of records, from the first on, that were passed over in each row.
    passed: HashMap<Option<u64>, usize>,
    /// Records that are known to be those of an event.
    taken: HashSet<usize>,
}

impl RowHeirs {
    fn of(records: &[GroupedRecord], taken: HashSet<usize>) -> Self {
        let mut in_row: HashMap<Option<u64>, Vec<usize>> = HashMap::default();
        for (at, record) in records.iter().enumerate() {
            in_row.entry(record.row).or_default().push(at);
        }
        Self { in_row, passed: HashMap::default(), taken }
    }

    fn first(&self, row: Option<u64>) -> Option<usize> {
        self.in_row.get(&row)?.first().copied()
    }

    /// Chooses the record in a row that has another content now, and takes it. Where nothing is in the row and no record is
    /// known to be meant by anything, the records may have moved: it is the first.
    fn heir(&mut self, row: Option<u64>) -> Option<usize> {
        let Some(here) = self.in_row.get(&row) else { return self.taken.is_empty().then_some(0) };
        let passed = self.passed.entry(row).or_default();
        while let Some(at) = here.get(*passed) {
            *passed += 1;
            if self.taken.insert(*at) {
                return Some(*at);
            }
        }
        here.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ItemRef, Reviewer, Verdict};

    /// The records of one name as digits of their contents, all in one row, and events: who saw what, and the position of
    /// the event that it replaces.
    fn owners(records: &str, said: &[(&str, char, Option<usize>)]) -> Vec<Option<usize>> {
        let content = |digit: char| Digest::of_bytes(digit.to_string().as_bytes());
        let item = ItemRef { id: Some("x".into()), row_index: Some(0), ..ItemRef::default() };
        let record = |digit| GroupedRecord { row: Some(0), content: content(digit) };
        let group = NameGroup { records: records.chars().map(record).collect(), ..NameGroup::default() };
        let event = |(n, (who, saw, replaces)): (usize, &(&str, char, Option<usize>))| {
            let mut event = Event::verdict(Reviewer::person((*who).to_owned()), item.clone(), Verdict::Pass);
            event.event_id = n.to_string().into();
            event.seen.content_sha256 = Some(content(*saw));
            event.supersedes = replaces.map(|n| n.to_string().into());
            event
        };
        let events: Vec<Event> = said.iter().enumerate().map(event).collect();
        group.owners(&events)
    }

    #[test]
    fn what_was_seen_decides_then_who_took_it_back_up_then_what_nobody_saw() {
        let (ada, bob) = ("ada", "bob");
        assert_eq!(owners("12", &[(ada, '1', None), (bob, '2', None)]), [Some(0), Some(1)]);
        assert_eq!(owners("13", &[(ada, '1', None), (bob, '2', None)]), [Some(0), Some(1)], "the second was edited");
        assert_eq!(owners("32", &[(ada, '1', None), (bob, '2', None)]), [Some(0), Some(1)], "the first was edited");
        assert_eq!(
            owners("34", &[(ada, '1', None), (bob, '2', None), (bob, '1', None)]),
            [0, 1, 0].map(Some),
            "both were"
        );
        assert_eq!(owners("32", &[(ada, '1', None), (ada, '3', Some(0))]), [Some(0); 2], "edited, and judged again");
        assert_eq!(owners("42", &[(ada, '1', None), (ada, '3', Some(0))]), [Some(0); 2], "and edited once more");
        assert_eq!(
            owners("45", &[(ada, '1', None), (bob, '2', None), (bob, '3', None)]),
            [0, 1, 0].map(Some),
            "left over"
        );
    }
}
