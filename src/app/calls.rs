//! Model calls for the screen: each is a task of its own, so that a key never waits behind it, and breaking it off
//! closes its connection at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::app::msg::{Msg, Work};
use crate::screens::rerun::state::Offer;
use stepscope_base::text::Shown;
use stepscope_core::run::rerun::{Call, RunId};
use stepscope_io::config::Config;
use stepscope_io::model::Client;
use stepscope_io::model::offer::{discover, models};
use stepscope_io::model::samples::Several;
use stepscope_io::model::settings::Wanted;
use stepscope_io::model::setup::{Server, Setup};

/// So long a server may take to list its models.
const PATIENCE: Duration = Duration::from_secs(5);
/// At most so many models of one server can be chosen from.
const MAX_MODELS: usize = 200;

/// What flags and settings say, and what is on its way.
#[derive(Debug, Default)]
pub struct Calls {
    setup: Setup,
    config: Config,
    running: Vec<(RunId, AbortHandle)>,
}

impl Calls {
    /// With what flags and settings say.
    pub fn new(setup: Setup, config: Config) -> Self {
        Self { setup, config, running: Vec::new() }
    }

    /// Starts what is about models, inside of a runtime; other work is given back.
    pub fn perform(&mut self, work: Work, sender: &mpsc::Sender<Msg>) -> Option<Work> {
        match work {
            Work::StartRun { id, client, calls, at_once } => self.start(id, *client, calls, at_once, sender.clone()),
            Work::CancelRun(id) => {
                self.running.retain(|(other, task)| {
                    if *other == id {
                        task.abort();
                    }
                    *other != id
                });
            }
            Work::Look(id) => self.look(id, sender.clone()),
            Work::Choose(id, offer) => self.choose(id, offer, sender.clone()),
            other => return Some(other),
        }
        None
    }

    fn note(&mut self, id: RunId, task: AbortHandle) {
        self.running.retain(|(_, task)| !task.is_finished());
        self.running.push((id, task));
    }

    fn start(&mut self, id: RunId, client: Client, calls: Vec<Call>, at_once: usize, sender: mpsc::Sender<Msg>) {
        let task = tokio::spawn(async move {
            let mut several = Several::start(Arc::new(client), calls, at_once);
            while let Some(told) = several.next_few().await {
                if sender.send(Msg::Run(id, told)).await.is_err() {
                    return;
                }
            }
        });
        self.note(id, task.abort_handle());
    }

    fn look(&mut self, id: RunId, sender: mpsc::Sender<Msg>) {
        let (setup, config) = (self.setup.clone(), self.config.clone());
        let task = tokio::spawn(async move {
            let (offers, trouble) = offers(&setup, &config).await;
            // If the screen has ended, nobody chooses.
            let _ = sender.send(Msg::Offers(id, offers, trouble)).await;
        });
        self.note(id, task.abort_handle());
    }

    /// A cassette is read whole, so this is done on a thread of its own.
    fn choose(&mut self, id: RunId, offer: Offer, sender: mpsc::Sender<Msg>) {
        let (setup, config) = (self.setup.clone(), self.config.clone());
        let task = tokio::task::spawn_blocking(move || {
            let chosen = server(&setup, &config, offer).map(Box::new);
            // If the screen has ended, nobody asks.
            let _ = sender.blocking_send(Msg::Chosen(id, chosen));
        });
        self.note(id, task.abort_handle());
    }
}

/// Who answers: the server that somebody names, else those at the customary ports of this machine.
async fn offers(setup: &Setup, config: &Config) -> (Vec<Offer>, Option<Shown>) {
    let (mut offers, mut trouble) = (Vec::new(), None);
    if setup.is_configured(config) {
        let listed = match setup.settle(config) {
            Ok((settled, _)) => models(&settled.endpoint, PATIENCE).await.map_err(|trouble| trouble.sentence),
            Err(why) => Err(why),
        };
        match listed {
            Ok(names) => {
                let names = names.iter().take(MAX_MODELS).filter_map(|name| name.utf8().map(ToOwned::to_owned));
                offers.extend(names.map(|name| Offer::Named(Some(name))));
            }
            Err(why) => trouble = Some(why),
        }
    }
    if setup.names_server() || setup.wanted.offline {
        return (offers, trouble);
    }
    for found in discover().await {
        let offer = |name: Option<String>| Offer::Found(Box::new(found.endpoint.clone()), found.usually, name);
        let names = found.models.iter().take(MAX_MODELS).filter_map(|name| name.utf8().map(ToOwned::to_owned));
        let names: Vec<_> = names.collect();
        if names.is_empty() {
            offers.push(offer(None));
        }
        offers.extend(names.into_iter().map(|name| offer(Some(name))));
    }
    (offers, trouble)
}

fn server(setup: &Setup, config: &Config, offer: Offer) -> Result<Server, Shown> {
    match offer {
        Offer::Named(model) => {
            let server = setup.server(config)?;
            Ok(Server { model: model.or(server.model), ..server })
        }
        Offer::Found(endpoint, _, model) => setup.found(*endpoint, model, config),
        Offer::Profile(name) => {
            let wanted = Wanted { profile: Some(name), offline: setup.wanted.offline, ..Wanted::default() };
            Setup { wanted, cassette: None, ..setup.clone() }.server(config)
        }
        Offer::Samples => setup.samples(),
    }
}
