//! The one place where the state changes: `update` asks the top of the stack of screens, and routes what happened to it.

use std::ops::Range;
use std::time::Instant;

use crate::app::cursor::pointer;
use crate::app::offered::key_name;
use crate::app::records::current;
use crate::app::review::Review;
use crate::app::review::keys::to_resume;
use crate::app::review::news::save_said;
use crate::app::review::order::{count_progress, group_queue};
use crate::screens::table::state::Table;
use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::layout::Rect;

use crate::app::jumps::JumpPlace;
use crate::app::log::What;
use crate::app::msg::{Effect, Effects, Msg};
use crate::app::open_record::OpenRecord;
use crate::app::state::{App, Looks, Patience, REARRANGE, awaited, times};
use crate::app::status_line::StatusLine;
use crate::app::wanted::Wanted;
use crate::app::{across, export, forks, present, review, seek, view};
use crate::dialogs::dialog::Dialog;
use crate::dialogs::palette::Palette;
use crate::dialogs::{editor, fixes, keys, repair};
use crate::screens::adjudication::draw::disputed;
use crate::screens::cell_records::state::CellRecords;
use crate::screens::kind::ScreenKind;
use crate::screens::live::state::Live;
use crate::screens::rerun::state::Attempt;
use crate::screens::run::state::{LostRecord, LostSearch, RecordView};
use crate::screens::stack::{Focus, Screen, Screens};
use crate::screens::table::search::end_of;
use crate::screens::table::state::{Search, SortBy};
use crate::screens::{cell_records, live, rerun, run, side_by_side, table, wish};
use crate::widgets::keymap::{Action, Key, Lookup, Reason};
use crate::widgets::layout;
use crate::widgets::list::Move;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::session::FileView;
use stepscope_io::failure::Failure;
use stepscope_io::log::LogEvent;
use stepscope_io::pipeline::store::Store;
use stepscope_io::pipeline::store::{Change, LoadEvent};
use stepscope_io::source::input::Input as Source;
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_table::filter::Filter;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{Program, ended};

#[cfg(debug_assertions)]
#[cfg(test)]
mod tests;

/// A count cannot be longer.
const MAX_COUNT: usize = 10_000_000;

impl Program for App {
    type Msg = Msg;
    type Effect = Effect;

    fn update(&mut self, message: Msg, now: Instant) -> Effects {
        let before = self.table.list;
        let mut effects = take(self, message, now);
        effects.extend(table::search::follow_typing(self));
        let said = save_said(&mut self.review, &mut self.log, &self.store, &mut self.table, &self.forks.tree);
        effects.splice(0..0, said);
        self.patience = self.patience.after(awaited(self.screens.opening, self.copying, &self.store), now);
        self.status.keep();
        self.settle();
        let fresh = before != self.table.list || effects.iter().any(|effect| matches!(effect, Effect::Repaint));
        if self.screens.top() == ScreenKind::Table || fresh {
            effects.extend(ask_row_texts(self.area(), &self.store, &mut self.table));
        }
        let previewed = match self.screens.top() {
            ScreenKind::Table => self.table.chosen(self.store.len()),
            ScreenKind::Adjudication => disputed(&self.across, &self.kept.adjudication, &self.store),
            _ => None,
        };
        if let Some(record) = previewed.filter(|_| self.screens.dialog.is_none()) {
            effects.extend(ask_preview(&self.review, &self.store, &mut self.table, record));
        }
        effects.extend(cell_records::keys::renew(self, now));
        present::keys::without_traces(self.presenting.as_ref(), effects)
    }

    fn draw(&self, buf: &mut Buffer) -> Option<Position> {
        view::view(self, buf)
    }

    fn wake_at(&self) -> Option<Instant> {
        let running = self.screens.attempt().and_then(Attempt::wake_at);
        let made = self.screens.live().and_then(Live::wake_at);
        let listed = self.cell_records.go_on_at;
        let said = if let Patience::Until(at) = self.patience { Some(at) } else { None };
        self.table.arrange_at.into_iter().chain(running).chain(made).chain(said).chain(listed).min()
    }
}

impl App {
    /// Keeps every cursor within what there is and on screen.
    pub(crate) fn settle(&mut self) {
        let area = self.area();
        let top = self.screens.top();
        for screen in self.screens.kinds() {
            match screen.def().settle {
                Some(settle) => settle(self),
                None if screen == top => self.go(Move::By(0)),
                None => {}
            }
        }
        if top == ScreenKind::Table && self.screens.dialog.is_none() {
            self.review.leave_all_but(self.record());
        }
        if let Some(Dialog::Editor(editor)) = self.screens.dialog.as_mut().map(Dialog::own_mut) {
            editor.settle(editor::draw::height(editor, area));
        }
        if self.screens.dialog.is_some() {
            self.scroll_dialog(0);
        }
    }

    /// Keeps what survives a restart.
    pub(crate) fn keep(&self) -> Effect {
        let mut view = FileView {
            sort: (self.table.sort != SortBy::Position).then(|| self.table.sort.word().to_owned()),
            descending: self.table.descending,
            filter: self.table.taken_filter().to_owned(),
            record: self.record().unwrap_or(0) as u64,
            ..FileView::default()
        };
        review::keys::keep_place(&self.review, &self.screens, &mut view);
        Effect::KeepView(view, self.looks.chosen.clone(), self.table.typed_filters.clone())
    }

    /// Goes back to how the file was looked at before the restart.
    pub fn restore(&mut self, view: &FileView) {
        self.table.sort = view.sort.as_deref().and_then(SortBy::from_word).unwrap_or_default();
        self.table.descending = view.descending;
        self.return_to = usize::try_from(view.record).ok().filter(|record| *record > 0);
        review::keys::resume_at(&mut self.review, view);
        if Filter::parse(&view.filter, self.side.types()).is_ok() {
            self.early = self.set_filter(&view.filter);
        }
    }

    // What comes from the terminal.

    pub(crate) fn input(&mut self, input: Input) -> Effects {
        match self.review.hold(input, &mut self.screens) {
            Some(Input::Key(event)) => self.key(event),
            Some(Input::Paste(text)) => keys::paste(self, &text),
            Some(Input::Mouse(event)) => mouse(self, event),
            Some(Input::Background(rgb)) => {
                self.looks.take_background(rgb).unwrap_or_else(|why| _ = self.status.fail(why));
                Vec::new()
            }
            Some(Input::FocusGained | Input::FocusLost) | None => Vec::new(),
        }
    }

    pub(crate) fn key(&mut self, event: KeyEvent) -> Effects {
        let was_refused = self.status.now.take().is_some_and(|status| status.refused);
        let key = Key::from_event(event);
        self.presenting.iter_mut().for_each(|presenting| presenting.press(key));
        if Some(key) == Key::from_name("^C") {
            return interrupt(self);
        }
        if matches!(self.screens.dialog, Some(Dialog::Drop(_))) {
            return keys::answer_drop(self, event);
        }
        let front = self.focus();
        if matches!(front, Focus::Dialog(kind) if kind.takes_text()) {
            return keys::text_key(self, event);
        }
        self.screens.typed.push(key);
        let contexts = front.contexts();
        match self.keymap.look_up(&contexts, &self.screens.typed) {
            Lookup::Found(action) => {
                self.screens.typed.clear();
                // Behind a refused key, Escape answers the refusal and does not leave. A running call is still
                // cancelled.
                let is_screen = matches!(front, Focus::Screen(screen) if screen != ScreenKind::Table);
                let runs = self.screens.attempt().is_some_and(Attempt::is_running)
                    || self.screens.live().is_some_and(Live::is_running);
                let leaves = is_screen && !runs;
                if action == Action::Escape && was_refused && leaves {
                    self.count = None;
                    return Vec::new();
                }
                if action == Action::GiveLabel {
                    self.count = key.digit();
                }
                self.act(action)
            }
            Lookup::Prefix => Vec::new(),
            Lookup::Unknown => {
                let typed = std::mem::take(&mut self.screens.typed);
                let digit = key.digit().filter(|digit| typed.len() == 1 && (*digit > 0 || self.count.is_some()));
                let count = digit.map(|digit| self.count.unwrap_or(0) * 10 + digit);
                self.count = count.map(|count| count.min(MAX_COUNT));
                if digit.is_none() { self.status.say_unbound(&self.keymap, &typed) } else { Vec::new() }
            }
        }
    }

    // Actions.

    /// Does an action: the dialog in front does it, else the screen, and last its own row.
    pub(crate) fn act(&mut self, action: Action) -> Effects {
        let count = self.count;
        if let Err(why) = self.allowed(action) {
            self.count = None;
            return self.status.refuse(&self.keymap, why);
        }
        if let Some(place) = JumpPlace::here(&self.screens, &self.store, &self.table) {
            self.jumps.leave(place, action);
        }
        review::keys::stay(&mut self.review, action);
        let effects = keys::dialog_action(self, action).unwrap_or_else(|| {
            // Any other key cancels the pending jump.
            self.across.partner_of = None;
            let done = (self.screens.top().def().act)(self, action, times(count));
            done.unwrap_or_else(|| (action.def().run)(self, action, times(count)))
        });
        if self.count == count {
            self.count = None;
        }
        effects
    }

    pub(crate) fn go(&mut self, movement: Move) {
        (self.screens.top().def().go)(self, movement);
    }

    pub(crate) fn request(&mut self, record: usize, screen: ScreenKind) -> Effects {
        // The preview was read as it would be now.
        let hide = self.review.hide_for(record);
        let is_checked = self.store.row(record).is_some_and(|row| row.has(Flag::Checked));
        let prefetched = review::keys::take_prefetched(&mut self.review, record);
        let ready = prefetched.or_else(|| self.table.take_previewed(record, is_checked, hide));
        if let Some(opened) = ready {
            self.screens.opening = None;
            return self.show_record(*opened, screen);
        }
        let Some(work) = review::keys::read_record(&self.review, &self.store, record) else { return Vec::new() };
        self.screens.opening = Some((record, screen));
        vec![work]
    }

    /// Returns to the table, out of everything.
    pub(crate) fn back_to_table(&mut self) -> Effects {
        self.screens.opening = None;
        let running = [self.screens.attempt().map(|attempt| attempt.id), self.screens.live().map(|live| live.id)];
        self.screens.clear();
        // What the filter hides by now is hidden.
        if self.table.filter.needs_reviews() {
            self.arrange();
        }
        running.into_iter().flatten().map(Effect::CancelRun).collect()
    }

    pub(crate) fn arrange(&mut self) {
        let records = self.store.len();
        let Self { store, table, across, forks, review, side, .. } = self;
        let fits = |filter: &Filter, record: usize, row: &RowFacts| {
            let is_in = |set: &str| across.holds(set, store.address(record));
            filter.fits_in(row, side.models(), is_in)
        };
        // Forks come with their parents, unless the filter says whether they are wanted.
        let all = !table.filter.is_exact();
        let fork_tree = (!forks.tree.is_empty()).then_some(|rows: &[u32]| forks.tree.order(store, rows, all));
        let row = |record: usize| Some(store.row(record)?.hiding(review.hidden_of(record)));
        // The order in which records are judged is the same before and after. Forks are assigned with their root.
        let queued = |record: usize| {
            let root = forks.tree.root_of(store, record);
            review.queue.key(root, &store.row(root)?.hiding(review.hide))
        };
        table.arrange(records, &row, &queued, fits, review, fork_tree);
        self.cell_records = CellRecords::default();
        self.review.reorder();
        if self.review.shows() {
            group_queue(&mut self.review, &self.store, &self.table, &self.forks.tree);
            count_progress(&mut self.review, &self.store, &mut self.table, &self.forks.tree);
        }
    }

    /// Shows a record that was read.
    pub(crate) fn show_record(&mut self, opened: OpenRecord, screen: ScreenKind) -> Effects {
        let mut view = RecordView::new(opened);
        if let Some(before) = self.screens.record() {
            view = view.like(before);
            let (from, to) = (before.opened.index, view.opened.index);
            if from != to && self.forks.tree.root_of(&self.store, from) == self.forks.tree.root_of(&self.store, to) {
                view.go_to_moment(before.moment.0);
            }
        }
        let is_from_json = self.screens.record().is_some_and(|before| before.json);
        view.json |= screen == ScreenKind::Json;
        // From one JSON to the next the cursor is on what is wrong in it, as on other screens.
        if is_from_json && view.json {
            view.show_fault_in_json();
        }
        let is_from_table = self.screens.top() == ScreenKind::Table;
        self.screens.show_record(view);
        self.forks.recall_edits(&mut self.screens, &self.store);
        if is_from_table && table::search::is_on_match(&self.table) {
            table::search::find_by(self, 1);
        }
        review::keys::resumed(&mut self.screens, &mut self.review, &mut self.status);
        review::keys::look_at_open(self)
    }
}

fn take(app: &mut App, message: Msg, now: Instant) -> Effects {
    match message {
        Msg::Start(size) => {
            app.size = size;
            let reviews = app.review.shows().then_some(Effect::ReadReviews);
            let early = std::mem::take(&mut app.early);
            let begin = [Effect::Begin].into_iter().chain(early).chain(reviews);
            begin.chain(forks::follow::first_forks(&app.store, &mut app.forks, &app.table, &mut app.screens)).collect()
        }
        Msg::Resize(size) => {
            app.size = size;
            Vec::new()
        }
        Msg::Input(input) => {
            app.review.pressed(now);
            app.table.from_front &= !matches!(input, Input::Key(_) | Input::Mouse(_));
            app.input(input)
        }
        Msg::Tick if app.table.arrange_at.is_none_or(|at| now < at) => {
            app.screens.attempt_mut().into_iter().for_each(|attempt| attempt.pass(now));
            app.screens.live_mut().into_iter().for_each(|live| live.pass(now));
            Vec::new()
        }
        Msg::Tick => {
            app.table.arrange_at = None;
            app.arrange();
            table::search::go_on_searching(&app.store, &mut app.table, &app.review, &app.side, |_| true)
        }
        Msg::Returned(result) => run::edit::returned(&mut app.outside, &mut app.status, ended(result)),
        Msg::Panicked(text) => {
            app.status.fail(shown!("internal error, please report it: {}", Shown::line(text.as_bytes())))
        }
        Msg::Stop(_) => vec![app.keep()],
        Msg::Load(event) => loaded(app, event, now),
        Msg::RowTexts(moves, row_texts) => {
            // What was read before rows moved belongs to other numbers now.
            if moves == app.table.moves() {
                app.table.take_row_texts(row_texts);
            }
            Vec::new()
        }
        Msg::Preview(moves, opened) => {
            if moves == app.table.moves() {
                app.table.take_preview(opened);
            }
            Vec::new()
        }
        Msg::Record(record, result) => take_record(app, record, result),
        Msg::ForkOrigins(known) => {
            app.forks.tree.take_fork_origins(known);
            app.arrange();
            let App { store, forks, table, screens, .. } = app;
            forks::follow::look_by_hash(store, forks, table, screens).into_iter().collect()
        }
        Msg::ByHash(moves, found) => forks::follow::take_by_hash(app, moves, found),
        Msg::Log(event) => logged(app, event),
        Msg::Run(id, told) => match repair::repair_told(&mut app.screens, &mut app.models, id, told) {
            Ok(effects) => effects,
            Err(told) => match live::keys::take_told(&mut app.screens, id, told, now) {
                Ok(effects) => effects,
                Err(told) => {
                    let App { screens, keymap, status, .. } = app;
                    rerun::keys::take_told(screens, keymap, status, (id, told), now)
                }
            },
        },
        Msg::Live(id, reached) => {
            let wish = live::keys::take_reached(&mut app.screens, &mut app.models, id, reached);
            wish::fulfil(app, wish)
        }
        Msg::Reached(id, reached) => {
            let App { screens, models, keymap, status, .. } = app;
            rerun::keys::take_reached(screens, models, keymap, status, (id, *reached))
        }
        Msg::Chosen(id, chosen) => match repair::repair_chosen(app, id, chosen) {
            Ok(()) => Vec::new(),
            Err(chosen) => rerun::keys::take_chosen(app, id, chosen),
        },
        Msg::Candidates(id, candidates, trouble) => {
            rerun::choosing::take_candidates(&mut app.screens, id, candidates, trouble);
            Vec::new()
        }
        Msg::Reviews(events, anew, sentences) => review::news::take_reviews(app, events, anew, sentences),
        Msg::ReviewsFailed(failure) => {
            app.status.fail(shown!("{failure}"));
            app.review.trouble = Some(failure);
            Vec::new()
        }
        Msg::Drafts(events) => {
            app.review.take_kept(&mut app.log, events);
            if let Some((said, failed)) = review::news::left_over(&app.review, &app.log, &app.keymap) {
                _ = if failed { app.status.fail(said) } else { app.status.say(said) };
            }
            review::news::reviews_changed(app)
        }
        Msg::DraftsKept(kept) => {
            let said = review::news::drafts_kept(&mut app.review, kept, &app.log, &app.keymap);
            said.map_or_else(Vec::new, |said| app.status.fail(said))
        }
        Msg::Reviewed(moves, records) => review::news::take_reviewed(&app.store, &app.table, moves, records),
        Msg::Summaries(moves, None, summaries) => {
            if moves == app.table.moves() {
                let known = summaries.iter().filter_map(|(record, summary)| Some((*record, summary.as_deref()?)));
                known.for_each(|(record, summary)| app.review.learn(record, summary));
                table::search::explain_found(&mut app.table, &app.review, &app.keymap, &mut app.status);
                // Counted and put in order with the next tick: there may be many more.
                app.table.arrange_at = app.table.arrange_at.or(Some(now + REARRANGE));
            }
            Vec::new()
        }
        Msg::Summaries(_, Some(id), summaries) => {
            let said = review::news::label_summaries(&mut app.review, &app.keymap, id, summaries);
            said.map_or_else(Vec::new, |said| app.status.say(said))
        }
        Msg::Found(id, found, done) => {
            let sought = seek::follow::take_found(app, id, &found, done);
            if !sought.is_empty() {
                return sought;
            }
            if table::search::take_found(&mut app.table, id, &found, done, now) {
                app.arrange();
            }
            if !done {
                return Vec::new();
            }
            table::search::go_on_searching(&app.store, &mut app.table, &app.review, &app.side, |_| true)
        }
        Msg::Matched(id, found, done) => {
            table::search::take_matches(&app.store, &mut app.table, &mut app.status, id, (found, done));
            if !done {
                return Vec::new();
            }
            table::search::follow_matches(&app.store, &mut app.table, &app.review, &mut app.status)
        }
        Msg::EditorFile(file) => run::edit::editor_file(&app.screens, &mut app.outside, &mut app.status, file),
        Msg::EditorText(text) => {
            let apply = run::edit::taking()
                .and_then(|binding| key_name(&app.keymap, app.screens.dialog.as_ref(), app.focus(), binding));
            let apply = apply.unwrap_or_default();
            run::edit::editor_text(&mut app.screens, &mut app.status, text, &apply);
            Vec::new()
        }
        Msg::Exported(path, result) => {
            let asked = export::exported(&mut app.export, &mut app.status, &path, result);
            // Other work that was begun meanwhile is not interrupted.
            let is_free = app.screens.dialog.is_none() && app.screens.opening.is_none();
            if let Some((purpose, typed)) = asked.filter(|_| is_free) {
                app.screens.open_prompt(purpose, typed);
            }
            Vec::new()
        }
        Msg::Views(change, kept) => {
            let (text, is_done) = app.views.take(&change, kept);
            if is_done { app.status.say(text) } else { app.status.fail(text) }
        }
        Msg::AcrossPercent(id, percent) => across::keys::take_percent(&mut app.across, id, percent),
        Msg::Compared(id, result) => across::keys::take_comparison(app, id, result),
        Msg::Dashboard(id, result) => across::keys::take_dashboard(app, id, result),
        Msg::SideBySide(record, result) => side_by_side::keys::take_sides(app, record, result),
        Msg::ForkMade(record, made) => side_by_side::keys::take_made(app, record, made),
        Msg::Fixes(record, found) => fixes::keys::take_fixes(app, record, found),
        Msg::SearchFailed(id, failure) => {
            let ids = [
                app.table.filtering.as_ref().map(|search| search.id),
                app.table.finding.as_ref().map(|finding| finding.id),
            ];
            if ids.contains(&Some(id)) {
                app.status.fail(shown!("{failure}"));
            }
            Vec::new()
        }
    }
}

/// `^C`: cancels what runs, asks about what was typed, else ends the program.
fn interrupt(app: &mut App) -> Effects {
    let cancelled =
        repair::cancel_repair(&mut app.screens).or_else(|| rerun::keys::cancel_run(&mut app.screens, &mut app.status));
    if let Some(effects) = cancelled.or_else(|| live::keys::cancel(&mut app.screens)) {
        return effects;
    }
    match &app.screens.dialog {
        Some(Dialog::Drop(_)) => {
            app.screens.dialog = None;
            Vec::new()
        }
        Some(dialog) if dialog.is_typed_in() => app.close(),
        _ => quit(app),
    }
}

/// Goes to the next finding of the open record, or to the listed record that is sought, so many further.
pub(crate) fn go_to_wanted(app: &mut App, action: Action, times: isize) -> Effects {
    let is_of_record = matches!(action, Action::NextFinding | Action::PreviousFinding);
    if let Some(view) = app.screens.record_mut().filter(|_| is_of_record) {
        view.next_finding(times);
        return Vec::new();
    }
    let (wanted, rows) = (Wanted::of(action), app.rows());
    let open = current(&app.screens, &app.store, &app.table).filter(|_| app.screens.top() != ScreenKind::Table);
    let root = |record| app.forks.tree.root_of(&app.store, record);
    let here = open.map_or(app.table.list.at, |record| app.table.row_of(root(record)));
    let way = times.signum();
    let others = (1..rows).map(|step| (here as isize + way * step as isize).rem_euclid(rows as isize) as usize);
    let fitting = others.filter_map(|row| {
        let record = app.table.record(row)?;
        app.review.shown_row(&app.store, record).filter(|facts| wanted.holds(facts)).map(|_| (row, record))
    });
    let found = fitting.take(times.unsigned_abs()).last();
    go_to_record(app, found.ok_or(wanted.none_listed()))
}

/// Gives the mouse to the terminal, or takes it.
pub(crate) fn turn_mouse(mouse: &mut bool, status: &mut StatusLine) -> Effects {
    *mouse = !*mouse;
    status.say(Shown::own(if *mouse { "Mouse on" } else { "Mouse off: select text with the terminal" }));
    vec![Effect::Mouse(*mouse)]
}

fn mouse(app: &mut App, event: MouseEvent) -> Effects {
    let at = Position::new(event.column, event.row);
    let rows = match event.kind {
        MouseEventKind::ScrollDown => Some(3),
        MouseEventKind::ScrollUp => Some(-3),
        MouseEventKind::Down(MouseButton::Right) if app.screens.dialog.is_none() => None,
        MouseEventKind::Down(MouseButton::Left | MouseButton::Right) => return click(app, at),
        _ => return Vec::new(),
    };
    if let Some(rows) = rows.filter(|_| app.screens.dialog.is_some()) {
        app.scroll_dialog(rows);
        return Vec::new();
    }
    // The pane under the mouse gets the keys.
    (app.screens.top().def().focus)(app, at);
    match rows {
        // What is under the mouse moves by rows, whatever count was typed.
        Some(rows) => app.go(Move::By(rows)),
        None => app.screens.open_dialog(Dialog::Palette(Palette::default())),
    }
    Vec::new()
}

fn click(app: &mut App, at: Position) -> Effects {
    app.status.now = None;
    if let Some(effects) = keys::click(app, at) {
        return effects;
    }
    if let Some(dialog) = &app.screens.dialog {
        // A slip of the hand drops no text and no call.
        return if dialog.is_held() { Vec::new() } else { app.close() };
    }
    let body = layout::parts(app.area()).body;
    if !body.contains(at) {
        return Vec::new();
    }
    if let Some(effects) = cell_records::keys::click(app, at) {
        return effects;
    }
    let asked = (app.screens.top().def().click)(app, at, body);
    asked.map_or_else(Vec::new, |action| app.act(action))
}

pub(crate) fn back(app: &mut App) -> Effects {
    app.screens.opening = None;
    if app.screens.top() == ScreenKind::Table {
        return quit(app);
    }
    if let Some(Screen::Record(view)) = app.screens.top_screen_mut()
        && view.kind() != view.own_kind()
    {
        view.json = false;
        return Vec::new();
    }
    if app.screens.len() <= 1 {
        return app.back_to_table();
    }
    app.screens.pop();
    Vec::new()
}

pub(crate) fn escape(app: &mut App) -> Effects {
    if app.count.is_some() {
        return Vec::new();
    }
    if app.reading().is_some() {
        (app.screens.opening, app.copying) = (None, None);
        return Vec::new();
    }
    if let Some(Screen::Record(view)) = app.screens.top_screen_mut()
        && !view.json
    {
        if view.anchor.take().is_some() {
            return Vec::new();
        }
        if view.maximised {
            view.maximised = false;
            return Vec::new();
        }
    }
    if app.screens.top() != ScreenKind::Table {
        return back(app);
    }
    app.screens.opening = None;
    if let Some(end) = app.table.end_find() {
        return vec![end];
    }
    if !app.table.filter_text.is_empty() {
        return app.set_filter("");
    }
    app.status.say(Shown::own("q quits"))
}

pub(crate) fn quit(app: &mut App) -> Effects {
    let (unsaved, edited) = (app.log.failed_forks() > 0, app.forks.edits.len());
    let may_drop = rerun::keys::may_drop(&mut app.screens, Action::Quit);
    if let Err(why) =
        may_drop.and_then(|()| live::keys::may_drop(&mut app.screens, Action::Quit, app.presenting.is_some()))
    {
        return app.status.say(app.keymap.shown(why));
    }
    let is_made = app.presenting.is_none() && app.screens.side_by_side().is_some_and(|sides| sides.fork.is_some());
    if is_made && !app.forks.warn() {
        app.status.fail(app.keymap.shown("unsaved fork: <keep> saves it, quit again discards it"));
        return Vec::new();
    }
    if (unsaved || edited > 0) && !app.forks.warn() {
        let records = if edited == 1 { "1 record" } else { "several records" };
        app.status.fail(if unsaved {
            app.keymap.shown("a fork is not saved: <save_again> retries, quit again discards it")
        } else if app.forks.edits.values().all(|edits| edits.values.is_empty()) {
            // A fork holds values: an edited prompt alone can only be sent.
            let keys = app.keymap.shown("<rerun> on the run previews it, quit again discards it");
            shown!("{records} with an unsent prompt: {keys}")
        } else {
            let keys = app.keymap.shown("<keep> on the run saves them as a fork, quit again discards them");
            shown!("{records} with unsaved overrides: {keys}")
        });
        return Vec::new();
    }
    if let Some((said, failed)) = review::news::hold_quit(&mut app.review, &app.log, &app.keymap) {
        return if failed { app.status.fail(said) } else { app.status.say(said) };
    }
    vec![app.keep(), Effect::Quit(0)]
}

/// Goes back to the place of the last jump, or forth again.
pub(crate) fn jump(app: &mut App, back: bool) -> Effects {
    let Some(here) = JumpPlace::here(&app.screens, &app.store, &app.table) else { return Vec::new() };
    let place = match app.jumps.go(back, here) {
        Ok(place) => place,
        Err(why) => return app.status.refuse(&app.keymap, why),
    };
    let Some(record) = app.store.position(place.record.0, place.record.1) else {
        return app.status.refuse(&app.keymap, "that record is no longer there");
    };
    app.table.list.at = app.table.row_of(record);
    if place.screen == ScreenKind::Table {
        return app.back_to_table();
    }
    let screen = if place.screen == ScreenKind::Json { "json" } else { "run" };
    let (step, scroll) = (Some(place.moment), Some(place.row));
    let view = FileView { screen: Some(screen.to_owned()), record: record as u64, step, scroll, ..FileView::default() };
    review::keys::resume_at(&mut app.review, &view);
    app.request(record, place.screen)
}

/// Goes to a record of the list: puts the cursor of the table on it, or opens it in place of the open one.
pub(crate) fn go_to_record(app: &mut App, found: Result<(usize, usize), Reason>) -> Effects {
    match found {
        Ok((row, record)) => {
            app.table.list.at = row;
            let top = app.screens.top();
            if top == ScreenKind::Table { Vec::new() } else { app.request(record, top) }
        }
        Err(why) => app.status.say(Shown::own(why)),
    }
}

pub(crate) fn next_theme(looks: &mut Looks, status: &mut StatusLine) -> Effects {
    let names: Vec<String> = looks.all.iter().map(|(name, _)| name.clone()).collect();
    let at = looks.chosen.as_ref().and_then(|chosen| names.iter().position(|name| name == chosen));
    let mut next = at.map_or(0, |at| at + 1);
    // A theme that cannot be used is said and left out of the round: it must not end it.
    while let Err(why) = looks.choose(names.get(next).map(String::as_str)) {
        status.fail(why);
        next += 1;
    }
    if status.now.is_none() {
        let name = looks.chosen.clone().unwrap_or_else(|| "chosen by the terminal's background".into());
        status.say(shown!("Theme: {}", Shown::line(name.as_bytes())));
    }
    Vec::new()
}

// Copying.

pub(crate) fn copy(screens: &Screens, status: &mut StatusLine, action: Action) -> Effects {
    let Some(view) = screens.record() else { return Vec::new() };
    let opened = &view.opened;
    let place = pointer(screens);
    let (text, what) = match action {
        Action::CopyPath => (Some(Shown::line(place.text().bytes())), "the path"),
        Action::CopyQuestion => (Some(opened.question.clone()), "the question"),
        Action::CopyStep => (view.step().and_then(|step| opened.step_json(step)), "the step"),
        Action::CopyRecord => (Some(Shown::prose(opened.text())), "the record"),
        _ if screens.top() == ScreenKind::Rerun => (rerun::keys::copied_of_rerun(screens), "the text"),
        _ if screens.top() == ScreenKind::Json => (opened.value_at(&place), "the value"),
        _ => (view.chosen_text().map(|(_, text)| text), "the value"),
    };
    status.copy_if_any(text, what)
}

/// Takes in the outcome of writing a line.
fn logged(app: &mut App, LogEvent { id, result }: LogEvent) -> Effects {
    let Some(line) = app.log.told(id, result.as_ref().err().cloned()) else { return Vec::new() };
    match line.what {
        What::Fork | What::Run => {
            rerun::keys::note_saved(&mut app.screens, &mut app.forks, id, result.is_ok());
            let done = live::keys::note_saved(&mut app.screens, id, result.is_ok());
            let place = line.append.place;
            let source = match line.what {
                What::Run => Source::Named(place.path().to_owned()),
                _ => Source::Forks(place),
            };
            let App { forks, keymap, status, .. } = app;
            let mut effects = forks::follow::fork_wrote(forks, keymap, status, source, result);
            effects.extend(done);
            effects
        }
        What::Verdict(_) => review::news::saved(app, None, result),
        What::Decision(event) => {
            let name = app.review.title_of(&event);
            review::news::saved(app, Some(&name), result)
        }
    }
}

fn loaded(app: &mut App, event: LoadEvent, now: Instant) -> Effects {
    let before = app.store.len();
    let cursor = app.record().and_then(|record| app.store.address(record));
    let open = app.screens.placed().and_then(|view| app.store.address(view.opened.index));
    let opening = app.screens.opening.and_then(|(record, _)| app.store.address(record));
    let found = forks::follow::forks_source(&app.store, &event);
    let mut effects = Vec::new();
    let told = last_failure(&app.store);
    let change = app.store.apply(event);
    if change != Change::Failure
        && last_failure(&app.store) != told
        && app.status.now.as_ref().map(|status| &status.text) == told.as_ref()
    {
        // It could be read again.
        app.status.now = None;
    }
    let App { forks, store, table, screens, .. } = &mut *app;
    effects.extend(forks::follow::follow_fork_tree(store, forks, table, screens, found));
    match change {
        Change::None => return Vec::new(),
        Change::Failure => {
            if let Some(failure) = last_failure(&app.store) {
                app.status.fail(failure);
            }
        }
        Change::Moved => effects.extend(follow_moved(app, cursor, open, opening)),
        Change::Rows => {}
    }
    app.cell_records = CellRecords::default();
    if let Some(record) = app.return_to.filter(|record| *record < app.store.len()) {
        app.return_to = None;
        app.table.list.at = app.table.row_of(record);
    }
    if let Some((record, screen)) = to_resume(&app.review, &app.store, &app.screens) {
        effects.extend(app.request(record, screen));
    }
    effects.extend(seek::follow::go_on(&mut app.seek, &app.store, &app.review, &mut app.status));
    if !app.table.is_natural() {
        app.table.arrange_at = app.table.arrange_at.or(Some(now + REARRANGE));
    }
    let App { store, table, review, side, status, .. } = app;
    effects.extend(table::search::begin_search(store, table, review, side));
    if store.len() > before {
        effects.extend(table::search::go_on_searching(store, table, review, side, |search| search.done));
    }
    effects.extend(table::search::follow_matches(store, table, review, status));
    let App { across, store, table, screens, .. } = app;
    effects.extend(across::keys::refresh_across(across, store, table, screens, app.models.samples));
    if app.review.shows() {
        if change == Change::Moved && !review::news::records_moved(&mut app.review, &app.screens) {
            app.status.fail(Shown::own("the file has changed; look again before you give a verdict"));
        }
        let App { review, store, table, forks, .. } = app;
        effects.extend(review::news::records_loaded(review, store, table, &forks.tree));
    }
    effects
}

/// The last failure of reading.
fn last_failure(store: &Store) -> Option<Shown> {
    store.failures.last().map(|(_, failure)| Shown::from(failure))
}

/// Positions have moved: the cursor and the open record stay on what they were on.
fn follow_moved(
    app: &mut App,
    cursor: Option<(usize, u64)>,
    open: Option<(usize, u64)>,
    opening: Option<(usize, u64)>,
) -> Effects {
    app.table.forget_row_texts();
    // What was found has moved too; `n` looks again, and the filter with the next tick.
    let mut effects: Effects = app.table.end_find().into_iter().collect();
    if let Some(old) = app.table.filtering.take() {
        let id = app.table.new_search_id();
        app.table.filtering = Some(Search::new(id, &old.typed, old.filter.clone()));
        effects.extend(end_of(Some(old)));
    }
    app.arrange();
    let position = |address: Option<(usize, u64)>| address.and_then(|(source, byte)| app.store.position(source, byte));
    if let Some(record) = position(cursor) {
        app.table.list.at = app.table.row_of(record);
    }
    // A lost record may be back: look again.
    if let Some(lost) = app.screens.record_mut().and_then(|view| view.lost.as_mut()) {
        lost.search = LostSearch::Due;
    }
    if let Some((source, _)) = open {
        let record = position(open);
        if let Some(view) = app.screens.record_mut() {
            if let Some(record) = record {
                view.opened.index = record;
            } else {
                let hash = view.opened.hash();
                view.lost = Some(LostRecord { hash, source, search: LostSearch::Due });
            }
        }
    }
    if let Some((_, screen)) = app.screens.opening.take()
        && let Some(record) = position(opening)
    {
        effects.extend(app.request(record, screen));
    }
    effects
}

fn take_record(app: &mut App, record: usize, result: Result<Box<OpenRecord>, Failure>) -> Effects {
    let (mut opened, failure) = match result {
        Ok(opened) => (Some(opened), None),
        Err(failure) => (None, Some(failure)),
    };
    let wanted = failure.is_some() && review::keys::review_unread(&mut app.review, record);
    let mut effects = review::keys::take_review_record(app, &mut opened, record);
    let copying = app.copying.take_if(|(wanted, _)| *wanted == record).map(|(_, action)| action);
    let opening = app.screens.opening.take_if(|(wanted, _)| *wanted == record).map(|(_, screen)| screen);
    if let Some(failure) = failure.filter(|_| wanted || copying.is_some() || opening.is_some()) {
        app.status.fail(shown!("{failure}"));
    }
    let Some(opened) = opened.filter(|_| copying.is_some() || opening.is_some()) else { return effects };
    effects.extend(match copying {
        Some(Action::CopyQuestion) => app.status.copy_if_any(Some(opened.question.clone()), "the question"),
        Some(_) => app.status.copy_if_any(Some(Shown::prose(opened.text())), "the record"),
        None => Vec::new(),
    });
    if let Some(screen) = opening {
        effects.extend(app.show_record(*opened, screen));
    }
    effects
}

/// Tells whether every row of the table that is on screen has its texts.
pub(crate) fn has_row_texts(area: Rect, store: &Store, table: &Table) -> bool {
    let (len, height) = (table.len(store.len()), layout::table_height(area));
    table.missing_row_texts(table.list.visible(len, height)).is_empty()
}

/// A larger record is read when it is opened, and not before.
const MAX_PREVIEW: u32 = 256 << 10;

/// The record under the cursor, for the preview and the line below the table.
fn ask_preview(review: &Review, store: &Store, table: &mut Table, record: usize) -> Option<Effect> {
    let row = *store.row(record)?;
    if row.len > MAX_PREVIEW || !table.wants_preview(record, row.has(Flag::Checked)) {
        return None;
    }
    let hide = review.hide_for(record);
    Some(Effect::Preview(table.moves(), record, store.reading(record)?, row, hide))
}

/// The texts of the rows on screen that were not read yet.
fn ask_row_texts(area: Rect, store: &Store, table: &mut Table) -> Option<Effect> {
    let (len, height) = (table.len(store.len()), layout::table_height(area));
    let visible: Range<usize> = table.list.visible(len, height);
    // What may come next is read ahead, a page at a time, so that a page is drawn once and whole.
    let around = |pages: usize| visible.start.saturating_sub(pages * height)..(visible.end + pages * height).min(len);
    let near = table.missing_row_texts(around(1));
    let is_early = near.len() < height.div_ceil(2) && table.missing_row_texts(around(0)).is_empty();
    if is_early || table.has_asked(&near) {
        return None;
    }
    let missing = table.missing_row_texts(around(2));
    let missing = table.ask_row_texts(missing, store);
    let values = table.columns().values();
    (!missing.is_empty()).then_some(Effect::RowTexts(table.moves(), missing, values))
}
