//! The model of a page as an HTML document.

use super::carried::{BEGIN, OPEN};
use super::html::{Html, PageLink};
use super::model::{
    CitationPart, DerivationPart, DerivedPart, FindingPart, ItemPart, LeftOut, MarkPart, PageModel, PassageLine,
    StateTable, StepPart, ValuePart,
};
use super::options::{PageOptions, digest};
use super::peers::PeersPart;
use super::said::{MAX_REASON, Said};
use super::style::{SHEET, policy};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_present::verdict::Mood;
use stepscope_record::finding::{Severity, grouped};
use stepscope_record::rule_id::RuleId;
use stepscope_review::event::Verdict;

/// Everything before the first element that people see.
pub(super) fn begin(html: &mut Html, title: &Shown, version: &'static str) {
    html.raw(BEGIN_TEXT)
        .raw("\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"");
    html.text(&policy(SHEET)).raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.raw("<meta name=\"generator\" content=\"stepscope ").raw(version).raw("\">\n<title>").text(title);
    html.raw("</title>\n<style>").raw(SHEET).raw("</style>\n</head>\n<body>\n");
}

/// More reviews are counted and not shown.
const MOST_SAID: usize = 100;
/// Characters of all notes together.
const NOTES: usize = 20_000;
const SHORTEST_NOTE: usize = 150;
const LONGEST_NOTE: usize = 2_000;
const BEGIN_TEXT: &str = match std::str::from_utf8(BEGIN) {
    Ok(text) => text,
    Err(_) => "",
};

/// The page of a record.
pub(super) fn write(
    model: &PageModel,
    case: &CaseView<'_>,
    options: &PageOptions<'_>,
    carried: Option<&[u8]>,
) -> String {
    let mut page = Page { html: Html::default(), model, options };
    page.head();
    page.html.raw("<main>\n");
    page.verdict();
    page.question();
    page.steps();
    page.state();
    page.peers();
    page.items();
    page.texts();
    page.derivations();
    page.findings();
    page.said();
    page.html.raw("</main>\n");
    page.foot(case, carried);
    page.html.finish()
}

struct Page<'p> {
    html: Html,
    model: &'p PageModel,
    options: &'p PageOptions<'p>,
}

/// The class of a rating in the sheet.
pub(super) const fn class(mood: Mood) -> &'static str {
    match mood {
        Mood::Good => "good",
        Mood::Doubt => "warn",
        Mood::Bad | Mood::Failed => "bad",
        Mood::Open => "open",
    }
}

/// `✗ step to fix`, coloured.
pub(super) fn chip(html: &mut Html, mood: Mood, word: &Shown) {
    html.raw("<span class=\"chip ").raw(class(mood)).raw("\">").raw(mood.glyph()).raw(" ").text(word).raw("</span>");
}

fn more(html: &mut Html, count: usize, what: &'static str) {
    if count > 0 {
        html.raw("<p class=\"dim\">and ").text(&shown!("{}", grouped(count))).raw(" more ").raw(what).raw("</p>\n");
    }
}

/// Counts the steps that are left out before one; without one, behind the last that is shown.
fn left_out(html: &mut Html, all: &[LeftOut], step: Option<usize>, last: usize) {
    if let Some(left) = LeftOut::before(all, step, last) {
        html.raw("<p class=\"dim\">").text(&left.words()).raw("</p>\n");
    }
}

impl Page<'_> {
    fn head(&mut self) {
        let model = self.model;
        let title = shown!("{} {}: {}", model.mood.glyph(), model.verdict, model.title).cut(160);
        let html = &mut self.html;
        begin(html, &title, self.options.version);
        html.raw("<header>\n<p class=\"kicker\">stepscope report");
        html.raw(" · ").raw(model.kind);
        if !self.options.source.as_str().is_empty() {
            html.raw(" · ").text(&self.options.source);
        }
        html.raw("</p>\n<h1>").text(&model.title).raw("</h1>\n<nav aria-label=\"Contents\"><ul>");
        if let Some(step) = self.options.step {
            html.raw("<li>").link(&PageLink::step(step + 1), &shown!("Opened at step {}", step + 1)).raw("</li>");
        }
        let parts = [
            ("<li><a href=\"#steps\">Steps</a></li>", !model.steps.is_empty()),
            ("<li><a href=\"#state\">Global state</a></li>", model.state.is_some()),
            ("<li><a href=\"#peers\">Peers</a></li>", model.peers.is_some()),
            ("<li><a href=\"#answer\">Answer and citations</a></li>", !model.items.is_empty()),
            ("<li><a href=\"#derivations\">Derivations</a></li>", !model.derivations.is_empty()),
            ("<li><a href=\"#findings\">Findings</a></li>", true),
            ("<li><a href=\"#reviews\">Reviews</a></li>", !self.options.said.is_empty()),
        ];
        for (item, is_there) in parts {
            html.raw(if is_there { item } else { "" });
        }
        html.raw("</ul></nav>\n</header>\n");
    }

    fn question(&mut self) {
        // What the heading says in full is said once.
        if let Some(question) =
            self.model.question.as_ref().filter(|question| question.as_str() != self.model.title.as_str())
        {
            self.html.raw(
                "<section aria-labelledby=\"question\">\n<h2 id=\"question\">Question</h2>\n<p class=\"lead prose\">",
            );
            self.html.text(question).raw("</p>\n</section>\n");
        }
    }

    fn verdict(&mut self) {
        let (html, model) = (&mut self.html, self.model);
        html.raw("<section aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n<div class=\"verdict ");
        html.raw(class(model.mood))
            .raw("\">\n<p class=\"says\">")
            .raw(model.mood.glyph())
            .raw(" ")
            .text(&model.verdict);
        html.raw("</p>\n");
        if let Some(fix) = &model.fix {
            html.raw("<p><strong>").text(fix).raw("</strong></p>\n");
        }
        if !model.why.is_empty() {
            html.raw("<ol>\n");
            for reason in &model.why {
                html.raw("<li>").text(&reason.text).raw(" <span class=\"where\">");
                if let Some(step) = reason.step {
                    step_link(html, model, step);
                    html.raw(" · ");
                }
                html.raw("<code>").text(&reason.rule).raw("</code></span></li>\n");
            }
            html.raw("</ol>\n");
        }
        if let Some(difference) = &model.first_difference {
            html.raw("<p class=\"dim\">").text(difference).raw("</p>\n");
        }
        html.raw("</div>\n");
        if !model.facts.is_empty() {
            html.raw("<dl class=\"facts\">\n");
            for (name, text) in &model.facts {
                html.raw("<dt>").raw(name).raw("</dt><dd>").text(text).raw("</dd>\n");
            }
            html.raw("</dl>\n");
        }
        html.raw("</section>\n");
    }

    fn steps(&mut self) {
        let (html, model) = (&mut self.html, self.model);
        if model.steps.is_empty() {
            return;
        }
        html.raw("<section aria-labelledby=\"steps\">\n<h2 id=\"steps\">Steps</h2>\n");
        for step in &model.steps {
            left_out(html, &model.steps_left, Some(step.number), 0);
            write_step(html, step, model);
        }
        left_out(html, &model.steps_left, None, model.steps.last().map_or(0, |step| step.number));
        html.raw("</section>\n");
    }

    fn state(&mut self) {
        if let Some(table) = &self.model.state {
            write_state(&mut self.html, table, self.model);
        }
    }

    fn peers(&mut self) {
        let model = self.model;
        if let Some(part) = &model.peers {
            write_peers(&mut self.html, part, model);
        }
    }

    fn items(&mut self) {
        let (html, model) = (&mut self.html, self.model);
        if model.items.is_empty() {
            return;
        }
        html.raw("<section aria-labelledby=\"answer\">\n<h2 id=\"answer\">Answer and citations</h2>\n");
        if !self.options.passages {
            html.raw("<p class=\"dim\">Without the passages of the document.</p>\n");
        }
        html.raw("<ol class=\"list\">\n");
        for item in &model.items {
            write_item(html, item);
        }
        html.raw("</ol>\n");
        more(html, model.items_left, "items, not shown here");
        html.raw("</section>\n");
    }

    fn texts(&mut self) {
        for (n, (name, text)) in self.model.texts.iter().enumerate() {
            self.html.raw("<section aria-labelledby=\"text-").number(n).raw("\">\n<h2 id=\"text-").number(n).raw("\">");
            self.html.raw(name).raw("</h2>\n<pre tabindex=\"0\">").text(text).raw("</pre>\n</section>\n");
        }
    }

    fn derivations(&mut self) {
        let (html, model) = (&mut self.html, self.model);
        if model.derivations.is_empty() {
            return;
        }
        html.raw("<section aria-labelledby=\"derivations\">\n<h2 id=\"derivations\">Derivations</h2>\n");
        html.raw("<p class=\"dim\">The recomputed values of the steps, back to the numbers of the question.</p>\n");
        for DerivedPart { mark, tree } in &model.derivations {
            html.raw("<h3><code>").text(&tree.name).raw("</code> after ");
            step_link(html, model, tree.step);
            html.raw(" ");
            chip(html, mark.mood, &mark.words);
            html.raw("</h3>\n<ul class=\"tree\">");
            write_tree(html, tree, model);
            html.raw("</ul>\n");
        }
        more(html, model.derivations_left, "derivations, not shown here");
        html.raw("</section>\n");
    }

    fn findings(&mut self) {
        let (html, model) = (&mut self.html, self.model);
        html.raw("<section aria-labelledby=\"findings\">\n<h2 id=\"findings\">Findings</h2>\n");
        if model.findings.is_empty() {
            html.raw("<p>No findings.</p>\n</section>\n");
            return;
        }
        html.raw("<ol class=\"list\">\n");
        for (n, finding) in model.findings.iter().enumerate() {
            write_finding(html, n + 1, finding, model);
        }
        html.raw("</ol>\n");
        more(html, model.findings_left, "findings, not shown here");
        html.raw("</section>\n");
    }

    fn said(&mut self) {
        if self.options.said.is_empty() {
            return;
        }
        let html = &mut self.html;
        html.raw("<section aria-labelledby=\"reviews\">\n<h2 id=\"reviews\">Reviews</h2>\n<ol class=\"list said\">\n");
        let shown = self.options.said.iter().take(MOST_SAID);
        // Of many reviews each says less, so that the page stays small.
        let room = (NOTES / shown.len().max(1)).clamp(SHORTEST_NOTE, LONGEST_NOTE);
        for said in shown {
            write_said(html, said, self.model, room);
        }
        html.raw("</ol>\n");
        more(html, self.options.said.len().saturating_sub(MOST_SAID), "reviews, not shown here");
        html.raw("</section>\n");
    }

    fn foot(&mut self, case: &CaseView<'_>, carried: Option<&[u8]>) {
        let (html, options) = (&mut self.html, self.options);
        html.raw("<footer>\n<p>").text(&self.model.name).raw(". Made by stepscope ").raw(options.version).raw(" (");
        html.number(RuleId::ALL.len()).raw(" rules) from the record with SHA-256 <code>");
        html.text(&shown!("{}", digest(case))).raw("</code>.");
        if options.is_changed() {
            let hidden = options.hide.phrase();
            let mut what: Vec<String> = options.redacted.iter().map(|name| name.as_str().to_owned()).collect();
            what.extend((!hidden.is_empty()).then_some(hidden));
            what.extend((!options.passages).then(|| "passages".to_owned()));
            html.raw(" The record was changed before: without ").text(&shown!("{}", what.join(", "))).raw(".");
        }
        html.raw("</p>\n<p>");
        if let Some(carried) = carried {
            html.raw("This page carries its record. Open it with <code>stepscope PAGE.html</code>, check it again with <code>stepscope check PAGE.html</code>.</p>\n</footer>\n");
            html.raw(OPEN).json(carried).raw("</script>\n");
        } else {
            html.raw("The record is too large for this page to carry.</p>\n</footer>\n");
        }
        html.raw("</body>\n</html>\n");
    }
}

fn write_mark(html: &mut Html, mark: &MarkPart) {
    let class = if mark.mood == Mood::Bad { "<span class=\"bad-text\">" } else { "<span class=\"dim\">" };
    html.raw(class).raw(mark.mood.glyph()).raw(" ").text(&mark.words).raw("</span>");
}

/// The number of a step, as a link where the page has the step.
fn step_link(html: &mut Html, model: &PageModel, step: usize) {
    let words = shown!("step {step}");
    if model.steps.iter().any(|shown| shown.number == step) {
        html.link(&PageLink::step(step), &words);
    } else {
        html.text(&words);
    }
}

fn write_step(html: &mut Html, step: &StepPart, model: &PageModel) {
    html.raw("<details")
        .id(&PageLink::step(step.number))
        .raw(if step.is_open { " open" } else { "" })
        .raw(">\n<summary>");
    html.raw("<strong>Step ").number(step.number).raw("</strong> ");
    chip(html, step.mood, &Shown::own(step.word));
    html.raw(" ").text(&first_line(&step.text));
    if !step.writes.is_empty() {
        html.raw("<span class=\"wrote\">writes ");
        for (n, value) in step.writes.iter().take(4).enumerate() {
            html.raw(if n > 0 { ", " } else { "" }).raw("<span class=\"value\">").text(&value.name).raw(" = ");
            html.text(&short(&value.value)).raw("</span>");
            if let Some(mark) = &value.mark {
                write_mark(html.raw(" "), mark);
            }
        }
        html.raw(if step.writes.len() > 4 { ", …" } else { "" }).raw("</span>");
    }
    html.raw("</summary>\n<div class=\"in\">\n<p class=\"prose\">").text(&step.text).raw("</p>\n");
    write_values(html, "Reads", step.number, &step.reads);
    write_values(html, "Writes", step.number, &step.writes);
    if !step.findings.is_empty() {
        html.raw("<p><span class=\"label\">Findings</span>");
        for (n, finding) in step.findings.iter().enumerate() {
            html.raw(if n > 0 { ", " } else { "" });
            html.link(&PageLink::finding(*finding), &shown!("finding {finding}"));
        }
        html.raw("</p>\n");
    }
    for (name, text) in &step.calls {
        if matches!(*name, "Reply" | "Prompt") {
            html.raw("<details><summary>").raw(name).raw("</summary><div class=\"in\"><pre tabindex=\"0\">");
            html.text(text).raw("</pre></div></details>\n");
        } else {
            html.raw("<p><span class=\"label\">").raw(name).raw("</span>").text(text).raw("</p>\n");
        }
    }
    html.raw("<p class=\"turn\">");
    for (other, words) in [(step.number.wrapping_sub(1), "← step "), (step.number + 1, "step ")] {
        if model.steps.iter().any(|shown| shown.number == other) {
            let arrow = if other > step.number { " →" } else { "" };
            html.link(&PageLink::step(other), &shown!("{words}{other}{arrow}")).raw(" ");
        }
    }
    html.raw("<a href=\"#steps\">all steps</a></p>\n</div>\n</details>\n");
}

fn first_line(text: &Shown) -> Shown {
    shown!("{}", text.as_str().lines().next().unwrap_or_default()).cut(160)
}

fn short(value: &Shown) -> Shown {
    shown!("{}", value.as_str().replace('\n', " ⏎ ")).cut(60)
}

fn write_values(html: &mut Html, title: &'static str, step: usize, values: &[ValuePart]) {
    if values.is_empty() {
        html.raw("<p><span class=\"label\">").raw(title).raw("</span>nothing</p>\n");
        return;
    }
    html.raw("<span class=\"label\" aria-hidden=\"true\">").raw(title);
    html.raw("</span>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"")
        .raw(title)
        .raw(", step ")
        .number(step);
    html.raw("\"><table class=\"values\"><thead><tr><th scope=\"col\">Variable</th><th scope=\"col\">Value</th><th scope=\"col\">Origin</th></tr></thead><tbody>\n");
    for value in values {
        html.raw("<tr><th scope=\"row\"><code>");
        match &value.cell {
            Some(cell) => html.link(cell, &value.name),
            None => html.text(&value.name),
        };
        html.raw("</code></th><td><span class=\"value\">").text(&value.value).raw("</span>");
        if let Some(mark) = &value.mark {
            write_mark(html.raw(" "), mark);
        }
        html.raw("</td><td><span class=\"badge\">").raw(value.badge).raw("</span></td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
}

fn write_state(html: &mut Html, table: &StateTable, model: &PageModel) {
    html.raw("<section>\n<h2 id=\"state\">Global state</h2>\n");
    html.raw("<p class=\"dim\">One column per step; <span class=\"sign\">◆</span> marks what the step wrote.</p>\n");
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"state\"><table class=\"grid\"><thead><tr><th scope=\"col\">Variable</th>");
    for column in &table.columns {
        html.raw("<th scope=\"col\">");
        if *column == 0 {
            html.raw(table.first_head());
        } else {
            step_link(html, model, *column);
        }
        html.raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for (name, cells) in &table.rows {
        html.raw("<tr><th scope=\"row\"><code>").text(name).raw("</code></th>");
        for cell in cells {
            html.raw("<td").id(&cell.anchor);
            let is_bad = cell.mark.as_ref().is_some_and(|mark| mark.mood == Mood::Bad);
            html.raw(match (cell.is_set, is_bad) {
                (true, true) => " class=\"set bad\">",
                (true, false) => " class=\"set\">",
                _ => " class=\"same\">",
            });
            if let Some(value) = &cell.value {
                html.raw(if cell.is_set { "<span class=\"sign\">◆</span> " } else { "" });
                html.raw("<span class=\"value\">").text(value).raw("</span>");
            } else {
                html.raw("<span class=\"sign\" aria-label=\"not written yet\" role=\"img\">–</span>");
            }
            if let Some(mark) = &cell.mark {
                write_mark(html.raw("<br>"), mark);
            }
            html.raw("</td>");
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    more(html, table.rows_left, "variables, not shown here");
    for left in &table.columns_left {
        html.raw("<p class=\"dim\">").text(&left.words()).raw("</p>\n");
    }
    html.raw("</section>\n");
}

/// Writes what other runs have in the place of each value.
fn write_peers(html: &mut Html, part: &PeersPart, model: &PageModel) {
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
        if let Some(step) = row.step {
            step_link(html, model, step);
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
    more(html, part.rows_left, "values, not shown here");
    more(html, part.peers_left, "peers, not shown here");
    html.raw("</section>\n");
}

fn write_tree(html: &mut Html, tree: &DerivationPart, model: &PageModel) {
    html.raw("<li><code>").text(&tree.name).raw(" = ").text(&tree.value);
    if let Some(formula) = &tree.formula {
        html.raw(" = ").text(formula);
    }
    html.raw("</code> <span class=\"where\">");
    step_link(html, model, tree.step);
    html.raw("</span>");
    if !tree.from.is_empty() || tree.left > 0 {
        html.raw("<ul>");
        for from in &tree.from {
            write_tree(html, from, model);
        }
        if tree.left > 0 {
            html.raw("<li class=\"dim\">and ").number(tree.left).raw(" more, not shown here</li>");
        }
        html.raw("</ul>");
    }
    html.raw("</li>\n");
}

fn write_item(html: &mut Html, item: &ItemPart) {
    let word = match item.mood {
        Mood::Good => "grounded",
        Mood::Doubt => "wrong place",
        Mood::Bad | Mood::Failed => "not grounded",
        Mood::Open => "not proven",
    };
    html.raw("<li>\n<p><strong>").text(&item.title).raw("</strong> ");
    chip(html, item.mood, &Shown::own(word));
    html.raw("</p>\n<p class=\"prose\">").text(&item.value).raw("</p>\n");
    for citation in &item.citations {
        write_citation(html, citation);
    }
    if item.citations.is_empty() {
        html.raw("<p class=\"dim\">No citation.</p>\n");
    }
    html.raw("</li>\n");
}

fn write_citation(html: &mut Html, citation: &CitationPart) {
    html.raw("<div class=\"pair\">\n<div><span class=\"label\">Citation ").number(citation.number).raw("</span>\n<p>");
    html.raw("<mark class=\"").raw(class(citation.mood)).raw("\"").id(&PageLink::cite(citation.number)).raw(">");
    match &citation.quote {
        Some(quote) => html.raw("<q class=\"prose\">").text(quote).raw("</q>"),
        None => html.raw("no quote"),
    };
    html.raw("</mark></p>\n<p>");
    chip(html, citation.mood, &citation.badge);
    html.raw("</p></div>\n<div>");
    // Without a document the badge says why.
    if let Some(place) = &citation.place {
        html.raw("<span class=\"label\">Cited: ").text(place).raw("</span>\n");
    }
    if !citation.lines.is_empty() {
        html.raw("<ol class=\"lines\">\n");
        for line in &citation.lines {
            write_line(html, line, citation.mood);
        }
        html.raw("</ol>\n");
    }
    html.raw("</div>\n</div>\n");
}

fn write_line(html: &mut Html, line: &PassageLine, mood: Mood) {
    html.raw("<li><span class=\"n\">line ").number(line.number).raw("</span><span class=\"prose\">");
    let text = line.text.as_str();
    let piece = |range: std::ops::Range<usize>| shown!("{}", text.get(range).unwrap_or_default());
    let mut at = 0;
    for mark in &line.marks {
        html.text(&piece(at..mark.start.max(at))).raw("<mark class=\"").raw(class(mood)).raw("\">");
        html.text(&piece(mark.start.max(at)..mark.end)).raw("</mark>");
        at = mark.end.max(at);
    }
    html.text(&piece(at..text.len())).raw("</span></li>\n");
}

fn write_finding(html: &mut Html, number: usize, finding: &FindingPart, model: &PageModel) {
    html.raw("<li").id(&PageLink::finding(number)).raw(">\n<p>");
    let word = match finding.severity {
        Severity::Fatal => "fatal",
        Severity::Repairable => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    chip(html, finding.mood, &Shown::own(word));
    html.raw(" <code>").raw(finding.rule).raw("</code></p>\n<p class=\"prose\">").text(&finding.message).raw("</p>\n");
    for label in &finding.labels {
        html.raw("<p class=\"where\">").text(label).raw("</p>\n");
    }
    if let Some(help) = finding.help {
        html.raw("<p><em>").raw(help).raw("</em></p>\n");
    }
    html.raw("<p class=\"where\">");
    if let Some(step) = finding.step {
        step_link(html, model, step);
        html.raw(" · ");
    }
    html.raw("<code>").text(&finding.pointer).raw("</code></p>\n</li>\n");
}

fn write_said(html: &mut Html, said: &Said, model: &PageModel, room: usize) {
    html.raw("<li>\n<p>");
    chip(html, said.verdict.map_or(Mood::Open, mood_of), &shown!("{}", said.words().concat()));
    if let Some(part) = said.part {
        html.raw(" ").text(&shown!("{}", part.phrase()));
    }
    html.raw(" <strong>").text(&said.who.line().cut(80)).raw("</strong>");
    if let Some(when) = &said.when {
        html.raw(" <span class=\"where\">").text(&when.line().cut(40)).raw("</span>");
    }
    html.raw(if said.is_stale { " <span class=\"chip\">↻ changed since</span>" } else { "" }).raw("</p>\n");
    for (name, text) in said.reasons(room.min(MAX_REASON)) {
        html.raw("<p><span class=\"dim\">").raw(name).raw(": </span>").text(&text).raw("</p>\n");
    }
    if let Some(step) = said.step.and_then(|step| usize::try_from(step).ok()) {
        html.raw("<p><span class=\"dim\">First wrong step: </span>");
        step_link(html, model, step);
        html.raw("</p>\n");
    }
    if let Some(note) = &said.note {
        html.raw("<p class=\"prose\">").text(&said.place()).text(&note.prose().shortened(room)).raw("</p>\n");
    }
    html.raw("</li>\n");
}

const fn mood_of(verdict: Verdict) -> Mood {
    match verdict {
        Verdict::Pass => Mood::Good,
        Verdict::Fail => Mood::Bad,
        Verdict::Defer | Verdict::Skip => Mood::Open,
    }
}
