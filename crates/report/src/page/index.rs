//! The page in front of many pages: how they came out, in bars and numbers, and a row for each.

use std::collections::BTreeMap;

use super::document::class;
use super::document::{begin, chip};
use super::html::{Html, PageLink};
use super::model::PageModel;
use super::options::{Limits, PageOptions};
use crate::insight_lines::OUTCOME;
use stepscope_base::charts::share;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_judge::hide::Hidden;
use stepscope_judge::row::RowFacts;
use stepscope_judge::triage::Fix;
use stepscope_present::content::RecordContent;
use stepscope_present::verdict::Mood;
use stepscope_record::finding::counted;
use stepscope_table::insights::RowOutcome;

/// Later steps share its bar.
const MAX_STEP: usize = 12;

/// Row of the index: one record.
#[derive(Clone, Debug)]
pub struct IndexRow {
    /// The name of its page.
    file: PageLink,
    /// Its number, from 1.
    number: usize,
    /// The question; without one what it is, with its id.
    title: Shown,
    mood: Mood,
    verdict: Shown,
    outcome: RowOutcome,
    fix: Option<Fix>,
    /// The first bad step, from 1.
    step: Option<usize>,
    rules: Vec<&'static str>,
    findings: usize,
    is_fork: bool,
}

impl IndexRow {
    /// Of a record; `number` counts the records from 1.
    pub fn of(case: &CaseView<'_>, options: &PageOptions<'_>, number: usize) -> Self {
        let [.., tightest] = &Limits::LEVELS;
        let content = RecordContent::of(case, options.hide);
        let model = PageModel::of(&content, case, options, tightest);
        let triage = case.triage().filter(|_| !options.hide.has(Hidden::Triage));
        let mut rules: Vec<&'static str> = case.findings().iter().map(|finding| finding.rule.word()).collect();
        rules.sort_unstable();
        rules.dedup();
        let row = RowFacts::of(case, true).hiding(options.hide);
        Self {
            file: PageLink::page(number, model.name.as_str()),
            number,
            title: model.title.cut(140),
            mood: model.mood,
            verdict: model.verdict,
            outcome: RowOutcome::of(&row),
            is_fork: row.is_fork(),
            fix: triage.map(|triage| triage.fix).filter(|fix| *fix != Fix::None),
            step: triage.and_then(|triage| triage.step).map(|step| step + 1),
            rules,
            findings: case.findings().total(),
        }
    }

    /// The name of its page's file.
    pub fn file(&self) -> String {
        self.file.file()
    }
}

/// One chart: a name and its bars.
struct Bars {
    title: &'static str,
    /// Number of records of which the bars are shares.
    of: usize,
    rows: Vec<(Shown, Mood, usize)>,
}

/// The index of a folder of pages.
pub fn index(rows: &[IndexRow], source: &Shown, version: &'static str) -> String {
    let mut html = Html::default();
    // Forks are no answers of the run, and count only where there is nothing else, as on the screen.
    let records: Vec<&IndexRow> = rows.iter().filter(|row| !row.is_fork).collect();
    let forks = rows.len() - records.len();
    let records = if records.is_empty() { rows.iter().collect() } else { records };
    let what = counted(records.len(), "record");
    let is_mixed = forks > 0 && records.len() < rows.len();
    let forks = if is_mixed { format!(" and {}", counted(forks, "fork")) } else { String::new() };
    let title = shown!("{what}{forks} of {source}");
    begin(&mut html, &title, version);
    html.raw("<header>\n<p class=\"kicker\">stepscope report</p>\n<h1>").text(&title).raw("</h1>\n</header>\n<main>\n");
    for chart in charts(&records) {
        write_chart(&mut html, &chart);
    }
    html.raw("<section>\n<h2 id=\"records\">Records</h2>\n");
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"records\"><table class=\"values\"><thead><tr>");
    html.raw("<th scope=\"col\">Record</th><th scope=\"col\">Question</th><th scope=\"col\">Verdict</th><th scope=\"col\">Where to fix</th><th scope=\"col\">Findings</th></tr></thead><tbody>\n");
    for row in rows {
        html.raw("<tr><th scope=\"row\">").number(row.number).raw("</th><td>").page_link(&row.file, &row.title);
        html.raw("</td><td>");
        chip(&mut html, row.mood, &row.verdict);
        html.raw("</td><td>").text(&fix_of(row)).raw("</td><td>").number(row.findings).raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n</section>\n</main>\n<footer>\n<p>Made by stepscope ").raw(version);
    html.raw(". Each page carries its record: open one with <code>stepscope PAGE.html</code>.</p>\n</footer>\n</body>\n</html>\n");
    html.finish()
}

fn fix_of(row: &IndexRow) -> Shown {
    let step = row.step.map(|step| shown!(", step {step}")).unwrap_or_default();
    row.fix.map(|fix| shown!("{}{step}", fix.phrase())).unwrap_or_default()
}

fn charts(rows: &[&IndexRow]) -> Vec<Bars> {
    let count = |takes: &dyn Fn(&IndexRow) -> bool| rows.iter().filter(|row| takes(row)).count();
    let outcomes = RowOutcome::ALL.map(|outcome| {
        let mood = match outcome {
            RowOutcome::Correct => Mood::Good,
            RowOutcome::Wrong => Mood::Bad,
            RowOutcome::Failed => Mood::Failed,
            RowOutcome::Ungraded => Mood::Open,
        };
        (Shown::own(outcome.word()), mood, count(&|row| row.outcome == outcome))
    });
    let fixes = Fix::ALL.map(|fix| (Shown::own(fix.phrase()), Mood::Open, count(&|row| row.fix == Some(fix))));
    let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
    let mut rules: BTreeMap<&'static str, usize> = BTreeMap::new();
    for row in rows {
        if let Some(step) = row.step.filter(|_| row.fix == Some(Fix::StepRun)) {
            *steps.entry(step.min(MAX_STEP)).or_default() += 1;
        }
        for rule in &row.rules {
            *rules.entry(rule).or_default() += 1;
        }
    }
    let mut rules: Vec<(&'static str, usize)> = rules.into_iter().collect();
    rules.sort_by_key(|(rule, count)| (std::cmp::Reverse(*count), *rule));
    let rules = rules.into_iter().map(|(rule, count)| (Shown::own(rule), Mood::Open, count));
    let steps = steps.into_iter().map(|(step, count)| {
        let more = if step == MAX_STEP { " or later" } else { "" };
        (shown!("step {step}{more}"), Mood::Open, count)
    });
    let (all, to_fix) = (rows.len(), count(&|row| row.fix.is_some()));
    let model = count(&|row| row.fix == Some(Fix::StepRun));
    let mut charts = vec![
        Bars { title: OUTCOME, of: all, rows: outcomes.into() },
        Bars { title: "Where to fix", of: to_fix, rows: fixes.into() },
        Bars { title: "First wrong step of model output", of: model, rows: steps.collect() },
        Bars { title: "Records by rule", of: all, rows: rules.collect() },
    ];
    for chart in &mut charts {
        chart.rows.retain(|(_, _, count)| *count > 0);
    }
    charts.retain(|chart| !chart.rows.is_empty());
    charts
}

fn write_chart(html: &mut Html, chart: &Bars) {
    let all = chart.of;
    html.raw("<section class=\"board\">\n<h2>")
        .raw(chart.title)
        .raw("</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    html.raw(chart.title)
        .raw(
            "\"><table><thead><tr><th scope=\"col\">What</th><th scope=\"col\">Records</th><th scope=\"col\">Share of ",
        )
        .number(all);
    html.raw("</th><th scope=\"col\">Bar</th></tr></thead><tbody>\n");
    for (name, mood, count) in &chart.rows {
        let width = count * 100 / all.max(1);
        html.raw("<tr><th scope=\"row\">");
        if *mood == Mood::Open {
            html.text(name)
        } else {
            html.raw(mood.glyph()).raw(" ").text(name)
        };
        html.raw("</th><td>").number(*count).raw("</td><td>").text(&shown!("{}", share(*count, all))).raw("</td><td class=\"bar\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\" focusable=\"false\"><rect class=\"all\" width=\"100\" height=\"8\"/><rect class=\"");
        html.raw(if *mood == Mood::Open { "plain" } else { class(*mood) })
            .raw("\" width=\"")
            .number(width)
            .raw("\" height=\"8\"/></svg></td></tr>\n");
    }
    html.raw("</tbody></table></div>\n</section>\n");
}
