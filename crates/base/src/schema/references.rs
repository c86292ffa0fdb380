//! Where the references of a schema lead: its resources and anchors by address, as Python's `referencing` finds them.
//!
//! Nothing is ever fetched. Beside the schema itself only the published metaschemas are known.

use std::collections::HashMap;
use std::sync::LazyLock;

use stepscope_schema::Draft;

use super::draft::{named, since};
use crate::json::{Kind, Tape, Value};
use crate::text::Untrusted;

/// The metaschemas of drafts 4 to 2020-12 and their vocabularies, one per line.
const METASCHEMAS: &str = include_str!("metaschemas.jsonl");

/// The metaschema with an address.
pub(super) fn metaschema(uri: &str) -> Option<&'static str> {
    let uri = uri.trim_end_matches('#');
    let [bare, hash] = ["", "#"].map(|end| format!("id\":\"{uri}{end}\""));
    METASCHEMAS.lines().find(|line| line.contains(&bare) || line.contains(&hash))
}

/// The metaschemas, read.
fn metaschemas() -> &'static [(Tape, &'static [u8])] {
    static READ: LazyLock<Vec<(Tape, &'static [u8])>> = LazyLock::new(|| {
        let read = |line: &'static str| {
            let mut tape = Tape::default();
            tape.read(line.as_bytes());
            (tape, line.as_bytes())
        };
        METASCHEMAS.lines().map(read).collect()
    });
    &READ
}

/// Number of an address; 0 is that of a schema that has none.
pub(super) type Uri = usize;

/// A schema in one of the texts, with what it inherits from what stands around it.
#[derive(Clone, Copy)]
pub(super) struct Site<'s> {
    /// Number of the text.
    pub(super) text: usize,
    pub(super) value: Value<'s>,
    /// References are resolved against this address.
    pub(super) base: Uri,
    pub(super) draft: Draft,
}

impl<'s> Site<'s> {
    /// Key that tells it from all other places.
    pub(super) fn key(self) -> (usize, usize) {
        (self.text, self.value.index())
    }

    /// A value inside of it.
    pub(super) fn inside(self, value: Value<'s>) -> Self {
        Self { value, ..self }
    }
}

/// Target of a reference.
pub(super) struct Target<'s> {
    pub(super) place: Site<'s>,
    /// The address of the resource, without what follows `#`.
    pub(super) uri: Uri,
    /// It is an anchor that resources around it may redefine.
    pub(super) dynamic: Option<String>,
}

/// All resources and anchors.
pub(super) struct Registry<'s> {
    uris: Vec<String>,
    numbers: HashMap<String, Uri>,
    /// Members of the large objects that references lead through, by name.
    members: HashMap<(usize, usize), HashMap<Untrusted<'s>, Value<'s>>>,
    resources: HashMap<Uri, Site<'s>>,
    anchors: HashMap<(Uri, String), (Site<'s>, bool)>,
    /// Base and draft of every schema that was found from the root by known keywords.
    known: HashMap<(usize, usize), (Uri, Draft)>,
    texts: usize,
}

/// The members of an object of more are looked up by name.
const INDEXED: usize = 64;

/// Keywords whose value is a schema, a list of schemas, or, for `items` and `dependencies`, either or neither.
const IN_VALUE: &str = "additionalItems additionalProperties contains contentSchema else if items not propertyNames then \
    unevaluatedItems unevaluatedProperties allOf anyOf oneOf prefixItems";
/// Keywords whose value holds schemas by name.
const BY_NAME: &str = "$defs definitions dependencies dependentSchemas patternProperties properties";

impl<'s> Registry<'s> {
    /// With the resources of a schema.
    pub(super) fn new(root: Value<'s>, draft: Draft) -> Self {
        let mut registry = Self {
            uris: vec![String::new()],
            numbers: HashMap::from([(String::new(), 0)]),
            members: HashMap::new(),
            resources: HashMap::new(),
            anchors: HashMap::new(),
            known: HashMap::new(),
            texts: 0,
        };
        registry.add(root, draft);
        registry
    }

    fn add(&mut self, root: Value<'s>, draft: Draft) {
        let place = Site { text: self.texts, value: root, base: 0, draft };
        self.texts += 1;
        if place.text == 0 {
            self.resources.insert(0, place);
        }
        let mut open = vec![place];
        while let Some(parent) = open.pop() {
            if parent.value.kind() != Kind::Object || self.known.contains_key(&parent.key()) {
                continue;
            }
            let place = self.enter(parent);
            self.known.insert(place.key(), (place.base, place.draft));
            for member in place.value.entries() {
                let name = member.name();
                let is = |names: &str| names.split(' ').any(|known| name == known);
                match member.value.kind() {
                    Kind::Object if is(BY_NAME) => open.extend(member.value.members().map(|m| place.inside(m.value))),
                    Kind::Object if is(IN_VALUE) => open.push(place.inside(member.value)),
                    Kind::Array if is(IN_VALUE) => open.extend(member.value.items().map(|item| place.inside(item))),
                    _ => {}
                }
            }
        }
    }

    /// Takes in the draft, the address and the anchors that a schema declares.
    fn enter(&mut self, mut place: Site<'s>) -> Site<'s> {
        // The draft of the first schema is known already, whatever it names.
        if place.key() != (0, 0)
            && let Some(draft) = named(place.value)
        {
            place.draft = draft;
        }
        let new = since(place.draft, Draft::Draft201909);
        let key = if place.draft == Draft::Draft4 { "id" } else { "$id" };
        let text = |key: &str| place.value.get(key).and_then(Value::string).and_then(|id| Some(id.utf8()?.to_owned()));
        let id = text(key);
        let is_local = |id: &str| !new && (id.starts_with('#') || place.value.get("$ref").is_some());
        if let Some(id) = id.as_deref().filter(|id| !is_local(id)) {
            let uri = join(self.uris.get(place.base).map_or("", String::as_str), id.trim_end_matches('#'));
            place.base = self.number(uri.trim_end_matches('#'));
            self.resources.entry(place.base).or_insert(place);
        }
        let anchors = match place.draft {
            Draft::Draft4 | Draft::Draft6 | Draft::Draft7 => {
                [id.and_then(|id| Some(id.strip_prefix('#')?.to_owned())), None]
            }
            Draft::Draft201909 => [text("$anchor"), None],
            _ => [text("$anchor"), text("$dynamicAnchor")],
        };
        for (name, dynamic) in anchors.into_iter().zip([false, true]) {
            if let Some(name) = name {
                self.anchors.insert((place.base, name), (place, dynamic));
            }
        }
        place
    }

    fn number(&mut self, uri: &str) -> Uri {
        let next = self.uris.len();
        *self.numbers.entry(uri.to_owned()).or_insert_with(|| {
            self.uris.push(uri.to_owned());
            next
        })
    }

    /// The place with the base and the draft that hold there.
    pub(super) fn settle(&self, place: Site<'s>) -> Site<'s> {
        match self.known.get(&place.key()) {
            Some(&(base, draft)) => Site { base, draft, ..place },
            None => place,
        }
    }

    fn resource(&mut self, uri: &str) -> Option<(Uri, Site<'s>)> {
        let uri = uri.trim_end_matches('#');
        let find = |registry: &Self| {
            let number = *registry.numbers.get(uri)?;
            Some((number, *registry.resources.get(&number)?))
        };
        find(self).or_else(|| {
            if self.texts > 1 || metaschema(uri).is_none() {
                return None;
            }
            for (tape, text) in metaschemas() {
                self.add(tape.root(text)?, Draft::Draft202012);
            }
            find(self)
        })
    }

    /// Target of a reference in a place; `None`: unknown.
    pub(super) fn lookup(&mut self, from: Site<'s>, reference: &str) -> Option<Target<'s>> {
        let base = self.uris.get(from.base)?.clone();
        let (uri, fragment) = if let Some(fragment) = reference.strip_prefix('#') {
            (base, fragment.to_owned())
        } else {
            let whole = join(&base, reference);
            let (uri, fragment) = whole.split_once('#').unwrap_or((&whole, ""));
            (uri.to_owned(), fragment.to_owned())
        };
        let (uri, resource) = self.resource(&uri)?;
        if fragment.is_empty() {
            return Some(Target { place: resource, uri, dynamic: None });
        }
        if let Some(pointer) = fragment.strip_prefix('/') {
            return Some(Target { place: self.walk(resource, pointer)?, uri, dynamic: None });
        }
        let (place, dynamic) = *self.anchors.get(&(uri, fragment.clone()))?;
        Some(Target { place, uri, dynamic: dynamic.then_some(fragment) })
    }

    fn walk(&mut self, resource: Site<'s>, pointer: &str) -> Option<Site<'s>> {
        let mut place = resource;
        for part in unquoted(pointer)?.split('/') {
            let name = part.replace("~1", "/").replace("~0", "~");
            let value = match place.value.kind() {
                Kind::Array => place.value.items().nth(name.parse().ok()?)?,
                _ => self.member(place, &name)?,
            };
            place = self.settle(place.inside(value));
        }
        Some(place)
    }

    /// A chain of references through one object would go through all its members for each.
    fn member(&mut self, place: Site<'s>, name: &str) -> Option<Value<'s>> {
        if place.value.members().nth(INDEXED).is_none() {
            return place.value.get(name);
        }
        let named = || place.value.members().map(|member| (member.name(), member.value)).collect();
        self.members.entry(place.key()).or_insert_with(named).get(&Untrusted::new(name.as_bytes())).copied()
    }

    /// Every resource that has a dynamic anchor of this name.
    pub(super) fn dynamic(&self, name: &str) -> Vec<(Uri, Site<'s>)> {
        let named = self.anchors.iter().filter(|((_, own), (_, dynamic))| *dynamic && own == name);
        named.map(|((uri, _), (place, _))| (*uri, *place)).collect()
    }

    /// Every resource that is a recursive anchor.
    pub(super) fn recursive(&self) -> Vec<(Uri, Site<'s>)> {
        let is_anchor = |place: &Site<'_>| {
            let anchor = place.value.get("$recursiveAnchor");
            anchor.is_some_and(|anchor| anchor.kind() == Kind::True)
        };
        let anchors = self.resources.iter().filter(|(_, place)| is_anchor(place));
        anchors.map(|(uri, place)| (*uri, *place)).collect()
    }
}

/// `%25` and the like, undone; `None` where what comes of it is no text.
fn unquoted(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| {
            let digits =
                std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
            u8::from_str_radix(digits?, 16).ok()
        });
        out.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(out).ok()
}

/// The address of a reference, as `urllib.parse.urljoin` makes it.
fn join(base: &str, reference: &str) -> String {
    if base.is_empty() || reference.is_empty() || scheme(reference).is_some() {
        return if reference.is_empty() { base } else { reference }.to_owned();
    }
    let scheme = scheme(base);
    if !matches!(scheme, None | Some("http" | "https" | "file" | "ftp")) {
        return reference.to_owned();
    }
    let begin = scheme.map_or(0, |scheme| scheme.len() + 1);
    let rest = &base[begin..];
    let authority = if rest.starts_with("//") {
        rest.get(2..).and_then(|rest| rest.find(['/', '?', '#'])).map_or(rest.len(), |end| end + 2)
    } else {
        0
    };
    let before = &base[..begin + authority];
    let path = rest[authority..].split(['?', '#']).next().expect("a split has a first part");
    if reference.starts_with("//") {
        return format!("{}{reference}", &base[..begin]);
    }
    if reference.starts_with(['?', '#']) {
        return format!("{before}{path}{reference}");
    }
    let (wanted, tail) = reference.split_at(reference.find(['?', '#']).unwrap_or(reference.len()));
    let merged = if wanted.starts_with('/') {
        wanted.to_owned()
    } else {
        let folder = path.rfind('/').and_then(|end| path.get(..=end)).unwrap_or(if authority > 0 { "/" } else { "" });
        format!("{folder}{wanted}")
    };
    let mut parts: Vec<&str> = Vec::new();
    let last = merged.split('/').next_back();
    for part in merged.split('/') {
        match part {
            "." => {}
            ".." => parts.truncate(parts.len().saturating_sub(1).max(1)),
            _ => parts.push(part),
        }
    }
    if matches!(last, Some("." | "..")) {
        parts.push("");
    }
    format!("{before}{}{tail}", parts.join("/"))
}

fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_part)).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `urllib.parse.urljoin` of CPython 3.11.
    #[test]
    fn addresses_are_joined_as_in_python() {
        for (base, reference, whole) in [
            ("", "a.json#/b", "a.json#/b"),
            ("http://x.test/a/b.json", "c.json", "http://x.test/a/c.json"),
            ("http://x.test/a/b.json", "/c.json", "http://x.test/c.json"),
            ("http://x.test/a/b.json", "../c.json", "http://x.test/c.json"),
            ("http://x.test/a/b.json", "../../c.json", "http://x.test/c.json"),
            ("http://x.test", "c.json", "http://x.test/c.json"),
            ("http://x.test/a?q#f", "#g", "http://x.test/a#g"),
            ("http://x.test/a", "//y.test/b", "http://y.test/b"),
            ("http://x.test/a/", "./b/", "http://x.test/a/b/"),
            ("http://x.test/a", "https://y.test/b", "https://y.test/b"),
            ("urn:uuid:1", "b", "b"),
            ("a/b", "c", "a/c"),
            ("a", "c", "c"),
        ] {
            assert_eq!(join(base, reference), whole, "{base} {reference}");
        }
    }

    #[test]
    fn metaschemas_are_known_by_their_addresses() {
        for uri in [
            "http://json-schema.org/draft-04/schema",
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft/2019-09/meta/core",
            "https://json-schema.org/draft/2020-12/schema",
        ] {
            assert!(metaschema(uri).is_some(), "{uri}");
        }
        assert!(metaschema("https://json-schema.org/draft/2020-12").is_none());
        assert!(metaschema("").is_none());
    }
}
