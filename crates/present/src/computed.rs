//! Proof that a run is right or wrong, ready for the screen: computed next to recorded values with their derivation, and
//! the quantities of the question with the variables that hold them.

use std::collections::HashMap;
use std::ops::Range;

use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::quantity::near;
use stepscope_arithmetic::stated::read;
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, ShownMap, Untrusted};
use stepscope_judge::case::CaseView;
use stepscope_judge::quantity_links::Quantities;
use stepscope_judge::recompute::Recomputed;
use stepscope_judge::recompute::standing::{Standing, Standings, ToRecomputed};
use stepscope_record::Record;
use stepscope_record::procedure::FINAL_ANSWER;
use stepscope_record::state::State;

/// Quantities of longer questions are not marked.
const MAX_QUESTION: usize = 64 << 10;
/// Words behind a quantity among which its thing is named, and letters from which on a word names one.
const WORDS_BEHIND: usize = 4;
const LONG_WORD: usize = 4;

/// See the module.
#[derive(Debug, Default)]
pub struct ComputedValues {
    /// The question, each quantity followed by its number.
    pub question: Option<Shown>,
    /// Positions of the quantities in the question.
    pub marks: Vec<QuantityMark>,
    /// Numbers of the quantities that each variable took up.
    pub taken: Vec<Vec<usize>>,
    values: HashMap<(usize, usize), RecomputedValue>,
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

/// Value that a step should have written.
#[derive(Debug, Clone)]
pub struct RecomputedValue {
    /// The value.
    pub value: Shown,
    /// Value with its derivation, on one line.
    pub line: Shown,
    /// Standing of the recorded value beside it.
    pub standing: Standing,
    /// The recorded value is a calculation that gives the value: it was only not carried out.
    pub only_unevaluated: bool,
}

impl RecomputedValue {
    /// Tells whether a value of a reply, as a JSON text, says it: of the answer as the recorded text does, with words
    /// around the number.
    pub fn is_said_by(&self, variable: &Shown, json: &[u8]) -> bool {
        let mut tape = Tape::default();
        let Some(value) = tape.parse(json) else { return false };
        let text = match value.string() {
            None => Some(Untrusted::new(value.raw())),
            Some(text) => Some(text).filter(|_| variable.as_str() == FINAL_ANSWER),
        };
        let text = text.as_ref().and_then(Untrusted::utf8);
        text.and_then(read).is_some_and(|said| said.may_be(self.standing.value))
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

    /// Forgets what steps should have written: it tells where to fix the run.
    pub(crate) fn forget_values(&mut self) {
        self.values.clear();
    }

    /// Looks up the value that a step should have written into a variable.
    pub fn value_of(&self, variable: usize, step: Option<usize>) -> Option<&RecomputedValue> {
        self.values.get(&(variable, step?))
    }

    /// Tells whether a value that a step wrote was recomputed, and none of them differs.
    pub(crate) fn confirms(&self, step: usize) -> bool {
        let own = self.values.iter().filter(|((_, at), _)| *at == step);
        ToRecomputed::agree(own.map(|(_, computed)| computed.standing.relation))
    }

    /// Returns the quantity of the question that a number in the calculation of a variable is: one that the variable
    /// took up, else the only one, or the only one that no variable took up, if the step repeats its words. Where
    /// something is divided by the number, that part of one is the same. `None`: nothing says where it comes from.
    pub fn source_of(&self, variable: usize, number: (Number, bool), step: &Shown) -> Option<usize> {
        let (value, divides) = (number.0.float(), number.1);
        let is_value = |mark: &QuantityMark| near(mark.value, value) || divides && near(mark.value * value, 1.0);
        let only = |fits: &dyn Fn(&QuantityMark) -> bool| {
            let mut found = self.marks.iter().enumerate().filter(|(_, mark)| is_value(mark) && fits(mark));
            found.next().filter(|_| found.next().is_none()).map(|(n, _)| n)
        };
        let is_named = |quantity: &usize| self.is_named_in(*quantity, step);
        only(&|mark| mark.variables.contains(&variable))
            .or_else(|| only(&|_| true).filter(is_named))
            .or_else(|| only(&|mark| mark.variables.is_empty()).filter(is_named))
    }

    /// Tells whether a text has a quantity's own words, or the first longer word behind it.
    fn is_named_in(&self, quantity: usize, text: &Shown) -> bool {
        let behind = || {
            let end = self.marks.get(quantity)?.range.end;
            let rest = self.question.as_ref()?.as_str().get(end..)?;
            let words = rest.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
            words.take(WORDS_BEHIND).find(|word| word.len() >= LONG_WORD)
        };
        let own = self.words(quantity).filter(|words| words.chars().all(char::is_alphabetic));
        let text = text.as_str().to_lowercase();
        own.into_iter().chain(behind()).any(|word| text.contains(&word.to_lowercase()))
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
        out.push_str(&text[done..]);
        self.question = Some(shown!("{out}"));
    }
}

fn computed(
    record: &Record<'_>,
    recomputed: &Recomputed,
    state: &State<'_>,
) -> HashMap<(usize, usize), RecomputedValue> {
    let standings = Standings::of(record, recomputed, state);
    let of = |(place, standing): (&(usize, usize), &Standing)| {
        let derivation = recomputed.derivation(state, standing.write);
        let line = derivation.map(|derivation| shown!("{}", derivation.line())).unwrap_or_default();
        let given = recomputed.writes.get(standing.write).and_then(|write| write.unevaluated_value);
        let only_unevaluated = standing.unevaluated && given == Some(standing.value);
        (
            *place,
            RecomputedValue {
                value: shown!("{}", standing.value.shown()),
                line,
                standing: *standing,
                only_unevaluated,
            },
        )
    };
    standings.all().map(of).collect()
}

/// A number as small raised digits.
pub fn superscript(n: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).and_then(|digit| DIGITS.get(digit as usize)).copied();
    n.to_string().chars().filter_map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_judge::case::Case;

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
            (computed.value.as_str(), computed.standing.unevaluated, computed.standing.relation),
            ("6", true, ToRecomputed::Differs)
        );
    }
}
