//! The calls for one question: how they are made, what was heard of them, and what their replies say together.
//!
//! Plain data: it is heard on one thread and judged on another.

use std::time::Duration;

use crate::call::{Call, Enforcement, Judge, JudgedReply, Phase, Received, ReplyVerdict, RunEvent, RunId, Usage};
use crate::fork::Executed;
use crate::question::Question;
use crate::runner::{Ask, BROKEN_OFF, Ended, SERVER_ERROR, object};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, head};
use stepscope_record::reply::Wrapping;

pub mod distribution;

use distribution::Distribution;

/// Upstream's temperature for the steps of a run.
pub const TEMPERATURE: f64 = 1.0;
/// Upstream's seed.
pub(crate) const SEED: i64 = 1234;
/// Maximum length of a shown piece of a reply that could not be used, in bytes.
const SHOWN: usize = 160;

/// Settings of the calls.
#[derive(Clone, PartialEq, Debug)]
pub struct Sampling {
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

/// Reads a seed as people write it; `none` leaves it to the server.
pub fn seed(word: &str) -> Result<Option<i64>, &'static str> {
    if word == "none" {
        return Ok(None);
    }
    word.parse().map(Some).map_err(|_| "use a whole number, or none")
}

/// Reads a temperature as people write it; `none` leaves it to the server.
pub fn temperature(word: &str) -> Result<Option<f64>, &'static str> {
    if word == "none" {
        return Ok(None);
    }
    let number = word.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.map(Some).ok_or("use a number from 0 up, or none")
}

impl Default for Sampling {
    fn default() -> Self {
        let (temperature, seed) = (Some(TEMPERATURE), Some(SEED));
        Self { temperature, seed, max_tokens: None, enforcement: Enforcement::Schema, may_downgrade: true }
    }
}

impl Sampling {
    /// Creates the first call for a question.
    pub fn question(&self, model: &str, question: &Question, n: usize) -> Call {
        self.of(question).call(model, question.prompt().clone(), Some(question.ask.request.schema.clone()), n)
    }

    /// Settles how the calls for a question are made, which may have a seed of its own.
    fn of(&self, question: &Question) -> Self {
        Self { seed: question.seed.or(self.seed), ..self.clone() }
    }

    /// Creates a call; the n-th of several has a seed of its own, as the same seed may give the same reply.
    pub fn call(&self, model: &str, prompt: Untrusted<'static>, schema: Option<Untrusted<'static>>, n: usize) -> Call {
        Call {
            prompt,
            schema,
            model: model.to_owned(),
            temperature: self.temperature,
            seed: self.seed.map(|seed| seed.wrapping_add(n as i64)),
            max_tokens: self.max_tokens,
            enforcement: self.enforcement,
            may_downgrade: self.may_downgrade,
        }
    }
}

/// Server and model that answer, as records name them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ServerInfo {
    /// The model.
    pub model: String,
    /// The kind of server; `cassette` in front of it: a recorded reply is never taken for a new one.
    pub backend: String,
    /// The path that is called.
    pub endpoint: String,
    /// True if a seed is sent to it.
    pub takes_seed: bool,
    /// True if a recording answers, and nothing is sent.
    pub replays: bool,
}

/// Event of one of several calls.
#[derive(Clone, PartialEq, Debug)]
pub struct CallEvent {
    /// Number of the call, from 0.
    pub call: usize,
    /// Event of the call.
    pub event: RunEvent,
    /// Time at which the call began, in UTC; told once.
    pub began_utc: Option<String>,
    /// Time since the call began.
    pub elapsed: Duration,
}

/// One call of a round.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// Entry of the call for the trace of the record.
    pub executed: Executed,
    /// State of the call and the text received so far.
    pub received: Received,
    /// Judgment of the reply, once it is made.
    pub judged: Option<JudgedReply>,
    /// Time from the beginning of the call to the first piece of the reply.
    pub first: Option<Duration>,
    /// Time from the beginning of the call to its last event.
    pub elapsed: Duration,
    /// Time from the beginning of the round to that of the call; `None`: nothing was heard of it.
    began: Option<Duration>,
}

/// Choice of a step's reply, where several came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The most frequent value of every field.
    Consensus,
    /// One of them, by its number from 0.
    Reply(usize),
}

/// The calls for one step.
#[derive(Clone, PartialEq, Debug)]
pub struct SamplingRound {
    /// Identifier of the calls; events of other calls are ignored.
    pub id: RunId,
    /// Step that is asked, with its prompt and schema.
    pub ask: Ask,
    /// Calls of the round, in order.
    pub replies: Vec<Reply>,
    /// Number of replies that were asked for; fewer calls may have begun.
    samples: usize,
    blank: Executed,
    server: ServerInfo,
}

impl SamplingRound {
    /// Makes the calls for a question.
    pub fn new(id: RunId, question: Question, sampling: &Sampling, server: ServerInfo) -> (Self, Vec<Call>) {
        let sampling = &sampling.of(&question);
        let Question { ask, step_id, prompt, samples, .. } = question;
        let mut blank = Executed::of(&ask, step_id.as_deref());
        if let Some(prompt) = prompt {
            blank.prompt = prompt;
        }
        let call = |n| sampling.call(&server.model, blank.prompt.clone(), Some(blank.schema.clone()), n);
        let calls: Vec<Call> = (0..samples.max(1)).map(call).collect();
        let replies = calls.iter().map(|call| {
            // What was not sent is not recorded.
            let seed = call.seed.filter(|_| server.takes_seed);
            let (temperature, max_tokens) = (call.temperature, call.max_tokens);
            let executed = Executed { seed, temperature, max_tokens, ..blank.clone() };
            let (received, elapsed) = (Received::begin(id), Duration::ZERO);
            Reply { executed, received, judged: None, first: None, elapsed, began: None }
        });
        let replies = replies.collect();
        (Self { id, ask, replies, samples: calls.len(), blank, server }, calls)
    }

    /// Tells whether several replies were asked for.
    pub fn is_several(&self) -> bool {
        self.samples > 1
    }

    /// Takes what was heard so long after its beginning. `false`: of other calls, or after the end; nothing changed.
    pub fn hear(&mut self, id: RunId, told: CallEvent, at: Duration) -> bool {
        let Some(reply) = self.replies.get_mut(told.call).filter(|_| id == self.id) else { return false };
        if !reply.received.is_running() {
            return false;
        }
        reply.began.get_or_insert(at);
        if let Some(began) = told.began_utc {
            reply.executed.started_utc = began;
        }
        reply.elapsed = told.elapsed;
        if matches!(told.event, RunEvent::Text { .. }) {
            reply.first.get_or_insert(told.elapsed);
        }
        reply.received.take(id, told.event)
    }

    /// Returns the model that is asked.
    pub fn model(&self) -> &str {
        &self.server.model
    }

    /// Tells whether nothing more will come.
    pub fn is_over(&self) -> bool {
        !self.replies.iter().any(|reply| reply.received.is_running())
    }

    /// Breaks it off so long after its beginning; what came is kept. What had not begun yet is no call.
    pub fn cancel(&mut self, at: Duration) {
        // The first call begins with the round, even where nothing was heard of it.
        let mut is_first = true;
        self.replies.retain(|reply| std::mem::take(&mut is_first) || reply.began.is_some());
        for reply in self.replies.iter_mut().filter(|reply| reply.received.is_running()) {
            // A call of which nothing is heard takes its time all the same.
            reply.elapsed = reply.elapsed.max(at.saturating_sub(reply.began.unwrap_or_default()));
            reply.received.cancel();
        }
    }

    /// Tells whether a person broke it off.
    pub fn was_cancelled(&self) -> bool {
        self.replies.iter().any(|reply| reply.received.phase == Phase::Cancelled)
    }

    /// Judges every reply by the schema that was asked for.
    pub fn judge(&mut self) {
        let judge = Judge::new(Some(&self.ask.request.schema), &self.ask.request.expected);
        let several = self.is_several();
        for reply in &mut self.replies {
            let judged = reply.judge(&judge, &self.server);
            let broken = several.then(|| judged.verdict.why()).flatten();
            reply.executed.error = reply.failed().or(broken).map(|why| why.into_string().into());
            reply.judged = Some(judged);
        }
    }

    /// Counts the replies that came, per field.
    pub fn distribution(&self) -> Distribution {
        let reply = |reply: &Reply| reply.judged.clone().filter(|_| reply.failed().is_none());
        let replies: Vec<_> = self.replies.iter().map(reply).collect();
        Distribution::of(&self.ask.request.expected, &replies)
    }

    /// Tells whether a reply has every expected key, so that there is a majority.
    pub fn has_majority(&self) -> bool {
        !self.distribution().valid.is_empty()
    }

    /// Counts the replies that are what was asked for.
    pub fn obeyed(&self) -> usize {
        let obeyed = |reply: &&Reply| {
            reply.failed().is_none() && reply.judged.as_ref().is_some_and(|judged| judged.verdict.why().is_none())
        };
        self.replies.iter().filter(obeyed).count()
    }

    /// Describes how the schema was asked for; `None`: nothing was sent.
    pub fn enforcement(&self) -> Option<&'static str> {
        let asked = self.replies.iter().rev().find_map(|reply| reply.received.enforcement)?;
        Some(if self.server.replays { "replayed" } else { asked.phrase() })
    }

    /// Counts the valid replies of those that came for people, the calls without one, and what was around the JSON:
    /// "schema sent, 2 of 3 replies match, 1 failed, 2 in a code fence".
    pub fn tally(&self) -> Shown {
        let count = |kind| self.replies.iter().filter_map(Reply::unusable).filter(|(other, _)| *other == kind).count();
        let (failed, cancelled) = (count(Unusable::Failed), count(Unusable::Cancelled));
        let came = self.replies.len().saturating_sub(failed + cancelled);
        let part = |count: usize, said: Shown| (count > 0).then_some(said);
        let parts = [
            Some(Shown::own(self.enforcement().unwrap_or(Enforcement::Nothing.phrase()))),
            part(came, shown!("{} of {came} replies match", self.obeyed())),
            part(failed, shown!("{failed} failed")),
            part(cancelled, shown!("{cancelled} cancelled")),
        ];
        let parts = parts.into_iter().flatten().chain(self.wrapped());
        Shown::listed(parts, usize::MAX)
    }

    /// Says what was around the JSON: of one reply in words, of several how many had what.
    fn wrapped(&self) -> Vec<Shown> {
        let came = self.replies.iter().filter(|reply| reply.failed().is_none());
        let around: Vec<Wrapping> = came.map(|reply| reply.executed.around).collect();
        if !self.is_several() {
            let words = around.first().map_or("", |around| around.words());
            let notes = self.replies.first().and_then(|reply| reply.judged.as_ref()).into_iter();
            let words = Some(Shown::own(words)).filter(|_| !words.is_empty());
            return words.into_iter().chain(notes.flat_map(JudgedReply::notes)).collect();
        }
        let count = |has: fn(&Wrapping) -> bool| around.iter().filter(|around| has(around)).count();
        let judged = self.replies.iter().filter_map(|reply| reply.judged.as_ref());
        let noted = judged.filter(|judged| judged.notes().next().is_some()).count();
        let kinds = [
            (count(|around| around.reasoning), "after reasoning"),
            (count(|around| around.fence), "in a code fence"),
            (count(|around| around.prose), "within other text"),
            (noted, "with notes"),
        ];
        kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| shown!("{count} {what}")).collect()
    }

    /// Says how many of several calls failed, and why the first of them did; `None`: none did.
    pub fn failures(&self) -> Option<Shown> {
        let mut failed = self.replies.iter().filter_map(Reply::unusable).filter(|(kind, _)| *kind == Unusable::Failed);
        let why = failed.next()?.1?;
        let (count, all) = (failed.count() + 1, self.replies.len());
        let first = if count == 1 { "" } else { "the first: " };
        Some(shown!("{count} of {all} calls failed: {first}{why}"))
    }

    /// Returns the most frequent value of every field as one reply; `None`: no reply counts.
    pub(crate) fn consensus(&self, now_utc: &str) -> Option<(Vec<u8>, Executed)> {
        let distribution = self.distribution();
        if distribution.valid.is_empty() {
            return None;
        }
        let json = object(distribution.consensus().iter().map(|(name, text)| (name, text.as_slice())));
        let ServerInfo { model, backend, endpoint, .. } = self.server.clone();
        let (raw, verdict, usage) = (json.clone(), Some("consensus"), self.usage());
        let duration_ms = self.took().as_secs_f64() * 1000.0;
        let began = self.replies.iter().map(|reply| &reply.executed.started_utc).filter(|began| !began.is_empty());
        let started_utc = began.min().map_or(now_utc, String::as_str).to_owned();
        let made =
            Executed { raw, verdict, model, backend, endpoint, usage, started_utc, duration_ms, ..self.blank.clone() };
        Some((json, made))
    }

    /// Measures the time from the beginning of the first call to the end of the last: some run side by side.
    fn took(&self) -> Duration {
        let began = self.replies.iter().filter_map(|reply| reply.began).min().unwrap_or_default();
        let ended =
            self.replies.iter().map(|reply| reply.began.unwrap_or_default().saturating_add(reply.elapsed)).max();
        ended.unwrap_or_default().saturating_sub(began)
    }

    /// Adds up the tokens of all calls.
    fn usage(&self) -> Usage {
        let sum = |part: fn(&Usage) -> Option<u64>| {
            let parts = self.replies.iter().filter_map(|reply| part(&reply.executed.usage));
            parts.reduce(u64::saturating_add)
        };
        Usage { prompt: sum(|usage| usage.prompt), completion: sum(|usage| usage.completion) }
    }

    /// Returns the end of a run to which no reply of the round can be given.
    pub(crate) fn ended(&self) -> Ended {
        let class = if self.was_cancelled() { BROKEN_OFF } else { SERVER_ERROR };
        let alone = self.replies.first().filter(|_| !self.is_several()).and_then(Reply::failed);
        let why = alone.unwrap_or_else(|| self.unusable());
        let message = Untrusted::new(why.as_str().as_bytes()).into_owned();
        Ended { class, message, meaning: None, step: Some(self.ask.step) }
    }

    /// Counts what came in place of a usable reply, kind by kind: "no reply is usable: 2 break the schema, 1 failed".
    fn unusable(&self) -> Shown {
        let mut kinds: Vec<(Unusable, usize, Option<Shown>)> = Vec::new();
        for (kind, why) in self.replies.iter().filter_map(Reply::unusable) {
            match kinds.iter_mut().find(|(other, ..)| *other == kind) {
                Some((_, count, _)) => *count += 1,
                None => kinds.push((kind, 1, why)),
            }
        }
        let said = kinds.into_iter().map(|(kind, count, why)| {
            let what = if count == 1 { kind.word() } else { kind.phrase() };
            let first = if count == 1 { "" } else { "first: " };
            match why {
                Some(why) => shown!("{count} {what} ({first}{})", why.shortened(SHOWN)),
                None => shown!("{count} {what}"),
            }
        });
        shown!("no reply is usable: {}", Shown::listed(said, Unusable::ALL.len()))
    }
}

stepscope_base::words! {
    /// Kinds of calls that gave nothing that counts: the words for one, and for several.
    enum Unusable {
        Breaks = "breaks the schema" => "break the schema",
        Incomplete = "lacks a key" => "lack a key",
        Invalid = "is not JSON" => "are not JSON",
        Empty = "is empty" => "are empty",
        Failed = "failed" => "failed",
        Cancelled = "was cancelled" => "were cancelled",
    }
}

impl Reply {
    /// Notes what was heard of the call, and what it is worth.
    fn judge(&mut self, judge: &Judge, server: &ServerInfo) -> JudgedReply {
        let (executed, received) = (&mut self.executed, &self.received);
        let judged = judge.judge(&received.content);
        let inner = judged.parts.reasoning.clone().map_or(&b""[..], |range| &received.content[range]);
        executed.raw.clone_from(&received.content);
        executed.reasoning = if received.reasoning.is_empty() { inner.to_vec() } else { received.reasoning.clone() };
        executed.around = judged.parts.around;
        executed.model.clone_from(&server.model);
        executed.backend.clone_from(&server.backend);
        executed.endpoint.clone_from(&server.endpoint);
        executed.enforcement = received.enforcement;
        executed.request.clone_from(&received.sha256);
        executed.duration_ms = self.elapsed.as_secs_f64() * 1000.0;
        if let Phase::Done(finish) = &received.phase {
            executed.usage = finish.usage;
            executed.finish_reason = finish.stop.word();
            executed.served_model = finish.other_model(&server.model).cloned();
            executed.verdict = Some(judged.verdict.word());
        }
        judged
    }

    /// Explains why the call gave no reply; `None`: it did.
    pub fn failed(&self) -> Option<Shown> {
        match &self.received.phase {
            Phase::Done(_) => None,
            Phase::Failed(trouble) => Some(trouble.sentence.clone()),
            _ if self.received.content.is_empty() => Some(Shown::own("the call was cancelled")),
            _ => Some(shown!(
                "the call was cancelled; the partial reply ({} bytes) is not an answer",
                self.received.content.len()
            )),
        }
    }

    /// Tells whether its values can be taken over, even if they break the schema.
    pub fn is_usable(&self) -> bool {
        self.failed().is_none() && self.judged.as_ref().is_some_and(JudgedReply::is_usable)
    }

    /// Returns the kind of what came in place of a reply that counts, and the reason where it says more than the kind.
    fn unusable(&self) -> Option<(Unusable, Option<Shown>)> {
        match (&self.received.phase, &self.judged) {
            (Phase::Done(_), Some(judged)) => match &judged.verdict {
                ReplyVerdict::Obeyed if judged.missing.is_empty() => None,
                ReplyVerdict::Obeyed => Some((Unusable::Incomplete, None)),
                ReplyVerdict::Breaks(_) => Some((Unusable::Breaks, judged.verdict.why())),
                ReplyVerdict::Invalid(_) => Some((Unusable::Invalid, None)),
                ReplyVerdict::Empty => Some((Unusable::Empty, None)),
            },
            (Phase::Failed(trouble), _) => Some((Unusable::Failed, Some(trouble.sentence.clone()))),
            _ => Some((Unusable::Cancelled, None)),
        }
    }

    /// Returns the JSON of the reply, or what came in its place; empty until it is judged.
    pub fn json(&self) -> &[u8] {
        self.judged.as_ref().map_or(b"", |judged| judged.parts.text(&self.received.content))
    }

    /// Describes a reply that could not be used, in a sentence.
    pub fn what_came(&self) -> Shown {
        let content = self.received.content.as_slice();
        if content.is_empty() {
            return Shown::own("the reply is empty");
        }
        let began = Shown::line(head(content, SHOWN));
        let more = if content.len() > SHOWN { "…" } else { "" };
        shown!("the reply begins: {began}{more}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Finish, ReplyPart, Trouble, TroubleKind};
    use crate::fork::Fork;
    use crate::machine::Machine as _;
    use crate::replay::RerunStart;
    use crate::rerun::RerunMachine;
    use stepscope_judge::case::Case;
    use stepscope_record::fork_origin::How;

    const RUN: &str = r#"{"id": "a", "question": "How many?", "status": "ok", "mode": "procedural", "procedure":
        {"NameDescription": "n", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "t"}],
        "stepDescription": "Read x", "output": [{"name": "x", "description": "d"}]}, {"id": 2, "inputs":
        [{"name": "x", "description": "d"}], "stepDescription": "Define final_answer as x", "output":
        [{"name": "final_answer", "description": "f"}]}]}, "state": {"problem_text": "How many?", "x": 1,
        "final_answer": "1"}}"#;

    fn round(count: usize) -> (RerunMachine, SamplingRound) {
        let start = RerunStart { samples: count, ..RerunStart::default() };
        let mut machine = RerunMachine::new(Case::read(RUN.as_bytes()), start).unwrap();
        let question = machine.question().unwrap();
        let (round, calls) = SamplingRound::new(RunId(1), question, &Sampling::default(), ServerInfo::default());
        assert_eq!(calls.len(), count);
        assert_eq!(calls.last().unwrap().seed, Some(SEED + count as i64 - 1));
        (machine, round)
    }

    fn told(call: usize, event: RunEvent) -> CallEvent {
        CallEvent { call, event, began_utc: None, elapsed: Duration::from_millis(5) }
    }

    /// Hears of a call at the beginning of the round.
    fn hear(round: &mut SamplingRound, call: usize, event: RunEvent) -> bool {
        round.hear(RunId(1), told(call, event), Duration::ZERO)
    }

    fn text(text: &str) -> RunEvent {
        RunEvent::Text { part: ReplyPart::Content, text: Untrusted::from(text).into_owned() }
    }

    fn fork(machine: &RerunMachine) -> Fork {
        machine.fork("").unwrap().0
    }

    /// Returns the value that the fork holds at its end.
    fn x(machine: &RerunMachine) -> Option<String> {
        fork(machine).values.get(&Untrusted::from("x")).map(|text| String::from_utf8(text.to_vec()).unwrap())
    }

    /// Gives a machine a round; the class of the end, if that is one.
    fn taken(machine: &mut RerunMachine, choice: Choice, round: &SamplingRound) -> Option<&'static str> {
        machine.choose(choice);
        machine.take(round, "now");
        machine.ended().map(|ended| ended.class)
    }

    #[test]
    fn one_reply_is_taken_when_it_is_whole() {
        let (mut machine, mut round) = round(1);
        assert!(hear(&mut round, 0, text("```json\n{\"x\": 7}\n")));
        assert!(!round.hear(RunId(2), told(0, text("stale")), Duration::ZERO) && !round.is_over());
        assert!(hear(&mut round, 0, text("```")));
        assert!(hear(&mut round, 0, RunEvent::Done(Finish::default())) && round.is_over());
        round.judge();
        assert!(round.replies[0].executed.around.fence);
        assert_eq!(taken(&mut machine, Choice::Consensus, &round), None);
        assert_eq!((x(&machine).as_deref(), fork(&machine).how), (Some("7"), How::Rerun));
    }

    #[test]
    fn what_is_partial_is_kept_and_never_taken() {
        let (mut machine, mut round) = round(1);
        hear(&mut round, 0, text("{\"x\": 7}"));
        round.cancel(Duration::from_secs(11));
        assert!(!hear(&mut round, 0, RunEvent::Done(Finish::default())));
        assert_eq!(round.replies[0].elapsed, Duration::from_secs(11));
        round.judge();
        assert_eq!(taken(&mut machine, Choice::Reply(0), &round), Some(BROKEN_OFF));
        let ended = machine.ended().unwrap().to_string();
        assert!(ended.contains("the partial reply (8 bytes)"), "{ended}");
        assert_eq!((x(&machine), machine.question()), (None, None));
        let call = fork(&machine).calls.remove(0);
        assert_eq!((call.raw.as_slice(), call.verdict, &call.outputs), (&b"{\"x\": 7}"[..], None, &None));
    }

    #[test]
    fn what_had_not_begun_is_no_call_and_time_counts_from_the_calls_own_beginning() {
        let (mut machine, mut round) = round(5);
        let at = Duration::from_secs;
        for n in 0..2 {
            hear(&mut round, n, RunEvent::Answered);
        }
        hear(&mut round, 0, text("{\"x\": 7}"));
        hear(&mut round, 0, RunEvent::Done(Finish::default()));
        round.hear(RunId(1), told(2, RunEvent::Answered), at(3));
        round.cancel(at(5));
        assert!(round.is_over() && round.is_several());
        round.judge();
        let took: Vec<_> = round.replies.iter().map(|reply| reply.executed.duration_ms).collect();
        assert_eq!(took, [5.0, 5_000.0, 2_000.0]);
        assert_eq!((round.distribution().valid, round.distribution().failed), (vec![0], vec![1, 2]));
        assert_eq!((round.tally().as_str(), round.failures()), ("no schema, 1 of 1 replies match, 2 cancelled", None));
        assert_eq!(taken(&mut machine, Choice::Consensus, &round), None);
        let calls = fork(&machine).calls;
        assert_eq!((x(&machine).as_deref(), calls.len()), (Some("7"), 4));
        assert_eq!((calls[3].verdict, calls[3].duration_ms), (Some("consensus"), 5_000.0));
    }

    #[test]
    fn what_is_around_the_json_is_told_of_one_reply_and_of_several() {
        let replies =
            ["```json\n{\"x\": 7}\n```", "Sure: {\"x\": 7}", "<think>t</think>```{\"x\": 7}```", "{\"x\": 7}"];
        let tally = |replies: &[&str]| {
            let (_, mut round) = round(replies.len());
            for (n, reply) in replies.iter().enumerate() {
                hear(&mut round, n, text(reply));
                hear(&mut round, n, RunEvent::Done(Finish::default()));
            }
            round.judge();
            round.tally().into_string()
        };
        let one = ["a code fence around it", "other text around it", "reasoning before it and a code fence around it"];
        for (reply, words) in replies.iter().zip(one) {
            assert_eq!(tally(&[reply]), format!("no schema, 1 of 1 replies match, {words}"));
        }
        let all = "no schema, 4 of 4 replies match, 1 after reasoning, 2 in a code fence, 1 within other text";
        assert_eq!(tally(&replies), all);
        assert_eq!(
            (tally(&replies[3..]), tally(&[replies[3]; 2])),
            ("no schema, 1 of 1 replies match".to_owned(), "no schema, 2 of 2 replies match".to_owned())
        );
    }

    #[test]
    fn one_call_of_several_that_began_is_one_of_several_all_the_same() {
        let (mut machine, mut round) = round(3);
        hear(&mut round, 0, text("{\"x\": 7}"));
        hear(&mut round, 0, RunEvent::Done(Finish::default()));
        round.cancel(Duration::from_secs(1));
        round.judge();
        assert_eq!((round.replies.len(), taken(&mut machine, Choice::Consensus, &round)), (1, None));
        assert_eq!((fork(&machine).how, fork(&machine).calls.len()), (How::Consensus, 2));
        // Nothing was heard: the first call was on its way.
        let (mut machine, mut round) = self::round(3);
        round.cancel(Duration::from_secs(1));
        round.judge();
        assert_eq!((round.replies.len(), taken(&mut machine, Choice::Consensus, &round)), (1, Some(BROKEN_OFF)));
    }

    #[test]
    fn the_reason_that_no_reply_is_usable_counts_the_kinds() {
        let (mut machine, mut round) = round(6);
        let trouble = || RunEvent::Failed(Trouble::new(TroubleKind::Cut, Shown::own("cut")));
        for (n, reply) in ["{\"y\": 2}", "{}", "no idea", ""].into_iter().enumerate() {
            hear(&mut round, n, text(reply));
            hear(&mut round, n, RunEvent::Done(Finish::default()));
        }
        hear(&mut round, 4, trouble());
        hear(&mut round, 5, trouble());
        round.judge();
        assert_eq!(round.tally().as_str(), "no schema, 0 of 4 replies match, 2 failed");
        assert_eq!(round.failures().unwrap().as_str(), "2 of 6 calls failed: the first: cut");
        assert_eq!(taken(&mut machine, Choice::Consensus, &round), Some(SERVER_ERROR));
        let ended = machine.ended().unwrap().to_string();
        assert!(ended.starts_with("no reply is usable: 2 break the schema (first: "), "{ended}");
        assert!(ended.ends_with("), 1 is not JSON, 1 is empty, 2 failed (first: cut)"), "{ended}");
    }

    #[test]
    fn of_several_replies_the_consensus_or_one_is_taken() {
        let filled = || {
            let (machine, mut round) = round(4);
            for (n, reply) in ["{\"x\": 2}", "{\"x\": 3}", "{\"x\": 2.0}"].into_iter().enumerate() {
                hear(&mut round, n, text(reply));
                hear(&mut round, n, RunEvent::Done(Finish::default()));
            }
            let trouble = Trouble::new(TroubleKind::Cut, Shown::own("cut"));
            hear(&mut round, 3, RunEvent::Failed(trouble));
            round.judge();
            (machine, round)
        };
        let (mut machine, round) = filled();
        assert_eq!((round.obeyed(), round.distribution().failed), (3, vec![3]));
        assert_eq!(taken(&mut machine, Choice::Consensus, &round), None);
        assert_eq!((x(&machine).as_deref(), fork(&machine).calls.len()), (Some("2"), 5));
        assert_eq!(fork(&machine).how, How::Consensus);
        let (mut machine, round) = filled();
        assert_eq!(taken(&mut machine, Choice::Reply(1), &round), None);
        assert_eq!((x(&machine).as_deref(), fork(&machine).calls.len()), (Some("3"), 4));
        let (mut machine, round) = filled();
        assert_eq!(taken(&mut machine, Choice::Reply(3), &round), Some(SERVER_ERROR));
    }
}
