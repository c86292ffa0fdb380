//! A chain of thought: a question and the steps of its solution as texts, or a solution whose lines are the steps.
//!
//! Labelled data sets write them (`ProcessBench`, PARC, BIG-Bench Mistake, MR-GSM8K), and so does whoever keeps what a model
//! answered. The names of the keys differ, what they mean does not.

use crate::format::Format;
use crate::{Record, RecordKind};
use stepscope_base::json::{Kind, Member, Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::typed::{flag, whole};

/// See the module.
pub(crate) const FORMAT: Format = Format {
    id: "chain",
    example: r#"{"question": "2 + 3 + 4?", "steps": ["2 + 3 = 5", "5 + 4 = 9, so the answer is 9"], "answer": "9", "label": -1}"#,
    recognise: |value| may_be(value) && ChainKeys::of(value).is_chain(),
    read,
};

const QUESTION: &[&str] = stepscope_base::list![question problem input query task problem_text];
const STEPS: &[&str] = stepscope_base::list![
    steps model_output_steps output_steps model_steps solution_steps reasoning_steps chain_of_thought cot thoughts
];
const SOLUTION: &[&str] = stepscope_base::list![solution model_solution model_output_solution];
const ANSWER: &[&str] =
    stepscope_base::list![extracted_answer model_answer predicted_answer prediction pred_answer final_answer answer];
const GOLD: &[&str] = stepscope_base::list![
    expected_answer target ground_truth_answer gold_num gold correct_answer reference_answer expected
];
const GOLD_TEXT: &[&str] =
    stepscope_base::list![ground_truth_solution gt_cot gold_answer reference_solution ground_truth];
const CORRECT: &[&str] = stepscope_base::list![
    final_answer_correct is_correct correct verified success model_output_answer_correctness
];
/// Keys that label the step of the first error, from 0.
const LABEL: &[&str] = stepscope_base::list![label mistake_index];
/// The same from 1.
const LABEL_FROM_ONE: &[&str] = stepscope_base::list![first_error_step model_output_solution_first_error_step];
/// Parts that only a chain of thought has, and their positions.
#[derive(Clone, Debug)]
pub struct ChainParts<'a> {
    /// The list of steps, or the text of the solution.
    pub steps: Value<'a>,
    /// Position of the steps, as a JSON pointer.
    pub pointer: Pointer,
    /// Position of the question.
    pub question: Pointer,
    /// Position of the given answer.
    pub answer: Option<Pointer>,
    /// Position of the expected answer.
    pub gold: Option<Pointer>,
    /// Position of the expected solution.
    pub gold_text: Option<Pointer>,
    /// Position of the value that says whether the answer is right.
    pub correct: Option<Pointer>,
    /// The step in which the first error is, as somebody labelled it: nothing is judged by it.
    pub labelled: Option<Labelled>,
}

/// Place where somebody found the first error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Labelled {
    /// Nowhere.
    NoError,
    /// In the step at this position.
    Step(usize),
}

impl Labelled {
    /// The step, by position.
    pub const fn step(self) -> Option<usize> {
        match self {
            Self::NoError => None,
            Self::Step(step) => Some(step),
        }
    }

    /// For people.
    pub fn phrase(self) -> Shown {
        match self {
            Self::NoError => Shown::own("no error"),
            Self::Step(step) => shown!("first error in step {}", step + 1),
        }
    }
}

/// The members that can be parts, each the first of its names.
#[derive(Default)]
struct ChainKeys<'a> {
    question: Option<Member<'a>>,
    steps: Option<Member<'a>>,
    solution: Option<Member<'a>>,
    completion: Option<Member<'a>>,
    answer: Option<(usize, Member<'a>)>,
    gold: Option<(usize, Member<'a>)>,
    gold_text: Option<(usize, Member<'a>)>,
    correct: Option<Member<'a>>,
    label: Option<Labelled>,
}

/// A quick look that leaves nearly every other record in peace.
fn may_be(value: Value<'_>) -> bool {
    let mut has_steps = false;
    for member in value.members() {
        let Some(key) = member.key.plain_string() else { continue };
        match key {
            b"NameDescription" | b"name_description" | b"procedure" | b"state" | b"trace" | b"format" | b"proc"
            | b"items" | b"prompt" => return false,
            b"steps"
            | b"model_output_steps"
            | b"output_steps"
            | b"model_steps"
            | b"solution_steps"
            | b"reasoning_steps"
            | b"chain_of_thought"
            | b"cot"
            | b"thoughts"
            | b"solution"
            | b"model_solution"
            | b"model_output_solution"
            | b"completion" => has_steps = true,
            _ => {}
        }
    }
    has_steps
}

impl<'a> ChainKeys<'a> {
    fn of(value: Value<'a>) -> Self {
        let mut keys = Self::default();
        for member in value.members() {
            let Some(name) = member.key.plain_string() else { continue };
            let place = |names: &[&str]| names.iter().position(|known| known.as_bytes() == name);
            let is_text = member.value.kind() == Kind::String;
            let is_value = !member.value.is_null() && !member.value.is_container();
            // Of several that mean the same, the one that says it best.
            let best = |known: &mut Option<(usize, Member<'a>)>, names: &[&str]| {
                if let Some(rank) = place(names)
                    && known.is_none_or(|(before, _)| rank < before)
                {
                    *known = Some((rank, member));
                }
            };
            if is_value {
                best(&mut keys.answer, ANSWER);
                best(&mut keys.gold, GOLD);
            }
            if is_text {
                best(&mut keys.gold_text, GOLD_TEXT);
            }
            if is_text && keys.question.is_none() && place(QUESTION).is_some() {
                keys.question = Some(member);
            } else if keys.steps.is_none() && place(STEPS).is_some() && is_list_of_texts(member.value) {
                keys.steps = Some(member);
            } else if is_text && place(SOLUTION).is_some() {
                keys.solution = Some(member);
            } else if is_text && name == b"completion" {
                keys.completion = Some(member);
            } else if keys.correct.is_none() && place(CORRECT).is_some() {
                keys.correct = Some(member);
            } else if place(LABEL).is_some() {
                keys.label = label_of_error(member.value, 0);
            } else if place(LABEL_FROM_ONE).is_some() {
                keys.label = label_of_error(member.value, 1);
            }
        }
        // A completion is a chain of thought where somebody expects an answer of it.
        keys.solution = keys.solution.or(keys.completion.filter(|_| keys.gold.is_some()));
        keys
    }

    fn is_chain(&self) -> bool {
        self.question.is_some() && (self.steps.is_some() || self.solution.is_some())
    }
}

fn is_list_of_texts(value: Value<'_>) -> bool {
    let mut items = value.items();
    value.kind() == Kind::Array
        && items.next().is_some_and(|first| first.kind() == Kind::String)
        && items.take(8).all(|item| item.kind() == Kind::String)
}

/// Reads the step that the data set labels as the first wrong one, counted from `first`.
fn label_of_error(value: Value<'_>, first: i64) -> Option<Labelled> {
    match value.kind() {
        Kind::Null => Some(Labelled::NoError),
        Kind::Int | Kind::Float => {
            Some(usize::try_from(whole(value)? - first).map_or(Labelled::NoError, Labelled::Step))
        }
        _ => None,
    }
}

fn read(root: Value<'_>) -> Record<'_> {
    let keys = ChainKeys::of(root);
    let bare = Record::bare(RecordKind::Chain, root);
    let (Some(question), Some(steps)) = (keys.question, keys.steps.or(keys.solution)) else { return bare };
    let pointer =
        |member: Member<'_>| Pointer::default().then(stepscope_base::json::Part::Key(member.name().into_owned()));
    let [answer, gold, gold_text] =
        [keys.answer, keys.gold, keys.gold_text].map(|found| found.map(|(_, member)| member));
    let parts = ChainParts {
        steps: steps.value,
        pointer: pointer(steps),
        question: pointer(question),
        answer: answer.map(pointer),
        gold: gold.map(pointer),
        gold_text: gold_text.map(pointer),
        correct: keys.correct.map(pointer),
        labelled: keys.label,
    };
    Record {
        id: root.get("id").or_else(|| root.get("uuid")),
        question: Some(question.value),
        pred_answer: answer.map(|member| member.value),
        gold_num: gold.map(|member| member.value),
        gold_answer: gold_text.map(|member| member.value),
        correct: value_of(keys.correct),
        chain: Some(Box::new(parts)),
        reward: root.get("reward").filter(|reward| reward.is_number()),
        // The name that labelled data sets have for it goes first.
        model: root.get("generator").or_else(|| root.get("model")),
        ..bare
    }
}

fn value_of(correct: Option<Member<'_>>) -> Option<bool> {
    let value = correct?.value;
    match value.kind() {
        Kind::String => match value.string()?.bytes().to_ascii_lowercase().as_slice() {
            b"correct" | b"true" | b"right" | b"yes" => Some(true),
            b"wrong" | b"incorrect" | b"false" | b"no" => Some(false),
            _ => None,
        },
        _ => flag(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;
    use stepscope_base::json::Tape;

    fn kind(text: &str) -> RecordKind {
        let mut tape = Tape::default();
        formats::read(tape.parse(text.as_bytes()).unwrap()).kind
    }

    fn parts<T>(text: &str, then: impl FnOnce(&Record<'_>, &ChainParts<'_>) -> T) -> T {
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(text.as_bytes()).unwrap());
        then(&record, record.chain.as_deref().expect("a chain"))
    }

    #[test]
    fn chains_are_told_by_their_own_keys() {
        for text in [
            r#"{"id": "p-0", "generator": "m", "problem": "?", "steps": ["a", "b"], "final_answer_correct": false, "label": 1}"#,
            r#"{"input": "(1 + 2) =", "steps": ["a"], "target": "3", "answer": "4", "mistake_index": null}"#,
            r#"{"question": "?", "ground_truth_solution": "x #### 3", "model_answer": "4", "steps": ["Step 1: a"], "is_correct": false}"#,
            r#"{"uuid": "u", "question": "?", "model_output_steps": ["Step 1: a"], "model_output_solution_first_error_step": 2}"#,
            r#"{"question": "?", "expected_answer": "4", "completion": "2 + 2 = 4", "reward": 1.0, "extracted_answer": "4"}"#,
            r#"{"problem": "?", "solution": "2 + 2 = 4\n4 + 1 = 5"}"#,
        ] {
            assert_eq!(kind(text), RecordKind::Chain, "{text}");
        }
        for (text, other) in [
            (r#"{"NameDescription": "x", "question": "?", "steps": ["a"]}"#, RecordKind::Procedure),
            (r#"{"steps": ["a", "b"]}"#, RecordKind::Procedure),
            (r#"{"question": "?", "steps": []}"#, RecordKind::Procedure),
            (r#"{"question": "?", "steps": [{"id": 1}]}"#, RecordKind::Procedure),
            (r#"{"prompt": "?", "completion": "x", "reward": 1.0, "success": true}"#, RecordKind::Call),
            (r#"{"prompt": null, "response": "x", "started_utc": "", "duration_ms": 1}"#, RecordKind::Call),
            (r#"{"prompt": null, "response": "x", "error": null}"#, RecordKind::Unknown),
            (r#"{"question": "?", "answer": "x"}"#, RecordKind::Unknown),
        ] {
            assert_eq!(kind(text), other, "{text}");
        }
    }

    #[test]
    fn labels_count_from_where_their_set_counts() {
        for (label, expected) in [
            (r#""label": -1"#, Some(Labelled::NoError)),
            (r#""label": 2"#, Some(Labelled::Step(2))),
            (r#""label": -1.0"#, Some(Labelled::NoError)),
            (r#""label": 2.0"#, Some(Labelled::Step(2))),
            (r#""label": 2.5"#, None),
            (r#""label": NaN"#, None),
            (r#""mistake_index": null"#, Some(Labelled::NoError)),
            (r#""model_output_solution_first_error_step": 1"#, Some(Labelled::Step(0))),
            (r#""model_output_solution_first_error_step": "N/A""#, None),
            (r#""level": 5"#, None),
        ] {
            let text = format!(r#"{{"question": "?", "steps": ["a"], {label}}}"#);
            assert_eq!(parts(&text, |_, parts| parts.labelled), expected, "{label}");
        }
    }

    #[test]
    fn a_grade_in_words_is_read() {
        let correct = |text: &str| parts(text, |record, _| record.correct);
        assert_eq!(
            correct(r#"{"question": "?", "steps": ["a"], "model_output_answer_correctness": "wrong"}"#),
            Some(false)
        );
    }
}
