//! Amounts: number, sign, scale, currency, unit and period against the figures of the cited lines.

use super::claim::{Claimed, Passage, place_word};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::currency;
use stepscope_evidence::figures::{Figure, FigureMeasure, FigureRole, FigureSign, figures, measure, period, scale};
use stepscope_evidence::wording::{akin, folded, is_empty_word, part};

/// Difference between an amount and a figure with its digits, the smallest first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mismatch {
    /// It is for another period or thing.
    Rate(String),
    /// Its unit is another.
    Unit,
    /// Its sign is another.
    Sign,
    /// It is counted in another scale.
    Scale,
    /// It is of another currency.
    Currency(&'static str),
    /// It is a percentage, a count or the number of something.
    Kind,
}

/// An amount as an answer gives it.
struct SaidAmount {
    value: Number,
    shown: String,
    currency: Option<&'static str>,
    scale: Option<Number>,
    percent: bool,
    measure: Option<FigureMeasure>,
    unit: Option<String>,
    /// Words that say what it is for, folded.
    rate: Vec<String>,
}

impl SaidAmount {
    fn of(value: Value<'_>) -> Option<Self> {
        let number = value.get("value")?;
        let written = Written::of(number).or_else(|| Written::parse(number.string()?.bytes().trim_ascii()))?;
        let text = |name: &str| value.get(name).and_then(Value::string).and_then(|text| text.utf8().map(str::to_owned));
        let code = Value::text_of(value.get("currency"));
        let code = code.readable();
        let currency = currency::meant(code).filter(|code| !matches!(*code, "XXX" | "XTS"));
        let unit = Value::text_of(value.get("unit"));
        let unit = unit.readable();
        let mut amount = Self {
            value: written.value,
            shown: written.value.shown(),
            currency,
            scale: None,
            percent: unit.contains('%') || code.contains('%'),
            measure: None,
            unit: text("unit"),
            rate: Vec::new(),
        };
        amount.read_unit(unit);
        Some(amount)
    }

    fn read_unit(&mut self, unit: &str) {
        const RATES: [&str; 8] = ["per", "pro", "je", "par", "each", "every", "im", "a"];
        let words: Vec<&str> =
            unit.split(|c: char| !(c.is_alphanumeric() || "°%²".contains(c))).filter(|word| !word.is_empty()).collect();
        let slash = unit.contains('/');
        let mut is_rate = slash && unit.trim_start().starts_with('/');
        for (n, word) in words.iter().enumerate() {
            let lower = word.to_lowercase();
            if RATES.contains(&lower.as_str()) && words.get(n + 1).is_some() {
                self.percent |= words.get(n + 1).is_some_and(|next| next.eq_ignore_ascii_case("cent"));
                is_rate = true;
            } else if matches!(lower.as_str(), "percent" | "percentage" | "prozent" | "prozentpunkte" | "pct") {
                self.percent = true;
            } else if matches!(lower.as_str(), "bps" | "bp" | "basis" | "basispunkte") {
                (self.percent, self.scale) = (true, Number::fraction(1, 100));
            } else if let Some(factor) = scale(word, stepscope_evidence::figures::Convention::Unknown)
                .filter(|_| !is_rate && self.scale.is_none())
            {
                self.scale = Some(Number::whole(factor));
            } else if is_rate
                || (period(&lower).is_some()
                    && (lower.ends_with("ly") || lower.ends_with("lich") || self.currency.is_some()))
            {
                if !is_empty_word(&folded(word)) || matches!(lower.as_str(), "an") {
                    self.rate.push(folded(word));
                }
            } else if self.measure.is_none() && self.currency.is_none() && n <= 1 {
                let degree = word.trim_start_matches('°');
                self.measure = measure(word).or_else(|| super::truth::degrees(degree, word.starts_with('°')));
            }
            is_rate |= slash && n == 0;
        }
    }

    fn words(&self) -> String {
        let mut words = self.shown.clone();
        if self.percent {
            words.push_str(" %");
        } else if let Some(currency) = self.currency {
            words = [&words, " ", currency].concat();
        }
        words
    }
}

/// Compares an amount with what its item cites.
pub(super) fn compare(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer) {
    let Some(amount) = SaidAmount::of(value) else { return };
    let at = pointer.then("value");
    let mut nearest: Option<(Mismatch, String)> = None;
    let mut quote_has_kind = false;
    let evidence = claimed.evidence;
    let (quotes, lines) = (&evidence.quotes, &evidence.lines);
    for passages in [quotes, lines] {
        for passage in passages {
            let figures = evidence.figures(passage);
            let has_money = figures.iter().any(Figure::is_money);
            for figure in figures.iter().filter(|figure| figure.role == FigureRole::Value || !has_money) {
                match fits(&amount, figure, passage, has_money, claimed) {
                    Some(Ok(())) => {
                        let unit = amount.unit.as_deref();
                        if !unit.is_some_and(|unit| super::exchanged::in_unit(claimed, figure, unit, &at)) {
                            claimed.stands(passage, figure.range.clone());
                        }
                        return;
                    }
                    Some(Err(mismatch)) => {
                        let words = part(passage.text, figure.range.clone()).to_owned();
                        if nearest.as_ref().is_none_or(|(other, _)| mismatch < *other) {
                            nearest = Some((mismatch, words));
                        }
                    }
                    None => {}
                }
            }
            quote_has_kind |= figures.iter().any(|figure| {
                figure.role == FigureRole::Value
                    && figure.is_money() == amount.currency.is_some()
                    && figure.percent == amount.percent
            });
        }
        // What the quote says of this kind is what is cited; else the lines around it tell.
        if !quotes.is_empty() && quote_has_kind {
            break;
        }
    }
    // A zero has a rule of its own.
    if amount.value == Number::ZERO {
        return;
    }
    if evidence.passages().any(|passage| may_be(&amount, passage, claimed)) {
        claimed.leave_open();
        return;
    }
    let place = if quote_has_kind && !quotes.is_empty() { "the quote" } else { place_word(evidence) };
    let message = Message::new("The value ").text(amount.words());
    let message = match nearest {
        Some((Mismatch::Currency(code), words)) => message
            .text(" is not in ")
            .text(place)
            .text(", where the currency is ")
            .text(code)
            .text(": ")
            .quoted(words.trim().as_bytes())
            .text("."),
        Some((Mismatch::Rate(said), words)) => message
            .text(" is in ")
            .text(place)
            .text(" for something else: ")
            .quoted([words.trim(), " … ", &said].concat().as_bytes())
            .text("."),
        Some((_, words)) => message
            .text(" is not in ")
            .text(place)
            .text(", where the number is ")
            .quoted(words.trim().as_bytes())
            .text("."),
        None => message.text(" is not in ").text(place).text("."),
    };
    claimed.miss(at, message);
}

/// Tells whether an amount may stand in a passage in a writing that nobody here reads: as a numeral of another script, in words,
/// or with a word behind its digits that can be a scale or a currency.
fn may_be(amount: &SaidAmount, passage: &Passage<'_>, claimed: &Claimed<'_>) -> bool {
    let text = passage.text;
    if super::date::has_numerals(text) || is_scanned(amount, text, claimed) {
        return true;
    }
    let found = claimed.evidence.figures(passage);
    let own = amount.value.magnitude();
    let is_scaled = |reading: &Number| {
        (2..=12).any(|zeros| reading.times(Number::whole(10_i64.pow(zeros))).is_some_and(|scaled| scaled == own))
    };
    found.iter().any(|figure| {
        let behind = part(text, figure.range.end..).trim_start_matches([' ', '\u{a0}']);
        let word = behind.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let is_unknown = !word.is_empty() && is_unknown(word, claimed);
        let is_same = figure.readings.contains(&own);
        is_unknown
            && ((figure.scale.is_none() && figure.readings.iter().any(is_scaled)) || (is_same && !figure.is_money()))
    })
}

/// Tells whether an amount stands in a text once what a scanner did is undone: letters taken for digits, and blanks between all
/// letters of a line.
fn is_scanned(amount: &SaidAmount, text: &str, claimed: &Claimed<'_>) -> bool {
    let digit = |c: char| match c {
        'l' | 'I' => '1',
        'O' | 'o' => '0',
        c => c,
    };
    let mut plain = String::with_capacity(text.len());
    for line in text.split('\n') {
        let is_spread = line.split(' ').filter(|word| word.chars().count() == 1).count() > 5;
        for word in line.split_inclusive(' ') {
            let is_number = word.bytes().any(|byte| byte.is_ascii_digit())
                && word.trim_end().chars().all(|c| digit(c).is_ascii_digit() || matches!(c, '.' | ','));
            let word = if is_spread && word.chars().count() == 2 { word.trim_end() } else { word };
            plain.extend(word.chars().map(|c| if is_number { digit(c) } else { c }));
        }
        plain.push('\n');
    }
    let own = amount.value.magnitude();
    plain.trim_end() != text.trim_end()
        && figures(&plain, claimed.evidence.convention)
            .iter()
            .any(|figure| figure.magnitudes().any(|value| value == own))
}

/// Tells whether a word behind a number is none that these readers know: of another script, or of a language with no list.
fn is_unknown(word: &str, claimed: &Claimed<'_>) -> bool {
    let is_known =
        measure(word).is_some() || currency::word(word).is_some() || scale(word, claimed.evidence.convention).is_some();
    let is_latin = word.chars().all(|c| matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}'));
    !is_known && (!is_latin || claimed.evidence.language.is_none())
}

/// Compares an amount with a figure; `None`: the digits are others.
fn fits(
    amount: &SaidAmount,
    figure: &Figure,
    passage: &Passage<'_>,
    has_money: bool,
    claimed: &Claimed<'_>,
) -> Option<Result<(), Mismatch>> {
    let own = amount.value.magnitude();
    let scaled = amount.scale.map_or(Some(own), |scale| own.times(scale))?;
    if let (Some(unit), Some(measured)) = (amount.measure, figure.measure) {
        if unit.dimension == measured.dimension {
            let base = unit.base(scaled)?;
            if figure.magnitudes().any(|value| measured.base(value) == Some(base)) {
                return Some(sign(amount, figure, passage, claimed));
            }
        }
        return figure.magnitudes().any(|value| value == scaled).then_some(Err(Mismatch::Unit));
    }
    let is_same = figure.magnitudes().any(|value| value == scaled);
    let is_scaled = figure.scale.is_none()
        && figure.readings.iter().any(|reading| *reading == own || *reading == scaled)
        && !figure.percent
        && figure.measure.is_none();
    let header = || claimed.evidence.header_scale().map(Number::whole);
    if !is_same {
        // The number counts in the scale of its table.
        let by_header = is_scaled_by(figure, scaled, header);
        let is_bare_of_scale = figure.scale.is_some() && figure.readings.contains(&own);
        let as_share = figure.percent
            && !amount.percent
            && figure.values().iter().any(|value| value.over(Number::whole(100)) == Some(own));
        if by_header {
            return Some(
                kind(amount, figure, passage, has_money, claimed).and_then(|()| sign(amount, figure, passage, claimed)),
            );
        }
        if as_share && amount.currency.is_none() {
            return Some(Ok(()));
        }
        return (is_bare_of_scale || (is_scaled && amount.scale.is_some())).then_some(Err(Mismatch::Scale));
    }
    // "87.8" under "in millions" is no 87.8.
    if amount.scale.is_none() && is_scaled && amount.currency.is_some() && !figure.is_money() && header().is_some() {
        return Some(Err(Mismatch::Scale));
    }
    Some(kind(amount, figure, passage, has_money, claimed).and_then(|()| sign(amount, figure, passage, claimed)))
}

fn is_scaled_by(figure: &Figure, scaled: Number, header: impl Fn() -> Option<Number>) -> bool {
    if figure.scale.is_some() || figure.percent || figure.measure.is_some() {
        return false;
    }
    let Some(header) = header() else { return false };
    figure.readings.iter().any(|reading| reading.times(header) == Some(scaled))
}

/// Compares currency, percent, unit and rate.
fn kind(
    amount: &SaidAmount,
    figure: &Figure,
    passage: &Passage<'_>,
    has_money: bool,
    claimed: &Claimed<'_>,
) -> Result<(), Mismatch> {
    let is_other_than_percent = figure.is_money() || figure.role == FigureRole::Label;
    if amount.percent != figure.percent && (figure.percent || is_other_than_percent) {
        return Err(Mismatch::Kind);
    }
    if let Some(code) = amount.currency.filter(|_| !amount.percent) {
        if figure.is_money() {
            if !figure.currency.contains(&code) {
                return Err(Mismatch::Currency(figure.currency[0]));
            }
            if let Some(other) = narrowed(code, figure, claimed) {
                return Err(Mismatch::Currency(other));
            }
        } else {
            let is_other = figure.measure.is_some()
                || figure.role == FigureRole::Label
                || (has_money && (figure.noun.is_some() || is_count(figure, passage, claimed)));
            if is_other {
                return Err(Mismatch::Kind);
            }
            match headed_currency(figure, passage, claimed) {
                Some(headed) if headed != code => return Err(Mismatch::Currency(headed)),
                Some(_) => {}
                None => other_currency(code, claimed)?,
            }
        }
    } else if figure.is_money() && amount.measure.is_some() {
        return Err(Mismatch::Kind);
    }
    if amount.measure.is_some() && figure.measure.is_none() {
        let words = figure.noun.clone().and_then(|noun| passage.text.get(noun));
        if words.is_some() {
            return Err(Mismatch::Unit);
        }
    }
    rate(amount, figure, passage, claimed)
}

/// Tells whether a whole number is a count: in its row of a table every number behind it has a mark of money.
fn is_count(figure: &Figure, passage: &Passage<'_>, claimed: &Claimed<'_>) -> bool {
    let text = passage.text;
    let end = part(text, figure.range.end..).find('\n').map_or(text.len(), |at| figure.range.end + at);
    let behind = part(text, figure.range.end..end);
    let is_cell = behind.starts_with("  ") || behind.trim_start_matches(' ').starts_with(['|', '\t']);
    let others = figures(behind, claimed.evidence.convention);
    let values: Vec<&Figure> = others.iter().filter(|other| other.role == FigureRole::Value).collect();
    figure.decimals == 0 && is_cell && !values.is_empty() && values.iter().all(|other| other.is_money())
}

/// Another currency that a mark of several must mean: the lines around name this one and never the other.
fn narrowed(code: &str, figure: &Figure, claimed: &Claimed<'_>) -> Option<&'static str> {
    if figure.currency.len() < 2 {
        return None;
    }
    let evidence = claimed.evidence;
    let texts = evidence.passages().map(|passage| passage.text).chain(evidence.around.iter().copied());
    let certain: Vec<&'static str> =
        texts.flat_map(currency::marks).filter(|codes| codes.len() == 1).flatten().collect();
    let others: Vec<&&str> = certain.iter().filter(|one| figure.currency.contains(one)).collect();
    let other = others.first().copied().copied()?;
    (!others.iter().any(|one| **one == code)).then_some(other)
}

/// The currency that the heading of the figure's column names.
fn headed_currency(figure: &Figure, passage: &Passage<'_>, claimed: &Claimed<'_>) -> Option<&'static str> {
    let base = passage.base?;
    let place = base + figure.range.start..base + figure.range.end;
    match currency::marks(super::asked::heading(claimed.evidence.document?, claimed.evidence.convention, &place)?)
        .as_slice()
    {
        [codes] => codes.first().copied().filter(|_| codes.len() == 1),
        _ => None,
    }
}

/// Looks for another currency where the number has no mark of its own: in the cited lines, then around them.
fn other_currency(code: &str, claimed: &Claimed<'_>) -> Result<(), Mismatch> {
    let evidence = claimed.evidence;
    let cited = evidence.passages().map(|passage| passage.text);
    let mut other = None;
    for text in cited.chain(evidence.around.iter().copied()) {
        for found in currency::marks(text) {
            if found.contains(&code) {
                return Ok(());
            }
            other = other.or_else(|| found.first().copied());
        }
    }
    other.map_or(Ok(()), |other| Err(Mismatch::Currency(other)))
}

/// Compares the signs; a loss is said without one.
fn sign(amount: &SaidAmount, figure: &Figure, passage: &Passage<'_>, claimed: &Claimed<'_>) -> Result<(), Mismatch> {
    const LOSSES: &str = "loss losses deficit decrease decline reduction expense expenses cost costs outflow debit deduction less fell \
        dropped lost verlust aufwand minderung ruckgang perte charges baisse";
    let is_negative = match figure.sign {
        FigureSign::Plus => false,
        FigureSign::Minus => true,
        FigureSign::Brackets => {
            let in_accounts = figure.is_money()
                || fills_cell(figure, passage)
                || figure.decimals > 0
                || figure.readings.iter().any(|value| *value >= Number::whole(1_000));
            let before = part(passage.text, ..figure.range.start).trim_end();
            let line = before.rsplit('\n').next().expect("a split has a first part");
            // "two hundred (200)", "the fee (EUR 50)" are asides.
            let is_aside = figures(line, claimed.evidence.convention)
                .iter()
                .any(|other| other.magnitudes().any(|value| figure.magnitudes().any(|own| own == value)));
            let behind = part(passage.text, figure.range.end..);
            let ends = behind
                .trim_start_matches([' ', '|', '\t'])
                .chars()
                .next()
                .is_none_or(|c| c == '\n' || c.is_ascii_digit() || "(-−–$€£".contains(c));
            if !in_accounts || is_aside || !ends {
                return Ok(());
            }
            true
        }
    };
    if is_negative == amount.value.is_negative() {
        return Ok(());
    }
    let is_loss = |text: &str| {
        stepscope_evidence::wording::words(text)
            .iter()
            .any(|word| LOSSES.split_whitespace().any(|loss| loss == word.folded))
    };
    if is_loss(passage.text) || is_loss(claimed.question) { Ok(()) } else { Err(Mismatch::Sign) }
}

/// Tells whether a figure is all of its cell between two bars.
fn fills_cell(figure: &Figure, passage: &Passage<'_>) -> bool {
    let before = part(passage.text, ..figure.range.start).trim_end_matches(' ');
    let behind = part(passage.text, figure.range.end..).trim_start_matches(' ');
    before.ends_with('|') && behind.starts_with('|')
}

/// Compares the unit of a price with the unit that stands in the row before it: `m3   42.10`.
fn priced_by(amount: &SaidAmount, figure: &Figure, passage: &Passage<'_>) -> Result<(), Mismatch> {
    const UNITS: &str = "m m2 m3 m² m³ km kg t g l h d each ea pcs pc no nr stk st psch hour day week month piece item unit lm lfm sqm qm";
    let is_unit = |word: &str| UNITS.split(' ').any(|known| known == word);
    let Some(own) = amount.unit.as_deref().map(str::trim).filter(|unit| is_unit(unit)) else { return Ok(()) };
    let before = part(passage.text, ..figure.range.start);
    let line = before.rsplit('\n').next().expect("a split has a first part");
    let column = line.trim_end().rsplit("  ").next().expect("a split has a first part").trim_matches(['|', ' ']);
    let plain = |unit: &str| unit.replace('²', "2").replace('³', "3");
    let differs = is_unit(column) && plain(column) != plain(own) && line.trim() != column;
    if differs { Err(Mismatch::Rate(column.to_owned())) } else { Ok(()) }
}

/// Compares what an amount is for: per week is not per month.
fn rate(amount: &SaidAmount, figure: &Figure, passage: &Passage<'_>, claimed: &Claimed<'_>) -> Result<(), Mismatch> {
    priced_by(amount, figure, passage)?;
    if amount.rate.is_empty() {
        return Ok(());
    }
    let own = amount.rate.iter().find_map(|word| period(word));
    let figure_period = figure.rate.iter().find_map(|word| period(word));
    if let (Some(own), Some(said)) = (own, figure_period) {
        return if own == said { Ok(()) } else { Err(Mismatch::Rate(figure.rate.join(" "))) };
    }
    let text = passage.text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if let Some(own) = own {
        // "within 14 days" counts days; "the monthly rent" is for a month.
        let counted = |n: usize| {
            n.checked_sub(1).and_then(|n| words.get(n)).is_some_and(|before| {
                before.bytes().any(|byte| byte.is_ascii_digit())
                    || stepscope_arithmetic::number_words::number_word(before.as_bytes())
                        .is_some_and(|word| word.count().is_some())
            })
        };
        // "The annual rent, payable quarterly" is for a year.
        let is_of_payment = |n: usize| {
            const PAID: [&str; 6] = ["payable", "paid", "pay", "billed", "invoiced", "zahlbar"];
            let before = n.checked_sub(1).and_then(|n| words.get(n));
            let behind = words.get(n + 1);
            before.is_some_and(|word| PAID.contains(word)) || behind.is_some_and(|word| word.starts_with("instal"))
        };
        let said: Vec<_> = words
            .iter()
            .enumerate()
            .filter(|(n, _)| !counted(*n))
            .filter_map(|(n, word)| Some((period(word)?, *word, is_of_payment(n))))
            .collect();
        let has_other = said.iter().any(|(.., is_of_payment)| !is_of_payment);
        let said: Vec<_> = said
            .into_iter()
            .filter(|(.., is_of_payment)| !(has_other && *is_of_payment))
            .map(|(period, word, _)| (period, word))
            .collect();
        let Some((_, word)) = said.first() else { return Ok(()) };
        if said.iter().any(|(said, _)| *said == own)
            || stepscope_evidence::wording::words(claimed.question).iter().any(|word| period(&word.folded) == Some(own))
        {
            return Ok(());
        }
        return Err(Mismatch::Rate((*word).to_owned()));
    }
    if figure.rate.is_empty() {
        return Ok(());
    }
    let all: Vec<String> = words.iter().map(|word| folded(word)).collect();
    let stands = amount.rate.iter().any(|word| {
        all.iter().any(|other| akin(word, other)) || claimed.question.to_lowercase().contains(word.as_str())
    });
    if stands { Ok(()) } else { Err(Mismatch::Rate(figure.rate.join(" "))) }
}
