//! A repair by a model: from the line that names the endpoint to the server, and from its replies to a fork.

pub(crate) mod draw;

use crate::app::msg::{Effects, Work};
use crate::app::state::App;
use crate::dialogs::dialog::Dialog;
use crate::screens::rerun::state::{Mode, Offer};
use crate::screens::side_by_side::making::Make;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::procedure::repair::mending::Mending;
use stepscope_core::procedure::repair::{MAX_TRIES, TEMPERATURE};
use stepscope_core::run::fork::round::{Sampling, Told};
use stepscope_core::run::rerun::RunId;
use stepscope_io::model::setup::Server;
use stepscope_terminal::run::Effect;

/// The line that asks a model: whom, and how much goes out; `Err`: why nobody can be asked now.
fn mend_line(app: &App, procedure: &[u8]) -> Result<Shown, Shown> {
    if app.models.mode() == Mode::Offline {
        return Err(Shown::own("no model: --offline forbids it"));
    }
    let Some(server) = &app.models.server else {
        return Err(if app.models.is_configured {
            Shown::own("a model: Enter gets it ready, and sends nothing yet")
        } else {
            Shown::own("a model: first choose whom to ask, with r on a step")
        });
    };
    let model = mend_model(app).ok_or(Shown::own("a model: none is named; start with --model"))?;
    let call = Mending::call(procedure, &model, &mend_sampling(app)).map_err(Shown::own)?;
    let size = server.client.size(&call);
    Ok(shown!("ask {} at {}: {size} bytes, at most {MAX_TRIES} calls", Shown::line(model.as_bytes()), server.place()))
}

/// Whom to ask may have changed.
pub(crate) fn refresh_mend_line(app: &mut App) {
    let Some(Dialog::Fixes(_, fixes)) = &app.dialog else { return };
    let line = mend_line(app, &fixes.procedure).unwrap_or_else(|why| why);
    let files = app.files_of_open();
    if let Some(Dialog::Fixes(_, fixes)) = &mut app.dialog {
        (fixes.model, fixes.files) = (line, files);
    }
}

fn mend_model(app: &App) -> Option<String> {
    app.models.model.clone().or_else(|| app.models.server.as_ref()?.model.clone())
}

/// What was chosen for steps, but upstream's temperature.
fn mend_sampling(app: &App) -> Sampling {
    Sampling { temperature: Some(TEMPERATURE), ..app.models.sampling.clone() }
}

/// The line was confirmed.
pub(crate) fn mend(app: &mut App) -> Effects {
    let Some(Dialog::Fixes(_, fixes)) = &app.dialog else { return Vec::new() };
    let procedure = fixes.procedure.clone();
    match mend_line(app, &procedure) {
        Ok(_) => {
            let server = app.models.server.as_ref();
            let place = server.map(Server::place).unwrap_or_default();
            let model = mend_model(app).unwrap_or_default();
            let whom = shown!("{} at {place}", Shown::line(model.as_bytes()));
            app.open_dialog(Dialog::Mending(Box::new(Mending::new(procedure, whom, MAX_TRIES))));
            ask_to_mend(app)
        }
        Err(_) if app.models.server.is_none() && app.models.is_configured => {
            let id = app.models.next_id();
            app.choosing = Some(id);
            vec![Effect::Work(Work::Choose(id, Offer::Named(None)))]
        }
        Err(why) => app.say(why),
    }
}

/// Asks. The one place from which a repair is sent.
fn ask_to_mend(app: &mut App) -> Effects {
    let model = mend_model(app).unwrap_or_default();
    let sampling = mend_sampling(app);
    let (Some(Dialog::Mending(mending)), Some(server)) = (&mut app.dialog, app.models.server.clone()) else {
        return Vec::new();
    };
    let Ok(call) = Mending::call(&mending.procedure, &model, &sampling) else {
        mending.is_over = true;
        return Vec::new();
    };
    let id = app.models.next_id();
    mending.begin(id);
    vec![Effect::Work(Work::StartRun { id, client: Box::new(server.client), calls: vec![call], at_once: 1 })]
}

/// What was heard of the call; `None`: it is about another.
pub(crate) fn mend_told(app: &mut App, id: RunId, told: Vec<Told>) -> Result<Effects, Vec<Told>> {
    match &mut app.dialog {
        Some(Dialog::Mending(mending)) if mending.id == id => {
            let goes_on = mending.hear(id, told);
            Ok(if goes_on { ask_to_mend(app) } else { Vec::new() })
        }
        _ => Err(told),
    }
}

/// Who was chosen to repair; `Err`: it was for something else.
pub(crate) fn mend_chosen(
    app: &mut App,
    id: RunId,
    chosen: Result<Box<Server>, Shown>,
) -> Result<(), Result<Box<Server>, Shown>> {
    if app.choosing.take_if(|wanted| *wanted == id).is_none() {
        return Err(chosen);
    }
    match chosen {
        Ok(server) => {
            app.models.server = Some(*server);
            refresh_mend_line(app);
        }
        Err(why) => _ = app.fail(why),
    }
    Ok(())
}

/// Breaks off a repair that runs; `None`: none does.
pub(crate) fn cancel_mending(app: &mut App) -> Option<Effects> {
    let Some(Dialog::Mending(mending)) = &mut app.dialog else { return None };
    if mending.is_over {
        return None;
    }
    mending.cancel();
    Some(vec![Effect::Work(Work::CancelRun(mending.id))])
}

/// Shows what the model changed.
pub(crate) fn open_mended(app: &mut App) -> Effects {
    let Some(Dialog::Mending(mending)) = &app.dialog else { return Vec::new() };
    if !mending.is_over || !mending.is_changed {
        return Vec::new();
    }
    let (before, after) = mending.diagnostics;
    let done = shown!("repaired by {}: diagnostics {before} → {after}", mending.whom);
    let procedure = mending.procedure.clone();
    app.dialog = None;
    app.make(Make::Repair { done, procedure })
}
