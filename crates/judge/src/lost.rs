//! Values that got lost: an output that a step declares, that a later step reads, and that the run left without a value
//! that anything can use.

use std::borrow::Cow;

use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::procedure::{Field, PROBLEM_TEXT, Procedure, Step, words_apart};
use stepscope_record::state::{ANSWER_KEYS, Badge, Ran, State};
use stepscope_record::{AnswerSchema, Record};

/// Bytes of a value that a sentence quotes.
const MAX_QUOTED: usize = 60;
/// A longer text is prose, and no word for "nothing".
const MAX_WORD: usize = 24;
/// A longer text is no error.
const MAX_ERROR: usize = 300;

/// Words that stand where a value should.
const NOTHINGS: [&str; 16] = [
    "",
    "?",
    "-",
    "unknown",
    "none",
    "null",
    "nil",
    "n/a",
    "na",
    "nan",
    "undefined",
    "tbd",
    "inf",
    "infinity",
    "missing",
    "not available",
];
/// Beginnings of error texts.
const ERRORS: [&str; 6] = ["error", "traceback", "exception", "#div/0", "#value", "#ref"];
/// Words of a description that allow for no value.
const OPTIONAL: [&str; 9] = [
    "if any",
    "if given",
    "if present",
    "if known",
    "optional",
    "or null",
    "or none",
    "otherwise null",
    "may be empty",
];
/// Words of a quantity that is still to be found.
const OPEN: [&str; 7] =
    ["unknown", "unspecified", "symbolic", "to be determined", "to be found", "not given", "not specified"];
/// Beginnings of names, and words of descriptions, of what is so or not.
const QUESTIONS: [&str; 9] = ["is_", "has_", "can_", "are_", "does_", "should_", "whether", "true", "yes"];

/// Output that a step left without a usable value.
#[derive(Clone, Debug)]
pub(crate) struct LostValue {
    /// Position of the step.
    pub step: usize,
    /// Place of the value, or of the declaration where there is no value.
    pub pointer: Pointer,
    /// True if the state does not have it at all.
    pub is_absent: bool,
    /// The fault, in a sentence.
    pub text: Shown,
}

/// Finds the first value that got lost. `is_number` tells whether the variable that a step writes must be a number:
/// something is calculated with it.
pub(crate) fn first_lost<'a>(
    record: &Record<'a>,
    procedure: &Procedure<'a>,
    state: &State<'a>,
    is_number: &dyn Fn(usize, usize) -> bool,
) -> Option<LostValue> {
    let held = record.state.filter(|state| state.kind() == Kind::Object);
    // A state that keeps nothing but the answer lost nothing.
    let own = |field: &Field<'a>| field.name_text().filter(|name| !ANSWER_KEYS.iter().any(|key| *name == *key));
    let outputs = || procedure.steps.iter().flat_map(|step| &step.outputs).filter_map(own);
    let keeps_values = held.is_some_and(|held| outputs().any(|name| held.member_spelt(name.bytes()).is_some()));
    let found = |(position, step): (usize, &Step<'a>)| {
        if state.has_run(position) != Ran::Yes || state.is_stale(position) {
            return None;
        }
        step.outputs.iter().enumerate().find_map(|(output, field)| {
            let name = own(field)?;
            let variable = state.variable(&name)?;
            let is_read = state.variables().get(variable)?.readers.iter().any(|reader| *reader > position);
            if !is_read {
                return None;
            }
            let entry = state.written(variable, position)?;
            let Some(value) = entry.value else {
                if entry.badge != Badge::Missing || !keeps_values || is_optional(field) {
                    return None;
                }
                let here = Procedure::step_pointer(&record.procedure_pointer, position);
                let instead = held.and_then(|held| under_another_name(held, &name, procedure));
                let instead = instead.map(|other| shown!("; it has {} instead", other.line()));
                let text = shown!(
                    "Step {} declares {}, but the final state does not have it{}.",
                    position + 1,
                    name.line(),
                    instead.unwrap_or_default()
                );
                return Some(LostValue {
                    step: position,
                    pointer: step.output_pointer(&here, output),
                    is_absent: true,
                    text,
                });
            };
            let must_be_number = || is_number(variable, position);
            let why = unusable(record, field, value, &must_be_number).filter(|_| !is_optional(field))?;
            let quoted = Untrusted::new(value.raw()).line().cut(MAX_QUOTED);
            let text = shown!("Step {} gave {} no usable value: {quoted} is {why}.", position + 1, name.line());
            Some(LostValue { step: position, pointer: state.pointer(&entry)?, is_absent: false, text })
        })
    };
    procedure.steps.iter().enumerate().find_map(found)
}

/// Tells whether a state is as evoproc writes it: the question, every declared output in order, the answer's own keys.
pub(crate) fn is_in_order(procedure: &Procedure<'_>, state: Value<'_>) -> bool {
    let mut keys = state.members().map(|member| member.key.plain_string());
    let first = keys.next() == Some(Some(PROBLEM_TEXT.as_bytes()));
    let mut is_next = |field: &Field<'_>| {
        let name = field.name.and_then(Value::plain_string);
        name.is_some() && keys.next() == Some(name)
    };
    first
        && procedure.steps.iter().all(|step| step.outputs.iter().all(&mut is_next))
        && keys.all(|key| ANSWER_KEYS.iter().any(|own| key == Some(own.as_bytes())))
}

/// Tells quickly whether a state may hold a value that cannot be used.
pub(crate) fn may_hold_lost(state: Value<'_>) -> bool {
    let is_own = |key: Option<&[u8]>| {
        key.is_none_or(|key| key != PROBLEM_TEXT.as_bytes() && ANSWER_KEYS.iter().all(|own| key != own.as_bytes()))
    };
    state.members().any(|member| match member.value.kind() {
        Kind::Null | Kind::NotFinite | Kind::Array | Kind::Object | Kind::True | Kind::False => {
            is_own(member.key.plain_string())
        }
        Kind::String => may_be_lost_text(member.value.raw()) && is_own(member.key.plain_string()),
        _ => member.value.float().is_none_or(|number| !number.is_finite()),
    })
}

/// Tells quickly whether a text may say nothing or be an error; `raw` has its quotes.
fn may_be_lost_text(raw: &[u8]) -> bool {
    let is_word = raw.len() <= MAX_WORD + 2 && !raw.iter().any(u8::is_ascii_digit);
    let holds = |part: &[u8]| memchr::memmem::find(raw, part).is_some();
    let is_error = raw.len() <= MAX_ERROR + 2
        && [&b"rror"[..], b"RROR", b"xception", b"XCEPTION", b"raceback", b"RACEBACK"].into_iter().any(holds);
    is_word || is_error || raw.get(1) == Some(&b'#') || holds(b"\\u")
}

/// Says what is wrong with a value; `None`: it can be used.
fn unusable(
    record: &Record<'_>,
    field: &Field<'_>,
    value: Value<'_>,
    must_be_number: &dyn Fn() -> bool,
) -> Option<&'static str> {
    let counts = matches!(record.answer_schema, Some(AnswerSchema::Gsm)) || record.gold_num.is_some();
    match value.kind() {
        Kind::Null => Some("no value"),
        Kind::Key => None,
        Kind::NotFinite => Some("no number to calculate with"),
        Kind::Int | Kind::Float => {
            let is_finite = value.float().is_some_and(f64::is_finite);
            (!is_finite).then_some("no number to calculate with")
        }
        Kind::Array | Kind::Object if value.is_empty() => Some("empty"),
        Kind::Array if must_be_number() && !value.items().any(Value::is_number) => Some("a list, not a number"),
        Kind::Array => None,
        Kind::Object => {
            let wraps = || value.len() == 1 && value.members().all(|member| !member.value.is_container());
            ((counts && wraps()) || must_be_number()).then_some("an object, not a number")
        }
        Kind::True | Kind::False => {
            ((counts && !is_question(field)) || must_be_number()).then_some("true or false, not a number")
        }
        Kind::String => {
            let text = value.string()?;
            let text = text.readable().trim();
            if is_error(text) {
                return Some("an error");
            }
            let word = || text.trim_end_matches('.').to_ascii_lowercase();
            let says_nothing = text.len() <= MAX_WORD && NOTHINGS.contains(&word().as_str());
            (says_nothing && (text.is_empty() || counts || must_be_number())).then_some("no value")
        }
    }
}

/// Tells whether a text is the message of an error: `Error: …`, `ZeroDivisionError: division by zero`.
fn is_error(text: &str) -> bool {
    if text.len() > MAX_ERROR {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let begins = ERRORS.iter().any(|begin| {
        let rest = lower.strip_prefix(begin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '!', ' ', '(']))
    });
    let class = text.split(':').next().expect("a split has a first part");
    let is_class =
        text.contains(':') && !class.contains(' ') && (class.ends_with("Error") || class.ends_with("Exception"));
    begins && !lower.starts_with("error of") && !lower.starts_with("error in") || is_class
}

fn description(field: &Field<'_>) -> String {
    let text = Value::text_of(field.description);
    text.readable().to_lowercase()
}

fn is_optional(field: &Field<'_>) -> bool {
    let text = description(field);
    OPTIONAL.iter().chain(&OPEN).any(|words| text.contains(words))
}

/// Tells whether an output says that something is so or not.
fn is_question(field: &Field<'_>) -> bool {
    let name = Value::text_of(field.name).readable().to_lowercase();
    let text = description(field);
    QUESTIONS.iter().any(|word| name.starts_with(word) || (!word.ends_with('_') && text.contains(word)))
}

/// Finds what the state holds under a name that means the same: `pearMoney`, `pear-money`, `money_pears`.
fn under_another_name<'a>(held: Value<'a>, name: &Untrusted<'_>, procedure: &Procedure<'_>) -> Option<Untrusted<'a>> {
    let declared = |other: &Untrusted<'_>| {
        procedure.steps.iter().flat_map(|step| &step.outputs).filter_map(Field::name_text).any(|own| own == *other)
    };
    let words = words_of(name);
    let is_it = |other: &Untrusted<'_>| {
        *other != PROBLEM_TEXT
            && !ANSWER_KEYS.iter().any(|key| *other == *key)
            && !declared(other)
            && words_of(other) == words
    };
    held.members().map(|member| member.name()).find(is_it)
}

/// Returns the words of a name in the order of the alphabet, without the `s` of a plural.
fn words_of(name: &Untrusted<'_>) -> Vec<String> {
    let apart: Cow<'_, [u8]> = words_apart(name.bytes());
    let text = String::from_utf8_lossy(&apart).to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(|word| word.strip_suffix('s').unwrap_or(word).to_owned()).collect();
    words.sort_unstable();
    words
}
