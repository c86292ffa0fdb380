//! What was found in a record, as bytes for a terminal, an editor, a program or a code host.
//!
//! Every writer appends to a buffer that the caller reuses, a record at a time, in input order. All text from data
//! passes `Shown` or is written as ASCII-only JSON: the bytes are safe in any terminal.

use crate::answer::contract::Strictness;
use crate::answer::route::{Routed, route};
use crate::answer::spans::Cited;
use crate::finding::{Finding, Severity};
use crate::record::RecordKind;
use crate::rules::Subject;
use crate::triage::Triage;
use stepscope_base::json::Value;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

pub mod board;
mod excerpt;
pub mod jsonl;
pub mod places;
pub(crate) mod sarif;
pub(crate) mod short;
pub mod text;

/// People read so much of a message; JSON lines and SARIF have it whole.
pub(crate) const MAX_MESSAGE: usize = 2_000;

/// A record and what was found in it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The path as it was given.
    pub source: &'a Untrusted<'a>,
    /// The physical line on which the record begins, from 1.
    pub line: usize,
    /// The column at which it begins, in characters, from 1.
    pub column: usize,
    /// The byte of the source at which it begins.
    pub offset: u64,
    /// The record's number in its source, from 0.
    pub index: usize,
    /// The text of the record.
    pub text: &'a [u8],
    /// Its JSON value, if it could be read.
    pub root: Option<Value<'a>>,
    /// What it is.
    pub kind: RecordKind,
    /// Its own id, string or number.
    pub id: Option<Value<'a>>,
    /// What was found, in order.
    pub findings: &'a [Finding],
    /// Upstream's structural score, where there is one.
    pub fitness: Option<f64>,
    /// Where to fix the run, if somebody asked.
    pub triage: Option<&'a Triage>,
    /// What is to be done with a typed answer, if somebody asked.
    pub judged: Option<&'a Judged>,
}

/// A typed answer, judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its question.
    pub question: Option<Untrusted<'static>>,
    /// Where it goes, and why.
    pub routed: Routed,
    /// Why the page that the model did not see says what it says.
    pub reason: Untrusted<'static>,
    /// Which readers would take it.
    pub strictness: Option<Strictness>,
    /// What became of each cited span; empty where the document is not at hand.
    pub spans: Vec<Cited>,
    /// How many items are grounded, and how many there are; `None` where the document is not at hand.
    pub grounded: Option<(usize, usize)>,
}

impl Judged {
    /// Judges a record with its findings; `None` if it is no typed answer.
    pub fn of(subject: &Subject<'_>, findings: &[Finding]) -> Option<Self> {
        let question = subject.record.as_ref()?.question.and_then(Value::string);
        Some(Self {
            routed: route(subject, findings)?,
            question: question.map(Untrusted::into_owned),
            reason: subject.completeness().map(|verdict| verdict.reason.clone()).unwrap_or_default(),
            strictness: subject.strictness(),
            spans: subject.resolutions().to_vec(),
            grounded: subject.grounded().map(|grounded| (grounded, subject.items().len())),
        })
    }
}

impl Item<'_> {
    /// The gravest finding.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).min()
    }
}

stepscope_base::words! {
    /// The forms a report can take.
    pub enum Format {
        /// The place in the record with a caret, as a compiler does.
        Text = "text",
        /// A line a finding: `path:line:column: severity[rule] message (pointer)`.
        Short = "short",
        /// A JSON object a record.
        Jsonl = "jsonl",
        /// SARIF 2.1.0, for code hosts and editors.
        Sarif = "sarif",
    }
}

impl Format {
    /// What stands before the first record.
    pub fn begin(self, out: &mut Vec<u8>) {
        if self == Self::Sarif {
            sarif::begin(out);
        }
    }

    /// One record.
    pub fn item(self, item: &Item<'_>, look: &text::Look, out: &mut Vec<u8>) {
        match self {
            Self::Text => text::write(item, look, out),
            Self::Short => short::write(item, out),
            Self::Jsonl => jsonl::write(item, out),
            Self::Sarif => sarif::write(item, out),
        }
    }

    /// The first bytes that [`Format::item`] made, without what separates them from what came before. Records are
    /// rendered on many threads, and none knows whether it is the first.
    pub fn first(self, bytes: &[u8]) -> &[u8] {
        let separator: &[u8] = if self == Self::Sarif { b"," } else { b"" };
        bytes.strip_prefix(separator).unwrap_or(bytes)
    }

    /// What stands after the last record.
    pub fn end(self, out: &mut Vec<u8>) {
        if self == Self::Sarif {
            sarif::end(out);
        }
    }
}

/// Counts over all records of a check.
#[derive(Clone, Copy, Default, Debug)]
pub struct Summary {
    /// How many records there were, broken ones too.
    pub records: u64,
    /// How many findings of each severity, in the order of [`Severity::ALL`].
    pub findings: [u64; 4],
}

impl Summary {
    /// `60 records, 3 fatal, 5 repairable, 2 warnings, 1 note`
    pub fn line(&self) -> Shown {
        let mut line = count(self.records, "record", "records");
        for (severity, number) in Severity::ALL.into_iter().zip(self.findings).filter(|(_, number)| *number > 0) {
            let (one, many) = match severity {
                Severity::Fatal => ("fatal", "fatal"),
                Severity::Repairable => ("repairable", "repairable"),
                Severity::Warning => ("warning", "warnings"),
                Severity::Note => ("note", "notes"),
            };
            line = line.and(", ").join(&count(number, one, many));
        }
        if self.findings == [0; 4] { line.and(", nothing found") } else { line }
    }
}

fn count(number: u64, one: &'static str, many: &'static str) -> Shown {
    shown!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
