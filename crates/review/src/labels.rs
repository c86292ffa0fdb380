//! Sets of labels over their versions: an old verdict follows its labels to what became of them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use foldhash::HashMap;

use super::event::{Event, LabelDefinition, LabelRef, LabelSet, Text};
use stepscope_base::text::Shown;

/// The set of labels that are given without one.
pub(crate) const DEFAULT_SET: &str = "default";
/// Labels that are offered as long as there are no others:
/// id, name, when to give it, one case of it.
const STARTER: [[&str; 4]; 13] = [
    ["arithmetic_slip", "arithmetic slip", "Right numbers and operation, wrong result.", "12 * 8 = 98"],
    [
        "unevaluated",
        "expression left unevaluated",
        "A step writes an expression where its value is expected.",
        "\"2 * apples - 1\" in place of 7",
    ],
    [
        "quantity_missed",
        "quantity missed",
        "A number of the question is never used, though the answer depends on it.",
        "the discount of 15 % is left out",
    ],
    [
        "wrong_plan",
        "wrong plan",
        "The steps do not lead to the answer, even when each is done without a slip.",
        "price + count where price * count is needed",
    ],
    [
        "misread",
        "question misread",
        "A step reads something in the question that it does not say.",
        "\"twice as many\" read as two more",
    ],
    [
        "wrong_unit",
        "wrong unit or format",
        "The value is right, but its unit or format is not the requested one.",
        "0.5 (hours) where minutes are asked for",
    ],
    [
        "wrong_gold",
        "expected answer is wrong",
        "The run is right, and the expected answer is wrong.",
        "17 is right, 71 is expected",
    ],
    [
        "wrong_citation",
        "wrong citation",
        "The cited lines do not hold the quote, or do not support the value.",
        "page 3 is cited, the sentence is on page 5",
    ],
    [
        "incomplete",
        "answer incomplete",
        "Something that was asked for is missing.",
        "two of three exclusions are listed",
    ],
    [
        "wrong_value",
        "wrong value",
        "The document answers the question with another value.",
        "EUR 250 where the line of this tariff says EUR 350",
    ],
    [
        "not_in_document",
        "not in the document",
        "The document does not say what the answer says.",
        "a date is given, and no line has one",
    ],
    [
        "wrong_type",
        "wrong type",
        "The answer is of another type than the question asks for.",
        "a sentence where an amount is asked for",
    ],
    [
        "should_be_not_found",
        "should be \"not found\"",
        "The document does not answer the question, and the answer should say so.",
        "the excess of another policy is given",
    ],
];
/// Those of them that are about answers with cited lines, in the order in which they are offered there.
const FOR_ANSWERS: [&str; 6] =
    ["wrong_value", "wrong_citation", "not_in_document", "wrong_type", "incomplete", "should_be_not_found"];
/// A label that was split again and again leads to at most so many.
const MAX_RESOLVED: usize = 64;
/// A label is followed through so many versions that say what became of labels.
const MAX_FOLLOWED: usize = 1_000;

/// Label as it is called today.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CurrentLabel {
    /// Set of the label.
    pub set: Text,
    /// Id in the newest version.
    pub id: Text,
    /// Name that people read.
    pub name: Text,
}

/// One version of a set. Labels are looked up in it again and again, so it is read once, when that is first done.
#[derive(Clone, Debug)]
struct Version<'a> {
    set: &'a LabelSet,
    /// Name of each label; of two the first counts.
    names: OnceLock<HashMap<&'a Text, &'a Text>>,
    /// Successors of each label; of two the last counts.
    mapping: OnceLock<HashMap<&'a Text, &'a [Text]>>,
}

impl<'a> Version<'a> {
    fn new(set: &'a LabelSet) -> Self {
        Self { set, names: OnceLock::new(), mapping: OnceLock::new() }
    }

    fn name(&self, id: &Text) -> Option<&'a Text> {
        let read = || self.set.labels.iter().rev().map(|label| (&label.id, &label.name)).collect();
        self.names.get_or_init(read).get(id).copied()
    }

    fn became(&self, id: &Text) -> Option<&'a [Text]> {
        let read = || self.set.mapping.iter().map(|(from, to)| (from, to.as_slice())).collect();
        self.mapping.get_or_init(read).get(id).copied()
    }
}

/// Sets of labels, each with its versions in order.
#[derive(Clone, Debug, Default)]
pub struct LabelSets<'a> {
    sets: HashMap<&'a Text, Vec<Version<'a>>>,
    order: Vec<&'a Text>,
    /// Labels have the names that people read, also where none was written down.
    is_for_people: bool,
}

impl<'a> LabelSets<'a> {
    /// Collects label sets in the order of their events. Of the same version twice the later is the newer.
    pub fn of(events: impl IntoIterator<Item = &'a LabelSet>) -> Self {
        let mut sets = Self::default();
        for set in events {
            let versions = sets.sets.entry(&set.id).or_default();
            if versions.is_empty() {
                sets.order.push(&set.id);
            }
            versions.push(Version::new(set));
        }
        for versions in sets.sets.values_mut() {
            versions.sort_by_key(|version| version.set.version);
        }
        sets
    }

    /// Adds this set as the default one, where there is none.
    #[must_use]
    pub fn or_offered(mut self, starter: &'a LabelSet) -> Self {
        if self.newest_of(&starter.id).is_none() {
            self.order.insert(0, &starter.id);
            self.sets.insert(&starter.id, vec![Version::new(starter)]);
        }
        self
    }

    /// Returns the sets with the names that people read: as long as no label was written down, those that are offered have
    /// theirs. Programs are told the words that were given.
    #[must_use]
    pub fn for_people(self) -> Self {
        Self { is_for_people: true, ..self }
    }

    /// Tells whether no label was written down.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Tells whether a label is in its set, as that was in the label's version.
    pub fn knows(&self, label: &LabelRef) -> bool {
        let Some(versions) = self.sets.get(&label.set) else { return false };
        let later = versions.partition_point(|version| version.set.version <= label.version);
        let then = later.checked_sub(1).and_then(|at| versions.get(at)).or(versions.last());
        then.is_some_and(|version| version.name(&label.id).is_some())
    }

    /// Lists the newest version of each set, in the order in which the sets came.
    pub fn newest(&self) -> impl Iterator<Item = &'a LabelSet> + '_ {
        self.order.iter().filter_map(|id| self.newest_of(id))
    }

    /// Returns the set that labels are given from: the default one, else the first, else the one that is offered.
    pub fn given_from(&self) -> LabelSet {
        let set = self.newest_of(&DEFAULT_SET.into()).or_else(|| self.newest().next());
        set.cloned().unwrap_or_else(LabelSet::starter)
    }

    /// Finds the newest version of a set.
    pub fn newest_of(&self, set: &Text) -> Option<&'a LabelSet> {
        self.sets.get(set)?.last().map(|version| version.set)
    }

    /// Follows a label to what it became: one as a rule, several where it was split, none where it is gone. A label
    /// that no set knows is called by its id.
    pub fn resolve(&self, label: &LabelRef) -> Vec<CurrentLabel> {
        let mut ids = vec![&label.id];
        let versions = self.sets.get(&label.set).map_or(&[][..], Vec::as_slice);
        let later = versions.iter().skip_while(|version| version.set.version <= label.version);
        let later = later.filter(|version| !version.set.mapping.is_empty());
        for version in later.take(MAX_FOLLOWED) {
            ids = follow(&ids, version);
        }
        let newest = versions.last();
        let offered = |id: &Text| offered_name(id).filter(|_| self.is_for_people && self.is_empty()).map(Text::from);
        let name = |id: &Text| {
            let given = newest.and_then(|newest| newest.name(id));
            given.cloned().or_else(|| offered(id)).unwrap_or_else(|| id.clone())
        };
        ids.into_iter().map(|id| CurrentLabel { set: label.set.clone(), id: id.clone(), name: name(id) }).collect()
    }

    /// Tells whether what was given is this label of a set, under whatever name.
    pub fn is_now(&self, given: &LabelRef, set: &LabelSet, label: &Text) -> bool {
        given.set == set.id && (given.id == *label || self.resolve(given).iter().any(|now| now.id == *label))
    }

    /// Follows the labels of some events to what they became, each once, in order.
    pub fn resolve_all<'e>(&self, events: impl IntoIterator<Item = &'e Event>) -> Vec<CurrentLabel> {
        let labels = events.into_iter().flat_map(|event| &event.labels);
        let all: BTreeSet<CurrentLabel> = labels.flat_map(|label| self.resolve(label)).collect();
        all.into_iter().collect()
    }

    /// Returns the label of an id (or name) as it is given today: in the default set unless another alone has it.
    pub fn give(&self, id: &Text) -> LabelRef {
        let known = |set: &'a LabelSet| {
            let label = set.labels.iter().find(|label| label.id == *id);
            label.or_else(|| set.labels.iter().find(|label| label.name == *id)).map(|label| (set, &label.id))
        };
        let default = self.newest().find(|set| set.id == DEFAULT_SET);
        let label = default.and_then(known).or_else(|| self.newest().find_map(known));
        match label.or(default.map(|set| (set, id))) {
            Some((set, id)) => set.refer(id),
            None => LabelRef { id: id.clone(), set: DEFAULT_SET.into(), version: 0 },
        }
    }
}

impl LabelSet {
    /// Creates the first version of a set.
    pub fn first(id: Text) -> Self {
        Self { id, version: 1, labels: Vec::new(), mapping: Vec::new() }
    }

    /// Returns the labels that are offered as long as there are no others.
    pub fn starter() -> Self {
        let label = |words: &[&'static str; 4]| {
            let [id, name, guideline, example] = words.map(Text::from);
            LabelDefinition { id, name, guideline: Some(guideline), example: Some(example) }
        };
        Self { labels: STARTER.iter().map(label).collect(), ..Self::first(DEFAULT_SET.into()) }
    }

    /// Lists its labels for a record: of those that are about the other kind of records the names come last.
    pub fn offered_for(&self, is_answer: bool) -> Vec<LabelDefinition> {
        let place = |label: &LabelDefinition| {
            let own = FOR_ANSWERS.iter().position(|id| label.id == *id);
            let is_starter = STARTER.iter().any(|[id, ..]| label.id == *id);
            match (is_answer, own) {
                (true, Some(place)) => place,
                (true, None) if is_starter => 2 * FOR_ANSWERS.len(),
                (false, Some(_)) => 2 * FOR_ANSWERS.len(),
                _ => FOR_ANSWERS.len(),
            }
        };
        let mut labels = self.labels.clone();
        labels.sort_by_key(place);
        labels
    }

    /// Refers to one of its labels as this version has it.
    pub fn refer(&self, label: &Text) -> LabelRef {
        LabelRef { id: label.clone(), set: self.id.clone(), version: self.version }
    }

    /// Creates the next version, with the same labels.
    fn next(&self) -> Self {
        Self { version: self.version.saturating_add(1), mapping: Vec::new(), ..self.clone() }
    }

    /// Creates the next version, with one label more.
    #[must_use]
    pub fn with(&self, label: LabelDefinition) -> Self {
        let mut next = self.next();
        next.labels.push(label);
        next
    }

    /// Creates the next version, in which a label has another name.
    #[must_use]
    pub fn renamed(&self, id: &Text, name: &Text) -> Self {
        let mut next = self.next();
        for label in next.labels.iter_mut().filter(|label| label.id == *id) {
            label.name.clone_from(name);
        }
        next
    }

    /// Creates the next version, in which a label is part of another: old verdicts follow.
    #[must_use]
    pub fn merged(&self, from: &Text, into: &Text) -> Self {
        let mut next = self.next();
        next.labels.retain(|label| label.id != *from || from == into);
        next.mapping.push((from.clone(), vec![into.clone()]));
        next
    }
}

/// Returns the name of a label that people read. `is_offered`: no label set was written down, and those that are offered
/// have their names.
pub fn name_for_people(name: &Text, is_offered: bool) -> Shown {
    let offered = is_offered.then(|| offered_name(name)).flatten();
    offered.map_or_else(|| name.line(), Shown::own)
}

/// Finds the name of a label that is only offered.
fn offered_name(id: &Text) -> Option<&'static str> {
    STARTER.iter().find(|[known, ..]| *id == **known).map(|[_, name, ..]| *name)
}

/// Follows ids one version further: what is mapped goes where it leads, the rest stays.
fn follow<'i, 'a: 'i>(ids: &[&'i Text], version: &Version<'a>) -> Vec<&'i Text> {
    let mut to: Vec<&'i Text> = Vec::new();
    let mut add = |id| {
        if to.len() < MAX_RESOLVED && !to.contains(&id) {
            to.push(id);
        }
    };
    for id in ids {
        match version.became(id) {
            Some(targets) => targets.iter().for_each(&mut add),
            None => add(id),
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(version: u64, labels: &[&str], mapping: &[(&str, &[&str])]) -> LabelSet {
        let text = |text: &&str| Text::from((*text).to_owned());
        LabelSet {
            id: "default".into(),
            version,
            labels: labels
                .iter()
                .map(|id| LabelDefinition {
                    id: text(id),
                    name: format!("the {id}").into(),
                    ..LabelDefinition::default()
                })
                .collect(),
            mapping: mapping.iter().map(|(from, to)| (text(from), to.iter().map(text).collect())).collect(),
        }
    }

    fn now(sets: &LabelSets<'_>, id: &str, version: u64) -> Vec<String> {
        let label = LabelRef { id: Text::from(id.to_owned()), set: "default".into(), version };
        sets.resolve(&label).iter().map(|label| label.name.line().into_string()).collect()
    }

    #[test]
    fn labels_are_given_from_the_default_set_wherever_it_stands() {
        let [own, default] = ["own", DEFAULT_SET].map(|id| LabelSet::first(id.into()));
        assert_eq!(LabelSets::of([&own, &default]).given_from(), default);
        assert_eq!(LabelSets::of([&own]).given_from(), own);
        assert_eq!(LabelSets::default().given_from(), LabelSet::starter());
    }

    #[test]
    fn old_labels_follow_every_version() {
        let versions = [
            set(3, &["slip", "plan", "unit", "count"], &[("quantity", &["unit", "count"])]),
            set(1, &["sum", "product", "plan", "quantity", "typo"], &[]),
            set(2, &["slip", "plan", "quantity"], &[("sum", &["slip"]), ("product", &["slip"]), ("typo", &[])]),
        ];
        let sets = LabelSets::of(&versions);
        assert_eq!(now(&sets, "sum", 1), ["the slip"]);
        assert_eq!(now(&sets, "product", 1), ["the slip"]);
        assert_eq!(now(&sets, "quantity", 1), ["the unit", "the count"]);
        assert_eq!(now(&sets, "typo", 1), Vec::<String>::new());
        assert_eq!(now(&sets, "typo", 2), ["typo"], "given after it was gone: kept as it was given");
        assert_eq!(now(&sets, "plan", 0), ["the plan"]);
        assert_eq!(now(&sets, "my own", 0), ["my own"]);
        assert_eq!(sets.newest().map(|set| set.version).collect::<Vec<_>>(), [3]);
        assert_eq!(sets.give(&"slip".into()), LabelRef { id: "slip".into(), set: "default".into(), version: 3 });
        assert_eq!(LabelSets::default().give(&"x".into()).version, 0);
    }

    #[test]
    fn sets_are_changed_by_new_versions() {
        let text = |text: &str| Text::from(text.to_owned());
        let label =
            |id: &str| LabelDefinition { id: text(id), name: format!("the {id}").into(), ..LabelDefinition::default() };
        let one = LabelSet::first("default".into()).with(label("sum")).with(label("product"));
        let two = one.renamed(&"sum".into(), &"addition".into());
        let three = two.merged(&"product".into(), &"sum".into());
        assert_eq!((one.version, three.version, three.labels.len()), (3, 5, 1));
        let all = [one, two, three];
        let sets = LabelSets::of(&all);
        assert_eq!(
            (now(&sets, "sum", 3), now(&sets, "product", 3)),
            (vec!["addition".into()], vec!["addition".into()])
        );
    }

    #[test]
    fn of_one_version_written_twice_the_later_counts_and_both_map() {
        let versions =
            [set(1, &["a", "b"], &[]), set(2, &["x", "b"], &[("a", &["x"])]), set(2, &["x", "y"], &[("b", &["y"])])];
        let sets = LabelSets::of(&versions);
        assert_eq!((now(&sets, "a", 1), now(&sets, "b", 1)), (vec!["the x".to_owned()], vec!["the y".to_owned()]));
    }

    #[test]
    fn splitting_without_end_ends() {
        let ids: Vec<String> = (0..200).map(|n| format!("l{n}")).collect();
        let all: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mapping: Vec<(&str, &[&str])> = all.iter().map(|id| (*id, all.as_slice())).collect();
        let versions: Vec<LabelSet> = (1..50).map(|version| set(version, &[], &mapping)).collect();
        assert_eq!(now(&LabelSets::of(&versions), "l0", 0).len(), MAX_RESOLVED);
    }
}
