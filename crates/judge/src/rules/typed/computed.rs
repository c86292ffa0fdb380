//! Computed answers against the parts that they cite: sums, differences, products, ratios, percentages and averages.
//!
//! A value that follows from the cited numbers is reproduced. One that misses such a result by a digit or a scale is a
//! slip; one that follows from none of them is only said to be unexplained.

use super::Report;
use crate::case::CaseView;
use crate::rule::Rule;
use parts::{CitedPart, CitedParts, PartKind, weight};
use results::{PartResult, results, shown, signed};
use stepscope_arithmetic::expression::numbers;
use stepscope_arithmetic::number::{Written, near, noise};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::figures::{Convention, figures};
use stepscope_evidence::typed::AnswerItem;
use stepscope_evidence::wording::{TextWord, part, words};
use stepscope_record::finding::{Findings, Place, Severity};
use stepscope_record::rule_id::RuleId;

mod parts;
mod results;
mod terms;
mod time;

/// More cited numbers say nothing: something would come out by chance.
const MAX_PARTS: usize = 16;
/// A longer unit is not told with the number.
const MAX_UNIT: usize = 20;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[Rule {
    id: RuleId::ComputedDiffers,
    summary: "computed value does not follow from the cited numbers",
    explanation: "The answer says that it is computed and cites the numbers it is computed from. stepscope calculates their \
        sum, difference, product, ratio, percentage, change and average, in the scale that the document or the unit names; a number in another unit or period, a day that is \
        counted from another, and a price of the first and the further ones too. \
        A value that misses one of them by a digit or a power of ten is an error; one that follows from none is a note: \
        the calculation may be another, or a number may not be cited.",
    bad: r#"{"extraction_method": "computed", "answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 36874, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3, "quote": "Current assets: $37,390"}, {"line_start": 4, "line_end": 4, "quote": "Fixed assets: $543"}]}]}"#,
    good: r#"{"extraction_method": "computed", "answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 36847, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3, "quote": "Current assets: $37,390"}, {"line_start": 4, "line_end": 4, "quote": "Fixed assets: $543"}]}]}"#,
    check,
}];

fn check(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    if !typed.base("extraction_method").is_some_and(|method| method.is_string("computed")) {
        return;
    }
    let question = Value::text_of(case.record.as_ref().and_then(|record| record.question));
    let question = question.readable();
    let help = "Calculate the value again from the cited numbers, and cite every number.";
    for item in &answered.items {
        let parts = CitedParts::of(case, item, question);
        let told = time::differs(&parts, item, question)
            .map(|(message, place)| (message, place, RuleId::ComputedDiffers.severity()))
            .or_else(|| differs(&parts, item, question));
        if let Some((message, place, severity)) = told
            && let Some(finding) =
                Report::new(RuleId::ComputedDiffers, help, findings).add(message, Place::Value(place))
        {
            finding.severity = severity;
        }
    }
}

/// Compares a value with everything that the cited numbers give by the calculation that the question asks for.
fn differs(parts: &CitedParts, item: &AnswerItem<'_>, question: &str) -> Option<(Message, Pointer, Severity)> {
    let (value, place) = number_of(item)?;
    let warning = RuleId::ComputedDiffers.severity();
    match terms::converted(&value, parts, item, question) {
        Some(terms::Conversion::Right) => return None,
        Some(terms::Conversion::Wrong(message)) => return Some((message, place, warning)),
        None => {}
    }
    if let Some(right) = terms::first_and_further(parts, question) {
        let message =
            Message::new("The answer is ").text(value.shown.as_str()).text(", but the first and the further come to ");
        let message = message.text(shown(right)).text(".");
        return (!value.fits(right)).then_some((message, place, warning));
    }
    if let Some(right) = terms::in_period(parts, question) {
        let message = Message::new("The answer is ")
            .text(value.shown.as_str())
            .text(", but for the period that is asked for it is ");
        let message = message.text(shown(right)).text(".");
        return (!value.fits(right)).then_some((message, place, warning));
    }
    let is_open = time::counts_days(&parts.texts, item) || parts.numbers.len() < 2 || parts.numbers.len() > MAX_PARTS;
    if is_open || !parts.is_clear {
        return None;
    }
    let numbers = &parts.numbers;
    let scales = parts.scales(item);
    let sought = Sought::of(question, parts, CitedParts::is_percent(item));
    let is_percent = CitedParts::is_percent(item);
    // The unit belongs to the number: 9246 may be right and 9246 million wrong.
    let unit = parts::unit_of(item).filter(|unit| !unit.is_empty() && unit.len() <= MAX_UNIT);
    let answer = || {
        let message = Message::new("The answer is ").text(value.shown.as_str());
        match &unit {
            Some(unit) => message.text(" ").text(unit.as_str()),
            None => message,
        }
    };
    let is_sum = matches!(sought, Sought::Anything | Sought::Sum);
    let results: Vec<PartResult> = match weighted(numbers, question).filter(|_| is_sum) {
        Some(sum) => vec![sum],
        None if sought == Sought::Difference && terms::weighted_difference(numbers, question).is_some() => {
            terms::weighted_difference(numbers, question).into_iter().collect()
        }
        // A loss among the parts lowers their sum.
        None if sought == Sought::Sum => {
            let wants_all = parts.is_one_each() || is_of_all(question);
            let mut all = signed(numbers);
            all.retain(|result| {
                let takes_enough = !wants_all || numbers.len() < 3 || result.uses_all(numbers.len());
                sought.allows(result, numbers) && takes_enough
            });
            all
        }
        None => results(numbers).into_iter().filter(|result| sought.allows(result, numbers)).collect(),
    };
    // A number that is only cited again, or counts the parts, was not worked out from them.
    if let Some(left) = left_out(question, &value, numbers, &results) {
        let message = answer().text(", the sum of the cited numbers without ").text(shown(left)).text(".");
        return Some((message, place, warning));
    }
    // A table may count in thousands or millions by a word that nobody here reads.
    let is_copy = |part: &CitedPart| [1.0, 1e3, 1e6, 1e9].iter().any(|scale| value.fits(part.value * scale));
    let is_copied = numbers.iter().any(is_copy) || value.fits(numbers.len() as f64);
    let reached = |result: &&PartResult| scales.iter().any(|scale| value.fits(result.value * scale));
    if let Some(result) = results.iter().find(reached) {
        if let Some(message) = terms::other_unit(result, numbers, item) {
            return Some((message, place, warning));
        }
        let is_sign = || terms::below_zero(&value, numbers, question).filter(|_| sought == Sought::Difference);
        return fell(&value, result, numbers, question)
            .or_else(is_sign)
            .map(|message| (message, place, Severity::Note));
    }
    if (is_copied && sought == Sought::Anything)
        || with_question(&value, numbers, question)
        || is_average_of_years(&value, numbers, question, &scales)
    {
        return None;
    }
    // Only a calculation with all of the numbers is one that was meant, and only a ratio gives a percentage of amounts.
    let has_percent = numbers.iter().any(|part| part.kind == PartKind::Percent);
    // A count is not added to a measure or to money: "three vials of 1.5 ml", "menu for 40 guests: EUR 920".
    let is_kind = |is: fn(PartKind) -> bool| numbers.iter().any(|part| is(part.kind));
    let has_measure = is_kind(|kind| matches!(kind, PartKind::Measure(_)));
    let counts_things = numbers.iter().any(|part| part.counts_something);
    let are_alike = !(counts_things && is_kind(|kind| kind == PartKind::Money)
        || has_measure && is_kind(|kind| kind == PartKind::Bare));
    let meant = |result: &&PartResult| {
        result.is_plain(numbers.len())
            && (are_alike || !result.form.contains(['+', '−']))
            && (!is_percent || has_percent || result.form.contains('/'))
    };
    let is_near = |result: &&PartResult| scales.iter().any(|scale| value.is_slip_of(result.value * scale));
    let is_scaled = |result: &&PartResult| value.is_scaled(result.value * scales.first().unwrap_or(&1.0));
    let near = results.iter().filter(meant).find(is_near);
    let found = near.or_else(|| results.iter().filter(meant).find(is_scaled));
    Some(match found {
        Some(result) => {
            let message = answer().text(", but ").text(result.formula(numbers)).text(" is ");
            (message.text(shown(result.value)).text("."), place, warning)
        }
        None => (answer().text(sought.missed()), place, Severity::Note),
    })
}

/// Calculation that a question asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sought {
    /// It does not say.
    Anything,
    /// By how much one is more than the other.
    Difference,
    /// By which percentage one is more than the other.
    Growth,
    /// All together.
    Sum,
    /// Average of them.
    Average,
    /// Amount with a percentage added, as a tax is.
    Raised,
    /// Amount with a percentage taken off, as a discount is.
    Reduced,
    /// The whole, of which an amount is a percentage.
    Whole,
}

/// Phrases by which a question asks for a sum.
const SUMS: &[&str] = &[
    "in total",
    "altogether",
    " together",
    "with both",
    "with all",
    "combined",
    "add up",
    "adds up",
    "sum of",
    "in all?",
    "suman",
    "total volume",
    "total weight",
    "total length",
    "the whole ",
    "zusammen",
    "insgesamt",
    "au total",
    "en tout",
    "en total",
];
/// Words of a question that asks for no sum, whatever else it says.
const NO_SUM: &[&str] = stepscope_base::list![
    average mean ratio proportion share difference durchschnitt durchschnittlich left remain remains remaining per without times
    portion part anteil each out
];
/// Phrases by which it asks for an amount with its tax or after it went up, and without.
const RAISED: &[&str] = &[
    "after the rise",
    "after the increase",
    "nach der erhöhung",
    "including vat",
    "including tax",
    "including gst",
    "including sales tax",
    "incl. vat",
    "inclusive of",
    "with vat",
    "with tax",
    "with gst",
    "plus vat",
    "inkl. mwst",
    "inklusive",
    "einschließlich",
    "mit mwst",
    "mit mehrwertsteuer",
    "brutto",
    "ttc",
    "tva comprise",
    "con iva",
    "iva incluido",
];
const UNTAXED: &[&str] =
    &["before vat", "before tax", "excluding", "excl.", "ohne", "netto", "without", "hors", "sin iva"];
/// Phrases by which it asks for what is left of an amount.
const REMAINING: &[&str] = &[
    "how much remains",
    "remains to be paid",
    "left to pay",
    "still to be paid",
    "still to pay",
    "still owe",
    "noch zu zahlen",
    "reste à payer",
];
/// Phrases by which it asks for an amount after a discount.
const DISCOUNTED: &[&str] = &[
    "after the discount",
    "after discount",
    "after the rebate",
    "after the reduction",
    "discounted",
    "discount applied",
    "group discount",
    "with the discount",
    "net of the discount",
    "reduced price",
    "nach abzug",
    "mit rabatt",
    "nach rabatt",
    "après remise",
    "après réduction",
    "remise déduite",
];

impl Sought {
    fn of(question: &str, parts: &CitedParts, is_percent: bool) -> Self {
        const CHANGES: &str = "rise rose risen increase increased grow grew grown growth change changed fall fell fallen decrease \
            decreased decline declined drop dropped gestiegen gesunken zuruckgegangen wachstum augmente baisse";
        const COMPARES: &str = "higher lower more less fewer cheaper shorter longer larger smaller hoher niedriger";
        let lower = question.to_lowercase();
        let own = words(question);
        let has_phrase = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        // "Nettokaltmiete" is a name, "netto" asks for the amount without tax.
        let is_word =
            |phrase: &&str| phrase.len() > 5 || own.iter().any(|word| word.folded == phrase.trim_end_matches('.'));
        let is_untaxed = UNTAXED.iter().any(|phrase| lower.contains(phrase) && is_word(phrase));
        let changes = has_phrase(&[" go up", " went up", " gone up", " go down", " went down", " come down"])
            || own.iter().any(|word| CHANGES.split_whitespace().any(|known| known == word.folded));
        let compares = own.iter().any(|word| COMPARES.split_whitespace().any(|known| known == word.folded));
        let is_share = has_phrase(&["percentage of", "as a percent"]) && !has_phrase(&["by what percentage"]);
        let in_points = has_phrase(&["percentage point", "prozentpunkt"]);
        let in_percent = !in_points && has_phrase(&["%", "percent", "prozent", "pourcent"]);
        let has_percent = parts.numbers.iter().any(|part| part.kind == PartKind::Percent);
        let is_whole = parts.texts.iter().any(|text| is_part_of_whole(text));
        let is_of_percentage = has_percent && !is_percent && !in_percent;
        if is_of_percentage && has_phrase(RAISED) && !is_untaxed {
            Self::Raised
        } else if is_of_percentage && has_phrase(DISCOUNTED) {
            Self::Reduced
        } else if changes
            && in_percent
            && !is_share
            && has_phrase(&["percent", "by what %", "prozent", "pourcent", "in %"])
        {
            Self::Growth
        } else if in_points
            || has_phrase(REMAINING)
            || (has_phrase(&[
                "by how much",
                "by how many",
                "how much more",
                "how much less",
                "how much higher",
                "how many more",
                "how many fewer",
                "how much cheaper",
                "what was the surplus",
                "what is the surplus",
                "what was the deficit",
                "wie viel mehr",
                "wie viel weniger",
                "cuánto más",
                "um wie viel",
                "de combien",
            ]) && (changes || compares || lower.contains("surplus") || lower.contains("deficit"))
                && !in_percent)
            || (has_phrase(&[
                "difference between",
                "difference in",
                "change in",
                "increase in",
                "decrease in",
                "(decrease) in",
            ]) && !in_percent
                && !is_percent
                && !has_phrase(&["average", "total change"]))
        {
            Self::Difference
        } else if is_whole && !in_percent {
            Self::Whole
        } else if has_phrase(SUMS)
            && !changes
            && !compares
            && !in_percent
            && !own.iter().any(|word| NO_SUM.contains(&word.folded.as_str()))
        {
            Self::Sum
        } else if has_phrase(&["what is the average", "what was the average", "durchschnitt", "en moyenne"]) && !changes
        {
            Self::Average
        } else {
            Self::Anything
        }
    }

    /// Tells whether a result is one of such a calculation, of the later to the earlier number where that is known.
    fn allows(self, result: &PartResult, parts: &[CitedPart]) -> bool {
        let form = result.form;
        let time = |n: usize| result.of.get(n).and_then(|at| parts.get(usize::from(*at))?.time);
        let is_forward = || time(0).zip(time(1)).is_none_or(|(first, second)| first >= second);
        match self {
            Self::Anything => true,
            Self::Difference => form.contains('−') && !form.contains("× 100") && !form.ends_with("/ b"),
            // A change that is cited itself is a share of what it changed.
            Self::Growth if form == "a / b × 100" => time(0).is_none() && time(1).is_none(),
            // People call a change in percentage points a change in percent too.
            Self::Growth if form == "a − b" => {
                let is_percent = |n: usize| parts.get(n).is_some_and(|part| part.kind == PartKind::Percent);
                result.of.get(..2).is_some_and(|of| of.iter().all(|at| is_percent(usize::from(*at))))
            }
            Self::Growth => {
                form.contains('−')
                    && form.contains('/')
                    && !form.starts_with("a / b −")
                    && (form.len() > 24 || is_forward())
            }
            // "Three vials of 1.5 mL each"
            Self::Sum if form == "a × b" => {
                let kind = |n: usize| parts.get(usize::from(*result.of.get(n)?)).map(|part| part.kind);
                kind(0) != kind(1)
            }
            Self::Sum => (form.contains('+') && !form.contains(['/', '−'])) || form == "the sum of all",
            Self::Average => {
                (form.contains('/') && !form.contains("100") && !form.contains('−')) || form.contains("average")
            }
            Self::Raised => form.contains("(1 +"),
            Self::Reduced => form.contains("(1 −"),
            Self::Whole => form != "a × b / 100" && !form.contains("(1 "),
        }
    }

    /// Says that nothing of the kind gives the value.
    const fn missed(self) -> &'static str {
        match self {
            Self::Difference => ", which is no difference of the cited numbers.",
            Self::Growth => ", which is no change in percent of the cited numbers.",
            Self::Sum => ", which is no sum of the cited numbers.",
            Self::Average => ", which is no average of the cited numbers.",
            Self::Anything | Self::Raised | Self::Reduced | Self::Whole => {
                ", which does not follow from the cited numbers."
            }
        }
    }
}

/// Tells whether a text says that an amount is a percentage of something: "EUR 300, that is 75 % of the costs".
fn is_part_of_whole(text: &str) -> bool {
    const IS: [&str; 9] =
        ["that is", "i.e.", "which is", "being", "represents", "equal to", "das sind", "soit", "es decir"];
    let found = figures(text, Convention::Unknown);
    found.windows(2).any(|pair| {
        let [first, second] = pair else { return false };
        // The readings of a number that blanks may group overlap: nothing is between them.
        let between = text.get(first.range.end..second.range.start).unwrap_or("").to_lowercase();
        let behind = words(part(text, second.range.end..));
        let is_of = behind.first().is_some_and(|word| matches!(word.folded.as_str(), "of" | "der" | "des" | "de"));
        first.is_money() && second.percent && is_of && IS.iter().any(|word| between.contains(word))
    })
}

/// The sum of the parts, each as often as the question counts it; `None` where it does not count them all.
fn weighted(parts: &[CitedPart], question: &str) -> Option<PartResult> {
    let weights: Option<Vec<f64>> = parts.iter().map(|part| weight(part, question)).collect();
    // "The top three expenses" counts the parts.
    let counts_parts = |weights: &[f64]| weights.iter().all(|weight| near(*weight, parts.len() as f64));
    let weights = weights
        .filter(|weights| weights.len() > 1 && weights.iter().any(|weight| *weight > 1.0) && !counts_parts(weights))?;
    let value = parts.iter().zip(weights).map(|(part, weight)| part.value * weight).sum();
    Some(PartResult { value, form: "the sum of all", of: [0; 4] })
}

/// Tells whether a value is the average over the years of the question, of which some had nothing.
fn is_average_of_years(value: &StatedResult, parts: &[CitedPart], question: &str, scales: &[f64]) -> bool {
    const MAX_YEARS: i64 = 20;
    let own = words(question);
    let is_average = own.iter().any(|word| matches!(word.folded.as_str(), "average" | "mean" | "durchschnittlich"));
    let years = own.iter().filter_map(TextWord::year);
    let (Some(first), Some(last)) = (years.clone().min(), years.max()) else { return false };
    let count = last - first + 1;
    let alike = parts.iter().all(|part| parts.first().is_some_and(|first| part.adds_to(first)));
    let sum: f64 = parts.iter().map(|part| part.value).sum();
    is_average
        && alike
        && (2..=MAX_YEARS).contains(&count)
        && usize::try_from(count).is_ok_and(|count| count > parts.len())
        && scales.iter().any(|scale| value.fits(sum / count as f64 * scale))
}

/// Tells whether a value follows from all cited numbers and those of the question.
fn with_question(value: &StatedResult, parts: &[CitedPart], question: &str) -> bool {
    // "Two adults" counts, "a ten-year-old dog" need not.
    [true, false].into_iter().any(|digits| {
        let asked = parts::of_question(question, parts, digits);
        let all: Vec<CitedPart> = parts.iter().cloned().chain(asked.iter().cloned()).collect();
        !asked.is_empty()
            && all.len() <= 4
            && results(&all).iter().any(|result| result.uses_all(all.len()) && value.fits(result.value))
    })
}

/// Says so where an answer is below zero, the question asks by how much something rose, and it did.
fn fell(value: &StatedResult, result: &PartResult, parts: &[CitedPart], question: &str) -> Option<Message> {
    const RISES: &str = "rise rose risen increase increased grow grew grown higher more gain gestiegen";
    const FALLS: &str = "decrease decreased decline fall fell drop dropped lower less reduction loss";
    let asked = words(question);
    let holds = |list: &str| asked.iter().any(|word| list.split(' ').any(|known| known == word.folded));
    let is_rise = holds(RISES) && !holds(FALLS) && parts.iter().all(|part| part.value >= 0.0);
    let at = |n: usize| result.of.get(n).and_then(|at| parts.get(usize::from(*at)));
    let (first, second) = (at(0)?, at(1)?);
    let (later, earlier) = match first.time?.cmp(&second.time?) {
        std::cmp::Ordering::Greater => (first, second),
        std::cmp::Ordering::Less => (second, first),
        std::cmp::Ordering::Equal => return None,
    };
    let is_reversed = value.value < 0.0 && later.value > earlier.value && result.form == "a − b";
    (is_rise && is_reversed)
        .then(|| Message::new("The answer is below zero, but the later of the two cited numbers is the larger one."))
}

/// Tells whether a question asks for everything that is cited.
fn is_of_all(question: &str) -> bool {
    let lower = question.to_lowercase();
    ["with both", "with all"].iter().any(|phrase| lower.contains(phrase))
}

/// Returns the cited number that a sum leaves out, where the question asks for one and all numbers but this make it.
fn left_out(question: &str, value: &StatedResult, parts: &[CitedPart], results: &[PartResult]) -> Option<f64> {
    const ADDS: &str =
        "total sum together altogether combined overall add come aggregate zusammen insgesamt summe gesamt somme";
    let asked = words(question);
    let is_sum = asked.iter().any(|word| ADDS.split(' ').any(|known| word.folded == known));
    let uses_all = |result: &PartResult| result.uses_all(parts.len()) && value.fits(result.value);
    if parts.len() < 3 || !is_sum || results.iter().any(uses_all) || parts.iter().any(|part| value.fits(part.value)) {
        return None;
    }
    // "At 24 C" is no part of a time.
    if !parts.iter().all(|part| parts.first().is_some_and(|first| first.kind == part.kind)) {
        return None;
    }
    let all: f64 = parts.iter().map(|part| part.value).sum();
    let mut without = parts.iter().map(|part| part.value).filter(|part| value.fits(all - part));
    without.next().filter(|_| without.next().is_none())
}

/// A number as it is written.
struct StatedResult {
    value: f64,
    /// Half of its last written digit.
    half: f64,
    decimals: u32,
    shown: String,
}

impl StatedResult {
    fn of(written: Written, shown: String) -> Self {
        // A whole number may be written with a point: 1972.0.
        let decimals = if written.value.is_whole() { 0 } else { written.decimals.min(9) };
        Self { value: written.value.float(), half: 0.5 * 10_f64.powi(-(decimals as i32)), decimals, shown }
    }

    /// Tells whether it is how people write a result: rounded, cut, with or without its sign.
    fn fits(&self, result: f64) -> bool {
        let off = (self.value.abs() - result.abs()).abs();
        let least = self.half.max(noise(result));
        // What is cut and not rounded is off by a whole digit at most.
        let cut = if self.decimals > 0 { 2.0 * least } else { least };
        off <= cut * 1.000_001
    }

    /// Tells whether one digit differs, or two adjacent digits are swapped.
    fn is_slip_of(&self, result: f64) -> bool {
        let digits = |value: f64| format!("{:.1$}", value.abs(), self.decimals as usize);
        let (own, right) = (digits(self.value), digits(result));
        if own.len() != right.len() || own.len() < 2 {
            return false;
        }
        let differing: Vec<usize> =
            own.bytes().zip(right.bytes()).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
        let at = |text: &str, n: usize| text.as_bytes().get(n).copied();
        match differing.as_slice() {
            [_] => own.len() > 2,
            [a, b] => a + 1 == *b && at(&own, *a) == at(&right, *b) && at(&own, *b) == at(&right, *a),
            _ => false,
        }
    }

    /// Tells whether the two differ by a power of ten.
    fn is_scaled(&self, result: f64) -> bool {
        let factors = [10.0, 100.0, 1e3, 1e6, 1e9];
        let scaled = |factor: f64| {
            self.fits(result * factor) || (self.fits(result / factor) && self.value.abs() >= 100.0 * self.half)
        };
        result != 0.0 && factors.into_iter().any(scaled)
    }
}

/// The number of an item, and where it stands.
fn number_of(item: &AnswerItem<'_>) -> Option<(StatedResult, Pointer)> {
    let (key, value) = item.value.as_ref()?;
    let pointer = item.value_pointer()?;
    if let Some(number) = value.get("value").filter(|_| *key == "amount" || value.get("currency").is_some()) {
        let written = Written::of(number).or_else(|| Written::parse(number.string()?.bytes().trim_ascii()))?;
        return Some((StatedResult::of(written, written.value.shown()), pointer.then("value")));
    }
    if value.is_number() {
        let written = Written::of(*value)?;
        return Some((StatedResult::of(written, written.value.shown()), pointer));
    }
    let text = value.string()?;
    let text = text.utf8().filter(|text| text.len() <= 80)?;
    let found = numbers(text);
    let [(written, range)] = found.as_slice() else { return None };
    Some((StatedResult::of(*written, text.get(range.clone())?.to_owned()), pointer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn said(value: &str, unit: &str, quotes: &[&str]) -> Option<(Severity, String)> {
        let spans: Vec<String> =
            quotes.iter().map(|quote| format!(r#"{{"line_start": 1, "line_end": 1, "quote": "{quote}"}}"#)).collect();
        let text = format!(
            r#"{{"extraction_method": "computed", "answer_found": true, "items": [{{"amount": {{"value": {value}, "currency": "USD", "unit": {unit}}}, "spans": [{}]}}]}}"#,
            spans.join(",")
        );
        let case = Case::read(text.as_bytes());
        let mut findings = Findings::new();
        check(&case.view(), &mut findings);
        findings.first().map(|finding| (finding.severity, finding.message.line().into_string()))
    }

    #[test]
    fn what_follows_from_its_parts_is_left_alone() {
        for (value, unit, quotes) in [
            ("36847", "null", vec!["$37,390", "543"]),
            ("-416429", "null", vec!["4,314,005", "4,730,434"]),
            ("104.05", "\"percent\"", vec!["302", "148"]),
            ("-228.75", "\"percent\"", vec!["(7,125)", "5,534"]),
            ("3609.67", "\"million\"", vec!["3,696", "3,861", "3,272"]),
            ("76.09", "\"percent\"", vec!["$ 3,287.0", "2,753.0", "$ 7,938.3"]),
            ("1.2", "\"million\"", vec!["in thousands: 700", "in thousands: 500"]),
            ("1200000", "null", vec!["USD (in thousands) 700", "500"]),
            ("0.87", "null", vec!["70.07", "80.82"]),
            // Nothing is said where a part may be missing.
            ("12", "null", vec!["each month", "40"]),
            ("12", "null", vec!["40"]),
            ("543", "null", vec!["$37,390", "543"]),
        ] {
            assert_eq!(said(value, unit, &quotes), None, "{value} {quotes:?}");
        }
    }

    fn asked(question: &str, lines: &[&str], value: &str) -> Option<String> {
        let quoted: Vec<String> = lines.iter().map(|line| format!("\"{line}\"")).collect();
        let span = |n: usize| format!(r#"{{"line_start": {n}, "line_end": {n}, "quote": {}}}"#, quoted[n]);
        // The first line heads the columns.
        let spans: Vec<String> = (1..lines.len()).map(span).collect();
        let text = format!(
            r#"{{"format": "stepscope.answer_trace", "question": "{question}", "document": {{"lines": [{}]}}, "answer": {{"extraction_method": "computed",
            "answer_found": true, "items": [{{{value}, "spans": [{}]}}]}}}}"#,
            quoted.join(","),
            spans.join(",")
        );
        let case = Case::read(text.as_bytes());
        let mut findings = Findings::new();
        check(&case.view(), &mut findings);
        findings.first().map(|finding| finding.message.line().into_string())
    }

    #[test]
    fn the_calculation_is_the_one_that_the_question_asks_for() {
        let amount =
            |value: &str, unit: &str| format!(r#""amount": {{"value": {value}, "currency": "EUR", "unit": {unit}}}"#);
        let table = ["                2023     2022", "Sales          120.0     80.0"];
        let growth = "By what percentage did sales grow from 2022 to 2023?";
        let percent = "\"%\"";
        assert_eq!(asked(growth, &table, &amount("50", percent)), None);
        assert!(asked(growth, &table, &amount("33.3", percent)).is_some(), "of the later year");
        let rise = "By how much did sales rise from 2022 to 2023?";
        assert_eq!(asked(rise, &table, &amount("40", "null")), None);
        assert!(asked(rise, &table, &amount("200", "null")).is_some(), "the sum");
        assert!(asked(rise, &table, &amount("-40", "null")).is_some(), "a fall");
        let prices = ["Price list", "Adult: EUR 40", "Child: EUR 25"];
        let total = "What do two adults and one child pay?";
        assert_eq!(asked(total, &prices, &amount("105", "null")), None);
        assert!(asked(total, &prices, &amount("65", "null")).is_some(), "one adult");
        let fee = ["Terms", "The fee is EUR 200.", "It falls by 5 % in May."];
        assert!(asked("What is it then?", &fee, &amount("195", "null")).is_some(), "a percentage is no money");
    }

    #[test]
    fn a_question_names_its_calculation() {
        let amount =
            |value: &str, unit: &str| format!(r#""amount": {{"value": {value}, "currency": "EUR", "unit": {unit}}}"#);
        let fees = ["", "Registration: EUR 40", "Exam: EUR 95"];
        let sum = "What do registration and exam add up to?";
        assert_eq!(asked(sum, &fees, &amount("135", "null")), None);
        assert!(asked(sum, &fees, &amount("55", "null")).is_some(), "a difference is no sum");
        let bill = ["", "The room costs EUR 200, plus VAT of 7 %."];
        let taxed = "What does the room cost including VAT?";
        assert_eq!(asked(taxed, &bill, &amount("214", "null")), None);
        assert!(asked(taxed, &bill, &amount("14", "null")).is_some(), "the tax alone");
        assert!(asked(taxed, &bill, &amount("186", "null")).is_some(), "the tax taken off");
        let times = ["", "Rise: 2 h 15 min at 26 C; proof: 50 minutes"];
        let minutes = |value: &str| format!(r#""amount": {{"value": {value}, "currency": null, "unit": "minutes"}}"#);
        let both = "How many minutes do rise and proof take together?";
        assert_eq!(asked(both, &times, &minutes("185")), None);
        assert!(asked(both, &times, &minutes("265")).is_some(), "2.15 hours are no 215 minutes");
        let four = ["", "EUR 10", "EUR 20", "EUR 30", "EUR 40"];
        let said = asked("What is the average?", &four, &amount("26", "null")).unwrap();
        assert!(!said.contains("3ver3ge"), "{said}");
    }

    #[test]
    fn averages_and_percentages_are_read_as_people_ask_for_them() {
        let amount =
            |value: &str, unit: &str| format!(r#""amount": {{"value": {value}, "currency": "EUR", "unit": {unit}}}"#);
        let three = ["", "2019: 40 km", "2018: 25 km", "2017: 20 km"];
        let means = "What is the change in the average distance between 2017-2018 and 2018-2019?";
        assert_eq!(asked(means, &three, &amount("10", "null")), None);
        assert!(asked(means, &three, &amount("11", "null")).is_some(), "of no two means");
        let some = ["", "2019: 30 grants", "2017: 60 grants"];
        let mean = "What was the average number of grants for 2017-2019?";
        assert_eq!(asked(mean, &some, &amount("30", "null")), None, "2018 had none");
        assert!(asked(mean, &some, &amount("31", "null")).is_some());
        let rates = ["", "Rate 2019: 3.5 %", "Rate 2018: 2.5 %"];
        let change = "What is the percentage change in the rate between 2018 and 2019?";
        assert_eq!(asked(change, &rates, &amount("1", "\"percent\"")), None, "in points");
        assert!(asked(change, &rates, &amount("7", "\"percent\"")).is_some());
        let top = ["", "Prepaid rent: EUR 252", "Prepaid bonds: EUR 199", "Prepaid licences: EUR 51"];
        assert_eq!(asked("What is the sum of the top 3 prepaid costs?", &top, &amount("502", "null")), None);
        let dear = ["", "Sales 2019: 4.72", "Sales 2018: 3.36", "Sales 2017: 3.69"];
        let told = asked("What is the average change of sales?", &dear, &amount("15.77", "\"percent\""));
        assert_eq!(told.as_deref(), Some("The answer is 15.77 percent, which does not follow from the cited numbers."));
    }

    #[test]
    fn units_and_periods_are_those_that_are_asked_for() {
        let amount = |value: &str, currency: &str, unit: &str| {
            format!(r#""amount": {{"value": {value}, "currency": "{currency}", "unit": {unit}}}"#)
        };
        let pack = ["", "Use within 6 weeks of opening."];
        let days = "For how many days may it be used?";
        assert_eq!(asked(days, &pack, &amount("42", "XXX", "\"days\"")), None);
        assert!(asked(days, &pack, &amount("60", "XXX", "\"days\"")).is_some());
        assert!(asked(days, &pack, &amount("6", "XXX", "\"days\"")).is_some());
        let doses = ["", "Take for 2 weeks, then for 3 weeks."];
        assert_eq!(asked("How long?", &doses, &amount("5", "XXX", "\"weeks\"")), None);
        assert!(asked("How long?", &doses, &amount("5", "XXX", "\"months\"")).is_some());
        let rent = ["", "The annual rent is EUR 1,200."];
        let month = "What is the monthly rent?";
        assert_eq!(asked(month, &rent, &amount("100", "EUR", "null")), None);
        assert!(asked(month, &rent, &amount("120", "EUR", "null")).is_some());
        let parking = ["", "first hour: EUR 2.00", "each further hour: EUR 3.50"];
        let hours = "What do four hours cost?";
        assert_eq!(asked(hours, &parking, &amount("12.5", "EUR", "null")), None);
        assert!(asked(hours, &parking, &amount("16", "EUR", "null")).is_some());
        let tickets = ["", "Adult: EUR 38", "Couple: EUR 64"];
        let cheaper = "How much cheaper is a couple's ticket than two adult tickets?";
        assert_eq!(asked(cheaper, &tickets, &amount("12", "EUR", "null")), None);
        assert!(asked(cheaper, &tickets, &amount("26", "EUR", "null")).is_some());
        let higher = "By how much is the couple's ticket higher than the adult one?";
        assert_eq!(asked(higher, &tickets, &amount("26", "EUR", "null")), None);
        assert!(asked(higher, &tickets, &amount("-26", "EUR", "null")).is_some());
        let week = ["", "Working time is 37.5 hours a week, spread over five days."];
        let day = "How many hours a day is it?";
        assert_eq!(asked(day, &week, &amount("7.5", "XXX", "\"hours per day\"")), None);
        let bill = ["", "Total: EUR 4,093.20", "less deposit: EUR 1,000.00"];
        let left = "How much remains to be paid?";
        assert_eq!(asked(left, &bill, &amount("3093.2", "EUR", "null")), None);
        assert!(asked(left, &bill, &amount("5093.2", "EUR", "null")).is_some());
        let energy = ["Table 4: Generation, GWh", "Wind   240.9"];
        let wind = "How many megawatt hours came from wind?";
        assert_eq!(asked(wind, &energy, &amount("240900", "XXX", "\"MWh\"")), None);
        assert!(asked(wind, &energy, &amount("240.9", "XXX", "\"MWh\"")).is_some());
    }

    #[test]
    fn days_are_counted_from_words() {
        let date = |iso: &str| format!(r#""date": {{"iso": "{iso}", "original": "{iso}"}}"#);
        let term = ["Terms", "It takes effect on the first day of October 2022 and runs for thirty-six (36) months."];
        assert_eq!(asked("When does it end?", &term, &date("2025-09-30")), None);
        assert_eq!(asked("When does it end?", &term, &date("2025-10-01")), None);
        assert!(asked("When does it end?", &term, &date("2024-09-30")).is_some(), "two years");
        let rule = ["Rules", "Adopted on June 4, 2019.", "It takes effect on the thirtieth day after its adoption."];
        assert_eq!(asked("When does it take effect?", &rule, &date("2019-07-04")), None);
        assert!(asked("When does it take effect?", &rule, &date("2019-07-14")).is_some());
        let meeting = ["Dates", "Next meeting: second Saturday of September 2024"];
        assert_eq!(asked("When is it?", &meeting, &date("2024-09-14")), None);
        assert!(asked("When is it?", &meeting, &date("2024-09-21")).is_some());
        let plain = ["Dates", "Next meeting: 3 May 2024"];
        assert_eq!(asked("When is the vote?", &plain, &date("2024-05-04")), None, "it may be the day behind");
    }

    #[test]
    fn spans_of_time_have_a_direction() {
        let date = |iso: &str| format!(r#""date": {{"iso": "{iso}", "original": "{iso}"}}"#);
        let notice = ["Terms", "The lease ends on 31 August 2025.", "Give notice two months before it ends."];
        assert_eq!(asked("By when?", &notice, &date("2025-06-30")), None);
        assert!(asked("By when?", &notice, &date("2025-10-31")).is_some());
        let days = |value: &str| format!(r#""amount": {{"value": {value}, "currency": "XXX", "unit": "days"}}"#);
        let cover = ["Terms", "Cover: 2025-03-01 to 2025-03-10, both days included"];
        assert_eq!(asked("For how many days?", &cover, &days("10")), None);
        assert!(asked("For how many days?", &cover, &days("9")).is_some());
        let hours = |value: &str| format!(r#""amount": {{"value": {value}, "currency": "XXX", "unit": "hours"}}"#);
        let open = ["Hours", "Friday 09:00 - 17:30"];
        assert_eq!(asked("For how long?", &open, &hours("8.5")), None);
        assert!(asked("For how long?", &open, &hours("9")).is_some());
    }

    #[test]
    fn a_slip_and_a_wrong_scale_are_told() {
        let warning = |message: &str| Some((Severity::Warning, message.to_owned()));
        assert_eq!(
            said("36874", "null", &["$37,390", "543"]),
            warning("The answer is 36874, but 37390 − 543 is 36847.")
        );
        assert_eq!(
            said("36847000", "null", &["$37,390", "543"]),
            warning("The answer is 36847000, but 37390 − 543 is 36847.")
        );
        assert_eq!(
            said("36847", "\"million\"", &["in thousands: 37,390", "543"]).map(|(severity, _)| severity),
            Some(Severity::Warning)
        );
        assert_eq!(said("9", "null", &["40", "17"]).map(|(severity, _)| severity), Some(Severity::Note));
    }
}
