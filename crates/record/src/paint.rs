//! Overlapping marks on a text, made into segments that do not overlap.

use std::ops::Range;

/// A range of a text and what it is marked as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkedRange<T> {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Kind of mark.
    pub tone: T,
}

/// Cuts a range of a text at the borders of the marks. Where marks overlap, the later one in the list is on top.
pub fn segments<T: Copy>(range: &Range<usize>, marks: &[MarkedRange<T>]) -> Vec<(Range<usize>, Option<T>)> {
    let mut cuts = vec![range.start, range.end];
    for mark in marks {
        cuts.extend([mark.range.start, mark.range.end].into_iter().filter(|cut| range.contains(cut)));
    }
    cuts.sort_unstable();
    cuts.dedup();
    let on_top = |at: usize| marks.iter().rev().find(|mark| mark.range.contains(&at)).map(|mark| mark.tone);
    cuts.windows(2)
        .filter_map(|pair| match pair {
            &[start, end] => Some((start..end, on_top(start))),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_become_segments_and_the_later_mark_wins() {
        let marks = [MarkedRange { range: 2..6, tone: 'a' }, MarkedRange { range: 4..9, tone: 'b' }];
        let cut = segments(&(0..8), &marks);
        assert_eq!(cut, [(0..2, None), (2..4, Some('a')), (4..6, Some('b')), (6..8, Some('b'))]);
        assert_eq!(segments::<char>(&(3..3), &[]), []);
    }
}
