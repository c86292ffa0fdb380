//! The borders of panes, of which neighbours share a line.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Span;

use crate::widgets::look::put_cell;
use crate::widgets::sign;

/// Copies the cells of a pane's border on which there is something already: other panes share it.
pub(crate) fn shared(area: Rect, focused: bool, buf: &Buffer) -> Vec<(Position, Cell)> {
    let (right, bottom) = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
    let is_shared = |place: &Position, cell: &Cell| {
        let is_title = place.y == area.y && !is_line(cell.symbol());
        cell.symbol() != " " && !is_title && (!focused || !is_line(cell.symbol()))
    };
    let sides = (area.y..=bottom).flat_map(|y| [Position { x: area.x, y }, Position { x: right, y }]);
    let ends = (area.x..=right).flat_map(|x| [Position { x, y: area.y }, Position { x, y: bottom }]);
    let cells = sides.chain(ends).filter_map(|place| Some((place, buf.cell(place)?)));
    cells.filter(|(place, cell)| is_shared(place, cell)).map(|(place, cell)| (place, cell.clone())).collect()
}

/// Gives a shared cell back what it had: a title or a mark, and the line of the pane that has the keys, in its style
/// `focus`.
pub(crate) fn restore(old: &Cell, place: Position, focus: Style, buf: &mut Buffer) {
    let Some(cell) = buf.cell_mut(place) else { return };
    let is_double = matches!(old.symbol(), "═" | "║" | "╔" | "╗" | "╚" | "╝");
    if !is_line(old.symbol()) || (is_double && is_line(cell.symbol())) {
        *cell = old.clone();
    } else if is_line(cell.symbol()) && focus.fg == Some(old.fg) {
        cell.set_style(old.style());
    }
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

/// Tells whether a sign is a part of a border.
fn is_line(sign: &str) -> bool {
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
