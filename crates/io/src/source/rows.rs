//! Parquet tables whose rows are records: a column that holds their JSON, or a column a key.

use crate::failure::Failure;
use crate::source::open::Blob;
use crate::source::parquet::{Cell, ColumnKind, Columns, Leaf, leaves, read_blob, room_of};
use stepscope_base::json::Tape;
use stepscope_base::json::write::{Object, Raw, Style};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::record::{RecordKind, formats};

/// More columns are not keys of one record.
const MAX_COLUMNS: usize = 256;
/// So many rows tell what a column holds.
const LOOKED_AT: usize = 20;
const READ: &str = "cannot read";

/// The records of a table.
pub(crate) struct RecordRows {
    /// One JSON line a row, in order.
    pub lines: Vec<u8>,
    /// What of the table was left out.
    pub note: Option<Shown>,
}

/// Reads the rows of a table as records; `Ok(None)`: they are none.
pub(crate) fn read(blob: &Blob) -> Result<Option<RecordRows>, Failure> {
    let leaves = leaves(blob)?;
    let (flat, nested): (Vec<&Leaf>, Vec<&Leaf>) = leaves.iter().partition(|leaf| leaf.kind != ColumnKind::Nested);
    if flat.is_empty() || flat.len() > MAX_COLUMNS {
        return Ok(None);
    }
    let names: Vec<&str> = flat.iter().map(|leaf| leaf.name.as_str()).collect();
    let columns = read_blob(blob, &names)?;
    let (mut tape, room) = (Tape::default(), room_of(blob)?);
    let too_large = || Failure::own(READ, blob.name(), "its rows are far larger as records; write them as JSON lines");
    let by_key = |row: usize, tape: &mut Tape, lines: &mut Vec<u8>| {
        Style::ASCII.line(lines, |object| {
            for (column, leaf) in flat.iter().enumerate() {
                put(leaf, columns.cell(column, row), tape, object);
            }
        });
    };
    let mut begin = Vec::new();
    (0..columns.rows.min(LOOKED_AT)).for_each(|row| by_key(row, &mut tape, &mut begin));
    // A record's own procedure is a record too: the whole row comes first.
    let is_keyed = begin_as_records(&begin, &mut tape);
    let json = (0..flat.len()).find(|column| !is_keyed && holds_records(&columns, *column, &mut tape));
    if !is_keyed && json.is_none() {
        return not_read(&nested)
            .map_or(Ok(None), |why| Err(Failure { what: READ, path: blob.name().clone(), source: why }));
    }
    let mut lines = Vec::new();
    for row in 0..columns.rows {
        match json {
            Some(column) => line_of(columns.cell(column, row).text().unwrap_or_default(), &mut tape, &mut lines),
            None => by_key(row, &mut tape, &mut lines),
        }
        if lines.len() > room {
            return Err(too_large());
        }
    }
    let note = not_read(&nested).filter(|_| is_keyed);
    Ok(Some(RecordRows { lines, note }))
}

/// Whether the first values of a column are the JSON of records.
fn holds_records(columns: &Columns, column: usize, tape: &mut Tape) -> bool {
    let texts = (0..columns.rows.min(LOOKED_AT)).filter_map(|row| columns.cell(column, row).text());
    let mut all = texts.peekable();
    all.peek().is_some() && all.all(|text| is_record(text, tape))
}

fn is_record(text: &[u8], tape: &mut Tape) -> bool {
    text.trim_ascii_start().starts_with(b"{")
        && tape.parse(text).is_some_and(|root| formats::read(root).kind != RecordKind::Unknown)
}

fn begin_as_records(lines: &[u8], tape: &mut Tape) -> bool {
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(LOOKED_AT).any(|line| is_record(line, tape))
}

/// A record on a line of its own. What cannot be read stays as it is but for its line ends, and becomes a finding.
fn line_of(text: &[u8], tape: &mut Tape, lines: &mut Vec<u8>) {
    match tape.parse(text) {
        Some(root) if text.contains(&b'\n') => Style::ASCII.append(root, lines),
        _ => lines.extend(text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte })),
    }
    lines.push(b'\n');
}

/// A value under its key; nothing where the table holds nothing.
fn put(leaf: &Leaf, cell: &Cell, tape: &mut Tape, object: &mut Object<'_>) {
    let name = leaf.name.as_str();
    match cell {
        Cell::Null => {}
        Cell::Int(n) if leaf.kind == ColumnKind::Bool => _ = object.put(name, *n != 0),
        Cell::Int(n) => _ = object.put(name, *n),
        Cell::Float(x) => _ = object.put(name, *x),
        Cell::Text(bytes) => {
            let text = bytes.data();
            // Tables have no objects: whoever writes records keeps them as JSON.
            let is_json = text.starts_with(b"{") || text.starts_with(b"[");
            match is_json.then(|| tape.parse(text)).flatten() {
                Some(root) => object.put(name, Raw(Style::ASCII.of(root))),
                None => object.text(name, text),
            };
        }
    }
}

/// The nested columns, which are not read.
fn not_read(nested: &[&Leaf]) -> Option<Shown> {
    const NAMED: usize = 5;
    let mut names: Vec<&str> = nested.iter().map(|leaf| leaf.name.as_str()).collect();
    names.dedup();
    let list = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMED);
    let rest = if more > 0 { shown!(" and {more} more") } else { Shown::default() };
    let said = Shown::own("lists and objects in columns are not read; write them as JSON texts: ");
    (!names.is_empty()).then(|| said.join(&Shown::line(list.as_bytes())).join(&rest))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;

    const ANSWER: &str = r#"{"question": "2 + 3?", "steps": ["2 + 3 = 6"], "answer": 6}"#;

    fn table(schema: &str, texts: &[&str], right: Option<&[bool]>, gold: Option<&[f64]>) -> Blob {
        let schema = parse_message_type(&format!("message m {{ {schema} }}")).unwrap();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts: Vec<ByteArray> = texts.iter().map(|text| ByteArray::from(*text)).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        if let Some(right) = right {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<BoolType>().write_batch(right, None, None).unwrap();
            column.close().unwrap();
        }
        if let Some(gold) = gold {
            let mut column = group.next_column().unwrap().unwrap();
            let (values, levels): (Vec<f64>, Vec<i16>) = (gold[1..].to_vec(), vec![0, 1]);
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        Blob::of_bytes(Shown::own("t.parquet"), &writer.into_inner().unwrap()).unwrap()
    }

    fn lines(blob: &Blob) -> Option<String> {
        read(blob).unwrap().map(|rows| String::from_utf8(rows.lines).unwrap())
    }

    #[test]
    fn a_column_of_json_is_its_records() {
        let wide = ANSWER.replace(", ", ",\n  ");
        let blob = table("required binary any (UTF8);", &[ANSWER, &wide, "{\"cut"], None, None);
        // What is no record among records is kept for a finding; what never is one is no table of records.
        assert_eq!(lines(&blob), None);
        let blob = table("required binary any (UTF8);", &[ANSWER, &wide], None, None);
        assert_eq!(
            lines(&blob).unwrap(),
            format!("{ANSWER}\n{}\n", r#"{"question":"2 + 3?","steps":["2 + 3 = 6"],"answer":6}"#)
        );
    }

    #[test]
    fn columns_are_keys_where_the_rows_are_records() {
        let steps = r#"["2 + 3 = 6"]"#;
        let schema = "required binary steps (UTF8); required boolean is_correct; optional double gold_num;";
        let blob = table(schema, &[steps, steps], Some(&[false, true]), Some(&[0.0, 5.0]));
        let first = r#"{"steps":["2 + 3 = 6"],"is_correct":false}"#;
        let second = r#"{"steps":["2 + 3 = 6"],"is_correct":true,"gold_num":5.0}"#;
        assert_eq!(lines(&blob).unwrap(), format!("{first}\n{second}\n"));
        let blob = table("required binary question (UTF8);", &["2 + 3?", "3 + 4?"], None, None);
        assert_eq!(lines(&blob), None);
    }

    #[test]
    fn a_table_of_records_opens_as_its_lines_and_another_one_does_not() {
        use crate::source::input::recognise;
        let opened = |text: &str, found| recognise(table("required binary any (UTF8);", &[text], None, None), found);
        let source = opened(ANSWER, true).unwrap().unwrap();
        let mut text = Vec::new();
        source.blob.read(0, 1000, &mut text).unwrap();
        assert_eq!(text, format!("{ANSWER}\n").into_bytes());
        let why = opened("no JSON", false).unwrap_err().to_string();
        assert!(why.contains("this parquet table holds no records"), "{why}");
        assert!(opened("no JSON", true).unwrap().is_none());
    }
}
