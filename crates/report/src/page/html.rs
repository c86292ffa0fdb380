//! The writer of HTML: our own markup as it is, every other text through one escape.

use std::fmt::Write as _;

use stepscope_base::text::Shown;

/// Adds a text to HTML or SVG: nothing in it is markup, nor ends an attribute.
pub fn push_markup(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        out.push_str(match from.as_bytes().first() {
            Some(b'&') => "&amp;",
            Some(b'<') => "&lt;",
            Some(b'>') => "&gt;",
            Some(b'"') => "&quot;",
            _ => "&#39;",
        });
        rest = from.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// A name inside the page that links lead to: letters, digits, `.`, `_` and `-` alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PageLink(String);

impl PageLink {
    /// `#step-4`; steps count from 1.
    pub(super) fn step(number: usize) -> Self {
        Self(format!("step-{number}"))
    }

    /// `#cite-3`, from 1.
    pub(super) fn cite(number: usize) -> Self {
        Self(format!("cite-{number}"))
    }

    /// `#finding-2`, from 1.
    pub(super) fn finding(number: usize) -> Self {
        Self(format!("finding-{number}"))
    }

    /// `#var-x-4`: what a variable holds after a step. A name that no link can hold gives way to its number, behind a
    /// second hyphen, with which no name begins.
    pub(super) fn variable(name: &str, position: usize, step: usize) -> Self {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if !name.is_empty() && name.len() <= 64 && !name.starts_with('-') && name.chars().all(fits) {
            Self(format!("var-{name}-{step}"))
        } else {
            Self(format!("var--{position}-{step}"))
        }
    }

    /// The page of the record of a number: `0004-run-721f`, from what of its title may stand in any file's name.
    pub(super) fn page(number: usize, title: &str) -> Self {
        let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let title: String = title.chars().map(fits).collect();
        let words: Vec<&str> = title.split('-').filter(|word| !word.is_empty()).collect();
        let name: String = words.join("-").chars().take(60).collect();
        Self(format!("{number:04}-{name}"))
    }

    pub(super) fn file(&self) -> String {
        format!("{}.html", self.0)
    }

    /// As a link ends: `step-4`.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The one way into a page.
#[derive(Default, Debug)]
pub(super) struct Html(String);

impl Html {
    /// Our own markup.
    pub(super) fn raw(&mut self, own: &'static str) -> &mut Self {
        self.0.push_str(own);
        self
    }

    /// Text, whatever it holds; in an attribute only between double quotes.
    pub(super) fn text(&mut self, text: &Shown) -> &mut Self {
        push_markup(text.as_str(), &mut self.0);
        self
    }

    pub(super) fn number(&mut self, number: usize) -> &mut Self {
        let _ = write!(self.0, "{number}");
        self
    }

    /// `id="step-4"`, with a blank before it.
    pub(super) fn id(&mut self, anchor: &PageLink) -> &mut Self {
        let _ = write!(self.0, " id=\"{}\"", anchor.as_str());
        self
    }

    /// A link inside the page.
    pub(super) fn link(&mut self, to: &PageLink, words: &Shown) -> &mut Self {
        let _ = write!(self.0, "<a href=\"#{}\">", to.as_str());
        self.text(words).raw("</a>")
    }

    /// A link to another page in the same folder.
    pub(super) fn page_link(&mut self, to: &PageLink, words: &Shown) -> &mut Self {
        let _ = write!(self.0, "<a href=\"{}\">", to.file());
        self.text(words).raw("</a>")
    }

    /// JSON in an element that browsers leave alone: nothing in it ends the element or begins a comment.
    pub(super) fn json(&mut self, json: &[u8]) -> &mut Self {
        self.0.push_str(&String::from_utf8_lossy(json).replace('<', "\\u003C"));
        self
    }

    /// The page.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        let mut html = Html::default();
        html.text(&Shown::line("<b a='1' c=\"2\">&amp;\u{202e}\u{1b}é".as_bytes()));
        assert_eq!(html.finish(), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;⟨U+202E⟩␛é");
    }

    #[test]
    fn each_value_has_a_link_of_its_own() {
        let of = |name: &str, position, step| PageLink::variable(name, position, step).as_str().to_owned();
        assert_eq!(of("income", 3, 4), "var-income-4");
        for odd in ["", "a b", "\"><script>", "-3-4", "é", &"x".repeat(65)] {
            assert_eq!(of(odd, 3, 4), "var--3-4", "{odd}");
        }
    }
}
