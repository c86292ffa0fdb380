//! Values against what their types mean: days that exist, currencies, tables, and zeros that the document does not
//! hold.

use super::Report;
use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::python::Message;
use stepscope_base::text::Untrusted;
use stepscope_evidence::currency;
use stepscope_evidence::date::{Date, NoDate, written};
use stepscope_evidence::typed::AnswerItem;
use stepscope_record::finding::{Findings, Place};
use stepscope_record::rule_id::RuleId;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::DateNotIso8601,
        summary: "date not written YYYY-MM-DD",
        explanation: "`iso` is a day as ISO 8601 writes it. A month alone (`2004-02`), a time after the day or another order \
            cannot be sorted or compared. If the document gives no day, the question for a day has no answer.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"date": {"iso": "2004-02", "original": "February 2004"}, "spans": [{"line_start": 10, "line_end": 10}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "items": [{"date": {"iso": "2004-02-17", "original": "February 17, 2004"}, "spans": [{"line_start": 10, "line_end": 10}]}]}"#,
        check: |case, findings| {
            let help = "Write the day as YYYY-MM-DD; if the document gives no day, answer na with a caveat.";
            let mut report = Report::new(RuleId::DateNotIso8601, help, findings);
            for date in dates(case) {
                if Date::iso(date.text.bytes()) == Err(NoDate::Form) {
                    let message =
                        Message::default().quoted(date.text.bytes()).text(" is not a date of the form YYYY-MM-DD.");
                    report.add(message, Place::Value(date.pointer.then("iso")));
                }
            }
        },
    },
    Rule {
        id: RuleId::DateImpossible,
        summary: "day does not exist",
        explanation: "The form is right, but the day does not exist: February 30, month 13. Mostly day and month are swapped, \
            or a digit is misread.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"date": {"iso": "2024-15-03", "original": "15/03/2024"}, "spans": [{"line_start": 10, "line_end": 10}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "items": [{"date": {"iso": "2024-03-15", "original": "15/03/2024"}, "spans": [{"line_start": 10, "line_end": 10}]}]}"#,
        check: |case, findings| {
            let mut report = Report::new(RuleId::DateImpossible, "Read the date in the document again.", findings);
            for date in dates(case) {
                if Date::iso(date.text.bytes()) == Err(NoDate::Impossible) {
                    let message = Message::new("The calendar has no day ").text(date.text.bytes()).text(".");
                    report.add(message, Place::Value(date.pointer.then("iso")));
                }
            }
        },
    },
    Rule {
        id: RuleId::DateOriginalDisagrees,
        summary: "ISO date and original name different days",
        explanation: "`original` is the date as the document writes it, and it names another day than `iso`. stepscope reads \
            many forms and languages; `03/04/2024` may be either day; a text that it cannot read, or that counts days from \
            a date, is not compared. Computed answers are not checked.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"date": {"iso": "2024-03-16", "original": "15 March 2024"}, "spans": [{"line_start": 7, "line_end": 7}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "items": [{"date": {"iso": "2024-03-15", "original": "15 March 2024"}, "spans": [{"line_start": 7, "line_end": 7}]}]}"#,
        check: check_original,
    },
    Rule {
        id: RuleId::CurrencyNotIso4217,
        summary: "currency is not an ISO 4217 code",
        explanation: "People understand `$`, `usd` and `Euro`; programs add and convert amounts by the three-letter code in \
            capitals. Codes of the past (DEM) count.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 250, "currency": "US$"}, "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 250, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        check: |case, findings| {
            let help = "Write the three-letter code of ISO 4217 in capitals.";
            let mut report = Report::new(RuleId::CurrencyNotIso4217, help, findings);
            for (_, amount, pointer) in valued(case, "amount", "currency") {
                let Some(code) = amount.get("currency").and_then(Value::string) else { continue };
                if !currency::is_code(code.bytes()) {
                    let message = Message::default().quoted(code.bytes()).text(" is not a currency code of ISO 4217");
                    let message = match code.utf8().and_then(currency::meant) {
                        Some(meant) => message.text(", perhaps ").text(meant),
                        None => message,
                    };
                    report.add(message.text("."), Place::Value(pointer.then("currency")));
                }
            }
        },
    },
    Rule {
        id: RuleId::PhantomZeroSuspected,
        summary: "amount of zero not found in document",
        explanation: "A schema that requires a number gets one, and if the document has none, that is zero. An amount of 0 is \
            suspect if neither the quotes nor the cited lines say 0, zero, nil, none, no, free or waived.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 0, "currency": "USD"}, "spans": [{"line_start": 13, "line_end": 13, "quote": "pricing is negotiated case by case"}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 0, "currency": "USD"}, "spans": [{"line_start": 13, "line_end": 13, "quote": "The agency fee is waived."}]}]}"#,
        check: check_zero,
    },
    Rule {
        id: RuleId::TableNotRectangular,
        summary: "table row with too few or too many cells",
        explanation: "A row that is shorter or longer shifts its cells under the wrong headers, and nothing tells which cell \
            is missing. Mostly a merged or an empty cell is lost.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"table": {"headers": ["Cover", "Limit"], "rows": [["Building", "USD 400,000"], ["Contents"]]}, "spans": [{"line_start": 29, "line_end": 30}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "items": [{"table": {"headers": ["Cover", "Limit"], "rows": [["Building", "USD 400,000"], ["Contents", ""]]}, "spans": [{"line_start": 29, "line_end": 30}]}]}"#,
        check: check_table,
    },
];

/// The values of one type, each with its item and its place; `sign` is the key by which a field of another dialect is
/// known to be of it.
fn valued<'s, 'a>(
    case: &'s CaseView<'a>,
    kind: &'static str,
    sign: &'static str,
) -> impl Iterator<Item = (&'s AnswerItem<'a>, Value<'a>, Pointer)> {
    case.items().iter().filter_map(move |item| {
        let (key, value) = item.value.as_ref().filter(|(_, value)| value.kind() == Kind::Object)?;
        let is_it = *key == kind || (item.field.is_some() && value.get(sign).is_some());
        is_it.then(|| item.value_pointer()).flatten().map(|pointer| (item, *value, pointer))
    })
}

/// An ISO date as it is written.
struct Iso<'a> {
    text: Untrusted<'a>,
    value: Value<'a>,
    pointer: Pointer,
}

fn dates<'a>(case: &CaseView<'a>) -> impl Iterator<Item = Iso<'a>> {
    valued(case, "date", "iso").filter_map(|(_, value, pointer)| {
        let text = value.get("iso")?.string()?;
        Some(Iso { text, value, pointer })
    })
}

fn check_original(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(typed) = case.typed() else { return };
    if typed.base("extraction_method").is_some_and(|method| method.is_string("computed")) {
        return;
    }
    let mut report = Report::new(RuleId::DateOriginalDisagrees, "Read the date in the document again.", findings);
    for date in dates(case) {
        let Some(original) = date.value.get("original").and_then(Value::string) else { continue };
        // A day that the calendar does not have names a year, a month and a day all the same.
        let (Some(iso), Some(text)) = (Date::spelled(date.text.bytes()), original.utf8()) else { continue };
        let meant = written(text);
        if !meant.is_empty() && !meant.iter().any(|meant| meant.agrees(iso)) {
            let message = Message::default().text(date.text.bytes()).text(" is not the day that ");
            let message = message.quoted(original.bytes()).text(" names.");
            report.add(message, Place::Value(date.pointer.then("iso")));
        }
    }
}

fn check_zero(case: &CaseView<'_>, findings: &mut Findings) {
    let help = "Check the cited lines: if they give no amount, answer na with a caveat.";
    let mut report = Report::new(RuleId::PhantomZeroSuspected, help, findings);
    for (item, amount, pointer) in valued(case, "amount", "currency") {
        let is_zero = amount.get("value").and_then(number).is_some_and(|value| value == 0.0);
        if is_zero && !stands_there(case, item) {
            report.add(
                "The amount is 0, but neither the quote nor a cited line says so.",
                Place::Value(pointer.then("value")),
            );
        }
    }
}

fn number(value: Value<'_>) -> Option<f64> {
    value.float().or_else(|| value.string()?.utf8()?.trim().parse().ok())
}

/// Tells whether a quote of the item or one of its cited lines says zero; without a quote, also the adjacent lines.
fn stands_there(case: &CaseView<'_>, item: &AnswerItem<'_>) -> bool {
    /// More lines than that are no citation of one amount.
    const MAX_LINES: usize = 200;
    item.citations.iter().any(|citation| {
        let quote = citation.quote.and_then(Value::string);
        let cited = case.document().and_then(|document| {
            let lines = case.meant_lines(citation)?;
            // A number that is off by one has no quote to tell.
            let beside = usize::from(quote.is_none());
            let first = lines.start.saturating_sub(beside);
            let end = lines.end.saturating_add(beside).min(first.saturating_add(MAX_LINES));
            Some(says_zero(document.text(first..end)))
        });
        quote.is_some_and(|quote| says_zero(quote.bytes())) || cited == Some(true)
    })
}

/// Tells whether a text names the number zero, or says that there is nothing to pay.
fn says_zero(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] =
        [b"zero", b"nil", b"none", b"nothing", b"free", b"waived", b"nought", b"keine", b"kostenlos"];
    /// `no amount is given` does not say zero.
    const UNSAID: [&[u8]; 10] =
        [b"amount", b"price", b"figure", b"value", b"sum", b"limit", b"fixed", b"specific", b"specified", b"later"];
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let is_in = |word: &[u8], list: &[&[u8]]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut words = text.split(|byte| !is_word(byte)).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let no = word.eq_ignore_ascii_case(b"no") && words.peek().is_some_and(|next| !is_in(next, &UNSAID));
        if no || is_in(word, &WORDS) {
            return true;
        }
    }
    let numbers = text.split(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b','));
    numbers.into_iter().any(|word| {
        let mut digits = word.iter().filter(|byte| !matches!(byte, b'.' | b',')).peekable();
        digits.peek().is_some() && digits.all(|digit| *digit == b'0')
    })
}

fn check_table(case: &CaseView<'_>, findings: &mut Findings) {
    let help = "Give every row one cell per header; write an empty text for an empty cell.";
    let mut report = Report::new(RuleId::TableNotRectangular, help, findings);
    for (_, table, pointer) in valued(case, "table", "headers") {
        let headers = table.get("headers").filter(|headers| headers.kind() == Kind::Array).map_or(0, Value::len);
        let rows = table.get("rows").into_iter().flat_map(Value::items).enumerate();
        let mut rows = rows.filter(|(_, row)| row.kind() == Kind::Array).map(|(n, row)| (n, row.len())).peekable();
        // Without headers the first row says how wide the table is.
        let width = if headers > 0 { headers } else { rows.peek().map_or(0, |(_, cells)| *cells) };
        let place = |n: usize| Place::Value(pointer.then("rows").then(n));
        let mut ragged = rows.filter(|(_, cells)| *cells != width);
        if let Some((n, cells)) = ragged.next() {
            let message =
                Message::new("Row ").number(n + 1).text(" has ").number(cells).text(" cells, but the table has ");
            let message = message.number(width).text(" columns.");
            let more = ragged.count();
            let message = if more > 0 { message.text(" ").number(more).text(" more like it.") } else { message };
            report.add(message, place(n));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_quote_says_zero_wherever_the_number_leads() {
        let said = |line: usize, quote: &str| {
            let text = format!(
                r#"{{"format": "stepscope.answer_trace", "document": {{"lines": ["Cover", "Limit: USD 5", "Limits", "Deductible for theft: USD 0"]}},
                "answer": {{"answer_found": true, "items": [{{"amount": {{"value": 0, "currency": "USD"}},
                "spans": [{{"line_start": {line}, "line_end": {line}, "quote": "{quote}"}}]}}]}}}}"#
            );
            let case = crate::case::Case::read(text.as_bytes());
            let mut findings = Findings::new();
            check_zero(&case.view(), &mut findings);
            findings.len()
        };
        assert_eq!(said(3, "Deductible for theft"), 0);
        assert_eq!(said(1, "Deductible for theft"), 0);
        assert_eq!(said(3, "Limit: USD 5"), 1, "the quote stands elsewhere");
    }

    #[test]
    fn zero_is_said_in_numbers_and_words() {
        for text in [
            "USD 0",
            "0.00",
            "Deductible: $0,000.",
            "NIL",
            "No fee is due",
            "free of charge",
            "-0-",
            "gebührenfrei: 0 EUR",
        ] {
            assert!(says_zero(text.as_bytes()), "{text}");
        }
        for text in [
            "USD 1,200",
            "no amount is given",
            "100",
            "10.0",
            "A0",
            "note",
            "pricing is negotiated case by case",
            "",
            "...",
        ] {
            assert!(!says_zero(text.as_bytes()), "{text}");
        }
    }
}
