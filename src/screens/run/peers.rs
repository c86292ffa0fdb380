//! Values of the steps next to what other runs of the question have in their place: a sign a peer, and the values
//! themselves, those of the chosen peer first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

use crate::screens::run::pane::RunPane;
use crate::screens::run::pane_def::{PaneDef, PanePlace};
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::layout::{inner_height, split_rows};
use crate::widgets::list::List;
use crate::widgets::look::{Look, Spans, fill, frame, put, scroll_mark};
use crate::widgets::prose::{fit, pad};
use crate::widgets::sign::Meaning;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::aligned::{AlignedValue, Counterpart};
use stepscope_present::peers::PeersView;

/// PeerColumns of a value: at least, and at most.
const VALUE: (usize, usize) = (8, 26);
/// PeerColumns of a peer's value at most.
const PEER: usize = 22;

/// Signs that no other pane has; the others are those of differences.
pub(crate) const LEGEND: [Meaning; 3] = [
    ("≈", "a peer has the same number, worked out from other numbers"),
    ("⊂", "a peer joins the same numbers, in one calculation with others"),
    ("□", "looked for in a peer, and nothing was found; no sign: not compared"),
];

/// The pane of the peers.
pub(crate) const PANE: PaneDef = PaneDef {
    actions: &[Action::NextPeer, Action::PreviousPeer, Action::Open, Action::Explain],
    holds: |view| view.opened.peers.is_some(),
    place: PanePlace::Chart,
    // Above the steps is a heading, below them the answer.
    lines: |view, _| view.opened.peers.as_ref().map_or(0, |peers| peers.rows() + 1),
    settled: Some(settled),
    draw,
    describe,
    explain,
    cursor: RecordView::step,
    row_at: |view, line, _, _| {
        let row = view.list(RunPane::Peers).top + line.checked_sub(1)?;
        Some(row).filter(|row| *row < view.opened.steps.len())
    },
    text: RecordView::text_of_peers,
    can_edit: |_| true,
    go: RecordView::walk_in_list,
    sideways: RecordView::walk_peers,
    ..PaneDef::BASE
};

/// Keeps the current step on screen, with the answer below the last one.
fn settled(view: &RecordView, place: Rect, _: Look<'_>) -> List {
    let rows = view.opened.peers.as_ref().map_or(0, PeersView::rows);
    let at = view.moment.0.saturating_sub(1);
    let is_last = at + 2 == rows;
    let mut list = List { at: if is_last { at + 1 } else { at }, ..view.list(RunPane::Peers) };
    list.settle(rows, inner_height(place).saturating_sub(1));
    List { at, ..list }
}

/// Shares of the columns in the width.
struct PeerColumns {
    number: usize,
    value: usize,
    signs: usize,
    count: usize,
    /// PeerColumns of each peer whose values are on screen, the chosen one first.
    peers: Vec<(usize, usize)>,
}

impl PeerColumns {
    fn of(view: &RecordView, peers: &PeersView, width: usize) -> Self {
        let number = view.opened.steps.len().to_string().len() + 1;
        let rows = || (0..peers.rows()).filter_map(|row| peers.value(row));
        let (least, most) = VALUE;
        let value = rows().map(|value| value.shown().as_str().width()).max().unwrap_or(0);
        let value = value.clamp(least, most.min(width / 3).max(least)) + 1;
        let signs = peers.signs();
        let mut left = width.saturating_sub(number + value + signs);
        let count = rows().map(|value| count_text(value).0.width() + 1).max().unwrap_or(0).max(5);
        let count = if left >= count { count } else { 0 };
        left -= count;
        let mut columns = Vec::new();
        for peer in (view.peer..peers.names().len()).chain(0..view.peer) {
            let cells = rows().filter_map(|value| Some(cell(value, *value.counterparts.get(peer)?)));
            let name = peers.short_name(peer);
            let wanted = cells.map(|cell| cell.width()).chain([name.as_str().width()]).max().unwrap_or(0).min(PEER) + 1;
            if wanted > left + 1 && (left < VALUE.0 || !columns.is_empty()) {
                break;
            }
            columns.push((peer, wanted.min(left)));
            left = left.saturating_sub(wanted);
        }
        Self { number, value, signs, count, peers: columns }
    }
}

/// Writes a value with the step that it is in: `≠ 12 (1)`.
fn cell(value: &AlignedValue, counterpart: Counterpart) -> String {
    let step = counterpart.step().map_or_else(String::new, |step| format!(" ({})", step + 1));
    match counterpart {
        Counterpart::Same { .. } | Counterpart::Elsewhere { .. } => {
            format!("{} {}{step}", counterpart.sign(), value.value.shown())
        }
        Counterpart::Other { value, .. } | Counterpart::Units { value, .. } => {
            format!("{} {}{step}", counterpart.sign(), value.shown())
        }
        Counterpart::Within { .. } | Counterpart::Missing | Counterpart::Unread => {
            format!("{}{step}", counterpart.sign())
        }
    }
}

/// Says how many peers of those that could be compared have a value, and whether they differ among themselves.
fn count_text(value: &AlignedValue) -> (String, Role) {
    let counts = value.counts();
    match (counts.of, counts.is_split) {
        (0, _) => (String::new(), Role::Faint),
        (of, true) => (format!("{}/{of} split", counts.same), Role::Warning),
        (of, false) => (format!("{}/{of}", counts.same), Role::Number),
    }
}

const fn role_of(counterpart: Counterpart) -> Role {
    match counterpart {
        Counterpart::Same { .. } | Counterpart::Units { .. } => Role::Ok,
        Counterpart::Other { .. } => Role::Warning,
        Counterpart::Elsewhere { .. } | Counterpart::Within { .. } => Role::Text,
        Counterpart::Missing | Counterpart::Unread => Role::Faint,
    }
}

/// Draws a sign for each peer, for the value of a step, in so many columns.
pub(crate) fn signs(value: Option<&AlignedValue>, width: usize, look: Look<'_>) -> Spans {
    let counterparts = value.map_or(&[][..], |value| value.counterparts.as_slice());
    let mut spans: Spans = Vec::with_capacity(width);
    let shown = counterparts.iter().take(width.saturating_sub(1));
    spans.extend(shown.map(|one| look.span(one.sign(), role_of(*one))));
    let rest = width.saturating_sub(spans.len());
    spans.push(Span::raw(" ".repeat(rest)));
    spans
}

fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let Some(peers) = &view.opened.peers else { return };
    let inner = frame(title(view, peers, look), area, buf, look);
    let columns = PeerColumns::of(view, peers, usize::from(inner.width));
    put(heading(view, peers, &columns, look), 0, inner, buf);
    let (_, body) = split_rows(inner, 1);
    let mut rows = view.list(RunPane::Peers).rows(peers.rows());
    rows.at = view.step();
    fill(rows, |row| line(view, peers, row, &columns, look), body, buf, look);
    let (_, below_heading) = split_rows(area, 1);
    scroll_mark(below_heading, rows.top, rows.len, buf, look);
}

fn title(view: &RecordView, peers: &PeersView, look: Look<'_>) -> Spans {
    let mut title = vec![look.span(RunPane::Peers.word(), Role::Title)];
    match peers.leaves {
        Some(step) => title.push(look.span(format!("  leaves them in step {}", step + 1), Role::Fatal)),
        None => title.push(look.span(format!("  {}", peers.says), Role::Dim)),
    }
    if let Some(name) = peers.names().get(view.peer) {
        let (number, of) = (view.peer + 1, peers.names().len());
        title.push(look.span(format!("  {number}/{of} {}", name.last_part()), Role::Accent));
    }
    title
}

/// Names the columns: over the signs the peers by number, the chosen one marked.
fn heading(view: &RecordView, peers: &PeersView, columns: &PeerColumns, look: Look<'_>) -> Spans {
    let mut line =
        vec![look.span(pad("", columns.number), Role::Faint), look.span(pad("this run", columns.value), Role::Faint)];
    let shown = peers.names().len().min(columns.signs.saturating_sub(1));
    for peer in 0..shown {
        let text = ((peer + 1) % 10).to_string();
        line.push(if peer == view.peer {
            Span::styled(text, look.style(Role::Current).add_modifier(Modifier::UNDERLINED))
        } else {
            look.span(text, Role::Faint)
        });
    }
    line.push(Span::raw(" ".repeat(columns.signs - shown)));
    line.push(look.span(pad(if columns.count > 0 { "same" } else { "" }, columns.count), Role::Faint));
    for (peer, width) in &columns.peers {
        let name = peers.short_name(*peer);
        let role = if *peer == view.peer { Role::Current } else { Role::Faint };
        line.push(look.span(pad(&fit(name.as_str(), width.saturating_sub(1)), *width), role));
    }
    line
}

fn line(view: &RecordView, peers: &PeersView, row: usize, columns: &PeerColumns, look: Look<'_>) -> Spans {
    let digits = columns.number - 1;
    let is_step = row < view.opened.steps.len();
    let number = if is_step { format!("{:>digits$} ", row + 1) } else { pad("", columns.number) };
    let mut line = vec![look.span(number, Role::Faint)];
    let Some(value) = peers.value(row) else { return line };
    let is_first = is_step && peers.leaves == Some(row);
    let style = look.style(if is_first { Role::Fatal } else { Role::Text });
    let style = if is_first { style.add_modifier(Modifier::BOLD) } else { style };
    // Further values of the step are in its text.
    let more = peers.values_of(row).len().saturating_sub(1);
    let more = if more > 0 { format!(" +{more}") } else { String::new() };
    let room = columns.value.saturating_sub(1);
    let text = fit(value.shown().as_str(), room.saturating_sub(more.width())) + &more;
    line.push(Span::styled(pad(&text, columns.value), style));
    line.extend(signs(Some(value), columns.signs, look));
    if columns.count > 0 {
        let (text, role) = count_text(value);
        line.push(look.span(pad(&text, columns.count), role));
    }
    for (peer, width) in &columns.peers {
        let counterpart = value.counterparts.get(*peer).copied().unwrap_or(Counterpart::Unread);
        let text = fit(&cell(value, counterpart), width.saturating_sub(1));
        line.push(look.span(pad(&text, *width), role_of(counterpart)));
    }
    line
}

/// Describes what the chosen peer has in the place of the current step's values.
fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    let Some((peers, step)) = view.opened.peers.as_ref().zip(view.step()) else {
        return vec![look.span("Before step 1", Role::Dim)];
    };
    let Some(name) = peers.names().get(view.peer) else { return Vec::new() };
    let mut said = Vec::new();
    for value in peers.values_of(step) {
        if let Some(counterpart) = value.counterparts.get(view.peer) {
            said.push(shown!("{}: {}", value.shown(), value.phrase(*counterpart)));
        }
    }
    if said.is_empty() {
        return vec![look.span(format!("Step {} has no value that could be read", step + 1), Role::Dim)];
    }
    vec![
        look.span(format!("{}  ", name.last_part()), Role::Accent),
        look.span(Shown::listed(said, usize::MAX).into_string(), Role::Text),
    ]
}

/// Explains the row under the cursor in one sentence.
fn explain(view: &RecordView, keymap: &Keymap) -> Shown {
    let walk = shown!("{} {} walk the peers", keymap.key_of(Action::PreviousPeer), keymap.key_of(Action::NextPeer));
    let value = view.step().and_then(|step| view.opened.peers.as_ref()?.value(step));
    let Some(value) = value else { return shown!("Nothing of this step can be compared with its peers; {walk}") };
    let counts = value.counts();
    let split = if counts.is_split { "; they differ among themselves" } else { "" };
    shown!(
        "{} of {} peers that could be compared have this value, {} another{split}; {walk}",
        counts.same,
        counts.of,
        counts.other
    )
}
