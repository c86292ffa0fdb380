//! Data that helps to judge records: a baseline's answers, peers, a verifier, the documents that they cite.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::failure::Failure;
use crate::pipeline::baseline::Baseline;
use crate::pipeline::peers::PeerStore;
use crate::pipeline::verify::Judge;
use crate::source::answers::AnswerStore;
use crate::source::column_map::ColumnMap;
use crate::source::documents::Documents;
use crate::source::input::{Expand, Input, expand};
use crate::system::named;
use stepscope_base::json::Value;
use stepscope_base::schema::Schema;
use stepscope_base::text::Untrusted;
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::{TypedAnswer, inline_document};
use stepscope_execution::verify::ChainResult;
use stepscope_judge::case::{CaseView, Context};
use stepscope_judge::peer::Peer;
use stepscope_record::Record;
use stepscope_record::models::ModelNames;
use stepscope_record::types::TypeRegistry;

/// Data that is the same for all records. Everything is read when it is first asked for, on the thread that asks;
/// others wait for it.
#[derive(Debug, Default)]
pub struct SideData {
    path: Option<PathBuf>,
    threads: usize,
    baseline: OnceLock<Result<Baseline, Failure>>,
    told: AtomicBool,
    peer_paths: Vec<PathBuf>,
    peers: OnceLock<Result<PeerStore, Failure>>,
    judge: Option<Judge>,
    /// `None`: those of the program.
    types: Option<Arc<TypeRegistry>>,
    models: ModelNames,
    columns: ColumnMap,
}

impl SideData {
    /// Makes side data with these types of values.
    pub fn knowing(types: Arc<TypeRegistry>) -> Self {
        Self { types: Some(types), ..Self::default() }
    }

    /// Reads the rows of tables by these columns, or by this map.
    #[must_use]
    pub fn with_columns(self, columns: ColumnMap) -> Self {
        Self { columns, ..self }
    }

    /// Lists what is read at these paths.
    pub fn inputs(&self, paths: &[PathBuf]) -> Expand {
        expand(paths).with_columns(self.columns.clone())
    }

    /// Adds the baseline records of a file or folder.
    #[must_use]
    pub fn with_baseline(self, path: Option<PathBuf>, threads: usize) -> Self {
        Self { path, threads, ..self }
    }

    /// Adds the baseline records of a file or folder, read now.
    pub fn read(self, path: &Path, threads: usize) -> Result<Self, Failure> {
        let baseline = OnceLock::from(Ok(Baseline::read(self.inputs(&[path.to_owned()]), threads)?));
        Ok(Self { baseline, ..self.with_baseline(Some(path.to_owned()), threads) })
    }

    /// Adds the runs of these files and folders as peers, and those of the baseline to them; no paths: no peers.
    #[must_use]
    pub fn with_peers(self, paths: &[PathBuf], threads: usize) -> Self {
        let all = paths.iter().chain(&self.path).filter(|_| !paths.is_empty());
        Self { peer_paths: all.cloned().collect(), threads, ..self }
    }

    /// Reads the peers now, and tells how many of them were left out; `None`: there are none.
    pub fn read_peers(&self) -> Option<Result<usize, Failure>> {
        Some(self.peers()?.as_ref().map(|peers| peers.left_out).map_err(Clone::clone))
    }

    fn peers(&self) -> Option<&Result<PeerStore, Failure>> {
        let read = || PeerStore::read(self.inputs(&self.peer_paths), self.threads);
        (!self.peer_paths.is_empty()).then(|| self.peers.get_or_init(read))
    }

    /// Keeps the same types and columns, and nothing else.
    #[must_use]
    pub fn settings_alone(&self) -> Self {
        Self { types: self.types.clone(), columns: self.columns.clone(), ..Self::default() }
    }

    /// Returns the types of values that are known.
    pub fn types(&self) -> &TypeRegistry {
        self.types.as_deref().unwrap_or_else(|| TypeRegistry::built_in())
    }

    /// Returns the names of the models that records named so far.
    pub const fn models(&self) -> &ModelNames {
        &self.models
    }

    /// Adds a judge of completions.
    #[must_use]
    pub fn judged_by(self, judge: Option<Judge>) -> Self {
        Self { judge, ..self }
    }

    /// Makes the context of records of which nothing else is known.
    pub fn around(self: &Arc<Self>) -> Surroundings<'static> {
        Surroundings { side: self.clone(), ..Surroundings::default() }
    }

    /// Runs every stage of the verifier on a record's completion.
    pub fn chain_result(&self, record: Option<Value<'_>>) -> Option<ChainResult> {
        Some(self.judge.as_ref()?.judge_stages(record?))
    }

    /// Tells whether asking would not mean waiting.
    pub(crate) fn is_ready(&self) -> bool {
        let is_read = |has_path: bool, is_there: bool| !has_path || is_there;
        is_read(self.path.is_some(), self.baseline.get().is_some())
            && is_read(!self.peer_paths.is_empty(), self.peers.get().is_some())
    }

    /// Looks up the baseline's answer to the question of a record.
    pub fn answer(&self, record: Option<&Record<'_>>) -> Option<f64> {
        self.baseline()?.as_ref().ok()?.answer(record?)
    }

    /// Returns the reason why there is no baseline, or no peers, although they were named; only once.
    pub fn complaint(&self) -> Option<Failure> {
        let failed = self.baseline().and_then(|read| read.as_ref().err());
        let failure = failed.or_else(|| self.peers()?.as_ref().err())?;
        (!self.told.swap(true, Ordering::Relaxed)).then(|| failure.clone())
    }

    fn baseline(&self) -> Option<&Result<Baseline, Failure>> {
        let path = self.path.as_ref()?;
        Some(self.baseline.get_or_init(|| Baseline::read(self.inputs(std::slice::from_ref(path)), self.threads)))
    }
}

/// Context of the records of one source.
#[derive(Clone, Debug, Default)]
pub struct Surroundings<'s> {
    /// Input that they were read from.
    pub input: Option<Arc<Input>>,
    /// The document that they cite, where it was found before.
    pub document: Option<Arc<Document>>,
    /// Documents that they cite.
    pub documents: Option<Documents>,
    /// Data that helps to judge them.
    pub side: Arc<SideData>,
    /// The schema of each, if all are answer objects.
    pub schema: Option<&'s Schema>,
    /// The schema of the answers in states.
    pub state_schema: Option<&'s Schema>,
    /// A final number may be NaN or infinite.
    pub takes_not_finite: bool,
}

/// Finds the folder of a record's question; the store itself where there is none.
fn question_folder(store: &AnswerStore, record: Option<&Record<'_>>) -> PathBuf {
    let folder = record.and_then(|record| record.root.get("folder")?.string());
    store.place(folder.as_ref().map_or(&[], |folder| folder.bytes()))
}

impl Context for Surroundings<'_> {
    fn document(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        match (&self.document, &self.documents) {
            (Some(document), _) => Some(document.clone()),
            (None, Some(documents)) => documents.of(typed),
            (None, None) => inline_document(typed).map(Arc::new),
        }
    }

    fn baseline(&self, record: &Record<'_>) -> Option<f64> {
        self.side.answer(Some(record))
    }

    fn peers(&self, case: &CaseView<'_>) -> Vec<Arc<Peer>> {
        match self.side.peers() {
            Some(Ok(peers)) => peers.of(case),
            Some(Err(_)) | None => Vec::new(),
        }
    }

    fn types(&self) -> &TypeRegistry {
        self.side.types()
    }

    fn models(&self) -> Option<&ModelNames> {
        Some(self.side.models())
    }

    fn source(&self, record: Option<&Record<'_>>) -> Untrusted<'_> {
        match self.input.as_deref() {
            Some(Input::Answers(store)) => named(&question_folder(store, record)).into_owned(),
            input => input.and_then(Input::path).map_or(Untrusted::new(b"-"), named),
        }
    }

    fn line(&self, record: Option<&Record<'_>>, line: u64) -> u64 {
        match self.input.as_deref() {
            // The folder of a question holds nothing else.
            Some(Input::Answers(store)) if question_folder(store, record) != store.path() => 1,
            _ => line,
        }
    }

    fn checks_finite(&self) -> bool {
        !self.takes_not_finite
    }

    fn state_schema(&self) -> Option<&Schema> {
        self.state_schema
    }

    fn answer_schema(&self) -> Option<&Schema> {
        self.schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_read_when_they_are_first_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (path, missing) = (folder.path().join("peers.jsonl"), folder.path().join("missing.jsonl"));
        let run = |id: u32| format!(r#"{{"id": {id}, "question": "2 and 3?", "steps": ["2 + 3 = 5", "It is 5."]}}"#);
        std::fs::write(&path, run(1) + "\n" + &run(2)).unwrap();
        let case = stepscope_judge::case::Case::read(run(1).into_bytes());
        let side = Arc::new(SideData::default().with_peers(std::slice::from_ref(&path), 1));
        assert!(!side.is_ready(), "nothing was read yet");
        assert_eq!((side.around().peers(&case.view()).len(), side.is_ready()), (1, true), "it is not its own peer");
        let side = Arc::new(SideData::default().with_peers(&[missing], 1));
        assert_eq!(side.around().peers(&case.view()).len(), 0);
        assert!(side.complaint().is_some() && side.complaint().is_none(), "told once");
        // The baseline is a peer too, but where no peers are wanted it is none.
        let with = |peers: &[PathBuf]| {
            SideData::default().with_baseline(Some(path.clone()), 1).with_peers(peers, 1).peer_paths.len()
        };
        assert_eq!((with(&[]), with(std::slice::from_ref(&path))), (0, 2));
    }
}
