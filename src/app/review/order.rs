//! The order in which records are judged: which comes next, how many of its kind are left, and which others are alike.

use std::collections::BTreeMap;

use crate::app::fork_tree::ForkTree;
use crate::app::review::agenda::{Agenda, AgendaState};
use crate::app::review::{MAX_BATCH, NO_VERDICT, Review, SameVerdict};
use crate::screens::table::state::{SortBy, Table};
use crate::widgets::keymap::need;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::store::Store;
use stepscope_record::rule_id::QueueClass;
use stepscope_review::event::{LabelRef, Text, Verdict};

/// A record with a longer text is not read ahead.
const MAX_AHEAD: u32 = 4 << 20;

/// The record that comes after another: one that I did not judge, then those that I deferred, then those that are to
/// be judged a second time.
pub(crate) fn next_item(
    review: &mut Review,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    from: usize,
) -> Option<usize> {
    follow_agenda(review, store, table, forks);
    let (rows, here) = (table.len(store.len()), table.row_of(from));
    // A filter may hide the record itself meanwhile: then the next one stands in its place.
    let own = Some(here).filter(|row| table.record(*row) == Some(from));
    review.agenda.next(here, rows, own).and_then(|row| table.record(row))
}

/// Updates the agenda with what has changed since it was made; after the order of the table has changed, rebuilds it
/// from the known records: most records have no verdict.
fn follow_agenda(review: &mut Review, store: &Store, table: &Table, forks: &ForkTree) {
    let records = review.take_changed().unwrap_or_else(|| {
        review.agenda = Agenda::default();
        let forks = forks.addresses().filter_map(|(source, byte)| store.position(source, byte));
        forks.chain(review.known_records().map(|(record, _)| record)).collect()
    });
    for record in records {
        let row = table.row_of(record);
        if table.record(row) == Some(record) {
            let standing =
                if forks.is_fork(store, record) { Some(AgendaState::Fork) } else { review.standing_of(record) };
            let class = class_of(review, store, record).unwrap_or(QueueClass::Clean);
            review.agenda.set(row, class, standing);
        }
    }
}

/// Counts the progress through the queue.
pub(crate) fn count_progress(review: &mut Review, store: &Store, table: &mut Table, forks: &ForkTree) {
    follow_agenda(review, store, table, forks);
    let rows = table.len(store.len());
    review.progress = review.agenda.progress(rows);
    if table.from_front {
        // The first row that is still to be judged, else the first.
        table.list.at = review.agenda.first(rows).unwrap_or(0);
    }
}

/// Finds the class of a record in the queue, as far as it may be told.
fn class_of(review: &Review, store: &Store, record: usize) -> Option<QueueClass> {
    store.row(record).map(|row| row.hiding(review.hide).queue_class())
}

/// Tells why a record is in the queue, and how many of how many for the same reason are still to be judged. Where clean
/// records are mixed in, it tells nothing, so that the reviewer does not know what to expect.
pub(crate) fn group_of(
    review: &Review,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    record: usize,
) -> Option<(QueueClass, usize, usize)> {
    let is_told = review.reviewing && table.sort == SortBy::Review && review.queue.clean_share.is_none();
    let class = class_of(review, store, record).filter(|_| is_told && !forks.is_fork(store, record))?;
    let all = *review.groups.get(class as usize)?;
    Some((class, all.saturating_sub(review.agenda.done_of(class)), all))
}

/// Counts the classes of the queue, and groups records by kind and by the rule of their gravest finding; the table was
/// sorted just now, which went through all rows too.
pub(crate) fn group_queue(review: &mut Review, store: &Store, table: &Table, forks: &ForkTree) {
    review.groups = Default::default();
    review.alike.clear();
    if table.sort != SortBy::Review || !review.reviewing {
        return;
    }
    for row in 0..table.len(store.len()) {
        let Some(record) = table.record(row).filter(|record| !forks.is_fork(store, *record)) else { continue };
        let Some(facts) = store.row(record).map(|facts| facts.hiding(review.hide)) else { continue };
        if let Some(count) = review.groups.get_mut(facts.queue_class() as usize) {
            *count += 1;
        }
        if let Some(rule) = facts.leading() {
            review.alike.entry((rule, facts.kind())).or_default().push(record as u32);
        }
    }
}

/// Finds the other records in the queue that I did not judge and whose gravest finding is of the same rule; `Err`: why
/// there is none. The step does not matter: the verdict and labels that they get name none.
pub(crate) fn same_verdict(
    review: &Review,
    store: &Store,
    record: usize,
    verdict: Verdict,
    labels: Vec<LabelRef>,
) -> Result<SameVerdict, &'static str> {
    need(verdict.judges(), NO_VERDICT)?;
    let facts = store.row(record).ok_or(NO_VERDICT)?.hiding(review.hide);
    let rule = facts.leading().ok_or("the rules found nothing in the record of the last verdict")?;
    let kind = facts.kind();
    let alike = review.alike.get(&(rule, kind)).map_or(&[][..], Vec::as_slice);
    need(alike.len() <= MAX_BATCH, "in too many records does the same rule come first; filter first (<filter>)")?;
    let is_open = |other: &usize| *other != record && review.judged(*other).mine.is_none();
    let records: Vec<usize> = alike.iter().map(|other| *other as usize).filter(is_open).collect();
    need(!records.is_empty(), "in no other open record that is listed does the same rule come first")?;
    Ok(SameVerdict { records, rule, kind, verdict, labels })
}

/// Tells how chance chose the target, where the table lists all records in the order of the queue.
pub(crate) fn drawn(review: &Review, store: &Store, table: &Table) -> Option<Text> {
    let target = review.target.as_ref().filter(|_| table.sort == SortBy::Review && table.filter.is_empty())?;
    review.queue.drawn(store.row(target.record)?)
}

/// Chooses the record to read ahead, and notes that it is being read.
pub(crate) fn next_ahead(
    review: &mut Review,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
    from: usize,
) -> Option<usize> {
    let next = next_item(review, store, table, forks, from).filter(|next| *next != from)?;
    let near = store.row(next).is_some_and(|row| row.len <= MAX_AHEAD);
    let there = review.prefetched.as_ref().is_some_and(|opened| opened.index == next);
    if !near || there || review.prefetching == Some(next) {
        return None;
    }
    review.prefetched = None;
    review.prefetching = Some(next);
    Some(next)
}

/// Sums up my verdicts on the listed records by their kind, and the label that was given most often.
pub(crate) fn verdicts_given(review: &Review, store: &Store, table: &Table, forks: &ForkTree) -> Shown {
    let mut verdicts = BTreeMap::new();
    let mut labels = BTreeMap::new();
    let is_counted = |record: usize| table.listed_row(record).is_some() && !forks.is_fork(store, record);
    for (record, known) in review.known_records() {
        let Some(verdict) = known.judged.mine.filter(|_| is_counted(record)) else { continue };
        *verdicts.entry(verdict).or_insert(0_usize) += 1;
        let mine = review.mine(&known.item, &known.content);
        for label in mine.map(|event| review.names(&event.labels)).unwrap_or_default() {
            *labels.entry(label.into_string()).or_insert(0_usize) += 1;
        }
    }
    let mut said: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
    let most = labels.iter().max_by_key(|(_, count)| **count);
    said.extend(most.map(|(label, count)| format!("most often {label} ({count})")));
    if said.is_empty() { Shown::default() } else { shown!(": {}", Shown::line(said.join(", ").as_bytes())) }
}

impl Review {
    /// Tells how far a record is judged that is no fork.
    fn standing_of(&self, record: usize) -> Option<AgendaState> {
        match self.known(record)?.judged.mine? {
            Verdict::Defer => Some(AgendaState::Deferred),
            _ => Some(AgendaState::Done(self.is_due_again(record))),
        }
    }
}
