//! Rows of other programs, read as records by a map: a TOML file that says where each key of a record is.
//!
//! A map is chosen by the paths that every row must have (`match`), or by the person who names it. The maps that are
//! part of the program are files of the same form.

use std::path::Path as FilePath;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::failure::Failure;
use crate::source::block::{Block, Cursor, Want};
use crate::source::columns::{json_key, room_for_all};
use crate::source::cut::{Layout, without_filler};
use crate::source::open::{Blob, read_small_text};
use stepscope_base::json::{MAX_TEXT, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::formats::KEYS;

mod attempt;
mod expression;
mod path;

pub use attempt::Attempt;
pub(crate) use attempt::attempt;

use expression::Expression;
use path::Path;

/// A map is written by hand.
const MAX_FILE: u64 = 1 << 20;
/// Lines are written to where they are kept in pieces of this size.
const PIECE: usize = 1 << 18;

/// The maps that are part of the program, in the order in which they are asked.
static BUILT_IN: LazyLock<Vec<RowMap>> = LazyLock::new(|| {
    FILES.into_iter().filter_map(|(name, text)| RowMap::parse(text, &Shown::own(name)).ok()).collect()
});

/// Names and texts of the maps that are part of the program.
pub const FILES: [(&str, &str); 12] = [
    // Before the one for texts, which its rows would fit too.
    ("lm_eval_choice", include_str!("maps/lm_eval_choice.toml")),
    ("lm_eval", include_str!("maps/lm_eval.toml")),
    ("promptfoo", include_str!("maps/promptfoo.toml")),
    ("deepeval", include_str!("maps/deepeval.toml")),
    ("dspy_evaluate", include_str!("maps/dspy_evaluate.toml")),
    ("dspy_history", include_str!("maps/dspy_history.toml")),
    ("verl", include_str!("maps/verl.toml")),
    ("halo_forge_benchmark", include_str!("maps/halo_forge_benchmark.toml")),
    ("litellm", include_str!("maps/litellm.toml")),
    ("sharegpt", include_str!("maps/sharegpt.toml")),
    ("messages", include_str!("maps/messages.toml")),
    ("preference", include_str!("maps/preference.toml")),
];

/// A map as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(rename = "match", default)]
    marks: Vec<String>,
    rows: Option<String>,
    #[serde(rename = "where")]
    condition: Option<toml::Value>,
    record: toml::Table,
}

/// Places of the keys of a record in a row.
#[derive(Clone, PartialEq, Debug)]
pub struct RowMap {
    name: Shown,
    marks: Vec<Path>,
    rows: Option<Path>,
    condition: Option<Expression>,
    keys: Vec<(String, Expression)>,
}

impl RowMap {
    /// Reads the map in a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no map; the reason names the line.
    pub fn read(path: &FilePath) -> Result<Self, Failure> {
        Self::parse(&read_small_text(path, MAX_FILE, "cannot read the map")?, &Shown::path(path))
    }

    fn parse(text: &str, file: &Shown) -> Result<Self, Failure> {
        let fail = |why: Shown| Failure { what: "cannot use the map", path: file.clone(), source: why };
        let written: Written =
            toml::from_str(text).map_err(|error| fail(Shown::line(error.to_string().trim().as_bytes())))?;
        let path =
            |text: &String| Path::parse(text).map_err(|why| fail(shown!("{}: {why}", Shown::line(text.as_bytes()))));
        let mut keys = Vec::new();
        for (key, value) in &written.record {
            if !KEYS.contains(&key.as_str()) {
                return Err(fail(shown!(
                    "record.{}: no such key; the keys are {}",
                    Shown::line(key.as_bytes()),
                    Shown::line(KEYS.join(", ").as_bytes())
                )));
            }
            let expression = Expression::parse(value)
                .map_err(|why| fail(shown!("record.{}: {why}", Shown::line(key.as_bytes()))))?;
            keys.push((key.clone(), expression));
        }
        if keys.is_empty() {
            return Err(fail(Shown::own("its table [record] is empty; write for example question = \"$.input\"")));
        }
        let condition = written.condition.as_ref().map(Expression::parse).transpose();
        Ok(Self {
            name: Shown::line(written.name.as_bytes()),
            marks: written.marks.iter().map(path).collect::<Result<_, _>>()?,
            rows: written.rows.as_ref().map(path).transpose()?,
            condition: condition.map_err(|why| fail(shown!("where: {why}")))?,
            keys,
        })
    }

    /// A map that fits every row, and gives it no key.
    pub(crate) fn any_row() -> Self {
        Self { name: Shown::default(), marks: Vec::new(), rows: None, condition: None, keys: Vec::new() }
    }

    /// Returns its name.
    pub(crate) const fn name(&self) -> &Shown {
        &self.name
    }

    /// Tells whether a value has everything that a row of it must have.
    pub(crate) fn fits(&self, row: Value<'_>) -> bool {
        !self.marks.is_empty() && self.marks.iter().all(|mark| mark.first(row).is_some())
    }

    /// Lists the rows of a value: those that it holds, or itself. Empty: it is not of this map.
    fn rows_of<'v>(&self, root: Value<'v>) -> Vec<Value<'v>> {
        if self.fits(root) {
            return vec![root];
        }
        let inside = self.rows.as_ref().map_or_else(Vec::new, |rows| rows.all(root));
        if inside.first().is_some_and(|row| self.fits(*row)) { inside } else { Vec::new() }
    }

    /// Appends a row as a record on a line; `false`: the row is left out.
    fn append(&self, row: Value<'_>, out: &mut Vec<u8>) -> bool {
        if self.condition.as_ref().is_some_and(|condition| condition.value(row).as_deref() != Some(b"true")) {
            return false;
        }
        out.push(b'{');
        let values = self.keys.iter().filter_map(|(key, expression)| Some((key, expression.value(row)?)));
        for (n, (key, value)) in values.enumerate() {
            json_key(n, key.as_bytes(), out);
            out.extend_from_slice(&value);
        }
        out.extend_from_slice(b"}\n");
        true
    }
}

/// Records that a map made.
pub(crate) struct Mapped {
    /// One JSON line a row, in order.
    pub lines: Blob,
    /// Name of the map that was used, and what was left out.
    pub note: Shown,
}

/// Finds the map of a row, or of a document that holds rows.
pub(crate) fn map_of<'m>(root: Value<'_>, named: Option<&'m RowMap>) -> Option<&'m RowMap> {
    match named {
        Some(map) => (map.marks.is_empty() || !map.rows_of(root).is_empty()).then_some(map),
        None => BUILT_IN.iter().find(|map| !map.rows_of(root).is_empty()),
    }
}

/// Tells whether what begins like this may be a document whose rows lie deeper than its beginning tells.
pub(crate) fn may_hold_rows(head: &[u8]) -> bool {
    let is_key = |map: &&RowMap| {
        let key = map.rows.as_ref().and_then(Path::first_key);
        key.is_some_and(|key| memchr::memmem::find(head, format!("\"{key}\"").as_bytes()).is_some())
    };
    without_filler(head).starts_with(b"{") && BUILT_IN.iter().any(|map| is_key(&map))
}

/// Reads all records of a file by its map. What is no row of it stays as it is, and is said to be unknown.
pub(crate) fn read(blob: &Arc<Blob>, layout: Layout, map: &RowMap) -> Result<Mapped, Failure> {
    const LARGER: &str = "its rows are far larger as records than the file is; name fewer keys";
    let (lines, mut at, mut left_out) = (Blob::in_memory(blob.name().clone())?, 0, 0);
    let (mut room, mut piece) = (room_for_all(blob.len()? as usize), Vec::new());
    each_value(blob, layout, &mut |root, text| {
        let rows = root.map_or_else(Vec::new, |root| map.rows_of(root));
        // A map without marks takes whatever a person gives it.
        let rows = if rows.is_empty() && map.marks.is_empty() { root.into_iter().collect() } else { rows };
        for row in &rows {
            left_out += usize::from(!map.append(*row, &mut piece));
            if piece.len() > room {
                return Err(Failure::own("cannot read", blob.name(), LARGER));
            }
        }
        if rows.is_empty() {
            let parts: Vec<&[u8]> = text.split(|byte| matches!(byte, b'\n' | b'\r')).collect();
            piece.extend(parts.join(&b' '));
            piece.push(b'\n');
        }
        if piece.len() >= PIECE {
            room = room.saturating_sub(piece.len());
            lines.append(&piece, at)?;
            at += piece.len() as u64;
            piece.clear();
        }
        Ok(())
    })?;
    lines.append(&piece, at)?;
    let said = shown!("read as {}", map.name());
    let note = if left_out > 0 { shown!("{said}; {left_out} rows left out by its condition") } else { said };
    Ok(Mapped { lines, note })
}

/// Takes a value, `None` where it is broken, with its text.
type ValueTaker<'a> = dyn FnMut(Option<Value<'_>>, &[u8]) -> Result<(), Failure> + 'a;

/// Goes through the values of a file, as records are read.
fn each_value(blob: &Arc<Blob>, layout: Layout, act: &mut ValueTaker<'_>) -> Result<(), Failure> {
    const LONG: &str = "one of its values is longer than 64 MB; write its rows as JSON lines";
    let (mut cursor, mut block, mut tape) = (Cursor::new(blob.clone(), layout), Block::default(), Tape::default());
    while cursor.next(&mut block, u64::MAX, Want::Bytes)? {
        if block.long.is_some_and(|len| len > MAX_TEXT as u64) {
            return Err(Failure::own("cannot read", blob.name(), LONG));
        }
        block.cuts.iter().try_for_each(|cut| act(tape.parse(block.text(cut)), block.text(cut)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_record::RecordKind;
    use stepscope_record::formats;

    fn read_by(text: &str, map: &RowMap) -> (Vec<String>, String) {
        let blob = Arc::new(Blob::of_bytes(Shown::own("t"), text.as_bytes()).unwrap());
        let read = read(&blob, Layout::of(text.as_bytes(), true).unwrap(), map).unwrap();
        let mut lines = Vec::new();
        read.lines.read(0, read.lines.len().unwrap() as usize, &mut lines).unwrap();
        let lines = String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect();
        (lines, read.note.as_str().to_owned())
    }

    fn map(text: &str) -> Result<RowMap, String> {
        RowMap::parse(text, &Shown::own("m.toml")).map_err(|failure| failure.to_string())
    }

    #[test]
    fn every_built_in_map_is_read_and_makes_records() {
        assert_eq!(BUILT_IN.len(), FILES.len(), "each is read");
        for (name, row, kind, parts) in [
            (
                "samples of lm-evaluation-harness",
                r#"{"doc_id": 3, "doc": {"question": "9 * 9?"}, "target": "81", "arguments": {}, "resps": [["so 81"]], "filtered_resps": ["81"], "filter": "strict", "doc_hash": "ab", "exact_match": 1.0}"#,
                RecordKind::Baseline,
                &[r#""id":"ab strict""#, r#""correct":true"#, r#""pred_answer":"81""#, r#""raw":"so 81""#][..],
            ),
            (
                "choices of lm-evaluation-harness",
                r#"{"doc_id": 0, "doc": {"question": "?"}, "target": "1", "arguments": {}, "resps": [[["-2.5", "False"]], [["-0.5", "False"]]], "filtered_resps": [["-2.5", "False"], ["-0.5", "False"]], "filter": "none", "doc_hash": "cd", "acc": 0}"#,
                RecordKind::Baseline,
                &[r#""pred_answer":"1""#, r#""correct":false"#],
            ),
            (
                "results of promptfoo",
                r#"{"testIdx": 0, "promptIdx": 1, "provider": {"label": "small"}, "prompt": {"raw": "?"}, "score": 0.5, "success": false, "failureReason": 1, "error": "too long", "gradingResult": {"reason": "too long"}, "response": {"output": {"a": 1.50}}}"#,
                RecordKind::Call,
                &[r#""id":"0 1 small""#, r#""completion":"{\"a\":1.50}""#, r#""details":"too long""#],
            ),
            (
                "rollouts of verl",
                r#"{"input": "?", "output": "9", "gts": "200", "score": 0.0, "step": 5}"#,
                RecordKind::Call,
                &[r#""success":false"#, r#""reward":0.0"#],
            ),
            (
                "conversations of ShareGPT",
                r#"{"id": "x", "conversations": [{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "4"}]}"#,
                RecordKind::Call,
                &[r#""response":"4""#, r#""prompt":[{"from":"human","value":"2 + 2?"}]"#],
            ),
            (
                "calls that LiteLLM logged",
                r#"{"id": "x", "call_type": "acompletion", "status": "failure", "model": "m", "model_parameters": {}, "messages": [{"role": "user", "content": "?"}], "response": {}, "error_str": "timed out"}"#,
                RecordKind::Call,
                &[r#""response":"""#, r#""error":"timed out""#],
            ),
            (
                "conversations",
                r#"{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "add", "arguments": "{\"a\": 2}"}}]}]}"#,
                RecordKind::Call,
                &[r#""response":"add({\"a\":2})""#, r#""prompt":[{"role":"user","content":"2 + 2?"}]"#],
            ),
            (
                "preference pairs",
                r#"{"prompt": [{"role": "user", "content": "2 + 2?"}], "chosen": [{"role": "assistant", "content": "4"}], "rejected": [{"role": "assistant", "content": "5"}]}"#,
                RecordKind::Call,
                &[r#""response":"4""#, r#""choices":[{"role":"assistant","content":"5"}]"#],
            ),
        ] {
            let mut tape = Tape::default();
            let map = map_of(tape.parse(row.as_bytes()).unwrap(), None).expect(name);
            assert_eq!(map.name().as_str(), name);
            let (lines, note) = read_by(row, map);
            assert_eq!(note, format!("read as {name}"));
            let mut tape = Tape::default();
            let line = lines[0].as_bytes();
            assert_eq!(formats::read(tape.parse(line).unwrap()).kind, kind, "{lines:?}");
            for part in parts {
                assert!(lines[0].contains(part), "{part}: {lines:?}");
            }
        }
    }

    #[test]
    fn rows_are_found_in_lines_lists_and_documents_and_others_stay() {
        let rows = map(
            "name = 't'\nmatch = ['$.q', '$.a']\nrows = '$.all.rows[*]'\n[record]\nprompt = '$.q'\nresponse = '$.a'",
        )
        .unwrap();
        let made = [r#"{"prompt":"1","response":"x"}"#, r#"{"prompt":"2","response":"y"}"#];
        let (one, two) = (r#"{"q": "1", "a": "x"}"#, r#"{"q": "2", "a": "y"}"#);
        for text in [
            format!("{one}\n{two}\n"),
            format!("[{one},\n {two}]"),
            format!("{{\"all\": {{\n\"rows\": [{one}, {two}]}}}}"),
        ] {
            assert_eq!(read_by(&text, &rows).0, made, "{text}");
        }
        let (lines, _) = read_by(&format!("{one}\n{{\"other\": 1}}\nbroken\n{two}"), &rows);
        assert_eq!(lines, [made[0], "{\"other\": 1}", "broken", made[1]]);
    }

    #[test]
    fn a_condition_leaves_rows_out_and_that_is_said() {
        let rows = map("name = 't'\nmatch = ['$.q']\nwhere = { path = '$.f', equals = 'a' }\n[record]\nprompt = '$.q'\nmodel = 'm'").unwrap();
        let (lines, note) = read_by("{\"q\": 1, \"f\": \"a\"}\n{\"q\": 2, \"f\": \"b\"}\n{\"q\": 3}\n", &rows);
        assert_eq!(lines, [r#"{"model":"m","prompt":1}"#]);
        assert_eq!(note, "read as t; 2 rows left out by its condition");
    }

    #[test]
    fn what_is_no_map_says_why() {
        for (text, why) in [
            ("name = 't'", "missing field `record`"),
            ("name = 't'\n[record]\n", "[record] is empty"),
            ("name = 't'\n[record]\nanswr = '$.a'", "no such key"),
            ("name = 't'\n[record]\nanswer = '$.a['", "not closed"),
            ("name = 't'\n[record]\nanswer = { from = '$.a' }", "write a path"),
            ("name = 't'\nmatch = ['a']\n[record]\nanswer = '$.a'", "begins with $"),
        ] {
            assert!(map(text).is_err_and(|said| said.contains(why)), "{text}: {:?}", map(text));
        }
    }
}
