//! The screen in ASCII, for terminals and locales that show nothing else.

use ratatui::buffer::Buffer;

/// Glyphs and their ASCII twins; a glyph that is not listed becomes `?`.
const TWINS: [(&str, &str); 38] = [
    ("─━╌", "-"),
    ("═", "="),
    ("│┃┆╎║", "|"),
    ("╭╮╰╯├┤┬┴┼┌┐└┘╔╗╚╝", "+"),
    ("■█▊▉▋", "#"),
    ("▓", "="),
    ("▏▎▍", "|"),
    ("▼", "v"),
    ("≥", ">"),
    ("≤", "<"),
    ("◧", "A"),
    ("◨", "B"),
    ("▒░", ":"),
    ("▲", "^"),
    ("·•", "."),
    ("✓", "v"),
    ("✗×", "x"),
    ("⊘", "0"),
    ("–−—", "-"),
    ("☑", "Y"),
    ("☒", "N"),
    ("◉", "@"),
    ("◑", "%"),
    ("◌", "o"),
    ("◍", "?"),
    ("⊕", "+"),
    ("⊖", "-"),
    ("⊙", "&"),
    ("▁", "_"),
    ("▄", "="),
    ("◷↻↷↺", "~"),
    ("❯▸»▶⇒→", ">"),
    ("▾▼", "v"),
    ("▴", "^"),
    ("◆◈", "*"),
    ("◇○●", "o"),
    ("≙=≡", "="),
    ("…", "."),
];
/// Superscripts of the numbers of a question.
const DIGITS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/// Other characters that people read as these.
const LETTERS: [(&str, &str); 7] =
    [("“”«", "\""), ("‘’", "'"), ("✎", "w"), ("≠", "!"), ("▌", "|"), ("⚑⚐", "!"), ("≈", "~")];

/// Replaces what is not ASCII on the whole screen.
pub(crate) fn draw(buf: &mut Buffer) {
    for cell in &mut buf.content {
        if !cell.symbol().is_ascii() {
            cell.set_symbol(twin(cell.symbol()));
        }
    }
}

fn twin(symbol: &str) -> &'static str {
    let known = TWINS.iter().chain(&LETTERS).find(|(glyphs, _)| glyphs.contains(symbol));
    let digit = || DIGITS.chars().position(|digit| symbol.starts_with(digit));
    match known {
        Some((_, twin)) => twin,
        None => digit().and_then(|digit| "0123456789".get(digit..=digit)).unwrap_or("?"),
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
            assert!(glyph.is_ascii() || twin(glyph).is_ascii(), "{meaning}");
            assert_ne!(twin(sign::CORRECT), twin(sign::WRONG));
        }
        // Bars, areas and scales of charts.
        for glyph in ["▏", "▍", "▌", "▋", "▉", "█", "▓", "▒", "░", "├", "┤", "●", "┼", "◧", "◨", "≥", "▼"]
        {
            assert_ne!(twin(glyph), "?", "{glyph}");
        }
        let mut buf = Buffer::with_lines(["╭ Steps ³ ╮", "❯ ✗ 漢 é ≙"]);
        draw(&mut buf);
        assert!(buf.content.iter().all(|cell| cell.symbol().is_ascii()), "{buf:?}");
        assert_eq!(buf, Buffer::with_lines(["+ Steps 3 +", "> x ?  ? ="]));
    }
}
