//! Patterns of Python's `re`, matched as Python matches them, but never for long.
//!
//! A pattern is parsed as Python parses it. Nearly every one then goes to `regex-automata`, whose time is linear in the
//! text. What that cannot do exactly as Python does (look-around, references, atomic groups, a `$` in the middle, word
//! boundaries beside combining marks) is done by a machine that tries and turns back as CPython does, and gives up
//! after a number of steps. (`fancy-regex` limits how often it turns back; but one step of it can look at all the text,
//! and it took minutes.)

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use crate::pieces::{Piece, pieces};
use element::Element;
use linear::{Linear, Shape};
use machine::Program;

mod element;
mod linear;
mod machine;
mod parse;
mod refused;

pub use refused::{PatternError, Undecided};

/// Nobody wrote a longer pattern, and each of its classes takes several kilobytes.
const MAX_PATTERN: usize = 10_000;
/// A longer text is not given to the machine that turns back.
const MAX_TEXT: usize = 8 << 20;

/// One pattern.
#[derive(Debug)]
pub struct Pattern {
    text: String,
    root: Element,
    program: Program,
    /// It asks for boundaries of words.
    bounds: bool,
    /// Built for each [`Shape`] when it is first needed.
    linear: [OnceLock<Option<Linear>>; 4],
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.chars().nth(MAX_PATTERN).is_some() {
            return Err(PatternError::new("the pattern is longer than 10,000 characters", MAX_PATTERN));
        }
        let parsed = parse::parse(text)?;
        let program = Program::new(&parsed.root, parsed.groups);
        let bounds = text.contains(r"\b") || text.contains(r"\B");
        Ok(Self { text: text.to_owned(), root: parsed.root, program, bounds, linear: Default::default() })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Python's `search`: where the first match begins, in characters.
    pub fn search(&self, text: &[u8]) -> Result<Option<usize>, Undecided> {
        self.find(&readable(text), false)
    }

    /// True if Python's `search` finds anything.
    pub fn is_in(&self, text: &[u8]) -> Result<bool, Undecided> {
        self.search(text).map(|found| found.is_some())
    }

    /// True if Python's `fullmatch` takes the text.
    pub fn is_all_of(&self, text: &[u8]) -> Result<bool, Undecided> {
        self.find(&readable(text), true).map(|found| found.is_some())
    }

    fn find(&self, text: &str, whole: bool) -> Result<Option<usize>, Undecided> {
        let shape = Shape { whole, line_break: text.ends_with('\n') };
        let odd = self.bounds && (text.is_empty() || has_marks(text));
        if let Some(linear) = self.linear(shape).filter(|linear| !odd && linear.can(text.len())) {
            let found = linear.find(text);
            return Ok(found.map(|at| text[..at].chars().count()));
        }
        if text.len() > MAX_TEXT {
            return Err(Undecided);
        }
        let chars: Vec<char> = text.chars().collect();
        self.program.find(&chars, whole)
    }

    fn linear(&self, shape: Shape) -> Option<&Linear> {
        let number = usize::from(shape.whole) + 2 * usize::from(shape.line_break);
        self.linear.get(number)?.get_or_init(|| Linear::new(&self.root, shape)).as_ref()
    }
}

/// Text without what is no character: half surrogate pairs and stray bytes become replacement characters, which
/// patterns treat alike.
fn readable(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(
            pieces(text)
                .map(|(_, piece)| if let Piece::Char(c) = piece { c } else { char::REPLACEMENT_CHARACTER })
                .collect(),
        ),
    }
}

/// True if the text holds characters that only one side takes for parts of words: Unicode's rule, or Python's.
fn has_marks(text: &str) -> bool {
    static MARKS: LazyLock<Option<regex::Regex>> =
        LazyLock::new(|| regex::Regex::new(r"[\w~~[[\p{L}\p{N}_]&&\p{Age:14.0}]]").ok());
    !text.is_ascii() && MARKS.as_ref().is_none_or(|marks| marks.is_match(text))
}

#[cfg(test)]
mod tests;
