//! Words of answers and documents: folded, with what tells names, negations and opposites apart.

use std::ops::Range;
use std::slice::SliceIndex;

use nucleo_matcher::chars::normalize;

use stepscope_arithmetic::scripts::plain;

pub use stance::{Stance, stance};

mod senses;
mod stance;

/// Number of words of one text that are read.
const MAX_WORDS: usize = 4_000;

/// A word.
#[derive(Clone, Debug)]
pub struct TextWord {
    /// In small letters without accents.
    pub folded: String,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// It begins with a capital.
    pub capital: bool,
    /// It begins a sentence or a line.
    pub initial: bool,
}

impl TextWord {
    /// Tells whether it is a number or holds a digit.
    pub fn has_digit(&self) -> bool {
        self.folded.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// The year that it is, where it can be one.
    pub fn year(&self) -> Option<i64> {
        let is_long = self.folded.len() == 4;
        self.folded.parse().ok().filter(|year| is_long && (1900..2100).contains(year))
    }
}

/// Tells whether a question asks for a person.
pub fn asks_who(question: &str) -> bool {
    const WHO: &[&str] = stepscope_base::list![who whom whose wer wen wem qui quien chi quem wie];
    words(question).first().is_some_and(|word| WHO.contains(&word.folded.as_str()))
}

/// Words that say nothing of their own, in English, German and French, folded.
const EMPTY: &str = "a an the and or of to for in on at by from with as is are was were be been being it its this that these \
    those there their his her he she they we you i our your my us them which who whom whose what when where how why do does \
    did has have had will would shall should may might can could must any all each every such than then so also into out up \
    over under upon per if am s t ll re ve d l \
    der die das den dem des ein eine einer eines einem einen und oder von vom zu zum zur im am an auf aus bei mit nach fur \
    ist sind waren wird werden wurde wurden sein seine ihr ihre es sie er wir man sich als auch wie hat haben hatte \
    konnen kann muss mussen soll sollen darf durfen welche welcher welches wer was wann wo \
    le la les un une des du de au aux et ou a dans par pour sur avec ce cette ces il elle ils elles est sont etait sera qui \
    que quoi dont son sa ses leur leurs y en se on nous vous quel quelle quels quelles c j n";

/// Tells whether a folded word says nothing of its own.
pub fn is_empty_word(word: &str) -> bool {
    EMPTY.split_whitespace().any(|known| known == word)
}

/// Folds the letters of a word.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'ß' | 'ẞ' => out.push_str("ss"),
            'æ' | 'Æ' => out.push_str("ae"),
            'œ' | 'Œ' => out.push_str("oe"),
            'ﬁ' => out.push_str("fi"),
            'ﬂ' => out.push_str("fl"),
            'ﬀ' => out.push_str("ff"),
            '\u{ad}' | '\u{300}'..='\u{36f}' => {}
            // The letters are folded again after their case: some accents have small letters only in the table.
            c => out.extend(plain(c).unwrap_or(c).to_lowercase().map(normalize)),
        }
    }
    out
}

/// Takes a text apart into words; hyphens at line ends join what they broke.
pub fn words(text: &str) -> Vec<TextWord> {
    let mut words: Vec<TextWord> = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut initial = true;
    while let Some((start, c)) = chars.next() {
        if let Some(len) = (c == '<').then(|| tag(text.get(start..)?)).flatten() {
            while chars.next_if(|(at, _)| *at < start + len).is_some() {}
            initial = true;
            continue;
        }
        if !c.is_alphanumeric() {
            // "Mr. Achterberg": no sentence ends at a title.
            const TITLES: &str = "mr mrs ms dr prof st hon rev capt sgt lt ing dipl fr hr mme mlle sr sra dott";
            let is_title =
                |word: &TextWord| word.range.end == start && TITLES.split(' ').any(|title| title == word.folded);
            if c == '.' && words.last().is_some_and(is_title) {
                continue;
            }
            initial |= matches!(c, '.' | '!' | '?' | ':' | ';' | '\n' | '|' | '•' | '(' | '"' | '“' | '„' | '«');
            continue;
        }
        let mut end = start + c.len_utf8();
        let mut raw = String::from(c);
        while let Some(&(at, next)) = chars.peek() {
            if next.is_alphanumeric() || matches!(next, '\u{ad}' | '\u{300}'..='\u{36f}') {
                raw.push(next);
                end = at + next.len_utf8();
                chars.next();
                continue;
            }
            // "pro-\nvided"
            let rest = &text[at..];
            let broken = rest.strip_prefix("-\n").or_else(|| rest.strip_prefix("‐\n"));
            let continues = broken.is_some_and(|rest| rest.chars().next().is_some_and(char::is_lowercase));
            if !continues {
                break;
            }
            chars.next();
            chars.next();
        }
        words.push(TextWord { folded: folded(&raw), range: start..end, capital: c.is_uppercase(), initial });
        initial = false;
        if words.len() >= MAX_WORDS {
            break;
        }
    }
    words
}

/// The length of a tag, `<em>` or `</p>`, at the beginning of a text; `a < b` is none.
fn tag(text: &str) -> Option<usize> {
    /// A longer one is no tag.
    const MAX_TAG: usize = 80;
    let name = text.strip_prefix("</").or_else(|| text.strip_prefix('<'))?;
    let end = text.find('>').filter(|end| *end <= MAX_TAG)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_name && !text.get(1..end)?.contains('<')).then_some(end + 1)
}

/// The part of a text in some bytes.
pub fn part<R: SliceIndex<str, Output = str>>(text: &str, bytes: R) -> &str {
    &text[bytes]
}

/// Tells whether two folded words are forms of one: `covers` and `coverage`, `Jahr` and `Jahre`.
pub fn akin(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let shared: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    // "lay" and "laying"
    if a.strip_suffix("ing") == Some(b) || b.strip_suffix("ing") == Some(a) {
        return short >= 3;
    }
    // "day" and "days"
    if short >= 3 && shared == short && long - short <= 2 {
        return true;
    }
    shared >= 4 && shared + 2 >= short && long - shared <= 4
}

/// Finds a text in another whose script parts no words, `札幌市` in `札幌市中央区`; `Some(false)`: letters go on beside it, so that
/// it may be a part of a word that says something else. A number is none of a longer one.
pub fn find_unspaced(said: &str, text: &str) -> Option<bool> {
    let squeezed = |text: &str| folded(text).split_whitespace().collect::<String>();
    let (said, text) = (squeezed(said), squeezed(text));
    let ends_in_digit = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let begins_with_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let places = text.match_indices(said.as_str()).filter_map(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + said.len()..]);
        let is_inner = |digits: &str| digits.ends_with(['.', ',']) && ends_in_digit(&digits[..digits.len() - 1]);
        let cuts_number = (begins_with_digit(&said) && (ends_in_digit(before) || is_inner(before)))
            || (ends_in_digit(&said) && begins_with_digit(behind.trim_start_matches(['.', ','])));
        let is_bounded = !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric);
        (!cuts_number).then_some(is_bounded)
    });
    places.max()
}

/// Finds where a list of words stands one after another in another.
pub fn sequence(needle: &[&TextWord], hay: &[TextWord]) -> Option<Range<usize>> {
    let first = needle.first()?;
    let starts = hay.iter().enumerate().filter(|(_, word)| word.folded == first.folded);
    starts.map(|(at, _)| at..at + needle.len()).find(|range| {
        hay.get(range.clone()).is_some_and(|part| part.iter().zip(needle).all(|(a, b)| a.folded == b.folded))
    })
}

/// Tells whether a word at a place denies what follows; "no later than" and its like compare, they do not deny.
pub fn denies(words: &[TextWord], at: usize) -> bool {
    const COMPARES: &[&str] = stepscope_base::list![
        later more less fewer earlier longer exceed exceeding only greater mehr older younger higher lower larger smaller
        shorter alter
    ];
    let Some(word) = words.get(at) else { return false };
    let folded = word.folded.as_str();
    let plain = matches!(
        folded,
        "not"
            | "no"
            | "never"
            | "neither"
            | "nor"
            | "cannot"
            | "nobody"
            | "nothing"
            | "none"
            | "nicht"
            | "nie"
            | "niemals"
            | "weder"
            | "pas"
            | "jamais"
            | "aucun"
            | "aucune"
            | "ni"
            | "niet"
            | "non"
            | "tampoco"
            | "nunca"
    ) || (folded.starts_with("kein") && folded.len() <= 6);
    let contracted = folded == "t"
        && at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|before| {
            before.range.end + 1 == word.range.start || before.range.end + '’'.len_utf8() == word.range.start
        })
        && at
            .checked_sub(1)
            .and_then(|at| words.get(at))
            .is_some_and(|before| before.folded.ends_with('n') || before.folded == "can");
    let compares = words.get(at + 1).is_some_and(|next| COMPARES.contains(&next.folded.as_str()));
    // "No. 5" and "No 5" name.
    let names = folded == "no" && words.get(at + 1).is_some_and(TextWord::has_digit);
    (plain || contracted) && !compares && !names
}

/// Pairs of words that say the opposite, by their beginnings, folded.
const OPPOSITES: &[(&str, &str)] = &[
    ("cover", "exclud"),
    ("includ", "exclud"),
    ("insured", "uninsured"),
    ("insured", "exclud"),
    ("inclus", "exclus"),
    ("allow", "prohibit"),
    ("allow", "forbid"),
    ("permit", "prohibit"),
    ("permit", "forbid"),
    ("permitted", "forbidden"),
    ("allowed", "forbidden"),
    ("before", "after"),
    ("above", "below"),
    ("more", "less"),
    ("most", "least"),
    ("maximum", "minimum"),
    ("higher", "lower"),
    ("increas", "decreas"),
    ("increas", "reduc"),
    ("rais", "lower"),
    ("with", "without"),
    ("earlier", "later"),
    ("buyer", "seller"),
    ("landlord", "tenant"),
    ("lessor", "lessee"),
    ("lender", "borrower"),
    ("employer", "employee"),
    ("open", "closed"),
    ("enabled", "disabled"),
    ("mandatory", "optional"),
    ("required", "optional"),
    ("monthly", "yearly"),
    ("monthly", "weekly"),
    ("annual", "monthly"),
    ("first", "last"),
    ("refundable", "nonrefundable"),
    ("erlaubt", "verboten"),
    ("gestattet", "untersagt"),
    ("mindestens", "hochstens"),
    ("vor", "nach"),
    ("versichert", "ausgeschlossen"),
    ("avant", "apres"),
    ("plus", "moins"),
    ("inclus", "exclu"),
    ("vermieter", "mieter"),
    ("verkaufer", "kaufer"),
    ("arbeitgeber", "arbeitnehmer"),
    ("auftraggeber", "auftragnehmer"),
    ("bailleur", "locataire"),
    ("vendeur", "acheteur"),
    ("employeur", "salarie"),
    ("arrendador", "arrendatari"),
    ("vendedor", "comprador"),
    ("licensor", "licensee"),
    ("franchisor", "franchisee"),
    ("supplier", "customer"),
    ("greater", "smaller"),
    ("larger", "smaller"),
    ("longer", "shorter"),
    ("grosser", "kleiner"),
    ("langer", "kurzer"),
    ("better", "worse"),
    ("rose", "fell"),
    ("gestiegen", "gesunken"),
    ("grant", "dismiss"),
    ("grant", "refus"),
    ("grant", "reject"),
    ("approv", "refus"),
    ("approv", "reject"),
    ("accept", "refus"),
    ("accept", "reject"),
    ("adopted", "rejected"),
    ("carried", "rejected"),
    ("passed", "rejected"),
    ("angenommen", "abgelehnt"),
    ("bewilligt", "abgelehnt"),
    ("accord", "refus"),
    ("moglich", "ausgeschlossen"),
    ("possible", "exclu"),
];

/// Tells whether a word begins as a stem does; short stems are whole words.
fn is_of(word: &str, stem: &str) -> bool {
    word == stem || (stem.len() >= 5 && word.starts_with(stem))
}

/// Tells whether two folded words say the opposite of each other.
pub fn are_opposite(a: &str, b: &str) -> bool {
    // "paid" and "unpaid"; "unless" is no opposite of "less".
    let is_denied = |word: &str, other: &str| {
        let rest = word.strip_prefix("un").or_else(|| word.strip_prefix("non"));
        rest.is_some_and(|rest| rest == other && rest.len() >= 4 && rest != "less")
    };
    if is_denied(a, b) || is_denied(b, a) {
        return true;
    }
    OPPOSITES
        .iter()
        .any(|(one, other)| !akin(a, b) && ((is_of(a, one) && is_of(b, other)) || (is_of(a, other) && is_of(b, one))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_script_without_blanks_stands_in_another_as_far_as_it_can_be_told() {
        assert_eq!(find_unspaced("札幌市", "〒060 札幌市中央区"), Some(false));
        assert_eq!(find_unspaced("札幌市", "市：札幌市、北海道"), Some(true));
        assert_eq!(find_unspaced("対象", "保証の対象外"), Some(false));
        assert_eq!(find_unspaced("3人", "定員13人"), None, "a part of a longer number");
        assert_eq!(find_unspaced("13人", "定員１３人"), Some(false));
        assert_eq!(find_unspaced("函館市", "札幌市中央区"), None);
    }

    #[test]
    fn forms_of_a_word_are_akin() {
        for (a, b) in [("cover", "covered"), ("day", "days"), ("insured", "insurance"), ("policy", "policies")] {
            assert!(akin(a, b), "{a} {b}");
        }
        for (a, b) in [("may", "mary"), ("rent", "rest"), ("cole", "kole"), ("tenant", "landlord")] {
            assert!(!akin(a, b), "{a} {b}");
        }
    }
}
