//! One record out of many, by id or line.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use stepscope_io::pipeline::side_data::SideData;

use crate::cli::check::threads;
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::case::{Case, CaseView};
use stepscope_core::finding::grouped;
use stepscope_core::record::Record;
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::check::read_through;
use stepscope_io::source::input::Expand;
use stepscope_io::source::open::Stat;

/// Which record.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Pick {
    /// The record's id
    #[arg(long, allow_hyphen_values = true)]
    pub(super) id: Option<String>,
    /// The line on which the record begins, instead of its id
    #[arg(long, value_name = "N", conflicts_with = "id")]
    pub(super) line: Option<usize>,
}

/// Record that was found.
pub(super) struct Picked {
    /// Record, together with the document that it cites.
    pub(super) case: Case<'static>,
    /// Place of the record, for people.
    pub(super) place: Shown,
    /// File of the record.
    pub(super) path: Option<PathBuf>,
    /// Files that the record is in, for people.
    pub(super) files: Vec<Shown>,
    /// Documents that could not be read, if the record has none.
    pub(super) missing: Vec<Failure>,
    /// Number of records that were read.
    pub(super) records: u64,
}

impl Picked {
    /// Refuses the input file as the output of an option: records are never written to.
    pub(super) fn check_out(&self, to: Option<&Path>, option: &'static str) -> Result<(), Shown> {
        let (Some(to), Some(from)) = (to, &self.path) else { return Ok(()) };
        let id = |path| Stat::at(path).map(|stat| stat.id);
        if id(to).is_some() && id(to) == id(from) {
            return Err(shown!("{} is the input file; choose another for {option}", Shown::path(to)));
        }
        Ok(())
    }
}

impl Pick {
    /// Tells whether a record is one of those that are asked for.
    pub(super) fn wants(&self, case: &CaseView<'_>) -> bool {
        match (&self.id, self.line) {
            (Some(id), _) => {
                let text = case.record.as_ref().and_then(Record::id_text);
                text.is_some_and(|text| text == id.as_str()) || case.id().is_some_and(|own| own.raw() == id.as_bytes())
            }
            (_, Some(line)) => case.origin().line as usize == line,
            _ => true,
        }
    }

    /// Explains why no record was found.
    pub(super) fn none(&self, records: u64) -> Shown {
        let what = match (&self.id, self.line) {
            (Some(id), _) => shown!("no record has the id \"{}\"", Shown::line(id.as_bytes())),
            (_, Some(line)) => shown!("no record begins on line {line}"),
            _ => Shown::own("there is no record"),
        };
        let were = if records == 1 { "was" } else { "were" };
        shown!("{what}; {records} {were} read. `stepscope check --format jsonl` lists their ids.")
    }

    /// Makes the sentence for a record that was taken because it is the first; `None`: it was asked for, or is the only one.
    pub(super) fn took_first(&self, picked: &Picked) -> Option<Shown> {
        let is_chosen = self.id.is_some() || self.line.is_some() || picked.records < 2;
        let (records, place) = (grouped(usize::try_from(picked.records).unwrap_or(usize::MAX)), &picked.place);
        (!is_chosen)
            .then(|| shown!("wrote the first of {records} records, {place}; --id ID or --line N chooses another"))
    }

    /// Finds the first record that is asked for.
    pub(super) fn find(&self, inputs: Expand, side: &Arc<SideData>) -> Result<Picked, Shown> {
        let picked = self.find_where(inputs, side, |case| self.line.is_some() || case.record.is_some())?;
        let case = picked.case.view();
        let Some(problem) = case.problems().last().filter(|_| case.record.is_none()) else { return Ok(picked) };
        Err(shown!("the record at {} cannot be read: {}", picked.place, problem.kind.summary()))
    }

    /// Finds the same, even if it could not be read.
    pub(super) fn find_any(&self, inputs: Expand, side: &Arc<SideData>) -> Result<Picked, Shown> {
        self.find_where(inputs, side, |_| true)
    }

    fn find_where(
        &self,
        inputs: Expand,
        side: &Arc<SideData>,
        takes: impl Fn(&CaseView<'_>) -> bool + Sync,
    ) -> Result<Picked, Shown> {
        let first: Mutex<Option<((usize, u64), Picked)>> = Mutex::new(None);
        let outcome = read_through(inputs, threads(None), side, |case, input| {
            if !self.wants(case) || !takes(case) {
                return;
            }
            let at = (case.origin().source, case.origin().offset);
            let mut first = lock(&first);
            if first.as_ref().is_none_or(|(other, _)| at < *other) {
                let (path, files) = (input.path().map(Path::to_owned), input.files_of(case.root()));
                let (case, place) = (case.to_owned(), case.place_name());
                *first = Some((at, Picked { case, place, path, files, missing: Vec::new(), records: 0 }));
            }
        });
        if let Some(failure) = outcome.failures.first() {
            return Err(shown!("{failure}"));
        }
        let found = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (_, mut picked) = found.ok_or_else(|| self.none(outcome.counts.records))?;
        picked.records = outcome.counts.records;
        if picked.case.view().document().is_none() {
            picked.missing = outcome.missing;
        }
        Ok(picked)
    }
}
