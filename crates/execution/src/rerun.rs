//! The re-run machine: a replay that owns the case of its record, and the replies so far. Every question is answered by
//! going through the replay again, so it can wait for a model as long as it likes, and be kept in a state or a message.

use crate::fork::{Executed, Fork, Scope};
use crate::machine::{Machine, Question};
use crate::replay::{NoReplay, Preview, Replay, RerunStart};
use crate::runner::{Ask, Ended};
use crate::sampling::{Choice, Reply, SamplingRound};
use crate::tolerant::TakenReply;
use stepscope_base::json::Value;
use stepscope_base::text::Untrusted;
use stepscope_judge::case::{Case, CaseView};
use stepscope_record::fork_origin::How;

/// Id of a step as JSON, as its procedure writes it.
pub(crate) type StepId = Vec<u8>;

/// A run, continued from one of its steps.
#[derive(Debug)]
pub struct RerunMachine {
    case: Case<'static>,
    start: RerunStart,
    choice: Choice,
    /// Takes a reply exactly as it came, as upstream does, and not as its judgment found it.
    is_exact: bool,
    /// Prompt of the next question in place of its own.
    prompt: Option<Untrusted<'static>>,
    /// Calls and values that were set, in their order.
    did: Vec<Did>,
    ended: Option<Ended>,
}

/// Event of a run: a call, or a value that a person set.
#[derive(Debug)]
enum Did {
    /// A call, with the JSON that was taken from it, if any was.
    Call(Box<Executed>, Option<Vec<u8>>),
    /// A value that was set before the step that is asked next.
    Set(Untrusted<'static>, Vec<u8>),
}

impl RerunMachine {
    /// Creates the machine before the first step to be asked.
    pub fn new(case: Case<'static>, start: RerunStart) -> Result<Self, NoReplay> {
        let (choice, prompt, did) = (Choice::Consensus, start.prompt.clone(), Vec::new());
        let machine = Self { case, start, choice, is_exact: false, prompt, did, ended: None };
        machine.with(|_, _| ())?;
        Ok(machine)
    }

    /// Returns the record that it left.
    pub fn case(&self) -> &Case<'static> {
        &self.case
    }

    /// Returns the reason of its end, if it ended early.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Goes farther, or less far, from where it is.
    pub fn reach(&mut self, scope: Scope) {
        self.start.scope = scope;
    }

    /// Takes this of several replies.
    pub fn choose(&mut self, choice: Choice) {
        self.choice = choice;
    }

    fn with<T>(&self, then: impl FnOnce(Replay<'_, '_>, &CaseView<'_>) -> T) -> Result<T, NoReplay> {
        let case = self.case.view();
        let mut replay = Replay::of(&case, &self.start)?;
        for did in &self.did {
            match did {
                Did::Call(executed, None) => replay.note(executed.as_ref().clone()),
                // What ended the replay then ends it again where it is asked for.
                Did::Call(executed, Some(json)) => {
                    if let Ok(Some(ask)) = replay.next_ask() {
                        let _ = replay.take(&ask, json, executed.as_ref().clone());
                    }
                }
                Did::Set(name, value) => {
                    let _ = replay.next_ask();
                    replay.set(name, value);
                }
            }
        }
        Ok(then(replay, &case))
    }

    /// Returns the next question, and the step's own id as the procedure writes it; `None`: the end is reached.
    pub fn next_ask(&self) -> Result<Option<(Ask, Option<StepId>)>, Ended> {
        let next = self.with(|mut replay, case| {
            let Some(ask) = replay.next_ask()? else { return Ok(None) };
            let step = case.procedure().and_then(|procedure| procedure.steps.get(ask.step));
            let id = step.and_then(|step| step.value.get("id")).map(|id: Value<'_>| id.raw().to_vec());
            Ok(Some((ask, id)))
        });
        next.unwrap_or(Ok(None))
    }

    /// Takes the JSON of the reply to what is asked next. `Err`: upstream's runner ends there.
    pub(crate) fn take_json(&mut self, json: &[u8], executed: Executed) -> Result<(), Ended> {
        let taken = self.with(|mut replay, _| match replay.next_ask()? {
            Some(ask) => replay.take(&ask, json, executed.clone()),
            None => Ok(()),
        });
        self.did.push(Did::Call(Box::new(executed), Some(json.to_vec())));
        taken.unwrap_or(Ok(()))
    }

    /// Keeps a call that gave nothing to continue with: a failed one, or one of several samples.
    pub(crate) fn note(&mut self, executed: Executed) {
        self.did.push(Did::Call(Box::new(executed), None));
    }

    /// Takes replies exactly as they come, as upstream does.
    pub(crate) fn exactly(self) -> Self {
        Self { is_exact: true, ..self }
    }

    /// Takes the object in the reply at which it ended. `false`: there is none, and nothing changed.
    pub(crate) fn tolerate(&mut self) -> bool {
        let (Some(_), Some(Did::Call(call, Some(_)))) = (&self.ended, self.did.last()) else { return false };
        let mut call = call.as_ref().clone();
        let Some(refused) = self.did.pop() else { return false };
        let asked = self.next_ask().ok().flatten();
        let taken = asked.map(|(ask, _)| TakenReply::tolerant(&call.raw, &ask.request.expected));
        let Some(taken) = taken.filter(|taken| taken.tolerated.is_some()) else {
            self.did.push(refused);
            return false;
        };
        (call.tolerated, call.error) = (taken.tolerated, None);
        self.ended = self.take_json(&taken.json, call).err();
        true
    }

    /// Sets a value before the next step; a run that had ended can go on with it.
    pub(crate) fn set(&mut self, name: Untrusted<'static>, value: Vec<u8>) {
        self.did.push(Did::Set(name, value));
        self.ended = None;
    }

    /// Sends another prompt with the next question; `None`: its own.
    pub(crate) fn ask_with(&mut self, prompt: Option<Untrusted<'static>>) {
        self.prompt = prompt;
    }

    /// Asks the step at which it ended once more.
    pub(crate) fn again(&mut self) {
        self.ended = None;
    }

    /// Ends what there is by now as a fork; what is not over ends for this reason, if there is one.
    pub(crate) fn fork_by_now<T>(
        &self,
        open: impl FnOnce(usize) -> Option<Ended>,
        then: impl FnOnce(Fork, &CaseView<'_>) -> T,
    ) -> Option<T> {
        let made = self.with(|mut replay, case| {
            // The steps that are not asked are passed over only on the way to a next one.
            let is_over = matches!(replay.next_ask(), Ok(None));
            let open = || if is_over { None } else { open(replay.position()) };
            let ended = self.ended.clone().or_else(open);
            then(replay.finish(ended), case)
        });
        made.ok()
    }

    /// Previews what it asks in all if every value comes out differently, and the size of those prompts.
    pub fn preview(&self) -> Preview {
        let preview = |replay: Replay<'_, '_>, case: &CaseView<'_>| Some(replay.preview(case.record.as_ref()?));
        self.with(preview).ok().flatten().unwrap_or_default()
    }

    /// Takes the JSON of a reply.
    fn taken(&self, reply: &Reply) -> (Vec<u8>, Executed) {
        let json = if self.is_exact { reply.received.content.as_slice() } else { reply.json() };
        (json.to_vec(), reply.executed.clone())
    }

    /// Builds the fork of the run so far, and its record.
    pub fn fork(&self, created_utc: &str) -> Option<(Fork, Vec<u8>)> {
        let write = |fork: Fork, case: &CaseView<'_>| {
            let line = fork.record(case.record.as_ref()?, case.text(), created_utc);
            Some((fork, line))
        };
        self.fork_by_now(|_| None, write).flatten()
    }
}

impl Machine for RerunMachine {
    fn question(&mut self) -> Option<Question> {
        if self.ended.is_some() {
            return None;
        }
        match self.next_ask() {
            Ok(next) => next.map(|(ask, step_id)| {
                let is_first = ask.step == self.start.step;
                let prompt = self.prompt.clone();
                let samples = if is_first { self.start.samples.max(1) } else { 1 };
                Question { ask, step_id, prompt, seed: None, samples }
            }),
            Err(ended) => {
                self.ended = Some(ended);
                None
            }
        }
    }

    fn take(&mut self, round: &SamplingRound, now_utc: &str) {
        let several = round.is_several();
        let choice = if several { self.choice } else { Choice::Reply(0) };
        if several {
            self.start.how = if choice == Choice::Consensus { How::Consensus } else { How::Rerun };
        }
        let mut taken = None;
        for (n, reply) in round.replies.iter().enumerate() {
            if choice == Choice::Reply(n) && reply.failed().is_none() {
                taken = Some(self.taken(reply));
            } else {
                self.note(reply.executed.clone());
            }
        }
        if choice == Choice::Consensus {
            taken = round.consensus(now_utc);
        }
        self.ended = match taken {
            Some((json, executed)) => self.take_json(&json, executed).err(),
            None => Some(round.ended()),
        };
        // A step that is asked again is asked as it was.
        if self.ended.is_none() {
            self.prompt = None;
        }
    }
}

/// Makes the fork of a run with other values before a step, and nothing asked.
pub fn edited(
    case: &CaseView<'_>,
    step: usize,
    edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    created_utc: &str,
) -> Result<Vec<u8>, NoReplay> {
    let record = case.record.as_ref().ok_or(NoReplay::NoProcedure)?;
    let start = RerunStart { step, edits, how: How::Edit, is_lenient: true, ..RerunStart::default() };
    let mut replay = Replay::of(case, &start)?;
    // The steps are passed over only on the way to a next one to ask, and there is none.
    let _ = replay.next_ask();
    Ok(replay.finish(None).record(record, case.text(), created_utc))
}
