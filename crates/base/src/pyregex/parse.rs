//! The syntax of Python's `re`, as `re.compile` of Python 3.11 reads it.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::element::{Case, Element, Mood, Place};
use super::refused::PatternError;
use crate::unicode::{self, holds};

/// Deeper groups are refused; every level costs stack.
const MAX_NESTING: usize = 100;
/// Python's sign of no upper bound.
const MAX_REPEAT: u64 = u32::MAX as u64;

/// Python takes these for one letter where case does not count; Unicode's folding does not.
const ONE_LETTER: [char; 4] = ['i', 'I', 'İ', 'ı'];

/// A pattern that was understood.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) root: Element,
    /// Number of groups, the whole pattern counted as one.
    pub(super) groups: usize,
}

/// One part of a set, or what an escape stands for.
enum Item {
    Char(char),
    Class(ClassUnicode),
}

type Parse<T> = Result<T, PatternError>;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "these are Python's flags")]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) verbose: bool,
    pub(super) ascii: bool,
    /// Deprecated: the pattern may not repeat anything.
    pub(super) template: bool,
}

struct Parser<'p> {
    chars: &'p [char],
    at: usize,
    flags: Flags,
    depth: usize,
    /// Of every group its widths, once it is closed; the whole pattern is the first.
    groups: Vec<Option<Width>>,
    names: HashMap<String, u32>,
    /// `a` or `u`, where the whole pattern has that flag.
    sort: Option<char>,
    /// Number of groups before each look-behind around here.
    behind: Option<u32>,
    /// Conditions on groups that may come later, and where they stand.
    conditions: Vec<(u32, usize)>,
}

/// The least and greatest length of what a node matches, in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Width(u64, u64);

pub(super) fn parse(pattern: &str) -> Parse<Parsed> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut parser = Parser {
        chars: &chars,
        at: 0,
        flags: Flags::default(),
        depth: 0,
        groups: vec![None],
        names: HashMap::new(),
        sort: None,
        behind: None,
        conditions: Vec::new(),
    };
    let root = parser.alternatives(true)?;
    if parser.peek().is_some() {
        return Err(parser.fail("unmatched closing parenthesis"));
    }
    let groups = parser.groups.len();
    if let Some(&(_, at)) = parser.conditions.iter().find(|(group, _)| *group as usize >= groups) {
        return Err(PatternError::new("no group has this number", at));
    }
    Ok(Parsed { root, groups })
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn fail(&self, what: &'static str) -> PatternError {
        PatternError::new(what, self.at)
    }

    /// The characters up to an end, which is passed.
    fn until(&mut self, end: char) -> Parse<String> {
        let start = self.at;
        let text: String = self.chars.iter().skip(self.at).take_while(|c| **c != end).collect();
        self.at += text.chars().count();
        if self.eat(end) { Ok(text) } else { Err(PatternError::new("not closed", start)) }
    }

    /// Passes a comment; true if its end is there. In it too a backslash hides the next character.
    fn comment(&mut self, end: char) -> Parse<bool> {
        while let Some(c) = self.next() {
            if c == end {
                return Ok(true);
            }
            if c == '\\' && self.next().is_none() {
                return Err(PatternError::new("backslash at the end", self.at - 1));
            }
        }
        Ok(false)
    }

    /// As many of these digits as there are, up to a number of them.
    fn digits(&mut self, radix: u32, most: usize) -> String {
        let text: String = self.chars.iter().skip(self.at).take(most).take_while(|c| c.is_digit(radix)).collect();
        self.at += text.len();
        text
    }

    fn alternatives(&mut self, first: bool) -> Parse<Element> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.fail("groups are nested more than 100 deep"));
        }
        let mut branches = vec![self.sequence(first)?];
        while self.eat('|') {
            branches.push(self.sequence(false)?);
        }
        self.depth -= 1;
        Ok(match (branches.pop(), branches.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                branches.extend(last);
                Element::Either(branches)
            }
        })
    }

    /// `first`: flags for the whole pattern may stand here.
    fn sequence(&mut self, first: bool) -> Parse<Element> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek().filter(|c| !matches!(c, '|' | ')')) {
            let start = self.at;
            self.at += 1;
            let flags = self.flags;
            let node = match c {
                ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c' if flags.verbose => continue,
                '#' if flags.verbose => {
                    self.comment('\n')?;
                    continue;
                }
                '\\' => self.escape()?,
                '[' => Element::Set(self.set(start)?.into()),
                '*' | '+' | '?' | '{' => match self.repeat(c, start)? {
                    Some((least, most)) => self.repeated(nodes.pop(), (least, most), start)?,
                    None => self.character('{'),
                },
                '.' => Element::Set(any(flags.dot_all).into()),
                '^' if flags.multi_line => Element::At(Place::LineStart),
                '^' => Element::At(Place::TextStart),
                '$' if flags.multi_line => Element::At(Place::LineEnd),
                '$' => Element::At(Place::End),
                '(' => match self.group(start, first && nodes.is_empty())? {
                    Some(node) => node,
                    None => continue,
                },
                _ => self.character(c),
            };
            nodes.push(node);
        }
        Ok(Element::List(nodes))
    }

    fn character(&self, c: char) -> Element {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
        self.fold(&mut class);
        match class.ranges() {
            [only] if only.start() == only.end() => Element::Char(c),
            _ => Element::Set(class.into()),
        }
    }

    /// Adds the letters of the other case, where case does not count.
    fn fold(&self, class: &mut ClassUnicode) {
        match self.case() {
            Case::Counts => {}
            Case::Ascii => {
                let letters = ClassUnicode::new([('a', 'z'), ('A', 'Z')].map(|(a, z)| ClassUnicodeRange::new(a, z)));
                let mut other = class.clone();
                other.intersect(&letters);
                // Of ASCII letters two others fold to letters beyond ASCII.
                other.case_fold_simple();
                other.intersect(&letters);
                class.union(&other);
            }
            Case::Unicode => {
                let one = ClassUnicode::new(ONE_LETTER.map(|c| ClassUnicodeRange::new(c, c)));
                let mut both = one.clone();
                both.intersect(class);
                if !both.ranges().is_empty() {
                    class.union(&one);
                }
                class.case_fold_simple();
            }
        }
    }

    const fn case(&self) -> Case {
        match (self.flags.ignore_case, self.flags.ascii) {
            (false, _) => Case::Counts,
            (true, true) => Case::Ascii,
            (true, false) => Case::Unicode,
        }
    }

    /// The bounds of a repetition; `None`: this brace stands for itself.
    fn repeat(&mut self, c: char, start: usize) -> Parse<Option<(u64, Option<u64>)>> {
        match c {
            '*' => return Ok(Some((0, None))),
            '+' => return Ok(Some((1, None))),
            '?' => return Ok(Some((0, Some(1)))),
            _ => {}
        }
        let after = self.at;
        let (least, comma) = (self.digits(10, usize::MAX), self.eat(','));
        let most = if comma { self.digits(10, usize::MAX) } else { least.clone() };
        if !self.eat('}') || self.at == after + 1 {
            self.at = after;
            return Ok(None);
        }
        let bound = |digits: &str| match digits.parse::<u64>() {
            Ok(n) if n < MAX_REPEAT => Ok(Some(n)),
            _ if digits.is_empty() => Ok(None),
            _ => Err(PatternError::new("too many repetitions", start)),
        };
        let (least, most) = (bound(&least)?.unwrap_or(0), bound(&most)?);
        if most.is_some_and(|most| most < least) {
            return Err(PatternError::new("the minimum number of repetitions is above the maximum", start));
        }
        Ok(Some((least, most)))
    }

    fn repeated(&mut self, node: Option<Element>, bounds: (u64, Option<u64>), start: usize) -> Parse<Element> {
        let node = match node {
            _ if self.flags.template => {
                return Err(PatternError::new("nothing can be repeated under the flag t", start));
            }
            None | Some(Element::At(_)) => return Err(PatternError::new("nothing to repeat", start)),
            Some(Element::Repeat { .. }) => return Err(PatternError::new("a repetition cannot be repeated", start)),
            Some(node) => Box::new(node),
        };
        let mood = match () {
            () if self.eat('?') => Mood::Lazy,
            () if self.eat('+') => Mood::Possessive,
            () => Mood::Greedy,
        };
        Ok(Element::Repeat { node, least: bounds.0, most: bounds.1, mood })
    }

    /// A group of any sort; `None`: a comment, or flags for the whole pattern.
    fn group(&mut self, start: usize, first: bool) -> Parse<Option<Element>> {
        if !self.eat('?') {
            return self.capture(start).map(Some);
        }
        let unclosed = PatternError::new("group not closed", start);
        let Some(c) = self.next() else { return Err(unclosed) };
        Ok(Some(match c {
            'P' => match self.next() {
                Some('<') => {
                    let at = self.at;
                    let name = self.until('>')?;
                    self.name(name, at)?;
                    self.capture(start)?
                }
                Some('=') => {
                    let at = self.at;
                    let name = self.until(')')?;
                    let group = self.names.get(&name).copied();
                    self.reference(group.ok_or(PatternError::new("no group has this name", at))?, at)?
                }
                _ => return Err(PatternError::new("unknown kind of group", start)),
            },
            ':' => self.body(start)?,
            '#' if self.comment(')')? => return Ok(None),
            '#' => return Err(unclosed),
            '=' => self.look(start, false, false)?,
            '!' => self.look(start, false, true)?,
            '<' => match self.next() {
                Some('=') => self.look(start, true, false)?,
                Some('!') => self.look(start, true, true)?,
                _ => return Err(PatternError::new("unknown kind of group", start)),
            },
            '>' => Element::Atomic(Box::new(self.body(start)?)),
            '(' => self.condition(start)?,
            _ => {
                self.at -= 1;
                return self.flags(start, first);
            }
        }))
    }

    fn name(&mut self, name: String, at: usize) -> Parse<()> {
        let mut chars = name.chars();
        let begins = chars.next().is_some_and(|c| holds(&NAME_START, c));
        if !begins || !chars.all(|c| holds(&NAME, c)) {
            return Err(PatternError::new("invalid group name", at));
        }
        match self.names.insert(name, self.groups.len() as u32) {
            None => Ok(()),
            Some(_) => Err(PatternError::new("duplicate group name", at)),
        }
    }

    fn capture(&mut self, start: usize) -> Parse<Element> {
        let number = self.groups.len();
        self.groups.push(None);
        let node = self.body(start)?;
        let width = self.width(&node);
        if let Some(group) = self.groups.get_mut(number) {
            *group = Some(width);
        }
        Ok(Element::Group { number, node: Box::new(node) })
    }

    /// The part up to the closing parenthesis; flags that are set in it end there.
    fn body(&mut self, start: usize) -> Parse<Element> {
        let flags = self.flags;
        let node = self.alternatives(false)?;
        self.flags = flags;
        if self.eat(')') { Ok(node) } else { Err(PatternError::new("group not closed", start)) }
    }

    fn look(&mut self, start: usize, behind: bool, not: bool) -> Parse<Element> {
        let outer = self.behind;
        if behind && outer.is_none() {
            self.behind = Some(self.groups.len() as u32);
        }
        let node = self.body(start)?;
        self.behind = outer;
        let Width(least, most) = self.width(&node);
        if behind && least != most {
            return Err(PatternError::new("a look-behind must have a fixed length", start));
        }
        Ok(Element::Look { back: if behind { least } else { 0 }, not, node: Box::new(node) })
    }

    fn condition(&mut self, start: usize) -> Parse<Element> {
        let at = self.at;
        let name = self.until(')')?;
        let group = match int(&name) {
            Some(0) => return Err(PatternError::new("no group has this number", at)),
            Some(group) => {
                self.conditions.push((group, at));
                group
            }
            None => *self.names.get(&name).ok_or(PatternError::new("no group has this name", at))?,
        };
        self.may_refer(group, at)?;
        let flags = self.flags;
        let then = self.sequence(false)?;
        let otherwise = if self.eat('|') { self.sequence(false)? } else { Element::List(Vec::new()) };
        self.flags = flags;
        match self.next() {
            Some(')') => Ok(Element::If { group, then: Box::new(then), otherwise: Box::new(otherwise) }),
            Some(_) => Err(PatternError::new("a condition has at most two branches", start)),
            None => Err(PatternError::new("group not closed", start)),
        }
    }

    /// `(?i)` for all that follows, or `(?i-s:...)`.
    fn flags(&mut self, start: usize, first: bool) -> Parse<Option<Element>> {
        let (before, mut flags) = (self.flags, self.flags);
        let (mut on, mut sort, mut any) = (true, None, false);
        let mut turned_on = String::new();
        loop {
            let c = self.next();
            match c {
                Some(c) if !on && turned_on.contains(c) => {
                    return Err(PatternError::new("a flag is turned on and off", start));
                }
                Some(c @ ('a' | 'u')) if on && sort.is_none_or(|sort| sort == c) => {
                    flags.ascii = c == 'a';
                    sort = Some(c);
                }
                Some('i') => flags.ignore_case = on,
                Some('m') => flags.multi_line = on,
                Some('s') => flags.dot_all = on,
                Some('x') => flags.verbose = on,
                Some('t') if on => flags.template = true,
                Some('-') if on => {
                    on = false;
                    any = false;
                    continue;
                }
                Some(')') if on && any && first => {
                    self.sort = match (self.sort, sort) {
                        (Some(a), Some(b)) if a != b => {
                            return Err(PatternError::new("the flags a and u exclude each other", start));
                        }
                        (before, now) => now.or(before),
                    };
                    self.flags = flags;
                    return Ok(None);
                }
                Some(')') if on && any => {
                    return Err(PatternError::new("flags for the whole pattern must be at its beginning", start));
                }
                // The flag t is one of the whole pattern only.
                Some(':') if any && !turned_on.contains('t') => {
                    self.flags = flags;
                    let node = self.body(start)?;
                    self.flags = before;
                    return Ok(Some(node));
                }
                _ => return Err(PatternError::new("unknown kind of group", start)),
            }
            any = true;
            turned_on.extend(c.filter(|_| on));
        }
    }

    fn reference(&mut self, group: u32, at: usize) -> Parse<Element> {
        match self.groups.get(group as usize) {
            None => return Err(PatternError::new("no group has this number", at)),
            Some(None) => return Err(PatternError::new("reference to a group that is still open", at)),
            Some(Some(_)) => {}
        }
        self.may_refer(group, at)?;
        Ok(Element::Back { group, case: self.case() })
    }

    /// A group that a look-behind refers to must be closed before it.
    fn may_refer(&self, group: u32, at: usize) -> Parse<()> {
        let Some(first) = self.behind else { return Ok(()) };
        if group >= first {
            return Err(PatternError::new("a look-behind cannot refer to a group inside itself", at));
        }
        match self.groups.get(group as usize) {
            Some(None) => Err(PatternError::new("reference to a group that is still open", at)),
            _ => Ok(()),
        }
    }

    fn escape(&mut self) -> Parse<Element> {
        let start = self.at - 1;
        let ascii = self.flags.ascii;
        let Some(c) = self.peek() else { return Err(PatternError::new("backslash at the end", start)) };
        let node = match c {
            'A' => Element::At(Place::TextStart),
            'Z' => Element::At(Place::TextEnd),
            'b' => Element::At(Place::Boundary { not: false, ascii }),
            'B' => Element::At(Place::Boundary { not: true, ascii }),
            '1'..='9' => return self.reference_or_octal(start),
            _ => match self.class_escape(start)? {
                Item::Char(c) => return Ok(self.character(c)),
                Item::Class(class) => return Ok(Element::Set(class.into())),
            },
        };
        self.at += 1;
        Ok(node)
    }

    fn reference_or_octal(&mut self, start: usize) -> Parse<Element> {
        let digit = |n: usize| self.chars.get(start + n).and_then(|c| c.to_digit(10));
        let (first, second) = (digit(1).unwrap_or(0), digit(2));
        if let (0..=7, Some(second @ 0..=7), Some(third @ 0..=7)) = (first, second, digit(3)) {
            self.at += 3;
            return Ok(self.character(octal(first * 64 + second * 8 + third, start)?));
        }
        self.at += 1 + usize::from(second.is_some());
        self.reference(second.map_or(first, |second| first * 10 + second), start)
    }

    /// Meaning of a backslash and the next signs, inside of a set; outside too, but for what is no character.
    fn class_escape(&mut self, start: usize) -> Parse<Item> {
        let Some(c) = self.next() else { return Err(PatternError::new("backslash at the end", start)) };
        let c = match c {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => return Ok(Item::Class(class(c, self.flags.ascii))),
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => self.hex(2, start)?,
            'u' => self.hex(4, start)?,
            'U' => self.hex(8, start)?,
            'N' => return Err(PatternError::new("named characters are not supported; write the character", start)),
            '0'..='7' => {
                self.at -= 1;
                let digits = self.digits(8, 3);
                octal(u32::from_str_radix(&digits, 8).unwrap_or(0), start)?
            }
            '8' | '9' | 'a'..='z' | 'A'..='Z' => {
                return Err(PatternError::new("unknown escape", start));
            }
            other => other,
        };
        Ok(Item::Char(c))
    }

    fn hex(&mut self, length: usize, start: usize) -> Parse<char> {
        let digits = self.digits(16, length);
        let code = u32::from_str_radix(&digits, 16).ok().filter(|code| digits.len() == length && *code <= 0x10_ffff);
        let code = code.ok_or(PatternError::new("unknown escape", start))?;
        // Half a surrogate pair, which stands so in texts too once they are made readable.
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn set(&mut self, start: usize) -> Parse<ClassUnicode> {
        let unclosed = PatternError::new("character set not closed", start);
        let not = self.eat('^');
        let first = self.at;
        let (mut set, mut classes) = (ClassUnicode::empty(), ClassUnicode::empty());
        loop {
            let Some(c) = self.peek() else { return Err(unclosed) };
            if c == ']' && self.at > first {
                self.at += 1;
                break;
            }
            let item = self.item()?;
            let at = self.at;
            // A minus before the closing bracket stands for itself.
            let ranges = self.peek() == Some('-') && self.chars.get(at + 1) != Some(&']');
            match item {
                Item::Char(from) if ranges => {
                    self.at += 1;
                    match self.item()? {
                        Item::Char(to) if from <= to => set.push(ClassUnicodeRange::new(from, to)),
                        _ => return Err(PatternError::new("invalid character range", at)),
                    }
                }
                Item::Class(_) if ranges => return Err(PatternError::new("invalid character range", at)),
                Item::Char(c) => set.push(ClassUnicodeRange::new(c, c)),
                Item::Class(class) => classes.union(&class),
            }
        }
        self.fold(&mut set);
        // Python folds no class: `\W` holds a mark that folds to a letter, but not that letter.
        set.union(&classes);
        if not {
            set.negate();
        }
        Ok(set)
    }

    fn item(&mut self) -> Parse<Item> {
        let start = self.at;
        match self.next() {
            Some('\\') => self.class_escape(start),
            Some(c) => Ok(Item::Char(c)),
            None => Err(PatternError::new("character set not closed", start)),
        }
    }

    fn width(&self, node: &Element) -> Width {
        let sum = |a: Width, b: Width| Width(a.0.saturating_add(b.0), a.1.saturating_add(b.1));
        let either = |a: Width, b: Width| Width(a.0.min(b.0), a.1.max(b.1));
        match node {
            Element::Char(_) | Element::Set(_) => Width(1, 1),
            Element::At(_) | Element::Look { .. } => Width(0, 0),
            Element::Group { node, .. } | Element::Atomic(node) => self.width(node),
            Element::List(nodes) => nodes.iter().map(|node| self.width(node)).fold(Width(0, 0), sum),
            Element::Either(nodes) => nodes.iter().map(|node| self.width(node)).reduce(either).unwrap_or(Width(0, 0)),
            Element::Repeat { node, least, most, .. } => {
                let Width(low, high) = self.width(node);
                let most = most.unwrap_or(MAX_REPEAT);
                Width(low.saturating_mul(*least), high.saturating_mul(most))
            }
            Element::Back { group, .. } => self.groups.get(*group as usize).copied().flatten().unwrap_or(Width(0, 0)),
            Element::If { then, otherwise, .. } => either(self.width(then), self.width(otherwise)),
        }
    }
}

/// Characters that a dot matches.
fn any(line_breaks: bool) -> ClassUnicode {
    let mut class = ClassUnicode::empty();
    if !line_breaks {
        class.push(ClassUnicodeRange::new('\n', '\n'));
    }
    class.negate();
    class
}

/// Characters that `\d`, `\s` and `\w` match, and their opposites.
fn class(letter: char, ascii: bool) -> ClassUnicode {
    let mut class = match (letter.to_ascii_lowercase(), ascii) {
        ('d', true) => ClassUnicode::new([ClassUnicodeRange::new('0', '9')]),
        ('d', false) => DIGIT.clone(),
        ('s', true) => ClassUnicode::new([('\t', '\r'), (' ', ' ')].map(|(a, z)| ClassUnicodeRange::new(a, z))),
        ('s', false) => SPACE.clone(),
        (_, true) => ClassUnicode::new(
            [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')].map(|(a, z)| ClassUnicodeRange::new(a, z)),
        ),
        (_, false) => WORD.clone(),
    };
    if letter.is_ascii_uppercase() {
        class.negate();
    }
    class
}

static DIGIT: LazyLock<ClassUnicode> = LazyLock::new(|| unicode::class(r"[\p{Nd}&&\p{Age:14.0}]"));
/// Characters of Python's `str.isalnum`, and the underscore; Python 3.11 knows Unicode 14.
pub(super) static WORD: LazyLock<ClassUnicode> = LazyLock::new(|| unicode::class(r"[[\p{L}\p{N}_]&&\p{Age:14.0}]"));
/// Letters that `str.isidentifier` of Python 3.11 takes first, and those behind it. Later versions of Unicode take two joiners
/// and two dots more.
static NAME_START: LazyLock<ClassUnicode> = LazyLock::new(|| unicode::class(r"[_\p{XID_Start}&&\p{Age:14.0}]"));
static NAME: LazyLock<ClassUnicode> =
    LazyLock::new(|| unicode::class(r"[\p{XID_Continue}&&\p{Age:14.0}--[\x{200c}\x{200d}・･]]"));
/// Characters of Python's `str.isspace`.
static SPACE: LazyLock<ClassUnicode> = LazyLock::new(|| unicode::class(r"[\s\x1c-\x1f]"));

/// The number that Python's `int` reads; negative ones are none here, and no group has the greatest.
fn int(text: &str) -> Option<u32> {
    let text = text.trim();
    text.strip_prefix('+').unwrap_or(text).split('_').try_fold(0, |number, part| {
        let mut digits = part.chars().map(digit).peekable();
        digits.peek()?;
        digits.try_fold(number, |number: u32, digit| Some(number.saturating_mul(10).saturating_add(digit?)))
    })
}

/// Value of a digit of any script; they stand in tens.
fn digit(c: char) -> Option<u32> {
    let tens = DIGIT.ranges().iter().find(|tens| (tens.start()..=tens.end()).contains(&c))?;
    Some((u32::from(c) - u32::from(tens.start())) % 10)
}

fn octal(code: u32, at: usize) -> Parse<char> {
    let c = char::from_u32(code).filter(|_| code <= 0o377);
    c.ok_or(PatternError::new("an octal escape above \\377", at))
}
