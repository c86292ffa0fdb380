//! Workflow commands of GitHub's CI: an annotation per finding, at its line in the files of a pull request.

use super::MAX_MESSAGE;
use super::places::Places;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::{Finding, Severity};

/// Appends a command per finding.
pub(crate) fn write(case: &CaseView<'_>, findings: &[Finding], out: &mut Vec<u8>) {
    if findings.is_empty() {
        return;
    }
    let mut places = Places::new(case);
    let source = case.source().line();
    let id = case.record.as_ref().and_then(|record| record.id_text()).map(|id| id.line());
    for finding in findings {
        let range = places.range(finding.place());
        let (line, column) = places.position(range.start);
        let (end_line, end_column) = places.position(range.end);
        put(out, &["::", level(finding.severity), " file="]);
        property(out, source.as_str());
        put(out, &[",line=", &line.to_string(), ",endLine=", &end_line.to_string()]);
        put(out, &[",col=", &column.to_string()]);
        // An end on another line has columns of its own, which GitHub takes for those of the first.
        if end_line == line {
            put(out, &[",endColumn=", &end_column.to_string()]);
        }
        put(out, &[",title="]);
        property(out, finding.rule.word());
        put(out, &["::"]);
        data(out, finding.message.line().shortened(MAX_MESSAGE).as_str());
        about(out, id.as_ref(), &places.pointer(finding.place()).text().line());
        if let Some(help) = finding.help {
            put(out, &[" "]);
            data(out, help);
        }
        out.push(b'\n');
    }
}

/// Appends which record it is and where in it: lines of records are too long to be seen at a column.
fn about(out: &mut Vec<u8>, id: Option<&Shown>, pointer: &Shown) {
    let parts = [id.map_or("", Shown::as_str), pointer.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if !parts.is_empty() {
        put(out, &[" ("]);
        data(out, &parts.join(" "));
        put(out, &[")"]);
    }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Fatal => "error",
        Severity::Repairable | Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

/// Appends the text of a command, in which a line break would end it.
fn data(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A").as_bytes());
}

/// Appends a value of a command, in which a colon or comma would end it too.
fn property(out: &mut Vec<u8>, text: &str) {
    let mut escaped = Vec::new();
    data(&mut escaped, text);
    for byte in escaped {
        match byte {
            b':' => out.extend_from_slice(b"%3A"),
            b',' => out.extend_from_slice(b"%2C"),
            byte => out.push(byte),
        }
    }
}

fn put(out: &mut Vec<u8>, texts: &[&str]) {
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_a_command() {
        let (mut text, mut value) = (Vec::new(), Vec::new());
        data(&mut text, "50 %\r\n::error::x, y");
        property(&mut value, "a%b:c,d\ne");
        assert_eq!(text, b"50 %25%0D%0A::error::x, y");
        assert_eq!(value, b"a%25b%3Ac%2Cd%0Ae");
    }
}
