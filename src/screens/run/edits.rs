//! Edits of a record before its re-run: values before a step, and the prompt of a step. The record itself stays as it
//! is.

use crate::dialogs::editor::Editor;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Tape};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_present::values::one_line;
use stepscope_record::state::Moment;

/// A value in the place of the recorded one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The variable, by its place in the state.
    pub variable: usize,
    /// Name of the variable.
    pub name: Untrusted<'static>,
    /// The value, a JSON text.
    pub json: Vec<u8>,
    /// The value on one line.
    pub line: Shown,
    /// Kind of the value.
    pub kind: Kind,
}

/// Pending edits of a record.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edits {
    /// The values hold before this step, by position.
    pub step: usize,
    /// The values.
    pub values: Vec<Edit>,
    /// The prompt of a step, by position.
    pub prompt: Option<(usize, Untrusted<'static>)>,
}

impl Edits {
    /// Tells whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.prompt.is_none()
    }

    /// Tells whether a value cannot be changed before a step: others are already changed before another one.
    pub fn refuses(&self, step: usize) -> bool {
        !self.values.is_empty() && self.step != step
    }

    /// Changes a value before a step.
    pub fn set(&mut self, step: usize, variable: usize, name: Untrusted<'static>, json: Vec<u8>) {
        let mut tape = Tape::default();
        let (line, kind) = match tape.parse(&json) {
            Some(value) => (one_line(value), value.kind()),
            None => (Shown::line(&json), Kind::Null),
        };
        self.step = step;
        self.values.retain(|edit| edit.variable != variable);
        self.values.push(Edit { variable, name, json, line, kind });
    }

    /// Goes back to the recorded value.
    pub(crate) fn drop_value(&mut self, variable: usize) {
        self.values.retain(|edit| edit.variable != variable);
    }

    /// Returns the value that was set for a variable and holds at a moment, if the recorded one there was written up to
    /// `from`.
    pub fn at(&self, variable: usize, moment: Moment, from: Option<Moment>) -> Option<&Edit> {
        let holds = moment.0 >= self.step && from.is_none_or(|from| from.0 <= self.step);
        self.values.iter().find(|edit| holds && edit.variable == variable)
    }

    /// Returns the values as a branch takes them.
    pub fn pairs(&self) -> Vec<(Untrusted<'static>, Vec<u8>)> {
        self.values.iter().map(|edit| (edit.name.clone(), edit.json.clone())).collect()
    }
}

/// Typed text, read as a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Typed {
    /// Empty text: the recorded value is restored.
    Nothing,
    /// JSON.
    Json(Vec<u8>),
    /// Text that is not JSON, as a JSON string.
    Word(Vec<u8>),
}

impl Typed {
    /// Reads a text as it was typed.
    pub(crate) fn read(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Nothing;
        }
        let mut tape = Tape::default();
        if tape.read(text.as_bytes()) && tape.problems().is_empty() {
            return Self::Json(text.as_bytes().to_vec());
        }
        Self::Word(string(text))
    }
}

/// Renders a text as a JSON string.
pub(crate) fn string(text: &str) -> Vec<u8> {
    Style::ASCII.of(text)
}

/// Reads what was typed in an editor as a JSON text; `None`: nothing was typed. `plain`: the text is the value itself.
/// `Err`: it is no JSON, and the editor asks once whether it is meant as a text.
pub(crate) fn typed_value(editor: &mut Editor, plain: bool) -> Result<Option<Vec<u8>>, ()> {
    let text = editor.text();
    if plain {
        return Ok(Some(string(&text)));
    }
    match Typed::read(&text) {
        Typed::Nothing => Ok(None),
        Typed::Json(json) => Ok(Some(json)),
        Typed::Word(json) if editor.offered => Ok(Some(json)),
        Typed::Word(json) => {
            editor.offered = true;
            let word = Shown::line(&json);
            editor.said = Some(shown!("not JSON; the same key again uses it as the text {word}"));
            Err(())
        }
    }
}

/// Returns the text of a JSON string that is better edited as what it is.
pub(crate) fn plain_text(json: &[u8]) -> Option<String> {
    let mut tape = Tape::default();
    let value = tape.parse(json).filter(|value| value.kind() == Kind::String)?;
    let text = value.string()?.utf8()?.to_owned();
    (text.contains('\n') || text.len() > 60).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_json_or_offered_as_a_text() {
        for json in ["3", "-1.5e3", "\"a\"", "true", "null", "[1, {\"a\": 2}]"] {
            assert_eq!(Typed::read(json), Typed::Json(json.into()), "{json}");
        }
        for word in ["abc", "3 cars", "NaN", "{", "'a'", "1, 2", "01"] {
            assert_eq!(Typed::read(word), Typed::Word(string(word)), "{word}");
        }
        assert_eq!(Typed::read("  "), Typed::Nothing);
    }

    #[test]
    fn a_value_holds_until_a_later_step_writes_it_again() {
        let mut edits = Edits::default();
        edits.set(2, 0, "a".into(), b"7".to_vec());
        assert!(edits.refuses(1) && !edits.refuses(2));
        let at = |moment, from| edits.at(0, Moment(moment), Some(Moment(from))).is_some();
        assert!(!at(1, 1) && at(2, 2) && at(3, 1) && !at(3, 3));
        edits.set(2, 0, "a".into(), b"8".to_vec());
        assert_eq!(edits.pairs(), [("a".into(), b"8".to_vec())]);
        edits.drop_value(0);
        assert!(edits.is_empty() && !edits.refuses(1));
    }
}
