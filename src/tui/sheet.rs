//! A typed answer ready for the screen: its items with their values as people read them, its citations with what
//! became of them, the document, and what is to be done next.

use std::ops::Range;
use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use crate::domain::document::Document;
use crate::domain::finding::Finding;
use crate::domain::json::{Kind, Pointer, Value};
use crate::domain::rules::Subject;
use crate::domain::text::{Shown, Untrusted, head};
use crate::domain::typed::{Item, Typed};
use crate::shown;
use crate::tui::prose::{pad, pad_left};
use crate::tui::theme::Role;

/// At most so many lines of one value are made ready; the JSON has the rest.
const MAX_LINES: usize = 200;
/// At most so many bytes of one text.
const MAX_TEXT: usize = 16 << 10;
/// A column of a table is at most so wide.
const MAX_CELL: usize = 40;

/// See the module.
#[derive(Debug, Default)]
pub struct Sheet {
    /// What was answered, in the answer's order.
    pub items: Vec<ItemView>,
    /// The items in the order of the screen: what rests on nothing comes first.
    pub order: Vec<usize>,
    /// Every citation, in the order of the items.
    pub spans: Vec<SpanView>,
    /// One sentence about all citations, where they are all off in the same way.
    pub offset: Option<Shown>,
    /// What the answer cites.
    pub document: Option<Arc<Document>>,
    /// The pages that the model saw.
    pub retrieved: Vec<i64>,
    /// What was asked for.
    pub asked: Option<Shown>,
    /// What the answer says of itself, and what follows from it.
    pub facts: Vec<Fact>,
    /// Lines of the page after the last one that the model saw.
    pub peek: Option<Range<usize>>,
}

/// One item.
#[derive(Debug, Clone)]
pub struct ItemView {
    /// The key of its value, `amount`; of an answer with a field each also the field's name.
    pub title: Shown,
    /// The value.
    pub lines: Vec<Shown>,
    /// Its citations, among all.
    pub spans: Range<usize>,
    /// How well it stands.
    pub standing: Standing,
    /// Where it stands in the record.
    pub pointer: Pointer,
}

/// How well a citation, or an item by its citations, is grounded. Worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Standing {
    /// The quote stands nowhere, or there is nothing to go by.
    Nowhere,
    /// The quote is right, the place is not.
    Misplaced,
    /// There is no quote, or no document to look into.
    Unproven,
    /// The quote stands where it was cited.
    Grounded,
}

impl Standing {
    /// Its sign.
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Nowhere => "✗",
            Self::Misplaced => "▲",
            Self::Unproven => "·",
            Self::Grounded => "✓",
        }
    }

    /// Its colour.
    pub const fn role(self) -> Role {
        match self {
            Self::Nowhere => Role::Fatal,
            Self::Misplaced => Role::Warning,
            Self::Unproven => Role::Note,
            Self::Grounded => Role::Ok,
        }
    }
}

/// One citation.
#[derive(Debug, Clone)]
pub struct SpanView {
    /// Its item.
    pub item: usize,
    /// Where it stands in the record.
    pub pointer: Pointer,
    /// How well it stands.
    pub standing: Standing,
    /// What became of it, in a word or two: `exact`, `3 lines below`, `nowhere`.
    pub badge: Shown,
    /// The lines as they are written.
    pub written: Shown,
    /// The cited lines that the document has, under the contract's numbering.
    pub cited: Option<Range<usize>>,
    /// Where the quote was found: lines, and bytes from the beginning of the first of them.
    pub found: Option<(Range<usize>, Range<usize>)>,
    /// What became of it, in sentences.
    pub sentences: Vec<Shown>,
    /// The model's words.
    pub quote: Option<Shown>,
    /// What in them is not in the document's words.
    pub quote_marks: Vec<Range<usize>>,
    /// The document's words there.
    pub recovered: Option<Shown>,
    /// What in them is not in the model's words.
    pub recovered_marks: Vec<Range<usize>>,
}

/// One row of what is said of the answer as a whole.
#[derive(Debug, Clone)]
pub struct Fact {
    /// What it is about; empty: it goes on.
    pub name: &'static str,
    /// What it says.
    pub text: Shown,
    /// Its colour.
    pub role: Role,
    /// All of it, where the row shows a part.
    pub whole: Option<Shown>,
    /// Where it stands in the record.
    pub pointer: Option<Pointer>,
}

impl Fact {
    /// A row.
    pub fn new(name: &'static str, text: Shown, role: Role) -> Self {
        Self { name, text, role, whole: None, pointer: None }
    }
}

/// The sign of an item, from 0: a number in a circle.
pub fn circled(item: usize) -> String {
    match u32::try_from(item).ok().filter(|n| *n < 20).and_then(|n| char::from_u32(0x2460 + n)) {
        Some(sign) => sign.to_string(),
        None => format!("({})", item + 1),
    }
}

impl Sheet {
    /// What is to be shown of an answer.
    pub fn of(typed: &Typed<'_>, subject: &Subject<'_>, _findings: &[Finding]) -> Self {
        let items = items(typed);
        let order = (0..items.len()).collect();
        Self { items, order, document: subject.document.clone(), retrieved: typed.retrieved(), ..Self::default() }
    }
}

/// The items of an answer, their values as people read them.
pub fn items(typed: &Typed<'_>) -> Vec<ItemView> {
    let mut next = 0;
    let items = typed.items();
    let width = items.iter().filter_map(amount_width).max().unwrap_or(0);
    let view = |item: &Item<'_>| {
        let spans = next..next + item.citations.len();
        next = spans.end;
        ItemView {
            title: title(item),
            lines: item.value.as_ref().map(|(key, value)| render(key, *value, width)).unwrap_or_default(),
            spans,
            standing: Standing::Unproven,
            pointer: item.pointer.clone(),
        }
    };
    items.iter().map(view).collect()
}

fn title(item: &Item<'_>) -> Shown {
    let key = item.value.as_ref().map(|(key, _)| key.line());
    match (&item.field, key) {
        (Some(field), _) => field.line(),
        (None, Some(key)) => key,
        (None, None) => Shown::own("no value"),
    }
}

/// The value of an item as lines: an amount, a date, a table, anything.
fn render(key: &Untrusted<'_>, value: Value<'_>, amounts: usize) -> Vec<Shown> {
    let get = |name: &str| value.get(name).filter(|value| !value.is_null());
    match (key.utf8(), value.kind()) {
        (Some("amount"), Kind::Object) => {
            let words: Vec<String> = ["currency", "unit"].iter().filter_map(|name| get(name)).map(one_line).collect();
            let number = get("value").map(one_line).unwrap_or_default();
            vec![shown!("{} {}", pad_left(&number, amounts), words.join(" / "))]
        }
        (Some("date"), Kind::Object) => {
            let original = get("original").map(|original| format!("   “{}”", one_line(original)));
            vec![shown!("{}{}", get("iso").map(one_line).unwrap_or_default(), original.unwrap_or_default())]
        }
        (Some("table"), Kind::Object) => table(value),
        (_, Kind::Object) => value
            .members()
            .take(MAX_LINES)
            .map(|member| shown!("{}: {}", member.name().line(), one_line(member.value)))
            .collect(),
        (_, Kind::Array) => value.items().take(MAX_LINES).map(|item| shown!("• {}", one_line(item))).collect(),
        (_, Kind::String) => vec![prose(value)],
        _ => vec![shown!("{}", one_line(value))],
    }
}

/// How wide the number of an amount is.
fn amount_width(item: &Item<'_>) -> Option<usize> {
    let (key, value) = item.value.as_ref()?;
    Some(one_line(value.get("value").filter(|_| *key == "amount")?).width().min(MAX_CELL))
}

fn table(value: Value<'_>) -> Vec<Shown> {
    let headers: Vec<String> = value.get("headers").into_iter().flat_map(Value::items).map(one_line).collect();
    let rows = value.get("rows").into_iter().flat_map(Value::items).take(MAX_LINES);
    let rows: Vec<Vec<String>> = rows.map(|row| row.items().map(one_line).collect()).collect();
    let columns = rows.iter().map(Vec::len).chain([headers.len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|n| rows.iter().chain([&headers]).filter_map(|row| row.get(n)).map(|cell| cell.width()).max())
        .map(|width| width.unwrap_or(0).min(MAX_CELL))
        .collect();
    let line = |cells: &Vec<String>| {
        let cells: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(n, width)| cells.get(n).map_or_else(|| pad("∅", (*width).max(1)), |cell| pad(cell, *width)))
            .collect();
        shown!("{}", cells.join(" │ ").trim_end())
    };
    let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
    let head = (!headers.is_empty()).then(|| [line(&headers), shown!("{rule}")]);
    head.into_iter().flatten().chain(rows.iter().map(line)).collect()
}

/// A value on one line, a string without its quotes.
fn one_line(value: Value<'_>) -> String {
    let text = match value.kind() {
        Kind::String => value.string().map(|text| Shown::line(head(text.bytes(), MAX_TEXT))).unwrap_or_default(),
        // What has no form of its own is shown as it was written.
        _ => Shown::line(head(value.raw(), MAX_TEXT)),
    };
    text.into_string()
}

fn prose(value: Value<'_>) -> Shown {
    value.string().map(|text| Shown::prose(head(text.bytes(), MAX_TEXT))).unwrap_or_default()
}
