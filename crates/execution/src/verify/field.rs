//! The field of a record that holds the text to verify.

use stepscope_base::json::{Kind, Value};
use stepscope_base::text::Shown;

/// A field of a record: a key, keys with dots between (`output.0.text`), or a JSON pointer (`/output/0/text`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldPath {
    text: String,
    parts: Vec<String>,
}

impl FieldPath {
    /// Understands a field as it is written.
    pub fn new(text: &str) -> Self {
        let parts = match text.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect(),
            None => text.split('.').map(str::to_owned).collect(),
        };
        Self { text: text.to_owned(), parts }
    }

    /// As it was written, for messages.
    pub fn shown(&self) -> Shown {
        Shown::line(self.text.as_bytes())
    }

    /// The value of a record there. A key that is written like the whole field comes first.
    pub fn find<'a>(&self, record: Value<'a>) -> Option<Value<'a>> {
        record.get(&self.text).or_else(|| {
            self.parts.iter().try_fold(record, |value, part| match value.kind() {
                Kind::Array => value.items().nth(part.parse().ok()?),
                _ => value.get(part),
            })
        })
    }
}

impl Default for FieldPath {
    fn default() -> Self {
        Self::new("completion")
    }
}
