//! Severity of a finding, and of the rule that makes it.

use std::fmt;

stepscope_base::words! {
    /// Severity of a finding, gravest first. The first two are upstream's words, with upstream's meaning.
    pub enum Severity {
        /// Not runnable without rewriting.
        Fatal = "fatal",
        /// A small local edit suffices.
        Repairable = "repairable",
        /// Probably wrong.
        Warning = "warning",
        /// Worth knowing.
        Note = "note",
    }
}

impl Severity {
    /// The sign on screen: never colour alone.
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Fatal => "■",
            Self::Repairable => "!",
            Self::Warning => "▲",
            Self::Note => "•",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
