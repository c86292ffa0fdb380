//! The records that are read line by line: which they are, in which order, and each of them opened.

use std::sync::Arc;
use std::sync::mpsc::channel;

use stepscope_base::guard::guarded;
use stepscope_base::json::Tape;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::examine::case_of_row;
use stepscope_io::pipeline::load::load;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::store::Store;
use stepscope_io::source::input::Expand;
use stepscope_judge::case::Case;
use stepscope_judge::hide::Hide;
use stepscope_judge::row::RowFacts;
use stepscope_record::RecordKind;
use stepscope_record::finding::counted;
use stepscope_redact::Redaction;
use stepscope_report::page::Cleaner;
use stepscope_review::event::ItemRef;
use stepscope_review::queue::Queue;
use stepscope_review::summary::Summary;
use stepscope_table::filter::{Filter, RowAnswer};

use crate::cli::options::threads;

/// See the module.
pub(super) struct Records {
    store: Store,
    side: Arc<SideData>,
    /// Positions of the records, in their order.
    order: Vec<usize>,
    hide: Hide,
}

/// A record that is read.
pub(super) struct LineRecord {
    /// What is told of it: without what is hidden.
    pub(super) case: Case<'static>,
    pub(super) row: RowFacts,
    summary: Summary,
    name: Shown,
    line: u64,
}

impl LineRecord {
    /// Returns its summary for the review log: of the whole record.
    pub(super) const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Counts its steps.
    pub(super) fn steps(&self) -> usize {
        let view = self.case.view();
        view.procedure().map_or(view.state().step_count(), |procedure| procedure.steps.len())
    }

    /// Tells whether it is an answer with cited lines, which has labels of its own.
    pub(super) fn is_answer(&self) -> bool {
        self.row.kind() == RecordKind::Typed
    }

    /// Formats its file, line and id.
    pub(super) fn place(&self) -> Shown {
        shown!("{}, line {}, id {}", self.name, self.line, self.summary.item.name().line())
    }
}

impl Records {
    /// Reads all records and what the rules say of them, and keeps those that fit the filter.
    pub(super) fn read(inputs: Expand, side: &Arc<SideData>, filter: Option<&str>, hide: Hide) -> Result<Self, Shown> {
        let filter = filter.map(|typed| Filter::parse(typed, side.types())).transpose();
        let filter = filter.map_err(|error| shown!("--filter: {}", error.message))?;
        let (tell, told) = channel();
        let (mut store, begun) = load(inputs, threads(None), side.clone(), move |event| tell.send(event).is_ok());
        let loader = begun.go_on()?;
        store.settle(told);
        drop(loader);
        let mut records = Self { side: side.clone(), order: Vec::new(), hide, store };
        let fits = |at: &usize| filter.as_ref().is_none_or(|filter| records.fits(filter, *at));
        records.order = (0..records.store.len()).filter(fits).collect();
        Ok(records)
    }

    fn fits(&self, filter: &Filter, at: usize) -> bool {
        let Some(row) = self.store.row(at) else { return false };
        match filter.fits_row_with(row, self.side.models()) {
            RowAnswer::Yes => true,
            RowAnswer::No => false,
            RowAnswer::AskText => {
                let text = self.store.reading(at).and_then(|reading| reading.read().ok());
                text.is_some_and(|text| filter.fits_text(&text))
            }
        }
    }

    /// Puts them into the order of a queue, and leaves out what that leaves out.
    pub(super) fn queue(&mut self, queue: &Queue) {
        let key = |at: &usize| Some((queue.key(*at, self.store.row(*at)?)?, *at));
        let mut keyed: Vec<_> = self.order.iter().filter_map(key).collect();
        keyed.sort_unstable();
        self.order = keyed.into_iter().map(|(_, at)| at).collect();
    }

    pub(super) const fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns what is hidden of each.
    pub(super) const fn hide(&self) -> Hide {
        self.hide
    }

    /// Counts the records, and those that are right and wrong.
    pub(super) fn told(&self) -> Shown {
        let is = |right: bool| {
            let rows = self.order.iter().filter_map(|at| self.store.row(*at));
            rows.filter(|row| row.correct() == Some(right)).count()
        };
        let sources = self.store.sources();
        let name = match sources {
            [source] => source.name().last_part(),
            _ => shown!("{} files", sources.len()),
        };
        let known =
            if self.hide.is_empty() { shown!(", {} correct, {} wrong", is(true), is(false)) } else { Shown::default() };
        shown!("{name}: {}{known}", counted(self.len(), "record"))
    }

    /// Finds the next record that is wrong, from the first again behind the last.
    pub(super) fn next_wrong(&self, at: usize) -> Option<usize> {
        let count = self.len();
        let is_wrong = |at: &usize| {
            let row = self.order.get(*at).and_then(|at| self.store.row(*at));
            self.hide.is_empty() && row.is_some_and(|row| row.correct() == Some(false))
        };
        (1..count).map(|by| (at + by) % count).find(is_wrong)
    }

    /// Finds the record of an id.
    pub(super) fn of_id(&self, id: &str) -> Option<usize> {
        self.find(|summary| summary.item.id.as_ref().is_some_and(|own| *own == *id))
    }

    /// Finds the record of an item.
    pub(super) fn of_item(&self, item: &ItemRef) -> Option<usize> {
        self.find(|summary| summary.item == *item)
    }

    fn find(&self, is_it: impl Fn(&Summary) -> bool) -> Option<usize> {
        let is_it = |at: &usize| guarded(|| self.open(*at).is_ok_and(|record| is_it(&record.summary))) == Some(true);
        (0..self.len()).find(is_it)
    }

    /// Reads a record.
    pub(super) fn open(&self, at: usize) -> Result<LineRecord, Shown> {
        let at = self.order.get(at).copied().unwrap_or(0);
        let (Some(reading), Some(row)) = (self.store.reading(at), self.store.row(at)) else {
            return Err(Shown::own("this record was deleted"));
        };
        let case = self.case(&reading, row)?;
        let view = case.view();
        let mut summary = Summary::of(&view, view.findings(), reading.dataset.clone(), reading.position);
        summary.take_question(&view);
        let cleaner = Cleaner { hide: self.hide, redaction: Redaction::default(), passages: true };
        let hidden = (!self.hide.is_empty()).then(|| cleaner.clean(&view, Vec::new(), b"").case);
        let (row, name, line) = (*row, reading.blob.name().clone(), reading.line()?);
        Ok(LineRecord { case: hidden.unwrap_or(case), row, summary, name, line })
    }

    fn case(&self, reading: &Reading, row: &RowFacts) -> Result<Case<'static>, Shown> {
        Ok(case_of_row(reading.read()?, Tape::default(), row, Arc::new(reading.around(&self.side))))
    }
}
