//! stepscope: see why a language model's run went wrong.
//!
//! This file is the map of the house: every module, in layers, each layer with its law. Data flows one way:
//! input -> message -> update -> effect -> message. `tests/architecture.rs` reads `src/` and fails on an
//! import that breaks a law.

/// What things *are* and what can be said of them. Law: knows no files, no network, no async and no terminal.
pub mod domain {
    /// What a verdict is bound to: a record's content as one canonical text, and its SHA-256.
    pub mod canonical;
    /// What is kept of a record to review it and to compare it.
    pub mod card;
    /// Two runs of the same questions, joined and counted.
    pub mod compare;
    /// Whether the model saw all there is: the page after the last that it saw.
    pub mod completeness;
    /// JSON objects as they are written.
    pub mod compose;
    /// The published contract of typed answers, and who would take what does not hold it.
    pub mod contract;
    /// Currencies as ISO 4217 names them.
    pub mod currency;
    /// Dates as people write them.
    pub mod date;
    /// A document as its lines: what answers cite.
    pub mod document;
    /// What of a record is more than is read.
    pub mod excess;
    /// Calculations as they stand in texts, found, read and worked out.
    pub mod expression;
    /// The filter language of the table.
    pub mod filter;
    /// Findings: what is said about a record, and where.
    pub mod finding;
    /// A record and new outputs to a forked record, and which later steps are stale.
    pub mod fork;
    /// The registry of record formats, recognised by content.
    pub mod formats;
    /// The generation call of a typed answer, made again.
    pub mod generation;
    /// The gold answer: its number, and what in it cannot be right.
    pub mod gold;
    /// What the table shows of one record.
    pub mod headline;
    /// JSON as people really have it, every value with its place.
    pub mod json;
    /// Exact numbers of bounded size.
    pub mod number;
    /// Writing a JSON object by hand.
    pub mod object;
    /// Overlapping marks made into segments.
    pub mod paint;
    /// A procedure as it stands in a record.
    pub mod procedure;
    /// One step and the state it finds -> the request, as upstream makes it.
    pub mod prompt;
    /// Python's `json.dumps`, byte for byte.
    pub mod pyjson;
    /// Python's `json.loads`, with its complaints.
    pub mod pyload;
    /// Patterns of Python's `re`, matched as Python matches them, but never for long.
    pub mod pyregex;
    /// Values as Python prints them in its messages.
    pub mod python;
    /// The quantities of a question, and the variables that took them up.
    pub mod quantity;
    /// What each step should have given, by exact calculation.
    pub mod recompute;
    /// One record, whatever its format.
    pub mod record;
    /// Mending a procedure, with a model and without.
    pub mod repair;
    /// What was found, as text, short lines, JSON lines or SARIF.
    pub mod report;
    /// One call of a model as a machine, and what its text gives.
    pub mod rerun;
    /// What people decided about records: events, and the state that follows.
    pub mod review;
    /// What should happen with a typed answer, and why.
    pub mod route;
    /// What the table keeps of a record: forty bytes.
    pub mod row;
    /// The registry of rules.
    pub mod rules;
    /// A whole procedure, run step by step as upstream's runner does.
    pub mod runner;
    /// The JSON Schemas that are part of the program.
    pub mod schemas;
    /// What of a record a person sees, and where.
    pub mod seen;
    /// What cited spans really point at: numberings, the search for the quote, what differs.
    pub mod spans;
    /// The global state over time: what every step could read and what it wrote.
    pub mod state;
    /// The few statistics that reviews and comparisons need.
    pub mod statistics;
    /// Text from data, and its one door to the screen.
    pub mod text;
    /// What was recorded of every step.
    pub mod trace;
    /// Where to fix a wrong run, and why.
    pub mod triage;
    /// Typed answers with cited spans.
    pub mod typed;
    /// The types of their values.
    pub mod types;
    /// Which characters Python calls printable.
    pub mod unicode;
    /// Verifiers: a completion in, a reward out.
    pub mod verify;
    /// Work that is still allowed.
    pub mod work;
}

/// Bytes from and to the outside: files, folders, standard input, configuration. Law: knows `domain` only.
pub mod io {
    /// Stores of typed answers: docintel folders and `storage.sqlite`.
    pub mod answers;
    /// Files that are only added to, safely.
    pub mod append;
    /// The answers of a baseline file, by id.
    pub mod baseline;
    /// What data and listings name, opened beneath a folder that a person named.
    pub mod beneath;
    /// What stands beside the records and helps to judge them.
    pub mod beside;
    /// Sources read block by block.
    pub mod block;
    /// The boards and disputes of the open records, read for the screen.
    pub mod boards;
    /// The records of files as cards.
    pub mod cards;
    /// The pipeline behind `stepscope check`.
    pub mod check;
    /// Two runs compared for the screen.
    pub mod compare;
    /// What the user set, and what the screen remembers.
    pub mod config;
    /// Where records begin and end.
    pub mod cut;
    /// What somebody was about to say of records.
    pub mod drafts;
    /// One record read and checked.
    pub mod examine;
    /// What could not be done, and what to do about it.
    pub mod failure;
    /// Where forks are kept.
    pub mod forks;
    /// Bytes of a stream to frames.
    pub mod frames;
    /// A file of its own, never in the place of another.
    pub mod fresh;
    /// Work that may panic on hostile data.
    pub mod guard;
    /// From names to sources.
    pub mod input;
    /// The journal of reviews: appended to safely, read as far as it goes.
    pub mod journal;
    /// The documents that answers cite, found and kept.
    pub mod library;
    /// The assembly line of the commands: read in order, worked on by all cores, handed over in order.
    pub mod line;
    /// Loading in the background, and following.
    pub mod load;
    /// Asking models, and hearing their replies piece by piece.
    pub mod model;
    /// Opening without harm.
    pub mod open;
    /// Parquet tables, column by column.
    pub mod parquet;
    /// Reading one record on another thread.
    pub mod reading;
    /// The sample runs, part of the program.
    pub mod samples;
    /// Looking through all records for text.
    pub mod search;
    /// All records of a store, read as cards on other threads.
    pub mod snapshot;
    /// SQLite databases opened without harm.
    pub mod sqlite;
    /// All records found, as the screen sees them.
    pub mod store;
    /// Reading the user's own themes.
    pub mod themes;
    /// Reading the user's own types of values.
    pub mod types;
    /// Verifiers as they are asked for: by options, or in a TOML file.
    pub mod verifiers;
    /// The pipeline behind `stepscope verify`.
    pub mod verify;
}

/// The commands that need no screen. Law: knows `domain` and `io`.
pub mod cli;

/// The screen. Law: knows `domain` and `io`; nothing knows `tui`.
pub mod tui {
    /// What of the table is left to judge.
    pub mod agenda;
    /// The actions that can be done now.
    pub mod allowed;
    /// The whole state of the screen.
    pub mod app;
    /// Model calls, each a task of its own.
    pub mod calls;
    /// Colours, and how many of them the terminal shows.
    pub mod colour;
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
    /// Bytes from the terminal to keys, mouse, pastes and replies.
    pub mod input;
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
    /// Bytes to the terminal, never waiting for it.
    mod output;
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
    /// The event loop and what a program has to be for it.
    pub mod run;
    /// Frames as bytes.
    mod screen;
    /// Saves and reads reviews on threads of its own.
    pub mod scribe;
    /// One session at the screen.
    pub mod session;
    /// A typed answer, ready for the panes.
    pub mod sheet;
    /// The table of records.
    pub mod table;
    /// The terminal: found, taken over, given back.
    pub mod terminal;
    /// Roles to styles.
    pub mod theme;
    /// The one place where the state changes.
    pub mod update;
    /// Where everything is on screen, and drawing it.
    pub mod view;
}
