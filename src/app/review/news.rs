//! What the threads of the reviews report, the end of a session, and records that are labelled all at once.

use std::time::Instant;

use crate::app::msg::Effects;
use crate::app::review::keys::{append, task};
use crate::app::review::{Batch, Draft, Wait, about};
use crate::app::scribe::{News, Task};
use crate::app::state::App;
use crate::app::update::REARRANGE;
use crate::widgets::keymap;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::card::Card;
use stepscope_core::review::event::{EventKind, LabelRef, Verdict};
use stepscope_core::review::hide::Hide;
use stepscope_io::search::Plan;
use stepscope_terminal::run::Effect;

impl App {
    pub(crate) fn review_news(&mut self, news: News, now: Instant) -> Effects {
        match news {
            News::Saved(n, met) => {
                self.review.take_saved(n);
                if met.anew {
                    self.fail(Shown::own("the journal was moved away meanwhile; a new one was begun"));
                } else if met.sealed {
                    self.say(Shown::own("the last line of the journal was torn: its writer was stopped; it stays"));
                }
                let mut effects = vec![task(Task::Look)];
                if self.review.leaving.is_some() && self.review.unsaved.is_empty() {
                    effects.extend([self.keep(), Effect::Quit(0)]);
                }
                effects
            }
            News::Failed(n, failure) => {
                self.fail(shown!("NOT SAVED: {failure}; {} saves it again", self.key_of_save_again()));
                self.review.take_failed(n, failure);
                self.keep_drafts()
            }
            News::Events(events, anew, sentences) => {
                let first = !std::mem::replace(&mut self.review.read, true);
                if let Some(sentence) = sentences.into_iter().next() {
                    self.fail(sentence);
                }
                let mut effects = Vec::new();
                if self.review.take_events(events, anew) {
                    effects.extend(self.find_reviewed());
                    self.reviews_changed();
                }
                if first && let Some(Wait::Journal(action)) = self.review.wait.take() {
                    effects.extend(self.act(action));
                    if self.review.wait.is_none() {
                        effects.extend(self.go_on());
                    }
                }
                effects
            }
            News::Trouble(failure) => {
                self.fail(shown!("{failure}"));
                self.review.trouble = Some(failure);
                Vec::new()
            }
            News::Kept(events) => {
                self.review.take_kept(events);
                let (drafts, failed) = (self.review.aside.len(), self.review.unsaved.len());
                let saves = self.key_of_save_again();
                match (drafts, failed) {
                    (_, 1..) => {
                        self.fail(shown!("{failed} verdicts of the last session are NOT SAVED; {saves} saves them"));
                    }
                    (1.., _) => self.say(shown!(
                        "half-finished verdicts of the last session: {drafts}; they come back with their records"
                    )),
                    _ => {}
                }
                self.reviews_changed();
                Vec::new()
            }
            News::NotKept(failure) => {
                self.fail(shown!("{failure}"));
                Vec::new()
            }
            News::Found(moves, records) => {
                if moves != self.table.moves() {
                    return Vec::new();
                }
                let reading = |record: u32| {
                    let record = record as usize;
                    Some((record, self.store.reading(record)?, *self.store.row(record)?))
                };
                let records: Vec<_> = records.into_iter().filter_map(reading).collect();
                if records.is_empty() { Vec::new() } else { vec![task(Task::Cards(moves, None, records))] }
            }
            News::Cards(moves, None, cards) => {
                if moves == self.table.moves() {
                    for (record, card) in cards {
                        if let Some(card) = card {
                            self.review.learn(record, card.item, card.content);
                        }
                    }
                    // Counted and put in order with the next tick: there may be many more.
                    self.arrange_at = self.arrange_at.or(Some(now + REARRANGE));
                }
                Vec::new()
            }
            News::Cards(_, Some(id), cards) => self.label_cards(id, cards),
        }
    }

    /// What the table shows of reviews has changed.
    pub(crate) fn reviews_changed(&mut self) {
        if self.table.filter.needs_reviews() {
            self.arrange();
        }
        self.count_progress();
        self.review.count_since_new_label();
    }

    pub(crate) fn key_of_save_again(&self) -> String {
        let row = keymap::BINDINGS.iter().find(|binding| binding.action == keymap::Action::SaveAgain);
        row.and_then(|row| self.keymap.names(row).first().cloned()).unwrap_or_default()
    }

    /// Looks for the records that somebody judged.
    pub(crate) fn find_reviewed(&mut self) -> Effects {
        let fresh = self.review.wanted();
        let moves = self.table.moves();
        let mut effects = Vec::new();
        let from = std::mem::replace(&mut self.review.looked_through, self.store.len());
        // What is looked for anew is looked for everywhere, the rest in what came since.
        let sought = self.review.sought();
        for (ids, first, begun) in [(fresh, 0, from > 0), (sought, from, true)] {
            if begun && !ids.is_empty() && first < self.store.len() {
                effects.push(task(Task::Find(moves, ids, Plan::of(&self.store, first, |_| true))));
            }
        }
        effects
    }

    /// More records were found, or they have other numbers now.
    pub(crate) fn review_loaded(&mut self, moved: bool) -> Effects {
        if moved {
            self.review.forget_records();
            if !matches!(self.review.wait, None | Some(Wait::Journal(_))) {
                self.review.wait = None;
                self.review.ahead.clear();
                self.fail(Shown::own("the file has changed meanwhile; look again before you judge"));
            }
            if let (Some(inspect), Some(subject)) = (self.screens.inspect(), &mut self.review.subject) {
                subject.record = inspect.opened.index;
                let (record, card) = (subject.record, subject.card.clone());
                self.review.learn(record, card.item, card.content);
            } else {
                self.review.put_aside();
            }
        }
        if !self.store.is_settled() {
            return Vec::new();
        }
        self.count_progress();
        self.find_reviewed()
    }

    // The end.

    /// Nothing that was said is left behind without a word. `None`: the session may end.
    pub(crate) fn hold_quit(&mut self) -> Option<Effects> {
        if self.review.unsaved.is_empty() {
            return None;
        }
        let failed = self.review.unsaved.iter().filter(|unsaved| unsaved.failure.is_some()).count();
        let said = self.review.leaving.replace(failed > 0);
        match (said, failed) {
            // It was said before.
            (Some(said), _) if said == (failed > 0) => None,
            (_, 0) => {
                self.say(Shown::own("saving…; stepscope ends when it is done, quit again ends it now"));
                Some(Vec::new())
            }
            _ => {
                let saves = self.key_of_save_again();
                self.fail(shown!(
                    "{failed} verdicts are NOT SAVED: {saves} tries again; quit again leaves, the next start offers them"
                ));
                Some(self.keep_drafts())
            }
        }
    }

    // Many at once.

    pub(crate) fn begin_batch(&mut self, records: &[usize], label: LabelRef) -> Effects {
        let moves = self.table.moves();
        let read = |record: &usize| Some((*record, self.store.reading(*record)?, *self.store.row(*record)?));
        let readings: Vec<_> = records.iter().filter_map(read).collect();
        let id = self.new_search_id();
        let draft = Draft { labels: vec![label.clone()], ..Draft::default() };
        let effects = self.write_label_set(&draft);
        self.review.batch = Some(Batch { id, label, left: readings.len(), done: 0, passed: 0, events: Vec::new() });
        self.say(shown!("labelling {} records…", readings.len()));
        effects.into_iter().chain([task(Task::Cards(moves, Some(id), readings))]).collect()
    }

    pub(crate) fn label_cards(&mut self, id: u64, cards: Vec<(usize, Option<Box<Card>>)>) -> Effects {
        let Some(mut batch) = self.review.batch.take_if(|batch| batch.id == id) else { return Vec::new() };
        let mut effects = Vec::new();
        for (record, card) in cards {
            batch.left = batch.left.saturating_sub(1);
            let Some(card) = card else { continue };
            effects.extend(self.label_card(record, &card, &mut batch));
        }
        self.count_progress();
        if batch.left > 0 {
            self.review.batch = Some(batch);
            return effects;
        }
        let passed = match batch.passed {
            0 => Shown::default(),
            n => shown!("; {n} that you passed are left as they are"),
        };
        self.say(shown!("{} records labelled{passed}; u takes all of it back", batch.done));
        self.review.push_batch(batch.events);
        effects
    }

    pub(crate) fn label_card(&mut self, record: usize, card: &Card, batch: &mut Batch) -> Effects {
        self.review.learn(record, card.item.clone(), card.content);
        let reviewed = self.review.reviews.find(&card.item, Some(&card.content));
        let mine = reviewed.and_then(|reviewed| reviewed.verdict_of(&self.review.me.id)).cloned();
        let fresh = mine.as_ref().filter(|mine| stepscope_core::review::fold::is_fresh(mine, Some(&card.content)));
        if fresh.is_some_and(|mine| mine.verdict == Some(Verdict::Pass)) {
            batch.passed += 1;
            return Vec::new();
        }
        let mut draft = fresh.map(Draft::of).unwrap_or_default();
        batch.done += 1;
        if fresh.is_some_and(|mine| mine.verdict == Some(Verdict::Fail))
            && draft.labels.iter().any(|label| label.id == batch.label.id && label.set == batch.label.set)
        {
            return Vec::new();
        }
        draft.labels.push(batch.label.clone());
        let mut event = about(card, Hide::default(), EventKind::Verdict, &self.review.me);
        draft.fill(&mut event);
        event.verdict = Some(Verdict::Fail);
        event.supersedes = mine.map(|mine| mine.event_id);
        let unsaved = self.review.say(event);
        batch.events.push(unsaved.event.event_id.clone());
        vec![append(&unsaved)]
    }
}
