//! Files that programs write next to their records, and that are none: of Hugging Face `datasets` the descriptions of its
//! tables, of Burr the graph of an application.

use std::ffi::OsStr;
use std::path::Path;

use crate::source::cut::without_filler;
use crate::source::gathered;
use crate::source::open::{Blob, all_of};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_record::{RecordKind, formats};

/// A larger file is no description.
const MAX_DESCRIPTION: u64 = 16 << 20;

/// Tells whether a file in a folder describes the records next to it. Its name alone does not: a record may be called `state.json`.
pub(crate) fn is_description(path: &Path, blob: &Blob) -> bool {
    let fits: fn(Value<'_>) -> bool = match path.file_name().and_then(OsStr::to_str) {
        Some("state.json") => |root| is(Kind::Array, root.get("_data_files")) && root.get("_fingerprint").is_some(),
        Some("dataset_dict.json") => |root| root.len() == 1 && is(Kind::Array, root.get("splits")),
        Some("dataset_info.json") => describes,
        Some("dataset_infos.json") => |root| !root.is_empty() && root.members().all(|member| describes(member.value)),
        Some("graph.json" | "metadata.json") => gathered::is_description,
        _ => return false,
    };
    let Ok(text) = all_of(blob, MAX_DESCRIPTION, "cannot read") else { return false };
    let mut tape = Tape::default();
    tape.parse(without_filler(&text)).is_some_and(|root| {
        root.kind() == Kind::Object && fits(root) && formats::read(root).kind == RecordKind::Unknown
    })
}

/// Tells whether a value is the description of one dataset.
fn describes(info: Value<'_>) -> bool {
    info.get("features").is_some() && info.get("citation").is_some()
}

fn is(kind: Kind, value: Option<Value<'_>>) -> bool {
    value.is_some_and(|value| value.kind() == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::text::Shown;

    #[test]
    fn a_description_is_told_by_name_and_content() {
        const STATE: &str =
            r#"{"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_fingerprint": "4", "_split": null}"#;
        const INFO: &str = r#"{"citation": "", "description": "", "features": {"question": {"dtype": "string"}}}"#;
        let infos = format!(r#"{{"default": {INFO}}}"#);
        for (name, text, expected) in [
            ("state.json", STATE, true),
            ("dataset_info.json", INFO, true),
            ("dataset_dict.json", r#"{"splits": ["train", "test"]}"#, true),
            ("dataset_infos.json", infos.as_str(), true),
            ("other.json", STATE, false),
            ("state.json", r#"{"id": 1, "question": "?", "state": {}}"#, false),
            ("state.json", r#"{"id": 1, "question": "?", "state": {}, "_data_files": [], "_fingerprint": ""}"#, false),
            ("state.json", INFO, false),
            ("dataset_infos.json", "{}", false),
            ("dataset_info.json", "[]", false),
        ] {
            let blob = Blob::of_bytes(Shown::default(), text.as_bytes()).unwrap();
            assert_eq!(is_description(Path::new(name), &blob), expected, "{name}: {text}");
        }
    }
}
