//! A repair by a model: from the line that names the endpoint to the server, and from its replies to a fork.

pub(crate) mod draw;
pub(crate) mod state;

use crate::app::model_choice::ModelChoice;
use crate::app::model_choice::{Candidate, Mode};
use crate::app::msg::{Effect, Effects};
use crate::app::records::files_of_open;
use crate::app::state::App;
use crate::dialogs::dialog::Dialog;
use crate::dialogs::repair::state::Repairing;
use crate::screens::rerun::choosing::choose_model;
use crate::screens::rerun::state::ChoosesFor;
use crate::screens::side_by_side::making::Make;
use crate::screens::stack::Screens;
use crate::widgets::keymap::Action;
use crate::widgets::keymap::Keymap;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::call::RunId;
use stepscope_execution::machine::Question;
use stepscope_execution::repair::model::request;
use stepscope_execution::repair::{MAX_TRIES, TEMPERATURE};
use stepscope_execution::sampling::{CallEvent, Sampling};
use stepscope_io::model::setup::Server;

/// Writes the line that asks a model: which one, and how much is sent; `Err`: why none can be asked now.
fn repair_line(keymap: &Keymap, models: &ModelChoice, procedure: &[u8]) -> Result<Shown, Shown> {
    if models.mode() == Mode::Offline {
        return Err(Shown::own("no model: offline mode"));
    }
    let Some(server) = &models.server else {
        return Err(if models.is_configured {
            keymap.shown("<open>: repair with a model (preview first)")
        } else {
            keymap.shown("<open>: choose a model to repair it")
        });
    };
    let model = models.asked(None).ok_or(Shown::own("repair with a model: start with --model"))?;
    let question = Question::of(request(procedure)?);
    let size = server.client.size(&repair_sampling(models).question(&model, &question, 0));
    Ok(shown!(
        "{}: send to {} · {size} bytes · at most {MAX_TRIES} calls",
        keymap.key_of(Action::Open),
        server.named(&model)
    ))
}

/// Updates the line that names the model to ask, which may have changed.
pub(crate) fn refresh_repair_line(screens: &mut Screens, models: &ModelChoice, keymap: &Keymap, files: Vec<Shown>) {
    if let Some(Dialog::Fixes(fixes)) = &mut screens.dialog {
        fixes.model = repair_line(keymap, models, &fixes.procedure).unwrap_or_else(|why| why);
        fixes.files = files;
    }
}

/// Takes the settings that were chosen for steps, with evoproc's temperature.
fn repair_sampling(models: &ModelChoice) -> Sampling {
    Sampling { temperature: Some(TEMPERATURE), ..models.sampling.clone() }
}

/// The line was confirmed; `Err`: why no model can be asked.
pub(crate) fn start(screens: &mut Screens, models: &mut ModelChoice, keymap: &Keymap) -> Result<Effects, Shown> {
    let Some(Dialog::Fixes(fixes)) = &screens.dialog else { return Ok(Vec::new()) };
    let procedure = fixes.procedure.clone();
    match repair_line(keymap, models, &procedure) {
        Ok(_) => {
            let place = models.server.as_ref().map(Server::place).unwrap_or_default();
            let model = models.asked(None).unwrap_or_default();
            let server = shown!("{} at {place}", Shown::line(model.as_bytes()));
            screens.open_dialog(Dialog::Repair(Box::new(Repairing::new(procedure, server))));
            Ok(ask_for_repair(screens, models))
        }
        Err(_) if models.server.is_none() && models.is_configured => {
            let id = models.next_id();
            models.choosing = Some(id);
            Ok(vec![Effect::ChooseServer(id, Candidate::Named(None))])
        }
        Err(_) if models.server.is_none() && models.mode() != Mode::Offline => {
            Ok(choose_model(screens, models, ChoosesFor::Repair))
        }
        Err(why) => Err(why),
    }
}

/// Asks. The one place from which a repair is sent.
fn ask_for_repair(screens: &mut Screens, models: &mut ModelChoice) -> Effects {
    let model = models.asked(None).unwrap_or_default();
    let sampling = repair_sampling(models);
    let (Some(Dialog::Repair(repair)), Some(server)) = (&mut screens.dialog, models.server.clone()) else {
        return Vec::new();
    };
    let id = models.next_id();
    let Some(calls) = repair.ask(id, &sampling, server.info(&model)) else { return Vec::new() };
    vec![Effect::StartRun { id, client: Box::new(server.client), calls, at_once: 1 }]
}

/// Takes in the events of the call; `Err` gives them back: they are about another.
pub(crate) fn repair_told(
    screens: &mut Screens,
    models: &mut ModelChoice,
    id: RunId,
    told: Vec<CallEvent>,
) -> Result<Effects, Vec<CallEvent>> {
    match &mut screens.dialog {
        Some(Dialog::Repair(repair)) if repair.id() == id => {
            let goes_on = repair.hear(id, told);
            Ok(if goes_on { ask_for_repair(screens, models) } else { Vec::new() })
        }
        _ => Err(told),
    }
}

/// Takes the server that was chosen for the repair; `Err`: it was chosen for something else.
pub(crate) fn repair_chosen(
    app: &mut App,
    id: RunId,
    chosen: Result<Box<Server>, Shown>,
) -> Result<(), Result<Box<Server>, Shown>> {
    if app.models.choosing.take_if(|wanted| *wanted == id).is_none() {
        return Err(chosen);
    }
    match chosen {
        Ok(server) => {
            app.models.server = Some(*server);
            let files = files_of_open(&app.screens, &app.store);
            refresh_repair_line(&mut app.screens, &app.models, &app.keymap, files);
        }
        Err(why) => _ = app.status.fail(why),
    }
    Ok(())
}

/// Breaks off a repair that runs; `None`: none does.
pub(crate) fn cancel_repair(screens: &mut Screens) -> Option<Effects> {
    let Some(Dialog::Repair(repair)) = &mut screens.dialog else { return None };
    if repair.machine.is_over {
        return None;
    }
    repair.machine.cancel();
    Some(vec![Effect::CancelRun(repair.id())])
}

/// Closes the dialog, and returns what the model changed; `None`: nothing, or it is still at work.
pub(crate) fn take_repaired(screens: &mut Screens) -> Option<Make> {
    let Some(Dialog::Repair(repair)) = &screens.dialog else { return None };
    let machine = &repair.machine;
    if !machine.is_over || !machine.is_changed {
        return None;
    }
    let (before, after) = machine.diagnostics;
    let done = shown!("repaired by {}: errors {before} → {after}", repair.server);
    let procedure = machine.procedure.clone();
    screens.dialog = None;
    Some(Make::Repair { done, procedure })
}
