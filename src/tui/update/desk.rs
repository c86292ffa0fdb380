//! The keys of the desk: the matrix of a comparison, and two records side by side.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Position;

use super::Effects;
use crate::domain::compare::Basis;
use crate::domain::filter::Filter;
use crate::domain::review::event::{Event, Verdict};
use crate::domain::review::stats::name_of;
use crate::domain::text::Shown;
use crate::io::boards;
use crate::io::compare::{Partner, Wanted};
use crate::io::snapshot::Snapshot;
use crate::shown;
use crate::tui::app::{App, Find, Overlay, Popup, Screen, short_name};
use crate::tui::desk::versus::{Against, Versus};
use crate::tui::desk::{Errand, Front, News, Pending, Seat, disputes, matrix};
use crate::tui::keymap::Action;
use crate::tui::list::{List, Move};
use crate::tui::msg::Work;
use crate::tui::panes;
use crate::tui::run::Effect;

impl App {
    /// Does what a key means on the desk, or opens it; `None`: what it means everywhere.
    pub(super) fn desk_action(&mut self, action: Action, times: isize) -> Option<Effects> {
        // Who does something else meanwhile does not want to be taken away from it.
        self.desk.partner_of = None;
        match (action, self.desk.front) {
            (Action::Open, Some(Front::Disputes)) if self.desk.disputes.choosing.is_some() => {
                let chosen = self.desk.disputes.choosing.take().unwrap_or_default();
                return Some(self.decide(Verdict::Fail, &chosen));
            }
            (Action::Escape, Some(Front::Disputes)) if self.desk.disputes.choosing.is_some() => {
                self.desk.disputes.choosing = None;
            }
            (Action::NextPane, Some(Front::Disputes)) => self.show_agreement(),
            (Action::Matrix, Some(Front::Matrix)) | (Action::Back | Action::Escape, Some(_)) => {
                return Some(self.leave_desk());
            }
            (Action::Matrix, _) => {
                self.desk.front = Some(Front::Matrix);
                return Some(self.compare());
            }
            (Action::Baseline, Some(Front::Versus))
            | (Action::Boards, Some(Front::Boards))
            | (Action::Disputes, Some(Front::Disputes)) => return Some(self.leave_desk()),
            (Action::Boards | Action::Disputes, _) => {
                self.desk.front = Some(if action == Action::Boards { Front::Boards } else { Front::Disputes });
                return Some(self.read_boards());
            }
            (Action::Open, Some(Front::Boards)) => return Some(self.open_number()),
            (Action::Open, Some(Front::Disputes)) => return Some(self.open_case()),
            (Action::DecidePass, Some(Front::Disputes)) => return Some(self.decide(Verdict::Pass, &[])),
            (Action::DecideFail, Some(Front::Disputes)) => self.desk.disputes.choosing = Some(Vec::new()),
            (Action::Baseline, _) => {
                let record = match (self.screen, &self.inspect) {
                    (Screen::Table, _) | (_, None) => self.record(),
                    (_, Some(inspect)) => Some(inspect.opened.index),
                };
                return record.map(|record| self.put_beside(record));
            }
            (Action::Open, Some(Front::Matrix)) => return Some(self.open_cell()),
            (Action::NextRecord, Some(Front::Versus)) if self.is_beside_parent() => {
                return Some(self.fork_beside_by(times));
            }
            (Action::PreviousRecord, Some(Front::Versus)) if self.is_beside_parent() => {
                return Some(self.fork_beside_by(-times));
            }
            (Action::Difference, None) if matches!(self.screen, Screen::Run | Screen::Table) => {
                return self.put_beside_parent();
            }
            (Action::NextRecord, Some(Front::Versus)) => return Some(self.versus_by(times)),
            (Action::PreviousRecord, Some(Front::Versus)) => return Some(self.versus_by(-times)),
            (Action::Difference, Some(Front::Versus)) => {
                if let Some(versus) = &mut self.desk.versus {
                    versus.all = !versus.all;
                }
            }
            (Action::Left, Some(_)) => self.desk_sideways(-1),
            (Action::Right, Some(_)) => self.desk_sideways(1),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn is_beside_parent(&self) -> bool {
        self.desk.versus.as_ref().is_some_and(|versus| versus.against == Against::Parent)
    }

    pub(super) fn leave_desk(&mut self) -> Effects {
        let behind = self.desk.behind_versus.take();
        self.desk.disputes.choosing = None;
        let left = self.desk.front.take();
        if left != Some(Front::Versus) {
            return Vec::new();
        }
        self.desk.front = behind;
        // Who walked on side by side finds the same record behind.
        let record = self.desk.versus.as_ref().map(|versus| versus.record);
        let open = self.inspect.as_ref().map(|inspect| inspect.opened.index);
        match record.filter(|record| open.is_some_and(|open| open != *record)) {
            Some(record) => self.request(record, self.screen),
            None => Vec::new(),
        }
    }

    /// Moves what is in front; `false`: the desk is not.
    pub(super) fn desk_go(&mut self, movement: Move) -> bool {
        let area = self.area();
        match self.desk.front {
            None => return false,
            Some(Front::Matrix) => {
                let rows = self.desk.compared.as_ref().map_or(0, |compared| matrix::rows(compared).len());
                self.desk.matrix.list.go(movement, rows, panes::matrix::height(self));
            }
            Some(Front::Boards) => {
                let height = panes::boards::height(self);
                if let Some(judged) = self.desk.judged.clone() {
                    self.desk.boards.go(movement, &judged, height);
                }
            }
            Some(Front::Disputes) => {
                let cases = self.desk.judged.as_ref().map_or(0, |judged| judged.cases.len());
                let (lines, room) = panes::disputes::size(self);
                let height = panes::disputes::height(self);
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
            Some(Front::Versus) => {
                let (lines, height) = panes::versus::size(self, area);
                if let Some(versus) = &mut self.desk.versus {
                    // There is no cursor: the first line on screen is what moves.
                    let mut list = List { at: versus.top, top: versus.top };
                    list.go(movement, lines.saturating_sub(height) + 1, height);
                    versus.top = list.at;
                }
            }
        }
        true
    }

    fn desk_sideways(&mut self, by: isize) {
        if self.desk.front == Some(Front::Boards) {
            if let Some(judged) = self.desk.judged.clone() {
                self.desk.boards.turn(by, &judged);
            }
            return;
        }
        let basis = &mut self.desk.matrix.basis;
        *basis = basis.saturating_add_signed(by).min(Basis::ALL.len() - 1);
    }

    /// Keeps the desk within what there is.
    pub(super) fn settle_desk(&mut self) {
        match self.desk.front {
            None => {}
            Some(Front::Matrix | Front::Boards | Front::Disputes) => {
                self.desk_go(Move::By(0));
            }
            Some(Front::Versus) => {
                let (lines, height) = panes::versus::size(self, self.area());
                if let Some(versus) = &mut self.desk.versus {
                    versus.top = versus.top.min(lines.saturating_sub(height));
                }
            }
        }
    }

    /// Brings the cursor where the mouse is; where it is already, opens.
    pub(super) fn click_desk(&mut self, at: Position) -> Effects {
        let again = match self.desk.front {
            Some(Front::Matrix) => panes::matrix::place_of(self, at).map(|(row, basis)| {
                let matrix = &mut self.desk.matrix;
                let before = (matrix.list.at, matrix.basis);
                (matrix.list.at, matrix.basis) = (row, basis.unwrap_or(matrix.basis));
                before == (matrix.list.at, matrix.basis)
            }),
            Some(Front::Boards) => panes::boards::place_of(self, at).map(|(line, column)| {
                let boards = &mut self.desk.boards;
                let before = (boards.line, boards.column);
                (boards.line, boards.column) = (line, column.unwrap_or(boards.column));
                before == (boards.line, boards.column)
            }),
            Some(Front::Disputes) => panes::disputes::row_of(self, at).map(|row| {
                let again = self.desk.disputes.list.at == row;
                self.desk_go(Move::To(row));
                again
            }),
            Some(Front::Versus) | None => None,
        };
        if again == Some(true) { self.act(Action::Open) } else { Vec::new() }
    }

    // The comparison.

    /// Compares as soon as all records are read; what was compared before stays on screen meanwhile.
    pub(super) fn compare(&mut self) -> Effects {
        self.desk.comparing.due = true;
        self.begin_errands()
    }

    /// Reads the reviews anew as soon as all records are read.
    fn read_boards(&mut self) -> Effects {
        self.desk.judging.due = true;
        self.begin_errands()
    }

    /// When the records have changed: works out anew what is on screen or asked for by the filter.
    pub(super) fn refresh_desk(&mut self) -> Effects {
        let now = (self.store.len(), self.table.moves());
        if self.store.is_settled() && self.desk.of != now {
            let asked = |field: &str| self.table.filter.sets().any(|set| set.starts_with(field));
            let compared = self.desk.front == Some(Front::Matrix) || asked("cell:");
            let judged = matches!(self.desk.front, Some(Front::Boards | Front::Disputes)) || asked("board:");
            self.desk.comparing.due |= compared && self.desk.compared.is_some();
            self.desk.judging.due |= judged && self.desk.judged.is_some();
        }
        self.begin_errands()
    }

    /// Begins what is due, if it can be done now.
    pub(super) fn begin_errands(&mut self) -> Effects {
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

    pub(super) fn take_news(&mut self, news: News) -> Effects {
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

    pub(super) fn show_versus(&mut self, mut versus: Box<Versus>) {
        if self.desk.front != Some(Front::Versus) {
            self.desk.behind_versus = self.desk.front;
        }
        versus.all = self.desk.versus.as_ref().is_some_and(|before| before.all);
        self.status = None;
        self.desk.front = Some(Front::Versus);
        self.desk.versus = Some(versus);
    }

    /// To the records behind the number that the cursor is on.
    fn open_cell(&mut self) -> Effects {
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
    fn show_filtered(&mut self, filter: &str) -> Effects {
        self.desk.front = None;
        self.screen = Screen::Table;
        self.inspect = None;
        self.find = Find::default();
        self.table.list = List::default();
        self.set_filter(filter)
    }

    /// What a filter needs that is not worked out yet; `Err`: it cannot be.
    pub(super) fn prepare_sets(&mut self, filter: &Filter) -> Result<Effects, &'static str> {
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
    fn open_number(&mut self) -> Effects {
        let cell = self.desk.judged.as_ref().and_then(|judged| self.desk.boards.cell(judged)).cloned();
        if let Some(cell) = cell {
            return self.show_filtered(&cell.set);
        }
        self.say(Shown::own("there are no records behind this"));
        Vec::new()
    }

    /// Opens the record that reviewers disagree about.
    fn open_case(&mut self) -> Effects {
        let case = self.desk.judged.as_ref().and_then(|judged| self.desk.disputes.case(judged));
        let record = case.and_then(|case| self.store.position(case.address.0, case.address.1));
        let Some(record) = record else {
            self.say(Shown::own("this record is no longer there"));
            return Vec::new();
        };
        self.desk.front = None;
        self.screen = Screen::Table;
        self.table.list.at = self.table.row_of(record);
        self.request(record, Screen::Run)
    }

    /// The digits while labels are chosen; `None`: it is another key, or none are chosen.
    pub(super) fn label_key(&mut self, key: KeyEvent) -> Option<Effects> {
        let KeyCode::Char(digit @ '1'..='9') = key.code else { return None };
        if self.desk.front != Some(Front::Disputes) || self.desk.disputes.choosing.is_none() || self.overlay.is_some() {
            return None;
        }
        let judged = self.desk.judged.clone()?;
        let offered = self.desk.disputes.case(&judged).map_or(0, |case| disputes::offered(&judged, case).len());
        let label = usize::from(digit as u8 - b'1');
        if label < offered {
            self.desk.disputes.toggle(label);
        } else {
            self.say(Shown::own("there is no such label"));
        }
        Some(Vec::new())
    }

    fn decide(&mut self, verdict: Verdict, chosen: &[usize]) -> Effects {
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

    fn show_agreement(&mut self) {
        let Some(judged) = self.desk.judged.as_ref().filter(|judged| !judged.agreement.is_empty()) else {
            self.say(Shown::own("nobody judged anything yet"));
            return;
        };
        let text = judged.agreement.iter().cloned().reduce(|text, line| text.and("\n").join(&line)).unwrap_or_default();
        self.overlay = Some(Overlay::Popup(Popup { title: Shown::own("Agreement"), text, top: 0 }));
    }

    // Side by side.

    /// Puts a record beside its partner in the baseline, once it is known.
    fn put_beside(&mut self, record: usize) -> Effects {
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
        self.say(Shown::own("the baseline has no record of this item, by id or by question"));
        Vec::new()
    }

    /// To the next record of the table, beside its own partner.
    fn versus_by(&mut self, by: isize) -> Effects {
        let Some(versus) = &self.desk.versus else { return Vec::new() };
        let row = self.table.row_of(versus.record);
        let next = row.saturating_add_signed(by).min(self.rows().saturating_sub(1));
        let Some(record) = self.table.record(next).filter(|record| *record != versus.record) else {
            self.say(Shown::own(if by > 0 { "this is the last record" } else { "this is the first record" }));
            return Vec::new();
        };
        self.table.list.at = next;
        self.put_beside(record)
    }
}
