//! Showing a run to others from the screen: links, presenting, exports.

use std::path::{Path, PathBuf};

use crate::support::drive::{Drive, runs};
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
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
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
    let answers = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("reviews.jsonl");
    let mut d = Drive::reviewing_in(&answers, &journal, "ada", folder.path(), |_| {});
    d.keys(": p r e s e n t Enter 19G Enter");
    for key in ["+", "\\", "&", "*", "a", "x", "1 a"] {
        d.keys(key);
        assert!(d.status().contains("nothing is saved while presenting"), "{key}: {}", d.status());
    }
    assert_eq!((d.app.log.events().count(), journal.exists()), (0, false));
}

#[test]
fn o_exports_what_is_in_front() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs.jsonl");
    std::fs::copy(by_hand(), &runs).unwrap();
    let mut d = Drive::open(&[runs]);
    let write = |d: &mut Drive, name: &str, pick: &str| {
        let path = folder.path().join(name);
        d.keys(&format!("o {pick} Enter ^U"));
        d.paste(path.to_str().unwrap());
        d.keys("Enter");
        std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{name} was not written\n{}", d.screen()))
    };
    d.keys("j Enter 5 [ ] ]");
    let page = write(&mut d, "a.html", "g");
    assert!(page.contains("<details id=\"step-2\" open>") && page.contains("Emma"), "the step in question is open");
    assert!(write(&mut d, "a.md", "j").starts_with("<!-- stepscope -->"), "the last form is under the cursor");
    let picture = write(&mut d, "a.svg", "g 2 j");
    assert!(picture.contains("Dario") && picture.contains("prefers-color-scheme:light"));
    d.keys("2 Tab");
    let pane = write(&mut d, "a.pane.svg", "g 3 j");
    assert!(pane.contains("Global state") && !pane.contains("Findings"), "the pane that has the keys alone\n{pane}");
    assert!(write(&mut d, "a.cast", "g 4 j").starts_with("{\"version\":3"));
    d.keys("q");
    d.keys("o g 3 j Enter");
    d.shows(&["this screen has one pane"]);
    d.keys("Esc");
    assert!(write(&mut d, "table.svg", "g 2 j").contains("fitness"), "the table too");
    // The same file again is refused for a picture, and a page takes the place of a page.
    d.keys("o g 2 j Enter ^U");
    d.paste(folder.path().join("table.svg").to_str().unwrap());
    d.keys("Enter");
    d.shows(&["nothing is overwritten"]);
    // What was typed can be changed: the prompt is there again.
    d.keys("Esc o g 2 j Enter ^U");
    d.paste(folder.path().join("gone/new.svg").to_str().unwrap());
    d.keys("Enter").shows(&["gone/new.svg"]);
    assert!(d.app.screens.dialog.is_some() && d.status().contains("cannot"), "{}", d.screen());
    std::fs::create_dir(folder.path().join("gone")).unwrap();
    d.keys("Enter");
    assert!(d.app.screens.dialog.is_none() && folder.path().join("gone/new.svg").exists(), "{}", d.screen());
    // A click chooses, and a second one does what Enter does; outside it closes.
    d.keys("o g").click_on("Picture");
    // What stands below the list is no row of it.
    d.click_on("home folders");
    d.click_on("Picture");
    d.shows(&["table.svg"]);
    d.keys("Esc Esc o").click(0, 0);
    assert!(d.app.screens.dialog.is_none());
    // Charts of all records show none of them.
    d.keys("I o g Enter").shows(&["no record here"]);
}

#[test]
fn what_looks_private_is_not_exported_unless_it_is_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs.jsonl");
    let text = std::fs::read_to_string(by_hand()).unwrap();
    std::fs::write(&runs, text.lines().nth(1).unwrap().replace("Emma's tower", "ada@example.org")).unwrap();
    let mut d = Drive::open(&[runs]);
    let to = |d: &mut Drive, name: &str, pick: &str| {
        let path = folder.path().join(name);
        d.keys(&format!("o {pick} Enter ^U"));
        d.paste(path.to_str().unwrap());
        d.keys("Enter");
        std::fs::read_to_string(&path).ok()
    };
    assert_eq!(to(&mut d, "a.html", "g"), None);
    d.shows(&["4 places look private", "an e-mail address"]);
    d.keys("Esc");
    let page = to(&mut d, "a.html", "g Space").unwrap();
    assert!(page.contains("[redacted:email]") && !page.contains("ada@example"));
    assert_eq!(to(&mut d, "a.svg", "g 2 j"), None);
    d.shows(&["private; use stepscope export", "a.svg"]);
}
