//! Which of the judged items `stepscope review list` and `export` print.

use std::collections::BTreeSet;

use clap::Args;

use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_base::words::closest;
use stepscope_judge::triage::Fix;
use stepscope_review::event::{Event, LabelSet, Text};
use stepscope_review::fold::{ItemReviews, Outcome, Reviews};
use stepscope_review::labels::LabelSets;
use stepscope_review::stats::is_to_be_run_again;

/// Maximum number of words that are named where one is unknown.
const MAX_NAMED: usize = 30;

/// Which of the judged items.
#[derive(Args, Clone, Debug)]
pub(super) struct Choice {
    /// Only these outcomes: pass, fail, defer, skip, disputed, stale, open
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = outcome)]
    outcome: Vec<Outcome>,
    /// Only with one of these labels, by id or name
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    label: Vec<String>,
    /// Only with this where-to-fix: `step_run` (or "model output"), procedure, gold, none, unknown, or another program's word
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = fix)]
    fix: Vec<String>,
    /// Only by this reviewer
    #[arg(long, value_name = "ID")]
    by: Option<String>,
    /// Only with an expected answer called suspect or wrong
    #[arg(long)]
    disputed_gold: bool,
    /// Only to re-run: failed, and the expected answer is not to blame
    #[arg(long)]
    pub(super) regenerate: bool,
}

fn outcome(word: &str) -> Result<Outcome, &'static str> {
    Outcome::from_word(word).ok_or("use pass, fail, defer, skip, disputed, stale or open")
}

/// Returns the word of a place to fix, which people may call as the screen does.
#[expect(clippy::unnecessary_wraps, reason = "clap asks for a result")]
fn fix(said: &str) -> Result<String, &'static str> {
    let fix = Fix::ALL.into_iter().find(|fix| fix.phrase().eq_ignore_ascii_case(said));
    Ok(fix.map_or_else(|| said.to_owned(), |fix| fix.word().to_owned()))
}

/// Adds a text as a word that may be named.
fn add(words: &mut BTreeSet<String>, text: &Untrusted<'_>) {
    if let Some(word) = text.utf8() {
        words.insert(word.to_owned());
    }
}

/// Makes the sentence for a word that nothing is called by.
fn unknown(what: &str, word: &str, known: &BTreeSet<String>) -> Shown {
    let near = closest(word, known.iter().map(String::as_str));
    let near = near.map(|near| shown!(" Did you mean \"{}\"?", Shown::line(near.as_bytes()))).unwrap_or_default();
    let shown = |word: &String| Shown::line(word.as_bytes()).cut(40);
    let named = Shown::listed(known.iter().map(shown), MAX_NAMED);
    let word = Shown::line(word.as_bytes()).cut(40);
    shown!("unknown {what} \"{word}\" (use {named}).{near}")
}

impl Choice {
    /// Returns the choice with each label by its id. Refuses a label or place to fix that neither stepscope nor the
    /// review log knows: nothing would ever be chosen. Of a reviewer without a verdict it is only reported: there may be
    /// one later. `None`: refused.
    pub(super) fn checked(&self, reviews: &Reviews, out: &Out) -> Option<Self> {
        let mut choice = self.clone();
        // Without reviews nothing is known, and there is nothing to choose from.
        if reviews.is_empty() {
            return Some(choice);
        }
        if !self.label.is_empty() {
            let known = labels(reviews);
            let has = |label: &String| known.iter().any(|(id, name)| id == label || name == label);
            if let Some(label) = self.label.iter().find(|label| !has(label)) {
                let ids = known.into_iter().map(|(id, _)| id).collect();
                out.complain(&unknown("label", label, &ids));
                return None;
            }
            let called = known.into_iter().filter(|(_, name)| self.label.contains(name));
            choice.label.extend(called.map(|(id, _)| id));
        }
        if !self.fix.is_empty() {
            let mut known: BTreeSet<String> = Fix::ALL.into_iter().map(|fix| fix.word().to_owned()).collect();
            reviews.events().filter_map(|event| event.fix_target).for_each(|fix| add(&mut known, &fix));
            if let Some(fix) = self.fix.iter().find(|fix| !known.contains(*fix)) {
                out.complain(&unknown("place to fix", fix, &known));
                return None;
            }
        }
        if let Some(by) = &self.by {
            let mut known = BTreeSet::new();
            let judged = reviews.events().filter(|event| event.verdict.is_some());
            judged.for_each(|event| add(&mut known, &event.reviewer.id));
            if !known.contains(by) && !known.is_empty() {
                out.complain(&unknown("reviewer", by, &known));
            }
        }
        Some(choice)
    }

    /// Tells whether records without reviews are chosen: open ones are asked for, or a filter chooses by reviews
    /// (`is_filtered`).
    pub(super) fn takes_unreviewed(&self, is_filtered: bool) -> bool {
        let Self { outcome, label, fix, by, disputed_gold, regenerate } = self;
        (outcome.contains(&Outcome::Open) || is_filtered && outcome.is_empty())
            && label.is_empty()
            && fix.is_empty()
            && by.is_none()
            && !disputed_gold
            && !regenerate
    }

    /// Tells whether an item is chosen.
    pub(super) fn takes(&self, reviewed: ItemReviews<'_>, sets: &LabelSets<'_>) -> bool {
        let is = |text: &Untrusted<'_>, wanted: &[String]| wanted.iter().any(|wanted| *text == wanted.as_str());
        let labelled =
            || reviewed.labels(sets).iter().any(|label| is(&label.id, &self.label) || is(&label.name, &self.label));
        let fixed = |event: &Event| event.fix_target.as_ref().is_some_and(|target| is(target, &self.fix));
        let by = self.by.as_ref().map(|by| Untrusted::from(by.clone()));
        (self.outcome.is_empty() || self.outcome.contains(&reviewed.outcome()))
            && (self.label.is_empty() || labelled())
            && (self.fix.is_empty() || reviewed.fresh().into_iter().any(|event| fixed(&event)))
            && by.is_none_or(|by| reviewed.verdict_of(&by).is_some())
            && (!self.disputed_gold || reviewed.disputes_gold())
            && (!self.regenerate || is_to_be_run_again(reviewed))
    }
}

/// Collects the labels that may be asked for, each with its id and name: those of the newest sets, and those given.
fn labels(reviews: &Reviews) -> BTreeSet<(String, String)> {
    let (sets, starter) = (reviews.label_sets(), LabelSet::starter());
    let given = reviews.events().flat_map(|event| sets.resolve_all([&event])).map(|label| (label.id, label.name));
    let offered = sets.clone().or_offered(&starter);
    let offered = offered.newest().flat_map(|set| &set.labels).map(|label| (label.id.clone(), label.name.clone()));
    let words = |(id, name): (Text, Text)| Some((id.utf8()?.to_owned(), name.utf8()?.to_owned()));
    given.chain(offered).filter_map(words).collect()
}
