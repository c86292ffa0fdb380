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
    let expected = format!("\n{}", stepscope::widgets::keymap::markdown());
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(path, [head, BEGIN, &expected, END, tail].concat()).unwrap();
    } else {
        assert_eq!(table, expected, "run UPDATE_README=1 cargo test --test readme");
    }
}

/// The texts in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_test_and_file_that_the_documents_name_exists() {
    fn read(folder: &std::path::Path, all: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, all);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                all.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let text = ["docs/security.md", "docs/architecture.md", "CONTRIBUTING.md"].map(document).concat();
    let mut code = String::new();
    for folder in ["src", "crates", "tests"] {
        read(&root.join(folder), &mut code);
    }
    let mut names = 0;
    for quoted in quoted(&text) {
        let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let parts: Vec<&str> = quoted.split("::").collect();
        if std::path::Path::new(quoted).extension().is_some_and(|extension| extension == "rs") {
            // A file to be written, or one named right after its folder.
            let is_open = quoted.contains("NAME") || !quoted.contains('/');
            assert!(is_open || root.join(quoted).is_file(), "{quoted}");
        } else if parts.iter().all(|part| is_word(part)) {
            let (last, path) = parts.split_last().unwrap();
            let path: Vec<&str> = path.iter().copied().filter(|part| *part != "tests").collect();
            if last.matches('_').count() >= 2 {
                assert!(code.contains(&format!("fn {last}(")), "there is no test {quoted}");
                names += 1;
            }
            if !path.is_empty() {
                // Of a library its name comes first.
                let (library, within) = path.split_first().unwrap();
                let within = root.join("crates").join(library).join("src").join(within.join("/"));
                let is_there = |path: std::path::PathBuf| path.with_extension("rs").exists() || path.exists();
                assert!(is_there(root.join("src").join(path.join("/"))) || is_there(within), "{quoted}");
            }
        }
    }
    assert!(names > 30, "only {names} tests are named");
}

#[test]
fn every_rule_action_and_field_that_is_named_exists() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    for line in text.lines().filter(|line| line.starts_with("correct:") || line.starts_with("conf")) {
        let filter = line.split("  ").next().unwrap();
        assert!(stepscope_core::table::filter::Filter::parse(filter).is_ok(), "{filter}");
    }
}
