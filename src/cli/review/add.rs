//! `stepscope review add`: verdicts as JSON lines from standard input.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Read as _};
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use super::log_writer::LogWriter;
use crate::cli::out::Out;
use crate::cli::review::logs::Refused;
use crate::cli::review::logs::Where;
use crate::cli::review::logs::Who;
use crate::cli::review::logs::quiet_contents;
use clap::Args;
use stepscope_base::canonical::Digest;
use stepscope_base::json::Tape;
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::reason;
use stepscope_io::pipeline::summaries::{Summaries, read_named};
use stepscope_review::event::{
    AnswerPart, Event, EventKind, ItemRef, LabelSet, ReviewTimes, Reviewer, SeenRecord, Text, Verdict,
};
use stepscope_review::fold::{ItemReviews, Reviews, is_fresh};
use stepscope_review::join::Index;
use stepscope_review::labels::LabelSets;
use stepscope_review::log_line::MAX_LINE;
use stepscope_review::short_form;
use stepscope_review::summary::Summary;

/// `stepscope review add`.
#[derive(Args, Clone, Debug)]
pub struct Add {
    #[command(flatten)]
    pub(super) place: Where,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    flags: VerdictFlags,
}

/// One verdict, in place of lines.
#[derive(Args, Clone, Debug)]
#[group(multiple = true)]
struct VerdictFlags {
    /// The record's id
    #[arg(long, value_name = "ID", requires = "verdict", allow_hyphen_values = true)]
    id: Option<String>,
    /// The `row_index` of a record without an id, or of one of several with the id; where it has none, its position from 0
    #[arg(long, value_name = "N", requires = "verdict")]
    row: Option<u64>,
    /// The sha256 of its content, as `check --format jsonl` prints it, where several records have the id
    #[arg(long, value_name = "HEX", requires = "verdict")]
    sha256: Option<String>,
    /// What you say of it: pass, fail, defer or skip
    #[arg(long, value_name = "VERDICT")]
    verdict: Option<String>,
    /// A label of the failed record; may be repeated
    #[arg(long, value_name = "LABEL", requires = "verdict")]
    label: Vec<String>,
    /// How chance chose the record, as `review next` prints it
    #[arg(long, value_name = "DRAW", requires = "verdict")]
    drawn: Option<String>,
    /// In your own words
    #[arg(long, value_name = "TEXT", requires = "verdict", allow_hyphen_values = true)]
    note: Option<String>,
}

impl VerdictFlags {
    /// Formats the line that says the same; `None`: no verdict was given.
    fn line(&self) -> Option<Vec<u8>> {
        let verdict = self.verdict.as_ref()?;
        let mut line = Vec::new();
        Style::ASCII.line(&mut line, |object| {
            object.maybe("id", self.id.as_deref());
            object.maybe("row_index", self.row);
            object.maybe("sha256", self.sha256.as_deref());
            object.put("verdict", verdict.as_str());
            object.list("labels", self.label.iter().map(String::as_str));
            object.maybe("drawn", self.drawn.as_deref());
            object.maybe("note", self.note.as_deref());
        });
        Some(line)
    }

    /// Tells whether the verdict may be about an item: lines, in place of flags, may be about any.
    fn is_about(&self, item: &ItemRef) -> bool {
        match (&self.id, self.row) {
            (Some(id), _) => item.id.as_ref().and_then(Text::utf8) == Some(id.as_str()),
            (None, Some(row)) => item.id.is_none() && item.row_index == Some(row),
            (None, None) => true,
        }
    }
}

/// Item, or part of an answer, with the content that was seen, and who judges it: several records may have one name.
type JudgedKey = (ItemRef, Option<Digest>, Option<AnswerPart>, Text);

/// Items, and parts of answers, that the lines (or rows) of one batch judged: what is judged twice is reported.
pub(super) struct JudgedLines {
    unit: &'static str,
    judged: HashMap<JudgedKey, (usize, Verdict)>,
    /// Lines that say what the reviewer once said and has changed since. Where a later line judges the same, the batch is
    /// given again, or the line would not count anyway.
    doubtful: HashMap<JudgedKey, (usize, Event)>,
}

/// What is to be done with a line of a batch, now that it is known.
pub(super) enum Decided {
    /// The review log holds its event.
    Held(Event),
    /// Its event is to be saved.
    New(usize, Event),
}

impl JudgedLines {
    pub(super) fn new(unit: &'static str) -> Self {
        Self { unit, judged: HashMap::new(), doubtful: HashMap::new() }
    }

    fn key(event: &Event) -> Option<(JudgedKey, Verdict)> {
        let judges = event.kind == EventKind::Verdict || event.part.is_some();
        let (item, verdict) = event.item.as_ref().zip(event.verdict.filter(|_| judges))?;
        Some(((item.clone(), event.seen.content_sha256, event.part, event.reviewer.id.clone()), verdict))
    }

    /// Takes the event of a line; returns the lines that are decided by it. `Err`: its id is that of another event.
    pub(super) fn decide(&mut self, line: usize, event: Event, known: &Completion<'_>) -> Result<Vec<Decided>, Shown> {
        let is_held = known.holds(&event)?;
        let key = Self::key(&event).map(|(key, _)| key);
        let before = key.as_ref().and_then(|key| self.doubtful.remove(key));
        let decided = match key {
            _ if is_held => Some(Decided::Held(event)),
            Some(key) if !self.judged.contains_key(&key) && known.held_before(&event) => {
                self.doubtful.insert(key, (line, event));
                None
            }
            _ => Some(Decided::New(line, event)),
        };
        Ok(before.map(|(_, event)| Decided::Held(event)).into_iter().chain(decided).collect())
    }

    /// Takes out the lines that no later one decided: the reviewer has changed their mind again.
    pub(super) fn rest(&mut self) -> Vec<Decided> {
        let mut rest: Vec<_> = self.doubtful.drain().map(|(_, doubtful)| doubtful).collect();
        rest.sort_by_key(|(line, _)| *line);
        rest.into_iter().map(|(line, event)| Decided::New(line, event)).collect()
    }

    /// Returns the sentence for a line that changes an earlier one.
    pub(super) fn change(&mut self, event: &Event, number: usize) -> Option<Shown> {
        let unit = self.unit;
        let (key, verdict) = Self::key(event)?;
        let name = event.item.as_ref().map(|item| item.name().line().cut(60)).unwrap_or_default();
        let (line, before) = self.judged.insert(key, (number, verdict))?;
        let part = event.part.map(|part| format!(", {}", part.phrase())).unwrap_or_default();
        let name = name.join(&shown!("{part}"));
        Some(if before == verdict {
            shown!("{unit} {number} changes {unit} {line}: {name} stays {}, with other words or labels", verdict.word())
        } else {
            shown!("{unit} {number} changes {unit} {line}: {name} was {}, is {} now", before.word(), verdict.word())
        })
    }
}

/// Data that completes an event: earlier reviews, and the records.
pub(super) struct Completion<'k> {
    pub(super) reviewer: Reviewer,
    pub(super) reviews: Reviews,
    /// Records, if any were named: then nothing else is judged.
    pub(super) records: Option<Index<'k>>,
    /// Labels that may be given as long as the review log has none of its own: those that the screen offers for these
    /// records. A review log by itself takes any label until it has a label set.
    offered: Option<LabelSet>,
}

impl Completion<'_> {
    /// Returns the labels that may be given.
    pub(super) fn label_sets(&self) -> LabelSets<'_> {
        let sets = self.reviews.label_sets();
        match &self.offered {
            Some(offered) => sets.or_offered(offered),
            None => sets,
        }
    }

    /// Binds an event to its record and to what the reviewer said before; `Err`: the event means nothing.
    pub(super) fn complete(&self, mut event: Event) -> Result<Event, Shown> {
        if let Some(why) = event.contradicts() {
            return Err(why);
        }
        let mut record = None;
        if let Some((item, records)) = event.item.as_mut().zip(self.records.as_ref()) {
            let summary = meant(records, item, event.seen.content_sha256.as_ref())?;
            if let Some(why) = event.correction.as_ref().and_then(|json| summary.answer_type.refuses(json.bytes())) {
                return Err(why);
            }
            if let Some(why) = summary.refuses(event.first_bad_step, event.variable.as_ref()) {
                return Err(why);
            }
            if let Some(why) = event.part.and_then(|part| summary.refuses_part(part)) {
                return Err(why);
            }
            event.seen = summary.seen();
            event.findings = Some(summary.findings.iter().map(|rule| Text::from(rule.word())).collect());
            item.dataset.clone_from(&summary.item.dataset);
            item.row_index = summary.item.row_index;
            record = Some((records, summary));
        }
        let reviewed = match record {
            Some((records, summary)) => records.find(&self.reviews, summary),
            None => event.item.as_ref().and_then(|item| self.reviews.find(item, event.seen.content_sha256.as_ref())),
        };
        let earlier = reviewed.and_then(|reviewed| match event.kind {
            EventKind::Verdict => reviewed.verdict_of(&self.reviewer.id),
            EventKind::Undo => {
                let own = || reviewed.events().filter(|earlier| earlier.reviewer.id == self.reviewer.id);
                own().rfind(|earlier| reviewed.is_fresh(earlier)).or_else(|| own().next_back())
            }
            _ => None,
        });
        if event.supersedes.is_none() {
            event.supersedes = earlier.map(|earlier| earlier.event_id.clone());
        } else if event.kind == EventKind::Undo {
            self.may_undo(event.supersedes.as_ref())?;
        }
        match event.lacks() {
            Some(lacks) => Err(shown!("this {} lacks {lacks}", event.kind.word())),
            None => Ok(event),
        }
    }

    /// Refuses an item whose record is in another row than the one that was given with its id. What names its content
    /// is of that, wherever it is now.
    fn must_be_in_its_row(&self, event: &Event) -> Result<(), Shown> {
        let Some((item, records)) = event.item.as_ref().zip(self.records.as_ref()) else { return Ok(()) };
        let (Some(id), Some(row), None) = (&item.id, item.row_index, &event.seen.content_sha256) else { return Ok(()) };
        let mut named = records.named(item).map(|summary| summary.item.row_index).peekable();
        let is_elsewhere = named.peek().is_some() && !named.any(|place| place == Some(row));
        let why =
            || shown!("the record \"{}\" is not in row {row}; leave the row out, or correct it", id.line().cut(60));
        if is_elsewhere { Err(why()) } else { Ok(()) }
    }

    /// Refuses an undo of what is not there, or of what somebody else said: it would change nothing.
    fn may_undo(&self, target: Option<&Text>) -> Result<(), Shown> {
        let name = || target.map(|target| target.line().cut(60)).unwrap_or_default();
        match target.and_then(|target| self.reviews.event(target)) {
            None => Err(shown!("no event {} in the review log", name())),
            Some((event, _)) if event.reviewer.id != self.reviewer.id => {
                Err(shown!("{} is of {}, who alone can undo it", name(), event.reviewer.id.line().cut(40)))
            }
            Some(_) => Ok(()),
        }
    }

    /// Tells whether the review log holds this very event: with its id; or, where it was given none, as what the
    /// reviewer says of the item now. So a batch that was interrupted may be given again, and nothing counts twice.
    /// `Err`: the id is that of another event.
    fn holds(&self, event: &Event) -> Result<bool, Shown> {
        if !event.event_id.is_empty() {
            return match self.reviews.event(&event.event_id) {
                None => Ok(false),
                Some((earlier, _)) if says_the_same(&earlier, event) => Ok(true),
                Some(_) => Err(shown!("another event has the event_id {}", event.event_id.line().cut(60))),
            };
        }
        let content = event.seen.content_sha256.as_ref();
        let same = |earlier: &Event| says_the_same(earlier, event) && is_fresh(earlier, content);
        let reviewed = || event.item.as_ref().and_then(|item| self.reviews.find(item, content));
        Ok(match event.kind {
            EventKind::Verdict => {
                reviewed().and_then(|one| one.verdict_of(&event.reviewer.id)).is_some_and(|e| same(&e))
            }
            EventKind::Adjudicate => reviewed().and_then(ItemReviews::adjudication).is_some_and(|e| same(&e)),
            EventKind::Note => reviewed().is_some_and(|one| {
                one.notes().chain(one.parts().map(|(_, event)| event)).any(|earlier| same(&earlier))
            }),
            EventKind::LabelSet => {
                let set = event.label_set.as_ref();
                set.is_some_and(|set| self.reviews.label_sets().newest_of(&set.id) == Some(set))
            }
            // Each takes back one more.
            EventKind::Undo | EventKind::Reveal => false,
        })
    }

    /// Tells whether the reviewer said the same of the item before, whatever they say now. What was given an id is an
    /// event of its own.
    fn held_before(&self, event: &Event) -> bool {
        let content = event.seen.content_sha256.as_ref();
        let reviewed = event.item.as_ref().and_then(|item| self.reviews.find(item, content));
        let same = |earlier: &Event| says_the_same(earlier, event) && is_fresh(earlier, content);
        event.event_id.is_empty() && reviewed.is_some_and(|reviewed| reviewed.events().any(|earlier| same(&earlier)))
    }
}

/// Finds the record that is meant. Of several with one name it is the one of this content or in this place; `Err`: there
/// is none, or several may be meant.
fn meant<'k>(records: &Index<'k>, item: &ItemRef, content: Option<&Digest>) -> Result<&'k Summary, Shown> {
    let named: Vec<&Summary> = records.named(item).collect();
    let Some(first) = named.first() else {
        return Err(match &item.id {
            Some(id) => shown!("no record has the id \"{}\"", id.line().cut(60)),
            None => Shown::own("no record without an id has this row_index"),
        });
    };
    if let Some(content) = content {
        let same = named.iter().find(|summary| summary.content == *content);
        return same.copied().ok_or(Shown::own("the record with this name has another sha256: it has changed"));
    }
    // What says the same word for word may be either.
    let is_one = |named: &[&Summary]| named.iter().all(|summary| summary.content == first.content);
    let in_place: Vec<&Summary> =
        named.iter().copied().filter(|summary| summary.item.row_index == item.row_index).collect();
    match in_place.as_slice() {
        _ if is_one(&named) => Ok(first),
        [one] => Ok(one),
        _ => Err(shown!(
            "{} records have this name; add --row or --sha256 of one (in a line row_index, sha256 or dataset)",
            named.len()
        )),
    }
}

/// Tells whether two events say the same, apart from their ids and times and the events that they replace.
fn says_the_same(one: &Event, other: &Event) -> bool {
    let said = |event: &Event| Event {
        event_id: Text::default(),
        times: ReviewTimes { active_ms: event.times.active_ms, ..ReviewTimes::default() },
        supersedes: None,
        tool_version: Text::default(),
        findings: None,
        seen: SeenRecord { content_sha256: event.seen.content_sha256, ..SeenRecord::default() },
        ..event.clone()
    };
    said(one) == said(other)
}

impl<'k> Completion<'k> {
    /// Opens the review log that a place names, and reads it. `None`: this was not possible, and the reason was
    /// printed.
    pub(super) fn open(place: &Where, who: &Who, summaries: &'k Summaries, out: &Out) -> Option<(Self, LogWriter)> {
        let opened = place.journal().and_then(|journal| match LogWriter::open(&journal) {
            Ok(writer) => Ok((journal, writer)),
            Err(failure) => Err(shown!("NOT SAVED: {failure}")),
        });
        let (journal, writer) = out.given(opened)?;
        let contents = quiet_contents(&[journal], out)?;
        let records = (!place.files.is_empty()).then(|| Index::of(&summaries.summaries));
        let offered = records.is_some().then(|| LabelSet { version: 0, ..LabelSet::starter() });
        Some((Self { reviewer: who.reviewer(), reviews: contents.reviews, records, offered }, writer))
    }
}

pub(super) fn run(add: &Add, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    let is_about = |item: &ItemRef| add.flags.is_about(item);
    let summaries = add.place.records(out, |files, threads| read_named(files, threads, side, is_about))?;
    let (known, writer) = Completion::open(&add.place, &add.who, &summaries, out)?;
    let mut input: Box<dyn BufRead> = match add.flags.line() {
        Some(line) => Box::new(Cursor::new(line)),
        None => Box::new(BufReader::new(std::io::stdin())),
    };
    let mut batch = GivenLines { known, writer, judged: JudgedLines::new("line") };
    let (mut refused, mut tape, mut line) = (Refused::default(), Tape::default(), Vec::new());
    for number in 1_usize.. {
        match next_line(&mut input, &mut line) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                out.complain(&shown!("cannot read standard input: {}; nothing more is saved", reason(&error)));
                return None;
            }
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut event = understood(&line, &mut tape, &batch.known);
        if event.as_ref().is_ok_and(|event| event.kind == EventKind::Undo) && !batch.judged.doubtful.is_empty() {
            // It may be aimed at one of them.
            batch.rest(out)?;
            event = understood(&line, &mut tape, &batch.known);
        }
        match event.and_then(|event| batch.judged.decide(number, event, &batch.known)) {
            Ok(decided) => decided.into_iter().try_for_each(|decided| batch.take(decided, out))?,
            Err(why) => {
                let what = if add.flags.verdict.is_some() {
                    shown!("not saved")
                } else {
                    shown!("line {number} is not saved")
                };
                refused.say(&shown!("{what}: {why}"), out);
            }
        }
        // Where a reader had enough, what was given is saved all the same. Where the output fails nobody could be told of
        // what is saved, and would give it again.
        if out.has_failed() {
            out.complain(&shown!("what follows line {number} is not saved; give it again"));
            return None;
        }
    }
    batch.rest(out)?;
    Some(refused.end(out))
}

/// Lines on their way into the review log.
struct GivenLines<'k> {
    known: Completion<'k>,
    writer: LogWriter,
    judged: JudgedLines,
}

impl GivenLines<'_> {
    /// Saves what no later line decided.
    fn rest(&mut self, out: &mut Out) -> Option<()> {
        self.judged.rest().into_iter().try_for_each(|decided| self.take(decided, out))
    }

    /// Saves the event of a line, unless the review log holds it, and says so. `None`: it could not be saved, and nothing
    /// behind it.
    fn take(&mut self, decided: Decided, out: &mut Out) -> Option<()> {
        let saved = |event: &Event, out: &mut Out| {
            let name = event.item.as_ref().and_then(|item| item.id.as_ref()).unwrap_or(&event.event_id);
            out.line(&shown!("saved {}", name.line()));
            out.flush();
        };
        let (number, event) = match decided {
            Decided::New(number, event) => (number, event),
            // It is safe on the disk: that is what "saved" says.
            Decided::Held(event) => {
                saved(&event, out);
                return Some(());
            }
        };
        if let Some(change) = self.judged.change(&event, number) {
            out.complain(&change);
        }
        let name = event.item.as_ref().and_then(|item| item.id.as_ref()).map(Text::line);
        match self.writer.save(event, out) {
            Ok(event) => {
                saved(&event, out);
                self.known.reviews.push(event);
                Some(())
            }
            Err(failure) => {
                out.complain(&shown!("NOT SAVED {}: {failure}", name.unwrap_or_default()));
                out.complain(&shown!("nothing from line {number} on is saved; pass those lines again"));
                None
            }
        }
    }
}

fn understood(line: &[u8], tape: &mut Tape, known: &Completion<'_>) -> Result<Event, Shown> {
    if line.len() > MAX_LINE {
        return Err(Shown::own("it is longer than 1 MB"));
    }
    let Some(value) = tape.parse(line) else {
        let why = tape.problems().last().map_or("", |problem| problem.kind.summary());
        return Err(shown!("it is not JSON: {why}"));
    };
    let event = short_form::read(value, &known.reviewer, &known.label_sets())?;
    known.must_be_in_its_row(&event)?;
    known.complete(event)
}

/// Reads the next line, or as much of a long one as shows that it is too long; `false`: there is none.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    let most = MAX_LINE as u64 + 1;
    line.clear();
    let mut read = input.by_ref().take(most).read_until(b'\n', line)?;
    let mut rest = Vec::new();
    while read as u64 == most && rest.last().or(line.last()) != Some(&b'\n') {
        rest.clear();
        read = input.by_ref().take(most).read_until(b'\n', &mut rest)?;
    }
    Ok(!line.is_empty())
}
