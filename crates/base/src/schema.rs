//! A JSON Schema, read once and then asked for every answer.
//!
//! Messages are those of Python's `jsonschema`: the first error in the order of the schema's own keys, or the best
//! match, in Python's words, with `NaN` and integers of any size. The `jsonschema` crate can give neither that order nor
//! such numbers, so answers are judged here, as they were read. The crate judges the schema itself.

use std::collections::HashMap;

use stepscope_schema::{Draft, FaultKind};

use crate::json::{Kind, Member, Tape, Value};
use crate::pyregex::Pattern;
use crate::python::{self, PythonNumber};
use crate::shown;
use crate::text::{Shown, Untrusted};
use nodes::{Body, Counted, Dependency, Id, Keyword, Limit, Literal, Nodes, Subschema};
use references::{Registry, Site, metaschema};

mod breach;
mod draft;
mod evaluate;
mod nodes;
mod references;

pub use breach::{Breach, Law, Undecidable, View};
pub use draft::NEWEST;
pub use nodes::Type;

/// A schema of more names and values is not used: each takes up to a kilobyte until it is ready.
const MAX_VALUES: usize = 150_000;
/// A schema of more patterns is not used: each takes about 35 kilobytes, and so does every
/// [`PATTERN`] bytes of a long one.
const MAX_PATTERNS: usize = 1_000;
const PATTERN: usize = 100;

/// Longest quoted part of a pattern.
const MAX_SAID: usize = 200;

/// A schema, ready to judge.
#[derive(Debug, Default)]
pub struct Schema {
    nodes: Nodes,
    /// The draft that it was read as: `draft 2020-12`.
    draft: &'static str,
    /// The root looks at more than its properties one by one: keys that it does not name change what it says.
    whole: bool,
}

/// Reason why a text is no usable schema.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SchemaFailure(Shown);

impl Schema {
    /// Reads a schema of draft 2020-12 from the text of a file, whatever draft it names: so upstream reads them.
    /// Nothing outside of the text is ever fetched.
    pub fn compile(text: &[u8]) -> Result<Self, SchemaFailure> {
        Self::compile_as(text, |_| Ok(Draft::Draft202012))
    }

    /// Reads a schema of the draft that it names, as Python's `jsonschema.validate` does; without one, of 2020-12.
    pub fn compile_as_declared(text: &[u8]) -> Result<Self, SchemaFailure> {
        Self::compile_as(text, |root| draft::declared(root).map_err(SchemaFailure))
    }

    fn compile_as(
        text: &[u8],
        draft: impl FnOnce(Value<'_>) -> Result<Draft, SchemaFailure>,
    ) -> Result<Self, SchemaFailure> {
        let mut tape = Tape::default();
        if !tape.read(text) {
            let why = tape.problems().last().map_or("not JSON", |problem| problem.kind.summary());
            return Err(SchemaFailure(Shown::own("the schema cannot be read: ").and(why)));
        }
        if tape.len() > MAX_VALUES {
            const WHY: &str = "the schema holds more than 150,000 names and values; split it";
            return Err(SchemaFailure(Shown::own(WHY)));
        }
        let root = tape.root(text).ok_or(SchemaFailure(Shown::own("the schema is empty")))?;
        let draft = draft(root)?;
        let mut json =
            evaluate::to_serde(root).ok_or(SchemaFailure(Shown::own("the schema holds a number that is not JSON")))?;
        if let Some(object) = json.as_object_mut() {
            // The draft is known; an address that nobody has heard of would be looked up.
            object.shift_remove("$schema");
        }
        // The library would make ready all patterns before it is known how many there are.
        if patterns_in(root) > MAX_PATTERNS {
            const WHY: &str = "the schema holds more than 1,000 patterns or 100,000 bytes of them; split it";
            return Err(SchemaFailure(Shown::own(WHY)));
        }
        let Some(first) = stepscope_schema::fault(&json, draft, metaschema) else {
            return Self::read_draft(root, draft);
        };
        let hidden = hide_patterns(&mut json);
        let fault = if hidden.is_empty() { Some(first) } else { stepscope_schema::fault(&json, draft, metaschema) };
        let Some(fault) = fault else { return Self::read_draft(root, draft) };
        // Not the value: a name may have led to another file than a schema.
        let parts: Vec<_> = fault.place.split('/').map(|part| hidden.get(part).map_or(part, String::as_str)).collect();
        let place = if fault.place.is_empty() { "/".to_owned() } else { parts.join("/") };
        let place = Shown::line(place.as_bytes());
        let why = match fault.kind {
            FaultKind::Reference => Shown::own("a reference has no target in the schema"),
            FaultKind::Other => Shown::line(fault.words.as_bytes()),
        };
        Err(SchemaFailure(shown!("not a usable JSON Schema: at {place}, {why}")))
    }

    /// Reads a schema of the program, of which a test proves that it is usable: to have that proved at every start takes
    /// as long as to draw the first screen. One that cannot be read refuses every value.
    pub fn built_in(text: &str) -> Self {
        let mut tape = Tape::default();
        let root = tape.parse(text.as_bytes());
        root.and_then(|root| Self::read_draft(root, Draft::Draft202012).ok()).unwrap_or_else(Self::refusing)
    }

    fn refusing() -> Self {
        let mut tape = Tape::default();
        let root = tape.parse(b"false").expect("JSON");
        Self::read_draft(root, Draft::Draft202012).expect("`false` is a schema")
    }

    fn read_draft(root: Value<'_>, draft: Draft) -> Result<Self, SchemaFailure> {
        let registry = Registry::new(root, draft);
        let mut compiler = Compiler { registry, nodes: Vec::new(), open: Vec::new(), done: HashMap::new(), why: None };
        if compiler.read(Site { text: 0, value: root, base: 0, draft }).is_none() {
            let why = compiler.why.unwrap_or(Shown::own("neither an object nor a boolean"));
            return Err(SchemaFailure(Shown::own("not a usable JSON Schema: ").join(&why)));
        }
        let own = property_names(root);
        let one_by_one = |member: Member<'_>| match member.name().bytes() {
            b"properties" | b"additionalProperties" => true,
            b"type" => types(member.value).is_some_and(|types| types.contains(&Type::Object)),
            b"required" => {
                list_of_strings(member.value).is_some_and(|names| names.iter().all(|name| own.contains(name)))
            }
            name => !is_keyword(name),
        };
        let whole = !root.members().all(one_by_one);
        Ok(Self { nodes: Nodes { list: compiler.nodes, own }, draft: draft::name(draft), whole })
    }

    /// Names the draft that it was read as.
    pub const fn draft(&self) -> &'static str {
        self.draft
    }

    /// Fault of a whole value, or that this cannot be told: of several errors that which Python's
    /// `jsonschema.validate` names.
    pub fn judge(&self, value: Value<'_>) -> Result<Option<Untrusted<'static>>, Undecidable> {
        evaluate::best(&self.nodes, value)
    }

    /// True for the root's own properties.
    pub fn names(&self, name: &[u8]) -> bool {
        self.nodes.names(name)
    }

    /// True if keys that are no property of the root can change the result, beyond `additionalProperties`.
    pub const fn judges_whole_object(&self) -> bool {
        self.whole
    }

    /// The first error in Python's order, or that this cannot be told.
    pub fn first_breach<'a>(&'a self, answer: Value<'a>, view: View) -> Result<Option<Breach<'a>>, Undecidable> {
        evaluate::first(&self.nodes, answer, view)
    }

    /// Every place where a value does not hold the schema, in Python's order, up to a limit.
    pub fn breaches<'a>(&'a self, value: Value<'a>) -> Vec<Breach<'a>> {
        evaluate::every(&self.nodes, value)
    }
}

/// Number of patterns in a schema, long ones counted as several, wherever they stand in it; other values may look
/// like some.
fn patterns_in(root: Value<'_>) -> usize {
    let (mut open, mut found) = (vec![root], 0);
    while let Some(value) = open.pop() {
        for member in value.members() {
            let weight = |pattern: Value<'_>| 1 + pattern.raw().len() / PATTERN;
            found += match member.name().bytes() {
                b"pattern" => weight(member.value),
                b"patternProperties" => member.value.members().map(|member| weight(member.key)).sum(),
                _ => 0,
            };
            open.push(member.value);
        }
        open.extend(value.items());
    }
    found
}

/// Puts other patterns in the place of those that are read here: the library knows Rust's dialect, and what it finds then
/// is wrong in Python too. Returns the patterns by what stands for them.
fn hide_patterns(schema: &mut serde_json::Value) -> HashMap<String, String> {
    /// Keywords whose members are named by the schema's author.
    const NAMED: [&str; 6] =
        ["properties", "patternProperties", "$defs", "definitions", "dependencies", "dependentSchemas"];
    let mut hidden = HashMap::new();
    let mut hide = |pattern: &mut String| {
        if Pattern::new(pattern).is_ok() {
            let stand_in = format!("pattern{}", hidden.len());
            hidden.insert(stand_in.clone(), std::mem::replace(pattern, stand_in));
        }
    };
    let mut open = vec![(schema, false)];
    while let Some((value, is_named)) = open.pop() {
        let object = match value {
            serde_json::Value::Object(object) => object,
            serde_json::Value::Array(items) => {
                open.extend(items.iter_mut().map(|item| (item, false)));
                continue;
            }
            _ => continue,
        };
        if let Some(serde_json::Value::String(pattern)) = object.get_mut("pattern").filter(|_| !is_named) {
            hide(pattern);
        }
        let patterns = object.get_mut("patternProperties").filter(|_| !is_named);
        if let Some(patterns) = patterns.and_then(serde_json::Value::as_object_mut) {
            for (mut pattern, value) in std::mem::take(patterns) {
                hide(&mut pattern);
                patterns.insert(pattern, value);
            }
        }
        open.extend(object.iter_mut().map(|(key, value)| (value, !is_named && NAMED.contains(&key.as_str()))));
    }
    hidden
}

fn property_names(root: Value<'_>) -> Vec<Vec<u8>> {
    let properties = root.get("properties");
    properties.into_iter().flat_map(Value::members).map(|member| member.name().bytes().to_vec()).collect()
}

/// The keywords that are judged here.
const KEYWORDS: &str = "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength \
    pattern minItems maxItems uniqueItems prefixItems items contains minProperties maxProperties \
    properties patternProperties additionalProperties propertyNames required dependentRequired \
    dependentSchemas allOf anyOf oneOf not if $ref $dynamicRef $recursiveRef unevaluatedItems \
    unevaluatedProperties dependencies additionalItems";

fn is_keyword(name: &[u8]) -> bool {
    KEYWORDS.split(' ').any(|keyword| keyword.as_bytes() == name)
}

struct Compiler<'s> {
    registry: Registry<'s>,
    nodes: Vec<Subschema>,
    /// Schemas that have a number and are still to be read.
    open: Vec<(Id, Site<'s>)>,
    /// The node of each schema, by its place: a reference may lead back to it.
    done: HashMap<(usize, usize), Id>,
    /// Reason why it cannot be read.
    why: Option<Shown>,
}

impl<'s> Compiler<'s> {
    fn read(&mut self, root: Site<'s>) -> Option<()> {
        self.schema(root, root.value);
        while let Some((id, place)) = self.open.pop() {
            let value = place.value;
            let body = match value.kind() {
                Kind::True => Body::Always,
                Kind::False => Body::Never,
                Kind::Object => {
                    let mut keywords = Vec::new();
                    for member in value.entries() {
                        if speaks(place, member) {
                            keywords.push(self.keyword(place, member.name().bytes(), member.value)?);
                        }
                    }
                    Body::Keywords(keywords)
                }
                _ => return None,
            };
            let node = self.nodes.get_mut(id)?;
            node.body = body;
            let types = value.get("type").and_then(|value| draft_types(place.draft, value));
            node.types = types.unwrap_or_default();
        }
        Some(())
    }

    /// The number of a schema that stands in another.
    fn schema(&mut self, parent: Site<'s>, value: Value<'s>) -> Id {
        self.at(parent.inside(value))
    }

    fn at(&mut self, place: Site<'s>) -> Id {
        let place = self.registry.settle(place);
        *self.done.entry(place.key()).or_insert_with(|| {
            let id = self.nodes.len();
            self.nodes.push(Subschema { body: Body::Always, types: Vec::new(), base: place.base });
            self.open.push((id, place));
            id
        })
    }

    fn schemas(&mut self, parent: Site<'s>, list: Value<'s>) -> Vec<Id> {
        list.items().map(|item| self.schema(parent, item)).collect()
    }

    fn named(&mut self, parent: Site<'s>, object: Value<'s>) -> Vec<(Vec<u8>, Id)> {
        let entries = object.entries().into_iter();
        entries.map(|member| (member.name().bytes().to_vec(), self.schema(parent, member.value))).collect()
    }

    /// Names that are wanted beside a property, or a schema for the whole object.
    fn dependencies(&mut self, parent: Site<'s>, object: Value<'s>) -> Option<Keyword> {
        let read = |member: Member<'s>| {
            let dependency = match member.value.kind() {
                Kind::Array => Dependency::Names(list_of_strings(member.value)?),
                _ => Dependency::Schema(self.schema(parent, member.value)),
            };
            Some((member.name().bytes().to_vec(), dependency))
        };
        Some(Keyword::Dependencies(object.entries().into_iter().map(read).collect::<Option<_>>()?))
    }

    fn pattern(&mut self, text: &str) -> Option<Pattern> {
        match Pattern::new(text) {
            Ok(pattern) => Some(pattern),
            Err(why) => {
                let text = Shown::line(text.as_bytes()).cut(MAX_SAID);
                self.why = Some(shown!("invalid pattern \"{text}\": {why}"));
                None
            }
        }
    }

    /// A keyword; `None` where it cannot be used.
    fn keyword(&mut self, place: Site<'s>, name: &[u8], value: Value<'s>) -> Option<Keyword> {
        let (parent, draft) = (place.value, place.draft);
        let length = |of, most| Some(Keyword::Length { of, most, limit: value.float()? as usize });
        let limit = |limit| Some(Keyword::Limit { limit, number: PythonNumber::of(value)?, words: words(value) });
        // Of draft 4, where it is a truth value.
        let excludes = |name: &str| parent.get(name).is_some_and(|value| value.kind() == Kind::True);
        Some(match name {
            b"type" => {
                let types = draft_types(draft, value)?;
                Keyword::Type { types, words: type_words(value) }
            }
            b"enum" => {
                let options = value.items().map(Literal::of).collect::<Option<_>>()?;
                Keyword::Enum { options, words: words(value) }
            }
            b"const" => Keyword::Const { value: Literal::of(value)?, words: words(value) },
            b"minimum" if excludes("exclusiveMinimum") => limit(Limit::ExclusiveMinimum)?,
            b"maximum" if excludes("exclusiveMaximum") => limit(Limit::ExclusiveMaximum)?,
            b"minimum" => limit(Limit::Minimum)?,
            b"maximum" => limit(Limit::Maximum)?,
            b"exclusiveMinimum" => limit(Limit::ExclusiveMinimum)?,
            b"exclusiveMaximum" => limit(Limit::ExclusiveMaximum)?,
            b"multipleOf" => Keyword::MultipleOf {
                number: PythonNumber::of(value)?,
                is_float: value.kind() != Kind::Int,
                words: words(value),
            },
            b"minLength" => length(Counted::Characters, false)?,
            b"maxLength" => length(Counted::Characters, true)?,
            b"minItems" => length(Counted::Items, false)?,
            b"maxItems" => length(Counted::Items, true)?,
            b"minProperties" => length(Counted::Properties, false)?,
            b"maxProperties" => length(Counted::Properties, true)?,
            b"pattern" => Keyword::Pattern(self.pattern(value.string()?.utf8()?)?),
            b"uniqueItems" => Keyword::UniqueItems,
            b"prefixItems" => Keyword::PrefixItems(self.schemas(place, value)),
            b"items" if value.kind() == Kind::Array => Keyword::PrefixItems(self.schemas(place, value)),
            b"additionalItems" => {
                let prefix = parent.get("items").map_or(0, Value::len);
                Keyword::AdditionalItems { prefix, schema: self.schema(place, value) }
            }
            b"items" => {
                let counts = draft::since(draft, Draft::Draft202012);
                let prefix = parent.get("prefixItems").filter(|_| counts).map_or(0, Value::len);
                Keyword::Items { prefix, schema: self.schema(place, value), counts }
            }
            b"unevaluatedItems" => Keyword::UnevaluatedItems(self.schema(place, value)),
            b"contains" if !draft::since(draft, Draft::Draft201909) => Keyword::ContainsAny(self.schema(place, value)),
            b"contains" => {
                let (least, most) = (parent.get("minContains"), parent.get("maxContains"));
                Keyword::Contains {
                    schema: self.schema(place, value),
                    least: least.map_or(Some(1.0), Value::float)?,
                    most: most.and_then(Value::float),
                    least_words: least.map_or_else(|| b"1".to_vec(), words),
                    most_words: most.map_or_else(Vec::new, words),
                }
            }
            b"properties" => Keyword::Properties(self.named(place, value)),
            b"patternProperties" => {
                let entries = value.entries().into_iter();
                let read =
                    |member: Member<'s>| Some((self.pattern(member.name().utf8()?)?, self.schema(place, member.value)));
                Keyword::PatternProperties(entries.map(read).collect::<Option<_>>()?)
            }
            b"additionalProperties" => {
                let text = |member: Member<'_>| Some(member.name().utf8()?.to_owned());
                let texts = |patterns: Value<'_>| patterns.entries().into_iter().map(text).collect();
                let mut patterns: Option<Vec<String>> = parent.get("patternProperties").and_then(texts);
                let joined = patterns.as_ref().map(|patterns| patterns.join("|")).filter(|text| !text.is_empty());
                if let Some(patterns) = &mut patterns {
                    patterns.sort_unstable();
                }
                Keyword::AdditionalProperties {
                    known: property_names(parent),
                    patterns,
                    joined: match joined {
                        Some(text) => Some(self.pattern(&text)?),
                        None => None,
                    },
                    schema: self.schema(place, value),
                    names: keys_of(draft, value),
                }
            }
            b"unevaluatedProperties" => {
                Keyword::UnevaluatedProperties { schema: self.schema(place, value), names: keys_of(draft, value) }
            }
            b"propertyNames" => Keyword::PropertyNames(self.schema(place, value)),
            b"required" => Keyword::Required(list_of_strings(value)?),
            b"dependencies" | b"dependentRequired" => self.dependencies(place, value)?,
            b"dependentSchemas" => Keyword::DependentSchemas(self.named(place, value)),
            b"allOf" => Keyword::AllOf(self.schemas(place, value)),
            b"anyOf" => Keyword::AnyOf(self.schemas(place, value)),
            b"oneOf" => {
                let schemas = self.schemas(place, value);
                Keyword::OneOf(schemas.into_iter().zip(value.items().map(words)).collect())
            }
            b"not" => Keyword::Not { schema: self.schema(place, value), words: words(value) },
            b"if" => Keyword::If {
                test: self.schema(place, value),
                then: parent.get("then").map(|then| self.schema(place, then)),
                otherwise: parent.get("else").map(|other| self.schema(place, other)),
            },
            b"$recursiveRef" => self.recursive(place)?,
            _ => self.reference(place, value)?,
        })
    }

    fn reference(&mut self, place: Site<'s>, value: Value<'s>) -> Option<Keyword> {
        let text = value.string()?;
        let Some(target) = text.utf8().and_then(|text| self.registry.lookup(place, text)) else {
            self.why = Some(shown!("reference \"{}\" has no target", Shown::line(text.bytes())));
            return None;
        };
        let anchors = target.dynamic.map(|name| self.registry.dynamic(&name));
        let dynamic = anchors.into_iter().flatten().map(|(uri, place)| (uri, self.at(place))).collect();
        Some(Keyword::Ref { schema: self.at(target.place), uri: target.uri, dynamic })
    }

    fn recursive(&mut self, place: Site<'s>) -> Option<Keyword> {
        let target = self.registry.lookup(place, "#")?;
        let anchors = self.registry.recursive();
        let is_anchor = anchors.iter().any(|(uri, _)| *uri == target.uri);
        let all = anchors.into_iter().map(|(uri, place)| (uri, self.at(place))).collect();
        Some(Keyword::Recursive { own: self.at(target.place), uri: target.uri, is_anchor, all })
    }
}

/// True if a key of a schema has a meaning by itself. A key that its draft does not define is an annotation.
fn speaks(place: Site<'_>, member: Member<'_>) -> bool {
    let name = member.name();
    let known = match name.bytes() {
        b"uniqueItems" => member.value.kind() == Kind::True,
        name => is_keyword(name),
    };
    known && draft::knows(place.draft, place.value, name.bytes())
}

fn keys_of(draft: Draft, schema: Value<'_>) -> Option<Vec<Vec<u8>>> {
    let keys = || schema.entries().into_iter().map(|member| member.name().bytes().to_vec()).collect();
    (draft == Draft::Draft201909).then(keys)
}

fn draft_types(draft: Draft, value: Value<'_>) -> Option<Vec<Type>> {
    let mut types = types(value)?;
    if draft == Draft::Draft4 {
        types.iter_mut().filter(|one| **one == Type::Integer).for_each(|one| *one = Type::Int);
    }
    Some(types)
}

fn words(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    python::repr(value, &mut out);
    out
}

fn list_of_strings(list: Value<'_>) -> Option<Vec<Vec<u8>>> {
    list.items().map(|item| Some(item.string()?.bytes().to_vec())).collect()
}

/// One or several type names.
fn type_names(value: Value<'_>) -> Vec<Value<'_>> {
    if value.kind() == Kind::Array { value.items().collect() } else { vec![value] }
}

fn types(value: Value<'_>) -> Option<Vec<Type>> {
    let one = |name: Value<'_>| {
        Some(match name.string()?.bytes() {
            b"null" => Type::Null,
            b"boolean" => Type::Boolean,
            b"integer" => Type::Integer,
            b"number" => Type::Number,
            b"string" => Type::String,
            b"array" => Type::Array,
            b"object" => Type::Object,
            _ => return None,
        })
    };
    type_names(value).into_iter().map(one).collect()
}

fn type_words(value: Value<'_>) -> Vec<u8> {
    type_names(value).into_iter().map(words).collect::<Vec<_>>().join(&b", "[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_the_program_that_cannot_be_read_refuses_every_value() {
        for broken in ["", "{", "7", r#"{"type": "strin"}"#, r##"{"$ref": "#/$defs/gone"}"##] {
            let schema = Schema::built_in(broken);
            for value in ["null", "{}", "[]", "\"a\"", "1"] {
                let mut tape = Tape::default();
                let fault = schema.judge(tape.parse(value.as_bytes()).unwrap());
                assert!(matches!(fault, Ok(Some(_))), "{broken} accepts {value}");
            }
        }
        let mut tape = Tape::default();
        let value = tape.parse(b"1").unwrap();
        assert!(matches!(Schema::built_in("true").judge(value), Ok(None)));
    }
}
