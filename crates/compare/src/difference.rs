//! Difference of two records of the same question: field by field, variable by variable, and from which step on. Plain
//! data; records of different shape (a procedure against a direct prompt) have what they have in common.

use foldhash::{HashMap, HashSet};

use stepscope_arithmetic::number::near;
use stepscope_base::json::same::same_value;
use stepscope_base::json::{Kind, Member, Part, Pointer, Value};
use stepscope_base::text::Untrusted;
use stepscope_judge::case::CaseView;
use stepscope_record::RecordKind;
use stepscope_record::procedure::{Procedure, Step};
use stepscope_record::state::{Badge, Entry, Moment, State};

/// More fields are not listed.
pub const MAX_FIELDS: usize = 2_000;
/// Upstream's measure of equality.
/// Shown as variables and steps, not as fields.
const NOT_FIELDS: [&str; 3] = ["procedure", "state", "trace"];

stepscope_base::words! {
    /// Relation of two values.
    pub enum Change {
        /// They are the same; numbers within 1e-6.
        Same = "same",
        /// They differ.
        Differs = "differs",
        /// Only the first record has one.
        OnlyA = "only_a",
        /// Only the second record has one.
        OnlyB = "only_b",
    }
}

impl Change {
    fn of(a: Option<Value<'_>>, b: Option<Value<'_>>) -> Self {
        match (a, b) {
            (Some(a), Some(b)) if is_same(a, b) => Self::Same,
            (Some(_), None) => Self::OnlyA,
            (None, Some(_)) => Self::OnlyB,
            _ => Self::Differs,
        }
    }
}

/// A field of both records, or of one.
#[derive(Clone, Debug)]
pub struct FieldDifference<'a> {
    /// Position in the record, as a JSON pointer, the same in both.
    pub pointer: Pointer,
    /// Relation of the two values.
    pub change: Change,
    /// In the first record.
    pub a: Option<Value<'a>>,
    /// In the second record.
    pub b: Option<Value<'a>>,
}

/// Final value of a variable, in one record.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    /// Its value, where it is known.
    pub value: Option<Value<'a>>,
    /// Provenance of the value.
    pub badge: Badge,
    /// The step that wrote it, by position.
    pub step: Option<usize>,
    /// Position of the value, as a JSON pointer.
    pub pointer: Option<Pointer>,
}

/// A variable of both records, or of one.
#[derive(Clone, Debug)]
pub struct VariableDifference<'a> {
    /// Its name.
    pub name: Untrusted<'a>,
    /// Relation of the two values.
    pub change: Change,
    /// In the first record.
    pub a: Option<Held<'a>>,
    /// In the second record.
    pub b: Option<Held<'a>>,
}

stepscope_base::words! {
    /// In what two steps at one position differ.
    pub enum What {
        /// One procedure has no step there.
        Length = "length",
        /// They do something else.
        Text = "text",
        /// They read something else.
        Inputs = "inputs",
        /// They write other variables.
        Outputs = "outputs",
        /// They wrote other values.
        Values = "values",
    }
}

/// A step in which two runs differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence<'a> {
    /// Its position, from 0.
    pub step: usize,
    /// In what they differ there, each once.
    pub what: Vec<What>,
    /// The variables with other values.
    pub variables: Vec<Untrusted<'a>>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct RecordDifference<'a> {
    /// Kinds of the two records.
    pub kinds: (RecordKind, RecordKind),
    /// The fields, in the order of the first record.
    pub fields: Vec<FieldDifference<'a>>,
    /// There are more fields than are listed.
    pub more_fields: bool,
    /// The variables, in the order of the first record.
    pub variables: Vec<VariableDifference<'a>>,
    /// The steps that differ, in order; `None`: one of the records has no procedure.
    pub steps: Option<Vec<Divergence<'a>>>,
}

impl<'a> RecordDifference<'a> {
    /// Compares; `None`: one of the records cannot be read.
    pub fn of(a: &CaseView<'a>, b: &CaseView<'a>) -> Option<Self> {
        let (fields, more_fields) = fields(a.root()?, b.root()?);
        let plans = a.procedure().zip(b.procedure());
        let steps = plans.map(|(plan_a, plan_b)| diverging((plan_a, a.state()), (plan_b, b.state())));
        let variables = variables(a.state(), b.state());
        let kinds = (a.kind(), b.kind());
        Some(Self { kinds, fields, more_fields, variables, steps })
    }
}

/// Tells whether two values are the same to a reader, however they are written.
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    same_value(a, b) || a.float().zip(b.float()).is_some_and(|(a, b)| near(a, b))
}

/// Walks both records side by side, down to what holds no others or differs in kind.
fn fields<'a>(a: Value<'a>, b: Value<'a>) -> (Vec<FieldDifference<'a>>, bool) {
    let mut fields = Vec::new();
    // Last in, first out: what stands first in a record is put on top.
    let mut open = vec![(Pointer::default(), Some(a), Some(b))];
    while let Some((pointer, a, b)) = open.pop() {
        if fields.len() >= MAX_FIELDS {
            return (fields, true);
        }
        let kinds = (a.map(Value::kind), b.map(Value::kind));
        let change = Change::of(a, b);
        let mut inner = match kinds {
            _ if change == Change::Same && !pointer.0.is_empty() => Vec::new(),
            (Some(Kind::Object), Some(Kind::Object)) => members(&pointer, a, b),
            (Some(Kind::Array), Some(Kind::Array)) => items(&pointer, a, b),
            _ => Vec::new(),
        };
        if inner.is_empty() && !pointer.0.is_empty() {
            fields.push(FieldDifference { pointer, change, a, b });
        }
        inner.reverse();
        open.extend(inner);
    }
    (fields, false)
}

type Open<'a> = (Pointer, Option<Value<'a>>, Option<Value<'a>>);

fn members<'a>(pointer: &Pointer, a: Option<Value<'a>>, b: Option<Value<'a>>) -> Vec<Open<'a>> {
    let [a, b] = [a, b].map(|side| side.map_or_else(Vec::new, Value::entries));
    let others: HashMap<_, _> = b.iter().map(|member| (member.name(), member.value)).collect();
    let own: HashSet<_> = a.iter().map(Member::name).collect();
    let of_a = a.iter().map(|member| (member.name(), Some(member.value), others.get(&member.name()).copied()));
    let of_b =
        b.iter().filter(|member| !own.contains(&member.name())).map(|member| (member.name(), None, Some(member.value)));
    let shown = |name: &Untrusted<'_>| !pointer.0.is_empty() || !NOT_FIELDS.iter().any(|not| *name == *not);
    let named = of_a.chain(of_b).filter(|(name, ..)| shown(name));
    named.take(MAX_FIELDS + 1).map(|(name, a, b)| (pointer.then(Part::Key(name.into_owned())), a, b)).collect()
}

fn items<'a>(pointer: &Pointer, a: Option<Value<'a>>, b: Option<Value<'a>>) -> Vec<Open<'a>> {
    let (mut a, mut b) = (a.map(Value::items), b.map(Value::items));
    let mut next = move || {
        let pair = (a.as_mut().and_then(Iterator::next), b.as_mut().and_then(Iterator::next));
        (pair.0.is_some() || pair.1.is_some()).then_some(pair)
    };
    let pairs = std::iter::from_fn(&mut next).take(MAX_FIELDS + 1);
    pairs.enumerate().map(|(n, (a, b))| (pointer.then(n), a, b)).collect()
}

fn variables<'a>(a: &State<'a>, b: &State<'a>) -> Vec<VariableDifference<'a>> {
    let names_a = a.variables().iter().map(|variable| &variable.name);
    let names_b = b.variables().iter().map(|variable| &variable.name).filter(|name| a.variable(name).is_none());
    let variable = |name: &Untrusted<'a>| {
        let (held_a, held_b) = (held(a, name), held(b, name));
        let value = |held: &Option<Held<'a>>| held.as_ref().and_then(|held| held.value);
        VariableDifference {
            name: name.clone(),
            change: Change::of(value(&held_a), value(&held_b)),
            a: held_a,
            b: held_b,
        }
    };
    let all = names_a.chain(names_b).map(variable);
    // Of what neither record knows a value, nothing can be said.
    all.filter(|variable| [&variable.a, &variable.b].into_iter().flatten().any(|held| held.value.is_some())).collect()
}

fn held<'a>(state: &State<'a>, name: &Untrusted<'_>) -> Option<Held<'a>> {
    let end = Moment(state.step_count().saturating_add(1));
    let entry = state.value_at(state.variable(name)?, end)?;
    Some(Held { value: entry.value, badge: entry.badge, step: entry.writer, pointer: state.pointer(&entry) })
}

type Run<'s, 'a> = (&'s Procedure<'a>, &'s State<'a>);

fn diverging<'a>(a: Run<'_, 'a>, b: Run<'_, 'a>) -> Vec<Divergence<'a>> {
    let steps = a.0.steps.len().max(b.0.steps.len());
    let diverges = |step| {
        let (Some(one), Some(other)) = (a.0.steps.get(step), b.0.steps.get(step)) else {
            return Some(Divergence { step, what: vec![What::Length], variables: Vec::new() });
        };
        let variables = other_values(a.1, b.1, step);
        let mut what = plan_differs(one, other);
        what.extend((!variables.is_empty()).then_some(What::Values));
        (!what.is_empty()).then_some(Divergence { step, what, variables })
    };
    (0..steps).filter_map(diverges).collect()
}

fn plan_differs(a: &Step<'_>, b: &Step<'_>) -> Vec<What> {
    let mut what = Vec::new();
    if Change::of(a.text, b.text) != Change::Same && (a.text.is_some() || b.text.is_some()) {
        what.push(What::Text);
    }
    if !a.input_names().eq(b.input_names()) {
        what.push(What::Inputs);
    }
    if !a.output_names().eq(b.output_names()) {
        what.push(What::Outputs);
    }
    what
}

/// The variables with other values in a step: those that both runs wrote in it, and those that hold another one after
/// it because it was set in one of them.
fn other_values<'a>(a: &State<'a>, b: &State<'a>, step: usize) -> Vec<Untrusted<'a>> {
    let after = Moment::after(step);
    // What was set before the first step belongs to it.
    let is_set = |state: &State<'a>, name: &Untrusted<'a>| {
        let variable = state.variable(name).map(|index| &state.variables()[index]);
        let mut writes = variable.into_iter().flat_map(|variable| &variable.writes);
        writes.any(|write| write.badge == Badge::Override && write.from.is_with(step))
    };
    let held = |state: &State<'a>, name: &Untrusted<'a>| state.value_at(state.variable(name)?, after)?.value;
    let wrote =
        |state: &State<'a>, entry: Entry<'a>| Some((state.variables().get(entry.variable)?.name.clone(), entry.value?));
    // What is not known differs from nothing.
    let differ = |one: Option<Value<'a>>, other: Option<Value<'a>>| {
        one.zip(other).is_some_and(|(one, other)| !is_same(one, other))
    };
    let of_b: HashMap<_, _> = b.writes(step).into_iter().filter_map(|entry| wrote(b, entry)).collect();
    let of_a = a.writes(step).into_iter().filter_map(|entry| wrote(a, entry));
    let own = of_a.filter(|(name, value)| differ(Some(*value), of_b.get(name).copied())).map(|(name, _)| name);
    let mut names: Vec<Untrusted<'a>> = own.collect();
    let set = [a, b].into_iter().flat_map(|state| state.sets().iter().map(|set| set.variable.clone()));
    for name in set.filter(|name| is_set(a, name) || is_set(b, name)) {
        if !names.contains(&name) && differ(held(a, &name), held(b, &name)) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::Change::{Differs, OnlyB, Same};
    use super::*;
    use stepscope_judge::case::Case;

    fn with<T>(a: &str, b: &str, then: impl FnOnce(&RecordDifference<'_>) -> T) -> T {
        let (a, b) = (Case::read(a.as_bytes()), Case::read(b.as_bytes()));
        then(&RecordDifference::of(&a.view(), &b.view()).unwrap())
    }

    fn run(steps: &[(&str, &str)], state: &str) -> String {
        let steps: Vec<String> = steps
            .iter()
            .enumerate()
            .map(|(n, (text, output))| {
                format!(
                    r#"{{"id": {}, "inputs": [{{"name": "problem_text", "description": ""}}], "stepDescription": "{text}", "output": [{{"name": "{output}", "description": ""}}]}}"#,
                    n + 1
                )
            })
            .collect();
        format!(
            r#"{{"id": 1, "question": "?", "procedure": {{"steps": [{}]}}, "state": {{{state}}}, "pred_num": 1}}"#,
            steps.join(",")
        )
    }

    #[test]
    fn the_first_step_with_another_value_is_found() {
        let steps = [("a", "x"), ("b", "y"), ("c", "final_answer")];
        let one = run(&steps, r#""x": 1, "y": 2, "final_answer": "3""#);
        let other = run(&steps, r#""x": 1.0, "y": 2.5, "final_answer": "4""#);
        with(&one, &other, |difference| {
            assert_eq!(difference.steps.iter().flatten().map(|differs| differs.step).collect::<Vec<_>>(), [1, 2]);
            let first = difference.steps.iter().flatten().next().unwrap();
            assert_eq!((first.step, first.what.as_slice()), (1, &[What::Values][..]));
            assert_eq!(first.variables, [Untrusted::from("y")]);
            let variables: Vec<_> =
                difference.variables.iter().map(|variable| (&variable.name, variable.change)).collect();
            let (x, y, end, task) = ("x".into(), "y".into(), "final_answer".into(), "problem_text".into());
            assert_eq!(variables, [(&task, Same), (&x, Same), (&y, Differs), (&end, Differs)]);
            let held = difference.variables[2].a.as_ref().unwrap();
            assert_eq!((held.step, held.pointer.as_ref().unwrap().text()), (Some(1), "/state/y".into()));
        });
        with(&one, &one, |difference| {
            assert!(difference.steps.iter().flatten().next().is_none());
            assert!(difference.fields.iter().all(|field| field.change == Change::Same));
        });
    }

    #[test]
    fn plans_part_where_they_say_or_write_something_else() {
        let one = run(&[("a", "x"), ("b", "y")], r#""x": 1, "y": 2"#);
        for (steps, step, what) in [
            (vec![("a", "x"), ("B", "y")], 1, vec![What::Text]),
            (vec![("a", "x"), ("B", "z")], 1, vec![What::Text, What::Outputs]),
            (vec![("a", "x")], 1, vec![What::Length]),
            (vec![("a", "x"), ("b", "y"), ("c", "z")], 2, vec![What::Length]),
        ] {
            with(&one, &run(&steps, r#""x": 1, "y": 2"#), |difference| {
                let first = difference.steps.iter().flatten().next().unwrap();
                assert_eq!((first.step, &first.what), (step, &what));
            });
        }
    }

    #[test]
    fn records_of_another_shape_have_what_they_have_in_common() {
        let run = run(&[("a", "x")], r#""x": 1, "final_answer": "7""#);
        let direct = r#"{"id": 1, "question": "?", "mode": "baseline", "state": {"final_answer": "8"}, "pred_num": 2, "raw": "8"}"#;
        with(&run, direct, |difference| {
            assert_eq!(difference.kinds, (RecordKind::Procedural, RecordKind::Baseline));
            assert!(difference.steps.iter().flatten().next().is_none());
            let fields: Vec<_> = difference
                .fields
                .iter()
                .map(|field| (field.pointer.text().line().into_string(), field.change))
                .collect();
            let expected =
                [("/id", Same), ("/question", Same), ("/pred_num", Differs), ("/mode", OnlyB), ("/raw", OnlyB)];
            assert_eq!(fields, expected.map(|(pointer, change)| (pointer.to_owned(), change)));
            let x = difference.variables.iter().find(|variable| variable.name == "x").unwrap();
            assert_eq!(x.change, Change::OnlyA);
        });
    }

    #[test]
    fn answers_are_compared_down_to_what_differs() {
        let one =
            r#"{"final_answer": "a", "items": [{"text": "x", "spans": [1, 2]}, {"text": "y"}], "deep": {"same": [1]}}"#;
        let other = r#"{"items": [{"text": "x", "spans": [1, 3]}], "deep": {"same": [1.0]}, "final_answer": "a"}"#;
        with(one, other, |difference| {
            let changed: Vec<_> = difference
                .fields
                .iter()
                .filter(|field| field.change != Change::Same)
                .map(|field| (field.pointer.text().line().into_string(), field.change))
                .collect();
            let expected = [("/items/0/spans/1", Change::Differs), ("/items/1", Change::OnlyA)];
            assert_eq!(changed, expected.map(|(pointer, change)| (pointer.to_owned(), change)));
        });
    }

    #[test]
    fn a_list_without_end_is_cut_and_that_is_said() {
        let list = |first: u32| (first..first + 100_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let (one, other) = (format!(r#"{{"a": [{}]}}"#, list(0)), format!(r#"{{"a": [{}]}}"#, list(1)));
        with(&one, &other, |difference| {
            assert_eq!((difference.fields.len(), difference.more_fields), (MAX_FIELDS, true));
        });
        let deep = |value: u8| format!("{}{value}{}", r#"{"a":"#.repeat(500), "}".repeat(500));
        with(&deep(1), &deep(2), |difference| assert_eq!(difference.fields.len(), 1));
    }
}
