//! Fuzzy ranking of a few names by what was typed.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Settings of the matcher: the beginning of a name counts more than its middle.
const CONFIG: Config = {
    let mut config = Config::DEFAULT;
    config.prefer_prefix = true;
    config
};

/// A fit of the name is better than any fit of the rest.
const NAME_FIRST: u32 = 1 << 16;

/// Ranks the items that fit the typed text by name, else by the rest, the best first; all in their order if nothing was
/// typed.
pub(crate) fn rank<T>(typed: &str, items: impl Iterator<Item = T>, texts: impl Fn(&T) -> (String, String)) -> Vec<T> {
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(CONFIG);
    let mut buffer = Vec::new();
    let mut ranked: Vec<(u32, T)> = items
        .filter_map(|item| {
            let (name, rest) = texts(&item);
            let mut score = |text: &str| pattern.score(Utf32Str::new(text, &mut buffer), &mut matcher);
            let best = score(&name).map(|score| score.saturating_add(NAME_FIRST)).or_else(|| score(&rest))?;
            Some((best, item))
        })
        .collect();
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    ranked.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_best_fit_comes_first() {
        let items = ["sort next", "next step", "help"];
        let rank = |typed: &str| super::rank(typed, items.into_iter(), |s| ((*s).to_owned(), "record".to_owned()));
        assert_eq!(rank("help"), ["help"]);
        assert_eq!(rank("ne").first(), Some(&"next step"), "the beginning of a name");
        assert_eq!(rank("nxst").first(), Some(&"next step"));
        assert_eq!(rank("rec").len(), 3);
        assert_eq!(rank(""), ["sort next", "next step", "help"]);
    }
}
