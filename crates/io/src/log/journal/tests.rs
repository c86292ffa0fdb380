use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::contents::Report;
use super::*;
use crate::log::{Append, Appended, LineId, LogEvent, Writer};
use stepscope_base::text::Shown;
use stepscope_review::event::{EventKind, ItemRef, Reviewer, Verdict};
use stepscope_review::fold::Reviews;

fn verdict(id: &str) -> Event {
    let item = ItemRef { id: Some(Untrusted::from(id.to_owned())), ..ItemRef::default() };
    Event::verdict(Reviewer::person("ada"), item, Verdict::Pass)
}

/// A review log and its writer.
struct Journal(Writer, Place);

impl Journal {
    /// Gives an event to the writer, as number `n`.
    fn append(&self, n: u64, event: &mut Event) {
        stamp(event);
        let (place, line) = (self.1.clone(), line(event));
        self.0.append(Append { id: LineId(n), place, content: REVIEWS, line });
    }
}

/// Waits until everything is saved, and tells whether it is.
fn all_saved(journal: Journal) -> bool {
    let closed = journal.0.close();
    closed.wait(Duration::MAX) && closed.unsaved().is_empty()
}

fn open(path: &Path) -> (Journal, Receiver<LogEvent>) {
    let (tell, told) = channel();
    let place = Place::from(path);
    REVIEWS.look(&place).unwrap();
    (Journal(Writer::start(move |what| tell.send(what).is_ok()).unwrap(), place), told)
}

/// Saves events and gives what was met.
fn save(path: &Path, ids: &[&str]) -> Vec<Appended> {
    let (journal, told) = open(path);
    for id in ids {
        journal.append(0, &mut verdict(id));
    }
    assert!(all_saved(journal));
    told.iter().map(|told| told.result.unwrap()).collect()
}

/// Content of the review log, and the report on it.
fn read(path: &Path) -> (Reviews, Report) {
    let mut reviews = Reviews::default();
    let report = read_lines(path, |read, _| {
        reviews.push(read.event);
    })
    .unwrap();
    (reviews, report)
}

fn ids(path: &Path) -> Vec<String> {
    let (reviews, _) = read(path);
    let id = |event: &Event| event.item.as_ref().unwrap().id.as_ref().unwrap().line().into_string();
    reviews.events().map(|event| id(&event)).collect()
}

#[test]
fn what_is_told_saved_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = beside(&folder.path().join("runs.jsonl")).path().to_owned();
    assert_eq!(path, folder.path().join("runs.jsonl.reviews.jsonl"));
    assert_eq!(beside(Path::new("runs/")).path(), Path::new("runs.reviews.jsonl"));
    let here = std::env::current_dir().unwrap().into_os_string().into_string().unwrap() + ".reviews.jsonl";
    assert_eq!(beside(Path::new(".")).path(), Path::new(&here));
    let (journal, told) = open(&path);
    assert!(!path.exists(), "looking creates nothing");
    let mut events = [verdict("a"), verdict("b")];
    for (n, event) in (7..).zip(&mut events) {
        journal.append(n, event);
    }
    for (n, event) in (7..).zip(&events) {
        let LogEvent { id, result } = told.recv().unwrap();
        assert_eq!((id, result.unwrap()), (LineId(n), Appended::default()));
        let kept = read(&path).0;
        assert_eq!(kept.event(&event.event_id), Some((event.clone(), true)));
        let id = uuid::Uuid::parse_str(event.event_id.utf8().unwrap()).unwrap();
        assert_eq!(id.get_version_num(), 7);
        assert!(event.times.decided.as_ref().unwrap().utf8().unwrap().ends_with('Z'));
    }
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(all_saved(journal));
    assert_eq!(read(&path).1, Report::default());
}

#[test]
fn an_event_that_is_given_again_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    let (journal, _told) = open(&path);
    let mut event = verdict("a");
    journal.append(0, &mut event);
    journal.append(1, &mut event);
    assert!(all_saved(journal));
    assert_eq!(ids(&path), ["a"]);
}

#[test]
fn a_torn_line_is_sealed_kept_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    save(&path, &["a", "b"]);
    let whole = std::fs::read(&path).unwrap();
    for cut in 1..whole.len() / 2 {
        let torn = &whole[..whole.len() - cut];
        std::fs::write(&path, torn).unwrap();
        let (_, before) = read(&path);
        // Without its line end alone, the line is whole.
        let lost = u64::from(cut > 1);
        assert_eq!(before.faults(), lost);
        assert_eq!(save(&path, &["c"]), [Appended { sealed: cut < whole.len() / 2, anew: false }]);
        let after = std::fs::read(&path).unwrap();
        assert!(after.starts_with(&[torn, b"\n"].concat()), "nothing is dropped");
        let expected: &[&str] = if lost == 1 { &["a", "c"] } else { &["a", "b", "c"] };
        assert_eq!(ids(&path), expected, "cut by {cut}");
        assert_eq!(read(&path).1.faults(), lost);
    }
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let said = read(&path).1.sentences(&Shown::own("j"));
    assert_eq!(
        said[0].as_str(),
        "j: line 2: incomplete: its writer was stopped or is still writing; kept, not counted"
    );
}

#[test]
fn two_instances_write_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    let writers: Vec<_> = ["a", "b", "c"]
        .map(|tag| {
            let path = path.clone();
            std::thread::spawn(move || {
                let ids: Vec<String> = (0..100).map(|n| format!("{tag}-{n}")).collect();
                save(&path, &ids.iter().map(String::as_str).collect::<Vec<_>>()).len()
            })
        })
        .into_iter()
        .collect();
    let saved: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
    let found = ids(&path);
    assert_eq!((saved, found.len(), read(&path).1), (300, 300, Report::default()));
    for tag in ["a", "b", "c"] {
        let own: Vec<_> = found.iter().filter(|id| id.starts_with(tag)).cloned().collect();
        assert_eq!(own, (0..100).map(|n| format!("{tag}-{n}")).collect::<Vec<_>>(), "each in its order");
    }
}

#[test]
fn a_journal_that_is_moved_away_is_begun_anew_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    let (journal, told) = open(&path);
    journal.append(0, &mut verdict("a"));
    told.recv().unwrap().result.unwrap();
    std::fs::rename(&path, folder.path().join("old")).unwrap();
    journal.append(1, &mut verdict("b"));
    assert_eq!(told.recv().unwrap().result.unwrap(), Appended { sealed: false, anew: true });
    assert_eq!((ids(&folder.path().join("old")), ids(&path)), (vec!["a".to_owned()], vec!["b".to_owned()]));
}

#[test]
fn what_cannot_be_saved_comes_back_and_can_be_given_again() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let path = inner.join("j");
    let (journal, told) = open(&path);
    journal.append(0, &mut verdict("a"));
    told.recv().unwrap().result.unwrap();
    std::fs::remove_dir_all(&inner).unwrap();
    let mut event = verdict("b");
    journal.append(1, &mut event);
    let failure = told.recv().unwrap().result.unwrap_err();
    assert!(failure.to_string().contains("its folder is missing; create it"), "{failure}");
    std::fs::create_dir(&inner).unwrap();
    journal.append(1, &mut event);
    told.recv().unwrap().result.unwrap();
    assert_eq!(ids(&path), ["b"]);
}

#[test]
fn nothing_but_a_journal_is_written_into() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let refused = |path: &Path| REVIEWS.look(&path.into()).err().map(|failure| failure.source.into_string());
    std::fs::write(at("runs.jsonl"), "{\"id\": 1, \"state\": {}}\n").unwrap();
    std::fs::write(at("pretty.json"), "{\n  \"steps\": [").unwrap();
    std::fs::write(at("empty"), "").unwrap();
    symlink(at("runs.jsonl"), at("records")).unwrap();
    symlink(at("pretty.json"), at("named.reviews.jsonl")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for (name, why) in [
        ("runs.jsonl", "does not hold reviews"),
        ("pretty.json", "does not hold reviews"),
        ("records", "does not hold reviews"),
        ("named.reviews.jsonl", "does not hold reviews"),
        ("dangling", "symbolic link"),
        ("pipe", "not a regular file"),
        (".", "not a regular file"),
        ("none/j", "its folder is missing"),
        ("empty/j", "its folder is missing"),
    ] {
        let said = refused(&at(name)).unwrap_or_else(|| panic!("{name} was taken"));
        assert!(said.contains(why), "{name}: {said}");
    }
    // What our own name is given to is a journal, however damaged.
    std::fs::write(at("a.reviews.jsonl"), "{\"id\": 1, \"sta").unwrap();
    assert_eq!(save(&at("a.reviews.jsonl"), &["a"]), [Appended { sealed: true, anew: false }]);
    // Also for root, who may write into a folder without the right.
    let (journal, told) = open(Path::new("/proc/stepscope-reviews"));
    journal.append(0, &mut verdict("a"));
    assert!(told.recv().unwrap().result.is_err());
    assert_eq!(save(&at("empty"), &["a"]), [Appended::default()]);
    // A file that takes the journal's place later is looked at again.
    let path = at("later");
    let (journal, told) = open(&path);
    std::fs::copy(at("runs.jsonl"), &path).unwrap();
    journal.append(0, &mut verdict("a"));
    assert!(told.recv().unwrap().result.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(at("runs.jsonl")).unwrap());
}

#[test]
fn a_damaged_journal_is_read_as_far_as_it_goes_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    save(&path, &["a", "b", "c"]);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    bytes.extend_from_slice(&[0; 4096]);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(save(&path, &["d"]), [Appended { sealed: true, anew: false }]);
    assert_eq!(ids(&path), ["a", "c", "d"]);
    assert!(std::fs::read(&path).unwrap().starts_with(&bytes), "nothing is deleted");
    let said = read(&path).1.sentences(&Shown::own("j"));
    assert_eq!(said.iter().map(Shown::as_str).collect::<Vec<_>>(), ["j: lines 2, 4: damaged; kept, not counted"]);
}

#[test]
fn a_file_without_line_ends_is_no_burden() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    std::fs::write(&path, vec![b'x'; 20 << 20]).unwrap();
    let report = read(&path).1;
    assert_eq!(report.faults(), 1);
    assert!(read(&folder.path().join("none")).1.absent);
    assert!(read_all(&[Place::Named(folder.path().join("none/none"))]).is_err());
}

#[test]
fn what_others_append_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.reviews.jsonl");
    let mut follow = super::Follow::new(&path);
    let ids = |news: &super::contents::News| -> Vec<String> {
        news.events.iter().map(|event| event.event_id.line().into_string()).collect()
    };
    assert!(follow.news().unwrap().events.is_empty(), "there is none yet");
    let line = |id: &str| {
        let mut event = Event::new(EventKind::Note, Reviewer::person("eve"));
        event.event_id = id.to_owned().into();
        event.item = Some(ItemRef { id: Some("a".into()), ..ItemRef::default() });
        let mut line = Vec::new();
        write(&event, &mut line);
        line
    };
    std::fs::write(&path, [line("1"), line("2")].concat()).unwrap();
    assert_eq!(ids(&follow.news().unwrap()), ["1", "2"]);
    assert!(follow.news().unwrap().events.is_empty());
    let third = line("3");
    std::fs::write(&path, [line("1"), line("2"), third[..20].to_vec()].concat()).unwrap();
    let torn = follow.news().unwrap();
    assert_eq!((ids(&torn).len(), torn.sentences.len()), (0, 1), "a line that is being written");
    assert!(follow.news().unwrap().sentences.is_empty(), "it is told once");
    std::fs::write(&path, [line("1"), line("2"), third].concat()).unwrap();
    assert_eq!(ids(&follow.news().unwrap()), ["3"]);
    std::fs::write(&path, line("4")).unwrap();
    let anew = follow.news().unwrap();
    assert!(anew.anew && ids(&anew) == ["4"]);
}

#[test]
fn what_waits_for_the_lock_of_another_program_is_named_until_it_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    save(&path, &["a"]);
    let other = std::fs::File::open(&path).unwrap();
    other.lock().unwrap();
    let (journal, told) = open(&path);
    journal.append(7, &mut verdict("b"));
    let closed = journal.0.close();
    while !closed.is_held() {
        assert!(!closed.wait(Duration::from_millis(1)));
    }
    let [(id, why)] = &closed.unsaved()[..] else { panic!("one line is on its way") };
    assert_eq!((*id, why.source.as_str()), (LineId(7), "another program holds its lock"));
    other.unlock().unwrap();
    assert!(told.recv().unwrap().result.is_ok() && closed.wait(Duration::MAX) && !closed.is_held());
    assert!(closed.unsaved().is_empty());
    assert_eq!(ids(&path), ["a", "b"]);
}

#[test]
fn what_is_said_of_a_line_is_true_of_the_events_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j");
    let [one, other] = ["a", "b"].map(|id| {
        let mut event = verdict(id);
        stamp(&mut event);
        line(&event)
    });
    let bare = [&one[..memchr::memrchr(b',', &one).unwrap()], b"}"].concat();
    let counted = "j: line 1: damaged; kept, complete events in it are counted";
    for (text, events, said) in [
        ([b"\xef\xbb\xbf", &*one, b"\n", &*other, b"\n"].concat(), 2, counted),
        ([b"[", &*one, b", ", &*other, b"]\n"].concat(), 2, counted),
        (b"{\"v\": 1, \"event\n".to_vec(), 0, "j: line 1: damaged; kept, not counted"),
        ([&*bare, b"\n"].concat(), 1, "j: 1 event has no checksum and is used unchecked"),
    ] {
        std::fs::write(&path, text).unwrap();
        let (reviews, report) = read(&path);
        assert_eq!(reviews.len(), events);
        assert_eq!(report.sentences(&Shown::own("j")), [Shown::own(said)]);
    }
}

#[test]
fn a_clock_before_1970_is_no_reason_to_lose_a_verdict() {
    let (before, day) =
        (std::time::UNIX_EPOCH - std::time::Duration::from_secs(1), std::time::Duration::from_hours(24));
    let (one, other) = (super::new_id(before), super::new_id(std::time::UNIX_EPOCH + day));
    assert!(one != super::new_id(before) && one < other, "{one} {other}");
}
