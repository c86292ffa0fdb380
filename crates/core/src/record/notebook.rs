//! What evoproc printed into a Jupyter notebook, as run records: procedures (`pretty_print`), the inputs and outputs of
//! steps (`print_bool`), states and expected answers. JSON and JSON lines in outputs are records as they stand; the
//! rest is named.
//!
//! Nothing is executed and nothing is guessed: a line that has none of these fixed shapes is passed over.

use crate::record::{RecordKind, formats};
use stepscope_base::json::write::{Raw, Style};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;

mod literal;
mod printed;

/// So many records are read of one notebook.
const MAX_RECORDS: usize = 10_000;
/// So many outputs without a record are named.
const MAX_NAMED: usize = 100;

/// A notebook, read.
#[derive(Debug, Default)]
pub struct Notebook {
    /// The records, one a line.
    pub lines: Vec<u8>,
    /// Number of records.
    pub records: usize,
    /// Outputs that hold none, in words; the first of them.
    pub others: Vec<Shown>,
    /// Number of further outputs that hold none.
    pub more_others: usize,
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
            let kind = output.get("output_type").and_then(Value::string).unwrap_or_default();
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
                    let plain = text_of(data.get("text/plain").or_else(|| data.get("text")));
                    if let Some(json) = data.get("application/json") {
                        if self.json(number, before, json) == 0 {
                            others.push(("JSON that is not a record", Vec::new()));
                        }
                    } else if !printed.take_result(&plain) && self.literal(number, before, &plain) == 0 {
                        others.push(("a result", plain));
                    }
                }
            }
        }
        if !any_output {
            return;
        }
        let had_text = !stdout.trim_ascii().is_empty();
        let found = printed.read(&stdout);
        let place = |count| CellPlace { cell: number, count };
        for run in &found {
            let place = place(self.records - before + 1);
            self.push(|out| run.write(place, out));
        }
        if found.is_empty() && had_text && self.embedded(number, before, &stdout) == 0 {
            others.push(("printed text", stdout));
        }
        for (what, text) in others {
            if self.others.len() < MAX_NAMED {
                self.others.push(named(number, what, &text));
            } else {
                self.more_others += 1;
            }
        }
    }

    /// Takes the records in a JSON value: itself, or the items of lists; how many there were.
    fn json(&mut self, cell: usize, before: usize, value: Value<'_>) -> usize {
        let had = self.records;
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value.kind() {
                Kind::Array => {
                    waiting.extend(value.items().take(MAX_RECORDS).collect::<Vec<_>>().into_iter().rev());
                    self.left_out += value.len().saturating_sub(MAX_RECORDS);
                }
                Kind::Object if formats::read(value).kind != RecordKind::Unknown => {
                    let place = CellPlace { cell, count: self.records - before + 1 };
                    self.push(|out| write_at(place, value, out));
                }
                _ => {}
            }
        }
        self.records - had
    }

    /// The same of what Python prints of such a value.
    fn literal(&mut self, cell: usize, before: usize, text: &[u8]) -> usize {
        let Some((json, rest)) = literal::to_json(text.trim_ascii()) else { return 0 };
        let mut tape = Tape::default();
        match tape.parse(&json) {
            Some(value) if rest.trim_ascii().is_empty() => self.json(cell, before, value),
            _ => 0,
        }
    }

    /// The same of JSON that begins at the margin of printed text.
    fn embedded(&mut self, cell: usize, before: usize, text: &[u8]) -> usize {
        let had = self.records;
        let mut at = 0;
        let mut work = text.len().saturating_mul(8);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let line = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let mut len = line;
            if matches!(rest.first(), Some(b'{' | b'['))
                && let Some((value, looked)) = json_value(rest, work)
            {
                work = work.saturating_sub(looked);
                let mut tape = Tape::default();
                if let Some(root) = value.and_then(|end| tape.parse(rest.get(..end)?)) {
                    self.json(cell, before, root);
                    len = value.unwrap_or(line).max(line);
                }
            }
            at += len;
        }
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

/// Finds the end of the JSON value that begins here, if it ends, and the number of bytes looked at; `None`: `work`
/// bytes were not enough.
fn json_value(text: &[u8], work: usize) -> Option<(Option<usize>, usize)> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (n, byte) in text.iter().enumerate() {
        if n >= work {
            return None;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some((Some(n + 1), n + 1));
                }
            }
            _ => {}
        }
    }
    Some((None, text.len()))
}

/// A record as a line, with the cell that it was printed in.
fn write_at(place: CellPlace, value: Value<'_>, out: &mut Vec<u8>) {
    Style::ASCII.line(out, |object| {
        for member in value.members() {
            object.put(member.name(), member.value);
        }
        if value.get("notebook").is_none() {
            object.put("notebook", Raw(notebook(place)));
        }
    });
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
    value.string().map(|text| text.bytes().to_vec()).unwrap_or_default()
}

/// `cell 12: an error, KeyError`
fn named(cell: usize, what: &'static str, text: &[u8]) -> Shown {
    const MOST: usize = 60;
    let line = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    let Some(line) = line else { return shown!("cell {cell}: {what}") };
    let shown = Shown::line(line.get(..line.len().min(4 * MOST)).unwrap_or_default()).into_string();
    let short: String = shown.chars().take(MOST).collect();
    let more = if short.len() < shown.len() { "…" } else { "" };
    shown!("cell {cell}: {what}, {}{more}", Shown::line(short.as_bytes()))
}

#[cfg(test)]
mod tests;
