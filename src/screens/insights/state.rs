//! Lines of the charts, and the cursor among their cells.

use crate::screens::table::state::{SortBy, SortColumn};
use crate::widgets::list::{List, Move};
use stepscope_report::insight_lines::{
    AGREEMENT, CALIBRATION, FITNESS_CHART, FIX, HEAT, InsightLine, KIND, OUTCOME, REWARD, RULES, SHARED_VALUES,
};

/// Returns the title of the chart of a column of the table.
pub(crate) const fn chart_of(sort: SortBy) -> Option<&'static str> {
    Some(match sort {
        SortBy::Kind => KIND,
        SortBy::Fix => FIX,
        SortBy::Findings => RULES,
        SortBy::Number(SortColumn::Steps) => HEAT,
        SortBy::Number(SortColumn::Confidence) => CALIBRATION,
        SortBy::Number(SortColumn::Fitness) => FITNESS_CHART,
        SortBy::Number(SortColumn::Reward) => REWARD,
        SortBy::Number(SortColumn::Agreement) => AGREEMENT,
        SortBy::Number(SortColumn::SharedValues) => SHARED_VALUES,
        SortBy::Correct => OUTCOME,
        SortBy::Position | SortBy::Review | SortBy::Number(SortColumn::Pred) => return None,
    })
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
    /// Returns the filter of the cell under the cursor.
    pub(crate) fn filter(self, lines: &[InsightLine]) -> Option<String> {
        let filters = lines.get(line_at(lines, self.list.at)?)?.filters();
        filters.get(self.cell).map(|filter| (*filter).to_owned())
    }

    /// Moves among the lines with cells, and keeps the cursor on screen.
    pub(crate) fn go(&mut self, movement: Move, lines: &[InsightLine], height: usize) {
        let count = lines.iter().filter(|line| !line.filters().is_empty()).count();
        self.list.go_among(movement, count, (lines.len(), height), |n| line_at(lines, n).unwrap_or(0));
        self.turn(0, lines);
    }

    /// Goes to another cell of the line.
    pub(crate) fn turn(&mut self, by: isize, lines: &[InsightLine]) {
        let line = line_at(lines, self.list.at).and_then(|at| lines.get(at));
        let last = line.map_or(0, |line| line.filters().len().saturating_sub(1));
        self.cell = self.cell.saturating_add_signed(by).min(last);
    }

    /// Goes to the first line of a chart.
    pub(crate) fn move_to_chart(&mut self, title: &str, lines: &[InsightLine], height: usize) {
        let above = lines.iter().position(|line| matches!(line, InsightLine::Title(own, _) if *own == title));
        let before =
            above.map_or(0, |above| lines.iter().take(above).filter(|line| !line.filters().is_empty()).count());
        self.cell = 0;
        self.go(Move::To(before), lines, height);
    }
}

/// Finds the line with the n-th cells.
pub(crate) fn line_at(lines: &[InsightLine], n: usize) -> Option<usize> {
    let with_cells = lines.iter().enumerate().filter(|(_, line)| !line.filters().is_empty());
    with_cells.map(|(at, _)| at).nth(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_judge::row::{Flag, RowFacts};
    use stepscope_record::models::ModelNames;
    use stepscope_report::insight_lines::lines;
    use stepscope_table::insights::Insights;

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
    fn the_cursor_walks_cells_and_charts() {
        let lines = lines(&counted(), &ModelNames::default());
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
