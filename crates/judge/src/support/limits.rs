//! A quantity of the question against a limit or range that the cited lines set.

use std::ops::Range;

use super::claim::{Claimed, Passage, ValueStanding};
use stepscope_arithmetic::number::Number;
use stepscope_base::json::Pointer;
use stepscope_base::python::Message;
use stepscope_evidence::figures::{Convention, Figure, FigureRole, figures};
use stepscope_evidence::wording::{TextWord, akin, denies, is_empty_word, part, words};

/// One end of what a limit allows, and whether the end itself is in it.
type LimitEnd = Option<(Number, bool)>;

/// A limit that a text sets, with its bytes.
struct Limit<'p> {
    passage: &'p Passage<'p>,
    range: Range<usize>,
    figure: Figure,
    least: LimitEnd,
    most: LimitEnd,
}

impl Limit<'_> {
    fn holds(&self, value: Number) -> bool {
        self.least.is_none_or(|(end, own)| value > end || (own && value == end))
            && self.most.is_none_or(|(end, own)| value < end || (own && value == end))
    }

    /// Tells whether the ends themselves are out: "over 50", "less than 50".
    fn is_strict(&self) -> bool {
        [self.least, self.most].into_iter().flatten().any(|(_, own)| !own)
    }
}

/// Way in which a phrase limits: at which end, and whether the end is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// Phrases before a number; the longest decides.
const BEFORE: &[(&str, Bound)] = &[
    ("within", Bound::AtMost),
    ("up to", Bound::AtMost),
    ("not exceed", Bound::AtMost),
    ("not to exceed", Bound::AtMost),
    ("not exceeding", Bound::AtMost),
    ("no more than", Bound::AtMost),
    ("not more than", Bound::AtMost),
    ("at most", Bound::AtMost),
    ("no later than", Bound::AtMost),
    ("not later than", Bound::AtMost),
    ("maximum of", Bound::AtMost),
    ("bis zu", Bound::AtMost),
    ("höchstens", Bound::AtMost),
    ("innerhalb von", Bound::AtMost),
    ("binnen", Bound::AtMost),
    ("nicht mehr als", Bound::AtMost),
    ("au plus", Bound::AtMost),
    ("au maximum", Bound::AtMost),
    ("jusqu'à", Bound::AtMost),
    ("at least", Bound::AtLeast),
    ("not less than", Bound::AtLeast),
    ("no less than", Bound::AtLeast),
    ("no fewer than", Bound::AtLeast),
    ("minimum of", Bound::AtLeast),
    ("mindestens", Bound::AtLeast),
    ("au moins", Bound::AtLeast),
    ("more than", Bound::Above),
    ("older than", Bound::Above),
    ("longer than", Bound::Above),
    ("higher than", Bound::Above),
    ("over", Bound::Above),
    ("above", Bound::Above),
    ("exceeding", Bound::Above),
    ("mehr als", Bound::Above),
    ("über", Bound::Above),
    ("plus de", Bound::Above),
    ("less than", Bound::Below),
    ("fewer than", Bound::Below),
    ("younger than", Bound::Below),
    ("under", Bound::Below),
    ("below", Bound::Below),
    ("weniger als", Bound::Below),
    ("unter", Bound::Below),
    ("moins de", Bound::Below),
];

/// Phrases behind a number.
const BEHIND: &[(&str, Bound)] = &[
    ("or over", Bound::AtLeast),
    ("or more", Bound::AtLeast),
    ("or older", Bound::AtLeast),
    ("or above", Bound::AtLeast),
    ("or higher", Bound::AtLeast),
    ("or longer", Bound::AtLeast),
    ("and over", Bound::AtLeast),
    ("and above", Bound::AtLeast),
    ("and older", Bound::AtLeast),
    ("oder mehr", Bound::AtLeast),
    ("oder älter", Bound::AtLeast),
    ("ou plus", Bound::AtLeast),
    ("or less", Bound::AtMost),
    ("or fewer", Bound::AtMost),
    ("or under", Bound::AtMost),
    ("or younger", Bound::AtMost),
    ("or below", Bound::AtMost),
    ("and under", Bound::AtMost),
    ("oder weniger", Bound::AtMost),
    ("ou moins", Bound::AtMost),
];

/// Words by which a question asks whether a quantity lies inside, and outside, of what is set.
const INSIDE: &str = "in time|on time|allowed|permitted|permissible|acceptable|accepted|within|comply|complies|compliant|eligible|\
    fall under|falls under|qualify|qualifies|sufficient|exactly|rechtzeitig|erlaubt|zulässig|gestattet|genau|à temps|permis|autorisé";
const OUTSIDE: &str = "outside|too late|too long|too high|too low|too much|too little|too old|too young|too cold|too warm|too hot|\
    out of range|violate|breach|zu spät|zu lang|zu hoch|zu niedrig|außerhalb|trop tard|hors";
/// Words of a line that turn round what its limit means.
const TURNS: &str = "exclu|prohib|forbid|refus|void|lapse|except|unless|other than|ausgeschl|verbot|außer|sauf|interdi";
const MODALS: &str = "may can darf kann peut";

/// Compares a quantity of the question with the limit that the cited lines set; `true`: that decides.
pub(super) fn compare(claimed: &mut Claimed<'_>, question: &str, answer: bool, pointer: &Pointer) -> bool {
    let lower = question.to_lowercase();
    let holds = |list: &str| list.split('|').any(|phrase| has_phrase(&lower, phrase));
    let own = words(question);
    let is_modal = own.first().is_some_and(|word| MODALS.split(' ').any(|modal| modal == word.folded));
    let is_outside = holds(OUTSIDE);
    if !(is_outside || is_modal || holds(INSIDE)) || (0..own.len()).any(|at| denies(&own, at)) {
        return false;
    }
    let evidence = claimed.evidence;
    let passages = if evidence.quotes.is_empty() { &evidence.lines } else { &evidence.quotes };
    let limits: Vec<Limit<'_>> = passages.iter().flat_map(|passage| limits(passage, evidence.convention)).collect();
    let convention = Convention::of([question]);
    let convention = if convention == Convention::Unknown { evidence.convention } else { convention };
    let asked = figures(question, convention);
    let mut pairs = asked.iter().filter(|figure| figure.role == FigureRole::Value).flat_map(|figure| {
        limits
            .iter()
            .filter(|limit| figure.is_of_kind(&limit.figure) && figure.shares_currency(&limit.figure))
            .map(move |limit| (figure, limit))
    });
    let (Some((figure, limit)), None) = (pairs.next(), pairs.next()) else { return false };
    let text = limit.passage.text.to_lowercase();
    let all = words(limit.passage.text);
    let mut denials = all.iter().enumerate().filter(|(at, _)| denies(&all, *at)).map(|(_, word)| word);
    let denial = (denials.next(), denials.next());
    let is_forbidden = match denial {
        // "Must not be stored above 25" allows 25, and what is below.
        (Some(word), None) => {
            let is_before = word.range.end <= limit.range.start
                && !part(limit.passage.text, word.range.end..limit.range.start).contains(['.', ';', ',', '\n']);
            let is_shared = |one: &TextWord| {
                own.iter().any(|other| !is_empty_word(&one.folded) && akin(&one.folded, &other.folded))
            };
            let verbs =
                all.iter().filter(|one| word.range.end <= one.range.start && one.range.end <= limit.range.start);
            if !(is_before && limit.is_strict() && verbs.clone().any(is_shared)) {
                return false;
            }
            true
        }
        (Some(_), Some(_)) => return false,
        (None, _) => false,
    };
    // A limit at which something begins says nothing of what may be.
    let begins = limit.is_strict() && !is_forbidden && !holds("fall under|falls under|qualify|qualifies|eligible");
    if TURNS.split('|').any(|word| text.contains(word)) || begins {
        return false;
    }
    let Some(value) = base(figure).filter(|_| figure.readings.len() == 1) else { return false };
    let is_inside = limit.holds(value) != is_forbidden;
    let expected = is_inside != is_outside;
    if expected == answer {
        claimed.stands(limit.passage, limit.range.clone());
        claimed.found.standing = ValueStanding::Stands;
        return true;
    }
    let said = part(question, figure.range.clone()).trim();
    let there = part(limit.passage.text, limit.range.clone()).trim();
    let message = Message::new(if answer { "The answer is yes, but " } else { "The answer is no, but " });
    let message = message.quoted(said.as_bytes()).text(match (is_inside, is_forbidden) {
        (true, false) => " is in ",
        (false, false) => " is not in ",
        (true, true) => " is not ",
        (false, true) => " is ",
    });
    claimed.miss(pointer.clone(), message.quoted(there.as_bytes()).text("."));
    true
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(phrase).any(|(at, _)| {
        is_free(text.get(..at).and_then(|before| before.chars().next_back()))
            && is_free(text.get(at + phrase.len()..).and_then(|behind| behind.chars().next()))
    })
}

/// The value of a figure, in the smallest unit of its dimension.
fn base(figure: &Figure) -> Option<Number> {
    let value = *figure.values().first()?;
    match figure.measure {
        Some(unit) => unit.base(value),
        None => Some(value),
    }
}

/// The limits of a text: numbers with a word before or behind them, and ranges.
fn limits<'p>(passage: &'p Passage<'p>, convention: Convention) -> Vec<Limit<'p>> {
    let text = passage.text;
    let lower = text.to_lowercase();
    let all = figures(text, convention);
    let mut found = Vec::new();
    if lower.len() != text.len() {
        return found;
    }
    let mut at = 0;
    while let Some(figure) = all.get(at) {
        at += 1;
        if figure.role != FigureRole::Value || figure.readings.len() != 1 {
            continue;
        }
        let before = part(&lower, ..figure.range.start).trim_end();
        if let Some(second) = all.get(at).filter(|second| is_range(before, &lower, figure, second)) {
            at += 1;
            let mut first = figure.clone();
            // "2 to 8 °C": the unit stands once.
            (first.measure, first.percent) = (first.measure.or(second.measure), first.percent || second.percent);
            if let Some((least, most)) = base(&first).zip(base(second))
                && first.is_of_kind(second)
                && first.shares_currency(second)
            {
                let range = figure.range.start..second.range.end;
                found.push(Limit {
                    passage,
                    range,
                    figure: first,
                    least: Some((least, true)),
                    most: Some((most, true)),
                });
            }
            continue;
        }
        let behind = part(&lower, figure.range.end..).trim_start();
        let leads = BEFORE.iter().filter(|(phrase, _)| ends_with_word(before, phrase)).chain(extremes(before));
        let lead = leads.max_by_key(|(phrase, _)| phrase.len());
        let tail = BEHIND.iter().find(|(phrase, _)| behind.starts_with(phrase));
        let Some((phrase, bound)) = lead.or(tail) else { continue };
        let Some(end) = base(figure) else { continue };
        let (least, most) = match bound {
            Bound::AtLeast => (Some((end, true)), None),
            Bound::Above => (Some((end, false)), None),
            Bound::AtMost => (None, Some((end, true))),
            Bound::Below => (None, Some((end, false))),
        };
        let range = if lead.is_some() {
            before.len() - phrase.len()..figure.range.end
        } else {
            let gap = lower.get(figure.range.end..).map_or(0, |rest| rest.len() - rest.trim_start().len());
            figure.range.start..figure.range.end + gap + phrase.len()
        };
        found.push(Limit { passage, range, figure: figure.clone(), least, most });
    }
    found
}

/// "Maximum load: 500 kg": the words between a limit and its number say of what it is.
fn extremes(before: &str) -> impl Iterator<Item = &'static (&'static str, Bound)> {
    const WORDS: usize = 3;
    const EXTREMES: &[(&str, Bound)] = &[("", Bound::AtMost), ("", Bound::AtLeast)];
    const MOST: &str = "maximum max maximal maximale höchstens maximalgewicht";
    const LEAST: &str = "minimum min minimal minimale";
    let clause = before.rsplit(['.', ';', ',', '\n']).next().expect("a split has a first part");
    let own: Vec<&str> = clause.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_plain = !own.iter().any(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    let has = move |list: &str| {
        let near = own.iter().rev().take(WORDS);
        is_plain && near.into_iter().any(|word| list.split(' ').any(|known| known == *word))
    };
    let (most, least) = (has(MOST), has(LEAST));
    EXTREMES.iter().filter(move |(_, bound)| if *bound == Bound::AtMost { most && !least } else { least && !most })
}

fn ends_with_word(text: &str, phrase: &str) -> bool {
    text.strip_suffix(phrase).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
}

/// Tells whether two figures are the ends of a range: "between 45 and 55", "2 to 8", "10–12".
fn is_range(before: &str, lower: &str, first: &Figure, second: &Figure) -> bool {
    // The readings of a number that blanks may group overlap: nothing is between them.
    let between = lower.get(first.range.end..second.range.start).unwrap_or("").trim_end_matches('+').trim();
    let is_between = ["between", "zwischen", "entre"].iter().any(|word| ends_with_word(before, word));
    second.readings.len() == 1
        && match between {
            "and" | "und" | "et" | "y" => is_between,
            "to" | "bis" | "à" | "–" | "-" => {
                !ends_with_word(before, "rise from") && !ends_with_word(before, "fall from")
            }
            _ => false,
        }
}
