//! Where the panes of the answer screen are.

use ratatui::layout::Rect;

use crate::app::open_record::OpenRecord;
use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::screens::run::layout::question_rows;
use crate::widgets::layout::{WIDE, inner_width, pane_above, pane_left, parts, rows};
use crate::widgets::panes::Areas;
use crate::widgets::prose::wrapped;

/// Columns that the panes next to the document take at most: the document gets the rest.
const LEFT: u16 = 84;

/// Rows that the citation keeps between the items and the checks, where the checks leave them.
const KEPT: u16 = 7;
/// Rows that it has in any case.
const LEAST: u16 = 3;

/// Least height of a screen whose panes leave room for the question.
const HIGH: u16 = 10;

/// Lays out the panes by the one that has the keys, below the question.
pub(crate) fn areas(area: Rect, maximised: bool, opened: &OpenRecord, answer: &AnswerView) -> Areas<AnswerPane> {
    use AnswerPane::Question;
    let focus = answer.pane;
    let body = parts(area).body;
    let height = question_height(opened, answer, body);
    let alone = maximised || focus == Question && height == 0;
    Areas::new(body, alone.then_some(focus), || {
        let (question, body) = pane_above(body, height);
        let question = Some((Question, question)).filter(|(_, place)| !place.is_empty());
        question.into_iter().chain(below_question(body, answer)).collect()
    })
}

/// Returns the height of the question: a third of the screen at most.
fn question_height(opened: &OpenRecord, answer: &AnswerView, body: Rect) -> u16 {
    if body.height < HIGH || !answer.has_question {
        return 0;
    }
    question_rows(opened, inner_width(body), body).saturating_add(2).min(body.height / 3)
}

fn below_question(body: Rect, answer: &AnswerView) -> Vec<(AnswerPane, Rect)> {
    use AnswerPane::{Checks, Citation, Document, Items};
    let focus = answer.pane;
    if body.width >= WIDE {
        let (left, document) = pane_left(body, (body.width * 2 / 5).min(LEFT));
        let (items, rest) = pane_above(left, items_height(answer, left).min(body.height / 3));
        let wanted = [answer.citation_lines, answer.checks_lines].map(|lines| rows(lines).saturating_add(2));
        let kept = if answer.citation_lines == 0 { LEAST } else { KEPT };
        let wanted = citation_height(rest.height, wanted, kept);
        let (citation, checks) = pane_above(rest, wanted);
        return vec![(Items, items), (Document, document), (Citation, citation), (Checks, checks)];
    }
    // What has the keys gets more; the citation and the checks share the last place.
    let most = if focus == Items { body.height * 2 / 5 } else { body.height / 4 };
    let (items, rest) = pane_above(body, items_height(answer, body).min(most.max(4)));
    let most = if focus == Document { rest.height / 3 } else { rest.height / 2 };
    let (shared, wanted) = if focus == Checks {
        (Checks, most)
    } else {
        // The citation takes what it holds, the document the rest.
        (Citation, rows(answer.citation_lines).saturating_add(2).clamp(3.min(most), most))
    };
    let (document, last) = pane_above(rest, (rest.height + 1).saturating_sub(wanted));
    vec![(Items, items), (Document, document), (shared, last)]
}

/// Returns the height that the items take, or the text in their place.
fn items_height(answer: &AnswerView, area: Rect) -> u16 {
    let lines = match &answer.shown.text {
        Some(text) => wrapped(text.as_str(), inner_width(area), usize::from(area.height)).count(),
        None => answer.rows.len(),
    };
    rows(lines.max(1)).saturating_add(2)
}

/// Returns the height of the citation above the checks: each takes what it holds; where there is too little for both, the
/// citation has two fifths, or what the checks leave. What neither needs is below the checks.
fn citation_height(height: u16, [citation, checks]: [u16; 2], kept: u16) -> u16 {
    let share = (height * 2 / 5).max(height.saturating_sub(checks));
    let kept = kept.min(height.saturating_sub(checks)).max(LEAST);
    citation.clamp(kept.min(share), share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_citation_and_the_checks_share_by_what_they_hold() {
        // Both hold little: each has it. One holds much: it has what the other leaves. Both do: two fifths.
        let cases = [(10, 9, 10), (60, 9, 41), (10, 60, 10), (60, 60, 20), (2, 60, 3), (2, 9, 7), (5, 45, 5)];
        for (citation, checks, expected) in cases {
            assert_eq!(citation_height(50, [citation, checks], 7), expected, "{citation} {checks}");
        }
        assert_eq!(citation_height(4, [60, 60], 7), 1);
    }
}
