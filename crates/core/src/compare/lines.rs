//! The lines in which two texts differ, with a little of what stands around them.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

use super::difference::Change;

/// So many lines around a change are shown.
const AROUND: usize = 2;
/// Texts that are very different are compared roughly after so long.
const PATIENCE: Duration = Duration::from_millis(200);

/// Lines only the first has, only the second has, or both have; `None`: here something is left out.
pub fn changed_lines(a: &str, b: &str) -> Vec<Option<(Change, String)>> {
    let difference = TextDiff::configure().algorithm(Algorithm::Patience).timeout(PATIENCE).diff_lines(a, b);
    let mut lines = Vec::new();
    for group in difference.grouped_ops(AROUND) {
        if !lines.is_empty() {
            lines.push(None);
        }
        for line in group.iter().flat_map(|operation| difference.iter_changes(operation)) {
            let change = match line.tag() {
                ChangeTag::Equal => Change::Same,
                ChangeTag::Delete => Change::OnlyA,
                ChangeTag::Insert => Change::OnlyB,
            };
            lines.push(Some((change, line.value().trim_end_matches('\n').to_owned())));
        }
    }
    lines
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
}
