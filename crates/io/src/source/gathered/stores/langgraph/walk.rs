//! A run on the way along a branch: its steps, and what it began with.

use std::collections::BTreeMap;

use super::super::super::plain::{Members, Plain, object};
use super::super::state_run::{MAX_RUN, StateRun, StepPlace};
use super::branches::{Branch, Point};
use super::snapshot::{Checkpoint, is_variable};
use super::tasks::{GraphTask, NameWay};

/// Size of a run up to which a list that grew is told as a whole with each step.
pub(super) const MAX_WHOLE: usize = MAX_RUN / 2;

/// State on the way along a branch.
#[derive(Default)]
pub(super) struct BranchWalk {
    pub run: StateRun,
    /// Lists of which only the changes are kept, as far as appending gives them.
    pub appended: BTreeMap<Vec<u8>, Option<Vec<Plain>>>,
    /// Nodes of the graphs around the one that is read.
    pub nodes: Vec<u8>,
}

/// Adds a task as a step.
pub(super) fn add_task(
    walk: &mut BranchWalk,
    task: &GraphTask,
    (before, next): (&Checkpoint, Option<&Checkpoint>),
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
pub(super) fn add_replies(walk: &mut BranchWalk, task: &GraphTask, step: usize, place: StepPlace) {
    for reply in task.replies() {
        let model = reply.iter().find(|(key, _)| key == b"model").map(|(_, model)| model.clone());
        walk.run.model = model.or(walk.run.model.take());
        walk.run.step(StepPlace { parent: Some(step), depth: place.depth + 1 }, reply);
    }
}

/// Says of a run which branch of its thread it is.
pub(super) fn finish(run: &mut StateRun, thread: Option<&Plain>, branch: &Branch, before: &[Branch], points: &[Point]) {
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
pub(super) fn update_step(outputs: Members, next: &Checkpoint) -> Members {
    let body = vec![
        (b"name".to_vec(), Plain::text_of(b"update_state")),
        (b"outputs".to_vec(), Plain::Object(outputs)),
        (b"span_kind".to_vec(), Plain::text_of(b"update")),
    ];
    with_saved(body, Some(next))
}

/// Returns a step that is what the graph was given later on.
pub(super) fn input_step(given: Members, before: &Checkpoint) -> Members {
    let body = vec![
        (b"name".to_vec(), Plain::text_of(b"input")),
        (b"outputs".to_vec(), Plain::Object(given)),
        (b"span_kind".to_vec(), Plain::text_of(b"user")),
    ];
    with_saved(body, Some(before))
}

pub(super) fn with_saved(mut body: Members, snapshot: Option<&Checkpoint>) -> Members {
    body.extend(snapshot.and_then(|snapshot| snapshot.saved.clone()).map(|saved| (b"saved_utc".to_vec(), saved)));
    body
}

/// Appends what tasks wrote to the lists of which only the changes are kept. One that is written as something else is not
/// known any more, until it is stored again.
pub(super) fn append(
    appended: &mut BTreeMap<Vec<u8>, Option<Vec<Plain>>>,
    next: Option<&Checkpoint>,
    tasks: &[GraphTask],
) {
    let Some(next) = next else { return };
    for name in &next.changes_only {
        let list = appended.entry(name.clone()).or_insert_with(|| Some(Vec::new()));
        let mut in_order: Vec<&GraphTask> = tasks.iter().collect();
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
pub(super) fn append_nothing(appended: &mut BTreeMap<Vec<u8>, Option<Vec<Plain>>>, next: &Checkpoint) {
    for name in &next.changes_only {
        appended.insert(name.clone(), None);
    }
    store(appended, next);
}

/// Takes the lists that are stored.
pub(super) fn store(appended: &mut BTreeMap<Vec<u8>, Option<Vec<Plain>>>, next: &Checkpoint) {
    for (name, value) in next.values.iter().filter(|(name, _)| is_variable(name)) {
        let known = appended.contains_key(name) || next.snapshots.contains(name);
        if let (true, Plain::List(items)) = (known, value) {
            appended.insert(name.clone(), Some(items.clone()));
        }
    }
}
