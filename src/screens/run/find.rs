//! Find in the open record: on its own screen, or in the JSON.

use regex::bytes::Regex;

use crate::screens::kind::ScreenKind;
use crate::screens::run::state::Tab;
use stepscope_base::json::Value;
use stepscope_base::text::{Shown, cut};

/// A place that a search found on the run screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hit {
    /// Place in the question: the end of the match.
    Question(usize),
    /// Place in a step's text.
    Step(usize),
    /// Place in a variable's name, description or value.
    Variable(usize),
    /// Place in a finding.
    Finding(usize),
    /// Place in the prompt or the reply of a step.
    Call(usize, Tab),
    /// A row of the items of a structured answer.
    Item(usize),
    /// A line of the document.
    Line(usize),
}

/// A search on the run screen or in the JSON.
#[derive(Debug, Default)]
pub struct Find {
    /// Text of the search, as typed.
    pub typed: String,
    /// The places on the run screen.
    pub hits: Vec<Hit>,
    /// The values in the JSON, by their index in the tape.
    pub nodes: Vec<u32>,
    /// The place that was visited last, and on which screen.
    pub at: Option<(ScreenKind, usize)>,
    /// Pattern of the search, which is marked on the screen.
    pub(crate) shown: Option<Regex>,
}

/// Finds the end of the first match in a text, in bytes: that of the shortest beginning that matches.
pub(crate) fn match_end(text: &str, is_match: impl Fn(&str) -> bool) -> Option<usize> {
    let (mut without, mut with) = (0, text.len());
    if !is_match(text) {
        return None;
    }
    while without < with {
        let middle = without.midpoint(with);
        if is_match(cut(text, middle)) { with = middle } else { without = middle + 1 }
    }
    Some(with)
}

/// Lists the values whose text or key matches, by their index in the tape.
pub(crate) fn matching_nodes(root: Value<'_>, is_match: impl Fn(&str) -> bool) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_ends_where_its_first_place_does() {
        let end = |text: &str, word: &str| match_end(text, |text| text.contains(word));
        assert_eq!(end("öre and ore", "ore"), Some("öre and ore".len()));
        assert_eq!(end("öre and öre", "öre"), Some("öre".len()));
        assert_eq!(end("öre", "x"), None);
        assert_eq!(end("", ""), Some(0));
    }
}
