//! A run among its peers: who answers what, whether that speaks against the run, and where it leaves them.

use std::sync::Arc;

use super::departure::{Departure, DepartureKind, PeerValues, by_variable, departure, holds, is_answer, is_same};
use super::reading::{given, soundness, track};
use super::words;
use crate::case::CaseView;
use crate::gold::Gold;
use crate::peer::opinion::{PeerAnswer, PeerOpinion, PeerStanding};
use crate::peer::track::{Track, Way};
use crate::peer::{Peer, Soundness, VOICE};
use crate::triage::{Confidence, Fix};
use crate::trial;
use stepscope_arithmetic::number::Number;
use stepscope_record::RecordKind;
use stepscope_record::finding::Finding;

/// Voices that say the same and are enough.
const ENOUGH: u32 = 2 * VOICE;

/// A run and its peers.
pub(super) struct Circle<'c, 'r> {
    pub case: &'c CaseView<'r>,
    pub peers: &'c [Arc<Peer>],
    pub track: Track,
    given: Vec<f64>,
    held: Vec<PeerValues<'c>>,
    soundness: Soundness,
}

/// Ground on which peers speak against a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// It is known to be wrong.
    Known,
    /// Several that can be trusted give one other answer.
    Agreed,
    /// They give other answers each, but leave the run together; or there is but one.
    Single,
}

impl<'c, 'r> Circle<'c, 'r> {
    /// Puts a run that the rules have looked at among its peers.
    pub(super) fn of(case: &'c CaseView<'r>, peers: &'c [Arc<Peer>], findings: &[Finding]) -> Self {
        Self {
            case,
            peers,
            track: track(case),
            given: given(case),
            held: peers.iter().map(|peer| PeerValues::of(&peer.track)).collect(),
            soundness: soundness(case, findings),
        }
    }

    /// Says what its peers hold of it, and the finding that there is to be told.
    pub(super) fn opinion(&self, findings: &[Finding]) -> (PeerOpinion, Option<Finding>) {
        let answers = self.answers();
        let own = self.track.answer;
        let agrees = |answer: &&PeerAnswer| own.is_some_and(|own| is_answer(own, answer.value));
        let agree: usize = answers.iter().filter(agrees).map(PeerAnswer::count).sum();
        let answering: usize = answers.iter().map(PeerAnswer::count).sum();
        let mut opinion = PeerOpinion {
            of: self.peers.len(),
            agree,
            standing: PeerStanding::Undisputed,
            agreement: own.filter(|_| answering > 0).map(|_| agree as f64 / answering as f64),
            values: self.shared_values(),
            answers,
            step: None,
            leaves: None,
            fix: Fix::Unknown,
            confidence: Confidence::Unsure,
            is_proof: false,
            argument: None,
        };
        let gold = self.case.gold();
        if let Some(gold) = gold
            && let Some(other) = self.other_than_expected(&opinion.answers, gold)
        {
            let finding = words::expected(self, &opinion, other, gold);
            opinion.standing = PeerStanding::Expected;
            return (opinion.arguing(&finding), Some(finding));
        }
        if self.case.is_right() || opinion.answers.is_empty() {
            return (opinion, None);
        }
        let is_known = self.case.rightness().verdict() == Some(false);
        let at = self.departure(gold);
        // Nobody can tell whether an answer that could not be read is another one.
        if own.is_none() && !is_known && at.kind == DepartureKind::Answer {
            return (opinion, None);
        }
        let Some(ground) = self.ground(&opinion, &at, is_known) else {
            if agree > 0 {
                return (opinion, None);
            }
            opinion.standing = PeerStanding::Split;
            let finding = words::split(self, &opinion);
            return (opinion.arguing(&finding), Some(finding));
        };
        opinion.standing = PeerStanding::Against;
        if self.track.steps.is_empty() {
            let finding = words::answers_alone(self, &opinion);
            return (opinion.arguing(&finding), Some(finding));
        }
        let at = self.variable_before(&at).unwrap_or(at);
        let place = self.place(&opinion, &at, ground, findings);
        (opinion.fix, opinion.step, opinion.confidence) = place;
        let is_departure = opinion.step == Some(at.step);
        // A slip is a departure from its own signs: its peers may have the same value.
        opinion.leaves = opinion.step.filter(|_| is_departure && at.kind != DepartureKind::Slip);
        let finding = words::against(self, &opinion, is_departure.then_some(&at));
        // What signs prove is said by its own rule.
        let is_said = is_departure && at.kind == DepartureKind::Slip;
        opinion.is_proof = is_said || (is_departure && matches!(at.kind, DepartureKind::Variable(_)));
        (opinion.arguing(&finding), Some(finding).filter(|_| !is_said))
    }

    /// Calculates the share of what the run works out that a peer has, on average over the peers that work something out.
    /// Neither the numbers of the question nor the answer are values on the way.
    fn shared_values(&self) -> Option<f64> {
        let is_answer = |value: f64| self.track.answer.is_some_and(|answer| is_same(answer.float(), value));
        let mut own: Vec<f64> = Vec::new();
        for value in self.track.worked_out().map(Number::float) {
            if !holds(&self.given, value) && !holds(&own, value) && !is_answer(value) {
                own.push(value);
            }
        }
        let peers: Vec<&PeerValues<'_>> = self.held.iter().filter(|held| !held.results.is_empty()).collect();
        let count = |value: &f64| peers.iter().filter(|held| holds(&held.values, *value)).count();
        let found: usize = own.iter().map(count).sum();
        let most = own.len() * peers.len();
        (most > 0).then(|| found as f64 / most as f64)
    }

    /// Collects the answers of the peers. Of one maker the second run that says the same counts half.
    fn answers(&self) -> Vec<PeerAnswer> {
        let mut answers: Vec<PeerAnswer> = Vec::new();
        for (at, peer) in self.peers.iter().enumerate() {
            let Some(value) = peer.track.answer else { continue };
            let known = answers.iter_mut().find(|answer| is_same(answer.value.float(), value.float()));
            let voice = peer.soundness.voice();
            let Some(answer) = known else {
                answers.push(PeerAnswer { value, peers: vec![at], names: vec![peer.name.clone()], voices: voice });
                continue;
            };
            let is_again =
                answer.peers.iter().filter_map(|at| self.peers.get(*at)).any(|other| other.maker == peer.maker);
            answer.voices += if is_again { voice / 2 } else { voice };
            answer.peers.push(at);
            answer.names.push(peer.name.clone());
        }
        answers.sort_by_key(|answer| std::cmp::Reverse((answer.voices, answer.count())));
        answers
    }

    /// The one answer that all peers give, where it is another than the expected one.
    fn other_than_expected<'a>(&self, answers: &'a [PeerAnswer], gold: &Gold) -> Option<&'a PeerAnswer> {
        let trusted: Vec<&PeerAnswer> = answers.iter().filter(|answer| answer.voices > 0).collect();
        let [only] = trusted.as_slice() else { return None };
        let is_expected = |answer: &PeerAnswer| is_answer(answer.value, gold.value);
        (only.voices >= ENOUGH && !answers.iter().any(is_expected)).then_some(*only)
    }

    /// Finds where the run leaves its peers: of a run that is wrong by its expected answer, those that give that.
    fn departure(&self, gold: Option<&Gold>) -> Departure {
        let right = |peer: &Arc<Peer>| {
            let is_gold = |gold: &Gold| peer.track.answer.is_some_and(|answer| is_answer(answer, gold.value));
            gold.is_some_and(is_gold)
        };
        if !self.peers.iter().any(right) {
            return departure(&self.track, &self.given, &self.held);
        }
        let peers: Vec<PeerValues<'_>> =
            self.peers.iter().filter(|peer| right(peer)).map(|peer| PeerValues::of(&peer.track)).collect();
        departure(&self.track, &self.given, &peers)
    }

    /// Finds a variable in which the run leaves several peers no later than where it leaves all of them.
    fn variable_before(&self, at: &Departure) -> Option<Departure> {
        let peers: Vec<&Track> = self.peers.iter().map(|peer| &peer.track).collect();
        let found = by_variable(&self.track, &peers)?;
        (found.step <= at.step || at.kind == DepartureKind::Answer).then_some(found)
    }

    /// Finds out whether the peers speak against the run.
    fn ground(&self, opinion: &PeerOpinion, at: &Departure, is_known: bool) -> Option<Ground> {
        let own = self.track.answer;
        let (with, against): (Vec<&PeerAnswer>, Vec<&PeerAnswer>) =
            opinion.answers.iter().partition(|answer| own.is_some_and(|own| is_answer(own, answer.value)));
        let most = against.first()?.voices;
        if is_known {
            return Some(Ground::Known);
        }
        let with: u32 = with.iter().map(|answer| answer.voices).sum();
        if with > 0 {
            return (most >= ENOUGH && most > with + self.soundness.voice()).then_some(Ground::Agreed);
        }
        if most >= ENOUGH {
            return Some(Ground::Agreed);
        }
        // Of a run that is doubtful by itself less is needed.
        if self.soundness != Soundness::Sound && own.is_some() {
            return Some(Ground::Single);
        }
        let trusted: u32 = against.iter().map(|answer| answer.voices).sum();
        if trusted < VOICE {
            return None;
        }
        if self.peers.len() == 1 {
            return Some(Ground::Single);
        }
        let is_alone = || matches!(at.kind, DepartureKind::WorkedOut(..) | DepartureKind::OtherWay(..));
        let leaves_them_together = match against.iter().filter(|answer| answer.voices > 0).count() {
            1 => self.have_more_in_common(&|_| true),
            _ if trusted < ENOUGH => false,
            _ => {
                let is_trusted = |peer: &Peer| peer.soundness != Soundness::Unsound;
                self.is_left_by_all_alike(&is_trusted) || self.have_more_in_common(&is_trusted) || is_alone()
            }
        };
        leaves_them_together.then_some(Ground::Single)
    }

    /// The results of some of the peers, without the numbers of the question.
    fn results(&self, counts: &dyn Fn(&Peer) -> bool) -> Vec<Vec<f64>> {
        let some = self.peers.iter().zip(&self.held).filter(|(peer, _)| counts(peer));
        let own =
            |held: &PeerValues<'_>| held.results.iter().copied().filter(|value| !holds(&self.given, *value)).collect();
        some.map(|(_, held)| own(held)).collect()
    }

    /// Tells whether peers have a result in common that the run lacks.
    fn have_more_in_common(&self, counts: &dyn Fn(&Peer) -> bool) -> bool {
        let results = self.results(counts);
        let Some((first, others)) = results.split_first().filter(|(_, others)| !others.is_empty()) else {
            return false;
        };
        let own = self.own_numbers();
        first.iter().any(|value| others.iter().all(|other| holds(other, *value)) && !holds(&own, *value))
    }

    /// Tells whether no peer goes along with the run any further than all of them do.
    fn is_left_by_all_alike(&self, counts: &dyn Fn(&Peer) -> bool) -> bool {
        let results = self.results(counts);
        let own = self.own_numbers();
        let is_shared = |value: &f64| results.iter().all(|other| holds(other, *value));
        let is_of_one = |value: &f64| results.iter().any(|other| holds(other, *value));
        !own.iter().any(|value| is_of_one(value) && !is_shared(value))
    }

    /// Numbers of the run that are not the question's.
    fn own_numbers(&self) -> Vec<f64> {
        let numbers = self.track.steps.iter().flat_map(|step| &step.numbers).map(|number| number.float());
        numbers.filter(|value| !holds(&self.given, *value)).collect()
    }

    /// Decides which step to name, and how sure that is.
    fn place(
        &self,
        opinion: &PeerOpinion,
        at: &Departure,
        ground: Ground,
        findings: &[Finding],
    ) -> (Fix, Option<usize>, Confidence) {
        let most = opinion.answers.first();
        let makers = most.map(|answer| {
            let mut makers: Vec<u64> =
                answer.peers.iter().filter_map(|at| self.peers.get(*at)).map(|peer| peer.maker).collect();
            makers.sort_unstable();
            makers.dedup();
            makers.len()
        });
        let is_independent = ground == Ground::Agreed && makers.is_some_and(|makers| makers > 1);
        // Prose does not say what follows from what.
        if self.case.kind() == RecordKind::Chain {
            return (Fix::Procedure, Some(at.step), Confidence::Unsure);
        }
        // What they agree on is taken for the expected answer, by which the run is carried out again.
        let is_one = ground == Ground::Agreed || (ground == Ground::Single && self.peers.len() == 1);
        let expected = most.filter(|answer| is_one && answer.is_trusted()).map(|answer| Gold::assumed(answer.value));
        let tried = expected.and_then(|gold| trial::assuming(self.case, findings, gold));
        let tried = tried.filter(|tried| tried.step.is_some() && tried.fix != Fix::Unknown);
        match tried {
            Some(tried) => {
                let is_likely = is_independent && tried.confidence != Confidence::Unsure;
                (tried.fix, tried.step, if is_likely { Confidence::Likely } else { Confidence::Unsure })
            }
            None if at.kind == DepartureKind::Answer => (Fix::Unknown, None, Confidence::Unsure),
            None => (Fix::StepRun, Some(at.step), Confidence::Unsure),
        }
    }

    /// Counts the peers that hold a value.
    pub(super) fn count_with(&self, value: f64) -> usize {
        self.held.iter().filter(|held| holds(&held.values, value)).count()
    }

    /// Lists what each peer works out in place of a calculation of the run that gives `own`, where it says.
    pub(super) fn in_place_of(&self, way: &Way, own: Number) -> Vec<f64> {
        self.held.iter().filter_map(|held| held.in_place_of(way, own.float())).map(|(_, value)| value.float()).collect()
    }
}
