//! Evidence against an answer in the answer itself or in its document: several values where one was asked for, an
//! amended date, and a yes or no whose numbers are not cited.

use std::ops::Range;

use super::Report;
use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_arithmetic::expression::numbers;
use stepscope_arithmetic::number::near;
use stepscope_base::json::same::same_value;
use stepscope_base::json::{Kind, Value};
use stepscope_base::python::Message;
use stepscope_base::text::{Untrusted, head};
use stepscope_evidence::date::{Date, WrittenDate, found, written};
use stepscope_evidence::document::Document;
use stepscope_evidence::figures::{Convention, Figure, FigureRole, figures, period};
use stepscope_evidence::typed::{AnswerItem, Citation, Dialect};
use stepscope_evidence::wording::{TextWord, akin, is_empty_word, words};
use stepscope_record::finding::{Findings, Place, PlaceLabel};
use stepscope_record::rule_id::RuleId;

mod twice;

/// Maximum number of lines of a document that are searched for an amendment.
const MAX_LINES: usize = 20_000;
/// A longer line is no clause.
const MAX_LINE: usize = 400;
/// Longest part of a line that is quoted.
const EXCERPT: usize = 120;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ConflictUnflagged,
        summary: "conflicting evidence is not flagged",
        explanation: "The cited lines give one thing two values: they say the same of both, the question asks for it, and \
            currency and unit are the same; another line gives the same amount, day, post or yes and no otherwise; or the \
            document amends the date that the answer gives. The answer says that nothing conflicts, so a reader of the first value alone does not learn of \
            the other. Show both, and set conflicting_evidence.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the effective date?", "parsed_question": {"expected_answer_shape": "date"}, "document": {"lines": ["Effective date: 15 March 2024 (original)", "Effective date: 1 April 2024 (amended)"]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "conflicting_evidence": false, "items": [{"date": {"iso": "2024-03-15", "original": "15 March 2024"}, "spans": [{"line_start": 0, "line_end": 0}]}, {"date": {"iso": "2024-04-01", "original": "1 April 2024"}, "spans": [{"line_start": 1, "line_end": 1}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the effective date?", "parsed_question": {"expected_answer_shape": "date"}, "document": {"lines": ["Effective date: 15 March 2024 (original)", "Effective date: 1 April 2024 (amended)"]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "conflicting_evidence": true, "items": [{"date": {"iso": "2024-03-15", "original": "15 March 2024"}, "spans": [{"line_start": 0, "line_end": 0}]}, {"date": {"iso": "2024-04-01", "original": "1 April 2024"}, "spans": [{"line_start": 1, "line_end": 1}]}]}}"#,
        check: check_conflict,
    },
    Rule {
        id: RuleId::ThresholdUncited,
        summary: "yes or no about a limit without the numbers cited",
        explanation: "The question asks whether something is above or below a limit. Two numbers decide that, the limit and \
            the value, but the cited text does not hold both. The answer may be right; the citation does not show it.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "Is the deductible above USD 500?", "answer": {"answer_found": true, "items": [{"boolean": true, "spans": [{"line_start": 3, "line_end": 3, "quote": "The deductible applies to each claim."}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "Is the deductible above USD 500?", "answer": {"answer_found": true, "items": [{"boolean": true, "spans": [{"line_start": 3, "line_end": 3, "quote": "The deductible is USD 1,200 per claim."}]}]}}"#,
        check: check_threshold,
    },
];

fn check_conflict(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    if typed.dialect() != Some(Dialect::Items) || typed.flag("conflicting_evidence") != Some(false) {
        return;
    }
    let help = "Set conflicting_evidence and give every value with its place, or ask which one applies.";
    let mut report = Report::new(RuleId::ConflictUnflagged, help, findings);
    let valued = || answered.items.iter().filter_map(|item| Some((item, item.value.as_ref()?.1)));
    if answered.asked.many != Some(true)
        && let Some((one, other)) = conflicting(case, &answered.items)
        && let (Some((_, first)), Some((_, second)), Some(pointer)) =
            (one.value.as_ref(), other.value.as_ref(), other.value_pointer())
    {
        let message = saying(Message::new("The cited lines give one thing two values, "), *first).text(" and ");
        let message = saying(message, *second).text(", and the answer flags no conflict.");
        report.add(message, Place::Value(pointer));
        return;
    }
    if let [item] = answered.items.as_slice()
        && let Some((line, there)) = stated_elsewhere(case, item).or_else(|| ends_elsewhere(case, item))
        && let Some(pointer) = item.value_pointer()
    {
        let message = Message::new("Another line of the document says ").text(there).text(" of the same: ");
        report.add(message.quoted(excerpt(case, line)).text("."), Place::Value(pointer));
        return;
    }
    if answered.asked.many != Some(true)
        && let [first, ..] = answered.items.as_slice()
        && answered.items.len() <= 2
        && let Some((line, there)) = twice::name(case, first).or_else(|| twice::statement(case, first))
        && let Some(pointer) = first.value_pointer()
    {
        let text = excerpt(case, line);
        let message = Message::new("Another line of the document says otherwise, ").quoted(there.as_bytes());
        let message = message.text(", and the answer flags no conflict: ");
        report.add(message.quoted(text).text("."), Place::Value(pointer));
        return;
    }
    if answered.asked.many != Some(true)
        && let [first, _] = answered.items.as_slice()
        && let Some((_, there)) = ends_elsewhere(case, first)
        && let Some(pointer) = first.value_pointer()
    {
        let message = Message::new("Another line of the document says ").text(there);
        report.add(message.text(" of the same, and the answer flags no conflict."), Place::Value(pointer));
        return;
    }
    for (item, value) in valued() {
        if let Some((line, there)) = amended(case, item, value)
            && let Some(pointer) = item.value_pointer()
        {
            let text = excerpt(case, line);
            let message =
                Message::new("The document amends this date to ").text(there.as_bytes()).text(": ").quoted(text);
            report.add(message.text("."), Place::Value(pointer));
            return;
        }
    }
}

/// Number of items of which each is compared with each.
const MAX_COMPARED: usize = 12;

/// Two items that give different values of one quantity: what the cited lines say of each, apart from the value, is the
/// same, and the question asks for it.
/// The beginning of another line of the document.
fn excerpt<'c>(case: &CaseView<'c>, line: usize) -> &'c [u8] {
    head(&case.document().expect("its line was found")[line], EXCERPT)
}

fn conflicting<'s, 'a>(
    case: &CaseView<'_>,
    items: &'s [AnswerItem<'a>],
) -> Option<(&'s AnswerItem<'a>, &'s AnswerItem<'a>)> {
    let question = case.record.as_ref()?.question?.string()?;
    let asked = telling(question.utf8()?);
    let document = case.document()?;
    let clause = |n: usize| {
        let place = case.supports().get(n)?.places.first()?;
        clause_around(document, place.start)
    };
    let said: Vec<_> = items.iter().enumerate().take(MAX_COMPARED).map(|(n, item)| (item, clause(n))).collect();
    for (n, (one, first)) in said.iter().enumerate() {
        for (other, second) in said.get(n + 1..)? {
            let (Some(a), Some(b)) = (one.value.as_ref(), other.value.as_ref()) else { continue };
            let (Some(first), Some(second)) = (first, second) else { continue };
            let nouns = (first.noun.as_ref(), second.noun.as_ref());
            let same_noun = nouns.0 == nouns.1 && nouns.0.is_some_and(|noun| asked.contains(noun));
            if a.0 == b.0
                && differ(a.1, b.1)
                && same_unit(a.1, b.1)
                && first.range != second.range
                && ((same_noun && !is_of_other(first, second)) || same_subject(first, second, &asked))
            {
                return Some((one, other));
            }
        }
    }
    None
}

/// The noun that a value is given for, folded: "Deposit: £5", "a deposit of £5", "the deposit is £5"; `None` where words
/// behind the value say for what or when it is.
fn noun_before(text: &str, figure: &Figure) -> Option<String> {
    const JOINS: &str = "of is are amounts to von betragt ist belauft sich auf est de es up";
    const LIMITS: &str = "for per if when where from in on bei fur je wenn pour par si a an each after until";
    const ARTICLES: &str = "a an the der die das ein eine einen den le la un une el una";
    let behind = words(text.get(figure.range.end..)?);
    let limited = behind.first().is_some_and(|word| LIMITS.split(' ').any(|limit| limit == word.folded));
    let before = text.get(..figure.range.start)?;
    let start = before.rfind([';', ',']).or_else(|| before.rfind(". ")).map_or(0, |at| at + 1);
    let clause = before.get(start..)?;
    if limited || !figure.rate.is_empty() {
        return None;
    }
    if let Some(label) = clause.trim_end().strip_suffix(':') {
        let own: Vec<String> = words(label).into_iter().map(|word| word.folded).collect();
        return match own.as_slice() {
            [noun] => Some(noun.clone()),
            _ => None,
        };
    }
    let own: Vec<String> = words(clause).into_iter().map(|word| word.folded).collect();
    let joined = own.iter().rposition(|word| !JOINS.split(' ').any(|join| join == word))?;
    let is_article = |at: Option<usize>| {
        at.and_then(|at| own.get(at)).is_some_and(|word| ARTICLES.split(' ').any(|article| article == word))
    };
    let noun =
        own.get(joined).filter(|word| joined + 1 < own.len() && !word.bytes().any(|byte| byte.is_ascii_digit()))?;
    is_article(joined.checked_sub(1)).then(|| noun.clone())
}

/// A day at which another line says that what is asked for ends or is due: the line, and the day as it stands.
fn ends_elsewhere(case: &CaseView<'_>, item: &AnswerItem<'_>) -> Option<(usize, String)> {
    const ENDS: &str = "due end ends ended ending deadline latest expire expires expiry until close closes finish submitted spatestens \
        endet ende frist echeance fin";
    const BEFORE_DAY: &str = "by until on due ends at end am bis spatestens le au before";
    const OPEN: &str = "if unless may can notice wenn falls si";
    let own = Date::iso(item.value.as_ref()?.1.get("iso")?.string()?.bytes()).ok()?;
    let question = case.record.as_ref()?.question?.string()?;
    let asked = words(question.utf8()?);
    let is_end = |word: &str| ENDS.split_whitespace().any(|end| end == word);
    const BY_WHEN: [&str; 4] = ["by when", "by what date", "by which date", "bis wann"];
    let lower = question.utf8()?.to_lowercase();
    if !asked.iter().any(|word| is_end(&word.folded)) && !BY_WHEN.iter().any(|phrase| lower.starts_with(phrase)) {
        return None;
    }
    let subject: Vec<String> = telling(question.utf8()?).into_iter().filter(|word| !is_end(word)).collect();
    let document = case.document()?;
    let cited: Vec<Range<usize>> = item.citations.iter().filter_map(|citation| case.meant_lines(citation)).collect();
    let is_cited = |line: &usize| cited.iter().any(|lines| lines.contains(line));
    if subject.is_empty() || cited.is_empty() {
        return None;
    }
    (0..document.len().min(MAX_LINES)).filter(|line| !is_cited(line)).find_map(|line| {
        let text = std::str::from_utf8(document.line(line).filter(|text| text.len() <= MAX_LINE)?).ok()?;
        let days = found(text);
        // Of a span the last day ends it.
        let (day, others) = days.split_last()?;
        let is_in_day = |at: usize| days.iter().any(|day| day.range.contains(&at));
        let all: Vec<TextWord> = words(text).into_iter().filter(|word| !is_in_day(word.range.start)).collect();
        let is_open = all.iter().any(|word| OPEN.split(' ').any(|open| open == word.folded));
        let [meaning] = day.meanings.as_slice() else { return None };
        let whole = meaning.whole().filter(|day| *day != own)?;
        let before: Vec<&str> =
            all.iter().filter(|word| word.range.end <= day.range.start).map(|word| word.folded.as_str()).collect();
        let behind_other = others.last().map_or(0, |other| {
            all.iter().filter(|word| word.range.end <= day.range.start && word.range.start > other.range.end).count()
        });
        let least = if others.is_empty() { 5 } else { behind_other.min(5) };
        let near = &before[before.len().saturating_sub(least)..];
        let is_until = near.iter().any(|word| matches!(*word, "until" | "bis"));
        let is_due = near.iter().any(|word| BEFORE_DAY.split(' ').any(|known| known == *word))
            && (others.is_empty() || is_until)
            && (subject.len() > 1 || before.iter().any(|word| is_end(word)));
        let is_of_it = subject.iter().all(|word| before.iter().any(|other| akin(word, other)));
        (is_due && is_of_it && !is_open && !is_of_another(&all, &subject, &asked))
            .then(|| (line, format!("{:04}-{:02}-{:02}", whole.year, whole.month, whole.day)))
    })
}

/// Tells whether a line is of a part of what is asked for, "the snagging of the works", or of one with a name, "the closure of Oak
/// Road".
fn is_of_another(line: &[TextWord], subject: &[String], asked: &[TextWord]) -> bool {
    const WHOLE: &[&str] = stepscope_base::list![whole all rest end completion duration date];
    let is_subject = |word: &TextWord| subject.iter().any(|own| akin(own, &word.folded));
    let is_asked = |word: &TextWord| asked.iter().any(|own| akin(&own.folded, &word.folded));
    let (Some(first), Some(last)) = (line.iter().position(is_subject), line.iter().rposition(is_subject)) else {
        return false;
    };
    let before: Vec<&TextWord> = line.iter().take(first).filter(|word| word.folded != "the").collect();
    let is_part = match before.as_slice() {
        [.., head, of] => of.folded == "of" && !WHOLE.contains(&head.folded.as_str()) && !is_asked(head),
        _ => false,
    };
    let mut behind = line.iter().skip(last + 1).skip_while(|word| !matches!(word.folded.as_str(), "of"));
    let is_next = line.get(last + 1).is_some_and(|word| word.folded == "of");
    let is_named = is_next && behind.nth(1).is_some_and(|word| word.capital && !is_asked(word));
    is_part || is_named
}

/// Another amount of the same thing in a line that is not cited: the line, and the amount as it stands.
fn stated_elsewhere(case: &CaseView<'_>, item: &AnswerItem<'_>) -> Option<(usize, String)> {
    let question = case.record.as_ref()?.question?.string()?;
    let asked = telling(question.utf8()?);
    let document = case.document()?;
    let place = case.supports().first()?.places.first()?;
    let own = clause_around(document, place.start)?;
    let own_line = document.line_at(place.start);
    let figure_at = |line: usize, byte: usize| {
        let (start, text) = (document.offset(line)?, std::str::from_utf8(document.line(line)?).ok()?);
        let found = figures(text, Convention::of([text]));
        Some((
            found.into_iter().find(|figure| (start + figure.range.start..start + figure.range.end).contains(&byte))?,
            text,
        ))
    };
    let (figure, own_text) = figure_at(own_line, place.start)?;
    // A thing is named by two words at least, or by the noun right before its value.
    let is_named = own.words.iter().filter(|word| asked.iter().any(|asked| akin(asked, word))).count() >= 2;
    let own_noun = noun_before(own_text, &figure).filter(|noun| figure.is_money() && asked.contains(noun));
    if !is_named && own_noun.is_none() {
        return None;
    }
    let cited: Vec<Range<usize>> = item.citations.iter().filter_map(|citation| case.meant_lines(citation)).collect();
    let is_cited = |line: &usize| cited.iter().any(|lines| lines.contains(line));
    (0..document.len().min(MAX_LINES)).filter(|line| !is_cited(line)).find_map(|line| {
        let text = std::str::from_utf8(document.line(line).filter(|text| text.len() <= MAX_LINE)?).ok()?;
        let start = document.offset(line)?;
        let found = figures(text, Convention::of([text]));
        let other = found.iter().find(|other| {
            let clause = || clause_around(document, start + other.range.start);
            let is_of_kind = other.role == FigureRole::Value
                && other.is_of_kind(&figure)
                && other.shares_currency(&figure)
                && is_same_rate(other, &figure);
            let same_noun = || {
                own_noun.is_some()
                    && noun_before(text, other) == own_noun
                    && clause().is_some_and(|clause| !is_of_other(&own, &clause))
            };
            is_of_kind
                && !other.magnitudes().any(|value| figure.magnitudes().any(|own| own == value))
                && (same_noun() || (is_named && clause().is_some_and(|clause| same_subject(&own, &clause, &asked))))
        })?;
        Some((line, text.get(other.range.clone())?.trim().to_owned()))
    })
}

/// Tells whether two figures are for one period, in the same words or in others: "a year", "p.a.".
fn is_same_rate(a: &Figure, b: &Figure) -> bool {
    let of = |figure: &Figure| figure.rate.iter().find_map(|word| period(word));
    a.rate == b.rate || of(a).zip(of(b)).is_some_and(|(a, b)| a == b)
}

/// Tells whether two amounts are of one currency and unit; other values have none.
fn same_unit(a: Value<'_>, b: Value<'_>) -> bool {
    ["currency", "unit"].iter().all(|name| {
        let text = |value: Value<'_>| value.get(name).and_then(Value::string).map(Untrusted::into_owned);
        text(a) == text(b)
    })
}

/// Words of a clause of a document, apart from its value.
struct Clause {
    range: Range<usize>,
    words: Vec<String>,
    /// Those of its words that stand before a colon.
    heading: Vec<String>,
    /// The noun of which the amount at the byte is given.
    noun: Option<String>,
    /// Years that it names.
    years: Vec<String>,
    /// It is in a row of a table, whose heading may be far above.
    is_row: bool,
}

/// The clause of a document around a byte, and its telling words.
fn clause_around(document: &Document, byte: usize) -> Option<Clause> {
    let line = document.line_at(byte);
    let (start, text) = (document.offset(line)?, std::str::from_utf8(document.line(line)?).ok()?);
    let at = byte.checked_sub(start)?;
    let before = text.get(..at)?;
    let from = before.rfind([';', '!', '?']).or_else(|| before.rfind(". ")).map_or(0, |at| at + 1);
    // "Section 6 (c) shall read: …": where it is amended is no part of what is said.
    let from =
        ["read:", "reads:"].iter().filter_map(|word| Some(before.rfind(word)? + word.len())).fold(from, usize::max);
    let rest = text.get(at..)?;
    let end = rest.find(';').or_else(|| rest.find(". ")).map_or(text.len(), |end| at + end);
    let heading = text.get(from..at)?.split_once(':').map_or("", |(heading, _)| heading);
    let own = figures(text, Convention::of([text]));
    let own = own.iter().find(|figure| figure.is_money() && figure.range.contains(&at));
    let noun = own.and_then(|figure| noun_before(text, figure));
    Some(Clause {
        noun,
        range: start + from..start + end,
        words: telling(text.get(from..end)?),
        heading: telling(heading),
        years: years(text.get(from..at)?).chain(years(rest.get(..end - at)?)).collect(),
        is_row: is_row(text),
    })
}

/// The years that a text names.
fn years(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().filter(|word| word.year().is_some()).map(|word| word.folded)
}

/// Tells whether a line has three cells or more.
fn is_row(text: &str) -> bool {
    let bars = text.split('|').filter(|cell| !cell.trim().is_empty()).count();
    let gaps = text.split("  ").filter(|cell| !cell.trim().is_empty()).count();
    bars.max(gaps) > 2
}

/// The words of a text that name what it is about, folded.
fn telling(text: &str) -> Vec<String> {
    /// Words of amendments, months and values, which do not name a thing.
    const GENERIC: &str = "original amended amendment amendments endorsement effect revised new former version draft now instead \
        hereby changed replaced date day amount value sum total increase increases decrease decreases change changes year years annum yearly january february march april may june july august september \
        october november december januar februar marz mai juni juli oktober dezember usd eur gbp chf euro euros dollars pounds";
    let own = words(text);
    let kept = own.into_iter().filter(|word| !word.has_digit() && !is_empty_word(&word.folded));
    kept.map(|word| word.folded)
        .filter(|word| word.len() > 1 && !GENERIC.split_whitespace().any(|known| known == word))
        .collect()
}

/// Tells whether two clauses are of other years, or rows of tables, which their headings tell apart.
fn is_of_other(a: &Clause, b: &Clause) -> bool {
    (a.is_row && b.is_row) || (!a.years.is_empty() && !b.years.is_empty() && a.years != b.years)
}

/// Tells whether two clauses speak of one thing, and the question asks for it. A heading before a colon, as "Quick guide:",
/// says where something stands and not what it is.
fn same_subject(a: &Clause, b: &Clause, asked: &[String]) -> bool {
    if is_of_other(a, b) {
        return false;
    }
    let holds = |list: &[String], word: &String| list.iter().any(|other| akin(word, other));
    let extra = |one: &Clause, other: &Clause| -> Vec<String> {
        one.words.iter().filter(|word| !holds(&other.words, word)).cloned().collect()
    };
    let is_place =
        |one: &Clause, extra: &[String]| extra.iter().all(|word| one.heading.contains(word) && !holds(asked, word));
    let (of_a, of_b) = (extra(a, b), extra(b, a));
    // Two headings name two things.
    let is_same = (of_a.is_empty() && is_place(b, &of_b)) || (of_b.is_empty() && is_place(a, &of_a));
    is_same && a.words.iter().any(|word| holds(asked, word) && holds(&b.words, word))
}

/// Tells whether two values differ in what they say, not only in form.
fn differ(a: Value<'_>, b: Value<'_>) -> bool {
    if a.kind() != b.kind() {
        return false;
    }
    let part = |name: &str| a.get(name).zip(b.get(name));
    match a.kind() {
        Kind::Object => match part("iso").or_else(|| part("value")) {
            Some((a, b)) => !is_same(a, b),
            // What has other parts may be another thing, not another value.
            None => false,
        },
        Kind::True | Kind::False | Kind::Int | Kind::Float => !same_value(a, b),
        Kind::String => {
            // Texts say the same in many words: only numbers and dates tell.
            let values = |value: Value<'_>| -> Option<Vec<f64>> {
                let text = value.string()?;
                let found = numbers(text.utf8()?);
                Some(found.into_iter().map(|(number, _)| number.value.float()).collect())
            };
            match (values(a), values(b)) {
                (Some(a), Some(b)) => a.len() == 1 && b.len() == 1 && (a.first() != b.first()),
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    let number = |value: Value<'_>| value.float().or_else(|| value.string()?.utf8()?.trim().parse().ok());
    same_value(a, b) || number(a).zip(number(b)).is_some_and(|(a, b)| near(a, b))
}

fn saying(message: Message, value: Value<'_>) -> Message {
    const SHORT: usize = 40;
    let shown = value.get("iso").or_else(|| value.get("value")).unwrap_or(value);
    match shown.string() {
        Some(words) if value.kind() == Kind::String => message.quoted(head(words.bytes(), SHORT)),
        Some(words) => message.text(head(words.bytes(), SHORT)),
        None => message.text(head(shown.raw(), SHORT)),
    }
}

/// A line that is not cited and gives the thing that was asked for another date: the line, and the date as it stands.
fn amended(case: &CaseView<'_>, item: &AnswerItem<'_>, value: Value<'_>) -> Option<(usize, String)> {
    const AMENDS: [&str; 12] = [
        "amended",
        "amends",
        "amendment",
        "changed to",
        "is replaced",
        "replaced by",
        "superseded",
        "revised to",
        "corrected to",
        "hereby changed",
        "shall read",
        "deleted and replaced",
    ];
    let iso = value.get("iso")?.string()?;
    let own = Date::iso(iso.bytes()).ok()?;
    let question = case.record.as_ref()?.question?.string()?;
    let subject = subject(question.utf8()?);
    let document: &Document = case.document()?;
    if subject.is_empty() {
        return None;
    }
    let cited: Vec<Range<usize>> = item.citations.iter().filter_map(|citation| case.meant_lines(citation)).collect();
    let is_cited = |line: usize| cited.iter().any(|lines| lines.contains(&line));
    // Another item may give the other date.
    let given: Vec<Date> = case
        .items()
        .iter()
        .filter_map(|item| Date::iso(item.value.as_ref()?.1.get("iso")?.string()?.bytes()).ok())
        .collect();
    (0..document.len().min(MAX_LINES)).filter(|line| !is_cited(*line)).find_map(|line| {
        let text = document.line(line).filter(|text| text.len() <= MAX_LINE)?;
        let text = std::str::from_utf8(text).ok()?;
        let lower = text.to_lowercase();
        let amends = AMENDS.iter().any(|word| lower.contains(word));
        if !amends || !subject.iter().all(|word| lower.contains(word.as_str())) {
            return None;
        }
        // "amended from 1 March to 1 April": what stands behind the word is what holds.
        let behind = lower.rfind(" to ").or_else(|| lower.rfind("read")).map_or(0, |at| at);
        let tail = text.get(behind..).unwrap_or(text);
        let dates = written(if written(tail).is_empty() { text } else { tail });
        let is_other = |date: &Date| date != &own && !given.contains(date);
        let full: Vec<Date> = dates.iter().filter_map(WrittenDate::whole).collect();
        let other = full.iter().find(|date| is_other(date)).filter(|_| !full.contains(&own))?;
        Some((line, format!("{:04}-{:02}-{:02}", other.year, other.month, other.day)))
    })
}

/// The words of a question that name what it asks for.
fn subject(question: &str) -> Vec<String> {
    const EMPTY: &[&str] = stepscope_base::list![
        what when which where does from that this with will have been there their is the on of for a an in to was are did do
        day
    ];
    let lower = question.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3 && !EMPTY.contains(word));
    let words: Vec<String> = words.map(|word| word.trim_end_matches('s').to_owned()).collect();
    // One word alone is in too many lines.
    if words.len() >= 2 { words } else { Vec::new() }
}

fn check_threshold(case: &CaseView<'_>, findings: &mut Findings) {
    const COMPARES: [&str; 22] = [
        "exceed",
        "above",
        "below",
        "more than",
        "less than",
        "at least",
        "at most",
        "greater",
        "higher",
        "lower than",
        "fewer",
        "not more",
        "no more",
        " over ",
        " under ",
        "within the limit",
        "threshold",
        "minimum",
        "maximum",
        "larger",
        "smaller",
        "up to",
    ];
    let Some((_, answered)) = case.answered() else { return };
    let Some(question) = case.record.as_ref().and_then(|record| record.question?.string()) else { return };
    let Some(text) = question.utf8() else { return };
    let lower = text.to_lowercase();
    let asks = ["is ", "are ", "does ", "do ", "did ", "was ", "were ", "has ", "have ", "can ", "will "];
    let is_threshold =
        COMPARES.iter().any(|word| lower.contains(word)) && asks.iter().any(|ask| lower.starts_with(ask));
    if !is_threshold {
        return;
    }
    let values = |text: &[u8]| -> Vec<f64> {
        let text = std::str::from_utf8(text).unwrap_or_default();
        numbers(text).into_iter().map(|(number, _)| number.value.float()).collect()
    };
    let limits = values(text.as_bytes());
    let help = "Cite the line with the value too, so that the citation shows both numbers.";
    let mut report = Report::new(RuleId::ThresholdUncited, help, findings);
    for item in answered.items.iter().filter(|item| is_yes_or_no(item)) {
        let texts = cited_texts(case, item);
        if texts.is_empty() {
            continue;
        }
        let mut cited: Vec<f64> = Vec::new();
        for text in &texts {
            cited.extend(values(text));
        }
        // The limit of the question need not be cited; the value must be, and it may be the same number.
        let has_both = cited.len() >= if limits.is_empty() { 2 } else { 1 };
        if !has_both && let Some(pointer) = item.value_pointer() {
            let message = "The answer compares two numbers, but the cited text does not hold both.";
            if let (Some(finding), Some(citation)) =
                (report.add(message, Place::Value(pointer)), item.citations.first())
            {
                let text = Untrusted::from("what is cited");
                finding.push_label(PlaceLabel { place: Place::Value(citation.pointer.clone()), text });
            }
        }
    }
}

fn is_yes_or_no(item: &AnswerItem<'_>) -> bool {
    item.value.as_ref().is_some_and(|(key, value)| *key == "boolean" || value.bool().is_some())
}

/// The quotes of an item, or the cited lines where there is no quote.
fn cited_texts(case: &CaseView<'_>, item: &AnswerItem<'_>) -> Vec<Vec<u8>> {
    let text = |citation: &Citation<'_>| {
        let lines = case.document().and_then(|document| Some(document.text(case.meant_lines(citation)?).to_vec()));
        let quote = citation.quote.and_then(Value::string).map(|quote| quote.bytes().to_vec());
        // The lines say at least what the quote says.
        lines.or(quote)
    };
    item.citations.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    pub(super) fn said(text: &str, check: fn(&CaseView<'_>, &mut Findings)) -> Vec<String> {
        let case = Case::read(text.as_bytes());
        let mut findings = Findings::new();
        check(&case.view(), &mut findings);
        findings.iter().map(|finding| finding.message.line().into_string()).collect()
    }

    fn dated(line: &str) -> Vec<String> {
        let text = format!(
            r#"{{"format": "stepscope.answer_trace", "question": "What is the effective date of the policy?",
            "parsed_question": {{"expected_answer_shape": "date"}},
            "document": {{"lines": ["The effective date of the policy is 15 March 2024.", "{line}"]}},
            "answer": {{"answer_found": true, "conflicting_evidence": false, "items": [{{"date": {{"iso": "2024-03-15", "original": "15 March 2024"}},
            "spans": [{{"line_start": 0, "line_end": 0}}]}}]}}}}"#
        );
        said(&text, check_conflict)
    }

    #[test]
    fn a_line_is_cited_where_its_quote_is_found() {
        let amended = "The effective date of this policy is amended to 1 April 2024.";
        let text = |line: usize, quote: &str| {
            format!(
                r#"{{"format": "stepscope.answer_trace", "question": "What is the effective date of the policy?",
                "parsed_question": {{"expected_answer_shape": "date"}},
                "document": {{"lines": ["The effective date of the policy is 15 March 2024.", "A line.", "{amended}"]}},
                "answer": {{"answer_found": true, "conflicting_evidence": false, "items": [{{"date": {{"iso": "2024-03-15", "original": "15 March 2024"}},
                "spans": [{{"line_start": {line}, "line_end": {line}, "quote": "{quote}"}}]}}]}}}}"#
            )
        };
        assert_eq!(said(&text(2, amended), check_conflict).len(), 0);
        assert_eq!(said(&text(3, amended), check_conflict).len(), 0, "counted from 1");
        assert_eq!(said(&text(2, "A line."), check_conflict).len(), 1, "the number alone cites nothing");
    }

    #[test]
    fn an_amended_date_is_a_conflict() {
        for line in [
            "The effective date of this policy is amended to 1 April 2024.",
            "Endorsement 2: effective date of the policy changed to April 1, 2024",
            "Policy: the effective date is amended from 15 March 2024 to 1 April 2024.",
        ] {
            let said = dated(line);
            assert_eq!(said.len(), 1, "{line}");
            assert!(said[0].starts_with("The document amends this date to 2024-04-01"), "{said:?}");
        }
        for line in [
            "The effective date of the policy is 15 March 2024, as amended.",
            "The expiry date of the policy is amended to 1 April 2025.",
            "Premiums are amended on 1 April 2024.",
            "The effective date of the policy is 1 April 2024.",
        ] {
            assert_eq!(dated(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn two_values_of_one_thing_conflict() {
        let conflict = |question: &str, lines: [&str; 2], values: [&str; 2]| {
            let item = |n: usize| {
                format!(
                    r#"{{"amount": {{"value": {}, "currency": "USD"}}, "spans": [{{"line_start": {n}, "line_end": {n}, "quote": "{}"}}]}}"#,
                    values[n], lines[n]
                )
            };
            let text = format!(
                r#"{{"format": "stepscope.answer_trace", "question": "{question}", "parsed_question": {{"expected_answer_shape": "amount"}},
                "document": {{"lines": ["{}", "{}"]}},
                "answer": {{"extraction_method": "verbatim", "answer_found": true, "conflicting_evidence": false, "items": [{}, {}]}}}}"#,
                lines[0],
                lines[1],
                item(0),
                item(1)
            );
            said(&text, check_conflict).len()
        };
        let question = "What is the deductible?";
        assert_eq!(
            conflict(question, ["The deductible is USD 250.", "The deductible is now USD 300."], ["250", "300"]),
            1
        );
        assert_eq!(
            conflict(question, ["The deductible is USD 250.", "The deductible is USD 250.00."], ["250", "250.0"]),
            0
        );
        assert_eq!(
            conflict("What are the limits?", ["Bicycles: limit USD 250", "Laptops: limit USD 300"], ["250", "300"]),
            0
        );
        assert_eq!(conflict("When is what paid?", ["At the begin: USD 250", "At the end: USD 300"], ["250", "300"]), 0);
    }

    #[test]
    fn a_limit_and_a_value_are_both_seen() {
        let threshold = |question: &str, quote: &str| {
            let text = format!(
                r#"{{"format": "stepscope.answer_trace", "question": "{question}", "answer": {{"answer_found": true, "items": [
                {{"boolean": true, "spans": [{{"line_start": 0, "line_end": 0, "quote": "{quote}"}}]}}]}}}}"#
            );
            said(&text, check_threshold).len()
        };
        assert_eq!(threshold("Does the loss exceed USD 500?", "The loss is covered."), 1);
        assert_eq!(threshold("Does the loss exceed USD 500?", "The loss is USD 620."), 0);
        assert_eq!(threshold("Does the loss exceed the limit?", "The loss is USD 620."), 1);
        assert_eq!(threshold("Does the loss exceed the limit?", "The loss is USD 620; the limit is USD 500."), 0);
        assert_eq!(threshold("Does the policy cover flood?", "Flood is covered."), 0);
    }
}
