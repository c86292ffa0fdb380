//! Offers of servers: the models of one, and which servers are live on this machine.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use super::endpoint::{Backend, Endpoint, origin};
use super::exchange::{behind_colon, redirected};
use super::redact::Redactor;
use super::reply::error_text;
use super::wire::Wire;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Untrusted;
use stepscope_execution::call::{Trouble, TroubleKind};

/// Ports on which model servers usually listen on one's own machine, with the server that most often does.
pub(crate) const PORTS: [(u16, Backend, &str); 9] = [
    (11434, Backend::Ollama, "Ollama"),
    (8080, Backend::Chat, "llama.cpp"),
    (8000, Backend::Chat, "vLLM"),
    (1234, Backend::Chat, "LM Studio"),
    (30000, Backend::Chat, "SGLang"),
    (4000, Backend::Chat, "LiteLLM"),
    (5001, Backend::Chat, "KoboldCpp"),
    (1337, Backend::Chat, "Jan"),
    (13305, Backend::Chat, "Lemonade"),
];

/// A list of models is not larger, all its parts together.
const MAX_LIST: usize = 4 << 20;
/// Time within which a server on this machine answers.
pub const NEAR: Duration = Duration::from_secs(2);
/// Number of parts that a list is asked for in, at most.
const MAX_PAGES: usize = 100;
/// Number of models that are listed at most.
const MAX_MODELS: usize = 10_000;

/// Asks for the models of a server, in its order.
pub async fn models(endpoint: &Endpoint, patience: Duration) -> Result<Vec<Untrusted<'static>>, Trouble> {
    let url = endpoint.list();
    let origin = origin(&url);
    let late = |_| {
        Trouble::new(TroubleKind::TimeOut, shown!("{origin} did not list its models within {} s", patience.as_secs()))
    };
    timeout(patience, list(endpoint)).await.map_err(late)?
}

async fn list(endpoint: &Endpoint) -> Result<Vec<Untrusted<'static>>, Trouble> {
    let mut url = endpoint.list();
    let redactor = Redactor::new(endpoint.key());
    let wire = Wire::live(endpoint, NEAR.max(Duration::from_secs(10)))?;
    let (mut all, mut after, mut room) = (Vec::new(), None, MAX_LIST);
    for _ in 0..MAX_PAGES {
        let Page { names, last } = page(endpoint, &wire, &url, &redactor, &mut room).await?;
        all.extend(names.into_iter().map(|name| Untrusted::owned(redactor.whole(name.bytes()))));
        let goes_on = endpoint.backend == Backend::Anthropic && all.len() < MAX_MODELS;
        let Some(last) = last.filter(|last| goes_on && after.as_ref() != Some(last)) else { break };
        url.query_pairs_mut().clear().append_pair("after_id", &last);
        after = Some(last);
    }
    all.truncate(MAX_MODELS);
    Ok(all)
}

/// Asks for one part of a list. `room`: bytes that it and all parts behind it may still have.
async fn page(
    endpoint: &Endpoint,
    wire: &Wire,
    url: &Url,
    redactor: &Redactor,
    room: &mut usize,
) -> Result<Page, Trouble> {
    let origin = origin(url);
    let (head, mut answer) = wire.send(endpoint, url, None).await?;
    let mut body = Vec::new();
    while let Some(bytes) = answer.chunk().await? {
        body.extend_from_slice(&bytes);
        if body.len() > *room {
            let sentence = shown!("the list of models of {origin} is larger than 4 MB");
            return Err(Trouble::new(TroubleKind::TooLarge, sentence));
        }
    }
    if !(200..300).contains(&head.status) {
        if (300..400).contains(&head.status) {
            return Err(redirected(&head, &origin));
        }
        let said = redactor.whole(error_text(&body, 300).bytes());
        let words = behind_colon(&Untrusted::new(&said));
        let sentence = shown!("{origin} did not list its models (HTTP {}){words}", head.status);
        return Err(Trouble { status: Some(head.status), ..Trouble::new(TroubleKind::Refused, sentence) });
    }
    *room -= body.len();
    Page::read(&body).ok_or_else(|| {
        Trouble::new(TroubleKind::NoReply, shown!("{origin} did not send a list of models; is it that kind of server?"))
    })
}

/// Part of a list of models.
struct Page {
    names: Vec<Untrusted<'static>>,
    /// Name behind which the list goes on; `None`: this is its end.
    last: Option<String>,
}

impl Page {
    /// Reads names of models: `{"models": [{"name"}]}` from Ollama, `{"data": [{"id"}]}` from the others, of which some
    /// send only the list.
    fn read(body: &[u8]) -> Option<Self> {
        let mut tape = Tape::default();
        let root = tape.parse(body)?;
        let is_bare = root.kind() == Kind::Array;
        let (list, key) = match root.get("data").filter(|list| list.is_container()) {
            Some(list) => (list, "id"),
            None if is_bare => (root, "id"),
            None => (root.get("models")?, "name"),
        };
        let name = |model: Value<'_>| model.get(key).and_then(Value::string).map(Untrusted::into_owned);
        let names: Vec<_> = list.items().filter_map(name).take(MAX_MODELS).collect();
        if is_bare && names.is_empty() {
            return None;
        }
        let goes_on = root.get("has_more").and_then(Value::bool) == Some(true);
        let last = root.get("last_id").filter(|_| goes_on).and_then(Value::string);
        Some(Self { names, last: last.and_then(|last| last.utf8().map(ToOwned::to_owned)) })
    }
}

/// A server that answered.
#[derive(Clone, Debug)]
pub struct FoundServer {
    /// The server.
    pub endpoint: Endpoint,
    /// Server that most often listens at its port.
    pub usually: &'static str,
    /// Its models.
    pub models: Vec<Untrusted<'static>>,
}

/// Asks the usual ports of this machine, all at once. Nothing leaves the machine.
pub async fn discover() -> Vec<FoundServer> {
    let mut asking = JoinSet::new();
    for (n, (port, backend, usually)) in PORTS.into_iter().enumerate() {
        let Ok(endpoint) = Endpoint::new(backend, &format!("http://127.0.0.1:{port}"), None) else { continue };
        asking.spawn(async move {
            let models = models(&endpoint, NEAR).await.ok()?;
            Some((n, FoundServer { endpoint, usually, models }))
        });
    }
    let mut found: Vec<_> = asking.join_all().await.into_iter().flatten().collect();
    found.sort_by_key(|(n, _)| *n);
    found.into_iter().map(|(_, found)| found).collect()
}

/// Tells whether a server is among those that are asked without being named.
pub fn is_usual(endpoint: &Endpoint) -> bool {
    let usual = |(port, backend, _)| Endpoint::new(backend, &format!("http://127.0.0.1:{port}"), None);
    PORTS.into_iter().filter_map(|port| usual(port).ok()).any(|usual| usual.list() == endpoint.list())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_kind_are_read() {
        let read = |text: &str| {
            let page = Page::read(text.as_bytes())?;
            Some(page.names.into_iter().map(|name| name.line().into_string()).collect::<Vec<_>>())
        };
        assert_eq!(read(r#"{"models": [{"name": "a:1"}, {"x": 1}, {"name": "b"}]}"#).unwrap(), ["a:1", "b"]);
        // llama.cpp says both.
        assert_eq!(read(r#"{"models": [{"name": "a"}], "data": [{"id": "a"}]}"#).unwrap(), ["a"]);
        assert_eq!(read(r#"{"data": []}"#).unwrap(), Vec::<String>::new());
        assert_eq!(read("<html>"), None);
        assert_eq!(read("[]"), None);
        assert_eq!(read(r#"[{"id": "a"}, {"id": "b"}]"#).unwrap(), ["a", "b"]);
        assert_eq!(read("[1]"), None);
    }
}
