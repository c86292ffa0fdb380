//! One JSON object a record, for programs: streamed, so that a clean record costs no allocation.

use super::fields::Fields;
use super::places::Places;
use crate::answer::route::{Route, Routed, route};
use crate::case::CaseView;
use crate::finding::{Action, Finding};
use crate::rules::procedure::fitness;
use crate::rules::stamp;
use crate::triage::Triage;
use stepscope_base::canonical::Digest;
use stepscope_base::json::write::{Json, Object, Raw, Style, Writer};
use stepscope_base::json::{Kind, Value};
use stepscope_base::text::Untrusted;

/// Parts of each object that are printed.
#[derive(Debug, Default)]
pub struct LineShape {
    /// The record itself as the member `record`.
    pub record: bool,
    /// Only these members.
    pub fields: Option<Fields>,
}

impl LineShape {
    /// Appends what the shape leaves of an object that `write` appends as a line.
    pub fn line(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let before = out.len();
        write(out);
        if let Some(fields) = &self.fields {
            let whole = out.split_off(before);
            fields.pick(&whole, out);
        }
    }
}

/// Appends the record's line: alone with its fitness, which would cost half as much as the rules of the procedure.
pub fn write(case: &CaseView<'_>, findings: &[Finding], triage: Option<&Triage>, out: &mut Vec<u8>) {
    write_whole(case, findings, triage, false, out);
}

/// Appends what a shape leaves of the record's line.
pub fn write_as(
    shape: &LineShape,
    case: &CaseView<'_>,
    findings: &[Finding],
    triage: Option<&Triage>,
    out: &mut Vec<u8>,
) {
    shape.line(out, |out| write_whole(case, findings, triage, shape.record, out));
}

/// The members that name a record and who judged it: the same wherever it is read.
pub fn identity(root: Option<Value<'_>>, text: &[u8], with_record: bool, object: &mut Object<'_>) {
    let digest = root.map_or_else(|| Digest::of_bytes(text), Digest::of);
    object.put("sha256", digest.to_string().as_str()).put("rules", stamp());
    if with_record {
        match root {
            Some(root) => object.put("record", root),
            None => object.put("record", Untrusted::new(text)),
        };
    }
}

fn write_whole(case: &CaseView<'_>, findings: &[Finding], triage: Option<&Triage>, record: bool, out: &mut Vec<u8>) {
    Style::ASCII.line(out, |object| {
        let origin = case.origin();
        object.put("source", case.source()).put("line", origin.line).put("index", origin.index);
        object.put("id", Id(case.id())).put("kind", case.kind().word());
        let mut places = None;
        object.objects("findings", findings, |one, object| {
            finding(one, places.get_or_insert_with(|| Places::new(case)), object);
        });
        let procedure = case.procedure().filter(|procedure| procedure.is_whole());
        let fitness = procedure.and_then(|procedure| fitness(procedure.value, findings));
        object.put("fitness", fitness).put("triage", triage);
        let parts = case.record.as_ref().and_then(|record| record.chain.as_deref());
        if let Some(labelled) = parts.and_then(|parts| parts.labelled) {
            object.put("labelled_step", labelled.step().map(|step| step + 1));
        }
        if let Some(routed) = route(case, findings) {
            answer(case, &routed, object);
        }
        identity(case.root(), case.text(), record, object);
    });
}

/// Appends the members that only typed answers have.
fn answer(case: &CaseView<'_>, routed: &Routed, object: &mut Object<'_>) {
    let question = case.record.as_ref().and_then(|record| record.question?.string());
    let reason = case.truncation().map(|truncation| truncation.reason.clone()).unwrap_or_default();
    object.put("question", question.as_ref()).object("route", |object| {
        object.put("name", routed.route.word()).list("triggers", routed.fired().map(Route::word));
        object.put("strong", routed.truncation.word()).put("strong_reason", &reason);
        object.objects("why", &routed.triggers, |trigger, object| {
            object.put("route", trigger.route.word()).put("pointer", trigger.pointer.text()).put("text", &trigger.why);
        });
    });
    match case.strictness() {
        Some(strictness) => object.object("strictness", |object| {
            object.put("lax", strictness.lax).put("strict", strictness.strict).put("why", strictness.why.as_ref());
        }),
        None => object.put("strictness", NULL),
    };
    object.objects("spans", case.resolutions(), |cited, object| {
        object.put("pointer", cited.pointer.text()).put("resolution", &cited.resolution);
    });
    match case.grounded() {
        Some(grounded) => object.object("grounded", |object| {
            object.put("items", grounded).put("of", case.items().len());
        }),
        None => object.put("grounded", NULL),
    };
}

const NULL: Raw<&str> = Raw("null");

/// Writes where to fix a run. Steps count from 1, as people count them.
impl Json for Triage {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.object(|object| {
            object.put("fix", self.fix.word()).put("step", self.step.map(|step| step + 1));
            object.put("recovered", self.recovered.map(|recovered| Raw(recovered.json())));
            object.put("recovers_gold", self.recovers_gold);
            object.put("confidence", self.confidence.word()).objects("why", &self.why, |argument, object| {
                object.put("rule", argument.rule).put("pointer", argument.pointer.text()).put("text", &argument.text);
            });
        });
    }
}

fn finding(finding: &Finding, places: &mut Places<'_>, object: &mut Object<'_>) {
    object.put("rule", finding.rule.word()).put("severity", finding.severity.word());
    object.put("action", finding.action.map(Action::word)).put("message", &finding.message);
    object.object("details", |object| details(finding, object));
    object.put("pointer", places.pointer(finding.place()).text());
    object.objects("labels", finding.labels(), |label, object| {
        object.put("pointer", places.pointer(&label.place).text());
        object.maybe("text", Some(&label.text).filter(|text| !text.is_empty()));
        let range = places.range(&label.place);
        object.list("range", [range.start, range.end]);
    });
    // What is not listed, of places and of findings of the same rule.
    for (key, count) in [("more_labels", finding.left_out()), ("more", finding.count() - 1)] {
        object.maybe(key, Some(count).filter(|count| *count > 0));
    }
}

/// A finding's details as members, in upstream's key order.
pub(super) fn details(finding: &Finding, object: &mut Object<'_>) {
    for (key, datum) in &finding.details {
        object.put(key, datum);
    }
}

/// A record's id: a string, a number as it is written, else `null`.
pub(super) struct Id<'a>(pub(super) Option<Value<'a>>);

impl Json for Id<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        match self.0.filter(|id| matches!(id.kind(), Kind::Int | Kind::Float | Kind::String)) {
            // What is printable ASCII already is already what we would write.
            Some(id) if id.raw().iter().all(|byte| (0x20..0x7f).contains(byte)) => writer.raw(id.raw()),
            id => id.write(writer),
        }
    }
}
