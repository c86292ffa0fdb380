//! The keys of the desk: the matrix of a comparison, and two records side by side.

use ratatui::layout::Position;

use crate::app::across::{Errand, News, Pending, Seat};
use crate::app::allowed::{is_plain, need};
use crate::app::msg::Effects;
use crate::app::msg::Work;
use crate::app::state::{App, short_name};
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::adjudication;
use crate::screens::adjudication::state as disputes;
use crate::screens::dashboard;
use crate::screens::kind::ScreenKind;
use crate::screens::matrix;
use crate::screens::side_by_side;
use crate::screens::side_by_side::state::{Against, Versus};
use crate::screens::stack::Screen;
use crate::widgets::keymap::Action;
use crate::widgets::list::{List, Move};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::compare::Basis;
use stepscope_core::review::event::{Event, Verdict};
use stepscope_core::review::stats::name_of;
use stepscope_core::table::filter::Filter;
use stepscope_io::boards;
use stepscope_io::compare::{Partner, Wanted};
use stepscope_io::snapshot::Snapshot;
use stepscope_terminal::run::Effect;

/// So many rows are looked at for the next record with a partner.
const NEAR: isize = 1_000;
/// Why a record is not put next to its baseline record.
const NO_PARTNER: &str = "the baseline has no record of this item, by id or by question";

impl App {
    /// Whether an action can be done, where this part has to say so; `None`: ask on.
    pub(crate) fn desk_allowed(&self, screen: ScreenKind, action: Action) -> Option<Result<(), &'static str>> {
        use Action as A;
        let because = |holds: bool, why: &'static str| Some(need(holds, why));
        if matches!(action, A::Matrix | A::Baseline) && self.desk.baseline.is_none() {
            return because(false, "there is no baseline: start with --baseline PATH");
        }
        let unkept = self.screens.versus().and_then(|versus| versus.fork.as_ref());
        match (screen, action) {
            (_, A::Matrix | A::Boards | A::Disputes)
            | (ScreenKind::Versus, A::Baseline | A::Difference)
            | (ScreenKind::Matrix | ScreenKind::Boards, A::Left | A::Right)
            | (ScreenKind::Disputes, A::NextPane) => Some(Ok(())),
            (_, A::SaveAgain) => None,
            (ScreenKind::Versus, A::Keep) => because(unkept.is_some(), "there is nothing to keep here"),
            (ScreenKind::Versus, A::NextRecord | A::PreviousRecord) => {
                let by = if action == A::NextRecord { 1 } else { -1 };
                let walk = || {
                    if self.is_beside_parent() {
                        self.fork_beside(by).map(drop)
                    } else {
                        self.versus_from(by).map(drop)
                    }
                };
                Some(need(unkept.is_none(), "this fork is not kept yet: s keeps it, q drops it").and_then(|()| walk()))
            }
            (ScreenKind::Versus, A::Export) => {
                let procedure = unkept.is_some_and(|unkept| unkept.procedure.is_some());
                because(procedure, "only a repaired procedure is written to a file")
            }
            (ScreenKind::Rerun, A::Baseline) => because(false, "go back to the run first: q"),
            (_, A::Baseline) if screen == ScreenKind::Table || screen.is_of_record() => Some(self.may_put_beside()),
            (_, A::Baseline) => because(false, "open a record first"),
            (ScreenKind::Matrix | ScreenKind::Boards | ScreenKind::Disputes, A::Open) if self.is_held_below() => {
                because(false, "a re-run lies below this: go back to it with q, and end it first")
            }
            (ScreenKind::Matrix, A::Open) => {
                let compared = self.desk.compared.as_ref().ok_or("the two runs are being joined");
                Some(compared.and_then(|compared| self.desk.matrix.filter(compared).map(drop)))
            }
            (ScreenKind::Boards, A::Open) => {
                let cell = self.desk.judged.as_ref().and_then(|judged| self.desk.boards.cell(judged));
                because(cell.is_some(), "there are no records behind this")
            }
            (ScreenKind::Disputes, A::DecidePass | A::DecideFail) if self.review.is_on() && !self.review.reviewing => {
                Some(self.may_review())
            }
            (ScreenKind::Disputes, A::Open | A::DecidePass | A::DecideFail) => {
                let any = self.desk.judged.as_ref().is_some_and(|judged| self.desk.disputes.case(judged).is_some());
                because(any, "there is nothing to decide")
            }
            (_, A::DecidePass | A::DecideFail) => because(false, "open the disputes first: A"),
            (screen, action) if screen.is_of_all() || screen == ScreenKind::Versus => {
                because(is_plain(action), "this is not for here; q goes back")
            }
            _ => None,
        }
    }

    /// Whether the record that keys are about has a partner, as far as is known.
    pub(crate) fn may_put_beside(&self) -> Result<(), &'static str> {
        let record = self.current().ok_or("there is no record here")?;
        let hidden = self.review.hidden_of(record);
        need(hidden.is_empty(), "some of this record is hidden until your verdict: * shows it")?;
        let Some((compared, address)) = self.desk.compared.as_ref().zip(self.store.address(record)) else {
            return Ok(());
        };
        need(compared.partner(address).is_some(), NO_PARTNER)
    }

    /// Below lies a re-run that would be lost: its call is running, or its result is not saved.
    pub(crate) fn is_held_below(&self) -> bool {
        let attempt = self.screens.attempt().filter(|_| self.screens.holds(ScreenKind::Rerun));
        attempt.is_some_and(|attempt| attempt.is_busy() || attempt.is_unsaved())
    }

    /// Does what a key means for what is worked out from all records, or opens it; `None`: what it means everywhere.
    pub(crate) fn desk_action(&mut self, action: Action, times: isize) -> Option<Effects> {
        // Who does something else meanwhile does not want to be taken away from it.
        self.desk.partner_of = None;
        let screen = self.screens.top();
        match (action, screen) {
            (Action::Matrix | Action::Boards | Action::Disputes, _) => {
                let wanted = match action {
                    Action::Matrix => Screen::Matrix,
                    Action::Boards => Screen::Boards,
                    _ => Screen::Disputes,
                };
                if screen == wanted.kind() {
                    return Some(self.leave_desk());
                }
                if screen.is_of_all() {
                    self.desk.disputes.choosing = None;
                    self.screens.pop();
                }
                self.open_screen(wanted);
                return Some(if action == Action::Matrix { self.compare() } else { self.read_boards() });
            }
            (Action::Baseline, ScreenKind::Versus) => return Some(self.leave_desk()),
            (Action::Baseline, _) => return self.current().map(|record| self.put_beside(record)),
            (Action::Difference, ScreenKind::Run | ScreenKind::Table) => return self.put_beside_parent(),
            (Action::Open, ScreenKind::Disputes) if self.desk.disputes.choosing.is_some() => {
                let chosen = self.desk.disputes.choosing.take().unwrap_or_default();
                return Some(self.decide(Verdict::Fail, &chosen));
            }
            (Action::Escape | Action::Back, ScreenKind::Disputes) if self.desk.disputes.choosing.is_some() => {
                self.desk.disputes.choosing = None;
            }
            (Action::GiveLabel, ScreenKind::Disputes) => self.give_decided(),
            (Action::Back | Action::Escape, _) if screen.is_of_all() || screen == ScreenKind::Versus => {
                return Some(self.leave_desk());
            }
            (Action::NextPane, ScreenKind::Disputes) => self.show_agreement(),
            (Action::Open, ScreenKind::Boards) => return Some(self.open_number()),
            (Action::Open, ScreenKind::Disputes) => return Some(self.open_case()),
            (Action::Open, ScreenKind::Matrix) => return Some(self.open_cell()),
            (Action::DecidePass, ScreenKind::Disputes) => return Some(self.decide(Verdict::Pass, &[])),
            (Action::DecideFail, ScreenKind::Disputes) => self.desk.disputes.choosing = Some(Vec::new()),
            (Action::NextRecord | Action::PreviousRecord, ScreenKind::Versus) => {
                let by = if action == Action::NextRecord { times } else { -times };
                return Some(if self.is_beside_parent() { self.fork_beside_by(by) } else { self.versus_by(by) });
            }
            (Action::Difference, ScreenKind::Versus) => {
                if let Some(versus) = self.screens.versus_mut() {
                    versus.all = !versus.all;
                    self.desk.shows_same = versus.all;
                }
            }
            (Action::Left, ScreenKind::Matrix | ScreenKind::Boards) => self.desk_sideways(-1),
            (Action::Right, ScreenKind::Matrix | ScreenKind::Boards) => self.desk_sideways(1),
            _ => return None,
        }
        Some(Vec::new())
    }

    pub(crate) fn leave_desk(&mut self) -> Effects {
        self.desk.disputes.choosing = None;
        let Some(Screen::Versus(versus)) = self.screens.pop() else { return Vec::new() };
        // Who walked on side by side finds the same record behind.
        let record = Some(versus.record);
        let open = self.screens.inspect().map(|inspect| inspect.opened.index);
        match record.filter(|record| open.is_some_and(|open| open != *record)) {
            Some(record) => self.request(record, self.screens.of_record()),
            None => Vec::new(),
        }
    }

    /// Moves the screen in front; `false`: it is another part's.
    pub(crate) fn desk_go(&mut self, movement: Move) -> bool {
        let area = self.area();
        match self.screens.top() {
            ScreenKind::Matrix => {
                let rows = self.desk.compared.as_ref().map_or(0, |compared| matrix::state::rows(compared).len());
                self.desk.matrix.list.go(movement, rows, matrix::draw::height(self));
            }
            ScreenKind::Boards => {
                let height = dashboard::draw::height(self);
                if let Some(judged) = self.desk.judged.clone() {
                    self.desk.boards.go(movement, &judged, height);
                }
            }
            ScreenKind::Disputes => {
                let cases = self.desk.judged.as_ref().map_or(0, |judged| judged.cases.len());
                let (lines, room) = adjudication::draw::size(self);
                let height = adjudication::draw::height(self);
                let disputes = &mut self.desk.disputes;
                let before = disputes.list.at;
                if matches!(movement, Move::HalfPages(_) | Move::Pages(_)) {
                    let mut list = List { at: disputes.top, top: disputes.top };
                    list.go(movement, lines.saturating_sub(room) + 1, room);
                    disputes.top = list.at;
                } else {
                    disputes.list.go(movement, cases, height);
                }
                if disputes.list.at != before {
                    (disputes.top, disputes.choosing) = (0, None);
                }
                disputes.top = disputes.top.min(lines.saturating_sub(room));
            }
            ScreenKind::Versus => {
                let (lines, height) = side_by_side::draw::size(self, area);
                if let Some(versus) = self.screens.versus_mut() {
                    // There is no cursor: the first line on screen is what moves.
                    let mut list = List { at: versus.top, top: versus.top };
                    list.go(movement, lines.saturating_sub(height) + 1, height);
                    versus.top = list.at;
                }
            }
            _ => return false,
        }
        true
    }

    pub(crate) fn desk_sideways(&mut self, by: isize) {
        if self.screens.top() == ScreenKind::Boards {
            if let Some(judged) = self.desk.judged.clone() {
                self.desk.boards.turn(by, &judged);
            }
            return;
        }
        let basis = &mut self.desk.matrix.basis;
        *basis = basis.saturating_add_signed(by).min(Basis::ALL.len() - 1);
    }

    /// Keeps the desk within what there is.
    pub(crate) fn settle_desk(&mut self) {
        match self.screens.top() {
            ScreenKind::Matrix | ScreenKind::Boards | ScreenKind::Disputes => {
                self.desk_go(Move::By(0));
            }
            ScreenKind::Versus => {
                let (lines, height) = side_by_side::draw::size(self, self.area());
                if let Some(versus) = self.screens.versus_mut() {
                    versus.top = versus.top.min(lines.saturating_sub(height));
                }
            }
            _ => {}
        }
    }

    /// Brings the cursor where the mouse is; where it is already, opens.
    pub(crate) fn click_desk(&mut self, at: Position) -> Effects {
        let again = match self.screens.top() {
            ScreenKind::Matrix => matrix::draw::place_of(self, at).map(|(row, basis)| {
                let matrix = &mut self.desk.matrix;
                let before = (matrix.list.at, matrix.basis);
                (matrix.list.at, matrix.basis) = (row, basis.unwrap_or(matrix.basis));
                before == (matrix.list.at, matrix.basis)
            }),
            ScreenKind::Boards => dashboard::draw::place_of(self, at).map(|(line, column)| {
                let boards = &mut self.desk.boards;
                let before = (boards.line, boards.column);
                (boards.line, boards.column) = (line, column.unwrap_or(boards.column));
                before == (boards.line, boards.column)
            }),
            ScreenKind::Disputes => adjudication::draw::row_of(self, at).map(|row| {
                let again = self.desk.disputes.list.at == row;
                self.desk_go(Move::To(row));
                again
            }),
            _ => None,
        };
        if again == Some(true) { self.act(Action::Open) } else { Vec::new() }
    }

    // The comparison.

    /// Compares as soon as all records are read; what was compared before stays on screen meanwhile.
    pub(crate) fn compare(&mut self) -> Effects {
        self.desk.comparing.due = true;
        self.begin_errands()
    }

    /// Reads the reviews anew as soon as all records are read.
    pub(crate) fn read_boards(&mut self) -> Effects {
        self.desk.judging.due = true;
        self.begin_errands()
    }

    /// When the records have changed: works out anew what is on screen or asked for by the filter.
    pub(crate) fn refresh_desk(&mut self) -> Effects {
        let now = (self.store.len(), self.table.moves());
        if self.store.is_settled() && self.desk.of != now {
            let asked = |field: &str| self.table.filter.sets().any(|set| set.starts_with(field));
            let compared = self.screens.holds(ScreenKind::Matrix) || asked("cell:");
            let judged =
                self.screens.holds(ScreenKind::Boards) || self.screens.holds(ScreenKind::Disputes) || asked("board:");
            self.desk.comparing.due |= compared && self.desk.compared.is_some();
            self.desk.judging.due |= judged && self.desk.judged.is_some();
        }
        self.begin_errands()
    }

    /// Begins what is due, if it can be done now.
    pub(crate) fn begin_errands(&mut self) -> Effects {
        if !self.store.is_settled() {
            return Vec::new();
        }
        let mut errands = Vec::new();
        let id = self.desk.number();
        self.desk.of = (self.store.len(), self.table.moves());
        let ready = |pending: &Pending| pending.due && pending.running.is_none();
        if let Some(baseline) = self.desk.baseline.clone().filter(|_| ready(&self.desk.comparing)) {
            let (run, name) = (Snapshot::of(&self.store), self.title());
            let (document, journals) = (self.desk.document.clone(), self.desk.journals.clone());
            let wanted = Wanted { run, name, baseline, document, journals };
            self.desk.comparing = Pending { running: Some(id), ..Pending::default() };
            errands.push(Errand::Compare(id, Box::new(wanted)));
        }
        if ready(&self.desk.judging) {
            let (run, journals) = (Snapshot::of(&self.store), self.desk.journals.clone());
            self.desk.judging = Pending { running: Some(id), ..Pending::default() };
            errands.push(Errand::Judge(id, Box::new(boards::Wanted { run, journals })));
        }
        errands.into_iter().map(|errand| Effect::Work(Work::Desk(errand))).collect()
    }

    pub(crate) fn take_news(&mut self, news: News) -> Effects {
        match news {
            News::Compared(id, result) => {
                let Some(result) = self.desk.comparing.done(id, result) else { return Vec::new() };
                match result {
                    Ok(compared) => {
                        self.desk.compared = Some(compared);
                        self.arrange();
                    }
                    Err(why) => self.fail(why),
                }
                let wanted = self.desk.partner_of.take().filter(|_| self.desk.compared.is_some());
                let mut effects = wanted.map(|record| self.put_beside(record)).unwrap_or_default();
                effects.extend(self.begin_errands());
                effects
            }
            News::Judged(id, result) => {
                match self.desk.judging.done(id, result) {
                    Some(Ok(judged)) => {
                        self.desk.judged = Some(judged);
                        self.arrange();
                    }
                    Some(Err(why)) => self.fail(why),
                    None => {}
                }
                self.begin_errands()
            }
            News::Decided(event, result) => {
                let name = event.item.as_ref().map(|item| name_of(item).line()).unwrap_or_default();
                match result {
                    Ok(()) => {
                        self.desk.unsaved = None;
                        self.say(shown!("saved {name}"));
                        self.read_boards()
                    }
                    Err(failure) => {
                        self.desk.unsaved = Some(event);
                        self.fail(shown!("NOT SAVED {name}: {failure}; decide again to try again"));
                        Vec::new()
                    }
                }
            }
            News::Sides(record, result) => {
                if self.desk.partner_of.take_if(|wanted| *wanted == record).is_none() {
                    return Vec::new();
                }
                match result {
                    Ok(versus) => self.show_versus(versus),
                    Err(failure) => self.fail(shown!("{failure}")),
                }
                Vec::new()
            }
            News::Made(record, made) => {
                self.take_made(record, made);
                Vec::new()
            }
            News::Fixes(record, found) => {
                self.take_fixes(record, found);
                Vec::new()
            }
        }
    }

    pub(crate) fn show_versus(&mut self, mut versus: Box<Versus>) {
        versus.all = self.desk.shows_same;
        self.status = None;
        self.open_screen(Screen::Versus(versus));
    }

    /// To the records behind the number that the cursor is on.
    pub(crate) fn open_cell(&mut self) -> Effects {
        let Some(compared) = &self.desk.compared else { return Vec::new() };
        match self.desk.matrix.filter(compared) {
            Ok(filter) => {
                let (matrix, compared) = (self.desk.matrix, compared.clone());
                let effects = self.show_filtered(&filter);
                let hidden = matrix.hidden(&compared, &filter);
                if hidden > 0 {
                    let are = if hidden == 1 { "is" } else { "are" };
                    self.say(shown!("{hidden} more {are} in B alone and not in this table"));
                }
                effects
            }
            Err(why) => {
                self.say(Shown::own(why));
                Vec::new()
            }
        }
    }

    /// The table with this filter alone.
    pub(crate) fn show_filtered(&mut self, filter: &str) -> Effects {
        let mut effects = self.back_to_table();
        self.table.list = List::default();
        effects.extend(self.set_filter(filter));
        effects
    }

    /// What a filter needs that is not worked out yet; `Err`: it cannot be.
    pub(crate) fn prepare_sets(&mut self, filter: &Filter) -> Result<Effects, &'static str> {
        let asks = |field: &str| filter.sets().any(|set| set.starts_with(field));
        let mut effects = Vec::new();
        if asks("board:") && self.desk.judged.is_none() {
            effects.extend(self.read_boards());
        }
        if asks("cell:") && self.desk.compared.is_none() {
            if self.desk.baseline.is_none() {
                return Err("cell: is about a comparison; start with --baseline PATH");
            }
            effects.extend(self.compare());
        }
        Ok(effects)
    }

    // The boards and the disputes.

    /// To the records behind the number under the cursor.
    pub(crate) fn open_number(&mut self) -> Effects {
        let cell = self.desk.judged.as_ref().and_then(|judged| self.desk.boards.cell(judged)).cloned();
        if let Some(cell) = cell {
            return self.show_filtered(&cell.set);
        }
        self.say(Shown::own("there are no records behind this"));
        Vec::new()
    }

    /// Opens the record that reviewers disagree about.
    pub(crate) fn open_case(&mut self) -> Effects {
        let case = self.desk.judged.as_ref().and_then(|judged| self.desk.disputes.case(judged));
        let record = case.and_then(|case| self.store.position(case.address.0, case.address.1));
        let Some(record) = record else {
            self.say(Shown::own("this record is no longer there"));
            return Vec::new();
        };
        let mut effects = self.back_to_table();
        self.table.list.at = self.table.row_of(record);
        effects.extend(self.request(record, ScreenKind::Run));
        effects
    }

    /// Gives or takes the label of the number that was typed.
    pub(crate) fn give_decided(&mut self) {
        let (Some(judged), Some(label)) = (self.desk.judged.clone(), self.count.and_then(|n| n.checked_sub(1))) else {
            return;
        };
        let offered = self.desk.disputes.case(&judged).map_or(0, |case| disputes::offered(&judged, case).len());
        if label < offered {
            self.desk.disputes.toggle(label);
        } else {
            self.say(Shown::own("there is no such label"));
        }
    }

    pub(crate) fn decide(&mut self, verdict: Verdict, chosen: &[usize]) -> Effects {
        self.desk.disputes.choosing = None;
        let Some(judged) = self.desk.judged.clone() else { return Vec::new() };
        let Some(case) = self.desk.disputes.case(&judged) else { return Vec::new() };
        let (Some(journal), Some(reviewer)) = (self.desk.journals.own(), self.desk.reviewer.clone()) else {
            self.fail(Shown::own("verdicts are saved to one journal; name it with --reviews"));
            return Vec::new();
        };
        let offered = disputes::offered(&judged, case);
        let labels = chosen.iter().filter_map(|label| Some(offered.get(*label)?.0.clone())).collect();
        let mut event = disputes::decide(case, reviewer, verdict, labels);
        let same = |earlier: &&Event| {
            (&earlier.item, earlier.verdict, &earlier.labels) == (&event.item, event.verdict, &event.labels)
        };
        if let Some(earlier) = self.desk.unsaved.as_deref().filter(same) {
            event.event_id = earlier.event_id.clone();
        }
        vec![Effect::Work(Work::Desk(Errand::Decide(journal, Box::new(event))))]
    }

    pub(crate) fn show_agreement(&mut self) {
        let Some(judged) = self.desk.judged.as_ref().filter(|judged| !judged.agreement.is_empty()) else {
            self.say(Shown::own("nobody judged anything yet"));
            return;
        };
        let text = judged.agreement.iter().cloned().reduce(|text, line| text.and("\n").join(&line)).unwrap_or_default();
        self.dialog = Some(Dialog::Popup(Popup { title: Shown::own("Agreement"), text, top: 0 }));
    }

    // Side by side.

    /// Puts a record beside its partner in the baseline, once it is known.
    pub(crate) fn put_beside(&mut self, record: usize) -> Effects {
        let hidden = self.review.hidden_of(record);
        if !hidden.is_empty() {
            self.say(shown!("hidden until your verdict: {}; * shows it", hidden.phrase()));
            return Vec::new();
        }
        self.desk.partner_of = Some(record);
        let Some(compared) = self.desk.compared.clone() else {
            self.say(Shown::own("the two runs are being joined; the record opens when that is done, unless you go on"));
            return self.compare();
        };
        let address = self.store.address(record);
        let seat = |partner: Partner| {
            let store = compared.baseline();
            let reading = store.reading(partner.record)?;
            let row = *store.row(partner.record)?;
            Some(Seat {
                record: partner.record,
                reading,
                row,
                name: compared.names.get(1).map(short_name).unwrap_or_default(),
            })
        };
        let own = self.store.reading(record).zip(self.store.row(record).copied());
        let name = self.name_of(record);
        let own = own.map(|(reading, row)| Seat { record, reading, row, name });
        let other = address.and_then(|address| compared.partner(address)).and_then(seat);
        if let Some((own, other)) = own.zip(other) {
            return vec![Effect::Work(Work::Desk(Errand::Sides(record, Box::new([own, other]), Against::Baseline)))];
        }
        self.desk.partner_of = None;
        self.refuse(NO_PARTNER);
        Vec::new()
    }

    /// To the next record of the table, beside its own partner.
    pub(crate) fn versus_by(&mut self, by: isize) -> Effects {
        match self.versus_from(by) {
            Ok((row, record)) => {
                self.table.list.at = row;
                self.put_beside(record)
            }
            Err(why) => {
                self.refuse(why);
                Vec::new()
            }
        }
    }

    /// The record so many rows further than the one side by side, with its row.
    pub(crate) fn versus_from(&self, by: isize) -> Result<(usize, usize), &'static str> {
        let versus = self.screens.versus().ok_or("there is no record here")?;
        let (row, rows) = (self.table.row_of(versus.record), self.rows());
        let along = (1..=NEAR).filter_map(|n| row.checked_add_signed(n * by.signum())).filter(|row| *row < rows);
        let partnered = |row: usize| {
            let record = self.table.record(row).filter(|record| *record != versus.record)?;
            let known = self.desk.compared.as_ref().zip(self.store.address(record));
            let has_partner = known.is_none_or(|(compared, address)| compared.partner(address).is_some());
            (has_partner && self.review.hidden_of(record).is_empty()).then_some((row, record))
        };
        let next = along.filter_map(partnered).take(by.unsigned_abs()).last();
        next.ok_or(if by > 0 {
            "this is the last record with a partner"
        } else {
            "this is the first record with a partner"
        })
    }

    pub(crate) fn is_beside_parent(&self) -> bool {
        self.screens.versus().is_some_and(|versus| versus.against == Against::Parent)
    }
}
