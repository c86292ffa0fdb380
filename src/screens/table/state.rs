//! The table of records: order, filter, cursor, and the texts of the rows that were on screen.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crate::app::msg::{Effect, SearchId};
use crate::app::open_record::OpenRecord;
use crate::app::review::Review;
use crate::screens::table::column::ChosenColumns;
use crate::screens::table::matches::Matches;
use crate::screens::table::order::Order;
use crate::widgets::list::List;
use stepscope_base::text::Shown;
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::hide::Hide;
use stepscope_judge::row::RowFacts;
use stepscope_judge::texts::RowTexts;
use stepscope_judge::triage::Fix;
use stepscope_record::RecordKind;
use stepscope_record::finding::Severity;
use stepscope_table::filter::{Column, Filter, RowAnswer};

/// Maximum number of texts that are kept.
const MAX_ROW_TEXTS: usize = 4_096;

/// Key by which the table is sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SortBy {
    /// The place in the file.
    #[default]
    Position,
    /// The kind of record.
    Kind,
    /// Wrong before right.
    Correct,
    /// Severity and number of the findings.
    Findings,
    /// Place to fix the run.
    Fix,
    /// A numeric column.
    Number(SortColumn),
    /// Order in which a person should look at them.
    Review,
}

/// The numeric columns that can be sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortColumn {
    /// Number of steps.
    Steps,
    /// The genetic search's score.
    Fitness,
    /// The reward that a verifier gave.
    Reward,
    /// The model's own confidence.
    Confidence,
    /// Share of its peers that give its answer.
    Agreement,
    /// Share of its values on the way that its peers have.
    SharedValues,
    /// The final number.
    Pred,
}

impl SortBy {
    /// Orders, as the columns are.
    pub const ALL: [Self; 13] = [
        Self::Position,
        Self::Kind,
        Self::Correct,
        Self::Findings,
        Self::Fix,
        Self::Number(SortColumn::Steps),
        Self::Number(SortColumn::Fitness),
        Self::Number(SortColumn::Reward),
        Self::Number(SortColumn::Confidence),
        Self::Number(SortColumn::Agreement),
        Self::Number(SortColumn::SharedValues),
        Self::Number(SortColumn::Pred),
        Self::Review,
    ];

    /// Returns the word at the head of the column, which is its id.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Position => "#",
            Self::Kind => "kind",
            Self::Correct => "ok",
            Self::Fix => "fix",
            Self::Findings => "findings",
            Self::Number(SortColumn::Steps) => "steps",
            Self::Number(SortColumn::Fitness) => "fitness",
            Self::Number(SortColumn::Reward) => "reward",
            Self::Number(SortColumn::Confidence) => "conf",
            Self::Number(SortColumn::Agreement) => "agree",
            Self::Number(SortColumn::SharedValues) => "values",
            Self::Number(SortColumn::Pred) => "answer",
            Self::Review => "review",
        }
    }

    /// Returns the column of an id.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.word() == word)
    }

    /// Returns the value to compare by; `None` sorts last in either direction.
    fn key(self, row: &RowFacts) -> Option<f64> {
        match self {
            Self::Position | Self::Review => None,
            Self::Kind => Some(f64::from(row.kind() as u8)),
            Self::Correct => row.correct().map(|right| f64::from(u8::from(right))),
            // What has nothing to fix comes last, as what was not judged does.
            Self::Fix => row.fix().filter(|fix| *fix != Fix::None).map(|fix| f64::from(fix as u8)),
            Self::Findings => Some(gravity(row)),
            Self::Number(column) => match column {
                SortColumn::Steps => Column::Steps.of(row),
                SortColumn::Fitness => Column::Fitness.of(row),
                SortColumn::Reward => Column::Reward.of(row),
                SortColumn::Confidence => Column::Confidence.of(row),
                SortColumn::Pred => Column::Pred.of(row),
                SortColumn::Agreement => Column::Agreement.of(row),
                SortColumn::SharedValues => Column::SharedValues.of(row),
            },
        }
    }
}

/// Weighs the findings, grave before many: one fatal outweighs every error.
fn gravity(row: &RowFacts) -> f64 {
    Severity::ALL.iter().fold(0.0, |weight, severity| weight * 256.0 + f64::from(row.count(*severity)))
}

/// Counts of what the listed records have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Listed {
    /// Number of records.
    pub(crate) records: usize,
    /// Structured answers.
    pub(crate) typed: usize,
    /// Structured answers that are known to end, or to go on, behind what the model saw.
    pub(crate) ends: usize,
    /// Kinds of which there are some, a bit each.
    kinds: u32,
    /// Records with steps.
    pub(crate) steps: usize,
    /// Records with a fitness.
    pub(crate) fitness: usize,
    /// Records with a reward.
    pub(crate) rewards: usize,
    /// Records with a confidence.
    pub(crate) confidences: usize,
    /// Records with a place to fix.
    pub(crate) fixes: usize,
}

impl Listed {
    /// Counts what all records have.
    fn all(store: &Store) -> Self {
        let totals = store.totals();
        let counts = totals.insights();
        let kinds = counts.kinds.iter().enumerate().filter(|(_, count)| **count > 0);
        Self {
            records: store.len(),
            typed: totals.typed(),
            ends: totals.typed(),
            kinds: kinds.fold(0, |kinds, (kind, _)| kinds | 1 << kind),
            steps: counts.procedures,
            fitness: counts.fitness,
            rewards: counts.rewards,
            confidences: counts.confidences,
            fixes: counts.fixes.iter().flatten().sum(),
        }
    }

    /// Adds a record.
    fn with(self, row: &RowFacts) -> Self {
        let typed = row.typed();
        let ends = typed.as_ref().is_some_and(|typed| typed.truncation != TruncationVerdict::Unknown);
        Self {
            records: self.records + 1,
            typed: self.typed + usize::from(typed.is_some()),
            ends: self.ends + usize::from(ends),
            kinds: self.kinds | 1 << row.kind() as u32,
            steps: self.steps + usize::from(row.step_count().is_some_and(|count| count > 0)),
            fitness: self.fitness + usize::from(typed.is_none() && !row.fitness().is_nan()),
            rewards: self.rewards + usize::from(!row.reward().is_nan()),
            confidences: self.confidences + usize::from(!row.confidence.is_nan()),
            fixes: self.fixes + usize::from(row.fix().is_some_and(|fix| fix != Fix::None)),
        }
    }

    /// Tells whether all of them are calls.
    pub(crate) const fn are_calls(&self) -> bool {
        self.kinds == 1 << RecordKind::Call as u32
    }

    /// Tells whether all records are of one kind but for those that failed.
    pub(crate) const fn fails_alone(&self) -> bool {
        self.kinds.count_ones() == 2 && self.kinds & (1 << RecordKind::Error as u32) != 0
    }

    /// Tells whether there are records of several kinds.
    pub(crate) const fn has_kinds(&self) -> bool {
        self.kinds.count_ones() > 1
    }
}

/// A search over the records' text that is under way or done.
#[derive(Debug, Clone)]
pub struct Search {
    /// Number of the search.
    pub id: SearchId,
    /// Text of the search, as typed.
    pub typed: String,
    /// Records found so far, ascending.
    pub found: Vec<u32>,
    /// True once all were looked at that were there when it began.
    pub done: bool,
    /// True while it is under way.
    pub running: bool,
    /// Number of records, from the first on, that are or were looked at.
    pub planned: usize,
    /// Filter that records are searched with.
    pub filter: Arc<Filter>,
}

impl Search {
    /// Makes a search that has not begun.
    pub fn new(id: SearchId, typed: &str, filter: Arc<Filter>) -> Self {
        Self { id, typed: typed.to_owned(), found: Vec::new(), done: false, running: false, planned: 0, filter }
    }

    /// Takes in what was found; `done`: that was all.
    pub fn take(&mut self, found: &[u32], done: bool) {
        let sorted = self.found.last().is_none_or(|last| found.first().is_none_or(|first| last < first));
        self.found.extend_from_slice(found);
        if !sorted {
            self.found.sort_unstable();
            self.found.dedup();
        }
        self.done |= done;
        self.running &= !done;
    }
}

/// Filter and cursor from before a filter was typed.
#[derive(Debug)]
pub struct BeforeTyping {
    /// The filter, as typed.
    pub filter_text: String,
    /// Record under the cursor.
    pub record: Option<usize>,
}

/// The table.
#[derive(Debug, Default)]
pub struct Table {
    /// The cursor.
    pub list: List,
    /// Columns that were chosen in place of the usual ones.
    columns: ChosenColumns,
    /// Key by which it is sorted.
    pub sort: SortBy,
    /// True if sorted from the greatest down.
    pub descending: bool,
    /// The filter as typed.
    pub filter_text: String,
    /// Filters that were typed, also before this session, the last one last.
    pub typed_filters: Vec<String>,
    /// The filter.
    pub filter: Arc<Filter>,
    /// The filter asks for what others may have said, and it was not said yet that this is left out.
    pub unexplained: bool,
    /// The search that the filter's text terms wait for.
    pub filtering: Option<Search>,
    /// Filter that Esc returns to while the rows follow one that is being typed.
    pub before_typing: Option<BeforeTyping>,
    /// The search that `n` and `N` walk.
    pub finding: Option<Matches>,
    last_search: SearchId,
    /// Time at which it is to be sorted again.
    pub arrange_at: Option<Instant>,
    order: Option<Order>,
    /// Counts of what the listed records have, where not all are listed.
    listed: Option<Listed>,
    row_texts: HashMap<usize, RowTexts>,
    /// Records whose texts were asked for last, until texts come.
    asked: HashSet<usize>,
    /// The record under the cursor, read; and the row that was asked for last.
    preview: Option<Box<OpenRecord>>,
    wanted: Option<(usize, u64, bool)>,
    moves: u64,
    /// True until a row is chosen: the cursor stays at the front of the queue while the order is still being made.
    pub from_front: bool,
}

impl Table {
    /// Returns a number for a search.
    pub(crate) const fn new_search_id(&mut self) -> SearchId {
        self.last_search += 1;
        self.last_search
    }

    /// Ends what find looks for.
    pub(crate) fn end_find(&mut self) -> Option<Effect> {
        self.finding.take().map(|finding| Effect::EndSearch(finding.id))
    }

    /// Counts the rows, of `records`.
    pub fn len(&self, records: usize) -> usize {
        self.order.as_ref().map_or(records, Order::len)
    }

    /// Returns the filter that was taken last: one that is still being typed may be given up.
    pub fn taken_filter(&self) -> &str {
        self.before_typing.as_ref().map_or(&self.filter_text, |before| &before.filter_text)
    }

    /// Returns the record under the cursor, if it is one of so many.
    pub(crate) fn chosen(&self, records: usize) -> Option<usize> {
        self.record(self.list.at).filter(|record| *record < records)
    }

    /// Returns the record in a row.
    pub fn record(&self, row: usize) -> Option<usize> {
        #[cfg(debug_assertions)]
        stepscope_io::pipeline::store::visits::note();
        match &self.order {
            Some(order) => order.record(row),
            None => Some(row),
        }
    }

    /// Returns the row of a record; if it is hidden, the row where it would be.
    pub(crate) fn row_of(&self, record: usize) -> usize {
        self.order.as_ref().map_or(record, |order| order.row_of(record))
    }

    /// Returns the row of a record that the filter does not hide.
    pub(crate) fn listed_row(&self, record: usize) -> Option<usize> {
        shown_row(self.order.as_ref(), record as u32).map(|row| row as usize)
    }

    /// Lists the rows of forks that are there for their root: they do not fit the filter themselves.
    pub(crate) fn carried(&self) -> &[u32] {
        self.order.as_ref().map_or(&[], Order::carried)
    }

    /// Counts the rows above a row that are not forks.
    pub(crate) fn own_above(&self, row: usize) -> usize {
        self.order.as_ref().map_or(row, |order| order.own_above(row))
    }

    /// Returns the row so many records further down or up, forks not counted; at the ends the last there is.
    pub(crate) fn row_from(&self, row: usize, by: isize, records: usize) -> usize {
        let own = self.own_above(self.len(records));
        let above = match by {
            1.. => self.own_above(row + 1).saturating_add_signed(by - 1).min(own.saturating_sub(1)),
            _ => self.own_above(row).saturating_add_signed(by),
        };
        let found = self.order.as_ref().map_or(above, |order| order.own_row(above));
        // Where nothing follows, or stands before, the row stays.
        if (by > 0) == (found > row) { found } else { row }
    }

    /// Lists all records, those that are shown first: from a row down, and round from the top.
    pub(crate) fn rows_from(&self, row: usize, records: usize) -> impl Iterator<Item = usize> + '_ {
        let rows = self.len(records);
        let shown = (row..rows).chain(0..row.min(rows)).filter_map(|row| self.record(row));
        let hidden = |record: &usize| self.listed_row(*record).is_none();
        shown.chain((0..records).filter(move |record| hidden(record)))
    }

    /// Takes in what find found.
    pub(crate) fn take_matches(&mut self, found: Vec<(u32, Shown)>, done: bool) {
        let Self { finding, order, .. } = self;
        if let Some(finding) = finding {
            finding.take(found, done, |record| shown_row(order.as_ref(), record));
        }
    }

    /// Counts what the listed records have: a column that none of them fills takes no room.
    pub(crate) fn listed(&self, store: &Store) -> Listed {
        self.listed.filter(|listed| listed.records > 0).unwrap_or_else(|| Listed::all(store))
    }

    /// Tells whether every record is shown in the order of the file.
    pub(crate) fn is_natural(&self) -> bool {
        self.order.is_none()
    }

    /// Rebuilds the order from the rows and from the places of the records in the queue, keeping the cursor on its
    /// record; `fits` asks the filter about a row, `review` knows what people said about it, `forks` puts each
    /// fork below its parent, if there are any.
    pub(crate) fn arrange(
        &mut self,
        records: usize,
        row: &dyn Fn(usize) -> Option<RowFacts>,
        queued: &dyn Fn(usize) -> Option<(u8, u64)>,
        fits: impl Fn(&Filter, usize, &RowFacts) -> RowAnswer,
        review: &Review,
        forks: Option<impl Fn(&[u32]) -> [Vec<u32>; 3]>,
    ) {
        let here = self.record(self.list.at);
        let is_whole = self.filter.is_empty() && !review.queue.is_part();
        let natural = is_whole && self.sort == SortBy::Position && !self.descending;
        let order = match forks {
            Some(forks) => Some(forks(&self.arranged(records, row, queued, fits, review))),
            None if natural => None,
            None => Some([self.arranged(records, row, queued, fits, review), Vec::new(), Vec::new()]),
        };
        self.listed = order.as_ref().filter(|_| !is_whole).map(|[rows, ..]| {
            rows.iter().filter_map(|record| row(*record as usize)).fold(Listed::default(), |all, row| all.with(&row))
        });
        self.order = order.map(|rows| Order::new(rows, records));
        let Self { finding, order, .. } = self;
        if let Some(finding) = finding {
            finding.rearrange(|record| shown_row(order.as_ref(), record));
        }
        if let Some(record) = here {
            self.list.at = self.row_of(record);
        }
    }

    fn arranged(
        &self,
        records: usize,
        row: &dyn Fn(usize) -> Option<RowFacts>,
        queued: &dyn Fn(usize) -> Option<(u8, u64)>,
        is_fit: impl Fn(&Filter, usize, &RowFacts) -> RowAnswer,
        review: &Review,
    ) -> Vec<u32> {
        let asks = self.filter.needs_reviews();
        let fits = |record: &u32| {
            let at = *record as usize;
            row(at).is_some_and(|row| is_fit(&self.filter, at, &row) != RowAnswer::No)
                && (!asks || self.filter.fits_judged(&review.judged(at)))
        };
        let mut order: Vec<u32> = match &self.filtering {
            Some(search) => search.found.iter().copied().filter(fits).collect(),
            None if self.filter.is_empty() => (0..records as u32).collect(),
            None => (0..records as u32).filter(fits).collect(),
        };
        let key = |record: u32| queued(record as usize);
        // A reviewer's part of the records is theirs in every order.
        if review.queue.is_part() && self.sort != SortBy::Review {
            order.retain(|record| key(*record).is_some());
        }
        if self.sort == SortBy::Review {
            let mut keyed: Vec<_> = order.iter().filter_map(|record| Some((key(*record)?, *record))).collect();
            keyed.sort_unstable();
            if self.descending {
                keyed.reverse();
            }
            order = keyed.into_iter().map(|(_, record)| record).collect();
        } else if self.sort != SortBy::Position {
            let key = |record: u32| row(record as usize).and_then(|row| self.sort.key(&row));
            let mut keyed: Vec<(Option<f64>, u32)> = order.iter().map(|&record| (key(record), record)).collect();
            keyed.sort_by(|(a, m), (b, n)| {
                let by_key = match (a, b) {
                    (Some(a), Some(b)) if self.descending => b.total_cmp(a),
                    (Some(a), Some(b)) => a.total_cmp(b),
                    (a, b) => b.is_some().cmp(&a.is_some()),
                };
                by_key.then(m.cmp(n))
            });
            order = keyed.into_iter().map(|(_, record)| record).collect();
        } else if self.descending {
            order.reverse();
        }
        order
    }

    /// Returns the texts of a record, if they were read.
    pub fn texts(&self, record: usize) -> Option<&RowTexts> {
        self.row_texts.get(&record)
    }

    /// Keeps the texts of some records.
    pub(crate) fn take_row_texts(&mut self, row_texts: Vec<(usize, RowTexts)>) {
        if self.row_texts.len() + row_texts.len() > MAX_ROW_TEXTS {
            self.row_texts.clear();
        }
        self.row_texts.extend(row_texts);
        self.asked.clear();
    }

    /// Finds what to read for the texts of some records, and notes that they are asked for: a request before it may never
    /// be answered.
    pub(crate) fn ask_row_texts(&mut self, records: Vec<usize>, store: &Store) -> Vec<(usize, Reading)> {
        let wanted = records.into_iter().filter_map(|record| Some((record, store.reading(record)?)));
        let wanted: Vec<_> = wanted.collect();
        self.asked = wanted.iter().map(|(record, _)| *record).collect();
        wanted
    }

    /// True if the texts of these records were asked for and are to come.
    pub(crate) fn has_asked(&self, records: &[usize]) -> bool {
        records.iter().all(|record| self.asked.contains(record))
    }

    /// Returns the record under the cursor, if it was read.
    pub(crate) fn preview(&self, record: usize) -> Option<&OpenRecord> {
        self.preview.as_deref().filter(|opened| opened.index == record)
    }

    /// Keeps the record under the cursor.
    pub(crate) fn take_preview(&mut self, opened: Box<OpenRecord>) {
        self.preview = Some(opened);
    }

    /// Takes the record under the cursor to be opened, if it was read since the file changed; it is requested again when
    /// the table is back.
    pub(crate) fn take_previewed(&mut self, record: usize, checked: bool, hide: Hide) -> Option<Box<OpenRecord>> {
        let is_current = self.wanted == Some((record, self.moves, checked));
        let opened = self.preview.take_if(|opened| is_current && opened.index == record && opened.hidden == hide)?;
        self.wanted = None;
        Some(opened)
    }

    /// Tells whether a record must be requested for the preview, and notes it as requested.
    pub(crate) fn wants_preview(&mut self, record: usize, checked: bool) -> bool {
        let wanted = Some((record, self.moves, checked));
        let fresh = self.wanted != wanted;
        self.wanted = wanted;
        fresh
    }

    /// Returns the columns that a person chose.
    pub(crate) const fn columns(&self) -> &ChosenColumns {
        &self.columns
    }

    /// Takes other columns; those that name values of the records are read anew.
    pub(crate) fn choose_columns(&mut self, columns: ChosenColumns) {
        let before = std::mem::replace(&mut self.columns, columns);
        if before.values() != self.columns.values() {
            self.forget_row_texts();
        }
    }

    /// Forgets the texts, because the file changed.
    pub(crate) fn forget_row_texts(&mut self) {
        self.row_texts.clear();
        self.asked.clear();
        self.preview = None;
        self.moves += 1;
    }

    /// Returns the number of times that records have changed their numbers.
    pub const fn moves(&self) -> u64 {
        self.moves
    }

    /// Lists the records in some rows whose texts were not read yet.
    pub(crate) fn missing_row_texts(&self, rows: std::ops::Range<usize>) -> Vec<usize> {
        rows.filter_map(|row| self.record(row)).filter(|record| !self.row_texts.contains_key(record)).collect()
    }
}

/// Returns the row of a record that is not hidden.
fn shown_row(order: Option<&Order>, record: u32) -> Option<u32> {
    let Some(order) = order else { return Some(record) };
    let row = order.row_of(record as usize);
    (order.record(row) == Some(record as usize)).then_some(row as u32)
}
