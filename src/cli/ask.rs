//! What the commands that ask a model have in common: the flags that say which, and the way of one call.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::Out;
use crate::domain::fork::Executed;
use crate::domain::rerun::{Call, Judge, Judged, Phase, Rerun, RunEvent, RunId, Rung, Stop};
use crate::domain::runner::Ended;
use crate::domain::text::{Shown, Untrusted, head};
use crate::io::append::now;
use crate::io::config::{Config, Folders};
use crate::io::model::cassette::{Recorder, Speed, Tape};
use crate::io::model::settings::{Settled, Wanted, limits, settle};
use crate::io::model::{Backend, Client, Limits, ModelClient};
use crate::shown;

/// So much of a reply that could not be used is shown.
const SHOWN: usize = 160;
/// Upstream's temperature for the steps of a run.
const TEMPERATURE: f64 = 1.0;
/// Upstream's temperature for repairs.
const REPAIR_TEMPERATURE: f64 = 0.0;

/// Which model is asked, where, and how.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Model")]
pub(super) struct Ask {
    /// Kind of server: ollama, ollama-chat, openai (chat completions: also llama.cpp, vLLM, LM Studio), responses, anthropic
    #[arg(long, value_name = "KIND", value_parser = kind)]
    backend: Option<Backend>,
    /// Its address; without it OLLAMA_HOST, OPENAI_BASE_URL or ANTHROPIC_BASE_URL, else the customary one
    #[arg(long, value_name = "URL", alias = "base-url")]
    url: Option<String>,
    /// The model's name, as `stepscope models` lists it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// A profile of config.toml: backend, url, model, key and timeouts under one name
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The environment variable that holds the key; without it OPENAI_API_KEY or ANTHROPIC_API_KEY, for their own servers
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    #[arg(long, hide = true, value_name = "KEY")]
    key: Option<String>,
    /// Send nothing to anybody
    #[arg(long)]
    offline: bool,
    /// Seconds for a whole call [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Seconds until the first content [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    first_timeout: Option<Duration>,
    /// Seconds between two pieces of content [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    silence_timeout: Option<Duration>,
    /// How often a request goes out again when the server is busy (429) or fails (5xx), before anything of a reply came
    #[arg(long, value_name = "N", default_value_t = 2)]
    retries: u32,
    /// Ask for replies in one piece instead of a stream
    #[arg(long)]
    no_stream: bool,
    /// Play recorded replies from a cassette; nothing is sent
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    cassette: Option<PathBuf>,
    /// How fast a cassette plays: recorded, max, or a factor
    #[arg(long, value_name = "SPEED", default_value = "max", value_parser = speed)]
    speed: Speed,
    /// Record every exchange on a cassette
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Folder of config.toml
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
}

fn kind(word: &str) -> Result<Backend, String> {
    Backend::from_word(word).ok_or_else(|| format!("there are {}", Backend::ALL.map(Backend::word).join(", ")))
}

fn speed(word: &str) -> Result<Speed, String> {
    Speed::from_word(word).ok_or_else(|| "it is recorded, max, or a factor such as 4".to_owned())
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|seconds| !seconds.is_zero()).ok_or_else(|| "it is a number of seconds above 0".to_owned())
}

/// A model that can be asked.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) client: Client,
    pub(super) model: String,
    runtime: Runtime,
}

impl Ask {
    /// The server and the settings, without asking for a model.
    pub(super) fn settle(&self) -> Result<(Settled, Limits), Shown> {
        if self.key.is_some() {
            return Err(Shown::own(
                "a key on the command line can be read by everyone on this machine, and the shell remembers it; put it into an \
                 environment variable and name that with --key-env",
            ));
        }
        let config = match Folders::find(self.config_dir.as_deref()).config {
            Some(folder) => Config::load(&folder).map_err(|failure| shown!("{failure}"))?,
            None => Config::default(),
        };
        let wanted = self.wanted();
        let variable = |name: &str| std::env::var(name).ok();
        let settled = settle(&wanted, &config, variable).map_err(|trouble| trouble.sentence)?;
        Ok((settled, self.limits(limits(&wanted, &config))))
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            profile: self.profile.clone(),
            backend: self.backend,
            url: self.url.clone(),
            model: self.model.clone(),
            key_env: self.key_env.clone(),
            offline: self.offline,
        }
    }

    fn limits(&self, limits: Limits) -> Limits {
        Limits {
            first: self.first_timeout.unwrap_or(limits.first),
            silence: self.silence_timeout.unwrap_or(limits.silence),
            total: self.timeout.unwrap_or(limits.total),
            retries: self.retries,
            ..limits
        }
    }

    /// Whether the flags name a server themselves.
    pub(super) fn names_server(&self) -> bool {
        self.backend.is_some() || self.url.is_some() || self.profile.is_some() || self.cassette.is_some()
    }

    /// Prepares everything. `known`: the model that a record names, where the user names none.
    pub(super) fn prepare(&self, known: Option<&str>) -> Result<Asked, Shown> {
        let (client, model) = match &self.cassette {
            Some(path) => self.cassette(path)?,
            None => self.live()?,
        };
        let model = model.or_else(|| known.map(ToOwned::to_owned)).ok_or(Shown::own(
            "no model is named; give one with --model (`stepscope models` lists them), or a profile in config.toml",
        ))?;
        let client = if self.no_stream { client.in_one_piece() } else { client };
        Ok(Asked { client, model, runtime: runtime()? })
    }

    fn cassette(&self, path: &std::path::Path) -> Result<(Client, Option<String>), Shown> {
        let tape = Tape::open(path, self.speed).map_err(|failure| shown!("{failure}"))?;
        let source = tape.source().map(|(backend, model)| (backend, model.to_owned()));
        let backend = self.backend.or(source.as_ref().map(|source| source.0)).unwrap_or(Backend::Ollama);
        let model = self.model.clone().or(source.map(|source| source.1));
        let client = Client::playing(tape, backend).map_err(|trouble| trouble.sentence)?;
        Ok((client, model))
    }

    fn live(&self) -> Result<(Client, Option<String>), Shown> {
        let (settled, limits) = self.settle()?;
        let mut client = Client::new(settled.endpoint, limits).map_err(|trouble| trouble.sentence)?;
        if let Some(path) = &self.record {
            client = client.recording(Recorder::open(path).map_err(|failure| shown!("{failure}"))?);
        }
        Ok((client, settled.model))
    }
}

/// One thread is enough: a model is slower than any thread.
pub(super) fn runtime() -> Result<Runtime, Shown> {
    Builder::new_current_thread().enable_all().build().map_err(|error| shown!("cannot start: {}", Shown::error(&error)))
}

/// How a call is made.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Call")]
pub(super) struct Sampling {
    /// Seed; `none` leaves it to the server
    #[arg(long, value_name = "N", default_value = "1234", value_parser = seed, allow_hyphen_values = true)]
    seed: Maybe<i64>,
    /// Temperature; `none` leaves it to the server; without it upstream's: 1, and 0 for repairs
    #[arg(long, value_name = "T", value_parser = temperature)]
    temperature: Option<Maybe<f64>>,
    /// Limit of the reply in tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// How the schema is enforced: schema (the server keeps it), json (JSON of any shape), prompt (nothing but the prompt)
    #[arg(long, value_name = "RUNG", default_value = "schema", value_parser = rung)]
    enforce: Rung,
}

/// A value, or the server's own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Maybe<T>(Option<T>);

fn seed(word: &str) -> Result<Maybe<i64>, String> {
    match word {
        "none" => Ok(Maybe(None)),
        word => word.parse().map(|seed| Maybe(Some(seed))).map_err(|_| "it is a whole number, or none".to_owned()),
    }
}

fn temperature(word: &str) -> Result<Maybe<f64>, String> {
    match word {
        "none" => Ok(Maybe(None)),
        word => {
            let number = word.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
            number.map(|number| Maybe(Some(number))).ok_or_else(|| "it is a number from 0 up, or none".to_owned())
        }
    }
}

fn rung(word: &str) -> Result<Rung, String> {
    let rung = Rung::from_word(word).filter(|rung| *rung != Rung::Nothing);
    rung.ok_or_else(|| "it is schema, json or prompt".to_owned())
}

impl Sampling {
    /// A call; the n-th of several has a seed of its own, as the same seed may give the same reply.
    pub(super) fn call(
        &self,
        model: &str,
        prompt: Untrusted<'static>,
        schema: Option<Untrusted<'static>>,
        steps_down: bool,
        n: usize,
    ) -> Call {
        Call {
            prompt,
            schema,
            model: model.to_owned(),
            temperature: self.temperature.map_or(Some(TEMPERATURE), |set| set.0),
            seed: self.seed.0.map(|seed| seed.wrapping_add(n as i64)),
            max_tokens: self.max_tokens,
            rung: self.enforce,
            steps_down,
        }
    }

    /// The call for a repair, which has another temperature by custom.
    pub(super) fn repair(&self, model: &str, prompt: Untrusted<'static>, schema: Untrusted<'static>) -> Call {
        let call = self.call(model, prompt, Some(schema), true, 0);
        Call { temperature: self.temperature.map_or(Some(REPAIR_TEMPERATURE), |set| set.0), ..call }
    }
}

impl Asked {
    /// Runs something that waits.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Makes one call and hears it to its end. What is known of it goes into the record of the call.
    pub(super) fn call(&self, call: Call, executed: &mut Executed, out: &Out) -> Rerun {
        (executed.seed, executed.temperature, executed.max_tokens) = (call.seed, call.temperature, call.max_tokens);
        executed.started_utc = now();
        let (id, clock) = (RunId(1), Instant::now());
        let mut rerun = Rerun::begin(id);
        self.wait(async {
            let mut running = self.client.run(call);
            while let Some(event) = running.next().await {
                report(&event, out);
                rerun.take(id, event);
            }
        });
        executed.duration_ms = clock.elapsed().as_secs_f64() * 1000.0;
        rerun
    }
}

/// Says on standard error what a person who waits wants to know.
pub(super) fn report(event: &RunEvent, out: &Out) {
    match event {
        RunEvent::Waiting { why, delay } => {
            out.complain(&shown!("{why}; asking again in {:.0} s", delay.as_secs_f64().ceil()));
        }
        RunEvent::SteppedDown { to, why, .. } => out.complain(&shown!("{why}; now {}", to.meaning())),
        RunEvent::Done(finish) => finish.notes.iter().for_each(|note| out.complain(note)),
        _ => {}
    }
}

/// The kind of server, for records: a recorded reply is never taken for a new one.
pub(super) fn backend(asked: &Asked) -> String {
    let word = asked.client.endpoint().backend.word();
    if asked.client.is_cassette() { format!("cassette {word}") } else { word.to_owned() }
}

/// Notes what was heard of a call.
pub(super) fn fill(executed: &mut Executed, reply: &Rerun, judge: &Judge, asked: &Asked) -> Judged {
    let judged = judge.judge(&reply.content);
    let inner = judged.parts.reasoning.clone().and_then(|range| reply.content.get(range)).unwrap_or_default();
    executed.raw.clone_from(&reply.content);
    executed.reasoning = if reply.reasoning.is_empty() { inner.to_vec() } else { reply.reasoning.clone() };
    executed.around = judged.parts.around;
    executed.model.clone_from(&asked.model);
    executed.backend = backend(asked);
    executed.endpoint = asked.client.endpoint().path();
    executed.rung = reply.rung;
    executed.request.clone_from(&reply.sha256);
    if let Phase::Done(finish) = &reply.phase {
        executed.usage = finish.usage;
        executed.verdict = Some(judged.verdict.word());
    }
    judged
}

/// Why the model stopped.
pub(super) fn stop_of(reply: &Rerun) -> Option<Stop> {
    match &reply.phase {
        Phase::Done(finish) => Some(finish.stop.clone()),
        _ => None,
    }
}

/// A reply that could not be used, in a sentence.
pub(super) fn what_came(reply: &[u8], stop: Option<&Stop>) -> Shown {
    let began = Shown::line(head(reply, SHOWN));
    let more = if reply.len() > SHOWN { "…" } else { "" };
    let limit = if stop == Some(&Stop::Length) { "; it was cut off at its limit of tokens" } else { "" };
    if reply.is_empty() { Shown::own("the reply is empty") } else { shown!("the reply begins: {began}{more}{limit}") }
}

/// The class of an end that the server brought about.
pub(super) const SERVER_ERROR: &str = "ServerError";

/// The end of a run at a call that failed.
pub(super) fn server_ended(why: &Shown, step: usize) -> Ended {
    let message = Untrusted::new(why.as_str().as_bytes()).into_owned();
    Ended { class: SERVER_ERROR, message, meaning: None, step: Some(step) }
}

/// Why a call gave no reply; `None`: it did.
pub(super) fn failed(rerun: &Rerun) -> Option<Shown> {
    match &rerun.phase {
        Phase::Done(_) => None,
        Phase::Failed(trouble) => Some(trouble.sentence.clone()),
        _ => Some(Shown::own("the call was broken off")),
    }
}
