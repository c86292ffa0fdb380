//! Plausibility of a final answer. All notes: a run that came out wrong often shows it in the number itself. A
//! run that came out right is left alone.

use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_arithmetic::quantity::{Dimension, Kind, Quantity, asked_unit, asking_sentence, find, near, unit};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Datum, Finding, Findings, Place};
use stepscope_record::rule_id::RuleId;
use stepscope_record::trace::{asks_otherwise, overrides};
use stepscope_record::{Record, RecordKind};

/// A longer answer is an essay; its units say little.
const LONG_ANSWER: usize = 400;
/// Larger than every product of the quantities by this factor: not from this question.
const FAR: f64 = 1000.0;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::AnswerZero,
        summary: "answer is zero",
        explanation: "Zero is rarely the answer. Mostly it is what a step writes when it cannot calculate, or what was read \
            from an answer text without a number. Check the final text and the inputs of the last step.",
        bad: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "state": {"final_answer": "It cannot be determined."}, "mode": "baseline", "pred_num": 0, "correct": false}"#,
        good: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "state": {"final_answer": "She pays $7."}, "mode": "baseline", "pred_num": 7, "correct": false}"#,
        check: check_zero,
    },
    Rule {
        id: RuleId::AnswerNegative,
        summary: "answer is negative",
        explanation: "Counts, prices and lengths are not below zero. A negative answer mostly comes from a difference in the \
            wrong order. Questions about temperatures, debts and losses are not checked.",
        bad: r#"{"question": "Ann has 4 pens and Bob has 9. How many more has Bob?", "state": {"final_answer": "-5"}, "mode": "baseline", "pred_num": -5, "correct": false}"#,
        good: r#"{"question": "It is 4 degrees and gets 9 degrees colder. How cold is it then?", "state": {"final_answer": "-5"}, "mode": "baseline", "pred_num": -5, "correct": false}"#,
        check: check_negative,
    },
    Rule {
        id: RuleId::AnswerNotFinite,
        summary: "answer is not a finite number",
        explanation: "NaN and Infinity are no answers: they come from a division by zero or from a text taken for a number. \
            Nothing equals NaN, so such a run is graded wrong whatever it meant.",
        bad: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "state": {"final_answer": "?"}, "mode": "baseline", "pred_num": NaN, "correct": false}"#,
        good: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "state": {"final_answer": "13"}, "mode": "baseline", "pred_num": 13, "correct": false}"#,
        check: check_finite,
    },
    Rule {
        id: RuleId::AnswerFractional,
        summary: "fractional count",
        explanation: "The question asks how many people, boxes or letters there are, but the answer is not a whole number. \
            Mostly a step divides where it should not, or the last rounding is missing. Measures (hours, dollars, pounds) \
            and averages may be fractions.",
        bad: r#"{"question": "15 children ride in cars with 4 seats each. How many cars are needed?", "state": {"final_answer": "3.75"}, "mode": "baseline", "pred_num": 3.75, "correct": false}"#,
        good: r#"{"question": "15 people share 4 hours of work. How many hours does each work?", "state": {"final_answer": "0.25"}, "mode": "baseline", "pred_num": 0.25, "correct": false}"#,
        check: check_fractional,
    },
    Rule {
        id: RuleId::AnswerMagnitude,
        summary: "implausible magnitude",
        explanation: "The answer is over a thousand times the product of all numbers in the question, or below a thousandth \
            of the smallest. Such a number was not calculated from this question.",
        bad: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "state": {"final_answer": "1000000000000"}, "mode": "baseline", "pred_num": 1000000000000, "correct": false}"#,
        good: r#"{"question": "Ann buys 4 pens at $3 each. How much does she pay?", "state": {"final_answer": "1200"}, "mode": "baseline", "pred_num": 1200, "correct": false}"#,
        check: check_magnitude,
    },
    Rule {
        id: RuleId::AnswerUnit,
        summary: "answer in another unit than the question asks for",
        explanation: "The question asks for cents, minutes or a percentage, but the final text gives dollars, hours or a \
            fraction. The number may be right and still be graded wrong: convert it in the last step, and name the unit in \
            the description of final_answer.",
        bad: r#"{"question": "A bus ride takes 2 hours and a walk 1 hour. How many minutes do both take?", "state": {"final_answer": "Both take 3 hours."}, "mode": "baseline", "pred_num": 3, "correct": false}"#,
        good: r#"{"question": "A bus ride takes 2 hours and a walk 1 hour. How many minutes do both take?", "state": {"final_answer": "Both take 190 minutes."}, "mode": "baseline", "pred_num": 190, "correct": false}"#,
        check: check_unit,
    },
    Rule {
        id: RuleId::AnswerFactor,
        summary: "answer is off by a factor",
        explanation: "The answer is exactly 10, 60, 100 or 1000 times the expected answer, or that part of it, or it differs \
            by a factor that occurs in the question. Often the unit is the reason: one of the two counts cents, minutes, \
            days or pieces, and the other does not. Read the question again before you call the run wrong: the expected \
            answer may be.",
        bad: r#"{"question": "Ann buys 4 pens at $3 each. How many dollars does she pay?", "gold_num": 12, "state": {"final_answer": "1200"}, "mode": "baseline", "pred_num": 1200, "correct": false}"#,
        good: r#"{"question": "Ann buys 4 pens at $3 each. How many dollars does she pay?", "gold_num": 12, "state": {"final_answer": "7"}, "mode": "baseline", "pred_num": 7, "correct": false}"#,
        check: check_factor,
    },
];

/// A final number that is worth a look, and where it stands.
struct Answer<'s, 'a> {
    record: &'s Record<'a>,
    number: f64,
    place: fn() -> Pointer,
}

impl<'s, 'a> Answer<'s, 'a> {
    fn of(case: &'s CaseView<'a>) -> Option<Self> {
        let record = case.record.as_ref()?;
        let kinds = [RecordKind::Procedural, RecordKind::Fixed, RecordKind::Baseline, RecordKind::Chain];
        let run = kinds.contains(&record.kind);
        if !run || record.state.is_none() || case.is_right() {
            return None;
        }
        let recorded = record.pred_num.and_then(Value::float).map(|number| (number, pred_num as fn() -> Pointer));
        let (number, place) = recorded
            .or_else(|| Some((record.state?.get("final_answer_numerical")?.float()?, numerical as fn() -> Pointer)))?;
        Some(Self { record, number, place })
    }

    /// The same, where it may be compared with the question and with the expected answer: it is not where a person set
    /// what the run calculates with.
    fn of_question(case: &'s CaseView<'a>) -> Option<Self> {
        Self::of(case).filter(|answer| overrides(answer.record).next().is_none())
    }

    fn finding(&self, rule: RuleId, message: impl Into<Untrusted<'static>>, help: &'static str) -> Finding {
        Finding::new(rule, message, Place::Value((self.place)())).help(help)
    }

    fn question(&self) -> Option<Untrusted<'a>> {
        self.record.question.or_else(|| self.record.state?.get("problem_text"))?.string()
    }
}

fn pred_num() -> Pointer {
    Pointer::from_iter(["pred_num"])
}

fn numerical() -> Pointer {
    Pointer::from_iter(["state", "final_answer_numerical"])
}

fn check_zero(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(answer) = Answer::of(case).filter(|answer| answer.number == 0.0) else { return };
    let help = "Check the final text: it may hold a number that was not read, or an expression.";
    findings.push(answer.finding(RuleId::AnswerZero, "The answer is zero.".to_owned(), help));
}

fn check_negative(case: &CaseView<'_>, findings: &mut Findings) {
    const BELOW: [&[u8]; 11] = [
        b"negative",
        b"below",
        b"degree",
        b"debt",
        b"owe",
        b"loss",
        b"lose",
        b"deficit",
        b"temperature",
        b"minus",
        b"change in",
    ];
    let Some(answer) = Answer::of_question(case).filter(|answer| answer.number < 0.0 && answer.number.is_finite())
    else {
        return;
    };
    let is_signed = |text: Untrusted<'_>| holds_signed(text.bytes());
    let signed =
        case.numbers().iter().any(|quantity| quantity.float() < 0.0) || answer.question().is_some_and(is_signed);
    if signed || answer.question().is_none_or(|text| BELOW.iter().any(|word| holds(text.bytes(), word))) {
        return;
    }
    let help = "Check the order of the last difference.";
    findings.push(answer.finding(
        RuleId::AnswerNegative,
        "The answer is negative, but nothing in the question is.".to_owned(),
        help,
    ));
}

/// Tells whether a text has a number with a minus before it: `-8`, `−$20`.
fn holds_signed(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut before = ' ';
    text.char_indices().any(|(at, c)| {
        let starts = matches!(before, ' ' | '(' | '\n' | ':' | ',' | '$' | '€' | '£');
        before = c;
        let rest = text[at + c.len_utf8()..].trim_start_matches(['$', '€', '£']);
        matches!(c, '-' | '−' | '–') && starts && rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

fn check_finite(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(answer) = Answer::of(case).filter(|answer| case.checks_finite() && !answer.number.is_finite()) else {
        return;
    };
    let help = "Look for a division by zero or a text taken for a number.";
    findings.push(answer.finding(RuleId::AnswerNotFinite, "The answer is not a finite number.".to_owned(), help));
}

fn check_fractional(case: &CaseView<'_>, findings: &mut Findings) {
    let fraction = |answer: &Answer<'_, '_>| answer.number.is_finite() && !near(answer.number, answer.number.round());
    let Some(answer) = Answer::of_question(case).filter(fraction) else { return };
    let Some(question) = answer.question() else { return };
    let Some(counted) = counted(question.bytes()) else { return };
    let message = format!("The question counts {counted}, but the answer is not a whole number.");
    let help = "Look for a wrong division or a missing rounding.";
    findings.push(answer.finding(RuleId::AnswerFractional, message, help));
}

/// The whole things that the question asks to count; `None`: a measure, an average, or not clear.
fn counted(question: &[u8]) -> Option<String> {
    const PARTS: [&[u8]; 9] =
        [b"average", b"mean ", b" per ", b"fraction", b"times", b"percent", b"more than", b"each day", b"a day"];
    let asked = asking_sentence(question);
    let at = memchr::memmem::find(asked, b"ow many ")?;
    let rest = asked.get(at + 8..)?;
    let mut words = rest.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let named: Vec<&[u8]> = words.by_ref().take(3).collect();
    let thing = named.iter().find(|word| !matches!(**word, b"more" | b"fewer" | b"other" | b"total" | b"of"))?;
    let measured = named.iter().any(|word| unit(&word.to_ascii_lowercase()).is_some());
    let plural = thing.ends_with(b"s") || matches!(*thing, b"people" | b"children" | b"men" | b"women");
    if measured || !plural || PARTS.iter().any(|part| holds(asked, part)) || holds(asked, b"servings") {
        return None;
    }
    String::from_utf8(thing.to_vec()).ok()
}

fn check_magnitude(case: &CaseView<'_>, findings: &mut Findings) {
    let far = |answer: &Answer<'_, '_>| {
        let size = answer.number.abs();
        size.is_finite() && size != 0.0 && !(0.5..=5000.0).contains(&size)
    };
    let Some(answer) = Answer::of_question(case).filter(far) else { return };
    let sizes = || {
        let real = case.numbers().iter().filter(|quantity| !matches!(quantity.kind, Kind::Label | Kind::Each));
        real.map(|quantity| quantity.float().abs()).filter(|size| *size > 0.0)
    };
    if sizes().next().is_none() {
        return;
    }
    let size = answer.number.abs();
    let product: f64 = sizes().filter(|size| *size > 1.0).product();
    let smallest = sizes().fold(1.0, f64::min);
    let message = if size > product.max(1.0) * FAR {
        "The answer is over a thousand times the product of all numbers in the question."
    } else if size < smallest / FAR && size * product < 1.0 {
        "The answer is below a thousandth of every number in the question."
    } else {
        return;
    };
    let help = "Find the step in which the number first left the range of the question.";
    findings.push(answer.finding(RuleId::AnswerMagnitude, message.to_owned(), help));
}

fn check_unit(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(answer) = Answer::of(case).filter(|answer| !asks_otherwise(answer.record)) else { return };
    let Some(question) = answer.question() else { return };
    let Some(wanted) = asked_unit(question.bytes()) else { return };
    let text = answer.record.pred_answer.or_else(|| answer.record.state?.get("final_answer"));
    let Some(text) = text.and_then(Value::string).filter(|text| text.bytes().len() <= LONG_ANSWER) else { return };
    let numbers = find(text.bytes());
    let own = |quantity: &&Quantity| near(quantity.float(), answer.number);
    let Some(given) = numbers.iter().rev().find(own).or(numbers.last()) else { return };
    if wanted.dimension == Dimension::Percent {
        let part = answer.number > 0.0 && answer.number < 1.0 && given.kind != Kind::Percent;
        if part && gold(case).is_none_or(|gold| near(gold, answer.number * 100.0)) {
            let help = "Multiply by 100 in the last step.";
            findings.push(answer.finding(
                RuleId::AnswerUnit,
                "The question asks for a percentage, but the answer is a fraction.".to_owned(),
                help,
            ));
        }
        return;
    }
    let Some(unit) = given.unit.filter(|unit| unit.dimension == wanted.dimension && unit.name != wanted.name) else {
        return;
    };
    let message = format!("The question asks for {}s, but the answer gives {}s.", wanted.name, unit.name);
    let help = "Convert it in the last step, and name the unit in the description of final_answer.";
    findings.push(answer.finding(RuleId::AnswerUnit, message, help));
}

fn check_factor(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(answer) = Answer::of_question(case) else { return };
    let Some(gold) = gold(case).filter(|gold| *gold != 0.0) else { return };
    if case.rightness().verdict().is_none() {
        return;
    }
    let ratio = (answer.number / gold).abs();
    if !ratio.is_finite() || ratio == 0.0 {
        return;
    }
    let (factor, larger) = if ratio > 1.0 { (ratio, true) } else { (1.0 / ratio, false) };
    let known = [10.0, 60.0, 100.0, 1000.0].into_iter().any(|known| near(known, factor));
    let own = |quantity: &&Quantity| {
        quantity.sure && !matches!(quantity.kind, Kind::Percent | Kind::Label) && near(quantity.float(), factor)
    };
    let quantity = if known || factor < 1.9 { None } else { case.numbers().iter().find(own) };
    if !known && quantity.is_none() {
        return;
    }
    let by = if larger { '×' } else { '÷' };
    let asked = if quantity.is_some() { format!(", and {factor:.0} occurs in the question") } else { String::new() };
    let message = format!("Answer = expected {by} {factor:.0}{asked}.");
    let help = "Compare the units of the answer, the question and the expected answer.";
    let mut finding = answer.finding(RuleId::AnswerFactor, message, help);
    if answer.record.gold_num.is_some() {
        finding = finding.label(Place::Value(Pointer::from_iter(["gold_num"])), "the expected number");
    }
    if let Some(quantity) = quantity
        && answer.record.question.is_some()
    {
        let (start, end) = (quantity.span.start, quantity.span.end);
        finding = finding.label(Place::Span { pointer: Pointer::from_iter(["question"]), start, end }, "the factor");
    }
    findings.push(finding.detail("factor", Datum::Text(Untrusted::from(format!("{factor:.0}")))));
}

fn gold(case: &CaseView<'_>) -> Option<f64> {
    case.gold().map(|gold| gold.value.float())
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}
