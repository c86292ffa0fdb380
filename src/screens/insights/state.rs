//! What the charts show, line by line, and the cursor among their cells.

use crate::screens::table::state::{SortBy, SortColumn};
use crate::widgets::list::{List, Move};
use stepscope_core::record::RecordKind;
use stepscope_core::rules::id::RuleId;
use stepscope_core::table::insights::{BINS, Insights, RowOutcome, STEPS};
use stepscope_core::triage::Fix;

/// One line of the screen.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum InsightLine {
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
    /// A bin of confidences: the mean confidence and how many were correct.
    Bin { name: String, confidence: f64, correct: usize, graded: usize, filter: String },
}

impl InsightLine {
    /// The filters of its cells.
    fn filters(&self) -> Vec<&str> {
        match self {
            Self::Bar { filter, .. } | Self::Bin { filter, .. } => vec![filter],
            Self::Heat { cells, .. } => cells.iter().map(|(_, filter)| filter.as_str()).collect(),
            _ => Vec::new(),
        }
    }
}

/// All lines, from the top; a chart of nothing is left out.
pub(crate) fn lines(insights: &Insights) -> Vec<InsightLine> {
    let mut lines = Vec::new();
    for chart in
        [outcomes(insights), fixes(insights), heat(insights), calibration(insights), rules(insights), kinds(insights)]
    {
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

const OUTCOME: &str = "Outcome";
const FIX: &str = "Where to fix";
const HEAT: &str = "Where to fix, by number of steps";
const CALIBRATION: &str = "Confidence and accuracy";
const RULES: &str = "Records by rule";
const KIND: &str = "Kind";

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
    let measured =
        format!("ECE {:.3}   Brier {:.3}   n = {}", insights.calibration_error(), insights.brier(), insights.graded());
    let mut lines = vec![InsightLine::Title(CALIBRATION, measured)];
    for (n, bin) in insights.bins.iter().enumerate().filter(|(_, bin)| bin.graded > 0) {
        let [from, to] = [n, n + 1].map(|edge| edge as f64 / BINS as f64);
        let upper = if n + 1 == BINS { format!("conf<={to:.1}") } else { format!("conf<{to:.1}") };
        lines.push(InsightLine::Bin {
            name: format!("{from:.1}–{to:.1}"),
            confidence: bin.confidence(),
            correct: bin.correct,
            graded: bin.graded,
            filter: format!("conf>={from:.1} {upper} -correct:unknown"),
        });
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

/// The chart of a column of the table, by its title.
pub(crate) const fn chart_of(sort: SortBy) -> &'static str {
    match sort {
        SortBy::Kind => KIND,
        SortBy::Fix => FIX,
        SortBy::Findings => RULES,
        SortBy::Number(SortColumn::Steps) => HEAT,
        SortBy::Number(SortColumn::Confidence) => CALIBRATION,
        _ => OUTCOME,
    }
}

/// The cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InsightCursor {
    /// The line, among those with cells, and the first line on screen.
    pub list: List,
    /// The cell of the line.
    pub cell: usize,
}

impl InsightCursor {
    /// The filter of the cell under the cursor.
    pub(crate) fn filter(self, lines: &[InsightLine]) -> Option<String> {
        let filters = lines.get(line_at(lines, self.list.at)?)?.filters();
        filters.get(self.cell).map(|filter| (*filter).to_owned())
    }

    /// Moves among the lines with cells, and keeps the cursor on screen.
    pub(crate) fn go(&mut self, movement: Move, lines: &[InsightLine], height: usize) {
        let count = lines.iter().filter(|line| !line.filters().is_empty()).count();
        let mut list = List { at: self.list.at, top: 0 };
        list.go(movement, count, height);
        self.list.at = list.at;
        let here = line_at(lines, self.list.at).unwrap_or(0);
        let mut view = List { at: if self.list.at == 0 { 0 } else { here }, top: self.list.top };
        view.settle(lines.len(), height);
        self.list.top = view.top;
        self.turn(0, lines);
    }

    /// To another cell of the line.
    pub(crate) fn turn(&mut self, by: isize, lines: &[InsightLine]) {
        let line = line_at(lines, self.list.at).and_then(|at| lines.get(at));
        let last = line.map_or(0, |line| line.filters().len().saturating_sub(1));
        self.cell = self.cell.saturating_add_signed(by).min(last);
    }

    /// To the first line of a chart.
    pub(crate) fn move_to_chart(&mut self, title: &str, lines: &[InsightLine], height: usize) {
        let above = lines.iter().position(|line| matches!(line, InsightLine::Title(own, _) if *own == title));
        let before =
            above.map_or(0, |above| lines.iter().take(above).filter(|line| !line.filters().is_empty()).count());
        self.cell = 0;
        self.go(Move::To(before), lines, height);
    }
}

/// The line with the n-th cells.
pub(crate) fn line_at(lines: &[InsightLine], n: usize) -> Option<usize> {
    let with_cells = lines.iter().enumerate().filter(|(_, line)| !line.filters().is_empty());
    with_cells.map(|(at, _)| at).nth(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_core::record::types::TypeRegistry;
    use stepscope_core::table::filter::Filter;
    use stepscope_core::table::row::{Flag, RowFacts};

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
    fn the_cursor_walks_cells_and_charts() {
        let lines = lines(&counted());
        let mut cursor = InsightCursor::default();
        assert_eq!(cursor.filter(&lines).as_deref(), Some("correct:true"));
        cursor.go(Move::By(1), &lines, 3);
        assert_eq!(cursor.filter(&lines).as_deref(), Some("correct:false"));
        cursor.move_to_chart(CALIBRATION, &lines, 3);
        assert!(cursor.filter(&lines).is_some_and(|filter| filter.starts_with("conf>=0.0 ")));
        cursor.go(Move::To(usize::MAX), &lines, 3);
        assert!(cursor.filter(&lines).is_some_and(|filter| filter.starts_with("kind:")));
    }
}
