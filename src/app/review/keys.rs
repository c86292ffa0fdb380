//! Keys of reviewing: verdicts and what belongs to them, undo, and which record comes next.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent};
use unicode_width::UnicodeWidthStr as _;

use crate::app::log::Log;
use crate::app::log::What;
use crate::app::msg::{Effect, Effects};
use crate::app::open_record::OpenRecord;
use crate::app::review;
use crate::app::review::Review;
use crate::app::review::agenda::{Agenda, AgendaState};
use crate::app::review::ask::MAX_BATCH;
use crate::app::review::{Draft, NO_VERDICT, Resume, ReviewLog, ReviewTarget, SameVerdict, Wait};
use crate::app::state::App;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::screens::table::state::SortBy;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, GO_BACK, Key, NO_RECORD, OPEN_RECORD, Reason, need};
use crate::widgets::panes::turn;
use crate::widgets::sign;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::session::FileView;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::hide::Hide;
use stepscope_judge::triage::Fix;
use stepscope_record::rule_id::QueueClass;
use stepscope_review::event::{Anchor, AnswerPart, Event, EventKind, GoldStatus, LabelRef, LabelSet, Text, Verdict};
use stepscope_review::fold::is_fresh;
use stepscope_terminal::input::Input;

/// A record with a longer text is not read ahead.
const MAX_AHEAD: u32 = 4 << 20;
/// Length of a question where other text needs the room.
const SHORT: usize = 12;
/// Largest number of inputs that may wait.
const MAX_WAITING: usize = 256;

/// Lets what was said be saved.
pub(crate) fn append(log: &mut Log, review: &Review, event: Event) -> Effects {
    let ReviewLog::Journal(journal) = &review.place else { return Vec::new() };
    log.event(journal.clone(), What::Verdict(Box::new(event))).into_iter().collect()
}

/// Reason given when verdict keys do nothing.
const OFF: &str = "Not reviewing, so verdict keys are off. :review (or --queue) starts a review";

impl App {
    /// The queue order from the start.
    pub fn begin_queue(&mut self) {
        self.table.sort = SortBy::Review;
        self.table.descending = false;
        self.table.from_front = self.return_to.is_none() && self.review.resume.is_none();
        self.arrange();
    }
}

/// Checks that a review was begun; `Err` says how to begin one.
pub(crate) fn may_review(review: &Review) -> Result<(), &'static str> {
    match &review.place {
        ReviewLog::ReadOnly(why) | ReviewLog::Nowhere(why) => Err(why),
        ReviewLog::Journal(_) => need(review.reviewing, OFF),
    }
}

/// Begins a review, or ends it. What was begun of a verdict is kept.
pub(crate) fn turn_review(app: &mut App) -> Effects {
    app.review.reviewing = !app.review.reviewing;
    if !app.review.reviewing {
        app.review.draft.choosing = false;
        app.review.same = Err(NO_VERDICT);
        app.status.say(Shown::own("Review ended, verdict keys are off. :review starts again"));
        return keep_drafts(&app.log, &app.review);
    }
    let effects = if app.review.target.is_none() { review_opened(app) } else { Vec::new() };
    group_queue(app);
    let me = app.review.me.id.line().cut(30);
    let keys = app.keymap.shown("<pass> pass, <fail> fail, <help> all keys");
    app.status.say(shown!("Reviewing as {me}: {keys}. :review ends the review"));
    effects
}

/// Checks that there is a record to be judged in front.
fn has_target(screens: &Screens, store: &Store, table: &Table, screen: ScreenKind) -> Result<(), Reason> {
    match screen {
        ScreenKind::Table => need(table.chosen(store.len()).is_some(), NO_RECORD),
        ScreenKind::Rerun | ScreenKind::Live => Err(GO_BACK),
        _ => need(screens.record().is_some(), OPEN_RECORD),
    }
}

/// Checks that a review was begun, and that there is a record to be judged.
pub(crate) fn may_judge(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_review(&app.review).and_then(|()| has_target(&app.screens, &app.store, &app.table, screen))
}

/// Checks that the record can be left without a verdict.
pub(crate) fn may_pass_over(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_judge(app, screen)?;
    let again = screen != ScreenKind::Table && app.review.target.as_ref().is_some_and(|target| target.again);
    need(!again, "a repeat is judged again or left; the first verdict is kept")
}

/// Checks that an item of an answer can be judged.
pub(crate) fn may_judge_part(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_judge(app, screen)?;
    let answer = app.screens.record().and_then(|view| view.answer.as_ref());
    let there = screen == ScreenKind::Answer && answer.is_some_and(|answer| answer.part().is_some());
    need(there, "only for the items of an answer with citations")
}

/// Checks that a step can be named.
pub(crate) fn may_name_step(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_judge(app, screen)?;
    need(screen != ScreenKind::Table, OPEN_RECORD)?;
    need(app.screens.record().is_some_and(|view| view.opened.has_steps()), "this record has no steps")
}

/// Checks that there is something to reveal.
pub(crate) fn may_reveal(review: &Review, screen: ScreenKind) -> Result<(), Reason> {
    may_review(review)?;
    let is_hidden = review.target.as_ref().is_some_and(|target| !target.hidden.is_empty());
    need(is_hidden && screen != ScreenKind::Table, "nothing is hidden here")
}

/// Checks what holds for all keys about verdicts that were given.
fn may_change(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    if screen.is_judged_on() { may_review(&app.review) } else { may_judge(app, screen) }
}

pub(crate) fn may_undo(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_change(app, screen)?;
    need(!app.review.to_undo().is_empty(), "nothing to undo")
}

pub(crate) fn may_redo(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_change(app, screen)?;
    need(!app.review.undone.is_empty(), "nothing to redo")
}

/// Checks that the last verdict can be given to other records.
pub(crate) fn may_repeat(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_change(app, screen)?;
    match app.review.same {
        Ok(_) => Ok(()),
        Err(_) if app.table.sort != SortBy::Review => {
            Err("only in the order of the queue: sort by the review column, or start with --queue")
        }
        Err(why) => Err(why),
    }
}

/// Checks that all listed records can be judged.
pub(crate) fn may_label_all(app: &App, screen: ScreenKind) -> Result<(), Reason> {
    may_review(&app.review)?;
    need(screen == ScreenKind::Table, "go back to the table first")?;
    has_target(&app.screens, &app.store, &app.table, screen)
}

/// Checks that labels are being given.
pub(crate) fn may_label(review: &Review) -> Result<(), Reason> {
    need(review.draft.choosing, "press <fail> first")
}

/// Does what a key of reviewing means.
pub(crate) fn review_action(app: &mut App, action: Action) -> Effects {
    use Action as A;
    let names_item = app.count.is_some() && matches!(action, A::Pass | A::Fail);
    if names_item && app.screens.top() != ScreenKind::Answer {
        return app
            .status
            .refuse(&app.keymap, "a number before <pass> or <fail> names an item of an answer; open one first");
    }
    if !app.review.read && app.review.is_on() && names_item {
        // The number would be forgotten meanwhile, and the key mean the whole record.
        return app.status.refuse(&app.keymap, "reading the review log; press it again");
    }
    if !app.review.read && app.review.is_on() {
        app.review.wait = Some(Wait::Journal(action));
        return Vec::new();
    }
    match action {
        A::NextOpen => go_to_open(app),
        A::Undo => undo(app),
        A::Redo => redo(app),
        A::LabelAll => review::ask::ask_label_all(app),
        A::SameVerdict => review::ask::ask_same(app),
        A::Guidelines => review::ask::show_guidelines(app),
        _ if app.screens.top() != ScreenKind::Table => review_target(app, action),
        _ => {
            let Some(record) = app.record() else { return Vec::new() };
            match &app.review.target {
                Some(target) if target.record == record => review_target(app, action),
                // Verdicts are bound to a content hash: the record is read first.
                _ => read_target(app, record, action),
            }
        }
    }
}

fn read_target(app: &mut App, record: usize, action: Action) -> Effects {
    let Some(work) = app.read_record(record) else { return Vec::new() };
    app.review.wait = Some(Wait::Target(record, action));
    vec![work]
}

/// Does what a key means for the target.
fn review_target(app: &mut App, action: Action) -> Effects {
    use Action as A;
    if let Some(effects) = review_part(app, action) {
        return effects;
    }
    match action {
        A::Pass => judge(app, Verdict::Pass),
        A::Defer => judge(app, Verdict::Defer),
        A::Skip => judge(app, Verdict::Skip),
        A::Fail => {
            if !app.review.draft.choosing {
                take_up(&mut app.review);
                app.review.draft.choosing = true;
            }
            keep_drafts(&app.log, &app.review)
        }
        A::SaveFail => judge(app, Verdict::Fail),
        A::PutAside => {
            app.review.draft.choosing = false;
            if !app.review.draft.is_empty() {
                app.status.say(app.keymap.shown("Kept as a draft; <fail> continues"));
            }
            keep_drafts(&app.log, &app.review)
        }
        A::GoldStatus => {
            take_up(&mut app.review);
            let round = [Some(GoldStatus::Suspect), Some(GoldStatus::Wrong), Some(GoldStatus::Ok), None];
            let next = turn(&round, app.review.draft.gold, 1);
            app.review.draft.gold = next;
            let words = round.map(|gold| gold.map_or(NO_OPINION, GoldStatus::phrase));
            turned(app, "Expected answer", action, &choices(&words, next.map_or(NO_OPINION, GoldStatus::phrase)))
        }
        A::FixTarget => {
            take_up(&mut app.review);
            let proposed = app.review.target.as_ref().and_then(|target| target.summary.fix);
            let order = [Fix::StepRun, Fix::Procedure, Fix::Gold];
            let first = proposed.filter(|fix| order.contains(fix)).unwrap_or(Fix::StepRun);
            let at = order.iter().position(|fix| *fix == first).unwrap_or(0);
            let round: Vec<Fix> = order.iter().cycle().skip(at).take(order.len()).copied().collect();
            let now = app.review.draft.target.as_ref();
            let place = round.iter().position(|fix| now.is_some_and(|target| *target == fix.word()));
            let next = if now.is_none() { Some(first) } else { place.and_then(|n| round.get(n + 1).copied()) };
            app.review.draft.target = next.map(|fix| Text::from(fix.word()));
            let words: Vec<&str> = round.iter().map(|fix| fix.phrase()).chain([NO_OPINION]).collect();
            turned(app, "Fix", action, &choices(&words, next.map_or(NO_OPINION, Fix::phrase)))
        }
        A::Reveal => reveal(app),
        A::BadStep => review::ask::ask_step(app),
        A::GiveLabel => match app.count.and_then(|n| n.checked_sub(1)) {
            Some(n) => review::ask::give_nth(app, n),
            None => Vec::new(),
        },
        A::Note => review::ask::ask_note(app),
        A::Correct => review::ask::ask_correction(app),
        A::FindLabel => review::ask::ask_labels(app),
        _ => Vec::new(),
    }
}

/// Does what a key means for a part of an answer; `None`: it means the whole record. `1a`: item 1 passes.
fn review_part(app: &mut App, action: Action) -> Option<Effects> {
    use Action as A;
    if let (Some(part), A::SaveFail | A::PutAside) = (app.review.draft.part, action) {
        let draft = app.review.leave_part();
        if action == A::SaveFail {
            return Some(judge_part(app, part, Verdict::Fail, draft.labels));
        }
        app.status.say(shown!("No verdict on {}", part.phrase()));
        return Some(keep_drafts(&app.log, &app.review));
    }
    let answer = app.screens.record().filter(|_| app.screens.top() == ScreenKind::Answer)?.answer.as_ref()?;
    let part = match (action, app.count) {
        (A::Pass | A::Fail, Some(item)) => {
            let item = item.saturating_sub(1);
            if item >= answer.shown.items.len() {
                return Some(app.status.refuse(&app.keymap, "this answer has fewer items"));
            }
            AnswerPart { item: item as u64, citation: None }
        }
        (A::PassPart | A::FailPart, _) => answer.part()?,
        _ => return None,
    };
    if matches!(action, A::Pass | A::PassPart) {
        return Some(judge_part(app, part, Verdict::Pass, Vec::new()));
    }
    let labels = app.review.part_labels(part);
    let draft = Draft { choosing: true, part: Some(part), labels, ..Draft::default() };
    app.review.beneath = std::mem::replace(&mut app.review.draft, draft);
    app.review.beneath.choosing = false;
    Some(Vec::new())
}

/// Says a verdict on a part of the answer, which stays in front.
fn judge_part(app: &mut App, part: AnswerPart, verdict: Verdict, labels: Vec<LabelRef>) -> Effects {
    let mut effects = write_label_set(app, &labels);
    let Some(mut event) = app.review.event(EventKind::Note) else { return effects };
    let answer = app.screens.record().and_then(|view| view.answer.as_ref());
    let pointer = answer.and_then(|answer| answer.pointer_of(part));
    event.anchors = pointer.map(|pointer| Anchor::Pointer(pointer.text())).into_iter().collect();
    (event.part, event.verdict, event.labels) = (Some(part), Some(verdict), labels);
    effects.extend(say_event(app, event));
    app.status.say(shown!(
        "{} {}: {} · {} undo",
        glyph(verdict),
        verdict.word(),
        part.phrase(),
        app.keymap.key_of(Action::Undo)
    ));
    effects.extend(keep_drafts(&app.log, &app.review));
    effects
}

/// Sums up my verdicts on the listed records by their kind, and the label that was given most often.
fn verdicts_given(app: &App) -> Shown {
    let mut verdicts = BTreeMap::new();
    let mut labels = BTreeMap::new();
    let is_counted = |record: usize| app.table.listed_row(record).is_some() && app.fork_of(record).is_none();
    for (record, known) in app.review.known_records() {
        let Some(verdict) = known.judged.mine.filter(|_| is_counted(record)) else { continue };
        *verdicts.entry(verdict).or_insert(0_usize) += 1;
        let mine = app.review.mine(&known.item, &known.content);
        for label in mine.map(|event| app.review.names(&event.labels)).unwrap_or_default() {
            *labels.entry(label.into_string()).or_insert(0_usize) += 1;
        }
    }
    let mut said: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
    let most = labels.iter().max_by_key(|(_, count)| **count);
    said.extend(most.map(|(label, count)| format!("most often {label} ({count})")));
    if said.is_empty() { Shown::default() } else { shown!(": {}", Shown::line(said.join(", ").as_bytes())) }
}

/// Neither of the choices.
const NO_OPINION: &str = "no opinion";

/// All choices of a key that goes round, the present one in brackets.
fn choices(words: &[&str], now: &str) -> String {
    let word = |word: &&str| if *word == now { format!("[{word}]") } else { (*word).to_owned() };
    words.iter().map(word).collect::<Vec<_>>().join(" · ")
}

/// A key has turned to the next choice: it is set already, no other key has to confirm it.
fn turned(app: &mut App, subject: &'static str, action: Action, choices: &str) -> Effects {
    let set = if given_now(&app.review).is_some() { " set" } else { "" };
    amend(app, &shown!("{subject}{set} ({} next): {choices}", app.keymap.key_of(action)))
}

/// Holds back what is typed while something is being read, to take it later in its order; `Some`: it need not wait.
pub(crate) fn must_wait(app: &mut App, input: Input) -> Option<Input> {
    let is_interrupt = |event: &KeyEvent| Some(Key::from_event(*event)) == Key::from_name("^C");
    match &input {
        _ if app.review.wait.is_none() => return Some(input),
        Input::Background(_) | Input::FocusGained | Input::FocusLost => return Some(input),
        Input::Key(event) if is_interrupt(event) => return Some(input),
        Input::Key(event) if event.code == KeyCode::Esc => {
            app.review.wait = None;
            app.review.ahead.clear();
            app.screens.opening = None;
        }
        _ if app.review.ahead.len() < MAX_WAITING => app.review.ahead.push(input),
        _ => {}
    }
    None
}

/// Ends the wait and takes the input that was held back.
pub(crate) fn go_on(app: &mut App) -> Effects {
    app.review.wait = None;
    let mut inputs = std::mem::take(&mut app.review.ahead).into_iter();
    let mut effects = Vec::new();
    while let Some(input) = inputs.next() {
        effects.extend(app.input(input));
        if app.review.wait.is_some() {
            app.review.ahead.extend(inputs);
            break;
        }
        app.settle();
    }
    effects
}

// Verdicts.

/// Begins the draft with the earlier verdict, unless something was begun already.
pub(crate) fn take_up(review: &mut Review) {
    let again = review.target.as_ref().is_some_and(|target| target.again);
    if review.draft.is_empty() && !again {
        review.draft = review.verdict().map(|event| Draft::of(&event)).unwrap_or_default();
    }
}

pub(crate) fn judge(app: &mut App, verdict: Verdict) -> Effects {
    take_up(&mut app.review);
    let mut draft = std::mem::take(&mut app.review.draft);
    if verdict != Verdict::Fail {
        draft.labels.clear();
        draft.step = None;
    }
    let mut effects = write_label_set(app, &draft.labels);
    let labels = draft.labels.clone();
    let Some(mut event) = verdict_event(&app.review, verdict, draft) else { return effects };
    event.drawn = drawn(&app.review, &app.store, &app.table);
    let name = app.review.title_of(&event);
    app.review.count_item();
    effects.extend(say_event(app, event));
    let record = app.review.target.as_ref().map(|target| target.record);
    // What is repeated is judged now: where nothing comes after it, another key changes this verdict, and the strip has it.
    if let Some(target) = &mut app.review.target {
        target.again = false;
    }
    app.review.same =
        record.ok_or(NO_VERDICT).and_then(|record| same_verdict(&app.review, &app.store, record, verdict, &labels));
    let same = app.review.same.as_ref().ok().map(|same| (same.records.len(), same.rule));
    let undo = app.keymap.key_of(Action::Undo);
    app.status.say(match same {
        None => shown!("{} {}: {name} · {undo} undo", glyph(verdict), verdict.word()),
        Some((others, rule)) => shown!(
            "{} {}: {} · {undo} undo · {} same for {others} more: {rule}",
            glyph(verdict),
            verdict.word(),
            name.cut(SHORT),
            app.keymap.key_of(Action::SameVerdict),
        ),
    });
    effects.extend(keep_drafts(&app.log, &app.review));
    effects.extend(advance(app));
    effects
}

/// Tells how chance chose the target, where the table lists all records in the order of the queue.
fn drawn(review: &Review, store: &Store, table: &Table) -> Option<Text> {
    let target = review.target.as_ref().filter(|_| table.sort == SortBy::Review && table.filter.is_empty())?;
    review.queue.drawn(store.row(target.record)?)
}

/// A verdict on the target, in place of my earlier one.
fn verdict_event(review: &Review, verdict: Verdict, draft: Draft) -> Option<Event> {
    let mut event = review.event(EventKind::Verdict)?;
    draft.fill(&mut event);
    event.verdict = Some(verdict);
    let target = review.target.as_ref()?;
    let (item, content) = (&target.summary.item, &target.summary.content);
    let earlier = review.find(item, content);
    if let Some(earlier) = earlier.and_then(|reviewed| reviewed.verdict_of(&review.me.id)) {
        event.supersedes = Some(earlier.event_id.clone());
        // A changed verdict is not a repeat.
        if !target.again && is_fresh(&earlier, Some(content)) {
            event.times.shown.clone_from(&earlier.times.shown);
        }
    }
    Some(event)
}

/// Finds the verdict that a change belongs to at once, and when its record was shown.
fn given_now(review: &Review) -> Option<(Verdict, Option<Text>)> {
    let again = review.target.as_ref().is_some_and(|target| target.again);
    let given = review.verdict().and_then(|event| Some((event.verdict?, event.times.shown.clone())));
    given.filter(|_| !review.draft.choosing && !again)
}

/// A change of what belongs to a verdict: of one that was given it is saved at once, else it goes with the next.
pub(crate) fn amend(app: &mut App, what: &Shown) -> Effects {
    let Some((verdict, shown)) = given_now(&app.review) else {
        // What is cut there would say "saved"; the strip has the draft.
        let whole = shown!("{what}; saved with your verdict");
        let fits = whole.as_str().width() < usize::from(app.size.width);
        app.status.say(if fits { whole } else { what.clone() });
        return keep_drafts(&app.log, &app.review);
    };
    let draft = std::mem::take(&mut app.review.draft);
    let mut effects = write_label_set(app, &draft.labels);
    if let Some(mut event) = verdict_event(&app.review, verdict, draft) {
        // It belongs to the look that gave the verdict: it is no second one.
        event.times.shown = shown;
        effects.extend(say_event(app, event));
    }
    app.status.say(what.clone());
    effects.extend(keep_drafts(&app.log, &app.review));
    effects
}

/// Says something, and lets it be saved.
pub(crate) fn say_event(app: &mut App, event: Event) -> Effects {
    let event = app.review.say(event);
    app.review.leaving = None;
    count_progress(app);
    app.review.count_since_new_label();
    let record = app.review.record_of(&event);
    let found = review::news::find_namesakes(&app.review, &app.store, &app.table, record.as_slice());
    append(&mut app.log, &app.review, event).into_iter().chain(found).collect()
}

/// The labels that are offered are written down before the first is given.
pub(crate) fn write_label_set(app: &mut App, labels: &[LabelRef]) -> Effects {
    if labels.is_empty() { Vec::new() } else { write_offered(app) }
}

/// Writes the labels down if they are only offered so far.
pub(crate) fn write_offered(app: &mut App) -> Effects {
    if !app.review.labels_are_offered() {
        return Vec::new();
    }
    let set = app.review.label_set();
    say_label_set(app, set)
}

/// Says that these are the labels.
pub(crate) fn say_label_set(app: &mut App, set: LabelSet) -> Effects {
    let event = Event::new(EventKind::LabelSet, app.review.me.clone());
    say_event(app, Event { label_set: Some(Box::new(set)), ..event })
}

/// Keeps the drafts so that they survive a crash.
pub(crate) fn keep_drafts(log: &Log, review: &Review) -> Effects {
    vec![Effect::KeepDrafts(review.to_keep(log))]
}

fn reveal(app: &mut App) -> Effects {
    let Some(mut event) = app.review.event(EventKind::Reveal) else { return Vec::new() };
    let Some(target) = &app.review.target else { return Vec::new() };
    let (record, hidden) = (target.record, target.hidden);
    event.revealed = hidden.words();
    app.review.reveal(record);
    let mut effects = say_event(app, event);
    app.status.say(shown!("Revealed (logged): {}", hidden.phrase()));
    effects.extend(app.request(record, app.screens.top()));
    effects
}

// Undo.

fn undo(app: &mut App) -> Effects {
    let events = app.review.to_undo();
    let Some(last) = events.last() else { return Vec::new() };
    let what = match events.len() {
        1 => what_of(&app.review, last),
        n => shown!("{} of {n} records", last.verdict.map_or("label", Verdict::word)),
    };
    let record = app.review.record_of(last);
    let shown = last.times.shown.clone();
    let (mut effects, mut ids) = (Vec::new(), Vec::new());
    for event in &events {
        let undo = app.review.say(Event::undo(app.review.me.clone(), event));
        ids.push(undo.event_id.clone());
        effects.extend(append(&mut app.log, &app.review, undo));
    }
    app.review.undone.push(ids);
    app.review.repeat_again(shown.as_ref());
    app.review.same = Err(NO_VERDICT);
    count_progress(app);
    app.status.say(shown!("Undone: {what} · {} redo", app.keymap.key_of(Action::Redo)));
    app.kept.adjudication.sought = last.item.clone().filter(|_| app.screens.top() == ScreenKind::Adjudication);
    if let Some(record) = record {
        effects.extend(go_to_record(app, record));
    }
    effects
}

fn redo(app: &mut App) -> Effects {
    let undos = app.review.pop_undone();
    let mut effects = Vec::new();
    for undo in &undos {
        let redo = app.review.say(Event::undo(app.review.me.clone(), undo));
        effects.extend(append(&mut app.log, &app.review, redo));
    }
    app.kept.adjudication.sought = None;
    count_progress(app);
    app.status.say(Shown::own("Redone"));
    if let Some(record) = undos.first().and_then(|undo| app.review.record_of(undo)) {
        effects.extend(go_to_record(app, record));
    }
    effects
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

/// The record that comes after another: one that I did not judge, then those that I deferred, then those that are to
/// be judged a second time.
fn next_item(app: &mut App, from: usize) -> Option<usize> {
    follow_agenda(app);
    let (rows, here) = (app.rows(), app.table.row_of(from));
    // A filter may hide the record itself meanwhile: then the next one stands in its place.
    let own = Some(here).filter(|row| app.table.record(*row) == Some(from));
    app.review.agenda.next(here, rows, own).and_then(|row| app.table.record(row))
}

/// Updates the agenda with what has changed since it was made; after the order of the table has changed, rebuilds it
/// from the known records: most records have no verdict.
fn follow_agenda(app: &mut App) {
    let records = app.review.take_changed().unwrap_or_else(|| {
        app.review.agenda = Agenda::default();
        let forks = app.forks.tree.addresses().filter_map(|(source, byte)| app.store.position(source, byte));
        forks.chain(app.review.known_records().map(|(record, _)| record)).collect()
    });
    for record in records {
        let row = app.table.row_of(record);
        if app.table.record(row) == Some(record) {
            let standing = standing_of(app, record);
            let class = class_of(&app.review, &app.store, record).unwrap_or(QueueClass::Clean);
            app.review.agenda.set(row, class, standing);
        }
    }
}

/// Finds the class of a record in the queue, as far as it may be told.
fn class_of(review: &Review, store: &Store, record: usize) -> Option<QueueClass> {
    store.row(record).map(|row| row.hiding(review.hide).queue_class())
}

/// Tells why a record is in the queue, and how many of how many for the same reason are still to be judged. Where clean
/// records are mixed in, it tells nothing, so that the reviewer does not know what to expect.
pub(crate) fn group_of(app: &App, record: usize) -> Option<(QueueClass, usize, usize)> {
    let is_told = app.review.reviewing && app.table.sort == SortBy::Review && app.review.queue.clean_share.is_none();
    let class = class_of(&app.review, &app.store, record).filter(|_| is_told && app.fork_of(record).is_none())?;
    let all = *app.review.groups.get(class as usize)?;
    Some((class, all.saturating_sub(app.review.agenda.done_of(class)), all))
}

/// Counts the classes of the queue, and groups records by kind and by the rule of their gravest finding; the table was
/// sorted just now, which went through all rows too.
pub(crate) fn group_queue(app: &mut App) {
    app.review.groups = Default::default();
    app.review.alike.clear();
    if app.table.sort != SortBy::Review || !app.review.reviewing {
        return;
    }
    let hide = app.review.hide;
    for row in 0..app.rows() {
        let Some(record) = app.table.record(row).filter(|record| app.fork_of(*record).is_none()) else { continue };
        let Some(facts) = app.store.row(record).map(|facts| facts.hiding(hide)) else { continue };
        if let Some(count) = app.review.groups.get_mut(facts.queue_class() as usize) {
            *count += 1;
        }
        if let Some(rule) = facts.leading() {
            app.review.alike.entry((rule, facts.kind())).or_default().push(record as u32);
        }
    }
}

/// Finds the other records in the queue that I did not judge and whose gravest finding is of the same rule; `Err`: why
/// there is none. The step does not matter: the verdict and labels that they get name none.
fn same_verdict(
    review: &Review,
    store: &Store,
    record: usize,
    verdict: Verdict,
    labels: &[LabelRef],
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
    Ok(SameVerdict { records, rule, kind, verdict, labels: labels.to_vec() })
}

fn standing_of(app: &App, record: usize) -> Option<AgendaState> {
    if app.fork_of(record).is_some() {
        return Some(AgendaState::Fork);
    }
    match app.review.known(record)?.judged.mine? {
        Verdict::Defer => Some(AgendaState::Deferred),
        _ => Some(AgendaState::Done(app.review.is_due_again(record))),
    }
}

fn go_to_open(app: &mut App) -> Effects {
    let here = match app.screens.top() {
        ScreenKind::Table => app.record(),
        _ => app.screens.record().map(|view| view.opened.index),
    };
    let Some(record) = here.and_then(|here| next_item(app, here)) else {
        let listed = app.review.progress.1;
        return app.status.say(app.keymap.shown(match app.table.filter.is_empty() {
            false => "every other listed record is reviewed; <escape> in the table clears the filter",
            true if listed < app.store.len() - app.fork_count() => "every other record of the queue is reviewed",
            true => "every other record is reviewed",
        }));
    };
    app.review.expect(record);
    go_to_record(app, record)
}

/// Advances to the next item.
fn advance(app: &mut App) -> Effects {
    let Some(target) = &app.review.target else { return Vec::new() };
    let Some(record) = next_item(app, target.record) else {
        let (done, all) = app.review.progress;
        let rest = if done < all { ", rest deferred" } else { "" };
        let given = verdicts_given(app);
        let what = if app.table.filter.is_empty() { "Queue" } else { "Filter" };
        app.status.say(shown!(
            "{what} done: {done} of {all} reviewed{rest}{given}. Dashboard: {}",
            app.keymap.key_of(Action::Dashboard)
        ));
        return Vec::new();
    };
    app.review.expect(record);
    app.table.list.at = app.table.row_of(record);
    if app.screens.top() == ScreenKind::Table {
        app.review.put_aside();
        return Vec::new();
    }
    let status = app.status.now.take();
    app.review.wait = Some(Wait::Next(record));
    let effects = app.request(record, app.screens.top());
    if app.screens.opening.is_none() {
        app.review.wait = None;
    }
    app.status.now = status;
    effects
}

/// Counts the progress through the queue.
pub(crate) fn count_progress(app: &mut App) {
    follow_agenda(app);
    app.review.progress = app.review.agenda.progress(app.rows());
    if app.table.from_front {
        app.table.list.at = front_row(&app.review, &app.store, &app.table);
    }
}

/// Selects the parts to leave out of a record when it is read now.
pub(crate) fn hide_for(review: &Review, record: usize) -> Hide {
    review.hide_for(record)
}

// Records that come and go.

/// A record was opened: keys are about it from now on, and the next one is read ahead.
pub(crate) fn review_opened(app: &mut App) -> Effects {
    resumed(app);
    look_at_open(app)
}

/// Begins the review of the open record where it was put aside.
pub(crate) fn look_at_open(app: &mut App) -> Effects {
    let Some(opened) = app.screens.record().map(|view| &view.opened) else { return Vec::new() };
    if !app.review.shows() {
        return Vec::new();
    }
    let Some(mut target) = target_of(opened) else { return Vec::new() };
    let record = target.record;
    if let Some((_, address, true)) = app.fork_of(record) {
        target.summary.execution = app.forks.tree.execution(address).into();
    }
    app.review.look_at(target);
    let mut effects = vec![Effect::ReadReviews];
    if app.review.reviewing {
        effects.extend(read_ahead(app, record));
    }
    if matches!(app.review.wait, Some(Wait::Next(next)) if next == record) {
        effects.extend(go_on(app));
    }
    effects
}

fn read_ahead(app: &mut App, from: usize) -> Option<Effect> {
    let next = next_item(app, from).filter(|next| *next != from)?;
    let near = app.store.row(next).is_some_and(|row| row.len <= MAX_AHEAD);
    let there = app.review.prefetched.as_ref().is_some_and(|opened| opened.index == next);
    if !near || there || app.review.prefetching == Some(next) {
        return None;
    }
    app.review.prefetched = None;
    app.review.prefetching = Some(next);
    app.read_record(next)
}

/// Takes a record that was read for the review, not to be opened.
pub(crate) fn take_review_record(app: &mut App, opened: &mut Option<Box<OpenRecord>>, record: usize) -> Effects {
    if app.review.prefetching == Some(record) {
        app.review.prefetching = None;
        if app.screens.opening.is_none_or(|(wanted, _)| wanted != record)
            && !matches!(app.review.wait, Some(Wait::Target(..)))
        {
            app.review.prefetched = opened.take();
            return Vec::new();
        }
    }
    match app.review.wait {
        Some(Wait::Target(wanted, action)) if wanted == record => {
            app.review.wait = None;
            let Some(target) = opened.as_deref().and_then(target_of) else {
                app.review.ahead.clear();
                return Vec::new();
            };
            app.review.look_at(target);
            let mut effects = review_target(app, action);
            if app.review.wait.is_none() {
                effects.extend(go_on(app));
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
    let hide = hide_for(review, record);
    review.prefetched.take_if(|opened| opened.index == record && opened.hidden == hide)
}

/// Back at the table, what the filter hides by now is hidden.
pub(crate) fn review_left(app: &mut App) {
    if app.table.filter.needs_reviews() {
        app.arrange();
    }
}

/// Keys on the table are about the row under the cursor.
pub(crate) fn settle_review(app: &mut App) {
    if app.screens.top() == ScreenKind::Table && app.screens.dialog.is_none() {
        let here = app.record();
        if app.review.target.as_ref().is_some_and(|target| Some(target.record) != here) {
            app.review.put_aside();
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

/// Opens the record at which the reviewer stopped, as soon as it is there.
pub(crate) fn resume(app: &mut App) -> Effects {
    let there = app.review.resume.filter(|resume| resume.record < app.store.len() && app.screens.opening.is_none());
    match there {
        Some(resume) if app.screens.top() == ScreenKind::Table => {
            app.request(resume.record, if resume.json { ScreenKind::Json } else { ScreenKind::Run })
        }
        _ => Vec::new(),
    }
}

/// Goes back to the place in the open record that was to be resumed, if it is that record.
fn resumed(app: &mut App) {
    let top = app.screens.top();
    let here = app.screens.record_mut();
    let Some((view, resume)) = here.zip(app.review.resume.take()) else { return };
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
        app.status.fail(shown!("no step {step}: this record has {steps}"));
    }
}

/// The first row that is still to be judged, else the first.
fn front_row(review: &Review, store: &Store, table: &Table) -> usize {
    review.agenda.first(table.len(store.len())).unwrap_or(0)
}

pub(crate) fn target_of(opened: &OpenRecord) -> Option<ReviewTarget> {
    let summary = opened.summary.as_deref()?.clone();
    let step = opened.where_to_fix.as_ref().and_then(|verdict| verdict.step).map(|step| step as u64 + 1);
    Some(ReviewTarget::new(opened.index, summary, step, opened.steps.len() as u64, opened.hidden))
}

/// The sign of a verdict.
pub(crate) const fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => sign::PASSED,
        Verdict::Fail => sign::REJECTED,
        Verdict::Defer => sign::DEFERRED,
        Verdict::Skip => sign::SKIPPED,
    }
}

/// An event in a few words.
fn what_of(review: &Review, event: &Event) -> Shown {
    let item = review.title_of(event);
    if let (Some(part), Some(verdict)) = (event.part, event.verdict) {
        return shown!("{} {}", verdict.word(), part.phrase());
    }
    match (event.kind, event.verdict) {
        (EventKind::LabelSet, _) => Shown::own("label change"),
        (EventKind::Note, _) => shown!("note on {item}"),
        (_, Some(verdict)) => shown!("{} {item}", verdict.word()),
        _ => item,
    }
}
