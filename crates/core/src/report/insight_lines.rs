//! The charts of all records, line by line: every bar and cell with its figure and the filter that finds its records.

use crate::record::RecordKind;
use crate::report::charts;
use crate::rules::id::RuleId;
use crate::table::insights::{BINS, ConfidenceBin, FITNESS, Insights, RowOutcome, STEPS, brier, calibration_error};
use crate::triage::Fix;
use stepscope_base::json::write::{Sink, Style};
use stepscope_base::shown;
use stepscope_base::text::Shown;

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
    /// A line of a heat map: counts with their filters, and the largest count of the map.
    Heat { name: String, cells: Vec<(usize, String)>, most: usize },
    /// Records with a confidence: its mean, how many were correct, and what else is measured.
    Bin { name: String, confidence: f64, correct: usize, graded: usize, note: String, filter: String },
}

impl InsightLine {
    /// The filters of its cells.
    pub fn filters(&self) -> Vec<&str> {
        match self {
            Self::Bar { filter, .. } | Self::Bin { filter, .. } => vec![filter],
            Self::Heat { cells, .. } => cells.iter().map(|(_, filter)| filter.as_str()).collect(),
            _ => Vec::new(),
        }
    }
}

/// All lines, from the top; a chart of nothing is left out.
pub fn lines(insights: &Insights) -> Vec<InsightLine> {
    let mut lines = Vec::new();
    for chart in [
        outcomes(insights),
        fixes(insights),
        heat(insights),
        calibration(insights),
        rules(insights),
        calibration_by_kind(insights),
        coverage(insights),
        fitness(insights),
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
    let mut lines: Vec<InsightLine> = bars
        .into_iter()
        .filter(|(_, count, _)| *count > 0)
        .map(|(name, count, filter)| InsightLine::Bar { name, count, whole, filter })
        .collect();
    if !lines.is_empty() {
        lines.insert(0, InsightLine::Title(title, String::new()));
    }
    lines
}

/// Records by outcome.
pub const OUTCOME: &str = "Outcome";
/// Wrong runs.
pub const FIX: &str = "Where to fix";
/// Wrong runs by their number of steps.
pub const HEAT: &str = "Where to fix, by number of steps";
/// Graded records by confidence.
pub const CALIBRATION: &str = "Confidence and accuracy";
/// Graded records with a confidence, by kind.
pub const BY_KIND: &str = "Confidence and accuracy by kind";
/// Graded records above a confidence.
pub const COVERAGE: &str = "Risk and coverage";
/// Records by fitness.
pub const REWARD: &str = "Fitness";
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

fn heat(insights: &Insights) -> Vec<InsightLine> {
    let most = insights.fixes.iter().flatten().copied().max().unwrap_or(0);
    if most == 0 || insights.procedures == 0 {
        return Vec::new();
    }
    let steps = |n: usize| if n + 1 == STEPS { format!("steps>={n}") } else { format!("steps={n}") };
    let head = |n: usize| if n + 1 == STEPS { format!("{n}+") } else { n.to_string() };
    let mut lines = vec![InsightLine::Title(HEAT, String::new()), InsightLine::Heads((0..STEPS).map(head).collect())];
    for (fix, counts) in Fix::ALL.into_iter().zip(&insights.fixes).filter(|(_, counts)| counts.iter().any(|n| *n > 0)) {
        let cells = counts.iter().enumerate();
        let cells = cells.map(|(n, count)| (*count, format!("fix:{} {}", fix.word(), steps(n)))).collect();
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
            note: String::new(),
            filter: format!("conf>={from:.1} {upper} -correct:unknown"),
        });
    }
    lines
}

/// Formats the calibration error and the Brier score, with the number of graded records.
fn measured(bins: &[ConfidenceBin; BINS]) -> String {
    let graded: usize = bins.iter().map(|bin| bin.graded).sum();
    format!("ECE {:.3}   Brier {:.3}   n = {graded}", calibration_error(bins), brier(bins))
}

/// The same for each kind, where there are several.
fn calibration_by_kind(insights: &Insights) -> Vec<InsightLine> {
    let kinds = RecordKind::ALL.into_iter().zip(&insights.bins_by_kind);
    let kinds: Vec<_> = kinds.filter(|(_, bins)| bins.iter().any(|bin| bin.graded > 0)).collect();
    if kinds.len() < 2 {
        return Vec::new();
    }
    let mut lines = vec![InsightLine::Title(BY_KIND, String::new())];
    for (kind, bins) in kinds {
        let all = bins.iter().fold(ConfidenceBin::default(), ConfidenceBin::plus);
        lines.push(InsightLine::Bin {
            name: kind.word().into(),
            confidence: all.confidence(),
            correct: all.correct,
            graded: all.graded,
            note: format!("ECE {:.3}  Brier {:.3}", calibration_error(bins), brier(bins)),
            filter: format!("kind:{} conf>=0 conf<=1 -correct:unknown", kind.word()),
        });
    }
    lines
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
            name: format!("conf ≥ {from:.1}, {} of all", charts::share(taken.graded, all)),
            count: taken.graded - taken.correct,
            whole: taken.graded,
            filter: format!("conf>={from:.1} conf<=1 correct:false"),
        });
    }
    if lines.len() < 2 {
        return Vec::new();
    }
    lines.insert(0, InsightLine::Title(COVERAGE, "wrong among the records with at least this confidence".into()));
    lines
}

/// The fitness as a histogram.
fn fitness(insights: &Insights) -> Vec<InsightLine> {
    let edges = |n: usize| (n.checked_sub(1).and_then(|n| FITNESS.get(n)), FITNESS.get(n));
    let bar = |(n, count): (usize, &usize)| {
        let (name, filter) = match edges(n) {
            (Some(from), Some(to)) => (format!("{from} – {to}"), format!("fitness>={from} fitness<{to}")),
            (Some(from), None) => (format!("{from} and more"), format!("fitness>={from}")),
            (None, to) => {
                let to = to.copied().unwrap_or_default();
                (format!("below {to}"), format!("fitness<{to}"))
            }
        };
        InsightLine::Bar { name, count: *count, whole: insights.fitness, filter }
    };
    let lines = insights.fitness_bins.iter().enumerate().filter(|(_, count)| **count > 0).map(bar);
    let mut lines: Vec<InsightLine> = lines.collect();
    if !lines.is_empty() {
        lines.insert(0, InsightLine::Title(REWARD, String::new()));
    }
    lines
}

fn rules(insights: &Insights) -> Vec<InsightLine> {
    let mut rows: Vec<(RuleId, usize)> = RuleId::ALL.into_iter().zip(insights.rules).filter(|(_, n)| *n > 0).collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let checked = insights.outcomes.iter().sum();
    let bar = |(rule, count): (RuleId, usize)| InsightLine::Bar {
        name: rule.word().into(),
        count,
        whole: checked,
        filter: format!("rule:{}", rule.word()),
    };
    let mut lines: Vec<InsightLine> = rows.into_iter().map(bar).collect();
    if !lines.is_empty() {
        lines.insert(0, InsightLine::Title(RULES, String::new()));
    }
    lines
}

fn kinds(insights: &Insights) -> Vec<InsightLine> {
    let kinds = RecordKind::ALL.into_iter().zip(insights.kinds);
    let mut rows: Vec<_> =
        kinds.map(|(kind, count)| (kind.word().to_owned(), count, format!("kind:{}", kind.word()))).collect();
    rows.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    bars(KIND, rows)
}

/// The width of names, of the cells of a heat map, of bars and of scales in the shell.
const NAME: usize = 28;
const CELL: usize = 8;
const BAR: usize = 40;
const SCALE: usize = 41;

/// The lines as text for the shell.
pub fn text(lines: &[InsightLine]) -> Vec<Shown> {
    let line = |line: &InsightLine| match line {
        InsightLine::Blank => Shown::default(),
        InsightLine::Title(title, said) if said.is_empty() => Shown::own(title),
        InsightLine::Title(title, said) => shown!("{title:NAME$}  {said}"),
        InsightLine::Heads(heads) => {
            let heads = heads.iter().map(|head| format!("{head:>CELL$}")).collect::<Vec<_>>().concat();
            shown!("{:NAME$}{heads}", "  steps")
        }
        InsightLine::Bar { name, count, whole, .. } => {
            let (share, bar) = (charts::share(*count, *whole), charts::bar(*count, *whole, BAR));
            shown!("  {name:26}{count:>7}{share:>7}  {bar}")
        }
        InsightLine::Heat { name, cells, most } => {
            let cell = |count: usize| {
                if count == 0 { "·".into() } else { format!("{} {count}", charts::shade(count, *most)) }
            };
            let cells = cells.iter().map(|(count, _)| format!("{:>CELL$}", cell(*count))).collect::<Vec<_>>().concat();
            shown!("  {name:26}{cells}")
        }
        InsightLine::Bin { name, confidence, correct, graded, note, .. } => {
            let accuracy = *correct as f64 / (*graded).max(1) as f64;
            let (part, share) = (format!("{correct}/{graded}"), charts::share(*correct, *graded));
            let scale = charts::dumbbell(accuracy, *confidence, SCALE);
            let note = if note.is_empty() { String::new() } else { format!("  {note}") };
            shown!("  {name:26}{part:>7}{share:>7}  {scale}  {:+.0}{note}", (accuracy - confidence) * 100.0)
        }
    };
    lines.iter().map(line).collect()
}

/// The lines as JSON, an object a bar or cell.
pub fn write_json(lines: &[InsightLine], out: &mut dyn Sink) {
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
            InsightLine::Bin { name, confidence, correct, graded, filter, .. } => Style::ASCII.line(out, |object| {
                object.put("chart", chart).put("name", name.as_str()).put("confidence", *confidence);
                object.put("count", *correct).put("of", *graded).put("filter", filter.as_str());
            }),
            InsightLine::Blank | InsightLine::Heads(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::types::TypeRegistry;
    use crate::table::filter::Filter;
    use crate::table::row::{Flag, RowFacts};

    fn counted() -> Insights {
        let mut insights = Insights::default();
        for (n, flag) in [Flag::Right, Flag::Wrong, Flag::Wrong].into_iter().enumerate() {
            let mut row = RowFacts::unchecked(0, 1);
            row.confidence = n as f32 / 2.0;
            row.set(Flag::Checked);
            row.set(flag);
            insights.count(&row, 1);
        }
        insights
    }

    #[test]
    fn every_cell_is_a_filter_that_is_understood() {
        let lines = lines(&counted());
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
        let lines = lines(&counted());
        let text: Vec<String> = text(&lines).into_iter().map(Shown::into_string).collect();
        assert!(text.iter().any(|line| line.starts_with("  wrong                           2   67 %  ██")), "{text:?}");
        assert!(
            text.iter()
                .any(|line| line
                    == "Risk and coverage             wrong among the records with at least this confidence")
        );
        assert!(text.iter().any(|line| line.starts_with("  conf ≥ 0.5, 67 % of all         2  100 %")), "{text:?}");
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
