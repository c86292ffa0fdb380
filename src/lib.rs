//! stepscope: see why a language model's run went wrong.
//!
//! The program: `cli`, the commands without a screen, and `tui`, the screen. Both stand on the libraries below `crates/`:
//! `base` (text and JSON), `core` (records and all that can be said of them), `io` (files, databases, models) and
//! `terminal`; `base` <- `core` <- `io` <- `stepscope`. Data flows one way: input -> message -> update -> effect ->
//! message. `tests/architecture.rs` reads all sources and fails where a law is broken.

/// The commands that need no screen. Law: knows no screen.
pub mod cli;

/// The screen. Law: nothing knows `tui`.
pub mod tui {
    /// What of the table is left to judge.
    pub mod agenda;
    /// The actions that can be done now.
    pub mod allowed;
    /// The whole state of the screen.
    pub mod app;
    /// Model calls, each a task of its own.
    pub mod calls;
    /// How a computed value comes about, as a tree to fold.
    pub mod derivation;
    /// What is worked out from all records together: comparison, records side by side, boards, disputes.
    pub mod desk;
    /// Dialogs: what lies over a screen and takes the keys.
    pub mod dialog;
    /// A text that is being typed.
    pub mod editor;
    /// What was changed before a record is gone on with.
    pub mod edits;
    /// Does what update asked for.
    pub mod effects;
    /// Does the errands of the desk.
    pub mod errands;
    /// The evidence screen's state.
    pub mod evidence;
    /// Which record is a fork of which.
    pub mod family;
    /// Forks on their way to the disk.
    pub mod forks;
    /// What is in front: a stack of screens and at most one dialog.
    pub mod front;
    /// Fuzzy ranking for the palette.
    pub mod fuzzy;
    /// The run screen's state.
    pub mod inspect;
    /// The one table of keys.
    pub mod keymap;
    /// What a chain of verifiers says of the open record.
    pub mod ladder;
    /// A line that is being typed.
    pub mod line;
    /// A cursor over n rows.
    pub mod list;
    /// What find has found in the table.
    pub mod matches;
    /// The open record, ready for the panes.
    pub mod model;
    /// What the screen is told, and what it asks to be done.
    pub mod msg;
    /// The order of the table's rows.
    pub mod order;
    /// A record as JSON, folded or open.
    pub mod outline;
    /// The panes: each draws one part of the screen.
    pub mod panes;
    /// Computed values and quantities, ready for the panes.
    pub mod proof;
    /// Wrapped and painted text.
    pub mod prose;
    /// The re-run screen's state.
    pub mod rerun;
    /// The reviews of the open records, and what is about to be said.
    pub mod review;
    /// Saves and reads reviews on threads of its own.
    pub mod scribe;
    /// One session at the screen.
    pub mod session;
    /// A typed answer, ready for the panes.
    pub mod sheet;
    /// The table of records.
    pub mod table;
    /// Roles to styles.
    pub mod theme;
    /// The one place where the state changes.
    pub mod update;
    /// Where everything is on screen, and drawing it.
    pub mod view;
}
