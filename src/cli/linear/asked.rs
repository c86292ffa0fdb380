//! Prompts of one line each: a choice by its number or word, several numbers, a number, a text.

use std::io::{BufRead, Read as _};

use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// A longer line is no answer to a prompt.
const MAX_LINE: u64 = 64 << 10;

/// Answer to a prompt.
pub(super) enum Said {
    /// The choice of this number, from 0.
    Choice(usize),
    /// Something else.
    Unclear,
    /// Nothing more is to come.
    Ended,
}

/// Where answers come from.
pub(super) struct Prompts<R> {
    input: R,
    has_ended: bool,
    /// A person types, and sees it.
    is_typed: bool,
    /// Choices that were listed last: the same ones are not read out again.
    listed: Vec<String>,
}

impl<R: BufRead> Prompts<R> {
    pub(super) const fn new(input: R, is_typed: bool) -> Self {
        Self { input, has_ended: false, is_typed, listed: Vec::new() }
    }

    /// Asks for one of some choices, by its number, its word or the beginning of it. They are listed where they are not
    /// those of before.
    pub(super) fn choose(&mut self, prompt: &str, words: &[&str], out: &mut Out) -> Said {
        if self.listed != words {
            out.line(&listed(words));
            self.listed = words.iter().map(|word| (*word).to_owned()).collect();
        }
        let Some(line) = self.line(&shown!("{prompt}"), out) else { return Said::Ended };
        let typed = line.trim().to_lowercase();
        if matches!(typed.as_str(), "" | "?") {
            out.line(&listed(words));
            return Said::Unclear;
        }
        match chosen(&typed, words) {
            Ok(n) => Said::Choice(n),
            Err(why) => {
                out.line(&shown!("{why}; ? lists the choices"));
                Said::Unclear
            }
        }
    }

    /// Asks for as many of some choices as there are to be; `None`: the person thought better of it, or nothing more is to
    /// come.
    pub(super) fn several(&mut self, prompt: &str, words: &[&str], out: &mut Out) -> Option<Vec<usize>> {
        out.line(&listed(words));
        loop {
            let line = self.line(&shown!("{prompt}"), out)?;
            let typed: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
            if typed == ["q"] {
                return None;
            }
            match typed.iter().map(|word| numbered(word, words)).collect() {
                Ok(chosen) => return Some(chosen),
                Err(why) => out.line(&shown!("{why}; q gives up")),
            }
        }
    }

    /// Asks for a number from 1 to the greatest one.
    pub(super) fn number(&mut self, prompt: &Shown, greatest: usize, out: &mut Out) -> Option<usize> {
        let line = self.line(prompt, out)?;
        let number = line.trim().parse().ok().filter(|number| (1..=greatest).contains(number));
        if number.is_none() && !line.trim().is_empty() {
            out.line(&shown!("type a number from 1 to {greatest}"));
        }
        number
    }

    /// Asks for a text; `None`: none was typed.
    pub(super) fn text(&mut self, prompt: &str, out: &mut Out) -> Option<String> {
        let line = self.line(&shown!("{prompt}"), out)?;
        Some(line.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn line(&mut self, prompt: &Shown, out: &mut Out) -> Option<String> {
        if self.has_ended {
            return None;
        }
        out.prompt(&shown!("{prompt}: "));
        out.flush();
        let mut line = Vec::new();
        let read = self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        // What is typed ends its line itself; what comes from a file or pipe does not show.
        if !self.is_typed {
            out.line(&Shown::default());
        }
        self.has_ended = !matches!(read, Ok(1..));
        (!self.has_ended).then(|| String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// Lists choices with their numbers.
fn listed(words: &[&str]) -> Shown {
    let all: Vec<String> = words.iter().enumerate().map(|(n, word)| format!("{} {word}", n + 1)).collect();
    shown!("{}", Shown::line(all.join(", ").as_bytes()))
}

/// Finds the choice that was typed.
fn chosen(typed: &str, words: &[&str]) -> Result<usize, Shown> {
    if typed.parse::<usize>().is_ok() {
        return numbered(typed, words);
    }
    let beginning = || words.iter().enumerate().filter(|(_, word)| word.to_lowercase().starts_with(typed));
    match (words.iter().position(|word| word.to_lowercase() == typed), beginning().count()) {
        (Some(n), _) => Ok(n),
        (None, 1) => beginning().next().map(|(n, _)| n).ok_or_else(Shown::default),
        (None, 0) => Err(shown!("no such choice: {}", Shown::line(typed.as_bytes()))),
        (None, _) => Err(shown!("several choices begin so: {}", Shown::line(typed.as_bytes()))),
    }
}

fn numbered(typed: &str, words: &[&str]) -> Result<usize, Shown> {
    let number = typed.parse().ok().filter(|number| (1..=words.len()).contains(number));
    number.map(|number: usize| number - 1).ok_or_else(|| shown!("no such choice: {}", Shown::line(typed.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_named_by_its_number_or_the_beginning_of_its_word() {
        let words = ["pass", "fail", "next record", "next wrong record", "quit"];
        for (typed, expected) in [("1", Some(0)), ("fail", Some(1)), ("q", Some(4)), ("next w", Some(3))] {
            assert_eq!(chosen(typed, &words).ok(), expected, "{typed}");
        }
        for typed in ["0", "6", "next", "nothing", "-1"] {
            assert!(chosen(typed, &words).is_err(), "{typed}");
        }
    }

    #[test]
    fn what_is_no_answer_is_asked_again_and_the_end_of_the_input_ends_it() {
        let mut out = Out::new();
        let mut prompts = Prompts::new(&b"9\n1, 2\nq\n"[..], false);
        assert_eq!(prompts.several("Labels", &["slip", "unit"], &mut out), Some(vec![0, 1]));
        assert_eq!(prompts.several("Labels", &["slip", "unit"], &mut out), None);
        assert!(matches!(prompts.choose("Choice", &["quit"], &mut out), Said::Ended));
    }
}
