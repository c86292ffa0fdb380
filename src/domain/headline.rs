//! What the table of records shows of one record beside its columns of numbers.

use super::json::{Kind, Value};
use super::record::{Record, RecordKind};
use super::text::Shown;

/// More of a text is never needed in one row.
const MAX_HEAD: usize = 480;

/// The texts of one row of the table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Headline {
    /// The record's id.
    pub id: Shown,
    /// The gold number.
    pub gold: Shown,
    /// The final number or text.
    pub pred: Shown,
    /// The question, else what best tells what the record is.
    pub title: Shown,
}

impl Headline {
    /// The headline of a record.
    pub fn of(record: &Record<'_>) -> Self {
        let letter = record.answer.and_then(|answer| answer.get("final_answer"));
        Self {
            id: record.id_text().map(|id| id.line()).unwrap_or_default(),
            gold: gold_text(record).unwrap_or_default(),
            pred: scalar(record.pred_num)
                .or_else(|| scalar(record.answer.and_then(|answer| answer.get("final_answer_numerical"))))
                .or_else(|| scalar(record.pred_answer))
                .or_else(|| scalar(letter))
                .unwrap_or_default(),
            title: title(record),
        }
    }

    /// The headline of text that is not JSON: the text itself.
    pub fn of_broken(text: &[u8]) -> Self {
        Self { title: Shown::line(head(text)), ..Self::default() }
    }
}

fn title(record: &Record<'_>) -> Shown {
    let procedure = record.procedure;
    let name = procedure.and_then(|value| value.get("NameDescription").or_else(|| value.get("name_description")));
    scalar(record.question)
        .or_else(|| scalar(name))
        .or_else(|| scalar(record.error))
        .or_else(|| (record.kind == RecordKind::Answer).then(|| scalar(record.answer?.get("final_answer"))).flatten())
        .unwrap_or_else(|| Shown::line(head(record.root.raw())))
}

/// The gold number as the worked gold answer ends (`#### 1,080`), else as the record has it. `gold_num` alone is wrong
/// where the text has a thousands comma.
pub fn gold_text(record: &Record<'_>) -> Option<Shown> {
    let worked = record.gold_answer.and_then(Value::string);
    let ending = worked.as_ref().and_then(|text| {
        let at = memchr::memmem::rfind(text.bytes(), b"####")?;
        let ending = text.bytes().get(at + 4..)?.trim_ascii();
        (!ending.is_empty()).then(|| Shown::line(head(ending)))
    });
    ending.or_else(|| scalar(record.gold_num))
}

fn scalar(value: Option<Value<'_>>) -> Option<Shown> {
    let value = value.filter(|value| !value.is_null())?;
    if value.kind() == Kind::String {
        return value.string().map(|text| Shown::line(head(text.bytes())));
    }
    Some(Shown::line(head(value.raw())))
}

fn head(bytes: &[u8]) -> &[u8] {
    super::text::head(bytes, MAX_HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::formats;
    use crate::domain::json::Tape;

    #[test]
    fn a_row_shows_the_gold_text_not_the_misread_number() {
        let mut tape = Tape::default();
        let text = br#"{"id": 7, "question": "How\u001b[31m many?", "gold_answer": "x\n#### 1,080", "gold_num": 80.0, "state": {}}"#;
        let headline = Headline::of(&formats::read(tape.parse(text).unwrap()));
        assert_eq!(headline.gold.as_str(), "1,080");
        assert_eq!(headline.id.as_str(), "7");
        assert_eq!(headline.title.as_str(), "How␛[31m many?");
    }
}
