//! Output of evoproc in a Jupyter notebook, as run records: procedures (`pretty_print`), the inputs and outputs of
//! steps (`print_bool`), states and expected answers. JSON and JSON lines in outputs are records as they stand; the
//! rest is named.
//!
//! Nothing is executed and nothing is guessed: a line that has none of these fixed shapes is passed over.

use self::embedded::without_colours;
use crate::{RecordKind, formats};
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;

mod embedded;
mod literal;
mod printed;

/// Maximum number of records that are read of one notebook.
const MAX_RECORDS: usize = 10_000;
/// Maximum number of outputs without a record that are named.
const MAX_NAMED: usize = 100;

/// A notebook, read.
#[derive(Debug, Default)]
pub struct Notebook {
    /// The records, one per line.
    pub lines: Vec<u8>,
    /// Number of records.
    pub records: usize,
    /// Outputs that hold none, in words; the first of them.
    pub others: Vec<Shown>,
    /// Number of further outputs that hold none.
    pub more_others: usize,
    /// Number of lines that look like records and were not read; they are among the outputs that hold none.
    pub unread: usize,
    /// Number of records beyond the limit.
    pub left_out: usize,
}

/// Tells whether a value is a notebook.
pub fn is_notebook(root: Value<'_>) -> bool {
    let has_cells = cells(root).is_some_and(|cells| cells.kind() == Kind::Array);
    has_cells && root.get("nbformat").is_some_and(Value::is_number)
}

/// The cells; those of an old notebook stand in its worksheet.
fn cells(root: Value<'_>) -> Option<Value<'_>> {
    root.get("cells").or_else(|| root.get("worksheets")?.items().next()?.get("cells"))
}

/// Output that holds no record: what it is, and its text.
type Other = (&'static str, Vec<u8>);

/// Place where a record was printed: cell and place in it, from 1.
#[derive(Clone, Copy)]
struct CellPlace {
    cell: usize,
    count: usize,
}

impl Notebook {
    /// Reads a notebook.
    pub fn read(root: Value<'_>) -> Self {
        let mut notebook = Self::default();
        for (n, cell) in cells(root).into_iter().flat_map(Value::items).enumerate() {
            notebook.cell(n + 1, cell);
        }
        notebook
    }

    fn cell(&mut self, number: usize, cell: Value<'_>) {
        let before = self.records;
        let mut printed = printed::Printed::default();
        let mut others = Vec::new();
        let mut stdout: Vec<u8> = Vec::new();
        let mut any_output = false;
        for output in cell.get("outputs").into_iter().flat_map(Value::items) {
            any_output = true;
            let kind = Value::text_of(output.get("output_type"));
            match kind.bytes() {
                // What is printed may be cut in two by what another thread says.
                b"stream" if is_stdout(output) => stdout.extend(text_of(output.get("text"))),
                b"stream" => others.push(("stderr output", text_of(output.get("text")))),
                b"error" | b"pyerr" => {
                    let name = text_of(output.get("ename"));
                    printed.end_in_error(name.clone(), text_of(output.get("evalue")));
                    others.push(("an error", name));
                }
                _ => {
                    let data = output.get("data").unwrap_or(output);
                    let plain = without_colours(text_of(data.get("text/plain").or_else(|| data.get("text"))));
                    if let Some(json) = data.get("application/json") {
                        if self.json(json) == 0 {
                            others.push(("JSON that is not a record", Vec::new()));
                        }
                    } else if !printed.take_result(&plain) && self.result(&plain, &mut others) == 0 {
                        others.push(("a result", plain));
                    }
                }
            }
        }
        if !any_output {
            return;
        }
        let stdout = without_colours(stdout);
        let had_text = !stdout.trim_ascii().is_empty();
        let found = printed.read(&stdout);
        let place = |count| CellPlace { cell: number, count };
        for run in &found {
            let place = place(self.records - before + 1);
            self.push(|out| run.write(place, out));
        }
        if !found.is_empty() {
            let among = first_record(&stdout);
            self.unread += usize::from(among.is_some());
            others.extend(among.map(|record| ("JSON next to printed runs", record)));
        } else if had_text {
            let named = others.len();
            if self.embedded(&stdout, &mut others) == 0 && others.len() == named {
                others.push(("printed text", stdout));
            }
        }
        for (what, text) in others {
            if self.others.len() < MAX_NAMED {
                self.others.push(named(number, what, &text));
            } else {
                self.more_others += 1;
            }
        }
    }

    /// Takes the records in a JSON value as they are, so that the same is said of them as of those in a file; how many there
    /// were.
    fn json(&mut self, value: Value<'_>) -> usize {
        let had = self.records;
        let left_out = records_in(value, |record| {
            self.push(|out| {
                Style::ASCII.append(record, out);
                out.push(b'\n');
            });
        });
        self.left_out += left_out;
        self.records - had
    }

    /// The same of what Python prints of such a value, alone or of many on lines, and of texts that hold JSON.
    fn result(&mut self, text: &[u8], others: &mut Vec<Other>) -> usize {
        if let Some((json, rest)) = literal::to_json(text.trim_ascii())
            && rest.trim_ascii().is_empty()
            && let Some(value) = Tape::default().parse(&json)
        {
            return match value.string() {
                Some(text) => self.embedded(text.bytes(), others),
                None => self.json(value),
            };
        }
        self.embedded(text, others)
    }

    /// The same of what is in printed text; `others` gets what looks like records and is not read.
    fn embedded(&mut self, text: &[u8], others: &mut Vec<Other>) -> usize {
        let had = self.records;
        let unread = embedded::each_value(text, |value| _ = self.json(value));
        self.unread += unread.len();
        others.extend(unread.into_iter().map(|(what, line)| (what, line.to_vec())));
        self.records - had
    }

    fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.records < MAX_RECORDS {
            write(&mut self.lines);
            self.records += 1;
        } else {
            self.left_out += 1;
        }
    }
}

/// Finds the first record that is JSON in printed text.
fn first_record(text: &[u8]) -> Option<Vec<u8>> {
    let mut first = None;
    let mut take = |record: Value<'_>| _ = first.get_or_insert_with(|| record.raw().to_vec());
    embedded::each_value(text, |value| _ = records_in(value, &mut take));
    first
}

/// Gives the records in a JSON value: itself, or the items of lists; the number of items beyond the limit.
fn records_in(value: Value<'_>, mut found: impl FnMut(Value<'_>)) -> usize {
    let (mut waiting, mut left_out) = (vec![value], 0);
    while let Some(value) = waiting.pop() {
        match value.kind() {
            Kind::Array => {
                waiting.extend(value.items().take(MAX_RECORDS).collect::<Vec<_>>().into_iter().rev());
                left_out += value.len().saturating_sub(MAX_RECORDS);
            }
            Kind::Object if formats::read(value).kind != RecordKind::Unknown => found(value),
            _ => {}
        }
    }
    left_out
}

fn notebook(place: CellPlace) -> Vec<u8> {
    Style::ASCII.object(|object| _ = object.put("cell", place.cell).put("count", place.count))
}

fn is_stdout(output: Value<'_>) -> bool {
    // Old notebooks say `stream` where new ones say `name`.
    let name = output.get("name").or_else(|| output.get("stream"));
    name.is_none_or(|name| !name.is_string("stderr"))
}

/// A text of several lines: one string, or a list of them.
fn text_of(value: Option<Value<'_>>) -> Vec<u8> {
    let Some(value) = value else { return Vec::new() };
    if value.kind() == Kind::Array {
        return value.items().filter_map(Value::string).flat_map(|line| line.bytes().to_vec()).collect();
    }
    Value::text_of(Some(value)).bytes().to_vec()
}

/// `cell 12: an error, KeyError`
fn named(cell: usize, what: &'static str, text: &[u8]) -> Shown {
    const MOST: usize = 60;
    let line = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    let Some(line) = line else { return shown!("cell {cell}: {what}") };
    let shown = Shown::line(&line[..line.len().min(4 * MOST)]).into_string();
    let short: String = shown.chars().take(MOST).collect();
    let more = if short.len() < shown.len() { "…" } else { "" };
    shown!("cell {cell}: {what}, {}{more}", Shown::line(short.as_bytes()))
}

#[cfg(test)]
mod tests;
