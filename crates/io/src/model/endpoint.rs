//! Where a model is: the kind of server, its address and its key.

use std::net::IpAddr;

use url::Url;

use super::frames::Framing;
use super::key::ApiKey;
use super::redact::Redactor;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::call::{Trouble, TroubleKind};

stepscope_base::words! {
    /// The kind of a server: how it is asked.
    pub enum Backend {
        /// Ollama's `/api/generate`, as upstream asks.
        Ollama = "ollama" => "Ollama",
        /// Ollama's `/api/chat`, as upstream asks models that need it.
        OllamaChat = "ollama-chat" => "Ollama chat",
        /// Chat completions as OpenAI, llama.cpp, vLLM, LM Studio and others serve them.
        Chat = "openai" => "OpenAI",
        /// OpenAI's responses.
        Responses = "responses" => "OpenAI responses",
        /// Anthropic's messages.
        Anthropic = "anthropic" => "Anthropic",
    }
}

impl Backend {
    /// Returns the default address.
    pub const fn address(self) -> &'static str {
        match self {
            Self::Ollama | Self::OllamaChat => "http://127.0.0.1:11434",
            Self::Chat | Self::Responses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }

    /// Returns the path of a call below its address.
    const fn call(self) -> &'static str {
        match self {
            Self::Ollama => "/api/generate",
            Self::OllamaChat => "/api/chat",
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Anthropic => "/v1/messages",
        }
    }

    const fn list(self) -> &'static str {
        match self {
            Self::Ollama | Self::OllamaChat => "/api/tags",
            Self::Chat | Self::Responses => "/models",
            Self::Anthropic => "/v1/models",
        }
    }

    /// Returns the division of its streams into frames.
    pub const fn framing(self) -> Framing {
        match self {
            Self::Ollama | Self::OllamaChat => Framing::Lines,
            Self::Chat | Self::Responses | Self::Anthropic => Framing::Events,
        }
    }

    /// Returns the header that carries the key, and what precedes the key in it.
    pub(super) const fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::Ollama | Self::OllamaChat | Self::Chat | Self::Responses => ("authorization", "Bearer "),
        }
    }

    /// Returns the host and the endings of addresses that tell this kind of server where no one names it.
    const fn marks(self) -> (Option<&'static str>, &'static [&'static str]) {
        match self {
            // Every address that tells nothing else is Ollama's.
            Self::Ollama => (None, &[]),
            Self::OllamaChat => (None, &["/api/chat"]),
            Self::Chat => (Some("api.openai.com"), &["/v1", "/chat/completions"]),
            Self::Responses => (None, &["/responses"]),
            Self::Anthropic => (Some("api.anthropic.com"), &["/messages"]),
        }
    }

    /// Tells whether a request can name a seed; see [`NOT_SENT`].
    pub const fn takes_seed(self) -> bool {
        match self {
            Self::Ollama | Self::OllamaChat | Self::Chat => true,
            Self::Responses | Self::Anthropic => false,
        }
    }

    /// Guesses the kind of server from an address. The later ones are asked first: their addresses tell more.
    pub(super) fn of_address(url: &str) -> Self {
        let path = url.trim_end_matches('/');
        let fits = |backend: &Self| {
            let (host, endings) = backend.marks();
            host.is_some_and(|host| path.contains(host)) || endings.iter().any(|ending| path.ends_with(ending))
        };
        Self::ALL.into_iter().rev().find(fits).unwrap_or(Self::Ollama)
    }

    /// Endings that people copy along with the address.
    const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Ollama | Self::OllamaChat => &["/generate", "/chat", "/api"],
            Self::Chat => &["/chat/completions"],
            Self::Responses => &["/responses"],
            Self::Anthropic => &["/messages", "/v1"],
        }
    }
}

/// The words for a part of a call that the kind of server has no name for.
pub const NOT_SENT: &str = "not sent: this kind of server does not support it";

/// True if this build asks models.
pub const ASKS: bool = cfg!(feature = "models");
/// Sentence of a build that asks none.
pub const ABSENT: &str = "this build of stepscope asks no model: it was built without the feature `models`; --cassette takes a \
                          recording instead";

/// A server, ready to be asked.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its kind.
    pub backend: Backend,
    base: Url,
    key: Option<ApiKey>,
    proxy: Option<Url>,
}

impl Endpoint {
    /// Checks an address. A key never goes out in the clear, nor in an address.
    pub fn new(backend: Backend, address: &str, key: Option<ApiKey>) -> Result<Self, Trouble> {
        let mut base = address_of(address)?;
        let mut path = base.path().trim_end_matches('/').to_owned();
        for ending in backend.endings() {
            path.truncate(path.strip_suffix(ending).unwrap_or(&path).trim_end_matches('/').len());
        }
        if path.is_empty() && matches!(backend, Backend::Chat | Backend::Responses) {
            path.push_str("/v1");
        }
        base.set_path(&path);
        // A server that listens everywhere is asked here.
        let here = match base.host_str() {
            Some("0.0.0.0") => Some("127.0.0.1"),
            Some("[::]") => Some("[::1]"),
            _ => None,
        };
        if here.is_some() && base.set_host(here).is_err() {
            return Err(refused(Shown::own("invalid server URL")));
        }
        if key.is_some() && base.scheme() == "http" && !is_loopback(&base) {
            return Err(refused(shown!(
                "the key is not sent to {}: http:// is not encrypted; use https://, or omit the key",
                origin(&base)
            )));
        }
        Ok(Self { backend, base, key, proxy: None })
    }

    /// Sends requests through a proxy that the user asked for; never to this machine.
    pub fn through(mut self, proxy: &str) -> Result<Self, Trouble> {
        let proxy = address_of(proxy).map_err(|trouble| refused(shown!("the proxy of the profile: {trouble}")))?;
        self.proxy = Some(proxy).filter(|_| !is_loopback(&self.base));
        Ok(self)
    }

    /// Returns the address of a call.
    pub fn call(&self) -> Url {
        self.below(self.backend.call())
    }

    /// Returns the address of the list of models.
    pub fn list(&self) -> Url {
        self.below(self.backend.list())
    }

    fn below(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }

    /// Returns its address as it can be shown: there is no key in it.
    pub fn shown(&self) -> Shown {
        self.shown_url(&self.base)
    }

    /// Returns the address of a call, as it can be shown.
    pub(super) fn shown_call(&self) -> Shown {
        self.shown_url(&self.call())
    }

    fn shown_url(&self, url: &Url) -> Shown {
        Shown::line(&Redactor::new(self.key()).whole(url.as_str().trim_end_matches('/').as_bytes()))
    }

    /// Returns the path of a call, for records.
    pub fn path(&self) -> String {
        String::from_utf8_lossy(&Redactor::new(self.key()).whole(self.call().path().as_bytes())).into_owned()
    }

    /// Tells whether it is on this machine.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.base)
    }

    pub(super) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    pub(super) fn proxy(&self) -> Option<&Url> {
        self.proxy.as_ref()
    }

    pub(super) fn is_secure(&self) -> bool {
        self.base.scheme() == "https"
    }
}

/// Returns the host, which not every address has.
fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// Returns scheme, host and port.
pub(super) fn origin(url: &Url) -> Shown {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = host(url);
    Shown::line(format!("{}://{host}{port}", url.scheme()).as_bytes())
}

/// Tells whether two addresses lead to the same server.
pub(crate) fn same_origin(a: &str, b: &str) -> bool {
    let (Ok(a), Ok(b)) = (address_of(a), address_of(b)) else { return false };
    a.origin() == b.origin()
}

pub(super) fn refused(sentence: Shown) -> Trouble {
    Trouble::new(TroubleKind::NotSent, sentence)
}

fn address_of(address: &str) -> Result<Url, Trouble> {
    let address = address.trim();
    // A key may hide in an address: what is refused is not repeated.
    let whole = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let url = Url::parse(&whole).map_err(|error| refused(shown!("invalid server URL: {}", Shown::error(&error))))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(refused(Shown::own("a server URL must begin with http:// or https://")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(Shown::own(
            "the server URL holds a name or password; put the key in an environment variable and pass --key-env NAME",
        )));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused(Shown::own(
            "the server URL holds a ? or #; pass only the part before it, and a key with --key-env NAME",
        )));
    }
    Ok(url)
}

/// Tells whether an address says that it is on this machine. For a name that says so, the connection takes no address
/// that is elsewhere.
fn is_loopback(url: &Url) -> bool {
    let host = host(url).trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = host.parse::<IpAddr>() {
        return address.to_canonical().is_loopback();
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(backend: Backend, address: &str) -> String {
        Endpoint::new(backend, address, None).unwrap().call().to_string()
    }

    #[test]
    fn addresses_are_understood_as_people_write_them() {
        for (backend, address, url) in [
            (Backend::Ollama, "127.0.0.1:11434", "http://127.0.0.1:11434/api/generate"),
            (Backend::Ollama, "http://h:1/MODE/v1", "http://h:1/MODE/v1/api/generate"),
            (Backend::OllamaChat, "http://h:1/api/chat/", "http://h:1/api/chat"),
            (Backend::Ollama, "localhost:1/api/", "http://localhost:1/api/generate"),
            (Backend::Chat, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
            (Backend::Chat, "https://x.example/api/v1/", "https://x.example/api/v1/chat/completions"),
            (Backend::Chat, "https://x.example/v1/chat/completions", "https://x.example/v1/chat/completions"),
            (Backend::Responses, "https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
            (Backend::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            (Backend::Anthropic, "http://[::1]:8080/v1/messages", "http://[::1]:8080/v1/messages"),
            (Backend::Chat, "http://0.0.0.0:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"),
            (Backend::Chat, "http://[::]:8000", "http://[::1]:8000/v1/chat/completions"),
            (Backend::Chat, "http://127.1:1", "http://127.0.0.1:1/v1/chat/completions"),
        ] {
            assert_eq!(call(backend, address), url, "{address}");
        }
        let list = |backend, address| Endpoint::new(backend, address, None).unwrap().list().to_string();
        assert_eq!(list(Backend::Ollama, "h"), "http://h/api/tags");
        assert_eq!(list(Backend::Chat, "http://h:1"), "http://h:1/v1/models");
    }

    #[test]
    fn an_address_tells_the_kind_of_server() {
        for (address, backend) in [
            ("http://127.0.0.1:11434", Backend::Ollama),
            ("http://h/api/chat/", Backend::OllamaChat),
            ("http://h:1/v1", Backend::Chat),
            ("https://api.openai.com", Backend::Chat),
            ("https://api.openai.com/v1/responses", Backend::Responses),
            ("https://api.anthropic.com/v1", Backend::Anthropic),
            ("http://h/v1/messages", Backend::Anthropic),
        ] {
            assert_eq!(Backend::of_address(address), backend, "{address}");
        }
    }

    #[test]
    fn keys_stay_out_of_addresses_and_of_the_clear() {
        let why = |address: &str, key: Option<&str>| {
            let key = key.map(|key| ApiKey::new(key).unwrap());
            Endpoint::new(Backend::Chat, address, key).unwrap_err().to_string()
        };
        for address in
            ["http://u:sk-secret-1@h", "https://h/?key=sk-secret-1", "ftp://h", "http://", "https://sk-secret-1@h"]
        {
            assert!(!why(address, None).contains("secret"), "{address}");
        }
        assert!(why("http://10.0.0.5:8000/v1", Some("sk-secret-1")).contains("http://10.0.0.5:8000"));
        for address in [
            "http://127.0.0.1:1",
            "http://[::1]:1",
            "http://localhost:1",
            "http://LOCALHOST.:1",
            "http://x.localhost:1",
            "http://[::ffff:127.0.0.1]:1",
            "http://127.1:1",
            "http://2130706433:1",
            "http://0x7f.1:1",
            "http://0:1",
            "http://[::]:1",
            "https://h",
        ] {
            assert!(Endpoint::new(Backend::Chat, address, ApiKey::new("sk-secret-1")).is_ok(), "{address}");
        }
        for address in [
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "http://xlocalhost",
            "http://localhost..",
            "http://[::ffff:10.0.0.1]",
            "http://[::127.0.0.1]",
            "http://128.0.0.1",
        ] {
            assert!(why(address, Some("sk-secret-1")).contains("not sent"), "{address}");
        }
        let path = Endpoint::new(Backend::Chat, "http://localhost/sk-secret-1/v1", ApiKey::new("sk-secret-1")).unwrap();
        let shown = [path.shown(), path.shown_call(), Shown::line(path.path().as_bytes())];
        assert!(shown.iter().all(|text| text.as_str().contains("/***/v1")), "{shown:?}");
    }

    #[test]
    fn a_proxy_is_never_used_for_this_machine() {
        let through = |address| {
            let endpoint = Endpoint::new(Backend::Ollama, address, None).unwrap().through("http://p:3128").unwrap();
            endpoint.proxy().is_some()
        };
        assert!(!through("localhost:1") && through("http://h:1"));
    }
}
