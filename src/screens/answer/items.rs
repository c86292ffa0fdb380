//! Items of the answer: a sign and the value of each item, and its citations with what became of them. What rests on
//! nothing comes first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::app::review::strip::role;
use crate::app::review::verdict::glyph;
use crate::screens::answer::state::{AnswerPane, AnswerRow, AnswerView, PartVerdict};
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Spans, grounding_glyph, grounding_role, line_pane, pane, route_sign};
use crate::widgets::prose::{pad, wrapped};
use crate::widgets::sign::WRONG;
use crate::widgets::theme::Role;
use stepscope_judge::route::Route;
use stepscope_present::answer::route_name;
use stepscope_review::event::AnswerPart;
use stepscope_review::event::letter;

/// Columns of the lines that a citation names.
const MAX_WRITTEN: usize = 24;

pub(crate) fn draw(answer: &AnswerView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let shown = &answer.shown;
    let mut title = vec![look.span(AnswerPane::Items.word(), Role::Title)];
    // The same count as in the table.
    if let (Some(grounded), all @ 1..) = (shown.grounded, shown.items.len()) {
        let role = if grounded == all { Role::Ok } else { Role::Warning };
        title.push(look.span(format!("  {grounded}/{all} grounded"), role));
    }
    title.extend(shown.text.iter().map(|_| look.span("  text without items", Role::Dim)));
    title.extend(shown.decided.iter().map(|(route, why)| {
        let (sign, role) = route_sign(*route);
        let why = if *route == Route::Ship { String::new() } else { format!(": {why}") };
        look.span(format!("  {sign} {}{why}", route_name(*route)), role)
    }));
    if let Some(text) = &shown.text {
        let room = inner_height(area);
        let mut lines: Vec<&str> = wrapped(text.as_str(), inner_width(area), room + 1).collect();
        if lines.len() > room {
            lines.truncate(room.saturating_sub(1));
            lines.push("… the JSON has the rest");
        }
        let rows = Rows { top: 0, len: lines.len(), at: None };
        let line = |n: usize| lines.get(n).map(|line| vec![look.span(*line, Role::Text)]).unwrap_or_default();
        pane(title, rows, line, area, buf, look);
        return;
    }
    if answer.rows.is_empty() {
        return line_pane(title, vec![look.span("no answer", Role::Dim)], area, buf, look);
    }
    let line = |row: &AnswerRow| match *row {
        AnswerRow::Item(item, line) => item_line(answer, item, line, look),
        AnswerRow::Span(span) => span_line(answer, span, look),
    };
    let rows = answer.items.rows(answer.rows.len());
    pane(title, rows, |n| answer.rows.get(n).map(line).unwrap_or_default(), area, buf, look);
}

/// Returns the sign of an item in its colour.
pub(crate) fn sign(item: usize, look: Look<'_>) -> Span<'static> {
    Span::styled(letter(item), look.theme.series(item))
}

fn item_line(answer: &AnswerView, item: usize, line: usize, look: Look<'_>) -> Spans {
    let Some(view) = answer.shown.items.get(item) else { return Vec::new() };
    let text = view.lines.get(line).map(|text| text.as_str().replace('\n', " ")).unwrap_or_default();
    if line > 0 {
        let indent = letter(item).width() + 3;
        return vec![Span::raw(" ".repeat(indent)), look.span(text, Role::Text)];
    }
    let mut line = vec![
        look.span(format!("{} ", grounding_glyph(view.standing)), grounding_role(view.standing)),
        sign(item, look),
        look.span(format!(" {} ", view.title), Role::Key),
    ];
    // My verdict has a column of its own, so that it moves nothing; its labels and what others say follow the value.
    let part = Some(AnswerPart { item: item as u64, citation: None });
    let own = answer.verdicts_of(part).find(|given| given.by.is_none());
    line.push(own.map_or(Span::raw(" "), |given| look.span(glyph(given.verdict), role(given.verdict))));
    let is_refused = answer.shown.is_refused(view);
    line.push(look.span(format!(" {text}"), if is_refused { Role::Fatal } else { Role::Text }));
    line.extend(is_refused.then(|| look.span(format!("  {WRONG}"), Role::Fatal)));
    if view.is_missing {
        line.push(look.span("  value not in the cited lines", Role::Warning));
    }
    let labels = own.map_or("", |given| given.labels.as_str());
    line.push(look.span(format!("  {labels}"), own.map_or(Role::Text, |given| role(given.verdict))));
    line.extend(own.filter(|given| !given.labels.is_empty()).map(|_| Span::raw("  ")));
    line.extend(verdict(answer, part, look).into_iter().skip(usize::from(own.is_some())));
    line
}

/// Shows the verdicts on a part, next to it: mine, then those of others.
fn verdict(answer: &AnswerView, part: Option<AnswerPart>, look: Look<'_>) -> Spans {
    let span = |given: &PartVerdict| {
        let labels = if given.labels.is_empty() { String::new() } else { format!("{}  ", given.labels) };
        let glyph = glyph(given.verdict);
        match &given.by {
            None => look.span(format!("{glyph} {labels}"), role(given.verdict)),
            Some(by) => look.span(format!("{by} {glyph} {labels} "), Role::Dim),
        }
    };
    answer.verdicts_of(part).map(span).collect()
}

fn span_line(answer: &AnswerView, span: usize, look: Look<'_>) -> Spans {
    let Some(view) = answer.shown.spans.get(span) else { return Vec::new() };
    let longest = answer.shown.spans.iter().map(|span| span.written.as_str().width()).max();
    let written = longest.unwrap_or(0).clamp(8, MAX_WRITTEN);
    let mut line = vec![
        Span::raw("    "),
        look.span(format!("{} ", grounding_glyph(view.standing)), grounding_role(view.standing)),
        look.span(pad(view.written.as_str(), written), Role::Dim),
        look.span(format!(" {}  ", view.badge), grounding_role(view.standing)),
    ];
    line.extend(verdict(answer, answer.part_of(span), look));
    line
}
