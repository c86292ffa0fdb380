//! Verdicts for other programs and people: JSON lines, CSV and Markdown. What comes from data stays text there: no
//! spreadsheet takes a cell for a formula, no viewer a note for a link.

use super::cells;
use super::event::{Event, EventKind, GoldStatus, ItemRef, LabelRef, Text, Verdict};
use super::fold::ItemReviews;
use super::labels::{CurrentLabel, LabelSets};
use super::log_line::{write_part, write_said};
use stepscope_base::json::write::{AnySink, Json, Object, Style};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, is_hidden};
use stepscope_judge::triage::Fix;
use stepscope_redact::Redaction;

/// The columns of the CSV; `import.rs` says which come back.
const COLUMNS: &[&str] = stepscope_base::list![
    id verdict labels note outcome stale reviewer kind fix_target first_bad_step variable place gold_status correction dataset
    row_index side decided event_id item citation sha256
];
/// Signs by which a spreadsheet takes a cell for a formula, in every width in which people and their input methods type
/// them.
const FORMULA: [char; 13] = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−'];
/// Control characters with the same effect, whatever follows them.
const CONTROLS: [char; 3] = ['\t', '\r', '\n'];

/// Joins the names of labels to one text, `;` between them.
fn label_names(labels: &[LabelRef], sets: &LabelSets<'_>) -> Vec<u8> {
    let names: Vec<Text> = labels.iter().flat_map(|label| sets.resolve(label)).map(|label| label.id).collect();
    names.iter().map(Untrusted::bytes).collect::<Vec<_>>().join(&b';')
}

/// Form of the cells of a table.
#[derive(Clone, Debug, Default)]
pub struct CellForm {
    /// With controls as they are.
    pub raw: bool,
    /// Text to take out.
    pub redaction: Redaction,
}

/// Writes the head of the CSV.
pub fn csv_head(out: &mut Vec<u8>) {
    cells::write(COLUMNS, out);
}

/// Writes the rows of an item.
pub fn csv(reviewed: ItemReviews<'_>, sets: &LabelSets<'_>, form: &CellForm, out: &mut Vec<u8>) {
    let item = reviewed.item();
    let bytes = |text: Option<&Text>| text.map(|text| text.bytes().to_vec()).unwrap_or_default();
    let cell = |text: Option<String>| text.map(String::into_bytes).unwrap_or_default();
    let number = |number: Option<u64>| cell(number.map(|number| number.to_string()));
    let outcome = reviewed.outcome();
    for event in reviewed.said() {
        let cells: [Vec<u8>; 22] = [
            bytes(item.id.as_ref()),
            event.verdict.map_or("", Verdict::word).into(),
            label_names(&event.labels, sets),
            bytes(event.note.as_ref()),
            outcome.word().into(),
            if reviewed.is_fresh(&event) { Vec::new() } else { b"stale".to_vec() },
            bytes(Some(&event.reviewer.id)),
            event.kind.word().into(),
            bytes(event.fix_target.as_ref()),
            number(event.first_bad_step),
            bytes(event.variable.as_ref()),
            cell(event.place().map(Shown::into_string)),
            event.gold_status.map_or("", GoldStatus::word).into(),
            bytes(event.correction.as_ref()),
            bytes(item.dataset.as_ref()),
            number(item.row_index),
            bytes(item.side.as_ref()),
            bytes(event.times.decided.as_ref()),
            bytes(Some(&event.event_id)),
            number(event.part.map(|part| part.item)),
            number(event.part.and_then(|part| part.citation)),
            cell(event.seen.content_sha256.map(|content| content.to_string())),
        ];
        cells::write(&cells.map(|cell| inert(&form.redaction.text(&cell), form.raw)), out);
    }
}

/// Makes a cell that no spreadsheet takes for a formula: a quote goes before what could be one.
fn inert(cell: &[u8], raw: bool) -> Vec<u8> {
    let shown = if raw { cell.to_vec() } else { Shown::prose(cell).into_string().into_bytes() };
    if is_active(cell) || is_active(&shown) { [b"'", shown.as_slice()].concat() } else { shown }
}

/// Tells whether a cell could be taken for a formula, or for one that was made inert. Blanks of any kind before a
/// sign, and invisible characters, do not hide it.
fn is_active(cell: &[u8]) -> bool {
    let text = cell.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let sign = text.chars().find(|c| CONTROLS.contains(c) || !(c.is_whitespace() || is_hidden(*c)));
    sign.is_some_and(|sign| FORMULA.contains(&sign) || CONTROLS.contains(&sign)) || text.starts_with('\'')
}

/// Restores the content that the cell had before it was made inert.
pub(super) fn active(cell: &[u8]) -> &[u8] {
    cell.strip_prefix(b"'").filter(|rest| is_active(rest) || begins_shown(rest)).unwrap_or(cell)
}

/// Tells whether a cell begins with the visible form of an invisible character, which hid a formula behind it.
fn begins_shown(cell: &[u8]) -> bool {
    let text = cell.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    text.starts_with("⟨U+") || text.starts_with(|c| ('\u{2400}'..='\u{2426}').contains(&c))
}

/// Writes one JSON object an item, with the question of its record where that is given.
pub fn jsonl(reviewed: ItemReviews<'_>, question: Option<&Shown>, sets: &LabelSets<'_>, out: &mut AnySink) {
    let item = reviewed.item();
    Style::ASCII.line(out, |object| {
        write_item(&item, object);
        object.maybe("question", question);
        object.put("outcome", reviewed.outcome().word());
        object.put("gold_disputed", reviewed.disputes_gold());
        object.list("labels", reviewed.labels(sets).iter().map(|label| &label.id));
        object.objects("events", reviewed.said(), |event, object| {
            object.put("kind", event.kind.word());
            object.put("reviewer", &event.reviewer.id);
            object.maybe("verdict", event.verdict.map(Verdict::word));
            object.put("stale", !reviewed.is_fresh(&event));
            let labels: Vec<CurrentLabel> = event.labels.iter().flat_map(|label| sets.resolve(label)).collect();
            object.filled("labels", &labels, |label, writer| label.id.write(writer));
            write_said(&event, object);
            object.maybe("decided", event.times.decided.as_ref());
            object.put("event_id", &event.event_id);
            if let Some(part) = event.part {
                object.object("part", |object| write_part(part, object));
            }
        });
    });
}

/// Writes a record that nobody reviewed.
pub fn unreviewed(item: &ItemRef, question: Option<&Shown>, outcome: &str, out: &mut AnySink) {
    Style::ASCII.line(out, |object| {
        write_item(item, object);
        object.maybe("question", question).put("outcome", outcome);
    });
}

fn write_item(item: &ItemRef, object: &mut Object<'_>) {
    object.maybe("id", item.id.as_ref()).maybe("dataset", item.dataset.as_ref());
    object.maybe("row_index", item.row_index).maybe("side", item.side.as_ref());
}

/// Describes the verdict of an event, `fail`, or of a part `fail item B (wrong citation)`; `None`: it has none.
fn verdict_phrase(event: &Event, sets: &LabelSets<'_>) -> Option<String> {
    let verdict = event.verdict?.word();
    let Some(part) = event.part else { return Some(verdict.to_owned()) };
    let names: Vec<String> = sets.resolve_all([event]).iter().map(|label| label.name.line().into_string()).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    Some(format!("{verdict} {}{names}", part.phrase()))
}

/// The head of the Markdown table.
pub const MARKDOWN_HEAD: &str =
    "| id | outcome | verdicts | labels | fix | expected answer | note |\n|---|---|---|---|---|---|---|\n";

/// Writes a row of the Markdown table.
pub fn markdown(reviewed: ItemReviews<'_>, sets: &LabelSets<'_>, form: &CellForm, out: &mut Vec<u8>) {
    let item = reviewed.item();
    let events: Vec<Event> = reviewed.said().collect();
    let join = |texts: Vec<Vec<u8>>| {
        let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        texts.join(b", ".as_slice())
    };
    let verdict = |event: &Event| {
        let verdict = verdict_phrase(event, sets)?;
        Some([event.reviewer.id.bytes(), b": ", verdict.as_bytes()].concat())
    };
    let fix = |event: &Event| {
        let step = event.first_bad_step.map(|step| format!(", step {step}")).unwrap_or_default();
        let target = event.fix_target.as_ref()?;
        let known = target.utf8().and_then(Fix::from_word);
        let phrase = known.map_or(target.bytes(), |fix| fix.phrase().as_bytes());
        Some([phrase, step.as_bytes()].concat())
    };
    let gold = |event: &Event| event.gold_status.map(|status| status.phrase().into());
    let note = |event: &Event| {
        let note = event.note.as_ref()?.bytes();
        let place = event.place().map(|place| format!("on {place}: ")).unwrap_or_default();
        Some([place.as_bytes(), note].concat())
    };
    let judged = || events.iter().filter(|event| event.kind != EventKind::Note || event.part.is_some());
    let cells = [
        item.name().bytes().to_vec(),
        reviewed.outcome().word().into(),
        join(judged().filter_map(verdict).collect()),
        join(reviewed.labels(sets).iter().map(|label| label.name.bytes().to_vec()).collect()),
        join(judged().filter_map(fix).collect()),
        join(judged().filter_map(gold).collect()),
        join(events.iter().filter_map(note).collect()),
    ];
    out.push(b'|');
    for cell in cells {
        out.push(b' ');
        plain_markdown(&form.redaction.text(&cell), form.raw, out);
        out.extend_from_slice(b" |");
    }
    out.push(b'\n');
}

/// Writes text into a cell of a table, so that nothing of it is taken for Markdown or HTML. Signs that mean nothing
/// there are left to be read.
fn plain_markdown(text: &[u8], raw: bool, out: &mut Vec<u8>) {
    let shown = if raw { text.to_vec() } else { Shown::prose(text).into_string().into_bytes() };
    for (n, &byte) in shown.iter().enumerate() {
        let after = shown.get(n + 1).copied().unwrap_or(b' ');
        match byte {
            b'\n' | b'\r' => out.push(b' '),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            // `http://`, `:smile:` and `www.`; not `ada: fail`.
            b':' if after.is_ascii_whitespace() => out.push(byte),
            b'.' if !shown.get(n.saturating_sub(3)..n).is_some_and(|before| before.eq_ignore_ascii_case(b"www")) => {
                out.push(byte);
            }
            b':' | b'.' | b'!' | b'#' | b'$' | b'*' | b'>' | b'@' | b'['..=b'`' | b'|' | b'~' => {
                out.extend_from_slice(&[b'\\', byte]);
            }
            _ => out.push(byte),
        }
    }
}

/// Widths of the columns of a list for people; a column of no width is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    /// The id.
    pub name: usize,
    /// The question.
    pub question: usize,
}

impl Columns {
    /// Writes one line: the id, the outcome, the question, and what there is to tell.
    pub fn line(self, name: &Shown, outcome: &str, question: Option<Shown>, said: &Shown) -> Shown {
        let width = self.name;
        let line = shown!("{name:width$}  {outcome:8}  ");
        let width = self.question;
        let question = question.unwrap_or_default();
        if width == 0 { line.join(said) } else { line.join(&shown!("{question:width$}  ")).join(said) }
    }
}

/// Writes one line for people.
pub fn text(reviewed: ItemReviews<'_>, question: Option<Shown>, sets: &LabelSets<'_>, columns: Columns) -> Shown {
    let name = reviewed.item().name().line().cut(60);
    let outcome = reviewed.outcome();
    let labels: Vec<String> = reviewed.labels(sets).iter().map(|label| label.name.line().into_string()).collect();
    let mut parts = Vec::new();
    if !labels.is_empty() {
        parts.push(labels.join(", "));
    }
    for event in reviewed.said() {
        let said = match (event.kind, verdict_phrase(&event, sets)) {
            (EventKind::Adjudicate, Some(verdict)) => format!("{} decided {verdict}", event.reviewer.id.line()),
            (_, Some(verdict)) => format!("{} {verdict}", event.reviewer.id.line()),
            _ => format!("{} notes", event.reviewer.id.line()),
        };
        let mut said = if reviewed.is_fresh(&event) { said } else { format!("{said} (out of date)") };
        if let Some(target) = &event.fix_target {
            said = format!("{said}, fix: {}", Fix::phrase_of(target));
        }
        if let Some(step) = event.first_bad_step {
            said = format!("{said}, step {step}");
        }
        if let Some(status) = event.gold_status {
            said = format!("{said}, expected answer {}", status.word());
        }
        if let Some(note) = &event.note {
            let place = event.place().map(|place| format!(" on {place}")).unwrap_or_default();
            said = format!("{said}{place}: {}", note.line().cut(80));
        }
        parts.push(said);
    }
    columns.line(&name, outcome.word(), question, &shown!("{}", parts.join(" · ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{AnswerPart, Reviewer};
    use crate::fold::Reviews;
    use crate::import::import;
    use crate::testing::{item, label};
    use csv::ReaderBuilder;

    /// Builds a review log with one failed item.
    fn reviews(id: &str, note: &str) -> Reviews {
        let mut event = Event::verdict(Reviewer::person("ada"), item(id), Verdict::Fail);
        event.event_id = "e".into();
        event.labels = ["slip", "a|b"].map(label).into();
        event.note = Some(Text::from(note.to_owned()));
        let mut reviews = Reviews::default();
        reviews.push(event);
        reviews
    }

    fn raw() -> CellForm {
        CellForm { raw: true, ..CellForm::default() }
    }

    fn written(reviews: &Reviews, write: impl Fn(ItemReviews<'_>, &LabelSets<'_>, &mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        for reviewed in reviews.items() {
            write(reviewed, &reviews.label_sets(), &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_quote_before_a_visible_form_does_not_come_back() {
        for (cell, shown) in [("\t=tab", "␉=tab"), ("\u{200b}=1+1", "⟨U+200B⟩=1+1"), ("=1", "=1"), ("a=1", "a=1")]
        {
            assert_eq!(std::str::from_utf8(active(&inert(cell.as_bytes(), false))).unwrap(), shown);
        }
    }

    #[test]
    fn no_cell_is_a_formula_and_all_come_back() {
        for id in [
            "=1+1",
            "+7",
            "-7",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            " =1",
            "'=1",
            "'",
            "a=1",
            "x,\"y\"\nz",
            "-",
            "＝1+1",
            "＋7",
            "－7",
            "＠SUM(A1)",
            "\u{a0}=1",
            "\u{3000}＝1",
            "\u{2003}\u{a0} +1",
            "\u{200b}=1",
            "\u{feff}@x",
            "﹦1",
            "−1",
        ] {
            let reviews = reviews(id, "=HYPERLINK(\"http://x\")");
            let mut text = Vec::new();
            csv_head(&mut text);
            text.extend_from_slice(written(&reviews, |one, sets, out| csv(one, sets, &raw(), out)).as_bytes());
            let mut reader = ReaderBuilder::new().from_reader(text.as_slice());
            for record in reader.byte_records() {
                for cell in &record.unwrap() {
                    let cell = std::str::from_utf8(cell).unwrap();
                    let first = cell.chars().find(|c| !c.is_whitespace() && !is_hidden(*c));
                    assert!(!first.is_some_and(|sign| FORMULA.contains(&sign)), "{id:?} gives {cell:?}");
                }
            }
            let rows = import(&text).unwrap().rows;
            let expected = [id, "fail", "slip;a|b", "=HYPERLINK(\"http://x\")"].map(|cell| Text::from(cell.to_owned()));
            assert_eq!(rows[0].as_ref().unwrap().cells, expected, "{id:?}");
        }
    }

    #[test]
    fn controls_are_shown_unless_they_are_wanted() {
        let reviews = reviews("a\u{1b}[31m", "\u{202e}x");
        let shown = written(&reviews, |one, sets, out| csv(one, sets, &CellForm::default(), out));
        assert!(shown.starts_with("a␛[31m,fail,slip;a|b,⟨U+202E⟩x,fail,,ada,verdict,"), "{shown}");
        assert!(written(&reviews, |one, sets, out| csv(one, sets, &raw(), out)).contains('\u{1b}'));
        for inert in [
            written(&reviews, |one, sets, out| markdown(one, sets, &CellForm::default(), out)),
            written(&reviews, |one, sets, out| jsonl(one, None, sets, out)),
            text(reviews.items().next().unwrap(), None, &reviews.label_sets(), Columns::default()).into_string(),
        ] {
            assert!(inert.chars().all(|c| c == '\n' || !stepscope_base::text::is_hidden(c)), "{inert}");
        }
    }

    #[test]
    fn no_note_is_markdown() {
        let reviews = reviews("a", "![x](http://x) <b> | `c` &amp; *d*\n# e");
        let row = written(&reviews, |one, sets, out| markdown(one, sets, &CellForm::default(), out));
        let expected =
            r"| a | fail | ada: fail | a\|b, slip |  |  | \!\[x\](http\://x) &lt;b\> \| \`c\` &amp;amp; \*d\* \# e |";
        assert_eq!(row.trim_end(), expected);
    }

    #[test]
    fn people_read_the_phrase_of_a_place_to_fix_and_programs_its_word() {
        for (target, phrase) in [("step_run", "model output"), ("gold", "expected answer"), ("mine", "mine")] {
            let mut reviews = Reviews::default();
            let event = Event::verdict(Reviewer::person("ada"), item("a"), Verdict::Fail);
            let event = Event { event_id: "e".into(), ..event };
            reviews.push(Event { fix_target: Some(target.into()), first_bad_step: Some(2), ..event });
            let row = written(&reviews, |one, sets, out| markdown(one, sets, &CellForm::default(), out));
            assert!(row.contains(&format!(r"| {phrase}, step 2 |")), "{row}");
            let line = text(reviews.items().next().unwrap(), None, &reviews.label_sets(), Columns::default());
            assert!(line.as_str().contains(&format!("fix: {phrase}, step 2")), "{line}");
            for exact in [
                written(&reviews, |one, sets, out| csv(one, sets, &CellForm::default(), out)),
                written(&reviews, |one, sets, out| jsonl(one, None, sets, out)),
            ] {
                assert!(exact.contains(target), "{exact}");
            }
        }
    }

    #[test]
    fn a_part_of_an_answer_is_no_verdict_on_the_whole() {
        let mut reviews = reviews("a", "n");
        let mut event = reviews.events().next().unwrap();
        (event.event_id, event.kind, event.note) = ("p".into(), EventKind::Note, None);
        event.part = Some(AnswerPart { item: 1, citation: None });
        event.labels.truncate(1);
        reviews.push(event);
        let row = written(&reviews, |one, sets, out| markdown(one, sets, &CellForm::default(), out));
        assert!(row.contains(r"| ada: fail, ada: fail item B (slip) |"), "{row}");
        let mut text = Vec::new();
        csv_head(&mut text);
        text.extend_from_slice(
            written(&reviews, |one, sets, out| csv(one, sets, &CellForm::default(), out)).as_bytes(),
        );
        let parts: Vec<_> = import(&text).unwrap().rows.into_iter().map(|row| row.unwrap().part).collect();
        assert_eq!(parts, [["", ""], ["1", ""]].map(|cells| cells.map(Text::from)));
        let others = import(b"id,verdict,item\n7,pass,apple\n").unwrap();
        assert_eq!(others.ignored, ["item"]);
        assert_eq!(others.rows[0].as_ref().unwrap().part, ["", ""].map(Text::from), "a column of another meaning");
    }

    #[test]
    fn json_lines_hold_what_counts_and_who_said_it() {
        let reviews = reviews("a", "n");
        let json: serde_json::Value =
            serde_json::from_str(&written(&reviews, |one, sets, out| jsonl(one, None, sets, out))).unwrap();
        assert_eq!(
            (&json["outcome"], &json["labels"][0], &json["events"][0]["note"]),
            (&"fail".into(), &"a|b".into(), &"n".into())
        );
    }
}
