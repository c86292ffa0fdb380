//! What the keys of reviewing mean: verdicts and what belongs to them, undo, and which record comes next.

use crossterm::event::{KeyCode, KeyEvent};

use crate::app::allowed::need;
use crate::app::msg::Effects;
use crate::app::msg::Work;
use crate::app::opened::Opened;
use crate::app::review::agenda::{Agenda, Standing};
use crate::app::review::{Draft, Place, Resume, Subject, Unsaved, Wait};
use crate::app::scribe::Task;
use crate::app::state::App;
use crate::screens::kind::ScreenKind;
use crate::screens::table::state::SortBy;
use crate::widgets::keymap::{Action, Key};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::review::event::{Event, EventKind, GoldStatus, Text, Verdict};
use stepscope_core::review::hide::Hide;
use stepscope_core::review::stats::name_of;
use stepscope_core::triage::Fix;
use stepscope_io::config::session::FileView;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::Effect;

/// A record with a longer text is not read ahead.
const MAX_AHEAD: u32 = 4 << 20;
/// So many keys may wait.
const MAX_WAITING: usize = 256;

/// Work about reviews.
pub(crate) fn task(task: Task) -> Effect<Work> {
    Effect::Work(Work::Review(task))
}

/// An event on its way to the disk.
pub(crate) fn append(unsaved: &Unsaved) -> Effect<Work> {
    task(Task::Append(unsaved.n, Box::new(unsaved.event.clone())))
}

/// Why verdict keys do nothing.
const OFF: &str = "Not reviewing, nothing is saved. Type :review to begin, or start with --queue";

impl App {
    /// Whether a review was begun; if not, how to begin one.
    pub(crate) fn may_review(&self) -> Result<(), &'static str> {
        match self.review.place {
            Place::Nowhere(why) => Err(why),
            Place::Journal => need(self.review.reviewing, OFF),
        }
    }

    /// Begins a review, or ends it. What was begun of a verdict is kept.
    pub(crate) fn turn_review(&mut self) -> Effects {
        self.review.reviewing = !self.review.reviewing;
        if !self.review.reviewing {
            self.review.draft.choosing = false;
            self.say(Shown::own("Review ended, verdict keys are off. :review begins again"));
            return self.keep_drafts();
        }
        let effects = if self.review.subject.is_none() { self.review_opened() } else { Vec::new() };
        let me = self.review.me.id.line().cut(30);
        self.say(shown!("Reviewing as {me}: a pass, x fail, ? all keys. :review ends the review"));
        effects
    }

    /// Whether a key of reviewing means something now; `None`: it is no such key.
    pub(crate) fn review_allowed(&self, screen: ScreenKind, action: Action) -> Option<Result<(), &'static str>> {
        use Action as A;
        let on = |then: Result<(), &'static str>| self.may_review().and(then);
        let here = match screen {
            ScreenKind::Table => need(self.record().is_some(), "there is no record here"),
            ScreenKind::Rerun => Err("go back to the run first: q"),
            _ if screen.is_judged_on() => need(self.screens.inspect().is_some(), "open the record first"),
            _ => Err("open a record, or go back to the table first"),
        };
        let on_table = screen == ScreenKind::Table;
        let choosing = self.review.draft.choosing;
        Some(match action {
            A::Pass
            | A::Fail
            | A::Defer
            | A::Skip
            | A::GoldStatus
            | A::FixTarget
            | A::Correct
            | A::Note
            | A::NextOpen => on(here),
            A::BadStep => {
                let steps = self.screens.inspect().is_some_and(|inspect| inspect.opened.has_steps());
                on(here.and(need(!on_table, "open the record first").and(need(steps, "this record has no steps"))))
            }
            A::Reveal => on(need(
                self.review.subject.as_ref().is_some_and(|subject| !subject.hidden.is_empty()) && !on_table,
                "nothing is hidden here",
            )),
            A::Undo | A::Redo if !screen.is_judged_on() => on(here),
            A::Undo => on(need(!self.review.to_undo().is_empty(), "there is nothing to undo")),
            A::Redo => on(need(self.review.can_redo(), "there is nothing to redo")),
            A::LabelAll => on(need(on_table, "go back to the table first").and(here)),
            A::GiveLabel | A::SaveFail | A::FindLabel | A::PutAside => need(choosing, "x first: the item fails"),
            _ => return None,
        })
    }

    /// Does what a key of reviewing means; `None`: it is no such key.
    pub(crate) fn review_action(&mut self, action: Action) -> Option<Effects> {
        use Action as A;
        let _ = self.review_allowed(self.screens.top(), action)?;
        if !self.review.read && self.review.is_on() {
            self.review.wait = Some(Wait::Journal(action));
            return Some(Vec::new());
        }
        Some(match action {
            A::NextOpen => self.go_to_open(),
            A::Undo => self.undo(),
            A::Redo => self.redo(),
            A::LabelAll => self.ask_label_all(),
            _ if self.screens.top() != ScreenKind::Table => self.review_subject(action),
            _ => {
                let Some(record) = self.record() else { return Some(Vec::new()) };
                match &self.review.subject {
                    Some(subject) if subject.record == record => self.review_subject(action),
                    // What is judged is judged by its content, so it is read first.
                    _ => self.read_subject(record, action),
                }
            }
        })
    }

    pub(crate) fn read_subject(&mut self, record: usize, action: Action) -> Effects {
        let Some(work) = self.read_record(record) else { return Vec::new() };
        self.review.wait = Some(Wait::Subject(record, action));
        vec![work]
    }

    /// Does what a key means for the subject.
    pub(crate) fn review_subject(&mut self, action: Action) -> Effects {
        use Action as A;
        match action {
            A::Pass => self.judge(Verdict::Pass),
            A::Defer => self.judge(Verdict::Defer),
            A::Skip => self.judge(Verdict::Skip),
            A::Fail => {
                if !self.review.draft.choosing {
                    self.take_up();
                    self.review.draft.choosing = true;
                }
                self.keep_drafts()
            }
            A::SaveFail => self.judge(Verdict::Fail),
            A::PutAside => {
                self.review.draft.choosing = false;
                if !self.review.draft.is_empty() {
                    self.say(Shown::own("not saved; x goes on where you were"));
                }
                self.keep_drafts()
            }
            A::GoldStatus => {
                self.take_up();
                let next = match self.review.draft.gold {
                    None => Some(GoldStatus::Suspect),
                    Some(GoldStatus::Suspect) => Some(GoldStatus::Wrong),
                    Some(GoldStatus::Wrong) => Some(GoldStatus::Ok),
                    Some(GoldStatus::Ok) => None,
                };
                self.review.draft.gold = next;
                let word = next.map_or("nothing said of it", GoldStatus::word);
                self.amend(&shown!("gold answer: {word}"))
            }
            A::FixTarget => {
                self.take_up();
                let proposed = self.review.subject.as_ref().and_then(|subject| subject.card.fix);
                let order = [Fix::StepRun, Fix::Procedure, Fix::Gold];
                let first = proposed.filter(|fix| order.contains(fix)).unwrap_or(Fix::StepRun);
                let at = order.iter().position(|fix| *fix == first).unwrap_or(0);
                let round: Vec<Fix> = order.iter().cycle().skip(at).take(order.len()).copied().collect();
                let now = self.review.draft.target.as_ref();
                let place = round.iter().position(|fix| now.is_some_and(|target| *target == fix.word()));
                let next = if now.is_none() { Some(first) } else { place.and_then(|n| round.get(n + 1).copied()) };
                self.review.draft.target = next.map(|fix| Text::from(fix.word()));
                let phrase = next.map_or("fix: nothing said", Fix::phrase);
                self.amend(&Shown::own(phrase))
            }
            A::Reveal => self.reveal(),
            A::BadStep => self.ask_step(),
            A::GiveLabel => match self.count.and_then(|n| n.checked_sub(1)) {
                Some(n) => self.give_nth(n),
                None => Vec::new(),
            },
            A::Note => self.ask_note(),
            A::Correct => self.ask_correction(),
            A::FindLabel => self.ask_labels(),
            _ => Vec::new(),
        }
    }

    /// What is typed while something is being read comes later, in its order; `None`: this does.
    pub(crate) fn must_wait(&mut self, input: Input) -> Option<Input> {
        let is_interrupt = |event: &KeyEvent| Some(Key::from_event(*event)) == Key::from_name("^C");
        match &input {
            _ if self.review.wait.is_none() => return Some(input),
            Input::Background(_) | Input::FocusGained | Input::FocusLost => return Some(input),
            Input::Key(event) if is_interrupt(event) => return Some(input),
            Input::Key(event) if event.code == KeyCode::Esc => {
                self.review.wait = None;
                self.review.ahead.clear();
                self.opening = None;
            }
            _ if self.review.ahead.len() < MAX_WAITING => self.review.ahead.push(input),
            _ => {}
        }
        None
    }

    /// What was waited for is there: the keys go on.
    pub(crate) fn go_on(&mut self) -> Effects {
        self.review.wait = None;
        let mut inputs = std::mem::take(&mut self.review.ahead).into_iter();
        let mut effects = Vec::new();
        while let Some(input) = inputs.next() {
            effects.extend(self.input(input));
            if self.review.wait.is_some() {
                self.review.ahead.extend(inputs);
                break;
            }
            self.settle();
        }
        effects
    }

    // Verdicts.

    /// What was said before is the beginning of what is said now, unless something was begun already.
    pub(crate) fn take_up(&mut self) {
        let again = self.review.subject.as_ref().is_some_and(|subject| subject.again);
        if self.review.draft.is_empty() && !again {
            self.review.draft = self.review.verdict().map(Draft::of).unwrap_or_default();
        }
    }

    pub(crate) fn judge(&mut self, verdict: Verdict) -> Effects {
        self.take_up();
        let mut draft = std::mem::take(&mut self.review.draft);
        if verdict != Verdict::Fail {
            draft.labels.clear();
            draft.step = None;
        }
        let mut effects = self.write_label_set(&draft);
        let Some(event) = self.verdict_event(verdict, draft) else { return effects };
        let name = name_of(event.item.as_ref().unwrap_or(&stepscope_core::review::event::Item::default())).line();
        self.review.count_item();
        effects.extend(self.say_event(event));
        self.say(shown!("{} {}: {name}", glyph(verdict), verdict.word()));
        effects.extend(self.keep_drafts());
        effects.extend(self.advance());
        effects
    }

    /// A verdict on the subject, in place of my earlier one.
    pub(crate) fn verdict_event(&self, verdict: Verdict, draft: Draft) -> Option<Event> {
        let mut event = self.review.event(EventKind::Verdict)?;
        draft.fill(&mut event);
        event.verdict = Some(verdict);
        let card = &self.review.subject.as_ref()?.card;
        let earlier = self.review.reviews.find(&card.item, Some(&card.content));
        let earlier = earlier.and_then(|reviewed| reviewed.verdict_of(&self.review.me.id));
        event.supersedes = earlier.map(|earlier| earlier.event_id.clone());
        Some(event)
    }

    /// A change of what belongs to a verdict: of one that was given it is saved at once, else it goes with the next.
    pub(crate) fn amend(&mut self, what: &Shown) -> Effects {
        let again = self.review.subject.as_ref().is_some_and(|subject| subject.again);
        let given = self.review.verdict().and_then(|event| event.verdict);
        let Some(verdict) = given.filter(|_| !self.review.draft.choosing && !again) else {
            self.say(shown!("{what}; saved with your verdict"));
            return self.keep_drafts();
        };
        let draft = std::mem::take(&mut self.review.draft);
        let mut effects = self.write_label_set(&draft);
        if let Some(event) = self.verdict_event(verdict, draft) {
            effects.extend(self.say_event(event));
        }
        self.say(what.clone());
        effects.extend(self.keep_drafts());
        effects
    }

    /// Says something, and lets it be saved.
    pub(crate) fn say_event(&mut self, event: Event) -> Effects {
        let unsaved = self.review.say(event);
        self.review.leaving = None;
        self.count_progress();
        self.review.count_since_new_label();
        vec![append(&unsaved)]
    }

    /// The labels that are offered are written down before the first is given.
    pub(crate) fn write_label_set(&mut self, draft: &Draft) -> Effects {
        if draft.labels.is_empty() || !self.review.labels_are_offered() {
            return Vec::new();
        }
        let mut event = Event::new(EventKind::LabelSet, self.review.me.clone());
        event.label_set = Some(self.review.label_set());
        self.say_event(event)
    }

    /// What is about to be said outlives a crash.
    pub(crate) fn keep_drafts(&self) -> Effects {
        vec![task(Task::Keep(self.review.to_keep()))]
    }

    pub(crate) fn reveal(&mut self) -> Effects {
        let Some(mut event) = self.review.event(EventKind::Reveal) else { return Vec::new() };
        let Some(subject) = &self.review.subject else { return Vec::new() };
        let (record, hidden) = (subject.record, subject.hidden);
        event.revealed = hidden.words();
        self.review.reveal(record);
        let mut effects = self.say_event(event);
        self.say(shown!("shown: {}; it is recorded that you looked", hidden.phrase()));
        effects.extend(self.request(record, self.screens.top()));
        effects
    }

    // Undo.

    pub(crate) fn undo(&mut self) -> Effects {
        let events: Vec<Event> = self.review.to_undo().into_iter().cloned().collect();
        let Some(last) = events.last() else { return Vec::new() };
        let what = match events.len() {
            1 => what_of(last),
            n => shown!("{n} labels given together"),
        };
        let item = last.item.clone();
        let (mut effects, mut ids) = (Vec::new(), Vec::new());
        for event in &events {
            let undo = self.review.say(Event::undo(self.review.me.clone(), event));
            effects.push(append(&undo));
            ids.push(undo.event.event_id);
        }
        self.review.push_undone(ids);
        self.count_progress();
        self.say(shown!("undone: {what}; U does it again"));
        if let Some(record) = item.and_then(|item| self.review.record_of(&item)) {
            effects.extend(self.go_to_record(record));
        }
        effects
    }

    pub(crate) fn redo(&mut self) -> Effects {
        let undos = self.review.pop_undone();
        let mut effects = Vec::new();
        for undo in &undos {
            let redo = self.review.say(Event::undo(self.review.me.clone(), undo));
            effects.push(append(&redo));
        }
        self.count_progress();
        self.say(Shown::own("done again"));
        let item = undos.first().and_then(|undo| undo.item.as_ref());
        if let Some(record) = item.and_then(|item| self.review.record_of(item)) {
            effects.extend(self.go_to_record(record));
        }
        effects
    }

    /// To a record, on the screen that is in front.
    pub(crate) fn go_to_record(&mut self, record: usize) -> Effects {
        self.table.list.at = self.table.row_of(record);
        let here = self.screens.inspect().is_some_and(|inspect| inspect.opened.index == record);
        if self.screens.top() == ScreenKind::Table || here {
            Vec::new()
        } else {
            self.request(record, self.screens.top())
        }
    }

    /// Gives again what could not be saved.
    pub(crate) fn save_verdicts_again(&mut self) -> Effects {
        self.review.again().iter().map(append).collect()
    }

    // The queue.

    /// The record that comes after another: one that I did not judge, then those that I deferred, then those that are to
    /// be judged a second time.
    pub(crate) fn next_item(&mut self, from: usize) -> Option<usize> {
        self.follow_agenda();
        let (rows, here) = (self.rows(), self.table.row_of(from));
        // A filter may hide the record itself meanwhile: then the next one stands in its place.
        let own = Some(here).filter(|row| self.table.record(*row) == Some(from));
        self.review.agenda.next(here, rows, own).and_then(|row| self.table.record(row))
    }

    /// Brings the agenda up to what was said since it was made; after the order of the table has changed it is made anew,
    /// from what is known of records: of most nobody said anything.
    pub(crate) fn follow_agenda(&mut self) {
        let records = self.review.take_changed().unwrap_or_else(|| {
            self.review.agenda = Agenda::default();
            let forks = self.forks.family.addresses().filter_map(|(source, byte)| self.store.position(source, byte));
            forks.chain(self.review.known_records().map(|(record, _)| record)).collect()
        });
        for record in records {
            let row = self.table.row_of(record);
            if self.table.record(row) == Some(record) {
                let standing = self.standing_of(record);
                self.review.agenda.set(row, standing);
            }
        }
    }

    pub(crate) fn standing_of(&self, record: usize) -> Option<Standing> {
        if self.fork_of(record).is_some() {
            return Some(Standing::Fork);
        }
        match self.review.known(record)?.judged.mine? {
            Verdict::Defer => Some(Standing::Deferred),
            _ => Some(Standing::Done(self.review.is_due_again(record))),
        }
    }

    pub(crate) fn go_to_open(&mut self) -> Effects {
        let here = match self.screens.top() {
            ScreenKind::Table => self.record(),
            _ => self.screens.inspect().map(|inspect| inspect.opened.index),
        };
        let Some(record) = here.and_then(|here| self.next_item(here)) else {
            self.say(Shown::own("every other record is judged"));
            return Vec::new();
        };
        self.review.expect(record);
        self.go_to_record(record)
    }

    /// On to the next item.
    pub(crate) fn advance(&mut self) -> Effects {
        let Some(subject) = &self.review.subject else { return Vec::new() };
        let Some(record) = self.next_item(subject.record) else {
            let (done, all) = self.review.progress;
            let rest = if done < all { ", the rest is deferred" } else { "" };
            self.say(shown!("that was the last: {done} of {all} judged{rest}; q goes back, u undoes"));
            return Vec::new();
        };
        self.review.expect(record);
        self.table.list.at = self.table.row_of(record);
        if self.screens.top() == ScreenKind::Table {
            self.review.put_aside();
            return Vec::new();
        }
        let status = self.status.take();
        self.review.wait = Some(Wait::Next(record));
        let effects = self.request(record, self.screens.top());
        if self.opening.is_none() {
            self.review.wait = None;
        }
        self.status = status;
        effects
    }

    /// How far the queue is done.
    pub(crate) fn count_progress(&mut self) {
        self.follow_agenda();
        self.review.progress = self.review.agenda.progress(self.rows());
        if self.table.from_front {
            self.table.list.at = self.front_row();
        }
    }

    /// What is left out of a record when it is read now.
    pub(crate) fn hide_for(&self, record: usize) -> Hide {
        self.review.hide_for(record)
    }

    // Records that come and go.

    /// A record was opened: keys are about it from now on, and the next one is read ahead.
    pub(crate) fn review_opened(&mut self) -> Effects {
        let Some(opened) = self.screens.inspect().map(|inspect| &inspect.opened) else { return Vec::new() };
        if !self.review.is_on() {
            return Vec::new();
        }
        let Some(mut subject) = subject_of(opened) else { return Vec::new() };
        let record = subject.record;
        if let Some((_, address, true)) = self.fork_of(record) {
            subject.card.execution = self.forks.family.execution(address).into();
        }
        self.review.look_at(subject);
        self.resumed();
        let mut effects = vec![task(Task::Look)];
        if self.review.reviewing {
            effects.extend(self.read_ahead(record));
        }
        if matches!(self.review.wait, Some(Wait::Next(next)) if next == record) {
            effects.extend(self.go_on());
        }
        effects
    }

    pub(crate) fn read_ahead(&mut self, from: usize) -> Option<Effect<Work>> {
        let next = self.next_item(from).filter(|next| *next != from)?;
        let near = self.store.row(next).is_some_and(|row| row.len <= MAX_AHEAD);
        let there = self.review.prefetched.as_ref().is_some_and(|opened| opened.index == next);
        if !near || there || self.review.prefetching == Some(next) {
            return None;
        }
        self.review.prefetched = None;
        self.review.prefetching = Some(next);
        self.read_record(next)
    }

    /// Whether a record that was read is wanted here, not to be opened.
    pub(crate) fn take_review_record(&mut self, opened: &mut Option<Box<Opened>>, record: usize) -> Effects {
        if self.review.prefetching == Some(record) {
            self.review.prefetching = None;
            if self.opening.is_none_or(|(wanted, _)| wanted != record)
                && !matches!(self.review.wait, Some(Wait::Subject(..)))
            {
                self.review.prefetched = opened.take();
                return Vec::new();
            }
        }
        match self.review.wait {
            Some(Wait::Subject(wanted, action)) if wanted == record => {
                self.review.wait = None;
                let Some(subject) = opened.as_deref().and_then(subject_of) else {
                    self.review.ahead.clear();
                    return Vec::new();
                };
                self.review.look_at(subject);
                let mut effects = self.review_subject(action);
                if self.review.wait.is_none() {
                    effects.extend(self.go_on());
                }
                effects
            }
            _ => Vec::new(),
        }
    }

    /// A record could not be read: nothing waits for it any more. `true`: something did.
    pub(crate) fn review_unread(&mut self, record: usize) -> bool {
        let waits = matches!(self.review.wait, Some(Wait::Subject(wanted, _) | Wait::Next(wanted)) if wanted == record);
        if waits {
            self.review.wait = None;
            self.review.ahead.clear();
        }
        if self.review.prefetching == Some(record) {
            self.review.prefetching = None;
        }
        waits
    }

    /// The record that was read ahead, if it is this one and shows what it may.
    pub(crate) fn take_prefetched(&mut self, record: usize) -> Option<Box<Opened>> {
        let hide = self.hide_for(record);
        self.review.prefetched.take_if(|opened| opened.index == record && opened.hidden == hide)
    }

    /// Back at the table, what the filter hides by now is hidden.
    pub(crate) fn review_left(&mut self) {
        if self.table.filter.needs_reviews() {
            self.arrange();
        }
    }

    /// Keys on the table are about the row under the cursor.
    pub(crate) fn settle_review(&mut self) {
        if self.screens.top() == ScreenKind::Table && self.dialog.is_none() {
            let here = self.record();
            if self.review.subject.as_ref().is_some_and(|subject| Some(subject.record) != here) {
                self.review.put_aside();
            }
        }
    }

    /// Somebody who does something does not leave, and does not go where the last session was.
    pub(crate) fn stay(&mut self, action: Action) {
        if !matches!(action, Action::Quit | Action::Back) {
            self.review.leaving = None;
        }
        self.review.resume = None;
    }

    /// Where somebody who reviews is, for the next session.
    pub(crate) fn keep_place(&self, view: &mut FileView) {
        let Some(inspect) =
            self.screens.inspect().filter(|_| self.screens.top() != ScreenKind::Table && self.review.is_begun())
        else {
            return;
        };
        let list = match (self.screens.top(), &inspect.evidence) {
            (ScreenKind::Json, _) => inspect.outline.list,
            (_, Some(evidence)) => evidence.items,
            _ => inspect.variables,
        };
        view.record = inspect.opened.index as u64;
        view.screen = Some(if self.screens.top() == ScreenKind::Json { "json" } else { "record" }.to_owned());
        (view.step, view.scroll) = (Some(inspect.moment.0), Some((list.at, list.top)));
    }

    /// Goes back to where somebody stopped reviewing, once that record is found.
    pub(crate) fn resume_at(&mut self, view: &FileView) {
        let record = usize::try_from(view.record).ok();
        let resume = |(record, screen): (usize, &String)| {
            let json = screen == "json";
            Resume { record, json, step: view.step, scroll: view.scroll }
        };
        self.review.resume = record.zip(view.screen.as_ref()).map(resume);
    }

    /// Opens the record at which somebody stopped, as soon as it is there.
    pub(crate) fn resume(&mut self) -> Effects {
        let there = self.review.resume.filter(|resume| resume.record < self.store.len() && self.opening.is_none());
        match there {
            Some(resume) if self.screens.top() == ScreenKind::Table => {
                self.request(resume.record, if resume.json { ScreenKind::Json } else { ScreenKind::Run })
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn resumed(&mut self) {
        let top = self.screens.top();
        let here = self.screens.inspect_mut();
        let Some((inspect, resume)) = here.zip(self.review.resume.take()) else { return };
        if inspect.opened.index != resume.record {
            return;
        }
        if let Some(step) = resume.step {
            inspect.walk_to(step);
        }
        let list = match (top, &mut inspect.evidence) {
            (ScreenKind::Json, _) => &mut inspect.outline.list,
            (_, Some(evidence)) => &mut evidence.items,
            _ => &mut inspect.variables,
        };
        if let Some((at, top)) = resume.scroll {
            (list.at, list.top) = (at, top);
        }
    }

    /// The queue order from the start.
    pub fn begin_queue(&mut self) {
        self.table.sort = SortBy::Review;
        self.table.descending = false;
        self.table.from_front = self.return_to.is_none() && self.review.resume.is_none();
        self.arrange();
    }

    /// The first row that is still to be judged, else the first.
    pub(crate) fn front_row(&self) -> usize {
        self.review.agenda.first(self.rows()).unwrap_or(0)
    }
}

pub(crate) fn subject_of(opened: &Opened) -> Option<Subject> {
    let card = opened.card.as_deref()?.clone();
    let step = opened.verdict.as_ref().and_then(|verdict| verdict.step).map(|step| step as u64 + 1);
    Some(Subject::new(opened.index, card, step, opened.steps.len() as u64, opened.hidden))
}

/// The sign of a verdict.
pub(crate) const fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✓",
        Verdict::Fail => "✗",
        Verdict::Defer => "◷",
        Verdict::Skip => "»",
    }
}

/// An event in a few words.
fn what_of(event: &Event) -> Shown {
    let item = event.item.as_ref().map(|item| name_of(item).line()).unwrap_or_default();
    match (event.kind, event.verdict) {
        (EventKind::LabelSet, _) => Shown::own("the change of the labels"),
        (EventKind::Note, _) => shown!("the note on {item}"),
        (_, Some(verdict)) => shown!("{} {item}", verdict.word()),
        _ => item,
    }
}
