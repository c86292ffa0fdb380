//! Sessions of Google ADK in its database: the events that its JSON has too, one a row, and the state behind them.

use std::collections::HashMap;

use super::super::adk::session_of;
use super::super::plain::{Members, Plain, object};
use super::room::ValueRoom;
use super::rows::{RowGroup, groups, name_of, row_query};
use super::run_lines::RunLines;
use crate::source::sqlite::{CellValue, Database, own};
use stepscope_base::text::Shown;

/// Columns of an event in the stores of older versions, and the keys that the event has for them. What an event wrote is
/// pickle there.
const OLDER: [(&str, &str); 8] = [
    ("author", "author"),
    ("invocation_id", "invocation_id"),
    ("content", "content"),
    ("usage_metadata", "usage_metadata"),
    ("error_code", "error_code"),
    ("error_message", "error_message"),
    ("branch", "branch"),
    ("partial", "partial"),
];
const PICKLED: &str = "what each event wrote into the state is kept as pickle, which is not loaded";

/// Reads each session as a run.
pub(super) fn read(database: &Database, lines: &mut RunLines) -> rusqlite::Result<()> {
    const KEYS: [&str; 3] = ["app_name", "user_id", "session_id"];
    let is_older = database.table("events")?.is_some_and(|table| !table.has("event_data") && table.has("content"));
    if is_older {
        lines.notes.push(Shown::own(PICKLED));
    }
    let events = groups(database, "events", &KEYS, "timestamp", lines)?;
    let events: HashMap<u64, RowGroup> = events.into_iter().map(|group| (group.name(), group)).collect();
    let sessions = groups(database, "sessions", &["app_name", "user_id", "id"], "create_time", lines)?;
    let columns: Vec<&str> = if is_older { OLDER.map(|(column, _)| column).to_vec() } else { vec!["event_data"] };
    let Some(sql) = row_query(database, "events", &columns)? else { return Ok(()) };
    let mut statement = database.connection().prepare(&sql)?;
    for session in sessions {
        if lines.is_full() {
            continue;
        }
        let mut room = ValueRoom::default();
        let state = state_of(database, &session.key, session.rows.first(), &mut room)?;
        let (mut told, mut left_out) = (Vec::new(), 0);
        for row in events.get(&session.name()).into_iter().flat_map(|group| &group.rows) {
            let mut rows = statement.query([row])?;
            let Some(row) = rows.next()? else { continue };
            let event = if is_older {
                older(|at| own(row, at), &mut room)
            } else {
                own(row, 0).text().and_then(|text| room.json(&text))
            };
            match event {
                Some(event) => told.push(event),
                None => left_out += 1,
            }
        }
        let id = session.key.get(2).and_then(name_of);
        let mut run = session_of(&object([("id", id), ("state", state), ("events", Some(Plain::List(told)))]));
        run.left_out += left_out;
        lines.put_session(&run, "adk");
    }
    Ok(())
}

/// Returns an event of an older store.
fn older(cell: impl Fn(usize) -> CellValue, room: &mut ValueRoom) -> Option<Plain> {
    let mut members = Members::new();
    for (at, (column, key)) in OLDER.iter().enumerate() {
        let Some(text) = cell(at).text() else { continue };
        let is_json = matches!(*column, "content" | "usage_metadata");
        let value = match is_json {
            true => room.json(&text)?,
            false if room.take(text.len()) => Plain::Text(text),
            false => return None,
        };
        members.push((key.as_bytes().to_vec(), value));
    }
    Some(Plain::Object(members))
}

/// Returns the state of a session, with that of its application and of its user, as the program puts them together.
fn state_of(
    database: &Database,
    key: &[CellValue],
    row: Option<&i64>,
    room: &mut ValueRoom,
) -> rusqlite::Result<Option<Plain>> {
    let Some(sql) = row_query(database, "sessions", &["state"])? else { return Ok(None) };
    let own_state = database.connection().prepare(&sql)?.query([row])?.next()?.and_then(|row| own(row, 0).text());
    let Some(Plain::Object(mut state)) = own_state.and_then(|text| room.json(&text)) else { return Ok(None) };
    for (name, prefix, keys) in
        [("app_states", "app:", &["app_name"][..]), ("user_states", "user:", &["app_name", "user_id"])]
    {
        let Some(table) = database.table(name)?.filter(|table| keys.iter().all(|key| table.has(key))) else { continue };
        let places: Vec<String> = keys.iter().map(|key| format!("{} = ?", table.column(key))).collect();
        let sql = format!("SELECT {} FROM {} WHERE {}", table.column("state"), table.name(), places.join(" AND "));
        let mut statement = database.connection().prepare(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(key.iter().take(keys.len())))?;
        let text = rows.next()?.and_then(|row| own(row, 0).text());
        if let Some(Plain::Object(members)) = text.and_then(|text| room.json(&text)) {
            state.extend(members.into_iter().map(|(key, value)| ([prefix.as_bytes(), &key].concat(), value)));
        }
    }
    Ok(Some(Plain::Object(state)))
}
