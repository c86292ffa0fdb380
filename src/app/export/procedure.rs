//! Export of a repaired procedure, to a file of its own.

use std::path::PathBuf;

use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::dialogs::dialog::PromptPurpose;
use crate::screens::stack::Screens;

/// Asks for the name of the file to which the repaired procedure goes.
pub(crate) fn ask_where(app: &mut App) {
    let stem = app.stem_of(app.current(), "procedure");
    app.screens.propose(PromptPurpose::Export, format!("{stem}.repaired.json"));
}

/// Tells whether a repaired procedure is being looked at.
pub(crate) fn has_procedure(screens: &Screens) -> bool {
    let unkept = screens.side_by_side().and_then(|sides| sides.fork.as_ref());
    unkept.is_some_and(|unkept| unkept.procedure.is_some())
}

/// Writes the repaired procedure to a file of its own.
pub(crate) fn export(app: &mut App, typed: &str) -> Effects {
    let procedure = app.screens.side_by_side().and_then(|sides| sides.fork.as_ref()?.procedure.clone());
    let Some(mut procedure) = procedure.filter(|_| !typed.trim().is_empty()) else { return Vec::new() };
    procedure.push(b'\n');
    app.export.asked = Some((None, typed.trim().to_owned()));
    vec![Effect::Export(PathBuf::from(typed.trim()), procedure)]
}
