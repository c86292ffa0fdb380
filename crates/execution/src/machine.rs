//! The trait `Machine`: it says what to ask a model next and takes the replies, and sends nothing itself. The calls of a
//! round go out and their replies come back, round after round until it is over: commands drive a machine by
//! `stepscope_io::model::drive`, the screen by its messages.

use crate::sampling::SamplingRound;

pub use crate::question::Question;

/// Something that asks a model until it is done: a re-run, a whole run, a repair, one call.
pub trait Machine {
    /// Returns the next question; `None`: the machine is done.
    fn question(&mut self) -> Option<Question>;

    /// Takes a round that is over and judged. `now_utc`: the time that a record notes.
    fn take(&mut self, round: &SamplingRound, now_utc: &str);
}

/// One question, asked once.
#[derive(Debug)]
pub struct Once {
    question: Option<Question>,
    /// Round with the replies, once it is over.
    pub round: Option<SamplingRound>,
}

impl Once {
    /// Creates the machine before the question is asked.
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
