//! Keys of reviewing: verdicts and what belongs to them, undo, and which record comes next.

use crossterm::event::{KeyCode, KeyEvent};

use crate::app::fork_tree::ForkTree;
use crate::app::msg::{Effect, Effects};
use crate::app::open_record::OpenRecord;
use crate::app::records::fork_count;
use crate::app::review::ask::offered;
use crate::app::review::news::save_said;
use crate::app::review::order::{drawn, group_queue, next_ahead, next_item, same_verdict, verdicts_given};
use crate::app::review::verdict::glyph;
use crate::app::review::{NO_VERDICT, Resume, Review, ReviewTarget, Wait, ask};
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::adjudication::state::Adjudication;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::screens::table::state::SortBy;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Key, Keymap, Reason};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::session::FileView;
use stepscope_io::pipeline::store::Store;
use stepscope_review::event::{AnswerPart, Verdict};
use stepscope_terminal::input::Input;

/// Length of a question where other text needs the room.
const SHORT: usize = 12;
/// Largest number of inputs that may wait.
const MAX_WAITING: usize = 256;

impl App {
    /// The queue order from the start.
    pub fn begin_queue(&mut self) {
        self.table.sort = SortBy::Review;
        self.table.descending = false;
        self.table.from_front = self.return_to.is_none() && self.review.resume.is_none();
        self.arrange();
    }
}

/// Begins a review, or ends it. What was begun of a verdict is kept.
pub(crate) fn turn_review(app: &mut App) -> Effects {
    app.review.reviewing = !app.review.reviewing;
    if !app.review.reviewing {
        app.review.draft.choosing = false;
        app.review.same = Err(NO_VERDICT);
        app.review.drafts_changed = true;
        return app.status.say(Shown::own("Review ended, verdict keys are off. :review starts again"));
    }
    let effects = if app.review.target.is_none() { look_at_open(app) } else { Vec::new() };
    group_queue(&mut app.review, &app.store, &app.table, &app.forks.tree);
    let me = app.review.me.id.line().cut(30);
    let keys = app.keymap.shown("<pass> pass, <fail> fail, <help> all keys");
    app.status.say(shown!("Reviewing as {me}: {keys}. :review ends the review"));
    effects
}

/// Does what a key of reviewing means.
pub(crate) fn review_action(app: &mut App, action: Action) -> Effects {
    use Action as A;
    let App { review, screens, keymap, status, .. } = app;
    let names_item = app.count.is_some() && matches!(action, A::Pass | A::Fail);
    if names_item && screens.top() != ScreenKind::Answer {
        return status.refuse(keymap, "a number before <pass> or <fail> names an item of an answer; open one first");
    }
    if !review.read && review.is_on() {
        if names_item {
            // The number would be forgotten meanwhile, and the key mean the whole record.
            return status.refuse(keymap, "reading the review log; press it again");
        }
        review.wait = Some(Wait::Journal(action));
        return Vec::new();
    }
    match action {
        A::NextOpen => match next_open(review, screens, &app.store, &app.table, &app.forks.tree) {
            Ok(record) => go_to_record(app, record),
            Err(why) => status.say(keymap.shown(why)),
        },
        A::Undo | A::Redo => {
            let done = undo(review, &mut app.kept.adjudication, screens.top(), keymap, action);
            let Some((said, record)) = done else { return Vec::new() };
            status.say(said);
            record.map_or_else(Vec::new, |record| go_to_record(app, record))
        }
        A::LabelAll | A::SameVerdict => {
            match ask::of_many(review, &app.store, &app.table, keymap, action) {
                Ok(ask) => app.screens.open_dialog(Dialog::Review(ask)),
                Err(why) => _ = status.fail(why),
            }
            Vec::new()
        }
        A::Guidelines => {
            let text = ask::guidelines(&offered(review, &app.store, &app.table), keymap);
            app.screens.open_dialog(Dialog::Popup(Popup { title: Shown::own("Labels"), text }));
            Vec::new()
        }
        _ if screens.top() != ScreenKind::Table => review_target(app, action),
        _ => {
            let Some(record) = app.record() else { return Vec::new() };
            if app.review.target.as_ref().is_some_and(|target| target.record == record) {
                return review_target(app, action);
            }
            // Verdicts are bound to a content hash: the record is read first.
            let work = read_record(&app.review, &app.store, record);
            app.review.wait = work.as_ref().map(|_| Wait::Target(record, action));
            work.into_iter().collect()
        }
    }
}

/// Does what a key means for the target.
fn review_target(app: &mut App, action: Action) -> Effects {
    use Action as A;
    let App { review, screens, keymap, status, .. } = app;
    if let Some(done) = review_part(review, screens, keymap, action, app.count) {
        match done {
            Ok(said) => _ = said.map(|said| status.say(said)),
            Err(why) => _ = status.refuse(keymap, why),
        }
        return Vec::new();
    }
    match action {
        A::Pass => return judge(app, Verdict::Pass),
        A::Defer => return judge(app, Verdict::Defer),
        A::Skip => return judge(app, Verdict::Skip),
        A::SaveFail => return judge(app, Verdict::Fail),
        A::Fail => review.begin_fail(),
        A::PutAside => {
            (review.draft.choosing, review.drafts_changed) = (false, true);
            if !review.draft.is_empty() {
                status.say(keymap.shown("Kept as a draft; <fail> continues"));
            }
        }
        A::GoldStatus => _ = status.say(review.turn_gold(&keymap.key_of(action), app.size.width)),
        A::FixTarget => _ = status.say(review.turn_fix(&keymap.key_of(action), app.size.width)),
        A::Reveal => {
            let Some((record, hidden)) = review.reveal_target() else { return Vec::new() };
            status.say(shown!("Revealed (logged): {}", hidden.phrase()));
            return app.request(record, app.screens.top());
        }
        A::GiveLabel => {
            let Some(n) = app.count.and_then(|n| n.checked_sub(1)) else { return Vec::new() };
            match offered(review, &app.store, &app.table).get(n) {
                Some(label) => review.toggle(label),
                None => {
                    let key = keymap.key_of(Action::FindLabel);
                    status.say(shown!("no label {}; {key} finds or creates labels", n + 1));
                }
            }
        }
        _ => {
            if let Some(ask) = ask::of_target(review, screens, action) {
                app.screens.open_dialog(Dialog::Review(ask));
            }
        }
    }
    Vec::new()
}

/// Does what a key means for a part of an answer, and returns what is to be said; `None`: it means the whole record.
/// `1a`: item 1 passes.
fn review_part(
    review: &mut Review,
    screens: &Screens,
    keymap: &Keymap,
    action: Action,
    count: Option<usize>,
) -> Option<Result<Option<Shown>, Reason>> {
    use Action as A;
    if let (Some(part), A::SaveFail | A::PutAside) = (review.draft.part, action) {
        let draft = review.leave_part();
        if action == A::SaveFail {
            return Some(Ok(review.judge_part((part, Verdict::Fail), draft.labels, screens, keymap)));
        }
        review.drafts_changed = true;
        return Some(Ok(Some(shown!("No verdict on {}", part.phrase()))));
    }
    let answer = screens.record().filter(|_| screens.top() == ScreenKind::Answer)?.answer.as_ref()?;
    let part = match (action, count) {
        (A::Pass | A::Fail, Some(item)) => {
            let item = item.saturating_sub(1);
            if item >= answer.shown.items.len() {
                return Some(Err("this answer has fewer items"));
            }
            AnswerPart { item: item as u64, citation: None }
        }
        (A::PassPart | A::FailPart, _) => answer.part()?,
        _ => return None,
    };
    if matches!(action, A::Pass | A::PassPart) {
        return Some(Ok(review.judge_part((part, Verdict::Pass), Vec::new(), screens, keymap)));
    }
    review.begin_part(part);
    Some(Ok(None))
}

/// Ends the wait and takes the input that was held back.
pub(crate) fn go_on(app: &mut App) -> Effects {
    app.review.wait = None;
    let mut inputs = std::mem::take(&mut app.review.ahead).into_iter();
    let mut effects = Vec::new();
    loop {
        // What comes next has to know what is not saved.
        effects.extend(save_said(&mut app.review, &mut app.log, &app.store, &mut app.table, &app.forks.tree));
        let Some(input) = inputs.next() else { return effects };
        effects.extend(app.input(input));
        if app.review.wait.is_some() {
            app.review.ahead.extend(inputs);
            return effects;
        }
        app.settle();
    }
}

/// Gives the target a verdict, and advances.
pub(crate) fn judge(app: &mut App, verdict: Verdict) -> Effects {
    let App { review, store, table, keymap, status, .. } = app;
    let Some((name, labels)) = review.give(verdict, drawn(review, store, table)) else { return Vec::new() };
    let record = review.target.as_ref().map(|target| target.record).ok_or(NO_VERDICT);
    review.same = record.and_then(|record| same_verdict(review, store, record, verdict, labels));
    let (glyph, word, undo) = (glyph(verdict), verdict.word(), keymap.key_of(Action::Undo));
    status.say(match &review.same {
        Err(_) => shown!("{glyph} {word}: {name} · {undo} undo"),
        Ok(same) => shown!(
            "{glyph} {word}: {} · {undo} undo · {} same for {} more: {}",
            name.cut(SHORT),
            keymap.key_of(Action::SameVerdict),
            same.records.len(),
            same.rule
        ),
    });
    advance(app)
}

/// Takes back what was said last, or gives it again; returns what is to be said, and the record.
fn undo(
    review: &mut Review,
    adjudication: &mut Adjudication,
    top: ScreenKind,
    keymap: &Keymap,
    action: Action,
) -> Option<(Shown, Option<usize>)> {
    adjudication.sought = None;
    if action == Action::Redo {
        return Some((Shown::own("Redone"), review.redo()));
    }
    let (what, last) = review.undo()?;
    adjudication.sought = last.item.clone().filter(|_| top == ScreenKind::Adjudication);
    Some((shown!("Undone: {what} · {} redo", keymap.key_of(Action::Redo)), review.record_of(&last)))
}

/// Goes to a record, on the screen that is in front. If it is not listed, what changed may be the reason: then all are
/// listed anew.
fn go_to_record(app: &mut App, record: usize) -> Effects {
    if !app.screens.top().is_judged_on() {
        return Vec::new();
    }
    if app.table.listed_row(record).is_none() {
        app.arrange();
    }
    app.table.list.at = app.table.row_of(record);
    let here = app.screens.record().is_some_and(|view| view.opened.index == record);
    if app.screens.top() == ScreenKind::Table || here { Vec::new() } else { app.request(record, app.screens.top()) }
}

// The queue.

/// Finds the record that is to be judged after the one in front, and expects it; `Err`: there is none.
fn next_open(
    review: &mut Review,
    screens: &Screens,
    store: &Store,
    table: &Table,
    forks: &ForkTree,
) -> Result<usize, Reason> {
    let here = match screens.top() {
        ScreenKind::Table => table.chosen(store.len()),
        _ => screens.record().map(|view| view.opened.index),
    };
    let record = here.and_then(|here| next_item(review, store, table, forks, here)).ok_or_else(|| {
        match (table.filter.is_empty(), review.progress.1 < store.len() - fork_count(store)) {
            (false, _) => "every other listed record is reviewed; <escape> in the table clears the filter",
            (true, true) => "every other record of the queue is reviewed",
            (true, false) => "every other record is reviewed",
        }
    })?;
    review.expect(record);
    Ok(record)
}

/// Advances to the next item.
fn advance(app: &mut App) -> Effects {
    let App { review, store, table, forks, keymap, status, .. } = app;
    let Some(target) = &review.target else { return Vec::new() };
    let Some(record) = next_item(review, store, table, &forks.tree, target.record) else {
        let (done, all) = review.agenda.progress(table.len(store.len()));
        let rest = if done < all { ", rest deferred" } else { "" };
        let given = verdicts_given(review, store, table, &forks.tree);
        let what = if table.filter.is_empty() { "Queue" } else { "Filter" };
        let key = keymap.key_of(Action::Dashboard);
        return status.say(shown!("{what} done: {done} of {all} reviewed{rest}{given}. Dashboard: {key}"));
    };
    review.expect(record);
    table.list.at = table.row_of(record);
    if app.screens.top() == ScreenKind::Table {
        review.put_aside();
        return Vec::new();
    }
    review.wait = Some(Wait::Next(record));
    let said = status.now.take();
    let effects = app.request(record, app.screens.top());
    if app.screens.opening.is_none() {
        app.review.wait = None;
    }
    app.status.now = said;
    effects
}

// Records that come and go.

/// Reads a record, without what is hidden of it.
pub(crate) fn read_record(review: &Review, store: &Store, record: usize) -> Option<Effect> {
    Some(Effect::Record(record, store.reading(record)?, *store.row(record)?, review.hide_for(record)))
}

/// Begins the review of the open record where it was put aside: keys are about it from now on, and the next one is read
/// ahead.
pub(crate) fn look_at_open(app: &mut App) -> Effects {
    let App { review, store, table, forks, screens, .. } = app;
    let opened = screens.record().map(|view| &view.opened).filter(|_| review.shows());
    let Some(mut target) = opened.and_then(target_of) else { return Vec::new() };
    let record = target.record;
    if let Some((_, address, true)) = forks.tree.fork_of(store, record) {
        target.summary.execution = forks.tree.execution(address).into();
    }
    review.look_at(target);
    let mut effects = vec![Effect::ReadReviews];
    if review.reviewing {
        let next = next_ahead(review, store, table, &forks.tree, record);
        effects.extend(next.and_then(|next| read_record(review, store, next)));
    }
    if matches!(review.wait, Some(Wait::Next(next)) if next == record) {
        effects.extend(go_on(app));
    }
    effects
}

/// Takes a record that was read for the review, not to be opened.
pub(crate) fn take_review_record(app: &mut App, opened: &mut Option<Box<OpenRecord>>, record: usize) -> Effects {
    let review = &mut app.review;
    if review.prefetching == Some(record) {
        review.prefetching = None;
        if app.screens.opening.is_none_or(|(wanted, _)| wanted != record)
            && !matches!(review.wait, Some(Wait::Target(..)))
        {
            review.prefetched = opened.take();
            return Vec::new();
        }
    }
    match review.wait {
        Some(Wait::Target(wanted, action)) if wanted == record => {
            review.wait = None;
            let Some(target) = opened.as_deref().and_then(target_of) else {
                review.ahead.clear();
                return Vec::new();
            };
            review.look_at(target);
            let mut effects = review_target(app, action);
            if app.review.wait.is_none() {
                let held = go_on(app);
                effects.extend(held);
            }
            effects
        }
        _ => Vec::new(),
    }
}

/// A record could not be read: nothing waits for it any more. `true`: something did.
pub(crate) fn review_unread(review: &mut Review, record: usize) -> bool {
    let waits = matches!(review.wait, Some(Wait::Target(wanted, _) | Wait::Next(wanted)) if wanted == record);
    if waits {
        review.wait = None;
        review.ahead.clear();
    }
    if review.prefetching == Some(record) {
        review.prefetching = None;
    }
    waits
}

/// The record that was read ahead, if it is this one and shows what it may.
pub(crate) fn take_prefetched(review: &mut Review, record: usize) -> Option<Box<OpenRecord>> {
    let hide = review.hide_for(record);
    review.prefetched.take_if(|opened| opened.index == record && opened.hidden == hide)
}

impl Review {
    /// Holds back what is typed while something is being read, to take it later in its order; `Some`: it need not wait.
    /// What is being opened is cancelled with the wait.
    pub(crate) fn hold(&mut self, input: Input, screens: &mut Screens) -> Option<Input> {
        let is_interrupt = |event: &KeyEvent| Some(Key::from_event(*event)) == Key::from_name("^C");
        match &input {
            _ if self.wait.is_none() => return Some(input),
            Input::Background(_) | Input::FocusGained | Input::FocusLost => return Some(input),
            Input::Key(event) if is_interrupt(event) => return Some(input),
            Input::Key(event) if event.code == KeyCode::Esc => {
                self.wait = None;
                self.ahead.clear();
                screens.opening = None;
            }
            _ if self.ahead.len() < MAX_WAITING => self.ahead.push(input),
            _ => {}
        }
        None
    }

    /// Puts the target aside if it is another record.
    pub(crate) fn leave_all_but(&mut self, record: Option<usize>) {
        if self.target.as_ref().is_some_and(|target| Some(target.record) != record) {
            self.put_aside();
        }
    }
}

/// Cancels leaving and the return to the last session's place: the reviewer does something else.
pub(crate) fn stay(review: &mut Review, action: Action) {
    if !matches!(action, Action::Quit | Action::Back) {
        review.leaving = None;
    }
    review.resume = None;
}

/// Keeps the place of the reviewer for the next session.
pub(crate) fn keep_place(review: &Review, screens: &Screens, kept: &mut FileView) {
    let Some(view) = screens.record().filter(|_| screens.top() != ScreenKind::Table && review.is_begun()) else {
        return;
    };
    let list = match (screens.top(), &view.answer) {
        (ScreenKind::Json, _) => view.outline.list,
        (_, Some(answer)) => answer.items,
        _ => view.variables,
    };
    kept.record = view.opened.index as u64;
    kept.screen = Some(if screens.top() == ScreenKind::Json { "json" } else { "record" }.to_owned());
    (kept.step, kept.scroll) = (Some(view.moment.0), Some((list.at, list.top)));
}

/// Goes back to where the reviewer stopped, once that record is found.
pub(crate) fn resume_at(review: &mut Review, view: &FileView) {
    let record = usize::try_from(view.record).ok();
    let resume = |(record, screen): (usize, &String)| {
        let json = screen == "json";
        Resume { record, json, step: view.step, scroll: view.scroll }
    };
    review.resume = record.zip(view.screen.as_ref()).map(resume);
}

/// Finds the record at which the reviewer stopped, and its screen, as soon as it is there and the table is in front.
pub(crate) fn to_resume(review: &Review, store: &Store, screens: &Screens) -> Option<(usize, ScreenKind)> {
    let is_free = screens.top() == ScreenKind::Table && screens.opening.is_none();
    let resume = review.resume.filter(|resume| resume.record < store.len() && is_free)?;
    Some((resume.record, if resume.json { ScreenKind::Json } else { ScreenKind::Run }))
}

/// Goes back to the place in the open record that was to be resumed, if it is that record.
pub(crate) fn resumed(screens: &mut Screens, review: &mut Review, status: &mut StatusLine) {
    let top = screens.top();
    let Some((view, resume)) = screens.record_mut().zip(review.resume.take()) else { return };
    if view.opened.index != resume.record {
        return;
    }
    if let Some(step) = resume.step {
        view.walk_to(step);
    }
    let list = match (top, &mut view.answer) {
        (ScreenKind::Json, _) => &mut view.outline.list,
        (_, Some(answer)) => &mut answer.items,
        _ => &mut view.variables,
    };
    if let Some((at, top)) = resume.scroll {
        (list.at, list.top) = (at, top);
    }
    let steps = view.opened.steps.len();
    if let Some(step) = resume.step.filter(|step| *step > steps) {
        status.fail(shown!("no step {step}: this record has {steps}"));
    }
}

pub(crate) fn target_of(opened: &OpenRecord) -> Option<ReviewTarget> {
    let summary = opened.summary.as_deref()?.clone();
    let step = opened.where_to_fix.as_ref().and_then(|verdict| verdict.step).map(|step| step as u64 + 1);
    Some(ReviewTarget::new(opened.index, summary, step, opened.steps.len() as u64, opened.hidden))
}
