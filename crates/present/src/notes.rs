//! Findings and the argument about where to fix a record, each with the step and the variable that it is about.

use std::collections::HashMap;

use stepscope_base::json::{Finder, Part, Pointer, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::case::CaseView;
use stepscope_judge::triage::{Argument, Triage};
use stepscope_record::finding::{Finding, Findings, Place, Severity};
use stepscope_record::state::Moment;

/// One finding, or one line of the argument, as the list shows it.
#[derive(Debug, Clone)]
pub struct Note {
    /// Index of the finding; `None`: a line of the argument that is no finding.
    pub finding: Option<usize>,
    /// Severity.
    pub severity: Severity,
    /// The rule's id.
    pub rule: &'static str,
    /// Description of the problem.
    pub message: Shown,
    /// Advice on how to fix it.
    pub help: Option<&'static str>,
    /// The step it is about.
    pub step: Option<usize>,
    /// The variable it is about.
    pub variable: Option<usize>,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

impl Note {
    /// Tells whether it is about an error.
    pub fn is_grave(&self) -> bool {
        self.severity <= Severity::Repairable
    }
}

/// A note at a value of the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoteMark {
    /// The value.
    pub node: u32,
    /// The note.
    pub note: usize,
    /// True if it is about the key.
    pub on_key: bool,
}

/// Finds the moment to show first: the step to fix, else the one with the gravest error, else the end.
pub(crate) fn opening_of(triage: Option<&Triage>, notes: &[Note], steps: usize, end: Moment) -> Moment {
    let to_fix = triage.and_then(|triage| triage.step);
    let gravest = || notes.iter().filter(|note| note.is_grave()).min_by_key(|note| note.severity)?.step;
    to_fix.or_else(gravest).filter(|step| *step < steps).map_or(end, |step| Moment(step + 1))
}

pub(crate) fn end_of(ended_at: Option<usize>, steps: usize) -> Moment {
    Moment(ended_at.map_or(steps, |step| step + 1))
}

/// The argument in its order: what it says at once, then each finding that it names at that place; then the other
/// findings.
pub(crate) fn ordered(argument: Vec<Note>, notes: Vec<Note>) -> Vec<Note> {
    let mut left: Vec<Option<Note>> = notes.into_iter().map(Some).collect();
    let mut all: Vec<Note> = Vec::with_capacity(argument.len() + left.len());
    for (place, why) in argument.into_iter().enumerate() {
        let same = |note: &Note| note.rule == why.rule && (note.pointer == why.pointer || note.step == why.step);
        let found = left.iter_mut().find(|note| note.as_ref().is_some_and(same)).and_then(Option::take);
        match found {
            Some(found) if place == 0 && found.message != why.message => all.extend([why, found]),
            Some(found) => all.push(found),
            None if all.iter().any(|note| note.message == why.message) => {}
            None => all.push(why),
        }
    }
    all.extend(left.into_iter().flatten());
    all
}

/// The nodes of findings with the notes that they became, of each node the first note first.
pub(crate) fn marks(nodes: &[(u32, usize, bool)], notes: &[Note]) -> Vec<NoteMark> {
    let places: HashMap<usize, usize> =
        notes.iter().enumerate().filter_map(|(n, note)| Some((note.finding?, n))).collect();
    let mark = |&(node, finding, on_key)| Some(NoteMark { node, note: *places.get(&finding)?, on_key });
    let mut marks: Vec<NoteMark> = nodes.iter().filter_map(mark).collect();
    marks.sort_by_key(|mark| (mark.node, mark.note));
    marks
}

pub(crate) fn graver(a: Option<Severity>, b: Severity) -> Severity {
    a.map_or(b, |a| a.min(b))
}

/// The places of a record, for many findings at once: each container is gone through once.
pub(crate) struct FindingPlaces<'r, 'a> {
    case: &'r CaseView<'a>,
    finder: Option<Finder<'a>>,
    /// The steps by their entries in the trace.
    steps: HashMap<usize, usize>,
}

impl<'r, 'a> FindingPlaces<'r, 'a> {
    pub(crate) fn of(case: &'r CaseView<'a>) -> Self {
        let finder = case.record.as_ref().map(|record| Finder::new(record.root));
        let calls = (0..case.state().step_count()).filter_map(|step| Some((case.state().call(step)?.entry, step)));
        Self { case, finder, steps: calls.collect() }
    }

    /// The values that findings are about, for the JSON: node, finding, and whether the key is meant.
    pub(crate) fn nodes(&mut self, findings: &Findings) -> Vec<(u32, usize, bool)> {
        let Some(finder) = &mut self.finder else { return Vec::new() };
        let mut nodes = Vec::new();
        for (n, finding) in findings.iter().enumerate() {
            for label in finding.labels().filter(|label| !matches!(label.place, Place::Bytes { .. })) {
                let found = finder.find(&label.place.pointer());
                nodes.extend(found.map(|found| (found.value.index() as u32, n, matches!(label.place, Place::Key(_)))));
            }
        }
        nodes
    }

    pub(crate) fn note(&mut self, n: usize, finding: &Finding) -> Note {
        let pointer = finding.place().pointer();
        Note {
            finding: Some(n),
            severity: finding.severity,
            rule: finding.rule.word(),
            message: finding.message.line(),
            help: finding.help,
            step: self.step_at(finding.place()).or_else(|| self.writer_of(&pointer)),
            variable: finding.labels().find_map(|label| self.variable_of(&label.place)),
            pointer,
        }
    }

    pub(crate) fn argument(&mut self, why: &Argument) -> Note {
        Note {
            finding: None,
            severity: Severity::Note,
            rule: why.rule,
            message: why.text.clone(),
            help: None,
            step: self.step_at(&Place::Value(why.pointer.clone())).or_else(|| self.writer_of(&why.pointer)),
            variable: self.variable_of(&Place::Value(why.pointer.clone())),
            pointer: why.pointer.clone(),
        }
    }

    /// The step that wrote the value of a state that a pointer leads to.
    fn writer_of(&mut self, pointer: &Pointer) -> Option<usize> {
        let variable = self.variable_of(&Place::Value(pointer.clone()))?;
        self.case.state().variables().get(variable)?.writers().next_back()
    }

    /// The step that a place lies in.
    fn step_at(&self, place: &Place) -> Option<usize> {
        match self.case.chain() {
            Some(chain) => chain.step_at(place),
            None => self.step_of(&place.pointer()),
        }
    }

    /// The step that a pointer lies in.
    fn step_of(&self, pointer: &Pointer) -> Option<usize> {
        let below = |base: &Pointer| match pointer.0.get(base.0.len()..)? {
            [Part::Index(n), ..] if pointer.is_within(base) => Some(*n),
            _ => None,
        };
        if let Some(step) = below(&self.case.procedure_pointer().then("steps")) {
            return Some(step);
        }
        let entry = below(&Pointer::from_iter(["trace", "steps"]))?;
        self.steps.get(&entry).copied()
    }

    /// The variable that a place names: by its declaration in a step, or by its key in a state.
    fn variable_of(&mut self, place: &Place) -> Option<usize> {
        if let Some(chain) = self.case.chain() {
            return self.case.state().variable(&Untrusted::from(chain.name_at(place)?));
        }
        let pointer = place.pointer();
        if let [Part::Key(state), Part::Key(name), ..] = pointer.0.as_slice()
            && *state == "state"
        {
            return self.case.state().variable(name);
        }
        if let [.., Part::Key(outputs), Part::Key(name)] = pointer.0.as_slice()
            && (*outputs == "outputs" || *outputs == "inputs")
            && pointer.is_within(&Pointer::from_iter(["trace"]))
        {
            return self.case.state().variable(name);
        }
        let of_trace = matches!(pointer.0.first(), Some(Part::Key(key)) if *key == "trace");
        let mut sets = self.case.state().sets().iter().filter(|_| of_trace);
        if let Some(set) = sets.find(|set| pointer.is_within(&set.pointer)) {
            return self.case.state().variable(&set.variable);
        }
        let here = self.finder.as_mut()?.find(&pointer)?.value;
        let name = here.get("name").and_then(Value::string).or_else(|| {
            matches!(pointer.0.last(), Some(Part::Key(key)) if *key == "name").then(|| here.string()).flatten()
        })?;
        self.case.state().variable(&name)
    }
}
