//! How well triage names the place to fix, measured on labelled runs: `cargo test --test triage_eval -- --nocapture`.
//!
//! `fixtures/triage/cases.jsonl` are cases of our own (see `make_cases.py` beside it); `blind.jsonl` were written by hand
//! before their writer had read a rule, and the rules were then improved on them; `blind2.jsonl` were written after that,
//! and no rule was changed for them. `fixtures/real` are thirteen runs of a 120B model that their owner read by hand.
//! `TRIAGE_RUNS` and `TRIAGE_LABELS` name a further pair of files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    missing_docs
)]

use std::collections::HashMap;

use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_core::arithmetic::gold::Gold;
use stepscope_core::case::CaseView;
use stepscope_core::finding::{Findings, Severity};
use stepscope_core::record::formats;

/// The places to fix, as labels and verdicts name them.
const FIXES: [&str; 5] = ["none", "step_run", "procedure", "gold", "unknown"];

/// What is said of one run.
#[derive(Clone, Debug, Default)]
struct Verdict {
    fix: &'static str,
    /// The first bad step, from 1.
    step: Option<usize>,
    /// What the procedure gives when it is executed exactly.
    recovered: Option<f64>,
}

/// Something that gives verdicts. Triage is connected here.
trait Scorer {
    fn name(&self) -> &'static str;
    fn verdict(&self, case: &CaseView<'_>) -> Verdict;
}

/// What can be said without looking: the floor of every measurement.
struct Blind;

impl Scorer for Blind {
    fn name(&self) -> &'static str {
        "blind: right runs need no fix, all others are unknown"
    }

    fn verdict(&self, case: &CaseView<'_>) -> Verdict {
        Verdict { fix: if case.is_right() { "none" } else { "unknown" }, ..Verdict::default() }
    }
}

/// Triage itself, from the record alone.
struct Full;

impl Scorer for Full {
    fn name(&self) -> &'static str {
        "triage"
    }

    fn verdict(&self, case: &CaseView<'_>) -> Verdict {
        let Some(triage) = case.triage() else { return Verdict::default() };
        Verdict {
            fix: triage.fix.word(),
            step: triage.step.map(|step| step + 1),
            recovered: triage.recovered.map(stepscope_core::arithmetic::number::Number::float),
        }
    }
}

/// The rules about quantities alone: their findings say which of step run and procedure is at fault.
struct Quantities;

impl Scorer for Quantities {
    fn name(&self) -> &'static str {
        "quantities alone"
    }

    fn verdict(&self, case: &CaseView<'_>) -> Verdict {
        if case.is_right() {
            let disputed = case.record.as_ref().is_some_and(|record| record.correct == Some(false));
            return Verdict { fix: if disputed { "gold" } else { "none" }, ..Verdict::default() };
        }
        let fault = |rule: &str| {
            let mut found = case
                .findings()
                .iter()
                .filter(|finding| finding.rule.word() == rule && finding.severity < Severity::Note);
            found.find_map(|finding| {
                let mut out = Vec::new();
                Style::ASCII.append(&finding.details.iter().find(|(key, _)| *key == "fault")?.1, &mut out);
                Some(out)
            })
        };
        let found =
            ["run/quantity_changed", "run/quantity_invented", "run/quantity_missed"].into_iter().find_map(fault);
        match found.as_deref() {
            Some(b"\"step_run\"") => Verdict { fix: "step_run", step: Some(1), recovered: None },
            Some(_) => Verdict { fix: "procedure", ..Verdict::default() },
            None => Verdict { fix: "unknown", ..Verdict::default() },
        }
    }
}

/// A run with its label.
struct Case {
    text: Vec<u8>,
    name: String,
    fix: &'static str,
    /// The steps that may be named; empty where the label names none.
    steps: Vec<usize>,
    /// The answer that can be recovered.
    recovered: Option<f64>,
    style: String,
}

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn text(value: Option<Value<'_>>) -> String {
    value.and_then(Value::string).map(|text| text.line().into_string()).unwrap_or_default()
}

fn fix(label: Value<'_>) -> &'static str {
    let word = text(label.get("fix"));
    FIXES.into_iter().find(|fix| *fix == word).unwrap_or_else(|| panic!("{word}"))
}

/// Our own cases; the label stands at the end of the line and is cut off before anybody looks.
fn own_cases(path: &str) -> Vec<Case> {
    let bytes = fixture(path);
    let cases = lines(&bytes).map(|line| {
        let mut tape = Tape::default();
        let label = tape.parse(line).unwrap().get("label").unwrap();
        let whole = |value: Value<'_>| value.float().filter(|_| value.kind() == Kind::Int).map(|float| float as usize);
        let steps = label.get("step").and_then(whole).into_iter();
        let also = label.get("also").map(|list| list.items().filter_map(whole).collect::<Vec<_>>());
        let cut = memchr::memmem::rfind(line, b", \"label\": ").unwrap();
        Case {
            text: [&line[..cut], b"}"].concat(),
            name: text(label.get("fault")),
            fix: fix(label),
            steps: steps.chain(also.unwrap_or_default()).collect(),
            recovered: label.get("recovered").and_then(Value::float),
            style: text(label.get("style")),
        }
    });
    cases.collect()
}

/// Runs with labels in a file of their own, joined by id.
fn labelled(runs: &[u8], labels: &[u8]) -> Vec<Case> {
    let by_id: HashMap<String, &'static str> = lines(labels)
        .map(|line| {
            let mut tape = Tape::default();
            let label = tape.parse(line).unwrap();
            (text(label.get("id")), fix(label))
        })
        .collect();
    let cases = lines(runs).filter_map(|line| {
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(line)?);
        let name = text(record.id);
        let fix = *by_id.get(&name)?;
        let recovered = Gold::of(&record).map(|gold| gold.value.float()).filter(|_| fix == "step_run");
        Some(Case { text: line.to_vec(), name, fix, steps: Vec::new(), recovered, style: "real".to_owned() })
    });
    cases.collect()
}

/// What came of one set of cases.
#[derive(Default)]
struct Score {
    /// Label by verdict.
    table: [[usize; 5]; 5],
    steps: (usize, usize),
    recovered: (usize, usize),
    /// Findings above a note on right runs.
    alarms: Vec<String>,
    misses: Vec<String>,
}

impl Score {
    fn of(cases: &[Case], scorer: &dyn Scorer) -> Self {
        let mut score = Self::default();
        for case in cases {
            let read = stepscope_core::case::Case::read(&case.text);
            let view = read.view();
            assert!(view.record.is_some(), "{}", case.name);
            score.take(case, &scorer.verdict(&view), view.findings());
        }
        score
    }

    fn take(&mut self, case: &Case, verdict: &Verdict, findings: &Findings) {
        let at = |fix: &str| FIXES.iter().position(|known| *known == fix).unwrap();
        self.table[at(case.fix)][at(verdict.fix)] += 1;
        if case.fix != verdict.fix {
            self.misses.push(format!("{} -> {} {} {}", case.fix, verdict.fix, case.style, case.name));
        }
        if !case.steps.is_empty() {
            self.steps.1 += 1;
            let found = verdict.step.is_some_and(|step| case.steps.contains(&step));
            self.steps.0 += usize::from(found);
            if !found && case.fix == verdict.fix {
                let (style, name) = (&case.style, &case.name);
                self.misses.push(format!("step {:?}, not {:?}: {} {style} {name}", verdict.step, case.steps, case.fix));
            }
        }
        if let (Some(wanted), "step_run") = (case.recovered, case.fix) {
            self.recovered.1 += 1;
            self.recovered.0 += usize::from(verdict.recovered.is_some_and(|own| (own - wanted).abs() < 1e-6));
        }
        if case.fix == "none" {
            let grave = findings.iter().filter(|finding| finding.rule.word().starts_with("run/"));
            let grave = grave.filter(|finding| finding.severity < Severity::Note);
            self.alarms.extend(grave.map(|finding| format!("{}: {}", case.name, finding.rule)));
        }
    }

    /// Runs placed rightly; procedure and gold taken for each other count half.
    fn right(&self) -> f64 {
        let exact: usize = (0..5).map(|n| self.table[n][n]).sum();
        exact as f64 + (self.table[2][3] + self.table[3][2]) as f64 / 2.0
    }

    fn runs(&self) -> usize {
        self.table.iter().flatten().sum()
    }

    fn print(&self, title: &str) {
        println!("\n{title}");
        println!("{:>12} {}", "label", FIXES.map(|fix| format!("{fix:>10}")).join(""));
        for (fix, row) in FIXES.iter().zip(&self.table).take(4) {
            println!("{fix:>12} {}", row.map(|count| format!("{count:>10}")).join(""));
        }
        let share = 100.0 * self.right() / self.runs().max(1) as f64;
        println!("place to fix: {} of {} ({share:.0} %; procedure and gold confused: half)", self.right(), self.runs());
        println!("first bad step: {} of {}", self.steps.0, self.steps.1);
        println!("answer recovered: {} of {}", self.recovered.0, self.recovered.1);
        println!("findings above a note on right runs: {} {:?}", self.alarms.len(), self.alarms);
        if std::env::var_os("TRIAGE_MISSES").is_some() {
            println!("{}", self.misses.join("\n"));
        }
    }
}

/// What must hold of a set of cases.
struct Floor {
    right: f64,
    steps: usize,
    recovered: usize,
}

fn measure(title: &str, cases: &[Case], scorer: &dyn Scorer, floor: &Floor) {
    let score = Score::of(cases, scorer);
    score.print(&format!("{title}, {}", scorer.name()));
    assert!(score.alarms.is_empty(), "{:?}", score.alarms);
    assert!(score.right() >= floor.right, "{} is below {}", score.right(), floor.right);
    assert!(score.steps.0 >= floor.steps && score.recovered.0 >= floor.recovered);
}

#[test]
fn own_cases_are_told_apart() {
    let cases = own_cases("triage/cases.jsonl");
    assert!(cases.len() >= 60 && cases.iter().filter(|case| case.fix == "none").count() * 10 >= cases.len() * 3);
    measure("our own cases", &cases, &Blind, &Floor { right: 23.0, steps: 0, recovered: 0 });
    measure("our own cases", &cases, &Quantities, &Floor { right: 34.0, steps: 5, recovered: 0 });
    measure("our own cases", &cases, &Full, &Floor { right: 70.0, steps: 38, recovered: 20 });
}

#[test]
fn blind_cases_are_told_apart() {
    let cases = own_cases("triage/blind.jsonl");
    assert!(cases.len() >= 60 && cases.iter().filter(|case| case.fix == "none").count() >= 15);
    measure(
        "blind cases, after the rules were improved on them",
        &cases,
        &Full,
        &Floor { right: 66.0, steps: 40, recovered: 26 },
    );
}

#[test]
fn later_blind_cases_are_told_apart() {
    let cases = own_cases("triage/blind2.jsonl");
    assert_eq!(cases.len(), 25);
    measure(
        "later blind cases, as the rules first saw them",
        &cases,
        &Full,
        &Floor { right: 23.0, steps: 15, recovered: 6 },
    );
}

#[test]
fn real_runs_are_told_apart() {
    let cases = labelled(&fixture("real/runs.jsonl"), &fixture("real/labels.jsonl"));
    assert_eq!(cases.len(), 13);
    measure("thirteen real runs", &cases, &Blind, &Floor { right: 1.0, steps: 0, recovered: 0 });
    measure("thirteen real runs", &cases, &Quantities, &Floor { right: 1.0, steps: 0, recovered: 0 });
    measure("thirteen real runs", &cases, &Full, &Floor { right: 12.0, steps: 0, recovered: 6 });
}

#[test]
fn further_runs_are_told_apart() {
    let (Ok(runs), Ok(labels)) = (std::env::var("TRIAGE_RUNS"), std::env::var("TRIAGE_LABELS")) else { return };
    let cases = labelled(&std::fs::read(runs).unwrap(), &std::fs::read(labels).unwrap());
    measure("further runs", &cases, &Full, &Floor { right: 0.0, steps: 0, recovered: 0 });
}
