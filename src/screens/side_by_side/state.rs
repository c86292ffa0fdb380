//! Two records of any shape side by side, ready for the pane: what each answered, where their steps part, and every
//! variable and field in which they differ. A run and its baseline, or a fork and its parent.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use crate::app::open_record::OpenRecord;
use crate::widgets::look::{grounding_glyph, route_sign};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_arithmetic::number::near;
use stepscope_base::json::Value;
use stepscope_base::shown;
use stepscope_base::text::{Shown, head};
use stepscope_compare::difference::{Change, Held, MAX_FIELDS, RecordDifference};
use stepscope_compare::lines::changed_lines;
use stepscope_compare::print::{change_counts, diverges};
use stepscope_evidence::citations::differences;
use stepscope_execution::fork::named_steps;
use stepscope_execution::repair::pretty;
use stepscope_present::answer::ShownAnswer;
use stepscope_present::answer::route_name;
use stepscope_present::steps::StepRow;
use stepscope_present::values::prose;
use stepscope_present::variables::WriteRow;
use stepscope_record::Record;
use stepscope_record::finding::{Severity, counted};
use stepscope_record::fork_origin::How;
use stepscope_record::state::Badge;

/// Maximum number of bytes of one value that are made ready; the JSON has the rest.
const MAX_VALUE: usize = 8 << 10;
/// Number of bytes shown after which later values are cut, and the length to which they are cut.
const MAX_ALL: usize = 256 << 10;
const MAX_LATE: usize = 80;
/// Maximum number of rows; those that only say that both are the same go first.
const MAX_ROWS: usize = 2_000;
/// Maximum number of steps that are put side by side.
const MAX_STEPS: usize = 200;
/// Maximum number of items of a structured answer that are listed.
const MAX_ITEMS: usize = 100;
/// Maximum number of values listed below the step that wrote them, and the characters after which each is cut.
const MAX_WRITES: usize = 30;
const MAX_WRITTEN: usize = 200;
/// Maximum number of bytes of a text whose words are compared, and of all such texts of a pair.
const MAX_WORDS: usize = 2 << 10;
const MAX_ALL_WORDS: usize = 32 << 10;
/// Similarity, in hundredths, below which two texts have nothing in common but a few words.
const ALIKE: u8 = 30;
/// Bytes of a value that is marked as a whole.
const SHORT: usize = 32;
/// Names of the rows that say what became of each.
const ANSWER: &str = "answer";
const GRADED: &str = "graded";
const ROUTE: &str = "route";

/// State of the screen that shows two records side by side.
#[derive(Debug, Default)]
pub struct SideBySide {
    /// Role of the second record.
    pub against: Against,
    /// The second record, if it is a fork that is not kept yet.
    pub fork: Option<Unkept>,
    /// The number of the first record in the table.
    pub record: usize,
    /// Names of the two.
    pub names: [Shown; 2],
    /// Rows, from the top.
    pub rows: Vec<SideRow>,
    /// Number of rows that are always shown: what each is and answers.
    pub facts: usize,
    /// Colours of what became of each: right, wrong, or neither.
    pub outcomes: [Option<Role>; 2],
    /// True if what is the same is shown too.
    pub all: bool,
    /// The first line on screen.
    pub top: usize,
}

/// Relation of the two records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Against {
    /// A record of the run, and its partner in the baseline.
    #[default]
    Baseline,
    /// A parent and its fork.
    Parent,
}

/// A fork that is not kept yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unkept {
    /// Record of the fork, one line without its end.
    pub line: Vec<u8>,
    /// The repaired procedure, where that is all there is to it.
    pub procedure: Option<Vec<u8>>,
    /// True if it is made of what was edited.
    pub is_edit: bool,
}

/// Row of the pane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SideRow {
    /// The head of a part.
    Heading(Shown),
    /// A sentence about both.
    Sentence(Shown),
    /// A value of each.
    Sides {
        /// Name of the value.
        name: Shown,
        /// Change from the first to the second.
        change: Change,
        /// Value of the first; `None`: it has none.
        a: Option<Shown>,
        /// Value of the second.
        b: Option<Shown>,
        /// Parts in which the two differ, in bytes of each.
        marks: [Vec<Range<usize>>; 2],
    },
    /// A line of a text of which the two have versions.
    Line(Change, Shown),
}

impl SideRow {
    /// Makes the row of a value of each.
    const fn of(name: Shown, change: Change, a: Option<Shown>, b: Option<Shown>) -> Self {
        Self::Sides { name, change, a, b, marks: [Vec::new(), Vec::new()] }
    }

    /// Tells whether it only says that both are the same.
    pub const fn is_same(&self) -> bool {
        matches!(self, Self::Sides { change: Change::Same, .. })
    }

    /// Tells whether it says what became of each.
    pub fn is_outcome(&self) -> bool {
        matches!(self, Self::Sides { name, .. } if [ANSWER, GRADED, ROUTE].contains(&name.as_str()))
    }
}

impl SideBySide {
    /// Compares two records that were opened, with the names of their runs.
    pub fn of(names: [Shown; 2], against: Against, a: &OpenRecord, b: &OpenRecord) -> Self {
        let mut rows = facts(a, b);
        let facts = rows.len();
        let (one, other) = (a.view(), b.view());
        let difference = RecordDifference::of(&one, &other);
        // A repaired procedure was not executed: there are no steps and values to compare.
        let is_repair = b.fork_origin.as_ref().is_some_and(|fork_origin| fork_origin.how == Some(How::Repair));
        if is_repair {
            rows.extend(procedures(one.record.as_ref(), other.record.as_ref()));
            rows.extend(findings(a, b));
            bound(&mut rows, facts);
            return Self {
                record: a.index,
                names,
                against,
                rows,
                facts,
                outcomes: [outcome(a), outcome(b)],
                ..Self::default()
            };
        }
        if let Some(difference) = &difference
            && (a.has_steps() || b.has_steps())
        {
            rows.push(SideRow::Sentence(diverges(difference)));
        }
        rows.extend(replies(a, b));
        let has_values = a.structured.is_none() || b.structured.is_none();
        let values = |difference| if has_values { variables(difference) } else { Vec::new() };
        match &difference {
            // Of a fork the values are what one looks for; the steps are mostly the same.
            Some(difference) if against == Against::Parent => {
                rows.extend(values(difference));
                rows.extend(findings(a, b));
                rows.extend(steps(a, b, difference));
                rows.extend(procedures(one.record.as_ref(), other.record.as_ref()));
                rows.extend(fields(difference));
            }
            Some(difference) => {
                rows.extend(steps(a, b, difference));
                rows.extend(values(difference));
                rows.extend(findings(a, b));
                rows.extend(fields(difference));
            }
            None => rows.push(SideRow::Sentence(Shown::own("one of the two is not valid JSON: fields not compared"))),
        }
        bound(&mut rows, facts);
        Self { record: a.index, names, against, rows, facts, outcomes: [outcome(a), outcome(b)], ..Self::default() }
    }

    /// Adds a sentence about both at the top.
    #[must_use]
    pub fn about(mut self, sentence: Shown) -> Self {
        self.rows.insert(0, SideRow::Sentence(sentence));
        self.facts += 1;
        self
    }

    /// Lists the rows that are shown now.
    pub fn shown(&self) -> impl Iterator<Item = &SideRow> {
        let shown = |(n, row): &(usize, &SideRow)| self.all || *n < self.facts || !row.is_same();
        self.rows.iter().enumerate().filter(shown).map(|(_, row)| row)
    }
}

fn sides(name: Shown, a: Option<Shown>, b: Option<Shown>) -> Option<SideRow> {
    let change = match (&a, &b) {
        (None, None) => return None,
        (Some(_), None) => Change::OnlyA,
        (None, Some(_)) => Change::OnlyB,
        (Some(a), Some(b)) if a == b => Change::Same,
        _ => Change::Differs,
    };
    Some(SideRow::of(name, change, a, b))
}

/// Returns the colour of what became of a record.
fn outcome(opened: &OpenRecord) -> Option<Role> {
    let graded = opened.correct.map(|right| if right { Role::Ok } else { Role::Fatal });
    let failed = || opened.error.is_some().then_some(Role::Fatal);
    graded.or_else(failed).or_else(|| opened.route.map(|route| route_sign(route).1))
}

/// Marks the words in which two texts differ; all of both where they are short, nothing where long ones have little
/// in common: everything in a colour of changes says nothing.
fn words(a: &str, b: &str) -> [Vec<Range<usize>>; 2] {
    let found = differences(a.as_bytes(), b.as_bytes());
    if found.cut || found.similarity < ALIKE {
        let is_short = a.len().max(b.len()) <= SHORT;
        return [a, b].map(|text| std::iter::once(0..text.len()).filter(|_| is_short).collect());
    }
    // What was aligned ends before the texts do, where their ends differ.
    let around = [0..found.text_range.start, found.text_range.end..b.len()];
    let mut marks = found.text;
    marks.extend(around.into_iter().filter(|range| !range.is_empty()));
    marks.sort_by_key(|range| range.start);
    [found.quote, marks]
}

/// Treats numbers that differ only in how they are written as equal: 4 and 4.0 are the same answer.
fn as_numbers(row: SideRow) -> SideRow {
    let number = |text: &Option<Shown>| text.as_ref()?.as_str().replace(',', "").parse::<f64>().ok();
    match row {
        SideRow::Sides { name, change: Change::Differs, a, b, .. }
            if number(&a).zip(number(&b)).is_some_and(|(a, b)| near(a, b)) =>
        {
            SideRow::of(name, Change::Same, a, b)
        }
        row => row,
    }
}

/// Lists what each is and answers: always shown, the same or not.
fn facts(a: &OpenRecord, b: &OpenRecord) -> Vec<SideRow> {
    let both = |name: &'static str, of: &dyn Fn(&OpenRecord) -> Option<Shown>| sides(Shown::own(name), of(a), of(b));
    let right = |opened: &OpenRecord| {
        opened
            .correct
            .map(|right| if right { shown!("{} correct", sign::CORRECT) } else { shown!("{} wrong", sign::WRONG) })
            .or_else(|| opened.error.is_some().then(|| shown!("{} run failed", sign::FAILED)))
    };
    let fix = |opened: &OpenRecord| opened.where_to_fix.as_ref().map(|verdict| Shown::own(verdict.phrase));
    let rows = [
        both(ANSWER, &|opened| opened.pred.clone().or_else(|| opened.answer.clone())).map(as_numbers),
        both(GRADED, &right),
        both("expected", &|opened| opened.gold.clone()).map(as_numbers),
        both("items", &|opened| opened.structured.as_deref().map(items)),
        both(ROUTE, &|opened| opened.route.map(|route| shown!("{} {}", route_sign(route).0, route_name(route)))),
        both("answer text", &|opened| opened.answer.clone().filter(|_| opened.pred.is_some())),
        both("error", &|opened| opened.error.clone()),
        both("where to fix", &fix),
        both("findings", &|opened| Some(severities(opened))),
        both("origin", &|opened| Some(came_about(opened)))
            .filter(|_| a.fork_origin.is_some() || b.fork_origin.is_some()),
        both("out of date", &out_of_date),
        both("kind", &|opened| Some(Shown::own(opened.kind.phrase()))),
        // What both have in common tells a reader nothing here.
        both("id", &|opened| Some(opened.id.clone())).filter(|_| a.id != b.id),
    ];
    let mut facts: Vec<SideRow> = rows.into_iter().flatten().collect();
    if a.question == b.question {
        facts.insert(0, SideRow::Sentence(a.question.clone()));
    } else {
        facts.extend(sides(Shown::own("question"), Some(a.question.clone()), Some(b.question.clone())));
    }
    facts
}

/// Lists the items of a structured answer, one per line, with their grounding.
fn items(structured: &ShownAnswer) -> Shown {
    let lines = structured.items.iter().take(MAX_ITEMS).map(|item| {
        let value = item.lines.iter().cloned().reduce(|all, line| all.and(" ").join(&line)).unwrap_or_default();
        let badge = structured.worst_badge(item).map(|badge| shown!("  ({badge})")).unwrap_or_default();
        shown!("{} {}  {}{badge}", grounding_glyph(item.standing), item.title, value.shortened(MAX_VALUE))
    });
    let all = lines.reduce(|all, line| all.and("\n").join(&line)).unwrap_or(Shown::own("no answer"));
    match structured.items.len().saturating_sub(MAX_ITEMS) {
        0 => all,
        more => shown!("{all}\n… {more} more"),
    }
}

fn severities(opened: &OpenRecord) -> Shown {
    let counts = Severity::ALL.map(|severity| (severity.glyph(), opened.count(severity)));
    let some: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).map(|(glyph, n)| format!("{glyph} {n}")).collect();
    if some.is_empty() { Shown::own("none") } else { shown!("{}", some.join("  ")) }
}

fn came_about(opened: &OpenRecord) -> Shown {
    opened.fork_origin.as_ref().map_or(Shown::own("recorded"), |fork_origin| {
        let model = fork_origin.model.as_ref().map(|model| shown!(", {}", model.line())).unwrap_or_default();
        shown!("{}{model}", fork_origin.phrase())
    })
}

/// Lists the steps that kept their values though what they read was changed; `None`: there are none.
fn out_of_date(opened: &OpenRecord) -> Option<Shown> {
    named_steps(opened.steps.iter().enumerate().filter(|(_, step)| step.is_stale).map(|(position, _)| position))
}

/// Lists the findings of each, by rule, the gravest first.
fn findings(a: &OpenRecord, b: &OpenRecord) -> Vec<SideRow> {
    let said = |opened: &OpenRecord, rule: &str| {
        let own = opened.notes.iter().filter(|note| note.finding.is_some() && note.rule == rule);
        own.map(|note| shown!("{} {}", note.severity.glyph(), note.message)).reduce(|all, one| all.and("\n").join(&one))
    };
    let both = a.notes.iter().chain(&b.notes).filter(|note| note.finding.is_some());
    let rules: BTreeSet<_> = both.map(|note| (note.severity, note.rule)).collect();
    let mut seen = HashSet::new();
    let rules = rules.into_iter().filter(|(_, rule)| seen.insert(*rule));
    part(
        "Findings by rule",
        rules.filter_map(|(_, rule)| sides(Shown::own(rule), said(a, rule), said(b, rule))).collect(),
    )
}

/// Lists the lines in which two procedures differ, as JSON.
fn procedures(a: Option<&Record<'_>>, b: Option<&Record<'_>>) -> Vec<SideRow> {
    let text = |record: Option<&Record<'_>>| Some(Shown::prose(&pretty(record?.procedure?.raw())));
    let Some((a, b)) = text(a).zip(text(b)).filter(|(a, b)| a != b) else { return Vec::new() };
    let lines = changed_lines(a.as_str(), b.as_str());
    let rows = lines.into_iter().map(|line| match line {
        None => SideRow::Line(Change::Same, Shown::own("⋯")),
        Some((change, text)) => SideRow::Line(change, shown!("{text}")),
    });
    std::iter::once(SideRow::Heading(Shown::own("Procedure"))).chain(rows).collect()
}

/// Lists the reply of a direct prompt, next to the steps of a run where there are some.
fn replies(a: &OpenRecord, b: &OpenRecord) -> Vec<SideRow> {
    let reply = |opened: &OpenRecord| opened.reply.clone();
    let text =
        |own: &OpenRecord, other: &OpenRecord| reply(own).or_else(|| other.reply.as_ref().and_then(|_| in_one(own)));
    let row = (reply(a).is_some() || reply(b).is_some()).then(|| sides(Shown::default(), text(a, b), text(b, a)));
    let heading = match (a.has_steps(), b.has_steps()) {
        (true, false) => "Steps of A, the raw reply of B",
        (false, true) => "The raw reply of A, steps of B",
        _ => "Raw replies",
    };
    let row = row.flatten().into_iter();
    row.flat_map(|row| [SideRow::Heading(Shown::own(heading)), row]).collect()
}

/// Joins all steps of a run into one text: what each does, and what it wrote.
fn in_one(opened: &OpenRecord) -> Option<Shown> {
    let steps = opened.steps.iter().enumerate().take(MAX_STEPS);
    let texts = steps.map(|(n, step)| shown!("{}. {}", n + 1, step_text(opened, n, step)));
    texts.reduce(|all, step| all.and("\n").join(&step))
}

/// Renders a step with what it wrote, and what was set after it.
fn step_text(opened: &OpenRecord, position: usize, step: &StepRow) -> Shown {
    let is_set = |write: &WriteRow| write.badge == Badge::Override && write.from.is_with(position);
    let wrote = opened.variables.iter().flat_map(|variable| {
        let own = variable.writes.iter().filter(|write| write.step == Some(position) || is_set(write));
        own.map(move |write| {
            let value = write.value.as_ref().map_or(Shown::own("?"), |value| value.line.clone().cut(MAX_WRITTEN));
            let set = if is_set(write) { format!("   ({})", write.badge.label()) } else { String::new() };
            shown!("\n   → {} = {value}{set}", variable.name)
        })
    });
    wrote.take(MAX_WRITES).fold(step.text.clone(), |text, wrote| text.join(&wrote))
}

/// Lists the steps of two runs, by position, with what the comparison says of each.
fn steps(a: &OpenRecord, b: &OpenRecord, difference: &RecordDifference<'_>) -> Vec<SideRow> {
    if !a.has_steps() || !b.has_steps() {
        return Vec::new();
    }
    let text = |opened: &OpenRecord, n: usize| opened.steps.get(n).map(|step| step_text(opened, n, step));
    let diverging = difference.steps.as_deref().unwrap_or_default();
    let differs = |n: usize| diverging.binary_search_by_key(&n, |differs| differs.step).is_ok();
    let count = a.steps.len().max(b.steps.len());
    let mut rows = vec![SideRow::Heading(Shown::own("Steps"))];
    rows.extend((0..count.min(MAX_STEPS)).map(|n| {
        let (a, b) = (text(a, n), text(b, n));
        let change = match (&a, &b) {
            (_, None) => Change::OnlyA,
            (None, _) => Change::OnlyB,
            _ if differs(n) => Change::Differs,
            _ => Change::Same,
        };
        SideRow::of(shown!("step {}", n + 1), change, a, b)
    }));
    if count > MAX_STEPS {
        rows.push(SideRow::Sentence(shown!("{}", counted(count - MAX_STEPS, "more step"))));
    }
    summed("Steps", rows)
}

fn variables(difference: &RecordDifference<'_>) -> Vec<SideRow> {
    let held = |held: Option<&Held<'_>>| {
        let held = held?;
        let step = held.step.map(|step| shown!("step {}, ", step + 1)).unwrap_or_default();
        Some(shown!("{}   ({step}{})", value(held.value?), held.badge.label()))
    };
    let rows = difference.variables.iter().map(|variable| {
        SideRow::of(variable.name.line(), variable.change, held(variable.a.as_ref()), held(variable.b.as_ref()))
    });
    part("Variables", rows.collect())
}

fn fields(difference: &RecordDifference<'_>) -> Vec<SideRow> {
    // The id stands above, where the two are named.
    let fields = difference.fields.iter().filter(|field| field.pointer.text().line().as_str() != "/id");
    let rows = fields
        .map(|field| SideRow::of(field.pointer.text().line(), field.change, field.a.map(value), field.b.map(value)));
    let mut rows = part("Fields", rows.collect());
    if difference.more_fields {
        rows.push(SideRow::Sentence(shown!("more than {MAX_FIELDS} fields, not all listed")));
    }
    rows
}

fn value(value: Value<'_>) -> Shown {
    if value.is_container() && !value.is_empty() {
        return Shown::line(head(value.raw(), MAX_VALUE));
    }
    prose(value).shortened(MAX_VALUE)
}

/// Cuts what follows when the rows are very long or many: everything is wrapped again for every frame.
fn bound(rows: &mut Vec<SideRow>, facts: usize) {
    if rows.len() > MAX_ROWS {
        let mut n = 0;
        rows.retain(|row| {
            n += 1;
            n <= facts || !row.is_same()
        });
    }
    if let Some(more) = rows.len().checked_sub(MAX_ROWS).filter(|more| *more > 0) {
        rows.truncate(MAX_ROWS);
        rows.push(SideRow::Sentence(shown!("{}", counted(more, "more line"))));
    }
    let (mut spent, mut compared) = (0, 0);
    for row in rows {
        let SideRow::Sides { change, a, b, marks, .. } = row else { continue };
        for side in [&mut *a, &mut *b].into_iter().flatten() {
            spent += side.as_str().len();
            if spent > MAX_ALL {
                *side = std::mem::take(side).shortened(MAX_LATE);
            }
        }
        let (Some(a), Some(b), Change::Differs) = (a.as_ref(), b.as_ref(), *change) else { continue };
        let longest = a.as_str().len().max(b.as_str().len());
        if longest <= MAX_WORDS && compared + longest <= MAX_ALL_WORDS {
            compared += longest;
            *marks = words(a.as_str(), b.as_str());
        }
    }
}

fn part(title: &'static str, rows: Vec<SideRow>) -> Vec<SideRow> {
    if rows.is_empty() {
        return rows;
    }
    summed(title, std::iter::once(SideRow::Heading(Shown::own(title))).chain(rows).collect())
}

/// Returns the rows of a part, its heading with what was counted.
fn summed(title: &'static str, mut rows: Vec<SideRow>) -> Vec<SideRow> {
    let changes =
        rows.iter().filter_map(|row| if let SideRow::Sides { change, .. } = row { Some(*change) } else { None });
    let counts = change_counts(changes);
    if let Some(SideRow::Heading(heading)) = rows.first_mut() {
        *heading = shown!("{title}: {counts}");
    }
    rows
}

#[cfg(test)]
mod tests {
    use stepscope_io::pipeline::side_data::Surroundings;
    use stepscope_judge::row::RowFacts;

    use super::*;

    fn sides(a: &str, b: &str) -> SideBySide {
        let open = |text: &str| {
            let row = RowFacts::unchecked(0, text.len() as u64);
            OpenRecord::new(0, 1, &row, text.into(), Surroundings::default())
        };
        SideBySide::of(["one", "other"].map(|name| shown!("{name}")), Against::Baseline, &open(a), &open(b))
    }

    fn run(steps: &[(&str, &str)], state: &str) -> String {
        let step = |(n, (text, output)): (usize, &(&str, &str))| {
            format!(
                r#"{{"id": {}, "inputs": [], "stepDescription": "{text}", "output": [{{"name": "{output}", "description": ""}}]}}"#,
                n + 1
            )
        };
        let steps: Vec<String> = steps.iter().enumerate().map(step).collect();
        format!(
            r#"{{"id": 1, "question": "?", "procedure": {{"steps": [{}]}}, "state": {{{state}}}}}"#,
            steps.join(",")
        )
    }

    fn side<'v>(sides: &'v SideBySide, wanted: &str) -> (Change, Option<&'v str>, Option<&'v str>) {
        let found = sides.rows.iter().find_map(|row| match row {
            SideRow::Sides { name, change, a, b, .. } if name.as_str() == wanted => {
                Some((*change, a.as_ref().map(Shown::as_str), b.as_ref().map(Shown::as_str)))
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no {wanted} in {sides:?}"))
    }

    fn says(sides: &SideBySide, wanted: &str) -> bool {
        sides.rows.iter().any(
            |row| matches!(row, SideRow::Heading(text) | SideRow::Sentence(text) if text.as_str().contains(wanted)),
        )
    }

    #[test]
    fn very_many_rows_are_counted() {
        let state = |value: usize| {
            (0..3 * MAX_ROWS).map(|n| format!(r#""v{n}": {}"#, value * usize::from(n > 5))).collect::<Vec<_>>()
        };
        let [a, b] = [1, 2].map(|value| run(&[("Read", "a")], &state(value).join(",")));
        let sides = sides(&a, &b);
        assert_eq!(sides.rows.len(), MAX_ROWS + 1);
        assert!(says(&sides, "more lines"));
        assert!(sides.rows.iter().skip(sides.facts).all(|row| !row.is_same()), "what is the same goes first");
    }

    #[test]
    fn a_fork_stands_beside_its_parent() {
        let parent = run(&[("Read", "a"), ("Add", "final_answer")], r#""a": 2, "final_answer": "3""#);
        let fork = run(&[("Read", "a"), ("Add both", "final_answer")], r#""a": 2, "final_answer": "4""#);
        let sides = sides(&parent, &fork);
        assert!(says(&sides, "first difference: step 2 (text, values of final_answer)"));
        assert!(says(&sides, "Steps: 1 changed, 1 same"));
        let step = side(&sides, "step 2");
        assert_eq!(
            step,
            (Change::Differs, Some("Add\n   → final_answer = 3"), Some("Add both\n   → final_answer = 4"))
        );
        assert_eq!(side(&sides, "final_answer").1, Some("3   (step 2, inferred)"));
        assert!(sides.shown().count() < sides.rows.len());
    }

    #[test]
    fn alike_texts_differ_by_word_and_outcomes_have_their_colours() {
        let marked = |a: &str, b: &str| {
            let [in_a, in_b] = words(a, b);
            [(a, in_a), (b, in_b)]
                .map(|(text, marks)| marks.iter().map(|mark| text[mark.clone()].to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            marked("Add the two prices up.", "Add the three prices up, too."),
            [vec!["two"], vec!["three", ", too"]]
        );
        assert_eq!(marked("3", "19"), [["3"], ["19"]], "short values differ as a whole");
        let long = "Nothing of this can be found in the other text, nor there.";
        assert!(marked(long, "{1, 2, 3}").iter().all(Vec::is_empty), "all in one colour says nothing");
        let record = |answer: &str, right: bool| {
            format!(
                r#"{{"id": 1, "question": "?", "gold_num": 1.0, "state": {{"final_answer": "{answer}"}}, "correct": {right}}}"#
            )
        };
        let sides = sides(&record("1", true), &record("2", false));
        assert_eq!(sides.outcomes, [Some(Role::Ok), Some(Role::Fatal)]);
        assert!(sides.rows.iter().filter(|row| row.is_outcome()).count() >= 2);
    }

    #[test]
    fn what_one_of_the_two_lacks_is_not_counted_as_changed() {
        let run = run(&[("Read", "a"), ("Add", "b")], r#""a": 2, "b": 3, "final_answer": "5""#);
        let direct = r#"{"id": 1, "question": "?", "mode": "baseline", "state": {"final_answer": "6", "c": 1}}"#;
        let sides = sides(&run, direct);
        assert!(says(&sides, "Variables: 1 changed, 2 only in A, 1 only in B, 1 same"), "{sides:?}");
    }

    #[test]
    fn answers_of_any_shape_and_what_is_no_json_can_be_compared() {
        let answers = sides(r#"{"final_answer": "a", "x": [1, 2]}"#, r#"{"final_answer": "b", "x": [1, 3]}"#);
        assert_eq!(side(&answers, "/x/1"), (Change::Differs, Some("2"), Some("3")));
        assert_eq!(side(&answers, "answer").0, Change::Differs);
        let broken = sides("{\"id\": ", r#"{"id": 1}"#);
        assert!(says(&broken, "not valid JSON"));
        let hostile = sides("{\"\\u001b[31m\": \"\\u202e\"}", "{}");
        assert_eq!(side(&hostile, "/␛[31m"), (Change::OnlyA, Some("⟨U+202E⟩"), None));
    }

    #[test]
    fn what_is_too_much_is_cut() {
        let many: Vec<(String, String)> = (0..MAX_STEPS + 5).map(|n| (format!("s{n}"), format!("v{n}"))).collect();
        let steps: Vec<(&str, &str)> = many.iter().map(|(text, name)| (text.as_str(), name.as_str())).collect();
        let long = run(&steps, "");
        assert!(says(&sides(&long, &long), "5 more steps"));
        let members: Vec<String> = (0..1_000).map(|n| format!(r#""k{n}": "{}""#, "y".repeat(2_000))).collect();
        let wide = sides(&format!("{{{}}}", members.join(",")), "{}");
        let all: usize = (0..1_000).filter_map(|n| side(&wide, &format!("/k{n}")).1).map(str::len).sum();
        assert!(all < MAX_ALL + 1_000 * (MAX_LATE + 40) + MAX_VALUE, "{all}");
        let text = format!(r#"{{"text": "{}"}}"#, "x".repeat(MAX_VALUE * 3));
        assert!(side(&sides(&text, "{}"), "/text").1.is_some_and(|text| text.len() < MAX_VALUE + 100));
    }
}
