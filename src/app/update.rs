//! The one place where the state changes: `update` routes what happened to the part that owns it. What the mouse does,
//! what lies over the screen, and filter and find have files of their own below `update/`.

use std::ops::Range;
use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::allowed::Reason;
use crate::app::msg::Effects;
use crate::app::msg::{Msg, Work};
use crate::app::opened::Opened;
use crate::app::scribe::Task;
use crate::app::state::{App, Patience, Status};
use crate::app::view;
use crate::dialogs::dialog::{Dialog, Palette, Popup, Purpose};
use crate::dialogs::editor;
use crate::dialogs::palette;
use crate::screens::json;
use crate::screens::kind::ScreenKind;
use crate::screens::run;
use crate::screens::run::state::{Inspect, Pane};
use crate::screens::side_by_side::making::Make;
use crate::screens::stack::Front;
use crate::screens::stack::Screen;
use crate::screens::table;
use crate::screens::table::search::end_of;
use crate::screens::table::state::{Search, SortBy};
use crate::widgets::keymap::{Action, Key, Lookup};
use crate::widgets::layout;
use crate::widgets::list::Move;
use crate::widgets::theme::Theme;
use stepscope_base::json::Pointer;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::table::filter::Filter;
use stepscope_io::config::session::FileView;
use stepscope_io::failure::Failure;
use stepscope_io::store::{Change, LoadEvent};
use stepscope_terminal::colour::Rgb;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{COPY_LIMIT, Effect, Event, Program, Step, ended};

#[cfg(debug_assertions)]
#[cfg(test)]
mod cost;

/// While records are still being checked, the order of the table is made anew at most this often.
pub(crate) const REARRANGE: Duration = Duration::from_millis(400);
/// A record that is there sooner is opened without a word.
const UNSAID: Duration = Duration::from_millis(150);
/// A count cannot be longer.
const MAX_COUNT: usize = 10_000_000;

impl Program for App {
    type Msg = Msg;
    type Work = Work;

    fn update(&mut self, event: Event<Msg>, now: Instant) -> Step<Work> {
        let before = self.table.list;
        let mut effects = self.take(event, now);
        self.wait(now);
        self.settle();
        let fresh = before != self.table.list || effects.iter().any(|effect| matches!(effect, Effect::Repaint));
        if self.screens.top() == ScreenKind::Table || fresh {
            effects.extend(self.ask_headlines());
        }
        effects.into()
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        view::view(self, frame);
    }

    fn wake_at(&self) -> Option<Instant> {
        let running = self.screens.attempt().and_then(|attempt| attempt.wake_at());
        let said = if let Patience::Until(at) = self.patience { Some(at) } else { None };
        self.arrange_at.into_iter().chain(running).chain(said).min()
    }
}

impl App {
    pub(crate) fn take(&mut self, event: Event<Msg>, now: Instant) -> Effects {
        match event {
            Event::Start(size) => {
                self.size = size;
                let look = self.review.is_on().then_some(Effect::Work(Work::Review(Task::Look)));
                let mut effects = vec![Effect::Work(Work::Begin)];
                effects.extend(look);
                effects.extend(self.first_forks());
                effects
            }
            Event::Resize(size) => {
                self.size = size;
                Vec::new()
            }
            Event::Input(input) => {
                self.review.pressed(now);
                self.table.from_front &= !matches!(input, Input::Key(_) | Input::Mouse(_));
                self.input(input)
            }
            Event::Message(message) => self.message(message, now),
            Event::Tick if self.arrange_at.is_none_or(|at| now < at) => {
                self.screens.attempt_mut().into_iter().for_each(|attempt| attempt.pass(now));
                Vec::new()
            }
            Event::Tick => {
                self.arrange_at = None;
                self.arrange();
                self.go_on_searching(|_| true)
            }
            Event::Returned(result) => self.returned(ended(result)),
            Event::Panicked(text) => {
                self.fail(shown!("a task failed inside stepscope, please report it: {}", Shown::line(text.as_bytes())));
                Vec::new()
            }
            Event::Stop(_) => vec![self.keep()],
        }
    }

    /// Notices since when somebody waits for a record.
    pub(crate) fn wait(&mut self, now: Instant) {
        self.patience = match (self.awaited(), self.patience) {
            (None, _) => Patience::Free,
            (Some(_), Patience::Free) => Patience::Until(now + UNSAID),
            (Some(_), Patience::Until(at)) if at <= now => Patience::Over,
            (Some(_), patience) => patience,
        };
    }

    /// Keeps every cursor within what there is and on screen.
    pub(crate) fn settle(&mut self) {
        let area = self.area();
        let rows = self.rows();
        self.table.list.settle(rows, layout::table_height(area));
        let palette_height = palette::height(area);
        let count = match &self.dialog {
            Some(Dialog::Palette(palette)) => self.palette_rows(palette.line.value()).len(),
            _ => 0,
        };
        if let Some(Dialog::Palette(palette)) = &mut self.dialog {
            palette.list.settle(count, palette_height);
        }
        if let Some(inspect) = self.screens.inspect_mut() {
            let places = Pane::ALL.map(|pane| (pane, run::layout::pane_area(area, inspect, pane)));
            let place_of =
                |pane| places.iter().find(|(other, _)| *other == pane).map_or(Rect::default(), |found| found.1);
            inspect.settle(place_of, &self.looks.theme);
            let (len, height) = json_rows(inspect, area);
            inspect.outline.list.settle(len, height);
        }
        self.settle_evidence();
        self.settle_rerun();
        self.settle_desk();
        self.settle_review();
        if let Some(Dialog::Editor(editor)) = self.dialog.as_mut().map(Dialog::own_mut) {
            editor.settle(editor::draw::height(editor, area));
        }
        if self.dialog.is_some() {
            self.scroll_dialog(0);
        }
    }

    /// What survives a restart.
    pub(crate) fn keep(&self) -> Effect<Work> {
        let mut view = FileView {
            sort: (self.table.sort != SortBy::Position).then(|| self.table.sort.word().to_owned()),
            descending: self.table.descending,
            filter: self.table.filter_text.clone(),
            record: self.record().unwrap_or(0) as u64,
            ..FileView::default()
        };
        self.keep_place(&mut view);
        Effect::Work(Work::Keep(view, self.looks.chosen.clone()))
    }

    /// Goes back to how the file was looked at before the restart.
    pub fn restore(&mut self, view: &FileView) -> Effects {
        self.table.sort = view.sort.as_deref().and_then(SortBy::from_word).unwrap_or_default();
        self.table.descending = view.descending;
        self.return_to = usize::try_from(view.record).ok().filter(|record| *record > 0);
        self.resume_at(view);
        if Filter::parse(&view.filter).is_err() {
            return Vec::new();
        }
        self.set_filter(&view.filter)
    }

    pub(crate) fn say(&mut self, text: Shown) {
        self.status = Some(Status { text, failed: false, refused: false });
    }

    /// Says why what was asked for cannot be done.
    pub(crate) fn refuse(&mut self, why: Reason) {
        self.status = Some(Status { text: Shown::own(why), failed: false, refused: true });
    }

    pub(crate) fn fail(&mut self, text: Shown) {
        self.status = Some(Status { text, failed: true, refused: false });
    }

    // What comes from the terminal.

    pub(crate) fn input(&mut self, input: Input) -> Effects {
        if let Some(input) = self.must_wait(input) { self.input_now(input) } else { Vec::new() }
    }

    pub(crate) fn input_now(&mut self, input: Input) -> Effects {
        match input {
            Input::Key(event) => self.key(event),
            Input::Paste(text) => self.paste(&text),
            Input::Mouse(event) => self.mouse(event),
            Input::Background(rgb) => {
                self.background(rgb);
                Vec::new()
            }
            Input::FocusGained | Input::FocusLost => Vec::new(),
        }
    }

    pub(crate) fn key(&mut self, event: KeyEvent) -> Effects {
        self.status = None;
        let key = Key::from_event(event);
        if Some(key) == Key::from_name("^C") {
            return self.interrupt();
        }
        if matches!(self.dialog, Some(Dialog::Drop(_))) {
            return self.answer_drop(event);
        }
        let front = self.front();
        if matches!(front, Front::Dialog(kind) if kind.takes_text()) {
            return self.text_key(event);
        }
        self.typed.push(key);
        let contexts = front.contexts();
        match self.keymap.look_up(&contexts, &self.typed) {
            Lookup::Found(action) => {
                self.typed.clear();
                if action == Action::GiveLabel {
                    self.count = key.digit();
                }
                self.act(action)
            }
            Lookup::Prefix => Vec::new(),
            Lookup::Unknown => {
                let digit = key.digit().filter(|digit| *digit > 0 || self.count.is_some());
                let is_count = self.typed.len() == 1;
                self.typed.clear();
                let count = digit.filter(|_| is_count).map(|digit| self.count.unwrap_or(0) * 10 + digit);
                self.count = count.map(|count| count.min(MAX_COUNT));
                Vec::new()
            }
        }
    }

    /// `^C`: cancels what runs, asks about what was typed, else ends the program.
    pub(crate) fn interrupt(&mut self) -> Effects {
        if let Some(effects) = self.cancel_mending().or_else(|| self.cancel_run()) {
            return effects;
        }
        match &self.dialog {
            Some(Dialog::Drop(_)) => {
                self.dialog = None;
                Vec::new()
            }
            Some(dialog) if dialog.is_typed_in() => self.close(),
            _ => self.quit(),
        }
    }

    pub(crate) fn background(&mut self, rgb: Rgb) {
        self.light = rgb.is_light();
        if self.looks.chosen.is_none() {
            self.choose_theme(None);
        }
    }

    // Actions.

    pub(crate) fn act(&mut self, action: Action) -> Effects {
        let count = self.count;
        if let Err(why) = self.allowed(action) {
            self.count = None;
            self.refuse(why);
            return Vec::new();
        }
        let effects = self.perform(action);
        if self.count == count {
            self.count = None;
        }
        effects
    }

    pub(crate) fn times(&self) -> isize {
        isize::try_from(self.count.unwrap_or(1)).unwrap_or(1)
    }

    pub(crate) fn perform(&mut self, action: Action) -> Effects {
        use Action as A;
        let times = self.times();
        self.stay(action);
        if let Some(effects) = self.dialog_action(action) {
            return effects;
        }
        if let Some(effects) = self.desk_action(action, times) {
            return effects;
        }
        let owner = self.evidence_action(action, times).or_else(|| self.rerun_action(action));
        if let Some(effects) = owner.or_else(|| self.review_action(action)) {
            return effects;
        }
        match action {
            A::Down => self.go(Move::By(times)),
            A::Up => self.go(Move::By(-times)),
            A::HalfDown => self.go(Move::HalfPages(times)),
            A::HalfUp => self.go(Move::HalfPages(-times)),
            A::PageDown => self.go(Move::Pages(times)),
            A::PageUp => self.go(Move::Pages(-times)),
            A::Top => self.go(Move::To(self.count.map_or(0, |count| count.saturating_sub(1)))),
            A::Bottom => self.go(Move::To(self.count.map_or(usize::MAX, |count| count.saturating_sub(1)))),
            A::Left => self.sideways(-1),
            A::Right => self.sideways(1),
            A::Open if self.screens.top() == ScreenKind::Rerun => return self.open_in_rerun(),
            A::Open => return self.open(),
            A::Json => return self.json(),
            A::Back => return self.back(),
            A::Escape => return self.escape(),
            A::Quit => return self.quit(),
            A::Ladder => self.open_dialog(Dialog::Ladder(0)),
            A::Help => self.open_dialog(Dialog::Help(0)),
            A::Palette => self.open_dialog(Dialog::Palette(Palette::default())),
            A::Filter => {
                let text = self.table.filter_text.clone();
                let text = if text.is_empty() { text } else { text + " " };
                self.open_prompt(Purpose::Filter, text);
            }
            A::Find => self.open_prompt(Purpose::Find, String::new()),
            A::FindNext => self.find_by(times),
            A::FindPrevious => self.find_by(-times),
            A::NextFinding => self.finding_by(times),
            A::PreviousFinding => self.finding_by(-times),
            A::NextRecord => return self.record_by(times),
            A::PreviousRecord => return self.record_by(-times),
            A::SortNext => self.sort_by(1),
            A::SortPrevious => self.sort_by(-1),
            A::SortReverse => {
                self.table.descending = !self.table.descending;
                self.arrange();
                self.say_order();
            }
            A::NextFork => return self.fork_by(times),
            A::PreviousFork => return self.fork_by(-times),
            A::Exact => return self.make(Make::Exact),
            A::Repair => return self.look_for_fixes(),
            A::Edit => return self.edit(),
            A::DropEdits => self.drop_edits(),
            A::Keep if self.screens.top() == ScreenKind::Run => return self.fork_edits(),
            A::Keep => return self.keep_made(),
            A::Export => self.ask_where(),
            A::SaveAgain => return self.save_again(),
            A::Review => return self.turn_review(),
            A::Theme => self.next_theme(),
            A::Mouse => {
                self.mouse = !self.mouse;
                self.say(Shown::own(if self.mouse { "mouse on" } else { "mouse off: select with the terminal" }));
                return vec![Effect::Mouse(self.mouse)];
            }
            A::Redraw => return vec![Effect::Repaint],
            A::Suspend => return vec![Effect::Suspend],
            A::CopyValue | A::CopyPath | A::CopyQuestion | A::CopyStep | A::CopyRecord => {
                return self.copy_action(action);
            }
            _ => self.inspect_action(action, times),
        }
        Vec::new()
    }

    pub(crate) fn inspect_action(&mut self, action: Action, times: isize) {
        let Some(inspect) = self.screens.inspect_mut() else { return };
        let moved = match action {
            Action::NextStep => inspect.walk_by(times),
            Action::PreviousStep => inspect.walk_by(-times),
            Action::NextPane => {
                inspect.next_pane(1);
                Ok(())
            }
            Action::PreviousPane => {
                inspect.next_pane(-1);
                Ok(())
            }
            Action::Maximise => {
                inspect.maximised = !inspect.maximised;
                Ok(())
            }
            Action::Writer => inspect.go_to_writer(),
            Action::Reader => inspect.go_to_reader(),
            Action::Between | Action::Difference => {
                inspect.toggle_difference();
                Ok(())
            }
            Action::Fold | Action::FoldAll | Action::UnfoldAll => {
                let Inspect { opened, outline, .. } = inspect;
                if let Some(root) = opened.root() {
                    match action {
                        Action::Fold => outline.fold(root, None),
                        _ => outline.fold_all(root, action == Action::FoldAll),
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(why) = moved {
            self.refuse(why);
        }
    }

    pub(crate) fn go(&mut self, movement: Move) {
        if self.desk_go(movement) {
            return;
        }
        let area = self.area();
        match (self.screens.top(), self.screens.inspect_mut()) {
            (ScreenKind::Run, Some(inspect)) => {
                let place = run::layout::pane_area(area, inspect, inspect.pane);
                inspect.go(movement, place, &self.looks.theme);
            }
            (ScreenKind::Evidence, _) => self.go_in_evidence(movement),
            (ScreenKind::Rerun, _) => self.go_in_rerun(movement),
            (ScreenKind::Json, Some(inspect)) => {
                let (len, height) = json_rows(inspect, area);
                inspect.outline.list.go(movement, len, height);
            }
            _ => {
                let rows = self.rows();
                self.table.list.go(movement, rows, layout::table_height(area));
            }
        }
    }

    pub(crate) fn sideways(&mut self, by: isize) {
        let top = self.screens.top();
        let Some(inspect) = self.screens.inspect_mut() else { return };
        match top {
            ScreenKind::Json => {
                let Inspect { opened, outline, .. } = inspect;
                let Some(root) = opened.root() else { return };
                if by < 0 { outline.left(root) } else { outline.right(root) }
            }
            ScreenKind::Run if inspect.pane == Pane::Step => inspect.turn_tab(by),
            ScreenKind::Run if inspect.pane == Pane::Question => {
                inspect.next_quantity(by);
                self.say_quantity();
            }
            ScreenKind::Run if inspect.opened.has_steps() => {
                if let Err(why) = inspect.walk_by(by) {
                    self.refuse(why);
                }
            }
            _ => {}
        }
    }

    /// What the chosen quantity of the question is, and which variables took it up.
    pub(crate) fn say_quantity(&mut self) {
        if let Some(sentence) = self.screens.inspect().and_then(Inspect::quantity_sentence) {
            self.say(sentence);
        }
    }

    pub(crate) fn open(&mut self) -> Effects {
        if self.screens.top() == ScreenKind::Table {
            return self.record().map_or_else(Vec::new, |record| self.request(record, ScreenKind::Run));
        }
        let Some(inspect) = self.screens.inspect_mut() else { return Vec::new() };
        if inspect.pane == Pane::Findings {
            inspect.show_finding();
            self.show_json();
            return Vec::new();
        }
        if inspect.pane == Pane::Steps {
            inspect.focus(Pane::Step);
            return Vec::new();
        }
        if let Some(tree) = inspect.derivation() {
            self.open_dialog(Dialog::Derivation(tree));
        } else if let Some((title, text)) = inspect.chosen_text() {
            self.open_dialog(Dialog::Popup(Popup { title, text, top: 0 }));
        }
        Vec::new()
    }

    pub(crate) fn request(&mut self, record: usize, screen: ScreenKind) -> Effects {
        if let Some(opened) = self.take_prefetched(record) {
            self.opening = None;
            self.inspect(*opened, screen);
            return self.review_opened();
        }
        let Some(work) = self.read_record(record) else { return Vec::new() };
        self.opening = Some((record, screen));
        vec![work]
    }

    pub(crate) fn read_record(&self, record: usize) -> Option<Effect<Work>> {
        let hide = self.hide_for(record);
        Some(Effect::Work(Work::Record(record, self.store.reading(record)?, *self.store.row(record)?, hide)))
    }

    pub(crate) fn json(&mut self) -> Effects {
        match self.screens.top() {
            ScreenKind::Table => self.record().map_or_else(Vec::new, |record| self.request(record, ScreenKind::Json)),
            ScreenKind::Json => self.back(),
            ScreenKind::Run | ScreenKind::Evidence => {
                if let Some(inspect) = self.screens.inspect_mut() {
                    let pointer = inspect.pointer();
                    inspect.show_in_json(&pointer);
                    self.show_json();
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Lays a screen over the others. Who opens something is not taken away from it by what was asked for before.
    pub(crate) fn open_screen(&mut self, screen: Screen) {
        self.opening = None;
        self.screens.push(screen);
    }

    pub(crate) fn back(&mut self) -> Effects {
        self.opening = None;
        match self.screens.top() {
            ScreenKind::Table => return self.quit(),
            ScreenKind::Rerun => return self.leave_rerun(),
            _ => {}
        }
        if let Some(Screen::Record(inspect)) = self.screens.front_mut()
            && inspect.kind() != inspect.own_kind()
        {
            inspect.json = false;
            return Vec::new();
        }
        if self.screens.len() <= 1 {
            return self.back_to_table();
        }
        self.screens.pop();
        Vec::new()
    }

    /// Shows the open record as JSON.
    pub(crate) fn show_json(&mut self) {
        self.opening = None;
        if let Some(inspect) = self.screens.inspect_mut() {
            inspect.json = true;
        }
    }

    /// To the table, out of everything.
    pub(crate) fn back_to_table(&mut self) -> Effects {
        self.opening = None;
        let attempt = self.screens.attempt().map(|attempt| attempt.id);
        self.screens.clear();
        self.review_left();
        attempt.map(|id| Effect::Work(Work::CancelRun(id))).into_iter().collect()
    }

    pub(crate) fn escape(&mut self) -> Effects {
        if self.count.is_some() {
            return Vec::new();
        }
        if self.reading().is_some() {
            (self.opening, self.copying) = (None, None);
            return Vec::new();
        }
        if let Some(Screen::Record(inspect)) = self.screens.front_mut()
            && !inspect.json
        {
            if inspect.anchor.take().is_some() {
                return Vec::new();
            }
            if inspect.maximised {
                inspect.maximised = false;
                return Vec::new();
            }
        }
        if self.screens.top() != ScreenKind::Table {
            return self.back();
        }
        self.opening = None;
        if let Some(end) = self.end_find() {
            return vec![end];
        }
        if !self.table.filter_text.is_empty() {
            return self.set_filter("");
        }
        self.say(Shown::own("q quits"));
        Vec::new()
    }

    pub(crate) fn quit(&mut self) -> Effects {
        let (unsaved, edited) = (self.forks.unsaved() > 0, self.edits.len());
        if (unsaved || edited > 0) && !self.forks.warn() {
            self.fail(if unsaved {
                Shown::own("a fork is not saved: ^S tries again; quit again leaves without it")
            } else {
                let records = if edited == 1 { "1 record" } else { "several records" };
                shown!("{records} with unsaved overrides: s on the run saves them as a fork, quit again discards them")
            });
            return Vec::new();
        }
        if let Some(effects) = self.hold_quit() {
            return effects;
        }
        vec![self.keep(), Effect::Quit(0)]
    }

    /// The record so many rows further than the open one, with its row.
    pub(crate) fn record_from(&self, by: isize) -> Result<(usize, usize), Reason> {
        let inspect = self.screens.inspect().ok_or("open the record first")?;
        let row = self.row_from(self.root_of(inspect.opened.index), by);
        let record = self.table.record(row).filter(|record| *record != inspect.opened.index);
        let record = record.ok_or(if by > 0 { "this is the last record" } else { "this is the first record" })?;
        Ok((row, record))
    }

    pub(crate) fn record_by(&mut self, by: isize) -> Effects {
        match self.record_from(by) {
            Ok((row, record)) => {
                self.table.list.at = row;
                self.request(record, self.screens.top())
            }
            Err(why) => {
                self.refuse(why);
                Vec::new()
            }
        }
    }

    pub(crate) fn finding_by(&mut self, by: isize) {
        if self.screens.top() == ScreenKind::Table {
            let rows = self.rows();
            let here = self.table.list.at;
            let has = |row: &usize| {
                self.table
                    .record(*row)
                    .and_then(|record| self.store.row(record))
                    .is_some_and(|row| row.worst().is_some())
            };
            let way = by.signum();
            let others = (1..rows).map(|step| (here as isize + way * step as isize).rem_euclid(rows as isize) as usize);
            match others.filter(has).take(by.unsigned_abs()).last() {
                Some(row) => self.table.list.at = row,
                // The records with findings are there, or the key would not have been allowed.
                None => self.say(Shown::own("no other record shown here has findings")),
            }
        } else if let Some(inspect) = self.screens.inspect_mut() {
            inspect.next_finding(by);
        }
    }

    pub(crate) fn sort_by(&mut self, by: isize) {
        // What is beside the sorted column on screen; a column that is not on screen stands at the beginning.
        let columns = table::draw::sorts(self);
        let at = columns.iter().position(|sort| *sort == self.table.sort).unwrap_or(0) as isize;
        let next = (at + by).rem_euclid(columns.len().max(1) as isize) as usize;
        self.table.sort = columns.get(next).copied().unwrap_or_default();
        // What one looks for comes first: the gravest, the longest, the least sure.
        self.table.descending =
            matches!(self.table.sort, SortBy::Findings | SortBy::Number(table::state::SortColumn::Steps));
        self.arrange();
        self.say_order();
    }

    pub(crate) fn say_order(&mut self) {
        let way = if self.table.descending { "descending" } else { "ascending" };
        self.say(shown!("sorted by {}, {way}; ~ turns it round", self.table.sort.word()));
    }

    pub(crate) fn arrange(&mut self) {
        let records = self.store.len();
        let Self { store, table, desk, forks, review, .. } = self;
        let is_in = |record: usize, set: &str| desk.holds(set, store.address(record));
        let family = (!forks.family.is_empty()).then_some(|rows: &[u32]| forks.family.order(store, rows));
        table.arrange(records, |record| store.row(record).copied(), is_in, review, family);
        self.review.reorder();
        if self.review.is_on() {
            self.count_progress();
        }
    }

    pub(crate) fn next_theme(&mut self) {
        let names: Vec<String> = self.looks.all.iter().map(|(name, _)| name.clone()).collect();
        let at = self.looks.chosen.as_ref().and_then(|chosen| names.iter().position(|name| name == chosen));
        let mut next = at.map_or(0, |at| at + 1);
        // A theme that cannot be used is said and left out of the round: it must not end it.
        while !self.choose_theme(names.get(next).map(String::as_str)) {
            next += 1;
        }
        if self.status.is_none() {
            let name = self.looks.chosen.clone().unwrap_or_else(|| "by the terminal's background".into());
            self.say(shown!("theme: {}", Shown::line(name.as_bytes())));
        }
    }

    /// Takes a theme by name; none goes by the terminal's background. `false`: it cannot be used, and the status says
    /// why.
    pub fn choose_theme(&mut self, name: Option<&str>) -> bool {
        let text = name.and_then(|name| self.looks.all.iter().find(|(known, _)| known == name));
        match (name, text) {
            (Some(name), Some((_, text))) => match Theme::parse(name, text, self.looks.depth) {
                Ok(theme) => {
                    self.looks.theme = theme;
                    self.looks.chosen = Some(name.to_owned());
                }
                Err(error) => {
                    let message = Shown::line(error.message.as_bytes());
                    self.fail(shown!("theme {}, line {}: {message}", Shown::line(error.file.as_bytes()), error.line));
                    return false;
                }
            },
            (Some(name), None) => {
                self.fail(shown!("there is no theme {}", Shown::line(name.as_bytes())));
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

    // Copying.

    pub(crate) fn copy_action(&mut self, action: Action) -> Effects {
        if self.screens.top() == ScreenKind::Table {
            // The record must be read first; the table keeps only its head.
            let Some(record) = self.record() else { return Vec::new() };
            let Some(work) = self.read_record(record) else { return Vec::new() };
            self.copying = Some((record, action));
            return vec![work];
        }
        let Some(inspect) = self.screens.inspect() else { return Vec::new() };
        let opened = &inspect.opened;
        let pointer = self.pointer();
        let (text, what) = match action {
            Action::CopyPath => (Some(Shown::line(pointer.text().bytes())), "the path"),
            Action::CopyQuestion => (Some(opened.question.clone()), "the question"),
            Action::CopyStep => (inspect.step().and_then(|step| opened.step_json(step)), "the step"),
            Action::CopyRecord => (Some(Shown::prose(opened.text())), "the record"),
            _ if self.screens.top() == ScreenKind::Rerun => (self.copied_of_rerun(), "the text"),
            _ if self.screens.top() == ScreenKind::Json => (opened.value_at(&pointer), "the value"),
            _ => (inspect.chosen_text().map(|(_, text)| text), "the value"),
        };
        self.copy_if_any(text, what)
    }

    pub(crate) fn copy_if_any(&mut self, text: Option<Shown>, what: &'static str) -> Effects {
        if let Some(text) = text.filter(|text| !text.as_str().is_empty()) {
            self.copy(&text, what)
        } else {
            self.fail(Shown::own("there is nothing to copy here"));
            Vec::new()
        }
    }

    /// The place in the record that the cursor is on.
    pub(crate) fn pointer(&self) -> Pointer {
        let Some(inspect) = self.screens.inspect() else { return Pointer::default() };
        match (self.screens.top(), inspect.opened.root(), inspect.outline.current()) {
            (ScreenKind::Json, Some(root), Some(row)) => json::draw::pointer_of(root, row.node),
            _ => inspect.pointer(),
        }
    }

    pub(crate) fn copy(&mut self, text: &Shown, what: &'static str) -> Effects {
        if text.as_str().len() > COPY_LIMIT {
            self.fail(shown!(
                "{what} is longer than terminals copy ({} bytes); use stepscope show",
                text.as_str().len()
            ));
            return Vec::new();
        }
        self.say(shown!("copied {what}, {} bytes", text.as_str().len()));
        vec![Effect::Copy(text.as_str().to_owned())]
    }

    // What work has found.

    pub(crate) fn message(&mut self, message: Msg, now: Instant) -> Effects {
        match message {
            Msg::Load(event) => self.loaded(event, now),
            Msg::Headlines(moves, headlines) => {
                // What was read before rows moved belongs to other numbers now.
                if moves == self.table.moves() {
                    self.table.take_headlines(headlines);
                }
                Vec::new()
            }
            Msg::Record(record, result) => self.take_record(record, result),
            Msg::Marks(marks) => self.take_marks(marks),
            Msg::Parents(moves, found) => self.take_parents(moves, found),
            Msg::Wrote(id, result) => {
                self.took_fork(id, result.is_ok());
                self.fork_wrote(id, &result)
            }
            Msg::Run(id, told) => match self.mend_told(id, told) {
                Ok(effects) => effects,
                Err(told) => self.take_told(id, told, now),
            },
            Msg::Reached(id, reached) => self.take_reached(id, *reached),
            Msg::Chosen(id, chosen) => match self.mend_chosen(id, chosen) {
                Ok(()) => Vec::new(),
                Err(chosen) => self.take_chosen(id, chosen),
            },
            Msg::Offers(id, offers, trouble) => {
                self.take_offers(id, offers, trouble);
                Vec::new()
            }
            Msg::Review(news) => self.review_news(news, now),
            Msg::Found(id, found, done) => {
                self.take_found(id, &found, done, now);
                if done { self.go_on_searching(|_| true) } else { Vec::new() }
            }
            Msg::Matched(id, found, done) => {
                self.take_matches(id, found, done);
                if done { self.follow_matches() } else { Vec::new() }
            }
            Msg::Lent(lent) => self.lent(lent),
            Msg::TakenBack(text) => {
                self.taken_back(text);
                Vec::new()
            }
            Msg::Exported(path, result) => {
                self.exported(&path, result);
                Vec::new()
            }
            Msg::Desk(news) => self.take_news(news),
            Msg::SearchFailed(id, failure) => {
                let ids = [
                    self.table.filtering.as_ref().map(|search| search.id),
                    self.table.finding.as_ref().map(|finding| finding.id),
                ];
                if ids.contains(&Some(id)) {
                    self.fail(shown!("{failure}"));
                }
                Vec::new()
            }
        }
    }

    pub(crate) fn loaded(&mut self, event: LoadEvent, now: Instant) -> Effects {
        let before = self.store.len();
        let cursor = self.record().and_then(|record| self.store.address(record));
        let open = self.screens.inspect().and_then(|inspect| self.store.address(inspect.opened.index));
        let opening = self.opening.and_then(|(record, _)| self.store.address(record));
        let forks = self.forks_source(&event);
        let mut effects = Vec::new();
        let change = self.store.apply(event);
        effects.extend(self.follow_family(forks));
        match change {
            Change::None => return Vec::new(),
            Change::Failure => {
                let failure = self.store.failures.last().map(|failure| shown!("{failure}"));
                if let Some(failure) = failure {
                    self.fail(failure);
                }
            }
            Change::Moved => effects.extend(self.follow_moved(cursor, open, opening)),
            Change::Rows => {}
        }
        if let Some(record) = self.return_to.filter(|record| *record < self.store.len()) {
            self.return_to = None;
            self.table.list.at = self.table.row_of(record);
        }
        effects.extend(self.resume());
        if !self.table.is_natural() {
            self.arrange_at = self.arrange_at.or(Some(now + REARRANGE));
        }
        if self.store.len() > before {
            effects.extend(self.go_on_searching(|search| search.done));
        }
        effects.extend(self.follow_matches());
        effects.extend(self.refresh_desk());
        if self.review.is_on() {
            effects.extend(self.review_loaded(change == Change::Moved));
        }
        effects
    }

    /// Positions have moved: the cursor and the open record stay on what they were on.
    pub(crate) fn follow_moved(
        &mut self,
        cursor: Option<(usize, u64)>,
        open: Option<(usize, u64)>,
        opening: Option<(usize, u64)>,
    ) -> Effects {
        self.table.forget_headlines();
        // What was found has moved too; `n` looks again, and the filter with the next tick.
        let mut effects: Effects = self.end_find().into_iter().collect();
        if let Some(old) = self.table.filtering.take() {
            let id = self.new_search_id();
            self.table.filtering = Some(Search::new(id, &old.typed, old.filter.clone()));
            effects.extend(end_of(Some(old)));
        }
        self.arrange();
        let position =
            |address: Option<(usize, u64)>| address.and_then(|(source, byte)| self.store.position(source, byte));
        if let Some(record) = position(cursor) {
            self.table.list.at = self.table.row_of(record);
        }
        if let Some(record) = position(open)
            && let Some(inspect) = self.screens.inspect_mut()
        {
            inspect.opened.index = record;
        }
        if let Some((_, screen)) = self.opening.take()
            && let Some(record) = position(opening)
        {
            effects.extend(self.request(record, screen));
        }
        effects
    }

    pub(crate) fn take_record(&mut self, record: usize, result: Result<Box<Opened>, Failure>) -> Effects {
        let (mut opened, failure) = match result {
            Ok(opened) => (Some(opened), None),
            Err(failure) => (None, Some(failure)),
        };
        let wanted = failure.is_some() && self.review_unread(record);
        let mut effects = self.take_review_record(&mut opened, record);
        let copying = self.copying.take_if(|(wanted, _)| *wanted == record).map(|(_, action)| action);
        let opening = self.opening.take_if(|(wanted, _)| *wanted == record).map(|(_, screen)| screen);
        if let Some(failure) = failure.filter(|_| wanted || copying.is_some() || opening.is_some()) {
            self.fail(shown!("{failure}"));
        }
        let Some(opened) = opened.filter(|_| copying.is_some() || opening.is_some()) else { return effects };
        effects.extend(match copying {
            Some(Action::CopyQuestion) => self.copy_if_any(Some(opened.question.clone()), "the question"),
            Some(_) => self.copy_if_any(Some(Shown::prose(opened.text())), "the record"),
            None => Vec::new(),
        });
        if let Some(screen) = opening {
            self.inspect(*opened, screen);
            effects.extend(self.review_opened());
        }
        effects
    }

    /// Shows a record that was read.
    pub(crate) fn inspect(&mut self, opened: Opened, screen: ScreenKind) {
        let mut inspect = Inspect::new(opened);
        if let Some(before) = self.screens.inspect() {
            inspect = inspect.like(before);
        }
        inspect.json |= screen == ScreenKind::Json;
        self.screens.show_record(inspect);
        self.recall_edits();
    }

    /// The texts of the rows on screen that were not read yet.
    pub(crate) fn ask_headlines(&self) -> Option<Effect<Work>> {
        let (len, height) = (self.rows(), layout::table_height(self.area()));
        let visible: Range<usize> = self.table.list.visible(len, height);
        // What may come next is read ahead, a page at a time, so that a page is drawn once and whole.
        let around =
            |pages: usize| visible.start.saturating_sub(pages * height)..(visible.end + pages * height).min(len);
        let near = self.table.missing_headlines(around(1)).len();
        if near < height.div_ceil(2) && self.table.missing_headlines(around(0)).is_empty() {
            return None;
        }
        let missing = self.table.missing_headlines(around(2)).into_iter();
        let missing: Vec<_> = missing.filter_map(|record| Some((record, self.store.reading(record)?))).collect();
        (!missing.is_empty()).then_some(Effect::Work(Work::Headlines(self.table.moves(), missing)))
    }
}

/// How many rows the cursor of the JSON can be on, and how many are on screen. Where there is no JSON, the first line
/// on screen is the cursor.
fn json_rows(inspect: &mut Inspect, area: Rect) -> (usize, usize) {
    if inspect.outline.is_empty() {
        let body = layout::parts(area).body;
        let lines = inspect.raw_lines(layout::inner_width(body));
        return (json::draw::raw_tops(inspect, lines, body), 1);
    }
    (inspect.outline.len(), layout::json_height(area))
}
