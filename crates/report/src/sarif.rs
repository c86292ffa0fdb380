//! SARIF 2.1.0: one run, the rules with their texts, one result per finding. Written as it comes, so that a million
//! records need no memory: `begin`, `write` for each record, `end`.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::jsonl::{Id, details, digest};
use super::places::Places;
use stepscope_base::canonical::sha256;
use stepscope_base::json::write::{Object, Style};
use stepscope_judge::case::CaseView;
use stepscope_judge::rules::RULES;
use stepscope_record::finding::{Action, Finding, PlaceLabel, Severity};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Address of the sources; empty as long as there is none.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The tool and its rules.
pub(crate) fn begin(out: &mut Vec<u8>) {
    begin_at(REPOSITORY, out);
}

/// The tool and its rules, with links to where the sources are.
pub(super) fn begin_at(repository: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(
        b"{\"version\":\"2.1.0\",\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"runs\":[{\"tool\":{\"driver\":",
    );
    let address = Some(repository).filter(|address| !address.is_empty());
    let rules = address.map(|address| format!("{address}/blob/v{VERSION}/docs/rules.md"));
    Style::ASCII.append_object(out, |object| {
        object.put("name", "stepscope").put("version", VERSION).put("semanticVersion", VERSION);
        object.maybe("informationUri", address);
    });
    // The rules go on where the object ended.
    out.pop();
    out.extend_from_slice(b",\"rules\":[");
    for (n, rule) in RULES.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b",\n" } else { b"\n" });
        Style::ASCII.append_object(out, |object| {
            object.put("id", rule.id.word()).maybe("helpUri", rules.as_deref());
            text(object, "shortDescription", rule.summary);
            text(object, "fullDescription", rule.explanation);
            let help = format!("{}\n\nFound in: {}\nNot in: {}", rule.explanation, rule.bad, rule.good);
            text(object, "help", &help);
            object.object("defaultConfiguration", |object| _ = object.put("level", level(rule.id.severity())));
            object.object("properties", |object| _ = object.put("severity", rule.id.severity().word()));
        });
    }
    out.extend_from_slice(b"]}},\"columnKind\":\"unicodeCodePoints\",\"results\":[");
}

/// The results of one record, each behind a comma: see [`ReportFormat::first`](super::ReportFormat::first).
pub(crate) fn write(case: &CaseView<'_>, findings: &[Finding], out: &mut Vec<u8>) {
    if findings.is_empty() {
        return;
    }
    let mut places = Places::new(case);
    let mut prints = Fingerprints::of(case);
    for finding in findings {
        out.extend_from_slice(b",\n");
        let print = prints.next(finding, &places);
        Style::ASCII.append_object(out, |object| result(case, finding, &print, &mut places, object));
    }
}

/// Names of findings that stay the same while lines move: code hosts know by them what they showed before.
struct Fingerprints {
    record: String,
    seen: HashMap<String, usize>,
}

impl Fingerprints {
    fn of(case: &CaseView<'_>) -> Self {
        // What is run anew keeps its id, and has other times in it.
        let id = case.record.as_ref().and_then(|record| record.id_text());
        let record = id.map_or_else(|| digest(case.root(), case.text()), |id| id.line().into_string());
        Self { record, seen: HashMap::new() }
    }

    /// The fingerprint of the next finding, with its number among those of the same rule at the same place.
    fn next(&mut self, finding: &Finding, places: &Places<'_>) -> String {
        let pointer = places.pointer(finding.place()).text();
        let named = [self.record.as_bytes(), finding.rule.word().as_bytes(), pointer.bytes()].join(&0);
        let mut print = sha256(&named);
        print.truncate(16);
        let count = self.seen.entry(print.clone()).or_default();
        *count += 1;
        let _ = write!(print, ":{count}");
        print
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

fn result(case: &CaseView<'_>, finding: &Finding, fingerprint: &str, places: &mut Places<'_>, object: &mut Object<'_>) {
    object.put("ruleId", finding.rule.word()).put("ruleIndex", finding.rule as usize);
    object.put("level", level(finding.severity));
    // Code hosts read strictly: half a surrogate pair stands there as it is shown on screen.
    text(object, "message", finding.message.line().as_str());
    // The one name that GitHub reads.
    object.object("partialFingerprints", |object| _ = object.put("primaryLocationLineHash", fingerprint));
    let mut labels = finding.labels().enumerate();
    object.objects("locations", labels.next(), |(n, label), object| location(case, label, n, places, object));
    let mut labels = labels.peekable();
    if labels.peek().is_some() {
        object.objects("relatedLocations", labels, |(n, label), object| location(case, label, n, places, object));
    }
    object.object("properties", |object| {
        object.put("severity", finding.severity.word()).maybe("action", finding.action.map(Action::word));
        object.put("recordIndex", case.origin().index).put("recordId", Id(case.id()));
        object.object("details", |object| details(finding, object)).maybe("help", finding.help);
    });
}

/// The place of a label; the first one needs no number.
fn location(case: &CaseView<'_>, label: &PlaceLabel, number: usize, places: &mut Places<'_>, object: &mut Object<'_>) {
    let range = places.range(&label.place);
    let (line, column) = places.position(range.start);
    let (end_line, end_column) = places.position(range.end);
    object.maybe("id", Some(number).filter(|number| *number > 0));
    if !label.text.is_empty() {
        text(object, "message", label.text.line().as_str());
    }
    object.object("physicalLocation", |object| {
        object.object("artifactLocation", |object| _ = object.put("uri", uri(case.source().bytes())));
        object.object("region", |object| {
            object.put("startLine", line).put("startColumn", column).put("endLine", end_line);
            object.put("endColumn", end_column);
            let origin = case.origin();
            if !origin.decoded {
                object.put("byteOffset", origin.offset as usize + range.start).put("byteLength", range.len());
            }
        });
    });
    let name = places.pointer(&label.place).text().line();
    object.objects("logicalLocations", [name], |name, object| {
        object.put("fullyQualifiedName", name).put("kind", "value");
    });
}

/// A text in an object of its own, as SARIF has it.
fn text(object: &mut Object<'_>, key: &str, text: &str) {
    object.object(key, |object| _ = object.put("text", text));
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
