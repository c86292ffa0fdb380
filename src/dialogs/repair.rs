//! A repair by a model: from the line that names the endpoint to the server, and from its replies to a fork.

pub(crate) mod draw;
pub(crate) mod state;

use crate::app::model_choice::ModelChoice;
use crate::app::model_choice::{Candidate, Mode};
use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::dialogs::dialog::Dialog;
use crate::dialogs::repair::state::Repairing;
use crate::screens::rerun::keys::choose_model;
use crate::screens::rerun::state::ChoosesFor;
use crate::screens::side_by_side::making::Make;
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
pub(crate) fn refresh_repair_line(app: &mut App) {
    let Some(Dialog::Fixes(fixes)) = &app.screens.dialog else { return };
    let line = repair_line(&app.keymap, &app.models, &fixes.procedure).unwrap_or_else(|why| why);
    let files = app.files_of_open();
    if let Some(Dialog::Fixes(fixes)) = &mut app.screens.dialog {
        (fixes.model, fixes.files) = (line, files);
    }
}

/// Takes the settings that were chosen for steps, with evoproc's temperature.
fn repair_sampling(models: &ModelChoice) -> Sampling {
    Sampling { temperature: Some(TEMPERATURE), ..models.sampling.clone() }
}

/// The line was confirmed.
pub(crate) fn start(app: &mut App) -> Effects {
    let Some(Dialog::Fixes(fixes)) = &app.screens.dialog else { return Vec::new() };
    let procedure = fixes.procedure.clone();
    match repair_line(&app.keymap, &app.models, &procedure) {
        Ok(_) => {
            let server = app.models.server.as_ref();
            let place = server.map(Server::place).unwrap_or_default();
            let model = app.models.asked(None).unwrap_or_default();
            let server = shown!("{} at {place}", Shown::line(model.as_bytes()));
            app.screens.open_dialog(Dialog::Repair(Box::new(Repairing::new(procedure, server))));
            ask_for_repair(app)
        }
        Err(_) if app.models.server.is_none() && app.models.is_configured => {
            let id = app.models.next_id();
            app.models.choosing = Some(id);
            vec![Effect::ChooseServer(id, Candidate::Named(None))]
        }
        Err(_) if app.models.server.is_none() && app.models.mode() != Mode::Offline => {
            choose_model(app, ChoosesFor::Repair)
        }
        Err(why) => app.status.say(why),
    }
}

/// Asks. The one place from which a repair is sent.
fn ask_for_repair(app: &mut App) -> Effects {
    let model = app.models.asked(None).unwrap_or_default();
    let sampling = repair_sampling(&app.models);
    let (Some(Dialog::Repair(repair)), Some(server)) = (&mut app.screens.dialog, app.models.server.clone()) else {
        return Vec::new();
    };
    let id = app.models.next_id();
    let Some(calls) = repair.ask(id, &sampling, server.info(&model)) else { return Vec::new() };
    vec![Effect::StartRun { id, client: Box::new(server.client), calls, at_once: 1 }]
}

/// Takes in the events of the call; `Err` gives them back: they are about another.
pub(crate) fn repair_told(app: &mut App, id: RunId, told: Vec<CallEvent>) -> Result<Effects, Vec<CallEvent>> {
    match &mut app.screens.dialog {
        Some(Dialog::Repair(repair)) if repair.id() == id => {
            let goes_on = repair.hear(id, told);
            Ok(if goes_on { ask_for_repair(app) } else { Vec::new() })
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
            refresh_repair_line(app);
        }
        Err(why) => _ = app.status.fail(why),
    }
    Ok(())
}

/// Breaks off a repair that runs; `None`: none does.
pub(crate) fn cancel_repair(app: &mut App) -> Option<Effects> {
    let Some(Dialog::Repair(repair)) = &mut app.screens.dialog else { return None };
    if repair.machine.is_over {
        return None;
    }
    repair.machine.cancel();
    Some(vec![Effect::CancelRun(repair.id())])
}

/// Shows what the model changed.
pub(crate) fn open_repaired(app: &mut App) -> Effects {
    let Some(Dialog::Repair(repair)) = &app.screens.dialog else { return Vec::new() };
    let machine = &repair.machine;
    if !machine.is_over || !machine.is_changed {
        return Vec::new();
    }
    let (before, after) = machine.diagnostics;
    let done = shown!("repaired by {}: errors {before} → {after}", repair.server);
    let procedure = machine.procedure.clone();
    app.screens.dialog = None;
    app.make(Make::Repair { done, procedure })
}
