//! Parquet tables: a few columns, as far as they are there, whatever their types.
//!
//! Decoding happens under guard and with every size bounded: what a table promises is not believed.

use ::parquet::basic::Compression;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader as _, RowGroupReader};
use ::parquet::file::serialized_reader::SerializedFileReader;

use self::nested::{GroupLeaves, LeafRows, Node, TopColumn};
use crate::failure::Failure;
use crate::source::columns::{Cell, Columns, Leaf, READ, TOO_LARGE, bytes_of, room_for};
use crate::source::open::Blob;
use stepscope_base::guard::guarded;
use stepscope_base::shown;
use stepscope_base::text::Shown;

mod nested;
mod pages;

/// Number of values that are decoded at a time.
const BATCH: usize = 4096;
/// First bytes of a Parquet table.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// Lists the columns of a table, without reading them.
pub(crate) fn leaves(blob: &Blob) -> Result<Vec<Leaf>, Failure> {
    guarded_read(blob, |bytes| {
        let columns = columns_of(&SerializedFileReader::new(bytes.clone())?);
        Ok(columns.into_iter().map(|column| Leaf { kind: column.kind(), name: column.name }).collect())
    })
}

/// Reads columns of a table. Lists and other nested columns are none of those that are asked for.
pub(crate) fn read_blob(blob: &Blob, names: &[&str]) -> Result<Columns, Failure> {
    guarded_read(blob, |bytes| {
        let file = SerializedFileReader::new(bytes.clone())?;
        let columns = columns_of(&file);
        let node = |name: &&str| {
            let mut nodes = columns.iter().filter(|column| column.name.eq_ignore_ascii_case(name));
            nodes.find_map(|column| column.node.as_ref().filter(|node| matches!(node, Node::Leaf { .. })))
        };
        decode(bytes, &file, &names.iter().map(node).collect::<Vec<_>>())
    })
}

/// Reads those of the [`leaves`] that are wanted, each at its place.
pub(crate) fn read_places(blob: &Blob, wanted: &[bool]) -> Result<Columns, Failure> {
    guarded_read(blob, |bytes| {
        let file = SerializedFileReader::new(bytes.clone())?;
        let columns = columns_of(&file);
        let nodes = columns.iter().zip(wanted).map(|(column, wanted)| column.node.as_ref().filter(|_| *wanted));
        decode(bytes, &file, &nodes.collect::<Vec<_>>())
    })
}

fn columns_of(file: &SerializedFileReader<bytes::Bytes>) -> Vec<TopColumn> {
    nested::columns(file.metadata().file_metadata().schema_descr().root_schema())
}

fn guarded_read<T>(blob: &Blob, read: impl FnOnce(&bytes::Bytes) -> Result<T, Refused>) -> Result<T, Failure> {
    let bytes = bytes_of(blob)?;
    if bytes.starts_with(b"PARE") || bytes.ends_with(b"PARE") {
        return Err(Failure::own(READ, blob.name(), "this parquet table is encrypted"));
    }
    let fail = |why: Shown| Failure { what: READ, path: blob.name().clone(), source: why };
    match guarded(|| read(&bytes)) {
        Some(Ok(found)) => Ok(found),
        Some(Err(Refused::Own(why))) => Err(fail(shown!("this parquet table cannot be read: {why}"))),
        Some(Err(Refused::Library(error))) => {
            let why = Shown::error(&error).shortened(200);
            Err(fail(shown!("this parquet table is damaged ({why}); write it again")))
        }
        None => Err(fail(Shown::own("this parquet table is damaged; write it again"))),
    }
}

/// Limits of what decoding may still take.
struct DecodingRoom {
    /// Rows of each column.
    rows: usize,
    /// Bytes of decoded pages: texts point into them.
    pages: usize,
    /// Bytes of text, counted for each row that has it.
    text: usize,
    /// Values of leaves in lists and objects.
    items: usize,
}

enum Refused {
    Own(&'static str),
    Library(ParquetError),
}

impl From<ParquetError> for Refused {
    fn from(error: ParquetError) -> Self {
        Self::Library(error)
    }
}

fn decode(
    bytes: &bytes::Bytes,
    file: &SerializedFileReader<bytes::Bytes>,
    nodes: &[Option<&Node>],
) -> Result<Columns, Refused> {
    let all = room_for(bytes.len());
    let wanted = nodes.iter().flatten().count().max(1);
    let mut room = DecodingRoom {
        rows: all / (wanted * size_of::<Cell>()),
        pages: all,
        text: all,
        items: all / (size_of::<Cell>() + size_of::<usize>()),
    };
    let rows = file.metadata().file_metadata().num_rows();
    let rows = usize::try_from(rows).ok().filter(|rows| *rows <= room.rows).ok_or(Refused::Own(TOO_LARGE))?;
    let mut columns: Vec<Option<Vec<Cell>>> = nodes.iter().map(|node| node.map(|_| Vec::new())).collect();
    for n in 0..file.num_row_groups() {
        let group = file.get_row_group(n)?;
        for (node, column) in nodes.iter().zip(&mut columns) {
            if let (Some(node), Some(column)) = (node, column) {
                read_group(&*group, node, bytes, column, &mut room)?;
            }
        }
    }
    if columns.iter().flatten().any(|column| column.len() != rows) {
        return Err(Refused::Own("its number of rows is not the declared one"));
    }
    Ok(Columns { rows, columns })
}

/// Reads a column in a group of rows.
fn read_group(
    group: &dyn RowGroupReader,
    node: &Node,
    bytes: &bytes::Bytes,
    into: &mut Vec<Cell>,
    room: &mut DecodingRoom,
) -> Result<(), Refused> {
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    if into.len().saturating_add(rows) > room.rows {
        return Err(Refused::Own(TOO_LARGE));
    }
    if let Node::Leaf { leaf, level, .. } = node {
        decoded(group, *leaf, bytes, room)?;
        return read_chunk(group, *leaf, *level, rows, room, &mut |_, _, cell| into.push(cell));
    }
    let mut places = Vec::new();
    node.leaves(&mut places);
    let mut leaves = Vec::new();
    for (leaf, level) in &places {
        let mut read = LeafRows::default();
        let items = decoded(group, *leaf, bytes, room)?;
        room.items = room.items.checked_sub(items).ok_or(Refused::Own(TOO_LARGE))?;
        read_chunk(group, *leaf, *level, rows, room, &mut |level, begins, cell| {
            if begins {
                read.starts.push(read.cells.len());
            }
            read.levels.push(level);
            read.cells.push(cell);
        })?;
        read.starts.push(read.cells.len());
        leaves.push(read);
    }
    let leaves = GroupLeaves { first: places.first().map_or(0, |(leaf, _)| *leaf), leaves };
    for row in 0..rows {
        let cell = leaves.cell(node, row, room.text).map_err(Refused::Own)?;
        if let Cell::Json(json) = &cell {
            room.text = room.text.checked_sub(json.len()).ok_or(Refused::Own(TOO_LARGE))?;
        }
        into.push(cell);
    }
    Ok(())
}

/// Counts the values of a column chunk, by what its pages say, and checks that there is room for their bytes.
fn decoded(
    group: &dyn RowGroupReader,
    leaf: usize,
    bytes: &bytes::Bytes,
    room: &mut DecodingRoom,
) -> Result<usize, Refused> {
    let chunk = group.metadata().column(leaf);
    if !matches!(
        chunk.compression(),
        Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::ZSTD(_)
            | Compression::LZ4
            | Compression::LZ4_RAW
    ) {
        // How much comes out of these is not bounded by what a page says of itself.
        return Err(Refused::Own("it is compressed with gzip, brotli or LZO; write it again with snappy, zstd or lz4"));
    }
    let (start, len) = chunk.byte_range();
    let end = start.checked_add(len).and_then(|end| usize::try_from(end).ok());
    let inside = usize::try_from(start).ok().zip(end).and_then(|(start, end)| bytes.get(start..end));
    let inside = inside.ok_or(Refused::Own("a column is cut off"))?;
    let (decoded, values) = pages::decoded(inside).map_err(Refused::Own)?;
    room.pages = room.pages.checked_sub(decoded).ok_or(Refused::Own(TOO_LARGE))?;
    Ok(values)
}

/// Gets the values of a column chunk: the level of each, whether a row begins with it, and itself.
type Push<'a> = &'a mut dyn FnMut(i16, bool, Cell);

/// Reads a column chunk, of whose values those are there that have the full level.
fn read_chunk(
    group: &dyn RowGroupReader,
    leaf: usize,
    full: i16,
    rows: usize,
    room: &mut DecodingRoom,
    push: Push<'_>,
) -> Result<(), Refused> {
    let mut text = |bytes: ByteArray| {
        room.text = room.text.checked_sub(bytes.len())?;
        Some(Cell::Text(bytes))
    };
    match group.get_column_reader(leaf)? {
        ColumnReader::BoolColumnReader(reader) => take(reader, rows, full, push, |on| Some(Cell::Int(i64::from(on)))),
        ColumnReader::Int32ColumnReader(reader) => take(reader, rows, full, push, |n| Some(Cell::Int(i64::from(n)))),
        ColumnReader::Int64ColumnReader(reader) => take(reader, rows, full, push, |n| Some(Cell::Int(n))),
        ColumnReader::FloatColumnReader(reader) => take(reader, rows, full, push, |x| Some(Cell::Float(f64::from(x)))),
        ColumnReader::DoubleColumnReader(reader) => take(reader, rows, full, push, |x| Some(Cell::Float(x))),
        ColumnReader::ByteArrayColumnReader(reader) => take(reader, rows, full, push, text),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            take(reader, rows, full, push, |bytes| text((*bytes).clone()))
        }
        // An old form of times, which none of these columns are.
        ColumnReader::Int96ColumnReader(_) => {
            (0..rows).for_each(|_| push(0, true, Cell::Null));
            Ok(())
        }
    }
}

/// Reads the values of a column chunk; nulls stay nulls.
fn take<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    full: i16,
    push: Push<'_>,
    mut cell: impl FnMut(T::T) -> Option<Cell>,
) -> Result<(), Refused> {
    let (mut values, mut levels, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        values.clear();
        levels.clear();
        repeated.clear();
        let most = BATCH.min(left);
        let (records, _, _) = reader.read_records(most, Some(&mut levels), Some(&mut repeated), &mut values)?;
        if records == 0 {
            return Err(Refused::Own("a column is cut off"));
        }
        let mut given = values.drain(..);
        for n in 0..records.max(levels.len()).max(repeated.len()) {
            // Without levels the column is required: nothing is null.
            let level = levels.get(n).copied().unwrap_or(full);
            let value = (level >= full).then(|| given.next()).flatten();
            let value = value.map_or(Some(Cell::Null), &mut cell).ok_or(Refused::Own(TOO_LARGE))?;
            push(level, repeated.get(n).is_none_or(|level| *level == 0), value);
        }
        left -= records.min(left);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::open::{Opened, open};

    fn table(name: &str) -> std::path::PathBuf {
        let tables = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores/tables");
        tables.join(name).with_extension("parquet")
    }

    fn read(path: &std::path::Path, names: &[&str]) -> Result<Columns, Failure> {
        let Opened::File(blob) = open(path)? else { panic!("no file") };
        read_blob(&blob, names)
    }

    const NAMES: [&str; 3] = ["page_num", "line_num", "text"];

    /// Lists page, line and text of every row.
    fn rows(columns: &Columns) -> Vec<(Option<i64>, Option<i64>, Option<String>)> {
        let text = |row| columns.cell(2, row).text().map(|text| String::from_utf8_lossy(text).into_owned());
        (0..columns.rows).map(|row| (columns.cell(0, row).int(), columns.cell(1, row).int(), text(row))).collect()
    }

    #[test]
    fn a_table_is_the_same_whoever_wrote_it() {
        let expected = rows(&read(&table("pandas3"), &NAMES).unwrap());
        assert_eq!(expected[1], (Some(1), Some(2), Some("EUR 900".to_owned())));
        assert_eq!(expected[3], (Some(2), Some(2), None));
        for name in ["pandas2", "floats", "texts", "groups", "zstd", "lz4"] {
            assert_eq!(rows(&read(&table(name), &NAMES).unwrap()), expected, "{name}");
        }
    }

    #[test]
    fn columns_that_are_null_nested_or_not_there_are_nothing() {
        let names = ["parent_idx", "matched_keywords", "element", "breadcrumb", "START_PAGE", "end_page"];
        let columns = read(&table("contents"), &names).unwrap();
        assert_eq!(
            columns.columns.iter().map(Option::is_some).collect::<Vec<_>>(),
            [true, false, false, false, true, true]
        );
        assert_eq!(
            (columns.cell(0, 0), columns.cell(3, 0), columns.cell(0, 9)),
            (&Cell::Null, &Cell::Null, &Cell::Null)
        );
        assert_eq!((columns.cell(4, 1).int(), columns.cell(5, 1).int()), (Some(2), None));
    }

    #[test]
    fn what_could_grow_without_bounds_is_refused_in_words() {
        let why = |name| read(&table(name), &NAMES).unwrap_err().to_string();
        assert!(why("gzip").ends_with("write it again with snappy, zstd or lz4"), "{}", why("gzip"));
        assert!(why("delta").contains("stored as differences"), "{}", why("delta"));
        assert!(why("missing").ends_with("no such file"));
    }

    /// Makes a table of one column that holds the same value again and again.
    fn repeated<T: DataType>(column: &str, value: &T::T, rows: usize) -> Vec<u8> {
        use ::parquet::file::writer::SerializedFileWriter;
        let schema = ::parquet::schema::parser::parse_message_type(&format!("message m {{ {column}; }}")).unwrap();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), std::sync::Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        while let Some(mut column) = group.next_column().unwrap() {
            column.typed::<T>().write_batch(&vec![value.clone(); rows], None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn small_tables_that_would_become_large_are_refused_before() {
        use ::parquet::data_type::{ByteArrayType, Int64Type};
        let numbers = |rows| repeated::<Int64Type>("required int64 page_num", &7, rows);
        let long = ByteArray::from(vec![b'x'; 100_000]);
        let texts = |rows| repeated::<ByteArrayType>("required binary text (UTF8)", &long, rows);
        let read = |bytes: &[u8]| read_blob(&Blob::of_bytes(Shown::own("t"), bytes).unwrap(), &NAMES);
        assert_eq!(read(&numbers(50_000)).unwrap().rows, 50_000);
        assert_eq!(read(&texts(50)).unwrap().rows, 50);
        for bytes in [numbers(1_000_000), texts(1_000)] {
            assert!(bytes.len() < 200_000, "{}", bytes.len());
            let why = read(&bytes).unwrap_err().to_string();
            assert!(why.contains("far more memory than its size suggests"), "{why}");
        }
    }

    #[test]
    fn damaged_tables_are_told_and_hurt_nobody() {
        let mut seed = 7_u32;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % below
        };
        let (mut read_anyway, mut refused) = (0, 0);
        for name in ["pandas3", "groups", "zstd", "lz4"] {
            let sound = std::fs::read(table(name)).unwrap();
            for round in 0..150 {
                let mut bytes = sound.clone();
                for _ in 0..=round % 4 {
                    let at = random(bytes.len());
                    bytes[at] = random(256) as u8;
                }
                if round % 10 == 0 {
                    bytes.truncate(random(sound.len()));
                }
                match read_blob(&Blob::of_bytes(Shown::own("t"), &bytes).unwrap(), &NAMES) {
                    Ok(columns) => read_anyway += usize::from(rows(&columns).len() == columns.rows),
                    Err(failure) => refused += usize::from(failure.to_string().starts_with("cannot read t: ")),
                }
            }
        }
        assert_eq!(read_anyway + refused, 600);
        assert!(refused > 200, "{refused}");
    }
}
