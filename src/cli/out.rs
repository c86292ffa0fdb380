//! Standard output and standard error: the one place of the library that prints.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;

use crate::cli::codes::FAILED;
use stepscope_base::ascii::{self, is_utf8, locale};
use stepscope_base::guard::{is_guarded, sentence};
use stepscope_base::json::write::Sink;
use stepscope_base::shown;
use stepscope_base::text::{Piece, Shown, is_hidden, pieces};
use stepscope_record::finding::grouped;
use stepscope_report::text::Look;

/// Number of gathered bytes that are written together.
const BUFFER: usize = 64 << 10;
/// Maximum number of sentences of one kind on standard error.
const MAX_COMPLAINTS: usize = 1_000;

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Output of all commands, which notices when it is no longer read. Into a file or a pipe every byte goes as it is; a
/// terminal is shown controls and invisible characters as JSON's escapes, so that JSON stays JSON. Text for people is in
/// ASCII where that was asked for, and on a terminal whose locale is not UTF-8.
#[derive(Debug)]
pub struct Out {
    buffer: Vec<u8>,
    ended: Option<OutputEnd>,
    is_terminal: bool,
    ascii: AsciiOnly,
}

impl Default for Out {
    fn default() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let is_utf8 = is_utf8(locale(|name| std::env::var(name).ok()).as_deref());
        let stderr = !is_utf8 && std::io::stderr().is_terminal();
        let ascii = AsciiOnly { stdout: !is_utf8 && is_terminal, stderr, files: false };
        Self { buffer: Vec::new(), ended: None, is_terminal, ascii }
    }
}

/// Streams on which text for people is in ASCII.
#[derive(Clone, Copy, Debug)]
struct AsciiOnly {
    stdout: bool,
    stderr: bool,
    /// True if it was asked for, and holds for files too.
    files: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OutputEnd {
    /// Pipe closed by its reader, as `head` does: nothing is wrong.
    Closed,
    /// Failure to write the output.
    Failed,
}

impl Sink for Out {
    fn put(&mut self, bytes: &[u8]) {
        self.write(bytes);
    }
}

impl Out {
    /// Returns standard output, with nothing gathered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes text for people in ASCII from now on, if that was asked for.
    pub(super) fn in_ascii(&mut self, is_asked: bool) {
        let AsciiOnly { stdout, stderr, files } = self.ascii;
        self.ascii = AsciiOnly { stdout: stdout || is_asked, stderr: stderr || is_asked, files: files || is_asked };
    }

    /// Tells whether text for people in a file is in ASCII; `-` is standard output.
    pub(super) fn is_ascii(&self, file: &Path) -> bool {
        if file.as_os_str() == "-" { self.ascii.stdout } else { self.ascii.files }
    }

    /// Adds bytes for programs, in whole characters: the same in every locale.
    pub fn write(&mut self, bytes: &[u8]) {
        self.add(bytes, false);
    }

    /// Adds text for people that may have our colours and links to files.
    pub fn styled(&mut self, bytes: &[u8]) {
        self.text(bytes, true);
    }

    fn text(&mut self, bytes: &[u8], styled: bool) {
        if self.ascii.stdout && !bytes.is_ascii() {
            self.add(ascii::text(bytes).as_bytes(), styled);
        } else {
            self.add(bytes, styled);
        }
    }

    fn add(&mut self, bytes: &[u8], styled: bool) {
        if self.ended.is_some() {
            return;
        }
        let bytes = if self.is_terminal { harmless(bytes, styled) } else { Cow::Borrowed(bytes) };
        self.buffer.extend_from_slice(&bytes);
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Adds a line for people.
    pub fn line(&mut self, line: &Shown) {
        self.text(line.as_str().as_bytes(), false);
        self.write(b"\n");
    }

    /// Adds text for people to which somebody answers on the same line.
    pub(super) fn prompt(&mut self, prompt: &Shown) {
        self.text(prompt.as_str().as_bytes(), false);
    }

    /// Adds a line for programs.
    pub(super) fn exact(&mut self, line: &Shown) {
        self.write(line.as_str().as_bytes());
        self.write(b"\n");
    }

    /// Tells whether output has ended, so that there is no use in continuing.
    pub(crate) const fn is_closed(&self) -> bool {
        self.ended.is_some()
    }

    /// Tells whether the output could not be written; a reader that had enough is no failure.
    pub(crate) fn has_failed(&self) -> bool {
        self.ended == Some(OutputEnd::Failed)
    }

    /// Writes what was gathered.
    pub fn flush(&mut self) {
        if self.ended.is_none() {
            let mut stdout = std::io::stdout().lock();
            let done = stdout.write_all(&self.buffer).and_then(|()| stdout.flush());
            self.ended = match done {
                Ok(()) => None,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Some(OutputEnd::Closed),
                Err(error) => {
                    self.complain(&shown!("cannot write the output: {}", Shown::error(&error)));
                    Some(OutputEnd::Failed)
                }
            };
        }
        self.buffer.clear();
    }

    /// Prints a sentence on standard error. If that is gone too, the sentence is lost.
    pub fn complain(&self, sentence: &Shown) {
        // In one piece, or it would mix with what another process writes on the same terminal.
        let _ = std::io::stderr().lock().write_all(format!("stepscope: {}\n", self.told(sentence)).as_bytes());
    }

    /// Returns a sentence as standard error takes it.
    fn told(&self, sentence: &Shown) -> Shown {
        if self.ascii.stderr { sentence.clone().ascii() } else { sentence.clone() }
    }

    /// Takes what a result holds. `None`: it holds none, and the reason was printed.
    pub(super) fn given<T>(&self, result: Result<T, impl Into<Shown>>) -> Option<T> {
        result.map_err(|why| self.complain(&why.into())).ok()
    }

    /// Returns the exit code of a command; if it failed, prints the reason.
    pub fn code(&self, done: Result<u8, Shown>) -> u8 {
        done.unwrap_or_else(|sentence| {
            self.complain(&sentence);
            FAILED
        })
    }

    /// Prints sentences of one kind, of which there may be very many.
    pub(crate) fn complain_of(&self, mut sentences: impl Iterator<Item = Shown>) {
        sentences.by_ref().take(MAX_COMPLAINTS).for_each(|sentence| self.complain(&sentence));
        let more = sentences.count();
        if more > 0 {
            self.complain(&shown!("and {} more of this kind", grouped(more)));
        }
    }

    /// Asks a person, who must say yes; `None`: there is no person at both ends.
    pub fn ask(&self, question: &Shown) -> Option<bool> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return None;
        }
        let mut stderr = std::io::stderr().lock();
        let question = format!("stepscope: {} [y/N] ", self.told(question));
        stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush()).ok()?;
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).ok()?;
        Some(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Tells whether a terminal shows what is written.
    pub const fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Tells whether what is written appears in a terminal that cannot place text.
    pub(super) fn is_dumb(&self) -> bool {
        self.is_terminal && std::env::var_os("TERM").is_some_and(|term| term == "dumb")
    }

    /// Tells whether colours are wanted.
    pub fn colours(&self, when: Colour) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match when {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => !set("NO_COLOR") && !dumb && self.is_terminal,
        }
    }

    /// Returns colours and letters of findings.
    pub(super) fn look(&self, when: Colour) -> Look {
        Look::new(self.colours(when)).in_ascii(self.ascii.stdout)
    }

    /// Writes the rest and returns the exit code: the given one, unless the output could not be written.
    pub fn finish(&mut self, code: u8) -> u8 {
        self.flush();
        if self.has_failed() { FAILED } else { code }
    }
}

/// Reports panics in a sentence from now on: only the first one, and only if nothing else reports it.
pub fn tell_panics() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|info| {
        if !is_guarded() && !TOLD.swap(true, Ordering::Relaxed) {
            Out::new().complain(&sentence(info));
        }
    }));
}

/// Escapes what a terminal may not be shown. `styled`: colours and links are ours.
fn harmless(bytes: &[u8], styled: bool) -> Cow<'_, [u8]> {
    let is_plain = |byte: &u8| matches!(byte, b'\n' | b'\t' | 0x20..0x7f);
    if bytes.iter().all(is_plain) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let mut ours_until = 0;
    for (range, piece) in pieces(bytes) {
        if range.start < ours_until {
            continue;
        }
        let text = bytes.get(range.clone()).unwrap_or_default();
        let code = match piece {
            Piece::Char('\u{1b}') if styled && ours(bytes, range.start).is_some() => {
                ours_until = ours(bytes, range.start).unwrap_or(range.end);
                out.extend_from_slice(bytes.get(range.start..ours_until).unwrap_or_default());
                continue;
            }
            Piece::Char(c) if matches!(c, '\n' | '\t') || !is_hidden(c) => {
                out.extend_from_slice(text);
                continue;
            }
            Piece::Char(c) => u32::from(c),
            Piece::Surrogate(code) => code,
            Piece::Byte(_) => u32::from(char::REPLACEMENT_CHARACTER),
        };
        let mut written = String::new();
        ascii::escape(code, &mut written);
        out.extend_from_slice(written.as_bytes());
    }
    Cow::Owned(out)
}

/// Returns the end of the colour or of the border of a link that begins here, if one does.
fn ours(bytes: &[u8], at: usize) -> Option<usize> {
    colour(bytes, at).or_else(|| link(bytes, at))
}

/// Returns the end of the border of a link to a file: `ESC ] 8 ; ; file://… ESC \`, at the link's end without an
/// address.
fn link(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"\x1b]8;;")?;
    let len = rest.iter().take_while(|byte| byte.is_ascii_graphic()).count();
    let (address, end) = rest.split_at_checked(len)?;
    let is_ours = (address.is_empty() || address.starts_with(b"file://")) && end.starts_with(b"\x1b\\");
    is_ours.then_some(at + 5 + len + 2)
}

/// Returns the end of the colour that begins here, if one does: `ESC [ 1;94 m`.
fn colour(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"\x1b[")?;
    let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'))?;
    (rest.get(end) == Some(&b'm')).then_some(at + 2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8], styled: bool) -> String {
        String::from_utf8(harmless(bytes, styled).into_owned()).unwrap()
    }

    #[test]
    fn a_terminal_is_shown_escapes_and_json_stays_json() {
        let text = "{\"a\": \"\u{9b}31m\u{7f}\u{202e}é漢\u{200b}\u{e0041}\"}\n\t";
        let told = shown(text.as_bytes(), true);
        assert_eq!(told, "{\"a\": \"\\u009b31m\\u007f\\u202eé漢\\u200b\\udb40\\udc41\"}\n\t");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&told), value(text));
        assert_eq!(shown(b"\xed\xa0\x80 \xff \r\n \0", true), "\\ud800 \\ufffd \\u000d\n \\u0000");
    }

    #[test]
    fn colours_are_ours_or_none() {
        let text = b"\x1b[1;38:5:9mx\x1b[0m\x1b[2J\x1b]0;t\x07\x1b[";
        assert_eq!(shown(text, true), "\u{1b}[1;38:5:9mx\u{1b}[0m\\u001b[2J\\u001b]0;t\\u0007\\u001b[");
        assert!(!shown(text, false).contains('\u{1b}'));
    }

    #[test]
    fn links_lead_to_files_or_nowhere() {
        let text = b"\x1b]8;;file://h/a%20b#3\x1b\\x\x1b]8;;\x1b\\";
        assert_eq!(shown(text, true).as_bytes(), text);
        assert!(!shown(text, false).contains('\u{1b}'));
        for other in [
            "\x1b]8;;https://h/a\x1b\\",
            "\x1b]8;id=1;file://h/a\x1b\\",
            "\x1b]8;;file://h/a\x07",
            "\x1b]8;;file://h/a b\x1b\\",
            "\x1b]8;;file://h/\u{e9}\x1b\\",
            "\x1b]8;;file://h/a",
            "\x1b]8;;",
        ] {
            assert!(!shown(other.as_bytes(), true).contains('\u{1b}'), "{other:?}");
        }
    }
}
