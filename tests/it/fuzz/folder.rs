//! A folder with everything in it as one text: so a case of many files, links and pipes is changed, kept and replayed as
//! one file.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{Dice, flip, mutate};

/// Kind of an entry, with its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum What {
    File(Vec<u8>),
    /// File of so many bytes without any block.
    Hole(u64),
    /// Target of the link.
    Link(String),
    Folder,
    Pipe,
}

/// Name in the folder, and what it names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) what: What,
}

/// Names that mean something, or are hard to show, to list or to join.
const NAMES: [&str; 18] = [
    "answer.json",
    "meta.json",
    "parsed_question.json",
    "retrieved_pages.parquet",
    "line_df.parquet",
    "toc_df.parquet",
    "storage.sqlite",
    "storage.sqlite-wal",
    "storage.sqlite-journal",
    "questions",
    "parsing",
    "a.jsonl",
    "a.jsonl.forks.jsonl",
    "a.jsonl.reviews.jsonl",
    ".hidden",
    "\u{1b}[31m\u{202e}",
    "new\nline",
    "-",
];

/// Targets of links: out of the folder to what was not named, to what never ends, and in a circle.
const LINKS: [&str; 12] = [
    "outside",
    "outside/storage.sqlite",
    "outside/answer.json",
    "outside/a.jsonl",
    "outside/questions",
    "outside/notes.txt",
    ".",
    "..",
    "nowhere",
    "/dev/zero",
    "/dev/stdin",
    "/proc/self/environ",
];

/// Reads everything in a folder.
pub(crate) fn taken(from: &Path) -> Vec<Entry> {
    let (mut entries, mut todo) = (Vec::new(), vec![from.to_owned()]);
    while let Some(folder) = todo.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(from).unwrap().to_str().unwrap().to_owned();
                entries.push(Entry { name, what: What::File(fs::read(&path).unwrap()) });
            }
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

pub(crate) fn file(name: &str, bytes: impl Into<Vec<u8>>) -> Entry {
    Entry { name: name.to_owned(), what: What::File(bytes.into()) }
}

/// Packs the entries, each as a line with its kind and two lengths, then its name and its bytes.
pub(crate) fn packed(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    for Entry { name, what } in entries {
        let size;
        let (kind, bytes): (&str, &[u8]) = match what {
            What::File(bytes) => ("file", bytes),
            What::Hole(bytes) => {
                size = bytes.to_string();
                ("hole", size.as_bytes())
            }
            What::Link(to) => ("link", to.as_bytes()),
            What::Folder => ("folder", b""),
            What::Pipe => ("pipe", b""),
        };
        out.extend_from_slice(format!("{kind} {} {}\n{name}\n", name.len(), bytes.len()).as_bytes());
        out.extend_from_slice(bytes);
        out.push(b'\n');
    }
    out
}

pub(crate) fn unpacked(mut text: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
        let head = std::str::from_utf8(&text[..end]).unwrap();
        let mut words = head.split(' ');
        let kind = words.next().unwrap();
        let [name, bytes] = [(); 2].map(|()| words.next().unwrap().parse::<usize>().unwrap());
        let rest = &text[end + 1..];
        let (name, rest) = (String::from_utf8(rest[..name].to_vec()).unwrap(), &rest[name + 1..]);
        let (bytes, rest) = (rest[..bytes].to_vec(), &rest[bytes + 1..]);
        let word = || String::from_utf8(bytes.clone()).unwrap();
        let what = match kind {
            "file" => What::File(bytes),
            "hole" => What::Hole(word().parse().unwrap()),
            "link" => What::Link(word()),
            "folder" => What::Folder,
            _ => What::Pipe,
        };
        entries.push(Entry { name, what });
        text = rest;
    }
    entries
}

/// Makes the folder. Of two entries that conflict the first one is kept.
pub(crate) fn make(entries: &[Entry], at: &Path) {
    let _ = fs::remove_dir_all(at);
    fs::create_dir_all(at).unwrap();
    for Entry { name, what } in entries {
        let path = at.join(name.trim_start_matches('/'));
        let is_free = path.starts_with(at) && !name.split('/').any(|part| part == "..") && !path.is_symlink();
        let parent = path.parent().unwrap();
        let leads_out = parent.ancestors().take_while(|folder| *folder != at).any(Path::is_symlink);
        if !is_free || leads_out || path.exists() || fs::create_dir_all(parent).is_err() {
            continue;
        }
        let up = "../".repeat(path.strip_prefix(at).unwrap().components().count());
        // A name may be too long: then there is none.
        let _ = match what {
            What::File(bytes) => fs::write(&path, bytes),
            What::Hole(bytes) => fs::File::create(&path).and_then(|file| file.set_len(*bytes)),
            What::Link(to) if to.starts_with("outside") => std::os::unix::fs::symlink(up + to, &path),
            What::Link(to) => std::os::unix::fs::symlink(to, &path),
            What::Folder => fs::create_dir_all(&path),
            What::Pipe => {
                let pipe = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &path, pipe, 0o600.into(), 0).map_err(Into::into)
            }
        };
    }
}

/// Changes one to four things in the folder: the bytes of files, their names and places, and what is there.
pub(crate) fn mutate_folder(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut entries = unpacked(seed);
    for _ in 0..=dice.below(4) {
        if entries.is_empty() {
            break;
        }
        let (at, other) = (dice.below(entries.len()), dice.below(entries.len()));
        let name = entries[at].name.clone();
        match dice.below(16) {
            0..=6 => {
                if let What::File(bytes) = &mut entries[at].what {
                    let is_text = [".json", ".jsonl", ".toml", ".csv", ".txt"].iter().any(|end| name.ends_with(end));
                    *bytes = if is_text { mutate(bytes, dice) } else { flip(bytes, dice) };
                }
            }
            7 => drop(entries.remove(at)),
            8 => entries[at].what = What::Link((*dice.one(&LINKS)).to_owned()),
            9 => {
                // A folder on the way becomes a link.
                let depth = dice.below(name.split('/').count());
                let folder = name.split('/').take(depth + 1).collect::<Vec<_>>().join("/");
                entries.retain(|entry| !Path::new(&entry.name).starts_with(&folder));
                entries.push(Entry { name: folder, what: What::Link((*dice.one(&LINKS)).to_owned()) });
            }
            10 => {
                let path = Path::new(&name).with_file_name(dice.one(&NAMES));
                let name = String::from_utf8(path.as_os_str().as_bytes().to_vec()).unwrap();
                let what = entries[other].what.clone();
                entries.insert(dice.below(entries.len() + 1), Entry { name, what });
            }
            11 => {
                let path = Path::new(&name).with_file_name(dice.one(&NAMES));
                entries[at].name = String::from_utf8(path.as_os_str().as_bytes().to_vec()).unwrap();
            }
            12 => {
                let what = entries[other].what.clone();
                entries[other].what = std::mem::replace(&mut entries[at].what, what);
            }
            13 => entries[at].what = if dice.below(2) == 0 { What::Folder } else { What::Pipe },
            14 => entries[at].what = What::Hole(*dice.one(&[0, 1, 4096, 32 << 20])),
            _ => {
                // All of it again, deeper.
                let deeper = |entry: &Entry| Entry { name: format!("{name}.d/{}", entry.name), ..entry.clone() };
                let all: Vec<Entry> = entries.iter().take(20).map(deeper).collect();
                entries.extend(all);
            }
        }
    }
    packed(&entries)
}
