//! Forks that need no model, made from the open record: shown next to it first, and kept if they are wanted.

use crate::app::open_record::OpenRecord;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::exact::exact_fork;
use stepscope_execution::fork::repaired;
use stepscope_execution::repair::{SuggestedFix, diagnostics, fix_all, fixes};
use stepscope_execution::rerun::edited;
use stepscope_io::log::now;

/// Fork to make of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Make {
    /// The run with other values before a step; later steps keep what was recorded.
    Edit {
        /// The step, by position.
        step: usize,
        /// The values, as JSON texts.
        edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    },
    /// The run with every value that can be calculated exactly in place of the recorded one.
    Exact,
    /// The record with another procedure.
    Repair {
        /// Repair that was made, in words.
        done: Shown,
        /// The procedure, as JSON.
        procedure: Vec<u8>,
    },
}

impl Make {
    /// Names what is made, in a few words.
    pub fn title(&self) -> Shown {
        match self {
            Self::Edit { step, .. } => shown!("overrides before step {}", step + 1),
            Self::Exact => Shown::own("recomputed"),
            Self::Repair { .. } => Shown::own("procedure repaired"),
        }
    }

    /// Renders the fork as a record, one line without its end; `Err`: why there is none.
    pub fn line(&self, parent: &OpenRecord) -> Result<Vec<u8>, Shown> {
        let case = parent.view();
        let record = case.record.as_ref();
        match self {
            Self::Edit { step, edits } => edited(&case, *step, edits.clone(), &now()).map_err(|why| Shown::error(&why)),
            Self::Exact => {
                let none = Shown::own("this record has no procedure");
                let record = record.filter(|_| case.procedure().is_some()).ok_or(none)?;
                let fork = exact_fork(&case)?;
                Ok(fork.record(record, parent.text(), &now()))
            }
            Self::Repair { procedure, .. } => {
                let record = record.ok_or(Shown::own("the record cannot be read"))?;
                Ok(repaired(record, parent.text(), procedure, &now()))
            }
        }
    }
}

/// Fixes of a procedure: those that need no model, and last a model.
#[derive(Clone, Debug, Default)]
pub struct Fixes {
    /// List of the fixes: all that help, one after the other, if there are several; then each alone.
    pub list: Vec<SuggestedFix>,
    /// Number of diagnostics.
    pub diagnostics: usize,
    /// The procedure as it is, for a model.
    pub procedure: Vec<u8>,
    /// The line that asks a model, or why none can be asked.
    pub model: Shown,
    /// The files whose lines would be sent.
    pub files: Vec<Shown>,
}

impl Fixes {
    /// Counts the lines to choose from.
    pub fn rows(&self) -> usize {
        self.list.len() + 1
    }

    /// Finds the fixes of the procedure of a record; `Err`: why there are none.
    pub fn of(parent: &OpenRecord) -> Result<Self, Shown> {
        let case = parent.view();
        let procedure = case.procedure().map(|procedure| procedure.value.raw());
        let procedure = procedure.ok_or(Shown::own("this record has no procedure"))?;
        let before = diagnostics(procedure).total();
        let mut list = fixes(procedure);
        if list.len() > 1 {
            let (all, done) = fix_all(procedure);
            let (title, after) = (shown!("apply all helpful fixes ({})", done.len()), diagnostics(&all).total());
            list.insert(0, SuggestedFix { title, procedure: all, before, after });
        }
        if before == 0 {
            return Err(Shown::own("Procedure is valid. Nothing to repair"));
        }
        Ok(Self {
            list,
            diagnostics: before,
            procedure: procedure.to_vec(),
            model: Shown::default(),
            files: Vec::new(),
        })
    }
}
