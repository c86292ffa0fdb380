//! One step of a course on its way through a model: the calls for it, what was heard of them, and what the course gets.
//!
//! Plain data: it is heard on one thread and judged on another.

use std::time::Duration;

use crate::procedure::runner::{Ask, Ended, object};
use crate::run::call::{Call, Enforcement, Judge, JudgedReply, Phase, Received, RunEvent, RunId, Stop, tally};
use crate::run::fork::{Executed, How};
use crate::run::rerun::RerunMachine;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, head};

pub mod distribution;

use distribution::Distribution;

/// Upstream's temperature for the steps of a run.
pub const TEMPERATURE: f64 = 1.0;
/// Upstream's seed.
pub const SEED: i64 = 1234;
/// The class of an end that the server brought about.
pub const SERVER_ERROR: &str = "ServerError";
/// The class of an end that a person brought about.
pub(crate) const BROKEN_OFF: &str = "BrokenOff";
/// So much of a reply that could not be used is shown.
const SHOWN: usize = 160;

/// How calls are made.
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
    /// Whether a weaker one may be asked for when the server refuses it.
    pub may_downgrade: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        let (temperature, seed) = (Some(TEMPERATURE), Some(SEED));
        Self { temperature, seed, max_tokens: None, enforcement: Enforcement::Schema, may_downgrade: true }
    }
}

impl Sampling {
    /// A call; the n-th of several has a seed of its own, as the same seed may give the same reply.
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

/// Who answers, for records.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ServerInfo {
    /// The model.
    pub model: String,
    /// The kind of server; `cassette` in front of it: a recorded reply is never taken for a new one.
    pub backend: String,
    /// The path that is called.
    pub endpoint: String,
}

/// What is heard of one of several calls.
#[derive(Clone, PartialEq, Debug)]
pub struct CallEvent {
    /// Which call, from 0.
    pub call: usize,
    /// What happened.
    pub event: RunEvent,
    /// When the call began, told once.
    pub began_utc: Option<String>,
    /// How long ago that was.
    pub elapsed: Duration,
}

/// One call of a round.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// What the record will say of it.
    pub executed: Executed,
    /// What was heard.
    pub received: Received,
    /// What it is worth, once it is judged.
    pub judged: Option<JudgedReply>,
    /// From its beginning to the first piece of the reply.
    pub first: Option<Duration>,
    /// From its beginning to what was heard last.
    pub elapsed: Duration,
}

/// What a step's reply is to be, where several came.
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
    /// Which calls are listened to.
    pub id: RunId,
    /// What is asked.
    pub ask: Ask,
    /// Every call, in order.
    pub replies: Vec<Reply>,
    blank: Executed,
    server: ServerInfo,
}

impl SamplingRound {
    /// Makes the calls for a step: `count` of them, with this prompt in place of its own if there is one.
    pub fn new(
        id: RunId,
        (ask, step_id): (Ask, Option<Vec<u8>>),
        prompt: Option<&Untrusted<'static>>,
        sampling: &Sampling,
        count: usize,
        server: ServerInfo,
    ) -> (Self, Vec<Call>) {
        let mut blank = Executed::of(&ask, step_id.as_deref());
        if let Some(prompt) = prompt {
            blank.prompt.clone_from(prompt);
        }
        let call = |n| sampling.call(&server.model, blank.prompt.clone(), Some(blank.schema.clone()), n);
        let calls: Vec<Call> = (0..count.max(1)).map(call).collect();
        let replies = calls.iter().map(|call| {
            let (seed, temperature, max_tokens) = (call.seed, call.temperature, call.max_tokens);
            let executed = Executed { seed, temperature, max_tokens, ..blank.clone() };
            let received = Received::begin(id);
            Reply { executed, received, judged: None, first: None, elapsed: Duration::ZERO }
        });
        let replies = replies.collect();
        (Self { id, ask, replies, blank, server }, calls)
    }

    /// Takes what was heard. `false`: of other calls, or after the end; nothing changed.
    pub fn hear(&mut self, id: RunId, told: CallEvent) -> bool {
        let Some(reply) = self.replies.get_mut(told.call).filter(|_| id == self.id) else { return false };
        if !reply.received.is_running() {
            return false;
        }
        if let Some(began) = told.began_utc {
            reply.executed.started_utc = began;
        }
        reply.elapsed = told.elapsed;
        if matches!(told.event, RunEvent::Text { .. }) {
            reply.first.get_or_insert(told.elapsed);
        }
        reply.received.take(id, told.event)
    }

    /// The model that is asked.
    pub fn model(&self) -> &str {
        &self.server.model
    }

    /// Whether nothing more will come.
    pub fn is_over(&self) -> bool {
        !self.replies.iter().any(|reply| reply.received.is_running())
    }

    /// Breaks it off so long after its beginning; what came is kept.
    pub fn cancel(&mut self, elapsed: Duration) {
        for reply in self.replies.iter_mut().filter(|reply| reply.received.is_running()) {
            // A call of which nothing is heard takes its time all the same.
            reply.elapsed = reply.elapsed.max(elapsed);
            reply.received.cancel();
        }
    }

    /// Judges every reply by the schema that was asked for.
    pub fn judge(&mut self) {
        let judge = Judge::new(Some(&self.ask.request.schema), &self.ask.request.expected);
        let several = self.replies.len() > 1;
        for reply in &mut self.replies {
            let judged = fill(&mut reply.executed, &reply.received, &judge, &self.server);
            reply.executed.duration_ms = reply.elapsed.as_secs_f64() * 1000.0;
            let broken = several.then(|| judged.verdict.why()).flatten();
            reply.executed.error = failed(&reply.received).or(broken);
            reply.judged = Some(judged);
        }
    }

    /// The replies that came, counted per field.
    pub fn distribution(&self) -> Distribution {
        let reply = |reply: &Reply| reply.judged.clone().filter(|_| failed(&reply.received).is_none());
        let replies: Vec<_> = self.replies.iter().map(reply).collect();
        Distribution::of(&self.ask.request.expected, &replies)
    }

    /// How many replies are what was asked for.
    pub fn obeyed(&self) -> usize {
        let obeyed = |reply: &&Reply| {
            failed(&reply.received).is_none()
                && reply.judged.as_ref().is_some_and(|judged| judged.verdict.why().is_none())
        };
        self.replies.iter().filter(obeyed).count()
    }

    /// "schema sent, obeyed 2/3".
    pub fn tally(&self) -> Shown {
        let enforcement =
            self.replies.iter().rev().find_map(|reply| reply.received.enforcement).unwrap_or(Enforcement::Nothing);
        tally(enforcement, self.obeyed(), self.replies.len())
    }

    /// Gives the course what came, once it is judged. `Err`: the run ends here.
    pub fn settle(self, choice: Choice, machine: &mut RerunMachine, now_utc: &str) -> Result<(), Ended> {
        let step = self.ask.step;
        let several = self.replies.len() > 1;
        let chosen = if several { choice } else { Choice::Reply(0) };
        if several {
            machine.came_by(if chosen == Choice::Consensus { How::Consensus } else { How::Rerun });
        }
        let why = self.replies.iter().rev().find_map(|reply| Some((failed(&reply.received)?, &reply.received.phase)));
        let why = why.map(|(why, phase)| call_ended(&why, phase, step));
        let consensus = (chosen == Choice::Consensus).then(|| self.distribution());
        let is_chosen = |n: usize| chosen == Choice::Reply(n);
        let mut taken = None;
        for (n, reply) in self.replies.into_iter().enumerate() {
            if is_chosen(n) && failed(&reply.received).is_none() {
                let json =
                    reply.judged.and_then(|judged| Some(reply.received.content.get(judged.parts.json)?.to_vec()));
                taken = Some((json.unwrap_or_default(), reply.executed));
            } else {
                machine.note(reply.executed);
            }
        }
        if let Some(consensus) = consensus.filter(|made| !made.valid.is_empty()) {
            let values = consensus.consensus();
            let json = object(values.iter().map(|(name, text)| (name, text.as_slice())));
            let ServerInfo { model, backend, endpoint } = self.server;
            let (raw, verdict, started_utc) = (json.clone(), Some("consensus"), now_utc.to_owned());
            taken = Some((json, Executed { raw, verdict, model, backend, endpoint, started_utc, ..self.blank }));
        }
        let Some((json, executed)) = taken else {
            let nothing = || server_ended(&Shown::own("no reply was what was asked for"), step);
            return Err(why.unwrap_or_else(nothing));
        };
        machine.take(&json, executed)
    }
}

/// Notes what was heard of a call.
pub fn fill(executed: &mut Executed, reply: &Received, judge: &Judge, server: &ServerInfo) -> JudgedReply {
    let judged = judge.judge(&reply.content);
    let inner = judged.parts.reasoning.clone().and_then(|range| reply.content.get(range)).unwrap_or_default();
    executed.raw.clone_from(&reply.content);
    executed.reasoning = if reply.reasoning.is_empty() { inner.to_vec() } else { reply.reasoning.clone() };
    executed.around = judged.parts.around;
    executed.model.clone_from(&server.model);
    executed.backend.clone_from(&server.backend);
    executed.endpoint.clone_from(&server.endpoint);
    executed.enforcement = reply.enforcement;
    executed.request.clone_from(&reply.sha256);
    if let Phase::Done(finish) = &reply.phase {
        executed.usage = finish.usage;
        executed.verdict = Some(judged.verdict.word());
    }
    judged
}

/// Why a call gave no reply; `None`: it did.
pub fn failed(rerun: &Received) -> Option<Shown> {
    match &rerun.phase {
        Phase::Done(_) => None,
        Phase::Failed(trouble) => Some(trouble.sentence.clone()),
        _ if rerun.content.is_empty() => Some(Shown::own("the call was broken off")),
        _ => Some(shown!(
            "the call was broken off; what had come ({} bytes) is partial and is no answer",
            rerun.content.len()
        )),
    }
}

/// Why the model stopped.
pub fn stop_of(reply: &Received) -> Option<&Stop> {
    match &reply.phase {
        Phase::Done(finish) => Some(&finish.stop),
        _ => None,
    }
}

/// A reply that could not be used, in a sentence.
pub fn what_came(reply: &[u8], stop: Option<&Stop>) -> Shown {
    let began = Shown::line(head(reply, SHOWN));
    let more = if reply.len() > SHOWN { "…" } else { "" };
    let limit = if stop == Some(&Stop::Length) { "; it was cut off at its limit of tokens" } else { "" };
    if reply.is_empty() { Shown::own("the reply is empty") } else { shown!("the reply begins: {began}{more}{limit}") }
}

/// The end of a run at a call that failed.
pub fn server_ended(why: &Shown, step: usize) -> Ended {
    let message = Untrusted::new(why.as_str().as_bytes()).into_owned();
    Ended { class: SERVER_ERROR, message, meaning: None, step: Some(step) }
}

/// The end of a run at a call that gave nothing.
fn call_ended(why: &Shown, phase: &Phase, step: usize) -> Ended {
    let class = if *phase == Phase::Cancelled { BROKEN_OFF } else { SERVER_ERROR };
    Ended { class, ..server_ended(why, step) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::call::{Finish, ReplyPart, Trouble, TroubleKind};
    use crate::run::fork::Scope;
    use crate::run::rerun::RerunStart;
    use stepscope_base::json::Tape;

    const RUN: &str = r#"{"id": "a", "question": "How many?", "status": "ok", "mode": "procedural", "procedure":
        {"NameDescription": "n", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "t"}],
        "stepDescription": "Read x", "output": [{"name": "x", "description": "d"}]}, {"id": 2, "inputs":
        [{"name": "x", "description": "d"}], "stepDescription": "Define final_answer as x", "output":
        [{"name": "final_answer", "description": "f"}]}]}, "state": {"problem_text": "How many?", "x": 1,
        "final_answer": "1"}}"#;

    fn machine() -> RerunMachine {
        let start = RerunStart { step: 0, edits: vec![], scope: Scope::One, how: How::Rerun, is_lenient: false };
        RerunMachine::new(RUN.as_bytes(), start).unwrap()
    }

    fn round(count: usize) -> (RerunMachine, SamplingRound) {
        let machine = machine();
        let ask = machine.next_ask().unwrap().unwrap();
        let id = machine.step_id(0);
        let (round, calls) =
            SamplingRound::new(RunId(1), (ask, id), None, &Sampling::default(), count, ServerInfo::default());
        assert_eq!(calls.len(), count);
        assert_eq!(calls.last().unwrap().seed, Some(SEED + count as i64 - 1));
        (machine, round)
    }

    fn told(call: usize, event: RunEvent) -> CallEvent {
        CallEvent { call, event, began_utc: None, elapsed: Duration::from_millis(5) }
    }

    fn text(text: &str) -> RunEvent {
        RunEvent::Text { part: ReplyPart::Content, text: Untrusted::from(text).into_owned() }
    }

    fn value(machine: &RerunMachine, name: &str) -> String {
        let state = machine.state();
        String::from_utf8(Tape::default().parse(&state).unwrap().get(name).unwrap().raw().to_vec()).unwrap()
    }

    #[test]
    fn one_reply_is_taken_when_it_is_whole() {
        let (mut machine, mut round) = round(1);
        assert!(round.hear(RunId(1), told(0, text("```json\n{\"x\": 7}\n"))));
        assert!(!round.hear(RunId(2), told(0, text("stale"))) && !round.is_over());
        assert!(round.hear(RunId(1), told(0, text("```"))));
        assert!(round.hear(RunId(1), told(0, RunEvent::Done(Finish::default()))) && round.is_over());
        round.judge();
        assert!(round.replies[0].executed.around.fence);
        round.settle(Choice::Consensus, &mut machine, "").unwrap();
        assert_eq!((value(&machine, "x").as_str(), machine.start().how), ("7", How::Rerun));
    }

    #[test]
    fn what_is_partial_is_kept_and_never_taken() {
        let (mut machine, mut round) = round(1);
        round.hear(RunId(1), told(0, text("{\"x\": 7}")));
        round.cancel(Duration::from_secs(11));
        assert!(!round.hear(RunId(1), told(0, RunEvent::Done(Finish::default()))));
        assert_eq!(round.replies[0].elapsed, Duration::from_secs(11));
        round.judge();
        let ended = round.settle(Choice::Reply(0), &mut machine, "").unwrap_err();
        assert_eq!(ended.class, BROKEN_OFF);
        assert!(ended.to_string().contains("8 bytes) is partial"), "{ended}");
        assert!(!String::from_utf8(machine.state()).unwrap().contains("\"x\""));
        let call = machine.calls().next().unwrap();
        assert_eq!((call.raw.as_slice(), call.verdict, &call.outputs), (&b"{\"x\": 7}"[..], None, &None));
    }

    #[test]
    fn of_several_replies_the_consensus_or_one_is_taken() {
        let filled = || {
            let (machine, mut round) = round(4);
            for (n, reply) in ["{\"x\": 2}", "{\"x\": 3}", "{\"x\": 2.0}"].into_iter().enumerate() {
                round.hear(RunId(1), told(n, text(reply)));
                round.hear(RunId(1), told(n, RunEvent::Done(Finish::default())));
            }
            let trouble = Trouble::new(TroubleKind::Cut, Shown::own("cut"));
            round.hear(RunId(1), told(3, RunEvent::Failed(trouble)));
            round.judge();
            (machine, round)
        };
        let (mut machine, round) = filled();
        assert_eq!((round.obeyed(), round.distribution().failed), (3, vec![3]));
        round.settle(Choice::Consensus, &mut machine, "now").unwrap();
        assert_eq!((value(&machine, "x").as_str(), machine.calls().count()), ("2", 5));
        assert_eq!(machine.start().how, How::Consensus);
        let (mut machine, round) = filled();
        round.settle(Choice::Reply(1), &mut machine, "now").unwrap();
        assert_eq!((value(&machine, "x").as_str(), machine.calls().count()), ("3", 4));
        let (mut machine, round) = filled();
        assert_eq!(round.settle(Choice::Reply(3), &mut machine, "now").unwrap_err().class, SERVER_ERROR);
    }
}
