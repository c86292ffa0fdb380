//! Parquet tables: a few columns, as far as they are there, whatever their types, a few rows at a time.
//!
//! Decoding happens under guard and with every size bounded: what a table promises is not believed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::parquet::basic::Compression;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::reader::FileReader as _;
use ::parquet::file::serialized_reader::{SerializedFileReader, SerializedPageReader};
use bytes::Bytes;

use self::delta::PageShape;
use self::nested::{GroupLeaves, LeafMeaning, LeafRows, Node, TopColumn};
use self::packed::PageCodec;
use self::pages::ChunkSize;
use crate::failure::Failure;
use crate::source::columns::{
    Cell, Columns, LOOKED_AT, Leaf, READ, ROWS, RowReader, TOO_LARGE, Unread, bytes_of, room_for, room_for_all,
};
use crate::source::open::Blob;
use stepscope_base::guard::guarded;
use stepscope_base::shown;
use stepscope_base::text::Shown;

mod delta;
mod footer;
mod nested;
mod packed;
mod pages;
mod thrift;

/// Number of bytes that a part should have.
const PART: usize = 4 << 20;
/// Size of a value in a list or an object while its row is put together.
const ITEM: usize = LeafRows::VALUE;

/// A table whose rows are read part by part.
pub(crate) struct ParquetTable {
    name: Shown,
    bytes: Bytes,
    file: SerializedFileReader<Bytes>,
    columns: Vec<TopColumn>,
    /// Number of rows, as the table says, and of those that were read.
    rows: usize,
    read: usize,
    /// The next group of rows.
    next: usize,
    group: Option<OpenGroup>,
    /// Number of bytes that the groups that were opened are decoded to.
    decoded: usize,
    /// Bytes that the pages may still take once they are unpacked.
    unpacked: Arc<AtomicUsize>,
}

/// A group of rows that is being read.
struct OpenGroup {
    /// Number of rows that are left, and of those that a part has.
    left: usize,
    part: usize,
    /// Bytes of its dictionaries.
    dictionaries: usize,
    room: Arc<PageRoom>,
    /// The leaves of each column that is wanted.
    columns: Vec<Option<Vec<LeafReader>>>,
}

struct LeafReader {
    reader: ColumnReader,
    /// Level of a value that is there.
    full: i16,
    meaning: LeafMeaning,
}

/// Bytes of the pages that the columns are at.
#[derive(Default)]
struct PageRoom {
    /// Bytes that all pages of the table may still take: work has an end too.
    all: Arc<AtomicUsize>,
    /// Bytes that the pages of this part may still take.
    left: AtomicUsize,
    /// Bytes of the pages that will be read on.
    current: AtomicUsize,
}

/// The pages of a column, for each of which there must be room.
struct CountedPages {
    pages: SerializedPageReader<Bytes>,
    /// Bytes that each value takes besides.
    value: usize,
    /// Bytes of the page that is being read.
    current: usize,
    room: Arc<PageRoom>,
    /// Compression that is unpacked here, and the sizes of the pages then.
    packed: Option<(PageCodec, ChunkSize)>,
    shape: PageShape,
}

impl CountedPages {
    /// Gets the next page ready for the library.
    fn next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let Some(mut page) = self.pages.get_next_page()? else { return Ok(None) };
        let own = |why: &str| ParquetError::General(why.to_owned());
        if let Some((codec, size)) = self.packed {
            let most = if page.is_data_page() { size.page } else { size.dictionary };
            codec.unpack(&mut page, most).map_err(own)?;
        }
        delta::make_plain(&mut page, self.shape, self.room.left.load(Ordering::Relaxed)).map_err(own)?;
        let left = self.room.all.load(Ordering::Relaxed).checked_sub(page.buffer().len());
        self.room.all.store(left.ok_or_else(|| own(TOO_LARGE))?, Ordering::Relaxed);
        Ok(Some(page))
    }

    fn count(&mut self, page: &Page) -> Result<(), ParquetError> {
        if !page.is_data_page() {
            return Ok(());
        }
        let size = page.buffer().len().saturating_add((page.num_values() as usize).saturating_mul(self.value));
        let left = self.room.left.load(Ordering::Relaxed).checked_sub(size);
        self.room.left.store(left.ok_or_else(|| ParquetError::General(TOO_LARGE.to_owned()))?, Ordering::Relaxed);
        self.room.current.fetch_add(size, Ordering::Relaxed);
        self.room.current.fetch_sub(std::mem::replace(&mut self.current, size), Ordering::Relaxed);
        Ok(())
    }
}

impl Iterator for CountedPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CountedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        // For the library an empty page is the end of the column.
        let is_empty = |page: &Page| page.is_data_page() && page.num_values() == 0;
        let mut page = self.next_page()?;
        while page.as_ref().is_some_and(is_empty) {
            page = self.next_page()?;
        }
        page.as_ref().map_or(Ok(()), |page| self.count(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.pages.at_record_boundary()
    }
}

enum Refused {
    Own(&'static str),
    Library(ParquetError),
}

impl From<ParquetError> for Refused {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::General(why) if why == TOO_LARGE => Self::Own(TOO_LARGE),
            error => Self::Library(error),
        }
    }
}

/// Reads columns of a table. Lists and other nested columns are none of those that are asked for.
pub(crate) fn read_blob(blob: &Blob, names: &[&str]) -> Result<Columns, Failure> {
    let mut table = ParquetTable::open(blob)?;
    table.keep(names);
    let name = table.name.clone();
    guarded_read(&name, || table.all())
}

fn guarded_read<T>(name: &Shown, read: impl FnOnce() -> Result<T, Refused>) -> Result<T, Failure> {
    let fail = |why: Shown| Failure { what: READ, path: name.clone(), source: why };
    match guarded(read) {
        Some(Ok(found)) => Ok(found),
        Some(Err(Refused::Own(why))) => Err(fail(shown!("this parquet table cannot be read: {why}"))),
        Some(Err(Refused::Library(error))) => {
            let why = Shown::error(&error).shortened(200);
            Err(fail(shown!("this parquet table is damaged ({why}); write it again")))
        }
        None => Err(fail(Shown::own("this parquet table is damaged; write it again"))),
    }
}

impl RowReader for ParquetTable {
    fn leaves(&self) -> Vec<Leaf> {
        self.columns.iter().map(TopColumn::leaf).collect()
    }

    fn next(&mut self, wanted: &[bool]) -> Result<Option<Columns>, Failure> {
        let name = self.name.clone();
        guarded_read(&name, || self.part(wanted))
    }
}

impl ParquetTable {
    /// Reads which columns a table has.
    pub(crate) fn open(blob: &Blob) -> Result<Self, Failure> {
        let bytes = bytes_of(blob)?;
        if bytes.starts_with(b"PARE") || bytes.ends_with(b"PARE") {
            return Err(Failure::own(READ, blob.name(), "this parquet table is encrypted"));
        }
        guarded_read(blob.name(), || {
            footer::check(&bytes).map_err(Refused::Own)?;
            let file = SerializedFileReader::new(bytes.clone())?;
            let about = file.metadata().file_metadata();
            let columns = nested::columns(about.schema_descr().root_schema());
            let rows = usize::try_from(about.num_rows()).map_err(|_| Refused::Own(TOO_LARGE))?;
            let name = blob.name().clone();
            let unpacked = Arc::new(AtomicUsize::new(room_for_all(bytes.len())));
            Ok(Self { name, bytes, file, columns, rows, read: 0, next: 0, group: None, decoded: 0, unpacked })
        })
    }

    /// Leaves only the columns of these names, in their order.
    fn keep(&mut self, names: &[&str]) {
        let mut columns = std::mem::take(&mut self.columns);
        columns.retain(|column| matches!(column.node, Ok(Node::Leaf { .. })));
        let mut column = |name: &&str| match columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)) {
            Some(place) => columns.remove(place),
            None => TopColumn { name: (*name).to_owned(), node: Err(Unread::new("no column")) },
        };
        self.columns = names.iter().map(&mut column).collect();
    }

    /// Reads all rows, for which there must be room at the same time.
    fn all(&mut self) -> Result<Columns, Refused> {
        let wanted: Vec<bool> = self.columns.iter().map(|column| column.node.is_ok()).collect();
        let (room, count) = (room_for(self.bytes.len()), wanted.iter().filter(|wanted| **wanted).count());
        let mut columns: Vec<_> = wanted.iter().map(|wanted| wanted.then(Vec::new)).collect();
        if self.rows > room / (count.max(1) * size_of::<Cell>()) {
            return Err(Refused::Own(TOO_LARGE));
        }
        let mut text = 0_usize;
        while let Some(part) = self.part(&wanted).transpose().filter(|_| count > 0) {
            let part = part?;
            text = part.columns.iter().flatten().flatten().fold(text, |text, cell| text.saturating_add(cell.len()));
            if self.decoded.max(text) > room {
                return Err(Refused::Own(TOO_LARGE));
            }
            for (column, part) in columns.iter_mut().zip(part.columns) {
                column.iter_mut().zip(part).for_each(|(column, part)| column.extend(part));
            }
        }
        Ok(Columns { rows: self.rows, columns })
    }

    fn part(&mut self, wanted: &[bool]) -> Result<Option<Columns>, Refused> {
        const OTHER_ROWS: Refused = Refused::Own("its number of rows is not the declared one");
        while self.group.as_ref().is_none_or(|group| group.left == 0) {
            if self.next == self.file.num_row_groups() {
                return if self.read == self.rows { Ok(None) } else { Err(OTHER_ROWS) };
            }
            self.group = Some(self.group(self.next, wanted)?);
            self.next += 1;
        }
        let Some(group) = &mut self.group else { return Ok(None) };
        let rows = group.part.min(group.left);
        group.left -= rows;
        self.read = self.read.checked_add(rows).filter(|read| *read <= self.rows).ok_or(OTHER_ROWS)?;
        let room = room_for(self.bytes.len());
        let held = group.dictionaries.saturating_add(group.room.current.load(Ordering::Relaxed));
        group.room.left.store(room.saturating_sub(held), Ordering::Relaxed);
        let mut json = room;
        let mut columns = Vec::new();
        for ((column, leaves), wanted) in self.columns.iter().zip(&mut group.columns).zip(wanted) {
            columns.push(match (&column.node, leaves) {
                (Ok(node), Some(leaves)) if *wanted => Some(read_column(node, leaves, rows, &mut json)?),
                _ => None,
            });
        }
        Ok(Some(Columns { rows, columns }))
    }

    /// Opens a group of rows.
    fn group(&mut self, n: usize, wanted: &[bool]) -> Result<OpenGroup, Refused> {
        let group = self.file.get_row_group(n)?;
        let about = group.metadata();
        let room = Arc::new(PageRoom { all: self.unpacked.clone(), ..PageRoom::default() });
        let (mut size, left) = (ChunkSize::default(), usize::try_from(about.num_rows()).unwrap_or(0));
        let mut columns = Vec::new();
        for (column, wanted) in self.columns.iter().zip(wanted) {
            let Some(node) = column.node.as_ref().ok().filter(|_| *wanted) else {
                columns.push(None);
                continue;
            };
            let value = if matches!(node, Node::Leaf { .. }) { 0 } else { ITEM };
            let (mut places, mut leaves) = (Vec::new(), Vec::new());
            node.leaves(&mut places);
            for (leaf, full) in places {
                let chunk = about.column(leaf);
                let own = self.size(chunk, value)?;
                size = size.and(own);
                let packed = PageCodec::of(chunk.compression()).map(|codec| (codec, own));
                // What is unpacked here is not packed for the library.
                let plain = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
                let bytes = Arc::new(self.bytes.clone());
                let pages =
                    SerializedPageReader::new(bytes, if packed.is_some() { &plain } else { chunk }, left, None)?;
                let column = about.schema_descr().column(leaf);
                let shape = PageShape::of(&column);
                let pages = CountedPages { pages, value, current: 0, room: room.clone(), packed, shape };
                let meaning = LeafMeaning::of(column.self_type()).unwrap_or(LeafMeaning::Plain);
                leaves.push(LeafReader { reader: get_column_reader(column, Box::new(pages)), full, meaning });
            }
            columns.push(Some(leaves));
        }
        self.decoded = self.decoded.saturating_add(size.all);
        let bytes = self.bytes.len();
        if size.dictionary.saturating_add(size.page) > room_for(bytes) || self.decoded > room_for_all(bytes) {
            return Err(Refused::Own(TOO_LARGE));
        }
        let part = left.saturating_mul(PART).checked_div(size.all).unwrap_or(ROWS).clamp(LOOKED_AT, ROWS);
        Ok(OpenGroup { left, part, dictionaries: size.dictionary, room, columns })
    }

    /// Reads the sizes of a column chunk from the headers of its pages.
    fn size(&self, chunk: &ColumnChunkMetaData, value: usize) -> Result<ChunkSize, Refused> {
        if chunk.compression() == Compression::LZO {
            return Err(Refused::Own("it is compressed with LZO; write it again with snappy, zstd or lz4"));
        }
        let (start, len) = chunk.byte_range();
        let end = start.checked_add(len).and_then(|end| usize::try_from(end).ok());
        let inside = usize::try_from(start).ok().zip(end).and_then(|(start, end)| self.bytes.get(start..end));
        pages::size(inside.ok_or(Refused::Own("a column is cut off"))?, value).map_err(Refused::Own)
    }
}

/// Reads a column of the next rows; `json`: the bytes that lists and objects may still take.
fn read_column(node: &Node, leaves: &mut [LeafReader], rows: usize, json: &mut usize) -> Result<Vec<Cell>, Refused> {
    let mut cells = Vec::with_capacity(rows);
    if let (Node::Leaf { .. }, [leaf]) = (node, &mut *leaves) {
        leaf.read(rows, &mut |_, _, cell| cells.push(cell))?;
        return Ok(cells);
    }
    let mut all = Vec::new();
    for leaf in leaves {
        let mut read = LeafRows::default();
        leaf.read(rows, &mut |level, begins, cell| read.push(level, begins, cell))?;
        all.push(read);
    }
    let mut leaves = GroupLeaves { first: node.first(), leaves: all };
    for _ in 0..rows {
        let cell = leaves.cell(node, *json).map_err(Refused::Own)?;
        *json = json.checked_sub(cell.len()).ok_or(Refused::Own(TOO_LARGE))?;
        cells.push(cell);
    }
    leaves.end().map_err(Refused::Own)?;
    Ok(cells)
}

/// Gets the values of a column chunk: the level of each, the level of the list of which an item begins with it, and itself.
type Push<'a> = &'a mut dyn FnMut(i16, i16, Cell);

impl LeafReader {
    /// Reads the values of the next rows, of which those are there that have the full level.
    fn read(&mut self, rows: usize, push: Push<'_>) -> Result<(), Refused> {
        let (full, meaning) = (self.full, self.meaning);
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => take(reader, rows, full, push, Cell::Bool),
            ColumnReader::Int32ColumnReader(reader) => take(reader, rows, full, push, |n| meaning.short(n)),
            ColumnReader::Int64ColumnReader(reader) => take(reader, rows, full, push, |n| meaning.long(n)),
            ColumnReader::FloatColumnReader(reader) => take(reader, rows, full, push, |x| Cell::Float(f64::from(x))),
            ColumnReader::DoubleColumnReader(reader) => take(reader, rows, full, push, Cell::Float),
            ColumnReader::ByteArrayColumnReader(reader) => take(reader, rows, full, push, |bytes| meaning.bytes(bytes)),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                take(reader, rows, full, push, |bytes| meaning.bytes((*bytes).clone()))
            }
            ColumnReader::Int96ColumnReader(reader) => {
                take(reader, rows, full, push, |time| Cell::old_time(time.data()))
            }
        }
    }
}

/// Reads the values of the next rows of a leaf; nulls stay nulls.
fn take<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    full: i16,
    push: Push<'_>,
    cell: impl Fn(T::T) -> Cell,
) -> Result<(), Refused> {
    let (mut values, mut levels, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let (records, _, _) = reader.read_records(rows, Some(&mut levels), Some(&mut repeated), &mut values)?;
    if records < rows {
        return Err(Refused::Own("a column is cut off"));
    }
    let mut given = values.into_iter();
    for n in 0..records.max(levels.len()).max(repeated.len()) {
        // Without levels the column is required: nothing is null.
        let level = levels.get(n).copied().unwrap_or(full);
        let value = (level >= full).then(|| given.next()).flatten();
        let value = value.map_or(Cell::Null, &cell);
        push(level, repeated.get(n).copied().unwrap_or(0), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::columns::Damage;
    use crate::source::open::{Opened, open};
    use ::parquet::data_type::ByteArray;

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
        for name in ["pandas2", "floats", "texts", "groups", "zstd", "lz4", "gzip", "brotli", "delta"] {
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
        // Nobody writes LZO any more: a footer that says so.
        let mut lzo = std::fs::read(table("gzip")).unwrap();
        let codecs: Vec<usize> = (2..lzo.len()).filter(|at| lzo[at - 2..=*at] == [0x15, 4, 0x16]).collect();
        for at in codecs {
            lzo[at - 1] = 6;
        }
        let why_not = read_blob(&Blob::of_bytes(Shown::own("t"), &lzo).unwrap(), &NAMES).unwrap_err().to_string();
        assert!(why_not.ends_with("LZO; write it again with snappy, zstd or lz4"), "{why_not}");
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
        let (mut damage, mut read_anyway, mut refused) = (Damage::default(), 0, 0);
        for name in ["pandas3", "groups", "zstd", "lz4", "gzip", "brotli", "delta"] {
            damage.each(&std::fs::read(table(name)).unwrap(), |bytes| {
                match read_blob(&Blob::of_bytes(Shown::own("t"), bytes).unwrap(), &NAMES) {
                    Ok(columns) => read_anyway += usize::from(rows(&columns).len() == columns.rows),
                    Err(failure) => refused += usize::from(failure.to_string().starts_with("cannot read t: ")),
                }
            });
        }
        assert_eq!(read_anyway + refused, 1_050);
        assert!(refused > 200, "{refused}");
    }
}
