//! Results as Parquet tables, a file each: written as they come, a group of rows at a time, and in their places when all
//! are whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::Result as Written;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{Type, TypePtr};

use crate::failure::Failure;
use crate::files::{ExportFolder, NewFile, export_folder};
use crate::log::SAVE;
use stepscope_base::json::Tape;
use stepscope_base::text::Shown;
use stepscope_report::tables::{ColumnType, ResultTable, TableColumn, TableValue};

/// A group of rows is written when it takes this much, or has so many rows.
const GROUP: usize = 16 << 20;
const GROUP_ROWS: usize = 128 << 10;
/// Size of a number until it is written, with its level.
const NUMBER: usize = 10;
/// Mark at the end of a file of ours, by which it is known.
const CREATOR: &str = concat!("stepscope version ", env!("CARGO_PKG_VERSION"));
const CREATED: &[u8] = b"stepscope version ";

/// The tables that are being written.
#[derive(Debug)]
pub struct TableFiles {
    files: Vec<TableFile>,
    tape: Tape,
    /// Folders that were made for them; they go after the files.
    _made: ExportFolder,
}

#[derive(Debug)]
struct TableFile {
    table: &'static ResultTable,
    path: PathBuf,
    writer: SerializedFileWriter<NewFile>,
    columns: Vec<HeldColumn>,
    /// Size of the rows that are not written yet.
    held: usize,
    rows: u64,
}

/// The values of a column that are not written yet.
#[derive(Debug)]
struct HeldColumn {
    /// A value (1) or none (0), for each row.
    levels: Vec<i16>,
    held: HeldValues,
}

#[derive(Debug)]
enum HeldValues {
    /// All of them in one piece, and where each ends.
    Texts(Vec<u8>, Vec<usize>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
}

/// A table that is in its place.
#[derive(Debug)]
pub struct SavedTable {
    /// Its file.
    pub path: PathBuf,
    /// Number of rows.
    pub rows: u64,
}

impl TableFiles {
    /// Lists the paths where the tables will be.
    pub fn paths(folder: &Path, tables: &'static [ResultTable]) -> impl Iterator<Item = PathBuf> {
        tables.iter().map(|table| folder.join(table.name).with_extension("parquet"))
    }

    /// Begins the tables of a folder, which is made. Tables that an earlier call wrote there are replaced at the end.
    pub fn create(folder: &Path, tables: &'static [ResultTable]) -> Result<Self, Failure> {
        let made = export_folder(folder)?;
        let files = tables.iter().zip(Self::paths(folder, tables)).map(|(table, path)| TableFile::create(table, path));
        Ok(Self { files: files.collect::<Result<_, _>>()?, tape: Tape::default(), _made: made })
    }

    /// Adds the rows of results, which are JSON lines.
    pub fn push(&mut self, lines: &[u8]) -> Result<(), Failure> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Some(line) = self.tape.parse(line) else { continue };
            for file in &mut self.files {
                let TableFile { table, columns, held, .. } = file;
                table.each(line, |n, datum| {
                    *held += columns.get_mut(n).map_or(0, |column| column.push(datum));
                });
                if file.held >= GROUP || file.held_rows() >= GROUP_ROWS {
                    file.write_group().map_err(|error| file.failure(&error))?;
                }
            }
        }
        Ok(())
    }

    /// Puts the tables in their places, once all are whole and on the disk.
    pub fn finish(self) -> Result<Vec<SavedTable>, Failure> {
        let mut whole = Vec::new();
        for mut file in self.files {
            file.write_group().map_err(|error| file.failure(&error))?;
            let TableFile { path, rows, writer, .. } = file;
            let failed = |error| failure(&path, &error);
            let new = writer.into_inner().map_err(failed)?;
            new.sync()?;
            whole.push((new, SavedTable { path, rows }));
        }
        whole.into_iter().map(|(new, saved)| new.keep().map(|()| saved)).collect()
    }
}

impl TableFile {
    fn create(table: &'static ResultTable, path: PathBuf) -> Result<Self, Failure> {
        let is_ours = |end: &[u8]| end.windows(CREATED.len()).any(|part| part == CREATED);
        let new = NewFile::create(&path, is_ours)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(CREATOR.to_owned())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let writer = schema(table).and_then(|schema| SerializedFileWriter::new(new, schema, Arc::new(properties)));
        let writer = writer.map_err(|error| failure(&path, &error))?;
        let columns = table.columns.iter().map(|column| HeldColumn::new(column.kind)).collect();
        Ok(Self { table, path, writer, columns, held: 0, rows: 0 })
    }

    fn held_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.levels.len())
    }

    fn write_group(&mut self) -> Written<()> {
        if self.held_rows() == 0 {
            return Ok(());
        }
        self.rows += self.held_rows() as u64;
        self.held = 0;
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            if let Some(writer) = group.next_column()? {
                column.write(writer)?;
            }
        }
        group.close().map(drop)
    }

    fn failure(&self, error: &::parquet::errors::ParquetError) -> Failure {
        failure(&self.path, error)
    }
}

fn failure(path: &Path, error: &::parquet::errors::ParquetError) -> Failure {
    Failure { what: SAVE, path: Shown::path(path), source: Shown::error(error) }
}

fn schema(table: &ResultTable) -> Written<TypePtr> {
    let column = |column: &TableColumn| {
        let (physical, logical) = match column.kind {
            ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Int => (Physical::INT64, None),
            ColumnType::Float => (Physical::DOUBLE, None),
            ColumnType::Bool => (Physical::BOOLEAN, None),
        };
        let column = Type::primitive_type_builder(column.name, physical).with_logical_type(logical);
        column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let columns = table.columns.iter().map(column).collect::<Written<_>>()?;
    Type::group_type_builder("stepscope").with_fields(columns).build().map(Arc::new)
}

impl HeldColumn {
    fn new(kind: ColumnType) -> Self {
        let held = match kind {
            ColumnType::Text => HeldValues::Texts(Vec::new(), Vec::new()),
            ColumnType::Int => HeldValues::Ints(Vec::new()),
            ColumnType::Float => HeldValues::Floats(Vec::new()),
            ColumnType::Bool => HeldValues::Bools(Vec::new()),
        };
        Self { levels: Vec::new(), held }
    }

    /// Adds the value of a row; how much it takes.
    fn push(&mut self, datum: TableValue<'_>) -> usize {
        let mut takes = NUMBER;
        let is_there = match (&mut self.held, datum) {
            (HeldValues::Texts(bytes, ends), TableValue::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                takes += text.len();
                true
            }
            (HeldValues::Ints(values), TableValue::Int(value)) => {
                values.push(value);
                true
            }
            (HeldValues::Floats(values), TableValue::Float(value)) => {
                values.push(value);
                true
            }
            (HeldValues::Bools(values), TableValue::Bool(value)) => {
                values.push(value);
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(is_there));
        takes
    }

    fn write(&mut self, writer: SerializedColumnWriter<'_>) -> Written<()> {
        let levels = std::mem::take(&mut self.levels);
        match &mut self.held {
            HeldValues::Texts(bytes, ends) => {
                let bytes = bytes::Bytes::from(std::mem::take(bytes));
                let mut start = 0;
                let texts = std::mem::take(ends).into_iter().map(|end| {
                    let text = bytes.slice(start..end);
                    start = end;
                    ByteArray::from(text)
                });
                write_all::<ByteArrayType>(writer, &texts.collect::<Vec<_>>(), &levels)
            }
            HeldValues::Ints(values) => write_all::<Int64Type>(writer, &std::mem::take(values), &levels),
            HeldValues::Floats(values) => write_all::<DoubleType>(writer, &std::mem::take(values), &levels),
            HeldValues::Bools(values) => write_all::<BoolType>(writer, &std::mem::take(values), &levels),
        }
    }
}

fn write_all<T: DataType>(mut writer: SerializedColumnWriter<'_>, values: &[T::T], levels: &[i16]) -> Written<()> {
    writer.typed::<T>().write_batch(values, Some(levels), None)?;
    writer.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::columns::{Cell, Columns};
    use crate::source::open::{Opened, open};
    use crate::source::parquet::read_blob;
    use stepscope_report::tables::CHECKED;

    const LINE: &str = r#"{"source":"a.jsonl","line":7,"index":6,"id":12345678901234567890,"kind":"procedural","findings":[{"rule":"run/recompute","severity":"warning","action":null,"message":"\ud800 \u00e9","details":{"n":1},"pointer":"/procedure/steps/2/output","labels":[{"pointer":"","range":[5,9]}]},{"rule":"run/unread","severity":"note","action":null,"message":"m","details":{},"pointer":"/state","labels":[{"pointer":"/state","range":[1,2]}],"more":3}],"fitness":1.25,"triage":{"fix":"step_run","step":4,"recovered":19,"recovers_gold":true,"confidence":"sure","why":[]},"sha256":"ab","rules":"0.1.0+c"}"#;

    fn columns(path: &Path, names: &[&str]) -> Columns {
        let Opened::File(blob) = open(path).unwrap() else { panic!("no file") };
        read_blob(&blob, names).unwrap()
    }

    /// Writes a row as words.
    fn row(columns: &Columns, row: usize) -> Vec<String> {
        let cell = |column| match columns.cell(column, row) {
            Cell::Null => "-".to_owned(),
            Cell::Bool(on) => on.to_string(),
            Cell::Int(n) => n.to_string(),
            Cell::Float(x) => format!("{x:?}"),
            Cell::Text(bytes) | Cell::JsonText(bytes) | Cell::Untyped(bytes) | Cell::Json(bytes) => {
                String::from_utf8(bytes.data().to_vec()).unwrap()
            }
        };
        (0..columns.columns.len()).map(cell).collect()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_result_is_a_row_and_each_of_its_findings_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = TableFiles::create(folder.path(), CHECKED).unwrap();
        files.push(format!("{LINE}\n{{\"left_out\":true}}\n").as_bytes()).unwrap();
        assert!(names(folder.path()).iter().all(|name| name.starts_with('.')), "nothing is in its place before");
        let saved = files.finish().unwrap();
        assert_eq!(saved.iter().map(|table| table.rows).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(names(folder.path()), ["findings.parquet", "records.parquet"]);
        let asked = [
            "id",
            "line",
            "fix",
            "step",
            "recovered",
            "recovers_gold",
            "findings",
            "warning",
            "fatal",
            "question",
            "left_out",
        ];
        let records = columns(&saved[1].path, &asked);
        assert_eq!(
            row(&records, 0),
            ["12345678901234567890", "7", "step_run", "4", "19.0", "true", "5", "1", "0", "-", "-"]
        );
        assert_eq!(row(&records, 1), ["-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "true"]);
        let asked = ["sha256", "line", "rule", "message", "step", "start", "end", "more", "details"];
        let findings = columns(&saved[0].path, &asked);
        let message = "\u{fffd}\u{fffd}\u{fffd} é";
        assert_eq!(row(&findings, 0), ["ab", "7", "run/recompute", message, "3", "5", "9", "-", r#"{"n":1}"#]);
        assert_eq!(row(&findings, 1), ["ab", "7", "run/unread", "m", "-", "1", "2", "3", "-"]);
    }

    #[test]
    fn many_rows_are_several_groups_and_none_are_an_empty_table() {
        use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
        let folder = tempfile::tempdir().unwrap();
        let saved = TableFiles::create(folder.path(), CHECKED).unwrap().finish().unwrap();
        assert_eq!(columns(&saved[1].path, &["id"]).rows, 0);
        let mut files = TableFiles::create(folder.path(), CHECKED).unwrap();
        let long = LINE.replace("\"m\"", &format!("\"{}\"", "m".repeat(1 << 20)));
        (0..40).for_each(|_| files.push(long.as_bytes()).unwrap());
        // Ours are replaced.
        let saved = files.finish().unwrap();
        let file = SerializedFileReader::new(std::fs::File::open(&saved[0].path).unwrap()).unwrap();
        assert_eq!(file.num_row_groups(), 3);
        assert_eq!(file.metadata().file_metadata().num_rows(), 80);
    }

    #[test]
    fn what_is_not_finished_leaves_nothing_and_what_is_not_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = TableFiles::create(folder.path(), CHECKED).unwrap();
        files.push(LINE.as_bytes()).unwrap();
        drop(files);
        assert_eq!(names(folder.path()), Vec::<String>::new());
        std::fs::write(folder.path().join("records.parquet"), "PAR1 mine").unwrap();
        let why = TableFiles::create(folder.path(), CHECKED).unwrap_err().to_string();
        assert!(why.contains("nothing is overwritten"), "{why}");
        assert_eq!(names(folder.path()), ["records.parquet"]);
        std::os::unix::fs::symlink("elsewhere", folder.path().join("findings.parquet")).unwrap();
        assert!(TableFiles::create(folder.path(), CHECKED).is_err(), "a link is not written through");
    }
}
