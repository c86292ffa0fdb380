//! The re-run of a structured answer: one call, and the new answer next to the recorded one.

use std::sync::Arc;

use crate::app::open_record::OpenRecord;
use crate::screens::rerun::outcome::{Outcome, Side};
use crate::screens::rerun::transition::{NextCall, Ready};
use crate::screens::side_by_side::state::{Against, SideBySide};
use crate::widgets::look::grounding_glyph;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::document::Document;
use stepscope_execution::generation::{Generation, answered};
use stepscope_execution::machine::Question;
use stepscope_execution::replay::Preview;
use stepscope_execution::sampling::{Reply, SamplingRound};
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::side_data::Surroundings;
use stepscope_judge::case::Case;
use stepscope_judge::row::RowFacts;
use stepscope_present::answer::route_name;
use stepscope_record::finding::Severity;
use stepscope_record::formats;
use stepscope_record::types::TypeRegistry;

/// The record of the answer, and what its prompt was made of.
#[derive(Debug)]
pub struct Answer {
    case: Case<'static>,
    document: Option<Arc<Document>>,
    /// Source of the prompt, in words.
    pub source: Shown,
    /// Files whose lines are in the prompt, apart from the record's own.
    pub files: Vec<Shown>,
}

/// Makes the call that gives an answer. `Err`: why it cannot be made.
pub(crate) fn ready(text: Vec<u8>, document: Option<Arc<Document>>, types: &TypeRegistry) -> Result<Ready, Shown> {
    let case = Case::citing(text, document.clone());
    let made = {
        let record = case.root().map(formats::read).ok_or(Shown::own("this record is not valid JSON"))?;
        Generation::of(&record, document.as_deref(), types)
    };
    let made = made.map_err(|why| shown!("this answer cannot be re-run: {}", Shown::error(&why)))?;
    let preview = Preview { steps: vec![0], of: 1, tokens: made.request.prompt.bytes().len().div_ceil(4) };
    let answer = Answer { source: made.source(), files: made.files, document, case };
    let (machine, question) = (NextCall::Answer(Box::new(answer)), Question::of(made.request));
    Ok(Ready { machine, preview, question, past: None })
}

impl Answer {
    /// Builds the outcome of the call, once it is judged. A call that failed or was cancelled gave no answer, and is
    /// compared with none.
    pub fn outcome(&self, round: &SamplingRound, side: &Arc<SideData>, now: &str) -> Option<Outcome> {
        let (text, record) = (self.case.text(), self.case.root().map(formats::read)?);
        let line = answered(&record, text, round, now);
        let ended = round.replies.first().and_then(Reply::failed);
        if ended.is_some() {
            return Some(Outcome { line, ended, ..Outcome::default() });
        }
        let [before, after] = [text, &line].map(|text| self.opened(text, side));
        let names = [Shown::own("recorded"), Shown::own("new")];
        let sides = SideBySide::of(names, Against::Parent, &before, &after);
        let sides = Some(Box::new(sides.about(Shown::own("A: recorded · B: new"))));
        let [before, after] = [&before, &after].map(side_of);
        Some(Outcome { line, before, after, sides, ..Outcome::default() })
    }

    fn opened(&self, text: &[u8], side: &Arc<SideData>) -> OpenRecord {
        let row = RowFacts::unchecked(0, text.len() as u64);
        let (document, side) = (self.document.clone(), side.clone());
        OpenRecord::new(0, 1, &row, text.to_vec(), Surroundings { document, ..side.around() })
    }
}

/// Sums up an answer for the lines above: its values, what is to be done with it, its findings.
fn side_of(opened: &OpenRecord) -> Side {
    let answer = opened.structured.as_ref().map(|structured| match structured.items.as_slice() {
        [] => Shown::own("nothing"),
        [item, others @ ..] => {
            let value = item.lines.first().cloned().unwrap_or_default();
            let more = if others.is_empty() { String::new() } else { format!(", {} more", others.len()) };
            shown!("{} {value}{more}", grounding_glyph(item.standing))
        }
    });
    let fix = opened.route.map(|route| shown!("route {}", route_name(route)));
    Side { right: None, answer, fix, counts: Severity::ALL.map(|severity| opened.count(severity)) }
}
