//! Export of a repaired procedure, to a file of its own.

use std::path::PathBuf;

use crate::app::fork_tree::ForkTree;
use crate::app::msg::{Effect, Effects};
use crate::app::records::stem_of;
use crate::dialogs::export::ExportChoice;
use crate::screens::stack::Screens;
use stepscope_io::pipeline::store::Store;

/// Proposes a name for the file to which the repaired procedure of a record goes.
pub(crate) fn file_name(store: &Store, forks: &ForkTree, record: Option<usize>) -> String {
    format!("{}.repaired.json", stem_of(store, forks, record, "procedure"))
}

/// Tells whether a repaired procedure is being looked at.
pub(crate) fn has_procedure(screens: &Screens) -> bool {
    let unkept = screens.side_by_side().and_then(|sides| sides.fork.as_ref());
    unkept.is_some_and(|unkept| unkept.procedure.is_some())
}

/// Writes the repaired procedure to a file of its own.
pub(crate) fn export(screens: &Screens, export: &mut ExportChoice, typed: &str) -> Effects {
    let procedure = screens.side_by_side().and_then(|sides| sides.fork.as_ref()?.procedure.clone());
    let Some(mut procedure) = procedure.filter(|_| !typed.trim().is_empty()) else { return Vec::new() };
    procedure.push(b'\n');
    export.asked = Some((None, typed.trim().to_owned()));
    vec![Effect::Export(PathBuf::from(typed.trim()), procedure)]
}
