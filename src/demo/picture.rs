//! Pictures of a screen: SVG that is light or dark as the reader's system is, and frames for asciinema players.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

use crate::widgets::borders::is_line;
use stepscope_base::json::write::Style;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_report::page::push_markup;

/// A cell, in units of the picture.
const WIDTH: usize = 9;
const HEIGHT: usize = 19;
const EDGE: usize = 12;
/// Beginning of every picture.
pub(crate) const BEGIN: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"stepscope\"";

/// Appearance of a cell: foreground, background and attributes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the switches of a terminal's cell")]
struct Paint {
    ink: u32,
    paper: u32,
    bold: bool,
    italic: bool,
    underlined: bool,
    dim: bool,
}

/// The colours of a terminal, where a theme leaves them to it.
struct Terminal {
    ink: u32,
    paper: u32,
    sixteen: [u32; 16],
}

const DARK: Terminal = Terminal {
    ink: 0x00e4_e4e4,
    paper: 0x0016_181b,
    sixteen: [
        0x0024_2629,
        0x00f0_7178,
        0x0085_c988,
        0x00e6_b450,
        0x006c_a8f5,
        0x00c7_92ea,
        0x005f_c7c7,
        0x00c8_ccd0,
        0x0077_7d84,
        0x00ff_8b8f,
        0x00a3_dda5,
        0x00ff_d080,
        0x0091_c1ff,
        0x00dc_b4ff,
        0x0088_e0e0,
        0x00ff_ffff,
    ],
};
const LIGHT: Terminal = Terminal {
    ink: 0x001d_2125,
    paper: 0x00fd_fcf9,
    sixteen: [
        0x001d_2125,
        0x00a0_1c22,
        0x001b_6434,
        0x007a_4a00,
        0x001a_4f9c,
        0x006d_2a9c,
        0x0010_5f66,
        0x005a_626b,
        0x0043_4a51,
        0x00b8_2a30,
        0x0024_7a41,
        0x008a_5600,
        0x0022_60ba,
        0x0082_38b8,
        0x0014_727a,
        0x0000_0000,
    ],
};

impl Terminal {
    fn colour(&self, colour: Color, otherwise: u32) -> u32 {
        let sixteen = |n: usize| self.sixteen.get(n).copied().unwrap_or(otherwise);
        match colour {
            Color::Reset => otherwise,
            Color::Rgb(r, g, b) => u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b),
            Color::Indexed(n @ 0..16) => sixteen(n as usize),
            Color::Indexed(n @ 16..232) => {
                let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * u32::from(n) };
                let n = n - 16;
                level(n / 36) << 16 | level(n / 6 % 6) << 8 | level(n % 6)
            }
            Color::Indexed(n) => (8 + 10 * u32::from(n - 232)) * 0x01_0101,
            Color::Black => sixteen(0),
            Color::Red => sixteen(1),
            Color::Green => sixteen(2),
            Color::Yellow => sixteen(3),
            Color::Blue => sixteen(4),
            Color::Magenta => sixteen(5),
            Color::Cyan => sixteen(6),
            Color::Gray => sixteen(7),
            Color::DarkGray => sixteen(8),
            Color::LightRed => sixteen(9),
            Color::LightGreen => sixteen(10),
            Color::LightYellow => sixteen(11),
            Color::LightBlue => sixteen(12),
            Color::LightMagenta => sixteen(13),
            Color::LightCyan => sixteen(14),
            Color::White => sixteen(15),
        }
    }

    fn paint(&self, buf: &Buffer, column: u16, row: u16) -> Option<Paint> {
        let cell = buf.cell((column, row))?;
        let has = |modifier| cell.modifier.contains(modifier);
        let (mut ink, mut paper) = (self.colour(cell.fg, self.ink), self.colour(cell.bg, self.paper));
        if has(Modifier::REVERSED) {
            std::mem::swap(&mut ink, &mut paper);
        }
        Some(Paint {
            ink,
            paper,
            bold: has(Modifier::BOLD),
            italic: has(Modifier::ITALIC),
            underlined: has(Modifier::UNDERLINED),
            dim: has(Modifier::DIM),
        })
    }
}

/// A run of cells that look alike.
struct StyledRun {
    column: usize,
    width: usize,
    text: String,
    paints: (Paint, Paint),
}

/// The runs of a row. A cell behind a wide one has no text of its own.
fn runs(dark: &Buffer, light: &Buffer, row: u16) -> Vec<StyledRun> {
    let mut runs: Vec<StyledRun> = Vec::new();
    let mut covered = 0;
    for column in dark.area.left()..dark.area.right() {
        let (Some(one), Some(other)) = (DARK.paint(dark, column, row), LIGHT.paint(light, column, row)) else {
            continue;
        };
        let symbol = dark.cell((column, row)).map_or(" ", |cell| cell.symbol());
        let at = usize::from(column - dark.area.left());
        if at < covered {
            continue;
        }
        let width = symbol.width().max(1);
        covered = at + width;
        match runs.last_mut() {
            Some(run) if run.paints == (one, other) && run.column + run.width == at => {
                run.text.push_str(symbol);
                run.width += width;
            }
            _ => runs.push(StyledRun { column: at, width, text: symbol.to_owned(), paints: (one, other) }),
        }
    }
    runs
}

/// A part of a screen.
pub(crate) fn cropped(buf: Buffer, part: Rect) -> Buffer {
    let part = part.intersection(buf.area);
    if part == buf.area {
        return buf;
    }
    let mut out = Buffer::empty(part);
    for place in part.positions() {
        if let (Some(to), Some(from)) = (out.cell_mut(place), buf.cell(place)) {
            to.clone_from(from);
        }
    }
    out
}

/// Counts the rows above the last one that hold nothing inside the pane's border.
pub(crate) fn blank_rows(pane: &Buffer) -> u16 {
    let area = pane.area;
    let inside = |row: u16| {
        let mut cells = (area.left() + 1..area.right().saturating_sub(1)).filter_map(|column| pane.cell((column, row)));
        cells.all(|cell| cell.symbol() == " ")
    };
    let rows = (area.top() + 1..area.bottom().saturating_sub(1)).rev();
    rows.take_while(|row| inside(*row)).count() as u16
}

/// Draws one screen, in a dark and in a light theme. `title` says what it shows, for those who do not see it.
pub(crate) fn svg(dark: &Buffer, light: &Buffer, title: &str) -> String {
    svg_named(dark, light, title, "")
}

/// Draws the same, its styles under a name of their own: several are in one document.
pub(crate) fn svg_named(dark: &Buffer, light: &Buffer, title: &str, own: &str) -> String {
    let (columns, rows) = (usize::from(dark.area.width), usize::from(dark.area.height));
    let (width, height) = (columns * WIDTH + 2 * EDGE, rows * HEIGHT + 2 * EDGE);
    let mut classes: BTreeMap<(Paint, Paint), usize> = BTreeMap::new();
    let mut body = String::new();
    for row in 0..dark.area.height {
        for run in runs(dark, light, dark.area.top() + row) {
            let next = classes.len();
            let class = *classes.entry(run.paints).or_insert(next);
            let (x, y) = (EDGE + run.column * WIDTH, EDGE + usize::from(row) * HEIGHT);
            let long = run.width * WIDTH;
            if run.paints.0.paper != DARK.paper || run.paints.1.paper != LIGHT.paper {
                let _ = write!(
                    body,
                    "<rect class=\"{own}b{class}\" x=\"{x}\" y=\"{y}\" width=\"{long}\" height=\"{HEIGHT}\"/>"
                );
            }
            let text = run.text.trim_start_matches(' ');
            let blanks = run.text.len() - text.len();
            let text = text.trim_end_matches(' ');
            if !text.is_empty() {
                let (x, long) = (x + blanks * WIDTH, text.width() * WIDTH);
                let _ = write!(body, "<text class=\"{own}f{class}\" x=\"{x}\" y=\"{}\" textLength=\"{long}\">", y + 14);
                push_markup(text, &mut body);
                body.push_str("</text>");
            }
        }
        body.push('\n');
    }
    let mut out =
        format!("{BEGIN} viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\"><title>");
    push_markup(title, &mut out);
    out.push_str("</title><style>text{font:15px ui-monospace,'Cascadia Code','SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}");
    sheet(&classes, &DARK, own, |paints| paints.0, &mut out);
    out.push_str("@media(prefers-color-scheme:light){");
    sheet(&classes, &LIGHT, own, |paints| paints.1, &mut out);
    let _ = write!(
        out,
        "}}</style><rect class=\"{own}p\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n{body}</svg>\n"
    );
    out
}

fn sheet(
    classes: &BTreeMap<(Paint, Paint), usize>,
    terminal: &Terminal,
    own: &str,
    of: impl Fn(&(Paint, Paint)) -> Paint,
    out: &mut String,
) {
    let _ = write!(out, ".{own}p{{fill:#{:06x}}}", terminal.paper);
    for (paints, class) in classes {
        let paint = of(paints);
        let _ = write!(out, ".{own}b{class}{{fill:#{:06x}}}.{own}f{class}{{fill:#{:06x}", paint.paper, paint.ink);
        for (is_set, rule) in [
            (paint.bold, ";font-weight:700"),
            (paint.italic, ";font-style:italic"),
            (paint.underlined, ";text-decoration:underline"),
            (paint.dim, ";opacity:.55"),
        ] {
            out.push_str(if is_set { rule } else { "" });
        }
        out.push('}');
    }
}

/// A screen as a terminal is told it.
pub(crate) fn ansi(buf: &Buffer) -> String {
    let mut out = "\u{1b}[H\u{1b}[2J".to_owned();
    for row in buf.area.top()..buf.area.bottom() {
        let _ = write!(out, "\u{1b}[{};1H", row + 1 - buf.area.top());
        for run in runs(buf, buf, row) {
            let paint = run.paints.0;
            let _ = write!(
                out,
                "\u{1b}[0{}{}{}{}",
                mark(paint.bold, ";1"),
                mark(paint.dim, ";2"),
                mark(paint.italic, ";3"),
                mark(paint.underlined, ";4")
            );
            for (code, colour, plain) in [(38, paint.ink, DARK.ink), (48, paint.paper, DARK.paper)] {
                if colour != plain {
                    let _ = write!(out, ";{code};2;{};{};{}", colour >> 16 & 255, colour >> 8 & 255, colour & 255);
                }
            }
            let _ = write!(out, "m{}", run.text);
        }
    }
    out.push_str("\u{1b}[0m");
    out
}

const fn mark(is_set: bool, code: &'static str) -> &'static str {
    if is_set { code } else { "" }
}

/// The text of a row.
pub(crate) fn line(buf: &Buffer, row: u16) -> String {
    (buf.area.left()..buf.area.right())
        .filter_map(|column| buf.cell((column, row)))
        .map(ratatui::buffer::Cell::symbol)
        .collect()
}

/// The texts of a part of the screen, each with its lines: what stands between the same borders from row to row is one.
pub(crate) fn texts(buf: &Buffer, area: Rect) -> Vec<String> {
    let (mut done, mut open) = (Vec::new(), BTreeMap::<u16, String>::new());
    for row in area.top()..area.bottom() {
        let mut own = BTreeMap::<u16, String>::new();
        let mut begins = None;
        for column in area.left()..area.right() {
            let symbol = buf.cell((column, row)).map_or(" ", ratatui::buffer::Cell::symbol);
            if is_line(symbol) {
                begins = None;
            } else {
                own.entry(*begins.get_or_insert(column)).or_default().push_str(symbol);
            }
        }
        for (column, text) in &mut own {
            if let Some(above) = open.remove(column) {
                *text = format!("{above}\n{}", text.trim_end());
            }
        }
        done.extend(std::mem::replace(&mut open, own).into_values());
    }
    done.extend(open.into_values());
    done
}

/// Recording for asciinema players. Version 2 has the times since the beginning, version 3 those since the event
/// before.
pub(crate) struct Recording {
    version: u64,
    before: Duration,
    out: Vec<u8>,
}

impl Recording {
    /// Starts a recording without events, of a terminal with these columns and rows.
    pub(crate) fn new((columns, rows): (u16, u16), version: u64, title: &Shown) -> Self {
        let mut out = Vec::new();
        Style::ASCII.line(&mut out, |object| {
            object.put("version", version);
            if version == 2 {
                object.put("width", u64::from(columns)).put("height", u64::from(rows));
            } else {
                object.object("term", |term| {
                    term.put("cols", u64::from(columns)).put("rows", u64::from(rows)).put("type", "xterm-256color");
                });
            }
            object.put("title", title);
        });
        Self { version, before: Duration::ZERO, out }
    }

    /// Adds an event, at a time since the beginning.
    pub(crate) fn event(&mut self, kind: &str, text: &str, time: Duration) {
        let at = if self.version == 2 { time } else { time.saturating_sub(self.before) };
        self.before = time;
        self.out.extend_from_slice(format!("[{:.3}, \"{kind}\", ", at.as_secs_f64()).as_bytes());
        self.out.extend_from_slice(&Style::ASCII.of(Untrusted::from(text)));
        self.out.extend_from_slice(b"]\n");
    }

    /// The file.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    fn buffer(ink: Color) -> Buffer {
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 2));
        buf.set_string(0, 0, "<a> & \"漢字\"", Style::new().fg(ink));
        buf.set_string(0, 1, "   b", Style::new().add_modifier(Modifier::REVERSED));
        buf
    }

    #[test]
    fn a_picture_is_sound_and_keeps_the_grid() {
        let picture = svg(&buffer(Color::Rgb(1, 2, 3)), &buffer(Color::Rgb(4, 5, 6)), "<t>");
        assert!(picture.starts_with(BEGIN) && picture.contains("<title>&lt;t&gt;</title>"));
        assert!(picture.contains("textLength=\"108\">&lt;a&gt; &amp; &quot;漢字&quot;</text>"), "{picture}");
        assert!(picture.contains("fill:#010203") && picture.contains("fill:#040506"), "dark and light");
        assert!(picture.contains(&format!("x=\"{}\" y=\"45\" textLength=\"9\">b<", EDGE + 3 * WIDTH)), "{picture}");
    }

    #[test]
    fn a_frame_fills_the_screen() {
        let mut parser = vt100::Parser::new(2.try_into().unwrap(), 12.try_into().unwrap(), 0);
        parser.process(ansi(&buffer(Color::Red)).as_bytes());
        assert_eq!(parser.screen().contents(), "<a> & \"漢字\"\n   b        ");
        assert!(parser.screen().cell(1, 3).is_some_and(|cell| cell.bgcolor() != vt100::Color::Default));
    }
}
