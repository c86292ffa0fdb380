//! The README says what the program does: its table of keys is the program's own.
//! `UPDATE_README=1 cargo test --test readme` writes it anew.
#![allow(clippy::unwrap_used, reason = "tests may fail loudly")]

const BEGIN: &str = "a test keeps them the same -->\n";
const END: &str = "<!-- end of keys -->";

#[test]
fn the_table_of_keys_is_the_programs_own() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (table, tail) = rest.split_once(END).unwrap();
    let expected = format!("\n{}", stepscope::tui::keymap::markdown());
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(path, [head, BEGIN, &expected, END, tail].concat()).unwrap();
    } else {
        assert_eq!(table, expected, "run UPDATE_README=1 cargo test --test readme");
    }
}

#[test]
fn every_rule_action_and_field_that_is_named_exists() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    for line in text.lines().filter(|line| line.starts_with("correct:") || line.starts_with("conf")) {
        let filter = line.split("  ").next().unwrap();
        assert!(stepscope::domain::filter::Filter::parse(filter).is_ok(), "{filter}");
    }
}
