//! The numbers by which chance orders a queue, and what a verdict keeps of that.

use super::event::Text;
use super::signal::Signal;

/// Purpose for which a number is drawn, so that one choice does not depend on another.
const ORDER: u64 = 1;

/// Way in which chance chose a record: the seed, and out of which records. Only where that is known it is known what a
/// verdict says about other records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Draw {
    pub seed: u64,
    pub from: DrawnFrom,
}

stepscope_base::words! {
    /// Records out of which one was drawn.
    pub(crate) enum DrawnFrom {
        /// All of them, by `--shuffle`.
        All = "all",
        /// Those whose signals leave open what they are, by `--sample`: they are drawn twice as often.
        Doubtful = "doubtful",
        /// The others, by `--sample`.
        Clear = "clear",
    }
}

impl Draw {
    /// Determines how `--sample` draws a record.
    pub(crate) fn sampled(seed: u64, signal: Signal) -> Self {
        Self { seed, from: if signal.is_doubtful() { DrawnFrom::Doubtful } else { DrawnFrom::Clear } }
    }

    /// Reads `7:doubtful`.
    pub(crate) fn parse(text: &Text) -> Option<Self> {
        let (seed, from) = text.utf8()?.split_once(':')?;
        Some(Self { seed: seed.parse().ok()?, from: DrawnFrom::from_word(from)? })
    }

    /// Writes it as events keep it.
    pub(crate) fn text(self) -> Text {
        Text::from(format!("{}:{}", self.seed, self.from.word()))
    }

    /// Tells whether two belong to one way of drawing, so that they say something about the same records.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        self.seed == other.seed && (self.from == DrawnFrom::All) == (other.from == DrawnFrom::All)
    }
}

/// The number from 0 to below 1 by which a record has its place in a shuffled queue.
pub(crate) fn drawn_number(seed: u64, record: usize) -> f64 {
    draw(seed, record, ORDER)
}

/// Draws a number from 0 to below 1, by the seed (splitmix64).
pub(crate) fn draw(seed: u64, record: usize, purpose: u64) -> f64 {
    let mut x = seed ^ purpose.rotate_left(56);
    x = x.wrapping_add((record as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / 2f64.powi(53)
}
