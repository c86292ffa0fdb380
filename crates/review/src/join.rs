//! Reviews and records brought together: which record the reviews of an item are about.

use std::collections::BTreeSet;
use std::hash::Hash;

use foldhash::{HashMap, HashSet};

use super::estimate::{Accuracy, JudgedRecord};
use super::event::{ItemRef, Text};
use super::fold::{ItemName, ItemReviews, Outcome, Positions, Reviews};
use super::name_group::NameGroup;
use super::namesakes::Namesakes;
use super::signal::Signal;
use crate::summary::Summary;
use stepscope_base::canonical::Digest;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::finding::counted;

/// Records by their names.
#[derive(Clone, Debug, Default)]
pub struct Index<'a> {
    summaries: &'a [Summary],
    /// Every position, so that one alone can be lent as a list.
    positions: Vec<usize>,
    /// Positions of the records of each name.
    names: KeyedRecords,
    /// The same of each name in each file. Without ids the first records of all files have one name.
    in_files: KeyedRecords,
    /// The same of each name with each content.
    contents: KeyedRecords,
    /// Names of their files; `None`: where a file has none.
    files: HashSet<Option<&'a Text>>,
    /// Those whose names others have too.
    namesakes: Namesakes,
}

/// Positions of records by a key that lies in them: there may be hundreds of thousands, and few have one key.
#[derive(Clone, Debug, Default)]
struct KeyedRecords {
    first: Positions,
    /// All records of a key that several have, by the first of them.
    several: HashMap<u32, Vec<usize>>,
}

impl KeyedRecords {
    /// Takes the record at a position; `of` reads the key of a record.
    fn add<'s, K: Hash + Eq>(&mut self, summaries: &'s [Summary], at: usize, of: fn(&'s Summary) -> Option<K>) {
        let Some(key) = summaries.get(at).and_then(of) else { return };
        match self.first(summaries, &key, of) {
            Some(first) => self.several.entry(first).or_insert_with(|| vec![first as usize]).push(at),
            None => self.first.insert(&key, at as u32),
        }
    }

    /// Finds the first record of a key.
    fn first<'s, K: Hash + Eq>(
        &self,
        summaries: &'s [Summary],
        key: &K,
        of: fn(&'s Summary) -> Option<K>,
    ) -> Option<u32> {
        self.first.find(key, |at| summaries.get(at as usize).and_then(of).as_ref() == Some(key))
    }
}

fn name_in(summary: &Summary) -> Option<ItemName<'_>> {
    ItemName::of(&summary.item)
}

fn name_in_file(summary: &Summary) -> Option<(ItemName<'_>, Option<&Text>)> {
    Some((name_in(summary)?, summary.item.dataset.as_ref()))
}

fn name_of_content(summary: &Summary) -> Option<(ItemName<'_>, &Digest)> {
    Some((name_in(summary)?, &summary.content))
}

/// A reviewed item, seen from its record.
#[derive(Clone, Copy, Debug)]
pub struct JoinedItem<'a> {
    /// Its reviews.
    pub reviewed: ItemReviews<'a>,
    /// Position of its record; `None`: it is not among the records.
    pub at: Option<usize>,
    /// Its record.
    pub summary: Option<&'a Summary>,
}

/// Reviewed items with their records.
#[derive(Debug, Default)]
pub struct Joined<'a> {
    /// Items of the records; without any records all items.
    pub items: Vec<JoinedItem<'a>>,
    /// Items of these files whose records are gone: they are no part of what is counted of these.
    pub gone: Vec<ItemReviews<'a>>,
    /// Items of other files.
    pub elsewhere: Vec<ItemReviews<'a>>,
    /// Records of which nothing was said.
    pub open: Vec<&'a Summary>,
    /// All records, whatever was said of them.
    pub(crate) records: &'a [Summary],
}

impl Joined<'_> {
    /// Estimates how accurate all records are.
    pub(crate) fn accuracy(&self) -> Accuracy {
        let reviewed: HashMap<usize, ItemReviews<'_>> =
            self.items.iter().filter_map(|item| Some((item.at?, item.reviewed))).collect();
        let records = self.records.iter().enumerate().filter(|(_, summary)| !summary.is_fork());
        let records = records.map(|(at, summary)| JudgedRecord {
            at,
            signal: summary.signal.unwrap_or(Signal::Quiet),
            reviewed: reviewed.get(&at).copied(),
        });
        Accuracy::of(&records.collect::<Vec<_>>())
    }
}

/// Marks on the records while items are brought together with them.
struct Marks {
    /// True where its own reviews are among the items.
    is_listed: Vec<bool>,
    /// True where anything was said of it.
    is_reviewed: Vec<bool>,
}

impl Marks {
    fn of(summaries: &[Summary]) -> Self {
        let none = || vec![false; summaries.len()];
        Self { is_listed: none(), is_reviewed: none() }
    }
}

impl<'a> Index<'a> {
    /// Of these records.
    pub fn of(summaries: &'a [Summary]) -> Self {
        let mut index = Self { summaries, positions: (0..summaries.len()).collect(), ..Self::default() };
        for (at, summary) in summaries.iter().enumerate() {
            index.names.add(summaries, at, name_in);
            index.in_files.add(summaries, at, name_in_file);
            index.contents.add(summaries, at, name_of_content);
            index.files.insert(summary.item.dataset.as_ref());
        }
        for named in index.names.several.values() {
            let records = named.iter().filter_map(|at| summaries.get(*at));
            index.namesakes.put(records.map(|record| (&record.item, &record.content)));
        }
        index
    }

    /// Positions of the records that an item names, in its file if it names one.
    fn positions<'s>(&'s self, item: &'s ItemRef) -> &'s [usize] {
        match (ItemName::of(item), item.dataset.as_ref()) {
            (None, _) => &[],
            (Some(_), None) => self.anywhere(item),
            (Some(name), file) => {
                let first = self.in_files.first(self.summaries, &(name, file), name_in_file);
                self.of_key(&self.in_files, first)
            }
        }
    }

    /// Positions of the records of the name of an item, in whatever file.
    fn anywhere(&self, item: &ItemRef) -> &[usize] {
        let first = ItemName::of(item).and_then(|name| self.names.first(self.summaries, &name, name_in));
        self.of_key(&self.names, first)
    }

    /// Positions of the records of a key, given the first of them.
    fn of_key<'s>(&'s self, keyed: &'s KeyedRecords, first: Option<u32>) -> &'s [usize] {
        let Some(first) = first else { return &[] };
        let alone = || self.positions.get(first as usize).map_or(&[][..], std::slice::from_ref);
        keyed.several.get(&first).map_or_else(alone, Vec::as_slice)
    }

    fn at(&self, at: usize) -> Option<&'a Summary> {
        self.summaries.get(at)
    }

    /// Lists the records that an item names: by its id, or where it has none by its position; of its file, if that is here.
    pub fn named<'s>(&'s self, item: &'s ItemRef) -> impl Iterator<Item = &'a Summary> + use<'a, 's> {
        let in_file = self.positions(item);
        let found = if in_file.is_empty() { self.anywhere(item) } else { in_file };
        found.iter().filter_map(|at| self.at(*at))
    }

    /// Finds the reviews of one of these records: where several have its name, those that are about it.
    pub fn find<'r>(&'r self, reviews: &'r Reviews, record: &'r Summary) -> Option<ItemReviews<'r>> {
        self.namesakes.choose(reviews.find(&record.item, Some(&record.content))?, &record.item)
    }

    /// Returns the records whose names others have too, to choose among the reviews of such a name.
    pub fn into_namesakes(self) -> Namesakes {
        self.namesakes
    }

    /// Brings each reviewed item together with its record, in the order of the items.
    pub fn join<'s>(&'s self, reviews: &'s Reviews) -> Joined<'s> {
        let (mut joined, mut marks) =
            (Joined { records: self.summaries, ..Joined::default() }, Marks::of(self.summaries));
        for reviewed in reviews.items() {
            let records = self.records_of(reviewed);
            if !records.is_empty() {
                self.take(reviews, reviewed, &records, &mut marks, &mut joined.items);
            } else if self.is_elsewhere(reviewed) {
                joined.elsewhere.push(reviewed);
            } else if self.summaries.is_empty() {
                joined.items.push(JoinedItem { reviewed, at: None, summary: None });
            } else if reviewed.said().next().is_some() {
                joined.gone.push(reviewed);
            }
        }
        let records = self.summaries.iter().zip(marks.is_reviewed);
        joined.open = records.filter(|(_, is_reviewed)| !is_reviewed).map(|(summary, _)| summary).collect();
        joined
    }

    /// Brings each reviewed item together with its record in a later run, under whatever file name: the one of the same
    /// id, else of the same question. An item of another file is left out where its record has reviews of its own.
    pub fn join_later<'s>(&'s self, reviews: &'s Reviews) -> Vec<JoinedItem<'s>> {
        let (mut items, mut marks) = (Vec::new(), Marks::of(self.summaries));
        let mut inputs: HashMap<&Digest, Vec<usize>> = HashMap::default();
        let mut contents: HashMap<&Digest, usize> = HashMap::default();
        for (at, summary) in self.summaries.iter().enumerate() {
            contents.entry(&summary.content).or_insert(at);
            if let Some(input) = &summary.input {
                inputs.entry(input).or_default().push(at);
            }
        }
        for reviewed in reviews.items() {
            let item = reviewed.item();
            let has_id = item.id.is_some();
            let mut records = self.records_of(reviewed);
            if !has_id {
                // A position tells nothing of a record that is another one now.
                let seen: HashSet<Digest> = contents_of(reviewed).collect();
                records.retain(|at| self.at(*at).is_some_and(|summary| seen.contains(&summary.content)));
            }
            if !records.is_empty() {
                self.take(reviews, reviewed, &records, &mut marks, &mut items);
                continue;
            }
            let named = if has_id { self.anywhere(&item) } else { &[] };
            let is_free = |at: &usize| self.at(*at).is_some_and(|one| !self.is_judged(reviews, one));
            let free: Vec<usize> = named.iter().copied().filter(is_free).collect();
            if free.is_empty() && !named.is_empty() {
                continue;
            }
            let asked = || reviewed.events().find_map(|event| inputs.get(event.seen.input_sha256.as_ref()?));
            let records = if free.is_empty() { asked().map_or(&[][..], Vec::as_slice) } else { free.as_slice() };
            if let Some(group) = self.group_of(&free) {
                // Several records of the name were judged, and several are here: one each.
                let owners: BTreeSet<usize> = owners_of(group, reviewed).flatten().collect();
                let records = owners.into_iter().filter_map(|owner| free.get(owner).copied());
                items.extend(records.filter_map(|at| {
                    let summary = self.at(at)?;
                    let reviewed = reviewed.at(Some(&summary.content)).of_several(&summary.item, group);
                    Some(JoinedItem { reviewed, at: Some(at), summary: Some(summary) })
                }));
                continue;
            }
            // What holds the same was asked the same.
            let seen = || contents_of(reviewed).find_map(|content| contents.get(&content)).copied();
            let at = if free.is_empty() { seen() } else { None }.or_else(|| self.likely(Some(&item), records));
            let summary = at.and_then(|at| self.at(at));
            let reviewed = reviewed.at(summary.map(|summary| &summary.content));
            items.push(JoinedItem { reviewed, at, summary });
        }
        for item in &mut items {
            item.reviewed = item.reviewed.in_later_run();
        }
        items
    }

    /// Finds the records that an item is about. Each event is about the records of the content that was seen, in whatever
    /// file; where there is none, about that in its place, else the first of its name.
    fn records_of(&self, reviewed: ItemReviews<'_>) -> Vec<usize> {
        let item = reviewed.item();
        let Some(name) = ItemName::of(&item) else { return Vec::new() };
        let (named, group) = (self.positions(&item), self.namesakes.group(&item));
        let mut owners = group.into_iter().flat_map(|group| owners_of(group, reviewed));
        let mut records = BTreeSet::new();
        let mut missing = Vec::new();
        for event in reviewed.events() {
            let owner = owners.next().flatten().and_then(|owner| named.get(owner));
            let seen = |content| self.contents.first(self.summaries, &(name, content), name_of_content);
            match event.seen.content_sha256.as_ref().and_then(seen) {
                Some(first) => records.extend(self.of_key(&self.contents, Some(first))),
                None if group.is_some() => records.extend(owner),
                None => missing.extend(event.item),
            }
        }
        for item in missing {
            let in_place =
                self.likely(Some(&item), named).filter(|at| records.is_empty() || self.is_in_place(*at, &item));
            records.extend(in_place);
        }
        records.into_iter().collect()
    }

    /// Returns the group that all of these records are, and nothing but these.
    fn group_of(&self, records: &[usize]) -> Option<&NameGroup> {
        let group = self.namesakes.group(&self.at(*records.first()?)?.item)?;
        let is_of_it = |(n, at): (usize, &usize)| self.at(*at).map(|record| &record.content) == group.content(n);
        (records.len() == group.len() && records.iter().enumerate().all(is_of_it)).then_some(group)
    }

    /// Tells whether a record has a verdict of its own, in its own file, that says whether it is right.
    fn is_judged(&self, reviews: &Reviews, record: &Summary) -> bool {
        let own = reviews.find(&record.item, Some(&record.content));
        let own = own.filter(|own| own.named().dataset == record.item.dataset);
        let own = own.and_then(|own| self.namesakes.choose(own, &record.item));
        let outcome = own.map(|own| own.in_later_run().outcome());
        matches!(outcome, Some(Outcome::Pass | Outcome::Fail | Outcome::Disputed))
    }

    /// Chooses among records none of which was seen: the one in the same place, else the first.
    fn likely(&self, item: Option<&ItemRef>, records: &[usize]) -> Option<usize> {
        let in_place = |at: &&usize| item.is_some_and(|item| self.is_in_place(**at, item));
        records.iter().find(in_place).or(records.first()).copied()
    }

    fn is_in_place(&self, at: usize, item: &ItemRef) -> bool {
        self.at(at).is_some_and(|summary| summary.item.row_index == item.row_index)
    }

    /// Adds an item for each of its records that has none yet.
    fn take<'s>(
        &'s self,
        reviews: &'s Reviews,
        reviewed: ItemReviews<'s>,
        records: &[usize],
        marks: &mut Marks,
        items: &mut Vec<JoinedItem<'s>>,
    ) {
        let mut contents = HashSet::default();
        for &at in records {
            let Some(summary) = self.at(at) else { continue };
            if let Some(is_reviewed) = marks.is_reviewed.get_mut(at) {
                *is_reviewed = true;
            }
            // What says the same word for word is one record.
            if !contents.insert((&summary.item.dataset, summary.content)) {
                continue;
            }
            let own = reviews.find(&summary.item, Some(&summary.content));
            let mut joined = match own.filter(|own| own.share(reviewed)) {
                // What names no file, or another side, may not be among the record's own reviews.
                None => reviewed.at(Some(&summary.content)),
                Some(own) => {
                    let is_listed = marks.is_listed.get_mut(at).map(|is_listed| std::mem::replace(is_listed, true));
                    if is_listed == Some(true) {
                        continue;
                    }
                    own
                }
            };
            if let Some(group) = self.namesakes.group(&joined.named()) {
                joined = joined.of_several(&summary.item, group);
            }
            items.push(JoinedItem { reviewed: joined, at: Some(at), summary: Some(summary) });
        }
    }

    /// Tells whether an item is of a file that is not among those of the records.
    fn is_elsewhere(&self, reviewed: ItemReviews<'_>) -> bool {
        let item = reviewed.item();
        let file = item.dataset.as_ref();
        file.is_some() && !self.files.is_empty() && !self.files.contains(&file) && !self.files.contains(&None)
    }
}

impl Joined<'_> {
    /// Says how many items are of records that are gone; `None`: none are.
    pub fn gone_phrase(&self) -> Option<Shown> {
        gone_phrase(self.gone.len())
    }
}

/// Says of how many items the records are gone; `None`: of none.
pub fn gone_phrase(items: usize) -> Option<Shown> {
    match items {
        0 => None,
        1 => Some(Shown::own("1 item of a record that is gone (left out)")),
        _ => Some(shown!("{} of records that are gone (left out)", counted(items, "item"))),
    }
}

/// Finds for each event of an item that holds the record of the group that it is about.
fn owners_of(group: &NameGroup, reviewed: ItemReviews<'_>) -> impl Iterator<Item = Option<usize>> + use<> {
    group.owners(&reviewed.events().collect::<Vec<_>>()).into_iter()
}

fn contents_of(reviewed: ItemReviews<'_>) -> impl Iterator<Item = Digest> {
    reviewed.events().filter_map(|event| event.seen.content_sha256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Agreement;
    use crate::event::{Event, EventKind, Reviewer, Verdict};
    use crate::stats::Stats;
    use crate::testing::{item, say};
    use stepscope_judge::case::Case;

    /// A record of a file at a position; `answer` makes its content another.
    fn record(file: &str, row: u64, id: Option<&str>, answer: &str) -> Summary {
        let id = id.map(|id| format!(r#""id": "{id}", "#)).unwrap_or_default();
        let text = format!(r#"{{{id}"question": "How many?", "state": {{"final_answer": "{answer}"}}}}"#);
        let case = Case::read(text.into_bytes());
        let file = (!file.is_empty()).then(|| Text::from(file.to_owned()));
        Summary::of(&case.view(), &[], file, row)
    }

    fn judged(said: &[(&str, &Summary, Verdict)]) -> Reviews {
        let mut reviews = Reviews::default();
        for (who, summary, verdict) in said {
            say(&mut reviews, who, summary, *verdict, |_| {});
        }
        reviews
    }

    /// The position and outcome of each item.
    fn found(items: &[JoinedItem<'_>]) -> Vec<(Option<usize>, Outcome)> {
        items.iter().map(|item| (item.at, item.reviewed.outcome())).collect()
    }

    const PASS: Verdict = Verdict::Pass;
    const FAIL: Verdict = Verdict::Fail;

    #[test]
    fn an_item_of_another_file_is_not_taken_for_a_record_of_the_same_id() {
        let (a, b) = (record("a", 0, Some("x"), "1"), record("b", 0, Some("x"), "2"));
        let reviews = judged(&[("ada", &a, PASS), ("ada", &b, FAIL)]);
        let records = [a.clone(), record("a", 1, Some("y"), "1")];
        let index = Index::of(&records);
        let joined = index.join(&reviews);
        assert_eq!((found(&joined.items), joined.elsewhere.len()), (vec![(Some(0), Outcome::Pass)], 1));
        assert_eq!(joined.open.iter().map(|one| one.item.row_index).collect::<Vec<_>>(), [Some(1)]);
        let index = Index::of(&records);
        assert_eq!(found(&index.join_later(&reviews)), [(Some(0), Outcome::Pass)], "it has reviews of its own");
        let both = [a.clone(), b];
        assert_eq!(found(&Index::of(&both).join(&reviews).items), [(Some(0), Outcome::Pass), (Some(1), Outcome::Fail)]);
        let later = [record("c", 0, Some("x"), "3")];
        assert_eq!(found(&Index::of(&later).join_later(&reviews)).len(), 2, "both are expected of another run");
        assert_eq!(Index::of(&[]).join(&reviews).items.len(), 2);
        let piped = [record("", 0, Some("z"), "1")];
        assert_eq!(Index::of(&piped).join(&reviews).elsewhere.len(), 0, "whose file is not known");
        let changed = [record("a", 0, Some("x"), "3")];
        assert_eq!(found(&Index::of(&changed).join(&judged(&[("ada", &a, PASS)])).items), [(Some(0), Outcome::Stale)]);
    }

    #[test]
    fn one_record_under_two_file_names_is_one_item() {
        let (a, copy) = (record("a", 0, Some("x"), "1"), record("copy", 0, Some("x"), "1"));
        for said in [[("eve", &copy, FAIL), ("ada", &a, PASS)], [("ada", &a, PASS), ("eve", &copy, FAIL)]] {
            let reviews = judged(&said);
            let records = [a.clone()];
            let index = Index::of(&records);
            let joined = index.join(&reviews);
            assert_eq!((found(&joined.items), joined.elsewhere.len()), (vec![(Some(0), Outcome::Disputed)], 0));
            assert_eq!(found(&Index::of(&records).join_later(&reviews)), [(Some(0), Outcome::Disputed)]);
        }
    }

    #[test]
    fn of_two_records_with_one_id_each_has_what_was_said_of_it() {
        let records = [record("a", 0, Some("x"), "1"), record("a", 1, Some("x"), "2")];
        let index = Index::of(&records);
        let first = judged(&[("ada", &records[0], PASS)]);
        let joined = index.join(&first);
        assert_eq!((found(&joined.items), joined.open.len()), (vec![(Some(0), Outcome::Pass)], 1));
        let both = judged(&[("ada", &records[0], PASS), ("ada", &records[1], FAIL)]);
        let joined = index.join(&both);
        assert_eq!(found(&joined.items), [(Some(0), Outcome::Pass), (Some(1), Outcome::Fail)]);
        assert!(joined.items.iter().all(|item| item.reviewed.events().count() == 1));
        assert_eq!(
            joined.items.iter().map(|item| item.reviewed.item().row_index).collect::<Vec<_>>(),
            [Some(0), Some(1)]
        );
        assert_eq!(found(&index.join_later(&both)), [(Some(0), Outcome::Pass), (Some(1), Outcome::Fail)]);
        let changed = [record("a", 0, Some("x"), "3"), record("a", 1, Some("x"), "4")];
        assert_eq!(
            found(&Index::of(&changed).join(&judged(&[("ada", &records[1], FAIL)])).items),
            [(Some(1), Outcome::Stale)]
        );
        let twice = [records[0].clone(), record("a", 1, Some("x"), "1")];
        let index = Index::of(&twice);
        let joined = index.join(&first);
        assert_eq!((found(&joined.items), joined.open.len()), (vec![(Some(0), Outcome::Pass)], 0), "word for word");
    }

    #[test]
    fn each_of_two_records_with_one_id_is_found_its_own_reviews() {
        let records = [record("a", 0, Some("x"), "1"), record("a", 1, Some("x"), "2"), record("a", 2, Some("y"), "3")];
        let index = Index::of(&records);
        let outcomes = |reviews: &Reviews| -> Vec<Option<Outcome>> {
            let found = records.iter().map(|one| index.find(reviews, one).map(ItemReviews::outcome));
            let (found, namesakes) = (found.collect::<Vec<_>>(), index.clone().into_namesakes());
            let chosen = records.iter().map(|one| {
                let found = reviews.find(&one.item, Some(&one.content))?;
                namesakes.choose(found, &one.item).map(ItemReviews::outcome)
            });
            assert_eq!(chosen.collect::<Vec<_>>(), found);
            found
        };
        let first = judged(&[("ada", &records[0], PASS)]);
        assert_eq!(outcomes(&first), [Some(Outcome::Pass), None, None]);
        let both = judged(&[("ada", &records[0], PASS), ("bob", &records[1], FAIL), ("ada", &records[2], PASS)]);
        assert_eq!(outcomes(&both), [Some(Outcome::Pass), Some(Outcome::Fail), Some(Outcome::Pass)]);
        let gone =
            judged(&[("ada", &record("a", 1, Some("x"), "9"), PASS), ("ada", &record("a", 9, Some("y"), "9"), PASS)]);
        assert_eq!(outcomes(&gone), [None, Some(Outcome::Stale), Some(Outcome::Stale)], "by its place, and alone");
    }

    #[test]
    fn a_changed_record_is_stale_though_another_of_its_id_is_as_it_was() {
        let records = [record("a", 0, Some("x"), "1"), record("a", 1, Some("x"), "2")];
        let reviews = judged(&[("ada", &records[0], PASS), ("ada", &records[1], FAIL)]);
        let changed = [record("a", 0, Some("x"), "3"), records[1].clone()];
        let index = Index::of(&changed);
        let joined = index.join(&reviews);
        assert_eq!(found(&joined.items), [(Some(0), Outcome::Stale), (Some(1), Outcome::Fail)]);
        assert!(joined.open.is_empty());
    }

    #[test]
    fn two_records_with_one_id_in_one_row_have_each_their_own_reviews() {
        // As after `cat run1 run2`, where each has the row that its run gave it.
        let of_run = |row: u64, answer: &str| {
            let mut record = record("r", row, Some("x"), answer);
            record.item.row_index = Some(0);
            record
        };
        let records = [of_run(0, "1"), of_run(1, "2")];
        let reviews = judged(&[("ada", &records[0], PASS), ("bob", &records[1], FAIL)]);
        let each = [(Some(0), Outcome::Pass), (Some(1), Outcome::Fail)];
        let said = |reviewed: ItemReviews<'_>| {
            let events =
                reviewed.events().map(|event| (event.reviewer.id.line().into_string(), reviewed.is_fresh(&event)));
            events.collect::<Vec<_>>()
        };
        let index = Index::of(&records);
        for items in [index.join(&reviews).items, index.join_later(&reviews)] {
            assert_eq!(found(&items), each);
            assert_eq!(items.iter().map(|item| item.reviewed.events().count()).collect::<Vec<_>>(), [1, 1]);
        }
        let namesakes = index.clone().into_namesakes();
        for (record, who) in records.iter().zip(["ada", "bob"]) {
            let all = reviews.find(&record.item, Some(&record.content)).unwrap();
            for own in [index.find(&reviews, record), namesakes.choose(all, &record.item)] {
                assert_eq!(said(own.unwrap()), [(who.to_owned(), true)]);
            }
        }
        let edited = [records[0].clone(), of_run(1, "3")];
        let index = Index::of(&edited);
        assert_eq!(found(&index.join(&reviews).items), [(Some(0), Outcome::Pass), (Some(1), Outcome::Stale)]);
        let [first, second] = [0, 1].map(|at| said(index.find(&reviews, &edited[at]).unwrap()));
        assert_eq!((first, second), (vec![("ada".into(), true)], vec![("bob".into(), false)]));
        let alone = judged(&[("ada", &records[0], PASS)]);
        assert!(index.find(&alone, &edited[1]).is_none(), "nothing was said of it");
        // In a later run, of whatever file name, each is looked up.
        let again = [("s", "5"), ("s", "6")].map(|(file, answer)| {
            let mut record = record(file, 0, Some("x"), answer);
            record.item.row_index = Some(0);
            record
        });
        assert_eq!(found(&Index::of(&again).join_later(&reviews)), each);
    }

    #[test]
    fn an_item_whose_record_is_gone_is_no_item_of_these_records() {
        let records = [record("a", 0, Some("x"), "1"), record("a", 1, Some("y"), "2")];
        let said = [("ada", &records[0], PASS), ("ada", &records[1], PASS), ("bob", &records[1], FAIL)];
        let mut reviews = judged(&said);
        let gone = |reviews: &Reviews, records: &[Summary]| {
            let index = Index::of(records);
            let joined = index.join(reviews);
            (joined.items.len(), joined.gone.len())
        };
        assert_eq!(gone(&reviews, &records), (2, 0));
        assert_eq!(gone(&reviews, &records[..1]), (1, 1));
        assert_eq!(gone(&reviews, &[]), (2, 0), "where no records are at hand all counts");
        let index = Index::of(&records[..1]);
        let agreement = Agreement::of(&reviews, &index.join(&reviews));
        assert_eq!((agreement.overlap, agreement.gone), (0, 1));
        let phrase = "1 item of a record that is gone (left out)";
        assert!(agreement.lines().iter().any(|line| line.as_str() == phrase));
        let stats = Stats::of(&reviews, &index.join(&reviews));
        assert_eq!((stats.outcomes.values().sum::<u64>(), stats.lines()[1].as_str()), (1, phrase));
        for undone in ["e1", "e2"] {
            let who = if undone == "e1" { "ada" } else { "bob" };
            let mut undo = Event::new(EventKind::Undo, Reviewer::person(who));
            (undo.event_id, undo.supersedes) = (format!("u{undone}").into(), Some(undone.into()));
            reviews.push(undo);
        }
        assert_eq!(gone(&reviews, &records[..1]), (1, 0), "nothing is said of it any more");
    }

    #[test]
    fn what_names_no_content_is_about_one_record() {
        let records = [record("a", 0, Some("x"), "1"), record("a", 1, Some("x"), "2")];
        let mut reviews = Reviews::default();
        reviews.push(Event { event_id: "e".into(), ..Event::verdict(Reviewer::person("ada"), item("x"), FAIL) });
        assert_eq!(found(&Index::of(&records).join(&reviews).items), [(Some(0), Outcome::Fail)]);
    }

    #[test]
    fn a_note_on_a_later_run_is_no_verdict_on_it() {
        let (a, b) = (record("a", 0, Some("x"), "1"), record("b", 0, Some("x"), "2"));
        let mut reviews = judged(&[("ada", &a, PASS)]);
        say(&mut reviews, "ada", &b, PASS, |event| (event.verdict, event.kind) = (None, EventKind::Note));
        let records = [b];
        let index = Index::of(&records);
        let later = index.join_later(&reviews);
        assert_eq!(found(&later)[0], (Some(0), Outcome::Pass));
    }

    /// Files of one record each without ids have one name all: work must not grow with its square, let alone its cube.
    #[test]
    fn many_files_of_one_record_are_brought_together_in_one_pass() {
        let records: Vec<Summary> = (0..3000).map(|n| record(&format!("file{n}"), 0, None, &n.to_string())).collect();
        let said: Vec<_> = records.iter().map(|one| ("ada", one, PASS)).collect();
        let reviews = judged(&said);
        let index = Index::of(&records);
        let place: Vec<_> = (0..3000).map(|n| (Some(n), Outcome::Pass)).collect();
        assert_eq!(found(&index.join(&reviews).items), place);
        assert_eq!(found(&index.join_later(&reviews)), place);
    }

    /// Many records of one id in one row, each judged: work must not grow with their square.
    #[test]
    fn many_records_of_one_name_are_brought_together_in_one_pass() {
        let records: Vec<Summary> = (0..3000)
            .map(|n| {
                let mut record = record("a", n, Some("x"), &n.to_string());
                record.item.row_index = Some(0);
                record
            })
            .collect();
        let said: Vec<_> = records.iter().map(|one| ("ada", one, PASS)).collect();
        let (reviews, index) = (judged(&said), Index::of(&records));
        let each: Vec<_> = (0..3000).map(|n| (Some(n), Outcome::Pass)).collect();
        assert_eq!(found(&index.join(&reviews).items), each);
        assert_eq!(found(&index.join_later(&reviews)), each);
        assert!(records.iter().all(|one| index.find(&reviews, one).map(ItemReviews::outcome) == Some(Outcome::Pass)));
    }

    #[test]
    fn without_ids_a_later_run_is_known_by_content_then_by_question_and_place() {
        let records: Vec<Summary> = (0..4).map(|row| record("a", row, None, &row.to_string())).collect();
        let said: Vec<_> = records.iter().map(|one| ("ada", one, PASS)).collect();
        let reviews = judged(&said);
        let places = |records: &[Summary]| -> Vec<Option<usize>> {
            Index::of(records).join_later(&reviews).iter().map(|item| item.at).collect()
        };
        assert_eq!(places(&records), [0, 1, 2, 3].map(Some));
        let moved: Vec<Summary> = (0..4).map(|row| record("b", row, None, &(3 - row).to_string())).collect();
        assert_eq!(places(&moved), [3, 2, 1, 0].map(Some));
        let changed: Vec<Summary> = (0..4).map(|row| record("a", row, None, "new")).collect();
        assert_eq!(places(&changed), [0, 1, 2, 3].map(Some));
    }
}
