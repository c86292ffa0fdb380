//! The comparison with the baseline: five cells on every basis, each a filter, and the measures below them.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::across::Across;
use crate::screens::compare::state::CompareCursor;
use crate::screens::compare::state::{CompareRow, rows};
use crate::widgets::charts;
use crate::widgets::layout::{inner_height, inner_width, pane_above, parts, split_rows, with_third_pane};
use crate::widgets::look::{Look, Spans, frame, point_at, put, scroll_mark, select};
use crate::widgets::prose::{fit, pad, pad_left, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_compare::print::{MeasureLine, measures};
use stepscope_compare::{BasisCounts, Cell, distinct};
use stepscope_io::pipeline::compare::Compared;
use stepscope_record::finding::counted;

/// The width of the names of the rows, and of a column.
const NAME: usize = 18;
const COLUMN: usize = 17;
/// Maximum number of lines that tell how the runs were joined.
const JOINED: usize = 3;
/// The list below the numbers has so many rows at least, its borders counted.
const LOWEST: u16 = 6;
/// The scale of an interval at least and at most.
const SHORTEST: usize = 11;
const SCALE: usize = 61;
/// Height from which on the parts have blank lines between them.
const ROOMY: u16 = 28;

/// Returns the area of the comparison and that of the records of its cell: beside it on a wide screen, else below it
/// where there is room.
pub(crate) fn places(area: Rect, across: &Across, body: Rect) -> (Rect, Rect) {
    let (place, third) = with_third_pane(body);
    let Some(compared) = across.compared.as_ref().filter(|_| third.width == 0) else { return (place, third) };
    let rows = rows(compared);
    let gaps = rows.last().map_or(0, |row| gap(*row, body));
    let needed = (head(area, across).len() + rows.len() + gaps + 2) as u16;
    if body.height < needed + LOWEST { (place, third) } else { pane_above(body, needed) }
}

fn own_place(area: Rect, across: &Across) -> Rect {
    places(area, across, parts(area).body).0
}

/// Returns the filter of the cell under the cursor; `Err`: why there is none.
pub(crate) fn filter(across: &Across, cursor: CompareCursor) -> Result<String, &'static str> {
    let compared = across.compared.as_ref().ok_or("still joining the runs")?;
    cursor.filter(compared)
}

/// Counts the rows on screen at a time.
pub(crate) fn height(area: Rect, across: &Across) -> usize {
    inner_height(own_place(area, across)).saturating_sub(head(area, across).len()).max(1)
}

/// Builds the lines above the rows, which do not scroll; the last two are for the bar and the heads of the columns.
fn head(area: Rect, across: &Across) -> Vec<Shown> {
    let Some(compared) = &across.compared else { return Vec::new() };
    let (body, _) = with_third_pane(parts(area).body);
    let roomy = body.height >= ROOMY;
    let joined = compared.joined.as_str();
    let width = inner_width(body);
    // Where there is little room the rows say the rest.
    let mut lines = if roomy {
        wrapped(joined, width, JOINED).map(|line| shown!("{line}")).collect()
    } else {
        vec![shown!("{}", fit(joined, width))]
    };
    // A blank line, the bar of the cells, the heads of the columns.
    lines.extend(vec![Shown::default(); 2 + usize::from(roomy)]);
    lines
}

/// Draws it; `screen`: all of the screen.
pub(crate) fn draw(screen: Rect, across: &Across, cursor: CompareCursor, buf: &mut Buffer, look: Look<'_>) {
    let area = own_place(screen, across);
    let mut title = names_of_sides(across, look);
    let progress = across.comparing.progress("  comparing");
    title.extend(progress.map(|progress| look.span(progress.as_str(), Role::Accent)));
    let inner = frame(title, area, buf, look);
    let Some(compared) = &across.compared else {
        let text = across.comparing.failed.clone().unwrap_or_else(|| Shown::own("reading and joining both runs…"));
        let role = if across.comparing.failed.is_some() { Role::Fatal } else { Role::Dim };
        for (row, line) in wrapped(text.as_str(), usize::from(inner.width), 8).enumerate() {
            put(vec![look.span(line, role)], row, inner, buf);
        }
        return;
    };
    let head = head(screen, across);
    let last = head.len().saturating_sub(1);
    for (row, line) in head.iter().enumerate() {
        put(vec![look.span(line.as_str(), Role::Dim)], row, inner, buf);
    }
    let bases = distinct(&compared.columns);
    if bases.len() > 1 {
        let columns = bases.iter().map(|basis| {
            let role = if *basis as usize == cursor.basis { Role::Accent } else { Role::Faint };
            look.span(pad_left(basis.phrase(), COLUMN), role)
        });
        let blank = std::iter::once(look.span(pad("", NAME + 2), Role::Faint));
        put(blank.chain(columns).collect(), last, inner, buf);
    }
    let (_, body) = split_rows(inner, head.len() as u16);
    let rows = rows(compared);
    let list = cursor.list;
    let measured = measures(&compared.columns);
    let body_of_all = parts(screen).body;
    for (line, n) in list.visible(rows.len(), usize::from(body.height)).enumerate() {
        let Some(row) = rows.get(n) else { continue };
        let line = line + gap(*row, body_of_all);
        put(spans(compared, *row, &measured, usize::from(body.width), look), line, body, buf);
        if n == list.at {
            mark(across, cursor, *row, line, body, buf, look);
        }
    }
    draw_bar(tiles(screen, across, cursor), across, cursor, buf, look);
    scroll_mark(area, list.top, rows.len(), buf, look);
}

/// Draws the five cells as one bar.
fn draw_bar(tiles: Vec<(Cell, u64, Rect)>, across: &Across, cursor: CompareCursor, buf: &mut Buffer, look: Look<'_>) {
    let under = across.compared.as_ref().and_then(|compared| cursor.row(compared));
    for (cell, count, tile) in tiles {
        let (sign, role) = look_of(cell);
        let width = usize::from(tile.width);
        put(vec![look.span(fill_of(cell).repeat(width), role)], 0, tile, buf);
        let label = format!(" {sign} {count} ");
        if label.width() < width {
            let style = if under == Some(CompareRow::Cell(cell)) { look.selection() } else { look.style(role) };
            put(vec![Span::styled(label, style)], 0, Rect { x: tile.x + 1, width: tile.width - 1, ..tile }, buf);
        }
    }
}

const fn fill_of(cell: Cell) -> &'static str {
    match cell {
        Cell::Both => "█",
        Cell::OnlyA => "▓",
        Cell::OnlyB => "▒",
        Cell::Neither => "░",
        Cell::Missing => "·",
    }
}

/// Lays out the parts of the bar, each with its count.
fn tiles(screen: Rect, across: &Across, cursor: CompareCursor) -> Vec<(Cell, u64, Rect)> {
    let area = own_place(screen, across);
    let column = across.compared.as_ref().and_then(|compared| compared.columns.get(cursor.basis));
    let Some(column) = column else { return Vec::new() };
    let y = area.y + 1 + head(screen, across).len().saturating_sub(2) as u16;
    let counts = Cell::ALL.map(|cell| column.count(cell));
    let widths = charts::widths(counts, inner_width(area) as u16);
    let mut x = area.x + 2;
    let mut tiles = Vec::new();
    for ((cell, count), width) in Cell::ALL.into_iter().zip(counts).zip(widths) {
        tiles.push((cell, count, Rect { x, y, width, height: u16::from(y + 1 < area.bottom()) }));
        x += width;
    }
    tiles
}

fn names_of_sides(across: &Across, look: Look<'_>) -> Spans {
    let Some(compared) = &across.compared else { return vec![look.span("A vs B", Role::Title)] };
    let [a, b] = &compared.names;
    let [records_a, records_b] = compared.records;
    // The folder says which is which where both files have the same name.
    let b = if b.last_part() == a.last_part() { b.clone() } else { b.last_part() };
    vec![
        look.span("A ", Role::Accent),
        look.span(fit(a.as_str(), 30), Role::Title),
        look.span(format!("  {}  against  ", counted(records_a, "record")), Role::Faint),
        look.span("B ", Role::Accent),
        look.span(fit(b.as_str(), 40), Role::Title),
        look.span(format!("  {}", counted(records_b, "record")), Role::Faint),
    ]
}

/// Finds the row at a place of the screen, and the basis of the column.
pub(crate) fn place_of(
    screen: Rect,
    across: &Across,
    cursor: CompareCursor,
    at: Position,
) -> Option<(usize, Option<usize>)> {
    let area = own_place(screen, across);
    if let Some((cell, ..)) = tiles(screen, across, cursor).into_iter().find(|(_, _, tile)| tile.contains(at)) {
        let rows = rows(across.compared.as_ref()?);
        return Some((rows.iter().position(|row| *row == CompareRow::Cell(cell))?, None));
    }
    let body = parts(screen).body;
    let first = area.y + 1 + head(screen, across).len() as u16;
    let line = usize::from(at.y.checked_sub(first).filter(|_| at.y + 1 < area.bottom())?);
    let rows = rows(across.compared.as_ref()?);
    let on_it = |n: &usize| rows.get(*n).is_some_and(|row| *n - cursor.list.top + gap(*row, body) == line);
    let row = (cursor.list.top..rows.len()).find(on_it)?;
    let column = usize::from(at.x).checked_sub(usize::from(area.x) + 2 + NAME + 2).map(|x| x / COLUMN);
    let bases = distinct(&across.compared.as_ref()?.columns);
    Some((row, column.and_then(|column| bases.get(column)).map(|basis| *basis as usize)))
}

/// Counts the blank lines above a row; `body`: all of the screen between header and footer.
const fn gap(row: CompareRow, body: Rect) -> usize {
    match row {
        // Both accuracies stand one below the other.
        CompareRow::Measure(block, _) if body.height >= ROOMY => 1 + block / 2,
        _ => 0,
    }
}

/// Marks the cell under the cursor, or its whole row where all bases are one.
fn mark(
    across: &Across,
    cursor: CompareCursor,
    row: CompareRow,
    line: usize,
    body: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) {
    if !matches!(row, CompareRow::Cell(_) | CompareRow::LeftOut) {
        select(line, body, buf, look);
        return;
    }
    let bases = across.compared.as_ref().map(|compared| distinct(&compared.columns)).unwrap_or_default();
    let column = bases.iter().position(|basis| *basis as usize == cursor.basis).unwrap_or(0);
    let start = body.x.saturating_add((NAME + 2 + COLUMN * column) as u16);
    let cell = Rect { x: start, y: body.y + line as u16, width: COLUMN as u16 + 1, height: 1 };
    let name = Rect { width: (NAME + 2) as u16, x: body.x, ..cell };
    point_at(line, body, buf, look);
    buf.set_style(name.intersection(*buf.area()), look.selection());
    buf.set_style(cell.intersection(*buf.area()), look.selection());
}

fn spans(
    compared: &Compared,
    row: CompareRow,
    measured: &[Vec<MeasureLine>; 3],
    width: usize,
    look: Look<'_>,
) -> Spans {
    let name = |text: &'static str, sign: &'static str, role| look.span(format!("{sign} {}", pad(text, NAME)), role);
    let counts = |of: &dyn Fn(&BasisCounts) -> u64, share: bool| -> Spans {
        let bases = distinct(&compared.columns);
        let columns = bases.iter().filter_map(|basis| compared.columns.get(*basis as usize));
        columns
            .map(|column| {
                let (count, all) = (of(column), column.cells.iter().sum::<u64>());
                let share = if share && all > 0 { 100.0 * count as f64 / all as f64 } else { f64::NAN };
                let text = if share.is_nan() { count.to_string() } else { format!("{count}  {share:5.1} %") };
                look.span(pad_left(&text, COLUMN), if count == 0 { Role::Faint } else { Role::Text })
            })
            .collect()
    };
    match row {
        CompareRow::Cell(cell) => {
            let (sign, role) = look_of(cell);
            [vec![name(cell.phrase(), sign, role)], counts(&|column| column.count(cell), true)].concat()
        }
        CompareRow::LeftOut => {
            [vec![name("disputed", "⚑", Role::Gold)], counts(&|column| column.left_out, false)].concat()
        }
        CompareRow::Regressions => vec![
            name("regressions", "▼", Role::Warning),
            look.span(format!("  {} (B correct, A wrong)", compared.regressions), Role::Text),
        ],
        CompareRow::Alone => {
            let [a, b] = compared.alone;
            let named = compared.only_in_b.iter().map(Shown::as_str).collect::<Vec<_>>().join(", ");
            let named = if named.is_empty() { named } else { format!(": {named}") };
            vec![name("unmatched", " ", Role::Dim), look.span(format!("  {a} in A, {b} in B{named}"), Role::Text)]
        }
        CompareRow::Duplicates => {
            let [a, b] = compared.duplicates;
            let text = format!("  {a} in A, {b} in B");
            vec![
                name("duplicate ids", " ", Role::Dim),
                look.span(text, if a + b == 0 { Role::Faint } else { Role::Text }),
            ]
        }
        CompareRow::Repeated => {
            let [a, b] = compared.repeated;
            let text = format!("  {a} in A, {b} in B (not paired)");
            vec![name("repeated questions", " ", Role::Dim), look.span(text, Role::Text)]
        }
        CompareRow::Measure(block, basis) => {
            let measure = measured.get(block).and_then(|lines| lines.get(basis)).cloned().unwrap_or_default();
            // All pictures begin in one column, so that the runs are compared on one scale.
            let texts = measured.iter().flatten().filter(|other| other.interval.is_some());
            let text = texts.map(|other| other.text.as_str().chars().count()).max().unwrap_or(0);
            if measure.interval.is_none() {
                return vec![look.span(measure.text.as_str(), Role::Dim)];
            }
            let mut spans = vec![look.span(pad(measure.text.as_str(), text + 3), Role::Dim)];
            let scale = width.saturating_sub(text + 3).min(SCALE);
            if let Some([low, share, high]) = measure.interval.filter(|_| scale >= SHORTEST) {
                spans.push(look.span(charts::interval(low, share, high, scale), Role::Accent));
            }
            spans
        }
    }
}

const fn look_of(cell: Cell) -> (&'static str, Role) {
    match cell {
        Cell::Both => (sign::CORRECT, Role::Ok),
        Cell::OnlyA => ("◧", Role::Accent),
        Cell::OnlyB => ("◨", Role::Warning),
        Cell::Neither => (sign::WRONG, Role::Fatal),
        Cell::Missing => (sign::FAILED, Role::Dim),
    }
}

/// Describes what opening would do.
pub(crate) fn describe(across: &Across, cursor: CompareCursor, look: Look<'_>) -> Spans {
    if across.compared.is_none() {
        return Vec::new();
    }
    match filter(across, cursor) {
        Ok(filter) => vec![look.keyed("<open>: filter ", Role::Faint), look.span(filter, Role::Accent)],
        Err(why) => vec![look.span(why, Role::Dim)],
    }
}
