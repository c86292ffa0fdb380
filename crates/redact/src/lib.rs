//! Redaction: text that is taken out of a record before others see it, and text that looks as if it should be.
//!
//! A secret may be spelled in many ways: every text is looked at as it stands, and again with its escapes undone, level
//! by level, so that neither JSON in a string of JSON nor a character without width hides anything. It is known by its
//! own beginning, or by a name: of its member, of a list around it, of the text or words beside it.
//!
//! Law: knows no files, no network, no terminal; a secret that it found is in nothing that it returns.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::document::{Document, Heading};
use stepscope_record::formats;
use stepscope_record::trace::VariablePlaces;

/// Texts in base64 or hexadecimal digits.
mod encoded;
/// Secrets by the names of members around them.
mod members;
/// Secrets that a text names: "my password is x".
mod named;
/// Names of members whose values are secret.
mod names;
/// Beginnings and forms of the keys of services.
mod services;
/// Texts with their escapes undone.
mod unescaped;

use names::{is_placeholder, looks_random};
use unescaped::Unescaped;

/// A pattern that needs more memory is refused.
const MAX_PATTERN: usize = 4 << 20;
/// Longest name of a pattern.
const MAX_NAME: usize = 40;
/// So often a text may be written in other digits.
const MAX_ENCODED: usize = 2;
/// Nothing shorter is private, as far as the kinds know.
const SHORTEST: usize = 6;
/// A longer text is read in parts of this length, which overlap so that nothing is cut.
const PART: usize = 1 << 20;
const OVERLAP: usize = 16 << 10;
/// Kinds that nobody should have, whoever they are.
const SECRETS: [PrivateKind; 3] = [PrivateKind::Key, PrivateKind::Bearer, PrivateKind::Secret];

/// Part of a text to take out, and the name of what it is.
type PrivateRange<'n> = (Range<usize>, &'n str);

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
    fn pattern(self) -> Cow<'static, str> {
        match self {
            Self::Key => services::pattern().into(),
            Self::Bearer => r"(?i-u)\b(?:bearer|basic|token)\s+[A-Za-z0-9._~+/=-]{8,}|authorization\W{1,6}digest\s[^\r\n]+".into(),
            // User and password of an address, and of the commands that take both.
            Self::Secret => {
                r#"(?ix-u)
                ://[^/\s:@"'<>]*:(?P<url>[^/\s"'<>]{4,})@ | ://(?P<user>[A-Za-z0-9_-]{20,})@
                | \b(?:curl|http|https|wget)\b(?s:.){0,200}?\s["']?(?:-u|--user|--proxy-user|-a|--auth)["']?[\s=,]*["']?[^\s:"'@]+:(?P<curl>[^\s"']+)
                | \bsshpass\s+-p\s*["']?(?P<ssh>[^\s"']{4,}) | \bmysql[a-z]*\s(?:[^\n]*\s)?-p["']?(?P<sql>[^\s"']{4,})"#.into()
            }
            Self::Email => r"[\p{L}\p{N}._%+'-]+(?:@|\(at\)|\[at\])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}".into(),
            Self::Home => {
                r#"(?ix)
                (?:/home/|/users/|/export/home/|/var/home/|/root/) [^/\s"'<>:;,()\[\]\\]+
                | \b[a-z]:[\\/]+(?:users|documents\ and\ settings)[\\/]+ [^\\/\s"'<>:;,]+"#.into()
            }
        }
    }

    /// Tells whether a match of the pattern is more than prose that only begins alike.
    fn is_meant(self, pattern: &Regex, found: &[u8]) -> bool {
        match self {
            Self::Key => services::is_key(found),
            Self::Bearer => is_authorization(found),
            Self::Secret => {
                let value = pattern.captures(found).and_then(|parts| parts.iter().skip(1).flatten().next());
                value.is_none_or(|value| !is_placeholder(value.as_bytes()))
            }
            Self::Email | Self::Home => true,
        }
    }
}

/// Tells whether what stands behind the name of a scheme is no word.
fn is_authorization(found: &[u8]) -> bool {
    let mut words = found.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (Some(scheme), Some(value)) = (words.next(), words.next_back()) else { return false };
    let has_digit = value.iter().any(u8::is_ascii_digit);
    match scheme.to_ascii_lowercase().as_slice() {
        b"bearer" => has_digit || (value.len() >= 20 && value.iter().any(u8::is_ascii_uppercase)),
        b"basic" => looks_random(value) || encoded::from_base64(value).iter().position(|byte| *byte == b':') > Some(0),
        b"token" => looks_random(value) || (value.len() >= 32 && has_digit),
        _ => true,
    }
}

static PATTERNS: LazyLock<Vec<(PrivateKind, Regex)>> = LazyLock::new(|| {
    let compiled = |kind: PrivateKind| Regex::new(&kind.pattern()).ok().map(|pattern| (kind, pattern));
    PrivateKind::ALL.into_iter().filter_map(compiled).collect()
});

/// Something that others should not see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrivateHit {
    /// Kind of private text that it looks like.
    pub kind: PrivateKind,
    /// Place of it. Nothing of the text itself is kept: what is told lands in logs.
    pub place: Shown,
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

    /// Keys, tokens and passwords: what nobody should have, and not what tells who somebody is.
    pub fn secrets() -> Self {
        Self { patterns: Vec::new(), kinds: SECRETS.to_vec() }
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
    fn find(&self, text: &[u8]) -> Vec<PrivateRange<'_>> {
        let mut found = Vec::new();
        // The way back from a text without its escapes takes many times its size: a large one is read part by part.
        let mut start = 0;
        while let Some(part) = text.get(start..(start + PART).min(text.len())).filter(|part| !part.is_empty()) {
            let hits = self.find_all(part, MAX_ENCODED).into_iter();
            found.extend(hits.map(|(range, name)| (start + range.start..start + range.end, name)));
            if start + part.len() == text.len() {
                break;
            }
            start += PART - OVERLAP;
        }
        apart(found)
    }

    /// `encoded`: so often texts in other digits are read.
    fn find_all(&self, text: &[u8], encoded: usize) -> Vec<PrivateRange<'_>> {
        let mut found: Vec<PrivateRange<'_>> = Vec::new();
        if text.len() < SHORTEST && self.patterns.is_empty() {
            return found;
        }
        let names = self.kinds.contains(&PrivateKind::Secret);
        Unescaped::each(text, |view, is_end| {
            for (name, pattern) in &self.patterns {
                let hits = pattern.find_iter(view.text()).map(|hit| hit.range()).filter(|hit| !hit.is_empty());
                found.extend(hits.map(|hit| (view.in_source(&hit), name.as_str())));
            }
            for (kind, pattern) in PATTERNS.iter().filter(|(kind, _)| self.kinds.contains(kind)) {
                let hits = pattern.find_iter(view.text()).filter(|hit| kind.is_meant(pattern, hit.as_bytes()));
                found.extend(hits.map(|hit| (view.in_source(&hit.range()), kind.word())));
            }
            if names {
                named::find(view.text(), |range| found.push((view.in_source(&range), PrivateKind::Secret.word())));
            }
            // What no escape is in is the same in all views.
            if is_end && encoded > 0 {
                encoded::find(view.text(), |range, text| {
                    let is_secret = |hit: &&PrivateRange<'_>| SECRETS.iter().any(|kind| kind.word() == hit.1);
                    let inner = self.find_all(&text, encoded - 1);
                    found.extend(inner.iter().find(is_secret).map(|hit| (view.in_source(&range), hit.1)));
                });
            }
        });
        found
    }

    /// Finds what to take out of the lines of a text: what goes over several of them is found in each.
    fn find_in_lines(&self, lines: &[impl AsRef<[u8]>]) -> Vec<Vec<PrivateRange<'_>>> {
        let text = lines.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(&b'\n');
        let found = self.find(&text);
        let (mut first, mut start) = (0, 0);
        let of_line = |line: &_| {
            let end = start + AsRef::<[u8]>::as_ref(line).len();
            let mut own = Vec::new();
            for (n, (range, name)) in found.iter().enumerate().skip(first).take_while(|(_, hit)| hit.0.start < end) {
                let part = range.start.max(start) - start..range.end.min(end).max(start) - start;
                own.extend((!part.is_empty()).then_some((part, *name)));
                if range.end <= end + 1 {
                    first = n + 1;
                }
            }
            start = end + 1;
            own
        };
        lines.iter().map(of_line).collect()
    }

    /// A text without it.
    pub fn text<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        settled(text, |text| without(text, &self.find(text)))
    }

    /// The text of a record without it: in keys, strings and numbers, so that it stays JSON.
    pub fn record<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        settled(text, |text| self.record_once(text))
    }

    fn record_once<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut tape = Tape::default();
        let Some(root) = sound_root(&mut tape, text) else {
            // What is no JSON is text, and what stands around JSON may be anything. Without it, it may be JSON.
            return self.text(text);
        };
        let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
        self.each_hit(root, |token, hits| {
            out.extend_from_slice(&text[at..token.range().start]);
            let string = token.string();
            let new = without(string.as_ref().map_or(token.raw(), Untrusted::bytes), hits).into_owned();
            Style::ASCII.append(Untrusted::owned(new), &mut out);
            at = token.range().end;
        });
        if at == 0 {
            return Cow::Borrowed(text);
        }
        out.extend_from_slice(&text[at..]);
        Cow::Owned(out)
    }

    /// Every key, string and number of a record that holds something to take out, with the parts that are.
    fn each_hit<'v>(&self, root: Value<'v>, mut found: impl FnMut(Value<'v>, &[PrivateRange<'_>])) {
        let mut over_lines: HashMap<usize, Vec<PrivateRange<'_>>> = HashMap::new();
        for lines in members::lines(root) {
            let texts: Vec<Untrusted<'_>> = lines.iter().filter_map(|line| line.string()).collect();
            let texts: Vec<&[u8]> = texts.iter().map(Untrusted::bytes).collect();
            for (line, hits) in lines.iter().zip(self.find_in_lines(&texts)).filter(|(_, hits)| !hits.is_empty()) {
                over_lines.entry(line.index()).or_default().extend(hits);
            }
        }
        let names = self.kinds.contains(&PrivateKind::Secret);
        members::each_token(root, |token, is_secret| {
            let string = token.string();
            let text = string.as_ref().map_or(token.raw(), Untrusted::bytes);
            let mut hits =
                if is_secret && names { vec![(0..text.len(), PrivateKind::Secret.word())] } else { self.find(text) };
            if let Some(more) = over_lines.remove(&token.index()) {
                hits = apart(hits.into_iter().chain(more).collect());
            }
            if !hits.is_empty() {
                found(token, &hits);
            }
        });
    }

    /// A document without it.
    pub fn document(&self, document: &Document) -> Document {
        let lines: Vec<&[u8]> = (0..document.len()).filter_map(|n| document.line(n)).collect();
        let clean = lines.iter().zip(self.find_in_lines(&lines)).enumerate().filter_map(|(n, (line, hits))| {
            let (page, number) = document.number(n)?;
            Some((page, number, self.text(&without(line, &hits)).into_owned()))
        });
        let heading = |heading: &Heading| Heading { title: self.text(&heading.title).into_owned(), ..heading.clone() };
        Document::of(clean.collect(), document.toc().iter().map(heading).collect())
    }
}

/// Parses a text that is JSON and nothing else.
fn sound_root<'v>(tape: &'v mut Tape, text: &'v [u8]) -> Option<Value<'v>> {
    let sound = tape.read(text) && tape.problems().is_empty();
    tape.root(text).filter(|root| sound && root.raw().len() == text.trim_ascii().len())
}

/// Puts ranges in order and joins those that overlap.
fn apart(mut found: Vec<PrivateRange<'_>>) -> Vec<PrivateRange<'_>> {
    found.sort_by_key(|(range, name)| (range.start, std::cmp::Reverse(range.end), *name));
    let mut apart: Vec<PrivateRange<'_>> = Vec::new();
    for (range, name) in found {
        match apart.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push((range, name)),
        }
    }
    apart
}

/// A text without parts of it.
fn without<'t>(text: &'t [u8], found: &[PrivateRange<'_>]) -> Cow<'t, [u8]> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    for (range, name) in found {
        out.extend_from_slice(&text[at..range.start]);
        out.extend_from_slice(format!("[redacted:{name}]").as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&text[at..]);
    Cow::Owned(out)
}

/// Cleans a text until nothing changes any more: what was between two parts that went may look private without them.
fn settled(text: &[u8], clean: impl for<'c> Fn(&'c [u8]) -> Cow<'c, [u8]>) -> Cow<'_, [u8]> {
    /// Number of passes; what is left then is told.
    const MOST: usize = 4;
    let mut cleaned = clean(text);
    for _ in 1..MOST {
        if matches!(cleaned, Cow::Borrowed(_)) {
            break;
        }
        match clean(&cleaned) {
            Cow::Owned(cleaner) => cleaned = Cow::Owned(cleaner),
            Cow::Borrowed(_) => break,
        }
    }
    cleaned
}

/// The text of a record without the words that a model read and wrote: lines, pages, quotes, prompts and raw replies.
/// Question and answers stay, and so do the values of a run's variables.
pub fn without_passages(text: &[u8]) -> Cow<'_, [u8]> {
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
        // Roles and forms are no words of the speakers.
        let is_form = stop.key.is_some_and(|key| key.is_string("role") || key.is_string("type"));
        if stop.value.kind() == Kind::String && range.start < words_end && !is_form {
            out.extend_from_slice(&text[at..range.start]);
            out.extend_from_slice(b"\"[redacted:passage]\"");
            at = range.end;
        }
    }
    if at == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(&text[at..]);
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

/// Text that looks private, apart from what was redacted: the first hits by name, and the number of all.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PrivateHits {
    /// The first, in order.
    pub named: Vec<PrivateHit>,
    /// All of them.
    pub count: usize,
    /// Only keys, tokens and passwords count.
    pub secrets_alone: bool,
}

impl PrivateHits {
    /// Maximum number that is named.
    pub const NAMED: usize = 20;

    /// Looks for keys, tokens and passwords alone.
    pub fn of_secrets() -> Self {
        Self { secrets_alone: true, ..Self::default() }
    }

    fn wanted(&self) -> Redaction {
        if self.secrets_alone { Redaction::secrets() } else { Redaction::all() }
    }

    /// Tells whether there are no hits.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Looks through a text.
    pub fn look(&mut self, text: &[u8], place: &Shown) {
        for (range, name) in self.wanted().find(text) {
            self.add(name, || match memchr::memchr_iter(b'\n', text.get(..range.start).unwrap_or(text)).count() {
                0 => place.clone(),
                lines => shown!("{place}, line {}", lines + 1),
            });
        }
    }

    /// Looks through a record.
    pub fn look_in_record(&mut self, text: &[u8]) {
        let mut tape = Tape::default();
        let Some(root) = sound_root(&mut tape, text) else { return self.look(text, &Shown::own("record")) };
        let all = Redaction::all();
        self.wanted().each_hit(root, |token, hits| {
            for (_, name) in hits {
                // To tell the place takes a look at the record, and an address may hold what it leads to.
                self.add(name, || {
                    let pointer = root.pointer_at(token.range().start).text();
                    shown!("record {}", Shown::line(&all.text(pointer.bytes())))
                });
            }
        });
    }

    fn add(&mut self, name: &str, place: impl Fn() -> Shown) {
        let Some(kind) = PrivateKind::from_word(name) else { return };
        self.count += 1;
        if self.named.len() < Self::NAMED {
            self.named.push(PrivateHit { kind, place: place() });
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

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tries;
