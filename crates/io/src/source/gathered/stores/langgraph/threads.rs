//! Threads of a store: its checkpoints put together to branches, and what ran between them.

use std::collections::BTreeMap;

use super::super::super::plain::{Members, Plain};
use super::super::rows::{groups, name_of};
use super::super::run_lines::RunLines;
use super::super::state_run::{StateRun, StepPlace, changed, variable};
use super::branches::{Branch, Point, branches, by_namespace};
use super::snapshot::{self, Checkpoint};
use super::tasks::{self, GraphTask, TaskKind};
use super::unread::UnreadValues;
use super::walk::{BranchWalk, add_replies, add_task, append, append_nothing, finish, input_step, update_step};
use crate::source::sqlite::{CellValue, Database};

/// Subgraphs inside of subgraphs are read down to here.
const MAX_NESTED: usize = 16;
/// Bytes of checkpoints that are unpacked; the state behind later steps is not compared with what they wrote.
const MAX_UNPACKED: usize = 256 << 20;
/// Keys that LangGraph itself puts next to a checkpoint.
const OWN_KEYS: [&[u8]; 7] =
    [b"source", b"step", b"parents", b"writes", b"thread_id", b"checkpoint_ns", b"counters_since_delta_snapshot"];

/// Reads each branch of each thread as a run.
pub(in crate::source::gathered::stores) fn read(database: &Database, lines: &mut RunLines) -> rusqlite::Result<()> {
    let threads = groups(database, "checkpoints", &["thread_id"], "checkpoint_id", lines)?;
    let mut unread = UnreadValues::default();
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
            let mut reader = BranchReader { database, thread: &id, points: &points, spaces: &spaces, unread, unpacked };
            let run = reader.run(branch, all.get(..at).unwrap_or(&[]))?;
            (unread, unpacked) = (reader.unread, reader.unpacked);
            lines.put_run(&run, "langgraph");
        }
    }
    lines.notes.extend(unread.notes());
    Ok(())
}

struct BranchReader<'a> {
    database: &'a Database,
    thread: &'a CellValue,
    points: &'a [Point],
    spaces: &'a BTreeMap<&'a [u8], Vec<usize>>,
    unread: UnreadValues,
    unpacked: usize,
}

impl BranchReader<'_> {
    /// Reads a branch, which may have left one of those before it.
    fn run(&mut self, branch: &Branch, before: &[Branch]) -> rusqlite::Result<StateRun> {
        let mut walk = BranchWalk::default();
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
        walk: &mut BranchWalk,
        branch: &Branch,
        space: &[u8],
        place: StepPlace,
    ) -> rusqlite::Result<Option<Checkpoint>> {
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
        walk: &mut BranchWalk,
        (point, before): (usize, &Checkpoint),
        next: Option<&Checkpoint>,
        space: &[u8],
        place: StepPlace,
    ) -> rusqlite::Result<()> {
        let Some(here) = self.points.get(point) else { return Ok(()) };
        let source = next.map(Checkpoint::source);
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
        let of_graph = |task: &GraphTask| match (task.path.is_empty(), is_update) {
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

    fn is_point(&self, at: usize, snapshot: &Checkpoint) -> bool {
        self.points.get(at).is_some_and(|point| point.row == snapshot.row)
    }

    /// Adds a task as a step, and those of its subgraph inside of it.
    fn task(
        &mut self,
        walk: &mut BranchWalk,
        mut task: GraphTask,
        (before, next): (&Checkpoint, Option<&Checkpoint>),
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
    fn subgraph(&self, task: &GraphTask, here: &Point, space: &[u8]) -> Option<(Vec<u8>, Branch)> {
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

    fn snapshot(&mut self, at: usize) -> rusqlite::Result<Checkpoint> {
        let row = self.points.get(at).map_or(0, |point| point.row);
        let may_unpack = self.unpacked < MAX_UNPACKED;
        let (snapshot, len) = snapshot::read(self.database, row, may_unpack, &mut self.unread)?;
        self.unpacked += len;
        Ok(snapshot)
    }
}
