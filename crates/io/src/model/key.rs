//! API keys: never printed. What a server says of one is taken out by `redact`.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};

use crate::system::hide_memory;

/// An API key. It has no text: it prints as stars, and leaves only as a header.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// Takes a key from a variable's value. `None`: it is empty, or no header can hold it.
    ///
    /// From now on, on Linux, neither a core file nor another process of the same user shows this process's memory.
    pub fn new(value: &str) -> Option<Self> {
        let value = value.trim();
        if value.is_empty() || !is_header(value) {
            return None;
        }
        hide_memory();
        Some(Self(SecretString::from(value)))
    }

    /// Exposes the key itself, to take it out of texts.
    pub(super) fn text(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Tells whether a header can hold a text: no line breaks, and no control characters besides the tab.
fn is_header(value: &str) -> bool {
    value.bytes().all(|byte| byte == b'\t' || byte >= b' ' && byte != 0x7f)
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = ApiKey::new(" sk-secret-1\n").unwrap();
        assert_eq!(format!("{key:?}"), "***");
        assert!(ApiKey::new("  ").is_none() && ApiKey::new("a\nb").is_none());
    }
}
