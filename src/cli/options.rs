//! Options that several commands have.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::{closest, shell_word};
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::source::answers::AnswerStore;
use stepscope_io::source::column_map::ColumnMap;
use stepscope_io::source::input::{Expand, expand};
use stepscope_io::source::maps::RowMap;
use stepscope_judge::hide::Hidden;
use stepscope_record::formats::KEYS;
use stepscope_report::fields::Fields;
use stepscope_report::jsonl::LineShape;
use stepscope_review::queue::Assignment;

/// Where typed answers and what they cite are to be found.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct AnswerArgs {
    /// Source document for answers that name none (.parquet, .jsonl, .txt, .md, or a folder of tables)
    #[arg(long, value_name = "FILE")]
    pub document: Option<PathBuf>,
    /// Also open the docintel output folder [default: `$DOCINTEL_OUTPUT_DIR`, ~/.docintel/output]
    #[arg(long)]
    pub docintel: bool,
    /// What belongs to tables
    #[command(flatten)]
    pub tables: TableArgs,
}

/// How the rows of tables are records.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct TableArgs {
    /// Read columns of a table (Parquet, Arrow, CSV) as these keys, for example question=prompt,answer=target
    #[arg(long, value_name = "KEY=COLUMN", value_delimiter = ',', value_parser = mapped)]
    columns: Vec<(String, String)>,
    /// Read rows of another program by a map (TOML), which says where each key of a record is
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
}

impl TableArgs {
    /// Returns the keys with their columns.
    pub fn map(&self) -> Result<ColumnMap, Failure> {
        let named_before = |n: usize, key: &str| self.columns.iter().take(n).any(|(other, _)| other == key);
        match self.columns.iter().enumerate().find(|(n, (key, _))| named_before(*n, key)) {
            Some((_, (key, _))) => {
                let source = shown!("it gives the key {} two columns; name one", Shown::line(key.as_bytes()));
                Err(Failure { what: "cannot use", path: Shown::own("--columns"), source })
            }
            None => {
                let columns = ColumnMap::new(&self.columns);
                Ok(match &self.map {
                    Some(map) => columns.with_map(RowMap::read(map)?),
                    None => columns,
                })
            }
        }
    }
}

impl TableArgs {
    /// Returns the words of a command that reads tables so.
    pub(super) fn words(&self) -> Vec<String> {
        let word = |text: &str| shell_word(Shown::line(text.as_bytes()).as_str());
        let columns: Vec<String> = self.columns.iter().map(|(key, column)| format!("{key}={column}")).collect();
        let columns = (!columns.is_empty()).then(|| format!("--columns {}", word(&columns.join(","))));
        let map = self.map.as_ref().map(|map| format!("--map {}", shell_word(Shown::path(map).as_str())));
        columns.into_iter().chain(map).collect()
    }

    /// Returns what is known, with how the rows of tables are records.
    pub(super) fn known(&self, side: &Arc<SideData>) -> Result<Arc<SideData>, Failure> {
        match self.columns.is_empty() && self.map.is_none() {
            true => Ok(side.clone()),
            false => Ok(Arc::new(side.settings_alone().with_columns(self.map()?))),
        }
    }
}

fn mapped(word: &str) -> Result<(String, String), String> {
    let (key, column) = word.split_once('=').filter(|(_, column)| !column.is_empty()).ok_or("write KEY=COLUMN")?;
    if KEYS.contains(&key) {
        return Ok((key.to_owned(), column.to_owned()));
    }
    Err(match closest(key, KEYS.iter().copied()) {
        Some(known) => format!("unknown key \"{key}\". Did you mean \"{known}\"?"),
        None => format!("unknown key \"{key}\"; the keys are {}", KEYS.join(", ")),
    })
}

impl AnswerArgs {
    /// Returns these paths, followed by the default docintel folder if it was asked for.
    pub fn with(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let usual = AnswerStore::usual_root().filter(|_| self.docintel);
        paths.iter().cloned().chain(usual).collect()
    }

    pub(super) fn expand(&self, paths: &[PathBuf]) -> Result<Expand, Failure> {
        let inputs = expand(&self.with(paths)).with_columns(self.tables.map()?);
        match &self.document {
            Some(document) => inputs.with_document(document),
            None => Ok(inputs),
        }
    }
}

/// What of each JSON object is printed.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ShapeArgs {
    /// Fields of each JSON object to print: id,triage.fix,findings.rule
    #[arg(long, value_name = "FIELDS")]
    pub(super) fields: Option<Fields>,
    /// Add the record to its JSON object
    #[arg(long)]
    with_record: bool,
}

impl ShapeArgs {
    /// Returns the requested shape of an object that has these fields; an error names a field that it lacks.
    pub(crate) fn shape(&self, known: &[&str]) -> Result<LineShape, Shown> {
        if let Some((path, here)) = self.fields.as_ref().and_then(|fields| fields.unknown(known)) {
            let (above, name) = path.rsplit_once('.').map_or(("", path.as_str()), |(above, name)| (above, name));
            let path = Shown::line(path.as_bytes());
            return Err(match closest(name, here.iter().copied()) {
                Some(near) if above.is_empty() => shown!("unknown field \"{path}\". Did you mean \"{near}\"?"),
                Some(near) => shown!("unknown field \"{path}\". Did you mean \"{above}.{near}\"?"),
                None if above.is_empty() => shown!("unknown field \"{path}\"; the fields are {}", here.join(", ")),
                None => shown!("unknown field \"{path}\"; the fields of {above} are {}", here.join(", ")),
            });
        }
        let asks = |name| self.fields.iter().flat_map(Fields::names).any(|field| field == name);
        let mut fields = self.fields.clone();
        if let Some(fields) = fields.as_mut().filter(|_| self.with_record && !asks("record")) {
            fields.also("record");
        }
        Ok(LineShape { record: self.with_record || asks("record"), fields })
    }

    /// Tells whether any option of the shape was given.
    pub(crate) const fn is_given(&self) -> bool {
        self.with_record || self.fields.is_some()
    }
}

/// Ways to print what a command lists or counts.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListFormat {
    /// For people
    Text,
    /// JSON lines, one object each
    Jsonl,
}

pub(super) fn assignment(word: &str) -> Result<Assignment, &'static str> {
    Assignment::parse(word).ok_or("use a part of all, for example 1/3")
}

pub(super) fn hidden(word: &str) -> Result<Hidden, &'static str> {
    Hidden::from_word(word).ok_or("use gold, baseline, triage, confidence or model")
}

/// Returns the number of threads: what was asked for, else one per core.
pub(super) fn threads(asked: Option<NonZeroUsize>) -> usize {
    asked.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}
