//! What is said about a record, and where: the one model of diagnostics, for the screen and for `check`.

use std::fmt;

use super::json::Pointer;
use super::text::Untrusted;

/// How grave a finding is, gravest first. The first two are upstream's words, with upstream's meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Not runnable without rewriting.
    Fatal,
    /// A small local edit suffices.
    Repairable,
    /// Probably wrong.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// All, gravest first.
    pub const ALL: [Self; 4] = [Self::Fatal, Self::Repairable, Self::Warning, Self::Note];

    /// The word on screen, in output and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fatal => "fatal",
            Self::Repairable => "repairable",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    /// The sign on screen: never colour alone.
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Fatal => "✗",
            Self::Repairable => "!",
            Self::Warning => "▲",
            Self::Note => "·",
        }
    }

    /// The severity of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.word() == word)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Upstream's machine-usable repair hints (`evoproc.validators.Action`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// Small edits of the JSON are enough.
    PatchLocally,
    /// Step 1 must be rewritten to read only `problem_text`.
    RewriteFirstStep,
    /// A step that writes `final_answer` alone is missing.
    AddFinalStep,
    /// More steps are needed to reach `final_answer`.
    ExtendProcedureToFinal,
    /// A step that writes the missing input is needed.
    AddMissingProducer,
}

impl Action {
    /// Upstream's spelling.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PatchLocally => "PATCH_LOCALLY",
            Self::RewriteFirstStep => "REWRITE_FIRST_STEP",
            Self::AddFinalStep => "ADD_FINAL_STEP",
            Self::ExtendProcedureToFinal => "EXTEND_PROCEDURE_TO_FINAL",
            Self::AddMissingProducer => "ADD_MISSING_PRODUCER",
        }
    }
}

/// Where a finding stands in its record.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// The key of the member that the pointer names.
    Key(Pointer),
    /// The value that the pointer names.
    Value(Pointer),
    /// Bytes of the record's text, where no value could be read.
    Bytes {
        /// First byte.
        start: usize,
        /// One past the last.
        end: usize,
    },
    /// A part of the string that the pointer names, in bytes of its unescaped text.
    Span {
        /// The string.
        pointer: Pointer,
        /// First byte.
        start: usize,
        /// One past the last.
        end: usize,
    },
}

impl Place {
    /// The address in the record; the whole record where only bytes are known.
    pub fn pointer(&self) -> Pointer {
        match self {
            Self::Key(pointer) | Self::Value(pointer) | Self::Span { pointer, .. } => pointer.clone(),
            Self::Bytes { .. } => Pointer::default(),
        }
    }
}

/// A place and what is to be said there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What, in a few words; may be empty on the first label, whose text is the finding's message.
    pub text: Untrusted<'static>,
}

/// A value in a finding's details.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datum {
    /// JSON `null`.
    Null,
    /// A string.
    Text(Untrusted<'static>),
    /// An integer, as digits.
    Int(String),
    /// An array.
    List(Vec<Datum>),
}

impl Datum {
    /// An array of strings.
    pub fn texts<'a>(texts: impl IntoIterator<Item = &'a Untrusted<'a>>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::Text(text.to_owned())).collect())
    }

    /// As JSON, ASCII only.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Text(text) => text.write_json(out),
            Self::Int(digits) => out.extend_from_slice(digits.as_bytes()),
            Self::List(items) => {
                out.push(b'[');
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    item.write_json(out);
                }
                out.push(b']');
            }
        }
    }
}

/// A finding's details, in upstream's key order.
pub type Details = Vec<(&'static str, Datum)>;

/// One thing said about a record. The first label is where it stands; there is always one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Id of the rule, such as `procedure/unused`.
    pub rule: &'static str,
    /// How grave.
    pub severity: Severity,
    /// Upstream's repair hint, where upstream gives one.
    pub action: Option<Action>,
    /// What is wrong; where upstream says it, upstream's exact words.
    pub message: Untrusted<'static>,
    /// The payload for machines.
    pub details: Details,
    /// Where it stands, then what belongs to it.
    first: Label,
    more: Vec<Label>,
    /// How to mend it, in a sentence.
    pub help: Option<&'static str>,
}

impl Finding {
    /// A finding at a place.
    pub fn new(rule: &'static str, severity: Severity, message: impl Into<Untrusted<'static>>, place: Place) -> Self {
        let first = Label { place, text: Untrusted::default() };
        let message = message.into();
        Self { rule, severity, action: None, message, details: Vec::new(), first, more: Vec::new(), help: None }
    }

    /// With upstream's repair hint.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    /// With one more detail.
    #[must_use]
    pub fn detail(mut self, key: &'static str, datum: Datum) -> Self {
        self.details.push((key, datum));
        self
    }

    /// With one more labelled place.
    #[must_use]
    pub fn label(mut self, place: Place, text: impl Into<Untrusted<'static>>) -> Self {
        self.more.push(Label { place, text: text.into() });
        self
    }

    /// Adds a labelled place.
    pub fn push_label(&mut self, label: Label) {
        self.more.push(label);
    }

    /// With a sentence on how to mend it.
    #[must_use]
    pub fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }

    /// Where it stands.
    pub fn place(&self) -> &Place {
        &self.first.place
    }

    /// Every labelled place, the main one first.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        std::iter::once(&self.first).chain(&self.more)
    }
}

/// What the rules found in one record, in order.
pub type Findings = Vec<Finding>;
