//! The charts of all records, line by line: every bar and cell with its figure and the filter that finds its records.

use std::collections::BTreeMap;

use stepscope_base::charts;
use stepscope_base::json::write::{AnySink, Style};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::cause::Cause;
use stepscope_judge::slip_form::SlipForm;
use stepscope_judge::triage::Fix;
use stepscope_record::RecordKind;
use stepscope_record::models::ModelNames;
use stepscope_record::rule_id::RuleId;
use stepscope_table::insights::{
    BINS, ConfidenceBin, FITNESS, Insights, ModelCount, REWARDS, RoundCount, RowOutcome, STEPS, brier,
    calibration_error,
};

/// One line.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "each variant says what its fields are")]
pub enum InsightLine {
    /// Between two charts.
    Blank,
    /// The title of a chart, and what is said of all of it.
    Title(&'static str, String),
    /// The names of the columns of a heat map.
    Heads(Vec<String>),
    /// A count as a bar.
    Bar { name: String, count: usize, whole: usize, filter: String },
    /// A line of a heat map: counts with their filters, and the count from which on a cell is darkest.
    Heat { name: String, cells: Vec<(usize, String)>, most: usize },
    /// Records with a confidence: its mean, how many were correct, and of a whole group how well both agree.
    Bin { name: String, confidence: f64, correct: usize, graded: usize, scores: Option<Scores>, filter: String },
    /// A mean of so many records, on a scale from the least to the largest.
    Mean { name: String, mean: f64, count: usize, scale: (f64, f64), filter: String },
}

/// The agreement of confidence and outcome.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scores {
    /// Expected calibration error.
    pub error: f64,
    /// Brier score.
    pub brier: f64,
}

impl Scores {
    fn of(bins: &[ConfidenceBin; BINS]) -> Self {
        Self { error: calibration_error(bins), brier: brier(bins) }
    }

    /// Writes both for people.
    pub fn phrase(self) -> String {
        format!("ECE {:.3}  Brier {:.3}", self.error, self.brier)
    }
}

impl InsightLine {
    /// The name of its bar or row; empty where it has none.
    pub fn name(&self) -> &str {
        match self {
            Self::Bar { name, .. } | Self::Bin { name, .. } | Self::Mean { name, .. } | Self::Heat { name, .. } => name,
            _ => "",
        }
    }

    /// The filters of its cells.
    pub fn filters(&self) -> Vec<&str> {
        match self {
            Self::Bar { filter, .. } | Self::Bin { filter, .. } | Self::Mean { filter, .. } => vec![filter],
            Self::Heat { cells, .. } => cells.iter().map(|(_, filter)| filter.as_str()).collect(),
            _ => Vec::new(),
        }
    }
}

/// All lines, from the top; a chart of nothing is left out. `models`: where the models got their numbers.
pub fn lines(insights: &Insights, models: &ModelNames) -> Vec<InsightLine> {
    let mut lines = Vec::new();
    for chart in [
        outcomes(insights),
        fixes(insights),
        heat(insights),
        causes(insights),
        shares(
            AGREEMENT,
            "peers.agree",
            ["no peer", "fewer than half", "half and more", "all peers"],
            &insights.agreement,
        ),
        shares(
            SHARED_VALUES,
            "peers.values",
            ["none", "less than half", "half and more", "all"],
            &insights.shared_values,
        ),
        rewards(insights),
        stages(insights),
        by_round(BY_CYCLE, "cycle", "", &insights.cycles),
        calibration(insights),
        rules(insights),
        accuracy_by_model(insights, models),
        calibration_by_model(insights, models),
        calibration_by_kind(insights),
        coverage(insights),
        fitness(insights),
        by_round(BY_GENERATION, "gen", " fitness>-1e8", &insights.generations),
        kinds(insights),
    ] {
        if !chart.is_empty() && !lines.is_empty() {
            lines.push(InsightLine::Blank);
        }
        lines.extend(chart);
    }
    lines
}

/// A chart of bars, the longest first where they have no order of their own; nothing where all are empty.
fn bars(title: &'static str, bars: Vec<(String, usize, String)>) -> Vec<InsightLine> {
    let whole: usize = bars.iter().map(|(_, count, _)| count).sum();
    let lines = bars
        .into_iter()
        .filter(|(_, count, _)| *count > 0)
        .map(|(name, count, filter)| InsightLine::Bar { name, count, whole, filter })
        .collect();
    titled(title, "", lines)
}

/// A chart, or nothing where it has no line.
fn titled(title: &'static str, said: &str, mut lines: Vec<InsightLine>) -> Vec<InsightLine> {
    if !lines.is_empty() {
        lines.insert(0, InsightLine::Title(title, said.to_owned()));
    }
    lines
}

/// Records by outcome.
pub const OUTCOME: &str = "Outcome";
/// Failed records by the way in which they failed.
pub(crate) const CAUSE: &str = "Causes";
/// Records by the share of their peers that give their answer.
pub const AGREEMENT: &str = "Peers that give the same answer";
/// Records by the share of their values on the way that peers have.
pub const SHARED_VALUES: &str = "Values on the way that peers have";
/// Wrong runs.
pub const FIX: &str = "Where to fix";
/// Wrong runs by the step to fix.
pub const HEAT: &str = "Where to fix, by step";
/// Graded records by confidence.
pub const CALIBRATION: &str = "Confidence and accuracy";
/// Graded records with a confidence, by kind.
pub(crate) const BY_KIND: &str = "Confidence and accuracy by kind";
/// Graded records above a confidence.
pub(crate) const COVERAGE: &str = "Risk and coverage";
/// Graded records, by model.
pub(crate) const ACCURACY_BY_MODEL: &str = "Accuracy by model";
/// Graded records with a confidence, by model.
pub(crate) const BY_MODEL: &str = "Confidence and accuracy by model";
/// Records by fitness.
pub const FITNESS_CHART: &str = "Fitness";
/// Fitness by generation.
pub(crate) const BY_GENERATION: &str = "Mean fitness by generation";
/// Records by reward.
pub const REWARD: &str = "Reward";
/// Records by the number of stages passed.
pub(crate) const STAGES_CHART: &str = "Verifier stages passed";
/// Rewards by training cycle.
pub(crate) const BY_CYCLE: &str = "Mean reward by cycle";
/// Maximum number of cycles or generations that are shown.
const MAX_ROUNDS: usize = 200;
/// Records in which a rule spoke.
pub const RULES: &str = "Records by rule";
/// Records by kind.
pub const KIND: &str = "Kind";

fn outcomes(insights: &Insights) -> Vec<InsightLine> {
    let of = |outcome: RowOutcome| insights.outcomes.get(outcome as usize).copied().unwrap_or(0);
    let rows = RowOutcome::ALL.into_iter().map(|outcome| (outcome.word().into(), of(outcome), outcome.phrase().into()));
    bars(OUTCOME, rows.collect())
}

fn fixes(insights: &Insights) -> Vec<InsightLine> {
    let fixes = Fix::ALL.into_iter().filter(|fix| *fix != Fix::None);
    bars(FIX, fixes.map(|fix| (fix.phrase().into(), insights.fix(fix), format!("fix:{}", fix.word()))).collect())
}

/// Failed records by cause, each with the forms of its slips below it.
fn causes(insights: &Insights) -> Vec<InsightLine> {
    let mut rows: Vec<_> = Cause::ALL.into_iter().zip(insights.causes).filter(|(_, count)| *count > 0).collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let whole: usize = rows.iter().map(|(_, count)| count).sum();
    let mut lines = Vec::new();
    for (cause, count) in rows {
        let (name, filter) = (cause.phrase().into(), format!("cause:{}", cause.word()));
        lines.push(InsightLine::Bar { name, count, whole, filter });
        // On the scale of the causes, so that no form is longer than its cause.
        lines.extend(slips(insights, cause, whole));
    }
    titled(CAUSE, "", lines)
}

/// The forms of the slips of a cause, the most frequent first.
fn slips(insights: &Insights, cause: Cause, whole: usize) -> Vec<InsightLine> {
    let counts = insights.slips.get(cause as usize).into_iter().flatten();
    let mut forms: Vec<_> = SlipForm::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0).collect();
    forms.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let bar = |(form, count): (SlipForm, &usize)| InsightLine::Bar {
        name: format!("  {}", form.phrase()),
        count: *count,
        whole,
        filter: format!("cause:{} slip:{}", cause.word(), form.word()),
    };
    forms.into_iter().map(bar).collect()
}

/// Records by a share of what their peers have.
fn shares(title: &'static str, field: &str, names: [&str; 4], counts: &[usize]) -> Vec<InsightLine> {
    let filters = [
        format!("{field}=0"),
        format!("{field}>0 {field}<0.5"),
        format!("{field}>=0.5 {field}<1"),
        format!("{field}=1"),
    ];
    let rows = names.into_iter().zip(counts).zip(filters);
    bars(title, rows.map(|((name, count), filter)| (name.to_owned(), *count, filter)).collect())
}

fn heat(insights: &Insights) -> Vec<InsightLine> {
    // Steps are compared with each other; many runs of no single step would make them pale.
    let most = insights.fixes.iter().flat_map(|counts| counts.iter().skip(1)).copied().max().unwrap_or(0);
    if most == 0 {
        return Vec::new();
    }
    let first = usize::from(insights.fixes.iter().all(|[none, ..]| *none == 0));
    let step = |n: usize| match n {
        0 => "-fix_step>0".to_owned(),
        n if n + 1 == STEPS => format!("fix_step>={n}"),
        n => format!("fix_step={n}"),
    };
    let head = |n: usize| match n {
        0 => "none".to_owned(),
        n if n + 1 == STEPS => format!("{n}+"),
        n => n.to_string(),
    };
    let heads = InsightLine::Heads((first..STEPS).map(head).collect());
    let mut lines = vec![InsightLine::Title(HEAT, String::new()), heads];
    for (fix, counts) in Fix::ALL.into_iter().zip(&insights.fixes).filter(|(_, counts)| counts.iter().any(|n| *n > 0)) {
        let cells = counts.iter().enumerate().skip(first);
        let cells = cells.map(|(n, count)| (*count, format!("fix:{} {}", fix.word(), step(n)))).collect();
        lines.push(InsightLine::Heat { name: fix.phrase().into(), cells, most });
    }
    lines
}

fn calibration(insights: &Insights) -> Vec<InsightLine> {
    if insights.graded() == 0 {
        return Vec::new();
    }
    let bins = insights.bins();
    let mut lines = vec![InsightLine::Title(CALIBRATION, measured(&bins))];
    for (n, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.graded > 0) {
        let [from, to] = [n, n + 1].map(|edge| edge as f64 / BINS as f64);
        let upper = if n + 1 == BINS { format!("conf<={to:.1}") } else { format!("conf<{to:.1}") };
        lines.push(InsightLine::Bin {
            name: format!("{from:.1}–{to:.1}"),
            confidence: bin.confidence(),
            correct: bin.correct,
            graded: bin.graded,
            scores: None,
            filter: format!("conf>={from:.1} {upper} -correct:unknown"),
        });
    }
    lines
}

/// Explains the marks of a scale.
const SIGNS: &str = "● accuracy ┼ confidence";

/// Formats the calibration error and the Brier score, with the number of graded records.
fn measured(bins: &[ConfidenceBin; BINS]) -> String {
    let graded: usize = bins.iter().map(|bin| bin.graded).sum();
    format!("{SIGNS}  {}  n = {graded}", Scores::of(bins).phrase())
}

/// A line of each group with a confidence, where there are several groups.
fn calibration_of<'b>(
    title: &'static str,
    groups: impl Iterator<Item = (String, String, &'b [ConfidenceBin; BINS])>,
) -> Vec<InsightLine> {
    let line = |(name, filter, bins): (String, String, &[ConfidenceBin; BINS])| {
        let all = bins.iter().fold(ConfidenceBin::default(), ConfidenceBin::plus);
        let (confidence, correct, graded) = (all.confidence(), all.correct, all.graded);
        let filter = format!("{filter} conf>=0 conf<=1 -correct:unknown");
        (graded > 0).then(|| InsightLine::Bin {
            name,
            confidence,
            correct,
            graded,
            scores: Some(Scores::of(bins)),
            filter,
        })
    };
    several(title, SIGNS, groups.filter_map(line).collect())
}

/// A chart that compares: of one line it says nothing.
fn several(title: &'static str, said: &str, lines: Vec<InsightLine>) -> Vec<InsightLine> {
    if lines.len() < 2 { Vec::new() } else { titled(title, said, lines) }
}

fn calibration_by_kind(insights: &Insights) -> Vec<InsightLine> {
    let kinds = RecordKind::ALL.into_iter().zip(&insights.bins_by_kind);
    calibration_of(BY_KIND, kinds.map(|(kind, bins)| (kind.word().to_owned(), format!("kind:{}", kind.word()), bins)))
}

/// The models with their names and filters, the one with the most graded records first.
fn models<'i>(insights: &'i Insights, names: &'i ModelNames) -> impl Iterator<Item = (String, String, &'i ModelCount)> {
    let mut models: Vec<_> = (1..).zip(&insights.models).filter(|(_, model)| model.graded > 0).collect();
    models.sort_by_key(|(_, model)| std::cmp::Reverse(model.graded));
    models.into_iter().filter_map(|(number, model)| {
        let name = names.name(number)?.into_string();
        let filter = format!("model:\"{name}\"");
        Some((name, filter, model))
    })
}

fn accuracy_by_model(insights: &Insights, names: &ModelNames) -> Vec<InsightLine> {
    let line = |(name, filter, model): (String, String, &ModelCount)| InsightLine::Bar {
        name,
        count: model.correct,
        whole: model.graded,
        filter: format!("{filter} correct:true"),
    };
    several(ACCURACY_BY_MODEL, "", models(insights, names).map(line).collect())
}

fn calibration_by_model(insights: &Insights, names: &ModelNames) -> Vec<InsightLine> {
    calibration_of(BY_MODEL, models(insights, names).map(|(name, filter, model)| (name, filter, &model.bins)))
}

/// A mean for each cycle or generation, where there are several. `and`: what else its filter asks.
fn by_round(title: &'static str, field: &str, and: &str, rounds: &BTreeMap<u16, RoundCount>) -> Vec<InsightLine> {
    let means = || rounds.values().map(RoundCount::mean);
    // Rewards lie between 0 and 1 by rule; where they or a fitness do not, the scale is as wide as the means.
    let scale = (means().fold(0.0, f64::min).floor(), means().fold(1.0, f64::max).ceil());
    let line = |(round, counted): (&u16, &RoundCount)| InsightLine::Mean {
        name: format!("{field} {round}"),
        mean: counted.mean(),
        count: counted.count,
        scale,
        filter: format!("{field}={round}{and}"),
    };
    several(title, &format!("from {} to {}", scale.0, scale.1), rounds.iter().take(MAX_ROUNDS).map(line).collect())
}

/// Lists the numbers of wrong records among the most confident ones, as more records are taken.
fn coverage(insights: &Insights) -> Vec<InsightLine> {
    let all = insights.graded();
    let bins = insights.bins();
    let mut lines = Vec::new();
    let mut taken = ConfidenceBin::default();
    for (n, bin) in bins.iter().enumerate().rev().filter(|(_, bin)| bin.graded > 0) {
        taken = taken.plus(bin);
        let from = n as f64 / BINS as f64;
        lines.push(InsightLine::Bar {
            name: format!("conf >= {from:.1}, {} of all", charts::share(taken.graded, all)),
            count: taken.graded - taken.correct,
            whole: taken.graded,
            filter: format!("conf>={from:.1} conf<=1 correct:false"),
        });
    }
    several(COVERAGE, "wrong with at least this confidence", lines)
}

/// A histogram: the bins that hold something, between edges.
fn histogram(title: &'static str, field: &str, edges: &[f32], bins: &[usize]) -> Vec<InsightLine> {
    let whole = bins.iter().sum();
    let around = |n: usize| (n.checked_sub(1).and_then(|n| edges.get(n)), edges.get(n));
    let bar = |(n, count): (usize, &usize)| {
        let (name, filter) = match around(n) {
            (Some(from), Some(to)) => (format!("{from} – {to}"), format!("{field}>={from} {field}<{to}")),
            (Some(from), None) => (format!("{from} and more"), format!("{field}>={from}")),
            (None, to) => {
                let to = to.copied().unwrap_or_default();
                (format!("below {to}"), format!("{field}<{to}"))
            }
        };
        InsightLine::Bar { name, count: *count, whole, filter }
    };
    titled(title, "", bins.iter().enumerate().filter(|(_, count)| **count > 0).map(bar).collect())
}

fn fitness(insights: &Insights) -> Vec<InsightLine> {
    histogram(FITNESS_CHART, "fitness", &FITNESS, &insights.fitness_bins)
}

fn rewards(insights: &Insights) -> Vec<InsightLine> {
    histogram(REWARD, "reward", &REWARDS, &insights.reward_bins)
}

/// The stages of a chain of verifiers as a funnel: how many completions came through each.
fn stages(insights: &Insights) -> Vec<InsightLine> {
    let whole: usize = insights.stages.iter().sum();
    let last = insights.stages.iter().rposition(|count| *count > 0);
    // A chain that stops at its first stage shows the stage that nothing passed.
    let Some(last) = last.map(|last| last.max(1)) else { return Vec::new() };
    let mut lines = vec![InsightLine::Title(STAGES_CHART, String::new())];
    for stage in 1..=last {
        let count = insights.stages.iter().skip(stage).sum();
        let name = format!("stage {stage} passed");
        lines.push(InsightLine::Bar { name, count, whole, filter: format!("stages>={stage}") });
    }
    lines
}

fn rules(insights: &Insights) -> Vec<InsightLine> {
    let mut rows: Vec<(RuleId, usize)> = RuleId::ALL.into_iter().zip(insights.rules).filter(|(_, n)| *n > 0).collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let checked = insights.records();
    let bar = |(rule, count): (RuleId, usize)| InsightLine::Bar {
        name: rule.word().into(),
        count,
        whole: checked,
        filter: format!("rule:{}", rule.word()),
    };
    titled(RULES, "", rows.into_iter().map(bar).collect())
}

fn kinds(insights: &Insights) -> Vec<InsightLine> {
    if insights.of_no_kind > 0 {
        return Vec::new();
    }
    let kinds = RecordKind::ALL.into_iter().zip(insights.kinds);
    let mut rows: Vec<_> =
        kinds.map(|(kind, count)| (kind.word().to_owned(), count, format!("kind:{}", kind.word()))).collect();
    rows.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    bars(KIND, rows)
}

/// The width of names, of the cells of a heat map, of bars and of scales in the shell.
const NAME: usize = 26;
const LONG_NAME: usize = 42;
const CELL: usize = 8;
const BAR: usize = 40;
const SCALE: usize = 41;

/// The lines as text for the shell.
pub fn text(lines: &[InsightLine]) -> Vec<Shown> {
    let name_width = lines.iter().map(|line| line.name().chars().count()).max().unwrap_or(0).clamp(NAME, LONG_NAME);
    let title_width = name_width + 2;
    let line = |line: &InsightLine| match line {
        InsightLine::Blank => Shown::default(),
        InsightLine::Title(title, said) if said.is_empty() => Shown::own(title),
        InsightLine::Title(title, said) => shown!("{title:title_width$}  {said}"),
        InsightLine::Heads(heads) => {
            let heads = heads.iter().map(|head| format!("{head:>CELL$}")).collect::<Vec<_>>().concat();
            shown!("{:title_width$}{heads}", "  step")
        }
        InsightLine::Bar { name, count, whole, .. } => {
            let (share, bar) = (charts::share(*count, *whole), charts::bar(*count, *whole, BAR));
            shown!("  {name:name_width$}{count:>7}{share:>7}  {bar}")
        }
        InsightLine::Heat { name, cells, most } => {
            let cell = |count: usize| {
                if count == 0 {
                    "0".into()
                } else {
                    format!("{} {}", charts::shade(count, *most), charts::short(count, CELL - 3))
                }
            };
            let cells = cells.iter().map(|(count, _)| format!("{:>CELL$}", cell(*count))).collect::<Vec<_>>().concat();
            shown!("  {name:name_width$}{cells}")
        }
        InsightLine::Mean { name, mean, count, scale, .. } => {
            let (at, figure) = (part_of(*mean, *scale), format!("{mean:.2}"));
            shown!("  {name:name_width$}{count:>7}{figure:>7}  {}", charts::dumbbell(at, at, SCALE))
        }
        InsightLine::Bin { name, confidence, correct, graded, scores, .. } => {
            let accuracy = *correct as f64 / (*graded).max(1) as f64;
            let (part, share) = (format!("{correct}/{graded}"), charts::share(*correct, *graded));
            let scale = charts::dumbbell(accuracy, *confidence, SCALE);
            let note = scores.map(|scores| format!("  {}", scores.phrase())).unwrap_or_default();
            shown!("  {name:name_width$}{part:>7}{share:>7}  {scale}  {:+.0}{note}", (accuracy - confidence) * 100.0)
        }
    };
    lines.iter().map(line).collect()
}

/// Returns the place of a value on a scale, from 0 to 1.
pub fn part_of(value: f64, (from, to): (f64, f64)) -> f64 {
    (value - from) / (to - from).max(f64::MIN_POSITIVE)
}

/// The lines as JSON, one object per bar or cell.
pub fn write_json(lines: &[InsightLine], out: &mut AnySink) {
    let mut chart = "";
    for line in lines {
        match line {
            InsightLine::Title(title, _) => chart = title,
            InsightLine::Bar { name, count, whole, filter } => Style::ASCII.line(out, |object| {
                object.put("chart", chart).put("name", name.as_str()).put("count", *count).put("of", *whole);
                object.put("filter", filter.as_str());
            }),
            InsightLine::Heat { name, cells, .. } => {
                for (count, filter) in cells.iter().filter(|(count, _)| *count > 0) {
                    Style::ASCII.line(out, |object| {
                        object.put("chart", chart).put("name", name.as_str()).put("count", *count);
                        object.put("filter", filter.as_str());
                    });
                }
            }
            InsightLine::Bin { name, confidence, correct, graded, scores, filter } => {
                Style::ASCII.line(out, |object| {
                    object.put("chart", chart).put("name", name.as_str()).put("confidence", *confidence);
                    object.put("count", *correct).put("of", *graded).put("filter", filter.as_str());
                    object.maybe("ece", scores.map(|scores| scores.error));
                    object.maybe("brier", scores.map(|scores| scores.brier));
                });
            }
            InsightLine::Mean { name, mean, count, filter, .. } => Style::ASCII.line(out, |object| {
                object.put("chart", chart).put("name", name.as_str()).put("mean", *mean);
                object.put("count", *count).put("filter", filter.as_str());
            }),
            InsightLine::Blank | InsightLine::Heads(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use stepscope_judge::case::{Case, Context};
    use stepscope_judge::row::{Flag, RowFacts};
    use stepscope_record::types::TypeRegistry;
    use stepscope_table::filter::{Filter, RowAnswer};

    fn counted() -> (Insights, ModelNames) {
        let mut insights = Insights::default();
        for (n, flag) in [Flag::Right, Flag::Wrong, Flag::Wrong].into_iter().enumerate() {
            let mut row = RowFacts::unchecked(0, 1);
            row.confidence = n as f32 / 2.0;
            row.set(Flag::Checked);
            row.set(flag);
            insights.count(&row, 1);
        }
        (insights, ModelNames::default())
    }

    /// Records with their rows, the names of their models, and the counts of all.
    struct Told {
        insights: Insights,
        names: ModelNames,
        records: Vec<(RowFacts, String)>,
    }

    impl Told {
        fn of(texts: impl IntoIterator<Item = String>) -> Self {
            #[derive(Debug, Default)]
            struct Named(ModelNames);
            impl Context for Named {
                fn models(&self) -> Option<&ModelNames> {
                    Some(&self.0)
                }
            }
            let around = Arc::new(Named::default());
            let row = |text: &str| RowFacts::of(&Case::around(text.as_bytes(), around.clone()).view(), true);
            let records: Vec<_> = texts.into_iter().map(|text| (row(&text), text)).collect();
            let mut insights = Insights::default();
            for (row, _) in &records {
                insights.count(row, 1);
            }
            let Named(names) = Arc::into_inner(around).unwrap();
            Self { insights, names, records }
        }

        fn lines(&self) -> Vec<InsightLine> {
            lines(&self.insights, &self.names)
        }

        /// Counts the records that a filter finds.
        fn found(&self, filter: &str) -> usize {
            let filter = Filter::parse(filter, TypeRegistry::built_in()).unwrap();
            let fits = |(row, text): &&(RowFacts, String)| match filter.fits_row(row) {
                RowAnswer::Yes => true,
                RowAnswer::No => false,
                RowAnswer::AskText => filter.fits_text(text.as_bytes()),
            };
            self.records.iter().filter(fits).count()
        }

        /// Checks every figure against its filter, and returns the titles.
        fn check(&self) -> Vec<&'static str> {
            let mut titles = Vec::new();
            for line in self.lines() {
                match line {
                    InsightLine::Title(title, _) => titles.push(title),
                    InsightLine::Bar { count, filter, .. }
                    | InsightLine::Bin { graded: count, filter, .. }
                    | InsightLine::Mean { count, filter, .. } => assert_eq!(self.found(&filter), count, "{filter}"),
                    InsightLine::Heat { cells, .. } => {
                        for (count, filter) in &cells {
                            assert_eq!(self.found(filter), *count, "{filter}");
                        }
                    }
                    InsightLine::Blank | InsightLine::Heads(_) => {}
                }
            }
            titles
        }
    }

    /// Records of several models, of two training cycles and of two generations.
    fn told() -> Told {
        let mut texts = Vec::new();
        for (n, (model, correct)) in [("a", true), ("a", false), ("b c", true), ("d", true)].into_iter().enumerate() {
            let confidence =
                if n < 3 { format!(r#", "confidence": {}"#, n as f64 / 10.0 + 0.5) } else { String::new() };
            texts.push(format!(
                r#"{{"id": {n}, "question": "?", "mode": "baseline", "correct": {correct}, "model": "{model}", "state": {{"final_answer": "1"{confidence}}}}}"#
            ));
        }
        for (cycle, reward, details) in [
            (1, 0.1, "Stage 1 failed: no"),
            (2, 0.7, "Stage 3 failed: no"),
            (2, 1.0, "Stage 1: a; Stage 2: b; Stage 3: c"),
        ] {
            texts.push(format!(
                r#"{{"prompt": "?", "completion": "x", "cycle": {cycle}, "reward": {reward}, "success": {}, "details": "{details}"}}"#,
                reward > 0.9
            ));
        }
        for (generation, fitness) in [(0, -1e9), (0, -0.5), (1, 1.5)] {
            texts.push(format!(
                r#"{{"gen": {generation}, "operator": "seed", "fitness": {fitness}, "procedure": {{"NameDescription": "", "steps": []}}}}"#
            ));
        }
        // It ended with an error and is graded all the same.
        texts.push(
            r#"{"id": 9, "question": "?", "status": "error", "error": "broke off", "correct": false}"#.to_owned(),
        );
        Told::of(texts)
    }

    /// The sample runs.
    fn samples() -> Told {
        let runs = include_str!("../../../sample_runs/word_problems.jsonl");
        let chains = include_str!("../../../sample_runs/chains.jsonl");
        Told::of(runs.lines().chain(chains.lines()).map(ToOwned::to_owned))
    }

    /// The heads and the lines of the heat map, each line with the filters of its cells.
    fn map_of(lines: &[InsightLine]) -> (Vec<String>, Vec<(&str, Vec<&str>)>) {
        let heads = lines.iter().find_map(|line| match line {
            InsightLine::Heads(heads) => Some(heads.clone()),
            _ => None,
        });
        let rows = lines.iter().filter(|line| matches!(line, InsightLine::Heat { .. }));
        (heads.unwrap_or_default(), rows.map(|line| (line.name(), line.filters())).collect())
    }

    #[test]
    fn the_heat_map_says_in_which_step_to_fix() {
        let samples = samples();
        assert!(samples.check().contains(&HEAT));
        let all = samples.lines();
        let (heads, rows) = map_of(&all);
        assert_eq!(heads, ["none", "1", "2", "3", "4", "5", "6", "7", "8+"]);
        let (name, filters) = &rows[0];
        assert_eq!((*name, filters.len()), ("model output", heads.len()));
        assert_eq!(filters[0], "fix:step_run -fix_step>0");
        assert_eq!((filters[2], filters[8]), ("fix:step_run fix_step=2", "fix:step_run fix_step>=8"));
        // A place has the same runs in its bar and in its line.
        for (name, filters) in &rows {
            let whole: usize = filters.iter().map(|filter| samples.found(filter)).sum();
            let bar = |line: &&InsightLine| matches!(line, InsightLine::Bar { count, .. } if *count == whole);
            assert!(all.iter().filter(|line| line.name() == *name).any(|line| bar(&line)), "{name} {whole}");
        }
        let in_steps: usize = samples.insights.fixes.iter().flat_map(|counts| &counts[1..]).sum();
        assert!(in_steps > 10, "{:?}", samples.insights.fixes);
    }

    #[test]
    fn forms_of_slips_stand_below_their_cause_and_make_none_of_their_own() {
        let samples = samples();
        assert!(samples.check().contains(&CAUSE));
        let lines = samples.lines();
        let slip = Cause::Slip.phrase();
        let at = lines.iter().position(|line| line.name() == slip).unwrap();
        let InsightLine::Bar { count: all, whole: of, .. } = &lines[at] else { panic!("{:?}", lines[at]) };
        let below = lines[at + 1..].iter().take_while(|line| line.name().starts_with("  "));
        let counts: Vec<usize> = below
            .map(|line| match line {
                InsightLine::Bar { count, whole, filter, .. } => {
                    assert!(filter.starts_with("cause:slip slip:") && whole == of, "{line:?}");
                    *count
                }
                _ => panic!("{line:?}"),
            })
            .collect();
        assert!(counts.len() > 1 && counts.is_sorted_by(|one, next| one >= next), "{counts:?}");
        assert!(counts.iter().sum::<usize>() <= *all, "{counts:?} of {all}");
        // Causes alone make up the whole.
        let causes: usize = samples.insights.causes.iter().sum();
        assert_eq!(*of, causes);
    }

    #[test]
    fn the_heat_map_has_the_columns_that_it_needs() {
        let heads = |steps: &[Option<usize>]| {
            let mut insights = Insights::default();
            for step in steps {
                insights.add_fixes(Fix::Procedure, *step, 2);
            }
            map_of(&lines(&insights, &ModelNames::default())).0
        };
        assert_eq!(heads(&[Some(4), Some(99)]), ["1", "2", "3", "4", "5", "6", "7", "8+"]);
        assert_eq!(heads(&[Some(4), None])[..2], ["none", "1"]);
        assert!(heads(&[None]).is_empty(), "of no step there is nothing to say");
    }

    #[test]
    fn every_figure_is_the_number_of_records_that_its_filter_finds() {
        let titles = told().check();
        for title in [REWARD, STAGES_CHART, BY_CYCLE, ACCURACY_BY_MODEL, BY_MODEL, FITNESS_CHART, BY_GENERATION] {
            assert!(titles.contains(&title), "{title} of {titles:?}");
        }
    }

    #[test]
    fn models_cycles_and_stages_are_text_and_data() {
        let lines = told().lines();
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let text: Vec<String> = text(&lines).iter().map(|line| squeezed(line.as_str())).collect();
        for beginning in [
            "  a                             1/2   50 %  ",
            "  b c                           1/1  100 %  ",
            "  stage 1 passed                  2   67 %  ██",
            "  stage 3 passed                  1   33 %  ██",
            "  cycle 2                         2   0.85  ───",
            "  gen 0                           1  -0.50  ──────",
            "  0.1 – 0.2                       1   33 %  ██",
        ] {
            assert!(
                text.iter().any(|line| line.starts_with(squeezed(beginning).as_str())),
                "{beginning:?} in {text:#?}"
            );
        }
        let mut json = Vec::new();
        write_json(&lines, &mut json);
        let json = String::from_utf8(json).unwrap();
        for line in [
            r#"{"chart":"Mean reward by cycle","name":"cycle 1","mean":0.1,"count":1,"filter":"cycle=1"}"#,
            r#"{"chart":"Accuracy by model","name":"b c","count":1,"of":1,"filter":"model:\"b c\" correct:true"}"#,
            r#""filter":"model:\"a\" conf>=0 conf<=1 -correct:unknown","ece":0.55,"brier":0.305}"#,
        ] {
            assert!(json.contains(line), "{line} in {json}");
        }
    }

    #[test]
    fn every_cell_is_a_filter_that_is_understood() {
        let (insights, names) = counted();
        let lines = lines(&insights, &names);
        let filters: Vec<&str> = lines.iter().flat_map(InsightLine::filters).collect();
        assert!(filters.len() >= 5, "{filters:?}");
        for filter in filters {
            assert!(Filter::parse(filter, TypeRegistry::built_in()).is_ok(), "{filter}");
        }
        for outcome in RowOutcome::ALL {
            assert!(Filter::parse(outcome.phrase(), TypeRegistry::built_in()).is_ok(), "{}", outcome.phrase());
        }
    }

    #[test]
    fn charts_are_text_and_data() {
        let (insights, names) = counted();
        let lines = lines(&insights, &names);
        let text: Vec<String> = text(&lines).into_iter().map(Shown::into_string).collect();
        assert!(text.iter().any(|line| line.starts_with("  wrong                           2   67 %  ██")), "{text:?}");
        assert!(text.iter().any(|line| line == "Risk and coverage             wrong with at least this confidence"));
        assert!(text.iter().any(|line| line.starts_with("  conf >= 0.5, 67 % of all        2  100 %")), "{text:?}");
        let mut json = Vec::new();
        write_json(&lines, &mut json);
        let json = String::from_utf8(json).unwrap();
        assert!(
            json.contains(r#"{"chart":"Outcome","name":"wrong","count":2,"of":3,"filter":"correct:false"}"#),
            "{json}"
        );
        assert_eq!(json.lines().count(), lines.iter().filter(|line| !line.filters().is_empty()).count());
    }
}
