//! `stepscope review list`: the items that somebody judged.

use clap::Args;

use super::{Choice, Where};
use crate::cli::{CLEAN, Out};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::card::Card;
use stepscope_core::review::export::{self, Line};
use stepscope_core::review::fold::{Outcome, Reviews};
use stepscope_core::review::stats::name_of;
use stepscope_io::pipeline::summaries::Cards;

/// A longer id does not widen the column.
const MAX_WIDTH: usize = 40;

/// `stepscope review list`.
#[derive(Args, Clone, Debug)]
pub struct List {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    choice: Choice,
    /// Print the ids alone
    #[arg(long)]
    ids: bool,
}

pub(super) fn run(list: &List, out: &mut Out) -> Option<u8> {
    let contents = list.place.contents(out)?;
    let cards = list.place.cards(&contents.reviews, out)?;
    let (index, sets) = (super::index(&cards), contents.reviews.label_sets());
    let found = contents.reviews.items().map(|reviewed| (reviewed, index.of_item(reviewed)));
    let chosen: Vec<_> = found.filter(|(reviewed, card)| list.choice.takes(*reviewed, *card, &sets)).collect();
    let mut names: Vec<Shown> =
        chosen.iter().filter_map(|(reviewed, _)| reviewed.item()).map(|item| name_of(item).line()).collect();
    if list.ids {
        // An id of two files or sides is one id.
        let mut seen = foldhash::HashSet::default();
        names.retain(|name| seen.insert(name.clone()));
        let errors = unjudged_errors(list, &contents.reviews, &cards).map(|card| name_of(&card.item).line());
        for name in names.into_iter().chain(errors) {
            out.line(&name);
        }
        return Some(CLEAN);
    }
    let width = names.iter().map(|name| name.as_str().chars().count()).max().unwrap_or(0).min(MAX_WIDTH);
    for (reviewed, card) in chosen {
        out.line(&export::text(&Line { reviewed, content: card.map(|card| &card.content) }, &sets, width));
    }
    for card in unjudged_errors(list, &contents.reviews, &cards) {
        out.line(&shown!(
            "{:width$}  {:8}  {}",
            name_of(&card.item).line(),
            "error",
            "the run ended without an answer"
        ));
    }
    Some(CLEAN)
}

/// Runs that ended without an answer, which nobody has to judge for them to be run again.
fn unjudged_errors<'c>(list: &List, reviews: &Reviews, cards: &'c Cards) -> impl Iterator<Item = &'c Card> {
    let wanted = |card: &&Card| {
        let reviewed = reviews.find(&card.item, Some(&card.content));
        let outcome = reviewed.map_or(Outcome::Open, |reviewed| reviewed.outcome(Some(&card.content)));
        list.choice.regenerate && card.is_error() && matches!(outcome, Outcome::Open | Outcome::Stale)
    };
    cards.cards.iter().map(|placed| &placed.card).filter(wanted).collect::<Vec<_>>().into_iter()
}
