//! The expected answer: the number at the end of its text (`#### 1,080`), and what in it cannot be right.

use std::borrow::Cow;

use stepscope_arithmetic::expression::{Expression, Worked, alone, plain_signs, worked};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::stated::{Stated, of_number, read, read_value};
use stepscope_base::json::Value;
use stepscope_record::Record;

/// Longer expected answers are not looked through for calculations.
const MAX_TEXT: usize = 16_000;
/// More calculations are not worked out.
const MAX_ANNOTATIONS: usize = 100;

/// Number of the expected answer, and its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Gold {
    /// The number to compare with.
    pub value: Number,
    /// Digits behind its point, as written.
    decimals: u32,
    /// True if it is from the expected answer's text; else it is `gold_num`.
    pub from_text: bool,
    /// `gold_num` is another number than the one at the end of the text.
    pub misread: Option<Number>,
    /// The words that it was read from, where they are more than digits.
    words: Option<Box<Stated>>,
}

/// Calculation in the text of the expected answer: `<<48/2=24>>`, or `48/2 = $24` where there are no marks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// As it is written.
    pub text: String,
    /// Result as the text states it.
    pub says: Written,
    /// Result of the calculation.
    pub gives: Option<Number>,
    /// Number behind it, with its unit: `<<12/3=4>>4`.
    pub printed: Option<Written>,
    /// Calculation, parsed.
    pub calculation: Option<Expression>,
    /// The sentence around it.
    pub line: String,
    /// True if it is in a mark, which a calculator was to carry out.
    pub marked: bool,
    wrong: bool,
}

impl Annotation {
    /// Tells whether the stated result is wrong.
    pub(crate) const fn is_wrong(&self) -> bool {
        self.wrong
    }

    /// The number behind the mark, where it is another one.
    pub(crate) fn contradiction(&self) -> Option<Number> {
        let (printed, says) = (self.printed?, self.says);
        let hundred = Number::whole(100);
        let percent = printed.value.over(hundred).is_some_and(|share| share.is_near(says.value));
        let same = percent || printed.stands_for(says.value) || says.stands_for(printed.value);
        (!same).then_some(printed.value)
    }
}

/// An expected number as it was read.
struct ExpectedNumber {
    value: Number,
    decimals: u32,
    words: Option<Box<Stated>>,
}

impl ExpectedNumber {
    fn of(words: Stated) -> Option<Self> {
        let Written { value, decimals } = words.number()?;
        Some(Self { value, decimals, words: Some(Box::new(words)) })
    }

    const fn plain(written: Written) -> Self {
        Self { value: written.value, decimals: written.decimals, words: None }
    }

    fn is(&self, number: Number) -> bool {
        self.value.is_near(number) || self.words.as_ref().is_some_and(|words| words.says(number))
    }
}

impl Gold {
    /// A number that is taken for the expected one, though no record says so.
    pub(crate) const fn assumed(value: Number) -> Self {
        Self { value, decimals: 0, from_text: false, misread: None, words: None }
    }

    /// Reads the expected number of a record; `None` where it has none. The number behind `####` counts, else `gold_num`,
    /// else an expected answer that is a number in words or digits, or announces one.
    pub fn of(record: &Record<'_>) -> Option<Self> {
        let number = record.gold_num.and_then(in_value);
        let of = |found: ExpectedNumber, from_text, misread| {
            let ExpectedNumber { value, decimals, words } = found;
            Self { value, decimals, from_text, misread, words }
        };
        if let Some(found) = record.gold_answer.and_then(at_end) {
            let misread = number.map(|number| number.value).filter(|number| !found.is(*number));
            return Some(of(found, true, misread));
        }
        if let Some(number) = number {
            return Some(of(number, false, None));
        }
        record.gold_answer.and_then(in_value).map(|found| of(found, true, None))
    }

    /// Returns the expected answer with the words that it was read from.
    pub(crate) fn stated(&self) -> Cow<'_, Stated> {
        match &self.words {
            Some(words) => Cow::Borrowed(words),
            None => Cow::Owned(of_number(Written { value: self.value, decimals: self.decimals })),
        }
    }
}

/// Reads an expected answer that is no number: a letter, yes or no, a text.
pub(crate) fn expected_words(record: &Record<'_>) -> Option<Stated> {
    let in_text = |value: Value<'_>| {
        if value.string().is_none() {
            return read_value(value);
        }
        let text = ending(value).or_else(|| Some(value.string()?.utf8()?.to_owned()))?;
        read(&text).filter(|words| words.is_announced)
    };
    record.gold_answer.and_then(in_text).or_else(|| record.gold_num.and_then(in_text))
}

/// Reads a value that is a number, or a text that is or announces one.
fn in_value(value: Value<'_>) -> Option<ExpectedNumber> {
    let Some(text) = value.string() else { return Written::of(value).map(ExpectedNumber::plain) };
    let text = text.utf8()?.trim();
    match Written::parse(text.as_bytes()) {
        Some(written) => Some(ExpectedNumber::plain(written)),
        None => read(text).filter(|words| words.is_announced).and_then(ExpectedNumber::of),
    }
}

/// Reads the number behind the last `####`.
fn at_end(text: Value<'_>) -> Option<ExpectedNumber> {
    let tail = ending(text)?;
    match Written::parse(tail.as_bytes()) {
        Some(written) => Some(ExpectedNumber::plain(written)),
        None => read(&tail).and_then(ExpectedNumber::of),
    }
}

/// Returns the line behind the last `####`.
fn ending(text: Value<'_>) -> Option<String> {
    const MARK: &[u8] = b"####";
    let raw = text.raw().strip_suffix(b"\"")?;
    let behind = |text: &[u8]| memchr::memmem::rfind(text, MARK).map(|at| at + MARK.len());
    let escape = memchr::memrchr(b'\\', raw);
    let tail: Cow<'_, [u8]> = match behind(raw) {
        // The usual case: the text before it need not be read.
        Some(at) if escape.is_none_or(|escape| escape < at) => raw.get(at..)?.into(),
        None if escape.is_none() => return None,
        _ => {
            let text = text.string()?;
            text.bytes().get(behind(text.bytes())?..)?.to_owned().into()
        }
    };
    let tail = std::str::from_utf8(&tail).ok()?.trim_start();
    Some(tail.split(['\n', '\r']).next()?.trim_end().to_owned())
}

/// Worked text of an expected answer: its calculations, and the text behind them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Working {
    /// Every calculation with its result, in order.
    pub calculations: Vec<Annotation>,
    /// Text behind the last of them.
    pub behind: String,
}

impl Working {
    /// Lists every number that its calculations give, with those of their parts.
    pub(crate) fn results(&self) -> Vec<Number> {
        let mut values = Vec::new();
        for one in &self.calculations {
            values.push(one.says.value);
            values.extend(one.gives);
            let Some(calculation) = &one.calculation else { continue };
            let operands = calculation.numbers();
            let parts = calculation.values(|_| None).into_iter().flatten();
            values.extend(parts.filter(|part| !operands.contains(part)));
        }
        values
    }
}

/// Reads the calculations in the text of the expected answer, marked or as people write them.
pub(crate) fn working(record: &Record<'_>) -> Working {
    let mut all = Working::default();
    let Some(text) = record.gold_answer.and_then(Value::string) else { return all };
    let Some(text) = text.utf8().filter(|text| text.len() <= MAX_TEXT) else { return all };
    let body = text.rsplit_once("####").map_or(text, |(body, _)| body);
    for line in body.lines() {
        let before = all.calculations.len();
        all.calculations.extend(line.split("<<").skip(1).filter_map(|mark| marked(mark, line)));
        let tail = line.rsplit_once(">>").map_or(line, |(_, behind)| printed_end(behind));
        let plain = plain_signs(tail);
        let found = worked(&plain);
        let behind = found.last().map_or(plain.as_ref(), |last| &plain[last.range.end..]).to_owned();
        all.calculations.extend(found.into_iter().map(|one| unmarked(one, line)));
        if all.calculations.len() > before {
            all.behind = behind;
        } else {
            all.behind.push('\n');
            all.behind.push_str(&behind);
        }
        if all.calculations.len() > MAX_ANNOTATIONS {
            break;
        }
    }
    all
}

fn marked(text: &str, line: &str) -> Option<Annotation> {
    let (inner, behind) = text.split_once(">>")?;
    let (left, right) = inner.rsplit_once('=')?;
    let says = Written::parse(right.trim().replace(',', "").as_bytes())?;
    let calculation = alone(left);
    let gives = calculation.as_ref().and_then(|calculation| calculation.evaluate(|_| None));
    let wrong = gives.is_some_and(|gives| !says.stands_for(gives));
    let (text, line) = (inner.to_owned(), line.to_owned());
    Some(Annotation { text, says, gives, printed: printed(behind), calculation, line, marked: true, wrong })
}

fn unmarked(one: Worked, line: &str) -> Annotation {
    let wrong = one.is_wrong();
    Annotation {
        text: one.text,
        says: one.says,
        gives: Some(one.gives),
        printed: None,
        calculation: Some(one.expression),
        line: line.to_owned(),
        marked: false,
        wrong,
    }
}

/// Returns the text behind the number that a mark prints.
fn printed_end(text: &str) -> &str {
    text.trim_start_matches(|c: char| c == '$' || c.is_ascii_digit() || matches!(c, ',' | '.'))
}

/// Reads the number right behind a mark; `None` for a fraction or a range.
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
    use stepscope_base::json::Tape;
    use stepscope_record::formats;

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
            ("#### $ 1,080", "1080"),
            ("####- 2", "2"),
            ("#### -2", "-2"),
            ("#### $-44", "-44"),
            ("#### USD 44", "44"),
            ("#### 44 km/h!", "44"),
            ("#### Total: 44", "44"),
            ("####-3", "-3"),
            ("#### 20%", "20"),
            ("#### 1/2", "0.5"),
            ("none", "80"),
            ("#### 5 apples", "5"),
            ("#### 1.5 million", "1500000"),
        ] {
            assert_eq!(value(gold), number, "{gold}");
        }
        assert!(with("#### 1,080", |record| Gold::of(record).unwrap().misread.is_some()));
    }

    #[test]
    fn an_expected_answer_that_is_nothing_but_a_number_counts() {
        let read = |fields: &str| {
            let text = format!(r#"{{"id": 1, "question": "?", {fields}, "state": {{}}}}"#);
            let mut tape = Tape::default();
            Gold::of(&formats::read(tape.parse(text.as_bytes()).unwrap())).map(|gold| gold.value.shown())
        };
        for (fields, number) in [
            (r#""gold_answer": "42""#, Some("42")),
            (r#""gold_answer": 42"#, Some("42")),
            (r#""gold_answer": " -1,080.50 ""#, Some("-1080.5")),
            (r#""gold_answer": "$1,080""#, Some("1080")),
            (r#""gold_answer": "20%""#, Some("20")),
            (r#""gold_answer": "3/4""#, Some("0.75")),
            (r#""gold_num": "1,080""#, Some("1080")),
            (r#""gold_num": "42""#, Some("42")),
            (r#""gold_num": "many", "gold_answer": "42""#, Some("42")),
            // What is given as the number counts, as for upstream.
            (r#""gold_num": 43, "gold_answer": "42""#, Some("43")),
            (r#""gold_answer": "42 apples""#, Some("42")),
            (r#""gold_answer": "forty-two""#, Some("42")),
            (r#""gold_answer": "3 or 4""#, None),
            (r#""gold_answer": "3-5""#, None),
            (r#""gold_answer": "12 30""#, None),
            (r#""gold_answer": "1.2.2024""#, None),
            (r#""gold_answer": """#, None),
            (r#""gold_answer": true"#, None),
            (r#""gold_answer": "B""#, None),
        ] {
            assert_eq!(read(fields).as_deref(), number, "{fields}");
        }
    }

    #[test]
    fn worked_answers_are_read_with_marks_and_without() {
        let read = |gold: &str| {
            with(gold, |record| {
                let working = working(record);
                let results = working.calculations.iter().map(|one| one.says.value.shown()).collect::<Vec<_>>();
                (results.join(" "), working.behind.trim().to_owned())
            })
        };
        for (gold, results, behind) in [
            ("He has 4+6=<<4+6=10>>10 fish.\\nThen 10 - 3 = 7 are left.\\n#### 8", "10 7", "are left."),
            ("He has 4+6=<<4+6=10>>10 fish.\\nSo there are 8.\\n#### 8", "10", "fish.\nSo there are 8."),
            ("24 / 3 = <<24/3=8>>8 bottles, and 5 seconds x 7 bottles = 35.\\n#### 35", "8 35", "."),
            ("$5400/week * 4 weeks = $21600\\n#### 21600", "21600", ""),
            ("Unicorns:27(1/3)=9\\nFemale: 9(2/3)=6\\n#### 6", "9 6", ""),
        ] {
            assert_eq!(read(gold), (results.to_owned(), behind.to_owned()), "{gold}");
        }
    }

    #[test]
    fn wrong_calculations_are_told() {
        let wrong = |gold: &str| {
            with(gold, |record| {
                working(record).calculations.iter().filter(|mark| mark.marked && mark.is_wrong()).count()
            })
        };
        assert_eq!(wrong("a <<48/2=24>>24 <<24+48=72>> <<10/3=3.33>> <<+1+2=3>> <<18*.5=9.00>> <<1000*2=2,000>>"), 0);
        assert_eq!(wrong("a <<48/2=25>>24 <<x=1>> <<1=>> <<=2>> <<2*2=5"), 1);
        let other = |gold: &str| {
            with(gold, |record| working(record).calculations.iter().filter_map(Annotation::contradiction).count())
        };
        assert_eq!(other("<<7*3=21>>210 km"), 1);
        assert_eq!(
            other("<<7*3=21>>21. <<1/2=.5>>1/2 <<1/5=.2>>20% <<10/3=3.33>>3.333 <<9*9=81>> <<40*30=1200>>$1,200"),
            0
        );
    }
}
