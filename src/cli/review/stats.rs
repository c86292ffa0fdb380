//! `stepscope review stats`: what was counted.

use clap::Args;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use crate::cli::options::ListFormat;
use crate::cli::out::Out;
use crate::cli::peer_args::PeerArgs;
use crate::cli::review::logs::Where;
use crate::cli::review::logs::joined;
use stepscope_base::shown;
use stepscope_io::pipeline::summaries::read;
use stepscope_judge::case::CaseView;
use stepscope_review::fold::Outcome;
use stepscope_review::join::Index;
use stepscope_review::stats;
use stepscope_review::summary::Summary;

/// `stepscope review stats`.
#[derive(Args, Clone, Debug)]
pub struct Stats {
    #[command(flatten)]
    pub(super) place: Where,
    #[command(flatten)]
    peers: PeerArgs,
    /// How to print
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

pub(super) fn run(options: &Stats, side: &Arc<SideData>, out: &mut Out) -> Option<()> {
    let contents = options.place.contents(out)?;
    let reviews = &contents.reviews;
    let side = &out.given(options.peers.read(side, out))?;
    // How accurate all records are is estimated where chance chose some of them.
    let is_drawn = reviews.events().any(|event| event.drawn.is_some());
    // Judged is only what a reviewer's own judgment is compared with.
    let fix = |summary: &mut Summary, case: &CaseView<'_>| {
        if reviews.names_fix(&summary.item) {
            summary.take_fix(case);
        }
        if is_drawn {
            summary.take_signal(case);
        }
    };
    let summaries = options.place.records(out, |files, threads| read(files, reviews, threads, side, fix))?;
    let index = Index::of(&summaries.summaries);
    let joined = joined(&index, reviews, out);
    let stats = stats::Stats::of(reviews, &joined);
    if options.format == ListFormat::Jsonl {
        stats.write_json(out);
        return Some(());
    }
    for line in stats.lines() {
        out.line(&line);
    }
    if !summaries.summaries.is_empty() {
        // A note, or a verdict on a part, leaves the record open.
        let is_open = |record: &&Summary| index.find(reviews, record).is_none_or(|one| one.outcome() == Outcome::Open);
        let open = summaries.summaries.iter().filter(is_open).count();
        out.line(&shown!("{open} of {} records unreviewed", summaries.summaries.len()));
    }
    Some(())
}
