//! Flows of `CrewAI` that keep their state: a row is the state behind a method.

use std::collections::HashMap;

use super::super::plain::{Members, Plain};
use super::room::ValueRoom;
use super::rows::{RowGroup, groups, name_of, row_query};
use super::run_lines::RunLines;
use super::state_run::{StateRun, StepPlace, changed};
use crate::source::sqlite::{Database, own};

/// Reads each flow as a run.
pub(super) fn read(database: &Database, lines: &mut RunLines) -> rusqlite::Result<()> {
    const TABLE: &str = "flow_states";
    let Some(sql) = row_query(database, TABLE, &["method_name", "timestamp", "state_json"])? else { return Ok(()) };
    let waiting = groups(database, "pending_feedback", &["flow_uuid"], "id", lines)?;
    let waiting: HashMap<u64, RowGroup> = waiting.into_iter().map(|group| (group.name(), group)).collect();
    let mut statement = database.connection().prepare(&sql)?;
    for group in groups(database, TABLE, &["flow_uuid"], "id", lines)? {
        if lines.is_full() {
            continue;
        }
        let mut run = StateRun::new(group.key.first().and_then(name_of));
        let (mut room, mut before): (ValueRoom, Option<Members>) = (ValueRoom::default(), None);
        for row in &group.rows {
            let mut rows = statement.query([row])?;
            let Some(row) = rows.next()? else { continue };
            let text = |at| own(row, at).text();
            let state = text(2).and_then(|text| room.json(&text));
            let Some(Plain::Object(after)) = state else {
                run.left_out += 1;
                continue;
            };
            let mut body: Members = Vec::new();
            let mut put = |key: &str, value: Option<Plain>| {
                body.extend(value.map(|value| (key.as_bytes().to_vec(), value)));
            };
            put("name", text(0).map(Plain::Text));
            match &before {
                Some(before) => {
                    // What it wrote may stand in the row before it: methods run side by side.
                    let wrote = Some(changed(before, &after)).filter(|wrote| !wrote.is_empty());
                    put("outputs", wrote.map(Plain::Object));
                }
                // What its first method found there, and what it wrote, is one and the same.
                None => put("state", Some(Plain::Object(after.clone()))),
            }
            put("span_kind", Some(Plain::text_of(b"method")));
            put("saved_utc", text(1).map(Plain::Text));
            run.step(StepPlace::default(), body);
            before = Some(after);
            // The state before the last one is no longer there.
            room = ValueRoom::default();
        }
        if let Some(last) = before {
            run.state = last;
        }
        run.waits = match waiting.get(&group.name()).and_then(|group| group.rows.last()) {
            Some(row) => feedback(database, *row)?,
            None => None,
        };
        lines.put_run(&run, "crewai");
    }
    Ok(())
}

/// Returns what a flow asked a person for.
fn feedback(database: &Database, row: i64) -> rusqlite::Result<Option<Plain>> {
    let Some(sql) = row_query(database, "pending_feedback", &["context_json"])? else { return Ok(None) };
    let mut statement = database.connection().prepare(&sql)?;
    let text = statement.query([row])?.next()?.and_then(|row| own(row, 0).text());
    let context = text.and_then(|text| ValueRoom::default().json(&text));
    Ok(context.map(|context| context.get("message").cloned().unwrap_or(context)))
}
