//! No sentence that people read uses the words that were replaced by standard ones, and none says one thing with two words.

use std::path::{Path, PathBuf};
use std::process::Command;

use stepscope::widgets::keymap::Action;

/// Words and phrases that no sentence of the program uses.
const BANNED: [&str; 66] = [
    "a half",
    "a key a second",
    "anew",
    "anybody",
    "ask again",
    "asked again",
    "asking again",
    "asks again",
    "asks nobody",
    "beside",
    "board",
    "boards",
    "break off",
    "breaks it off",
    "broken off",
    "came about",
    "cassette",
    "cassettes",
    "customary",
    "edited value",
    "edited values",
    "executed exactly",
    "first bad",
    "go on",
    "goes on",
    "gold answer",
    "gold answers",
    "gold number",
    "gold numbers",
    "gone on with",
    "in sight",
    "journal",
    "journals",
    "made up",
    "mend",
    "mended",
    "nobody",
    "object a line",
    "object an item",
    "not kept",
    "once more",
    "one a line",
    "page a record",
    "played",
    "plays",
    "repairable",
    "row a record",
    "said of",
    "so often",
    "somebody",
    "span",
    "spans",
    "stale",
    "stand",
    "stands",
    "step run",
    "triage",
    "truth value",
    "turned round",
    "typed answer",
    "typed answers",
    "upstream",
    "upstream's",
    "what came",
    "whoever",
    "whom",
];

/// Values for programs, as sentences list them.
const VALUES: [&str; 3] = ["baseline, triage, confidence", "fatal, repairable, warning", "disputed, stale"];

/// Sentences with a banned word that must stay: where they are, the word, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 5] = [
    ("evidence/src/wording.rs", "whom", "a list of words that documents use"),
    ("execution/src/generation.rs", "go on", "the prompt of recordings, byte for byte"),
    ("record/src/notebook/printed.rs", "gold answer", "evoproc prints it in notebooks"),
    ("report/src/page/style.rs", "board", "a class of the page's style sheet"),
    ("io/src/model/setup.rs", "cassette", "the backend that records name"),
];

/// Returns the string literals of a Rust source, without its unit tests; a line break in a literal is a blank.
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

/// Returns a literal without the tags of HTML; nothing of one that is JSON.
fn plain(literal: &str) -> String {
    if literal.trim_start().starts_with("{\"") || literal.starts_with('"') {
        return String::new();
    }
    let mut parts = literal.split('<');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if part.starts_with(|c: char| c.is_ascii_lowercase() || c == '/') {
            text += part.split_once('>').map_or("", |(_, text)| text);
        } else {
            text = format!("{text}<{part}");
        }
    }
    text
}

/// Returns the banned words of a sentence. A word before a colon is a field of the filter, one before `.x` a part of a
/// path.
fn banned(sentence: &str) -> Vec<&'static str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let sentence = VALUES.iter().fold(sentence.to_lowercase(), |sentence, values| sentence.replace(values, ""));
    let is_name = |rest: &str| {
        rest.starts_with(is_word) || rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphabetic))
    };
    let holds = |phrase: &str| {
        let is_field = |rest: &str| rest.starts_with([':', '>']) && !phrase.contains(' ');
        sentence.match_indices(phrase).any(|(at, _)| {
            let rest = &sentence[at + phrase.len()..];
            !sentence[..at].ends_with(is_word) && !is_name(rest) && !is_field(rest)
        })
    };
    BANNED.into_iter().filter(|phrase| holds(phrase)).collect()
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            all.push(path);
        }
    }
}

#[test]
fn literals_and_banned_words_are_found() {
    let source = "// \"no\"\nlet a = \"it \\\n   stands\"; let c = '\"'; r#\"a \"b\" c\"#; \"x\\\"y\"";
    assert_eq!(literals(source), ["it stands", "a \"b\" c", "x y"]);
    assert_eq!(banned("The journal stands beside it"), ["beside", "journal", "stands"]);
    assert!(banned("understands --cassette, a standard sideboards; board: takes triage.fix").is_empty());
    assert_eq!(banned("The board is stale."), ["board", "stale"]);
    assert_eq!(plain("<p class=x>it <b>stands</b> 1 < 2</p><span id= "), "it stands 1 < 2");
    assert_eq!(plain("{\"spans\": []}"), "");
}

#[test]
fn no_sentence_of_the_program_uses_a_banned_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    for library in std::fs::read_dir(root.join("crates")).unwrap() {
        sources(&library.unwrap().path().join("src"), &mut files);
    }
    let mut wrong = Vec::new();
    let mut excepted = [false; EXCEPTIONS.len()];
    let mut sentences = 0;
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        // A literal without a blank is a word for programs: a key, an id, an option.
        for literal in literals(&source).into_iter().filter(|literal| literal.trim().contains(' ')) {
            sentences += 1;
            for word in banned(&plain(&literal)) {
                let known = EXCEPTIONS.iter().position(|known| file.ends_with(known.0) && known.1 == word);
                match known.and_then(|known| excepted.get_mut(known)) {
                    Some(excepted) => *excepted = true,
                    None => wrong.push(format!("{}: {word:?} in {literal:?}", file.display())),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sentences > 2000, "only {sentences} sentences were read");
    for (exception, met) in EXCEPTIONS.iter().zip(excepted) {
        assert!(met, "no such sentence any more: {exception:?}");
    }
}

/// Sentences with the keys of a text line, which nobody binds to something else.
const TEXT_LINE: [&str; 4] = [
    "Tab completes",
    "Tab completes · Up: earlier filters",
    "; Enter searches the text of {unread}",
    "   Enter accept · type to replace · <escape> cancel",
];

/// Returns the keys that a sentence names as they are before anybody binds them to something else.
fn keys_in(sentence: &str) -> Vec<&str> {
    // Letters that are words, names of records or units.
    const LETTERS: [&str; 6] = ["a", "A", "B", "I", "s", "n"];
    let is_word = |word: &str| word.len() > 2 && word.chars().all(|c| c.is_ascii_lowercase());
    if TEXT_LINE.contains(&sentence) || !sentence.split(' ').any(is_word) {
        return Vec::new();
    }
    let tokens = sentence.split(' ').map(|token| token.trim_matches(|c| "(),;:.·".contains(c)));
    let is_key = |token: &&str| match token.chars().collect::<Vec<_>>()[..] {
        [c] => c.is_ascii_alphabetic() && !LETTERS.contains(token) || "*&^~|".contains(c),
        ['^', c] => c.is_ascii_uppercase(),
        _ => ["Enter", "Esc", "Tab", "Space"].contains(token),
    };
    tokens.filter(is_key).collect()
}

#[test]
fn no_message_names_a_key_that_may_be_bound_to_something_else() {
    assert_eq!(keys_in("NOT SAVED: ^S retries; q leaves (Esc)"), ["^S", "q", "Esc"]);
    assert!(keys_in("only in B, a record").is_empty());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for folder in ["app", "dialogs", "screens", "widgets"] {
        sources(&root.join(folder), &mut files);
    }
    let (mut wrong, mut named) = (Vec::new(), 0);
    for file in files.iter().filter(|file| !file.ends_with("keymap.rs")) {
        for literal in literals(&std::fs::read_to_string(file).unwrap()) {
            let said = || format!("{}: {literal:?}", file.display());
            for key in keys_in(&literal) {
                wrong.push(format!("{} names {key}: let it name the action, as <back>", said()));
            }
            let actions =
                literal.split('<').skip(1).filter(|_| literal.contains(' ')).filter_map(|part| part.split_once('>'));
            for (word, _) in actions.filter(|(word, _)| word.chars().all(|c| c.is_ascii_lowercase() || c == '_')) {
                named += 1;
                if Action::from_word(word).is_none() {
                    wrong.push(format!("{}: there is no action {word}", said()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(named > 50, "only {named} keys are named");
}

#[test]
fn every_sign_of_the_screen_has_an_ascii_twin() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut signs = 0;
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        for sign in literals(&source).iter().flat_map(|literal| literal.chars()).filter(|sign| !sign.is_ascii()) {
            signs += 1;
            // The sign of no quote has the twin that others have for want of one.
            let has_twin = sign == '◍' || stepscope_base::ascii::cell(&sign.to_string()) != "?";
            assert!(has_twin, "{}: add a twin of {sign} to crates/base/src/ascii.rs", file.display());
        }
    }
    assert!(signs > 200, "only {signs} signs were read");
}

#[test]
fn no_page_of_the_documentation_uses_a_banned_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Two pages are made of the program's own sentences, and hold its ids.
    let is_generated = |path: &Path| path.ends_with("rules.md") || path.ends_with("keys.md");
    let pages = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md") && !is_generated(path));
    let mut wrong = Vec::new();
    for page in pages.chain([root.join("README.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        let prose = text.split("\n```").step_by(2);
        // Between backticks are names and words for programs.
        let prose = prose.flat_map(str::lines).map(|line| line.split('`').step_by(2).collect::<Vec<_>>().join("`"));
        for line in prose.filter(|line| !banned(line).is_empty()) {
            wrong.push(format!("{}: {:?} in {line:?}", page.display(), banned(&line)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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

#[test]
fn doc_comments_begin_with_a_noun_or_a_verb() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for room in ["src", "crates"] {
        sources(&root.join(room), &mut files);
    }
    // Doc comments of the command line are its help.
    files.retain(|file| !file.starts_with(root.join("src/cli")) && *file != root.join("src/cli.rs"));
    let (mut wrong, mut comments) = (Vec::new(), 0);
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let mut is_inside = false;
        for line in source.lines().map(str::trim_start) {
            let comment = line.strip_prefix("/// ");
            if let Some(comment) = comment.filter(|_| !is_inside) {
                comments += 1;
                let first = comment.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
                if ["What", "Whether", "How", "Where", "Who", "Whom", "Whose", "When", "Why", "Which"].contains(&first)
                {
                    wrong.push(format!("{}: {comment}", file.display()));
                }
            }
            is_inside = line.starts_with("///");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(comments > 5000, "only {comments} comments were read");
}
