//! A strict look at a page: all markup in it is the program's own, nothing in it asks for anything, and every link leads
//! to a place in it. Browsers forgive; this reader does not.

use std::collections::HashSet;

/// Elements that the program writes, and the attributes that each may have.
const ELEMENTS: [(&str, &[&str]); 42] = [
    ("html", &["lang", "class"]),
    ("head", &[]),
    ("meta", &["charset", "http-equiv", "content", "name"]),
    ("title", &[]),
    ("style", &[]),
    ("body", &[]),
    ("header", &[]),
    ("main", &[]),
    ("footer", &[]),
    ("nav", &["aria-label"]),
    ("section", &["aria-labelledby", "class"]),
    ("h1", &[]),
    ("h2", &["id"]),
    ("h3", &[]),
    ("p", &["class"]),
    ("div", &["class", "tabindex", "role", "aria-label", "aria-labelledby"]),
    ("span", &["class", "aria-hidden", "aria-label", "role"]),
    ("strong", &[]),
    ("em", &[]),
    ("code", &[]),
    ("pre", &["tabindex"]),
    ("mark", &["class", "id"]),
    ("q", &["class"]),
    ("br", &[]),
    ("a", &["href"]),
    ("ul", &["class"]),
    ("ol", &["class"]),
    ("li", &["id"]),
    ("dl", &["class"]),
    ("dt", &[]),
    ("dd", &[]),
    ("details", &["id", "open"]),
    ("summary", &[]),
    ("table", &["class"]),
    ("thead", &[]),
    ("tbody", &[]),
    ("tr", &[]),
    ("th", &["scope"]),
    ("td", &["id", "class"]),
    ("svg", &["viewBox", "preserveAspectRatio", "aria-hidden", "focusable"]),
    ("rect", &["class", "width", "height"]),
    ("script", &["type", "id"]),
];

/// Elements without an end.
const VOID: [&str; 3] = ["meta", "br", "rect"];
/// Elements whose text is no markup.
const RAW: [&str; 2] = ["style", "script"];

/// Returns what is wrong with a page, if anything is: with the first record it carries, or with none at all.
pub(crate) fn wrong_in(page: &str) -> Option<String> {
    // What is carried may be indented.
    let body = page.find("<script").unwrap_or(page.len());
    let is_blank = |at: usize, c: char| c == '\n' || (c == '\t' && at > body);
    let hidden = page.char_indices().find(|(at, c)| !is_blank(*at, *c) && stepscope_base::text::is_hidden(*c));
    if let Some((_, hidden)) = hidden {
        return Some(format!("it holds {hidden:?}"));
    }
    let mut read = Markup::default();
    let Some(rest) = page.strip_prefix("<!doctype html>\n") else { return Some("it is no page".to_owned()) };
    if let Err(why) = read.all(rest) {
        return Some(why);
    }
    if !read.open.is_empty() {
        return Some(format!("{:?} have no end", read.open));
    }
    if read.scripts > 1 || read.styles != 1 {
        return Some(format!("{} scripts, {} sheets", read.scripts, read.styles));
    }
    let dangling = read.links.iter().find(|link| match link.strip_prefix('#') {
        Some(place) => !read.ids.contains(place),
        None => !is_page_name(link),
    });
    dangling.map(|link| format!("{link} leads nowhere"))
}

/// Tells whether a link names a page in the same folder: no folder, no scheme.
fn is_page_name(link: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    link.strip_suffix(".html").is_some_and(|name| !name.is_empty() && name.chars().all(fits))
}

#[derive(Default)]
struct Markup {
    open: Vec<String>,
    ids: HashSet<String>,
    links: Vec<String>,
    scripts: usize,
    styles: usize,
}

impl Markup {
    fn all(&mut self, mut rest: &str) -> Result<(), String> {
        while let Some(at) = rest.find(['<', '>', '&']) {
            let (_, from) = rest.split_at(at);
            rest = match from.as_bytes()[0] {
                b'<' => self.tag(&from[1..])?,
                b'&' => entity(&from[1..])?,
                _ => return Err("a > stands alone".to_owned()),
            };
        }
        Ok(())
    }

    fn tag<'p>(&mut self, text: &'p str) -> Result<&'p str, String> {
        let shown = || text.chars().take(60).collect::<String>();
        let end = text.find('>').ok_or_else(|| format!("<{} has no end", shown()))?;
        let (inside, rest) = (&text[..end], &text[end + 1..]);
        if let Some(name) = inside.strip_prefix('/') {
            return match self.open.pop() {
                Some(open) if open == name => Ok(rest),
                open => Err(format!("</{name}> ends {open:?}")),
            };
        }
        let inside = inside.strip_suffix('/').unwrap_or(inside);
        let (name, attributes) = inside.split_once(' ').unwrap_or((inside, ""));
        let Some((_, allowed)) = ELEMENTS.iter().find(|(known, _)| *known == name) else {
            return Err(format!("an element of its own: <{}", shown()));
        };
        self.attributes(name, attributes, allowed).map_err(|why| format!("{why}: <{}", shown()))?;
        if RAW.contains(&name) {
            let ends = format!("</{name}>");
            let at = rest.find(&ends).ok_or_else(|| format!("<{name}> has no end"))?;
            return self.raw(name, &rest[..at]).map(|()| &rest[at + ends.len()..]);
        }
        if !VOID.contains(&name) {
            self.open.push(name.to_owned());
        }
        Ok(rest)
    }

    fn attributes(&mut self, element: &str, text: &str, allowed: &[&str]) -> Result<(), String> {
        let mut rest = text;
        while !rest.is_empty() {
            let (name, value, behind) = match rest.split_once("=\"") {
                Some((name, behind)) if !name.contains(' ') => {
                    let (value, behind) = behind.split_once('"').ok_or("a value has no end")?;
                    (name, value, behind)
                }
                _ => rest.split_once(' ').map_or((rest, "", ""), |(name, behind)| (name, "", behind)),
            };
            if !allowed.contains(&name) {
                return Err(format!("an attribute of its own, {name:?}"));
            }
            rest = behind.strip_prefix(' ').unwrap_or(behind);
            if name == "id" {
                let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
                if value.is_empty() || !value.chars().all(is_word) || !self.ids.insert(value.to_owned()) {
                    return Err(format!("the id {value:?} is none, or stands twice"));
                }
            } else if name == "href" {
                self.links.push(value.to_owned());
            } else if (name == "class" || name == "role")
                && !value.chars().all(|c| c.is_ascii_lowercase() || " -".contains(c))
            {
                return Err(format!("{name} is {value:?}"));
            }
        }
        let carries = text == "type=\"application/json\" id=\"stepscope\"";
        if element == "script" && !carries { Err("a script that may run".to_owned()) } else { Ok(()) }
    }

    fn raw(&mut self, name: &str, text: &str) -> Result<(), String> {
        if name == "style" {
            self.styles += 1;
            let asks = ["url(", "@import", "<", "expression"].into_iter().find(|word| text.contains(word));
            return asks.map_or(Ok(()), |word| Err(format!("the sheet holds {word:?}")));
        }
        self.scripts += 1;
        // What is carried may nest deeper than this reader goes.
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text);
        match is_json {
            _ if text.contains('<') => Err("what is carried holds a <".to_owned()),
            Err(error) if !error.to_string().contains("recursion") => Err(format!("what is carried: {error}")),
            _ => Ok(()),
        }
    }
}

fn entity(text: &str) -> Result<&str, String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    let found = known.into_iter().find_map(|name| text.strip_prefix(name));
    found.ok_or_else(|| format!("& stands alone: &{}", text.chars().take(20).collect::<String>()))
}
