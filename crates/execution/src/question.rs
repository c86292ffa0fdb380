//! Question to a model: a prompt with all that its calls need.

use crate::prompt::Request;
use crate::runner::Ask;
use stepscope_base::text::Untrusted;

/// Question that a machine wants asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The step, its prompt and its schema.
    pub ask: Ask,
    /// Id of the step, as the procedure writes it.
    pub step_id: Option<Vec<u8>>,
    /// The prompt in place of the step's own.
    pub prompt: Option<Untrusted<'static>>,
    /// The seed in place of the one that all calls have.
    pub seed: Option<i64>,
    /// Number of replies wanted.
    pub samples: usize,
}

impl Question {
    /// Creates a request that belongs to no step.
    pub fn of(request: Request) -> Self {
        let ask = Ask { step: 0, request, inputs: Vec::new() };
        Self { ask, step_id: None, prompt: None, seed: None, samples: 1 }
    }

    /// Returns the prompt that goes out.
    pub fn prompt(&self) -> &Untrusted<'static> {
        self.prompt.as_ref().unwrap_or(&self.ask.request.prompt)
    }
}
