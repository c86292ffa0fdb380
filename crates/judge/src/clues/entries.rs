//! Lists of a document under a heading, as bullets or behind a colon, against the entries that an answer gives.

use std::ops::Range;

use stepscope_base::python::Message;
use stepscope_evidence::document::Document;
use stepscope_evidence::wording::{TextWord, akin, is_empty_word, part, sequence, words};

/// Maximum number of lines on each side of the cited ones that are searched for lists.
const AROUND: usize = 40;
/// A longer list is a table.
const MAX_ENTRIES: usize = 60;
/// A longer heading is a sentence of its own.
const MAX_HEADING: usize = 160;
/// A longer label is a sentence with a colon.
const MAX_LABEL: usize = 60;

/// A list of the document.
struct HeadedList<'d> {
    heading: &'d str,
    entries: Vec<ListedEntry>,
}

/// An entry of a list, as it is written and as words.
struct ListedEntry {
    shown: String,
    words: Vec<TextWord>,
}

impl ListedEntry {
    fn of(text: &str) -> Self {
        let shown = text.trim().trim_end_matches(['.', ';', ',']).trim().to_owned();
        let shown = shown.replace("<li>", "").replace("</li>", "");
        Self { words: words(&shown), shown }
    }

    /// Tells whether a text gives it: all of its words, or most of them one after another.
    fn is_given_by(&self, text: &[TextWord]) -> bool {
        let holds = |long: &[TextWord], short: &[TextWord]| {
            let needle: Vec<&TextWord> = short.iter().collect();
            !needle.is_empty() && sequence(&needle, long).is_some()
        };
        holds(text, &self.words) || (holds(&self.words, text) && text.len() * 2 >= self.words.len())
    }

    /// Tells whether a text is the entry with one word exchanged.
    fn is_changed_in(&self, text: &[TextWord]) -> bool {
        const MIN: usize = 3;
        let pairs = || self.words.iter().zip(text);
        self.words.len() == text.len()
            && text.len() >= MIN
            && pairs().filter(|(a, b)| a.folded != b.folded).count() == 1
            && pairs().all(|(a, b)| a.folded == b.folded || !akin(&a.folded, &b.folded))
    }

    /// Tells whether it is one of several: an entry in small letters, or with a remark in brackets.
    fn is_of_several(&self) -> bool {
        self.shown.starts_with(char::is_lowercase) || (self.shown.ends_with(')') && self.shown.contains(" ("))
    }
}

/// Says what an answer leaves out of a list, or takes from another one.
pub(super) fn differs(
    document: &Document,
    texts: &[String],
    question: &str,
    cited: &[Range<usize>],
) -> Option<Message> {
    if super::chooses(question) || question.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let asked: Vec<TextWord> = words(question).into_iter().filter(|word| !is_empty_word(&word.folded)).collect();
    let given: Vec<Vec<TextWord>> = texts.iter().map(|text| words(text)).collect();
    let lists = lists(document, cited);
    let of_sentence = cited.iter().find_map(|lines| {
        let text = std::str::from_utf8(document.text(lines.clone())).ok()?.replace('\n', " ");
        missing_of_sentence(&text, &given, &asked)
    });
    if of_sentence.is_some() {
        return of_sentence;
    }
    lists.iter().find_map(|list| {
        missing(list, &given, &asked, question).or_else(|| foreign(list, &lists, texts, &given, &asked))
    })
}

/// Says which entry is missing: every item is one of the list, or one of its entries with a word exchanged.
fn missing(list: &HeadedList<'_>, given: &[Vec<TextWord>], asked: &[TextWord], question: &str) -> Option<Message> {
    if !list.is_asked(asked) || list.is_narrowed(asked) {
        return None;
    }
    let (own, others): (Vec<&Vec<TextWord>>, Vec<&Vec<TextWord>>) =
        given.iter().partition(|text| list.entries.iter().any(|entry| entry.is_given_by(text)));
    let (there, left): (Vec<&ListedEntry>, Vec<&ListedEntry>) =
        list.entries.iter().partition(|entry| own.iter().any(|text| entry.is_given_by(text)));
    // Several that are left out may be of another list.
    let first = left.first().filter(|_| !own.is_empty() && (left.len() == 1 || left.len() * 2 <= there.len()))?;
    // Of one name behind a label the rest may say more of it: "Obras Tamega, Lda."
    let is_enough = match own.len() {
        1 => there.len() == 1 && asks_for_several(question) && list.entries.iter().all(ListedEntry::is_of_several),
        _ => true,
    };
    let changed = |text: &&Vec<TextWord>| left.iter().any(|entry| entry.is_changed_in(text));
    let is_whole = others.is_empty() || (own.len() >= 2 && others.iter().all(changed));
    (is_enough && is_whole).then(|| {
        let message = Message::new("The answer leaves out the entry ").quoted(first.shown.as_bytes());
        message.text(", which is in the same list as those that it gives.")
    })
}

/// Says which item is of another list: this one is given whole, and of the other nothing else.
fn foreign(
    list: &HeadedList<'_>,
    lists: &[HeadedList<'_>],
    texts: &[String],
    given: &[Vec<TextWord>],
    asked: &[TextWord],
) -> Option<Message> {
    let is_in = |list: &HeadedList<'_>, text: &[TextWord]| list.entries.iter().any(|entry| entry.is_given_by(text));
    let is_whole = list.entries.iter().all(|entry| given.iter().any(|text| entry.is_given_by(text)));
    let mut others = (0..given.len()).filter(|n| given.get(*n).is_some_and(|text| !is_in(list, text)));
    let (Some(n), None) = (others.next(), others.next()) else { return None };
    if !is_whole || !list.is_asked(asked) || list.entries.len() < 2 {
        return None;
    }
    let text = given.get(n)?;
    let other = lists.iter().find(|other| {
        let left = other.entries.iter().filter(|entry| !given.iter().any(|text| entry.is_given_by(text))).count();
        is_in(other, text) && left > 0
    })?;
    let message = Message::default().quoted(texts.get(n)?.as_bytes()).text(" is in another list than the rest: ");
    Some(message.quoted(other.heading.trim().as_bytes()).text("."))
}

fn asks_for_several(question: &str) -> bool {
    const SEVERAL: &[&str] = stepscope_base::list![are were who sind waren wer sont qui];
    words(question).iter().any(|word| SEVERAL.contains(&word.folded.as_str()))
}

impl HeadedList<'_> {
    /// Tells whether the question has a word of the heading.
    fn is_asked(&self, asked: &[TextWord]) -> bool {
        let own = words(self.heading);
        own.iter()
            .any(|word| !is_empty_word(&word.folded) && asked.iter().any(|other| akin(&other.folded, &word.folded)))
    }

    /// Tells whether the question has a word of some entries and not of all: it asks for these.
    fn is_narrowed(&self, asked: &[TextWord]) -> bool {
        asked.iter().any(|word| {
            let holds = |entry: &&ListedEntry| entry.words.iter().any(|other| akin(&other.folded, &word.folded));
            (1..self.entries.len()).contains(&self.entries.iter().filter(holds).count())
        })
    }
}

/// The list of a sentence of the cited lines, "the kit has a drill, two bits and a case": its first entry is the end of the
/// first part, and no other part is a clause.
fn enumerated(text: &str) -> Vec<(&str, Vec<ListedEntry>)> {
    const VERBS: &[&str] = stepscope_base::list![
        is are was were be has have had do does did may must can shall will would should which who that if when ist sind
        wird werden hat haben kann muss darf est sont ont peut doit
    ];
    const MAX_WORDS: usize = 6;
    const JOINS: [&str; 4] = [" and ", " und ", " et ", " y "];
    let mut found = Vec::new();
    for sentence in text.split(['.', ';', ':']) {
        let parts = split(sentence);
        let (Some(first), true) = (parts.first(), parts.len() >= 3) else { continue };
        let joined = JOINS.iter().any(|and| sentence.contains(and));
        let rest: Vec<ListedEntry> = parts.iter().skip(1).map(|text| ListedEntry::of(text)).collect();
        let is_entry = |entry: &ListedEntry| {
            (1..=MAX_WORDS).contains(&entry.words.len())
                && !entry.words.iter().any(|word| VERBS.contains(&word.folded.as_str()))
        };
        let Some(heading) = sentence.get(..first.len()) else { continue };
        if joined && rest.iter().all(is_entry) {
            found.push((heading, rest));
        }
    }
    found
}

/// Says which entry of a sentence is missing: the first one is given, and all others but this.
fn missing_of_sentence(text: &str, given: &[Vec<TextWord>], asked: &[TextWord]) -> Option<Message> {
    enumerated(text).into_iter().find_map(|(heading, entries)| {
        let list = HeadedList { heading, entries };
        let first = words(heading);
        let ends_with = |text: &&Vec<TextWord>| {
            let tail = &first[first.len().saturating_sub(text.len())..];
            !text.is_empty()
                && first.len() > text.len()
                && tail.iter().zip(text.iter()).all(|(a, b)| a.folded == b.folded)
        };
        let (of_first, others): (Vec<&Vec<TextWord>>, Vec<&Vec<TextWord>>) = given.iter().partition(ends_with);
        let is_there = |entry: &&ListedEntry| others.iter().any(|text| entry.is_given_by(text));
        let (there, left): (Vec<&ListedEntry>, Vec<&ListedEntry>) = list.entries.iter().partition(is_there);
        let ([_], [entry]) = (of_first.as_slice(), left.as_slice()) else { return None };
        let is_of_list = there.len() == others.len() && !there.is_empty();
        (is_of_list && list.is_asked(asked) && !list.is_narrowed(asked)).then(|| {
            let message = Message::new("The answer leaves out the entry ").quoted(entry.shown.as_bytes());
            message.text(", which is in the same list as those that it gives.")
        })
    })
}

/// The lists around the cited lines.
fn lists<'d>(document: &'d Document, cited: &[Range<usize>]) -> Vec<HeadedList<'d>> {
    let (Some(first), Some(last)) =
        (cited.iter().map(|lines| lines.start).min(), cited.iter().map(|lines| lines.end).max())
    else {
        return Vec::new();
    };
    let near = first.saturating_sub(AROUND)..last.saturating_add(AROUND).min(document.len());
    let lines: Vec<&str> = near.map(|n| std::str::from_utf8(&document[n]).unwrap_or_default()).collect();
    let mut found = bulleted(&lines);
    found.extend(lines.iter().flat_map(|line| behind_colons(line)));
    found.retain(|list| (2..=MAX_ENTRIES).contains(&list.entries.len()));
    found
}

/// Kind of the mark at the beginning of a line, and the bytes behind it.
fn mark(line: &str) -> Option<(char, usize)> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    if text.starts_with("<li>") {
        return Some(('<', indent));
    }
    let first = text.chars().next()?;
    if matches!(first, '-' | '•' | '*' | '–' | '·' | '▪') {
        let len = first.len_utf8();
        return text.get(len..)?.starts_with(' ').then_some((first, indent + len));
    }
    // "1. Attach …"
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits) && part(text, digits..).starts_with(". ") {
        return Some(('.', indent + digits + 1));
    }
    // "(a)", "b)", "iv)"
    let inner = text.strip_prefix('(').unwrap_or(text);
    let end = inner.find(')').filter(|end| (1..=4).contains(end))?;
    let name = inner.get(..end)?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_digit()) || name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_name.then(|| (')', indent + (text.len() - inner.len()) + end + 1))
}

fn bulleted<'d>(lines: &[&'d str]) -> Vec<HeadedList<'d>> {
    let mut found: Vec<HeadedList<'d>> = Vec::new();
    let mut heading = "";
    let mut open: Option<(char, Vec<String>)> = None;
    let mut close = |open: &mut Option<(char, Vec<String>)>, heading: &'d str| {
        if let Some((_, entries)) = open.take() {
            let entries = entries.iter().map(|text| ListedEntry::of(text)).collect();
            found.push(HeadedList { heading, entries });
        }
    };
    for line in lines {
        match (mark(line), &mut open) {
            (Some((kind, at)), Some((own, entries))) if kind == *own => entries.push(part(line, at..).to_owned()),
            (Some((kind, at)), _) => {
                close(&mut open, heading);
                open = Some((kind, vec![part(line, at..).to_owned()]));
            }
            // An entry goes on in a line that is indented.
            (None, Some((_, entries))) if line.starts_with(' ') && !line.trim().is_empty() => {
                if let Some(last) = entries.last_mut() {
                    last.push(' ');
                    last.push_str(line.trim());
                }
            }
            (None, _) => {
                close(&mut open, heading);
                // Tags of the list itself are no heading.
                if !words(line).is_empty() && line.len() <= MAX_HEADING {
                    heading = line;
                }
            }
        }
    }
    close(&mut open, heading);
    found
}

/// The lists of a line: "Covered: fire, theft and frost", one in each column.
fn behind_colons(line: &str) -> Vec<HeadedList<'_>> {
    let columns = line.trim().split("   ").map(str::trim).filter(|column| !column.is_empty());
    let list = |column: &'_ str| -> Option<(usize, Vec<ListedEntry>)> {
        let (label, rest) = column.split_once(": ").filter(|(label, _)| label.len() <= MAX_LABEL)?;
        // A sentence behind the list, or a list that goes on elsewhere, is not read.
        let body = rest.trim_end().trim_end_matches('.');
        if body.contains(". ") || body.contains(':') || body.ends_with(',') {
            return None;
        }
        Some((label.len(), split(body).iter().map(|text| ListedEntry::of(text)).collect()))
    };
    columns
        .filter_map(|column| {
            let (label, entries) = list(column)?;
            Some(HeadedList { heading: column.get(..label)?, entries })
        })
        .collect()
}

/// The entries of `a, b (c, d) and e`.
fn split(body: &str) -> Vec<String> {
    const AND: [&str; 6] = [" and ", " und ", " et ", " y ", " & ", " sowie "];
    let mut found: Vec<String> = vec![String::new()];
    let mut depth = 0_u32;
    for c in body.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if matches!(c, ',' | ';') && depth == 0 {
            found.push(String::new());
        } else if let Some(last) = found.last_mut() {
            last.push(c);
        }
    }
    if let Some(last) = found.pop() {
        match AND.iter().find_map(|and| last.split_once(and)) {
            Some((first, second)) => found.extend([first.to_owned(), second.to_owned()]),
            None => found.push(last),
        }
    }
    found.retain(|text| !text.trim().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use crate::clues::tests::told;

    #[test]
    fn an_entry_of_a_list_under_its_heading_is_not_left_out() {
        let lines = [
            "We cover:",
            " - fire",
            " - theft",
            "We do not cover:",
            " - damage by moths",
            " - damage by rust",
            " - damage by damp",
        ];
        let question = "Which damage is not covered?";
        assert!(told(question, &lines, &["damage by moths", "damage by rust"]));
        assert!(!told(question, &lines, &["damage by moths", "damage by rust", "damage by damp"]));
        assert!(
            told(question, &lines, &["damage by moths", "damage by rust", "damage by damp", "theft"]),
            "of another list"
        );
        assert!(
            told(question, &lines[3..], &["damage by moths", "damage by rust", "damage by fire"]),
            "in place of another"
        );
        assert!(!told("Which damage by rust is not covered?", &lines, &["damage by rust"]));
    }

    #[test]
    fn an_entry_of_a_sentence_is_not_left_out() {
        let lines = ["The kit contains a drill, two bits, a lamp and a case."];
        let question = "What does the kit contain?";
        assert!(told(question, &lines, &["a drill", "a lamp", "a case"]));
        assert!(!told(question, &lines, &["a drill", "two bits", "a lamp", "a case"]));
        assert!(!told("Which lamp does the kit contain?", &lines, &["a lamp"]));
        let clauses = ["The rent is due in May, the deposit is due in June, and the fee in July."];
        assert!(!told("What is due?", &clauses, &["The rent", "the fee in July"]));
    }

    #[test]
    fn an_entry_behind_a_colon_is_not_left_out() {
        let lines = ["Common (1 in 10): headache, nausea", "Rare (1 in 1,000): hair loss, fever and chills"];
        let question = "Which side effects are rare?";
        assert!(told(question, &lines, &["hair loss", "fever"]));
        assert!(!told(question, &lines, &["hair loss", "fever", "chills"]));
        assert!(!told("Which common side effect is it?", &lines, &["headache"]));
        let elected = ["Elected: Ann Brook (chair), Leo Marsh (deputy), Ida Penn (treasurer)."];
        assert!(told("Who was elected?", &elected, &["Ann Brook (chair)", "Ida Penn (treasurer)"]));
        assert!(!told("Who was elected treasurer?", &elected, &["Ida Penn"]));
        assert!(!told("Who are the builders?", &["Builders: Obras Tamega, Lda."], &["Obras Tamega"]));
    }
}
