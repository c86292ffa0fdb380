//! Findings: what is said about a record, and where. The one model of diagnostics, for the screen and for `check`.

use std::ops::{Deref, DerefMut};

use crate::rule_id::RuleId;
use stepscope_base::json::Pointer;
use stepscope_base::json::write::{Json, Writer};
use stepscope_base::python::Message;
use stepscope_base::text::Untrusted;

pub use crate::severity::Severity;

/// Maximum number of findings of one rule that are listed a record; the last one counts the rest.
pub const MAX_FINDINGS: usize = 100;
/// Maximum number of labelled places of one finding that are kept; the rest are counted.
pub(crate) const MAX_LABELS: usize = 100;

stepscope_base::words! {
    /// Upstream's machine-usable repair hints (`evoproc.validators.Action`).
    pub enum Action {
        /// Small edits of the JSON are enough.
        PatchLocally = "PATCH_LOCALLY",
        /// Step 1 must be rewritten to read only `problem_text`.
        RewriteFirstStep = "REWRITE_FIRST_STEP",
        /// A step that writes `final_answer` alone is missing.
        AddFinalStep = "ADD_FINAL_STEP",
        /// More steps are needed to reach `final_answer`.
        ExtendProcedureToFinal = "EXTEND_PROCEDURE_TO_FINAL",
        /// A step that writes the missing input is needed.
        AddMissingProducer = "ADD_MISSING_PRODUCER",
    }
}

/// Place of a finding in its record.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// The key of the member that the pointer names.
    Key(Pointer),
    /// The value that the pointer names.
    Value(Pointer),
    /// Bytes of the record's text, where no value could be read.
    Bytes {
        /// First byte.
        start: usize,
        /// One past the last.
        end: usize,
    },
    /// A part of the string that the pointer names, in bytes of its unescaped text.
    Span {
        /// The string.
        pointer: Pointer,
        /// First byte.
        start: usize,
        /// One past the last.
        end: usize,
    },
}

impl Place {
    /// The address in the record; the whole record where only bytes are known.
    pub fn pointer(&self) -> Pointer {
        match self {
            Self::Key(pointer) | Self::Value(pointer) | Self::Span { pointer, .. } => pointer.clone(),
            Self::Bytes { .. } => Pointer::default(),
        }
    }
}

/// A place and what is to be said there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlaceLabel {
    /// Place of the label.
    pub place: Place,
    /// Text of the label, in a few words; may be empty on the first label, whose text is the finding's message.
    pub text: Untrusted<'static>,
}

/// A value in a finding's details.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datum {
    /// JSON `null`.
    Null,
    /// A string.
    Text(Untrusted<'static>),
    /// An integer, as digits.
    Int(String),
    /// An array.
    List(Vec<Datum>),
}

impl Datum {
    /// An array of strings.
    pub fn texts<'a>(texts: impl IntoIterator<Item = &'a Untrusted<'a>>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::Text(text.to_owned())).collect())
    }
}

impl Json for Datum {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Null => writer.raw("null"),
            Self::Text(text) => text.write(writer),
            Self::Int(digits) => writer.raw(digits),
            Self::List(items) => items.write(writer),
        }
    }
}

/// A finding's details, in upstream's key order.
pub(crate) type Details = Vec<(&'static str, Datum)>;

/// One thing said about a record. The first label is where it stands; there is always one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule that says it.
    pub rule: RuleId,
    /// Severity of the finding.
    pub severity: Severity,
    /// Upstream's repair hint, where upstream gives one.
    pub action: Option<Action>,
    /// Message that tells what is wrong; where upstream says it, upstream's exact words.
    pub message: Untrusted<'static>,
    /// The payload for machines.
    pub details: Details,
    /// Main place, before those that belong to it.
    first: PlaceLabel,
    more: Vec<PlaceLabel>,
    /// Number of labelled places that are not kept.
    left_out: usize,
    /// Help to fix it, in a sentence.
    pub help: Option<&'static str>,
    /// Number of further findings of its rule in the record that are not listed.
    rest: usize,
}

impl Finding {
    /// A finding at a place, as grave as its rule has it.
    pub fn new(rule: RuleId, message: impl Into<Untrusted<'static>>, place: Place) -> Self {
        let first = PlaceLabel { place, text: Untrusted::default() };
        Self {
            rule,
            severity: rule.severity(),
            action: None,
            message: message.into(),
            details: Vec::new(),
            first,
            more: Vec::new(),
            left_out: 0,
            help: None,
            rest: 0,
        }
    }

    /// As grave as that.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// With upstream's repair hint.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    /// With one more detail.
    #[must_use]
    pub fn detail(mut self, key: &'static str, datum: Datum) -> Self {
        self.details.push((key, datum));
        self
    }

    /// With one more labelled place.
    #[must_use]
    pub fn label(mut self, place: Place, text: impl Into<Untrusted<'static>>) -> Self {
        self.push_label(PlaceLabel { place, text: text.into() });
        self
    }

    /// Adds a labelled place; of very many the last are only counted.
    pub fn push_label(&mut self, label: PlaceLabel) {
        if self.more.len() + 1 < MAX_LABELS {
            self.more.push(label);
        } else {
            self.left_out += 1;
        }
    }

    /// Counts the labelled places that are not kept.
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Counts the findings that it represents: itself and those of its rule that are not listed.
    pub const fn count(&self) -> usize {
        1 + self.rest
    }

    /// With a sentence on how to mend it.
    #[must_use]
    pub fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }

    /// With other places.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(&Place) -> Place) -> Self {
        for label in std::iter::once(&mut self.first).chain(&mut self.more) {
            label.place = place(&label.place);
        }
        self
    }

    /// Returns its main place.
    pub fn place(&self) -> &Place {
        &self.first.place
    }

    /// Every labelled place, the main one first.
    pub fn labels(&self) -> impl Iterator<Item = &PlaceLabel> {
        std::iter::once(&self.first).chain(&self.more)
    }
}

/// Findings of the rules in one record, in order. Of one rule at most `MAX_FINDINGS` are kept, and the last of them
/// counts the rest, so that neither memory nor output grows with what a record repeats.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Findings {
    list: Vec<Finding>,
    /// Each rule that spoke, with how many of its findings are listed and where the last of them stands.
    spoken: Vec<(RuleId, usize, usize)>,
}

impl Findings {
    /// None.
    pub const fn new() -> Self {
        Self { list: Vec::new(), spoken: Vec::new() }
    }

    /// Adds a finding and returns it, or counts it if its rule has spoken often enough.
    pub fn push(&mut self, finding: Finding) -> Option<&mut Finding> {
        let at = self.list.len();
        match self.spoken.iter_mut().rev().find(|(rule, ..)| *rule == finding.rule) {
            None => self.spoken.push((finding.rule, 1, at)),
            Some((_, listed, last)) if *listed < MAX_FINDINGS => (*listed, *last) = (*listed + 1, at),
            Some((.., last)) => {
                if let Some(last) = self.list.get_mut(*last) {
                    last.rest += finding.count();
                }
                return None;
            }
        }
        self.list.push(finding);
        self.list.last_mut()
    }

    /// Counts findings of a rule that were not made because enough of them are listed.
    pub fn count_more(&mut self, rule: RuleId, more: usize) {
        if let Some(last) = self.list.iter_mut().rfind(|finding| finding.rule == rule) {
            last.rest += more;
        }
    }

    /// Lets the last listed finding of each rule say how many more there are. To be called once, when all rules have
    /// spoken.
    pub fn tell_rest(&mut self) {
        for finding in self.list.iter_mut().filter(|finding| finding.rest > 0) {
            let message = std::mem::take(&mut finding.message);
            finding.message = Message::default()
                .text(message.bytes())
                .text(", and ")
                .text(grouped(finding.rest))
                .text(" more")
                .into();
        }
    }

    /// Counts all findings, listed or not.
    pub fn total(&self) -> usize {
        self.list.iter().map(Finding::count).sum()
    }

    /// Makes some of them as grave as told.
    pub fn set_severity(&mut self, is_meant: impl Fn(&Finding) -> bool, severity: Severity) {
        for finding in self.list.iter_mut().filter(|finding| is_meant(finding)) {
            finding.severity = severity;
        }
    }

    /// Keeps only some.
    pub fn retain(&mut self, keeps: impl FnMut(&Finding) -> bool) {
        let mut kept = std::mem::take(self).list;
        kept.retain(keeps);
        self.extend(kept);
    }
}

/// A number of things, as people read it: `1 record`, `4,211 records`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number with commas between thousands, as people read it: `4,211`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        &self.list
    }
}

impl DerefMut for Findings {
    fn deref_mut(&mut self) -> &mut [Finding] {
        &mut self.list
    }
}

impl Extend<Finding> for Findings {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        for finding in findings {
            self.push(finding);
        }
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<T: IntoIterator<Item = Finding>>(findings: T) -> Self {
        let mut out = Self::new();
        out.extend(findings);
        out
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'f> IntoIterator for &'f Findings {
    type Item = &'f Finding;
    type IntoIter = std::slice::Iter<'f, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFTEN: RuleId = RuleId::Unused;
    const RARELY: RuleId = RuleId::Redefined;

    fn finding(rule: RuleId, n: usize) -> Finding {
        Finding::new(rule, format!("number {n}"), Place::Bytes { start: n, end: n })
    }

    #[test]
    fn many_findings_of_a_rule_are_counted() {
        let mut findings = Findings::new();
        // Rules may take turns.
        for n in 0..5_000 {
            findings.push(finding(OFTEN, n));
            if n % 1_000 == 0 {
                findings.push(finding(RARELY, n));
            }
        }
        findings.tell_rest();
        let of = |rule| findings.iter().filter(|finding| finding.rule == rule).collect::<Vec<_>>();
        assert_eq!((of(OFTEN).len(), of(RARELY).len(), findings.total()), (MAX_FINDINGS, 5, 5_005));
        let messages: Vec<_> = of(OFTEN).iter().map(|finding| finding.message.line().into_string()).collect();
        assert_eq!(messages[98], "number 98");
        assert_eq!(messages[99], "number 99, and 4,900 more");
        findings.retain(|finding| finding.rule == OFTEN);
        assert_eq!((findings.len(), findings.total()), (MAX_FINDINGS, 5_000));
    }

    #[test]
    fn many_places_of_a_finding_are_counted() {
        let mut one = finding(OFTEN, 0);
        for n in 0..1_000 {
            one.push_label(PlaceLabel { place: Place::Bytes { start: n, end: n }, text: Untrusted::default() });
        }
        assert_eq!((one.labels().count(), one.left_out()), (MAX_LABELS, 1_001 - MAX_LABELS));
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (4_211, "4,211"), (1_000_000, "1,000,000")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!((counted(1, "record"), counted(4_211, "record")), ("1 record".into(), "4,211 records".into()));
    }
}
