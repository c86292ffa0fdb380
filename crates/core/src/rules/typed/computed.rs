//! Computed answers against the parts that they cite: sums, differences, products, ratios, percentages and averages.
//!
//! A value that follows from the cited numbers is reproduced. One that misses such a result by a digit or a scale is a
//! slip; one that follows from none of them is only said to be unexplained.

use super::super::{Rule, RuleId};
use super::Report;
use crate::answer::typed::AnswerItem;
use crate::arithmetic::expression::numbers;
use crate::arithmetic::number::Written;
use crate::case::CaseView;
use crate::finding::{Findings, Place, Severity};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;

/// More cited numbers are tried in twos only.
const MAX_TRIPLES: usize = 8;
/// And up to so many in fours.
const MAX_FOURS: usize = 5;
/// More cited numbers say nothing: something would come out by chance.
const MAX_PARTS: usize = 16;
/// A longer quote or line is prose with numbers in it.
const MAX_TEXT: usize = 600;
/// So many lines around the cited ones are searched for the scale of a table.
const AROUND: usize = 12;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[Rule {
    id: RuleId::ComputedDiffers,
    summary: "computed value does not follow from the cited numbers",
    explanation: "The answer says that it is computed and cites the numbers it is computed from. stepscope calculates their \
        sum, difference, product, ratio, percentage, change and average, in the scale that the document or the unit names. \
        A value that misses one of them by a digit or a power of ten is an error; one that follows from none is a note: \
        the calculation may be another, or a number may not be cited.",
    bad: r#"{"extraction_method": "computed", "answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 36874, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3, "quote": "Current assets: $37,390"}, {"line_start": 4, "line_end": 4, "quote": "Fixed assets: $543"}]}]}"#,
    good: r#"{"extraction_method": "computed", "answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 36847, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3, "quote": "Current assets: $37,390"}, {"line_start": 4, "line_end": 4, "quote": "Fixed assets: $543"}]}]}"#,
    check,
}];

fn check(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    if !typed.base("extraction_method").is_some_and(|method| method.is_string("computed")) {
        return;
    }
    let help = "Calculate the value again from the cited numbers, and cite every number.";
    for item in &answered.items {
        let Some((value, place)) = number_of(item) else { continue };
        let parts = CitedParts::of(case, item);
        if parts.numbers.len() < 2 || parts.numbers.len() > MAX_PARTS || !parts.is_clear {
            continue;
        }
        let scales = parts.scales(item);
        let results = results(&parts.numbers);
        // A number that is only cited again, or counts the parts, was not worked out from them.
        let is_copied = parts.numbers.iter().any(|part| value.fits(*part)) || value.fits(parts.numbers.len() as f64);
        if is_copied || scales.iter().any(|scale| results.iter().any(|result| value.fits(result.value * scale))) {
            continue;
        }
        let near = results.iter().find(|result| scales.iter().any(|scale| value.is_slip_of(result.value * scale)));
        let wrong_scale = results.iter().find(|result| value.is_scaled(result.value * scales.first().unwrap_or(&1.0)));
        let written = value.shown.as_str();
        let (message, severity) = match near.or(wrong_scale) {
            Some(result) => (
                Message::new("The answer is ")
                    .text(written)
                    .text(", but ")
                    .text(result.formula(&parts.numbers))
                    .text(" is ")
                    .text(shown(result.value))
                    .text("."),
                RuleId::ComputedDiffers.severity(),
            ),
            None => (
                Message::new("The answer is ").text(written).text(", which follows from none of the cited numbers."),
                Severity::Note,
            ),
        };
        let mut report = Report::new(RuleId::ComputedDiffers, help, findings);
        if let Some(finding) = report.add(message, Place::Value(place)) {
            finding.severity = severity;
        }
    }
}

/// A number as it is written.
struct Stated {
    value: f64,
    /// Half of its last written digit.
    half: f64,
    decimals: u32,
    shown: String,
}

impl Stated {
    fn of(written: Written, shown: String) -> Self {
        // A whole number may be written with a point: 1972.0.
        let decimals = if written.value.is_whole() { 0 } else { written.decimals.min(9) };
        Self { value: written.value.float(), half: 0.5 * 10_f64.powi(-(decimals as i32)), decimals, shown }
    }

    /// Tells whether it is how people write a result: rounded, cut, with or without its sign.
    fn fits(&self, result: f64) -> bool {
        let off = (self.value.abs() - result.abs()).abs();
        let least = self.half.max(result.abs() * 1e-9);
        // What is cut and not rounded is off by a whole digit at most.
        let cut = if self.decimals > 0 { 2.0 * least } else { least };
        off <= cut * 1.000_001
    }

    /// Tells whether one digit differs, or two adjacent digits are swapped.
    fn is_slip_of(&self, result: f64) -> bool {
        let digits = |value: f64| format!("{:.1$}", value.abs(), self.decimals as usize);
        let (own, right) = (digits(self.value), digits(result));
        if own.len() != right.len() || own.len() < 2 {
            return false;
        }
        let differing: Vec<usize> =
            own.bytes().zip(right.bytes()).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
        let at = |text: &str, n: usize| text.as_bytes().get(n).copied();
        match differing.as_slice() {
            [_] => own.len() > 2,
            [a, b] => a + 1 == *b && at(&own, *a) == at(&right, *b) && at(&own, *b) == at(&right, *a),
            _ => false,
        }
    }

    /// Tells whether the two differ by a power of ten.
    fn is_scaled(&self, result: f64) -> bool {
        let factors = [10.0, 100.0, 1e3, 1e6, 1e9];
        let scaled = |factor: f64| {
            self.fits(result * factor) || (self.fits(result / factor) && self.value.abs() >= 100.0 * self.half)
        };
        result != 0.0 && factors.into_iter().any(scaled)
    }
}

/// The number of an item, and where it stands.
fn number_of(item: &AnswerItem<'_>) -> Option<(Stated, Pointer)> {
    let (key, value) = item.value.as_ref()?;
    let pointer = item.value_pointer()?;
    if let Some(number) = value.get("value").filter(|_| *key == "amount" || value.get("currency").is_some()) {
        let written = Written::of(number).or_else(|| Written::parse(number.string()?.bytes().trim_ascii()))?;
        return Some((Stated::of(written, written.value.shown()), pointer.then("value")));
    }
    if value.is_number() {
        let written = Written::of(*value)?;
        return Some((Stated::of(written, written.value.shown()), pointer));
    }
    let text = value.string()?;
    let text = text.utf8().filter(|text| text.len() <= 80)?;
    let found = numbers(text);
    let [(written, range)] = found.as_slice() else { return None };
    Some((Stated::of(*written, text.get(range.clone())?.to_owned()), pointer))
}

/// The numbers that an item cites.
struct CitedParts {
    numbers: Vec<f64>,
    /// Unit in which the document counts: thousands, millions.
    scale: Option<f64>,
    /// Every citation gave a number, so that none is left out.
    is_clear: bool,
}

impl CitedParts {
    fn of(case: &CaseView<'_>, item: &AnswerItem<'_>) -> Self {
        let mut parts = Self { numbers: Vec::new(), scale: None, is_clear: true };
        for citation in &item.citations {
            let quote = citation.quote.and_then(Value::string);
            let lines = case.document().and_then(|document| Some((document, case.meant_lines(citation)?)));
            let text = match (&quote, &lines) {
                (Some(quote), _) => quote.bytes().to_vec(),
                (None, Some((document, lines))) => document.text(lines.clone()).to_vec(),
                (None, None) => continue,
            };
            let Ok(text) = String::from_utf8(text) else { continue };
            let found = if text.len() <= MAX_TEXT { cited_numbers(&text) } else { Vec::new() };
            parts.is_clear &= !found.is_empty();
            parts.numbers.extend(found);
            parts.scale = parts.scale.or_else(|| scale_word(&text));
            if let Some((document, lines)) = lines {
                let around = lines.start.saturating_sub(AROUND)..lines.end.saturating_add(2).min(document.len());
                let around =
                    around.filter_map(|line| document.line(line)).filter_map(|line| std::str::from_utf8(line).ok());
                parts.scale = parts.scale.or_else(|| around.into_iter().find_map(scale_word));
            }
        }
        parts
    }

    /// By what a result may be multiplied before it is compared.
    fn scales(&self, item: &AnswerItem<'_>) -> Vec<f64> {
        let unit = item.value.as_ref().and_then(|(_, value)| value.get("unit")?.string());
        let unit = unit.as_ref().and_then(|unit| unit.utf8()).map(str::to_lowercase).unwrap_or_default();
        let own = SCALES.iter().find(|(word, _)| unit.starts_with(word)).map(|(_, scale)| *scale);
        let is_percent = unit.contains('%') || unit.contains("percent");
        match (own, self.scale) {
            (Some(own), Some(of_document)) => vec![of_document / own],
            (None, Some(of_document)) if !is_percent => vec![1.0, of_document],
            _ => vec![1.0],
        }
    }
}

const SCALES: [(&str, f64); 4] = [("thousand", 1e3), ("million", 1e6), ("billion", 1e9), ("trillion", 1e12)];

/// The scale that a text names for what it counts: `in thousands`, `$ millions`, `(000s)`.
fn scale_word(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    SCALES
        .iter()
        .find(|(word, _)| {
            lower.match_indices(word).any(|(at, _)| {
                let before = lower.get(..at).unwrap_or_default().trim_end();
                // "3 million" is one number's own scale.
                before.ends_with("in")
                    || before.ends_with(['$', '(', '€', '£', '¥'])
                    || before.ends_with("us$")
                    || before.ends_with("rmb")
            })
        })
        .map(|(_, scale)| *scale)
}

/// The numbers of a cited text, with the scale that stands right behind one; years are left out where others stand.
fn cited_numbers(text: &str) -> Vec<f64> {
    let found = numbers(text);
    let is_year = |value: f64, digits: usize| digits == 4 && (1900.0..2100.0).contains(&value);
    let mut all = Vec::new();
    for (written, range) in &found {
        let behind = text.get(range.end..).unwrap_or_default().trim_start().to_lowercase();
        let scale = SCALES.iter().find(|(word, _)| behind.starts_with(word)).map_or(1.0, |(_, scale)| *scale);
        let before = text.get(..range.start).unwrap_or_default().trim_end_matches(['$', '€', '£', ' ']);
        // Accounts write what is taken off in parentheses.
        let is_negative =
            before.ends_with('(') && text.get(range.end..).is_some_and(|rest| rest.trim_start().starts_with(')'));
        let value = written.value.float() * scale * if is_negative { -1.0 } else { 1.0 };
        all.push((value, is_year(value, range.len())));
    }
    let has_other = all.iter().any(|(_, year)| !year);
    all.into_iter().filter(|(_, year)| !year || !has_other).map(|(value, _)| value).collect()
}

/// Result of calculating with some of the parts.
#[derive(Clone, Copy)]
struct PartResult {
    value: f64,
    form: &'static str,
    of: [u8; 4],
}

impl PartResult {
    /// The calculation with its numbers.
    fn formula(&self, parts: &[f64]) -> String {
        let mut out = String::new();
        for c in self.form.chars() {
            match c {
                'a'..='d' => {
                    let part = self.of.get((c as usize) - ('a' as usize)).and_then(|n| parts.get(usize::from(*n)));
                    out.push_str(&part.map_or_else(String::new, |part| shown(*part)));
                }
                c => out.push(c),
            }
        }
        out
    }
}

fn shown(number: f64) -> String {
    let rounded = (number * 1e4).round() / 1e4;
    format!("{rounded}")
}

/// Everything that is worked out of cited numbers.
fn results(parts: &[f64]) -> Vec<PartResult> {
    let mut out = Vec::new();
    let absolute: Vec<f64> = parts.iter().map(|part| part.abs()).collect();
    combine(parts, &mut out);
    if absolute.as_slice() != parts {
        combine(&absolute, &mut out);
    }
    out.retain(|result| result.value.is_finite());
    out
}

fn combine(parts: &[f64], out: &mut Vec<PartResult>) {
    let n = parts.len();
    let mut put = |value: f64, form: &'static str, of: [usize; 4]| {
        out.push(PartResult { value, form, of: of.map(|n| n as u8) });
    };
    let indexed = || parts.iter().copied().enumerate();
    for (i, a) in indexed() {
        for (j, b) in indexed().filter(|(j, _)| *j != i) {
            let of = [i, j, 0, 0];
            put(a - b, "a − b", of);
            put(a / b, "a / b", of);
            put(a / b * 100.0, "a / b × 100", of);
            put((a - b) / b, "(a − b) / b", of);
            put((a - b) / b * 100.0, "(a − b) / b × 100", of);
            put(a / (a + b) * 100.0, "a / (a + b) × 100", of);
            put(a * b / 100.0, "a × b / 100", of);
            if i < j {
                put(a + b, "a + b", of);
                put(f64::midpoint(a, b), "(a + b) / 2", of);
                put(a * b, "a × b", of);
            }
            if n > MAX_TRIPLES {
                continue;
            }
            for (k, c) in indexed().filter(|(k, _)| *k != i && *k != j) {
                let of = [i, j, k, 0];
                if i < j {
                    put(a + b - c, "a + b − c", of);
                    put((a + b) / c, "(a + b) / c", of);
                    put((a + b) / c * 100.0, "(a + b) / c × 100", of);
                    put(c / (a + b) * 100.0, "c / (a + b) × 100", [i, j, k, 0]);
                    put(a * b / c, "a × b / c", of);
                    put(a * b - c, "a × b − c", of);
                    put(a * b + c, "a × b + c", of);
                    put((a + b) * c, "(a + b) × c", of);
                    if j < k {
                        put(a + b + c, "a + b + c", of);
                        put((a + b + c) / 3.0, "(a + b + c) / 3", of);
                        put(a * b * c, "a × b × c", of);
                    }
                }
                put((a - b) / c, "(a − b) / c", of);
                put((a - b) / c * 100.0, "(a − b) / c × 100", of);
                put(a - b - c, "a − b − c", of);
                if n > MAX_FOURS {
                    continue;
                }
                for (l, d) in indexed().filter(|(l, _)| *l != i && *l != j && *l != k) {
                    let of = [i, j, k, l];
                    put(a / b - c / d, "a / b − c / d", of);
                    put((a / b - c / d) * 100.0, "(a / b − c / d) × 100", of);
                    put(((a - b) / b - (c - d) / d) * 100.0, "(a − b) / b × 100 − (c − d) / d × 100", of);
                    put((a - b) / (c - d), "(a − b) / (c − d)", of);
                    put((a - b) - (c - d), "(a − b) − (c − d)", of);
                    put((a - b) / (c - d) * 100.0, "(a − b) / (c − d) × 100", of);
                    if i < j && k < l {
                        put((a + b) / (c + d), "(a + b) / (c + d)", of);
                        put((a + b) / (c + d) * 100.0, "(a + b) / (c + d) × 100", of);
                        put((a + b - c - d) / (c + d) * 100.0, "(a + b − c − d) / (c + d) × 100", of);
                        put(f64::midpoint(a, b) - f64::midpoint(c, d), "(a + b) / 2 − (c + d) / 2", of);
                        put(a + b - c - d, "a + b − c − d", of);
                        put(a * b + c * d, "a × b + c × d", of);
                    }
                    if i < j && j < k {
                        put(a + b + c - d, "a + b + c − d", of);
                        put((a + b + c) / d, "(a + b + c) / d", of);
                        put((a + b + c) / d * 100.0, "(a + b + c) / d × 100", of);
                    }
                }
            }
        }
    }
    if n > 3 {
        let sum: f64 = parts.iter().sum();
        put(sum, "the sum of all", [0; 4]);
        put(sum / n as f64, "the average of all", [0; 4]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn said(value: &str, unit: &str, quotes: &[&str]) -> Option<(Severity, String)> {
        let spans: Vec<String> =
            quotes.iter().map(|quote| format!(r#"{{"line_start": 1, "line_end": 1, "quote": "{quote}"}}"#)).collect();
        let text = format!(
            r#"{{"extraction_method": "computed", "answer_found": true, "items": [{{"amount": {{"value": {value}, "currency": "USD", "unit": {unit}}}, "spans": [{}]}}]}}"#,
            spans.join(",")
        );
        let case = Case::read(text.as_bytes());
        let mut findings = Findings::new();
        check(&case.view(), &mut findings);
        findings.first().map(|finding| (finding.severity, finding.message.line().into_string()))
    }

    #[test]
    fn what_follows_from_its_parts_is_left_alone() {
        for (value, unit, quotes) in [
            ("36847", "null", vec!["$37,390", "543"]),
            ("-416429", "null", vec!["4,314,005", "4,730,434"]),
            ("104.05", "\"percent\"", vec!["302", "148"]),
            ("-228.75", "\"percent\"", vec!["(7,125)", "5,534"]),
            ("3609.67", "\"million\"", vec!["3,696", "3,861", "3,272"]),
            ("76.09", "\"percent\"", vec!["$ 3,287.0", "2,753.0", "$ 7,938.3"]),
            ("1.2", "\"million\"", vec!["in thousands: 700", "in thousands: 500"]),
            ("1200000", "null", vec!["USD (in thousands) 700", "500"]),
            ("0.87", "null", vec!["70.07", "80.82"]),
            // Nothing is said where a part may be missing.
            ("12", "null", vec!["each month", "40"]),
            ("12", "null", vec!["40"]),
            ("543", "null", vec!["$37,390", "543"]),
        ] {
            assert_eq!(said(value, unit, &quotes), None, "{value} {quotes:?}");
        }
    }

    #[test]
    fn a_slip_and_a_wrong_scale_are_told() {
        let warning = |message: &str| Some((Severity::Warning, message.to_owned()));
        assert_eq!(
            said("36874", "null", &["$37,390", "543"]),
            warning("The answer is 36874, but 37390 − 543 is 36847.")
        );
        assert_eq!(
            said("36847000", "null", &["$37,390", "543"]),
            warning("The answer is 36847000, but 37390 − 543 is 36847.")
        );
        assert_eq!(
            said("36847", "\"million\"", &["in thousands: 37,390", "543"]).map(|(severity, _)| severity),
            Some(Severity::Warning)
        );
        assert_eq!(said("9", "null", &["40", "17"]).map(|(severity, _)| severity), Some(Severity::Note));
    }
}
