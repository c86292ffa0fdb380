//! A line that is being typed: what goes in at once, and what of it is on screen. Both cost what they are about, however
//! long the line is.

use std::borrow::Cow;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::{Input as Line, InputRequest};
use unicode_width::UnicodeWidthStr;

use crate::widgets::prose::tail;
use stepscope_base::text::Shown;
use stepscope_base::text::cut;

/// Largest number of bytes of a line: as many as of a note.
pub const MAX_LINE: usize = 64 << 10;
/// Largest number of bytes of a line in one column of the screen: a character and the marks over it.
const COLUMN: usize = 64;

/// Hint behind a text that is proposed: the first letter that is typed takes its place, any other key edits it.
const PROPOSED: &str = "   Enter accept · type to replace · <escape> cancel";

/// Hint in a line in which nothing is typed yet.
const EMPTY: &str = "   <take_edit> accept · <escape> cancel";

/// The hint behind what is typed, if there is one.
pub(crate) fn hint(line: &Line, proposed: bool) -> Option<&'static str> {
    if proposed {
        return Some(PROPOSED);
    }
    line.value().is_empty().then_some(EMPTY)
}

/// Empties a line whose text is only proposed, where a letter is typed.
pub(crate) fn replace_proposed(line: &mut Line, proposed: bool, event: KeyEvent) {
    if proposed && matches!(event.code, KeyCode::Char(_)) && !event.modifiers.contains(KeyModifiers::CONTROL) {
        *line = Line::default();
    }
}

/// Finds the byte of the character under the cursor.
pub(crate) fn cursor_byte(line: &Line) -> usize {
    let typed = line.value();
    typed.char_indices().nth(line.cursor()).map_or(typed.len(), |(at, _)| at)
}

/// Joins the lines of a text by a blank each, and leaves out its control characters but for tabs.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.trim_end_matches(['\r', '\n']).replace("\r\n", "\n");
    let blank = |c: char| if matches!(c, '\n' | '\r') { ' ' } else { c };
    text.chars().map(blank).filter(|c| !c.is_control() || *c == '\t').collect()
}

/// Puts a text in at the cursor, as one line, as far as there is room; `false`: some was left out.
pub fn insert(line: &mut Line, text: &str) -> bool {
    let (typed, at) = (line.value(), cursor_byte(line));
    let room = MAX_LINE.saturating_sub(typed.len());
    let clean = one_line(text).replace('\t', " ");
    let fits = cut(&clean, room);
    let (before, after) = (typed.get(..at).unwrap_or_default(), typed.get(at..).unwrap_or_default());
    let cursor = line.cursor() + fits.chars().count();
    let whole = fits.len() == clean.len();
    *line = Line::new([before, fits, after].concat()).with_cursor(cursor);
    whole
}

/// The part of the line that is on screen, and the column of the cursor in it. What is invisible is shown as a sign, so
/// columns are counted on what is shown.
pub fn window(line: &Line, room: usize) -> (String, usize) {
    let (typed, at) = (line.value(), cursor_byte(line));
    let (before, after) = (typed.get(..at).unwrap_or_default(), typed.get(at..).unwrap_or_default());
    let most = room.saturating_add(1).saturating_mul(COLUMN);
    let start = (before.len().saturating_sub(most)..=before.len()).find(|start| before.is_char_boundary(*start));
    let near = before.get(start.unwrap_or(0)..).unwrap_or_default();
    let shown = Shown::line(near.as_bytes());
    let mut head = Cow::from(tail(shown.as_str(), room));
    if room > 0 && (near.len() < before.len() || head.len() < shown.as_str().len()) {
        head = format!("…{}", tail(shown.as_str(), room - 1)).into();
    }
    let after = Shown::line(cut(after, most).as_bytes());
    (format!("{head}{after}"), head.width())
}

/// Edits a line as shells do; `false`: the key means nothing there, or the line is full.
pub fn edit(line: &mut Line, event: KeyEvent) -> bool {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let request = match event.code {
        KeyCode::Char('a') if control => InputRequest::GoToStart,
        KeyCode::Char('e') if control => InputRequest::GoToEnd,
        KeyCode::Char('w') if control => InputRequest::DeletePrevWord,
        KeyCode::Char('u') if control => InputRequest::DeleteLine,
        KeyCode::Char('k') if control => InputRequest::DeleteTillEnd,
        KeyCode::Char('h') if control => InputRequest::DeletePrevChar,
        KeyCode::Char(c) if !control && line.value().len() + c.len_utf8() <= MAX_LINE => InputRequest::InsertChar(c),
        KeyCode::Backspace => InputRequest::DeletePrevChar,
        KeyCode::Delete => InputRequest::DeleteNextChar,
        KeyCode::Left if control => InputRequest::GoToPrevWord,
        KeyCode::Right if control => InputRequest::GoToNextWord,
        KeyCode::Left => InputRequest::GoToPrevChar,
        KeyCode::Right => InputRequest::GoToNextChar,
        KeyCode::Home => InputRequest::GoToStart,
        KeyCode::End => InputRequest::GoToEnd,
        _ => return false,
    };
    line.handle(request);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_in_at_the_cursor_as_far_as_there_is_room() {
        let mut line = Line::new("ab".into()).with_cursor(1);
        assert!(insert(&mut line, "é\u{1b}漢\n"));
        assert_eq!((line.value(), line.cursor()), ("aé漢b", 3));
        let mut lines = Line::default();
        assert!(insert(&mut lines, "one\r\ntwo\tthree\nfour\n"));
        assert_eq!(lines.value(), "one two three four");
        assert!(!insert(&mut line, &"漢".repeat(MAX_LINE)), "some was left out");
        assert!(line.value().len() <= MAX_LINE && line.value().len() > MAX_LINE - 3 && line.value().ends_with("漢b"));
        let full = line.value().len();
        while line.value().len() < MAX_LINE {
            assert!(edit(&mut line, KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)));
        }
        assert!(!edit(&mut line, KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)), "{full}");
    }

    #[test]
    fn the_end_before_the_cursor_is_on_screen() {
        assert_eq!(window(&Line::new("abcdef".into()), 4), ("…def".into(), 4));
        assert_eq!(window(&Line::new("abcdef".into()).with_cursor(1), 4), ("abcdef".into(), 1));
        assert_eq!(window(&Line::new("漢字漢字".into()), 5), ("…漢字".into(), 5));
        assert_eq!(window(&Line::new("a\u{202e}".into()), 20), ("a⟨U+202E⟩".into(), 9));
        assert_eq!(window(&Line::new("x".repeat(MAX_LINE)), 3), ("…xx".into(), 3));
        assert_eq!(window(&Line::new("abc".into()), 0).1, 0);
    }
}
