//! Parts of a step's text that are no calculation: its own number in front, the numbers of its parts, and how the answer is to be
//! written.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Signs behind the number of a step: "2. …", "Step 2 – …".
const BEHIND_NUMBER: [char; 7] = ['.', ':', ')', ']', '-', '–', '—'];
/// Maximum number of words that may stand between the two ends of a phrase.
const MAX_BETWEEN: usize = 4;
/// Phrases on the form of an answer, by how they begin and what they end with.
const FORM: [(&str, &[&str]); 9] = [
    ("do not include", FORM_OF_ANSWER),
    ("don't include", FORM_OF_ANSWER),
    ("do not add", FORM_OF_ANSWER),
    ("do not write", FORM_OF_ANSWER),
    ("without", FORM_OF_ANSWER),
    ("no", FORM_OF_ANSWER),
    ("double-check", CHECKED),
    ("double check", CHECKED),
    ("use exact", &["arithmetic", "values", "numbers"]),
];
const FORM_OF_ANSWER: &[&str] = &["unit", "units", "text", "words", "explanation", "symbol", "symbols", "currency"];
const CHECKED: &[&str] = &["result", "it", "work", "arithmetic", "answer", "calculation", "calculations"];

/// First and second sign of the parts of a text.
const PARTS: [[&str; 2]; 8] = [
    ["(a)", "(b)"],
    ["a)", "b)"],
    ["(1)", "(2)"],
    ["1)", "2)"],
    ["1.", "2."],
    ["(i)", "(ii)"],
    ["First:", "After that:"],
    ["First:", "Then:"],
];

/// Tells whether a text has numbered parts: "(a) Find the dozens. (b) Multiply them by the price."
pub(super) fn is_in_parts(text: &str) -> bool {
    let starts = |at: usize| {
        let before = &text[..at];
        let sentence = before.trim_end();
        // "Divide by 2. Round up." numbers nothing.
        sentence.is_empty()
            || before.len() > sentence.len()
                && (sentence.ends_with(['.', ':', ';', ')', '-', '*', '#']) || before.ends_with('\n'))
    };
    // One of these signs is in each of them, and in few texts.
    if memchr::memchr2(b')', b':', text.as_bytes()).is_none() && !text.contains("1.") {
        return false;
    }
    PARTS.iter().any(|[first, second]| {
        let behind = |sign: &str, at: usize| text.get(at + sign.len()..).is_some_and(|rest| rest.starts_with(' '));
        let first_at = text.match_indices(first).map(|(at, _)| at).find(|at| starts(*at) && behind(first, *at));
        let is_marked = first.starts_with('(') || first.starts_with('F');
        let mut seconds =
            first_at.into_iter().flat_map(|from| text.match_indices(second).filter(move |(at, _)| *at > from));
        seconds.any(|(at, _)| behind(second, at) && (starts(at) || is_marked))
    })
}

/// Blanks out what is beside the calculation, so that every other byte stays where it is.
pub(super) fn without_asides(text: &str, number: usize) -> Cow<'_, str> {
    let mut spans: Vec<Range<usize>> = own_number(text, number).into_iter().collect();
    spans.extend(on_form(text));
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = text.to_owned();
    for span in spans {
        blanked.replace_range(span.clone(), &" ".repeat(span.len()));
    }
    Cow::Owned(blanked)
}

/// Finds the number of the step in front of its text: "Step 2:", "**Step 2** –", "### Step 2", "2)", "[2]".
fn own_number(text: &str, number: usize) -> Option<Range<usize>> {
    let begin = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '(' | '['));
    let (is_called, rest) = match begin.get(..4) {
        Some(head) if head.eq_ignore_ascii_case("step") => (true, begin.get(4..)?.trim_start()),
        _ => (false, begin),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at_checked(end)?;
    let is_own = digits.parse() == Ok(number);
    let behind = rest.trim_start_matches(['*', ' ']);
    let is_marked = behind.starts_with(BEHIND_NUMBER) || is_called && rest.starts_with(['*', '\n']);
    // "2.5 * a", "2-a" are no numbers of steps.
    let last = behind.trim_start_matches(|c: char| c == '*' || BEHIND_NUMBER.contains(&c));
    let is_apart = last.len() < behind.len() && last.starts_with(char::is_whitespace) || is_called;
    (is_own && is_marked && is_apart && !last.trim().is_empty()).then(|| 0..text.len() - last.len())
}

/// Finds the phrases that say how the answer is to be written: "do not include units", "and double-check the result".
fn on_form(text: &str) -> Vec<Range<usize>> {
    let found = BEGINNINGS.iter().flat_map(|beginnings| beginnings.find_iter(text));
    found
        .filter_map(|found| phrase(text, found.start(), found.end(), FORM.get(found.pattern().as_usize())?.1))
        .collect()
}

static BEGINNINGS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostFirst);
    builder.build(FORM.map(|(begin, _)| begin)).ok()
});

/// Measures a phrase whose beginning is found, if it ends as such phrases do; with the "and" before it.
fn phrase(text: &str, start: usize, behind: usize, ends: &[&str]) -> Option<Range<usize>> {
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if joins(start.checked_sub(1).and_then(|at| text.as_bytes().get(at))) || joins(text.as_bytes().get(behind)) {
        return None;
    }
    let sentence = text.get(behind..)?.split(['.', ';', '\n']).next()?;
    let mut words = sentence.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let last = words.by_ref().take(MAX_BETWEEN).find(|word| ends.iter().any(|end| word.eq_ignore_ascii_case(end)))?;
    let end = behind + sentence.find(last)? + last.len();
    let joint = text.get(..start).and_then(|before| before.strip_suffix(" and ")).map_or(start, str::len);
    Some(joint..end)
}

#[cfg(test)]
mod tests {
    use super::{is_in_parts, without_asides};

    #[test]
    fn parts_are_told_by_the_signs_before_them() {
        for text in [
            "(a) green = blue - fewer (b) Add up red, blue and green.",
            "- (a) Hours back: one_way ÷ speed (b) Hours in all: there + back",
            "1. Find k!.\n2. Divide ordered by it.",
            "1. Further prints = prints - limit. 2. Cents = limit * price.",
            "4) 1) Take the half. 2) Add both.",
            "First: gaps = road / spacing After that: there is one more tree than gaps.",
        ] {
            assert!(is_in_parts(text), "{text}");
        }
        for text in [
            "1. Divide the total by 2. Round up.",
            "Take 1. Then divide by 2. Round up.",
            "Multiply f(a) by f(b) here.",
            "Add (a) and nothing else.",
            "First: add a and b.",
            "",
        ] {
            assert!(!is_in_parts(text), "{text}");
        }
    }

    #[test]
    fn a_steps_number_and_the_form_of_its_answer_are_left_out() {
        for (text, rest) in [
            ("Step 2: State it.", "State it."),
            ("**Step 2** – n*p", "n*p"),
            ("**Step 2:** n*p", "n*p"),
            ("### Step 2\nn*p", "n*p"),
            ("2) Add a to b.", "Add a to b."),
            ("2. Add a to b.", "Add a to b."),
            ("[2] c² = a² + b²", "c² = a² + b²"),
            ("2 - cartons*12 - broken", "cartons*12 - broken"),
            ("State x. Do not include units.", "State x.                      ."),
            ("full-off Use exact arithmetic and double-check the result.", "full-off"),
            ("Return x as a number (no units, no text).", "Return x as a number (        ,        )."),
            ("2.5 * a", "2.5 * a"),
            ("2-a", "2-a"),
            ("2 * a", "2 * a"),
            ("3. Add a to b.", "3. Add a to b."),
            ("2:30 pm is the start", "2:30 pm is the start"),
            ("Step 2 gives the total.", "Step 2 gives the total."),
            ("Count the days without rain.", "Count the days without rain."),
            ("Double it.", "Double it."),
        ] {
            let blanked = without_asides(text, 2);
            assert_eq!(
                (blanked.trim().trim_end_matches('.').trim(), blanked.len()),
                (rest.trim_end_matches('.').trim(), text.len()),
                "{text}"
            );
        }
    }
}
