//! The limit of what a command prints, in proportion to what it read.

/// Number of bytes that may be printed of little input.
const FREE: usize = 1 << 20;

/// Computes how much may be printed of so many bytes: `times` as much.
pub const fn room_of(bytes: usize, times: usize) -> usize {
    let room = bytes.saturating_mul(times);
    if room > FREE { room } else { FREE }
}

/// End of a record's text in the output of its block, and whether the record has to be counted where it is left out.
pub(crate) type End = (usize, bool);

/// Room for what is printed of all that was read so far: a folder of small files is a small input, and so is a small
/// store of which long lines are made. Blocks take from it in input order, so that nothing depends on who was faster.
pub(crate) struct Room {
    times: usize,
    left_out: &'static [u8],
    read: usize,
    printed: usize,
}

impl Room {
    /// Makes room for `times` what is read. `left_out` replaces each record that there is no room for, and has its
    /// place always.
    pub(crate) const fn new(times: usize, left_out: &'static [u8]) -> Self {
        Self { times, left_out, read: 0, printed: 0 }
    }

    /// Takes the output of a block made of `read` bytes of the input. What there is no room for is left out, by whole
    /// records; returns how many are to be counted of those.
    pub(crate) fn take(&mut self, read: u64, out: &mut Vec<u8>, ends: &[End]) -> u64 {
        self.read = self.read.saturating_add(read as usize);
        let left = room_of(self.read, self.times).saturating_sub(self.printed);
        // What stands for the rest needs its place too.
        let rest = |n: usize| self.left_out.len() * (ends.len() - n - 1);
        let fit = ends.iter().enumerate().take_while(|(n, (end, _))| *end <= left.saturating_sub(rest(*n))).count();
        let (kept, left_out) = ends.split_at(fit);
        out.truncate(kept.last().map_or(0, |(end, _)| *end));
        for _ in left_out {
            out.extend_from_slice(self.left_out);
        }
        self.printed += out.len();
        left_out.iter().filter(|(_, counts)| *counts).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_still_counted_by_whoever_reads_along() {
        let mut room = Room::new(10, b"-");
        let mut out = vec![b'x'; FREE + 20];
        assert_eq!(room.take(1, &mut out, &[(FREE - 2, true), (FREE + 10, true), (FREE + 20, false)]), 1);
        assert_eq!((out.len(), out.get(FREE - 2..)), (FREE, Some(&b"--"[..])));
    }

    #[test]
    fn small_sources_share_what_is_free_and_what_is_read_adds_to_it() {
        let mut room = Room::new(10, b"");
        let mut take = |read, ends: &[End]| {
            let mut out = vec![b'x'; ends.last().map_or(0, |(end, _)| *end)];
            let counted = room.take(read, &mut out, ends);
            (out.len(), counted)
        };
        assert_eq!(take(100, &[(FREE - 50, true)]), (FREE - 50, 0));
        assert_eq!(take(100, &[(40, true), (60, true), (70, false)]), (40, 1), "what is free is free once");
        assert_eq!(take(100, &[(11, true)]), (0, 1));
        assert_eq!(take(FREE as u64 / 5, &[(FREE, true), (2 * FREE, true)]), (FREE, 1), "there is more to read");
        assert_eq!(take(0, &[]), (0, 0));
    }
}
