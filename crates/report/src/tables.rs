//! The tables of `--format parquet`: which member of a result's JSON line becomes which column.

use std::borrow::Cow;

use super::places::step_of_text;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Value};
use stepscope_record::finding::Severity;

/// A table that results are written to.
#[derive(Debug)]
pub struct ResultTable {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: &'static [TableColumn],
    /// The list in a line that holds one object per row; else the line itself is a row.
    rows: Option<&'static str>,
}

/// A column of a table; any value may be missing.
#[derive(Debug)]
pub struct TableColumn {
    /// Its name.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnType,
    from: CellSource,
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnType {
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
enum CellSource {
    /// Dotted keys in the line.
    Line(&'static str),
    /// Dotted keys in the object of the row.
    Row(&'static str),
    /// Number of findings.
    Findings,
    /// Number of findings of a severity.
    Count(Severity),
    /// The step that the row's pointer leads through, from 1.
    Step,
    /// Start (0) or end (1) of the row's first label.
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

/// Tables that `check` writes: one row per record, and one row per finding.
pub const CHECKED: &[ResultTable] = &[
    ResultTable {
        name: "findings",
        rows: Some("findings"),
        columns: &[
            text("source", CellSource::Line("source")),
            int("line", CellSource::Line("line")),
            int("index", CellSource::Line("index")),
            text("id", CellSource::Line("id")),
            text("sha256", CellSource::Line("sha256")),
            text("rules", CellSource::Line("rules")),
            text("rule", CellSource::Row("rule")),
            text("severity", CellSource::Row("severity")),
            text("action", CellSource::Row("action")),
            text("message", CellSource::Row("message")),
            text("pointer", CellSource::Row("pointer")),
            int("step", CellSource::Step),
            int("start", CellSource::Range(0)),
            int("end", CellSource::Range(1)),
            int("more", CellSource::Row("more")),
            text("details", CellSource::Row("details")),
        ],
    },
    ResultTable {
        name: "records",
        rows: None,
        columns: &[
            text("source", CellSource::Line("source")),
            int("line", CellSource::Line("line")),
            int("index", CellSource::Line("index")),
            text("id", CellSource::Line("id")),
            text("sha256", CellSource::Line("sha256")),
            text("rules", CellSource::Line("rules")),
            text("kind", CellSource::Line("kind")),
            int("findings", CellSource::Findings),
            int("fatal", CellSource::Count(Severity::Fatal)),
            int("repairable", CellSource::Count(Severity::Repairable)),
            int("warning", CellSource::Count(Severity::Warning)),
            int("note", CellSource::Count(Severity::Note)),
            float("fitness", CellSource::Line("fitness")),
            truth("correct", CellSource::Line("correct")),
            text("fix", CellSource::Line("triage.fix")),
            int("step", CellSource::Line("triage.step")),
            text("confidence", CellSource::Line("triage.confidence")),
            float("recovered", CellSource::Line("triage.recovered")),
            truth("recovers_gold", CellSource::Line("triage.recovers_gold")),
            text("cause", CellSource::Line("cause")),
            int("labelled_step", CellSource::Line("labelled_step")),
            text("question", CellSource::Line("question")),
            text("route", CellSource::Line("route.name")),
            text("strong", CellSource::Line("route.strong")),
            truth("lax", CellSource::Line("strictness.lax")),
            truth("strict", CellSource::Line("strictness.strict")),
            int("grounded", CellSource::Line("grounded.items")),
            int("grounded_of", CellSource::Line("grounded.of")),
            truth("left_out", CellSource::Line("left_out")),
            text("record", CellSource::Line("record")),
        ],
    },
];

/// Table that `verify` writes: one row per record.
pub const VERIFIED: &[ResultTable] = &[ResultTable {
    name: "results",
    rows: None,
    columns: &[
        text("sha256", CellSource::Line("sha256")),
        text("rules", CellSource::Line("rules")),
        truth("success", CellSource::Line("success")),
        float("reward", CellSource::Line("reward")),
        float("recorded_reward", CellSource::Line("metadata.recorded_reward")),
        text("details", CellSource::Line("details")),
        text("error", CellSource::Line("error")),
        text("metadata", CellSource::Line("metadata")),
        int("line", CellSource::Line("line")),
        text("id", CellSource::Line("id")),
        truth("left_out", CellSource::Line("left_out")),
        text("record", CellSource::Line("record")),
    ],
}];

const fn text(name: &'static str, from: CellSource) -> TableColumn {
    TableColumn { name, kind: ColumnType::Text, from }
}

const fn int(name: &'static str, from: CellSource) -> TableColumn {
    TableColumn { name, kind: ColumnType::Int, from }
}

const fn float(name: &'static str, from: CellSource) -> TableColumn {
    TableColumn { name, kind: ColumnType::Float, from }
}

const fn truth(name: &'static str, from: CellSource) -> TableColumn {
    TableColumn { name, kind: ColumnType::Bool, from }
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
        let count = |severity: Option<Severity>| {
            let is_one = |item: &Value<'_>| {
                severity.is_none_or(|one| item.get("severity").is_some_and(|word| word.is_string(one.word())))
            };
            let more = |item: Value<'_>| item.get("more").and_then(Value::float).map_or(0, |more| more as i64);
            let items = line.get("findings").map(Value::items);
            items.map_or(TableValue::Null, |items| {
                TableValue::Int(items.filter(is_one).map(|item| 1 + more(item)).sum())
            })
        };
        let value = match self.from {
            CellSource::Line(path) => at(line, path),
            CellSource::Row(path) => at(row, path),
            CellSource::Range(end) => {
                let first = row.get("labels").and_then(|labels| labels.items().next());
                first.and_then(|label| label.get("range")?.items().nth(end))
            }
            CellSource::Findings => return count(None),
            CellSource::Count(severity) => return count(Some(severity)),
            CellSource::Step => {
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

impl ColumnType {
    fn of(self, value: Value<'_>) -> TableValue<'_> {
        match self {
            Self::Text => words(value),
            Self::Int => value.whole().map_or(TableValue::Null, TableValue::Int),
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
