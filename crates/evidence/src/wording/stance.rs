//! Stance of a passage: it says or denies a statement.

use std::ops::Range;

use super::senses::{excludes, is_paper, is_party, is_refusal, means, pleads, requires};
use super::{TextWord, are_opposite, denies, is_empty_word, words};

/// Stance of a passage towards a statement.
#[derive(Clone, Debug)]
pub struct Stance {
    /// It says so; `false`: it says the opposite.
    pub agrees: bool,
    /// The word by which it denies, or the opposite.
    pub by: Option<Range<usize>>,
}

/// Words after which a sentence says only when or for whom.
const CONDITIONS: &str = "if unless except only provided while when until without where subject once after before during \
    sofern wenn ausser nur solange bis ohne falls sauf si seulement lorsque jusqu unless excluding otherwise";

/// Says whether a passage says or denies a statement: only where a clause holds every word of it, names no condition of its
/// own, and denies a word of the statement or none.
pub fn stance(statement: &str, passage: &str) -> Option<Stance> {
    let stated = words(statement);
    let is_negation = |at: usize| denies(&stated, at) || is_free_of(&stated, at);
    let negations = (0..stated.len()).filter(|at| is_negation(*at)).count();
    let content: Vec<&TextWord> = stated
        .iter()
        .enumerate()
        .filter(|(at, word)| !is_empty_word(&word.folded) && !is_negation(*at))
        .map(|(_, word)| word)
        .collect();
    if content.len() < 2 || negations > 1 {
        return None;
    }
    let all = words(passage);
    let mut told: Option<Stance> = None;
    for clause in clauses(passage, &all) {
        let own = all.get(clause.clone())?;
        let Some(held) = HeldWords::of(&content, own) else { continue };
        // "…, not however for parties" denies what follows.
        let is_followed = all.get(clause.end).is_some_and(joins);
        if is_conditional(own, &stated) {
            return None;
        }
        let denied = denied(own, &content, &stated, is_followed).ok()?;
        let opposite = match held {
            HeldWords::All => None,
            HeldWords::Opposite(range) => Some(range),
        };
        let refused = if opposite.is_none() { turned_down(own, &content, denied.is_some()).ok()? } else { None };
        let flips = [&denied, &opposite, &refused].into_iter().flatten().count();
        let stance = Stance { agrees: (flips + negations).is_multiple_of(2), by: denied.or(opposite).or(refused) };
        if told.as_ref().is_some_and(|told| told.agrees != stance.agrees) {
            return None;
        }
        told.get_or_insert(stance);
    }
    told
}

/// Sign that a clause denies something else than the statement says, or nothing that can be told.
struct Unclear;

/// Tells whether a clause says only when or for whom, and the statement does not.
fn is_conditional(own: &[TextWord], stated: &[TextWord]) -> bool {
    const VERBS: &[&str] = &["is", "are", "was", "were", "be", "been", "not"];
    let is_condition = |word: &str| CONDITIONS.split_whitespace().any(|known| known == word);
    // "Is not provided" is no condition, "provided that" is one.
    let is_verb = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| own.get(at));
        before.is_some_and(|word| VERBS.contains(&word.folded.as_str()))
    };
    own.iter().enumerate().any(|(at, word)| {
        is_condition(&word.folded)
            && !(word.folded == "provided" && is_verb(at))
            && !stated.iter().any(|own| own.folded == word.folded)
    })
}

/// The word by which a clause denies a word of the statement.
fn denied(
    own: &[TextWord],
    content: &[&TextWord],
    stated: &[TextWord],
    is_followed: bool,
) -> Result<Option<Range<usize>>, Unclear> {
    const WEAK: &[&str] = &["yet", "ever", "longer", "generally"];
    // "Must visitors register?" asks for what is required.
    let demands =
        stated.first().is_some_and(|word| matches!(word.folded.as_str(), "must" | "muss" | "mussen" | "doit"));
    let mut denied = None;
    let is_of_next = |at: usize| at + 1 == own.len() && is_followed;
    for at in (0..own.len()).filter(|at| denies(own, *at) && !is_of_next(*at)) {
        let (before, behind) = (&own[..at], &own[at + 1..]);
        let says = |word: &&TextWord| !is_empty_word(&word.folded);
        // German puts "nicht" behind what it denies.
        let head = behind.iter().find(|word| says(word) && !WEAK.contains(&word.folded.as_str()));
        let head = head.or_else(|| before.iter().rev().find(says));
        let is_of_statement = head
            .is_some_and(|head| reaches(own, head) || (demands && requires(&head.folded)) || is_told(content, head));
        // "Neither … nor": each of them denies a part of its own.
        let lists = own.get(at).is_some_and(|word| matches!(word.folded.as_str(), "ni" | "nor"));
        if lists && !is_of_statement {
            continue;
        }
        if !is_of_statement || denied.is_some() {
            return Err(Unclear);
        }
        denied = own.get(at).map(|word| word.range.clone());
    }
    Ok(denied)
}

/// The word by which a clause keeps something out or turns it down: "hail is excluded from cover", "the application to set it
/// aside is dismissed".
fn turned_down(own: &[TextWord], content: &[&TextWord], is_denied: bool) -> Result<Option<Range<usize>>, Unclear> {
    let excluded = own.iter().find(|word| excludes(&word.folded) && !is_told(content, word));
    let refused = own.iter().find(|word| is_refusal(&word.folded) && !is_told(content, word));
    let has_plea = own.iter().any(|word| pleads(&word.folded) && !is_told(content, word));
    match (excluded, refused) {
        (None, None) => Ok(None),
        _ if is_denied => Err(Unclear),
        (_, Some(_)) if !has_plea => Err(Unclear),
        (_, Some(word)) | (Some(word), None) => Ok(Some(word.range.clone())),
    }
}

/// Tells whether a word is "free" of "free of charge", which denies the charge.
fn is_free_of(words: &[TextWord], at: usize) -> bool {
    let is = |n: usize, list: &[&str]| words.get(n).is_some_and(|word| list.contains(&word.folded.as_str()));
    is(at, &["free"]) && is(at + 1, &["of"]) && is(at + 2, &["charge", "charges"])
}

/// Tells whether some words hold another, in any form or sense.
fn is_told(content: &[&TextWord], word: &TextWord) -> bool {
    content.iter().any(|own| means(own, word))
}

/// Tells whether a word says only how far the subject of a clause reaches: "cover does not extend to racing".
fn reaches(own: &[TextWord], head: &TextWord) -> bool {
    let mut behind = own.iter().filter(|word| word.range.start > head.range.start);
    matches!(head.folded.as_str(), "extend" | "extends" | "apply" | "applies")
        && behind.next().is_some_and(|word| word.folded == "to")
}

/// Words of a statement in a clause.
enum HeldWords {
    All,
    /// All but one, in whose place its opposite stands.
    Opposite(Range<usize>),
}

impl HeldWords {
    fn of(content: &[&TextWord], own: &[TextWord]) -> Option<Self> {
        let is_there = |word: &&&TextWord| own.iter().any(|other| means(word, other));
        let mut missing: Vec<&&TextWord> = content.iter().filter(|word| !is_there(word)).collect();
        // "Can a guest get …?" against "… is not provided": whom it concerns, and which paper says so, is not said again.
        for is_understood in [is_party, is_paper] {
            let is_named = own.iter().any(|word| is_understood(&word.folded));
            if content.len() - missing.len() >= 2 && !is_named {
                missing.retain(|word| !is_understood(&word.folded));
            }
        }
        match missing.as_slice() {
            [] => Some(Self::All),
            [one] => {
                let opposite = own.iter().find(|other| are_opposite(&one.folded, &other.folded));
                // "Not to be stored outdoors" names no subject.
                let has_subject = !(denies(own, 0) || (own.first()?.folded == "do" && denies(own, 1)));
                let is_subject =
                    !has_subject && content.len() > 2 && content.first().is_some_and(|first| first.range == one.range);
                match opposite {
                    Some(word) => Some(Self::Opposite(word.range.clone())),
                    None => is_subject.then_some(Self::All),
                }
            }
            _ => None,
        }
    }
}

/// Tells whether a word begins a clause that restricts the one before.
fn joins(word: &TextWord) -> bool {
    const JOINS: &[&str] = stepscope_base::list![but however whereas aber jedoch mais although though];
    JOINS.contains(&word.folded.as_str())
}

/// The clauses of a passage, as ranges of its words.
fn clauses(passage: &str, words: &[TextWord]) -> Vec<Range<usize>> {
    const VERBS: &str = "is are was were does do did shall will may must has have can ist sind wird werden est sont";
    let is_verb = |word: &TextWord| VERBS.split(' ').any(|verb| verb == word.folded);
    let mut clauses = Vec::new();
    let mut start = 0;
    for at in 0..words.len() {
        let Some(word) = words.get(at) else { break };
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let between = before.map_or("", |before| &passage[before.range.end..word.range.start]);
        let ends = between.contains([';', '!', '?'])
            || between.contains(". ")
            || between.contains(".\n")
            || between.contains(": ");
        let joins = joins(word);
        // "… and is not renewable" goes on with the subject before.
        let mut behind = words[at + 1..].iter();
        let goes_on = behind.find(|word| !matches!(word.folded.as_str(), "n" | "ne")).is_some_and(is_verb);
        let and = matches!(word.folded.as_str(), "and" | "und" | "et")
            && !goes_on
            && words.get(start..at).is_some_and(|part| part.iter().any(is_verb))
            && words.get(at + 1..).is_some_and(|rest| rest.iter().take(8).any(is_verb));
        if (ends || joins || and) && at > start {
            clauses.push(start..at);
            start = at;
        }
    }
    if start < words.len() {
        clauses.push(start..words.len());
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees(statement: &str, passage: &str) -> Option<bool> {
        stance(statement, passage).map(|stance| stance.agrees)
    }

    #[test]
    fn a_clause_says_or_denies_a_statement() {
        for (statement, passage, wanted) in [
            ("Is damage by water covered?", "The policy covers damage by water.", Some(true)),
            ("Is damage by water covered?", "Damage by water is not covered.", Some(false)),
            ("Is damage by water covered?", "Damage by water is excluded.", Some(false)),
            ("Is damage by water not covered?", "Damage by water is not covered.", Some(true)),
            ("Are dogs allowed?", "No dogs are allowed here.", Some(false)),
            ("Are dogs allowed?", "Dogs are allowed only on a lead.", None),
            ("Is frost covered?", "Hail is covered and frost is not covered.", Some(false)),
            ("Is hail covered?", "Hail is covered and frost is not covered.", Some(true)),
            ("Is frost covered?", "Hail is covered.", None),
            ("Sind Hunde erlaubt?", "Hunde sind nicht erlaubt.", Some(false)),
            ("Can the key be copied?", "The key can't be copied.", Some(false)),
        ] {
            assert_eq!(agrees(statement, passage), wanted, "{statement} {passage}");
        }
    }
}
