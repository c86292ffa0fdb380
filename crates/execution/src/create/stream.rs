//! The steps of a procedure that is still coming: each is read when it is whole, and so is what the validator finds by
//! then. What only the end can tell, an unused output or a missing answer, waits for it.

use std::ops::Range;

use crate::repair::diagnostics;
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::procedure::Procedure;
use stepscope_record::rule_id::RuleId;

/// Longer procedures are not read before they are whole.
const MAX_STEPS: usize = 100;

/// A step of which every letter has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WholeStep {
    /// The step, by position.
    pub position: usize,
    /// Text of the step, on one line.
    pub text: Shown,
    /// Names of its inputs.
    pub reads: Vec<Shown>,
    /// Names of its outputs.
    pub writes: Vec<Shown>,
    /// Findings of the validator at it, given the steps before.
    pub findings: Vec<Shown>,
}

/// The text of a reply, as it comes.
#[derive(Clone, Default, Debug)]
pub struct PlanStream {
    text: Vec<u8>,
    /// Place up to which it was gone through.
    at: usize,
    /// Opening brackets that wait for their closing ones.
    open: Vec<(u8, usize)>,
    in_string: bool,
    is_escaped: bool,
    steps: Vec<Range<usize>>,
    /// Findings that were told.
    told: Vec<Shown>,
}

impl PlanStream {
    /// Takes a piece of the reply, and returns the steps that are whole with it.
    pub fn hear(&mut self, piece: &[u8]) -> Vec<WholeStep> {
        self.text.extend_from_slice(piece);
        let before = self.steps.len();
        while let Some(&byte) = self.text.get(self.at) {
            self.letter(byte);
            self.at += 1;
        }
        (before..self.steps.len()).filter_map(|position| self.whole(position)).collect()
    }

    fn letter(&mut self, byte: u8) {
        let was_escaped = std::mem::take(&mut self.is_escaped);
        match byte {
            b'"' if !was_escaped && !self.open.is_empty() => self.in_string = !self.in_string,
            b'\\' if self.in_string => self.is_escaped = !was_escaped,
            b'{' | b'[' if !self.in_string => self.open.push((byte, self.at)),
            b'}' | b']' if !self.in_string => {
                // A step is an object in a list in the object that is the reply.
                let closed = self.open.pop();
                let is_step = matches!(self.open.as_slice(), [(b'{', _), (b'[', _)]);
                if let Some((b'{', start)) = closed.filter(|_| is_step && self.steps.len() < MAX_STEPS) {
                    self.steps.push(start..self.at + 1);
                }
            }
            _ => {}
        }
    }

    /// Reads a step among those before it; `None`: it is none.
    fn whole(&mut self, position: usize) -> Option<WholeStep> {
        let texts = self.steps.get(..=position)?.iter().filter_map(|range| self.text.get(range.clone()));
        let texts: Vec<&[u8]> = texts.collect();
        let text = [b"{\"NameDescription\":\"\",\"steps\":[", texts.join(&b","[..]).as_slice(), b"]}"].concat();
        let mut tape = Tape::default();
        let procedure = Procedure::read(tape.parse(&text)?);
        let step = procedure.steps.last()?;
        let waits = |rule: RuleId| matches!(rule, RuleId::FinalStepOutput | RuleId::Unused);
        let found = diagnostics(&text);
        let found = found.iter().filter(|finding| !waits(finding.rule)).map(|finding| finding.message.line());
        let findings: Vec<Shown> = found.filter(|finding| !self.told.contains(finding)).collect();
        self.told.extend(findings.iter().cloned());
        let names = |names: Vec<_>| names.into_iter().map(|name: Untrusted<'_>| name.line());
        Some(WholeStep {
            position,
            text: step.text.and_then(Value::string).map_or(Shown::own("(no text)"), |text| text.line()),
            reads: names(step.input_names().collect()).collect(),
            writes: names(step.output_names().collect()).collect(),
            findings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_they_come() {
        let plan = r#"Here: {"NameDescription": "[{", "steps": [
            {"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Say \"}\"", "output": [{"name": "a", "description": "d"}]},
            {"id": 2, "inputs": [{"name": "b", "description": "d"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "d"}]}]}"#;
        for size in [1, 3, 50, 5000] {
            let mut stream = PlanStream::default();
            let told: Vec<_> = plan.as_bytes().chunks(size).flat_map(|piece| stream.hear(piece)).collect();
            let texts: Vec<_> = told.iter().map(|step| (step.position, step.text.as_str())).collect();
            assert_eq!(texts, [(0, "Say \"}\""), (1, "Add")]);
            assert_eq!((told[0].findings.len(), told[1].reads[0].as_str()), (0, "b"));
            let found = "Input 'b' of Step 2 is not produced by any prior step.";
            assert!(told[1].findings.iter().map(Shown::as_str).eq([found]), "{:?}", told[1].findings);
        }
        let mut stream = PlanStream::default();
        assert!(stream.hear(b"<think>{\"a\": [{\"b\": 1").is_empty());
        assert!(stream.hear("\"}]}, [[[".repeat(100).as_bytes()).is_empty());
    }
}
