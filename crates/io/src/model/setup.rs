//! From what flags, environment and settings say to a client that can be asked: the shell and the screen go this way.

use std::path::PathBuf;
use std::time::Duration;

use super::cassette::{Recorder, Speed, Tape};
use super::settings::{Settled, WantedServer, limits, settle};
use super::{Backend, Client, Endpoint, Limits};
use crate::config::Config;
use crate::source::samples::CASSETTE;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::run::sampling::ServerInfo;

/// What flags say of a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Setup {
    /// Which one, and where.
    pub wanted: WantedServer,
    /// Until the first content.
    pub first: Option<Duration>,
    /// Between two pieces of content.
    pub silence: Option<Duration>,
    /// For a whole call.
    pub total: Option<Duration>,
    /// How often the same request goes out again.
    pub retries: Option<u32>,
    /// Replies are asked for in one piece.
    pub in_one_piece: bool,
    /// A cassette that plays instead.
    pub cassette: Option<PathBuf>,
    /// How fast it plays.
    pub speed: Speed,
    /// A cassette that records.
    pub record: Option<PathBuf>,
}

/// A client, and the model to ask for if anybody named one.
#[derive(Clone, Debug)]
pub struct Server {
    /// Asks.
    pub client: Client,
    /// The model.
    pub model: Option<String>,
}

impl Server {
    /// Who answers, for records.
    pub fn info(&self, model: &str) -> ServerInfo {
        let (client, model) = (&self.client, model.to_owned());
        let word = client.endpoint().backend.word();
        let backend = if client.is_cassette() { format!("cassette {word}") } else { word.to_owned() };
        ServerInfo { model, backend, endpoint: client.endpoint().path() }
    }

    /// Where it is, in words: there is no key in it.
    pub fn place(&self) -> Shown {
        if self.client.is_cassette() { Shown::own("a recording") } else { self.client.endpoint().shown() }
    }
}

impl Setup {
    /// The server and the limits, without a client.
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

    /// What is wrong with what the flags name, before anything is done: a cassette or a profile that is not there, an
    /// address that is none, a variable without a key.
    pub fn check(&self, config: &Config) -> Result<(), Shown> {
        if let Some(path) = &self.cassette {
            return Tape::open(path, self.speed).map(drop).map_err(|failure| shown!("{failure}"));
        }
        if self.names_server() || self.wanted.key_env.is_some() {
            let wanted = WantedServer { offline: false, ..self.wanted.clone() };
            settle(&wanted, config, variable).map_err(|trouble| trouble.sentence)?;
        }
        Ok(())
    }

    /// Whether a model was named together with its server or by itself, by a flag: that is a word of consent.
    pub fn names_model(&self, server: &Server) -> bool {
        self.wanted.model.is_some() || self.wanted.profile.is_some() && server.model.is_some()
    }

    /// Whether the flags name a server themselves.
    pub fn names_server(&self) -> bool {
        let wanted = &self.wanted;
        wanted.backend.is_some() || wanted.url.is_some() || wanted.profile.is_some() || self.cassette.is_some()
    }

    /// Whether anybody names a server: the flags, the environment or the settings.
    pub fn is_configured(&self, config: &Config) -> bool {
        let customary = ["OLLAMA_HOST", "OPENAI_BASE_URL"];
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.trim().is_empty());
        self.names_server() || config.profile.is_some() || customary.into_iter().any(is_set)
    }

    /// What is to be asked.
    pub fn server(&self, config: &Config) -> Result<Server, Shown> {
        let server = if let Some(path) = &self.cassette {
            let tape = Tape::open(path, self.speed).map_err(|failure| shown!("{failure}"))?;
            self.playing(tape)?
        } else {
            let (settled, limits) = self.settle(config)?;
            Server { client: self.live(settled.endpoint, limits)?, model: settled.model }
        };
        Ok(self.finished(server))
    }

    /// A server that was found.
    pub fn found(&self, endpoint: Endpoint, model: Option<String>, config: &Config) -> Result<Server, Shown> {
        if self.wanted.offline {
            return self.server(config);
        }
        Ok(self.finished(Server { client: self.live(endpoint, self.limits(config))?, model }))
    }

    /// The recorded replies that come with the sample runs.
    pub fn samples(&self) -> Result<Server, Shown> {
        let tape = Tape::packed(CASSETTE, &Shown::own("the recording of the sample runs"), self.speed);
        let tape = tape.map_err(|failure| shown!("{failure}"))?;
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
        Ok(client.recording(Recorder::open(path).map_err(|failure| shown!("{failure}"))?))
    }

    fn finished(&self, server: Server) -> Server {
        let client = if self.in_one_piece { server.client.in_one_piece() } else { server.client };
        Server { client, ..server }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
