//! Frames as bytes: ratatui draws into memory; what differs from the terminal's screen goes out as few bytes.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

use stepscope_base::text::{columns, is_hidden};

// The terminal shows a frame at once, not while it is being read.
const SYNC_ON: &str = "\x1b[?2026h";
const SYNC_OFF: &str = "\x1b[?2026l";
/// Stands for a cell that must not reach the terminal.
const REFUSED: &str = "\u{fffd}";
/// Fewer rows that only moved are written anew: moving them would cost as much.
const MIN_MOVED: usize = 3;

/// Content of the terminal, and the way of the next frame.
pub(crate) struct Screen {
    size: Size,
    /// Frame on the terminal; of no meaning while that is unknown.
    shown: Frame,
    /// Memory that the next frame is drawn in.
    next: Frame,
    /// The terminal's screen is unknown.
    stale: bool,
    /// Place of the cursor, if it is shown.
    place: Option<Position>,
}

impl Screen {
    pub(crate) fn new(size: Size) -> Self {
        Self { size, shown: Frame::default(), next: Frame::default(), stale: true, place: None }
    }

    pub(crate) const fn size(&self) -> Size {
        self.size
    }

    /// Everything is drawn anew with the next frame, in this size.
    pub(crate) fn repaint(&mut self, size: Size) {
        (self.size, self.stale, self.place) = (size, true, None);
    }

    /// Draws, and returns what changes the terminal's screen accordingly. `draw` says where the cursor is shown.
    pub(crate) fn frame(&mut self, draw: impl FnOnce(&mut Buffer) -> Option<Position>) -> Vec<u8> {
        let place = self.next.draw(self.size, draw);
        let mut pen = Pen::new();
        let stale = std::mem::take(&mut self.stale);
        let mut movement = None;
        if stale {
            pen.out.push_str("\x1b[0m\x1b[2J");
        } else {
            movement = Movement::between(&self.shown.hashes, &self.next.hashes);
            if let Some(movement) = movement {
                movement.write(&mut pen.out);
            }
        }
        let shown = |row: u16| if stale { None } else { movement.map_or(Some(row), |movement| movement.source(row)) };
        for (y, row) in (0..).zip(self.next.rows()) {
            let shown = shown(y).and_then(|row| self.shown.rows().nth(usize::from(row))).unwrap_or_default();
            differences(shown, row, |x, cell, sign| pen.cell(x, y, cell.symbol(), sign));
        }
        std::mem::swap(&mut self.shown, &mut self.next);
        if !stale && pen.out.is_empty() && self.place == place {
            return Vec::new();
        }
        self.place = place;
        pen.rest();
        match place {
            Some(place) => {
                pen.go_to(place.x, place.y);
                pen.out.push_str("\x1b[?25h");
            }
            None => pen.out.push_str("\x1b[?25l"),
        }
        [SYNC_ON, &pen.out, SYNC_OFF].concat().into_bytes()
    }
}

/// A frame, and its cells again in a form that is quickly compared.
#[derive(Default)]
struct Frame {
    cells: Buffer,
    signs: Vec<Sign>,
    /// A number for the letters of each row. Two rows with one number cost a few bytes at most: what differs is written
    /// behind the movement.
    hashes: Vec<u64>,
}

impl Frame {
    fn draw(&mut self, size: Size, draw: impl FnOnce(&mut Buffer) -> Option<Position>) -> Option<Position> {
        let area = Rect::from(size);
        if self.cells.area == area {
            self.cells.reset();
        } else {
            self.cells = Buffer::empty(area);
        }
        let place = draw(&mut self.cells);
        self.signs.clear();
        self.signs.extend(self.cells.content.iter().map(Sign::of));
        let hash = |row: &[Sign]| {
            let mut hasher = FixedState::default().build_hasher();
            for sign in row {
                hasher.write_u32(sign.letter);
            }
            hasher.finish()
        };
        self.hashes.clear();
        self.hashes.extend(self.signs.chunks(width_of(&self.cells)).map(hash));
        place
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let width = width_of(&self.cells);
        self.cells.content.chunks(width).zip(self.signs.chunks(width)).map(|(cells, signs)| Row { cells, signs })
    }
}

fn width_of(cells: &Buffer) -> usize {
    usize::from(cells.area.width).max(1)
}

/// A row of a frame.
#[derive(Clone, Copy, Default)]
struct Row<'a> {
    cells: &'a [Cell],
    signs: &'a [Sign],
}

/// The part of a cell that reaches the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sign {
    /// Its character; [`Sign::CLUSTER`]: it has several.
    letter: u32,
    fg: Colour,
    bg: Colour,
    modifier: Modifier,
}

impl Sign {
    /// Beyond all characters.
    const CLUSTER: u32 = u32::MAX;
    const BLANK: Self = Self { letter: ' ' as u32, fg: Colour::RESET, bg: Colour::RESET, modifier: Modifier::empty() };

    fn of(cell: &Cell) -> Self {
        let letter = match cell.symbol().as_bytes() {
            [letter] => u32::from(*letter),
            _ => Self::letter_of(cell.symbol()),
        };
        Self { letter, fg: Colour::of(cell.fg), bg: Colour::of(cell.bg), modifier: cell.modifier }
    }

    fn letter_of(symbol: &str) -> u32 {
        let mut chars = symbol.chars();
        let first = chars.next().map_or(0, u32::from);
        if chars.next().is_none() { first } else { Self::CLUSTER }
    }
}

/// A colour in the numbers of the terminal's codes: 2 and red, green and blue; 5 and an index; or 0 and what is added to
/// the code of black.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Colour(u32);

impl Colour {
    const RESET: Self = Self::of(Color::Reset);

    const fn of(colour: Color) -> Self {
        let named = match colour {
            Color::Rgb(r, g, b) => return Self(u32::from_be_bytes([2, r, g, b])),
            Color::Indexed(n) => return Self(u32::from_be_bytes([5, 0, 0, n])),
            Color::Reset => 9,
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 60,
            Color::LightRed => 61,
            Color::LightGreen => 62,
            Color::LightYellow => 63,
            Color::LightBlue => 64,
            Color::LightMagenta => 65,
            Color::LightCyan => 66,
            Color::White => 67,
        };
        Self(u32::from_be_bytes([0, 0, 0, named]))
    }

    /// Writes its codes; `base` is 30 in front and 40 behind.
    fn write(self, base: u8, out: &mut String) {
        match self.0.to_be_bytes() {
            [2, r, g, b] => push_codes(&[base + 8, 2, r, g, b], out),
            [5, _, _, n] => push_codes(&[base + 8, 5, n], out),
            [.., named] => push_codes(&[base + named], out),
        }
    }
}

/// Writes the cells of a row that differ from what the terminal shows there: blanks, if that is empty. A cell
/// that a wide character covers is not written; one that a wide character no longer covers is.
fn differences(shown: Row<'_>, row: Row<'_>, mut write: impl FnMut(u16, &Cell, &Sign)) {
    static BLANK: Cell = Cell::EMPTY;
    // Most rows stay as they are.
    if row.signs == shown.signs && row.signs.iter().all(|sign| sign.letter != Sign::CLUSTER) {
        return;
    }
    let (mut covered, mut uncovered) = (0, 0);
    for (x, (cell, sign)) in row.cells.iter().zip(row.signs).enumerate() {
        let before = || shown.cells.get(x).unwrap_or(&BLANK);
        let is_other_cluster = || sign.letter == Sign::CLUSTER && cell.symbol() != before().symbol();
        let differs = sign != shown.signs.get(x).unwrap_or(&Sign::BLANK) || x < uncovered || is_other_cluster();
        if differs {
            uncovered = uncovered.max(x + width(before()));
        }
        if x >= covered {
            covered = x + if sign.letter < 0x80 { 1 } else { width(cell) };
            if differs {
                write(x as u16, cell, sign);
            }
        }
    }
}

/// Number of columns of a cell's text.
fn width(cell: &Cell) -> usize {
    let symbol = cell.symbol();
    if symbol.len() == 1 { 1 } else { columns(symbol).max(1) }
}

/// Rows that only moved up or down: terminals move them themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Movement {
    /// First row of the region that moves.
    top: u16,
    /// One past its last row.
    bottom: u16,
    /// By how many rows: positive is up.
    up: i32,
}

impl Movement {
    /// The movement that saves most rows, if any is worth it, by the hashes of the rows.
    fn between(old: &[u64], new: &[u64]) -> Option<Self> {
        let changed: Vec<usize> = (0..new.len()).filter(|row| old.get(*row) != new.get(*row)).collect();
        if changed.len() <= MIN_MOVED {
            return None;
        }
        let mut best: Option<(usize, Self)> = None;
        let limit = i32::try_from(new.len() / 2).unwrap_or(0);
        for up in (-limit..=limit).filter(|up| *up != 0) {
            let source = |row: usize| usize::try_from(row as i32 + up).ok();
            let same = |row: &usize| source(*row).and_then(|from| old.get(from)) == new.get(*row);
            let moved: Vec<usize> = changed.iter().copied().filter(same).collect();
            let (Some(&first), Some(&last)) = (moved.first(), moved.last()) else { continue };
            if moved.len() > MIN_MOVED && best.as_ref().is_none_or(|(count, _)| moved.len() > *count) {
                let ends = [first as i32, last as i32, first as i32 + up, last as i32 + up];
                let top = ends.into_iter().min().unwrap_or(0) as u16;
                let bottom = ends.into_iter().max().unwrap_or(0) as u16 + 1;
                best = Some((moved.len(), Self { top, bottom, up }));
            }
        }
        best.map(|(_, movement)| movement)
    }

    /// Sets the region, takes lines out at one end of it, and lets go of it.
    fn write(self, out: &mut String) {
        let (lines, command) = (self.up.unsigned_abs(), if self.up > 0 { 'M' } else { 'L' });
        let top = self.top + 1;
        let _ = write!(out, "\x1b[0m\x1b[{top};{}r\x1b[{top};1H\x1b[{lines}{command}\x1b[r", self.bottom);
    }

    /// The row that stood where `row` is now; `None` for one that the terminal has made blank.
    fn source(self, row: u16) -> Option<u16> {
        let region = self.top..self.bottom;
        if !region.contains(&row) {
            return Some(row);
        }
        u16::try_from(i32::from(row) + self.up).ok().filter(|row| region.contains(row))
    }
}

/// Writes cells, saying only what differs from the cell before.
struct Pen {
    out: String,
    at: Option<Position>,
    fg: Colour,
    bg: Colour,
    modifier: Modifier,
}

/// Ways to write a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sure,
    /// Terminals disagree about the width of emoji and of clusters.
    Unsure,
    /// A control or an invisible character in a cell is a mistake of ours (data passes `stepscope_base::text` long before);
    /// here is the last place to keep it from the terminal.
    Refused,
}

fn kind(symbol: &str) -> Kind {
    if let [0x20..=0x7e] = symbol.as_bytes() {
        return Kind::Sure;
    }
    if symbol.chars().any(is_hidden) {
        return Kind::Refused;
    }
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if u32::from(c) < 0x1_f000 => Kind::Sure,
        _ => Kind::Unsure,
    }
}

impl Pen {
    const fn new() -> Self {
        let none = Modifier::empty();
        Self { out: String::new(), at: None, fg: Colour::RESET, bg: Colour::RESET, modifier: none }
    }

    fn go_to(&mut self, x: u16, y: u16) {
        let _ = match self.at {
            Some(at) if at == (Position { x, y }) => Ok(()),
            Some(at) if at.y == y && at.x + 1 == x => write!(self.out, "\x1b[C"),
            Some(at) if at.y == y && at.x < x => write!(self.out, "\x1b[{}C", x - at.x),
            _ => write!(self.out, "\x1b[{};{}H", y + 1, x + 1),
        };
        self.at = Some(Position { x, y });
    }

    fn cell(&mut self, x: u16, y: u16, symbol: &str, cell: &Sign) {
        self.go_to(x, y);
        if symbol == " " {
            // Of a blank only the background and lines are seen: the rest may stay as it is.
            let kept = self.modifier - SEEN_ON_BLANKS;
            let fg = if cell.modifier.intersects(SEEN_ON_BLANKS) { cell.fg } else { self.fg };
            self.style(fg, cell.bg, (cell.modifier & SEEN_ON_BLANKS) | kept);
        } else {
            self.style(cell.fg, cell.bg, cell.modifier);
        }
        match kind(symbol) {
            Kind::Sure => {
                self.out.push_str(symbol);
                self.moved(x, y, columns(symbol));
            }
            Kind::Unsure => {
                // Cleared first, and the cursor placed anew behind it, so that the columns stay straight.
                let width = symbol.width().clamp(1, 2);
                self.out.push_str(if width == 2 { "  " } else { " " });
                self.at = None;
                self.go_to(x, y);
                self.out.push_str(symbol);
                self.at = None;
            }
            Kind::Refused => {
                self.out.push_str(REFUSED);
                self.moved(x, y, 1);
            }
        }
    }

    fn moved(&mut self, x: u16, y: u16, width: usize) {
        let x = x.saturating_add(width as u16);
        self.at = Some(Position { x, y });
    }

    fn style(&mut self, fg: Colour, bg: Colour, modifier: Modifier) {
        if (fg, bg, modifier) == (self.fg, self.bg, self.modifier) {
            return;
        }
        self.out.push_str("\x1b[");
        let gone = self.modifier - modifier;
        for (flags, code) in ENDS {
            if gone.intersects(flags) {
                push_codes(&[code], &mut self.out);
                // Bold and dim end together.
                self.modifier -= flags;
            }
        }
        for (flag, code) in MODIFIERS {
            if (modifier - self.modifier).contains(flag) {
                push_codes(&[code], &mut self.out);
            }
        }
        if fg != self.fg {
            fg.write(30, &mut self.out);
        }
        if bg != self.bg {
            bg.write(40, &mut self.out);
        }
        // The last code has no other behind it.
        self.out.pop();
        self.out.push('m');
        (self.fg, self.bg, self.modifier) = (fg, bg, modifier);
    }

    /// Leaves the terminal without a style.
    fn rest(&mut self) {
        if (self.fg, self.bg, self.modifier) != (Colour::RESET, Colour::RESET, Modifier::empty()) {
            self.out.push_str("\x1b[0m");
        }
    }
}

const MODIFIERS: [(Modifier, u8); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

const ENDS: [(Modifier, u8); 7] = [
    (Modifier::BOLD.union(Modifier::DIM), 22),
    (Modifier::ITALIC, 23),
    (Modifier::UNDERLINED, 24),
    (Modifier::SLOW_BLINK.union(Modifier::RAPID_BLINK), 25),
    (Modifier::REVERSED, 27),
    (Modifier::HIDDEN, 28),
    (Modifier::CROSSED_OUT, 29),
];
const SEEN_ON_BLANKS: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);

/// Writes numbers, each with a semicolon behind it: a frame has thousands, and to format them would take long.
fn push_codes(codes: &[u8], out: &mut String) {
    let digit = |n: u8| char::from(b'0' + n % 10);
    for &code in codes {
        if code >= 100 {
            out.push(digit(code / 100));
        }
        if code >= 10 {
            out.push(digit(code / 10));
        }
        out.push(digit(code));
        out.push(';');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Style};
    use ratatui::text::Line;
    use ratatui::widgets::{Block, Paragraph, Widget as _};

    fn frame(screen: &mut Screen, text: &str) -> String {
        let bytes = screen.frame(|buf| {
            let style = Style::default().fg(Color::Rgb(1, 2, 3));
            buf.set_string(1, 0, text, style);
            buf.set_string(8, 0, "|", style);
            None
        });
        String::from_utf8(bytes).unwrap()
    }

    /// Bytes that ratatui's own difference and crossterm's backend write from one frame to the next.
    fn bytes_of_peer(before: &Buffer, after: &Buffer) -> usize {
        use ratatui::backend::{Backend as _, CrosstermBackend};
        let mut out = Vec::new();
        CrosstermBackend::new(&mut out).draw(before.diff(after).into_iter()).unwrap();
        out.len()
    }

    /// A list of records in a frame, from a row on, with the cursor on one of them.
    fn draw_list(top: usize, at: usize, buf: &mut Buffer) {
        let area = buf.area;
        let [dim, chosen] = [Color::Rgb(120, 130, 140), Color::Rgb(40, 60, 90)];
        let line = |n: usize| {
            let text = format!("{n:>6}  ✗ wrong   question {} with {} apples", n * 7919 % 1000, n * 31 % 97);
            let style = if n == at { Style::default().bg(chosen) } else { Style::default().fg(dim) };
            Line::styled(text, style)
        };
        let lines: Vec<Line<'_>> = (top..top + usize::from(area.height)).map(line).collect();
        Paragraph::new(lines).render(area, buf);
    }

    #[test]
    fn frames_cost_no_more_than_by_ratatuis_own_difference() {
        let size = Size::new(120, 36);
        let area = Rect::from(size);
        let walk = |frames: &[(usize, usize)]| {
            let (mut screen, mut before) = (Screen::new(size), Buffer::empty(area));
            let (mut own, mut peer) = (0, 0);
            for (n, &(top, at)) in frames.iter().enumerate() {
                let mut after = Buffer::empty(area);
                draw_list(top, at, &mut after);
                let bytes = screen.frame(|buf| {
                    draw_list(top, at, buf);
                    None
                });
                // The first frame is drawn whole by both.
                own += if n == 0 { 0 } else { bytes.len() };
                peer += if n == 0 { 0 } else { bytes_of_peer(&before, &after) };
                before = after;
            }
            (own, peer)
        };
        let (own, peer) = walk(&(0..20).map(|n| (n, n + 5)).collect::<Vec<_>>());
        eprintln!("scrolling by a line: {own} bytes, ratatui's difference and crossterm's backend {peer}");
        assert!(own * 4 < peer, "{own} {peer}");
        let (own, peer) = walk(&(0..20).map(|n| (0, n)).collect::<Vec<_>>());
        eprintln!("moving the cursor: {own} bytes, {peer}");
        // Besides what differs, a frame says where it begins and ends, and that the cursor is hidden.
        assert!(own * 100 < peer * 105, "{own} {peer}");
    }

    #[test]
    fn a_change_costs_what_changed() {
        let mut screen = Screen::new(Size::new(80, 24));
        frame(&mut screen, "abc");
        let change = frame(&mut screen, "abd");
        assert!(change.contains("\x1b[1;4H") && change.contains('d') && !change.contains('a'), "{change:?}");
        assert!(change.len() < 80, "{change:?}");
        assert!(change.starts_with("\x1b[?2026h") && change.ends_with("\x1b[?2026l"));
    }

    #[test]
    fn the_cursor_is_placed_anew_after_what_terminals_disagree_about() {
        let mut screen = Screen::new(Size::new(20, 2));
        let drawn = frame(&mut screen, "a👍🏽bc");
        assert!(drawn.contains("\x1b[1;5H") && drawn.contains("bc"), "{drawn:?}");
        let drawn = frame(&mut screen, "漢字xyz");
        assert!(drawn.contains('漢') && drawn.contains('字') && drawn.contains("xyz"), "{drawn:?}");
    }

    #[test]
    fn no_control_leaves_the_screen() {
        // Not through a buffer: there a debug build panics at a control.
        let mut pen = Pen::new();
        let cells = ["\x1b]0;x\x07", "\u{9b}", "a\u{202e}", "\u{e0041}", "\n", "ok"].map(Cell::new);
        (0..).zip(&cells).for_each(|(y, cell)| pen.cell(0, y, cell.symbol(), &Sign::of(cell)));
        let text = pen.out;
        assert_eq!(text.matches('\u{fffd}').count(), 5, "{text:?}");
        assert!(!text.contains("0;x") && !text.contains('\u{202e}') && text.contains("ok"));
    }

    #[test]
    fn rows_that_moved_are_moved_by_the_terminal() {
        let mut screen = Screen::new(Size::new(60, 20));
        let rows = |first: usize| {
            move |buf: &mut Buffer| {
                for row in 1..19_u16 {
                    let text = format!("row {} with quite some text in it", first + usize::from(row));
                    buf.set_string(0, row, text, Style::default());
                }
                None
            }
        };
        screen.frame(rows(0));
        let change = String::from_utf8(screen.frame(rows(1))).unwrap();
        assert!(change.contains("\x1b[2;19r") && change.contains("\x1b[1M"), "{change:?}");
        assert!(change.len() < 160, "{change:?}");
    }

    proptest::proptest! {
        /// Whatever the frames are, a terminal that follows the bytes shows what was drawn.
        #[test]
        fn a_terminal_shows_what_was_drawn(
            frames in proptest::collection::vec((0_usize..40, 0_usize..40, 0_u8..4, 0_u16..12), 1..12),
        ) {
            let size = Size::new(24, 12);
            let mut screen = Screen::new(size);
            let mut terminal = vt100::Parser::new(12.try_into().unwrap(), 24.try_into().unwrap(), 0);
            for (first, step, colour, marked) in frames {
                let mut drawn = Buffer::empty(Rect::from(size));
                let bytes = screen.frame(|buf| {
                    for row in 0..12_u16 {
                        let n = first + usize::from(row) * (step % 3);
                        let style = if row == marked { Style::default().bg(Color::Indexed(colour)).bold() } else { Style::default() };
                        buf.set_string(row % 3, row, format!("line {n} 漢 é {}", n * step), style);
                    }
                    drawn.clone_from(buf);
                    None
                });
                terminal.process(&bytes);
                for row in 0..12_u16 {
                    for column in 0..24_u16 {
                        let shown = terminal.screen().cell(row, column).unwrap();
                        let cell = &drawn[(column, row)];
                        if shown.is_wide_continuation() {
                            continue;
                        }
                        let text = if shown.contents().is_empty() { " " } else { shown.contents() };
                        proptest::prop_assert_eq!(text, cell.symbol(), "row {} column {}", row, column);
                        let bold = cell.modifier.contains(Modifier::BOLD);
                        proptest::prop_assert!(text == " " || shown.bold() == bold);
                    }
                }
            }
        }
    }

    #[test]
    fn any_size_can_be_drawn() {
        let mut screen = Screen::new(Size::new(1, 1));
        for (width, height) in [(1, 1), (2, 1), (1000, 500), (1000, 1), (1, 500), (80, 24)] {
            screen.repaint(Size::new(width, height));
            screen.frame(|buf| {
                let text = vec![Line::raw("x".repeat(2000)); 600];
                Paragraph::new(text).block(Block::bordered()).render(buf.area, buf);
                None
            });
            assert_eq!(screen.size(), Size::new(width, height));
        }
    }
}
