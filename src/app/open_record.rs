//! The record that is open, read once into what the panes draw. Everything that comes from data is `Shown` here;
//! the true bytes stay in `OpenRecord`, for copying.

use std::ops::Deref;
use std::sync::Arc;

use crate::dialogs::rewards::Rewards;
use stepscope_base::canonical::sha256;
use stepscope_base::json::{Pointer, Tape, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::document::Document;
use stepscope_io::pipeline::examine::case_of_row;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::side_data::Surroundings;
use stepscope_judge::case::{Case, CaseView};
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_judge::recompute::Derivation;
use stepscope_judge::row::RowFacts;
use stepscope_present::content::RecordContent;
use stepscope_present::notes::Note;
use stepscope_present::steps::{Detail, PreparedSteps, detail};
use stepscope_present::values::prose;
use stepscope_record::finding::{Place, PlaceLabel};
use stepscope_record::fork_origin::ForkOrigin;
use stepscope_report::text;
use stepscope_review::event::Text;
use stepscope_review::summary::Summary;

/// Size in bytes of the largest record in which places are drawn.
const MAX_EXCERPTED: usize = 1 << 20;
/// The open record.
#[derive(Debug)]
pub struct OpenRecord {
    /// Number of the record in the table, from 0.
    pub index: usize,
    /// The number of its line in the file, from 1.
    pub line: u64,
    case: Case<'static>,
    /// Hash of the whole text, where a part of it is hidden.
    whole: Option<String>,
    /// Rewards that the verifiers give its completion, if any were named.
    pub rewards: Option<Rewards>,
    /// Origin of the record, if it is a fork.
    pub fork_origin: Option<ForkOrigin>,
    /// Identity in review logs, and content that verdicts are bound to; of the whole record, even where parts are
    /// hidden.
    pub summary: Option<Box<Summary>>,
    /// Parts of it that are not shown.
    pub hidden: Hide,
    pub(crate) content: RecordContent,
    pub(crate) prepared: PreparedSteps,
}

impl Deref for OpenRecord {
    type Target = RecordContent;

    fn deref(&self) -> &RecordContent {
        &self.content
    }
}

/// Counter of the records read for a question, on this thread, for tests.
#[cfg(test)]
pub(crate) mod analyses {
    use std::cell::Cell;

    thread_local! { static COUNT: Cell<usize> = const { Cell::new(0) } }

    pub(crate) fn note() {
        COUNT.set(COUNT.get() + 1);
    }

    /// Takes the count since this was last called.
    pub(crate) fn take() -> usize {
        COUNT.replace(0)
    }
}

impl OpenRecord {
    /// Reads a record that is in this row of the table.
    pub fn new(index: usize, line: u64, row: &RowFacts, text: Vec<u8>, around: Surroundings<'static>) -> Self {
        let side = around.side.clone();
        let case = case_of_row(text, Tape::default(), row, Arc::new(around));
        let mut opened = Self::of((index, line), case, Hide::default(), &side);
        opened.fork_origin = opened.root().and_then(ForkOrigin::of);
        opened
    }

    /// Gives it its summary for review logs: the name of its file there, and its place in it, from 0.
    #[must_use]
    pub(crate) fn identified(mut self, dataset: Option<Text>, position: u64) -> Self {
        let mut summary = Summary::of(&self.view(), self.case.findings(), dataset, position);
        summary.take_question(&self.view());
        summary.fix = self.where_to_fix.as_ref().map(|verdict| verdict.fix);
        self.summary = Some(Box::new(summary));
        self
    }

    /// The same record without what is not to be shown. Its summary stays that of the whole record.
    #[must_use]
    pub(crate) fn hiding(self, hide: Hide, row: &RowFacts, side: &Arc<SideData>) -> Self {
        if hide.is_empty() {
            return self;
        }
        let whole = Some(self.hash());
        let text = self.root().and_then(|root| hide.without(self.text(), root));
        let text = text.unwrap_or_else(|| self.text().to_vec());
        let own = if hide.has(Hidden::Baseline) { Arc::new(side.settings_alone()) } else { side.clone() };
        let around = Surroundings { document: self.document(), ..own.around() };
        let mut case = case_of_row(text, Tape::default(), row, Arc::new(around));
        let known = self.summary.as_ref().map_or_else(|| row.rules().collect(), |summary| summary.findings.clone());
        case.hide(hide, |rule| known.contains(&rule));
        let (summary, fork_origin) = (self.summary, self.fork_origin);
        Self { whole, fork_origin, summary, ..Self::of((self.index, self.line), case, hide, side) }
    }

    fn of((index, line): (usize, u64), case: Case<'static>, hidden: Hide, side: &SideData) -> Self {
        let view = case.view();
        let content = RecordContent::whole(&view, hidden);
        let prepared = PreparedSteps::of(&view, content.steps.len(), content.opening);
        let rewards = side.chain_result(view.root()).map(|ladder| Rewards::of(&ladder, view.root()));
        Self { index, line, case, whole: None, rewards, fork_origin: None, summary: None, hidden, content, prepared }
    }

    /// Returns the record's text as it is in the file.
    pub fn text(&self) -> &[u8] {
        self.case.text()
    }

    /// Hashes the record's text as it is in the file, what is hidden of it included.
    pub(crate) fn hash(&self) -> String {
        self.whole.clone().unwrap_or_else(|| sha256(self.text()))
    }

    /// The record's JSON, if it could be read.
    pub fn root(&self) -> Option<Value<'_>> {
        self.case.root()
    }

    /// The document that it cites.
    pub fn document(&self) -> Option<Arc<Document>> {
        self.case.view().document().cloned()
    }

    /// Analyses the record in full, for questions that are asked seldom.
    pub(crate) fn view(&self) -> CaseView<'_> {
        #[cfg(test)]
        analyses::note();
        self.case.view()
    }

    /// Returns one step in full.
    pub fn detail(&self, step: usize) -> Detail {
        self.prepared.get(step).cloned().unwrap_or_else(|| detail(&self.view(), step))
    }

    /// The model that the record names for a step.
    pub(crate) fn model_of(&self, step: usize) -> Option<String> {
        let case = self.view();
        let model = case.state().call(step)?.get("model")?.string()?;
        model.utf8().map(ToOwned::to_owned)
    }

    /// The model that gave a typed answer.
    pub(crate) fn model_of_answer(&self) -> Option<String> {
        self.root()?.get("model")?.string()?.utf8().map(ToOwned::to_owned)
    }

    /// A value with its line breaks, by its place in the record.
    pub fn value_at(&self, pointer: &Pointer) -> Option<Shown> {
        self.root()?.find(pointer).map(|found| prose(found.value))
    }

    /// Copies the JSON of a value as it is in the record.
    pub(crate) fn json_at(&self, pointer: &Pointer) -> Option<Vec<u8>> {
        self.root()?.find(pointer).map(|found| found.value.raw().to_vec())
    }

    /// Draws the place of a note in the record with its labels, as `stepscope check` prints it; nothing for records
    /// that are too large to look through at every key.
    pub(crate) fn excerpt(&self, note: &Note, width: usize) -> Vec<Shown> {
        if self.text().len() > MAX_EXCERPTED {
            return Vec::new();
        }
        let finding = note.finding.and_then(|finding| self.case.findings().get(finding));
        let labels = match finding {
            Some(finding) => finding.labels().cloned().collect(),
            None => vec![PlaceLabel { place: Place::Value(note.pointer.clone()), text: Untrusted::default() }],
        };
        // The text and its tape are all that is asked here: nothing is worked out again.
        text::places(&self.case.view(), &labels, width)
    }

    /// Derives the value that a step should have written, where that is not hidden.
    pub fn derivation(&self, variable: usize, step: usize) -> Option<Derivation> {
        if self.hidden.has(Hidden::Triage) {
            return None;
        }
        let case = self.view();
        let recomputed = case.executed()?;
        let write = recomputed.write(variable, step);
        let write = write.or_else(|| recomputed.write(self.answer_text(variable)?, step))?;
        recomputed.derivation(case.state(), write)
    }

    /// The whole step as JSON.
    pub(crate) fn step_json(&self, step: usize) -> Option<Shown> {
        let pointer = &self.steps.get(step)?.pointer;
        let found = self.root()?.find(pointer)?;
        Some(Shown::prose(found.value.raw()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_record::state::Moment;

    const RUN: &str = r#"{"id": "a", "question": "Two apples and one?", "gold_answer": "so #### 3", "gold_num": 3.0, "status": "ok",
        "mode": "procedural", "procedure": {"NameDescription": "Add", "steps": [
            {"id": 1, "inputs": [{"name": "problem_text", "description": "p"}], "stepDescription": "Read", "output": [{"name": "a", "description": "first"}, {"name": "dead", "description": "d"}]},
            {"id": 2, "inputs": [{"name": "a", "description": "first"}, {"name": "ghost", "description": "g"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "sum"}]}]},
        "state": {"problem_text": "Two apples and one?", "a": 2, "dead": 0, "final_answer": "3", "final_answer_numerical": 3}, "pred_num": 3, "correct": true}"#;

    #[test]
    fn of_a_long_value_every_step_shows_a_bounded_part_and_the_end_is_ready() {
        let step = |n: usize| {
            format!(
                r#"{{"id": {n}, "inputs": [{{"name": "big", "description": "d"}}], "stepDescription": "Read",
                "output": [{{"name": "a{n}", "description": "d"}}]}}"#
            )
        };
        let steps: Vec<String> = (1..=40).map(step).collect();
        let text = format!(
            r#"{{"id": "a", "question": "q", "procedure": {{"NameDescription": "n", "steps": [{}]}}, "state": {{"big": "{}"}}}}"#,
            steps.join(","),
            "x".repeat(1 << 20)
        );
        let row = RowFacts::unchecked(0, text.len() as u64);
        let opened = OpenRecord::new(0, 1, &row, text.into_bytes(), Surroundings::default());
        analyses::take();
        let detail = opened.detail(opened.opening.0 - 1);
        assert_eq!((opened.end(), analyses::take()), (Moment(40), 0), "the screen reads nothing again");
        assert!((0..40).any(|step| opened.prepared.get(step).is_none()), "not all are prepared");
        let prompt = detail.prompt.unwrap();
        assert!(detail.prompt_rebuilt && prompt.as_str().len() < (256 << 10) + 100, "{}", prompt.as_str().len());
        assert!(prompt.as_str().ends_with("stepscope show prints them"));
    }

    #[test]
    fn a_run_is_ready_for_the_screen() {
        let row = RowFacts::unchecked(0, RUN.len() as u64);
        let opened = OpenRecord::new(4, 5, &row, RUN.as_bytes().to_vec(), Surroundings::default());
        assert_eq!(opened.steps.len(), 2);
        let names: Vec<&str> = opened.variables.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["problem_text", "a", "dead", "ghost", "final_answer", "final_answer_numerical"]);
        assert!(opened.variables[1].writes[0].is_read);
        assert!(!opened.variables[2].writes[0].is_read);
        assert_eq!(opened.variables[3].unresolved, [1]);
        assert_eq!(opened.write_at(1, Moment::after(0)).unwrap().value.as_ref().unwrap().line.as_str(), "2");
        assert!(opened.write_at(1, Moment::before(0)).is_none());
        let detail = opened.detail(1);
        assert_eq!(detail.reads.len(), 2);
        assert_eq!(detail.writes[0].description.as_str(), "sum");
        assert!(opened.influence(4).has_variable(1));
    }
}
