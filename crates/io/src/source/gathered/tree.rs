//! Spans of a trace in the order of a tree: each behind its parent, those of one parent by time.

use std::collections::{HashMap, HashSet};

/// A span in a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanNode {
    pub id: u64,
    pub parent: Option<u64>,
    pub start: u64,
}

/// Place of a span among the steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placed {
    /// Its place among the spans that were given.
    pub node: usize,
    /// Place of its parent among the steps.
    pub parent: Option<usize>,
    pub depth: usize,
    /// It names a parent that is not there, or one below itself.
    pub is_orphan: bool,
}

/// Orders spans. One whose parent is missing is a root, and so is the first of those that are their own ancestors.
pub(super) fn in_order(nodes: &[SpanNode]) -> Vec<Placed> {
    let mut by_time: Vec<usize> = (0..nodes.len()).collect();
    by_time.sort_by_key(|at| nodes.get(*at).map(|node| node.start));
    let known: HashSet<u64> = nodes.iter().map(|node| node.id).collect();
    let (mut children, mut roots): (HashMap<u64, Vec<usize>>, Vec<usize>) = (HashMap::new(), Vec::new());
    for at in &by_time {
        let Some(node) = nodes.get(*at) else { continue };
        match node.parent.filter(|parent| *parent != node.id && known.contains(parent)) {
            Some(parent) => children.entry(parent).or_default().push(*at),
            None => roots.push(*at),
        }
    }
    let mut placed = Vec::with_capacity(nodes.len());
    let mut visited = vec![false; nodes.len()];
    // What no root leads to is a circle: it begins with the earliest.
    for root in roots.into_iter().chain(by_time) {
        let mut stack = vec![(root, None, 0)];
        while let Some((at, parent, depth)) = stack.pop() {
            let (Some(node), Some(seen)) = (nodes.get(at), visited.get_mut(at)) else { continue };
            if std::mem::replace(seen, true) {
                continue;
            }
            let step = placed.len();
            placed.push(Placed { node: at, parent, depth, is_orphan: parent.is_none() && node.parent.is_some() });
            // Taken out: of two spans with one id the first has the children.
            let below = children.remove(&node.id).into_iter().flatten().rev();
            stack.extend(below.map(|child| (child, Some(step), depth + 1)));
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(nodes: &[(u64, Option<u64>, u64)]) -> Vec<(usize, Option<usize>, bool)> {
        let nodes: Vec<SpanNode> =
            nodes.iter().map(|(id, parent, start)| SpanNode { id: *id, parent: *parent, start: *start }).collect();
        in_order(&nodes).iter().map(|placed| (placed.node, placed.parent, placed.is_orphan)).collect()
    }

    #[test]
    fn children_come_behind_their_parents_by_time() {
        let nodes = [(3, Some(1), 30), (2, Some(1), 20), (4, Some(2), 25), (1, None, 20)];
        assert_eq!(order(&nodes), [(3, None, false), (1, Some(0), false), (2, Some(1), false), (0, Some(0), false)]);
    }

    #[test]
    fn a_missing_parent_a_circle_and_a_twin_hide_nothing() {
        assert_eq!(order(&[(1, Some(9), 5)]), [(0, None, true)]);
        assert_eq!(
            order(&[(1, Some(2), 6), (2, Some(1), 5), (3, Some(3), 1)]),
            [(2, None, true), (1, None, true), (0, Some(1), false)]
        );
        assert_eq!(order(&[(1, None, 1), (1, None, 2), (2, Some(1), 3)]).len(), 3);
    }
}
