//! The tasks that ran behind a checkpoint, each with what it wrote.

use std::collections::HashMap;

use super::super::super::chat::replied;
use super::super::super::plain::{Members, Plain, object};
use super::super::state_run::variable;
use super::snapshot::{Checkpoint, is_variable};

#[cfg(feature = "store")]
mod stored;

#[cfg(feature = "store")]
pub(super) use stored::of;

/// Kind of a task.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum TaskKind {
    #[default]
    Node,
    /// Values that the one who called the graph wrote into it.
    Command,
}

/// A task, and what is recorded of it.
#[derive(Default)]
pub(super) struct GraphTask {
    pub id: Vec<u8>,
    pub kind: TaskKind,
    /// Name of its node; empty where it is not known.
    pub name: Vec<u8>,
    /// Place of the task among those of its superstep, by which their writes are put in order.
    pub path: Vec<u8>,
    /// Argument that it was sent.
    pub inputs: Option<Plain>,
    /// Variables that it wrote.
    pub outputs: Members,
    pub result: Option<Plain>,
    pub error: Option<Plain>,
    pub interrupt: Option<Plain>,
    pub resume: Option<Plain>,
    pub sent: Vec<Plain>,
    /// Values that were written and are not read, by name: how they are kept.
    pub unread: Members,
    /// True if its writes are known.
    is_told: bool,
    is_done: bool,
}

impl GraphTask {
    /// Tells whether it came to its end.
    pub(super) const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Makes a task as dumps tell it: with what it returned, if it came to its end.
    pub(super) fn told(id: Vec<u8>, name: Vec<u8>, result: Option<Plain>) -> Self {
        let is_done = result.is_some();
        let outputs = match result {
            Some(Plain::Object(members)) => members.into_iter().filter(|(name, _)| is_variable(name)).collect(),
            _ => Members::new(),
        };
        Self { id, name, outputs, is_told: is_done, is_done, ..Self::default() }
    }

    /// Returns the name that people see.
    pub(super) fn title(&self) -> &[u8] {
        match (self.kind, self.name.as_slice()) {
            (TaskKind::Command, _) => b"command",
            (_, b"") => b"task",
            (_, name) => name,
        }
    }

    /// Writes it as the members of a step. `next`: the checkpoint that holds what it wrote.
    pub(super) fn body(&self, before: &Checkpoint, next: Option<&Checkpoint>, way: &NameWay<'_>) -> Members {
        let mut body = Members::new();
        let mut put = |key: &str, value: Option<Plain>| {
            body.extend(value.map(|value| (key.as_bytes().to_vec(), value)));
        };
        put("name", Some(Plain::text_of(self.title())));
        put(
            "inputs",
            self.inputs.as_ref().map(|inputs| match inputs {
                Plain::Object(members) => Plain::Object(members.clone()),
                other => object([("input", Some(other.clone()))]),
            }),
        );
        if self.is_told && (self.is_done || !self.outputs.is_empty()) {
            let (outputs, wrote) = self.written(before, next, way);
            put("outputs", Some(Plain::Object(outputs)));
            put("wrote", (!wrote.is_empty()).then_some(Plain::Object(wrote)));
        }
        put("result", self.result.clone());
        // What failed once and then came to its end did not fail.
        let failed = if self.is_done { "failed_before" } else { "error" };
        put(failed, self.error.clone());
        put("interrupt", self.interrupt.clone());
        put("resume", self.resume.clone());
        put("sent", (!self.sent.is_empty()).then(|| Plain::List(self.sent.clone())));
        put("unread", (!self.unread.is_empty()).then(|| Plain::Object(self.unread.clone())));
        put("span_kind", Some(Plain::text_of(if self.kind == TaskKind::Command { b"user" } else { b"node" })));
        put("task_id", (!self.id.is_empty()).then(|| Plain::text_of(&self.id)));
        body
    }

    /// Returns what the state holds behind it in the variables that it wrote, and what it wrote itself where that is
    /// something else: a reducer stands between. What is not in the state has another name.
    fn written(&self, before: &Checkpoint, next: Option<&Checkpoint>, way: &NameWay<'_>) -> (Members, Members) {
        let (mut outputs, mut wrote) = (Members::new(), Members::new());
        // Of what was written twice, the last counts.
        let mut last: HashMap<&[u8], usize> = HashMap::new();
        last.extend(self.outputs.iter().enumerate().map(|(at, (name, _))| (name.as_slice(), at)));
        for (at, (name, value)) in self.outputs.iter().enumerate() {
            if last.get(name.as_slice()) != Some(&at) {
                continue;
            }
            let known = next.map(|next| variable(&next.values, name));
            let (name, held) = match known {
                None => (way.name(name, " (uncommitted)"), value),
                // What a subgraph or the next superstep does not keep.
                Some(None) => (way.name(name, " (written)"), value),
                Some(Some(after)) if after == value => (way.name(name, ""), value),
                Some(Some(after)) if !way.whole && grew(before, name, after) => (way.name(name, " (appended)"), value),
                Some(Some(after)) => {
                    wrote.push((way.name(name, ""), value.clone()));
                    (way.name(name, ""), after)
                }
            };
            outputs.push((name, held.clone()));
        }
        (outputs, wrote)
    }

    /// Returns the replies of models that it wrote, each as the members of a step inside of it.
    pub(super) fn replies(&self) -> Vec<Members> {
        let messages = self.outputs.iter().flat_map(|(_, value)| match value {
            Plain::List(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        });
        let by_model = |message: &&Plain| message.get("role").and_then(Plain::text) == Some(b"assistant");
        messages.filter(by_model).map(reply).collect()
    }
}

/// Way in which the variables of a step are named.
pub(super) struct NameWay<'a> {
    /// Nodes of the graphs that are around its own.
    pub nodes: &'a [u8],
    /// A list that grew is told as a whole.
    pub whole: bool,
}

impl NameWay<'_> {
    /// Names a variable: those of a subgraph are its own, whatever those around it are called.
    fn name(&self, name: &[u8], more: &str) -> Vec<u8> {
        let nodes = if self.nodes.is_empty() { Vec::new() } else { [self.nodes, b"."].concat() };
        [nodes.as_slice(), name, more.as_bytes()].concat()
    }
}

fn grew(before: &Checkpoint, name: &[u8], after: &Plain) -> bool {
    let held = variable(&before.values, name).map_or(&[][..], Plain::items);
    matches!(after, Plain::List(items) if items.len() > held.len() && items.starts_with(held))
}

fn reply(message: &Plain) -> Members {
    let reply = replied(message);
    let about = |key: &str| message.get("response_metadata").and_then(|data| data.get(key)).cloned();
    let used = |key: &str| message.get("usage_metadata").and_then(|usage| usage.get(key)).cloned();
    let usage = object([("prompt_tokens", used("input_tokens")), ("completion_tokens", used("output_tokens"))]);
    let made = object([
        ("name", Some(message.get("name").cloned().unwrap_or_else(|| Plain::text_of(b"assistant")))),
        ("raw", reply.text.map(Plain::Text)),
        ("tool_calls", (!reply.calls.is_empty()).then_some(Plain::List(reply.calls))),
        ("reasoning", reply.thoughts),
        ("model", about("model_name").or_else(|| about("model"))),
        ("usage", Some(usage).filter(|usage| *usage != Plain::Object(Members::new()))),
        ("span_kind", Some(Plain::text_of(b"model"))),
    ]);
    if let Plain::Object(members) = made { members } else { Members::new() }
}

impl GraphTask {
    fn write(&mut self, channel: Vec<u8>, value: Plain) {
        let is_own_name = value.text() == Some(&channel);
        match channel.as_slice() {
            b"__error__" => self.error = Some(Plain::Text(value.as_text())),
            b"__interrupt__" => self.interrupt = Some(interrupt(&value, &self.id, &mut self.name)),
            b"__resume__" => self.resume = Some(value),
            b"__pregel_tasks" => {
                self.is_done = true;
                self.sent.push(value);
            }
            b"__return__" => (self.result, self.is_done) = (Some(value), true),
            b"__no_writes__" => self.is_done = true,
            // In older versions a node writes its own name behind its values.
            _ if is_own_name && is_variable(&channel) => (self.name, self.is_done) = (channel, true),
            name if name.starts_with(b"__") && name != b"__root__" => {}
            name if is_variable(name) => {
                self.is_done = true;
                self.outputs.push((channel, value));
            }
            _ => self.is_done = true,
        }
    }
}

/// Returns what a node asked for, and notes its name where that is told: next to the id of the task, as its namespace.
fn interrupt(value: &Plain, task: &[u8], name: &mut Vec<u8>) -> Plain {
    let all = match value {
        Plain::List(items) => items.as_slice(),
        value => std::slice::from_ref(value),
    };
    let spaces = all.iter().filter_map(|one| one.get("ns")).flat_map(Plain::items).filter_map(Plain::text);
    let own = |space: &[u8]| Some(space.strip_suffix(task)?.strip_suffix(b":")?.to_vec());
    if let (true, Some(node)) = (name.is_empty(), { spaces }.find_map(own)) {
        *name = node;
    }
    let asked: Vec<Plain> = all.iter().map(|one| one.get("value").unwrap_or(one).clone()).collect();
    match asked.as_slice() {
        [only] => only.clone(),
        _ => Plain::List(asked),
    }
}

/// Names tasks: by their path, else by what is said of the next checkpoint.
pub(super) fn name(tasks: &mut [GraphTask], before: &Checkpoint, next: Option<&Checkpoint>) {
    for task in tasks.iter_mut().filter(|task| task.kind == TaskKind::Node) {
        if let Some(node) = task.path.strip_prefix(b"~__pregel_pull, ") {
            task.name = node.to_vec();
        }
        let number =
            task.path.strip_prefix(b"~__pregel_push, ").and_then(|rest| rest.split(|byte| *byte == b',').next());
        let number = number.and_then(|number| std::str::from_utf8(number).ok()?.parse::<usize>().ok());
        let sent = number.and_then(|at| before.sent.get(at));
        if let Some(node) = sent.and_then(|sent| sent.get("node")) {
            task.name = node.as_text();
            task.inputs = sent.and_then(|sent| sent.get("arg")).cloned();
        }
    }
    let written = next.and_then(|next| match next.metadata.get("writes") {
        Some(Plain::Object(members)) => Some(members.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()),
        _ => None,
    });
    let ran = next.map(|next| nodes_between(before, next));
    for names in written.into_iter().chain(ran) {
        let known: Vec<&Vec<u8>> = tasks.iter().map(|task| &task.name).collect();
        let left: Vec<Vec<u8>> = names.into_iter().filter(|name| !known.contains(&name)).collect();
        let mut nameless = tasks.iter_mut().filter(|task| task.name.is_empty() && task.kind == TaskKind::Node);
        if let ([name], Some(task), None) = (left.as_slice(), nameless.next(), nameless.next()) {
            task.name.clone_from(name);
        }
    }
}

/// Returns the tasks of which only is known that they ran: their nodes have seen other versions since.
pub(super) fn ran(before: &Checkpoint, next: Option<&Checkpoint>) -> Vec<GraphTask> {
    let nodes = next.map_or_else(Vec::new, |next| nodes_between(before, next));
    let is_told = nodes.len() == 1;
    nodes.into_iter().map(|name| GraphTask { name, is_told, is_done: true, ..GraphTask::default() }).collect()
}

fn nodes_between(before: &Checkpoint, next: &Checkpoint) -> Vec<Vec<u8>> {
    let seen = next
        .seen
        .iter()
        .filter(|(node, versions)| !node.starts_with(b"__") && variable(&before.seen, node) != Some(versions));
    seen.map(|(node, _)| node.clone()).collect()
}
