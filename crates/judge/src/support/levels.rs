//! A yes or no at the very limit that the cited lines set, and one about two cells of a row that the question names.

use std::cmp::Ordering;
use std::ops::Range;

use super::asked;
use super::claim::{Claimed, Passage, ValueStanding};
use super::truth::{Comparison, comparisons};
use stepscope_base::json::Pointer;
use stepscope_base::python::Message;
use stepscope_evidence::date;
use stepscope_evidence::date::WrittenDate;
use stepscope_evidence::figures::{Convention, Figure, FigureRole, figures};
use stepscope_evidence::wording::{TextWord, akin, denies, is_empty_word, part, words};

/// Words that turn round what a sentence says.
const TURNS: &str = "exclu|prohib|forbid|refus|void|lapse|except|unless|other than|without|only|free|exempt|ausgeschl|verbot|außer|nur|\
    ohne|frei|sauf|interdi|sans|seul";

/// Words that say that a number is meant exactly.
const EXACTLY: [&str; 7] = ["exactly", "exactement", "genau", "exactamente", "esattamente", "precisely", "precies"];

/// Compares by one of the two ways; `true`: that decides.
pub(super) fn compare(claimed: &mut Claimed<'_>, question: &str, answer: bool, pointer: &Pointer) -> bool {
    let own = words(question);
    if (0..own.len()).any(|at| denies(&own, at)) {
        return false;
    }
    at_the_limit(claimed, question, &own, answer, pointer) || two_cells(claimed, question, answer, pointer)
}

/// "An order of exactly 500" against "orders above 500": what stands at a limit that is not in it.
fn at_the_limit(claimed: &mut Claimed<'_>, question: &str, own: &[TextWord], answer: bool, pointer: &Pointer) -> bool {
    let lower = question.to_lowercase();
    if lower.len() != question.len() || turns(&lower) || !comparisons(&lower).is_empty() {
        return false;
    }
    let Some((asked, place)) = Level::of(question, &lower, claimed.evidence.convention) else { return false };
    let evidence = claimed.evidence;
    let passages = if evidence.quotes.is_empty() { &evidence.lines } else { &evidence.quotes };
    let mut found: Vec<(&Passage<'_>, Range<usize>)> = Vec::new();
    for passage in passages {
        found.extend(asked.strict_in(passage, evidence.convention).map(|range| (passage, range)));
    }
    let [(passage, range)] = found.as_slice() else { return false };
    let sentence = words(sentence_around(passage.text, range));
    let telling = own.iter().filter(|word| {
        let is_of_level = word.range.start < place.end && place.start < word.range.end;
        !is_empty_word(&word.folded) && !word.has_digit() && !is_of_level && !EXACTLY.contains(&word.folded.as_str())
    });
    let is_shared =
        |word: &&TextWord| sentence.iter().any(|other| !other.has_digit() && akin(&word.folded, &other.folded));
    let (shared, missing): (Vec<&TextWord>, Vec<&TextWord>) = telling.partition(is_shared);
    // The sentence is about what is asked: an order may be placed that gets no discount.
    if shared.len() < 2 || missing.len() > shared.len() + 1 {
        return false;
    }
    if answer {
        let said = part(passage.text, range.clone()).trim().as_bytes();
        let message = Message::new("The answer is yes, but the limit itself is not in ").quoted(said).text(".");
        claimed.miss(pointer.clone(), message);
    } else {
        claimed.stands(passage, range.clone());
        claimed.found.standing = ValueStanding::Stands;
    }
    true
}

fn turns(lower: &str) -> bool {
    TURNS.split('|').any(|word| lower.contains(word.trim()))
}

/// The sentence of a text around some of its bytes.
fn sentence_around<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let start = part(text, ..range.start).rfind([';', '\n']).map_or(0, |at| at + 1);
    let start = part(text, ..range.start).rfind(". ").map_or(start, |at| start.max(at + 2));
    let rest = part(text, range.end..);
    let end = [". ", ";", "\n"].iter().filter_map(|end| rest.find(end)).min().map_or(text.len(), |at| range.end + at);
    part(text, start..end)
}

/// The one quantity or day of a question.
enum Level {
    Figure(Box<Figure>),
    Day(WrittenDate),
}

impl Level {
    /// A number counts only where the question says that it is meant exactly.
    fn of(question: &str, lower: &str, convention: Convention) -> Option<(Self, Range<usize>)> {
        let days = date::found(question);
        if let [day] = days.as_slice() {
            let before = words(part(question, ..day.range.start)).pop()?;
            let is_on = matches!(before.folded.as_str(), "on" | "le" | "am" | "el");
            return match day.meanings.as_slice() {
                [meaning] if is_on && meaning.whole().is_some() => Some((Self::Day(*meaning), day.range.clone())),
                _ => None,
            };
        }
        let own = Convention::of([question]);
        let found = figures(question, if own == Convention::Unknown { convention } else { own });
        let mut values = found.into_iter().filter(|figure| figure.role == FigureRole::Value);
        let figure = values.next().filter(|figure| figure.readings.len() == 1)?;
        let is_exact = EXACTLY.iter().any(|word| lower.contains(word));
        (is_exact && days.is_empty() && values.next().is_none()).then(|| {
            let range = figure.range.clone();
            (Self::Figure(Box::new(figure)), range)
        })
    }

    /// The bytes of a limit in a text that is this level and not in it: "above 500", "before 1 May".
    fn strict_in(&self, passage: &Passage<'_>, convention: Convention) -> Option<Range<usize>> {
        let text = passage.text;
        let lower = text.to_lowercase();
        let all = words(text);
        if lower.len() != text.len() || turns(&lower) || (0..all.len()).any(|at| denies(&all, at)) {
            return None;
        }
        let places: Vec<Range<usize>> = match self {
            Self::Day(day) => {
                let same = |one: &date::FoundDate| one.meanings.iter().any(|other| other.whole() == day.whole());
                date::found(text).into_iter().filter(same).map(|one| one.range).collect()
            }
            Self::Figure(own) => {
                let is_same = |other: &Figure| {
                    own.is_of_kind(other) && own.shares_currency(other) && own.values() == other.values()
                };
                figures(text, convention).into_iter().filter(is_same).map(|figure| figure.range).collect()
            }
        };
        let [place] = places.as_slice() else { return None };
        let is_strict = |one: Comparison| matches!(one, Comparison::Above | Comparison::Below);
        let phrases = comparisons(&lower);
        // "On or before" holds "before".
        let (comparison, phrase) = phrases
            .iter()
            .filter(|(_, phrase)| phrase.end <= place.start)
            .filter(|(_, phrase)| matches!(part(&lower, phrase.end..place.start).trim(), "" | "the" | "le" | "dem"))
            .max_by_key(|(_, phrase)| phrase.len())?;
        is_strict(*comparison).then_some(phrase.start..place.end)
    }
}

/// "Is the reading above the limit?" against the cells of a row under "Reading" and "Limit".
fn two_cells(claimed: &mut Claimed<'_>, question: &str, answer: bool, pointer: &Pointer) -> bool {
    let lower = question.to_lowercase();
    let phrases = comparisons(&lower);
    let Some((comparison, phrase)) = phrases.iter().max_by_key(|(_, phrase)| phrase.len()) else { return false };
    if lower.len() != question.len() || !figures(question, Convention::Unknown).is_empty() {
        return false;
    }
    let evidence = claimed.evidence;
    let sides = [part(question, ..phrase.start), part(question, phrase.end..)].map(asked::Asked::of);
    let Some(document) = evidence.document else { return false };
    let mut found: Vec<[(&Passage<'_>, Figure); 2]> = Vec::new();
    for passage in &evidence.lines {
        let Some(base) = passage.base else { continue };
        let cells: Vec<(Figure, &str)> = evidence
            .figures(passage)
            .into_iter()
            .filter(|figure| figure.role == FigureRole::Value && figure.readings.len() == 1)
            .filter_map(|figure| {
                let place = base + figure.range.start..base + figure.range.end;
                let row = document.line_at(place.start);
                let label = std::str::from_utf8(document.line(row)?).ok()?;
                let is_asked = words(label)
                    .first()
                    .is_some_and(|first| words(question).iter().any(|word| akin(&word.folded, &first.folded)));
                let heading = asked::heading(document, evidence.convention, &place).filter(|_| is_asked)?;
                Some((figure, heading))
            })
            .collect();
        let of = |side: &asked::Asked<'_>| {
            let mut own = cells.iter().filter(|(_, heading)| side.names(heading));
            own.next().filter(|_| own.next().is_none()).map(|(figure, _)| (passage, figure.clone()))
        };
        if let (Some(first), Some(second)) = (of(&sides[0]), of(&sides[1])) {
            found.push([first, second]);
        }
    }
    let [[(passage, first), (_, second)]] = found.as_slice() else { return false };
    let order = match (first.values().as_slice(), second.values().as_slice()) {
        ([a], [b]) if first.is_of_kind(second) => a.cmp(b),
        _ => return false,
    };
    if order == Ordering::Equal {
        return false;
    }
    let holds = comparison.holds(order);
    if holds == answer {
        claimed.stands(passage, first.range.clone());
        claimed.found.standing = ValueStanding::Stands;
        return true;
    }
    let shown = |figure: &Figure| part(passage.text, figure.range.clone()).trim().as_bytes().to_vec();
    let message = Message::new(if answer { "The answer is yes, but " } else { "The answer is no, but " });
    let message = message.quoted(&shown(first)).text(if holds { " is " } else { " is not " }).text(comparison.words());
    claimed.miss(pointer.clone(), message.text(" ").quoted(&shown(second)).text("."));
    true
}

#[cfg(test)]
mod tests {
    use super::super::ValueStanding;
    use super::super::tests::standing;
    use serde_json::json;

    fn wrong_and_right(question: &str, lines: &[&str], right: bool) {
        assert_eq!(standing(question, lines, json!({"boolean": right})), ValueStanding::Stands, "{question}");
        assert_eq!(standing(question, lines, json!({"boolean": !right})), ValueStanding::Missing, "{question}");
    }

    #[test]
    fn a_limit_that_is_not_in_it_does_not_hold() {
        wrong_and_right(
            "Does an order of exactly USD 500 get a discount?",
            &["Orders above USD 500 get a discount."],
            false,
        );
        wrong_and_right(
            "Fährt ein Kind, das genau 6 Jahre alt ist, gratis?",
            &["Kinder unter 6 Jahren fahren gratis."],
            false,
        );
        wrong_and_right(
            "Does an order on 3 May 2024 get a discount?",
            &["An order before 3 May 2024 gets a discount."],
            false,
        );
        for line in ["An order on or before 3 May 2024 gets a discount.", "No order before 3 May 2024 gets a discount."]
        {
            let said = standing("Does an order on 3 May 2024 get a discount?", &[line], json!({"boolean": true}));
            assert_ne!(said, ValueStanding::Missing, "{line}");
        }
    }

    #[test]
    fn two_cells_of_a_row_are_compared() {
        let table = ["Metal   Reading   Limit", "Lead    0.0112    0.010", "Nickel  0.002     0.020"];
        wrong_and_right("Is the reading of lead above the limit?", &table, true);
        wrong_and_right("Is the reading of nickel above the limit?", &table, false);
    }
}
