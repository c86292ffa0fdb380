//! `stepscope review`: verdicts in and out without a screen.

use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use clap::Subcommand;

use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::out::Out;
use crate::cli::review::logs::Where;
use stepscope_base::text::Shown;

mod add;
mod agreement;
pub(super) mod by_line;
mod choice;
mod export;
mod import;
mod list;
mod log_writer;
pub(super) mod logs;
mod merge;
mod next;
mod stats;

/// What to do with verdicts.
#[derive(Subcommand, Clone, Debug)]
pub enum ReviewCommand {
    /// Save a verdict, or many from JSON lines: `{"id", "verdict", "labels", "note"}`
    ///
    /// With --id (or --row) and --verdict it saves that one, else what standard input holds. Prints `saved ID` once a verdict is on the disk. With FILE, verdicts are bound to what the records
    /// hold; labels, steps and variables that they do not have are refused, without FILE only labels. What is given
    /// again unchanged, or with the same `event_id`, is the same event. Exit code: 0 all saved, 2 not all.
    Add(add::Add),
    /// Print the record to review next: worst first, what you reviewed is left out
    ///
    /// Exit code: 0 there is one, 1 all are reviewed, 2 something could not be read.
    Next(next::NextArgs),
    /// List reviewed items and their outcome
    List(list::ListArgs),
    /// Export verdicts as JSON lines, CSV or Markdown, or the failed records
    Export(export::ReviewExport),
    /// Import verdicts from a CSV with the columns id, verdict, labels and note
    ///
    /// With the columns item and citation too, a row is about that part of an answer, counted from 0. Of the other columns
    /// of an exported CSV it takes `row_index`, sha256, kind (adjudicate), `fix_target`, `first_bad_step`, variable,
    /// `gold_status` and correction, and names those that it does not take. Rows that are already saved are skipped; rows of another
    /// reviewer, or on a record that has changed since, are not saved. Exit code: 0 all saved, 2 not all.
    Import(import::Import),
    /// Count verdicts, labels, expected-answer statuses and rule precision
    Stats(stats::Stats),
    /// Measure agreement: overlap, and Cohen's or Fleiss' kappa per label
    Agreement(agreement::Agreement),
    /// Merge review logs, each event once
    Merge(merge::Merge),
}

impl ReviewCommand {
    /// Returns the records and logs that it is about; of a merge there are only logs.
    const fn place(&self) -> Option<&Where> {
        Some(match self {
            Self::Add(add) => &add.place,
            Self::Next(next) => &next.place,
            Self::List(list) => &list.place,
            Self::Export(export) => &export.place,
            Self::Import(import) => &import.place,
            Self::Stats(stats) => &stats.place,
            Self::Agreement(agreement) => &agreement.place,
            Self::Merge(_) => return None,
        })
    }
}

pub(super) fn run(review: &ReviewCommand, side: &Arc<SideData>, out: &mut Out) -> u8 {
    let side = match review.place().map(|place| place.tables.known(side)).transpose() {
        Ok(known) => &known.unwrap_or_else(|| side.clone()),
        Err(failure) => {
            out.complain(&Shown::from(failure));
            return FAILED;
        }
    };
    let done = match review {
        ReviewCommand::Add(add) => add::run(add, side, out),
        ReviewCommand::Next(next) => next::run(next, side, out),
        ReviewCommand::List(list) => list::run(list, side, out),
        ReviewCommand::Export(export) => export::run(export, side, out),
        ReviewCommand::Import(import) => import::run(import, side, out),
        ReviewCommand::Stats(stats) => stats::run(stats, side, out).map(|()| CLEAN),
        ReviewCommand::Agreement(agreement) => agreement::run(agreement, side, out).map(|()| CLEAN),
        ReviewCommand::Merge(merge) => merge::run(merge, out).map(|()| CLEAN),
    };
    // What could not be done was said where it happened.
    done.unwrap_or(FAILED)
}
