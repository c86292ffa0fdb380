//! The tables of the dashboard: where to fix, labels over time, and how often the rules and the judged place to fix
//! were right. Every number knows the records that it counts, under a name by which the table can be filtered.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::agreement::{MAX_PAIRED, Measure};
use super::estimate::Accuracy;
use super::event::{Event, GoldStatus, Text, Verdict};
use super::fold::{ItemReviews, Outcome, Reviews};
use super::join::{Index, Joined, JoinedItem};
use super::labels::LabelSets;
use super::stats::Share;
use crate::summary::Summary;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::triage::Fix;

/// Maximum number of lines in a table.
const MAX_LINES: usize = 400;
/// Maximum number of time columns, the last ones being kept. It is also the number of days up to which labels are
/// counted by the day; over more they are counted by the month.
const MAX_TIMES: usize = 12;
/// Maximum length of a name in a filter, in characters.
const MAX_NAME: usize = 48;

/// A number, and the name of the set of records that it counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DashboardCell {
    /// Number of records.
    pub count: usize,
    /// The filter that shows them: `board:...`.
    pub set: String,
}

/// Line of a table of the dashboard.
#[derive(Clone, PartialEq, Debug)]
pub struct DashboardLine {
    /// Depth of indentation: the line is a part of the line above that is indented less.
    pub depth: usize,
    /// Name of what is counted.
    pub name: Shown,
    /// The numbers, under the heads; `None`: there is nothing. None at all: the line names those below it.
    pub cells: Vec<Option<DashboardCell>>,
    /// Remark at the end of the line.
    pub tail: Shown,
    /// Interval of a share: its lower end, the share itself, its upper end.
    pub interval: Option<[f64; 3]>,
}

/// One table of the dashboard.
#[derive(Clone, PartialEq, Debug)]
pub struct DashboardTable {
    /// Title.
    pub title: &'static str,
    /// The heads of its columns.
    pub heads: Vec<Shown>,
    /// Lines of the table.
    pub lines: Vec<DashboardLine>,
    /// Some lines are not listed.
    pub more: bool,
}

/// Tables of counts for the screen, and the records of every number.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Dashboard {
    /// Tables that have a line.
    pub boards: Vec<DashboardTable>,
    /// The records of every number, by position.
    pub sets: HashMap<String, Vec<usize>>,
    /// Judged items among the records.
    pub judged: usize,
    /// Items of these files whose records are gone: they are not counted.
    pub gone: usize,
    /// Judged items of other files: they are not counted.
    pub elsewhere: usize,
}

type Items = BTreeSet<usize>;

/// Something that is counted, and its parts.
#[derive(Debug, Default)]
struct CountTree {
    items: Items,
    /// Parts, by a number that orders them, and their names.
    parts: BTreeMap<(u64, String), CountTree>,
}

impl CountTree {
    /// Counts a record here and in each part on the way.
    fn add(&mut self, item: usize, way: &[(u64, String)]) {
        self.items.insert(item);
        if let Some((first, rest)) = way.split_first() {
            self.parts.entry(first.clone()).or_default().add(item, rest);
        }
    }
}

impl Dashboard {
    /// Counts all records. `steps` has the step to fix in each, where one is named.
    pub fn of(reviews: &Reviews, summaries: &[Summary], steps: &[Option<u64>]) -> Self {
        let mut boards = Self::default();
        let Tallies { said, rules, triage, gold, outcomes, reviewers, accuracy } = boards.count(reviews, summaries);
        let outcomes = outcomes.iter().map(|(outcome, items)| (outcome.word(), items));
        // A figure comes first; why there is none comes last.
        let is_stated = matches!(accuracy, Accuracy::Stated(_));
        if is_stated {
            boards.accuracy(&accuracy);
        }
        boards.plain("Reviews", "outcome", outcomes);
        boards.tree("Where to fix: reviewers", "fix", &said.fixes);
        let mut judged = CountTree::default();
        for (at, fix) in summaries.iter().enumerate().filter_map(|(at, summary)| Some((at, summary.fix?))) {
            if fix != Fix::None {
                let step = steps.get(at).copied().flatten();
                let way: Vec<_> =
                    std::iter::once((fix as u64, fix.word().to_owned())).chain(step.map(step_part)).collect();
                judged.add(at, &way);
            }
        }
        boards.tree("Where to fix: automatic", "triage", &judged);
        boards.over_time("Labels of failures", "label", &said.labels, true);
        boards.shares("Rule precision", "rule", ["failed", "passed"], &rules);
        boards.shares("Where-to-fix accuracy", "place", ["people agree", "they do not"], &triage);
        boards.plain("Expected answers", "gold", gold.iter().map(|(status, items)| (status.word(), items)));
        boards.over_time("Pace: items by reviewer", "pace", &reviewers.decided, false);
        boards.pairs(&reviewers.pairs);
        if !is_stated {
            boards.accuracy(&accuracy);
        }
        boards
    }

    fn count(&mut self, reviews: &Reviews, summaries: &[Summary]) -> Tallies {
        let (sets, index) = (reviews.label_sets().for_people(), Index::of(summaries));
        let (mut said, mut rules, mut triage) = (FailedItems::default(), Shares::new(), Shares::new());
        let (mut gold, mut outcomes) = (BTreeMap::<GoldStatus, Items>::new(), BTreeMap::<Outcome, Items>::new());
        let mut reviewers = Reviewers::default();
        let joined = index.join(reviews);
        let accuracy = joined.accuracy();
        let Joined { items, gone, elsewhere, .. } = joined;
        let is_judged = |reviewed: ItemReviews<'_>| !reviewed.verdicts().is_empty();
        self.gone += gone.len();
        self.elsewhere += elsewhere.into_iter().filter(|reviewed| is_judged(*reviewed)).count();
        for JoinedItem { reviewed, at, summary } in items.into_iter().filter(|item| is_judged(item.reviewed)) {
            let Some((summary, at)) = summary.zip(at) else {
                self.gone += 1;
                continue;
            };
            self.judged += 1;
            reviewers.add(at, reviewed.verdicts().into_iter().filter(|event| reviewed.is_fresh(event)).collect());
            let (fresh, outcome) = (reviewed.fresh(), reviewed.outcome());
            outcomes.entry(outcome).or_default().insert(at);
            if let Some(status) = reviewed.gold() {
                gold.entry(status).or_default().insert(at);
            }
            if matches!(outcome, Outcome::Pass | Outcome::Fail) {
                for rule in fresh.iter().filter_map(|event| event.findings.as_ref()).flatten() {
                    let side = usize::from(outcome == Outcome::Pass);
                    share(&mut rules, rule.line(), at, side);
                }
            }
            if outcome == Outcome::Fail {
                said.add(at, &fresh, &sets);
                if let Some((target, fix)) = target_of(&fresh).zip(summary.fix).filter(|(_, fix)| is_place(*fix)) {
                    share(&mut triage, Shown::own(fix.word()), at, usize::from(*target != fix.word()));
                }
            }
        }
        Tallies { said, rules, triage, gold, outcomes, reviewers, accuracy }
    }

    fn push(&mut self, title: &'static str, heads: Vec<Shown>, mut lines: Vec<DashboardLine>) {
        let more = lines.len() > MAX_LINES;
        lines.truncate(MAX_LINES);
        if !lines.is_empty() {
            self.boards.push(DashboardTable { title, heads, lines, more });
        }
    }

    /// Lists the share of all records that pass, and the drawn records that tell it.
    fn accuracy(&mut self, accuracy: &Accuracy) {
        let Some(phrase) = accuracy.phrase() else { return };
        let row = |depth: usize, name: Shown, cells: Vec<Option<DashboardCell>>, interval: Option<[f64; 3]>| {
            DashboardLine { depth, name, cells, tail: Shown::default(), interval }
        };
        let mut lines = vec![row(0, phrase, Vec::new(), None)];
        let mut heads = Vec::new();
        if let Accuracy::Stated(estimate) = accuracy {
            heads.extend(SIDES.map(Shown::own));
            let sides = SIDES.into_iter().zip(&estimate.judged);
            let cells = sides.map(|(side, items)| self.cell(&["accuracy", side], &items.iter().copied().collect()));
            let [low, high] = estimate.ends();
            lines.push(row(1, Shown::own("in the order drawn"), cells.collect(), Some([low, estimate.share, high])));
        }
        self.push("Accuracy of all records", heads, lines);
    }

    /// Names a set of records.
    fn cell(&mut self, way: &[&str], items: &Items) -> Option<DashboardCell> {
        if items.is_empty() {
            return None;
        }
        let name: Vec<String> = way.iter().map(|part| plain(part)).collect();
        let mut set = format!("board:{}", name.join("/"));
        // Two names may look the same once they are plain.
        while self.sets.contains_key(&set) {
            set.push('~');
        }
        self.sets.insert(set.clone(), items.iter().copied().collect());
        Some(DashboardCell { count: items.len(), set })
    }

    fn tree(&mut self, title: &'static str, name: &str, root: &CountTree) {
        let mut lines = Vec::new();
        self.branch(&mut vec![name.to_owned()], root, &mut lines);
        self.push(title, vec![Shown::own("items")], lines);
    }

    /// Lists the parts of a node, the most frequent first, each with its own parts below it.
    fn branch(&mut self, way: &mut Vec<String>, node: &CountTree, lines: &mut Vec<DashboardLine>) {
        let mut parts: Vec<_> = node.parts.iter().collect();
        parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.items.len()));
        for ((_, name), part) in parts {
            if lines.len() > MAX_LINES {
                return;
            }
            way.push(name.clone());
            let cell = self.cell(&way.iter().map(String::as_str).collect::<Vec<_>>(), &part.items);
            let depth = way.len().saturating_sub(2);
            lines.push(DashboardLine {
                depth,
                name: shown!("{name}"),
                cells: vec![cell],
                tail: Shown::default(),
                interval: None,
            });
            self.branch(way, part, lines);
            way.pop();
        }
    }

    /// Items by what was given to them and when, the most frequent first; `sums`: with the share that the lines have
    /// together down to each.
    fn over_time(&mut self, title: &'static str, name: &str, given: &GivenAt, sums: bool) {
        let mut times = TimeColumns::of(&given.values().flat_map(BTreeMap::values));
        // One time tells nothing that the items do not.
        if times.columns.len() < 2 {
            times.columns.clear();
        }
        let mut heads = vec![Shown::own("items")];
        heads.extend(times.columns.iter().map(|time| shown!("{}", times.head(time))));
        let mut rows: Vec<_> = given.iter().collect();
        rows.sort_by_key(|(_, items)| std::cmp::Reverse(items.len()));
        let whole: usize = given.values().map(BTreeMap::len).sum();
        let (mut lines, mut so_far) = (Vec::new(), 0);
        for (what, items) in rows.into_iter().take(MAX_LINES + 1) {
            let mut cells = vec![self.cell(&[name, what], &items.keys().copied().collect())];
            for time in &times.columns {
                let then = items.iter().filter(|(_, given)| times.of_text(given) == *time).map(|(item, _)| *item);
                cells.push(self.cell(&[name, what, time], &then.collect()));
            }
            so_far += items.len();
            let share = so_far as f64 / whole.max(1) as f64;
            let tail = if sums { shown!("{:3.0} % cumulative", share * 100.0) } else { Shown::default() };
            lines.push(DashboardLine { depth: 0, name: shown!("{what}"), cells, tail, interval: None });
        }
        self.push(title, heads, lines);
    }

    /// The confusion matrix of each two reviewers, with how far they agree.
    fn pairs(&mut self, pairs: &BTreeMap<[String; 2], [Items; 4]>) {
        let mut lines = Vec::new();
        for ([one, other], sides) in pairs.iter().take(MAX_LINES + 1) {
            let votes = |(side, items): (usize, &Items)| vec![vec![side >> 1 == 1, side & 1 == 1]; items.len()];
            let measure = Measure::of(&sides.iter().enumerate().flat_map(votes).collect::<Vec<_>>());
            let way = format!("{one}+{other}");
            let mut cells = VOTES.iter().zip(sides).map(|(side, items)| self.cell(&["pair", &way, side], items));
            let mut row = |name: &'static str, tail: Shown, interval: Option<[f64; 3]>| {
                let (name, cells) = (Shown::own(name), cells.by_ref().take(2).collect());
                DashboardLine { depth: 1, name, cells, tail, interval }
            };
            let share = Share { hits: measure.agreed, of: measure.items };
            let [agreed, kappa] = measure.phrases_of_two();
            let (name, tail) = (shown!("A {one}, B {other}"), Shown::default());
            lines.push(DashboardLine { depth: 0, name, cells: Vec::new(), tail, interval: None });
            lines.extend([row("A passes", agreed, share.interval()), row("A fails", kappa, None)]);
        }
        self.push("Agreement by pair of reviewers", ["B passes", "B fails"].map(Shown::own).into(), lines);
    }

    fn shares(&mut self, title: &'static str, name: &str, heads: [&'static str; 2], shares: &Shares) {
        let mut lines = Vec::new();
        for (what, sides) in shares.iter().take(MAX_LINES + 1) {
            let [hits, others] = sides;
            let share = Share { hits: hits.len() as u64, of: hits.union(others).count() as u64 };
            let cells =
                [(heads[0], hits), (heads[1], others)].map(|(side, items)| self.cell(&[name, what, side], items));
            lines.push(DashboardLine {
                depth: 0,
                name: shown!("{what}"),
                cells: cells.into(),
                tail: shown!("{}", share.phrase()),
                interval: share.interval(),
            });
        }
        self.push(title, heads.map(Shown::own).into(), lines);
    }

    fn plain<'i>(&mut self, title: &'static str, name: &str, counts: impl Iterator<Item = (&'static str, &'i Items)>) {
        let mut lines = Vec::new();
        for (word, items) in counts {
            let cell = self.cell(&[name, word], items);
            lines.push(DashboardLine {
                depth: 0,
                name: Shown::own(word),
                cells: vec![cell],
                tail: Shown::default(),
                interval: None,
            });
        }
        self.push(title, vec![Shown::own("items")], lines);
    }
}

/// Items where each thing was right, and those where it was not.
type Shares = BTreeMap<String, [Items; 2]>;

fn share(shares: &mut Shares, what: Shown, item: usize, side: usize) {
    if let Some(items) = shares.entry(what.into_string()).or_default().get_mut(side) {
        items.insert(item);
    }
}

/// Time at which a label, or a reviewer's verdict, was given to each item.
type GivenAt = BTreeMap<String, BTreeMap<usize, String>>;

/// Columns of the drawn records.
const SIDES: [&str; 2] = ["passed", "failed"];

/// Votes of two reviewers, A and B, on an item: the number of each has A's vote in the upper bit and B's in the lower, set
/// for a fail.
const VOTES: [&str; 4] = ["both pass", "B fails", "A fails", "both fail"];

/// Votes of all reviewers.
#[derive(Debug, Default)]
struct Reviewers {
    /// Time at which each decided on each item.
    decided: GivenAt,
    /// Of each two reviewers, the items that both judged, by [`VOTES`].
    pairs: BTreeMap<[String; 2], [Items; 4]>,
}

impl Reviewers {
    fn add(&mut self, item: usize, verdicts: Vec<Event>) {
        let judged = |event: &Event| event.verdict.is_some_and(Verdict::judges);
        let mut votes: Vec<(String, bool)> = Vec::new();
        for event in verdicts.into_iter().filter(judged) {
            let who = event.reviewer.id.line().into_string();
            let time = event.times.decided.as_ref().map_or_else(String::new, |time| time.line().into_string());
            self.decided.entry(who.clone()).or_default().insert(item, time);
            votes.push((who, event.verdict == Some(Verdict::Fail)));
        }
        votes.sort_unstable();
        for (n, (one, fails)) in votes.iter().enumerate().take(MAX_PAIRED) {
            for (other, too) in votes.iter().take(MAX_PAIRED).skip(n + 1) {
                let sides = self.pairs.entry([one.clone(), other.clone()]).or_default();
                if let Some(items) = sides.get_mut(usize::from(*fails) << 1 | usize::from(*too)) {
                    items.insert(item);
                }
            }
        }
    }
}

/// Counts of everything on the dashboard.
struct Tallies {
    said: FailedItems,
    rules: Shares,
    triage: Shares,
    gold: BTreeMap<GoldStatus, Items>,
    outcomes: BTreeMap<Outcome, Items>,
    reviewers: Reviewers,
    accuracy: Accuracy,
}

/// Judgments of people on the failed items.
#[derive(Debug, Default)]
struct FailedItems {
    /// Target, step, variable and label.
    fixes: CountTree,
    /// Time at which each label was given to each item.
    labels: GivenAt,
}

impl FailedItems {
    fn add(&mut self, item: usize, fresh: &[Event], sets: &LabelSets<'_>) {
        let failed = || fresh.iter().filter(|event| event.verdict == Some(Verdict::Fail));
        let mut names = Vec::new();
        for event in failed() {
            let given = event.times.decided.as_ref().map_or_else(String::new, |time| time.line().into_string());
            for label in event.labels.iter().flat_map(|label| sets.resolve(label)) {
                let name = label.name.line().into_string();
                self.labels.entry(name.clone()).or_default().entry(item).or_insert_with(|| given.clone());
                names.push(name);
            }
        }
        let Some(event) = failed().find(|event| event.fix_target.is_some()) else { return };
        let mut way = Vec::with_capacity(4);
        way.extend(event.fix_target.as_ref().map(|target| (0, target.line().into_string())));
        way.extend(event.first_bad_step.map(step_part));
        way.extend(event.variable.as_ref().map(|variable| (0, variable.line().into_string())));
        if names.is_empty() {
            self.fixes.add(item, &way);
        }
        for name in names {
            way.push((u64::MAX, format!("label {name}")));
            self.fixes.add(item, &way);
            way.pop();
        }
    }
}

fn step_part(step: u64) -> (u64, String) {
    (step, format!("step {step}"))
}

fn target_of(fresh: &[Event]) -> Option<&Text> {
    let mut failed = fresh.iter().filter(|event| event.verdict == Some(Verdict::Fail));
    failed.find_map(|event| event.fix_target.as_ref())
}

const fn is_place(fix: Fix) -> bool {
    !matches!(fix, Fix::None | Fix::Unknown)
}

/// Writes a name as one word of a filter.
fn plain(name: &str) -> String {
    let sign = |c: char| if c.is_whitespace() || matches!(c, ',' | '"') { '_' } else { c };
    name.chars().take(MAX_NAME).map(sign).collect()
}

/// The columns of time: hours of one day, days, or months.
#[derive(Debug)]
struct TimeColumns {
    /// Number of bytes of a time that tell the column.
    width: usize,
    /// Last columns, in order.
    columns: Vec<String>,
}

impl TimeColumns {
    fn of<'t>(times: &(impl Iterator<Item = &'t String> + Clone)) -> Self {
        let distinct = |width: usize| times.clone().map(|time| cut(time, width)).collect::<BTreeSet<_>>();
        let days = distinct(10).len();
        let width = if days <= 1 {
            13
        } else if days <= MAX_TIMES {
            10
        } else {
            7
        };
        let all = distinct(width);
        let columns = all.iter().skip(all.len().saturating_sub(MAX_TIMES)).map(|time| (*time).to_owned()).collect();
        Self { width, columns }
    }

    fn of_text<'t>(&self, time: &'t str) -> &'t str {
        cut(time, self.width)
    }

    /// Writes `2026-11-20T13` as `13:00`, `2026-11-20` as `11-20`.
    fn head(&self, time: &str) -> String {
        match (self.width, time.is_empty()) {
            (_, true) => "no date".to_owned(),
            (13, _) => time.get(11..).map_or_else(|| time.to_owned(), |hour| format!("{hour}:00")),
            (10, _) => time.get(5..).unwrap_or(time).to_owned(),
            _ => time.to_owned(),
        }
    }
}

fn cut(time: &str, width: usize) -> &str {
    time.get(..width).unwrap_or(time)
}

#[cfg(test)]
mod tests;
