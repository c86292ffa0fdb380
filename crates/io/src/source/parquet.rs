//! Parquet tables: a few columns, as far as they are there, whatever their types.
//!
//! Decoding happens under guard and with every size bounded: what a table promises is not believed.

use ::parquet::basic::{Compression, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader as _, RowGroupReader};
use ::parquet::file::serialized_reader::SerializedFileReader;

use crate::failure::Failure;
use crate::source::columns::{Cell, ColumnKind, Columns, Leaf, READ, TOO_LARGE, bytes_of, room_for};
use crate::source::open::Blob;
use stepscope_base::guard::guarded;
use stepscope_base::shown;
use stepscope_base::text::Shown;

mod pages;

/// So many values are decoded at a time.
const BATCH: usize = 4096;
/// How a parquet table begins.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// The columns of a table, without reading them.
pub(crate) fn leaves(blob: &Blob) -> Result<Vec<Leaf>, Failure> {
    guarded_read(blob, |bytes| {
        let file = SerializedFileReader::new(bytes.clone())?;
        let leaf = |leaf: &::parquet::schema::types::ColumnDescPtr| {
            let parts = leaf.path().parts();
            let is_flat = parts.len() == 1 && leaf.max_rep_level() == 0;
            let kind = match leaf.physical_type() {
                _ if !is_flat => ColumnKind::Unread,
                Type::BOOLEAN => ColumnKind::Bool,
                _ => ColumnKind::Plain,
            };
            Leaf { name: parts.first().cloned().unwrap_or_default(), kind }
        };
        Ok(file.metadata().file_metadata().schema_descr().columns().iter().map(leaf).collect())
    })
}

/// Reads columns of a table.
pub(crate) fn read_blob(blob: &Blob, names: &[&str]) -> Result<Columns, Failure> {
    guarded_read(blob, |bytes| {
        let file = SerializedFileReader::new(bytes.clone())?;
        let leaves = file.metadata().file_metadata().schema_descr().columns();
        // Lists and other nested columns are none of those that are asked for.
        let place = |name: &&str| {
            leaves.iter().position(|leaf| {
                leaf.max_rep_level() == 0 && matches!(leaf.path().parts(), [only] if only.eq_ignore_ascii_case(name))
            })
        };
        decode(bytes, &file, &names.iter().map(place).collect::<Vec<_>>())
    })
}

/// Reads those of the [`leaves`] that are wanted, each at its place.
pub(crate) fn read_places(blob: &Blob, wanted: &[bool]) -> Result<Columns, Failure> {
    let places: Vec<_> = wanted.iter().enumerate().map(|(place, wanted)| wanted.then_some(place)).collect();
    guarded_read(blob, |bytes| decode(bytes, &SerializedFileReader::new(bytes.clone())?, &places))
}

fn guarded_read<T>(blob: &Blob, read: impl FnOnce(&bytes::Bytes) -> Result<T, Refused>) -> Result<T, Failure> {
    let bytes = bytes_of(blob)?;
    if bytes.starts_with(b"PARE") || bytes.ends_with(b"PARE") {
        return Err(Failure::own(READ, blob.name(), "this parquet table is encrypted"));
    }
    let fail = |why: Shown| Failure { what: READ, path: blob.name().clone(), source: why };
    match guarded(|| read(&bytes)) {
        Some(Ok(found)) => Ok(found),
        Some(Err(Refused::Own(why))) => Err(fail(shown!("this parquet table is not read: {why}"))),
        Some(Err(Refused::Library(error))) => {
            let why = Shown::error(&error).shortened(200);
            Err(fail(shown!("this is no sound parquet table ({why}); write it anew")))
        }
        None => Err(fail(Shown::own("this is no sound parquet table; write it anew"))),
    }
}

/// What decoding may still take.
struct DecodingRoom {
    /// Rows of each column.
    rows: usize,
    /// Bytes of decoded pages: texts point into them.
    pages: usize,
    /// Bytes of text, each time that it stands in a row.
    text: usize,
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
    places: &[Option<usize>],
) -> Result<Columns, Refused> {
    let all = room_for(bytes.len());
    let mut room = DecodingRoom { rows: 0, pages: all, text: all };
    let rows = file.metadata().file_metadata().num_rows();
    let mut columns: Vec<Option<Vec<Cell>>> = places.iter().map(|place| place.map(|_| Vec::new())).collect();
    let wanted = places.iter().flatten().count().max(1);
    room.rows = all / (wanted * size_of::<Cell>());
    let rows = usize::try_from(rows).ok().filter(|rows| *rows <= room.rows).ok_or(Refused::Own(TOO_LARGE))?;
    for n in 0..file.num_row_groups() {
        let group = file.get_row_group(n)?;
        for (place, column) in places.iter().zip(&mut columns) {
            if let (Some(place), Some(column)) = (*place, column) {
                read_chunk(&*group, place, bytes, column, &mut room)?;
            }
        }
    }
    if columns.iter().flatten().any(|column| column.len() != rows) {
        return Err(Refused::Own("it has not as many rows as it says"));
    }
    Ok(Columns { rows, columns })
}

fn read_chunk(
    group: &dyn RowGroupReader,
    place: usize,
    bytes: &bytes::Bytes,
    into: &mut Vec<Cell>,
    room: &mut DecodingRoom,
) -> Result<(), Refused> {
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    if into.len().saturating_add(rows) > room.rows {
        return Err(Refused::Own(TOO_LARGE));
    }
    let chunk = group.metadata().column(place);
    if !matches!(
        chunk.compression(),
        Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::ZSTD(_)
            | Compression::LZ4
            | Compression::LZ4_RAW
    ) {
        // How much comes out of these is not bounded by what a page says of itself.
        return Err(Refused::Own("it is packed with gzip, brotli or LZO; write it anew with snappy, zstd or lz4"));
    }
    let (start, len) = chunk.byte_range();
    let end = start.checked_add(len).and_then(|end| usize::try_from(end).ok());
    let inside = usize::try_from(start).ok().zip(end).and_then(|(start, end)| bytes.get(start..end));
    let inside = inside.ok_or(Refused::Own("a column of it is cut off"))?;
    let decoded = pages::decoded(inside).map_err(Refused::Own)?;
    room.pages = room.pages.checked_sub(decoded).ok_or(Refused::Own(TOO_LARGE))?;
    if chunk.column_type() == Type::INT96 {
        // An old form of times, which none of these columns are.
        into.resize(into.len() + rows, Cell::Null);
        return Ok(());
    }
    let mut text = |bytes: ByteArray| {
        room.text = room.text.checked_sub(bytes.len())?;
        Some(Cell::Text(bytes))
    };
    match group.get_column_reader(place)? {
        ColumnReader::BoolColumnReader(reader) => take(reader, rows, into, |on| Some(Cell::Int(i64::from(on)))),
        ColumnReader::Int32ColumnReader(reader) => take(reader, rows, into, |n| Some(Cell::Int(i64::from(n)))),
        ColumnReader::Int64ColumnReader(reader) => take(reader, rows, into, |n| Some(Cell::Int(n))),
        ColumnReader::FloatColumnReader(reader) => take(reader, rows, into, |x| Some(Cell::Float(f64::from(x)))),
        ColumnReader::DoubleColumnReader(reader) => take(reader, rows, into, |x| Some(Cell::Float(x))),
        ColumnReader::ByteArrayColumnReader(reader) => take(reader, rows, into, text),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => take(reader, rows, into, |bytes| text((*bytes).clone())),
        ColumnReader::Int96ColumnReader(_) => Ok(()),
    }
}

/// Reads the values of a column chunk; what is null stands as null.
fn take<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    into: &mut Vec<Cell>,
    mut cell: impl FnMut(T::T) -> Option<Cell>,
) -> Result<(), Refused> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        values.clear();
        levels.clear();
        let (records, _, _) = reader.read_records(BATCH.min(left), Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(Refused::Own("a column of it is cut off"));
        }
        let mut given = values.drain(..);
        for n in 0..records {
            // Without levels the column is required: nothing is null.
            let there = levels.get(n).is_none_or(|level| *level > 0);
            into.push(match there.then(|| given.next()).flatten() {
                Some(value) => cell(value).ok_or(Refused::Own(TOO_LARGE))?,
                None => Cell::Null,
            });
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

    /// Page, line and text of every row.
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
        assert!(why("gzip").ends_with("write it anew with snappy, zstd or lz4"), "{}", why("gzip"));
        assert!(why("delta").contains("stored as differences"), "{}", why("delta"));
        assert!(why("missing").ends_with("check the spelling"));
    }

    /// A table of one column that holds the same value again and again.
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
            assert!(why.contains("far more room than its size lets expect"), "{why}");
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
