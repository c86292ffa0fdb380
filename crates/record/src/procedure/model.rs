//! Errors of evoproc's pydantic model (lax mode) about a procedure: the same errors, in the same order.
//!
//! Errors come in the order of the model's fields, whatever the order of the keys. A location names the key that is
//! really there, or the alias where there is none.

use std::borrow::Cow;

use crate::finding::{MAX_FINDINGS, Place};
use crate::procedure::{Field, Procedure, Step};
use stepscope_base::json::{Kind, Member, Part, Pointer, Value};

/// Longer numbers in strings are refused, as in Python.
const MAX_DIGITS: usize = 4300;

/// One error of upstream's model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaError {
    /// Path below the procedure. It ends with the key that is missing, if one is.
    pub loc: Vec<Part>,
    /// Kind of the error.
    pub kind: SchemaErrorKind,
}

impl SchemaError {
    /// The offending value, or the object that lacks the key; below the pointer of the procedure.
    pub fn place(&self, base: &Pointer) -> Place {
        let depth = self.loc.len() - usize::from(self.kind == SchemaErrorKind::Missing && !self.loc.is_empty());
        Place::Value(Pointer(base.0.iter().chain(self.loc.iter().take(depth)).cloned().collect()))
    }
}

/// Kind of error that pydantic finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchemaErrorKind {
    /// A required key is not there.
    Missing,
    /// An object of this model was wanted.
    ModelType(&'static str),
    /// Not a list.
    ListType,
    /// Not a string.
    StringType,
    /// An id that is no number at all.
    IntType,
    /// An id with a fractional part.
    IntFromFloat,
    /// A string that spells no integer.
    IntParsing,
    /// A number too long or too large to be read.
    IntParsingSize,
    /// `NaN` or an infinity.
    FiniteNumber,
    /// A string with a lone surrogate where a number was wanted.
    StringUnicode,
    /// An id below 1.
    GreaterThanEqual,
    /// No step.
    NoSteps,
}

impl SchemaErrorKind {
    /// Pydantic's type of the error.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::ModelType(_) => "model_type",
            Self::ListType => "list_type",
            Self::StringType => "string_type",
            Self::IntType => "int_type",
            Self::IntFromFloat => "int_from_float",
            Self::IntParsing => "int_parsing",
            Self::IntParsingSize => "int_parsing_size",
            Self::FiniteNumber => "finite_number",
            Self::StringUnicode => "string_unicode",
            Self::GreaterThanEqual => "greater_than_equal",
            Self::NoSteps => "value_error",
        }
    }

    /// Pydantic's message.
    pub fn message(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Missing => "Field required",
            Self::ModelType(model) => {
                return Cow::Owned(format!("Input should be a valid dictionary or instance of {model}"));
            }
            Self::ListType => "Input should be a valid list",
            Self::StringType => "Input should be a valid string",
            Self::IntType => "Input should be a valid integer",
            Self::IntFromFloat => "Input should be a valid integer, got a number with a fractional part",
            Self::IntParsing => "Input should be a valid integer, unable to parse string as an integer",
            Self::IntParsingSize => "Unable to parse input string as an integer, exceeded maximum size",
            Self::FiniteNumber => "Input should be a finite number",
            Self::StringUnicode => "Input should be a valid string, unable to parse raw data as a unicode string",
            Self::GreaterThanEqual => "Input should be greater than or equal to 1",
            Self::NoSteps => "Value error, Procedure must contain at least one step.",
        })
    }

    /// Tells how to fix it.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Missing => "Add the missing key to this object.",
            Self::ModelType(_) => "Put an object with the model's keys here.",
            Self::ListType => "Put a list here; an empty one is allowed for inputs and output.",
            Self::StringType => "Put a string here.",
            Self::NoSteps => "Add at least one step.",
            Self::IntType
            | Self::IntFromFloat
            | Self::IntParsing
            | Self::IntParsingSize
            | Self::FiniteNumber
            | Self::StringUnicode
            | Self::GreaterThanEqual => "Number the steps 1, 2, 3 and so on.",
        }
    }
}

/// Position of the check; lives on the stack, so that a procedure without errors costs no allocation.
#[derive(Clone, Copy)]
struct Here<'h> {
    up: Option<&'h Self>,
    part: At,
}

#[derive(Clone, Copy)]
enum At {
    Root,
    Key(&'static str),
    Index(usize),
}

impl<'h> Here<'h> {
    const fn key(&'h self, key: &'static str) -> Self {
        Here { up: Some(self), part: At::Key(key) }
    }

    const fn index(&'h self, n: usize) -> Self {
        Here { up: Some(self), part: At::Index(n) }
    }

    fn loc(&self) -> Vec<Part> {
        let mut loc = self.up.map_or_else(Vec::new, Self::loc);
        match self.part {
            At::Root => {}
            At::Key(key) => loc.push(Part::from(key)),
            At::Index(n) => loc.push(Part::Index(n)),
        }
        loc
    }
}

/// Finds the errors that upstream's model reports in a procedure.
pub fn schema_errors(procedure: &Procedure<'_>) -> SchemaErrors {
    let mut check = Check { errors: SchemaErrors::default() };
    check.procedure(procedure, Here { up: None, part: At::Root });
    check.errors
}

/// The first schema errors of a procedure, as many as are listed as findings, and how many more there are.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SchemaErrors {
    /// The first.
    pub listed: Vec<SchemaError>,
    /// Number of further errors.
    pub rest: usize,
}

impl SchemaErrors {
    /// Tells whether the procedure fits the schema.
    pub const fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}

struct Check {
    errors: SchemaErrors,
}

impl Check {
    fn error(&mut self, here: Here<'_>, kind: SchemaErrorKind) {
        if self.errors.listed.len() < MAX_FINDINGS {
            self.errors.listed.push(SchemaError { loc: here.loc(), kind });
        } else {
            self.errors.rest += 1;
        }
    }

    fn is_model(&mut self, value: Value<'_>, model: &'static str, here: Here<'_>) -> bool {
        let object = value.kind() == Kind::Object;
        if !object {
            self.error(here, SchemaErrorKind::ModelType(model));
        }
        object
    }

    fn procedure(&mut self, procedure: &Procedure<'_>, here: Here<'_>) {
        if !self.is_model(procedure.value, "Procedure", here) {
            return;
        }
        self.text(
            procedure.name,
            here.key(used(procedure.value, procedure.name, "NameDescription", "name_description")),
        );
        let here = here.key("steps");
        let Some(steps) = procedure.steps_member else { return self.error(here, SchemaErrorKind::Missing) };
        if steps.value.kind() != Kind::Array {
            return self.error(here, SchemaErrorKind::ListType);
        }
        if procedure.steps.is_empty() {
            return self.error(here, SchemaErrorKind::NoSteps);
        }
        for (n, step) in procedure.steps.iter().enumerate() {
            self.step(step, here.index(n));
        }
    }

    fn step(&mut self, step: &Step<'_>, here: Here<'_>) {
        if !self.is_model(step.value, "Step", here) {
            return;
        }
        match step.id.map(coerced_id) {
            None => self.error(here.key("id"), SchemaErrorKind::Missing),
            Some(Err(kind)) => self.error(here.key("id"), kind),
            Some(Ok(_)) => {}
        }
        self.fields(step.inputs_member, &step.inputs, "StepInputField", here.key("inputs"));
        self.text(step.text, here.key(used(step.value, step.text, "stepDescription", "step_description")));
        let by_name = step.outputs_member.is_some_and(|member| member.key.is_string("outputs"));
        let key = if by_name { "outputs" } else { "output" };
        self.fields(step.outputs_member, &step.outputs, "StepOutputField", here.key(key));
    }

    fn fields(&mut self, member: Option<Member<'_>>, fields: &[Field<'_>], model: &'static str, here: Here<'_>) {
        let Some(member) = member else { return };
        if member.value.kind() != Kind::Array {
            return self.error(here, SchemaErrorKind::ListType);
        }
        if fields.iter().all(is_sound) {
            return;
        }
        for (n, field) in fields.iter().enumerate() {
            let here = here.index(n);
            if self.is_model(field.value, model, here) {
                self.text(field.name, here.key("name"));
                self.text(field.description, here.key("description"));
            }
        }
    }

    /// A required string.
    fn text(&mut self, value: Option<Value<'_>>, here: Here<'_>) {
        match value.map(Value::kind) {
            Some(Kind::String) => {}
            Some(_) => self.error(here, SchemaErrorKind::StringType),
            None => self.error(here, SchemaErrorKind::Missing),
        }
    }
}

/// Tells whether a field has no error, as is most often so.
fn is_sound(field: &Field<'_>) -> bool {
    let is_text = |value: Option<Value<'_>>| value.is_some_and(|value| value.kind() == Kind::String);
    field.value.kind() == Kind::Object && is_text(field.name) && is_text(field.description)
}

/// Under which of its two keys a value stands; the alias where it is missing. Only asked when something is wrong.
fn used(object: Value<'_>, value: Option<Value<'_>>, alias: &'static str, name: &'static str) -> &'static str {
    match value {
        Some(value) if value.kind() != Kind::String && object.get(alias).is_none() => name,
        _ => alias,
    }
}

/// A step's id as upstream's model reads it, in digits.
pub fn coerced_id(value: Value<'_>) -> Result<Cow<'_, str>, SchemaErrorKind> {
    let digits = match value.kind() {
        Kind::True => Cow::Borrowed("1"),
        Kind::False => Cow::Borrowed("0"),
        Kind::Int => Cow::Borrowed(std::str::from_utf8(value.raw()).unwrap_or("0")),
        Kind::Float | Kind::NotFinite => float_id(value.float().unwrap_or(f64::NAN))?,
        Kind::String => {
            let text = value.string().expect("a string");
            Cow::Owned(text_id(text.utf8().ok_or(SchemaErrorKind::StringUnicode)?)?)
        }
        _ => return Err(SchemaErrorKind::IntType),
    };
    if digits == "0" || digits.starts_with('-') { Err(SchemaErrorKind::GreaterThanEqual) } else { Ok(digits) }
}

fn float_id(float: f64) -> Result<Cow<'static, str>, SchemaErrorKind> {
    if !float.is_finite() {
        Err(SchemaErrorKind::FiniteNumber)
    } else if float % 1.0 != 0.0 {
        Err(SchemaErrorKind::IntFromFloat)
    } else if float > i64::MIN as f64 && float < i64::MAX as f64 {
        Ok(Cow::Owned((float as i64).to_string()))
    } else {
        Err(SchemaErrorKind::IntParsingSize)
    }
}

/// The integer that a string spells: first as JSON has it, then more leniently.
fn text_id(text: &str) -> Result<String, SchemaErrorKind> {
    match json_int(text) {
        Err(SchemaErrorKind::IntParsing) => {}
        read => return read.map(str::to_owned),
    }
    let cleaned = cleaned(text).ok_or(SchemaErrorKind::IntParsing)?;
    json_int(&cleaned).map(str::to_owned).map_err(|_| SchemaErrorKind::IntParsing)
}

/// An integer by JSON's grammar. Too many digits are told before anything that follows them is looked at.
fn json_int(text: &str) -> Result<&str, SchemaErrorKind> {
    let sign = usize::from(text.starts_with('-'));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    let zero = text.as_bytes().get(sign) == Some(&b'0');
    if !zero && digits > MAX_DIGITS {
        Err(SchemaErrorKind::IntParsingSize)
    } else if digits == 0 || (zero && digits > 1) || sign + digits < text.len() {
        Err(SchemaErrorKind::IntParsing)
    } else {
        Ok(text)
    }
}

/// Strips what pydantic forgives in a number: blanks around it, a plus sign, leading zeros, `.0` at the end, single
/// underscores between digits.
fn cleaned(text: &str) -> Option<String> {
    let text = text.trim();
    let (plus, text) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest));
    let (minus, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    if minus && (plus || text.starts_with(['-', '+'])) {
        return None;
    }
    let mut number = without_leading_zeros(text)?;
    if let Some((whole, decimals)) = number.split_once('.')
        && !decimals.is_empty()
        && decimals.bytes().all(|b| b == b'0')
    {
        number = whole;
    }
    let grouped = number.contains('_') && !number.starts_with('_') && !number.ends_with('_') && !number.contains("__");
    let number = if grouped { number.replace('_', "") } else { number.to_owned() };
    Some(if minus { format!("-{number}") } else { number })
}

fn without_leading_zeros(text: &str) -> Option<&str> {
    match text.bytes().next()? {
        b'0' => {}
        b'1'..=b'9' => return Some(text),
        _ => return None,
    }
    let zeros = text.bytes().take_while(|b| matches!(b, b'0' | b'_')).count();
    match text.as_bytes().get(zeros) {
        // A minus sign after zeros is taken as the number's own, as odd as that is.
        Some(b'1'..=b'9' | b'-') => text.get(zeros..),
        Some(b'.') | None => text.get(zeros - 1..),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    #[test]
    fn ids_are_read_as_pydantic_reads_them() {
        use SchemaErrorKind::*;
        for (json, expected) in [
            (r#""1""#, Ok("1")),
            (r#"" 2 ""#, Ok("2")),
            (r#""\u00a0+01\u2003""#, Ok("1")),
            (r#""1_000.00""#, Ok("1000")),
            (r#""0_1""#, Ok("1")),
            ("1.0", Ok("1")),
            ("true", Ok("1")),
            ("1e18", Ok("1000000000000000000")),
            ("1000000000000000000000000000000", Ok("1000000000000000000000000000000")),
            (r#""1000000000000000000000000000000.0""#, Ok("1000000000000000000000000000000")),
            (r#""1.""#, Err(IntParsing)),
            (r#""1__0""#, Err(IntParsing)),
            (r#""+-1""#, Err(IntParsing)),
            (r#""1e0""#, Err(IntParsing)),
            (r#""""#, Err(IntParsing)),
            (r#""\u0661""#, Err(IntParsing)),
            (r#""0-1""#, Err(GreaterThanEqual)),
            (r#""-00.0""#, Err(GreaterThanEqual)),
            (r#""\ud8001""#, Err(StringUnicode)),
            ("-0", Err(GreaterThanEqual)),
            ("false", Err(GreaterThanEqual)),
            ("1.5", Err(IntFromFloat)),
            ("1e30", Err(IntParsingSize)),
            ("1e400", Err(FiniteNumber)),
            ("NaN", Err(FiniteNumber)),
            ("null", Err(IntType)),
        ] {
            let mut tape = Tape::default();
            let id = tape.parse(json.as_bytes()).unwrap();
            assert_eq!(coerced_id(id), expected.map(Cow::Borrowed), "{json}");
        }
        assert_eq!(text_id(&"9".repeat(4300)).unwrap().len(), 4300);
        let negative = |digits| format!("-{}", "9".repeat(digits));
        assert_eq!(text_id(&negative(4300)).unwrap().len(), 4301, "the sign is no digit");
        assert_eq!(text_id(&negative(4301)), Err(SchemaErrorKind::IntParsingSize));
        assert_eq!(text_id(&format!("{}x", "9".repeat(4301))), Err(IntParsingSize));
        assert_eq!(text_id(&format!(" {}", "9".repeat(4301))), Err(IntParsing));
        assert_eq!(text_id(&format!("{}1", "0".repeat(5000))).unwrap(), "1");
    }
}
