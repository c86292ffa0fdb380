//! The first line of the screen and the last two: where we are, what the cursor is on, which keys work, and what is being
//! typed there.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::app::forks::Forks;
use crate::app::model_choice::Mode;
use crate::app::offered::key_name;
use crate::app::records::{disk_news, fork_count, name_of, percent, place_of, skipped, title};
use crate::app::state::App;
use crate::app::views;
use crate::dialogs::dialog::{FilterCount, Prompt, PromptPurpose, Rest};
use crate::screens::kind::ScreenKind;
use crate::screens::run::state::RecordView;
use crate::screens::stack::Focus;
use crate::screens::table::state::Table;
use crate::widgets::keymap::Keymap;
use crate::widgets::keymap::{Action, BINDINGS, Binding, Key};
use crate::widgets::line::{hint, window};
use crate::widgets::look::{Look, Spans, answer_key, clear, fit_spans, put, route_sign, severity_role, shade};
use crate::widgets::prose::fit;
use crate::widgets::theme::Role;
use crate::widgets::window::open;
use crate::widgets::{keymap, layout, look, prose, sign};
use stepscope_io::config::views::NamedView;
use stepscope_io::pipeline::store::Store;
use stepscope_judge::triage::Confidence;
use stepscope_judge::triage::Fix;
use stepscope_present::answer::route_name;
use stepscope_record::finding::Severity;
use stepscope_record::finding::counted;
use stepscope_record::finding::grouped;

/// Draws the first line: the breadcrumb on the left, a summary on the right.
pub(crate) fn header(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    if area.height == 0 {
        return;
    }
    shade(area, buf, look.style(Role::StatusBar));
    // Hidden while presenting: viewers would read it as an error.
    let is_hidden = app.presenting.is_some() && app.models.mode() == Mode::Offline;
    let name = app.models.name().filter(|_| !is_hidden);
    let area = name.map_or(area, |name| model(name.as_str(), app.size.width >= layout::WIDE, area, buf, look));
    let width = usize::from(area.width);
    let (crumbs, front) = breadcrumb(app, look);
    let columns = |spans: &[Span<'static>]| spans.iter().map(Span::width).sum::<usize>();
    let wanted = columns(&crumbs) + columns(&front);
    let mut right = summary(app, false, look);
    if wanted + columns(&right) + 2 > width {
        right = summary(app, true, look);
    }
    // A verdict matters more than where we are, and that more than totals.
    let is_verdict = app.screens.top().is_of_record();
    let least = if is_verdict { width * 2 / 3 } else { width / 2 };
    let most = width.saturating_sub(wanted + 2).max(least.min(width.saturating_sub(columns(&front) + 3)));
    let right_width = columns(&right).min(most);
    let left_width = width.saturating_sub(right_width + 2).max(12);
    // The name of what is in front stays whole, whatever else is cut.
    let mut left = fit_spans(crumbs, left_width.saturating_sub(columns(&front)));
    left.extend(front);
    put(fit_spans(left, left_width), 0, area, buf);
    let start = width.saturating_sub(right_width + 1).max(left_width + 1).min(width);
    let place = Rect { x: area.x + start as u16, width: area.width - start as u16, ..area };
    put(fit_spans(right, width - start), 0, place, buf);
}

/// Sums up what is on screen; in brief, where other places say the rest too.
fn summary(app: &App, in_brief: bool, look: Look<'_>) -> Spans {
    let news = app.log.news().map(|news| look.span(format!("{news}   "), Role::Fatal));
    let rest = match (app.screens.record(), app.screens.top()) {
        (_, ScreenKind::SideBySide) => Vec::new(),
        (Some(view), screen) if screen.is_of_record() => {
            let is_told = app.size.width >= layout::WIDE && !in_brief && view.opened.fork_origin.is_none();
            let kind = is_told.then(|| look.span(format!("{}   ", view.opened.kind.phrase()), Role::Dim));
            let execution = execution(&app.forks, &app.store, view, in_brief, look);
            let news = disk_news(&app.store).map(|news| look.span(format!("{news}   "), Role::Warning));
            let about = news.into_iter().chain(kind).chain([execution]);
            about.chain(verdict(view, in_brief, look)).collect()
        }
        _ => {
            let App { store, table, views, screens, review, .. } = app;
            totals(store, table, views.in_force(table), screens.top(), review.hide.is_empty(), look)
        }
    };
    news.into_iter().chain(rest).collect()
}

/// The model that answers, once one is chosen, at the very end; the place that is left.
fn model(name: &str, wide: bool, area: Rect, buf: &mut Buffer, look: Look<'_>) -> Rect {
    let text = format!(" {} ", fit(name, if wide { 40 } else { 16 }));
    let width = u16::try_from(text.width()).unwrap_or(0).min(area.width / 3);
    let place = Rect { x: area.right() - width, width, ..area };
    put(vec![look.span(text, Role::Live)], 0, place, buf);
    Rect { width: area.width - width, ..area }
}

/// Builds the breadcrumb: the source, the record, and last the name of what is in front, which is never cut.
fn breadcrumb(app: &App, look: Look<'_>) -> (Spans, Spans) {
    let arrow = || look.span(" ▸ ", Role::Faint);
    let wide = app.size.width >= layout::WIDE;
    let mut line = vec![look.span(if wide { " stepscope" } else { " " }, Role::Title)];
    if wide {
        line.push(arrow());
    }
    let screen = app.screens.top();
    let record = app.screens.record().filter(|_| screen.is_of_record());
    let there = record.filter(|view| view.lost.is_none() && view.opened.index < app.store.len());
    let name = there.map_or_else(
        || title(&app.store, app.models.samples),
        |view| name_of(&app.store, &app.forks.tree, view.opened.index),
    );
    // Which record it is matters more than the file; the table names that.
    let is_named = wide || record.is_none();
    if is_named {
        line.push(look.span(fit(name.as_str(), if wide { 40 } else { 20 }), Role::Text));
    }
    if let Some(view) = record {
        line.extend(is_named.then(arrow));
        line.push(match there {
            Some(_) => look.span(place_of(&app.store, &app.table, &app.forks.tree, view.opened.index), Role::Text),
            // The file has been cut or replaced; what was read is still on screen.
            None if app.screens.is_looked_for() => look.span("looked for", Role::Warning),
            None => look.span("deleted", Role::Warning),
        });
    }
    let mut front = vec![arrow()];
    let word = match (screen, app.screens.attempt(), record) {
        (ScreenKind::Rerun, Some(attempt), _) if attempt.chooses_for.is_some() => "choose a model".to_owned(),
        (ScreenKind::Rerun, Some(attempt), _) if !attempt.is_answer() => {
            format!("re-run step {}/{}", attempt.step + 1, attempt.steps)
        }
        (ScreenKind::Run, _, Some(view)) if view.opened.has_steps() => {
            format!("step {}/{}", view.moment.0, view.opened.steps.len())
        }
        (ScreenKind::SideBySide, ..) => {
            let place =
                app.screens.side_by_side().map(|sides| place_of(&app.store, &app.table, &app.forks.tree, sides.record));
            format!("{}  {}", screen.word(), place.unwrap_or_default())
        }
        _ => screen.word().to_owned(),
    };
    let is_moving = matches!(screen, ScreenKind::Run | ScreenKind::Rerun | ScreenKind::Live);
    front.push(look.span(word, if is_moving { Role::Current } else { Role::Text }));
    if let Some(dialog) = &app.screens.dialog {
        front.extend([arrow(), look.span(dialog.word(), Role::Accent)]);
    }
    (line, front)
}

fn verdict(view: &RecordView, in_brief: bool, look: Look<'_>) -> Spans {
    let opened = &view.opened;
    let mut line = Vec::new();
    if opened.has_trace && !in_brief {
        line.push(look.span("trace   ", Role::Badge));
    }
    if let Some(reward) = opened.reward.as_ref().filter(|_| !in_brief) {
        line.push(look.span(format!("reward {}   ", fit(reward.as_str(), 8)), Role::Text));
    }
    let sides = match (&opened.pred, &opened.gold) {
        (Some(pred), Some(gold)) if opened.correct == Some(false) && !in_brief => {
            format!(": {}, expected {}", fit(pred.as_str(), 14), fit(gold.as_str(), 14))
        }
        _ => String::new(),
    };
    match opened.correct {
        Some(true) if opened.is_lucky => {
            line.push(look.span(format!("{} correct by luck   ", sign::LUCKY), Role::Warning));
        }
        Some(true) => line.push(look.span(format!("{} correct   ", sign::CORRECT), Role::Ok)),
        Some(false) => line.push(look.span(format!("{} wrong{sides}   ", sign::WRONG), Role::Fatal)),
        None if opened.error.is_some() => line.push(look.span(format!("{} run failed   ", sign::FAILED), Role::Fatal)),
        None => {}
    }
    if let Some(verdict) = opened.where_to_fix.as_ref().filter(|verdict| verdict.fix != Fix::None) {
        let is_told = verdict.confidence != Confidence::Sure && verdict.fix != Fix::Unknown;
        let text = if is_told { format!(" ({})", verdict.confidence.word()) } else { String::new() };
        let step = verdict.step.filter(|_| verdict.fix == Fix::StepRun);
        let step = step.map(|step| format!(", step {}", step + 1)).unwrap_or_default();
        let text = format!("Fix: {}{step}{text}", verdict.phrase);
        line.push(look.span(format!("{text}   "), Role::Accent));
    }
    line.extend(opened.route.map(|route| {
        let (sign, role) = route_sign(route);
        look.span(format!("{sign} {}   ", route_name(route)), role)
    }));
    line.extend(counts(view.counts(), look));
    // A note may be about the plan alone.
    let differs =
        view.opened.divergence().filter(|_| opened.correct == Some(true) && view.counts().starts_with(&[0; 3]));
    line.extend(differs.map(|step| look.span(format!("≠ step {} ", step + 1), Role::Dim)));
    line
}

/// Names the execution on screen: the record as recorded, or its fork.
fn execution(forks: &Forks, store: &Store, view: &RecordView, in_brief: bool, look: Look<'_>) -> Span<'static> {
    let index = view.opened.index;
    match store.address(index).filter(|_| view.lost.is_none()) {
        Some(address) if forks.tree.root(address).is_some() => {
            look.span(format!("fork {}   ", forks.tree.execution(address)), Role::Changed)
        }
        _ if view.opened.fork_origin.is_some() => look.span("fork   ", Role::Changed),
        // That a record is as it was recorded goes without saying where there is little room.
        _ if in_brief => Span::raw(""),
        _ => look.span("recorded   ", Role::Badge),
    }
}

pub(crate) fn counts(counts: [usize; 4], look: Look<'_>) -> Spans {
    let mut line: Spans = Severity::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(severity, count)| look.span(format!("{} {count} ", severity.glyph()), severity_role(severity)))
        .collect();
    if line.is_empty() {
        line.push(look.span("no findings ", Role::Dim));
    }
    line
}

fn totals(
    store: &Store,
    table: &Table,
    view: Option<&NamedView>,
    screen: ScreenKind,
    is_told: bool,
    look: Look<'_>,
) -> Spans {
    let mut line = Vec::new();
    line.extend(disk_news(store).map(|news| look.span(format!("{news}   "), Role::Warning)));
    let forks = fork_count(store);
    // Forks that are listed with their record although they do not fit are counted apart.
    let (carried, all) = (table.carried().len(), store.len());
    let rows = table.len(store.len()) - carried;
    let is_whole = table.is_natural() || rows == all;
    let shown =
        if is_whole { counted(all - forks, "record") } else { format!("{} of {}", grouped(rows), grouped(all)) };
    line.push(look.span(format!("{shown}   "), Role::Text));
    line.extend(
        view.filter(|_| screen == ScreenKind::Table)
            .map(|view| look.span(format!("view {}   ", views::name_of(&view.name)), Role::Accent)),
    );
    if carried > 0 {
        line.push(look.span(format!("+ {}   ", counted(carried, "fork")), Role::Dim));
    } else if forks > 0 && is_whole {
        line.push(look.span(format!("{}   ", counted(forks, "fork")), Role::Dim));
    }
    // In front of the table it is more important where one is.
    if let Some(skipped) = skipped(store).filter(|_| screen == ScreenKind::Table) {
        line.push(look.span(format!("{skipped}   "), Role::Dim));
    }
    let percent = percent(store);
    if let Some(percent) = percent {
        line.push(look.span(format!("checking {percent} %   "), Role::Accent));
    }
    let found = if is_told { store.totals().with } else { [0; 4] };
    let is_any_found = found.iter().any(|count| *count > 0);
    // Rows count findings with the same signs; here records are counted that have one.
    let of_all = if is_whole { "with findings: " } else { "in all: " };
    line.extend(is_any_found.then(|| look.span(of_all, Role::Dim)));
    // That there are none is known at the end; while something is hidden, the counts would tell of it.
    if is_any_found || all > 0 && percent.is_none() && is_told {
        line.extend(counts(found, look));
    }
    line
}

/// Draws the line above the keys: the answer to the last key, else what the cursor is on. Returns how many lines more
/// it took above.
pub(crate) fn status(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) -> u16 {
    if area.height == 0 {
        return 0;
    }
    if let Some(reading) = app.reading() {
        put(vec![Span::raw(" "), look.span(reading.as_str(), Role::Accent)], 0, area, buf);
        return 0;
    }
    if let Some(status) = &app.status.now {
        let role = if status.failed { Role::Fatal } else { Role::Accent };
        return answer_key(status.text.as_str(), role, area, buf, look) - 1;
    }
    let mut spans = vec![Span::raw(" ")];
    spans.extend((app.screens.top().def().describe)(app, look));
    put(spans, 0, area, buf);
    0
}

/// The last line: the keys that work here.
pub(crate) fn footer(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    if area.height == 0 {
        return;
    }
    shade(area, buf, look.style(Role::StatusBar));
    let mut line = vec![Span::raw(" ")];
    if let Some(count) = app.count {
        line.push(look.span(format!("{count}   "), Role::Accent));
    }
    if !app.screens.typed.is_empty() {
        line.extend(chord_hints(
            &app.keymap,
            app.focus(),
            &app.screens.typed,
            |action| app.allowed(action).is_ok(),
            look,
        ));
        put(line, 0, area, buf);
        return;
    }
    let spans_of = |binding: &Binding, gap: &str| {
        let key = key_name(&app.keymap, app.screens.dialog.as_ref(), app.focus(), binding).unwrap_or_default();
        [look.span(key, Role::HintKey), look.span(format!(" {}{gap}", app.hint_of(binding)), Role::Hint)]
    };
    let width_of = |spans: &[Span<'static>]| spans.iter().map(Span::width).sum::<usize>();
    // The help comes last and always has its place.
    let is_help = |binding: &&Binding| binding.action == Action::Help;
    let hints = app.hints();
    let help = hints.iter().copied().find(is_help).map(|binding| spans_of(binding, ""));
    let pressed = app.presenting.as_ref().map(|presenting| presenting.spans(look)).unwrap_or_default();
    let shown = if pressed.is_empty() { 0 } else { width_of(&pressed) + 2 };
    let taken = help.as_ref().map_or(0, |spans| width_of(spans)) + shown;
    let mut room = usize::from(area.width).saturating_sub(taken + width_of(&line));
    for binding in hints.iter().copied().filter(|binding| !is_help(binding)) {
        let spans = spans_of(binding, "   ");
        let width = width_of(&spans);
        if width > room {
            continue;
        }
        room -= width;
        line.extend(spans);
    }
    line.extend(help.into_iter().flatten());
    put(line, 0, area, buf);
    let width = (width_of(&pressed) as u16).min(area.width);
    put(pressed, 0, Rect { x: area.right() - width, width, ..area }, buf);
}

fn chord_hints(
    keymap: &Keymap,
    front: Focus,
    typed: &[Key],
    is_allowed: impl Fn(Action) -> bool,
    look: Look<'_>,
) -> Spans {
    let (typed, rests) = keymap.continuations(&front.contexts(), typed);
    let mut line = vec![look.span(format!("{typed} "), Role::HintKey)];
    for (rest, action) in rests.into_iter().filter(|(_, action)| is_allowed(*action)) {
        let help = BINDINGS.iter().find(|binding| binding.action == action);
        line.push(look.span(rest, Role::HintKey));
        line.push(look.span(format!(" {}   ", help.map_or("", |binding| binding.help)), Role::Hint));
    }
    line
}

fn sign(purpose: PromptPurpose) -> &'static str {
    match purpose {
        PromptPurpose::Filter => " filter: ",
        PromptPurpose::Find => " find: ",
        PromptPurpose::Columns => " columns: ",
        PromptPurpose::ViewName => " name of the view: ",
        PromptPurpose::Field(field) => field.sign(),
        PromptPurpose::Breakpoint => " breakpoint (3, total, finding, state.total>100): ",
        PromptPurpose::SaveRun => " append to: ",
        PromptPurpose::Export | PromptPurpose::ExportAs(_) => " write to: ",
    }
}

/// The question whether typed text is to be dropped, above the keys that answer it.
pub(crate) fn drop_question(keymap: &Keymap, status: Rect, buf: &mut Buffer, look: Look<'_>) {
    let keys = keymap::Keymap::rows(keymap::Context::Drop);
    let keys = keys.flat_map(|binding| keymap.names(binding)).collect::<Vec<_>>().join(" or ");
    let place = if status.height > 0 { status } else { Rect { height: 1.min(buf.area().height), ..*buf.area() } };
    clear(place, buf);
    let text = format!(" Discard the text? {keys} discards, any other key keeps it");
    put(vec![look.span(text, Role::Warning)], 0, place, buf);
}

/// The column of the cursor in the line that is being typed.
pub(crate) fn prompt_cursor(prompt: &Prompt, area: Rect) -> u16 {
    let (_, cursor) = prompt_window(prompt, area);
    let column = sign(prompt.purpose).width() + cursor;
    area.x + (column as u16).min(area.width.saturating_sub(1))
}

fn prompt_window(prompt: &Prompt, area: Rect) -> (String, usize) {
    window(&prompt.line, usize::from(area.width).saturating_sub(sign(prompt.purpose).width() + 1))
}

/// Draws the line that is being typed, in place of the keys, with its completions above it.
pub(crate) fn prompt(prompt: &Prompt, has_earlier: bool, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let parts = layout::parts(area);
    let place = if parts.footer.height > 0 {
        parts.footer
    } else {
        Rect { y: area.bottom().saturating_sub(1), height: 1, ..area }
    };
    clear(place, buf);
    shade(place, buf, look.style(Role::StatusBar));
    let (visible, _) = prompt_window(prompt, area);
    let role = match (&prompt.error, prompt.proposed) {
        (Some(_), _) => Role::Warning,
        (None, true) => Role::Dim,
        (None, false) => Role::Text,
    };
    let mut line = vec![look.span(sign(prompt.purpose), Role::HintKey), look.span(visible, role)];
    line.extend(hint(&prompt.line, prompt.proposed).map(|hint| look.keyed(hint, Role::Hint)));
    put(line, 0, place, buf);
    if let Some(count) = prompt.count.filter(|_| parts.status.height > 0 && prompt.error.is_none()) {
        clear(parts.status, buf);
        let FilterCount { sure, rest, all } = count;
        let rest = match rest {
            Rest::None => String::new(),
            Rest::Unread(unread) => format!("; Enter searches the text of {unread}"),
            Rest::Searching => "; searching…".to_owned(),
        };
        put(vec![look.span(format!(" {sure} of {}{rest}", counted(all, "record")), Role::Dim)], 0, parts.status, buf);
    }
    suggestions(prompt, has_earlier, parts.body, buf, look);
    if let Some(error) = prompt.error.as_ref().filter(|_| parts.status.height > 0) {
        answer_key(stepscope_base::shown!("{}", error.message).as_str(), Role::Warning, parts.status, buf, look);
    }
}

fn suggestions(prompt: &Prompt, has_earlier: bool, body: Rect, buf: &mut Buffer, look: Look<'_>) {
    let count = prompt.completions.len().min(8).min(usize::from(body.height.saturating_sub(2)));
    if count == 0 || prompt.purpose != PromptPurpose::Filter {
        return;
    }
    let height = count as u16 + 2;
    let area = Rect { x: body.x + 1, y: body.bottom() - height, width: body.width.saturating_sub(2).min(76), height };
    let hint = if has_earlier { "Tab completes · Up: earlier filters" } else { "Tab completes" };
    let inner = open(vec![look.span(hint, Role::Faint)], area, buf, look);
    let first = prompt.chosen.map_or(0, |chosen| (chosen + 1).saturating_sub(count));
    for (row, (n, completion)) in prompt.completions.iter().enumerate().skip(first).take(count).enumerate() {
        let line = vec![
            look.span(prose::pad(&completion.word, 30), Role::Key),
            look.span(format!(" {}", completion.help), Role::Dim),
        ];
        put(line, row, inner, buf);
        if prompt.chosen == Some(n) {
            look::select(row, inner, buf, look);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ratatui::layout::Size;
    use stepscope_io::pipeline::load::{load, load_unchecked};
    use stepscope_io::pipeline::store::Store;
    use stepscope_io::source::input::expand;
    use stepscope_terminal::colour::Depth;
    use stepscope_terminal::run::Program as _;

    use super::*;
    use crate::app::state::Looks;
    use crate::widgets::keymap::Keymap;
    use crate::widgets::theme::Theme;

    fn header(store: Store) -> String {
        let theme = Theme::built_in("dark", Depth::True).unwrap();
        let looks = Looks::new(theme, Vec::new(), Depth::True, false);
        let mut app = App::new(store, Keymap::default(), looks);
        app.size = Size::new(120, 40);
        let mut buffer = Buffer::empty(Rect::from(app.size));
        app.draw(&mut buffer);
        (0..120).filter_map(|x| buffer.cell((x, 0))).map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn that_there_are_no_findings_is_said_once_all_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.jsonl");
        std::fs::write(&path, "{\"final_answer\": \"4 pens\", \"final_answer_numerical\": 4, \"confidence\": 0.9}\n")
            .unwrap();
        let (unchecked, _) = load_unchecked(expand(std::slice::from_ref(&path)), 1, |_| true);
        let early = header(unchecked);
        assert!(early.contains("checking 0 %") && !early.contains("findings"), "{early}");
        let (checked, _) = load(expand(&[path]), 1, Arc::default(), |_| true);
        let late = header(checked);
        assert!(late.contains("no findings") && !late.contains("checking"), "{late}");
    }
}
