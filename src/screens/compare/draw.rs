//! The comparison with the baseline: five cells on every basis, each a filter, and the measures below them.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::state::App;
use crate::screens::compare::state::{CompareRow, rows};
use crate::widgets::charts;
use crate::widgets::layout::{inner_height, inner_width, parts, split_rows, with_third_pane};
use crate::widgets::look::{Look, Spans, clear, frame, point_at, put, scroll_mark, select};
use crate::widgets::prose::{fit, pad, pad_left, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::compare::print::{MeasureLine, measures};
use stepscope_core::compare::{BasisCounts, Cell, distinct};
use stepscope_core::finding::counted;
use stepscope_io::pipeline::compare::Compared;

/// The width of the names of the rows, and of a column.
const NAME: usize = 18;
const COLUMN: usize = 17;
/// Maximum number of lines that tell how the runs were joined.
const JOINED: usize = 3;
/// The areas are so wide and so high at least, and at most.
const NARROWEST: usize = 24;
const LOWEST: u16 = 6;
const WIDEST: usize = 72;
const HIGHEST: u16 = 32;
/// The scale of an interval at least and at most.
const SHORTEST: usize = 11;
const SCALE: usize = 61;
/// Height from which on the parts have blank lines between them.
const ROOMY: u16 = 28;

/// Returns the area of the comparison, without the records of its cell.
fn place(app: &App) -> Rect {
    let (place, _) = with_third_pane(parts(app.area()).body);
    place
}

/// Returns the filter of the cell under the cursor; `Err`: why there is none.
pub(crate) fn filter(app: &App) -> Result<String, &'static str> {
    let compared = app.across.compared.as_ref().ok_or("still joining the runs")?;
    app.kept.compare.filter(compared)
}

/// Counts the rows on screen at a time.
pub(crate) fn height(app: &App) -> usize {
    inner_height(place(app)).saturating_sub(head(app).len()).max(1)
}

/// Builds the lines above the rows, which do not scroll; the last line is for the heads of the columns.
fn head(app: &App) -> Vec<Shown> {
    let Some(compared) = &app.across.compared else { return Vec::new() };
    let body = place(app);
    let roomy = body.height >= ROOMY;
    let joined = compared.joined.as_str();
    let width = inner_width(body);
    // Where there is little room the rows say the rest.
    let mut lines = if roomy {
        wrapped(joined, width, JOINED).map(|line| shown!("{line}")).collect()
    } else {
        vec![shown!("{}", fit(joined, width))]
    };
    lines.extend(vec![Shown::default(); 1 + usize::from(roomy)]);
    lines
}

pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = names_of_sides(app, look);
    let progress = app.across.comparing.progress("  comparing");
    title.extend(progress.map(|progress| look.span(progress.as_str(), Role::Accent)));
    let inner = frame(title, area, buf, look);
    let Some(compared) = &app.across.compared else {
        let text = app.across.comparing.failed.clone().unwrap_or_else(|| Shown::own("reading and joining both runs…"));
        let role = if app.across.comparing.failed.is_some() { Role::Fatal } else { Role::Dim };
        for (row, line) in wrapped(text.as_str(), usize::from(inner.width), 8).enumerate() {
            put(vec![look.span(line, role)], row, inner, buf);
        }
        return;
    };
    let head = head(app);
    let last = head.len().saturating_sub(1);
    for (row, line) in head.iter().enumerate() {
        put(vec![look.span(line.as_str(), Role::Dim)], row, inner, buf);
    }
    let bases = distinct(&compared.columns);
    if bases.len() > 1 {
        let columns = bases.iter().map(|basis| {
            let role = if *basis as usize == app.kept.compare.basis { Role::Accent } else { Role::Faint };
            look.span(pad_left(basis.phrase(), COLUMN), role)
        });
        let blank = std::iter::once(look.span(pad("", NAME + 2), Role::Faint));
        put(blank.chain(columns).collect(), last, inner, buf);
    }
    let (_, body) = split_rows(inner, head.len() as u16);
    let rows = rows(compared);
    let list = app.kept.compare.list;
    let (measured, extra) = (measures(&compared.columns), extra(app, area));
    let places = mosaic(app, area);
    for (line, n) in list.visible(rows.len(), usize::from(body.height)).enumerate() {
        let Some(row) = rows.get(n) else { continue };
        let line = line + gap(*row, area, extra);
        let beside = places.filter(|_| !matches!(row, CompareRow::Measure(..))).map(|(place, _)| place.x);
        let place = Rect { width: beside.map_or(body.width, |x| x.saturating_sub(body.x + 1)), ..body };
        put(spans(compared, *row, &measured, usize::from(body.width), look), line, place, buf);
        if n == list.at {
            mark(app, *row, line, body, buf, look);
        }
    }
    draw_mosaic(app, area, buf, look);
    scroll_mark(area, list.top, rows.len(), buf, look);
}

/// Draws the four cells in which both runs are judged, as areas: A from left to right, B from top to bottom.
fn draw_mosaic(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let Some((place, tiles)) = mosaic(app, area) else { return };
    let under = app.across.compared.as_ref().and_then(|compared| app.kept.compare.row(compared));
    clear(place, buf);
    // Above the areas, in the line of the heads: which side of A they are.
    let above = Rect { y: place.y.saturating_sub(1), height: 1, ..place };
    let heads = [("correct", sign::CORRECT, [0, 1]), ("wrong", sign::WRONG, [2, 3])].map(|(word, sign, pair)| {
        let pair = pair.map(|n: usize| tiles.get(n).copied());
        let count: u64 = pair.iter().flatten().map(|(_, count, _)| count).sum();
        let width = pair.iter().flatten().map(|(.., tile)| tile.width).max().unwrap_or(0);
        let x = pair.iter().flatten().map(|(.., tile)| tile.x).max().unwrap_or(above.x);
        ([format!("A {word} {count}"), format!("A {sign} {count}")], Rect { x, width, ..above })
    });
    // A narrow area has a sign in place of the word; the other one then too.
    let fits = |text: &str, place: Rect| place.width == 0 || text.width() < usize::from(place.width);
    let is_long = heads.iter().all(|([long, _], place)| fits(long, *place));
    for ([long, short], place) in heads {
        let text = if is_long { long } else { short };
        if fits(&text, place) {
            put(vec![look.span(text, Role::Faint)], 0, place, buf);
        }
    }
    for (cell, count, tile) in tiles {
        let (_, role) = look_of(cell);
        // A blank line and column keep areas apart.
        let inside = Rect { width: tile.width.saturating_sub(1).max(1), height: tile.height, ..tile };
        let fill = fill_of(cell).to_string().repeat(usize::from(inside.width));
        for row in 0..inside.height {
            put(vec![look.span(fill.as_str(), role)], usize::from(row), inside, buf);
        }
        let room = usize::from(inside.width.saturating_sub(2));
        let full = format!(" {} {count} ", cell.phrase());
        let text = if full.chars().count() <= room { full } else { format!(" {count} ") };
        let is_chosen = under == Some(CompareRow::Cell(cell));
        let style = if is_chosen { look.selection() } else { look.style(Role::Text) };
        if text.chars().count() <= room && inside.height > 0 {
            let label = Rect { x: inside.x + 1, width: room as u16, ..inside };
            put(vec![Span::styled(text, style)], usize::from(inside.height / 2), label, buf);
        }
    }
}

const fn fill_of(cell: Cell) -> char {
    match cell {
        Cell::Both => '█',
        Cell::OnlyA => '▓',
        Cell::OnlyB => '▒',
        Cell::Neither | Cell::Missing => '░',
    }
}

/// Area of the mosaic, and its parts, each with its count.
type Mosaic = (Rect, [(Cell, u64, Rect); 4]);

/// Lays out the areas: right of the cells, down to the measures. `None`: there is no room, or nothing to count.
fn mosaic(app: &App, area: Rect) -> Option<Mosaic> {
    let compared = app.across.compared.as_ref().filter(|_| app.kept.compare.list.top == 0)?;
    let column = compared.columns.get(app.kept.compare.basis)?;
    let left = (NAME + 2 + COLUMN * distinct(&compared.columns).len() + 6) as u16;
    let inner = Rect { x: area.x + 2 + left, y: area.y + 1 + head(app).len() as u16, ..area };
    let rows = rows(compared).into_iter().filter(|row| !matches!(row, CompareRow::Measure(..))).count();
    let width = inner_width(area).saturating_sub(usize::from(left)).min(WIDEST);
    let height = (rows as u16 + extra(app, area)).saturating_sub(1).min(area.bottom().saturating_sub(inner.y + 2));
    if width < NARROWEST || height < LOWEST {
        return None;
    }
    let place = Rect { width: width as u16, height, ..inner };
    let cells = [[Cell::Both, Cell::OnlyA], [Cell::OnlyB, Cell::Neither]];
    let counts = cells.map(|pair| pair.map(|cell| column.count(cell)));
    let [[a, b], [c, d]] = charts::mosaic(counts, place);
    let [[both, only_a], [only_b, neither]] = counts;
    let tiles =
        [(Cell::Both, both, a), (Cell::OnlyA, only_a, b), (Cell::OnlyB, only_b, c), (Cell::Neither, neither, d)];
    (both + only_a + only_b + neither > 0).then_some((place, tiles))
}

/// Counts the lines that the areas take beyond the rows next to them.
fn extra(app: &App, area: Rect) -> u16 {
    let Some(compared) = app.across.compared.as_ref().filter(|_| area.height >= ROOMY) else { return 0 };
    let rows = rows(compared);
    let above = rows.iter().filter(|row| !matches!(row, CompareRow::Measure(..))).count() as u16;
    let needed = head(app).len() as u16 + rows.len() as u16 + 3;
    HIGHEST.saturating_sub(above).min(area.height.saturating_sub(2 + needed))
}

fn names_of_sides(app: &App, look: Look<'_>) -> Spans {
    let Some(compared) = &app.across.compared else { return vec![look.span("A vs B", Role::Title)] };
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
pub(crate) fn place_of(app: &App, at: Position) -> Option<(usize, Option<usize>)> {
    let area = place(app);
    if let Some((_, tiles)) = mosaic(app, area)
        && let Some((cell, ..)) = tiles.into_iter().find(|(_, _, tile)| tile.contains(at))
    {
        let rows = rows(app.across.compared.as_ref()?);
        return Some((rows.iter().position(|row| *row == CompareRow::Cell(cell))?, None));
    }
    let extra = extra(app, area);
    let first = area.y + 1 + head(app).len() as u16;
    let line = usize::from(at.y.checked_sub(first).filter(|_| at.y + 1 < area.bottom())?);
    let rows = rows(app.across.compared.as_ref()?);
    let on_it =
        |n: &usize| rows.get(*n).is_some_and(|row| *n - app.kept.compare.list.top + gap(*row, area, extra) == line);
    let row = (app.kept.compare.list.top..rows.len()).find(on_it)?;
    let column = usize::from(at.x).checked_sub(usize::from(area.x) + 2 + NAME + 2).map(|x| x / COLUMN);
    let bases = distinct(&app.across.compared.as_ref()?.columns);
    Some((row, column.and_then(|column| bases.get(column)).map(|basis| *basis as usize)))
}

/// Counts the blank lines above a row; `extra`: those that the areas take.
const fn gap(row: CompareRow, area: Rect, extra: u16) -> usize {
    match row {
        // Both accuracies stand one below the other.
        CompareRow::Measure(block, _) if area.height >= ROOMY => 1 + block / 2 + extra as usize,
        _ => 0,
    }
}

/// Marks the cell under the cursor, or its whole row where all bases are one.
fn mark(app: &App, row: CompareRow, line: usize, body: Rect, buf: &mut Buffer, look: Look<'_>) {
    if !matches!(row, CompareRow::Cell(_) | CompareRow::LeftOut) {
        select(line, body, buf, look);
        return;
    }
    let bases = app.across.compared.as_ref().map(|compared| distinct(&compared.columns)).unwrap_or_default();
    let column = bases.iter().position(|basis| *basis as usize == app.kept.compare.basis).unwrap_or(0);
    let start = body.x.saturating_add((NAME + 2 + COLUMN * column) as u16);
    let cell = Rect { x: start, y: body.y + line as u16, width: COLUMN as u16 + 1, height: 1 };
    let name = Rect { width: (NAME + 2) as u16, x: body.x, ..cell };
    point_at(line, body, buf, look);
    buf.set_style(name.intersection(*buf.area()), look.style(Role::Accent));
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
            look.span(format!("  {} (B right, A not)", compared.regressions), Role::Text),
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
pub(crate) fn describe(app: &App, look: Look<'_>) -> Spans {
    if app.across.compared.is_none() {
        return Vec::new();
    }
    match filter(app) {
        Ok(filter) => vec![look.keyed("<open>: filter ", Role::Faint), look.span(filter, Role::Accent)],
        Err(why) => vec![look.span(why, Role::Dim)],
    }
}
