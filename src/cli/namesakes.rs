//! Reviews of records whose name others of their file have too: each has its own.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::summaries::read_reviewed;
use stepscope_io::source::input::Expand;
use stepscope_review::fold::{ItemReviews, Reviews};
use stepscope_review::join::Index;
use stepscope_review::namesakes::Namesakes;
use stepscope_review::summary::Summary;

/// Finds what paths lead to.
type InputsOf<'o> = dyn Fn(&[PathBuf]) -> Option<Expand> + Sync + 'o;

/// Records that pass by one after the other, each with its reviews. Their files are read once more where it matters which
/// of several records with one name is meant.
pub(super) struct PassingRecords<'o> {
    paths: Vec<PathBuf>,
    inputs: Box<InputsOf<'o>>,
    threads: usize,
    side: Arc<SideData>,
    namesakes: OnceLock<Namesakes>,
}

impl<'o> PassingRecords<'o> {
    /// Of these paths; `inputs` finds what they lead to.
    pub(super) fn new(
        paths: &[PathBuf],
        inputs: impl Fn(&[PathBuf]) -> Option<Expand> + Sync + 'o,
        threads: usize,
        side: &Arc<SideData>,
    ) -> Self {
        let (paths, inputs, side) = (paths.to_vec(), Box::new(inputs), side.clone());
        Self { paths, inputs, threads, side, namesakes: OnceLock::new() }
    }

    /// Finds the reviews of one of the records; they are always the same reviews.
    pub(super) fn find<'r>(&'r self, reviews: &'r Reviews, record: &'r Summary) -> Option<ItemReviews<'r>> {
        let found = reviews.find(&record.item, Some(&record.content))?;
        if found.may_be_of_others() {
            return self.namesakes.get_or_init(|| self.read(reviews)).choose(found, &record.item);
        }
        Some(found)
    }

    /// Reads the records of the names that are reviewed. Where the files are pipes, nothing is known.
    fn read(&self, reviews: &Reviews) -> Namesakes {
        let can_be_read = self.paths.iter().all(|path| path.is_file() || path.is_dir());
        let inputs = if can_be_read { (self.inputs)(&self.paths) } else { None };
        let read = |inputs| read_reviewed(inputs, reviews, self.threads, &self.side);
        Index::of(&inputs.map(read).unwrap_or_default()).into_namesakes()
    }
}
