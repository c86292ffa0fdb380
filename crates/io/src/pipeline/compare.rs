//! Comparison of two runs for the screen: the open records, and a baseline that is read for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

use foldhash::{HashMap, HashSet};

use crate::failure::Failure;
use crate::log::journal::{beside, found_beside, read_all};
use crate::pipeline::load::load_unchecked;
use crate::pipeline::snapshot::{Address, Snapshot, address};
use crate::pipeline::store::{LoadEvent, Store};
use crate::source::beneath::Place;
use crate::source::column_map::ColumnMap;
use crate::source::input::{Expand, expand, sample};
use crate::source::page::reviews_of;
use stepscope_base::text::Shown;
use stepscope_compare::print::ComparedRuns;
use stepscope_compare::{Basis, BasisCounts, By, Cell, ComparedItem, Join, Side, judge};
use stepscope_review::fold::Reviews;
use stepscope_samples::SAMPLE_BASELINE;
use stepscope_table::filter::{ALONE, DUPLICATE, LEFT_OUT, REGRESSION, REPEATED, cell_set};

/// Number of items in the baseline alone that are named.
const MAX_NAMED: usize = 50;

/// Source of the records of a baseline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BaselineRuns {
    /// A file or folder.
    Path(PathBuf),
    /// Records that come with the sample runs.
    Samples,
}

impl BaselineRuns {
    /// Returns its name, for people.
    pub fn name(&self) -> Shown {
        match self {
            Self::Path(path) => Shown::path(path),
            Self::Samples => Shown::own(SAMPLE_BASELINE),
        }
    }

    fn inputs(&self) -> Expand {
        match self {
            Self::Path(path) => expand(std::slice::from_ref(path)),
            Self::Samples => sample(SAMPLE_BASELINE),
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Path(path) => vec![path.clone()],
            Self::Samples => Vec::new(),
        }
    }
}

/// Input of a comparison.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// The run, as it is open.
    pub run: Snapshot,
    /// Name of the run.
    pub name: Shown,
    /// The baseline.
    pub baseline: BaselineRuns,
    /// The document that its answers cite where they name none.
    pub document: Option<PathBuf>,
    /// Reading of the rows of its tables.
    pub columns: ColumnMap,
    /// Review logs with people's verdicts.
    pub journals: Journals,
}

/// Review logs of records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Journals {
    /// The record files; each may have a review log next to it.
    pub files: Vec<PathBuf>,
    /// The review logs that were named instead.
    pub named: Vec<Place>,
}

impl Journals {
    /// Lists the review logs that are there, or were named.
    pub fn places(&self) -> Vec<Place> {
        if !self.named.is_empty() {
            return self.named.clone();
        }
        let files = self.files.iter().filter(|file| file.as_os_str() != "-");
        files.filter_map(|file| found_beside(file)).collect()
    }

    /// Returns the review log that is written: of several that were named the first. `None`: there is none.
    pub fn own(&self) -> Option<Place> {
        match (self.named.as_slice(), self.files.as_slice()) {
            ([journal, ..], _) => Some(journal.clone()),
            ([], [file]) if file.as_os_str() != "-" => Some(beside(file)),
            _ => None,
        }
    }

    /// Reads the verdicts of people, with those that pages carry.
    pub fn read(&self) -> Result<Reviews, Failure> {
        let mut reviews = read_all(&self.places())?.reviews;
        for event in self.files.iter().flat_map(|file| reviews_of(file)) {
            reviews.push(event);
        }
        Ok(reviews)
    }
}

/// A record of the run with its partner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partner {
    /// Its place among the records of the baseline.
    pub record: usize,
    /// Key by which they were joined.
    pub by: By,
}

/// Two runs, compared.
#[derive(Debug)]
pub struct Compared {
    /// Names of the two runs.
    pub names: [Shown; 2],
    /// Number of records of each.
    pub records: [usize; 2],
    /// Description of how they were joined.
    pub joined: Shown,
    /// Counts, in the order of [`Basis::ALL`].
    pub columns: [BasisCounts; 3],
    /// Items that the baseline has right and the run has not.
    pub regressions: usize,
    /// Items in one of them alone.
    pub alone: [usize; 2],
    /// Number of records whose id occurs earlier in the same file: they are in no group.
    pub duplicates: [usize; 2],
    /// Records of each without a partner because their question repeats.
    pub repeated: [usize; 2],
    /// The items that are in the baseline alone, as many as are named.
    pub only_in_b: Vec<Shown>,
    /// Verdicts of people change what is counted.
    pub reviewed: bool,
    /// The records of the run in every group, by the name of its set.
    pub sets: HashMap<String, HashSet<Address>>,
    partners: HashMap<Address, Partner>,
    baseline: Store,
}

impl Compared {
    /// Looks up the partner of a record of the run.
    pub fn partner(&self, address: Address) -> Option<Partner> {
        self.partners.get(&address).copied()
    }

    /// Tells whether a record of the run was left out because its id occurs earlier.
    pub fn is_duplicate(&self, address: Address) -> bool {
        self.is_in(DUPLICATE, address)
    }

    /// Tells whether a record of the run has no partner because its question repeats.
    pub fn is_repeated(&self, address: Address) -> bool {
        self.is_in(REPEATED, address)
    }

    fn is_in(&self, word: &str, address: Address) -> bool {
        self.sets.get(&cell_set(Basis::GoldAdjusted, word)).is_some_and(|records| records.contains(&address))
    }

    /// Returns the records of the baseline.
    pub const fn baseline(&self) -> &Store {
        &self.baseline
    }
}

/// Compares; `percent` is told how much of both runs is read, once the baseline is open. An error says what could not be
/// read.
pub fn compare(
    wanted: &CompareRequest,
    threads: usize,
    percent: impl Fn(usize) + Sync,
) -> Result<Arc<Compared>, Failure> {
    let baseline = read(wanted, threads)?;
    let of_b = Journals { files: wanted.baseline.files(), named: wanted.journals.named.clone() };
    let (reviews_a, reviews_b) = (wanted.journals.read()?, of_b.read()?);
    let run = wanted.run.clone().without(&baseline);
    let a = run.summaries(threads, None, |item| reviews_a.names(item), |done| percent(done / 2));
    let b = Snapshot::of(&baseline);
    let b = b.summaries(threads, None, |item| reviews_b.names(item), |done| percent(50 + done / 2));
    let places: Vec<Address> = a.iter().map(address).collect();
    let join = Join::of(&a, &b);
    let side_a = Side { summaries: &a, reviews: &reviews_a, strict: false };
    let side_b = Side { summaries: &b, reviews: &reviews_b, strict: !of_b.named.is_empty() };
    let items = judge(&join, side_a, side_b);
    let joined = ComparedRuns { join: &join, items: &items, a: side_a, b: side_b }.joined();
    let partner = |item: &ComparedItem| {
        let (source, byte) = address(b.get(item.pair.b?)?);
        let partner = Partner { record: baseline.position(source, byte)?, by: item.pair.by };
        Some((*places.get(item.pair.a?)?, partner))
    };
    let is_only_in_b = |item: &&ComparedItem| item.pair.by == By::Alone && item.pair.a.is_none();
    let only_in_b = items.iter().filter(is_only_in_b).filter_map(|item| b.get(item.pair.b?));
    let count = |holds: fn(&ComparedItem) -> bool| items.iter().filter(|item| holds(item)).count();
    Ok(Arc::new(Compared {
        names: [wanted.name.clone(), wanted.baseline.name()],
        records: [a.len(), b.len()],
        joined,
        columns: Basis::ALL.map(|basis| BasisCounts::of(&items, basis)),
        regressions: count(ComparedItem::is_regression),
        alone: join.unpaired(By::Alone),
        repeated: join.unpaired(By::Repeated),
        duplicates: [join.twice_a.len(), join.twice_b.len()],
        only_in_b: only_in_b.take(MAX_NAMED).map(|summary| summary.item.name().line()).collect(),
        reviewed: !reviews_a.is_empty() || !reviews_b.is_empty(),
        sets: sets(&join, &items, &places),
        partners: items.iter().filter_map(partner).collect(),
        baseline,
    }))
}

/// Reads all records of the baseline. One that cannot be read is a failure: what follows from the others would be
/// wrong.
fn read(wanted: &CompareRequest, threads: usize) -> Result<Store, Failure> {
    let (sender, events) = channel();
    let inputs = wanted.baseline.inputs().with_columns(wanted.columns.clone());
    let inputs = match &wanted.document {
        Some(document) => inputs.with_document(document)?,
        None => inputs,
    };
    let (mut store, loading) = load_unchecked(inputs, threads, move |event| sender.send(event).is_ok());
    let loader = loading.go_on()?;
    // A missing document changes no record, nor what it is judged by.
    store.settle(events.iter().filter(|event| !matches!(event, LoadEvent::Missing(_))));
    drop(loader);
    match store.failures.first() {
        Some((_, failure)) => Err(failure.clone()),
        None => Ok(store),
    }
}

/// Collects the records of the run in every group, on every basis, and what else can be asked for.
fn sets(join: &Join, items: &[ComparedItem], places: &[Address]) -> HashMap<String, HashSet<Address>> {
    let mut sets: HashMap<String, HashSet<Address>> = HashMap::default();
    let mut add = |name: String, at: Option<usize>| {
        if let Some(address) = at.and_then(|at| places.get(at)) {
            sets.entry(name).or_default().insert(*address);
        }
    };
    for item in items {
        for basis in Basis::ALL {
            let cell = item.cell(basis).map_or(LEFT_OUT, Cell::word);
            add(cell_set(basis, cell), item.pair.a);
        }
        let by = item.pair.by;
        for (word, holds) in
            [(REGRESSION, item.is_regression()), (ALONE, by == By::Alone), (REPEATED, by == By::Repeated)]
        {
            if holds {
                for basis in Basis::ALL {
                    add(cell_set(basis, word), item.pair.a);
                }
            }
        }
    }
    for at in &join.twice_a {
        for basis in Basis::ALL {
            add(cell_set(basis, DUPLICATE), Some(*at));
        }
    }
    sets
}
