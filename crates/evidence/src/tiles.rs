//! Index of the folded text of a document: every eighth place of it, by the eight bytes from there on. A search looks
//! at the few places that may hold a quote, so that its work grows with the quote and not with the document.

use std::ops::Range;

/// Length of what is indexed, and the distance between two places of the index.
pub(crate) const TILE: usize = 8;
/// A needle of so many bytes holds a whole tile wherever it stands.
pub(crate) const WHOLE: usize = 2 * TILE - 1;
/// Maximum number of tiles of a needle that are tried for the rarest.
const TRIED: usize = 16;

/// Index of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tiles {
    /// Number of bits of a hash that are not used.
    shift: u32,
    /// Beginning of each hash's part of `places`, and the end of the last.
    heads: Vec<u32>,
    /// Numbers of tiles, those of a hash together, ascending.
    places: Vec<u32>,
}

/// The places of a text that may hold a needle: for each way in which the tiles may cut it, where its rarest tile is.
pub(crate) struct PossiblePlaces<'t> {
    needle: &'t [u8],
    ways: Vec<(usize, &'t [u32])>,
}

impl Tiles {
    /// Indexes a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let count = text.len() / TILE;
        let bits = count.checked_ilog2().unwrap_or(0).max(1);
        let mut tiles = Self { shift: u64::BITS - bits, ..Self::default() };
        tiles.heads = vec![0; (1 << bits) + 1];
        let hashes: Vec<u32> = text.chunks_exact(TILE).map(|tile| tiles.hash(tile)).collect();
        for hash in &hashes {
            if let Some(count) = tiles.heads.get_mut(*hash as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for head in &mut tiles.heads {
            sum += *head;
            *head = sum;
        }
        let mut next = tiles.heads.clone();
        tiles.places = vec![0; count];
        for (n, hash) in (0..).zip(hashes) {
            let Some(next) = next.get_mut(hash as usize) else { continue };
            if let Some(place) = tiles.places.get_mut(*next as usize) {
                *place = n;
            }
            *next += 1;
        }
        tiles
    }

    fn hash(&self, tile: &[u8]) -> u32 {
        let number = tile.iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as u32
    }

    /// The tiles that may be this one, by number: `TILE` times that is the place.
    pub(crate) fn like(&self, tile: &[u8]) -> &[u32] {
        let hash = self.hash(tile) as usize;
        &self.places[self.heads[hash] as usize..self.heads[hash + 1] as usize]
    }

    /// The places that may hold a needle; `None`: it is too short.
    pub(crate) fn candidates<'t>(&'t self, needle: &'t [u8]) -> Option<PossiblePlaces<'t>> {
        let ways = needle.len().checked_sub(WHOLE).map(|_| 0..TILE)?;
        let rarest = |way: usize| {
            let tiles = needle.get(way..)?.chunks_exact(TILE).take(TRIED).enumerate();
            let found = tiles.map(|(n, tile)| (way + n * TILE, self.like(tile)));
            found.min_by_key(|(_, places)| places.len())
        };
        Some(PossiblePlaces { needle, ways: ways.filter_map(rarest).collect() })
    }
}

impl PossiblePlaces<'_> {
    /// Estimates the work of looking at all of them.
    pub(crate) fn cost(&self) -> usize {
        let count: usize = self.ways.iter().map(|(_, places)| places.len()).sum();
        TILE * TRIED * 8 + count * (16 + self.needle.len() / 4)
    }

    /// The places that hold the needle, in order.
    pub(crate) fn holding(&self, text: &[u8]) -> Vec<Range<usize>> {
        let all =
            self.ways.iter().flat_map(|(offset, places)| places.iter().map(move |n| (*n as usize * TILE, offset)));
        let starts = all.filter_map(|(at, offset)| at.checked_sub(*offset));
        let ranges = starts.map(|start| start..start + self.needle.len());
        let mut found: Vec<_> = ranges.filter(|range| text.get(range.clone()) == Some(self.needle)).collect();
        found.sort_unstable_by_key(|range| range.start);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_found_wherever_it_stands() {
        let text: Vec<u8> = (0..4_000_u32).map(|n| b'a' + (n * n / 7 % 5) as u8).collect();
        let tiles = Tiles::of(&text);
        for len in [WHOLE, WHOLE + 1, 40, 333] {
            for at in (0..text.len() - len).step_by(13) {
                let needle = &text[at..at + len];
                let all: Vec<_> = (0..=text.len() - len).filter(|at| &text[*at..at + len] == needle).collect();
                let found = tiles.candidates(needle).unwrap().holding(&text);
                assert_eq!(found.iter().map(|range| range.start).collect::<Vec<_>>(), all, "{at} {len}");
            }
        }
        assert!(tiles.candidates(&text[..WHOLE - 1]).is_none());
        for short in [&b""[..], b"abc", b"abcdefgh"] {
            assert!(Tiles::of(short).candidates(b"abcdefghijklmnop").unwrap().holding(short).is_empty());
        }
    }
}
