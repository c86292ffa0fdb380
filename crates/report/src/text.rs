//! The place in the record with a caret under it, as a compiler does.

use std::io::Write as _;

use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::MAX_MESSAGE;
use super::excerpt::Excerpt;
use super::places::{Places, step_of};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::{Finding, PlaceLabel, Severity, grouped};
use stepscope_record::id_text;

/// More labelled places of one finding are counted, not drawn.
const MAX_LABELS: usize = 12;
/// A longer id is cut in the line that says where.
const MAX_ID: usize = 40;

/// Colours, width and links.
#[derive(Clone, Debug)]
pub struct Look {
    renderer: Renderer,
    colour: bool,
    ascii: bool,
    names: bool,
    file: Option<String>,
}

impl Look {
    /// With or without colours.
    pub fn new(colour: bool) -> Self {
        // Links would put escape sequences of another kind into the output.
        let renderer = if colour { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
        Self { renderer: renderer.term_width(DEFAULT_TERM_WIDTH), colour, ascii: false, names: true, file: None }
    }

    /// In ASCII, so that carets stay under what they mark.
    #[must_use]
    pub fn in_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    /// With places as links into a file, whose address is this.
    #[must_use]
    pub fn linking(&self, file: Option<String>) -> Self {
        Self { file, ..self.clone() }
    }

    /// A place as text for a terminal, as a link to its line where it leads to a file.
    pub fn place(&self, place: &Shown, line: usize) -> String {
        match &self.file {
            Some(file) => format!("\x1b]8;;{file}#{line}\x1b\\{place}\x1b]8;;\x1b\\"),
            None => place.as_str().to_owned(),
        }
    }

    /// Without the ids of the records.
    #[must_use]
    pub fn nameless(self) -> Self {
        Self { names: false, ..self }
    }
}

/// Appends the record's findings.
pub fn write(case: &CaseView<'_>, findings: &[Finding], look: &Look, out: &mut Vec<u8>) {
    if findings.is_empty() {
        return;
    }
    let mut places = Places::new(case);
    for finding in findings {
        let (group, start, gutter) = group(case, finding, look.ascii, &mut places);
        let place = origin(case, finding, look, start, &mut places);
        let rendered = look.renderer.render(&[group]);
        // A record set anew has no line numbers, so the true place is written here and not by the library.
        let (title, rest) = rendered.split_once('\n').unwrap_or((&rendered, ""));
        let (on, off) = if look.colour { ("\x1b[1;94m", "\x1b[0m") } else { ("", "") };
        let _ = writeln!(out, "{title}\n{:gutter$}{on}-->{off} {place}\n{rest}\n", "");
    }
}

/// Places of a record with what is to be said of each, the first underlined, as lines of at most `width` columns without
/// colours.
pub fn places(case: &CaseView<'_>, labels: &[PlaceLabel], width: usize) -> Vec<Shown> {
    let labels: Vec<&PlaceLabel> = labels.iter().take(MAX_LABELS).collect();
    let (snippet, ..) = snippet(case, &labels, false, &mut Places::new(case));
    let rendered = Renderer::plain().term_width(width).render(&[Group::with_level(Level::NOTE).element(snippet)]);
    // Where a long line is moved, of a shorter one nothing is left.
    let is_left = |line: &&str| !matches!(line.trim_start_matches([' ', '|']).trim_end(), "" | "...");
    rendered.lines().filter(is_left).map(|line| Shown::line(line.as_bytes())).collect()
}

const fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Fatal => Level::ERROR,
        Severity::Repairable | Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// The finding as the library draws it, the byte where it begins, and the width of the gutter.
fn group<'a, 'r>(
    case: &CaseView<'a>,
    finding: &Finding,
    ascii: bool,
    places: &mut Places<'a>,
) -> (Group<'r>, usize, usize) {
    let labels: Vec<_> = finding.labels().take(MAX_LABELS).collect();
    let (snippet, start, gutter) = snippet(case, &labels, ascii, places);
    let title = level(finding.severity).with_name(finding.severity.word());
    let mut group = title
        .primary_title(finding.message.line().shortened(MAX_MESSAGE).into_string())
        .id(finding.rule.word())
        .element(snippet);
    let hidden = finding.labels().skip(MAX_LABELS).count() + finding.left_out();
    if hidden > 0 {
        group = group.element(Level::NOTE.message(shown!("and {} more places", grouped(hidden)).into_string()));
    }
    if let Some(help) = finding.help {
        group = group.element(Level::HELP.message(help));
    }
    (group, start, gutter)
}

/// The labelled places as the library draws them, the byte where the first begins, and the width of the gutter.
fn snippet<'a, 'r>(
    case: &CaseView<'a>,
    labels: &[&PlaceLabel],
    ascii: bool,
    places: &mut Places<'a>,
) -> (Snippet<'r, Annotation<'r>>, usize, usize) {
    let ranges: Vec<_> = labels.iter().map(|label| places.range(&label.place)).collect();
    let excerpt = Excerpt::of(case, &ranges, places);
    let excerpt = if ascii { excerpt.ascii() } else { excerpt };
    let lines = excerpt.text.lines().count();
    let gutter = excerpt.line.map_or(0, |line| (line + lines.saturating_sub(1)).to_string().len());
    let mut snippet = Snippet::source(excerpt.text);
    snippet = match excerpt.line {
        Some(line) => snippet.line_start(line),
        None => snippet.line_numbering(false).fold(false),
    };
    let start = ranges.first().map_or(0, |range| range.start);
    for (n, (label, mark)) in labels.iter().zip(excerpt.marks).enumerate() {
        let Some(mark) = mark else { continue };
        let kind = if n == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let text = label.text.line();
        snippet = snippet.annotation(annotation(kind, mark, if ascii { text.ascii() } else { text }));
    }
    for line in excerpt.context {
        snippet = snippet.annotation(AnnotationKind::Visible.span(line));
    }
    (snippet, start, gutter)
}

fn annotation<'r>(kind: AnnotationKind, mark: std::ops::Range<usize>, text: Shown) -> Annotation<'r> {
    let annotation = kind.span(mark);
    if text.as_str().is_empty() { annotation } else { annotation.label(text.into_string()) }
}

/// `runs.jsonl:22:1873  id 16c951343c39 · step 3`
fn origin(case: &CaseView<'_>, finding: &Finding, look: &Look, start: usize, places: &mut Places<'_>) -> String {
    let (line, column) = places.position(start);
    let place = look.place(&shown!("{}:{line}:{column}", case.source().line()), line);
    let mut origin = Shown::default();
    let mut gap = "  ";
    if let Some(id) = case.id().filter(|_| look.names) {
        let text = id_text(id).map_or_else(|| Shown::line(id.raw()), |id| id.line());
        origin = origin.join(&shown!("{gap}id {}", text.cut(MAX_ID)));
        gap = " · ";
    }
    if let Some(step) = step_of(&finding.place().pointer()) {
        origin = origin.join(&shown!("{gap}step {step}"));
    }
    place + origin.as_str()
}
