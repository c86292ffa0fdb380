//! The kind of the place of a value against the question: the day of a document and another day in it, writer and addressee,
//! one party and the other, net and gross, the ends of a span, a part and its whole.
//!
//! Nothing is proven by that, as by the words of the question.

use std::ops::Range;

use super::claim::Evidence;
use stepscope_base::json::{Kind, Value};
use stepscope_base::python::Message;
use stepscope_evidence::date;
use stepscope_evidence::date::{Date, WrittenDate};
use stepscope_evidence::document::Document;
use stepscope_evidence::figures::{FigureRole, figures};
use stepscope_evidence::typed::AnswerItem;
use stepscope_evidence::wording::{TextWord, akin, is_empty_word, part, words};

/// Maximum number of lines of a document that are searched.
const MAX_LINES: usize = 5_000;

/// A value and the line in which it stands.
struct PlacedValue<'d> {
    document: &'d Document,
    question: String,
    line: usize,
    text: &'d str,
    /// Bytes of the line.
    local: Range<usize>,
}

/// Says so where the question asks for a value of another kind of place.
pub(super) fn other_place(
    question: &str,
    evidence: &Evidence<'_>,
    item: &AnswerItem<'_>,
    places: &[Range<usize>],
    taken: &[Range<usize>],
) -> Option<Message> {
    let document = evidence.document?;
    let (key, value) = item.value.as_ref()?;
    let place = places.first()?;
    let line = document.line_at(place.start);
    let start = document.offset(line)?;
    let local = place.start.checked_sub(start)?..place.end.checked_sub(start)?;
    let placed =
        PlacedValue { document, question: question.to_lowercase(), line, text: text_of(document, line)?, local };
    if let Some(iso) = value.get("iso").and_then(Value::string) {
        let own = Date::iso(iso.bytes()).ok()?;
        return placed.day_of_document(own).or_else(|| if taken.is_empty() { placed.other_end(own) } else { None });
    }
    let is_amount = *key == "amount" && value.get("value").is_some();
    if is_amount {
        return placed.net_for_gross().or_else(|| placed.whole_for_part(evidence)).or_else(|| placed.aside(evidence));
    }
    let is_name = value.kind() == Kind::String && key.utf8().is_some_and(|key| key.contains("person"));
    let is_address = value.get("street").is_some() || value.get("city").is_some() || value.get("last_name").is_some();
    if is_name && let Some(message) = value.string().and_then(|name| placed.addressee(name.utf8()?)) {
        return Some(message);
    }
    if is_name || is_address { placed.other_party() } else { None }
}

fn text_of(document: &Document, line: usize) -> Option<&str> {
    std::str::from_utf8(document.line(line)?).ok()
}

fn telling(text: &str) -> Vec<TextWord> {
    words(text).into_iter().filter(|word| !is_empty_word(&word.folded)).collect()
}

impl PlacedValue<'_> {
    fn holds(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.question.contains(phrase))
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        (0..self.document.len().min(MAX_LINES)).filter_map(|line| text_of(self.document, line))
    }

    /// "When was the letter written?" against a day that is not at its head or foot.
    fn day_of_document(&self, own: Date) -> Option<Message> {
        const WHEN: [&str; 5] = [
            "when was the ",
            "when was this ",
            "on what date was the ",
            "on which day was the ",
            "what is the date of the ",
        ];
        const PAPERS: &[&str] = stepscope_base::list![
            letter order agreement contract notice invoice minutes report certificate judgment decision document memo email
            deed offer
        ];
        const MADE: &[&str] = stepscope_base::list![written made dated issued signed drawn date concluded executed];
        let asked = words(&self.question);
        let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.folded.as_str()));
        if !self.holds(&WHEN) || !has(PAPERS) || !has(MADE) || asked.len() > 8 {
            return None;
        }
        let is_asked = |word: &TextWord| {
            !is_empty_word(&word.folded) && asked.iter().any(|other| akin(&other.folded, &word.folded))
        };
        if words(self.text).iter().any(is_asked) {
            return None;
        }
        let mut dated: Vec<(Date, &str)> = self.lines().filter_map(|line| Some((dateline(line)?, line))).collect();
        dated.dedup_by_key(|(date, _)| *date);
        let [(date, line)] = dated.as_slice() else { return None };
        (*date != own).then(|| {
            let message =
                Message::new("The question asks for the day of the document, which is dated in another line: ");
            message.quoted(line.trim().as_bytes()).text(".")
        })
    }

    /// "Until when?" against the first day of a span, and the other way round.
    fn other_end(&self, own: Date) -> Option<Message> {
        const ENDS: [&str; 12] = [
            "until when",
            " end?",
            " end ",
            " ends",
            "expire",
            "last day",
            "bis wann",
            "endet",
            "jusqu'à quand",
            "se termine",
            "finish",
            "run out",
        ];
        const BEGINS: [&str; 11] = [
            " start",
            " begin",
            " open",
            "from when",
            "since when",
            "first day",
            "ab wann",
            "beginn",
            "seit wann",
            "à partir de quand",
            "commence",
        ];
        const TO: &[&str] = stepscope_base::list![to until till through bis au jusqu];
        let (ends, begins) = (self.holds(&ENDS), self.holds(&BEGINS));
        if ends == begins {
            return None;
        }
        let days = date::found(self.text);
        let whole =
            |one: &date::FoundDate| -> Option<Range<usize>> { (!one.meanings.is_empty()).then(|| one.range.clone()) };
        let [first, second] = days.as_slice() else { return None };
        let (a, b) = (whole(first)?, whole(second)?);
        let between = words(part(self.text, a.end..b.start));
        let is_span = part(self.text, a.end..b.start).trim().starts_with(['–', '-'])
            || between.iter().any(|word| TO.contains(&word.folded.as_str()));
        let is_first = first.meanings.iter().any(|meaning| meaning.has_day() && meaning.agrees(own));
        let is_second = second.meanings.iter().any(|meaning| meaning.has_day() && meaning.agrees(own));
        let is_other = is_first != is_second && (is_first == ends);
        (is_span && is_other).then(|| {
            let message = Message::new("The question asks for the other end of the period ");
            message.quoted(part(self.text, a.start..b.end).as_bytes()).text(".")
        })
    }

    /// "What is it including VAT?" against a line that is headed "Net".
    fn net_for_gross(&self) -> Option<Message> {
        const GROSS: [&str; 10] = [
            "including vat",
            "incl. vat",
            "including tax",
            "with vat",
            "including gst",
            "gross",
            "brutto",
            "inkl",
            "einschließlich",
            "ttc",
        ];
        const NET: &[&str] = stepscope_base::list![net netto nettobetrag zwischensumme];
        let before: Vec<TextWord> = words(part(self.text, ..self.local.start));
        let is_label = before.len() <= 3 && !before.iter().any(TextWord::has_digit);
        let is_net = is_label && before.first().is_some_and(|first| NET.contains(&first.folded.as_str()));
        (is_net && self.holds(&GROSS)).then(|| {
            let message = Message::new("The question asks for the amount with tax, but the value is in the line ");
            message.quoted(self.text.trim().as_bytes()).text(".")
        })
    }

    /// "How many plots are let?" against the 92 of "Plots let: 88 of 92".
    fn whole_for_part(&self, evidence: &Evidence<'_>) -> Option<Message> {
        const ALL: [&str; 6] = ["in all", "in total", "altogether", "overall", "are there", "total"];
        const MANY: [&str; 4] = ["how many", "wie viele", "combien", "cuántos"];
        let all = figures(self.text, evidence.convention);
        let own =
            all.iter().find(|figure| figure.range.start < self.local.end && self.local.start < figure.range.end)?;
        let before =
            all.iter().rfind(|figure| figure.range.end <= own.range.start && figure.role == FigureRole::Value)?;
        let between = part(self.text, before.range.end..own.range.start).trim().to_lowercase();
        let label = part(self.text, ..before.range.start).rsplit(['.', ';']).next()?;
        let (label, _) = label.split_once(':')?;
        let asked = words(&self.question);
        let is_asked = telling(label).iter().any(|word| asked.iter().any(|other| akin(&other.folded, &word.folded)));
        let is_whole = matches!(between.as_str(), "of" | "von" | "sur" | "de" | "out of");
        let is_smaller = before.magnitudes().next()? < own.magnitudes().next()?;
        (is_whole && is_smaller && is_asked && self.holds(&MANY) && !self.holds(&ALL)).then(|| {
            let shown = part(self.text, before.range.start..own.range.end).trim();
            Message::new("The value is the whole, and the question asks for the part: ")
                .quoted(shown.as_bytes())
                .text(".")
        })
    }

    /// "How many volunteers took part?" against the 19 of "32 volunteers (19 women)".
    fn aside(&self, evidence: &Evidence<'_>) -> Option<Message> {
        let all = figures(self.text, evidence.convention);
        let own =
            all.iter().find(|figure| figure.range.start < self.local.end && self.local.start < figure.range.end)?;
        let opens = part(self.text, ..own.range.start).rfind('(')?;
        let inner = part(self.text, opens + 1..).split(')').next()?;
        let before = all.iter().rfind(|figure| figure.range.end <= opens && figure.role == FigureRole::Value)?;
        let noun = telling(part(self.text, before.range.end..opens));
        let asked = words(&self.question);
        let is_asked = |word: &TextWord| asked.iter().any(|other| akin(&other.folded, &word.folded));
        let inside: Vec<TextWord> = telling(inner).into_iter().filter(|word| !word.has_digit()).collect();
        let is_within = opens + 1 + inner.len() >= own.range.end && own.is_of_kind(before);
        let is_larger = before.magnitudes().next()? > own.magnitudes().next()?;
        let is_named = (1..=2).contains(&noun.len()) && noun.iter().all(is_asked);
        let is_of_some = !inside.is_empty() && !inside.iter().any(is_asked);
        (is_within && is_larger && is_named && is_of_some).then(|| {
            let shown = part(self.text, before.range.start..opens + 2 + inner.len()).trim();
            Message::new("The value is of some of those that are asked for: ").quoted(shown.as_bytes()).text(".")
        })
    }

    /// "Who wrote the letter?" against the one to whom it is written.
    fn addressee(&self, name: &str) -> Option<Message> {
        const WRITES: [&str; 8] = [
            "who wrote",
            "who signed",
            "who sent",
            "wer hat unterschrieben",
            "wer schrieb",
            "wer hat geschrieben",
            "qui a signé",
            "qui a écrit",
        ];
        const NO_NAMES: &[&str] = stepscope_base::list![jr sr ii iii iv phd];
        if !self.holds(&WRITES) {
            return None;
        }
        let own = words(name);
        let surname = own.iter().rfind(|word| !NO_NAMES.contains(&word.folded.as_str()))?;
        let is_greeted = |line: &&str| words(line).iter().any(|word| word.folded == surname.folded);
        let line = self.lines().filter(|line| greets(line)).find(is_greeted)?;
        let message = Message::new("The name is that of the addressee: ").quoted(line.trim().as_bytes());
        Some(message.text("."))
    }

    /// "What is the customer's address?" against a line that names the supplier.
    fn other_party(&self) -> Option<Message> {
        /// A definition stands right behind what it names.
        const NEAR: usize = 240;
        let asked = words(&self.question);
        let is_asked = |role: &str| asked.iter().any(|word| word.folded == role);
        let start = self.document.offset(self.line)? + self.local.start;
        let mut own: Option<String> = None;
        let mut is_elsewhere = false;
        for line in 0..self.document.len().min(MAX_LINES) {
            let (Some(text), Some(offset)) = (text_of(self.document, line), self.document.offset(line)) else {
                continue;
            };
            for (at, role) in roles(text) {
                let is_near = offset + at >= start && offset + at < start + NEAR;
                if own.is_none() && is_near {
                    own = Some(role);
                } else {
                    is_elsewhere |= is_asked(&role);
                }
            }
        }
        let own = own.filter(|own| is_elsewhere && !is_asked(own))?;
        let message = Message::new("The question asks of another party than ").quoted(own.as_bytes());
        Some(message.text(", of which the cited line is."))
    }
}

/// The day of a line that says when a document was made: "Dated 3 May 2024", "Graz, 3 May 2024".
fn dateline(line: &str) -> Option<Date> {
    const HEADS: [&str; 7] = ["dated", "date:", "date :", "datum", "fait le", "fait à", "done at"];
    const MAX_PLACE: usize = 3;
    let text = line.trim();
    let days = date::found(text);
    let [day] = days.as_slice() else { return None };
    let date = day.meanings.first().and_then(WrittenDate::whole).filter(|_| day.meanings.len() == 1)?;
    let lower = text.to_lowercase();
    let others = words(part(text, ..day.range.start)).into_iter().chain(words(part(text, day.range.end..)));
    let others: Vec<TextWord> = others.filter(|word| !is_empty_word(&word.folded)).collect();
    // "Graz, 3 May 2024", and not "Pay by 3 May 2024".
    let is_headed = words(part(text, ..day.range.start)).is_empty() || part(text, ..day.range.start).contains(',');
    let is_place = is_headed
        && others.len() <= MAX_PLACE
        && others.iter().all(|word| word.capital && !word.has_digit())
        && !text.contains(':');
    (is_place || HEADS.iter().any(|head| lower.starts_with(head))).then_some(date)
}

/// Tells whether a line greets the one to whom a letter is written.
fn greets(line: &str) -> bool {
    const GREETINGS: &[&str] =
        stepscope_base::list![dear madame monsieur chere cher geehrte geehrter liebe lieber hi hello estimado estimada];
    const MAX_WORDS: usize = 8;
    let own = words(line);
    let first: Vec<&TextWord> = own.iter().take(2).collect();
    own.len() <= MAX_WORDS
        && line.trim_end().ends_with([',', ':', '!'])
        && first.iter().any(|word| GREETINGS.contains(&word.folded.as_str()))
}

/// The roles that a line defines in brackets, each with its byte: `("Supplier")`, `(the Tenant)`.
fn roles(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('(') {
        let Some((inner, _)) = part(text, at + 1..).split_once(')') else { continue };
        let own = words(inner);
        let is_defined =
            inner.contains(['"', '“', '”', '„', '«', '\'', '’']) || own.iter().any(|word| word.folded == "the");
        let mut telling = own.into_iter().filter(|word| {
            !is_empty_word(&word.folded)
                && !matches!(word.folded.as_str(), "together" | "hereinafter" | "hereafter" | "nachfolgend")
        });
        if let (Some(role), None, true) = (telling.next(), telling.next(), is_defined)
            && role.capital
        {
            found.push((at, role.folded));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::{doubted, doubted_at};
    use serde_json::json;

    #[test]
    fn a_document_is_of_its_own_day() {
        let lines = ["Pay by 22 March 2024.", "Dated this 23rd day of February 2024"];
        let day = |iso: &str| json!({"date": {"iso": iso, "original": iso}});
        let question = "When was the order made?";
        assert!(doubted_at(question, &lines, 0, day("2024-03-22")));
        assert!(!doubted_at(question, &lines, 1, day("2024-02-23")));
        assert!(!doubted_at("When is the sum paid?", &lines, 0, day("2024-03-22")));
    }

    #[test]
    fn a_span_has_two_ends() {
        let line = ["Season from 2.12.2023 to 14.4.2024"];
        let day = |iso: &str| json!({"date": {"iso": iso, "original": iso}});
        assert!(doubted("Until when does the season last?", &line, day("2023-12-02")));
        assert!(!doubted("Until when does the season last?", &line, day("2024-04-14")));
        assert!(doubted("When does the season start?", &line, day("2024-04-14")));
        assert!(!doubted("When does the season start?", &line, day("2023-12-02")));
    }

    #[test]
    fn the_addressee_wrote_no_letter() {
        let lines = ["Mr. Cornelius Abernathy III", "Dear Mr. Abernathy:", "Sincerely,", "Ximena Stroud"];
        let name = |name: &str| json!({"person_name": name});
        assert!(doubted_at("Who wrote the letter?", &lines, 0, name("Cornelius Abernathy III")));
        assert!(!doubted_at("Who wrote the letter?", &lines, 3, name("Ximena Stroud")));
        assert!(!doubted_at("Who got the letter?", &lines, 0, name("Cornelius Abernathy III")));
    }

    #[test]
    fn a_party_is_the_one_that_is_asked_for() {
        let lines =
            ["between Ash Ltd, 12 Bay Road, Bristol (\"Supplier\")", "and Elm AS, 8 Fir Street, Bergen (\"Customer\")"];
        let address = |street: &str, city: &str| json!({"address": {"street": street, "city": city}});
        let question = "What is the Customer's address?";
        assert!(doubted_at(question, &lines, 0, address("12 Bay Road", "Bristol")));
        assert!(!doubted_at(question, &lines, 1, address("8 Fir Street", "Bergen")));
    }

    #[test]
    fn a_part_is_not_the_whole_and_net_is_not_gross() {
        let amount = |value: f64, currency: &str| json!({"amount": {"value": value, "currency": currency}});
        let plots = ["Plots let: 88 of 92."];
        assert!(doubted("How many plots are let?", &plots, amount(92.0, "XXX")));
        assert!(!doubted("How many plots are let?", &plots, amount(88.0, "XXX")));
        let group = ["Thirty-two volunteers (19 women) took part."];
        assert!(doubted("How many volunteers took part?", &group, amount(19.0, "XXX")));
        assert!(!doubted("How many volunteers took part?", &group, amount(32.0, "XXX")));
        assert!(!doubted("How many women took part?", &group, amount(19.0, "XXX")));
        let bill = ["Net  £3,411.00", "Total  £4,093.20"];
        let question = "What does the invoice come to including VAT?";
        assert!(doubted_at(question, &bill, 0, amount(3411.0, "GBP")));
        assert!(!doubted_at(question, &bill, 1, amount(4093.2, "GBP")));
    }
}
