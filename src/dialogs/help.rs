//! The help: the meaning of the glyphs on this screen and how often each is there, then every key, made from the table
//! of keys.

use std::collections::HashSet;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use crate::app::review::Review;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::widgets::borders::borders;
use crate::widgets::keymap::{Binding, Context, Keymap};
use crate::widgets::layout::inner_width;
use crate::widgets::look::{Look, Spans};
use crate::widgets::prose::{hanging, pad, pad_left, wrap};
use crate::widgets::sign::{self, Meaning};
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, centred};
use stepscope_base::text::columns;
use stepscope_table::filter::FIELDS;

/// Widths of the names, of the counts at their end, and of what stands before the help.
const NAME: usize = 16;
const COUNT: usize = 5;
const HEAD: usize = 2 + NAME;

/// Builds the window; `contexts`: those of what is in front.
pub(crate) fn window<'a>(
    meanings: Vec<&'static [Meaning]>,
    contexts: Vec<Context>,
    area: Rect,
    screen: &Buffer,
    look: Look<'a>,
) -> Window<'a> {
    let title = vec![look.span("Help", Role::Title), look.keyed("  <down> <up> scroll, <escape> closes", Role::Faint)];
    let place = centred(area, area.width.saturating_sub(4).min(96), area.height.saturating_sub(2));
    let width = inner_width(place);
    let entries = entries(meanings, contexts, screen);
    let mut len = 0;
    let mut ends = Vec::with_capacity(entries.len());
    for entry in &entries {
        len += entry.height(width);
        ends.push(len);
    }
    let line = move |n: usize| {
        let at = ends.partition_point(|end| *end <= n);
        let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        let lines = entries.get(at).map(|entry| entry.lines(width, look)).unwrap_or_default();
        lines.into_iter().nth(n - start).unwrap_or_default()
    };
    Window::new(place, title, len, line)
}

/// Part of the help. There are hundreds: the lines are made of those that are on screen.
enum Entry {
    Blank,
    Heading(&'static str),
    /// A glyph that is on the screen, and how often.
    Counted(Meaning, usize),
    Named(Meaning),
    Keys(&'static Binding),
}

impl Entry {
    const fn help(&self) -> &'static str {
        match self {
            Self::Blank | Self::Heading(_) => "",
            Self::Counted((_, help), _) | Self::Named((_, help)) => help,
            Self::Keys(binding) => binding.help,
        }
    }

    /// Returns the number of its lines.
    fn height(&self, width: usize) -> usize {
        let help = self.help();
        if HEAD + columns(help) > width { wrap(help, width.saturating_sub(HEAD).max(8)).len() } else { 1 }
    }

    fn lines(&self, width: usize, look: Look<'_>) -> Vec<Spans> {
        let named = |name: &str| vec![look.span(format!("  {}", pad(name, NAME)), Role::HintKey)];
        let head = match self {
            Self::Blank => return vec![Vec::new()],
            Self::Heading(text) => return vec![vec![look.span(*text, Role::Accent)]],
            Self::Counted((glyph, help), count) => {
                // How often panes are marked says nothing about what they show.
                let is_told = *count > 0 && !sign::PANES.contains(&(glyph, help));
                let count = if is_told { format!("{count} ") } else { String::new() };
                let glyph = look.span(format!("  {}", pad(glyph, NAME - COUNT)), Role::HintKey);
                vec![glyph, look.span(pad_left(&count, COUNT), Role::Number)]
            }
            Self::Named((name, _)) => named(name),
            Self::Keys(binding) => {
                let names = look.keymap.names(binding);
                // What has no key is called by its name.
                let is_named = binding.keys.is_empty() && names.is_empty();
                named(&if is_named { format!(":{}", binding.action.word()) } else { names.join("  ") })
            }
        };
        hanging(head, self.help(), look.style(Role::Text), &[], Some(width))
    }
}

fn entries(meanings: Vec<&'static [Meaning]>, mut contexts: Vec<Context>, screen: &Buffer) -> Vec<Entry> {
    let mut entries = vec![Entry::Heading("Symbols on this screen, and how often")];
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        counted(meanings, screen).into_iter().partition(|(_, count)| count.is_some());
    entries.extend(here.into_iter().map(|(meaning, count)| Entry::Counted(meaning, count.unwrap_or_default())));
    entries.push(Entry::Blank);
    let others = Context::ALL.into_iter().filter(|context| !contexts.contains(context));
    contexts.extend(others.collect::<Vec<_>>());
    for context in contexts {
        entries.push(Entry::Heading(context.word()));
        entries.extend(Keymap::rows(context).map(Entry::Keys));
        entries.push(Entry::Blank);
    }
    entries.push(Entry::Heading("Filter"));
    entries.extend(FIELDS.iter().copied().map(Entry::Named));
    entries.push(Entry::Named(("-term", "-x excludes · space = and · a,b = or")));
    if !elsewhere.is_empty() {
        entries.push(Entry::Blank);
        entries.push(Entry::Heading("Symbols that are not on it now"));
        entries.extend(elsewhere.into_iter().map(|(meaning, _)| Entry::Named(meaning)));
    }
    entries
}

/// Counts where each glyph is on a screen; `None`: nowhere. Marks on borders mean what is counted elsewhere, or is out of
/// view: they are not counted. Of two meanings of a glyph the first counts, which is the screen's own.
fn counted(sets: Vec<&'static [Meaning]>, screen: &Buffer) -> Vec<(Meaning, Option<usize>)> {
    let width = usize::from(screen.area.width).max(1);
    let borders = borders(screen);
    let letter = |cell: &Cell| cell.symbol().chars().next().unwrap_or(' ');
    let letters: Vec<char> = screen.content.iter().map(letter).collect();
    // Most glyphs are nowhere on it: they need not be looked for in each row.
    let signs: HashSet<char> = letters.iter().copied().filter(|letter| !letter.is_ascii()).collect();
    let is_there = |glyph: &str| alike(glyph).unwrap_or(glyph).chars().any(|c| c.is_ascii() || signs.contains(&c));
    let rows = |is_border: bool| -> Vec<Vec<char>> {
        let row = |(letters, borders): (&[char], &[bool])| {
            letters
                .iter()
                .zip(borders)
                .map(|(letter, border)| if *border == is_border { *letter } else { ' ' })
                .collect()
        };
        letters.chunks(width).zip(borders.chunks(width)).map(row).collect()
    };
    let (inside, marks) = (rows(false), rows(true));
    let total = |glyph: &str, rows: &[Vec<char>]| {
        if is_there(glyph) { rows.iter().map(|row| count(glyph, row)).sum::<usize>() } else { 0 }
    };
    let mut counted: Vec<(Meaning, Option<usize>)> = Vec::new();
    for meaning in sets.into_iter().flatten() {
        if counted.iter().all(|((glyph, _), _)| *glyph != meaning.0) {
            let found = total(meaning.0, &inside);
            counted.push((*meaning, (found > 0 || total(meaning.0, &marks) > 0).then_some(found)));
        }
    }
    counted
}

/// Counts where a glyph stands in a row. A digit stands for any number, and shades and superscripts for each other.
fn count(glyph: &str, row: &[char]) -> usize {
    let first = glyph.chars().next().unwrap_or_default();
    let alike = alike(glyph);
    let begins = |rest: &[char]| match alike {
        Some(alike) => rest.iter().position(|c| alike.contains(*c)),
        None if first.is_ascii_digit() => rest.iter().position(|c| is_of_number(*c)),
        None => rest.iter().position(|c| *c == first),
    };
    // What is part of a text or a scale is no sign.
    let stands_alone = first.is_ascii() || matches!(first, '•' | '–');
    let (mut found, mut at) = (0, 0);
    while let Some(other) = row.get(at..).and_then(begins) {
        at += other;
        let rest = row.get(at..).unwrap_or_default();
        let len = matched(glyph, alike, rest);
        let before = at.checked_sub(1).and_then(|before| row.get(before));
        let is_room =
            |next: Option<&char>| next.is_none_or(|next| !next.is_ascii_graphic() && !matches!(next, '•' | '–'));
        let after = rest.get(len);
        let ends =
            is_room(after) || glyph.ends_with(|c: char| c.is_ascii_digit()) || after.is_some_and(char::is_ascii_digit);
        let is_sign = len > 0 && (!stands_alone || is_room(before) && ends);
        found += usize::from(is_sign);
        // A bar of many cells is one sign.
        at += len.max(1);
        while is_sign && len == 1 && row.get(at) == rest.first() {
            at += 1;
        }
    }
    found
}

/// The letters that stand for each other, if a glyph consists of such.
fn alike(glyph: &str) -> Option<&'static str> {
    const SHADES: &str = "░▒▓";
    const SUPERSCRIPTS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    [SHADES, SUPERSCRIPTS].into_iter().find(|alike| glyph.chars().all(|c| alike.contains(c)))
}

const fn is_of_number(c: char) -> bool {
    matches!(c, '0'..='9' | '.' | ',' | '-')
}

/// Returns how many letters at the beginning of a row are the glyph.
fn matched(glyph: &str, alike: Option<&str>, row: &[char]) -> usize {
    if let Some(alike) = alike {
        return row.iter().take_while(|c| alike.contains(**c)).count();
    }
    let mut at = 0;
    for c in glyph.chars() {
        let same = |there: &&char| **there == c;
        let in_number = |there: &&char| is_of_number(**there);
        let rest = row.get(at..).unwrap_or_default().iter();
        let len =
            if c.is_ascii_digit() { rest.take_while(in_number).count() } else { rest.take(1).filter(same).count() };
        if len == 0 {
            return 0;
        }
        at += len;
    }
    at
}

/// The sets of glyphs that the screen below the help uses.
pub(crate) fn legend(review: &Review, screens: &Screens) -> Vec<&'static [Meaning]> {
    let mut sets = screens.top().def().signs.to_vec();
    if screens.record().is_some_and(|view| view.anchor.is_some()) && screens.top() == ScreenKind::Run {
        sets.push(&sign::DIFFERENCES);
    }
    if review.is_begun() || screens.top() == ScreenKind::Adjudication {
        sets.push(&sign::VERDICTS);
    }
    sets.push(&sign::PANES);
    sets
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use stepscope_base::ascii::cell;

    use super::*;

    #[test]
    fn marks_on_borders_are_explained_and_not_counted() {
        let lines =
            ["╭ ✗ 2 wrong ╮", "│ ✗ 3       ✗", "│ ■ bad     ┃", "│           ▲", "╰─◉▒─ ▲─────╯", "▲ not known  "];
        let screen = Buffer::with_lines(lines);
        let found = counted(vec![&sign::OUTCOMES, &sign::SEVERITIES, &sign::CITATIONS, &sign::PANES], &screen);
        let of = |glyph: &str| found.iter().find(|((own, _), _)| *own == glyph).and_then(|(_, count)| *count);
        for (glyph, expected) in
            [("✗", Some(2)), ("■", Some(1)), ("▲", Some(1)), ("◉", Some(0)), ("┃", Some(0)), ("✓", None)]
        {
            assert_eq!(of(glyph), expected, "{glyph}");
        }
    }

    #[test]
    fn a_sign_means_the_same_on_every_screen() {
        let of_screens = ScreenKind::ALL.into_iter().flat_map(|screen| screen.def().signs);
        let sets = of_screens.copied().chain([&sign::VERDICTS[..], &sign::PANES, &sign::DIFFERENCES]);
        let all: Vec<Meaning> = sets.flatten().copied().collect();
        for (n, (glyph, meaning)) in all.iter().enumerate() {
            for (_, other) in all.iter().skip(n + 1).filter(|(other, _)| other == glyph) {
                assert_eq!(meaning, other, "{glyph} has two meanings");
            }
        }
    }

    #[test]
    fn signs_of_one_screen_differ_in_ascii_too() {
        for screen in ScreenKind::ALL {
            let also = (screen == ScreenKind::Run).then_some(&sign::DIFFERENCES[..]);
            let sets = screen.def().signs.iter().copied().chain(also).chain([&sign::VERDICTS[..], &sign::PANES]);
            let glyphs: HashSet<&str> = sets.flatten().map(|(glyph, _)| *glyph).collect();
            let mut twins: HashMap<String, &str> = HashMap::new();
            // The minus of a difference looks like the dash of a step that did not run in Unicode too.
            for glyph in glyphs.into_iter().filter(|glyph| *glyph != "−") {
                let in_ascii = |c: char| if c.is_ascii() { c.to_string() } else { cell(&c.to_string()).to_owned() };
                if let Some(other) = twins.insert(glyph.chars().map(in_ascii).collect(), glyph) {
                    panic!("{screen:?}: {glyph} and {other} look the same in ASCII");
                }
            }
        }
    }

    #[test]
    fn signs_are_counted_and_not_what_is_part_of_a_text() {
        let cases = [
            ("✓", " ✓  ✓2 │✓│", 3),
            ("!", "! 87  !1 Stop! a != b", 2),
            ("•", "•2 ••••  • 3•4", 2),
            ("–", " –  0.0–0.1", 1),
            ("█", "███  █ ▒", 2),
            ("░▒▓", "░ 3  ▓▓", 2),
            ("¹", "24 ¹²  45 ³", 2),
            ("should be 7", "24.0  should be 1,080.5; should be said", 1),
            ("✗ 3 ≠ 7", "✗ 24.0 ≠ 1080", 1),
            ("r1", "r12 ─ r2  or2", 2),
            ("recorded", "recorded 24  unrecorded recorded", 2),
            ("q", "q  1  quick", 1),
        ];
        for (glyph, row, expected) in cases {
            assert_eq!(count(glyph, &row.chars().collect::<Vec<_>>()), expected, "{glyph} in {row}");
        }
    }
}
