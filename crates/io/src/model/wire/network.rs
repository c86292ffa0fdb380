//! The network: the one place where its client is made, with every setting that keeps keys and questions where they belong.

use std::error::Error as _;
use std::fmt;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Proxy, redirect, retry};
use url::Url;

use crate::model::endpoint::{Backend, Endpoint, origin};
use crate::model::head::Head;
use crate::model::key::ApiKey;
use crate::model::redact::Redactor;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::call::{Trouble, TroubleKind};

/// A client for one endpoint.
#[derive(Clone, Debug)]
pub(in crate::model) struct Network(Client);

/// An answer from the network, on its way through the redactor.
pub(in crate::model) struct Arriving {
    response: reqwest::Response,
    redactor: Redactor,
    /// The answer is over, so or so; what was held back came first.
    over: Option<Result<(), Trouble>>,
}

/// Hides the headers, which may hold the key, from debug text.
impl fmt::Debug for Arriving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving").field("over", &self.over).finish_non_exhaustive()
    }
}

impl Arriving {
    /// Returns the next bytes; `None`: that was all.
    pub(super) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        while self.over.is_none() {
            let (bytes, over) = match self.response.chunk().await {
                Ok(Some(bytes)) => (self.redactor.push_yielding(&bytes).await, None),
                Ok(None) => (self.redactor.finish(), Some(Ok(()))),
                Err(error) => (self.redactor.finish(), Some(Err(broken(&error, &self.redactor)))),
            };
            self.over = over;
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        self.over.clone().unwrap_or(Ok(())).map(|()| None)
    }
}

impl Network {
    /// Prepares requests over the network, to one endpoint.
    pub(super) fn new(endpoint: &Endpoint, connect: Duration) -> Result<Self, Trouble> {
        // The first caller installs it.
        let _ = rustls::crypto::ring::default_provider().install_default();
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
        if endpoint.is_local() {
            builder = builder.dns_resolver(Arc::new(ThisMachine));
        }
        if !endpoint.is_secure() {
            // Without TLS no certificates are needed, and a machine without any can still ask itself.
            builder = builder.tls_certs_only([]);
        }
        builder.build().map(Self).map_err(|error| not_sent(&error))
    }

    /// Sends a request and waits for the beginning of the answer. Without a body it is a GET.
    pub(super) async fn send(
        &self,
        endpoint: &Endpoint,
        url: &Url,
        body: Option<Vec<u8>>,
    ) -> Result<(Head, Arriving), Trouble> {
        let request = match body {
            Some(body) => self.0.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body),
            None => self.0.get(url.clone()),
        };
        let redactor = Redactor::new(endpoint.key());
        let sent = request.headers(headers(endpoint)).send().await;
        let response = sent.map_err(|error| unreached(&error, &origin(url), &redactor))?;
        let text = |name| {
            let value: Option<&HeaderValue> = response.headers().get(name);
            value.map(|value| String::from_utf8_lossy(&redactor.whole(value.as_bytes())).into_owned())
        };
        let head = Head {
            status: response.status().as_u16(),
            kind: text(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase(),
            retry_after: text(RETRY_AFTER),
            location: text(LOCATION).map(|to| without_secrets(url, &to)),
            encoding: text(CONTENT_ENCODING),
        };
        Ok((head, Arriving { response, redactor, over: None }))
    }
}

fn headers(endpoint: &Endpoint) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream, application/x-ndjson"));
    if endpoint.backend == Backend::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let (name, before) = endpoint.backend.key_header();
    if let Some(value) = endpoint.key().and_then(|key| key_header(key, before)) {
        headers.insert(name, value);
    }
    headers
}

/// Makes a header of `before` and the key, marked as sensitive so that it is not logged.
fn key_header(key: &ApiKey, before: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("{before}{}", key.text())).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn not_sent(error: &reqwest::Error) -> Trouble {
    let why = innermost(error, &Redactor::new(None));
    let help = "; https:// needs the system's certificates: install them, or set SSL_CERT_FILE to a file of them";
    let help = if why.as_str().contains("certificates") { help } else { "" };
    Trouble::new(TroubleKind::NotSent, shown!("cannot prepare a connection: {why}{help}"))
}

/// Explains why no answer came.
fn unreached(error: &reqwest::Error, origin: &Shown, redactor: &Redactor) -> Trouble {
    let why = innermost(error, redactor);
    if error.is_connect() {
        let refused = io_kind(error) == Some(ErrorKind::ConnectionRefused);
        let sentence = match (error.is_timeout(), refused) {
            (true, _) => shown!("connection timed out: {origin}; check the URL, and that the server is running"),
            (_, true) => shown!("connection refused: {origin}; start the model server, or pass another with --url"),
            _ => shown!("cannot connect to {origin}: {why}"),
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
    Trouble::new(kind, shown!("{origin} did not respond: {why}"))
}

/// Explains why an answer broke off.
fn broken(error: &reqwest::Error, redactor: &Redactor) -> Trouble {
    Trouble::new(TroubleKind::Cut, shown!("the connection was lost: {}", innermost(error, redactor)))
}

/// Returns the innermost reason: the outer ones only repeat that there was an error, some of them with the address.
fn innermost(error: &reqwest::Error, redactor: &Redactor) -> Shown {
    let Some(mut inner) = error.source() else { return Shown::own("no reason given") };
    while let Some(next) = inner.source() {
        inner = next;
    }
    // A certificate, too, says what its owner likes.
    Shown::line(&redactor.whole(inner.to_string().as_bytes()))
}

/// Removes from an address that a server names what may be a secret: the name and password, and the query.
fn without_secrets(from: &Url, to: &str) -> String {
    let Ok(mut url) = from.join(to) else { return "an unreadable address".to_owned() };
    // An address that holds neither has nothing to lose.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Finds the addresses of names of this machine, and takes no others: a name such as `x.localhost` is worth nothing by
/// itself. The connection goes to the very addresses that were looked at.
#[derive(Debug)]
struct ThisMachine;

impl Resolve for ThisMachine {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // Not every system knows its own name with the dot of a full name behind it.
            let name = name.as_str().trim_end_matches('.');
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name, 0)).await?.collect();
            match found.iter().find(|address| !address.ip().to_canonical().is_loopback()) {
                None => Ok(Box::new(found.into_iter()) as Addrs),
                Some(other) => {
                    let sentence = "not to this machine as its name says: nothing was sent";
                    Err(format!("it resolves to {}, {sentence}", other.ip()).into())
                }
            }
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_leaves_as_a_header_that_is_not_logged() {
        let header = key_header(&ApiKey::new(" sk-secret-1\n").unwrap(), "Bearer ").unwrap();
        assert!(header.is_sensitive() && header == "Bearer sk-secret-1");
        // What a key may hold is what a header may hold.
        for byte in 0..=255_u8 {
            let text = String::from_utf8_lossy(&[b'a', byte, b'b']).into_owned();
            assert_eq!(ApiKey::new(&text).is_some(), HeaderValue::from_str(&text).is_ok(), "{byte}");
        }
    }

    #[tokio::test]
    async fn only_addresses_of_this_machine_are_taken() {
        let resolved = async |name: &str| {
            let found = ThisMachine.resolve(name.parse().unwrap()).await.map_err(|error| error.to_string())?;
            Ok::<_, String>(found.map(|address| address.ip()).collect::<Vec<_>>())
        };
        for name in ["localhost", "localhost.", "127.0.0.1", "127.9.9.9"] {
            let found = resolved(name).await.unwrap();
            assert!(!found.is_empty() && found.iter().all(|ip| ip.to_canonical().is_loopback()), "{name}: {found:?}");
        }
        let refused = resolved("192.0.2.7").await.unwrap_err();
        assert_eq!(refused, "it resolves to 192.0.2.7, not to this machine as its name says: nothing was sent");
    }
}
