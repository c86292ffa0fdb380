//! Showing a run to others from the screen: links, presenting, exports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(dead_code, reason = "the harness serves several test files")]

#[path = "support/drive.rs"]
mod drive;

use std::path::{Path, PathBuf};

use drive::{Drive, runs};
use stepscope::screens::kind::ScreenKind;

const TOWER: &str = "a4aeb5c252e2309a90c2202469ba655b";

fn by_hand() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/by_hand.jsonl")
}

#[test]
fn a_link_leads_where_it_was_copied() {
    let mut d = Drive::open(&[by_hand()]);
    d.keys("j y l");
    let path = by_hand();
    assert_eq!(d.copied, [format!("stepscope {} --id {TOWER}", path.display())]);
    d.keys("Enter 5 [ ] ] y l");
    assert_eq!(d.copied[1], format!("stepscope {} --id {TOWER} --step 2", path.display()));
    let d = Drive::with(&[runs(), path], |app| {
        let sought = app.seek(TOWER, Some(2));
        app.early.extend(sought);
    });
    d.shows(&["step 2/4", "Emma's tower"]);
    assert_eq!(d.app.screen(), ScreenKind::Run);
    let d = Drive::with(&[by_hand()], |app| {
        let sought = app.seek("a4ae", None);
        app.early.extend(sought);
    });
    d.shows(&["no record has the id \"a4ae\""]);
}

#[test]
fn who_presents_saves_nothing_and_shows_the_keys() {
    let mut d = Drive::open(&[by_hand()]);
    d.keys(": p r e s e n t Enter j Enter ]");
    d.shows(&[" Enter   ]"]);
    d.keys("X s");
    d.shows(&["nothing is saved while presenting"]);
    d.keys("q q : p r e s e n t Enter");
    d.shows(&["Presenting ended"]);
    assert!(d.app.presenting.is_none());
    let mut d = Drive::open(&[by_hand()]);
    d.keys(": p r e s e n t Enter q");
    assert_eq!((d.quit, d.kept.len()), (Some(0), 0), "not even where the cursor was");
}
