//! Which record is a fork of which: read from the files of forks, the parents found by the hash of their text.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stepscope_io::log::forks::KnownFork;
pub(crate) use stepscope_io::pipeline::snapshot::Address;
use stepscope_io::pipeline::store::Store;
use stepscope_record::fork_origin::ForkOrigin;

/// Largest number of forks put under their parents; further ones are listed on their own.
const MAX_FORKS: usize = 1 << 16;
/// The execution of what is no fork, or a fork of what is not there.
pub(crate) const RECORDED: &str = "recorded";

/// A fork in its tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Member {
    parent: Address,
    root: Address,
    /// The number among all forks of the root, from 1, by age.
    number: usize,
    /// Number of forks on the way from the root to this one, itself counted, from 1.
    depth: usize,
}

/// See the module.
#[derive(Debug, Default)]
pub struct ForkTree {
    /// Known facts of each fork, by age.
    known: BTreeMap<Address, KnownFork>,
    /// Forks whose marks were asked for.
    asked: HashSet<Address>,
    /// Addresses of the records that forks name, by hash.
    places: HashMap<String, Address>,
    members: HashMap<Address, Member>,
    /// Roots with their forks, each behind its parent.
    trees: HashMap<Address, Vec<Address>>,
    /// Addresses of duplicate lines: the second does not count.
    twice: HashSet<Address>,
    /// Number of records among which parents were looked for.
    pub looked_to: usize,
}

impl ForkTree {
    /// Tells whether there are no forks.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Lists the forks of a source that were not asked about yet, and marks them as asked about.
    pub fn ask(&mut self, store: &Store, source: usize) -> Vec<(Address, usize)> {
        let room = MAX_FORKS.saturating_sub(self.asked.len());
        let rows = store.positions(source).filter_map(|record| Some((store.address(record)?, record)));
        let fresh: Vec<_> = rows.filter(|(address, _)| !self.asked.contains(address)).take(room).collect();
        self.asked.extend(fresh.iter().map(|(address, _)| *address));
        fresh
    }

    /// Forgets a source that is read from the start again.
    pub(crate) fn forget(&mut self, source: usize) {
        self.known.retain(|address, _| address.0 != source);
        self.asked.retain(|address| address.0 != source);
        self.places.retain(|_, address| address.0 != source);
        self.looked_to = 0;
        self.arrange();
    }

    /// Takes what was read of forks.
    pub(crate) fn take_fork_origins(&mut self, known: Vec<(Address, Option<KnownFork>)>) {
        let known = known.into_iter().filter_map(|(address, known)| Some((address, known?)));
        self.known.extend(known.filter(|(address, _)| self.asked.contains(address)));
        // The new ones may have other parents.
        self.looked_to = 0;
        self.arrange();
    }

    /// Notes the address of the record with this hash.
    pub fn know(&mut self, hash: String, address: Address) {
        self.places.insert(hash, address);
    }

    /// Takes the parents that were found.
    pub(crate) fn take_parents(&mut self, found: Vec<(String, Address)>) {
        for (hash, address) in found {
            self.places.entry(hash).or_insert(address);
        }
        self.arrange();
    }

    /// Hashes of parents that were not found yet.
    pub fn missing(&self) -> BTreeSet<String> {
        self.orphans().map(|fork_origin| fork_origin.parent_sha256.clone()).collect()
    }

    /// Collects the lengths in bytes of the parents that were not found yet; `None`: not all forks tell the length.
    pub(crate) fn missing_lengths(&self) -> Option<HashSet<u64>> {
        self.orphans().map(|fork_origin| fork_origin.parent_bytes).collect()
    }

    fn orphans(&self) -> impl Iterator<Item = &ForkOrigin> {
        let all = self.known.iter().filter(|(address, _)| !self.members.contains_key(*address));
        all.filter_map(|(_, known)| known.fork_origin.as_ref())
            .filter(|fork_origin| !fork_origin.parent_sha256.is_empty())
    }

    fn arrange(&mut self) {
        let mut own: HashMap<&str, Address> = HashMap::new();
        self.twice.clear();
        for (address, known) in &self.known {
            if *own.entry(&known.hash).or_insert(*address) != *address {
                self.twice.insert(*address);
            }
        }
        let parent_of = |address: &Address| {
            let hash = &self.known.get(address)?.fork_origin.as_ref()?.parent_sha256;
            own.get(hash.as_str()).or_else(|| self.places.get(hash)).copied()
        };
        let mut children: BTreeMap<Address, Vec<Address>> = BTreeMap::new();
        for address in self.known.keys().filter(|address| !self.twice.contains(*address)) {
            if let Some(parent) = parent_of(address) {
                children.entry(parent).or_default().push(*address);
            }
        }
        let (mut members, mut trees) = (HashMap::new(), HashMap::new());
        for root in children.keys().filter(|address| parent_of(address).is_none()) {
            let mut fork_tree: Vec<Address> = Vec::new();
            let mut waiting = vec![(*root, *root, 0)];
            while let Some((address, parent, depth)) = waiting.pop() {
                if depth > 0 {
                    fork_tree.push(address);
                    members.insert(address, Member { parent, root: *root, number: 0, depth });
                }
                let below = children.get(&address).into_iter().flatten().rev();
                waiting.extend(below.map(|child| (*child, address, depth + 1)));
            }
            let mut by_age = fork_tree.clone();
            by_age.sort_unstable();
            for (n, address) in by_age.iter().enumerate() {
                members.entry(*address).and_modify(|member| member.number = n + 1);
            }
            trees.insert(*root, fork_tree);
        }
        (self.members, self.trees) = (members, trees);
    }

    /// Lists the addresses of the forks.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        self.known.keys().copied()
    }

    /// Looks up the known facts of a fork.
    pub fn fork(&self, address: Address) -> Option<&KnownFork> {
        self.known.get(&address)
    }

    /// Looks up the address of a fork's parent.
    pub fn parent(&self, address: Address) -> Option<Address> {
        self.members.get(&address).map(|member| member.parent)
    }

    /// Looks up the address of a fork's root: the record that it goes back to.
    pub fn root(&self, address: Address) -> Option<Address> {
        self.members.get(&address).map(|member| member.root)
    }

    /// Looks up a fork: its known facts, its address, and whether its parent was found.
    pub(crate) fn fork_of(&self, store: &Store, record: usize) -> Option<(&KnownFork, Address, bool)> {
        let address = store.address(record)?;
        Some((self.fork(address)?, address, self.root(address).is_some()))
    }

    /// Tells whether a record is a fork.
    pub(crate) fn is_fork(&self, store: &Store, record: usize) -> bool {
        self.fork_of(store, record).is_some()
    }

    /// Finds the parent of a fork, if it is here.
    pub(crate) fn parent_of(&self, store: &Store, record: usize) -> Option<usize> {
        let (source, byte) = self.parent(store.address(record)?)?;
        store.position(source, byte)
    }

    /// Finds the recorded original of a record: itself, or the root of a fork.
    pub(crate) fn root_of(&self, store: &Store, record: usize) -> usize {
        // Most files have no forks.
        let address = if self.is_empty() { None } else { store.address(record) };
        let root = address.and_then(|address| self.root(address));
        root.and_then(|(source, byte)| store.position(source, byte)).unwrap_or(record)
    }

    /// Counts the forks between a fork and what was recorded, itself counted.
    pub fn depth(&self, address: Address) -> usize {
        self.members.get(&address).map_or(0, |member| member.depth)
    }

    /// The execution of a record: [`RECORDED`], `r1` the first fork of such a record, and so on.
    pub fn execution(&self, address: Address) -> String {
        self.members.get(&address).map_or_else(|| RECORDED.to_owned(), |member| format!("r{}", member.number))
    }

    /// Lists a record and its forks in the order of the table, whichever of them is given; a record without forks
    /// alone.
    pub fn of(&self, address: Address) -> Vec<Address> {
        let root = self.root(address).unwrap_or(address);
        std::iter::once(root).chain(self.trees.get(&root).into_iter().flatten().copied()).collect()
    }

    /// Orders the table with forks below what they come from, and lists the rows of these forks; then of these the rows
    /// that were not there themselves. A fork is there if it was there itself, or with `all` if its root is; without
    /// its root it is listed like any record.
    pub fn order(&self, store: &Store, rows: &[u32], all: bool) -> [Vec<u32>; 3] {
        let position = |(source, byte): Address| store.position(source, byte).and_then(|at| u32::try_from(at).ok());
        // Most records have nothing to do with forks: of them one bit is asked.
        let mut there = vec![false; store.len()];
        let mut apart = vec![false; store.len()];
        for row in rows {
            there.get_mut(*row as usize).into_iter().for_each(|there| *there = true);
        }
        let mut set_apart = |record: u32| apart.get_mut(record as usize).into_iter().for_each(|apart| *apart = true);
        let mut roots: HashMap<u32, u32> = HashMap::new();
        for (fork, member) in &self.members {
            if let (Some(fork), Some(root)) = (position(*fork), position(member.root)) {
                roots.insert(fork, root);
                set_apart(fork);
            }
        }
        let twice: HashSet<u32> = self.twice.iter().filter_map(|fork| position(*fork)).collect();
        for fork in &twice {
            set_apart(*fork);
        }
        let mut trees: HashMap<u32, &Vec<Address>> = HashMap::new();
        for (root, fork_tree) in &self.trees {
            if let Some(root) = position(*root) {
                trees.insert(root, fork_tree);
                set_apart(root);
            }
        }
        let is = |bits: &[bool], record: u32| bits.get(record as usize).copied().unwrap_or(false);
        let [mut order, mut forks, mut carried] = [Vec::with_capacity(rows.len()), Vec::new(), Vec::new()];
        for row in rows {
            if !is(&apart, *row) {
                order.push(*row);
                continue;
            }
            if twice.contains(row) || roots.get(row).is_some_and(|root| is(&there, *root)) {
                continue;
            }
            order.push(*row);
            let own = trees.get(row).into_iter().flat_map(|fork_tree| fork_tree.iter());
            for fork in own.filter_map(|fork| position(*fork)).filter(|fork| all || is(&there, *fork)) {
                if !is(&there, fork) {
                    carried.push(order.len() as u32);
                }
                forks.push(order.len() as u32);
                order.push(fork);
            }
        }
        [order, forks, carried]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fork(hash: &str, parent: &str) -> KnownFork {
        let fork_origin =
            ForkOrigin { parent_sha256: parent.to_owned(), parent_bytes: Some(3), ..ForkOrigin::default() };
        KnownFork { hash: hash.to_owned(), fork_origin: Some(fork_origin) }
    }

    fn fork_tree(known: &[(u64, &str, &str)]) -> ForkTree {
        let known: Vec<_> = known.iter().map(|(at, hash, parent)| ((1, *at), Some(fork(hash, parent)))).collect();
        let mut fork_tree =
            ForkTree { asked: known.iter().map(|(address, _)| *address).collect(), ..ForkTree::default() };
        fork_tree.take_fork_origins(known);
        fork_tree
    }

    #[test]
    fn forks_are_numbered_by_age_and_stand_below_their_parents() {
        let mut fork_tree = fork_tree(&[(0, "a", "root"), (1, "b", "root"), (2, "c", "a"), (3, "x", "nowhere")]);
        assert_eq!(fork_tree.missing(), ["root", "nowhere"].map(str::to_owned).into());
        fork_tree.take_parents(vec![("root".into(), (0, 7))]);
        let names = |fork_tree: &ForkTree| {
            fork_tree.of((0, 7)).into_iter().map(|address| fork_tree.execution(address)).collect::<Vec<_>>()
        };
        assert_eq!(names(&fork_tree), ["recorded", "r1", "r3", "r2"]);
        assert_eq!(
            (fork_tree.depth((1, 2)), fork_tree.parent((1, 2)), fork_tree.root((1, 2))),
            (2, Some((1, 0)), Some((0, 7)))
        );
        assert_eq!(fork_tree.missing(), ["nowhere".to_owned()].into());
        assert_eq!(fork_tree.missing_lengths(), Some([3].into()));
        fork_tree.forget(1);
        assert_eq!(names(&fork_tree), ["recorded"]);
    }

    #[test]
    fn a_line_that_stands_there_twice_counts_once_and_circles_end() {
        let mut same = fork_tree(&[(0, "a", "root"), (1, "a", "root")]);
        same.know("root".into(), (0, 0));
        same.arrange();
        assert_eq!(same.of((0, 0)), [(0, 0), (1, 0)]);
        let circle = fork_tree(&[(0, "a", "b"), (1, "b", "a"), (2, "c", "c")]);
        assert!(circle.trees.is_empty() && circle.of((1, 0)) == [(1, 0)]);
    }
}
