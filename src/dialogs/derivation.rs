//! How a computed value comes about: a tree to fold and unfold, down to the quantities of the question.

pub(crate) mod draw;

use crate::app::computed::{ComputedValues, superscript};
use crate::widgets::keymap::Action;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::arithmetic::recompute::{Derivation, ValueBasis};
use stepscope_core::run::state::Badge;

/// Trees with more rows begin folded below their second level.
const OPEN_ROWS: usize = 16;

/// Subject of a row of the tree, to which Enter goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A value: its variable, and the step that writes it.
    Written {
        /// Index of the variable.
        variable: usize,
        /// Index of the step.
        step: usize,
    },
    /// A quantity of the question, by its number from 0.
    Quantity(usize),
}

/// One row.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The lines of the tree in front of it.
    pub joint: String,
    /// Text of the row.
    pub text: Shown,
    /// Subject of the row.
    pub origin: Origin,
    /// True if the rows that it rests on are hidden.
    pub folded: bool,
    /// Number of rows below it that belong to it.
    pub below: usize,
    depth: usize,
}

/// The tree and its folds.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Heading: the variable whose value is derived.
    pub title: Shown,
    /// Value that the run holds there, instead or as well.
    pub held: Shown,
    /// Badge that tells how that is known.
    pub badge: Badge,
    branches: Vec<Branch>,
}

impl Tree {
    /// A derivation as rows; quantities of the question are its leaves.
    pub fn of(title: Shown, (badge, held): (Badge, Shown), root: &Derivation, computed: &ComputedValues) -> Self {
        let mut branches = Vec::new();
        grow(root, ("  ".into(), "  ".into()), 0, computed, &mut branches);
        let mut tree = Self { title, held, badge, branches };
        if tree.branches.len() > OPEN_ROWS {
            for n in 0..tree.branches.len() {
                tree.set(n, tree.branches.get(n).is_some_and(|branch| branch.depth >= 1));
            }
        }
        tree
    }

    /// The rows that are not hidden.
    pub fn rows(&self) -> Vec<&Branch> {
        self.visible().into_iter().filter_map(|n| self.branches.get(n)).collect()
    }

    fn visible(&self) -> Vec<usize> {
        let (mut rows, mut next) = (Vec::new(), 0);
        while let Some(branch) = self.branches.get(next) {
            rows.push(next);
            next += if branch.folded { 1 + branch.below } else { 1 };
        }
        rows
    }

    /// Looks up the subject of a visible row.
    pub fn origin(&self, row: usize) -> Option<Origin> {
        Some(self.rows().get(row)?.origin)
    }

    /// Folds or unfolds at a row, and returns the row of the cursor after that; `None`: the action does neither.
    pub(crate) fn fold(&mut self, action: Action, row: usize) -> Option<usize> {
        let at = self.visible().get(row).copied();
        match action {
            Action::Left => return Some(at.and_then(|at| self.left(at)).unwrap_or(row)),
            Action::Right => return Some(row + usize::from(at.is_some_and(|at| self.right(at)))),
            Action::Fold => at.into_iter().for_each(|at| self.set(at, !self.is_folded(at))),
            Action::FoldAll | Action::UnfoldAll => {
                (0..self.branches.len()).for_each(|n| self.set(n, action == Action::FoldAll && n > 0));
                return Some(0);
            }
            _ => return None,
        }
        Some(row)
    }

    /// Unfolds a branch; `true`: it was open already and has something to go to.
    fn right(&mut self, at: usize) -> bool {
        let is_open = self.branches.get(at).is_some_and(|branch| !branch.folded && branch.below > 0);
        self.set(at, false);
        is_open
    }

    /// Folds a branch; if there is nothing to fold, the row of what rests on it.
    fn left(&mut self, at: usize) -> Option<usize> {
        let branch = self.branches.get(at)?;
        if branch.below > 0 && !branch.folded {
            self.set(at, true);
            return None;
        }
        let above = self.branches.iter().take(at).rposition(|other| other.depth < branch.depth)?;
        self.visible().iter().position(|row| *row == above)
    }

    fn is_folded(&self, at: usize) -> bool {
        self.branches.get(at).is_some_and(|branch| branch.folded)
    }

    fn set(&mut self, n: usize, folded: bool) {
        if let Some(branch) = self.branches.get_mut(n) {
            branch.folded = folded && branch.below > 0;
        }
    }

    /// The whole tree as text.
    pub fn text(&self) -> Shown {
        let lines: Vec<String> =
            self.branches.iter().map(|branch| format!("{}{}", branch.joint, branch.text.as_str())).collect();
        shown!("{}", lines.join("\n"))
    }
}

fn grow(node: &Derivation, joints: (String, String), depth: usize, computed: &ComputedValues, out: &mut Vec<Branch>) {
    let (first, rest) = joints;
    let at = out.len();
    let origin = Origin::Written { variable: node.variable, step: node.step };
    let quantities = quantities(node, computed);
    let text = line(node, !quantities.is_empty());
    out.push(Branch { joint: first, text, origin, folded: false, below: 0, depth });
    let count = node.from.len() + quantities.len();
    let joint = |n: usize, more: (&str, &str), last: (&str, &str)| {
        let (joint, below) = if n + 1 == count { last } else { more };
        (format!("{rest}{joint}"), format!("{rest}{below}"))
    };
    for (n, from) in node.from.iter().enumerate() {
        grow(from, joint(n, ("├ ", "│ "), ("└ ", "  ")), depth + 1, computed, out);
    }
    for (n, quantity) in quantities.into_iter().enumerate() {
        let Some(words) = computed.words(quantity) else { continue };
        let (joint, _) = joint(node.from.len() + n, ("├ ", ""), ("└ ", ""));
        let text = shown!("{} “{words}” in the question", superscript(quantity + 1));
        out.push(Branch { joint, text, origin: Origin::Quantity(quantity), folded: false, below: 0, depth: depth + 1 });
    }
    let below = out.len() - at - 1;
    if let Some(branch) = out.get_mut(at) {
        branch.below = below;
    }
}

/// The quantities of the question that a value rests on directly: the numbers in its calculation, or, where nothing
/// was calculated, those that it took up.
fn quantities(node: &Derivation, computed: &ComputedValues) -> Vec<usize> {
    let taken = computed.taken.get(node.variable).map(Vec::as_slice).unwrap_or_default();
    if node.from.is_empty() && node.formula.is_none() && !taken.is_empty() {
        return taken.to_vec();
    }
    let mut found: Vec<usize> =
        node.constants.iter().filter_map(|number| computed.quantity_of(number.float())).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Words a row; `of_question`: numbers of the question went into the value.
fn line(node: &Derivation, of_question: bool) -> Shown {
    let formula = node.formula.as_ref().map(|formula| format!(" = {formula}")).unwrap_or_default();
    let basis = match node.basis {
        ValueBasis::Plan => "",
        ValueBasis::Extracted if of_question => ", from the question",
        ValueBasis::Extracted | ValueBasis::Recorded => ", as the run has it",
        ValueBasis::Override => ", override",
    };
    shown!("{} = {}{formula}   (step {}{basis})", node.name, node.value.shown(), node.step + 1)
}
