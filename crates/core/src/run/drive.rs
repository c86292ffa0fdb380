//! The one way in which models are asked. A `Machine` says what to ask, the calls of a round go out, and what came goes
//! back into the machine, until it is over. Nothing is sent from here: commands drive a machine by
//! `stepscope_io::model::drive`, the screen by its messages.

use crate::procedure::prompt::Request;
use crate::procedure::runner::Ask;
use crate::run::sampling::SamplingRound;
use stepscope_base::text::Untrusted;

/// What a machine wants asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The step, its prompt and its schema.
    pub ask: Ask,
    /// The step's own id, as it stands in the procedure.
    pub step_id: Option<Vec<u8>>,
    /// The prompt in place of the step's own.
    pub prompt: Option<Untrusted<'static>>,
    /// How many replies are wanted.
    pub samples: usize,
}

impl Question {
    /// One request that belongs to no step.
    pub fn of(request: Request) -> Self {
        let ask = Ask { step: 0, request, inputs: Vec::new() };
        Self { ask, step_id: None, prompt: None, samples: 1 }
    }

    /// The prompt that goes out.
    pub fn prompt(&self) -> &Untrusted<'static> {
        self.prompt.as_ref().unwrap_or(&self.ask.request.prompt)
    }
}

/// Something that asks a model until it is done: a re-run, a whole run, a repair, one call.
pub trait Machine {
    /// What to ask next; `None`: it is over.
    fn question(&mut self) -> Option<Question>;

    /// Takes a round that is over and judged. `now_utc`: the time that a record notes.
    fn take(&mut self, round: &SamplingRound, now_utc: &str);
}

/// One question, asked once.
#[derive(Debug)]
pub struct Once {
    question: Option<Question>,
    /// What came.
    pub round: Option<SamplingRound>,
}

impl Once {
    /// Before it is asked.
    pub fn new(question: Question) -> Self {
        Self { question: Some(question), round: None }
    }
}

impl Machine for Once {
    fn question(&mut self) -> Option<Question> {
        self.question.take()
    }

    fn take(&mut self, round: &SamplingRound, _: &str) {
        self.round = Some(round.clone());
    }
}
