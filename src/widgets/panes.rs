//! Panes and other choices among a few: to the next one, where they are, under the mouse.

use ratatui::layout::{Position, Rect};

use crate::widgets::keymap::Reason;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::look::Look;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::closest;

/// Reason given for a number that leads to no pane.
pub(crate) const NO_PANE: &str = "no pane has this number here";

/// Panes of a screen, with the numbers that lead to them.
pub(crate) trait Numbered: Copy + PartialEq + 'static {
    /// All of them, in the order of Tab.
    const PANES: &'static [Self];

    /// Returns the number that leads to the pane, from 1.
    fn number(self) -> Option<usize> {
        Self::PANES.iter().position(|other| *other == self).map(|at| at + 1)
    }
}

/// The pane of a number.
pub(crate) fn numbered<T: Numbered>(number: usize) -> Result<T, Reason> {
    T::PANES.iter().copied().find(|pane| pane.number() == Some(number)).ok_or(NO_PANE)
}

/// The pane that a title means, or a word of it that no other title has.
pub(crate) fn named<T: Copy>(all: &[T], title: impl Fn(T) -> &'static str, name: &str) -> Result<T, Shown> {
    let typed = name.trim().to_lowercase();
    let titles: Vec<String> = all.iter().map(|pane| title(*pane).to_lowercase()).collect();
    let has_word = |title: &String| title.split(|c: char| !c.is_alphanumeric()).any(|word| word == typed);
    let mut by_word = (0..).zip(&titles).filter(|(_, title)| has_word(title)).map(|(at, _)| at);
    let exact = titles.iter().position(|title| *title == typed);
    let found = exact.or_else(|| by_word.next().filter(|_| by_word.next().is_none()));
    if let Some(pane) = found.and_then(|at| all.get(at)) {
        return Ok(*pane);
    }
    let near = closest(&typed, titles.iter().map(String::as_str)).map(str::to_owned);
    let mean = near.map(|title| shown!(" Did you mean \"{title}\"?")).unwrap_or_default();
    Err(shown!("no pane \"{}\" (available: {}).{mean}", Shown::line(name.as_bytes()), titles.join(", ")))
}

/// Returns the item `by` places further, wrapping around at the ends.
pub(crate) fn turn<T: Copy + PartialEq>(all: &[T], now: T, by: isize) -> T {
    let at = all.iter().position(|other| *other == now).unwrap_or(0);
    all.get(turn_to(Some(at), by, all.len())).copied().unwrap_or(now)
}

/// Returns the number `by` places further, wrapping around at the ends; where none was chosen yet, the first, or the
/// last.
pub(crate) fn turn_to(at: Option<usize>, by: isize, count: usize) -> usize {
    match at {
        None if by > 0 => 0,
        None => count.saturating_sub(1),
        Some(at) => (at as isize).saturating_add(by).rem_euclid(count.max(1) as isize) as usize,
    }
}

/// Areas in which the panes of a screen were last laid out; a hidden pane has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Areas<P>(Vec<(P, Rect)>);

impl<P: Copy + PartialEq> Areas<P> {
    /// Gives the body to one pane alone, or shares it among all.
    pub(crate) fn new(body: Rect, alone: Option<P>, all: impl FnOnce() -> Vec<(P, Rect)>) -> Self {
        Self(alone.map_or_else(all, |pane| vec![(pane, body)]))
    }

    /// The place of a pane.
    pub(crate) fn of(&self, pane: P) -> Rect {
        self.0.iter().find(|(other, _)| *other == pane).map_or(Rect::default(), |(_, place)| *place)
    }

    /// Lists the places of all panes that there is room for.
    pub(crate) fn places(&self) -> impl Iterator<Item = Rect> {
        self.0.iter().map(|(_, place)| *place).filter(|place| !place.is_empty())
    }

    /// Counts the lines of a pane.
    pub(crate) fn height(&self, pane: P) -> usize {
        inner_height(self.of(pane))
    }

    /// Counts the columns of a pane.
    pub(crate) fn width(&self, pane: P) -> usize {
        inner_width(self.of(pane))
    }

    /// The pane at a place of the screen, and the line of it. A line that two panes share holds the title of the lower.
    pub(crate) fn at(&self, at: Position) -> Option<(P, usize)> {
        let under = self.0.iter().filter(|(_, place)| place.contains(at));
        let (pane, place) = under.max_by_key(|(_, place)| place.y)?;
        Some((*pane, usize::from(at.y.saturating_sub(place.y + 1))))
    }

    /// Lists the panes that there is room for, each with its place and its look.
    pub(crate) fn on_screen<'l>(&self, focus: P, look: Look<'l>) -> impl Iterator<Item = (P, Rect, Look<'l>)>
    where
        P: Numbered,
    {
        let panes = self.0.iter().filter(|(_, place)| place.height >= 2 && place.width >= 4);
        panes.map(move |(pane, place)| {
            let focused = look.focused && *pane == focus;
            (*pane, *place, Look { focused, number: pane.number(), ..look })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_is_known_by_its_title_or_a_word_of_it() {
        let all = [(1, "Steps"), (2, "Global state"), (3, "Step"), (4, "Reply and prompt"), (5, "Reply")];
        let named = |name| named(&all, |(_, title)| title, name).map(|(n, _)| n).map_err(Shown::into_string);
        for (name, pane) in [("step", 3), ("STEPS", 1), ("state", 2), ("Global State", 2), ("prompt", 4), ("reply", 5)]
        {
            assert_eq!(named(name), Ok(pane), "{name}");
        }
        let why = named("stepps").unwrap_err();
        assert!(
            why.contains("available: steps, global state, step") && why.ends_with("Did you mean \"steps\"?"),
            "{why}"
        );
        assert!(named("x\u{1b}").unwrap_err().ends_with("reply)."), "nothing is like it, and nothing raw is said");
    }
}
