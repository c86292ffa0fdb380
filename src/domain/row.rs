//! What the table, the filters and the counts keep of a record: forty bytes, whatever the record's size.

use super::finding::{Findings, Severity};
use super::json::Value;
use super::record::{Record, RecordKind};
use super::rules::{RULES, Subject};
use super::triage::{Fix, Triage};

/// One record in the table. Absent numbers are NaN.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// First byte of the record in its source.
    pub offset: u64,
    /// Which rules spoke: bit n is `RULES[n]`; all from the 64th on share the last bit.
    pub rules: u64,
    /// Bytes of the record; at most `u32::MAX`.
    pub len: u32,
    /// The fitness that was recorded.
    pub fitness: f32,
    /// The confidence that the model gave itself.
    pub confidence: f32,
    /// The final number.
    pub pred_num: f32,
    /// How many findings of each severity, gravest first; 255 means 255 or more.
    pub counts: [u8; 4],
    /// How many steps the procedure has.
    pub steps: u16,
    /// The kind in the lower four bits, the triage in the upper.
    kind: u8,
    flags: u8,
}

/// The upper bits of `Row::kind`: 0 is no triage, else one more than the place in [`Fix::ALL`].
const FIX_SHIFT: u8 = 4;
/// The highest bit of `Row::kind`: the recovered answer is the gold one.
const RECOVERS_GOLD: u8 = 0x80;
const _: () = assert!(RecordKind::ALL.len() <= 16 && Fix::ALL.len() < 8, "kind and triage share a byte");

const _: () = assert!(size_of::<Row>() == 40, "the memory promise: forty bytes a record");

/// Facts about a record that need one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Flag {
    /// The rules have looked at it.
    Checked = 1,
    /// The run was judged right.
    Right = 2,
    /// The run was judged wrong.
    Wrong = 4,
    /// It holds a run trace.
    Trace = 8,
    /// It holds a procedure.
    Procedure = 16,
    /// It stands behind another value on one line or in one document.
    Joined = 32,
    /// Its id stands earlier in the same source.
    Duplicate = 64,
    /// Checking it failed: a fault of stepscope, not of the record.
    Fault = 128,
}

impl Row {
    /// A record of which nothing is known but its place.
    pub const fn unchecked(offset: u64, len: u64) -> Self {
        Self {
            offset,
            rules: 0,
            len: if len > u32::MAX as u64 { u32::MAX } else { len as u32 },
            fitness: f32::NAN,
            confidence: f32::NAN,
            pred_num: f32::NAN,
            counts: [0; 4],
            steps: 0,
            kind: RecordKind::Unknown as u8,
            flags: 0,
        }
    }

    /// What the rules and the record itself say; the place is kept.
    #[must_use]
    pub fn checked(self, subject: &Subject<'_>, findings: &Findings, baseline: Option<f64>) -> Self {
        let mut row = Self { kind: RecordKind::Broken as u8, ..Self::unchecked(self.offset, u64::from(self.len)) };
        row.flags = (self.flags & Flag::Joined as u8) | Flag::Checked as u8;
        if let Some(record) = &subject.record {
            row.take(record);
        }
        row.steps = subject.procedure.as_ref().map_or(0, |procedure| procedure.steps.len().min(0xffff) as u16);
        for finding in findings {
            row.note(finding.rule, finding.severity);
        }
        if row.has(Flag::Right) && subject.is_right() {
            // Most runs are right, and then there is nothing to look for.
            row.kind |= 1 << FIX_SHIFT;
        } else if let Some(triage) = Triage::judge(subject, findings, baseline) {
            row.judge(&triage);
        }
        row
    }

    fn take(&mut self, record: &Record<'_>) {
        let number = |value: Option<Value<'_>>| value.and_then(Value::float).map_or(f32::NAN, |number| number as f32);
        self.kind = record.kind as u8;
        self.fitness = number(record.fitness);
        self.confidence = record.confidence().map_or(f32::NAN, |number| number as f32);
        self.pred_num = number(record.pred_num);
        for (flag, on) in [
            (Flag::Right, record.correct == Some(true)),
            (Flag::Wrong, record.correct == Some(false)),
            (Flag::Trace, record.trace_steps.is_some()),
            (Flag::Procedure, record.procedure.is_some()),
        ] {
            if on {
                self.set(flag);
            }
        }
    }

    /// Counts one finding.
    pub fn note(&mut self, rule: &str, severity: Severity) {
        if let Some(n) = RULES.iter().position(|known| known.id == rule) {
            self.rules |= rule_bit(n);
        }
        if let Some(count) = self.counts.get_mut(severity as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// What the record is; `Unknown` until it was checked.
    pub fn kind(&self) -> RecordKind {
        RecordKind::ALL.get(usize::from(self.kind & 0xf)).copied().unwrap_or(RecordKind::Unknown)
    }

    /// Notes where to fix the run.
    pub fn judge(&mut self, triage: &Triage) {
        let place = Fix::ALL.iter().position(|fix| *fix == triage.fix).map_or(0, |place| place + 1);
        self.kind = (self.kind & 0xf) | ((place as u8) << FIX_SHIFT);
        if triage.recovers_gold {
            self.kind |= RECOVERS_GOLD;
        }
    }

    /// Where to fix the run; `None`: it was not judged.
    pub fn fix(&self) -> Option<Fix> {
        let place = usize::from((self.kind & !RECOVERS_GOLD) >> FIX_SHIFT).checked_sub(1)?;
        Fix::ALL.get(place).copied()
    }

    /// Whether the procedure, executed exactly, gives the gold answer.
    pub const fn recovers_gold(&self) -> bool {
        self.kind & RECOVERS_GOLD != 0
    }

    /// Whether a fact holds.
    pub const fn has(&self, flag: Flag) -> bool {
        self.flags & flag as u8 != 0
    }

    /// Notes a fact.
    pub const fn set(&mut self, flag: Flag) {
        self.flags |= flag as u8;
    }

    /// Whether the run was judged right; `None`: it says nothing of it.
    pub const fn correct(&self) -> Option<bool> {
        match (self.has(Flag::Right), self.has(Flag::Wrong)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Whether a rule spoke; the index is the one in `RULES`.
    pub const fn spoke(&self, rule: usize) -> bool {
        self.rules & rule_bit(rule) != 0
    }

    /// How many findings of a severity.
    pub fn count(&self, severity: Severity) -> u8 {
        self.counts.get(severity as usize).copied().unwrap_or(0)
    }

    /// The gravest severity among its findings.
    pub fn worst(&self) -> Option<Severity> {
        Severity::ALL.into_iter().find(|&severity| self.count(severity) > 0)
    }

    /// One past the last byte of the record in its source.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.len))
    }
}

/// The bit of a rule by its position in `RULES`.
pub const fn rule_bit(rule: usize) -> u64 {
    1 << if rule > 63 { 63 } else { rule }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::finding::{Finding, Place};
    use crate::domain::formats;
    use crate::domain::json::{Pointer, Tape};

    #[test]
    fn a_row_says_what_the_record_says() {
        let text = br#"{"id": 1, "procedure": {"steps": [{}, {}]}, "state": {"confidence": 0.5}, "fitness": 0.25, "pred_num": 7, "correct": false, "trace": {"steps": []}}"#;
        let mut tape = Tape::default();
        let root = tape.parse(text).unwrap();
        let subject = Subject::new(text, &[], Some(formats::read(root)));
        let finding = |severity| Finding::new("x", severity, "m", Place::Value(Pointer::default()));
        let mut findings = vec![finding(Severity::Warning); 300];
        findings.push(finding(Severity::Note));
        let row = Row::unchecked(12, 34).checked(&subject, &findings, None);
        assert_eq!((row.offset, row.len, row.end(), row.steps), (12, 34, 46, 2));
        assert_eq!((row.fitness, row.confidence, row.pred_num), (0.25, 0.5, 7.0));
        assert_eq!((row.kind(), row.correct()), (RecordKind::Procedural, Some(false)));
        assert!(row.has(Flag::Trace) && row.has(Flag::Procedure) && row.has(Flag::Checked) && !row.has(Flag::Joined));
        assert_eq!(row.counts, [0, 0, 255, 1]);
        assert_eq!(row.worst(), Some(Severity::Warning));
    }

    #[test]
    fn the_row_and_the_verdict_agree_on_what_is_right() {
        let cases = [
            // Judged right, with another number than gold: gold counts.
            (r#""gold_num": 10, "pred_num": 12, "correct": true"#, Fix::Procedure),
            // Judged right by a gold number that was misread at its comma.
            (r#""gold_answer": "24 * 45 #### 1,080", "gold_num": 1, "pred_num": 1, "correct": true"#, Fix::Procedure),
            (r#""gold_answer": "24 * 45 #### 1,080", "gold_num": 1, "pred_num": 1080, "correct": false"#, Fix::Gold),
        ];
        for (facts, fix) in cases {
            let text = format!(r#"{{"procedure": {{"steps": [{{}}]}}, "state": {{"a": 1}}, {facts}}}"#);
            let mut tape = Tape::default();
            let root = tape.parse(text.as_bytes()).unwrap();
            let subject = Subject::new(text.as_bytes(), &[], Some(formats::read(root)));
            let row = Row::unchecked(0, 3).checked(&subject, &Findings::new(), None);
            let verdict = Triage::judge(&subject, &Findings::new(), None).map(|triage| triage.fix);
            assert_eq!((row.fix(), verdict), (Some(fix), Some(fix)), "{facts}");
        }
    }

    #[test]
    fn a_broken_record_is_broken() {
        let row = Row::unchecked(0, 3).checked(&Subject::new(b"{a}", &[], None), &Findings::new(), None);
        assert_eq!(row.kind(), RecordKind::Broken);
        assert!(row.fitness.is_nan() && row.correct().is_none());
    }
}
