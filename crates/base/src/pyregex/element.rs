//! Parts of a pattern.

use std::sync::Arc;

use regex_syntax::hir::ClassUnicode;

/// A part of a pattern; what the flags do to it is part of it.
#[derive(Clone, Debug)]
pub(super) enum Element {
    Char(char),
    Set(Arc<ClassUnicode>),
    At(Place),
    Group {
        number: usize,
        node: Box<Element>,
    },
    List(Vec<Element>),
    Either(Vec<Element>),
    Repeat {
        node: Box<Element>,
        least: u64,
        most: Option<u64>,
        mood: Mood,
    },
    /// A look-ahead, or so many characters back.
    Look {
        back: u64,
        not: bool,
        node: Box<Element>,
    },
    Back {
        group: u32,
        case: Case,
    },
    If {
        group: u32,
        then: Box<Element>,
        otherwise: Box<Element>,
    },
    Atomic(Box<Element>),
}

/// Between two characters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    /// `$` outside of multi-line patterns.
    End,
    Boundary {
        not: bool,
        ascii: bool,
    },
}

/// Letters that count as the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Case {
    Counts,
    Ascii,
    Unicode,
}

/// Manner in which a repetition takes what it may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mood {
    Greedy,
    Lazy,
    Possessive,
}
