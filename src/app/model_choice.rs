//! The server and model that the keys ask, for the whole session, and those that may be chosen.

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::call::RunId;
use stepscope_execution::machine::Question;
use stepscope_execution::sampling::Sampling;
use stepscope_io::config::Config;
use stepscope_io::model::Endpoint;
use stepscope_io::model::setup::{Server, Setup};

stepscope_base::words! {
    /// Source of the replies, in a word that is always on the screen.
    pub enum Mode {
        /// A server may be asked.
        Live = "LIVE",
        /// Recorded replies are played.
        Cassette = "replay",
        /// Nothing is sent.
        Offline = "offline",
    }
}

/// Server and model that the keys ask, for the whole session.
#[derive(Debug, Default)]
pub struct ModelChoice {
    /// Setup from the flags.
    pub setup: Setup,
    /// Flags, environment or settings name a server.
    pub is_configured: bool,
    /// The profiles of the settings.
    pub profiles: Vec<String>,
    /// Server that was chosen.
    pub server: Option<Server>,
    /// Model that was chosen on it.
    pub model: Option<String>,
    /// Sampling parameters of the calls.
    pub sampling: Sampling,
    /// True for the sample runs that come with the program: their recorded replies may be chosen.
    pub samples: bool,
    /// Repair, or run that is being made, that waits for its server.
    pub choosing: Option<RunId>,
    last: u64,
}

impl ModelChoice {
    /// Starts with what flags and settings say.
    pub fn new(setup: Setup, config: &Config) -> Self {
        let (is_configured, profiles) = (setup.is_configured(config), config.profiles.keys().cloned().collect());
        Self { setup, is_configured, profiles, ..Self::default() }
    }

    /// Forgets the server, the model and the sampling parameters that were chosen.
    pub(crate) fn forget_choice(&mut self) {
        (self.server, self.model, self.sampling) = (None, None, Sampling::default());
    }

    /// Returns the number of the next piece of work; results of an older one are dropped.
    pub(crate) fn next_id(&mut self) -> RunId {
        self.last += 1;
        RunId(self.last)
    }

    /// Returns the model that is asked: the one that was chosen, that of the server, or the one that a record names.
    pub(crate) fn asked(&self, known: Option<&String>) -> Option<String> {
        let named = self.model.clone().or_else(|| self.server.as_ref()?.model.clone());
        named.or_else(|| known.cloned())
    }

    /// Tells whether nothing but a record names the model. A record is somebody else's word: that is said before anything
    /// goes there.
    pub(crate) fn is_proposed(&self) -> bool {
        self.asked(None).is_none()
    }

    /// Measures the request for a question: its size in bytes, and whether the recording holds a reply to it.
    pub(crate) fn measure(&self, question: &Question, known: Option<&String>) -> Option<(usize, Option<bool>)> {
        let (server, model) = (self.server.as_ref()?, self.asked(known)?);
        let call = self.sampling.question(&model, question, 0);
        Some((server.client.size(&call), server.client.is_recorded(&call)))
    }

    /// Counts the samples of a question that the recording holds, up to the first that it lacks; `None`: there is no
    /// recording.
    pub(crate) fn recorded_samples(&self, question: &Question, known: Option<&String>) -> Option<usize> {
        let (server, model) = (self.server.as_ref()?, self.asked(known)?);
        let is_held =
            |n: &usize| server.client.is_recorded(&self.sampling.question(&model, question, *n)) == Some(true);
        self.replays().then(|| (0..question.samples).take_while(is_held).count())
    }

    /// Returns the source of the replies.
    pub fn mode(&self) -> Mode {
        match &self.server {
            Some(_) if self.replays() => Mode::Cassette,
            None if self.setup.cassette.is_some() => Mode::Cassette,
            _ if self.setup.wanted.offline => Mode::Offline,
            _ => Mode::Live,
        }
    }

    /// Tells whether the chosen server is a recording: nothing is sent then.
    pub(crate) fn replays(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.client.is_cassette())
    }

    /// Names the source of the replies, in a few words; `None` if none was chosen yet.
    pub(crate) fn name(&self) -> Option<Shown> {
        match (self.mode(), &self.server) {
            (Mode::Cassette, _) => Some(Shown::own("replay")),
            (Mode::Offline, _) => Some(Shown::own("offline")),
            (Mode::Live, Some(server)) => {
                let model = self.model.as_ref().or(server.model.as_ref())?;
                Some(shown!("model {} @ {}", Shown::line(model.as_bytes()), server.place()))
            }
            (Mode::Live, None) => None,
        }
    }
}

/// Source of replies that may be chosen.
#[derive(Clone, Debug)]
pub enum Candidate {
    /// Server that flags, environment or settings name.
    Named(Option<String>),
    /// A server that answered, what most often listens at its port, and one of its models.
    Found(Box<Endpoint>, &'static str, Option<String>),
    /// A profile of the settings.
    Profile(String),
    /// The recorded replies that come with the sample runs.
    Samples,
}
