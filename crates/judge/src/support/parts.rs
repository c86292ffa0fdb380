//! Values of several parts: addresses, names, codes and the types that people bring.

use super::claim::{Claimed, place_word};
use stepscope_arithmetic::number::Written;
use stepscope_base::json::{Kind, Part, Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::date::Date;
use stepscope_evidence::figures::FigureRole;
use stepscope_evidence::wording::{TextWord, part, sequence, words};

/// Number of parts of one value that are looked for.
const MAX_PARTS: usize = 200;
/// Parts are looked for so deep.
const MAX_DEPTH: usize = 6;

/// Words that join two persons, folded.
const AND: [&str; 6] = ["and", "und", "et", "y", "e", "or"];

/// Names and codes of countries that stand for each other, folded.
const COUNTRIES: [&str; 24] = [
    "uk|united kingdom|great britain|gb|england|gbr",
    "us|usa|united states|united states of america|u s a|u s",
    "de|germany|deutschland|allemagne|deu",
    "fr|france|frankreich|fra",
    "at|austria|osterreich|autriche|aut",
    "ch|switzerland|schweiz|suisse|che",
    "it|italy|italien|italie|italia|ita",
    "es|spain|spanien|espagne|espana|esp",
    "nl|netherlands|niederlande|pays bas|nld|the netherlands",
    "be|belgium|belgien|belgique|bel",
    "ie|ireland|irland|irlande|irl",
    "lu|luxembourg|luxemburg|lux",
    "pl|poland|polen|pologne|pol",
    "cz|czech republic|czechia|tschechien|cze",
    "dk|denmark|danemark|dnk",
    "se|sweden|schweden|suede|swe",
    "no|norway|norwegen|norvege|nor",
    "fi|finland|finnland|finlande|fin",
    "pt|portugal|prt",
    "gr|greece|griechenland|grece|grc",
    "ca|canada|kanada|can",
    "au|australia|australien|aus",
    "jp|japan|japon|jpn",
    "cn|china|chine|chn",
];

/// Codes and names of the states of the United States, folded.
const STATES: &str = "al=alabama,ak=alaska,az=arizona,ar=arkansas,ca=california,co=colorado,ct=connecticut,de=delaware,fl=florida,\
    ga=georgia,hi=hawaii,id=idaho,il=illinois,in=indiana,ia=iowa,ks=kansas,ky=kentucky,la=louisiana,me=maine,md=maryland,\
    ma=massachusetts,mi=michigan,mn=minnesota,ms=mississippi,mo=missouri,mt=montana,ne=nebraska,nv=nevada,nh=new hampshire,\
    nj=new jersey,nm=new mexico,ny=new york,nc=north carolina,nd=north dakota,oh=ohio,ok=oklahoma,or=oregon,pa=pennsylvania,\
    ri=rhode island,sc=south carolina,sd=south dakota,tn=tennessee,tx=texas,ut=utah,vt=vermont,va=virginia,wa=washington,\
    wv=west virginia,wi=wisconsin,wy=wyoming,dc=district of columbia";

/// Compares each part of a value with what its item cites.
pub(super) fn compare(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer) {
    let mut left = MAX_PARTS;
    walk(claimed, value, pointer.clone(), 0, &mut left);
    if claimed.found.faults.is_empty() {
        one_name(claimed, value, pointer);
    }
}

/// Compares whose names the first and the last name are: each may stand there, and of two persons.
fn one_name(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer) {
    let text = |key: &str| value.get(key).and_then(Value::string).and_then(|text| text.utf8().map(str::to_owned));
    let (Some(first), Some(last)) = (text("first_name"), text("last_name")) else { return };
    let (first, last) = (words(&first), words(&last));
    let (Some(given), Some(family)) = (first.last(), last.first()) else { return };
    let evidence = claimed.evidence;
    let mut is_parted = false;
    for passage in evidence.passages() {
        let own = words(passage.text);
        let all = |wanted: &TextWord| {
            own.iter().filter(|word| word.folded == wanted.folded).map(|word| word.range.clone()).collect::<Vec<_>>()
        };
        for given in all(given) {
            for family in all(family) {
                // "Auerswald, Cornelia"
                let is_turned = family.end <= given.start;
                let between = if is_turned { family.end..given.start } else { given.end..family.start };
                let between = part(passage.text, between);
                // Columns may stand between two lines.
                if between.contains('\n') {
                    return;
                }
                let is_two = joins(&words(between))
                    || between.contains([';', '|', '(', ')', ':', '/'])
                    || between.contains("  ");
                let commas = between.matches(',').count();
                if !is_two && (commas == 0 || (is_turned && commas == 1 && between.trim() == ",")) {
                    return;
                }
                is_parted = true;
            }
        }
    }
    if is_parted {
        let message = Message::new("The names ").quoted(given.folded.as_bytes()).text(" and ");
        let message = message.quoted(family.folded.as_bytes()).text(" are of two persons in ");
        claimed.miss(pointer, message.text(place_word(evidence)).text("."));
    }
}

/// Tells whether words between a first and a last name join two persons; "Alexander and Mary Smith" have one last name.
fn joins(between: &[TextWord]) -> bool {
    let and = between.iter().position(|word| !word.capital && AND.contains(&word.folded.as_str()));
    and.and_then(|and| between.get(..and)).is_some_and(|before| before.iter().any(|word| word.folded.len() > 1))
}

fn walk(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer, depth: usize, left: &mut usize) {
    if depth > MAX_DEPTH || *left == 0 {
        return;
    }
    match value.kind() {
        Kind::Object => {
            for member in value.entries() {
                walk(claimed, member.value, pointer.then(Part::Key(member.name().into_owned())), depth + 1, left);
            }
        }
        Kind::Array => {
            for (n, one) in value.items().enumerate() {
                walk(claimed, one, pointer.then(n), depth + 1, left);
            }
        }
        Kind::String => {
            *left -= 1;
            let Some(text) = value.string() else { return };
            if let Some(text) = text.utf8().map(str::trim).filter(|text| !text.is_empty()) {
                string(claimed, text, pointer);
            }
        }
        Kind::Int | Kind::Float => {
            *left -= 1;
            number(claimed, value, pointer);
        }
        _ => {}
    }
}

fn number(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer) {
    let Some(written) = Written::of(value) else { return };
    let evidence = claimed.evidence;
    for passage in evidence.passages() {
        for figure in evidence.figures(passage) {
            let own = |one: stepscope_arithmetic::number::Number| one.magnitude() == written.value.magnitude();
            let share = figure.percent
                && figure
                    .magnitudes()
                    .any(|one| one.over(stepscope_arithmetic::number::Number::whole(100)).is_some_and(own));
            if figure.magnitudes().any(own)
                || share
                || (figure.role == FigureRole::Label && figure.readings.iter().any(|one| own(*one)))
            {
                claimed.stands(passage, figure.range);
                return;
            }
        }
        // Part of a code or a date.
        let digits = written.value.to_string();
        if let Some(word) = words(passage.text)
            .iter()
            .find(|word| word.folded == digits || word.folded.trim_start_matches('0') == digits)
        {
            claimed.stands(passage, word.range.clone());
            return;
        }
    }
    let message =
        Message::new("The value ").text(written.value.shown()).text(" is not in ").text(place_word(evidence)).text(".");
    claimed.miss(pointer, message);
}

fn string(claimed: &mut Claimed<'_>, text: &str, pointer: Pointer) {
    if let Ok(date) = Date::iso(text.as_bytes()) {
        super::date::seek(claimed, date, pointer);
        return;
    }
    let wanted = words(text);
    if wanted.is_empty() {
        return;
    }
    let evidence = claimed.evidence;
    let all: Vec<&TextWord> = wanted.iter().collect();
    for passage in evidence.passages() {
        if let Some((first, last)) = run(&all, passage.text) {
            claimed.stands(passage, first..last);
            return;
        }
    }
    if claimed.stands_unspaced(text) {
        return;
    }
    // The words may stand apart; each of them must stand.
    let cited: Vec<TextWord> = evidence.passages().flat_map(|passage| words(passage.text)).collect();
    let missing: Vec<&TextWord> = wanted.iter().filter(|word| !stands(word, text, &cited)).collect();
    let is_country = pointer
        .0
        .last()
        .is_some_and(|part| matches!(part, Part::Key(key) if key.utf8().is_some_and(|key| key.contains("country"))));
    let names = || wanted.iter().map(|word| word.folded.as_str()).collect::<Vec<_>>().join(" ");
    if missing.is_empty() {
        return;
    }
    let message = Message::default().quoted(text.as_bytes()).text(" is not in ").text(place_word(evidence)).text(".");
    let cited_text = cited.iter().map(|word| word.folded.as_str()).collect::<Vec<_>>().join(" ");
    let stands_alone = |name: &str| format!(" {cited_text} ").contains(&format!(" {name} "));
    let is_state = pointer
        .0
        .last()
        .is_some_and(|part| matches!(part, Part::Key(key) if key.utf8().is_some_and(|key| key.contains("state"))));
    if is_state {
        let names = names();
        let own = STATES
            .split(',')
            .filter_map(|row| row.split_once('='))
            .find(|(code, name)| names == *code || names == *name);
        if own.is_some_and(|(code, name)| stands_alone(code) || stands_alone(name)) {
            return;
        }
    }
    if is_country {
        let names = names();
        let own = COUNTRIES.iter().find(|row| row.split('|').any(|name| name == names));
        if own.is_some_and(|row| row.split('|').any(stands_alone)) {
            return;
        }
        let other = COUNTRIES.iter().any(|row| row.split('|').filter(|name| name.len() > 2).any(stands_alone));
        // A country that no line names follows from the rest.
        return if other { claimed.miss(pointer, message) } else { claimed.note(pointer, message) };
    }
    // A word of a list that a schema gives, as `fixed_rate`, is no part of the document.
    let is_label =
        text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') && (text.contains('_') || wanted.len() == 1);
    if is_label { claimed.note(pointer, message) } else { claimed.miss(pointer, message) }
}

/// Finds words one after another in a text; blanks and signs inside of codes do not count.
fn run(wanted: &[&TextWord], text: &str) -> Option<(usize, usize)> {
    let own = words(text);
    if let Some(range) = sequence(wanted, &own) {
        let part = own.get(range)?;
        return Some((part.first()?.range.start, part.last()?.range.end));
    }
    // A code may be grouped otherwise: "GB19HERN4071".
    let joined: String = wanted.iter().map(|word| word.folded.as_str()).collect();
    if joined.len() < 6 || !joined.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    (0..own.len()).find_map(|at| {
        let mut rest = joined.as_str();
        for word in own.get(at..)? {
            rest = rest.strip_prefix(word.folded.as_str())?;
            if rest.is_empty() {
                return Some((own.get(at)?.range.start, word.range.end));
            }
        }
        None
    })
}

/// Tells whether a word stands among others: as it is, cut short with a point, or as an initial.
fn stands(word: &TextWord, text: &str, cited: &[TextWord]) -> bool {
    const SHORT: &[(&str, &str)] = &[
        ("st", "street"),
        ("rd", "road"),
        ("ave", "avenue"),
        ("av", "avenue"),
        ("str", "strasse"),
        ("sq", "square"),
        ("dr", "drive"),
        ("ln", "lane"),
        ("ct", "court"),
        ("pl", "place"),
        ("blvd", "boulevard"),
        ("hwy", "highway"),
        ("pkwy", "parkway"),
        ("apt", "apartment"),
        ("ste", "suite"),
        ("fl", "floor"),
        ("n", "north"),
        ("s", "south"),
        ("e", "east"),
        ("w", "west"),
    ];
    let is_short = text.get(word.range.end..).is_some_and(|rest| rest.starts_with('.')) || word.folded.len() == 1;
    cited.iter().any(|other| {
        other.folded == word.folded
            || (is_short && !word.has_digit() && other.folded.starts_with(&word.folded))
            || SHORT.iter().any(|(short, long)| {
                (word.folded == *short && other.folded == *long) || (word.folded == *long && other.folded == *short)
            })
    })
}
