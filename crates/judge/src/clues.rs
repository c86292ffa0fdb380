//! Signs in the cited lines that a list is not whole: a number of entries that is announced, an entry between those that
//! are given, a name behind another, a passage that breaks off or sends the reader elsewhere.

use std::ops::Range;

use stepscope_base::python::Message;
use stepscope_evidence::citations::{ResolvedCitation, meant_lines};
use stepscope_evidence::document::Document;
use stepscope_evidence::figures::{Convention, FigureRole, figures};
use stepscope_evidence::typed::AnswerItem;
use stepscope_evidence::wording::{TextWord, akin, is_empty_word, part, sequence, words};

mod entries;

/// Maximum number of lines before the first cited one that may announce a list.
const BEFORE: usize = 2;
/// A longer list is not compared.
const MAX_ITEMS: usize = 200;
/// Lists of more entries are not announced in words.
const MAX_ANNOUNCED: f64 = 50.0;
/// Longer passages are not searched.
const MAX_TEXT: usize = 8_000;

/// The passage that an answer cites, with a little before it.
struct ListPassage<'d> {
    document: &'d Document,
    lines: Range<usize>,
    text: &'d str,
    /// Byte of the document at which the text begins.
    start: usize,
}

/// Looks for signs that a list of texts is not whole.
pub(crate) fn clues(
    items: &[AnswerItem<'_>],
    question: &str,
    (document, resolved): (&Document, &[ResolvedCitation]),
) -> Vec<Message> {
    let texts: Option<Vec<String>> = items.iter().map(text_of).collect();
    let Some(texts) = texts.filter(|texts| !texts.is_empty() && texts.len() <= MAX_ITEMS) else { return Vec::new() };
    let cited: Vec<Range<usize>> = items
        .iter()
        .flat_map(|item| &item.citations)
        .filter_map(|citation| meant_lines(citation, resolved, document))
        .collect();
    let Some(passage) = ListPassage::around(document, &cited) else { return Vec::new() };
    let mut found = Vec::new();
    let between = || entry_between(&passage, &texts);
    let joined = || name_behind(&passage, &texts, &cited);
    let listed = || entry_behind(&passage, &texts, question, &cited);
    let headed = || entries::differs(document, &texts, question, &cited);
    let first = announced(&passage, &texts, question).or_else(between).or_else(joined).or_else(listed);
    found.extend(first.or_else(headed));
    if texts.len() > 1 {
        found.extend(loose_end(&passage));
    }
    found
}

/// The text of an item; lists are of texts.
fn text_of(item: &AnswerItem<'_>) -> Option<String> {
    let (_, value) = item.value.as_ref()?;
    let text = value.string()?;
    text.utf8().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

impl<'d> ListPassage<'d> {
    fn around(document: &'d Document, cited: &[Range<usize>]) -> Option<Self> {
        let first = cited.iter().map(|lines| lines.start).min()?;
        let last = cited.iter().map(|lines| lines.end).max()?;
        let lines = first.saturating_sub(BEFORE)..last.min(document.len());
        let text = std::str::from_utf8(document.text(lines.clone())).ok().filter(|text| text.len() <= MAX_TEXT)?;
        Some(Self { document, start: document.offset(lines.start)?, lines, text })
    }
}

/// "The following four medicines: …" before fewer items.
fn announced(passage: &ListPassage<'_>, texts: &[String], question: &str) -> Option<Message> {
    const FOLLOWING: &str = "following folgende folgenden suivants suivantes siguientes seguenti volgende";
    let all = words(passage.text);
    let asked = words(question);
    if chooses(question) {
        return None;
    }
    for figure in figures(passage.text, Convention::Unknown) {
        let count = figure.magnitudes().next().map_or(0.0, |count| count.float());
        let is_count = figure.is_bare() && figure.role == FigureRole::Value && (2.0..=MAX_ANNOUNCED).contains(&count);
        if !is_count || count <= texts.len() as f64 {
            continue;
        }
        let before = all.iter().rfind(|word| word.range.end <= figure.range.start);
        let rest = passage.text.get(figure.range.end..)?;
        let is_near = |at: &usize| rest.get(..*at).is_some_and(|part| !part.contains(['.', ';']));
        let Some(colon) = rest.find(':').filter(is_near) else { continue };
        let follows = before.is_some_and(|word| FOLLOWING.split(' ').any(|known| known == word.folded));
        let list = figure.range.end + colon;
        // Every item stands behind the announcement, and the list is about what is asked. One item may be of a sentence
        // behind the list, or the list itself.
        let behind = passage.text.get(list..)?;
        let sentence = behind.find(". ").filter(|end| texts.len() == 1 && !part(behind, ..*end).contains('\n'));
        let behind = words(part(behind, ..sentence.unwrap_or(behind.len())));
        let is_list = |text: &String| text.contains("(2)") || text.contains("(b)") || text.contains(';');
        if texts.len() == 1 && texts.iter().any(is_list) {
            continue;
        }
        let stands = |text: &String| {
            let own = words(text);
            let wanted: Vec<&TextWord> = own.iter().collect();
            sequence(&wanted, &behind).is_some()
        };
        let about = words(passage.text.get(..list)?);
        let is_asked = asked
            .iter()
            .filter(|word| !is_empty_word(&word.folded))
            .any(|word| about.iter().any(|other| akin(&word.folded, &other.folded)));
        if follows && is_asked && texts.iter().all(stands) {
            let said = passage.text.get(before?.range.start..figure.range.end)?;
            let message =
                Message::new("The cited lines announce ").quoted(said.trim().as_bytes()).text(", the answer has ");
            return Some(message.number(texts.len()).text("."));
        }
    }
    None
}

/// Tells whether a question asks for some entries of a list only.
fn chooses(question: &str) -> bool {
    const CHOOSE: [&str; 7] = ["first", "last", "two", "three", "example", "which of", "one of"];
    let lower = question.to_lowercase();
    CHOOSE.iter().any(|word| lower.contains(word))
}

/// The last entry of `a, b and c` behind two or more that are given one after another.
fn entry_behind(
    passage: &ListPassage<'_>,
    texts: &[String],
    question: &str,
    cited: &[Range<usize>],
) -> Option<Message> {
    const AND: [&str; 8] = ["and ", "und ", "et ", "y ", "e ", "& ", "as well as ", "sowie "];
    /// A longer entry is a clause of its own.
    const MAX_WORDS: usize = 3;
    if texts.len() < 2 || chooses(question) {
        return None;
    }
    // "Weeks 4, 8 and 26" may be given as "week 4" and "week 8".
    let number = |text: &String| {
        let found = figures(text, Convention::Unknown);
        let [one] = found.as_slice() else { return None };
        let digits = text.get(one.range.clone())?.trim();
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.to_owned())
    };
    let numbers: Option<Vec<String>> = texts.iter().map(number).collect();
    let is_of_numbers = numbers.is_some();
    let sought = numbers.unwrap_or_else(|| texts.to_vec());
    let lines = cited.iter().map(|lines| lines.start).min()?..cited.iter().map(|lines| lines.end).max()?;
    let text = std::str::from_utf8(passage.document.text(lines)).ok()?;
    let own = words(text);
    let mut from = 0;
    for (n, entry) in sought.iter().enumerate() {
        let wanted = words(entry);
        let needle: Vec<&TextWord> = wanted.iter().collect();
        let rest = own.get(own.iter().position(|word| word.range.start >= from)?..)?;
        let found = sequence(&needle, rest)?;
        let (first, last) = (rest.get(found.start)?, rest.get(found.end.checked_sub(1)?)?);
        if n > 0 && part(text, from..first.range.start).trim() != "," {
            return None;
        }
        from = last.range.end;
    }
    let behind = part(text, from..);
    let rest = behind.trim_start_matches([',', ' ']);
    let rest = AND.iter().find_map(|and| rest.strip_prefix(and)).filter(|_| behind.starts_with([',', ' ']))?;
    let end = if is_of_numbers { rest.find(|c: char| !c.is_ascii_digit()) } else { rest.find(['.', ';', '\n', ',']) };
    let entry = rest.get(..end.unwrap_or(rest.len()))?.trim();
    let count = words(entry).len();
    (1..=MAX_WORDS).contains(&count).then(|| {
        let message = Message::new("The answer leaves out the last entry of the cited list: ");
        message.quoted(entry.as_bytes()).text(".")
    })
}

/// An entry `(3) …` between entries that are given.
fn entry_between(passage: &ListPassage<'_>, texts: &[String]) -> Option<Message> {
    lists(passage.text).iter().find_map(|entries| left_out(passage, texts, entries))
}

/// Bytes of the mark of an entry, and of the text behind it.
type ListEntry = (Range<usize>, Range<usize>);

fn left_out(passage: &ListPassage<'_>, texts: &[String], entries: &[ListEntry]) -> Option<Message> {
    let is_given = |range: &Range<usize>| {
        let own = words(part(passage.text, range.clone()));
        texts.iter().any(|text| {
            let wanted = words(text);
            let telling: Vec<&TextWord> = wanted.iter().filter(|word| !is_empty_word(&word.folded)).collect();
            let held = telling.iter().filter(|word| own.iter().any(|other| akin(&word.folded, &other.folded))).count();
            held > 0 && held * 2 >= telling.len()
        })
    };
    let given: Vec<bool> = entries.iter().map(|(_, range)| is_given(range)).collect();
    let missing: Vec<usize> = (0..given.len()).filter(|at| given.get(*at) == Some(&false)).collect();
    // Several that are left out may be another list.
    let [at] = missing.as_slice() else { return None };
    let count = given.iter().filter(|given| **given).count();
    let (mark, range) = entries.get(*at)?;
    let said = passage.text.get(mark.start..range.end)?.trim().trim_end_matches([';', ',']);
    let message = Message::new("The answer leaves out the entry ").quoted(said.as_bytes());
    (count >= 2 && count == texts.len()).then(|| message.text(", which is in the same list as those that it gives."))
}

/// The lists of a text, `(1) a; (2) b` or `(a) …`, each of three entries or more.
fn lists(text: &str) -> Vec<Vec<ListEntry>> {
    let mut lists: Vec<Vec<(Range<usize>, u32)>> = Vec::new();
    for (at, _) in text.match_indices('(') {
        let Some(end) = text.get(at..).and_then(|rest| rest.find(')')).filter(|end| *end <= 3) else { continue };
        let inner = part(text, at + 1..at + end);
        let number = inner.parse::<u32>().ok().or_else(|| {
            let mut letters = inner.chars();
            let letter = letters.next().filter(|c| c.is_ascii_lowercase() && letters.next().is_none())?;
            Some(u32::from(letter) - u32::from('a') + 1)
        });
        let (Some(number), mark) = (number, at..at + end + 1) else { continue };
        match lists.last_mut() {
            Some(list) if list.last().is_some_and(|(_, last)| last + 1 == number) => list.push((mark, number)),
            _ => lists.push(vec![(mark, number)]),
        }
    }
    let starts: Vec<usize> = lists.iter().flatten().map(|(mark, _)| mark.start).chain([text.len()]).collect();
    let end = |mark: &Range<usize>| starts.iter().copied().find(|start| *start > mark.start).unwrap_or(text.len());
    let entry = |(mark, _): &(Range<usize>, u32)| (mark.clone(), mark.end..end(mark));
    lists.iter().filter(|list| list.len() >= 3).map(|list| list.iter().map(entry).collect()).collect()
}

/// A second name that "and" joins to the one that is given.
fn name_behind(passage: &ListPassage<'_>, texts: &[String], cited: &[Range<usize>]) -> Option<Message> {
    const AND: &str = "and und et y en & e";
    let last = cited.iter().map(|lines| lines.end).max()?;
    let end = passage.document.offset(last).unwrap_or(passage.start + passage.text.len());
    for text in texts.iter().filter(|text| is_name(text)) {
        let at = passage.text.find(text.as_str())?;
        let behind = passage.text.get(at + text.len()..)?;
        let mut rest = behind.trim_start();
        let gap = behind.len() - rest.len();
        let word = rest.split_whitespace().next()?;
        if gap == 0 || !AND.split(' ').any(|and| and == word) {
            continue;
        }
        rest = rest.get(word.len()..)?.trim_start();
        let name: Vec<&str> =
            rest.split_whitespace().take_while(|word| word.starts_with(char::is_uppercase)).take(5).collect();
        let name = name.join(" ");
        let name = name.split([',', ';', '(']).next().expect("a split has a first part").trim_end_matches(['.', ')']);
        let is_given = texts.iter().any(|other| {
            let own = words(other);
            words(name).iter().any(|word| own.iter().any(|known| known.folded == word.folded))
        });
        let is_inside = passage.start + at < end;
        if is_name(name) && !is_given && is_inside {
            let message = Message::new("The cited lines name ").quoted(name.as_bytes()).text(" beside ");
            return Some(message.quoted(text.as_bytes()).text(", the answer does not."));
        }
    }
    None
}

/// Two words or more, each with a capital.
fn is_name(text: &str) -> bool {
    let own = words(text);
    own.len() >= 2 && own.len() <= 6 && own.iter().all(|word| word.capital && !word.has_digit())
}

/// A passage that breaks off at the end of the document, or sends the reader to a part that is not in it.
fn loose_end(passage: &ListPassage<'_>) -> Option<Message> {
    const SEES: [&str; 6] =
        ["see section ", "see clause ", "see also section ", "see annex ", "see appendix ", "siehe abschnitt "];
    let document = passage.document;
    // The line behind the last cited one counts along.
    let lines = passage.lines.start..passage.lines.end.saturating_add(1).min(document.len());
    let text = std::str::from_utf8(document.text(lines)).ok()?;
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return None;
    }
    let sent = SEES.iter().find_map(|phrase| {
        let at = lower.find(phrase)?;
        let part = lower.get(at + phrase.len()..)?;
        let number: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '.').collect();
        let number = number.trim_end_matches('.').to_owned();
        let is_there = number.is_empty() || has_part(document, phrase, &number);
        (!is_there).then_some(at..at + phrase.len() + number.len())
    });
    if let Some(range) = sent {
        let message = Message::new("The cited lines send the reader to a part that is not in the document: ");
        return Some(message.quoted(text.get(range)?.as_bytes()).text("."));
    }
    let last = text.trim_end();
    let breaks_off =
        last.ends_with(',') || [" and", " or", " und", " oder", " et"].iter().any(|word| last.ends_with(word));
    (breaks_off && passage.lines.end >= document.len()).then(|| {
        let line = last.rsplit('\n').next().expect("a split has a first part");
        let message = Message::new("The document breaks off in the cited list: ").quoted(line.trim().as_bytes());
        message.text(".")
    })
}

/// Tells whether a document has a part of this name: a line that begins with it, or with its number.
fn has_part(document: &Document, phrase: &str, number: &str) -> bool {
    let name = phrase.trim_start_matches("see also ").trim_start_matches("see ").trim_start_matches("siehe ");
    let named = [name, number].concat();
    (0..document.len()).any(|line| {
        let text = String::from_utf8_lossy(&document[line]).to_lowercase();
        let text = text.trim_start();
        let ends = |rest: &str| rest.chars().next().is_none_or(|c| !c.is_alphanumeric());
        text.strip_prefix(named.as_str()).is_some_and(ends)
            || text.strip_prefix(number).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ', ')', ':']))
    })
}

#[cfg(test)]
mod tests {
    use crate::case::Case;
    use serde_json::{Value as Json, json};
    use stepscope_record::rule_id::RuleId;

    pub(super) fn told(question: &str, lines: &[&str], texts: &[&str]) -> bool {
        let item = |text: &&str| {
            let line = lines.iter().position(|line| line.contains(*text)).unwrap_or(lines.len() - 1);
            json!({"text": text, "spans": [{"line_start": line, "line_end": line, "quote": text}]})
        };
        let items: Vec<Json> = texts.iter().map(item).collect();
        let trace = json!({
            "format": "stepscope.answer_trace", "question": question, "document": {"lines": lines},
            "answer": {"extraction_method": "verbatim", "answer_found": true, "complete_answer_found": true, "items": items},
        });
        let text = trace.to_string();
        let case = Case::read(text.as_bytes());
        case.view().findings().iter().any(|finding| finding.rule == RuleId::ListIncomplete)
    }

    #[test]
    fn a_list_has_as_many_entries_as_is_announced() {
        let question = "Which pets are excluded?";
        let lines = ["The following three pets are excluded: snakes,", "spiders and apes."];
        assert!(told(question, &lines, &["snakes", "spiders"]));
        assert!(!told(question, &lines, &["snakes", "spiders", "apes"]));
        assert!(!told("Which two pets come first?", &lines, &["snakes", "spiders"]));
    }

    #[test]
    fn no_entry_is_left_out_between_others() {
        let lines = ["Not let: (a) cellars; (b) lofts; (c) sheds; (d) barns."];
        assert!(told("What is not let?", &lines, &["cellars", "sheds", "barns"]));
        assert!(!told("What is not let?", &lines, &["cellars", "lofts", "sheds", "barns"]));
        assert!(!told("What is not let?", &lines, &["cellars", "lofts"]));
    }

    #[test]
    fn a_name_stands_beside_a_name() {
        let lines = ["Signed by Ann Brook and Leo Marsh"];
        assert!(told("Who signed?", &lines, &["Ann Brook"]));
        assert!(!told("Who signed?", &lines, &["Ann Brook", "Leo Marsh"]));
    }

    #[test]
    fn a_passage_that_sends_the_reader_away_is_not_whole() {
        let lines = ["Excluded are", "war,", "frost; see Section 7."];
        assert!(told("What is excluded?", &lines, &["war", "frost"]));
        let whole = ["Excluded are", "war,", "frost; see Section 7.", "Section 7. Other exclusions"];
        assert!(!told("What is excluded?", &whole, &["war", "frost"]));
    }
}
