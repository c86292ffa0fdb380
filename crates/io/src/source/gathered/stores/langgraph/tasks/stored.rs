//! Tasks as a store keeps them: one write a row.

use std::collections::HashMap;

use super::super::super::super::plain::Plain;
use super::super::super::rows::{MAX_NAME, row_query};
use super::super::branches::Point;
use super::super::snapshot::value;
use super::super::unread::{UnreadValues, room};
use super::{GraphTask, TaskKind};
use crate::source::sqlite::{CellValue, Database, own};

/// Number of writes behind one checkpoint that are looked at.
const MAX_WRITES: usize = 20_000;
/// Id of what belongs to no task.
const NO_TASK: &[u8] = b"00000000-0000-0000-0000-000000000000";

/// Reads the tasks behind a checkpoint, in the order of their first writes.
pub(in crate::source::gathered::stores::langgraph) fn of(
    database: &Database,
    thread: &CellValue,
    here: &Point,
    unread: &mut UnreadValues,
) -> rusqlite::Result<Vec<GraphTask>> {
    let Some(table) = database.table("writes")? else { return Ok(Vec::new()) };
    let short = |name: &str| {
        let column = table.column(name);
        format!("CASE WHEN length({column}) <= {MAX_NAME} THEN {column} END")
    };
    let columns = ["task_id", "channel", "type", "task_path"].map(short).join(", ");
    let place = ["thread_id", "checkpoint_ns", "checkpoint_id"].map(|name| table.column(name));
    let sql = format!(
        "SELECT rowid, {columns}, {} FROM {} WHERE {} = ?1 AND {} = ?2 AND {} = ?3 LIMIT {MAX_WRITES}",
        table.column("idx"),
        table.name(),
        place[0],
        place[1],
        place[2]
    );
    let mut writes = Vec::new();
    let mut statement = database.connection().prepare(&sql)?;
    let key = [thread.clone(), CellValue::Text(here.space.clone()), CellValue::Text(here.id.clone())];
    let mut rows = statement.query(rusqlite::params_from_iter(key.iter()))?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        writes.push((number, own(row, 1).bytes(), own(row, 2).bytes(), own(row, 3).text(), own(row, 4).bytes()));
    }
    drop(rows);
    writes.sort_unstable_by_key(|write| write.0);
    let Some(sql) = row_query(database, "writes", &["value"])? else { return Ok(Vec::new()) };
    let mut statement = database.connection().prepare(&sql)?;
    let (mut tasks, mut places): (Vec<GraphTask>, HashMap<Vec<u8>, usize>) = (Vec::new(), HashMap::new());
    let mut room = room();
    for (row, id, channel, kind, path) in writes {
        let at = *places.entry(id.clone()).or_insert_with(|| {
            tasks.push(GraphTask { id, path, is_told: true, ..GraphTask::default() });
            tasks.len() - 1
        });
        let Some(task) = tasks.get_mut(at) else { continue };
        let mut found = statement.query([row])?;
        let bytes = found.next()?.map_or_else(Vec::new, |row| own(row, 0).bytes());
        match value(kind.as_deref(), &bytes, &mut room, unread) {
            Some(value) => task.write(channel, value),
            None => {
                task.is_done |= !channel.starts_with(b"__");
                let how = kind.unwrap_or_else(|| b"unknown".to_vec());
                task.unread.push((channel, Plain::Text(how)));
            }
        }
    }
    // What resumes all tasks that wait is no task.
    tasks.retain(|task| task.id != NO_TASK || !task.outputs.is_empty());
    for task in tasks.iter_mut().filter(|task| task.id == NO_TASK) {
        task.kind = TaskKind::Command;
    }
    Ok(tasks)
}
