//! Where the panes of the answer screen are.

use ratatui::layout::Rect;

use crate::screens::answer::state::AnswerPane;
use crate::widgets::layout::{WIDE, parts, split_rows};

/// Where a pane of the answer screen is, beside the one that has the keys; of no height if it is hidden.
pub(crate) fn pane_area(area: Rect, maximised: bool, focused: AnswerPane, pane: AnswerPane) -> Rect {
    use AnswerPane::{Checks, Citation, Document, Items};
    let body = parts(area).body;
    let body = Rect { y: body.y + question_height(body), height: body.height - question_height(body), ..body };
    if maximised {
        return if pane == focused { body } else { Rect { height: 0, ..body } };
    }
    if body.width >= WIDE {
        let side = (body.width * 3 / 10).clamp(32, 64);
        let left = Rect { width: side, ..body };
        let middle = Rect { x: body.x + side, width: body.width - 2 * side, ..body };
        let right = Rect { x: middle.right(), width: side, ..body };
        let (items, citation) = split_rows(left, body.height * 11 / 20);
        return match pane {
            Items => items,
            Citation => citation,
            Document => middle,
            Checks => right,
        };
    }
    // What has the keys gets more; the citation and the checks share the last place.
    let items_height = if focused == Items { body.height * 3 / 10 } else { body.height / 4 };
    let (items, rest) = split_rows(body, items_height.max(4));
    let (document, last) = split_rows(rest, if focused == Document { rest.height * 2 / 3 } else { rest.height / 2 });
    let hidden = Rect { height: 0, ..body };
    match pane {
        Items => items,
        Document => document,
        Citation => {
            if focused == Checks {
                hidden
            } else {
                last
            }
        }
        Checks => {
            if focused == Checks {
                last
            } else {
                hidden
            }
        }
    }
}

/// The question stands above the panes, without a border.
pub(crate) fn question_height(body: Rect) -> u16 {
    u16::from(body.height >= 10) + u16::from(body.height >= 30)
}
