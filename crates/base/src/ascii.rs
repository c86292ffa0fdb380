//! Text in ASCII, for terminals and locales that show nothing else: signs become their twins, all else an escape.

use std::fmt::Write as _;

use crate::pieces::{Piece, pieces};

/// Signs and their ASCII twins, one character for one. Signs that one screen explains side by side have different ones.
const TWINS: [(&str, &str); 61] = [
    ("─╌╴╶╸╺", "-"),
    ("━", "_"),
    ("═", "="),
    ("│┆╎║╵╷╹╻", "|"),
    ("┃", "I"),
    ("╭╮╰╯├┤┬┴┼┌┐└┘╒╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡╢╣╤╥╦╧╨╩╪╫╬", "+"),
    ("█▊▉▋", "#"),
    ("■", "@"),
    ("▓", "="),
    ("▏▎▍▌", "|"),
    ("≥", ">"),
    ("≤", "<"),
    ("◧", "A"),
    ("◨", "B"),
    ("▒░", ":"),
    ("▲", "^"),
    ("·•", "."),
    ("✓", "v"),
    ("✗×", "x"),
    ("÷", "/"),
    ("⊘∅", "0"),
    ("–−—", "-"),
    ("☑", "Y"),
    ("☒", "N"),
    ("◉", "O"),
    ("◑", "%"),
    ("◌", "x"),
    ("◍", "?"),
    ("⊕", "P"),
    ("⊖", "F"),
    ("⊙", "&"),
    ("▁", "_"),
    ("▄", "="),
    ("◷", "D"),
    ("↷", "S"),
    ("↻", "C"),
    ("↺", "R"),
    ("❯▸▶→⟩", ">"),
    ("⇒", ")"),
    ("↗", "/"),
    ("←⟨", "<"),
    ("▾▼", "v"),
    ("▴", "^"),
    ("◆", "W"),
    ("◈", "B"),
    ("◇", "U"),
    ("○●", "o"),
    ("∘", ","),
    ("≙", ":"),
    // A full stop would look like the end of a number or sentence.
    ("…⋯", "~"),
    ("“”«»≡", "\""),
    ("‘’", "'"),
    ("✎", "E"),
    ("≠", ";"),
    ("⚑⚐", "!"),
    ("≈", "~"),
    ("≅", "~"),
    ("⊂", "("),
    ("□", "n"),
    ("√", "V"),
    ("⏎", "/"),
];
/// Superscripts: the numbers of a question, and powers.
const SUPERSCRIPTS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/// Twins in running text, where one character would say something else.
const LONGER: [(char, &str); 8] =
    [('…', "..."), ('⋯', "..."), ('≥', ">="), ('≤', "<="), ('≠', "!="), ('≡', "=="), ('⇒', "=>"), ('√', "sqrt")];

/// Blanks between two columns of a line.
const GAP: usize = 2;

/// Variables that name the locale, the strongest first.
const LOCALE: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Returns the locale's name from the environment, if one is set.
pub fn locale(get: impl Fn(&str) -> Option<String>) -> Option<String> {
    LOCALE.into_iter().filter_map(get).find(|locale| !locale.is_empty())
}

/// Tells whether a locale takes characters beyond ASCII; one that is not set does.
pub fn is_utf8(locale: Option<&str>) -> bool {
    locale.is_none_or(|locale| locale.to_lowercase().replace('-', "").contains("utf8"))
}

/// Returns the twin of a cell of the screen, one character wide; a symbol without a twin becomes `?`.
pub fn cell(symbol: &str) -> &'static str {
    let mut letters = symbol.chars();
    let one = letters.next().filter(|_| letters.next().is_none());
    // A digit would be read as part of the number before it.
    one.and_then(|c| twin(c).or_else(|| superscript(c, "jabcdefghi"))).unwrap_or("?")
}

fn twin(c: char) -> Option<&'static str> {
    TWINS.iter().find(|(signs, _)| signs.contains(c)).map(|(_, twin)| *twin)
}

/// Returns what stands for a superscript digit, of the signs from 0 to 9.
fn superscript(c: char, signs: &'static str) -> Option<&'static str> {
    let digit = SUPERSCRIPTS.chars().position(|digit| digit == c)?;
    signs.get(digit..=digit)
}

/// Appends a character of running text: itself, its twin, or an escape as JSON has it.
pub fn push(c: char, out: &mut String) {
    let longer = || LONGER.iter().find(|(sign, _)| *sign == c).map(|(_, twin)| *twin);
    if c.is_ascii() {
        out.push(c);
    } else if let Some(digit) = superscript(c, "0123456789") {
        // A power is no further digit.
        out.push('^');
        out.push_str(digit);
    } else if let Some(twin) = longer().or_else(|| twin(c)) {
        out.push_str(twin);
    } else {
        escape(u32::from(pictured(c).unwrap_or(c)), out);
    }
}

/// The control that a picture stands for, as in `␛`.
fn pictured(c: char) -> Option<char> {
    match c {
        '␀'..='␟' => char::from_u32(u32::from(c) - u32::from('␀')),
        '␡' => Some('\u{7f}'),
        _ => None,
    }
}

/// Appends the escape of a character, or of half a pair, as JSON has it.
pub fn escape(code: u32, out: &mut String) {
    let mut units = [0; 2];
    let units = match char::from_u32(code) {
        Some(c) => &*c.encode_utf16(&mut units),
        None => &[code as u16],
    };
    for unit in units {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Running text in ASCII. Columns keep their places where the blanks between them allow it.
pub fn text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 16);
    let (mut blanks, mut wider) = (0, 0);
    for (range, piece) in pieces(bytes) {
        if piece == Piece::Char(' ') {
            blanks += 1;
            continue;
        }
        let fewer = wider.min(usize::saturating_sub(blanks, GAP));
        out.extend(std::iter::repeat_n(' ', blanks - fewer));
        (blanks, wider) = (0, wider - fewer);
        let from = out.len();
        match piece {
            Piece::Char('\n') => {
                out.push('\n');
                wider = 0;
                continue;
            }
            // The end of a column that is full: there is no room for more.
            Piece::Char(c @ '…') if bytes.get(range.end..).is_some_and(|rest| rest.starts_with(b"  ")) => {
                out.extend(twin(c));
            }
            Piece::Char(c) => push(c, &mut out),
            Piece::Surrogate(code) => escape(code, &mut out),
            Piece::Byte(_) => escape(u32::from(char::REPLACEMENT_CHARACTER), &mut out),
        }
        wider += out.len() - from - 1;
    }
    out.extend(std::iter::repeat_n(' ', blanks));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_one_cell() {
        for (signs, twin) in TWINS {
            assert!(twin.len() == 1 && twin.is_ascii(), "{signs}");
            for sign in signs.chars() {
                assert_eq!(cell(&sign.to_string()).len(), 1, "{sign}");
            }
        }
        assert_eq!(["█", "³", "é", "漢", "e\u{301}", "…"].map(cell), ["#", "c", "?", "?", "?", "~"]);
    }

    #[test]
    fn running_text_keeps_what_it_says() {
        for (given, told) in [
            ("─ ✓ ✗ ▲ · “a” — b", "- v x ^ . \"a\" - b"),
            ("x² ≥ 10⁻", "x^2 >= 10\\u207b"),
            ("a ≠ b, …", "a != b, ..."),
            ("caf\u{e9} 漢 🍎", "caf\\u00e9 \\u6f22 \\ud83c\\udf4e"),
            ("a␛[31m⟨U+202E⟩␡", "a\\u001b[31m<U+202E>\\u007f"),
        ] {
            assert_eq!(text(given.as_bytes()), told);
        }
        assert_eq!(text(b"\xed\xa0\x80 \xff \x1b[1mx"), "\\ud800 \\ufffd \x1b[1mx");
    }

    #[test]
    fn columns_keep_their_places() {
        let lines = "id  caf\u{e9}        pass\nid  coffee      fail\nid  a long tex…  fail\n\u{e9}  x\n   y";
        let told = "id  caf\\u00e9   pass\nid  coffee      fail\nid  a long tex~  fail\n\\u00e9  x\n   y";
        assert_eq!(text(lines.as_bytes()), told);
    }

    #[test]
    fn the_strongest_variable_that_is_set_names_the_locale() {
        let named = |set: &'static [(&str, &str)]| {
            locale(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(named(&[("LANG", "C"), ("LC_ALL", "")]).as_deref(), Some("C"));
        assert_eq!(named(&[("LANG", "C"), ("LC_CTYPE", "en_US.UTF-8")]).as_deref(), Some("en_US.UTF-8"));
        assert_eq!(named(&[]), None);
        for (locale, takes_all) in
            [(None, true), (Some("C"), false), (Some("C.utf8"), true), (Some("de_DE.UTF-8"), true)]
        {
            assert_eq!(is_utf8(locale), takes_all, "{locale:?}");
        }
    }
}
