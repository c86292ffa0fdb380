//! `stepscope review agreement`: how far reviewers agree.

use clap::Args;

use super::Where;
use crate::cli::{ListFormat, Out};
use stepscope_core::review::agreement;

/// `stepscope review agreement`.
#[derive(Args, Clone, Debug)]
pub struct Agreement {
    #[command(flatten)]
    place: Where,
    /// How to print
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

pub(super) fn run(options: &Agreement, out: &mut Out) -> Option<()> {
    let contents = options.place.contents(out)?;
    let agreement = agreement::Agreement::of(&contents.reviews);
    if options.format == ListFormat::Jsonl {
        agreement.write_json(out);
    } else {
        for line in agreement.lines() {
            out.line(&line);
        }
    }
    Some(())
}
