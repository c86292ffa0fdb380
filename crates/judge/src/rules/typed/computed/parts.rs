//! The numbers that an item cites, with what tells their kind, their column and their time.

use std::ops::Range;

use crate::case::CaseView;
use crate::support;
use stepscope_arithmetic::number::Number;
use stepscope_base::json::Value;
use stepscope_evidence::currency;
use stepscope_evidence::date;
use stepscope_evidence::document::Document;
use stepscope_evidence::figures::{
    Convention, Figure, FigureDimension, FigureMeasure, FigureRole, FigureSign, figures, header_scale, measure, scale,
};
use stepscope_evidence::typed::AnswerItem;
use stepscope_evidence::wording::{akin, part, words};

/// A longer quote or line is prose with numbers in it.
const MAX_TEXT: usize = 600;
/// Maximum number of cited lines that are searched for a quote.
const MAX_LINES: usize = 20;
/// Maximum number of lines around the cited ones that are searched for the scale of a table and the convention of its
/// numbers.
const AROUND: usize = 12;

/// Kind of a number: only those of one kind are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PartKind {
    /// Nothing is said of it.
    Bare,
    Money,
    Percent,
    Measure(FigureDimension),
}

/// A cited number.
#[derive(Clone, Debug)]
pub(super) struct CitedPart {
    pub value: f64,
    pub kind: PartKind,
    /// Size of its unit in the smallest of its dimension.
    size: f64,
    /// The answer is money.
    pub is_of_money: bool,
    /// Time, counted in years or in places before and behind "compared to".
    pub time: Option<i64>,
    /// Words of the line before it.
    pub label: Vec<String>,
    heading: Option<String>,
    /// It has no mark, and a word behind it says what is counted.
    pub counts_something: bool,
    /// A word beside it scales it.
    has_scale: bool,
}

impl CitedPart {
    /// Tells whether two numbers can be added: of one kind, or of none that is known. A percentage is no money.
    pub(super) fn adds_to(&self, other: &Self) -> bool {
        let is_percent = |kind| kind == PartKind::Percent;
        match (self.kind, other.kind) {
            (a, b) if a == b => true,
            (a, b) if is_percent(a) || is_percent(b) => {
                !self.is_of_money && (a == PartKind::Bare || b == PartKind::Bare)
            }
            (PartKind::Bare, _) | (_, PartKind::Bare) => true,
            _ => false,
        }
    }

    /// Takes in the smaller part of one measure, "30 min" behind "3 h"; `false` where it is none.
    fn takes(&mut self, value: f64, kind: PartKind, size: f64, between: &str) -> bool {
        let is_joined = words(between).iter().all(|word| matches!(word.folded.as_str(), "and" | "und" | "et" | "h"))
            && !between.contains(['+', '-', '–', ';', '/', '|', '\n']);
        let is_part = matches!(kind, PartKind::Measure(_)) && kind == self.kind && value * size < self.size;
        if is_part && is_joined {
            self.value += value * size / self.size;
        }
        is_part && is_joined
    }

    /// Tells whether it can be a percentage.
    pub(super) fn is_share(&self) -> bool {
        matches!(self.kind, PartKind::Percent | PartKind::Bare)
    }
}

/// The numbers that an item cites.
pub(super) struct CitedParts {
    pub numbers: Vec<CitedPart>,
    /// Unit in which the document counts: thousands, millions.
    scale: Option<f64>,
    /// Every citation gave a number, so that none is left out.
    pub is_clear: bool,
    /// The cited places.
    pub texts: Vec<String>,
    /// The day stands first in dates of numbers; `None`: nothing tells.
    pub day_first: Option<bool>,
    /// Number of units of the answer in one of those in which a heading says that the table counts.
    pub heading_factor: Option<f64>,
    /// Those of the column that the question names.
    pub named: Vec<CitedPart>,
}

/// A cited text, and the line of the document in which it stands.
struct CitedText<'d> {
    text: String,
    lines: Option<Range<usize>>,
    document: Option<&'d Document>,
}

/// A line of the document, the byte at which it begins, and the bytes that are quoted of it.
struct CitedLine<'d> {
    text: &'d str,
    start: usize,
    quoted: Range<usize>,
}

/// Finds a text in another, not inside of a longer number.
fn whole(text: &str, part: &str) -> Option<usize> {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
    let found = text.match_indices(part).map(|(at, _)| at).find(|at| {
        !is_digit(text.get(..*at).and_then(|before| before.chars().next_back()))
            && !text.get(at + part.len()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    found.filter(|_| !part.is_empty())
}

impl CitedText<'_> {
    /// The line in which the text stands as it is written.
    fn line(&self) -> Option<CitedLine<'_>> {
        let (document, lines) = (self.document?, self.lines.clone()?);
        lines.take(MAX_LINES).find_map(|line| {
            let (start, text) = (document.offset(line)?, std::str::from_utf8(document.line(line)?).ok()?);
            let quote = self.text.trim();
            let at = whole(text, quote)?;
            Some(CitedLine { text, start, quoted: at..at + quote.len() })
        })
    }

    /// The lines around it, and itself.
    fn around(&self) -> Vec<&str> {
        let mut all = vec![self.text.as_str()];
        if let (Some(document), Some(lines)) = (self.document, &self.lines) {
            let around = lines.start.saturating_sub(AROUND)..lines.end.saturating_add(2).min(document.len());
            all.extend(around.filter_map(|line| std::str::from_utf8(document.line(line)?).ok()));
        }
        all
    }
}

impl CitedParts {
    pub(super) fn of(case: &CaseView<'_>, item: &AnswerItem<'_>, question: &str) -> Self {
        let mut parts = Self {
            numbers: Vec::new(),
            scale: None,
            is_clear: true,
            texts: Vec::new(),
            day_first: None,
            heading_factor: None,
            named: Vec::new(),
        };
        let document = case.document().map(AsRef::as_ref);
        let mut cited = Vec::new();
        for citation in &item.citations {
            let quote = citation.quote.and_then(Value::string);
            let lines = document.and_then(|_| case.meant_lines(citation));
            let text = match (&quote, document.zip(lines.clone())) {
                (Some(quote), _) => quote.bytes().to_vec(),
                (None, Some((document, lines))) => document.text(lines).to_vec(),
                (None, None) => continue,
            };
            let Ok(text) = String::from_utf8(text) else { continue };
            cited.push(CitedText { text, lines, document });
        }
        let own = Convention::of(cited.iter().map(|one| one.text.as_str()));
        let around = || cited.iter().flat_map(CitedText::around).collect::<Vec<_>>();
        let convention = if own == Convention::Unknown { Convention::of(around()) } else { own };
        parts.day_first = support::day_first(around().into_iter());
        let is_of_money = item.value.as_ref().is_some_and(|(_, value)| is_money(*value));
        let mut rows = Vec::new();
        for one in &cited {
            let read = |digits| numbers(one, convention, is_of_money, digits);
            let mut found = if one.text.len() <= MAX_TEXT { read(true) } else { Vec::new() };
            // "Three sets at EUR 20": a number in words counts where it is needed.
            if cited.len() == 1 && found.len() < 2 && one.text.len() <= MAX_TEXT {
                found = read(false);
            }
            // What gives no number of its own may be the heading of a column; words without any digit are a part unread.
            parts.is_clear &= !found.is_empty()
                || one.text.bytes().any(|byte| byte.is_ascii_digit())
                || header_scale(&one.text).is_some();
            rows.extend(found.clone());
            parts.numbers.extend(in_column(found, question));
            let named = one.around().into_iter().find_map(header_scale);
            parts.scale = parts.scale.or(named.map(|scale| scale as f64));
            if one.text.len() <= MAX_TEXT {
                parts.texts.push(one.text.clone());
            }
        }
        // One number gives nothing: the question names a column and means the others of its row too.
        parts.named.clone_from(&parts.numbers);
        if parts.numbers.len() < 2 {
            parts.numbers = rows;
        }
        parts.heading_factor = measure_of(item).and_then(|own| heading_factor(own, &around()));
        parts.convert(item);
        parts.level(unit_scale(item));
        parts
    }

    /// Counts all numbers alike, where some have a scale of their own and the table of the others names one.
    fn level(&mut self, own: Option<f64>) {
        let Some(scale) = self.scale.or(own).filter(|_| self.numbers.iter().any(|part| part.has_scale)) else { return };
        for part in self.numbers.iter_mut().filter(|part| !part.has_scale && part.kind != PartKind::Percent) {
            part.value *= scale;
            part.has_scale = true;
        }
    }

    /// Counts measures of the dimension of the answer in its unit: 1.5 kg and 250 g in g.
    fn convert(&mut self, item: &AnswerItem<'_>) {
        let unit = unit_of(item).and_then(|unit| unit.split(|c: char| !c.is_alphabetic()).find_map(measure));
        let Some((unit, size)) = unit.and_then(|unit| Some((unit, size_of(unit)?))) else { return };
        // In "hours per day" the days are what it is divided by.
        let rate = rate_of(item).and_then(size_of);
        let is_own = |part: &CitedPart| {
            part.kind == PartKind::Measure(unit.dimension) && rate.is_none_or(|rate| (part.size - rate).abs() > 1e-9)
        };
        for part in self.numbers.iter_mut().filter(|part| !part.is_of_money && is_own(part)) {
            part.value *= part.size / size;
        }
        // A temperature beside two times is none of them.
        if rate.is_none() && self.numbers.iter().filter(|part| is_own(part)).count() > 1 {
            self.numbers.retain(|part| is_own(part) || !matches!(part.kind, PartKind::Measure(_)));
        }
    }

    /// Tells whether each citation is one number alone.
    pub(super) fn is_one_each(&self) -> bool {
        let is_alone = |text: &String| !text.trim().is_empty() && text.chars().all(|c| !c.is_alphabetic());
        self.numbers.len() == self.texts.len() && self.texts.iter().all(is_alone)
    }

    /// Tells whether the answer is a percentage.
    pub(super) fn is_percent(item: &AnswerItem<'_>) -> bool {
        unit_of(item).is_some_and(|unit| unit.contains('%') || unit.to_lowercase().contains("percent"))
    }

    /// By what a result may be multiplied before it is compared.
    pub(super) fn scales(&self, item: &AnswerItem<'_>) -> Vec<f64> {
        let own = unit_scale(item);
        let is_percent = Self::is_percent(item);
        if self.numbers.iter().all(|part| part.has_scale || part.kind == PartKind::Percent)
            && self.numbers.iter().any(|part| part.has_scale)
        {
            return vec![1.0 / own.unwrap_or(1.0)];
        }
        match (own, self.scale) {
            (Some(own), Some(of_document)) => vec![of_document / own],
            (None, Some(of_document)) if !is_percent => vec![1.0, of_document],
            _ => vec![1.0],
        }
    }
}

/// The factor from the one other unit of a dimension that the lines name without a number before it: "Generation, GWh".
fn heading_factor(own: FigureMeasure, lines: &[&str]) -> Option<f64> {
    let mut named: Vec<FigureMeasure> = Vec::new();
    for line in lines {
        let mut before = "";
        for word in line.split(|c: char| c.is_whitespace() || "()[],;:".contains(c)).filter(|word| !word.is_empty()) {
            let is_counted = before.bytes().any(|byte| byte.is_ascii_digit());
            if let Some(unit) =
                measure(word).filter(|unit| unit.dimension == own.dimension && !is_counted && word.len() > 1)
            {
                named.push(unit);
            }
            before = word;
        }
    }
    named.dedup();
    match named.as_slice() {
        [unit] if *unit != own => Some(size_of(*unit)? / size_of(own)?),
        _ => None,
    }
}

/// The scale that the unit of an answer names: `million`, `TEUR`.
fn unit_scale(item: &AnswerItem<'_>) -> Option<f64> {
    let unit = unit_of(item)?;
    let word = unit.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty())?;
    let marked = || currency::word(word).and_then(|(_, scale)| scale);
    scale(word, Convention::Unknown).or_else(marked).map(|scale| scale as f64)
}

/// The unit behind "per" in the unit of an answer.
fn rate_of(item: &AnswerItem<'_>) -> Option<FigureMeasure> {
    let unit = unit_of(item)?;
    let own = words(&unit);
    let per = own.iter().position(|word| matches!(word.folded.as_str(), "per" | "pro" | "je" | "par" | "a"));
    let behind = per
        .map_or_else(|| unit.split_once('/').map(|(_, rest)| rest), |at| Some(part(&unit, own.get(at)?.range.end..)))?;
    behind.split(|c: char| !c.is_alphabetic()).find_map(measure)
}

/// The dimension and size of the unit of an answer.
pub(super) fn measure_of(item: &AnswerItem<'_>) -> Option<FigureMeasure> {
    let unit = unit_of(item)?;
    figures(&["1 ", &unit].concat(), Convention::Point).first()?.measure
}

pub(super) fn unit_of(item: &AnswerItem<'_>) -> Option<String> {
    let unit = item.value.as_ref()?.1.get("unit")?.string()?;
    unit.utf8().map(str::to_owned)
}

/// Tells whether an amount is of a currency and no percentage.
fn is_money(value: Value<'_>) -> bool {
    let text = |name: &str| value.get(name).and_then(Value::string).and_then(|text| text.utf8().map(str::to_owned));
    let is_code = |code: String| currency::is_code(code.as_bytes()) && !matches!(code.as_str(), "XXX" | "XTS");
    let is_percent = |unit: String| unit.contains('%') || unit.to_lowercase().contains("percent");
    text("currency").is_some_and(is_code) && !text("unit").is_some_and(is_percent)
}

/// The numbers of a cited text; years are left out where others stand.
fn numbers(cited: &CitedText<'_>, convention: Convention, is_of_money: bool, digits: bool) -> Vec<CitedPart> {
    // What stands around a quote in its line belongs to its numbers too: "million".
    let line = cited.line();
    let (text, quoted) =
        line.as_ref().map_or((cited.text.as_str(), 0..cited.text.len()), |line| (line.text, line.quoted.clone()));
    let days = date::found(text);
    let is_day = |range: &Range<usize>| {
        days.iter().any(|day| {
            day.meanings.iter().any(date::WrittenDate::has_day)
                && day.range.start < range.end
                && range.start < day.range.end
        })
    };
    let mut found: Vec<(CitedPart, bool)> = Vec::new();
    let mut last: Option<Range<usize>> = None;
    for figure in figures(text, convention)
        .into_iter()
        .filter(|figure| figure.range.start < quoted.end && quoted.start < figure.range.end)
    {
        let raw = part(text, figure.range.clone());
        // A label that is cited alone is meant as a number.
        let is_meant =
            figure.role == FigureRole::Value || (figure.range.start <= quoted.start && quoted.end <= figure.range.end);
        // "One of them" counts nothing.
        let is_counted = !digits && figure.magnitudes().any(|value| value > Number::ONE);
        let is_number = (raw.bytes().any(|byte| byte.is_ascii_digit()) || is_counted) && is_meant;
        // What blanks may group is given whole too; its parts are what is cited.
        let is_again = last.as_ref().is_some_and(|last| figure.range.start < last.end);
        if !is_number || is_day(&figure.range) || is_again {
            continue;
        }
        let before_it = last.replace(figure.range.clone());
        let Some(value) = value_of(&figure, raw) else { continue };
        let (kind, size) = (kind_of(&figure), figure.measure.and_then(size_of).unwrap_or(1.0));
        let between = before_it.map(|last| part(text, last.end..figure.range.start));
        if let Some(((whole, _), between)) = found.last_mut().zip(between)
            && whole.takes(value, kind, size, between)
        {
            continue;
        }
        let heading = line.as_ref().and_then(|line| {
            let place = line.start + figure.range.start..line.start + figure.range.end;
            support::heading(cited.document?, convention, &place).map(str::to_owned)
        });
        let before = part(text, ..figure.range.start);
        let label = words(before).into_iter().filter(|word| !word.has_digit()).map(|word| word.folded).collect();
        let is_year = figure.is_bare() && figure.decimals == 0 && raw.len() == 4 && (1900.0..2100.0).contains(&value);
        let time = heading.as_deref().and_then(year_of);
        let (has_scale, counts_something) = (figure.scale.is_some(), figure.noun.is_some());
        let part = CitedPart { value, kind, size, is_of_money, time, label, heading, counts_something, has_scale };
        found.push((part, is_year));
        if let [.., (first, _), (second, _)] = found.as_mut_slice()
            && first.time.is_none()
            && let Some(order) = last_order(before)
        {
            (first.time, second.time) = order;
        }
    }
    let has_other = found.iter().any(|(_, is_year)| !is_year);
    found.into_iter().filter(|(_, is_year)| !is_year || !has_other).map(|(part, _)| part).collect()
}

/// The times of two numbers of a sentence, where the words between them tell which is the later one.
fn last_order(before: &str) -> Option<(Option<i64>, Option<i64>)> {
    const FROM_LATER: [&str; 10] = [
        "compared to",
        "compared with",
        "up from",
        "down from",
        "against",
        "versus",
        " vs",
        "gegenüber",
        "statt",
        "contre",
    ];
    const FROM_EARLIER: [&str; 5] = [" to ", " auf ", " zu ", " à ", " a "];
    // The words between this number and the one before it.
    let start = before.rfind(|c: char| c.is_ascii_digit())? + 1;
    let between = before.get(start..)?.to_lowercase();
    if FROM_LATER.iter().any(|word| between.contains(word)) {
        return Some((Some(1), Some(0)));
    }
    let head = before.get(..start)?.to_lowercase();
    let from = ["from ", "von ", "de "]
        .iter()
        .any(|word| head.trim_end_matches(|c: char| !c.is_alphabetic()).ends_with(word.trim()));
    (from && FROM_EARLIER.iter().any(|word| between.contains(word))).then_some((Some(0), Some(1)))
}

fn year_of(heading: &str) -> Option<i64> {
    let year = |word: &str| word.parse::<i64>().ok().filter(|year| word.len() == 4 && (1900..2100).contains(year));
    let mut years = heading.split(|c: char| !c.is_ascii_digit()).filter_map(year);
    years.next().filter(|_| years.next().is_none())
}

fn kind_of(figure: &Figure) -> PartKind {
    match figure.measure {
        _ if figure.percent => PartKind::Percent,
        _ if figure.is_money() => PartKind::Money,
        Some(unit) => PartKind::Measure(unit.dimension),
        None => PartKind::Bare,
    }
}

fn size_of(unit: FigureMeasure) -> Option<f64> {
    unit.base(Number::ONE).map(Number::float)
}

/// The value of a figure. Brackets are below zero.
fn value_of(figure: &Figure, raw: &str) -> Option<f64> {
    let readings: Vec<_> = figure.magnitudes().collect();
    // Without a convention "1.234" is a decimal number, and "1,234" a grouped one.
    let value = if raw.contains('.') { readings.last() } else { readings.first() }?;
    let value = value.float();
    Some(if figure.sign == FigureSign::Plus { value } else { -value })
}

/// Keeps the numbers of the one column that the question names, where they stand in several.
fn in_column(found: Vec<CitedPart>, question: &str) -> Vec<CitedPart> {
    let asked = support::Asked::of(question);
    let mut named: Vec<&String> =
        found.iter().filter_map(|part| part.heading.as_ref()).filter(|heading| asked.names(heading)).collect();
    named.dedup();
    match named.as_slice() {
        [one] => {
            let one = (*one).clone();
            found.into_iter().filter(|part| part.heading.as_ref() == Some(&one)).collect()
        }
        _ => found,
    }
}

/// Counts what a part is of, as the question says: "two adults and a child".
pub(super) fn weight(part: &CitedPart, question: &str) -> Option<f64> {
    /// More of one thing are no count of what is bought.
    const MAX_COUNT: f64 = 20.0;
    const ARTICLES: [&str; 9] = ["a", "an", "one", "ein", "eine", "einen", "un", "une", "una"];
    let is_of_label = |noun: &str| part.label.iter().any(|word| akin(word, noun));
    let counted = figures(question, Convention::Unknown).into_iter().find_map(|figure| {
        let noun = words(question.get(figure.noun.clone()?)?).into_iter().next()?;
        is_of_label(&noun.folded).then(|| figure.magnitudes().next().map(|count| count.float())).flatten()
    });
    let counted = counted.filter(|count| *count <= MAX_COUNT);
    let all = words(question);
    let alone = all.windows(2).any(|pair| {
        matches!(pair, [article, noun] if ARTICLES.contains(&article.folded.as_str()) && is_of_label(&noun.folded))
    });
    counted.or_else(|| alone.then_some(1.0))
}

/// The numbers of the question itself, which it tells the answer to work with.
pub(super) fn of_question(question: &str, parts: &[CitedPart], digits: bool) -> Vec<CitedPart> {
    let is_of_money = parts.iter().any(|part| part.is_of_money);
    let cited = CitedText { text: question.to_owned(), lines: None, document: None };
    let known = |part: &CitedPart| parts.iter().any(|other| (other.value - part.value).abs() < 1e-9);
    let found = numbers(&cited, Convention::of([question]), is_of_money, digits);
    let is_year = |part: &CitedPart| part.kind == PartKind::Bare && (1900.0..2100.0).contains(&part.value);
    found.into_iter().filter(|part| !known(part) && !is_year(part)).collect()
}
