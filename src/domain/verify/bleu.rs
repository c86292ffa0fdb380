//! Sentence BLEU as sacrebleu computes it by default: tokenizer 13a, n-grams up to 4, exponential smoothing.

use std::collections::HashMap;

use crate::domain::python::{is_space, rstrip};

/// The longest n-grams.
const ORDER: usize = 4;
/// Of longer texts every n-gram would have to be kept.
const MAX_TOKENS: usize = 1 << 20;
/// A longer text is not even looked at.
const MAX_TEXT: usize = 8 << 20;

/// An n-gram: the numbers of its tokens, and of no token behind the last.
type Gram = [u32; ORDER];
const NO_TOKEN: u32 = u32::MAX;

/// References, counted.
#[derive(Clone, Debug, Default)]
pub struct References {
    tokens: HashMap<String, u32>,
    /// How often each n-gram stands in the reference that holds it most often.
    grams: HashMap<Gram, u32>,
    lengths: Vec<usize>,
}

/// A text is longer than what is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("undecided: BLEU is not computed for texts of more than 8 MB or a million tokens")]
pub struct TooLong;

impl References {
    /// Counts references.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Result<Self, TooLong> {
        let mut references = Self::default();
        for text in texts {
            references.add(text)?;
        }
        Ok(references)
    }

    /// Adds a reference.
    pub fn add(&mut self, text: &[u8]) -> Result<(), TooLong> {
        let tokens = tokenize(text)?;
        let numbers: Vec<u32> = tokens
            .into_iter()
            .map(|token| {
                let next = self.tokens.len() as u32;
                *self.tokens.entry(token).or_insert(next)
            })
            .collect();
        for (gram, count) in counted(&numbers) {
            let most = self.grams.entry(gram).or_default();
            *most = count.max(*most);
        }
        self.lengths.push(numbers.len());
        Ok(())
    }

    /// Whether there is no reference.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The score of a text, from 0 to 100. With `effective_order`, as `sentence_bleu` has it, orders that the text is too
    /// short for do not count; without, as in `corpus_bleu` of one sentence, they make the score 0.
    pub fn score(&self, text: &[u8], effective_order: bool) -> Result<f64, TooLong> {
        let tokens = tokenize(text)?;
        // A token that stands in no reference is in no n-gram of theirs either.
        let numbers: Vec<u32> =
            tokens.iter().map(|token| self.tokens.get(token).copied().unwrap_or(NO_TOKEN)).collect();
        let mut correct = [0_u32; ORDER];
        for (gram, count) in counted(&numbers) {
            let order = gram.iter().filter(|token| **token != NO_TOKEN).count();
            if let (Some(most), Some(correct)) = (self.grams.get(&gram), correct.get_mut(order.wrapping_sub(1))) {
                *correct += count.min(*most);
            }
        }
        Ok(score(&correct, numbers.len(), self.closest(numbers.len()), effective_order))
    }

    /// The length of the reference that is nearest to a length; of two the shorter.
    fn closest(&self, length: usize) -> usize {
        self.lengths.iter().copied().min_by_key(|reference| (reference.abs_diff(length), *reference)).unwrap_or(0)
    }
}

fn score(correct: &[u32; ORDER], length: usize, reference: usize, effective_order: bool) -> f64 {
    if correct.iter().all(|count| *count == 0) {
        return 0.0;
    }
    let brevity = if length < reference { (1.0 - reference as f64 / length as f64).exp() } else { 1.0 };
    let (mut smooth, mut orders, mut logs) = (1.0, ORDER, [-9_999_999_999.0; ORDER]);
    for (n, (correct, log)) in correct.iter().zip(&mut logs).enumerate() {
        let total = length.saturating_sub(n) as f64;
        if total == 0.0 {
            break;
        }
        if effective_order {
            orders = n + 1;
        }
        let precision = if *correct == 0 {
            smooth *= 2.0;
            100.0 / (smooth * total)
        } else {
            100.0 * f64::from(*correct) / total
        };
        *log = precision.ln();
    }
    brevity * (logs.iter().take(orders).sum::<f64>() / orders as f64).exp()
}

/// The n-grams of all orders, with how often each stands there; none that holds an unknown token.
fn counted(numbers: &[u32]) -> HashMap<Gram, u32> {
    let mut counts = HashMap::new();
    for start in 0..numbers.len() {
        let mut gram = [NO_TOKEN; ORDER];
        let rest = numbers.iter().skip(start);
        for (n, token) in rest.take(ORDER).enumerate().take_while(|(_, token)| **token != NO_TOKEN) {
            if let Some(place) = gram.get_mut(n) {
                *place = *token;
            }
            *counts.entry(gram).or_default() += 1;
        }
    }
    counts
}

/// The tokens of `mteval-v13a`.
fn tokenize(text: &[u8]) -> Result<Vec<String>, TooLong> {
    if text.len() > MAX_TEXT {
        return Err(TooLong);
    }
    let text = String::from_utf8_lossy(rstrip(text));
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if text.contains('&') {
        text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    }
    let mut spaced = vec![' '];
    for c in text.chars() {
        if is_sign(c) { spaced.extend([' ', c, ' ']) } else { spaced.push(c) }
    }
    spaced.push(' ');
    let is_stop = |c: char| c == '.' || c == ',';
    let is_digit = |c: char| c.is_ascii_digit();
    // A stop is cut off unless digits stand on both sides, a dash if a digit stands before it.
    let spaced = pairs(&spaced, |a, b| !is_digit(a) && is_stop(b), |a, b| [a, ' ', b, ' ']);
    let spaced = pairs(&spaced, |a, b| is_stop(a) && !is_digit(b), |a, b| [' ', a, ' ', b]);
    let spaced = pairs(&spaced, |a, b| is_digit(a) && b == '-', |a, b| [a, ' ', b, ' ']);
    let tokens: Vec<String> = spaced
        .split(|c| is_space(*c))
        .filter(|token| !token.is_empty())
        .take(MAX_TOKENS + 1)
        .map(|token| token.iter().collect())
        .collect();
    if tokens.len() > MAX_TOKENS { Err(TooLong) } else { Ok(tokens) }
}

/// Signs that always stand alone: of ASCII all but `'`, `,`, `-` and `.`.
const fn is_sign(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// Replaces pairs of characters from left to right; a character belongs to one pair.
fn pairs(text: &[char], is_one: impl Fn(char, char) -> bool, becomes: impl Fn(char, char) -> [char; 4]) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        match after {
            [second, behind @ ..] if is_one(*first, *second) => {
                out.extend(becomes(*first, *second));
                rest = behind;
            }
            _ => out.push(*first),
        }
    }
    out
}
