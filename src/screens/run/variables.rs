//! The global state as lifelines: one row per variable, one column per step. `◆` writes, `○` reads, the line between is the
//! variable's life. What is never read, written twice or read before it is written shows at a glance; what lies after
//! the current step is dim.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::app::fork_tree::RECORDED;
use crate::screens::run::edits::Edit;
use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::layout::{inner_height, inner_width, split_rows};
use crate::widgets::list::all_fit;
use crate::widgets::look::{
    Look, Spans, badge_role, fill_tall, fit_spans, frame, kind_role, line_pane, put, scroll_mark, severity_role,
};
use crate::widgets::prose::{fit, pad, wrapped};
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::{Shown, cut};
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_present::computed::superscript;
use stepscope_present::variables::VariableRow;
use stepscope_present::variables::WriteRow;
use stepscope_record::finding::counted;
use stepscope_record::procedure::FINAL_ANSWER;
use stepscope_record::state::{Badge, Moment, Ran, VariableOrigin};

/// Number of steps of a variable that are named in a line.
const MAX_NAMED: usize = 20;
/// Maximum number of lines of a value, where there is room.
const MAX_LINES: usize = 4;
/// Variables that are measured for the width of the pane.
const MAX_MEASURED: usize = 500;
/// Columns that a cut value keeps.
const LEAST: usize = 4;
/// Columns that longer values want; more wrap.
const WANTED: usize = 34;
/// Columns for values, and for badges as words next to them.
const ROOMY: usize = 42;

/// Shares of the columns in the width.
#[derive(Clone, Copy, Debug)]
struct Columns {
    name: usize,
    value: usize,
    badge: usize,
    /// Columns of one step.
    cell: usize,
    /// First step column on screen; 0 is `q`, what was given.
    first: usize,
    /// Number of step columns on screen.
    count: usize,
}

/// The pane of the global state.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: &[
        Action::Open,
        Action::Prove,
        Action::Edit,
        Action::Writer,
        Action::Reader,
        Action::CopyValue,
        Action::CopyPath,
    ],
    // The state of a record without steps says more than its question where it holds something else.
    holds: |view| {
        let is_own = |row: &VariableRow| row.origin != VariableOrigin::Given;
        view.opened.has_steps() || view.opened.variables.iter().any(is_own)
    },
    place: PanePlace::Own(|places| places.state),
    settled: Some(|view, place, _| {
        let mut list = view.variables;
        // One line of the pane is its heading.
        list.settle(view.opened.variables.len(), inner_height(place).saturating_sub(1));
        list
    }),
    draw,
    describe: |view, look| vec![look.span(describe(view), Role::Dim)],
    explain,
    cursor: |view| Some(view.variables.at),
    row_at: |view, line, place, look| {
        let columns = share(view, inner_width(place));
        let tall = is_tall(view, place, look);
        let height = |variable| if tall { height_of(view, variable, columns, look) } else { 1 };
        Some(view.variables.row_at(line.checked_sub(1)?, view.opened.variables.len(), height))
    },
    pointer: |view| view.chosen_value().and_then(|value| value.pointer.clone()),
    text: RecordView::chosen_variable,
    can_edit: |_| true,
    go: RecordView::walk_variables,
    open: Some(RecordView::open_variable),
    ..PaneDef::BASE
};

fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let title = title(view, look);
    let variables = &view.opened.variables;
    if variables.is_empty() {
        return line_pane(title, vec![look.span("no variables", Role::Dim)], area, buf, look);
    }
    let inner = frame(title, area, buf, look);
    let columns = share(view, usize::from(inner.width));
    put(heading(view, columns, look), 0, inner, buf);
    let (_, body) = split_rows(inner, 1);
    let rows = view.variables.rows(variables.len());
    let tall = is_tall(view, area, look);
    fill_tall(rows, |variable| lines(view, variable, columns, tall, look), body, buf, look);
    let (_, below_heading) = split_rows(area, 1);
    scroll_mark(below_heading, view.variables.top, variables.len(), buf, look);
}

/// Tells whether long values take several lines: where all of them are on screen then.
fn is_tall(view: &RecordView, area: Rect, look: Look<'_>) -> bool {
    let columns = share(view, inner_width(area));
    let height = inner_height(area).saturating_sub(1);
    all_fit(view.opened.variables.len(), height, |variable| height_of(view, variable, columns, look))
}

/// Counts the lines that the variables take with their values in several lines; stops once there are more than `most`.
pub(crate) fn tall_height(view: &RecordView, width: usize, most: usize, look: Look<'_>) -> usize {
    let columns = share(view, width);
    let mut lines = 0;
    for variable in 0..view.opened.variables.len() {
        if lines > most {
            break;
        }
        lines += height_of(view, variable, columns, look);
    }
    lines
}

/// Counts the lines that a variable takes with its value in several.
fn height_of(view: &RecordView, variable: usize, columns: Columns, look: Look<'_>) -> usize {
    1 + more_lines(view, variable, columns, look).len()
}

/// Lays out the lines of a value that follow its first: the rest of its text, and what belongs behind it.
fn more_lines(view: &RecordView, variable: usize, columns: Columns, look: Look<'_>) -> Vec<Spans> {
    let held = view.opened.write_at(variable, view.moment);
    let (Some(row), Some(write)) = (view.opened.variables.get(variable), held) else { return Vec::new() };
    if view.edits.at(variable, view.moment, Some(write.from)).is_some() {
        return Vec::new();
    }
    let value = ValueText::of(view, (variable, row), write, columns, look);
    if value.fits() {
        return Vec::new();
    }
    let mut texts: Vec<String> =
        wrapped(value.text, value.full, MAX_LINES + 1).skip(1).map(ToOwned::to_owned).collect();
    if texts.len() == MAX_LINES {
        texts.pop();
        texts.last_mut().into_iter().for_each(|line| *line = fit(&format!("{line} …"), value.full.max(1)));
    }
    let left = texts.last().map_or(0, |last| value.full.saturating_sub(last.width()));
    let indent = || Span::raw(" ".repeat(columns.name));
    // They look as the first line does.
    let style = if is_fresh(view, write) {
        look.style(value.role).add_modifier(Modifier::BOLD)
    } else {
        look.style(value.role)
    };
    let mut lines: Vec<_> = texts.into_iter().map(|text| vec![indent(), Span::styled(text, style)]).collect();
    if !value.behind.is_empty() {
        if value.behind.iter().map(Span::width).sum::<usize>() > left {
            lines.push(vec![indent()]);
        }
        lines.last_mut().into_iter().for_each(|last| last.extend(fit_spans(value.behind.clone(), value.full)));
    }
    if is_dimmed(view, variable) {
        lines.iter_mut().flatten().for_each(|span| span.style = look.style(Role::Ghost));
    }
    lines
}

/// Tells whether a variable has no part in the one under the cursor.
fn is_dimmed(view: &RecordView, variable: usize) -> bool {
    view.influence.as_ref().is_some_and(|influence| !influence.has_variable(variable))
}

/// Tells whether the step on screen wrote a value.
fn is_fresh(view: &RecordView, write: &WriteRow) -> bool {
    write.from == view.moment && view.moment.0 > 0
}

fn title(view: &RecordView, look: Look<'_>) -> Spans {
    let moment = |moment: Moment| match moment.0 {
        0 => "before step 1".to_owned(),
        n => format!("after step {n}"),
    };
    if let Some(anchor) = view.anchor {
        let (a, b) = (anchor.min(view.moment), anchor.max(view.moment));
        return vec![
            look.span("Difference", Role::Title),
            look.span(format!("  {} → {}", moment(a), moment(b)), Role::Changed),
        ];
    }
    let mut title = vec![look.span(RunPane::State.word(), Role::Title)];
    if view.opened.has_steps() {
        title.push(look.span(format!("  {}", moment(view.moment)), Role::Dim));
        let known = common_badge(view).map(|badge| look.span(format!("  all {}", badge.label()), Role::Badge));
        title.extend(known);
    }
    if !view.edits.values.is_empty() {
        let (count, step) = (counted(view.edits.values.len(), "override"), view.edits.step + 1);
        title.push(look.span(format!("  ✎ {count} before step {step}"), Role::Changed));
    }
    title
}

/// Returns the width in which names, values up to a limit, and lifelines stand next to one another.
pub(crate) fn natural_width(view: &RecordView) -> usize {
    let rows = || view.opened.variables.iter().take(MAX_MEASURED);
    let name = rows().map(|row| row.name.as_str().width()).max().unwrap_or(0).clamp(8, 32) + 3;
    let values = rows().flat_map(|row| &row.writes).filter_map(|write| write.value.as_ref());
    let value = values.map(|value| cut(value.line.as_str(), WANTED).width()).max().unwrap_or(0);
    // Behind a value is what it should be.
    let value = (value + 2).max(ROOMY / 2);
    name + value + badge_width(view, true) + 1 + 3 * (view.opened.steps.len() + 1).min(20)
}

fn share(view: &RecordView, width: usize) -> Columns {
    let names = view.opened.variables.iter().take(2_000).map(|row| row.name.as_str().width());
    // Two columns for the glyph, one blank behind the name.
    let name = names.max().unwrap_or(0).clamp(8, (width * 7 / 20).clamp(8, 32)) + 3;
    let steps = view.opened.steps.len();
    if steps == 0 {
        return Columns { name, value: width.saturating_sub(name), badge: 0, cell: 0, first: 0, count: 0 };
    }
    let wanted = steps + 1;
    // A word for the badge where the values keep their room.
    let words = width >= ROOMY + name + 3 * wanted.min(20);
    let badge = badge_width(view, words);
    let room = (width.saturating_sub(name + badge) / 2).max(6);
    let cell = [3, 2].into_iter().find(|cell| wanted * cell <= room).unwrap_or(2);
    let count = wanted.min(room / cell).max(1);
    let first = view.moment.0.saturating_sub(count / 2).min(wanted - count);
    let value = width.saturating_sub(name + badge + 1 + count * cell);
    Columns { name, value, badge, cell, first, count }
}

/// Returns the width of the badges. Where all values are known in one way the title says so, and there is no column;
/// else badges are words where there is room for them.
fn badge_width(view: &RecordView, words: bool) -> usize {
    if common_badge(view).is_some() {
        return 0;
    }
    let badges = badges(view).map(|badge| badge.label().len() + 1).max();
    badges.filter(|_| words).unwrap_or(4)
}

/// Lists the badges of the values that steps wrote: what is given with the question is recorded in any case.
fn badges(view: &RecordView) -> impl Iterator<Item = Badge> {
    let writes = view.opened.variables.iter().take(2_000).flat_map(|row| &row.writes);
    writes.filter(|write| write.value.is_some() && write.step.is_some()).map(|write| write.badge)
}

/// Returns the badge of all values, where they share one.
fn common_badge(view: &RecordView) -> Option<Badge> {
    let mut badges = badges(view).filter(|_| view.opened.fork_origin.is_none() && view.edits.values.is_empty());
    let first = badges.next()?;
    badges.all(|badge| badge == first).then_some(first)
}

fn heading(view: &RecordView, columns: Columns, look: Look<'_>) -> Spans {
    let mut line = vec![look.span(pad("  variable", columns.name), Role::Faint)];
    line.push(look.span(pad("value", columns.value + columns.badge), Role::Faint));
    line.push(Span::raw(" "));
    line.extend(numbers(columns, view.moment.0).into_iter().map(|(text, is_current)| {
        let style = look.style(if is_current { Role::Current } else { Role::Faint });
        Span::styled(text, if is_current { style.add_modifier(Modifier::UNDERLINED) } else { style })
    }));
    line
}

/// Lists the numbers over the columns of steps and the blanks between them, and which of them is the current step.
/// Where they would touch, only every fifth has one, and the current step.
fn numbers(columns: Columns, current: usize) -> Vec<(String, bool)> {
    let label = |column: usize| if column == 0 { "q".to_owned() } else { column.to_string() };
    let all = columns.first..columns.first + columns.count;
    let every = if label(all.end.saturating_sub(1)).len() < columns.cell { 1 } else { 5 };
    let place = |column: usize| (column - columns.first) * columns.cell;
    let end = place(all.end);
    let from = if all.contains(&current) { place(current) } else { end };
    let to = (from + label(current).len()).min(end);
    let (mut out, mut at) = (Vec::new(), 0);
    for column in all {
        let (start, text) = (place(column), label(column));
        let behind = start + text.len();
        let is_free = start >= at && behind <= end && (behind < from || start > to) && column % every == 0;
        if is_free || column == current {
            out.extend([(" ".repeat(start.saturating_sub(at)), false), (text, column == current)]);
            // One blank at least before the next.
            at = behind;
            if every > 1 && at < end {
                out.push((" ".to_owned(), false));
                at += 1;
            }
        }
    }
    out.push((" ".repeat(end.saturating_sub(at)), false));
    out
}

/// Lays out the lines of a variable; a tall one has all of its value.
fn lines(view: &RecordView, variable: usize, columns: Columns, tall: bool, look: Look<'_>) -> Vec<Spans> {
    let mut lines = vec![line(view, variable, columns, tall, look)];
    if tall {
        lines.extend(more_lines(view, variable, columns, look));
    }
    lines
}

fn line(view: &RecordView, variable: usize, columns: Columns, tall: bool, look: Look<'_>) -> Spans {
    let Some(row) = view.opened.variables.get(variable) else { return Vec::new() };
    let dimmed = is_dimmed(view, variable);
    let quiet = |style: Style| if dimmed { look.style(Role::Ghost) } else { style };
    let held = view.opened.write_at(variable, view.moment);
    let fresh = held.is_some_and(|write| is_fresh(view, write));
    let glyph = match row.worst {
        Some(severity) => look.span(format!("{} ", severity.glyph()), severity_role(severity)),
        None => look.span("  ", Role::Faint),
    };
    let name = if held.is_some() || !view.opened.has_steps() { Role::Key } else { Role::Ghost };
    // The quantity under the cursor of the question went in here.
    let lit = view.lit_variables().contains(&variable);
    let name = if lit { look.style(Role::CitedCurrent) } else { quiet(look.style(name)) };
    let mut line =
        vec![glyph, Span::styled(pad(row.name.as_str(), columns.name.saturating_sub(3)), name), Span::raw(" ")];
    line.extend(value(view, (variable, row), held, (columns, tall), look, dimmed, fresh));
    line.push(Span::raw(" "));
    line.extend(lifeline(view, (variable, row), columns, look, dimmed));
    line
}

fn value(
    view: &RecordView,
    (variable, row): (usize, &VariableRow),
    held: Option<&WriteRow>,
    (columns, tall): (Columns, bool),
    look: Look<'_>,
    dimmed: bool,
    fresh: bool,
) -> Spans {
    let blank = |width: usize| Span::raw(" ".repeat(width));
    if let Some(edit) = view.edits.at(variable, view.moment, held.map(|write| write.from)) {
        return edited(edit, held, columns, look);
    }
    let Some(write) = held else { return vec![blank(columns.value + columns.badge)] };
    let mut spans = Vec::new();
    let value = ValueText::of(view, (variable, row), write, columns, look);
    let mut room = columns.value;
    if let Some((mark, role)) = value.mark {
        spans.push(look.span(format!("{mark} "), role));
        room = room.saturating_sub(2);
    }
    let mut style = look.style(value.role);
    if fresh {
        style = style.add_modifier(Modifier::BOLD);
    }
    // A value that takes several lines has what belongs behind it at its end.
    let first = wrapped(value.text, value.full, 1).next().filter(|_| tall && !value.fits());
    let (text, behind) = match first {
        Some(first) => (first.to_owned(), Vec::new()),
        None if value.fits() => (fit(value.text, value.room), value.behind),
        None => value.in_brief(),
    };
    room = room.saturating_sub(text.width());
    spans.push(Span::styled(text, style));
    for span in fit_spans(behind, room) {
        room = room.saturating_sub(span.width());
        spans.push(span);
    }
    spans.push(blank(room));
    if dimmed {
        for span in &mut spans {
            span.style = look.style(Role::Ghost);
        }
    }
    if columns.badge > 0 {
        let badge = if write.value.is_some() { badge(view, write, columns.badge) } else { "" };
        let style = if dimmed { look.style(Role::Ghost) } else { look.style(badge_role(write.badge)) };
        spans.push(Span::styled(pad(&format!(" {badge}"), columns.badge), style));
    }
    spans
}

/// Content of a value's column.
struct ValueText<'v> {
    /// Sign and colour of its change in a diff.
    mark: Option<(&'static str, Role)>,
    text: &'v str,
    role: Role,
    /// Pieces that follow the text.
    behind: Spans,
    /// The same in brief, for where they and the text do not fit on one line.
    brief: Spans,
    /// Columns of the text where the pieces follow it on one line.
    room: usize,
    /// Columns of the text alone.
    full: usize,
}

impl<'v> ValueText<'v> {
    fn of(
        view: &RecordView,
        (variable, row): (usize, &VariableRow),
        write: &'v WriteRow,
        columns: Columns,
        look: Look<'_>,
    ) -> Self {
        let mark = change(view, row, write);
        let (text, role) = match &write.value {
            Some(value) => (value.line.as_str(), kind_role(value.kind)),
            None if row.origin == VariableOrigin::Given => ("", Role::Ghost),
            None if write.badge == Badge::NotRun => (write.badge.label(), Role::Dim),
            None => (write.badge.label(), Role::BadgeDoubt),
        };
        let [behind, brief] = [false, true].map(|in_brief| behind(view, variable, write, in_brief, look));
        let width: usize = behind.iter().map(Span::width).sum();
        let full = columns.value.saturating_sub(if mark.is_some() { 2 } else { 0 });
        let room = if width == 0 { full } else { full.saturating_sub(width).max(full / 3) };
        Self { mark, text, role, behind, brief, room, full }
    }

    /// Cuts the text for one line, with the pieces in brief: the number that it should be counts for more than the rest
    /// of what is wrong.
    fn in_brief(self) -> (String, Spans) {
        let width: usize = self.brief.iter().map(Span::width).sum();
        (fit(self.text, self.full.saturating_sub(width).max(LEAST.min(self.full))), self.brief)
    }

    /// Tells whether the text is whole on one line, with what follows it.
    fn fits(&self) -> bool {
        wrapped(self.text, self.room, 2).nth(1).is_none()
    }
}

/// Lays out a value that was edited, and the recorded one behind it.
fn edited(edit: &Edit, held: Option<&WriteRow>, columns: Columns, look: Look<'_>) -> Spans {
    let recorded = held.and_then(|write| write.value.as_ref()).map_or("nothing", |value| value.line.as_str());
    let room = columns.value.saturating_sub(2);
    let text = fit(edit.line.as_str(), room * 2 / 3);
    let behind = fit(&format!("  was {recorded}"), room.saturating_sub(text.width()));
    let left = room.saturating_sub(text.width() + behind.width());
    vec![
        look.span("✎ ", Role::Changed),
        Span::styled(text, look.style(kind_role(edit.kind)).add_modifier(Modifier::BOLD)),
        look.span(behind, Role::Dim),
        Span::raw(" ".repeat(left)),
        look.span(pad(" new", columns.badge), Role::Changed),
    ]
}

/// Returns the badge of a value, which tells how it is known; in a fork, the fork's name where the value is new.
fn badge<'i>(view: &'i RecordView, write: &WriteRow, width: usize) -> &'i str {
    if write.badge.is_put() {
        return if width > write.badge.label().len() { write.badge.label() } else { write.badge.short() };
    }
    let fork_origin = view.opened.fork_origin.as_ref();
    let is_asked =
        write.step.is_some_and(|step| fork_origin.is_some_and(|fork_origin| fork_origin.asked.contains(&step)));
    match is_asked {
        // Away from its parent a fork has no number.
        true if view.execution == RECORDED => "new",
        true => &view.execution,
        false if width > write.badge.label().len() => write.badge.label(),
        false => write.badge.short(),
    }
}

/// Lists what follows a value: the numbers of the quantities that it is, and what it should be.
fn behind(view: &RecordView, variable: usize, write: &WriteRow, in_brief: bool, look: Look<'_>) -> Spans {
    let computed = &view.opened.computed;
    let mut spans = Vec::new();
    let taken = computed.taken.get(variable).map(Vec::as_slice).unwrap_or_default();
    if !taken.is_empty() {
        let numbers: Vec<String> = taken.iter().map(|n| superscript(n + 1)).collect();
        spans.push(look.span(format!(" {}", numbers.join(" ")), Role::Accent));
    }
    let own = view.opened.computed.value_of(variable, write.step).filter(|_| !write.badge.is_put());
    let Some(computed) = own else { return spans };
    let (role, sign) = match computed.standing.relation {
        ToRecomputed::Same => (Role::Ok, "≙"),
        ToRecomputed::NotComparable => (Role::Dim, "≙"),
        ToRecomputed::Differs => (Role::Warning, "≠"),
    };
    let Some(verb) = computed.standing.verb() else {
        spans.push(look.span(format!("  {sign}"), role));
        return spans;
    };
    let what = if in_brief { format!(" {sign} ") } else { format!("  {verb} ") };
    // A number that is a piece of its own is never cut to another one.
    spans.extend([look.span(what, role), look.span(computed.value.as_str(), role)]);
    spans
}

/// Compares the variable at the two ends of the diff.
fn change(view: &RecordView, row: &VariableRow, held: &WriteRow) -> Option<(&'static str, Role)> {
    let anchor = view.anchor.filter(|_| held.badge != Badge::NotRun)?;
    let (from, to) = (anchor.min(view.moment), anchor.max(view.moment));
    let at = |moment: Moment| row.held(moment);
    let (before, after) = (at(from), at(to).unwrap_or(held));
    let text = |write: &WriteRow| write.value.as_ref().map(|value| value.line.clone());
    Some(match before {
        Some(before) if before.from == after.from && before.step == after.step => ("=", Role::Faint),
        Some(before) if text(before).is_some() && text(before) == text(after) => ("≡", Role::Dim),
        Some(_) => ("≠", Role::Changed),
        None => ("+", Role::Added),
    })
}

fn lifeline(
    view: &RecordView,
    (variable, row): (usize, &VariableRow),
    columns: Columns,
    look: Look<'_>,
    dimmed: bool,
) -> Spans {
    let mut spans = Vec::with_capacity(columns.count * 2);
    // A step that never ran wrote and read nothing.
    let ran = |step: usize| view.opened.steps.get(step).is_none_or(|step| step.ran != Ran::No);
    let full = |step: usize| view.opened.steps.get(step).is_none_or(|step| matches!(step.ran, Ran::Yes | Ran::Unknown));
    let wrote = |write: &WriteRow| write.value.is_some() || write.step.is_none_or(full);
    let lived = || row.writes.iter().filter(|write| wrote(write));
    let blank = |n: usize| row.writes.get(n).is_some_and(|write| !wrote(write));
    let first = lived().next().map(|write| write.from.0);
    let last_read = row.readers.iter().rev().find(|reader| ran(**reader)).map(|reader| reader + 1);
    let last_write = lived().next_back().map(|write| write.from.0);
    let end = last_read.max(last_write);
    let alive = |column: usize| first.is_some_and(|first| first <= column) && end.is_some_and(|end| column < end);
    let ends_well = row.name.as_str() == FINAL_ANSWER || row.origin != VariableOrigin::Declared;
    let wrong = view.wrong.since(variable);
    for column in columns.first..columns.first + columns.count {
        let is_wrong = wrong.is_some_and(|step| column > step);
        let is_put = |write: &WriteRow| write.step.is_some() || column == 0 || write.badge == Badge::Override;
        let from = |column: usize| row.writes.partition_point(|write| write.from.0 < column);
        let here = from(column)..from(column + 1);
        let write = here.rev().find(|n| row.writes.get(*n).is_some_and(is_put));
        let badge = write.and_then(|n| row.writes.get(n)).map(|write| write.badge);
        let ghostly = column > 0 && !ran(column - 1) && badge != Some(Badge::Override);
        let reads = column > 0 && row.readers.binary_search(&(column - 1)).is_ok();
        let unresolved = column > 0 && row.unresolved.binary_search(&(column - 1)).is_ok();
        let (glyph, role) = match write {
            Some(_) if badge == Some(Badge::Override) => ("✎", Role::Changed),
            // It is declared there, and nothing was written.
            Some(n) if blank(n) => ("–", Role::Ghost),
            Some(n) => {
                let dead = row.writes.get(n).is_some_and(|write| !write.is_read) && !ends_well;
                let again = n > 0;
                match (dead, again, reads) {
                    (true, _, _) => ("◇", Role::Warning),
                    (_, true, _) => ("◆", Role::Repairable),
                    (_, _, true) => ("◈", Role::Write),
                    _ => ("◆", Role::Write),
                }
            }
            None if unresolved => ("?", Role::Fatal),
            None if reads => ("○", Role::Read),
            None if alive(column) => ("─", Role::Lifeline),
            None => (" ", Role::Lifeline),
        };
        let later = column > view.moment.0;
        let style = match () {
            () if dimmed || later || ghostly => look.style(Role::Ghost),
            () if is_wrong => look.style(Role::Fatal),
            () => look.style(role),
        };
        // The path shows without colour too.
        let glyph = if is_wrong && glyph == "─" { "━" } else { glyph };
        spans.push(Span::styled(glyph, style));
        let on = if is_wrong { "━" } else { "─" };
        let line = if alive(column) && column + 1 < columns.first + columns.count { on } else { " " };
        let quiet = match () {
            () if dimmed || column >= view.moment.0 => Role::Ghost,
            () if is_wrong => Role::Fatal,
            () => Role::Lifeline,
        };
        spans.push(look.span(line.repeat(columns.cell.saturating_sub(1)), quiet));
    }
    spans
}

/// Meanings of the signs, for the help.
pub(crate) const LEGEND: [(&str, &str); 18] = [
    ("━", "the wrong value on its way to the answer"),
    ("◆", "the step writes the variable"),
    ("○", "the step reads it"),
    ("◈", "the step reads it and writes it again"),
    ("◇", "written, never read later"),
    ("?", "read but never written"),
    ("q", "given with the question, before step 1"),
    ("✎", "override: set by a person; the recorded value follows"),
    ("–", "not run: the run ended before, or it was not run again"),
    ("r1", "new in this fork; all others are recorded values"),
    ("recorded", "known from the record, for this step"),
    ("inferred", "inferred from the final state: one step alone writes it"),
    ("≙", "the value that recomputing the step gives"),
    ("3 ≠ 7", "the step recorded 3 where recomputing gives 7; the first is bold"),
    ("█", "bar: as long as its share, or its time"),
    ("should be 7", "recomputing the step gives 7, the record says something else"),
    ("¹", "the number of the question that the variable holds"),
    ("ambiguous", "ambiguous: several steps write it, only the last value is known"),
];

/// Lists the first steps by their numbers, and how many more there are: "step 1", "steps 1, 2 and 3 more"; no text for none.
fn list(steps: impl Iterator<Item = usize>) -> String {
    let mut steps = steps.map(|step| (step + 1).to_string());
    let named: Vec<String> = steps.by_ref().take(MAX_NAMED).collect();
    match (named.as_slice(), steps.count()) {
        ([], _) => String::new(),
        ([one], 0) => format!("step {one}"),
        (_, 0) => format!("steps {}", named.join(", ")),
        (_, more) => format!("steps {} and {more} more", named.join(", ")),
    }
}

/// Explains how the value of the chosen variable is known, and what the glyphs of its row mean.
fn explain(view: &RecordView, keymap: &Keymap) -> Shown {
    let Some(row) = view.opened.variables.get(view.variables.at) else { return Shown::own("No variables") };
    let Some(held) = view.opened.write_at(view.variables.at, view.moment) else {
        return shown!("{}: has no value before its first step", row.name);
    };
    let computed = view.opened.computed.value_of(view.variables.at, held.step);
    let computed = match computed.map(|computed| computed.standing.relation) {
        Some(ToRecomputed::Differs) => "; recomputing its step gives another value (<prove>: why)",
        Some(ToRecomputed::NotComparable) => "; recomputing its step gives a number (<prove>: why)",
        Some(ToRecomputed::Same) => "; ≙ recomputing its step gives the same value",
        None => "",
    };
    let computed = keymap.keyed(computed);
    shown!("{}: {}{computed}", row.name, known(held.badge))
}

/// Explains a badge, beginning with its word.
fn known(badge: Badge) -> String {
    let (word, phrase) = (badge.label(), badge.phrase());
    if phrase.starts_with(word) { phrase.to_owned() } else { format!("{word}, {phrase}") }
}

/// Describes the chosen variable in short, for the line below the panes.
fn describe(view: &RecordView) -> String {
    let Some(row) = view.opened.variables.get(view.variables.at) else { return String::new() };
    let writers = list(row.writes.iter().filter_map(|write| write.step));
    let readers = list(row.readers.iter().copied());
    let written = match (row.origin, writers.is_empty()) {
        (VariableOrigin::Given, _) => "given with the question".to_owned(),
        (_, true) => "no known writer".to_owned(),
        (_, false) => format!("written by {writers}"),
    };
    let read = if readers.is_empty() { "never read".to_owned() } else { format!("read by {readers}") };
    let text = if row.description.as_str().is_empty() {
        String::new()
    } else {
        format!("  {}", fit(row.description.as_str(), 200))
    };
    let held = view.opened.write_at(view.variables.at, view.moment);
    let computed = view.opened.computed.value_of(view.variables.at, held.and_then(|write| write.step));
    let computed = computed.map(|computed| format!("recomputed {}   ", computed.line)).unwrap_or_default();
    let told = held.filter(|write| write.badge.is_put() || write.badge == Badge::NotRun);
    let known = told.map(|write| format!("{}, ", known(write.badge))).unwrap_or_default();
    format!("{}: {known}{computed}{written}, {read}{text}", row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(cell: usize, first: usize, count: usize, current: usize) -> String {
        let columns = Columns { name: 0, value: 0, badge: 0, cell, first, count };
        numbers(columns, current)
            .into_iter()
            .map(|(text, is_current)| if is_current { format!("[{text}]") } else { text })
            .collect()
    }

    #[test]
    fn the_numbers_of_steps_do_not_touch() {
        assert_eq!(heading(3, 0, 4, 2), "q  1  [2]  3  ");
        assert_eq!(heading(2, 0, 10, 10), "q 1 2 3 4 5 6 7 8 9 ");
        assert_eq!(heading(2, 8, 8, 11), "      [11]      15");
        assert_eq!(heading(2, 94, 12, 97), "  95  [97]    100         ");
        assert!(!heading(2, 180, 21, 200).contains("199200"));
    }
}
