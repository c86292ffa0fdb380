//! A conversation as people read it: who said what, which tools were called and what came of it. The calls of a run repeat
//! what was said before them: each message stands here once, with the step that it was first sent or written in.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::said::{SaidText, ToolCall, ToolResult};
use super::{is_of_model, listed_in, messages};
use crate::Record;
use crate::cost::{StepCost, duration};
use crate::state::State;
use crate::trace::TraceStep;
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, head};

/// Bytes of prompts that are laid out of a run, and messages of it.
const MAX_READ: usize = 8 << 20;
const MAX_MESSAGES: usize = 5_000;
/// Kinds of steps that are turns of a session.
const TURNS: [&str; 5] = ["model", "tool", "user", "system", "developer"];
/// Conversations that a call may continue, the latest ones: of thousands of samples each would be compared with each.
const MAX_OPEN: usize = 64;
/// Items that a reply is handed back as.
const MAX_ITEMS: usize = 32;
/// Bytes of a message that are laid out.
const MAX_MESSAGE: usize = 1 << 18;

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Role of its writer, as the record says.
    pub role: Shown,
    /// True if a model wrote it.
    pub by_model: bool,
    /// Text without thoughts and calls.
    pub text: Shown,
    /// Thoughts of the model before it.
    pub thoughts: Option<Shown>,
    /// The calls of tools, each with what it gave, where that is known: `add(a=2, b=2) → 4`.
    pub tools: Vec<Shown>,
    /// The step in whose call it first stands, by position, and whether it is the reply of that call.
    pub step: usize,
    /// True if it is the reply of that step's call.
    pub is_reply: bool,
    /// True if it begins a conversation that is not the one before it.
    pub begins: bool,
    /// Model, time and tokens of the call that it is the reply of, as far as they are known.
    pub facts: Shown,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

impl Message {
    /// Returns all of it but the thoughts: the text, and a line for each call of a tool.
    pub fn whole(&self) -> Shown {
        let text = Some(&self.text).filter(|text| !text.as_str().is_empty());
        let lines: Vec<&str> = text.into_iter().chain(&self.tools).map(Shown::as_str).collect();
        shown!("{}", lines.join("\n"))
    }
}

/// The messages of a record, in the order in which they were said.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The messages; a result of a tool stands with its call.
    pub messages: Vec<Message>,
    /// Steps whose calls were too much to lay out.
    pub left_out: usize,
}

/// A message with where it stands.
struct Utterance {
    /// Content; of a reply that its program hands back as several items, each of them.
    parts: Vec<SaidText>,
    alike: u64,
    step: usize,
    is_reply: bool,
    begins: bool,
    facts: Shown,
    pointer: Pointer,
}

/// Messages as they are collected.
#[derive(Default)]
struct Talks {
    all: Vec<Utterance>,
    /// The conversations, each as the numbers of its messages.
    talks: Vec<Vec<usize>>,
}

impl Conversation {
    /// Reads a list of messages; empty: the value is none.
    pub(super) fn of_list(value: Value<'_>) -> Self {
        let mut talks = Talks::default();
        talks.add(listed(value, &Pointer::default()), None, 0);
        talks.finish(0)
    }

    /// Reads the conversation of a record: of a call its prompt and its reply, of a run all that its calls were asked and
    /// replied. Empty: there is no list of messages in it.
    pub fn of(record: Option<&Record<'_>>, state: &State<'_>) -> Self {
        let Some(record) = record else { return Self::default() };
        let mut talks = Talks::default();
        if state.step_count() == 0 {
            let Some(prompt) = record.question else { return Self::default() };
            let mut asked = prompt_of(prompt, &Pointer::from_iter(["prompt"]));
            if asked.is_empty() {
                return Self::default();
            }
            if let Some(system) = record.root.get("system").filter(|system| system.kind() == Kind::String) {
                asked.insert(0, Utterance::new(SaidText::by("system", system), Pointer::from_iter(["system"])));
            }
            let reply = Utterance::of_reply(record.root, record.raw, reply_of(record.root));
            talks.add(asked, reply, 0);
            return talks.finish(0);
        }
        let mut prompts = Prompts::of(record);
        let (mut read, mut left_out, mut has_list) = (0, 0, false);
        for step in 0..state.step_count() {
            let Some(call) = state.call(step) else { continue };
            read += call.get("prompt").map_or(0, |prompt| prompt.raw().len());
            if read > MAX_READ || talks.all.len() > MAX_MESSAGES {
                left_out += 1;
                continue;
            }
            let asked = prompts.asked(call.value, &call.pointer());
            has_list |= !asked.is_empty();
            let reply = Utterance::of_reply(call.value, call.get("raw"), call.pointer().then("raw"));
            if !asked.is_empty() {
                talks.add(asked, reply, step);
            }
        }
        if has_list { talks.finish(left_out) } else { Self::of_session(record, state) }
    }

    /// Reads a session of which each turn is a step, and no prompt is known: one conversation.
    fn of_session(record: &Record<'_>, state: &State<'_>) -> Self {
        let calls: Vec<TraceStep<'_>> = (0..state.step_count()).map_while(|step| state.call(step).copied()).collect();
        let is_turn = |call: &TraceStep<'_>| {
            let kind = call.get("span_kind");
            TURNS.iter().any(|turn| kind.is_some_and(|kind| kind.is_string(turn))) && call.get("prompt").is_none()
        };
        if !record.is_gathered
            || calls.len() < state.step_count()
            || calls.len() > MAX_MESSAGES
            || !calls.iter().all(is_turn)
        {
            return Self::default();
        }
        let mut said: Vec<Utterance> = Vec::new();
        for (step, call) in calls.iter().enumerate() {
            let Some(turn) = SaidText::of_turn(call.value) else { continue };
            let is_reply = call.get("span_kind").is_some_and(|kind| kind.is_string("model"));
            let facts = if is_reply { facts(call.value) } else { Shown::default() };
            said.push(Utterance { step, is_reply, facts, ..Utterance::new(turn, call.pointer()) });
        }
        // What was asked first stands behind what the program says to the model.
        if let Some(question) = record.question.filter(|question| question.kind() == Kind::String) {
            let at = said.iter().take_while(|said| said.parts.iter().all(|part| part.role == b"system")).count();
            let asked = Utterance::new(SaidText::by("user", question), Pointer::from_iter(["question"]));
            said.insert(at, asked);
        }
        let mut talks = Talks::default();
        talks.talks.push((0..said.len()).collect());
        talks.all = said;
        talks.finish(0)
    }

    /// Lists what a step added: what was asked anew, and the reply.
    pub fn of_step(&self, step: usize) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(move |message| message.step == step)
    }

    /// Says on one line what a model did in a step: the tools that it called, else what it wrote.
    pub fn did(&self, step: usize) -> Option<Shown> {
        let reply = self.of_step(step).find(|message| message.is_reply)?;
        let tools = Shown::listed(reply.tools.iter().cloned(), usize::MAX);
        let words = if reply.tools.is_empty() { Shown::line(reply.text.as_str().as_bytes()) } else { tools };
        Some(words).filter(|words| !words.as_str().is_empty())
    }

    /// Tells whether it is more than a question and a reply.
    pub fn is_long(&self) -> bool {
        let said = |message: &&Message| message.role.as_str() != "system" && message.role.as_str() != "developer";
        self.messages.iter().filter(said).nth(2).is_some()
            || self.messages.iter().any(|message| !message.tools.is_empty() || message.begins)
    }
}

/// Returns the place of the reply of a single call.
fn reply_of(call: Value<'_>) -> Pointer {
    let key = ["response", "raw", "completion", "reply"].into_iter().find(|key| call.get(key).is_some());
    key.map_or_else(Pointer::default, |key| Pointer::from_iter([key]))
}

/// Reads a prompt: a list of messages, or a text that holds one; empty: it is another.
fn prompt_of(prompt: Value<'_>, pointer: &Pointer) -> Vec<Utterance> {
    let Some(list) = listed_in(prompt, |list| listed(list, pointer)) else { return Vec::new() };
    if prompt.kind() != Kind::String {
        return list;
    }
    // The record has no place inside of a text.
    list.into_iter().map(|utterance| Utterance { pointer: pointer.clone(), ..utterance }).collect()
}

/// Reads a list of messages, each at its place below `pointer`.
fn listed(value: Value<'_>, pointer: &Pointer) -> Vec<Utterance> {
    let all = messages(value).into_iter().enumerate();
    all.map(|(n, message)| Utterance::new(SaidText::of(message), pointer.clone().then(n))).collect()
}

impl Utterance {
    fn new(said: SaidText, pointer: Pointer) -> Self {
        Self {
            alike: alike(&said),
            parts: vec![said],
            step: 0,
            is_reply: false,
            begins: false,
            facts: Shown::default(),
            pointer,
        }
    }

    fn of_reply(call: Value<'_>, reply: Option<Value<'_>>, pointer: Pointer) -> Option<Self> {
        let utterance = Self::new(SaidText::of_reply(call, reply)?, pointer);
        Some(Self { is_reply: true, facts: facts(call), ..utterance })
    }

    fn is_unnamed_result(&self) -> bool {
        self.parts.iter().any(|said| said.results.iter().any(ToolResult::is_unnamed))
    }

    /// Counts the items at the beginning of a later prompt that are this message; 0: it is not there. Programs hand a
    /// reply back without its thoughts, without the text next to a call of a tool, or as several items.
    fn found_in(&self, later: &[Self]) -> usize {
        let Some(first) = later.first() else { return 0 };
        if self.alike == first.alike {
            return 1;
        }
        let is_by_model = |utterance: &&Self| utterance.parts.first().is_some_and(|said| is_of_model(&said.role));
        let items = later.iter().take(MAX_ITEMS).take_while(is_by_model).count();
        let own = SaidText::joined(&self.parts);
        let is_whole = |count: &usize| {
            let parts = later.iter().take(*count).flat_map(|utterance| &utterance.parts);
            is_handed_back(&own, &SaidText::joined(parts))
        };
        // The fewest items that hold all of it, and what came with them.
        if self.is_reply { (1..=items).find(is_whole).unwrap_or(0) } else { 0 }
    }

    /// Takes the roles and items that a program gave a reply: it has none of its own.
    fn take_form(&mut self, later: impl Iterator<Item = Self>) {
        let mut parts: Vec<SaidText> = later.flat_map(|utterance| utterance.parts).collect();
        match (self.is_reply, parts.as_mut_slice(), self.parts.as_mut_slice()) {
            (true, [one], [said]) => said.role.clone_from(&one.role),
            (true, [_, _, ..], [_]) => self.parts = parts,
            _ => {}
        }
    }
}

/// Tells whether a program that got a reply said this of it later.
fn is_handed_back(reply: &SaidText, later: &SaidText) -> bool {
    let calls =
        |said: &SaidText| said.calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect::<Vec<_>>();
    let (said, text) = (reply.text.trim_ascii(), later.text.trim_ascii());
    let has_text = !text.is_empty() && memchr::memmem::find(said, text).is_some();
    let has_calls = !reply.calls.is_empty();
    calls(reply) == calls(later) && (has_text || has_calls && text.is_empty())
}

/// Lists what is known of a call beside what was said: model, time, tokens.
fn facts(call: Value<'_>) -> Shown {
    let model = call.get("model").and_then(Value::string).map(|model| model.line());
    let cost = StepCost::of(call);
    let took = cost.took.map(duration);
    let tokens =
        Some(cost.tokens()).filter(|tokens| !tokens.as_str().is_empty()).map(|tokens| shown!("{tokens} tokens"));
    Shown::listed([model, took, tokens].into_iter().flatten(), usize::MAX)
}

/// Hashes what makes two messages the same one, however their programs spell it.
fn alike(said: &SaidText) -> u64 {
    let calls: Vec<_> = said.calls.iter().map(|call| (&call.name, &call.arguments)).collect();
    let results: Vec<_> = said.results.iter().map(|result| &result.text).collect();
    let role = if is_of_model(&said.role) { b"assistant".as_slice() } else { said.role.as_slice() };
    FixedState::default().hash_one((role, said.text.trim_ascii(), calls, results))
}

/// The prompts of a run's calls. A call may name an earlier one, of which it had the first messages too.
struct Prompts<'a> {
    /// The recorded calls by their numbers.
    by_number: HashMap<usize, Value<'a>>,
}

impl<'a> Prompts<'a> {
    fn of(record: &Record<'a>) -> Self {
        let of_trace = |key| record.root.get("trace").and_then(|trace| trace.get(key));
        let lists = [record.trace_steps, of_trace("creation"), of_trace("making")];
        let calls = lists.into_iter().flatten().flat_map(Value::items);
        Self { by_number: calls.filter_map(|call| Some((call.get("call")?.whole()?, call))).collect() }
    }

    /// Reads all that a call was asked.
    fn asked(&mut self, call: Value<'a>, pointer: &Pointer) -> Vec<Utterance> {
        let mut chain = vec![(call, None)];
        // Each names an earlier one, so that it ends.
        while let Some((call, _)) = chain.last()
            && let Some((number, count)) = earlier(*call)
            && let Some(before) = self.by_number.get(&number)
        {
            chain.push((*before, Some(count)));
        }
        let mut asked: Vec<Utterance> = Vec::new();
        for (n, (call, _)) in chain.iter().enumerate().rev() {
            let place = if n == 0 { pointer.clone().then("prompt") } else { pointer.clone() };
            asked.extend(call.get("prompt").map_or_else(Vec::new, |prompt| prompt_of(prompt, &place)));
            if let Some((_, Some(count))) = chain.get(n) {
                asked.truncate(*count);
            }
        }
        asked
    }
}

/// Returns the number of the call whose first messages a call had too, and of how many.
fn earlier(call: Value<'_>) -> Option<(usize, usize)> {
    let from = call.get("messages_from")?;
    let (own, number): (usize, usize) = (call.get("call")?.whole()?, from.get("call")?.whole()?);
    Some((number, from.get("count")?.whole()?)).filter(|_| number < own)
}

impl Talks {
    /// Counts the messages of a talk that a call had too, and how many items of its prompt they are.
    fn shared(&self, talk: &[usize], asked: &[Utterance]) -> (usize, usize) {
        let mut items = 0;
        for (n, at) in talk.iter().enumerate() {
            match self.all.get(*at).zip(asked.get(items..)).map_or(0, |(said, rest)| said.found_in(rest)) {
                0 => return (n, items),
                found => items += found,
            }
        }
        (talk.len(), items)
    }

    /// Adds what a call was asked and replied, behind the messages of an earlier call that it goes on with.
    fn add(&mut self, mut asked: Vec<Utterance>, reply: Option<Utterance>, step: usize) {
        let shared = |(n, talk): (usize, &Vec<usize>)| (self.shared(talk, &asked), n);
        let best = self.talks.iter().enumerate().rev().take(MAX_OPEN).map(shared).max();
        let ((common, items), from) = best.filter(|((common, _), _)| *common > 0).unwrap_or(((0, 0), self.talks.len()));
        let before = self.talks.get(from).map_or(&[][..], Vec::as_slice);
        let goes_on = common == before.len();
        let mut talk: Vec<usize> = before.iter().take(common).copied().collect();
        // What comes next does not follow what stands above it.
        let begins = !self.all.is_empty() && talk.last() != self.all.len().checked_sub(1).as_ref();
        let own = asked.split_off(items).into_iter().chain(reply);
        let mut had = asked.into_iter();
        for n in &talk {
            if let Some(said) = self.all.get_mut(*n) {
                let count = said.found_in(had.as_slice());
                said.take_form(had.by_ref().take(count));
            }
        }
        for (n, utterance) in own.enumerate() {
            talk.push(self.all.len());
            self.all.push(Utterance { step, begins: begins && n == 0, ..utterance });
        }
        match self.talks.get_mut(from).filter(|_| goes_on) {
            Some(before) => *before = talk,
            None => self.talks.push(talk),
        }
    }

    /// Joins the results of tools with their calls, and lays out what is left.
    fn finish(mut self, left_out: usize) -> Conversation {
        for talk in std::mem::take(&mut self.talks) {
            for (n, at) in talk.iter().enumerate() {
                let (before, after) = talk.split_at(n);
                let unnamed =
                    after.iter().take_while(|at| self.all.get(**at).is_some_and(Utterance::is_unnamed_result));
                let unnamed = unnamed.count();
                let Some(utterance) = self.all.get_mut(*at) else { continue };
                let results: Vec<Vec<ToolResult>> =
                    utterance.parts.iter_mut().map(|said| std::mem::take(&mut said.results)).collect();
                for (part, results) in results.into_iter().enumerate() {
                    let left = results.into_iter().filter_map(|result| self.join(before, result, unnamed)).collect();
                    if let Some(said) = self.all.get_mut(*at).and_then(|utterance| utterance.parts.get_mut(part)) {
                        said.results = left;
                    }
                }
            }
        }
        let (mut messages, mut begins) = (Vec::new(), false);
        for utterance in self.all {
            begins |= utterance.begins;
            for said in utterance.parts.iter().filter(|said| !said.is_empty()) {
                messages.push(Message::of(said, &utterance, std::mem::take(&mut begins)));
            }
        }
        Conversation { messages, left_out }
    }

    /// Gives a result to its call among earlier messages; else hands it back. Results that name no call are those of the
    /// last message with calls, in their order, where there are as many: `unnamed` counts this one and what follows it.
    fn join(&mut self, before: &[usize], result: ToolResult, unnamed: usize) -> Option<ToolResult> {
        for at in before.iter().rev() {
            let parts = self.all.get_mut(*at).map(|utterance| &mut utterance.parts).into_iter().flatten();
            let mut open: Vec<&mut ToolCall> =
                parts.flat_map(|said| &mut said.calls).filter(|call| call.result.is_none()).collect();
            let are_as_many = open.len() == unnamed;
            let is_its = |call: &&mut ToolCall| match (&result.id, &result.name) {
                (Some(id), _) => call.id.as_ref() == Some(id),
                (None, Some(name)) => {
                    call.name == *name && result.arguments.as_ref().is_none_or(|given| *given == call.arguments)
                }
                (None, None) => are_as_many,
            };
            if let Some(call) = open.iter_mut().find(|call| is_its(call)) {
                call.result = Some(result.text);
                return None;
            }
            if !open.is_empty() && result.is_unnamed() {
                break;
            }
        }
        Some(result)
    }
}

/// Puts the lines of a text behind each other.
fn on_one_line(text: &[u8]) -> Shown {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    Shown::line(&lines.collect::<Vec<_>>().join(&b' '))
}

impl Message {
    fn of(said: &SaidText, utterance: &Utterance, begins: bool) -> Self {
        let text = SaidText { calls: Vec::new(), ..said.clone() }.told();
        let tool = |call: &ToolCall| match &call.result {
            Some(result) => shown!("{} → {}", call.shown(), on_one_line(result)),
            None => call.shown(),
        };
        let prose = |text: &[u8]| Shown::prose(head(text, MAX_MESSAGE));
        Self {
            by_model: utterance.is_reply || is_of_model(&said.role),
            role: Shown::line(&said.role),
            text: prose(&text),
            thoughts: (!said.thoughts.is_empty()).then(|| prose(&said.thoughts)),
            tools: said.calls.iter().map(tool).collect(),
            step: utterance.step,
            is_reply: utterance.is_reply,
            begins,
            facts: utterance.facts.clone(),
            pointer: utterance.pointer.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::read;
    use serde_json::Value as Json;
    use stepscope_base::json::Tape;

    /// Records with what a person reads in them: role, text (null: any), calls of tools; and where something else begins.
    const CONVERSATIONS: &str = include_str!("conversations.jsonl");

    fn conversation(json: &str) -> Conversation {
        let mut tape = Tape::default();
        let record = read(tape.parse(json.as_bytes()).unwrap());
        Conversation::of(Some(&record), &State::of(&record, None))
    }

    #[test]
    fn conversations_of_all_dialects_are_read_as_people_read_them() {
        let path = std::env::var("STEPSCOPE_CONVERSATIONS");
        let text = path.map_or_else(|_| CONVERSATIONS.to_owned(), |path| std::fs::read_to_string(path).unwrap());
        let mut wrong = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let case: Json = serde_json::from_str(line).unwrap();
            let found = conversation(&case["record"].to_string());
            let read: Vec<Json> = found
                .messages
                .iter()
                .map(|message| {
                    let tools: Vec<&str> = message.tools.iter().map(Shown::as_str).collect();
                    serde_json::json!([message.role.as_str(), message.text.as_str(), tools])
                })
                .collect();
            let expected = case["expect"].as_array().unwrap();
            let is_alike = |(read, expected): (&Json, &Json)| {
                read[0] == expected[0] && read[2] == expected[2] && (expected[1].is_null() || read[1] == expected[1])
            };
            let all_alike = read.len() == expected.len() && read.iter().zip(expected).all(is_alike);
            let apart: Vec<usize> = (0..found.messages.len()).filter(|n| found.messages[*n].begins).collect();
            if !all_alike || serde_json::json!(apart) != case["apart"] {
                wrong.push(format!(
                    "line {} {}\nread     {read:?} {apart:?}\nexpected {expected:?} {}",
                    n + 1,
                    case["dialect"],
                    case["apart"]
                ));
            }
        }
        assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn a_session_whose_turns_are_steps_is_one_conversation() {
        let turns = |source: &str| {
            format!(
                r#"{{"id": "s", "question": "How many pages?", "status": "ok", "trace": {{"format": "stepscope.run_trace", {source} "steps": [
                {{"step_index": 0, "name": "system", "outputs": {{"text": "Be short."}}, "span_kind": "system"}},
                {{"step_index": 1, "name": "clerk", "raw": "", "tool_calls": [{{"id": "a", "name": "count", "arguments": {{"f": "a"}}}},
                  {{"id": "b", "name": "count", "arguments": {{"f": "b"}}}}], "span_kind": "model"}},
                {{"step_index": 2, "name": "count", "inputs": {{"f": "b"}}, "outputs": {{"result": "7"}}, "span_kind": "tool"}},
                {{"step_index": 3, "name": "count", "inputs": {{"f": "c"}}, "outputs": {{"result": "5"}}, "span_kind": "tool"}},
                {{"step_index": 4, "name": "user", "outputs": {{"text": "and now?"}}, "span_kind": "user"}},
                {{"step_index": 5, "name": "clerk", "raw": "12.", "span_kind": "model"}}]}}}}"#
            )
        };
        let found = conversation(&turns(r#""source": "autogen","#));
        let lines: Vec<String> =
            found.messages.iter().map(|one| format!("{} {}: {}", one.step + 1, one.role, one.whole())).collect();
        let expected = [
            "1 system: Be short.",
            "1 user: How many pages?",
            "2 clerk: count(f=\"a\")\ncount(f=\"b\") → 7",
            "4 tool: 5",
            "5 user: and now?",
            "6 clerk: 12.",
        ];
        assert_eq!(lines, expected, "a result goes to the call that was given the same");
        assert!(found.messages[2].by_model && found.is_long());
        assert!(conversation(&turns("")).messages.is_empty(), "nobody says that it is a session");
    }
}
