//! One line per finding, in the form that editors and `grep` users know.

use super::MAX_MESSAGE;
use super::places::Places;
use std::io::Write as _;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::Finding;

/// Appends the record's lines.
pub(crate) fn write(case: &CaseView<'_>, findings: &[Finding], out: &mut Vec<u8>) {
    if findings.is_empty() {
        return;
    }
    let mut places = Places::new(case);
    let source = case.source().line();
    for finding in findings {
        let start = places.range(finding.place()).start;
        let (line, column) = places.position(start);
        let _ = write!(out, "{source}:{line}:{column}");
        let message = finding.message.line().shortened(MAX_MESSAGE);
        put(out, &[": ", finding.severity.word(), "[", finding.rule.word(), "] ", message.as_str()]);
        let pointer = places.pointer(finding.place()).text();
        if !pointer.is_empty() {
            put(out, &[" (", pointer.line().as_str(), ")"]);
        }
        out.push(b'\n');
    }
}

fn put(out: &mut Vec<u8>, texts: &[&str]) {
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
}
