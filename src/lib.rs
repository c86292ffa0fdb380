//! stepscope: see why a language model's run went wrong.
//!
//! The program: `cli`, the commands without a screen; the screen: `app`, `screens`, `dialogs` and `widgets`; and `demo`,
//! its tours. The libraries are below `crates/`: `base` (text and JSON), `core` (records and every judgment of them), `io`
//! (files, databases, models) and `terminal`, and two small ones, `schema` and `memory`. `base` <- `core` <- `io` <-
//! `stepscope`. Data flows one way: input -> message -> update -> effect -> message. `tests/it/architecture.rs` reads all
//! sources and fails where a law is broken.

/// The commands that need no screen. Law: knows no screen.
pub mod cli;

#[cfg(feature = "screen")]
/// The program with a screen: state, messages and effects, and what performs them.
pub mod app {
    /// Comparison and dashboards: results worked out across all records.
    pub mod across;
    /// The actions: what they are, and what they need.
    pub(crate) mod actions;
    /// The actions that can be done now.
    pub(crate) mod allowed;
    /// The first line and the last two, and what is typed there.
    pub(crate) mod bars;
    /// The clock of a call that runs.
    pub(crate) mod call_clock;
    /// Model calls, each a task of its own.
    pub mod calls;
    /// The place in the open record that the cursor is on.
    pub(crate) mod cursor;
    /// Performs the effects.
    pub mod effects;
    /// Exports from the screen.
    pub mod export;
    /// Tree of forks: which record is a fork of which.
    pub(crate) mod fork_tree;
    /// Forks: the files that keep them, saving and following them.
    pub(crate) mod forks;
    /// Places that jumps left, and the way back.
    pub(crate) mod jumps;
    /// Lines on their way to the disk, and those that could not be saved.
    pub mod log;
    /// The server and model that the keys ask.
    pub mod model_choice;
    /// Messages and effects.
    pub mod msg;
    /// The actions that footer and palette offer, and the names of keys.
    pub mod offered;
    /// The open record, ready for the screens.
    pub mod open_record;
    /// The way from background threads to the event loop.
    pub mod outbox;
    /// Presenting: what differs while the program is shown to others.
    pub mod present;
    /// Work of threads on demand: reading, writing files, working out.
    pub(crate) mod read;
    /// Names, counts and places of the records.
    pub mod records;
    /// Review mode: verdicts, undo and redo, drafts, the queue.
    pub mod review;
    /// Reads reviews, keeps drafts and looks for reviewed records, on threads of its own.
    pub mod review_worker;
    /// Links into the records: followed and copied.
    pub mod seek;
    /// One session, from the start to the exit code.
    pub mod session;
    /// Text that find looks for.
    pub mod sought;
    /// The whole state.
    pub mod state;
    /// The status line, and what it said before.
    pub mod status_line;
    /// The list of the threads of a session.
    pub(crate) mod threads;
    /// The one place where the state changes.
    pub(crate) mod update;
    /// Draws the whole screen.
    pub(crate) mod view;
    /// Named views of the table.
    pub mod views;
    /// Marks of the next record to go to.
    pub(crate) mod wanted;
}

#[cfg(feature = "screen")]
/// Tours: the program led from scene to scene, with pictures and recordings of it.
pub mod demo {
    /// A tour as a page or as Markdown.
    pub(crate) mod handout;
    /// Presenter's notes on a second terminal.
    pub(crate) mod notes;
    /// Pictures of a screen.
    pub(crate) mod picture;
    /// Playing a tour, on a terminal or without one.
    pub mod play;
    /// Recording a tour from what a person does.
    pub(crate) mod record;
    /// A tour as a program.
    pub(crate) mod tour;
}

#[cfg(feature = "screen")]
/// The screens, each a folder that owns its state, its keys, its drawing and its mouse.
pub mod screens {
    /// The items on which reviewers disagree.
    pub(crate) mod adjudication;
    /// A structured answer with its citations.
    pub(crate) mod answer;
    /// The records that the number under the cursor of a chart counts.
    pub mod cell_records;
    /// The comparison with a baseline.
    pub(crate) mod compare;
    /// The dashboard of the reviews.
    pub(crate) mod dashboard;
    /// The way from the name of a screen to what it is.
    pub(crate) mod defs;
    /// Charts of all records.
    pub mod insights;
    /// A record as JSON.
    pub(crate) mod json;
    /// The screens by their names alone.
    pub mod kind;
    /// A run that is being made, step by step.
    pub mod live;
    /// A re-run of a step or an answer.
    pub mod rerun;
    /// One run.
    pub mod run;
    /// Definition of a screen.
    pub(crate) mod screen_def;
    /// Two records side by side.
    pub(crate) mod side_by_side;
    /// Stack of screens, with at most one dialog in front.
    pub mod stack;
    /// The table of records.
    pub mod table;
    /// Wishes of the screens that ask a model.
    pub(crate) mod wish;
}

#[cfg(feature = "screen")]
/// The dialogs, which lie over a screen and take the keys.
pub mod dialogs {
    /// The table of contents of a document.
    pub(crate) mod contents;
    /// The derivation of a computed value.
    pub(crate) mod derivation;
    /// Every dialog with what it holds.
    pub mod dialog;
    /// The editor of a value or a prompt.
    pub mod editor;
    /// The forms of an export.
    pub mod export;
    /// Suggested fixes of a procedure.
    pub(crate) mod fixes;
    /// The help.
    pub(crate) mod help;
    /// Opening, closing, scrolling, and keys.
    pub(crate) mod keys;
    /// The command palette.
    pub(crate) mod palette;
    /// A text in full.
    pub(crate) mod popup;
    /// The repair of a procedure by a model.
    pub(crate) mod repair;
    /// The reward by verifier stage.
    pub(crate) mod rewards;
    /// Named views of the table.
    pub(crate) mod views;
    /// Content of each dialog's window.
    pub(crate) mod window;
}

#[cfg(feature = "screen")]
/// Parts that screens and dialogs are made of. Law: knows no screen.
pub mod widgets {
    /// The rows of the actions.
    pub(crate) mod action_rows;
    /// The screen in ASCII.
    pub(crate) mod ascii;
    /// Borders that neighbours share.
    pub(crate) mod borders;
    /// Bars, heat maps and scales.
    pub(crate) mod charts;
    /// Typed commands and the actions that they name.
    pub(crate) mod command;
    /// Fuzzy ranking for the palette.
    pub(crate) mod fuzzy;
    /// The one table of keys.
    pub mod keymap;
    /// The parts of the terminal, and the inside of a pane.
    pub mod layout;
    /// A line that is being typed.
    pub mod line;
    /// A cursor over n rows.
    pub(crate) mod list;
    /// Drawing helpers of the panes: frames, rows and scroll marks in the colours of the theme.
    pub(crate) mod look;
    /// Panes: to the next one, under the mouse, on screen.
    pub(crate) mod panes;
    /// Wrapped and painted text.
    pub(crate) mod prose;
    /// Glyphs, one meaning each.
    pub(crate) mod sign;
    /// Roles to styles.
    pub mod theme;
    /// Windows over a screen.
    pub(crate) mod window;
}
