//! A comparison as text and as JSON lines.

use super::causes::changes;
use super::difference::{Change, Held, MAX_FIELDS, RecordDifference};
use super::{Basis, BasisCounts, By, Cell, ComparedItem, Join, Side, distinct};
use stepscope_base::charts;
use stepscope_base::json::write::{Style, sorted};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, head};
use stepscope_record::finding::counted;
use stepscope_review::stats::Share;
use stepscope_review::summary::Summary;

/// A longer answer is cut in a line of text.
const CUT: usize = 40;
/// A longer question is cut.
const QUESTION: usize = 44;
/// Width of the name of a cause.
const CAUSE_WIDTH: usize = 34;
/// The scale from 0 to 100 % is so wide.
const SCALE: usize = 31;

/// A comparison that was made.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRuns<'c> {
    /// Join of the records.
    pub join: &'c Join,
    /// Every item, judged.
    pub items: &'c [ComparedItem],
    /// The first run.
    pub a: Side<'c>,
    /// The second run.
    pub b: Side<'c>,
}

impl ComparedRuns<'_> {
    /// The board, as lines of text.
    pub fn board(&self, names: [&Shown; 2]) -> Vec<Shown> {
        let columns = Basis::ALL.map(|basis| BasisCounts::of(self.items, basis));
        let mut lines = vec![
            shown!("A  {}  {}", names[0], counted(self.a.summaries.len(), "record")),
            shown!("B  {}  {}", names[1], counted(self.b.summaries.len(), "record")),
            self.joined(),
            Shown::default(),
        ];
        let bases = distinct(&columns);
        let cell = |text: &str| format!("{text:>16}");
        // Where all bases count the same there is one column, and it needs no head.
        if bases.len() > 1 {
            let heads: String = bases.iter().map(|basis| cell(basis.phrase())).collect();
            lines.push(shown!("{:18}{heads}", ""));
        }
        let row = |title: &'static str, of: &dyn Fn(&BasisCounts) -> u64| {
            let counts = bases.iter().filter_map(|basis| columns.get(*basis as usize));
            let counts: String = counts.map(|column| cell(&of(column).to_string())).collect();
            shown!("{title:18}{counts}")
        };
        for cell in Cell::ALL {
            lines.push(row(cell.phrase(), &|column| column.count(cell)));
        }
        if columns.iter().any(|column| column.left_out > 0) {
            lines.push(row("disputed", &|column| column.left_out));
        }
        let blocks = measures(&columns);
        // All pictures begin in one column, so that the runs are compared on one scale.
        let pictured = blocks.iter().flatten().filter(|measure| measure.interval.is_some());
        let width = pictured.map(|measure| measure.text.as_str().chars().count()).max().unwrap_or(0);
        for block in &blocks {
            lines.push(Shown::default());
            lines.extend(block.iter().map(|measure| measure.line(width, SCALE)));
        }
        lines
    }

    /// `joined 273 by id, 1 by question; 1 in A alone, 0 in B alone`
    pub fn joined(&self) -> Shown {
        let [a, b] = self.join.unpaired(By::Alone);
        let (ids, questions) = (self.join.count(By::Id), self.join.count(By::Question));
        let mut line = shown!("joined {ids} by id, {questions} by question; unmatched: {a} in A, {b} in B");
        let twice = (self.join.twice_a.len(), self.join.twice_b.len());
        if twice != (0, 0) {
            line = line.join(&shown!("; duplicate ids: {} in A, {} in B (first one used)", twice.0, twice.1));
        }
        let repeated = self.join.unpaired(By::Repeated);
        if repeated != [0, 0] {
            line = line.join(&shown!("; repeated questions: {} in A, {} in B (not paired)", repeated[0], repeated[1]));
        }
        if self.join.unlike > 0 {
            line = line.join(&shown!("; {} joined by id ask different questions", self.join.unlike));
        }
        if self.join.other_gold > 0 {
            line = line.join(&shown!("; {} have different expected answers", self.join.other_gold));
        }
        line
    }

    /// The causes of failures in both runs, as lines of text; none where neither has one.
    pub fn causes(&self) -> Vec<Shown> {
        let found = changes(self.items, self.a, self.b);
        let row = |name: &str, cells: [&str; 5], p: &str| {
            let cells: String = cells.map(|cell| format!("{cell:>8}")).concat();
            shown!("{name:CAUSE_WIDTH$}{cells}  {p}")
        };
        let mut lines = Vec::new();
        for change in &found {
            if lines.is_empty() {
                lines.push(row("Causes, of the items in both", ["A", "B", "gone", "new", "moved"], ""));
            }
            let counts = [change.a, change.b, change.gone, change.new, change.moved].map(|count| count.to_string());
            let p = change.p().map_or_else(|| "-".to_owned(), p_phrase);
            lines.push(row(change.cause.phrase(), counts.each_ref().map(String::as_str), &p));
        }
        lines
    }

    /// The causes as JSON objects on lines.
    pub fn write_causes(&self, out: &mut Vec<u8>) {
        for change in changes(self.items, self.a, self.b) {
            Style::ASCII.line(out, |object| {
                object.put("kind", "cause").put("cause", change.cause.word());
                object.put("a", change.a).put("b", change.b);
                object.put("gone", change.gone).put("new", change.new).put("moved", change.moved);
                object.put("mcnemar_p", change.p());
            });
        }
    }

    /// One item as a line of text.
    pub fn line(&self, item: &ComparedItem, width: usize) -> Shown {
        let [a, b] = self.summaries(item);
        let first = || [a, b].into_iter().flatten();
        let name = place_name(first().next().expect("an item has a record on one side"));
        let question = first().find_map(|summary| summary.question.clone()).unwrap_or_default().cut(QUESTION);
        let answer = |summary: Option<&Summary>| match summary {
            None if item.pair.by == By::Repeated => Shown::own("not paired"),
            None => Shown::own("missing"),
            Some(summary) if summary.is_error() => Shown::own("error"),
            Some(summary) => match (&summary.answer, summary.rightness.verdict()) {
                (Some(answer), _) => answer.line().cut(CUT),
                (None, Some(true)) => Shown::own("graded correct"),
                (None, Some(false)) => Shown::own("graded wrong"),
                (None, None) => Shown::own("no answer"),
            },
        };
        let gold = first().find_map(|summary| summary.gold);
        let gold = gold.map(|gold| shown!("  expected {}", gold.shown())).unwrap_or_default();
        let cell = item.cell(Basis::GoldAdjusted).map_or("disputed", Cell::phrase);
        shown!("{:width$}  {cell:16}  {question:QUESTION$}  A {}  B {}{gold}", name.cut(width), answer(a), answer(b))
    }

    fn summaries(&self, item: &ComparedItem) -> [Option<&Summary>; 2] {
        [(self.a, item.pair.a), (self.b, item.pair.b)].map(|(side, at)| side.summaries.get(at?))
    }

    /// One item as a JSON object on a line.
    pub fn write_item(&self, item: &ComparedItem, out: &mut Vec<u8>) {
        let [a, b] = self.summaries(item);
        Style::ASCII.line(out, |object| {
            object.put("kind", "item");
            object.maybe("id", [a, b].into_iter().flatten().find_map(|summary| summary.item.id.as_ref()));
            object.maybe("doc_id", [a, b].into_iter().flatten().find_map(|summary| summary.document.as_ref()));
            object.maybe("question", [a, b].into_iter().flatten().find_map(|summary| summary.question.as_ref()));
            object.put("joined_by", item.pair.by.word());
            object.object("cell", |object| {
                for basis in Basis::ALL {
                    object.put(basis.word(), item.cell(basis).map_or("left_out", Cell::word));
                }
            });
            object.put("regression", item.is_regression());
            let [recorded, reviewed, adjusted] = item.right;
            for (key, summary, right) in
                [("a", a, [recorded.0, reviewed.0, adjusted.0]), ("b", b, [recorded.1, reviewed.1, adjusted.1])]
            {
                let Some(summary) = summary else { continue };
                object.object(key, |object| {
                    object.put("kind", summary.kind.word());
                    object.maybe("dataset", summary.item.dataset.as_ref());
                    object.put("line", summary.origin.line);
                    object.maybe("row_index", summary.item.row_index);
                    object.maybe("answer", summary.answer.as_ref());
                    object.maybe("gold", summary.gold.and_then(|gold| sorted(gold.json().as_bytes())));
                    for (basis, right) in Basis::ALL.into_iter().zip(right) {
                        object.maybe(basis.word(), right);
                    }
                });
            }
        });
    }

    /// The counts as a JSON object on a line.
    pub fn write_summary(&self, names: [&Untrusted<'_>; 2], out: &mut Vec<u8>) {
        Style::ASCII.line(out, |object| {
            object.put("kind", "summary");
            let alone = self.join.unpaired(By::Alone);
            let repeated = self.join.unpaired(By::Repeated);
            for (key, name, side, twice, alone, repeated) in [
                ("a", names[0], self.a, &self.join.twice_a, alone[0], repeated[0]),
                ("b", names[1], self.b, &self.join.twice_b, alone[1], repeated[1]),
            ] {
                object.object(key, |object| {
                    object.put("source", name);
                    object.put("records", side.summaries.len());
                    object.put("duplicates", twice.len());
                    object.put("unmatched", alone);
                    object.maybe("repeated_questions", Some(repeated).filter(|count| *count > 0));
                });
            }
            object.object("joined", |object| {
                object.put("id", self.join.count(By::Id));
                object.put("question", self.join.count(By::Question));
                object.put("different_questions", self.join.unlike);
                let other_gold = Some(self.join.other_gold).filter(|count| *count > 0);
                object.maybe("different_expected_answers", other_gold);
            });
            object.put("regressions", self.items.iter().filter(|item| item.is_regression()).count());
            for basis in Basis::ALL {
                let column = BasisCounts::of(self.items, basis);
                object.object(basis.word(), |object| {
                    for cell in Cell::ALL {
                        object.put(cell.word(), column.count(cell));
                    }
                    object.put("left_out", column.left_out);
                    object.object("accuracy_a", |object| column.a.write(object));
                    object.object("accuracy_b", |object| column.b.write(object));
                    object.put("mcnemar_p", Some(column.p).filter(|_| column.is_paired()));
                });
            }
        });
    }
}

/// Names a record by its id, else by its place.
fn place_name(summary: &Summary) -> Shown {
    match (&summary.item.id, &summary.item.dataset) {
        (None, Some(file)) => shown!("{}:{}", file.line(), summary.origin.line),
        _ => summary.item.name().line(),
    }
}

/// A figure of a comparison.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MeasureLine {
    /// It as text.
    pub text: Shown,
    /// A share with its interval: its lower end, itself, its upper end.
    pub interval: Option<[f64; 3]>,
}

impl MeasureLine {
    /// Text and picture on a line.
    pub fn line(&self, width: usize, scale: usize) -> Shown {
        match self.interval {
            Some([low, share, high]) => {
                shown!("{:width$}   {}", self.text, charts::interval(low, share, high, scale))
            }
            None => self.text.clone(),
        }
    }
}

/// The accuracy of both runs and the test of their difference, on every basis that differs: three blocks.
pub fn measures(columns: &[BasisCounts; 3]) -> [Vec<MeasureLine>; 3] {
    let bases = distinct(columns);
    let named = |basis: Basis| if bases.len() > 1 { format!(" {:14}", basis.phrase()) } else { "  ".to_owned() };
    let all = || bases.iter().filter_map(|basis| Some((*basis, columns.get(*basis as usize)?)));
    let accuracy = |name: &'static str, of: fn(&BasisCounts) -> Share| {
        let measure = |(basis, column): (Basis, &BasisCounts)| {
            let share = of(column);
            let text = shown!("accuracy of {name}{}{}", named(basis), share.phrase());
            MeasureLine { text, interval: share.interval() }
        };
        all().map(measure).collect()
    };
    let test = |(basis, column): (Basis, &BasisCounts)| {
        let (a, b) = (column.count(Cell::OnlyA), column.count(Cell::OnlyB));
        let p = if column.is_paired() { p_phrase(column.p) } else { "none".to_owned() };
        let text = shown!("McNemar's exact test{} {p}  ({a} vs {b} discordant)", named(basis));
        MeasureLine { text, interval: None }
    };
    [accuracy("A", |column| column.a), accuracy("B", |column| column.b), all().map(test).collect()]
}

/// Formats the result of a test; no p is 0, however small.
fn p_phrase(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}

/// From which step on two records are not the same.
pub fn diverges(difference: &RecordDifference<'_>) -> Shown {
    match &difference.steps {
        Some(steps) => steps.first().map_or(Shown::own("no step diverges"), |first| {
            let what: Vec<_> = first.what.iter().map(|what| what.word()).collect();
            let variables: Vec<String> = first.variables.iter().map(|name| name.line().into_string()).collect();
            let variables = if variables.is_empty() { String::new() } else { format!(" of {}", variables.join(", ")) };
            shown!("first difference: step {} ({}{variables})", first.step + 1, what.join(", "))
        }),
        None if difference.kinds.0 == difference.kinds.1 => {
            Shown::own("Only records with steps on both sides are compared by steps")
        }
        None => Shown::own("Different record types: steps not compared"),
    }
}

/// Counts changes: what one of the two lacks is told apart from what has another value there.
pub fn change_counts(changes: impl Iterator<Item = Change>) -> Shown {
    let mut counts = [0_usize; Change::ALL.len()];
    for change in changes {
        counts.get_mut(change as usize).into_iter().for_each(|count| *count += 1);
    }
    let [same, changed, a, b] = counts;
    let alone = [(a, "A"), (b, "B")].into_iter().filter(|(n, _)| *n > 0);
    let alone = alone.map(|(n, side)| format!("{n} only in {side}"));
    let all = std::iter::once(format!("{changed} changed")).chain(alone).chain([format!("{same} same")]);
    shown!("{}", all.collect::<Vec<_>>().join(", "))
}

/// The difference of two records, as lines of text: what is the same is counted.
pub fn difference(difference: &RecordDifference<'_>) -> Vec<Shown> {
    let mut lines = vec![shown!("A is {}, B is {}", difference.kinds.0.word(), difference.kinds.1.word())];
    lines.push(diverges(difference));
    let value = |value: Option<Value<'_>>| {
        value.map_or(Shown::own("nothing"), |value| Shown::line(head(value.raw(), CUT * 4)).cut(CUT * 2))
    };
    let mut table = |title: &'static str, counts: Shown, rows: Vec<Shown>| {
        lines.push(Shown::default());
        lines.push(shown!("{title}: {counts}"));
        lines.extend(rows);
    };
    let is_same = |change: Change| change == Change::Same;
    let fields = difference.fields.iter().filter(|field| !is_same(field.change));
    let fields = fields.map(|field| {
        shown!(
            "  {:28} {:8} A {}  B {}",
            field.pointer.text().line(),
            field.change.word(),
            value(field.a),
            value(field.b)
        )
    });
    table("fields", change_counts(difference.fields.iter().map(|field| field.change)), fields.collect());
    let held = |held: Option<&Held<'_>>| {
        let step = held.and_then(|held| held.step).map(|step| format!(" (step {})", step + 1)).unwrap_or_default();
        shown!("{}{step}", value(held.and_then(|held| held.value)))
    };
    let variables = difference.variables.iter().filter(|variable| !is_same(variable.change)).map(|variable| {
        let (a, b) = (held(variable.a.as_ref()), held(variable.b.as_ref()));
        shown!("  {:28} {:8} A {a}  B {b}", variable.name.line().cut(28), variable.change.word())
    });
    let changes = difference.variables.iter().map(|variable| variable.change);
    table("variables", change_counts(changes), variables.collect());
    if difference.more_fields {
        lines.push(shown!("more than {MAX_FIELDS} fields; not all are listed"));
    }
    lines
}

/// The difference of two records as a JSON object on a line.
pub fn write_difference(difference: &RecordDifference<'_>, out: &mut Vec<u8>) {
    Style::ASCII.line(out, |object| {
        object.put("kind", "difference");
        object.put("a", difference.kinds.0.word());
        object.put("b", difference.kinds.1.word());
        if let Some(first) = difference.steps.iter().flatten().next() {
            object.object("first_diverging_step", |object| {
                object.put("step", first.step + 1);
                object.list("what", first.what.iter().map(|what| what.word()));
                object.put("variables", &first.variables);
            });
        }
        object.objects("fields", &difference.fields, |field, object| {
            object.put("pointer", field.pointer.text());
            object.put("change", field.change.word());
            object.maybe("a", field.a.and_then(|value| sorted(value.raw())));
            object.maybe("b", field.b.and_then(|value| sorted(value.raw())));
        });
        object.put("more_fields", difference.more_fields);
        object.objects("variables", &difference.variables, |variable, object| {
            object.put("name", &variable.name);
            object.put("change", variable.change.word());
            for (key, held) in [("a", &variable.a), ("b", &variable.b)] {
                let Some(held) = held else { continue };
                object.object(key, |object| {
                    object.maybe("value", held.value.and_then(|value| sorted(value.raw())));
                    object.put("badge", held.badge.word());
                    object.maybe("step", held.step.map(|step| step + 1));
                    object.maybe("pointer", held.pointer.as_ref().map(Pointer::text).as_ref());
                });
            }
        });
    });
}
