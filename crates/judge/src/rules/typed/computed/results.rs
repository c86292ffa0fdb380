//! Everything that can be worked out of a few numbers by the calculations that people ask for.

use super::parts::{CitedPart, PartKind};

/// More cited numbers are tried in twos only.
const MAX_TRIPLES: usize = 8;
/// And up to so many in fours.
const MAX_FOURS: usize = 5;

/// Result of calculating with some of the parts.
#[derive(Clone, Copy)]
pub(super) struct PartResult {
    pub value: f64,
    pub form: &'static str,
    pub of: [u8; 4],
}

impl PartResult {
    /// Tells whether a calculation takes every cited number.
    pub(super) fn uses_all(&self, parts: usize) -> bool {
        self.form.starts_with("the ")
            || ('a'..='d')
                .filter(|letter| self.form.split(' ').any(|word| word.trim_matches(['(', ')']) == letter.to_string()))
                .count()
                == parts
    }

    /// Tells whether it is one of the plain calculations with every cited number.
    pub(super) fn is_plain(&self, parts: usize) -> bool {
        const PLAIN: [&str; 9] = [
            "a + b",
            "a − b",
            "a / b × 100",
            "(a − b) / b × 100",
            "(a + b) / 2",
            "a × b",
            "a + b + c",
            "(a + b + c) / 3",
            "a × b / 100",
        ];
        self.uses_all(parts) && (PLAIN.contains(&self.form) || self.form.starts_with("the "))
    }

    /// The calculation with its numbers.
    pub(super) fn formula(&self, parts: &[CitedPart]) -> String {
        let mut out = String::new();
        // A letter alone is a number, those of words are not: "the average of all".
        for word in self.form.split_inclusive(|c: char| !c.is_ascii_alphabetic()) {
            let mut letters = word.chars();
            match (letters.next(), letters.next()) {
                (Some(c @ 'a'..='d'), behind) if behind.is_none_or(|c| !c.is_ascii_alphabetic()) => {
                    let part = self.of.get((c as usize) - ('a' as usize)).and_then(|n| parts.get(usize::from(*n)));
                    out.push_str(&part.map_or_else(String::new, |part| shown(part.value)));
                    out.extend(behind);
                }
                _ => out.push_str(word),
            }
        }
        out
    }
}

pub(super) fn shown(number: f64) -> String {
    let rounded = (number * 1e4).round() / 1e4;
    format!("{rounded}")
}

/// Everything that is worked out of cited numbers, each with its sign.
pub(super) fn signed(parts: &[CitedPart]) -> Vec<PartResult> {
    let mut out = Vec::new();
    combine(parts, &mut out);
    out.retain(|result| result.value.is_finite());
    out
}

/// Everything that is worked out of cited numbers, with and without their signs.
pub(super) fn results(parts: &[CitedPart]) -> Vec<PartResult> {
    let mut out = Vec::new();
    combine(parts, &mut out);
    if parts.iter().any(|part| part.value < 0.0) {
        let mut absolute = parts.to_vec();
        for part in &mut absolute {
            part.value = part.value.abs();
        }
        combine(&absolute, &mut out);
    }
    out.retain(|result| result.value.is_finite());
    out
}

#[expect(clippy::many_single_char_names, reason = "they are the letters of the forms")]
fn combine(parts: &[CitedPart], out: &mut Vec<PartResult>) {
    let n = parts.len();
    let mut put = |value: f64, form: &'static str, of: [usize; 4]| {
        out.push(PartResult { value, form, of: of.map(|n| n as u8) });
    };
    let indexed = || parts.iter().enumerate();
    for (i, one) in indexed() {
        for (j, other) in indexed().filter(|(j, _)| *j != i) {
            let of = [i, j, 0, 0];
            let (a, b) = (one.value, other.value);
            // Only what is of one kind is added, taken off and compared.
            let alike = one.adds_to(other);
            put(a / b, "a / b", of);
            if other.is_share() {
                put(a * b / 100.0, "a × b / 100", of);
                put(a * (1.0 + b / 100.0), "a × (1 + b / 100)", of);
                put(a * (1.0 - b / 100.0), "a × (1 − b / 100)", of);
                put(a / (1.0 + b / 100.0), "a / (1 + b / 100)", of);
            }
            put(a / b * 100.0, "a / b × 100", of);
            if alike {
                put(a - b, "a − b", of);
                put((a - b) / b, "(a − b) / b", of);
                put((a - b) / b * 100.0, "(a − b) / b × 100", of);
                put(a / (a + b) * 100.0, "a / (a + b) × 100", of);
            }
            if i < j {
                // A share of an amount is no multiple of it.
                if one.kind != PartKind::Percent && other.kind != PartKind::Percent {
                    put(a * b, "a × b", of);
                }
                if alike {
                    put(a + b, "a + b", of);
                    put(f64::midpoint(a, b), "(a + b) / 2", of);
                }
            }
            if n > MAX_TRIPLES {
                continue;
            }
            for (k, third) in indexed().filter(|(k, _)| *k != i && *k != j) {
                let of = [i, j, k, 0];
                let c = third.value;
                let all_alike = alike && third.adds_to(one) && third.adds_to(other);
                if i < j {
                    put(a * b / c, "a × b / c", of);
                    put(a * b * c / 100.0, "a × b × c / 100", of);
                    if third.is_share() && other.is_share() {
                        put(a * b / 100.0 * (1.0 + c / 100.0), "a × b / 100 × (1 + c / 100)", of);
                    }
                    put(a * b - c, "a × b − c", of);
                    put(a * b + c, "a × b + c", of);
                    if alike {
                        put((a + b) / c, "(a + b) / c", of);
                        put((a + b) / c * 100.0, "(a + b) / c × 100", of);
                        put(c / (a + b) * 100.0, "c / (a + b) × 100", of);
                        put((a + b) * c, "(a + b) × c", of);
                    }
                    if all_alike {
                        put(a + b - c, "a + b − c", of);
                    }
                    if j < k {
                        put(a * b * c, "a × b × c", of);
                        if all_alike {
                            put(a + b + c, "a + b + c", of);
                            put((a + b + c) / 3.0, "(a + b + c) / 3", of);
                        }
                    }
                }
                if alike {
                    put((a - b) / c, "(a − b) / c", of);
                    put((a - b) / c * 100.0, "(a − b) / c × 100", of);
                }
                if all_alike {
                    put(a - b - c, "a − b − c", of);
                    put(f64::midpoint(a, b) - f64::midpoint(b, c), "(a + b) / 2 − (b + c) / 2", of);
                }
                if other.kind == PartKind::Percent && one.adds_to(third) {
                    put(a * (1.0 + b / 100.0) + c, "a × (1 + b / 100) + c", of);
                }
                // The first amount, and a share of what is left of another.
                if third.kind == PartKind::Percent && alike {
                    put(a + (b - a) * c / 100.0, "a + (b − a) × c / 100", of);
                }
                if n > MAX_FOURS {
                    continue;
                }
                for (l, fourth) in indexed().filter(|(l, _)| *l != i && *l != j && *l != k) {
                    let of = [i, j, k, l];
                    let d = fourth.value;
                    let pairs_alike = alike && third.adds_to(fourth);
                    let four_alike = pairs_alike && all_alike && fourth.adds_to(one);
                    put(a / b - c / d, "a / b − c / d", of);
                    put((a / b - c / d) * 100.0, "(a / b − c / d) × 100", of);
                    if pairs_alike {
                        put(((a - b) / b - (c - d) / d) * 100.0, "(a − b) / b × 100 − (c − d) / d × 100", of);
                        put((a - b) / (c - d), "(a − b) / (c − d)", of);
                        put((a - b) / (c - d) * 100.0, "(a − b) / (c − d) × 100", of);
                    }
                    if four_alike {
                        put((a - b) - (c - d), "(a − b) − (c − d)", of);
                    }
                    if i < j && k < l {
                        put(a * b + c * d, "a × b + c × d", of);
                        if pairs_alike {
                            put((a + b) / (c + d), "(a + b) / (c + d)", of);
                            put((a + b) / (c + d) * 100.0, "(a + b) / (c + d) × 100", of);
                            put((a + b - c - d) / (c + d) * 100.0, "(a + b − c − d) / (c + d) × 100", of);
                        }
                        if four_alike {
                            put(f64::midpoint(a, b) - f64::midpoint(c, d), "(a + b) / 2 − (c + d) / 2", of);
                            put(a + b - c - d, "a + b − c − d", of);
                        }
                    }
                    if i < j && j < k && all_alike {
                        put((a + b + c) / d, "(a + b + c) / d", of);
                        put((a + b + c) / d * 100.0, "(a + b + c) / d × 100", of);
                        if four_alike {
                            put(a + b + c - d, "a + b + c − d", of);
                        }
                    }
                }
            }
        }
    }
    let first = parts.first();
    if n > 3 && parts.iter().all(|part| first.is_some_and(|first| part.adds_to(first))) {
        let sum: f64 = parts.iter().map(|part| part.value).sum();
        put(sum, "the sum of all", [0; 4]);
        put(sum / n as f64, "the average of all", [0; 4]);
    }
}
