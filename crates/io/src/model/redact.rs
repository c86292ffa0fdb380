//! Takes a key out of whatever a server says: plain or in other letters' case, and spelled with escapes of JSON,
//! percent signs, character references, hexadecimal or base64 digits.
//!
//! It works on a text that comes in pieces and holds back what may be the beginning of the key, so it does not matter
//! where the text was split. It stands twice on the way of an answer: before its bytes are read, and, because reading
//! joins what a server said in pieces, behind the reader of replies.

use std::fmt;
use std::sync::Arc;

use secrecy::zeroize::Zeroizing;

use super::key::ApiKey;

/// Replacement of a key.
const STARS: &[u8] = b"***";
/// Length from which a key is no word. Shorter ones count as keys only where letters are mixed with digits or signs:
/// `ollama`, `none` or `1234` may occur in any reply, and hide nothing.
const LONG: usize = 8;
/// Length below which keys are never looked for.
const SHORTEST: usize = 5;
/// Number of escapes that may precede one character: text quoted in a text, five levels deep.
const MAX_SLASHES: usize = 32;
/// Number of times that a percent sign or an ampersand may be escaped itself.
const MAX_LEVELS: usize = 4;
/// A character reference has no more digits.
const MAX_DIGITS: usize = 8;
/// Characters that may be between two characters of a key and are not seen: what wider encodings leave, ends of lines,
/// and characters without width.
const UNSEEN: [&str; 9] = ["\0", "\r", "\n", "\u{ad}", "\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}"];
/// Number of them that may be between two characters.
const MAX_UNSEEN: usize = 8;
/// Number of bytes that are looked at before other tasks have their turn.
const PIECE: usize = 64 << 10;
/// Last characters of a prefix that all keys of a kind have, which is no longer than [`LONGEST_PREFIX`].
const PREFIX_ENDS: &[u8] = b"-_.:";
const LONGEST_PREFIX: usize = 16;

/// Comparison of the letters of a spelling.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letters {
    AnyCase,
    /// Case matters; the two alphabets of base64 are one.
    Base64,
}

impl Letters {
    const fn are_same(self, a: u8, b: u8) -> bool {
        match self {
            Self::AnyCase => a.eq_ignore_ascii_case(&b),
            Self::Base64 => a == b || matches!((a, b), (b'-', b'+') | (b'+', b'-') | (b'_', b'/') | (b'/', b'_')),
        }
    }
}

/// The key, or a form of it that says the same.
struct Form {
    text: Zeroizing<Vec<u8>>,
    letters: Letters,
    /// Length of a beginning that is as good as all of it: an answer may be cut off anywhere.
    enough: usize,
}

impl Form {
    fn new(text: Vec<u8>, letters: Letters) -> Self {
        let enough = (text.len() * 3).div_ceil(5).max(LONG).min(text.len());
        Self { text: Zeroizing::new(text), letters, enough }
    }

    /// Tells whether it may begin here, as far as two bytes show: nearly all places of a text end here.
    fn may_begin(&self, text: &[u8], at: usize) -> bool {
        let may_be = |at: usize, n: usize| match (text.get(at), self.text.get(n)) {
            (Some(byte), Some(wanted)) => self.letters.are_same(*byte, *wanted) || is_sign(*byte),
            _ => true,
        };
        may_be(at, 0) && (text.get(at).is_some_and(|byte| is_sign(*byte)) || may_be(at + 1, 1))
    }
}

/// Tells whether an escape begins with it, or something that is not seen.
const fn is_sign(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'&' | b'\0' | b'\r' | b'\n' | 0xc2 | 0xe2 | 0xef)
}

/// Finds the next character that is seen, and tells whether the text ends before that shows.
fn behind_unseen(text: &[u8], mut at: usize) -> (usize, bool) {
    for _ in 0..MAX_UNSEEN {
        if text.get(at).is_some_and(|byte| !is_sign(*byte)) {
            return (at, false);
        }
        let rest = &text[at..];
        let Some(unseen) = UNSEEN.iter().find(|unseen| rest.starts_with(unseen.as_bytes())) else {
            let open = |unseen: &&str| !rest.is_empty() && unseen.as_bytes().starts_with(rest);
            return (at, UNSEEN.iter().any(open));
        };
        at += unseen.len();
    }
    (at, false)
}

/// Match at a place of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    /// Something else.
    Other,
    /// Perhaps the key: the text ends before that shows.
    Open,
    /// The key, up to here.
    Key(usize),
}

/// Takes a key out of a text that comes in pieces.
#[derive(Clone)]
pub struct Redactor {
    forms: Arc<[Form]>,
    bytes: Arc<Bytes>,
    /// Bytes that may be the beginning of the key.
    held: Vec<u8>,
    /// True once the key was in what was pushed.
    found: bool,
}

/// Single bytes that the forms of a key begin with or hold.
struct Bytes {
    /// The first characters of the forms.
    first: [bool; 256],
    /// Bytes that a spelling may begin with.
    begins: [bool; 256],
    /// A form of the key begins with a backslash.
    slashed: bool,
    /// A form of the key holds a backslash.
    holds_slash: bool,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_needed() { "Redactor(***)" } else { "Redactor" })
    }
}

impl Redactor {
    /// Makes a redactor for this key; without one nothing is taken out.
    pub fn new(key: Option<&ApiKey>) -> Self {
        let forms = key.map(|key| forms(key.text().as_bytes())).unwrap_or_default();
        let (mut first, mut begins) = ([false; 256], [false; 256]);
        for ((byte, first), begins) in (0..=u8::MAX).zip(&mut first).zip(&mut begins) {
            let is_first = |form: &Form| form.text.first().is_some_and(|own| form.letters.are_same(byte, *own));
            *first = forms.iter().any(is_first);
            *begins = *first || (!forms.is_empty() && ESCAPES.contains(&byte));
        }
        let slashed = forms.iter().any(|form| form.text.first() == Some(&b'\\'));
        let holds_slash = forms.iter().any(|form| form.text.contains(&b'\\'));
        let bytes = Arc::new(Bytes { first, begins, slashed, holds_slash });
        Self { forms: forms.into(), bytes, held: Vec::new(), found: false }
    }

    /// Tells whether there is anything to take out.
    pub fn is_needed(&self) -> bool {
        !self.forms.is_empty()
    }

    /// Takes a piece and gives what can be shown of it by now.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        if !self.is_needed() {
            return piece.to_vec();
        }
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(piece);
        let cleaned = self.clean(&text, false);
        self.held = text[cleaned.held..].to_vec();
        self.found |= cleaned.found;
        cleaned.text
    }

    /// Takes a piece as [`Redactor::push`] does, and lets other tasks have their turn meanwhile, however long it is.
    pub(super) async fn push_yielding(&mut self, text: &[u8]) -> Vec<u8> {
        let mut cleaned = Vec::with_capacity(text.len());
        for piece in text.chunks(PIECE) {
            cleaned.extend(self.push(piece));
            tokio::task::yield_now().await;
        }
        cleaned
    }

    /// Ends the text, and gives what was held back.
    pub fn finish(&mut self) -> Vec<u8> {
        let text = std::mem::take(&mut self.held);
        let cleaned = self.clean(&text, true);
        self.found |= cleaned.found;
        cleaned.text
    }

    /// Tells whether the key was in what came so far.
    pub(crate) const fn has_found(&self) -> bool {
        self.found
    }

    /// Takes the key out of a whole text.
    pub fn whole(&self, text: &[u8]) -> Vec<u8> {
        if self.is_needed() { self.clean(text, true).text } else { text.to_vec() }
    }

    /// Tells whether the key is in a text.
    pub fn finds(&self, text: &[u8]) -> bool {
        let mut at = 0;
        while let Some(next) = self.next(text, at) {
            if matches!(self.there(text, next, true), There::Key(_)) {
                return true;
            }
            at = next + 1;
        }
        false
    }

    /// Finds the next place where a spelling may begin.
    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        text.get(from..)?.iter().position(|byte| is_in(&self.bytes.begins, *byte)).map(|at| from + at)
    }

    /// Takes the key out of a text. `over`: nothing more comes.
    fn clean(&self, text: &[u8], over: bool) -> Cleaned {
        let mut out = Vec::with_capacity(text.len());
        let (mut at, mut found) = (0, false);
        while let Some(next) = self.next(text, at) {
            out.extend_from_slice(&text[at..next]);
            at = next;
            match self.there(text, at, over) {
                There::Other => {
                    let end = at + self.too_many_slashes(text, at).max(1);
                    out.extend_from_slice(&text[at..end]);
                    at = end;
                }
                There::Open => return Cleaned { text: out, held: at, found },
                There::Key(end) => {
                    out.extend_from_slice(STARS);
                    (at, found) = (end, true);
                }
            }
        }
        out.extend_from_slice(&text[at..]);
        Cleaned { text: out, held: text.len(), found }
    }

    /// Counts the backslashes here that have so many behind them that none of them escapes anything.
    fn too_many_slashes(&self, text: &[u8], at: usize) -> usize {
        if self.bytes.slashed || text.get(at) != Some(&b'\\') {
            return 0;
        }
        let slashes = text.iter().skip(at).take_while(|byte| **byte == b'\\').count();
        slashes.saturating_sub(MAX_SLASHES)
    }

    fn there(&self, text: &[u8], at: usize, over: bool) -> There {
        let slash = self.bytes.holds_slash;
        // What is spelled here is read once for all forms.
        let mut first = Vec::new();
        if spelled(text, at, slash, &mut first) && !over {
            return There::Open;
        }
        first.retain(|spelling| is_in(&self.bytes.first, spelling.byte));
        if first.is_empty() {
            return There::Other;
        }
        let mut found = There::Other;
        for form in self.forms.iter().filter(|form| form.may_begin(text, at)) {
            match (found, form.at(text, &first, slash, over)) {
                (_, There::Open) => return There::Open,
                (There::Key(a), There::Key(b)) => found = There::Key(a.max(b)),
                (There::Other, there) => found = there,
                _ => {}
            }
        }
        found
    }
}

fn is_in(bytes: &[bool; 256], byte: u8) -> bool {
    bytes.get(usize::from(byte)).copied().unwrap_or(false)
}

/// A text without the key.
struct Cleaned {
    text: Vec<u8>,
    /// Offset from which the rest of what was there may be the key.
    held: usize,
    found: bool,
}

impl Form {
    /// Compares it with a text whose first character is spelled in one of these ways. `slash`: backslashes count.
    fn at(&self, text: &[u8], first: &[Spelling], slash: bool, over: bool) -> There {
        // Where the characters so far may end: more than one place only where the key itself holds what escapes begin with.
        let (mut ends, mut next) = (Vec::new(), Vec::new());
        let (mut read, mut longest, mut spellings) = (0, 0, Vec::new());
        for wanted in self.text.iter() {
            let is_same = |spelling: &&Spelling| self.letters.are_same(spelling.byte, *wanted);
            if read == 0 {
                next.extend(first.iter().filter(is_same).map(|spelling| spelling.end));
            }
            let mut open = false;
            for end in ends.drain(..) {
                let (from, cut) = behind_unseen(text, end);
                open |= cut | spelled(text, from, slash, &mut spellings);
                next.extend(spellings.drain(..).filter(|spelling| is_same(&spelling)).map(|spelling| spelling.end));
            }
            if open && !over {
                return There::Open;
            }
            next.sort_unstable();
            next.dedup();
            let Some(last) = next.last() else { break };
            (read, longest) = (read + 1, *last);
            std::mem::swap(&mut ends, &mut next);
        }
        if read >= self.enough { There::Key(longest) } else { There::Other }
    }
}

/// A character as a text spells it.
#[derive(Clone, Copy)]
struct Spelling {
    byte: u8,
    /// Offset behind it.
    end: usize,
}

/// First bytes of escapes.
const ESCAPES: [u8; 3] = *b"\\%&";

/// Adds every character that is spelled here, and tells whether one is cut off by the end of the text. `slash`: a
/// backslash, too, is a character that somebody looks for.
fn spelled(text: &[u8], at: usize, slash: bool, spellings: &mut Vec<Spelling>) -> bool {
    let Some(&first) = text.get(at) else { return true };
    spellings.push(Spelling { byte: first, end: at + 1 });
    if !ESCAPES.contains(&first) {
        return false;
    }
    if slash {
        add_slashes(first, text, at + 1, spellings);
    }
    let from = spellings.len();
    let mut open = escaped(first, text, at + 1, spellings);
    // The sign of an escape may be escaped itself.
    for n in from..spellings.len() {
        let Some(&Spelling { byte, end }) = spellings.get(n) else { break };
        if ESCAPES.contains(&byte) {
            if slash {
                add_slashes(byte, text, end, spellings);
            }
            open |= escaped(byte, text, end, spellings);
        }
    }
    open
}

/// Counts the backslashes behind an escape's first; `None`: so many that none of them escapes anything.
fn slashes(text: &[u8], at: usize) -> Option<usize> {
    let slashes = text.iter().skip(at).take(MAX_SLASHES).take_while(|byte| **byte == b'\\').count();
    (slashes < MAX_SLASHES).then_some(slashes)
}

/// Adds the backslashes that an escape spells whose sign is right before this place.
fn add_slashes(sign: u8, text: &[u8], at: usize, spellings: &mut Vec<Spelling>) {
    let count = if sign == b'\\' { slashes(text, at).unwrap_or(0) } else { 0 };
    spellings.extend((1..=count).map(|count| Spelling { byte: b'\\', end: at + count }));
}

/// Adds every other character that an escape spells whose sign is right before this place. Tells whether one is cut off.
fn escaped(sign: u8, text: &[u8], at: usize, spellings: &mut Vec<Spelling>) -> bool {
    match sign {
        b'\\' => {
            let Some(slashes) = slashes(text, at) else { return false };
            let at = at + slashes;
            let Some(&kind) = text.get(at) else { return true };
            spellings.push(Spelling { byte: kind, end: at + 1 });
            let digits = match (kind, text.get(at + 1)) {
                (b'u', None) => return true,
                (b'u', Some(b'{')) => Digits { from: at + 2, radix: 16, least: 1, most: MAX_DIGITS, end: b"}" },
                (b'u', _) => Digits { from: at + 1, radix: 16, least: 4, most: 4, end: b"" },
                (b'U', _) => Digits { from: at + 1, radix: 16, least: 8, most: 8, end: b"" },
                (b'x', _) => Digits { from: at + 1, radix: 16, least: 2, most: 2, end: b"" },
                _ => return false,
            };
            digits.read(text, spellings)
        }
        b'%' => {
            let (mut from, mut open) = (at, false);
            for _ in 0..MAX_LEVELS {
                open |= Digits { from, radix: 16, least: 2, most: 2, end: b"" }.read(text, spellings);
                let Some(b"25") = text.get(from..from + 2) else { break };
                from += 2;
            }
            open
        }
        _ => {
            let mut from = at;
            for _ in 0..MAX_LEVELS {
                if text[from..].starts_with(b"amp;") {
                    from += b"amp;".len();
                } else {
                    break;
                }
            }
            let rest = &text[from..];
            if b"amp;".starts_with(rest) || rest == b"#" {
                return true;
            }
            let (from, radix) = match rest {
                [b'#', b'x' | b'X', ..] => (from + 2, 16),
                [b'#', ..] => (from + 1, 10),
                _ => return false,
            };
            Digits { from, radix, least: 1, most: MAX_DIGITS, end: b";" }.read(text, spellings)
        }
    }
}

/// A character as a number.
struct Digits {
    from: usize,
    radix: u32,
    least: usize,
    most: usize,
    end: &'static [u8],
}

impl Digits {
    /// Adds the character, if it is one byte. Tells whether it is cut off by the end of the text.
    fn read(&self, text: &[u8], spellings: &mut Vec<Spelling>) -> bool {
        let mut code = 0_u32;
        let mut at = self.from;
        while at - self.from < self.most {
            let Some(byte) = text.get(at) else { return true };
            let Some(digit) = char::from(*byte).to_digit(self.radix) else { break };
            code = code.saturating_mul(self.radix).saturating_add(digit);
            at += 1;
        }
        let rest = &text[at..];
        let Ok(byte) = u8::try_from(code) else { return false };
        if at - self.from < self.least {
            return false;
        }
        if rest.len() < self.end.len() {
            return true;
        }
        if rest.starts_with(self.end) {
            spellings.push(Spelling { byte, end: at + self.end.len() });
        }
        false
    }
}

/// Lists the forms of a key that are looked for.
fn forms(key: &[u8]) -> Vec<Form> {
    let letters = key.iter().any(u8::is_ascii_alphabetic);
    let others = key.iter().any(|byte| !byte.is_ascii_alphabetic());
    if key.len() < SHORTEST || (key.len() < LONG && !(letters && others)) {
        return Vec::new();
    }
    let mut forms = vec![Form::new(key.to_vec(), Letters::AnyCase)];
    // What is secret in a key may be said without what all keys of its kind begin with.
    let head = &key[..LONGEST_PREFIX.min(key.len() / 2)];
    let prefix = head.iter().rposition(|byte| PREFIX_ENDS.contains(byte)).map_or(0, |last| last + 1);
    let bare = key.get(prefix..).filter(|bare| prefix > 0 && bare.len() >= LONG && bare.iter().any(u8::is_ascii_digit));
    forms.extend(bare.map(|bare| Form::new(bare.to_vec(), Letters::AnyCase)));
    for text in [Some(key), bare].into_iter().flatten().filter(|text| text.len() >= LONG) {
        let hex = text.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
        forms.push(Form::new(hex, Letters::AnyCase));
        // In base64 three bytes are four digits: a key looks different after one and two other bytes.
        forms.extend([0, 2, 4].map(|skipped| Form::new(sixes(text, skipped), Letters::Base64)));
    }
    forms
}

/// Computes the base64 digits that a text alone decides, where so many bits of it belong to the digit before them.
fn sixes(text: &[u8], skipped: usize) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = text.iter().flat_map(|byte| (0..8).rev().map(move |bit| usize::from(byte >> bit & 1)));
    let bits: Zeroizing<Vec<usize>> = Zeroizing::new(bits.skip(skipped).collect());
    let digit = |bits: &[usize]| DIGITS.get(bits.iter().fold(0, |all, bit| all << 1 | bit)).copied();
    bits.chunks_exact(6).filter_map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "sk-proj-a/B+c_9.Zq~1";

    fn redactor(key: &str) -> Redactor {
        Redactor::new(Some(&ApiKey::new(key).unwrap()))
    }

    /// Cleans the text whole, byte by byte, and split in two anywhere.
    #[track_caller]
    fn cleaned(key: &str, text: &[u8]) -> Vec<u8> {
        let redactor = redactor(key);
        let whole = redactor.whole(text);
        let pieces = |pieces: &[&[u8]]| {
            let mut fresh = redactor.clone();
            let mut out: Vec<u8> = pieces.iter().flat_map(|piece| fresh.push(piece)).collect();
            out.extend(fresh.finish());
            out
        };
        assert_eq!(pieces(&text.chunks(1).collect::<Vec<_>>()), whole, "{}", String::from_utf8_lossy(text));
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            assert_eq!(pieces(&[head, tail]), whole, "split at {at}: {}", String::from_utf8_lossy(text));
        }
        assert_eq!(redactor.finds(text), whole != text, "{}", String::from_utf8_lossy(text));
        whole
    }

    fn each(spell: impl Fn(u8) -> String) -> String {
        KEY.bytes().map(spell).collect()
    }

    fn base64(text: &str) -> String {
        let padded = [text.as_bytes(), &[0; 3]].concat();
        String::from_utf8(sixes(&padded, 0)).unwrap()
    }

    #[test]
    fn a_key_is_taken_out_in_every_spelling() {
        let spellings = [
            KEY.to_owned(),
            KEY.to_uppercase(),
            KEY.to_lowercase(),
            KEY.replace('/', "\\/"),
            KEY.replace('/', "\\\\/"),
            each(|byte| format!("\\u{byte:04x}")),
            each(|byte| format!("\\u{byte:04X}")),
            each(|byte| format!("\\\\u{byte:04x}")),
            each(|byte| format!("\\\\\\\\\\u{byte:04x}")),
            each(|byte| format!("\\x{byte:02x}")),
            each(|byte| format!("\\u{{{byte:x}}}")),
            each(|byte| format!("\\U{byte:08x}")),
            each(|byte| format!("%{byte:02X}")),
            each(|byte| format!("%25{byte:02x}")),
            each(|byte| format!("&#{byte};")),
            each(|byte| format!("&#x{byte:04X};")),
            each(|byte| format!("&amp;#{byte};")),
            each(|byte| format!("&#37;{byte:02x}")),
            each(|byte| format!("%26#{byte};")),
            each(|byte| format!("\\u0026#{byte};")),
            each(|byte| format!("\\u0025{byte:02X}")),
            each(|byte| format!("%5Cu{byte:04x}")),
            each(|byte| format!("&#92;u{byte:04x}")),
            each(|byte| format!("\\{}", char::from(byte))),
            each(|byte| if byte % 2 == 0 { format!("\\u{byte:04x}") } else { char::from(byte).to_string() }),
            each(|byte| format!("{byte:02x}")),
            each(|byte| format!("{byte:02X}")),
        ];
        for spelling in spellings {
            for (before, behind) in [("", ""), ("a ", " b"), ("sk-", "\""), ("\\n", "s"), ("\\\"", "\\"), ("%", "%2")] {
                let out = cleaned(KEY, format!("{before}{spelling}{behind}").as_bytes());
                let out = String::from_utf8(out).unwrap();
                assert!(
                    out.ends_with(&format!("***{behind}")) && out.len() <= before.len() + 3 + behind.len(),
                    "{out}"
                );
            }
        }
        for before in ["", "a", "ab", "Bearer ", "u:", "user:"] {
            for alphabet in ["+/", "-_"] {
                let whole = base64(&format!("{before}{KEY}"));
                let whole = whole.replace('+', &alphabet[..1]).replace('/', &alphabet[1..]);
                let out = String::from_utf8(cleaned(KEY, whole.as_bytes())).unwrap();
                assert!(out.contains("***") && out.len() < before.len() * 2 + 10, "{whole} {out}");
            }
        }
    }

    #[test]
    fn a_key_that_is_cut_off_is_taken_out_too() {
        let text = |count: usize| format!("x {}", &KEY[..count]);
        assert_eq!(cleaned(KEY, text(KEY.len() - 1).as_bytes()), b"x ***");
        assert_eq!(cleaned(KEY, format!("{}…", text(12)).as_bytes()), "x ***…".as_bytes());
        assert_eq!(cleaned(KEY, text(8).as_bytes()), b"x sk-proj-", "what all keys of a kind begin with is none");
        assert_eq!(cleaned("sk-sk-abc", b"x sk-sk-abc, sk-sk-sk-abc sk-sk-"), b"x ***, sk-*** sk-sk-");
    }

    #[test]
    fn a_key_is_known_without_its_prefix_and_with_what_is_not_seen_in_it() {
        let between = |unseen: &str| KEY.chars().flat_map(|c| [c.to_string(), unseen.to_owned()]).collect::<String>();
        for unseen in ["\0", "\0\0\0", "\n", "\r\n", "\u{200b}", "\u{ad}\u{feff}"] {
            let out = cleaned(KEY, format!("x {}y", between(unseen)).as_bytes());
            assert_eq!(out, format!("x ***{unseen}y").into_bytes(), "{unseen:?}");
        }
        assert_eq!(
            cleaned(KEY, between(&"\0".repeat(MAX_UNSEEN + 1)).as_bytes()),
            between(&"\0".repeat(9)).into_bytes()
        );
        for (key, said) in [("sk-proj-a/B+c_9.Zq~1", "a/B+c_9.Zq~1"), ("gsk_0123456789abcdef", "0123456789abcdef")] {
            assert_eq!(cleaned(key, format!("key …{said}.").as_bytes()), "key …***.".as_bytes());
            assert_eq!(cleaned(key, base64(said).as_bytes()).get(..3), Some(&b"***"[..]));
        }
        assert_eq!(cleaned("lm-studio-local", b"studio-local"), b"studio-local", "words");
    }

    #[test]
    fn words_are_no_keys() {
        for (key, text) in [("ollama", "ollama"), ("none", "none"), ("1234567", "1234567"), ("a-1", "a-1")] {
            assert_eq!(cleaned(key, text.as_bytes()), text.as_bytes());
        }
        for key in ["sk-1234", "abc-1", "lm-studio", "password"] {
            assert_eq!(cleaned(key, format!("\"{key}\"").as_bytes()), b"\"***\"");
        }
    }

    #[test]
    fn keys_with_signs_that_escape_are_taken_out_too() {
        for key in [r"a\b\\c%d&e%25f", r"\\\\\\\\", "%%%%%%%%", "&#115;&#115;", "\"quoted\"key"] {
            let json = serde_json::to_string(key).unwrap();
            for text in [key.to_owned(), json.trim_matches('"').to_owned(), serde_json::to_string(&json).unwrap()] {
                let out = cleaned(key, format!("<{text}>").as_bytes());
                assert!(!redactor(key).finds(&out) && out.windows(3).any(|three| three == b"***"), "{key} {text}");
            }
        }
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        let mut redactor = redactor(KEY);
        redactor.push(&KEY.as_bytes()[..9]);
        assert_eq!(format!("{redactor:?} {:?}", Redactor::new(None)), "Redactor(***) Redactor");
    }

    #[test]
    fn long_texts_that_nearly_are_the_key_are_read_quickly() {
        let begun = std::time::Instant::now();
        let nearly = KEY[..7].repeat(10_000) + &"\\".repeat(50_000) + &"%25".repeat(20_000) + &"&amp;".repeat(10_000);
        let mut redactor = redactor(KEY);
        for piece in nearly.as_bytes().chunks(1000) {
            redactor.push(piece);
            assert!(redactor.held.len() < KEY.len() * (MAX_SLASHES + 10), "bounded");
        }
        redactor.finish();
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    }

    /// Processor time of this thread.
    fn used() -> std::time::Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        std::time::Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    }

    #[test]
    fn signs_of_escapes_cost_little_more_than_words() {
        const SIZE: usize = 1 << 20;
        let words = "what anybody may say in a reply, ".repeat(SIZE / 33);
        let took = |text: &str| {
            let (mut redactor, before) = (redactor(KEY), used());
            text.as_bytes().chunks(10_000).for_each(|piece| drop(redactor.push(piece)));
            redactor.finish();
            used().saturating_sub(before)
        };
        let usual = took(&words).max(std::time::Duration::from_millis(1));
        let run = format!("{}q", "\\".repeat(MAX_SLASHES - 1));
        for sign in
            ["&", "%", "\\", "&#", "&#1", "&amp;", "%2", "%25", "\\u", "\\u007", "&#37;", "%26#", "s", "s\0", &run]
        {
            let text = sign.repeat(SIZE / sign.len());
            let slow = took(&text);
            assert!(slow < 60 * usual, "{sign:?} took {slow:?}, and words {usual:?}");
        }
    }

    #[tokio::test]
    async fn others_have_their_turn_while_a_long_text_is_looked_at() {
        let text = "&".repeat(10 * PIECE);
        let mut redactor = redactor(KEY);
        let turns = std::cell::Cell::new(0);
        let other = async {
            loop {
                turns.set(turns.get() + 1);
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            cleaned = redactor.push_yielding(text.as_bytes()) => assert!(cleaned.len() + 1 >= text.len()),
            () = other => {}
        }
        assert!(turns.get() >= 9, "{turns:?}");
    }

    proptest! {
        #[test]
        fn what_is_left_never_holds_the_key(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["sk", "-", "proj-", "a/", "a\\/", "B+c", "_9.Z", "q~1", "\\", "u0073", "%", "%73k", "&#", "115;", "\"", "x", KEY]),
                0..40,
            )
        ) {
            let out = cleaned(KEY, pieces.concat().as_bytes());
            let plain = String::from_utf8_lossy(&out).to_lowercase();
            prop_assert!(!plain.contains(&KEY.to_lowercase()));
        }
    }
}
