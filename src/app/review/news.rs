//! Reports of the review worker, the end of a session, and records that are labelled all at once.

use std::collections::HashSet;
use std::time::Instant;

use crate::app::log::Log;
use crate::app::msg::{Effect, Effects, Moves};
use crate::app::review::Review;
use crate::app::review::keys::append;
use crate::app::review::{Batch, Draft, Given, NO_VERDICT, Wait, about};
use crate::app::state::{App, REARRANGE};
use crate::app::{across, review};
use crate::screens::kind::ScreenKind;
use crate::screens::table;
use crate::screens::table::state::Table;
use crate::widgets::keymap;
use crate::widgets::keymap::Action;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::log::Appended;
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_record::finding::{counted, grouped};
use stepscope_record::rule_id::RuleId;
use stepscope_review::event::{Event, EventKind, LabelRef, Text, Verdict};
use stepscope_review::event_list::EventList;
use stepscope_review::summary::Summary;

/// Takes in events that were appended to the review logs or found in them; `anew`: one is another file, these are all.
pub(crate) fn take_reviews(app: &mut App, events: EventList, anew: bool, sentences: Vec<Shown>) -> Effects {
    let first = !std::mem::replace(&mut app.review.read, true);
    if let Some(sentence) = sentences.into_iter().next() {
        app.status.fail(sentence);
    }
    let mut effects = Vec::new();
    if app.review.take_events(&app.log, events, anew) {
        effects.extend(find_reviewed(&mut app.review, &app.store, &app.table));
        reviews_changed(app);
    }
    if first && let Some(Wait::Journal(action)) = app.review.wait.take() {
        effects.extend(app.act(action));
        if app.review.wait.is_none() {
            effects.extend(review::keys::go_on(app));
        }
    }
    effects
}

pub(crate) fn reviews_failed(app: &mut App, failure: Failure) -> Effects {
    let effects = app.status.fail(shown!("{failure}"));
    app.review.trouble = Some(failure);
    effects
}

/// Takes in what the last session did not say to the end.
pub(crate) fn take_drafts(app: &mut App, events: Vec<Event>) -> Effects {
    app.review.take_kept(&mut app.log, events);
    let (drafts, failed) = (app.review.aside.len(), app.log.failed_events());
    let saves = app.keymap.key_of(keymap::Action::SaveAgain);
    match (drafts, failed) {
        (_, 1..) => app
            .status
            .fail(shown!("NOT SAVED: {} of the last session; {saves} saves what is left", counted(failed, "verdict"))),
        (1.., _) => {
            let drafts = counted(drafts, "draft");
            app.status.say(shown!("Restored {drafts} of the last session, each shown with its record"))
        }
        _ => Vec::new(),
    };
    // Only a record that is known to be judged is counted, and none is looked for again once its line is saved.
    let effects = find_reviewed(&mut app.review, &app.store, &app.table);
    reviews_changed(app);
    effects
}

/// Takes in whether drafts can be kept. Whoever leaves learns what that means for what is not saved.
pub(crate) fn drafts_kept(app: &mut App, kept: Result<(), Failure>) -> Effects {
    app.review.drafts_failure = kept.err();
    if app.review.leaving == Some(true) {
        warn_unsaved(app);
    } else if let Some(failure) = &app.review.drafts_failure {
        app.status.fail(shown!("{failure}"));
    }
    Vec::new()
}

/// Says what is not saved, and what becomes of it when the session ends.
fn warn_unsaved(app: &mut App) {
    let (failed, saves) = (counted(app.log.failed_events(), "verdict"), app.keymap.key_of(keymap::Action::SaveAgain));
    app.status.fail(match &app.review.drafts_failure {
        None => {
            shown!("NOT SAVED: {failed}. {saves} retries; quit again to quit, the next start offers what is not saved")
        }
        Some(failure) => {
            shown!("NOT SAVED: {failed}. {saves} retries; quit again to lose what is not saved ({failure})")
        }
    });
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

/// Takes in who some records are.
pub(crate) fn take_summaries(
    app: &mut App,
    moves: Moves,
    summaries: Vec<(usize, Option<Box<Summary>>)>,
    now: Instant,
) -> Effects {
    if moves == app.table.moves() {
        for (record, summary) in summaries {
            if let Some(summary) = summary {
                app.review.learn(record, &summary);
            }
        }
        table::search::explain_found(&mut app.table, &app.review, &app.keymap, &mut app.status);
        // Counted and put in order with the next tick: there may be many more.
        app.table.arrange_at = app.table.arrange_at.or(Some(now + REARRANGE));
    }
    Vec::new()
}

/// Takes in the outcome of saving a verdict or, under its name, a decision.
pub(crate) fn saved(app: &mut App, decided: Option<&Shown>, result: Result<Appended, Failure>) -> Effects {
    let met = match result {
        Ok(met) => met,
        Err(failure) => {
            let of = decided.map(|name| shown!(" {name}")).unwrap_or_default();
            app.status
                .fail(shown!("NOT SAVED{of}: {failure}; {} retries", app.keymap.key_of(keymap::Action::SaveAgain)));
            return review::keys::keep_drafts(&app.log, &app.review);
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
        effects.extend(across::keys::decided(app, name));
    } else if app.screens.holds(ScreenKind::Adjudication) {
        // A final verdict that was undone is asked for again.
        effects.extend(across::keys::read_boards(app));
    }
    if app.review.leaving.is_some() && !left {
        effects.extend([app.keep(), Effect::Quit(0)]);
    }
    effects
}

/// Updates the table after the reviews that it shows have changed.
fn reviews_changed(app: &mut App) {
    if app.table.filter.needs_reviews() {
        app.arrange();
    }
    review::keys::count_progress(app);
    app.review.count_since_new_label();
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

/// Updates the review after more records were found, or records got other numbers.
pub(crate) fn review_loaded(app: &mut App, moved: bool) -> Effects {
    if moved {
        app.review.forget_records();
        if !matches!(app.review.wait, None | Some(Wait::Journal(_))) {
            app.review.wait = None;
            app.review.ahead.clear();
            app.status.fail(Shown::own("the file has changed; look again before you give a verdict"));
        }
        let placed = app.screens.record().filter(|view| view.lost.is_none());
        if let (Some(view), Some(target)) = (placed, &mut app.review.target) {
            target.record = view.opened.index;
            let (record, summary) = (target.record, target.summary.clone());
            app.review.learn(record, &summary);
        } else {
            app.review.put_aside();
        }
    }
    if !app.store.is_settled() {
        return Vec::new();
    }
    review::keys::count_progress(app);
    find_reviewed(&mut app.review, &app.store, &app.table)
}

// The end.

/// Holds the session while reviews are unsaved, and says so. `None`: the session may end.
pub(crate) fn hold_quit(app: &mut App) -> Option<Effects> {
    app.log.events().next()?;
    let failed = app.log.failed_events();
    let said = app.review.leaving.replace(failed > 0);
    match (said, failed) {
        // It was said before.
        (Some(said), _) if said == (failed > 0) => None,
        (_, 0) => {
            app.status.say(Shown::own("saving…; stepscope quits when done, quit again to quit now"));
            Some(Vec::new())
        }
        _ => {
            warn_unsaved(app);
            Some(review::keys::keep_drafts(&app.log, &app.review))
        }
    }
}

// Many at once.

pub(crate) fn begin_batch(app: &mut App, records: &[usize], given: Given) -> Effects {
    let moves = app.table.moves();
    let read = |record: &usize| Some((*record, app.store.reading(*record)?, *app.store.row(*record)?));
    let readings: Vec<_> = records.iter().filter_map(read).collect();
    let id = app.table.new_search_id();
    let (verdict, labels, only_open) = match given {
        Given::Label(label) => (Verdict::Fail, vec![app.review.label_set().refer(&label.id)], false),
        Given::Same(same) => (same.verdict, same.labels, true),
    };
    let effects = review::keys::write_label_set(app, &labels);
    let left = readings.len();
    app.review.batch = Some(Batch { id, verdict, labels, only_open, left, kept: 0, had: 0, events: Vec::new() });
    app.review.same = Err(NO_VERDICT);
    app.status.say(shown!("saving {}…", counted(left, "verdict")));
    effects.into_iter().chain([Effect::Summarise(moves, Some(id), readings)]).collect()
}

pub(crate) fn label_summaries(app: &mut App, id: u64, summaries: Vec<(usize, Option<Box<Summary>>)>) -> Effects {
    let Some(mut batch) = app.review.batch.take_if(|batch| batch.id == id) else { return Vec::new() };
    let mut effects = Vec::new();
    let records: Vec<usize> = summaries.iter().map(|(record, _)| *record).collect();
    for (record, summary) in summaries {
        batch.left = batch.left.saturating_sub(1);
        let Some(summary) = summary else { continue };
        effects.extend(label_summary(&mut app.log, &mut app.review, record, &summary, &mut batch));
    }
    effects.extend(find_namesakes(&app.review, &app.store, &app.table, &records));
    review::keys::count_progress(app);
    if batch.left > 0 {
        app.review.batch = Some(batch);
        return effects;
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
        said.push_str(&app.keymap.key_of(Action::Undo));
        said.push_str(" undo");
        app.review.batches.push(batch.events);
    }
    app.status.say(shown!("{said}"));
    effects
}

fn label_summary(log: &mut Log, review: &mut Review, record: usize, summary: &Summary, batch: &mut Batch) -> Effects {
    let hidden = review.hidden_of(record);
    review.learn(record, summary);
    let reviewed = review.find(&summary.item, &summary.content);
    let mine = reviewed.and_then(|reviewed| reviewed.verdict_of(&review.me.id));
    let fresh = mine.as_ref().filter(|mine| stepscope_review::fold::is_fresh(mine, Some(&summary.content)));
    if fresh.is_some_and(|mine| batch.only_open || mine.verdict == Some(Verdict::Pass)) {
        batch.kept += 1;
        return Vec::new();
    }
    let mut draft = fresh.map(Draft::of).unwrap_or_default();
    let is_given =
        |label: &LabelRef| draft.labels.iter().any(|given| (&given.id, &given.set) == (&label.id, &label.set));
    let missing: Vec<LabelRef> = batch.labels.iter().filter(|label| !is_given(label)).cloned().collect();
    if missing.is_empty() && fresh.is_some_and(|mine| mine.verdict == Some(batch.verdict)) {
        batch.had += 1;
        return Vec::new();
    }
    draft.labels.extend(missing);
    let mut event = about(summary, hidden, EventKind::Verdict, &review.me);
    draft.fill(&mut event);
    event.verdict = Some(batch.verdict);
    // A label more is no second look.
    event.times.shown = fresh.and_then(|mine| mine.times.shown.clone());
    event.supersedes = mine.map(|mine| mine.event_id);
    let event = review.say(event);
    batch.events.push(event.event_id.clone());
    append(log, review, event)
}
