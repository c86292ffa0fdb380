//! The tables of `--format parquet`: which member of a result's JSON line becomes which column.

use std::borrow::Cow;

use super::places::step_of_text;
use crate::finding::Severity;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Value};

/// A table that results are written to.
#[derive(Debug)]
pub struct ResultTable {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: &'static [TableColumn],
    /// The list in a line that holds an object a row; else the line itself is a row.
    rows: Option<&'static str>,
}

/// A column of a table; any value may be missing.
#[derive(Debug)]
pub struct TableColumn {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: ValueType,
    from: Taken,
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueType {
    /// UTF-8, also for lists and objects, as JSON, and for numbers with all their digits.
    Text,
    /// 64 bits.
    Int,
    /// 64 bits.
    Float,
    /// A truth value.
    Bool,
}

/// The place of a value.
#[derive(Debug)]
enum Taken {
    /// Dotted keys in the line.
    Line(&'static str),
    /// Dotted keys in the object of the row.
    Row(&'static str),
    /// How many findings there are.
    Findings,
    /// How many findings of a severity there are.
    Count(Severity),
    /// The step that the row's pointer leads through, from 1.
    Step,
    /// Where the first label of the row begins (0) or ends (1).
    Range(usize),
}

/// A value of a table.
#[derive(Clone, PartialEq, Debug)]
pub enum TableValue<'a> {
    /// There is none.
    Null,
    /// UTF-8.
    Text(Cow<'a, str>),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

/// What `check` writes: a row a record, and a row a finding.
pub const CHECKED: &[ResultTable] = &[
    ResultTable {
        name: "findings",
        rows: Some("findings"),
        columns: &[
            text("source", Taken::Line("source")),
            int("line", Taken::Line("line")),
            int("index", Taken::Line("index")),
            text("id", Taken::Line("id")),
            text("sha256", Taken::Line("sha256")),
            text("rules", Taken::Line("rules")),
            text("rule", Taken::Row("rule")),
            text("severity", Taken::Row("severity")),
            text("action", Taken::Row("action")),
            text("message", Taken::Row("message")),
            text("pointer", Taken::Row("pointer")),
            int("step", Taken::Step),
            int("start", Taken::Range(0)),
            int("end", Taken::Range(1)),
            int("more", Taken::Row("more")),
            text("details", Taken::Row("details")),
        ],
    },
    ResultTable {
        name: "records",
        rows: None,
        columns: &[
            text("source", Taken::Line("source")),
            int("line", Taken::Line("line")),
            int("index", Taken::Line("index")),
            text("id", Taken::Line("id")),
            text("sha256", Taken::Line("sha256")),
            text("rules", Taken::Line("rules")),
            text("kind", Taken::Line("kind")),
            int("findings", Taken::Findings),
            int("fatal", Taken::Count(Severity::Fatal)),
            int("repairable", Taken::Count(Severity::Repairable)),
            int("warning", Taken::Count(Severity::Warning)),
            int("note", Taken::Count(Severity::Note)),
            float("fitness", Taken::Line("fitness")),
            text("fix", Taken::Line("triage.fix")),
            int("step", Taken::Line("triage.step")),
            text("confidence", Taken::Line("triage.confidence")),
            float("recovered", Taken::Line("triage.recovered")),
            truth("recovers_gold", Taken::Line("triage.recovers_gold")),
            int("labelled_step", Taken::Line("labelled_step")),
            text("question", Taken::Line("question")),
            text("route", Taken::Line("route.name")),
            text("strong", Taken::Line("route.strong")),
            truth("lax", Taken::Line("strictness.lax")),
            truth("strict", Taken::Line("strictness.strict")),
            int("grounded", Taken::Line("grounded.items")),
            int("grounded_of", Taken::Line("grounded.of")),
            truth("left_out", Taken::Line("left_out")),
            text("record", Taken::Line("record")),
        ],
    },
];

/// What `verify` writes: a row a record.
pub const VERIFIED: &[ResultTable] = &[ResultTable {
    name: "results",
    rows: None,
    columns: &[
        text("sha256", Taken::Line("sha256")),
        text("rules", Taken::Line("rules")),
        truth("success", Taken::Line("success")),
        float("reward", Taken::Line("reward")),
        float("recorded_reward", Taken::Line("metadata.recorded_reward")),
        text("details", Taken::Line("details")),
        text("error", Taken::Line("error")),
        text("metadata", Taken::Line("metadata")),
        truth("left_out", Taken::Line("left_out")),
        text("record", Taken::Line("record")),
    ],
}];

const fn text(name: &'static str, from: Taken) -> TableColumn {
    TableColumn { name, kind: ValueType::Text, from }
}

const fn int(name: &'static str, from: Taken) -> TableColumn {
    TableColumn { name, kind: ValueType::Int, from }
}

const fn float(name: &'static str, from: Taken) -> TableColumn {
    TableColumn { name, kind: ValueType::Float, from }
}

const fn truth(name: &'static str, from: Taken) -> TableColumn {
    TableColumn { name, kind: ValueType::Bool, from }
}

impl ResultTable {
    /// Gives every value of the rows that a line stands for, row by row, each in the order of the columns.
    pub fn each<'a>(&self, line: Value<'a>, mut put: impl FnMut(usize, TableValue<'a>)) {
        let mut row = |row: Value<'a>| {
            for (n, column) in self.columns.iter().enumerate() {
                put(n, column.datum(line, row));
            }
        };
        match self.rows {
            None => row(line),
            Some(key) => line.get(key).into_iter().flat_map(Value::items).for_each(row),
        }
    }
}

impl TableColumn {
    fn datum<'a>(&self, line: Value<'a>, row: Value<'a>) -> TableValue<'a> {
        let findings = || line.get("findings").map(Value::items);
        let value = match self.from {
            Taken::Line(path) => at(line, path),
            Taken::Row(path) => at(row, path),
            Taken::Range(end) => {
                let first = row.get("labels").and_then(|labels| labels.items().next());
                first.and_then(|label| label.get("range")?.items().nth(end))
            }
            Taken::Findings => {
                return findings().map_or(TableValue::Null, |items| TableValue::Int(items.count() as i64));
            }
            Taken::Count(severity) => {
                let is_one =
                    |item: &Value<'_>| item.get("severity").is_some_and(|word| word.is_string(severity.word()));
                return findings()
                    .map_or(TableValue::Null, |items| TableValue::Int(items.filter(is_one).count() as i64));
            }
            Taken::Step => {
                let pointer = row.get("pointer").and_then(Value::string);
                let step = pointer.and_then(|pointer| step_of_text(pointer.bytes()));
                return step.map_or(TableValue::Null, |step| TableValue::Int(step as i64));
            }
        };
        value.map_or(TableValue::Null, |value| self.kind.of(value))
    }
}

fn at<'a>(value: Value<'a>, path: &str) -> Option<Value<'a>> {
    path.split('.').try_fold(value, Value::get)
}

impl ValueType {
    fn of(self, value: Value<'_>) -> TableValue<'_> {
        match self {
            Self::Text => words(value),
            Self::Int => std::str::from_utf8(value.raw())
                .ok()
                .and_then(|raw| raw.parse().ok())
                .map_or(TableValue::Null, TableValue::Int),
            Self::Float => value.float().map_or(TableValue::Null, TableValue::Float),
            Self::Bool => value.bool().map_or(TableValue::Null, TableValue::Bool),
        }
    }
}

/// Half a pair of surrogates, which no table can hold, becomes a replacement character.
fn words(value: Value<'_>) -> TableValue<'_> {
    let json = || Style::ASCII.of(value);
    TableValue::Text(match value.kind() {
        Kind::Null => return TableValue::Null,
        Kind::Array | Kind::Object if value.is_empty() => return TableValue::Null,
        Kind::Array | Kind::Object => String::from_utf8_lossy(&json()).into_owned().into(),
        _ => match (value.plain_string(), value.string()) {
            (Some(plain), _) => String::from_utf8_lossy(plain),
            (None, Some(text)) => String::from_utf8_lossy(text.bytes()).into_owned().into(),
            (None, None) => String::from_utf8_lossy(value.raw()),
        },
    })
}
