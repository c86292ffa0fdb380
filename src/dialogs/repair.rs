//! A repair by a model: from the line that names the endpoint to the server, and from its replies to a fork.

pub(crate) mod draw;

use crate::app::msg::Effects;
use crate::app::msg::Work;
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

impl App {
    /// The line that asks a model: whom, and how much goes out; `Err`: why nobody can be asked now.
    pub(crate) fn mend_line(&self, procedure: &[u8]) -> Result<Shown, Shown> {
        if self.models.mode() == Mode::Offline {
            return Err(Shown::own("no model: --offline forbids it"));
        }
        let Some(server) = &self.models.server else {
            return Err(if self.models.is_configured {
                Shown::own("a model: Enter gets it ready, and sends nothing yet")
            } else {
                Shown::own("a model: first choose whom to ask, with r on a step")
            });
        };
        let model = self.mend_model().ok_or(Shown::own("a model: none is named; start with --model"))?;
        let call = Mending::call(procedure, &model, &self.mend_sampling()).map_err(Shown::own)?;
        let size = server.client.size(&call);
        Ok(shown!(
            "ask {} at {}: {size} bytes, at most {MAX_TRIES} calls",
            Shown::line(model.as_bytes()),
            server.place()
        ))
    }

    /// Whom to ask may have changed.
    pub(crate) fn refresh_mend_line(&mut self) {
        let Some(Dialog::Fixes(_, fixes)) = &self.dialog else { return };
        let line = self.mend_line(&fixes.procedure).unwrap_or_else(|why| why);
        let files = self.files_of_open();
        if let Some(Dialog::Fixes(_, fixes)) = &mut self.dialog {
            (fixes.model, fixes.files) = (line, files);
        }
    }

    pub(crate) fn mend_model(&self) -> Option<String> {
        self.models.model.clone().or_else(|| self.models.server.as_ref()?.model.clone())
    }

    /// What was chosen for steps, but upstream's temperature.
    pub(crate) fn mend_sampling(&self) -> Sampling {
        Sampling { temperature: Some(TEMPERATURE), ..self.models.sampling.clone() }
    }

    /// The line was confirmed.
    pub(crate) fn mend(&mut self) -> Effects {
        let Some(Dialog::Fixes(_, fixes)) = &self.dialog else { return Vec::new() };
        let procedure = fixes.procedure.clone();
        match self.mend_line(&procedure) {
            Ok(_) => {
                let server = self.models.server.as_ref();
                let place = server.map(Server::place).unwrap_or_default();
                let model = self.mend_model().unwrap_or_default();
                let whom = shown!("{} at {place}", Shown::line(model.as_bytes()));
                self.open_dialog(Dialog::Mending(Box::new(Mending::new(procedure, whom, MAX_TRIES))));
                self.ask_to_mend()
            }
            Err(_) if self.models.server.is_none() && self.models.is_configured => {
                let id = self.models.next_id();
                self.choosing = Some(id);
                vec![Effect::Work(Work::Choose(id, Offer::Named(None)))]
            }
            Err(why) => {
                self.say(why);
                Vec::new()
            }
        }
    }

    /// Asks. The one place from which a repair is sent.
    pub(crate) fn ask_to_mend(&mut self) -> Effects {
        let model = self.mend_model().unwrap_or_default();
        let sampling = self.mend_sampling();
        let (Some(Dialog::Mending(mending)), Some(server)) = (&mut self.dialog, self.models.server.clone()) else {
            return Vec::new();
        };
        let Ok(call) = Mending::call(&mending.procedure, &model, &sampling) else {
            mending.is_over = true;
            return Vec::new();
        };
        let id = self.models.next_id();
        mending.begin(id);
        vec![Effect::Work(Work::StartRun { id, client: Box::new(server.client), calls: vec![call], at_once: 1 })]
    }

    /// What was heard of the call; `None`: it is about another.
    pub(crate) fn mend_told(&mut self, id: RunId, told: Vec<Told>) -> Result<Effects, Vec<Told>> {
        match &mut self.dialog {
            Some(Dialog::Mending(mending)) if mending.id == id => {
                let goes_on = mending.hear(id, told);
                Ok(if goes_on { self.ask_to_mend() } else { Vec::new() })
            }
            _ => Err(told),
        }
    }

    /// Who was chosen to repair; `Err`: it was for something else.
    pub(crate) fn mend_chosen(
        &mut self,
        id: RunId,
        chosen: Result<Box<Server>, Shown>,
    ) -> Result<(), Result<Box<Server>, Shown>> {
        if self.choosing.take_if(|wanted| *wanted == id).is_none() {
            return Err(chosen);
        }
        match chosen {
            Ok(server) => {
                self.models.server = Some(*server);
                self.refresh_mend_line();
            }
            Err(why) => self.fail(why),
        }
        Ok(())
    }

    /// Breaks off a repair that runs; `None`: none does.
    pub(crate) fn cancel_mending(&mut self) -> Option<Effects> {
        let Some(Dialog::Mending(mending)) = &mut self.dialog else { return None };
        if mending.is_over {
            return None;
        }
        mending.cancel();
        Some(vec![Effect::Work(Work::CancelRun(mending.id))])
    }

    /// Shows what the model changed.
    pub(crate) fn open_mended(&mut self) -> Effects {
        let Some(Dialog::Mending(mending)) = &self.dialog else { return Vec::new() };
        if !mending.is_over || !mending.is_changed {
            return Vec::new();
        }
        let (before, after) = mending.diagnostics;
        let done = shown!("repaired by {}: diagnostics {before} → {after}", mending.whom);
        let procedure = mending.procedure.clone();
        self.dialog = None;
        self.make(Make::Repair { done, procedure })
    }
}
