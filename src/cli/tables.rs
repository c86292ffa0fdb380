//! The folder of `--format parquet`: results go into tables instead of to standard output.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use crate::cli::options::ShapeArgs;
use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::source::open::Stat;
use stepscope_io::tables::TableFiles;
use stepscope_record::finding::grouped;
use stepscope_report::tables::ResultTable;

/// Tables that are written, until they cannot be.
pub(super) struct Tables {
    files: TableFiles,
    failure: Option<Failure>,
}

impl Tables {
    /// Begins the tables of `--out`, if it is given, and nothing that does not go with it. Records are never written to.
    pub(super) fn begin(
        out: Option<&Path>,
        (is_parquet, shape): (bool, &ShapeArgs),
        tables: &'static [ResultTable],
        inputs: &[PathBuf],
    ) -> std::result::Result<Option<Self>, Shown> {
        let Some(folder) = out else { return Ok(None) };
        if !is_parquet {
            return Err(Shown::own("--out is the folder for tables; add --format parquet"));
        }
        if shape.fields.is_some() {
            return Err(Shown::own("--fields shapes JSON objects; tables have all columns"));
        }
        let id = |path: &Path| Stat::at(path).map(|stat| stat.id);
        let is_read = |path: &PathBuf| id(path).is_some_and(|own| inputs.iter().any(|input| id(input) == Some(own)));
        if let Some(path) = TableFiles::paths(folder, tables).find(is_read) {
            return Err(shown!("{} is an input file; choose another folder for --out", Shown::path(&path)));
        }
        let files = TableFiles::create(folder, tables)?;
        Ok(Some(Self { files, failure: None }))
    }

    /// Takes results as JSON lines; the error ends the reading.
    pub(super) fn take(&mut self, lines: &[u8]) -> Result<()> {
        self.failure = self.files.push(lines).err();
        if self.failure.is_some() { Err(Error::other("a table could not be written")) } else { Ok(()) }
    }

    /// Puts the tables in their places and says so.
    pub(super) fn end(self, out: &mut Out) -> std::result::Result<(), Shown> {
        for table in self.failure.map_or_else(|| self.files.finish(), Err)? {
            let rows = if table.rows == 1 { "row" } else { "rows" };
            out.line(&shown!("Saved {}: {} {rows}", Shown::path(&table.path), grouped(table.rows as usize)));
        }
        Ok(())
    }
}
