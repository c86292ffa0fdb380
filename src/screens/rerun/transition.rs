//! A leg of a course: the part of a re-run that is worked out between two calls. A record may be anything, so this is
//! done on the thread that reads records, never on the one that draws.

use std::sync::Arc;

use crate::screens::rerun::answer;
use crate::screens::rerun::answer::Answer;
use crate::screens::rerun::outcome::Outcome;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::answer::document::Document;
use stepscope_core::procedure::runner::{Ask, Ended};
use stepscope_core::run::fork::Preview;
use stepscope_core::run::rerun::{RerunMachine, RerunStart};
use stepscope_core::run::sampling::{Choice, SamplingRound};
use stepscope_io::pipeline::side_data::SideData;

/// What there is to go on with.
#[derive(Debug)]
pub enum Transition {
    /// A course begins at a step of this record.
    Begin(Vec<u8>, RerunStart),
    /// The call that gave this typed answer is to be made again, from the document that it cites.
    Answer(Vec<u8>, Option<Arc<Document>>),
    /// All that will be heard of a step is there.
    Came(Machine, Box<SamplingRound>),
    /// Of several replies this is to be it.
    Take(Box<RerunMachine>, Box<SamplingRound>, Choice),
}

/// What a re-run goes along.
#[derive(Debug)]
pub enum Machine {
    /// The steps of a run.
    Steps(Box<RerunMachine>),
    /// The one call of a typed answer.
    Answer(Box<Answer>),
}

/// Where it led.
#[derive(Debug)]
pub enum Reached {
    /// There is a step to be asked.
    Ask(Box<Ready>),
    /// One of several replies is to be chosen.
    Several(Box<RerunMachine>, Box<SamplingRound>),
    /// The end.
    Over(Option<Box<SamplingRound>>, Box<Outcome>),
    /// Nothing can be asked.
    Never(Shown),
}

/// A step that can be asked.
#[derive(Debug)]
pub struct Ready {
    /// What it is a part of.
    pub machine: Machine,
    /// All that it asks.
    pub preview: Preview,
    /// What is asked next.
    pub ask: Ask,
    /// The step's id as it stands in the procedure.
    pub step_id: Option<Vec<u8>>,
    /// The replies that led here.
    pub past: Option<SamplingRound>,
}

impl Transition {
    /// Goes it. `now`: the time, where the record of the fork notes it.
    pub fn go(self, side: &Arc<SideData>, now: &str) -> Reached {
        match self {
            Self::Begin(text, start) => match RerunMachine::new(&text, start) {
                Ok(machine) => next(machine, None, side, now),
                Err(why) => Reached::Never(shown!("this step cannot be asked again: {}", Shown::error(&why))),
            },
            Self::Answer(text, document) => match answer::ready(text, document) {
                Ok(ready) => Reached::Ask(Box::new(ready)),
                Err(why) => Reached::Never(why),
            },
            Self::Came(Machine::Answer(answer), mut round) => {
                round.judge();
                match answer.outcome(&round, side, now) {
                    Some(outcome) => Reached::Over(Some(round), Box::new(outcome)),
                    None => Reached::Never(Shown::own("the fork could not be written")),
                }
            }
            Self::Came(Machine::Steps(machine), mut round) => {
                round.judge();
                // Of calls that were broken off none is to be chosen.
                if round.replies.len() > 1 && round.obeyed() > 0 {
                    return Reached::Several(machine, round);
                }
                settle(*machine, *round, Choice::Consensus, side, now)
            }
            Self::Take(machine, round, choice) => settle(*machine, *round, choice, side, now),
        }
    }
}

fn settle(mut machine: RerunMachine, round: SamplingRound, choice: Choice, side: &Arc<SideData>, now: &str) -> Reached {
    match round.clone().settle(choice, &mut machine, now) {
        Ok(()) => next(machine, Some(round), side, now),
        Err(ended) => over(&machine, Some(round), Some(ended), side, now),
    }
}

fn next(machine: RerunMachine, past: Option<SamplingRound>, side: &Arc<SideData>, now: &str) -> Reached {
    match machine.next_ask() {
        Ok(Some(ask)) => {
            let (preview, step_id) = (machine.preview(), machine.step_id(ask.step));
            Reached::Ask(Box::new(Ready { machine: Machine::Steps(Box::new(machine)), preview, ask, step_id, past }))
        }
        Ok(None) => over(&machine, past, None, side, now),
        // Before anything was asked it is the request that cannot be made.
        Err(ended) if past.is_none() => Reached::Never(shown!("this step cannot be asked again: {ended}")),
        Err(ended) => over(&machine, past, Some(ended), side, now),
    }
}

fn over(
    machine: &RerunMachine,
    past: Option<SamplingRound>,
    ended: Option<Ended>,
    side: &Arc<SideData>,
    now: &str,
) -> Reached {
    match machine.fork(ended, now) {
        Some((fork, line)) => {
            let outcome = Outcome::of(machine.text(), &fork, line, side);
            Reached::Over(past.map(Box::new), Box::new(outcome))
        }
        None => Reached::Never(Shown::own("the fork could not be written")),
    }
}
