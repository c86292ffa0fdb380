//! The strip of the reviews above the status line, and what is asked while reviewing.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::app::fork_tree::ForkTree;
use crate::app::log::Log;
use crate::app::review::ask::{allowed_for_label, is_passed, labels_that_fit, offered};
use crate::app::review::order::group_of;
use crate::app::review::verdict::glyph;
use crate::app::review::{
    Draft, ENOUGH, Given, KnownRecord, LABEL_KEYS, LabelPurpose, Review, ReviewDialog, ReviewField, ReviewTarget,
};
use crate::app::state::App;
use crate::dialogs::dialog::Dialog;
use crate::screens::kind::ScreenKind;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::layout::{WIDE, parts};
use crate::widgets::line::{hint, window as window_of};
use crate::widgets::list::List;
use crate::widgets::look::{Look, Spans, answer_key, clear, fit_spans, put, scroll_mark, select};
use crate::widgets::prose::{fit, flowed, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use crate::widgets::window::{centred, open, width};
use stepscope_base::canonical::Digest;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::triage::Fix;
use stepscope_record::finding::counted;
use stepscope_report::page::Said;
use stepscope_review::event::{Event, GoldStatus, ItemRef, LabelDefinition, Text, Verdict};
use stepscope_review::fold::ItemReviews;

/// Least height of a screen with a strip, and of one on which labels are chosen.
const LEAST_HEIGHT: u16 = 14;
const LEAST_TO_CHOOSE: u16 = 8;
/// Largest number of lines that labels take.
const LABEL_LINES: usize = 3;
/// The columns that a label takes around its name, and those of its name among many.
const AROUND_LABEL: usize = 9;
const LABEL_NAME: usize = 30;
/// Number of labels that the list shows, the width of its window, and the lines of a guideline below it.
const LISTED: usize = 12;
const LIST_WIDTH: u16 = 100;
const GUIDELINE_LINES: usize = 3;

impl App {
    /// The screen without the strip of the reviews.
    pub fn area(&self) -> Rect {
        // Without a review there is only something to say where somebody judged something.
        let screen = self.screens.top();
        let there = (screen == ScreenKind::Table || screen.is_of_record()) && self.review.is_begun();
        let chooses = self.review.draft.choosing;
        let least = if chooses { LEAST_TO_CHOOSE } else { LEAST_HEIGHT };
        let whole = Rect::from((Position::ORIGIN, self.size));
        if !there || self.presenting.is_some() || self.size.height < least {
            return whole;
        }
        let labels = || {
            let labels = offered(&self.review, &self.store, &self.table);
            label_lines(&self.review, &labels, &self.keymap, self.size.width).0.len()
        };
        let labels = if chooses { labels() } else { 0 };
        Rect { height: whole.height - 1 - u16::try_from(labels).unwrap_or(0), ..whole }
    }
}

/// The role of a verdict.
pub(crate) const fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Pass => Role::Ok,
        Verdict::Fail => Role::Fatal,
        Verdict::Defer => Role::Warning,
        Verdict::Skip => Role::Dim,
    }
}

pub(crate) fn strip(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    if area.height == 0 {
        return;
    }
    let look = Look { focused: true, ..look };
    let App { review, store, table, keymap, .. } = app;
    let right = right(review, &app.log, keymap, app.size.width, look);
    let width = usize::from(area.width);
    let right_width: usize = right.iter().map(Span::width).sum::<usize>().min(width / 2);
    let mut left = vec![look.span(" review ", Role::Title)];
    let (done, all) = review.progress;
    left.push(look.span(format!("{done}/{all}  "), Role::Dim));
    let group = group(review, store, table, &app.forks.tree, look);
    let is_grouped = group.is_some();
    left.extend(group);
    let wide = app.size.width >= WIDE;
    let keys = || keys(keymap, wide, |action| app.allowed(action).is_ok(), look);
    left.extend(match &review.target {
        Some(target) => {
            let mut said = of_target(review, target, wide, is_grouped, look);
            let is_open = !review.draft.choosing && (target.again || review.verdict().is_none());
            if is_open && (review.draft.is_empty() || wide) {
                said.extend(keys());
            }
            said
        }
        None if app.screens.top() == ScreenKind::Table => {
            let known = app.record().and_then(|record| review.known(record));
            known.and_then(|known| of_row(review, known, look)).unwrap_or_else(keys)
        }
        // What is open may be gone from its file; the row under the cursor of the table is another record then.
        None => Vec::new(),
    });
    put(fit_spans(left, width.saturating_sub(right_width + 1)), 0, area, buf);
    let place = Rect { x: area.right().saturating_sub(right_width as u16), width: right_width as u16, ..area };
    put(right, 0, place, buf);
    if review.draft.choosing {
        let labels = label_lines(review, &offered(review, store, table), keymap, app.size.width).0;
        for (n, line) in labels.into_iter().enumerate() {
            let spans =
                line.into_iter().map(|(text, chosen)| look.span(text, if chosen { Role::Accent } else { Role::Text }));
            put(std::iter::once(Span::raw(" ")).chain(spans).collect(), n + 1, area, buf);
        }
    }
}

/// Shows on the right whether everything is saved, and the pace of the review.
fn right(review: &Review, log: &Log, keymap: &Keymap, width: u16, look: Look<'_>) -> Spans {
    let (failed, waiting) = (log.failed_events(), log.events().count());
    let mut line = Vec::new();
    if let Some((pace, left)) = review.pace().filter(|_| width >= WIDE) {
        line.push(look.span(format!("{pace:.1} per minute, {left} min left   "), Role::Dim));
    }
    if review.since_new_label >= ENOUGH && width >= WIDE {
        line.push(look.span(format!("no new labels in {} verdicts   ", review.since_new_label), Role::Dim));
    }
    line.push(match (failed, waiting) {
        (1.., _) => {
            let key = keymap.key_of(Action::SaveAgain);
            look.span(format!("! {failed} NOT SAVED, {key} retries "), Role::Fatal)
        }
        (_, 1..) => look.span(format!("saving {waiting}… "), Role::Warning),
        _ if review.trouble.is_some() => look.span("! no review log ", Role::Fatal),
        // What is begun is not saved: the two are not said side by side.
        _ if review.saved && review.draft.is_empty() => look.span("saved ", Role::Ok),
        _ if !review.is_on() && width < WIDE => look.span("read-only ", Role::Hint),
        _ if !review.is_on() => look.span("read-only; to review, pass --reviews FILE ", Role::Hint),
        _ if !review.reviewing => look.span(":review starts a review ", Role::Hint),
        _ => Span::raw(""),
    });
    line
}

/// Tells why the record is in the queue, and how much of its group is left.
fn group(review: &Review, store: &Store, table: &Table, forks: &ForkTree, look: Look<'_>) -> Option<Span<'static>> {
    let target = review.target.as_ref().map(|target| target.record);
    let record = target.or_else(|| table.chosen(store.len()))?;
    let is_open = !review.draft.choosing && review.judged(record).mine.is_none();
    let (class, left, all) = group_of(review, store, table, forks, record).filter(|_| is_open)?;
    Some(look.span(format!("{}: {left} of {all} left  ", class.phrase()), Role::Accent))
}

/// Shows the saved verdict and the draft for the target; `is_grouped`: how many of its group are left is shown too.
fn of_target(review: &Review, target: &ReviewTarget, wide: bool, is_grouped: bool, look: Look<'_>) -> Spans {
    let mut line = Vec::new();
    if review.draft.choosing {
        let part = review.draft.part.map(|part| format!(" {}", part.phrase())).unwrap_or_default();
        line.push(look.span(format!("{} fail{part}: ", sign::REJECTED), Role::Fatal));
        line.extend(draft(review, &review.draft, look));
        return line;
    }
    let judged = review.judged(target.record);
    let mine = review.verdict().filter(|_| !target.again);
    match mine.as_ref().and_then(|event| event.verdict.map(|verdict| (event, verdict))) {
        Some((event, verdict)) => {
            line.push(look.span(format!("{} {}  ", glyph(verdict), verdict.word()), role(verdict)));
            line.extend(draft(review, &Draft::of(event), look));
            line.extend(others(review, (&target.summary.item, &target.summary.content), look));
        }
        None if target.again => line.push(look.span("repeat (self-agreement check)  ", Role::Accent)),
        None if judged.stale => {
            line.push(look.span(format!("{} changed since your review  ", sign::CHANGED), Role::Warning));
        }
        None if judged.others => {
            let is_shown = target.hidden.is_empty();
            line.extend(by_others(review, (&target.summary.item, &target.summary.content), is_shown, look));
        }
        // That more are left says it too.
        None if !wide && is_grouped => {}
        None => line.push(look.span("unreviewed  ", Role::Dim)),
    }
    line.extend(notes(review, look));
    if !review.draft.is_empty() {
        line.push(look.span("draft: ", Role::Warning));
        line.extend(draft(review, &review.draft, look));
    }
    if !target.hidden.is_empty() {
        line.push(look.span(format!("hidden: {}  ", target.hidden.phrase()), Role::Warning));
    }
    line
}

/// Says that others judged a record; verdicts that came with its page are shown, for whoever has the page has read them
/// already.
fn by_others(review: &Review, (item, content): (&ItemRef, &Digest), is_shown: bool, look: Look<'_>) -> Spans {
    let reviewed = review.find(item, content).filter(|_| is_shown);
    let events = reviewed
        .map(ItemReviews::fresh)
        .unwrap_or_default()
        .into_iter()
        .filter(|event| Said::is_carried(&event.reviewer.id));
    let mut line = Vec::new();
    for (verdict, event) in events.filter_map(|event| Some((event.verdict?, event))) {
        let name = event.reviewer.id.line().cut(24);
        line.push(look.span(format!("{name} {} {}  ", glyph(verdict), verdict.word()), role(verdict)));
        line.extend(draft(review, &Draft::of(&event), look));
    }
    if line.is_empty() { vec![look.span("reviewed by others  ", Role::Dim)] } else { line }
}

/// Shows my notes on the open record, the newest first, each with its place.
fn notes(review: &Review, look: Look<'_>) -> Spans {
    let Some(target) = &review.target else { return Vec::new() };
    let reviewed = review.find(&target.summary.item, &target.summary.content);
    let own = reviewed.into_iter().flat_map(ItemReviews::notes);
    let own: Vec<Event> = own.filter(|event| event.reviewer.id == review.me.id && event.note.is_some()).collect();
    let note = |event: &Event| {
        let place = event.place().map(|place| shown!(" on {place}")).unwrap_or_default();
        let text = event.note.as_ref().map(|note| note.line().cut(40)).unwrap_or_default();
        look.span(format!("note “{text}”{place}  "), Role::Dim)
    };
    own.iter().rev().map(note).collect()
}

/// Shows the verdicts of others, once I have given mine.
fn others(review: &Review, (item, content): (&ItemRef, &Digest), look: Look<'_>) -> Spans {
    let Some(reviewed) = review.find(item, content) else { return Vec::new() };
    let mut line = Vec::new();
    for event in reviewed.fresh() {
        let Some(verdict) = event.verdict.filter(|_| event.reviewer.id != review.me.id) else { continue };
        let name = event.reviewer.id.line().cut(16);
        line.push(look.span(format!("{name} {} {}  ", glyph(verdict), verdict.word()), Role::Dim));
    }
    line
}

/// The row under the cursor of the table. As in the open record, what I said comes first and without a name, and what
/// others said has theirs.
fn of_row(review: &Review, known: &KnownRecord, look: Look<'_>) -> Option<Spans> {
    let (judged, of) = (&known.judged, (&known.item, &known.content));
    let mut line = Vec::new();
    match (judged.mine, review.mine(&known.item, &known.content)) {
        (Some(verdict), Some(event)) => {
            line.push(look.span(format!("{} {}  ", glyph(verdict), verdict.word()), role(verdict)));
            line.extend(draft(review, &Draft::of(&event), look));
            line.extend(others(review, of, look));
        }
        _ if judged.stale => {
            line.push(look.span(format!("{} changed since your review  ", sign::CHANGED), Role::Warning));
        }
        _ if judged.others => line.extend(by_others(review, of, review.hide.is_empty(), look)),
        _ => return None,
    }
    Some(line)
}

fn gold_span(gold: GoldStatus, look: Look<'_>) -> Span<'static> {
    look.span(format!("expected: {}  ", gold.phrase()), if gold == GoldStatus::Ok { Role::Dim } else { Role::Gold })
}

fn draft(review: &Review, draft: &Draft, look: Look<'_>) -> Spans {
    let mut line = Vec::new();
    let names: Vec<String> = review.names(&draft.labels).into_iter().map(Shown::into_string).collect();
    if !names.is_empty() {
        line.push(look.span(format!("{}  ", names.join(", ")), Role::Text));
    }
    if let Some(step) = draft.step {
        line.push(look.span(format!("from step {step}  "), Role::Accent));
    }
    if let Some(target) = &draft.target {
        line.push(look.span(format!("Fix: {}  ", Fix::phrase_of(target)), Role::Accent));
    }
    line.extend(draft.gold.map(|gold| gold_span(gold, look)));
    if let Some(correction) = &draft.correction {
        line.push(look.span(format!("= {}  ", correction.line().cut(40)), Role::Ok));
    }
    if let Some(note) = &draft.note {
        line.push(look.span(format!("“{}”  ", note.line().cut(60)), Role::Dim));
    }
    line
}

/// Shows the first keys, where there is nothing else to show.
fn keys(keymap: &Keymap, wide: bool, is_allowed: impl Fn(Action) -> bool, look: Look<'_>) -> Spans {
    const KEYS: [(Action, &str); 5] = [
        (Action::Pass, "pass"),
        (Action::Fail, "fail"),
        (Action::Defer, "defer"),
        (Action::Note, "note"),
        (Action::GoldStatus, "expected"),
    ];
    let mut line = Vec::new();
    let room = if wide { KEYS.len() } else { 3 };
    for (n, (action, word)) in KEYS.into_iter().take(room).enumerate() {
        // A number names an item of the answer: that is nearer than putting the record off.
        if n == 2 && is_allowed(Action::PassPart) {
            line.push(look.span(format!("1{}", keymap.key_of(Action::Pass)), Role::HintKey));
            line.push(look.span(" item A  ", Role::Hint));
        }
        if is_allowed(action) {
            line.push(look.span(keymap.key_of(action), Role::HintKey));
            line.push(look.span(format!(" {word}  "), Role::Hint));
        }
    }
    line
}

/// The labels that have a key, as lines: each text, and whether it is chosen; and how many they are.
pub(crate) fn label_lines(
    review: &Review,
    offered: &[LabelDefinition],
    keymap: &Keymap,
    width: u16,
) -> (Vec<Vec<(String, bool)>>, usize) {
    let set = review.label_set();
    let room = usize::from(width).saturating_sub(2);
    let all = |longest: usize| {
        let piece = |(n, label): (usize, &LabelDefinition)| {
            let chosen = review.is_chosen(label, &set);
            let sign = if chosen { "[x]" } else { "[ ]" };
            (format!("{} {sign} {}   ", n + 1, fit(label.name.line().as_str(), longest)), chosen)
        };
        flowed(offered.iter().take(LABEL_KEYS).enumerate().map(piece), room)
    };
    let mut lines = all(room.saturating_sub(AROUND_LABEL));
    // Names are cut only where they would leave others no room.
    if lines.len() > LABEL_LINES {
        lines = all(LABEL_NAME);
        lines.truncate(LABEL_LINES);
    }
    let mut shown: usize = lines.iter().map(Vec::len).sum();
    let Some(last) = lines.last_mut() else { return (lines, shown) };
    let more = |shown: usize| format!("+{} more: {}", set.labels.len() - shown, keymap.key_of(Action::FindLabel));
    if shown < set.labels.len() {
        let mut used: usize = last.iter().map(|(text, _)| text.width()).sum();
        while used + more(shown).width() > room
            && let Some((text, _)) = last.pop()
        {
            used -= text.width();
            shown -= 1;
        }
        last.push((more(shown), false));
    }
    (lines, shown)
}

/// The glyph of my verdict on a record, in the table.
pub(crate) fn mark(review: &Review, record: usize) -> (String, Role) {
    let Some(known) = review.known(record) else { return (String::new(), Role::Faint) };
    match known.judged.mine {
        Some(verdict) => (glyph(verdict).to_owned(), role(verdict)),
        None if known.judged.stale => (sign::CHANGED.to_owned(), Role::Warning),
        None if known.judged.others => (sign::BY_OTHERS.to_owned(), Role::Dim),
        None => (String::new(), Role::Faint),
    }
}

// What is asked.

fn title(review: &Review, field: &ReviewField) -> Shown {
    let target = review.target.as_ref();
    match field {
        ReviewField::Note => Shown::own(" note: "),
        ReviewField::Correction => Shown::own(" correct answer: "),
        ReviewField::Step => match target.and_then(|target| target.step) {
            Some(step) => shown!(" first wrong step (suggested: {step}): "),
            None => Shown::own(" first wrong step: "),
        },
        ReviewField::Rename(id) => {
            let name = review.label_set().labels.into_iter().find(|label| label.id == *id).map(|label| label.name);
            shown!(" rename {} to: ", name.unwrap_or_default().line().cut(30))
        }
    }
}

/// The column of the cursor in the line that is typed; `None`: no line is typed.
pub(crate) fn cursor(dialog: Option<&Dialog>, review: &Review, area: Rect) -> Option<u16> {
    let Dialog::Review(ReviewDialog::Line { field, line, .. }) = dialog?.own() else { return None };
    let head = title(review, field);
    let (_, before) = window_of(line, room(&head, area));
    Some(area.x + u16::try_from(head.as_str().width() + before).unwrap_or(0).min(area.width.saturating_sub(1)))
}

fn room(head: &Shown, area: Rect) -> usize {
    usize::from(area.width).saturating_sub(head.as_str().width() + 1)
}

/// Draws what is asked; `bottom` is the line of the keys, `status` the one above it.
pub(crate) fn ask(app: &App, ask: &ReviewDialog, [area, status, bottom]: [Rect; 3], buf: &mut Buffer, look: Look<'_>) {
    match ask {
        ReviewDialog::Line { field, line, proposed, refused, .. } => {
            let head = title(&app.review, field);
            let (text, _) = window_of(line, room(&head, bottom));
            clear(bottom, buf);
            buf.set_style(bottom, look.style(Role::StatusBar));
            let role = if *proposed { Role::Dim } else { Role::Text };
            let mut spans = vec![look.span(head.into_string(), Role::HintKey), look.span(text, role)];
            spans.extend(hint(line, *proposed).map(|hint| look.keyed(hint, Role::Hint)));
            put(spans, 0, bottom, buf);
            if let Some(why) = refused {
                answer_key(why.as_str(), Role::Warning, status, buf, look);
            }
        }
        // The first line stays: it names what is in front.
        ReviewDialog::Labels { purpose, line, list } => {
            labels(app, (purpose, line, *list), parts(area).body, buf, look);
        }
        ReviewDialog::Confirm { records, given } => {
            let (title, question, more, rest) = match given {
                Given::Label(label) => (
                    "Label all",
                    shown!(
                        " fail {} with {}?",
                        counted(records.iter().filter(|record| !is_passed(&app.review, **record)).count(), "record"),
                        label.name.line().cut(40)
                    ),
                    Shown::own(match app.table.carried() {
                        [] => " records you passed are unchanged",
                        _ => " unchanged: records you passed, forks that do not fit the filter",
                    }),
                    Shown::default(),
                ),
                Given::Same(same) => {
                    let labels = app.review.names(&same.labels);
                    let labels = labels.iter().map(Shown::as_str).collect::<Vec<_>>().join(", ");
                    let labels = if labels.is_empty() { labels } else { format!(" with {}", fit(&labels, 30)) };
                    let number = counted(records.len(), "more record");
                    let question = shown!(" {} {number}{labels}, as the last one?", same.verdict.word());
                    let rule = shown!(" {} comes first in all of them, at whatever step", same.rule);
                    ("Same rule first", question, rule, Shown::own(" a note, step or place to fix is not copied"))
                }
            };
            let height = if rest.as_str().is_empty() { 5 } else { 6 };
            let inner = open(vec![look.span(title, Role::Title)], centred(area, 74, height), buf, look);
            put(vec![look.span(question.into_string(), Role::Text)], 0, inner, buf);
            put(vec![look.span(more.into_string(), Role::Dim)], 1, inner, buf);
            let mut keys = vec![look.span(" y", Role::HintKey), look.span(" yes   ", Role::Hint)];
            if matches!(given, Given::Same(_)) {
                keys.extend([look.span("f", Role::HintKey), look.span(" show them first   ", Role::Hint)]);
            }
            keys.push(look.span("any other key: no", Role::Hint));
            put(vec![look.span(rest.as_str(), Role::Dim)], 2, inner, buf);
            put(keys, usize::from(inner.height).saturating_sub(1), inner, buf);
        }
    }
}

fn labels(
    app: &App,
    (purpose, line, list): (&LabelPurpose, &tui_input::Input, List),
    area: Rect,
    buf: &mut Buffer,
    look: Look<'_>,
) {
    let fits = labels_that_fit(&app.screens, &app.across, &app.review, &app.store, &app.table);
    let guideline = fits.get(list.at).and_then(|label| label.guideline.as_ref()).map(Text::line);
    let width = width(area, LIST_WIDTH);
    let guideline = guideline.as_ref().map(Shown::as_str).unwrap_or_default();
    let guideline: Vec<&str> = wrapped(guideline, usize::from(width.saturating_sub(4)), GUIDELINE_LINES).collect();
    let height = u16::try_from(fits.len().clamp(1, LISTED) + 3 + guideline.len()).unwrap_or(8);
    let heading = match purpose {
        LabelPurpose::Give | LabelPurpose::Decide => Shown::own("Labels"),
        LabelPurpose::All(records) => shown!("Label for {}", counted(records.len(), "record")),
        LabelPurpose::MergeInto(from) => {
            let set = app.review.label_set();
            let name = set.labels.iter().find(|label| label.id == *from).map(|label| &label.name);
            shown!("Merge {} into", name.unwrap_or(&Text::default()).line().cut(30))
        }
    };
    let title = vec![look.span(heading.into_string(), Role::Title)];
    let place = centred(area, width, height);
    let inner = open(title, place, buf, look);
    let (text, _) = window_of(line, usize::from(inner.width).saturating_sub(3));
    put(vec![look.span("> ", Role::HintKey), look.span(format!("{text}▏"), Role::Text)], 0, inner, buf);
    let set = app.review.label_set();
    let room = usize::from(inner.height).saturating_sub(1 + guideline.len());
    for (row, text) in guideline.iter().enumerate() {
        put(vec![look.span(*text, Role::Dim)], 1 + room + row, inner, buf);
    }
    let first = (list.at + 1).saturating_sub(room);
    scroll_mark(place, first, fits.len() + 1 + guideline.len(), buf, look);
    for (row, (n, label)) in fits.iter().enumerate().skip(first).take(room).enumerate() {
        let chosen = match purpose {
            LabelPurpose::Give => app.review.is_chosen(label, &set),
            LabelPurpose::Decide => app.kept.adjudication.has(app.across.judged.as_deref(), &label.id),
            LabelPurpose::MergeInto(_) | LabelPurpose::All(_) => false,
        };
        let sign = if chosen { "[x] " } else { "[ ] " };
        put(vec![look.span(format!("{sign}{}", label.name.line()), Role::Text)], row + 1, inner, buf);
        if n == list.at {
            select(row + 1, inner, buf, look);
        }
    }
    if fits.is_empty() {
        let can_create = allowed_for_label(app.screens.dialog.as_ref(), &fits, Action::NewLabel).is_ok();
        let create = can_create.then(|| (line.value().trim(), app.keymap.key_of(Action::Open)));
        put(vec![without_label(create, usize::from(inner.width), look)], 1, inner, buf);
    }
}

/// Says what opening does where no label fits.
fn without_label(create: Option<(&str, String)>, width: usize, look: Look<'_>) -> Span<'static> {
    let Some((typed, key)) = create else { return look.span("no matching label", Role::Dim) };
    let name = Shown::line(typed.as_bytes());
    look.span(fit(&format!("{key} creates the label {name}"), width), Role::Accent)
}
