//! JUnit XML: a suite per record with one test case, so that counts are exact and a million records need no memory.

use super::MAX_MESSAGE;
use super::places::Places;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::{Finding, Severity};

/// Opens the document.
pub(crate) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stepscope\">\n");
}

/// Closes what [`begin`] opened.
pub(crate) fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"</testsuites>\n");
}

/// Appends the suite of a record. It fails if it has a finding of severity `least` or a graver one; lighter ones are its
/// output.
pub(crate) fn write(case: &CaseView<'_>, findings: &[Finding], least: Option<Severity>, out: &mut Vec<u8>) {
    let source = case.source().line();
    let fails = |finding: &&Finding| least.is_some_and(|least| finding.severity <= least);
    let failure = findings.iter().filter(fails).min_by_key(|finding| finding.severity);
    let id = case.record.as_ref().and_then(|record| record.id_text()).map(|id| id.line());
    let mut name = format!("line {}", case.line());
    if let Some(id) = &id {
        name = format!("{name}: {id}");
    }
    let failures = if failure.is_some() { "1" } else { "0" };
    put(out, "<testsuite name=\"");
    text(out, source.as_str());
    put(out, &format!("\" tests=\"1\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">"));
    for (key, value) in [("<testcase classname=", source.as_str()), (" name=", &name), (" file=", source.as_str())] {
        put(out, key);
        put(out, "\"");
        text(out, value);
        put(out, "\"");
    }
    put(out, &format!(" line=\"{}\">", case.line()));
    if let Some(first) = failure {
        put(out, "<failure type=\"");
        text(out, first.rule.word());
        put(out, "\" message=\"");
        text(out, first.message.line().shortened(MAX_MESSAGE).as_str());
        put(out, "\">");
        lines(case, findings, out);
        put(out, "</failure>");
    } else if !findings.is_empty() {
        put(out, "<system-out>");
        lines(case, findings, out);
        put(out, "</system-out>");
    }
    put(out, "</testcase></testsuite>\n");
}

/// Appends a line per finding, as the form `short` has it, with the help.
fn lines(case: &CaseView<'_>, findings: &[Finding], out: &mut Vec<u8>) {
    let mut places = Places::new(case);
    for finding in findings {
        let (line, column) = {
            let start = places.range(finding.place()).start;
            places.position(start)
        };
        let message: Shown = finding.message.line().shortened(MAX_MESSAGE);
        let said = format!("{line}:{column}: {}[{}] {message}", finding.severity.word(), finding.rule.word());
        text(out, &said);
        let pointer = places.pointer(finding.place()).text().line();
        if !pointer.as_str().is_empty() {
            text(out, &format!(" ({pointer})"));
        }
        if let Some(help) = finding.help {
            text(out, &format!(" {help}"));
        }
        out.push(b'\n');
    }
}

/// Appends a text for an attribute or an element, without the characters that XML cannot hold.
fn text(out: &mut Vec<u8>, text: &str) {
    let mut bytes = [0; 4];
    for c in text.chars().filter(|c| is_of_xml(*c)) {
        match c {
            '&' => put(out, "&amp;"),
            '<' => put(out, "&lt;"),
            '>' => put(out, "&gt;"),
            '"' => put(out, "&quot;"),
            '\'' => put(out, "&apos;"),
            c => put(out, c.encode_utf8(&mut bytes)),
        }
    }
}

const fn is_of_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_holds_no_markup_and_no_control() {
        let mut out = Vec::new();
        text(&mut out, "a<b> & \"c\" 'd'\u{1b}[31m\u{0}\u{fffe}é\u{1f600}");
        assert_eq!(out, "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;[31mé\u{1f600}".as_bytes());
    }
}
