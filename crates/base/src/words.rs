//! A macro for enums spelled as words, the word that a mistyped one was meant to be, and words of a shell.

/// The one of some words that was hardly meant otherwise by a mistyped one.
pub fn closest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Words are as like as this when one may be meant by the other.
    const ALIKE: f64 = 0.75;
    let alike = words.into_iter().map(|known| (strsim::jaro_winkler(word, known), known));
    let best = alike.filter(|(alike, _)| *alike > ALIKE).max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.map(|(_, known)| known)
}

/// A text as one word of a shell.
pub fn shell_word(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '%' | '+' | ',');
    if !text.is_empty() && text.chars().all(fits) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// An option of a command and its value, for a shell. What begins with a hyphen would be taken for another option.
pub fn shell_option(option: &str, value: &str) -> String {
    let sign = if value.starts_with('-') { '=' } else { ' ' };
    format!("{option}{sign}{}", shell_word(value))
}

/// Makes an enum of its words: `ALL` in order, `word` and `from_word`; with `=> "..."` behind each word also `phrase`,
/// what is said to people.
///
/// ```
/// stepscope_base::words! {
///     /// A light.
///     pub enum Light {
///         /// It is on.
///         On = "on" => "it burns",
///         /// It is off.
///         Off = "off" => "it is dark",
///     }
/// }
/// assert_eq!(Light::from_word("off"), Some(Light::Off));
/// assert_eq!(Light::ALL.map(Light::phrase), ["it burns", "it is dark"]);
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $vis:vis enum $name:ident {
        $($(#[$item_doc:meta])* $item:ident = $word:literal => $phrase:literal),+ $(,)?
    }) => {
        $crate::words! { $(#[$doc])* $vis enum $name { $($(#[$item_doc])* $item = $word),+ } }

        impl $name {
            /// For people.
            pub const fn phrase(self) -> &'static str {
                match self { $(Self::$item => $phrase),+ }
            }
        }
    };
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($(#[$item_doc:meta])* $item:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $vis enum $name { $($(#[$item_doc])* $item),+ }

        #[allow(dead_code, reason = "not every enum is read and listed")]
        impl $name {
            /// All, in their order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$item),+];

            /// The word in files, on the command line and on the screen.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$item => $word),+ }
            }

            /// The one with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|item| item.word() == word)
            }
        }
    };
}

/// Makes a list of texts of plain words.
///
/// ```
/// const NUMBERS: &[&str] = stepscope_base::list![one two three];
/// assert_eq!(NUMBERS, ["one", "two", "three"]);
/// ```
#[macro_export]
macro_rules! list {
    ($($word:tt)+) => { &[$(stringify!($word)),+] };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_for_every_shell() {
        for (text, quoted) in [
            ("runs.jsonl", "runs.jsonl"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$(x)`y`", "'$(x)`y`'"),
            ("", "''"),
            ("~/x", "'~/x'"),
        ] {
            assert_eq!(shell_word(text), quoted);
        }
        assert_eq!((shell_option("--id", "a b"), shell_option("--id", "-x")), ("--id 'a b'".into(), "--id=-x".into()));
    }

    #[test]
    fn a_mistyped_word_is_told_from_another() {
        let known = ["correct", "kind", "rule"];
        assert_eq!((closest("corect", known), closest("xyz", known)), (Some("correct"), None));
    }
}
