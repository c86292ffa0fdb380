//! The conversation with the model: who said what, which tools were called and what came of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::Action;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::{List, Rows};
use crate::widgets::look::{Look, Spans, tall_pane};
use crate::widgets::prose::wrapped;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::finding::counted;
use stepscope_record::messages::Message;

/// Fewest lines of a message before the rest of it is left out.
const MIN_LINES: usize = 4;
/// Columns before what a message says.
const INDENT: usize = 2;

/// The pane of the messages.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: &[Action::Open, Action::CopyStep],
    holds: |view| view.opened.conversation.is_long(),
    place: PanePlace::Own(|places| places.messages),
    settled: Some(settled),
    draw,
    describe,
    explain: |_, keymap| {
        let words = "What was asked, said and called, in order; <open> shows a message in full, with its thoughts";
        shown!("{}", keymap.keyed(words))
    },
    cursor: |view| Some(view.list(RunPane::Messages).at),
    row_at: |view, line, place, look| {
        let lines = |n| lines(view, n, place, look).len();
        Some(view.list(RunPane::Messages).row_at(line, count(view), lines))
    },
    pointer: |view| message(view).map(|message| message.pointer.clone()),
    text: |view| {
        let message = message(view)?;
        let (title, whole) = (title_of(view, message), message.whole());
        match &message.thoughts {
            Some(thoughts) => Some((title, shown!("Thoughts\n{thoughts}\n\n{whole}"))),
            None => Some((title, whole)),
        }
    },
    go: RecordView::walk_messages,
    clicked: RecordView::show_message,
    ..PaneDef::BASE
};

fn count(view: &RecordView) -> usize {
    view.opened.conversation.messages.len()
}

fn message(view: &RecordView) -> Option<&Message> {
    view.opened.conversation.messages.get(view.list(RunPane::Messages).at)
}

fn title_of(view: &RecordView, message: &Message) -> Shown {
    let role = &message.role;
    if view.opened.has_steps() { shown!("{role}, step {}", message.step + 1) } else { role.clone() }
}

fn settled(view: &RecordView, place: Rect, look: Look<'_>) -> List {
    let mut list = view.list(RunPane::Messages);
    list.settle_tall(count(view), inner_height(place), |n| lines(view, n, place, look).len());
    list
}

fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let (at, all) = (view.list(RunPane::Messages).at, count(view));
    let mut title = vec![look.span(RunPane::Messages.word(), Role::Title)];
    title.push(look.span(format!("  {}/{all}", at + 1), Role::Dim));
    if view.opened.conversation.left_out > 0 {
        let calls = counted(view.opened.conversation.left_out, "call");
        title.push(look.span(format!("  {calls} not shown: too long"), Role::Warning));
    }
    let cursor = (view.pane == RunPane::Messages).then_some(at);
    let rows = Rows { at: cursor, ..view.list(RunPane::Messages).rows(all) };
    tall_pane(title, rows, |n| lines(view, n, area, look), area, buf, look);
}

/// Describes the message under the cursor.
fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    let Some(message) = message(view) else { return Vec::new() };
    let place = look.span(format!("{}  ", message.pointer.text().line()), Role::Faint);
    vec![place, look.span(title_of(view, message).into_string(), Role::Text)]
}

/// Lays out a message: who said it and what the call took, then what it says, up to what the pane has room for.
fn lines(view: &RecordView, n: usize, place: Rect, look: Look<'_>) -> Vec<Spans> {
    let Some(message) = view.opened.conversation.messages.get(n) else { return Vec::new() };
    let (width, most) =
        (inner_width(place).saturating_sub(INDENT), inner_height(place).saturating_sub(3).max(MIN_LINES));
    let is_later = view.opened.has_steps() && message.step >= view.moment.0;
    let role = |role| if is_later { Role::Ghost } else { role };
    let mut head =
        vec![look.span(message.role.as_str(), role(if message.by_model { Role::Accent } else { Role::Key }))];
    if view.opened.has_steps() {
        head.push(look.span(format!("  step {}", message.step + 1), role(Role::Faint)));
    }
    if message.begins {
        head.push(look.span("  asked apart from what is above", role(Role::Faint)));
    }
    if !message.facts.as_str().is_empty() {
        head.push(look.span(format!("  {}", message.facts), role(Role::Faint)));
    }
    let mut all = vec![head];
    if let Some(thoughts) = &message.thoughts {
        let count = counted(thoughts.as_str().lines().count(), "line");
        all.push(vec![look.span(format!("  thoughts: {count}"), role(Role::Faint))]);
    }
    let texts = [(message.text.as_str(), Role::Text)];
    let tools = message.tools.iter().map(|tool| (tool.as_str(), Role::String));
    let texts = texts.into_iter().filter(|(text, _)| !text.is_empty()).chain(tools);
    // Of a long text no more is wrapped than there is room for.
    let said = texts.flat_map(|(text, tone)| wrapped(text, width, most + 1).map(move |line| (line, tone)));
    let said: Vec<(&str, Role)> = said.take(most + 1).collect();
    let shown = if said.len() <= most { said.len() } else { most - 1 };
    all.extend(said.iter().take(shown).map(|(line, tone)| vec![look.span(format!("  {line}"), role(*tone))]));
    if shown < said.len() {
        all.push(vec![look.keyed("  … <open> shows the rest", role(Role::Faint))]);
    }
    all
}
