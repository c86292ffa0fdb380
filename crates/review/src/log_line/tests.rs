use super::*;
use crate::join::Index;
use crate::testing::{full, item};

fn plain(n: usize) -> Event {
    let item = item(&format!("a-{n}"));
    let mut event = Event::verdict(Reviewer::person("ada"), item, Verdict::Pass);
    event.event_id = format!("id-{n}").into();
    event
}

fn line(event: &Event) -> Vec<u8> {
    let mut out = Vec::new();
    write(event, &mut out);
    out
}

/// Reads the events of a whole review log, and the faults.
fn read(journal: &[u8]) -> (Vec<Event>, Vec<LineFault>) {
    let (mut lines, mut events, mut faults) = (LineReader::default(), Vec::new(), Vec::new());
    for line in journal.split(|byte| *byte == b'\n') {
        faults.extend(lines.read(line, |read, _| events.push(read.event)));
    }
    (events, faults)
}

#[test]
fn what_was_written_is_read() {
    for event in [full(), plain(1), Event { findings: Some(vec![]), ..plain(2) }] {
        let line = line(&event);
        assert!(line.is_ascii() && line.ends_with(b"\"}\n") && memchr::memchr(b'\n', &line) == Some(line.len() - 1));
        let mut seen = Vec::new();
        assert_eq!(LineReader::default().read(&line, |read, _| seen.push(read)), None);
        assert_eq!(seen, [ReadEvent { event, checked: true }]);
    }
}

#[test]
fn the_schema_holds_for_what_is_written() {
    let schema = include_str!("../../../record/src/schemas/review.schema.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let valid = |line: &[u8]| validator.is_valid(&serde_json::from_slice(line).unwrap());
    let undo = Event { event_id: "u".into(), ..Event::undo(Reviewer::person("ada"), &full()) };
    for event in [full(), plain(1), undo] {
        assert!(valid(&line(&event)), "{}", String::from_utf8_lossy(&line(&event)));
    }
    assert!(!valid(br#"{"v": 1, "event_id": "x", "kind": "verdict", "reviewer": {"id": "a", "kind": "person"}}"#));
    assert!(!valid(&line(&plain(1)).strip_suffix(b"\n").unwrap().to_ascii_uppercase()));
}

#[test]
fn of_any_flipped_byte_at_most_one_event_is_lost_and_it_is_said() {
    let events: Vec<Event> = (0..20).map(plain).collect();
    let journal: Vec<u8> = events.iter().flat_map(line).collect();
    // Every byte of two lines in the middle and of the last; the others are like them.
    let len = line(&events[11]).len();
    let middle = line(&events[0]).len() * 10;
    for at in (middle..=middle + 2 * len).chain(journal.len() - len..journal.len()) {
        for flip in [0x01, 0x80, journal[at] ^ b'\n', journal[at]] {
            let mut damaged = journal.clone();
            damaged[at] ^= flip;
            let (found, faults) = read(&damaged);
            assert!(found.len() >= 19, "byte {at} ^ {flip:#x}: {} of 20", found.len());
            assert!(found.len() == 20 || !faults.is_empty(), "byte {at} ^ {flip:#x}: lost in silence");
            assert!(found.iter().all(|event| events.contains(event)), "byte {at} ^ {flip:#x}: another event");
        }
    }
}

#[test]
fn whatever_stands_between_the_lines_hides_none() {
    let (one, two) = (line(&plain(1)), line(&plain(2)));
    let trimmed = one.trim_ascii();
    for (journal, expected) in [
        ([trimmed, two.as_slice()].concat(), LineFault::Damaged),
        ([b"\0\0\0\0", one.as_slice(), &two].concat(), LineFault::Damaged),
        ([one.as_slice(), &two, b"\0\0\0"].concat(), LineFault::Damaged),
        ([one.as_slice(), &two[..40], b"\n", &two].concat(), LineFault::Damaged),
        ([one.as_slice(), b"{\"id\": 7, \"state\": {}}\n", &two].concat(), LineFault::Foreign),
        ([one.as_slice(), b"what is this\n", &two].concat(), LineFault::Damaged),
        ([one.as_slice(), b"{\"v\":2,\"event_id\":\"x\",\"kind\":\"dream\"}\n", &two].concat(), LineFault::Newer),
        ([one.as_slice(), b"{\"v\":1,\"event_id\":\"x\",\"kind\":\"dream\"}\n", &two].concat(), LineFault::Senseless),
        ([one.as_slice(), b"{\"v\":1,\"event_id\":\"x\",\"kind\":\"verdict\"}\n", &two].concat(), LineFault::Senseless),
    ] {
        let (events, faults) = read(&journal);
        assert_eq!(
            (events, faults),
            (vec![plain(1), plain(2)], vec![expected]),
            "{}",
            String::from_utf8_lossy(&journal)
        );
    }
    let crlf = [trimmed, b"\r\n\n \r\n", two.trim_ascii()].concat();
    assert_eq!(read(&crlf), (vec![plain(1), plain(2)], vec![]));
}

#[test]
fn a_line_by_hand_needs_no_checksum() {
    let text = br#"{"event_id": "x", "kind": "verdict", "item": {"id": "a"}, "reviewer": {"id": "ada"}, "verdict": "pass", "later": 1}"#;
    let mut seen = Vec::new();
    assert_eq!(LineReader::default().read(text, |read, _| seen.push((read.checked, read.event.verdict))), None);
    assert_eq!(seen, [(false, Some(Verdict::Pass))]);
}

#[test]
fn a_journal_is_told_from_other_files() {
    let line = line(&full());
    for end in 0..line.len() {
        assert!(looks_like_journal(&line[..end]), "{end}");
    }
    assert!(looks_like_journal(b"\n\0\0") && looks_like_journal(br#"x{"a": 1, "event_id": "x"}"#));
    for other in ["{\"id\": 1}\n", "[", "id,verdict\n", "{\n  \"steps\": []", "SQLite format 3\0", "{\"version"] {
        assert!(!looks_like_journal(other.as_bytes()), "{other}");
    }
}

#[test]
fn a_hostile_line_costs_no_time() {
    let heads = HEAD.repeat(100_000);
    let crcs = b",\"crc\":\"00000000\"}".repeat(40_000);
    let started = std::time::Instant::now();
    for line in [[heads.clone(), crcs.clone()].concat(), heads, crcs, b"[".repeat(MAX_LINE)] {
        assert_eq!(LineReader::default().read(&line, |_, _| {}), Some(LineFault::Damaged));
    }
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn what_is_not_utf8_is_kept_as_far_as_json_can() {
    let mut event = plain(1);
    event.note = Some(Text::owned(b"a\xffb\xed\xa0\x80".to_vec()));
    let mut notes = Vec::new();
    LineReader::default().read(&line(&event), |read, _| notes.push(read.event.note.unwrap()));
    assert_eq!(notes[0].bytes(), b"a\xef\xbf\xbdb\xed\xa0\x80");
}

mod any {
    use proptest::prelude::*;

    use super::*;
    use crate::agreement::Agreement;
    use crate::fold::Reviews;
    use crate::stats::Stats;

    proptest! {
        #[test]
        fn bytes_are_read_without_harm(
            cuts in prop::collection::vec((0_usize..3, any::<prop::sample::Index>(), "[ -~\\n\\x00]{0,9}"), 0..12)
        ) {
            let mut journal: Vec<u8> = [full(), plain(1), plain(2)].iter().flat_map(line).collect();
            for (how, at, text) in cuts {
                let at = at.index(journal.len() + 1);
                match how {
                    0 => journal.truncate(at.max(9)),
                    1 => drop(journal.splice(at..at, text.bytes())),
                    _ => drop(journal.splice(at..(at + text.len()).min(journal.len()), text.bytes())),
                }
            }
            let mut reviews = Reviews::default();
            for event in read(&journal).0 {
                reviews.push(event);
            }
            let mut again = Vec::new();
            reviews.events().for_each(|event| write(&event, &mut again));
            prop_assert_eq!(read(&again).0, reviews.events().collect::<Vec<_>>());
            let index = Index::of(&[]);
            let joined = index.join(&reviews);
            Agreement::of(&reviews, &joined).lines();
            Stats::of(&reviews, &joined).lines();
        }
    }
}
