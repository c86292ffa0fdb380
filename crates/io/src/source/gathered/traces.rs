//! Traces, gathered from all lines that hold their spans: each becomes one run with its spans as steps.

use std::collections::{HashMap, HashSet};

use super::made::GatheredLines;
use super::neighbours::{Neighbour, Values};
use super::plain::Plain;
use super::shelf::{Shelf, Slot};
use super::spans::{Event, Holder, TraceSpan, each_span, log_events};
use super::step::{DETAILS, StepMade, step};
use super::tree::{Placed, SpanNode, in_order};
use crate::failure::Failure;
use stepscope_base::json::write::{Letters, Style};
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::hash_of;
use stepscope_record::trace::MAX_CALLS;

/// A run is no longer than this; spans that come later are left out, and counted.
const MAX_RUN: usize = 16 << 20;
/// Number of spans of one file that are read.
const MAX_SPANS: usize = 1 << 20;
/// Number of log records of one file that are kept.
const MAX_LOGGED: usize = 1 << 19;

/// A span that waits for the others of its trace.
#[derive(Clone, Copy)]
struct SpanHead {
    trace: u32,
    id: u64,
    parent: Option<u64>,
    start: u64,
    json: Slot,
    /// Parts that the run may take from it.
    facts: Option<Slot>,
    calls_model: bool,
    /// It has texts.
    is_told: bool,
}

/// Parts that a run takes from its root, and from its calls.
#[derive(Default)]
struct Facts {
    asked: Option<Vec<u8>>,
    said: Option<Vec<u8>>,
    model: Option<Vec<u8>>,
    error: Option<Vec<u8>>,
}

/// Everything of a file.
struct Traces {
    shelf: Shelf,
    heads: Vec<SpanHead>,
    /// Ids of the traces, in the order in which they were met, with what else their holders say.
    ids: Vec<(Vec<u8>, Option<Slot>)>,
    places: HashMap<Vec<u8>, u32>,
    seen: HashSet<(u32, u64)>,
    logged: Logged,
    twice: usize,
    too_many: usize,
}

/// Log records by their span.
#[derive(Default)]
struct Logged {
    /// By the key of a span: their times and places, and the number of the file that they are in.
    places: HashMap<u64, Vec<(u64, Slot, usize)>>,
    count: usize,
    /// Spans that were met.
    met: HashSet<u64>,
    /// The first other file whose texts were used.
    used: Option<usize>,
}

/// Tells whether a value is a part of a trace.
pub(super) fn is_part(root: Value<'_>) -> bool {
    Holder::of(root).is_some()
}

/// Reads all traces of a file, with the texts that logs next to it have of their spans.
pub(super) fn read(values: &Values, neighbours: &[Neighbour]) -> Result<GatheredLines, Failure> {
    let mut traces = Traces {
        shelf: Shelf::new(values.name())?,
        heads: Vec::new(),
        ids: Vec::new(),
        places: HashMap::new(),
        seen: HashSet::new(),
        logged: Logged::default(),
        twice: 0,
        too_many: 0,
    };
    traces.add_logs(values, 0)?;
    let has_logs = traces.logged.count > 0;
    let (mut names, mut shown) = (vec![values.name().clone()], ShownElsewhere::default());
    for neighbour in neighbours {
        if neighbour.begins(|root| Holder::of(root) == Some(Holder::Logs)) {
            traces.add_logs(&neighbour.values, names.len())?;
            names.push(neighbour.values.name().clone());
        } else if has_logs && neighbour.is_read && neighbour.begins(is_part) {
            shown.add(neighbour)?;
        }
    }
    let mut others = Vec::new();
    values.each(&mut |root, text| match root.and_then(|root| Some((root, Holder::of(root)?))) {
        Some((root, holder)) => traces.add(root, holder),
        None => {
            others.push(text.to_vec());
            Ok(())
        }
    })?;
    let left_to = traces.spans_of_logs(&shown)?;
    let texts_of = traces.logged.used.and_then(|used| names.get(used)).cloned();
    traces.finish(values, &others, texts_of, left_to)
}

/// Spans that another file shows, which is read too.
#[derive(Default)]
struct ShownElsewhere {
    keys: HashSet<u64>,
    file: Option<Shown>,
}

impl ShownElsewhere {
    fn add(&mut self, neighbour: &Neighbour) -> Result<(), Failure> {
        neighbour.values.each(&mut |root, _| {
            let Some((root, holder)) = root.and_then(|root| Some((root, Holder::of(root)?))) else { return Ok(()) };
            each_span(root, holder, &mut |span| {
                self.file.get_or_insert_with(|| neighbour.values.name().clone());
                self.keys.insert(key_of(span.trace.as_deref().unwrap_or(b""), span.id.as_deref().unwrap_or(b"")));
                Ok(())
            })
        })
    }
}

fn key_of(trace: &[u8], span: &[u8]) -> u64 {
    hash_of(&[trace, b" ", span].concat())
}

impl Traces {
    /// Keeps what logs say of spans.
    fn add_logs(&mut self, values: &Values, file: usize) -> Result<(), Failure> {
        values.each_of(&["Logs", "_logs"], &mut |root, _| {
            for log in root.into_iter().flat_map(log_events) {
                let name = log.event.name.as_slice();
                if self.logged.count >= MAX_LOGGED || !(name.starts_with(b"gen_ai.") || DETAILS.contains(&name)) {
                    continue;
                }
                let time = log.event.time;
                let ids = [&log.trace, &log.span, &log.event.name].map(|id| Plain::text_of(id));
                let [trace, span, name] = ids;
                let slot = self.shelf.put(&Plain::List(vec![name, log.event.body, trace, span]).json())?;
                self.logged.places.entry(key_of(&log.trace, &log.span)).or_default().push((time, slot, file));
                self.logged.count += 1;
            }
            Ok(())
        })
    }

    fn events_of(&mut self, key: u64) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        self.logged.met.insert(key);
        for (time, slot, file) in self.logged.places.get(&key).cloned().into_iter().flatten() {
            if file > 0 {
                self.logged.used.get_or_insert(file);
            }
            if let [Plain::Text(name), body, ..] = self.kept(slot)?.as_slice() {
                events.push(Event { name: name.clone(), time, body: body.clone() });
            }
        }
        Ok(events)
    }

    /// Takes a list from the shelf.
    fn kept(&mut self, slot: Slot) -> Result<Vec<Plain>, Failure> {
        let (mut json, mut tape) = (Vec::new(), Tape::default());
        self.shelf.take(slot, &mut json)?;
        Ok(match tape.parse(&json).map(Plain::of) {
            Some(Plain::List(items)) => items,
            _ => Vec::new(),
        })
    }

    fn add(&mut self, root: Value<'_>, holder: Holder) -> Result<(), Failure> {
        let about = if holder == Holder::Mlflow { about_mlflow(root) } else { None };
        let mut first = true;
        each_span(root, holder, &mut |span| {
            let own_trace = span.trace.as_deref().unwrap_or(b"");
            let trace = self.place(own_trace);
            if let (true, Some(about)) = (std::mem::take(&mut first), &about) {
                let slot = self.shelf.put(about)?;
                if let Some((_, kept)) = self.ids.get_mut(trace as usize) {
                    *kept = Some(slot);
                }
            }
            // One without an id is nobody's parent.
            let id = span.id.as_deref().map_or_else(|| self.heads.len() as u64, hash_of);
            let parent = span.parent.as_deref().map(hash_of);
            if self.heads.len() >= MAX_SPANS {
                self.too_many += 1;
                return Ok(());
            }
            // An exporter that was not heard sends a span again.
            if !self.seen.insert((trace, id)) {
                self.twice += 1;
                return Ok(());
            }
            let events = if self.logged.count > 0 {
                self.events_of(key_of(own_trace, span.id.as_deref().unwrap_or(b"")))?
            } else {
                Vec::new()
            };
            let start = span.start;
            self.keep(trace, SpanNode { id, parent, start }, step(span, events))
        })
    }

    fn place(&mut self, trace: &[u8]) -> u32 {
        if let Some(place) = self.places.get(trace) {
            return *place;
        }
        let place = self.ids.len() as u32;
        self.places.insert(trace.to_vec(), place);
        self.ids.push((trace.to_vec(), None));
        place
    }

    fn keep(&mut self, trace: u32, node: SpanNode, made: StepMade) -> Result<(), Failure> {
        let json = self.shelf.put(&made.json)?;
        let is_told = made.asked.is_some() || made.said.is_some();
        let facts = [made.asked, made.said, made.model, made.error];
        let facts = if facts.iter().all(Option::is_none) {
            None
        } else {
            let list = facts.into_iter().map(|fact| fact.map_or_else(Plain::null, Plain::Text)).collect();
            Some(self.shelf.put(&Plain::List(list).json())?)
        };
        let (SpanNode { id, parent, start }, calls_model) = (node, made.calls_model);
        self.heads.push(SpanHead { trace, id, parent, start, json, facts, calls_model, is_told });
        Ok(())
    }

    fn facts(&mut self, head: Option<SpanHead>) -> Result<Facts, Failure> {
        let Some(slot) = head.and_then(|head| head.facts) else { return Ok(Facts::default()) };
        let mut facts = self.kept(slot)?.into_iter().map(|fact| fact.text().map(<[u8]>::to_vec));
        let mut next = || facts.next().flatten();
        Ok(Facts { asked: next(), said: next(), model: next(), error: next() })
    }

    /// Makes spans of the logs of the file whose own spans are not there: calls, each with its texts. Returns the file
    /// that shows others, and their number.
    fn spans_of_logs(&mut self, shown: &ShownElsewhere) -> Result<Option<(Shown, usize)>, Failure> {
        let (mut all, mut elsewhere) = (Vec::new(), 0);
        for (key, events) in &self.logged.places {
            if self.logged.met.contains(key) || events.iter().all(|(_, _, file)| *file > 0) {
                continue;
            }
            if shown.keys.contains(key) {
                elsewhere += 1;
            } else {
                all.push(events.clone());
            }
        }
        all.sort_by_key(|events| events.iter().min().copied());
        for events in all {
            let (mut of_span, mut ids) = (Vec::new(), None);
            for (time, slot, _) in events {
                if let [Plain::Text(name), body, Plain::Text(trace), Plain::Text(span)] = self.kept(slot)?.as_slice() {
                    of_span.push(Event { name: name.clone(), time, body: body.clone() });
                    ids = Some((trace.clone(), span.clone()));
                }
            }
            let Some((trace, id)) = ids else { continue };
            let start = of_span.iter().map(|event| event.time).min().unwrap_or(0);
            let place = self.place(&trace);
            let attributes = vec![(b"gen_ai.operation.name".to_vec(), Plain::text_of(b"chat"))];
            let node = SpanNode { id: hash_of(&id), parent: None, start };
            let span = TraceSpan {
                trace: Some(trace),
                id: Some(id),
                parent: None,
                name: b"chat".to_vec(),
                start,
                end: 0,
                failed: None,
                attributes,
                events: Vec::new(),
            };
            self.keep(place, node, step(span, of_span))?;
        }
        Ok(shown.file.clone().filter(|_| elsewhere > 0).map(|file| (file, elsewhere)))
    }

    fn finish(
        mut self,
        values: &Values,
        others: &[Vec<u8>],
        texts_of: Option<Shown>,
        left_to: Option<(Shown, usize)>,
    ) -> Result<GatheredLines, Failure> {
        let mut lines = Shelf::new(values.name())?;
        let mut heads = std::mem::take(&mut self.heads);
        heads.sort_by_key(|head| head.trace);
        let (mut left_out, mut untold) = (0, 0);
        for of_trace in heads.chunk_by(|one, next| one.trace == next.trace) {
            let (run, cut) = self.run(of_trace)?;
            left_out += cut;
            untold += of_trace.iter().filter(|head| head.calls_model && !head.is_told).count();
            lines.put(&run)?;
        }
        for other in others {
            lines.put_line(other)?;
        }
        let mut note = shown!("read as traces");
        if let Some(texts_of) = texts_of {
            note = shown!("{note}, with the texts in {texts_of}");
        }
        if let Some((file, count)) = left_to {
            note = shown!("{note}; the texts of {count} calls are shown with the traces in {file}");
        }
        if untold > 0 {
            let what = if untold == 1 { shown!("1 call has no texts") } else { shown!("{untold} calls have no texts") };
            note = shown!(
                "{note}; {what}: they were not recorded (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT), or are in logs that are not here"
            );
        }
        if self.twice > 0 {
            note = shown!("{note}; {} steps came twice", self.twice);
        }
        if left_out + self.too_many > 0 {
            note = shown!(
                "{note}; {} steps left out, as a run has at most {MAX_CALLS} steps and 16 MB",
                left_out + self.too_many
            );
        }
        Ok(GatheredLines { lines: lines.into_lines()?, note })
    }

    /// Writes a trace as a run, and counts the spans that had no room.
    fn run(&mut self, heads: &[SpanHead]) -> Result<(Vec<u8>, usize), Failure> {
        let mut heads = heads.to_vec();
        // Parents begin before their children: what is left out has none of them.
        heads.sort_by_key(|head| head.start);
        let all = heads.len();
        heads.truncate(MAX_CALLS);
        let nodes: Vec<SpanNode> =
            heads.iter().map(|head| SpanNode { id: head.id, parent: head.parent, start: head.start }).collect();
        let placed = in_order(&nodes);
        let (mut steps, mut written) = (Vec::new(), 0);
        for (at, place) in placed.iter().enumerate() {
            let Some(head) = heads.get(place.node) else { continue };
            if steps.len() + head.json.len > MAX_RUN {
                break;
            }
            self.push_step(at, place, head, &mut steps)?;
            written += 1;
        }
        let left_out = all - written;
        let of = |place: &Placed| heads.get(place.node).copied();
        let root = placed.first().and_then(of);
        let models: Vec<SpanHead> = placed.iter().filter_map(of).filter(|head| head.calls_model).collect();
        let Facts { mut asked, mut said, mut model, error } = self.facts(root)?;
        for head in &models {
            asked = if asked.is_none() { self.facts(Some(*head))?.asked } else { break };
        }
        for head in models.iter().rev() {
            if said.is_some() && model.is_some() {
                break;
            }
            let facts = self.facts(Some(*head))?;
            (said, model) = (said.or(facts.said), model.or(facts.model));
        }
        let trace = root.map_or(0, |root| root.trace) as usize;
        let (id, about) = self.ids.get(trace).cloned().unwrap_or((Vec::new(), None));
        let mut more = Vec::new();
        about.map(|slot| self.shelf.take(slot, &mut more)).transpose()?;
        let style = Style { letters: Letters::Canonical, ..Style::ASCII };
        let mut line = style.object(|out| {
            if !id.is_empty() {
                out.text("id", &id);
            }
            for (key, value) in [("question", &asked), ("pred_answer", &said), ("model", &model)] {
                if let Some(value) = value {
                    out.text(key, value);
                }
            }
            out.text("status", if error.is_some() { "error" } else { "ok" });
            if let Some(error) = &error {
                out.text("error", error);
            }
            if left_out > 0 {
                out.key("spans_left_out").display(left_out);
            }
            out.object("trace", |trace| {
                trace.text("format", "stepscope.run_trace").key("version").raw("1");
                trace.text("source", if about.is_some() { "mlflow" } else { "opentelemetry" });
                trace.key("steps").raw([b"[", steps.as_slice(), b"]"].concat());
            });
        });
        // What MLflow says of the whole trace stays next to it.
        if let Some(members) = more.strip_prefix(b"{").filter(|members| members.len() > 1) {
            line.pop();
            line.push(b',');
            line.extend_from_slice(members);
        }
        line.push(b'\n');
        Ok((line, left_out))
    }

    fn push_step(&mut self, at: usize, place: &Placed, head: &SpanHead, steps: &mut Vec<u8>) -> Result<(), Failure> {
        if at > 0 {
            steps.push(b',');
        }
        steps.extend(format!("{{\"step_index\":{at},\"depth\":{}", place.depth).bytes());
        if let Some(parent) = place.parent {
            steps.extend(format!(",\"parent\":{parent}").bytes());
        }
        if place.is_orphan {
            steps.extend_from_slice(b",\"parent_missing\":true");
        }
        let mut json = Vec::new();
        self.shelf.take(head.json, &mut json)?;
        steps.push(b',');
        steps.extend_from_slice(json.strip_prefix(b"{").unwrap_or(&json));
        Ok(())
    }
}

/// Returns what `MLflow` says of a trace besides its spans, as members of an object.
fn about_mlflow(root: Value<'_>) -> Option<Vec<u8>> {
    let info = Plain::of(root.get("info")?);
    let kept = ["assessments", "tags", "trace_metadata", "request_time"];
    let members = kept.into_iter().filter_map(|key| Some((key.as_bytes().to_vec(), info.get(key)?.clone())));
    Some(Plain::Object(members.collect()).json())
}
