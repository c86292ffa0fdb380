//! Definition of a screen: all that differs from one to the next, in one row.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::app::across::keys::NOT_HERE;
use crate::app::msg::Effects;
use crate::app::state::App;
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::list::Move;
use crate::widgets::look::{Look, Spans};
use crate::widgets::sign::Meaning;
use stepscope_base::text::Shown;

/// Definition of a screen. A new one takes the rest from [`ScreenDef::BASE`].
pub(crate) struct ScreenDef {
    /// The glyphs that it uses, for the help.
    pub signs: &'static [&'static [Meaning]],
    /// Draws the body.
    pub draw: fn(&App, Rect, &mut Buffer, Look<'_>),
    /// Describes what the cursor is on, for the line above the footer.
    pub describe: fn(&App, Look<'_>) -> Spans,
    /// Explains what the cursor is on, in one sentence.
    pub explain: fn(&App) -> Option<Shown>,
    /// Checks that an action can be done here; `None`: it is left to what holds everywhere.
    pub allowed: fn(&App, Action) -> Option<Result<(), Reason>>,
    /// Does an action, so many times; `None`: it is not for this screen.
    pub act: fn(&mut App, Action, isize) -> Option<Effects>,
    /// Moves the cursor, or scrolls.
    pub go: fn(&mut App, Move),
    /// Keeps cursors on screen wherever it is in the stack; `None`: `go` does it while it is in front.
    pub settle: Option<fn(&mut App)>,
    /// Gives the keys to the pane under the mouse.
    pub focus: fn(&mut App, Position),
    /// Takes a click in the body: brings the cursor there, and returns the action that a click on it asks for.
    pub click: fn(&mut App, Position, Rect) -> Option<Action>,
    /// Splits the body into its own part and that of the records which the number under the cursor counts.
    pub split: fn(&App, Rect) -> (Rect, Rect),
    /// Returns the filter of that number.
    pub filter: fn(&App) -> Option<String>,
}

impl ScreenDef {
    /// Shows nothing, and refuses what does not mean the same everywhere.
    pub(crate) const BASE: Self = Self {
        signs: &[],
        draw: |_, _, _, _| {},
        describe: |_, _| Vec::new(),
        explain: |_| None,
        allowed: |_, action| Some(need(action.is_plain(), NOT_HERE)),
        act: |_, _, _| None,
        go: |_, _| {},
        settle: None,
        focus: |_, _| {},
        click: |_, _, _| None,
        split: |_, body| (body, Rect::default()),
        filter: |_| None,
    };
}
