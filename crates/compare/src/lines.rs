//! The lines in which two texts differ, with some context.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use memchr::memchr2_iter;
use similar::algorithms::{Capture, Compact, Replace, patience};
use similar::{DiffTag, group_diff_ops};

use super::difference::Change;

/// Maximum number of lines around a change that are shown.
const AROUND: usize = 2;
/// Texts that are very different are compared roughly after so long.
const PATIENCE: Duration = Duration::from_millis(200);

/// Lines only the first has, only the second has, or both have; `None`: here something is left out.
pub fn changed_lines(a: &str, b: &str) -> Vec<Option<(Change, String)>> {
    let (a, b) = (lines_of(a), lines_of(b));
    let mut numbers = HashMap::with_hasher(RandomState::default());
    let [a_numbers, b_numbers] = [&a, &b].map(|lines| numbered(lines, &mut numbers));
    // Numbers, and one algorithm by its name: for other types the library is compiled again, and for each algorithm.
    let mut difference = Compact::new(Replace::new(Capture::new()), a_numbers.as_slice(), b_numbers.as_slice());
    let Ok(()) = patience::diff_deadline(
        &mut difference,
        a_numbers.as_slice(),
        0..a.len(),
        b_numbers.as_slice(),
        0..b.len(),
        Instant::now().checked_add(PATIENCE),
    );
    let mut lines = Vec::new();
    for group in group_diff_ops(difference.into_inner().into_inner().into_ops(), AROUND) {
        if !lines.is_empty() {
            lines.push(None);
        }
        for operation in group {
            let mut add = |change, from: &[&str]| {
                lines.extend(from.iter().map(|line| Some((change, line.trim_end_matches('\n').to_owned()))));
            };
            let [only_a, only_b] =
                [a.get(operation.old_range()), b.get(operation.new_range())].map(Option::unwrap_or_default);
            if operation.tag() == DiffTag::Equal {
                add(Change::Same, only_a);
            } else {
                add(Change::OnlyA, only_a);
                add(Change::OnlyB, only_b);
            }
        }
    }
    lines
}

/// Lines with their ends, which may be of Unix, DOS or old Macs.
fn lines_of(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut lines = Vec::new();
    for at in memchr2_iter(b'\n', b'\r', bytes) {
        if bytes.get(at..at + 2) != Some(b"\r\n") {
            lines.extend(text.get(start..=at));
            start = at + 1;
        }
    }
    lines.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    lines
}

/// A number for each line, the same for the same.
fn numbered<'a>(lines: &[&'a str], numbers: &mut HashMap<&'a str, u32, RandomState>) -> Vec<u32> {
    let mut number = |line| {
        let next = numbers.len() as u32;
        *numbers.entry(line).or_insert(next)
    };
    lines.iter().map(|line| number(*line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_from_a_change_is_left_out() {
        let text = |changed: &str| {
            let lines = (0..20).map(|n| if n == 3 || n == 15 { format!("{changed}{n}") } else { n.to_string() });
            lines.collect::<Vec<_>>().join("\n")
        };
        let lines = changed_lines(&text("a"), &text("b"));
        let count = |change: Change| lines.iter().flatten().filter(|(other, _)| *other == change).count();
        assert_eq!((count(Change::OnlyA), count(Change::OnlyB), count(Change::Same)), (2, 2, 8));
        assert_eq!(lines.iter().filter(|line| line.is_none()).count(), 1);
        assert!(changed_lines("x\ny", "x\ny").is_empty());
    }

    #[test]
    fn lines_end_as_each_system_ends_them() {
        assert_eq!(lines_of("a\nb\r\nc\rd\n\re"), ["a\n", "b\r\n", "c\r", "d\n", "\r", "e"]);
        assert!(lines_of("").is_empty() && lines_of("\n") == ["\n"]);
        let same = |a, b| changed_lines(a, b).is_empty();
        assert!(!same("a\r\nb", "a\nb") && !same("a", "a\n"));
    }
}
