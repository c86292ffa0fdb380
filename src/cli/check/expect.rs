//! `stepscope check --expect`: reviews as a regression set.

use std::path::Path;
use std::sync::Arc;

use crate::cli::check::options::Check;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::codes::FOUND;
use crate::cli::options::threads;
use crate::cli::out::Out;
use crate::cli::review::logs::contents;
use crate::cli::review::logs::said;
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::side_data::{SideData, Surroundings};
use stepscope_io::pipeline::summaries::read_checked;
use stepscope_io::source::input::unreadable;
use stepscope_record::finding::Severity;
use stepscope_report::ReportFormat;
use stepscope_review::fold::{ItemReviews, Outcome};
use stepscope_review::join::{Index, JoinedItem};
use stepscope_review::labels::LabelSets;
use stepscope_review::regression::{Expectation, judge};
use stepscope_review::summary::Summary;

/// Maximum length of a question, in characters; a longer one is cut.
const QUESTION: usize = 44;

pub(super) fn run(options: &Check, journal: &Path, side: &Arc<SideData>, out: &mut Out) -> u8 {
    expect(options, journal, side, out).unwrap_or(FAILED)
}

/// Checks records against a review log. `None`: this was not possible, and the reason was printed.
fn expect(options: &Check, journal: &Path, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    let format = options.format();
    if !matches!(format, ReportFormat::Text | ReportFormat::Jsonl) {
        out.complain(&Shown::own("--expect prints text or jsonl; use --format text or --format jsonl"));
        return None;
    }
    if let Some(failure) = unreadable(&[journal.into()]).first() {
        out.complain(&shown!("{failure}"));
        return None;
    }
    let contents = contents(&[journal.into()], out)?;
    let inputs = out.given(options.answers.expand(&options.paths))?;
    let around =
        Surroundings { side: side.clone(), takes_not_finite: options.no_finite_check, ..Surroundings::default() };
    let summaries = said(read_checked(&options.paths, inputs, threads(options.jobs), &around), out)?;
    if !summaries.outcome.missing.is_empty() {
        // Findings count here, and without its document an answer has others.
        return None;
    }
    let (sets, index) = (contents.reviews.label_sets().for_people(), Index::of(&summaries.summaries));
    let mut counts = [0_u64; Expectation::ALL.len()];
    let (mut judged, mut disputed) = (0_u64, 0_u64);
    for JoinedItem { reviewed, summary, .. } in index.join_later(&contents.reviews) {
        let Some((expectation, why)) = judge(reviewed, summary) else {
            disputed += u64::from(reviewed.in_later_run().outcome() == Outcome::Disputed);
            continue;
        };
        judged += 1;
        if let Some(count) = counts.get_mut(expectation as usize) {
            *count += 1;
        }
        if format == ReportFormat::Jsonl {
            let mut json = Vec::new();
            write(reviewed, expectation, &why, &sets, &mut json);
            out.write(&json);
        } else if expectation != Expectation::Holds {
            out.line(&line(reviewed, summary, (expectation, &why), &sets));
        }
    }
    let named: Vec<String> = Expectation::ALL
        .iter()
        .zip(counts)
        .map(|(expectation, count)| format!("{count} {}", expectation.word()))
        .collect();
    if format == ReportFormat::Text {
        let left_out = if disputed > 0 { format!("; {disputed} disputed are not counted") } else { String::new() };
        out.line(&shown!("{judged} reviewed: {}{left_out}", named.join(", ")));
    }
    if judged == 0 {
        out.complain(&shown!("{}: it holds no pass or fail verdict", Shown::path(journal)));
        return None;
    }
    let regressed = counts.get(Expectation::Regressed as usize).is_some_and(|count| *count > 0);
    Some(if regressed && options.fails_on(Some(Severity::Fatal)) { FOUND } else { CLEAN })
}

/// Formats an item: `regressed      a-1  the answer was 7, is 9`.
fn line(
    reviewed: ItemReviews<'_>,
    summary: Option<&Summary>,
    (expectation, why): (Expectation, &[Shown]),
    sets: &LabelSets<'_>,
) -> Shown {
    let name = reviewed.item().name().line();
    let question = summary.and_then(|summary| summary.question.clone());
    let name = question.map_or(name.clone(), |question| shown!("{name}  {}", question.cut(QUESTION)));
    let why: Vec<&str> = why.iter().map(Shown::as_str).collect();
    let labels: Vec<String> = reviewed.labels(sets).iter().map(|label| label.name.line().into_string()).collect();
    let parts = [why.join("; "), labels.join(", ")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    shown!("{:13}  {name}  {}", expectation.word(), parts.join("  "))
}

fn write(reviewed: ItemReviews<'_>, expectation: Expectation, why: &[Shown], sets: &LabelSets<'_>, out: &mut Vec<u8>) {
    Style::ASCII.line(out, |object| {
        let item = reviewed.item();
        object.maybe("id", item.id.as_ref());
        object.maybe("row_index", item.row_index);
        object.put("expectation", expectation.word());
        object.put("why", why);
        let labels = reviewed.labels(sets);
        object.list("labels", labels.iter().map(|label| &label.id));
    });
}
