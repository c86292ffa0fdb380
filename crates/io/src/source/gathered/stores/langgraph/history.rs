//! Histories of LangGraph as JSON: the snapshots that `get_state_history` gives, the latest one first.

use std::collections::HashMap;

use super::super::super::made::GatheredLines;
use super::super::super::neighbours::{Neighbour, Values};
use super::super::super::plain::{Members, Plain};
use super::super::room::{MAX_WEIGHT, ValueRoom};
use super::super::run_lines::{MAX_ALL, RunLines};
use super::super::state_run::{StateRun, StepPlace, changed};
use super::branches::{Branch, Point, branches, link};
use super::messages::with_messages;
use super::snapshot::{Checkpoint, MAX_VARIABLES, is_variable};
use super::tasks::GraphTask;
use super::walk::{BranchWalk, add_replies, add_task, finish, input_step, update_step};
use crate::failure::Failure;
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;

/// Text of a file that is kept while it is read: a history holds the whole state again and again.
const MAX_HELD: usize = 24 << 20;

/// Tells whether a value is a snapshot: the values of a state, what comes next, and which checkpoint it is.
pub(in crate::source::gathered) fn is_snapshot(root: Value<'_>) -> bool {
    let has_next = root.get("next").is_some_and(|next| next.kind() == Kind::Array);
    let has_values = root.get("values").is_some_and(|values| values.kind() == Kind::Object);
    has_next && has_values && checkpoint(root, "config", "checkpoint").is_some() && root.get("metadata").is_some()
}

/// Finds the checkpoint that a snapshot names: in a configuration, or as LangGraph's server tells it.
fn checkpoint<'a>(root: Value<'a>, config: &str, plain: &str) -> Option<Value<'a>> {
    let named = root.get(config).and_then(|config| config.get("configurable")).or_else(|| root.get(plain))?;
    named.get("checkpoint_id").is_some().then_some(named)
}

/// A thread as its snapshots tell it.
#[derive(Default)]
struct History {
    thread: Option<Plain>,
    points: Vec<Point>,
    snapshots: Vec<(Checkpoint, Vec<GraphTask>)>,
}

/// Reads the branches of each thread as runs.
pub(in crate::source::gathered) fn read(values: &Values, _: &[Neighbour]) -> Result<GatheredLines, Failure> {
    const LONG: &str = "its snapshots are longer than 24 MB together; write one thread to a file";
    let (mut all, mut places): (Vec<History>, HashMap<Vec<u8>, usize>) = (Vec::new(), HashMap::new());
    let (mut others, mut size) = (Vec::new(), 0);
    let mut room = ValueRoom(2 * MAX_WEIGHT);
    values.each(&mut |root, text| {
        size += text.len();
        let known = root.filter(|root| is_snapshot(*root));
        let told = known.and_then(|_| room.json(text));
        match (known, told) {
            _ if size > MAX_HELD => return Err(Failure::own("cannot read", values.name(), LONG)),
            (Some(_), None) => return Err(Failure::own("cannot read", values.name(), LONG)),
            (Some(root), Some(told)) => {
                let named = checkpoint(root, "config", "checkpoint");
                let part = |named: Option<Value<'_>>, key: &str| named.and_then(|named| named.get(key)).map(Plain::of);
                let thread = part(named, "thread_id");
                let key = thread.as_ref().map_or_else(Vec::new, Plain::as_text);
                let at = *places.entry(key).or_insert_with(|| {
                    all.push(History { thread, ..History::default() });
                    all.len() - 1
                });
                let Some(history) = all.get_mut(at) else { return Ok(()) };
                let parent = checkpoint(root, "parent_config", "parent_checkpoint");
                let text = |value: Option<Plain>| value.map_or_else(Vec::new, |value| value.as_text());
                let (snapshot, tasks) = snapshot(told, history.snapshots.len());
                history.points.push(Point {
                    row: snapshot.row,
                    space: text(part(named, "checkpoint_ns")),
                    id: text(part(named, "checkpoint_id")),
                    parent: part(parent, "checkpoint_id").map(|parent| parent.as_text()),
                    source: snapshot.source(),
                    ..Point::default()
                });
                history.snapshots.push((snapshot, tasks));
            }
            _ => others.push(text.to_vec()),
        }
        Ok(())
    })?;
    let mut lines = RunLines::new(values.name())?;
    for history in &mut all {
        history.put(&mut lines);
    }
    for other in others {
        lines.shelf.put_line(&other)?;
    }
    if lines.shelf.len() > MAX_ALL {
        return Err(Failure::own("cannot read", values.name(), LONG));
    }
    let note = lines.note("histories of LangGraph", None);
    Ok(GatheredLines { lines: lines.shelf.into_lines()?, note: shown!("{note}") })
}

fn snapshot(told: Plain, number: usize) -> (Checkpoint, Vec<GraphTask>) {
    let mut snapshot = Checkpoint { row: number as i64, ..Checkpoint::default() };
    let mut tasks = Vec::new();
    let Plain::Object(members) = told else { return (snapshot, tasks) };
    for (key, value) in members {
        match (key.as_slice(), value) {
            (b"values", Plain::Object(values)) => {
                let variables = values.into_iter().filter(|(name, _)| is_variable(name)).take(MAX_VARIABLES);
                snapshot.values = variables.map(|(name, value)| (name, with_messages(value))).collect();
            }
            (b"metadata", metadata) => snapshot.metadata = metadata,
            (b"created_at", time) => snapshot.saved = Some(time),
            (b"tasks", Plain::List(all)) => tasks = all.into_iter().map(task).collect(),
            _ => {}
        }
    }
    (snapshot, tasks)
}

/// Reads a task: an object, or the list that a named tuple becomes.
fn task(told: Plain) -> GraphTask {
    const KEYS: [&str; 7] = ["id", "name", "path", "error", "interrupts", "state", "result"];
    let part = |key: &str| match &told {
        Plain::List(items) => {
            let at = KEYS.iter().position(|known| *known == key)?;
            items.get(at).filter(|value| !value.is_null()).cloned()
        }
        told => told.get(key).cloned(),
    };
    let text = |key: &str| part(key).map_or_else(Vec::new, |value| value.as_text());
    let mut task = GraphTask::told(text("id"), text("name"), part("result").map(with_messages));
    task.error = part("error").map(|error| Plain::Text(error.as_text()));
    let asked: Vec<Plain> = part("interrupts").as_ref().map_or(&[][..], Plain::items).iter().map(asked).collect();
    task.interrupt = match asked.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(Plain::List(asked)),
    };
    task
}

/// Returns what an interrupt asks for.
fn asked(interrupt: &Plain) -> Plain {
    let first = interrupt.items().first();
    interrupt.get("value").or(first).unwrap_or(interrupt).clone()
}

impl History {
    fn put(&mut self, lines: &mut RunLines) {
        let mut in_order: Vec<usize> = (0..self.points.len()).collect();
        in_order.sort_by(|a, b| {
            self.points.get(*a).map(|point| &point.id).cmp(&self.points.get(*b).map(|point| &point.id))
        });
        link(&mut self.points);
        let (all, _) = branches(&self.points, &in_order);
        for (at, branch) in all.iter().enumerate() {
            if lines.is_full() {
                continue;
            }
            let run = self.run(branch, all.get(..at).unwrap_or(&[]));
            lines.put_run(&run, "langgraph");
        }
    }

    fn run(&self, branch: &Branch, before: &[Branch]) -> StateRun {
        let mut walk = BranchWalk::default();
        for (at, point) in branch.path.iter().enumerate() {
            let Some((snapshot, tasks)) = self.snapshots.get(*point) else { continue };
            let next = branch.path.get(at + 1).and_then(|next| self.snapshots.get(*next)).map(|(next, _)| next);
            self.group(&mut walk, (*point, snapshot), tasks, next);
        }
        let last = branch.path.last().and_then(|at| Some((self.points.get(*at)?, self.snapshots.get(*at)?)));
        let mut run = walk.run;
        finish(&mut run, self.thread.as_ref(), branch, before, &self.points);
        if let Some((_, (snapshot, tasks))) = last {
            run.state.clone_from(&snapshot.values);
            run.error = tasks.iter().find_map(|task| task.error.clone());
            run.waits = tasks.iter().find_map(|task| task.interrupt.clone().filter(|_| !task.is_done()));
        }
        run
    }

    fn group(
        &self,
        walk: &mut BranchWalk,
        (at, before): (usize, &Checkpoint),
        tasks: &[GraphTask],
        next: Option<&Checkpoint>,
    ) {
        let source = next.map(Checkpoint::source);
        let is_loop = source.as_deref() == Some(b"loop");
        if before.source() == b"input" {
            let given: Members = tasks.iter().flat_map(|task| task.outputs.iter().cloned()).collect();
            if walk.run.initial.is_empty() && walk.run.is_empty() {
                walk.run.initial = given;
            } else {
                walk.run.step(StepPlace::default(), input_step(given, before));
            }
            return;
        }
        let first = self.points.get(at).and_then(|point| point.first_loop);
        let is_here = next.is_none_or(|next| first.is_none_or(|first| first as i64 == next.row));
        if is_here && (is_loop || next.is_none() || first.is_none()) {
            for task in tasks {
                let next = next.filter(|_| is_loop);
                if let Some(step) = add_task(walk, task, (before, next), None, StepPlace::default()) {
                    add_replies(walk, task, step, StepPlace::default());
                }
            }
        }
        if let (Some(b"update"), Some(next)) = (source.as_deref(), next) {
            walk.run.step(StepPlace::default(), update_step(changed(&before.values, &next.values), next));
        }
    }
}
