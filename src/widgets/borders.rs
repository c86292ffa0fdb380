//! The borders of panes, of which neighbours share a line.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::symbols::merge::MergeStrategy;
use ratatui::text::Span;

use crate::widgets::look::{Look, put_cell};
use crate::widgets::sign;
use crate::widgets::theme::Role;

/// Draws the border of a pane. Where it shares a line with other panes, both lines are joined; marks on it stay, and the
/// line of the pane that has the keys keeps its style. A widget of ratatui would style all of the pane besides.
pub(crate) fn draw(area: Rect, look: Look<'_>, buf: &mut Buffer) {
    let [style, focus] = [Role::Border, Role::BorderFocus].map(|role| look.style(role));
    let style = if look.focused { focus } else { style };
    // Without colours the pane that has the keys has another line.
    let lines = if look.focused && style.fg.is_none() { border::DOUBLE } else { border::ROUNDED };
    for ((x, y), line) in border_of(area.intersection(buf.area), lines) {
        let Some(cell) = buf.cell_mut((x, y)) else { continue };
        let (is_blank, is_joined) = (cell.symbol() == " ", is_line(cell.symbol()));
        let is_mark = !is_blank && !is_joined && y != area.y;
        if is_mark || (!look.focused && is_double(cell.symbol())) {
            continue;
        }
        let old = cell.style();
        cell.merge_symbol(line, MergeStrategy::Fuzzy).set_style(style);
        if is_joined && !look.focused && focus.fg == old.fg {
            cell.set_style(old);
        }
    }
}

/// Lists the places of a border, each with its sign.
fn border_of(area: Rect, lines: border::Set<'static>) -> impl Iterator<Item = ((u16, u16), &'static str)> {
    let (left, top) = (area.x, area.y);
    let (right, bottom) = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
    let ends =
        (left + 1..right).flat_map(move |x| [((x, top), lines.horizontal_top), ((x, bottom), lines.horizontal_bottom)]);
    let sides =
        (top + 1..bottom).flat_map(move |y| [((left, y), lines.vertical_left), ((right, y), lines.vertical_right)]);
    let corners = [
        ((left, top), lines.top_left),
        ((right, top), lines.top_right),
        ((left, bottom), lines.bottom_left),
        ((right, bottom), lines.bottom_right),
    ];
    ends.chain(sides).chain(corners).filter(move |_| !area.is_empty())
}

/// Gives a pane that was cut out of a screen a border of its own, without the lines and titles of its neighbours.
pub(crate) fn close(pane: &mut Buffer) {
    let area = pane.area;
    let (right, bottom) = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
    let symbol = |x: u16, y: u16| pane.cell((x, y)).map_or(" ", Cell::symbol);
    let is_shared = matches!(symbol(area.x, bottom), "├" | "┼") || matches!(symbol(right, bottom), "┤" | "┼");
    let style = pane.cell((area.x, area.y)).map_or(Style::default(), Cell::style);
    for place in area.positions() {
        let Some(cell) = pane.cell(place) else { continue };
        let is_joint = matches!(cell.symbol(), "├" | "┤" | "┬" | "┴" | "┼");
        let own = match (place.x == area.x, place.x == right, place.y == area.y, place.y == bottom) {
            (true, _, true, _) => "╭",
            (_, true, true, _) => "╮",
            (true, _, _, true) => "╰",
            (_, true, _, true) => "╯",
            (_, _, true, _) if is_joint => "─",
            (_, _, _, true) if is_joint || is_shared => "─",
            (true, ..) | (_, true, ..) if is_joint => "│",
            _ => continue,
        };
        put_cell(Span::styled(own, style), (place.x, place.y), pane);
    }
}

fn is_double(sign: &str) -> bool {
    matches!(sign, "═" | "║" | "╔" | "╗" | "╚" | "╝")
}

/// Tells whether a sign is a part of a border.
pub(crate) fn is_line(sign: &str) -> bool {
    sign != sign::SCROLL && sign.chars().all(|c| matches!(c, '─'..='╿'))
}

/// Tells of every cell whether it lies on the side or the bottom of a frame, where there are but marks of what the frame
/// holds. On its top there is the title.
pub(crate) fn borders(buf: &Buffer) -> Vec<bool> {
    let width = usize::from(buf.area.width);
    let mut borders = vec![false; buf.content.len()];
    let mut is_side = vec![false; width];
    for (row, marks) in buf.content.chunks(width.max(1)).zip(borders.chunks_mut(width.max(1))) {
        let (mut is_top, mut is_bottom) = (false, false);
        for ((cell, mark), is_side) in row.iter().zip(marks).zip(&mut is_side) {
            match cell.symbol() {
                "╭" | "╔" => (*is_side, is_top) = (true, true),
                // In a text these are no corners.
                "├" | "╠" | "┼" | "╬" if *is_side => is_top = true,
                "┬" | "╦" | "┼" | "╬" if is_top => *is_side = true,
                "╮" | "╗" | "┤" | "╣" if is_top => (*is_side, is_top) = (true, false),
                "╰" | "╚" => (*is_side, is_bottom) = (false, true),
                "╯" | "╝" => (*is_side, is_bottom) = (false, false),
                _ if is_top => *is_side = false,
                "┴" | "╩" if is_bottom => *is_side = false,
                _ => *mark = *is_side || is_bottom,
            }
        }
    }
    borders
}
