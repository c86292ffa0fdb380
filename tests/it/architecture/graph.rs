//! Who needs whom inside a crate, read from its code: imports, paths through them, `super::` and child modules.

use std::collections::HashMap;

/// Collects the paths of an import: `a::{b, c::{self, D as E}}` has four, each with the name that it gets.
fn paths(prefix: &str, text: &str, out: &mut Vec<(String, String)>) {
    let text = text.trim();
    let Some((head, rest)) = text.split_once('{') else {
        let (path, name) = text.split_once(" as ").unwrap_or((text, ""));
        let path = format!("{prefix}{}", path.trim());
        let path = path.strip_suffix("::self").unwrap_or(&path).to_owned();
        let last = path.rsplit("::").next().unwrap().to_owned();
        out.push((path, if name.is_empty() { last } else { name.trim().to_owned() }));
        return;
    };
    let (prefix, mut depth, mut part) = (format!("{prefix}{}", head.trim()), 0, String::new());
    for c in rest.strip_suffix('}').unwrap_or(rest).chars() {
        match c {
            ',' if depth == 0 => paths(&prefix, &std::mem::take(&mut part), out),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                part.push(c);
            }
        }
    }
    if !part.trim().is_empty() {
        paths(&prefix, &part, out);
    }
}

/// Returns every path in the code that has at least two parts.
fn written(code: &str) -> Vec<Vec<&str>> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c: char| !is_path(c));
    words.map(|word| word.trim_matches(':').split("::").collect::<Vec<_>>()).filter(|parts| parts.len() > 1).collect()
}

/// Splits code into its imports, each with the name that it gets, and the rest.
fn imports_and_body(code: &str) -> (Vec<(String, String)>, String) {
    let (mut imports, mut body) = (Vec::new(), String::new());
    for statement in code.split_inclusive(';') {
        let start = statement.rfind("use ").filter(|at| {
            let before = statement[..*at].trim_end();
            before.is_empty() || before.ends_with(['}', ';', ']', ')', '{']) || before.ends_with("pub")
        });
        match start {
            Some(at) => {
                body.push_str(&statement[..at]);
                paths("", statement[at + 4..].trim_end_matches(';'), &mut imports);
            }
            None => body.push_str(statement),
        }
    }
    (imports, body)
}

/// Lists the paths that a file imports.
pub(crate) fn imports(code: &str) -> Vec<String> {
    imports_and_body(code).0.into_iter().map(|(path, _)| path).collect()
}

/// A file of a crate, as the others name it.
struct Modules {
    /// Their paths: `rules::run`.
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Modules {
    /// Resolves a path that stands in a module, from the root of the crate; `None`: it leads out of the crate.
    fn absolute(&self, here: &[&str], parts: &[&str]) -> Option<Vec<String>> {
        let owned = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        match parts.first()? {
            &"crate" => Some(owned(&parts[1..])),
            &"self" => Some([owned(here), owned(&parts[1..])].concat()),
            &"super" => {
                let up = parts.iter().take_while(|part| **part == "super").count();
                Some([owned(&here[..here.len().checked_sub(up)?]), owned(&parts[up..])].concat())
            }
            first => {
                let child = [owned(here), vec![(*first).to_owned()]].concat().join("::");
                self.places.contains_key(&child).then(|| [owned(here), owned(parts)].concat())
            }
        }
    }

    /// Finds the file that declares what a path names; a path that names a file alone asks for nothing in it.
    fn file(&self, path: &[String]) -> Option<usize> {
        (1..path.len())
            .rev()
            .find_map(|end| self.places.get(&path[..end].join("::")).copied())
            .filter(|found| self.names[*found] != path.join("::"))
    }

    /// Returns the files that one of them needs, by its imports and by what it names through them.
    fn needs(&self, at: usize, code: &str) -> Vec<usize> {
        let here: Vec<&str> = self.names[at].split("::").collect();
        let (imports, body) = imports_and_body(code);
        let (mut found, mut names) = (Vec::new(), HashMap::new());
        for (path, name) in &imports {
            if let Some(parts) = self.absolute(&here, &path.split("::").collect::<Vec<_>>()) {
                found.extend(self.whole(&parts));
                names.insert(name.as_str(), parts);
            }
        }
        for parts in written(&body) {
            let whole = match names.get(parts[0]) {
                Some(head) => {
                    let rest = parts[1..].iter().map(|part| (*part).to_owned());
                    Some(head.iter().cloned().chain(rest).collect::<Vec<_>>())
                }
                None => self.absolute(&here, &parts),
            };
            found.extend(whole.and_then(|whole| self.whole(&whole)));
        }
        found.retain(|other| *other != at);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Finds the file in which a path ends, unless the path is the file itself.
    fn whole(&self, path: &[String]) -> Option<usize> {
        if self.places.contains_key(&path.join("::")) { None } else { self.file(path) }
    }
}

/// Returns the files of a crate by their paths, each with those that it needs, given their names and code.
fn graph(files: &[(String, String)]) -> (Vec<String>, Vec<Vec<usize>>) {
    let names: Vec<String> =
        files.iter().map(|(name, _)| name.strip_suffix(".rs").unwrap().replace('/', "::")).collect();
    let places = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
    let modules = Modules { names, places };
    let needs = files.iter().enumerate().map(|(at, (_, code))| modules.needs(at, code)).collect();
    (modules.names, needs)
}

/// Finds the circles of files in a crate, given their names and code.
pub(crate) fn circles(files: &[(String, String)]) -> Vec<Vec<String>> {
    let (names, needs) = graph(files);
    rings(&names, &needs)
}

/// Finds the circles of rooms in a crate: a room is a file at its root, with the folder of that name.
pub(crate) fn circles_of_rooms(files: &[(String, String)]) -> Vec<Vec<String>> {
    let (names, needs) = graph(files);
    let room_of = |name: &str| name.split("::").next().unwrap().to_owned();
    let mut rooms: Vec<String> = names.iter().map(|name| room_of(name)).collect();
    rooms.sort_unstable();
    rooms.dedup();
    let place = |at: usize| rooms.binary_search(&room_of(&names[at])).unwrap();
    let mut between = vec![Vec::new(); rooms.len()];
    for (at, needs) in needs.iter().enumerate() {
        let here = place(at);
        between[here].extend(needs.iter().map(|other| place(*other)).filter(|other| *other != here));
    }
    rings(&rooms, &between)
}

/// Finds those that need one another, by what each needs.
fn rings(names: &[String], needs: &[Vec<usize>]) -> Vec<Vec<String>> {
    let reached = |from: usize| {
        let (mut seen, mut waiting) = (vec![false; names.len()], needs[from].clone());
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                waiting.extend(&needs[at]);
            }
        }
        seen
    };
    let reached: Vec<Vec<bool>> = (0..names.len()).map(reached).collect();
    let mut all: Vec<Vec<String>> = Vec::new();
    for (at, from_here) in reached.iter().enumerate() {
        let circle = (0..names.len()).filter(|other| from_here[*other] && reached[*other][at]);
        let circle: Vec<String> = circle.map(|other| names[other].clone()).collect();
        if circle.len() > 1 && !all.contains(&circle) {
            all.push(circle);
        }
    }
    all
}

/// A function as it is written.
pub(crate) struct Function<'c> {
    text: &'c str,
    /// The session is a parameter, or it is one of its methods.
    pub(crate) takes_app: bool,
}

impl Function<'_> {
    /// Tells whether it names a variant of one of several types.
    pub(crate) fn names(&self, types: &[&str], variant: &str) -> bool {
        let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        types.iter().any(|kind| {
            let path = format!("{kind}::{variant}");
            self.text.match_indices(&path).any(|(at, _)| is_end(&self.text[at + path.len()..]))
        })
    }
}

/// Lists the functions of a file, given its code.
pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let mut of_app = 0..0;
    for (at, _) in code.match_indices("fn ") {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if code[..at].ends_with(is_word) || !code[at + 3..].starts_with(is_word) {
            continue;
        }
        if let Some(start) = code[..at].rfind("\nimpl App {") {
            let end = code[start..].find("\n}").map_or(code.len(), |end| start + end);
            of_app = start..end;
        }
        let Some(open) = code[at..].find(['{', ';']).map(|open| at + open) else { continue };
        let (head, mut depth, mut end) = (&code[at..open], 0, open);
        for (byte, c) in code[open..].char_indices() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            end = open + byte;
            if depth == 0 {
                break;
            }
        }
        let takes_app = head.contains(": &App") || head.contains(": &mut App") || of_app.contains(&at);
        found.push(Function { text: &code[at..=end], takes_app });
    }
    found
}

#[test]
fn every_way_to_name_a_file_is_seen() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let ring = [
        file("a.rs", "use crate::{b::f, x};"),
        file("b.rs", "use crate::room;\nfn f() { room::c::g(); }"),
        file("room.rs", "pub mod c;"),
        file("room/c.rs", "fn g() { super::super::d::h(); }"),
        file("d.rs", "mod inner;\nfn h() { inner::i(); }"),
        file("d/inner.rs", "use super::super::a as first;\npub fn i() { first::i(); }"),
    ];
    assert_eq!(circles(&ring), [["a", "b", "room::c", "d", "d::inner"]]);
    assert_eq!(circles_of_rooms(&ring), [["a", "b", "d", "room"]]);
    assert_eq!(circles(&[file("a.rs", "use super::b::f;"), file("b.rs", "fn f() {}")]), Vec::<Vec<String>>::new());
}

#[test]
fn functions_of_the_session_are_seen() {
    let code =
        "struct App;\nimpl App {\n    fn a(&self) {}\n}\nfn b(app: &mut App) { Screen::Run; }\nfn c(one: u8) {}\n";
    let found = functions(code);
    assert_eq!(found.iter().map(|one| one.takes_app).collect::<Vec<_>>(), [true, true, false]);
    assert!(found[1].names(&["Screen"], "Run") && !found[1].names(&["Screen"], "Ru"));
}
