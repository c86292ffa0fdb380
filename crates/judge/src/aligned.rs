//! Values of a run, step by step, next to what each of its peers has in their place. A value is another one only where
//! both are known to stand for the same: in one variable of one procedure, from just the same numbers, or as the answer.

use crate::case::CaseView;
use crate::peer::track::{Track, TrackResult, TrackStep, Way};
use crate::peers::departure::{PeerValues, answer_step, holds, is_answer, is_same, step_with};
use crate::peers::reading::{given, track};
use stepscope_arithmetic::number::Number;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

/// Values of a run next to those of its peers.
#[derive(Clone, Debug)]
pub struct AlignedRun {
    /// Names of the peers: their sources and lines.
    pub peers: Vec<Shown>,
    /// Values of each step, by position.
    pub steps: Vec<Vec<AlignedValue>>,
    /// The answer; `None`: the run has none that could be read.
    pub answer: Option<AlignedValue>,
}

/// Value of a run, with what each peer has in its place.
#[derive(Clone, PartialEq, Debug)]
pub struct AlignedValue {
    /// Name of its variable; without one it stands in prose.
    pub name: Option<Shown>,
    /// The number.
    pub value: Number,
    /// Calculation that gives it, where that could be read.
    pub formula: Option<Shown>,
    /// The question has this number: a peer that has it too need not have worked it out.
    pub is_given: bool,
    /// Counterpart of each peer, in their order.
    pub counterparts: Vec<Counterpart>,
}

/// Thing that a peer has in the place of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counterpart {
    /// The same number, and nothing says that it stands for something else.
    Same {
        /// Step of the peer, by position; `None`: it has only an answer.
        step: Option<usize>,
    },
    /// The same answer in other units.
    Units {
        /// The number.
        value: Number,
        /// Step of the peer, by position; `None`: it has only an answer.
        step: Option<usize>,
    },
    /// Another value.
    Other {
        /// The number.
        value: Number,
        /// Step of the peer, by position; `None`: it has only an answer.
        step: Option<usize>,
        /// Reason why it stands for the same.
        by: AlignedBy,
    },
    /// The same number, worked out from other numbers.
    Elsewhere {
        /// Step of the peer, by position.
        step: usize,
    },
    /// The same numbers are joined in one calculation with others.
    Within {
        /// Step of the peer, by position.
        step: usize,
    },
    /// It was looked for, and nothing was found.
    Missing,
    /// Nothing that could be compared.
    Unread,
}

/// Reason why two values stand for the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlignedBy {
    /// They are in the same variable of the same procedure.
    Name,
    /// They are worked out from just the same numbers.
    Operands,
    /// Both are answers.
    Answer,
}

/// Counts of what peers have in the place of values.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AlignedCounts {
    /// Peers with the same value.
    pub same: usize,
    /// Peers with another.
    pub other: usize,
    /// Peers that could be compared.
    pub of: usize,
    /// The values that peers have differ among themselves.
    pub is_split: bool,
}

impl Counterpart {
    /// Returns its sign.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Same { .. } | Self::Units { .. } => "=",
            Self::Other { .. } => "≠",
            Self::Elsewhere { .. } => "≈",
            Self::Within { .. } => "⊂",
            Self::Missing => "□",
            Self::Unread => " ",
        }
    }

    /// Names it in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same { .. } | Self::Units { .. } => "same",
            Self::Other { .. } => "other",
            Self::Elsewhere { .. } => "elsewhere",
            Self::Within { .. } => "within",
            Self::Missing => "missing",
            Self::Unread => "unread",
        }
    }

    /// Returns the step of the peer that it is in, by position.
    pub const fn step(self) -> Option<usize> {
        match self {
            Self::Same { step } | Self::Units { step, .. } | Self::Other { step, .. } => step,
            Self::Elsewhere { step } | Self::Within { step } => Some(step),
            Self::Missing | Self::Unread => None,
        }
    }
}

impl AlignedBy {
    const fn phrase(self) -> &'static str {
        match self {
            Self::Name => "in the same variable",
            Self::Operands => "from the same numbers",
            Self::Answer => "as its answer",
        }
    }
}

impl AlignedValue {
    /// Counts what the peers have.
    pub fn counts(&self) -> AlignedCounts {
        let mut counts = AlignedCounts::default();
        let mut values = Vec::new();
        for one in &self.counterparts {
            counts.of += usize::from(*one != Counterpart::Unread);
            let value = match one {
                Counterpart::Same { .. } | Counterpart::Units { .. } => {
                    counts.same += 1;
                    self.value.float()
                }
                Counterpart::Other { value, .. } => {
                    counts.other += 1;
                    value.float()
                }
                _ => continue,
            };
            if !holds(&values, value) {
                values.push(value);
            }
        }
        counts.is_split = values.len() > 1;
        counts
    }

    /// Says what a peer has in its place: `12 in step 1, from the same numbers`.
    pub fn phrase(&self, counterpart: Counterpart) -> Shown {
        let in_step = |step: usize| shown!(" in step {}", step + 1);
        let place = |step: Option<usize>| step.map_or_else(Shown::default, in_step);
        match counterpart {
            Counterpart::Same { step } => shown!("the same{}", place(step)),
            Counterpart::Units { value, step } => {
                shown!("{}{}, the same in other units", value.shown(), place(step))
            }
            Counterpart::Other { value, step, by } => {
                shown!("{}{}, {}", value.shown(), place(step), by.phrase())
            }
            Counterpart::Elsewhere { step } => {
                shown!("the same number in step {}, from other numbers", step + 1)
            }
            Counterpart::Within { step } => {
                shown!("the same numbers in step {}, in one calculation with others", step + 1)
            }
            Counterpart::Missing => Shown::own("nothing found in its place"),
            Counterpart::Unread if self.is_given => Shown::own("not compared: a number of the question"),
            Counterpart::Unread => Shown::own("not compared: no value of it could be read"),
        }
    }

    /// Lists the other values, each with the peers that have it, by position.
    pub fn others(&self) -> Vec<(Number, Vec<usize>)> {
        let mut others: Vec<(Number, Vec<usize>)> = Vec::new();
        for (peer, one) in self.counterparts.iter().enumerate() {
            let Counterpart::Other { value, .. } = one else { continue };
            match others.iter_mut().find(|(other, _)| is_same(other.float(), value.float())) {
                Some((_, peers)) => peers.push(peer),
                None => others.push((*value, vec![peer])),
            }
        }
        others
    }

    /// Writes it for people: `total = 54`.
    pub fn shown(&self) -> Shown {
        match &self.name {
            Some(name) => shown!("{name} = {}", self.value.shown()),
            None => shown!("{}", self.value.shown()),
        }
    }
}

impl AlignedRun {
    /// Puts a run next to its peers; `None`: it has none.
    pub fn of(case: &CaseView<'_>) -> Option<Self> {
        // What has no opinion of peers is no run, or has none.
        case.peer_opinion()?;
        let peers = case.peers();
        let track = track(case);
        let others: Vec<AlignedPeer<'_>> = peers.iter().map(|peer| AlignedPeer::of(&peer.track)).collect();
        let mut walk = AlignedWalk { track: &track, others: &others, given: given(case), own: PeerValues::default() };
        let steps = track.steps.iter().enumerate().map(|(at, step)| walk.step(at, step)).collect();
        let answer = track.answer.map(|value| AlignedValue {
            name: Some(Shown::own("answer")),
            value,
            formula: None,
            is_given: false,
            counterparts: others.iter().map(|other| other.answer(value)).collect(),
        });
        Some(Self { peers: peers.iter().map(|peer| peer.name.clone()).collect(), steps, answer })
    }

    /// Lists the values of the steps, each with the position of its step, and the answer behind them.
    pub fn rows(&self) -> impl Iterator<Item = (Option<usize>, &AlignedValue)> {
        let steps = self.steps.iter().enumerate();
        let values = steps.flat_map(|(step, values)| values.iter().map(move |value| (Some(step), value)));
        values.chain(self.answer.iter().map(|answer| (None, answer)))
    }
}

/// A peer with its values, for looking up.
struct AlignedPeer<'t> {
    track: &'t Track,
    values: PeerValues<'t>,
}

impl<'t> AlignedPeer<'t> {
    fn of(track: &'t Track) -> Self {
        Self { track, values: PeerValues::of(track) }
    }

    /// Tells whether one of its steps says a number.
    fn is_read(&self) -> bool {
        self.track.steps.iter().any(|step| !step.numbers.is_empty() || !step.results.is_empty())
    }

    /// Finds what it holds in a variable that is the same in both, where both run one procedure.
    fn by_name(&self, own: &Track, (at, name): (usize, &Untrusted<'_>), value: Number) -> Option<Counterpart> {
        if own.plan.is_none() || own.plan != self.track.plan {
            return None;
        }
        let held = self.track.named.iter().find(|held| held.step == at && held.name == *name)?;
        let (step, by) = (Some(at), AlignedBy::Name);
        let is_it = is_same(held.value.float(), value.float());
        Some(if is_it { Counterpart::Same { step } } else { Counterpart::Other { value: held.value, step, by } })
    }

    fn answer(&self, own: Number) -> Counterpart {
        let Some(value) = self.track.answer else { return Counterpart::Unread };
        let step = (!self.track.steps.is_empty()).then(|| answer_step(self.track));
        match () {
            () if is_same(value.float(), own.float()) => Counterpart::Same { step },
            () if is_answer(value, own) => Counterpart::Units { value, step },
            () => Counterpart::Other { value, step, by: AlignedBy::Answer },
        }
    }
}

/// A run on its way along its peers.
struct AlignedWalk<'t, 'p> {
    track: &'t Track,
    others: &'p [AlignedPeer<'p>],
    given: Vec<f64>,
    /// Values that it worked out so far.
    own: PeerValues<'t>,
}

/// A value of a step, before it is compared.
struct OwnValue<'t> {
    name: Option<&'t Untrusted<'static>>,
    value: Number,
    way: Option<&'t Way>,
}

impl<'t> AlignedWalk<'t, '_> {
    fn step(&mut self, at: usize, step: &'t TrackStep) -> Vec<AlignedValue> {
        let values = self.values(at, step).into_iter().map(|value| self.aligned(at, &value)).collect();
        step.results.iter().for_each(|result| self.own.carry_out(at, result));
        values
    }

    /// Lists the values of a step: its variables; of prose what it works out, else what it says for the first time.
    fn values(&self, at: usize, step: &'t TrackStep) -> Vec<OwnValue<'t>> {
        let gives = |value: Number| {
            let is_it = |result: &&TrackResult| result.value.is_some_and(|own| is_same(own.float(), value.float()));
            step.results.iter().find(is_it).and_then(|result| result.ways.first())
        };
        let named = self.track.named.iter().filter(|value| value.step == at);
        let named = named.map(|one| OwnValue { name: Some(&one.name), value: one.value, way: gives(one.value) });
        let mut values: Vec<OwnValue<'t>> = named.collect();
        if !values.is_empty() {
            return values;
        }
        let results = step.results.iter().filter_map(|result| Some((result.value?, result.ways.first())));
        let said = step.numbers.iter().map(|number| (*number, None));
        let is_new = |value: Number| self.track.plan.is_some() || !self.has_met(value.float());
        let said = said.filter(|(value, _)| step.results.is_empty() && is_new(*value));
        for (value, way) in results.chain(said) {
            if !values.iter().any(|known| is_same(known.value.float(), value.float())) {
                values.push(OwnValue { name: None, value, way });
            }
        }
        values
    }

    /// Tells whether a number is the question's, or was worked out before.
    fn has_met(&self, value: f64) -> bool {
        holds(&self.given, value) || self.own.has_result(value)
    }

    fn aligned(&self, at: usize, own: &OwnValue<'_>) -> AlignedValue {
        let is_given = holds(&self.given, own.value.float());
        AlignedValue {
            name: own.name.map(Untrusted::line),
            value: own.value,
            formula: own.way.and_then(|way| way.formula.as_ref()).map(|formula| shown!("{formula}")),
            is_given,
            counterparts: self.others.iter().map(|other| self.counterpart(at, own, is_given, other)).collect(),
        }
    }

    fn counterpart(&self, at: usize, own: &OwnValue<'_>, is_given: bool, other: &AlignedPeer<'_>) -> Counterpart {
        if let Some(found) = own.name.and_then(|name| other.by_name(self.track, (at, name), own.value)) {
            return found;
        }
        if let Some(found) = self.by_answer(at, own, other).filter(|_| self.states_answer(at, own)) {
            return found;
        }
        // Who has a number of the question need not have worked it out.
        if is_given || !other.is_read() {
            return self.by_answer(at, own, other).unwrap_or(Counterpart::Unread);
        }
        let value = own.value.float();
        if let Some(step) = step_with(other.track, value) {
            let is_elsewhere = own.way.is_some_and(|way| self.own.is_elsewhere_in(&other.values, way, value));
            return if is_elsewhere { Counterpart::Elsewhere { step } } else { Counterpart::Same { step: Some(step) } };
        }
        if let Some((step, value)) = own.way.and_then(|way| other.values.in_place_of(way, value)) {
            return Counterpart::Other { value, step: Some(step), by: AlignedBy::Operands };
        }
        if let Some(step) = own.way.and_then(|way| other.values.step_that_joins(way, &self.own)) {
            return Counterpart::Within { step };
        }
        self.by_answer(at, own, other).unwrap_or(Counterpart::Missing)
    }

    /// Tells whether a value is the answer of a procedure, in its last step.
    fn states_answer(&self, at: usize, own: &OwnValue<'_>) -> bool {
        self.track.plan.is_some() && own.name.is_none() && at + 1 == self.track.steps.len()
    }

    /// Compares the answer, in a step that gives it, with that of a peer.
    fn by_answer(&self, at: usize, own: &OwnValue<'_>, other: &AlignedPeer<'_>) -> Option<Counterpart> {
        let answer = self.track.answer.filter(|answer| is_same(answer.float(), own.value.float()))?;
        let gives_it = at == answer_step(self.track) || self.states_answer(at, own);
        Some(other.answer(answer)).filter(|found| gives_it && *found != Counterpart::Unread)
    }
}
