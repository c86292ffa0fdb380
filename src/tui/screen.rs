//! Frames as bytes: ratatui draws into memory, never to the terminal.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Rect, Size};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use unicode_width::UnicodeWidthStr as _;

use crate::domain::text::is_hidden;

// The terminal shows a frame at once, not while it is being read.
const SYNC_ON: &[u8] = b"\x1b[?2026h";
const SYNC_OFF: &[u8] = b"\x1b[?2026l";
/// Stands for a cell that must not reach the terminal.
const REFUSED: Cell = Cell::new("\u{fffd}");

/// The screen as ratatui knows it.
pub(super) struct Screen {
    terminal: Terminal<Steady>,
    sink: Sink,
    size: Size,
}

impl Screen {
    pub(super) fn new(size: Size) -> io::Result<Self> {
        // The theme decides about colours, also for NO_COLOR; crossterm's own switch would also lose bold and reverse.
        crossterm::style::force_color_output(true);
        let sink = Sink::default();
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::from(size)) };
        let terminal = Terminal::with_options(Steady(CrosstermBackend::new(sink.clone())), options)?;
        Ok(Self { terminal, sink, size })
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// Everything is drawn anew with the next frame, in this size.
    pub(super) fn repaint(&mut self, size: Size) -> io::Result<()> {
        self.size = size;
        self.terminal.resize(Rect::from(size))
    }

    /// Draws, and returns what changes the terminal's screen accordingly.
    pub(super) fn frame(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<Vec<u8>> {
        self.terminal.draw(draw)?;
        let drawn = self.sink.0.take();
        Ok([SYNC_ON, &drawn, SYNC_OFF].concat())
    }
}

/// Where ratatui writes to.
#[derive(Debug, Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the columns straight and the terminal safe whatever a cell holds.
///
/// Terminals disagree about the width of emoji and of clusters, so such a cell is cleared first and the cursor is
/// placed anew behind it. A control or an invisible character in a cell is a mistake of ours (data passes
/// `domain::text` long before); here is the last place to keep it from the terminal.
struct Steady(CrosstermBackend<Sink>);

/// How a cell is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sure,
    Unsure,
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

impl Steady {
    fn draw_unsure(&mut self, x: u16, y: u16, cell: &Cell) -> io::Result<()> {
        let mut blank = Cell::new(" ");
        blank.set_style(cell.style());
        let width = u16::try_from(cell.symbol().width()).unwrap_or(1).clamp(1, 2);
        self.0.draw((x..x.saturating_add(width)).map(|x| (x, y, &blank)))?;
        self.0.draw(std::iter::once((x, y, cell)))
    }
}

impl Backend for Steady {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut content = content.peekable();
        let mut refused = REFUSED;
        while content.peek().is_some() {
            let sure = std::iter::from_fn(|| content.next_if(|(_, _, cell)| kind(cell.symbol()) == Kind::Sure));
            // An inner call ends with a reset of the style, so an empty one is not free.
            let mut sure = sure.peekable();
            if sure.peek().is_some() {
                self.0.draw(sure)?;
            }
            let Some((x, y, cell)) = content.next() else { break };
            if kind(cell.symbol()) == Kind::Unsure {
                self.draw_unsure(x, y, cell)?;
            } else {
                refused.set_style(cell.style());
                self.0.draw(std::iter::once((x, y, &refused)))?;
            }
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        // Asking the terminal would wait for its answer; a fixed viewport does not need it.
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.0.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Style};
    use ratatui::text::Line;
    use ratatui::widgets::{Block, Paragraph};

    fn frame(screen: &mut Screen, text: &str) -> String {
        let bytes = screen.frame(|frame| {
            let style = Style::default().fg(Color::Rgb(1, 2, 3));
            frame.buffer_mut().set_string(1, 0, text, style);
            frame.buffer_mut().set_string(8, 0, "|", style);
        });
        String::from_utf8(bytes.unwrap()).unwrap()
    }

    #[test]
    fn a_change_costs_what_changed() {
        let mut screen = Screen::new(Size::new(80, 24)).unwrap();
        frame(&mut screen, "abc");
        let change = frame(&mut screen, "abd");
        assert!(change.contains("\x1b[1;4H") && change.contains('d') && !change.contains('a'), "{change:?}");
        assert!(change.len() < 80, "{change:?}");
        assert!(change.starts_with("\x1b[?2026h") && change.ends_with("\x1b[?2026l"));
    }

    #[test]
    fn the_cursor_is_placed_anew_after_what_terminals_disagree_about() {
        let mut screen = Screen::new(Size::new(20, 2)).unwrap();
        let drawn = frame(&mut screen, "a👍🏽bc");
        assert!(drawn.contains("\x1b[1;5H") && drawn.contains("bc"), "{drawn:?}");
        let drawn = frame(&mut screen, "漢字xyz");
        assert!(drawn.contains('漢') && drawn.contains('字') && drawn.contains("xyz"), "{drawn:?}");
    }

    #[test]
    fn no_control_leaves_the_screen() {
        // Not through a buffer: there a debug build panics at a control.
        let sink = Sink::default();
        let mut steady = Steady(CrosstermBackend::new(sink.clone()));
        let cells = ["\x1b]0;x\x07", "\u{9b}", "a\u{202e}", "\u{e0041}", "\n", "ok"].map(Cell::new);
        steady.draw((0..).zip(&cells).map(|(y, cell)| (0, y, cell))).unwrap();
        let text = String::from_utf8(sink.0.take()).unwrap();
        assert_eq!(text.matches('\u{fffd}').count(), 5, "{text:?}");
        assert!(!text.contains("0;x") && !text.contains('\u{202e}') && text.contains("ok"));
    }

    #[test]
    fn any_size_can_be_drawn() {
        let mut screen = Screen::new(Size::new(1, 1)).unwrap();
        for (width, height) in [(1, 1), (2, 1), (1000, 500), (1000, 1), (1, 500), (80, 24)] {
            screen.repaint(Size::new(width, height)).unwrap();
            let frame = |frame: &mut Frame<'_>| {
                let text = vec![Line::raw("x".repeat(2000)); 600];
                frame.render_widget(Paragraph::new(text).block(Block::bordered()), frame.area());
            };
            screen.frame(frame).unwrap();
            assert_eq!(screen.size(), Size::new(width, height));
        }
    }
}
