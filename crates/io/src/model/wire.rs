//! The transport of requests and replies: the network, or a recording. Everything that a server says comes in through
//! here, and where it comes in the key is taken out of it: no other module ever sees a key that was said back.

use std::pin::Pin;
use std::time::Duration;

use url::Url;

use super::cassette::{Played, Tape};
use super::endpoint::Endpoint;
use stepscope_execution::call::Trouble;

#[cfg(feature = "models")]
mod network;
#[cfg(not(feature = "models"))]
#[path = "wire/no_network.rs"]
mod network;

use network::{Arriving, Network};

/// Something that is waited for.
pub(super) type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The beginning of an answer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Head {
    /// The status.
    pub status: u16,
    /// Content type of the body; empty where none is given.
    pub kind: String,
    /// Time to wait before the next request.
    pub retry_after: Option<String>,
    /// Address to which the server redirects.
    pub location: Option<String>,
    /// Compression of the body.
    pub encoding: Option<String>,
}

/// An answer that is coming.
#[derive(Debug)]
pub(super) enum Answer {
    Live(Box<Arriving>),
    Played(Played),
}

impl Answer {
    /// Returns the next bytes; `None`: that was all.
    pub(super) fn chunk(&mut self) -> Pending<'_, Result<Option<Vec<u8>>, Trouble>> {
        match self {
            Self::Live(arriving) => Box::pin(arriving.chunk()),
            Self::Played(played) => Box::pin(played.chunk()),
        }
    }
}

/// Destination of requests.
#[derive(Clone, Debug)]
pub(super) enum Wire {
    Live(Network),
    Tape(Tape),
}

impl Wire {
    /// Prepares requests over the network, to one endpoint.
    pub(super) fn live(endpoint: &Endpoint, connect: Duration) -> Result<Self, Trouble> {
        Network::new(endpoint, connect).map(Self::Live)
    }

    /// Sends a request and waits for the beginning of the answer. Without a body it is a GET.
    pub(super) async fn send(
        &self,
        endpoint: &Endpoint,
        url: &Url,
        body: Option<Vec<u8>>,
    ) -> Result<(Head, Answer), Trouble> {
        match self {
            Self::Live(network) => {
                let (head, arriving) = network.send(endpoint, url, body).await?;
                Ok((head, Answer::Live(Box::new(arriving))))
            }
            Self::Tape(tape) => tape.play(endpoint.backend, body.as_deref().unwrap_or_default()),
        }
    }
}
