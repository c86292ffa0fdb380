//! Find in the open record: on its own screen, or in the JSON.

use crate::screens::kind::ScreenKind;
use crate::screens::run::state::{Hit, Inspect};
use stepscope_base::json::Value;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// A search on the run screen or in the JSON.
#[derive(Debug, Default)]
pub struct Find {
    /// What was typed.
    pub typed: String,
    /// The places on the run screen.
    pub hits: Vec<Hit>,
    /// The values in the JSON, by their index in the tape.
    pub nodes: Vec<u32>,
    /// The place that was visited last, and on which screen.
    pub at: Option<(ScreenKind, usize)>,
}

impl Inspect {
    /// Looks for a text, on the screen and in the JSON.
    pub fn look_for(&mut self, typed: &str, is_match: impl Fn(&str) -> bool) {
        let hits = self.hits(&is_match);
        let nodes = self.opened.root().map(|root| matching_nodes(root, is_match)).unwrap_or_default();
        self.find = Find { typed: typed.to_owned(), hits, nodes, at: None };
    }

    /// Whether something was found on the screen in front.
    pub fn has_found(&self) -> bool {
        if self.json { !self.find.nodes.is_empty() } else { !self.find.hits.is_empty() }
    }

    /// To a place that was found, so many further, and which it is; `Err`: nothing was found.
    pub fn find_by(&mut self, by: isize) -> Result<Shown, Shown> {
        let count = if self.json { self.find.nodes.len() } else { self.find.hits.len() };
        if count == 0 {
            let typed = Shown::line(self.find.typed.as_bytes());
            return Err(match self.find.nodes.len() {
                0 => shown!("nothing here holds {typed}"),
                // Prompts, replies and other fields stand in the JSON alone.
                more => shown!("nothing on this screen holds {typed}; the JSON does, {more} times: J, n"),
            });
        }
        let at = match self.find.at.filter(|(screen, _)| *screen == self.kind()) {
            None if by > 0 => 0,
            None => count - 1,
            Some((_, at)) => (at as isize + by).rem_euclid(count as isize) as usize,
        };
        self.find.at = Some((self.kind(), at));
        if !self.json {
            if let Some(hit) = self.find.hits.get(at).copied() {
                self.visit(hit);
            }
        } else if let Some((root, node)) = self.opened.root().zip(self.find.nodes.get(at)) {
            self.outline.go_to_index(root, *node);
        }
        Ok(shown!("{} of {count}", at + 1))
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
