//! How requests leave and answers come: over the network, or from a cassette. The one place where a network client is
//! made, with every setting that keeps keys and questions where they belong.

use std::error::Error as _;
use std::io::ErrorKind;
use std::pin::Pin;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Proxy, Url, redirect, retry};

use super::cassette::{Played, Tape};
use super::endpoint::{Backend, Endpoint, origin};
use crate::domain::rerun::{Trouble, TroubleKind};
use crate::domain::text::Shown;
use crate::shown;

/// Something that is waited for.
pub(super) type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The beginning of an answer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// What the body is said to be; empty where nothing is said.
    pub kind: String,
    /// How long to wait before the next request.
    pub retry_after: Option<String>,
    /// Where the server sends us instead.
    pub location: Option<String>,
    /// How the body is compressed.
    pub encoding: Option<String>,
}

/// An answer that is coming.
#[derive(Debug)]
pub(super) enum Answer {
    Live(Box<reqwest::Response>),
    Played(Played),
}

impl Answer {
    /// The next bytes; `None`: that was all.
    pub(super) fn chunk(&mut self) -> Pending<'_, Result<Option<Vec<u8>>, Trouble>> {
        match self {
            Self::Live(response) => Box::pin(async {
                let chunk = response.chunk().await.map_err(|error| broken(&error))?;
                Ok(chunk.map(|bytes| bytes.to_vec()))
            }),
            Self::Played(played) => Box::pin(played.chunk()),
        }
    }
}

/// Where requests go.
#[derive(Clone, Debug)]
pub(super) enum Wire {
    Live(Client),
    Tape(Tape),
}

impl Wire {
    /// Over the network, to one endpoint.
    pub(super) fn live(endpoint: &Endpoint, connect: Duration) -> Result<Self, Trouble> {
        let mut builder = Client::builder()
            // A redirect would carry the key to another host.
            .redirect(redirect::Policy::none())
            .referer(false)
            .retry(retry::never())
            .no_proxy()
            .connect_timeout(connect)
            // Each call has a connection of its own: a kept one may be dead by now, and whether a request that went into
            // it was heard, nobody could say.
            .pool_max_idle_per_host(0)
            .tcp_nodelay(true)
            .http1_only()
            .user_agent(concat!("stepscope/", env!("CARGO_PKG_VERSION")));
        if let Some(proxy) = endpoint.proxy() {
            let proxy = Proxy::all(proxy.clone()).map_err(|error| not_sent(&error))?;
            builder = builder.proxy(proxy);
        }
        if !endpoint.is_secure() {
            // Without TLS no certificates are needed, and a machine without any can still ask itself.
            builder = builder.tls_certs_only([]);
        }
        builder.build().map(Self::Live).map_err(|error| not_sent(&error))
    }

    /// Sends a request and waits for the beginning of the answer. Without a body it is a GET.
    pub(super) async fn send(
        &self,
        endpoint: &Endpoint,
        url: &Url,
        body: Option<Vec<u8>>,
    ) -> Result<(Head, Answer), Trouble> {
        let client = match self {
            Self::Live(client) => client,
            Self::Tape(tape) => return tape.play(endpoint.backend, body.as_deref().unwrap_or_default()),
        };
        let request = match body {
            Some(body) => client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body),
            None => client.get(url.clone()),
        };
        let response =
            request.headers(headers(endpoint)).send().await.map_err(|error| unreached(&error, &origin(url)))?;
        let text = |name| {
            let value: Option<&HeaderValue> = response.headers().get(name);
            value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let head = Head {
            status: response.status().as_u16(),
            kind: text(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase(),
            retry_after: text(RETRY_AFTER),
            location: text(LOCATION),
            encoding: text(CONTENT_ENCODING),
        };
        Ok((head, Answer::Live(Box::new(response))))
    }
}

fn headers(endpoint: &Endpoint) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream, application/x-ndjson"));
    if endpoint.backend == Backend::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let key = endpoint.key().and_then(|key| match endpoint.backend {
        Backend::Anthropic => Some(("x-api-key", key.header("")?)),
        _ => Some(("authorization", key.header("Bearer ")?)),
    });
    if let Some((name, value)) = key {
        headers.insert(name, value);
    }
    headers
}

fn not_sent(error: &reqwest::Error) -> Trouble {
    let why = innermost(error);
    let help = "; https:// needs the system's certificates: install them, or name a file of them with SSL_CERT_FILE";
    let help = if why.as_str().contains("certificates") { help } else { "" };
    Trouble::new(TroubleKind::NotSent, shown!("no connection can be prepared: {why}{help}"))
}

/// Why no answer came.
fn unreached(error: &reqwest::Error, origin: &Shown) -> Trouble {
    let why = innermost(error);
    if error.is_connect() {
        let refused = io_kind(error) == Some(ErrorKind::ConnectionRefused);
        let sentence = match (error.is_timeout(), refused) {
            (true, _) => shown!("no connection to {origin} in time; is the address right, and the server running?"),
            (_, true) => shown!("nobody listens at {origin}; start the model server, or name another with --url"),
            _ => shown!("no connection to {origin}: {why}"),
        };
        return Trouble::new(TroubleKind::Connect, sentence);
    }
    let closed = matches!(
        io_kind(error),
        Some(
            ErrorKind::ConnectionReset
                | ErrorKind::UnexpectedEof
                | ErrorKind::BrokenPipe
                | ErrorKind::ConnectionAborted
        )
    );
    // Hyper has no kind of error for this that could be asked for from here.
    let closed = closed || why.as_str() == "connection closed before message completed";
    let kind = if closed { TroubleKind::Cut } else { TroubleKind::NoReply };
    Trouble::new(kind, shown!("{origin} did not answer: {why}"))
}

/// Why an answer broke off.
fn broken(error: &reqwest::Error) -> Trouble {
    Trouble::new(TroubleKind::Cut, shown!("the connection broke: {}", innermost(error)))
}

/// The innermost reason: the outer ones only repeat that there was an error, some of them with the address.
fn innermost(error: &reqwest::Error) -> Shown {
    let Some(mut inner) = error.source() else { return Shown::own("it cannot be used") };
    while let Some(next) = inner.source() {
        inner = next;
    }
    Shown::error(&inner)
}

fn io_kind(error: &reqwest::Error) -> Option<ErrorKind> {
    let mut inner = error.source();
    while let Some(error) = inner {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        inner = error.source();
    }
    None
}
