//! The peers of a run on its page: its values next to what other runs of its question have in their place.

use super::html::{Html, PageLink};
use super::markdown::Markdown;
use super::options::Limits;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::aligned::{AlignedRun, AlignedValue, Counterpart};
use stepscope_judge::case::CaseView;
use stepscope_record::finding::grouped;

/// Largest number of peers with a column.
const MAX_PEERS: usize = 8;

/// A run and its peers.
#[derive(Debug)]
pub(super) struct PeersPart {
    names: Vec<Shown>,
    peers_left: usize,
    rows: Vec<PeersRow>,
    rows_left: usize,
}

/// A value with what each peer has in its place.
#[derive(Debug)]
struct PeersRow {
    /// From 1; `None`: the answer.
    step: Option<usize>,
    value: Shown,
    /// The run leaves its peers here.
    leaves: bool,
    /// Words on all of them.
    counts: Shown,
    /// Sign, words, and whether it is another value.
    cells: Vec<(&'static str, Shown, bool)>,
}

impl PeersPart {
    /// Of a record; `None`: it has no peers.
    pub(super) fn of(case: &CaseView<'_>, limits: &Limits) -> Option<Self> {
        let (opinion, aligned) = case.peer_opinion().zip(AlignedRun::of(case))?;
        let leaves = opinion.leaves();
        let names: Vec<Shown> = aligned.peers.iter().take(MAX_PEERS).map(Shown::last_part).collect();
        let row = |(step, value): (Option<usize>, &AlignedValue)| PeersRow {
            step: step.map(|step| step + 1),
            value: with_formula(value).shortened(limits.cell),
            leaves: step.is_some() && step == leaves,
            counts: counts(value),
            cells: value.counterparts.iter().take(MAX_PEERS).map(|one| cell(value, *one)).collect(),
        };
        Some(Self {
            peers_left: aligned.peers.len() - names.len(),
            names,
            rows: aligned.rows().take(limits.steps).map(row).collect(),
            rows_left: aligned.rows().count().saturating_sub(limits.steps),
        })
    }
}

/// `total = 54 as 6 × 9`
fn with_formula(value: &AlignedValue) -> Shown {
    match &value.formula {
        Some(formula) => shown!("{} as {formula}", value.shown()),
        None => value.shown(),
    }
}

/// `1 of 3, they differ`
fn counts(value: &AlignedValue) -> Shown {
    let counts = value.counts();
    match (counts.of, counts.is_split) {
        (0, _) => Shown::own("–"),
        (of, false) => shown!("{} of {of}", counts.same),
        (of, true) => shown!("{} of {of}, they differ", counts.same),
    }
}

fn cell(value: &AlignedValue, counterpart: Counterpart) -> (&'static str, Shown, bool) {
    let is_other = matches!(counterpart, Counterpart::Other { .. });
    (counterpart.sign(), value.phrase(counterpart), is_other)
}

/// Writes the section of a page.
pub(super) fn write_html(html: &mut Html, part: &PeersPart, has_step: &dyn Fn(usize) -> bool) {
    html.raw("<section>\n<h2 id=\"peers\">Peers</h2>\n");
    html.raw("<p class=\"dim\">Other runs of this question, and what they have in the place of each value.</p>\n");
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"peers\"><table class=\"grid\"><thead><tr>");
    html.raw("<th scope=\"col\">Step</th><th scope=\"col\">This run</th><th scope=\"col\">The same</th>");
    for name in &part.names {
        html.raw("<th scope=\"col\">").text(name).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for row in &part.rows {
        html.raw("<tr><th scope=\"row\">");
        match row.step {
            Some(step) if has_step(step) => _ = html.link(&PageLink::step(step), &shown!("step {step}")),
            Some(step) => _ = html.text(&shown!("step {step}")),
            None => {}
        }
        html.raw("</th><td class=\"").raw(if row.leaves { "set bad" } else { "set" }).raw("\"><span class=\"value\">");
        html.text(&row.value).raw("</span>");
        html.raw(if row.leaves { "<br>leaves its peers" } else { "" }).raw("</td><td>").text(&row.counts).raw("</td>");
        for (sign, words, is_other) in &row.cells {
            html.raw(if *is_other { "<td class=\"set\">" } else { "<td class=\"same\">" });
            html.raw("<span class=\"sign\">").raw(sign).raw("</span> ").text(words).raw("</td>");
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    for (left, what) in [(part.rows_left, "values"), (part.peers_left, "peers")] {
        if left > 0 {
            html.raw("<p class=\"dim\">and ").text(&shown!("{}", grouped(left))).raw(" more ").raw(what);
            html.raw(", not shown here</p>\n");
        }
    }
    html.raw("</section>\n");
}

/// Writes the same folded into Markdown.
pub(super) fn write_markdown(page: &mut Markdown, part: &PeersPart) {
    page.raw("<details><summary>Peers</summary>\n\n| Step | This run | The same |");
    for name in &part.names {
        page.raw(" ").prose(name).raw(" |");
    }
    page.raw("\n|--|--|--|");
    part.names.iter().for_each(|_| _ = page.raw("--|"));
    page.raw("\n");
    for row in &part.rows {
        page.raw("| ");
        if let Some(step) = row.step {
            page.number(step);
        }
        page.raw(" | ").code(&row.value).raw(if row.leaves { " leaves its peers | " } else { " | " });
        page.prose(&row.counts).raw(" |");
        for (sign, words, _) in &row.cells {
            page.raw(" ").raw(sign).raw(" ").prose(words).raw(" |");
        }
        page.raw("\n");
    }
    for (left, what) in [(part.rows_left, "values"), (part.peers_left, "peers")] {
        if left > 0 {
            page.raw("\nand ").number(left).raw(" more ").raw(what).raw(", not shown here\n");
        }
    }
    page.raw("\n</details>\n\n");
}
