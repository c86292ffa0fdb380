//! The formats of records: each recognises its own by content, never by file name, and says where its parts are.

use crate::format::Format;
use crate::{Record, RecordKind};
use stepscope_base::json::{Kind, Value};
use stepscope_base::list;

/// Every format, in the order in which they are asked.
pub const FORMATS: &[Format] = &[
    typed::TRACE,
    chain::FORMAT,
    procedure::INDIVIDUAL,
    run::FORMAT,
    procedure::FORMAT,
    answer::FORMAT,
    verified::FORMAT,
    call::FORMAT,
    typed::FORMAT,
];

/// The keys under which every format has a text, also one that is JSON: a model's reply is judged as it came.
pub const TEXTS: &[&str] = list![
    completion error error_type gold_answer ground_truth_solution id model_solution pred_answer problem prompt question raw
    reply response solution
];

/// The keys whose `null` says something: that a chain has no mistake, that nothing is to be asked back.
pub const NULLS: &[&str] = list![mistake_index suggested_clarification];

/// The keys that columns of tables can be read as.
pub const KEYS: &[&str] = list![
    answer answer_found answer_schema choice_rationale chain choices completion confidence correct details doc_id document error
    error_type expected_answer extraction_method final_answer final_answer_bool final_answer_numerical fitness folder format
    generator gold_answer gold_num ground_truth_solution id input is_correct items label level meta mistake_index mode model
    model_answer model_output_steps model_solution name_description notes output_steps page_num parsed_question pred_answer
    pred_num problem proc procedure prompt question raw reasoning_steps reply response retrieved_pages reward row_index
    schema solution state status steps success target trace uuid version NameDescription
];

/// Reads a value as the first format that recognises it; of no known shape, it is kept as it is.
pub fn read(root: Value<'_>) -> Record<'_> {
    if root.kind() == Kind::Object
        && let Some(format) = FORMATS.iter().find(|format| (format.recognise)(root))
    {
        return (format.read)(root);
    }
    Record::bare(RecordKind::Unknown, root)
}

pub mod answer;
pub(crate) mod call;
pub mod chain;
pub mod foreign;
pub mod procedure;
pub mod run;
pub mod typed;
pub(crate) mod verified;

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    #[test]
    fn every_example_is_recognised_by_its_own_format_alone() {
        for format in FORMATS {
            let mut tape = Tape::default();
            let root = tape.parse(format.example.as_bytes()).expect(format.id);
            let first = FORMATS.iter().find(|other| (other.recognise)(root)).expect(format.id);
            assert_eq!(first.id, format.id);
            assert_ne!(read(root).kind, RecordKind::Unknown);
        }
    }

    #[test]
    fn what_pandas_makes_floats_means_the_same() {
        fn read(text: &str) -> (RecordKind, Option<String>, Option<bool>) {
            let mut tape = Tape::default();
            let record = super::read(tape.parse(text.as_bytes()).unwrap());
            (record.kind, record.id_text().and_then(|id| id.utf8().map(str::to_owned)), record.correct)
        }
        for text in [
            r#"{"id": 7, "question": "?", "state": {}, "correct": true}"#,
            r#"{"id": 7, "question": "?", "steps": ["a"], "is_correct": true}"#,
            r#"{"id": 7, "prompt": "?", "completion": "x", "reward": 1, "success": true}"#,
        ] {
            let (kind, id, correct) = read(text);
            assert_eq!((id.as_deref(), correct), (Some("7"), Some(true)), "{text}");
            assert_eq!(read(&text.replace('7', "7.0").replace("true", "1.0")), (kind, id, correct), "{text}");
            assert_eq!(read(&text.replace("true", "0.0")).2, Some(false), "{text}");
            assert_eq!(read(&text.replace('7', "7.25").replace("true", "0.5")), (kind, Some("7.25".to_owned()), None));
        }
    }

    #[test]
    fn the_keys_of_every_example_can_be_mapped() {
        for format in FORMATS {
            let mut tape = Tape::default();
            let root = tape.parse(format.example.as_bytes()).expect(format.id);
            for member in root.members() {
                let name = member.name();
                assert!(KEYS.iter().any(|key| name == *key), "{}: {name:?}", format.id);
            }
        }
    }

    #[test]
    fn anything_else_is_kept_as_unknown() {
        for text in ["{}", "{\"a\": 1}", "[1]", "null", "\"procedure\""] {
            let mut tape = Tape::default();
            assert_eq!(read(tape.parse(text.as_bytes()).unwrap()).kind, RecordKind::Unknown, "{text}");
        }
    }
}
