//! Names of actions in a typed command: whole, or by the beginnings of the words of its name. Scattered letters name
//! nothing: what was not meant must not run.

use crate::widgets::keymap::{Action, Binding};

/// Commands that people know from other programs, and what they mean here: the first that can be done.
const ALIASES: [(&str, &[Action]); 7] = [
    ("q", &[Action::Quit]),
    ("quit", &[Action::Quit]),
    ("wq", &[Action::Quit]),
    ("w", &[Action::Keep, Action::SaveAgain]),
    ("write", &[Action::Keep, Action::SaveAgain]),
    ("h", &[Action::Help]),
    ("help", &[Action::Help]),
];

/// Quality of the match between a command and an action, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Fit {
    /// It is its name.
    Whole,
    /// Its name begins so.
    Beginning,
    /// The words of its name begin so, some of them left out.
    Words,
    /// A word of its help begins so.
    Help,
}

/// Returns the row that a command names by its number, from 1, as a count before the key does.
pub(crate) fn row(typed: &str) -> Option<usize> {
    typed.trim().parse().ok().filter(|row| *row > 0)
}

/// Tells how well a command names an action; `None`: not at all.
pub(crate) fn fit(typed: &str, action: Action) -> Option<Fit> {
    let typed = plain(typed);
    if row(&typed).is_some() {
        return (action == Action::Bottom).then_some(Fit::Whole);
    }
    let known = ALIASES.iter().find(|(alias, _)| *alias == typed);
    if let Some((_, meant)) = known {
        return meant.contains(&action).then_some(Fit::Whole);
    }
    // Ids, as the settings have them, are found too.
    let names = [plain(&action.title()), plain(action.word())];
    names.iter().filter_map(|name| fit_of(&typed, name)).min()
}

/// The same for a row of the table of keys, where its help is searched too.
pub(crate) fn fit_in(typed: &str, binding: &Binding, in_help: bool) -> Option<Fit> {
    let (typed, help) = (plain(typed), format!(" {}", plain(binding.help)));
    fit(&typed, binding.action).or_else(|| (in_help && help.contains(&format!(" {typed}"))).then_some(Fit::Help))
}

fn plain(text: &str) -> String {
    text.trim().to_lowercase().replace(['_', '-'], " ")
}

fn fit_of(typed: &str, name: &str) -> Option<Fit> {
    if name == typed {
        Some(Fit::Whole)
    } else if name.starts_with(typed) {
        Some(Fit::Beginning)
    } else {
        let words: Vec<&str> = name.split(' ').collect();
        let letters: String = typed.split(' ').collect();
        begin(&letters, &words).then_some(Fit::Words)
    }
}

/// Commands that take a name behind them, the longer ones first.
const NAMING: [(&str, Action); 2] = [("view save ", Action::SaveView), ("view ", Action::View)];

/// Returns the action and the name behind it that a command gives.
pub(crate) fn naming(typed: &str) -> Option<(Action, &str)> {
    let typed = typed.trim_start();
    let found = NAMING.iter().find_map(|(command, action)| Some((*action, typed.strip_prefix(command)?.trim())));
    found.filter(|(_, name)| !name.is_empty())
}

/// Tells whether a command means one row, the first of those that it fits best, and no other.
pub(crate) fn is_clear(mut ranked: impl Iterator<Item = Fit>) -> bool {
    ranked.next().is_some_and(|best| best == Fit::Whole || ranked.next() != Some(best))
}

/// Tells whether some letters are the beginnings of these words one after the other, some of the words left out.
fn begin(letters: &str, words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return letters.is_empty() };
    let taken = |len: &usize| first.get(..*len).is_some_and(|head| letters.starts_with(head));
    let ends = (0..=first.len()).rev().filter(taken);
    ends.into_iter().any(|len| letters.get(len..).is_some_and(|letters| begin(letters, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_actions_whole_or_by_the_beginnings_of_words() {
        for (typed, action, expected) in [
            ("q", Action::Quit, Some(Fit::Whole)),
            ("q", Action::CopyQuestion, None),
            ("help", Action::Help, Some(Fit::Whole)),
            ("next_fork", Action::NextFork, Some(Fit::Whole)),
            ("Next fork", Action::NextFork, Some(Fit::Whole)),
            ("next f", Action::NextFork, Some(Fit::Beginning)),
            ("nefo", Action::NextFork, Some(Fit::Words)),
            ("nf", Action::NextFork, Some(Fit::Words)),
            ("fork", Action::NextFork, Some(Fit::Words)),
            ("foo", Action::NextFork, None),
            ("nxst", Action::NextStep, None),
            ("ork", Action::NextFork, None),
        ] {
            assert_eq!(fit(typed, action), expected, "{typed}");
        }
        assert_eq!((row("12"), row("0"), row("x")), (Some(12), None, None));
        let clear = |typed: &str, ranked: &[Action]| is_clear(ranked.iter().filter_map(|action| fit(typed, *action)));
        assert!(clear("comp", &[Action::Compare, Action::CopyPath]) && clear("q", &[Action::Quit, Action::Back]));
        assert!(!clear("c", &[Action::Compare, Action::CopyPath]) && !clear("", &[Action::Open, Action::Back]));
        assert_eq!(naming("view save  worst ones "), Some((Action::SaveView, "worst ones")));
        assert_eq!(naming(" view worst"), Some((Action::View, "worst")));
        assert_eq!((naming("view"), naming("view  "), naming("views x")), (None, None, None));
    }
}
