//! The filter, which hides, and find, which visits: in the table by looking through the records in the background, in an
//! open record at once.

use std::sync::Arc;
use std::time::Instant;

use super::{Effects, REARRANGE};
use crate::domain::filter::{Answer, Filter, text_pattern};
use crate::domain::json::Value;
use crate::domain::row::{Flag, Row};
use crate::domain::text::Shown;
use crate::io::search::Plan;
use crate::shown;
use crate::tui::app::{App, Find};
use crate::tui::front::Screen;
use crate::tui::inspect::Inspect;
use crate::tui::msg::Work;
use crate::tui::run::Effect;
use crate::tui::table::Search;

impl App {
    /// Takes a filter as typed.
    pub fn set_filter(&mut self, typed: &str) -> Effects {
        let typed = typed.trim().to_owned();
        let filter = match Filter::parse(&typed) {
            Ok(filter) => Arc::new(filter),
            Err(error) => {
                self.fail(shown!("{}", error.message));
                return Vec::new();
            }
        };
        let prepared = match self.prepare_sets(&filter) {
            Ok(prepared) => prepared,
            Err(why) => {
                self.fail(Shown::own(why));
                return Vec::new();
            }
        };
        let old = self.table.filtering.take();
        self.table.filter_text = typed;
        self.table.filter = filter;
        let mut effects: Effects = end_of(old).into_iter().chain(prepared).collect();
        if self.table.filter.needs_text() {
            let id = self.new_search_id();
            self.table.filtering = Some(Search::new(id, &self.table.filter_text, self.table.filter.clone()));
            effects.extend(self.go_on_searching(|_| true));
        }
        self.arrange();
        effects
    }

    /// Lets every search look through the records that it has not looked at, if it is idle and `wanted`.
    pub(super) fn go_on_searching(&mut self, wanted: impl Fn(&Search) -> bool) -> Effects {
        let Self { store, table, .. } = self;
        let idle = |search: &&mut Search| !search.running && (!search.done || search.planned < store.len());
        let searches = [&mut table.filtering, &mut table.finding].into_iter().flatten();
        let begin = |search: &mut Search| {
            let filter = &search.filter;
            // What was not checked yet may still come to fit.
            let asked = |row: &Row| !row.has(Flag::Checked) || filter.fits_row(row) != Answer::No;
            let plan = Plan::of(store, search.planned, asked);
            (search.running, search.planned) = (true, store.len());
            Effect::Work(Work::Search(search.id, search.filter.clone(), plan))
        };
        searches.filter(idle).filter(|search| wanted(search)).map(begin).collect()
    }

    pub(super) fn new_search_id(&mut self) -> u64 {
        self.next_search += 1;
        self.next_search
    }

    pub(super) fn find(&mut self, typed: &str) -> Effects {
        if typed.is_empty() {
            return Vec::new();
        }
        if self.screens.top() == Screen::Table {
            return self.find_in_table(typed);
        }
        let Some(inspect) = &self.inspect else { return Vec::new() };
        let pattern = match regex_of(typed) {
            Ok(pattern) => pattern,
            Err(why) => {
                self.fail(why);
                return Vec::new();
            }
        };
        let is_match = |text: &str| pattern.is_match(text.as_bytes());
        let hits = inspect.hits(is_match);
        let nodes = inspect.opened.root().map(|root| matching_nodes(root, is_match)).unwrap_or_default();
        self.find = Find { typed: typed.to_owned(), hits, nodes, at: None };
        self.find_by(1);
        Vec::new()
    }

    fn find_in_table(&mut self, typed: &str) -> Effects {
        let quoted = format!("text:\"{}\"", typed.replace('"', ""));
        let filter = match Filter::parse(&quoted) {
            Ok(filter) => Arc::new(filter),
            Err(error) => {
                self.fail(shown!("{}", error.message));
                return Vec::new();
            }
        };
        let id = self.new_search_id();
        let mut effects: Effects = end_of(self.table.finding.take()).into_iter().collect();
        self.table.finding = Some(Search::new(id, typed, filter));
        self.table.jump = Some(0);
        effects.extend(self.go_on_searching(|_| true));
        effects
    }

    pub(super) fn find_by(&mut self, by: isize) {
        match self.screens.top() {
            Screen::Table => self.visit_found(by),
            Screen::Run | Screen::Evidence | Screen::Json => {
                let count =
                    if self.screens.top() == Screen::Json { self.find.nodes.len() } else { self.find.hits.len() };
                if count == 0 {
                    let typed = Shown::line(self.find.typed.as_bytes());
                    match self.find.nodes.len() {
                        0 => self.fail(shown!("nothing here holds {typed}")),
                        // Prompts, replies and other fields stand in the JSON alone.
                        more => {
                            self.fail(shown!(
                                "nothing on this screen holds {typed}; the JSON does, {more} times: J, n"
                            ));
                        }
                    }
                    return;
                }
                let at = match self.find.at.filter(|(screen, _)| *screen == self.screens.top()).map(|(_, at)| at) {
                    None => {
                        if by > 0 {
                            0
                        } else {
                            count - 1
                        }
                    }
                    Some(at) => (at as isize + by).rem_euclid(count as isize) as usize,
                };
                self.find.at = Some((self.screens.top(), at));
                self.visit_hit(at);
                self.say(shown!("{} of {count}", at + 1));
            }
            _ => {}
        }
    }

    fn visit_hit(&mut self, at: usize) {
        let Some(inspect) = &mut self.inspect else { return };
        if self.screens.top() != Screen::Json {
            if let Some(hit) = self.find.hits.get(at) {
                inspect.visit(*hit);
            }
        } else if let Some(&node) = self.find.nodes.get(at) {
            let Inspect { opened, outline, .. } = inspect;
            if let Some(root) = opened.root() {
                outline.go_to_index(root, node);
            }
        }
    }

    /// To a row that the search found, down the screen: 0 is the first at or after the cursor.
    fn visit_found(&mut self, by: isize) {
        let Some(search) = &self.table.finding else { return };
        let here = self.table.list.at;
        let found = self.table.found_rows(search);
        let next = match by {
            0 => found.get(found.partition_point(|row| *row < here)).or(found.first()),
            1.. => found.get(found.partition_point(|row| *row <= here) + by as usize - 1).or(found.first()),
            _ => {
                let before = found.partition_point(|row| *row < here);
                before.checked_sub(by.unsigned_abs()).and_then(|n| found.get(n)).or(found.last())
            }
        };
        match (next, search.done) {
            (Some(&row), _) => {
                self.table.list.at = row;
                self.table.jump = None;
            }
            (None, true) => {
                let typed = Shown::line(search.typed.as_bytes());
                self.table.jump = None;
                self.fail(shown!("no record holds {typed}"));
            }
            (None, false) => self.table.jump = Some(by),
        }
    }

    pub(super) fn take_found(&mut self, id: u64, found: &[u32], done: bool, now: Instant) {
        if let Some(search) = self.table.filtering.as_mut().filter(|search| search.id == id) {
            let first = search.found.is_empty();
            search.take(found, done);
            if first || done {
                self.arrange();
            } else {
                self.arrange_at = self.arrange_at.or(Some(now + REARRANGE));
            }
        } else if let Some(search) = self.table.finding.as_mut().filter(|search| search.id == id) {
            search.take(found, done);
            if let Some(by) = self.table.jump {
                self.visit_found(by);
            }
        }
    }
}

fn matching_nodes(root: Value<'_>, is_match: impl Fn(&str) -> bool) -> Vec<u32> {
    let text = |value: Value<'_>| match value.string() {
        Some(text) => text.line(),
        None if value.is_container() => Shown::default(),
        None => Shown::line(value.raw()),
    };
    root.walk()
        .filter(|stop| is_match(text(stop.value).as_str()) || stop.key.is_some_and(|key| is_match(text(key).as_str())))
        .map(|stop| stop.value.index() as u32)
        .collect()
}

/// A pattern for text on screen: as in the filter, small letters find capitals too.
fn regex_of(typed: &str) -> Result<regex::bytes::Regex, Shown> {
    text_pattern(typed).map_err(|why| shown!("{why}"))
}

/// What ends a search.
pub(super) fn end_of(search: Option<Search>) -> Option<Effect<Work>> {
    search.map(|search| Effect::Work(Work::EndSearch(search.id)))
}
