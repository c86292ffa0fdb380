//! The glyphs of the program: one meaning each, and one place to look them up. Severities have theirs in
//! `stepscope_record::finding`, badges of values in `stepscope_record::state`; the legend of the help lists them all.

use stepscope_record::finding::Severity;

/// The answer is correct; a value of a step was recomputed, and agrees.
pub(crate) const CORRECT: &str = "✓";
/// A right answer that its own run does not give.
pub(crate) const LUCKY: &str = "≅";
/// The answer is wrong; a step is the one to fix or failed.
pub(crate) const WRONG: &str = "✗";
/// The run ended with an error.
pub(crate) const FAILED: &str = "⊘";
/// A step ran, and none of its values was recomputed.
pub(crate) const RAN: &str = "∘";
/// Not run.
pub(crate) const NOT_RUN: &str = "–";

/// A reply matches the schema.
pub(crate) const VALID: &str = "☑";
/// A reply breaks the schema.
pub(crate) const INVALID: &str = "☒";

/// The quote is where it was cited.
pub(crate) const CITED: &str = "◉";
/// The quote is in the document, in another place.
pub(crate) const MISPLACED: &str = "◑";
/// The quote is not in the document.
pub(crate) const NOT_FOUND: &str = "◌";
/// There is no quote or no document.
pub(crate) const UNPROVEN: &str = "◍";

/// A page of the document that the model saw.
pub(crate) const RETRIEVED: &str = "▄";
/// A page of the document that the model did not see.
pub(crate) const NOT_RETRIEVED: &str = "▁";

/// A reviewer passed it.
pub(crate) const PASSED: &str = "⊕";
/// A reviewer failed it.
pub(crate) const REJECTED: &str = "⊖";
/// A reviewer deferred it.
pub(crate) const DEFERRED: &str = "◷";
/// A reviewer skipped it.
pub(crate) const SKIPPED: &str = "↷";
/// It changed since its review.
pub(crate) const CHANGED: &str = "↻";

/// Other reviewers judged it, you did not.
pub(crate) const BY_OTHERS: &str = "⊙";
/// Hidden until the verdict; the same sign is the key that reveals it.
pub(crate) const HIDDEN: &str = "*";

/// The selected row.
pub(crate) const POINTER: &str = "❯";
/// The part of a list that is on screen.
pub(crate) const SCROLL: &str = "┃";
/// An answer takes another route than to be shipped or rejected.
pub(crate) const ROUTED: &str = "↗";
/// Recomputed, or with a mistake corrected, it gives the expected answer.
pub(crate) const RECOVERS: &str = "↺";
/// A reason of the place to fix.
pub(crate) const REASON: &str = "⇒";

/// A glyph and its meaning.
pub(crate) type Meaning = (&'static str, &'static str);

/// Severities of findings.
pub(crate) const SEVERITIES: [Meaning; 4] = [
    (Severity::Fatal.glyph(), "fatal: not usable without rewriting"),
    (Severity::Repairable.glyph(), "error: a small edit fixes it"),
    (Severity::Warning.glyph(), "warning: probably wrong"),
    (Severity::Note.glyph(), "note: worth knowing"),
];

/// Outcomes of runs and steps.
pub(crate) const OUTCOMES: [Meaning; 5] = [
    (CORRECT, "correct; answer accepted (route ship); step whose value was recomputed and agrees"),
    (RAN, "step that ran, and of which nothing was recomputed"),
    (WRONG, "wrong; answer rejected; step to fix"),
    (FAILED, "run ended with an error"),
    (NOT_RUN, "not run: the run ended before, or it was not run again"),
];

/// Validity of replies.
pub(crate) const VALIDITY: [Meaning; 2] = [(VALID, "reply matches the schema"), (INVALID, "reply breaks the schema")];

/// Citations.
pub(crate) const CITATIONS: [Meaning; 4] = [
    (CITED, "quote found where it was cited"),
    (MISPLACED, "quote found in another place"),
    (NOT_FOUND, "quote not found in document"),
    (UNPROVEN, "no quote, or no document"),
];

/// Verdicts of reviewers.
pub(crate) const VERDICTS: [Meaning; 7] = [
    (PASSED, "reviewed: pass"),
    (REJECTED, "reviewed: fail"),
    (DEFERRED, "deferred"),
    (SKIPPED, "skipped"),
    (CHANGED, "changed since its review"),
    (BY_OTHERS, "reviewed by others"),
    (HIDDEN, "hidden until your verdict"),
];

/// Other marks of the table of records.
pub(crate) const TABLE: [Meaning; 3] = [
    (LUCKY, "correct by luck: a step on the way is wrong"),
    (ROUTED, "answer that is not shipped: its route is in the column route"),
    (RECOVERS, "recomputing gives the expected answer"),
];

/// Shades of a chart.
pub(crate) const SHADES: Meaning = ("░▒▓", "shades: heat map from few to many, or an area as large as its count");

/// Measure of agreement.
pub(crate) const AGREEMENT: Meaning = ("kappa", "agreement beyond what chance gives: 1 is full, 0 is chance");

/// Differences of two records, or of two moments of a run.
pub(crate) const DIFFERENCES: [Meaning; 5] = [
    ("=", "same in both"),
    ("≡", "written again with the same value"),
    ("≠", "differs"),
    ("+", "only in the new one"),
    ("−", "only in the old one"),
];

/// Marks of panes, on every screen.
pub(crate) const PANES: [Meaning; 2] =
    [(POINTER, "selected row"), (SCROLL, "scroll bar; signs on it mark rows out of view too")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_has_one_meaning_and_one_column() {
        let sets: [&[Meaning]; 7] = [&SEVERITIES, &OUTCOMES, &VALIDITY, &CITATIONS, &VERDICTS, &TABLE, &PANES];
        let all: Vec<&str> = sets.into_iter().flatten().map(|(glyph, _)| *glyph).collect();
        for (n, glyph) in all.iter().enumerate() {
            assert!(!all.iter().skip(n + 1).any(|other| other == glyph), "{glyph} has two meanings");
            assert_eq!(unicode_width::UnicodeWidthStr::width(*glyph), 1, "{glyph}");
        }
    }
}
