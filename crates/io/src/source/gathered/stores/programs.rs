//! Programs whose stores are read, and how each is told.

use std::time::Duration;

use super::super::made::GatheredLines;
use super::StoreRuns;
use super::run_lines::RunLines;
use super::{adk, agents, crewai, langgraph, mlflow};
use crate::failure::Failure;
use crate::source::beneath::Place;
use crate::source::sqlite::{self, Database};
use stepscope_base::guard::guarded;
use stepscope_base::text::Shown;

/// A store that is changed while it is read is read so often.
const TRIES: usize = 3;
/// Work that a whole store may take.
const WORK: Duration = Duration::from_secs(4);

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
