//! One call of a model as a machine, and what its text gives: Idle, Connecting, Streaming, then Done, Failed or
//! Cancelled. Nothing is sent from here.
//!
//! A reply is three things at once: the text as it came, the JSON in it ([`stepscope_record::reply`] finds it), and a
//! judgement of that JSON by the schema that was asked for, always made here and never taken from the server.

use std::fmt;
use std::time::Duration;

use stepscope_base::json::{Kind, Tape};
use stepscope_base::pyload::loads;
use stepscope_base::schema::{Schema, View};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::validation::validate;
pub use stepscope_record::reply::Stop;
use stepscope_record::reply::{Parts, lost_command, parts};

/// Identifier of a call: events of an earlier call are ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct RunId(pub u64);

stepscope_base::words! {
    /// Ways to enforce a schema, strongest first.
    pub enum Enforcement {
        /// The server is given the schema and promises to keep it.
        Schema = "schema" => "schema sent",
        /// The server promises JSON of any shape.
        Json = "json" => "JSON mode requested",
        /// The schema is in the prompt only.
        Prompt = "prompt" => "schema in the prompt only",
        /// The model is told nothing about the shape.
        Nothing = "nothing" => "no schema",
    }
}

/// One call: what is asked, of which model, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The prompt, exactly.
    pub prompt: Untrusted<'static>,
    /// The JSON Schema that the reply is to have.
    pub schema: Option<Untrusted<'static>>,
    /// The model's name.
    pub model: String,
    /// The temperature; `None`: the server's own.
    pub temperature: Option<f64>,
    /// The seed; `None`: the server's own.
    pub seed: Option<i64>,
    /// The limit of the reply in tokens; `None`: the server's own.
    pub max_tokens: Option<u64>,
    /// The strongest enforcement to ask for.
    pub enforcement: Enforcement,
    /// True if a weaker enforcement may be asked for when the server refuses this one.
    pub may_downgrade: bool,
}

impl Call {
    /// Returns the enforcement that is left when the server is told nothing: by the prompt, if the schema is in it.
    pub fn weakest(&self) -> Enforcement {
        let inside = |schema: &Untrusted<'_>| memchr::memmem::find(self.prompt.bytes(), schema.bytes()).is_some();
        if self.schema.as_ref().is_some_and(inside) { Enforcement::Prompt } else { Enforcement::Nothing }
    }
}

/// Part of a reply that a piece of text belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplyPart {
    /// The reply itself.
    Content,
    /// Reasoning before the reply, where the server tells it apart.
    Reasoning,
}

/// Tokens as the server counted them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Tokens of the prompt, with the cached ones.
    pub prompt: Option<u64>,
    /// Tokens of the reply.
    pub completion: Option<u64>,
}

/// End of a reply.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Finish {
    /// Reason why the model stopped.
    pub stop: Stop,
    /// Tokens.
    pub usage: Usage,
    /// The model that the server says it was.
    pub model: Option<Untrusted<'static>>,
    /// Oddities on the way, in sentences.
    pub notes: Vec<Shown>,
}

impl Finish {
    /// Returns the model that the server says it was, where that is not the one that was asked for.
    pub fn other_model(&self, asked: &str) -> Option<&Untrusted<'static>> {
        self.model.as_ref().filter(|model| model.bytes() != asked.as_bytes())
    }
}

/// Kind of a failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TroubleKind {
    /// The request was not sent: the settings forbid it, or something is missing.
    NotSent,
    /// The server was not reached.
    Connect,
    /// A deadline passed.
    TimeOut,
    /// The server refused, or said that it failed.
    Refused,
    /// The answer is no reply of a model server.
    NoReply,
    /// The reply ended, or broke off, before it was complete.
    Cut,
    /// The reply is larger than it may be.
    TooLarge,
}

/// Failure of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// Kind of the failure.
    pub kind: TroubleKind,
    /// Reason of the failure and what helps, in a sentence.
    pub sentence: Shown,
    /// The status of the server's answer, where there was one.
    pub status: Option<u16>,
}

impl Trouble {
    /// Creates a failure without an answer.
    pub fn new(kind: TroubleKind, sentence: Shown) -> Self {
        Self { kind, sentence, status: None }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence.as_str())
    }
}

/// Event of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum RunEvent {
    /// A request goes out.
    Sending {
        /// Address of the request, without keys: `http://127.0.0.1:11434/api/generate`.
        endpoint: Shown,
        /// Enforcement that is asked for.
        enforcement: Enforcement,
        /// Size of its body, in bytes.
        bytes: usize,
        /// SHA-256 of its body, in hex.
        sha256: String,
    },
    /// The server asks for patience; the same request goes out again.
    Waiting {
        /// Reason of the wait.
        why: Shown,
        /// Time until the request goes out again.
        delay: Duration,
    },
    /// The server refuses the schema: a weaker enforcement is asked for.
    Downgraded {
        /// Enforcement that was asked for.
        from: Enforcement,
        /// Enforcement that is asked for now.
        to: Enforcement,
        /// The server's words.
        why: Shown,
    },
    /// The server has answered; the model is at work.
    Answered,
    /// Text of the reply, in addition to what came before.
    Text {
        /// Part of the reply that the text belongs to.
        part: ReplyPart,
        /// The text.
        text: Untrusted<'static>,
    },
    /// The reply is complete.
    Done(Finish),
    /// The call failed.
    Failed(Trouble),
}

/// State of a call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// No call was made.
    #[default]
    Idle,
    /// Asked; nothing of the reply is there.
    Connecting,
    /// The reply is coming.
    Streaming,
    /// The reply is complete.
    Done(Finish),
    /// The call failed; the text received so far is kept.
    Failed(Trouble),
    /// The call was broken off; the text received so far is kept.
    Cancelled,
}

impl RunEvent {
    /// Returns the piece of the reply itself that came; `None`: something else was heard.
    pub fn content(&self) -> Option<&Untrusted<'static>> {
        match self {
            Self::Text { part: ReplyPart::Content, text } => Some(text),
            _ => None,
        }
    }
}

/// One call and what was heard of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Received {
    /// Identifier of the call; events of other calls are ignored.
    pub id: RunId,
    /// State of the call.
    pub phase: Phase,
    /// The reply so far.
    pub content: Vec<u8>,
    /// The reasoning so far, where the server tells it apart.
    pub reasoning: Vec<u8>,
    /// Enforcement that was asked for last.
    pub enforcement: Option<Enforcement>,
    /// Address that it was sent to.
    pub endpoint: Shown,
    /// SHA-256 of the body that was sent last.
    pub sha256: String,
    /// Waits and steps down, in sentences.
    pub log: Vec<Shown>,
}

impl Received {
    /// Listens to a new call; the one before is forgotten.
    pub fn begin(id: RunId) -> Self {
        Self { id, phase: Phase::Connecting, ..Self::default() }
    }

    /// Tells whether the reply may still come.
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Connecting | Phase::Streaming)
    }

    /// Takes what was heard. `false`: of another call, or after the end; nothing changed.
    pub fn take(&mut self, id: RunId, event: RunEvent) -> bool {
        if id != self.id || !self.is_running() {
            return false;
        }
        match event {
            RunEvent::Sending { endpoint, enforcement, sha256, .. } => {
                (self.endpoint, self.enforcement, self.sha256) = (endpoint, Some(enforcement), sha256);
            }
            RunEvent::Waiting { why, delay } => {
                self.log.push(shown!("{why}; retrying in {:.1} s", delay.as_secs_f64()));
            }
            RunEvent::Downgraded { from, to, why } => {
                self.log.push(shown!("the server rejects the {}: {why}; now {}", from.word(), to.phrase()));
            }
            RunEvent::Answered => {}
            RunEvent::Text { part, text } => {
                self.phase = Phase::Streaming;
                join(if part == ReplyPart::Content { &mut self.content } else { &mut self.reasoning }, text.bytes());
            }
            RunEvent::Done(finish) => {
                self.log.extend(finish.notes.iter().cloned());
                self.phase = Phase::Done(finish);
            }
            RunEvent::Failed(trouble) => self.phase = Phase::Failed(trouble),
        }
        true
    }

    /// Breaks it off.
    pub fn cancel(&mut self) {
        if self.is_running() {
            self.phase = Phase::Cancelled;
        }
    }
}

/// Appends text. A character beyond 16 bits may come as two escapes in two pieces: its halves become one again.
fn join(text: &mut Vec<u8>, more: &[u8]) {
    let halves = match (text.last_chunk::<3>(), more.first_chunk::<3>()) {
        (Some(&[0xed, high @ 0xa0..=0xaf, a]), Some(&[0xed, low @ 0xb0..=0xbf, b])) => {
            let half = |second: u8, third: u8| u32::from(second & 0x0f) << 6 | u32::from(third & 0x3f);
            char::from_u32(0x1_0000 + (half(high, a) << 10) + half(low, b))
        }
        _ => None,
    };
    let Some(whole) = halves else { return text.extend_from_slice(more) };
    text.truncate(text.len() - 3);
    text.extend_from_slice(whole.encode_utf8(&mut [0; 4]).as_bytes());
    text.extend_from_slice(&more[3..]);
}

/// Verdict on a reply: whether it is what was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplyVerdict {
    /// Valid under the schema.
    Obeyed,
    /// There is nothing in it.
    Empty,
    /// Text that is not JSON, or JSON that is no object; Python's words.
    Invalid(Untrusted<'static>),
    /// JSON that breaks the schema; the words of Python's `jsonschema`.
    Breaks(Untrusted<'static>),
}

impl ReplyVerdict {
    /// Returns one word for lists.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Obeyed => "obeyed",
            Self::Empty => "empty",
            Self::Invalid(_) => "invalid",
            Self::Breaks(_) => "breaks the schema",
        }
    }

    /// Explains what is wrong, as half a sentence; `None`: nothing.
    pub fn why(&self) -> Option<Shown> {
        match self {
            Self::Obeyed => None,
            Self::Empty => Some(Shown::own("the reply is empty")),
            Self::Invalid(said) => Some(shown!("the reply is not JSON: {}", said.line())),
            Self::Breaks(said) => Some(said.line()),
        }
    }
}

/// A reply, judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JudgedReply {
    /// Parts of the reply.
    pub parts: Parts,
    /// Verdict on the reply.
    pub verdict: ReplyVerdict,
    /// The expected keys that are in it, with their values as JSON texts; empty unless it is an object.
    pub outputs: Vec<(Untrusted<'static>, Vec<u8>)>,
    /// The expected keys that are not in it: upstream's runner ends there, even where the schema lets them be.
    pub missing: Vec<Untrusted<'static>>,
    /// The first value in which a LaTeX command lost its backslash, and the command.
    pub lost: Option<(Untrusted<'static>, String)>,
}

impl JudgedReply {
    /// Says what a person should know of how the reply was read.
    pub fn notes(&self) -> impl Iterator<Item = Shown> {
        let cut = self.parts.is_cut.then(|| Shown::own("the reply breaks off inside JSON"));
        let lost = self.lost.as_ref().map(|(name, command)| {
            shown!(
                "{} holds a control character where {command} was written: the model did not escape the backslash",
                name.line()
            )
        });
        [self.parts.choice(), cut, lost].into_iter().flatten()
    }

    /// Tells whether its values can be taken over.
    pub fn is_usable(&self) -> bool {
        matches!(self.verdict, ReplyVerdict::Obeyed | ReplyVerdict::Breaks(_)) && !self.outputs.is_empty()
    }
}

/// Judges the replies to one request.
#[derive(Debug)]
pub struct Judge {
    schema: Option<Schema>,
    expected: Vec<Untrusted<'static>>,
}

impl Judge {
    /// Creates a judge for a schema and the keys that are to be taken. A schema that cannot be used judges nothing.
    pub fn new(schema: Option<&Untrusted<'_>>, expected: &[Untrusted<'static>]) -> Self {
        let schema = schema.and_then(|schema| Schema::compile(schema.bytes()).ok());
        Self { schema, expected: expected.to_vec() }
    }

    /// Judges a reply.
    pub fn judge(&self, content: &[u8]) -> JudgedReply {
        let parts = parts(content, &self.expected);
        let json = parts.text(content).to_vec();
        let mut judged = JudgedReply {
            parts,
            verdict: ReplyVerdict::Empty,
            outputs: Vec::new(),
            missing: self.expected.clone(),
            lost: None,
        };
        if json.is_empty() {
            return judged;
        }
        let mut tape = Tape::default();
        let value = match loads(&mut tape, &json) {
            Ok(value) => value,
            Err(said) => {
                judged.verdict = ReplyVerdict::Invalid(said.into());
                return judged;
            }
        };
        let problem = self.schema.as_ref().and_then(|schema| validate(value, value, schema, View::Whole));
        judged.verdict = problem.map_or(ReplyVerdict::Obeyed, |problem| ReplyVerdict::Breaks(problem.message));
        if value.kind() != Kind::Object {
            return judged;
        }
        let entries = value.entries();
        let found = |name: &&Untrusted<'static>| entries.iter().find(|member| member.name() == **name);
        judged.missing.retain(|name| found(&name).is_none());
        for name in &self.expected {
            if let Some(member) = found(&name)
                && judged.outputs.iter().all(|(other, _)| other != name)
            {
                let text = member.value.string().filter(|_| judged.lost.is_none());
                let command = text.and_then(|text| lost_command(text.bytes()));
                judged.lost = judged.lost.take().or_else(|| command.map(|command| (name.clone(), command)));
                judged.outputs.push((name.clone(), member.value.raw().to_vec()));
            }
        }
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_judged_by_the_schema() {
        let schema =
            r#"{"type": "object", "properties": {"a": {"type": "number", "maximum": 3}, "b": {}}, "required": ["a"]}"#;
        let expected = ["a", "b"].map(Untrusted::from);
        let judge = Judge::new(Some(&Untrusted::from(schema)), &expected);
        let verdict = |reply: &str| judge.judge(reply.as_bytes()).verdict;
        assert_eq!(verdict("{\"a\": 1}"), ReplyVerdict::Obeyed);
        assert_eq!(verdict(" \n"), ReplyVerdict::Empty);
        assert_eq!(
            verdict("{\"a\": 1").why().unwrap().as_str(),
            "the reply is not JSON: Expecting ',' delimiter: line 1 column 8 (char 7)"
        );
        let broken = verdict("{\"a\": 7}").why().unwrap();
        assert_eq!(broken.as_str(), "schema validation error: 7 is greater than the maximum of 3");
        assert!(matches!(verdict("[1]"), ReplyVerdict::Breaks(_)));
        let judged = judge.judge(b"```json\n{\"b\": \"x\", \"a\": 2.50, \"z\": 1}\n```");
        assert_eq!(
            judged.outputs,
            [(Untrusted::from("a"), b"2.50".to_vec()), (Untrusted::from("b"), b"\"x\"".to_vec())]
        );
        assert!(judged.missing.is_empty() && judged.is_usable());
        assert_eq!(judge.judge(b"{\"a\": 1}").missing, [Untrusted::from("b")]);
    }

    fn text(text: &[u8]) -> RunEvent {
        RunEvent::Text { part: ReplyPart::Content, text: Untrusted::new(text).into_owned() }
    }

    #[test]
    fn only_the_running_call_is_heard() {
        let mut rerun = Received::begin(RunId(2));
        assert!(!rerun.take(RunId(1), text(b"stale")));
        assert!(rerun.take(RunId(2), RunEvent::Answered));
        assert_eq!(rerun.phase, Phase::Connecting);
        assert!(rerun.take(RunId(2), text(b"new")));
        rerun.cancel();
        assert!(!rerun.take(RunId(2), text(b"er")));
        assert_eq!((rerun.content.as_slice(), &rerun.phase), (&b"new"[..], &Phase::Cancelled));
        let mut idle = Received::default();
        assert!(!idle.take(RunId(0), text(b"x")));
    }

    #[test]
    fn halves_of_a_character_become_one() {
        let mut rerun = Received::begin(RunId(1));
        for piece in [&b"a\xed\xa0\xbc"[..], b"\xed\xbd\x8eb", b"\xed\xa0\xbc", b"x"] {
            rerun.take(RunId(1), text(piece));
        }
        assert_eq!(
            rerun.content,
            "a🍎b\u{0}x"
                .as_bytes()
                .iter()
                .flat_map(|byte| match byte {
                    0 => b"\xed\xa0\xbc".to_vec(),
                    byte => vec![*byte],
                })
                .collect::<Vec<_>>()
        );
    }
}
