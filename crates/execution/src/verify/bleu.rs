//! Sentence BLEU as sacrebleu computes it by default: tokenizer 13a, n-grams up to 4, exponential smoothing.

use std::array::IntoIter;
use std::collections::{BTreeSet, HashMap};
use std::iter::{Peekable, once};

use stepscope_base::python::{is_space, rstrip};

/// The longest n-grams.
const ORDER: usize = 4;
/// Of longer texts every n-gram would have to be kept.
const MAX_TOKENS: usize = 250_000;
/// References with more n-grams are not kept.
const MAX_GRAMS: usize = 1_500_000;
/// A longer text is not even looked at.
const MAX_TEXT: usize = 8 << 20;

/// An n-gram: the numbers of its tokens, and of no token behind the last.
type Gram = [u32; ORDER];
const NO_TOKEN: u32 = u32::MAX;

/// References, counted.
#[derive(Clone, Debug, Default)]
pub struct References {
    tokens: HashMap<String, u32>,
    /// Count of each n-gram in the reference that holds it most often.
    grams: HashMap<Gram, u32>,
    lengths: BTreeSet<usize>,
}

/// A text is longer than what is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("undecided: BLEU is limited to texts of 8 MB or 250,000 tokens, and to as many references")]
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
        let mut numbers = Vec::new();
        each_token(text, |token| numbers.push(number(&mut self.tokens, token)))?;
        for (gram, count) in counted(&numbers) {
            let most = self.grams.entry(gram).or_default();
            *most = count.max(*most);
        }
        self.lengths.insert(numbers.len());
        if self.grams.len() > MAX_GRAMS { Err(TooLong) } else { Ok(()) }
    }

    /// Tells whether there is no reference.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Counts an n-gram of a text in the reference that holds it most often; `known` has the numbers here of the text's
    /// tokens.
    fn most(&self, gram: &Gram, known: &[u32]) -> u32 {
        let mut own = [NO_TOKEN; ORDER];
        for (place, token) in own.iter_mut().zip(gram).take_while(|(_, token)| **token != NO_TOKEN) {
            match known.get(*token as usize) {
                Some(known) if *known != NO_TOKEN => *place = *known,
                _ => return 0,
            }
        }
        self.grams.get(&own).copied().unwrap_or(0)
    }

    /// The length of the reference that is nearest to a length; of two the shorter.
    fn closest(&self, length: usize) -> Option<usize> {
        let near = [self.lengths.range(..=length).next_back(), self.lengths.range(length..).next()];
        near.into_iter().flatten().copied().min_by_key(|reference| (reference.abs_diff(length), *reference))
    }
}

/// The score of a text beside references in several parts, from 0 to 100. With `effective_order`, as `sentence_bleu` has
/// it, orders that the text is too short for do not count; without, as in `corpus_bleu` of one sentence, they make the
/// score 0.
pub fn score_with(references: &[&References], text: &[u8], effective_order: bool) -> Result<f64, TooLong> {
    // A token that stands in no reference is in no n-gram of theirs either.
    let (mut tokens, mut numbers) = (HashMap::new(), Vec::new());
    let mut known = vec![Vec::new(); references.len()];
    each_token(text, |token| {
        if references.iter().all(|one| !one.tokens.contains_key(token)) {
            return numbers.push(NO_TOKEN);
        }
        let number = number(&mut tokens, token);
        for (one, known) in references.iter().zip(&mut known).filter(|(_, known)| known.len() == number as usize) {
            known.push(one.tokens.get(token).copied().unwrap_or(NO_TOKEN));
        }
        numbers.push(number);
    })?;
    let mut correct = [0_u32; ORDER];
    for (gram, count) in counted(&numbers) {
        let order = gram.iter().filter(|token| **token != NO_TOKEN).count();
        let most = references.iter().zip(&known).map(|(one, known)| one.most(&gram, known)).max().unwrap_or(0);
        if let Some(correct) = correct.get_mut(order.wrapping_sub(1)) {
            *correct += count.min(most);
        }
    }
    let length = numbers.len();
    let near = references.iter().filter_map(|one| one.closest(length));
    let closest = near.min_by_key(|reference| (reference.abs_diff(length), *reference)).unwrap_or(0);
    Ok(score(&correct, length, closest, effective_order))
}

/// The number of a token, which gets the next one when it is new.
fn number(tokens: &mut HashMap<String, u32>, token: &str) -> u32 {
    if let Some(number) = tokens.get(token) {
        return *number;
    }
    let next = tokens.len() as u32;
    tokens.insert(token.to_owned(), next);
    next
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

/// The tokens of `mteval-v13a`, one by one: a long text is never there as a list of them.
fn each_token(text: &[u8], mut found: impl FnMut(&str)) -> Result<(), TooLong> {
    if text.len() > MAX_TEXT {
        return Err(TooLong);
    }
    let text = String::from_utf8_lossy(rstrip(text));
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if text.contains('&') {
        text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    }
    let spaced =
        text.chars().flat_map(|c| if is_sign(c) { [Some(' '), Some(c), Some(' ')] } else { [Some(c), None, None] });
    let spaced = once(' ').chain(spaced.flatten()).chain(once(' '));
    let is_stop = |c: char| c == '.' || c == ',';
    let is_digit = |c: char| c.is_ascii_digit();
    // A stop is cut off unless digits stand on both sides, a dash if a digit stands before it.
    let spaced = Pairs::of(spaced, |a, b| (!is_digit(a) && is_stop(b)).then_some([a, ' ', b, ' ']));
    let spaced = Pairs::of(spaced, |a, b| (is_stop(a) && !is_digit(b)).then_some([' ', a, ' ', b]));
    let spaced = Pairs::of(spaced, |a, b| (is_digit(a) && b == '-').then_some([a, ' ', b, ' ']));
    let (mut token, mut count) = (String::new(), 0);
    for c in spaced {
        if !is_space(c) {
            token.push(c);
        } else if !token.is_empty() {
            found(&token);
            token.clear();
            count += 1;
            if count > MAX_TOKENS {
                return Err(TooLong);
            }
        }
    }
    Ok(())
}

/// Signs that always stand alone: of ASCII all but `'`, `,`, `-` and `.`.
const fn is_sign(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// Replaces pairs of characters from left to right; a character belongs to one pair.
struct Pairs<I: Iterator<Item = char>, F> {
    rest: Peekable<I>,
    becomes: F,
    ready: Option<IntoIter<char, 4>>,
}

impl<I: Iterator<Item = char>, F: Fn(char, char) -> Option<[char; 4]>> Pairs<I, F> {
    fn of(text: I, becomes: F) -> Self {
        Self { rest: text.peekable(), becomes, ready: None }
    }
}

impl<I: Iterator<Item = char>, F: Fn(char, char) -> Option<[char; 4]>> Iterator for Pairs<I, F> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        if let Some(c) = self.ready.as_mut().and_then(Iterator::next) {
            return Some(c);
        }
        let first = self.rest.next()?;
        let Some(becomes) = self.rest.peek().and_then(|second| (self.becomes)(first, *second)) else {
            return Some(first);
        };
        self.rest.next();
        self.ready = Some(becomes.into_iter());
        self.ready.as_mut().and_then(Iterator::next)
    }
}
