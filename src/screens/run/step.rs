//! One step in full: what it reads and writes, its text, and, where they were recorded, prompt, schema and reply.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::state::{RecordView, Tab, WithStep};
use crate::screens::run::steps;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Spans, badge_role, kind_role, pane, title_span_at};
use crate::widgets::prose::{fit, left_out, pad, wrap_up_to, wrapped};
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_present::steps::Detail;
use stepscope_present::steps::DetailValue;
use stepscope_record::RecordKind;
use stepscope_record::finding::counted;
use stepscope_record::state::Ran;

/// A value in the list takes at most so many lines, and so many where room is short and the reply says it again;
/// `Enter` on the variable shows it whole.
const MAX_VALUE_LINES: usize = 6;
const SHORT_VALUE_LINES: usize = 2;
/// The column in which what is known of a call begins.
const FACT_NAME: usize = 12;
/// Width from which on two facts of a call share a line, and the columns of the first.
const TWO_FACTS: usize = 44;
/// Lines of a reply that the step's pane has room for.
const SHORT_REPLY: usize = 12;
/// Columns between two columns of text.
const GAP: usize = 3;
/// Most columns of a long text, and the least width of each: if all of the text is on screen then, and in any case.
const MAX_COLUMNS: usize = 3;
const NARROW: usize = 26;
const BROAD: usize = 32;

impl WithStep {
    /// Shares where prompt and reply have a column of their own and all the room that they need.
    pub(crate) const USUAL: Self = Self { reply: false, written: true, dense: false, value_lines: MAX_VALUE_LINES };
}

/// The pane of one step in full.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: OF_CALL,
    place: PanePlace::Own(|places| places.step),
    from_findings: Some(|rows| rows * 3 / 5),
    lines: height,
    draw,
    describe: steps::describe,
    explain: steps::explain,
    text: |view| {
        if view.opened.has_steps() {
            return view.text_of_step();
        }
        let reply = view.opened.reply.as_ref().map(|reply| (Shown::own("reply"), reply.clone()));
        reply.or_else(|| view.chosen_variable())
    },
    can_edit: |view| view.tab == Tab::Prompt,
    sideways: RecordView::walk_tabs,
    ..PaneDef::BASE
};

/// The pane of prompt and reply.
pub(crate) const CALL: PaneDef = PaneDef {
    actions: OF_CALL,
    holds: |view| view.opened.prepared.has_calls,
    place: PanePlace::Own(|places| places.call),
    otherwise: Some(RunPane::Step),
    lines: call_height,
    draw: draw_call,
    describe: steps::describe,
    explain: steps::explain,
    ..PaneDef::BASE
};

/// Actions that a step and its call are for.
const OF_CALL: &[Action] = &[Action::Edit, Action::Rerun, Action::RerunSamples, Action::CopyStep];

fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let lines = content(view, inner_width(area), look);
    let rows = Rows { top: view.list(RunPane::Step).top, len: lines.len(), at: None };
    pane(title(view, look), rows, |n| lines.get(n).cloned().unwrap_or_default(), area, buf, look);
}

/// Draws prompt and reply of the step, one below the other, in several columns where one is too short for them.
fn draw_call(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let (width, height) = (inner_width(area), inner_height(area));
    let call = call(view, view.with_step, (width, height), look);
    let rows = Rows { top: view.list(RunPane::Call).top, len: call.rows, at: None };
    let word = if view.with_step.reply { "Prompt" } else { RunPane::Call.word() };
    let mut title = vec![look.span(word, Role::Title)];
    if view.step().is_none() {
        title.push(look.span("  of the procedure", Role::Dim));
    }
    let line = |n: usize| {
        let mut line: Spans = Vec::new();
        for column in 0..call.columns {
            if column > 0 {
                let used: usize = line.iter().map(Span::width).sum();
                let end = (column * (width + GAP)).div_ceil(call.columns) - GAP;
                line.extend([Span::raw(" ".repeat(end.saturating_sub(used))), look.span(" │ ", Role::Border)]);
            }
            line.extend(call.lines.get(n + column * height).into_iter().flatten().cloned());
        }
        line
    };
    pane(title, rows, line, area, buf, look);
}

/// Counts the lines that prompt and reply take in their pane.
fn call_height(view: &RecordView, look: Look<'_>) -> usize {
    call_height_with(view, view.with_step, look)
}

fn call_height_with(view: &RecordView, with_step: WithStep, look: Look<'_>) -> usize {
    let room = (view.areas.width(RunPane::Call), view.areas.height(RunPane::Call));
    call(view, with_step, room, look).rows
}

/// Lines of prompt and reply.
struct CallText {
    lines: Vec<Spans>,
    /// Number of columns, each as many lines behind the one before as the pane has.
    columns: usize,
    /// Number of rows of all columns.
    rows: usize,
}

fn call(view: &RecordView, with_step: WithStep, (width, height): (usize, usize), look: Look<'_>) -> CallText {
    let in_columns = |columns: usize| {
        let (mut lines, prompt) = call_lines(view, with_step, (width + GAP) / columns - GAP, look);
        let last = (columns - 1) * height;
        // The prompt has the last column to itself where that is enough for it.
        if prompt < last && lines.len() - prompt <= height {
            lines.splice(prompt..prompt, std::iter::repeat_n(Vec::new(), last - prompt));
        }
        let rest = lines.len().saturating_sub(last);
        CallText { columns, rows: if columns > 1 { rest.max(height) } else { rest }, lines }
    };
    // The fewest columns that hold all of it, else those that hold the largest part: of short lines many, of prose few.
    let most = |least: usize| ((width + GAP) / (least + GAP)).clamp(1, MAX_COLUMNS);
    let texts = (1..=most(NARROW)).map(in_columns);
    let texts = texts.filter(|text| text.rows <= height || text.columns <= most(BROAD));
    let hidden = |text: &CallText| if text.rows <= height { 0 } else { text.lines.len().div_ceil(text.columns) };
    least_hidden(texts, hidden).unwrap_or_else(|| in_columns(1))
}

/// The first of the ways that hides the fewest lines; none is tried behind one that hides nothing.
fn least_hidden<T>(ways: impl IntoIterator<Item = T>, hidden: impl Fn(&T) -> usize) -> Option<T> {
    let mut best: Option<(usize, T)> = None;
    for way in ways {
        let lines = hidden(&way);
        if best.as_ref().is_none_or(|(fewest, _)| lines < *fewest) {
            best = Some((lines, way));
        }
        if lines == 0 {
            break;
        }
    }
    best.map(|(_, way)| way)
}

/// Lays out reply and prompt; the second is the line in which the prompt begins.
fn call_lines(view: &RecordView, with_step: WithStep, width: usize, look: Look<'_>) -> (Vec<Spans>, usize) {
    let mut page = StepText::new(width, look);
    if !with_step.reply {
        page.line("reply", Role::Faint);
        page.reply(view);
        page.lines.push(Vec::new());
        page.line("prompt", Role::Faint);
    }
    let prompt = page.lines.len().saturating_sub(1);
    page.prompt(view);
    if !with_step.written {
        page.lines.push(Vec::new());
        page.written(view, with_step.dense);
    }
    (page.lines, prompt)
}

/// Shares reply and step as written among the step's pane and the column of prompt and reply: a short reply and what is
/// written are with the step, unless less is hidden another way: in the other pane, or in fewer lines.
pub(crate) fn share(view: &RecordView, look: Look<'_>) -> WithStep {
    let areas = &view.areas;
    let [step, call] = [RunPane::Step, RunPane::Call].map(|pane| (areas.width(pane), areas.height(pane)));
    let has_both = [RunPane::Step, RunPane::Call].iter().all(|pane| areas.of(*pane).height > 0);
    if !has_both || view.step().is_none() {
        return WithStep::USUAL;
    }
    let detail = &view.detail;
    let lines = |reply: &Shown| wrap_up_to(reply.as_str(), step.0, SHORT_REPLY + 1).len();
    let is_short = detail.reply.as_ref().is_none_or(|reply| lines(reply) <= SHORT_REPLY);
    // What is longer than both panes is hidden in part in any case, and slow to lay out in every way.
    let texts = [&detail.prompt, &detail.reply, &detail.written].into_iter().flatten();
    if texts.map(|text| text.as_str().len()).sum::<usize>() > step.0 * step.1 + call.0 * call.1 {
        return WithStep { reply: is_short, ..WithStep::USUAL };
    }
    let repeated = if detail.reply.is_some() { SHORT_VALUE_LINES } else { MAX_VALUE_LINES };
    let room = [(false, MAX_VALUE_LINES), (true, MAX_VALUE_LINES), (true, repeated)];
    let ways = [is_short, !is_short].into_iter().flat_map(|reply| {
        let ways = room.into_iter().flat_map(|room| [true, false].map(|written| (room, written)));
        ways.map(move |((dense, value_lines), written)| WithStep { reply, written, dense, value_lines })
    });
    let hidden = |way: &WithStep| {
        let step_lines = data(view, *way, step.0, look).len();
        let call_lines = call_height_with(view, *way, look);
        step_lines.saturating_sub(step.1) + call_lines.saturating_sub(call.1)
    };
    least_hidden(ways, hidden).unwrap_or(WithStep::USUAL)
}

/// Counts the lines that the content takes.
fn height(view: &RecordView, look: Look<'_>) -> usize {
    content(view, view.areas.width(RunPane::Step), look).len()
}

/// Tells whether a place holds all of prompt and reply.
pub(crate) fn holds_call(view: &RecordView, place: Rect, look: Look<'_>) -> bool {
    let (width, height) = (inner_width(place), inner_height(place));
    call(view, WithStep::USUAL, (width, height), look).rows <= height
}

/// Counts the lines of what is known before the first step, where prompt and reply have a pane of their own.
pub(crate) fn opening_height(view: &RecordView, width: usize, look: Look<'_>) -> usize {
    let mut page = StepText::new(width, look);
    page.opening(view, true);
    page.lines.len()
}

/// Number of spans in the title before the tabs.
const BEFORE_TABS: usize = 2;

fn title(view: &RecordView, look: Look<'_>) -> Spans {
    let Some(step) = view.step().filter(|_| view.opened.has_steps()) else {
        let word = match view.opened.has_steps() {
            true => "Before step 1",
            false if view.opened.error.is_some() => "Error",
            false => "Reply",
        };
        let why = no_steps(view).filter(|_| !view.opened.has_steps());
        let why = why.map(|why| look.span(format!("  {why}"), Role::Dim));
        return [look.span(word, Role::Title)].into_iter().chain(why).collect();
    };
    let mut title = vec![look.span(format!("{} {}", RunPane::Step.word(), step + 1), Role::Title), Span::raw("  ")];
    for tab in Tab::ALL {
        let role = if tab == view.tab { Role::Accent } else { Role::Faint };
        let text = if tab == view.tab { format!("[{}]", tab.word()) } else { format!(" {} ", tab.word()) };
        title.push(look.span(text, role));
    }
    title
}

/// Explains why there are no steps, where there could be some.
fn no_steps(view: &RecordView) -> Option<&'static str> {
    Some(match view.opened.kind {
        RecordKind::Baseline => "no procedure: one model call",
        RecordKind::Error if view.opened.where_to_fix.as_ref().is_some_and(|fix| fix.step.is_some()) => {
            "the record does not hold its procedure"
        }
        RecordKind::Error => "run ended before there was a procedure",
        _ => return None,
    })
}

/// Finds the tab whose name is at a place of the screen.
pub(crate) fn tab_at(view: &RecordView, at: Position, look: Look<'_>) -> Option<Tab> {
    let mut panes = view.areas.on_screen(view.pane, look);
    let (_, area, look) = panes.find(|(pane, ..)| *pane == RunPane::Step)?;
    let span = title_span_at(&title(view, look), area, look, at)?;
    Tab::ALL.get(span.checked_sub(BEFORE_TABS)?).copied()
}

fn content(view: &RecordView, width: usize, look: Look<'_>) -> Vec<Spans> {
    let mut page = StepText::new(width, look);
    // Prompt and reply have a column of their own there.
    let has_call = view.areas.of(RunPane::Call).height > 0;
    if view.step().is_none() || !view.opened.has_steps() {
        page.opening(view, has_call);
        return page.lines;
    }
    match view.tab {
        Tab::Data if has_call => return data(view, view.with_step, width, look),
        Tab::Data => page.data(view),
        Tab::Prompt => page.prompt(view),
        Tab::Schema if view.detail.prompt_rebuilt => {
            page.say("rebuilt from the record; not in a trace", Role::BadgeDoubt);
            page.text(view.detail.schema.as_ref(), "");
        }
        Tab::Schema => page.text(view.detail.schema.as_ref(), "no schema recorded for this step"),
        Tab::Reply => page.reply(view),
    }
    page.lines
}

/// Lays out the data of a step where prompt and reply have a pane of their own.
fn data(view: &RecordView, with_step: WithStep, width: usize, look: Look<'_>) -> Vec<Spans> {
    let mut page = StepText { value_lines: with_step.value_lines, ..StepText::new(width, look) };
    let detail = &view.detail;
    page.data(view);
    if with_step.reply {
        page.section("reply", detail.reply.as_ref());
    }
    page.section("schema", detail.schema.as_ref().filter(|_| !detail.schema_in_prompt));
    if with_step.written {
        page.written(view, with_step.dense);
    }
    page.lines
}

struct StepText<'a> {
    lines: Vec<Spans>,
    width: usize,
    /// Most lines of a value.
    value_lines: usize,
    look: Look<'a>,
}

impl<'a> StepText<'a> {
    fn new(width: usize, look: Look<'a>) -> Self {
        Self { lines: Vec::new(), width, value_lines: MAX_VALUE_LINES, look }
    }

    fn style(&self, role: Role) -> Style {
        self.look.style(role)
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

    fn written(&mut self, view: &RecordView, dense: bool) {
        let text = if dense { &view.detail.written_dense } else { &view.detail.written };
        self.section("as written in the procedure", text.as_ref());
    }

    fn prompt(&mut self, view: &RecordView) {
        if let Some(prompt) = view.edited_prompt() {
            let keys = self.look.keymap.keyed("✎ edited, not sent; <edit> edits, <rerun> previews");
            self.prose(&shown!("{keys}"), Role::Changed);
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
        let creation = &opened.prepared.creation;
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
            None if step.is_some_and(|step| step.ran == Ran::Unknown) => {
                self.prose(&Shown::own(steps::UNAVAILABLE), Role::Dim);
            }
            // Of the step in which a run without a trace ended, only the record's own error is known.
            None if step.is_some_and(|step| step.failed) => {
                if let Some(error) = &view.opened.error {
                    self.prose(error, Role::Fatal);
                }
            }
            None => {}
        }
        self.prose(&detail.text, Role::Text);
        self.values(("reads", detail.unrecorded.0), &detail.reads, detail.more.0);
        self.values(("writes", detail.unrecorded.1), &detail.writes, detail.more.1);
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

    /// Lists values below a word; that there are none is only said where they would be recorded.
    fn values(&mut self, (word, is_unrecorded): (&'static str, bool), values: &[DetailValue], more: usize) {
        self.line(word, Role::Faint);
        if values.is_empty() {
            self.line(if is_unrecorded { "  not recorded" } else { "  nothing" }, Role::Dim);
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
        lines.by_ref().take(self.value_lines).for_each(|line| self.line(format!("    {line}"), role));
        let more = lines.count();
        if more > 0 {
            self.line(format!("    … {}", counted(more, "more line")), Role::Faint);
        }
    }
}
