//! Texts: word for word where they stand so, else their dates, numbers, negations and names; other words may be a
//! paraphrase.

use std::ops::Range;

use super::claim::{Claimed, Evidence, Passage, place_word};
use stepscope_arithmetic::scripts::is_unspaced;
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::date;
use stepscope_evidence::date::{Date, WrittenDate};
use stepscope_evidence::figures::{Figure, FigureRole, Language, figures};
use stepscope_evidence::typed::AnswerRequest;
use stepscope_evidence::wording::{
    TextWord, akin, are_opposite, asks_who, denies, find_unspaced, is_empty_word, part, sequence, stance, words,
};

/// A longer text is compared word by word no more.
const MAX_TEXT: usize = 8_000;
/// Number of words that a note names.
const MAX_NAMED: usize = 3;

/// Compares a text with what its item cites.
pub(super) fn compare(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer, _asked: &AnswerRequest) {
    let Some(text) = value.string() else { return };
    let Some(text) = text.utf8().map(str::trim).filter(|text| text.len() <= MAX_TEXT) else { return };
    plain(claimed, text, &pointer);
}

/// Compares a text; its place is `pointer`.
pub(super) fn plain(claimed: &mut Claimed<'_>, text: &str, pointer: &Pointer) {
    if let Ok(date) = Date::iso(text.as_bytes()) {
        super::date::seek(claimed, date, pointer.clone());
        return;
    }
    let all = words(text);
    let wanted: Vec<&TextWord> = past_marker(&all, text).iter().collect();
    if wanted.is_empty() || stands_whole(claimed, &wanted, pointer) || claimed.stands_unspaced(text) {
        return;
    }
    let before = claimed.found.faults.len();
    if let Some(answer) = yes_or_no(&all, text, claimed.question) {
        super::truth::judge(claimed, answer, pointer);
    }
    super::exchanged::in_text(claimed, text, pointer);
    let mut read = dates(claimed, text, pointer);
    read.extend(numbers(claimed, text, pointer, &read));
    let cited_text = claimed.evidence.text();
    let cited = words(&cited_text);
    if claimed.found.faults.len() == before {
        denied(claimed, text, &all, &cited_text, &cited, pointer);
    }
    let is_read =
        |word: &TextWord| read.iter().any(|range| range.start < word.range.end && word.range.start < range.end);
    let telling: Vec<&TextWord> = wanted.iter().copied().filter(|word| is_telling(word) && !is_read(word)).collect();
    let missing: Vec<&TextWord> = telling
        .iter()
        .copied()
        .filter(|word| {
            let stands = cited.iter().any(|other| {
                akin(&word.folded, &other.folded)
                    || compound(&word.folded, &other.folded)
                    || are_scanned_alike(&word.folded, &other.folded)
            });
            let within = || word.folded.chars().any(is_unspaced) && find_unspaced(&word.folded, &cited_text).is_some();
            !stands && !within()
        })
        .collect();
    if claimed.found.faults.len() > before {
        return;
    }
    weekday(claimed, text, &missing, &cited, pointer);
    if claimed.found.faults.len() == before {
        names(claimed, &missing, &telling, &cited, pointer);
    }
    if claimed.found.faults.len() == before && read.is_empty() {
        of_another_line(claimed, text, &cited, pointer);
    }
    if claimed.found.faults.len() > before || missing.is_empty() {
        keep_places(claimed, &telling);
        return;
    }
    let named: Vec<&str> = missing.iter().take(MAX_NAMED).filter_map(|word| text.get(word.range.clone())).collect();
    let message = Message::new("The text has words that are not in ").text(place_word(claimed.evidence)).text(": ");
    claimed.note(pointer.clone(), message.text(named.join(", ")).text("."));
}

/// The yes or no with which a text begins, where the question denies nothing itself.
fn yes_or_no(own: &[TextWord], text: &str, question: &str) -> Option<bool> {
    let first = own.first()?;
    let ends = own.len() == 1 || part(text, first.range.end..).starts_with([',', '.', ';', ':']);
    let answer = match first.folded.as_str() {
        "yes" | "ja" | "oui" | "si" => true,
        "no" | "nein" | "non" => false,
        _ => return None,
    };
    let asked = words(question);
    (ends && !(0..asked.len()).any(|at| denies(&asked, at))).then_some(answer)
}

/// Tells whether a word says something; "May" is no auxiliary inside of a sentence.
fn is_telling(word: &TextWord) -> bool {
    !is_empty_word(&word.folded) || (word.capital && !word.initial && word.folded.len() > 2)
}

/// The words behind the mark of a list entry: `(a)`, `1.`.
fn past_marker<'w>(all: &'w [TextWord], text: &str) -> &'w [TextWord] {
    let Some(first) = all.first() else { return all };
    let closes = text
        .get(first.range.end..)
        .is_some_and(|rest| rest.starts_with(')') || (rest.starts_with(". ") && first.has_digit()));
    if closes && first.folded.len() <= 3 && all.len() > 1 { all.get(1..).unwrap_or(all) } else { all }
}

/// Finds all words one after another; a negation right before them is a part that was cut off.
fn stands_whole(claimed: &mut Claimed<'_>, wanted: &[&TextWord], pointer: &Pointer) -> bool {
    let evidence = claimed.evidence;
    let mut cut: Option<(&Passage<'_>, Range<usize>, String)> = None;
    for passage in evidence.passages() {
        let own = words(passage.text);
        let Some(range) = sequence(wanted, &own) else { continue };
        let bytes = own.get(range.start).map_or(0, |word| word.range.start)
            ..own.get(range.end - 1).map_or(0, |word| word.range.end);
        if let Some(at) = range.start.checked_sub(1).filter(|at| denies(&own, *at)) {
            let word = &passage.text[own[at].range.clone()];
            cut = Some((passage, bytes, word.to_owned()));
            continue;
        }
        claimed.stands(passage, bytes);
        return true;
    }
    let Some((passage, bytes, word)) = cut else { return false };
    claimed.stands(passage, bytes);
    let message = Message::new("The cited line says ").quoted(word.as_bytes()).text(" right before these words.");
    claimed.miss(pointer.clone(), message);
    true
}

/// Tells whether one word is the end or the beginning of a compound: `Jahresprämie` and `Prämie`.
fn compound(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.len() >= 5 && (long.ends_with(short) || long.starts_with(short))
}

/// Tells whether two longer words differ only in what a scanner mixes up: `m` and `rn`, `l` and `1`.
fn are_scanned_alike(a: &str, b: &str) -> bool {
    let plain = |word: &str| word.replace("rn", "m").replace("vv", "w").replace('0', "o").replace(['1', 'i'], "l");
    a.len() >= 6 && a.len().abs_diff(b.len()) <= 2 && plain(a) == plain(b)
}

/// Tells whether two words begin and end alike and are of about one length.
fn looks_like(a: &str, b: &str) -> bool {
    const MIN: usize = 6;
    let shared = |pairs: &mut dyn Iterator<Item = (char, char)>| pairs.take_while(|(a, b)| a == b).count();
    let before = shared(&mut a.chars().zip(b.chars()));
    let behind = shared(&mut a.chars().rev().zip(b.chars().rev()));
    let (short, long) = (a.chars().count().min(b.chars().count()), a.chars().count().max(b.chars().count()));
    short >= MIN && long - short <= 2 && before >= 2 && behind >= 2 && (before + behind) * 2 >= long
}

/// Looks for the dates of a text; the bytes that they take.
fn dates(claimed: &mut Claimed<'_>, text: &str, pointer: &Pointer) -> Vec<Range<usize>> {
    let evidence = claimed.evidence;
    let first =
        super::date::day_first(evidence.passages().map(|passage| passage.text).chain(evidence.around.iter().copied()));
    let mut read = Vec::new();
    for own in date::found(text) {
        let wanted: Vec<WrittenDate> = own.meanings.iter().copied().filter(WrittenDate::has_day).collect();
        if wanted.is_empty() {
            continue;
        }
        read.push(own.range.clone());
        let mut place = None;
        for passage in evidence.passages() {
            let there = date::found(passage.text).into_iter().find(|one| match_dates(&wanted, one, first));
            if let Some(one) = there {
                place = Some((passage, one.range));
                break;
            }
        }
        match place {
            Some((passage, range)) => claimed.stands(passage, range),
            None => {
                let words = part(text, own.range.clone());
                let message = Message::new("The date ")
                    .quoted(words.as_bytes())
                    .text(" is not in ")
                    .text(place_word(evidence))
                    .text(".");
                claimed.miss(pointer.clone(), message);
            }
        }
    }
    read
}

fn match_dates(wanted: &[WrittenDate], one: &date::FoundDate, first: Option<bool>) -> bool {
    wanted.iter().any(|own| match own.whole() {
        Some(day) => super::date::agrees(one, day, first),
        // Without a year, day and month must be the same.
        None => one.meanings.iter().any(|other| other.same_day(own)),
    })
}

/// Looks for the numbers of a text; the bytes that they take.
fn numbers(claimed: &mut Claimed<'_>, text: &str, pointer: &Pointer, taken: &[Range<usize>]) -> Vec<Range<usize>> {
    let evidence = claimed.evidence;
    let overlaps = |range: &Range<usize>| taken.iter().any(|other| other.start < range.end && range.start < other.end);
    let convention = evidence.convention;
    let own = figures(text, convention);
    let mut read = Vec::new();
    for figure in own.iter().filter(|figure| !overlaps(&figure.range)) {
        let raw = part(text, figure.range.clone());
        let has_digit = raw.bytes().any(|byte| byte.is_ascii_digit());
        // "one of them" counts nothing.
        let counts = has_digit
            || !figure.is_bare()
            || figure.magnitudes().any(|value| value > stepscope_arithmetic::number::Number::whole(10));
        if !counts {
            miscounted(claimed, figure, text, pointer);
            continue;
        }
        read.push(figure.range.clone());
        match place_of(figure, raw, evidence) {
            Some((passage, range)) => claimed.stands(passage, range),
            None => {
                let said = figure.noun.clone().map_or(figure.range.clone(), |noun| figure.range.start..noun.end);
                let said = text.get(said).unwrap_or(raw);
                let message =
                    Message::default().quoted(said.as_bytes()).text(" is not in ").text(place_word(evidence)).text(".");
                claimed.miss(pointer.clone(), message);
            }
        }
    }
    read
}

/// Compares a small number in words with what the cited lines count of the same: "three stalls" is not "two (2) stalls".
fn miscounted(claimed: &mut Claimed<'_>, figure: &Figure, text: &str, pointer: &Pointer) {
    let noun_of = |figure: &Figure, text: &str| {
        // "reserved parking stalls": the noun may be the third word.
        let behind = text.get(figure.range.end..)?;
        // "two (2) stalls"
        let again = behind.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(_, rest)| rest);
        let start = figure.noun.clone().map(|noun| noun.start);
        let own = words(again.or_else(|| text.get(start?..))?);
        Some(
            own.into_iter()
                .take(3)
                .filter(|word| !is_empty_word(&word.folded))
                .map(|word| word.folded)
                .collect::<Vec<_>>(),
        )
    };
    let evidence = claimed.evidence;
    let Some(nouns) = noun_of(figure, text).filter(|nouns| !nouns.is_empty()) else { return };
    let mut others: Vec<(String, bool)> = Vec::new();
    for passage in evidence.passages() {
        for there in evidence.figures(passage).iter().filter(|there| there.is_bare()) {
            let Some(own) = noun_of(there, passage.text) else { continue };
            if nouns.iter().zip(&own).all(|(a, b)| akin(a, b)) && nouns.len() == own.len() {
                let is_same = there.magnitudes().any(|value| figure.magnitudes().any(|own| own == value));
                others.push((part(passage.text, there.range.clone()).to_owned(), is_same));
            }
        }
    }
    if let Some((other, _)) = others.first().filter(|_| others.iter().all(|(_, is_same)| !is_same)) {
        let said = part(text, figure.range.clone());
        let message = Message::new("The text says ").quoted(said.as_bytes()).text(", the cited lines say ");
        claimed.miss(pointer.clone(), message.quoted(other.as_bytes()).text("."));
    }
}

fn place_of<'e, 'd>(figure: &Figure, raw: &str, evidence: &'e Evidence<'d>) -> Option<(&'e Passage<'d>, Range<usize>)> {
    for passage in evidence.passages() {
        if let Some(there) = evidence.figures(passage).iter().find(|there| says(figure, there, evidence)) {
            return Some((passage, there.range.clone()));
        }
        // A number that names something, or part of a code.
        if figure.role == FigureRole::Label || figure.is_bare() {
            let own = words(raw);
            let wanted: Vec<&TextWord> = own.iter().collect();
            let there = words(passage.text);
            if let Some(range) = sequence(&wanted, &there) {
                let bytes = there.get(range.start)?.range.start..there.get(range.end - 1)?.range.end;
                // The 9 of "9.9" is no 9.
                if !is_inside_number(passage.text, &bytes) {
                    return Some((passage, bytes));
                }
            }
        }
    }
    None
}

/// Tells whether bytes are a part of a longer number: digits stand behind a point or comma beside them.
fn is_inside_number(text: &str, bytes: &Range<usize>) -> bool {
    let is_sign = |c: char| matches!(c, '.' | ',');
    let is_digit = |c: char| c.is_ascii_digit();
    let before = part(text, ..bytes.start).strip_suffix(is_sign).is_some_and(|rest| rest.ends_with(is_digit));
    let behind = part(text, bytes.end..).strip_prefix(is_sign).is_some_and(|rest| rest.starts_with(is_digit));
    before || behind
}

/// Tells whether a figure of the document says what a figure of the text does.
fn says(own: &Figure, there: &Figure, evidence: &Evidence<'_>) -> bool {
    if own.percent != there.percent && (own.percent || !own.is_bare()) {
        return false;
    }
    if let (Some(a), Some(b)) = (own.measure, there.measure) {
        let bases = |figure: &Figure, unit: stepscope_evidence::figures::FigureMeasure| -> Vec<_> {
            figure.magnitudes().filter_map(|value| unit.base(value)).collect()
        };
        let (a_bases, b_bases) = (bases(own, a), bases(there, b));
        return a.dimension == b.dimension && a_bases.iter().any(|base| b_bases.contains(base));
    }
    if own.measure.is_some() && there.is_money() {
        return false;
    }
    if own.is_money() && there.is_money() && !own.currency.iter().any(|code| there.currency.contains(code)) {
        return false;
    }
    if own.is_money() && there.measure.is_some() && !there.is_money() {
        return false;
    }
    let header = evidence.header_scale().map(stepscope_arithmetic::number::Number::whole);
    own.magnitudes().any(|value| {
        there.magnitudes().any(|other| {
            value == other
                || (own.scale.is_some()
                    && there.scale.is_none()
                    && header.and_then(|header| other.times(header)) == Some(value))
        })
    })
}

/// Compares negations and opposites.
fn denied(
    claimed: &mut Claimed<'_>,
    text: &str,
    own: &[TextWord],
    cited_text: &str,
    cited: &[TextWord],
    pointer: &Pointer,
) {
    const LIMITS: [&str; 26] = [
        "exclu",
        "prohib",
        "forbid",
        "forbad",
        "without",
        "only",
        "except",
        "unless",
        "refus",
        "waive",
        "free",
        "limit",
        "lapse",
        "void",
        "ausgeschl",
        "verbot",
        "ohne",
        "sans",
        "sauf",
        "interdi",
        "less",
        "lack",
        "den",
        "unab",
        "never",
        "un",
    ];
    if let Some(found) = stance(text, cited_text).filter(|found| !found.agrees) {
        let word = found.by.map_or("", |range| &cited_text[range]).to_owned();
        let message = match word.as_str() {
            "" => Message::new("The text denies what the cited lines say."),
            word => Message::new("The cited lines say ").quoted(word.as_bytes()).text(", the text does not."),
        };
        claimed.miss(pointer.clone(), message);
        return;
    }
    // The question may ask for what is not the case.
    let negation = (0..own.len()).find(|at| denies(own, *at));
    // "Never closed" says what "always open" does.
    const ALWAYS: [&str; 8] =
        ["always", "all times", "any time", "immer", "jederzeit", "stets", "toujours", "en tout temps"];
    let lower = cited_text.to_lowercase();
    let is_limited = ALWAYS.iter().any(|word| lower.contains(word))
        || (0..cited.len()).any(|at| denies(cited, at))
        || cited
            .iter()
            .any(|word| !is_empty_word(&word.folded) && LIMITS.iter().any(|limit| word.folded.starts_with(limit)));
    if let Some(word) = negation.and_then(|at| own.get(at)).filter(|_| !is_limited) {
        let word = part(text, word.range.clone());
        let message =
            Message::new("The text says ").quoted(word.as_bytes()).text(", but nothing in the cited lines does.");
        claimed.miss(pointer.clone(), message);
        return;
    }
    for word in own {
        let reversed = cited.iter().find(|other| is_reversed(&word.folded, &other.folded));
        let stands = |wanted: &TextWord, list: &[TextWord]| list.iter().any(|other| other.folded == wanted.folded);
        if let Some(other) = reversed.filter(|other| negation.is_none() && !stands(other, own) && !stands(word, cited))
        {
            let message = Message::new("The text says ")
                .quoted(part(text, word.range.clone()).as_bytes())
                .text(", the cited lines say ")
                .quoted(part(cited_text, other.range.clone()).as_bytes());
            claimed.miss(pointer.clone(), message.text("."));
            return;
        }
        if cited.iter().any(|other| akin(&word.folded, &other.folded)) {
            continue;
        }
        if let Some(other) = cited.iter().find(|other| are_opposite(&word.folded, &other.folded)) {
            // A negation turns the opposite round: "not before" is "after".
            if negation.is_some() || (0..cited.len()).any(|at| denies(cited, at)) {
                continue;
            }
            let (said, there) = (part(text, word.range.clone()), part(cited_text, other.range.clone()));
            let message = Message::new("The text says ")
                .quoted(said.as_bytes())
                .text(", the cited lines say ")
                .quoted(there.as_bytes())
                .text(".");
            claimed.miss(pointer.clone(), message);
            return;
        }
    }
}

/// Tells whether one word is the other with a prefix that denies: `stable` and `unstable`.
fn is_reversed(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.len() >= 4
        && ["un", "in", "im", "non", "dis", "ir"].iter().any(|prefix| long.strip_prefix(prefix) == Some(short))
}

/// Days of the week, in English, German, French and Spanish, folded.
const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag \
    sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo";

/// Compares the day of the week: another than the one that the cited lines name.
fn weekday(claimed: &mut Claimed<'_>, text: &str, missing: &[&TextWord], cited: &[TextWord], pointer: &Pointer) {
    let language = |word: &TextWord| {
        let plain = word.folded.trim_end_matches('s');
        WEEKDAYS.split_whitespace().position(|day| day == word.folded || day == plain)
    };
    let Some((word, own)) = missing.iter().find_map(|word| Some((word, language(word)?))) else { return };
    // A day in another language may be the same.
    let group = |at: usize| match at {
        0..=6 => 0,
        7..=14 => 1,
        15..=21 => 2,
        _ => 3,
    };
    let other = cited.iter().find(|other| language(other).is_some_and(|at| group(at) == group(own)));
    if let Some(other) = other {
        let message = Message::new("The text says ").quoted(part(text, word.range.clone()).as_bytes());
        let message = message.text(", the cited lines say ").quoted(other.folded.as_bytes());
        claimed.miss(pointer.clone(), message.text("."));
    }
}

/// Compares the names of a text: words with a capital inside of a sentence.
fn names(
    claimed: &mut Claimed<'_>,
    missing: &[&TextWord],
    telling: &[&TextWord],
    cited: &[TextWord],
    pointer: &Pointer,
) {
    // Every German noun has a capital; only one that looks like another of the cited lines is a name misread.
    if claimed.evidence.language == Some(Language::German) {
        let misread = missing.iter().filter(|word| word.capital && !word.has_digit()).find_map(|word| {
            let is_near = |other: &&TextWord| {
                other.capital
                    && !telling.iter().any(|own| own.folded == other.folded)
                    && looks_like(&word.folded, &other.folded)
            };
            Some((word, cited.iter().find(is_near)?))
        });
        if let Some((word, other)) = misread {
            let message = Message::new("The text names ").quoted(word.folded.as_bytes()).text(", the cited lines ");
            claimed.miss(pointer.clone(), message.quoted(other.folded.as_bytes()).text("."));
        }
        return;
    }
    let is_heading = telling.len() > 1 && telling.iter().all(|word| word.capital || word.has_digit());
    let names_there = telling.iter().any(|word| {
        word.capital && cited.iter().any(|other| other.folded == word.folded && other.capital && !other.initial)
    });
    let named: Vec<&&TextWord> = missing
        .iter()
        .filter(|word| word.capital && word.folded.len() > 1 && (!word.initial || (is_heading && names_there)))
        .collect();
    if is_heading && !names_there {
        elsewhere(claimed, missing, telling, cited, pointer);
        return;
    }
    // Short forms and translations of what stands there are no names.
    let Some(word) = named.iter().find(|word| !is_initials(word, cited)) else { return };
    let message = Message::new("The name ")
        .quoted(word.folded.as_bytes())
        .text(" is not in ")
        .text(place_word(claimed.evidence))
        .text(".");
    claimed.miss(pointer.clone(), message);
}

/// Compares a name of which no word is cited: it is in another line, which shares no word with the cited ones that might
/// stand for it.
fn elsewhere(
    claimed: &mut Claimed<'_>,
    missing: &[&TextWord],
    telling: &[&TextWord],
    cited: &[TextWord],
    pointer: &Pointer,
) {
    if !asks_who(claimed.question) || missing.len() != telling.len() || telling.iter().any(|word| word.has_digit()) {
        return;
    }
    let mut lines = claimed.evidence.around.iter().map(|line| (*line, words(line)));
    let found = lines.find(|(_, own)| sequence(telling, own).is_some() || all_there(telling, own));
    let Some((line, own)) = found else { return };
    let is_name = |word: &TextWord| telling.iter().any(|name| name.folded == word.folded);
    let mut others = own.iter().filter(|word| !is_empty_word(&word.folded) && !is_name(word));
    let stands_for = others.any(|word| cited.iter().any(|other| akin(&word.folded, &other.folded)));
    if !stands_for {
        let message = Message::new("The name is not in ").text(place_word(claimed.evidence));
        claimed.miss(pointer.clone(), message.text(", but in another line: ").quoted(line.trim().as_bytes()).text("."));
    }
}

/// Says so where no word of a text is in the cited lines, in any form, and one of its longer words is in another line: it is of
/// something else.
fn of_another_line(claimed: &mut Claimed<'_>, text: &str, cited: &[TextWord], pointer: &Pointer) {
    const MIN_WORDS: usize = 3;
    const MIN_LETTERS: usize = 5;
    const JOINS: &[&str] =
        stepscope_base::list![if when while because since wenn falls weil wahrend si quand lorsque car];
    let evidence = claimed.evidence;
    let is_same_language = Language::of([text]).is_some_and(|own| evidence.language == Some(own));
    let own = words(text);
    let says = |word: &&TextWord| !is_empty_word(&word.folded) && !JOINS.contains(&word.folded.as_str());
    let missing: Vec<&TextWord> = own.iter().filter(says).collect();
    let is_cited = |word: &&TextWord| {
        cited.iter().any(|other| akin(&word.folded, &other.folded) || compound(&word.folded, &other.folded))
    };
    if !is_same_language || missing.len() < MIN_WORDS || missing.iter().any(is_cited) {
        return;
    }
    let long = |word: &&&TextWord| word.capital && word.folded.len() >= MIN_LETTERS;
    let found = missing.iter().filter(long).find_map(|word| {
        let holds = |line: &&&str| words(line).iter().any(|other| other.folded == word.folded);
        Some((word, evidence.around.iter().find(holds)?))
    });
    if let Some((word, line)) = found {
        let message = Message::new("No word of the text is in ").text(place_word(evidence)).text("; ");
        let message = message.quoted(part(text, word.range.clone()).as_bytes()).text(" is in another line: ");
        claimed.miss(pointer.clone(), message.quoted(line.trim().as_bytes()).text("."));
    }
}

fn all_there(telling: &[&TextWord], own: &[TextWord]) -> bool {
    telling.len() > 1 && telling.iter().all(|word| own.iter().any(|other| other.capital && other.folded == word.folded))
}

/// Tells whether a word is made of the first letters of words that stand one after another.
fn is_initials(word: &TextWord, cited: &[TextWord]) -> bool {
    let letters: Vec<char> = word.folded.chars().collect();
    letters.len() >= 2
        && cited
            .windows(letters.len())
            .any(|part| part.iter().zip(&letters).all(|(word, letter)| word.folded.starts_with(*letter)))
}

/// Keeps the places of the words of a text that stand there in another order.
fn keep_places(claimed: &mut Claimed<'_>, telling: &[&TextWord]) {
    const MAX_PLACES: usize = 12;
    let evidence = claimed.evidence;
    let passages: Vec<&Passage<'_>> = evidence.passages().take(1).collect();
    for passage in passages {
        let own = words(passage.text);
        let there =
            own.iter().filter(|word| telling.iter().any(|wanted| akin(&wanted.folded, &word.folded))).take(MAX_PLACES);
        for word in there {
            claimed.stands(passage, word.range.clone());
        }
    }
}
