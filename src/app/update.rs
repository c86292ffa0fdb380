//! The one place where the state changes: `update` asks the top of the stack of screens, and routes what happened to it.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::app::review::Review;
use crate::screens::table::state::Table;
use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::layout::Rect;

use crate::app::jumps::JumpPlace;
use crate::app::log::What;
use crate::app::msg::{Effect, Effects, Msg};
use crate::app::open_record::OpenRecord;
use crate::app::state::{App, Patience, REARRANGE};
use crate::app::status_line::Status;
use crate::app::wanted::Wanted;
use crate::app::{across, export, forks, present, review, seek, view};
use crate::dialogs::dialog::{Dialog, Popup};
use crate::dialogs::palette::Palette;
use crate::dialogs::{editor, fixes, keys, repair};
use crate::screens::adjudication::draw::disputed;
use crate::screens::cell_records::state::CellRecords;
use crate::screens::kind::ScreenKind;
use crate::screens::live::state::Live;
use crate::screens::rerun::state::Attempt;
use crate::screens::run::state::{LostRecord, LostSearch, RecordView};
use crate::screens::stack::{Focus, Screen};
use crate::screens::table::search::end_of;
use crate::screens::table::state::{Search, SortBy};
use crate::screens::{cell_records, json, live, rerun, run, side_by_side, table, wish};
use crate::widgets::keymap::{Action, Key, Lookup, OPEN_RECORD, Reason};
use crate::widgets::layout;
use crate::widgets::list::Move;
use crate::widgets::theme::Theme;
use stepscope_base::json::Pointer;
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
use stepscope_terminal::colour::Rgb;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{COPY_LIMIT, Program, ended};

#[cfg(debug_assertions)]
#[cfg(test)]
mod tests;

/// A record that is there sooner is opened without a word.
const UNSAID: Duration = Duration::from_millis(150);
/// A count cannot be longer.
const MAX_COUNT: usize = 10_000_000;

impl Program for App {
    type Msg = Msg;
    type Effect = Effect;

    fn update(&mut self, message: Msg, now: Instant) -> Effects {
        let before = self.table.list;
        let mut effects = take(self, message, now);
        effects.extend(table::search::follow_typing(self));
        wait(self, now);
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
        present::keys::without_traces(self, effects)
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
        review::keys::settle_review(self);
        if let Some(Dialog::Editor(editor)) = self.screens.dialog.as_mut().map(Dialog::own_mut) {
            editor.settle(editor::draw::height(editor, area));
        }
        if self.screens.dialog.is_some() {
            self.scroll_dialog(0);
        }
    }

    /// Tells whether every row of the table that is on screen has its texts.
    pub(crate) fn has_row_texts(&self) -> bool {
        let (len, height) = (self.rows(), layout::table_height(self.area()));
        self.table.missing_row_texts(self.table.list.visible(len, height)).is_empty()
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

    /// Opens what the status line said before.
    pub(crate) fn open_messages(&mut self) {
        let title = Shown::own("messages, newest first");
        self.screens.open_dialog(Dialog::Popup(Popup { title, text: self.status.earlier() }));
    }

    // What comes from the terminal.

    pub(crate) fn input(&mut self, input: Input) -> Effects {
        if let Some(input) = review::keys::must_wait(self, input) { input_now(self, input) } else { Vec::new() }
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
                if digit.is_none() { self.say_unbound(&typed) } else { Vec::new() }
            }
        }
    }

    /// Tells that keys mean nothing here; a key without a name is left alone.
    fn say_unbound(&mut self, typed: &[Key]) -> Effects {
        let names: Vec<String> = typed.iter().map(|key| key.name()).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let text = shown!("{} does nothing here; {} lists the keys", names.join(" "), self.keymap.key_of(Action::Help));
        self.status.now = Some(Status { text, failed: false, refused: true });
        Vec::new()
    }

    // Actions.

    pub(crate) fn act(&mut self, action: Action) -> Effects {
        let count = self.count;
        if let Err(why) = self.allowed(action) {
            self.count = None;
            return self.status.refuse(&self.keymap, why);
        }
        if let Some(place) = self.jump_place() {
            self.jumps.leave(place, action);
        }
        let effects = perform(self, action);
        if self.count == count {
            self.count = None;
        }
        effects
    }

    /// Returns the place where one is, on the table or in a record.
    pub(crate) fn jump_place(&self) -> Option<JumpPlace> {
        let screen = self.screens.top();
        let record = self.store.address(self.current()?)?;
        let view = self.screens.record().filter(|view| screen == view.kind());
        let row = view.map(|view| match (screen, &view.answer) {
            (ScreenKind::Json, _) => view.outline.list,
            (_, Some(answer)) => answer.items,
            _ => view.variables,
        });
        let row = row.map_or((0, 0), |list| (list.at, list.top));
        let moment = view.map_or(0, |view| view.moment.0);
        (screen == ScreenKind::Table || view.is_some()).then_some(JumpPlace { record, screen, moment, row })
    }

    pub(crate) fn times(&self) -> isize {
        isize::try_from(self.count.unwrap_or(1)).unwrap_or(1)
    }

    pub(crate) fn go(&mut self, movement: Move) {
        (self.screens.top().def().go)(self, movement);
    }

    pub(crate) fn request(&mut self, record: usize, screen: ScreenKind) -> Effects {
        // The preview was read as it would be now.
        let hide = review::keys::hide_for(&self.review, record);
        let is_checked = self.store.row(record).is_some_and(|row| row.has(Flag::Checked));
        let prefetched = review::keys::take_prefetched(&mut self.review, record);
        let ready = prefetched.or_else(|| self.table.take_previewed(record, is_checked, hide));
        if let Some(opened) = ready {
            self.screens.opening = None;
            self.show_record(*opened, screen);
            return review::keys::review_opened(self);
        }
        let Some(work) = self.read_record(record) else { return Vec::new() };
        self.screens.opening = Some((record, screen));
        vec![work]
    }

    pub(crate) fn read_record(&self, record: usize) -> Option<Effect> {
        let hide = review::keys::hide_for(&self.review, record);
        Some(Effect::Record(record, self.store.reading(record)?, *self.store.row(record)?, hide))
    }

    /// Returns to the table, out of everything.
    pub(crate) fn back_to_table(&mut self) -> Effects {
        self.screens.opening = None;
        let running = [self.screens.attempt().map(|attempt| attempt.id), self.screens.live().map(|live| live.id)];
        self.screens.clear();
        review::keys::review_left(self);
        running.into_iter().flatten().map(Effect::CancelRun).collect()
    }

    /// Finds the record `by` rows further than the open one, with its row.
    pub(crate) fn record_from(&self, by: isize) -> Result<(usize, usize), Reason> {
        let view = self.screens.record().ok_or(OPEN_RECORD)?;
        let here = self.own_row_of(view.opened.index);
        let here = here.unwrap_or_else(|| self.table.row_of(self.root_of(view.opened.index)));
        let row = self.table.row_from(here, by, self.store.len());
        let record = self.table.record(row).filter(|record| *record != view.opened.index);
        let record = record.ok_or(if by > 0 { "this is the last record" } else { "this is the first record" })?;
        Ok((row, record))
    }

    /// Finds the listed record with what is wanted, `by` such records further than the one in front, with its row.
    pub(crate) fn record_with(&self, wanted: Wanted, by: isize) -> Option<(usize, usize)> {
        let rows = self.rows();
        let open = self.current().filter(|_| self.screens.top() != ScreenKind::Table);
        let here = open.map_or(self.table.list.at, |record| self.table.row_of(self.root_of(record)));
        let way = by.signum();
        let others = (1..rows).map(|step| (here as isize + way * step as isize).rem_euclid(rows as isize) as usize);
        let fitting = others.filter_map(|row| {
            let record = self.table.record(row)?;
            self.shown_row(record).filter(|facts| wanted.holds(facts)).map(|_| (row, record))
        });
        fitting.take(by.unsigned_abs()).last()
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
            review::keys::group_queue(self);
            review::keys::count_progress(self);
        }
    }

    /// Takes a theme by name; `None` lets the terminal's background choose. `false`: it cannot be used, and the status
    /// says why.
    pub fn choose_theme(&mut self, name: Option<&str>) -> bool {
        let text = name.and_then(|name| self.looks.all.iter().find(|(known, _)| known == name));
        match (name, text) {
            (Some(name), Some((_, text))) => match Theme::parse(name, text, self.looks.depth) {
                Ok(theme) => {
                    let is_against = self.background.is_some_and(|own| own.is_light() != theme.is_light());
                    self.looks.theme = if is_against { theme.painted() } else { theme };
                    self.looks.chosen = Some(name.to_owned());
                }
                Err(error) => {
                    let message = Shown::line(error.message.as_bytes());
                    self.status.fail(shown!(
                        "theme {}, line {}: {message}",
                        Shown::line(error.file.as_bytes()),
                        error.line
                    ));
                    return false;
                }
            },
            (Some(name), None) => {
                self.status.fail(shown!("no theme {}", Shown::line(name.as_bytes())));
                return false;
            }
            (None, _) => {
                self.looks.chosen = None;
                let name = if self.light { "light" } else { "dark" };
                if let Some(theme) = Theme::built_in(name, self.looks.depth) {
                    self.looks.theme = theme;
                }
            }
        }
        true
    }

    pub(crate) fn copy_if_any(&mut self, text: Option<Shown>, what: &'static str) -> Effects {
        if let Some(text) = text.filter(|text| !text.as_str().is_empty()) {
            self.copy(&text, what)
        } else {
            self.status.fail(Shown::own("nothing to copy here"))
        }
    }

    /// The place in the record that the cursor is on.
    pub(crate) fn pointer(&self) -> Pointer {
        let Some(view) = self.screens.record() else { return Pointer::default() };
        match (self.screens.top(), view.opened.root(), view.outline.current()) {
            (ScreenKind::Json, Some(root), Some(row)) => json::draw::pointer_of(root, row.node),
            _ => view.pointer(),
        }
    }

    pub(crate) fn copy(&mut self, text: &Shown, what: &'static str) -> Effects {
        if text.as_str().len() > COPY_LIMIT {
            self.status.fail(shown!(
                "{what} is too long for the terminal's clipboard ({} bytes); use stepscope show",
                text.as_str().len()
            ));
            return Vec::new();
        }
        self.status.say(shown!("Sent to the terminal's clipboard: {what}, {} bytes", text.as_str().len()));
        vec![Effect::Copy(text.as_str().to_owned())]
    }

    /// Shows a record that was read.
    pub(crate) fn show_record(&mut self, opened: OpenRecord, screen: ScreenKind) {
        let mut view = RecordView::new(opened);
        if let Some(before) = self.screens.record() {
            view = view.like(before);
            let (from, to) = (before.opened.index, view.opened.index);
            if from != to && self.root_of(from) == self.root_of(to) {
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
    }
}

fn take(app: &mut App, message: Msg, now: Instant) -> Effects {
    match message {
        Msg::Start(size) => {
            app.size = size;
            let reviews = app.review.shows().then_some(Effect::ReadReviews);
            let early = std::mem::take(&mut app.early);
            let begin = [Effect::Begin].into_iter().chain(early).chain(reviews);
            begin.chain(forks::follow::first_forks(app)).collect()
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
        Msg::ForkOrigins(known) => forks::follow::take_fork_origins(app, known),
        Msg::ByHash(moves, found) => forks::follow::take_by_hash(app, moves, found),
        Msg::Log(event) => logged(app, event),
        Msg::Run(id, told) => match repair::repair_told(&mut app.screens, &mut app.models, id, told) {
            Ok(effects) => effects,
            Err(told) => match live::keys::take_told(&mut app.screens, id, told, now) {
                Ok(effects) => effects,
                Err(told) => rerun::keys::take_told(app, id, told, now),
            },
        },
        Msg::Live(id, reached) => {
            let wish = live::keys::take_reached(&mut app.screens, &mut app.models, id, reached);
            wish::fulfil(app, wish)
        }
        Msg::Reached(id, reached) => rerun::keys::take_reached(app, id, *reached),
        Msg::Chosen(id, chosen) => match repair::repair_chosen(app, id, chosen) {
            Ok(()) => Vec::new(),
            Err(chosen) => rerun::keys::take_chosen(app, id, chosen),
        },
        Msg::Candidates(id, candidates, trouble) => {
            rerun::choosing::take_candidates(&mut app.screens, id, candidates, trouble);
            Vec::new()
        }
        Msg::Reviews(events, anew, sentences) => review::news::take_reviews(app, events, anew, sentences),
        Msg::ReviewsFailed(failure) => review::news::reviews_failed(app, failure),
        Msg::Drafts(events) => review::news::take_drafts(app, events),
        Msg::DraftsKept(kept) => review::news::drafts_kept(app, kept),
        Msg::Reviewed(moves, records) => review::news::take_reviewed(&app.store, &app.table, moves, records),
        Msg::Summaries(moves, None, summaries) => review::news::take_summaries(app, moves, summaries, now),
        Msg::Summaries(_, Some(id), summaries) => review::news::label_summaries(app, id, summaries),
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
            let apply = run::edit::taking().and_then(|binding| app.key_name(binding)).unwrap_or_default();
            run::edit::editor_text(&mut app.screens, &mut app.status, text, &apply);
            Vec::new()
        }
        Msg::Exported(path, result) => export::exported(app, &path, result),
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

/// Notices the beginning of a wait for a record, and when it has become long.
fn wait(app: &mut App, now: Instant) {
    app.patience = match (app.awaited(), app.patience) {
        (None, _) => Patience::Free,
        (Some(_), Patience::Free) => Patience::Until(now + UNSAID),
        (Some(_), Patience::Until(at)) if at <= now => Patience::Over,
        (Some(_), patience) => patience,
    };
}

fn input_now(app: &mut App, input: Input) -> Effects {
    match input {
        Input::Key(event) => app.key(event),
        Input::Paste(text) => keys::paste(app, &text),
        Input::Mouse(event) => mouse(app, event),
        Input::Background(rgb) => {
            background(app, rgb);
            Vec::new()
        }
        Input::FocusGained | Input::FocusLost => Vec::new(),
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

fn background(app: &mut App, rgb: Rgb) {
    app.light = rgb.is_light();
    app.background = Some(rgb);
    let chosen = app.looks.chosen.clone();
    app.choose_theme(chosen.as_deref());
}

/// Has an action done by the dialog in front, then by the screen, and last by its own row.
fn perform(app: &mut App, action: Action) -> Effects {
    let times = app.times();
    review::keys::stay(&mut app.review, action);
    if let Some(effects) = keys::dialog_action(app, action) {
        return effects;
    }
    // Any other key cancels the pending jump.
    app.across.partner_of = None;
    let done = (app.screens.top().def().act)(app, action, times);
    done.unwrap_or_else(|| (action.def().run)(app, action, times))
}

/// Goes to the next record that is sought.
pub(crate) fn go_to_wanted(app: &mut App, action: Action, times: isize) -> Effects {
    let wanted = Wanted::of(action);
    go_to_record(app, app.record_with(wanted, times).ok_or(wanted.none_listed()))
}

/// Goes to the next finding of the open record; on the table, to the next record with findings.
pub(crate) fn next_finding(app: &mut App, action: Action, times: isize) -> Effects {
    if app.screens.top() == ScreenKind::Table {
        return go_to_wanted(app, action, times);
    }
    app.screens.record_mut().into_iter().for_each(|view| view.next_finding(times));
    Vec::new()
}

/// Gives the mouse to the terminal, or takes it.
pub(crate) fn turn_mouse(app: &mut App) -> Effects {
    app.mouse = !app.mouse;
    app.status.say(Shown::own(if app.mouse { "Mouse on" } else { "Mouse off: select text with the terminal" }));
    vec![Effect::Mouse(app.mouse)]
}

/// The open record as JSON, and back.
pub(crate) fn json(app: &mut App) -> Effects {
    let Some(Screen::Record(view)) = app.screens.top_screen_mut() else { return Vec::new() };
    if view.json {
        return back(app);
    }
    let pointer = view.pointer();
    view.show_in_json(&pointer);
    app.screens.show_json();
    Vec::new()
}

fn mouse(app: &mut App, event: MouseEvent) -> Effects {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollDown => wheel(app, at, 3),
        MouseEventKind::ScrollUp => wheel(app, at, -3),
        MouseEventKind::Down(MouseButton::Left) => return click(app, at),
        MouseEventKind::Down(MouseButton::Right) => return menu(app, at),
        _ => {}
    }
    Vec::new()
}

/// Moves what is under the mouse by rows, whatever count was typed.
fn wheel(app: &mut App, at: Position, rows: isize) {
    if app.screens.dialog.is_some() {
        app.scroll_dialog(rows);
        return;
    }
    (app.screens.top().def().focus)(app, at);
    app.go(Move::By(rows));
}

/// Opens the palette for the pane under the mouse, which gets the keys.
fn menu(app: &mut App, at: Position) -> Effects {
    if app.screens.dialog.is_some() {
        return click(app, at);
    }
    (app.screens.top().def().focus)(app, at);
    app.screens.open_dialog(Dialog::Palette(Palette::default()));
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

/// Describes what is under the cursor, in one sentence.
pub(crate) fn explain(app: &mut App) -> Effects {
    let sentence = (app.screens.top().def().explain)(app);
    app.status.say(sentence.unwrap_or_else(|| app.keymap.shown("<help> explains the symbols of this screen")))
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
    if let Some(effects) = review::news::hold_quit(app) {
        return effects;
    }
    vec![app.keep(), Effect::Quit(0)]
}

/// Goes back to the place of the last jump, or forth again.
pub(crate) fn jump(app: &mut App, back: bool) -> Effects {
    let Some(here) = app.jump_place() else { return Vec::new() };
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

pub(crate) fn next_theme(app: &mut App) -> Effects {
    let names: Vec<String> = app.looks.all.iter().map(|(name, _)| name.clone()).collect();
    let at = app.looks.chosen.as_ref().and_then(|chosen| names.iter().position(|name| name == chosen));
    let mut next = at.map_or(0, |at| at + 1);
    // A theme that cannot be used is said and left out of the round: it must not end it.
    while !app.choose_theme(names.get(next).map(String::as_str)) {
        next += 1;
    }
    if app.status.now.is_none() {
        let name = app.looks.chosen.clone().unwrap_or_else(|| "chosen by the terminal's background".into());
        app.status.say(shown!("Theme: {}", Shown::line(name.as_bytes())));
    }
    Vec::new()
}

// Copying.

pub(crate) fn copy(app: &mut App, action: Action) -> Effects {
    let Some(view) = app.screens.record() else { return Vec::new() };
    let opened = &view.opened;
    let pointer = app.pointer();
    let (text, what) = match action {
        Action::CopyPath => (Some(Shown::line(pointer.text().bytes())), "the path"),
        Action::CopyQuestion => (Some(opened.question.clone()), "the question"),
        Action::CopyStep => (view.step().and_then(|step| opened.step_json(step)), "the step"),
        Action::CopyRecord => (Some(Shown::prose(opened.text())), "the record"),
        _ if app.screens.top() == ScreenKind::Rerun => (rerun::keys::copied_of_rerun(&app.screens), "the text"),
        _ if app.screens.top() == ScreenKind::Json => (opened.value_at(&pointer), "the value"),
        _ => (view.chosen_text().map(|(_, text)| text), "the value"),
    };
    app.copy_if_any(text, what)
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
            let mut effects = forks::follow::fork_wrote(app, source, result);
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
    let open = app.placed().and_then(|view| app.store.address(view.opened.index));
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
    effects.extend(forks::follow::follow_fork_tree(app, found));
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
    effects.extend(review::keys::resume(app));
    effects.extend(seek::follow::go_on(app));
    if !app.table.is_natural() {
        app.table.arrange_at = app.table.arrange_at.or(Some(now + REARRANGE));
    }
    let App { store, table, review, side, status, .. } = app;
    effects.extend(table::search::begin_search(store, table, review, side));
    if store.len() > before {
        effects.extend(table::search::go_on_searching(store, table, review, side, |search| search.done));
    }
    effects.extend(table::search::follow_matches(store, table, review, status));
    effects.extend(across::keys::refresh_across(app));
    if app.review.shows() {
        effects.extend(review::news::review_loaded(app, change == Change::Moved));
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
        Some(Action::CopyQuestion) => app.copy_if_any(Some(opened.question.clone()), "the question"),
        Some(_) => app.copy_if_any(Some(Shown::prose(opened.text())), "the record"),
        None => Vec::new(),
    });
    if let Some(screen) = opening {
        app.show_record(*opened, screen);
        effects.extend(review::keys::review_opened(app));
    }
    effects
}

/// A larger record is read when it is opened, and not before.
const MAX_PREVIEW: u32 = 256 << 10;

/// The record under the cursor, for the preview and the line below the table.
fn ask_preview(review: &Review, store: &Store, table: &mut Table, record: usize) -> Option<Effect> {
    let row = *store.row(record)?;
    if row.len > MAX_PREVIEW || !table.wants_preview(record, row.has(Flag::Checked)) {
        return None;
    }
    let hide = review::keys::hide_for(review, record);
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
