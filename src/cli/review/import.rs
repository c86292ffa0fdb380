//! `stepscope review import`: the verdicts of a CSV.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use clap::Args;

use super::add::{Completion, Decided, JudgedLines};
use super::log_writer::LogWriter;
use crate::cli::out::Out;
use crate::cli::review::logs::Refused;
use crate::cli::review::logs::Where;
use crate::cli::review::logs::Who;
use stepscope_base::canonical::Digest;
use stepscope_base::json::Tape;
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::summaries::read_named;
use stepscope_io::source::cut::decode_wide;
use stepscope_io::source::open::{Opened, open};
use stepscope_record::finding::counted;
use stepscope_review::event::{AnswerPart, Event, EventKind, ItemRef, Text, Verdict};
use stepscope_review::import;
use stepscope_review::import::{ImportedRow, ImportedTable, RowPlace};
use stepscope_review::short_form;
use stepscope_review::short_form::split;

/// Number of rows that are given to the writer before it is waited for.
const TOGETHER: usize = 128;
/// Maximum size of a table, in bytes: a larger one was not made by hand.
const MAX_CSV: u64 = 256 << 20;
/// Maximum number of columns that are named because they are not imported.
const MAX_NAMED: usize = 30;

/// `stepscope review import`.
#[derive(Args, Clone, Debug)]
pub struct Import {
    /// The CSV; its first line names the columns
    #[arg(value_name = "CSV")]
    csv: PathBuf,
    #[command(flatten)]
    pub(super) place: Where,
    #[command(flatten)]
    who: Who,
}

pub(super) fn run(import: &Import, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    let table = read(&import.csv).and_then(|text| import::import(&text).map_err(|why| unreadable(&import.csv, &why)));
    let ImportedTable { rows, ignored } = out.given(table)?;
    if !ignored.is_empty() {
        let names = Shown::listed(ignored.iter().map(|name| name.line().cut(40)), MAX_NAMED);
        out.complain(&shown!("columns that are not imported: {names}"));
    }
    let mut refused = Refused::default();
    let rows = rows.into_iter().filter_map(|row| match row {
        Ok(row) => Some(row),
        Err((place, why)) => {
            refused.say(&not_saved(place, &why), out);
            None
        }
    });
    let me = import.who.reviewer().id;
    let (rows, others): (Vec<_>, Vec<_>) = rows.partition(|row| is_of(row, &me));
    let ids: HashSet<ItemRef> =
        rows.iter().filter_map(|row| Some(ItemRef { dataset: None, ..item(row).ok()? })).collect();
    let is_named = |item: &ItemRef| {
        let row_index = item.row_index.filter(|_| item.id.is_none());
        ids.contains(&ItemRef { id: item.id.clone(), row_index, ..ItemRef::default() })
    };
    let summaries = import.place.records(out, |files, threads| read_named(files, threads, side, is_named))?;
    let (mut known, mut writer) = Completion::open(&import.place, &import.who, &summaries, out)?;
    let mut repeated = 0;
    let mut of: BTreeMap<Shown, u64> = BTreeMap::new();
    for ImportedRow { more: [_, reviewer, ..], .. } in &others {
        *of.entry(reviewer.line().cut(40)).or_default() += 1;
    }
    for (reviewer, rows) in of {
        refused.say(
            &shown!("not saved: rows of the reviewer {reviewer} ({rows}); --reviewer {reviewer} imports them"),
            out,
        );
    }
    let (mut waiting, mut judged) = (Vec::new(), JudgedLines::new("row"));
    for at in 0..=rows.len() {
        let decided = match rows.get(at) {
            None => judged.rest(),
            Some(row) => match event(row, &known).and_then(|event| judged.decide(at, event, &known)) {
                Ok(decided) => decided,
                Err(why) => {
                    refused.say(&not_saved(row.place, &why), out);
                    continue;
                }
            },
        };
        for decided in decided {
            let Decided::New(at, event) = decided else {
                repeated += 1;
                continue;
            };
            let Some(row) = rows.get(at) else { continue };
            if let Some(change) = judged.change(&event, row.place.row) {
                out.complain(&change);
            }
            known.reviews.push(writer.give(event));
            waiting.push(row);
            if waiting.len() == TOGETHER {
                settle(&mut waiting, &mut writer, out)?;
            }
        }
    }
    settle(&mut waiting, &mut writer, out)?;
    if repeated > 0 {
        out.complain(&shown!("already in the review log: {}", counted(repeated, "row")));
    }
    Some(refused.end(out))
}

fn not_saved(place: RowPlace, why: &Shown) -> Shown {
    shown!("{} is not saved: {why}", place.phrase())
}

/// Waits until the rows that were given are saved, and says so.
fn settle(waiting: &mut Vec<&ImportedRow>, writer: &mut LogWriter, out: &mut Out) -> Option<()> {
    for row in waiting.drain(..) {
        let name = item(row).map(|item| item.name().line()).unwrap_or_default();
        if let Err(failure) = writer.settle(out) {
            out.complain(&shown!("NOT SAVED {name}: {failure}"));
            out.complain(&shown!("nothing from {} on is saved; import the file again", row.place.phrase()));
            return None;
        }
        out.line(&shown!("saved {name}"));
    }
    out.flush();
    Some(())
}

/// Tells whether a row is a verdict of this reviewer: a table of one names none.
fn is_of(ImportedRow { more: [_, reviewer, ..], .. }: &ImportedRow, me: &Text) -> bool {
    reviewer.is_empty() || reviewer == me
}

/// Reads which item a row is about: its id, else its position; in the file that it names.
fn item(row: &ImportedRow) -> Result<ItemRef, Shown> {
    let [id, ..] = &row.cells;
    let [row_index, .., dataset, _] = &row.more;
    let named = ItemRef { dataset: given(dataset).cloned(), ..ItemRef::default() };
    if !id.is_empty() {
        return Ok(ItemRef { id: Some(id.clone()), ..named });
    }
    let Some(cell) = given(row_index) else { return Err(Shown::own("it has no id")) };
    match whole(cell) {
        Some(row_index) => Ok(ItemRef { row_index: Some(row_index), ..named }),
        None => Err(shown!("row_index \"{}\" is not a whole number", cell.line().cut(40))),
    }
}

fn event(row: &ImportedRow, known: &Completion<'_>) -> Result<Event, Shown> {
    let [_, verdict, labels, note] = &row.cells;
    let [row_index, _, said_kind, stale, fix_target, step, variable, gold_status, correction, _, sha256] = &row.more;
    let item = item(row)?;
    is_there(&item, known)?;
    // Of several records with the id it says which one.
    let item = ItemRef { row_index: whole(row_index), ..item };
    if *stale == "stale" {
        return Err(Shown::own("its record has changed since; review it again"));
    }
    let part = part(&row.part)?;
    let word = verdict.utf8().unwrap_or_default().trim().to_ascii_lowercase();
    let is_note = word.is_empty() && !note.is_empty();
    let kind = match (is_note || part.is_some(), *said_kind == EventKind::Adjudicate.word()) {
        (true, _) => EventKind::Note,
        (false, true) => EventKind::Adjudicate,
        (false, false) => EventKind::Verdict,
    };
    let mut event = Event::new(kind, known.reviewer.clone());
    (event.verdict, event.part) = (Verdict::from_word(&word), part);
    if !is_note && event.verdict.is_none() {
        return Err(shown!("invalid verdict \"{}\" (use pass, fail, defer or skip)", verdict.line().cut(40)));
    }
    event.item = Some(item);
    event.seen.content_sha256 = given(sha256).map(content).transpose()?;
    let sets = known.label_sets();
    event.labels = split(labels).map(|label| short_form::known(sets.give(&label), &sets)).collect::<Result<_, _>>()?;
    event.note = given(note).cloned();
    event.fix_target = given(fix_target).map(|word| short_form::fix_target(word)).transpose()?;
    event.first_bad_step = given(step).map(first_bad_step).transpose()?;
    event.variable = given(variable).cloned();
    event.gold_status = given(gold_status).map(|word| short_form::gold_status(word)).transpose()?;
    event.correction = given(correction).map(json);
    known.complete(event)
}

fn given(cell: &Text) -> Option<&Text> {
    Some(cell).filter(|cell| !cell.is_empty())
}

/// Reads a whole number, also as those write it who take the column for fractions because some of its cells are empty:
/// `2.0`.
fn whole(cell: &Text) -> Option<u64> {
    let text = cell.utf8()?.trim();
    let (digits, zeros) = text.split_once('.').unwrap_or((text, ""));
    digits.parse().ok().filter(|_| zeros.bytes().all(|byte| byte == b'0'))
}

/// Refuses an id that no record has, and says so where a spreadsheet may have made it: they take 007 for 7, long numbers
/// for 1.2E+17 and 3-4 for a date.
fn is_there(item: &ItemRef, known: &Completion<'_>) -> Result<(), Shown> {
    let is_missing = known.records.as_ref().is_some_and(|records| records.named(item).next().is_none());
    let is_number_or_date = |id: &&Text| {
        let begins = id.bytes().first().is_some_and(u8::is_ascii_digit);
        begins && id.bytes().iter().all(|byte| b"0123456789.,:-/+Ee ".contains(byte))
    };
    match item.id.as_ref().filter(|_| is_missing).filter(is_number_or_date) {
        Some(id) => Err(shown!(
            "no record has the id \"{}\"; if a spreadsheet changed it, open the table there with id as a text column",
            id.line().cut(60)
        )),
        None => Ok(()),
    }
}

/// Reads the SHA-256 of the content that was judged.
fn content(cell: &Text) -> Result<Digest, Shown> {
    let hex = cell.bytes().trim_ascii();
    Digest::parse(hex).ok_or_else(|| shown!("sha256 \"{}\" is not 64 hexadecimal digits", cell.line().cut(70)))
}

/// Steps are counted from 1.
fn first_bad_step(cell: &Text) -> Result<u64, Shown> {
    whole(cell)
        .filter(|step| *step > 0)
        .ok_or_else(|| shown!("first_bad_step \"{}\" is not a whole number of 1 or more", cell.line().cut(40)))
}

/// Reads a correction: JSON as it is exported, or the words of somebody who knows no JSON.
fn json(cell: &Text) -> Text {
    let mut tape = Tape::default();
    Text::owned(match tape.parse(cell.bytes()) {
        Some(value) => Style::SORTED.of(value),
        None => Style::SORTED.of(cell),
    })
}

/// Reads the part of an answer that a row is about; `None`: the whole record.
fn part([item, citation]: &[Text; 2]) -> Result<Option<AnswerPart>, Shown> {
    let number = |cell: &Text| {
        whole(cell).ok_or_else(|| shown!("\"{}\" names no item or citation, counted from 0", cell.line().cut(40)))
    };
    let given = |cell| given(cell).map(number).transpose();
    match (given(item)?, given(citation)?) {
        (Some(item), citation) => Ok(Some(AnswerPart { item, citation })),
        (None, Some(_)) => Err(Shown::own("it has a citation and no item")),
        (None, None) => Ok(None),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Shown> {
    if path.as_os_str() == "-" && !path.exists() {
        return Err(Shown::own("standard input is not taken here; pass a file"));
    }
    let Opened::File(blob) = open(path)? else {
        return Err(unreadable(path, &Shown::own("it is a pipe; write it to a file")));
    };
    let len = blob.len()?;
    if len > MAX_CSV {
        return Err(unreadable(path, &Shown::own("it is larger than 256 MB")));
    }
    let mut text = Vec::new();
    blob.read(0, usize::try_from(len).unwrap_or(0), &mut text)?;
    Ok(decode_wide(&text).unwrap_or(text))
}

fn unreadable(path: &Path, why: &Shown) -> Shown {
    shown!("cannot import {}: {why}", Shown::path(path))
}
