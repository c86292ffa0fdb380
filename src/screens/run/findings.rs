//! Findings of the record, in the order of the rules.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::dialogs::derivation;
use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::{Rows, all_fit};
use crate::widgets::look::{Look, Spans, line_pane, put, severity_role, tall_pane};
use crate::widgets::prose::{hanging, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::rules;
use stepscope_present::notes::Note;
use stepscope_record::finding::counted;
use stepscope_record::paint::MarkedRange;

/// Lines of the recorded value above its derivation.
const MAX_RECORDED: usize = 4;

/// The pane of the findings.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: &[Action::Open, Action::Prove, Action::NextFinding, Action::Explain],
    place: PanePlace::Own(|places| places.findings),
    settled: Some(|view, place, look| {
        let (wrapping, mut list) = (Wrapping::of(view, place, look), view.findings);
        let lines = |note: usize| lines(view, note, wrapping, look).len();
        list.settle_tall(view.opened.notes.len(), inner_height(place), lines);
        list
    }),
    draw,
    describe,
    explain: |view, _| view.opened.notes.get(view.findings.at).map_or(Shown::own("No findings"), explain),
    cursor: |view| Some(view.findings.at),
    row_at: |view, line, place, look| {
        let wrapping = Wrapping::of(view, place, look);
        let lines = |note| lines(view, note, wrapping, look).len();
        Some(view.findings.row_at(line, view.opened.notes.len(), lines))
    },
    pointer: |view| view.opened.notes.get(view.findings.at).map(|note| note.pointer.clone()),
    text: |view| {
        let note = view.opened.notes.get(view.findings.at)?;
        Some((Shown::own(note.rule), note.message.clone()))
    },
    can_edit: |_| true,
    go: RecordView::walk_findings,
    clicked: RecordView::show_finding,
    open: Some(RecordView::open_finding),
    ..PaneDef::BASE
};

fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let notes = &view.opened.notes;
    let mut title = vec![look.span(RunPane::Findings.word(), Role::Title)];
    if !notes.is_empty() {
        title.push(look.span(format!("  {}", position(notes, view.findings.at)), Role::Dim));
        if let Some(derivation) = view.derivation_here().filter(|_| usize::from(area.height) < notes.len() + 6) {
            title.push(look.span(format!("   {}: why {}?", key(look), derivation.title), Role::Faint));
        }
    }
    if notes.is_empty() {
        let line = vec![look.span("No findings", Role::Dim)];
        return line_pane(title, line, area, buf, look);
    }
    let at = (view.pane == RunPane::Findings).then_some(view.findings.at);
    let rows = Rows { at, ..view.findings.rows(notes.len()) };
    let wrapping = Wrapping::of(view, area, look);
    let lines = |n: usize| lines(view, n, wrapping, look);
    let inner = tall_pane(title, rows, lines, area, buf, look);
    if let Some(note) = notes.get(view.findings.at) {
        // A blank line between the list and the text.
        let from = 1 + (0..notes.len()).map(|n| lines(n).len()).sum::<usize>();
        in_full(view, note, (from, view.findings.at < wrapping.full), inner, buf, look);
    }
}

fn key(look: Look<'_>) -> String {
    look.keymap.key_of(Action::Prove)
}

/// Explains why the rule of a finding matters, or what a line of the argument is.
pub(crate) fn explain(note: &Note) -> Shown {
    match note.finding.and_then(|_| rules::rule(note.rule)) {
        Some(rule) => shown!("{} {}: {}", note.severity.glyph(), note.rule, rule.summary),
        None => shown!("{} reason for the place to fix, strongest first", sign::REASON),
    }
}

/// Describes the finding under the cursor: its place, what it says, and how to fix it.
fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    let Some(note) = view.opened.notes.get(view.findings.at) else { return Vec::new() };
    let help = note.help.map(|help| look.span(format!("  {help}"), Role::Dim));
    let place = look.span(format!("{}  ", note.pointer.text().line()), Role::Faint);
    let message = look.span(note.message.as_str(), severity_role(note.severity));
    [place, message].into_iter().chain(help).collect()
}

/// Counts the findings, and up to the one under the cursor: lines of the argument are none.
fn position(notes: &[Note], at: usize) -> String {
    let count = |notes: &[Note]| notes.iter().filter(|note| note.finding.is_some()).count();
    match (count(notes), notes.get(at).and_then(|note| note.finding)) {
        (0, _) => "none".to_owned(),
        (all, None) => all.to_string(),
        (all, Some(_)) => format!("{}/{all}", count(notes.get(..=at).unwrap_or_default())),
    }
}

/// Way to lay out the findings: the argument and the first of them in full, the others on one line each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapping {
    width: usize,
    /// Number of those in full.
    full: usize,
}

impl Wrapping {
    /// Wraps all of them in this width.
    pub(crate) const fn full(width: usize) -> Self {
        Self { width, full: usize::MAX }
    }

    /// Wraps as many as the pane has room for while all are on screen.
    pub(crate) fn of(view: &RecordView, area: Rect, look: Look<'_>) -> Self {
        let (width, count) = (inner_width(area), view.opened.notes.len());
        let [brief, full] = [0, usize::MAX].map(|full| Self { width, full });
        let height = |note, wrapping| lines(view, note, wrapping, look).len();
        if !all_fit(count, inner_height(area), |note| height(note, brief)) {
            return brief;
        }
        let mut left = inner_height(area) - (0..count).map(|note| height(note, brief)).sum::<usize>();
        let fits = |note: &usize| {
            let rest = left.checked_sub(height(*note, full) - height(*note, brief));
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        Self { width, full: (0..count).take_while(fits).count() }
    }
}

/// Counts the lines of the list with the argument alone in full; no further than this many findings.
pub(crate) fn brief_height(view: &RecordView, width: usize, most: usize, look: Look<'_>) -> usize {
    let wrapping = Wrapping { width, full: 0 };
    (0..view.opened.notes.len().min(most)).map(|note| lines(view, note, wrapping, look).len()).sum()
}

/// Returns the sign of a finding, or of a line of the argument.
pub(crate) const fn sign_of(note: &Note) -> (&'static str, Role) {
    match note.finding {
        Some(_) => (note.severity.glyph(), severity_role(note.severity)),
        None => (sign::REASON, Role::Accent),
    }
}

/// Lays out the lines of a finding.
pub(crate) fn lines(view: &RecordView, n: usize, wrapping: Wrapping, look: Look<'_>) -> Vec<Spans> {
    let Some(note) = view.opened.notes.get(n) else { return Vec::new() };
    let (glyph, role) = sign_of(note);
    let rule = if note.finding.is_none() { String::new() } else { format!("{}  ", note.rule) };
    let mark = MarkedRange { range: 0..rule.len(), tone: look.style(role) };
    let text = format!("{rule}{}", note.message);
    let width = Some(wrapping.width).filter(|_| n < wrapping.full || note.finding.is_none());
    // Reasons that do not affect the verdict are dim.
    let is_quiet = note.finding.is_none() && view.opened.correct == Some(true);
    let base = look.style(if is_quiet { Role::Dim } else { Role::Text });
    hanging(vec![look.span(format!("{glyph} "), role)], &text, base, &[mark], width)
}

/// Lays out the finding under the cursor with its derivation, from a row on, where the list leaves room for it; what
/// the list says in full is not said again.
fn in_full(
    view: &RecordView,
    note: &Note,
    (from, is_said): (usize, bool),
    area: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let help = note.help.unwrap_or_default();
    let message = if is_said { "" } else { note.message.as_str() };
    let texts = [(message, Role::Text), (help, Role::Dim)];
    let texts = texts.into_iter().filter(|(text, _)| !text.is_empty());
    let lines = texts.flat_map(|(text, role)| wrapped(text, width, height).map(move |line| (line, role)));
    let mut lines: Vec<Spans> = lines.map(|(line, role)| vec![look.span(line, role)]).collect();
    if let Some(derivation) = &view.derivation {
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        let title = look.span(format!("Why {}?  ", derivation.title), Role::Title);
        let held = format!("{} {}", derivation.badge.label(), derivation.held);
        lines.extend(
            hanging(vec![title], &held, look.style(Role::Dim), &[], Some(width)).into_iter().take(MAX_RECORDED),
        );
        let rows = derivation.rows();
        let (room, all) = (height.saturating_sub(from + lines.len()), rows.len());
        let shown = if all <= room { all } else { room.saturating_sub(1) };
        lines.extend(rows.into_iter().take(shown).map(|branch| derivation::draw::row(branch, "", look)));
        if shown < all {
            let more = counted(all - shown, "more line");
            // In another pane the key may open another derivation.
            let key = if view.chosen_derivation().is_none() { format!(": {}", key(look)) } else { String::new() };
            lines.push(vec![look.span(format!("… {more}{key}"), Role::Faint)]);
        }
    }
    // What follows is on screen whole or not at all; the place itself always is.
    let room = height.saturating_sub(from + 1);
    if !view.excerpt.is_empty() {
        let is_caret = |line: &Shown| line.as_str().trim_start_matches([' ', '|', '│']).starts_with(['^', '-']);
        let role = |line| if is_caret(line) { severity_role(note.severity) } else { Role::Dim };
        let all = view.excerpt.as_slice();
        let carets = all.windows(2).find(|pair| pair.last().is_some_and(is_caret)).unwrap_or_default();
        let fits = |part: &&[Shown]| lines.len() + 1 + part.len() <= room;
        if let Some(part) = [all, carets].into_iter().find(fits) {
            lines.push(Vec::new());
            lines.extend(part.iter().map(|line| vec![look.span(line.as_str(), role(line))]));
        }
    }
    if let Some(rule) = note.finding.and_then(|_| rules::rule(note.rule)) {
        let why: Vec<&str> = wrapped(rule.explanation, width, height).collect();
        if lines.len() + 1 + why.len() <= room {
            lines.push(Vec::new());
            lines.extend(why.into_iter().map(|line| vec![look.span(line, Role::Dim)]));
        }
    }
    lines.push(vec![look.span(note.pointer.text().line().into_string(), Role::Faint)]);
    for (row, line) in (from..height).zip(lines) {
        put(line, row, area, buf);
    }
}
