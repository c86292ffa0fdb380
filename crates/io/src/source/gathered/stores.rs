//! Stores of other programs: SQLite databases whose rows are the turns, events, states and checkpoints of runs. A store is
//! told by its tables together with their columns; nothing in it is loaded, imported or run.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use super::made::GatheredLines;
use super::plain::Plain;
use super::session::AgentSession;
use super::shelf::Shelf;
use crate::failure::Failure;
use crate::source::beneath::Place;
use crate::source::sqlite::{self, Cell, Database, own};
use stepscope_base::guard::guarded;
use stepscope_base::json::Tape;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::trace::MAX_CALLS;

mod adk;
mod agents;
mod crewai;
pub(super) mod langgraph;
mod mlflow;
mod state_run;

use state_run::StateRun;

/// A store that is changed while it is read is read so often.
const TRIES: usize = 3;
/// Work that a whole store may take.
const WORK: Duration = Duration::from_secs(4);
/// Number of rows of a table that are looked at.
const MAX_ROWS: usize = 200_000;
/// Number of records whose rows are put together.
const MAX_RECORDS: usize = 40_000;
/// A longer name of a record is not read.
const MAX_NAME: usize = 1024;
/// Size of all runs of a store, and of one of them.
const MAX_ALL: u64 = 128 << 20;
const MAX_RUN: usize = 16 << 20;
/// About what the values of one run may take in memory, and what a value takes besides its bytes.
const MAX_WEIGHT: usize = 48 << 20;
const VALUE: usize = 64;

/// Store of one program.
struct StoreKind {
    /// Name of its records.
    name: &'static str,
    /// Tables that it has, and columns that they have in all versions.
    tables: &'static [(&'static str, &'static [&'static str])],
    read: fn(&Database, &mut RunLines) -> rusqlite::Result<()>,
}

const KINDS: &[StoreKind] = &[
    StoreKind {
        name: "sessions of OpenAI Agents",
        tables: &[
            ("agent_sessions", &["session_id", "created_at"]),
            ("agent_messages", &["id", "session_id", "message_data"]),
        ],
        read: agents::read,
    },
    StoreKind {
        name: "sessions of Google ADK",
        tables: &[
            ("sessions", &["app_name", "user_id", "id", "state"]),
            ("events", &["app_name", "user_id", "session_id", "invocation_id", "timestamp"]),
        ],
        read: adk::read,
    },
    StoreKind {
        name: "flows of CrewAI",
        tables: &[("flow_states", &["id", "flow_uuid", "method_name", "timestamp", "state_json"])],
        read: crewai::read,
    },
    StoreKind {
        name: "threads of LangGraph",
        tables: &[
            ("checkpoints", &["thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "checkpoint"]),
            ("writes", &["thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "channel", "value"]),
        ],
        read: langgraph::read,
    },
    StoreKind {
        name: "traces of MLflow",
        tables: &[
            ("trace_info", &["request_id", "timestamp_ms", "status"]),
            ("spans", &["trace_id", "span_id", "parent_span_id", "start_time_unix_nano", "content"]),
        ],
        read: mlflow::read,
    },
];

/// Runs of a store.
pub(crate) struct StoreRuns {
    pub runs: GatheredLines,
    /// Parts that could not be read.
    pub failures: Vec<Failure>,
}

/// Reads a database as the store of a program; `None`: it is of none that is known, or cannot be read at all.
pub(crate) fn read(place: &Place) -> Result<Option<StoreRuns>, Failure> {
    for _ in 0..TRIES {
        let Ok(database) = sqlite::open(place) else { return Ok(None) };
        database.allow(WORK);
        let Some(kind) = kind_of(&database).ok().flatten() else { return Ok(None) };
        let name = Shown::path(place.path());
        let runs = guarded(|| runs_of(&database, kind, &name));
        let runs = runs.unwrap_or_else(|| Err(Failure::own("cannot read", &name, "its parts cannot be put together")));
        if database.is_current() {
            return runs.map(Some);
        }
    }
    let why = "another program keeps changing it; copy it, or wait until that is done";
    Err(Failure::own("cannot read", &Shown::path(place.path()), why))
}

/// Finds the program whose tables these are, with their columns.
fn kind_of(database: &Database) -> rusqlite::Result<Option<&'static StoreKind>> {
    'kinds: for kind in KINDS {
        for (name, columns) in kind.tables {
            let table = database.table(name)?;
            if !table.is_some_and(|table| columns.iter().all(|column| table.has(column))) {
                continue 'kinds;
            }
        }
        return Ok(Some(kind));
    }
    Ok(None)
}

fn runs_of(database: &Database, kind: &StoreKind, name: &Shown) -> Result<StoreRuns, Failure> {
    let mut lines = RunLines::new(name)?;
    let read = (kind.read)(database, &mut lines);
    let mut failures = Vec::new();
    failures.extend(lines.failure.take());
    failures.extend(read.err().map(|error| database.failure(&error)));
    let note = lines.note(kind.name, database.note.as_ref());
    Ok(StoreRuns { runs: GatheredLines { lines: lines.shelf.into_lines()?, note }, failures })
}

/// Runs of a store on their way to lines.
struct RunLines {
    name: Shown,
    shelf: Shelf,
    count: usize,
    /// Numbers of what is left out: runs, steps, rows.
    runs_left_out: usize,
    steps_left_out: usize,
    rows_left_out: usize,
    /// Number of items that are no turn.
    untold: usize,
    /// Number of traces whose spans lie somewhere else.
    elsewhere: usize,
    /// Further sentences for people.
    notes: Vec<Shown>,
    failure: Option<Failure>,
}

impl RunLines {
    fn new(name: &Shown) -> Result<Self, Failure> {
        Ok(Self {
            name: name.clone(),
            shelf: Shelf::new(name)?,
            count: 0,
            runs_left_out: 0,
            steps_left_out: 0,
            rows_left_out: 0,
            untold: 0,
            elsewhere: 0,
            notes: Vec::new(),
            failure: None,
        })
    }

    /// Tells whether no further run is taken; the one that was to come counts as left out.
    fn is_full(&mut self) -> bool {
        let full = self.shelf.len() >= MAX_ALL || self.failure.is_some();
        self.runs_left_out += usize::from(full);
        full
    }

    /// Takes the line of a run.
    fn put(&mut self, line: &[u8]) {
        self.count += 1;
        if let Err(failure) = self.shelf.put(line) {
            self.failure = Some(failure);
        }
    }

    /// Takes runs that were read as something else.
    fn take(&mut self, made: &GatheredLines) -> Result<(), Failure> {
        const PIECE: usize = 1 << 20;
        let (mut at, mut piece) = (0, Vec::new());
        loop {
            made.lines.read(at, PIECE, &mut piece)?;
            if piece.is_empty() {
                break;
            }
            at += piece.len() as u64;
            self.count += memchr::memchr_iter(b'\n', &piece).count();
            self.shelf.put(&piece)?;
        }
        let more = made.note.as_str().split_once("; ").map(|(_, more)| Shown::line(more.as_bytes()));
        self.notes.extend(more);
        Ok(())
    }

    fn put_session(&mut self, session: &AgentSession, source: &str) {
        self.steps_left_out += session.left_out;
        self.put(&session.line(source));
    }

    fn put_run(&mut self, run: &StateRun, source: &str) {
        self.steps_left_out += run.left_out;
        self.put(&run.line(source));
    }

    /// Says what it was read as, and what is missing.
    fn note(&self, name: &str, opened: Option<&Shown>) -> Shown {
        let mut note = shown!("read as {name}");
        if self.count == 0 {
            note = shown!("{note}, of which it has none");
        }
        if self.runs_left_out > 0 {
            note =
                shown!("{note}; {} runs left out, as only {} MB of runs are read", self.runs_left_out, MAX_ALL >> 20);
        }
        if self.steps_left_out > 0 {
            let (count, most) = (self.steps_left_out, MAX_RUN >> 20);
            note = shown!("{note}; {count} steps left out, as a run has at most {MAX_CALLS} steps and {most} MB");
        }
        if self.rows_left_out > 0 {
            note = shown!(
                "{note}; {} rows left out, as at most {MAX_ROWS} of {MAX_RECORDS} records are read",
                self.rows_left_out
            );
        }
        if self.untold > 0 {
            let what = if self.untold == 1 {
                shown!("1 item is no turn")
            } else {
                shown!("{} items are no turns", self.untold)
            };
            note = shown!("{note}; {what} and left out");
        }
        if self.elsewhere > 0 {
            note = shown!("{note}; the spans of {} traces are not in this database", self.elsewhere);
        }
        for more in self.notes.iter().chain(opened) {
            note = shown!("{note}; {more}");
        }
        note
    }
}

/// Room for the values of one run.
struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_WEIGHT)
    }
}

impl Room {
    /// Takes room for a value of so many bytes; `false`: there is none.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes + VALUE);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Reads JSON; what is none is a text. `None`: there is no room for it.
    fn json(&mut self, text: &[u8]) -> Option<Plain> {
        let parts = text.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
        if !self.take(text.len() + parts * VALUE) {
            return None;
        }
        let mut tape = Tape::default();
        Some(tape.parse(text).map_or_else(|| Plain::text_of(text), Plain::of))
    }
}

/// Rows that belong to one record, by their numbers, in the order in which they count.
struct RowGroup {
    /// Values of the columns that name the record; nothing for a name that is too long.
    key: Vec<Cell>,
    rows: Vec<i64>,
}

impl RowGroup {
    /// Returns a name that no other record of the table has.
    fn name(&self) -> u64 {
        named(&self.key)
    }
}

fn named(key: &[Cell]) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{key:?}").hash(&mut hasher);
    hasher.finish()
}

/// A row, and the value by which it is put in order.
type Ordered = (i64, Cell);

/// The name of a record, and its rows as they come.
type Unordered = (Vec<Cell>, Vec<Ordered>);

/// Collects the rows of a table by the record that `keys` name; in order of a column, and of those that are the same, of
/// their numbers. Values are read later, row by row: sorting a table would hold all of it in memory.
fn groups(
    database: &Database,
    name: &str,
    keys: &[&str],
    order: &str,
    lines: &mut RunLines,
) -> rusqlite::Result<Vec<RowGroup>> {
    let Some(table) = database.table(name)? else { return Ok(Vec::new()) };
    let short = |key: &&str| {
        let column = table.column(key);
        format!("CASE WHEN length({column}) <= {MAX_NAME} THEN {column} END")
    };
    let columns: Vec<String> = keys.iter().chain([&order]).map(short).collect();
    let sql = format!("SELECT rowid, {} FROM {}", columns.join(", "), table.name());
    let (mut places, mut all): (HashMap<u64, usize>, Vec<Unordered>) = (HashMap::new(), Vec::new());
    let mut statement = database.connection().prepare(&sql)?;
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        if count > MAX_ROWS {
            lines.rows_left_out += 1;
            continue;
        }
        let key: Vec<Cell> = (0..keys.len()).map(|at| own(row, at + 1)).collect();
        let name = named(&key);
        if places.len() >= MAX_RECORDS && !places.contains_key(&name) {
            lines.rows_left_out += 1;
            continue;
        }
        let place = *places.entry(name).or_insert_with(|| {
            all.push((key, Vec::new()));
            all.len() - 1
        });
        if let Some((_, rows)) = all.get_mut(place) {
            rows.push((row.get(0)?, own(row, keys.len() + 1)));
        }
    }
    let in_order = |(key, mut rows): Unordered| {
        rows.sort_by(|(a, first), (b, next)| first.in_order(next).then(a.cmp(b)));
        RowGroup { key, rows: rows.into_iter().map(|(row, _)| row).collect() }
    };
    // An index may have given them in the order of their names.
    all.sort_by_key(|(_, rows)| rows.iter().map(|(row, _)| *row).min());
    Ok(all.into_iter().map(in_order).collect())
}

/// Query for columns of one row of a table.
fn row_query(database: &Database, name: &str, columns: &[&str]) -> rusqlite::Result<Option<String>> {
    let list = |table: sqlite::Table| {
        let columns: Vec<String> = columns.iter().map(|column| table.column(column)).collect();
        format!("SELECT {} FROM {} WHERE rowid = ?1", columns.join(", "), table.name())
    };
    Ok(database.table(name)?.map(list))
}

/// Returns the name that a cell is.
fn name_of(cell: &Cell) -> Option<Plain> {
    cell.clone().text().map(Plain::Text)
}

#[cfg(test)]
mod tests;
