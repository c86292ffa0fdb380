//! The table of records: a row per record, the columns that fit.

use std::borrow::Cow;

use crate::app::across::Across;
use crate::app::fork_tree::ForkTree;
use crate::app::records::{has_none, name_of};
use crate::app::review::Review;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::review;
use crate::app::state::App;
use crate::screens::table::column::Column;
use crate::screens::table::preview;
use crate::screens::table::state::Table;
use crate::screens::table::state::{SortBy, SortColumn};
use crate::widgets::layout::{parts, table_height, with_third};
use crate::widgets::look::{Look, Spans, fill, put, route_sign, severity_role};
use crate::widgets::prose::{pad, pad_left, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::cause::Cause;
use stepscope_judge::hide::Hidden;
use stepscope_judge::hide::Hide;
use stepscope_judge::row::Flag;
use stepscope_judge::row::RowFacts;
use stepscope_judge::row::TypedRow;
use stepscope_judge::texts::RowTexts;
use stepscope_judge::triage::Fix;
use stepscope_present::answer::route_name;
use stepscope_record::RecordKind;
use stepscope_record::finding::Severity;
use stepscope_record::finding::counted;
use stepscope_record::models::ModelNames;
use stepscope_record::types::TypeRegistry;

/// Structured answers are no mere numbers, and some numbers are long: where the question has so many columns they take
/// more, up to so many.
const TITLE: usize = 36;
const WIDER: usize = 14;
/// From this width on all columns are there; of a table of runs and answers those of one kind alone come last.
const WIDE: usize = 116;
const WIDE_MIXED: usize = 150;
/// From this width on there is room to tell what kind a record is, and for the route of answers next to the fix of runs.
const KINDS: usize = 96;
/// Forks of forks are indented so often at most.
const MAX_DEPTH: usize = 8;

/// The kinds of records in the table: structured answers have other facts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    Runs,
    Answers,
    /// `scored`: a run has a fitness.
    Mixed {
        scored: bool,
    },
}

impl Kinds {
    fn of(store: &Store, table: &Table) -> Self {
        let listed = table.listed(store);
        match listed.typed {
            0 => Self::Runs,
            typed if typed == listed.records => Self::Answers,
            _ => Self::Mixed { scored: listed.fitness > 0 },
        }
    }
}

impl Column {
    /// Returns its word, which is true for every row below it.
    const fn word_above(self, kinds: Kinds) -> &'static str {
        match (self, kinds) {
            (Self::Kind, Kinds::Answers) => "type",
            (Self::Gold, Kinds::Answers) => "grounded",
            (Self::Fix, Kinds::Answers) => "route",
            (Self::Fitness, Kinds::Answers | Kinds::Mixed { scored: false }) => "continues",
            (Self::Steps, Kinds::Answers) => "",
            _ => self.word(),
        }
    }

    const fn sort(self) -> Option<SortBy> {
        Some(match self {
            Self::Position => SortBy::Position,
            Self::Review => SortBy::Review,
            Self::Ok => SortBy::Correct,
            Self::Kind => SortBy::Kind,
            Self::Pred => SortBy::Number(SortColumn::Pred),
            Self::Steps => SortBy::Number(SortColumn::Steps),
            Self::Fitness => SortBy::Number(SortColumn::Fitness),
            Self::Reward => SortBy::Number(SortColumn::Reward),
            Self::Confidence => SortBy::Number(SortColumn::Confidence),
            Self::Agreement => SortBy::Number(SortColumn::Agreement),
            Self::SharedValues => SortBy::Number(SortColumn::SharedValues),
            Self::Findings => SortBy::Findings,
            Self::Fix => SortBy::Fix,
            Self::Reply | Self::Gold | Self::Title | Self::Cause | Self::Model => return None,
            Self::Route | Self::Grounded | Self::Value => return None,
        })
    }
}

/// Lists the columns that fit into a width, each with its own; the title takes the rest. `screen`: all of the screen.
fn columns(width: usize, screen: Rect, store: &Store, table: &Table, review: &Review) -> Vec<(Column, usize)> {
    if let Some(chosen) = table.columns().layout(width) {
        return chosen;
    }
    let records = store.len();
    let position = records.to_string().len().max(2) + 1;
    let narrow = [(Column::Position, position), (Column::Ok, 3), (Column::Findings, 9)];
    let middle = [
        (Column::Fix, 11),
        (Column::Route, 9),
        (Column::Reward, 6),
        (Column::Pred, 10),
        (Column::Reply, 10),
        (Column::Gold, 10),
        (Column::Grounded, 8),
    ];
    let kind = [(Column::Kind, 11)];
    let wide = [(Column::Steps, 6), (Column::Fitness, 9), (Column::Confidence, 6)];
    // What no listed record has, or all alike, takes no room.
    let listed = table.listed(store);
    let is_mixed = matches!(Kinds::of(store, table), Kinds::Mixed { .. });
    let tells = |(column, _): &&(Column, usize)| match column {
        Column::Kind => listed.has_kinds(),
        // Where runs and answers are listed each kind has columns of its own.
        Column::Route => is_mixed && width >= KINDS,
        Column::Grounded => is_mixed && width >= WIDE_MIXED,
        Column::Steps | Column::Fitness if is_mixed && width < WIDE_MIXED => false,
        Column::Steps => listed.steps > 0,
        Column::Fitness => listed.fitness + listed.ends > 0,
        // The rewards of a few must not cost all others their questions.
        Column::Reward => listed.rewards > 0 && (width >= WIDE || listed.rewards * 8 >= listed.records),
        Column::Confidence => listed.confidences > 0,
        // Calls have replies in place of answers, and nothing that was expected.
        Column::Pred | Column::Gold => !listed.are_calls(),
        Column::Reply => listed.are_calls(),
        // That there is something to fix is hidden too.
        Column::Fix if !review.hide.is_empty() => true,
        Column::Fix => listed.fixes > 0 || listed.typed > 0 && !is_mixed,
        _ => true,
    };
    let mut columns = narrow.to_vec();
    if review.is_begun() {
        columns.insert(1, (Column::Review, 1));
    }
    for (least, group) in [(70, &middle[..]), (KINDS, &kind), (WIDE, &wide)] {
        if width >= least {
            columns.extend(group.iter().filter(tells));
        }
    }
    let left = |columns: &[(Column, usize)]| width.saturating_sub(columns.iter().map(|(_, width)| width + 1).sum());
    // That a run failed is said by its sign: the question tells more than a word that all others share.
    if listed.fails_alone() && left(&columns) < TITLE {
        columns.retain(|(column, _)| *column != Column::Kind);
    }
    let mut title = left(&columns);
    for (column, width) in &mut columns {
        let wanted = match column {
            // Where only answers are listed, their texts share what other columns leave.
            Column::Pred if listed.typed == listed.records && listed.typed > 0 => {
                *width + WIDER.max(title.saturating_sub(2 * TITLE))
            }
            Column::Pred if listed.typed > 0 => *width + WIDER,
            // A prompt and its reply are texts alike.
            Column::Reply => *width + title / 2,
            Column::Pred | Column::Gold => widest_number(screen, store, table, *column).min(*width + WIDER),
            _ => 0,
        };
        let spare = wanted.saturating_sub(*width).min(title.saturating_sub(TITLE));
        (*width, title) = (*width + spare, title - spare);
    }
    columns.push((Column::Title, title));
    columns
}

/// Returns the width of the widest number that a column has on screen.
fn widest_number(area: Rect, store: &Store, table: &Table, column: Column) -> usize {
    let rows = table.list.visible(table.len(store.len()), table_height(area));
    let texts = rows.filter_map(|row| table.texts(table.record(row)?));
    let texts = texts.map(|texts| if column == Column::Gold { texts.gold.as_str() } else { texts.pred.as_str() });
    texts.filter(|text| text.parse::<f64>().is_ok()).map(str::len).max().unwrap_or(0)
}

/// Draws the table.
pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    if area.height == 0 {
        return;
    }
    let (area, third) = with_third(area);
    if third.width > 0 && app.rows() > 0 {
        preview::draw(&app.store, &app.table, third, buf, look);
    }
    let inner = Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(2), ..area };
    let columns = columns(usize::from(inner.width), app.area(), &app.store, &app.table, &app.review);
    put(heading(&app.store, &app.table, &columns, look), 0, inner, buf);
    let body = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    let rows = app.rows();
    if rows == 0 {
        let why = look.keyed(nothing(&app.table, &app.across, app.store.is_empty(), has_none(&app.store)), Role::Dim);
        let lines = wrapped(&why.content, usize::from(body.width), usize::from(body.height));
        lines.enumerate().for_each(|(n, line)| put(vec![look.span(line, Role::Dim)], n + 1, body, buf));
        return;
    }
    let line = |row: usize| app.table.record(row).map(|record| cells(app, record, &columns, look)).unwrap_or_default();
    fill(app.table.list.rows(rows), line, body, buf, look);
}

/// Tells why there is no row.
fn nothing(table: &Table, across: &Across, is_empty: bool, is_read: bool) -> &'static str {
    let waiting = table.filter.sets().next().is_some() && across.is_working();
    if waiting || table.filtering.as_ref().is_some_and(|search| !search.done) {
        "searching…"
    } else if !is_empty {
        "no record matches the filter; <escape> clears it"
    } else if !is_read {
        "reading…"
    } else {
        "No records here. Try: stepscope FILE or FOLDER, or :tour for what they look like"
    }
}

/// Explains the outcome of the record under the cursor, and what the sorted column means.
pub(crate) fn explain(review: &Review, store: &Store, table: &Table) -> Option<Shown> {
    let row = store.row(table.chosen(store.len())?)?;
    let outcome = match (row.correct(), row.kind()) {
        _ if review.hidden_of(table.chosen(store.len())?).has(Hidden::Gold) => "hidden until your verdict",
        (Some(true), _) if row.is_lucky() => "≅ graded correct, though a step on the way is wrong: right by luck",
        (Some(true), _) => "✓ graded correct against the expected answer",
        (Some(false), _) => "✗ graded wrong against the expected answer",
        (None, RecordKind::Error | RecordKind::Broken) => "⊘ ended with an error, or cannot be read",
        (None, RecordKind::Typed) => "structured answer: the column route names its route, ✓ can be used",
        _ => "not graded",
    };
    let column = match table.sort {
        SortBy::Number(SortColumn::Fitness) => {
            "; fitness: score of the genetic search, higher is better, no fixed scale"
        }
        SortBy::Number(SortColumn::Reward) => "; reward: score of a verifier, mostly from 0 to 1",
        SortBy::Number(SortColumn::Confidence) => "; conf: the model's own confidence, from 0 to 1",
        SortBy::Number(SortColumn::Agreement) => "; agree: other runs of its question that give its answer (--peers)",
        SortBy::Number(SortColumn::SharedValues) => {
            "; values: share of its values on the way that other runs have (--peers)"
        }
        SortBy::Fix => "; fix: where to fix it, ↺ recomputing gives the expected answer",
        SortBy::Findings => "; findings by severity: ■ fatal, ! error, ▲ warning, • note",
        _ => "",
    };
    Some(shown!("{outcome}{column}"))
}

/// Describes what is searched for, what failed, else the record under the cursor.
pub(crate) fn describe(app: &App, look: Look<'_>) -> Spans {
    let mut line = Vec::new();
    if !app.table.filter_text.is_empty() {
        line.push(look.span("filter ", Role::Faint));
        line.push(look.span(format!("{}  ", shown!("{}", app.table.filter_text)), Role::Accent));
    }
    if let Some(search) = app.table.filtering.as_ref().filter(|search| !search.done) {
        line.push(look.span(format!("searching…  {} found  ", search.found.len()), Role::Accent));
    } else if let Some(finding) = &app.table.finding {
        let count = finding.len();
        if finding.running {
            line.push(look.span(format!("searching…  {count} found  "), Role::Accent));
        } else {
            let at = finding.nth(app.table.list.at);
            let count = at.map_or_else(|| counted(count, "record"), |at| format!("match {} of {count}", at + 1));
            line.push(look.span(format!("/{}  {count}  ", shown!("{}", finding.typed)), Role::Dim));
        }
    }
    if let Some((_, failure)) = app.store.failures.last() {
        line.push(look.span(format!("{failure}"), Role::Fatal));
    } else if line.is_empty()
        && let Some(record) = app.record()
    {
        let finding = app.table.preview(record).and_then(|opened| preview::first_finding(opened, look));
        line.extend(finding.unwrap_or_else(|| {
            let id = app.table.texts(record).map(|texts| texts.id.as_str());
            let id = id.filter(|id| app.presenting.is_none() && !is_hash(id)).unwrap_or_default();
            vec![look.span(format!("{}  {id}", name_of(&app.store, &app.forks.tree, record)), Role::Faint)]
        }));
    }
    line
}

/// Tells whether an id was calculated; such an id tells a reader nothing.
fn is_hash(id: &str) -> bool {
    id.len() >= 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn heading(store: &Store, table: &Table, columns: &[(Column, usize)], look: Look<'_>) -> Spans {
    let mut line = Vec::new();
    let kinds = Kinds::of(store, table);
    let names = table.columns().values();
    let mut names = names.iter();
    for &(column, width) in columns {
        let word = match column {
            Column::Value => names.next().map_or("", String::as_str),
            _ => column.word_above(kinds),
        };
        let sorted = column.sort() == Some(table.sort);
        let arrow = match (sorted, table.descending) {
            (true, true) => "▾",
            (true, false) => "▴",
            _ => "",
        };
        let marked = format!("{word}{arrow}");
        // The colour marks a column that has no room for the arrow.
        let text = aligned(column, if marked.width() <= width { &marked } else { word }, width);
        let style = look.style(if sorted { Role::Accent } else { Role::Faint });
        line.push(Span::styled(text, style.add_modifier(Modifier::UNDERLINED)));
        line.push(Span::styled(" ", look.style(Role::Faint).add_modifier(Modifier::UNDERLINED)));
    }
    line
}

/// Lists the columns on screen that can be sorted by, from left to right.
pub(crate) fn sorts(screen: Rect, store: &Store, table: &Table, review: &Review) -> Vec<SortBy> {
    let (place, _) = with_third(screen);
    let width = usize::from(place.width.saturating_sub(2));
    columns(width, screen, store, table, review).into_iter().filter_map(|(column, _)| column.sort()).collect()
}

/// Returns the sort of a column of the screen, for the mouse.
pub(crate) fn sort_at(screen: Rect, store: &Store, table: &Table, review: &Review, column: u16) -> Option<SortBy> {
    let (area, _) = with_third(parts(screen).body);
    let inner_width = usize::from(area.width.saturating_sub(2));
    let mut start = usize::from(area.x) + 1;
    for (known, width) in columns(inner_width, screen, store, table, review) {
        if (start..=start + width).contains(&usize::from(column)) {
            return known.sort();
        }
        start += width + 1;
    }
    None
}

fn cells(app: &App, record: usize, columns: &[(Column, usize)], look: Look<'_>) -> Spans {
    let Some(row) = app.review.shown_row(&app.store, record) else { return Vec::new() };
    let hide = app.review.hidden_of(record);
    let typed = row.typed();
    let kinds = Kinds::of(&app.store, &app.table);
    let scored = kinds == Kinds::Mixed { scored: true };
    let mut values = app.table.texts(record).map_or([].iter(), |texts| texts.values.iter());
    let mut line = Vec::new();
    for &(column, width) in columns {
        // It is the next one, hidden or not.
        let value = if column == Column::Value { values.next() } else { None };
        if is_hidden(column, hide, typed.is_some()) {
            line.push(look.span(aligned(column, sign::HIDDEN, width), Role::Faint));
        } else if column == Column::Value {
            line.push(look.span(pad(value.map_or("", Shown::as_str), width), Role::Text));
        } else if column == Column::Findings {
            line.extend(findings(&row, !hide.is_empty(), width, look));
        } else if column == Column::Fitness && typed.is_some() && scored {
            line.push(Span::raw(" ".repeat(width)));
        } else {
            let typed = typed.as_ref().and_then(|typed| typed_cell(column, typed, kinds, app.side.types()));
            let (text, role) = match (typed, column) {
                (Some((text, role)), _) => (text.into(), role),
                (None, Column::Position) => position(&app.store, &app.forks.tree, record),
                (None, Column::Review) => owned(review::strip::mark(&app.review, record)),
                (None, Column::Model) => (model(app.side.models(), &row).into(), Role::Dim),
                (None, Column::Title) => title(&app.store, &app.table, &app.forks.tree, record),
                _ => cell(&row, app.table.texts(record), column),
            };
            line.push(look.span(aligned(column, &text, width), role));
        }
        line.push(Span::raw(" "));
    }
    line
}

fn aligned(column: Column, text: &str, width: usize) -> String {
    use Column as C;
    let is_number =
        matches!(column, C::Steps | C::Fitness | C::Reward | C::Confidence | C::Agreement | C::SharedValues);
    if is_number || matches!(column, C::Position | C::Pred | C::Gold) {
        pad_left(text, width)
    } else {
        pad(text, width)
    }
}

fn owned((text, role): (String, Role)) -> (Cow<'static, str>, Role) {
    (text.into(), role)
}

/// Renders a column that tells something of the record itself.
fn cell<'a>(row: &RowFacts, texts: Option<&'a RowTexts>, column: Column) -> (Cow<'a, str>, Role) {
    let known = row.has(Flag::Checked);
    // Colour only where there is something to look at: what is right stays quiet.
    let unless_right = |role| if row.correct() == Some(true) { Role::Dim } else { role };
    let number = |value: f32| if value.is_nan() { "".into() } else { format!("{value:.2}").into() };
    match column {
        Column::Ok => {
            let (sign, role) = outcome(row);
            (format!(" {sign}").into(), role)
        }
        Column::Kind if known => (row.kind().word().into(), kind_role(row.kind())),
        Column::Pred | Column::Reply => {
            (texts.map_or("", |texts| texts.pred.as_str()).into(), unless_right(Role::Text))
        }
        Column::Gold => (texts.map_or("", |texts| texts.gold.as_str()).into(), unless_right(Role::Text)),
        Column::Steps if known => (row.step_count().map_or_else(String::new, |n| n.to_string()).into(), Role::Dim),
        Column::Fitness => (number(row.fitness()), Role::Dim),
        Column::Reward => (number(row.reward()), unless_right(Role::Number)),
        Column::Confidence => (number(row.confidence), Role::Dim),
        Column::Agreement => {
            (row.peers().map_or("".into(), |[agree, of]| format!("{agree}/{of}").into()), unless_right(Role::Number))
        }
        Column::SharedValues => (number(row.shared_values().map_or(f32::NAN, |share| share as f32)), Role::Dim),
        Column::Fix => owned(fix(row)),
        Column::Cause => (row.cause().map_or("", Cause::word).into(), Role::Warning),
        Column::Kind | Column::Steps | Column::Findings | Column::Position | Column::Review => ("".into(), Role::Faint),
        Column::Route | Column::Grounded | Column::Value | Column::Model | Column::Title => ("".into(), Role::Faint),
    }
}

/// Returns the name of the model that answered; nothing where the record names none.
fn model(models: &ModelNames, row: &RowFacts) -> String {
    row.model().and_then(|number| models.name(number)).map_or_else(String::new, Shown::into_string)
}

/// Returns the sign of the grade: correct or wrong, or ended with an error; a blank where that is unknown.
pub(crate) fn outcome(row: &RowFacts) -> (&'static str, Role) {
    match (row.correct(), row.kind()) {
        (Some(true), _) if row.is_lucky() => (sign::LUCKY, Role::Warning),
        (Some(true), _) => (sign::CORRECT, Role::Dim),
        (Some(false), _) => (sign::WRONG, Role::Fatal),
        (None, RecordKind::Error | RecordKind::Broken) if row.has(Flag::Checked) => (sign::FAILED, Role::Fatal),
        _ => (" ", Role::Faint),
    }
}

/// Returns the number of a record, or which fork it is.
fn position(store: &Store, forks: &ForkTree, record: usize) -> (Cow<'static, str>, Role) {
    match forks.fork_of(store, record) {
        Some((_, address, true)) => (forks.execution(address).into(), Role::Changed),
        Some(_) => ("r?".into(), Role::Changed),
        None => ((record + 1).to_string().into(), Role::Dim),
    }
}

/// Returns the question; of a fork what was done instead, because the question is in a row above it.
pub(crate) fn title<'a>(store: &Store, table: &'a Table, forks: &ForkTree, record: usize) -> (Cow<'a, str>, Role) {
    let question = table.texts(record).map_or("", |texts| texts.title.as_str());
    let Some((mark, address, is_placed)) = forks.fork_of(store, record) else { return (question.into(), Role::Text) };
    let Some(fork_origin) = &mark.fork_origin else {
        return (format!("a record among the forks: {question}").into(), Role::Warning);
    };
    let what = fork_origin.phrase();
    if is_placed {
        let root = forks.root_of(store, record);
        let by = fork_origin.model.as_ref().map(|model| shown!(", {}", model.line())).unwrap_or_default();
        if table.listed_row(root).is_none() {
            return (format!("fork of {}: {what}{by}", root + 1).into(), Role::Changed);
        }
        let indent = "  ".repeat(forks.depth(address).min(MAX_DEPTH).saturating_sub(1));
        return (format!("{indent}└ {what}{by}").into(), Role::Changed);
    }
    let parent = fork_origin.parent.as_ref().map(|id| shown!(" {}", id.line())).unwrap_or_default();
    (format!("parent{parent} not loaded: {what}").into(), Role::Warning)
}

/// Tells whether a column reveals what a reviewer may not want to see yet; of a structured answer it shows something
/// else.
const fn is_hidden(column: Column, hide: Hide, is_answer: bool) -> bool {
    match column {
        Column::Ok | Column::Fix | Column::Route if is_answer => hide.hides_route(),
        Column::Gold if is_answer => false,
        Column::Ok | Column::Gold => hide.has(Hidden::Gold),
        Column::Fix | Column::Agreement | Column::SharedValues => hide.hides_fix(),
        Column::Confidence => hide.has(Hidden::Confidence),
        Column::Cause | Column::Value => !hide.is_empty(),
        Column::Model => hide.has(Hidden::Model),
        _ => false,
    }
}

/// Renders a column of a structured answer; `None`: it is the same as for every record.
fn typed_cell(column: Column, typed: &TypedRow, kinds: Kinds, types: &TypeRegistry) -> Option<(String, Role)> {
    Some(match column {
        // Below the heads of runs: answers have columns of their own.
        Column::Kind | Column::Gold if kinds != Kinds::Answers => return None,
        Column::Fix if kinds != Kinds::Answers => (String::new(), Role::Dim),
        // What can be used stays quiet.
        Column::Ok => typed.route.map_or((String::new(), Role::Faint), |route| {
            let (sign, role) = route_sign(route);
            (format!(" {sign}"), if role == Role::Ok { Role::Dim } else { role })
        }),
        Column::Kind => {
            let name = typed.asked.and_then(|n| types.types().get(usize::from(n)));
            (name.map(|known| known.name.line().into_string()).unwrap_or_default(), Role::Dim)
        }
        Column::Fix | Column::Route => typed
            .route
            .map_or((String::new(), Role::Faint), |route| (route_name(route).to_owned(), route_sign(route).1)),
        Column::Gold | Column::Grounded => match typed.share() {
            None => (String::new(), Role::Dim),
            Some(share) => {
                let role = if share >= 1.0 { Role::Dim } else { Role::Fatal };
                (format!("{}/{}", typed.grounded.unwrap_or(0), typed.items), role)
            }
        },
        Column::Fitness => match typed.truncation {
            TruncationVerdict::Bounded => ("no".into(), Role::Dim),
            TruncationVerdict::Truncated => ("yes".into(), Role::Warning),
            TruncationVerdict::Unknown => (String::new(), Role::Dim),
        },
        Column::Steps => (String::new(), Role::Dim),
        _ => return None,
    })
}

/// Returns the place to fix; `↺`: recomputing gives the expected answer.
fn fix(row: &RowFacts) -> (String, Role) {
    let recovers = if row.recovers_gold() { format!(" {}", sign::RECOVERS) } else { String::new() };
    match row.fix() {
        Some(Fix::StepRun) => (format!("output{recovers}"), Role::Accent),
        Some(Fix::Procedure) => (format!("procedure{recovers}"), Role::Warning),
        Some(Fix::Gold) => (format!("expected{recovers}"), Role::Gold),
        Some(Fix::Unknown) => (format!("?{recovers}"), Role::Dim),
        Some(Fix::None) | None => (String::new(), Role::Dim),
    }
}

const fn kind_role(kind: RecordKind) -> Role {
    match kind {
        RecordKind::Error | RecordKind::Broken => Role::Fatal,
        RecordKind::Unknown => Role::Warning,
        _ => Role::Dim,
    }
}

/// Shows the findings of each severity; of a row that hides something only the severities, because its rules count once.
pub(crate) fn findings(row: &RowFacts, hides: bool, width: usize, look: Look<'_>) -> Spans {
    let mut spans = Vec::new();
    let mut left = width;
    if !row.has(Flag::Checked) {
        spans.push(look.span("…", Role::Faint));
        left -= 1;
    }
    for severity in Severity::ALL {
        let count = row.count(severity);
        let more = if count == u8::MAX { "+" } else { "" };
        let text = if hides { format!("{} ", severity.glyph()) } else { format!("{}{count}{more} ", severity.glyph()) };
        let columns = text.chars().count();
        if count > 0 && columns <= left {
            left -= columns;
            spans.push(look.span(text, severity_role(severity)));
        }
    }
    spans.push(Span::raw(" ".repeat(left)));
    spans
}
