//! Contradictions within a document: who holds a post, and whether something is so.

use std::ops::Range;

use super::MAX_LINE;
use crate::case::CaseView;
use stepscope_base::json::{Kind, Value};
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::{AnswerItem, truth};
use stepscope_evidence::wording::{TextWord, akin, denies, is_empty_word, part, sequence, stance, words};

/// Maximum number of lines of a document that are searched.
const MAX_LINES: usize = 5_000;

/// The line of a document that answers the question otherwise than an item, and what it says.
pub(super) type OtherAnswer = (usize, String);

/// Looks for another name in the post of which the question asks.
pub(super) fn name(case: &CaseView<'_>, item: &AnswerItem<'_>) -> Option<OtherAnswer> {
    let question = case.record.as_ref()?.question?.string()?;
    let post = post(question.utf8()?)?;
    let own = item.value.as_ref()?.1.string()?;
    let own = words(own.utf8()?);
    let document = case.document()?;
    let is_own = |name: &str| words(name).iter().any(|word| own.iter().any(|known| akin(&known.folded, &word.folded)));
    // Both lines give the post in the same plain words.
    let mut other: Option<OtherAnswer> = None;
    let mut own_line = None;
    for line in 0..document.len().min(MAX_LINES) {
        let Some(name) = text_of(document, line).and_then(|text| holder(text, &post)) else { continue };
        if is_own(&name) {
            own_line = Some(line);
        } else if other.replace((line, name)).is_some() {
            return None;
        }
    }
    // Two lines one after another list those who share a post.
    other.filter(|(line, _)| own_line.is_some_and(|own| own.abs_diff(*line) > 1))
}

fn text_of(document: &Document, line: usize) -> Option<&str> {
    std::str::from_utf8(document.line(line).filter(|text| text.len() <= MAX_LINE)?).ok()
}

/// The post of "Who is the site manager?".
fn post(question: &str) -> Option<Vec<TextWord>> {
    const MAX_WORDS: usize = 3;
    let own = words(question);
    let [who, is, rest @ ..] = own.as_slice() else { return None };
    let asks =
        matches!(who.folded.as_str(), "who" | "wer" | "qui") && matches!(is.folded.as_str(), "is" | "ist" | "est");
    let post: Vec<TextWord> = rest.iter().filter(|word| !is_empty_word(&word.folded)).cloned().collect();
    // "Who is the tenant's lawyer?" has a word between.
    let is_plain = rest.iter().skip_while(|word| is_empty_word(&word.folded)).count() == post.len();
    (asks && is_plain && (1..=MAX_WORDS).contains(&post.len())).then_some(post)
}

/// The name that a line gives to a post: "Site manager: Ann Brook", "the site manager is Ann Brook".
fn holder(text: &str, post: &[TextWord]) -> Option<String> {
    const TITLES: &[&str] = stepscope_base::list![mr ms mrs dr prof herr frau mme m];
    const MAX_NAME: usize = 4;
    let own = words(text);
    let needle: Vec<&TextWord> = post.iter().collect();
    let place = sequence(&needle, &own)?;
    // "Former site manager", "deputy chair": the word before says that it is another post.
    let is_plain = |word: &TextWord| is_empty_word(&word.folded) || word.has_digit() || word.folded.len() <= 2;
    if !own.get(..place.start)?.iter().all(is_plain) {
        return None;
    }
    let mut from = place.end;
    let joined = part(text, own.get(place.end.checked_sub(1)?)?.range.end..own.get(from)?.range.start);
    let is_verb = matches!(own.get(from)?.folded.as_str(), "is" | "ist" | "est");
    if is_verb {
        from += 1;
    } else if !(joined.contains(':') || joined.contains("  ")) {
        return None;
    }
    while own.get(from).is_some_and(|word| TITLES.contains(&word.folded.as_str())) {
        from += 1;
    }
    let name: Vec<&TextWord> =
        own.get(from..)?.iter().take_while(|word| word.capital && !word.has_digit()).take(MAX_NAME).collect();
    let (first, last) = (name.first()?, name.last()?);
    // A year or a day behind it says when.
    let is_timed = own.iter().any(|word| word.year().is_some());
    (name.len() >= 2 && !is_timed).then(|| part(text, first.range.start..last.range.end).to_owned())
}

/// Looks for a line that says the opposite of a yes or no.
pub(super) fn statement(case: &CaseView<'_>, item: &AnswerItem<'_>) -> Option<OtherAnswer> {
    let question = case.record.as_ref()?.question?.string()?;
    let question = question.utf8()?;
    let answer = item.value.as_ref().filter(|(_, value)| is_truth(*value)).and_then(|(_, value)| truth(*value))?;
    let document = case.document()?;
    let cited: Vec<Range<usize>> = item.citations.iter().filter_map(|citation| case.meant_lines(citation)).collect();
    let says = |line: usize| plainly(question, text_of(document, line)?);
    let mut own = cited.iter().cloned().flatten();
    if !own.any(|line| says(line) == Some(answer)) {
        return None;
    }
    let is_cited = |line: &usize| cited.iter().any(|lines| lines.contains(line));
    let mut others = (0..document.len().min(MAX_LINES)).filter(|line| !is_cited(line));
    let line = others.find(|line| says(*line) == Some(!answer))?;
    Some((line, text_of(document, line)?.trim().to_owned()))
}

fn is_truth(value: Value<'_>) -> bool {
    matches!(value.kind(), Kind::True | Kind::False)
}

/// Says whether a sentence of a line says or denies what is asked, with no word of its own before the last of the question.
fn plainly(question: &str, text: &str) -> Option<bool> {
    let asked = words(question);
    let is_asked = |word: &TextWord| asked.iter().any(|other| akin(&other.folded, &word.folded));
    // A label before it, "Bicycles:", says of what it is.
    text.split([';', '|']).find_map(|sentence| {
        let found = stance(question, sentence)?;
        let own = words(sentence);
        let last = own.iter().rposition(|word| !is_empty_word(&word.folded) && is_asked(word))?;
        let is_plain = (0..=last).all(|at| {
            own.get(at).is_some_and(|word| is_empty_word(&word.folded) || is_asked(word) || denies(&own, at))
        });
        is_plain.then_some(found.agrees)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::said;
    use crate::rules::typed::conflict::check_conflict;
    use serde_json::{Value as Json, json};

    fn conflicts(question: &str, lines: &[&str], items: &[(Json, usize)]) -> usize {
        let items: Vec<Json> = items
            .iter()
            .map(|(value, line)| {
                let mut item = value.clone();
                item["spans"] = json!([{"line_start": line, "line_end": line, "quote": lines[*line]}]);
                item
            })
            .collect();
        let trace = json!({
            "format": "stepscope.answer_trace", "question": question, "document": {"lines": lines},
            "answer": {"extraction_method": "verbatim", "answer_found": true, "conflicting_evidence": false, "items": items},
        });
        said(&trace.to_string(), check_conflict).len()
    }

    #[test]
    fn a_post_is_held_by_two() {
        let question = "Who is the site manager?";
        let lines =
            ["Site manager:   Leo Marsh", "Conditions", "The site manager is Ann Brook; she may not be replaced."];
        let name = |name: &str| json!({"person_name": name});
        assert_eq!(conflicts(question, &lines, &[(name("Leo Marsh"), 0)]), 1);
        assert_eq!(conflicts(question, &lines, &[(name("Leo Marsh"), 0), (name("Ann Brook"), 2)]), 1);
        let listed = ["Site manager: Leo Marsh, ext. 12", "Site manager: Ann Brook, ext. 13"];
        assert_eq!(conflicts(question, &listed, &[(name("Leo Marsh"), 0)]), 0);
        let other = ["Site manager:   Leo Marsh", "Conditions", "The deputy site manager is Ann Brook."];
        assert_eq!(conflicts(question, &other, &[(name("Leo Marsh"), 0)]), 0);
    }

    #[test]
    fn a_line_says_the_opposite() {
        let question = "Is breakfast included in the price?";
        let lines = [
            "Room: double; breakfast is included in the price",
            "Breakfast is not included in the price and costs EUR 16.",
        ];
        let yes = |yes: bool| json!({"boolean": yes});
        assert_eq!(conflicts(question, &lines, &[(yes(true), 0)]), 1);
        assert_eq!(conflicts(question, &lines, &[(yes(true), 0), (yes(false), 1)]), 1);
        let parts = ["Hall: breakfast is included in the price.", "Tent: breakfast is not included in the price."];
        assert_eq!(conflicts(question, &parts, &[(yes(true), 0)]), 0);
        let other = ["Breakfast is included in the price.", "On Sundays breakfast is not included in the price."];
        assert_eq!(conflicts(question, &other, &[(yes(true), 0)]), 0);
    }

    #[test]
    fn a_rate_is_the_same_in_other_words() {
        let question = "What are the ongoing charges?";
        let rate = |value: f64| json!({"amount": {"value": value, "currency": "XXX", "unit": "% per year"}});
        let lines = ["Ongoing charges: 1.15 % a year", "Ongoing charges       1.35 % p.a."];
        assert_eq!(conflicts(question, &lines, &[(rate(1.15), 0)]), 1);
        assert_eq!(conflicts(question, &lines, &[(rate(1.15), 0), (rate(1.35), 1)]), 1);
        let month = ["Ongoing charges: 1.15 % a year", "Ongoing charges       0.10 % a month"];
        assert_eq!(conflicts(question, &month, &[(rate(1.15), 0)]), 0);
    }

    #[test]
    fn a_day_is_due_twice() {
        let day = |iso: &str| json!({"date": {"iso": iso, "original": iso}});
        let lines = ["Completion:   28 October 2023", "The works shall be completed by 28 November 2023."];
        let question = "By what date must the works be completed?";
        assert_eq!(conflicts(question, &lines, &[(day("2023-10-28"), 0)]), 1);
        let part =
            ["Completion:   28 October 2023", "The snagging of the works shall be completed by 28 November 2023."];
        assert_eq!(conflicts(question, &part, &[(day("2023-10-28"), 0)]), 0);
        let roads = ["The closure of Elm Road ends on 3 May 2024.", "The closure of Oak Road ends on 9 May 2024."];
        assert_eq!(conflicts("When does the closure end?", &roads, &[(day("2024-05-03"), 0)]), 0);
        let may = ["Closure: from 4 May 2024 until 19 May 2024", "Timetable: closure ends at 5 am on 23 May 2024."];
        let ends = "When does the closure end?";
        assert_eq!(conflicts(ends, &may, &[(day("2024-05-19"), 0)]), 1);
        assert_eq!(conflicts(ends, &may, &[(day("2024-05-23"), 1)]), 1);
        assert_eq!(conflicts(ends, &may[..1], &[(day("2024-05-19"), 0)]), 0);
    }
}
