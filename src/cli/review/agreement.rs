//! `stepscope review agreement`: how far reviewers agree.

use std::sync::Arc;

use clap::Args;

use crate::cli::options::ListFormat;
use crate::cli::out::Out;
use crate::cli::review::logs::Where;
use crate::cli::review::logs::joined;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::summaries::read;
use stepscope_review::agreement;
use stepscope_review::join::Index;

/// `stepscope review agreement`.
#[derive(Args, Clone, Debug)]
pub struct Agreement {
    #[command(flatten)]
    pub(super) place: Where,
    /// How to print
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

pub(super) fn run(options: &Agreement, side: &Arc<SideData>, out: &mut Out) -> Option<()> {
    let reviews = options.place.contents(out)?.reviews;
    let records = options.place.records(out, |files, threads| read(files, &reviews, threads, side, |_, _| {}))?;
    let index = Index::of(&records.summaries);
    let agreement = agreement::Agreement::of(&reviews, &joined(&index, &reviews, out));
    if options.format == ListFormat::Jsonl {
        agreement.write_json(out);
    } else {
        for line in agreement.lines() {
            out.line(&line);
        }
    }
    Some(())
}
