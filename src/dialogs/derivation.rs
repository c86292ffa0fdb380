//! Derivation of a computed value: a tree to fold and unfold, down to the quantities of the question.

pub(crate) mod draw;

use crate::app::open_record::OpenRecord;
use crate::widgets::keymap::Action;
use crate::widgets::sign;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_judge::recompute::{Derivation, MAX_DEPTH, MAX_LINES, ValueBasis};
use stepscope_present::computed::superscript;
use stepscope_record::state::Badge;

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
    /// Value that the run recorded there, where it is another.
    pub recorded: Option<Recorded>,
    /// Subject of the row.
    pub origin: Origin,
    /// True if the rows that it rests on are hidden.
    pub folded: bool,
    /// Number of rows below it that belong to it.
    pub below: usize,
    depth: usize,
}

/// Value that the run recorded in place of a derived one.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its source.
    badge: Badge,
    /// The value as it is recorded.
    held: Shown,
    /// Relation to the derived value.
    pub departure: Departure,
}

/// Way in which a recorded value is not the derived one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// It is no number.
    Form,
    /// It is the calculation of the value, which was not carried out.
    Unevaluated,
    /// It is another value, and so is one that it rests on, or that cannot be told.
    Follows,
    /// It is another value, though it rests on the same ones: here the run left the proof.
    Leaves,
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
    pub fn of(title: Shown, (badge, held): (Badge, Shown), root: &Derivation, opened: &OpenRecord) -> Self {
        let mut branches = Vec::new();
        grow(root, ("  ".into(), "  ".into()), 0, opened, &mut branches);
        // Text and number of the answer are one value: it is named as it was asked for.
        if let Some(first) = branches.first_mut() {
            first.text = shown!("{title} = {}", said(root, !quantities(root, opened).is_empty()));
            if let Some(recorded) = &mut first.recorded {
                (recorded.badge, recorded.held) = (badge, held.clone());
            }
        }
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
        let line = |branch: &Branch| {
            let recorded = branch.recorded.as_ref().map(|recorded| format!("   {}", recorded.words()));
            format!("{}{}{}", branch.joint, branch.text, recorded.as_deref().unwrap_or(""))
        };
        shown!("{}", self.branches.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

/// Grows a node and what it rests on; tells whether all of it is as the run recorded it, but for its form.
fn grow(node: &Derivation, joints: (String, String), depth: usize, opened: &OpenRecord, out: &mut Vec<Branch>) -> bool {
    let (first, rest) = joints;
    let at = out.len();
    let origin = Origin::Written { variable: node.variable, step: node.step };
    let quantities = quantities(node, opened);
    let text = shown!("{} = {}", node.name, said(node, !quantities.is_empty()));
    out.push(Branch { joint: first, text, recorded: None, origin, folded: false, below: 0, depth });
    let count = node.from.len() + quantities.len();
    let joint = |n: usize, more: (&str, &str), last: (&str, &str)| {
        let (joint, below) = if n + 1 == count { last } else { more };
        (format!("{rest}{joint}"), format!("{rest}{below}"))
    };
    // What there was no room for is not known to be the same.
    let mut rests_on_same = depth < MAX_DEPTH && out.len() < MAX_LINES;
    for (n, from) in node.from.iter().enumerate() {
        rests_on_same &= grow(from, joint(n, ("├ ", "│ "), ("└ ", "  ")), depth + 1, opened, out);
    }
    for (n, quantity) in quantities.into_iter().enumerate() {
        let Some(words) = opened.computed.words(quantity) else { continue };
        let (joint, _) = joint(node.from.len() + n, ("├ ", ""), ("└ ", ""));
        let text = shown!("{} “{words}” in the question", superscript(quantity + 1));
        let origin = Origin::Quantity(quantity);
        out.push(Branch { joint, text, recorded: None, origin, folded: false, below: 0, depth: depth + 1 });
    }
    let below = out.len() - at - 1;
    let recorded = recorded(node, opened, rests_on_same);
    let is_same =
        recorded.as_ref().is_none_or(|recorded| matches!(recorded.departure, Departure::Form | Departure::Unevaluated));
    if let Some(branch) = out.get_mut(at) {
        (branch.below, branch.recorded) = (below, recorded);
    }
    is_same && rests_on_same
}

/// Finds what the run recorded in place of a derived value.
fn recorded(node: &Derivation, opened: &OpenRecord, rests_on_same: bool) -> Option<Recorded> {
    let computed = opened.computed.value_of(node.variable, Some(node.step))?;
    let row = opened.variables.get(node.variable)?;
    let write = row.writes.iter().find(|write| write.step == Some(node.step))?;
    let held = write.value.as_ref().map_or(Shown::own("nothing"), |value| value.line.clone());
    let departure = match computed.standing.relation {
        ToRecomputed::Same => return None,
        ToRecomputed::NotComparable => Departure::Form,
        ToRecomputed::Differs if computed.only_unevaluated => Departure::Unevaluated,
        ToRecomputed::Differs if rests_on_same => Departure::Leaves,
        ToRecomputed::Differs => Departure::Follows,
    };
    Some(Recorded { badge: write.badge, held, departure })
}

impl Recorded {
    /// Says what was recorded, and whether the run left the proof here.
    pub(crate) fn words(&self) -> Shown {
        let (badge, held) = (self.badge.label(), &self.held);
        match self.departure {
            Departure::Form => shown!("{badge} {held}"),
            Departure::Unevaluated => shown!("{badge} as a calculation: {held}"),
            Departure::Leaves => shown!("{} {badge} {held}: left here", sign::WRONG),
            Departure::Follows => shown!("{} {badge} {held}", sign::WRONG),
        }
    }
}

/// The quantities of the question that a value rests on directly: the numbers in its calculation, or, where nothing
/// was calculated, those that it took up.
fn quantities(node: &Derivation, opened: &OpenRecord) -> Vec<usize> {
    let computed = &opened.computed;
    let taken = computed.taken.get(node.variable).map(Vec::as_slice).unwrap_or_default();
    if node.from.is_empty() && node.formula.is_none() && !taken.is_empty() {
        return taken.to_vec();
    }
    let Some(step) = opened.steps.get(node.step) else { return Vec::new() };
    let source = |number: &(_, _)| computed.source_of(node.variable, *number, &step.text);
    let mut found: Vec<usize> = node.constants.iter().filter_map(source).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Words a value with its calculation; `of_question`: numbers of the question went into it.
fn said(node: &Derivation, of_question: bool) -> Shown {
    let formula = node.formula.as_ref().map(|formula| format!(" = {formula}")).unwrap_or_default();
    let basis = match node.basis {
        ValueBasis::Plan => "",
        ValueBasis::Extracted if of_question => ", from the question",
        ValueBasis::Extracted | ValueBasis::Recorded => ", as the run has it",
        ValueBasis::Override => ", override",
    };
    shown!("{}{formula}   (step {}{basis})", node.value.shown(), node.step + 1)
}
