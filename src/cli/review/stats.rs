//! `stepscope review stats`: what was counted.

use clap::Args;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use super::Where;
use crate::cli::{ListFormat, Out};
use stepscope_base::shown;
use stepscope_core::review::stats;
use stepscope_io::pipeline::summaries::read_judged;

/// `stepscope review stats`.
#[derive(Args, Clone, Debug)]
pub struct Stats {
    #[command(flatten)]
    place: Where,
    /// How to print
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

pub(super) fn run(options: &Stats, side: &Arc<SideData>, out: &mut Out) -> Option<()> {
    let contents = options.place.contents(out)?;
    let summaries = options.place.records(out, |files, threads| read_judged(files, threads, side))?;
    let index = super::index(&summaries);
    let stats = stats::Stats::of(&contents.reviews, |reviewed| index.of_item(reviewed));
    if options.format == ListFormat::Jsonl {
        stats.write_json(out);
        return Some(());
    }
    for line in stats.lines() {
        out.line(&line);
    }
    let judged = |summary: &stepscope_core::summary::Summary| {
        contents.reviews.find(&summary.item, Some(&summary.content)).is_some()
    };
    let open = summaries.summaries.iter().filter(|summary| !judged(summary)).count();
    if !summaries.summaries.is_empty() {
        out.line(&shown!("{open} of {} records unreviewed", summaries.summaries.len()));
    }
    Some(())
}
