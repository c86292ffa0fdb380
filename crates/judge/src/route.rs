//! The route of a structured answer (what to do with it next), and every reason for it.

use stepscope_base::json::Pointer;
use stepscope_base::text::Untrusted;
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_record::rule_id::RuleId;

stepscope_base::words! {
    /// Route of an answer.
    pub enum Route {
        /// There is no answer yet.
        Pending = "pending" => "no answer yet: run it",
        /// A check failed: ask again, flag it, or throw it away.
        Reject = "reject" => "a check failed",
        /// The document contradicts itself: show both sides.
        ShowConflict = "show_conflict" => "the evidence conflicts: show both sides",
        /// The question is ambiguous: ask back.
        Clarify = "clarify" => "clarify the question",
        /// The text reached the model without its layout: parse the pages again.
        Reparse = "reparse" => "re-parse",
        /// Nothing was found.
        NoAnswer = "no_answer" => "not in document",
        /// Found, but not all: retrieve more.
        Broaden = "broaden" => "retrieve more",
        /// It was concluded, not read, or could not be checked: a person decides.
        HumanReview = "human_review" => "needs human review",
        /// It can be used.
        Ship = "ship" => "use it",
    }
}

/// Something that speaks for a route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trigger {
    /// The route that it speaks for.
    pub route: Route,
    /// Reason, in words.
    pub why: Untrusted<'static>,
    /// The rule whose finding it is.
    pub rule: Option<RuleId>,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

/// A route, and all that fired.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Routed {
    /// The first that fired.
    pub route: Route,
    /// Everything that fired, in the order of the routes.
    pub triggers: Vec<Trigger>,
    /// Verdict from the page after the last.
    pub truncation: TruncationVerdict,
}

impl Routed {
    /// The routes that fired, each once, in their order.
    pub fn fired(&self) -> impl Iterator<Item = Route> {
        Route::ALL.into_iter().filter(|route| self.triggers.iter().any(|trigger| trigger.route == *route))
    }
}
