//! The laws of the house, read from the source: who may know whom, who may touch files, colours and cells.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use graph::{circles, circles_of_rooms, functions};

mod graph;

/// Kinds of screens, as the code names them.
const SCREENS: &[&str] =
    &["Table", "Run", "Answer", "Json", "Rerun", "Compare", "SideBySide", "Dashboard", "Adjudication", "Insights"];
/// Panes of the run screen.
const PANES: &[&str] = &["Question", "Worked", "Steps", "Step", "Call", "Timeline", "State", "Findings", "Peers"];

/// Law: words that the files it applies to must not hold.
struct Law {
    /// Reason of the law.
    why: &'static str,
    /// Beginnings of paths as [`files`] gives them, or whole paths; `*` is any one folder.
    files: &'static [&'static str],
    /// Exceptions.
    but: &'static [&'static str],
    /// Words that the code must not hold.
    banned: &'static [&'static str],
}

const OUTSIDE: &[&str] =
    &["std::fs", "std::net", "std::process", "std::thread", "tokio", "crossterm", "ratatui", "notify", "clap"];

/// Folders of the screen.
const SCREEN: &[&str] = &["app", "demo", "screens", "dialogs", "widgets"];

/// Files of the screen that change its state or draw it, without doing anything outside.
const PURE: &[&str] = &[
    "app/actions",
    "app/across",
    "app/allowed.rs",
    "app/bars.rs",
    "app/fork_tree.rs",
    "app/forks.rs",
    "app/model_choice.rs",
    "app/msg.rs",
    "app/offered.rs",
    "app/open_record.rs",
    "app/computed.rs",
    "app/review",
    "app/state.rs",
    "app/update",
    "app/view.rs",
    "screens",
    "dialogs",
    "widgets",
];

/// Files with the state of the screens and dialogs.
const STATE: &[&str] = &[
    "dialogs/*/state.rs",
    "dialogs/derivation.rs",
    "dialogs/dialog.rs",
    "dialogs/editor.rs",
    "screens/*/state.rs",
    "screens/stack.rs",
];

/// Files that draw, besides all with a `Buffer` in their hands: they lay out what others draw.
const DRAWING: &[&str] = &[
    "app/view.rs",
    "app/bars.rs",
    "app/review/strip.rs",
    "dialogs/*/draw.rs",
    "dialogs/contents.rs",
    "dialogs/fixes.rs",
    "dialogs/help.rs",
    "dialogs/palette.rs",
    "dialogs/popup.rs",
    "dialogs/window.rs",
    "screens/*/draw.rs",
    "screens/answer/layout.rs",
    "screens/run/layout.rs",
    "widgets/layout.rs",
];

/// Files that have a `Buffer` in their hands and change the state too: the program that is drawn, those that draw it, and
/// the definitions that name both.
const DRAWN: &[&str] = &["app/update.rs", "demo", "screens/run/pane_def.rs", "screens/screen_def.rs"];

const DRAWING_CHANGES_NOTHING: &str = "drawing changes nothing";

const LAWS: &[Law] = &[
    Law {
        why: "what is below io knows no files, network, async or terminal",
        files: PURE_CRATES,
        but: &[],
        banned: OUTSIDE,
    },
    Law { why: "io draws nothing", files: &["io"], but: &[], banned: &["ratatui", "crossterm", "clap::"] },
    Law {
        why: "the terminal knows nothing of records",
        files: &["terminal"],
        but: &[],
        banned: &["stepscope_record", "stepscope_judge", "stepscope_io"],
    },
    Law {
        why: "cli knows no screen",
        files: &["cli"],
        but: &[],
        banned: &["crate::app", "crate::screens", "crate::dialogs", "crate::widgets", "ratatui", "crossterm"],
    },
    Law { why: "the screen knows no commands", files: SCREEN, but: &[], banned: &["crate::cli", "clap::"] },
    Law {
        why: "state and drawing do no I/O: it is an effect",
        files: PURE,
        but: &[],
        banned: &[
            "std::fs",
            "std::net",
            "std::process",
            "std::thread",
            "File::open",
            "tokio",
            "spawn(",
            "reading.line",
            ".blob()",
            "reading.read",
            "stdout",
            "stderr",
        ],
    },
    Law {
        why: "colours come from the theme; the terminal layer writes them",
        files: SCREEN,
        but: &["widgets/theme.rs", "demo/picture.rs", "terminal/colour.rs", "terminal/screen.rs"],
        banned: &["Color::", "Color,", "Color}", "Color;"],
    },
    Law {
        why: "widgets know no screen",
        files: &["widgets"],
        but: &[],
        banned: &["crate::app", "crate::screens", "crate::dialogs"],
    },
    Law {
        why: DRAWING_CHANGES_NOTHING,
        files: DRAWING,
        but: &[],
        banned: &["&mut App", "&mut RecordView", "&mut Table", "RefCell", "Cell::new", "static mut"],
    },
    Law {
        why: "state never asks drawing for heights: they are passed in",
        files: STATE,
        but: &[],
        banned: &["draw::", "app::state"],
    },
    Law {
        why: "the screen's threads are listed in one place",
        files: SCREEN,
        but: &["app/threads.rs", "demo/play.rs"],
        banned: &["thread::spawn", "thread::Builder", "Builder::new"],
    },
    Law {
        why: "text reaches a cell through ratatui's widgets",
        files: SCREEN,
        // Puts the program's own ASCII in the place of what a widget has drawn.
        but: &["widgets/ascii.rs"],
        banned: &["set_symbol("],
    },
    Law {
        why: "only command output and last words print, and the terminal layer asks what it stands on",
        files: &[""],
        but: &["cli/out.rs", "terminal/terminal.rs", "main.rs"],
        banned: &["println!", "eprintln!", "print!(", "eprint!(", "dbg!(", "io::stdout", "io::stderr"],
    },
    Law { why: "nothing is unsafe", files: &[""], but: &[], banned: &["unsafe {", "unsafe fn", "unsafe impl"] },
    Law {
        why: "only the loops of the screen and of the calls wait for several things",
        files: &[""],
        but: &["terminal/run.rs", "io/model/drive.rs"],
        banned: &["select!"],
    },
];

/// Call that puts a constant character into a cell: one that does not come from data.
const SET_CHAR: &str = "set_char('";
/// The one call with data, and its file: only characters of the head of a text that `split_plain` found to be plain.
const SET_PLAIN: (&str, &str) = ("widgets/look.rs", "head.chars()).for_each(|(cell, c)| _ = cell.set_char(c)");

/// Libraries below `crates/`. `memory` is left out: it is the one that must be unsafe.
const CRATES: &[&str] = &[
    "base",
    "schema",
    "arithmetic",
    "evidence",
    "record",
    "redact",
    "judge",
    "review",
    "execution",
    "compare",
    "table",
    "present",
    "report",
    "io",
    "terminal",
];

/// Libraries that know neither files nor network nor terminal.
const PURE_CRATES: &[&str] = &[
    "base",
    "schema",
    "arithmetic",
    "evidence",
    "record",
    "redact",
    "judge",
    "review",
    "execution",
    "compare",
    "table",
    "present",
    "report",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads every source file: its name and its text. A file of the program is named by its path below `src/`, one of a
/// library by the name of the library and its path there: `judge/rules/run.rs`.
fn files() -> Vec<(String, String)> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                out.push(path);
            }
        }
    }
    let read = |folder: PathBuf, library: &str| {
        let mut paths = Vec::new();
        walk(&folder, &mut paths);
        paths.sort();
        let name = |path: &Path| path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        let file = |path: &PathBuf| (format!("{library}{}", name(path)), std::fs::read_to_string(path).unwrap());
        paths.iter().map(file).collect::<Vec<_>>()
    };
    let mut files = read(root().join("src"), "");
    for library in CRATES {
        files.extend(read(root().join("crates").join(library).join("src"), &format!("{library}/")));
    }
    let tests = files_of_tests(&files);
    files.into_iter().filter(|(name, _)| !tests.contains(name)).collect()
}

/// Returns the files that are compiled for tests only: they make what they open.
fn files_of_tests(files: &[(String, String)]) -> Vec<String> {
    let declared = |(name, text): &(String, String)| {
        let module = name.strip_suffix(".rs").unwrap();
        let folder = module.strip_suffix("/lib").unwrap_or(module).to_owned();
        let text = text.replace("#[cfg(test)]\npub(crate) mod ", "#[cfg(test)]\nmod ");
        let modules = text.split("#[cfg(test)]\nmod ").skip(1);
        let modules =
            modules.filter_map(|rest| rest.split_once(';')).filter(|(module, _)| !module.contains(['{', ' ']));
        modules.map(|(module, _)| format!("{folder}/{module}.rs")).collect::<Vec<_>>()
    };
    files.iter().flat_map(declared).collect()
}

/// Returns the code of a file without comments, texts and its own tests, so that these may name what is banned.
fn code(source: &str) -> String {
    let mut out = String::new();
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            'r' if chars.peek() == Some(&'#') || chars.peek() == Some(&'"') => {
                let hashes = std::iter::from_fn(|| chars.next_if_eq(&'#')).count();
                if chars.next_if_eq(&'"').is_none() {
                    // A raw name, such as r#type.
                    out.push(c);
                    continue;
                }
                let end = format!("\"{}", "#".repeat(hashes));
                let mut text = String::new();
                while !text.ends_with(&end) {
                    text.push(chars.next().unwrap_or_default());
                }
                out.push_str("\"\"");
            }
            '"' => {
                while let Some(inside) = chars.next() {
                    match inside {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                out.push_str("\"\"");
            }
            '\'' => {
                out.push(c);
                // A character, not a lifetime.
                let mut ahead = chars.clone();
                let first = ahead.next();
                if first == Some('\\') || ahead.next() == Some('\'') {
                    if chars.next() == Some('\\') {
                        chars.next();
                    }
                    while chars.next_if(|c| *c != '\'').is_some() {}
                    chars.next();
                    out.push('\'');
                }
            }
            _ => out.push(c),
        }
    }
    without_tests(&out)
}

fn without_tests(code: &str) -> String {
    match code.find("#[cfg(test)]\nmod tests {") {
        Some(at) => code[..at].to_owned(),
        None => code.to_owned(),
    }
}

fn is_for(files: &[&str], name: &str) -> bool {
    files.iter().any(|file| {
        let is_in_any_folder = || {
            let (before, after) = file.split_once('*')?;
            let folder = name.strip_prefix(before)?.strip_suffix(after)?;
            Some(!folder.contains('/'))
        };
        file.is_empty()
            || name == *file
            || name.starts_with(&format!("{file}/"))
            || name == format!("{file}.rs")
            || is_in_any_folder().unwrap_or_default()
    })
}

/// Describes each breach of a law in a file, as a sentence.
fn breaches(name: &str, source: &str) -> Vec<String> {
    let code = code(source);
    let mut out = Vec::new();
    // `use crate::{app::x, cli::y}` and `use std::{fs, thread}` say the same in other words.
    let code = flattened(&code);
    let draws = is_for(SCREEN, name) && !is_for(DRAWN, name) && code.contains("&mut Buffer");
    let is_under = |law: &&Law| is_for(law.files, name) || law.why == DRAWING_CHANGES_NOTHING && draws;
    for law in LAWS.iter().filter(|law| is_under(law) && !is_for(law.but, name)) {
        for banned in law.banned.iter().filter(|banned| holds(&code, banned)) {
            out.push(format!("{name} holds {banned}: {}", law.why));
        }
    }
    if is_for(SCREEN, name) {
        let plain = usize::from(name == SET_PLAIN.0 && code.contains(SET_PLAIN.1));
        let own = code.matches(SET_CHAR).count() + plain;
        if code.matches("set_char(").count() > own {
            out.push(format!("{name} puts a character into a cell that may come from data"));
        }
    }
    let knows_screen = SCREEN.iter().any(|room| holds(&code, &format!("crate::{room}::")));
    if name != "main.rs" && !is_for(SCREEN, name) && knows_screen {
        out.push(format!("{name} knows the screen: only main does"));
    }
    out
}

/// Tells whether the code holds a word, not as the end of a longer one.
fn holds(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !word.starts_with(char::is_alphanumeric) || !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Returns the code with an additional line for every path in a grouped import.
fn flattened(code: &str) -> String {
    let mut out = code.to_owned();
    for import in code.split(';').filter_map(|statement| {
        let at = statement.rfind("use ")?;
        statement.get(at + 4..)
    }) {
        let Some((head, group)) = import.split_once('{') else { continue };
        for part in group.split([',', '{', '}']) {
            out.push('\n');
            out.push_str(head.trim());
            out.push_str(part.trim());
        }
    }
    out
}

#[test]
fn the_laws_hold() {
    let breaches: Vec<String> = files().iter().flat_map(|(name, source)| breaches(name, source)).collect();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn a_breach_is_seen() {
    for (name, source) in [
        ("base/json.rs", "use std::{collections::HashMap, fs};"),
        ("judge/rules/run.rs", "fn f() { std::fs::read(\"x\"); }"),
        ("base/text.rs", "use tokio::sync::mpsc;"),
        ("terminal/screen.rs", "use stepscope_record::Record;"),
        ("cli/show.rs", "use crate::widgets::theme::Theme;"),
        ("cli.rs", "use crate::app;"),
        ("app/bars.rs", "fn draw() { let text = reading.read(); }"),
        ("app/view.rs", "fn draw(app: &mut App) {}"),
        ("screens/new/draw.rs", "fn draw(app: &mut App) {}"),
        ("screens/run/new.rs", "fn draw(view: &mut RecordView, buf: &mut Buffer) {}"),
        ("dialogs/new/state.rs", "use crate::dialogs::new::draw::height;"),
        ("screens/json/draw.rs", "let style = Style::new().fg(Color::Red);"),
        ("screens/json/draw.rs", "cell.set_symbol(text);"),
        ("screens/json/draw.rs", "cell.set_char(c);"),
        ("app/update.rs", "std::thread::spawn(|| {});"),
        ("screens/run/state.rs", "reading.line();"),
        ("screens/table/state.rs", "fn f() { println!(\"x\"); }"),
        ("io/pipeline/check.rs", "eprintln!(\"x\");"),
        ("app/effects.rs", "tokio::select! {}"),
        ("screens/table/state.rs", "use crate::screens::table::draw::height;"),
        ("widgets/list.rs", "use crate::screens::table;"),
        ("base/json.rs", "let quote = '\"'; use tokio::fs;"),
        ("base/json.rs", "const A: &str = r#\"a \" b\"#; use tokio::fs;"),
        ("io/a.rs", "fn f<'a>(x: &'a str) { crate::app::x(); }"),
    ] {
        assert!(!breaches(name, source).is_empty(), "not seen: {source} in {name}");
    }
}

#[test]
fn what_is_allowed_is_no_breach() {
    for (name, source) in [
        ("base/json.rs", "//! Nothing of tokio here.\nuse std::collections::HashMap;"),
        ("base/json.rs", "const HELP: &str = \"see std::fs\"; // crossterm"),
        ("base/json.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n use std::fs;\n}"),
        ("io/source/open.rs", "use std::fs::File; use stepscope_base::text::Shown;"),
        ("widgets/look.rs", "cell.set_char('┃');"),
        ("widgets/theme.rs", "fn f() -> Color { Color::Reset }"),
        ("terminal/run.rs", "tokio::select! {}"),
        ("cli/out.rs", "let out = std::io::stdout();"),
    ] {
        assert_eq!(breaches(name, source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn every_file_is_named_by_its_parent() {
    let files = files();
    let text = |name: &str| files.iter().find(|(other, _)| other == name).map(|(_, text)| text.as_str());
    let mut orphans = Vec::new();
    for (name, _) in files.iter().filter(|(name, _)| !name.ends_with("lib.rs") && name != "main.rs") {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let module = file.strip_suffix(".rs").unwrap();
        // The map of a crate names its rooms; below them a file beside the folder names what is in it.
        let parent = match folder {
            "" => "lib.rs".into(),
            room if SCREEN.contains(&room) => "lib.rs".into(),
            library if CRATES.contains(&library) => format!("{library}/lib.rs"),
            _ => format!("{folder}.rs"),
        };
        let declared = text(&parent).is_some_and(|text| {
            code(text).lines().any(|line| line.trim().ends_with(&format!("mod {module};")))
                || text.lines().any(|line| line.trim().ends_with(&format!("mod {module};")))
        });
        if !declared {
            orphans.push(format!("{name} is not named in {parent}"));
        }
    }
    assert!(orphans.is_empty(), "{}", orphans.join("\n"));
}

#[test]
fn every_module_of_the_maps_says_what_it_is() {
    let files = files();
    let mut seen = 0;
    for (name, map) in files.iter().filter(|(name, _)| name.ends_with("lib.rs")) {
        let lines: Vec<&str> = map.lines().map(str::trim).collect();
        let is_module = |line: &str| line.contains("mod ") && !line.starts_with("//") && line != "mod tests {";
        let modules = lines.iter().enumerate().filter(|(_, line)| is_module(line));
        for (n, line) in modules.filter(|(n, _)| *n == 0 || lines[n - 1] != "#[cfg(test)]") {
            assert!(lines[n - 1].starts_with("///"), "{line} has no line that says what it is in {name}");
            seen += 1;
        }
    }
    assert!(seen > 40);
}

/// Libraries, each with the other ones of the workspace that its manifest may name.
const EDGES: &[(&str, &[&str])] = &[
    ("schema", &[]),
    ("base", &["schema"]),
    ("arithmetic", &["base"]),
    ("evidence", &["base", "arithmetic"]),
    ("record", &["base", "evidence"]),
    ("redact", &["base", "evidence", "record"]),
    ("judge", &["base", "arithmetic", "evidence", "record"]),
    ("review", &["base", "arithmetic", "evidence", "record", "redact", "judge"]),
    ("execution", &["base", "evidence", "record", "judge"]),
    ("compare", &["base", "arithmetic", "record", "judge", "review"]),
    ("table", &["base", "arithmetic", "evidence", "record", "judge", "review", "compare"]),
    ("present", &["base", "arithmetic", "evidence", "record", "judge", "review", "execution"]),
    ("report", &["base", "evidence", "record", "redact", "judge", "review", "execution", "table", "present"]),
    (
        "io",
        &[
            "base",
            "evidence",
            "record",
            "redact",
            "judge",
            "review",
            "execution",
            "compare",
            "table",
            "report",
            "samples",
        ],
    ),
    ("terminal", &["base"]),
];

#[test]
fn libraries_know_only_what_lies_below_them() {
    for (library, may) in EDGES {
        let manifest = std::fs::read_to_string(root().join("crates").join(library).join("Cargo.toml")).unwrap();
        let normal = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        let names =
            normal.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| !name.is_empty());
        for name in names {
            let own = name.strip_prefix("stepscope-");
            assert!(own.is_none_or(|own| may.contains(&own)), "{library} knows {name}");
            let is_pure = PURE_CRATES.contains(library);
            let outside =
                ["tokio", "crossterm", "ratatui", "rusqlite", "reqwest", "parquet", "notify", "clap", "rustix"];
            assert!(!(is_pure && outside.contains(&name)), "{library} needs {name}");
        }
    }
}

/// Calls that open a file or list a folder by its name, each with the reason why the name does not come from data.
/// Everything else is opened by `io/source/beneath.rs`, which follows no link out of the folder that a person named.
const OPENERS: &[(&str, &[&str], &str)] = &[
    (
        "io/system/unix.rs",
        &["openat(", "openat2(", "OpenOptions", "File::open", "DirBuilder", "read_dir("],
        "the one place that opens what data and listings name; what a person names, and files of our own",
    ),
    (
        "io/system/windows.rs",
        &["File::open", "OpenOptions", "read_dir(", "fs::remove_file", "fs::create_dir"],
        "the same on Windows",
    ),
    ("io/source/input.rs", &["File::open", "read_dir("], "whether what a person named can be read"),
    ("io/source/sqlite.rs", &["Connection::open"], "SQLite opens by name: what it has open is looked at after"),
    (
        "io/files.rs",
        &["File::open", "fs::create_dir", "fs::rename", "fs::remove_file", "fs::remove_dir"],
        "a new file where a person says, never over another, and files and folders of our own",
    ),
    ("io/config/themes.rs", &["read_dir("], "the person's own configuration"),
    ("io/config/types.rs", &["read_dir("], "the person's own configuration"),
    ("terminal/terminal.rs", &["File::open", "fs::open("], "the terminal"),
];

/// Files that open what a person named, with the functions of `io/source/open.rs` that follow links, and what they
/// open.
const NAMED: &[(&str, &str)] = &[
    ("cli/check.rs", "the schema of --schema"),
    ("cli/review/import.rs", "the labels that are taken in"),
    ("cli/create.rs", "the question and the examples"),
    ("cli/run.rs", "the procedure, the question, the schema"),
    ("io/source/answers.rs", "whether a path that was named is a store"),
    ("io/config.rs", "the person's own configuration"),
    ("io/files.rs", "a temporary file of our own"),
    ("io/source/input.rs", "inputs that were named"),
    ("io/source/gathered/neighbours.rs", "inputs that were named along with another one"),
    ("io/model/cassette.rs", "the recording that was named"),
    ("io/config/themes.rs", "the person's own configuration, and --theme"),
    ("io/config/tour.rs", "the tour that a person named"),
    ("io/config/types.rs", "the person's own configuration"),
    ("io/config/views.rs", "the person's own configuration"),
    ("io/source/maps.rs", "the map of --map"),
    ("io/source/page.rs", "report pages that a person named"),
    ("io/config/verifiers.rs", "the chain file, and files of options"),
];

/// Functions of `io/source/open.rs` that follow links.
const FOLLOWS: &[&str] = &["open::open", "open::read_small", "open::read_small_text", "open::read_whole"];

/// Words that open by name.
const OPENS: &[&str] = &[
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions",
    "DirBuilder",
    "fs::open(",
    "fs::read(",
    "fs::read_to_string",
    "fs::read_link",
    "fs::write",
    "fs::copy",
    "fs::rename",
    "fs::remove_file",
    "fs::remove_dir",
    "fs::hard_link",
    "fs::create_dir",
    "read_dir(",
    "openat(",
    "openat2(",
    "Connection::open",
];

/// Describes the calls in a file that open by name and are not on the list.
fn openers(name: &str, source: &str) -> Vec<String> {
    let code = flattened(&code(source));
    // Our own function of that name takes what was looked at already, and opening in memory opens nothing.
    let code = code.replace("Connection::open_in_memory", "").replace("sqlite::open", "");
    let listed = |word: &&&str| OPENERS.iter().any(|(file, words, _)| *file == name && words.contains(word));
    let held = OPENS.iter().filter(|word| holds(&code, word)).filter(|word| !listed(word));
    let held = held.map(|word| format!("{name} opens by name ({word}); use io::source::beneath"));
    let follows = FOLLOWS.iter().any(|word| holds_whole(&code, word));
    let named = name == "io/source/open.rs" || NAMED.iter().any(|(file, _)| *file == name);
    held.chain((follows && !named).then(|| format!("{name} follows links of names that may come from data"))).collect()
}

/// Tells whether the code holds a word, not as a part of a longer one.
fn holds_whole(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let after = code[at + word.len()..].chars().next();
        !after.is_some_and(|c| c.is_alphanumeric() || c == '_') && holds(&code[at..at + word.len()], word)
    })
}

#[test]
fn only_one_place_opens_what_data_names() {
    let files = files();
    let wrong: Vec<String> = files.iter().flat_map(|(name, source)| openers(name, source)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A reason that nothing needs any more goes from the list.
    for (file, words, why) in OPENERS {
        let source = files.iter().find(|(name, _)| name == file).map(|(_, source)| flattened(&code(source)));
        let source = source.unwrap_or_else(|| panic!("{file} is gone: {why}"));
        for word in *words {
            assert!(holds(&source, word), "{file} opens nothing by {word} any more");
        }
    }
    for (file, what) in NAMED {
        let source = files.iter().find(|(name, _)| name == file).map(|(_, source)| flattened(&code(source)));
        let source = source.unwrap_or_else(|| panic!("{file} is gone: {what}"));
        assert!(FOLLOWS.iter().any(|word| holds_whole(&source, word)), "{file} opens nothing that was named any more");
    }
    for (name, source) in [
        ("io/source/documents.rs", "use super::open::{Blob, open};"),
        ("io/source/parquet.rs", "fn f() { crate::open::open(path); }"),
        ("io/pipeline/load.rs", "fn f() { std::fs::read(path); }"),
        ("io/pipeline/load.rs", "use std::fs::{self, File}; fn f() { File::open(path); }"),
        ("io/source/answers.rs", "let entries = std::fs::read_dir(folder);"),
        ("io/source/documents.rs", "let connection = Connection::open_with_flags(path, flags);"),
        ("io/source/open.rs", "rustix::fs::openat(CWD, path, flags, mode);"),
        ("cli/show.rs", "use std::fs::OpenOptions;"),
    ] {
        assert!(!openers(name, source).is_empty(), "not seen: {source} in {name}");
    }
}

/// A measure of the house that may fall and never rise: lower the limit with the change that lowers the measure.
fn within(what: &str, measured: usize, limit: usize) {
    println!("{what}: {measured}");
    assert!(measured <= limit, "{what}: {measured}, at most {limit}");
}

/// Files of the largest circle of each crate. The limits are what the code holds today, not what it should.
const LARGEST_CIRCLE: &[(&str, usize)] = &[
    ("", 3),
    ("base", 0),
    ("arithmetic", 3),
    ("evidence", 3),
    ("record", 3),
    ("redact", 0),
    ("judge", 2),
    ("review", 0),
    ("execution", 2),
    ("compare", 0),
    ("table", 0),
    ("present", 2),
    ("report", 0),
    ("io", 3),
    ("schema", 0),
    ("terminal", 0),
];

/// Returns the files of a crate with their code, apart from its head; that of the program has no name.
fn modules(files: &[(String, String)], library: &str) -> Vec<(String, String)> {
    let own = |(name, text): &(String, String)| {
        let (room, rest) = name.split_once('/').unwrap_or(("", name));
        let is_own = if library.is_empty() { !CRATES.contains(&room) } else { room == library };
        let name = if library.is_empty() { name } else { rest };
        (is_own && name != "lib.rs" && name != "main.rs").then(|| (name.to_owned(), code(text)))
    };
    files.iter().filter_map(own).collect()
}

#[test]
fn circles_of_files_do_not_grow() {
    let files = files();
    for &(library, limit) in LARGEST_CIRCLE {
        let found = circles(&modules(&files, library));
        let largest = found.iter().map(Vec::len).max().unwrap_or(0);
        within(&format!("files in one circle of {library:?}"), largest, limit);
    }
}

#[test]
fn no_rooms_of_a_library_need_one_another() {
    let files = files();
    for library in CRATES {
        let found = circles_of_rooms(&modules(&files, library));
        assert!(found.is_empty(), "rooms of {library} need one another: {found:?}");
    }
}

/// Functions with the session among their parameters, its own methods included.
const MAX_FUNCTIONS_OF_APP: usize = 148;
/// Functions that name every screen.
const MAX_NAMING_ALL_SCREENS: usize = 0;
/// Functions that name four panes of a run or more.
const MAX_NAMING_FOUR_PANES: usize = 0;
/// Defaults in the place of what is missing, outside tests; only where data may lack it are they right. A case that is
/// impossible is indexed or expected with a reason.
const MAX_DEFAULTS: usize = 394;
/// Public items of the crates between base and io, which see one another.
const MAX_PUBLIC: usize = 1_739;
/// Items of these crates that the program names.
const MAX_FACE: usize = 295;

#[test]
fn the_session_is_no_place_for_what_belongs_to_a_screen() {
    let (mut of_app, mut all_screens, mut four_panes) = (0, 0, 0);
    for (name, source) in files().iter().filter(|(name, _)| is_for(SCREEN, name)) {
        for function in functions(&code(source)) {
            of_app += usize::from(function.takes_app);
            all_screens +=
                usize::from(SCREENS.iter().all(|screen| function.names(&["ScreenKind", "Self", "Screen"], screen)));
            let panes = PANES.iter().filter(|pane| function.names(&["RunPane", "Self", "Pane"], pane)).count();
            four_panes += usize::from(name.starts_with("screens/run") && panes >= 4);
        }
    }
    assert!(of_app > 100, "functions of the session are not seen");
    within("functions with the session among their parameters", of_app, MAX_FUNCTIONS_OF_APP);
    within("functions that name all screens", all_screens, MAX_NAMING_ALL_SCREENS);
    within("functions that name four panes", four_panes, MAX_NAMING_FOUR_PANES);
}

#[test]
fn bugs_are_not_turned_into_values() {
    let defaults: usize = files().iter().map(|(_, source)| code(source).matches(".unwrap_or_default()").count()).sum();
    within("`.unwrap_or_default()`", defaults, MAX_DEFAULTS);
}

/// Crates between base and io.
fn inner() -> impl Iterator<Item = &'static str> {
    PURE_CRATES.iter().copied().filter(|library| !["base", "schema"].contains(library))
}

#[test]
fn the_face_of_the_inner_crates_does_not_grow() {
    let is_public = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        matches!(words[..], ["pub", "const" | "fn" | "struct" | "enum" | "trait" | "type" | "use" | "mod", ..])
    };
    let is_inner = |name: &str| inner().any(|library| name.starts_with(&format!("{library}/")));
    let (inside, outside): (Vec<_>, Vec<_>) = files().into_iter().partition(|(name, _)| is_inner(name));
    let items: usize = inside.iter().map(|(_, source)| code(source).lines().filter(is_public).count()).sum();
    within("public items of the inner crates", items, MAX_PUBLIC);

    let is_of_program = |name: &str| !CRATES.iter().any(|library| name.starts_with(&format!("{library}/")));
    let mut named: Vec<String> = outside
        .iter()
        .filter(|(name, _)| is_of_program(name))
        .flat_map(|(_, source)| graph::imports(&code(source)))
        .filter(|path| inner().any(|library| path.starts_with(&format!("stepscope_{library}::"))))
        .collect();
    named.sort_unstable();
    named.dedup();
    assert!(named.len() > 100, "imports are not seen");
    within("items of the inner crates that the program names", named.len(), MAX_FACE);
}

/// Lists the types that a file declares, apart from those of its tests and those inside functions.
fn types(source: &str) -> Vec<String> {
    let mut types = Vec::new();
    for line in without_tests(source).lines() {
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
        // What a macro declares is indented; what is indented and private is a function's own.
        if !matches!(words.next(), Some("struct" | "enum" | "trait" | "type" | "union"))
            || line.starts_with("    ") && !line.starts_with("    pub")
        {
            continue;
        }
        let Some(word) = words.next() else { continue };
        types.push(word.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned());
    }
    types
}

/// Returns the first sentence of what a file says of itself, for Markdown.
fn first_sentence(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let text = lines.join(" ").replace("[`", "`").replace("`]", "`");
    let ends = text.match_indices(". ").map(|(at, _)| at);
    let end = ends.into_iter().find(|at| text[at + 2..].starts_with(char::is_uppercase)).unwrap_or(text.len());
    text[..end].trim_end_matches('.').to_owned()
}

/// Lists the modules that a file declares with their content, each with the sentence above it.
fn folders(source: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = source.lines().collect();
    let pairs = lines.iter().zip(lines.iter().skip(1));
    let folder = |(above, line): (&&str, &&str)| {
        let name = line.strip_prefix("pub mod ")?.strip_suffix(" {")?;
        Some((name.to_owned(), above.strip_prefix("/// ")?.to_owned()))
    };
    pairs.filter_map(folder).collect()
}

/// Lists the types of other files to which a file adds methods.
fn others(source: &str, own: &[String]) -> Vec<String> {
    let mut others: Vec<String> = Vec::new();
    for line in without_tests(source).lines().filter(|line| line.starts_with("impl") && !line.contains(" for ")) {
        let name = line.trim_start_matches("impl").split(['{', '(']).next().unwrap_or_default();
        let name = match name.strip_prefix('<') {
            // What is generic is named behind its parameters.
            Some(rest) => rest.rsplit_once("> ").map_or("", |(_, name)| name),
            None => name,
        };
        let name = name.split(['<', ' ']).find(|part| !part.is_empty()).unwrap_or_default();
        let name = name.rsplit("::").next().unwrap_or_default().to_owned();
        if name.starts_with(char::is_uppercase) && !own.contains(&name) && !others.contains(&name) {
            others.push(name);
        }
    }
    others
}

/// Formats names behind a word for what they are.
fn names(what: &str, names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { String::new() } else { format!(" *{what}:* {}.", quoted.join(", ")) }
}

/// Formats what every file is for and which types it declares.
fn map() -> String {
    let mut page = "# The map\n\nEvery file of the program and its libraries: what it is for, in its own first \
                    sentence, and the types that it\ndeclares. How they work together is in docs/architecture.md.\n"
        .to_owned();
    // The one crate that no law is about.
    let memory = std::fs::read_to_string(root().join("crates/memory/src/lib.rs")).unwrap();
    let mut files: Vec<(String, String, String)> = files()
        .into_iter()
        .chain([("memory/lib.rs".to_owned(), memory)])
        .map(|(name, source)| match name.split_once('/') {
            Some((library, file)) if CRATES.contains(&library) || library == "memory" => {
                (format!("crates/{library}/src"), file.to_owned(), source)
            }
            _ => ("src".to_owned(), name, source),
        })
        .collect();
    // The head of a crate comes first, and a file before what lies in the folder of its name.
    let is_head = |file: &str| file == "lib.rs";
    files.sort_by_key(|(folder, file, _)| (folder.clone(), !is_head(file), file.trim_end_matches(".rs").to_owned()));
    let mut rooms = Vec::new();
    for (folder, file, source) in &files {
        let sentence = first_sentence(source);
        assert!(!sentence.is_empty(), "{folder}/{file} does not say what it is for");
        if is_head(file) {
            let _ = write!(page, "\n## {folder}\n\n{sentence}.{}\n\n", names("Types", &types(source)));
            rooms = folders(source);
            continue;
        }
        // A folder without a file of its name is a module of the crate's head.
        let room = file.split_once('/').and_then(|(room, _)| rooms.iter().position(|(name, _)| name == room));
        if let Some((name, sentence)) = room.map(|room| rooms.remove(room)) {
            let _ = writeln!(page, "- **{name}/** {sentence}");
        }
        let own = types(source);
        let methods = names("Methods of", &others(source, &own));
        let indent = "  ".repeat(file.matches('/').count());
        let _ = writeln!(page, "{indent}- **{file}** {sentence}.{}{methods}", names("Types", &own));
    }
    page.replace("\n\n\n", "\n\n")
}

/// Every file says what it is for; `cargo test --test it map_of -- --nocapture` prints the map.
#[test]
fn the_map_names_every_file() {
    println!("{}", map());
    assert_eq!(first_sentence("//! A list, as [`Vec`] has it. Not more.\n//!\n//! No.\n"), "A list, as `Vec` has it");
}

#[test]
fn a_type_has_its_name_to_itself() {
    let mut homes: Vec<(String, String, String)> = Vec::new();
    for (name, source) in files() {
        let (library, file) = match name.split_once('/') {
            Some((library, file)) if inner().any(|one| one == library) => ("inner".to_owned(), file.to_owned()),
            Some((library, file)) if CRATES.contains(&library) => (library.to_owned(), file.to_owned()),
            _ => ("stepscope".to_owned(), name.clone()),
        };
        homes.extend(types(&source).into_iter().map(|word| (library.clone(), word, file.clone())));
    }
    homes.sort();
    let mut shared: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for twins in homes.chunk_by(|a, b| (&a.0, &a.1) == (&b.0, &b.1)).filter(|twins| twins.len() > 1) {
        shared.push((&twins[0].0, &twins[0].1, twins.iter().map(|(.., file)| file.as_str()).collect()));
    }
    assert!(shared.is_empty(), "two types share a name: {shared:#?}");
}
