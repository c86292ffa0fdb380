//! The first value in which a run leaves what its peers have. Values are aligned by what they are, wherever they stand:
//! by their number, and where that says nothing, by the numbers that they are worked out from.

use crate::peer::track::{Joins, Track, TrackResult, Way};
use stepscope_arithmetic::number::Number;
use stepscope_base::text::Untrusted;

/// Runs round on the way, each in its own place: values this near to one another, in parts of themselves, are one.
const SAME: f64 = 1e-4;
/// Two numbers that are no small ones are one to the second decimal.
const SAME_DECIMALS: f64 = 0.011;
/// Least number that is no small one.
const SMALL: f64 = 5.0;
/// A calculation is followed back through so many others.
const MAX_DEPTH: usize = 3;
/// More parts of a calculation are not compared.
const MAX_PARTS: usize = 24;
/// Factors that only convert, or do nothing, say nothing about a value.
const PLAIN: [f64; 2] = [1.0, 100.0];

/// Answers that differ by such a factor give the same in other units: hours and minutes, dollars and cents.
const UNITS: [f64; 4] = [60.0, 100.0, 1000.0, 3600.0];

/// Place where a run leaves its peers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Departure {
    /// The step, by position.
    pub step: usize,
    /// Kind of the departure.
    pub kind: DepartureKind,
}

/// Manner in which a run leaves its peers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum DepartureKind {
    /// A number that none of them has; with the calculation that gives it, where there is one.
    NewNumber(Number, Option<Way>),
    /// A number of the question that is worked out, as none of them does.
    WorkedOut(Number, Way),
    /// A number that they have too, but from other numbers altogether.
    OtherWay(Number, Way),
    /// A variable that holds another number than the same variable of several peers.
    Variable(VariableDeparture),
    /// A calculation that does not give what is written.
    Slip,
    /// Every value is theirs too, but the answer is not.
    Answer,
}

/// A variable in which a run leaves several of its peers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct VariableDeparture {
    /// Its name.
    pub name: Untrusted<'static>,
    /// Number that the run holds in it.
    pub wrote: Number,
    /// Number that peers hold in it.
    pub instead: Number,
    /// Number of these peers.
    pub count: usize,
}

/// Finds the first variable in which several peers hold one number and the run another, and hardly any peer the run's.
pub(crate) fn by_variable(track: &Track, peers: &[&Track]) -> Option<Departure> {
    let last = |peer: &&Track, name: &Untrusted<'_>| {
        let own = peer.named.iter().rfind(|value| value.name == *name);
        own.map(|value| value.value)
    };
    track.named.iter().find_map(|own| {
        let values: Vec<Number> = peers.iter().filter_map(|peer| last(peer, &own.name)).collect();
        let count = |value: Number| values.iter().filter(|other| is_same(other.float(), value.float())).count();
        let (most, instead) = values.iter().map(|value| (count(*value), *value)).max_by_key(|(count, _)| *count)?;
        let (name, wrote) = (own.name.clone(), own.value);
        let leaves = most > 1 && most > count(wrote) && !is_same(instead.float(), wrote.float());
        let variable = VariableDeparture { name, wrote, instead, count: most };
        leaves.then_some(Departure { step: own.step, kind: DepartureKind::Variable(variable) })
    })
}

/// Tells whether two values are one, as runs write them.
pub(crate) fn is_same(a: f64, b: f64) -> bool {
    let off = (a - b).abs();
    off <= SAME * a.abs().max(b.abs()).max(1.0) || (off <= SAME_DECIMALS && a.abs() > SMALL)
}

/// Tells whether two answers are the same, be it in other units.
pub(crate) fn is_answer(a: Number, b: Number) -> bool {
    let (a, b) = (a.float(), b.float());
    let is_unit = |factor: f64| UNITS.iter().any(|unit| is_same(factor, *unit));
    is_same(a, b) || (a != 0.0 && b != 0.0 && (is_unit((a / b).abs()) || is_unit((b / a).abs())))
}

/// Tells whether a value is among others.
pub(crate) fn holds(values: &[f64], value: f64) -> bool {
    values.iter().any(|other| is_same(*other, value))
}

/// A calculation that was carried out, with its result and its step.
struct CarriedOut<'t> {
    step: usize,
    number: Number,
    way: &'t Way,
}

impl CarriedOut<'_> {
    fn value(&self) -> f64 {
        self.number.float()
    }
}

/// Parts that a calculation joins.
struct JoinedParts {
    step: usize,
    joins: Joins,
    parts: Vec<f64>,
}

/// Numbers of a run, for looking up.
#[derive(Default)]
pub(crate) struct PeerValues<'t> {
    /// Every number that it says, and that its calculations give.
    pub values: Vec<f64>,
    /// Numbers that its calculations give.
    pub results: Vec<f64>,
    /// Parts that its calculations join, each followed back to what it began with.
    joined: Vec<JoinedParts>,
    carried_out: Vec<CarriedOut<'t>>,
}

impl<'t> PeerValues<'t> {
    /// Looks through a run.
    pub(crate) fn of(track: &'t Track) -> Self {
        let mut held = Self::default();
        for (step, own) in track.steps.iter().enumerate() {
            held.values.extend(own.numbers.iter().map(|number| number.float()));
            for result in &own.results {
                for way in &result.ways {
                    held.results.extend(&way.results);
                    if way.parts.len() > 1 {
                        let expanded = expanded(&way.parts, way.joins, &held.carried_out, MAX_DEPTH);
                        let parts = without_neutral(expanded, way.joins);
                        held.joined.push(JoinedParts { step, joins: way.joins, parts });
                    }
                }
                held.results.extend(result.value.map(Number::float));
                held.carry_out(step, result);
            }
        }
        held.results.extend(track.answer.map(Number::float));
        held.values.extend(&held.results);
        held
    }

    pub(crate) fn carry_out(&mut self, step: usize, result: &'t TrackResult) {
        let Some(number) = result.value else { return };
        self.carried_out.extend(result.ways.iter().map(|way| CarriedOut { step, number, way }));
    }

    /// Tells whether one of its calculations gives a value.
    pub(crate) fn has_result(&self, value: f64) -> bool {
        self.carried_out.iter().any(|one| is_same(one.value(), value))
    }

    /// The calculations that give a value.
    fn ways_to(&self, value: f64) -> impl Iterator<Item = &'t Way> {
        self.carried_out.iter().filter(move |one| is_same(one.value(), value)).map(|one| one.way)
    }

    /// Finds another result that it works out from just the numbers of a calculation, with its step.
    pub(crate) fn in_place_of(&self, way: &Way, own: f64) -> Option<(usize, Number)> {
        let operands = telling(&way.operands);
        let is_made_of_the_same = |other: &Way| {
            let others = telling(&other.operands);
            let is_within = |some: &[f64], all: &[f64]| some.iter().all(|operand| holds(all, *operand));
            others.len() == operands.len() && is_within(&others, &operands) && is_within(&operands, &others)
        };
        let is_it = |one: &&CarriedOut<'_>| !is_same(own, one.value()) && is_made_of_the_same(one.way);
        self.carried_out.iter().find(is_it).filter(|_| operands.len() > 1).map(|one| (one.step, one.number))
    }

    /// Finds the step in which it joins the parts of a calculation, be it in another order or in one calculation with
    /// more. `followed`: the same parts, followed back to what they began with.
    fn joins(&self, way: &Way, followed: &[f64]) -> Option<usize> {
        let plain = without_neutral(way.parts.clone(), way.joins);
        let is_it = |joined: &&JoinedParts| {
            let is_part = |parts: &[f64]| is_part_of(parts, &joined.parts, way.joins);
            joined.joins == way.joins && (is_part(followed) || is_part(&plain))
        };
        self.joined.iter().find(is_it).map(|joined| joined.step)
    }

    /// Finds the step in which this run, itself taken as a peer, joins the parts of a calculation of another.
    pub(crate) fn step_that_joins(&self, way: &Way, before: &PeerValues<'_>) -> Option<usize> {
        (way.parts.len() > 1).then(|| self.joins(way, &before.followed(way)))?
    }

    /// Tells whether a peer works out the value of one of its calculations too, but from other numbers.
    pub(crate) fn is_elsewhere_in(&self, peer: &PeerValues<'_>, way: &Way, value: f64) -> bool {
        is_elsewhere(&telling(&way.operands), peer.ways_to(value)) && peer.step_that_joins(way, self).is_none()
    }

    /// Follows the parts of one of its calculations back to what they began with.
    fn followed(&self, way: &Way) -> Vec<f64> {
        followed(way, &self.carried_out)
    }
}

/// Lists the numbers that a calculation joins, and those that they go back to; none where it joins fewer than two.
fn goes_back_to(way: &Way, before: &[CarriedOut<'_>]) -> Vec<f64> {
    let mut all = telling(&way.operands);
    if all.len() > 1 {
        all.extend(telling(&expanded(&way.parts, way.joins, before, MAX_DEPTH)));
    }
    all
}

/// Tells whether there are other ways to a value, none of which joins any of these numbers.
fn is_elsewhere<'t>(own: &[f64], others: impl Iterator<Item = &'t Way>) -> bool {
    let shares = |other: &Way| {
        let operands = telling(&other.operands);
        own.iter().any(|operand| holds(&operands, *operand) || holds(&operands, -operand))
    };
    let mut others = others.peekable();
    own.len() > 1 && others.peek().is_some() && !others.any(shares)
}

fn followed(way: &Way, before: &[CarriedOut<'_>]) -> Vec<f64> {
    without_neutral(expanded(&way.parts, way.joins, before, MAX_DEPTH), way.joins)
}

/// Numbers that say something about a calculation.
fn telling(operands: &[f64]) -> Vec<f64> {
    operands.iter().copied().filter(|operand| !PLAIN.contains(&operand.abs())).collect()
}

/// With what earlier calculations of the same kind joined in place of their results.
fn expanded(parts: &[f64], joins: Joins, before: &[CarriedOut<'_>], depth: usize) -> Vec<f64> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let is_joined = |one: &CarriedOut<'_>| one.way.joins == joins && one.way.parts.len() > 1;
        let magnitude = if joins == Joins::Sum { part.abs() } else { *part };
        let is_inverse = |value: f64| joins == Joins::Product && part.abs() < 1.0 && is_same(1.0 / part, value);
        let from = before.iter().rposition(|one| {
            is_joined(one) && (is_same(magnitude, one.value()) || (*part != 0.0 && is_inverse(one.value())))
        });
        let found = from.filter(|_| depth > 0 && all.len() < MAX_PARTS);
        let Some((one, earlier)) = found.and_then(|at| Some((before.get(at)?, before.get(..at)?))) else {
            all.push(*part);
            continue;
        };
        let inner = expanded(&one.way.parts, joins, earlier, depth - 1);
        let is_turned = match joins {
            Joins::Sum => *part < 0.0,
            Joins::Product => !is_same(magnitude, one.value()),
        };
        all.extend(if is_turned { inverse(&inner, joins) } else { inner });
    }
    all
}

fn inverse(parts: &[f64], joins: Joins) -> Vec<f64> {
    let turned = |part: &f64| match joins {
        Joins::Sum => -part,
        Joins::Product if *part == 0.0 => 0.0,
        Joins::Product => 1.0 / part,
    };
    parts.iter().map(turned).collect()
}

fn without_neutral(mut parts: Vec<f64>, joins: Joins) -> Vec<f64> {
    parts.retain(|part| match joins {
        Joins::Sum => *part != 0.0,
        Joins::Product => !is_same(*part, 1.0),
    });
    parts
}

/// Tells whether a calculation joins only what one of theirs joins too: neighbours of a sum, or any factors of a product.
fn is_part_of(parts: &[f64], whole: &[f64], joins: Joins) -> bool {
    if parts.is_empty() || parts.len() > whole.len() {
        return false;
    }
    let is_within = |parts: &[f64], whole: &[f64]| {
        let mut left = whole.to_vec();
        parts.iter().all(|part| {
            let is_it = |other: &f64| (part - other).abs() <= 1e-6 * part.abs().max(1.0);
            left.iter().position(is_it).map(|at| left.swap_remove(at)).is_some()
        })
    };
    [parts.to_vec(), inverse(parts, joins)].iter().any(|parts| match joins {
        Joins::Sum => whole.windows(parts.len()).any(|window| is_within(parts, window)),
        Joins::Product => is_within(parts, whole),
    })
}

/// A run on its way along its peers.
struct StepWalk<'t, 'p> {
    peers: &'p [PeerValues<'t>],
    /// Numbers of the question, and what was met on the way.
    seen: Vec<f64>,
    given: &'p [f64],
    carried_out: Vec<CarriedOut<'p>>,
}

/// Finds the first value in which a run leaves its peers; `given`: the numbers of the question.
pub(crate) fn departure(track: &Track, given: &[f64], peers: &[PeerValues<'_>]) -> Departure {
    let mut walk = StepWalk { peers, seen: given.to_vec(), given, carried_out: Vec::new() };
    for (step, own) in track.steps.iter().enumerate() {
        let mut excused = Vec::new();
        let mut kind = None;
        for result in &own.results {
            kind = kind.or_else(|| walk.look_at(result, &mut excused));
            let Some(number) = result.value else { continue };
            walk.carried_out.extend(result.ways.iter().map(|way| CarriedOut { step, number, way }));
        }
        if let Some(kind) = kind.or_else(|| walk.new_number(&own.numbers, &own.results, &excused)) {
            return Departure { step, kind };
        }
    }
    Departure { step: answer_step(track), kind: DepartureKind::Answer }
}

impl<'p> StepWalk<'_, 'p> {
    fn has(&self, value: f64) -> bool {
        self.peers.iter().any(|peer| holds(&peer.values, value))
    }

    /// Tells whether one of the peers joins the same parts, be it in another order or in one calculation with more.
    fn is_joined(&self, way: &Way) -> bool {
        if way.parts.len() < 2 {
            return false;
        }
        let followed = followed(way, &self.carried_out);
        self.peers.iter().any(|peer| peer.joins(way, &followed).is_some())
    }

    /// Looks at a calculation; what no peer has and is only joined otherwise is excused.
    fn look_at(&self, result: &'p TrackResult, excused: &mut Vec<f64>) -> Option<DepartureKind> {
        if result.is_slip {
            return Some(DepartureKind::Slip);
        }
        let (number, way) = (result.value?, result.ways.first()?);
        let value = number.float();
        let has = self.has(value);
        if self.is_joined(way) {
            excused.extend(Some(value).filter(|_| !has));
            return None;
        }
        if holds(self.given, value) {
            let is_worked_out = self.peers.iter().any(|peer| holds(&peer.results, value));
            let is_restated = way.operands.len() < 2 || holds(&way.operands, value);
            let is_new = !is_worked_out && !is_restated;
            return is_new.then(|| DepartureKind::WorkedOut(number, way.clone()));
        }
        if !has {
            return None;
        }
        self.is_from_elsewhere(value, way).then(|| DepartureKind::OtherWay(number, way.clone()))
    }

    /// Tells whether the peers work a value out too, but from other numbers altogether.
    fn is_from_elsewhere(&self, value: f64, way: &Way) -> bool {
        let own = goes_back_to(way, &self.carried_out);
        is_elsewhere(&own, self.peers.iter().flat_map(|peer| peer.ways_to(value)))
    }

    /// The first number of a step that no peer has, and nothing excuses.
    fn new_number(&mut self, numbers: &[Number], results: &[TrackResult], excused: &[f64]) -> Option<DepartureKind> {
        for number in numbers {
            let value = number.float();
            if holds(&self.seen, value) {
                continue;
            }
            if !self.has(value) && !holds(excused, value) {
                let gives = |result: &&TrackResult| result.value.is_some_and(|own| is_same(own.float(), value));
                let way = results.iter().find(gives).and_then(|result| result.ways.first());
                return Some(DepartureKind::NewNumber(*number, way.cloned()));
            }
            self.seen.push(value);
        }
        None
    }
}

/// The step that works out the answer, else the first that says it, else the last.
pub(crate) fn answer_step(track: &Track) -> usize {
    let last = track.steps.len().saturating_sub(1);
    let Some(answer) = track.answer.map(Number::float) else { return last };
    step_that_gives(track, answer).or_else(|| step_that_says(track, answer)).unwrap_or(last)
}

/// The first step that works out a value, be it on the way to another one, else the first that says it.
pub(crate) fn step_with(track: &Track, value: f64) -> Option<usize> {
    let is_on_the_way = |result: &TrackResult| result.ways.iter().any(|way| holds(&way.results, value));
    let on_the_way = || track.steps.iter().position(|step| step.results.iter().any(is_on_the_way));
    step_that_gives(track, value).or_else(on_the_way).or_else(|| step_that_says(track, value))
}

fn step_that_gives(track: &Track, value: f64) -> Option<usize> {
    let is_it = |result: &TrackResult| result.value.is_some_and(|number| is_same(number.float(), value));
    track.steps.iter().position(|step| step.results.iter().any(is_it))
}

fn step_that_says(track: &Track, value: f64) -> Option<usize> {
    track.steps.iter().position(|step| step.numbers.iter().any(|number| is_same(number.float(), value)))
}
