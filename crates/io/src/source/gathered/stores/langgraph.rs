//! Checkpoints of LangGraph: each thread is a run, and each branch of it another one; a task of a superstep is a step, with
//! what it wrote. What a node read is not recorded.

use std::collections::BTreeMap;

use super::super::plain::{Members, Plain, object};
use super::state_run::{StateRun, StepPlace, changed, variable};
use super::{Room, RunLines, groups, name_of};
use crate::source::sqlite::{Cell, Database};
use branches::{Branch, Point, branches, by_namespace};
use snapshot::{Snapshot, is_variable};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use tasks::{NameWay, Task, TaskKind};

mod branches;
pub(in crate::source::gathered) mod history;
mod messages;
mod packed;
mod snapshot;
mod tasks;

/// Subgraphs inside of subgraphs are read down to here.
const MAX_NESTED: usize = 16;
/// Bytes of checkpoints that are unpacked; the state behind later steps is not compared with what they wrote.
const MAX_UNPACKED: usize = 256 << 20;
/// Size of a run up to which a list that grew is told as a whole with each step.
const MAX_WHOLE: usize = super::MAX_RUN / 2;
/// Keys that LangGraph itself puts next to a checkpoint.
const OWN_KEYS: [&[u8]; 7] =
    [b"source", b"step", b"parents", b"writes", b"thread_id", b"checkpoint_ns", b"counters_since_delta_snapshot"];

/// Reads each branch of each thread as a run.
pub(super) fn read(database: &Database, lines: &mut RunLines) -> rusqlite::Result<()> {
    let threads = groups(database, "checkpoints", &["thread_id"], "checkpoint_id", lines)?;
    let mut unread = Unread::default();
    let mut unpacked = 0;
    for thread in threads {
        let Some(id) = thread.key.into_iter().next() else { continue };
        let points = snapshot::points(database, &thread.rows)?;
        let spaces = by_namespace(&points);
        let main = spaces.get(&b""[..]).map_or(&[][..], Vec::as_slice);
        let (all, cut) = branches(&points, main);
        unread.branches += cut;
        for (at, branch) in all.iter().enumerate() {
            if lines.is_full() {
                continue;
            }
            let mut reader = Reader { database, thread: &id, points: &points, spaces: &spaces, unread, unpacked };
            let run = reader.run(branch, all.get(..at).unwrap_or(&[]))?;
            (unread, unpacked) = (reader.unread, reader.unpacked);
            lines.put_run(&run, "langgraph");
        }
    }
    lines.notes.extend(unread.notes());
    Ok(())
}

/// What could not be read of a store, counted.
#[derive(Default)]
struct Unread {
    /// Values by how they are kept, where that is not read.
    kinds: BTreeMap<Vec<u8>, usize>,
    /// Values that are damaged, too deep or too large.
    broken: usize,
    branches: usize,
    /// Names of variables of which only the changes are kept.
    inferred: bool,
}

impl Unread {
    fn notes(&self) -> Vec<Shown> {
        const NAMED: usize = 8;
        let mut notes = Vec::new();
        for (kind, count) in self.kinds.iter().take(NAMED) {
            let why = match kind.as_slice() {
                b"pickle" => Shown::own("pickle, which is not loaded"),
                kind if kind.contains(&b'+') => shown!("encrypted ({})", Shown::line(kind)),
                kind => shown!("kept as {}, which is not known", Shown::line(kind)),
            };
            notes.push(if *count == 1 { shown!("1 value is {why}") } else { shown!("{count} values are {why}") });
        }
        if self.broken > 0 {
            notes.push(shown!("{} values are damaged, too deep or too large", self.broken));
        }
        if self.branches > 0 {
            notes.push(shown!("{} branches left out", self.branches));
        }
        if self.inferred {
            notes.push(Shown::own("variables under inferred are not stored: what was written is appended"));
        }
        notes
    }
}

struct Reader<'a> {
    database: &'a Database,
    thread: &'a Cell,
    points: &'a [Point],
    spaces: &'a BTreeMap<&'a [u8], Vec<usize>>,
    unread: Unread,
    unpacked: usize,
}

/// State on the way along a branch.
#[derive(Default)]
struct Walk {
    run: StateRun,
    /// Lists of which only the changes are kept, as far as appending gives them.
    appended: BTreeMap<Vec<u8>, Option<Vec<Plain>>>,
    /// Nodes of the graphs around the one that is read.
    nodes: Vec<u8>,
}

impl Reader<'_> {
    /// Reads a branch, which may have left one of those before it.
    fn run(&mut self, branch: &Branch, before: &[Branch]) -> rusqlite::Result<StateRun> {
        let mut walk = Walk::default();
        let last = self.steps(&mut walk, branch, b"", StepPlace::default())?;
        let mut run = walk.run;
        finish(&mut run, name_of(self.thread).as_ref(), branch, before, self.points);
        if let Some(last) = last {
            let own = |key: &[u8]| OWN_KEYS.contains(&key) || key.starts_with(b"langgraph_");
            if let Plain::Object(members) = last.metadata {
                let kept: Members = members.into_iter().filter(|(key, _)| !own(key)).collect();
                if !kept.is_empty() {
                    run.about.push((b"metadata".to_vec(), Plain::Object(kept)));
                }
            }
            run.state = last.values;
        }
        let mut inferred = Vec::new();
        for (name, list) in walk.appended {
            if let (None, Some(list)) = (variable(&run.state, &name), list) {
                inferred.push(Plain::text_of(&name));
                run.state.push((name, Plain::List(list)));
            }
        }
        if !inferred.is_empty() {
            self.unread.inferred = true;
            run.about.push((b"inferred".to_vec(), Plain::List(inferred)));
        }
        Ok(run)
    }

    /// Adds the steps of a branch of a graph or a subgraph; returns what it was in the end.
    fn steps(
        &mut self,
        walk: &mut Walk,
        branch: &Branch,
        space: &[u8],
        place: StepPlace,
    ) -> rusqlite::Result<Option<Snapshot>> {
        let mut current = match branch.path.first() {
            Some(first) => Some(self.snapshot(*first)?),
            None => None,
        };
        for (at, point) in branch.path.iter().enumerate() {
            let Some(snapshot) = current.take() else { break };
            let next = match branch.path.get(at + 1) {
                Some(next) => Some(self.snapshot(*next)?),
                None => None,
            };
            self.group(walk, (*point, &snapshot), next.as_ref(), space, place)?;
            if next.is_none() {
                return Ok(Some(snapshot));
            }
            current = next;
        }
        Ok(current)
    }

    /// Adds what happened between a checkpoint and the next one, or behind the last one.
    fn group(
        &mut self,
        walk: &mut Walk,
        (point, before): (usize, &Snapshot),
        next: Option<&Snapshot>,
        space: &[u8],
        place: StepPlace,
    ) -> rusqlite::Result<()> {
        let Some(here) = self.points.get(point) else { return Ok(()) };
        let source = next.map(Snapshot::source);
        let is_loop = source.as_deref() == Some(b"loop");
        let is_nested = place.parent.is_some();
        // The writes of a checkpoint from which the graph went on several times are those of the first time.
        let is_first = next.is_none_or(|next| here.first_loop.is_none_or(|first| self.is_point(first, next)));
        let mut tasks = Vec::new();
        if is_first && (is_loop || next.is_none() || here.first_loop.is_none()) {
            tasks = tasks::of(self.database, self.thread, here, &mut self.unread)?;
        }
        tasks::name(&mut tasks, before, next);
        // What an update wrote is kept like a task, which is none of the graph's.
        let is_update = source.as_deref() == Some(b"update");
        let of_graph = |task: &Task| match (task.path.is_empty(), is_update) {
            (false, _) => task.path.starts_with(b"~__pregel_"),
            (true, true) => false,
            (true, false) => !here.is_updated || next.is_none_or(|next| next.may_be_of(&task.name)),
        };
        tasks.retain(|task| of_graph(task) || task.error.is_some() || task.interrupt.is_some());
        if before.source() == b"input" {
            let given: Members = tasks.iter().flat_map(|task| task.outputs.iter().cloned()).collect();
            let given = if given.is_empty() { before.input.clone() } else { given };
            if is_loop {
                append(&mut walk.appended, next, &tasks);
            }
            if walk.run.initial.is_empty() && walk.run.is_empty() {
                walk.run.initial = given;
            } else if !is_nested {
                walk.run.step(place, input_step(given, before));
            }
            return Ok(());
        }
        if is_loop && tasks.is_empty() {
            tasks = tasks::ran(before, next);
            if let ([only], Some(next)) = (tasks.as_mut_slice(), next) {
                only.outputs = changed(&before.values, &next.values);
            }
        }
        if is_loop {
            append(&mut walk.appended, next, &tasks);
        }
        if next.is_none() && !is_nested {
            walk.run.error = tasks.iter().find_map(|task| task.error.clone());
            walk.run.waits = tasks.iter().find_map(|task| task.interrupt.clone().filter(|_| !task.is_done()));
        }
        for task in tasks {
            self.task(walk, task, (before, next.filter(|_| is_loop)), (here, space), place)?;
        }
        if let (Some(b"update"), Some(next)) = (source.as_deref(), next) {
            let outputs = changed(&before.values, &next.values);
            append_nothing(&mut walk.appended, next);
            walk.run.step(place, update_step(outputs, next));
        }
        Ok(())
    }

    fn is_point(&self, at: usize, snapshot: &Snapshot) -> bool {
        self.points.get(at).is_some_and(|point| point.row == snapshot.row)
    }

    /// Adds a task as a step, and those of its subgraph inside of it.
    fn task(
        &mut self,
        walk: &mut Walk,
        mut task: Task,
        (before, next): (&Snapshot, Option<&Snapshot>),
        (here, space): (&Point, &[u8]),
        place: StepPlace,
    ) -> rusqlite::Result<()> {
        let inner = self.subgraph(&task, here, space);
        // What a subgraph took from the state around it, its node read there.
        let first = inner.as_ref().and_then(|(_, branch)| self.points.get(*branch.path.first()?));
        if let Some(first) = first.filter(|first| first.source == b"input" && walk.nodes.is_empty()) {
            let given = tasks::of(self.database, self.thread, first, &mut self.unread)?;
            let given: Members = given.into_iter().flat_map(|task| task.outputs).collect();
            task.inputs = task.inputs.or_else(|| (!given.is_empty()).then_some(Plain::Object(given)));
        }
        let step = add_task(walk, &task, (before, next), Some(&here.id), place);
        if let (Some(step), Some((space, branch))) = (step, &inner)
            && place.depth < MAX_NESTED
        {
            let inside = StepPlace { parent: Some(step), depth: place.depth + 1 };
            // Its variables are its own.
            let outer = std::mem::take(&mut walk.appended);
            let around = walk.nodes.clone();
            walk.nodes = if around.is_empty() { task.title().to_vec() } else { [&around, task.title()].join(&b'.') };
            self.steps(walk, branch, space, inside)?;
            (walk.appended, walk.nodes) = (outer, around);
        }
        if let (Some(step), None) = (step, inner) {
            add_replies(walk, &task, step, place);
        }
        Ok(())
    }

    /// Finds the subgraph that a task is: its namespace, and the last branch that was made from this checkpoint.
    fn subgraph(&self, task: &Task, here: &Point, space: &[u8]) -> Option<(Vec<u8>, Branch)> {
        if task.kind != TaskKind::Node {
            return None;
        }
        let prefix = if space.is_empty() { Vec::new() } else { [space, b"|"].concat() };
        let own = [prefix.as_slice(), &task.name, b":", &task.id].concat();
        let kept = [prefix.as_slice(), &task.name].concat();
        let (name, inside) = match self.spaces.get(own.as_slice()) {
            Some(inside) => (own, inside.clone()),
            // A subgraph that keeps its state has one namespace for all of its runs.
            None => {
                let of_here = |at: &&usize| self.points.get(**at).is_some_and(|point| point.outer == here.id);
                let inside: Vec<usize> = self.spaces.get(kept.as_slice())?.iter().filter(of_here).copied().collect();
                (kept, inside)
            }
        };
        let (all, _) = branches(self.points, &inside);
        all.into_iter().next_back().map(|branch| (name, branch))
    }

    fn snapshot(&mut self, at: usize) -> rusqlite::Result<Snapshot> {
        let row = self.points.get(at).map_or(0, |point| point.row);
        let may_unpack = self.unpacked < MAX_UNPACKED;
        let (snapshot, len) = snapshot::read(self.database, row, may_unpack, &mut self.unread)?;
        self.unpacked += len;
        Ok(snapshot)
    }
}

/// Adds a task as a step.
fn add_task(
    walk: &mut Walk,
    task: &Task,
    (before, next): (&Snapshot, Option<&Snapshot>),
    checkpoint: Option<&[u8]>,
    place: StepPlace,
) -> Option<usize> {
    let way = NameWay { nodes: &walk.nodes, whole: walk.run.size() < MAX_WHOLE };
    let mut body = task.body(before, next, &way);
    body.push((b"superstep".to_vec(), before.step_after()));
    body.extend(checkpoint.map(|id| (b"checkpoint_id".to_vec(), Plain::text_of(id))));
    walk.run.step(place, with_saved(body, next))
}

/// Adds the replies of models that a task wrote, inside of its step.
fn add_replies(walk: &mut Walk, task: &Task, step: usize, place: StepPlace) {
    for reply in task.replies() {
        let model = reply.iter().find(|(key, _)| key == b"model").map(|(_, model)| model.clone());
        walk.run.model = model.or(walk.run.model.take());
        walk.run.step(StepPlace { parent: Some(step), depth: place.depth + 1 }, reply);
    }
}

/// Says of a run which branch of its thread it is.
fn finish(run: &mut StateRun, thread: Option<&Plain>, branch: &Branch, before: &[Branch], points: &[Point]) {
    let leaf = branch.path.last().and_then(|at| points.get(*at)).map(|leaf| leaf.id.as_slice());
    run.id = thread.cloned();
    if !before.is_empty() {
        let parted = branch.left(before).and_then(|at| points.get(at)).map(|point| Plain::text_of(&point.id));
        let leaf = leaf.unwrap_or(b"");
        let short = leaf.get(leaf.len().saturating_sub(8)..).unwrap_or(leaf);
        run.id = thread.map(|thread| Plain::Text([&thread.as_text(), &b"@"[..], short].concat()));
        let from = object([("thread", thread.cloned()), ("checkpoint_id", parted)]);
        run.about.push((b"forked_from".to_vec(), from));
    }
    run.about.extend(leaf.map(|id| (b"checkpoint_id".to_vec(), Plain::text_of(id))));
}

/// Returns a step that is a change of the state from outside of the graph.
fn update_step(outputs: Members, next: &Snapshot) -> Members {
    let body = vec![
        (b"name".to_vec(), Plain::text_of(b"update_state")),
        (b"outputs".to_vec(), Plain::Object(outputs)),
        (b"span_kind".to_vec(), Plain::text_of(b"update")),
    ];
    with_saved(body, Some(next))
}

/// Returns a step that is what the graph was given later on.
fn input_step(given: Members, before: &Snapshot) -> Members {
    let body = vec![
        (b"name".to_vec(), Plain::text_of(b"input")),
        (b"outputs".to_vec(), Plain::Object(given)),
        (b"span_kind".to_vec(), Plain::text_of(b"user")),
    ];
    with_saved(body, Some(before))
}

fn with_saved(mut body: Members, snapshot: Option<&Snapshot>) -> Members {
    body.extend(snapshot.and_then(|snapshot| snapshot.saved.clone()).map(|saved| (b"saved_utc".to_vec(), saved)));
    body
}

/// Appends what tasks wrote to the lists of which only the changes are kept. One that is written as something else is not
/// known any more, until it is stored again.
fn append(appended: &mut BTreeMap<Vec<u8>, Option<Vec<Plain>>>, next: Option<&Snapshot>, tasks: &[Task]) {
    let Some(next) = next else { return };
    for name in &next.changes_only {
        let list = appended.entry(name.clone()).or_insert_with(|| Some(Vec::new()));
        let mut in_order: Vec<&Task> = tasks.iter().collect();
        in_order.sort_by(|a, b| a.path.cmp(&b.path));
        for (_, value) in in_order.iter().flat_map(|task| &task.outputs).filter(|(key, _)| key == name) {
            match (list.as_mut(), value) {
                (Some(list), Plain::List(items)) => list.extend(items.iter().cloned()),
                _ => *list = None,
            }
        }
    }
    store(appended, next);
}

/// Notes a change of unknown writes.
fn append_nothing(appended: &mut BTreeMap<Vec<u8>, Option<Vec<Plain>>>, next: &Snapshot) {
    for name in &next.changes_only {
        appended.insert(name.clone(), None);
    }
    store(appended, next);
}

/// Takes the lists that are stored.
fn store(appended: &mut BTreeMap<Vec<u8>, Option<Vec<Plain>>>, next: &Snapshot) {
    for (name, value) in next.values.iter().filter(|(name, _)| is_variable(name)) {
        let known = appended.contains_key(name) || next.snapshots.contains(name);
        if let (true, Plain::List(items)) = (known, value) {
            appended.insert(name.clone(), Some(items.clone()));
        }
    }
}

/// Room for the values of one checkpoint: two of them are compared.
fn room() -> Room {
    Room(super::MAX_WEIGHT / 2)
}
