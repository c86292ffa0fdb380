//! `stepscope review list`: the items that somebody judged.

use clap::Args;

use super::Where;
use crate::cli::{CLEAN, Out};
use crate::shown;

/// `stepscope review list`.
#[derive(Args, Clone, Debug)]
pub struct List {
    #[command(flatten)]
    place: Where,
    /// Print the ids alone
    #[arg(long)]
    ids: bool,
}

pub(super) fn run(list: &List, out: &mut Out) -> Option<u8> {
    let contents = list.place.contents(out)?;
    for reviewed in contents.reviews.items() {
        let id = reviewed.item().and_then(|item| item.id.as_ref()).map(|id| id.line()).unwrap_or_default();
        if list.ids {
            out.line(&id);
        } else {
            out.line(&shown!("{id} {}", reviewed.outcome(None).word()));
        }
    }
    Some(CLEAN)
}
