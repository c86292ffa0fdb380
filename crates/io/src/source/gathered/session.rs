//! A session of agents as one run: what each of them said, which tools it called, and what came back.

use std::collections::HashMap;

use super::made::GatheredLines;
use super::neighbours::Values;
use super::plain::{Members, Plain, object};
use super::shelf::Shelf;
use super::step::ANSWER;
use crate::failure::Failure;
use stepscope_base::json::write::{Letters, Style};
use stepscope_base::json::{MAX_TEXT, Value};
use stepscope_base::shown;
use stepscope_record::trace::MAX_CALLS;

/// Turn of a session, which becomes a step.
#[derive(Default)]
pub(super) struct SessionTurn {
    /// Name of the agent or the tool.
    pub name: Vec<u8>,
    /// Text that a model said.
    pub said: Option<Plain>,
    /// Calls of tools, each with id, name and arguments.
    pub calls: Vec<Plain>,
    pub thoughts: Option<Plain>,
    pub model: Option<Plain>,
    /// Tokens: of the prompt, of the reply.
    pub tokens: [Option<Plain>; 2],
    /// Arguments of the tool whose result this is.
    pub inputs: Option<Plain>,
    /// Values that were written, or the result of a tool.
    pub outputs: Option<Plain>,
    pub error: Option<Plain>,
    pub started: Option<String>,
    /// True for the result of a tool.
    pub is_tool: bool,
}

/// A session on its way to being a run.
#[derive(Default)]
pub(super) struct AgentSession {
    pub id: Option<Plain>,
    /// First text of a person.
    pub asked: Option<Plain>,
    pub turns: Vec<SessionTurn>,
    pub state: Option<Plain>,
    /// Reason that the program gives for its end.
    pub stop: Option<Plain>,
    /// Name and arguments of calls whose results are awaited, by their id.
    called: HashMap<Vec<u8>, (Vec<u8>, Option<Plain>)>,
    /// Number of turns that had no room.
    pub left_out: usize,
    /// Number of lines that are no turn.
    pub untold: usize,
}

impl AgentSession {
    pub(super) fn new(id: Option<Plain>) -> Self {
        Self { id, ..Self::default() }
    }

    /// Adds a turn, and notes which tools it called.
    pub(super) fn add(&mut self, turn: SessionTurn) {
        for call in &turn.calls {
            let part = |key: &str| call.get(key).and_then(Plain::text).map(<[u8]>::to_vec);
            if let (Some(id), Some(name)) = (part("id"), part("name")) {
                self.called.insert(id, (name, call.get("arguments").cloned()));
            }
        }
        if self.turns.len() < MAX_CALLS {
            self.turns.push(turn);
        } else {
            self.left_out += 1;
        }
    }

    /// Adds a further part of the last turn.
    pub(super) fn join(&mut self, part: SessionTurn) {
        let Some(mut turn) = self.turns.pop() else { return self.add(part) };
        let both = |first: Option<Plain>, next: Option<Plain>| match (first, next) {
            (Some(first), Some(next)) => Some(Plain::Text([first.as_text(), next.as_text()].join(&b'\n'))),
            (first, next) => first.or(next),
        };
        turn.said = both(turn.said, part.said);
        turn.thoughts = both(turn.thoughts, part.thoughts);
        turn.calls.extend(part.calls);
        let [read, wrote] = part.tokens;
        turn.tokens = [read.or(turn.tokens[0].take()), wrote.or(turn.tokens[1].take())];
        self.add(turn);
    }

    /// Adds the result of a tool; its name and arguments are those of the call with the same id, where there is one.
    pub(super) fn add_result(&mut self, id: Option<&Plain>, result: Plain, turn: SessionTurn) {
        let call = id.and_then(Plain::text).and_then(|id| self.called.remove(id));
        let (name, arguments) = call.map_or((None, None), |(name, arguments)| (Some(name), arguments));
        let arguments = arguments.map(|arguments| match arguments {
            Plain::Object(members) => Plain::Object(members),
            other => object([("input", Some(other))]),
        });
        let outputs = Some(turn.outputs.unwrap_or_else(|| object([("result", Some(result))])));
        let name = name.unwrap_or(turn.name);
        self.add(SessionTurn { name, inputs: arguments, outputs, is_tool: true, calls: Vec::new(), ..turn });
    }

    /// Adds a text of a person: the first one is the question, a later one is a turn.
    pub(super) fn add_person(&mut self, text: Plain, started: Option<String>) {
        if text.said().is_none() {
            return;
        }
        if self.asked.is_none() {
            self.asked = Some(text);
            return;
        }
        let outputs = Some(object([("text", Some(text))]));
        self.add(SessionTurn { name: b"user".to_vec(), outputs, started, ..SessionTurn::default() });
    }

    /// Writes it as a run on one line.
    pub(super) fn line(&self, source: &str) -> Vec<u8> {
        let of_state = || {
            let state = self.state.as_ref()?;
            ANSWER.iter().find_map(|key| state.get(key)).map(Plain::as_text)
        };
        let last_said = || self.turns.iter().rev().find_map(|turn| turn.said.as_ref()?.said().map(<[u8]>::to_vec));
        let failure = self.turns.last().and_then(|turn| turn.error.clone());
        let said = of_state().or_else(last_said).filter(|_| failure.is_none());
        let model = self.turns.iter().rev().find_map(|turn| turn.model.clone());
        let steps = self.turns.iter().enumerate().map(|(at, turn)| turn.step(at));
        let steps: Vec<Plain> = steps.collect();
        let mut line = Style { letters: Letters::Canonical, ..Style::ASCII }.object(|out| {
            out.maybe("id", self.id.as_ref()).maybe("question", self.asked.as_ref());
            out.text("status", if failure.is_some() { "error" } else { "ok" }).maybe("error", failure.as_ref());
            if let Some(said) = &said {
                out.text("pred_answer", said);
            }
            out.maybe("model", model.as_ref()).maybe("stop_reason", self.stop.as_ref());
            out.maybe("state", self.state.as_ref());
            out.object("trace", |trace| {
                trace.text("format", "stepscope.run_trace").key("version").raw("1");
                trace.text("source", source).list("steps", steps);
            });
        });
        line.push(b'\n');
        line
    }
}

impl SessionTurn {
    fn step(&self, at: usize) -> Plain {
        let speaks = matches!(self.name.as_slice(), b"user" | b"system" | b"developer") && self.said.is_none();
        let kind: &[u8] = match (self.is_tool, speaks) {
            (true, _) => b"tool",
            (false, true) => &self.name,
            (false, false) => b"model",
        };
        let [read, wrote] = self.tokens.clone();
        let usage = object([("prompt_tokens", read), ("completion_tokens", wrote)]);
        let usage = Some(usage).filter(|usage| *usage != Plain::Object(Members::new()));
        // A call of a tool is a reply too.
        let raw = self.said.clone().or_else(|| (!self.calls.is_empty()).then(|| Plain::text_of(b"")));
        object([
            ("step_index", Some(Plain::Raw(at.to_string().into_bytes()))),
            ("name", Some(Plain::Text(self.name.clone()))),
            ("raw", raw.filter(|_| !self.is_tool)),
            ("tool_calls", (!self.calls.is_empty()).then(|| Plain::List(self.calls.clone()))),
            ("reasoning", self.thoughts.clone()),
            ("model", self.model.clone()),
            ("usage", usage),
            ("inputs", self.inputs.clone()),
            ("outputs", self.outputs.clone()),
            ("error", self.error.clone()),
            ("span_kind", Some(Plain::text_of(kind))),
            ("started_utc", self.started.as_ref().map(|started| Plain::text_of(started.as_bytes()))),
        ])
    }
}

/// Reads the sessions of a file. `take`: adds a value to the session that it belongs to; `false`: to none.
pub(super) fn sessions(
    values: &Values,
    (source, name): (&str, &str),
    mut take: impl FnMut(Value<'_>, &mut Vec<AgentSession>) -> bool,
) -> Result<GatheredLines, Failure> {
    const LONG: &str = "its sessions are longer than 64 MB together; write them to several files";
    let (mut all, mut others, mut size) = (Vec::new(), Vec::new(), 0);
    values.each(&mut |root, text| {
        size += text.len();
        if size > MAX_TEXT {
            return Err(Failure::own("cannot read", values.name(), LONG));
        }
        if !root.is_some_and(|root| take(root, &mut all)) {
            others.push(text.to_vec());
        }
        Ok(())
    })?;
    let mut lines = Shelf::new(values.name())?;
    for session in &all {
        lines.put(&session.line(source))?;
    }
    for other in others {
        lines.put_line(&other)?;
    }
    let left_out: usize = all.iter().map(|session| session.left_out).sum();
    let mut note = shown!("read as {name}");
    if left_out > 0 {
        note = shown!("{note}; {left_out} turns left out, as a run has at most {MAX_CALLS} steps");
    }
    let untold: usize = all.iter().map(|session| session.untold).sum();
    if untold > 0 {
        let what = if untold == 1 { shown!("1 line is no turn") } else { shown!("{untold} lines are no turns") };
        note = shown!("{note}; {what} and left out");
    }
    Ok(GatheredLines { lines: lines.into_lines()?, note })
}
