//! Tables whose rows are records: a column that holds their JSON, or one column per key.

use crate::failure::Failure;
use crate::source::block::BLOCK;
use crate::source::column_map::ColumnMap;
use crate::source::columns::{
    Cell, Columns, LOOKED_AT, Leaf, NAMED, READ, RowReader, is_said_by_null, room_for, room_for_all, style_of,
};
use crate::source::csv::CsvTable;
use crate::source::magic::begins_typed;
use crate::source::maps;
use crate::source::open::Blob;
use crate::source::typed;
use stepscope_base::json::write::{Object, Raw, Sink, Style, python_float};
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::{RecordKind, formats};

/// Number of columns that one record may have as keys.
const MAX_COLUMNS: usize = 2_048;
/// Lines are written to where they are kept in pieces of this size.
const PIECE: usize = 1 << 20;
/// Number of bytes that is kept of a record at least, however short its line.
const KEPT: usize = 40;
const CHOOSE: &str = "write it with those that are wanted, or as JSON lines";
const LARGER: &str = "its rows are far larger as records; write them as JSON lines";

/// The records of a table.
pub(crate) struct RecordRows {
    /// One JSON line a row, in order.
    pub lines: Blob,
    /// Note on what was left out of the table.
    pub note: Option<Shown>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
impl RecordRows {
    pub(super) fn text(&self) -> String {
        let mut text = Vec::new();
        self.lines.read(0, self.lines.len().unwrap() as usize, &mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Lines of records, each of at most so many bytes: escapes take six times what they stand for.
#[derive(Default)]
struct RowLines {
    lines: Vec<u8>,
    left: usize,
    is_over: bool,
}

impl RowLines {
    /// Begins the line of a row of a table of so many bytes.
    fn begin(&mut self, table: usize) {
        (self.left, self.is_over) = (2 * room_for(table), false);
    }
}

impl Sink for RowLines {
    fn put(&mut self, bytes: &[u8]) {
        match self.left.checked_sub(bytes.len()).filter(|_| !self.is_over) {
            Some(left) => {
                self.left = left;
                self.lines.extend_from_slice(bytes);
            }
            None => self.is_over = true,
        }
    }
}

fn open(blob: &Blob) -> Result<Box<dyn RowReader>, Failure> {
    let mut head = Vec::new();
    blob.read(0, BLOCK, &mut head)?;
    if begins_typed(&head) { typed::open(blob, &head) } else { Ok(Box::new(CsvTable::open(blob)?)) }
}

/// Location of the record in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordPlace {
    /// One column per key.
    Keyed,
    /// A column that holds its JSON.
    Column(usize),
}

/// Reads the rows of a table as records; `Ok(None)`: they are none. Where columns were given keys, any row is a record.
/// `found`: no person named the table, so it may lack these columns, and records.
pub(crate) fn read(blob: &Blob, map: &ColumnMap, found: bool) -> Result<Option<RecordRows>, Failure> {
    let mut table = open(blob)?;
    let leaves = table.leaves();
    let fail = |why| Failure { what: READ, path: blob.name().clone(), source: why };
    let none = |why: Option<Shown>| why.filter(|_| !found).map_or(Ok(None), |why| Err(fail(why)));
    let keys = match map.keys(&leaves) {
        Ok(keys) => keys,
        Err(why) => return none(Some(why)),
    };
    let mut wanted: Vec<bool> = leaves.iter().map(|leaf| leaf.unread.is_none()).collect();
    match wanted.iter().filter(|wanted| **wanted).count() {
        0 => return none(not_read(&leaves)),
        1..=MAX_COLUMNS => {}
        // One in a folder may be a shard, which is not left out in silence.
        count => return Err(fail(shown!("it has {count} columns, of which at most {MAX_COLUMNS} are read; {CHOOSE}"))),
    }
    let (mut tape, mut piece, bytes) = (Tape::default(), RowLines::default(), blob.len()? as usize);
    let (lines, mut at, mut room) = (Blob::in_memory(blob.name().clone())?, 0, room_for_all(bytes));
    // With a map of its own any row is a record.
    let mut known = (!map.is_empty() || map.row_map().is_some()).then_some(RecordPlace::Keyed);
    let mut is_empty = true;
    while let Some(columns) = table.next(&wanted)? {
        if columns.rows == 0 {
            continue;
        }
        is_empty = false;
        let found =
            known.map_or_else(|| place_of(leaves.len(), &keys, &columns, &mut tape, bytes), |place| Ok(Some(place)));
        let Some(place) = found.map_err(|why| Failure::own(READ, blob.name(), why))? else { break };
        if let (RecordPlace::Column(column), None) = (place, known) {
            wanted.iter_mut().enumerate().for_each(|(n, wanted)| *wanted = n == column);
        }
        known = Some(place);
        for row in 0..columns.rows {
            let before = piece.lines.len();
            // The same text may be the value of many columns.
            if columns.len_of(row) > room_for(bytes) {
                return Err(Failure::own(READ, blob.name(), LARGER));
            }
            piece.begin(bytes);
            match place {
                RecordPlace::Column(column) => {
                    line_of(columns.cell(column, row).text_or_nothing(), &mut tape, &mut piece);
                }
                RecordPlace::Keyed => by_key(&keys, &columns, row, &mut tape, &mut piece),
            }
            let left = room.checked_sub(piece.lines.len() - before + KEPT).filter(|_| !piece.is_over);
            room = left.ok_or_else(|| Failure::own(READ, blob.name(), LARGER))?;
            if piece.lines.len() >= PIECE {
                lines.append(&piece.lines, at)?;
                at += piece.lines.len() as u64;
                piece.lines.clear();
            }
        }
    }
    lines.append(&piece.lines, at)?;
    let note = not_read(&leaves);
    match known {
        Some(RecordPlace::Keyed) => Ok(Some(RecordRows { lines, note })),
        Some(RecordPlace::Column(column)) => Ok(Some(RecordRows { lines, note: read_alone(&leaves, column) })),
        // An engine writes one for an empty partition.
        None if is_empty && !found => Ok(Some(RecordRows { lines, note: None })),
        None => none(note),
    }
}

/// Finds the location of records in the first rows of a table, if they have any. A record's own procedure is a record
/// too: the whole row comes first.
fn place_of(
    leaves: usize,
    keys: &[(usize, &str)],
    columns: &Columns,
    tape: &mut Tape,
    table: usize,
) -> Result<Option<RecordPlace>, &'static str> {
    let (mut line, mut looked_at) = (RowLines::default(), 0);
    for row in 0..columns.rows {
        line.lines.clear();
        line.begin(table);
        by_key(keys, columns, row, tape, &mut line);
        if line.is_over {
            return Err(LARGER);
        }
        if is_record(&line.lines, tape) {
            return Ok(Some(RecordPlace::Keyed));
        }
        // A row of nothing says nothing.
        looked_at += usize::from(line.lines != b"{}\n");
        if looked_at == LOOKED_AT {
            break;
        }
    }
    Ok((0..leaves).find(|column| holds_records(columns, *column, tape)).map(RecordPlace::Column))
}

/// Writes a row as an object on a line.
fn by_key(keys: &[(usize, &str)], columns: &Columns, row: usize, tape: &mut Tape, line: &mut RowLines) {
    Style::ASCII.line(line, |object| {
        for (column, key) in keys {
            put(key, columns.cell(*column, row), tape, object);
        }
    });
}

/// Tells whether the first values of a column are the JSON of records: more of them than of anything else. A record that
/// is broken is no reason to read none.
fn holds_records(columns: &Columns, column: usize, tape: &mut Tape) -> bool {
    let texts = (0..columns.rows).filter_map(|row| columns.cell(column, row).text());
    let (mut records, mut others) = (0, 0);
    for text in texts.map(<[u8]>::trim_ascii).filter(|text| !text.is_empty()).take(LOOKED_AT) {
        match is_record(text, tape) {
            true => records += 1,
            // It may have been one.
            false if text.starts_with(b"{") && !tape.read(text) => {}
            false => others += 1,
        }
    }
    records > others
}

fn is_record(text: &[u8], tape: &mut Tape) -> bool {
    text.trim_ascii_start().starts_with(b"{")
        && tape
            .parse(text)
            .is_some_and(|root| formats::read(root).kind != RecordKind::Unknown || maps::map_of(root, None).is_some())
}

/// Writes a record on a line of its own. What cannot be read stays as it is but for its line ends, and becomes a
/// finding.
fn line_of(text: &[u8], tape: &mut Tape, line: &mut RowLines) {
    match text.contains(&b'\n').then(|| tape.parse(text)).flatten() {
        Some(root) => style_of(text).append(root, line),
        None => {
            for (n, part) in text.split(|byte| matches!(byte, b'\n' | b'\r')).enumerate() {
                line.put(if n > 0 { b" " } else { b"" });
                line.put(part);
            }
        }
    }
    line.push(b'\n');
}

/// Writes a value under its key; nothing where the table holds nothing.
fn put(name: &str, cell: &Cell, tape: &mut Tape, object: &mut Object<'_>) {
    match cell {
        Cell::Null if is_said_by_null(name) => _ = object.put(name, Raw("null")),
        Cell::Null => {}
        Cell::Bool(on) => _ = object.put(name, *on),
        Cell::Int(n) => _ = object.put(name, *n),
        Cell::Float(x) => _ = object.put(name, Raw(python_float(*x))),
        Cell::Json(bytes) => _ = object.put(name, Raw(bytes.data())),
        // Programs that write objects as JSON write this where there is none.
        Cell::Text(bytes) if bytes.data() == b"null" && !formats::TEXTS.contains(&name) => {
            put(name, &Cell::Null, tape, object);
        }
        Cell::Untyped(bytes) if !formats::TEXTS.contains(&name) => match bytes.data() {
            b"True" | b"true" => _ = object.put(name, true),
            b"False" | b"false" => _ = object.put(name, false),
            text if tape.parse(text).is_some_and(Value::is_number) => _ = object.put(name, Raw(text)),
            _ => put(name, &Cell::Text(bytes.clone()), tape, object),
        },
        Cell::Text(bytes) | Cell::JsonText(bytes) | Cell::Untyped(bytes) => {
            let text = bytes.data();
            // Tables may have no objects: whoever writes records keeps them as JSON.
            let may_be = || matches!(text.trim_ascii_start(), [b'{' | b'[', ..]) && !formats::TEXTS.contains(&name);
            let is_json = matches!(cell, Cell::JsonText(_)) || may_be();
            let style = style_of(text);
            let is_ascii = style == Style::ASCII;
            match is_json.then(|| tape.parse(text)).flatten() {
                Some(root) if is_ascii => object.put(name, root),
                Some(root) => object.put(name, Raw(style.of(root))),
                None if is_ascii => object.text(name, text),
                None => object.put(name, Raw(style.of(Untrusted::new(text)))),
            };
        }
    }
}

/// Names the columns that are not read.
fn not_read(leaves: &[Leaf]) -> Option<Shown> {
    let mut names: Vec<String> = leaves.iter().filter_map(Leaf::unread_name).collect();
    names.dedup();
    let said = Shown::own("columns of these types are not read; write them as JSON strings: ");
    (!names.is_empty()).then(|| said.join(&first_of(&names)))
}

/// Names the column that holds the records, and the others, which are not read; `None`: there are no others.
fn read_alone(leaves: &[Leaf], column: usize) -> Option<Shown> {
    let others = leaves.iter().enumerate().filter(|(n, _)| *n != column);
    let mut names: Vec<String> = others.map(|(_, leaf)| leaf.name.clone()).collect();
    names.dedup();
    let name = Shown::line(leaves.get(column)?.name.as_bytes());
    (!names.is_empty()).then(|| shown!("records read from column {name}; not read: {}", first_of(&names)))
}

/// Lists the first of some names, and counts the rest.
fn first_of(names: &[String]) -> Shown {
    let list = Shown::line(names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ").as_bytes());
    match names.len().saturating_sub(NAMED) {
        0 => list,
        more => shown!("{list} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use ::parquet::basic::{Compression, ZstdLevel};
    use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType};
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;

    const ANSWER: &str = r#"{"question": "2 + 3?", "steps": ["2 + 3 = 6"], "answer": 6}"#;

    fn table(schema: &str, texts: &[&str], right: Option<&[bool]>, gold: Option<&[f64]>) -> Blob {
        let schema = parse_message_type(&format!("message m {{ {schema} }}")).unwrap();
        let packed = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), packed.into()).unwrap();
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
        read(blob, &ColumnMap::default(), false).unwrap().map(|rows| rows.text())
    }

    #[test]
    fn a_column_of_json_is_its_records() {
        let wide = ANSWER.replace(", ", ",\n  ");
        let of = |texts: &[&str]| lines(&table("required binary any (UTF8);", texts, None, None));
        let narrow = r#"{"question":"2 + 3?","steps":["2 + 3 = 6"],"answer":6}"#;
        assert_eq!(of(&[ANSWER, &wide]).unwrap(), format!("{ANSWER}\n{narrow}\n"));
        // What is no record among records is kept for a finding; what never is one is no table of records.
        for broken in ["{\"cut", "", "no JSON", "[7]", "{}"] {
            assert_eq!(of(&[broken, ANSWER, ANSWER]).unwrap(), format!("{broken}\n{ANSWER}\n{ANSWER}\n"));
        }
        assert_eq!(of(&["{\"cut", "{\"cut", ANSWER]).unwrap().lines().count(), 3, "these two may have been records");
        for none in [&["{\"cut"][..], &["", " "], &["{}", "{\"a\": 1}", ANSWER], &["no", "JSON", ANSWER]] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    #[test]
    fn columns_that_are_not_read_are_named() {
        let schema = "required binary any (UTF8); required boolean is_correct; optional double gold;";
        let blob = table(schema, &[ANSWER, ANSWER], Some(&[true, false]), Some(&[0.0, 5.0]));
        let note = read(&blob, &ColumnMap::default(), false).unwrap().unwrap().note.unwrap();
        assert_eq!(note.as_str(), "records read from column any; not read: is_correct, gold");
        let wide = |columns: usize| {
            let columns: Vec<String> = (0..columns).map(|n| format!("required binary c{n} (UTF8); ")).collect();
            let schema = columns.concat();
            let schema =
                parse_message_type(&format!("message m {{ required binary steps (UTF8); {schema} }}")).unwrap();
            let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Arc::default()).unwrap();
            let mut group = writer.next_row_group().unwrap();
            while let Some(mut column) = group.next_column().unwrap() {
                let texts = [ByteArray::from("[\"2 + 3 = 6\"]")];
                column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
                column.close().unwrap();
            }
            group.close().unwrap();
            let blob = Blob::of_bytes(Shown::own("t.parquet"), &writer.into_inner().unwrap()).unwrap();
            read(&blob, &ColumnMap::default(), true).map(|rows| rows.unwrap().text().matches("\"c").count())
        };
        assert_eq!(wide(300).unwrap(), 300);
        assert!(wide(MAX_COLUMNS).unwrap_err().to_string().contains("it has 2049 columns, of which at most 2048 are"));
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
    fn a_text_that_is_json_stays_a_text_where_every_format_has_one() {
        let one = |key: &str, text: &str| {
            let blob = table(&format!("required binary {key} (UTF8);"), &[text], None, None);
            let map = ColumnMap::new(&[(key.to_owned(), key.to_owned())]);
            read(&blob, &map, false).unwrap().unwrap().text()
        };
        let reply = r#"{"a": 1}"#;
        assert_eq!(one("completion", reply), "{\"completion\":\"{\\\"a\\\": 1}\"}\n");
        assert_eq!(one("reply", reply), one("completion", reply).replace("completion", "reply"));
        assert_eq!(one("question", "[1, 2]"), "{\"question\":\"[1, 2]\"}\n");
        assert_eq!(one("state", reply), "{\"state\":{\"a\":1}}\n");
        assert_eq!(one("state", "\n {\"a\": 1}"), "{\"state\":{\"a\":1}}\n");
        assert_eq!(one("state", "7"), "{\"state\":\"7\"}\n");
        assert_eq!(one("mistake_index", "null"), "{\"mistake_index\":null}\n");
        assert_eq!(one("completion", "null"), "{\"completion\":\"null\"}\n");
    }

    #[test]
    fn bytes_that_are_no_text_stay_as_they_are() {
        let tables = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores/tables");
        for name in ["types.parquet", "types.arrow"] {
            let blob = Blob::of_bytes(Shown::own("t"), &std::fs::read(tables.join(name)).unwrap()).unwrap();
            let (mut text, rows) = (Vec::new(), read(&blob, &ColumnMap::default(), false).unwrap().unwrap());
            rows.lines.read(0, 10_000, &mut text).unwrap();
            for kept in [&b"\"cafe\":\"caf\xe9\""[..], b"\"names\":[\"caf\xe9\"]", b"\"json\":{\"a\":\"\xe9\"}"] {
                assert!(text.windows(kept.len()).any(|window| window == kept), "{name}: {}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn records_that_repeat_themselves_open_however_well_they_are_packed() {
        let record = |n: usize| format!(r#"{{"question":"{n} {}","steps":["2 + 3 = 6"]}}"#, "x".repeat(10_000));
        let records: Vec<String> = (0..2_000).map(record).collect();
        let texts: Vec<&str> = records.iter().map(String::as_str).collect();
        let blob = table("required binary any (UTF8);", &texts, None, None);
        let (size, all) = (blob.len().unwrap() as usize, records.join("\n") + "\n");
        assert!(all.len() > 40 * size && all.len() > room_for(size), "{size}");
        assert!(lines(&blob).unwrap() == all);
        // What would fill the memory does not.
        let long = format!(r#"{{"question":"{}","steps":["2 + 3 = 6"]}}"#, "x".repeat(100_000));
        let same = |rows| table("required binary any (UTF8);", &vec![&*long; rows], None, None);
        assert_eq!(lines(&same(200)).unwrap().lines().count(), 200);
        let why = read(&same(1_000), &ColumnMap::default(), false).err().unwrap().to_string();
        assert!(why.contains("far larger as records"), "{why}");
    }

    #[test]
    fn columns_of_other_names_stand_for_keys() {
        let schema = "required binary asked (UTF8); required boolean question; optional double gold;";
        let blob = table(schema, &["2 + 3?", "3 + 4?"], Some(&[false, true]), Some(&[0.0, 7.0]));
        let read = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(key, column)| ((*key).to_owned(), (*column).to_owned())).collect();
            let rows = super::read(&blob, &ColumnMap::new(&pairs), false).map_err(|failure| failure.to_string())?;
            Ok::<_, String>(rows.map(|rows| rows.text()))
        };
        assert_eq!(read(&[]), Ok(None), "its own names are no keys of records");
        let lines = read(&[("question", "asked"), ("gold_num", "gold"), ("x", "gold")]).unwrap();
        let second = r#"{"question":"3 + 4?","gold_num":7.0,"x":7.0}"#;
        assert_eq!(lines.unwrap(), format!("{}\n{second}\n", r#"{"question":"2 + 3?"}"#));
        let why = read(&[("question", "n\u{1b}")]).unwrap_err();
        assert!(why.ends_with("its columns are asked, question, gold") && !why.contains('\u{1b}'), "{why}");
        assert!(read(&[("question", "askd")]).unwrap_err().ends_with("Did you mean \"asked\"?"));
    }

    #[test]
    fn a_table_of_records_opens_as_its_lines_and_another_one_does_not() {
        use crate::source::input::recognise;
        let opened = |text: &str, found| {
            recognise(table("required binary any (UTF8);", &[text], None, None), found, &ColumnMap::default())
        };
        let source = opened(ANSWER, true).unwrap().unwrap();
        let mut text = Vec::new();
        source.blob.read(0, 1000, &mut text).unwrap();
        assert_eq!(text, format!("{ANSWER}\n").into_bytes());
        let why = opened("no JSON", false).unwrap_err().to_string();
        assert!(why.contains("this parquet table holds no records"), "{why}");
        assert!(opened("no JSON", true).unwrap().is_none());
    }
}
