//! A line a finding, in the form that editors and `grep` users know.

use std::io::Write as _;

use super::Item;
use super::MAX_MESSAGE;
use super::places::Places;

/// Appends the record's lines.
pub fn write(item: &Item<'_>, out: &mut Vec<u8>) {
    if item.findings.is_empty() {
        return;
    }
    let mut places = Places::new(item);
    let source = item.source.line();
    for finding in item.findings {
        let start = places.range(finding.place()).start;
        let (line, column) = places.position(start);
        let (severity, rule, message) = (finding.severity, finding.rule, finding.message.line().shortened(MAX_MESSAGE));
        let pointer = places.pointer(finding.place()).text();
        // Writing to memory cannot fail.
        let _ = write!(out, "{source}:{line}:{column}: {severity}[{rule}] {message}");
        let _ = if pointer.is_empty() { writeln!(out) } else { writeln!(out, " ({})", pointer.line()) };
    }
}
