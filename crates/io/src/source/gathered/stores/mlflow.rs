//! Traces of `MLflow` in its tracking store: the spans that its JSON has too, one a row, put together and read as such.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::neighbours::Values;
use super::super::plain::{Members, Plain, object};
use super::super::shelf::Shelf;
use super::super::step::started;
use super::super::traces;
use super::room::ValueRoom;
use super::rows::{RowGroup, groups, name_of, row_query};
use super::run_lines::{MAX_ALL, RunLines};
use crate::source::cut::Layout;
use crate::source::sqlite::{CellValue, Database, own};

/// Rows of a table by the trace that they belong to.
type ByTrace = HashMap<u64, RowGroup>;

/// Reads each trace as a run.
pub(super) fn read(database: &Database, lines: &mut RunLines) -> rusqlite::Result<()> {
    let mut written = Ok(());
    let put = Shelf::new(&lines.name).and_then(|mut shelf| {
        written = write(database, lines, &mut shelf);
        let blob = Arc::new(shelf.into_lines()?);
        if blob.is_empty()? {
            return Ok(());
        }
        lines.take(&traces::read(&Values::new(blob, Layout::Lines(b'\n')), &[])?)
    });
    lines.failure = lines.failure.take().or(put.err());
    written
}

/// Writes the traces as JSON.
fn write(database: &Database, lines: &mut RunLines, shelf: &mut Shelf) -> rusqlite::Result<()> {
    let by = |table: &str, key: &str, order: &str, lines: &mut RunLines| -> rusqlite::Result<ByTrace> {
        let found = groups(database, table, &[key], order, lines)?;
        Ok(found.into_iter().map(|group| (group.name(), group)).collect())
    };
    let spans = by("spans", "trace_id", "start_time_unix_nano", lines)?;
    let tags = by("trace_tags", "request_id", "key", lines)?;
    let metadata = by("trace_request_metadata", "request_id", "key", lines)?;
    let assessed = by("assessments", "trace_id", "created_timestamp", lines)?;
    for trace in groups(database, "trace_info", &["request_id"], "timestamp_ms", lines)? {
        if shelf.len() >= MAX_ALL {
            lines.runs_left_out += 1;
            continue;
        }
        let mut room = ValueRoom::default();
        let name = trace.name();
        let of = |by: &ByTrace| by.get(&name).map_or_else(Vec::new, |group| group.rows.clone());
        let info =
            cells(database, "trace_info", &["status", "timestamp_ms", "trace_name"], &trace.rows)?.into_iter().next();
        let info = info.as_deref().unwrap_or(&[]);
        let (state, time) = (info.first().and_then(name_of), info.get(1).and_then(CellValue::int));
        // Kept as a tag in older versions.
        let title = info.get(2).cloned().filter(|title| *title != CellValue::Null);
        let millis = time.and_then(|time| u64::try_from(time).ok()?.checked_mul(1_000_000));
        let texts = |all: Vec<Vec<CellValue>>| {
            let pair =
                |pair: Vec<CellValue>| Some((pair.first()?.clone().text()?, Plain::Text(pair.get(1)?.clone().text()?)));
            Plain::Object(all.into_iter().filter_map(pair).collect())
        };
        let assessments = cells(database, "assessments", &ASSESSMENT, &of(&assessed))?;
        let assessments: Vec<Plain> = assessments.iter().map(|cells| assessment(cells, &mut room)).collect();
        let mut tagged = cells(database, "trace_tags", &["key", "value"], &of(&tags))?;
        tagged.extend(title.map(|title| vec![CellValue::Text(b"mlflow.traceName".to_vec()), title]));
        let info = object([
            ("trace_id", trace.key.first().and_then(name_of)),
            ("request_time", millis.and_then(started).map(|time| Plain::Text(time.into_bytes()))),
            ("state", state),
            (
                "trace_metadata",
                Some(texts(cells(database, "trace_request_metadata", &["key", "value"], &of(&metadata))?)),
            ),
            ("tags", Some(texts(tagged))),
            ("assessments", (!assessments.is_empty()).then_some(Plain::List(assessments))),
        ]);
        let mut told = Vec::new();
        let Some(sql) = row_query(database, "spans", &["content"])? else { return Ok(()) };
        let mut statement = database.connection().prepare(&sql)?;
        for row in of(&spans) {
            let mut found = statement.query([row])?;
            let text = found.next()?.and_then(|row| own(row, 0).text());
            match text.and_then(|text| room.json(&text)) {
                Some(Plain::Object(members)) => told.push(Plain::Object(members)),
                _ => lines.steps_left_out += 1,
            }
        }
        // Without spans there is nothing but a name and a time: they lie elsewhere.
        if told.is_empty() {
            lines.elsewhere += 1;
            continue;
        }
        let data = object([("spans", Some(Plain::List(told)))]);
        let line = object([("info", Some(info)), ("data", Some(data))]).json();
        if let Err(failure) = shelf.put(&line).and_then(|_| shelf.put(b"\n")) {
            lines.failure = Some(failure);
            return Ok(());
        }
    }
    Ok(())
}

const ASSESSMENT: [&str; 6] = ["name", "assessment_type", "value", "rationale", "source_type", "source_id"];

/// Returns what somebody said of a trace, as the program's JSON has it.
fn assessment(cells: &[CellValue], room: &mut ValueRoom) -> Plain {
    let text = |at: usize| cells.get(at).and_then(name_of);
    let value = cells.get(2).and_then(|cell| cell.clone().text()).and_then(|text| room.json(&text));
    let kind = text(1).map_or_else(Vec::new, |kind| kind.as_text());
    let mut members = Members::new();
    members.extend(text(0).map(|name| (b"assessment_name".to_vec(), name)));
    let source = object([("source_type", text(4)), ("source_id", text(5))]);
    members.push((b"source".to_vec(), source));
    members.push((kind, object([("value", value)])));
    members.extend(text(3).map(|why| (b"rationale".to_vec(), why)));
    Plain::Object(members)
}

fn cells(database: &Database, table: &str, columns: &[&str], rows: &[i64]) -> rusqlite::Result<Vec<Vec<CellValue>>> {
    let Some(sql) = row_query(database, table, columns)? else { return Ok(Vec::new()) };
    let mut statement = database.connection().prepare(&sql)?;
    let mut all = Vec::new();
    for row in rows {
        let mut found = statement.query([row])?;
        if let Some(row) = found.next()? {
            all.push((0..columns.len()).map(|at| own(row, at)).collect());
        }
    }
    Ok(all)
}
