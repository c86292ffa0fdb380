//! API keys: never printed, and taken out of whatever a server says.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

/// Shorter keys are dummies such as `ollama` or `none`, and such words may stand in any reply.
const SHORTEST: usize = 8;
/// What stands in a key's place.
const STARS: &[u8] = b"***";

/// An API key. It has no text: it prints as stars, and leaves only as a header.
#[derive(Clone)]
pub struct Key(SecretString);

impl Key {
    /// Takes a key from a variable's value. `None`: it is empty, or no header can hold it.
    ///
    /// From now on neither a core file nor another process of the same user shows this process's memory.
    pub fn new(value: &str) -> Option<Self> {
        let value = value.trim();
        if value.is_empty() || HeaderValue::from_str(value).is_err() {
            return None;
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{DumpableBehavior, set_dumpable_behavior};
            // Where the system does not let us, the key is as safe as any other variable.
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        }
        Some(Self(SecretString::from(value)))
    }

    /// As a header: `before` and the key, marked so that nobody logs it.
    pub(super) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0.expose_secret())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Takes a key out of a text that comes in pieces.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    key: Option<Key>,
    /// What may be the beginning of the key.
    held: Vec<u8>,
}

impl Redactor {
    /// For this key; without one nothing is taken out.
    pub fn new(key: Option<&Key>) -> Self {
        let key = key.filter(|key| key.0.expose_secret().len() >= SHORTEST).cloned();
        Self { key, held: Vec::new() }
    }

    /// Takes a piece and gives what can be shown of it by now.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(key) = &self.key else { return piece.to_vec() };
        let key = key.0.expose_secret().as_bytes();
        let text = [self.held.as_slice(), piece].concat();
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text.as_slice();
        while let Some(at) = memchr::memmem::find(rest, key) {
            out.extend_from_slice(rest.get(..at).unwrap_or_default());
            out.extend_from_slice(STARS);
            rest = rest.get(at + key.len()..).unwrap_or_default();
        }
        let longest = rest.len().min(key.len().saturating_sub(1));
        let held = (1..=longest).rev().find(|len| key.starts_with(rest.get(rest.len() - len..).unwrap_or_default()));
        let (safe, held) = rest.split_at(rest.len() - held.unwrap_or(0));
        out.extend_from_slice(safe);
        self.held = held.to_vec();
        out
    }

    /// The text is over: gives what was held back.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// A whole text without the key.
    pub fn whole(&self, text: &[u8]) -> Vec<u8> {
        let mut fresh = Self { key: self.key.clone(), held: Vec::new() };
        let mut out = fresh.push(text);
        out.extend(fresh.finish());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = Key::new(" sk-secret-1\n").unwrap();
        assert_eq!(format!("{key:?}"), "***");
        assert_eq!(format!("{:?}", Redactor::new(Some(&key))), "Redactor { key: Some(***), held: [] }");
        let header = key.header("Bearer ").unwrap();
        assert!(header.is_sensitive() && header == "Bearer sk-secret-1");
        assert!(Key::new("  ").is_none() && Key::new("a\nb").is_none());
    }

    #[test]
    fn a_key_is_taken_out_wherever_the_text_is_split() {
        let key = Key::new("sk-sk-abc").unwrap();
        let text = b"x sk-sk-abc, sk-sk-sk-abc sk-sk-ab";
        let expected = b"x ***, sk-*** sk-sk-ab";
        for at in 0..=text.len() {
            let mut redactor = Redactor::new(Some(&key));
            let (head, tail) = text.split_at(at);
            let out = [redactor.push(head), redactor.push(tail), redactor.finish()].concat();
            assert_eq!(out, expected, "split at {at}");
        }
        assert_eq!(Redactor::new(Some(&key)).whole(text), expected);
        let dummy = Key::new("ollama").unwrap();
        assert_eq!(Redactor::new(Some(&dummy)).whole(b"ollama"), b"ollama");
    }
}
