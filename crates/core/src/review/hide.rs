//! What a reviewer does not want to see before they judge, and records without it.

use std::borrow::Cow;

use super::event::Text;
use crate::rules::id::RuleId;
use stepscope_base::json::{Tape, Value};

stepscope_base::words! {
    /// One thing that can be hidden.
    pub enum Hidden {
        /// The expected answer, and whether the run was judged right by it.
        Gold = "gold",
        /// Answer of the baseline.
        Baseline = "baseline",
        /// Place where the run is to be fixed, and the reason.
        Triage = "triage",
        /// Confidence that the model states.
        Confidence = "confidence",
        /// Identity of the model.
        Model = "model",
    }
}

impl Hidden {
    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Names the members of a record that tell it, at any depth.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Gold => stepscope_base::list![
                gold_answer gold_num gold correct orig_answer solver_state expected_answer target ground_truth_answer
                ground_truth_solution ground_truth correct_answer reference_answer reference_solution gt_cot is_correct
                final_answer_correct verified label mistake_index first_error_step success reward
            ],
            Self::Confidence => &["confidence"],
            Self::Model => {
                &["model", "model_name", "model_id", "generator", "base_url", "system_fingerprint", "provider"]
            }
            Self::Baseline | Self::Triage => &[],
        }
    }

    /// Names the rules that look at it: to know that they spoke is to know something of it.
    pub(crate) const fn rules(self) -> &'static [RuleId] {
        match self {
            Self::Gold => &[
                RuleId::GoldNum,
                RuleId::GoldSteps,
                RuleId::Recompute,
                RuleId::AnswerZero,
                RuleId::AnswerFactor,
                RuleId::AnswerNegative,
                RuleId::AnswerFractional,
                RuleId::AnswerMagnitude,
                RuleId::AnswerUnit,
                RuleId::QuantityMissed,
                RuleId::QuantityInvented,
                RuleId::QuantityChanged,
                RuleId::UnknownShape,
                RuleId::WrongType,
            ],
            Self::Confidence => &[
                RuleId::ConfidenceOutOfRange,
                RuleId::AnswerSchema,
                RuleId::MissingField,
                RuleId::WrongType,
                RuleId::AnswerDiffersFromRawResponse,
            ],
            Self::Baseline | Self::Triage | Self::Model => &[],
        }
    }
}

/// Set of what is hidden.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hide(u8);

impl Hide {
    /// Creates the set of these.
    pub fn of(hidden: impl IntoIterator<Item = Hidden>) -> Self {
        Self(hidden.into_iter().fold(0, |bits, hidden| bits | hidden.bit()))
    }

    /// Tells whether nothing is hidden.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Tells whether this is hidden.
    pub const fn has(self, hidden: Hidden) -> bool {
        self.0 & hidden.bit() != 0
    }

    /// Lists what is hidden, in order.
    pub fn each(self) -> impl Iterator<Item = Hidden> {
        Hidden::ALL.into_iter().filter(move |hidden| self.has(*hidden))
    }

    /// Returns the words that review logs have.
    pub fn words(self) -> Vec<Text> {
        self.each().map(|hidden| Text::from(hidden.word())).collect()
    }

    /// Lists them for people: `gold, triage`.
    pub fn phrase(self) -> String {
        self.each().map(Hidden::word).collect::<Vec<_>>().join(", ")
    }

    /// Returns the text of a record as it is shown.
    pub fn mask(self, text: &[u8]) -> Cow<'_, [u8]> {
        let mut tape = Tape::default();
        let root = if !self.is_empty() && tape.read(text) { tape.root(text) } else { None };
        root.and_then(|root| self.without(text, root)).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Returns the text of a record without the members that tell it; `None`: it tells nothing of it. The state of a
    /// run and the values of its variables stay: a variable may have any name.
    pub fn without(self, text: &[u8], root: Value<'_>) -> Option<Vec<u8>> {
        let keys: Vec<&str> = self.each().flat_map(Hidden::keys).copied().collect();
        if keys.is_empty() {
            return None;
        }
        let mut cuts: Vec<std::ops::Range<usize>> = Vec::new();
        for stop in root.walk() {
            let Some(key) = stop.key.filter(|key| keys.iter().any(|hidden| key.is_string(hidden))) else { continue };
            let (from, to) = (key.range().start, stop.value.range().end);
            // What stands in something that is cut goes with it.
            if cuts.last().is_none_or(|last| last.end <= from) {
                cuts.push(from..to);
            }
        }
        if cuts.is_empty() {
            return None;
        }
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for cut in cuts {
            out.extend_from_slice(text.get(at..cut.start).unwrap_or_default());
            let next = comma_behind(text, cut.end);
            if next.is_none() {
                drop_comma(&mut out);
            }
            at = next.unwrap_or(cut.end);
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        Some(out)
    }
}

/// Finds the first byte after the comma that follows, and the blanks after that.
fn comma_behind(text: &[u8], from: usize) -> Option<usize> {
    let blanks = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    };
    let comma = blanks(from);
    (text.get(comma) == Some(&b',')).then(|| blanks(comma + 1))
}

/// Drops the comma before the last member of an object, when that is gone.
fn drop_comma(out: &mut Vec<u8>) {
    let kept = out.trim_ascii_end();
    if let Some(kept) = kept.strip_suffix(b",") {
        out.truncate(kept.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, hidden: &[Hidden]) -> String {
        let mut tape = Tape::default();
        let root = tape.parse(text.as_bytes()).unwrap();
        let masked = Hide::of(hidden.iter().copied()).without(text.as_bytes(), root);
        let masked = masked.map_or_else(|| text.to_owned(), |masked| String::from_utf8(masked).unwrap());
        let mut again = Tape::default();
        assert!(again.parse(masked.as_bytes()).is_some() && again.problems().is_empty(), "{masked}");
        masked
    }

    #[test]
    fn what_is_hidden_is_not_in_the_text() {
        let text = r#"{"gold_answer": "it is 4", "id": 1, "gold_num": 4, "state": {"a": 1, "confidence": 0.9}, "trace": [{"model": "m"}], "correct": true }"#;
        assert_eq!(
            without(text, &[Hidden::Gold]),
            r#"{"id": 1, "state": {"a": 1, "confidence": 0.9}, "trace": [{"model": "m"}] }"#
        );
        assert_eq!(without(text, &Hidden::ALL), r#"{"id": 1, "state": {"a": 1}, "trace": [{}] }"#);
        assert_eq!(without(text, &[Hidden::Triage, Hidden::Baseline]), text);
        assert_eq!(without(r#"{"gold": {"correct": 1}, "correct": 1}"#, &[Hidden::Gold]), "{}");
        assert_eq!(without(r#"{"a": 1, "gold": 2, "correct": 1}"#, &[Hidden::Gold]), r#"{"a": 1}"#);
    }

    #[test]
    fn words_and_back() {
        for hidden in Hidden::ALL {
            assert_eq!(Hidden::from_word(hidden.word()), Some(hidden));
        }
        assert_eq!(Hide::of([Hidden::Model, Hidden::Gold]).phrase(), "gold, model");
    }
}
