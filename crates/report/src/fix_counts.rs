//! The counts of `check --summary`: where to fix wrong runs, by which argument, and in which step.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::NULL;
use stepscope_base::json::write::{AnySink, Json, Object, Style};
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::triage::{Confidence, Fix, Triage};

/// Later steps are counted together.
const MAX_STEP: usize = 99;
/// Maximum number of rules and steps that are named in a line.
const NAMED: usize = 6;

/// Counts of judged runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FixCounts {
    lines: BTreeMap<Fix, FixCount>,
    /// Counts that are not known, by their keys, because not all merged lines say them.
    untold: BTreeSet<&'static str>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct FixCount {
    runs: u64,
    sure: u64,
    recovered: u64,
    rules: BTreeMap<String, u64>,
    steps: BTreeMap<usize, u64>,
}

impl FixCounts {
    /// Counts a run: by its strongest argument and its first bad step.
    pub fn add(&mut self, triage: &Triage) {
        let line = self.lines.entry(triage.fix).or_default();
        line.runs += 1;
        line.sure += u64::from(triage.confidence == Confidence::Sure);
        line.recovered += u64::from(triage.recovers_gold);
        if let Some(argument) = triage.why.first() {
            *line.rules.entry(argument.rule.to_owned()).or_default() += 1;
        }
        if let Some(step) = triage.step {
            *line.steps.entry((step + 1).min(MAX_STEP)).or_default() += 1;
        }
    }

    /// Adds what a line says that [`FixCounts::write_json`] wrote, or the line of a checked record. `None`: it is neither,
    /// or the record is right and says nothing.
    pub fn merge(&mut self, line: Value<'_>) -> Option<()> {
        let count = |value: Value<'_>, key: &str| value.get(key).and_then(Value::whole::<u64>);
        let list = |key: &str| line.get(key).filter(|list| list.kind() == Kind::Array);
        let untold = &mut self.untold;
        let mut tell = |key: &'static str, is_told: bool| {
            if !is_told {
                untold.insert(key);
            }
        };
        if let Some(runs) = count(line, "runs") {
            let to = self.lines.entry(fix_of(line)?).or_default();
            to.runs = to.runs.saturating_add(runs);
            for (sum, key) in [(&mut to.sure, "sure"), (&mut to.recovered, "recovered")] {
                tell(key, count(line, key).is_some());
                *sum = sum.saturating_add(count(line, key).unwrap_or_default());
            }
            tell("rules", list("rules").is_some());
            for entry in list("rules").into_iter().flat_map(Value::items) {
                let runs = to.rules.entry(name_of(entry.get("rule")?)?).or_default();
                *runs = runs.saturating_add(count(entry, "runs").unwrap_or_default());
            }
            tell("steps", list("steps").is_some());
            for entry in list("steps").into_iter().flat_map(Value::items) {
                let step = entry.get("step")?.whole::<usize>()?.min(MAX_STEP);
                let runs = to.steps.entry(step).or_default();
                *runs = runs.saturating_add(count(entry, "runs").unwrap_or_default());
            }
            return Some(());
        }
        let triage = line.get("triage").filter(|triage| triage.kind() == Kind::Object)?;
        let to = self.lines.entry(fix_of(triage)?).or_default();
        to.runs += 1;
        let confidence = triage.get("confidence");
        tell("sure", confidence.is_some());
        to.sure += u64::from(confidence.is_some_and(|word| word.is_string(Confidence::Sure.word())));
        let recovers = triage.get("recovers_gold");
        tell("recovered", recovers.is_some());
        to.recovered += u64::from(recovers.and_then(Value::bool).unwrap_or_default());
        let why = triage.get("why").filter(|why| why.kind() == Kind::Array);
        let rule = why.and_then(|why| why.items().next()?.get("rule"));
        tell("rules", rule.is_some() || why.is_some_and(|why| why.items().next().is_none()));
        if let Some(rule) = rule.and_then(name_of) {
            *to.rules.entry(rule).or_default() += 1;
        }
        let step = triage.get("step");
        tell("steps", step.is_some());
        if let Some(step) = step.and_then(Value::whole::<usize>) {
            *to.steps.entry(step.min(MAX_STEP)).or_default() += 1;
        }
        Some(())
    }

    fn is_told(&self, key: &str) -> bool {
        !self.untold.contains(key)
    }

    /// Lists the places with the steps to fix, from 1, and the number of their runs; last those of no single step. Where
    /// not all steps are known, none is listed.
    pub fn steps(&self) -> impl Iterator<Item = (Fix, Option<usize>, u64)> {
        self.lines.iter().flat_map(|(fix, line)| {
            let steps = Some(&line.steps).filter(|_| self.is_told("steps")).into_iter().flatten();
            let rest = steps.clone().fold(line.runs, |rest, (_, runs)| rest.saturating_sub(*runs));
            let steps = steps.map(|(step, runs)| (*fix, Some(*step), *runs));
            steps.chain([(*fix, None, rest)])
        })
    }

    /// The board as lines of text, with a blank one behind it; none where nothing was judged.
    pub fn lines(&self) -> Vec<Shown> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        let mut lines =
            vec![Shown::own("fix               runs  sure  recomputed ok  strongest reason; first wrong step")];
        for fix in Fix::ALL {
            let Some(line) = self.lines.get(&fix) else { continue };
            let known = |count: u64, key| if self.is_told(key) { count.to_string() } else { String::new() };
            let rules = line.rules.iter().filter(|_| self.is_told("rules"));
            let rules = most(rules.map(|(rule, count)| (rule.clone(), *count)));
            let steps = line.steps.iter().filter(|_| self.is_told("steps"));
            let steps = most(steps.map(|(step, count)| (format!("step {step}"), *count)));
            let joint = if steps.is_empty() || rules.is_empty() { "" } else { "; " };
            lines.push(shown!(
                "{:16} {:>5} {:>5} {:>14}  {rules}{joint}{steps}",
                fix.phrase(),
                line.runs,
                known(line.sure, "sure"),
                known(line.recovered, "recovered")
            ));
        }
        if !self.untold.is_empty() {
            lines.push(Shown::own("Blank: not all merged lines say it."));
        }
        lines.push(Shown::default());
        lines
    }

    /// Tells whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The board as JSON lines: one object per place, and whether it is one of forks. What is not known is `null`.
    pub fn write_json(&self, of_forks: bool, out: &mut AnySink) {
        for (fix, line) in &self.lines {
            Style::ASCII.line(out, |object| {
                object.put("fix", fix.word());
                object.put("runs", line.runs);
                object.put("sure", Some(line.sure).filter(|_| self.is_told("sure")));
                object.put("recovered", Some(line.recovered).filter(|_| self.is_told("recovered")));
                object.maybe("forks", of_forks.then_some(true));
                counts(Some(&line.rules).filter(|_| self.is_told("rules")), object, "rules", "rule");
                counts(Some(&line.steps).filter(|_| self.is_told("steps")), object, "steps", "step");
            });
        }
    }
}

fn fix_of(value: Value<'_>) -> Option<Fix> {
    let word = value.get("fix")?.string()?;
    Fix::from_word(word.utf8()?)
}

/// A rule's name out of a file: it may be that of another version, or anything.
fn name_of(value: Value<'_>) -> Option<String> {
    Some(value.string()?.line().into_string())
}

/// Counts of one kind as a JSON list.
fn counts<K: Json>(of: Option<&BTreeMap<K, u64>>, object: &mut Object<'_>, key: &'static str, name: &'static str) {
    match of {
        Some(of) => object.objects(key, of, |(value, runs), object| _ = object.put(name, value).put("runs", runs)),
        None => object.put(key, NULL),
    };
}

/// The most frequent first.
fn most(counts: impl Iterator<Item = (String, u64)>) -> String {
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = counts.len().saturating_sub(NAMED);
    let named: Vec<_> = counts.into_iter().take(NAMED).map(|(name, count)| format!("{name} {count}")).collect();
    let rest = if more > 0 { ", …" } else { "" };
    format!("{}{rest}", named.join(", "))
}
