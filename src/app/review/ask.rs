//! Prompts of reviewing: lines that are typed, labels that are looked for, and whether many are meant.

use crossterm::event::{KeyCode, KeyEvent};
use tui_input::Input as Line;

use crate::app::log::Log;
use crate::app::msg::Effects;
use crate::app::review;
use crate::app::review::Review;
use crate::app::review::{Given, LabelPurpose, ReviewDialog, ReviewField, id_for};
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::adjudication;
use crate::screens::answer::state::AnswerPane;
use crate::screens::kind::ScreenKind;
use crate::screens::run::pane::RunPane;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::fuzzy;
use crate::widgets::keymap::{Action, Context, Key, Lookup, need};
use crate::widgets::line::{edit, replace_proposed};
use crate::widgets::list::List;
use stepscope_base::json::Part;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::citations::Numbering;
use stepscope_io::pipeline::store::Store;
use stepscope_record::RecordKind;
use stepscope_review::event::{Anchor, EventKind, LabelDefinition, LabelSet, MAX_TEXT, Text, Verdict};

/// Largest number of records that are labelled at once.
pub(crate) const MAX_BATCH: usize = 10_000;
/// Message when the records have changed while a text was typed.
const GONE: &str = "the record was changed or deleted; copy your text and open it again";
/// Length of the longest name of a label.
const MAX_NAME: usize = 80;

// What is asked.

fn ask_line(app: &mut App, field: ReviewField, text: String, proposed: bool) -> Effects {
    let (from, proposed) = (text.clone(), proposed && !text.is_empty());
    app.screens.open_dialog(Dialog::Review(ReviewDialog::Line {
        field,
        line: Line::new(text),
        from,
        proposed,
        refused: None,
    }));
    Vec::new()
}

/// Asks for the first bad step; proposes the one from the draft, else from where to fix, else the step on screen.
pub(crate) fn ask_step(app: &mut App) -> Effects {
    let here = app.screens.record().map(|view| view.moment.0.max(1) as u64);
    let proposed = app.review.target.as_ref().and_then(|target| target.step);
    let step = app.review.draft.step.or(proposed).or(here);
    ask_line(app, ReviewField::Step, step.map(|step| step.to_string()).unwrap_or_default(), true)
}

pub(crate) fn ask_note(app: &mut App) -> Effects {
    let begun = app.review.typing.as_ref().or(app.review.draft.note.as_ref());
    let begun = begun.and_then(|note| note.utf8()).unwrap_or_default().to_owned();
    ask_line(app, ReviewField::Note, begun, false)
}

pub(crate) fn ask_correction(app: &mut App) -> Effects {
    let begun = app.review.draft.correction.as_ref().and_then(|json| json.utf8()).unwrap_or_default().to_owned();
    ask_line(app, ReviewField::Correction, begun, true)
}

pub(crate) fn ask_labels(app: &mut App) -> Effects {
    open_labels(app, LabelPurpose::Give)
}

pub(crate) fn open_labels(app: &mut App, purpose: LabelPurpose) -> Effects {
    app.screens.open_dialog(Dialog::Review(ReviewDialog::Labels {
        purpose,
        line: Line::default(),
        list: List::default(),
    }));
    Vec::new()
}

pub(crate) fn ask_label_all(app: &mut App) -> Effects {
    let carried = app.table.carried();
    let fit = (0..app.rows()).filter(|row| carried.binary_search(&(*row as u32)).is_err());
    let records: Vec<usize> = fit.take(MAX_BATCH + 1).filter_map(|row| app.table.record(row)).collect();
    if records.len() > MAX_BATCH {
        app.status.fail(shown!(
            "at most {MAX_BATCH} records can be labelled at once; filter first ({})",
            app.keymap.key_of(Action::Filter)
        ));
        return Vec::new();
    }
    open_labels(app, LabelPurpose::All(records))
}

/// A key where something is typed about a verdict.
pub(crate) fn ask_key(app: &mut App, ask: ReviewDialog, event: KeyEvent) -> Effects {
    match ask {
        ReviewDialog::Line { field, line, from, proposed, .. } => line_key(app, (field, from), line, proposed, event),
        ReviewDialog::Labels { purpose, line, list } => labels_key(app, purpose, line, list, event),
        confirm @ ReviewDialog::Confirm { .. } => {
            app.screens.dialog = Some(Dialog::Review(confirm));
            Vec::new()
        }
    }
}

/// The records are to be labelled.
pub(crate) fn confirmed(app: &mut App) -> Effects {
    let Some(Dialog::Review(ReviewDialog::Confirm { records, given })) = app.screens.dialog.take() else {
        return Vec::new();
    };
    review::news::begin_batch(app, &records, given)
}

/// Asks whether to give the last verdict to all records whose gravest finding is of the same rule.
pub(crate) fn ask_same(app: &mut App) -> Effects {
    let Ok(same) = app.review.same.clone() else { return Vec::new() };
    let (records, given) = (same.records.clone(), Given::Same(same));
    app.screens.open_dialog(Dialog::Review(ReviewDialog::Confirm { records, given }));
    Vec::new()
}

/// The records that may get the last verdict, in the table.
pub(crate) fn show_same(app: &mut App) -> Effects {
    app.screens.dialog = None;
    let Ok(same) = app.review.same.clone() else { return Vec::new() };
    let mut effects = app.back_to_table();
    effects.extend(app.set_filter(&same.filter(&app.table.filter_text, !app.forks.tree.is_empty())));
    app.table.list.at = 0;
    let key = app.keymap.key_of(Action::SameVerdict);
    app.status.say(shown!(
        "{key} gives these {} the verdict {}; {} clears the filter",
        same.records.len(),
        same.verdict.word(),
        app.keymap.key_of(Action::Escape)
    ));
    effects
}

/// Shows the meaning of the labels in a window.
pub(crate) fn show_guidelines(app: &mut App) -> Effects {
    let labels = offered(&app.review, &app.store, &app.table);
    let label = |(n, label): (usize, &LabelDefinition)| {
        let key = if n < review::LABEL_KEYS { format!("{}", n + 1) } else { " ".to_owned() };
        let mut text = shown!("{key}  {}", label.name.line());
        if let Some(guideline) = &label.guideline {
            text = text.join(&shown!("\n   {}", guideline.line()));
        }
        if let Some(example) = &label.example {
            text = text.join(&shown!("\n   For example: {}", example.line()));
        }
        text
    };
    let labels = labels.iter().enumerate().map(label);
    let text = labels.reduce(|text, label| text.and("\n\n").join(&label));
    let text = text.unwrap_or_else(|| app.keymap.shown("There are no labels yet; <fail>, then <find_label> makes one"));
    app.screens.open_dialog(Dialog::Popup(Popup { title: Shown::own("Labels"), text }));
    Vec::new()
}

/// The line was closed without being taken. A new name was asked for from the list of labels, which comes back.
pub(crate) fn line_closed(app: &mut App, field: &ReviewField) -> Effects {
    if let ReviewField::Rename(id) = field {
        return back_to_labels(app, id);
    }
    app.review.typing = None;
    review::keys::keep_drafts(&app.log, &app.review)
}

/// Opens the list again in which a label was chosen: what was to be done with it was given up.
pub(crate) fn back_to_labels(app: &mut App, id: &Text) -> Effects {
    let at = offered(&app.review, &app.store, &app.table).iter().position(|label| label.id == *id).unwrap_or(0);
    let list = List { at, ..List::default() };
    let labels = ReviewDialog::Labels { purpose: LabelPurpose::Give, line: Line::default(), list };
    app.screens.open_dialog(Dialog::Review(labels));
    Vec::new()
}

/// The text of the line in front has changed: a note outlives a crash.
pub(crate) fn line_changed(app: &mut App) -> Effects {
    match &mut app.screens.dialog {
        Some(Dialog::Review(ReviewDialog::Labels { list, .. })) => list.at = 0,
        Some(Dialog::Review(ReviewDialog::Line { field, line, proposed, refused, .. })) => {
            (*proposed, *refused) = (false, None);
            if *field == ReviewField::Note {
                app.review.typing = Some(Text::from(line.value().to_owned()));
                return review::keys::keep_drafts(&app.log, &app.review);
            }
        }
        _ => {}
    }
    Vec::new()
}

fn line_key(
    app: &mut App,
    (field, from): (ReviewField, String),
    mut line: Line,
    proposed: bool,
    event: KeyEvent,
) -> Effects {
    match event.code {
        KeyCode::Enter => {
            let typed = line.value().trim().to_owned();
            if let Err(why) = take_line(&mut app.review, &field, &typed) {
                let ask = ReviewDialog::Line { field, line, from, proposed, refused: Some(why) };
                app.screens.dialog = Some(Dialog::Review(ask));
                return Vec::new();
            }
            app.review.typing = None;
            return line_taken(app, &field, &typed);
        }
        _ => replace_proposed(&mut line, proposed, event),
    }
    let changed = edit(&mut line, event);
    app.screens.dialog = Some(Dialog::Review(ReviewDialog::Line { field, line, from, proposed, refused: None }));
    if changed { line_changed(app) } else { Vec::new() }
}

/// Takes what was typed into the draft; `Err`: it cannot be taken.
fn take_line(review: &mut Review, field: &ReviewField, typed: &str) -> Result<(), Shown> {
    let Some(target) = &review.target else {
        return if matches!(field, ReviewField::Rename(_)) { Ok(()) } else { Err(Shown::own(GONE)) };
    };
    match field {
        ReviewField::Step => {
            let step: Option<u64> = if typed.is_empty() { None } else { Some(typed.parse().unwrap_or(0)) };
            if step.is_some_and(|step| step == 0 || step > target.steps) {
                return Err(shown!("enter a step from 1 to {}, or nothing", target.steps));
            }
            review::keys::take_up(review);
            review.draft.step = step;
        }
        ReviewField::Correction => {
            let json = (!typed.is_empty()).then(|| target.summary.answer_type.json_of(typed));
            if let Some(why) = json.as_ref().and_then(|json| target.summary.answer_type.refuses(json.bytes())) {
                return Err(why);
            }
            review::keys::take_up(review);
            review.draft.correction = json;
        }
        ReviewField::Note if typed.len() > MAX_TEXT => {
            return Err(shown!("a note can have at most {} kB", MAX_TEXT >> 10));
        }
        ReviewField::Rename(_) if typed.is_empty() || typed.len() > MAX_NAME => {
            return Err(shown!("enter a name of 1 to {MAX_NAME} letters"));
        }
        ReviewField::Note | ReviewField::Rename(_) => {}
    }
    Ok(())
}

fn line_taken(app: &mut App, field: &ReviewField, typed: &str) -> Effects {
    match field {
        ReviewField::Step => {
            let step = app.review.draft.step;
            review::keys::amend(
                app,
                &step.map_or(Shown::own("First wrong step: none"), |step| shown!("First wrong step: {step}")),
            )
        }
        ReviewField::Correction => {
            let sentence =
                app.review.draft.correction.as_ref().map_or(Shown::own("Correct answer: none"), |json| {
                    shown!("Correct answer: {}", json.line().cut(60))
                });
            review::keys::amend(app, &sentence)
        }
        ReviewField::Note => take_note(app, typed),
        ReviewField::Rename(id) => {
            let name = Text::from(typed.to_owned());
            let set = app.review.label_set();
            let mut effects = new_label_set(app, set.renamed(id, &name));
            app.status.say(shown!("Renamed to {}", name.line()));
            effects.extend(ask_labels(app));
            effects
        }
    }
}

/// A note is saved at once; while labels are chosen it goes with the verdict.
fn take_note(app: &mut App, typed: &str) -> Effects {
    let note = (!typed.is_empty()).then(|| Text::from(typed.to_owned()));
    let (anchors, variable) = anchor(app);
    if app.review.draft.choosing {
        app.review.draft.anchors = if note.is_some() { anchors } else { Vec::new() };
        (app.review.draft.note, app.review.draft.variable) = (note, variable);
        return review::keys::keep_drafts(&app.log, &app.review);
    }
    app.review.draft.note = None;
    let Some(note) = note else { return review::keys::keep_drafts(&app.log, &app.review) };
    let Some(mut event) = app.review.event(EventKind::Note) else { return Vec::new() };
    (event.note, event.anchors, event.variable) = (Some(note), anchors, variable);
    let place = event.place().map(|place| shown!(" on {place}")).unwrap_or_default();
    let mut effects = review::keys::say_event(app, event);
    app.status.say(shown!("note{place}"));
    effects.extend(review::keys::keep_drafts(&app.log, &app.review));
    effects
}

/// Finds the anchors for the cursor's place: a variable, a value, or lines of the document.
fn anchor(app: &App) -> (Vec<Anchor>, Option<Text>) {
    let Some(view) = app.screens.record().filter(|_| app.screens.top() != ScreenKind::Table) else {
        return (Vec::new(), None);
    };
    if app.screens.top() == ScreenKind::Answer
        && let Some(answer) = &view.answer
    {
        let in_document = matches!(answer.pane, AnswerPane::Document | AnswerPane::Citation);
        let lines = match answer.pane {
            AnswerPane::Document => Some(answer.lines.at..answer.lines.at + 1),
            _ => answer.place(),
        };
        if let Some((document, lines)) = answer.shown.document.as_deref().zip(lines.filter(|_| in_document)) {
            let quote = document.text(lines.clone());
            let quote = Untrusted::new(stepscope_base::text::head(quote.trim_ascii(), 1 << 10)).into_owned();
            let anchor = Anchor::Span {
                document: document_name(&app.review, &app.screens),
                numbering: Text::from(Numbering::Global0.word()),
                page: None,
                line_start: lines.start as u64,
                line_end: lines.end.saturating_sub(1) as u64,
                quote: Some(quote),
            };
            return (vec![anchor], None);
        }
        let pointer = answer.span_view().map(|view| view.pointer.clone()).unwrap_or_default();
        return (vec![Anchor::Pointer(pointer.text())], None);
    }
    let pointer = app.pointer();
    let of_state = app.screens.top() == ScreenKind::Run && view.pane == RunPane::State;
    let variable = pointer.0.last().filter(|_| of_state).and_then(|part| match part {
        Part::Key(name) => Some(name.clone()),
        Part::Index(_) => None,
    });
    (vec![Anchor::Pointer(pointer.text())], variable)
}

/// Finds the name that the open answer gives its document.
fn document_name(review: &Review, screens: &Screens) -> Text {
    let root = screens.record().and_then(|view| view.opened.root());
    let named = root.and_then(|root| {
        let document = root.get("document");
        let id = root.get("doc_id").or_else(|| document?.get("doc_id")).or_else(|| document?.get("path"))?;
        id.string().map(Untrusted::into_owned)
    });
    let item = || review.target.as_ref().and_then(|target| target.summary.item.id.clone());
    named.or_else(item).unwrap_or_else(|| Text::from("document"))
}

// Labels.

/// Gives or takes the label of a place on screen, from 0.
pub(crate) fn give_nth(app: &mut App, n: usize) -> Effects {
    let set = app.review.label_set();
    let labels = offered(&app.review, &app.store, &app.table);
    let Some(label) = labels.get(n) else {
        app.status.say(shown!("no label {}; {} finds or creates labels", n + 1, app.keymap.key_of(Action::FindLabel)));
        return Vec::new();
    };
    toggle(&app.log, &mut app.review, label, &set)
}

fn toggle(log: &Log, review: &mut Review, label: &LabelDefinition, set: &LabelSet) -> Effects {
    let sets = review.label_sets();
    let mut labels = review.draft.labels.clone();
    let before = labels.len();
    labels.retain(|given| !sets.is_now(given, set, &label.id));
    if labels.len() == before {
        labels.push(set.refer(&label.id));
    }
    review.draft.labels = labels;
    review::keys::keep_drafts(log, review)
}

/// Lists the labels for the record at hand, those of its kind first.
pub(crate) fn offered(review: &Review, store: &Store, table: &Table) -> Vec<LabelDefinition> {
    let row = table.chosen(store.len()).and_then(|record| store.row(record));
    review.label_set().offered_for(row.is_some_and(|row| row.kind() == RecordKind::Typed))
}

/// The labels that fit what was typed, best first.
pub(crate) fn labels_that_fit(app: &App, purpose: &LabelPurpose, typed: &str) -> Vec<LabelDefinition> {
    let labels = match purpose {
        LabelPurpose::Decide => app.across.judged.as_ref().map(|judged| adjudication::state::definitions(judged)),
        _ => Some(offered(&app.review, &app.store, &app.table)),
    };
    let labels = labels.unwrap_or_default();
    fuzzy::rank(typed, labels.into_iter(), |label| (label.name.line().into_string(), label.id.line().into_string()))
}

fn labels_key(app: &mut App, purpose: LabelPurpose, mut line: Line, mut list: List, event: KeyEvent) -> Effects {
    let typed = line.value().trim().to_owned();
    let fits = labels_that_fit(app, &purpose, &typed);
    let chosen = fits.get(list.at).cloned();
    let found = app.keymap.look_up(&[Context::LabelList], &[Key::from_event(event)]);
    if let Lookup::Found(action) = found {
        // What cannot be done leaves the list and its text as they are.
        app.screens.dialog = Some(Dialog::Review(ReviewDialog::Labels { purpose: purpose.clone(), line, list }));
        if let Err(why) = app.allowed(action) {
            return app.status.refuse(&app.keymap, why);
        }
        app.screens.dialog = None;
        return match (action, chosen) {
            (Action::NewLabel, _) | (Action::Open, None) => make_label(app, purpose, &typed),
            (Action::Open, Some(label)) => take_label(app, purpose, label),
            (Action::RenameLabel, Some(label)) => {
                let name = label.name.utf8().unwrap_or_default().to_owned();
                ask_line(app, ReviewField::Rename(label.id), name, true)
            }
            (Action::MergeLabel, Some(label)) => open_labels(app, LabelPurpose::MergeInto(label.id)),
            _ => Vec::new(),
        };
    }
    match event.code {
        KeyCode::Down | KeyCode::Tab => list.at = (list.at + 1).min(fits.len().saturating_sub(1)),
        KeyCode::Up | KeyCode::BackTab => list.at = list.at.saturating_sub(1),
        _ => {
            if edit(&mut line, event) {
                list.at = 0;
            }
        }
    }
    app.screens.dialog = Some(Dialog::Review(ReviewDialog::Labels { purpose, line, list }));
    Vec::new()
}

/// Names what opening does in the list of labels: where none fits, the typed name becomes one.
pub(crate) fn word_of_open(app: &App) -> &'static str {
    let Some(Dialog::Review(ReviewDialog::Labels { purpose, line, list })) = &app.screens.dialog else { return "" };
    let fits = labels_that_fit(app, purpose, line.value().trim()).len() > list.at;
    if fits { purpose.word() } else { "create" }
}

/// Checks that a key of the list of labels can be used now.
pub(crate) fn allowed_for_label(app: &App, action: Action) -> Result<(), &'static str> {
    let Some(Dialog::Review(ReviewDialog::Labels { purpose, line, list })) = &app.screens.dialog else {
        return Err("find a label first (<fail>, then <find_label>)");
    };
    let typed = line.value().trim();
    match action {
        Action::NewLabel => {
            // A bare number is meant as a key of a label, and tells nothing as its name.
            let is_name = typed.len() <= MAX_NAME && typed.chars().any(char::is_alphabetic);
            need(*purpose != LabelPurpose::Decide, "labels are created in a review")?;
            let fits = is_name && !matches!(purpose, LabelPurpose::MergeInto(_));
            need(fits, "enter a name with letters for the new label, at most 80")
        }
        Action::RenameLabel | Action::MergeLabel => {
            need(*purpose == LabelPurpose::Give, "this list selects one label; close it first (<escape>)")?;
            need(labels_that_fit(app, purpose, typed).len() > list.at, "no label selected")
        }
        _ => {
            let fits = labels_that_fit(app, purpose, typed).len() > list.at;
            need(fits || allowed_for_label(app, Action::NewLabel).is_ok(), "no matching label")
        }
    }
}

fn take_label(app: &mut App, purpose: LabelPurpose, label: LabelDefinition) -> Effects {
    match purpose {
        LabelPurpose::Give => {
            let set = app.review.label_set();
            toggle(&app.log, &mut app.review, &label, &set)
        }
        LabelPurpose::Decide => {
            let area = app.area();
            adjudication::labels::toggle(area, &app.across, &mut app.kept.adjudication, &app.keymap, &label.id);
            Vec::new()
        }
        LabelPurpose::MergeInto(from) if from == label.id => {
            app.status.say(Shown::own("cannot merge a label into itself"));
            open_labels(app, LabelPurpose::MergeInto(from))
        }
        LabelPurpose::MergeInto(from) => {
            let set = app.review.label_set();
            let old = app.review.names(&[set.refer(&from)]);
            let effects = new_label_set(app, set.merged(&from, &label.id));
            let old = old.into_iter().next().unwrap_or_default();
            app.status.say(shown!("Merged {old} into {}; earlier verdicts follow", label.name.line()));
            effects
        }
        LabelPurpose::All(records) if records.iter().all(|record| is_passed(&app.review, *record)) => {
            app.status.refuse(&app.keymap, "you passed all of these; a verdict is changed on its record (<fail>)")
        }
        LabelPurpose::All(records) => {
            let given = Given::Label(label);
            app.screens.open_dialog(Dialog::Review(ReviewDialog::Confirm { records, given }));
            Vec::new()
        }
    }
}

/// Tells whether I passed a record: such a one is not labelled with others.
pub(crate) fn is_passed(review: &Review, record: usize) -> bool {
    review.judged(record).mine == Some(Verdict::Pass)
}

/// A new label of this name, given at once.
fn make_label(app: &mut App, purpose: LabelPurpose, name: &str) -> Effects {
    let set = app.review.label_set();
    if let Some(label) = set.labels.iter().find(|label| label.name == *name).cloned() {
        return take_label(app, purpose, label);
    }
    let (id, name) = (id_for(name, &set), Text::from(name.to_owned()));
    let label = LabelDefinition { id, name, ..LabelDefinition::default() };
    let mut effects = new_label_set(app, set.with(label.clone()));
    app.status.say(shown!("New label: {}", label.name.line()));
    effects.extend(take_label(app, purpose, label));
    effects
}

/// A new version of the labels. What is only offered is written down first, so that it has a history.
fn new_label_set(app: &mut App, mut set: LabelSet) -> Effects {
    let mut effects = review::keys::write_offered(app);
    set.labels.truncate(1_000);
    effects.extend(review::keys::say_label_set(app, set));
    effects
}
