//! The texts of a record in the table, apart from its columns of numbers.

use crate::case::CaseView;
use crate::recompute::answered_number;
use crate::rightness::said_for_zero;
use stepscope_arithmetic::stated::read_value;
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::{self, Shown};
use stepscope_record::messages::last_asked;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL};
use stepscope_record::{Record, RecordKind};

/// Largest number of bytes of a record from which a row's texts are made; a longer one is read when it is opened.
pub const MAX_ROW_TEXT: usize = 4 << 20;
/// A longer text is no number.
const MAX_NUMBER: usize = 60;
/// More of a text is never needed in one row.
const MAX_HEAD: usize = 480;

/// The texts of one row of the table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowTexts {
    /// The record's id.
    pub id: Shown,
    /// The gold number.
    pub gold: Shown,
    /// The final number or text; of a call its reply.
    pub pred: Shown,
    /// The question, else what best tells what the record is.
    pub title: Shown,
    /// Values that columns were chosen for, in their order.
    pub values: Vec<Shown>,
}

impl RowTexts {
    /// The texts of a record.
    pub fn of(record: &Record<'_>) -> Self {
        Self {
            id: record.id_text().map_or_else(Shown::default, |id| id.line()),
            gold: gold_text(record).unwrap_or_default(),
            pred: answered(record)
                .or_else(|| said_for_zero(record).map(|said| shown!("{}", said.value.shown())))
                .or_else(|| scalar(given(record)))
                .or_else(|| scalar(record.raw.filter(|_| record.kind == RecordKind::Call)))
                .unwrap_or_default(),
            title: title(record),
            values: Vec::new(),
        }
    }

    /// The texts of a case.
    pub fn of_case(case: &CaseView<'_>) -> Self {
        case.record.as_ref().map_or_else(|| Self::of_broken(case.text()), Self::of)
    }

    /// The texts of text that is not JSON: the text itself.
    pub fn of_broken(text: &[u8]) -> Self {
        Self { title: Shown::line(head(text)), ..Self::default() }
    }
}

/// Finds the value that is shown as the answer.
fn given<'a>(record: &Record<'a>) -> Option<Value<'a>> {
    let field = |key| record.answer.and_then(|answer| answer.get(key));
    let present = |value: Option<Value<'a>>| value.filter(|value| !value.is_null());
    present(record.pred_num)
        .or_else(|| present(field(FINAL_ANSWER_NUMERICAL)))
        .or_else(|| present(record.pred_answer))
        .or_else(|| present(field(FINAL_ANSWER)))
}

/// Returns the number that is shown as the answer; `None` where that is a text that states none.
pub fn given_number(record: &Record<'_>) -> Option<f64> {
    if let Some(said) = said_for_zero(record) {
        return Some(said.value.float());
    }
    let given = given(record)?;
    let written = || answered_number(given).filter(|_| given.raw().len() <= MAX_NUMBER);
    given.float().or_else(|| Some(written()?.value.float()))
}

/// Shows the values of a structured answer: the first, and the number of the others.
pub fn answered(record: &Record<'_>) -> Option<Shown> {
    let items = record.typed.as_ref()?.items();
    let (_, value) = items.iter().find_map(|item| item.value.as_ref())?;
    let first = value_text(*value)?;
    Some(if items.len() > 1 { shown!("{first} +{}", items.len() - 1) } else { first })
}

/// A value on one line: an amount with its currency, a date as ISO has it, anything else as it is written.
fn value_text(value: Value<'_>) -> Option<Shown> {
    let part = |key| value.get(key).and_then(|part| scalar(Some(part)));
    match (part("iso"), part("value"), part("currency")) {
        (Some(iso), _, _) => Some(iso),
        (None, Some(amount), Some(currency)) => Some(shown!("{amount} {currency}")),
        _ => scalar(Some(value)),
    }
}

/// The question, of a conversation what was asked last, else the procedure's name or the error that ended the run: by what a person knows the record again.
/// Nothing of it is ever hidden from a reviewer.
pub fn question(record: &Record<'_>) -> Option<Shown> {
    question_up_to(record, MAX_HEAD)
}

/// The same, from the first bytes of its text.
pub fn question_up_to(record: &Record<'_>, bytes: usize) -> Option<Shown> {
    let procedure = record.procedure;
    let name = procedure.and_then(|value| value.get("NameDescription").or_else(|| value.get("name_description")));
    let asked = record.question.and_then(last_asked).map(|asked| Shown::line(text::head(&asked, bytes)));
    asked.or_else(|| [record.question, name, record.error].into_iter().find_map(|value| scalar_up_to(value, bytes)))
}

fn title(record: &Record<'_>) -> Shown {
    question(record)
        .or_else(|| (record.kind == RecordKind::Answer).then(|| scalar(record.answer?.get("final_answer"))).flatten())
        .or_else(|| answered(record))
        .unwrap_or_else(|| Shown::line(head(record.root.raw())))
}

/// The gold number as the worked gold answer ends (`#### 1,080`), else as the record has it, as a number or as an answer
/// that is nothing else. `gold_num` alone is wrong where the text has a thousands comma.
pub fn gold_text(record: &Record<'_>) -> Option<Shown> {
    let worked = record.gold_answer.and_then(Value::string);
    let ending = worked.as_ref().and_then(|text| {
        let at = memchr::memmem::rfind(text.bytes(), b"####")?;
        let ending = text.bytes().get(at + 4..)?.trim_ascii();
        (!ending.is_empty()).then(|| Shown::line(head(ending)))
    });
    let is_short = |answer: &Value<'_>| answer.raw().len() <= MAX_NUMBER && read_value(*answer).is_some();
    let whole = || scalar(record.gold_answer.filter(is_short));
    ending.or_else(|| scalar(record.gold_num)).or_else(whole)
}

fn scalar(value: Option<Value<'_>>) -> Option<Shown> {
    scalar_up_to(value, MAX_HEAD)
}

fn scalar_up_to(value: Option<Value<'_>>, bytes: usize) -> Option<Shown> {
    let value = value.filter(|value| !value.is_null())?;
    if value.kind() == Kind::String {
        return value.string().map(|text| Shown::line(text::head(text.bytes(), bytes)));
    }
    Some(Shown::line(text::head(value.raw(), bytes)))
}

fn head(bytes: &[u8]) -> &[u8] {
    text::head(bytes, MAX_HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;
    use stepscope_record::formats;

    #[test]
    fn a_typed_answer_shows_its_question_and_its_first_value() {
        let shown = |text: &str| {
            let mut tape = Tape::default();
            let texts = RowTexts::of(&formats::read(tape.parse(text.as_bytes()).unwrap()));
            (texts.title.into_string(), texts.pred.into_string())
        };
        let items = r#"[{"amount": {"value": 1200.0, "currency": "USD"}, "spans": []}, {"text": "x", "spans": []}]"#;
        let trace = format!(
            r#"{{"format": "stepscope.answer_trace", "question": "How much?", "answer": {{"items": {items}}}}}"#
        );
        assert_eq!(shown(&trace), ("How much?".into(), "1200.0 USD +1".into()));
        let date =
            r#"{"answer_found": true, "items": [{"date": {"iso": "2024-03-15", "original": "x"}, "spans": []}]}"#;
        assert_eq!(shown(date), ("2024-03-15".into(), "2024-03-15".into()));
        assert_eq!(
            shown(r#"{"format": "stepscope.answer_trace", "question": "?", "answer": null}"#),
            ("?".into(), String::new())
        );
    }

    #[test]
    fn a_row_shows_the_gold_text_not_the_misread_number() {
        let mut tape = Tape::default();
        let text = br#"{"id": 7, "question": "How\u001b[31m many?", "gold_answer": "x\n#### 1,080", "gold_num": 80.0, "state": {}}"#;
        let texts = RowTexts::of(&formats::read(tape.parse(text).unwrap()));
        assert_eq!(texts.gold.as_str(), "1,080");
        assert_eq!(texts.id.as_str(), "7");
        assert_eq!(texts.title.as_str(), "How␛[31m many?");
    }
}
