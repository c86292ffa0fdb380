//! Some members of an object, chosen by their paths: `id,triage.fix,findings.rule`.

use std::fmt;

use stepscope_base::json::write::{Json, Object, Raw, Style, Writer};
use stepscope_base::json::{Kind, Tape, Value};

/// Value of a member that is not there.
pub(super) const NULL: Raw<&str> = Raw("null");

/// The members that were chosen. Through a list a path goes into each of its items.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fields(Vec<(String, Self)>);

/// A list of fields that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadField(pub String);

impl fmt::Display for BadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadField {}

impl std::str::FromStr for Fields {
    type Err = BadField;

    fn from_str(text: &str) -> Result<Self, BadField> {
        let mut fields = Self::default();
        for path in text.split(',').map(str::trim).filter(|path| !path.is_empty()) {
            if path.split('.').any(|key| key.trim().is_empty()) {
                return Err(BadField(format!(
                    "\"{path}\" has an empty part; separate keys with dots, as in triage.fix"
                )));
            }
            fields.add(path);
        }
        if fields.0.is_empty() { Err(BadField("name at least one field".to_owned())) } else { Ok(fields) }
    }
}

impl Fields {
    fn add(&mut self, path: &str) {
        let mut at = self;
        let mut keys = path.split('.').map(str::trim).peekable();
        while let Some(key) = keys.next() {
            let place = at.0.iter().position(|(known, _)| known == key);
            let is_new = place.is_none();
            if is_new {
                at.0.push((key.to_owned(), Self::default()));
            }
            let place = place.unwrap_or(at.0.len() - 1);
            let Some((_, inner)) = at.0.get_mut(place) else { return };
            match keys.peek() {
                // All of it was asked for, here or before.
                None => return inner.0.clear(),
                Some(_) if !is_new && inner.0.is_empty() => return,
                Some(_) => at = inner,
            }
        }
    }

    /// Adds a member that stands at the top.
    pub fn also(&mut self, name: &str) {
        self.add(name);
    }

    /// Finds the first field that is none of those known (`triage.fix`; in `record.*` is anything): its path, and what
    /// could stand there.
    pub fn unknown<'k>(&self, known: &[&'k str]) -> Option<(String, Vec<&'k str>)> {
        if known.contains(&"*") {
            return None;
        }
        self.0.iter().find_map(|(name, inner)| {
            let below = known.iter().filter_map(|path| path.strip_prefix(name.as_str())?.strip_prefix('.'));
            let below: Vec<&str> = below.collect();
            if below.is_empty() && !known.contains(&name.as_str()) {
                let mut here: Vec<&str> = known.iter().filter_map(|path| path.split('.').next()).collect();
                here.dedup();
                return Some((name.clone(), here));
            }
            let (path, here) = inner.unknown(&below).filter(|_| !below.is_empty())?;
            Some((format!("{name}.{path}"), here))
        })
    }

    /// The first keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Appends the chosen members as a line, in the order in which they were asked for. `put` writes one, where there is
    /// one; what is absent is `null`: each line has the same keys.
    pub fn line(&self, out: &mut Vec<u8>, put: impl Fn(&str, &mut Object<'_>) -> bool) {
        Style::ASCII.line(out, |object| {
            for (name, inner) in &self.0 {
                if !inner.0.is_empty() {
                    let whole = Style::ASCII.object(|object| {
                        put(name, object);
                    });
                    let mut tape = Tape::default();
                    match tape.parse(&whole).and_then(|whole| whole.get(name)) {
                        Some(member) => object.put(name, Picked(member, inner)),
                        None => object.put(name, NULL),
                    };
                } else if !put(name, object) {
                    object.put(name, NULL);
                }
            }
        });
    }

    /// Appends the chosen members of an object as a line, in the order in which they were asked for. What it lacks is
    /// `null`: each line has the same keys.
    pub fn pick(&self, line: &[u8], out: &mut Vec<u8>) {
        let mut tape = Tape::default();
        match tape.parse(line) {
            Some(object) => Style::ASCII.append(Picked(object, self), out),
            None => out.extend_from_slice(line.trim_ascii_end()),
        }
        out.push(b'\n');
    }
}

/// Value reduced to the picked fields.
struct Picked<'v, 'f>(Value<'v>, &'f Fields);

impl Json for Picked<'_, '_> {
    fn write(&self, writer: &mut Writer<'_>) {
        let Self(value, fields) = self;
        match value.kind() {
            _ if fields.0.is_empty() => value.write(writer),
            Kind::Array => writer.list(value.items(), |item, writer| Picked(item, fields).write(writer)),
            Kind::Object => writer.object(|object| {
                for (name, inner) in &fields.0 {
                    match value.get(name) {
                        Some(member) => object.put(name, Picked(member, inner)),
                        None => object.put(name, NULL),
                    };
                }
            }),
            _ => value.write(writer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(fields: &str) -> String {
        let line =
            br#"{"id": 7, "triage": {"fix": "gold", "step": null}, "findings": [{"rule": "a/b", "n": 1.0}, {"n": 2}]}"#;
        let mut out = Vec::new();
        fields.parse::<Fields>().unwrap().pick(line, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_are_chosen_by_their_paths() {
        for (fields, expected) in [
            ("id", r#"{"id":7}"#),
            ("triage.fix, id", r#"{"triage":{"fix":"gold"},"id":7}"#),
            ("findings.rule", r#"{"findings":[{"rule":"a/b"},{"rule":null}]}"#),
            ("findings.rule,findings.n", r#"{"findings":[{"rule":"a/b","n":1.0},{"rule":null,"n":2}]}"#),
            ("triage.fix,triage", r#"{"triage":{"fix":"gold","step":null}}"#),
            ("triage,triage.fix", r#"{"triage":{"fix":"gold","step":null}}"#),
            ("triage.step.deep,nothing", r#"{"triage":{"step":null},"nothing":null}"#),
        ] {
            assert_eq!(picked(fields), format!("{expected}\n"), "{fields}");
        }
    }

    #[test]
    fn fields_that_are_nowhere_are_found() {
        let known = ["id", "triage.fix", "triage.why.rule", "findings.rule", "record.*"];
        let unknown = |fields: &str| fields.parse::<Fields>().unwrap().unknown(&known);
        for fields in ["id", "triage", "triage.why", "triage.why.rule,findings", "record.any.thing", "record", "id.x"] {
            assert_eq!(unknown(fields), None, "{fields}");
        }
        assert_eq!(unknown("id,idd"), Some(("idd".to_owned(), vec!["id", "triage", "findings", "record"])));
        assert_eq!(unknown("triage.fixx"), Some(("triage.fixx".to_owned(), vec!["fix", "why"])));
        assert_eq!(unknown("triage.why.text"), Some(("triage.why.text".to_owned(), vec!["rule"])));
        assert_eq!(unknown("triage.*"), Some(("triage.*".to_owned(), vec!["fix", "why"])));
    }

    #[test]
    fn an_empty_part_is_refused() {
        for fields in ["", ",", "a..b", ".a", "a."] {
            assert!(fields.parse::<Fields>().is_err(), "{fields}");
        }
    }
}
