//! A whole procedure, run as `evoproc_procedures` 1.2.0 runs it (`runners.run_steps_stateful_minimal`): the same calls
//! in the same order, the same state at the end, an end at the same mistakes. Nothing is sent from here: the runner
//! says what to ask next and takes the reply.

use std::collections::HashMap;
use std::fmt;

use crate::prompt::{AnswerShape, Refused, Release, Request, execution, needs};
use stepscope_base::json::write::{Letters, Raw, Spacing, Style};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::pyload::loads;
use stepscope_base::python::{self, Message, type_name};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::procedure::{PROBLEM_TEXT, Procedure};

/// The global state: every variable's name and its value as JSON text, in order of first writing.
#[derive(Clone, Default, Debug)]
pub struct Values {
    entries: Vec<(Untrusted<'static>, Vec<u8>)>,
    places: HashMap<Untrusted<'static>, usize>,
}

impl Values {
    /// The text of a variable's value.
    pub fn get(&self, name: &Untrusted<'_>) -> Option<&[u8]> {
        let place = *self.places.get(name)?;
        self.entries.get(place).map(|(_, text)| text.as_slice())
    }

    /// Writes a variable: a new one comes last, one that is there keeps its place.
    pub fn set(&mut self, name: &Untrusted<'_>, text: &[u8]) {
        if let Some(entry) = self.places.get(name).and_then(|&place| self.entries.get_mut(place)) {
            entry.1 = text.to_vec();
            return;
        }
        self.places.insert(name.to_owned(), self.entries.len());
        self.entries.push((name.to_owned(), text.to_vec()));
    }

    /// Every variable in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Untrusted<'static>, &[u8])> {
        self.entries.iter().map(|(name, text)| (name, text.as_slice()))
    }

    /// As one JSON object.
    pub fn json(&self) -> Vec<u8> {
        object(self.iter())
    }
}

/// Names and JSON texts as one object.
pub fn object<'a>(members: impl Iterator<Item = (&'a Untrusted<'static>, &'a [u8])>) -> Vec<u8> {
    Style::ASCII.object(|object| members.for_each(|(name, text)| _ = object.put(name, Raw(text))))
}

/// A JSON text on one line as Python dumps it: numbers as Python prints them, of duplicate keys the last value.
pub fn dumped(text: &[u8], letters: Letters) -> Vec<u8> {
    let mut tape = Tape::default();
    tape.parse(text).map_or_else(|| text.to_vec(), |value| Style::python(letters, Spacing::Wide).of(value))
}

/// The class of an end that the server brought about.
pub const SERVER_ERROR: &str = "ServerError";
/// The class of an end before anything could be sent.
pub(crate) const NOT_SENT: &str = "NotSent";
/// The class of an end that a person brought about.
pub(crate) const BROKEN_OFF: &str = "BrokenOff";

/// Reason that a run ended early, in upstream's words, and their meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The class of upstream's exception.
    pub class: &'static str,
    /// Upstream's message; empty where only the meaning is known.
    pub message: Untrusted<'static>,
    /// Meaning, where upstream's words do not tell it.
    pub meaning: Option<Shown>,
    /// The position of the step at which it ended.
    pub step: Option<usize>,
}

impl Ended {
    fn new(class: &'static str, message: impl Into<Untrusted<'static>>, step: usize) -> Self {
        Self { class, message: message.into(), meaning: None, step: Some(step) }
    }

    /// Creates the end of a creation, which has no steps.
    pub(crate) fn of_creation(class: &'static str, message: impl Into<Untrusted<'static>>) -> Self {
        Self { step: None, ..Self::new(class, message, 0) }
    }

    /// Creates the end of a run that is kept while it is made: it holds if the program ends before.
    pub(crate) fn unfinished() -> Self {
        Self::of_creation(BROKEN_OFF, Untrusted::from("the run was not finished: the program ended before"))
    }

    /// Creates the end of a run that a person left before a step.
    pub(crate) fn left_before(step: usize) -> Self {
        Self::new(BROKEN_OFF, Untrusted::owned(format!("left before step {}", step + 1).into_bytes()), step)
    }

    /// Tells whether upstream would end here: no server failed, no person ended it, and no limit of ours.
    pub fn is_upstreams(&self) -> bool {
        ![BROKEN_OFF, SERVER_ERROR, NOT_SENT].contains(&self.class)
    }

    fn meaning(mut self, meaning: Shown) -> Self {
        self.meaning = Some(meaning);
        self
    }

    /// The reason for a record: upstream's words as they are, behind their meaning.
    pub fn recorded(&self) -> Untrusted<'static> {
        let Some(meaning) = &self.meaning else { return self.message.clone() };
        let message = Message::new(meaning.as_str());
        if self.message.is_empty() {
            return message.into();
        }
        message.text(" (evoproc: ").text(self.class).text(": ").text(self.message.bytes()).text(")").into()
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.recorded().line())
    }
}

/// Next step, and the request to send for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    /// The position of the step.
    pub step: usize,
    /// The prompt, the schema and the expected keys.
    pub request: Request,
    /// The visible inputs, as one JSON object.
    pub inputs: Vec<u8>,
}

/// A procedure on its way.
#[derive(Clone, Debug)]
pub struct Runner<'a> {
    procedure: Procedure<'a>,
    answer: AnswerShape<'a>,
    strict: bool,
    /// The release whose end and words it has.
    pub(crate) release: Release,
    problem_text: Vec<u8>,
    state: Values,
    position: usize,
}

impl<'a> Runner<'a> {
    /// Stands before the first step. `strict`: a reply that lacks an expected key ends the run (upstream's
    /// `strict_missing`).
    pub fn new(procedure: Value<'a>, question: &Untrusted<'_>, answer: AnswerShape<'a>, strict: bool) -> Self {
        let problem_text = Style::ASCII.of(question);
        let mut state = Values::default();
        state.set(&Untrusted::from(PROBLEM_TEXT), &problem_text);
        let (procedure, release) = (Procedure::read(procedure), Release::V1_2_0);
        Self { procedure, answer, strict, release, problem_text, state, position: 0 }
    }

    /// Stands before a later step, with the state that it finds. `None`: the question is not in it.
    pub fn resume(
        procedure: Procedure<'a>,
        answer: AnswerShape<'a>,
        strict: bool,
        state: Values,
        position: usize,
    ) -> Option<Self> {
        let problem_text = state.get(&Untrusted::from(PROBLEM_TEXT))?.to_vec();
        Some(Self { procedure, answer, strict, release: Release::V1_2_0, problem_text, state, position })
    }

    /// Passes over the next step: these are its outputs.
    pub fn pass<'n>(&mut self, outputs: impl IntoIterator<Item = (&'n Untrusted<'static>, &'n [u8])>) {
        for (name, text) in outputs {
            self.state.set(name, text);
        }
        self.position += 1;
    }

    /// Writes a variable into the state.
    pub fn set(&mut self, name: &Untrusted<'_>, text: &[u8]) {
        self.state.set(name, text);
    }

    /// Gives the steps that follow another question.
    pub(crate) fn ask_otherwise(&mut self, question: &[u8]) {
        self.problem_text = question.to_vec();
    }

    /// The procedure that is run.
    pub fn procedure(&self) -> &Procedure<'a> {
        &self.procedure
    }

    /// The global state as it stands.
    pub fn state(&self) -> &Values {
        &self.state
    }

    /// Counts the steps.
    pub fn steps(&self) -> usize {
        self.procedure.steps.len()
    }

    /// The position of the step that comes next.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Builds the next request; `None`: the run is over.
    pub fn next_ask(&self) -> Result<Option<Ask>, Ended> {
        self.goes_through()?;
        let step = self.position;
        if step >= self.steps() {
            return Ok(None);
        }
        let odd = |refused: Refused| {
            let (what, exception) = match refused {
                Refused::Odd(exception) => (shown!("step {}", step + 1), exception),
                Refused::OddSchema(exception) => (Shown::own("the answer schema"), exception),
                // Neither: the step is there, and inputs are looked up here.
                Refused::NoStep | Refused::Unresolvable(_) => return Ended::new("RuntimeError", "", step),
            };
            let meaning = shown!("{what} has a shape that crashes evoproc's runner");
            Ended::new(exception.class, exception.message, step).meaning(meaning)
        };
        let mut shown: Vec<(Untrusted<'static>, Vec<u8>)> = Vec::new();
        for name in needs(&self.procedure, step).map_err(odd)? {
            let text = if name == PROBLEM_TEXT { Some(self.problem_text.as_slice()) } else { self.state.get(&name) };
            let Some(text) = text else { return Err(self.unresolvable(&name)) };
            if shown.iter().all(|(other, _)| *other != name) {
                shown.push((name.into_owned(), text.to_vec()));
            }
        }
        let inputs = object(shown.iter().map(|(name, text)| (name, text.as_slice())));
        let mut tape = Tape::default();
        let read = tape.parse(&inputs).map(Value::members).into_iter().flatten();
        // The names as they stand in the procedure: a byte that is no character does not survive the way through JSON.
        let visible: Vec<_> = shown.iter().map(|(name, _)| name.clone()).zip(read.map(|member| member.value)).collect();
        let request = execution(&self.procedure, step, &visible, self.answer).map_err(odd)?;
        Ok(Some(Ask { step, request, inputs }))
    }

    /// Takes the reply to what was asked last; gives what was written into the state, as one JSON object.
    pub fn take(&mut self, asked: &Ask, reply: &[u8]) -> Result<Vec<u8>, Ended> {
        let step = asked.step;
        let id = self.step_id(step);
        let mut tape = Tape::default();
        let value = loads(&mut tape, reply).map_err(|refused| {
            let said = Untrusted::from(refused);
            let message = Message::new("Non-JSON response for step id=").text(id.bytes()).text(": ").text(said.bytes());
            Ended::new("ValueError", message, step)
        })?;
        let mut outputs: Vec<(Untrusted<'static>, Vec<u8>)> = Vec::new();
        let entries = value.entries();
        for name in &asked.request.expected {
            if value.kind() != Kind::Object {
                no_object(value, name, step)?;
                match (self.strict, self.release.is_early()) {
                    (false, _) => continue,
                    (true, true) => return Err(self.omitted(name, step)),
                    (true, false) => return Err(no_keys(value, step)),
                }
            }
            let found = entries.iter().find(|member| member.name() == *name);
            if let Some(member) = found {
                let text = member.value.raw();
                self.state.set(name, text);
                if outputs.iter().all(|(other, _)| other != name) {
                    outputs.push((name.clone(), text.to_vec()));
                }
            } else if self.strict {
                let ended = self.omitted(name, step);
                if self.release.is_early() {
                    return Err(ended);
                }
                let mut keys: Vec<_> = entries.iter().map(stepscope_base::json::Member::name).collect();
                keys.sort();
                let keys = keys.iter().map(Untrusted::bytes);
                let message = Message::default().text(ended.message.bytes()).text(" Returned keys: ").list(keys);
                return Err(Ended { message: message.into(), ..ended });
            }
        }
        self.position = step + 1;
        Ok(object(outputs.iter().map(|(name, text)| (name, text.as_slice()))))
    }

    /// The end at a reply that lacks a key.
    fn omitted(&self, name: &Untrusted<'_>, step: usize) -> Ended {
        let message = Message::new("Model omitted required output '").text(name.bytes()).text("' for step id=");
        Ended::new("RuntimeError", message.text(self.step_id(step).bytes()), step)
    }

    /// A step's id as upstream prints it.
    pub(crate) fn step_id(&self, step: usize) -> Untrusted<'a> {
        let id = self.procedure.steps.get(step).and_then(|step| step.value.get("id"));
        id.map_or_else(|| Untrusted::from("None"), python::str)
    }

    fn unresolvable(&self, name: &Untrusted<'_>) -> Ended {
        let message = Message::new("Unresolvable input '")
            .text(name.bytes())
            .text("' for step id=")
            .text(self.step_id(self.position).bytes())
            .text(": no prior producer in state.");
        Ended::new("RuntimeError", message, self.position)
    }

    /// Checks that the steps can be gone through.
    fn goes_through(&self) -> Result<(), Ended> {
        let whole = |class, message: String, meaning| {
            Err(Ended { step: None, ..Ended::new(class, message, 0).meaning(Shown::own(meaning)) })
        };
        let no_get = |kind: &str| format!("'{kind}' object has no attribute 'get'");
        let procedure = self.procedure.value;
        if procedure.kind() != Kind::Object {
            return whole("AttributeError", no_get(type_name(procedure)), "the procedure is not a JSON object");
        }
        let Some(steps) = self.procedure.steps_member.map(|member| member.value) else { return Ok(()) };
        let meaning = "the procedure's steps are not a list";
        match type_name(steps) {
            "list" => Ok(()),
            // Python goes through the letters of a text and the keys of a dict.
            "dict" if steps.is_empty() => Ok(()),
            "str" if steps.string().is_some_and(|text| text.is_empty()) => Ok(()),
            "dict" | "str" => whole("AttributeError", no_get("str"), meaning),
            kind => whole("TypeError", format!("'{kind}' object is not iterable"), meaning),
        }
    }
}

/// Does what Python does with `name in out` and `out[name]` where `out` is no dict.
fn no_object(out: Value<'_>, name: &Untrusted<'_>, step: usize) -> Result<(), Ended> {
    let kind = type_name(out);
    let (holds, index) = match kind {
        "list" => {
            let holds = out.items().any(|item| item.string().is_some_and(|text| text == *name));
            (Some(holds), "list indices must be integers or slices, not str")
        }
        "str" => {
            let text = out.string().expect("Python calls it a str");
            let holds = memchr::memmem::find(text.bytes(), name.bytes()).is_some();
            (Some(holds), "string indices must be integers, not 'str'")
        }
        _ => (None, ""),
    };
    let (class, message) = match holds {
        Some(true) => ("TypeError", index.to_owned()),
        Some(false) => return Ok(()),
        None => ("TypeError", format!("argument of type '{kind}' is not iterable")),
    };
    Err(odd_reply(kind, class, message, step))
}

/// Does what Python does with `out.keys()` where `out` is no dict.
fn no_keys(out: Value<'_>, step: usize) -> Ended {
    let kind = type_name(out);
    odd_reply(kind, "AttributeError", format!("'{kind}' object has no attribute 'keys'"), step)
}

/// The end at a reply that is no object.
fn odd_reply(kind: &str, class: &'static str, message: String, step: usize) -> Ended {
    let what = match kind {
        "list" => "a list",
        "str" => "a string",
        "int" | "float" => "a number",
        "bool" => "a boolean",
        _ => "null",
    };
    Ended::new(class, message, step).meaning(shown!("the reply for step {} is {what}, not a JSON object", step + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_record::AnswerSchema;

    const PROCEDURE: &str = r#"{"steps": [
        {"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "Read", "output": [{"name": "a"}, {"name": "b"}]},
        {"id": 2, "inputs": [{"name": "a"}, {"name": "gone"}], "stepDescription": "Say", "output": [{"name": "final_answer"}]}]}"#;

    fn ended(procedure: &str, reply: &str, strict: bool) -> String {
        let mut tape = Tape::default();
        let procedure = tape.parse(procedure.as_bytes()).unwrap();
        let shape = AnswerShape::Published(AnswerSchema::General);
        let mut runner = Runner::new(procedure, &Untrusted::from("2 + 3?"), shape, strict);
        loop {
            let asked = match runner.next_ask() {
                Ok(Some(asked)) => asked,
                Ok(None) => return String::from_utf8(dumped(&runner.state().json(), Letters::All)).unwrap(),
                Err(ended) => return ended.to_string(),
            };
            if let Err(ended) = runner.take(&asked, reply.as_bytes()) {
                return ended.to_string();
            }
        }
    }

    #[test]
    fn a_run_ends_where_upstreams_does() {
        for (reply, strict, said) in [
            (r#"{"a": 1, "b": 2}"#, true, "Unresolvable input 'gone' for step id=2: no prior producer in state."),
            (
                r#"{"b": 1, "Z": 2, "é'": 3}"#,
                true,
                "Model omitted required output 'a' for step id=1 Returned keys: ['Z', 'b', \"é'\"]",
            ),
            ("{} {}", true, "Non-JSON response for step id=1: Extra data: line 1 column 4 (char 3)"),
            (
                "[\"a\"]",
                true,
                "the reply for step 1 is a list, not a JSON object (evoproc: TypeError: list indices must be integers or slices, \
                 not str)",
            ),
            (
                "\"x\"",
                true,
                "the reply for step 1 is a string, not a JSON object (evoproc: AttributeError: 'str' object has no attribute \
                 'keys')",
            ),
            (
                "null",
                false,
                "the reply for step 1 is null, not a JSON object (evoproc: TypeError: argument of type \
                'NoneType' is not iterable)",
            ),
            ("[]", false, "Unresolvable input 'a' for step id=2: no prior producer in state."),
        ] {
            assert_eq!(ended(PROCEDURE, reply, strict), said, "{reply}");
        }
        assert_eq!(ended("[]", "{}", true).split(" (").next(), Some("the procedure is not a JSON object"));
        assert!(ended(r#"{"steps": null}"#, "{}", true).starts_with("the procedure's steps are not a list"));
        for (step, said) in [
            ("7", "AttributeError: 'int' object has no attribute 'get'"),
            (r#"{"output": 5}"#, "TypeError: 'int' object is not iterable"),
            (r#"{"output": [{"name": "a"}, null]}"#, "TypeError: argument of type 'NoneType' is not iterable"),
            (r#"{"inputs": [1.5]}"#, "TypeError: argument of type 'float' is not iterable"),
            (r#"{"inputs": ["x name", 1]}"#, "AttributeError: 'str' object has no attribute 'get'"),
            (r#"{"inputs": [["name"]]}"#, "AttributeError: 'list' object has no attribute 'get'"),
        ] {
            let said = format!("step 1 has a shape that crashes evoproc's runner (evoproc: {said})");
            assert_eq!(ended(&format!(r#"{{"steps": [{step}, {{}}]}}"#), "{}", true), said);
        }
        assert_eq!(ended("{}", "{}", true), r#"{"problem_text": "2 + 3?"}"#);
    }

    #[test]
    fn an_answer_schema_ends_a_run_where_it_ends_upstreams() {
        let mut tape = Tape::default();
        let procedure = tape.parse(br#"{"steps": [{"id": 1}]}"#).unwrap();
        for (schema, said) in [
            ("true", "AttributeError: 'bool' object has no attribute 'get'"),
            (r#"{"properties": []}"#, "AttributeError: 'list' object has no attribute 'keys'"),
            (r#"{"properties": {"a": {}, "b": true}}"#, "AttributeError: 'bool' object has no attribute 'get'"),
        ] {
            let mut tape = Tape::default();
            let shape = AnswerShape::Own(tape.parse(schema.as_bytes()).unwrap());
            let ended = Runner::new(procedure, &Untrusted::from("?"), shape, true).next_ask().unwrap_err();
            let said = format!("the answer schema has a shape that crashes evoproc's runner (evoproc: {said})");
            assert_eq!(ended.to_string(), said);
        }
    }

    #[test]
    fn a_reason_is_recorded_as_it_is_and_shown_without_hidden_characters() {
        let mut tape = Tape::default();
        let procedure = "{\"steps\": [{\"id\": 1, \"inputs\": [{\"name\": \"a\u{2028}\"}]}]}";
        let procedure = tape.parse(procedure.as_bytes()).unwrap();
        let shape = AnswerShape::Published(AnswerSchema::General);
        let ended = Runner::new(procedure, &Untrusted::from("?"), shape, true).next_ask().unwrap_err();
        let said = "Unresolvable input 'a\u{2028}' for step id=1: no prior producer in state.";
        assert_eq!(ended.recorded(), said);
        assert_eq!(ended.to_string(), said.replace('\u{2028}', "⟨U+2028⟩"));
    }

    #[test]
    fn a_state_is_dumped_as_python_does() {
        let text = r#"{"é": 1E16, "a": "\ud83c\udf4e\ud800\u0000\u007f", "b": [1, 2.50, NaN], "é": -0}"#;
        let dumped = |letters| String::from_utf8(dumped(text.as_bytes(), letters)).unwrap();
        assert_eq!(dumped(Letters::All), "{\"é\": 0, \"a\": \"🍎\\ud800\\u0000\u{7f}\", \"b\": [1, 2.5, NaN]}");
        assert_eq!(
            dumped(Letters::PythonAscii),
            r#"{"\u00e9": 0, "a": "\ud83c\udf4e\ud800\u0000\u007f", "b": [1, 2.5, NaN]}"#
        );
    }
}
