//! Breakpoints of a run that is being made: a step, a variable, a new finding, or a condition in the words of the filter.

use std::sync::Arc;

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::rule_id::RuleId;
use stepscope_record::types::TypeRegistry;
use stepscope_table::filter::Filter;

/// The word for a breakpoint on new findings.
const FINDING: &str = "finding";
/// Longest text of one that is read, in bytes.
const MAX_TYPED: usize = 500;

/// A breakpoint, as it was typed.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Text by which it is set and taken away.
    pub typed: String,
    on: BreaksOn,
}

/// Event at which a run waits.
#[derive(Clone, Debug)]
enum BreaksOn {
    /// A step comes next, by position.
    Step(usize),
    /// A step wrote the variable.
    Variable(String),
    /// There is a finding that was not there before.
    Finding,
    /// The record by now fits a filter, and did not before.
    Holds(Arc<Filter>),
}

/// Facts about a run by now that breakpoints compare.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// The step that comes next, by position.
    pub next: Option<usize>,
    /// Names that the last step wrote.
    pub written: Vec<String>,
    /// Rule and message of each finding.
    findings: Vec<(&'static str, Shown)>,
    /// Conditions that hold, as they were typed.
    holds: Vec<String>,
}

impl Breakpoint {
    /// Reads one as it is typed: `3` or `step 3`, the name of a variable, `finding`, or a condition such as
    /// `state.total>100`.
    pub fn parse(typed: &str, types: &TypeRegistry) -> Result<Self, Shown> {
        let typed = typed.trim();
        if typed.is_empty() || typed.len() > MAX_TYPED {
            return Err(Shown::own("type a step (3), a variable, finding, or a condition (state.total>100)"));
        }
        let number = typed.strip_prefix("step ").unwrap_or(typed).trim();
        let is_name = typed.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let on = if let Ok(number) = number.parse::<usize>() {
            BreaksOn::Step(number.checked_sub(1).ok_or(Shown::own("steps are counted from 1"))?)
        } else if typed == FINDING {
            BreaksOn::Finding
        } else if is_name {
            BreaksOn::Variable(typed.to_owned())
        } else {
            let filter = Filter::parse(typed, types).map_err(|error| Shown::line(error.message.as_bytes()))?;
            if filter.needs_reviews() || filter.sets().next().is_some() {
                return Err(Shown::own("a run that is being made has no reviews and no baseline"));
            }
            BreaksOn::Holds(Arc::new(filter))
        };
        Ok(Self { typed: typed.to_owned(), on })
    }

    /// Returns the step before which it waits, by position, if it is one of those.
    pub fn step(&self) -> Option<usize> {
        if let BreaksOn::Step(step) = self.on { Some(step) } else { None }
    }

    /// Explains why it makes the run wait now; `None`: it does not.
    fn reached(&self, before: &RunFacts, now: &RunFacts) -> Option<Shown> {
        match &self.on {
            BreaksOn::Step(step) => (now.next == Some(*step)).then(|| shown!("step {} comes next", step + 1)),
            BreaksOn::Variable(name) => {
                let is_written = now.written.iter().any(|written| written == name);
                is_written.then(|| shown!("{} was written", Shown::line(name.as_bytes())))
            }
            BreaksOn::Finding => {
                let new = now.findings.iter().find(|finding| !before.findings.contains(finding));
                new.map(|(rule, message)| shown!("{rule}: {message}"))
            }
            BreaksOn::Holds(_) => {
                let held = |facts: &RunFacts| facts.holds.contains(&self.typed);
                (held(now) && !held(before)).then(|| shown!("{} holds", Shown::line(self.typed.as_bytes())))
            }
        }
    }
}

impl RunFacts {
    /// Looks at a run by now.
    pub fn of(case: &CaseView<'_>, breakpoints: &[Breakpoint], next: Option<usize>, written: Vec<String>) -> Self {
        let found = case.findings();
        // That it is not over is no news.
        let is_news = |finding: &&Finding| finding.severity <= Severity::Warning && finding.rule != RuleId::RunError;
        let findings = found.iter().filter(is_news).map(|finding| (finding.rule.word(), finding.message.line()));
        let findings = findings.collect();
        let holds =
            |breakpoint: &&Breakpoint| matches!(&breakpoint.on, BreaksOn::Holds(filter) if filter.takes(case, found));
        let holds = breakpoints.iter().filter(holds).map(|breakpoint| breakpoint.typed.clone()).collect();
        Self { next, written, findings, holds }
    }

    /// Explains why a run waits here that came from other facts; `None`: no breakpoint was reached.
    pub fn reached(&self, before: &Self, breakpoints: &[Breakpoint]) -> Option<Shown> {
        breakpoints.iter().find_map(|breakpoint| breakpoint.reached(before, self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_judge::case::Case;

    fn parsed(typed: &str) -> Result<Breakpoint, String> {
        Breakpoint::parse(typed, &TypeRegistry::default()).map_err(Shown::into_string)
    }

    #[test]
    fn what_is_typed_is_a_step_a_variable_a_finding_or_a_condition() {
        assert_eq!(parsed("3").unwrap().step(), Some(2));
        assert_eq!(parsed(" step 12 ").unwrap().step(), Some(11));
        assert!(matches!(parsed("total_cost").unwrap().on, BreaksOn::Variable(_)));
        assert!(matches!(parsed("finding").unwrap().on, BreaksOn::Finding));
        assert!(matches!(parsed("state.total>100").unwrap().on, BreaksOn::Holds(_)));
        assert!(matches!(parsed("rule:unused").unwrap().on, BreaksOn::Holds(_)));
        for bad in ["", "0", "state.total>", "verdict:fail"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_condition_is_reached_when_it_comes_to_hold() {
        let breakpoints = ["state.a>3", "a", "2", "finding"].map(|typed| parsed(typed).unwrap());
        let facts = |a: u8, next, written: &[&str]| {
            let record = format!(r#"{{"id": 1, "question": "?", "mode": "procedural", "state": {{"a": {a}}}}}"#);
            let written = written.iter().map(ToString::to_string).collect();
            RunFacts::of(&Case::read(record.into_bytes()).view(), &breakpoints, next, written)
        };
        let reached = |before: &RunFacts, now: &RunFacts, n: usize| {
            now.reached(before, std::slice::from_ref(&breakpoints[n])).map(Shown::into_string)
        };
        let (low, high) = (facts(2, Some(1), &[]), facts(5, Some(2), &["a"]));
        assert_eq!(high.reached(&low, &breakpoints).unwrap().as_str(), "state.a>3 holds");
        assert_eq!(reached(&high, &high, 0), None);
        assert_eq!(reached(&low, &high, 1).as_deref(), Some("a was written"));
        assert_eq!(reached(&high, &low, 2).as_deref(), Some("step 2 comes next"));
        assert_eq!(reached(&low, &low, 3), None);
    }
}
