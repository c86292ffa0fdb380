//! No sentence that people read uses the words that were replaced by standard ones, and none says one thing with two words.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, reason = "tests may fail loudly")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Words and phrases that no sentence of the program uses.
const BANNED: [&str; 42] = [
    "a half",
    "a key a second",
    "anew",
    "anybody",
    "asked again",
    "asks nobody",
    "beside",
    "boards",
    "break off",
    "breaks it off",
    "broken off",
    "came about",
    "cassette",
    "customary",
    "executed exactly",
    "first bad",
    "go on",
    "goes on",
    "gone on with",
    "gold answer",
    "gold answers",
    "in sight",
    "journal",
    "journals",
    "made up",
    "mend",
    "mended",
    "nobody",
    "not kept",
    "once more",
    "said of",
    "so often",
    "somebody",
    "stand",
    "stands",
    "step run",
    "the triage",
    "turned round",
    "typed answer",
    "upstream",
    "what came",
    "whom",
];

/// The string literals of a Rust source, without its unit tests; a line break in a literal is a blank.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let text: Vec<char> = source.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    let begins = |at: usize, what: &str| what.chars().enumerate().all(|(n, c)| text.get(at + n) == Some(&c));
    while at < text.len() {
        if begins(at, "//") {
            at += text[at..].iter().take_while(|c| **c != '\n').count();
        } else if begins(at, "'\"'") || begins(at, "'\\\"'") || begins(at, "'\\''") {
            at += 3;
        } else if begins(at, "r#\"") {
            let end = (at + 3..text.len()).find(|at| begins(*at, "\"#")).unwrap_or(text.len());
            found.push(text[at + 3..end].iter().collect());
            at = end + 2;
        } else if text[at] == '"' {
            let (mut literal, mut end) = (String::new(), at + 1);
            while end < text.len() && text[end] != '"' {
                if begins(end, "\\\n") {
                    end += 2 + text[end + 2..].iter().take_while(|c| **c == ' ').count();
                } else if text[end] == '\\' {
                    literal.push(' ');
                    end += 2;
                } else {
                    literal.push(text[end]);
                    end += 1;
                }
            }
            found.push(literal);
            at = end + 1;
        } else {
            at += 1;
        }
    }
    found
}

/// The banned words of a sentence.
fn banned(sentence: &str) -> Vec<&'static str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let sentence = sentence.to_lowercase();
    let holds = |phrase: &str| {
        sentence
            .match_indices(phrase)
            .any(|(at, _)| !sentence[..at].ends_with(is_word) && !sentence[at + phrase.len()..].starts_with(is_word))
    };
    BANNED.into_iter().filter(|phrase| holds(phrase)).collect()
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all.push(path);
        }
    }
}

#[test]
fn literals_and_banned_words_are_found() {
    let source = "// \"no\"\nlet a = \"it \\\n   stands\"; let c = '\"'; r#\"a \"b\" c\"#; \"x\\\"y\"";
    assert_eq!(literals(source), ["it stands", "a \"b\" c", "x y"]);
    assert_eq!(banned("The journal stands beside it"), ["beside", "journal", "stands"]);
    assert!(banned("understands --cassette, a standard sideboards").is_empty());
}

#[test]
fn no_sentence_on_the_screen_uses_a_banned_word() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut wrong = Vec::new();
    let mut sentences = 0;
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        // A literal without a blank is a word for programs: a key, an id, an option.
        for literal in literals(&source).into_iter().filter(|literal| literal.trim().contains(' ')) {
            sentences += 1;
            let words = banned(&literal);
            if !words.is_empty() {
                wrong.push(format!("{}: {words:?} in {literal:?}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sentences > 500, "only {sentences} sentences were read");
}

#[test]
fn no_help_of_the_shell_uses_a_banned_word() {
    let help = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_stepscope")).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let own = help(&["--help"]);
    let commands: Vec<&str> = own
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(commands.contains(&"check") && commands.contains(&"review"), "{commands:?}");
    let mut wrong = Vec::new();
    for command in commands.iter().copied().filter(|command| *command != "help") {
        for line in help(&[command, "--help"]).lines() {
            if !banned(line).is_empty() {
                wrong.push(format!("{command}: {:?} in {line:?}", banned(line)));
            }
        }
    }
    for line in own.lines().map(str::to_owned).chain(help(&["keys"]).lines().map(|line| {
        // Between keys and help is the id of the action, a word for programs.
        line.split_whitespace().collect::<Vec<_>>().join(" ").replace(" boards ", " ").replace(" disputes ", " ")
    })) {
        if !banned(&line).is_empty() {
            wrong.push(format!("{:?} in {line:?}", banned(&line)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
