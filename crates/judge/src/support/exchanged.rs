//! Numbers and what they are of: where a sentence gives two of one kind, each with words of its own, an answer may give one of
//! them to the words of the other.

use std::ops::Range;

use super::claim::{Claimed, Passage};
use stepscope_base::json::Pointer;
use stepscope_base::python::Message;
use stepscope_evidence::figures::{Convention, Figure, FigureRole, figures, measure, period};
use stepscope_evidence::wording::{TextWord, akin, is_empty_word, part, words};

/// Words of lists that belong together one by one.
const PAIRED: [&str; 4] = ["respectively", "beziehungsweise", "jeweils", "respectivement"];

/// A number with the words that stand at it, and at no other.
struct LabelledFigure {
    figure: Figure,
    /// `None`: nothing parts it from a number beside it.
    label: Option<Vec<TextWord>>,
}

/// Compares each number of a text.
pub(super) fn in_text(claimed: &mut Claimed<'_>, text: &str, pointer: &Pointer) {
    for one in labelled(text, claimed.evidence.convention) {
        if let Some(label) = one.label
            && compare(claimed, &one.figure, &label, text, pointer)
        {
            return;
        }
    }
}

/// Compares an amount whose unit says what it is of: "118 EUR for the stay".
pub(super) fn in_unit(claimed: &mut Claimed<'_>, figure: &Figure, unit: &str, pointer: &Pointer) -> bool {
    let says = |word: &TextWord| {
        let raw = part(unit, word.range.clone());
        is_telling(word) && (measure(raw).is_none() || period(&word.folded).is_some())
    };
    let label: Vec<TextWord> = words(unit).into_iter().filter(says).collect();
    !label.is_empty() && compare(claimed, figure, &label, unit, pointer)
}

fn is_telling(word: &TextWord) -> bool {
    !is_empty_word(&word.folded) && !word.has_digit() && word.folded.len() > 2
}

/// Says so where a sentence has the words of a number at another one of its kind.
fn compare(claimed: &mut Claimed<'_>, figure: &Figure, label: &[TextWord], text: &str, pointer: &Pointer) -> bool {
    let evidence = claimed.evidence;
    let passages = if evidence.quotes.is_empty() { &evidence.lines } else { &evidence.quotes };
    let mut found: Option<(&Passage<'_>, LabelledFigure, LabelledFigure, &TextWord)> = None;
    for passage in passages {
        let all = labelled(passage.text, evidence.convention);
        let is_same = |one: &&LabelledFigure| {
            one.figure.is_of_kind(figure) && one.figure.magnitudes().any(|a| figure.magnitudes().any(|b| a == b))
        };
        let mut same = all.iter().filter(is_same);
        let Some(own) = same.next() else { continue };
        let (Some(own_label), None) = (&own.label, same.next()) else { return false };
        let holds = |list: &[TextWord], word: &TextWord| list.iter().any(|other| akin(&other.folded, &word.folded));
        if label.iter().any(|word| holds(own_label, word)) {
            return false;
        }
        let others = all.iter().filter(|other| other.figure.range != own.figure.range);
        let mut at = others.filter(|other| other.figure.is_of_kind(figure)).filter_map(|other| {
            let word = label.iter().find(|word| other.label.as_ref().is_some_and(|label| holds(label, word)))?;
            Some((other, word))
        });
        let (Some((other, word)), None) = (at.next(), at.next()) else { return false };
        let copied = |one: &LabelledFigure| LabelledFigure { figure: one.figure.clone(), label: None };
        if found.replace((passage, copied(own), copied(other), word)).is_some() {
            return false;
        }
    }
    let Some((passage, own, other, word)) = found else { return false };
    let shown = |figure: &Figure| part(passage.text, figure.range.clone()).trim().as_bytes().to_vec();
    let message = Message::new("The answer gives ").quoted(&shown(&own.figure)).text(" to ");
    let message = message.quoted(part(text, word.range.clone()).as_bytes()).text(", the cited lines give ");
    claimed.miss(pointer.clone(), message.quoted(&shown(&other.figure)).text(" to it."));
    true
}

/// The numbers of a text, each with its words.
fn labelled(text: &str, convention: Convention) -> Vec<LabelledFigure> {
    let lower = text.to_lowercase();
    if PAIRED.iter().any(|word| lower.contains(word)) || text.contains('|') {
        return Vec::new();
    }
    let mut all: Vec<Figure> = Vec::new();
    for figure in figures(text, convention) {
        // "five (5) years" and what blanks may group stand twice.
        let is_again = all.last().is_some_and(|last| {
            figure.range.start < last.range.end
                || part(text, last.range.end..figure.range.start).trim_matches(['(', ' ']).is_empty()
        });
        if figure.role == FigureRole::Value && !is_again {
            all.push(figure);
        }
    }
    let mut found = Vec::new();
    for (n, figure) in all.iter().enumerate() {
        let alike = |other: &&Figure| other.is_of_kind(figure);
        let before = all.get(..n).and_then(|list| list.iter().rev().find(alike));
        let behind = all.get(n + 1..).and_then(|list| list.iter().find(alike));
        let start = match before {
            Some(before) => cut(text, before.range.end..figure.range.start),
            None => Some(sentence_start(text, figure.range.start)),
        };
        let end = match behind {
            Some(behind) => cut(text, figure.range.end..behind.range.start),
            None => Some(sentence_end(text, figure.range.end)),
        };
        let label = start.zip(end).map(|(start, end)| {
            let near = [start..figure.range.start, figure.range.end..end];
            near.into_iter().flat_map(|range| shifted(text, range)).filter(is_telling).collect()
        });
        found.push(LabelledFigure { figure: figure.clone(), label });
    }
    found
}

fn shifted(text: &str, range: Range<usize>) -> Vec<TextWord> {
    let mut own = words(part(text, range.clone()));
    for word in &mut own {
        word.range = word.range.start + range.start..word.range.end + range.start;
    }
    own
}

fn sentence_start(text: &str, at: usize) -> usize {
    part(text, ..at).rfind(". ").map_or(0, |at| at + 2)
}

fn sentence_end(text: &str, at: usize) -> usize {
    let rest = part(text, at..);
    rest.find(". ").or_else(|| rest.find("; ")).map_or(text.len(), |end| at + end)
}

/// The byte at which two numbers part: one sign, or else one "and"; `None` where it can be another.
fn cut(text: &str, between: Range<usize>) -> Option<usize> {
    const JOINS: &[&str] = stepscope_base::list![and or und oder et ou y plus then];
    let gap = part(text, between.clone());
    let mut signs: Vec<usize> = gap.char_indices().filter(|(_, c)| matches!(c, ',' | ';')).map(|(at, _)| at).collect();
    signs.extend(gap.match_indices(". ").map(|(at, _)| at));
    // Two labels of one line: "Night: 118   Stay: 354".
    let columns = gap.find("  ").filter(|at| gap.get(*at..).is_some_and(|rest| rest.contains(':')));
    signs.extend(columns);
    let own = words(gap);
    let joins: Vec<usize> =
        own.iter().filter(|word| JOINS.contains(&word.folded.as_str())).map(|word| word.range.start).collect();
    let has_words = |from: usize| words(part(gap, from..)).iter().filter(|word| is_telling(word)).count() > 0;
    match (signs.as_slice(), joins.as_slice()) {
        ([sign], []) => Some(between.start + sign),
        // ", and 5 for children", "bei Sturm und Hagel 1.000"
        ([sign], [join]) => {
            let is_one = part(gap, *sign..*join).trim_matches([',', ';', ' ', '\n']).is_empty();
            (is_one || (join > sign && has_words(*join + 3))).then_some(between.start + sign)
        }
        ([], [join]) => Some(between.start + join),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ValueStanding;
    use super::super::tests::standing;
    use serde_json::json;

    fn text(line: &str, text: &str) -> ValueStanding {
        standing("What applies?", &[line], json!({"text": text}))
    }

    #[test]
    fn a_number_stays_with_its_words() {
        let motor = "Warranty: five years on the motor, two years on all other parts.";
        assert_eq!(text(motor, "5 years on the motor"), ValueStanding::Stands);
        assert_eq!(text(motor, "2 years on the motor"), ValueStanding::Missing);
        let vote = "The motion passed with 31 for, 9 against and 6 abstentions.";
        assert_eq!(text(vote, "31 for, 9 against, 6 abstentions"), ValueStanding::Stands);
        assert_eq!(text(vote, "31 for, 6 against, 9 abstentions"), ValueStanding::Missing);
        let order = "He pays 6,400 GBP, being 5,900 GBP damages and 500 GBP interest.";
        assert_ne!(text(order, "5,900 GBP damages plus 500 GBP interest"), ValueStanding::Missing);
        assert_eq!(text(order, "5,900 GBP interest plus 500 GBP damages"), ValueStanding::Missing);
    }

    #[test]
    fn what_nothing_parts_is_left_alone() {
        let open = "A deposit of 200 GBP, payable on booking and 50 GBP fee.";
        assert_ne!(text(open, "200 GBP payable on booking"), ValueStanding::Missing);
        let paired = "Adults and children pay 10 GBP and 5 GBP respectively.";
        assert_ne!(text(paired, "children pay 5 GBP"), ValueStanding::Missing);
    }

    #[test]
    fn a_unit_says_what_an_amount_is_of() {
        let price = ["Price per night: EUR 118.00      Total for the stay: EUR 354.00"];
        let of = |value: f64, unit: &str| {
            let item = json!({"amount": {"value": value, "currency": "EUR", "unit": unit}});
            standing("What does it cost?", &price, item)
        };
        assert_eq!(of(354.0, "for the stay"), ValueStanding::Stands);
        assert_eq!(of(118.0, "for the stay"), ValueStanding::Missing);
    }
}
