//! Draws the tables of the dashboard, one below the other, every number a filter.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::across::Across;
use crate::screens::dashboard::state::DashboardCursor;
use crate::screens::dashboard::state::{DashboardRow, rows};
use crate::widgets::charts;
use crate::widgets::layout::{inner_line, parts, with_third_pane};
use crate::widgets::look::{Look, Spans, frame, point_at, put, scroll_mark};
use crate::widgets::prose::{pad, pad_left, whole_parts};
use crate::widgets::theme::Role;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::dashboard::BoardData;
use stepscope_judge::triage::Fix;
use stepscope_record::finding::{counted, grouped};
use stepscope_review::dashboard::{DashboardLine, DashboardTable};
use stepscope_review::fold::Outcome;
use stepscope_review::join::gone_phrase;

/// The width of the names; of a column at least.
const NAME: usize = 30;
const COLUMN: usize = 9;
/// A bar is so long at most, a picture so wide at least, and the scale of an interval.
const LONGEST: usize = 60;
const SHORTEST: usize = 8;
const SCALE: usize = 41;

pub(crate) fn draw(across: &Across, cursor: DashboardCursor, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = vec![look.span("Review dashboard", Role::Title)];
    if let Some(judged) = &across.judged {
        title.push(look.span(format!("  {}", counted(judged.judged, "reviewed item")), Role::Dim));
        if let Some(gone) = gone_phrase(judged.gone) {
            title.push(look.span(format!(", {gone}"), Role::Warning));
        }
        if judged.elsewhere > 0 {
            let are = if judged.elsewhere == 1 { "is" } else { "are" };
            title.push(look.span(format!(", {} more {are} of other files", grouped(judged.elsewhere)), Role::Warning));
        }
    }
    title.extend(reading(across, look));
    let inner = frame(title, area, buf, look);
    let Some(judged) = &across.judged else {
        return put(unread(across, look), 0, inner, buf);
    };
    if judged.boards.is_empty() {
        put(vec![look.span(nothing(judged, look), Role::Dim)], 0, inner, buf);
    }
    let rows = rows(judged);
    for (line, row) in rows.iter().skip(cursor.top).take(usize::from(inner.height)).enumerate() {
        match row {
            DashboardRow::Blank => {}
            DashboardRow::More => put(vec![look.span("  … more lines", Role::Dim)], line, inner, buf),
            DashboardRow::Heads(board) => put(heads(board, look), line, inner, buf),
            DashboardRow::Line(n, board, content) => {
                let chosen = (*n == cursor.line).then_some(cursor.column);
                put(spans(board, content, chosen, usize::from(inner.width), look), line, inner, buf);
                if chosen.is_some() {
                    point_at(line, inner, buf, look);
                }
            }
        }
    }
    scroll_mark(area, cursor.top, rows.len(), buf, look);
}

/// Tells why there is no table.
fn nothing(judged: &BoardData, look: Look<'_>) -> String {
    let reviews = match judged.parts {
        0 => look.keymap.keyed("No reviews yet. <review> starts one"),
        parts => format!("No verdicts on whole records, {} on parts (stepscope review stats FILE)", grouped(parts)),
    };
    if judged.judges_fix { format!("{reviews}. Nothing to fix") } else { reviews }
}

/// Formats the part of a title that says that reviews are being read.
pub(crate) fn reading(across: &Across, look: Look<'_>) -> Option<Span<'static>> {
    across.judging.progress("  reading").map(|progress| look.span(progress.as_str(), Role::Accent))
}

/// Formats what stands in the place of reviews before they are read, or where they cannot be.
pub(crate) fn unread(across: &Across, look: Look<'_>) -> Spans {
    vec![match &across.judging.failed {
        Some(failed) => look.span(failed.as_str(), Role::Fatal),
        None => look.span("reading reviews…", Role::Dim),
    }]
}

/// Finds the line at a place of the screen, and the number.
pub(crate) fn place_of(
    area: Rect,
    across: &Across,
    cursor: DashboardCursor,
    at: Position,
) -> Option<(usize, Option<usize>)> {
    let (area, _) = with_third_pane(parts(area).body);
    let row = inner_line(area, at.y)?;
    let rows = rows(across.judged.as_ref()?);
    let DashboardRow::Line(line, board, _) = rows.get(cursor.top + row)? else { return None };
    let x = usize::from(at.x).checked_sub(usize::from(area.x) + 2 + NAME + 2);
    let ends = board.heads.iter().enumerate().scan(0, |end, (n, _)| {
        *end += width_of(board, n);
        Some(*end)
    });
    Some((*line, x.and_then(|x| ends.into_iter().position(|end| x < end))))
}

fn width_of(board: &DashboardTable, column: usize) -> usize {
    board.heads.get(column).map_or(COLUMN, |head| head.as_str().width() + 2).max(COLUMN)
}

fn heads(board: &DashboardTable, look: Look<'_>) -> Spans {
    let mut line = vec![look.span(pad(board.title, NAME + 2), Role::Title)];
    // A long title takes the place of the first heads.
    if board.title.chars().count() > NAME + 2 {
        line = vec![look.span(board.title, Role::Title), Span::raw("  ")];
        line.extend(board.heads.iter().map(|head| look.span(format!("{head}  "), Role::Faint)));
        return line;
    }
    let columns = board.heads.iter().enumerate();
    line.extend(columns.map(|(n, head)| look.span(pad_left(head.as_str(), width_of(board, n)), Role::Faint)));
    line
}

fn spans(board: &DashboardTable, line: &DashboardLine, chosen: Option<usize>, width: usize, look: Look<'_>) -> Spans {
    // A place to fix is called as everywhere.
    let name = Fix::from_word(line.name.as_str()).map_or_else(|| line.name.clone(), |fix| Shown::own(fix.phrase()));
    let name = format!("  {}{name}", "  ".repeat(line.depth));
    let role = if chosen.is_some() {
        Role::Accent
    } else if line.depth == 0 {
        Role::Text
    } else {
        Role::Dim
    };
    // What only names the lines below it has the whole width.
    if line.cells.is_empty() {
        return vec![look.span(name, if chosen.is_some() { Role::Accent } else { role })];
    }
    let name = look.span(pad(&name, NAME + 2), role);
    let mut spans = vec![if chosen.is_some() { name.patch_style(look.selection()) } else { name }];
    for (n, cell) in line.cells.iter().enumerate() {
        let text = cell.as_ref().map_or_else(|| "0".to_owned(), |cell| cell.count.to_string());
        let role = if cell.is_some() { Role::Number } else { Role::Faint };
        let style = if chosen == Some(n) { look.style(role).patch(look.selection()) } else { look.style(role) };
        spans.push(Span::styled(pad_left(&text, width_of(board, n)), style));
    }
    let taken = |spans: &[Span<'_>]| spans.iter().map(Span::width).sum::<usize>();
    let room = width.saturating_sub(taken(&spans) + 3);
    let tail = |line: &DashboardLine| whole_parts(line.tail.as_str(), room);
    // The pictures of a table begin in one column: only so can they be compared.
    let longest = board.lines.iter().map(|line| tail(line).width()).max().unwrap_or(0);
    if longest > 0 {
        spans.push(look.span(format!("   {}", pad(&tail(line), longest)), Role::Dim));
    }
    let taken = taken(&spans);
    let room = width.saturating_sub(taken + 3).min(LONGEST);
    if room >= SHORTEST {
        spans.push(look.span(format!("   {}", picture(board, line, room)), role_of(line)));
    }
    spans
}

/// Returns the colour of what a line counts: outcomes have their own.
fn role_of(line: &DashboardLine) -> Role {
    match Outcome::from_word(line.name.as_str()) {
        Some(Outcome::Pass) => Role::Ok,
        Some(Outcome::Fail) => Role::Fatal,
        Some(Outcome::Disputed | Outcome::Stale) => Role::Warning,
        Some(Outcome::Defer | Outcome::Skip | Outcome::Open) => Role::Dim,
        _ => Role::Accent,
    }
}

/// Draws a share with its interval, or the part that a line has of its table.
fn picture(board: &DashboardTable, line: &DashboardLine, room: usize) -> String {
    if let Some([low, share, high]) = line.interval {
        return charts::interval(low, share, high, room.min(SCALE));
    }
    // Lines of a table of shares are no parts of it.
    if board.lines.iter().any(|line| line.interval.is_some()) {
        return String::new();
    }
    let count = |line: &DashboardLine| line.cells.iter().flatten().next().map_or(0, |cell| cell.count);
    let whole: usize = board.lines.iter().filter(|line| line.depth == 0).map(count).sum();
    charts::bar(count(line), whole, room)
}

/// Returns the filter of the number under the cursor.
pub(crate) fn filter(across: &Across, cursor: DashboardCursor) -> Option<String> {
    let judged = across.judged.as_ref()?;
    Some(cursor.cell(judged)?.set.as_str().to_owned())
}

/// Describes what opening would do.
pub(crate) fn describe(across: &Across, cursor: DashboardCursor, look: Look<'_>) -> Spans {
    match filter(across, cursor) {
        Some(filter) => vec![look.keyed("<open>: filter ", Role::Faint), look.span(filter, Role::Accent)],
        None => Vec::new(),
    }
}
