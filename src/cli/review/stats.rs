//! `stepscope review stats`: what was counted.

use clap::Args;

use super::{CountFormat, Where};
use crate::cli::Out;
use crate::cli::check::threads;
use stepscope_base::shown;
use stepscope_core::review::stats;
use stepscope_io::pipeline::summaries::{Cards, read_judged};

/// `stepscope review stats`.
#[derive(Args, Clone, Debug)]
pub struct Stats {
    #[command(flatten)]
    place: Where,
    /// How to print
    #[arg(long, value_enum, default_value_t = CountFormat::Text)]
    format: CountFormat,
}

pub(super) fn run(options: &Stats, out: &mut Out) -> Option<()> {
    let contents = options.place.contents(out)?;
    let files = &options.place.files;
    let cards = if files.is_empty() { Cards::default() } else { super::said(read_judged(files, threads(None)), out)? };
    let index = super::index(&cards);
    let stats = stats::Stats::of(&contents.reviews, |reviewed| index.of_item(reviewed));
    if options.format == CountFormat::Jsonl {
        stats.write_json(out);
        return Some(());
    }
    for line in stats.lines() {
        out.line(&line);
    }
    let judged = |card: &stepscope_core::card::Card| contents.reviews.find(&card.item, Some(&card.content)).is_some();
    let open = cards.cards.iter().filter(|placed| !judged(&placed.card)).count();
    if !cards.cards.is_empty() {
        out.line(&shown!("{open} of {} records are not reviewed", cards.cards.len()));
    }
    Some(())
}
