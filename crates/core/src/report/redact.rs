//! What is taken out of a record before others see it, and what looks as if it should be.
//!
//! A secret may be spelled in many ways: every text is looked at as it stands, and again with its escapes undone, level
//! by level, so that neither JSON in a string of JSON nor a character without width hides anything.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::answer::document::{Document, Heading};
use crate::record::formats;
use crate::run::trace::VariablePlaces;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Piece, Shown, is_hidden, pieces};

mod unescaped;

use unescaped::Unescaped;

/// A pattern that needs more memory is refused.
const MAX_PATTERN: usize = 4 << 20;
/// So long may the name of a pattern be.
const MAX_NAME: usize = 40;

stepscope_base::words! {
    /// Kind of text that should not be sent to others by accident.
    pub enum PrivateKind {
        /// A key of a service, a private key, a signed token.
        Key = "key" => "a key or token",
        /// A bearer token or other authorization.
        Bearer = "bearer" => "a bearer token",
        /// A value called password, secret or token.
        Secret = "secret" => "a password or secret",
        /// An e-mail address.
        Email = "email" => "an e-mail address",
        /// A folder that belongs to a person.
        Home = "home" => "a home folder",
    }
}

impl PrivateKind {
    const fn pattern(self) -> &'static str {
        match self {
            Self::Key => {
                r"(?x)
                -----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----(?s:.*?)(?:-----END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----|\z)
                | \b(?:sk|pk|rk|ak)[-_][A-Za-z0-9_-]{12,}
                | \b(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA)[0-9A-Z]{12,}
                | \b(?:gh[pousr]|hf|gsk|npm|r8|whsec|dop_v1|shpat|sq0csp|tfp|pul|ntn)_[A-Za-z0-9_-]{12,}
                | \bgithub_pat_[A-Za-z0-9_]{12,}
                | \b(?:glpat|xox[a-z]|xapp|xai|nvapi|pypi|dckr_pat|lin_api|fw|tvly|pplx|sgp|key)-[A-Za-z0-9_-]{12,}
                | \bAIza[A-Za-z0-9_-]{20,}
                | \bya29\.[A-Za-z0-9_.-]{12,}
                | \bSG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
                | \beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?
                | \b(?:age-secret-key-1|AGE-SECRET-KEY-1)[A-Za-z0-9]{20,}"
            }
            Self::Bearer => r"(?i)\b(?:bearer|basic|digest|token)\s+[A-Za-z0-9._~+/=-]{8,}",
            Self::Secret => {
                r#"(?ix)
                (?:api[_\s-]?key|apikey|secret(?:[_-]?(?:access[_-]?)?key)?|access[_-]?key|auth[_-]?token|access[_-]?token
                    |refresh[_-]?token|session[_-]?token|token|passwd|password|passphrase|pwd)
                ["'\\]*\s*[:=]\s*["'\\]*[^\s"'\\,;&<>()\[\]{}]{6,}
                | ://[^/\s:@]+:[^/\s@]+@"#
            }
            Self::Email => r"[\p{L}\p{N}._%+'-]+(?:@|\(at\)|\[at\])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}",
            Self::Home => {
                r#"(?ix)
                (?:/home/|/users/|/export/home/|/var/home/|/root/) [^/\s"'<>:;,()\[\]\\]+
                | \b[a-z]:[\\/]+(?:users|documents\ and\ settings)[\\/]+ [^\\/\s"'<>:;,]+"#
            }
        }
    }

    /// Tells whether a match of the pattern is more than prose that only begins alike.
    fn is_meant(self, found: &[u8]) -> bool {
        let digits = found.iter().any(u8::is_ascii_digit);
        // What is base64 may end in signs that part names from values elsewhere.
        let end = found.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
        let whole = found.get(..end).unwrap_or_default();
        let value =
            whole.rsplit(|byte| matches!(byte, b' ' | b'=' | b':' | b'"' | b'\'' | b'\t')).next().unwrap_or_default();
        match self {
            Self::Key => digits || found.starts_with(b"-----") || found.starts_with(b"AI"),
            Self::Bearer => {
                value.iter().any(u8::is_ascii_digit) || (value.len() >= 20 && value.iter().any(u8::is_ascii_uppercase))
            }
            Self::Secret => {
                found.starts_with(b"://")
                    || value.iter().any(|byte| byte.is_ascii_digit() || !byte.is_ascii_alphanumeric())
                    || memchr::memmem::find(&found.to_ascii_lowercase(), b"pass").is_some()
            }
            Self::Email | Self::Home => true,
        }
    }
}

/// Members whose value is a secret, whatever it looks like: letters and digits of their key.
const SECRET_KEYS: [&str; 24] = [
    "apikey",
    "xapikey",
    "key",
    "secret",
    "secretkey",
    "clientsecret",
    "secretaccesskey",
    "accesskey",
    "privatekey",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "accesstoken",
    "authtoken",
    "refreshtoken",
    "idtoken",
    "sessiontoken",
    "authorization",
    "proxyauthorization",
    "cookie",
    "setcookie",
    "credentials",
];
/// A shorter text under such a key is no secret.
const SHORTEST_SECRET: usize = 8;

static PATTERNS: LazyLock<Vec<(PrivateKind, Regex)>> = LazyLock::new(|| {
    let compiled = |kind: PrivateKind| Regex::new(kind.pattern()).ok().map(|pattern| (kind, pattern));
    PrivateKind::ALL.into_iter().filter_map(compiled).collect()
});

/// Something that others should not see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrivateHit {
    /// Kind of private text that it looks like.
    pub kind: PrivateKind,
    /// Place of it, without the text itself.
    pub place: Shown,
    /// First characters of it, and its length.
    pub sample: Shown,
}

impl PrivateHit {
    /// Of the record at a place.
    #[must_use]
    pub fn of(self, record: &Shown) -> Self {
        Self { place: shown!("{record}: {}", self.place), ..self }
    }
}

/// Patterns and kinds of text to take out.
#[derive(Clone, Default, Debug)]
pub struct Redaction {
    patterns: Vec<(String, Regex)>,
    kinds: Vec<PrivateKind>,
}

impl Redaction {
    /// From the command line: `NAME=REGEX`, one of the kinds by its word, or `all` of them.
    pub fn read(words: &[String]) -> Result<Self, Shown> {
        let mut redaction = Self::default();
        for word in words {
            if word == "all" {
                redaction.kinds.extend(PrivateKind::ALL);
            } else if let Some(kind) = PrivateKind::from_word(word) {
                redaction.kinds.push(kind);
            } else {
                redaction.patterns.push(pattern(word)?);
            }
        }
        redaction.kinds.sort_unstable();
        redaction.kinds.dedup();
        Ok(redaction)
    }

    /// Everything that looks private.
    pub fn all() -> Self {
        Self { patterns: Vec::new(), kinds: PrivateKind::ALL.to_vec() }
    }

    /// Tells whether nothing is taken out.
    pub const fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.kinds.is_empty()
    }

    /// The names of what is taken out.
    pub fn names(&self) -> Vec<Shown> {
        let own = self.patterns.iter().map(|(name, _)| Shown::line(name.as_bytes()));
        own.chain(self.kinds.iter().map(|kind| Shown::own(kind.word()))).collect()
    }

    /// Finds what to take out of a text, in order, without overlaps.
    fn find(&self, text: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for unescaped in Unescaped::all(text) {
            for (name, pattern) in &self.patterns {
                let hits = pattern.find_iter(unescaped.text()).map(|hit| hit.range()).filter(|hit| !hit.is_empty());
                found.extend(hits.map(|hit| (unescaped.in_source(&hit), name.as_str())));
            }
            for (kind, pattern) in PATTERNS.iter().filter(|(kind, _)| self.kinds.contains(kind)) {
                let hits = pattern.find_iter(unescaped.text()).filter(|hit| kind.is_meant(hit.as_bytes()));
                found.extend(hits.map(|hit| (unescaped.in_source(&hit.range()), kind.word())));
            }
        }
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut apart: Vec<(Range<usize>, &str)> = Vec::new();
        for (range, name) in found {
            match apart.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => apart.push((range, name)),
            }
        }
        apart
    }

    /// A text without it.
    pub fn text<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
        for (range, name) in found {
            out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
            out.extend_from_slice(format!("[redacted:{name}]").as_bytes());
            at = range.end;
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// The text of a record without it: in keys, strings and numbers, so that it stays JSON.
    pub fn record<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut tape = Tape::default();
        let sound = tape.read(text) && tape.problems().is_empty();
        let Some(root) = tape.root(text).filter(|root| sound && root.raw().len() == text.trim_ascii().len()) else {
            // What is no JSON is text, and what stands around JSON may be anything. Without it, it may be JSON.
            let clean = self.text(text);
            let is_json = matches!(clean, Cow::Owned(_)) && tape.read(&clean) && tape.problems().is_empty();
            return if is_json { Cow::Owned(self.record(&clean).into_owned()) } else { clean };
        };
        let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
        each_token(root, |token, secret| {
            let Some(new) = self.token(token, secret) else { return };
            out.extend_from_slice(text.get(at..token.range().start).unwrap_or_default());
            Style::ASCII.append(stepscope_base::text::Untrusted::owned(new), &mut out);
            at = token.range().end;
        });
        if at == 0 {
            return Cow::Borrowed(text);
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Redacts a key, a string or a number; `None`: it stays as it is.
    fn token(&self, token: Value<'_>, is_secret: bool) -> Option<Vec<u8>> {
        let string = token.string();
        let text = string.as_ref().map_or(token.raw(), stepscope_base::text::Untrusted::bytes);
        if is_secret && self.kinds.contains(&PrivateKind::Secret) {
            return Some(format!("[redacted:{}]", PrivateKind::Secret.word()).into_bytes());
        }
        match self.text(text) {
            Cow::Owned(new) => Some(new),
            Cow::Borrowed(_) => None,
        }
    }

    /// A document without it.
    pub fn document(&self, document: &Document) -> Document {
        let line = |n: usize| {
            let (page, number) = document.number(n)?;
            Some((page, number, self.text(document.line(n)?).into_owned()))
        };
        let heading = |heading: &Heading| Heading { title: self.text(&heading.title).into_owned(), ..heading.clone() };
        Document::of((0..document.len()).filter_map(line).collect(), document.toc().iter().map(heading).collect())
    }
}

/// The text of a record without the words that a model read and wrote: lines, pages, quotes, prompts and raw replies.
/// Question and answers stay, and so do the values of a run's variables.
pub(crate) fn without_passages(text: &[u8]) -> Cow<'_, [u8]> {
    const WORDS: &[&str] = stepscope_base::list![
        answer_text completion content context llm_discovered_keywords messages passage prompt quote raw raw_response
        reasoning reply response system tool_calls
    ];
    let mut tape = Tape::default();
    tape.read(text);
    let Some(root) = tape.root(text) else { return Cow::Borrowed(text) };
    let record = formats::read(root);
    let document = record.typed.as_ref().map_or([None; 3], |typed| {
        let lines = typed.document.and_then(|document| document.get("lines").or(document.get("text")));
        [lines, typed.retrieved_pages, typed.meta]
    });
    let variables = VariablePlaces::of(&record);
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    let mut words_end = 0;
    for stop in root.walk() {
        let range = stop.value.range();
        let named = |key: Value<'_>| WORDS.iter().any(|word| key.is_string(word)) && !variables.contains(range.start);
        if stop.key.is_some_and(named) || document.iter().flatten().any(|value| value.range() == range) {
            words_end = range.end.max(words_end);
        }
        // Who speaks and in which form is no word of theirs.
        let is_form = stop.key.is_some_and(|key| key.is_string("role") || key.is_string("type"));
        if stop.value.kind() == Kind::String && range.start < words_end && !is_form {
            out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
            out.extend_from_slice(b"\"[redacted:passage]\"");
            at = range.end;
        }
    }
    if at == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// `NAME=REGEX`.
fn pattern(word: &str) -> Result<(String, Regex), Shown> {
    let kinds = PrivateKind::ALL.map(PrivateKind::word).join(", ");
    let shown = Shown::line(word.as_bytes());
    let Some((name, regex)) = word.split_once('=') else {
        return Err(shown!("unknown kind \"{shown}\" (use {kinds}, all or NAME=REGEX)"));
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
        return Err(shown!("\"{shown}\": a name has 1 to {MAX_NAME} letters, digits, _, - or ."));
    }
    if regex.is_empty() {
        return Err(shown!("\"{shown}\": the pattern is empty and would take nothing out"));
    }
    match RegexBuilder::new(regex).size_limit(MAX_PATTERN).build() {
        Ok(regex) => Ok((name.to_owned(), regex)),
        Err(error) => Err(shown!("\"{shown}\": {}", Shown::prose(error.to_string().as_bytes()))),
    }
}

/// Every key, string and number of a value in order, and whether it is a string under a key that is called a secret.
fn each_token(root: Value<'_>, mut found: impl FnMut(Value<'_>, bool)) {
    for stop in root.walk() {
        let mut secret = false;
        if let Some(key) = stop.key {
            found(key, false);
            let is_text = |text: &[u8]| text.len() >= SHORTEST_SECRET && !text.starts_with(b"[redacted:");
            secret = is_secret_key(key) && stop.value.string().is_some_and(|text| is_text(text.bytes()));
        }
        if matches!(stop.value.kind(), Kind::String | Kind::Int | Kind::Float) {
            found(stop.value, secret);
        }
    }
}

fn is_secret_key(key: Value<'_>) -> bool {
    let Some(name) = key.string() else { return false };
    if name.bytes().len() > MAX_NAME {
        return false;
    }
    let letters = name.bytes().iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase);
    let letters: Vec<u8> = letters.collect();
    SECRET_KEYS.iter().any(|known| known.as_bytes() == letters)
}

/// Text that looks private, apart from what was redacted: the first hits by name, and the number of all.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PrivateHits {
    /// The first, in order.
    pub named: Vec<PrivateHit>,
    /// All of them.
    pub count: usize,
}

impl PrivateHits {
    /// So many are named.
    pub const NAMED: usize = 20;

    /// Tells whether there are no hits.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Looks through a text.
    pub fn look(&mut self, text: &[u8], place: &Shown) {
        self.find(&Redaction::all(), text, || place.clone());
    }

    /// Looks through a record.
    pub fn look_in_record(&mut self, text: &[u8]) {
        let mut tape = Tape::default();
        let sound = tape.read(text) && tape.problems().is_empty();
        let Some(root) = tape.root(text).filter(|root| sound && root.raw().len() == text.trim_ascii().len()) else {
            return self.look(text, &Shown::own("record"));
        };
        let all = Redaction::all();
        each_token(root, |token, secret| {
            let string = token.string();
            let text = string.as_ref().map_or(token.raw(), stepscope_base::text::Untrusted::bytes);
            // An address may hold what it leads to.
            let pointer = || root.pointer_at(token.range().start).text();
            let place = || shown!("record {}", Shown::line(&all.text(pointer().bytes())));
            if secret {
                self.add(PrivateKind::Secret, text, place);
            } else {
                self.find(&all, text, place);
            }
        });
    }

    /// The place is asked for where it is named: to tell it takes a look at the record.
    fn find(&mut self, all: &Redaction, text: &[u8], place: impl Fn() -> Shown) {
        for (range, name) in all.find(text) {
            if let Some(kind) = PrivateKind::from_word(name) {
                self.add(kind, text.get(range).unwrap_or_default(), &place);
            }
        }
    }

    fn add(&mut self, kind: PrivateKind, found: &[u8], place: impl Fn() -> Shown) {
        self.count += 1;
        if self.named.len() < Self::NAMED {
            self.named.push(PrivateHit { kind, place: place(), sample: sample(found) });
        }
    }

    /// Puts what was found behind it to it.
    pub fn extend(&mut self, other: Self) {
        self.count += other.count;
        self.named.extend(other.named);
        self.named.truncate(Self::NAMED);
    }

    /// Of the record at a place.
    #[must_use]
    pub fn of(self, record: &Shown) -> Self {
        Self { named: self.named.into_iter().map(|hit| hit.of(record)).collect(), ..self }
    }
}

/// The beginning, and how long it is: enough to find it, not to use it.
fn sample(found: &[u8]) -> Shown {
    let count = pieces(found).count();
    let visible = |piece: &Piece| matches!(piece, Piece::Char(c) if !is_hidden(*c));
    let begin: String = pieces(found)
        .map(|(_, piece)| piece)
        .filter(visible)
        .take(4.min(count / 3))
        .filter_map(|piece| if let Piece::Char(c) = piece { Some(c) } else { None })
        .collect();
    shown!("{begin}… ({count} characters)")
}

#[cfg(test)]
mod tests;
