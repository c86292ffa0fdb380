//! A boolean or a letter against the words of its answer.

use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_arithmetic::expression::numbers;
use stepscope_base::json::{Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::Untrusted;
use stepscope_record::Record;
use stepscope_record::finding::{Finding, Findings, Place};
use stepscope_record::rule_id::RuleId;

/// Longer texts are essays.
const MAX_TEXT: usize = 4_000;

pub(super) const FINAL_BOOL: Rule = Rule {
    id: RuleId::FinalBool,
    summary: "answer text and final_answer_bool disagree",
    explanation: "The text begins with yes and final_answer_bool is false, or the reverse. Grading uses final_answer_bool; \
        people read the text. Re-run the last step.",
    bad: r#"{"final_answer": "Yes, both are open on Monday.", "final_answer_bool": false, "confidence": 0.9}"#,
    good: r#"{"final_answer": "Yes, both are open on Monday.", "final_answer_bool": true, "confidence": 0.9}"#,
    check: check_bool,
};

pub(super) const FINAL_LETTER: Rule = Rule {
    id: RuleId::FinalLetter,
    summary: "letter and rationale disagree",
    explanation: "The rationale names another letter than the answer, or ends with the text of another option of the \
        question. Mostly the letter was chosen last, and wrongly. Re-run the last step.",
    bad: r#"{"final_answer": "B", "choice_rationale": "Plants take in carbon dioxide, so the correct answer is C.", "confidence": 0.9}"#,
    good: r#"{"final_answer": "C", "choice_rationale": "Plants take in carbon dioxide, so the correct answer is C.", "confidence": 0.9}"#,
    check: check_letter,
};

fn text_of<'a>(record: &Record<'a>, key: &str) -> Option<Untrusted<'a>> {
    let text = record.answer?.get(key)?.string()?;
    (text.bytes().len() <= MAX_TEXT).then_some(text)
}

/// Returns the place of a key of the answer.
fn place(record: &Record<'_>, key: &'static str) -> Place {
    let is_state = record.state.is_some();
    Place::Value(if is_state { Pointer::from_iter(["state", key]) } else { Pointer::from_iter([key]) })
}

fn check_bool(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    let Some(truth) = record.answer.and_then(|answer| answer.get("final_answer_bool")?.bool()) else { return };
    let Some(text) = text_of(record, "final_answer") else { return };
    let Some(said) = text.utf8().and_then(yes_or_no) else { return };
    if said != truth {
        let word = if said { "yes" } else { "no" };
        let message = shown!("Answer text says {word}, final_answer_bool says {truth}.");
        let finding = Finding::new(RuleId::FinalBool, message.into_string(), place(record, "final_answer_bool"));
        let finding = finding.label(place(record, "final_answer"), "what the text says");
        findings.push(finding.help("Re-run the last step, or read the text and correct final_answer_bool."));
    }
}

/// Reads an outright yes or no from a text: its first word, or "the answer is no".
fn yes_or_no(text: &str) -> Option<bool> {
    let lower = text.trim_start().to_lowercase();
    let of = |word: &str| match word {
        "yes" | "true" | "yeah" | "yep" => Some(true),
        "no" | "false" | "nope" => Some(false),
        _ => None,
    };
    let first_word = |text: &str| {
        let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        // "No dogs bark" denies something else; "No, they bark" answers.
        let is_alone =
            rest.is_empty() || rest.starts_with(['.', ',', ';', ':', '!', '\n', '-', '–', '—']) || word != "no";
        of(word).filter(|_| is_alone)
    };
    first_word(&lower).or_else(|| {
        let at = lower.find("answer is ")?;
        first_word(lower.get(at + "answer is ".len()..)?.trim_start_matches(['"', '\'', '*', '“']))
    })
}

fn check_letter(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = &case.record else { return };
    // Hardly any answer has one.
    let Some(rationale) = text_of(record, "choice_rationale") else { return };
    let Some(letter) = text_of(record, "final_answer") else { return };
    let (Some(letter), Some(rationale)) = (letter.utf8().and_then(letter_of), rationale.utf8()) else { return };
    let named = named_letter(rationale);
    let question = Value::text_of(record.question);
    let options = options(question.readable());
    let meant = named.or_else(|| concluded(rationale, &options));
    if let Some(meant) = meant.filter(|meant| *meant != letter) {
        let message = shown!("The answer is {letter}, but the rationale chooses {meant}.");
        let finding = Finding::new(RuleId::FinalLetter, message.into_string(), place(record, "final_answer"));
        let finding = finding.label(place(record, "choice_rationale"), "what it argues for");
        findings.push(finding.help("Re-run the last step, or read the rationale and correct the letter."));
    }
}

fn letter_of(text: &str) -> Option<char> {
    let mut chars = text.trim().chars();
    let first = chars.next().filter(|c| ('A'..='E').contains(c))?;
    chars.next().is_none().then_some(first)
}

/// The letter that a rationale names as the answer; none where it names several.
fn named_letter(text: &str) -> Option<char> {
    const BEFORE: [&str; 8] = [
        "answer is",
        "answer:",
        "choice is",
        "option is",
        "i choose",
        "we choose",
        "correct option:",
        "correct choice:",
    ];
    let mut found: Option<char> = None;
    let mut take = |letter: char| match found {
        Some(known) if known != letter => Err(()),
        _ => {
            found = Some(letter);
            Ok(())
        }
    };
    let lower = text.to_ascii_lowercase();
    let at_start = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '(', '"', '*', '\'']);
        let rest = ["option ", "choice ", "Option ", "Choice "]
            .iter()
            .find_map(|word| rest.strip_prefix(word))
            .unwrap_or(rest);
        let mut chars = rest.trim_start_matches(['(', '"', '*']).chars();
        let letter = chars.next().filter(|c| ('A'..='E').contains(c))?;
        // "A plant" begins a sentence of its own.
        let is_word = |next: char| next.is_alphanumeric() || next == '\'' || (next == ' ' && letter == 'A');
        (!chars.next().is_some_and(is_word)).then_some(letter)
    };
    for mark in BEFORE {
        for (at, _) in lower.match_indices(mark) {
            let denied = lower.get(..at).is_some_and(|before| before.trim_end().ends_with("not the"));
            if let Some(letter) = text.get(at + mark.len()..).and_then(at_start).filter(|_| !denied) {
                take(letter).ok()?;
            }
        }
    }
    for word in ["option ", "choice ", "answer "] {
        for (at, _) in lower.match_indices(word) {
            let Some(rest) = text.get(at + word.len()..) else { continue };
            let Some(letter) = rest.chars().next().filter(|c| ('A'..='E').contains(c)) else { continue };
            let rest = rest[1..].trim_start_matches([')', ' ']);
            if ["is correct", "is the correct", "is right", "is the right", "is the best"]
                .iter()
                .any(|end| rest.starts_with(end))
            {
                take(letter).ok()?;
            }
        }
    }
    found
}

/// The options that a question lists: `A) 12`, `(B) 15`, `C. 18`.
fn options(question: &str) -> Vec<(char, String)> {
    let mut starts: Vec<(char, usize, usize)> = Vec::new();
    let bytes = question.as_bytes();
    for (at, c) in question.char_indices() {
        let expected = char::from(b'A' + u8::try_from(starts.len()).unwrap_or(25).min(25));
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let after = bytes.get(at + 1).copied();
        let is_mark = matches!(after, Some(b')' | b'.' | b':')) && before.is_none_or(|b| !b.is_ascii_alphanumeric());
        if c == expected && is_mark {
            starts.push((c, at, at + 2));
        }
    }
    let ends = starts.iter().skip(1).map(|(_, at, _)| *at).chain([question.len()]);
    let text = |((letter, _, start), end): (&(char, usize, usize), usize)| {
        let text = question.get(*start..end)?.trim().trim_end_matches(['(', ',', ';', '.', ' ', '\n']);
        Some((*letter, text.to_lowercase()))
    };
    let options: Vec<_> = starts.iter().zip(ends).filter_map(text).collect();
    // Initials of a name have nothing between them.
    let are_options = options.len() > 1 && options.iter().all(|(_, text)| !text.is_empty());
    if are_options { options } else { Vec::new() }
}

/// The option with whose text or number a rationale ends, where it is one alone.
fn concluded(rationale: &str, options: &[(char, String)]) -> Option<char> {
    let lower = rationale.trim().trim_end_matches(['.', '!', ' ']).to_lowercase();
    let by_text = options.iter().filter(|(_, text)| text.len() >= 3 && lower.ends_with(text.as_str()));
    let by_text: Vec<char> = by_text.map(|(letter, _)| *letter).collect();
    if let [letter] = by_text.as_slice() {
        return Some(*letter);
    }
    let last = numbers(&lower).last().map(|(number, _)| number.value)?;
    let of = |text: &String| match numbers(text).as_slice() {
        [(number, _)] => Some(number.value),
        _ => None,
    };
    // Only where every option is a number, the last one of the argument is its result.
    let values: Vec<(char, _)> = options.iter().filter_map(|(letter, text)| Some((*letter, of(text)?))).collect();
    let meant: Vec<char> = values.iter().filter(|(_, value)| value.is_near(last)).map(|(letter, _)| *letter).collect();
    match meant.as_slice() {
        [letter] if values.len() == options.len() => Some(*letter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_told_from_words_that_look_like_them() {
        for (text, said) in [
            ("Yes, it is.", Some(true)),
            ("yes", Some(true)),
            ("No. It is not.", Some(false)),
            ("The answer is no", Some(false)),
            ("The answer is \"yes\".", Some(true)),
            ("No dogs bark here.", None),
            ("Nobody knows.", None),
            ("Yesterday it was.", None),
            ("It is not so.", None),
        ] {
            assert_eq!(yes_or_no(text), said, "{text}");
        }
    }

    #[test]
    fn the_letter_that_is_argued_for_is_found() {
        for (text, letter) in [
            ("So the correct answer is C.", Some('C')),
            ("Option B is correct, because it holds water.", Some('B')),
            ("The answer is (D).", Some('D')),
            ("A dog is an animal.", None),
            ("Option A is wrong, so the answer is B.", Some('B')),
            ("The answer is (A), or the answer is (B).", None),
            ("The answer is A plant.", None),
            ("The answer is C because it floats.", Some('C')),
        ] {
            assert_eq!(named_letter(text), letter, "{text}");
        }
        let question = "What is 3 * 5? A) 12 B) 15 C) 18 D) 8";
        let options = options(question);
        assert_eq!(options.len(), 4);
        assert_eq!(concluded("Three times five is 15", &options), Some('B'));
        assert_eq!(concluded("Three times five is 16", &options), None);
        assert_eq!(super::options("Is A.B. Smith right?"), Vec::new());
    }
}
