//! The amounts in the words of an answer: signs, fractions, number words, powers of ten, units and currencies.

use std::ops::Range;

use super::tokens::{Part, Token};
use crate::number::{Number, Written};
use crate::number_words::{NumberWord, number_word};
use crate::quantity::{Dimension, Unit, unit};
use crate::scripts::myriad;

/// More decimals than anybody writes: an exact fraction.
const EXACT: u32 = 18;
/// More units are not added up.
const MAX_COMPOUND: usize = 4;

/// Names of currencies in front of a number or behind it.
const CURRENCIES: &[(&str, &str)] = &[
    ("$", "dollar"),
    ("usd", "dollar"),
    ("€", "euro"),
    ("eur", "euro"),
    ("£", "pound sterling"),
    ("gbp", "pound sterling"),
    ("¥", "yen"),
    ("yen", "yen"),
    ("₹", "rupee"),
    ("rs", "rupee"),
    ("inr", "rupee"),
    ("rupee", "rupee"),
    ("rupees", "rupee"),
    ("元", "yuan"),
    ("円", "yen"),
];

/// Words that make the number of a statement one that is missing or lost.
pub(super) const LOSSES: &[&str] =
    stepscope_base::list![loss loses lost lose deficit debt owes owe decrease decreased drop dropped fell fall falls];

/// An amount as it is written.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Amount {
    /// Its number: 20 for `20%`, 1500000 for `1.5 million`.
    pub(super) number: Written,
    /// Values that it also has for a reader who names no unit: 0.2, 1.5; each unit of `1 hour 30 minutes`.
    pub(super) also: Vec<Number>,
    /// Values that it may have, with nothing that says so.
    pub(super) perhaps: Vec<Number>,
    /// Its unit, and the amount in the smallest unit of that dimension.
    pub(super) measure: Option<AmountMeasure>,
    /// Its currency.
    pub(super) currency: Option<&'static str>,
    /// True if it is said as a share of a hundred.
    pub(super) percent: bool,
    /// Its parts among the tokens.
    pub(super) tokens: Range<usize>,
}

/// Quantity that an amount measures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct AmountMeasure {
    pub(super) dimension: Dimension,
    /// In the smallest unit of its dimension.
    pub(super) total: f64,
    /// True if a month or a year is in it, which have no fixed length.
    pub(super) is_vague: bool,
}

impl Amount {
    pub(super) fn bare(number: Written, tokens: Range<usize>) -> Self {
        Self { number, also: Vec::new(), perhaps: Vec::new(), measure: None, currency: None, percent: false, tokens }
    }

    /// Tells whether anything is said besides its number.
    pub(super) fn is_bare(&self) -> bool {
        self.measure.is_none() && !self.percent && self.also.is_empty()
    }

    fn negate(&mut self) {
        self.number.value = self.number.value.negated();
        for value in self.also.iter_mut().chain(&mut self.perhaps) {
            *value = value.negated();
        }
        if let Some(measure) = &mut self.measure {
            measure.total = -measure.total;
        }
    }

    /// Makes it so many times larger, as `million` and `k` do.
    fn scale(&mut self, factor: Number, is_sure: bool) {
        let Some(value) = self.number.value.times(factor) else { return };
        let small = if is_sure { &mut self.also } else { &mut self.perhaps };
        small.push(self.number.value);
        let decimals = if value.is_whole() { 0 } else { self.number.decimals };
        self.number = Written { value, decimals };
    }

    pub(super) fn measured(&mut self, unit: Unit) {
        let is_vague = matches!(unit.name, "month" | "year" | "decade");
        if unit.dimension == Dimension::Percent {
            self.percent = true;
            self.also.extend(self.number.value.over(Number::whole(100)));
            return;
        }
        let total = self.number.value.float() * unit.size;
        self.measure = Some(AmountMeasure { dimension: unit.dimension, total, is_vague });
    }
}

/// The unit of time that a word of another language or a short form names.
fn time_unit(word: &str) -> Option<Unit> {
    const NAMES: [(&str, &str); 3] = [
        ("hour", "h std stunde stunden heure heures hora horas ora ore uur godz godzin час часа часов timme timmar"),
        ("minute", "min minuten minutos minuti minut minuta minuty minuten мин минут минуты minuter minutter"),
        ("second", "sec sek sekunde sekunden seconde secondes segundos secondi секунд"),
    ];
    let (name, _) = NAMES.iter().find(|(_, words)| words.split(' ').any(|known| known == word))?;
    unit(name.as_bytes())
}

/// Reads every amount in some tokens, in order.
pub(super) fn amounts(tokens: &[Token]) -> Vec<Amount> {
    let reader = AmountReader { tokens };
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match reader.amount(at) {
            Some(amount) => {
                at = amount.tokens.end.max(at + 1);
                found.push(amount);
            }
            None => at += 1,
        }
    }
    found
}

struct AmountReader<'t> {
    tokens: &'t [Token],
}

impl AmountReader<'_> {
    fn get(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.get(at)?.word()
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        self.get(at).is_some_and(|token| token.is_sign(sign))
    }

    fn meaning(&self, at: usize) -> Option<NumberWord> {
        number_word(self.word(at)?.as_bytes())
    }

    /// Reads the currency that a token names.
    fn currency(&self, at: usize) -> Option<&'static str> {
        let known = |name: &str| CURRENCIES.iter().find(|(own, _)| *own == name).map(|(_, currency)| *currency);
        match &self.get(at)?.part {
            Part::Word(word) => known(word),
            Part::Sign(sign) => known(sign.encode_utf8(&mut [0; 4])),
            _ => None,
        }
    }

    /// Tells whether a minus stands here that is a sign: nothing before it can be subtracted from.
    fn is_minus(&self, at: usize) -> bool {
        let is_operand = at.checked_sub(1).and_then(|before| self.get(before)).is_some_and(|before| {
            let is_closed = before.is_sign(')') || before.is_sign('%');
            let is_hyphen = before.word().is_some() && self.get(at).is_some_and(|token| !token.spaced);
            before.is_number() || is_closed || is_hyphen
        });
        match self.get(at) {
            Some(token) if token.is_sign('-') => !is_operand && self.get(at + 1).is_some_and(|next| !next.spaced),
            Some(token) => matches!(token.word(), Some("minus" | "negative")) && !is_operand,
            None => false,
        }
    }

    /// Reads one amount, with what stands in front of it and behind.
    fn amount(&self, start: usize) -> Option<Amount> {
        let (mut at, mut is_negative, mut currency) = (start, false, None);
        // `-$20`, `$-20`, `minus USD 20`, `Rs. 50`
        for _ in 0..4 {
            if !is_negative && self.is_minus(at) {
                is_negative = true;
                at += 1;
            } else if currency.is_none() && self.currency(at).is_some() {
                currency = self.currency(at);
                at += 1;
                at += usize::from(self.is_sign(at, '.'));
                if !is_negative && self.is_sign(at, '-') && self.get(at).is_some_and(|token| !token.spaced) {
                    is_negative = true;
                    at += 1;
                }
            }
        }
        let mut amount = self.unsigned(at)?;
        amount.tokens.start = start;
        amount.currency = currency;
        // `EUR 2.4m`
        let end = amount.tokens.end;
        if currency.is_some() && self.word(end) == Some("m") && self.get(end).is_some_and(|token| !token.spaced) {
            amount.scale(Number::whole(1_000_000), true);
            amount.tokens.end += 1;
        }
        if currency == Some("dollar") || currency == Some("euro") {
            let total = amount.number.value.float() * 100.0;
            amount.measure = Some(AmountMeasure { dimension: Dimension::Money, total, is_vague: false });
        }
        self.take_unit(&mut amount);
        self.take_smaller(&mut amount);
        if is_negative || self.take_below_zero(&mut amount) {
            amount.negate();
        }
        Some(amount)
    }

    /// Reads the number itself.
    fn unsigned(&self, at: usize) -> Option<Amount> {
        match &self.get(at)?.part {
            Part::Number(number, other) => Some(self.digits(at, *number, *other)),
            Part::Fraction(fraction) => Some(Amount::bare(Written { value: *fraction, decimals: EXACT }, at..at + 1)),
            Part::Sign('√') => self.root(at),
            Part::Word(_) => self.words(at),
            Part::Digits | Part::Sign(_) => None,
        }
    }

    /// `√(16)`
    fn root(&self, at: usize) -> Option<Amount> {
        let is_open = self.is_sign(at + 1, '(');
        let inner = at + 1 + usize::from(is_open);
        let Part::Number(number, _) = self.get(inner)?.part else { return None };
        let root = Number::from_float(number.value.float().sqrt().round())?;
        let end = inner + 1 + usize::from(is_open && self.is_sign(inner + 1, ')'));
        let is_exact = root.times(root) == Some(number.value);
        is_exact.then(|| Amount::bare(Written { value: root, decimals: 0 }, at..end))
    }

    fn digits(&self, at: usize, number: Written, other: Option<Number>) -> Amount {
        let mut amount = Amount::bare(number, at..at + 1);
        amount.perhaps.extend(other);
        if let Some((fraction, end)) = self.fraction_behind(at, number).or_else(|| self.mixed(at, number)) {
            return Amount::bare(Written { value: fraction, decimals: EXACT }, at..end);
        }
        if let Some((power, end)) = self.power(at, number.value) {
            amount = Amount::bare(Written { value: power, decimals: 0 }, at..end);
        } else if let Some((product, end)) = self.times_power_of_ten(at, number.value) {
            let decimals = if product.is_whole() { 0 } else { EXACT };
            amount = Amount::bare(Written { value: product, decimals }, at..end);
        }
        self.take_scale(&mut amount);
        self.take_myriads(&mut amount);
        amount
    }

    /// Takes the powers of ten of a number whose words are not parted, and the parts behind it: `1億2000万`, `3만 5천`.
    fn take_myriads(&self, amount: &mut Amount) {
        let factor = |at: usize| {
            let word = self.word(at)?;
            myriad(word).filter(|(_, len)| *len == word.len()).map(|(factor, _)| factor)
        };
        let Some(mut last) = factor(amount.tokens.end) else { return };
        let Some(mut sum) = amount.number.value.times(Number::whole(last)) else { return };
        let mut end = amount.tokens.end + 1;
        while let Some(Part::Number(part, _)) = self.get(end).map(|token| &token.part) {
            let scale = factor(end + 1).unwrap_or(1);
            let Some(total) = part.value.times(Number::whole(scale)).and_then(|part| sum.plus(part)) else { return };
            if scale >= last {
                break;
            }
            (sum, last) = (total, scale);
            end += 1 + usize::from(scale > 1);
        }
        *amount = Amount::bare(Written { value: sum, decimals: 0 }, amount.tokens.start..end);
    }

    /// `3/4`
    fn fraction_behind(&self, at: usize, upper: Written) -> Option<(Number, usize)> {
        let is_plain = self.is_sign(at + 1, '/') && upper.decimals == 0;
        let Part::Number(lower, _) = self.get(at + 2).filter(|_| is_plain)?.part else { return None };
        // `1/2/2024` is a day.
        if lower.decimals > 0 || self.is_sign(at + 3, '/') {
            return None;
        }
        Some((upper.value.over(lower.value)?, at + 3))
    }

    /// `1 1/4`, `1½`, `1 and 1/2`, `2√((1)/(2))` as a typesetter leaves it.
    fn mixed(&self, at: usize, whole: Written) -> Option<(Number, usize)> {
        let is_joint = self.word(at + 1) == Some("and")
            || self.is_sign(at + 1, '√')
            || (self.is_sign(at + 1, '-') && self.is_sign(at + 3, '/'));
        let from = at + 1 + usize::from(is_joint);
        let (fraction, end) = match &self.get(from)?.part {
            Part::Fraction(fraction) => (*fraction, from + 1),
            Part::Number(upper, _) => self.fraction_behind(from, *upper)?,
            Part::Word(_) if self.word(at + 1) == Some("and") => self.worded_share(from)?,
            _ => return None,
        };
        let is_part = whole.value.is_whole() && !fraction.is_negative() && fraction < Number::ONE;
        Some((whole.value.plus(fraction).filter(|_| is_part)?, end))
    }

    /// `2^3`, `10^(3)`, `10³`, `10**3`
    fn power(&self, at: usize, base: Number) -> Option<(Number, usize)> {
        let behind = if self.is_sign(at + 1, '^') {
            at + 2
        } else if self.is_sign(at + 1, '*') && self.is_sign(at + 2, '*') {
            at + 3
        } else {
            return None;
        };
        let is_open = self.is_sign(behind, '(');
        let inner = behind + usize::from(is_open);
        let is_negative = self.is_sign(inner, '-');
        let inner = inner + usize::from(is_negative);
        let Part::Number(exponent, _) = self.get(inner)?.part else { return None };
        let end = inner + 1 + usize::from(is_open && self.is_sign(inner + 1, ')'));
        let exponent = if is_negative { exponent.value.negated() } else { exponent.value };
        Some((base.power(exponent)?, end))
    }

    /// `1.5 × 10^3`
    fn times_power_of_ten(&self, at: usize, number: Number) -> Option<(Number, usize)> {
        let is_times = self.is_sign(at + 1, '*') || self.word(at + 1) == Some("x");
        let Part::Number(ten, _) = self.get(at + 2).filter(|_| is_times)?.part else { return None };
        let (power, end) = self.power(at + 2, ten.value).filter(|_| ten.value == Number::whole(10))?;
        Some((number.times(power)?, end))
    }

    /// Takes what makes a number larger: `million`, `dozen`, `k`.
    fn take_scale(&self, amount: &mut Amount) {
        for _ in 0..2 {
            let at = amount.tokens.end;
            let Some(word) = self.word(at) else { return };
            let is_glued = self.get(at).is_some_and(|token| !token.spaced);
            let scale = match (number_word(word.as_bytes()).and_then(NumberWord::factor), word) {
                // A score is a result, not twenty.
                (Some(_), "score") => None,
                (Some(factor), _) => Some((factor, factor >= 1_000)),
                (None, "millions" | "mio" | "mn") => Some((1_000_000, true)),
                (None, "thousands") => Some((1_000, true)),
                (None, "billions" | "bn") => Some((1_000_000_000, true)),
                (None, "k") if is_glued => Some((1_000, false)),
                // In lower case it is a metre.
                (None, "m") if is_glued && self.is_upper(at) => Some((1_000_000, false)),
                (None, "b") if is_glued && self.is_upper(at) => Some((1_000_000_000, false)),
                _ => None,
            };
            let Some((factor, is_sure)) = scale else { return };
            amount.scale(Number::whole(factor), is_sure);
            amount.tokens.end += 1;
        }
    }

    /// Tells whether a word of one letter was a capital: it takes one byte, as its small form does.
    fn is_upper(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.upper)
    }

    /// `two`, `forty-two`, `one hundred and five`, `half a dozen`, `three quarters`, `two and a half`
    fn words(&self, at: usize) -> Option<Amount> {
        if let Some(amount) = self.one_and_a_part(at) {
            return Some(amount);
        }
        if let Some((share, end)) = self.worded_share(at) {
            let mut amount = Amount::bare(Written { value: share, decimals: EXACT }, at..end);
            // `half a dozen`
            let skip = usize::from(matches!(self.word(end), Some("a" | "an" | "of")));
            if let Some(factor) = self.meaning(end + skip).and_then(NumberWord::factor) {
                amount.number.value = share.times(Number::whole(factor))?;
                amount.tokens.end = end + skip + 1;
            }
            return Some(amount);
        }
        let (mut total, mut group, mut end) = (0_i64, None::<i64>, at);
        let mut last = 0;
        loop {
            let is_joint = group.is_some() && (self.word(end) == Some("and") || self.is_sign(end, '-'));
            let next = end + usize::from(is_joint);
            let is_article = matches!(self.word(next), Some("a" | "an")) && end == at;
            let next = next + usize::from(is_article);
            match self.meaning(next) {
                Some(NumberWord::Small(n))
                    if !is_article && (group.is_none() || last >= 100 || (last >= 20 && (1..10).contains(&n))) =>
                {
                    (group, last) = (Some(group.unwrap_or(0) + i64::from(n)), i64::from(n));
                }
                Some(NumberWord::Tens(n)) if !is_article && (group.is_none() || last >= 100) => {
                    (group, last) = (Some(group.unwrap_or(0) + i64::from(n)), i64::from(n));
                }
                Some(word @ (NumberWord::Hundred | NumberWord::Dozen)) if !is_joint => {
                    if group.is_none() && !is_article && end != at {
                        break;
                    }
                    let factor = word.factor()?;
                    (group, last) = (Some(group.unwrap_or(1).checked_mul(factor)?), factor);
                }
                Some(NumberWord::Scale(factor)) if !is_joint && (group.is_some() || is_article || end == at) => {
                    total = total.checked_add(group.unwrap_or(1).checked_mul(factor)?)?;
                    (group, last) = (Some(0), factor);
                }
                _ => break,
            }
            end = next + 1;
        }
        let whole = total.checked_add(group?)?;
        let mut amount = Amount::bare(Written::whole(whole), at..end);
        // `two and a half`
        if self.word(end) == Some("and")
            && let Some((share, end)) = self.worded_share(end + 1)
        {
            let value = Number::whole(whole).plus(share)?;
            amount = Amount::bare(Written { value, decimals: EXACT }, at..end);
        }
        Some(amount)
    }

    /// `an hour and a half`
    fn one_and_a_part(&self, at: usize) -> Option<Amount> {
        let unit = unit(self.word(at + 1)?.as_bytes())?;
        let is_said = matches!(self.word(at), Some("a" | "an" | "one")) && self.word(at + 2) == Some("and");
        let (share, end) = self.worded_share(at + 3).filter(|_| is_said)?;
        let value = Number::ONE.plus(share)?;
        let mut amount = Amount::bare(Written { value, decimals: EXACT }, at..end);
        amount.measured(unit);
        Some(amount)
    }

    /// `half`, `a quarter`, `three quarters`, `two thirds`, `one-third`
    fn worded_share(&self, at: usize) -> Option<(Number, usize)> {
        let count = match self.word(at)? {
            "a" | "an" => Some(1),
            _ => self.meaning(at).and_then(NumberWord::count),
        };
        let count = count.or_else(|| match self.get(at)?.part {
            Part::Number(number, _) => i64::try_from(number.value.integer()?).ok(),
            _ => None,
        });
        if self.meaning(at) == Some(NumberWord::Half) && matches!(self.word(at), Some("half")) {
            return Some((Number::fraction(1, 2)?, at + 1));
        }
        let count = count?;
        let next = at + 1 + usize::from(self.is_sign(at + 1, '-'));
        match self.meaning(next)? {
            NumberWord::Half => Some((Number::fraction(count, 2)?, next + 1)),
            NumberWord::Nth(parts, _) => Some((Number::fraction(count, parts)?, next + 1)),
            _ => None,
        }
    }

    /// Takes the unit behind an amount.
    fn take_unit(&self, amount: &mut Amount) {
        let mut at = amount.tokens.end;
        if self.is_sign(at, '%') {
            let percent = Unit { dimension: Dimension::Percent, size: 1.0, name: "percent" };
            amount.measured(percent);
            amount.tokens.end = at + 1;
            return;
        }
        // `26-foot`; `100 square feet` measures no length.
        at += usize::from(self.is_sign(at, '-') && self.get(at + 1).is_some_and(|next| !next.spaced));
        let Some(word) = self.word(at) else {
            if let Some(currency) = self.currency(at) {
                (amount.currency, amount.tokens.end) = (Some(currency), at + 1);
            }
            return;
        };
        if word == "per" && matches!(self.word(at + 1), Some("cent")) {
            amount.measured(Unit { dimension: Dimension::Percent, size: 1.0, name: "percent" });
            amount.tokens.end = at + 2;
            return;
        }
        if let Some(currency) = self.currency(at) {
            amount.currency = Some(currency);
        }
        let is_rate = matches!(self.word(at + 1), Some("per" | "an" | "a" | "each")) || self.is_sign(at + 1, '/');
        let is_power = self.is_sign(at + 1, '^');
        if is_power {
            // Square metres: the number behind is none of its own.
            amount.tokens.end = at + 3;
            return;
        }
        let Some(unit) = unit(word.as_bytes()).or_else(|| time_unit(word)) else { return };
        amount.tokens.end = at + 1;
        if unit.dimension == Dimension::Money && amount.currency.is_none() {
            amount.currency = CURRENCIES.iter().find(|(_, currency)| *currency == unit.name).map(|(_, own)| *own);
        }
        if !is_rate || unit.dimension == Dimension::Percent {
            amount.measured(unit);
        }
    }

    /// Adds the amounts in smaller units behind one: `1 hour 30 minutes`, `13 dollars and 50 cents`.
    fn take_smaller(&self, amount: &mut Amount) {
        let Some(first) = amount.measure else { return };
        let value = amount.number.value;
        if value.is_negative() || value == Number::ZERO {
            return;
        }
        let mut size = first.total / value.float();
        let mut sizes = vec![size];
        let mut total = first.total;
        while sizes.len() < MAX_COMPOUND {
            let at = amount.tokens.end;
            let is_joint = self.word(at) == Some("and") || self.is_sign(at, ',');
            let from = at + usize::from(is_joint);
            let from = from + usize::from(is_joint && self.word(from) == Some("and"));
            let Some(mut smaller) = self.unsigned(from) else { break };
            self.take_unit(&mut smaller);
            let Some(measure) = smaller.measure.filter(|own| own.dimension == first.dimension) else { break };
            let own = measure.total / smaller.number.value.float();
            if !own.is_finite() || own >= size {
                break;
            }
            size = own;
            sizes.push(own);
            total += measure.total;
            amount.tokens.end = smaller.tokens.end;
        }
        if sizes.len() < 2 {
            return;
        }
        let in_unit = |size: f64| Number::from_float(total / size);
        let Some(largest) = sizes.first().and_then(|size| in_unit(*size)) else { return };
        amount.also.extend(sizes.iter().skip(1).filter_map(|size| in_unit(*size)));
        amount.number = Written { value: largest, decimals: EXACT };
        amount.measure = Some(AmountMeasure { total, ..first });
    }

    /// `3 degrees below zero`
    fn take_below_zero(&self, amount: &mut Amount) -> bool {
        let at = amount.tokens.end;
        let skip = usize::from(matches!(self.word(at), Some("degrees" | "degree")));
        let skip = skip + usize::from(matches!(self.word(at + skip), Some("celsius" | "fahrenheit" | "c" | "f")));
        let is_below = matches!(self.word(at + skip), Some("below" | "under"))
            && matches!(self.word(at + skip + 1), Some("zero" | "freezing"));
        if is_below {
            amount.tokens.end = at + skip + 2;
        }
        is_below
    }
}
