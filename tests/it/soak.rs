//! The screen for hours: a file that grows, shrinks and is replaced while it is filtered, searched, opened and recomputed.
//! Nothing of it may pile up.
//!
//! A few seconds here. By hand it goes on as long as asked: `STEPSCOPE_SOAK_SECONDS=3600 cargo test --test it soak::`.
#![cfg(target_os = "linux")]

use crate::support::drive;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::drive::Drive;

/// Duration unless another is asked for.
const SECONDS: u64 = 4;
/// Set where the process runs this test alone.
const ALONE: &str = "STEPSCOPE_SOAK_ALONE";
/// Number of times that the records are in the file at first, and how often they are added in a round.
const BASE: usize = 20;
const ADDED: usize = 3;
/// Number of rounds after which the file is written anew.
const GROWS: usize = 4;
/// Share of the time after which everything has been used once, and what the memory may grow from then on, in kilobytes.
const WARM: f64 = 0.3;
const MAY_GROW: usize = 12 << 10;

/// Returns the memory of this process, in kilobytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Changes the file, and uses everything once.
fn round(d: &mut Drive, path: &Path, records: &[u8], n: usize) {
    let each = records.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"//")).count();
    let grown = n % GROWS;
    if grown == 0 {
        let other = path.with_extension("new");
        std::fs::write(&other, records.repeat(BASE)).unwrap();
        std::fs::rename(&other, path).unwrap();
    } else {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(&records.repeat(ADDED)).unwrap();
    }
    let wanted = each * (BASE + grown * ADDED);
    d.wait_for(|app| app.store.len() == wanted && app.store.is_settled());
    d.keys("f 'kind:procedural' Enter g Enter X q q");
    d.keys("f ^U 'text:dozen' Enter");
    d.wait_for(|app| app.table.filtering.as_ref().is_none_or(|search| search.done));
    d.keys("f ^U Enter > / 'pears' Enter G Enter ] ] J q q I q : 'theme' Esc");
}

/// Runs in a process of its own: other tests take memory too.
#[test]
fn memory_is_flat_however_long_it_is_used() {
    if std::env::var_os(ALONE).is_some() {
        return use_it();
    }
    let test = "soak::memory_is_flat_however_long_it_is_used";
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let output = alone.args([test, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success() && said.contains("1 passed"), "{}", String::from_utf8_lossy(&output.stderr));
}

fn use_it() {
    let seconds = std::env::var("STEPSCOPE_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(SECONDS));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    let mut records = std::fs::read(drive::runs()).unwrap();
    if records.last() != Some(&b'\n') {
        records.push(b'\n');
    }
    std::fs::write(&path, records.repeat(BASE)).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    let (begun, mut warm) = (Instant::now(), None);
    let mut rounds = 0;
    while begun.elapsed() < time || rounds < 3 * GROWS {
        rounds += 1;
        round(&mut d, &path, &records, rounds);
        if rounds.is_multiple_of(GROWS) && begun.elapsed() >= time.mul_f64(WARM) {
            warm.get_or_insert_with(resident);
        }
    }
    let (warm, now) = (warm.unwrap(), resident());
    println!("{rounds} rounds, {warm} kB once it was warm, {now} kB at the end");
    assert!(now <= warm + MAY_GROW, "{warm} kB became {now} kB in {rounds} rounds");
}
