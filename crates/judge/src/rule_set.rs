//! Sets of rules, as rows keep them: each distinct set once for all rows.

use std::collections::HashSet;
use std::sync::{LazyLock, PoisonError, RwLock};

use stepscope_record::rule_id::{QueueClass, RuleId};

/// Words of a set: one bit per rule, and at least one more for the baseline.
const WORDS: usize = RuleId::ALL.len() / 64 + 1;

/// The place behind the last rule: the baseline answers otherwise.
const DISAGREES: usize = RuleId::ALL.len();

/// A set of rules. What a baseline says counts as one more rule; what peers have in common with the record and the form
/// of its slip are kept with the set: so a row keeps all of it in one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct RuleSet([u64; WORDS], PeerAgreement, u8);

/// Agreement of a record with its peers. Of nothing: it has none, or nobody can tell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct PeerAgreement {
    /// Number of peers with an answer.
    pub of: u8,
    /// Number of those that give the record's.
    pub agree: u8,
    /// Share of its values on the way that peers have, in percent, and 1 more; 0: nobody can tell.
    values: u8,
}

impl PeerAgreement {
    const NONE: Self = Self { of: 0, agree: 0, values: 0 };

    /// Packs what peers have in common with a record; `values`: the share of its values on the way.
    pub(crate) fn new(of: usize, agree: usize, values: Option<f64>) -> Self {
        let small = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        Self { of: small(of), agree: small(agree), values: values.map_or(0, |share| (share * 100.0).round() as u8 + 1) }
    }

    /// The share of its values on the way that peers have.
    pub(crate) fn values(self) -> Option<f64> {
        self.values.checked_sub(1).map(|percent| f64::from(percent) / 100.0)
    }
}

impl RuleSet {
    pub(crate) const EMPTY: Self = Self([0; WORDS], PeerAgreement::NONE, 0);

    /// Those of the rules that put a record into a class of the review queue.
    pub(crate) fn in_queue(class: QueueClass) -> Self {
        RuleId::ALL.into_iter().filter(|rule| rule.queue() == class).collect()
    }

    /// Adds a rule.
    pub fn insert(&mut self, rule: RuleId) {
        self.put(rule as usize, true);
    }

    /// Takes a rule away.
    pub(crate) fn remove(&mut self, rule: RuleId) {
        self.put(rule as usize, false);
    }

    /// Notes whether the baseline answers otherwise.
    pub(crate) fn set_disagrees(&mut self, disagrees: bool) {
        self.put(DISAGREES, disagrees);
    }

    /// Keeps what peers have in common with the record.
    pub(crate) const fn set_peers(&mut self, peers: PeerAgreement) {
        self.1 = peers;
    }

    /// Returns what peers have in common with the record.
    pub(crate) const fn peers(&self) -> PeerAgreement {
        self.1
    }

    /// Keeps the form of the record's slip, as a number from 1.
    pub(crate) const fn set_slip(&mut self, form: u8) {
        self.2 = form;
    }

    /// Returns the form of the record's slip, as a number from 1; 0: it has none.
    pub(crate) const fn slip(&self) -> u8 {
        self.2
    }

    fn put(&mut self, place: usize, holds: bool) {
        if let Some(word) = self.0.get_mut(place / 64) {
            let bit = 1 << (place % 64);
            *word = if holds { *word | bit } else { *word & !bit };
        }
    }

    fn holds(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 != 0)
    }

    /// Tells whether the baseline answers otherwise.
    pub(crate) fn disagrees(&self) -> bool {
        self.holds(DISAGREES)
    }

    /// Tells whether the sets have a rule in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, two)| one & two != 0)
    }

    /// The rules, in the order in which they speak.
    pub fn rules(&self) -> impl Iterator<Item = RuleId> + '_ {
        RuleId::ALL.into_iter().filter(|rule| self.holds(*rule as usize))
    }

    /// Finds the one copy that all rows share. Copies are never given back: most files have few distinct sets, and no
    /// file has more than records.
    pub(crate) fn shared(self) -> &'static Self {
        static SETS: LazyLock<RwLock<HashSet<&'static RuleSet>>> = LazyLock::new(RwLock::default);
        if self == Self::EMPTY {
            return &Self::EMPTY;
        }
        if let Some(known) = SETS.read().unwrap_or_else(PoisonError::into_inner).get(&self) {
            return known;
        }
        let mut sets = SETS.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = sets.get(&self) {
            return known;
        }
        let set = Box::leak(Box::new(self));
        sets.insert(set);
        set
    }
}

impl Extend<RuleId> for RuleSet {
    fn extend<I: IntoIterator<Item = RuleId>>(&mut self, rules: I) {
        rules.into_iter().for_each(|rule| self.insert(rule));
    }
}

impl FromIterator<RuleId> for RuleSet {
    fn from_iter<I: IntoIterator<Item = RuleId>>(rules: I) -> Self {
        let mut set = Self::EMPTY;
        set.extend(rules);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_more_rules_than_a_word_has_bits() {
        assert!(RuleId::ALL.len() > 64);
        let mut all: RuleSet = RuleId::ALL.into_iter().collect();
        assert!(all.rules().eq(RuleId::ALL) && !all.disagrees());
        all.set_disagrees(true);
        assert!(all.rules().eq(RuleId::ALL) && all.disagrees());
        for rule in RuleId::ALL {
            let one = RuleSet::from_iter([rule]);
            assert!(one.rules().eq([rule]) && one.meets(&all));
            let mut others = all;
            others.remove(rule);
            assert!(!one.meets(&others) && others.rules().count() == RuleId::ALL.len() - 1 && others.disagrees());
        }
    }

    #[test]
    fn equal_sets_of_all_threads_are_one_copy() {
        let sets = || RuleId::ALL.map(|rule| std::ptr::from_ref(RuleSet::from_iter([rule]).shared()) as usize);
        let others: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(sets)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(others.iter().all(|other| *other == sets()));
    }
}
