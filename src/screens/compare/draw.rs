//! The comparison with the baseline: five cells on every basis, each a filter, and the measures below them.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

use crate::app::state::App;
use crate::screens::compare::state::{CompareRow, rows};
use crate::widgets::layout;
use crate::widgets::layout::{inner_height, inner_width, split_rows};
use crate::widgets::look::{Look, frame, put, scroll_mark, select};
use crate::widgets::prose::{fit, pad, pad_left, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::compare::print::measures;
use stepscope_core::compare::{Basis, BasisCounts, Cell};
use stepscope_io::pipeline::compare::Compared;

/// The width of the names of the rows, and of a column.
const NAME: usize = 18;
const COLUMN: usize = 17;
/// How the runs were joined takes at most so many lines.
const JOINED: usize = 3;
/// From this height on the parts have blank lines between them.
const ROOMY: u16 = 28;

/// How many rows are on screen at a time.
pub(crate) fn height(app: &App) -> usize {
    inner_height(layout::parts(app.area()).body).saturating_sub(head(app).len()).max(1)
}

/// What stands above the rows and does not move; the last line is for the heads of the columns.
fn head(app: &App) -> Vec<Shown> {
    let Some(compared) = &app.across.compared else { return Vec::new() };
    let body = layout::parts(app.area()).body;
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
    let mut title = title(app, look);
    if app.across.comparing.is_coming() {
        title.push(look.span("  comparing…", Role::Accent));
    }
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
    let columns = Basis::ALL.iter().enumerate().map(|(n, basis)| {
        let role = if n == app.across.compare.basis { Role::Accent } else { Role::Faint };
        look.span(pad_left(basis.phrase(), COLUMN), role)
    });
    let heads: Vec<Span<'static>> = std::iter::once(look.span(pad("", NAME + 2), Role::Faint)).chain(columns).collect();
    put(heads, last, inner, buf);
    let (_, body) = split_rows(inner, head.len() as u16);
    let rows = rows(compared);
    let list = app.across.compare.list;
    let measured = measures(&compared.columns);
    for (line, n) in list.visible(rows.len(), usize::from(body.height)).enumerate() {
        let Some(row) = rows.get(n) else { continue };
        let line = line + gap(*row, area);
        put(spans(compared, *row, &measured, look), line, body, buf);
        if n == list.at {
            mark(app, *row, line, body, buf, look);
        }
    }
    scroll_mark(area, list.top, rows.len(), buf, look);
}

fn title(app: &App, look: Look<'_>) -> Vec<Span<'static>> {
    let Some(compared) = &app.across.compared else { return vec![look.span("A vs B", Role::Title)] };
    let [a, b] = &compared.names;
    let [records_a, records_b] = compared.records;
    vec![
        look.span("A ", Role::Accent),
        look.span(fit(a.as_str(), 30), Role::Title),
        look.span(format!("  {records_a} records  against  "), Role::Faint),
        look.span("B ", Role::Accent),
        look.span(fit(b.as_str(), 40), Role::Title),
        look.span(format!("  {records_b}"), Role::Faint),
    ]
}

/// The row at a place of the screen, and the basis of the column.
pub(crate) fn place_of(app: &App, at: Position) -> Option<(usize, Option<usize>)> {
    let area = layout::parts(app.area()).body;
    let first = area.y + 1 + head(app).len() as u16;
    let line = usize::from(at.y.checked_sub(first).filter(|_| at.y + 1 < area.bottom())?);
    let rows = rows(app.across.compared.as_ref()?);
    let on_it = |n: &usize| rows.get(*n).is_some_and(|row| *n - app.across.compare.list.top + gap(*row, area) == line);
    let row = (app.across.compare.list.top..rows.len()).find(on_it)?;
    let column = usize::from(at.x).checked_sub(usize::from(area.x) + 2 + NAME + 2).map(|x| x / COLUMN);
    Some((row, column.filter(|column| *column < Basis::ALL.len())))
}

/// Blank lines above a row.
const fn gap(row: CompareRow, area: Rect) -> usize {
    match row {
        CompareRow::Measure(block, _) if area.height >= ROOMY => block + 1,
        _ => 0,
    }
}

/// The cell under the cursor, or its whole row where all bases are one.
fn mark(app: &App, row: CompareRow, line: usize, body: Rect, buf: &mut Buffer, look: Look<'_>) {
    if !matches!(row, CompareRow::Cell(_) | CompareRow::LeftOut) {
        select(line, body, buf, look);
        return;
    }
    let start = body.x.saturating_add((NAME + 2 + COLUMN * app.across.compare.basis) as u16);
    let cell = Rect { x: start, y: body.y + line as u16, width: COLUMN as u16 + 1, height: 1 };
    let name = Rect { width: (NAME + 2) as u16, x: body.x, ..cell };
    buf.set_style(name.intersection(*buf.area()), look.style(Role::Accent));
    buf.set_style(cell.intersection(*buf.area()), look.selection());
}

fn spans(compared: &Compared, row: CompareRow, measured: &[Vec<Shown>; 3], look: Look<'_>) -> Vec<Span<'static>> {
    let name = |text: &'static str, sign: &'static str, role| look.span(format!("{sign} {}", pad(text, NAME)), role);
    let counts = |of: &dyn Fn(&BasisCounts) -> u64, share: bool| -> Vec<Span<'static>> {
        let columns = compared.columns.iter();
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
            look.span(format!("  {} correct in B, not in A", compared.regressions), Role::Text),
        ],
        CompareRow::Alone => {
            let [a, b] = compared.alone;
            let named = compared.only_in_b.iter().map(Shown::as_str).collect::<Vec<_>>().join(", ");
            let named = if named.is_empty() { named } else { format!(": {named}") };
            vec![name("unmatched", "·", Role::Dim), look.span(format!("  {a} in A, {b} in B{named}"), Role::Text)]
        }
        CompareRow::Duplicates => {
            let [a, b] = compared.duplicates;
            let text = format!("  {a} in A, {b} in B (first one used)");
            vec![
                name("duplicate ids", "·", Role::Dim),
                look.span(text, if a + b == 0 { Role::Faint } else { Role::Text }),
            ]
        }
        CompareRow::Measure(block, basis) => {
            let line = measured.get(block).and_then(|lines| lines.get(basis)).cloned().unwrap_or_default();
            vec![look.span(line.as_str(), Role::Dim)]
        }
    }
}

const fn look_of(cell: Cell) -> (&'static str, Role) {
    match cell {
        Cell::Both => ("✓", Role::Ok),
        Cell::OnlyA => ("◧", Role::Accent),
        Cell::OnlyB => ("◨", Role::Warning),
        Cell::Neither => ("✗", Role::Fatal),
        Cell::Missing => (sign::FAILED, Role::Dim),
    }
}

/// What Enter would do.
pub(crate) fn describe(app: &App, look: Look<'_>) -> Vec<Span<'static>> {
    let Some(compared) = &app.across.compared else { return Vec::new() };
    match app.across.compare.filter(compared) {
        Ok(filter) => vec![look.span("Enter: filter ", Role::Faint), look.span(filter, Role::Accent)],
        Err(why) => vec![look.span(why, Role::Dim)],
    }
}
