//! Target of find: a text in what people read, or in the prompts.

use regex::bytes::Regex;

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_table::filter::text_patterns;
use stepscope_table::seen::{place_in, prompt_in};

/// Begins what is looked for in prompts.
const IN_PROMPTS: &str = "prompt:";

/// See the module.
#[derive(Clone, Debug)]
pub struct Sought {
    /// Pattern for JSON as it is written.
    written: Regex,
    /// Pattern for text as it is shown.
    pub(crate) shown: Regex,
    /// True if only the prompts are looked through.
    pub(crate) in_prompts: bool,
}

impl Sought {
    /// Reads what was typed; small letters find capitals too.
    pub(crate) fn parse(typed: &str) -> Result<Self, Shown> {
        let (text, in_prompts) = match typed.strip_prefix(IN_PROMPTS) {
            Some(text) => (text.trim_start(), true),
            None => (typed, false),
        };
        if text.is_empty() {
            return Err(Shown::own("type what to look for in the prompts: prompt:words"));
        }
        let [written, shown] = text_patterns(text).map_err(|why| shown!("{why}"))?;
        Ok(Self { written, shown, in_prompts })
    }

    /// Finds it in a record, and tells where.
    pub fn place_in(&self, record: &[u8]) -> Option<Shown> {
        let holds = |piece: &[u8]| self.written.is_match(piece);
        if self.in_prompts { prompt_in(record, &holds) } else { place_in(record, &holds) }
    }

    /// Tells whether a text holds it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.shown.is_match(text.as_bytes())
    }
}
