//! Fields that a reviewer does not want to see before they judge, and records without them.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Match, Regex};

use stepscope_base::json::{Kind, Stop, Tape, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::formats;
use stepscope_record::rule_id::RuleId;
use stepscope_record::trace::VariablePlaces;

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
                stepscope_base::list![
                    model served_model model_name model_id generator backend base_url endpoint system_fingerprint provider
                ]
            }
            Self::Baseline | Self::Triage => &[],
        }
    }

    /// Names the rules that look at it: to know that they spoke is to know something of it.
    pub(crate) const fn rules(self) -> &'static [RuleId] {
        match self {
            Self::Gold => &[
                RuleId::GoldNum,
                RuleId::Grade,
                RuleId::NotPassed,
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
                RuleId::ReplyDiffers,
                RuleId::SecondLook,
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

    /// Tells whether a finding on a record without what is hidden is kept. `is_known`: its rule speaks of the whole
    /// record too. Where that would tell what is hidden, it is not asked; that something is hidden is no fault.
    pub(crate) fn keeps(self, rule: RuleId, is_known: impl FnOnce() -> bool) -> bool {
        let misses_it = self.has(Hidden::Confidence) && Hidden::Confidence.rules().contains(&rule)
            || self.has(Hidden::Gold) && [RuleId::UnknownShape, RuleId::WrongType].contains(&rule);
        let tells_it = self.each().any(|hidden| hidden.rules().contains(&rule));
        !misses_it && (tells_it || is_known())
    }

    /// Tells whether the route of an answer is hidden: it is where to fix it, and may follow from its confidence.
    pub const fn hides_route(self) -> bool {
        self.has(Hidden::Triage) || self.has(Hidden::Confidence)
    }

    /// Tells whether the place to fix is hidden in the table, which only knows it from the whole record: it is found by
    /// comparing a run with the expected answer and the baseline.
    pub const fn hides_fix(self) -> bool {
        self.has(Hidden::Gold) || self.has(Hidden::Baseline) || self.has(Hidden::Triage)
    }

    /// Returns the words that review logs have.
    pub fn words(self) -> Vec<Untrusted<'static>> {
        self.each().map(|hidden| Untrusted::from(hidden.word())).collect()
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

    /// Returns the text of a record without the members that tell it; `None`: it tells nothing of it. The values of a
    /// run's variables stay, whatever their names, but for the confidence: that is a variable of its own in every run.
    pub fn without(self, text: &[u8], root: Value<'_>) -> Option<Vec<u8>> {
        let cuts = self.cuts(root);
        if cuts.is_empty() {
            return None;
        }
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for LeftOutPart { range, is_listed } in cuts {
            out.extend_from_slice(&text[at..range.start]);
            let next = if is_listed { comma_behind(text, range.end) } else { Some(range.end) };
            if next.is_none() {
                drop_comma(&mut out);
            }
            at = next.unwrap_or(range.end);
        }
        out.extend_from_slice(&text[at..]);
        Some(out)
    }

    fn cuts(self, root: Value<'_>) -> Vec<LeftOutPart> {
        let keys: Vec<(Hidden, &str)> =
            self.each().flat_map(|hidden| hidden.keys().iter().map(move |key| (hidden, *key))).collect();
        let mut cuts: Vec<LeftOutPart> = Vec::new();
        if keys.is_empty() {
            return cuts;
        }
        let variables = LazyCell::new(|| VariablePlaces::of(&formats::read(root)));
        for stop in root.walk() {
            let from = stop.key.unwrap_or(stop.value).range().start;
            // What stands in something that is cut goes with it.
            if cuts.last().is_some_and(|last| from < last.range.end) {
                continue;
            }
            let hidden = stop.key.and_then(|key| keys.iter().find(|(_, hidden)| key.is_string(hidden)));
            if let (Some(key), Some((hidden, _))) = (stop.key, hidden)
                && (*hidden == Hidden::Confidence || !variables.contains(key.range().start))
            {
                cuts.push(LeftOutPart { range: from..stop.value.range().end, is_listed: true });
            } else if self.has(Hidden::Confidence) {
                cuts.extend(confidence_in(&stop));
            }
        }
        cuts
    }
}

/// Part of a record's text that is left out.
struct LeftOutPart {
    range: Range<usize>,
    /// A member or an item: a comma goes with it.
    is_listed: bool,
}

/// The confidence in a reply, which is JSON in a string, and among the keys that a schema asks for.
fn confidence_in(stop: &Stop<'_>) -> Vec<LeftOutPart> {
    let value = stop.value;
    match value.kind() {
        Kind::String if memchr::memmem::find(value.raw(), b"confidence").is_some() => {
            let start = value.range().start;
            let cut =
                |found: Match<'_>| LeftOutPart { range: start + found.start()..start + found.end(), is_listed: false };
            STATED.iter().flat_map(|stated| stated.find_iter(value.raw())).map(cut).collect()
        }
        Kind::Array if stop.key.is_some_and(|key| key.is_string("required")) => {
            let asked = value.items().filter(|item| item.is_string("confidence"));
            asked.map(|item| LeftOutPart { range: item.range(), is_listed: true }).collect()
        }
        _ => Vec::new(),
    }
}

/// The member of an object in a string of JSON, with one comma. There if the pattern is sound, which a test shows.
static STATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let blank = r"(?:\s|\\[nrt])*";
    // Some writers escape quotes by their number.
    let quote = r#"(?:\\"|\\u0022)"#;
    // Of a text in JSON in JSON: a letter, an escape of the reply, an escape of the record.
    let part = format!(r#"[^"\\]|\\\\(?:{quote}|[^"\\])|\\[^"\\u]|\\u(?:[^0]|0[^0]|00[^2]|002[^2])"#);
    let text = format!("{quote}(?:{part})*{quote}");
    let value = format!(r"(?:-?[0-9][0-9.eE+-]*|{text}|null|true|false|\{{[^{{}}]*\}}|\[[^\[\]]*\])");
    let member = format!("{quote}confidence{quote}{blank}:{blank}{value}");
    Regex::new(&format!("{member}{blank},{blank}|,{blank}{member}|{member}")).ok()
});

/// Finds the first byte after the comma that follows, and the blanks after that.
fn comma_behind(text: &[u8], from: usize) -> Option<usize> {
    let blanks = |from: usize| {
        let rest = &text[from..];
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
    fn variables_stay_whatever_their_names() {
        let run = r#"{"procedure": {"NameDescription": "n", "steps": []}, "state": {"target": 30, "model": "T"}, "gold_num": 4, "trace": {"v": 1, "steps": [{"model": "m", "inputs": {"label": 1}, "outputs": {"target": 30}, "schema": {"properties": {"target": {}}}}]}}"#;
        let want = run.replace(r#", "gold_num": 4"#, "").replace(r#""model": "m", "#, "");
        assert_eq!(without(run, &[Hidden::Gold, Hidden::Model]), want);
    }

    #[test]
    fn confidence_is_in_no_reply_and_no_schema_asks_for_it() {
        let call = |confidence: [&str; 4]| {
            let [first, last, fenced, required] = confidence;
            format!(
                r#"{{"trace": {{"steps": [{{"raw": "{{{first}\"x\": 1}}"}}, {{"raw": "{{\"x\": 1{last}}}"}}, {{"raw": "Sure:\n```json\n{{\n  \"x\": 1{fenced}\n}}\n```", "schema": {{"required": ["x"{required}]}}}}]}}}}"#
            )
        };
        let stated = [
            r#"\"confidence\": 0.9, "#,
            r#", \"confidence\":1e-1"#,
            r#",\n  \"confidence\" : \"high\""#,
            r#", "confidence""#,
        ];
        assert_eq!(without(&call(stated), &[Hidden::Confidence]), call([""; 4]));
        for value in [r#"{\"value\": 0.9}"#, "[0.9, 1]", r#"\"very \\\"high\\\" \\u00e9\nor so\""#, "true", "null"] {
            let stated = [&format!(r#"\"confidence\": {value}, "#), "", "", ""];
            let stated = call(stated);
            assert_eq!(without(&stated, &[Hidden::Confidence]), call([""; 4]), "{value}");
            // As .NET writes it.
            let by_number = |text: &str| text.replace(r#"\""#, r"\u0022");
            assert_eq!(without(&by_number(&stated), &[Hidden::Confidence]), by_number(&call([""; 4])), "{value}");
        }
    }

    #[test]
    fn words_and_back() {
        for hidden in Hidden::ALL {
            assert_eq!(Hidden::from_word(hidden.word()), Some(hidden));
        }
        assert_eq!(Hide::of([Hidden::Model, Hidden::Gold]).phrase(), "gold, model");
    }
}
