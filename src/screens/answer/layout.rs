//! Where the panes of the answer screen are.

use ratatui::layout::Rect;

use crate::app::open_record::Note;
use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::widgets::layout::{WIDE, parts, rows, split_columns, split_rows};
use crate::widgets::panes::Areas;

/// Columns that the panes next to the document take at most: the document gets the rest.
const LEFT: u16 = 84;

/// Rows that the citation keeps between the items and the checks.
const KEPT: u16 = 7;

/// Lays out the panes below the question, by the one that has the keys.
pub(crate) fn areas(area: Rect, maximised: bool, answer: &AnswerView, notes: &[Note]) -> Areas<AnswerPane> {
    use AnswerPane::{Checks, Citation, Document, Items};
    let focus = answer.pane;
    let body = parts(area).body;
    let (_, body) = split_rows(body, question_height(body));
    let items = rows(answer.rows.len().max(1)).saturating_add(2);
    Areas::new(body, maximised.then_some(focus), || {
        if body.width >= WIDE {
            let (left, document) = split_columns(body, (body.width * 9 / 20).min(LEFT));
            let (items, rest) = split_rows(left, items.min(body.height / 3));
            // The citation takes what it holds, the checks the rest, which is more where there are findings.
            let share = if notes.is_empty() { rest.height / 2 } else { rest.height * 2 / 5 };
            let kept = if answer.citation_lines == 0 { 3 } else { KEPT };
            let wanted = rows(answer.citation_lines).saturating_add(2).clamp(kept.min(share), share);
            let (citation, checks) = split_rows(rest, wanted);
            return vec![(Items, items), (Document, document), (Citation, citation), (Checks, checks)];
        }
        // What has the keys gets more; the citation and the checks share the last place.
        let items_height = if focus == Items { body.height * 2 / 5 } else { body.height / 4 };
        let (items, rest) = split_rows(body, items.min(items_height.max(4)));
        let most = if focus == Document { rest.height / 3 } else { rest.height / 2 };
        let (shared, wanted) = if focus == Checks {
            (Checks, most)
        } else {
            // The citation takes what it holds, the document the rest.
            (Citation, rows(answer.citation_lines).saturating_add(2).clamp(3.min(most), most))
        };
        let (document, last) = split_rows(rest, rest.height - wanted);
        vec![(Items, items), (Document, document), (shared, last)]
    })
}

/// Returns the height of the question, which is above the panes and has no border.
pub(crate) fn question_height(body: Rect) -> u16 {
    u16::from(body.height >= 10) + u16::from(body.height >= 30)
}
