//! Patterns without look-around and references, for `regex-automata`: its time is bounded by the size of the pattern
//! times the length of the text.

use regex_automata::meta;
use regex_automata::nfa::thompson;
use regex_syntax::hir::{Class, Hir, Look, Repetition};

use super::element::{Element, Mood, Place};

/// A larger automaton takes too long to build.
const MAX_BYTES: usize = 4 << 20;
/// States times bytes; more is not begun.
const MAX_WORK: usize = 200_000_000;

#[derive(Debug)]
pub(super) struct Linear {
    regex: meta::Regex,
    states: usize,
}

/// Shape of the question and the text.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Shape {
    /// The whole text is to match.
    pub(super) whole: bool,
    /// The text ends in a line break, before which `$` holds too.
    pub(super) line_break: bool,
}

impl Linear {
    /// `None`: the pattern needs more than this, or more room.
    pub(super) fn new(root: &Element, shape: Shape) -> Option<Self> {
        let mut hir = hir(root, true, shape)?;
        if shape.whole {
            hir = Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)]);
        }
        let config = thompson::Config::new().nfa_size_limit(Some(MAX_BYTES));
        let states = thompson::Compiler::new().configure(config).build_from_hir(&hir).ok()?.states().len();
        let config = meta::Config::new().nfa_size_limit(Some(MAX_BYTES));
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir).ok()?;
        Some(Self { regex, states })
    }

    /// True if it cannot take long on so many bytes.
    pub(super) const fn can(&self, bytes: usize) -> bool {
        self.states.saturating_mul(bytes) <= MAX_WORK
    }

    /// Start of the first match, in bytes.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        self.regex.find(text).map(|found| found.start())
    }
}

/// `last`: nothing of the pattern stands behind it.
fn hir(node: &Element, last: bool, shape: Shape) -> Option<Hir> {
    let below = |node: &Element| hir(node, last, shape);
    Some(match node {
        Element::Char(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Element::Set(class) => Hir::class(Class::Unicode((**class).clone())),
        Element::At(Place::TextStart) => Hir::look(Look::Start),
        Element::At(Place::TextEnd) => Hir::look(Look::End),
        Element::At(Place::LineStart) => Hir::look(Look::StartLF),
        Element::At(Place::LineEnd) => Hir::look(Look::EndLF),
        Element::At(Place::End) if !shape.line_break || (last && shape.whole) => Hir::look(Look::End),
        Element::At(Place::End) if last => {
            let line_break = Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(Hir::literal(*b"\n")) };
            Hir::concat(vec![Hir::repetition(line_break), Hir::look(Look::End)])
        }
        Element::At(Place::Boundary { not, ascii: false }) => {
            Hir::look(if *not { Look::WordUnicodeNegate } else { Look::WordUnicode })
        }
        Element::Group { node, .. } => below(node)?,
        Element::List(nodes) => {
            let each = nodes.iter().enumerate().map(|(n, node)| hir(node, last && n + 1 == nodes.len(), shape));
            Hir::concat(each.collect::<Option<_>>()?)
        }
        Element::Either(nodes) => Hir::alternation(nodes.iter().map(below).collect::<Option<_>>()?),
        Element::Repeat { node, least, most, mood: mood @ (Mood::Greedy | Mood::Lazy) } => {
            let max = most.map(u32::try_from).transpose().ok()?;
            let sub = Box::new(hir(node, false, shape)?);
            Hir::repetition(Repetition { min: u32::try_from(*least).ok()?, max, greedy: *mood == Mood::Greedy, sub })
        }
        Element::At(_)
        | Element::Repeat { .. }
        | Element::Look { .. }
        | Element::Back { .. }
        | Element::If { .. }
        | Element::Atomic(_) => return None,
    })
}
