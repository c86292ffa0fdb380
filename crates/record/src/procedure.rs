//! A procedure as its record has it, read leniently: whatever can be shown is shown, whatever is odd is left to the
//! rules. Where alias (`stepDescription`) and field name (`step_description`) both stand, the alias counts, as in
//! upstream's reader.

mod described;
/// Writers and readers of each variable, found in one pass.
pub mod flow;
/// The last step, as evoproc finds it.
pub mod last_step;
/// Schema errors that upstream's model finds in a procedure.
pub mod model;

use std::borrow::Cow;

use stepscope_base::json::{Kind, Member, Part, Pointer, Value};
use stepscope_base::text::Untrusted;

/// The variable every procedure starts from.
pub const PROBLEM_TEXT: &str = "problem_text";
/// The variable every procedure ends with.
pub const FINAL_ANSWER: &str = "final_answer";
/// The number of the answer, next to its text.
pub const FINAL_ANSWER_NUMERICAL: &str = "final_answer_numerical";

/// Maximum number of steps of a procedure that are read. Real ones have a few dozen.
pub const MAX_STEPS: usize = 20_000;
/// Maximum number of inputs and outputs of a procedure that are read, those of all its steps together.
pub const MAX_FIELDS: usize = 100_000;

/// The key under which a population keeps a model's text that was no JSON.
pub const UNREAD: &str = "__invalid_json__";

/// A plan whose steps read and write one global state.
#[derive(Clone, Debug)]
pub struct Procedure<'a> {
    /// The whole object.
    pub value: Value<'a>,
    /// Name of the procedure, which tells its purpose.
    pub name: Option<Value<'a>>,
    /// The key and value of the step list.
    pub steps_member: Option<Member<'a>>,
    /// The steps in order; what is no object is a step without anything. At most [`MAX_STEPS`].
    pub steps: Vec<Step<'a>>,
    /// Number of steps that are not read.
    pub steps_left: usize,
    /// Number of inputs and outputs of the steps that are not read.
    pub fields_left: usize,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// The whole object.
    pub value: Value<'a>,
    /// Its id as written.
    pub id: Option<Value<'a>>,
    /// Instruction of the step.
    pub text: Option<Value<'a>>,
    /// Key and value of the inputs.
    pub inputs_member: Option<Member<'a>>,
    /// Key and value of the outputs.
    pub outputs_member: Option<Member<'a>>,
    /// The variables it reads.
    pub inputs: Vec<Field<'a>>,
    /// The variables it writes.
    pub outputs: Vec<Field<'a>>,
}

/// Writes a name with its words apart: `unit_price` for `unitPrice`.
pub fn words_apart(name: &[u8]) -> Cow<'_, [u8]> {
    let begins_word = |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    if !name.windows(2).any(begins_word) {
        return Cow::Borrowed(name);
    }
    let mut apart = Vec::with_capacity(name.len() + 4);
    for (at, byte) in name.iter().enumerate() {
        if at.checked_sub(1).and_then(|before| name.get(before..=at)).is_some_and(begins_word) {
            apart.push(b'_');
        }
        apart.push(byte.to_ascii_lowercase());
    }
    Cow::Owned(apart)
}

/// One declared input or output.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The whole object.
    pub value: Value<'a>,
    /// The variable's name as written.
    pub name: Option<Value<'a>>,
    /// Description of the variable.
    pub description: Option<Value<'a>>,
}

impl<'a> Procedure<'a> {
    /// Fills in the missing descriptions: the words of each variable's name. Returns the procedure as JSON, and how many were
    /// missing; `None`: none is, or that is not all that upstream's model finds.
    pub fn described(&self) -> Option<(Vec<u8>, usize)> {
        described::described(self)
    }

    /// Reads what is there.
    pub fn read(value: Value<'a>) -> Self {
        let mut procedure =
            Self { value, name: None, steps_member: None, steps: Vec::new(), steps_left: 0, fields_left: 0 };
        let mut snake = None;
        for member in value.members() {
            match member.name().bytes() {
                b"NameDescription" => procedure.name = Some(member.value),
                b"name_description" => snake = Some(member.value),
                b"steps" => procedure.steps_member = Some(member),
                _ => {}
            }
        }
        procedure.name = procedure.name.or(snake);
        if let Some(steps) = procedure.steps_member {
            // Of an object in place of the list there are no steps to be read.
            let count = if steps.value.kind() == Kind::Array { steps.value.len() } else { 0 };
            let mut fields = Room { left: MAX_FIELDS, refused: 0 };
            procedure.steps.reserve_exact(count.min(MAX_STEPS));
            procedure.steps.extend(steps.value.items().take(MAX_STEPS).map(|step| Step::read(step, &mut fields)));
            procedure.steps_left = count - procedure.steps.len();
            procedure.fields_left = fields.refused;
        }
        procedure
    }

    /// Tells whether all of it is read. What is true of a part need not hold for the whole.
    pub const fn is_whole(&self) -> bool {
        self.steps_left == 0 && self.fields_left == 0
    }

    /// The pointer of the step at a position, below the pointer of the procedure.
    pub fn step_pointer(base: &Pointer, position: usize) -> Pointer {
        base.then("steps").then(position)
    }

    /// Tells whether a JSON object has the marks of a procedure, be it a broken one. A bare count of steps is none:
    /// trainers write it so.
    pub fn is_like(value: Value<'a>) -> bool {
        let marks = |member: Member<'_>| match member.name().bytes() {
            b"NameDescription" | b"name_description" => true,
            b"steps" => !member.value.is_number(),
            _ => false,
        };
        value.members().any(marks) || Self::unread(value).is_some()
    }

    /// The model's text in the place of a procedure that could not be read as JSON: the value of `UNREAD`.
    pub fn unread(value: Value<'a>) -> Option<Value<'a>> {
        let known = |name: &[u8]| matches!(name, b"steps" | b"NameDescription" | b"name_description");
        let text = value.member(UNREAD)?.value;
        (!value.members().any(|member| known(member.name().bytes()))).then_some(text)
    }
}

/// Number of fields that may still be read, and of those that were not.
struct Room {
    left: usize,
    refused: usize,
}

impl<'a> Step<'a> {
    fn read(value: Value<'a>, room: &mut Room) -> Self {
        let mut step = Self {
            value,
            id: None,
            text: None,
            inputs_member: None,
            outputs_member: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let (mut snake_text, mut snake_outputs) = (None, None);
        for member in value.members() {
            match member.name().bytes() {
                b"id" => step.id = Some(member.value),
                b"stepDescription" => step.text = Some(member.value),
                b"step_description" => snake_text = Some(member.value),
                b"inputs" => step.inputs_member = Some(member),
                b"output" => step.outputs_member = Some(member),
                b"outputs" => snake_outputs = Some(member),
                _ => {}
            }
        }
        step.text = step.text.or(snake_text);
        step.outputs_member = step.outputs_member.or(snake_outputs);
        step.inputs = Field::list(step.inputs_member, room);
        step.outputs = Field::list(step.outputs_member, room);
        step
    }

    /// The names it reads, in order; a name that is no string is left out.
    pub fn input_names(&self) -> impl Iterator<Item = Untrusted<'a>> + '_ {
        self.inputs.iter().filter_map(Field::name_text)
    }

    /// The names it writes, in order; a name that is no string is left out.
    pub fn output_names(&self) -> impl Iterator<Item = Untrusted<'a>> + '_ {
        self.outputs.iter().filter_map(Field::name_text)
    }

    /// The pointer of the n-th output, below the step's pointer, under the key that is really there.
    pub fn output_pointer(&self, step: &Pointer, n: usize) -> Pointer {
        list_pointer(step, self.outputs_member, "output").then(n)
    }

    /// The pointer of the n-th input, below the step's pointer.
    pub fn input_pointer(&self, step: &Pointer, n: usize) -> Pointer {
        list_pointer(step, self.inputs_member, "inputs").then(n)
    }
}

/// The pointer of a step's list under the key that is really there.
fn list_pointer(step: &Pointer, member: Option<Member<'_>>, otherwise: &'static str) -> Pointer {
    let key = member.map_or_else(|| Part::from(otherwise), |member| Part::Key(member.name().into_owned()));
    step.then(key)
}

impl<'a> Field<'a> {
    fn list(member: Option<Member<'a>>, room: &mut Room) -> Vec<Self> {
        let Some(member) = member else { return Vec::new() };
        let count = member.value.len();
        let read = count.min(room.left);
        room.left -= read;
        room.refused += count - read;
        let mut list = Vec::with_capacity(read);
        list.extend(member.value.items().take(read).map(Self::read));
        list
    }

    fn read(value: Value<'a>) -> Self {
        let mut field = Self { value, name: None, description: None };
        for member in value.members() {
            if member.key.spells(b"name") {
                field.name = Some(member.value);
            } else if member.key.spells(b"description") {
                field.description = Some(member.value);
            }
        }
        field
    }

    /// The variable's name, if it is a string.
    pub fn name_text(&self) -> Option<Untrusted<'a>> {
        self.name.and_then(Value::string)
    }
}
