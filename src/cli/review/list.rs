//! `stepscope review list`: the reviewed items.

use std::borrow::Cow;

use clap::Args;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use super::choice::Choice;
use crate::cli::codes::CLEAN;
use crate::cli::filtered::{FilterArgs, Filtered, Verdicts};
use crate::cli::options::ListFormat;
use crate::cli::out::Out;
use crate::cli::review::logs::Where;
use crate::cli::review::logs::Who;
use crate::cli::review::logs::joined;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::summaries::{Summaries, read};
use stepscope_judge::case::CaseView;
use stepscope_review::event::ItemRef;
use stepscope_review::export;
use stepscope_review::export::Columns;
use stepscope_review::fold::{ItemReviews, Outcome, Reviews};
use stepscope_review::join::Index;
use stepscope_review::labels::LabelSets;
use stepscope_review::summary::Summary;
use stepscope_review::verdict_state::VerdictState;

/// Maximum width of the column of ids; a longer id does not widen it.
const MAX_WIDTH: usize = 40;
/// Maximum length of a question, in characters; a longer one is cut.
const MAX_QUESTION: usize = 44;

/// Outcome of a record without reviews, and what is to be told of it.
type Unreviewed = (&'static str, &'static str);

const ERROR: Unreviewed = ("error", "the run ended without an answer");
const OPEN: Unreviewed = (Outcome::Open.word(), "unreviewed");

/// `stepscope review list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    pub(super) place: Where,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    filter: FilterArgs,
    /// Print the ids alone
    #[arg(long, conflicts_with = "format")]
    ids: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ListFormat::Text)]
    format: ListFormat,
}

pub(super) fn run(list: &ListArgs, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    let filter = out.given(list.filter.read(side.types(), Verdicts::Known))?;
    if filter.is_some() && list.place.files.is_empty() {
        out.complain(&Shown::own("--filter looks at the records; pass their file too"));
        return None;
    }
    let contents = list.place.contents(out)?;
    let reviews = &contents.reviews;
    let choice = list.choice.checked(reviews, out)?;
    let takes_unreviewed = choice.takes_unreviewed(filter.as_ref().is_some_and(Filtered::asks_reviews));
    let note = |summary: &mut Summary, case: &CaseView<'_>| {
        if reviews.names(&summary.item) || summary.is_error() || takes_unreviewed {
            summary.take_question(case);
            if let Some(filter) = &filter {
                filter.note(case);
            }
        }
    };
    let summaries = list.place.records(out, |files, threads| read(files, reviews, threads, side, note))?;
    let index = Index::of(&summaries.summaries);
    let (joined, sets) = (joined(&index, reviews, out), reviews.label_sets().for_people());
    joined.gone_phrase().iter().for_each(|gone| out.complain(gone));
    let found = joined.items.iter().map(|item| (item.reviewed, item.summary));
    let fits = |(reviewed, summary): &(ItemReviews<'_>, Option<&Summary>)| {
        choice.takes(*reviewed, &sets) && takes(filter.as_ref(), *summary, Some(*reviewed), &sets)
    };
    let chosen: Vec<_> = found.filter(fits).collect();
    let errors = unjudged_errors(list, reviews, &index, &summaries).map(|summary| (summary, ERROR));
    let open = joined.open.iter().filter(|_| takes_unreviewed).map(|summary| (*summary, OPEN));
    let unreviewed: Vec<(&Summary, Unreviewed)> =
        errors.chain(open).filter(|(summary, _)| takes(filter.as_ref(), Some(summary), None, &sets)).collect();
    if list.ids {
        let items = chosen.iter().map(|(reviewed, _)| reviewed.item());
        let mut names: Vec<Shown> = items.map(|item| item.name().line()).collect();
        // An id of two files or sides is one id.
        let mut seen = foldhash::HashSet::default();
        names.retain(|name| seen.insert(name.clone()));
        for name in names.into_iter().chain(unreviewed.iter().map(|(summary, _)| summary.item.name().line())) {
            out.exact(&name);
        }
        return Some(CLEAN);
    }
    if list.format == ListFormat::Jsonl {
        for (reviewed, summary) in chosen {
            export::jsonl(reviewed, summary.and_then(|summary| summary.question.as_ref()), &sets, out);
        }
        for (summary, (outcome, _)) in unreviewed {
            export::unreviewed(&summary.item, summary.question.as_ref(), outcome, out);
        }
        return Some(CLEAN);
    }
    let listed = chosen.iter().map(|(reviewed, summary)| (Cow::Owned(reviewed.item()), *summary));
    let unlisted = unreviewed.iter().map(|(summary, _)| (Cow::Borrowed(&summary.item), Some(*summary)));
    let columns = columns(listed.chain(unlisted));
    for (reviewed, summary) in chosen {
        out.line(&export::text(reviewed, question(summary), &sets, columns));
    }
    for (summary, (outcome, why)) in unreviewed {
        out.line(&columns.line(&summary.item.name().line(), outcome, question(Some(summary)), &Shown::own(why)));
    }
    Some(CLEAN)
}

/// Tells whether the filter takes an item: without a filter any item, with one only those among the records.
fn takes(
    filter: Option<&Filtered>,
    summary: Option<&Summary>,
    reviewed: Option<ItemReviews<'_>>,
    sets: &LabelSets<'_>,
) -> bool {
    let Some(filter) = filter else { return true };
    let me = Who::default().reviewer();
    let judged = reviewed.map(|reviewed| VerdictState::of(reviewed, &me, sets)).unwrap_or_default();
    summary.is_some_and(|summary| filter.took(summary, &judged))
}

fn question(summary: Option<&Summary>) -> Option<Shown> {
    summary?.question.clone().map(|question| question.cut(MAX_QUESTION))
}

/// Returns the columns that hold all of these items.
fn columns<'s>(listed: impl Iterator<Item = (Cow<'s, ItemRef>, Option<&'s Summary>)>) -> Columns {
    let characters = |text: &Shown, at_most: usize| text.as_str().chars().take(at_most).count();
    listed.fold(Columns::default(), |widest, (item, summary)| {
        let name = characters(&item.name().line(), MAX_WIDTH);
        let question = summary.and_then(|summary| summary.question.as_ref());
        // Where it is cut there is a sign for the rest.
        let question = question.map_or(0, |question| characters(question, MAX_QUESTION + 1));
        Columns { name: widest.name.max(name), question: widest.question.max(question) }
    })
}

/// Returns the runs that ended without an answer, which need no verdict to be run again.
fn unjudged_errors<'c>(
    list: &ListArgs,
    reviews: &Reviews,
    index: &Index<'_>,
    summaries: &'c Summaries,
) -> impl Iterator<Item = &'c Summary> {
    let wanted = |summary: &&Summary| {
        let outcome = index.find(reviews, summary).map_or(Outcome::Open, ItemReviews::outcome);
        list.choice.regenerate && summary.is_error() && matches!(outcome, Outcome::Open | Outcome::Stale)
    };
    summaries.summaries.iter().filter(wanted).collect::<Vec<_>>().into_iter()
}
