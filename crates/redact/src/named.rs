//! Secrets in a text that the words before them give away: `API_KEY=…`, `--password …`, `"token": "…"`, "my password is …".

use std::ops::Range;

use super::names::{LONGEST, Secrecy, is_placeholder, is_word, looks_random, stems};

/// A longer value is no secret that somebody named.
const LONGEST_VALUE: usize = 4096;
/// Maximum number of bytes that may stand between a name and `is`: "the password of the old server is".
const LONGEST_GAP: usize = 40;

/// Tie between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tie {
    /// `=`, `:` or `>`.
    Sign,
    /// A sign, and a line end behind it.
    Below,
    /// Another text of the same list or object.
    Beside,
    /// `is`.
    Is,
    /// `is`, further behind.
    Far,
    /// Behind an option of a command.
    Option,
    /// A blank.
    Blank,
}

/// Finds the values of names in a text.
pub(super) fn find(text: &[u8], mut found: impl FnMut(Range<usize>)) {
    let mut behind = 0;
    for stem in stems(text) {
        // One name holds several stems.
        if stem < behind {
            continue;
        }
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let rest = text.get(stem..).unwrap_or(text);
        let name_end = stem + rest.iter().take(LONGEST).take_while(|byte| is_part(byte)).count();
        let before = text.get(..stem).unwrap_or(text);
        let start = stem - before.iter().rev().take(LONGEST).take_while(|byte| is_part(byte)).count();
        // Another stem may begin inside this name: the name is read up to its end.
        behind = name_end;
        if let Some(range) = value_of(text, start..name_end) {
            behind = behind.max(range.end);
            found(range);
        }
    }
}

/// Returns the secret that a name at this place has.
fn value_of(text: &[u8], name: Range<usize>) -> Option<Range<usize>> {
    let own = text.get(name.clone())?;
    let is_option = own.starts_with(b"-");
    let own = own.trim_ascii().strip_suffix(b".").unwrap_or(own);
    let own_secrecy = Secrecy::of(own);
    // `API key` is one name.
    let spaced = own_secrecy
        .is_none_or(|secrecy| matches!(secrecy, Secrecy::Perhaps | Secrecy::Token))
        .then(|| with_word_before(text, &name));
    let secrecy = spaced.flatten().or(own_secrecy)?;
    let (tie, from) = tie(text, name.end, is_option)?;
    let (range, quoted) = value(text, from, secrecy, tie)?;
    let value = text.get(range.clone())?;
    let behind = text.get(range.end..)?;
    let is_meant = match tie {
        _ if is_placeholder(value) || (!quoted && is_code(value, behind)) => false,
        Tie::Sign | Tie::Option => secrecy.is_assigned(value, quoted, tie, behind),
        Tie::Beside => secrecy.holds(value, false),
        Tie::Is => {
            is_assigned_in_prose(secrecy, value)
                || (quoted && secrecy == Secrecy::Password && value.len() >= 4)
                || (secrecy == Secrecy::Password && is_ones_own(text, name.start) && is_no_predicate(value))
        }
        Tie::Below | Tie::Far | Tie::Blank => is_assigned_in_prose(secrecy, value) && has_digit_and_letter(value),
    };
    is_meant.then_some(range)
}

impl Secrecy {
    /// Tells whether a text assigns a secret to a name, and no word or piece of code.
    fn is_assigned(self, value: &[u8], quoted: bool, tie: Tie, behind: &[u8]) -> bool {
        match self {
            Self::Password if quoted => value.len() >= 4 && !is_description(value),
            Self::Password if is_word(value) => {
                value.len() >= if tie == Tie::Option { 8 } else { 6 } && is_no_predicate(value) && ends_here(behind)
            }
            Self::Password => value.len() >= 4,
            Self::Secret => {
                let is_long = || value.len() >= 24 && value.iter().all(u8::is_ascii_alphanumeric);
                value.len() >= 8 && !is_description(value) && (!is_word(value) || is_long())
            }
            Self::Guarded | Self::Token | Self::Perhaps => self.holds(value, false),
        }
    }
}

/// Tells whether a value is a number or a piece of code, such as a type or the name of a function.
fn is_code(value: &[u8], behind: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_bare = value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let opens = behind.first().is_some_and(|byte| matches!(byte, b'(' | b'[' | b'<' | b'{'));
    (opens && !behind.starts_with(b"</"))
        || memchr::memmem::find(value, b"::").is_some()
        || value.starts_with(b"self.")
        || (letters == 1 && is_bare)
}

/// Tells whether the sentence or line ends behind a word.
fn ends_here(behind: &[u8]) -> bool {
    let rest = behind.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'.'));
    rest.is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// Tells whether a value is more than several words of prose.
fn is_description(value: &[u8]) -> bool {
    value.iter().filter(|byte| byte.is_ascii_whitespace()).count() >= 4
}

fn is_assigned_in_prose(secrecy: Secrecy, value: &[u8]) -> bool {
    match secrecy {
        Secrecy::Password => value.len() >= 6 && !is_word(value),
        Secrecy::Secret => value.len() >= 8 && !is_word(value),
        Secrecy::Guarded | Secrecy::Token | Secrecy::Perhaps => looks_random(value),
    }
}

fn has_digit_and_letter(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Tells whether a word is none of those that people say about passwords.
fn is_no_predicate(value: &[u8]) -> bool {
    const PREDICATES: &[&str] = stepscope_base::list![
        incorrect correct wrong right valid invalid missing different weak strong empty short long longer
        shorter secure unknown blank always never usually also still already about never should cannot
        option parameter argument flag field prompt policy reset change manager length please there where
        which someone something somewhere nothing everything important mandatory necessary available
        authentication because between without visible public private default another myself safe known
    ];
    /// Ends of participles and of what is possible.
    const ENDS: &[&str] = &["ed", "ing", "ble", "ten", "ly"];
    let lower = value.to_ascii_lowercase();
    let lower = lower.trim_ascii_end();
    value.len() >= 6
        && !PREDICATES.iter().any(|word| word.as_bytes() == lower)
        && !ENDS.iter().any(|end| lower.ends_with(end.as_bytes()))
}

/// Tells whether somebody speaks of their own: "my password".
fn is_ones_own(text: &[u8], name: usize) -> bool {
    let before = text.get(name.saturating_sub(LONGEST)..name).unwrap_or(text).to_ascii_lowercase();
    let word = before.trim_ascii_end().rsplit(|byte| !byte.is_ascii_alphabetic()).next();
    word.is_some_and(|word| [&b"my"[..], b"our", b"mein", b"unser"].contains(&word))
}

/// Reads a name together with the word before it: `API key`, `access token`.
fn with_word_before(text: &[u8], name: &Range<usize>) -> Option<Secrecy> {
    let before = text.get(..name.start)?.strip_suffix(b" ")?;
    let word =
        before.iter().rev().take(LONGEST).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let start = before.len() - word;
    Secrecy::of(text.get(start..name.end)?).filter(|_| word > 0)
}

/// Finds what ties a value to a name that ends here, and where the value begins.
fn tie(text: &[u8], end: usize, is_option: bool) -> Option<(Tie, usize)> {
    let quotes = |from: usize, most: usize| {
        let is_quote = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'*');
        text.iter().skip(from).take(most).take_while(is_quote).count()
    };
    let blanks = |from: usize| text.iter().skip(from).take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let closed = end + quotes(end, 6);
    let at = closed + blanks(closed);
    let rest = text.get(at..)?;
    for sign in [&b"=>"[..], b":=", b"->", b"==", b"||:", b"=", b":"] {
        if rest.starts_with(sign) {
            let from = at + sign.len();
            // Markdown may end what is bold behind the sign.
            let from = from + text.iter().skip(from).take(2).take_while(|byte| **byte == b'*').count();
            let from = from + blanks(from);
            let is_line_end = text.get(from).is_some_and(|byte| matches!(byte, b'\n' | b'\r'));
            let over = || text.iter().skip(from).take(LONGEST).take_while(|byte| byte.is_ascii_whitespace()).count();
            // `::` parts names of code.
            if sign == b":" && rest.starts_with(b"::") {
                return None;
            }
            return Some(if is_line_end { (Tie::Below, from + over()) } else { (Tie::Sign, from) });
        }
    }
    if rest.starts_with(b">") && text.get(..end)?.iter().rev().take(LONGEST).any(|byte| *byte == b'<') {
        return Some((Tie::Sign, at + 1));
    }
    if let Some(beside) = beside(rest) {
        return Some((Tie::Beside, at + beside));
    }
    if let Some(is) = is_verb(rest) {
        return Some((Tie::Is, at + is));
    }
    let gap = rest.get(..LONGEST_GAP.min(rest.len()))?;
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\'' | b'-' | b'_');
    let gap = gap.iter().take_while(|byte| is_word(byte)).count();
    let mut far = (1..gap).filter(|n| rest.get(n - 1) == Some(&b' '));
    if let Some(from) = far.find_map(|n| Some(n + is_verb(rest.get(n..)?)?)) {
        return Some((Tie::Far, at + from));
    }
    let colon = rest.get(..gap + 2).filter(|_| at > end && gap > 0).and_then(|gap| gap.strip_suffix(b": "));
    if let Some(gap) = colon {
        return Some((Tie::Far, at + gap.len() + 2));
    }
    (at > closed).then_some((if is_option { Tie::Option } else { Tie::Blank }, at))
}

/// Reads "is" and words like it, with the blank behind them.
fn is_verb(rest: &[u8]) -> Option<usize> {
    let verb = ["is:", "is", "was", "are", "ist", "lautet"].into_iter().find(|verb| {
        rest.strip_prefix(verb.as_bytes()).is_some_and(|behind| behind.first().is_some_and(u8::is_ascii_whitespace))
    })?;
    Some(verb.len() + 1)
}

/// Reads what stands between a name and its value where each is a text of its own: `", "`, `", "value": "`, and a line
/// `value: ` below it.
fn beside(rest: &[u8]) -> Option<usize> {
    const VALUES: &[&str] = &["value", "val", "content", "secret", "text", "data"];
    let is_between = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',' | b'\\' | b'-');
    let between = rest.iter().take(LONGEST).take_while(is_between).count();
    let behind = rest.get(between..)?;
    let is_list = rest.first() == Some(&b',') && rest.get(..between)?.iter().any(|byte| matches!(byte, b'"' | b'\''));
    if let Some(word) = VALUES.iter().find(|word| behind.starts_with(word.as_bytes())) {
        let sign = behind.get(word.len()..)?;
        let quotes = sign.iter().take(4).take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b' ')).count();
        if matches!(sign.get(quotes), Some(b':' | b'=')) {
            let from = between + word.len() + quotes + 1;
            return Some(from + rest.get(from..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count());
        }
    }
    // The quote before the value tells where it ends.
    is_list.then(|| between - 1)
}

/// Finds the value from here on, without the quotes around it, and whether there are quotes.
fn value(text: &[u8], from: usize, secrecy: Secrecy, tie: Tie) -> Option<(Range<usize>, bool)> {
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    let opening =
        text.iter().skip(from).take(8).take_while(|byte| is_quote(byte) || matches!(byte, b'\\' | b'*')).count();
    let start = from + opening;
    let rest = text.get(start..(start + LONGEST_VALUE).min(text.len()))?;
    let opening = text.get(from..start)?;
    // Nothing is in quotes that close at once, and what follows a closing quote is no value.
    if opening.windows(2).any(|pair| matches!(pair, [a, b] if a == b && is_quote(a))) {
        return None;
    }
    let quote = opening.iter().rfind(|byte| is_quote(byte));
    let line = || memchr::memchr2(b'\n', b'\r', rest).and_then(|line| rest.get(..line)).unwrap_or(rest);
    if let Some(quote) = quote {
        let ends = |byte: &u8| byte == quote;
        let line = line();
        let end = line.iter().position(ends).unwrap_or(line.len());
        let inner = rest.get(..end)?;
        let inner = inner.trim_ascii_end().strip_suffix(b"\\").unwrap_or(inner);
        let is_value = |byte: &u8| !matches!(byte, b',' | b')' | b']' | b'}' | b';' | b':' | b' ');
        return inner.first().is_some_and(is_value).then(|| (start..start + inner.len(), true));
    }
    // A header goes on to the end of its line.
    if secrecy == Secrecy::Guarded && tie == Tie::Sign {
        let line = line();
        let line = line.get(..line.iter().position(is_quote).unwrap_or(line.len()))?;
        let end = if memchr::memchr3(b'(', b'{', b'<', line).is_some() { 0 } else { line.len() };
        return (end > 0).then(|| (start..start + end, false));
    }
    let blank = rest.iter().position(|byte| byte.is_ascii_whitespace() || is_quote(byte) || *byte == b'\\');
    let word = rest.get(..blank.unwrap_or(rest.len()))?;
    let is_end = |byte: &u8| matches!(byte, b',' | b';' | b'&' | b'<' | b'>' | b'(' | b')' | b'[' | b']' | b'{' | b'}');
    let mut end = word.iter().position(is_end).unwrap_or(word.len());
    // A sign in the middle of a password ends it only where something else begins behind it.
    let behind = word.get(end..)?;
    let goes_on = behind.len() > 2 && !behind.iter().any(|byte| matches!(byte, b'=' | b':' | b'<' | b'(' | b'['));
    if goes_on && secrecy == Secrecy::Password && !is_word(word.get(..end)?) {
        end = word.len();
    }
    let value = word.get(..end)?;
    let kept =
        value.iter().rposition(|byte| !matches!(byte, b'.' | b',' | b';' | b':' | b'?' | b')' | b']' | b'}' | b'*'));
    let len = kept? + 1;
    Some((start..start + len, false))
}
