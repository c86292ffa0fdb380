//! The runs of other files, to be joined by question as a comparison joins them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::failure::Failure;
use crate::pipeline::examine::{id_hash, question_hash};
use crate::pipeline::line::{self, Done, Task};
use crate::source::block::Block;
use crate::source::input::{Expand, Input};
use crate::system::named;
use stepscope_base::json::Tape;
use stepscope_base::text::Untrusted;
use stepscope_judge::case::{CaseView, Context};
use stepscope_judge::peer::Peer;
use stepscope_record::Record;

/// Maximum number of runs that are kept, a few kilobytes each.
pub const MAX_PEERS: usize = 200_000;
/// Maximum number of peers of one question.
const MAX_OF_ONE: usize = 32;

/// Hashes by which a run is joined with others: of its id and its question.
type Key = (Option<u64>, Option<u64>);

/// Source of peers: its name is all that is known of what stands around them.
#[derive(Debug)]
struct NamedSource(Arc<Input>);

impl Context for NamedSource {
    fn source(&self, _: Option<&Record<'_>>) -> Untrusted<'_> {
        self.0.path().map_or(Untrusted::new(b"-"), named)
    }
}

/// Runs by their questions. A question decides where both have one; else the id does.
#[derive(Debug, Default)]
pub(crate) struct PeerStore {
    by_question: HashMap<u64, Vec<Arc<Peer>>>,
    /// With whether each has a question.
    by_id: HashMap<u64, Vec<(bool, Arc<Peer>)>>,
    /// Number of runs that were left out.
    pub(crate) left_out: usize,
}

impl PeerStore {
    /// Reads runs.
    pub(crate) fn read(inputs: Expand, threads: usize) -> Result<Self, Failure> {
        let work = |tape: &mut Tape, task: &Task, block: &Block, done: &mut Done<Vec<(Key, Peer)>>| {
            let around: Arc<dyn Context> = Arc::new(NamedSource(task.input.clone()));
            task.each_case(block, tape, (&around, true), |case, _| done.tally.extend(keyed(case)));
        };
        let (mut store, mut kept) = (Self::default(), 0);
        let ended = line::run(inputs, threads, Tape::default, work, |done| {
            for (key, peer) in done.tally.drain(..) {
                if kept < MAX_PEERS {
                    kept += 1;
                    store.add(key, Arc::new(peer));
                } else {
                    store.left_out += 1;
                }
            }
            true
        });
        ended.failures.into_iter().next().map_or(Ok(store), Err)
    }

    fn add(&mut self, (id, question): Key, peer: Arc<Peer>) {
        if let Some(id) = id {
            self.by_id.entry(id).or_default().push((question.is_some(), peer.clone()));
        }
        if let Some(question) = question {
            self.by_question.entry(question).or_default().push(peer);
        }
    }

    /// Lists the other runs of the question of a record.
    pub(crate) fn of(&self, case: &CaseView<'_>) -> Vec<Arc<Peer>> {
        let Some((id, question)) = case.record.as_ref().map(|record| (id_hash(record), question_hash(record))) else {
            return Vec::new();
        };
        let same = question.and_then(|question| self.by_question.get(&question)).into_iter().flatten();
        let named = id.and_then(|id| self.by_id.get(&id)).into_iter().flatten();
        let named = named.filter(|(has_question, _)| question.is_none() || !has_question).map(|(_, peer)| peer);
        same.chain(named).filter(|peer| !peer.is(case.text())).take(MAX_OF_ONE).cloned().collect()
    }
}

/// Reads a run with what joins it.
fn keyed(case: &CaseView<'_>) -> Option<(Key, Peer)> {
    let record = case.record.as_ref()?;
    let key = (id_hash(record), question_hash(record));
    (key != (None, None)).then(|| Some((key, case.as_peer()?)))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::input::expand;
    use stepscope_judge::case::Case;

    #[test]
    fn runs_are_joined_by_question_and_a_record_is_not_its_own_peer() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first.jsonl"), folder.path().join("second.jsonl"));
        let run = |id: u32, question: &str| format!(r#"{{"id": {id}, {question}"steps": ["2 + 3 = 5", "It is 5."]}}"#);
        let asked = |id: u32, question: &str| run(id, &format!(r#""question": "{question}", "#));
        let state = r#"{"id": 7, "mode": "baseline", "state": {"final_answer_numerical": 5}, "pred_num": 5}"#;
        std::fs::write(&first, [asked(1, "one"), asked(2, "two"), asked(3, "one")].join("\n")).unwrap();
        std::fs::write(&second, [asked(1, "one"), asked(9, " one "), state.to_owned()].join("\n")).unwrap();
        let store = PeerStore::read(expand(&[first, second]), 1).unwrap();
        let peers = |text: &str| {
            let case = Case::read(text.as_bytes().to_vec());
            let of = store.of(&case.view());
            let names = of.iter().map(|peer| peer.name.as_str().rsplit('/').next().unwrap().to_owned());
            names.collect::<Vec<String>>()
        };
        // Its text stands in both files.
        assert_eq!(peers(&asked(1, "one")), ["first.jsonl:3", "second.jsonl:2"]);
        assert_eq!(peers(&asked(5, "one")), ["first.jsonl:1", "first.jsonl:3", "second.jsonl:1", "second.jsonl:2"]);
        // Of two questions the id does not make one; what has no question is joined by its id.
        assert_eq!(peers(&asked(2, "three")), Vec::<String>::new());
        assert_eq!(peers(&asked(7, "three")), ["second.jsonl:3"]);
    }
}
