//! The terminal's clipboard, as a control sequence (OSC 52), also through tmux and screen.

use std::ffi::OsString;

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;

/// The longest control string that screen passes on, less its frame.
const SCREEN_PIECE: usize = 700;

/// Program between this one and the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multiplexer {
    /// It passes on what it was told to: `set-clipboard on`, or `allow-passthrough on`.
    Tmux,
    /// It passes on control strings of limited length.
    Screen,
}

impl Multiplexer {
    /// Finds the innermost one by the variables that each sets.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        match () {
            () if is_set("TMUX") => Some(Self::Tmux),
            () if is_set("STY") || term.to_string_lossy().starts_with("screen") => Some(Self::Screen),
            () => None,
        }
    }
}

/// Returns what puts a text on the clipboard of the terminal that is `behind` this multiplexer.
pub(crate) fn sequence(text: &str, behind: Option<Multiplexer>) -> String {
    let mut plain = String::new();
    let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut plain);
    match behind {
        None => plain,
        // Which of both tmux takes depends on its settings; taken twice the clipboard is the same.
        Some(Multiplexer::Tmux) => {
            let wrapped = plain.replace('\x1b', "\x1b\x1b");
            plain + "\x1bPtmux;" + &wrapped + "\x1b\\"
        }
        // The end of the inner string would end the outer one: a bell ends it too.
        Some(Multiplexer::Screen) => {
            let inner = plain.trim_end_matches("\x1b\\").to_owned() + "\x07";
            let mut wrapped = String::with_capacity(inner.len() + inner.len() / SCREEN_PIECE * 4 + 4);
            for piece in inner.as_bytes().chunks(SCREEN_PIECE) {
                wrapped += "\x1bP";
                wrapped += &String::from_utf8_lossy(piece);
                wrapped += "\x1b\\";
            }
            wrapped
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(set: &[(&str, &str)]) -> Option<Multiplexer> {
        Multiplexer::of(|name| set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn the_innermost_multiplexer_is_found() {
        assert_eq!(among(&[("TERM", "xterm")]), None);
        assert_eq!(among(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/tmux-0/default,1,0")]), Some(Multiplexer::Tmux));
        assert_eq!(among(&[("TERM", "screen-256color"), ("TMUX", "/tmp/a,1,0")]), Some(Multiplexer::Tmux));
        assert_eq!(among(&[("TERM", "screen"), ("STY", "12.pts-0")]), Some(Multiplexer::Screen));
        assert_eq!(among(&[("TMUX", "")]), None);
    }

    #[test]
    fn tmux_is_given_it_plain_and_wrapped() {
        let (plain, whole) = (sequence("a", None), sequence("a", Some(Multiplexer::Tmux)));
        assert_eq!(plain, "\x1b]52;c;YQ==\x1b\\");
        assert_eq!(whole, format!("{plain}\x1bPtmux;\x1b\x1b]52;c;YQ==\x1b\x1b\\\x1b\\"));
    }

    #[test]
    fn screen_is_given_pieces_that_it_takes() {
        let text = "long ".repeat(1_000);
        let whole = sequence(&text, Some(Multiplexer::Screen));
        let pieces: Vec<&str> = whole.split_terminator("\x1b\\").collect();
        assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.starts_with("\x1bP") && piece.len() < 768));
        let joined: String = pieces.iter().map(|piece| &piece[2..]).collect();
        assert_eq!(joined, sequence(&text, None).trim_end_matches("\x1b\\").to_owned() + "\x07");
    }
}
