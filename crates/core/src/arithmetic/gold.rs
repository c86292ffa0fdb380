//! The gold answer: the number at the end of its text (`#### 1,080`), and what in it cannot be right.

use crate::arithmetic::expression::{self, Expression, alone};
use crate::arithmetic::number::{Number, Written};
use crate::record::Record;
use stepscope_base::json::Value;

/// Longer gold answers are not looked through for calculations.
const MAX_TEXT: usize = 16_000;
/// More calculations are not worked out.
const MAX_ANNOTATIONS: usize = 100;

/// What the gold answer says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gold {
    /// The number to compare with.
    pub value: Number,
    /// It stands at the end of the gold text; else it is `gold_num`.
    pub from_text: bool,
    /// `gold_num` is another number than the one at the end of the text.
    pub misread: Option<Number>,
}

/// A calculation in the gold text: `<<48/2=24>>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// As it is written.
    pub text: String,
    /// What it says it gives.
    pub says: Written,
    /// What it gives.
    pub gives: Option<Number>,
    /// The number that stands behind it, with its unit: `<<12/3=4>>4`.
    pub printed: Option<Written>,
}

impl Annotation {
    /// Whether it is wrong.
    pub(crate) fn is_wrong(&self) -> bool {
        self.gives.is_some_and(|gives| !self.says.stands_for(gives))
    }

    /// The number behind the mark, where it is another one.
    pub(crate) fn contradiction(&self) -> Option<Number> {
        let (printed, says) = (self.printed?, self.says);
        let hundred = Number::whole(100);
        let percent = printed.value.over(hundred).is_some_and(|share| share.is_near(says.value));
        let same = percent || printed.stands_for(says.value) || says.stands_for(printed.value);
        (!same).then_some(printed.value)
    }

    /// What is calculated.
    pub fn calculation(&self) -> Option<Expression> {
        alone(self.text.rsplit_once('=')?.0)
    }
}

impl Gold {
    /// The gold number of a record; `None` where it has none.
    pub fn of(record: &Record<'_>) -> Option<Self> {
        let number = record.gold_num.and_then(Written::of).map(|written| written.value);
        let Some(value) = record.gold_answer.and_then(ending) else {
            return number.map(|value| Self { value, from_text: false, misread: None });
        };
        Some(Self { value, from_text: true, misread: number.filter(|number| !number.is_near(value)) })
    }
}

/// The number behind the last `####`.
fn ending(text: Value<'_>) -> Option<Number> {
    // Behind the mark hardly anything is escaped: the text before it need not be read.
    let raw = text.raw().strip_suffix(b"\"")?;
    let at = memchr::memrchr_iter(b'#', raw).find(|&at| raw.get(..=at).is_some_and(|head| head.ends_with(b"####")))?;
    let tail = std::str::from_utf8(raw.get(at + 1..)?).ok()?;
    let tail = tail.split('\\').next()?.trim();
    if let Some(number) = Written::parse(tail.as_bytes()) {
        return Some(number.value);
    }
    match expression::read(tail, &expression::Names::default()) {
        // 20% is compared as 20, as upstream reads it.
        expression::Reading::Number(_) if tail.contains('%') => {
            expression::numbers(tail).first().map(|(number, _)| number.value)
        }
        expression::Reading::Number(number) => Some(number.value),
        _ => None,
    }
}

/// The calculations of the gold text.
pub fn annotations(record: &Record<'_>) -> Vec<Annotation> {
    let Some(text) = record.gold_answer.and_then(Value::string) else { return Vec::new() };
    let Some(text) = text.utf8().filter(|text| text.len() <= MAX_TEXT) else { return Vec::new() };
    text.split("<<").skip(1).take(MAX_ANNOTATIONS).filter_map(annotation).collect()
}

fn annotation(text: &str) -> Option<Annotation> {
    let (inner, behind) = text.split_once(">>")?;
    let (left, right) = inner.rsplit_once('=')?;
    let says = Written::parse(right.trim().replace(',', "").as_bytes())?;
    let gives = alone(left).and_then(|calculation| calculation.evaluate(|_| None));
    Some(Annotation { text: inner.to_owned(), says, gives, printed: printed(behind) })
}

/// The number right behind a mark; of a fraction or a range nobody knows.
fn printed(text: &str) -> Option<Written> {
    let text = text.trim_start_matches('$');
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.'))).unwrap_or(text.len());
    let (number, behind) = text.split_at_checked(end)?;
    let plain = !behind.starts_with(['/', '-', ':', '–']) && number.starts_with(|c: char| c.is_ascii_digit());
    let number = number.trim_end_matches(['.', ',']).replace(',', "");
    plain.then(|| Written::parse(number.as_bytes()))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::formats;
    use stepscope_base::json::Tape;

    fn with<T>(gold: &str, then: impl FnOnce(&Record<'_>) -> T) -> T {
        let text = format!(r#"{{"id": 1, "question": "?", "gold_num": 80.0, "gold_answer": "{gold}", "state": {{}}}}"#);
        let mut tape = Tape::default();
        then(&formats::read(tape.parse(text.as_bytes()).unwrap()))
    }

    #[test]
    fn the_number_stands_at_the_end() {
        let value = |gold: &str| with(gold, |record| Gold::of(record).unwrap().value.shown());
        for (gold, number) in [
            ("x #### 1,080", "1080"),
            ("#### $42.50", "42.5"),
            ("####-3", "-3"),
            ("#### 20%", "20"),
            ("#### 1/2", "0.5"),
            ("none", "80"),
            ("#### 5 apples", "5"),
        ] {
            assert_eq!(value(gold), number, "{gold}");
        }
        assert!(with("#### 1,080", |record| Gold::of(record).unwrap().misread.is_some()));
    }

    #[test]
    fn wrong_calculations_are_told() {
        let wrong = |gold: &str| with(gold, |record| annotations(record).iter().filter(|mark| mark.is_wrong()).count());
        assert_eq!(wrong("a <<48/2=24>>24 <<24+48=72>> <<10/3=3.33>> <<+1+2=3>> <<18*.5=9.00>> <<1000*2=2,000>>"), 0);
        assert_eq!(wrong("a <<48/2=25>>24 <<x=1>> <<1=>> <<=2>> <<2*2=5"), 1);
        let other =
            |gold: &str| with(gold, |record| annotations(record).iter().filter_map(Annotation::contradiction).count());
        assert_eq!(other("<<7*3=21>>210 km"), 1);
        assert_eq!(
            other("<<7*3=21>>21. <<1/2=.5>>1/2 <<1/5=.2>>20% <<10/3=3.33>>3.333 <<9*9=81>> <<40*30=1200>>$1,200"),
            0
        );
    }
}
