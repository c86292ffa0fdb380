//! The items on which reviewers disagree, what each of them said, and how far they agree at all.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

use crate::app::state::App;
use crate::screens::adjudication::state::{KEYS, offered};
use crate::screens::dashboard::draw::{reading, unread};
use crate::widgets::layout;
use crate::widgets::layout::{WIDE, inner_height, inner_width, pane_above, pane_left, rows};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Piece, Spans, line_pane, pane, put, title_room};
use crate::widgets::prose::{fit, flowed, pad, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_core::review::disagreement::ReviewerVerdict;
use stepscope_core::review::event::{GoldStatus, LabelRef, Verdict};
use stepscope_core::review::stats::name_of;
use stepscope_io::pipeline::dashboard::{BoardData, DisputedRecord};

/// A note takes at most so many lines.
const MAX_NOTE: usize = 12;
/// Number of columns that each reviewer needs, side by side.
const VOICE: usize = 34;

struct PaneAreas {
    agreement: Rect,
    list: Rect,
    voices: Rect,
}

/// While labels are chosen all of them are on screen, as far as there is room at all: they have keys.
fn places(app: &App) -> PaneAreas {
    let areas = usual_places(app);
    let body = layout::parts(app.area()).body;
    if app.across.adjudication.choosing.is_none() {
        return areas;
    }
    let fits = |voices: Rect| label_rows(app, inner_width(voices)) <= inner_height(voices);
    let (list, below) = pane_above(body, 3);
    let none = Rect { height: 0, ..body };
    match () {
        () if fits(areas.voices) => areas,
        () if fits(below) => PaneAreas { agreement: none, list, voices: below },
        () => PaneAreas { agreement: none, list: none, voices: body },
    }
}

/// Counts the lines down to the last label.
fn label_rows(app: &App, width: usize) -> usize {
    label_row(app, KEYS, width).map_or(0, |row| row + 1)
}

/// Finds the line of a label, or of the last one.
fn label_row(app: &App, label: usize, width: usize) -> Option<usize> {
    let judged = app.across.judged.as_ref()?;
    let case = app.across.adjudication.case(judged)?;
    let last = offered(judged).len().checked_sub(1)?;
    let name = format!("  {} [", label.min(last) + 1);
    let lines = case_lines(app, judged, case, width);
    lines.iter().position(|line| line.iter().any(|(text, _)| text.starts_with(&name)))
}

/// Finds the line of a label, and counts the lines on screen.
pub(crate) fn label_place(app: &App, label: usize) -> Option<(usize, usize)> {
    let area = places(app).voices;
    Some((label_row(app, label, inner_width(area))?, inner_height(area).max(1)))
}

fn usual_places(app: &App) -> PaneAreas {
    let body = layout::parts(app.area()).body;
    let wanted = rows(app.across.judged.as_ref().map_or(0, |judged| judged.agreement.len()).saturating_add(2));
    let agreement = wanted.clamp(3, (body.height / 3).max(3)).min(body.height);
    let (agreement, rest) = pane_above(body, agreement);
    let cases = app.across.judged.as_ref().map_or(0, |judged| judged.cases.len());
    if body.width >= WIDE && cases > 0 {
        let side = (body.width / 3).clamp(30, 60);
        let (list, voices) = pane_left(rest, side);
        return PaneAreas { agreement, list, voices };
    }
    let list = rows(cases + 2).clamp(3, (rest.height / 3).max(3)).min(rest.height);
    let (list, voices) = pane_above(rest, list);
    PaneAreas { agreement, list, voices }
}

/// Counts the items on screen.
pub(crate) fn height(app: &App) -> usize {
    inner_height(places(app).list).max(1)
}

/// Finds the item at a place of the screen.
pub(crate) fn row_of(app: &App, at: Position) -> Option<usize> {
    let area = places(app).list;
    let inside = area.contains(at) && at.y + 1 < area.bottom();
    let row = app.across.adjudication.list.top + usize::from(at.y.checked_sub(area.y + 1).filter(|_| inside)?);
    (row < app.across.judged.as_ref()?.cases.len()).then_some(row)
}

pub(crate) fn draw(app: &App, _area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let PaneAreas { agreement, list, voices } = places(app);
    let quiet = Look { focused: false, ..look };
    let Some(judged) = &app.across.judged else {
        return put(unread(app, look), 0, agreement, buf);
    };
    if agreement.height >= 2 {
        let none = [Shown::own("no reviews yet")];
        let lines = if judged.agreement.is_empty() { &none[..] } else { &judged.agreement };
        // Where there is little room what is measured comes before who judged how many.
        let groups = lines.iter().position(|line| line.as_str().is_empty()).map_or(0, |blank| blank + 1);
        let fits = lines.len() <= inner_height(agreement);
        let lines = if fits { lines } else { lines.get(groups..).unwrap_or_default() };
        let rows = Rows { top: 0, len: lines.len(), at: None };
        let line = |line: &Shown| vec![look.span(line.as_str(), Role::Dim)];
        let title = vec![look.span("Agreement", Role::Title)];
        pane(title, rows, |n| lines.get(n).map(line).unwrap_or_default(), agreement, buf, quiet);
    }
    if list.height >= 2 {
        cases(app, judged, list, buf, look);
    }
    if voices.height >= 2
        && let Some(case) = app.across.adjudication.case(judged)
    {
        case_pane(app, judged, case, voices, buf, look);
    }
}

fn cases(app: &App, judged: &BoardData, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = vec![look.span("Disagreements", Role::Title)];
    title.push(look.span(format!("  {}", judged.cases.len()), Role::Dim));
    title.extend(reading(app, look));
    if judged.cases.is_empty() {
        let line = vec![look.span("No open disagreements", Role::Ok)];
        return line_pane(title, line, area, buf, look);
    }
    let rows = app.across.adjudication.list.rows(judged.cases.len());
    let line = |case: &DisputedRecord| {
        let what = if case.dispute.labels_only { "labels" } else { "verdict" };
        let role = if case.dispute.labels_only { Role::Dim } else { Role::Warning };
        vec![look.span(pad(what, 9), role), look.span(case.summary.title(inner_width(area)).into_string(), Role::Text)]
    };
    pane(title, rows, |n| judged.cases.get(n).map(line).unwrap_or_default(), area, buf, look);
}

fn case_pane(app: &App, judged: &BoardData, case: &DisputedRecord, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let width = inner_width(area);
    let lines = case_lines(app, judged, case, width);
    let rows = Rows { top: app.across.adjudication.top, len: lines.len(), at: None };
    let line = |n: usize| look.spans(lines.get(n).map(Vec::as_slice).unwrap_or_default());
    let mut title = vec![look.span(case.summary.title(width.saturating_sub(6)).into_string(), Role::Title)];
    let name = look.span(format!("  {}", name_of(&case.summary.item).line()), Role::Faint);
    let room = title_room(area, look).saturating_sub(title.iter().map(Span::width).sum());
    // The beginning of a name tells no record from another.
    if case.summary.question.is_some() && name.width() <= room {
        title.push(name);
    }
    pane(title, rows, line, area, buf, Look { focused: false, ..look });
}

/// Counts the lines of the chosen item, and those on screen.
pub(crate) fn size(app: &App) -> (usize, usize) {
    let area = places(app).voices;
    let judged = app.across.judged.as_ref();
    let case = judged.and_then(|judged| Some((judged, app.across.adjudication.case(judged)?)));
    let lines = case.map_or(0, |(judged, case)| case_lines(app, judged, case, inner_width(area)).len());
    (lines, inner_height(area))
}

fn case_lines(app: &App, judged: &BoardData, case: &DisputedRecord, width: usize) -> Vec<Vec<Piece>> {
    let mut lines = vec![facts(case)];
    if let Some(chosen) = &app.across.adjudication.choosing {
        lines.push(vec![("fail, because of:".into(), Role::Fatal)]);
        lines.extend(label_lines(judged, case, chosen, width));
    }
    lines.push(Vec::new());
    let voices = &case.dispute.voices;
    let columns = (width / VOICE).clamp(1, voices.len().max(1));
    let room = (width / columns).saturating_sub(2);
    for group in voices.chunks(columns) {
        let blocks: Vec<Vec<Piece>> = group.iter().map(|voice| said(voice, room)).collect();
        for n in 0..blocks.iter().map(Vec::len).max().unwrap_or(0) {
            let cell = |block: &Vec<Piece>| match block.get(n) {
                Some((text, role)) => (format!("{}  ", pad(text, room)), *role),
                None => (" ".repeat(room + 2), Role::Text),
            };
            lines.push(blocks.iter().map(cell).collect());
        }
        lines.push(Vec::new());
    }
    lines
}

/// Lays out the labels with their numbers, and behind each the reviewers who gave it.
fn label_lines(judged: &BoardData, case: &DisputedRecord, chosen: &[usize], width: usize) -> Vec<Vec<Piece>> {
    let piece = |(n, (_, label)): (usize, &(LabelRef, Shown))| {
        let givers = case.dispute.voices.iter().filter(|voice| voice.labels.contains(label));
        let givers: Vec<String> = givers.map(|voice| voice.reviewer.to_string()).collect();
        let by = if givers.is_empty() { String::new() } else { format!(" ({})", givers.join(", ")) };
        let (sign, role) = if chosen.contains(&n) { ("[x]", Role::Accent) } else { ("[ ]", Role::Text) };
        (fit(&format!("  {} {sign} {label}{by}", n + 1), width), role)
    };
    flowed(offered(judged).iter().enumerate().map(piece), width)
}

/// Summarises the answer of the record.
fn facts(case: &DisputedRecord) -> Vec<Piece> {
    let summary = &case.summary;
    let answer = summary.answer.as_ref().map(Untrusted::line).or_else(|| summary.values.clone());
    let answer = answer.map_or(Shown::own("none"), |answer| answer.cut(60));
    let mut line = vec![("answer ".to_owned(), Role::Faint), (answer.into_string(), Role::Text)];
    if let Some(gold) = summary.gold {
        line.push((format!("   expected {}", gold.shown()), Role::Gold));
    }
    match summary.recorded.or(summary.right) {
        Some(true) => line.push(("   ✓ graded correct".to_owned(), Role::Ok)),
        Some(false) => line.push(("   ✗ graded wrong".to_owned(), Role::Fatal)),
        None => {}
    }
    line
}

/// Lists the verdict of one reviewer, line by line.
fn said(voice: &ReviewerVerdict, width: usize) -> Vec<Piece> {
    let (sign, role) = match voice.verdict {
        Verdict::Pass => (sign::PASSED, Role::Ok),
        _ => (sign::REJECTED, Role::Fatal),
    };
    let mut lines = vec![(format!("{sign} {}  {}", voice.verdict.word(), voice.reviewer), role)];
    if !voice.labels.is_empty() {
        let labels = voice.labels.iter().map(Shown::as_str).collect::<Vec<_>>().join(", ");
        lines.push((format!("  {labels}"), Role::Text));
    }
    lines.extend(voice.fix.as_ref().map(|fix| (format!("  Fix: {fix}"), Role::Accent)));
    lines.extend(voice.gold.map(|gold: GoldStatus| (format!("  expected answer: {}", gold.word()), Role::Gold)));
    if let Some(note) = &voice.note {
        let note = wrapped(note.as_str(), width.saturating_sub(2), MAX_NOTE);
        lines.extend(note.map(|line| (format!("  {line}"), Role::Dim)));
    }
    lines
}

/// Names the adjudicator, or the keys while labels are chosen.
pub(crate) fn describe(app: &App, look: Look<'_>) -> Spans {
    if app.across.adjudication.choosing.is_some() {
        return vec![look.keyed("1-9 toggle labels, <open> saves, <escape> cancels", Role::Accent)];
    }
    match &app.across.reviewer {
        Some(reviewer) => vec![look.span(format!("Adjudicator: {}", reviewer.id.line()), Role::Dim)],
        None => Vec::new(),
    }
}
