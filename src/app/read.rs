//! Work of background threads for an effect: reading, writing files, computing. Each waits for it, and says what came
//! of it.

use std::sync::Arc;

use crate::app::across::RecordHandle;
use crate::app::export::look_private;
use crate::app::export::request::RecordExport;
use crate::app::fork_tree::Address;
use crate::app::msg::{Effect, Msg};
use crate::app::open_record::OpenRecord;
use crate::dialogs::export::ExportForm;
use crate::screens::rerun::transition::Reached;
use crate::screens::side_by_side::making::{Fixes, Make};
use crate::screens::side_by_side::state::{Against, SideBySide, Unkept};
use stepscope_base::guard::{FAULT, guarded};
use stepscope_base::json::Tape;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::views;
use stepscope_io::failure::Failure;
use stepscope_io::files::{edited_text, editor_file, write_export, write_new};
use stepscope_io::log::forks::KnownFork;
use stepscope_io::log::now;
use stepscope_io::pipeline::compare::compare;
use stepscope_io::pipeline::dashboard;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_judge::case::Case;
use stepscope_judge::hide::Hide;
use stepscope_judge::row::RowFacts;
use stepscope_judge::texts::{MAX_ROW_TEXT, RowTexts};
use stepscope_record::formats;
use stepscope_report::page;
use stepscope_table::filter::Filter;

/// Beginning of the message about a file that cannot be written.
const SAVE: &str = "cannot write";

/// Performs an effect on this thread; `None` for one that is performed elsewhere. `tell` takes what is to be said before
/// it is done.
pub(crate) fn read(effect: Effect, side: &Arc<SideData>, tell: &(impl Fn(Msg) + Sync)) -> Option<Msg> {
    let threads = || std::thread::available_parallelism().map_or(2, usize::from);
    let percent = |id| move |percent| tell(Msg::AcrossPercent(id, percent));
    Some(match effect {
        Effect::RowTexts(moves, rows, values) => Msg::RowTexts(moves, texts_of(rows, &values)),
        Effect::Record(record, reading, row, hide) => {
            let open = || for_screen(record, &reading, &row, hide, side);
            Msg::Record(record, or_failure("cannot open a record of", reading.blob.name(), open))
        }
        Effect::Preview(moves, record, reading, row, hide) => {
            let open = || Some(Msg::Preview(moves, for_screen(record, &reading, &row, hide, side).ok()?));
            return guarded(open).flatten();
        }
        Effect::ForkOrigins(forks) => {
            let fork = |reading: &Reading| Some(KnownFork::of(&reading.read().ok()?));
            let read = |(address, reading): (Address, Reading)| (address, guarded(|| fork(&reading)).flatten());
            Msg::ForkOrigins(forks.into_iter().map(read).collect())
        }
        Effect::Append(append) => Msg::Log(append.write()),
        Effect::WriteForEditor(text) => Msg::EditorFile(editor_file(&text)),
        Effect::ReadFromEditor(path) => Msg::EditorText(edited_text(path)),
        Effect::Export(path, bytes) => {
            let result = write_new(&path, &bytes);
            Msg::Exported(path, result)
        }
        Effect::ChangeViews(folder, change) => {
            let kept = views::change(&folder, &change);
            Msg::Views(change, kept)
        }
        Effect::TellNotes(folder, notes) => {
            // The tour goes on without a second terminal.
            let _ = notes.tell(&folder);
            return None;
        }
        Effect::ExportRecord(handle, export) => {
            let written = or_failure(SAVE, &Shown::path(&export.path), || written(&handle, &export, side));
            Msg::Exported(export.path, written)
        }
        Effect::Compare(id, wanted) => {
            let baseline = wanted.baseline.name();
            Msg::Compared(id, or_failure("cannot compare with", &baseline, || compare(&wanted, threads(), percent(id))))
        }
        Effect::ReadDashboard(id, wanted) => {
            let read = || dashboard::read(&wanted, threads(), side, percent(id));
            Msg::Dashboard(id, or_failure("cannot read the reviews of", &Shown::own("these records"), read))
        }
        Effect::PutSideBySide(record, handles, against) => {
            let [a, b] = *handles;
            Msg::SideBySide(
                record,
                or_failure("cannot open a record of", &a.name, || sides(record, &a, &b, against, side)),
            )
        }
        Effect::MakeFork(handle, make) => Msg::ForkMade(handle.record, or_sentence(|| made(&handle, &make, side))),
        Effect::FindFixes(handle) => Msg::Fixes(handle.record, or_sentence(|| Fixes::of(&opened_at(&handle, side)?))),
        Effect::Live(id, work) => {
            let now = now();
            Msg::Live(id, or_sentence(|| work.go(side, &now)))
        }
        Effect::RemoveUnfinished(kept) => {
            kept.is_saved();
            return None;
        }
        Effect::Transition(id, transition) => {
            let now = now();
            let failed = || Reached::Never(Shown::own(FAULT));
            Msg::Reached(id, Box::new(guarded(|| transition.go(side, &now)).unwrap_or_else(failed)))
        }
        _ => return None,
    })
}

/// Does something with data of others; a panic is a failure.
fn or_failure<T>(what: &'static str, name: &Shown, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    guarded(work).unwrap_or_else(|| Err(Failure::own(what, name, FAULT)))
}

/// Does something with a record; a panic is a sentence.
fn or_sentence<T>(work: impl FnOnce() -> Result<T, Shown>) -> Result<Box<T>, Shown> {
    guarded(work).unwrap_or_else(|| Err(Shown::own(FAULT))).map(Box::new)
}

/// Reads the texts of rows, and the values that columns name.
pub(crate) fn texts_of(rows: Vec<(usize, Reading)>, values: &[String]) -> Vec<(usize, RowTexts)> {
    let mut tape = Tape::default();
    let readers: Vec<_> = values.iter().map(|name| Filter::value_reader(name).ok()).collect();
    let mut read = |reading: &Reading| {
        if readers.is_empty() {
            return row_texts(reading, &mut tape);
        }
        let case = Case::read(reading.read().ok()?);
        let view = case.view();
        let values = readers.iter().map(|read| read.as_ref().map_or_else(Shown::default, |read| read(&view))).collect();
        Some(RowTexts { values, ..RowTexts::of_case(&view) })
    };
    let mut texts = |reading: &Reading| guarded(|| read(reading)).flatten().unwrap_or_default();
    rows.into_iter().map(|(record, reading)| (record, texts(&reading))).collect()
}

fn row_texts(reading: &Reading, tape: &mut Tape) -> Option<RowTexts> {
    let text = reading.read_head(MAX_ROW_TEXT).ok()?;
    Some(match tape.parse(&text) {
        Some(root) => RowTexts::of(&formats::read(root)),
        None => RowTexts::of_broken(&text),
    })
}

fn sides(
    record: usize,
    a: &RecordHandle,
    b: &RecordHandle,
    against: Against,
    side: &Arc<SideData>,
) -> Result<Box<SideBySide>, Failure> {
    let names = [a.name.clone(), b.name.clone()];
    // A baseline has no baseline.
    let own = Arc::default();
    let other = if against == Against::Baseline { &own } else { side };
    let sides = SideBySide::of(names, against, &opened_at(a, side)?, &opened_at(b, other)?);
    Ok(Box::new(SideBySide { record, ..sides }))
}

/// Writes a record in a form, unless something in it looks private.
fn written(handle: &RecordHandle, export: &RecordExport, side: &Arc<SideData>) -> Result<(), Failure> {
    let opened = opened_at(handle, side)?;
    let source = shown!("{}, line {}", handle.reading.blob.name().last_part(), opened.line);
    let cleaned = export.cleaner.clean(&opened.view(), export.said.clone(), source.as_str().as_bytes());
    let private = cleaned.private();
    if let Some(first) = private.named.first() {
        let (look, place, what) = (look_private(private.count), &first.place, first.kind.phrase());
        let why = shown!("{look}, the first is {what} in {place}; the export window takes them out");
        return Err(Failure { what: SAVE, path: Shown::path(&export.path), source: why });
    }
    let (view, options) = (cleaned.case.view(), cleaned.options(export.step, env!("CARGO_PKG_VERSION")));
    if export.form == ExportForm::Markdown {
        let is_ours = |head: &[u8]| head.starts_with(page::BEGIN_MARKDOWN.as_bytes());
        return write_export(&export.path, page::markdown(&view, &options).as_bytes(), is_ours);
    }
    write_export(&export.path, page::html(&view, &options).text.as_bytes(), page::carried::is_page)
}

fn made(handle: &RecordHandle, make: &Make, side: &Arc<SideData>) -> Result<SideBySide, Shown> {
    let parent = opened_at(handle, side)?;
    let line = make.line(&parent)?;
    let row = RowFacts::unchecked(0, line.len() as u64);
    let fork = OpenRecord::new(handle.record, 1, &row, line.clone(), handle.reading.around(side));
    let names = [handle.name.clone(), shown!("{}, not saved", make.title())];
    let sides = SideBySide::of(names, Against::Parent, &parent, &fork);
    let (procedure, sides) = match make {
        Make::Repair { procedure, done } => (Some(procedure.clone()), sides.about(done.clone())),
        _ => (None, sides),
    };
    let is_edit = matches!(make, Make::Edit { .. });
    Ok(SideBySide { record: handle.record, fork: Some(Unkept { line, procedure, is_edit }), ..sides })
}

fn opened_at(handle: &RecordHandle, side: &Arc<SideData>) -> Result<OpenRecord, Failure> {
    opened(handle.record, &handle.reading, &handle.row, side)
}

/// Reads a record for the screen: with its summary for review logs, and without what is hidden.
fn for_screen(
    record: usize,
    reading: &Reading,
    row: &RowFacts,
    hide: Hide,
    side: &Arc<SideData>,
) -> Result<Box<OpenRecord>, Failure> {
    let opened = opened(record, reading, row, side)?;
    let opened = opened.identified(reading.dataset.clone(), reading.position);
    Ok(Box::new(opened.hiding(hide, row, side)))
}

fn opened(record: usize, reading: &Reading, row: &RowFacts, side: &Arc<SideData>) -> Result<OpenRecord, Failure> {
    let text = reading.read()?;
    Ok(OpenRecord::new(record, reading.line()?, row, text, reading.around(side)))
}
