//! The fixed shapes of what evoproc and its users print of a run: `pretty_print`, `print_bool`, and the labels around them.

use super::literal::to_json;
use super::{CellPlace, notebook};
use stepscope_base::json::write::{Object, Raw, Style};
use stepscope_base::json::{Kind, Tape};
use stepscope_base::text::Untrusted;

/// Maximum number of runs of one cell, and of steps of one run.
const MAX_RUNS: usize = 10_000;
const MAX_STEPS: usize = 1_000;

/// A name with its description.
type PrintedField = (Vec<u8>, Vec<u8>);

/// A step as `pretty_print` shows it.
#[derive(Default)]
struct PrintedStep {
    id: Vec<u8>,
    action: Vec<u8>,
    inputs: Vec<PrintedField>,
    outputs: Vec<PrintedField>,
}

/// Inputs and outputs of a step, as `print_bool` shows them: JSON texts.
#[derive(Default)]
struct PrintedCall {
    id: Vec<u8>,
    inputs: Option<Vec<u8>>,
    outputs: Option<Vec<u8>>,
}

/// One run, as far as it was printed.
#[derive(Default)]
pub(super) struct PrintedRun {
    question: Option<Vec<u8>>,
    index: Option<Vec<u8>>,
    gold: Option<Vec<u8>>,
    predicted: Option<Vec<u8>>,
    name: Option<Vec<u8>>,
    steps: Vec<PrintedStep>,
    calls: Vec<PrintedCall>,
    state: Option<Vec<u8>>,
    correct: Option<bool>,
    error: Option<(Vec<u8>, Vec<u8>)>,
}

/// Field that continues on the next line.
#[derive(Clone, Copy, PartialEq)]
enum OpenText {
    Nothing,
    Question,
    Gold,
    Predicted,
    Name,
    Action,
    Input,
    Output,
}

/// Outcome of a cell besides its printed text.
#[derive(Default)]
pub(super) struct Printed {
    error: Option<(Vec<u8>, Vec<u8>)>,
    result: Option<Vec<u8>>,
}

impl Printed {
    /// The cell ended in an error.
    pub(super) fn end_in_error(&mut self, name: Vec<u8>, text: Vec<u8>) {
        self.error = Some((name, text));
    }

    /// Takes the value of the cell, if it is a state: what the runner gave back.
    pub(super) fn take_result(&mut self, text: &[u8]) -> bool {
        let state = object(text.trim_ascii()).filter(|state| member(state, "problem_text").is_some());
        let is_state = state.is_some();
        self.result = state.or(self.result.take());
        is_state
    }

    /// Reads the printed text of the cell.
    pub(super) fn read(self, text: &[u8]) -> Vec<PrintedRun> {
        let mut reader = PrintedLines { runs: Vec::new(), now: PrintedRun::default(), open: OpenText::Nothing };
        for line in text.split(|byte| *byte == b'\n') {
            reader.line(line.strip_suffix(b"\r").unwrap_or(line));
        }
        reader.end();
        let mut runs = reader.runs;
        if let Some(state) = self.result {
            // The last run's, unless that told its own.
            match runs.last_mut().filter(|run| run.state.is_none() && !run.calls.is_empty()) {
                Some(run) => run.state = Some(state),
                None => runs.push(PrintedRun { state: Some(state), ..PrintedRun::default() }),
            }
        }
        if let Some(run) = runs.last_mut().filter(|run| run.state.is_none() && !run.is_over()) {
            run.error = self.error;
        }
        runs
    }
}

struct PrintedLines {
    runs: Vec<PrintedRun>,
    now: PrintedRun,
    open: OpenText,
}

impl PrintedLines {
    /// Ends a run with what was read of it; the next begins.
    fn end(&mut self) {
        let run = std::mem::take(&mut self.now);
        self.open = OpenText::Nothing;
        if run.is_any() && self.runs.len() < MAX_RUNS {
            self.runs.push(run);
        }
    }

    fn begin_if(&mut self, has: bool) {
        if has {
            self.end();
        }
    }

    fn line(&mut self, line: &[u8]) {
        if self.label(line) {
            return;
        }
        // A text of several lines goes on, and so does a description.
        let into = match self.open {
            OpenText::Nothing => None,
            OpenText::Question => self.now.question.as_mut(),
            OpenText::Gold => self.now.gold.as_mut(),
            OpenText::Predicted => self.now.predicted.as_mut(),
            OpenText::Name => self.now.name.as_mut(),
            OpenText::Action => self.now.steps.last_mut().map(|step| &mut step.action),
            OpenText::Input => self.now.steps.last_mut().and_then(|step| Some(&mut step.inputs.last_mut()?.1)),
            OpenText::Output => self.now.steps.last_mut().and_then(|step| Some(&mut step.outputs.last_mut()?.1)),
        };
        if let Some(into) = into {
            into.push(b'\n');
            into.extend_from_slice(line);
        }
    }

    /// Reads a line if it has one of the fixed shapes, and tells whether it has.
    fn label(&mut self, line: &[u8]) -> bool {
        let texts: [(&[&str], OpenText); 4] = [
            (&["Question:"], OpenText::Question),
            (&["Expected Answer:", "Gold Answer:"], OpenText::Gold),
            (&["Predicted Answer:"], OpenText::Predicted),
            (&["Index:"], OpenText::Nothing),
        ];
        for (words, open) in texts {
            let Some(rest) = words.iter().find_map(|word| line.strip_prefix(word.as_bytes())) else { continue };
            let rest = rest.strip_prefix(b" ").unwrap_or(rest).to_vec();
            let is_new = match open {
                OpenText::Question => {
                    self.now.question.is_some() || !self.now.calls.is_empty() || self.now.state.is_some()
                }
                _ => self.now.state.is_some() && open != OpenText::Nothing && self.now.question.is_none(),
            };
            self.begin_if(is_new);
            match open {
                OpenText::Question => self.now.question = Some(rest),
                OpenText::Gold => self.now.gold = Some(rest),
                OpenText::Predicted => self.now.predicted = Some(rest),
                _ => self.now.index = Some(rest),
            }
            self.open = open;
            return true;
        }
        if matches!(line, b"-----" | b"----- " | b"---") {
            self.end();
            return true;
        }
        if ["Procedure:", "Procedure Output:", "Steps:"].iter().any(|word| line.trim_ascii_end() == word.as_bytes())
            || line.starts_with(b"Did baseline get it correct?")
        {
            self.open = OpenText::Nothing;
            return true;
        }
        if let Some(name) = line.strip_prefix(b"--- Procedure: ") {
            self.begin_if(self.now.name.is_some() || !self.now.calls.is_empty() || self.now.state.is_some());
            let whole = name.strip_suffix(b" ---");
            self.now.name = Some(whole.unwrap_or(name).to_vec());
            self.open = if whole.is_some() { OpenText::Nothing } else { OpenText::Name };
            return true;
        }
        if self.open == OpenText::Name
            && let Some(rest) = line.strip_suffix(b" ---")
        {
            if let Some(name) = &mut self.now.name {
                name.push(b'\n');
                name.extend_from_slice(rest);
            }
            self.open = OpenText::Nothing;
            return true;
        }
        if let Some(rest) = line.strip_prefix(b"[step ") {
            return self.call(rest);
        }
        if let Some(rest) = line.strip_prefix(b"State:").and_then(|rest| object(rest.trim_ascii())) {
            self.begin_if(self.now.state.is_some());
            self.now.state = Some(rest);
            self.open = OpenText::Nothing;
            return true;
        }
        if let Some(rest) = line.strip_prefix(b"Is final answer correct?") {
            self.now.correct = match rest.trim_ascii() {
                b"True" => Some(true),
                b"False" => Some(false),
                _ => None,
            };
            return true;
        }
        self.now.name.is_some() && self.procedure(line)
    }

    /// A line of a procedure.
    fn procedure(&mut self, line: &[u8]) -> bool {
        if let Some(rest) = line.strip_prefix(b"Step ")
            && let Some((id, action)) = numbered(rest, b": ")
            && self.now.steps.len() < MAX_STEPS
        {
            let (id, action) = (id.to_vec(), action.to_vec());
            self.now.steps.push(PrintedStep { id, action, ..PrintedStep::default() });
            self.open = OpenText::Action;
            return true;
        }
        let Some(step) = self.now.steps.last_mut() else { return false };
        match line.trim_ascii_end() {
            b"  **Inputs**:" => self.open = OpenText::Input,
            b"  **Outputs**:" => self.open = OpenText::Output,
            _ => {
                let fields = match self.open {
                    OpenText::Input => &mut step.inputs,
                    OpenText::Output => &mut step.outputs,
                    // A blank line stands before each step.
                    _ => return false,
                };
                if let Some((name, text)) = line.strip_prefix(b"    - ").and_then(|field| split(field, b": ")) {
                    fields.push((name.to_vec(), text.to_vec()));
                } else if !line.is_empty() {
                    return false;
                }
            }
        }
        true
    }

    /// `1] inputs: {...}`
    fn call(&mut self, rest: &[u8]) -> bool {
        let Some((id, rest)) = numbered(rest, b"] ") else { return false };
        let Some((what, json)) = split(rest, b": ") else { return false };
        let json = object(json.trim_ascii());
        match what {
            b"inputs" => {
                // A later run of the same cell begins with its first step again.
                let again = self.now.calls.first().is_some_and(|first| first.id == id);
                self.begin_if(again || self.now.state.is_some());
                if self.now.calls.len() < MAX_STEPS {
                    self.now.calls.push(PrintedCall { id: id.to_vec(), inputs: json, outputs: None });
                }
            }
            b"outputs" => match self.now.calls.last_mut().filter(|call| call.id == id && call.outputs.is_none()) {
                Some(call) => call.outputs = json,
                None => self.now.calls.push(PrintedCall { id: id.to_vec(), inputs: None, outputs: json }),
            },
            _ => return false,
        }
        self.open = OpenText::Nothing;
        true
    }
}

fn split<'t>(text: &'t [u8], at: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let found = memchr::memmem::find(text, at)?;
    Some((text.get(..found)?, text.get(found + at.len()..)?))
}

/// A number and what follows it behind a mark.
fn numbered<'t>(text: &'t [u8], mark: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let (number, rest) = split(text, mark)?;
    let is_number = !number.is_empty() && number.len() < 19 && number.iter().all(u8::is_ascii_digit);
    is_number.then_some((number, rest))
}

/// The JSON of a dict that Python printed, and nothing behind it.
fn object(text: &[u8]) -> Option<Vec<u8>> {
    let (json, rest) = to_json(text)?;
    (json.starts_with(b"{") && rest.trim_ascii().is_empty()).then_some(json)
}

/// The text of a member of an object.
fn member(json: &[u8], key: &str) -> Option<Vec<u8>> {
    let mut tape = Tape::default();
    Some(tape.parse(json)?.get(key)?.string()?.bytes().to_vec())
}

fn number(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let is_number = to_json(text).is_some_and(|(json, rest)| {
        rest.is_empty() && json.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-')
    });
    is_number.then_some(text)
}

/// A text of several lines without the blank lines around it.
fn trimmed(text: &[u8]) -> Untrusted<'_> {
    Untrusted::new(text.trim_ascii())
}

impl PrintedRun {
    fn is_any(&self) -> bool {
        let is_read = |call: &PrintedCall| call.inputs.is_some() || call.outputs.is_some();
        !self.steps.is_empty() || self.calls.iter().any(is_read) || self.state.is_some()
    }

    /// Tells whether the last step of its procedure wrote its outputs.
    fn is_over(&self) -> bool {
        let last = self.calls.last();
        let is_last = self.steps.last().is_none_or(|step| last.is_some_and(|call| call.id == step.id));
        is_last && last.is_none_or(|call| call.outputs.is_some())
    }

    /// Appends it as a run record with its trace.
    pub(super) fn write(&self, place: CellPlace, out: &mut Vec<u8>) {
        let question = self.question.clone().or_else(|| {
            let first = self.calls.first().and_then(|call| call.inputs.as_deref());
            self.state.as_deref().or(first).and_then(|json| member(json, "problem_text"))
        });
        Style::ASCII.line(out, |object| {
            object.put("id", format!("cell-{}-{}", place.cell, place.count).as_str());
            if let Some(index) = self.index.as_deref().and_then(number) {
                object.put("row_index", Raw(index));
            }
            object.maybe("question", question.as_deref().map(trimmed));
            if let Some(gold) = &self.gold {
                match number(gold) {
                    Some(gold) => object.put("gold_num", Raw(gold)),
                    None => object.put("gold_answer", trimmed(gold)),
                };
            }
            let ended_early = !self.calls.is_empty() && self.state.is_none() && !self.is_over();
            object.put("status", if ended_early { "error" } else { "ok" }).put("mode", "procedural");
            if self.name.is_some() {
                object.object("procedure", |object| self.procedure(object));
            }
            if ended_early {
                let (kind, text) = self.error.as_ref().map_or_else(
                    || (Untrusted::from("Interrupted"), Untrusted::from("the output ends before the run does")),
                    |(kind, text)| (Untrusted::new(kind), Untrusted::new(text)),
                );
                object.put("error_type", kind).put("error", text);
            } else if let Some(state) = self.final_state(question.as_deref()) {
                object.put("state", Raw(state));
            }
            if let Some(predicted) = &self.predicted {
                match number(predicted) {
                    Some(predicted) => object.put("pred_num", Raw(predicted)),
                    None => object.put("pred_answer", trimmed(predicted)),
                };
            }
            object.maybe("correct", self.correct);
            object.put("notebook", Raw(notebook(place)));
            if !self.calls.is_empty() {
                object.object("trace", |object| self.trace(object));
            }
        });
    }

    fn procedure(&self, object: &mut Object<'_>) {
        object.put("NameDescription", self.name.as_deref().map(trimmed));
        object.objects("steps", &self.steps, |step, object| {
            object.put("id", Raw(step.id.as_slice()));
            fields("inputs", &step.inputs, object);
            object.put("stepDescription", trimmed(&step.action));
            fields("output", &step.outputs, object);
        });
    }

    fn trace(&self, object: &mut Object<'_>) {
        object.put("format", "stepscope.run_trace").put("version", 1_u64);
        object.objects("steps", self.calls.iter().enumerate(), |(n, call), object| {
            let index = self.steps.iter().position(|step| step.id == call.id).unwrap_or(n);
            object.put("step_index", index).put("step_id", Raw(call.id.as_slice()));
            object.put("inputs", call.inputs.as_deref().map(Raw)).put("outputs", call.outputs.as_deref().map(Raw));
        });
    }

    /// The state as it was printed; else what the steps wrote, each name with its last value, as the runner merges them.
    fn final_state(&self, question: Option<&[u8]>) -> Option<Vec<u8>> {
        if self.state.is_some() {
            return self.state.clone();
        }
        if self.calls.is_empty() || self.calls.iter().any(|call| call.outputs.is_none()) {
            return None;
        }
        let mut values: Vec<PrintedField> = Vec::new();
        for call in &self.calls {
            let mut tape = Tape::default();
            let written = tape.parse(call.outputs.as_deref()?)?;
            for member in written.members().filter(|_| written.kind() == Kind::Object) {
                let (name, value) = (member.name().bytes().to_vec(), member.value.raw().to_vec());
                match values.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => *known = value,
                    None => values.push((name, value)),
                }
            }
        }
        Some(Style::ASCII.object(|object| {
            if let Some(question) = question.filter(|_| values.iter().all(|(name, _)| name != b"problem_text")) {
                object.put("problem_text", trimmed(question));
            }
            for (name, value) in &values {
                object.put(name, Raw(value));
            }
        }))
    }
}

fn fields(key: &'static str, fields: &[PrintedField], object: &mut Object<'_>) {
    object.objects(key, fields, |(name, description), object| {
        object.put("name", trimmed(name)).put("description", trimmed(description));
    });
}
