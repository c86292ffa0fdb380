//! One record out of many, by id or line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use stepscope_io::pipeline::side_data::SideData;

use crate::cli::options::threads;
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::check::read_through;
use stepscope_io::source::input::Expand;
use stepscope_io::source::open::Stat;
use stepscope_judge::case::{Case, CaseView};
use stepscope_record::Record;
use stepscope_record::finding::grouped;

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
    /// Number of records that are asked for, this one included.
    pub(super) fitting: u64,
    /// Place of the next of them, for people.
    pub(super) next: Option<Shown>,
}

/// Records that are asked for: the first, and the places of the first two.
#[derive(Default)]
struct PickedRecords {
    count: u64,
    places: BTreeMap<(usize, u64), Shown>,
    first: Option<Picked>,
}

impl PickedRecords {
    /// Counts a record; tells whether it is the first so far.
    fn is_first(&mut self, at: (usize, u64), case: &CaseView<'_>) -> bool {
        self.count += 1;
        let is_first = self.places.first_key_value().is_none_or(|(first, _)| at < *first);
        self.places.insert(at, case.place_name());
        if self.places.len() > 2 {
            self.places.pop_last();
        }
        is_first
    }
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
    /// Ends each input behind the line that is asked for.
    pub(super) fn part_of(&self, inputs: Expand) -> Expand {
        match self.line {
            Some(line) => inputs.up_to_line(line as u64),
            None => inputs,
        }
    }

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

    /// Makes the sentence for a record that was taken because it is the first of several; `None`: it is the only one.
    pub(super) fn took_first(&self, picked: &Picked) -> Option<Shown> {
        let next = picked.next.as_ref()?;
        let (records, place) = (grouped(usize::try_from(picked.fitting).unwrap_or(usize::MAX)), &picked.place);
        let first = shown!("took the first of {records} records");
        Some(match (&self.id, self.line) {
            (Some(_), _) => first.join(&shown!(" with this id, {place}; --line N chooses another, the next is {next}")),
            (_, Some(_)) => first.join(&shown!(" on this line, {place}; pass one file, the next is {next}")),
            _ => first.join(&shown!(", {place}; --id ID or --line N chooses another")),
        })
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
        let found = Mutex::new(PickedRecords::default());
        let outcome = read_through(self.part_of(inputs), threads(None), side, |case, input| {
            if !self.wants(case) || !takes(case) {
                return;
            }
            let at = (case.origin().source, case.origin().offset);
            let mut found = lock(&found);
            if found.is_first(at, case) {
                let (path, files) = (input.path().map(Path::to_owned), input.files_of(case.root()));
                let (case, place) = (case.to_owned(), case.place_name());
                found.first = Some(Picked { case, place, path, files, missing: Vec::new(), fitting: 0, next: None });
            }
        });
        if let Some(failure) = outcome.failures.first() {
            return Err(shown!("{failure}"));
        }
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut picked = found.first.take().ok_or_else(|| self.none(outcome.counts.records))?;
        (picked.fitting, picked.next) = (found.count, found.places.into_values().nth(1));
        if picked.case.view().document().is_none() {
            picked.missing = outcome.missing;
        }
        Ok(picked)
    }
}
