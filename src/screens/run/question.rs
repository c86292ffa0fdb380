//! The task's text, with the expected answer and the given one in the title.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::open_record::OpenRecord;
use crate::screens::run::pane::{OF_QUESTION, RunPane};
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::state::RecordView;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::look::{Look, Spans, fit_spans, frame, scroll_mark, title_room};
use crate::widgets::prose::{fit, hanging};
use crate::widgets::theme::Role;
use crate::widgets::{look, prose};
use stepscope_base::json::Pointer;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_present::computed::QuantityMark;
use stepscope_record::paint::MarkedRange;

/// Lines of an answer below the question.
const MAX_ANSWER: usize = 3;
/// Columns of a title that are not its text.
const TITLE: u16 = 7;
/// Places of the values in the title, those first that are never left out for another one.
const BY_WEIGHT: [usize; 5] = [0, 3, 4, 2, 1];

/// The pane of the question.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: OF_QUESTION,
    place: PanePlace::Own(|places| places.question),
    lines: |view, _| view.question_lines(view.areas.width(RunPane::Question)),
    draw,
    describe,
    explain: |_, keymap| {
        let words = "Numbers carry the mark of the variable that uses them; <left> and <right> walk them";
        shown!("{}", keymap.keyed(words))
    },
    pointer: |_| Some(Pointer::from_iter(["question"])),
    text: |view| Some((Shown::own("question"), view.opened.question.clone())),
    sideways: RecordView::walk_quantities,
    ..PaneDef::BASE
};

/// The pane of the expected answer as the data set works it out.
pub(crate) const WORKED: PaneDef = PaneDef {
    actions: OF_QUESTION,
    holds: |view| view.opened.worked.is_some(),
    place: PanePlace::Own(|places| places.worked),
    otherwise: Some(RunPane::Question),
    lines: |view, _| worked_lines(view, view.areas.width(RunPane::Worked)),
    draw: draw_worked,
    describe,
    explain: |_, _| Shown::own("The expected answer as the data set works it out (gold)"),
    pointer: |view| {
        let gold = view.opened.root().and_then(|root| root.get("gold_answer"));
        gold.map(|_| Pointer::from_iter(["gold_answer"]))
    },
    text: |view| Some((Shown::own("expected answer (gold)"), view.opened.worked.clone()?)),
    ..PaneDef::BASE
};

/// Describes how fit the procedure was found.
fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    let fitness = view.opened.fitness.as_ref();
    fitness.map(|fitness| look.span(format!("fitness {fitness}"), Role::Dim)).into_iter().collect()
}

/// Counts the lines that the worked answer takes.
fn worked_lines(view: &RecordView, width: usize) -> usize {
    view.opened.worked.as_ref().map_or(0, |text| prose::wrap(text.as_str(), width).len())
}

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let opened = &view.opened;
    let lines = view.question_lines(inner_width(area));
    let below = answer_below(view, area.width, look);
    let below = if lines + below.len() <= inner_height(area) { below } else { Vec::new() };
    let mut title = title(view, below.is_empty(), title_room(area, look), look);
    title.extend(
        prose::left_out(opened.question_text().as_str()).map(|rest| look.span(format!("   {rest}"), Role::Warning)),
    );
    if look.focused && view.answer.is_none() && !opened.computed.marks.is_empty() {
        title.push(look.keyed("   <left> <right> numbers", Role::Faint));
    }
    let inner = frame(title, area, buf, look);
    let (text, role) = match &opened.error {
        Some(error) if opened.question.as_str().is_empty() => (error, Role::Fatal),
        _ => (opened.question_text(), Role::Question),
    };
    let question = PaneText { text, style: look.style(role), marks: &marks(view, look) };
    draw_text(&question, (view.list(RunPane::Question).top, lines), below, inner, buf);
    scroll_mark(area, view.list(RunPane::Question).top, lines, buf, look);
}

/// Text of a pane, its style and its marks.
struct PaneText<'t> {
    text: &'t Shown,
    style: Style,
    marks: &'t [MarkedRange<Style>],
}

/// Draws a text from a line on, and what is below it; a text that goes on ends in `…`.
fn draw_text(text: &PaneText<'_>, (top, len): (usize, usize), below: Vec<Spans>, inner: Rect, buf: &mut Buffer) {
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let lines = prose::lines(text.text, width, top..top + height, text.style, text.marks);
    let mut lines: Vec<Spans> = lines.into_iter().map(|line| line.spans).collect();
    if top + height < len {
        let end = Span::styled(" …", text.style);
        if let Some(last) = lines.last_mut() {
            *last = fit_spans(std::mem::take(last), width.saturating_sub(end.width()));
            last.extend(last.last().is_none_or(|span| !span.content.ends_with('…')).then_some(end.clone()));
        }
    }
    for (row, line) in lines.into_iter().chain(below).enumerate() {
        look::put(line, row, inner, buf);
    }
}

/// Lays out the answer below the question, where it is too long for the title.
pub(crate) fn answer_below(view: &RecordView, width: u16, look: Look<'_>) -> Vec<Spans> {
    let used: usize = title(view, true, usize::MAX, look).iter().map(Span::width).sum();
    match answer(&view.opened) {
        Some((text, role)) if used > usize::from(width.saturating_sub(TITLE)) => {
            let head = vec![look.span("answer ", Role::Dim)];
            let lines = hanging(head, text, look.style(role), &[], Some(usize::from(width.saturating_sub(4))));
            if lines.len() > MAX_ANSWER { Vec::new() } else { lines }
        }
        _ => Vec::new(),
    }
}

/// Returns the final answer, in the role of a right or a wrong one.
pub(crate) fn answer(opened: &OpenRecord) -> Option<(&str, Role)> {
    let role = match opened.correct {
        Some(true) => Role::Ok,
        Some(false) => Role::Fatal,
        None => Role::Text,
    };
    opened.answer.as_ref().or(opened.pred.as_ref()).map(|answer| (answer.as_str(), role))
}

/// Builds the title: the answer takes the room that the values leave which it is compared with.
fn title(view: &RecordView, with_answer: bool, room: usize, look: Look<'_>) -> Spans {
    let opened = &view.opened;
    let recovered = opened.where_to_fix.as_ref().and_then(|fix| {
        let name = if fix.corrected { "corrected" } else { "recomputed" };
        Some((name, fix.recovered.as_ref()?.as_str(), if fix.recovers_gold { Role::Ok } else { Role::Text }))
    });
    let part = |name: &str, value: &str, role| (format!("   {name} "), value.to_owned(), role);
    let own = |name, value: &Option<Shown>, role| value.as_ref().map(|value| part(name, value.as_str(), role));
    let mut parts = [
        own("expected", &opened.gold, Role::Gold),
        answer(opened).filter(|_| with_answer).map(|(answer, role)| part("answer", &answer.replace('\n', " "), role)),
        own("baseline", &opened.baseline, Role::Text),
        recovered.map(|(name, value, role)| part(name, value, role)),
        own("labelled", &opened.labelled, Role::Gold),
    ];
    let word = RunPane::Question.word();
    let mut left = room.saturating_sub(word.len());
    for n in BY_WEIGHT {
        let Some(part) = parts.get_mut(n) else { continue };
        *part = part.take().and_then(|(name, value, role)| {
            let value = fit(&value, left.checked_sub(name.len())?);
            let value = Some(value).filter(|value| !value.is_empty() && value != "…")?;
            left -= name.len() + value.width();
            Some((name, value, role))
        });
    }
    let mut title = vec![look.span(word, Role::Title)];
    let spans = |(name, value, role)| [look.span(name, Role::Dim), look.span(value, role)];
    title.extend(parts.into_iter().flatten().flat_map(spans));
    title
}

/// Draws the expected answer as the data set works it out.
fn draw_worked(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let Some(worked) = &view.opened.worked else { return };
    let title = vec![look.span(RunPane::Worked.word(), Role::Title)];
    let inner = frame(title, area, buf, look);
    let lines = worked_lines(view, inner_width(area));
    let text = PaneText { text: worked, style: look.style(Role::Text), marks: &[] };
    draw_text(&text, (view.list(RunPane::Worked).top, lines), Vec::new(), inner, buf);
    scroll_mark(area, view.list(RunPane::Worked).top, lines, buf, look);
}

/// Marks the quantities: those that the chosen variable uses are lit, those that nothing uses are underlined.
fn marks(view: &RecordView, look: Look<'_>) -> Vec<MarkedRange<Style>> {
    let lit = view.lit_quantities();
    let quantities = view.opened.computed.marks.iter().enumerate();
    let style = |n: usize, mark: &QuantityMark| match (lit.contains(&n), mark.variables.is_empty()) {
        (true, _) => Some(look.style(Role::CitedCurrent)),
        (_, false) => Some(look.style(Role::Cited)),
        (_, true) if mark.sure && view.opened.has_steps() => {
            Some(look.style(Role::Warning).add_modifier(Modifier::UNDERLINED))
        }
        _ => None,
    };
    quantities.filter_map(|(n, mark)| Some(MarkedRange { range: mark.range.clone(), tone: style(n, mark)? })).collect()
}
