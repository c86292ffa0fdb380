//! The checkpoints of a thread as branches: from each one without a successor back to the first.

use std::collections::{BTreeMap, HashMap, HashSet};

/// Number of branches of a thread that are read.
const MAX_BRANCHES: usize = 64;

/// A checkpoint, as far as its place among the others goes.
#[derive(Default)]
pub(super) struct Point {
    pub row: i64,
    pub space: Vec<u8>,
    pub id: Vec<u8>,
    pub parent: Option<Vec<u8>>,
    /// The checkpoint of the outermost graph at which its subgraph was run.
    pub outer: Vec<u8>,
    /// Cause of it: an input, a loop of the graph, an update.
    pub source: Vec<u8>,
    /// The first checkpoint with which the graph went on from it.
    pub first_loop: Option<usize>,
    /// Somebody updated the state behind it.
    pub is_updated: bool,
}

/// The checkpoints of a branch, the first one first.
pub(super) struct Branch {
    pub path: Vec<usize>,
}

impl Branch {
    /// Finds where it left another one that is before it: the last checkpoint of both.
    pub(super) fn left(&self, before: &[Self]) -> Option<usize> {
        let common = |other: &Self| self.path.iter().zip(&other.path).take_while(|(a, b)| a == b).count();
        let longest = before.iter().map(common).max()?;
        self.path.get(longest.checked_sub(1)?).copied()
    }
}

/// Sorts checkpoints by the namespace of their graph.
pub(super) fn by_namespace(points: &[Point]) -> BTreeMap<&[u8], Vec<usize>> {
    let mut spaces: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (at, point) in points.iter().enumerate() {
        spaces.entry(point.space.as_slice()).or_default().push(at);
    }
    spaces
}

/// Notes of each checkpoint with which one the graph went on first.
pub(super) fn link(points: &mut [Point]) {
    let places: HashMap<(Vec<u8>, Vec<u8>), usize> =
        points.iter().enumerate().map(|(at, point)| ((point.space.clone(), point.id.clone()), at)).collect();
    for at in 0..points.len() {
        let Some(point) = points.get(at) else { continue };
        let (is_loop, is_update) = (point.source == b"loop", point.source == b"update");
        let parent = point.parent.clone().and_then(|parent| places.get(&(point.space.clone(), parent)).copied());
        let Some(parent) = parent.and_then(|parent| points.get_mut(parent)) else { continue };
        parent.is_updated |= is_update;
        if is_loop {
            parent.first_loop.get_or_insert(at);
        }
    }
}

/// Lists the branches of some checkpoints, which are in the order of time, and counts those that are left out. Of
/// checkpoints that are their own ancestors, the last one is taken as the end.
pub(super) fn branches(points: &[Point], of: &[usize]) -> (Vec<Branch>, usize) {
    let places: HashMap<&[u8], usize> =
        of.iter().filter_map(|at| Some((points.get(*at)?.id.as_slice(), *at))).collect();
    let parent = |at: usize| places.get(points.get(at)?.parent.as_deref()?).copied();
    let parents: HashSet<usize> = of.iter().filter_map(|at| parent(*at)).collect();
    let mut leaves: Vec<usize> = of.iter().copied().filter(|at| !parents.contains(at)).collect();
    if leaves.is_empty() {
        leaves.extend(of.last());
    }
    let cut = leaves.len().saturating_sub(MAX_BRANCHES);
    leaves.truncate(MAX_BRANCHES);
    let path = |leaf: usize| {
        let (mut path, mut seen) = (Vec::new(), HashSet::new());
        let mut next = Some(leaf);
        while let Some(at) = next.filter(|at| seen.insert(*at)) {
            path.push(at);
            next = parent(at);
        }
        path.reverse();
        Branch { path }
    };
    (leaves.into_iter().map(path).collect(), cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(&str, &str)]) -> Vec<Point> {
        let point = |(id, parent): &(&str, &str)| Point {
            id: id.as_bytes().to_vec(),
            parent: (!parent.is_empty()).then(|| parent.as_bytes().to_vec()),
            ..Point::default()
        };
        all.iter().map(point).collect()
    }

    fn paths(all: &[(&str, &str)]) -> Vec<Vec<usize>> {
        let points = points(all);
        let of: Vec<usize> = (0..points.len()).collect();
        branches(&points, &of).0.into_iter().map(|branch| branch.path).collect()
    }

    #[test]
    fn each_end_is_a_branch() {
        assert_eq!(paths(&[("1", ""), ("2", "1"), ("3", "2"), ("4", "2")]), [vec![0, 1, 2], vec![0, 1, 3]]);
        assert_eq!(paths(&[("2", "1"), ("3", "2")]), [vec![0, 1]], "the first one was deleted");
        let two = paths(&[("1", ""), ("2", "1"), ("3", "1")]);
        let two: Vec<Branch> = two.into_iter().map(|path| Branch { path }).collect();
        assert_eq!(two[1].left(&two[..1]), Some(0));
        assert_eq!(two[0].left(&[]), None);
    }

    #[test]
    fn circles_end() {
        assert_eq!(paths(&[("1", "3"), ("2", "1"), ("3", "2")]), [vec![0, 1, 2]]);
        assert_eq!(paths(&[("1", "1")]), [vec![0]]);
        assert!(paths(&[]).is_empty());
        let comb: Vec<(String, String)> = (0..3_000).map(|n| (format!("{n:05}"), String::from("00000"))).collect();
        let comb: Vec<(&str, &str)> = comb.iter().map(|(id, parent)| (id.as_str(), parent.as_str())).collect();
        assert_eq!(paths(&comb).len(), MAX_BRANCHES);
    }
}
