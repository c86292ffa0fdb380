//! Models: sending a request and receiving its reply piece by piece, from the network or from a recording.
//!
//! A call is started by `ModelClient::run` and heard through `RunningCall`; dropping that closes the connection. Every
//! call ends: there are deadlines for the connection, the first content, silence and the whole, and limits for the
//! size.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use stepscope_execution::call::{Call, RunEvent, Trouble};

pub(crate) mod body;
pub mod cassette;
pub mod discover;
pub mod drive;
pub mod endpoint;
mod exchange;
pub mod frames;
mod head;
pub mod key;
pub mod redact;
pub mod reply;
pub mod settings;
pub mod setup;
mod wire;

pub use endpoint::{ABSENT, ASKS, Backend, Endpoint};

/// Number of events that may wait for their reader; then the model waits.
const CHANNEL: usize = 256;

/// Limits on the time of a call, and on its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Time limit until there is a connection.
    pub connect: Duration,
    /// Time limit from asking to the first piece of the reply.
    pub first: Duration,
    /// Time limit between two pieces of the reply.
    pub silence: Duration,
    /// Time limit for everything, waits included.
    pub total: Duration,
    /// Number of times that the same request is sent again when the server is busy or fails, before anything of a reply
    /// came.
    pub retries: u32,
    /// The first wait before that, where the server names none; it doubles.
    pub backoff: Duration,
    /// The longest reply, in bytes.
    pub reply: usize,
    /// The longest frame of a stream, and the longest reply in one piece, in bytes.
    pub frame: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first: Duration::from_secs(60),
            silence: Duration::from_secs(30),
            total: Duration::from_secs(600),
            retries: 2,
            backoff: Duration::from_secs(1),
            reply: 8 << 20,
            frame: 8 << 20,
        }
    }
}

/// Something that answers calls. It is to be used inside of a tokio runtime.
pub trait ModelClient: Send + Sync {
    /// Starts a call. The last event is [`RunEvent::Done`] or [`RunEvent::Failed`].
    fn run(&self, call: Call) -> RunningCall;
}

/// A call on its way. Dropping it closes the connection.
#[derive(Debug)]
pub struct RunningCall {
    events: mpsc::Receiver<RunEvent>,
    task: AbortHandle,
}

impl RunningCall {
    /// Receives the next event; `None`: there are no more.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().await
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A client for one server, or for a recording in its place.
#[derive(Clone, Debug)]
pub struct Client {
    endpoint: Endpoint,
    wire: wire::Wire,
    limits: Limits,
    stream: bool,
    recorder: Option<cassette::Recorder>,
}

impl Client {
    /// Prepares calls to a server.
    pub fn new(endpoint: Endpoint, limits: Limits) -> Result<Self, Trouble> {
        let wire = wire::Wire::live(&endpoint, limits.connect)?;
        Ok(Self { endpoint, wire, limits, stream: true, recorder: None })
    }

    /// Plays a recording instead of asking a server.
    pub fn playing(tape: cassette::Tape, backend: Backend) -> Result<Self, Trouble> {
        let endpoint = Endpoint::new(backend, backend.address(), None)?;
        // A recorded answer may be as slow as it was.
        let long = Duration::from_secs(24 * 3600);
        let limits = Limits { first: long, silence: long, total: long, retries: 0, ..Limits::default() };
        Ok(Self { endpoint, wire: wire::Wire::Tape(tape), limits, stream: true, recorder: None })
    }

    /// Records every exchange.
    #[must_use]
    pub fn recording(mut self, recorder: cassette::Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Asks for replies in one piece, as upstream does.
    #[must_use]
    pub fn in_one_piece(mut self) -> Self {
        self.stream = false;
        self
    }

    /// Returns the server that it asks.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Tells whether a recording answers.
    pub fn is_cassette(&self) -> bool {
        matches!(self.wire, wire::Wire::Tape(_))
    }

    /// Tells whether the recording holds a reply to a call; `None`: there is no recording.
    pub fn is_recorded(&self, call: &Call) -> Option<bool> {
        let wire::Wire::Tape(tape) = &self.wire else { return None };
        let backend = self.endpoint.backend;
        Some(tape.holds(backend, &body::body(backend, call, call.enforcement, self.stream).0))
    }

    /// Computes the size of the request that a call would make, in bytes.
    pub fn size(&self, call: &Call) -> usize {
        body::body(self.endpoint.backend, call, call.enforcement, self.stream).0.len()
    }
}

impl ModelClient for Client {
    fn run(&self, call: Call) -> RunningCall {
        let (sender, events) = mpsc::channel(CHANNEL);
        let task = tokio::spawn(exchange::exchange(self.clone(), call, sender));
        RunningCall { events, task: task.abort_handle() }
    }
}
