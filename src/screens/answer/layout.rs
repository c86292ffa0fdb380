//! Where the panes of the answer screen are.

use ratatui::layout::Rect;

use crate::screens::answer::state::AnswerPane;
use crate::widgets::layout::{WIDE, parts, split_rows};
use crate::widgets::panes::Areas;

/// The panes below the question, by the one that has the keys.
pub(crate) fn areas(area: Rect, maximised: bool, focus: AnswerPane) -> Areas<AnswerPane> {
    use AnswerPane::{Checks, Citation, Document, Items};
    let body = parts(area).body;
    let (_, body) = split_rows(body, question_height(body));
    Areas::new(body, maximised.then_some(focus), || {
        if body.width >= WIDE {
            let side = (body.width * 3 / 10).clamp(32, 64);
            let middle = Rect { x: body.x + side, width: body.width - 2 * side, ..body };
            let right = Rect { x: middle.right(), width: side, ..body };
            let (items, citation) = split_rows(Rect { width: side, ..body }, body.height * 11 / 20);
            return vec![(Items, items), (Document, middle), (Citation, citation), (Checks, right)];
        }
        // What has the keys gets more; the citation and the checks share the last place.
        let items_height = if focus == Items { body.height * 3 / 10 } else { body.height / 4 };
        let (items, rest) = split_rows(body, items_height.max(4));
        let (document, last) = split_rows(rest, if focus == Document { rest.height * 2 / 3 } else { rest.height / 2 });
        let shared = if focus == Checks { Checks } else { Citation };
        vec![(Items, items), (Document, document), (shared, last)]
    })
}

/// The question stands above the panes, without a border.
pub(crate) fn question_height(body: Rect) -> u16 {
    u16::from(body.height >= 10) + u16::from(body.height >= 30)
}
