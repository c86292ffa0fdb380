//! Two records of any shape side by side, ready for the pane: what each answered, where their steps part, and every
//! variable and field in which they differ. A run and its baseline, or a fork and its parent.

use crate::domain::compare::difference::{Change, Difference, Held, MAX_FIELDS};
use crate::domain::compare::print::diverges;
use crate::domain::formats;
use crate::domain::json::Value;
use crate::domain::text::{Shown, head};
use crate::shown;
use crate::tui::model::{Opened, StepRow, prose};

/// At most so many bytes of one value are made ready; the JSON has the rest.
const MAX_VALUE: usize = 8 << 10;
/// At most so many steps are put side by side.
const MAX_STEPS: usize = 200;
/// At most so many of the values that a step wrote stand below it, each cut after so many characters.
const MAX_WRITES: usize = 30;
const MAX_WRITTEN: usize = 200;

/// See the module.
#[derive(Debug, Default)]
pub struct Versus {
    /// The number of the first record in the table.
    pub record: usize,
    /// What the two are called.
    pub names: [Shown; 2],
    /// Everything, from the top.
    pub rows: Vec<Row>,
    /// So many rows are always shown: what each is and answers.
    pub facts: usize,
    /// Also what is the same.
    pub all: bool,
    /// The first line on screen.
    pub top: usize,
}

/// One row of the pane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    /// The head of a part.
    Heading(Shown),
    /// A sentence about both.
    Sentence(Shown),
    /// A value of each.
    Sides {
        /// What it is.
        name: Shown,
        /// How they differ.
        change: Change,
        /// Of the first; `None`: it has none.
        a: Option<Shown>,
        /// Of the second.
        b: Option<Shown>,
    },
}

impl Row {
    /// Whether it only says that both are the same.
    pub const fn is_same(&self) -> bool {
        matches!(self, Self::Sides { change: Change::Same, .. })
    }
}

impl Versus {
    /// Two records that were opened, with the names of their runs.
    pub fn of(names: [Shown; 2], a: &Opened, b: &Opened) -> Self {
        let mut rows = facts(a, b);
        let facts = rows.len();
        let (one, other) = (a.root().map(formats::read), b.root().map(formats::read));
        let difference = one.as_ref().zip(other.as_ref()).map(|(one, other)| Difference::of(one, other));
        if let Some(difference) = &difference
            && (a.has_steps() || b.has_steps())
        {
            rows.push(Row::Sentence(diverges(difference)));
        }
        rows.extend(replies(a, b));
        rows.extend(steps(a, b));
        match &difference {
            Some(difference) => {
                rows.extend(variables(difference));
                rows.extend(fields(difference));
            }
            None => rows.push(Row::Sentence(Shown::own(
                "one of the two is not readable as JSON, so their fields are not compared",
            ))),
        }
        Self { record: a.index, names, rows, facts, all: false, top: 0 }
    }

    /// The rows that are shown now.
    pub fn shown(&self) -> impl Iterator<Item = &Row> {
        let shown = |(n, row): &(usize, &Row)| self.all || *n < self.facts || !row.is_same();
        self.rows.iter().enumerate().filter(shown).map(|(_, row)| row)
    }
}

fn sides(name: Shown, a: Option<Shown>, b: Option<Shown>) -> Option<Row> {
    let change = match (&a, &b) {
        (None, None) => return None,
        (Some(_), None) => Change::OnlyA,
        (None, Some(_)) => Change::OnlyB,
        (Some(a), Some(b)) if a == b => Change::Same,
        _ => Change::Differs,
    };
    Some(Row::Sides { name, change, a, b })
}

/// What each is and answers: always shown, the same or not.
fn facts(a: &Opened, b: &Opened) -> Vec<Row> {
    let both = |name: &'static str, of: &dyn Fn(&Opened) -> Option<Shown>| sides(Shown::own(name), of(a), of(b));
    let right = |opened: &Opened| {
        opened
            .correct
            .map(|right| Shown::own(if right { "✓ right" } else { "✗ wrong" }))
            .or_else(|| opened.error.is_some().then(|| Shown::own("✗ error")))
    };
    let fix = |opened: &Opened| opened.verdict.as_ref().map(|verdict| Shown::own(verdict.fix.phrase()));
    let rows = [
        both("answer", &|opened| opened.pred.clone().or_else(|| opened.answer.clone())),
        both("judged", &right),
        both("gold", &|opened| opened.gold.clone()),
        both("in words", &|opened| opened.answer.clone().filter(|_| opened.pred.is_some())),
        both("error", &|opened| opened.error.clone()),
        both("triage", &fix),
        both("kind", &|opened| Some(Shown::own(opened.kind.word()))),
        both("id", &|opened| Some(opened.id.clone())),
    ];
    let mut facts: Vec<Row> = rows.into_iter().flatten().collect();
    if a.question == b.question {
        facts.insert(0, Row::Sentence(a.question.clone()));
    } else {
        facts.extend(sides(Shown::own("question"), Some(a.question.clone()), Some(b.question.clone())));
    }
    facts
}

/// The reply of a direct prompt, beside the steps of a run where there are some.
fn replies(a: &Opened, b: &Opened) -> Vec<Row> {
    let reply = |opened: &Opened| opened.reply.clone();
    let text = |own: &Opened, other: &Opened| reply(own).or_else(|| other.reply.as_ref().and_then(|_| in_one(own)));
    let row = (reply(a).is_some() || reply(b).is_some()).then(|| sides(Shown::default(), text(a, b), text(b, a)));
    let heading = match (a.has_steps(), b.has_steps()) {
        (true, false) => "Steps of A, the raw reply of B",
        (false, true) => "The raw reply of A, steps of B",
        _ => "Raw replies",
    };
    let row = row.flatten().into_iter();
    row.flat_map(|row| [Row::Heading(Shown::own(heading)), row]).collect()
}

/// All steps of a run as one text: what each does, and what it wrote.
fn in_one(opened: &Opened) -> Option<Shown> {
    let steps = opened.steps.iter().enumerate().take(MAX_STEPS);
    let texts = steps.map(|(n, step)| shown!("{}. {}", n + 1, step_text(opened, n, step)));
    texts.reduce(|all, step| all.and("\n").join(&step))
}

fn step_text(opened: &Opened, position: usize, step: &StepRow) -> Shown {
    let wrote = opened.variables.iter().flat_map(|variable| {
        let own = variable.writes.iter().filter(|write| write.step == Some(position));
        own.map(|write| {
            let value = write.value.as_ref().map_or(Shown::own("?"), |value| value.line.clone().cut(MAX_WRITTEN));
            shown!("\n   → {} = {value}", variable.name)
        })
    });
    wrote.take(MAX_WRITES).fold(step.text.clone(), |text, wrote| text.join(&wrote))
}

/// The steps of two runs, by position.
fn steps(a: &Opened, b: &Opened) -> Vec<Row> {
    if !a.has_steps() || !b.has_steps() {
        return Vec::new();
    }
    let text = |opened: &Opened, n: usize| opened.steps.get(n).map(|step| step_text(opened, n, step));
    let count = a.steps.len().max(b.steps.len());
    let mut rows = vec![Row::Heading(Shown::own("Steps"))];
    rows.extend((0..count.min(MAX_STEPS)).filter_map(|n| sides(shown!("step {}", n + 1), text(a, n), text(b, n))));
    if count > MAX_STEPS {
        rows.push(Row::Sentence(shown!("{} more steps are not listed", count - MAX_STEPS)));
    }
    summed("Steps", rows)
}

fn variables(difference: &Difference<'_>) -> Vec<Row> {
    let held = |held: Option<&Held<'_>>| {
        let held = held?;
        let step = held.step.map(|step| shown!("   (step {})", step + 1)).unwrap_or_default();
        Some(shown!("{}{step}", value(held.value?)))
    };
    let rows = difference.variables.iter().map(|variable| Row::Sides {
        name: variable.name.line(),
        change: variable.change,
        a: held(variable.a.as_ref()),
        b: held(variable.b.as_ref()),
    });
    part("Variables", rows.collect())
}

fn fields(difference: &Difference<'_>) -> Vec<Row> {
    let rows = difference.fields.iter().map(|field| Row::Sides {
        name: field.pointer.text().line(),
        change: field.change,
        a: field.a.map(value),
        b: field.b.map(value),
    });
    let mut rows = part("Fields", rows.collect());
    if difference.more_fields {
        rows.push(Row::Sentence(shown!("more than {MAX_FIELDS} fields are not listed")));
    }
    rows
}

fn value(value: Value<'_>) -> Shown {
    if value.is_container() && !value.is_empty() {
        return Shown::line(head(value.raw(), MAX_VALUE));
    }
    prose(value).shortened(MAX_VALUE)
}

fn part(title: &'static str, rows: Vec<Row>) -> Vec<Row> {
    if rows.is_empty() {
        return rows;
    }
    summed(title, std::iter::once(Row::Heading(Shown::own(title))).chain(rows).collect())
}

/// The rows of a part, its heading with what was counted.
fn summed(title: &'static str, mut rows: Vec<Row>) -> Vec<Row> {
    let same = rows.iter().filter(|row| row.is_same()).count();
    let others = rows.iter().filter(|row| matches!(row, Row::Sides { .. })).count() - same;
    if let Some(Row::Heading(heading)) = rows.first_mut() {
        *heading = shown!("{title}: {same} the same, {others} not");
    }
    rows
}
