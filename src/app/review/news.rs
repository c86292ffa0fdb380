//! Saving of what was said, reports of the review worker, the end of a session, and records that are labelled all at once.

use std::collections::HashSet;

use crate::app::fork_tree::ForkTree;
use crate::app::log::{Log, What};
use crate::app::msg::{Effect, Effects, Moves};
use crate::app::review::Review;
use crate::app::review::order::count_progress;
use crate::app::review::{Batch, Draft, Given, NO_VERDICT, ReviewLog, Wait, about};
use crate::app::state::App;
use crate::app::{across, review};
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Keymap};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::log::Appended;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_record::finding::{counted, grouped};
use stepscope_record::rule_id::RuleId;
use stepscope_review::event::{EventKind, LabelRef, Text, Verdict};
use stepscope_review::event_list::EventList;
use stepscope_review::summary::Summary;

/// Gives what was said to the log, counts it, and has the drafts kept if they have changed.
pub(crate) fn save_said(
    review: &mut Review,
    log: &mut Log,
    store: &Store,
    table: &mut Table,
    forks: &ForkTree,
) -> Effects {
    let said = std::mem::take(&mut review.said);
    let mut effects = Vec::new();
    if !said.is_empty() {
        let new = said.iter().filter(|event| event.kind != EventKind::Undo);
        let judged: Vec<usize> = new.filter_map(|event| review.record_of(event)).collect();
        if let ReviewLog::Journal(journal) = &review.place {
            let lines = said.into_iter().map(|event| What::Verdict(Box::new(event)));
            effects.extend(lines.filter_map(|line| log.event(journal.clone(), line)));
        }
        count_progress(review, store, table, forks);
        effects.extend(find_namesakes(review, store, table, &judged));
    }
    if std::mem::take(&mut review.drafts_changed) {
        effects.push(Effect::KeepDrafts(review.to_keep(log)));
    }
    effects
}

/// Takes in events that were appended to the review logs or found in them; `anew`: one is another file, these are all.
pub(crate) fn take_reviews(app: &mut App, events: EventList, anew: bool, sentences: Vec<Shown>) -> Effects {
    let first = !std::mem::replace(&mut app.review.read, true);
    if let Some(sentence) = sentences.into_iter().next() {
        app.status.fail(sentence);
    }
    let mut effects = Vec::new();
    if app.review.take_events(&app.log, events, anew) {
        effects.extend(reviews_changed(app));
    }
    if first && let Some(Wait::Journal(action)) = app.review.wait.take() {
        effects.extend(app.act(action));
        if app.review.wait.is_none() {
            effects.extend(review::keys::go_on(app));
        }
    }
    effects
}

/// Tells what was not said to the end in the last session; `true`: something is not saved.
pub(crate) fn left_over(review: &Review, log: &Log, keymap: &Keymap) -> Option<(Shown, bool)> {
    let saves = keymap.key_of(Action::SaveAgain);
    match (review.aside.len(), log.failed_events()) {
        (_, failed @ 1..) => {
            let failed = counted(failed, "verdict");
            Some((shown!("NOT SAVED: {failed} of the last session; {saves} saves what is left"), true))
        }
        (drafts @ 1.., _) => {
            let drafts = counted(drafts, "draft");
            Some((shown!("Restored {drafts} of the last session, each shown with its record"), false))
        }
        _ => None,
    }
}

/// Takes in whether drafts can be kept. Whoever leaves learns what that means for what is not saved.
pub(crate) fn drafts_kept(review: &mut Review, kept: Result<(), Failure>, log: &Log, keymap: &Keymap) -> Option<Shown> {
    review.drafts_failure = kept.err();
    if review.leaving == Some(true) {
        return Some(unsaved(review, log, keymap));
    }
    review.drafts_failure.as_ref().map(Shown::from)
}

/// Tells what is not saved, and what becomes of it when the session ends.
fn unsaved(review: &Review, log: &Log, keymap: &Keymap) -> Shown {
    let (failed, saves) = (counted(log.failed_events(), "verdict"), keymap.key_of(Action::SaveAgain));
    match &review.drafts_failure {
        None => {
            shown!("NOT SAVED: {failed}. {saves} retries; quit again to quit, the next start offers what is not saved")
        }
        Some(failure) => {
            shown!("NOT SAVED: {failed}. {saves} retries; quit again to lose what is not saved ({failure})")
        }
    }
}

/// Asks for the summaries of records that have reviews.
pub(crate) fn take_reviewed(store: &Store, table: &Table, moves: Moves, records: Vec<u32>) -> Effects {
    if moves != table.moves() {
        return Vec::new();
    }
    let reading = |record: u32| {
        let record = record as usize;
        Some((record, store.reading(record)?, *store.row(record)?))
    };
    let records: Vec<_> = records.into_iter().filter_map(reading).collect();
    if records.is_empty() { Vec::new() } else { vec![Effect::Summarise(moves, None, records)] }
}

/// Takes in the outcome of saving a verdict or, under its name, a decision.
pub(crate) fn saved(app: &mut App, decided: Option<&Shown>, result: Result<Appended, Failure>) -> Effects {
    let met = match result {
        Ok(met) => met,
        Err(failure) => {
            let of = decided.map(|name| shown!(" {name}")).unwrap_or_default();
            app.status.fail(shown!("NOT SAVED{of}: {failure}; {} retries", app.keymap.key_of(Action::SaveAgain)));
            app.review.drafts_changed = true;
            return Vec::new();
        }
    };
    let left = app.log.events().next().is_some();
    app.review.saved = !left;
    if !left {
        app.review.trouble = None;
    }
    if met.anew {
        app.status.fail(Shown::own("the review log was moved; a new one was started"));
    } else if met.sealed {
        app.status
            .say(Shown::own("the last line of the review log is incomplete (its writer was stopped); it was kept"));
    }
    let mut effects = vec![Effect::ReadReviews];
    if let Some(name) = decided {
        let can_undo = app.screens.top() == ScreenKind::Adjudication && app.allowed(Action::Undo).is_ok();
        let undo = if can_undo { shown!(" · {} undo", app.keymap.key_of(Action::Undo)) } else { Shown::default() };
        app.status.say(shown!("saved {name}{undo}"));
    }
    // The dashboard counts a final verdict; one that was undone is asked for again.
    if decided.is_some() || app.screens.holds(ScreenKind::Adjudication) {
        effects.extend(across::keys::read_boards(&mut app.across, &app.store, &app.table, app.models.samples));
    }
    if app.review.leaving.is_some() && !left {
        effects.extend([app.keep(), Effect::Quit(0)]);
    }
    effects
}

/// Updates the table after the reviews that it shows have changed, and looks for the records that have some.
pub(crate) fn reviews_changed(app: &mut App) -> Effects {
    // Only a record that is known to be judged is counted, and none is looked for again once its line is saved.
    let effects = find_reviewed(&mut app.review, &app.store, &app.table);
    if app.table.filter.needs_reviews() {
        app.arrange();
    }
    count_progress(&mut app.review, &app.store, &mut app.table, &app.forks.tree);
    app.review.count_since_new_label();
    effects
}

/// Looks for the records that have reviews.
fn find_reviewed(review: &mut Review, store: &Store, table: &Table) -> Effects {
    let fresh = review.wanted();
    let moves = table.moves();
    let mut effects = Vec::new();
    let from = std::mem::replace(&mut review.looked_through, store.len());
    // What is looked for anew is looked for everywhere, the rest in what came since.
    let sought = review.sought();
    for (ids, first, begun) in [(fresh, 0, from > 0), (sought, from, true)] {
        if begun && !ids.is_empty() && first < store.len() {
            effects.push(Effect::FindReviewed(moves, ids, Plan::of(store, first, |_, _| true)));
        }
    }
    effects
}

/// Looks for the other records of the ids that were judged just now. The later records of an id are marked: only where
/// one of them was judged are all looked through.
pub(crate) fn find_namesakes(review: &Review, store: &Store, table: &Table, judged: &[usize]) -> Option<Effect> {
    let repeated = store.totals().insights().rules.get(RuleId::DuplicateId as usize);
    repeated.filter(|count| **count > 0)?;
    let ids: HashSet<Text> = judged.iter().filter_map(|record| review.known(*record)?.item.id.clone()).collect();
    let is_later = |row: &RowFacts| row.has(Flag::Duplicate);
    let all = judged.iter().filter_map(|record| store.row(*record)).any(is_later);
    let plan = Plan::of(store, 0, |_, row| all || is_later(row));
    (!ids.is_empty()).then_some(Effect::FindReviewed(table.moves(), ids, plan))
}

/// Counts the queue once all records are read, and looks for those that have reviews.
pub(crate) fn records_loaded(review: &mut Review, store: &Store, table: &mut Table, forks: &ForkTree) -> Effects {
    if !store.is_settled() {
        return Vec::new();
    }
    count_progress(review, store, table, forks);
    find_reviewed(review, store, table)
}

/// Follows the open record after records got other numbers; `false`: what waits for a record was given up.
pub(crate) fn records_moved(review: &mut Review, screens: &Screens) -> bool {
    review.forget_records();
    let waits = !matches!(review.wait, None | Some(Wait::Journal(_)));
    if waits {
        review.wait = None;
        review.ahead.clear();
    }
    let placed = screens.record().filter(|view| view.lost.is_none());
    if let (Some(view), Some(target)) = (placed, &mut review.target) {
        target.record = view.opened.index;
        let (record, summary) = (target.record, target.summary.clone());
        review.learn(record, &summary);
    } else {
        review.put_aside();
    }
    !waits
}

// The end.

/// Holds the session while reviews are unsaved, and returns what is to be said of it, with `true` if something failed.
/// `None`: the session may end.
pub(crate) fn hold_quit(review: &mut Review, log: &Log, keymap: &Keymap) -> Option<(Shown, bool)> {
    log.events().next()?;
    let failed = log.failed_events();
    let said = review.leaving.replace(failed > 0);
    match (said, failed) {
        // It was said before.
        (Some(said), _) if said == (failed > 0) => None,
        (_, 0) => Some((Shown::own("saving…; stepscope quits when done, quit again to quit now"), false)),
        _ => {
            review.drafts_changed = true;
            Some((unsaved(review, log, keymap), true))
        }
    }
}

// Many at once.

/// Begins to give many records a verdict, and returns what is to be read of them.
pub(crate) fn begin_batch(
    review: &mut Review,
    store: &Store,
    id: u64,
    records: &[usize],
    given: Given,
) -> Vec<(usize, Reading, RowFacts)> {
    let read = |record: &usize| Some((*record, store.reading(*record)?, *store.row(*record)?));
    let readings: Vec<_> = records.iter().filter_map(read).collect();
    let (verdict, labels, only_open) = match given {
        Given::Label(label) => (Verdict::Fail, vec![review.label_set().refer(&label.id)], false),
        Given::Same(same) => (same.verdict, same.labels, true),
    };
    review.write_label_set(&labels);
    let left = readings.len();
    review.batch = Some(Batch { id, verdict, labels, only_open, left, kept: 0, had: 0, events: Vec::new() });
    review.same = Err(NO_VERDICT);
    readings
}

/// Gives the records that were read their verdict; after the last of them, tells how many got it.
pub(crate) fn label_summaries(
    review: &mut Review,
    keymap: &Keymap,
    id: u64,
    summaries: Vec<(usize, Option<Box<Summary>>)>,
) -> Option<Shown> {
    let mut batch = review.batch.take_if(|batch| batch.id == id)?;
    for (record, summary) in summaries {
        batch.left = batch.left.saturating_sub(1);
        if let Some(summary) = summary {
            label_summary(review, record, &summary, &mut batch);
        }
    }
    if batch.left > 0 {
        review.batch = Some(batch);
        return None;
    }
    let what = if batch.only_open { format!(": {}", batch.verdict.word()) } else { " labelled".to_owned() };
    let mut said = format!("{}{what}", counted(batch.events.len(), "record"));
    let kept = if batch.only_open { "that you reviewed" } else { "that you passed" };
    let unchanged = [(batch.kept, kept), (batch.had, "that had it")].into_iter().filter(|(count, _)| *count > 0);
    let unchanged: Vec<String> = unchanged.map(|(count, which)| format!("{} {which}", grouped(count))).collect();
    if !unchanged.is_empty() {
        said.push_str("; unchanged: ");
        said.push_str(&unchanged.join(", "));
    }
    if !batch.events.is_empty() {
        said.push_str(" · ");
        said.push_str(&keymap.key_of(Action::Undo));
        said.push_str(" undo");
        review.batches.push(batch.events);
    }
    Some(shown!("{said}"))
}

fn label_summary(review: &mut Review, record: usize, summary: &Summary, batch: &mut Batch) {
    let hidden = review.hidden_of(record);
    review.learn(record, summary);
    let reviewed = review.find(&summary.item, &summary.content);
    let mine = reviewed.and_then(|reviewed| reviewed.verdict_of(&review.me.id));
    let fresh = mine.as_ref().filter(|mine| stepscope_review::fold::is_fresh(mine, Some(&summary.content)));
    if fresh.is_some_and(|mine| batch.only_open || mine.verdict == Some(Verdict::Pass)) {
        batch.kept += 1;
        return;
    }
    let mut draft = fresh.map(Draft::of).unwrap_or_default();
    let is_given =
        |label: &LabelRef| draft.labels.iter().any(|given| (&given.id, &given.set) == (&label.id, &label.set));
    let missing: Vec<LabelRef> = batch.labels.iter().filter(|label| !is_given(label)).cloned().collect();
    if missing.is_empty() && fresh.is_some_and(|mine| mine.verdict == Some(batch.verdict)) {
        batch.had += 1;
        return;
    }
    draft.labels.extend(missing);
    let mut event = about(summary, hidden, EventKind::Verdict, &review.me);
    draft.fill(&mut event);
    event.verdict = Some(batch.verdict);
    // A label more is no second look.
    event.times.shown = fresh.and_then(|mine| mine.times.shown.clone());
    event.supersedes = mine.map(|mine| mine.event_id);
    batch.events.push(review.save(event));
}
