//! Numbers in words: English with scales and "and", German in one word, French where hyphens or blanks join it.

use super::tokens::{FigureToken, FigureTokenKind};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::number_words::{NumberWord, number_word};

/// Number of words of one number.
const MAX_WORDS: usize = 14;

/// Tells whether a text may hold a number word: fast, and rather too often.
pub(super) fn may_hold(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic()).any(|word| value(&word.to_lowercase()).is_some())
}

/// Contribution of a word to a number.
enum WordPart {
    /// Below a hundred: a unit or tens.
    Count(i64),
    /// A factor: hundred, thousand.
    Factor(i64),
}

fn value(word: &str) -> Option<WordPart> {
    match number_word(word.as_bytes()) {
        Some(NumberWord::Small(n) | NumberWord::Tens(n)) => return Some(WordPart::Count(n.into())),
        Some(NumberWord::Hundred) => return Some(WordPart::Factor(100)),
        Some(NumberWord::Scale(n)) => return Some(WordPart::Factor(n)),
        _ => {}
    }
    if let Some((_, n)) = FRENCH.iter().chain(&SOUTHERN).find(|(known, _)| *known == word) {
        return Some(if *n >= 100 { WordPart::Factor(*n) } else { WordPart::Count(*n) });
    }
    german(word).map(WordPart::Count)
}

/// French words that no other language here has.
const FRENCH: [(&str, i64); 27] = [
    ("deux", 2),
    ("trois", 3),
    ("quatre", 4),
    ("cinq", 5),
    ("sept", 7),
    ("huit", 8),
    ("neuf", 9),
    ("dix", 10),
    ("onze", 11),
    ("douze", 12),
    ("treize", 13),
    ("quatorze", 14),
    ("quinze", 15),
    ("seize", 16),
    ("vingt", 20),
    ("vingts", 20),
    ("trente", 30),
    ("quarante", 40),
    ("cinquante", 50),
    ("soixante", 60),
    ("septante", 70),
    ("nonante", 90),
    ("cent", 100),
    ("cents", 100),
    ("mille", 1_000),
    ("millions", 1_000_000),
    ("milliards", 1_000_000_000),
];

/// Spanish, Portuguese, Italian and Dutch words that no other language here has: `once`, `due` and `sei` are others too.
const SOUTHERN: [(&str, i64); 76] = [
    ("dos", 2),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("siete", 7),
    ("ocho", 8),
    ("nueve", 9),
    ("diez", 10),
    ("doce", 12),
    ("trece", 13),
    ("catorce", 14),
    ("quince", 15),
    ("dieciséis", 16),
    ("diecisiete", 17),
    ("dieciocho", 18),
    ("diecinueve", 19),
    ("veinte", 20),
    ("veintiuno", 21),
    ("veinticuatro", 24),
    ("veinticinco", 25),
    ("treinta", 30),
    ("cuarenta", 40),
    ("cincuenta", 50),
    ("sesenta", 60),
    ("setenta", 70),
    ("ochenta", 80),
    ("noventa", 90),
    ("doscientos", 200),
    ("trescientos", 300),
    ("quinientos", 500),
    ("mil", 1_000),
    ("dois", 2),
    ("duas", 2),
    ("três", 3),
    ("quatro", 4),
    ("sete", 7),
    ("oito", 8),
    ("nove", 9),
    ("doze", 12),
    ("quinze", 15),
    ("vinte", 20),
    ("trinta", 30),
    ("quarenta", 40),
    ("cinquenta", 50),
    ("sessenta", 60),
    ("oitenta", 80),
    ("quattro", 4),
    ("cinque", 5),
    ("sette", 7),
    ("dieci", 10),
    ("dodici", 12),
    ("quindici", 15),
    ("venti", 20),
    ("ventiquattro", 24),
    ("trenta", 30),
    ("quaranta", 40),
    ("cinquanta", 50),
    ("sessanta", 60),
    ("settanta", 70),
    ("ottanta", 80),
    ("novanta", 90),
    ("twee", 2),
    ("drie", 3),
    ("vijf", 5),
    ("zes", 6),
    ("zeven", 7),
    ("negen", 9),
    ("tien", 10),
    ("twaalf", 12),
    ("veertien", 14),
    ("vijftien", 15),
    ("twintig", 20),
    ("dertig", 30),
    ("zestig", 60),
    ("negentig", 90),
];

/// Reads a German number of one word: `zweihundertfünfzig`.
fn german(word: &str) -> Option<i64> {
    const SMALL: [(&str, i64); 24] = [
        ("dreizehn", 13),
        ("vierzehn", 14),
        ("fünfzehn", 15),
        ("sechzehn", 16),
        ("siebzehn", 17),
        ("achtzehn", 18),
        ("neunzehn", 19),
        ("zwölf", 12),
        ("elf", 11),
        ("zehn", 10),
        ("eins", 1),
        ("eine", 1),
        ("ein", 1),
        ("zwei", 2),
        ("drei", 3),
        ("vier", 4),
        ("fünf", 5),
        ("sechs", 6),
        ("sieben", 7),
        ("acht", 8),
        ("neun", 9),
        ("null", 0),
        ("sech", 6),
        ("sieb", 7),
    ];
    const TENS: [(&str, i64); 8] = [
        ("zwanzig", 20),
        ("dreißig", 30),
        ("vierzig", 40),
        ("fünfzig", 50),
        ("sechzig", 60),
        ("siebzig", 70),
        ("achtzig", 80),
        ("neunzig", 90),
    ];
    let small = |text: &str| SMALL.iter().find(|(known, _)| *known == text).map(|(_, n)| *n);
    let below_hundred = |text: &str| -> Option<i64> {
        if let Some((known, tens)) = TENS.iter().find(|(known, _)| text.ends_with(known)) {
            let rest = text.strip_suffix(known)?;
            return if rest.is_empty() { Some(*tens) } else { Some(small(rest.strip_suffix("und")?)? + tens) };
        }
        small(text)
    };
    // Articles and short words are no numbers of their own.
    if matches!(word, "ein" | "eine" | "eins" | "sech" | "sieb" | "elf" | "acht" | "null")
        && word != "elf"
        && word != "acht"
    {
        return None;
    }
    let (thousands, rest) = word.split_once("tausend").map_or((0, word), |(before, rest)| {
        (if before.is_empty() { 1 } else { below_hundred(before).unwrap_or(-1) }, rest)
    });
    let (hundreds, rest) = rest
        .split_once("hundert")
        .map_or((0, rest), |(before, rest)| (if before.is_empty() { 1 } else { small(before).unwrap_or(-1) }, rest));
    let rest = rest.strip_prefix("und").filter(|rest| !rest.is_empty()).unwrap_or(rest);
    let last = if rest.is_empty() { 0 } else { below_hundred(rest)? };
    let is_number = thousands >= 0 && hundreds >= 0 && thousands + hundreds + last > 0;
    is_number.then_some(thousands * 1_000 + hundreds * 100 + last)
}

/// Reads the number in words that begins with a token, and the token behind it.
pub(super) fn read(text: &str, tokens: &[FigureToken], at: usize) -> Option<(Number, usize)> {
    let word = |at: usize| {
        let token = tokens.get(at).filter(|token| token.kind == FigureTokenKind::Word)?;
        Some(text.get(token.range.clone())?.to_lowercase())
    };
    let first = word(at)?;
    let (mut total, mut current): (i64, i64) = match value(&first)? {
        WordPart::Count(n) => (0, n),
        // "hundred" alone says nothing of how many; German and French say "hundert", "mille", "cent" for one.
        WordPart::Factor(n) if matches!(first.as_str(), "mille" | "cent" | "mil") => (0, n),
        WordPart::Factor(_) => return None,
    };
    let (mut end, mut count) = (at + 1, 1);
    while count < MAX_WORDS {
        let mut next = end;
        while matches!(
            tokens.get(next).map(|token| token.kind),
            Some(FigureTokenKind::Blank(_) | FigureTokenKind::Sign('-'))
        ) && next < end + 3
        {
            next += 1;
        }
        if next == end {
            break;
        }
        let Some(mut following) = word(next) else { break };
        if matches!(following.as_str(), "and" | "et" | "y") && current > 0 {
            let after = next + 1;
            let blank = matches!(
                tokens.get(after).map(|token| token.kind),
                Some(FigureTokenKind::Blank(_) | FigureTokenKind::Sign('-'))
            );
            let Some(then) = word(after + usize::from(blank)) else { break };
            // "five and six" are two.
            let continues = (total > 0 || current >= 100 || matches!(following.as_str(), "et" | "y"))
                && matches!(value(&then), Some(WordPart::Count(n)) if n < 100);
            if !continues {
                break;
            }
            next = after + usize::from(blank);
            following = then;
        }
        match value(&following) {
            Some(WordPart::Count(n)) if fits(current, n) => {
                current = if current == 4 && n == 20 { 80 } else { current + n }
            }
            Some(WordPart::Factor(100)) if current > 0 && current < 100 => current *= 100,
            Some(WordPart::Factor(n)) if n >= 1_000 && current > 0 => {
                total = total.checked_add(current.checked_mul(n)?)?;
                current = 0;
            }
            _ => break,
        }
        end = next + 1;
        count += 1;
    }
    Some((Number::whole(total.checked_add(current)?), end))
}

/// Tells whether a count may follow what was read: units behind tens, anything below a hundred behind hundreds.
fn fits(current: i64, n: i64) -> bool {
    let tens = current % 100;
    current == 0
        || tens == 0
        || (tens == 4 && n == 20)
        || (tens >= 20 && tens % 10 == 0 && n < 20 && (n < 10 || tens == 60 || tens == 80))
}
