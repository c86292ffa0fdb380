//! Cuts that change what a passage says: behind a negation or a minus sign, before an exception, inside a number.

use std::ops::Range;

use super::changes::numbers;
use super::quote::QuoteMatch;
use crate::document::Document;

/// Maximum number of bytes before and behind a quote that are looked at.
const REACH: usize = 240;
/// Maximum number of words before `that` that may deny what follows.
const MAX_DENIAL: usize = 8;
/// A sentence such as `Nobody says …` has so many words before what it denies.
const MAX_SUBJECT: usize = 4;
/// A quote of fewer words is a value: an exception behind it is none of the value.
const FEW_WORDS: usize = 4;
/// Words that deny what follows.
const NEGATIONS: &[&str] = stepscope_base::list![
    not never no neither nor cannot without hardly barely nicht kein keine keinen keinem keiner keines nie niemals weder
    ohne ne pas sans jamais aucun aucune nunca sin ningún ninguna nessuno senza non
];
/// Prefixes of words that deny: `unlawful`.
const PREFIXES: &[&str] = stepscope_base::list![un in im ir il dis non mis];
/// Words that begin a denied clause.
const CONJUNCTIONS: &[&str] = stepscope_base::list![that whether dass daß ob que che];
/// Words that deny a clause that follows, beside the negations.
const DENIALS: &[&str] = stepscope_base::list![
    nobody nothing none false untrue incorrect wrong myth deny denies denied reject rejects rejected dispute disputes disputed
    doubt doubts doubtful unlikely refuse refuses refused contrary unclear unknown niemand falsch unwahr bestreitet
    bestritten faux personne nul falso nadie
];
/// Subjects that deny a whole sentence.
const NOBODY: &[&str] = stepscope_base::list![nobody none nothing niemand personne nadie];
/// Words that begin an exception or a condition that takes back what was said.
const EXCEPTIONS: [&str; 34] = [
    "unless",
    "except",
    "excepting",
    "excluding",
    "other than",
    "but not",
    "but only",
    "provided that",
    "provided, that",
    "provided it",
    "provided the",
    "only if",
    "only when",
    "only where",
    "save for",
    "save that",
    "save where",
    "apart from",
    "with the exception of",
    "not",
    "es sei denn",
    "außer",
    "ausgenommen",
    "mit ausnahme",
    "nur wenn",
    "nur, wenn",
    "soweit nicht",
    "nicht",
    "sauf",
    "à moins que",
    "à condition que",
    "hormis",
    "salvo",
    "excepto",
];

/// A cut that changes what a passage says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cut {
    /// The quote begins behind these bytes of the document's text, which deny it.
    Behind(Range<usize>),
    /// The quote ends before these.
    Before(Range<usize>),
    /// The quote has a part of the number at these.
    Number(Range<usize>),
}

impl Cut {
    /// The bytes that were cut off, or the whole number.
    pub fn bytes(&self) -> Range<usize> {
        match self {
            Self::Behind(bytes) | Self::Before(bytes) | Self::Number(bytes) => bytes.clone(),
        }
    }
}

/// Finds the cuts of a quote that change what its passage says.
pub fn cuts(document: &Document, found: &QuoteMatch) -> Vec<Cut> {
    let bytes = &found.bytes;
    [number_cut(document, bytes), behind(document, bytes), before(document, bytes)].into_iter().flatten().collect()
}

/// A number at an edge of a quote that goes on outside of it, or whose minus sign does.
fn number_cut(document: &Document, bytes: &Range<usize>) -> Option<Cut> {
    let edges = [bytes.start, bytes.end.checked_sub(1)?];
    edges.into_iter().find_map(|edge| {
        let line = document.line_at(edge);
        let start = document.offset(line)?;
        let text = document.line(line)?;
        let from = (edge - start).saturating_sub(REACH);
        let near = text.get(from..(edge - start + REACH).min(text.len()))?;
        let base = start + from;
        let is_cut = |number: &super::changes::QuotedNumber<'_>| {
            let (core, whole) = (number.core(), number.range.clone());
            let (core, whole) = (base + core.start..base + core.end, base + whole.start..base + whole.end);
            let is_inside = |part: &Range<usize>| bytes.start <= part.start && part.end <= bytes.end;
            let touches = core.start < bytes.end && bytes.start < core.end;
            (touches && (!is_inside(&core) || (number.negative && !is_inside(&whole)))).then_some(whole)
        };
        numbers(near).iter().find_map(is_cut).map(Cut::Number)
    })
}

/// A word of a text, in small letters, and its place.
struct CutWord {
    text: String,
    range: Range<usize>,
}

fn words(text: &[u8], base: usize) -> Vec<CutWord> {
    let mut list: Vec<CutWord> = Vec::new();
    let mut is_open = false;
    for (range, piece) in stepscope_base::text::pieces(text) {
        let c = match piece {
            stepscope_base::text::Piece::Char(c) if c.is_alphanumeric() || matches!(c, '\'' | '’') => c,
            _ => {
                is_open = false;
                continue;
            }
        };
        if !is_open {
            list.push(CutWord { text: String::new(), range: base + range.start..base + range.end });
        }
        is_open = true;
        if let Some(word) = list.last_mut() {
            word.text.extend(c.to_lowercase().map(|c| if c == '’' { '\'' } else { c }));
            word.range.end = base + range.end;
        }
    }
    list
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't")
}

/// Finds what denies a quote directly before it.
fn behind(document: &Document, bytes: &Range<usize>) -> Option<Cut> {
    let text = document.bytes(bytes.clone());
    let reach = bytes.start.saturating_sub(REACH);
    // A line that begins with a capital, behind the end of another, begins anew.
    let line_start = document.offset(document.line_at(bytes.start))?;
    let is_first = document.bytes(line_start..bytes.start).trim_ascii().is_empty();
    let begins_small =
        String::from_utf8_lossy(text.get(..text.len().min(16))?).chars().next().is_some_and(char::is_lowercase);
    if is_first && !begins_small {
        return None;
    }
    let around = document.bytes(reach..bytes.start);
    let sentence =
        around.iter().rposition(|byte| matches!(byte, b'.' | b'!' | b'?' | b';' | b'|')).map_or(0, |at| at + 1);
    let around = around.get(sentence..)?;
    let words = words(around, reach + sentence);
    let last = words.last()?;
    let between = document.bytes(last.range.end..bytes.start);
    if between.is_empty() {
        // In the middle of a word.
        let is_prefix = PREFIXES.contains(&last.text.as_str()) && begins_small;
        return is_prefix.then(|| Cut::Behind(last.range.clone()));
    }
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',') || !byte.is_ascii();
    if !between.iter().all(is_blank) {
        return None;
    }
    let before = words.len().checked_sub(2).and_then(|n| words.get(n)).map_or("", |word| word.text.as_str());
    if is_negation(&last.text) && !between.contains(&b',') {
        let is_open_question = matches!(before, "or" | "oder" | "if" | "why");
        return (!is_open_question).then(|| Cut::Behind(last.range.clone()));
    }
    if CONJUNCTIONS.contains(&last.text.as_str()) {
        let from = words.len().saturating_sub(MAX_DENIAL + 1);
        let clause = words.get(from..)?;
        // What stands before a comma denies something else; before `dass` one is due.
        let main = document.bytes(clause.first()?.range.start..last.range.start);
        let main = main.trim_ascii_end();
        let main = if last.text.starts_with("da") { main.strip_suffix(b",").unwrap_or(main) } else { main };
        let comma = main.iter().rposition(|byte| matches!(byte, b',' | b':')).map_or(0, |at| at + 1);
        let start = clause.first()?.range.start + comma;
        let denial = clause.iter().find(|word| {
            word.range.start >= start && (is_negation(&word.text) || DENIALS.contains(&word.text.as_str()))
        })?;
        return Some(Cut::Behind(denial.range.start..last.range.end));
    }
    let first = words.first()?;
    let is_subject = NOBODY.contains(&first.text.as_str())
        || (first.text == "no" && words.get(1).is_some_and(|word| word.text == "one"));
    let is_close = words.len() <= MAX_SUBJECT && !around.contains(&b',');
    // The sentence begins within reach.
    let is_whole = sentence > 0 || reach == 0;
    (is_subject && is_close && is_whole).then_some(Cut::Behind(first.range.start..last.range.end))
}

/// Finds what takes back a quote directly behind it.
fn before(document: &Document, bytes: &Range<usize>) -> Option<Cut> {
    let text = document.bytes(bytes.clone());
    let closing = String::from_utf8_lossy(text.get(text.len().saturating_sub(4)..)?).trim_end().chars().last()?;
    if matches!(closing, '.' | '!' | '?' | ';' | ':') {
        return None;
    }
    let rest = document.bytes(bytes.end..bytes.end.saturating_add(REACH).min(document.size()));
    let skipped =
        rest.iter().take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'(' | b'-' | b'"')).count();
    // The words go on behind a dash as well.
    let rest = rest.get(skipped..)?;
    let dashes = ["—", "–"]
        .iter()
        .find_map(|dash| rest.strip_prefix(dash.as_bytes()))
        .map_or(0, |after| rest.len() - after.trim_ascii_start().len());
    let rest = rest.get(dashes..)?;
    if skipped + dashes == 0 {
        return None;
    }
    let start = bytes.end + skipped + dashes;
    let lower = String::from_utf8_lossy(rest.get(..rest.len().min(48))?).to_lowercase().replace('\n', " ");
    let is_word_end = |end: usize| lower.get(end..).is_some_and(|after| !after.starts_with(char::is_alphanumeric));
    let exception = EXCEPTIONS.iter().find(|words| lower.starts_with(**words) && is_word_end(words.len()))?;
    // A capital behind a line's end begins anew: a heading, another entry.
    let is_capital = String::from_utf8_lossy(rest.get(..rest.len().min(4))?).starts_with(char::is_uppercase);
    // "Not older than three months" only bounds what is said.
    const BOUNDS: [&str; 9] = ["older", "younger", "more", "less", "later", "earlier", "longer", "higher", "lower"];
    let next = lower[exception.len()..].trim_start();
    let is_bound = BOUNDS.iter().any(|word| next.strip_prefix(word).is_some_and(|rest| rest.starts_with(" than")));
    let is_negation = matches!(*exception, "not" | "nicht") && !is_bound;
    let count = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(FEW_WORDS).count();
    (!is_capital && (is_negation || count >= FEW_WORDS)).then(|| Cut::Before(start..start + exception.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citations::{Claim, resolve};

    fn cut(text: &str, quote: &str) -> Vec<String> {
        let lines = text.split('\n').zip(1..).map(|(line, n)| (1, n, line)).collect();
        let document = Document::of(lines, Vec::new());
        let claim =
            Claim { lines: (Some(0), Some(9)), pages: (None, None), quote: Some(quote.as_bytes()), retrieved: &[] };
        let found = resolve(&document, &claim).found.unwrap();
        let word = |cut: Cut| String::from_utf8(document.bytes(cut.bytes()).to_vec()).unwrap();
        cuts(&document, &found).into_iter().map(word).collect()
    }

    #[test]
    fn cuts_that_change_the_meaning_name_what_was_cut_off() {
        for (text, quote, word) in [
            ("The policy does not cover flood.", "cover flood.", "not"),
            (
                "Nobody claims that the warranty covers water damage.",
                "the warranty covers water damage.",
                "Nobody claims that",
            ),
            ("It is not true that rent is due in May.", "rent is due in May.", "not true that"),
            ("Es trifft nicht zu, dass die Miete im Mai fällig ist.", "die Miete im Mai fällig ist.", "nicht zu, dass"),
            ("Nobody says the roof is new.", "the roof is new.", "Nobody says"),
            ("We pay for all damage, except damage by war.", "We pay for all damage", "except"),
            ("The tenant pays the costs\nunless the landlord agreed.", "The tenant pays the costs", "unless"),
            ("Der Vertrag deckt Schäden durch Wasser nicht.", "Der Vertrag deckt Schäden durch Wasser", "nicht"),
            ("The clause is unlawful here.", "lawful here.", "un"),
            ("The result is -5 EUR.", "5 EUR.", "-5"),
            ("The result is (1,250) EUR.", "1,250", "(1,250)"),
            ("It costs USD 1,200 per claim.", "200 per claim.", "1,200"),
            ("It costs USD 1,200,000 now.", "It costs USD 1,200", "1,200,000"),
        ] {
            assert_eq!(cut(text, quote), [word], "{text}");
        }
    }

    #[test]
    fn other_cuts_change_nothing() {
        for (text, quote) in [
            ("The policy does not cover flood.", "not cover flood."),
            ("See No. 5 for the fee of EUR 20.", "5 for the fee"),
            ("Whether or not the roof is new, we pay.", "the roof is new"),
            ("We agree, though not gladly, that the roof is new.", "the roof is new."),
            ("The fee is EUR 200 unless agreed otherwise.", "EUR 200"),
            ("We pay for all damage.\nExcept as agreed, no more is due.", "We pay for all damage"),
            ("What we do not\nThe roof is new.", "The roof is new."),
            ("pages 104-106 of it", "106 of it"),
            ("It is 5 m long.", "5 m long."),
            ("- proof of address (not older than 3 months)", "proof of address"),
        ] {
            assert_eq!(cut(text, quote), [""; 0], "{text}");
        }
    }
}
