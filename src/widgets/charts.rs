//! Charts of the screen. What is nothing but characters is shared with the shell.

use ratatui::layout::Rect;

use crate::widgets::layout::{split_columns, split_rows};
pub(crate) use stepscope_core::report::charts::{bar, dumbbell, interval, shade, share, short, span};

/// Lays out four counts as areas: the columns are the shares of the pairs, the rows of each column those of its two
/// counts. A count above zero has an area; zero has none.
pub(crate) fn mosaic(counts: [[u64; 2]; 2], area: Rect) -> [[Rect; 2]; 2] {
    let sums = counts.map(|pair| pair.iter().sum::<u64>());
    let (left, right) = split_columns(area, cells(sums, area.width));
    let column = |pair: [u64; 2], place: Rect| {
        let (top, bottom) = split_rows(place, cells(pair, place.height));
        [top, bottom]
    };
    let [first, second] = counts;
    [column(first, left), column(second, right)]
}

/// Computes the number of cells, out of `all`, that the first of two counts gets.
fn cells([first, second]: [u64; 2], all: u16) -> u16 {
    let whole = first + second;
    if whole == 0 || all == 0 {
        return 0;
    }
    let cells = (u64::from(all) * first + whole / 2) / whole;
    let least = u64::from(first > 0);
    let most = u64::from(all) - u64::from(second > 0);
    cells.clamp(least.min(most), most) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_as_large_as_their_counts() {
        let area = Rect::new(10, 5, 40, 10);
        let [[both, only_a], [only_b, neither]] = mosaic([[10, 10], [0, 20]], area);
        assert_eq!((both, only_a), (Rect::new(10, 5, 20, 5), Rect::new(10, 10, 20, 5)));
        assert_eq!((only_b.area(), neither), (0, Rect::new(30, 5, 20, 10)));
        let [[both, only_a], [only_b, neither]] = mosaic([[1, 9_999], [1, 0]], area);
        assert!([both, only_a, only_b].iter().all(|tile| tile.area() > 0) && neither.area() == 0);
        assert!(mosaic([[0, 0], [0, 0]], area).as_flattened().iter().all(|tile| tile.width == 0 || tile.area() <= 400));
        let total: u32 = mosaic([[3, 4], [5, 6]], area).as_flattened().iter().map(|tile| tile.area()).sum();
        assert_eq!(total, area.area());
    }
}
