//! A branch that owns what it needs: the record's text, and what came so far. Every question is answered by going
//! through the branch again, so it can wait for a model as long as it likes, and be kept in a state or a message.

use crate::procedure::Procedure;
use crate::procedure::runner::{Ask, Ended};
use crate::record::Record;
use crate::record::formats;
use crate::run::fork::{Executed, Fork, How, NoReplay, Preview, Replay, Scope};
use crate::run::state::State;
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::Untrusted;

/// Where a course begins and how far it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RerunStart {
    /// The step, by position.
    pub step: usize,
    /// Values in place of the recorded ones, as JSON texts.
    pub edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    /// How far it goes.
    pub scope: Scope,
    /// How it comes about.
    pub how: How,
    /// A reply that lacks an expected key is taken all the same.
    pub is_lenient: bool,
}

/// What came, in order.
#[derive(Clone, PartialEq, Debug)]
enum Came {
    /// The JSON that a step's reply gave.
    Reply(Vec<u8>, Box<Executed>),
    /// A call that gave nothing to go on with.
    Note(Box<Executed>),
}

/// A run, gone on from one of its steps.
#[derive(Clone, PartialEq, Debug)]
pub struct RerunMachine {
    text: Vec<u8>,
    start: RerunStart,
    came: Vec<Came>,
}

impl RerunMachine {
    /// Stands before the first step to be asked.
    pub fn new(text: &[u8], start: RerunStart) -> Result<Self, NoReplay> {
        let machine = Self { text: text.to_vec(), start, came: Vec::new() };
        machine.with(|_, _| ())?;
        Ok(machine)
    }

    /// Where it began.
    pub fn start(&self) -> &RerunStart {
        &self.start
    }

    /// The record that it left.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Goes on farther, or less far, from where it stands.
    pub fn reach(&mut self, scope: Scope) {
        self.start.scope = scope;
    }

    /// How it comes about, as that turned out.
    pub(crate) fn came_by(&mut self, how: How) {
        self.start.how = how;
    }

    fn with<T>(&self, then: impl FnOnce(Replay<'_, '_>, &Record<'_>) -> T) -> Result<T, NoReplay> {
        let mut tape = Tape::default();
        let record = tape.parse(&self.text).map(formats::read).ok_or(NoReplay::NoProcedure)?;
        let procedure = record.procedure.map(Procedure::read);
        let state = State::of(&record, procedure.as_ref());
        let start = &self.start;
        let replay = Replay::new(&record, procedure.as_ref(), &state, start.step, &start.edits)?;
        let mut replay = replay.scope(start.scope).how(start.how);
        if start.is_lenient {
            replay = replay.lenient();
        }
        for came in &self.came {
            match came {
                Came::Note(executed) => replay.note((**executed).clone()),
                Came::Reply(json, executed) => {
                    if let Ok(Some(ask)) = replay.next_ask() {
                        // What ended the branch then ends it again where it is asked for.
                        let _ = replay.take(&ask, json, (**executed).clone());
                    }
                }
            }
        }
        Ok(then(replay, &record))
    }

    /// What to ask next; `None`: the end is reached.
    pub fn next_ask(&self) -> Result<Option<Ask>, Ended> {
        self.with(|mut replay, _| replay.next_ask()).unwrap_or(Ok(None))
    }

    /// The step's own id, as it stands in the procedure.
    pub fn step_id(&self, step: usize) -> Option<Vec<u8>> {
        let id = |record: &Record<'_>| {
            let steps = record.procedure?.get("steps")?;
            steps.items().nth(step)?.get("id").map(|id: Value<'_>| id.raw().to_vec())
        };
        self.with(|_, record| id(record)).ok().flatten()
    }

    /// Takes the JSON of the reply to what is asked next. `Err`: upstream's runner ends there.
    pub fn take(&mut self, json: &[u8], executed: Executed) -> Result<(), Ended> {
        let taken = self.with(|mut replay, _| match replay.next_ask()? {
            Some(ask) => replay.take(&ask, json, executed.clone()),
            None => Ok(()),
        });
        self.came.push(Came::Reply(json.to_vec(), Box::new(executed)));
        taken.unwrap_or(Ok(()))
    }

    /// Keeps a call that gave nothing to go on with: a failed one, or one of several samples.
    pub fn note(&mut self, executed: Executed) {
        self.came.push(Came::Note(Box::new(executed)));
    }

    /// Every call so far.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = &Executed> {
        self.came.iter().map(|came| match came {
            Came::Reply(_, executed) | Came::Note(executed) => &**executed,
        })
    }

    /// What it asks in all if every value comes out differently, and how much of a prompt that is.
    pub fn preview(&self) -> Preview {
        self.with(|replay, record| replay.preview(record)).unwrap_or_default()
    }

    /// The state as it stands, as one JSON object.
    pub fn state(&self) -> Vec<u8> {
        self.with(|replay, _| replay.values().json()).unwrap_or_default()
    }

    /// What became of the run by now, and its record.
    pub fn fork(&self, ended: Option<Ended>, created_utc: &str) -> Option<(Fork, Vec<u8>)> {
        let made = self.with(|mut replay, record| {
            // The steps that are not asked are passed over only on the way to a next one.
            let _ = replay.next_ask();
            let fork = replay.finish(ended);
            let line = fork.record(record, &self.text, created_utc);
            (fork, line)
        });
        made.ok()
    }
}
