//! Shared parts of the commands that ask a model: the flags that say which, and the way of one call.

use std::path::PathBuf;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::cli::out::Out;
use crate::cli::values::existing_folder;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::call::{Enforcement, RunEvent};
use stepscope_execution::machine::{Machine, Question};
use stepscope_execution::repair;
use stepscope_execution::runner::{Ended, SERVER_ERROR};
use stepscope_execution::sampling;
use stepscope_execution::sampling::SamplingRound;
use stepscope_io::config::{Config, Folders, timeout};
use stepscope_io::model::Backend;
use stepscope_io::model::cassette::Speed;
use stepscope_io::model::discover::models;
use stepscope_io::model::drive::{DriveEvent, drive};
use stepscope_io::model::settings::{Settled, WantedServer};
use stepscope_io::model::setup::{Server, Setup};
use stepscope_io::source::beneath::Place;

/// Which model is asked, where, and how.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Model")]
pub struct ModelFlags {
    /// Kind of server: ollama, ollama-chat, openai (chat completions: also llama.cpp, vLLM, LM Studio), responses, anthropic
    #[arg(long, value_name = "KIND", value_parser = kind)]
    backend: Option<Backend>,
    /// Server URL [default: $OLLAMA_HOST, $OPENAI_BASE_URL or $ANTHROPIC_BASE_URL, else the server's usual one]
    #[arg(long, value_name = "URL", alias = "base-url")]
    url: Option<String>,
    /// Model name, as listed by `stepscope models`
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Profile from config.toml: backend, url, model, key and timeouts under one name
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Environment variable with the API key [default: OPENAI_API_KEY or ANTHROPIC_API_KEY, for their own servers]
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    #[arg(long, hide = true, value_name = "KEY")]
    key: Option<String>,
    /// Never contact a model server
    #[arg(long)]
    offline: bool,
    /// Timeout for a whole call, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Timeout for the first token, in seconds [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    first_timeout: Option<Duration>,
    /// Timeout between tokens, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    silence_timeout: Option<Duration>,
    /// Retries on 429 and 5xx before the first token [default: 2]
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Do not stream replies
    #[arg(long)]
    no_stream: bool,
    /// Replay a recording, no network
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    cassette: Option<PathBuf>,
    /// Replay speed: recorded, max, or a factor [default: max; 4x on screen]
    #[arg(long, value_name = "SPEED", value_parser = speed)]
    speed: Option<Speed>,
    /// Record all exchanges to this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Which model is asked, where, and how, for a command.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct ServerFlags {
    #[command(flatten)]
    flags: ModelFlags,
    /// Folder of config.toml
    #[arg(long, value_name = "DIR", value_parser = existing_folder())]
    config_dir: Option<PathBuf>,
}

fn kind(word: &str) -> Result<Backend, String> {
    Backend::from_word(word).ok_or_else(|| format!("there are {}", Backend::ALL.map(Backend::word).join(", ")))
}

fn speed(word: &str) -> Result<Speed, String> {
    Speed::from_word(word).ok_or_else(|| "use recorded, max, or a factor such as 4".to_owned())
}

fn seconds(word: &str) -> Result<Duration, String> {
    timeout(word.parse().unwrap_or(f64::NAN))
}

impl ModelFlags {
    /// Returns the setup that the flags describe. `speed`: replay speed of a recording, unless a flag names one.
    pub fn setup(&self, speed: Speed) -> Result<Setup, Shown> {
        if self.key.is_some() {
            return Err(Shown::own(
                "a key on the command line is visible to everyone on this machine and stays in the shell history; put it in an environment variable and pass --key-env NAME",
            ));
        }
        let wanted = WantedServer {
            profile: self.profile.clone(),
            backend: self.backend,
            url: self.url.clone(),
            model: self.model.clone(),
            key_env: self.key_env.clone(),
            offline: self.offline,
        };
        Ok(Setup {
            wanted,
            first: self.first_timeout,
            silence: self.silence_timeout,
            total: self.timeout,
            retries: self.retries,
            in_one_piece: self.no_stream,
            cassette: self.cassette.clone().map(Place::Named),
            speed: self.speed.unwrap_or(speed),
            record: self.record.clone(),
        })
    }
}

/// Model that can be asked.
#[derive(Debug)]
pub(super) struct ReadyServer {
    pub(super) server: Server,
    pub(super) model: String,
    runtime: Runtime,
}

impl ServerFlags {
    fn config(&self) -> Result<Config, Shown> {
        match Folders::find(self.config_dir.as_deref()).config {
            Some(folder) => Config::load(&folder).map_err(Shown::from),
            None => Ok(Config::default()),
        }
    }

    fn setup(&self) -> Result<Setup, Shown> {
        self.flags.setup(Speed::AtOnce)
    }

    /// Returns the server, without a client, and whether the flags name it themselves.
    pub(super) fn settle(&self) -> Result<(Settled, bool), Shown> {
        let setup = self.setup()?;
        Ok((setup.settle(&self.config()?)?.0, setup.names_server()))
    }

    /// Returns the same for a server of OpenAI's kind, if only an address was given: it does not say which API it
    /// offers.
    pub(super) fn as_openai(&self) -> Option<Self> {
        let flags = &self.flags;
        let alone = flags.url.is_some() && flags.backend.is_none() && flags.profile.is_none();
        alone.then(|| Self { flags: ModelFlags { backend: Some(Backend::Chat), ..flags.clone() }, ..self.clone() })
    }

    /// Checks what the flags name, so that a mistake is reported before anything is done.
    pub(super) fn check(&self) -> Result<(), Shown> {
        self.setup()?.check(&self.config()?)
    }
}

/// Which model is asked, by a command that sends.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct Sending {
    #[command(flatten)]
    ask: ServerFlags,
    /// Send without asking; uses the model of config.toml, or the server's only one
    #[arg(long, help_heading = "Model")]
    yes: bool,
}

/// Request that would be sent.
pub(super) struct Request<'r> {
    /// Description in words: `step 3 of 4`.
    pub(super) what: Shown,
    /// First question of the request.
    pub(super) question: &'r Question,
    /// Sampling options of its calls.
    pub(super) sampling: &'r sampling::Sampling,
    /// Files whose lines are in the request.
    pub(super) files: Vec<Shown>,
    /// Model that the record names. A record is somebody else's word: it proposes a model, and chooses none.
    pub(super) known: Option<&'r str>,
}

impl Sending {
    /// Checks what the flags name, so that a mistake is reported before anything is done.
    pub(super) fn check(&self) -> Result<(), Shown> {
        self.ask.check()
    }

    /// Prepares everything, and sends nothing without consent: a model that flags name, `--yes`, or a person's own word
    /// on a question that names server, model, size and files. The files are named in any case.
    pub(super) fn prepare(&self, request: &Request<'_>, out: &Out) -> Result<ReadyServer, Shown> {
        let (setup, config) = (self.ask.setup()?, self.ask.config()?);
        let server = setup.server(&config)?;
        let runtime = runtime()?;
        if server.client.is_cassette() {
            let model = server.model.clone().ok_or(Shown::own(NO_EXCHANGE))?;
            return Ok(ReadyServer { server, model, runtime });
        }
        let consents = self.yes || setup.names_model(&server);
        let known = request.known.filter(|_| server.model.is_none());
        let (model, from) = match (&server.model, known) {
            (Some(model), _) => (model.clone(), ""),
            (None, Some(known)) if !self.yes => (known.to_owned(), ", a model named by the record only"),
            (None, _) => {
                let named = setup.is_configured(&config);
                (only_model(&server, &runtime, named, known)?, ", its only model")
            }
        };
        let size = server.client.size(&request.sampling.question(&model, request.question, 0));
        let asked = ReadyServer { server, model, runtime };
        let files = request.files.iter().map(Shown::as_str).collect::<Vec<_>>().join(", ");
        let info = asked.address();
        if consents {
            out.complain(&shown!("sends lines of {files} to {info}"));
            return Ok(asked);
        }
        let what = &request.what;
        let question = shown!("Send {what}, {size} bytes at first, with lines of {files}, to {info}{from}?");
        match out.ask(&question) {
            Some(true) => Ok(asked),
            Some(false) => Err(Shown::own("nothing was sent")),
            None if known.is_some() => Err(shown!(
                "nothing was sent: the record names the model {}, but a record cannot choose a model. Pass --model.",
                Shown::line(asked.model.as_bytes())
            )),
            None => Err(shown!(
                "nothing was sent: no terminal to confirm that {info} may receive it. Pass --model or --yes."
            )),
        }
    }
}

/// Returns the only model of a server. A person who named the server has thereby named the model.
fn only_model(server: &Server, runtime: &Runtime, named: bool, known: Option<&str>) -> Result<String, Shown> {
    let proposed = || known.map(|known| shown!(". The record names {}", Shown::line(known.as_bytes())));
    if !named {
        return Err(Shown::own(NO_MODEL).join(&proposed().unwrap_or_default()));
    }
    let found = runtime.block_on(models(server.client.endpoint(), PATIENCE)).map_err(|trouble| trouble.sentence)?;
    match found.as_slice() {
        [only] => only.utf8().map(ToOwned::to_owned).ok_or(Shown::own(NO_MODEL)),
        [] => Err(shown!("no model selected, and {} has none", server.place())),
        several => {
            let (count, names) = (several.len(), Shown::listed(several.iter().map(Untrusted::line), NAMED));
            Err(shown!("no model selected, and {} has {count}: {names}. Pass --model.", server.place()))
        }
    }
}

/// Message if no model was named.
const NO_MODEL: &str =
    "no model selected; pass --model (`stepscope models` lists them) or add a profile to config.toml";

/// Message if a recording names no model, which its first exchange does.
const NO_EXCHANGE: &str = "the recording holds no exchange; record one with --record";

/// Time that a server may take to list its models.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);
/// Maximum number of a server's models that a message names.
const NAMED: usize = 10;

/// Starts a runtime with one thread, which is enough: a model is slower than any thread.
pub(super) fn runtime() -> Result<Runtime, Shown> {
    Builder::new_current_thread().enable_all().build().map_err(|error| shown!("cannot start: {}", Shown::error(&error)))
}

/// How a call is made.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Call")]
pub(super) struct Sampling {
    /// Seed (`none`: server default)
    #[arg(long, value_name = "N", default_value = "1234", value_parser = seed, allow_hyphen_values = true)]
    seed: Maybe<i64>,
    /// Temperature (`none`: server default) [default: 1, for repairs 0]
    #[arg(long, value_name = "T", value_parser = temperature)]
    temperature: Option<Maybe<f64>>,
    /// Maximum tokens of a reply
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Output format: schema (schema-constrained), json (any JSON), prompt (schema in prompt only)
    #[arg(long, value_name = "FORMAT", default_value = "schema", value_parser = enforcement)]
    enforce: Enforcement,
}

/// Value of an option; `None`: the server's own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Maybe<T>(Option<T>);

fn seed(word: &str) -> Result<Maybe<i64>, &'static str> {
    sampling::seed(word).map(Maybe)
}

fn temperature(word: &str) -> Result<Maybe<f64>, &'static str> {
    sampling::temperature(word).map(Maybe)
}

fn enforcement(word: &str) -> Result<Enforcement, String> {
    let enforcement = Enforcement::from_word(word).filter(|enforcement| *enforcement != Enforcement::Nothing);
    enforcement.ok_or_else(|| "use schema, json or prompt".to_owned())
}

impl Sampling {
    /// Returns the sampling options of calls. `temperature`: upstream's for this kind of question.
    fn settle(&self, temperature: f64) -> sampling::Sampling {
        sampling::Sampling {
            temperature: self.temperature.map_or(Some(temperature), |set| set.0),
            seed: self.seed.0,
            max_tokens: self.max_tokens,
            enforcement: self.enforce,
            may_downgrade: true,
        }
    }

    /// Returns the sampling options for the steps of a run.
    pub(super) fn steps(&self) -> sampling::Sampling {
        self.settle(sampling::TEMPERATURE)
    }

    /// Returns the sampling options for repairs.
    pub(super) fn repairs(&self) -> sampling::Sampling {
        self.settle(repair::TEMPERATURE)
    }
}

impl ReadyServer {
    /// Returns the model and the address of its server, for people.
    pub(super) fn address(&self) -> Shown {
        let from = if self.server.client.is_cassette() { "from" } else { "at" };
        shown!("{} {from} {}", Shown::line(self.model.as_bytes()), self.server.place())
    }

    /// Drives a machine to its end, and reports the replies of each round when the machine has taken them. A signal
    /// breaks it off, so that what came before is not lost; its exit code is returned.
    pub(super) fn drive<M: Machine>(
        &self,
        machine: &mut M,
        sampling: &sampling::Sampling,
        at_once: usize,
        out: &mut Out,
        mut taken: impl FnMut(&M, &SamplingRound, &mut Out),
    ) -> Option<u8> {
        self.drive_telling(machine, sampling, at_once, out, |machine, event, out| {
            if let DriveEvent::Taken(round) = event {
                taken(machine, round, out);
            }
        })
    }

    /// Does the same, and tells every event as it comes.
    pub(super) fn drive_telling<M: Machine>(
        &self,
        machine: &mut M,
        sampling: &sampling::Sampling,
        at_once: usize,
        out: &mut Out,
        mut tell: impl FnMut(&M, &DriveEvent<'_>, &mut Out),
    ) -> Option<u8> {
        let asked = (&self.server, self.model.as_str());
        self.runtime.block_on(drive(machine, asked, sampling, at_once, |machine, event| {
            if let DriveEvent::Heard(event) = &event {
                report(event, out);
            }
            tell(machine, &event, out);
        }))
    }
}

/// Tells what came for a step that was asked once; `None`: nothing did.
pub(super) fn step_line(round: &SamplingRound, steps: usize) -> Option<Shown> {
    let [reply] = round.replies.as_slice() else { return None };
    reply.judged.as_ref().filter(|_| reply.failed().is_none())?;
    let (step, bytes, seconds) = (round.ask.step + 1, reply.received.content.len(), reply.elapsed.as_secs_f64());
    Some(shown!("step {step}/{steps}: {bytes} bytes in {seconds:.1} s; {}", round.tally()))
}

/// Returns the reason why a run ended early, with the step if the server gave no reply.
pub(super) fn why_ended(ended: &Ended) -> Shown {
    let step = ended.step.filter(|_| ended.class == SERVER_ERROR);
    let step = step.map(|step| shown!("step {}: ", step + 1)).unwrap_or_default();
    shown!("{step}{ended}")
}

/// Prints on standard error what a person who waits wants to know.
fn report(event: &RunEvent, out: &Out) {
    match event {
        RunEvent::Waiting { why, delay } => {
            out.complain(&shown!("{why}; retrying in {:.0} s", delay.as_secs_f64().ceil()));
        }
        RunEvent::Downgraded { to, why, .. } => out.complain(&shown!("{why}; now {}", to.phrase())),
        RunEvent::Done(finish) => {
            finish.notes.iter().chain(&finish.stop.early()).for_each(|note| out.complain(note));
        }
        _ => {}
    }
}
