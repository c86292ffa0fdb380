//! One JSON object a record, for programs: streamed, so that a clean record costs no allocation.

use std::cell::OnceCell;

use super::fields::{Fields, NULL};
use super::places::Places;
use stepscope_base::canonical::Digest;
use stepscope_base::json::write::{Json, Object, Raw, Style, Writer};
use stepscope_base::json::{Kind, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::citations;
use stepscope_judge::aligned::{AlignedRun, AlignedValue};
use stepscope_judge::case::CaseView;
use stepscope_judge::cause::Cause;
use stepscope_judge::recompute::{Computed, ValueBasis};
use stepscope_judge::route::{Route, Routed};
use stepscope_judge::rules::procedure::fitness;
use stepscope_judge::rules::stamp;
use stepscope_judge::slip_form::Slip;
use stepscope_judge::triage::Triage;
use stepscope_record::finding::{Action, Finding};
use stepscope_record::fork_origin::is_fork;
use stepscope_record::id_text;
use stepscope_record::procedure::Procedure;

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

    /// Tells whether a member is asked for, alone or with all others.
    pub fn asks(&self, name: &str) -> bool {
        self.fields.as_ref().is_none_or(|fields| fields.names().any(|field| field == name))
    }
}

/// Appends the record's line: alone with its fitness, which would cost half as much as the rules of the procedure.
pub fn write(case: &CaseView<'_>, findings: &[Finding], triage: Option<&Triage>, out: &mut Vec<u8>) {
    write_as(&LineShape::default(), case, findings, triage, out);
}

/// Appends the record's line as the shape has it. What is not asked for is not worked out.
pub fn write_as(
    shape: &LineShape,
    case: &CaseView<'_>,
    findings: &[Finding],
    triage: Option<&Triage>,
    out: &mut Vec<u8>,
) {
    let line = Line { case, findings, triage, record: shape.record, routed: OnceCell::new() };
    match &shape.fields {
        None => Style::ASCII.line(out, |object| {
            for member in MEMBERS {
                (member.put)(&line, member.name, object);
            }
        }),
        Some(fields) => fields.line(out, |name, object| {
            let member = MEMBERS.iter().find(|member| member.name == name);
            member.is_some_and(|member| (member.put)(&line, name, object).is_some())
        }),
    }
}

/// The fields that an object of `check` can have, in their order, with their paths; in `record.*` is anything.
pub fn fields() -> impl Iterator<Item = &'static str> {
    let inside = |name: &'static str| {
        let is_inside = move |field: &&str| field.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        INSIDE.iter().copied().filter(is_inside)
    };
    MEMBERS.iter().flat_map(move |member| std::iter::once(member.name).chain(inside(member.name)))
}

/// The fields inside of members.
const INSIDE: &[&str] = &[
    "findings.rule",
    "findings.severity",
    "findings.action",
    "findings.message",
    "findings.details.*",
    "findings.pointer",
    "findings.labels.pointer",
    "findings.labels.text",
    "findings.labels.range",
    "findings.more_labels",
    "findings.more",
    "slip.form",
    "slip.step",
    "slip.wrong",
    "slip.right",
    "slip.from",
    "triage.fix",
    "triage.step",
    "triage.recovered",
    "triage.recovers_gold",
    "triage.confidence",
    "triage.why.rule",
    "triage.why.pointer",
    "triage.why.text",
    "peers.of",
    "peers.agree",
    "peers.standing",
    "peers.agreement",
    "peers.values",
    "peers.step",
    "peers.names",
    "peers.aligned.step",
    "peers.aligned.name",
    "peers.aligned.value",
    "peers.aligned.is",
    "peers.aligned.others.value",
    "peers.aligned.others.peers",
    "peers.answers.answer",
    "peers.answers.peers",
    "readings.step",
    "readings.reading",
    "readings.agrees",
    "route.name",
    "route.triggers",
    "route.strong",
    "route.strong_reason",
    "route.why.route",
    "route.why.pointer",
    "route.why.rule",
    "route.why.text",
    "strictness.lax",
    "strictness.strict",
    "strictness.why",
    "spans.pointer",
    "spans.resolution.*",
    "values.pointer",
    "values.standing",
    "values.found.line",
    "values.found.bytes",
    "grounded.items",
    "grounded.of",
    "record.*",
];

/// The members that name a record and who judged it: the same wherever it is read.
pub fn identity(root: Option<Value<'_>>, text: &[u8], with_record: bool, object: &mut Object<'_>) {
    object.put("id", Id(root.and_then(|root| root.get("id"))));
    object.put("sha256", digest(root, text).as_str()).put("rules", stamp());
    if with_record {
        record("record", root, text, object);
    }
}

pub(super) fn digest(root: Option<Value<'_>>, text: &[u8]) -> String {
    root.map_or_else(|| Digest::of_bytes(text), Digest::of).to_string()
}

fn record<'a, 'o>(name: &str, root: Option<Value<'_>>, text: &[u8], object: &'a mut Object<'o>) -> &'a mut Object<'o> {
    match root {
        Some(root) => object.put(name, root),
        None => object.put(name, Untrusted::new(text)),
    }
}

/// Source of the members of a record's line.
struct Line<'c, 'r> {
    case: &'c CaseView<'r>,
    findings: &'c [Finding],
    triage: Option<&'c Triage>,
    record: bool,
    routed: OnceCell<Option<Routed>>,
}

impl Line<'_, '_> {
    /// Route of a structured answer; nothing else has one.
    fn routed(&self) -> Option<&Routed> {
        self.routed.get_or_init(|| self.case.routed_by(self.findings)).as_ref()
    }
}

/// A member, and how it is put into the object; `None` where this record has none.
struct LineMember {
    name: &'static str,
    put: for<'a, 'o> fn(&Line<'_, '_>, &str, &'a mut Object<'o>) -> Option<&'a mut Object<'o>>,
}

/// Writes a value and what the peers have in its place: `is` has a word for each, in the order of `names`.
fn aligned_value(step: Option<usize>, value: &AlignedValue, object: &mut Object<'_>) {
    object.put("step", step.map(|step| step + 1));
    object.maybe("name", value.name.as_ref().map(Shown::as_str)).put("value", Raw(value.value.json()));
    object.list("is", value.counterparts.iter().map(|one| one.word()));
    let others = value.others();
    if !others.is_empty() {
        object.objects("others", others, |(value, peers), object| {
            object.put("value", Raw(value.json())).list("peers", peers.into_iter().map(|peer| peer + 1));
        });
    }
}

const MEMBERS: &[LineMember] = &[
    LineMember { name: "source", put: |line, name, object| Some(object.put(name, line.case.source())) },
    LineMember { name: "line", put: |line, name, object| Some(object.put(name, line.case.origin().line)) },
    LineMember { name: "index", put: |line, name, object| Some(object.put(name, line.case.origin().index)) },
    LineMember { name: "id", put: |line, name, object| Some(object.put(name, Id(line.case.id()))) },
    LineMember { name: "kind", put: |line, name, object| Some(object.put(name, line.case.kind().word())) },
    LineMember {
        name: "findings",
        put: |line, name, object| {
            let mut places = None;
            Some(object.objects(name, line.findings, |one, object| {
                finding(one, places.get_or_insert_with(|| Places::new(line.case)), object);
            }))
        },
    },
    LineMember {
        name: "fitness",
        put: |line, name, object| {
            let is_whole = line.case.procedure().is_some_and(Procedure::is_whole);
            Some(object.put(name, is_whole.then(|| fitness(line.case, line.findings)).flatten()))
        },
    },
    LineMember { name: "correct", put: |line, name, object| Some(object.put(name, line.case.rightness().verdict())) },
    LineMember {
        name: "cause",
        put: |line, name, object| {
            let cause = line.case.cause(line.findings, line.triage);
            Some(object.put(name, cause.map(Cause::word)))
        },
    },
    LineMember {
        name: "slip",
        put: |line, name, object| {
            let slip = Slip::of(line.case, line.case.cause(line.findings, line.triage), line.triage)?;
            Some(object.object(name, |object| {
                object.put("form", slip.form.word()).put("step", slip.step.map(|step| step + 1));
                object.put("wrong", Raw(slip.wrong.json())).put("right", Raw(slip.right.json()));
                object.maybe("from", slip.from.map(|step| step + 1));
            }))
        },
    },
    LineMember { name: "triage", put: |line, name, object| Some(object.put(name, line.triage)) },
    LineMember {
        name: "peers",
        put: |line, name, object| {
            let opinion = line.case.peer_opinion()?;
            Some(object.object(name, |object| {
                object.put("of", opinion.of).put("agree", opinion.agree).put("standing", opinion.standing.word());
                object.maybe("agreement", opinion.agreement).maybe("values", opinion.values);
                object.put("step", opinion.step.map(|step| step + 1));
                if let Some(aligned) = AlignedRun::of(line.case) {
                    object.list("names", aligned.peers.iter().map(Shown::as_str));
                    let is_compared = |(_, value): &(Option<usize>, &AlignedValue)| value.counts().of > 0;
                    object.objects("aligned", aligned.rows().filter(is_compared), |(step, value), object| {
                        aligned_value(step, value, object);
                    });
                }
                object.objects("answers", &opinion.answers, |answer, object| {
                    object.put("answer", Raw(answer.value.json()));
                    object.list("peers", answer.names.iter().map(Shown::as_str));
                });
            }))
        },
    },
    LineMember {
        name: "readings",
        put: |line, name, object| {
            let recomputed = line.case.recomputed()?;
            let is_read = |write: &&Computed| write.basis == ValueBasis::Plan && write.alone.is_some();
            let read = recomputed.writes.iter().filter(is_read).filter_map(|write| Some((write, write.plan.as_ref()?)));
            Some(object.objects(name, read, |(write, plan), object| {
                let is_number = write.recorded.is_some() || write.unevaluated.is_some();
                object.put("step", write.step + 1).put("reading", plan.class.word());
                object.put("agrees", is_number.then(|| !write.differs()));
            }))
        },
    },
    LineMember {
        name: "labelled_step",
        put: |line, name, object| {
            let parts = line.case.record.as_ref().and_then(|record| record.chain.as_deref());
            let labelled = parts.and_then(|parts| parts.labelled)?;
            Some(object.put(name, labelled.step().map(|step| step + 1)))
        },
    },
    LineMember {
        name: "fork",
        put: |line, name, object| line.case.root().is_some_and(is_fork).then(|| object.put(name, true)),
    },
    LineMember {
        name: "question",
        put: |line, name, object| {
            line.routed()?;
            let question = line.case.record.as_ref().and_then(|record| record.question?.string());
            Some(object.put(name, question.as_ref()))
        },
    },
    LineMember {
        name: "route",
        put: |line, name, object| {
            let routed = line.routed()?;
            let reason = line.case.truncation().map(|truncation| truncation.reason.clone()).unwrap_or_default();
            Some(object.object(name, |object| {
                object.put("name", routed.route.word()).list("triggers", routed.fired().map(Route::word));
                object.put("strong", routed.truncation.word()).put("strong_reason", &reason);
                object.objects("why", &routed.triggers, |trigger, object| {
                    object.put("route", trigger.route.word()).put("pointer", trigger.pointer.text());
                    object
                        .maybe("rule", trigger.rule.map(stepscope_record::rule_id::RuleId::word))
                        .put("text", &trigger.why);
                });
            }))
        },
    },
    LineMember {
        name: "strictness",
        put: |line, name, object| {
            line.routed()?;
            Some(match line.case.strictness() {
                Some(strictness) => object.object(name, |object| {
                    object.put("lax", strictness.lax).put("strict", strictness.strict);
                    object.put("why", strictness.why.as_ref());
                }),
                None => object.put(name, NULL),
            })
        },
    },
    LineMember {
        name: "spans",
        put: |line, name, object| {
            line.routed()?;
            Some(object.objects(name, line.case.resolutions(), |cited, object| {
                object.put("pointer", cited.pointer.text()).put("resolution", &cited.resolution);
            }))
        },
    },
    LineMember {
        name: "values",
        put: |line, name, object| {
            line.routed()?;
            let document = line.case.document();
            let items = line.case.items().iter().zip(line.case.supports());
            Some(object.objects(name, items, |(item, support), object| {
                object.put("pointer", item.pointer.text()).put("standing", support.standing.word());
                let places = document
                    .into_iter()
                    .flat_map(|document| support.places.iter().flat_map(|bytes| citations::parts(document, bytes)));
                object.objects("found", places, |(line, bytes), object| {
                    object.put("line", line).list("bytes", [bytes.start, bytes.end]);
                });
            }))
        },
    },
    LineMember {
        name: "grounded",
        put: |line, name, object| {
            line.routed()?;
            Some(match line.case.grounded() {
                Some(grounded) => object.object(name, |object| {
                    object.put("items", grounded).put("of", line.case.items().len());
                }),
                None => object.put(name, NULL),
            })
        },
    },
    LineMember {
        name: "sha256",
        put: |line, name, object| Some(object.put(name, digest(line.case.root(), line.case.text()).as_str())),
    },
    LineMember { name: "rules", put: |_, name, object| Some(object.put(name, stamp())) },
    LineMember {
        name: "record",
        put: |line, name, object| line.record.then(|| record(name, line.case.root(), line.case.text(), object)),
    },
];

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

/// A record's id: a string, a number as the id is known, else `null`.
pub(super) struct Id<'a>(pub(super) Option<Value<'a>>);

impl Json for Id<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        match self.0.filter(|id| matches!(id.kind(), Kind::Int | Kind::Float | Kind::String)) {
            Some(id) if id.kind() == Kind::Float => writer.raw(id_text(id).unwrap_or_default()),
            // What is printable ASCII already is already what we would write.
            Some(id) if id.raw().iter().all(|byte| (0x20..0x7f).contains(byte)) => writer.raw(id.raw()),
            id => id.write(writer),
        }
    }
}
