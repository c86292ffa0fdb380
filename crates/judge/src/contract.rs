//! The published contract of a structured answer: every place where an answer breaks it, in a sentence, and whether
//! lenient or strict readers would accept it.

use std::sync::LazyLock;

use stepscope_base::json::{Kind, Part, Pointer, ProblemKind, Tape, Value};
use stepscope_base::python::Message;
use stepscope_base::schema::{Breach as SchemaBreach, Law, Schema, Type};
use stepscope_base::text::Untrusted;
use stepscope_evidence::typed::{AnswerItem, Citation, Dialect, TypedAnswer, is_beside_the_value};
use stepscope_record::finding::Place;
use stepscope_record::schemas;
use stepscope_record::types::TypeRegistry;

/// Kind of a breach of the contract.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ContractFault {
    /// The answer is no JSON object.
    NotJson,
    /// A field is missing.
    Missing,
    /// An unknown field.
    Unknown,
    /// A value of another type.
    Type,
    /// A word that is none of the allowed ones.
    Enum,
    /// A number outside of its range.
    Range,
}

/// One place where an answer does not hold the contract.
#[derive(Clone, Debug)]
pub struct ContractBreach {
    /// Kind of the breach.
    pub fault: ContractFault,
    /// In a sentence.
    pub message: Untrusted<'static>,
    /// The value, the key, or the object that lacks one.
    pub place: Place,
    /// A lenient reader (pydantic as it is by default) takes it all the same.
    pub lenient: bool,
}

/// Verdicts of lenient and of strict readers on an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strictness {
    /// A lenient parser: unknown keys are passed over, `"0.9"` is a number.
    pub lax: bool,
    /// A strict schema: exact types, no unknown keys.
    pub strict: bool,
    /// Reason of the more lenient of those readers that refuse it.
    pub why: Option<Untrusted<'static>>,
}

/// Maximum number of breaches of one answer that are told apart.
pub(crate) const MAX_BREACHES: usize = 20_000;

struct Schemas {
    base: Schema,
    span: Schema,
    other_span: Schema,
}

/// Citations and fields of other dialects: what is there has its type, or is null.
const OTHER_SPAN: &str = r#"{"type": "object", "properties": {"quote": {"type": ["string", "null"]},
    "found": {"type": ["boolean", "null"]}}, "patternProperties": {
    "^((start|end)_)?(page|line)(_num|_number|_start|_end)?$|^evidence_(start|end)$": {"type": ["integer", "null"]}}}"#;

fn published() -> &'static Schemas {
    static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| {
        let of = |name: &str| {
            let text = schemas::ALL.iter().find(|schema| schema.name == name).map_or("", |schema| schema.text);
            Schema::built_in(text)
        };
        Schemas { base: of("typed-answer"), span: of("span"), other_span: Schema::built_in(OTHER_SPAN) }
    });
    &SCHEMAS
}

/// Every place where an answer does not hold the contract.
pub(crate) fn breaches(typed: &TypedAnswer<'_>, items: &[AnswerItem<'_>], types: &TypeRegistry) -> Vec<ContractBreach> {
    let mut out = BreachCollector::default();
    match (typed.answer, typed.answer_text) {
        (Some(answer), _) => match (answer.kind(), typed.dialect()) {
            (Kind::String, _) => out.push(not_json(answer, &typed.pointer)),
            (_, Some(Dialect::Fields)) => items.iter().for_each(|item| out.other_span(item.root, &item.pointer)),
            (_, Some(Dialect::Value)) => items.iter().for_each(|item| out.item_value(item, types)),
            (_, Some(Dialect::Items)) => {
                out.base(answer, &typed.pointer, types);
                for item in items {
                    out.item(item, types);
                }
            }
            (_, None) => out.not_a("the answer", answer, &[Type::Object], &typed.pointer),
        },
        (None, Some(text)) => {
            let (pointer, mut tape) = (Pointer::from_iter(["answer_text"]), Tape::default());
            // The string is how a text is handed on that is no object.
            let string = Value::text_of(Some(text));
            match tape.parse(string.bytes()).filter(|value| value.kind() != Kind::Object) {
                Some(value) => out.not_a("the answer", value, &[Type::Object], &pointer),
                None => out.push(not_json(text, &pointer)),
            }
        }
        (None, None) => {}
    }
    out.breaches
}

/// Tells which readers would take an answer with these breaches; `None` where the published contract is not meant:
/// fields of another dialect.
pub(crate) fn strictness(
    typed: &TypedAnswer<'_>,
    items: &[AnswerItem<'_>],
    breaches: &[ContractBreach],
) -> Option<Strictness> {
    if matches!(typed.dialect(), Some(Dialect::Fields | Dialect::Value)) {
        return None;
    }
    if typed.answer.is_none() && typed.answer_text.is_none() {
        let why = Some(Untrusted::from("no answer"));
        return Some(Strictness { lax: false, strict: false, why });
    }
    let refused = breaches.iter().find(|breach| !breach.lenient);
    let mut citations = items.iter().flat_map(|item| &item.citations);
    let other = || citations.any(is_other).then(|| Untrusted::from("the citations have another format"));
    let why = refused.or(breaches.first()).map(|breach| breach.message.clone()).or_else(other);
    Some(Strictness { lax: refused.is_none(), strict: why.is_none(), why })
}

/// Tells whether a citation has keys of another dialect.
fn is_other(span: &Citation<'_>) -> bool {
    let published = |name: &str| matches!(name, "line_start" | "line_end" | "quote");
    let known = |name: &str| is_beside_the_value(name) && !published(name);
    span.root.members().any(|member| member.name().utf8().is_some_and(known))
}

/// Reports the breach of an answer that is text, not a JSON object.
fn not_json(text: Value<'_>, pointer: &Pointer) -> ContractBreach {
    let string = Value::text_of(Some(text));
    let mut tape = Tape::default();
    let bytes = string.bytes();
    let problem = if tape.read(bytes) { None } else { tape.problems().last() };
    let message = match problem {
        _ if bytes.trim_ascii().is_empty() => "The answer is empty.",
        _ if bytes.trim_ascii_start().starts_with(b"```") => "The answer is not JSON: it is in a code fence.",
        None => "The answer is JSON written into a string, not an object.",
        Some(problem) if problem.kind == ProblemKind::Cut => {
            "The answer is not JSON: it ends in the middle of a value."
        }
        Some(problem) if problem.kind == ProblemKind::Trailing => "The answer is not JSON: text follows the value.",
        Some(_) => "The answer is not JSON from here on.",
    };
    let range = problem.map(|problem| problem.range.clone()).filter(|range| !range.is_empty());
    let place = match range {
        Some(range) => Place::Span { pointer: pointer.clone(), start: range.start, end: range.end },
        None => Place::Value(pointer.clone()),
    };
    ContractBreach { fault: ContractFault::NotJson, message: message.into(), place, lenient: false }
}

#[derive(Default)]
struct BreachCollector {
    breaches: Vec<ContractBreach>,
}

impl BreachCollector {
    fn push(&mut self, breach: ContractBreach) {
        if self.breaches.len() < MAX_BREACHES {
            self.breaches.push(breach);
        }
    }

    fn base(&mut self, answer: Value<'_>, pointer: &Pointer, types: &TypeRegistry) {
        self.schema(&published().base, "the answer", answer, pointer);
        // A person declares further fields as types.
        for member in answer.members() {
            let declared = types.under(member.name().bytes()).filter(|known| known.file.is_some());
            if let Some(known) = declared {
                let at = pointer.then(Part::Key(member.name().into_owned()));
                let key = Place::Key(at.clone());
                self.breaches.retain(|breach| breach.fault != ContractFault::Unknown || breach.place != key);
                self.schema(&known.schema, "the value", member.value, &at);
            }
        }
        for name in ["confidence", "context_completeness_weak"] {
            let finite = answer.get(name).and_then(Value::float).is_none_or(f64::is_finite);
            // What is infinite because it is too large for a float has been judged by the schema.
            if !finite && answer.get(name).is_some_and(|value| value.kind() == Kind::NotFinite) {
                let message = Message::new(name).text(" is not a finite number.").into();
                let place = Place::Value(pointer.then(name));
                self.breaches.retain(|breach| breach.fault != ContractFault::Range || breach.place != place);
                self.push(ContractBreach { fault: ContractFault::Range, message, place, lenient: true });
            }
        }
    }

    fn item(&mut self, item: &AnswerItem<'_>, types: &TypeRegistry) {
        if item.root.kind() != Kind::Object {
            // The schema of the answer has said so, where it stands in the list.
            return;
        }
        let Some((key, _)) = &item.value else {
            let message = "The item has citations but no value.".into();
            let place = Place::Value(item.pointer.clone());
            return self.push(ContractBreach { fault: ContractFault::Missing, message, place, lenient: false });
        };
        self.item_value(item, types);
        let spans = ["spans", "citations", "span"].into_iter().find_map(|name| Some((name, item.root.get(name)?)));
        for member in item.root.entries() {
            let name = member.name();
            let is_spans = spans.is_some_and(|(spans, _)| name == spans);
            // Without a list of spans the citation stands beside the value.
            let is_cited = spans.is_none() && name.utf8().is_some_and(is_beside_the_value);
            if name != *key && !is_spans && !is_cited {
                self.unknown("an item", &name, &item.pointer);
            }
        }
        if let Some((name, spans)) = spans
            && spans.kind() != Kind::Array
            && !(name == "span" && spans.kind() == Kind::Object)
        {
            self.not_a(name, spans, &[Type::Array], &item.pointer.then(name));
        }
        for span in item.citations.iter().filter(|_| spans.is_some()) {
            if span.root.kind() == Kind::Object && is_other(span) {
                self.other_span(span.root, &span.pointer);
            } else {
                self.schema(&published().span, "a citation", span.root, &span.pointer);
            }
        }
    }

    fn item_value(&mut self, item: &AnswerItem<'_>, types: &TypeRegistry) {
        let (Some((key, value)), Some(pointer)) = (&item.value, item.value_pointer()) else { return };
        if let Some(known) = types.under(key.bytes()) {
            self.schema(&known.schema, "the value", *value, &pointer);
        }
        self.not_finite(*value, &pointer);
    }

    fn other_span(&mut self, span: Value<'_>, pointer: &Pointer) {
        self.schema(&published().other_span, "a citation", span, pointer);
    }

    fn schema(&mut self, schema: &Schema, whole: &str, value: Value<'_>, pointer: &Pointer) {
        for breach in schema.breaches(value) {
            let below = value.pointer_to(breach.value);
            let at = Pointer(pointer.0.iter().chain(&below.0).cloned().collect());
            self.take(&breach, whole, &at, below.0.is_empty());
        }
    }

    fn take(&mut self, breach: &SchemaBreach<'_>, whole: &str, at: &Pointer, is_whole: bool) {
        let name = name_of(at, if is_whole { Some(whole) } else { None });
        match &breach.law {
            Law::Type(types) => self.not_a(name, breach.value, types, at),
            Law::Missing(missing) => {
                let message = Message::default().text(name).text(" has no ").text(missing).text(".");
                let place = Place::Value(at.clone());
                self.push(ContractBreach {
                    fault: ContractFault::Missing,
                    message: sentence(message),
                    place,
                    lenient: false,
                });
            }
            Law::Extra => {
                if let Some(key) = breach.key.and_then(Value::string) {
                    self.unknown(name, &key, at);
                }
            }
            law => {
                let message = Message::default().text(name).text(": ").text(breach.message.bytes()).text(".");
                let (fault, lenient) = match law {
                    Law::Enum => (ContractFault::Enum, false),
                    // Lenient readers know numbers, not ranges.
                    Law::Limit => (ContractFault::Range, true),
                    Law::Undecided => (ContractFault::Type, true),
                    _ => (ContractFault::Type, false),
                };
                self.push(ContractBreach {
                    fault,
                    message: sentence(message),
                    place: Place::Value(at.clone()),
                    lenient,
                });
            }
        }
    }

    fn not_a(&mut self, name: impl AsRef<[u8]>, value: Value<'_>, types: &[Type], at: &Pointer) {
        let lenient = types.iter().any(|wanted| is_taken_as(value, *wanted));
        let wanted =
            types.iter().filter(|wanted| **wanted != Type::Null || types.len() == 1).map(|wanted| word(*wanted));
        let wanted = wanted.collect::<Vec<_>>().join(" or ");
        let message = Message::default().text(name).text(" is ").text(kind_word(value)).text(", not ").text(wanted);
        let message = message.text(if lenient { "; lenient readers convert it." } else { "." });
        self.push(ContractBreach {
            fault: ContractFault::Type,
            message: sentence(message),
            place: Place::Value(at.clone()),
            lenient,
        });
    }

    /// Says of a value where its first number is NaN or infinite: Python writes and reads that, and no schema refuses it.
    fn not_finite(&mut self, value: Value<'_>, at: &Pointer) {
        let Some(number) = first_not_finite(value) else { return };
        let below = value.pointer_to(number);
        let at = Pointer(at.0.iter().chain(&below.0).cloned().collect());
        let message = Message::default().text(name_of(&at, None)).text(" is not a finite number.");
        let place = Place::Value(at);
        if !self.breaches.iter().any(|breach| breach.place == place) {
            self.push(ContractBreach { fault: ContractFault::Type, message: sentence(message), place, lenient: true });
        }
    }

    fn unknown(&mut self, what: impl AsRef<[u8]>, name: &Untrusted<'_>, at: &Pointer) {
        let message = if *name == "context_completeness_strong" {
            Message::new("context_completeness_strong must not come from the model: the next page decides it.")
        } else {
            Message::default().text(what).text(" has no field ").text(name.bytes()).text(".")
        };
        let place = Place::Key(at.then(Part::Key(name.to_owned())));
        self.push(ContractBreach { fault: ContractFault::Unknown, message: sentence(message), place, lenient: true });
    }
}

fn first_not_finite(value: Value<'_>) -> Option<Value<'_>> {
    match value.kind() {
        Kind::NotFinite => Some(value),
        Kind::Array => value.items().find_map(first_not_finite),
        Kind::Object => value.entries().into_iter().find_map(|member| first_not_finite(member.value)),
        _ => None,
    }
}

/// A message that begins with a capital, where it begins with our own words.
fn sentence(message: Message) -> Untrusted<'static> {
    let message: Untrusted<'static> = message.into();
    let mut bytes = message.bytes().to_vec();
    let own: [&[u8]; 4] = [b"the ", b"an item", b"a citation", b"a value"];
    if own.iter().any(|own| bytes.starts_with(own))
        && let Some(first) = bytes.first_mut()
    {
        first.make_ascii_uppercase();
    }
    Untrusted::owned(bytes)
}

/// Names the value at a place for a sentence: by the last key of its address.
fn name_of(at: &Pointer, whole: Option<&str>) -> Vec<u8> {
    if let Some(whole) = whole {
        return whole.as_bytes().to_vec();
    }
    let (mut name, mut index) = (Vec::new(), None);
    for part in at.0.iter().rev() {
        match part {
            Part::Key(key) => {
                name = key.bytes().to_vec();
                break;
            }
            Part::Index(n) => index = index.or(Some(*n)),
        }
    }
    if let Some(n) = index {
        name.extend_from_slice(format!("[{n}]").as_bytes());
    }
    name
}

fn kind_word(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::True | Kind::False => "a boolean",
        Kind::Int | Kind::Float | Kind::NotFinite => "a number",
        Kind::String | Kind::Key => "a string",
        Kind::Array => "a list",
        Kind::Object => "an object",
    }
}

const fn word(wanted: Type) -> &'static str {
    match wanted {
        Type::Null => "null",
        Type::Boolean => "a boolean",
        Type::Integer | Type::Int => "a whole number",
        Type::Number => "a number",
        Type::String => "a string",
        Type::Array => "a list",
        Type::Object => "an object",
    }
}

/// Tells whether pydantic, as it is by default, takes a value of another type for one of this type.
fn is_taken_as(value: Value<'_>, wanted: Type) -> bool {
    let text = value.string();
    let text = text.as_ref().and_then(Untrusted::utf8).map(|text| text.trim().to_ascii_lowercase());
    match (wanted, value.kind()) {
        (Type::Number | Type::Integer, Kind::True | Kind::False) => true,
        (Type::Number, Kind::String) => text.is_some_and(|text| !text.is_empty() && text.parse::<f64>().is_ok()),
        (Type::Integer, Kind::String) => text.is_some_and(|text| {
            let text = text.strip_suffix(".0").unwrap_or(&text);
            text.parse::<i64>().is_ok()
        }),
        (Type::Boolean, Kind::String) => text.is_some_and(|text| {
            matches!(text.as_str(), "true" | "t" | "yes" | "y" | "on" | "1" | "false" | "f" | "no" | "n" | "off" | "0")
        }),
        (Type::Boolean, Kind::Int | Kind::Float) => matches!(stepscope_evidence::typed::whole(value), Some(0 | 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_record::RecordKind;
    use stepscope_record::formats;

    #[test]
    fn the_schema_of_other_citations_is_one() {
        let proved = Schema::compile(OTHER_SPAN.as_bytes()).unwrap();
        assert_eq!(format!("{:?}", Schema::built_in(OTHER_SPAN)), format!("{proved:?}"));
    }

    /// An answer that holds the contract, with one part replaced.
    fn answer(from: &str, to: &str) -> String {
        let whole = r#"{"extraction_method": "verbatim", "confidence": 0.9, "caveats": ["c"], "answer_found": true,
            "complete_answer_found": true, "context_completeness_weak": 1, "context_structured": true,
            "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false,
            "suggested_clarification": null, "items": [{"amount": {"value": 12, "currency": "USD"},
            "spans": [{"line_start": 3, "line_end": 3, "quote": "q"}]}]}"#;
        assert!(from.is_empty() || whole.contains(from), "{from}");
        whole.replacen(from, to, usize::from(!from.is_empty()))
    }

    /// Fault, place, message, and whether lenient readers take it.
    type Told = (ContractFault, String, String, bool);

    fn judged(text: &str) -> (Vec<Told>, Option<(bool, bool)>) {
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(text.as_bytes()).unwrap());
        assert_eq!(record.kind, RecordKind::Typed, "{text}");
        let typed = record.typed.unwrap();
        let items = typed.items();
        let found = breaches(&typed, &items, TypeRegistry::built_in());
        let strictness = strictness(&typed, &items, &found);
        let shown = found.into_iter().map(|breach| {
            let pointer = breach.place.pointer().text().line().into_string();
            (breach.fault, pointer, breach.message.line().into_string(), breach.lenient)
        });
        (shown.collect(), strictness.map(|strictness| (strictness.lax, strictness.strict)))
    }

    #[test]
    fn an_answer_that_holds_the_contract_is_taken_by_all() {
        assert_eq!(judged(&answer("", "")), (Vec::new(), Some((true, true))));
        // Keys that nobody knows may carry values.
        let own = answer(r#""amount": {"value": 12, "currency": "USD"}"#, r#""vin": {"code": [1]}"#);
        assert_eq!(judged(&own), (Vec::new(), Some((true, true))));
    }

    /// Parts of an answer, each with its replacement; the fault, its place, the sentence, and what lenient readers do.
    const BREACHES: &str = r#"
0.9 | "0.9" | Type | /confidence | confidence is a string, not a number; lenient readers convert it. | taken
0.9 | "high" | Type | /confidence | confidence is a string, not a number. | refused
0.9 | 1.7 | Range | /confidence | confidence: 1.7 is greater than the maximum of 1. | taken
0.9 | NaN | Range | /confidence | confidence is not a finite number. | taken
["c"] | ["c", 3] | Type | /caveats/1 | caveats[1] is a number, not a string. | refused
["c"] | null | Type | /caveats | caveats is null, not a list. | refused
"caveats": ["c"],  |  | Missing |  | The answer has no caveats. | refused
"verbatim" | "Verbatim" | Enum | /extraction_method | extraction_method: 'Verbatim' is not one of ['verbatim', 'computed', 'inferred', 'na']. | refused
"answer_found": true | "answer_found": "yes" | Type | /answer_found | answer_found is a string, not a boolean; lenient readers convert it. | taken
"items" | "notes": 1, "items" | Unknown | /notes | The answer has no field notes. | taken
"items" | "context_completeness_strong": true, "items" | Unknown | /context_completeness_strong | context_completeness_strong must not come from the model: the next page decides it. | taken
12, | "12", | Type | /items/0/amount/value | value is a string, not a number; lenient readers convert it. | taken
, "currency": "USD" |  | Missing | /items/0/amount | The value has no currency. | refused
"USD" | "USD", "per": "claim" | Unknown | /items/0/amount/per | The value has no field per. | taken
"spans" | "page": 3, "spans" | Unknown | /items/0/page | An item has no field page. | taken
12, | NaN, | Type | /items/0/amount/value | value is not a finite number. | taken
"amount": {"value": 12, "currency": "USD"} | "vin": [1, {"code": -Infinity}, NaN] | Type | /items/0/vin/1/code | code is not a finite number. | taken
[{"line_start": 3, "line_end": 3, "quote": "q"}] | {"line_start": 3, "line_end": 3, "quote": "q"} | Type | /items/0/spans | spans is an object, not a list. | refused
[{"line_start": 3, "line_end": 3, "quote": "q"}] | "3-3" | Type | /items/0/spans | spans is a string, not a list. | refused
"line_end": 3,  |  | Missing | /items/0/spans/0 | A citation has no line_end. | refused
"line_end": 3 | "line_end": "3" | Type | /items/0/spans/0/line_end | line_end is a string, not a whole number; lenient readers convert it. | taken
"amount": {"value": 12, "currency": "USD"}, |  | Missing | /items/0 | The item has citations but no value. | refused
"#;

    #[test]
    fn every_breach_has_its_place_and_says_who_takes_it() {
        for line in BREACHES.trim().lines() {
            let [from, to, expected] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (found, strictness) = judged(&answer(from, to));
            let told = |(fault, pointer, message, lenient): &Told| {
                format!("{fault:?} | {pointer} | {message} | {}", if *lenient { "taken" } else { "refused" })
            };
            assert_eq!(found.iter().map(told).collect::<Vec<_>>(), [expected], "{from} -> {to}");
            assert_eq!(strictness, Some((expected.ends_with("taken"), false)), "{from} -> {to}");
        }
    }

    #[test]
    fn what_is_no_object_is_said_where_it_breaks() {
        let trace = |answer: &str| format!(r#"{{"format": "stepscope.answer_trace", {answer}}}"#);
        for (text, pointer, message) in [
            (
                r#""answer_text": "{\"a\": 1""#,
                "/answer_text",
                "The answer is not JSON: it ends in the middle of a value.",
            ),
            (r#""answer_text": "Sure! {}""#, "/answer_text", "The answer is not JSON from here on."),
            (r#""answer_text": "```json\n{}\n```""#, "/answer_text", "The answer is not JSON: it is in a code fence."),
            (r#""answer": "{}""#, "/answer", "The answer is JSON written into a string, not an object."),
        ] {
            let (found, strictness) = judged(&trace(text));
            assert_eq!(found, [(ContractFault::NotJson, pointer.to_owned(), message.to_owned(), false)], "{text}");
            assert_eq!(strictness, Some((false, false)));
        }
        for (text, what) in [("null", "null"), ("5", "a number"), ("[]", "a list"), (" true", "a boolean")] {
            let (found, _) = judged(&trace(&format!(r#""answer_text": "{text}""#)));
            let message = format!("The answer is {what}, not an object.");
            assert_eq!(found, [(ContractFault::Type, "/answer_text".to_owned(), message, false)]);
        }
        let (found, _) = judged(&trace(r#""answer": [1]"#));
        assert_eq!(found[0].2, "The answer is a list, not an object.");
        assert_eq!(judged(&trace(r#""answer": null"#)), (Vec::new(), Some((false, false))));
    }

    #[test]
    fn other_dialects_are_judged_by_their_types_alone() {
        let span = r#"{"line_start": 3, "line_end": 3, "quote": "q"}"#;
        let other = r#"{"start_page_num": 1, "start_line_num": 2, "end_page_num": null, "end_line_num": 3.0}"#;
        assert_eq!(judged(&answer(span, other)), (Vec::new(), Some((true, false))));
        let (found, _) = judged(&answer(span, &other.replace("null", "\"x\"")));
        assert_eq!(found[0].1, "/items/0/spans/0/end_page_num");
        let fields = r#"{"premium": {"value": "x", "quote": 3, "page": 1, "line_start": "a", "found": true}}"#;
        let (found, strictness) = judged(fields);
        assert_eq!(
            found.iter().map(|found| found.1.as_str()).collect::<Vec<_>>(),
            ["/premium/quote", "/premium/line_start"]
        );
        assert_eq!(strictness, None);
    }
}
