//! `stepscope review import`: the verdicts of a CSV.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use clap::Args;

use super::add::{Completion, JudgedLines};
use super::log_writer::LogWriter;
use super::{Refused, Where, Who};
use crate::cli::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::review::event::{AnswerPart, Event, EventKind, ItemRef, Text, Verdict};
use stepscope_core::review::export::{self, ImportedRow};
use stepscope_core::review::short_form::{self, split};
use stepscope_io::pipeline::summaries::read_named;
use stepscope_io::source::open::{Opened, open};

/// Number of rows that are given to the writer before it is waited for.
const TOGETHER: usize = 128;
/// Maximum size of a table, in bytes: a larger one was not made by hand.
const MAX_CSV: u64 = 256 << 20;

/// `stepscope review import`.
#[derive(Args, Clone, Debug)]
pub struct Import {
    /// The CSV; its first line names the columns
    #[arg(value_name = "CSV")]
    csv: PathBuf,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    who: Who,
}

pub(super) fn run(import: &Import, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    let rows = read(&import.csv).and_then(|text| export::import(&text).map_err(|why| unreadable(&import.csv, &why)));
    let rows = out.given(rows)?;
    let ids: HashSet<&Text> = rows.iter().map(|ImportedRow { cells: [id, ..], .. }| id).collect();
    let is_named = |item: &ItemRef| item.id.as_ref().is_some_and(|id| ids.contains(id));
    let summaries = import.place.records(out, |files, threads| read_named(files, threads, side, is_named))?;
    let (mut known, mut writer) = Completion::open(&import.place, &import.who, &summaries, out)?;
    let (mut refused, mut repeated) = (Refused::default(), 0_u64);
    let (mut waiting, mut judged) = (Vec::new(), JudgedLines::new("row"));
    for row in &rows {
        let event = event(row, &known).and_then(|event| Ok((known.stands(&event)?, event)));
        let event = match event {
            Ok((true, _)) => {
                repeated += 1;
                continue;
            }
            Ok((false, event)) => event,
            Err(why) => {
                refused.say(&shown!("row {} is not saved: {why}", row.row), out);
                continue;
            }
        };
        if let Some(change) = judged.change(&event, row.row as u64) {
            out.complain(&change);
        }
        known.reviews.push(writer.give(event));
        waiting.push(row);
        if waiting.len() == TOGETHER {
            settle(&mut waiting, &mut writer, out)?;
        }
    }
    settle(&mut waiting, &mut writer, out)?;
    if repeated > 0 {
        out.complain(&shown!("{repeated} rows are already in the review log"));
    }
    Some(refused.end(out))
}

/// Waits until the rows that were given are saved, and says so.
fn settle(waiting: &mut Vec<&ImportedRow>, writer: &mut LogWriter, out: &mut Out) -> Option<()> {
    for row in waiting.drain(..) {
        let [id, ..] = &row.cells;
        if let Err(failure) = writer.settle(out) {
            out.complain(&shown!("NOT SAVED {}: {failure}", id.line()));
            out.complain(&shown!("nothing from row {} on is saved; import the file again", row.row));
            return None;
        }
        out.line(&shown!("saved {}", id.line()));
    }
    out.flush();
    Some(())
}

fn event(row: &ImportedRow, known: &Completion<'_>) -> Result<Event, Shown> {
    let [id, verdict, labels, note] = &row.cells;
    if id.is_empty() {
        return Err(Shown::own("it has no id"));
    }
    let part = part(&row.part)?;
    let word = verdict.utf8().unwrap_or_default().trim().to_ascii_lowercase();
    let is_note = word.is_empty() && !note.is_empty();
    let kind = if is_note || part.is_some() { EventKind::Note } else { EventKind::Verdict };
    let mut event = Event::new(kind, known.reviewer.clone());
    (event.verdict, event.part) = (Verdict::from_word(&word), part);
    if !is_note && event.verdict.is_none() {
        return Err(shown!("invalid verdict \"{}\" (use pass, fail, defer or skip)", verdict.line().cut(40)));
    }
    event.item = Some(ItemRef { id: Some(id.clone()), ..ItemRef::default() });
    let sets = known.label_sets();
    event.labels = split(labels).map(|label| short_form::known(sets.give(&label), &sets)).collect::<Result<_, _>>()?;
    event.note = Some(note.clone()).filter(|note| !note.is_empty());
    known.complete(event)
}

/// Reads the part of an answer that a row is about; `None`: the whole record.
fn part([item, citation]: &[Text; 2]) -> Result<Option<AnswerPart>, Shown> {
    let number = |cell: &Text| {
        let number = cell.utf8().and_then(|text| text.trim().parse::<u64>().ok());
        number.ok_or_else(|| shown!("\"{}\" names no item or citation, counted from 0", cell.line().cut(40)))
    };
    let given = |cell: &Text| Some(cell.clone()).filter(|cell| !cell.is_empty()).as_ref().map(number).transpose();
    match (given(item)?, given(citation)?) {
        (Some(item), citation) => Ok(Some(AnswerPart { item, citation })),
        (None, Some(_)) => Err(Shown::own("it has a citation and no item")),
        (None, None) => Ok(None),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Shown> {
    let Opened::File(blob) = open(path)? else {
        return Err(unreadable(path, &Shown::own("it is a pipe; write it to a file")));
    };
    let len = blob.len()?;
    if len > MAX_CSV {
        return Err(unreadable(path, &Shown::own("it is larger than 256 MB")));
    }
    let mut text = Vec::new();
    blob.read(0, usize::try_from(len).unwrap_or(0), &mut text)?;
    Ok(text)
}

fn unreadable(path: &Path, why: &Shown) -> Shown {
    shown!("cannot import {}: {why}", Shown::path(path))
}
