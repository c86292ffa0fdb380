//! One step in full: what it reads and writes, its text, and, where they were recorded, prompt, schema and reply.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::app::open_record::{Detail, DetailValue};
use crate::screens::run::state::{RecordView, RunPane, Tab};
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, badge_role, kind_role, pane};
use crate::widgets::panes::Areas;
use crate::widgets::prose::{fit, left_out, pad, wrap_up_to, wrapped};
use crate::widgets::theme::{Role, Theme};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::run::state::Ran;

/// A value in the list takes at most so many lines; `Enter` on the variable shows it whole.
const MAX_VALUE_LINES: usize = 6;
/// The column in which what is known of a call begins.
const FACT_NAME: usize = 13;
/// Width from which on two facts of a call share a line, and the columns of the first.
const TWO_FACTS: usize = 44;
/// Lines of a reply that the step's pane has room for.
const SHORT_REPLY: usize = 12;
/// Columns between two columns of text.
const GAP: usize = 3;
/// Width of a pane from which on its long text may stand in two columns if all of it is on screen then, and from which
/// on it does in any case.
const TWO_COLUMNS: usize = 64;
const TWO_WIDE_COLUMNS: usize = 92;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let lines = content(view, &view.areas, inner_width(area), look.theme);
    let rows = Rows { top: view.detail_top, len: lines.len(), at: None };
    pane(title(view, look), rows, |n| lines.get(n).cloned().unwrap_or_default(), area, buf, look);
}

/// Draws prompt and reply of the step, one below the other, in two columns where one is too short for them.
pub(crate) fn draw_call(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let (width, height) = (inner_width(area), inner_height(area));
    let call = call(view, &view.areas, (width, height), look.theme);
    let rows = Rows { top: view.call_top, len: call.rows, at: None };
    let word = if is_reply_with_step(view, &view.areas) { "Prompt" } else { RunPane::Call.word() };
    let mut title = vec![look.span(word, Role::Title)];
    if view.step().is_none() {
        title.push(look.span("  of the procedure", Role::Dim));
    }
    let line = |n: usize| {
        let mut line = call.lines.get(n).cloned().unwrap_or_default();
        if let Some(second) = call.lines.get(n + call.second).filter(|_| call.second > 0) {
            let used: usize = line.iter().map(Span::width).sum();
            let blanks = " ".repeat((width - GAP).div_ceil(2).saturating_sub(used));
            line.extend([Span::raw(blanks), look.span(" │ ", Role::Border)]);
            line.extend(second.iter().cloned());
        }
        line
    };
    pane(title, rows, line, area, buf, look);
}

/// Counts the lines that prompt and reply take in their pane.
pub(crate) fn call_height(view: &RecordView, areas: &Areas<RunPane>, theme: &Theme) -> usize {
    call(view, areas, (areas.width(RunPane::Call), areas.height(RunPane::Call)), theme).rows
}

/// Lines of prompt and reply.
struct CallText {
    lines: Vec<Vec<Span<'static>>>,
    /// Number of lines that the first column is ahead of the second; 0 is no second.
    second: usize,
    /// Number of rows of both.
    rows: usize,
}

fn call(view: &RecordView, areas: &Areas<RunPane>, (width, height): (usize, usize), theme: &Theme) -> CallText {
    let (lines, _) = call_lines(view, areas, width, theme);
    let one = CallText { second: 0, rows: lines.len(), lines };
    if one.rows <= height || width < TWO_COLUMNS {
        return one;
    }
    let (lines, prompt) = call_lines(view, areas, (width - GAP) / 2, theme);
    let rest = lines.len().saturating_sub(height);
    // The prompt has the second column to itself where that is enough for it.
    let second = if prompt <= height && lines.len() - prompt <= height { prompt } else { height };
    if rest > height && width < TWO_WIDE_COLUMNS {
        return one;
    }
    CallText { lines, second, rows: rest.max(height) }
}

/// Lays out reply and prompt; the second is the line in which the prompt begins.
fn call_lines(
    view: &RecordView,
    areas: &Areas<RunPane>,
    width: usize,
    theme: &Theme,
) -> (Vec<Vec<Span<'static>>>, usize) {
    let mut page = StepText { lines: Vec::new(), width, theme };
    if !is_reply_with_step(view, areas) {
        page.line("reply", Role::Faint);
        page.reply(view);
        page.lines.push(Vec::new());
        page.line("prompt", Role::Faint);
    }
    let prompt = page.lines.len().saturating_sub(1);
    page.prompt(view);
    (page.lines, prompt)
}

/// Tells whether the step's pane has the reply, which leaves the column of both to the prompt: where it is short.
fn is_reply_with_step(view: &RecordView, areas: &Areas<RunPane>) -> bool {
    let has_both = [RunPane::Step, RunPane::Call].iter().all(|pane| areas.of(*pane).height > 0);
    let lines = |reply: &Shown| wrap_up_to(reply.as_str(), areas.width(RunPane::Step), SHORT_REPLY + 1).len();
    has_both && view.step().is_some() && view.detail.reply.as_ref().is_none_or(|reply| lines(reply) <= SHORT_REPLY)
}

/// Counts the lines that the content takes.
pub(crate) fn height(view: &RecordView, areas: &Areas<RunPane>, theme: &Theme) -> usize {
    content(view, areas, areas.width(RunPane::Step), theme).len()
}

/// Counts the lines of what is known before the first step, where prompt and reply have a pane of their own.
pub(crate) fn opening_height(view: &RecordView, width: usize, theme: &Theme) -> usize {
    let mut page = StepText { lines: Vec::new(), width, theme };
    page.opening(view, true);
    page.lines.len()
}

fn title(view: &RecordView, look: Look<'_>) -> Vec<Span<'static>> {
    let Some(step) = view.step().filter(|_| view.opened.has_steps()) else {
        let word = match view.opened.has_steps() {
            true => "Before step 1",
            false if view.opened.error.is_some() => "Error",
            false => "Reply",
        };
        return vec![look.span(word, Role::Title)];
    };
    let mut title = vec![look.span(format!("{} {}", RunPane::Step.word(), step + 1), Role::Title), Span::raw("  ")];
    for tab in Tab::ALL {
        let role = if tab == view.tab { Role::Accent } else { Role::Faint };
        let text = if tab == view.tab { format!("[{}]", tab.word()) } else { format!(" {} ", tab.word()) };
        title.push(look.span(text, role));
    }
    title
}

fn content(view: &RecordView, areas: &Areas<RunPane>, width: usize, theme: &Theme) -> Vec<Vec<Span<'static>>> {
    let mut page = StepText { lines: Vec::new(), width, theme };
    // Prompt and reply have a column of their own there.
    let has_call = areas.of(RunPane::Call).height > 0;
    if view.step().is_none() || !view.opened.has_steps() {
        page.opening(view, has_call);
        return page.lines;
    }
    let detail = &view.detail;
    match view.tab {
        Tab::Data => {
            page.data(view);
            if has_call {
                if is_reply_with_step(view, areas) {
                    page.section("reply", detail.reply.as_ref());
                }
                page.section("schema", detail.schema.as_ref().filter(|_| !detail.schema_in_prompt));
                page.section("as written in the procedure", detail.written.as_ref());
            }
        }
        Tab::Prompt => page.prompt(view),
        Tab::Schema if detail.prompt_rebuilt => {
            page.say("rebuilt from the record; not in a trace", Role::BadgeDoubt);
            page.text(detail.schema.as_ref(), "");
        }
        Tab::Schema => page.text(detail.schema.as_ref(), "no schema recorded for this step"),
        Tab::Reply => page.reply(view),
    }
    page.lines
}

struct StepText<'a> {
    lines: Vec<Vec<Span<'static>>>,
    width: usize,
    theme: &'a Theme,
}

impl StepText<'_> {
    fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    fn line(&mut self, text: impl Into<String>, role: Role) {
        self.lines.push(vec![Span::styled(text.into(), self.style(role))]);
    }

    fn say(&mut self, text: &'static str, role: Role) {
        self.prose(&Shown::own(text), role);
    }

    fn prose(&mut self, text: &Shown, role: Role) {
        wrapped(text.as_str(), self.width, usize::MAX).for_each(|line| self.line(line, role));
        if let Some(rest) = left_out(text.as_str()) {
            self.line(rest, Role::Warning);
        }
    }

    fn text(&mut self, text: Option<&Shown>, nothing: &'static str) {
        match text {
            Some(text) => self.prose(text, Role::Text),
            None => self.say(nothing, Role::Dim),
        }
    }

    /// Adds a text below its heading, if there is one.
    fn section(&mut self, heading: &'static str, text: Option<&Shown>) {
        if let Some(text) = text {
            self.line(heading, Role::Faint);
            self.prose(text, Role::Dim);
        }
    }

    fn prompt(&mut self, view: &RecordView) {
        if let Some(prompt) = view.edited_prompt() {
            self.say("✎ edited, not sent; v edits, r previews", Role::Changed);
            return self.text(Some(&Shown::prose(prompt.bytes())), "");
        }
        if view.detail.prompt_rebuilt {
            self.say("rebuilt from the record; not in a trace", Role::BadgeDoubt);
        }
        let nothing = if view.step().is_some() { "no prompt recorded for this step" } else { "no prompt recorded" };
        self.text(view.detail.prompt.as_ref(), nothing);
    }

    fn reply(&mut self, view: &RecordView) {
        if let Some(error) = &view.detail.error {
            self.prose(error, Role::Fatal);
        }
        let nothing = if view.step().is_some() { "no reply recorded for this step" } else { "no reply recorded" };
        self.text(view.detail.reply.as_ref(), nothing);
    }

    fn opening(&mut self, view: &RecordView, has_call: bool) {
        let opened = &view.opened;
        if opened.has_steps() {
            self.say("only the question is known", Role::Dim);
        }
        if let Some(error) = &opened.error {
            self.prose(error, Role::Fatal);
        }
        let creation = opened.creation();
        match &opened.reply {
            Some(reply) => self.prose(reply, Role::Text),
            None if opened.has_steps() || opened.error.is_some() || creation.reply.is_some() => {}
            None => self.say("no reply was recorded", Role::Dim),
        }
        self.facts("call that wrote the procedure", creation);
        if !has_call {
            self.section("reply with the procedure", creation.reply.as_ref());
            self.section("prompt for the procedure", creation.prompt.as_ref());
        }
    }

    fn data(&mut self, view: &RecordView) {
        let detail = &view.detail;
        let step = view.step().and_then(|step| view.opened.steps.get(step));
        match &detail.error {
            Some(error) => self.prose(error, Role::Fatal),
            None if step.is_some_and(|step| step.ran == Ran::No) => self.not_run(view),
            // Of the step in which a run without a trace ended, only the record's own error is known.
            None if step.is_some_and(|step| step.failed) => {
                if let Some(error) = &view.opened.error {
                    self.prose(error, Role::Fatal);
                }
            }
            None => {}
        }
        self.prose(&detail.text, Role::Text);
        self.values("reads", &detail.reads, detail.more.0);
        self.values("writes", &detail.writes, detail.more.1);
        self.facts("call", detail);
    }

    /// Lists what is known of a call, two facts a line where both fit.
    fn facts(&mut self, heading: &'static str, detail: &Detail) {
        if !detail.facts.is_empty() {
            self.line(heading, Role::Faint);
        }
        let mut facts = detail.facts.iter().peekable();
        let half = self.width.saturating_sub(2) / 2;
        let is_short = |value: &Shown| FACT_NAME + value.as_str().width() < half;
        while let Some((name, value)) = facts.next() {
            let second = facts.next_if(|(_, next)| self.width >= TWO_FACTS && is_short(value) && is_short(next));
            let Some((next_name, next)) = second else {
                self.fact(name, value);
                continue;
            };
            let (faint, dim) = (self.style(Role::Faint), self.style(Role::Dim));
            self.lines.push(vec![
                Span::styled(format!("  {}", pad(name, FACT_NAME)), faint),
                Span::styled(pad(value.as_str(), half - FACT_NAME), dim),
                Span::styled(pad(next_name, FACT_NAME), faint),
                Span::styled(next.to_string(), dim),
            ]);
        }
    }

    fn not_run(&mut self, view: &RecordView) {
        let failed = view.opened.steps.iter().position(|step| step.failed && step.ran == Ran::Failed);
        let why = match failed {
            Some(step) => shown!("– not run: the run ended in step {}", step + 1),
            None => Shown::own("– not run"),
        };
        self.prose(&why, Role::Dim);
    }

    fn fact(&mut self, name: &str, value: &Shown) {
        let (faint, dim) = (self.style(Role::Faint), self.style(Role::Dim));
        let lines = wrapped(value.as_str(), self.width.saturating_sub(FACT_NAME + 2), usize::MAX);
        for (n, line) in lines.enumerate() {
            let head = pad(if n == 0 { name } else { "" }, FACT_NAME);
            self.lines.push(vec![Span::styled(format!("  {head}"), faint), Span::styled(line.to_owned(), dim)]);
        }
    }

    fn values(&mut self, word: &'static str, values: &[DetailValue], more: usize) {
        self.line(word, Role::Faint);
        if values.is_empty() {
            self.line("  nothing", Role::Dim);
        }
        for value in values {
            self.value(value);
        }
        if more > 0 {
            self.line(format!("  … and {more} more (see global state)"), Role::Faint);
        }
    }

    fn value(&mut self, value: &DetailValue) {
        let name = fit(value.name.as_str(), self.width / 2);
        let text = value.value.as_ref().map_or(value.badge.word(), Shown::as_str);
        let role = if value.value.is_some() { kind_role(value.kind) } else { Role::BadgeDoubt };
        let one_line = !text.contains('\n') && name.len() + text.len() + 10 < self.width;
        // Where there is no value, the badge's word stands in its place.
        let known = value.badge.label();
        let badge = value.value.as_ref().map_or("", |_| known);
        let badge = Span::styled(format!("  {badge}"), self.style(badge_role(value.badge)));
        let key = Span::styled(format!("  {name}"), self.style(Role::Key));
        if one_line {
            let text = Span::styled(format!("  {text}"), self.style(role));
            return self.lines.push(vec![key, text, badge]);
        }
        self.lines.push(vec![key, badge]);
        let mut lines = wrapped(text, self.width.saturating_sub(4), usize::MAX);
        lines.by_ref().take(MAX_VALUE_LINES).for_each(|line| self.line(format!("    {line}"), role));
        let more = lines.count();
        if more > 0 {
            self.line(format!("    … {more} more lines"), Role::Faint);
        }
    }
}
