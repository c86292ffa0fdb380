//! A map tried on a file: what leads where, what is left over, and a first map where there is none.

use std::sync::Arc;

use super::path::Path;
use super::{RowMap, each_value, map_of};
use crate::failure::Failure;
use crate::source::cut::Layout;
use crate::source::open::Blob;
use stepscope_base::json::Value;
use stepscope_base::text::Shown;

/// Number of bytes that are shown of a value.
const SHOWN: usize = 60;
/// Names under which programs keep what a record needs, for each key of a record.
const USUAL: [(&str, &[&str]); 8] = [
    ("id", &["id", "uuid", "custom_id", "sample_id", "task_id", "key", "index"]),
    ("question", &["question", "query", "problem", "input", "prompt", "instruction"]),
    (
        "gold_answer",
        &["expected", "expected_output", "expectedOutput", "target", "reference", "gold", "label", "ground_truth"],
    ),
    (
        "pred_answer",
        &["output", "response", "completion", "answer", "prediction", "pred", "actualOutput", "generated_text"],
    ),
    ("correct", &["correct", "success", "passed", "pass", "is_correct", "acc"]),
    ("reward", &["reward", "score"]),
    ("details", &["reason", "details", "explanation", "feedback"]),
    ("model", &["model", "model_name", "model_id"]),
];

/// Result of a map for the first row of a file.
#[derive(Debug)]
pub struct Attempt {
    /// Name of the map; `None`: none fits.
    pub map: Option<Shown>,
    /// Keys of the record, each with its value, which may be missing.
    pub keys: Vec<(Shown, Option<Shown>)>,
    /// Paths of the row that the map does not read, each with its value.
    pub left_over: Vec<(Shown, Shown)>,
    /// A first map, made of the names in the row; empty where a map fits.
    pub draft: String,
}

/// Tries a map on the first row of a file, else the one that fits.
///
/// # Errors
/// When the file cannot be read, or begins with no JSON.
pub(crate) fn attempt(blob: &Arc<Blob>, layout: Layout, named: Option<&RowMap>) -> Result<Attempt, Failure> {
    let mut made = None;
    each_value(blob, layout, &mut |root, _| {
        made = made.take().or_else(|| root.map(|root| of_row(root, named)));
        Ok(())
    })?;
    made.ok_or_else(|| Failure::own("cannot try", blob.name(), "it begins with no JSON and is no table"))
}

fn of_row(root: Value<'_>, named: Option<&RowMap>) -> Attempt {
    let map = map_of(root, named);
    let row = map.and_then(|map| map.rows_of(root).first().copied()).unwrap_or(root);
    let keys = map.map_or(&[][..], |map| &map.keys);
    let is_read = |leaf: &Path| {
        let mut paths = keys.iter().flat_map(|(_, expression)| expression.paths());
        paths.any(|path| path.meets(leaf)) || map.is_some_and(|map| map.marks.iter().any(|mark| mark == leaf))
    };
    let leaves = Path::leaves(row);
    let left_over = leaves.iter().filter(|(leaf, _)| !is_read(leaf));
    let left_over =
        left_over.map(|(leaf, value)| (Shown::line(leaf.to_string().as_bytes()), short(value.raw()))).collect();
    Attempt {
        map: map.map(|map| map.name().clone()),
        keys: keys
            .iter()
            .map(|(key, expression)| (Shown::line(key.as_bytes()), expression.value(row).map(|json| short(&json))))
            .collect(),
        left_over,
        draft: if map.is_some() { String::new() } else { draft(&leaves) },
    }
}

fn short(json: &[u8]) -> Shown {
    Shown::line(json).shortened(SHOWN)
}

/// Writes a map of the names in a row, for a person to go on with.
fn draft(leaves: &[(Path, Value<'_>)]) -> String {
    let named = |names: &[&str]| {
        let of_name = |name: &&str| leaves.iter().find(|(leaf, _)| leaf.last_key() == Some(*name));
        names.iter().find_map(of_name).map(|(leaf, _)| leaf.to_string())
    };
    let found: Vec<(&str, String)> = USUAL.iter().filter_map(|(key, names)| Some((*key, named(names)?))).collect();
    let marks: Vec<String> = found
        .iter()
        .filter(|(key, _)| matches!(*key, "question" | "pred_answer"))
        .map(|(_, path)| quoted(path))
        .collect();
    let keys: Vec<String> = found.iter().map(|(key, path)| format!("{key} = {}", quoted(path))).collect();
    format!(
        "name = \"rows of my program\"\n# Paths that every row has.\nmatch = [{}]\n\n[record]\nmode = \"baseline\"\nstatus = \"ok\"\n{}\n",
        marks.join(", "),
        keys.join("\n")
    )
}

/// Returns a path as a text of TOML.
fn quoted(path: &str) -> String {
    toml::Value::String(path.to_owned()).to_string()
}
