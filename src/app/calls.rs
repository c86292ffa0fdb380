//! Model calls for the screen: each is a task of its own, so that a key never waits behind it, and breaking it off
//! closes its connection at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::app::model_choice::Candidate;
use crate::app::msg::{Effect, Msg};
use stepscope_base::text::Shown;
use stepscope_execution::call::{Call, RunId};
use stepscope_io::config::Config;
use stepscope_io::model::discover::{discover, models};
use stepscope_io::model::drive::Several;
use stepscope_io::model::settings::WantedServer;
use stepscope_io::model::setup::{Server, Setup};
use stepscope_io::model::{ABSENT, ASKS, Client};

/// Longest time that a server may take to list its models.
const PATIENCE: Duration = Duration::from_secs(5);
/// Largest number of models of one server to choose from.
const MAX_MODELS: usize = 200;

/// Flags and settings for model calls, and the tasks in progress.
#[derive(Debug, Default)]
pub struct Calls {
    setup: Setup,
    config: Config,
    running: Vec<(RunId, AbortHandle)>,
}

impl Calls {
    /// Starts with flags and settings.
    pub fn new(setup: Setup, config: Config) -> Self {
        Self { setup, config, running: Vec::new() }
    }

    /// Starts what is about models, inside of a runtime; another effect is given back.
    pub fn perform(&mut self, effect: Effect, sender: &mpsc::Sender<Msg>) -> Option<Effect> {
        match effect {
            Effect::StartRun { id, client, calls, at_once } => self.start(id, *client, calls, at_once, sender.clone()),
            Effect::CancelRun(id) => {
                self.running.retain(|(other, task)| {
                    if *other == id {
                        task.abort();
                    }
                    *other != id
                });
            }
            Effect::FindServers(id) => self.look(id, sender.clone()),
            Effect::ChooseServer(id, candidate) => self.choose(id, candidate, sender.clone()),
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
            let (candidates, trouble) = candidates(&setup, &config).await;
            // If the screen has ended, nobody chooses.
            let _ = sender.send(Msg::Candidates(id, candidates, trouble)).await;
        });
        self.note(id, task.abort_handle());
    }

    /// Makes a chosen server ready, on a thread of its own: a recording is read whole.
    fn choose(&mut self, id: RunId, candidate: Candidate, sender: mpsc::Sender<Msg>) {
        let (setup, config) = (self.setup.clone(), self.config.clone());
        let task = tokio::task::spawn_blocking(move || {
            let chosen = server(&setup, &config, candidate).map(Box::new);
            // If the screen has ended, nobody asks.
            let _ = sender.blocking_send(Msg::Chosen(id, chosen));
        });
        self.note(id, task.abort_handle());
    }
}

/// Lists the servers that may answer: the one named by flags or settings, else those at the usual ports of this
/// machine.
async fn candidates(setup: &Setup, config: &Config) -> (Vec<Candidate>, Option<Shown>) {
    let (mut candidates, mut trouble) = (Vec::new(), None);
    if setup.is_configured(config) {
        let listed = match setup.settle(config) {
            Ok((settled, _)) => models(&settled.endpoint, PATIENCE).await.map_err(|trouble| trouble.sentence),
            Err(why) => Err(why),
        };
        match listed {
            Ok(names) => {
                let names = names.iter().take(MAX_MODELS).filter_map(|name| name.utf8().map(ToOwned::to_owned));
                candidates.extend(names.map(|name| Candidate::Named(Some(name))));
            }
            Err(why) => trouble = Some(why),
        }
    }
    if setup.names_server() || setup.wanted.offline {
        return (candidates, trouble);
    }
    for found in discover().await {
        let candidate = |name: Option<String>| Candidate::Found(Box::new(found.endpoint.clone()), found.usually, name);
        let names = found.models.iter().take(MAX_MODELS).filter_map(|name| name.utf8().map(ToOwned::to_owned));
        let names: Vec<_> = names.collect();
        if names.is_empty() {
            candidates.push(candidate(None));
        }
        candidates.extend(names.into_iter().map(|name| candidate(Some(name))));
    }
    (candidates, trouble.or((!ASKS).then(|| Shown::own(ABSENT))))
}

fn server(setup: &Setup, config: &Config, candidate: Candidate) -> Result<Server, Shown> {
    match candidate {
        Candidate::Named(model) => {
            let server = setup.server(config)?;
            Ok(Server { model: model.or(server.model), ..server })
        }
        Candidate::Found(endpoint, _, model) => setup.found(*endpoint, model, config),
        Candidate::Profile(name) => {
            let wanted = WantedServer { profile: Some(name), offline: setup.wanted.offline, ..WantedServer::default() };
            Setup { wanted, cassette: None, ..setup.clone() }.server(config)
        }
        Candidate::Samples => setup.samples(),
    }
}
