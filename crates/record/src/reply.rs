//! The text of a reply, taken apart: thoughts, code fences and prose around the JSON that was asked for.
//!
//! Thoughts stand in the marks of one model family or another, several times, or without an end. Of several objects the
//! last that has the most of the requested keys is the reply, because models correct themselves.

use std::ops::Range;

use stepscope_base::json::{Kind, Tape};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

/// Reason why a model stopped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Stop {
    /// The model was done.
    #[default]
    End,
    /// The limit of the reply, or of the context, was reached. The JSON may be whole all the same.
    Length,
    /// Anything else that the server names.
    Other(Untrusted<'static>),
}

impl Stop {
    /// Reads the reason that a server gives, in whatever case it writes it.
    pub fn named(reason: &Untrusted<'_>) -> Self {
        const ENDS: [&str; 9] = [
            "stop",
            "end_turn",
            "stop_sequence",
            "eos_token",
            "tool_use",
            "tool_calls",
            "function_call",
            "complete",
            "eos",
        ];
        const LIMITS: [&str; 6] = [
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_completion_tokens",
            "model_length",
            "model_context_window_exceeded",
        ];
        let is = |known: &&str| reason.bytes().eq_ignore_ascii_case(known.as_bytes());
        if ENDS.iter().any(is) {
            Self::End
        } else if LIMITS.iter().any(is) {
            Self::Length
        } else {
            Self::Other(reason.clone().into_owned())
        }
    }

    /// Explains why the reply ended early; `None`: the model was done.
    pub fn early(&self) -> Option<Shown> {
        match self {
            Self::End => None,
            Self::Length => Some(Shown::own("token limit reached (--max-tokens)")),
            Self::Other(why) => Some(shown!("stopped: {}", why.line())),
        }
    }

    /// Returns the word for the trace; `None`: the model was done.
    pub fn word(&self) -> Option<Untrusted<'static>> {
        match self {
            Self::End => None,
            Self::Length => Some(Untrusted::from("length")),
            Self::Other(why) => Some(why.clone()),
        }
    }
}

/// Text found around the JSON of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wrapping {
    /// Reasoning in marks such as `<think>`.
    pub reasoning: bool,
    /// A code fence.
    pub fence: bool,
    /// Other words.
    pub prose: bool,
}

impl Wrapping {
    /// Tells whether the reply was the JSON and nothing else.
    pub const fn is_nothing(self) -> bool {
        !(self.reasoning || self.fence || self.prose)
    }

    /// Describes it in words; empty where there was nothing.
    pub const fn words(self) -> &'static str {
        match (self.reasoning, self.fence, self.prose) {
            (false, false, false) => "",
            (true, false, false) => "reasoning before it",
            (false, true, false) => "a code fence around it",
            (true, true, false) => "reasoning before it and a code fence around it",
            (_, _, true) => "other text around it",
        }
    }
}

/// A reply taken apart; the ranges are bytes of its content.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// The reasoning in it, from the first mark to the last, without those two.
    pub reasoning: Option<Range<usize>>,
    /// The JSON, or the text in its place.
    pub json: Range<usize>,
    /// The object itself, where the JSON is a string that holds one.
    pub decoded: Option<Vec<u8>>,
    /// Text that was taken off.
    pub around: Wrapping,
    /// Number of different objects behind the reasoning.
    pub objects: usize,
    /// True if the one that was taken has more of the requested keys than another.
    pub is_by_keys: bool,
    /// True if an object or a list begins and the text ends inside it.
    pub is_cut: bool,
}

impl Parts {
    /// The text of the JSON.
    pub fn text<'a>(&'a self, content: &'a [u8]) -> &'a [u8] {
        self.decoded.as_deref().unwrap_or_else(|| &content[self.json.clone()])
    }

    /// Says which of several objects was taken; `None`: there is one at most.
    pub fn choice(&self) -> Option<Shown> {
        let which = if self.is_by_keys { "the last with the requested keys" } else { "the last" };
        (self.objects > 1).then(|| shown!("{} objects in the reply; {which} was taken", self.objects))
    }
}

/// Marks around thoughts.
struct ThoughtMarks {
    open: &'static str,
    /// Marks that end the thoughts; all begin with the same byte.
    close: &'static [&'static str],
    /// True if the first closing mark is no other's, so that it also ends thoughts whose opening mark a server's
    /// template wrote before the reply began.
    may_lack_open: bool,
}

const fn marks(open: &'static str, close: &'static [&'static str]) -> ThoughtMarks {
    ThoughtMarks { open, close, may_lack_open: true }
}

const fn channel(open: &'static str) -> ThoughtMarks {
    ThoughtMarks { open, close: &["<|end|>", "<|call|>", "<|channel|>final"], may_lack_open: false }
}

/// The marks that models put around their thoughts, whatever the case of their letters. Some leave their thoughts
/// unclosed and begin with the answer.
const THOUGHTS: [ThoughtMarks; 17] = [
    marks("<think>", &["</think>", "<answer>"]),
    marks("<thinking>", &["</thinking>", "<answer>"]),
    marks("<thought>", &["</thought>", "<answer>"]),
    marks("<thoughts>", &["</thoughts>", "<answer>"]),
    marks("<analysis>", &["</analysis>", "<answer>"]),
    marks("<reasoning>", &["</reasoning>", "<answer>"]),
    marks("<scratchpad>", &["</scratchpad>", "<answer>"]),
    marks("<scratch_pad>", &["</scratch_pad>", "<answer>"]),
    marks("<reflection>", &["</reflection>", "<answer>"]),
    marks("<seed:think>", &["</seed:think>"]),
    marks("[THINK]", &["[/THINK]"]),
    marks("◁think▷", &["◁/think▷"]),
    marks("<|begin_of_thought|>", &["<|end_of_thought|>"]),
    marks("<|START_THINKING|>", &["<|END_THINKING|>"]),
    marks("<unused94>thought", &["<unused95>"]),
    channel("<|channel|>analysis"),
    channel("<|channel|>commentary"),
];
/// The channels of a reply whose special tokens were dropped by the server.
const BARE_CHANNELS: (&str, &str) = ("analysis", "assistantfinal");
/// Marks that say nothing about the reply, removed from the text around it.
const TOKENS: [&str; 11] = [
    "<|start|>assistant",
    "<|channel|>final",
    "<|constrain|>json",
    "<|message|>",
    "<|return|>",
    "<|end|>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|im_end|>",
];
/// Maximum number of places tried where JSON may begin among words.
const MAX_STARTS: usize = 64;
/// Maximum number of objects that are compared.
const MAX_OBJECTS: usize = 64;
/// Maximum number of control characters of a text that are looked behind.
const MAX_CONTROLS: usize = 10_000;
/// Maximum number of letters of a command.
const MAX_COMMAND: usize = 20;
/// Maximum number of times that JSON is looked for in a JSON string.
const MAX_DECODED: usize = 2;

/// Takes a reply apart that was asked for an object with these keys.
pub fn parts(content: &[u8], keys: &[Untrusted<'_>]) -> Parts {
    decoded_parts(content, keys, MAX_DECODED)
}

fn decoded_parts(content: &[u8], keys: &[Untrusted<'_>], depth: usize) -> Parts {
    let whole = trimmed(content, 0..content.len());
    let text = &content[whole.clone()];
    // Nearly every reply is one object and nothing else.
    if text.starts_with(b"{") && reads(text) {
        return Parts { json: whole, objects: 1, ..Parts::default() };
    }
    let mut scan = ReplyScan { content, from: whole.start, end: whole.end, ..ReplyScan::default() };
    scan.run();
    let mut parts = scan.chosen(keys);
    parts.decoded = (depth > 0).then(|| decoded(parts.text(content), keys, depth - 1)).flatten();
    parts.objects += usize::from(parts.decoded.is_some());
    parts
}

/// Finds the thoughts in a reply, which may still be coming, and the place behind them.
pub fn thoughts(content: &[u8]) -> (Range<usize>, usize) {
    let mut scan = ReplyScan { content, end: content.len(), ..ReplyScan::default() };
    scan.run();
    (scan.reasoning.unwrap_or_default(), scan.from)
}

/// Decodes a JSON string that holds an object.
fn decoded(text: &[u8], keys: &[Untrusted<'_>], depth: usize) -> Option<Vec<u8>> {
    let mut tape = Tape::default();
    let value = text.starts_with(b"\"").then(|| tape.parse(text)).flatten()?;
    let inner = value.string().filter(|_| value.kind() == Kind::String)?;
    let parts = decoded_parts(inner.bytes(), keys, depth);
    (parts.objects > 0).then(|| parts.text(inner.bytes()).to_vec())
}

/// A readable object or list among the text of a reply.
#[derive(Clone)]
struct FoundJson {
    range: Range<usize>,
    is_object: bool,
}

/// The text behind the thoughts, searched for JSON.
#[derive(Default)]
struct ReplyScan<'a> {
    content: &'a [u8],
    /// Beginning of the text behind the last thought.
    from: usize,
    end: usize,
    reasoning: Option<Range<usize>>,
    found: Vec<FoundJson>,
    is_cut: bool,
}

impl<'a> ReplyScan<'a> {
    fn text(&self, range: Range<usize>) -> &'a [u8] {
        &self.content[range]
    }

    fn run(&mut self) {
        self.bare_channels();
        let (mut at, mut starts) = (self.from, 0);
        while let Some(next) = self.text(at..self.end).iter().position(|byte| matches!(byte, b'<' | b'[' | b'{' | 0xe2))
        {
            at += next;
            let rest = self.text(at..self.end);
            if !rest.starts_with(b"{") {
                if let Some(marks) = THOUGHTS.iter().find(|marks| begins(rest, marks.open)) {
                    at = self.thought(at, marks);
                    continue;
                }
                if let Some(close) = lone_closes().find(|close| begins(rest, close)) {
                    self.think(self.from..at, at + close.len());
                    at = self.from;
                    continue;
                }
            }
            if !may_be_json(rest) || starts == MAX_STARTS {
                at += 1;
                continue;
            }
            starts += 1;
            let Some(len) = balanced(rest) else {
                if self.is_cut_at(at) {
                    self.is_cut = true;
                    return;
                }
                at += 1;
                continue;
            };
            let is_object = rest.starts_with(b"{");
            if rest.get(..len).is_some_and(reads) {
                if self.found.len() < MAX_OBJECTS {
                    self.found.push(FoundJson { range: at..at + len, is_object });
                }
                at += len;
            } else {
                // An object inside one that is no JSON is not the reply; brackets are used in prose too.
                at += if is_object { len } else { 1 };
            }
        }
    }

    /// Notes thoughts, and that the reply begins behind them.
    fn think(&mut self, body: Range<usize>, next: usize) {
        let first = self.reasoning.take().map_or(body.start, |before| before.start.min(body.start));
        self.reasoning = Some(trimmed(self.content, first..body.end.max(first)));
        self.from = next.min(self.end);
        self.found.clear();
    }

    /// Skips thoughts in marks, and returns where the text behind them begins.
    fn thought(&mut self, at: usize, marks: &ThoughtMarks) -> usize {
        let body = at + marks.open.len();
        let inside = self.text(body..self.end);
        let first = marks.close.first().and_then(|close| close.bytes().next()).unwrap_or(b'<');
        let ends = memchr::memchr_iter(first, inside);
        let ended = ends.into_iter().find_map(|end| {
            let rest = &inside[end..];
            marks.close.iter().find(|close| begins(rest, close)).map(|close| (end, *close))
        });
        let body = if begins(inside, "<|message|>") { body + "<|message|>".len() } else { body };
        match ended {
            // The mark of the answer is no part of the thoughts.
            Some((end, close)) if close == "<answer>" || close == "<|channel|>final" => {
                let end = self.end - inside.len() + end;
                self.think(body..end, end);
                self.from + close.len()
            }
            Some((end, close)) => {
                let end = self.end - inside.len() + end;
                self.think(body..end, end + close.len());
                self.from
            }
            None => {
                self.think(body..self.end, self.end);
                self.end
            }
        }
    }

    fn bare_channels(&mut self) {
        let (begin, end) = BARE_CHANNELS;
        let text = self.text(self.from..self.end);
        if text.starts_with(begin.as_bytes())
            && let Some(last) = memchr::memmem::rfind(text, end.as_bytes())
        {
            self.think(self.from + begin.len()..self.from + last, self.from + last + end.len());
        }
    }

    /// Tells whether JSON that begins at a place and has no end was cut there: what is in it is not the reply. Among
    /// thoughts without an opening mark it was only begun.
    fn is_cut_at(&self, at: usize) -> bool {
        let rest = self.text(at..self.end);
        let closes = || lone_closes().any(|close| memchr::memmem::find(rest, close.as_bytes()).is_some());
        self.text(self.from..at).trim_ascii().is_empty() || (rest.starts_with(b"{") && !closes())
    }

    /// Chooses the reply among what was found.
    fn chosen(self, keys: &[Untrusted<'_>]) -> Parts {
        let rest = trimmed(self.content, self.from..self.end);
        let mut parts = Parts { reasoning: self.reasoning.clone(), is_cut: self.is_cut, ..Parts::default() };
        parts.around.reasoning = parts.reasoning.is_some();
        let mut objects: Vec<&FoundJson> = self.found.iter().filter(|found| found.is_object).collect();
        let is_empty = |found: &FoundJson| is_without_members(self.text(found.range.clone()));
        if objects.iter().any(|found| !is_empty(found)) {
            objects.retain(|found| !is_empty(found));
        }
        let scores: Vec<usize> = objects.iter().map(|found| score(self.text(found.range.clone()), keys)).collect();
        let best = scores.iter().copied().max();
        parts.is_by_keys = best != scores.iter().copied().min();
        let last = objects.iter().zip(&scores).rev().find(|(_, score)| Some(**score) == best).map(|(found, _)| *found);
        let mut texts: Vec<&[u8]> = objects.iter().map(|found| self.text(found.range.clone())).collect();
        texts.sort_unstable();
        texts.dedup();
        parts.objects = texts.len();
        let list = || self.found.iter().rev().find(|found| self.is_list_of_objects(found, &rest));
        if let Some(found) = last.or_else(list) {
            let mut around = parts.around;
            self.look_around(&found.range, &rest, &mut around);
            // In prose it is the empty set.
            if around.fence || !around.prose || !is_empty(found) {
                (parts.around, parts.json) = (around, found.range.clone());
                return parts;
            }
        }
        (parts.objects, parts.is_by_keys) = (0, false);
        parts.json = rest.clone();
        if !reads(self.text(rest.clone()))
            && let Some((inside, is_whole)) = fenced(self.content, rest)
            && reads(self.text(inside.clone()))
        {
            (parts.around.fence, parts.around.prose) = (true, !is_whole);
            parts.json = inside;
        }
        parts
    }

    /// Tells whether a list can be what was meant: a number in brackets is a footnote.
    fn is_list_of_objects(&self, found: &FoundJson, rest: &Range<usize>) -> bool {
        found.range == *rest || memchr::memchr(b'{', self.text(found.range.clone())).is_some()
    }

    fn look_around(&self, json: &Range<usize>, rest: &Range<usize>, around: &mut Wrapping) {
        let before = self.text(rest.start..json.start).trim_ascii_end();
        let after = self.text(json.end..rest.end).trim_ascii_start();
        let opened = without_language(before).strip_suffix(b"```");
        let closed = after.strip_prefix(b"```");
        let after = without_tokens(closed.unwrap_or(after));
        around.fence = opened.is_some() && (closed.is_some() || after.is_empty());
        let before = without_tokens(opened.filter(|_| around.fence).unwrap_or(before));
        around.prose = !before.is_empty() || !after.is_empty();
    }
}

/// Counts the requested keys that an object has.
fn score(text: &[u8], keys: &[Untrusted<'_>]) -> usize {
    let mut tape = Tape::default();
    let Some(object) = tape.parse(text).filter(|_| !keys.is_empty()) else { return 0 };
    let names: Vec<Untrusted<'_>> = object.members().map(|member| member.name()).collect();
    keys.iter().filter(|key| names.iter().any(|name| name == *key)).count()
}

/// Tells whether JSON may begin here: an object with a key, or a list of more than numbers.
fn may_be_json(text: &[u8]) -> bool {
    let next = text.iter().skip(1).find(|byte| !byte.is_ascii_whitespace());
    match text.first() {
        Some(b'{') => next.is_some_and(|next| matches!(next, b'"' | b'}')),
        Some(b'[') => next.is_some_and(|next| matches!(next, b'{' | b'[' | b'"')),
        _ => false,
    }
}

/// Tells whether an object has no member.
fn is_without_members(object: &[u8]) -> bool {
    object.iter().filter(|byte| !byte.is_ascii_whitespace()).count() == 2
}

/// The closing marks that also end thoughts without an opening one.
fn lone_closes() -> impl Iterator<Item = &'static &'static str> {
    THOUGHTS.iter().filter(|marks| marks.may_lack_open).filter_map(|marks| marks.close.first())
}

/// Returns the length of the object or list that begins a text, by its brackets; those in strings do not count.
fn balanced(text: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut at) = (0_usize, false, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => at += 1,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn begins(text: &[u8], mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
}

/// Removes the marks that say nothing from the ends of a text.
fn without_tokens(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    loop {
        let shorter = TOKENS
            .iter()
            .find_map(|token| text.strip_prefix(token.as_bytes()).or_else(|| text.strip_suffix(token.as_bytes())));
        let Some(shorter) = shorter else { return text };
        text = shorter.trim_ascii();
    }
}

/// Removes the name of a language from the end of a text.
fn without_language(text: &[u8]) -> &[u8] {
    let letters = text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    &text[..text.len() - letters]
}

/// Finds the inside of the first code fence, and tells whether the fence is all there is.
fn fenced(content: &[u8], rest: Range<usize>) -> Option<(Range<usize>, bool)> {
    let text = content.get(rest.clone())?;
    let open = memchr::memmem::find(text, b"```")?;
    let line = open + 3 + memchr::memchr(b'\n', text.get(open + 3..)?).map_or(0, |newline| newline + 1);
    // Without a line of its own the language, if there is one, stands before the JSON.
    let line = if line == open + 3 {
        line + text.get(line..)?.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()
    } else {
        line
    };
    let close = memchr::memmem::rfind(text.get(line..)?, b"```").map(|close| line + close);
    let inside = trimmed(content, rest.start + line..rest.start + close.unwrap_or(text.len()));
    let whole = open == 0 && close.is_none_or(|close| close + 3 == text.len());
    Some((inside, whole))
}

fn reads(text: &[u8]) -> bool {
    Tape::default().read(text)
}

fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    let end = range.start + part.trim_ascii_end().len();
    start..end.max(start)
}

/// Names the LaTeX command whose backslash a JSON reader took for an escape: `\frac` became a form feed and `rac`.
/// Nobody writes a backspace, so that any letter behind it tells; behind the others only a known command.
pub fn lost_command(text: &[u8]) -> Option<String> {
    const AFTER_FORM_FEED: [&str; 4] = ["rac{", "orall", "box{", "loor"];
    const AFTER_TAB: [&str; 8] = ["imes", "heta", "ext{", "frac{", "riangle", "ilde{", "extbf{", "an("];
    const AFTER_RETURN: [&str; 2] = ["ight)", "ightarrow"];
    const AFTER_LINE_FEED: [&str; 2] = ["abla", "eq "];
    let command = |at: usize, letter: char, known: &[&str]| {
        let rest = &text[at + 1..];
        let is_known = known.is_empty() || known.iter().any(|known| rest.starts_with(known.as_bytes()));
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).take(MAX_COMMAND);
        let name: String = letters.map(|byte| char::from(*byte)).collect();
        (is_known && !name.is_empty()).then(|| format!("\\{letter}{name}"))
    };
    text.iter().enumerate().filter(|(_, byte)| byte.is_ascii_control()).take(MAX_CONTROLS).find_map(|(at, byte)| {
        match byte {
            0x08 => command(at, 'b', &[]),
            0x0c => command(at, 'f', &AFTER_FORM_FEED),
            b'\t' => command(at, 't', &AFTER_TAB),
            b'\r' => command(at, 'r', &AFTER_RETURN),
            b'\n' => command(at, 'n', &AFTER_LINE_FEED),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(content: &str) -> (Option<&str>, &str, &'static str) {
        let parts = parts(content.as_bytes(), &[]);
        (parts.reasoning.map(|range| &content[range]), &content[parts.json], parts.around.words())
    }

    fn taken(content: &str) -> String {
        let parts = parts(content.as_bytes(), &[Untrusted::from("value")]);
        String::from_utf8(parts.text(content.as_bytes()).to_vec()).unwrap()
    }

    #[test]
    fn reasoning_and_fences_are_taken_off() {
        for (content, reasoning, json, around) in [
            ("{\"a\": 1}\n \t\n", None, "{\"a\": 1}", ""),
            ("<think>\nso {b}\n</think>\n\n{\"a\": 1}", Some("so {b}"), "{\"a\": 1}", "reasoning before it"),
            ("so be it</think>{}", Some("so be it"), "{}", "reasoning before it"),
            ("<think>never ends", Some("never ends"), "", "reasoning before it"),
            ("{\"a\": \"</think>\"}", None, "{\"a\": \"</think>\"}", ""),
            ("```json\n{\"a\": 1}\n```", None, "{\"a\": 1}", "a code fence around it"),
            ("```{}```", None, "{}", "a code fence around it"),
            ("```json {\"a\": \"```\"}```", None, "{\"a\": \"```\"}", "a code fence around it"),
            ("<think></think>```\n{}", Some(""), "{}", "reasoning before it and a code fence around it"),
            ("Sure! Here:\n```json\n{}\n```\nBye {x}", None, "{}", "other text around it"),
            ("Sure: {\"a\": {\"b\": 1}} and so on", None, "{\"a\": {\"b\": 1}}", "other text around it"),
            ("{\"a\": 1} and so on", None, "{\"a\": 1}", "other text around it"),
            ("{\"a\": [{\"b\": 1}, {\"b\"", None, "{\"a\": [{\"b\": 1}, {\"b\"", ""),
            ("not at all {", None, "not at all {", ""),
            ("", None, "", ""),
            ("```json\n5\n```", None, "5", "a code fence around it"),
        ] {
            assert_eq!(apart(content), (reasoning, json, around), "{content}");
        }
    }

    #[test]
    fn braces_without_end_are_looked_through_quickly() {
        let open = "{".repeat(1 << 20);
        assert_eq!(apart(&open).1.len(), 1 << 20);
        assert_eq!(apart(&format!("{open}}}")).1.len(), (1 << 20) + 1);
    }

    #[test]
    fn no_value_comes_from_a_thought() {
        for reply in [
            "<thinking>{\"value\": 1}</thinking>\n{\"value\": 2}",
            "<Scratchpad>{\"value\": 1}</Scratchpad>{\"value\": 2}",
            "[THINK]{\"value\": 1}[/THINK]```json\n{\"value\": 2}\n```",
            "◁think▷{\"value\": 1}◁/think▷ {\"value\": 2}",
            "<think>{\"value\": 1}</think> hm <think>{\"value\": 3}</think>{\"value\": 2}",
            "{\"value\": 1} no.\n</think>\n{\"value\": 2}",
            "I begin {\"value\": 1 and stop</think>{\"value\": 2}",
            "<think>{\"value\": 1}\n<answer>{\"value\": 2}</answer>",
            "<|channel|>analysis<|message|>{\"value\": 1}<|end|><|start|>assistant<|channel|>final<|message|>{\"value\": 2}<|return|>",
            "analysisIs it {\"value\": 1}?assistantfinal{\"value\": 2}",
        ] {
            assert_eq!(taken(reply), "{\"value\": 2}", "{reply}");
        }
        let parts =
            parts("<|channel|>analysis<|message|>so<|end|><|channel|>final<|message|>{}<|return|>".as_bytes(), &[]);
        assert_eq!(parts.around.words(), "reasoning before it");
    }

    #[test]
    fn of_several_objects_the_last_with_the_keys_is_taken_and_said() {
        let said = |content: &str| {
            let parts = parts(content.as_bytes(), &[Untrusted::from("value")]);
            parts.choice().map(Shown::into_string).unwrap_or_default()
        };
        let corrected = "```json\n{\"value\": 1}\n```\nNo:\n```json\n{\"value\": 2}\n```";
        assert_eq!(
            (taken(corrected).as_str(), said(corrected).as_str()),
            ("{\"value\": 2}", "2 objects in the reply; the last was taken")
        );
        let explained = "{\"value\": 2} as {\"why\": \"x\"}";
        assert_eq!(taken(explained), "{\"value\": 2}");
        assert_eq!(said(explained), "2 objects in the reply; the last with the requested keys was taken");
        assert_eq!(said("{\"value\": 2} again: {\"value\": 2}"), "");
        assert_eq!(taken("[{\"value\": 1}, {\"value\": 2}]"), "[{\"value\": 1}, {\"value\": 2}]");
        assert_eq!(taken("{\"value\": 2} for {} or {x}, see [1]"), "{\"value\": 2}");
    }

    #[test]
    fn what_was_cut_is_no_reply_and_what_is_written_twice_is_one() {
        let cut = |text: &str| parts(text.as_bytes(), &[]).is_cut;
        assert!(cut("Sure: {\"items\": [{\"a\": 1}, {\"a\"") && cut("{\"quote\": \"5 EUR </think> in"));
        assert!(!cut("x lies in [0, 1) or {y") && !cut("{\"a\": 1}"));
        assert!(!taken("Sure: {\"items\": [{\"value\": 1}, {\"a\"").starts_with("{\"value"));
        assert_eq!(taken(r#""{\"value\": 2}""#), "{\"value\": 2}");
    }

    #[test]
    fn lost_backslashes_are_known_by_what_follows() {
        let command = |text: &str| lost_command(text.as_bytes()).unwrap_or_default();
        assert_eq!(command("\u{c}rac{1}{2}"), "\\frac");
        assert_eq!(command("2 \times 3"), "\\times");
        assert_eq!(command("\u{8}oxed{4}"), "\\boxed");
        assert_eq!(command("a\tb\r\nfine\n"), "");
    }
}
