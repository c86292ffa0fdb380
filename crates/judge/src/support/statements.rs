//! A yes or no against a line that says less than the question, or says it as a list under a heading.

use std::ops::Range;

use super::claim::Passage;
use stepscope_evidence::wording::{TextWord, akin, are_opposite, denies, is_empty_word, words};

/// Stance of a passage towards a question, and the word that tells.
pub(super) type FoundAnswer = (bool, Range<usize>);

/// Words that allow or demand, which a question asks by its verb: "May I …?"
const PERMITS: &str =
    "permitted allowed permissible gestattet erlaubt zulassig permis autorise possible moglich permitido";
const FORBIDS: &str = "prohibited forbidden banned barred untersagt verboten interdit interdite prohibido";
const MODALS: &str = "may can must darf durfen kann peut puis puede is are ist sind est";

/// Says whether a passage answers a question with yes, by one of the ways below.
pub(super) fn said(question: &str, passage: &Passage<'_>) -> Option<FoundAnswer> {
    let asked = words(question);
    let content: Vec<&TextWord> = asked.iter().filter(|word| !is_empty_word(&word.folded)).collect();
    if let Some(found) = without(&asked, passage) {
        return Some(found);
    }
    if content.len() < 2 || (0..asked.len()).any(|at| denies(&asked, at)) {
        return None;
    }
    under_heading(&content, passage)
        .or_else(|| excepted(question, &content, passage))
        .or_else(|| on_top(question, &content, passage))
        .or_else(|| forbidden(&asked, &content, passage))
}

/// "Is there a warranty?" against "without any warranty": it is named only behind a word that denies it.
fn without(asked: &[TextWord], passage: &Passage<'_>) -> Option<FoundAnswer> {
    const THERE: &str = "there es il a t hay";
    const NO: &str = "no without kein keine keinen ohne sans aucun aucune sin ningun ninguna";
    const ARTICLES: &str = "any a an the weitere jegliche une un";
    let [first, second, rest @ ..] = asked else { return None };
    let is_asked = is_in("is are gibt y hay", &first.folded) && is_in(THERE, &second.folded);
    let content: Vec<&TextWord> =
        rest.iter().filter(|word| !is_empty_word(&word.folded) && !is_in("any", &word.folded)).collect();
    let [thing] = content.as_slice() else { return None };
    let own = words(passage.text);
    let mut denial = None;
    for (at, _) in own.iter().enumerate().filter(|(_, word)| is_asked && akin(&word.folded, &thing.folded)) {
        let before = own.get(..at)?.iter().rev().find(|word| !is_in(ARTICLES, &word.folded));
        denial = Some(before.filter(|word| is_in(NO, &word.folded))?.range.clone());
    }
    denial.map(|range| (false, range))
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// The sentences of a text, as bytes.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let ends = matches!(c, '.' | ';' | '!' | '?')
            && text.get(at + 1..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if ends {
            found.push(start..at);
            start = at + 1;
        }
    }
    found.push(start..text.len());
    found
}

/// "Not covered: war, seizure": the heading says or denies what is asked, and one entry is what it is asked of.
fn under_heading(content: &[&TextWord], passage: &Passage<'_>) -> Option<FoundAnswer> {
    const MAX_HEADING: usize = 4;
    let (heading, list) = passage.text.split_once(':')?;
    let head = words(heading);
    let own: Vec<&TextWord> = head.iter().filter(|word| !is_empty_word(&word.folded)).collect();
    if head.is_empty() || own.len() > MAX_HEADING {
        return None;
    }
    let said = head.iter().find(|word| content.iter().any(|asked| akin(&asked.folded, &word.folded)));
    let opposite = head.iter().find(|word| content.iter().any(|asked| are_opposite(&asked.folded, &word.folded)));
    let word = said.or(opposite)?;
    let end = list.find(['.', '\n']).unwrap_or(list.len());
    let is_asked = |entry: &str| {
        let entry = words(entry);
        let mut telling = entry.iter().filter(|word| !is_empty_word(&word.folded)).peekable();
        telling.peek().is_some() && telling.all(|word| content.iter().any(|asked| akin(&asked.folded, &word.folded)))
    };
    if !list.get(..end)?.split([',', ';']).any(is_asked) {
        return None;
    }
    let denial = (0..head.len()).find(|at| denies(&head, *at)).and_then(|at| head.get(at));
    let flips = usize::from(denial.is_some()) + usize::from(said.is_none());
    Some((flips % 2 == 0, denial.unwrap_or(word).range.clone()))
}

/// "Is the delay by weather paid?" against "Delays are paid, but not those by weather".
fn excepted(question: &str, content: &[&TextWord], passage: &Passage<'_>) -> Option<FoundAnswer> {
    const EXCEPT: [&str; 13] = [
        "but not ",
        "not however ",
        "nicht jedoch ",
        "jedoch nicht ",
        "aber nicht ",
        "mais pas ",
        "except for ",
        "except ",
        "excluding ",
        "unless ",
        "es sei denn ",
        "ausgenommen ",
        "sauf ",
    ];
    const EMPTY: &str = "due case cases those caused for because";
    let is_asked = |word: &TextWord| content.iter().any(|asked| akin(&asked.folded, &word.folded));
    // "Is it paid unless a claim was made?" asks for the rule itself.
    let lower = question.to_lowercase();
    if EXCEPT.iter().any(|phrase| lower.contains(phrase)) {
        return None;
    }
    sentences(passage.text).into_iter().find_map(|range| {
        let text = passage.text.get(range.clone())?;
        let (at, phrase) = EXCEPT.iter().find_map(|phrase| Some((text.find(phrase)?, phrase)))?;
        let (main, exception) = (words(text.get(..at)?), words(text.get(at + phrase.len()..)?));
        let mut telling =
            exception.iter().filter(|word| !is_empty_word(&word.folded) && !is_in(EMPTY, &word.folded)).peekable();
        let shared = main.iter().filter(|word| !is_empty_word(&word.folded) && is_asked(word)).count();
        let is_denied = (0..main.len()).any(|at| denies(&main, at));
        let is_of_exception = telling.peek().is_some() && telling.all(is_asked);
        (is_of_exception && shared >= 2 && !is_denied)
            .then(|| (false, range.start + at..range.start + at + phrase.trim_end().len()))
    })
}

/// "Is the tax paid on top?" against "The tax is not included", and the other way round.
fn on_top(question: &str, content: &[&TextWord], passage: &Passage<'_>) -> Option<FoundAnswer> {
    const EXTRA: [&str; 11] = [
        "on top of",
        "in addition to",
        "extra",
        "additional",
        "separately",
        "on top",
        "zusätzlich",
        "gesondert",
        "en plus",
        "en sus",
        "aparte",
    ];
    const INCLUDED: &str = "includ inbegriffen enthalten inklusive inclus compris incluid incluye";
    let has_extra = |text: &str| EXTRA.iter().any(|phrase| text.to_lowercase().contains(phrase));
    let is_included = |word: &TextWord| INCLUDED.split(' ').any(|stem| word.folded.starts_with(stem));
    let asks_extra = has_extra(question);
    let asks_included = content.iter().any(|word| is_included(word));
    if asks_extra == asks_included {
        return None;
    }
    for range in sentences(passage.text) {
        let text = passage.text.get(range.clone())?;
        let own = words(text);
        let shared = content
            .iter()
            .filter(|asked| own.iter().any(|word| akin(&asked.folded, &word.folded)) && !is_included(asked));
        if shared.count() < 2 {
            continue;
        }
        let denied = (0..own.len()).any(|at| denies(&own, at));
        let word = own.iter().find(|word| is_included(word));
        let place = |word: &TextWord| range.start + word.range.start..range.start + word.range.end;
        match word {
            Some(word) if asks_extra && !has_extra(text) => return Some((denied, place(word))),
            None if asks_included && has_extra(text) && !denied => return Some((false, place(own.first()?))),
            _ => {}
        }
    }
    None
}

/// "May the tenant sublet to a stranger?" against "Subletting is not permitted": what the line says is all in the question.
fn forbidden(asked: &[TextWord], content: &[&TextWord], passage: &Passage<'_>) -> Option<FoundAnswer> {
    if !asked.first().is_some_and(|word| is_in(MODALS, &word.folded)) {
        return None;
    }
    let is_asked = |word: &TextWord| content.iter().any(|asked| akin(&asked.folded, &word.folded));
    let all = sentences(passage.text);
    for (n, range) in all.iter().enumerate() {
        let text = passage.text.get(range.clone())?;
        let own = words(text);
        let permits = own.iter().any(|word| is_in(PERMITS, &word.folded));
        let forbids = own.iter().find(|word| is_in(FORBIDS, &word.folded));
        let denial = (0..own.len()).find(|at| denies(&own, *at));
        let telling: Vec<&TextWord> = own
            .iter()
            .enumerate()
            .filter(|(at, word)| {
                !is_empty_word(&word.folded)
                    && !word.has_digit()
                    && !is_in(PERMITS, &word.folded)
                    && !is_in(FORBIDS, &word.folded)
                    && !denies(&own, *at)
            })
            .map(|(_, word)| word)
            .collect();
        let is_denied = (permits && denial.is_some()) || (forbids.is_some() && denial.is_none());
        if !is_denied || telling.is_empty() || !telling.iter().all(|word| is_asked(word)) {
            continue;
        }
        // An exception that the question speaks of decides.
        let next = all.get(n + 1).map_or("", |range| &passage.text[range.clone()]);
        if words(next).iter().any(|word| !is_empty_word(&word.folded) && is_asked(word)) {
            continue;
        }
        let word = forbids.or_else(|| own.get(denial?))?;
        // "Is smoking banned?"
        let asks_forbidden = content.iter().any(|word| is_in(FORBIDS, &word.folded));
        return Some((asks_forbidden, range.start + word.range.start..range.start + word.range.end));
    }
    None
}
