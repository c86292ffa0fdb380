//! `stepscope review add`: verdicts as JSON lines from standard input.

use std::io::{BufRead, BufReader, Read as _};

use super::saver::Saver;
use super::{Where, Who};
use crate::cli::{CLEAN, FAILED, Out};
use crate::domain::card::Index;
use crate::domain::json::Tape;
use crate::domain::review::event::{Event, EventKind, Reviewer, Text};
use crate::domain::review::fold::Reviews;
use crate::domain::review::line::MAX_LINE;
use crate::domain::review::request;
use crate::domain::text::Shown;
use crate::io::cards::Cards;
use crate::io::failure::reason;
use crate::io::journal::read_all;
use crate::shown;
use clap::Args;

/// `stepscope review add`.
#[derive(Args, Clone, Debug)]
pub struct Add {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    who: Who,
}

/// What an event is completed from: what was said before, and the records.
pub(super) struct Known<'k> {
    pub(super) reviewer: Reviewer,
    pub(super) reviews: Reviews,
    /// The records, if any were named: then nothing else is judged.
    pub(super) records: Option<Index<'k>>,
}

impl Known<'_> {
    /// Binds an event to its record and to what the reviewer said before; `Err`: it means nothing.
    pub(super) fn complete(&self, mut event: Event) -> Result<Event, Shown> {
        if let Some((item, records)) = event.item.as_mut().zip(self.records.as_ref()) {
            let Some(card) = item.id.as_ref().and_then(|id| records.by_id(id)) else {
                return Err(Shown::own("no record has this id"));
            };
            if let Some(why) = event.correction.as_ref().and_then(|json| card.answer_type.refuses(json.bytes())) {
                return Err(why);
            }
            event.seen = card.seen();
            event.findings = Some(card.findings.iter().map(|rule| Text::from(*rule)).collect());
            item.dataset.clone_from(&card.item.dataset);
            item.row_index = card.item.row_index;
        }
        let reviewed = event.item.as_ref().and_then(|item| self.reviews.find(item, event.seen.content_sha256.as_ref()));
        let earlier = reviewed.and_then(|reviewed| match event.kind {
            EventKind::Verdict => reviewed.verdict_of(&self.reviewer.id),
            EventKind::Undo => reviewed.events().rfind(|earlier| earlier.reviewer.id == self.reviewer.id),
            _ => None,
        });
        if event.supersedes.is_none() {
            event.supersedes = earlier.map(|earlier| earlier.event_id.clone());
        }
        match event.lacks() {
            Some(lacks) => Err(shown!("this {} lacks {lacks}", event.kind.word())),
            None => Ok(event),
        }
    }
}

impl<'k> Known<'k> {
    /// Opens the journal that a place names, and reads what stands in it. `None`: that cannot be, and it was said.
    pub(super) fn open(place: &Where, who: &Who, cards: &'k Cards, out: &Out) -> Option<(Self, Saver)> {
        let opened = place.journal().and_then(|path| match Saver::open(&path) {
            Ok(saver) => Ok((path, saver)),
            Err(failure) => Err(shown!("NOT SAVED: {failure}")),
        });
        let (path, saver) = opened.map_err(|sentence| out.complain(&sentence)).ok()?;
        let contents = read_all(&[path]).map_err(|failure| out.complain(&shown!("{failure}"))).ok()?;
        for sentence in &contents.sentences {
            out.complain(sentence);
        }
        let records = (!place.files.is_empty()).then(|| super::index(cards));
        Some((Self { reviewer: who.reviewer(), reviews: contents.reviews, records }, saver))
    }
}

pub(super) fn run(add: &Add, out: &mut Out) -> Option<u8> {
    let cards = add.place.checked_cards(out)?;
    let (mut known, mut saver) = Known::open(&add.place, &add.who, &cards, out)?;
    let mut input = BufReader::new(std::io::stdin());
    let (mut code, mut tape, mut line) = (CLEAN, Tape::default(), Vec::new());
    for number in 1_u64.. {
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
        let event = match understood(&line, &mut tape, &known) {
            Ok(event) => event,
            Err(why) => {
                out.complain(&shown!("line {number} is not saved: {why}"));
                code = FAILED;
                continue;
            }
        };
        let name = event.item.as_ref().and_then(|item| item.id.as_ref()).map(Text::line);
        match saver.save(event, out) {
            Ok(event) => {
                let name = name.unwrap_or_else(|| event.event_id.line());
                out.line(&shown!("saved {name}"));
                out.flush();
                known.reviews.push(event);
            }
            Err(failure) => {
                let name = name.unwrap_or_default();
                out.complain(&shown!("NOT SAVED {name}: {failure}"));
                out.complain(&shown!("nothing from line {number} on is saved; give those lines again"));
                return None;
            }
        }
        if out.is_closed() {
            break;
        }
    }
    Some(code)
}

fn understood(line: &[u8], tape: &mut Tape, known: &Known<'_>) -> Result<Event, Shown> {
    if line.len() > MAX_LINE {
        return Err(Shown::own("it is longer than 1 MB"));
    }
    let Some(value) = tape.parse(line) else {
        let why = tape.problems.last().map_or("", |problem| problem.kind.summary());
        return Err(shown!("it is not JSON: {why}"));
    };
    known.complete(request::read(value, &known.reviewer, &known.reviews.label_sets())?)
}

/// The next line, or as much of a long one as shows that it is too long; `false`: there is none.
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
