//! Definition of a pane of the run screen: all that differs from one to the next, in one row.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::run::pane::{Opens, RunPane};
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::{Action, Keymap, Reason};
use crate::widgets::list::{List, Move};
use crate::widgets::look::{Look, Spans};
use stepscope_base::json::Pointer;
use stepscope_base::text::Shown;

/// Places of the run screen; those that there is no room for are empty.
#[derive(Default)]
pub(crate) struct Places {
    /// The top.
    pub question: Rect,
    /// To the right of the question.
    pub worked: Rect,
    /// The upper part of the left column.
    pub steps: Rect,
    /// Below the steps.
    pub step: Rect,
    /// The upper part of the right column.
    pub state: Rect,
    /// Below the state.
    pub findings: Rect,
    /// Below the step or the findings.
    pub chart: Rect,
    /// The third column.
    pub call: Rect,
    /// In place of the step, or next to it.
    pub messages: Rect,
}

/// Place of a pane.
pub(crate) enum PanePlace {
    /// Place of its own.
    Own(fn(&Places) -> Rect),
    /// The place that all charts share: the one with the keys is there, else the first that holds something.
    Chart,
}

/// Definition of a pane. A new one takes the rest from [`PaneDef::BASE`]. What it changes is a method of the state; the rest
/// looks at a record and changes nothing.
pub(crate) struct PaneDef {
    /// Actions that the pane is for: first in the palette.
    pub actions: &'static [Action],
    /// Tells whether there is something to show.
    pub holds: fn(&RecordView) -> bool,
    /// The place.
    pub place: PanePlace,
    /// The pane that gets the keys where there is no room for this one; `None`: it fills the screen then.
    pub otherwise: Option<RunPane>,
    /// Rows that it takes from the findings while it has the keys on a narrow screen, of these; `None`: none.
    pub from_findings: Option<fn(u16) -> u16>,
    /// Counts the lines of a text or a chart.
    pub lines: fn(&RecordView, Look<'_>) -> usize,
    /// Keeps the cursor of a list on screen; `None`: a text or a chart, which has none.
    pub settled: Option<fn(&RecordView, Rect, Look<'_>) -> List>,
    /// Draws the pane.
    pub draw: fn(&RecordView, Rect, &mut Buffer, Look<'_>),
    /// Describes what the cursor is on, for the line above the footer.
    pub describe: fn(&RecordView, Look<'_>) -> Spans,
    /// Explains what the cursor is on, in one sentence.
    pub explain: fn(&RecordView, &Keymap) -> Shown,
    /// Returns the row that the cursor is on; none where the pane only scrolls.
    pub cursor: fn(&RecordView) -> Option<usize>,
    /// Finds the row at a line of the pane.
    pub row_at: fn(&RecordView, usize, Rect, Look<'_>) -> Option<usize>,
    /// Returns the place in the record that the cursor is on.
    pub pointer: fn(&RecordView) -> Option<Pointer>,
    /// Returns the text that the cursor is on, with a title.
    pub text: fn(&RecordView) -> Option<(Shown, Shown)>,
    /// Tells whether the cursor is on what can be overridden.
    pub can_edit: fn(&RecordView) -> bool,
    /// Moves the cursor, or scrolls.
    pub go: fn(&mut RecordView, RunPane, Move),
    /// Does what is due behind a click on a row.
    pub clicked: fn(&mut RecordView),
    /// Opens what the cursor is on; `None`: its text in full.
    pub open: Option<fn(&mut RecordView) -> Opens>,
    /// Goes to the left or right, and says where that leads, if it does not show.
    pub sideways: fn(&mut RecordView, isize) -> Result<Option<Shown>, Reason>,
}

impl PaneDef {
    /// Shows nothing, scrolls, and is about the step in front.
    pub(crate) const BASE: Self = Self {
        actions: &[],
        holds: |_| true,
        place: PanePlace::Chart,
        otherwise: None,
        from_findings: None,
        lines: |_, _| 0,
        settled: None,
        draw: |_, _, _, _| {},
        describe: |_, _| Vec::new(),
        explain: |_, _| Shown::default(),
        cursor: |_| None,
        row_at: |_, _, _, _| None,
        pointer: RecordView::pointer_of_step,
        text: RecordView::text_of_step,
        can_edit: |_| false,
        go: RecordView::scroll_pane,
        clicked: |_| {},
        open: None,
        sideways: RecordView::step_sideways,
    };
}
