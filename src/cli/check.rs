//! `stepscope check`: what is wrong with records, at the exact key.

use std::ops::ControlFlow;
use std::path::Path;

use super::reader::{AnswerCheck, Read, each};
use super::{CLEAN, Check, FAILED, FOUND, Out};
use crate::domain::record::RecordKind;
use crate::domain::report::text::Look;
use crate::domain::report::{Format, Item, Summary};
use crate::domain::rules;
use crate::domain::text::Shown;
use crate::shown;

pub(super) fn run(check: &Check, out: &mut Out) -> u8 {
    let answers = check.schema.as_deref().map(AnswerCheck::of);
    if let Some(AnswerCheck::Own(path)) = &answers
        && let Err(sentence) = can_read(path)
    {
        out.complain(&sentence);
        return FAILED;
    }
    let format = check.format();
    let look = Look::new(out.colours(check.color));
    let (mut summary, mut buffer, mut any) = (Summary::default(), Vec::new(), false);
    format.begin(&mut buffer);
    let failures = each(&check.paths, answers.as_ref(), |read| {
        let findings = rules::check(read.subject);
        let item = item(read, &findings);
        format.item(&item, &look, !any, &mut buffer);
        any |= !findings.is_empty();
        summary.add(&item, read.subject.problems);
        out.write(&buffer);
        buffer.clear();
        if out.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    format.end(&summary, &mut buffer);
    out.write(&buffer);
    out.flush();
    if format == Format::Short && !out.is_closed() {
        out.complain(&summary.line());
    }
    for failure in &failures {
        out.complain(failure);
    }
    if !failures.is_empty() {
        FAILED
    } else if check.fails_on(summary.worst()) {
        FOUND
    } else {
        CLEAN
    }
}

/// A record as the report wants it.
pub(super) fn item<'a>(read: &Read<'a>, findings: &'a [crate::domain::finding::Finding]) -> Item<'a> {
    let record = read.subject.record.as_ref();
    Item {
        source: read.source,
        line: read.line,
        column: read.column,
        offset: read.offset,
        index: read.index,
        text: read.subject.text,
        root: record.map(|record| record.root),
        kind: record.map_or(RecordKind::Broken, |record| record.kind),
        id: record.and_then(|record| record.id),
        findings,
        fitness: None,
    }
}

fn can_read(path: &Path) -> Result<(), Shown> {
    let fail = |why: &Shown| {
        shown!("cannot read the schema {}: {why}; it must be general, bool, gsm, arc or a file", Shown::path(path))
    };
    let text = std::fs::read(path).map_err(|error| fail(&Shown::error(&error)))?;
    serde_json::from_slice::<serde_json::Value>(&text).map_err(|error| fail(&Shown::error(&error)))?;
    Ok(())
}
