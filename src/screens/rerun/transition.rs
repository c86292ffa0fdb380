//! A transition of a re-run: what is worked out between two rounds of calls. A record may be anything, so this is done on
//! the thread that reads records, never on the one that draws.

use std::sync::Arc;

use crate::screens::rerun::answer::{self, Answer};
use crate::screens::rerun::outcome::Outcome;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::document::Document;
use stepscope_execution::machine::{Machine as _, Question};
use stepscope_execution::replay::{Preview, RerunStart};
use stepscope_execution::rerun::RerunMachine;
use stepscope_execution::sampling::{Choice, Reply, SamplingRound};
use stepscope_io::pipeline::side_data::SideData;
use stepscope_judge::case::Case;

/// Input from which a re-run continues.
#[derive(Debug)]
pub enum Transition {
    /// A re-run begins at a step of this record.
    Begin(Vec<u8>, RerunStart),
    /// The call that gave this structured answer is to be made again, from the document that it cites.
    Answer(Vec<u8>, Option<Arc<Document>>),
    /// All replies to a question.
    Came(NextCall, Box<SamplingRound>),
    /// Choice of one of several replies.
    Take(Box<RerunMachine>, Box<SamplingRound>, Choice),
}

/// Machine that determines the next call.
#[derive(Debug)]
pub enum NextCall {
    /// The steps of a run.
    Steps(Box<RerunMachine>),
    /// The one call of a structured answer.
    Answer(Box<Answer>),
}

/// Result of a transition.
#[derive(Debug)]
pub enum Reached {
    /// Question to ask.
    Ask(Box<Ready>),
    /// Replies of which one is to be chosen.
    Several(Box<RerunMachine>, Box<SamplingRound>),
    /// The end.
    Over(Option<Box<SamplingRound>>, Box<Outcome>),
    /// Reason that nothing can be asked.
    Never(Shown),
}

/// Question that is ready to be asked.
#[derive(Debug)]
pub struct Ready {
    /// Machine that the question is a part of.
    pub machine: NextCall,
    /// Preview of all that the machine asks.
    pub preview: Preview,
    /// Next question.
    pub question: Question,
    /// The replies that led here.
    pub past: Option<Box<SamplingRound>>,
}

impl Transition {
    /// Works it out. `now`: the time, where the record of the fork notes it.
    pub fn go(self, side: &Arc<SideData>, now: &str) -> Reached {
        match self {
            Self::Begin(text, start) => match RerunMachine::new(Case::around(text, Arc::new(side.around())), start) {
                Ok(machine) => next(Box::new(machine), None, side, now),
                Err(why) => Reached::Never(shown!("this step cannot be re-run: {}", Shown::error(&why))),
            },
            Self::Answer(text, document) => match answer::ready(text, document, side.types()) {
                Ok(ready) => Reached::Ask(Box::new(ready)),
                Err(why) => Reached::Never(why),
            },
            Self::Came(NextCall::Answer(answer), mut round) => {
                round.judge();
                match answer.outcome(&round, side, now) {
                    Some(outcome) => Reached::Over(Some(round), Box::new(outcome)),
                    None => Reached::Never(Shown::own("the fork could not be written")),
                }
            }
            Self::Came(NextCall::Steps(machine), mut round) => {
                round.judge();
                // Of calls that were broken off none is to be chosen. A reply that breaks the schema may be, as it is
                // taken where it is the only one.
                if round.is_several() && round.replies.iter().any(Reply::is_usable) {
                    return Reached::Several(machine, round);
                }
                take(machine, round, side, now)
            }
            Self::Take(mut machine, round, choice) => {
                machine.choose(choice);
                take(machine, round, side, now)
            }
        }
    }
}

fn take(mut machine: Box<RerunMachine>, round: Box<SamplingRound>, side: &Arc<SideData>, now: &str) -> Reached {
    machine.take(&round, now);
    next(machine, Some(round), side, now)
}

fn next(mut machine: Box<RerunMachine>, past: Option<Box<SamplingRound>>, side: &Arc<SideData>, now: &str) -> Reached {
    if let Some(question) = machine.question() {
        let preview = machine.preview();
        return Reached::Ask(Box::new(Ready { machine: NextCall::Steps(machine), preview, question, past }));
    }
    // Before anything was asked it is the request that cannot be made.
    if let (None, Some(ended)) = (&past, machine.ended()) {
        return Reached::Never(shown!("this step cannot be re-run: {ended}"));
    }
    match machine.fork(now) {
        Some((fork, line)) => Reached::Over(past, Box::new(Outcome::of(machine.case(), &fork, line, side))),
        None => Reached::Never(Shown::own("the fork could not be written")),
    }
}
