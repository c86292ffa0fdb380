//! Creation of a procedure for a question: evoproc's prompt, byte for byte as each release makes it, its validation, and
//! its repair by the same model (`evoproc_procedures.pipelines`). Nothing is sent from here.

use crate::fork::{Executed, RunParts, run_record};
use crate::machine::{Machine, Question};
use crate::prompt::{AnswerShape, Release, Request};
use crate::repair;
use crate::repair::model::ModelRepair;
use crate::runner::{Ended, NOT_SENT};
use crate::sampling::{SEED, SamplingRound};
use crate::tolerant::TakenReply;
use stepscope_base::json::Tape;
use stepscope_base::pyload::loads;
use stepscope_base::python::Message;
use stepscope_base::shown;
use stepscope_base::text::Untrusted;

/// The steps of a procedure that is still coming.
pub mod stream;

/// The keys of a procedure.
const KEYS: [&str; 2] = ["NameDescription", "steps"];

/// A procedure on its way from a question to being valid.
#[derive(Debug)]
pub struct Creation {
    question: Untrusted<'static>,
    release: Release,
    /// Examples for the prompt, as they are.
    pub examples: Option<Untrusted<'static>>,
    /// Maximum number of repairs.
    pub tries: u32,
    /// A reply is taken at which upstream would end.
    pub is_tolerant: bool,
    /// The procedure and its repairs, once there is one.
    pub repair: Option<ModelRepair>,
    /// Calls so far: the creation, then its repairs.
    pub calls: Vec<Executed>,
    /// Reason of its end, if there is no procedure that upstream would run.
    pub ended: Option<Ended>,
}

impl Creation {
    /// Creates the machine before anything is asked, which does it as that release does.
    pub fn new(question: Untrusted<'static>, release: Release) -> Self {
        let (examples, repair, ended) = (None, None, None);
        let (tries, is_tolerant, calls) = (repair::MAX_TRIES, false, Vec::new());
        Self { question, release, examples, tries, is_tolerant, repair, calls, ended }
    }

    /// Returns the question.
    pub(crate) fn asked_about(&self) -> &Untrusted<'static> {
        &self.question
    }

    /// Asks once more what failed or was cancelled.
    pub(crate) fn again(&mut self) {
        self.ended = None;
    }

    /// Takes the object in the reply at which it ended. `false`: there is none, and nothing changed.
    pub(crate) fn tolerate(&mut self) -> bool {
        if self.ended.is_none() {
            return false;
        }
        if let Some(repair) = &self.repair {
            // Only the last repair made it valid, at which upstream does not look.
            let is_valid = repair.diagnostics.1 == 0;
            if is_valid {
                self.ended = None;
            }
            return is_valid;
        }
        let Some(call) = self.calls.last() else { return false };
        let taken = TakenReply::tolerant(&call.raw, &KEYS.map(Untrusted::from));
        let Ok(repair) = self.first(&taken) else { return false };
        let errors = Some(repair.diagnostics.1);
        (self.repair, self.ended) = (Some(repair), None);
        if let Some(call) = self.calls.last_mut() {
            (call.tolerated, call.error, call.errors) = (taken.tolerated, None, errors);
        }
        true
    }

    /// Tells whether there is a procedure that upstream would run.
    pub(crate) fn is_done(&self) -> bool {
        self.ended.is_none() && self.repair.as_ref().is_some_and(|repair| repair.diagnostics.1 == 0)
    }

    /// Returns the procedure as it is by now.
    fn procedure(&self) -> Option<&[u8]> {
        self.repair.as_ref().map(|repair| repair.procedure.as_slice())
    }

    /// Writes what there is by now as a record: a procedure that was not run, or the end of its creation.
    pub fn record(&self, shape: AnswerShape<'_>, created_utc: &str) -> Vec<u8> {
        let mut tape = Tape::default();
        let is_open = self.repair.as_ref().is_none_or(|repair| repair.diagnostics.1 > 0);
        let open = is_open.then(Ended::unfinished);
        let parts = RunParts {
            procedure: self.procedure().and_then(|procedure| tape.parse(procedure)),
            question: &self.question,
            shape,
            creation: &self.calls,
            calls: &[],
            values: None,
            ended: self.ended.as_ref().or(open.as_ref()),
            sets: &[],
            prompts: &[],
        };
        run_record(&parts, created_utc)
    }

    /// Takes the first reply. `Err`: upstream ends there.
    fn first(&self, reply: &TakenReply) -> Result<ModelRepair, Ended> {
        if let Err(refused) = loads(&mut Tape::default(), &reply.json) {
            let said = Untrusted::from(refused);
            let message = Message::new("[0] Non-JSON response from model: ").text(said.bytes());
            return Err(Ended::of_creation("ValueError", message));
        }
        Ok(ModelRepair::new(reply.json.trim_ascii().to_vec(), self.tries))
    }

    /// Finds the reason why upstream gives up, once no more repairs are made.
    fn given_up(&self, repair: &ModelRepair) -> Option<Ended> {
        if let Some(why) = &repair.refused {
            let sentence: Untrusted<'static> = why.clone().into_string().into();
            return Some(Ended::of_creation(NOT_SENT, sentence));
        }
        let ended =
            || Ended::of_creation("RuntimeError", Untrusted::from("Could not satisfy validator after retries."));
        let answered = self.calls.iter().filter(|call| call.errors.is_some()).count();
        let repairs = (answered as u32).saturating_sub(1);
        let is_last = self.tries > 0 && repairs >= self.tries;
        match repair.diagnostics.1 {
            // Upstream validates before each attempt, and so never what the last one gives.
            0 if is_last && !self.is_tolerant => {
                let why = shown!("the last of {repairs} repairs is valid, but evoproc does not validate it");
                Some(Ended { meaning: Some(why), ..ended() })
            }
            0 => None,
            _ => repair.is_over.then(ended),
        }
    }
}

/// Builds the request for a procedure: a creation prompt of upstream's with the procedure's schema in it.
fn request(template: &str, question: &Untrusted<'_>, examples: Option<&Untrusted<'_>>) -> Request {
    let schema = repair::schema();
    let mut prompt = Vec::new();
    // The places are found in the template alone: a question may hold their names.
    let mut rest = template;
    while let Some((before, name, after)) = rest.split_once('{').and_then(|(before, behind)| {
        let (name, after) = behind.split_once('}')?;
        Some((before, name, after))
    }) {
        prompt.extend_from_slice(before.as_bytes());
        match name {
            "item" => prompt.extend_from_slice(question.bytes()),
            "schema" => repair::append_dumped(schema.bytes(), &mut prompt),
            _ => append_examples(examples, &mut prompt),
        }
        rest = after;
    }
    prompt.extend_from_slice(rest.as_bytes());
    Request { prompt: Untrusted::owned(prompt), schema, expected: Vec::new(), is_final: false }
}

/// Upstream's creation prompts: the texts around the question, the examples and the schema.
const EARLY: &str = include_str!("create/prompt-0.1.0.txt");
const NEWER: &str = include_str!("create/prompt-1.1.0.txt");

/// Appends examples with their heading; an empty text is none.
fn append_examples(examples: Option<&Untrusted<'_>>, prompt: &mut Vec<u8>) {
    if let Some(examples) = examples.filter(|examples| !examples.is_empty()) {
        let parts: [&[u8]; 3] = [b"\n# Example (hint)\n", examples.bytes(), b"\n"];
        for part in parts {
            prompt.extend_from_slice(part);
        }
    }
}

impl Machine for Creation {
    fn question(&mut self) -> Option<Question> {
        if self.ended.is_some() {
            return None;
        }
        let Some(repair) = &mut self.repair else {
            let template = if self.release.is_early() { EARLY } else { NEWER };
            return Some(Question::of(request(template, &self.question, self.examples.as_ref())));
        };
        if repair.diagnostics.1 == 0 {
            return None;
        }
        // Upstream repairs with its own seed, whatever that of the creation is.
        let question = repair.question().map(|question| Question { seed: Some(SEED), ..question });
        if question.is_none() {
            self.ended = self.repair.as_ref().and_then(|repair| self.given_up(repair));
        }
        question
    }

    fn take(&mut self, round: &SamplingRound, _: &str) {
        let Some(reply) = round.replies.first() else { return };
        let content = &reply.received.content;
        let keys = KEYS.map(Untrusted::from);
        let taken = if self.is_tolerant { TakenReply::tolerant(content, &keys) } else { TakenReply::exact(content) };
        let mut call = Executed { tolerated: taken.tolerated.clone(), ..reply.executed.clone() };
        if reply.failed().is_some() {
            let ended = Ended { step: None, ..round.ended() };
            call.error = Some(ended.recorded());
            self.ended = Some(ended);
            self.calls.push(call);
            return;
        }
        match &mut self.repair {
            Some(repair) => repair.take_reply(&taken.json),
            None => match self.first(&taken) {
                Ok(repair) => self.repair = Some(repair),
                Err(ended) => {
                    call.error = Some(ended.recorded());
                    self.ended = Some(ended);
                }
            },
        }
        call.errors = self.repair.as_ref().map(|repair| repair.diagnostics.1);
        self.calls.push(call);
        if let Some(repair) = self.repair.as_ref().filter(|repair| repair.is_over || repair.diagnostics.1 == 0) {
            self.ended = self.given_up(repair);
        }
    }
}
