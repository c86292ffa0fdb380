//! Notation of numbers in a document: which sign its decimals stand behind, and the words for large numbers.

use stepscope_arithmetic::scripts::myriad;

/// Sign before the decimals.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Convention {
    /// 1,250.50
    Point,
    /// 1.250,50
    Comma,
    /// Nothing tells.
    #[default]
    Unknown,
}

/// Language of a text, as far as its small words tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// English.
    English,
    /// German.
    German,
    /// French.
    French,
}

const WORDS: [(Language, &str); 3] = [
    (Language::English, "the and of is are to for that this with by not shall be from on any or which at"),
    (
        Language::German,
        "der die das und ist sind nicht mit für von wird werden den dem des ein eine einer im zum zur bei auf nach oder beträgt",
    ),
    (Language::French, "le la les des est sont pour une dans du et par sur aux ou qui que au avec pas ne d l"),
];

impl Language {
    /// The language of some text, where one leads.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let mut counts = [0_usize; 3];
        for text in texts {
            for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty() && word.len() <= 8) {
                let word = word.to_lowercase();
                for (count, (_, words)) in counts.iter_mut().zip(WORDS) {
                    *count += usize::from(words.split(' ').any(|known| known == word));
                }
            }
        }
        let (most, language) = counts
            .into_iter()
            .zip(WORDS)
            .map(|(count, (language, _))| (count, language))
            .max_by_key(|(count, _)| *count)?;
        let leads = counts.iter().filter(|count| **count == most).count() == 1;
        (most >= 1 && leads).then_some(language)
    }
}

impl Convention {
    /// The convention of some text: its own numbers tell first, then its language.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str> + Clone) -> Self {
        let (mut point, mut comma) = (0, 0);
        for text in texts.clone() {
            let bytes = text.as_bytes();
            for (at, sign) in bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'.' | b',')) {
                let before = bytes[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
                let rest = &bytes[at + 1..];
                let behind = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let next = rest.get(behind).copied();
                let tail = rest.get(behind + 1).is_some_and(u8::is_ascii_digit);
                let previous = at.checked_sub(before + 1).and_then(|at| bytes.get(at)).copied();
                let is_chained =
                    matches!(previous, Some(b'.' | b',' | b'/' | b'-')) || (tail && matches!(next, Some(b'.' | b',')));
                let weight = match (before, behind) {
                    // 1.250,50: the second sign is of the decimals.
                    (3, 1 | 2) if matches!(previous, Some(b'.' | b',')) && previous != Some(*sign) => 4,
                    (1.., 2) if !is_chained => 1,
                    _ => 0,
                };
                // Money has no three decimals: "€ 85.000" groups, and "€ 1,1 mln" does not.
                let start = at.saturating_sub(before);
                let head = text[..start].trim_end_matches([' ', '\u{a0}']);
                let is_money = before <= 3 && behind > 0 && !is_chained && head.ends_with(['€', '$', '£', '¥']);
                match (is_money, behind, sign) {
                    (true, 3, b'.') | (true, 1, b',') => comma += 1,
                    (true, 3, b',') | (true, 1, b'.') => point += 1,
                    _ => {}
                }
                // 15.03 may be a day, and 3.12 a section.
                let is_day =
                    *sign == b'.' && weight == 1 && before <= 2 && rest.first().is_some_and(|digit| *digit <= b'1');
                match sign {
                    b'.' if !is_day => point += weight,
                    b',' => comma += weight,
                    _ => {}
                }
            }
        }
        match point.cmp(&comma) {
            std::cmp::Ordering::Greater => Self::Point,
            std::cmp::Ordering::Less => Self::Comma,
            std::cmp::Ordering::Equal => match Language::of(texts) {
                Some(Language::English) => Self::Point,
                Some(Language::German | Language::French) => Self::Comma,
                None => Self::Unknown,
            },
        }
    }
}

/// The factor that a word behind a number names.
pub fn scale(raw: &str, convention: Convention) -> Option<i64> {
    let word = raw.to_lowercase();
    // A German "Billion" is a million millions.
    if word == "billion" && convention == Convention::Comma && raw.starts_with('B') {
        return Some(1_000_000_000_000);
    }
    let named = SCALES.iter().find(|(words, _)| words.split_whitespace().any(|known| known == word));
    let glued = || myriad(raw).filter(|(_, len)| *len == raw.len()).map(|(factor, _)| factor);
    named.map(|(_, factor)| *factor).or_else(glued)
}

/// Words for scales in small letters, in the languages that documents are written in.
const SCALES: &[(&str, i64)] = &[
    ("hundred", 100),
    (
        "thousand thousands tsd tausend mille milliers tds mil mila duizend tusen tusind tuhatta tys тыс тысяч тысячи \
         тисяч nghìn ngàn ribu हज़ार हज\u{93c}ार हजार হাজার ألف آلاف אלף χιλιάδες ezer mii",
        1_000,
    ),
    ("lakh lakhs lac lacs लाख লাখ লক্ষ", 100_000),
    (
        "million millions mio mln mn millionen mill millón millon millones milione milioni milhão milhões miljoen miljoner \
         miljon millioner miljoonaa milion miliony milionów milionu milioane millió млн миллион миллиона миллионов мільйонів \
         мільйони milyon triệu juta مليون ملايين מיליון εκατ εκατομμύρια",
        1_000_000,
    ),
    ("crore crores करोड़ करोड\u{93c}", 10_000_000),
    (
        "billion billions bn bln mrd mld milliarde milliarden milliard milliards miliardo miliardi miljard miljarder milliarder \
         miljardia miliard miliardy miliardów miliarde milliárd bilhão bilhões млрд миллиард миллиарда миллиардов мільярдів \
         milyar miliar tỷ مليار مليارات מיליארד δισ δισεκατομμύρια",
        1_000_000_000,
    ),
    ("trillion trillions tn billionen billón billones", 1_000_000_000_000),
];

/// Tells whether a word for a scale is cut short, so that a point behind it belongs to it.
pub(super) fn is_short_scale(raw: &str) -> bool {
    matches!(
        raw.to_lowercase().as_str(),
        "mio"
            | "mrd"
            | "tsd"
            | "mln"
            | "mn"
            | "bn"
            | "tds"
            | "mill"
            | "bln"
            | "mld"
            | "tys"
            | "тыс"
            | "млн"
            | "млрд"
            | "εκατ"
            | "δισ"
    )
}

/// The scale in which a text says that it counts: `in thousands`, `EUR million`, `($000)`, `in Mio. EUR`, `TEUR`.
pub fn header_scale(text: &str) -> Option<i64> {
    let lower = text.to_lowercase();
    if ["(000)", "(000s)", "'000", "’000", "(in 000", "in 000s", "$000", "£000", "€000"]
        .iter()
        .any(|sign| lower.contains(sign))
    {
        return Some(1_000);
    }
    let mut words: Vec<&str> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "(),.;:|".contains(c)).filter(|word| !word.is_empty()) {
        words.push(word);
    }
    for (n, word) in words.iter().enumerate() {
        if matches!(*word, "TEUR" | "T€" | "kEUR" | "k€" | "KEUR" | "TCHF" | "kCHF" | "TUSD" | "kUSD") {
            return Some(1_000);
        }
        if matches!(*word, "MEUR" | "M€" | "MUSD" | "MCHF" | "m€" | "€m" | "£m" | "$m" | "US$m" | "EURm" | "€M")
        {
            return Some(1_000_000);
        }
        let bare = word.trim_start_matches(['$', '€', '£', '¥']);
        let Some(scale) = scale(bare, Convention::Unknown).filter(|scale| *scale >= 1_000) else { continue };
        let is_mark = |word: &str| {
            let word = word.trim_matches(['(', ')', '.']);
            matches!(word.to_lowercase().as_str(), "in" | "en" | "$" | "€" | "£" | "¥" | "us$" | "rmb" | "of")
                || crate::currency::is_code(word.as_bytes())
        };
        let before = n.checked_sub(1).and_then(|n| words.get(n));
        // "EUR 3 million" has its number between.
        if bare.len() < word.len() || before.is_some_and(|before| is_mark(before)) {
            return Some(scale);
        }
        let is_plural = matches!(bare.to_lowercase().as_str(), "thousands" | "millions" | "billions");
        if is_plural && (n == 0 || text.trim_start().starts_with('(')) {
            return Some(scale);
        }
    }
    None
}
