//! Row of a record for the table, the filters and the counts: forty bytes, whatever the record's size.

use std::sync::LazyLock;

use crate::case::CaseView;
use crate::cause::Cause;
use crate::hide::{Hidden, Hide};
use crate::route::Route;
use crate::rule_set::{PeerAgreement, RuleSet};
use crate::slip_form::{Slip, SlipForm};
use crate::texts::given_number;
use crate::triage::{Fix, Triage};
use stepscope_arithmetic::number::near;
use stepscope_base::json::Value;
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::fork_origin::is_fork;
use stepscope_record::models::MAX_MODELS;
use stepscope_record::rule_id::{QueueClass, RuleId};
use stepscope_record::{Record, RecordKind};

/// One record in the table. Absent numbers are NaN.
#[derive(Clone, Copy, Debug)]
pub struct RowFacts {
    /// First byte of the record in its source, from [`CAUSE_SHIFT`] on the cause, then [`IS_FORK`]; from [`STEP_SHIFT`] on
    /// the step to fix, from [`MODEL_SHIFT`] on the number of its model.
    place: u64,
    /// Rules that found something.
    rules: &'static RuleSet,
    /// Bytes of the record; at most `u32::MAX`.
    pub len: u32,
    /// The confidence that the model gave itself.
    pub confidence: f32,
    /// Of a run, fitness and final number as the bits of floats; of a call, reward and [`Verified`]; of a procedure,
    /// fitness and generation; of a structured answer, what [`TypedRow`] says.
    facts: [u32; 2],
    /// Number of findings of each severity, gravest first; 255 means 255 or more.
    pub counts: [u8; 4],
    /// Number of steps of the procedure or chain of thought.
    steps: u16,
    /// The kind in the lower four bits, the triage in the upper.
    kind: u8,
    flags: u8,
}

/// The bits of `RowFacts::place` above the offset: 0 is no cause, else one more than the place in [`Cause::ALL`]. No file
/// has 4 TB.
const CAUSE_SHIFT: u32 = 42;
const CAUSE_BITS: u64 = 0x1f << CAUSE_SHIFT;
const _: () = assert!(Cause::ALL.len() < 0x1f, "a cause is five bits");
/// The bits of `RowFacts::place` that are the offset.
const OFFSET_BITS: u64 = (1 << CAUSE_SHIFT) - 1;
/// The bit of `RowFacts::place` above the cause: the record says that it is a fork.
const IS_FORK: u64 = 1 << 47;
/// The byte of `RowFacts::place` above that: 0 is no step, else its number from 1.
const STEP_SHIFT: u32 = 48;
/// The highest byte of `RowFacts::place`: 0 is no model, else its number among the `ModelNames`.
const MODEL_SHIFT: u32 = 56;
const _: () = assert!(MAX_MODELS <= u8::MAX as usize, "the number of a model is a byte");

/// The upper bits of `RowFacts::kind`: 0 is no triage, else one more than the place in [`Fix::ALL`].
const FIX_SHIFT: u8 = 4;
/// The highest bit of `RowFacts::kind`: the recovered answer is the gold one.
const RECOVERS_GOLD: u8 = 0x80;
const _: () = assert!(RecordKind::ALL.len() <= 16 && Fix::ALL.len() < 8, "kind and fix share a byte");

const _: () = assert!(size_of::<RowFacts>() <= 40, "the memory promise: forty bytes a record");

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

/// Statements of a structured answer about itself, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AnswerFlag {
    /// An answer was found.
    Found = 1,
    /// It is complete.
    Complete = 2,
    /// The evidence conflicts.
    Conflict = 4,
    /// The model asks back.
    Clarify = 8,
    /// The text reached the model without its layout.
    Unstructured = 16,
}

/// Facts that a row keeps of a structured answer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TypedRow {
    /// Route that the answer takes.
    pub route: Option<Route>,
    /// Verdict on truncation, as the page after the last tells it.
    pub truncation: TruncationVerdict,
    /// The type that was asked for, by its place among the types.
    pub asked: Option<u8>,
    /// Bits of [`AnswerFlag`].
    said: u8,
    /// Number of items whose quotes are where they should be; `None` if the document is not at hand.
    pub grounded: Option<u16>,
    /// Number of items.
    pub items: u16,
}

impl TypedRow {
    /// Collects what rules and record say of a structured answer.
    fn of(case: &CaseView<'_>, findings: &[Finding]) -> Option<Self> {
        let (typed, answered) = case.answered()?;
        let routed = case.routed_by(findings);
        let asked = answered.asked.kind.as_ref().and_then(|kind| case.types().position(kind.bytes()));
        let is = |flag, wanted| typed.flag(flag) == Some(wanted);
        let small = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let clarify = routed.iter().any(|routed| routed.fired().any(|route| route == Route::Clarify));
        let said = [
            (AnswerFlag::Found, is("answer_found", true)),
            (AnswerFlag::Complete, is("complete_answer_found", true)),
            (AnswerFlag::Conflict, is("conflicting_evidence", true)),
            (AnswerFlag::Clarify, clarify),
            (AnswerFlag::Unstructured, is("context_structured", false)),
        ];
        Some(Self {
            route: routed.as_ref().map(|routed| routed.route),
            truncation: routed.map(|routed| routed.truncation).unwrap_or_default(),
            asked: asked.and_then(|place| u8::try_from(place).ok()).filter(|place| *place < u8::MAX),
            said: said.iter().filter(|(_, on)| *on).fold(0, |bits, (said, _)| bits | *said as u8),
            grounded: case.grounded().map(small).filter(|count| *count < u16::MAX),
            items: small(answered.items.len()),
        })
    }

    fn pack(self) -> [u32; 2] {
        let place = |at: Option<usize>| at.map_or(0, |at| at as u32 + 1);
        let route = place(Route::ALL.iter().position(|route| Some(*route) == self.route));
        let truncation = place(TruncationVerdict::ALL.iter().position(|verdict| *verdict == self.truncation));
        let asked = place(self.asked.map(usize::from));
        let counts = u32::from(self.grounded.unwrap_or(u16::MAX)) << 16 | u32::from(self.items);
        [route | truncation << 4 | asked << 8 | u32::from(self.said) << 16, counts]
    }

    fn unpack([first, counts]: [u32; 2]) -> Self {
        let place = |shift: u32, mask: u32| (first >> shift & mask).checked_sub(1);
        Self {
            route: place(0, 0xf).and_then(|n| Route::ALL.get(n as usize).copied()),
            truncation: place(4, 0xf).and_then(|n| TruncationVerdict::ALL.get(n as usize).copied()).unwrap_or_default(),
            asked: place(8, 0xff).and_then(|n| u8::try_from(n).ok()),
            said: (first >> 16) as u8,
            grounded: Some((counts >> 16) as u16).filter(|count| *count < u16::MAX),
            items: counts as u16,
        }
    }

    /// Tells whether the answer says so of itself.
    pub const fn says(&self, said: AnswerFlag) -> bool {
        self.said & said as u8 != 0
    }

    /// Calculates the share of items that are grounded; `None` without items, and where it cannot be told.
    pub fn share(&self) -> Option<f64> {
        let grounded = self.grounded.filter(|_| self.items > 0)?;
        Some(f64::from(grounded) / f64::from(self.items))
    }
}

/// Facts about a completion that a verifier scored, in 32 bits: the stages that it passed and the training cycle, each
/// one more than it is, 0 where it is not known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Verified {
    stages: Option<u8>,
    round: Option<u16>,
}

impl Verified {
    fn of(case: &CaseView<'_>, record: &Record<'_>) -> Self {
        let round = record.round.and_then(Value::float).filter(|round| round.fract() == 0.0 && *round >= 0.0);
        let round = round.and_then(|round| u16::try_from(round as u64).ok()).filter(|round| *round < u16::MAX);
        if record.kind == RecordKind::Procedure {
            return Self { stages: None, round };
        }
        if !record.reward.and_then(Value::float).is_some_and(f64::is_finite) {
            return Self::default();
        }
        let details = record.details.and_then(Value::string);
        let stages = details.and_then(|details| stages_passed(details.bytes())).filter(|stages| *stages < u8::MAX);
        Self { stages, round: round.or_else(|| cycle_of(case.source().bytes())) }
    }

    fn pack(self) -> u32 {
        let stages = self.stages.map_or(0, |stages| u32::from(stages) + 1);
        stages | self.round.map_or(0, |round| u32::from(round) + 1) << 16
    }

    fn unpack(bits: u32) -> Self {
        Self { stages: ((bits & 0xff) as u8).checked_sub(1), round: ((bits >> 16) as u16).checked_sub(1) }
    }
}

/// Reads the training cycle from the name of a file, `cycle_3_verified.jsonl`.
fn cycle_of(source: &[u8]) -> Option<u16> {
    let name = source.rsplit(|byte| matches!(byte, b'/' | b'\\')).next()?;
    let digits = name.strip_prefix(b"cycle_")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

/// Reads the number of stages that passed from the details of a chain of verifiers: `Stage 1: ...; Stage 2: ...` of
/// one that passed, `Stage 2 failed: ...` of one that stopped.
fn stages_passed(details: &[u8]) -> Option<u8> {
    let rest = details.strip_prefix(b"Stage ")?;
    let (digits, rest) = rest.split_at(rest.iter().position(|byte| !byte.is_ascii_digit())?);
    let first: u8 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    if rest.starts_with(b" failed: ") {
        return first.checked_sub(1);
    }
    let mut passed = (first == 1 && rest.starts_with(b": ")).then_some(first)?;
    while let Some(next) = passed.checked_add(1)
        && memchr::memmem::find(rest, format!("; Stage {next}: ").as_bytes()).is_some()
    {
        passed = next;
    }
    Some(passed)
}

/// Content of the first of a row's two words of facts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstFact {
    Fitness,
    Reward,
    Typed,
}

/// Content of the second word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SecondFact {
    Number,
    Verified,
    Typed,
}

/// Returns the content of both words in the row of a record; of a structured answer they are a [`TypedRow`].
const fn facts_of(kind: RecordKind) -> (FirstFact, SecondFact) {
    match kind {
        RecordKind::Call => (FirstFact::Reward, SecondFact::Verified),
        RecordKind::Procedure => (FirstFact::Fitness, SecondFact::Verified),
        RecordKind::Chain => (FirstFact::Reward, SecondFact::Number),
        RecordKind::Typed => (FirstFact::Typed, SecondFact::Typed),
        RecordKind::Procedural
        | RecordKind::Baseline
        | RecordKind::Fixed
        | RecordKind::Error
        | RecordKind::Answer
        | RecordKind::Unknown
        | RecordKind::Broken => (FirstFact::Fitness, SecondFact::Number),
    }
}

impl RowFacts {
    /// A record of which nothing is known but its place.
    pub const fn unchecked(offset: u64, len: u64) -> Self {
        Self {
            place: offset & OFFSET_BITS,
            rules: &RuleSet::EMPTY,
            len: if len > u32::MAX as u64 { u32::MAX } else { len as u32 },
            confidence: f32::NAN,
            facts: [f32::NAN.to_bits(); 2],
            counts: [0; 4],
            steps: 0,
            kind: RecordKind::Unknown as u8,
            flags: 0,
        }
    }

    /// Of a case: what the record itself says and, if the rules looked at it, what they and its verdict say.
    pub fn of(case: &CaseView<'_>, is_checked: bool) -> Self {
        let origin = case.origin();
        let mut row = Self::unchecked(origin.offset, origin.len);
        if origin.joined {
            row.set(Flag::Joined);
        }
        if !is_checked {
            return row.read(case);
        }
        row = row.checked(case, case.findings(), case.baseline());
        if case.is_fault() {
            row.set(Flag::Fault);
        }
        row
    }

    /// Takes what the record itself says, where no rule looks at it; the place is kept.
    fn read(mut self, case: &CaseView<'_>) -> Self {
        self.kind = RecordKind::Broken as u8;
        if let Some(record) = &case.record {
            self.take(case, record);
        }
        self
    }

    /// First byte of the record in its source.
    pub const fn offset(&self) -> u64 {
        self.place & OFFSET_BITS
    }

    /// Tells whether the record says that it is a fork, wherever it is kept.
    pub const fn is_fork(&self) -> bool {
        self.place & IS_FORK != 0
    }

    /// Puts a number into a byte above the offset.
    fn set_byte(&mut self, shift: u32, byte: u8) {
        self.place = self.place & !(0xff << shift) | u64::from(byte) << shift;
    }

    /// Returns the number of the model that gave the answer, among the
    /// `ModelNames`(stepscope_record::models::ModelNames); `None`: the record names none.
    pub fn model(&self) -> Option<u16> {
        Some((self.place >> MODEL_SHIFT) as u16).filter(|model| *model > 0)
    }

    fn set_model(&mut self, model: Option<u16>) {
        self.set_byte(MODEL_SHIFT, model.unwrap_or(0) as u8);
    }

    /// Takes what the rules and the record itself say; the place is kept.
    #[must_use]
    pub fn ruled(self, case: &CaseView<'_>, findings: &[Finding], baseline: Option<f64>) -> Self {
        let mut row = Self { kind: RecordKind::Broken as u8, ..Self::unchecked(self.offset(), u64::from(self.len)) };
        row.flags = (self.flags & Flag::Joined as u8) | Flag::Checked as u8;
        if let Some(record) = &case.record {
            row.take(case, record);
            // The grade in the record gives way to the expected answer.
            row.flags &= !(Flag::Right as u8 | Flag::Wrong as u8);
            match case.rightness().verdict() {
                Some(true) => row.set(Flag::Right),
                Some(false) => row.set(Flag::Wrong),
                None => {}
            }
        }
        row.steps = case.procedure().map_or(0, |procedure| procedure.steps.len().min(0xffff) as u16);
        if let Some(typed) = TypedRow::of(case, findings) {
            row.facts = typed.pack();
        }
        let mut rules = RuleSet::EMPTY;
        for finding in findings {
            rules.insert(finding.rule);
            row.count_findings(finding.severity, finding.count());
        }
        // The column keeps 32 bits, too few to tell neighbours apart.
        let own = case.record.as_ref().filter(|_| !row.pred_num().is_nan()).and_then(given_number);
        rules.set_disagrees(own.zip(baseline).is_some_and(|(own, baseline)| !near(own, baseline)));
        if let Some(opinion) = case.peer_opinion() {
            rules.set_peers(opinion.agreement());
        }
        row.rules = rules.shared();
        row
    }

    /// Takes what the rules, the record itself and the verdict on it say; the place is kept.
    #[must_use]
    pub fn checked(self, case: &CaseView<'_>, findings: &[Finding], baseline: Option<f64>) -> Self {
        let mut row = self.ruled(case, findings, baseline);
        // By what is its own the case judges once, whoever asks.
        let own: &[Finding] = case.findings();
        let is_own = std::ptr::eq(findings, own) && baseline == case.baseline();
        let others = if is_own { None } else { case.triage_by(findings, baseline) };
        let triage = if is_own { case.triage() } else { others.as_ref() };
        if let Some(triage) = triage {
            row.judge(triage);
        }
        row.set_cause(case.cause(findings, triage));
        if let Some(slip) = Slip::of(case, row.cause(), triage) {
            let mut rules = *row.rules;
            rules.set_slip(slip.form as u8 + 1);
            row.rules = rules.shared();
        }
        row
    }

    fn take(&mut self, case: &CaseView<'_>, record: &Record<'_>) {
        let number = |value: Option<Value<'_>>| value.and_then(Value::float).map_or(f32::NAN, |number| number as f32);
        self.kind = record.kind as u8;
        self.confidence = record.confidence().map_or(f32::NAN, |number| number as f32);
        let (first, second) = facts_of(record.kind);
        let first = match first {
            FirstFact::Fitness => number(record.fitness),
            FirstFact::Reward => number(record.reward),
            // Its facts are taken with what the rules say.
            FirstFact::Typed => f32::NAN,
        };
        let second = match second {
            SecondFact::Number => given_number(record).map_or(f32::NAN, |number| number as f32).to_bits(),
            SecondFact::Verified => Verified::of(case, record).pack(),
            SecondFact::Typed => f32::NAN.to_bits(),
        };
        self.facts = [first.to_bits(), second];
        if is_fork(record.root) {
            self.place |= IS_FORK;
        }
        self.set_model(case.models().zip(record.model()).and_then(|(models, name)| models.number(&name)));
        for (flag, on) in [
            (Flag::Right, record.correct == Some(true)),
            (Flag::Wrong, record.correct == Some(false)),
            (Flag::Trace, record.trace_steps.is_some()),
            (Flag::Procedure, record.procedure.is_some() && record.chain.is_none()),
        ] {
            if on {
                self.set(flag);
            }
        }
    }

    /// The fitness that was recorded; NaN where there is none.
    pub fn fitness(&self) -> f32 {
        self.first(FirstFact::Fitness)
    }

    /// Counts the steps of a procedure or chain of thought; `None` of all other records.
    pub fn step_count(&self) -> Option<u16> {
        (self.has(Flag::Procedure) || self.kind() == RecordKind::Chain).then_some(self.steps)
    }

    /// The final number; NaN where there is none.
    pub fn pred_num(&self) -> f32 {
        self.second(SecondFact::Number).map_or(f32::NAN, f32::from_bits)
    }

    /// The reward that was recorded; NaN where there is none.
    pub fn reward(&self) -> f32 {
        self.first(FirstFact::Reward)
    }

    fn verified(&self) -> Verified {
        self.second(SecondFact::Verified).map(Verified::unpack).unwrap_or_default()
    }

    fn first(&self, wanted: FirstFact) -> f32 {
        let [first, _] = self.facts;
        if facts_of(self.kind()).0 == wanted { f32::from_bits(first) } else { f32::NAN }
    }

    fn second(&self, wanted: SecondFact) -> Option<u32> {
        let [_, second] = self.facts;
        (facts_of(self.kind()).1 == wanted).then_some(second)
    }

    /// Counts the stages of a chain of verifiers that it passed; `None` where its details name none.
    pub fn stages(&self) -> Option<u8> {
        self.verified().stages
    }

    /// Returns the training cycle of a completion.
    pub fn cycle(&self) -> Option<u16> {
        self.verified().round.filter(|_| self.kind() == RecordKind::Call)
    }

    /// Returns the generation of a procedure in a genetic search.
    pub fn generation(&self) -> Option<u16> {
        self.verified().round.filter(|_| self.kind() == RecordKind::Procedure)
    }

    /// Returns the facts of a structured answer; `None` for all other records.
    pub fn typed(&self) -> Option<TypedRow> {
        (self.kind() == RecordKind::Typed).then(|| TypedRow::unpack(self.facts))
    }

    /// Counts one finding.
    pub fn note(&mut self, rule: RuleId, severity: Severity) {
        let mut rules = *self.rules;
        rules.insert(rule);
        self.rules = rules.shared();
        self.count_findings(severity, 1);
    }

    fn count_findings(&mut self, severity: Severity, number: usize) {
        if let Some(count) = self.counts.get_mut(severity as usize) {
            *count = count.saturating_add(u8::try_from(number).unwrap_or(u8::MAX));
        }
    }

    /// Returns the kind of the record; `Unknown` until it was read.
    pub fn kind(&self) -> RecordKind {
        RecordKind::ALL.get(usize::from(self.kind & 0xf)).copied().unwrap_or(RecordKind::Unknown)
    }

    /// Notes where to fix the run, and in which step.
    pub fn judge(&mut self, triage: &Triage) {
        let place = Fix::ALL.iter().position(|fix| *fix == triage.fix).map_or(0, |place| place + 1);
        self.kind = (self.kind & 0xf) | ((place as u8) << FIX_SHIFT);
        if triage.recovers_gold {
            self.kind |= RECOVERS_GOLD;
        }
        let step = triage.step.map_or(0, |step| u8::try_from(step).unwrap_or(u8::MAX).saturating_add(1));
        self.set_byte(STEP_SHIFT, step);
    }

    /// Returns the place to fix; `None`: the run was not judged.
    pub fn fix(&self) -> Option<Fix> {
        let place = usize::from((self.kind & !RECOVERS_GOLD) >> FIX_SHIFT).checked_sub(1)?;
        Fix::ALL.get(place).copied()
    }

    /// Tells whether it is right although one of its steps, or its plan, is proven wrong.
    pub fn is_lucky(&self) -> bool {
        self.correct() == Some(true) && self.fix().is_some_and(Fix::is_in_run)
    }

    /// Returns the number of the step to fix, from 1; [`u8::MAX`] is that step or a later one. `None`: no single step.
    pub fn fix_step(&self) -> Option<u8> {
        Some((self.place >> STEP_SHIFT) as u8).filter(|step| *step > 0)
    }

    /// Returns the way in which it failed; `None`: nothing more than a note speaks against it.
    pub fn cause(&self) -> Option<Cause> {
        let place = ((self.place & CAUSE_BITS) >> CAUSE_SHIFT) as usize;
        Cause::ALL.get(place.checked_sub(1)?).copied()
    }

    pub(crate) fn set_cause(&mut self, cause: Option<Cause>) {
        let bits = cause.map_or(0, |cause| cause as u64 + 1);
        self.place = self.place & !CAUSE_BITS | bits << CAUSE_SHIFT;
    }

    /// Tells whether the procedure, recomputed, gives the expected answer.
    pub const fn recovers_gold(&self) -> bool {
        self.kind & RECOVERS_GOLD != 0
    }

    /// Tells whether a fact holds.
    pub const fn has(&self, flag: Flag) -> bool {
        self.flags & flag as u8 != 0
    }

    /// Notes a fact.
    pub const fn set(&mut self, flag: Flag) {
        self.flags |= flag as u8;
    }

    /// Leaves what may be told of the record while something of it is hidden: it is the same for records that differ in
    /// nothing else, so that no filter, order or count gives it away. A rule that found something counts once then.
    #[must_use]
    pub fn hiding(mut self, hide: Hide) -> Self {
        if hide.is_empty() {
            return self;
        }
        if hide.has(Hidden::Gold) {
            self.flags &= !(Flag::Right as u8 | Flag::Wrong as u8);
            // A verifier that knows the answer gives it away by its reward.
            let (first, second) = facts_of(self.kind());
            if first == FirstFact::Reward {
                let [reward, _] = &mut self.facts;
                *reward = f32::NAN.to_bits();
            }
            if second == SecondFact::Verified {
                let hidden = Verified { stages: None, ..self.verified() };
                let [_, bits] = &mut self.facts;
                *bits = hidden.pack();
            }
        }
        if hide.has(Hidden::Model) {
            self.set_model(None);
        }
        let mut rules = *self.rules;
        self.set_cause(None);
        rules.set_slip(0);
        if hide.hides_fix() {
            self.kind &= 0xf;
            self.set_byte(STEP_SHIFT, 0);
            rules.set_disagrees(false);
            rules.set_peers(PeerAgreement::default());
        }
        if hide.has(Hidden::Confidence) {
            self.confidence = f32::NAN;
        }
        // Low confidence: a person looks at it.
        if let Some(typed) = self.typed().filter(|_| hide.hides_route()) {
            self.facts = TypedRow { route: None, said: typed.said & !(AnswerFlag::Clarify as u8), ..typed }.pack();
        }
        hide.each().flat_map(Hidden::rules).for_each(|rule| rules.remove(*rule));
        self.rules = rules.shared();
        self.counts = [0; 4];
        rules.rules().for_each(|rule| self.count_findings(rule.severity(), 1));
        self
    }

    /// Tells whether the run was judged right; `None`: the record does not say.
    pub const fn correct(&self) -> Option<bool> {
        match (self.has(Flag::Right), self.has(Flag::Wrong)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Tells whether it is wrong: graded so, ended with an error, not readable, or an answer to be rejected.
    pub fn is_wrong(&self) -> bool {
        let failed = matches!(self.kind(), RecordKind::Error | RecordKind::Broken) && self.has(Flag::Checked);
        let rejected = self.typed().is_some_and(|typed| typed.route == Some(Route::Reject));
        self.correct().map_or(failed || rejected, |correct| !correct)
    }

    /// Tells whether the baseline gives another answer, as far as there is one.
    pub(crate) fn disagrees(&self) -> bool {
        self.rules.disagrees()
    }

    /// Returns the form of its slip; `None`: it failed in no such way, or the right value is not known.
    pub fn slip_form(&self) -> Option<SlipForm> {
        SlipForm::ALL.get(usize::from(self.rules.slip()).checked_sub(1)?).copied()
    }

    /// Counts the peers that give its answer, and those with an answer; `None`: it has none, or nobody can tell.
    pub fn peers(&self) -> Option<[u8; 2]> {
        let peers = self.rules.peers();
        (peers.of > 0).then_some([peers.agree, peers.of])
    }

    /// Calculates the share of its values on the way that its peers have, on average; `None` where nobody can tell.
    pub fn shared_values(&self) -> Option<f64> {
        self.rules.peers().values()
    }

    /// Tells whether any of these rules found something.
    pub fn spoke(&self, rules: &RuleSet) -> bool {
        self.rules.meets(rules)
    }

    /// The rules that spoke.
    pub fn rules(&self) -> impl Iterator<Item = RuleId> + '_ {
        self.rules.rules()
    }

    /// The rule of the first of its gravest findings.
    pub fn leading(&self) -> Option<RuleId> {
        let worst = self.worst()?;
        self.rules().find(|rule| rule.severity() == worst)
    }

    /// Counts the findings of a severity.
    pub fn count(&self, severity: Severity) -> u8 {
        self.counts.get(severity as usize).copied().unwrap_or(0)
    }

    /// The gravest severity among its findings.
    pub fn worst(&self) -> Option<Severity> {
        Severity::ALL.into_iter().find(|&severity| self.count(severity) > 0)
    }

    /// One past the last byte of the record in its source.
    pub fn end(&self) -> u64 {
        self.offset().saturating_add(u64::from(self.len))
    }

    /// Determines its class in the review queue.
    pub fn queue_class(&self) -> QueueClass {
        static RULES: LazyLock<[RuleSet; 3]> =
            LazyLock::new(|| [QueueClass::Missing, QueueClass::Flagged, QueueClass::Ungrounded].map(RuleSet::in_queue));
        let [missing, flagged, spans] = &*RULES;
        let typed = self.typed();
        let unfound = typed.as_ref().is_some_and(|typed| !typed.says(AnswerFlag::Found));
        let ungrounded = typed.as_ref().and_then(TypedRow::share).is_some_and(|share| share < 1.0);
        match self.kind() {
            RecordKind::Error | RecordKind::Broken => QueueClass::Missing,
            _ if unfound || self.spoke(missing) => QueueClass::Missing,
            _ if self.count(Severity::Fatal) > 0 => QueueClass::Fatal,
            _ if self.correct() == Some(false) || self.spoke(flagged) => QueueClass::Flagged,
            _ if ungrounded || self.spoke(spans) => QueueClass::Ungrounded,
            _ if self.disagrees() => QueueClass::Disagrees,
            _ => QueueClass::Clean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::rules::{RULES, example};
    use crate::triage::Confidence;
    use serde_json::Value as Json;
    use stepscope_base::text::Shown;
    use stepscope_record::finding::{Finding, Place};
    use stepscope_record::models::ModelNames;

    use stepscope_base::json::Pointer;

    #[test]
    fn a_row_says_what_the_record_says() {
        let text = br#"{"id": 1, "procedure": {"steps": [{}, {}]}, "state": {"confidence": 0.5}, "fitness": 0.25, "pred_num": 7, "correct": false, "trace": {"steps": []}}"#;
        let case = Case::read(text);
        let view = case.view();
        let place = Place::Value(Pointer::default());
        let finding = |severity| Finding::new(RuleId::Unused, "m", place.clone()).severity(severity);
        let mut findings = vec![finding(Severity::Warning); 300];
        findings.push(finding(Severity::Note));
        let row = RowFacts::unchecked(12, 34).checked(&view, &findings, None);
        assert_eq!((row.offset(), row.len, row.end(), row.steps), (12, 34, 46, 2));
        assert_eq!((row.fitness(), row.confidence, row.pred_num()), (0.25, 0.5, 7.0));
        assert_eq!((row.kind(), row.correct()), (RecordKind::Procedural, Some(false)));
        assert!(row.has(Flag::Trace) && row.has(Flag::Procedure) && row.has(Flag::Checked) && !row.has(Flag::Joined));
        assert_eq!(row.counts, [0, 0, 255, 1]);
        assert_eq!(row.worst(), Some(Severity::Warning));
    }

    #[test]
    fn the_row_and_the_verdict_agree_on_what_is_right() {
        let cases = [
            // Ended in an error, whatever it answered.
            (r#""status": "error", "error": "boom", "gold_num": 10, "pred_num": 10, "correct": true"#, Fix::Unknown),
            (r#""status": "error", "error": "boom", "gold_num": 10, "pred_num": 10"#, Fix::Unknown),
            // Judged right, with another number than gold: gold counts.
            (r#""gold_num": 10, "pred_num": 12, "correct": true"#, Fix::Procedure),
            // Judged right by a gold number that was misread at its comma.
            (r#""gold_answer": "24 * 45 #### 1,080", "gold_num": 1, "pred_num": 1, "correct": true"#, Fix::Procedure),
            (r#""gold_answer": "24 * 45 #### 1,080", "gold_num": 1, "pred_num": 1080, "correct": false"#, Fix::Gold),
        ];
        for (facts, fix) in cases {
            let text = format!(r#"{{"procedure": {{"steps": [{{}}]}}, "state": {{"a": 1}}, {facts}}}"#);
            let case = Case::read(text.as_bytes());
            let view = case.view();
            let row = RowFacts::unchecked(0, 3).checked(&view, &[], None);
            let verdict = view.triage_by(&[], None).map(|triage| triage.fix);
            assert_eq!((row.fix(), verdict), (Some(fix), Some(fix)), "{facts}");
        }
    }

    #[test]
    fn an_answer_that_nobody_graded_is_compared_with_the_expected_one() {
        for (answer, right) in [(28, Some(true)), (27, Some(false))] {
            let text = format!(
                r#"{{"procedure": {{"steps": [{{}}]}}, "state": {{"a": 1}}, "gold_num": 28, "pred_num": {answer}}}"#
            );
            let case = Case::read(text.as_bytes());
            let row = RowFacts::unchecked(0, 3).checked(&case.view(), &[], None);
            assert_eq!((row.correct(), case.view().rightness().verdict()), (right, right));
        }
    }

    /// The same record with other values of what is hidden.
    fn others(text: &[u8], hidden: Hidden) -> Vec<Vec<u8>> {
        fn put(value: &mut Json, keys: &[&str], new: &mut dyn FnMut(&Json) -> Json) {
            match value {
                Json::Array(items) => items.iter_mut().for_each(|item| put(item, keys, new)),
                Json::Object(members) => {
                    for (key, member) in members {
                        if keys.contains(&key.as_str()) {
                            *member = new(member);
                        } else {
                            put(member, keys, new);
                        }
                    }
                }
                _ => {}
            }
        }
        let Ok(root) = serde_json::from_slice::<Json>(text) else { return Vec::new() };
        if hidden.keys().is_empty() {
            return Vec::new();
        }
        let new: [&dyn Fn(&Json) -> Json; 6] = [
            &Json::clone,
            &|_| serde_json::json!([{}]),
            &|old| match old {
                Json::Number(_) => Json::from(7.5),
                Json::String(_) => Json::from("3 + 4 = <<3+4=8>>8 #### 7.5"),
                Json::Bool(old) => Json::from(!old),
                other => other.clone(),
            },
            &|old| if old.is_number() { Json::from(0) } else { Json::from("#### 1,080") },
            &|_| Json::Null,
            &|old| {
                if old.is_string() {
                    Json::from("80 * 12.5 = 1000 dollars, 10 times 100 #### 1000")
                } else {
                    Json::from(1000)
                }
            },
        ];
        let made = |new: &&dyn Fn(&Json) -> Json| {
            let mut root = root.clone();
            put(&mut root, hidden.keys(), &mut |old| new(old));
            serde_json::to_vec(&root).unwrap()
        };
        new.iter().map(made).collect()
    }

    /// Records of which something is hidden, and the same with other values of it or without it: no column, no filter and no order tells them apart.
    #[test]
    fn what_is_hidden_of_a_record_cannot_be_told_from_its_row() {
        let examples: Vec<_> = RULES.iter().flat_map(|rule| [rule.bad, rule.good]).map(example).collect();
        let runs = include_str!("../../../tests/fixtures/runs.jsonl");
        let chains = include_str!("../../../sample_runs/chains.jsonl");
        let samples = include_str!("../../../sample_runs/by_hand.jsonl");
        let answers = include_str!("../../../sample_runs/policy.jsonl");
        let lines =
            [runs, chains, samples, answers].into_iter().flat_map(|file| file.lines().step_by(3)).map(str::as_bytes);
        let row = |text: &[u8]| {
            let case = Case::read(text);
            let view = case.view();
            RowFacts::unchecked(0, 3).checked(&view, view.findings(), None)
        };
        let all = |row: &RowFacts| {
            let judged = (row.kind, row.fix_step());
            (row.rules, row.facts, row.counts, judged, row.flags, row.steps, row.confidence.to_bits())
        };
        let (mut seen, mut wrong) = ([0; Hidden::ALL.len()], std::collections::BTreeSet::new());
        for text in lines.chain(examples.iter().map(|text| &text[..])) {
            let own = row(text);
            for hidden in Hidden::ALL {
                let hide = Hide::of([hidden]);
                let mut others = others(text, hidden).into_iter();
                let same = others.next();
                let whole = same.map_or(own, |same| row(&same));
                seen[hidden as usize] += usize::from(all(&whole) != all(&whole.hiding(hide)));
                let masked = hide.mask(text).into_owned();
                for (whole, other) in others.map(|other| (whole, other)).chain([(own, masked)]) {
                    let without = row(&other);
                    // Of some examples nothing is left that says what they are.
                    if without.kind() == RecordKind::Unknown || without.kind() != whole.kind() {
                        continue;
                    }
                    let (one, two) = (whole.hiding(hide), without.hiding(hide));
                    let spoke = |row: &RowFacts, rule: RuleId| row.spoke(&RuleSet::from_iter([rule]));
                    let differs = |rule: &RuleId| spoke(&one, *rule) != spoke(&two, *rule);
                    let before = wrong.len();
                    wrong.extend(
                        RuleId::ALL
                            .into_iter()
                            .filter(differs)
                            .filter(|rule| rule.kinds().has(one.kind()))
                            .map(|rule| (hidden, rule)),
                    );
                    assert!(
                        all(&one) == all(&two) || wrong.len() > before || !wrong.is_empty(),
                        "{hidden:?}: {:?} is not {:?} of {}",
                        all(&one),
                        all(&two),
                        String::from_utf8_lossy(&other)
                    );
                }
            }
        }
        assert!(wrong.is_empty(), "rules that tell what is hidden: {wrong:?}");
        assert!(
            seen[Hidden::Gold as usize] > 20
                && seen[Hidden::Confidence as usize] > 5
                && seen[Hidden::Triage as usize] > 5,
            "{seen:?}"
        );
    }

    #[test]
    fn a_broken_record_is_broken() {
        let row = RowFacts::unchecked(0, 3).checked(&Case::read(b"{a}").view(), &[], None);
        assert_eq!(row.kind(), RecordKind::Broken);
        assert!(row.fitness().is_nan() && row.correct().is_none());
    }

    #[test]
    fn a_row_of_any_kind_keeps_every_rule() {
        for kind in RecordKind::ALL {
            let mut row = RowFacts { kind: kind as u8, ..RowFacts::unchecked(0, 3) };
            for (n, rule) in RuleId::ALL.into_iter().enumerate() {
                assert!(!row.spoke(&RuleSet::from_iter([rule])), "{kind:?}");
                row.note(rule, rule.severity());
                assert!(row.rules().eq(RuleId::ALL.into_iter().take(n + 1)), "{kind:?}");
            }
            assert!(!row.disagrees(), "{kind:?}");
        }
    }

    #[test]
    fn a_row_keeps_the_route_and_how_much_is_grounded() {
        let text = br#"{"format": "stepscope.answer_trace", "parsed_question": {"expected_answer_shape": "date"},
            "document": {"lines": ["one", "two"]},
            "answer": {"answer_found": true, "confidence": 0.5, "conflicting_evidence": true, "items": [
            {"text": "a", "spans": [{"line_start": 1, "line_end": 1, "quote": "two"}]}, {"text": "b", "spans": []},
            {"text": "c", "spans": [{"line_start": 1, "line_end": 1, "quote": "one"}]}]}}"#;
        let case = Case::read(text);
        let view = case.view();
        let nowhere = Place::Value(Pointer::from_iter(["answer", "items"]).then(2).then("spans").then(0));
        let findings = vec![Finding::new(RuleId::QuoteNowhereInDoc, "m", nowhere)];
        let row = RowFacts::unchecked(0, 3).checked(&view, &findings, None);
        let typed = row.typed().unwrap();
        assert_eq!((typed.route, typed.grounded, typed.items), (Some(Route::Reject), Some(1), 3));
        assert_eq!(typed.asked, view.types().position(b"date").map(|place| place as u8));
        let said = [
            AnswerFlag::Found,
            AnswerFlag::Complete,
            AnswerFlag::Conflict,
            AnswerFlag::Clarify,
            AnswerFlag::Unstructured,
        ];
        assert_eq!(said.map(|said| typed.says(said)), [true, false, true, false, false]);
        assert!(row.fitness().is_nan() && row.pred_num().is_nan() && row.fix().is_none());
        assert_eq!(TypedRow::unpack(typed.pack()), typed);
    }

    #[test]
    fn rewards_stages_cycles_and_generations_are_kept() {
        let row = |text: &str| {
            let case = Case::read(text.as_bytes());
            RowFacts::of(&case.view(), true)
        };
        let call = |more: &str| row(&format!(r#"{{"prompt": "?", "completion": "x", "reward": 0.5{more}}}"#));
        let passed = call(r#", "success": true, "cycle": 3, "details": "Stage 1: ok; Stage 2: fine""#);
        assert_eq!((passed.reward(), passed.stages(), passed.cycle()), (0.5, Some(2), Some(3)));
        assert!(passed.fitness().is_nan() && passed.pred_num().is_nan() && passed.generation().is_none());
        let stopped = call(r#", "success": false, "details": "Stage 2 failed: no; Stage 3: x""#);
        assert_eq!((stopped.stages(), stopped.cycle()), (Some(1), None));
        for details in ["Stage 2: x", "Stage 0 failed: x", "Stage 300 failed: x", "Stage", "Matched at offset 0"] {
            assert_eq!(call(&format!(r#", "details": "{details}""#)).stages(), None, "{details}");
        }
        for cycle in ["-1", "1.5", "65535", "1e99", "\"3\""] {
            assert_eq!(call(&format!(r#", "cycle": {cycle}"#)).cycle(), None, "{cycle}");
        }
        assert_eq!(cycle_of(b"/runs/cycle_12_verified.jsonl"), Some(12));
        assert_eq!((cycle_of(b"cycle_verified.jsonl"), cycle_of(b"cycle_1/x.jsonl")), (None, None));
        let individual =
            row(r#"{"gen": 0, "operator": "seed", "fitness": 1.5, "procedure": {"NameDescription": "", "steps": []}}"#);
        assert_eq!((individual.generation(), individual.fitness(), individual.cycle()), (Some(0), 1.5, None));
        let hidden = passed.hiding(Hide::of([Hidden::Gold]));
        assert!(hidden.reward().is_nan() && hidden.stages().is_none() && hidden.cycle() == Some(3));
    }

    #[test]
    fn a_row_keeps_the_step_to_fix_next_to_offset_and_model() {
        let triage = |step| Triage {
            is_chain: false,
            cause: None,
            fix: Fix::StepRun,
            step,
            recovered: None,
            corrected: false,
            recovers_gold: false,
            confidence: Confidence::Sure,
            why: Vec::new(),
        };
        for (step, kept) in [
            (None, None),
            (Some(0), Some(1)),
            (Some(13), Some(14)),
            (Some(253), Some(254)),
            (Some(254), Some(255)),
            (Some(255), Some(255)),
            (Some(usize::MAX), Some(255)),
        ] {
            let mut row = RowFacts::unchecked(OFFSET_BITS, 1);
            row.set_model(Some(MAX_MODELS as u16));
            row.judge(&triage(step));
            let place = |row: &RowFacts| (row.offset(), row.model());
            let whole = (OFFSET_BITS, Some(MAX_MODELS as u16));
            assert_eq!((row.fix(), row.fix_step(), place(&row)), (Some(Fix::StepRun), kept, whole), "{step:?}");
            for hidden in [Hidden::Gold, Hidden::Baseline, Hidden::Triage] {
                let hidden = row.hiding(Hide::of([hidden]));
                assert_eq!((hidden.fix_step(), place(&hidden)), (None, whole));
            }
            assert_eq!(row.hiding(Hide::of([Hidden::Model])).fix_step(), kept);
            row.judge(&triage(None));
            assert_eq!((row.fix_step(), place(&row)), (None, whole), "judged again");
        }
    }

    #[test]
    fn a_row_knows_its_model_by_number() {
        #[derive(Debug, Default)]
        struct Named(ModelNames);
        impl crate::case::Context for Named {
            fn models(&self) -> Option<&ModelNames> {
                Some(&self.0)
            }
        }
        let around = std::sync::Arc::new(Named::default());
        let model = |text: &str| {
            let case = Case::around(text.as_bytes(), around.clone());
            let row = RowFacts::of(&case.view(), true);
            assert_eq!(row.hiding(Hide::of([Hidden::Model])).model(), None);
            around.0.name(row.model()?).map(Shown::into_string)
        };
        for (text, name) in [
            (r#"{"model": "a", "prompt": "?", "response": "x"}"#, Some("a")),
            (
                r#"{"id": 1, "question": "?", "state": {}, "trace": {"steps": [{"model": "b"}, {"model": "c"}]}}"#,
                Some("c"),
            ),
            (
                r#"{"id": 1, "question": "?", "state": {}, "model": "d", "trace": {"steps": [{"model": "b"}]}}"#,
                Some("d"),
            ),
            (r#"{"question": "?", "steps": ["x"], "generator": "e"}"#, Some("e")),
            (
                r#"{"format": "stepscope.answer_trace", "answer": null, "meta": {"raw_response": {"model": "f"}}}"#,
                Some("f"),
            ),
            (r#"{"model": "", "prompt": "?", "response": "x"}"#, None),
            (r#"{"model": {"name": "g"}, "prompt": "?", "response": "x"}"#, None),
        ] {
            assert_eq!(model(text).as_deref(), name, "{text}");
        }
        let far = RowFacts::unchecked(OFFSET_BITS, 1);
        assert_eq!((far.offset(), far.model()), (OFFSET_BITS, None));
    }
}
