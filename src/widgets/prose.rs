//! Running text on screen: wrapped at words by the width that the terminal draws, painted where it is marked.

use crate::widgets::look::Spans;
use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use stepscope_base::fit::{Cluster, Clusters};
pub(crate) use stepscope_base::fit::{fit, pad, pad_left};
use stepscope_base::text::{Shown, columns, cut, is_plain};
use stepscope_record::paint::{MarkedRange, segments};

/// Largest number of bytes of one text that are laid out; the rest is announced.
pub(crate) const MAX_PROSE: usize = 64 << 10;

/// Bytes as people say them.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Tells how much of a long text is left out; `None`: the whole text is laid out.
pub(crate) fn left_out(text: &str) -> Option<String> {
    let rest = text.len().checked_sub(MAX_PROSE).filter(|rest| *rest > 0)?;
    Some(format!("… {} more; stepscope show prints them", size(rest)))
}

/// Cuts a text into lines of at most `width` columns: at line breaks, then at blanks, then anywhere.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<Range<usize>> {
    wrap_up_to(text, width, usize::MAX)
}

/// [`wrap`], but no further than `most` lines: a screen shows few, and a text may have thousands.
pub(crate) fn wrap_up_to(text: &str, width: usize, most: usize) -> Vec<Range<usize>> {
    let width = width.max(1);
    let text = cut(text, MAX_PROSE);
    let mut lines = Vec::new();
    let mut offset = 0;
    for paragraph in text.split('\n') {
        if lines.len() >= most {
            break;
        }
        wrap_paragraph(paragraph, offset, width, most, &mut lines);
        offset += paragraph.len() + 1;
    }
    lines
}

/// [`wrap`], where what is left of an indented line stays indented: each line with the blanks in front of it.
pub(crate) fn wrap_hanging(text: &str, width: usize) -> Vec<(usize, Range<usize>)> {
    let (mut lines, mut offset) = (Vec::new(), 0);
    for paragraph in cut(text, MAX_PROSE).split('\n') {
        let blanks = paragraph.len() - paragraph.trim_start_matches(' ').len();
        let indent = if blanks * 2 < width { blanks } else { 0 };
        let mut ranges = Vec::new();
        let content = paragraph.get(indent..).unwrap_or_default();
        wrap_paragraph(content, offset + indent, (width - indent).max(1), usize::MAX, &mut ranges);
        lines.extend(ranges.into_iter().map(|range| (indent, range)));
        offset += paragraph.len() + 1;
    }
    lines
}

/// The lines of a text themselves.
pub(crate) fn wrapped(text: &str, width: usize, most: usize) -> impl Iterator<Item = &str> {
    wrap_up_to(text, width, most).into_iter().map(|range| text.get(range).unwrap_or_default())
}

fn wrap_paragraph(text: &str, offset: usize, width: usize, most: usize, lines: &mut Vec<Range<usize>>) {
    // Where bytes are columns, a line is as many of them, back to the last blank.
    if is_plain(text.as_bytes()) {
        wrap_bytes(text.as_bytes(), offset, width, most, lines);
    } else {
        wrap_clusters(text, offset, width, most, lines);
    }
}

/// Largest number of bytes of an escape such as `⟨U+E0041⟩` or `⟨+12 marks⟩`, up to its last sign.
const LONGEST_ESCAPE: usize = 20;

/// Tells whether a word that is longer than a line may be broken behind a character.
const fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'/')
}

fn wrap_bytes(text: &[u8], offset: usize, width: usize, most: usize, lines: &mut Vec<Range<usize>>) {
    let mut start = 0;
    while let Some(beyond) = text.get(start + width) {
        let line = text.get(start + 1..start + width).unwrap_or_default();
        let (end, next) = match line.iter().rposition(|byte| *byte == b' ') {
            _ if *beyond == b' ' => (start + width, start + width + 1),
            Some(blank) => (start + 1 + blank, start + 2 + blank),
            None => {
                let end = line.iter().rposition(|byte| is_joint(*byte)).map_or(width, |joint| joint + 2);
                (start + end, start + end)
            }
        };
        lines.push(offset + start..offset + end);
        if lines.len() >= most {
            return;
        }
        start = next;
    }
    lines.push(offset + start..offset + text.len());
}

fn wrap_clusters(text: &str, offset: usize, width: usize, most: usize, lines: &mut Vec<Range<usize>>) {
    let (mut start, mut used, mut blank, mut joint) = (0, 0, None, None);
    let mut escape = 0..0;
    for Cluster { at, text: cluster, columns: more } in Clusters::of(text) {
        if cluster == "⟨" && at >= escape.end {
            let end = text.get(at..).and_then(|rest| rest.find('⟩')).filter(|end| *end <= LONGEST_ESCAPE);
            escape = at..at + end.unwrap_or(0);
        }
        // What is shown of one character stays together.
        let is_inside = escape.start < at && at <= escape.end;
        let is_blank = cluster == " " && !is_inside;
        if used + more > width && at > start {
            let (end, next) = match blank {
                Some(blank) if blank > start && !is_blank => (blank, blank + 1),
                _ if is_blank => (at, at + 1),
                _ if is_inside && escape.start > start => (escape.start, escape.start),
                _ => (joint.unwrap_or(at), joint.unwrap_or(at)),
            };
            lines.push(offset + start..offset + end);
            if lines.len() >= most {
                return;
            }
            used = columns(text.get(next..at).unwrap_or_default());
            (start, blank) = (next, None);
            joint = joint.filter(|joint| *joint > start + 1);
            if is_blank {
                continue;
            }
        }
        match cluster.as_bytes() {
            b" " if is_blank => blank = Some(at),
            [byte] if is_joint(*byte) && at > start => joint = Some(at + 1),
            _ => {}
        }
        used += more;
    }
    lines.push(offset + start.min(text.len())..offset + text.len());
}

/// The longest end of a text that fits into `width` columns.
pub(crate) fn tail(text: &str, width: usize) -> &str {
    let fits = |start: &usize| text.get(*start..).is_some_and(|tail| tail.width() <= width);
    let starts = text.char_indices().rev().map(|(start, _)| start);
    starts.take_while(fits).last().map_or("", |start| text.get(start..).unwrap_or_default())
}

/// A text behind what begins its first line, wrapped under itself; without a width on one line.
pub(crate) fn hanging(
    head: Spans,
    text: &str,
    base: Style,
    marks: &[MarkedRange<Style>],
    width: Option<usize>,
) -> Vec<Spans> {
    let indent: usize = head.iter().map(Span::width).sum();
    let ranges = match width {
        Some(width) => wrap(text, width.saturating_sub(indent).max(8)),
        None => std::iter::once(0..text.len()).collect(),
    };
    let mut head = Some(head);
    let line = |range: &Range<usize>| {
        let mut spans = head.take().unwrap_or_else(|| vec![Span::raw(" ".repeat(indent))]);
        spans.extend(paint(text, range, base, marks).spans);
        spans
    };
    ranges.iter().map(line).collect()
}

/// Paints one line of a text with its marks.
pub(crate) fn paint(text: &str, line: &Range<usize>, base: Style, marks: &[MarkedRange<Style>]) -> Line<'static> {
    let spans = segments(line, marks).into_iter().map(|(range, style)| {
        let style = style.map_or(base, |style| base.patch(style));
        Span::styled(text.get(range).unwrap_or_default().to_owned(), style)
    });
    spans.collect()
}

/// A text wrapped and painted, from line `top` on, at most `height` lines.
pub(crate) fn lines(
    text: &Shown,
    width: usize,
    window: Range<usize>,
    base: Style,
    marks: &[MarkedRange<Style>],
) -> Vec<Line<'static>> {
    let text = text.as_str();
    wrap_up_to(text, width, window.end)
        .get(window.start..)
        .unwrap_or_default()
        .iter()
        .take(window.len())
        .map(|line| paint(text, line, base, marks))
        .collect()
}

/// Lays pieces side by side, and those that no longer fit into the next line.
pub(crate) fn flowed<T>(pieces: impl IntoIterator<Item = (String, T)>, room: usize) -> Vec<Vec<(String, T)>> {
    let (mut lines, mut used) = (Vec::new(), 0);
    for piece in pieces {
        let width = piece.0.width();
        match lines.last_mut() {
            Some(line) if used + width <= room => Vec::push(line, piece),
            _ => {
                lines.push(vec![piece]);
                used = 0;
            }
        }
        used += width;
    }
    lines
}

/// Joins the parts of a text, which two blanks keep apart, that fit into some columns whole. Blanks in front, which
/// align a number, belong to the first.
pub(crate) fn whole_parts(text: &str, room: usize) -> String {
    let mut out = String::new();
    let (indent, text) = text.split_at(text.len() - text.trim_start_matches(' ').len());
    for part in text.split("  ") {
        let gap = if out.is_empty() { indent } else { "  " };
        if out.width() + gap.len() + part.width() > room {
            break;
        }
        out.extend([gap, part]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str, width: usize) -> Vec<&str> {
        wrap(text, width).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(wrapped("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrapped("a\n\nb", 10), ["a", "", "b"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("ab cd", 2), ["ab", "cd"]);
        assert_eq!(wrapped("abcd⟨U+200D⟩ef", 10), ["abcd", "⟨U+200D⟩ef"], "an escape stays whole");
        assert_eq!(wrapped("ab e⟨+12 marks⟩x", 12), ["ab", "e⟨+12 marks⟩", "x"]);
        assert_eq!(wrapped("⟨U+200D⟩", 3), ["⟨U+", "200", "D⟩"], "where there is room for it");
        assert_eq!(wrapped("calc/missing_step", 11), ["calc/", "missing_", "step"]);
    }

    proptest! {
        #[test]
        fn lines_fit_and_lose_only_blanks(text in "[a-c_ 漢é\n]{0,60}", width in 2_usize..12) {
            let lines = wrapped(&text, width);
            prop_assert!(lines.iter().all(|line| line.width() <= width));
            let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(solid(&lines.concat()), solid(&text));
            let all = wrap(&text, width);
            for most in 0..=all.len() {
                prop_assert_eq!(&wrap_up_to(&text, width, most), &all[..most]);
            }
        }

        #[test]
        fn plain_text_is_wrapped_alike_by_bytes(text in "[a-c  _]{0,60}", width in 1_usize..12, most in 1_usize..9) {
            let (mut by_bytes, mut by_clusters) = (Vec::new(), Vec::new());
            wrap_bytes(text.as_bytes(), 3, width, most, &mut by_bytes);
            wrap_clusters(&text, 3, width, most, &mut by_clusters);
            prop_assert_eq!(by_bytes, by_clusters);
        }
    }

    #[test]
    fn pieces_flow_into_lines() {
        let lines = |room| flowed(["ab", "cde", "漢", "long piece"].map(|text| (text.to_owned(), ())), room);
        let texts =
            |room| lines(room).iter().map(|line| line.iter().map(|(text, ())| text.as_str()).collect()).collect();
        let whole: Vec<String> = texts(17);
        assert_eq!(whole, ["abcde漢long piece"]);
        let narrow: Vec<String> = texts(5);
        assert_eq!(narrow, ["abcde", "漢", "long piece"], "what is too wide has a line of its own");
        assert!(flowed(Vec::<(String, ())>::new(), 5).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_left_out_whole() {
        let text = "50.0 %  [9.5, 90.5]  1 of 2";
        for (room, expected) in
            [(27, text), (26, "50.0 %  [9.5, 90.5]"), (19, "50.0 %  [9.5, 90.5]"), (18, "50.0 %"), (5, "")]
        {
            assert_eq!(whole_parts(text, room), expected, "{room}");
        }
        assert_eq!(whole_parts("  0.0 %  0 of 1", 15), "  0.0 %  0 of 1", "a number stays aligned");
        assert_eq!(whole_parts("  0.0 %  0 of 1", 14), "  0.0 %");
    }
}
