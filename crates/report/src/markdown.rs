//! Findings as Markdown, for the summary of a CI job or a comment: a list, so that it can be written as it comes.

use super::MAX_MESSAGE;
use super::page::{BEGIN_MARKDOWN, Markdown};
use super::places::Places;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::Finding;

/// Appends the heading.
pub(crate) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(BEGIN_MARKDOWN.as_bytes());
    out.extend_from_slice(b"### stepscope check\n\n");
}

/// Appends a record with the list of its findings.
pub(crate) fn write(case: &CaseView<'_>, findings: &[Finding], out: &mut Vec<u8>) {
    if findings.is_empty() {
        return;
    }
    let places = Places::new(case);
    let mut page = Markdown::default();
    page.raw("- ").code(&shown!("{}:{}", case.source().line(), case.line()));
    let record = case.record.as_ref();
    if let Some(id) = record.and_then(|record| record.id_text()) {
        page.raw(" ").code(&id.line().cut(80));
    }
    if let Some(question) = record.and_then(|record| record.question?.string()) {
        page.raw(" ").prose(&question.line().cut(200));
    }
    page.raw("\n");
    for finding in findings {
        page.raw("  - ").raw(finding.severity.glyph()).raw(" **").raw(finding.severity.word()).raw("** ");
        page.prose(&finding.message.line().shortened(MAX_MESSAGE)).raw(" (").code(&Shown::own(finding.rule.word()));
        let pointer = places.pointer(finding.place()).text().line();
        if !pointer.as_str().is_empty() {
            page.raw(" at ").code(&pointer);
        }
        page.raw(")\n");
    }
    out.extend_from_slice(page.text().as_bytes());
}

/// Appends the last line: what was found in all.
pub(crate) fn total(line: &Shown, out: &mut Vec<u8>) {
    let mut page = Markdown::default();
    page.raw("\n**").prose(line).raw("**\n");
    out.extend_from_slice(page.text().as_bytes());
}
