//! The screen in ASCII, for terminals and locales that show nothing else.

use ratatui::buffer::Buffer;
use stepscope_base::ascii::cell;

/// Replaces what is not ASCII on the whole screen.
pub(crate) fn draw(buf: &mut Buffer) {
    for shown in &mut buf.content {
        if !shown.symbol().is_ascii() {
            shown.set_symbol(cell(shown.symbol()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widgets::sign;

    #[test]
    fn every_sign_has_a_twin_in_ascii_and_verdicts_stay_apart() {
        for (glyph, meaning) in
            sign::OUTCOMES.iter().chain(&sign::SEVERITIES).chain(&sign::VERDICTS).chain(&sign::CITATIONS)
        {
            assert!(glyph.is_ascii() || cell(glyph) != "?" || *glyph == sign::UNPROVEN, "{meaning}");
            assert_ne!(cell(sign::CORRECT), cell(sign::WRONG));
        }
        // Bars, areas and scales of charts.
        for glyph in ["▏", "▍", "▌", "▋", "▉", "█", "▓", "▒", "░", "├", "┤", "●", "┼", "◧", "◨", "≥", "▼"]
        {
            assert_ne!(cell(glyph), "?", "{glyph}");
        }
        // Borders, and every way in which those of two panes can meet.
        for line in "─│┌┐└┘├┤┬┴┼╭╮╰╯╴╵╶╷".chars().chain('═'..='╬') {
            assert_ne!(cell(line.encode_utf8(&mut [0; 4])), "?", "{line}");
        }
        let mut buf = Buffer::with_lines(["╭ Steps ³ ╮", "❯ ✗ 漢 é ≙"]);
        draw(&mut buf);
        assert!(buf.content.iter().all(|cell| cell.symbol().is_ascii()), "{buf:?}");
        assert_eq!(buf, Buffer::with_lines(["+ Steps c +", "> x ?  ? :"]));
    }
}
