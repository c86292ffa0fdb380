//! TEMPORARY: reads whole files, until `io::check` is connected. Only [`each`] is used from outside.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::domain::formats;
use crate::domain::json::Tape;
use crate::domain::record::{AnswerSchema, Record, RecordKind};
use crate::domain::rules::Subject;
use crate::domain::text::{Shown, Untrusted};
use crate::shown;

/// Which schema `--schema` names.
#[derive(Clone, Debug)]
pub(super) enum AnswerCheck {
    /// One of the four that are published.
    Published(AnswerSchema),
    /// A JSON Schema of the user's own.
    Own(PathBuf),
}

impl AnswerCheck {
    pub(super) fn of(name: &str) -> Self {
        AnswerSchema::from_word(name).map_or_else(|| Self::Own(name.into()), Self::Published)
    }
}

/// Where a record comes from, and what the rules look at.
pub(super) struct Read<'a> {
    pub source: &'a Untrusted<'a>,
    pub line: usize,
    pub column: usize,
    pub offset: u64,
    pub index: usize,
    pub subject: &'a Subject<'a>,
}

/// Every record of these paths, in order. What cannot be read at all comes back as sentences.
pub(super) fn each(
    paths: &[PathBuf],
    answers: Option<&AnswerCheck>,
    mut look: impl FnMut(&Read<'_>) -> ControlFlow<()>,
) -> Vec<Shown> {
    let mut failures = Vec::new();
    let mut stack: Vec<PathBuf> = paths.iter().rev().cloned().collect();
    while let Some(path) = stack.pop() {
        if path.is_dir() {
            let mut inside: Vec<_> =
                std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            inside.sort_unstable_by(|a, b| b.cmp(a));
            stack.extend(inside);
            continue;
        }
        match read(&path) {
            Ok(bytes) => {
                if file(&path, &bytes, answers, &mut look).is_break() {
                    return failures;
                }
            }
            Err(error) => failures.push(shown!("cannot read {}: {}", Shown::path(&path), Shown::error(&error))),
        }
    }
    failures
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path)
}

fn file(
    path: &Path,
    bytes: &[u8],
    answers: Option<&AnswerCheck>,
    look: &mut impl FnMut(&Read<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let source = Untrusted::new(path.as_os_str().as_encoded_bytes());
    let mut tape = Tape::default();
    let whole = tape.read(bytes);
    let (mut at, mut line, mut index) = (0, 1, 0);
    let pieces: Vec<&[u8]> = if whole { vec![bytes] } else { bytes.split(|byte| *byte == b'\n').collect() };
    for piece in pieces {
        let text = piece.strip_prefix("\u{feff}".as_bytes()).unwrap_or(piece).trim_ascii();
        if !text.is_empty() && !text.starts_with(b"//") {
            let start = text.as_ptr() as usize - piece.as_ptr() as usize;
            tape.read(text);
            let record = tape.root(text).map(formats::read).map(|record| as_answer(record, answers));
            let subject = Subject::new(text, &tape.problems, record);
            look(&Read {
                source: &source,
                line,
                column: start + 1,
                offset: (at + start) as u64,
                index,
                subject: &subject,
            })?;
            index += 1;
        }
        at += piece.len() + 1;
        line += 1;
    }
    ControlFlow::Continue(())
}

fn as_answer<'a>(record: Record<'a>, answers: Option<&AnswerCheck>) -> Record<'a> {
    match answers {
        None => record,
        Some(AnswerCheck::Published(schema)) => Record {
            answer: Some(record.root),
            answer_schema: Some(*schema),
            ..Record::bare(RecordKind::Answer, record.root)
        },
        Some(AnswerCheck::Own(_)) => {
            Record { answer: Some(record.root), ..Record::bare(RecordKind::Answer, record.root) }
        }
    }
}
