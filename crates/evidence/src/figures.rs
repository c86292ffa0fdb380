//! Numbers as documents state them: amounts of money, percentages, measures and counts, in the conventions of several
//! languages.
//!
//! A figure keeps every reading that its writing allows, and what stands right beside it: sign, currency, scale, unit and
//! rate. What it is worth beyond that is for those who ask.

use std::ops::Range;

use crate::currency;
use stepscope_arithmetic::number::{Number, Written, ready_made};
use stepscope_arithmetic::scripts::{PlainDigits, is_unspaced};

mod convention;
pub mod measure;
mod number_words;
mod tokens;

pub use convention::{Convention, Language, header_scale, scale};
pub use measure::{FigureDimension, FigureMeasure, measure, period};
use stepscope_base::text::cut;
use tokens::{FigureToken, FigureTokenKind, tokens};

/// Number of figures of one text that are read.
const MAX_FIGURES: usize = 400;
/// Longer texts are cut.
const MAX_TEXT: usize = 20_000;

/// Role of a number in its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FigureRole {
    /// It says how much or how many.
    Value,
    /// It names something: a section, a page, a list entry, part of a code.
    Label,
}

/// Sign of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FigureSign {
    /// None, or a plus.
    Plus,
    /// A minus before or behind it, or "minus", or "below zero".
    Minus,
    /// In brackets of its own: below zero in accounts, an aside elsewhere.
    Brackets,
}

/// A number and what stands beside it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Bytes of the number with its sign, currency, scale and unit.
    pub range: Range<usize>,
    /// Magnitudes that the digits can mean, without the scale.
    pub readings: Vec<Number>,
    /// Number of decimals as written.
    pub decimals: u32,
    /// Factor that a word or prefix right beside it names.
    pub scale: Option<Number>,
    /// Sign.
    pub sign: FigureSign,
    /// Codes of the currencies that the mark beside it can mean; empty if there is none.
    pub currency: Vec<&'static str>,
    /// It is a percentage.
    pub percent: bool,
    /// The unit right behind it.
    pub measure: Option<FigureMeasure>,
    /// Words behind "per", "each" and their like, folded.
    pub rate: Vec<String>,
    /// The word right behind a bare number: what it counts.
    pub noun: Option<Range<usize>>,
    /// Role.
    pub role: FigureRole,
}

impl Figure {
    /// Tells whether it is money by its own mark.
    pub fn is_money(&self) -> bool {
        !self.currency.is_empty()
    }

    /// Tells whether it is a number without any mark of what it measures.
    pub fn is_bare(&self) -> bool {
        !self.is_money() && !self.percent && self.measure.is_none()
    }

    /// Tells whether two figures can be compared: both money or a percentage, or neither, and of one dimension.
    pub fn is_of_kind(&self, other: &Self) -> bool {
        let dimension = |figure: &Self| figure.measure.map(|unit| unit.dimension);
        self.percent == other.percent && self.is_money() == other.is_money() && dimension(self) == dimension(other)
    }

    /// Tells whether two amounts may be of one currency; what is no money has none.
    pub fn shares_currency(&self, other: &Self) -> bool {
        !self.is_money() || self.currency.iter().any(|code| other.currency.contains(code))
    }

    /// The magnitudes that it can mean, with its own scale.
    pub fn magnitudes(&self) -> impl Iterator<Item = Number> + '_ {
        let scale = self.scale.unwrap_or(Number::ONE);
        self.readings.iter().filter_map(move |reading| reading.times(scale))
    }

    /// The values that it can mean, with scale and sign; brackets give both.
    pub fn values(&self) -> Vec<Number> {
        let sign = self.sign;
        let signed = move |value: Number| match sign {
            FigureSign::Plus => vec![value],
            FigureSign::Minus => vec![value.negated()],
            FigureSign::Brackets => vec![value.negated(), value],
        };
        self.magnitudes().flat_map(signed).collect()
    }
}

/// Reads the figures of a text, in order. Those that blanks may group are given whole and in parts.
pub fn figures(text: &str, convention: Convention) -> Vec<Figure> {
    let text = cut(text, MAX_TEXT);
    if !text.bytes().any(|byte| byte.is_ascii_digit() || byte >= 0x80) && !number_words::may_hold(text) {
        return Vec::new();
    }
    let plain = PlainDigits::of(text);
    let tokens = tokens(&plain.text);
    let reader = FigureReader { text: &plain.text, tokens: &tokens, convention };
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() && found.len() < MAX_FIGURES {
        at = match reader.next(at, &mut found) {
            Some(next) => next.max(at + 1),
            None => at + 1,
        };
    }
    for figure in &mut found {
        figure.range = plain.before(figure.range.clone());
        figure.noun = figure.noun.take().map(|noun| plain.before(noun));
    }
    found
}

struct FigureReader<'t> {
    text: &'t str,
    tokens: &'t [FigureToken],
    convention: Convention,
}

/// A number as its digits or words spell it.
struct Spelled {
    readings: Vec<Number>,
    decimals: u32,
    /// The tokens.
    from: usize,
    end: usize,
    is_label: bool,
    /// Blanks group it, and nothing else says that they do.
    soft: bool,
    is_word: bool,
}

impl<'t> FigureReader<'t> {
    fn token(&self, at: usize) -> Option<&'t FigureToken> {
        self.tokens.get(at)
    }

    fn kind(&self, at: usize) -> Option<FigureTokenKind> {
        self.token(at).map(|token| token.kind)
    }

    fn is_sign(&self, at: usize, signs: &[char]) -> bool {
        matches!(self.kind(at), Some(FigureTokenKind::Sign(sign)) if signs.contains(&sign))
    }

    fn is_blank(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(FigureTokenKind::Blank(_)))
    }

    fn str(&self, at: usize) -> &'t str {
        self.token(at).map_or("", |token| &self.text[token.range.clone()])
    }

    /// The word at a place, in small letters.
    fn word(&self, at: usize) -> Option<String> {
        (self.kind(at) == Some(FigureTokenKind::Word)).then(|| self.str(at).to_lowercase())
    }

    /// The place behind the blanks at a place; at most three of them.
    fn past_blanks(&self, at: usize) -> usize {
        (at..at + 3).find(|at| !self.is_blank(*at)).unwrap_or(at + 3)
    }

    /// The place of the last token before a place that is no blank.
    fn before_blanks(&self, at: usize) -> Option<usize> {
        (1..=3).filter_map(|back| at.checked_sub(back)).find(|at| !self.is_blank(*at))
    }

    /// Reads the figure that begins with a token, and the place to go on from.
    fn next(&self, at: usize, found: &mut Vec<Figure>) -> Option<usize> {
        let spelled = match self.kind(at)? {
            FigureTokenKind::Digits => self.digits(at)?,
            FigureTokenKind::Word => self.words(at)?,
            FigureTokenKind::Sign(_) => self.fraction(at)?,
            FigureTokenKind::Blank(_) => return None,
        };
        let figure = self.figure(&spelled);
        let is_firm = !spelled.soft
            || figure.is_money()
            || self.convention == Convention::Comma
            || self.is_column(spelled.from, spelled.end);
        let end = if is_firm { spelled.end } else { at + 1 };
        if !is_firm {
            let first = Number::whole(self.str(at).parse().ok()?);
            let alone = Spelled { readings: vec![first], decimals: 0, end: at + 1, soft: false, ..spelled };
            found.push(self.figure(&alone));
        }
        found.push(figure);
        Some(end)
    }

    /// Tells whether a number fills its column of a table: more than one blank stands before it, and behind it no single one
    /// with more digits.
    fn is_column(&self, from: usize, end: usize) -> bool {
        let is_apart = |first: Option<usize>, second: Option<usize>| {
            first.is_some_and(|at| self.is_blank(at)) && second.is_some_and(|at| self.is_blank(at))
        };
        let goes_on = self.is_blank(end) && self.kind(end + 1) == Some(FigureTokenKind::Digits);
        is_apart(from.checked_sub(1), from.checked_sub(2)) && !goes_on
    }

    /// A fraction with a sign of its own.
    fn fraction(&self, at: usize) -> Option<Spelled> {
        let (value, _) = ready_made(self.str(at).as_bytes())?;
        Some(Spelled {
            readings: vec![value],
            decimals: 2,
            from: at,
            end: at + 1,
            is_label: false,
            soft: false,
            is_word: false,
        })
    }

    fn words(&self, at: usize) -> Option<Spelled> {
        let (value, end) = number_words::read(self.text, self.tokens, at)?;
        let spelled =
            Spelled { readings: vec![value], decimals: 0, from: at, end, is_label: false, soft: false, is_word: true };
        Some(spelled)
    }

    fn digits(&self, at: usize) -> Option<Spelled> {
        let mut groups = vec![at];
        let mut seps: Vec<char> = Vec::new();
        let mut next = at + 1;
        if let Some(spelled) = self.misread_inside(at) {
            return Some(spelled);
        }
        while groups.len() < 12 {
            // "£ 4 , 093.20": a scanner parted the groups.
            if self.is_parted(at, next) {
                groups.push(next + 3);
                seps.push(if self.is_sign(next + 1, &['.']) { '.' } else { ',' });
                next += 4;
                continue;
            }
            let sep = match self.kind(next) {
                Some(FigureTokenKind::Sign(sign @ ('.' | ',' | '\'' | '’'))) => {
                    if sign == '’' {
                        '\''
                    } else {
                        sign
                    }
                }
                Some(FigureTokenKind::Blank(blank)) if blank != '\n' && blank != '\t' => {
                    if blank == ' ' {
                        ' '
                    } else {
                        '_'
                    }
                }
                _ => break,
            };
            let is_group = self.kind(next + 1) == Some(FigureTokenKind::Digits);
            let is_grouping = matches!(sep, '.' | ',') || self.str(next + 1).len() == 3;
            if !is_group || !is_grouping {
                break;
            }
            groups.push(next + 1);
            seps.push(sep);
            next += 2;
        }
        let texts: Vec<&str> = groups.iter().map(|group| self.str(*group)).collect();
        let grouped = grouped(&texts, &seps, self.convention)?;
        let end = groups.get(grouped.used.checked_sub(1)?)? + 1;
        let glued_before = at.checked_sub(1).and_then(|before| self.token(before));
        let is_code = match glued_before.map(|token| token.kind) {
            // "月額180,000円": nothing parts words there.
            Some(FigureTokenKind::Word) => {
                self.currency_before(at).is_none() && !self.str(at - 1).ends_with(is_unspaced)
            }
            Some(FigureTokenKind::Sign('-' | '/' | '.' | '_' | '#')) => at.checked_sub(2).is_some_and(|before| {
                matches!(self.kind(before), Some(FigureTokenKind::Word | FigureTokenKind::Digits))
            }),
            _ => false,
        };
        let soft = grouped.used > 1 && seps.first() == Some(&' ');
        let misread = self.misread_before(at, &texts, &grouped);
        let mut readings = misread.as_ref().map_or(grouped.readings, |(value, _)| vec![*value]);
        let (at, is_code) = misread.map_or((at, is_code), |(_, from)| (from, false));
        // 1½
        let mut end = end;
        if let Some((part, _)) = ready_made(self.str(end).as_bytes()) {
            readings = readings.iter().filter_map(|whole| whole.plus(part)).collect();
            end += 1;
        }
        // "7,5O Euro": the last nought was scanned as a letter.
        if grouped.decimals == 1 && matches!(self.str(end), "O" | "o") && self.currency_behind(end + 1).is_some() {
            end += 1;
        }
        if let Some((value, end)) = self.in_myriads(*readings.first()?, end) {
            readings = vec![value];
            return Some(Spelled {
                readings,
                decimals: 0,
                from: at,
                end,
                is_label: false,
                soft: false,
                is_word: false,
            });
        }
        let is_label = grouped.is_label || is_code || self.is_named(at, end);
        Some(Spelled { readings, decimals: grouped.decimals, from: at, end, is_label, soft, is_word: false })
    }

    /// A number whose parts have a scale each, `1億2000万`, `1억 2,500만`, and the place behind it.
    fn in_myriads(&self, first: Number, end: usize) -> Option<(Number, usize)> {
        let scale_at = |at: usize| {
            let is_word = self.kind(at) == Some(FigureTokenKind::Word) && self.str(at).ends_with(is_unspaced);
            is_word.then(|| convention::scale(self.str(at), self.convention)).flatten()
        };
        let mut last = scale_at(end)?;
        let mut sum = first.times(Number::whole(last))?;
        let mut next = end + 1;
        while let Some((part, behind)) = self.whole_at(next + usize::from(self.is_blank(next))) {
            let scale = scale_at(behind).unwrap_or(1);
            if scale >= last {
                break;
            }
            sum = sum.plus(part.times(Number::whole(scale))?)?;
            next = behind + usize::from(scale > 1);
            last = scale;
        }
        (next > end + 1).then_some((sum, next))
    }

    /// A whole number with commas between its thousands, and the place behind it.
    fn whole_at(&self, at: usize) -> Option<(Number, usize)> {
        (self.kind(at) == Some(FigureTokenKind::Digits)).then_some(())?;
        let mut digits = self.str(at).to_owned();
        let mut end = at + 1;
        while self.is_sign(end, &[',']) && self.str(end + 1).len() == 3 && self.kind(end + 1) == self.kind(at) {
            digits.push_str(self.str(end + 1));
            end += 2;
        }
        Some((Number::whole(digits.parse().ok()?), end))
    }

    /// Tells whether an amount of money goes on behind a comma with blanks on both sides.
    fn is_parted(&self, from: usize, next: usize) -> bool {
        self.is_blank(next)
            && self.is_sign(next + 1, &[',', '.'])
            && self.is_blank(next + 2)
            && self.kind(next + 3) == Some(FigureTokenKind::Digits)
            && self.str(next + 3).len() == 3
            && self.currency_before(from).is_some()
    }

    /// A whole amount of money in which a digit was scanned as a letter, `£ 2l6`.
    fn misread_inside(&self, at: usize) -> Option<Spelled> {
        let digit = match self.str(at + 1) {
            "l" | "I" => "1",
            "O" | "o" => "0",
            _ => return None,
        };
        let is_whole = self.kind(at + 2) == Some(FigureTokenKind::Digits)
            && !(self.is_sign(at + 3, &['.', ',']) && self.kind(at + 4) == Some(FigureTokenKind::Digits));
        self.currency_before(at).filter(|_| is_whole)?;
        let value = number(&[self.str(at), digit, self.str(at + 2)], "")?;
        Some(Spelled {
            readings: vec![value],
            decimals: 0,
            from: at,
            end: at + 3,
            is_label: false,
            soft: false,
            is_word: false,
        })
    }

    /// A number whose first digit was scanned as a letter behind the mark of a currency, `£ l30.00`, and where it begins.
    fn misread_before(&self, at: usize, groups: &[&str], grouped: &GroupedDigits) -> Option<(Number, usize)> {
        let from = at.checked_sub(1)?;
        let digit = match self.str(from) {
            "l" | "I" => "1",
            "O" | "o" => "0",
            _ => return None,
        };
        self.currency_before(from)?;
        let whole = groups.get(..grouped.used)?;
        let (decimals, whole) = if grouped.decimals > 0 { whole.split_last()? } else { (&"", whole) };
        let first = [digit, whole.first()?].concat();
        let mut all = vec![first.as_str()];
        all.extend(whole.get(1..)?);
        Some((number(&all, decimals)?, from))
    }

    /// Tells whether the words or signs around a number say that it names something.
    fn is_named(&self, from: usize, end: usize) -> bool {
        const NAMING: &str = "section sections sec clause clauses article articles art paragraph paragraphs para no nos nr \
            number page pages p pp chapter annex appendix schedule line lines figure table item endorsement note notes \
            footnote policy version part ziffer seite absatz abs artikel anlage kapitel punkt nummer numéro num § week \
            step option phase stage class level form exhibit";
        let before =
            self.before_blanks(from).map(|at| if self.is_sign(at, &['.']) { at.saturating_sub(1) } else { at });
        let word = before.and_then(|at| self.word(at).or_else(|| self.is_sign(at, &['§']).then(|| "§".to_owned())));
        if word.is_some_and(|word| NAMING.split_whitespace().any(|name| name == word)) {
            return true;
        }
        // An entry of a list: "3. Limits", "(4) frost", "2) fire".
        let at_start = |at: usize| {
            at == 0 || self.is_sign(at - 1, &['\n']) || self.kind(at - 1) == Some(FigureTokenKind::Blank('\n'))
        };
        let closes = self.is_sign(end, &['.', ')']) && self.is_blank(end + 1);
        if closes && (at_start(from) || (self.is_sign(from.wrapping_sub(1), &['(']) && at_start(from.wrapping_sub(1))))
        {
            return true;
        }
        // A time of day: "10:30".
        let clock =
            |at: usize, other: usize| self.is_sign(at, &[':']) && self.kind(other) == Some(FigureTokenKind::Digits);
        clock(end, end + 1) || (from >= 2 && clock(from - 1, from - 2))
    }

    fn figure(&self, spelled: &Spelled) -> Figure {
        let (from, end) = (spelled.from, spelled.end);
        let mut scale = None;
        let mut at = end;
        // "50.-" and "50,–" are whole.
        if self.is_sign(at, &['.', ',']) && self.is_sign(at + 1, &['-', '–', '—']) {
            at += 2;
        }
        let before = self.currency_before(from);
        // "$(9.8) million", "(5.0)%": the scale and the sign of percent stand behind the brackets.
        let is_bracketed = from > 0 && self.is_sign(from - 1, &['(']) && self.is_sign(end, &[')']);
        if let Some((factor, behind)) = self.scale_behind(at, before.is_some()) {
            scale = Some(factor);
            at = behind;
        } else if is_bracketed && before.is_some() {
            scale = self.scale_behind(end + 1, true).map(|(factor, _)| factor);
        }
        let mut mark = before;
        if mark.is_none() {
            mark = self.currency_behind(at);
        }
        let start = mark.as_ref().filter(|mark| mark.tokens.start < from).map_or(from, |mark| mark.tokens.start);
        if let Some(mark) = &mark {
            scale = match (scale, mark.scale) {
                (Some(own), Some(marked)) => own.times(marked),
                (own, marked) => own.or(marked),
            };
            at = at.max(mark.tokens.end);
        }
        let (mut percent, mut unit, mut noun) = (false, None, None);
        if mark.is_none() || mark.as_ref().is_some_and(|mark| mark.is_weight) {
            (percent, unit, noun, at) = self.unit_behind(at);
            percent |= is_bracketed && self.is_sign(end + 1, &['%']);
            if percent && self.is_in_points(end) {
                scale = Number::fraction(1, 100);
            }
            unit = unit.or_else(|| self.unit_behind_digits(spelled));
        }
        if unit.is_none() && self.is_age(from) {
            unit = measure::measure("years");
        }
        let (sign, range) = self.sign(start, at, from);
        let rate = self.rate_behind(at);
        let is_counted = spelled.is_word && mark.is_none() && unit.is_none() && !percent;
        Figure {
            range,
            readings: spelled.readings.clone(),
            decimals: spelled.decimals,
            scale,
            sign,
            currency: mark.map(|mark| mark.codes).unwrap_or_default(),
            percent,
            measure: unit,
            rate,
            noun,
            role: if spelled.is_label && !is_counted { FigureRole::Label } else { FigureRole::Value },
        }
    }

    /// The unit of a number that is written twice, "five (5) years": both are of it.
    fn unit_behind_digits(&self, spelled: &Spelled) -> Option<FigureMeasure> {
        let opens = if spelled.is_word { self.past_blanks(spelled.end) } else { spelled.from.checked_sub(1)? };
        let closes = if spelled.is_word { opens + 2 } else { spelled.end };
        let is_twice = self.is_sign(opens, &['('])
            && self.is_sign(closes, &[')'])
            && self.kind(opens + 1)? == FigureTokenKind::Digits;
        let before = if spelled.is_word { Some(spelled.from) } else { self.before_blanks(opens) };
        let is_word = self.kind(before?) == Some(FigureTokenKind::Word);
        (is_twice && is_word).then(|| self.unit_behind(closes + 1).1).flatten()
    }

    /// Tells whether the words before a number say that it is an age: "from the age of fifty", "aged 9".
    fn is_age(&self, from: usize) -> bool {
        const AGES: &str = "age aged alter alters âge âgé âgée edad años";
        let mut at = self.before_blanks(from);
        for _ in 0..2 {
            let is_between = |word: String| matches!(word.as_str(), "of" | "von" | "de" | "exactly" | "just" | "genau");
            if !at.and_then(|at| self.word(at)).is_some_and(is_between) {
                break;
            }
            at = at.and_then(|at| self.before_blanks(at));
        }
        at.and_then(|at| self.word(at)).is_some_and(|word| AGES.split(' ').any(|age| age == word))
    }

    /// The sign of the figure of some tokens, and its bytes.
    fn sign(&self, start: usize, end: usize, from: usize) -> (FigureSign, Range<usize>) {
        let byte = |at: usize| self.token(at).map_or(self.text.len(), |token| token.range.start);
        let ends = |at: usize| self.token(at.saturating_sub(1)).map_or(self.text.len(), |token| token.range.end);
        let plain = byte(start)..ends(end);
        const MINUS: [char; 4] = ['-', '−', '–', '\u{2011}'];
        let before = start.checked_sub(1);
        if let Some(at) = before.filter(|at| self.is_sign(*at, &MINUS)) {
            // Between two numbers or words it is a range or a hyphen.
            let stands_free =
                at.checked_sub(1).is_none_or(|at| self.is_blank(at) || self.is_sign(at, &['(', '|', '[']));
            let is_range = self.before_blanks(at).is_some_and(|at| self.kind(at) == Some(FigureTokenKind::Digits))
                && self.is_blank(start);
            if stands_free && !is_range {
                return (FigureSign::Minus, byte(at)..plain.end);
            }
        }
        // "EUR -50"
        let inside =
            (start..end).find(|at| self.is_sign(*at, &MINUS) && self.kind(*at + 1) == Some(FigureTokenKind::Digits));
        let follows_mark = inside.is_some_and(|at| at > start && self.kind(at - 1) != Some(FigureTokenKind::Digits));
        if follows_mark {
            return (FigureSign::Minus, plain);
        }
        if let Some(at) = before.and_then(|at| if self.is_blank(at) { self.before_blanks(at + 1) } else { Some(at) })
            && self.word(at).is_some_and(|word| matches!(word.as_str(), "minus" | "moins"))
        {
            return (FigureSign::Minus, byte(at)..plain.end);
        }
        let opens = before.is_some_and(|at| self.is_sign(at, &['(']));
        if opens && self.is_sign(end, &[')']) {
            return (FigureSign::Brackets, byte(start - 1)..ends(end + 1));
        }
        // "$(762.3)"
        let opens_inside = from > start && self.is_sign(from - 1, &['(']);
        if opens_inside && self.is_sign(end, &[')']) {
            return (FigureSign::Brackets, byte(start)..ends(end + 1));
        }
        // "1,250-" in accounts.
        let trailing = self.is_sign(end, &['-', '−'])
            && self.kind(end.saturating_sub(1)) == Some(FigureTokenKind::Digits)
            && (end + 1 >= self.tokens.len() || self.is_blank(end + 1) || self.is_sign(end + 1, &['|', ';', ')']));
        if trailing {
            return (FigureSign::Minus, plain.start..ends(end + 1));
        }
        let behind = self.past_blanks(end);
        let below = self.word(behind).is_some_and(|word| matches!(word.as_str(), "below" | "under" | "unter"))
            && self.word(self.past_blanks(behind + 1)).is_some_and(|word| matches!(word.as_str(), "zero" | "null"));
        (if below { FigureSign::Minus } else { FigureSign::Plus }, plain)
    }

    /// The scale that stands behind a number, and the place behind it.
    fn scale_behind(&self, at: usize, is_money: bool) -> Option<(Number, usize)> {
        let is_glued = self.kind(at) == Some(FigureTokenKind::Word);
        let word_at = if self.is_sign(at, &['-']) { at + 1 } else { self.past_blanks(at) };
        let raw = (self.kind(word_at)? == FigureTokenKind::Word).then(|| self.str(word_at))?;
        let factor = convention::scale(raw, self.convention).or(match raw {
            "k" | "K" if is_glued || is_money => Some(1_000),
            "m" | "M" if is_money => Some(1_000_000),
            "b" | "B" if is_money => Some(1_000_000_000),
            "T" if is_money && is_glued => Some(1_000),
            _ => None,
        })?;
        let end = if self.is_sign(word_at + 1, &['.']) && convention::is_short_scale(raw) {
            word_at + 2
        } else {
            word_at + 1
        };
        Some((Number::whole(factor), end))
    }

    fn currency_before(&self, from: usize) -> Option<Mark> {
        const BETWEEN: [char; 6] = ['-', '−', '–', '(', '.', ':'];
        let mut at = self.before_blanks(from)?;
        // A line end stands between two cells, not between a mark and its number.
        for _ in 0..2 {
            if self.is_sign(at, &BETWEEN) && !self.is_sign(at, &['-', '−', '–', '(', ':']) {
                // "Fr. 50", "Rs. 20": the point belongs to the mark.
                let word = at.checked_sub(1).and_then(|at| self.word(at))?;
                if !matches!(word.as_str(), "fr" | "rs" | "sfr" | "mio" | "mrd") {
                    return None;
                }
                at -= 1;
            } else if self.is_sign(at, &['-', '−', '–', '(']) {
                at = self.before_blanks(at)?;
            }
        }
        let end = from;
        match self.kind(at)? {
            FigureTokenKind::Sign(sign) => {
                let prefix =
                    at.checked_sub(1).filter(|at| self.kind(*at) == Some(FigureTokenKind::Word)).map(|at| self.str(at));
                let (codes, scale, takes) = currency::symbol(sign, prefix)?;
                Some(Mark {
                    codes: codes.to_vec(),
                    scale: scale.map(Number::whole),
                    tokens: at - usize::from(takes)..end,
                    is_weight: false,
                })
            }
            FigureTokenKind::Word => {
                let (codes, scale) = currency::word(self.str(at))?;
                // "pounds 5" is no amount; codes and short names stand before it.
                let stands_before = self.str(at).len() <= 4 || codes.len() == 1;
                stands_before.then(|| Mark {
                    codes,
                    scale: scale.map(Number::whole),
                    tokens: at..end,
                    is_weight: false,
                })
            }
            _ => None,
        }
    }

    fn currency_behind(&self, at: usize) -> Option<Mark> {
        let mut next = self.past_blanks(at);
        // "millions d'euros", "million of euros", "5-euro"
        for _ in 0..2 {
            let joins = self.word(next).is_some_and(|word| matches!(word.as_str(), "de" | "d" | "of" | "di"))
                || self.is_sign(next, &['\'', '’']);
            if joins {
                next = self.past_blanks(next + 1);
            }
        }
        match self.kind(next)? {
            FigureTokenKind::Sign(sign) => {
                let (codes, scale, _) = currency::symbol(sign, None)?;
                Some(Mark {
                    codes: codes.to_vec(),
                    scale: scale.map(Number::whole),
                    tokens: at..next + 1,
                    is_weight: false,
                })
            }
            FigureTokenKind::Word => {
                let raw = self.str(next);
                // "US$", "k€"
                if let Some(FigureTokenKind::Sign(sign)) = self.kind(next + 1)
                    && let Some((codes, scale, true)) = currency::symbol(sign, Some(raw))
                {
                    return Some(Mark {
                        codes: codes.to_vec(),
                        scale: scale.map(Number::whole),
                        tokens: at..next + 2,
                        is_weight: false,
                    });
                }
                let second = self.past_blanks(next + 1);
                if let Some(codes) = self.word(second).and_then(|noun| currency::of_country(&raw.to_lowercase(), &noun))
                {
                    return Some(Mark { codes: vec![codes], scale: None, tokens: at..second + 1, is_weight: false });
                }
                let (codes, scale) = currency::word(raw)?;
                let is_weight = matches!(raw, "pound" | "pounds");
                Some(Mark { codes, scale: scale.map(Number::whole), tokens: at..next + 1, is_weight })
            }
            _ => None,
        }
    }

    /// Reads what a number is of: percent, unit or noun, and the place behind.
    fn unit_behind(&self, at: usize) -> (bool, Option<FigureMeasure>, Option<Range<usize>>, usize) {
        let next = if self.is_sign(at, &['-']) { at + 1 } else { self.past_blanks(at) };
        if self.is_sign(next, &['%', '％']) {
            return (true, None, None, next + 1);
        }
        if let Some((unit, end)) = measure::at(self, next) {
            return (false, Some(unit), None, end);
        }
        let Some(word) = self.word(next) else { return (false, None, None, at) };
        let second = self.past_blanks(next + 1);
        if self.is_in_points(at) {
            return (true, None, None, if word == "basis" { second + 1 } else { next + 1 });
        }
        let is_percent = matches!(word.as_str(), "percent" | "prozent" | "procent" | "pct")
            || (matches!(word.as_str(), "per" | "pour") && self.word(second).is_some_and(|word| word == "cent"));
        if is_percent {
            let end = if word.starts_with('p') && self.word(second).is_some_and(|word| word == "cent") {
                second + 1
            } else {
                next + 1
            };
            return (true, None, None, end);
        }
        const NO_NOUN: &str = "and or to per for in on at of from by is are was if as than plus minus und oder bis pro für je \
            et ou à par pour de des du le la les the a an each every with without when up not no";
        let is_noun = next > at && !NO_NOUN.split_whitespace().any(|known| known == word);
        (false, None, is_noun.then(|| self.token(next).map(|token| token.range.clone())).flatten(), at)
    }

    /// Tells whether a number counts hundredths of a percent: "215 bps", "40 basis points".
    fn is_in_points(&self, at: usize) -> bool {
        let next = self.past_blanks(at);
        match self.word(next).as_deref() {
            Some("bps" | "bp" | "basispunkte" | "basispunkten") => true,
            Some("basis") => self.word(self.past_blanks(next + 1)).is_some_and(|word| word.starts_with("point")),
            _ => false,
        }
    }

    /// The words of a rate behind a figure: `per month`, `/ Monat`, `for each further hour`, `a week`.
    fn rate_behind(&self, at: usize) -> Vec<String> {
        const RATES: &str = "per pro je par each every a an im p";
        let mut next = self.past_blanks(at);
        if self.word(next).is_some_and(|word| matches!(word.as_str(), "for" | "pour" | "für")) {
            next = self.past_blanks(next + 1);
        }
        let is_rate =
            self.is_sign(next, &['/']) || self.word(next).is_some_and(|word| RATES.split(' ').any(|rate| rate == word));
        let mut words = Vec::new();
        if let Some(word) = self.word(next).filter(|_| !is_rate) {
            // "€40 monthly", "250 EUR jährlich"
            return if measure::period(&word).is_some() { vec![word] } else { words };
        }
        if !is_rate {
            return words;
        }
        if self.word(next).is_some_and(|word| word == "p") {
            // "p.a."
            let annual = self.is_sign(next + 1, &['.']) && self.word(next + 2).is_some_and(|word| word == "a");
            return if annual { vec!["annum".to_owned()] } else { words };
        }
        next = self.past_blanks(next + 1);
        while words.len() < 3 {
            let Some(word) = self.word(next) else { break };
            words.push(word);
            next = self.past_blanks(next + 1);
        }
        words
    }
}

/// A mark of a currency, its scale, and its tokens up to or from the number.
struct Mark {
    codes: Vec<&'static str>,
    scale: Option<Number>,
    tokens: Range<usize>,
    is_weight: bool,
}

/// Digits that are grouped.
struct GroupedDigits {
    /// Number of groups that belong to the number.
    used: usize,
    readings: Vec<Number>,
    decimals: u32,
    is_label: bool,
}

/// Reads groups of digits with the signs between them.
fn grouped(groups: &[&str], seps: &[char], convention: Convention) -> Option<GroupedDigits> {
    let first = groups.first()?;
    let alone =
        |is_label| Some(GroupedDigits { used: 1, readings: vec![number(&[first], "")?], decimals: 0, is_label });
    let Some(sep) = seps.first() else { return alone(false) };
    let run = seps.iter().take_while(|other| *other == sep).count();
    let inner = groups.get(1..=run)?;
    let threes = first.len() <= 3 && inner.iter().all(|group| group.len() == 3);
    // 12,50,000
    let lakhs = *sep == ','
        && run >= 2
        && first.len() <= 2
        && inner.split_last().is_some_and(|(last, rest)| last.len() == 3 && rest.iter().all(|group| group.len() == 2));
    let whole = groups.get(..=run)?;
    let decimals = seps.get(run).filter(|next| matches!(next, '.' | ',')).and_then(|_| groups.get(run + 1)).copied();
    let with_decimals = |decimals: &str| {
        Some(GroupedDigits {
            used: run + 2,
            readings: vec![number(whole, decimals)?],
            decimals: decimals.len() as u32,
            is_label: false,
        })
    };
    let thousands =
        || Some(GroupedDigits { used: run + 1, readings: vec![number(whole, "")?], decimals: 0, is_label: false });
    match (sep, run) {
        ('.' | ',', 2..) | ('\'' | ' ' | '_', _) if threes || lakhs => match decimals {
            Some(decimals) => with_decimals(decimals),
            None => thousands(),
        },
        ('\'' | ' ' | '_', _) => alone(false),
        // "3.2.1", "03.06.2024"
        ('.', 2..) => {
            Some(GroupedDigits { used: run + 1, readings: vec![number(&[first], "")?], decimals: 0, is_label: true })
        }
        (',', 2..) => alone(false),
        _ => {
            let second = groups.get(1)?;
            if let Some(decimals) = decimals.filter(|_| threes && seps.get(1) != Some(sep)) {
                return with_decimals(decimals);
            }
            let decimal = number(&[first], second)?;
            let may_group = threes && *first != "0";
            let readings = match (sep, convention) {
                _ if !may_group => vec![decimal],
                ('.', Convention::Point) | (',', Convention::Comma) => vec![decimal],
                ('.', Convention::Comma) | (',', _) => vec![number(whole, "")?],
                _ => vec![number(whole, "")?, decimal],
            };
            Some(GroupedDigits { used: 2, readings, decimals: second.len() as u32, is_label: false })
        }
    }
}

fn number(groups: &[&str], decimals: &str) -> Option<Number> {
    let mut text = groups.concat();
    if !decimals.is_empty() {
        text.push('.');
        text.push_str(decimals);
    }
    Written::parse(text.as_bytes()).map(|written| written.value)
}

#[cfg(test)]
mod tests;
