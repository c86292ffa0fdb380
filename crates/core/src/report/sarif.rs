//! SARIF 2.1.0: one run, the rules with their texts, a result a finding. Written as it comes, so that a million
//! records need no memory: `begin`, `write` for each record, `end`.

use std::fmt::Write as _;

use super::Item;
use super::jsonl::{details, id, number};
use super::places::Places;
use crate::finding::{Finding, Label, Severity};
use crate::rules::RULES;
use stepscope_base::text::Untrusted;

/// The tool and its rules.
pub(crate) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(
        b"{\"version\":\"2.1.0\",\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"runs\":[{\"tool\":{\"driver\":{\
          \"name\":\"stepscope\",\"version\":\"",
    );
    out.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
    out.extend_from_slice(b"\",\"rules\":[");
    for (n, rule) in RULES.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b",\n{\"id\":" } else { b"\n{\"id\":" });
        text(rule.id, out);
        out.extend_from_slice(b",\"shortDescription\":{\"text\":");
        text(rule.summary, out);
        out.extend_from_slice(b"},\"fullDescription\":{\"text\":");
        text(rule.explanation, out);
        out.extend_from_slice(b"},\"help\":{\"text\":");
        text(&format!("{}\n\nFound in: {}\nNot in: {}", rule.explanation, rule.bad, rule.good), out);
        out.extend_from_slice(b"},\"defaultConfiguration\":{\"level\":");
        text(level(rule.severity), out);
        out.extend_from_slice(b"},\"properties\":{\"severity\":");
        text(rule.severity.word(), out);
        out.extend_from_slice(b"}}");
    }
    out.extend_from_slice(b"]}},\"columnKind\":\"unicodeCodePoints\",\"results\":[");
}

/// The results of one record, each behind a comma: see [`Format::first`](super::Format::first).
pub(crate) fn write(item: &Item<'_>, out: &mut Vec<u8>) {
    if item.findings.is_empty() {
        return;
    }
    let mut places = Places::new(item);
    for finding in item.findings {
        out.extend_from_slice(b",\n");
        result(item, finding, &mut places, out);
    }
}

/// Closes what [`begin`] opened.
pub(crate) fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n]}]}\n");
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Fatal => "error",
        Severity::Repairable | Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn result(item: &Item<'_>, finding: &Finding, places: &mut Places<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"ruleId\":");
    text(finding.rule, out);
    if let Some(index) = RULES.iter().position(|rule| rule.id == finding.rule) {
        out.extend_from_slice(b",\"ruleIndex\":");
        number(index, out);
    }
    out.extend_from_slice(b",\"level\":");
    text(level(finding.severity), out);
    out.extend_from_slice(b",\"message\":{\"text\":");
    // Code hosts read strictly: half a surrogate pair stands there as it is shown on screen.
    text(finding.message.line().as_str(), out);
    out.extend_from_slice(b"},\"locations\":[");
    let mut labels = finding.labels();
    if let Some(first) = labels.next() {
        location(item, first, None, places, out);
    }
    out.push(b']');
    let mut related = false;
    for (n, label) in labels.enumerate() {
        out.extend_from_slice(if n > 0 { b"," } else { b",\"relatedLocations\":[" });
        related = true;
        location(item, label, Some(n + 1), places, out);
    }
    if related {
        out.push(b']');
    }
    out.extend_from_slice(b",\"properties\":{\"severity\":");
    text(finding.severity.word(), out);
    if let Some(action) = finding.action {
        out.extend_from_slice(b",\"action\":");
        text(action.word(), out);
    }
    out.extend_from_slice(b",\"recordIndex\":");
    number(item.index, out);
    out.extend_from_slice(b",\"recordId\":");
    id(item.id, out);
    out.extend_from_slice(b",\"details\":");
    details(finding, out);
    if let Some(help) = finding.help {
        out.extend_from_slice(b",\"help\":");
        text(help, out);
    }
    out.extend_from_slice(b"}}");
}

fn location(item: &Item<'_>, label: &Label, number_of: Option<usize>, places: &mut Places<'_>, out: &mut Vec<u8>) {
    let range = places.range(&label.place);
    let (line, column) = places.position(range.start);
    let (end_line, end_column) = places.position(range.end);
    out.push(b'{');
    if let Some(n) = number_of {
        out.extend_from_slice(b"\"id\":");
        number(n, out);
        out.push(b',');
    }
    if !label.text.is_empty() {
        out.extend_from_slice(b"\"message\":{\"text\":");
        text(label.text.line().as_str(), out);
        out.extend_from_slice(b"},");
    }
    out.extend_from_slice(b"\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
    text(&uri(item.source.bytes()), out);
    out.extend_from_slice(b"},\"region\":{");
    for (key, value) in [
        (&b"\"startLine\":"[..], line),
        (b",\"startColumn\":", column),
        (b",\"endLine\":", end_line),
        (b",\"endColumn\":", end_column),
        (b",\"byteOffset\":", item.offset as usize + range.start),
        (b",\"byteLength\":", range.len()),
    ] {
        out.extend_from_slice(key);
        number(value, out);
    }
    out.extend_from_slice(b"}},\"logicalLocations\":[{\"fullyQualifiedName\":");
    text(places.pointer(&label.place).text().line().as_str(), out);
    out.extend_from_slice(b",\"kind\":\"value\"}]}");
}

fn text(own: &str, out: &mut Vec<u8>) {
    Untrusted::from(own).write_json(out);
}

/// A path as a relative URI reference, or an absolute one with `file:`.
fn uri(path: &[u8]) -> String {
    let mut uri = String::from(if path.starts_with(b"/") { "file://" } else { "" });
    for &byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
