//! Repair of a procedure by a model: evoproc's prompt, as many attempts as evoproc makes, and a validation after every
//! reply. Nothing is sent from here.

use super::{diagnostics, prompt, schema};
use crate::machine::{Machine, Question};
use crate::prompt::Request;
use crate::sampling::SamplingRound;
use stepscope_base::json::Tape;
use stepscope_base::pyload::loads;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Longer procedures are not sent.
const MAX_PROCEDURE: usize = 1 << 20;

/// See the module.
#[derive(Clone, Debug)]
pub struct ModelRepair {
    /// Outcome of each call, in a sentence.
    pub outcomes: Vec<Shown>,
    /// Number of diagnostics at the start, and now.
    pub diagnostics: (usize, usize),
    /// The procedure as it is now.
    pub procedure: Vec<u8>,
    /// Nothing more is asked.
    pub is_over: bool,
    /// Something of the procedure was changed.
    pub is_changed: bool,
    /// Reason that the server gave no reply.
    pub failed: Option<Shown>,
    /// Reason that the procedure cannot be sent.
    pub refused: Option<Shown>,
    calls: u32,
    tries: u32,
}

/// Builds the request for a procedure; `Err`: the reason that it cannot be sent.
pub fn request(procedure: &[u8]) -> Result<Request, Shown> {
    if procedure.len() > MAX_PROCEDURE {
        return Err(Shown::own("the procedure is too large to send"));
    }
    let mut tape = Tape::default();
    let value = tape.parse(procedure).ok_or(Shown::own("the procedure is not JSON"))?;
    let prompt = prompt(value, &diagnostics(procedure));
    Ok(Request { prompt, schema: schema(), expected: Vec::new(), is_final: false })
}

impl ModelRepair {
    /// Before the first call; at most so many are made.
    pub fn new(procedure: Vec<u8>, tries: u32) -> Self {
        let count = diagnostics(&procedure).total();
        Self {
            outcomes: Vec::new(),
            diagnostics: (count, count),
            procedure,
            is_over: tries == 0,
            is_changed: false,
            failed: None,
            refused: None,
            calls: 0,
            tries,
        }
    }

    /// Breaks it off: what came of earlier calls stays.
    pub fn cancel(&mut self) {
        self.is_over = true;
        self.outcomes.push(shown!("attempt {}: cancelled; the partial reply is not used", self.calls + 1));
    }
}

impl Machine for ModelRepair {
    fn question(&mut self) -> Option<Question> {
        if self.is_over {
            return None;
        }
        let request = request(&self.procedure).map_err(|why| (self.refused, self.is_over) = (Some(why), true));
        request.ok().map(Question::of)
    }

    fn take(&mut self, round: &SamplingRound, _: &str) {
        let Some(reply) = round.replies.first() else { return };
        if let Some(why) = reply.failed() {
            self.calls += 1;
            self.outcomes.push(shown!("attempt {}: {why}", self.calls));
            (self.failed, self.is_over) = (Some(why), true);
            return;
        }
        // As upstream, which takes nothing out of a fence or of other text: what does not load as it is, is no procedure.
        self.take_reply(&reply.received.content);
    }
}

impl ModelRepair {
    /// Takes the text of a reply.
    pub(crate) fn take_reply(&mut self, reply: &[u8]) {
        self.calls += 1;
        let n = self.calls;
        if loads(&mut Tape::default(), reply).is_ok() {
            let json = reply.trim_ascii();
            let (before, after) = (self.diagnostics.1, diagnostics(json).total());
            self.outcomes.push(shown!("attempt {n}: errors {before} → {after}"));
            self.is_changed |= json != self.procedure;
            self.procedure = json.to_vec();
            self.diagnostics.1 = after;
        } else {
            self.outcomes.push(shown!("attempt {n}: the reply is not JSON; nothing changed"));
        }
        self.is_over = self.diagnostics.1 == 0 || n >= self.tries;
    }
}
