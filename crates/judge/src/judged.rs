//! Judgments of a case: findings, what its peers say, where to fix it, and its route. Above all that judges, so that rules
//! can ask a case.

use std::cell::OnceCell;

use crate::case::{Case, CaseView, Location};
use crate::cause::Cause;
use crate::hide::Hide;
use crate::peer::Peer;
use crate::peer::opinion::PeerOpinion;
use crate::peers;
use crate::route::Routed;
use crate::routing::route;
use crate::rules;
use crate::rules::source::{duplicate_id, joined};
use crate::triage::{Fix, Triage};
use crate::trial;
use crate::trial::acquit;
use stepscope_record::finding::{Finding, Findings};
use stepscope_record::rule_id::RuleId;

impl Case<'_> {
    /// The same of a record that stepscope cannot cope with: as if it were not readable, and without findings.
    pub fn view_of_fault(&self) -> CaseView<'_> {
        let _ = self.judgments.findings.set(because_of_place(self.origin, false));
        self.view_as_fault()
    }

    /// Returns what the rules find in it, and what there is to say because of its place.
    pub fn findings(&self) -> &Findings {
        self.judgments.findings.get().unwrap_or_else(|| self.view().findings())
    }

    /// Forgets what the rules found but for some of it. To be called before anything that rests on findings is asked.
    fn retain_findings(&mut self, keeps: impl FnMut(&Finding) -> bool) {
        let mut findings = self.findings().clone();
        findings.retain(keeps);
        self.judgments.findings = OnceCell::from(findings);
    }

    /// Leaves out what would tell what is hidden in it: findings and the route of an answer. `is_known` tells whether a
    /// rule speaks of the whole record too. To be called before anything that rests on findings is asked.
    pub fn hide(&mut self, hide: Hide, is_known: impl Fn(RuleId) -> bool) {
        self.retain_findings(|finding| hide.keeps(finding.rule, || is_known(finding.rule)));
        if hide.hides_route() {
            self.take_route(None);
        }
    }

    /// Takes the route that it has, or is to be shown with, in place of its own. To be called before that is asked.
    pub fn take_route(&mut self, routed: Option<Routed>) {
        self.judgments.routed = OnceCell::from(routed);
    }
}

impl<'c> CaseView<'c> {
    /// Returns what the rules find in it, and what there is to say because of its place.
    pub fn findings(&self) -> &'c Findings {
        self.case.judgments.findings.get_or_init(|| {
            let mut findings = rules::check(self);
            acquit(self, &mut findings);
            self.ask_peers(&mut findings);
            if let Some(chain) = self.chain() {
                findings = findings.into_iter().map(|finding| chain.placed(finding)).collect();
            }
            findings.extend(because_of_place(self.origin(), self.record.is_some()));
            findings
        })
    }

    /// Adds what its peers say to what the rules found.
    fn ask_peers(&self, findings: &mut Findings) {
        let peers = self.peers();
        let (opinion, finding) = peers::opinion(self, &peers, findings).unzip();
        findings.extend(finding.flatten());
        let _ = self.case.judgments.peers.set(opinion.map(Box::new));
    }

    /// Returns what other runs of its question say about it; `None` where there are none.
    pub fn peer_opinion(&self) -> Option<&'c PeerOpinion> {
        let _ = self.findings();
        self.case.judgments.peers.get()?.as_deref()
    }

    /// The run as a peer of others; `None` of what is no run.
    pub fn as_peer(&self) -> Option<Peer> {
        peers::peer(self, self.findings())
    }

    /// Judges where to fix the run; `None` if it is no run.
    pub fn triage(&self) -> Option<&'c Triage> {
        let judge = || {
            let mut triage = self.triage_by(self.findings(), self.baseline())?;
            for argument in &mut triage.why {
                argument.pointer = self.pointer(std::mem::take(&mut argument.pointer));
            }
            Some(triage)
        };
        self.case.judgments.triage.get_or_init(judge).as_ref()
    }

    /// Judges where to fix the run by these findings and this answer of the baseline, and by its peers.
    pub fn triage_by(&self, findings: &[Finding], baseline: Option<f64>) -> Option<Triage> {
        let mut triage = trial::judge(self, findings, baseline)?;
        if let Some(opinion) = self.peer_opinion() {
            opinion.weigh(&mut triage);
        }
        Some(triage)
    }

    /// Names the way in which it failed, by these findings and this verdict; `None`: nothing more than a note speaks against
    /// it.
    pub fn cause(&self, findings: &[Finding], triage: Option<&Triage>) -> Option<Cause> {
        if let Some(triage) = triage.filter(|triage| triage.cause.is_some() || triage.fix == Fix::None) {
            return triage.cause;
        }
        Cause::of_findings(self.kind(), self.rightness().verdict() == Some(false), findings)
    }

    /// Decides by these findings what should happen with a structured answer.
    pub fn routed_by(&self, findings: &[Finding]) -> Option<Routed> {
        route(self, findings)
    }

    /// Decides what should happen with a structured answer, and why.
    pub fn routed(&self) -> Option<&'c Routed> {
        self.case.judgments.routed.get_or_init(|| self.routed_by(self.findings())).as_ref()
    }
}

/// Says what there is to say of a record because of its place in its source.
fn because_of_place(origin: Location, readable: bool) -> Findings {
    let joined = origin.joined.then(|| joined(readable));
    joined.into_iter().chain(origin.duplicate.then(|| duplicate_id(None))).collect()
}
