//! The keys of the desk: the matrix of a comparison, and two records side by side.

use super::Effects;
use crate::domain::compare::Basis;
use crate::domain::filter::Filter;
use crate::domain::text::Shown;
use crate::io::compare::{Partner, Wanted};
use crate::io::snapshot::Snapshot;
use crate::shown;
use crate::tui::app::{App, Find, Screen, short_name};
use crate::tui::desk::versus::Versus;
use crate::tui::desk::{Errand, Front, News, Seat, matrix};
use crate::tui::keymap::Action;
use crate::tui::list::{List, Move};
use crate::tui::msg::Work;
use crate::tui::panes;
use crate::tui::run::Effect;

impl App {
    /// Does what a key means on the desk, or opens it; `None`: what it means everywhere.
    pub(super) fn desk_action(&mut self, action: Action, times: isize) -> Option<Effects> {
        match (action, self.desk.front) {
            (Action::Matrix, Some(Front::Matrix)) | (Action::Back | Action::Escape, Some(_)) => {
                return Some(self.leave_desk());
            }
            (Action::Matrix, _) => {
                self.desk.front = Some(Front::Matrix);
                return Some(self.compare());
            }
            (Action::Baseline, Some(Front::Versus)) => return Some(self.leave_desk()),
            (Action::Baseline, _) => {
                let record = match (self.screen, &self.inspect) {
                    (Screen::Table, _) | (_, None) => self.record(),
                    (_, Some(inspect)) => Some(inspect.opened.index),
                };
                return record.map(|record| self.put_beside(record));
            }
            (Action::Open, Some(Front::Matrix)) => return Some(self.open_cell()),
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

    fn leave_desk(&mut self) -> Effects {
        let behind = self.desk.behind_versus.take();
        let left = self.desk.front.take();
        self.desk.partner_of = None;
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
        let basis = &mut self.desk.matrix.basis;
        *basis = basis.saturating_add_signed(by).min(Basis::ALL.len() - 1);
    }

    /// Keeps the desk within what there is.
    pub(super) fn settle_desk(&mut self) {
        match self.desk.front {
            None => {}
            Some(Front::Matrix) => {
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

    // The comparison.

    /// Compares as soon as all records are read; what was compared before stays on screen meanwhile.
    pub(super) fn compare(&mut self) -> Effects {
        self.desk.due = true;
        self.begin_comparison()
    }

    /// Begins a comparison that is due, if it can be made now.
    pub(super) fn begin_comparison(&mut self) -> Effects {
        let ready = self.desk.due && self.desk.running.is_none() && self.store.is_settled();
        let Some(baseline) = self.desk.baseline.clone().filter(|_| ready) else { return Vec::new() };
        self.desk.due = false;
        let id = self.desk.number();
        self.desk.running = Some(id);
        let (run, name) = (Snapshot::of(&self.store), self.title());
        let journals = self.desk.journals.clone();
        let wanted = Wanted { run, name, baseline, journals };
        vec![Effect::Work(Work::Desk(Errand::Compare(id, Box::new(wanted))))]
    }

    pub(super) fn take_news(&mut self, news: News) -> Effects {
        match news {
            News::Compared(id, result) => {
                if self.desk.running != Some(id) {
                    return Vec::new();
                }
                self.desk.running = None;
                match result {
                    Ok(compared) => {
                        self.desk.failed = None;
                        self.desk.compared = Some(compared);
                        self.arrange();
                    }
                    Err(failure) => {
                        self.desk.failed = Some(shown!("{failure}"));
                        self.fail(shown!("{failure}"));
                    }
                }
                let wanted = self.desk.partner_of.take().filter(|_| self.desk.compared.is_some());
                let mut effects = wanted.map(|record| self.put_beside(record)).unwrap_or_default();
                effects.extend(self.begin_comparison());
                effects
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
        }
    }

    fn show_versus(&mut self, mut versus: Box<Versus>) {
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
        let cells = filter.sets().any(|set| set.starts_with("cell:"));
        if !cells || self.desk.compared.is_some() {
            return Ok(Vec::new());
        }
        if self.desk.baseline.is_none() {
            return Err("cell: is about a comparison; start with --baseline PATH");
        }
        Ok(self.compare())
    }

    // Side by side.

    /// Puts a record beside its partner in the baseline, once it is known.
    fn put_beside(&mut self, record: usize) -> Effects {
        self.desk.partner_of = Some(record);
        let Some(compared) = self.desk.compared.clone() else {
            self.say(Shown::own("the two runs are being joined; the record opens when that is done"));
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
            return vec![Effect::Work(Work::Desk(Errand::Sides(Box::new([own, other]))))];
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
