//! Panes and other choices among a few: to the next one, under the mouse, on screen.

use ratatui::layout::{Position, Rect};

use crate::widgets::look::Look;

/// The one so many further, round and round.
pub(crate) fn turn<T: Copy + PartialEq>(all: &[T], now: T, by: isize) -> T {
    let at = all.iter().position(|other| *other == now).unwrap_or(0) as isize;
    let next = (at + by).rem_euclid(all.len().max(1) as isize) as usize;
    all.get(next).copied().unwrap_or(now)
}

/// The pane at a place of the screen, and where it is.
pub(crate) fn under<P: Copy>(all: &[P], place_of: impl Fn(P) -> Rect, at: Position) -> Option<(P, Rect)> {
    all.iter().map(|pane| (*pane, place_of(*pane))).find(|(_, place)| place.contains(at))
}

/// The panes that there is room for, each with its place and how it is to look.
pub(crate) fn on_screen<'l, P: Copy + PartialEq>(
    all: &[P],
    focus: P,
    place_of: impl Fn(P) -> Rect,
    look: Look<'l>,
) -> impl Iterator<Item = (P, Rect, Look<'l>)> {
    let panes = all.iter().map(move |pane| (*pane, place_of(*pane)));
    let panes = panes.filter(|(_, place)| place.height >= 2 && place.width >= 4);
    panes.map(move |(pane, place)| (pane, place, Look { focused: look.focused && pane == focus, ..look }))
}
