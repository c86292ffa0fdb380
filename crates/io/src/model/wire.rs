//! The transport of requests and replies: the network, or a recording. Everything that a server says comes in through
//! here, and where it comes in the key is taken out of it: no other module ever sees a key that was said back.

use std::pin::Pin;
use std::time::Duration;

use url::Url;

use super::cassette::{Played, Tape};
use super::endpoint::Endpoint;
use super::head::Head;
use stepscope_execution::call::Trouble;

#[cfg(feature = "models")]
mod network;
#[cfg(not(feature = "models"))]
mod no_network;

#[cfg(feature = "models")]
use network::{Arriving, Network};
#[cfg(not(feature = "models"))]
use no_network::{NoAnswer as Arriving, NoNetwork as Network};

/// Something that is waited for.
pub(super) type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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
