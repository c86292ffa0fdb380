//! One step in full: what it reads and writes, its text, and, where they were recorded, prompt, schema and reply.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use crate::app::open_record::DetailValue;
use crate::screens::run::state::{RecordView, RunPane, Tab};
use crate::widgets::layout::inner_width;
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, badge_role, kind_role, pane};
use crate::widgets::prose::{fit, left_out, pad, wrapped};
use crate::widgets::theme::{Role, Theme};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::run::state::Ran;

/// A value in the list takes at most so many lines; `Enter` on the variable shows it whole.
const MAX_VALUE_LINES: usize = 6;
/// The column in which what is known of a call begins.
const FACT_NAME: usize = 13;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let lines = content(view, inner_width(area), look.theme);
    let rows = Rows { top: view.detail_top, len: lines.len(), at: None };
    pane(title(view, look), rows, |n| lines.get(n).cloned().unwrap_or_default(), area, buf, look);
}

/// Draws prompt and reply of the step, one below the other.
pub(crate) fn draw_call(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let lines = call(view, inner_width(area), look.theme);
    let rows = Rows { top: view.call_top, len: lines.len(), at: None };
    let title = vec![look.span(RunPane::Call.word(), Role::Title)];
    pane(title, rows, |n| lines.get(n).cloned().unwrap_or_default(), area, buf, look);
}

/// Counts the lines that prompt and reply take.
pub(crate) fn call_height(view: &RecordView, width: usize, theme: &Theme) -> usize {
    call(view, width, theme).len()
}

fn call(view: &RecordView, width: usize, theme: &Theme) -> Vec<Vec<Span<'static>>> {
    let mut page = StepText { lines: Vec::new(), width, theme };
    page.line("reply", Role::Faint);
    page.reply(view);
    page.lines.push(Vec::new());
    page.line("prompt", Role::Faint);
    page.prompt(view);
    page.lines
}

/// Counts the lines that the content takes.
pub(crate) fn height(view: &RecordView, width: usize, theme: &Theme) -> usize {
    content(view, width, theme).len()
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

fn content(view: &RecordView, width: usize, theme: &Theme) -> Vec<Vec<Span<'static>>> {
    let mut page = StepText { lines: Vec::new(), width, theme };
    if view.step().is_none() || !view.opened.has_steps() {
        page.opening(view);
        return page.lines;
    }
    let detail = &view.detail;
    match view.tab {
        Tab::Data => {
            page.data(view);
            // Prompt and reply have a column of their own there.
            if view.areas.of(RunPane::Call).height > 0 {
                page.section("schema", detail.schema.as_ref());
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
        self.text(view.detail.prompt.as_ref(), "no prompt recorded for this step");
    }

    fn reply(&mut self, view: &RecordView) {
        if let Some(error) = &view.detail.error {
            self.prose(error, Role::Fatal);
        }
        self.text(view.detail.reply.as_ref(), "no reply recorded for this step");
    }

    fn opening(&mut self, view: &RecordView) {
        let opened = &view.opened;
        if opened.has_steps() {
            self.say("only the question is known", Role::Dim);
        }
        if let Some(error) = &opened.error {
            self.prose(error, Role::Fatal);
        }
        match &opened.reply {
            Some(reply) => self.prose(reply, Role::Text),
            None if !opened.has_steps() && opened.error.is_none() => self.say("no reply was recorded", Role::Dim),
            None => {}
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
        if !detail.facts.is_empty() {
            self.line("call", Role::Faint);
            for (name, value) in &detail.facts {
                self.fact(name, value);
            }
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
