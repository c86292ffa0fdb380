//! No verdict that was acknowledged is lost or doubled: the program is killed between and inside of system calls, its
//! calls fail, and several of it write at once.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const STEPSCOPE: &str = env!("CARGO_BIN_EXE_stepscope");

/// Formats the lines of `n` verdicts with ids `TAG-1`, `TAG-2`, ...
fn verdicts(tag: &str, n: usize) -> String {
    let note = "x".repeat(200);
    let line =
        |k| format!("{{\"id\": \"{tag}-{k}\", \"verdict\": \"fail\", \"labels\": [\"a\"], \"note\": \"{note}\"}}\n");
    (1..=n).map(line).collect()
}

/// Starts a writer that reads its verdicts from a file, so that it need not be fed. `before`: the command that runs it.
fn writer(folder: &Path, journal: &Path, tag: &str, n: usize, before: &[&str]) -> Child {
    let input = folder.join(format!("{tag}.in"));
    std::fs::write(&input, verdicts(tag, n)).unwrap();
    let (program, rest) = before.split_first().map_or((STEPSCOPE, &[][..]), |(program, rest)| (*program, rest));
    let mut command = Command::new(program);
    if program != STEPSCOPE {
        command.args(rest).arg(STEPSCOPE);
    }
    command
        .args(["review", "add", "--reviewer", tag, "--reviews"])
        .arg(journal)
        .stdin(std::fs::File::open(input).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn acknowledged(output: &str) -> Vec<String> {
    output.lines().filter_map(|line| line.strip_prefix("saved ")).map(str::to_owned).collect()
}

fn acks(output: &Output) -> Vec<String> {
    acknowledged(std::str::from_utf8(&output.stdout).unwrap())
}

/// Returns the ids that can be read.
fn read(journal: &Path) -> Vec<String> {
    let output = Command::new(STEPSCOPE).args(["review", "list", "--ids", "--reviews"]).arg(journal).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Checks that everything acknowledged is there once, that at most one record of each writer is there without, and that
/// the review log can still be written.
fn judge(what: &str, folder: &Path, journal: &Path, acked: &[String], writers: &[&str]) {
    let found = read(journal);
    let set: HashSet<&String> = found.iter().collect();
    assert_eq!(set.len(), found.len(), "{what}: an duplicate ids");
    let lost: Vec<_> = acked.iter().filter(|id| !set.contains(id)).collect();
    assert!(lost.is_empty(), "{what}: lost {lost:?}");
    for tag in writers {
        let of = |ids: &[String]| ids.iter().filter(|id| id.starts_with(&format!("{tag}-"))).count();
        assert!(of(&found) <= of(acked) + 1, "{what}: {} records of {tag}, {} acknowledged", of(&found), of(acked));
    }
    let again = writer(folder, journal, "again", 2, &[]).wait_with_output().unwrap();
    assert_eq!(acks(&again), ["again-1", "again-2"], "{what}: {again:?}");
    let after = read(journal);
    assert!(found.iter().all(|id| after.contains(id)), "{what}: what was there is not there any more");
    assert_eq!(after.len(), found.len() + 2, "{what}");
}

struct Place {
    folder: tempfile::TempDir,
    journals: usize,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), journals: 0 }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn journal(&mut self) -> PathBuf {
        self.journals += 1;
        self.path().join(format!("j{}", self.journals))
    }
}

#[test]
fn killed_at_any_moment() {
    let mut place = Place::new();
    // Pseudo-random, and the same every time.
    let mut seed = 6_u64;
    for round in 0..12 {
        let journal = place.journal();
        let mut acked = Vec::new();
        for tag in ["a", "b"] {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let after = seed >> 58;
            let mut child = writer(place.path(), &journal, tag, 5_000, &[]);
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let seen: Vec<String> = lines.by_ref().take(after as usize).map(Result::unwrap).collect();
            child.kill().unwrap();
            let rest: Vec<String> = lines.map_while(Result::ok).collect();
            child.wait().unwrap();
            acked.extend(acknowledged(&[seen, rest].concat().join("\n")));
        }
        judge(&format!("round {round}"), place.path(), &journal, &acked, &["a", "b"]);
    }
}

#[test]
fn three_writers_at_once() {
    let mut place = Place::new();
    let journal = place.journal();
    let tags = ["a", "b", "c"];
    let children = tags.map(|tag| writer(place.path(), &journal, tag, 100, &[]));
    let acked: Vec<String> = children.into_iter().flat_map(|child| acks(&child.wait_with_output().unwrap())).collect();
    assert_eq!(acked.len(), 300);
    judge("three writers", place.path(), &journal, &acked, &tags);
}

/// Tells whether calls can be traced and made to fail here.
fn can_trace() -> bool {
    let traced = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    let can = traced.is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: there is no strace, or it may not trace");
    }
    can
}

/// Counts each call that changes what is on the disk, made by a writer of three verdicts.
fn calls(place: &mut Place) -> Vec<(String, usize)> {
    const CALLS: &str =
        "trace=write,pwrite64,writev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat";
    let (journal, log) = (place.journal(), place.path().join("log"));
    let before = ["strace", "-f", "-qq", "-o", log.to_str().unwrap(), "-e", CALLS];
    writer(place.path(), &journal, "count", 3, &before).wait_with_output().unwrap();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let Some((head, _)) = line.split_once('(') else { continue };
        let name = head.split_whitespace().last().unwrap_or_default();
        match counts.iter_mut().find(|(call, _)| call == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name.to_owned(), 1)),
        }
    }
    counts
}

#[test]
fn every_call_killed_or_failing() {
    if !can_trace() {
        return;
    }
    let mut place = Place::new();
    let calls = calls(&mut place);
    assert!(calls.iter().any(|(call, count)| call == "fdatasync" && *count >= 3), "{calls:?}");
    for (call, count) in &calls {
        for k in 1..=*count {
            for fault in ["signal=KILL", "error=ENOSPC", "error=EIO", "error=EINTR"] {
                let what = format!("{call} {k} {fault}");
                let journal = place.journal();
                let mut acked = acks(&writer(place.path(), &journal, "old", 2, &[]).wait_with_output().unwrap());
                assert_eq!(acked.len(), 2);
                let (trace, inject) = (format!("trace={call}"), format!("inject={call}:{fault}:when={k}"));
                let before = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
                let output = writer(place.path(), &journal, "a", 3, &before).wait_with_output().unwrap();
                acked.extend(acks(&output));
                judge(&what, place.path(), &journal, &acked, &["old", "a"]);
            }
        }
    }
}

#[test]
fn a_failed_sync_is_tried_once_more_on_a_fresh_descriptor_and_then_said() {
    if !can_trace() {
        return;
    }
    let mut place = Place::new();
    for (when, saved, what) in [("when=2", 3, "one failure"), ("when=2+", 1, "failures from then on")] {
        let journal = place.journal();
        let inject = format!("inject=fdatasync:error=EIO:{when}");
        let before = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", &inject];
        let output = writer(place.path(), &journal, "a", 3, &before).wait_with_output().unwrap();
        assert_eq!(acks(&output).len(), saved, "{what}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.contains("NOT SAVED a-2: cannot save to "), saved == 1, "{what}: {said}");
        assert_eq!(output.status.code(), Some(if saved == 3 { 0 } else { 2 }));
        judge(what, place.path(), &journal, &acks(&output), &["a"]);
    }
}

#[test]
fn what_cannot_be_saved_is_said_at_once() {
    let place = Place::new();
    let read_only = Path::new("/proc/stepscope-reviews");
    let output = writer(place.path(), read_only, "a", 3, &[]).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), acks(&output).len()), (Some(2), 0));
    assert!(said.contains("NOT SAVED"), "{said}");

    // The folder goes away under a running writer.
    let inner = place.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let mut child = Command::new(STEPSCOPE)
        .args(["review", "add", "--reviews"])
        .arg(inner.join("j"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    input.write_all(verdicts("a", 1).as_bytes()).unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "saved a-1");
    std::fs::remove_dir_all(&inner).unwrap();
    input.write_all(verdicts("b", 2).as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), lines.next().is_none()), (Some(2), true));
    assert!(said.contains("NOT SAVED b-1") && said.contains("nothing from line 2 on is saved"), "{said}");
}
