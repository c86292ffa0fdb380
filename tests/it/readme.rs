//! The documents say what the program does: picture, table of keys and list of rules are the program's own.
//! `UPDATE_README=1 cargo test --test it readme::` writes them.

use crate::support::drive;
use std::fmt::Write as _;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Checks that a document that the program writes, or a part of one, is as the program writes it now.
fn is_own(path: &str, own: &dyn Fn(&str) -> String) {
    let path = root().join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let expected = own(&text);
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert_eq!(text, expected, "run UPDATE_README=1 cargo test --test it readme::");
    }
}

#[test]
fn the_table_of_keys_is_the_programs_own() {
    is_own("docs/keys.md", &|_| {
        let intro = "Every action has an id and can be bound to other keys in `config.toml`:\n\n\
                     ```toml\n[keys]\nnext_step = [\"]\", \"^N\"]\n```\n\n\
                     `stepscope doctor` names every key that means something else because of it.";
        format!("# Keys\n\n{intro}\n\n{}", stepscope::widgets::keymap::markdown().trim_end().to_owned() + "\n")
    });
}

#[test]
fn the_list_of_rules_is_the_programs_own() {
    is_own("docs/rules.md", &|_| {
        let mut text =
            "# Rules\n\n`stepscope rules ID` prints a rule with its reason, a bad example and a good one.\n\n\
                        | rule | severity | finds |\n|---|---|---|\n"
                .to_owned();
        for rule in stepscope_judge::rules::RULES {
            let summary = rule.summary.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {} | {summary} |", rule.id, rule.id.severity());
        }
        text += "\n## What grounded means\n\n\
                 An item is grounded when its quotes are in the lines that it cites and its value is there too, by number, date,\n\
                 currency, unit, negation, name or cell, in any writing. Nothing else is checked: a false paraphrase without any of\n\
                 these needs a language model, and is left alone.\n";
        text += "\n## Reasons for a place to fix\n\n\
                 What `triage.why` names besides rules; no filter takes them, `fix:` filters by the place.\n\n\
                 | reason | |\n|---|---|\n";
        for reason in stepscope_judge::triage::Reason::ALL {
            let _ = writeln!(text, "| `{}` | {} |", reason.word(), reason.phrase());
        }
        text
    });
}

#[test]
fn the_picture_is_made_by_the_program() {
    const BEGIN: &str = "a test keeps it up to date -->\n";
    const END: &str = "<!-- end of picture -->";
    let mut drive = drive::Drive::open(&[root().join("sample_runs/word_problems.jsonl")]);
    drive.resize(104, 28).keys("2G Enter");
    let screen: String = drive.screen().lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    is_own("README.md", &|text| {
        let (head, rest) = text.split_once(BEGIN).unwrap();
        let (_, tail) = rest.split_once(END).unwrap();
        [head, BEGIN, "```\n", screen.trim_end(), "\n```\n", END, tail].concat()
    });
}

#[test]
fn the_readme_is_short_and_its_links_lead_somewhere() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    assert!(read("README.md").lines().count() <= 200);
    let mut count = 0;
    let pages = ["README.md", "python/README.md", "docs/debugging.md", "docs/formats.md", "docs/models.md"];
    for name in pages.into_iter().chain(["docs/pipelines.md", "docs/reviewing.md"]) {
        let folder = root().join(name);
        for link in read(name).split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            assert!(folder.parent().unwrap().join(link).exists(), "{name}: {link}");
            count += 1;
        }
    }
    assert!(count > 15, "only {count} links");
}

/// Returns the texts in backquotes.
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
    let root = root();
    let document = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let text = ["docs/security.md", "docs/architecture.md", "docs/debugging.md", "README.md", "CONTRIBUTING.md"]
        .map(document)
        .concat();
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
            if last.matches('_').count() >= 2
                && !last.starts_with("validate_")
                && !last.starts_with("__")
                && *last != "run_steps_stateful_minimal"
            {
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
fn every_line_at_a_glance_names_tests_that_run() {
    let text = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let table = text.split("## At a glance").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let kinds = ["trusted", "read", "sent", "written", "cost"];
    assert!(kinds.iter().all(|kind| rows.iter().any(|row| row.starts_with(&format!("| {kind} |")))), "{rows:?}");
    let tests = tests_that_run();
    assert!(tests.len() > 500, "only {} tests were found", tests.len());
    for row in rows {
        let cell = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap();
        let named: Vec<&str> = quoted(cell).collect();
        assert!(!named.is_empty(), "no test is named: {row}");
        for name in named {
            assert!(tests.contains(name), "{name} is no test: {row}");
        }
    }
}

/// Returns the names of all functions that the test harness runs.
fn tests_that_run() -> std::collections::HashSet<String> {
    fn read(folder: &std::path::Path, all: &mut std::collections::HashSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, all);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                for marked in text.split("#[test]\n").skip(1) {
                    let code = marked.lines().map(str::trim).find(|line| !line.starts_with(['#', '/']));
                    let name = code.and_then(|line| line.strip_prefix("fn ")?.split('(').next());
                    all.extend(name.map(ToOwned::to_owned));
                }
            }
        }
    }
    let mut all = std::collections::HashSet::new();
    for folder in ["src", "crates", "tests"] {
        read(&root().join(folder), &mut all);
    }
    all
}

#[test]
fn scripts_can_be_run_by_their_names() {
    use std::os::unix::fs::PermissionsExt as _;
    for script in ["benches", "scripts"].iter().flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap()) {
        let path = script.unwrap().path();
        if path.is_file() && std::fs::read(&path).unwrap().starts_with(b"#!") {
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_ne!(mode & 0o111, 0, "{}", path.display());
        }
    }
}

/// Returns the title of each example of a format with the kind that it names, and the ending and text of its file.
fn examples_of_formats(page: &str) -> Vec<(&str, &str, &str, &str)> {
    let section = page.split("\n## An example of each\n").nth(1).unwrap().split("\n## ").next().unwrap();
    section
        .split("\n### ")
        .skip(1)
        .map(|part| {
            let (title, rest) = part.split_once('\n').unwrap();
            let block = rest.split("```").nth(1).unwrap_or_else(|| panic!("{title} begins with no example"));
            let (ending, text) = block.split_once('\n').unwrap();
            (title, quoted(title).last().unwrap_or_else(|| panic!("{title} names no kind")), ending, text)
        })
        .collect()
}

/// Writes the file of an example, or has its shell lines make it; the last of these opens it.
fn file_of_example(folder: &Path, ending: &str, text: &str) -> std::path::PathBuf {
    if ending != "sh" {
        let path = folder.join("example").with_extension(ending);
        std::fs::write(&path, text).unwrap();
        return path;
    }
    std::os::unix::fs::symlink(root().join("sample_runs"), folder.join("sample_runs")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_stepscope")).parent().unwrap().display();
    let (make, open) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-e", "-c", make]).env("PATH", format!("{program}:{}", std::env::var("PATH").unwrap()));
    let made = shell.current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{make}: {made:?}");
    folder.join(open.strip_prefix("stepscope ").unwrap())
}

#[test]
fn every_format_begins_with_an_example_that_opens_as_what_it_says() {
    let page = std::fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let examples = examples_of_formats(&page);
    assert!(examples.len() >= 28, "only {} examples", examples.len());
    let folder = tempfile::tempdir().unwrap();
    for (n, (title, kind, ending, text)) in examples.into_iter().enumerate() {
        // Alone in its folder: what is next to it may belong to it.
        let folder = folder.path().join(n.to_string());
        std::fs::create_dir(&folder).unwrap();
        let path = file_of_example(&folder, ending, text);
        let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_stepscope"));
        let output = check.args(["check", "--format", "jsonl"]).arg(&path).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<serde_json::Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().all(|line| line["kind"] == kind), "{title}: {printed}");
        // The samples are wrong on purpose.
        if title.contains("docintel") {
            assert!(lines.len() > 30, "{title}: {printed}");
            continue;
        }
        let [line] = lines.as_slice() else { panic!("{title}: {} records: {printed}", lines.len()) };
        // What is wrong in it is what the page says, and nothing about its form.
        let rules: Vec<&str> =
            line["findings"].as_array().unwrap().iter().filter_map(|one| one["rule"].as_str()).collect();
        let is_wrong = title.starts_with("Run record") || title.starts_with("Chain of thought");
        assert_eq!(rules, if is_wrong { vec!["run/recompute"] } else { Vec::new() }, "{title}");
        assert!(!is_wrong || line["triage"]["step"] == 2, "{title}: {}", line["triage"]);
    }
}

#[test]
fn every_rule_action_and_field_that_is_named_exists() {
    let text = std::fs::read_to_string(root().join("docs/debugging.md")).unwrap();
    let mut filters = 0;
    for line in text.lines().filter(|line| line.starts_with("correct:") || line.starts_with("conf")) {
        let filter = line.split("  ").next().unwrap();
        assert!(
            stepscope_table::filter::Filter::parse(filter, stepscope_record::types::TypeRegistry::built_in()).is_ok(),
            "{filter}"
        );
        filters += 1;
    }
    assert!(filters > 1, "only {filters} filters are named");
}
