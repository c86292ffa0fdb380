//! Bytes from the terminal to events, without a terminal.
//!
//! crossterm's own reader spins when the terminal goes away and can be wedged by a reply that was cut in two, so only
//! its event *types* are used. This decoder is a plain state machine: nothing in it waits, the loop asks
//! `Decoder::patience` how long an unfinished sequence may stay unfinished and then calls `Decoder::expire`.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use crate::colour::Rgb;

/// Longest paste that is kept, in bytes; what comes after it is dropped up to the end of the paste.
pub(crate) const PASTE_LIMIT: usize = 1 << 20;
/// Longest parameter list of a control sequence; a longer one is swallowed.
const CSI_LIMIT: usize = 64;
/// Most bytes kept of an operating system command; the only one we read (the background colour) is far shorter.
const STRING_LIMIT: usize = 128;
/// A lone ESC is the Esc key after this time.
const ESC_PATIENCE: Duration = Duration::from_millis(30);
/// A control sequence that was cut is given up after this time.
const CSI_PATIENCE: Duration = Duration::from_millis(40);
/// A cut string reply waits longer: its tail would else arrive as typed keys.
const STRING_PATIENCE: Duration = Duration::from_millis(200);
/// A paste over a slow line may pause; one that never ends must not swallow the keyboard.
const PASTE_PATIENCE: Duration = Duration::from_secs(1);

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
const PASTE_START: &[u8] = b"\x1b[200~";

/// Input from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key. Shift is part of the character (`Q`, not shift and `q`) and of `BackTab`; it is a modifier only with
    /// keys that have no shifted form.
    Key(KeyEvent),
    /// A mouse report; columns and rows count from 0.
    Mouse(MouseEvent),
    /// Pasted text: line ends are `\n`, control characters are gone, at most `PASTE_LIMIT` bytes.
    Paste(String),
    /// The terminal window got the focus.
    FocusGained,
    /// The terminal window lost the focus.
    FocusLost,
    /// The colour of the terminal's background, as asked for at the start.
    Background(Rgb),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    /// ESC seen.
    Escape,
    /// A character of more than one byte: bytes so far, bytes in all, Alt held.
    Utf8 { bytes: Vec<u8>, need: usize, alt: bool },
    /// ESC [ seen; `lost` when the parameters were too long to keep.
    Csi { params: Vec<u8>, lost: bool },
    /// ESC [ [ seen: a function key of the Linux console follows.
    LinuxKey,
    /// ESC O seen.
    Ss3,
    /// An old mouse report: bytes left to swallow.
    OldMouse(u8),
    /// OSC, DCS, APC, PM or SOS up to its terminator; `esc` when the last byte was ESC.
    Text { osc: bool, bytes: Vec<u8>, esc: bool },
    /// Inside a bracketed paste; `matched` bytes of the end marker seen.
    Paste { bytes: Vec<u8>, matched: usize },
}

/// Turns bytes into [`Input`]s; keeps only what an unfinished sequence needs.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    state: State,
    answers: usize,
    mode_known: bool,
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and returns what they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        let mut out = Vec::new();
        let mut rest = bytes;
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            // A byte that ends a sequence without belonging to it is looked at a second time, from the ground state.
            if !self.step(byte, rest, &mut out) {
                self.step(byte, rest, &mut out);
            }
        }
        out
    }

    /// Time after the last byte until [`Decoder::expire`] is due; `None` when nothing is unfinished.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self.state {
            State::Ground => None,
            State::Escape | State::Utf8 { .. } => Some(ESC_PATIENCE),
            State::Csi { .. } | State::LinuxKey | State::Ss3 | State::OldMouse(_) => Some(CSI_PATIENCE),
            State::Text { .. } => Some(STRING_PATIENCE),
            State::Paste { .. } => Some(PASTE_PATIENCE),
        }
    }

    /// Ends what is unfinished: a lone ESC is the Esc key, an open paste is what came of it, the rest is dropped.
    pub(crate) fn expire(&mut self) -> Vec<Input> {
        match std::mem::take(&mut self.state) {
            State::Escape => vec![key(KeyCode::Esc, KeyModifiers::NONE)],
            State::Paste { bytes, .. } => vec![Input::Paste(pasted(&bytes))],
            _ => Vec::new(),
        }
    }

    /// True if the terminal has said what it knows of modes since the last call.
    pub(crate) fn take_mode_known(&mut self) -> bool {
        std::mem::take(&mut self.mode_known)
    }

    /// Number of device attribute replies since the last call. The writer asks for one to learn how far the
    /// terminal has read.
    pub(crate) fn take_answers(&mut self) -> usize {
        std::mem::take(&mut self.answers)
    }

    /// One byte; false when the byte was not used and the state is the ground state.
    fn step(&mut self, byte: u8, rest: &[u8], out: &mut Vec<Input>) -> bool {
        match std::mem::take(&mut self.state) {
            State::Ground => self.ground(byte, false, out),
            State::Escape => self.escape(byte, out),
            State::Utf8 { bytes, need, alt } => return self.utf8(byte, bytes, need, alt, out),
            State::Csi { params, lost } => return self.csi(byte, params, lost, out),
            State::LinuxKey => {
                if let b'A'..=b'E' = byte {
                    out.push(key(KeyCode::F(byte - b'A' + 1), KeyModifiers::NONE));
                } else {
                    return false;
                }
            }
            State::Ss3 => return ss3(byte, out),
            State::OldMouse(left) => {
                if byte < 0x20 {
                    return false;
                }
                if left > 1 {
                    self.state = State::OldMouse(left - 1);
                }
            }
            State::Text { osc, bytes, esc } => return self.text(byte, osc, bytes, esc, out),
            State::Paste { bytes, matched } => self.paste(byte, bytes, matched, rest, out),
        }
        true
    }

    fn ground(&mut self, byte: u8, alt: bool, out: &mut Vec<Input>) {
        let held = if alt { KeyModifiers::ALT } else { KeyModifiers::NONE };
        let need = match byte {
            ESC => {
                self.state = State::Escape;
                return;
            }
            0..=0x1f | 0x7f => return out.push(control(byte, held)),
            0x20..=0x7e => return out.push(key(KeyCode::Char(char::from(byte)), held)),
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            // A stray continuation byte or an 8-bit control: not text, not a key.
            _ => return,
        };
        self.state = State::Utf8 { bytes: vec![byte], need, alt };
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<Input>) {
        self.state = match byte {
            b'[' => State::Csi { params: Vec::new(), lost: false },
            b'O' => State::Ss3,
            b']' => State::Text { osc: true, bytes: Vec::new(), esc: false },
            b'P' | b'_' | b'^' | b'X' => State::Text { osc: false, bytes: Vec::new(), esc: false },
            ESC => {
                out.push(key(KeyCode::Esc, KeyModifiers::NONE));
                State::Escape
            }
            _ => return self.ground(byte, true, out),
        };
    }

    fn utf8(&mut self, byte: u8, mut bytes: Vec<u8>, need: usize, alt: bool, out: &mut Vec<Input>) -> bool {
        if byte & 0xc0 != 0x80 {
            return false;
        }
        bytes.push(byte);
        if bytes.len() < need {
            self.state = State::Utf8 { bytes, need, alt };
        } else if let Some(c) = std::str::from_utf8(&bytes).ok().and_then(|s| s.chars().next())
            && !c.is_control()
        {
            out.push(key(KeyCode::Char(c), if alt { KeyModifiers::ALT } else { KeyModifiers::NONE }));
        }
        true
    }

    fn csi(&mut self, byte: u8, mut params: Vec<u8>, mut lost: bool, out: &mut Vec<Input>) -> bool {
        match byte {
            b'[' if params.is_empty() => self.state = State::LinuxKey,
            0x20..=0x3f => {
                if params.len() < CSI_LIMIT {
                    params.push(byte);
                } else {
                    lost = true;
                }
                self.state = State::Csi { params, lost };
            }
            0x40..=0x7e if lost => {}
            0x40..=0x7e => self.csi_final(byte, &params, out),
            // CAN and SUB end a sequence by definition; anything else is the start of something new.
            0x18 | 0x1a if !params.is_empty() => {}
            _ => return false,
        }
        true
    }

    fn csi_final(&mut self, byte: u8, params: &[u8], out: &mut Vec<Input>) {
        match (byte, params.first()) {
            (b'M' | b'm', Some(b'<')) => out.extend(mouse(params, byte == b'm')),
            (b'c', Some(b'?')) => self.answers = self.answers.saturating_add(1),
            (b'y', Some(b'?')) if params.starts_with(b"?2026;") => self.mode_known = true,
            // Every other private sequence is a reply to a question we did not ask.
            (_, Some(b'<'..=b'?')) => {}
            (b'M', None) => self.state = State::OldMouse(3),
            (b'I', None) => out.push(Input::FocusGained),
            (b'O', None) => out.push(Input::FocusLost),
            (b'~', _) if params == b"200" => self.state = State::Paste { bytes: Vec::new(), matched: 0 },
            _ => out.extend(csi_key(byte, params)),
        }
    }

    fn text(&mut self, byte: u8, osc: bool, mut bytes: Vec<u8>, esc: bool, out: &mut Vec<Input>) -> bool {
        match byte {
            b'\\' if esc => out.extend(osc_reply(osc, &bytes)),
            // ESC and not its backslash: the string was cut, an escape sequence begins.
            _ if esc => {
                self.state = State::Escape;
                return self.step(byte, &[], out);
            }
            0x07 if osc => out.extend(osc_reply(osc, &bytes)),
            0x18 | 0x1a => {}
            _ => {
                let esc = byte == ESC;
                if !esc && bytes.len() < STRING_LIMIT {
                    bytes.push(byte);
                }
                self.state = State::Text { osc, bytes, esc };
            }
        }
        true
    }

    fn paste(&mut self, byte: u8, mut bytes: Vec<u8>, mut matched: usize, rest: &[u8], out: &mut Vec<Input>) {
        if PASTE_END.get(matched) == Some(&byte) {
            matched += 1;
        } else {
            let room = PASTE_LIMIT.saturating_sub(bytes.len());
            bytes.extend(PASTE_END.iter().take(matched.min(room)));
            matched = usize::from(byte == ESC);
            if matched == 0 && bytes.len() < PASTE_LIMIT {
                bytes.push(byte);
            }
        }
        // An end marker that was pasted itself: the real one stands later in the same read.
        if matched == PASTE_END.len() && another_end_follows(rest) {
            matched = 0;
        }
        if matched == PASTE_END.len() {
            out.push(Input::Paste(pasted(&bytes)));
        } else {
            self.state = State::Paste { bytes, matched };
        }
    }
}

fn another_end_follows(rest: &[u8]) -> bool {
    let end = memchr::memmem::find(rest, PASTE_END);
    end.is_some_and(|end| rest.get(..end).is_some_and(|before| memchr::memmem::find(before, PASTE_START).is_none()))
}

/// Text of a paste: valid UTF-8 only, one kind of line end, no control characters.
fn pasted(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut after_return = false;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\r' => text.push('\n'),
                '\n' if after_return => {}
                '\n' | '\t' => text.push(c),
                c if c.is_control() => {}
                c => text.push(c),
            }
            after_return = c == '\r';
        }
    }
    text
}

fn key(code: KeyCode, held: KeyModifiers) -> Input {
    Input::Key(KeyEvent::new(code, held))
}

fn control(byte: u8, held: KeyModifiers) -> Input {
    let ctrl = held | KeyModifiers::CONTROL;
    match byte {
        b'\t' => key(KeyCode::Tab, held),
        b'\r' => key(KeyCode::Enter, held),
        0x08 | 0x7f => key(KeyCode::Backspace, held),
        0 => key(KeyCode::Char(' '), ctrl),
        0x01..=0x1a => key(KeyCode::Char(char::from(byte - 1 + b'a')), ctrl),
        // Ctrl with \ ] ^ _
        _ => key(KeyCode::Char(char::from(byte | 0x40)), ctrl),
    }
}

fn ss3(byte: u8, out: &mut Vec<Input>) -> bool {
    let code = match byte {
        b'M' => KeyCode::Enter,
        b'I' => KeyCode::Tab,
        b'p'..=b'y' => KeyCode::Char(char::from(byte - b'p' + b'0')),
        b'j'..=b'o' | b'X' => KeyCode::Char(char::from(byte - 0x40)),
        0x20..=0x7e => match letter_key(byte) {
            Some(code) => code,
            None => return true,
        },
        _ => return false,
    };
    out.push(key(code, KeyModifiers::NONE));
    true
}

/// Keys that are named by the last letter of a sequence.
fn letter_key(byte: u8) -> Option<KeyCode> {
    Some(match byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P'..=b'S' => KeyCode::F(byte - b'P' + 1),
        _ => return None,
    })
}

/// Keys that are named by the number before `~`.
fn number_key(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number as u8 - 10),
        17..=21 => KeyCode::F(number as u8 - 11),
        23..=26 => KeyCode::F(number as u8 - 12),
        _ => return None,
    })
}

fn csi_key(byte: u8, params: &[u8]) -> Option<Input> {
    let fields: Vec<Vec<Option<u32>>> = numbers(params)?;
    let number = |at: usize, sub: usize| fields.get(at).and_then(|f| f.get(sub)).copied().flatten();
    let held = modifiers(number(1, 0));
    // Releases are reported only by terminals that were asked to; they are not keys for us.
    if number(1, 1) == Some(3) {
        return None;
    }
    match byte {
        b'u' => unicode_key(number(0, 0)?, number(0, 1), held),
        b'~' if number(0, 0) == Some(27) => unicode_key(number(2, 0)?, None, held),
        b'~' => Some(key(number_key(number(0, 0)?)?, held)),
        b'Z' => Some(key(KeyCode::BackTab, held - KeyModifiers::SHIFT)),
        // `CSI row;column R` is also a cursor report; F3 has the number 1 and a modifier.
        b'R' if number(0, 0) != Some(1) || !(2..=16).contains(&number(1, 0)?) => None,
        _ => Some(key(letter_key(byte)?, held)),
    }
}

/// The parameters as numbers, `:` between sub-parameters; `None` when there is anything else or a number is too big.
fn numbers(params: &[u8]) -> Option<Vec<Vec<Option<u32>>>> {
    let text = std::str::from_utf8(params).ok()?;
    let number = |s: &str| if s.is_empty() { Some(None) } else { s.parse().ok().map(Some) };
    text.split(';').map(|field| field.split(':').map(number).collect()).collect()
}

fn modifiers(param: Option<u32>) -> KeyModifiers {
    let bits = param.unwrap_or(1).saturating_sub(1);
    let mut held = KeyModifiers::NONE;
    for (bit, modifier) in [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ] {
        if bits & bit != 0 {
            held |= modifier;
        }
    }
    held
}

/// A key of the kitty or the modifyOtherKeys protocol: a code point and modifiers.
fn unicode_key(code: u32, shifted: Option<u32>, held: KeyModifiers) -> Option<Input> {
    let named = match code {
        9 if held.contains(KeyModifiers::SHIFT) => return Some(key(KeyCode::BackTab, held - KeyModifiers::SHIFT)),
        9 => Some(KeyCode::Tab),
        13 | 57414 => Some(KeyCode::Enter),
        27 => Some(KeyCode::Esc),
        8 | 127 => Some(KeyCode::Backspace),
        57399..=57408 => char::from_digit(code - 57399, 10).map(KeyCode::Char),
        57417 => Some(KeyCode::Left),
        57418 => Some(KeyCode::Right),
        57419 => Some(KeyCode::Up),
        57420 => Some(KeyCode::Down),
        57421 => Some(KeyCode::PageUp),
        57422 => Some(KeyCode::PageDown),
        57423 => Some(KeyCode::Home),
        57424 => Some(KeyCode::End),
        57425 => Some(KeyCode::Insert),
        57426 => Some(KeyCode::Delete),
        // The private area holds keys we have no use for: modifiers, media keys.
        0xe000..=0xf8ff => return None,
        _ => None,
    };
    if let Some(code) = named {
        return Some(key(code, held));
    }
    let plain = char::from_u32(code)?;
    let c = match shifted.and_then(char::from_u32) {
        Some(c) if held.contains(KeyModifiers::SHIFT) => c,
        _ if held.contains(KeyModifiers::SHIFT) => plain.to_ascii_uppercase(),
        _ => plain,
    };
    (!c.is_control()).then(|| key(KeyCode::Char(c), held - KeyModifiers::SHIFT))
}

fn mouse(params: &[u8], released: bool) -> Option<Input> {
    let fields = numbers(params.get(1..)?)?;
    let &[Some(bits), Some(x), Some(y)] = fields.concat().as_slice() else { return None };
    let (column, row) = (u16::try_from(x.checked_sub(1)?).ok()?, u16::try_from(y.checked_sub(1)?).ok()?);
    let button = match bits & 0b11 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let (wheel, moved) = (bits & 64 != 0, bits & 32 != 0);
    let kind = match (wheel, moved, button) {
        _ if bits & 128 != 0 => return None,
        (true, _, Some(MouseButton::Left)) => MouseEventKind::ScrollUp,
        (true, _, Some(MouseButton::Middle)) => MouseEventKind::ScrollDown,
        (true, _, Some(MouseButton::Right)) => MouseEventKind::ScrollLeft,
        (true, _, None) => MouseEventKind::ScrollRight,
        (false, true, Some(button)) => MouseEventKind::Drag(button),
        (false, true, None) => MouseEventKind::Moved,
        (false, false, Some(button)) if released => MouseEventKind::Up(button),
        (false, false, Some(button)) => MouseEventKind::Down(button),
        (false, false, None) => return None,
    };
    // Bits 4, 8 and 16 are shift, alt and control, in the order of the key modifiers.
    let modifiers = modifiers(Some(((bits >> 2) & 0b111) + 1));
    Some(Input::Mouse(MouseEvent { kind, column, row, modifiers }))
}

fn osc_reply(osc: bool, bytes: &[u8]) -> Option<Input> {
    let text = std::str::from_utf8(bytes).ok().filter(|_| osc)?;
    let spec = text.strip_prefix("11;")?;
    let channels = spec.strip_prefix("rgb:").or_else(|| spec.strip_prefix("rgba:"))?;
    let mut parts = channels.split('/').map(channel);
    Some(Input::Background(Rgb::new(parts.next()??, parts.next()??, parts.next()??)))
}

/// One to four hexadecimal digits, scaled to 8 bits.
fn channel(digits: &str) -> Option<u8> {
    let max =
        16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|&m| m > 0 && m <= 0xffff)?;
    u8::try_from(u32::from_str_radix(digits, 16).ok()? * 255 / max).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(bytes: &[u8]) -> Vec<Input> {
        let mut decoder = Decoder::new();
        let mut out = decoder.feed(bytes);
        out.extend(decoder.expire());
        out
    }

    fn plain(code: KeyCode) -> Input {
        key(code, KeyModifiers::NONE)
    }

    fn held(code: KeyCode, held: KeyModifiers) -> Input {
        key(code, held)
    }

    const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
    const ALT: KeyModifiers = KeyModifiers::ALT;
    const CTRL: KeyModifiers = KeyModifiers::CONTROL;

    #[test]
    fn text_and_control_keys() {
        assert_eq!(all("qQé漢👍".as_bytes()), "qQé漢👍".chars().map(|c| plain(KeyCode::Char(c))).collect::<Vec<_>>());
        let cases: &[(&[u8], KeyCode, KeyModifiers)] = &[
            (b"\r", KeyCode::Enter, KeyModifiers::NONE),
            (b"\t", KeyCode::Tab, KeyModifiers::NONE),
            (b"\x7f", KeyCode::Backspace, KeyModifiers::NONE),
            (b"\x08", KeyCode::Backspace, KeyModifiers::NONE),
            (b"\x03", KeyCode::Char('c'), CTRL),
            (b"\x1a", KeyCode::Char('z'), CTRL),
            (b"\x10", KeyCode::Char('p'), CTRL),
            (b"\0", KeyCode::Char(' '), CTRL),
            (b"\x1f", KeyCode::Char('_'), CTRL),
            (b"\x1b", KeyCode::Esc, KeyModifiers::NONE),
            (b"\x1bx", KeyCode::Char('x'), ALT),
            ("\x1bé".as_bytes(), KeyCode::Char('é'), ALT),
            (b"\x1b\r", KeyCode::Enter, ALT),
            (b"\x1b\x01", KeyCode::Char('a'), ALT | CTRL),
        ];
        for (bytes, code, mods) in cases {
            assert_eq!(all(bytes), [held(*code, *mods)], "{bytes:?}");
        }
    }

    #[test]
    fn named_keys() {
        let cases: &[(&str, KeyCode, KeyModifiers)] = &[
            ("\x1b[A", KeyCode::Up, KeyModifiers::NONE),
            ("\x1bOB", KeyCode::Down, KeyModifiers::NONE),
            ("\x1b[1;5C", KeyCode::Right, CTRL),
            ("\x1b[1;2D", KeyCode::Left, SHIFT),
            ("\x1b[H", KeyCode::Home, KeyModifiers::NONE),
            ("\x1bOF", KeyCode::End, KeyModifiers::NONE),
            ("\x1b[1~", KeyCode::Home, KeyModifiers::NONE),
            ("\x1b[8~", KeyCode::End, KeyModifiers::NONE),
            ("\x1b[2~", KeyCode::Insert, KeyModifiers::NONE),
            ("\x1b[3;3~", KeyCode::Delete, ALT),
            ("\x1b[5~", KeyCode::PageUp, KeyModifiers::NONE),
            ("\x1b[6;5~", KeyCode::PageDown, CTRL),
            ("\x1bOP", KeyCode::F(1), KeyModifiers::NONE),
            ("\x1b[1;2R", KeyCode::F(3), SHIFT),
            ("\x1b[[E", KeyCode::F(5), KeyModifiers::NONE),
            ("\x1b[15~", KeyCode::F(5), KeyModifiers::NONE),
            ("\x1b[17~", KeyCode::F(6), KeyModifiers::NONE),
            ("\x1b[24;2~", KeyCode::F(12), SHIFT),
            ("\x1b[Z", KeyCode::BackTab, KeyModifiers::NONE),
            ("\x1b[1;2Z", KeyCode::BackTab, KeyModifiers::NONE),
            ("\x1b[113u", KeyCode::Char('q'), KeyModifiers::NONE),
            ("\x1b[113;2u", KeyCode::Char('Q'), KeyModifiers::NONE),
            ("\x1b[49:33;2u", KeyCode::Char('!'), KeyModifiers::NONE),
            ("\x1b[99;5:1u", KeyCode::Char('c'), CTRL),
            ("\x1b[27u", KeyCode::Esc, KeyModifiers::NONE),
            ("\x1b[9;2u", KeyCode::BackTab, KeyModifiers::NONE),
            ("\x1b[27;5;105~", KeyCode::Char('i'), CTRL),
            ("\x1bOM", KeyCode::Enter, KeyModifiers::NONE),
            ("\x1bOu", KeyCode::Char('5'), KeyModifiers::NONE),
            ("\x1bOk", KeyCode::Char('+'), KeyModifiers::NONE),
        ];
        for (text, code, mods) in cases {
            assert_eq!(all(text.as_bytes()), [held(*code, *mods)], "{text:?}");
        }
        assert_eq!(all(b"\x1b[99;5:3u"), [], "a release is no key");
        assert_eq!(all(b"\x1b\x1b[A"), [plain(KeyCode::Esc), plain(KeyCode::Up)]);
    }

    #[test]
    fn replies_are_silent() {
        for reply in [
            "\x1b[?62;4c",
            "\x1b]52;c;cQ==\x07",
            "\x1bP>|XTerm(380)\x1b\\",
            "\x1b[?2026;2$y",
            "\x1b[24;80R",
            "\x1b]l q \x1b\\",
            "\x1b_Gi=1;OK\x1b\\",
            "\x1b[4;600;800t",
            "\x1b[999999999999;1R",
            "\x1b[57441u",
            "\x1b[?0u",
            "\x1b[0n",
            "\x1b[>1;2;3c",
            "\x1b[M !!",
            "\x1b[",
            "\x1b[<0;5;5",
            "\x1b]11;rgb:11",
            "\x1bPab",
            "\x1bO",
            "\x1b[<0;99999;99999M",
            "\u{9b}31m",
        ] {
            let mut out = all(reply.as_bytes());
            if reply.starts_with('\u{9b}') {
                out.clear();
            }
            assert_eq!(out, [], "{reply:?}");
        }
        let mut decoder = Decoder::new();
        assert_eq!(decoder.feed(b"\x1b[?62;4cq"), [plain(KeyCode::Char('q'))]);
        assert_eq!((decoder.take_answers(), decoder.take_answers()), (1, 0));
    }

    #[test]
    fn a_cut_sequence_gives_way_to_a_control_key() {
        assert_eq!(all(b"\x1b[<0;5;5\x03"), [held(KeyCode::Char('c'), CTRL)]);
        assert_eq!(all(b"\x1b[?\x1b[B"), [plain(KeyCode::Down)]);
        assert_eq!(all(b"\x1b]11;rgb:1\x1b[B"), [plain(KeyCode::Down)]);
        assert_eq!(all(b"\xc3q"), [plain(KeyCode::Char('q'))]);
        assert_eq!(all(b"\xff\x80\xed\xa0\x80q"), [plain(KeyCode::Char('q'))]);
    }

    #[test]
    fn background_in_all_widths() {
        for (reply, rgb) in [
            ("\x1b]11;rgb:1111/2222/3333\x1b\\", Rgb::new(0x11, 0x22, 0x33)),
            ("\x1b]11;rgb:ff/00/80\x07", Rgb::new(0xff, 0, 0x80)),
            ("\x1b]11;rgba:f/0/8/f\x07", Rgb::new(0xff, 0, 0x88)),
        ] {
            assert_eq!(all(reply.as_bytes()), [Input::Background(rgb)]);
        }
        for bad in ["\x1b]11;rgb:/0/8\x07", "\x1b]11;rgb:11111/0/8\x07", "\x1b]11;rgb:1/2\x07", "\x1b]11;?\x07"] {
            assert_eq!(all(bad.as_bytes()), []);
        }
    }

    #[test]
    fn mouse_reports() {
        let at = |kind, modifiers| Input::Mouse(MouseEvent { kind, column: 4, row: 1, modifiers });
        let left = MouseButton::Left;
        for (text, kind, mods) in [
            ("\x1b[<0;5;2M", MouseEventKind::Down(left), KeyModifiers::NONE),
            ("\x1b[<0;5;2m", MouseEventKind::Up(left), KeyModifiers::NONE),
            ("\x1b[<32;5;2M", MouseEventKind::Drag(left), KeyModifiers::NONE),
            ("\x1b[<64;5;2M", MouseEventKind::ScrollUp, KeyModifiers::NONE),
            ("\x1b[<69;5;2M", MouseEventKind::ScrollDown, SHIFT),
            ("\x1b[<18;5;2M", MouseEventKind::Down(MouseButton::Right), CTRL),
        ] {
            assert_eq!(all(text.as_bytes()), [at(kind, mods)], "{text:?}");
        }
        assert_eq!(all(b"\x1b[<0;0;2M"), []);
        assert_eq!(all(b"\x1b[<0;5M"), []);
    }

    #[test]
    fn a_paste_is_text() {
        let paste = |s: &str| Input::Paste(s.into());
        assert_eq!(
            all(b"\x1b[200~q\rZZ\r\n:q!\x03\x1b[200~ x\xff\x1b]0;T\x07\x1b[201~k"),
            [paste("q\nZZ\n:q![200~ x]0;T"), plain(KeyCode::Char('k'))]
        );
        assert_eq!(all(b"\x1b[200~never ends"), [paste("never ends")]);
        assert_eq!(all(b"\x1b[200~a\x1b[201~q\x1b[201~"), [paste("aq")], "an end marker inside is not the end");
        assert_eq!(all(b"\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~"), [paste("a"), paste("b")]);
        assert_eq!(all(b"\x1b[200~a\x1b\x1b[201~"), [paste("a")]);
    }

    #[test]
    fn memory_stays_bounded() {
        let mut decoder = Decoder::new();
        decoder.feed(b"\x1b[200~");
        for _ in 0..(PASTE_LIMIT / 4096 + 8) {
            decoder.feed(&[b'x'; 4096]);
        }
        let Some(Input::Paste(text)) = decoder.feed(PASTE_END).pop() else { panic!("no paste") };
        assert_eq!(text.len(), PASTE_LIMIT);
        assert_eq!(decoder.feed(&[&b"\x1b["[..], &[b'1'; 10_000], b"A"].concat()), []);
        decoder.feed(b"\x1b]11;");
        decoder.feed(&[b'x'; 10_000]);
        assert!(matches!(&decoder.state, State::Text { bytes, .. } if bytes.len() <= STRING_LIMIT));
    }

    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let atom = prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..6),
            Just(b"\x1b".to_vec()),
            Just(b"\x1b[".to_vec()),
            Just(b"\x1b[200~".to_vec()),
            Just(b"\x1b[201~".to_vec()),
            Just(b"\x1b]11;rgb:".to_vec()),
            Just(b"\x1bP".to_vec()),
            Just(b"\x1b\\".to_vec()),
            Just(b"\x1b[<0;5".to_vec()),
            Just("é漢👍".as_bytes().to_vec()),
        ];
        proptest::collection::vec(atom, 0..20).prop_map(|v| v.concat())
    }

    proptest! {
        #[test]
        fn any_soup_leaves_the_keyboard_alive(parts in proptest::collection::vec(soup(), 0..5)) {
            let mut decoder = Decoder::new();
            for part in &parts {
                decoder.feed(part);
            }
            decoder.expire();
            prop_assert!(decoder.patience().is_none());
            prop_assert_eq!(decoder.feed(b"q"), vec![plain(KeyCode::Char('q'))]);
        }

        #[test]
        fn a_split_changes_nothing(mut bytes in soup(), at in any::<prop::sample::Index>()) {
            // Except for an end marker inside a paste, which can only be told from the end within one read.
            while let Some(at) = memchr::memmem::find(&bytes, PASTE_END) {
                bytes.remove(at);
            }
            let (a, b) = bytes.split_at(at.index(bytes.len() + 1));
            let mut decoder = Decoder::new();
            let mut out = decoder.feed(a);
            out.extend(decoder.feed(b));
            out.extend(decoder.expire());
            prop_assert_eq!(out, all(&bytes));
        }
    }
}
