//! Prompts of reviewing: lines that are typed, labels that are looked for, and whether many are meant.

use crossterm::event::{KeyCode, KeyEvent};
use tui_input::Input as Line;

use crate::app::across::Across;
use crate::app::cursor::pointer;
use crate::app::msg::{Effect, Effects};
use crate::app::review::{Given, LABEL_KEYS, LabelPurpose, MAX_BATCH, Review, ReviewDialog, ReviewField, id_for, news};
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::dialogs::dialog::Dialog;
use crate::screens::adjudication;
use crate::screens::answer::state::AnswerPane;
use crate::screens::kind::ScreenKind;
use crate::screens::run::pane::RunPane;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::fuzzy;
use crate::widgets::keymap::{Action, Context, Key, Keymap, Lookup, need};
use crate::widgets::line::{edit, replace_proposed};
use crate::widgets::list::List;
use stepscope_base::json::Part;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::citations::Numbering;
use stepscope_io::pipeline::store::Store;
use stepscope_record::RecordKind;
use stepscope_record::finding::counted;
use stepscope_review::event::{Anchor, EventKind, LabelDefinition, MAX_TEXT, Text, Verdict};

/// Message when the records have changed while a text was typed.
const GONE: &str = "the record was changed or deleted; copy your text and open it again";
/// Length of the longest name of a label.
const MAX_NAME: usize = 80;

// What is asked.

impl ReviewDialog {
    /// Asks for a line, from a text.
    fn line(field: ReviewField, text: String, proposed: bool) -> Self {
        let (from, proposed) = (text.clone(), proposed && !text.is_empty());
        Self::Line { field, line: Line::new(text), from, proposed, refused: None }
    }

    /// Asks for a label.
    pub(crate) fn labels(purpose: LabelPurpose) -> Self {
        Self::Labels { purpose, line: Line::default(), list: List::default() }
    }
}

/// Returns what a key asks about the target. For the first bad step it proposes the one from the draft, else from where
/// to fix, else the step on screen.
pub(crate) fn of_target(review: &Review, screens: &Screens, action: Action) -> Option<ReviewDialog> {
    let draft = &review.draft;
    let text = |text: Option<&Text>| text.and_then(|text| text.utf8()).unwrap_or_default().to_owned();
    Some(match action {
        Action::BadStep => {
            let here = screens.record().map(|view| view.moment.0.max(1) as u64);
            let proposed = review.target.as_ref().and_then(|target| target.step);
            let step = draft.step.or(proposed).or(here);
            let step = step.map(|step| step.to_string()).unwrap_or_default();
            ReviewDialog::line(ReviewField::Step, step, true)
        }
        Action::Note => {
            ReviewDialog::line(ReviewField::Note, text(review.typing.as_ref().or(draft.note.as_ref())), false)
        }
        Action::Correct => ReviewDialog::line(ReviewField::Correction, text(draft.correction.as_ref()), true),
        Action::FindLabel => ReviewDialog::labels(LabelPurpose::Give),
        _ => return None,
    })
}

/// Returns what a key asks about many records; `Err`: it cannot be done to them.
pub(crate) fn of_many(
    review: &Review,
    store: &Store,
    table: &Table,
    keymap: &Keymap,
    action: Action,
) -> Result<ReviewDialog, Shown> {
    if action == Action::SameVerdict {
        // All records whose gravest finding is of the same rule.
        let same = review.same.clone().map_err(Shown::own)?;
        return Ok(ReviewDialog::Confirm { records: same.records.clone(), given: Given::Same(same) });
    }
    let carried = table.carried();
    let fit = (0..table.len(store.len())).filter(|row| carried.binary_search(&(*row as u32)).is_err());
    let records: Vec<usize> = fit.take(MAX_BATCH + 1).filter_map(|row| table.record(row)).collect();
    if records.len() > MAX_BATCH {
        let key = keymap.key_of(Action::Filter);
        return Err(shown!("at most {MAX_BATCH} records can be labelled at once; filter first ({key})"));
    }
    Ok(ReviewDialog::labels(LabelPurpose::All(records)))
}

/// A key where something is typed about a verdict.
pub(crate) fn ask_key(app: &mut App, mut ask: ReviewDialog, event: KeyEvent) -> Effects {
    let renames = matches!(ask, ReviewDialog::Line { field: ReviewField::Rename(_), .. });
    match &ask {
        ReviewDialog::Labels { .. } => {
            app.screens.dialog = Some(Dialog::Review(ask));
            return labels_key(app, event);
        }
        ReviewDialog::Line { .. } if event.code == KeyCode::Enter => {
            match enter_line(&mut app.review, &app.screens, &mut ask, app.size.width) {
                Err(()) => app.screens.dialog = Some(Dialog::Review(ask)),
                Ok(said) => said.into_iter().for_each(|said| _ = app.status.say(said)),
            }
        }
        _ => {
            edit_line(&mut app.review, &mut ask, event);
            app.screens.dialog = Some(Dialog::Review(ask));
        }
    }
    if renames && app.screens.dialog.is_none() {
        app.screens.open_dialog(Dialog::Review(ReviewDialog::labels(LabelPurpose::Give)));
    }
    Vec::new()
}

/// The records are to be labelled.
pub(crate) fn confirmed(
    screens: &mut Screens,
    store: &Store,
    table: &mut Table,
    review: &mut Review,
    status: &mut StatusLine,
) -> Effects {
    let Some(Dialog::Review(ReviewDialog::Confirm { records, given })) = screens.dialog.take() else {
        return Vec::new();
    };
    let id = table.new_search_id();
    let readings = news::begin_batch(review, store, id, &records, given);
    status.say(shown!("saving {}…", counted(readings.len(), "verdict")));
    vec![Effect::Summarise(table.moves(), Some(id), readings)]
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

/// Explains the meaning of labels.
pub(crate) fn guidelines(labels: &[LabelDefinition], keymap: &Keymap) -> Shown {
    let label = |(n, label): (usize, &LabelDefinition)| {
        let key = if n < LABEL_KEYS { format!("{}", n + 1) } else { " ".to_owned() };
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
    text.unwrap_or_else(|| keymap.shown("There are no labels yet; <fail>, then <find_label> makes one"))
}

/// Gives up what was asked. What was begun in the list of labels, which is a new name or a merge, returns to it.
pub(crate) fn closed(review: &mut Review, store: &Store, table: &Table, ask: &ReviewDialog) -> Option<ReviewDialog> {
    let label = match ask {
        ReviewDialog::Line { field: ReviewField::Rename(label), .. }
        | ReviewDialog::Labels { purpose: LabelPurpose::MergeInto(label), .. } => label,
        ReviewDialog::Line { .. } => {
            (review.typing, review.drafts_changed) = (None, true);
            return None;
        }
        ReviewDialog::Labels { .. } | ReviewDialog::Confirm { .. } => return None,
    };
    let at = offered(review, store, table).iter().position(|known| known.id == *label).unwrap_or(0);
    let list = List { at, ..List::default() };
    Some(ReviewDialog::Labels { purpose: LabelPurpose::Give, line: Line::default(), list })
}

/// The text of the line in front has changed: a note outlives a crash.
pub(crate) fn line_changed(dialog: &mut ReviewDialog, review: &mut Review) {
    match dialog {
        ReviewDialog::Labels { list, .. } => list.at = 0,
        ReviewDialog::Line { field, line, proposed, refused, .. } => {
            (*proposed, *refused) = (false, None);
            if *field == ReviewField::Note {
                review.typing = Some(Text::from(line.value().to_owned()));
                review.drafts_changed = true;
            }
        }
        ReviewDialog::Confirm { .. } => {}
    }
}

/// Changes the line by a key.
fn edit_line(review: &mut Review, ask: &mut ReviewDialog, event: KeyEvent) {
    let ReviewDialog::Line { line, proposed, refused, .. } = ask else { return };
    *refused = None;
    replace_proposed(line, *proposed, event);
    if edit(line, event) {
        line_changed(ask, review);
    }
}

/// Takes the line, and returns what is to be said; `Err`: it cannot be taken, and says why itself.
fn enter_line(review: &mut Review, screens: &Screens, ask: &mut ReviewDialog, width: u16) -> Result<Option<Shown>, ()> {
    let ReviewDialog::Line { field, line, refused, .. } = ask else { return Err(()) };
    let typed = line.value().trim();
    if let Err(why) = take_line(review, field, typed) {
        *refused = Some(why);
        return Err(());
    }
    review.typing = None;
    Ok(line_taken(review, screens, field, typed, width))
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
            review.take_up();
            review.draft.step = step;
        }
        ReviewField::Correction => {
            let json = (!typed.is_empty()).then(|| target.summary.answer_type.json_of(typed));
            if let Some(why) = json.as_ref().and_then(|json| target.summary.answer_type.refuses(json.bytes())) {
                return Err(why);
            }
            review.take_up();
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

/// Does what was asked for with the line that was typed, and returns what is to be said.
fn line_taken(review: &mut Review, screens: &Screens, field: &ReviewField, typed: &str, width: u16) -> Option<Shown> {
    match field {
        ReviewField::Step => {
            let said = review.draft.step.map_or(Shown::own("none"), |step| shown!("{step}"));
            Some(review.amend(shown!("First wrong step: {said}"), width))
        }
        ReviewField::Correction => {
            let said = review.draft.correction.as_ref().map_or(Shown::own("none"), |json| json.line().cut(60));
            Some(review.amend(shown!("Correct answer: {said}"), width))
        }
        ReviewField::Note => take_note(review, screens, typed),
        ReviewField::Rename(id) => {
            let name = Text::from(typed.to_owned());
            review.new_label_set(review.label_set().renamed(id, &name));
            Some(shown!("Renamed to {}", name.line()))
        }
    }
}

/// A note is saved at once; while labels are chosen it goes with the verdict.
fn take_note(review: &mut Review, screens: &Screens, typed: &str) -> Option<Shown> {
    let note = (!typed.is_empty()).then(|| Text::from(typed.to_owned()));
    let (anchors, variable) = anchor(review, screens);
    review.drafts_changed = true;
    if review.draft.choosing {
        review.draft.anchors = if note.is_some() { anchors } else { Vec::new() };
        (review.draft.note, review.draft.variable) = (note, variable);
        return None;
    }
    review.draft.note = None;
    let mut event = review.event(EventKind::Note).filter(|_| note.is_some())?;
    (event.note, event.anchors, event.variable) = (note, anchors, variable);
    let place = event.place().map(|place| shown!(" on {place}")).unwrap_or_default();
    review.say_event(event);
    Some(shown!("note{place}"))
}

/// Finds the anchors for the cursor's place: a variable, a value, or lines of the document.
fn anchor(review: &Review, screens: &Screens) -> (Vec<Anchor>, Option<Text>) {
    let Some(view) = screens.record().filter(|_| screens.top() != ScreenKind::Table) else {
        return (Vec::new(), None);
    };
    if screens.top() == ScreenKind::Answer
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
                document: document_name(review, screens),
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
    let place = pointer(screens);
    let of_state = screens.top() == ScreenKind::Run && view.pane == RunPane::State;
    let variable = place.0.last().filter(|_| of_state).and_then(|part| match part {
        Part::Key(name) => Some(name.clone()),
        Part::Index(_) => None,
    });
    (vec![Anchor::Pointer(place.text())], variable)
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

/// Lists the labels for the record at hand, those of its kind first.
pub(crate) fn offered(review: &Review, store: &Store, table: &Table) -> Vec<LabelDefinition> {
    let row = table.chosen(store.len()).and_then(|record| store.row(record));
    review.label_set().offered_for(row.is_some_and(|row| row.kind() == RecordKind::Typed))
}

/// The labels that fit what was typed in the list of labels in front, best first.
pub(crate) fn labels_that_fit(
    screens: &Screens,
    across: &Across,
    review: &Review,
    store: &Store,
    table: &Table,
) -> Vec<LabelDefinition> {
    let Some(Dialog::Review(ReviewDialog::Labels { purpose, line, .. })) = screens.dialog.as_ref().map(Dialog::own)
    else {
        return Vec::new();
    };
    let labels = match purpose {
        LabelPurpose::Decide => across.judged.as_ref().map(|judged| adjudication::state::definitions(judged)),
        _ => Some(offered(review, store, table)),
    };
    let names = |label: &LabelDefinition| (label.name.line().into_string(), label.id.line().into_string());
    fuzzy::rank(line.value().trim(), labels.unwrap_or_default().into_iter(), names)
}

fn labels_key(app: &mut App, event: KeyEvent) -> Effects {
    let fits = labels_that_fit(&app.screens, &app.across, &app.review, &app.store, &app.table);
    let found = app.keymap.look_up(&[Context::LabelList], &[Key::from_event(event)]);
    if let Lookup::Found(action) = found {
        // What cannot be done leaves the list and its text as they are.
        if let Err(why) = app.allowed(action) {
            return app.status.refuse(&app.keymap, why);
        }
        let Some(Dialog::Review(ReviewDialog::Labels { purpose, line, list })) = app.screens.dialog.take() else {
            return Vec::new();
        };
        return use_label(app, action, purpose, line.value().trim(), fits.into_iter().nth(list.at));
    }
    let Some(Dialog::Review(ReviewDialog::Labels { line, list, .. })) = &mut app.screens.dialog else {
        return Vec::new();
    };
    match event.code {
        KeyCode::Down | KeyCode::Tab => list.at = (list.at + 1).min(fits.len().saturating_sub(1)),
        KeyCode::Up | KeyCode::BackTab => list.at = list.at.saturating_sub(1),
        _ if edit(line, event) => list.at = 0,
        _ => {}
    }
    Vec::new()
}

/// Does what a key of the list of labels means, with the label under its cursor.
fn use_label(
    app: &mut App,
    action: Action,
    purpose: LabelPurpose,
    typed: &str,
    chosen: Option<LabelDefinition>,
) -> Effects {
    let ask = match (action, chosen) {
        (Action::NewLabel, _) | (Action::Open, None) => {
            let (label, is_new) = make_label(&mut app.review, typed);
            if is_new {
                app.status.say(shown!("New label: {}", label.name.line()));
            }
            return take_label(app, purpose, label);
        }
        (Action::Open, Some(label)) => return take_label(app, purpose, label),
        (Action::RenameLabel, Some(label)) => {
            let name = label.name.utf8().unwrap_or_default().to_owned();
            ReviewDialog::line(ReviewField::Rename(label.id), name, true)
        }
        (Action::MergeLabel, Some(label)) => ReviewDialog::labels(LabelPurpose::MergeInto(label.id)),
        _ => return Vec::new(),
    };
    app.screens.open_dialog(Dialog::Review(ask));
    Vec::new()
}

/// Names what opening does in the list of labels: where none fits, the typed name becomes one.
pub(crate) fn word_of_open(dialog: &Dialog, fits: &[LabelDefinition]) -> &'static str {
    let Dialog::Review(ReviewDialog::Labels { purpose, list, .. }) = dialog else { return "" };
    if fits.len() > list.at { purpose.word() } else { "create" }
}

/// Checks that a key of the list of labels can be used now; `fits` are the labels in it.
pub(crate) fn allowed_for_label(
    dialog: Option<&Dialog>,
    fits: &[LabelDefinition],
    action: Action,
) -> Result<(), &'static str> {
    let Some(Dialog::Review(ReviewDialog::Labels { purpose, line, list })) = dialog else {
        return Err("find a label first (<fail>, then <find_label>)");
    };
    match action {
        Action::NewLabel => {
            let typed = line.value().trim();
            // A bare number is meant as a key of a label, and tells nothing as its name.
            let is_name = typed.len() <= MAX_NAME && typed.chars().any(char::is_alphabetic);
            need(*purpose != LabelPurpose::Decide, "labels are created in a review")?;
            let fits = is_name && !matches!(purpose, LabelPurpose::MergeInto(_));
            need(fits, "enter a name with letters for the new label, at most 80")
        }
        Action::RenameLabel | Action::MergeLabel => {
            need(*purpose == LabelPurpose::Give, "this list selects one label; close it first (<escape>)")?;
            need(fits.len() > list.at, "no label selected")
        }
        _ => {
            let can_create = || allowed_for_label(dialog, fits, Action::NewLabel).is_ok();
            need(fits.len() > list.at || can_create(), "no matching label")
        }
    }
}

fn take_label(app: &mut App, purpose: LabelPurpose, label: LabelDefinition) -> Effects {
    match purpose {
        LabelPurpose::Give => app.review.toggle(&label),
        LabelPurpose::Decide => {
            let area = app.area();
            adjudication::labels::toggle(area, &app.across, &mut app.kept.adjudication, &app.keymap, &label.id);
        }
        LabelPurpose::MergeInto(from) if from == label.id => {
            app.status.say(Shown::own("cannot merge a label into itself"));
            app.screens.open_dialog(Dialog::Review(ReviewDialog::labels(LabelPurpose::MergeInto(from))));
        }
        LabelPurpose::MergeInto(from) => {
            let set = app.review.label_set();
            let old = app.review.names(&[set.refer(&from)]).into_iter().next().unwrap_or_default();
            app.review.new_label_set(set.merged(&from, &label.id));
            app.status.say(shown!("Merged {old} into {}; earlier verdicts follow", label.name.line()));
        }
        LabelPurpose::All(records) if records.iter().all(|record| is_passed(&app.review, *record)) => {
            let why = "you passed all of these; a verdict is changed on its record (<fail>)";
            app.status.refuse(&app.keymap, why);
        }
        LabelPurpose::All(records) => {
            let given = Given::Label(label);
            app.screens.open_dialog(Dialog::Review(ReviewDialog::Confirm { records, given }));
        }
    }
    Vec::new()
}

/// Tells whether I passed a record: such a one is not labelled with others.
pub(crate) fn is_passed(review: &Review, record: usize) -> bool {
    review.judged(record).mine == Some(Verdict::Pass)
}

/// Finds the label of this name, or makes it; `true`: it is new.
fn make_label(review: &mut Review, name: &str) -> (LabelDefinition, bool) {
    let set = review.label_set();
    if let Some(label) = set.labels.iter().find(|label| label.name == *name).cloned() {
        return (label, false);
    }
    let (id, name) = (id_for(name, &set), Text::from(name.to_owned()));
    let label = LabelDefinition { id, name, ..LabelDefinition::default() };
    review.new_label_set(set.with(label.clone()));
    (label, true)
}
