//! The model of a page as GitHub-flavoured Markdown, for an issue: a summary, and the rest folded.
//!
//! Sentences can be read as they are; values and names are code. A sign is a reference only where it could mean
//! something: text of a record links to nobody, mentions nobody, closes no issue and ends no table.

use std::fmt::Write as _;

use super::model::{DerivationPart, DerivedPart, LeftOut, MarkPart, PageModel};
use super::options::PageOptions;
use super::said::MAX_REASON;
use stepscope_base::ascii;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_present::verdict::Mood;
use stepscope_record::finding::grouped;

/// Beginning of every page that was made here.
pub const BEGIN: &str = "<!-- stepscope -->\n";

/// An issue is no longer than this.
pub(super) const MAX_MARKDOWN: usize = 60_000;

/// Maximum number of reviews in an issue.
const MAX_SAID: usize = 50;

/// Markdown that is being written.
#[derive(Default)]
pub(crate) struct Markdown {
    text: String,
    /// True if all of it is in ASCII.
    ascii: bool,
}

impl Markdown {
    /// Text as far as it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Our own markup.
    pub(crate) fn raw(&mut self, own: &'static str) -> &mut Self {
        if self.ascii {
            own.chars().for_each(|c| ascii::push(c, &mut self.text));
        } else {
            self.text.push_str(own);
        }
        self
    }

    /// Text of a record in the letters that are wanted, before its signs are made inert: a twin may be one of them.
    fn letters(&self, text: &Shown) -> Shown {
        if self.ascii { text.clone().ascii() } else { text.clone() }
    }

    fn number(&mut self, number: usize) -> &mut Self {
        let _ = write!(self.text, "{number}");
        self
    }

    /// Text on one line, as code: values and names; it may stand in a table, in a list and in a summary.
    pub(crate) fn code(&mut self, text: &Shown) -> &mut Self {
        self.text.push_str("<code>");
        let text = self.letters(text);
        self.inert(text.as_str());
        self.raw("</code>")
    }

    /// Sentences on one line; what would mention somebody, link somewhere or close an issue is code.
    pub(crate) fn prose(&mut self, text: &Shown) -> &mut Self {
        let text = self.letters(text);
        for (n, word) in text.as_str().split(' ').enumerate() {
            if n > 0 {
                self.text.push(' ');
            }
            if means_something(word) {
                self.text.push_str("<code>");
                self.inert(word);
                self.text.push_str("</code>");
            } else {
                self.inert(word);
            }
        }
        self
    }

    /// Adds a text with references in place of the signs that could mean something: the others are left to be read.
    fn inert(&mut self, text: &str) {
        let (mut before, mut ws) = (' ', 0);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let after = chars.peek().copied().unwrap_or(' ');
            let is_between = |fits: fn(char) -> bool| fits(before) && fits(after);
            let is_plain = match c {
                '\n' => {
                    self.text.push_str(if self.ascii { " &#9166; " } else { " ⏎ " });
                    before = ' ';
                    continue;
                }
                // Inside a word it emphasises nothing, nor does a star between blanks.
                '_' => is_between(char::is_alphanumeric),
                '*' => is_between(char::is_whitespace),
                // Before an amount it opens a formula that nothing closes.
                '$' => before.is_whitespace() && after.is_ascii_digit(),
                // `http://`, `mailto:` and `:smile:`.
                ':' => after.is_whitespace() || is_between(|c| c.is_ascii_digit()),
                // `[x](y)`
                ']' => !matches!(after, '(' | '['),
                // `#12`
                '#' => !after.is_alphanumeric(),
                // `www.`
                '.' => ws < 3,
                '<' | '&' | '`' | '[' | '|' | '\\' | '~' | '@' => false,
                _ => true,
            };
            if is_plain {
                self.text.push(c);
            } else {
                let _ = write!(self.text, "&#{};", u32::from(c));
            }
            (before, ws) = (c, if c.eq_ignore_ascii_case(&'w') { ws + 1 } else { 0 });
        }
    }

    /// Text of several lines, in a fence that is longer than any in it.
    fn block(&mut self, text: &Shown) -> &mut Self {
        let text = self.letters(text);
        let mut longest = 0;
        let mut run = 0;
        for c in text.as_str().chars() {
            run = if c == '`' { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        let fence = "`".repeat((longest + 1).max(3));
        let _ = write!(self.text, "\n\n{fence}text\n{}\n{fence}\n\n", text.as_str());
        self
    }

    fn mood(&mut self, mood: Mood) -> &mut Self {
        self.raw(mood.glyph()).raw(" ")
    }

    fn mark(&mut self, mark: Option<&MarkPart>) -> &mut Self {
        match mark {
            Some(mark) => self.raw(" ").mood(mark.mood).prose(&mark.words),
            None => self,
        }
    }
}

/// Tells whether a tracker would make something of a word: a mention, an issue, a commit, a link.
fn means_something(word: &str) -> bool {
    let is_reference = |part: &str| {
        // `GH-12` and `PROJ-7`.
        part.split_once('-').is_some_and(|(key, number)| {
            key.ends_with(|c: char| c.is_ascii_uppercase()) && number.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let is_commit = |part: &str| part.len() >= 7 && part.chars().all(|c| c.is_ascii_hexdigit());
    let lower = word.to_ascii_lowercase();
    word.contains(['@', '#'])
        || lower.contains("://")
        || lower.contains("www.")
        || is_reference(word)
        || word.split(|c: char| !c.is_ascii_alphanumeric()).any(is_commit)
}

/// The page of a record, short enough for an issue.
pub(super) fn write(model: &PageModel, options: &PageOptions<'_>) -> String {
    let mut page = Markdown { ascii: options.ascii, ..Markdown::default() };
    page.raw(BEGIN).raw("### ").mood(model.mood).prose(&model.title).raw("\n\n");
    page.raw("**").mood(model.mood).prose(&model.verdict).raw("**\n");
    if let Some(fix) = &model.fix {
        page.raw("\n").prose(fix).raw("\n");
    }
    page.raw("\n| | |\n|--|--|\n");
    for (name, text) in model.facts.iter().take(12) {
        page.raw("| ").raw(name).raw(" | ").code(&text.clone().shortened(300)).raw(" |\n");
    }
    page.raw("| Findings | ").number(model.findings.len() + model.findings_left).raw(" |\n");
    if !options.source.as_str().is_empty() {
        page.raw("| Record | ").prose(&options.source).raw(" |\n");
    }
    if let Some(question) = model.question.as_ref().filter(|question| question.as_str() != model.title.as_str()) {
        page.raw("\n**Question**").block(question);
    }
    if !model.why.is_empty() {
        page.raw("\n**Why**\n\n");
        for reason in &model.why {
            page.raw("1. ").prose(&reason.text).raw(" (").code(&reason.rule).raw(")\n");
        }
        page.raw("\n");
    }
    if let Some(difference) = &model.first_difference {
        page.prose(difference).raw("\n\n");
    }
    steps(&mut page, model);
    state(&mut page, model);
    peers(&mut page, model);
    items(&mut page, model);
    derivations(&mut page, model);
    findings(&mut page, model);
    said(&mut page, options);
    page.raw("\n<sub>").prose(&model.name).raw(". Made by stepscope ").raw(options.version).raw("</sub>\n");
    page.text
}

fn more(page: &mut Markdown, count: usize, what: &'static str) {
    if count > 0 {
        let _ = write!(page.text, "\nand {} more {what}\n", grouped(count));
    }
}

fn left_out(page: &mut Markdown, left: Option<&LeftOut>) {
    if let Some(left) = left {
        let _ = write!(page.text, "\n{}\n\n", left.words().as_str());
    }
}

fn steps(page: &mut Markdown, model: &PageModel) {
    for step in &model.steps {
        left_out(page, LeftOut::before(&model.steps_left, Some(step.number), 0));
        page.raw(if step.is_open { "<details open><summary>" } else { "<details><summary>" });
        page.raw("Step ")
            .number(step.number)
            .raw(": ")
            .mood(step.mood)
            .raw(step.word)
            .raw("</summary>")
            .block(&step.text);
        for (title, values) in [("Reads", &step.reads), ("Writes", &step.writes)] {
            for value in values {
                page.raw("- ")
                    .raw(title)
                    .raw(" ")
                    .code(&value.name)
                    .raw(" = ")
                    .code(&value.value.clone().shortened(400));
                page.mark(value.mark.as_ref());
                page.raw("\n");
            }
        }
        page.raw("\n</details>\n\n");
    }
    left_out(page, LeftOut::before(&model.steps_left, None, model.steps.last().map_or(0, |step| step.number)));
}

fn state(page: &mut Markdown, model: &PageModel) {
    let Some(table) = &model.state else { return };
    page.raw("<details><summary>Global state</summary>\n\n| Variable |");
    for column in &table.columns {
        match column {
            0 => page.raw(" ").raw(table.first_head()).raw(" |"),
            step => page.raw(" after ").number(*step).raw(" |"),
        };
    }
    page.raw("\n|--|").raw("").text.push_str(&"--|".repeat(table.columns.len()));
    page.raw("\n");
    for (name, cells) in &table.rows {
        page.raw("| ").code(name).raw(" |");
        for cell in cells {
            match &cell.value {
                Some(value) => {
                    page.raw(if cell.is_set { " ◆ " } else { " " }).code(value).mark(cell.mark.as_ref()).raw(" |")
                }
                None => page.raw(" |"),
            };
        }
        page.raw("\n");
    }
    more(page, table.rows_left, "variables");
    table.columns_left.iter().for_each(|left| left_out(page, Some(left)));
    page.raw("\n</details>\n\n");
}

fn peers(page: &mut Markdown, model: &PageModel) {
    let Some(part) = &model.peers else { return };
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
    more(page, part.rows_left, "values");
    more(page, part.peers_left, "peers");
    page.raw("\n</details>\n\n");
}

fn items(page: &mut Markdown, model: &PageModel) {
    for item in &model.items {
        page.raw("<details><summary>").mood(item.mood).code(&item.title).raw("</summary>").block(&item.value);
        for citation in &item.citations {
            page.raw("- Citation ").number(citation.number).raw(": ").mood(citation.mood).prose(&citation.badge);
            if let Some(place) = &citation.place {
                page.raw(", cited ").prose(place);
            }
            if let Some(quote) = &citation.quote {
                page.raw(": ").code(&quote.clone().shortened(400));
            }
            page.raw("\n");
        }
        page.raw("\n</details>\n\n");
    }
    more(page, model.items_left, "items");
}

fn derivations(page: &mut Markdown, model: &PageModel) {
    if model.derivations.is_empty() {
        return;
    }
    page.raw("<details><summary>Derivations</summary>\n\n");
    for DerivedPart { mark, tree } in &model.derivations {
        branch(page, tree, Some(mark), 0);
    }
    more(page, model.derivations_left, "derivations");
    page.raw("\n</details>\n\n");
}

fn branch(page: &mut Markdown, tree: &DerivationPart, mark: Option<&MarkPart>, depth: usize) {
    page.text.push_str(&"  ".repeat(depth));
    page.raw("- ").code(&tree.name).raw(" = ").code(&tree.value);
    if let Some(formula) = &tree.formula {
        page.raw(" = ").code(formula);
    }
    page.raw(" (step ").number(tree.step).raw(")").mark(mark).raw("\n");
    for from in &tree.from {
        branch(page, from, None, depth + 1);
    }
    if tree.left > 0 {
        let _ = writeln!(page.text, "{}- and {} more", "  ".repeat(depth + 1), tree.left);
    }
}

fn findings(page: &mut Markdown, model: &PageModel) {
    if model.findings.is_empty() {
        return;
    }
    page.raw("<details open><summary>Findings</summary>\n\n| | Rule | What | Where |\n|--|--|--|--|\n");
    for finding in &model.findings {
        page.raw("| ")
            .mood(finding.mood)
            .raw(finding.severity.word())
            .raw(" | ")
            .code(&Shown::own(finding.rule))
            .raw(" | ");
        page.prose(&finding.message.clone().shortened(400)).raw(" | ").code(&finding.pointer).raw(" |\n");
    }
    more(page, model.findings_left, "findings");
    page.raw("\n</details>\n");
}

fn said(page: &mut Markdown, options: &PageOptions<'_>) {
    if options.said.is_empty() {
        return;
    }
    page.raw("\n<details><summary>Reviews</summary>\n\n");
    for said in options.said.iter().take(MAX_SAID) {
        let [decides, verdict] = said.words();
        page.raw("- ").raw(decides).raw(verdict);
        if let Some(part) = said.part {
            page.raw(" of ").prose(&shown!("{}", part.phrase()));
        }
        page.raw(" by ").code(&said.who.line().cut(80));
        page.raw(if said.is_stale { " (↻ changed since)" } else { "" });
        for (name, text) in said.reasons(MAX_REASON) {
            page.raw("; ").raw(name).raw(": ").prose(&text);
        }
        if let Some(step) = said.step.and_then(|step| usize::try_from(step).ok()) {
            page.raw("; First wrong step: ").number(step);
        }
        if let Some(note) = &said.note {
            page.raw(": ").prose(&said.place().join(&note.prose().shortened(1_000)));
        }
        page.raw("\n");
    }
    more(page, options.said.len().saturating_sub(MAX_SAID), "reviews");
    page.raw("\n</details>\n");
}
