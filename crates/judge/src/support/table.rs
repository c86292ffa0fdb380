//! Tables: every cell, the line of every row, and the rows that are left out.

use std::ops::Range;

use super::claim::{Claimed, Passage, place_word};
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::date;
use stepscope_evidence::date::Date;
use stepscope_evidence::figures::{Figure, FigureRole, figures};
use stepscope_evidence::wording::{TextWord, akin, is_empty_word, sequence, words};

/// Number of rows that are compared.
const MAX_ROWS: usize = 400;
/// Number of cells of a row that are compared.
const MAX_CELLS: usize = 40;
/// Number of cited lines that are compared with rows.
const MAX_LINES: usize = 600;

/// A cited line.
struct TableLine<'p> {
    passage: &'p Passage<'p>,
    /// Bytes of the passage.
    range: Range<usize>,
    text: &'p str,
    words: Vec<TextWord>,
    figures: Vec<Figure>,
    /// Number of figures that are values.
    count: usize,
}

/// Compares a table with what its item cites.
pub(super) fn compare(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer) {
    let evidence = claimed.evidence;
    let mut lines: Vec<TableLine<'_>> = Vec::new();
    for passage in &evidence.lines {
        let mut at = 0;
        for text in passage.text.split('\n') {
            let range = at..at + text.len();
            at += text.len() + 1;
            if text.trim().is_empty() || lines.len() >= MAX_LINES {
                continue;
            }
            let own = figures(text, evidence.convention);
            let count = own.iter().filter(|figure| figure.role == FigureRole::Value).count();
            lines.push(TableLine { passage, range, text, words: words(text), figures: own, count });
        }
    }
    let headers = value.get("headers").map_or_else(Vec::new, cells);
    let rows: Vec<Vec<String>> = value
        .get("rows")
        .into_iter()
        .flat_map(Value::items)
        .take(MAX_ROWS)
        .filter(|row| row.kind() == Kind::Array)
        .map(cells)
        .collect();
    let at = |row: usize, cell: usize| pointer.then("rows").then(row).then(cell);
    let mut used: Vec<Option<usize>> = Vec::new();
    let before = claimed.found.faults.len();
    for (n, row) in rows.iter().enumerate() {
        let line = lines.iter().position(|line| row.iter().all(|cell| in_line(cell, line).is_some()));
        if let Some(line) = line.and_then(|line| lines.get(line)) {
            let places: Vec<Range<usize>> =
                row.iter().filter_map(|cell| in_line(cell, line)).filter(|range| !range.is_empty()).collect();
            for range in places {
                claimed.stands(line.passage, line.range.start + range.start..line.range.start + range.end);
            }
        } else {
            for (c, cell) in row.iter().enumerate() {
                if !lines.iter().any(|line| in_line(cell, line).is_some())
                    && !in_text(cell, claimed)
                    && !claimed.stands_unspaced(cell)
                {
                    let message = Message::new("The cell ")
                        .quoted(cell.as_bytes())
                        .text(" is not in ")
                        .text(place_word(evidence))
                        .text(".");
                    claimed.miss(at(n, c), message);
                }
            }
        }
        used.push(line);
    }
    if claimed.found.faults.len() > before || evidence.document.is_none() {
        return;
    }
    let on_one_line = used.iter().flatten().count();
    // Where rows stand on lines, a row that does not is made of several.
    if on_one_line > 0 {
        for (n, row) in rows.iter().enumerate().filter(|(n, _)| used.get(*n) == Some(&None)) {
            if is_wrapped(row, &lines) {
                continue;
            }
            let message =
                Message::new("No cited line holds the whole row ").quoted(row.join(" | ").as_bytes()).text(".");
            claimed.miss(pointer.then("rows").then(n), message);
        }
    } else if rows.len() > 1 {
        for (n, row) in rows.iter().enumerate() {
            if let Some(message) = exchanged(row, &lines) {
                claimed.miss(pointer.then("rows").then(n), message);
            }
        }
    }
    let faults = claimed.found.faults.len();
    misplaced(claimed, &headers, &rows, (&used, &lines), &pointer);
    if claimed.found.faults.len() > faults {
        return;
    }
    swapped(claimed, &headers, &rows, (&used, &lines), &pointer);
    left_out(claimed, &rows, (&used, &lines), &headers, &pointer);
}

fn cells(row: Value<'_>) -> Vec<String> {
    let text = |cell: Value<'_>| match cell.string() {
        Some(text) => text.readable().trim().to_owned(),
        None if cell.is_null() => String::new(),
        None => String::from_utf8_lossy(cell.raw()).into_owned(),
    };
    row.items().take(MAX_CELLS).map(text).collect()
}

/// Finds a cell in a line: its words one after another, or a number or date of its value. An empty cell stands anywhere.
fn in_line(cell: &str, line: &TableLine<'_>) -> Option<Range<usize>> {
    let own = words(cell);
    if own.is_empty() {
        // A dash, or nothing.
        return Some(0..0);
    }
    // What stands there letter by letter needs no reading.
    if let Some(range) = literal(cell, line.text) {
        return Some(range);
    }
    let wanted: Vec<&TextWord> = own.iter().collect();
    if let Some(time) = clock(cell) {
        let mut times = line.text.match_indices(':').filter_map(|(at, _)| clock_around(line.text, at));
        return times.find(|(there, _)| *there == time).map(|(_, range)| range);
    }
    let cell_figures = figures(cell, stepscope_evidence::figures::Convention::of([line.text]));
    let is_number = !cell_figures.is_empty() && own.iter().all(|word| word.has_digit() || word.folded.len() <= 4);
    if !is_number && let Some(range) = sequence(&wanted, &line.words) {
        return Some(line.words.get(range.start)?.range.start..line.words.get(range.end - 1)?.range.end);
    }
    let day = Date::iso(cell.as_bytes())
        .ok()
        .or_else(|| date::found(cell).iter().find_map(|one| one.meanings.iter().find_map(date::WrittenDate::whole)));
    if let Some(day) = day {
        return date::found(line.text)
            .into_iter()
            .find(|one| one.meanings.iter().any(|meaning| meaning.has_day() && meaning.agrees(day)))
            .map(|one| one.range);
    }
    if is_number {
        let cell_figure = cell_figures.last()?;
        let there = line.figures.iter().find(|there| {
            let same = cell_figure.values().iter().any(|value| there.values().contains(value));
            let raw = cell_figure.readings.iter().any(|value| there.readings.contains(value))
                && cell_figure.sign == there.sign
                && cell_figure.scale == there.scale;
            let currency = !cell_figure.is_money()
                || !there.is_money()
                || cell_figure.currency.iter().any(|code| there.currency.contains(code));
            let percent = !cell_figure.percent || there.percent || there.is_bare();
            let unit = match (cell_figure.measure, there.measure) {
                (Some(a), Some(b)) => a == b,
                (Some(_), None) => !there.is_money() && !there.percent,
                _ => true,
            };
            (same || raw) && currency && percent && unit
        });
        if let Some(there) = there {
            return Some(there.range.clone());
        }
        // Codes: "A4", "12-b"
        let is_code =
            own.len() > 1 || own.iter().any(|word| word.folded.bytes().any(|byte| byte.is_ascii_alphabetic()));
        if is_code && cell_figures.iter().all(|figure| figure.role == FigureRole::Label) {
            let range = sequence(&wanted, &line.words)?;
            return Some(line.words.get(range.start)?.range.start..line.words.get(range.end - 1)?.range.end);
        }
        return None;
    }
    // The words may stand apart in a wide cell.
    let telling: Vec<&&TextWord> = wanted.iter().filter(|word| !is_empty_word(&word.folded)).collect();
    let stands = |word: &&&TextWord| {
        line.words.iter().any(|other| {
            if word.has_digit() || word.capital {
                other.folded == word.folded
            } else {
                akin(&word.folded, &other.folded)
            }
        })
    };
    (!telling.is_empty() && telling.iter().all(stands)).then_some(0..0)
}

/// Finds a cell in a line as it is written, not inside of a longer word or number.
fn literal(cell: &str, line: &str) -> Option<Range<usize>> {
    let free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !"-−–(.,'’:/".contains(c));
    let ends = |mut rest: std::str::Chars<'_>| match rest.next() {
        Some('.' | ',' | '\'' | '’' | ':' | '/' | '-') => rest.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(c) => !c.is_alphanumeric() && !"%‰)".contains(c),
        None => true,
    };
    let mut found = line.match_indices(cell).map(|(at, _)| at..at + cell.len());
    found.find(|range| {
        free(line.get(..range.start).and_then(|before| before.chars().next_back()))
            && line.get(range.end..).is_some_and(|rest| ends(rest.chars()))
    })
}

/// A time of day, in hours and minutes.
fn clock(text: &str) -> Option<(u32, u32)> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() <= 2);
    Some((number(hours)?, number(minutes).filter(|_| minutes.len() == 2)?))
}

/// The time of day around a colon, and its bytes.
fn clock_around(text: &str, colon: usize) -> Option<((u32, u32), Range<usize>)> {
    let digits = |text: &mut dyn Iterator<Item = u8>| text.take_while(u8::is_ascii_digit).count();
    let before = digits(&mut text.get(..colon)?.bytes().rev());
    let behind = digits(&mut text.get(colon + 1..)?.bytes());
    let range = colon - before..colon + 1 + behind;
    Some((clock(text.get(range.clone())?)?, range))
}

/// Tells whether a cell stands in the cited text as a whole, over line ends.
fn in_text(cell: &str, claimed: &Claimed<'_>) -> bool {
    let own = words(cell);
    let wanted: Vec<&TextWord> = own.iter().collect();
    claimed.evidence.passages().any(|passage| sequence(&wanted, &words(passage.text)).is_some())
}

/// Tells whether the cells of a row stand on two adjacent lines of which neither is a row of its own.
fn is_wrapped(row: &[String], lines: &[TableLine<'_>]) -> bool {
    lines.windows(2).any(|pair| {
        let [first, second] = pair else { return false };
        let holds = row.iter().all(|cell| in_line(cell, first).is_some() || in_line(cell, second).is_some());
        // A row of its own has a label and numbers.
        holds && (first.count == 0 || second.count == 0 || second.words.iter().all(TextWord::has_digit))
    })
}

/// Says so if the label of a row stands on one line only, and its numbers on another line with a label of its own.
fn exchanged(row: &[String], lines: &[TableLine<'_>]) -> Option<Message> {
    let label = row.first().filter(|label| !words(label).is_empty())?;
    let mut of_label = lines.iter().filter(|line| in_line(label, line).is_some());
    let line = of_label.next()?;
    if of_label.next().is_some() || line.count == 0 {
        return None;
    }
    let cell = row.get(1..)?.iter().find(|cell| in_line(cell, line).is_none())?;
    let other = lines.iter().find(|other| in_line(cell, other).is_some() && other.count == line.count)?;
    let has_label = other.words.iter().any(|word| !word.has_digit());
    has_label.then(|| {
        Message::default().quoted(cell.as_bytes()).text(" is not on the line of ").quoted(label.as_bytes()).text(".")
    })
}

/// The columns of a line that bars, tabs or wide gaps part.
fn columns(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = if text.contains('|') {
        text.trim().trim_matches('|').split('|').collect()
    } else if text.contains('\t') {
        text.split('\t').collect()
    } else {
        text.trim().split("  ").filter(|part| !part.trim().is_empty()).collect()
    };
    parts.into_iter().map(str::trim).collect()
}

/// Compares each cell with the column of its heading, where a line of headings has as many columns as the row.
fn misplaced(
    claimed: &mut Claimed<'_>,
    headers: &[String],
    rows: &[Vec<String>],
    (used, lines): (&[Option<usize>], &[TableLine<'_>]),
    pointer: &Pointer,
) {
    let folded = |text: &str| words(text).into_iter().map(|word| word.folded).collect::<Vec<_>>();
    let wanted: Vec<Vec<String>> = headers.iter().map(|header| folded(header)).collect();
    let all = lines.iter().map(|line| line.text).chain(claimed.evidence.around.iter().copied());
    let heading = all.into_iter().find_map(|text| {
        let own: Vec<Vec<String>> = columns(text).into_iter().map(folded).collect();
        let at: Vec<Option<usize>> =
            wanted.iter().map(|header| own.iter().position(|column| column == header && !header.is_empty())).collect();
        // The first heading may be left empty in the document.
        let found = at.iter().flatten().count();
        // Above the labels of the rows nothing may stand.
        let is_indented = text.starts_with(' ') && !text.contains('|');
        (own.len() >= 2 && found >= 1 && found + 1 >= wanted.len()).then_some((own.len(), at, is_indented))
    });
    let Some((count, at, is_indented)) = heading else { return };
    for (n, row) in rows.iter().enumerate() {
        let Some(line) = used.get(n).copied().flatten().and_then(|line| lines.get(line)) else { continue };
        let own = columns(line.text);
        let shift = usize::from(is_indented && own.len() == count + 1);
        if own.len() != count + shift || row.len() != headers.len() {
            continue;
        }
        for (c, cell) in row.iter().enumerate() {
            let Some(column) = at.get(c).copied().flatten().and_then(|column| own.get(column + shift)) else {
                continue;
            };
            let column = TableLine {
                passage: line.passage,
                range: 0..0,
                text: column,
                words: words(column),
                figures: figures(column, claimed.evidence.convention),
                count: 0,
            };
            if in_line(cell, &column).is_none() {
                let message = Message::default().quoted(cell.as_bytes()).text(" is under another heading than ");
                let message = message.quoted(headers[c].as_bytes()).text(".");
                claimed.miss(pointer.then("rows").then(n).then(c), message);
                return;
            }
        }
    }
}

/// Compares the order of the cells with that of the headings, where these stand on one line.
fn swapped(
    claimed: &mut Claimed<'_>,
    headers: &[String],
    rows: &[Vec<String>],
    (used, lines): (&[Option<usize>], &[TableLine<'_>]),
    pointer: &Pointer,
) {
    if headers.len() < 2 {
        return;
    }
    let in_order = |cells: &[String], line: &TableLine<'_>| {
        let starts: Vec<usize> = cells
            .iter()
            .filter_map(|cell| in_line(cell, line))
            .filter(|range| !range.is_empty())
            .map(|range| range.start)
            .collect();
        (starts.len() == cells.len()).then(|| starts.is_sorted())
    };
    let around: Vec<TableLine<'_>> = claimed
        .evidence
        .around
        .iter()
        .map(|text| TableLine {
            passage: &NOWHERE,
            range: 0..0,
            text,
            words: words(text),
            figures: Vec::new(),
            count: 0,
        })
        .collect();
    let heading = lines.iter().chain(&around).find_map(|line| in_order(headers, line));
    if heading != Some(true) {
        return;
    }
    for (n, row) in rows.iter().enumerate() {
        let Some(line) = used.get(n).copied().flatten().and_then(|line| lines.get(line)) else { continue };
        let distinct = row.iter().enumerate().all(|(n, cell)| !row[n + 1..].contains(cell));
        if distinct && in_order(row, line) == Some(false) {
            let message = Message::new("The cells of the row are not under their headings: ")
                .quoted(line.text.trim().as_bytes())
                .text(".");
            claimed.miss(pointer.then("rows").then(n), message);
            return;
        }
    }
}

/// Kind of a figure: nothing that it names, money, a percentage, or a measure.
fn kind(figure: &Figure) -> u8 {
    match (figure.is_money(), figure.percent, figure.measure) {
        (true, ..) => 1,
        (_, true, _) => 2,
        (.., Some(_)) => 3,
        _ => 0,
    }
}

static NOWHERE: Passage<'static> = Passage { text: "", base: None };

/// Looks for cited lines between the rows that are rows too and that the table leaves out.
fn left_out(
    claimed: &mut Claimed<'_>,
    rows: &[Vec<String>],
    (used, lines): (&[Option<usize>], &[TableLine<'_>]),
    headers: &[String],
    pointer: &Pointer,
) {
    const TOTALS: [&str; 7] = ["total", "sum", "subtotal", "summe", "gesamt", "insgesamt", "somme"];
    const CHOICES: &str =
        "above below over under more less exceed highest lowest largest smallest first last only than between which";
    let taken: Vec<usize> = used.iter().copied().flatten().collect();
    let Some(count) = taken.first().and_then(|line| lines.get(*line)).map(|line| line.count).filter(|count| *count > 0)
    else {
        return;
    };
    // Rows whose numbers are not alike in number mostly end alike: with money, a percentage, a measure.
    let last = |line: &TableLine<'_>| line.figures.iter().rfind(|figure| figure.role == FigureRole::Value).map(kind);
    let ends_with = |wanted: u8| taken.iter().filter(|row| lines.get(**row).and_then(last) == Some(wanted)).count();
    let common = |wanted: u8| wanted > 0 && ends_with(wanted) * 2 > taken.len();
    let counts_alike = taken.iter().all(|row| lines.get(*row).is_some_and(|line| line.count == count));
    let is_of_rows = |line: &TableLine<'_>| line.count > 0 && last(line).is_some_and(common);
    if taken.len() < rows.len() {
        return;
    }
    let inner = taken.iter().min().copied().unwrap_or(0)..taken.iter().max().copied().unwrap_or(0);
    // A question that chooses rows leaves some out.
    let asked = words(claimed.question);
    let chooses =
        asked.iter().any(|word| CHOICES.split(' ').any(|choice| choice == word.folded) && word.folded != "which");
    let labels: Vec<TextWord> = rows
        .iter()
        .filter_map(|row| row.first())
        .flat_map(|label| words(label))
        .filter(|word| !word.has_digit() && !is_empty_word(&word.folded))
        .collect();
    let heading: Vec<TextWord> = headers.iter().flat_map(|header| words(header)).collect();
    let names = |word: &TextWord| {
        labels.iter().any(|label| label.folded == word.folded)
            && !heading.iter().any(|head| akin(&head.folded, &word.folded))
    };
    if chooses || asked.iter().any(names) {
        return;
    }
    let first_is_word = |line: &TableLine<'_>| line.words.first().is_some_and(|word| !word.has_digit());
    let words_first = taken.iter().all(|line| lines.get(*line).is_some_and(first_is_word));
    for (n, line) in lines.iter().enumerate().filter(|(n, _)| !taken.contains(n)) {
        let is_total = line.words.first().is_some_and(|word| TOTALS.iter().any(|total| word.folded.starts_with(total)));
        let is_heading = !heading.is_empty()
            && heading.iter().filter(|head| line.words.iter().any(|word| word.folded == head.folded)).count() * 2
                > heading.len();
        // A sentence above or below the table is no row.
        let is_sentence = line.words.len() > 3 * rows.iter().map(Vec::len).max().unwrap_or(1) + 6;
        let is_row = (counts_alike && line.count == count) || (is_of_rows(line) && inner.contains(&n));
        if !is_row || is_total || is_heading || is_sentence || first_is_word(line) != words_first {
            continue;
        }
        // Rows that stand in several citations are left alone outside of them.
        let is_between =
            taken.iter().any(|taken| lines.get(*taken).is_some_and(|row| std::ptr::eq(row.passage, line.passage)));
        if is_between {
            let message =
                Message::new("The table leaves out the cited line ").quoted(line.text.trim().as_bytes()).text(".");
            claimed.miss(pointer.then("rows"), message);
            return;
        }
    }
}
