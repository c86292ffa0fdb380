//! Charts in characters: each figure is written next to its picture, and no meaning hangs on colour alone.

/// Eighths of a cell, from the left.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// Shades of a heat map, the palest first.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// A bar of at most `width` columns for a part of a whole; what is more than nothing shows.
pub fn bar(part: usize, whole: usize, width: usize) -> String {
    if part == 0 || whole == 0 || width == 0 {
        return String::new();
    }
    let eighths = (part.min(whole) * width * 8).div_ceil(whole).max(1);
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut bar: String = std::iter::repeat_n('█', full).collect();
    bar.extend(rest.checked_sub(1).and_then(|rest| EIGHTHS.get(rest)));
    bar
}

/// The part of a line from `start` on that is `length` long, of `whole`: what is more than nothing shows.
pub fn span(start: f64, length: f64, whole: f64, width: usize) -> String {
    if length <= 0.0 || whole <= 0.0 || width == 0 {
        return String::new();
    }
    let cells = |part: f64| (part / whole * width as f64).clamp(0.0, width as f64);
    let from = (cells(start).floor() as usize).min(width - 1);
    let to = (cells(start + length).ceil() as usize).clamp(from + 1, width);
    " ".repeat(from) + &"█".repeat(to - from)
}

/// The shade of a cell of a heat map.
pub fn shade(count: usize, most: usize) -> char {
    let last = SHADES.len() - 1;
    let at = if count == 0 { 0 } else { (count * last).div_ceil(most.max(1)).clamp(1, last) };
    SHADES.get(at).copied().unwrap_or(' ')
}

/// A part of a whole in per cent, as it is written beside a bar.
pub fn share(part: usize, whole: usize) -> String {
    if whole == 0 { String::new() } else { format!("{:.0} %", part as f64 * 100.0 / whole as f64) }
}

/// A scale from 0 to 1 with two marks on it, `●` where something is and `┼` where it should be.
pub fn dumbbell(is: f64, should: f64, width: usize) -> String {
    scale([is.min(should), is.max(should)], [(is, '●'), (should, '┼')], width)
}

/// A share on a scale from 0 to 1 with its interval.
pub fn interval(low: f64, share: f64, high: f64, width: usize) -> String {
    scale([low, high], [(share, '●'), (low, '├'), (high, '┤')], width)
}

/// A scale from 0 to 1 with a line between two places and marks, of which the first hides the others.
fn scale<const N: usize>([low, high]: [f64; 2], marks: [(f64, char); N], width: usize) -> String {
    let at = |value: f64| (value.clamp(0.0, 1.0) * width.saturating_sub(1) as f64).round() as usize;
    let (line, marks) = (at(low)..at(high), marks.map(|(value, mark)| (at(value), mark)));
    let mark = |column: usize| marks.iter().find(|(place, _)| *place == column).map(|(_, mark)| *mark);
    (0..width).map(|column| mark(column).unwrap_or(if line.contains(&column) { '═' } else { '─' })).collect()
}

/// Writes a count in at most so many columns: in thousands or millions where it is too long, as in `12k`.
pub fn short(count: usize, columns: usize) -> String {
    let whole = count.to_string();
    let units = [(1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")];
    let in_units = units.iter().map(|(unit, letter)| format!("{}{letter}", count / unit));
    let fits = |text: &String| text.len() <= columns;
    std::iter::once(whole.clone()).chain(in_units).find(fits).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_count_is_written_in_thousands() {
        for (count, columns, text) in [
            (9_999, 4, "9999"),
            (12_345, 4, "12k"),
            (12_345, 5, "12345"),
            (999_999, 4, "999k"),
            (1_234_567, 4, "1M"),
            (12_345_678, 6, "12345k"),
        ] {
            assert_eq!(short(count, columns), text);
        }
    }

    #[test]
    fn bars_are_as_long_as_their_part() {
        assert_eq!(bar(1, 2, 4), "██");
        assert_eq!(bar(3, 8, 1), "▍");
        assert_eq!(bar(1, 1_000, 10), "▏", "what is more than nothing shows");
        assert_eq!((bar(0, 5, 9), bar(7, 5, 3), bar(1, 0, 3)), (String::new(), "███".into(), String::new()));
        assert_eq!((share(1, 3), share(0, 0)), ("33 %".into(), String::new()));
    }

    #[test]
    fn spans_stand_where_they_begin() {
        assert_eq!(span(0.0, 1.0, 4.0, 4), "█");
        assert_eq!(span(2.0, 1.0, 4.0, 8), "    ██");
        assert_eq!(span(4.0, 0.001, 4.0, 4), "   █", "what is more than nothing shows");
        assert_eq!(
            (span(1.0, 0.0, 4.0, 4), span(1.0, 1.0, 0.0, 4), span(0.0, 9.0, 3.0, 3)),
            (String::new(), String::new(), "███".into())
        );
    }

    #[test]
    fn shades_and_scales_have_ends() {
        assert_eq!([0, 1, 5, 10].map(|count| shade(count, 10)), [' ', '░', '▒', '█']);
        assert_eq!(dumbbell(0.0, 1.0, 5), "●═══┼");
        assert_eq!(interval(0.25, 0.5, 1.0, 9), "──├═●═══┤");
        assert_eq!(interval(0.0, 0.0, 0.1, 9), "●┤───────");
        assert_eq!(dumbbell(0.5, 0.5, 5), "──●──");
    }
}
