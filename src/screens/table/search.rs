//! The filter, which hides, and find, which visits: in the table by looking through the records in the background, in an
//! open record at once.

use std::sync::Arc;
use std::time::Instant;

use crate::app::across;
use crate::app::across::Across;
use crate::app::jumps::JumpPlace;
use crate::app::msg::{Effect, Effects};
use crate::app::review::{Review, ReviewLog};
use crate::app::sought::Sought;
use crate::app::state::{App, REARRANGE};
use crate::app::status_line::{Status, StatusLine};
use crate::dialogs::dialog::{Dialog, FilterCount, PromptPurpose, Rest};
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screen;
use crate::screens::stack::Screens;
use crate::screens::table::matches::{Matches, Next};
use crate::screens::table::state::{BeforeTyping, Search, Table};
use crate::widgets::keymap::{Action, Keymap};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_record::models::ModelNames;
use stepscope_table::filter::{Filter, RowAnswer};

impl App {
    /// Takes a filter as typed.
    pub fn set_filter(&mut self, typed: &str) -> Effects {
        try_filter(self, typed).unwrap_or_else(|why| self.status.fail(why))
    }
}

/// Takes a filter as typed; `Err`: the filter cannot be, and nothing has changed.
pub(crate) fn try_filter(app: &mut App, typed: &str) -> Result<Effects, Shown> {
    let effects = apply(app, typed)?;
    app.table.before_typing = None;
    Ok(effects)
}

/// Lets the rows follow a filter while it is typed, where that costs little, and returns to the last one that was
/// taken when the text is given up.
pub(crate) fn follow_typing(app: &mut App) -> Effects {
    let prompt = match app.screens.dialog.as_ref().map(Dialog::own) {
        Some(Dialog::Prompt(prompt)) if prompt.purpose == PromptPurpose::Filter && prompt.error.is_none() => prompt,
        _ => return app.table.before_typing.take().map(|before| give_up(app, &before)).unwrap_or_default(),
    };
    let typed = prompt.line.value().trim().to_owned();
    // A word that can still become a field is not searched for yet.
    let is_half = |count: FilterCount| count.rest != Rest::None && !prompt.completions.is_empty();
    let follows = typed.is_empty() || prompt.count.is_some_and(|count| !is_half(count));
    let mut effects = Vec::new();
    if follows && typed != app.table.filter_text {
        let record = app.record();
        let filter_text = app.table.filter_text.clone();
        app.table.before_typing.get_or_insert(BeforeTyping { filter_text, record });
        effects = apply(app, &typed).unwrap_or_else(|why| app.status.fail(why));
    }
    if follows && app.table.filtering.is_some() {
        let is_done = app.table.filtering.as_ref().is_some_and(|search| search.done);
        let rest = if is_done { Rest::None } else { Rest::Searching };
        let count = FilterCount { sure: app.rows(), rest, all: app.store.len() };
        if let Some(Dialog::Prompt(prompt)) = app.screens.dialog.as_mut().map(Dialog::own_mut) {
            prompt.count = Some(count);
        }
    }
    effects
}

fn give_up(app: &mut App, before: &BeforeTyping) -> Effects {
    let effects = apply(app, &before.filter_text).unwrap_or_else(|why| app.status.fail(why));
    if let Some(record) = before.record {
        app.table.list.at = app.table.row_of(record);
    }
    effects
}

fn apply(app: &mut App, typed: &str) -> Result<Effects, Shown> {
    let typed = typed.trim().to_owned();
    let filter = Arc::new(Filter::parse(&typed, app.side.types()).map_err(|error| shown!("{}", error.message))?);
    let mut effects = Vec::new();
    if across::keys::prepare_sets(&mut app.across, &app.review, &filter).map_err(Shown::own)? {
        effects = across::keys::begin_due(&mut app.across, &app.store, &app.table, app.models.samples);
    }
    let old = app.table.filtering.take();
    app.table.filter_text = typed;
    app.table.filter = filter;
    app.table.unexplained = false;
    effects.splice(0..0, end_of(old));
    effects.extend(begin_search(&app.store, &mut app.table, &app.review, &app.side));
    app.arrange();
    if let Some((field, hidden)) = app.table.filter.asks_hidden(app.review.hide) {
        let (word, records) = (hidden.word(), "records that you have not reviewed are tested without that");
        app.status.say(shown!("{field}: tells what is hidden ({word}); {records}"));
    } else if let (ReviewLog::Nowhere(why), true) = (&app.review.place, app.table.filter.needs_reviews()) {
        app.status.say(shown!("no reviews are read, so every record counts as not reviewed: {why}"));
    } else {
        app.table.unexplained = app.table.filter.asks_others().is_some();
        explain_others(&mut app.table, &app.review, &app.keymap, &mut app.status);
    }
    Ok(effects)
}

/// Says once of a filter that it leaves out verdicts of others, if there are any. At the start they are not read yet.
fn explain_others(table: &mut Table, review: &Review, keymap: &Keymap, status: &mut StatusLine) {
    let leaves_out = table.unexplained && review.keeps_others();
    let Some(field) = table.filter.asks_others().filter(|_| leaves_out) else { return };
    let key = keymap.key_of(Action::Dashboard);
    table.unexplained = false;
    status
        .say(shown!("{field}: leaves out verdicts of others on records that you have not reviewed; {key} counts them"));
}

/// Explains the filter after more was found of what was said, where there is room for that.
pub(crate) fn explain_found(table: &mut Table, review: &Review, keymap: &Keymap, status: &mut StatusLine) {
    if status.now.as_ref().is_none_or(|status| *status == Status::greeting()) {
        explain_others(table, review, keymap, status);
    }
}

/// Facts that are known of the records without their texts.
pub(crate) struct Known<'a> {
    /// Facts of their rows.
    pub store: &'a Store,
    /// Sets of records that filters name.
    pub across: &'a Across,
    /// Verdicts on them, and what is hidden until there are some.
    pub review: &'a Review,
    /// Names of the models.
    pub models: &'a ModelNames,
}

impl Known<'_> {
    /// Answers whether a record fits a filter, as far as that is known and may be told.
    pub(crate) fn answer(&self, filter: &Filter, record: usize) -> RowAnswer {
        let judged = || !filter.needs_reviews() || filter.fits_judged(&self.review.judged(record));
        let is_in = |set: &str| self.across.holds(set, self.store.address(record));
        match self.review.shown_row(self.store, record).filter(|_| judged()) {
            Some(row) => filter.fits_in(&row, self.models, is_in),
            None => RowAnswer::No,
        }
    }

    /// Counts the records that a filter takes, where that costs little: it is asked at every key.
    pub(crate) fn count(&self, filter: &Filter) -> Option<FilterCount> {
        const MOST: usize = 20_000;
        let all = self.store.len();
        let has_sets = filter.sets().next().is_some();
        if filter.is_empty() || has_sets || all > MOST || filter.asks_hidden(self.review.hide).is_some() {
            return None;
        }
        let (mut sure, mut unread) = (0, 0);
        for record in 0..all {
            match self.answer(filter, record) {
                RowAnswer::Yes => sure += 1,
                RowAnswer::AskText => unread += 1,
                RowAnswer::No => {}
            }
        }
        let rest = if unread == 0 { Rest::None } else { Rest::Unread(unread) };
        Some(FilterCount { sure, rest, all })
    }
}

/// Begins to read the records for a filter that their rows cannot answer; with more models than rows can tell apart,
/// that may show while records come.
pub(crate) fn begin_search(store: &Store, table: &mut Table, review: &Review, side: &SideData) -> Effects {
    if table.filtering.is_some() || !table.filter.needs_text_with(side.models()) {
        return Vec::new();
    }
    let id = table.new_search_id();
    table.filtering = Some(Search::new(id, &table.filter_text, table.filter.clone()));
    go_on_searching(store, table, review, side, |_| true)
}

/// Lets every search look through the records that it has not looked at, if it is idle and `wanted`.
pub(crate) fn go_on_searching(
    store: &Store,
    table: &mut Table,
    review: &Review,
    side: &SideData,
    wanted: impl Fn(&Search) -> bool,
) -> Effects {
    let idle = |search: &&mut Search| !search.running && (!search.done || search.planned < store.len());
    let begin = |search: &mut Search| {
        let filter = &search.filter;
        // What was not checked yet may still come to fit.
        let asked = |record: usize, row: &RowFacts| {
            let row_answer = || filter.fits_row_with(&row.hiding(review.hidden_of(record)), side.models());
            !row.has(Flag::Checked) || row_answer() != RowAnswer::No
        };
        let plan = Plan::of(store, search.planned, asked).hiding(|record| review.hide_for(record));
        (search.running, search.planned) = (true, store.len());
        Effect::Search(search.id, search.filter.clone(), plan)
    };
    table.filtering.iter_mut().filter(idle).filter(|search| wanted(search)).map(begin).collect()
}

/// Lets find look at the records that came since it began, and goes where it was to go once all were looked at.
pub(crate) fn follow_matches(store: &Store, table: &mut Table, review: &Review, status: &mut StatusLine) -> Effects {
    let Some(finding) = table.finding.as_mut().filter(|finding| !finding.running) else { return Vec::new() };
    if finding.planned < store.len() {
        let plan = Plan::of(store, finding.planned, |_, _| true).hiding(|record| review.hide_for(record));
        finding.go_on(store.len());
        return vec![Effect::Find(finding.id, finding.sought.clone(), plan)];
    }
    land(store, table, status);
    Vec::new()
}

/// Goes where find was to go, if the cursor still waits for it there.
fn land(store: &Store, table: &mut Table, status: &mut StatusLine) {
    let Some(finding) = &mut table.finding else { return };
    if let Some((by, row)) = finding.jump.take()
        && row == table.list.at
    {
        visit_found(store, table, status, by);
    }
}

pub(crate) fn find(app: &mut App, typed: &str) -> Result<Effects, Shown> {
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(place) = JumpPlace::here(&app.screens, &app.store, &app.table) {
        app.jumps.leave(place, Action::FindNext);
    }
    if app.screens.top() == ScreenKind::Table {
        return find_in_table(&app.store, &mut app.table, &app.review, typed);
    }
    find_in_record(&mut app.screens, typed)?;
    find_by(app, 1);
    Ok(Vec::new())
}

fn find_in_record(screens: &mut Screens, typed: &str) -> Result<(), Shown> {
    let sought = Sought::parse(typed)?;
    screens.record_mut().into_iter().for_each(|view| view.look_for(typed, &sought));
    Ok(())
}

fn find_in_table(store: &Store, table: &mut Table, review: &Review, typed: &str) -> Result<Effects, Shown> {
    let sought = Sought::parse(typed)?;
    let id = table.new_search_id();
    let mut effects: Effects = table.end_find().into_iter().collect();
    let (from, records) = (table.list.at, store.len());
    let plan = Plan::in_order(store, table.rows_from(from, records));
    let plan = plan.hiding(|record| review.hide_for(record));
    let mut matches = Matches::new(id, typed, sought.clone(), [from, table.len(records), records]);
    matches.jump = Some((0, from));
    table.finding = Some(matches);
    effects.push(Effect::Find(id, sought, plan));
    Ok(effects)
}

/// Tells whether find found the record under the cursor of the table.
pub(crate) fn is_on_match(table: &Table) -> bool {
    table.finding.as_ref().is_some_and(|finding| finding.nth(table.list.at).is_some())
}

pub(crate) fn find_by(app: &mut App, by: isize) {
    // What the table was searched for is looked for in a record too, until that is searched for something else.
    let of_table = app.table.finding.as_ref().map(|finding| finding.typed.clone());
    if let Some(typed) = of_table.filter(|_| app.screens.record().is_some_and(|view| !view.has_searched()))
        && let Err(why) = find_in_record(&mut app.screens, &typed)
    {
        _ = app.status.fail(why);
        return;
    }
    let App { screens, keymap, store, table, status, .. } = app;
    match screens.top_screen_mut() {
        None => visit_found(store, table, status, by),
        Some(Screen::Record(view)) => {
            _ = match view.find_by(by, keymap) {
                Ok(said) => status.say(said),
                Err(why) => status.fail(why),
            };
        }
        Some(_) => {}
    }
}

/// Goes to a match of the table, so many further: 0 is the first at or after the cursor.
fn visit_found(store: &Store, table: &mut Table, status: &mut StatusLine, by: isize) {
    let (here, (found, size)) = (table.list.at, store.progress());
    let Some(finding) = &mut table.finding else { return };
    match finding.step(by, here) {
        Next::Go { row, wrapped, .. } => {
            let end = match (wrapped, by < 0) {
                (false, _) => "",
                (true, true) => " · wrapped to the bottom",
                (true, false) => " · wrapped to the top",
            };
            table.list.at = row;
            tell_match(table, status, row, end);
        }
        Next::Wait => finding.jump = Some((by, here)),
        // More records are on their way.
        Next::Nothing if found < size => finding.jump = Some((by, here)),
        Next::Nothing => {
            let typed = Shown::line(finding.typed.as_bytes());
            let hidden = finding.hidden();
            status.fail(match hidden {
                0 => shown!("No match for \"{typed}\""),
                1 => shown!("No match for \"{typed}\" in the listed records; 1 match is filtered out"),
                _ => shown!("No match for \"{typed}\" in the listed records; {hidden} matches are filtered out"),
            });
        }
    }
}

pub(crate) fn take_matches(
    store: &Store,
    table: &mut Table,
    status: &mut StatusLine,
    id: u64,
    (found, done): (Vec<(u32, Shown)>, bool),
) {
    if table.finding.as_ref().is_some_and(|finding| finding.id == id) {
        table.take_matches(found, done);
        land(store, table, status);
        // How many there are is known now: what was said of it is said again.
        let told = table.finding.as_ref().and_then(|finding| finding.told.clone());
        if let Some((said, row, end)) = told.filter(|_| done)
            && status.now.as_ref().is_some_and(|status| status.text == said)
        {
            tell_match(table, status, row, end);
        }
    }
}

fn tell_match(table: &mut Table, status: &mut StatusLine, row: usize, end: &'static str) {
    let record = table.record(row).unwrap_or(row);
    let Some(finding) = &mut table.finding else { return };
    let Some(said) = finding.sentence(row, record).map(|said| said.and(end)) else { return };
    finding.told = Some((said.clone(), row, end));
    status.say(said);
}

/// Takes in what a filter's search found; `true`: the table is to be put in order now, not with the next tick.
pub(crate) fn take_found(table: &mut Table, id: u64, found: &[u32], done: bool, now: Instant) -> bool {
    let Some(search) = table.filtering.as_mut().filter(|search| search.id == id) else { return false };
    let first = search.found.is_empty();
    search.take(found, done);
    if !first && !done {
        table.arrange_at = table.arrange_at.or(Some(now + REARRANGE));
    }
    first || done
}

/// Returns the effect that ends a search.
pub(crate) fn end_of(search: Option<Search>) -> Option<Effect> {
    search.map(|search| Effect::EndSearch(search.id))
}
