//! From what flags, environment and settings say to a client that can be asked: the shell and the screen go this way.

use std::path::PathBuf;
use std::time::Duration;

use super::cassette::{Recorder, Speed, Tape};
use super::settings::{Settled, WantedServer, limits, settle};
use super::{Backend, Client, Endpoint, Limits};
use crate::config::Config;
use crate::source::beneath::Place;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::sampling::ServerInfo;
use stepscope_samples::CASSETTE;

/// Flags about a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Setup {
    /// Server and model that are wanted.
    pub wanted: WantedServer,
    /// Time limit until the first content.
    pub first: Option<Duration>,
    /// Time limit between two pieces of content.
    pub silence: Option<Duration>,
    /// Time limit of a whole call.
    pub total: Option<Duration>,
    /// Number of times that the same request is sent again.
    pub retries: Option<u32>,
    /// Replies are asked for in one piece.
    pub in_one_piece: bool,
    /// Path of a recording that plays instead.
    pub cassette: Option<Place>,
    /// Speed at which it plays.
    pub speed: Speed,
    /// Path of a recording to be made.
    pub record: Option<PathBuf>,
}

/// A client, and the model to ask for if one was named.
#[derive(Clone, Debug)]
pub struct Server {
    /// Asks.
    pub client: Client,
    /// The model.
    pub model: Option<String>,
}

impl Server {
    /// Describes the server and the model, for records.
    pub fn info(&self, model: &str) -> ServerInfo {
        let (client, model) = (&self.client, model.to_owned());
        let (kind, replays) = (client.endpoint().backend, client.is_cassette());
        let backend = if replays { format!("cassette {}", kind.word()) } else { kind.word().to_owned() };
        ServerInfo { model, backend, endpoint: client.endpoint().path(), takes_seed: kind.takes_seed(), replays }
    }

    /// Names a model with its server, in words.
    pub fn named(&self, model: &str) -> Shown {
        let model = Shown::line(model.as_bytes());
        if self.client.is_cassette() { shown!("{model} (recording)") } else { shown!("{model} at {}", self.place()) }
    }

    /// Describes the server and the format that it is asked in.
    pub fn phrase(&self) -> Shown {
        let place = if self.client.is_cassette() { Shown::own("recording") } else { self.place() };
        shown!("{place}, {} format", self.client.endpoint().backend.phrase())
    }

    /// Names its location, in words: there is no key in it.
    pub fn place(&self) -> Shown {
        if self.client.is_cassette() { Shown::own("a recording") } else { self.client.endpoint().shown() }
    }
}

impl Setup {
    /// Settles the server and the limits, without a client.
    pub fn settle(&self, config: &Config) -> Result<(Settled, Limits), Shown> {
        let settled = settle(&self.wanted, config, variable).map_err(|trouble| trouble.sentence)?;
        Ok((settled, self.limits(config)))
    }

    fn limits(&self, config: &Config) -> Limits {
        let limits = limits(&self.wanted, config);
        Limits {
            first: self.first.unwrap_or(limits.first),
            silence: self.silence.unwrap_or(limits.silence),
            total: self.total.unwrap_or(limits.total),
            retries: self.retries.unwrap_or(limits.retries),
            ..limits
        }
    }

    /// Checks what the flags name, before anything is done: a recording or a profile may not be there, an address may
    /// be none, a variable may have no key.
    pub fn check(&self, config: &Config) -> Result<(), Shown> {
        if let Some(place) = &self.cassette {
            return Tape::open(place, self.speed).map(drop).map_err(Shown::from);
        }
        if self.names_server() || self.wanted.key_env.is_some() {
            let wanted = WantedServer { offline: false, ..self.wanted.clone() };
            settle(&wanted, config, variable).map_err(|trouble| trouble.sentence)?;
        }
        Ok(())
    }

    /// Tells whether a model was named together with its server or by itself, by a flag: that counts as consent.
    pub fn names_model(&self, server: &Server) -> bool {
        self.wanted.model.is_some() || self.wanted.profile.is_some() && server.model.is_some()
    }

    /// Tells whether the flags name a server themselves.
    pub fn names_server(&self) -> bool {
        let wanted = &self.wanted;
        wanted.backend.is_some() || wanted.url.is_some() || wanted.profile.is_some() || self.cassette.is_some()
    }

    /// Tells whether a server is named anywhere: by the flags, the environment or the settings.
    pub fn is_configured(&self, config: &Config) -> bool {
        let customary = ["OLLAMA_HOST", "OPENAI_BASE_URL"];
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.trim().is_empty());
        self.names_server() || config.profile.is_some() || customary.into_iter().any(is_set)
    }

    /// Makes the server to be asked.
    pub fn server(&self, config: &Config) -> Result<Server, Shown> {
        let server = if let Some(place) = &self.cassette {
            let tape = Tape::open(place, self.speed)?;
            self.playing(tape)?
        } else {
            let (settled, limits) = self.settle(config)?;
            Server { client: self.live(settled.endpoint, limits)?, model: settled.model }
        };
        Ok(self.finished(server))
    }

    /// Makes a server that was found ready to be asked.
    pub fn found(&self, endpoint: Endpoint, model: Option<String>, config: &Config) -> Result<Server, Shown> {
        if self.wanted.offline {
            return self.server(config);
        }
        Ok(self.finished(Server { client: self.live(endpoint, self.limits(config))?, model }))
    }

    /// Opens the recorded replies that come with the sample runs.
    pub fn samples(&self) -> Result<Server, Shown> {
        let tape = Tape::packed(CASSETTE, &Shown::own("the recording of the sample runs"), self.speed);
        let tape = tape?;
        Ok(self.finished(self.playing(tape)?))
    }

    fn playing(&self, tape: Tape) -> Result<Server, Shown> {
        let source = tape.source().map(|(backend, model)| (backend, model.to_owned()));
        let backend = self.wanted.backend.or(source.as_ref().map(|source| source.0)).unwrap_or(Backend::Ollama);
        let model = self.wanted.model.clone().or(source.map(|source| source.1));
        let client = Client::playing(tape, backend).map_err(|trouble| trouble.sentence)?;
        Ok(Server { client, model })
    }

    fn live(&self, endpoint: Endpoint, limits: Limits) -> Result<Client, Shown> {
        let client = Client::new(endpoint, limits).map_err(|trouble| trouble.sentence)?;
        let Some(path) = &self.record else { return Ok(client) };
        Ok(client.recording(Recorder::open(path)?))
    }

    fn finished(&self, server: Server) -> Server {
        let client = if self.in_one_piece { server.client.in_one_piece() } else { server.client };
        Server { client, ..server }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
