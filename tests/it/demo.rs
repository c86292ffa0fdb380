//! The tour: played from start to end without a terminal, its recordings, and the pictures of the documents.
//! `UPDATE_README=1 cargo test --test it demo::` makes the pictures anew.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Scenes that the documents show; a fork has a new id each time, so its scene is none of them.
const PICTURES: [&str; 4] = ["03-wrong", "06-recomputed", "08-rerun", "11-answer"];

fn demo(arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.arg("demo").args(arguments).args(paths).stdin(Stdio::null()).env_remove("XDG_CONFIG_HOME").output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap() + std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn the_tour_runs_by_space_alone() {
    for options in
        [["--check", "--size", "80x24", "--theme", "light"], ["--check", "--size", "160x50", "--theme", "dark"]]
    {
        let output = demo(&options, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        assert!(told(&output).lines().count() >= 8 && told(&output).lines().all(|line| line.ends_with(": shown")));
    }
}

#[test]
fn a_caption_is_whole_on_a_small_screen() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/tour.toml")).unwrap();
    let output = demo(&["--size", "80x24", "--html", "-"], &[]);
    assert_eq!(output.status.code(), Some(0));
    let page = String::from_utf8(output.stdout).unwrap();
    let captions: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("caption = \"")).collect();
    let pictures: Vec<&str> = page.split("</svg>").filter(|picture| picture.contains("<svg")).collect();
    assert_eq!(captions.len(), pictures.len());
    for (caption, picture) in captions.iter().zip(pictures) {
        let end = caption.trim_end_matches('"').rsplit(' ').next().unwrap();
        // The last rows: the caption, before the line of keys.
        let bar = picture.lines().rev().take(4).collect::<String>();
        assert!(bar.contains(&format!("{end}</text>")), "{caption} does not fit");
    }
}

#[test]
fn a_scene_that_cannot_stand_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let tour = folder.path().join("tour.toml");
    std::fs::write(&tour, "title = \"t\"\n[[scene]]\nname = \"a\"\nkeys = \"NoKey\"\nwait = \"x\"\n").unwrap();
    let output = demo(&["--check"], &[&tour]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(told(&output).contains("1 a: there is no key NoKey"), "{}", told(&output));
    for (scene, why) in [
        ("id = \"nobody\"", "no record has the id"),
        ("filter = \"nonsense:::\"", "nonsense"),
        ("id = \"e6c1704c4f7bd93e8a4014a3fce8d964\"\nstep = 99", "there is no step 99: the record has 4"),
        ("spot = \"never there\"", "the spot \"never there\" is not on the screen"),
        ("keys = \"q\"\n[[scene]]\nname = \"b\"", "2 b: not reached"),
    ] {
        std::fs::write(&tour, format!("title = \"t\"\n[[scene]]\nname = \"a\"\n{scene}\n")).unwrap();
        let output = demo(&["--check"], &[&tour]);
        assert_eq!(output.status.code(), Some(1), "{scene}: {}", told(&output));
        assert!(told(&output).contains(why), "{scene}: {}", told(&output));
    }
    std::fs::write(&tour, "title = 1").unwrap();
    assert_eq!(demo(&["--check"], &[&tour]).status.code(), Some(2));
}

#[test]
fn nothing_of_a_tour_reaches_page_or_terminal_raw() {
    let folder = tempfile::tempdir().unwrap();
    let (tour, html, md) = (folder.path().join("t.toml"), folder.path().join("t.html"), folder.path().join("t.md"));
    let hot = r"\u001b]52;c;x\u0007 \u202e";
    let text = format!("title = \"{hot}\"\n[[scene]]\nname = \"{hot}\"\ncaption = \"{hot}\"\nnote = \"{hot}\"\n");
    std::fs::write(&tour, text).unwrap();
    let files = ["--html", html.to_str().unwrap(), "--md", md.to_str().unwrap()];
    let output = demo(&files, &[&tour]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let written = std::fs::read_to_string(&html).unwrap();
    assert!(!written.contains("<p class=\"note\">"), "what is for the presenter alone is left out: {written}");
    let output = demo(&[&files[..], &["--with-notes"]].concat(), &[&tour]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    for path in [html, md] {
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(!written.contains(['\u{1b}', '\u{7}', '\u{202e}']));
        if path.extension().is_some_and(|ending| ending == "html") {
            let hides =
                written.split_once("@media print").is_some_and(|(_, style)| style.contains(",.note{display:none}"));
            assert!(
                hides && written.contains("<p class=\"note\">"),
                "the presenter's notes are not printed: {written}"
            );
        }
    }
}

#[test]
fn recordings_are_what_players_read() {
    let folder = tempfile::tempdir().unwrap();
    let (three, two) = (folder.path().join("3.cast"), folder.path().join("2.cast"));
    let arguments = ["--size", "80x24", "--cast", three.to_str().unwrap(), "--cast-v2", two.to_str().unwrap()];
    let output = demo(&arguments, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    for (path, version) in [(&three, 3), (&two, 2)] {
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["version"], version);
        let times: Vec<f64> = lines[1..].iter().map(|event| event[0].as_f64().unwrap()).collect();
        let length = if version == 2 { *times.last().unwrap() } else { times.iter().sum() };
        assert!((60.0..240.0).contains(&length), "{length} seconds");
        assert!(version == 3 || times.is_sorted(), "times since the beginning");
        assert!(lines[1..].iter().all(|event| ["m", "o"].contains(&event[1].as_str().unwrap())));
        // A player shows the first scene as the program drew it.
        let mut screen = vt100::Parser::new(24.try_into().unwrap(), 80.try_into().unwrap(), 0);
        screen.process(lines[2][2].as_str().unwrap().as_bytes());
        assert!(screen.screen().contents().contains("records"), "{}", screen.screen().contents());
    }
}

/// Removes the measured duration of a replay.
fn timeless(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(" bytes in ") {
        out += before;
        out += " bytes ";
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    }
    out + rest
}

#[test]
fn the_pictures_are_of_the_present_program() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = demo(&["--size", "100x30", "--svg", folder.path().to_str().unwrap()], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let document = std::fs::read_to_string(root.join("docs/sharing.md")).unwrap();
    for name in PICTURES {
        let kept = format!("docs/pictures/{name}.svg");
        assert!(document.contains(&format!("(pictures/{name}.svg)")), "{kept} is not in the document");
        let now = std::fs::read_to_string(folder.path().join(format!("{name}.svg"))).unwrap();
        if std::env::var_os("UPDATE_README").is_some() {
            std::fs::create_dir_all(root.join("docs/pictures")).unwrap();
            std::fs::write(root.join(&kept), now).unwrap();
        } else {
            let then = std::fs::read_to_string(root.join(&kept)).unwrap();
            assert!(
                timeless(&then) == timeless(&now),
                "{kept} is out of date: run UPDATE_README=1 cargo test --test it demo::"
            );
        }
    }
}

#[test]
fn a_tour_is_handed_out_as_a_page_and_as_markdown() {
    let folder = tempfile::tempdir().unwrap();
    let (html, md) = (folder.path().join("t.html"), folder.path().join("t.md"));
    for _ in 0..2 {
        let output = demo(&["--size", "80x24", "--html", html.to_str().unwrap(), "--md", md.to_str().unwrap()], &[]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    }
    let page = std::fs::read_to_string(&html).unwrap();
    assert_eq!(page.matches("<section").count(), page.matches("<svg").count());
    assert!(page.contains("default-src 'none'") && !page.contains("<script") && page.contains("17 × 23"));
    let text = std::fs::read_to_string(&md).unwrap();
    assert_eq!(text.matches("\n## ").count(), page.matches("<section").count());
    assert!(text.starts_with("<!-- stepscope tour -->\n# Why did this run come out wrong?"));
}

#[test]
fn a_page_of_a_tour_goes_to_standard_output_and_is_ascii_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (options, begin) in [(["--html", "-"], "<!doctype html>"), (["--md", "-"], "<!-- stepscope tour -->")] {
        let output = Command::new(env!("CARGO_BIN_EXE_stepscope"))
            .args([&["demo", "--ascii", "--size", "80x24"][..], &options].concat())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{}", told(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(begin) && !text.contains(": shown"), "{text}");
        assert!(options[0] == "--html" || text.is_ascii(), "{text}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn records_are_no_tour_and_a_tour_needs_a_terminal() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let output = demo(&[], &[&records]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("these are records and no tour; --record FILE makes"), "{}", told(&output));
    assert_eq!(told(&output).lines().count(), 1);
    let to = tempfile::tempdir().unwrap().path().join("tour.toml");
    for arguments in [&["--notes"][..], &["--record", to.to_str().unwrap()], &[]] {
        let output = demo(arguments, &[]);
        assert_eq!(output.status.code(), Some(2));
        assert!(told(&output).contains("standard output is not a terminal; "), "{}", told(&output));
        assert!(!told(&output).contains("stepscope check"), "{}", told(&output));
    }
}

#[test]
fn what_looks_private_is_in_no_file_of_a_tour() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.jsonl"), "{\"id\": 1, \"question\": \"Who is ada@example.org?\", \"mode\": \"direct\"}\n")
        .unwrap();
    let tour = "title = \"t\"\nrecords = [\"a.jsonl\"]\n[[scene]]\nname = \"a\"\nwait = \"Who is\"\n";
    std::fs::write(at("t.toml"), tour).unwrap();
    for (option, name) in [("--svg", "d"), ("--html", "h"), ("--md", "m"), ("--cast", "c")] {
        let to = at(name);
        let output = demo(&[option, to.to_str().unwrap()], &[&at("t.toml")]);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(!to.exists() && told(&output).contains("an e-mail address in scene 01-a"), "{}", told(&output));
    }
    let output = demo(&["--force", "--md", at("m").to_str().unwrap()], &[&at("t.toml")]);
    assert_eq!((output.status.code(), at("m").exists()), (Some(0), true), "{}", told(&output));
}

/// A tour of one scene over these records, in a folder of its own.
fn strangers_tour(folder: &Path, head: &str, scene: &str) -> std::path::PathBuf {
    let tour = folder.join("tour.toml");
    std::fs::write(&tour, format!("title = \"t\"\n{head}\n[[scene]]\nname = \"a\"\n{scene}\n")).unwrap();
    tour
}

#[test]
fn the_keys_of_a_tour_do_nothing_but_show() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("a.jsonl"), "{\"id\": 1, \"question\": \"Who?\", \"mode\": \"direct\"}\n").unwrap();
    let spelled =
        here.join("out.md").to_str().unwrap().chars().fold(String::new(), |spelled, c| spelled + &c.to_string() + " ");
    for (keys, what) in [
        (format!(": p r e s e n t Enter Enter o j Enter ^U {spelled}Enter"), "end presenting"),
        (format!("Enter o j Enter ^U {spelled}Enter"), "save or export"),
        (": t o u r Enter".to_owned(), "run a command"),
    ] {
        for option in ["--check", "--md"] {
            let to = here.join("tour.md");
            let tour = strangers_tour(here, "records = [\"a.jsonl\"]", &format!("keys = \"{keys}\""));
            let options = if option == "--md" { vec![option, to.to_str().unwrap()] } else { vec![option] };
            let output = demo(&options, &[&tour]);
            assert_eq!(output.status.code(), Some(1), "{keys}: {}", told(&output));
            assert!(told(&output).contains(what), "{keys}: {}", told(&output));
            assert!(!here.join("out.md").exists(), "{keys}");
        }
    }
}

#[test]
fn what_a_tour_names_lies_beneath_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let (folder, outside) = (home.path().join("tour"), home.path().join("runs.jsonl"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&outside, "{\"id\": 1, \"question\": \"Who?\", \"mode\": \"direct\"}\n").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("link.jsonl")).unwrap();
    std::fs::copy(&outside, folder.join("in.jsonl")).unwrap();
    let absolute = format!("{:?}", outside.to_str().unwrap());
    for name in ["\"../runs.jsonl\"", "\"link.jsonl\"", "\"/dev/zero\"", "\"gone.jsonl\"", absolute.as_str()] {
        for head in [format!("records = [{name}]"), format!("records = [\"in.jsonl\"]\nrecording = {name}")] {
            let output = demo(&["--check"], &[&strangers_tour(&folder, &head, "")]);
            assert_eq!(output.status.code(), Some(2), "{head}: {}", told(&output));
            assert_eq!(told(&output).lines().count(), 1, "{head}: {}", told(&output));
        }
    }
    let output = demo(&["--check"], &[&strangers_tour(&folder, "recording = \"in.jsonl\"", "")]);
    assert!(told(&output).contains("line 1: not a recorded exchange"), "{}", told(&output));
    let tour = strangers_tour(&folder, "records = [\"../runs.jsonl\"]", "wait = \"Who?\"");
    assert_eq!(demo(&["--check", "--trust"], &[&tour]).status.code(), Some(0));
    let tour = strangers_tour(&folder, "records = [\"in.jsonl\"]", "wait = \"Who?\"");
    assert_eq!(demo(&["--check"], &[&tour]).status.code(), Some(0));
}

#[test]
fn a_scene_that_never_stands_is_given_up_soon() {
    let folder = tempfile::tempdir().unwrap();
    let tour = strangers_tour(folder.path(), "", "wait = \"never there\"");
    let begun = std::time::Instant::now();
    assert_eq!(demo(&["--check"], &[&tour]).status.code(), Some(1));
    // The screen waits for half a minute.
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}
