//! Runs of programs that keep a state: steps that wrote variables, and the state in the end, as a run on one line.

use std::collections::HashMap;

use super::super::burr::QUESTION;
use super::super::chat::replied;
use super::super::plain::{Members, Plain};
use super::super::step::ANSWER;
use stepscope_base::json::write::{Letters, Style};
use stepscope_record::trace::MAX_CALLS;

/// Size of a run.
pub(super) const MAX_RUN: usize = 16 << 20;

/// A run on its way to a line.
#[derive(Default)]
pub(super) struct StateRun {
    pub id: Option<Plain>,
    /// Variables that it began with.
    pub initial: Members,
    /// Variables in the end.
    pub state: Members,
    pub error: Option<Plain>,
    /// Request that it waits to be answered.
    pub waits: Option<Plain>,
    pub model: Option<Plain>,
    /// Further keys that the program has for it.
    pub about: Members,
    steps: Vec<u8>,
    count: usize,
    pub left_out: usize,
}

/// Place of a step inside of another one.
#[derive(Clone, Copy, Default)]
pub(super) struct StepPlace {
    pub parent: Option<usize>,
    pub depth: usize,
}

impl StateRun {
    pub(super) fn new(id: Option<Plain>) -> Self {
        Self { id, ..Self::default() }
    }

    /// Returns the size of its steps so far.
    pub(super) const fn size(&self) -> usize {
        self.steps.len()
    }

    /// Tells whether it has no step yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a step; returns its number, or nothing if there is no room.
    pub(super) fn step(&mut self, place: StepPlace, mut body: Members) -> Option<usize> {
        let number = |number: usize| Plain::Raw(number.to_string().into_bytes());
        let mut members: Members = vec![(b"step_index".to_vec(), number(self.count))];
        if let Some(parent) = place.parent {
            members.push((b"depth".to_vec(), number(place.depth)));
            members.push((b"parent".to_vec(), number(parent)));
        }
        members.append(&mut body);
        let json = Plain::Object(members).json();
        if self.count >= MAX_CALLS || self.steps.len() + json.len() > MAX_RUN {
            self.left_out += 1;
            return None;
        }
        if self.count > 0 {
            self.steps.push(b',');
        }
        self.steps.extend_from_slice(&json);
        self.count += 1;
        Some(self.count - 1)
    }

    /// Writes it as a run on one line.
    pub(super) fn line(&self, source: &str) -> Vec<u8> {
        let asked = asked(&self.initial).or_else(|| asked(&self.state));
        let is_over = self.error.is_none() && self.waits.is_none();
        let said = if is_over { said(&self.state) } else { None };
        let status = match (&self.error, &self.waits) {
            (Some(_), _) => "error",
            (None, Some(_)) => "waiting",
            (None, None) => "ok",
        };
        let mut line = Style { letters: Letters::Canonical, ..Style::ASCII }.object(|out| {
            out.maybe("id", self.id.as_ref());
            if let Some(asked) = &asked {
                out.text("question", asked);
            }
            out.text("status", status).maybe("error", self.error.as_ref()).maybe("waits_for", self.waits.as_ref());
            if let Some(said) = &said {
                out.text("pred_answer", said);
            }
            out.maybe("model", self.model.as_ref());
            for (key, value) in &self.about {
                out.put(key, value);
            }
            if !self.initial.is_empty() {
                out.put("initial", Plain::Object(self.initial.clone()));
            }
            out.put("state", Plain::Object(self.state.clone()));
            out.object("trace", |trace| {
                trace.text("format", "stepscope.run_trace").key("version").raw("1");
                trace.text("source", source).key("steps").raw([b"[", self.steps.as_slice(), b"]"].concat());
            });
        });
        line.push(b'\n');
        line
    }
}

/// Finds a variable.
pub(super) fn variable<'m>(members: &'m Members, name: &[u8]) -> Option<&'m Plain> {
    members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Returns the variables that are new or have another value than before.
pub(super) fn changed(before: &Members, after: &Members) -> Members {
    let held: HashMap<&[u8], &Plain> = before.iter().map(|(key, value)| (key.as_slice(), value)).collect();
    after.iter().filter(|(key, value)| held.get(key.as_slice()) != Some(&value)).cloned().collect()
}

/// Returns the question: what a variable with such a name says, else the first message of a person.
fn asked(members: &Members) -> Option<Vec<u8>> {
    let named = QUESTION.iter().filter_map(|key| variable(members, key.as_bytes())?.said());
    let first = || {
        let mut of_people = messages(members).iter().filter(|message| has_role(message, b"user"));
        of_people.find_map(|message| replied(message).text.filter(|text| !text.is_empty()))
    };
    named.map(<[u8]>::to_vec).next().or_else(first)
}

/// Returns the answer: a variable with such a name, else what a model said last.
fn said(members: &Members) -> Option<Vec<u8>> {
    let filled = |value: &&Plain| !value.is_null() && value.text().is_none_or(|text| !text.is_empty());
    let named = ANSWER.iter().find_map(|key| variable(members, key.as_bytes()).filter(filled)).map(Plain::as_text);
    let last = || {
        let message = messages(members).iter().rev().find(|message| has_role(message, b"assistant"))?;
        replied(message).text.filter(|text| !text.is_empty())
    };
    named.or_else(last)
}

/// Returns the conversation that a variable holds.
fn messages(members: &Members) -> &[Plain] {
    let is_message = |item: &Plain| item.get("role").is_some() && item.get("content").is_some();
    let lists = members.iter().map(|(_, value)| value.items());
    let mut conversations = lists.filter(|items| items.first().is_some_and(is_message));
    conversations.next().unwrap_or(&[])
}

fn has_role(message: &Plain, role: &[u8]) -> bool {
    message.get("role").and_then(Plain::text) == Some(role)
}
