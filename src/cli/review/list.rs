//! `stepscope review list`: the items that somebody judged.

use clap::Args;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use super::{Choice, Where};
use crate::cli::{CLEAN, Out};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::review::export;
use stepscope_core::review::fold::{ItemReviews, Outcome, Reviews};
use stepscope_core::review::stats::name_of;
use stepscope_core::summary::Summary;
use stepscope_io::pipeline::summaries::Summaries;

/// A longer id does not widen the column.
const MAX_WIDTH: usize = 40;

/// `stepscope review list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    choice: Choice,
    /// Print the ids alone
    #[arg(long)]
    ids: bool,
}

pub(super) fn run(list: &ListArgs, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    let contents = list.place.contents(out)?;
    let summaries = list.place.summaries(&contents.reviews, side, out)?;
    let (index, sets) = (super::index(&summaries), contents.reviews.label_sets());
    let found = contents.reviews.items().map(|reviewed| index.at_content(reviewed));
    let chosen: Vec<_> = found.filter(|reviewed| list.choice.takes(*reviewed, &sets)).collect();
    let mut names: Vec<Shown> =
        chosen.iter().filter_map(|reviewed| reviewed.item()).map(|item| name_of(item).line()).collect();
    if list.ids {
        // An id of two files or sides is one id.
        let mut seen = foldhash::HashSet::default();
        names.retain(|name| seen.insert(name.clone()));
        let errors = unjudged_errors(list, &contents.reviews, &summaries).map(|summary| name_of(&summary.item).line());
        for name in names.into_iter().chain(errors) {
            out.line(&name);
        }
        return Some(CLEAN);
    }
    let width = names.iter().map(|name| name.as_str().chars().count()).max().unwrap_or(0).min(MAX_WIDTH);
    for reviewed in chosen {
        out.line(&export::text(reviewed, &sets, width));
    }
    for summary in unjudged_errors(list, &contents.reviews, &summaries) {
        out.line(&shown!(
            "{:width$}  {:8}  {}",
            name_of(&summary.item).line(),
            "error",
            "the run ended without an answer"
        ));
    }
    Some(CLEAN)
}

/// Runs that ended without an answer, which nobody has to judge for them to be run again.
fn unjudged_errors<'c>(
    list: &ListArgs,
    reviews: &Reviews,
    summaries: &'c Summaries,
) -> impl Iterator<Item = &'c Summary> {
    let wanted = |summary: &&Summary| {
        let reviewed = reviews.find(&summary.item, Some(&summary.content));
        let outcome = reviewed.map_or(Outcome::Open, ItemReviews::outcome);
        list.choice.regenerate && summary.is_error() && matches!(outcome, Outcome::Open | Outcome::Stale)
    };
    summaries.summaries.iter().filter(wanted).collect::<Vec<_>>().into_iter()
}
