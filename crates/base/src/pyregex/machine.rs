//! Any pattern, matched as CPython's engine does it: by trying and turning back, but counting its steps. One step looks
//! at one character, so that the count bounds the time, as no limit on turning back does.

use std::sync::Arc;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::element::{Case, Element, Mood, Place};
use super::parse;
use super::refused::Undecided;
use crate::unicode::holds;
use crate::work;

/// Most steps of one search: about a second. Tests do not wait so long.
const MAX_STEPS: usize = if cfg!(test) { 1_000_000 } else { 100_000_000 };
/// The work of one step.
const STEP: u64 = 10;
/// Most places to turn back to that are kept.
const MAX_STACK: usize = 2_000_000;

/// A pattern as a list of instructions.
#[derive(Debug)]
pub(super) struct Program {
    ops: Vec<Op>,
    groups: usize,
    loops: usize,
}

/// Goes on with the next instruction, unless it says otherwise.
#[derive(Debug)]
enum Op {
    Char(char),
    Set(CharSet),
    /// One character of a set, many times.
    Run {
        set: CharSet,
        least: usize,
        most: usize,
        mood: Mood,
    },
    /// Goes on at one instruction, and if that fails at the other.
    Either {
        first: usize,
        second: usize,
    },
    Jump(usize),
    /// The place is a group's beginning or end.
    Save(usize),
    At(Place),
    /// A loop begins anew.
    Enter(usize),
    /// Once more (the next instruction), or behind the loop.
    Loop {
        number: usize,
        least: u64,
        most: Option<u64>,
        lazy: bool,
        behind: usize,
    },
    /// Once more it is.
    Again {
        number: usize,
        least: u64,
    },
    /// The part up to `Done` matches so many characters back; then on from `behind`.
    Look {
        back: usize,
        not: bool,
        behind: usize,
    },
    /// The part up to `Done` is not tried another way; then on from `behind`.
    Atomic {
        behind: usize,
    },
    Back {
        group: usize,
        case: Case,
    },
    /// Goes on elsewhere if the group has not matched.
    Unless {
        group: usize,
        otherwise: usize,
    },
    Done,
    Match,
}

#[derive(Debug)]
struct CharSet {
    ascii: u128,
    class: Arc<ClassUnicode>,
}

impl CharSet {
    fn new(class: Arc<ClassUnicode>) -> Self {
        let ascii = ('\0'..='\x7f').filter(|c| holds(&class, *c)).fold(0, |bits, c| bits | 1 << u32::from(c));
        Self { ascii, class }
    }

    fn holds(&self, c: char) -> bool {
        if c.is_ascii() { self.ascii >> u32::from(c) & 1 == 1 } else { holds(&self.class, c) }
    }
}

impl Program {
    pub(super) fn new(root: &Element, groups: usize) -> Self {
        let mut program = Self { ops: Vec::new(), groups, loops: 0 };
        program.node(root);
        program.ops.push(Op::Match);
        program
    }

    fn here(&self) -> usize {
        self.ops.len()
    }

    /// Makes room for an instruction that needs to know what comes.
    fn reserve(&mut self) -> usize {
        self.ops.push(Op::Done);
        self.here() - 1
    }

    fn put(&mut self, at: usize, op: Op) {
        if let Some(place) = self.ops.get_mut(at) {
            *place = op;
        }
    }

    fn node(&mut self, node: &Element) {
        match node {
            Element::Char(c) => self.ops.push(Op::Char(*c)),
            Element::Set(class) => self.ops.push(Op::Set(CharSet::new(Arc::clone(class)))),
            Element::At(place) => self.ops.push(Op::At(*place)),
            Element::Group { number, node } => {
                self.ops.push(Op::Save(2 * number));
                self.node(node);
                self.ops.push(Op::Save(2 * number + 1));
            }
            Element::List(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Element::Either(nodes) => self.either(nodes),
            Element::Repeat { node, least, most, mood } => self.repeat(node, *least, *most, *mood),
            Element::Look { back, not, node } => {
                let at = self.reserve();
                self.node(node);
                self.ops.push(Op::Done);
                self.put(at, Op::Look { back: *back as usize, not: *not, behind: self.here() });
            }
            Element::Atomic(node) => {
                let at = self.reserve();
                self.node(node);
                self.ops.push(Op::Done);
                self.put(at, Op::Atomic { behind: self.here() });
            }
            Element::Back { group, case } => self.ops.push(Op::Back { group: *group as usize, case: *case }),
            Element::If { group, then, otherwise } => {
                let at = self.reserve();
                self.node(then);
                let jump = self.reserve();
                self.put(at, Op::Unless { group: *group as usize, otherwise: self.here() });
                self.node(otherwise);
                self.put(jump, Op::Jump(self.here()));
            }
        }
    }

    fn either(&mut self, nodes: &[Element]) {
        let mut jumps = Vec::new();
        for (n, node) in nodes.iter().enumerate() {
            if n + 1 == nodes.len() {
                self.node(node);
                break;
            }
            let at = self.reserve();
            self.node(node);
            jumps.push(self.reserve());
            self.put(at, Op::Either { first: at + 1, second: self.here() });
        }
        for jump in jumps {
            self.put(jump, Op::Jump(self.here()));
        }
    }

    fn repeat(&mut self, node: &Element, least: u64, most: Option<u64>, mood: Mood) {
        let one = match node {
            Element::Char(c) => Some(CharSet::new(Arc::new(ClassUnicode::new([ClassUnicodeRange::new(*c, *c)])))),
            Element::Set(class) => Some(CharSet::new(Arc::clone(class))),
            _ => None,
        };
        if let Some(set) = one {
            let most = most.map_or(usize::MAX, |most| most as usize);
            return self.ops.push(Op::Run { set, least: least as usize, most, mood });
        }
        if mood == Mood::Possessive {
            // As CPython has it: neither the loop nor any of its rounds is tried another way.
            let round = Element::Atomic(Box::new(node.clone()));
            let all = Element::Repeat { node: Box::new(round), least, most, mood: Mood::Greedy };
            return self.node(&Element::Atomic(Box::new(all)));
        }
        let number = self.loops;
        self.loops += 1;
        self.ops.push(Op::Enter(number));
        let at = self.reserve();
        self.ops.push(Op::Again { number, least });
        self.node(node);
        self.ops.push(Op::Jump(at));
        self.put(at, Op::Loop { number, least, most, lazy: mood == Mood::Lazy, behind: self.here() });
    }

    /// Start of the first match, in characters.
    pub(super) fn find(&self, text: &[char], whole: bool) -> Result<Option<usize>, Undecided> {
        let mut machine = Machine {
            program: self,
            text,
            whole,
            groups: vec![None; 2 * self.groups],
            loops: vec![Round::default(); self.loops],
            stack: Vec::new(),
            steps: 0,
            most: (work::left(work::allowance(text.len())) / STEP).min(MAX_STEPS as u64) as usize,
        };
        let found = machine.find();
        work::pay(machine.steps as u64 * STEP);
        found
    }
}

/// Progress of a loop.
#[derive(Clone, Copy, Default, Debug)]
struct Round {
    count: u64,
    /// Start of its last round, once it has made as many as it must: one that takes nothing is the last.
    began: Option<usize>,
}

/// Actions for a way that fails, from the top of the stack.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// Go on there.
    Way { op: usize, at: usize },
    /// Give back one of the characters that a run took, as long as any is left.
    Shorter { op: usize, from: usize, at: usize },
    /// Take one character more, up to a number.
    Longer { op: usize, at: usize, left: usize },
    /// Undo.
    Group { slot: usize, was: Option<usize> },
    /// Undo.
    Round { number: usize, was: Round },
}

struct Machine<'p> {
    program: &'p Program,
    text: &'p [char],
    whole: bool,
    groups: Vec<Option<usize>>,
    loops: Vec<Round>,
    stack: Vec<Entry>,
    steps: usize,
    most: usize,
}

/// Result of one instruction.
enum Step {
    Next(usize, usize),
    Fails,
    Ends(usize),
}

impl Machine<'_> {
    fn find(&mut self) -> Result<Option<usize>, Undecided> {
        let last = if self.whole { 0 } else { self.text.len() };
        for start in 0..=last {
            if self.run(0, start)?.is_some() {
                return Ok(Some(start));
            }
        }
        Ok(None)
    }

    /// Matches from an instruction on. What it leaves on the stack are other ways to do so.
    fn run(&mut self, op: usize, at: usize) -> Result<Option<usize>, Undecided> {
        let base = self.stack.len();
        let (mut op, mut at) = (op, at);
        loop {
            (op, at) = match self.step(op, at)? {
                Step::Next(op, at) => (op, at),
                Step::Ends(at) => return Ok(Some(at)),
                Step::Fails => match self.turn_back(base) {
                    Some(way) => way,
                    None => return Ok(None),
                },
            };
        }
    }

    fn spend(&mut self, steps: usize) -> Result<(), Undecided> {
        self.steps += steps;
        if self.steps > self.most || self.stack.len() > MAX_STACK { Err(Undecided) } else { Ok(()) }
    }

    fn step(&mut self, op: usize, at: usize) -> Result<Step, Undecided> {
        self.spend(1)?;
        let program = self.program;
        let next = Step::Next(op + 1, at);
        let when = |holds: bool, at: usize| if holds { Step::Next(op + 1, at) } else { Step::Fails };
        Ok(match program.ops.get(op) {
            Some(Op::Char(c)) => when(self.text.get(at) == Some(c), at + 1),
            Some(Op::Set(set)) => when(self.text.get(at).is_some_and(|c| set.holds(*c)), at + 1),
            Some(Op::Run { set, least, most, mood }) => return self.run_of(op, at, set, (*least, *most), *mood),
            Some(Op::Either { first, second }) => {
                self.stack.push(Entry::Way { op: *second, at });
                Step::Next(*first, at)
            }
            Some(Op::Jump(to)) => Step::Next(*to, at),
            Some(Op::Save(slot)) => {
                if let Some(group) = self.groups.get_mut(*slot) {
                    self.stack.push(Entry::Group { slot: *slot, was: *group });
                    *group = Some(at);
                }
                next
            }
            Some(Op::At(place)) => when(self.is_at(*place, at), at),
            Some(Op::Enter(number)) => {
                self.set_round(*number, Round::default());
                next
            }
            Some(Op::Loop { number, least, most, lazy, behind }) => {
                let Round { count, began } = self.round(*number);
                if count < *least {
                    next
                } else if most.is_some_and(|most| count >= most) || began == Some(at) {
                    Step::Next(*behind, at)
                } else {
                    let (first, second) = if *lazy { (*behind, op + 1) } else { (op + 1, *behind) };
                    self.stack.push(Entry::Way { op: second, at });
                    Step::Next(first, at)
                }
            }
            Some(Op::Again { number, least }) => {
                let Round { count, began } = self.round(*number);
                let began = if count < *least { began } else { Some(at) };
                self.set_round(*number, Round { count: count + 1, began });
                next
            }
            Some(Op::Look { back, not, behind }) => {
                let base = self.stack.len();
                let found = match at.checked_sub(*back) {
                    Some(from) => self.run(op + 1, from)?.is_some(),
                    None => false,
                };
                if found && !not {
                    self.keep(base);
                } else {
                    self.drop_to(base);
                }
                if found == *not { Step::Fails } else { Step::Next(*behind, at) }
            }
            Some(Op::Atomic { behind }) => {
                let base = self.stack.len();
                match self.run(op + 1, at)? {
                    Some(end) => {
                        self.keep(base);
                        Step::Next(*behind, end)
                    }
                    None => Step::Fails,
                }
            }
            Some(Op::Back { group, case }) => match self.group(*group) {
                Some((from, to)) => {
                    let len = to.saturating_sub(from);
                    self.spend(len / 4)?;
                    when(self.is_again(from, at, len, *case), at + len)
                }
                None => Step::Fails,
            },
            Some(Op::Unless { group, otherwise }) => match self.group(*group) {
                Some(_) => next,
                None => Step::Next(*otherwise, at),
            },
            Some(Op::Match) if self.whole && at != self.text.len() => Step::Fails,
            Some(Op::Match | Op::Done) | None => Step::Ends(at),
        })
    }

    fn run_of(
        &mut self,
        op: usize,
        at: usize,
        set: &CharSet,
        (least, most): (usize, usize),
        mood: Mood,
    ) -> Result<Step, Undecided> {
        let rest = &self.text[at..];
        let wanted = if mood == Mood::Lazy { least } else { most };
        let taken = rest.iter().take(wanted).take_while(|c| set.holds(**c)).count();
        // A run is quicker than steps.
        self.spend(taken / 4)?;
        if taken < least {
            return Ok(Step::Fails);
        }
        match mood {
            Mood::Greedy if taken > least => {
                self.stack.push(Entry::Shorter { op: op + 1, from: at + least, at: at + taken });
            }
            Mood::Lazy if least < most => self.stack.push(Entry::Longer { op, at: at + least, left: most - least }),
            _ => {}
        }
        Ok(Step::Next(op + 1, at + taken))
    }

    /// The next way to try, if one is left above the base of the stack.
    fn turn_back(&mut self, base: usize) -> Option<(usize, usize)> {
        while self.stack.len() > base {
            match self.stack.pop()? {
                Entry::Way { op, at } => return Some((op, at)),
                Entry::Shorter { op, from, at } => {
                    let at = self.shorter(op, from, at);
                    if at > from {
                        self.stack.push(Entry::Shorter { op, from, at });
                    }
                    return Some((op, at));
                }
                Entry::Longer { op, at, left } => {
                    let Some(Op::Run { set, .. }) = self.program.ops.get(op) else { continue };
                    if self.text.get(at).is_some_and(|c| set.holds(*c)) {
                        if left > 1 {
                            self.stack.push(Entry::Longer { op, at: at + 1, left: left - 1 });
                        }
                        return Some((op + 1, at + 1));
                    }
                }
                entry => self.undo(entry),
            }
        }
        None
    }

    /// End of a run that gives characters back: at least one, and more where a character must follow that is not
    /// there.
    fn shorter(&mut self, op: usize, from: usize, at: usize) -> usize {
        let last = at.saturating_sub(1);
        let Some(Op::Char(wanted)) = self.program.ops.get(op) else { return last };
        let rest = &self.text[from..at];
        let found = rest.iter().rposition(|c| c == wanted).map_or(from, |n| from + n);
        self.steps += (last - found) / 4;
        found
    }

    fn undo(&mut self, entry: Entry) {
        match entry {
            Entry::Group { slot, was } => {
                if let Some(group) = self.groups.get_mut(slot) {
                    *group = was;
                }
            }
            Entry::Round { number, was } => {
                if let Some(round) = self.loops.get_mut(number) {
                    *round = was;
                }
            }
            Entry::Way { .. } | Entry::Shorter { .. } | Entry::Longer { .. } => {}
        }
    }

    /// Forgets other ways, but not what has to be undone.
    fn keep(&mut self, base: usize) {
        let mut kept = base;
        for n in base..self.stack.len() {
            if let Some(entry @ (Entry::Group { .. } | Entry::Round { .. })) = self.stack.get(n).copied()
                && let Some(place) = self.stack.get_mut(kept)
            {
                *place = entry;
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    /// Forgets other ways and undoes what was done.
    fn drop_to(&mut self, base: usize) {
        while self.stack.len() > base {
            if let Some(entry) = self.stack.pop() {
                self.undo(entry);
            }
        }
    }

    fn round(&self, number: usize) -> Round {
        self.loops[number]
    }

    fn set_round(&mut self, number: usize, to: Round) {
        if let Some(round) = self.loops.get_mut(number) {
            self.stack.push(Entry::Round { number, was: *round });
            *round = to;
        }
    }

    fn group(&self, group: usize) -> Option<(usize, usize)> {
        let slot = |n: usize| self.groups.get(n).copied().flatten();
        Some((slot(2 * group)?, slot(2 * group + 1)?))
    }

    /// True if the text at one place is at the other too.
    fn is_again(&self, from: usize, at: usize, len: usize, case: Case) -> bool {
        let part = |from: usize| self.text.get(from..from.saturating_add(len));
        let lower = |c: char| c.to_lowercase().next().unwrap_or(c);
        let same = |(a, b): (&char, &char)| match case {
            Case::Counts => a == b,
            Case::Ascii => a.eq_ignore_ascii_case(b),
            Case::Unicode => lower(*a) == lower(*b),
        };
        match (part(from), part(at)) {
            (Some(first), Some(second)) => first.iter().zip(second).all(same),
            _ => false,
        }
    }

    fn is_at(&self, place: Place, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|n| self.text.get(n)).copied();
        let (here, len) = (self.text.get(at).copied(), self.text.len());
        match place {
            Place::TextStart => at == 0,
            Place::TextEnd => at == len,
            Place::LineStart => before.is_none_or(|c| c == '\n'),
            Place::LineEnd => here.is_none_or(|c| c == '\n'),
            Place::End => at == len || (at + 1 == len && here == Some('\n')),
            // Up to Python 3.13 nothing holds in an empty text.
            Place::Boundary { not, ascii } => len > 0 && (is_word(before, ascii) != is_word(here, ascii)) != not,
        }
    }
}

fn is_word(c: Option<char>, ascii: bool) -> bool {
    let Some(c) = c else { return false };
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    !ascii && holds(&parse::WORD, c)
}
