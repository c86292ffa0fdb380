//! Structured answers with citations: access to the parts of an answer object, whatever its dialect, and to the document
//! that its trace carries.
//!
//! An answer trace is one JSON object:
//! `{"format": "stepscope.answer_trace", "version": 1, "id", "doc_id", "folder", "question", "parsed_question",
//! "schema", "document", "retrieved_pages", "prompt", "answer" | "answer_text", "meta", "model", "created_at"}`.
//! `answer` is the answer object as it was written; `answer_text` its text where that is no JSON; neither: there is no
//! answer. `document` is `{"path"}`, `{"doc_id"}` or `{"lines": [{"page_num", "line_num", "text"}], "toc": [..]}`.

use crate::document::{Document, Heading};
use stepscope_base::json::{Kind, Member, Part, Pointer, Value, whole_float};
use stepscope_base::text::{Shown, Untrusted};

/// Fields of every answer besides its items, in the order in which they are published.
pub(crate) const BASE_FIELDS: [&str; 11] = [
    "extraction_method",
    "confidence",
    "caveats",
    "answer_found",
    "complete_answer_found",
    "context_completeness_weak",
    "context_structured",
    "llm_discovered_keywords",
    "keywords_found",
    "conflicting_evidence",
    "suggested_clarification",
];

/// Value keys that are known before any type is registered: they carry the value anywhere in an item.
const VALUE_KEYS: [&str; 9] = ["text", "amount", "date", "boolean", "table", "list", "address", "person_name", "iban"];

/// Keys under which an item keeps its citations.
const SPANS: [&str; 3] = ["spans", "citations", "span"];
const FIRST_LINE: [&str; 6] = ["line_start", "start_line_num", "start_line", "line_num", "line", "evidence_start"];
const LAST_LINE: [&str; 4] = ["line_end", "end_line_num", "end_line", "evidence_end"];
const FIRST_PAGE: [&str; 6] = ["page", "page_num", "page_start", "start_page_num", "start_page", "page_number"];
const LAST_PAGE: [&str; 3] = ["page_end", "end_page_num", "end_page"];
const QUOTE: &str = "quote";
/// Other keys of an item or field, next to the value.
const BESIDE: [&str; 6] = ["found", "caveat", "caveats", "confidence", "extraction_method", "note"];
/// Fields of the per-field dialect are looked for so deep below the answer.
const MAX_NESTING: usize = 3;

/// Layout of an answer object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// Base fields and `items`.
    Items,
    /// A field each: `{value, quote, page, line_start, line_end, found, caveat}`.
    Fields,
    /// A value of a built-in type alone, without citations: `{value, currency}`.
    Value,
}

/// Type of the values that a question asks for, and whether it asks for all of several.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AnswerRequest {
    /// The name of the type, in small letters: `amount`, or one that the user registered.
    pub kind: Option<Untrusted<'static>>,
    /// True if it asks for all of several things; `None` where neither the question nor its schema says so.
    pub many: Option<bool>,
}

/// Parts of a structured answer.
#[derive(Clone, Debug, Default)]
pub struct TypedAnswer<'a> {
    /// The answer object, if it could be read as one.
    pub answer: Option<Value<'a>>,
    /// Position of the answer object, existing or expected, as a JSON pointer.
    pub pointer: Pointer,
    /// The text of an answer that is no JSON.
    pub answer_text: Option<Value<'a>>,
    /// Description of what was asked for, as free JSON.
    pub parsed_question: Option<Value<'a>>,
    /// The name of the schema that was asked for.
    pub schema: Option<Value<'a>>,
    /// The pages that the model saw, a list of objects with `page_num`.
    pub retrieved_pages: Option<Value<'a>>,
    /// Details of its generation: `raw_response`, fragments, template.
    pub meta: Option<Value<'a>>,
    /// The document, or a reference to it.
    pub document: Option<Value<'a>>,
    /// Id of the document in its store.
    pub doc_id: Option<Value<'a>>,
    /// It came with a question, so that a missing answer is one.
    pub traced: bool,
}

/// Maximum number of items of an answer that are read.
pub const MAX_ITEMS: usize = 20_000;
/// Maximum number of citations of an answer that are read, those of all its items together.
pub const MAX_CITATIONS: usize = 50_000;

/// One item of an answer: a value, and the places that it rests on.
#[derive(Clone, Debug)]
pub struct AnswerItem<'a> {
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
    /// The whole item.
    pub root: Value<'a>,
    /// The name of the field, where the answer has a field each.
    pub field: Option<Untrusted<'a>>,
    /// The key and value that carry what was answered: `text`, `amount`, `date`, or one that we do not know.
    pub value: Option<(Untrusted<'a>, Value<'a>)>,
    /// The cited places, in order.
    pub citations: Vec<Citation<'a>>,
}

impl AnswerItem<'_> {
    /// Tells whether what was answered is an amount or a date.
    pub fn is_amount_or_date(&self) -> bool {
        self.value.as_ref().is_some_and(|(key, _)| [&b"amount"[..], b"date"].contains(&key.bytes()))
    }
}

/// One cited place.
#[derive(Clone, Debug)]
pub struct Citation<'a> {
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
    /// The whole citation.
    pub root: Value<'a>,
    /// First and last cited line as they are written, inclusive.
    pub lines: (Option<Value<'a>>, Option<Value<'a>>),
    /// First and last cited page, in the dialects that have them.
    pub pages: (Option<Value<'a>>, Option<Value<'a>>),
    /// Quote in the model's own words.
    pub quote: Option<Value<'a>>,
}

impl<'a> TypedAnswer<'a> {
    /// A bare answer object.
    pub fn bare(answer: Value<'a>) -> Self {
        Self { answer: Some(answer), ..Self::default() }
    }

    /// Determines the layout of the answer object; `None` where there is none.
    pub fn dialect(&self) -> Option<Dialect> {
        let answer = self.answer.filter(|answer| answer.kind() == Kind::Object)?;
        let has_fields = || has_fields(answer) || is_flat(answer);
        if bare_value(answer).is_some() {
            return Some(Dialect::Value);
        }
        Some(if !is_rich(answer) && has_fields() { Dialect::Fields } else { Dialect::Items })
    }

    /// The value of a base field.
    pub fn base(&self, field: &str) -> Option<Value<'a>> {
        self.answer?.get(field)
    }

    /// Reads a base field as a truth value, as lenient readers take it; `None` where it is none.
    pub fn flag(&self, field: &str) -> Option<bool> {
        truth(self.base(field)?)
    }

    /// Determines the kind of answer that the question asks for: from the shape and type that were made of it, else
    /// from the name of its schema.
    pub fn asked(&self) -> AnswerRequest {
        let parsed = self.parsed_question;
        let among = |root: Option<Value<'a>>, keys: &[&str]| {
            let root = root?;
            keys.iter().find_map(|key| word(root.get(key)?))
        };
        let expected = parsed.and_then(|parsed| parsed.get("expected_answer_shape").or(parsed.get("expected_answer")));
        let shape = expected.and_then(word).or_else(|| among(expected, &["shape"]));
        let shape = shape.or_else(|| among(parsed, &["answer_shape", "shape"]));
        let kind = among(expected, &["type"]);
        let kind = kind.or_else(|| among(parsed, &["expected_answer_type", "answer_type", "type"]));
        let schema = || self.schema.or_else(|| self.meta?.get("schema_used")).and_then(schema_word);
        let words = [kind, shape.clone(), if shape.is_none() { schema() } else { None }];
        AnswerRequest {
            many: shape.as_deref().or(words.get(2).and_then(|word| word.as_deref())).map(|shape| MANY.contains(&shape)),
            kind: words.into_iter().flatten().find_map(kind_of_word).map(Untrusted::from),
        }
    }

    /// The name of the type whose schema was asked for: `AmountAnswer` asks for an amount.
    pub fn schema_kind(&self) -> Option<Untrusted<'static>> {
        let schema = self.schema.or_else(|| self.meta?.get("schema_used"))?;
        schema_word(schema).and_then(kind_of_word).map(Untrusted::from)
    }

    /// Everything that was answered, in order.
    pub fn items(&self) -> Vec<AnswerItem<'a>> {
        self.items_and_rest().0
    }

    /// Everything that was answered, in order, as far as it is read, and what is not.
    pub fn items_and_rest(&self) -> (Vec<AnswerItem<'a>>, UnreadRest) {
        let mut found = ItemCollector::default();
        match (self.dialect(), self.answer) {
            (Some(Dialect::Fields), Some(answer)) if is_flat(answer) => {
                let member = FLAT_VALUES.iter().find_map(|key| answer.member(key)).or_else(|| carrier(answer));
                let citations = citations(answer, &self.pointer, &mut found);
                let value = member.map(|member| (member.name(), member.value));
                let field = value.as_ref().map(|(name, _)| name.clone());
                found.items.push(AnswerItem { pointer: self.pointer.clone(), root: answer, field, value, citations });
            }
            (Some(Dialect::Fields), Some(answer)) => fields(answer, &self.pointer, 0, &mut found),
            (Some(Dialect::Items), Some(answer)) => items(answer, &self.pointer, &mut found),
            (Some(Dialect::Value), Some(answer)) => {
                let value = bare_value(answer).map(|key| (Untrusted::from(key), answer));
                let (pointer, citations) = (self.pointer.clone(), Vec::new());
                found.items.push(AnswerItem { pointer, root: answer, field: None, value, citations });
            }
            _ => {}
        }
        (found.items, found.rest)
    }

    /// The numbers of the pages that the model saw, in the order of their ranks.
    pub fn retrieved(&self) -> Vec<i64> {
        let pages = self.retrieved_pages.into_iter().flat_map(Value::items);
        pages.filter_map(|page| whole(page.get("page_num").or_else(|| page.get("page")).unwrap_or(page))).collect()
    }
}

impl<'a> AnswerItem<'a> {
    /// Names the item by its field, else by the key of its value.
    pub fn title(&self) -> Shown {
        let name = self.field.as_ref().or(self.value.as_ref().map(|(key, _)| key));
        name.map_or_else(|| Shown::own("no value"), Untrusted::line)
    }

    /// Returns the position of the value, as a JSON pointer.
    pub fn value_pointer(&self) -> Option<Pointer> {
        if self.is_bare() {
            return Some(self.pointer.clone());
        }
        self.value.as_ref().map(|(key, _)| self.pointer.then(Part::Key(key.to_owned())))
    }

    /// Tells whether the item is nothing but its value, with no place for a citation.
    pub fn is_bare(&self) -> bool {
        self.value.as_ref().is_some_and(|(_, value)| value.index() == self.root.index())
    }

    /// Tells whether the item counts as found: fields may say of themselves that nothing was.
    pub fn is_found(&self) -> bool {
        self.root.get("found").and_then(Value::bool) != Some(false)
    }

    fn read(root: Value<'a>, pointer: Pointer, field: Option<Untrusted<'a>>, found: &mut ItemCollector<'a>) -> Self {
        let value = if field.is_some() { root.member("value") } else { carrier(root) };
        let citations = citations(root, &pointer, found);
        Self { pointer, root, field, value: value.map(|member| (member.name(), member.value)), citations }
    }
}

/// Number of items and citations of an answer that are not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnreadRest {
    /// Items.
    pub items: usize,
    /// Citations of the items that are read.
    pub citations: usize,
}

/// The items that are read so far.
#[derive(Default)]
struct ItemCollector<'a> {
    items: Vec<AnswerItem<'a>>,
    citations: usize,
    rest: UnreadRest,
}

impl<'a> ItemCollector<'a> {
    /// Reads an item, or counts it.
    fn item(&mut self, root: Value<'a>, pointer: impl FnOnce() -> Pointer, field: Option<Untrusted<'a>>) {
        if self.items.len() >= MAX_ITEMS {
            self.rest.items += 1;
            return;
        }
        let item = AnswerItem::read(root, pointer(), field, self);
        self.items.push(item);
    }
}

impl<'a> Citation<'a> {
    /// First and last cited line, where they are whole numbers.
    pub(crate) fn line_numbers(&self) -> (Option<i64>, Option<i64>) {
        (self.lines.0.and_then(cited_number), self.lines.1.and_then(cited_number))
    }

    /// First and last cited page, where they are whole numbers.
    pub fn page_numbers(&self) -> (Option<i64>, Option<i64>) {
        (self.pages.0.and_then(cited_number), self.pages.1.and_then(cited_number))
    }

    fn read(root: Value<'a>, pointer: Pointer) -> Self {
        let first = |names: &[&str]| names.iter().find_map(|name| root.get(name));
        Self {
            pointer,
            root,
            lines: (first(&FIRST_LINE), first(&LAST_LINE)),
            pages: (first(&FIRST_PAGE), first(&LAST_PAGE)),
            quote: root.get(QUOTE).filter(|quote| !quote.is_null()),
        }
    }
}

/// Shapes of several things. All of them have to be found.
const MANY: [&str; 5] = ["list", "listing", "table", "tree", "nested_json"];

fn word(value: Value<'_>) -> Option<String> {
    let text = value.string()?.utf8()?.trim().to_lowercase().replace([' ', '-'], "_");
    (!text.is_empty()).then_some(text)
}

/// The name of a type as words of questions have it; nothing for words that only say how many, or in which shape.
fn kind_of_word(word: String) -> Option<String> {
    match word.as_str() {
        "single" | "listing" | "tree" | "nested_json" | "any" | "unknown" | "na" | "none" => None,
        "bool" | "yes_no" => Some("boolean".to_owned()),
        "string" | "str" | "free_text" => Some("text".to_owned()),
        _ => Some(word),
    }
}

/// `PersonNameAnswer` as `person_name`.
fn schema_word(schema: Value<'_>) -> Option<String> {
    let name = schema.string()?;
    let name = name.utf8()?.trim();
    let name = ["Answer", "Schema", "_answer"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let mut word = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !word.is_empty() && !word.ends_with('_') {
            word.push('_');
        }
        word.extend(c.to_lowercase());
    }
    (!word.is_empty()).then_some(word)
}

/// A flag as lenient readers take it: `true`, `"yes"`, `1`.
pub fn truth(value: Value<'_>) -> Option<bool> {
    let text = value.string().and_then(|text| text.utf8().map(|text| text.trim().to_ascii_lowercase()));
    match text.as_deref() {
        Some("true" | "t" | "yes" | "y" | "on" | "1") => Some(true),
        Some("false" | "f" | "no" | "n" | "off" | "0") => Some(false),
        _ => flag(value),
    }
}

/// A truth value. Where others of its column are missing, pandas makes a float of it.
pub fn flag(value: Value<'_>) -> Option<bool> {
    match whole(value).filter(|_| value.is_number()) {
        Some(0) => Some(false),
        Some(1) => Some(true),
        _ => value.bool(),
    }
}

/// A whole number as lenient readers take it: `83`, `83.0` and `"83"`.
pub fn whole(value: Value<'_>) -> Option<i64> {
    match value.kind() {
        Kind::Int => value.whole(),
        Kind::Float => whole_float(value.float()?),
        Kind::String => value.string()?.utf8()?.trim().parse().ok(),
        _ => None,
    }
}

/// The number of a cited line or page as lenient readers take it: `true` is 1 to them.
pub(crate) fn cited_number(value: Value<'_>) -> Option<i64> {
    whole(value).or_else(|| value.bool().map(i64::from))
}

/// Tells whether an object is an answer by its base fields: items and one of them, or three of them.
pub fn is_rich(value: Value<'_>) -> bool {
    let (mut base, mut items) = (0, false);
    for member in value.members() {
        let name = member.name();
        base += u8::from(name.utf8().is_some_and(|name| BASE_FIELDS.contains(&name)));
        items |= name == "items" && member.value.kind() == Kind::Array;
        if base >= 3 || (items && base >= 1) {
            return true;
        }
    }
    false
}

/// The keys under which an answer without items carries its value.
const FLAT_VALUES: [&str; 2] = ["answer", "value"];

/// Tells whether an object is the smallest possible answer: a value with its first and last line.
pub fn is_flat(value: Value<'_>) -> bool {
    let (mut says, mut begins, mut ends) = (false, false, false);
    for member in value.members() {
        match member.key.plain_string().and_then(|name| std::str::from_utf8(name).ok()) {
            Some("items" | "procedure" | "state" | "steps" | "format") => return false,
            Some(name) => {
                let is_value = FLAT_VALUES.contains(&name) || VALUE_KEYS.contains(&name);
                says |= is_value && !(member.value.is_null() || member.value.kind() == Kind::Array);
                begins |= FIRST_LINE.contains(&name) && whole(member.value).is_some();
                ends |= LAST_LINE.contains(&name) && whole(member.value).is_some();
            }
            None => {}
        }
    }
    says && begins && ends
}

/// Keys of the built-in types that are answers by themselves: the type, what it must have, and what it may have.
const BARE_VALUES: [(&str, &[&str], &[&str]); 3] = [
    ("amount", &["value", "currency"], &["unit"]),
    ("date", &["iso", "original"], &[]),
    ("address", &["street", "postal_code", "city"], &["country", "state", "region", "house_number"]),
];

/// Names the built-in type of which an object is a value and nothing else.
pub fn bare_value(value: Value<'_>) -> Option<&'static str> {
    let is_one = |(_, must, may): &&(&str, &[&str], &[&str])| {
        let knows = |key: &str| must.contains(&key) || may.contains(&key);
        value.len() <= must.len() + may.len()
            && must.iter().all(|key| value.get(key).is_some_and(|value| !value.is_container()))
            && value.members().all(|member| member.name().utf8().is_some_and(knows))
    };
    let found = (value.kind() == Kind::Object && value.len() < 8).then(|| BARE_VALUES.iter().find(is_one)).flatten();
    found.map(|(name, ..)| *name)
}

/// Tells whether an object holds fields of `{value, quote, line_start, ..}`.
pub fn has_fields(value: Value<'_>) -> bool {
    let mut found = ItemCollector::default();
    fields(value, &Pointer::default(), MAX_NESTING - 1, &mut found);
    if found.items.is_empty() {
        let inner = value.members().filter(|member| member.value.kind() == Kind::Object);
        inner.for_each(|member| fields(member.value, &Pointer::default(), MAX_NESTING - 1, &mut found));
    }
    !found.items.is_empty()
}

/// Reads the document that the record itself contains.
pub fn inline_document(typed: &TypedAnswer<'_>) -> Option<Document> {
    let document = typed.document?;
    let lines = document.get("lines").filter(|lines| lines.kind() == Kind::Array)?;
    Some(document_of(lines, document.get("toc")))
}

/// Reads a document from its list of lines, and its table of contents.
pub fn document_of(lines: Value<'_>, toc: Option<Value<'_>>) -> Document {
    let numbered = lines.items().scan((1, 0), |(page, number), line| {
        // A line without numbers follows the one before it.
        let (last, own) = (*page, line.get("page_num").and_then(whole));
        *page = own.unwrap_or(last);
        let next = if *page == last { i64::saturating_add(*number, 1) } else { 1 };
        *number = line.get("line_num").and_then(whole).unwrap_or(next);
        Some((*page, *number, text_of(line.get("text").unwrap_or(line))))
    });
    Document::read(numbered, toc.into_iter().flat_map(Value::items).map(heading).collect())
}

fn heading(entry: Value<'_>) -> Heading {
    let number = |name| entry.get(name).and_then(whole);
    Heading {
        level: number("level").and_then(|level| u32::try_from(level).ok()).unwrap_or(1),
        title: Value::text_of(entry.get("title")).bytes().to_vec(),
        pages: (number("start_page").or_else(|| number("page")), number("end_page")),
    }
}

fn text_of(value: Value<'_>) -> Vec<u8> {
    Value::text_of(Some(value)).bytes().to_vec()
}

/// The items of an answer; an object in the place of the list is one item.
fn items<'a>(answer: Value<'a>, pointer: &Pointer, found: &mut ItemCollector<'a>) {
    let Some(list) = answer.get("items") else { return };
    let pointer = pointer.then("items");
    match list.kind() {
        Kind::Array => {
            list.items().enumerate().for_each(|(n, item)| found.item(item, || pointer.then(n), None));
        }
        Kind::Object => found.item(list, || pointer, None),
        _ => {}
    }
}

/// Collects the fields below a value.
fn fields<'a>(value: Value<'a>, pointer: &Pointer, depth: usize, found: &mut ItemCollector<'a>) {
    for member in value.entries() {
        let at = pointer.then(Part::Key(member.name().into_owned()));
        if is_field(member.value) {
            found.item(member.value, || at, Some(member.name()));
            continue;
        }
        match member.value.kind() {
            Kind::Array => {
                let items = member.value.items().enumerate().filter(|(_, item)| is_field(*item));
                items.for_each(|(n, item)| found.item(item, || at.then(n), Some(member.name())));
            }
            Kind::Object if depth + 1 < MAX_NESTING => fields(member.value, &at, depth + 1, found),
            _ => {}
        }
    }
}

fn is_field(value: Value<'_>) -> bool {
    let (mut says, mut cites) = (false, false);
    for member in value.members() {
        let name = member.name();
        let Some(name) = name.utf8() else { continue };
        says |= name == "value" || name == "found";
        cites |= name == QUOTE || FIRST_LINE.contains(&name) || FIRST_PAGE.contains(&name);
    }
    says && cites
}

/// The member of an item that carries its value.
fn carrier(item: Value<'_>) -> Option<Member<'_>> {
    let known = VALUE_KEYS.iter().find_map(|key| item.member(key));
    known.or_else(|| {
        let unknown = item.members().find(|member| !member.name().utf8().is_some_and(is_beside_the_value))?;
        // Of a key that stands twice the last value counts.
        item.members().filter(|member| member.name() == unknown.name()).last()
    })
}

/// Tells whether a key of an item belongs to its evidence, not to its value.
pub fn is_beside_the_value(key: &str) -> bool {
    let lists: [&[&str]; 6] = [&SPANS, &FIRST_LINE, &LAST_LINE, &FIRST_PAGE, &LAST_PAGE, &BESIDE];
    key == QUOTE || lists.iter().any(|list| list.contains(&key))
}

fn citations<'a>(item: Value<'a>, pointer: &Pointer, found: &mut ItemCollector<'a>) -> Vec<Citation<'a>> {
    if let Some((name, spans)) = SPANS.iter().find_map(|name| Some((*name, item.get(name)?))) {
        let pointer = pointer.then(name);
        return match spans.kind() {
            Kind::Array => {
                let count = spans.len();
                let read = count.min(MAX_CITATIONS - found.citations);
                found.citations += read;
                found.rest.citations += count - read;
                spans.items().take(read).enumerate().map(|(n, span)| Citation::read(span, pointer.then(n))).collect()
            }
            Kind::Object => vec![Citation::read(spans, pointer)],
            _ => Vec::new(),
        };
    }
    // The citation stands beside the value.
    let own = Citation::read(item, pointer.clone());
    let present = |value: Option<Value<'_>>| value.is_some_and(|value| !value.is_null());
    if present(own.quote) || present(own.lines.0) || present(own.pages.0) { vec![own] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    fn with<T>(text: &str, then: impl FnOnce(&TypedAnswer<'_>) -> T) -> T {
        let mut tape = Tape::default();
        then(&TypedAnswer::bare(tape.parse(text.as_bytes()).unwrap()))
    }

    fn texts(items: &[AnswerItem<'_>]) -> Vec<String> {
        let key =
            |item: &AnswerItem<'_>| item.value.as_ref().map(|(key, _)| key.line().into_string()).unwrap_or_default();
        items.iter().map(|item| format!("{:?} {} {}", item.pointer.text(), key(item), item.citations.len())).collect()
    }

    #[test]
    fn an_item_is_a_value_and_its_spans_whatever_the_value_is_called() {
        let text = r#"{"answer_found": true, "items": [
            {"spans": [{"line_start": 3, "line_end": 4, "quote": "q"}, {"line_start": 9}], "vin": {"code": 1}},
            {"note": "n", "text": "t", "spans": []}, {"spans": []}, "loose"]}"#;
        with(text, |typed| {
            let items = typed.items();
            let expected = ["\"/items/0\" vin 2", "\"/items/1\" text 0", "\"/items/2\"  0", "\"/items/3\"  0"];
            assert_eq!(texts(&items), expected);
            let span = &items[0].citations[0];
            assert_eq!((span.line_numbers(), span.pages.0.is_some()), ((Some(3), Some(4)), false));
            assert_eq!(span.pointer.text(), "/items/0/spans/0");
            assert_eq!(items[0].value_pointer().unwrap().text(), "/items/0/vin");
        });
    }

    #[test]
    fn other_dialects_of_citations_are_read() {
        let text = r#"{"confidence": 1, "items": [
            {"text": "a", "spans": [{"start_page_num": 2, "start_line_num": 5, "end_page_num": 3, "end_line_num": 1}]},
            {"text": "b", "spans": {"page_start": 1, "page_end": 2, "line_start": "7", "line_end": 8.0}},
            {"text": "c", "page": 4, "line_start": 1, "line_end": 2, "quote": null},
            {"text": "d", "spans": {"line_start": true, "line_end": true}}]}"#;
        with(text, |typed| {
            let cited = typed.items().into_iter().flat_map(|item| item.citations);
            let numbers: Vec<_> = cited.map(|span| (span.page_numbers(), span.line_numbers())).collect();
            assert_eq!(numbers[0], ((Some(2), Some(3)), (Some(5), Some(1))));
            assert_eq!(numbers[1], ((Some(1), Some(2)), (Some(7), Some(8))));
            assert_eq!(numbers[2], ((Some(4), None), (Some(1), Some(2))));
            assert_eq!(numbers[3], ((None, None), (Some(1), Some(1))), "the finding says that readers convert it");
        });
    }

    #[test]
    fn fields_are_items_too() {
        let text = r#"{"document": "x", "fields": {
            "premium": {"value": 12, "quote": "12", "page": 1, "line_start": 1, "line_end": 1, "found": true},
            "names": [{"value": "A", "quote": "A"}, {"value": "B", "page": 2, "line_start": 4}],
            "expiry": {"value": null, "quote": null, "page": null, "found": false, "caveat": "not there"}}}"#;
        with(text, |typed| {
            assert_eq!(typed.dialect(), Some(Dialect::Fields));
            let items = typed.items();
            let expected = [
                "\"/fields/premium\" value 1",
                "\"/fields/names/0\" value 1",
                "\"/fields/names/1\" value 1",
                "\"/fields/expiry\" value 0",
            ];
            assert_eq!(texts(&items), expected);
            assert_eq!(items.iter().map(AnswerItem::is_found).collect::<Vec<_>>(), [true, true, true, false]);
            assert_eq!(items[1].field.as_ref().unwrap(), &"names");
        });
    }

    #[test]
    fn what_is_asked_for_stands_in_the_question_or_the_schema() {
        let asked = |text: &str| {
            let mut tape = Tape::default();
            let root = tape.parse(text.as_bytes()).unwrap();
            let typed = TypedAnswer { parsed_question: root.get("q"), schema: root.get("s"), ..TypedAnswer::default() };
            let asked = typed.asked();
            (asked.kind.map(|kind| kind.line().into_string()).unwrap_or_default(), asked.many)
        };
        let cases = [
            (r#"{"q": {"expected_answer_shape": "amount"}, "s": "TextAnswer"}"#, "amount", Some(false)),
            (r#"{"q": {"expected_answer_shape": "list"}}"#, "list", Some(true)),
            (r#"{"q": {"expected_answer_shape": {"shape": "listing", "type": "date"}}}"#, "date", Some(true)),
            (r#"{"q": {"shape": "single", "answer_type": "iban"}}"#, "iban", Some(false)),
            (r#"{"q": {"keywords": []}, "s": "PersonNameAnswer"}"#, "person_name", Some(false)),
            (r#"{"q": {"expected_answer_shape": null}, "s": "ListAnswer"}"#, "list", Some(true)),
            (r#"{"q": {"expected_answer_shape": 7}}"#, "", None),
            (r#"{"q": {"expected_answer_shape": "listing"}}"#, "", Some(true)),
            (r#"{"q": {"expected_answer_shape": "listing", "answer_type": "amount"}}"#, "amount", Some(true)),
        ];
        for (text, kind, many) in cases {
            assert_eq!(asked(text), (kind.to_owned(), many), "{text}");
        }
    }

    #[test]
    fn a_document_in_the_record_is_read_with_or_without_numbers() {
        let text =
            br#"{"lines": [{"page_num": 2, "line_num": 1, "text": "c"}, {"page_num": 1.0, "line_num": 1, "text": "a"},
            {"text": "b"}], "toc": [{"level": 2, "title": "T", "start_page": 2, "end_page": null}]}"#;
        let mut tape = Tape::default();
        let typed = TypedAnswer { document: tape.parse(text), ..TypedAnswer::default() };
        let document = inline_document(&typed).unwrap();
        assert_eq!(document.text(0..3), b"a\nb\nc\n");
        assert_eq!((document.number(1), document.number(2)), (Some((1, 2)), Some((2, 1))));
        assert_eq!(document.toc(), [Heading { level: 2, title: b"T".to_vec(), pages: (Some(2), None) }]);
        assert!(inline_document(&TypedAnswer::default()).is_none());
    }
}
