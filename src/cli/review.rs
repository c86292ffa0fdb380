//! `stepscope review`: verdicts in and out without a screen.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{FAILED, Out};
use crate::domain::review::event::{Reviewer, ReviewerKind};
use crate::domain::text::{Shown, Untrusted};
use crate::io::cards::{Cards, read};
use crate::io::journal::{Contents, beside, read_all};
use crate::shown;

mod add;
mod list;
mod saver;

/// What to do with verdicts.
#[derive(Subcommand, Clone, Debug)]
pub enum Review {
    /// Save verdicts that come as JSON lines: {"id": "a-1", "verdict": "fail", "labels": ["slip"], "note": "..."}
    ///
    /// After each that is safe on the disk, `saved ID` is printed. With FILE, verdicts are bound to what the records
    /// hold. Exit code: 0 all saved, 2 not all.
    Add(add::Add),
    /// List the items that somebody judged, and what they are counted as
    List(list::List),
}

/// Which journals, and of which records.
#[derive(Args, Clone, Debug)]
pub struct Where {
    /// The record files: verdicts on what is not the same any more are shown, not counted
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The journal; without it, FILE.reviews.jsonl. Several are read one behind the other
    #[arg(long, value_name = "PATH")]
    reviews: Vec<PathBuf>,
}

/// Who judges.
#[derive(Args, Clone, Debug)]
pub struct Who {
    /// Who says it; without it, $STEPSCOPE_REVIEWER, $USER or the number of the user
    #[arg(long, value_name = "ID")]
    reviewer: Option<String>,
    /// What they are: person, model or program
    #[arg(long, value_name = "KIND", default_value = "person", value_parser = kind)]
    reviewer_kind: ReviewerKind,
}

fn kind(word: &str) -> Result<ReviewerKind, &'static str> {
    ReviewerKind::from_word(word).ok_or("it is person, model or program")
}

impl Who {
    /// The reviewer.
    fn reviewer(&self) -> Reviewer {
        let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let named = ["STEPSCOPE_REVIEWER", "USER", "LOGNAME"].into_iter().find_map(set);
        let id = self.reviewer.clone().or(named);
        let id = id.unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()));
        Reviewer { id: Untrusted::from(id), kind: self.reviewer_kind }
    }
}

impl Where {
    /// The journals.
    fn journals(&self) -> Result<Vec<PathBuf>, Shown> {
        if !self.reviews.is_empty() {
            return Ok(self.reviews.clone());
        }
        if self.files.is_empty() {
            return Err(Shown::own("name a record file, or its journal with --reviews"));
        }
        Ok(self.files.iter().map(|file| beside(file)).collect())
    }

    /// The one journal that is written.
    fn journal(&self) -> Result<PathBuf, Shown> {
        let mut journals = self.journals()?;
        match (journals.pop(), journals.is_empty()) {
            (Some(journal), true) => Ok(journal),
            _ => Err(Shown::own("verdicts are saved to one journal; name it with --reviews")),
        }
    }

    /// The records, if any were named.
    fn cards(&self, out: &Out) -> Option<Cards> {
        if self.files.is_empty() {
            return Some(Cards::default());
        }
        let cards = read(&self.files, super::check::threads(None));
        for failure in &cards.outcome.failures {
            out.complain(&shown!("{failure}"));
        }
        cards.outcome.failures.is_empty().then_some(cards)
    }

    /// What the journals hold; what is unusual in them is said.
    fn contents(&self, out: &Out) -> Option<Contents> {
        let journals = match self.journals() {
            Ok(journals) => journals,
            Err(sentence) => {
                out.complain(&sentence);
                return None;
            }
        };
        contents(&journals, out)
    }
}

/// Reads journals; what is unusual in them is said. `None`: one could not be read.
pub(super) fn contents(journals: &[PathBuf], out: &Out) -> Option<Contents> {
    match read_all(journals) {
        Ok(contents) => {
            for sentence in &contents.sentences {
                out.complain(sentence);
            }
            Some(contents)
        }
        Err(failure) => {
            out.complain(&shown!("{failure}"));
            None
        }
    }
}

pub(super) fn run(review: &Review, out: &mut Out) -> u8 {
    let done = match review {
        Review::Add(add) => add::run(add, out),
        Review::List(list) => list::run(list, out),
    };
    // What could not be done was said where it happened.
    done.unwrap_or(FAILED)
}
