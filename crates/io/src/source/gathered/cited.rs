//! Replies that cite the documents of their prompt by character: each statement is an answer with its citations, and the
//! documents are the pages that they are looked up in.

use super::chat::asked_last;
use super::plain::{Plain, object};

/// A line of a document, and where it is among the characters of that document; the end counts its line break.
struct CitedLine {
    document: usize,
    start: usize,
    end: usize,
    text: Vec<u8>,
}

/// Makes an answer of a reply; `None`: it cites nothing, or something whose text is not in the prompt.
pub(super) fn answer(request: &Plain, message: &Plain) -> Option<Plain> {
    let messages = request.get("params")?.get("messages")?.items();
    let lines = lines_of(messages)?;
    let statements: Vec<(Vec<u8>, Plain)> = message
        .get("content")?
        .items()
        .iter()
        .filter(|block| !cited(block).is_empty())
        .enumerate()
        .map(|(n, block)| Some((format!("statement {}", n + 1).into_bytes(), statement(block, &lines)?)))
        .collect::<Option<_>>()?;
    if statements.is_empty() {
        return None;
    }
    let fields = object([("fields", Some(Plain::Object(statements)))]);
    let document = object([("lines", Some(Plain::List(numbered(&lines))))]);
    Some(object([
        ("format", Some(Plain::text_of(b"stepscope.answer_trace"))),
        ("version", Some(number(1))),
        ("question", asked_last(messages).map(Plain::Text)),
        ("document", Some(document)),
        ("answer", Some(fields)),
    ]))
}

fn cited(block: &Plain) -> &[Plain] {
    block.get("citations").map_or(&[], Plain::items)
}

fn number(number: usize) -> Plain {
    Plain::Raw(number.to_string().into_bytes())
}

/// Reads the documents of a prompt, in the order by which citations count them; `None`: one of them is no text.
fn lines_of(messages: &[Plain]) -> Option<Vec<CitedLine>> {
    let blocks = messages.iter().filter_map(|message| message.get("content")).flat_map(Plain::items);
    let documents = blocks.filter(|block| block.get("type").and_then(Plain::text) == Some(b"document"));
    let mut lines = Vec::new();
    for (document, block) in documents.enumerate() {
        let source = block.get("source")?;
        let text = source.get("data").filter(|_| source.get("type").and_then(Plain::text) == Some(b"text"))?.text()?;
        let mut start = 0;
        for line in String::from_utf8_lossy(text).split_inclusive('\n') {
            let end = start + line.chars().count();
            let text = line.trim_end_matches(['\n', '\r']).as_bytes().to_vec();
            lines.push(CitedLine { document, start, end, text });
            start = end;
        }
    }
    Some(lines)
}

/// Writes the lines as those of a document: each text is a page of it.
fn numbered(lines: &[CitedLine]) -> Vec<Plain> {
    let mut line_num = 0;
    let mut page = None;
    let mut all = Vec::new();
    for line in lines {
        line_num = if page == Some(line.document) { line_num + 1 } else { 1 };
        page = Some(line.document);
        all.push(object([
            ("page_num", Some(number(line.document + 1))),
            ("line_num", Some(number(line_num))),
            ("text", Some(Plain::Text(line.text.clone()))),
        ]));
    }
    all
}

/// Makes a statement of a text with citations; `None`: it cites otherwise than by character.
fn statement(block: &Plain, lines: &[CitedLine]) -> Option<Plain> {
    let spans: Vec<Plain> = cited(block).iter().map(|citation| span(citation, lines)).collect::<Option<_>>()?;
    let quote = spans.first()?.get("quote").cloned();
    Some(object([
        ("value", Some(Plain::Text(block.get("text")?.as_text()))),
        ("quote", quote),
        ("spans", Some(Plain::List(spans))),
    ]))
}

fn span(citation: &Plain, lines: &[CitedLine]) -> Option<Plain> {
    let whole = |key: &str| std::str::from_utf8(&citation.get(key)?.json()).ok()?.parse::<usize>().ok();
    let document = whole("document_index")?;
    let (start, end) = (whole("start_char_index")?, whole("end_char_index")?);
    let holds =
        |at: usize| lines.iter().position(|line| line.document == document && (line.start..line.end).contains(&at));
    // What is beyond the document leads to no line: the quote is looked for in all of it.
    let places = holds(start).zip(holds(end.checked_sub(1)?));
    let (first, last) = places.map_or((None, None), |(first, last)| (Some(number(first)), Some(number(last))));
    Some(object([("line_start", first), ("line_end", last), ("quote", citation.get("cited_text").cloned())]))
}
