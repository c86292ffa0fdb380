//! One JSON object a record, for programs. Written by hand: a clean record costs no allocation.

use super::places::Places;
use super::{Item, Judged};
use crate::finding::Finding;
use crate::triage::Triage;
use stepscope_base::json::{Kind, Value};
use stepscope_base::pyjson::write_float;
use stepscope_base::text::Untrusted;

/// Appends the record's line.
pub fn write(item: &Item<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"source\":");
    item.source.write_json(out);
    out.extend_from_slice(b",\"line\":");
    number(item.line, out);
    out.extend_from_slice(b",\"index\":");
    number(item.index, out);
    out.extend_from_slice(b",\"id\":");
    id(item.id, out);
    out.extend_from_slice(b",\"kind\":\"");
    out.extend_from_slice(item.kind.word().as_bytes());
    out.extend_from_slice(b"\",\"findings\":[");
    if !item.findings.is_empty() {
        let mut places = Places::new(item);
        for (n, one) in item.findings.iter().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            finding(one, &mut places, out);
        }
    }
    out.extend_from_slice(b"],\"fitness\":");
    match item.fitness {
        Some(fitness) if fitness.is_finite() => write_float(fitness, out),
        _ => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"triage\":");
    match item.triage {
        Some(one) => triage(one, out),
        None => out.extend_from_slice(b"null"),
    }
    if let Some(one) = item.judged {
        judged(one, out);
    }
    out.extend_from_slice(b"}\n");
}

/// What only typed answers have.
fn judged(judged: &Judged, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"question\":");
    text_or_null(judged.question.as_ref(), out);
    out.extend_from_slice(b",\"route\":{\"name\":\"");
    out.extend_from_slice(judged.routed.route.word().as_bytes());
    out.extend_from_slice(b"\",\"triggers\":[");
    for (n, route) in judged.routed.fired().enumerate() {
        out.extend_from_slice(if n > 0 { b",\"" } else { b"\"" });
        out.extend_from_slice(route.word().as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"],\"strong\":\"");
    out.extend_from_slice(judged.routed.strong.word().as_bytes());
    out.extend_from_slice(b"\",\"strong_reason\":");
    judged.reason.write_json(out);
    out.extend_from_slice(b",\"why\":[");
    for (n, trigger) in judged.routed.triggers.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b",{\"route\":\"" } else { b"{\"route\":\"" });
        out.extend_from_slice(trigger.route.word().as_bytes());
        out.extend_from_slice(b"\",\"pointer\":");
        trigger.pointer.text().write_json(out);
        out.extend_from_slice(b",\"text\":");
        trigger.why.write_json(out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]},\"strictness\":");
    strictness(judged, out);
    out.extend_from_slice(b",\"spans\":[");
    for (n, cited) in judged.spans.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b",{\"pointer\":" } else { b"{\"pointer\":" });
        cited.pointer.text().write_json(out);
        out.extend_from_slice(b",\"resolution\":");
        cited.resolution.write_json(out);
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"grounded\":");
    let Some((grounded, items)) = judged.grounded else { return out.extend_from_slice(b"null") };
    out.extend_from_slice(b"{\"items\":");
    number(grounded, out);
    out.extend_from_slice(b",\"of\":");
    number(items, out);
    out.push(b'}');
}

fn strictness(judged: &Judged, out: &mut Vec<u8>) {
    let Some(strictness) = &judged.strictness else { return out.extend_from_slice(b"null") };
    out.extend_from_slice(if strictness.lax { b"{\"lax\":true" } else { b"{\"lax\":false" });
    out.extend_from_slice(if strictness.strict { b",\"strict\":true" } else { b",\"strict\":false" });
    out.extend_from_slice(b",\"why\":");
    text_or_null(strictness.why.as_ref(), out);
    out.push(b'}');
}

fn text_or_null(text: Option<&Untrusted<'_>>, out: &mut Vec<u8>) {
    match text {
        Some(text) => text.write_json(out),
        None => out.extend_from_slice(b"null"),
    }
}

/// Where to fix a run. Steps count from 1, as people count them.
fn triage(triage: &Triage, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"fix\":\"");
    out.extend_from_slice(triage.fix.word().as_bytes());
    out.extend_from_slice(b"\",\"step\":");
    match triage.step {
        Some(step) => number(step + 1, out),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"recovered\":");
    match triage.recovered {
        Some(recovered) => out.extend_from_slice(recovered.json().as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"confidence\":\"");
    out.extend_from_slice(triage.confidence.word().as_bytes());
    out.extend_from_slice(b"\",\"why\":[");
    for (n, argument) in triage.why.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b",{\"rule\":\"" } else { b"{\"rule\":\"" });
        out.extend_from_slice(argument.rule.as_bytes());
        out.extend_from_slice(b"\",\"pointer\":");
        argument.pointer.text().write_json(out);
        out.extend_from_slice(b",\"text\":");
        Untrusted::new(argument.text.as_str().as_bytes()).write_json(out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

fn finding(finding: &Finding, places: &mut Places<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"rule\":\"");
    out.extend_from_slice(finding.rule.as_bytes());
    out.extend_from_slice(b"\",\"severity\":\"");
    out.extend_from_slice(finding.severity.word().as_bytes());
    out.extend_from_slice(b"\",\"action\":");
    match finding.action {
        Some(action) => {
            out.push(b'"');
            out.extend_from_slice(action.word().as_bytes());
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"message\":");
    finding.message.write_json(out);
    out.extend_from_slice(b",\"details\":");
    details(finding, out);
    out.extend_from_slice(b",\"pointer\":");
    places.pointer(finding.place()).text().write_json(out);
    out.extend_from_slice(b",\"labels\":[");
    for (n, label) in finding.labels().enumerate() {
        out.extend_from_slice(if n > 0 { b",{\"pointer\":" } else { b"{\"pointer\":" });
        places.pointer(&label.place).text().write_json(out);
        if !label.text.is_empty() {
            out.extend_from_slice(b",\"text\":");
            label.text.write_json(out);
        }
        let range = places.range(&label.place);
        out.extend_from_slice(b",\"range\":[");
        number(range.start, out);
        out.push(b',');
        number(range.end, out);
        out.extend_from_slice(b"]}");
    }
    out.push(b']');
    // What is not listed, of places and of findings of the same rule.
    for (key, count) in [("more_labels", finding.left_out()), ("more", finding.count() - 1)] {
        if count > 0 {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(b"\":");
            number(count, out);
        }
    }
    out.push(b'}');
}

/// A finding's details as a JSON object, in upstream's key order.
pub(super) fn details(finding: &Finding, out: &mut Vec<u8>) {
    out.push(b'{');
    for (n, (key, datum)) in finding.details.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b",\"" } else { b"\"" });
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\":");
        datum.write_json(out);
    }
    out.push(b'}');
}

/// A record's id: a string, a number as it is written, else `null`.
pub(super) fn id(id: Option<Value<'_>>, out: &mut Vec<u8>) {
    let Some(id) = id else { return out.extend_from_slice(b"null") };
    match id.kind() {
        Kind::Int | Kind::Float => out.extend_from_slice(id.raw()),
        // What is printable ASCII already is already what we would write.
        Kind::String if id.raw().iter().all(|byte| (0x20..0x7f).contains(byte)) => out.extend_from_slice(id.raw()),
        Kind::String => id.string().unwrap_or_default().write_json(out),
        _ => out.extend_from_slice(b"null"),
    }
}

/// Digits without an allocation.
pub(super) fn number(mut number: usize, out: &mut Vec<u8>) {
    let from = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(from..) {
        digits.reverse();
    }
}
