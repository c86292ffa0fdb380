//! Words of answers and documents: folded, with what tells names, negations and opposites apart.

use std::ops::Range;
use std::slice::SliceIndex;

use nucleo_matcher::chars::normalize;

use senses::{excludes, is_paper, is_party, is_refusal, means, pleads, requires};

mod senses;

/// Number of words of one text that are read.
const MAX_WORDS: usize = 4_000;

/// A word.
#[derive(Clone, Debug)]
pub(crate) struct TextWord {
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
    pub(crate) fn has_digit(&self) -> bool {
        self.folded.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// The year that it is, where it can be one.
    pub(crate) fn year(&self) -> Option<i64> {
        let is_long = self.folded.len() == 4;
        self.folded.parse().ok().filter(|year| is_long && (1900..2100).contains(year))
    }
}

/// Tells whether a question asks for a person.
pub(crate) fn asks_who(question: &str) -> bool {
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
pub(crate) fn is_empty_word(word: &str) -> bool {
    EMPTY.split_whitespace().any(|known| known == word)
}

/// Folds the letters of a word.
pub(crate) fn folded(text: &str) -> String {
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
            c => out.extend(c.to_lowercase().map(normalize)),
        }
    }
    out
}

/// Takes a text apart into words; hyphens at line ends join what they broke.
pub(crate) fn words(text: &str) -> Vec<TextWord> {
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
            let rest = text.get(at..).unwrap_or_default();
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

/// The part of a text in some bytes; nothing where these are not in it.
pub(crate) fn part<R: SliceIndex<str, Output = str>>(text: &str, bytes: R) -> &str {
    text.get(bytes).unwrap_or_default()
}

/// Tells whether two folded words are forms of one: `covers` and `coverage`, `Jahr` and `Jahre`.
pub(crate) fn akin(a: &str, b: &str) -> bool {
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

/// Finds where a list of words stands one after another in another.
pub(crate) fn sequence(needle: &[&TextWord], hay: &[TextWord]) -> Option<Range<usize>> {
    let first = needle.first()?;
    let starts = hay.iter().enumerate().filter(|(_, word)| word.folded == first.folded);
    starts.map(|(at, _)| at..at + needle.len()).find(|range| {
        hay.get(range.clone()).is_some_and(|part| part.iter().zip(needle).all(|(a, b)| a.folded == b.folded))
    })
}

/// Tells whether a word at a place denies what follows; "no later than" and its like compare, they do not deny.
pub(crate) fn denies(words: &[TextWord], at: usize) -> bool {
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
pub(crate) fn are_opposite(a: &str, b: &str) -> bool {
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

/// Stance of a passage towards a statement.
#[derive(Clone, Debug)]
pub(crate) struct Stance {
    /// It says so; `false`: it says the opposite.
    pub agrees: bool,
    /// The word by which it denies, or the opposite.
    pub by: Option<Range<usize>>,
}

/// Words after which a sentence says only when or for whom.
const CONDITIONS: &str = "if unless except only provided while when until without where subject once after before during \
    sofern wenn ausser nur solange bis ohne falls sauf si seulement lorsque jusqu unless excluding otherwise";

/// Says whether a passage says or denies a statement: only where a clause holds every word of it, names no condition of its
/// own, and denies a word of the statement or none.
pub(crate) fn stance(statement: &str, passage: &str) -> Option<Stance> {
    let stated = words(statement);
    let is_negation = |at: usize| denies(&stated, at) || is_free_of(&stated, at);
    let negations = (0..stated.len()).filter(|at| is_negation(*at)).count();
    let content: Vec<&TextWord> = stated
        .iter()
        .enumerate()
        .filter(|(at, word)| !is_empty_word(&word.folded) && !is_negation(*at))
        .map(|(_, word)| word)
        .collect();
    if content.len() < 2 || negations > 1 {
        return None;
    }
    // "Must visitors register?" asks for what is required.
    let demands =
        stated.first().is_some_and(|word| matches!(word.folded.as_str(), "must" | "muss" | "mussen" | "doit"));
    let is_condition = |word: &str| CONDITIONS.split_whitespace().any(|known| known == word);
    let all = words(passage);
    let mut told: Option<Stance> = None;
    for clause in clauses(passage, &all) {
        let own = all.get(clause.clone())?;
        let Some(opposite) = compared(&content, own) else { continue };
        // "Is not provided" is no condition, "provided that" is one.
        let is_verb = |at: usize| {
            const VERBS: &[&str] = &["is", "are", "was", "were", "be", "been", "not"];
            let before = at.checked_sub(1).and_then(|at| own.get(at));
            before.is_some_and(|word| VERBS.contains(&word.folded.as_str()))
        };
        let mut conditions = own
            .iter()
            .enumerate()
            .filter(|(at, word)| is_condition(&word.folded) && !(word.folded == "provided" && is_verb(*at)));
        if conditions.any(|(_, word)| !stated.iter().any(|own| own.folded == word.folded)) {
            return None;
        }
        let mut denied = None;
        // "…, not however for parties" denies what follows.
        let is_of_next = |at: usize| at + 1 == own.len() && all.get(clause.end).is_some_and(joins);
        for at in (0..own.len()).filter(|at| denies(own, *at) && !is_of_next(*at)) {
            let head = own.get(at + 1..)?.iter().find(|word| {
                !is_empty_word(&word.folded) && !matches!(word.folded.as_str(), "yet" | "ever" | "longer" | "generally")
            });
            // German puts "nicht" behind what it denies.
            let head = head.or_else(|| own.get(..at)?.iter().rev().find(|word| !is_empty_word(&word.folded)));
            let is_of_statement = head.is_some_and(|head| {
                reaches(own, head) || (demands && requires(&head.folded)) || is_told(&content, head)
            });
            // "Neither … nor": each of them denies a part of its own.
            let lists = own.get(at).is_some_and(|word| matches!(word.folded.as_str(), "ni" | "nor"));
            if lists && !is_of_statement {
                continue;
            }
            if !is_of_statement || denied.is_some() {
                return None;
            }
            denied = own.get(at).map(|word| word.range.clone());
        }
        // "Hail is excluded from cover", "the application to set it aside is dismissed"
        let excluded = own.iter().find(|word| excludes(&word.folded) && !is_told(&content, word));
        if excluded.is_some() && denied.is_some() {
            return None;
        }
        let mut refused = excluded.filter(|_| opposite.is_none()).map(|word| word.range.clone());
        if let Some(word) = own.iter().find(|word| is_refusal(&word.folded) && !is_told(&content, word))
            && opposite.is_none()
        {
            let plea = own.iter().find(|word| pleads(&word.folded)).filter(|plea| !is_told(&content, plea));
            if plea.is_none() || denied.is_some() {
                return None;
            }
            refused = Some(word.range.clone());
        }
        let flips = [denied.is_some(), opposite.is_some(), refused.is_some()].into_iter().filter(|flip| *flip).count();
        let stance = Stance { agrees: (flips + negations).is_multiple_of(2), by: denied.or(opposite).or(refused) };
        if told.as_ref().is_some_and(|told| told.agrees != stance.agrees) {
            return None;
        }
        told.get_or_insert(stance);
    }
    told
}

/// Tells whether a word is "free" of "free of charge", which denies the charge.
fn is_free_of(words: &[TextWord], at: usize) -> bool {
    let is = |n: usize, list: &[&str]| words.get(n).is_some_and(|word| list.contains(&word.folded.as_str()));
    is(at, &["free"]) && is(at + 1, &["of"]) && is(at + 2, &["charge", "charges"])
}

/// Tells whether some words hold another, in any form or sense.
fn is_told(content: &[&TextWord], word: &TextWord) -> bool {
    content.iter().any(|own| means(own, word))
}

/// Tells whether a word says only how far the subject of a clause reaches: "cover does not extend to racing".
fn reaches(own: &[TextWord], head: &TextWord) -> bool {
    let mut behind = own.iter().filter(|word| word.range.start > head.range.start);
    matches!(head.folded.as_str(), "extend" | "extends" | "apply" | "applies")
        && behind.next().is_some_and(|word| word.folded == "to")
}

/// Compares the words of a statement with a clause: `None` where it does not hold them, else the word that is the opposite of
/// the one that is missing.
fn compared(content: &[&TextWord], own: &[TextWord]) -> Option<Option<Range<usize>>> {
    let is_there = |word: &&&TextWord| own.iter().any(|other| means(word, other));
    let mut missing: Vec<&&TextWord> = content.iter().filter(|word| !is_there(word)).collect();
    // "Can a guest get …?" against "… is not provided": whom it concerns is not said again.
    if content.len() - missing.len() >= 2 && !own.iter().any(|word| is_party(&word.folded)) {
        missing.retain(|word| !is_party(&word.folded));
    }
    if content.len() - missing.len() >= 2 && !own.iter().any(|word| is_paper(&word.folded)) {
        missing.retain(|word| !is_paper(&word.folded));
    }
    match missing.as_slice() {
        [] => Some(None),
        [one] => {
            let opposite = own.iter().find(|other| are_opposite(&one.folded, &other.folded));
            // "Not to be stored outdoors" names no subject.
            let has_subject = !(denies(own, 0) || (own.first()?.folded == "do" && denies(own, 1)));
            let is_subject =
                !has_subject && content.len() > 2 && content.first().is_some_and(|first| first.range == one.range);
            match opposite {
                Some(word) => Some(Some(word.range.clone())),
                None => is_subject.then_some(None),
            }
        }
        _ => None,
    }
}

/// Tells whether a word begins a clause that restricts the one before.
fn joins(word: &TextWord) -> bool {
    const JOINS: &[&str] = stepscope_base::list![but however whereas aber jedoch mais although though];
    JOINS.contains(&word.folded.as_str())
}

/// The clauses of a passage, as ranges of its words.
fn clauses(passage: &str, words: &[TextWord]) -> Vec<Range<usize>> {
    const VERBS: &str = "is are was were does do did shall will may must has have can ist sind wird werden est sont";
    let is_verb = |word: &TextWord| VERBS.split(' ').any(|verb| verb == word.folded);
    let mut clauses = Vec::new();
    let mut start = 0;
    for at in 0..words.len() {
        let Some(word) = words.get(at) else { break };
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let between = before.and_then(|before| passage.get(before.range.end..word.range.start)).unwrap_or_default();
        let ends = between.contains([';', '!', '?'])
            || between.contains(". ")
            || between.contains(".\n")
            || between.contains(": ");
        let joins = joins(word);
        // "… and is not renewable" goes on with the subject before.
        let mut behind = words.get(at + 1..).unwrap_or_default().iter();
        let goes_on = behind.find(|word| !matches!(word.folded.as_str(), "n" | "ne")).is_some_and(is_verb);
        let and = matches!(word.folded.as_str(), "and" | "und" | "et")
            && !goes_on
            && words.get(start..at).is_some_and(|part| part.iter().any(is_verb))
            && words.get(at + 1..).is_some_and(|rest| rest.iter().take(8).any(is_verb));
        if (ends || joins || and) && at > start {
            clauses.push(start..at);
            start = at;
        }
    }
    if start < words.len() {
        clauses.push(start..words.len());
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees(statement: &str, passage: &str) -> Option<bool> {
        stance(statement, passage).map(|stance| stance.agrees)
    }

    #[test]
    fn a_clause_says_or_denies_a_statement() {
        for (statement, passage, wanted) in [
            ("Is damage by water covered?", "The policy covers damage by water.", Some(true)),
            ("Is damage by water covered?", "Damage by water is not covered.", Some(false)),
            ("Is damage by water covered?", "Damage by water is excluded.", Some(false)),
            ("Is damage by water not covered?", "Damage by water is not covered.", Some(true)),
            ("Are dogs allowed?", "No dogs are allowed here.", Some(false)),
            ("Are dogs allowed?", "Dogs are allowed only on a lead.", None),
            ("Is frost covered?", "Hail is covered and frost is not covered.", Some(false)),
            ("Is hail covered?", "Hail is covered and frost is not covered.", Some(true)),
            ("Is frost covered?", "Hail is covered.", None),
            ("Sind Hunde erlaubt?", "Hunde sind nicht erlaubt.", Some(false)),
            ("Can the key be copied?", "The key can't be copied.", Some(false)),
        ] {
            assert_eq!(agrees(statement, passage), wanted, "{statement} {passage}");
        }
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
