//! Draws the run screen.

use ratatui::buffer::Buffer;

use crate::screens::run::state::RecordView;
use crate::widgets::keymap::Keymap;
use crate::widgets::look::{Look, Spans};
use stepscope_base::text::Shown;

pub(crate) fn draw(view: &RecordView, buf: &mut Buffer, look: Look<'_>) {
    for (pane, place, look) in view.areas.on_screen(view.pane, look) {
        (pane.def().draw)(view, place, buf, look);
    }
}

/// Explains what is under the cursor, in one sentence.
pub(crate) fn explain(view: &RecordView, keymap: &Keymap) -> Shown {
    (view.pane.def().explain)(view, keymap)
}

/// Describes what the cursor is on.
pub(crate) fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    (view.pane.def().describe)(view, look)
}
