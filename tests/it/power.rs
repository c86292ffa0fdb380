//! Power cuts, on a file system that keeps what was synced and may do anything with the rest: of what was written behind
//! it each sector is there or not, in whatever order, and the length of the file comes first, last or in between.
//! No line that was acknowledged is lost, what is left of the others harms none, and the log goes on.
//!
//! The number of cases is fixed; `STEPSCOPE_FUZZ_SEED=7 cargo test --test it power::` tries others.

use std::collections::HashSet;
use std::path::Path;

use stepscope_base::text::Untrusted;
use stepscope_io::log::forks::FORKS;
use stepscope_io::log::journal::{REVIEWS, line, read_all, stamp};
use stepscope_io::log::{Content, append_line};
use stepscope_io::model::cassette::{Speed, Tape, unpacked};
use stepscope_io::source::beneath::Place;
use stepscope_review::event::{Event, ItemRef, Reviewer, Verdict};

/// Number of power cuts of each log.
const CUTS: u64 = 400;
/// Size of what a disk writes whole or not at all, in bytes.
const SECTOR: usize = 512;

/// Numbers that look like chance (splitmix64), the same for the same seed.
struct Dice(u64);

impl Dice {
    fn new(cut: u64) -> Self {
        let seed = std::env::var("STEPSCOPE_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u64);
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ cut)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((x ^ (x >> 31)) % count as u64).unwrap()
    }
}

/// Returns what a power cut leaves of a file of which so much was synced.
fn cut(written: &[u8], synced: usize, dice: &mut Dice) -> Vec<u8> {
    let mut left = written[..synced + dice.below(written.len() - synced + 1)].to_vec();
    let whole = dice.below(3) == 0;
    for sector in (synced / SECTOR)..left.len().div_ceil(SECTOR) {
        if !whole && dice.below(2) == 0 {
            // What was there before: what was synced, and behind it nothing.
            let end = left.len().min((sector + 1) * SECTOR);
            left[(sector * SECTOR).max(synced)..end].fill(0);
        }
    }
    left
}

/// Cuts the power of a log whose lines these are, `CUTS` times: the first of them were acknowledged. `judge` gets the
/// file with one more line behind the cut, and the lines that must be in it.
fn powerless(content: Content, lines: &[Vec<u8>], judge: impl Fn(&str, &Path, &[&[u8]])) {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..CUTS {
        let mut dice = Dice::new(n);
        let path = folder.path().join(format!("{n}{}", content.suffix));
        let acknowledged = 1 + dice.below(lines.len() - 2);
        let under_way = acknowledged + dice.below(lines.len() - 1 - acknowledged);
        let joined = |lines: &[Vec<u8>]| lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect::<Vec<_>>();
        let synced = joined(&lines[..acknowledged]).len();
        std::fs::write(&path, cut(&joined(&lines[..=under_way]), synced, &mut dice)).unwrap();
        let new = lines.last().unwrap();
        append_line(path.as_path(), content, new).unwrap();
        let text = std::fs::read(&path).unwrap();
        let there: HashSet<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        let wanted: Vec<&[u8]> = lines[..acknowledged].iter().chain([new]).map(Vec::as_slice).collect();
        assert!(wanted.iter().all(|line| there.contains(line)), "cut {n} of {}", content.what);
        judge(&format!("cut {n} of {}", content.what), &path, &wanted);
    }
}

#[test]
fn verdicts_outlive_power_cuts() {
    let events = |n: usize| {
        let item = ItemRef { id: Some(Untrusted::from(format!("q{n}"))), ..ItemRef::default() };
        let note = Some(Untrusted::from("x".repeat(n * 150)));
        let mut event = Event { note, ..Event::verdict(Reviewer::person("ada"), item, Verdict::Pass) };
        stamp(&mut event);
        event
    };
    let events: Vec<Event> = (0..8).map(events).collect();
    let lines: Vec<_> = events.iter().map(line).collect();
    powerless(REVIEWS, &lines, |what, path, wanted| {
        let read = read_all(&[Place::from(path)]).unwrap();
        let said: Vec<Event> = read.reviews.events().collect();
        assert!(said.iter().all(|event| events.contains(event)), "{what}: an event that nobody gave");
        let wanted: Vec<_> = events.iter().filter(|event| wanted.contains(&line(event).as_slice())).collect();
        assert!(wanted.iter().all(|event| said.contains(event)), "{what}: a verdict is lost");
    });
}

#[test]
fn forks_outlive_power_cuts() {
    let fork =
        |n: usize| format!(r#"{{"id":{n},"text":"{}","fork":{{"parent":{{"line":{n}}}}}}}"#, "y".repeat(n * 170));
    let lines: Vec<_> = (0..8).map(|n| fork(n).into_bytes()).collect();
    powerless(FORKS, &lines, |_, _, _| {});
}

#[test]
fn recordings_play_after_power_cuts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/cassette.jsonl.zst");
    let packed = std::fs::read(path).unwrap();
    let text = unpacked(&packed).unwrap();
    let lines: Vec<_> =
        text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(8).map(<[u8]>::to_vec).collect();
    // A recording is synced by nobody: the content of another log stands for its own, which is not public.
    let content = Content { what: "recorded exchanges", is_like: |_| true, ..FORKS };
    powerless(content, &lines, |what, path, _| {
        assert!(Tape::open(path, Speed::AtOnce).is_ok(), "{what}");
    });
}
