//! The items on which reviewers disagree, what each of them said, and how far they agree at all.

use crate::screens::adjudication::state::Adjudication;
use crate::widgets::keymap::Keymap;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::across::Across;
use crate::app::open_record::OpenRecord;
use crate::app::state::App;
use crate::screens::adjudication::state::{self, offered};
use crate::screens::dashboard::draw::{reading, unread};
use crate::screens::table::preview::evidence;
use crate::screens::table::state::Table;
use crate::widgets::keymap::Action;
use crate::widgets::layout;
use crate::widgets::layout::{WIDE, inner_height, inner_width, pane_above, pane_left, rows};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Piece, Spans, line_pane, pane, put, title_room};
use crate::widgets::prose::{fit, flowed, pad, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_io::pipeline::dashboard::{BoardData, DisputedRecord};
use stepscope_io::pipeline::store::Store;
use stepscope_review::agreement::measured;
use stepscope_review::disagreement::ReviewerVerdict;
use stepscope_review::event::{GoldStatus, Verdict};

/// A question takes so many lines at least, whatever room there is.
const QUESTION: usize = 3;
/// A note takes at most so many lines.
const MAX_NOTE: usize = 12;
/// Least number of columns for the name of a label in the agreement.
const SHORTEST: usize = 12;
/// Number of columns that each reviewer needs, side by side.
const VOICE: usize = 34;

struct PaneAreas {
    agreement: Rect,
    list: Rect,
    voices: Rect,
}

/// While labels are chosen all of them are on screen, as far as there is room at all: they have keys.
fn places(area: Rect, across: &Across, adjudication: &Adjudication, keymap: &Keymap) -> PaneAreas {
    let areas = usual_places(area, across);
    let body = layout::parts(area).body;
    if adjudication.choosing.is_none() {
        return areas;
    }
    let fits = |voices: Rect| label_rows(across, adjudication, keymap, inner_width(voices)) <= inner_height(voices);
    let (list, below) = pane_above(body, 3);
    let none = Rect { height: 0, ..body };
    match () {
        () if fits(areas.voices) => areas,
        () if fits(below) => PaneAreas { agreement: none, list, voices: below },
        () => PaneAreas { agreement: none, list: none, voices: body },
    }
}

/// Lines above the labels: the answer, and what is chosen.
const ABOVE_LABELS: usize = 2;

/// The labels of the item in front as they are laid out; `None`: there is none, or nothing is being given.
fn shown_labels(
    across: &Across,
    adjudication: &Adjudication,
    keymap: &Keymap,
    width: usize,
) -> Option<Vec<Vec<Piece>>> {
    let judged = across.judged.as_ref()?;
    let chosen = adjudication.choosing.as_ref()?;
    Some(label_lines(keymap, judged, adjudication.case(judged)?, chosen, width))
}

/// Counts the lines down to the last label.
fn label_rows(across: &Across, adjudication: &Adjudication, keymap: &Keymap, width: usize) -> usize {
    shown_labels(across, adjudication, keymap, width).map_or(0, |lines| ABOVE_LABELS + lines.len())
}

/// Finds the line of a label; one without a key is behind those that have one.
fn label_row(
    across: &Across,
    adjudication: &Adjudication,
    keymap: &Keymap,
    label: usize,
    width: usize,
) -> Option<usize> {
    let lines = shown_labels(across, adjudication, keymap, width)?;
    let judged = across.judged.as_ref()?;
    let order = state::in_order(judged, adjudication.case(judged)?);
    let name = format!("  {} [", order.iter().position(|at| *at == label)? + 1);
    let row = lines.iter().position(|line| line.iter().any(|(text, _)| text.starts_with(&name)));
    Some(ABOVE_LABELS + row.unwrap_or(lines.len().saturating_sub(1)))
}

/// Finds the line of a label, and counts the lines on screen.
pub(crate) fn label_place(
    area: Rect,
    across: &Across,
    adjudication: &Adjudication,
    keymap: &Keymap,
    label: usize,
) -> Option<(usize, usize)> {
    let area = places(area, across, adjudication, keymap).voices;
    Some((label_row(across, adjudication, keymap, label, inner_width(area))?, inner_height(area).max(1)))
}

fn usual_places(area: Rect, across: &Across) -> PaneAreas {
    let body = layout::parts(area).body;
    let lines = across.judged.as_ref().map_or(&[][..], |judged| judged.agreement.as_slice());
    let most = (body.height / 3).max(3);
    let all = rows(lines.len().saturating_add(2));
    let wanted = if all <= most { all } else { rows(measures(lines).len().saturating_add(2)) };
    let agreement = wanted.clamp(3, most).min(body.height);
    let (agreement, rest) = pane_above(body, agreement);
    let cases = across.judged.as_ref().map_or(0, |judged| judged.cases.len());
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
pub(crate) fn height(area: Rect, across: &Across, adjudication: &Adjudication, keymap: &Keymap) -> usize {
    inner_height(places(area, across, adjudication, keymap).list).max(1)
}

/// Finds the item at a place of the screen.
pub(crate) fn row_of(
    area: Rect,
    across: &Across,
    adjudication: &Adjudication,
    keymap: &Keymap,
    at: Position,
) -> Option<usize> {
    let area = places(area, across, adjudication, keymap).list;
    let inside = area.contains(at) && at.y + 1 < area.bottom();
    let row = adjudication.list.top + usize::from(at.y.checked_sub(area.y + 1).filter(|_| inside)?);
    (row < across.judged.as_ref()?.cases.len()).then_some(row)
}

pub(crate) fn draw(app: &App, buf: &mut Buffer, look: Look<'_>) {
    let adjudication = &app.kept.adjudication;
    let PaneAreas { agreement, list, voices } = places(app.area(), &app.across, adjudication, &app.keymap);
    let quiet = Look { focused: false, ..look };
    let Some(judged) = &app.across.judged else {
        return put(unread(&app.across, look), 0, agreement, buf);
    };
    if agreement.height >= 2 {
        agreement_pane(judged, agreement, buf, quiet);
    }
    if list.height >= 2 {
        cases(&app.across, adjudication, judged, list, buf, look);
    }
    if voices.height >= 2
        && let Some(case) = adjudication.case(judged)
    {
        let said = case_lines(adjudication, &app.keymap, judged, case, voices);
        let opened = previewed(&app.across, adjudication, &app.store, &app.table);
        let lines = pane_lines(&said, &app.across, adjudication, case, opened, inner_width(voices), look);
        case_pane(adjudication, case, lines, voices, buf, look);
    }
}

/// Returns the lines of the agreement that come first where there is little room: what is measured, before who judged how
/// many.
fn measures(lines: &[Shown]) -> &[Shown] {
    let groups = lines.iter().position(|line| line.as_str().is_empty()).map_or(0, |blank| blank + 1);
    lines.get(groups..).unwrap_or(lines)
}

fn agreement_pane(judged: &BoardData, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let title = vec![look.span("Agreement", Role::Title)];
    let lines = judged.agreement.as_slice();
    if lines.is_empty() {
        return line_pane(title, vec![look.span("no reviews yet", Role::Dim)], area, buf, look);
    }
    let longest = lines.iter().filter_map(measured).map(|(_, measure)| measure.width()).max().unwrap_or(0);
    let room = inner_width(area).saturating_sub(longest + 4).max(SHORTEST);
    let lines = if lines.len() <= inner_height(area) { lines } else { measures(lines) };
    let rows = Rows { top: 0, len: lines.len(), at: None };
    let names = lines.iter().filter_map(measured).map(|(name, _)| name.width()).max().unwrap_or(0).min(room);
    let line = |line: &Shown| {
        let text = measured(line).map(|(name, measure)| format!("  {}  {measure}", pad(name, names)));
        vec![look.span(text.unwrap_or_else(|| line.as_str().to_owned()), Role::Dim)]
    };
    pane(title, rows, |n| lines.get(n).map(line).unwrap_or_default(), area, buf, look);
}

fn cases(
    across: &Across,
    adjudication: &Adjudication,
    judged: &BoardData,
    area: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) {
    let mut title = vec![look.span("Disagreements", Role::Title)];
    title.push(look.span(format!("  {}", judged.cases.len()), Role::Dim));
    title.extend(reading(across, look));
    if judged.cases.is_empty() {
        let line = vec![look.span("No open disagreements", Role::Ok)];
        return line_pane(title, line, area, buf, look);
    }
    let rows = adjudication.list.rows(judged.cases.len());
    let line = |case: &DisputedRecord| {
        let what = if case.dispute.labels_only { "labels" } else { "verdict" };
        let role = if case.dispute.labels_only { Role::Dim } else { Role::Warning };
        let yours = if state::is_own(case, across.reviewer.as_ref()) { "yours  " } else { "" };
        vec![
            look.span(pad(what, 9), role),
            look.span(yours, Role::Accent),
            look.span(case.summary.title(inner_width(area)).into_string(), Role::Text),
        ]
    };
    pane(title, rows, |n| judged.cases.get(n).map(line).unwrap_or_default(), area, buf, look);
}

/// Finds the record of the item under the cursor.
pub(crate) fn disputed(across: &Across, adjudication: &Adjudication, store: &Store) -> Option<usize> {
    let case = adjudication.case(across.judged.as_ref()?)?;
    store.position(case.address.0, case.address.1)
}

/// Finds the record of the item under the cursor, once it was read; the labels that are chosen from have the room.
fn previewed<'t>(
    across: &Across,
    adjudication: &Adjudication,
    store: &Store,
    table: &'t Table,
) -> Option<&'t OpenRecord> {
    let record = disputed(across, adjudication, store).filter(|_| adjudication.choosing.is_none())?;
    table.preview(record)
}

/// Lays out what was said of an item, and below it what speaks for and against it.
fn pane_lines(
    said: &[Vec<Piece>],
    across: &Across,
    adjudication: &Adjudication,
    case: &DisputedRecord,
    opened: Option<&OpenRecord>,
    width: usize,
    look: Look<'_>,
) -> Vec<Spans> {
    let own = || vec![look.span("One of these verdicts is yours", Role::Warning)];
    let is_own = state::is_own(case, across.reviewer.as_ref()) && adjudication.choosing.is_none();
    let own = is_own.then(own);
    let mut lines: Vec<Spans> = own.into_iter().chain(said.iter().map(|pieces| look.spans(pieces))).collect();
    // One blank line parts the two, whatever room the verdicts had.
    let is_blank = |line: &Spans| line.iter().all(|span| span.content.trim().is_empty());
    while opened.is_some() && lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    lines.extend(opened.map(|_| Vec::new()));
    lines.extend(opened.into_iter().flat_map(|opened| evidence(opened, width, look)));
    lines
}

fn case_pane(
    adjudication: &Adjudication,
    case: &DisputedRecord,
    lines: Vec<Spans>,
    area: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) {
    let rows = Rows { top: adjudication.top, len: lines.len(), at: None };
    let line = |n: usize| lines.get(n).cloned().unwrap_or_default();
    let name = case.summary.item.name().line();
    let title = if adjudication.choosing.is_none() && long_question(case, inner_width(area)).is_some() {
        vec![look.span(name.into_string(), Role::Title)]
    } else {
        let mut title = vec![look.span(title_of(case, inner_width(area)).into_string(), Role::Title)];
        let name = look.span(format!("  {name}"), Role::Faint);
        let room = title_room(area, look).saturating_sub(title.iter().map(Span::width).sum());
        // The beginning of a name tells no record from another.
        if case.summary.question.is_some() && name.width() <= room {
            title.push(name);
        }
        title
    };
    pane(title, rows, line, area, buf, Look { focused: false, ..look });
}

/// Counts the lines of the chosen item, and those on screen.
pub(crate) fn size(app: &App) -> (usize, usize) {
    let adjudication = &app.kept.adjudication;
    let area = places(app.area(), &app.across, adjudication, &app.keymap).voices;
    let judged = app.across.judged.as_ref();
    let case = judged.and_then(|judged| Some((judged, adjudication.case(judged)?)));
    let look = Look::new(&app.looks.theme, &app.keymap, true);
    let opened = previewed(&app.across, adjudication, &app.store, &app.table);
    let lines = case.map_or(0, |(judged, case)| {
        let said = case_lines(adjudication, &app.keymap, judged, case, area);
        pane_lines(&said, &app.across, adjudication, case, opened, inner_width(area), look).len()
    });
    (lines, inner_height(area))
}

fn title_of(case: &DisputedRecord, width: usize) -> Shown {
    case.summary.title(width.saturating_sub(6))
}

/// Returns the question that does not fit the title.
fn long_question(case: &DisputedRecord, width: usize) -> Option<&Shown> {
    case.summary.question.as_ref().filter(|question| **question != title_of(case, width))
}

/// Wraps a question: all of it where there is so much room, else its beginning.
fn question_lines(question: &Shown, width: usize, room: usize) -> Vec<Vec<Piece>> {
    let most = room.max(QUESTION);
    let mut lines: Vec<String> = wrapped(question.as_str(), width, most + 1).map(ToOwned::to_owned).collect();
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{}…", fit(last, width.saturating_sub(1)));
        }
    }
    lines.into_iter().map(|line| vec![(line, Role::Text)]).collect()
}

fn case_lines(
    adjudication: &Adjudication,
    keymap: &Keymap,
    judged: &BoardData,
    case: &DisputedRecord,
    area: Rect,
) -> Vec<Vec<Piece>> {
    let width = inner_width(area);
    let mut lines = vec![facts(case)];
    if let Some(chosen) = &adjudication.choosing {
        lines.push(vec![("fail, because of:".into(), Role::Fatal)]);
        lines.extend(label_lines(keymap, judged, case, chosen, width));
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
    // The labels that are chosen from have the room.
    if let Some(question) = long_question(case, width).filter(|_| adjudication.choosing.is_none()) {
        let room = (inner_height(area) + 1).saturating_sub(lines.len());
        lines.splice(0..0, question_lines(question, width, room));
    }
    lines
}

/// Lays out the labels with their numbers, and behind each the reviewers who gave it. Labels without a key are shown
/// once they are chosen; the others are counted.
fn label_lines(
    keymap: &Keymap,
    judged: &BoardData,
    case: &DisputedRecord,
    chosen: &[usize],
    width: usize,
) -> Vec<Vec<Piece>> {
    let keys = offered(judged).len();
    let is_shown = |(n, at): &(usize, &usize)| *n < keys || chosen.contains(at);
    let piece = |(n, at): (usize, &usize)| {
        let label = judged.labels.get(*at).map_or_else(Shown::default, |(_, label)| label.clone());
        let givers = case.dispute.voices.iter().filter(|voice| voice.labels.contains(&label));
        let givers: Vec<String> = givers.map(|voice| voice.reviewer.to_string()).collect();
        let by = if givers.is_empty() { String::new() } else { format!(" ({})", givers.join(", ")) };
        let (sign, role) = if chosen.contains(at) { ("[x]", Role::Accent) } else { ("[ ]", Role::Text) };
        let key = if n < keys { (n + 1).to_string() } else { " ".to_owned() };
        (fit(&format!("  {key} {sign} {label}{by}"), width), role)
    };
    let order = state::in_order(judged, case);
    let labels = order.iter().enumerate().filter(is_shown);
    let hidden = judged.labels.len() - labels.clone().count();
    let more = (format!("  +{hidden} more: {}", keymap.key_of(Action::FindLabel)), Role::Hint);
    flowed(labels.map(piece).chain(Some(more).filter(|_| hidden > 0)), width)
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
    match summary.rightness.verdict() {
        Some(true) => line.push((format!("   {} graded correct", sign::CORRECT), Role::Ok)),
        Some(false) => line.push((format!("   {} graded wrong", sign::WRONG), Role::Fatal)),
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
    lines.extend(voice.gold.map(|gold: GoldStatus| (format!("  expected answer: {}", gold.phrase()), Role::Gold)));
    if let Some(note) = &voice.note {
        let note = wrapped(note.as_str(), width.saturating_sub(2), MAX_NOTE);
        lines.extend(note.map(|line| (format!("  {line}"), Role::Dim)));
    }
    lines
}

/// Names the adjudicator, or the keys while labels are chosen.
pub(crate) fn describe(across: &Across, adjudication: &Adjudication, look: Look<'_>) -> Spans {
    if adjudication.choosing.is_some() {
        return vec![look.keyed("Digits toggle labels, <find_label> finds others, <open> saves", Role::Accent)];
    }
    match &across.reviewer {
        Some(reviewer) => vec![look.span(format!("Adjudicator: {}", reviewer.id.line()), Role::Dim)],
        None => Vec::new(),
    }
}
