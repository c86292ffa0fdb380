//! Opinion that the peers of a run have of it, and its weight in the verdict on the run.

use crate::cause::Cause;
use crate::rule_set::PeerAgreement;
use crate::triage::{Argument, Confidence, Fix, Triage};
use stepscope_arithmetic::number::Number;
use stepscope_base::text::Shown;
use stepscope_record::finding::Finding;

stepscope_base::words! {
    /// Relation of a run to its peers.
    pub enum PeerStanding {
        /// A peer gives its answer, or nothing follows from what the others answer.
        Undisputed = "undisputed",
        /// Its peers speak against it.
        Against = "against",
        /// Nobody gives its answer, but its peers differ among themselves, or too few of them can be trusted.
        Split = "split",
        /// The expected answer is another one than all peers give.
        Expected = "expected",
    }
}

/// Opinion of the peers of a run about it.
#[derive(Debug)]
pub struct PeerOpinion {
    /// Number of its peers.
    pub of: usize,
    /// Number of those that give its answer.
    pub agree: usize,
    /// Relation of the run to them.
    pub standing: PeerStanding,
    /// Their answers, that with the most voices first, and the names of those that give each.
    pub answers: Vec<PeerAnswer>,
    /// Share of the peers with an answer that give its answer; `None`: it has none that could be read, or they have none.
    pub agreement: Option<f64>,
    /// Share of its values on the way that a peer has, on average over those that work something out; `None`: nobody can
    /// tell.
    pub values: Option<f64>,
    /// The step in which the run leaves them, by position.
    pub step: Option<usize>,
    /// The step with the first value that its peers do not have, by position, where that is the one to fix.
    pub leaves: Option<usize>,
    /// Part to fix there.
    pub(crate) fix: Fix,
    /// Confidence in that.
    pub(crate) confidence: Confidence,
    /// The place speaks for itself: a calculation differs from what is written, or a variable holds
    /// another number than with several peers.
    pub(crate) is_proof: bool,
    /// The reason.
    pub(crate) argument: Option<Argument>,
}

/// An answer that peers give.
#[derive(Clone, Debug)]
pub struct PeerAnswer {
    /// The number.
    pub value: Number,
    /// The peers, by position.
    pub(crate) peers: Vec<usize>,
    /// Names of the peers.
    pub names: Vec<Shown>,
    /// Weight of those that can be trusted; a second run of one maker counts half.
    pub(crate) voices: u32,
}

impl PeerAnswer {
    /// Counts the peers that give it.
    pub(crate) fn count(&self) -> usize {
        self.peers.len()
    }

    /// Tells whether one of those that give it can be trusted.
    pub(crate) fn is_trusted(&self) -> bool {
        self.voices > 0
    }
}

impl PeerOpinion {
    /// Lets the opinion speak in a verdict: what the record itself proves goes first.
    pub(crate) fn weigh(&self, triage: &mut Triage) {
        let Some(argument) = &self.argument else { return };
        let is_open = triage.step.is_none() && matches!(triage.fix, Fix::Unknown | Fix::Procedure);
        // A place that nothing but a guess speaks for.
        let is_guess = triage.is_chain && triage.fix == Fix::Procedure && triage.confidence == Confidence::Unsure;
        // Of two such places the first counts, unless the expected answer proves the other.
        let is_earlier = self.is_proof && !triage.recovers_gold && self.step.is_some() && self.step < triage.step;
        match self.standing {
            PeerStanding::Against if is_earlier && triage.is_chain => triage.step = self.step,
            PeerStanding::Against if is_earlier => {
                (triage.step, triage.confidence) = (self.step, self.confidence);
                triage.why.insert(0, argument.clone());
            }
            PeerStanding::Against if is_open || is_guess => {
                (triage.fix, triage.step, triage.confidence) = (self.fix, self.step, self.confidence);
                triage.cause = Some(Cause::LeavesPeers);
                triage.why.insert(0, argument.clone());
            }
            PeerStanding::Against | PeerStanding::Split | PeerStanding::Expected => triage.why.push(argument.clone()),
            PeerStanding::Undisputed => {}
        }
    }

    /// Packs what its peers have in common with it, as rows keep it.
    pub(crate) fn agreement(&self) -> PeerAgreement {
        let answering = self.answers.iter().map(PeerAnswer::count).sum::<usize>();
        PeerAgreement::new(self.agreement.map_or(0, |_| answering), self.agree, self.values)
    }

    /// Takes over what a finding says as its reason.
    pub(crate) fn arguing(mut self, finding: &Finding) -> Self {
        let (rule, pointer, text) = (finding.rule.word(), finding.place().pointer(), finding.message.line());
        self.argument = Some(Argument { rule, pointer, text });
        self
    }
}
