//! Target of a question: the sentence that asks, and the unit that it names.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::units::{Unit, unit};

/// The sentence that asks: the last one with a question mark, else the last.
pub fn asking_sentence(question: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'?', question).unwrap_or(question.len());
    let body = question.get(..end).unwrap_or(question);
    // A point between digits ends no sentence.
    let start = memchr::memrchr_iter(b'.', body).find(|at| body.get(at + 1) == Some(&b' ')).map_or(0, |at| at + 2);
    body.get(start..).unwrap_or(body)
}

/// The unit that a question asks for: `how many minutes`, `in cents`, `what percentage`.
pub fn asked_unit(question: &[u8]) -> Option<Unit> {
    // A searcher is dear to make.
    static BEFORE: LazyLock<[Finder<'static>; 5]> =
        LazyLock::new(|| ["how many ", "how many more ", "what percentage", "what percent", " in "].map(Finder::new));
    let lower = asking_sentence(question).to_ascii_lowercase();
    BEFORE.iter().find_map(|before| {
        before.find_iter(&lower).find_map(|at| {
            if before.needle().starts_with(b"what") {
                return unit(b"percent");
            }
            let rest = lower.get(at + before.needle().len()..)?;
            let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
            rest.get(..end).and_then(unit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_that_asks_names_the_unit() {
        for (question, name) in [
            ("A train needs 2 hours. How many minutes is that?", Some("minute")),
            ("A pen costs $2. How much is it in cents?", Some("cent")),
            ("Two of 8 are red. What percentage is that?", Some("percent")),
            ("He walks 2 hours. Tell how many minutes.", Some("minute")),
            ("It took 90 minutes. How many cats came?", None),
        ] {
            assert_eq!(asked_unit(question.as_bytes()).map(|unit| unit.name), name, "{question}");
        }
    }
}
