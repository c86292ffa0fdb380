//! What proves a run right or wrong, ready for the screen: computed next to recorded values with their derivation, and
//! the quantities of the question with the variables that hold them.

use std::collections::HashMap;
use std::ops::Range;

use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, ShownMap, Untrusted};
use stepscope_core::arithmetic::amounts;
use stepscope_core::arithmetic::number::{Number, Written};
use stepscope_core::arithmetic::quantity::{Quantities, near};
use stepscope_core::arithmetic::recompute::{Recomputed, ValueBasis};
use stepscope_core::case::CaseView;
use stepscope_core::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL};
use stepscope_core::record::Record;
use stepscope_core::run::state::State;

/// Quantities of longer questions are not marked.
const MAX_QUESTION: usize = 64 << 10;

/// See the module.
#[derive(Debug, Default)]
pub struct ComputedValues {
    /// The question, each quantity followed by its number.
    pub question: Option<Shown>,
    /// Positions of the quantities in the question.
    pub marks: Vec<QuantityMark>,
    /// Numbers of the quantities that each variable took up.
    pub taken: Vec<Vec<usize>>,
    values: HashMap<(usize, usize), Computed>,
}

/// A quantity in the question.
#[derive(Debug, Clone)]
pub struct QuantityMark {
    /// Bytes of the quantity in the shown question, without its number.
    pub range: Range<usize>,
    /// The variables that took it up.
    pub variables: Vec<usize>,
    /// True if it is certainly a quantity.
    pub sure: bool,
    /// Value of the quantity.
    pub value: f64,
    /// Value of the quantity, and what sort of number it is.
    pub meaning: Shown,
}

/// Relation of a recorded value to the recomputed one, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToRecomputed {
    /// It is the same number.
    Same,
    /// It is no number.
    NotComparable,
    /// It is another number, or a calculation that was not carried out.
    Differs,
}

/// Value that a step should have written.
#[derive(Debug, Clone)]
pub struct Computed {
    /// The value.
    pub value: Shown,
    number: Number,
    /// Value with its derivation, on one line.
    pub line: Shown,
    /// Relation of the recorded value to it.
    pub relation: ToRecomputed,
    /// The recorded value is a calculation that was not carried out.
    pub unevaluated: bool,
}

impl Computed {
    /// Tells whether a value of a reply, as a JSON text, says it: of the answer as the recorded text does, with words
    /// around the number.
    pub(crate) fn is_said_by(&self, variable: &Shown, json: &[u8]) -> bool {
        let mut tape = Tape::default();
        let Some(value) = tape.parse(json) else { return false };
        let text = match value.string() {
            None => Some(Untrusted::new(value.raw())),
            Some(text) => Some(text).filter(|_| variable.as_str() == FINAL_ANSWER),
        };
        let text = text.as_ref().and_then(Untrusted::utf8);
        text.is_some_and(|text| amounts(text).iter().any(|written| written.stands_for(self.number)))
    }
}

impl ComputedValues {
    /// Gathers the values that can be worked out from the record alone.
    pub fn of(case: &CaseView<'_>) -> Self {
        let (Some(record), Some(executed)) = (&case.record, case.executed()) else { return Self::default() };
        let quantities = Quantities::of(case.quantity_links(), record, case.state(), case.procedure());
        let mut found = Self { values: computed(record, executed, case.state()), ..Self::default() };
        found.mark(record.question.and_then(Value::string).unwrap_or_default().bytes(), &quantities);
        found.taken = quantities.by_variable;
        found
    }

    /// Looks up the value that a step should have written into a variable.
    pub fn value_of(&self, variable: usize, step: Option<usize>) -> Option<&Computed> {
        self.values.get(&(variable, step?))
    }

    /// The first quantity of the question with this value.
    pub(crate) fn quantity_of(&self, value: f64) -> Option<usize> {
        self.marks.iter().position(|mark| near(mark.value, value))
    }

    /// The words of the question that are its quantity of this number, from 0.
    pub fn words(&self, quantity: usize) -> Option<&str> {
        self.question.as_ref()?.as_str().get(self.marks.get(quantity)?.range.clone())
    }

    fn mark(&mut self, question: &[u8], quantities: &Quantities) {
        if quantities.items.is_empty() || question.len() > MAX_QUESTION {
            return;
        }
        let map = ShownMap::prose(question);
        let text = map.text.as_str();
        let (mut out, mut done) = (String::with_capacity(text.len() + 8 * quantities.items.len()), 0);
        for (n, quantity) in quantities.items.iter().enumerate() {
            let range = map.range(quantity.span.clone());
            let Some(before) = text.get(done..range.start) else { continue };
            out.push_str(before);
            let start = out.len();
            out.push_str(text.get(range.clone()).unwrap_or_default());
            self.marks.push(QuantityMark {
                range: start..out.len(),
                variables: quantity.variables.clone(),
                sure: quantity.sure,
                value: quantity.float(),
                meaning: shown!("{}, {}", quantity.value, quantity.kind.word()),
            });
            if !quantity.variables.is_empty() {
                out.push_str(&superscript(n + 1));
            }
            done = range.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        self.question = Some(shown!("{out}"));
    }
}

fn computed(record: &Record<'_>, recomputed: &Recomputed, state: &State<'_>) -> HashMap<(usize, usize), Computed> {
    let mut found = HashMap::new();
    let is_text = record.answer.and_then(|answer| answer.get(FINAL_ANSWER)).is_some_and(|text| text.string().is_some());
    // Text and number of the answer are one value of the recomputation, but each is what it says itself.
    let [text, number] = [FINAL_ANSWER, FINAL_ANSWER_NUMERICAL].map(|name| state.variable(&Untrusted::from(name)));
    for (n, write) in recomputed.writes.iter().enumerate().filter(|(_, write)| write.basis == ValueBasis::Plan) {
        let Some(value) = write.value else { continue };
        let line = recomputed.derivation(state, n).map(|derivation| derivation.line()).unwrap_or_default();
        let is_waiting = write.unevaluated.is_some();
        let of = |recorded: &[Written]| Computed {
            value: shown!("{}", value.shown()),
            number: value,
            line: shown!("{line}"),
            relation: match recorded {
                recorded if recorded.iter().any(|recorded| recorded.stands_for(value)) => ToRecomputed::Same,
                [] if !is_waiting => ToRecomputed::NotComparable,
                _ => ToRecomputed::Differs,
            },
            unevaluated: is_waiting,
        };
        let recorded = write.recorded.as_slice();
        let number = number.filter(|_| text == Some(write.variable));
        found.extend(number.map(|number| ((number, write.step), of(recorded))));
        let own = if number.is_some() && is_text { recomputed.answer.text.as_slice() } else { recorded };
        found.insert((write.variable, write.step), of(own));
    }
    found
}

/// A number as small raised digits.
pub(crate) fn superscript(n: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).and_then(|digit| DIGITS.get(digit as usize)).copied();
    n.to_string().chars().filter_map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_core::case::Case;

    #[test]
    fn quantities_are_numbered_and_values_derived() {
        let text = r#"{"id": 1, "question": "Ann has 3 apples and buys twice as many\u001b. How many?", "gold_num": 9.0, "status": "ok",
            "mode": "procedural", "procedure": {"NameDescription": "n", "steps": [
            {"id": 1, "inputs": [{"name": "problem_text", "description": "t"}], "stepDescription": "Extract the numbers", "output": [{"name": "apples", "description": "apples"}, {"name": "factor", "description": "times"}]},
            {"id": 2, "inputs": [{"name": "apples", "description": "a"}, {"name": "factor", "description": "f"}], "stepDescription": "Compute bought = apples * factor", "output": [{"name": "bought", "description": "b"}]},
            {"id": 3, "inputs": [{"name": "apples", "description": "a"}, {"name": "bought", "description": "b"}], "stepDescription": "Compute final_answer = apples + bought", "output": [{"name": "final_answer", "description": "f"}]}]},
            "state": {"problem_text": "", "apples": 3, "factor": 2, "bought": "apples * factor", "final_answer": "7", "final_answer_numerical": 7}, "pred_num": 7, "correct": false}"#;
        let case = Case::read(text.as_bytes());
        let case = case.view();
        let found = ComputedValues::of(&case);
        let question = found.question.unwrap();
        assert!(question.as_str().starts_with("Ann has 3¹ apples and buys twice² as many␛."), "{question}");
        assert_eq!(&question.as_str()[found.marks[1].range.clone()], "twice");
        let bought = case.state().variable(&"bought".into()).unwrap();
        let computed = &found.values[&(bought, 1)];
        assert_eq!(
            (computed.value.as_str(), computed.unevaluated, computed.relation),
            ("6", true, ToRecomputed::Differs)
        );
    }
}
