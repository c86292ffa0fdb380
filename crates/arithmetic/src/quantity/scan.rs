//! Finds the quantities of a text in one pass over its bytes.

use std::ops::Range;

use super::units::{Dimension, Unit, before_a_year, is_month, names_by_number, unit};
use super::{Kind, Quantity};
use crate::number::{Number, ready_made};
use crate::number_words::{LONGEST, NumberWord, may_mean, number_word};

/// More are not listed: such a text is no question.
const MAX_FOUND: usize = 256;
/// Longer numbers are not read.
const MAX_DIGITS: usize = 18;

/// Every quantity of a text, in its order. What may be none at all is marked unsure.
pub fn find(text: &[u8]) -> Vec<Quantity> {
    let mut scan = Scan { text, found: Vec::new() };
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at = match byte {
            b'0'..=b'9' => scan.digits(at),
            b'.' if scan.begins_decimal(at) => scan.digits(at),
            b'a'..=b'z' | b'A'..=b'Z' => scan.word(at),
            0x80.. => scan.other(at),
            _ => at + 1,
        };
        if scan.found.len() >= MAX_FOUND {
            break;
        }
    }
    scan.found
}

struct Scan<'t> {
    text: &'t [u8],
    found: Vec<Quantity>,
}

/// A word in lower case; longer ones are cut to nothing.
#[derive(Clone, Copy)]
struct ScannedWord {
    start: usize,
    end: usize,
    lower: [u8; LONGEST],
}

impl ScannedWord {
    fn lower(&self) -> &[u8] {
        self.lower.get(..self.end - self.start).unwrap_or(b"")
    }

    fn part(&self) -> Option<NumberWord> {
        number_word(self.lower())
    }
}

/// A number read from digits or words.
struct ScannedNumber {
    end: usize,
    value: Number,
    kind: Kind,
    sure: bool,
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |at| self.byte(at))
    }

    /// Letters outside of ASCII belong to words; signs and punctuation do not.
    fn is_letter(&self, at: usize) -> bool {
        match self.byte(at) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0xc4..=0xe1 | 0xe3.. => true,
            // The signs of multiplication and division stand among the letters of Latin-1.
            0xc3 => !matches!(self.byte(at + 1), 0x97 | 0xb7),
            _ => false,
        }
    }

    /// Tells whether the character before is a letter, a digit or an underscore.
    fn glued(&self, at: usize) -> bool {
        match self.before(at) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9' => true,
            0x80..=0xbf => self.char_before(at).is_some_and(char::is_alphabetic),
            _ => false,
        }
    }

    fn char_before(&self, at: usize) -> Option<char> {
        let start = (1..=4).filter_map(|n| at.checked_sub(n)).find(|&start| self.byte(start) & 0xc0 != 0x80)?;
        std::str::from_utf8(self.text.get(start..at)?).ok()?.chars().next()
    }

    fn digit(&self, at: usize) -> bool {
        self.byte(at).is_ascii_digit()
    }

    fn begins_decimal(&self, at: usize) -> bool {
        self.digit(at + 1) && matches!(self.before(at), 0 | b' ' | b'\n' | b'\t' | b'(' | b'$' | b'-' | b'"')
    }

    fn word_at(&self, start: usize) -> Option<ScannedWord> {
        let mut end = start;
        let mut lower = [0; LONGEST];
        while self.byte(end).is_ascii_alphabetic() {
            if let Some(slot) = lower.get_mut(end - start) {
                *slot = self.byte(end).to_ascii_lowercase();
            }
            end += 1;
        }
        (end > start).then_some(ScannedWord { start, end, lower })
    }

    /// The word after one blank or hyphen.
    fn next_word(&self, end: usize) -> Option<ScannedWord> {
        matches!(self.byte(end), b' ' | b'-' | b'\n').then(|| self.word_at(end + 1)).flatten()
    }

    /// The word before one blank or hyphen.
    fn word_before(&self, start: usize) -> Option<ScannedWord> {
        let end = start.checked_sub(1).filter(|&end| matches!(self.byte(end), b' ' | b'-' | b'\n' | b'#'))?;
        let end = if self.byte(end) == b'#' && self.before(end) == b' ' { end - 1 } else { end };
        let mut start = end;
        while self.before(start).is_ascii_alphabetic() {
            start -= 1;
        }
        self.word_at(start).filter(|word| word.end == end)
    }

    fn next_is(&self, end: usize, words: &[&[u8]]) -> bool {
        self.next_word(end).is_some_and(|word| words.contains(&word.lower()))
    }

    fn previous_is(&self, start: usize, words: &[&[u8]]) -> bool {
        self.word_before(start).is_some_and(|word| words.contains(&word.lower()))
    }

    /// Tells whether a sentence (or the text) begins here.
    fn begins_sentence(&self, start: usize) -> bool {
        let mut at = start;
        while matches!(self.before(at), b' ' | b'\n' | b'\t' | b'"' | b'(') {
            at -= 1;
        }
        // The closing quotation mark is E2 80 9C to 9D.
        at == 0 || matches!(self.before(at), b'.' | b'!' | b'?' | b':' | b';' | 0x9c | 0x9d)
    }

    fn push(&mut self, span: Range<usize>, value: Number, kind: Kind, sure: bool, unit: Option<Unit>) {
        self.found.push(Quantity::new(span, value, kind, sure, unit));
    }

    // Digits.

    fn digits(&mut self, at: usize) -> usize {
        if self.glued(at) {
            return self.skip_glued(at);
        }
        if let Some(end) = self.date(at) {
            self.push(at..end, Number::ZERO, Kind::Label, false, None);
            return end;
        }
        let Some((mut end, mut value, plain)) = self.decimal(at) else { return self.skip_glued(at) };
        let mut start = at;
        let mut kind = Kind::Number;
        let mut sure = true;
        let mut measured = None;
        if let Some((from, unit)) = self.currency_before(at) {
            (start, kind, measured) = (from, Kind::Money, unit);
        } else if self.is_negative(at) {
            start = at - 1;
            value = Number::ZERO.plus(value).and_then(|value| value.times(Number::whole(-1))).unwrap_or(value);
        }
        if plain && let Some((after, fraction, is_part)) = self.slash(end, value) {
            let kind = if is_part { Kind::Fraction } else { Kind::Label };
            let unit = self.unit_after(after);
            self.push(start..after, fraction, kind, is_part, unit);
            return after;
        }
        if plain && let Some((after, hours)) = self.clock(at, end, value) {
            self.push(start..after, hours, Kind::Time, false, None);
            return after;
        }
        if let Some((after, more)) = self.mixed(end) {
            value = value.plus(more).unwrap_or(value);
            end = after;
        }
        if plain && let Some(after) = self.ordinal_ending(end) {
            self.push(start..after, value, Kind::Ordinal, false, None);
            return after;
        }
        if self.byte(end) == b'-' && self.digit(end + 1) {
            sure = false;
        }
        sure &= !self.is_range_end(start);
        let reading = self.tail(ScannedNumber { end, value, kind, sure });
        (end, value, kind, sure) = (reading.end, reading.value, reading.kind, reading.sure);
        if kind == Kind::Number && self.is_label(start, end, value, plain) {
            (kind, sure) = (Kind::Label, false);
        }
        if self.is_letter(end) && kind != Kind::Multiple {
            return self.with_letters(start, end, value, kind);
        }
        let measured = measured.or_else(|| self.unit_after(end));
        let kind = money_kind(kind, measured);
        self.push(start..end, value, kind, sure, measured);
        end
    }

    fn skip_glued(&self, mut at: usize) -> usize {
        while self.digit(at) || self.is_letter(at) || (matches!(self.byte(at), b'.' | b',') && self.digit(at + 1)) {
            at += 1;
            while matches!(self.byte(at), 0x80..=0xbf) {
                at += 1;
            }
        }
        at
    }

    /// End, value, and whether it is a row of digits and nothing else.
    fn decimal(&self, start: usize) -> Option<(usize, Number, bool)> {
        let (mut at, mut upper, mut digits) = (start, 0_i64, 0);
        let mut plain = true;
        while self.digit(at) || self.thousands(start, at) {
            if self.digit(at) {
                digits += 1;
                if digits > MAX_DIGITS {
                    return None;
                }
                upper = upper * 10 + i64::from(self.byte(at) - b'0');
            } else {
                plain = false;
            }
            at += 1;
        }
        if self.byte(at) != b'.' || !self.digit(at + 1) {
            return Some((at, Number::whole(upper), plain));
        }
        at += 1;
        let mut lower = 1_i64;
        while self.digit(at) {
            digits += 1;
            if digits > MAX_DIGITS {
                return None;
            }
            upper = upper * 10 + i64::from(self.byte(at) - b'0');
            lower *= 10;
            at += 1;
        }
        if self.byte(at) == b'.' && self.digit(at + 1) {
            return None;
        }
        Some((at, Number::fraction(upper, lower)?, false))
    }

    /// A comma between groups of three digits.
    fn thousands(&self, start: usize, at: usize) -> bool {
        self.byte(at) == b','
            && (1..=3).all(|n| self.digit(at + n))
            && !self.digit(at + 4)
            && at > start
            && (at - start <= 3 || self.byte(at - 4) == b',')
    }

    fn currency_before(&self, at: usize) -> Option<(usize, Option<Unit>)> {
        let end = if self.before(at) == b' ' { at - 1 } else { at };
        let (len, name) = match (self.before(end), end.checked_sub(2).map(|at| self.byte(at))) {
            (b'$', _) => (1, &b"dollar"[..]),
            (0xac, Some(0x82)) if end.checked_sub(3).is_some_and(|at| self.byte(at) == 0xe2) => (3, &b"euro"[..]),
            (0xa3 | 0xa5, Some(0xc2)) => (2, &b"dollar"[..]),
            _ => return None,
        };
        Some((end.checked_sub(len)?, unit(name)))
    }

    fn is_negative(&self, at: usize) -> bool {
        self.before(at) == b'-'
            && at.checked_sub(1).is_some_and(|at| matches!(self.before(at), 0 | b' ' | b'(' | b'\n'))
    }

    fn is_range_end(&self, start: usize) -> bool {
        self.before(start) == b'-' && start.checked_sub(1).is_some_and(|at| self.before(at).is_ascii_digit())
    }

    /// `12/25/2020`, `2020-01-05`.
    fn date(&self, start: usize) -> Option<usize> {
        let run = |mut at: usize| {
            let from = at;
            while self.digit(at) {
                at += 1;
            }
            (at - from, at)
        };
        let (first, at) = run(start);
        let sign = self.byte(at);
        if !matches!(sign, b'/' | b'-') || !(1..=4).contains(&first) {
            return None;
        }
        let (second, at) = run(at + 1);
        if !(1..=2).contains(&second) || self.byte(at) != sign {
            return None;
        }
        let (third, at) = run(at + 1);
        (matches!(third, 1 | 2 | 4) && !self.is_letter(at)).then_some(at)
    }

    /// A fraction that begins with this number: end, value, whether it is less than a whole.
    fn slash(&self, end: usize, upper: Number) -> Option<(usize, Number, bool)> {
        let gap = usize::from(self.byte(end) == b' ' && self.byte(end + 1) == b'/' && self.byte(end + 2) == b' ');
        if self.byte(end + gap) != b'/' || !self.digit(end + 1 + 2 * gap) {
            return None;
        }
        let (after, lower, plain) = self.decimal(end + 1 + 2 * gap)?;
        if !plain || self.is_letter(after) {
            return None;
        }
        let ends_ordinal = self.ordinal_ending(after);
        let value = upper.over(lower)?;
        let part = value.float() < 1.0 || (value.float() <= 3.0 && lower.float() <= 16.0);
        Some((ends_ordinal.unwrap_or(after), value, part))
    }

    /// A time of day, in hours.
    fn clock(&self, start: usize, end: usize, hours: Number) -> Option<(usize, Number)> {
        let colon = self.byte(end) == b':' && self.digit(end + 1) && self.digit(end + 2) && !self.digit(end + 3);
        let fits = end - start <= 2 && hours.float() <= 24.0;
        let (after, hours) = if colon && fits {
            let minutes = i128::from(self.byte(end + 1) - b'0') * 10 + i128::from(self.byte(end + 2) - b'0');
            (end + 3, hours.plus(Number::fraction(minutes, 60)?)?)
        } else {
            (end, hours)
        };
        let half = self.half_of_day(after);
        if !fits || (!colon && half.is_none()) {
            return None;
        }
        Some((half.unwrap_or(after), hours))
    }

    /// `am`, ` p.m.`, ` o'clock` after a number: its end.
    fn half_of_day(&self, end: usize) -> Option<usize> {
        let at = end + usize::from(self.byte(end) == b' ');
        let rest = self.text.get(at..)?;
        let lower = |n: usize| rest.get(n).map_or(0, u8::to_ascii_lowercase);
        let dots = usize::from(lower(1) == b'.');
        if matches!(lower(0), b'a' | b'p') && lower(1 + dots) == b'm' {
            let after = at + 2 + dots;
            let after = after + usize::from(dots == 1 && self.byte(after) == b'.');
            return (!self.is_letter(after)).then_some(after);
        }
        if rest.starts_with(b"o'clock") {
            return Some(at + 7);
        }
        rest.starts_with("o’clock".as_bytes()).then_some(at + 9)
    }

    /// Reads the part that follows a whole number and belongs to it: ` 1/2`, `½`, ` and a half`.
    fn mixed(&self, end: usize) -> Option<(usize, Number)> {
        if let Some(found) = self.vulgar(end).or_else(|| self.vulgar(end + usize::from(self.byte(end) == b' '))) {
            return Some(found);
        }
        let joined = matches!(self.byte(end), b' ' | b'-') && self.digit(end + 1);
        if joined
            && let Some((after, upper, true)) = self.decimal(end + 1)
            && self.byte(after) == b'/'
            && let Some((after, value, _)) = self.slash(after, upper)
            && value.float() < 1.0
        {
            return Some((after, value));
        }
        self.and_a_part(end)
    }

    /// ` and a half`, ` and three quarters`, ` and 1/2`.
    fn and_a_part(&self, end: usize) -> Option<(usize, Number)> {
        let and = self.next_word(end).filter(|word| word.lower() == b"and")?;
        if self.byte(and.end) == b' ' && self.digit(and.end + 1) {
            let (after, upper, plain) = self.decimal(and.end + 1)?;
            let (after, value, _) = self.slash(after, upper).filter(|_| plain)?;
            return (value.float() < 1.0).then_some((after, value));
        }
        let count = self.next_word(and.end)?;
        let upper = match (count.lower(), count.part()) {
            (b"a" | b"an", _) => 1,
            (_, Some(NumberWord::Small(n @ 1..=9))) => n,
            _ => return None,
        };
        let name = self.next_word(count.end)?;
        let lower = match name.part()? {
            NumberWord::Half if upper == 1 => 2,
            NumberWord::Nth(n, many) if many == (upper > 1) => n,
            _ => return None,
        };
        Some((name.end, Number::fraction(upper, lower)?))
    }

    /// One of the ready-made fractions of Unicode.
    fn vulgar(&self, at: usize) -> Option<(usize, Number)> {
        let rest = self.text.get(at..).filter(|rest| matches!(rest, [0xc2 | 0xe2, ..]))?;
        let (number, len) = ready_made(rest)?;
        Some((at + len, number))
    }

    fn ordinal_ending(&self, end: usize) -> Option<usize> {
        let word = self.word_at(end)?;
        matches!(word.lower(), b"st" | b"nd" | b"rd" | b"th").then_some(word.end)
    }

    /// Reads what may follow any number: a power of ten, a dozen, a percent sign, `times`.
    fn tail(&self, mut reading: ScannedNumber) -> ScannedNumber {
        if let Some(word) = self.next_word(reading.end) {
            let factor = word.part().and_then(NumberWord::factor);
            if let Some(value) = factor.and_then(|factor| reading.value.times(Number::whole(factor))) {
                if matches!(word.part(), Some(NumberWord::Dozen | NumberWord::Score)) && reading.kind == Kind::Number {
                    reading.kind = Kind::Group;
                }
                (reading.value, reading.end) = (value, word.end);
            }
            if let Some(NumberWord::Nth(lower, true)) = word.part()
                && reading.value.is_whole()
                && (lower != 4 || word.lower() != b"quarters" || self.next_is(word.end, &[b"of", b"full"]))
                && let Some(value) = reading.value.over(Number::whole(i64::from(lower)))
            {
                return ScannedNumber { end: word.end, value, kind: Kind::Fraction, sure: reading.sure };
            }
        }
        if let Some(end) = self.percent(reading.end) {
            (reading.end, reading.kind) = (end, Kind::Percent);
        } else if reading.kind == Kind::Number && self.next_is(reading.end, &[b"times"]) {
            reading.kind = Kind::Multiple;
        } else if reading.kind == Kind::Number
            && matches!(self.byte(reading.end), b'x' | b'X')
            && !self.is_letter(reading.end + 1)
        {
            (reading.end, reading.kind) = (reading.end + 1, Kind::Multiple);
        }
        reading
    }

    fn percent(&self, end: usize) -> Option<usize> {
        let blank = usize::from(self.byte(end) == b' ');
        if self.byte(end + blank) == b'%' {
            return Some(end + blank + 1);
        }
        let word = self.next_word(end)?;
        match word.lower() {
            b"percent" => Some(word.end),
            b"per" => self.next_word(word.end).filter(|word| word.lower() == b"cent").map(|word| word.end),
            _ => None,
        }
    }

    fn unit_after(&self, end: usize) -> Option<Unit> {
        if self.text.get(end..end + 2) == Some(&[0xc2, 0xa2]) {
            return unit(b"cent");
        }
        let mut word = self.next_word(end)?;
        // `half an hour`, `5 more minutes`
        if matches!(
            word.lower(),
            b"a" | b"an" | b"of" | b"more" | b"extra" | b"additional" | b"full" | b"fewer" | b"less"
        ) {
            word = self.next_word(word.end)?;
            if matches!(word.lower(), b"a" | b"an") {
                word = self.next_word(word.end)?;
            }
        }
        unit(word.lower())
    }

    /// A number that only names something: a year, `chapter 5`, an entry of a list.
    fn is_label(&self, start: usize, end: usize, value: Number, plain: bool) -> bool {
        let begins_line = matches!(self.before(start), 0 | b'\n') || (self.before(start) == b'(' && start <= 1);
        if begins_line && matches!(self.byte(end), b'.' | b')') && matches!(self.byte(end + 1), b' ' | b'\t') {
            return true;
        }
        if self.before(start) == b'#' {
            return true;
        }
        if !matches!(self.before(start), b' ' | b'\n') {
            return false;
        }
        let Some(word) = self.word_before(start) else { return false };
        if names_by_number(word.lower()) {
            return true;
        }
        let year = plain && end - start == 4 && (1500.0..2100.0).contains(&value.float());
        if year && before_a_year(word.lower()) && (self.byte(end) != b' ' || self.next_is_small(end)) {
            return true;
        }
        let capital = self.byte(word.start).is_ascii_uppercase() && word.end - word.start > 1;
        capital && (is_month(word.lower()) || !self.begins_sentence(word.start)) && !self.counts_things(end)
    }

    /// Tells whether the number is followed by the things that it counts: `At Milltown 27 people get off`.
    fn counts_things(&self, end: usize) -> bool {
        const MANY: [&[u8]; 5] = [b"people", b"men", b"women", b"children", b"more"];
        let Some(word) = self.next_word(end) else { return false };
        let lower = self.byte(word.start).is_ascii_lowercase();
        lower && (MANY.contains(&word.lower()) || (self.before(word.end) == b's' && word.end - word.start > 3))
    }

    /// Tells whether the next word carries no meaning of its own, so that nothing is counted here.
    fn next_is_small(&self, end: usize) -> bool {
        const SMALL: [&[u8]; 12] =
            [b"the", b"and", b"he", b"she", b"they", b"it", b"was", b"is", b"there", b"a", b"to", b"with"];
        self.next_is(end, &SMALL) || self.next_word(end).is_some_and(|word| self.byte(word.start).is_ascii_uppercase())
    }

    /// Reads letters right after the digits: a unit (`20cm`), thousands (`5k`), or a name (`3D`).
    fn with_letters(&mut self, start: usize, end: usize, value: Number, kind: Kind) -> usize {
        let word = self.word_at(end);
        let after = word.map_or(end, |word| word.end);
        let measured = word.and_then(|word| unit(word.lower()));
        let clean = !self.is_letter(after) && !self.digit(after);
        if clean && measured.is_some() {
            self.push(start..end, value, money_kind(kind, measured), true, measured);
        } else if clean && let Some(scale) = self.scale_letter(end, kind).filter(|_| after == end + 1) {
            let value = value.times(Number::whole(scale)).unwrap_or(value);
            self.push(start..after, value, kind, false, None);
        } else {
            let end = self.skip_glued(end);
            self.push(start..end, value, Kind::Label, false, None);
            return end;
        }
        after
    }

    /// The thousand of `800K`, the million of `$2.5M`.
    fn scale_letter(&self, at: usize, kind: Kind) -> Option<i64> {
        match self.byte(at) {
            b'k' | b'K' => Some(1_000),
            b'M' if kind == Kind::Money => Some(1_000_000),
            b'B' if kind == Kind::Money => Some(1_000_000_000),
            _ => None,
        }
    }

    // Words.

    fn word(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let len = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        if !may_mean(&rest[..len]) {
            let blank = usize::from(rest.get(len) == Some(&b' '));
            return at + len + blank;
        }
        let Some(word) = self.word_at(at) else { return at + 1 };
        let whole = !self.is_letter(word.end) && !self.digit(word.end) && !self.glued(at);
        if !whole {
            return self.skip_glued(word.end).max(word.end);
        }
        let Some(part) = word.part() else { return word.end };
        // A number word in the middle of a sentence with a capital is a name: `Three Rivers`.
        let named = self.byte(at).is_ascii_uppercase() && !self.begins_sentence(at);
        match part {
            NumberWord::Small(_) | NumberWord::Tens(_) => return self.counted(word, named),
            NumberWord::Hundred | NumberWord::Scale(_) => {
                if self.previous_is(at, &[b"a", b"per", b"the", b"every", b"another"]) {
                    return self.counted(word, named);
                }
            }
            NumberWord::Half => return self.half(word, named),
            NumberWord::Nth(lower, many) => self.nth(word, lower, many, named),
            NumberWord::Ordinal(n) => {
                let unit = n == 2 && self.previous_is(at, &[b"a", b"per", b"each", b"every"]);
                if !unit {
                    self.push(at..word.end, Number::whole(i64::from(n)), Kind::Ordinal, false, None);
                }
            }
            NumberWord::Multiple(n) => {
                self.push(at..word.end, Number::whole(i64::from(n)), Kind::Multiple, !named, None);
            }
            NumberWord::Dozen => self.push(at..word.end, Number::whole(12), Kind::Group, !named, None),
            NumberWord::Two => self.push(at..word.end, Number::whole(2), Kind::Group, false, None),
            NumberWord::Score => {
                if self.previous_is(at, &[b"a"]) && self.next_is(word.end, &[b"of", b"and"]) {
                    self.push(at..word.end, Number::whole(20), Kind::Group, false, None);
                }
            }
            NumberWord::Each => self.push(at..word.end, Number::ONE, Kind::Each, false, None),
            NumberWord::Period(n) => {
                let adverb = word.lower().ends_with(b"ly");
                let part = self.word_before(at).is_some_and(|article| self.previous_is(article.start, &[b"half"]));
                if adverb
                    || !part && self.previous_is(at, &[b"a", b"an", b"per", b"each", b"every", b"one", b"in", b"last"])
                {
                    self.push(at..word.end, Number::whole(i64::from(n)), Kind::Period, false, unit(word.lower()));
                }
            }
        }
        word.end
    }

    fn half(&mut self, word: ScannedWord, named: bool) -> usize {
        const PLACES: [&[u8]; 8] = [b"first", b"second", b"other", b"last", b"top", b"bottom", b"latter", b"better"];
        let half = Number::fraction(1, 2).unwrap_or(Number::ONE);
        let mut next = self.next_word(word.end);
        if let Some(article) = next.filter(|next| next.lower() == b"a") {
            next = self.next_word(article.end);
        }
        let part = next.and_then(|next| next.part()).filter(|part| *part != NumberWord::Score);
        if let (Some(factor), Some(next)) = (part.and_then(NumberWord::factor), next) {
            let kind = if part == Some(NumberWord::Dozen) { Kind::Group } else { Kind::Number };
            let value = half.times(Number::whole(factor)).unwrap_or(half);
            self.push(word.start..next.end, value, kind, !named, self.unit_after(next.end));
            return next.end;
        }
        let place =
            self.previous_is(word.start, &PLACES) || self.next_is(word.end, &[b"past", b"time", b"brother", b"sister"]);
        let sure = !named && !place && !matches!(word.lower(), b"halves" | b"halfway");
        self.push(word.start..word.end, half, Kind::Fraction, sure, self.unit_after(word.end));
        word.end
    }

    /// `a third of`, `the third day`, `a quarter`.
    fn nth(&mut self, word: ScannedWord, lower: u8, many: bool, named: bool) {
        const PARTS: [&[u8]; 8] = [b"of", b"as", b"more", b"less", b"the", b"off", b"full", b"fewer"];
        let Some(value) = Number::fraction(1, lower) else { return };
        if many {
            // Without a count before it: coins, or the quarters of a game.
            if word.lower() == b"quarters" {
                self.push(word.start..word.end, value, Kind::Fraction, false, None);
            }
            return;
        }
        let quarter = word.lower() == b"quarter";
        let article = self.previous_is(word.start, &[b"a", b"an"]);
        let part = article && self.next_is(word.end, &PARTS) || quarter && self.next_is(word.end, &[b"of"]);
        if part || quarter {
            self.push(word.start..word.end, value, Kind::Fraction, part && !named, self.unit_after(word.end));
        } else {
            self.push(word.start..word.end, Number::whole(i64::from(lower)), Kind::Ordinal, false, None);
        }
    }

    fn counted(&mut self, first: ScannedWord, named: bool) -> usize {
        let (value, mut end) = self.count(first);
        let lone_one = value == 1 && end == first.end;
        let mut reading =
            ScannedNumber { end, value: Number::whole(value), kind: Kind::Number, sure: !named && !lone_one };
        if let Some((after, fraction)) = self.fraction_words(value, end) {
            reading = ScannedNumber { end: after, value: fraction, kind: Kind::Fraction, sure: !named };
        } else if let Some((after, more)) = self.and_a_part(end) {
            reading.value = reading.value.plus(more).unwrap_or(reading.value);
            (reading.end, reading.sure) = (after, !named);
        }
        if reading.kind == Kind::Number {
            reading = self.tail(reading);
            if let Some(after) = self.half_of_day(reading.end).filter(|_| value <= 24) {
                (reading.end, reading.kind, reading.sure) = (after, Kind::Time, false);
            }
        }
        if reading.kind != Kind::Number || reading.end > end {
            reading.sure = !named && reading.kind != Kind::Time;
        }
        end = reading.end;
        let measured = self.unit_after(end);
        let sure = reading.sure && !self.names_a_thing(first);
        self.push(first.start..end, reading.value, money_kind(reading.kind, measured), sure, measured);
        end
    }

    /// `grade five`
    fn names_a_thing(&self, first: ScannedWord) -> bool {
        const NAMING: [&[u8]; 6] = [b"grade", b"chapter", b"number", b"level", b"room", b"page"];
        self.previous_is(first.start, &NAMING)
    }

    /// The whole number that begins with this word, and its end.
    fn count(&self, first: ScannedWord) -> (i64, usize) {
        let (mut total, mut current, mut end) = (0_i64, 1_i64, first.end);
        let mut last = first.part().unwrap_or(NumberWord::Small(1));
        match last {
            NumberWord::Scale(scale) => (total, current) = (scale, 0),
            word => current = word.count().or(word.factor()).unwrap_or(current),
        }
        while let Some(mut next) = self.next_word(end) {
            let large = matches!(last, NumberWord::Hundred | NumberWord::Scale(_));
            if large && next.lower() == b"and" {
                let Some(after) = self.next_word(next.end) else { break };
                if !matches!(after.part(), Some(NumberWord::Small(1..) | NumberWord::Tens(_)))
                    || self.begins_part(after)
                {
                    break;
                }
                next = after;
            }
            let Some(part) = next.part() else { break };
            match (last, part) {
                (NumberWord::Tens(_), NumberWord::Small(n @ 1..=9))
                | (NumberWord::Hundred | NumberWord::Scale(_), NumberWord::Small(n @ 1..) | NumberWord::Tens(n)) => {
                    current += i64::from(n);
                }
                (NumberWord::Small(1..) | NumberWord::Tens(_), NumberWord::Hundred) if current < 100 => current *= 100,
                (NumberWord::Small(1..) | NumberWord::Tens(_) | NumberWord::Hundred, NumberWord::Scale(scale))
                    if current < 1000 =>
                {
                    total += current * scale;
                    current = 0;
                }
                _ => break,
            }
            (last, end) = (part, next.end);
        }
        (total + current, end)
    }

    /// Tells whether a count begins the name of a part: `and three quarters`.
    fn begins_part(&self, count: ScannedWord) -> bool {
        self.next_word(count.end)
            .is_some_and(|word| matches!(word.part(), Some(NumberWord::Nth(..) | NumberWord::Half)))
    }

    /// `two thirds`, `one-half`, `three quarters of`.
    fn fraction_words(&self, upper: i64, end: usize) -> Option<(usize, Number)> {
        let name = self.next_word(end)?;
        let lower = match name.part()? {
            NumberWord::Half if upper == 1 && name.lower() == b"half" => 2,
            NumberWord::Nth(n, many) if many == (upper > 1) => n,
            _ => return None,
        };
        let coins = name.lower() == b"quarters" && self.byte(end) != b'-';
        if coins && !self.next_is(name.end, &[b"of", b"full", b"as", b"the"]) {
            return None;
        }
        // `one third grader`
        if upper == 1 && lower > 2 && self.next_is(name.end, &[b"grader", b"graders", b"grade", b"place", b"floor"]) {
            return None;
        }
        Some((name.end, Number::fraction(upper, lower)?))
    }

    /// A byte outside of ASCII: perhaps a ready-made fraction.
    fn other(&mut self, at: usize) -> usize {
        if let Some((end, value)) = self.vulgar(at) {
            let unit = self.unit_after(end);
            self.push(at..end, value, Kind::Fraction, true, unit);
            return end;
        }
        at + 1
    }
}

/// Returns the kind of a number: money if its unit is one of money.
fn money_kind(kind: Kind, unit: Option<Unit>) -> Kind {
    let money = unit.is_some_and(|unit| unit.dimension == Dimension::Money);
    if kind == Kind::Number && money { Kind::Money } else { kind }
}
