//! The limit of what a command prints, in proportion to what it read.

/// The line of a record that there is no room for: a program that reads along must not lose count.
pub const LEFT_OUT: &[u8] = b"{\"left_out\":true}\n";

/// Number of bytes that may be printed of little input.
const FREE: usize = 1 << 20;

/// Computes how much may be printed of so many bytes: `times` as much.
pub const fn room_of(bytes: usize, times: usize) -> usize {
    let room = bytes.saturating_mul(times);
    if room > FREE { room } else { FREE }
}

/// Longest name that costs no more than a short one, in bytes.
const MAX_NAME: usize = 255;
/// Cost of a name, in bytes.
const NAME: usize = 64;

/// End of a record's text in the output of its block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    /// Offset in the output.
    pub at: usize,
    /// Cost of the output of the block up to here.
    pub cost: usize,
    /// True if the record has to be counted where it is left out.
    pub counts: bool,
}

impl End {
    /// Makes the end of a text that costs its length.
    pub(crate) const fn plain(at: usize, counts: bool) -> Self {
        Self { at, cost: at, counts }
    }
}

/// Computes what printing a text costs. How long the name of its file is must not decide which records there is room for:
/// wherever it is said, it costs the same.
pub(crate) fn cost(text: &[u8], name: &[u8]) -> usize {
    if name.is_empty() || name.len() > MAX_NAME {
        return text.len();
    }
    let said = memchr::memmem::find_iter(text, name).count();
    text.len() + said * NAME - said * name.len()
}

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
        let fit = ends.iter().enumerate().take_while(|(n, end)| end.cost <= left.saturating_sub(rest(*n))).count();
        let (kept, left_out) = ends.split_at(fit);
        out.truncate(kept.last().map_or(0, |end| end.at));
        for _ in left_out {
            out.extend_from_slice(self.left_out);
        }
        self.printed += kept.last().map_or(0, |end| end.cost) + self.left_out.len() * left_out.len();
        left_out.iter().filter(|end| end.counts).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_costs_as_much_as_a_short_one() {
        let text = |name: &str| format!("{name}:1: fault; see {name}").into_bytes();
        let of = |name: &str| cost(&text(name), name.as_bytes());
        assert_eq!(of("a.jsonl"), of(&"folder/".repeat(30)));
        assert!(of(&"x".repeat(1000)) > 2000, "output stays in proportion");
    }

    #[test]
    fn what_is_left_out_is_still_counted_by_whoever_reads_along() {
        let mut room = Room::new(10, b"-");
        let mut out = vec![b'x'; FREE + 20];
        assert_eq!(
            room.take(
                1,
                &mut out,
                &[End::plain(FREE - 2, true), End::plain(FREE + 10, true), End::plain(FREE + 20, false)]
            ),
            1
        );
        assert_eq!((out.len(), out.get(FREE - 2..)), (FREE, Some(&b"--"[..])));
    }

    #[test]
    fn small_sources_share_what_is_free_and_what_is_read_adds_to_it() {
        let mut room = Room::new(10, b"");
        let mut take = |read, ends: &[End]| {
            let mut out = vec![b'x'; ends.last().map_or(0, |end| end.at)];
            let counted = room.take(read, &mut out, ends);
            (out.len(), counted)
        };
        assert_eq!(take(100, &[End::plain(FREE - 50, true)]), (FREE - 50, 0));
        assert_eq!(
            take(100, &[End::plain(40, true), End::plain(60, true), End::plain(70, false)]),
            (40, 1),
            "what is free is free once"
        );
        assert_eq!(take(100, &[End::plain(11, true)]), (0, 1));
        assert_eq!(
            take(FREE as u64 / 5, &[End::plain(FREE, true), End::plain(2 * FREE, true)]),
            (FREE, 1),
            "there is more to read"
        );
        assert_eq!(take(0, &[]), (0, 0));
    }
}
