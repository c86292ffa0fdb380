//! A procedure that is repaired by a model: asked with upstream's prompt as often as upstream asks, the procedure
//! validated anew after every reply. Nothing is sent from here.

use super::{diagnostics, prompt, schema};
use crate::run::call::{Call, Received, RunId, parts};
use crate::run::sampling::{CallEvent, Sampling, failed};
use stepscope_base::json::Tape;
use stepscope_base::pyload::loads;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Longer procedures are not sent.
const MAX_PROCEDURE: usize = 1 << 20;

/// See the module.
#[derive(Clone, Debug)]
pub struct ModelRepair {
    /// Which call is heard.
    pub id: RunId,
    /// The model and where it is.
    pub server: Shown,
    /// What came of each call, in a sentence.
    pub outcomes: Vec<Shown>,
    /// The call that runs, or ran last.
    pub received: Received,
    /// How many diagnostics there were, and how many there are now.
    pub diagnostics: (usize, usize),
    /// The procedure as it is now.
    pub procedure: Vec<u8>,
    /// Nothing more is asked.
    pub is_over: bool,
    /// Something of the procedure was changed.
    pub is_changed: bool,
    calls: u32,
    tries: u32,
}

impl ModelRepair {
    /// Before the first call; at most so many are made.
    pub fn new(procedure: Vec<u8>, server: Shown, tries: u32) -> Self {
        let count = diagnostics(&procedure).total();
        Self {
            id: RunId(0),
            server,
            outcomes: Vec::new(),
            received: Received::default(),
            diagnostics: (count, count),
            procedure,
            is_over: tries == 0,
            is_changed: false,
            calls: 0,
            tries,
        }
    }

    /// The call that comes next.
    pub fn call(procedure: &[u8], model: &str, sampling: &Sampling) -> Result<Call, &'static str> {
        if procedure.len() > MAX_PROCEDURE {
            return Err("this procedure is too large to be sent");
        }
        let mut tape = Tape::default();
        let value = tape.parse(procedure).ok_or("the procedure is not JSON")?;
        let prompt = prompt(value, &diagnostics(procedure));
        Ok(sampling.call(model, prompt, Some(schema()), 0))
    }

    /// A call goes out.
    pub fn begin(&mut self, id: RunId) {
        self.id = id;
        self.calls += 1;
        self.received = Received::begin(id);
    }

    /// Takes what was heard. `true`: the reply is there and another is to be asked for.
    pub fn hear(&mut self, id: RunId, told: Vec<CallEvent>) -> bool {
        if self.is_over || id != self.id {
            return false;
        }
        for told in told {
            self.received.take(id, told.event);
        }
        if self.received.is_running() {
            return false;
        }
        self.take_reply();
        !self.is_over
    }

    fn take_reply(&mut self) {
        let n = self.calls;
        if let Some(why) = failed(&self.received) {
            self.outcomes.push(shown!("attempt {n}: {why}"));
            self.is_over = true;
            return;
        }
        let json = self.received.content.get(parts(&self.received.content).json).unwrap_or_default();
        if loads(&mut Tape::default(), json).is_ok() {
            let (before, after) = (self.diagnostics.1, diagnostics(json).total());
            self.outcomes.push(shown!("attempt {n}: diagnostics {before} → {after}"));
            self.is_changed |= json != self.procedure;
            self.procedure = json.to_vec();
            self.diagnostics.1 = after;
        } else {
            self.outcomes.push(shown!("attempt {n}: the reply is not JSON; nothing changed"));
        }
        self.is_over = self.diagnostics.1 == 0 || n >= self.tries;
    }

    /// Breaks it off: what came of earlier calls stays.
    pub fn cancel(&mut self) {
        self.received.cancel();
        self.is_over = true;
        self.outcomes.push(shown!("attempt {}: broken off; what had come is no answer", self.calls));
    }
}
