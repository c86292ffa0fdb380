//! One step and the state it finds -> the request, byte for byte as `evoproc_procedures` 1.2.0 makes it
//! (`runners.run_steps_stateful_minimal`, `prompts.create_execution_prompt`).
//!
//! Upstream runs the raw JSON object and not its validated model: only the alias keys `output` and `stepDescription`
//! (then `step_description`) count, and a name that is no string is turned into one by `str()`.

use std::collections::HashMap;

use stepscope_base::json::write::{Letters, Object, Spacing, Style};
use stepscope_base::json::{Kind, Member, Tape, Value};
use stepscope_base::python::{self, rstrip, type_name};
use stepscope_base::text::Untrusted;
use stepscope_record::procedure::last_step::runs_as_last;
use stepscope_record::procedure::{PROBLEM_TEXT, Procedure};
use stepscope_record::schemas;
use stepscope_record::state::{Badge, State};
use stepscope_record::{AnswerSchema, Record};

stepscope_base::words! {
    /// A release of evoproc-procedures. They differ in the creation prompt, the gsm answer, and the end of a run whose reply
    /// lacks a key; 0.1.0 and 1.0.0 are the same, and so are 1.1.0 and 1.2.0.
    #[derive(Default)]
    pub enum Release {
        /// The first.
        V0_1_0 = "0.1.0",
        /// The same under another number.
        V1_0_0 = "1.0.0",
        /// A shorter creation prompt, which asks for symbolic relationships.
        V1_1_0 = "1.1.0",
        /// The newest.
        #[default]
        V1_2_0 = "1.2.0",
    }
}

impl Release {
    /// Tells whether it is one of those before 1.1.0.
    pub(crate) const fn is_early(self) -> bool {
        matches!(self, Self::V0_1_0 | Self::V1_0_0)
    }
}

/// The schema that the last step's reply must have.
#[derive(Clone, Copy, Debug)]
pub enum AnswerShape<'a> {
    /// A published one.
    Published(AnswerSchema),
    /// One of the record's own.
    Own(Value<'a>),
}

impl<'a> AnswerShape<'a> {
    /// The schema that a release asks the last step of a task for. `tape`: holds the gsm answer before 1.1.0, which was
    /// another.
    pub fn of_release(release: Release, task: AnswerSchema, tape: &'a mut Tape) -> Self {
        let is_first = task == AnswerSchema::Gsm && release < Release::V1_1_0;
        let first = if is_first { tape.parse(schemas::GSM_1_0.as_bytes()) } else { None };
        first.map_or(Self::Published(task), Self::Own)
    }

    /// The schema that a record's last step was run with, as far as the record tells; else the plainest.
    pub fn of(record: &Record<'a>) -> Self {
        let own = record.root.get("trace").and_then(|trace| trace.get("answer_schema"));
        match own.filter(|own| own.kind() == Kind::Object) {
            Some(own) => Self::Own(own),
            None => Self::Published(record.answer_schema.unwrap_or(AnswerSchema::General)),
        }
    }
}

/// Request for one step, as it is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The prompt; lone surrogates are kept in the generalised form.
    pub prompt: Untrusted<'static>,
    /// The JSON Schema of the reply, as it stands in the prompt.
    pub schema: Untrusted<'static>,
    /// The keys that are taken from the reply.
    pub expected: Vec<Untrusted<'static>>,
    /// True if upstream runs the step as the last one, with the answer schema.
    pub is_final: bool,
}

/// Reason that upstream would send nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There is no such step.
    NoStep,
    /// An input that no earlier step gives, or whose value is not known here.
    Unresolvable(Untrusted<'static>),
    /// The step is no object, or its lists hold something that ends upstream's code.
    Odd(Exception),
    /// The answer schema has a shape that ends upstream's code.
    OddSchema(Exception),
}

/// Exception that ends upstream's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exception {
    /// Its class.
    pub class: &'static str,
    /// Its words.
    pub message: String,
}

impl Exception {
    fn no_attribute(value: Value<'_>, name: &str) -> Self {
        let message = format!("'{}' object has no attribute '{name}'", type_name(value));
        Self { class: "AttributeError", message }
    }

    fn of_type(message: String) -> Self {
        Self { class: "TypeError", message }
    }
}

/// Fails where Python's `value.get` would.
fn dict(value: Value<'_>) -> Result<Value<'_>, Exception> {
    if value.kind() == Kind::Object { Ok(value) } else { Err(Exception::no_attribute(value, "get")) }
}

/// The inputs that a step may see, in its order, from the state as it is known.
pub fn visible_inputs<'a>(
    procedure: &Procedure<'a>,
    state: &State<'a>,
    step: usize,
) -> Result<Vec<(Untrusted<'a>, Value<'a>)>, Refused> {
    let step_value = procedure.steps.get(step).ok_or(Refused::NoStep)?.value;
    let mut seen = HashMap::new();
    for entry in state.reads(step) {
        if let Some(variable) = state.variables().get(entry.variable) {
            seen.insert(variable.name.clone(), entry.value.filter(|_| entry.badge != Badge::Missing));
        }
    }
    let mut inputs = Vec::new();
    for name in names(step_value.get("inputs"))? {
        // The problem's text is shown as it was given, even if a step wrote over it.
        let value = if name == PROBLEM_TEXT {
            state.given(step).and_then(|entry| entry.value)
        } else {
            seen.get(&name).copied().flatten()
        };
        match value {
            Some(value) => inputs.push((name, value)),
            None => return Err(Refused::Unresolvable(name.into_owned())),
        }
    }
    Ok(inputs)
}

/// Style of inputs and schemas in prompts.
const DUMPED: Style = Style::python(Letters::Kept, Spacing::Indented);

/// The names that a step asks for, in its order: what its inputs are called.
pub(crate) fn needs<'a>(procedure: &Procedure<'a>, step: usize) -> Result<Vec<Untrusted<'a>>, Refused> {
    let value = procedure.steps.get(step).ok_or(Refused::NoStep)?.value;
    names(dict(value).map_err(Refused::Odd)?.get("inputs"))
}

/// The same of a step that may never run: one that cannot be asked for anything reads nothing.
pub(crate) fn read_by<'a>(procedure: &Procedure<'a>, step: usize) -> Vec<Untrusted<'a>> {
    needs(procedure, step).unwrap_or_default()
}

/// The request for the step at a position. A name that stands twice among the inputs is shown once, as a dict does.
pub fn execution<'a>(
    procedure: &Procedure<'a>,
    step: usize,
    inputs: &[(Untrusted<'a>, Value<'a>)],
    answer: AnswerShape<'_>,
) -> Result<Request, Refused> {
    let value = dict(procedure.steps.get(step).ok_or(Refused::NoStep)?.value).map_err(Refused::Odd)?;
    let is_final = runs_as_last(value.get("id"), procedure.steps.len());
    let (schema, outputs) =
        if is_final { answer_schema(answer).map_err(Refused::OddSchema)? } else { step_schema(value)? };
    let mut prompt = action(value);
    prompt.extend_from_slice(b"\n# Inputs (JSON)\n");
    DUMPED.append_object(&mut prompt, |object| {
        for (name, value) in once(inputs) {
            object.put(name, value);
        }
    });
    prompt.extend_from_slice(b"\n# Required Outputs\nReturn a JSON object with exactly these keys");
    prompt.extend_from_slice(if is_final { b" (final_answer):\n" } else { b":\n" });
    if outputs.is_empty() {
        prompt.extend_from_slice(b"(see schema)");
    }
    for (n, (name, description)) in outputs.iter().enumerate() {
        let line = [b"- ", name.bytes(), b": ", description.bytes()].concat();
        prompt.extend_from_slice(if n > 0 { b"\n" } else { b"" });
        prompt.extend_from_slice(rstrip(&line));
    }
    prompt.extend_from_slice(
        b"\n\n# Format\n\
          - Return ONLY a JSON object that conforms to the provided schema.\n\
          - Do NOT include extra keys.\n\
          - Do NOT include commentary.\n\n\
          # Schema (verbatim)\n",
    );
    prompt.extend_from_slice(&schema);
    Ok(Request {
        prompt: Untrusted::owned(prompt),
        schema: Untrusted::owned(schema),
        expected: outputs.into_iter().map(|(name, _)| name).collect(),
        is_final,
    })
}

/// A schema's text, and the expected keys with their descriptions.
type Shape = (Vec<u8>, Vec<(Untrusted<'static>, Untrusted<'static>)>);

fn answer_schema(answer: AnswerShape<'_>) -> Result<Shape, Exception> {
    match answer {
        AnswerShape::Published(schema) => {
            let mut tape = Tape::default();
            tape.parse(schemas::answer(schema).as_bytes()).map_or(Ok(Shape::default()), own_schema)
        }
        AnswerShape::Own(schema) => own_schema(schema),
    }
}

fn own_schema(schema: Value<'_>) -> Result<Shape, Exception> {
    let properties = match dict(schema)?.get("properties") {
        Some(properties) if properties.kind() != Kind::Object => {
            return Err(Exception::no_attribute(properties, "keys"));
        }
        properties => properties.map_or_else(Vec::new, Value::entries),
    };
    let output = |member: Member<'_>| {
        let description = dict(member.value)?.get("description").map(python::str).unwrap_or_default();
        Ok((member.name().into_owned(), description.into_owned()))
    };
    Ok((DUMPED.of(schema), properties.into_iter().map(output).collect::<Result<_, _>>()?))
}

/// `runners.create_output_schema`: any number, string or boolean under each declared output.
fn step_schema(step: Value<'_>) -> Result<Shape, Refused> {
    const TYPES: [&str; 3] = ["number", "string", "boolean"];
    let names = names(step.get("output"))?;
    let any = |object: &mut Object<'_>| _ = object.objects("oneOf", TYPES, |kind, object| _ = object.put("type", kind));
    let text = DUMPED.object(|object| {
        object.put("type", "object").object("properties", |properties| {
            let pairs: Vec<_> = names.iter().map(|name| (name.clone(), ())).collect();
            for (name, ()) in once(&pairs) {
                properties.key(name).object(any);
            }
        });
        object.put("required", &names).put("additionalProperties", false);
    });
    let descriptions = descriptions(step.get("output"))?;
    let described = |name: Untrusted<'_>| {
        let description = descriptions.get(&name).cloned().unwrap_or_default();
        (name.into_owned(), description.into_owned())
    };
    Ok((text, names.into_iter().map(described).collect()))
}

/// `runners._field_names`: `[str(f.get("name")) for f in (fields or []) if "name" in f]`.
fn names(fields: Option<Value<'_>>) -> Result<Vec<Untrusted<'_>>, Refused> {
    let mut names = Vec::new();
    for field in objects(fields)? {
        if let Some(name) = field.get("name") {
            names.push(python::str(name));
        }
    }
    Ok(names)
}

/// `runners._field_descriptions`: of a name that stands twice the last description counts.
fn descriptions(fields: Option<Value<'_>>) -> Result<HashMap<Untrusted<'_>, Untrusted<'_>>, Refused> {
    let mut descriptions = HashMap::new();
    for field in objects(fields)? {
        if let Some(name) = field.get("name") {
            let description = field.get("description").map(python::str).unwrap_or_default();
            descriptions.insert(python::str(name), description);
        }
    }
    Ok(descriptions)
}

/// The fields among what upstream's code goes through: it asks `"name" in field` of each. What has no `name` is passed over,
/// whatever it is; of what is no object, a text with these letters or a list of them makes it fail.
fn objects(fields: Option<Value<'_>>) -> Result<Vec<Value<'_>>, Refused> {
    let Some(fields) = fields.filter(|fields| is_true(*fields)) else { return Ok(Vec::new()) };
    let all: Vec<Value<'_>> = match fields.kind() {
        Kind::Array => fields.items().collect(),
        Kind::Object => fields.members().map(|member| member.key).collect(),
        // Its letters, of which none holds a name.
        Kind::String => Vec::new(),
        _ => {
            let message = format!("'{}' object is not iterable", type_name(fields));
            return Err(Refused::Odd(Exception::of_type(message)));
        }
    };
    let mut objects = Vec::new();
    for field in all {
        let has_name = match field.kind() {
            Kind::Object => {
                objects.push(field);
                continue;
            }
            Kind::String | Kind::Key => {
                field.string().is_some_and(|text| memchr::memmem::find(text.bytes(), b"name").is_some())
            }
            Kind::Array => field.items().any(|item| item.is_string("name")),
            _ => {
                let message = format!("argument of type '{}' is not iterable", type_name(field));
                return Err(Refused::Odd(Exception::of_type(message)));
            }
        };
        if has_name {
            return Err(Refused::Odd(Exception::no_attribute(field, "get")));
        }
    }
    Ok(objects)
}

/// `step.get("stepDescription") or step.get("step_description") or ""`, as an f-string prints it.
fn action(step: Value<'_>) -> Vec<u8> {
    let said = ["stepDescription", "step_description"].iter().filter_map(|key| step.get(key));
    match said.into_iter().find(|value| is_true(*value)) {
        Some(value) => python::str(value).bytes().to_vec(),
        None => Vec::new(),
    }
}

/// Python's `bool(value)`.
fn is_true(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::False => false,
        Kind::True | Kind::NotFinite => true,
        Kind::Int | Kind::Float => value.float() != Some(0.0),
        Kind::String | Kind::Key => value.string().is_some_and(|text| !text.is_empty()),
        Kind::Array | Kind::Object => !value.is_empty(),
    }
}

/// A dict's entries: a name that stands twice keeps the place of the first and the value of the last.
fn once<'a, T: Copy>(pairs: &[(Untrusted<'a>, T)]) -> Vec<(Untrusted<'a>, T)> {
    let mut entries: Vec<(Untrusted<'a>, T)> = Vec::with_capacity(pairs.len());
    let mut places = HashMap::new();
    for (name, value) in pairs {
        let place = *places.entry(name.clone()).or_insert(entries.len());
        match entries.get_mut(place) {
            Some(entry) => entry.1 = *value,
            None => entries.push((name.clone(), *value)),
        }
    }
    entries
}
