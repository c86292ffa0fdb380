//! The board of `check --summary`: where wrong runs are to be fixed, by which argument, and in which step.

use std::collections::BTreeMap;

use crate::triage::{Confidence, Fix, Triage};
use stepscope_base::json::write::{Json, Object, Sink, Style};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Later steps are counted together.
const MAX_STEP: usize = 99;
/// So many rules and steps are named in a line.
const NAMED: usize = 6;

/// Counts of judged runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FixCounts {
    lines: BTreeMap<Fix, FixCount>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct FixCount {
    runs: u64,
    sure: u64,
    recovered: u64,
    rules: BTreeMap<&'static str, u64>,
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
            *line.rules.entry(argument.rule).or_default() += 1;
        }
        if let Some(step) = triage.step {
            *line.steps.entry((step + 1).min(MAX_STEP)).or_default() += 1;
        }
    }

    /// The board as lines of text.
    pub fn lines(&self) -> Vec<Shown> {
        let mut lines = vec![Shown::own("fix         runs  sure  recovers gold  strongest argument; first bad step")];
        for fix in Fix::ALL {
            let Some(line) = self.lines.get(&fix) else { continue };
            let rules = most(line.rules.iter().map(|(rule, count)| ((*rule).to_owned(), *count)));
            let steps = most(line.steps.iter().map(|(step, count)| (format!("step {step}"), *count)));
            let joint = if steps.is_empty() { "" } else { "; " };
            lines.push(shown!(
                "{:10} {:>5} {:>5} {:>14}  {rules}{joint}{steps}",
                fix.word(),
                line.runs,
                line.sure,
                line.recovered
            ));
        }
        lines
    }

    /// The board as JSON lines: an object a place.
    pub fn write_json(&self, out: &mut dyn Sink) {
        for (fix, line) in &self.lines {
            Style::ASCII.line(out, |object| {
                object.put("fix", fix.word());
                object.put("runs", line.runs);
                object.put("sure", line.sure);
                object.put("recovered", line.recovered);
                counts(&line.rules, object, "rules", "rule");
                counts(&line.steps, object, "steps", "step");
            });
        }
    }
}

/// Counts of one kind as a JSON list.
fn counts<K: Json>(of: &BTreeMap<K, u64>, object: &mut Object<'_>, key: &'static str, name: &'static str) {
    object.objects(key, of, |(value, runs), object| _ = object.put(name, value).put("runs", runs));
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
