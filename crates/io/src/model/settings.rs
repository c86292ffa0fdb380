//! Which model, where, with which key: flags over the profile that a flag names over the usual environment variables
//! over the default profile of `config.toml`.

use super::Limits;
use super::endpoint::{Backend, Endpoint, refused, same_origin};
use super::key::ApiKey;
use crate::config::{Config, Profile};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::call::Trouble;

/// Server that the flags ask for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WantedServer {
    /// A profile of `config.toml`.
    pub profile: Option<String>,
    /// The kind of server.
    pub backend: Option<Backend>,
    /// Its address.
    pub url: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// Nothing may be sent.
    pub offline: bool,
}

/// Server to ask, and the model.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The server.
    pub endpoint: Endpoint,
    /// The model, if one was named.
    pub model: Option<String>,
}

/// Puts together what flags, environment and settings say. `variable` reads the environment.
pub fn settle(
    wanted: &WantedServer,
    config: &Config,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Settled, Trouble> {
    if wanted.offline {
        return Err(refused(Shown::own("offline mode (--offline): request not sent")));
    }
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let named = match &wanted.profile {
        None => None,
        Some(name) => Some(config.profiles.get(name).ok_or_else(|| unknown_profile(name, config))?),
    };
    let default = config.profile.as_ref().filter(|_| named.is_none());
    let default = match default {
        None => None,
        Some(name) => Some(config.profiles.get(name).ok_or_else(|| unknown_profile(name, config))?),
    };
    let profile = named.or(default);
    let backend = backend(wanted, named, default, &set)?;
    let custom = customary(backend, &set);
    let url_of = |profile: Option<&Profile>| profile.and_then(|profile| profile.url.clone());
    let url = wanted.url.clone().or_else(|| url_of(named));
    let url = url.or_else(|| custom.url.clone()).or_else(|| url_of(default));
    let address = url.unwrap_or_else(|| backend.address().to_owned());
    // A key goes to the server that it is for, and to no other that flags or variables name on the way.
    let home = profile.filter(|profile| leads_home(profile, &address, backend, &set));
    let from_profile = home.and_then(|profile| profile.key_env.as_ref());
    let key = match wanted.key_env.as_ref().or(from_profile) {
        Some(name) => Some(key_of(name, &set)?),
        None => custom
            .key
            .filter(|_| same_origin(&address, custom.url.as_deref().unwrap_or(backend.address())))
            .and_then(|name| ApiKey::new(&set(name)?)),
    };
    let mut endpoint = Endpoint::new(backend, &address, key)?;
    if let Some(proxy) = profile.and_then(|profile| profile.proxy.as_ref()) {
        endpoint = endpoint.through(proxy)?;
    }
    let model = wanted.model.clone().or_else(|| profile.and_then(|profile| profile.model.clone()));
    Ok(Settled { endpoint, model })
}

/// Tells whether an address is that of the server whose key a profile names: the profile's own, or, where it has none,
/// the usual one of its kind of server.
fn leads_home(profile: &Profile, address: &str, backend: Backend, set: &impl Fn(&str) -> Option<String>) -> bool {
    if let Some(url) = &profile.url {
        return same_origin(address, url);
    }
    let own = profile.backend.as_deref().and_then(Backend::from_word).unwrap_or(backend);
    same_origin(address, customary(own, set).url.as_deref().unwrap_or(own.address()))
}

/// Settles the limits, as the profile has them, then as flags change them.
pub fn limits(wanted: &WantedServer, config: &Config) -> Limits {
    let name = wanted.profile.as_ref().or(config.profile.as_ref());
    let profile = name.and_then(|name| config.profiles.get(name));
    let mut limits = Limits::default();
    if let Some(profile) = profile {
        for (set, limit) in [
            (profile.first_timeout, &mut limits.first),
            (profile.silence_timeout, &mut limits.silence),
            (profile.timeout, &mut limits.total),
        ] {
            *limit = set.unwrap_or(*limit);
        }
    }
    limits
}

fn unknown_profile(name: &str, config: &Config) -> Trouble {
    let names: Vec<_> = config.profiles.keys().map(|name| Shown::line(name.as_bytes()).into_string()).collect();
    let there =
        if names.is_empty() { "config.toml has no profiles".to_owned() } else { format!("use {}", names.join(", ")) };
    refused(shown!("unknown profile \"{}\" ({there})", Shown::line(name.as_bytes())))
}

fn key_of(name: &str, set: &impl Fn(&str) -> Option<String>) -> Result<ApiKey, Trouble> {
    // What is no name may be the key itself, which is not repeated.
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(refused(Shown::own(
            "--key-env and key_env take the name of an environment variable, of letters, digits and _; the key is its value",
        )));
    }
    let shown = Shown::line(name.as_bytes());
    let value =
        set(name).ok_or_else(|| refused(shown!("the environment variable {shown} is not set; export it first")))?;
    ApiKey::new(&value)
        .ok_or_else(|| refused(shown!("the value of {shown} is not a valid key: a header cannot hold it")))
}

fn backend(
    wanted: &WantedServer,
    named: Option<&Profile>,
    default: Option<&Profile>,
    set: &impl Fn(&str) -> Option<String>,
) -> Result<Backend, Trouble> {
    let of = |profile: Option<&Profile>| profile.and_then(|profile| profile.backend.clone());
    if let Some(backend) = wanted.backend {
        return Ok(backend);
    }
    if let Some(word) = of(named) {
        return word_of(&word);
    }
    if let Some(url) = wanted.url.as_ref().or(named.and_then(|profile| profile.url.as_ref())) {
        return Ok(Backend::of_address(url));
    }
    if let Some(word) = of(default) {
        return word_of(&word);
    }
    if set("OLLAMA_HOST").is_none() && set("OPENAI_BASE_URL").is_some() {
        return Ok(Backend::Chat);
    }
    Ok(Backend::Ollama)
}

fn word_of(word: &str) -> Result<Backend, Trouble> {
    let words = || Backend::ALL.map(Backend::word).join(", ");
    Backend::from_word(word)
        .ok_or_else(|| refused(shown!("unknown backend \"{}\" (use {})", Shown::line(word.as_bytes()), words())))
}

/// Values of the usual variables for a kind of server.
struct Customary {
    url: Option<String>,
    key: Option<&'static str>,
}

fn customary(backend: Backend, set: &impl Fn(&str) -> Option<String>) -> Customary {
    match backend {
        Backend::Ollama | Backend::OllamaChat => {
            Customary { url: set("OLLAMA_HOST").map(|host| ollama_host(&host)), key: None }
        }
        Backend::Chat | Backend::Responses => Customary { url: set("OPENAI_BASE_URL"), key: Some("OPENAI_API_KEY") },
        Backend::Anthropic => Customary { url: set("ANTHROPIC_BASE_URL"), key: Some("ANTHROPIC_API_KEY") },
    }
}

/// Reads `OLLAMA_HOST` as Ollama's own clients do: scheme and port may be missing, and a server that listens everywhere
/// is asked here.
fn ollama_host(value: &str) -> String {
    let value = value.trim().trim_matches(['"', '\'']);
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let (host, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() => (host, port),
        _ => match (value.contains("://"), scheme) {
            (true, "https") => (host, "443"),
            (true, _) => (host, "80"),
            (false, _) => (host, "11434"),
        },
    };
    let host = match host {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" | "::" => "[::1]",
        host => host,
    };
    format!("{scheme}://{host}:{port}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const CONFIG: &str = "profile = \"home\"\n\
        [profiles.home]\nbackend = \"openai\"\nurl = \"http://127.0.0.1:8080\"\nmodel = \"small\"\ntimeout = 5.5\n\
        [profiles.far]\nbackend = \"openai\"\nurl = \"https://far.example/v1\"\nkey_env = \"FAR_KEY\"\nmodel = \"big\"\n";

    fn settled(
        wanted: &WantedServer,
        config: &str,
        variables: &[(&str, &str)],
    ) -> Result<(String, Option<String>, bool), String> {
        let config = Config::parse(config, Shown::own("config.toml")).unwrap();
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let settled = settle(wanted, &config, variable).map_err(|trouble| trouble.to_string())?;
        Ok((settled.endpoint.call().to_string(), settled.model, settled.endpoint.key().is_some()))
    }

    fn wanted(backend: Option<Backend>, url: Option<&str>, profile: Option<&str>) -> WantedServer {
        let text = |text: Option<&str>| text.map(ToOwned::to_owned);
        WantedServer { backend, url: text(url), profile: text(profile), ..WantedServer::default() }
    }

    #[test]
    fn flags_come_before_profiles_and_variables() {
        let none = wanted(None, None, None);
        let call = |wanted: &WantedServer, config, variables| settled(wanted, config, variables).unwrap().0;
        assert_eq!(call(&none, "", &[]), "http://127.0.0.1:11434/api/generate");
        assert_eq!(call(&none, "", &[("OLLAMA_HOST", "0.0.0.0")]), "http://127.0.0.1:11434/api/generate");
        assert_eq!(call(&none, "", &[("OPENAI_BASE_URL", "http://h:1/v1")]), "http://h:1/v1/chat/completions");
        assert_eq!(call(&none, CONFIG, &[]), "http://127.0.0.1:8080/v1/chat/completions");
        assert_eq!(call(&none, CONFIG, &[("OPENAI_BASE_URL", "http://h:1/v1")]), "http://h:1/v1/chat/completions");
        let url = wanted(None, Some("http://127.0.0.1:8099/ok/v1"), None);
        assert_eq!(call(&url, CONFIG, &[]), "http://127.0.0.1:8099/ok/v1/chat/completions");
        let far = wanted(None, None, Some("far"));
        let variables = [("FAR_KEY", "sk-far-12345"), ("OPENAI_BASE_URL", "http://h:1/v1")];
        assert_eq!(
            settled(&far, CONFIG, &variables).unwrap(),
            ("https://far.example/v1/chat/completions".to_owned(), Some("big".to_owned()), true)
        );
        assert!(settled(&far, CONFIG, &[]).unwrap_err().contains("FAR_KEY is not set"));
        let gone = wanted(None, None, Some("gone"));
        assert_eq!(settled(&gone, CONFIG, &[]).unwrap_err(), "unknown profile \"gone\" (use far, home)");
        assert!(settled(&WantedServer { offline: true, ..far }, CONFIG, &variables).unwrap_err().contains("--offline"));
    }

    #[test]
    fn a_customary_key_goes_to_its_own_server_only() {
        let has_key = |url: Option<&str>, variables: &[(&str, &str)]| {
            settled(&wanted(Some(Backend::Chat), url, None), "", variables).unwrap().2
        };
        let key = ("OPENAI_API_KEY", "sk-openai-1");
        assert!(has_key(None, &[key]));
        assert!(!has_key(Some("https://other.example/v1"), &[key]));
        assert!(!has_key(Some("http://10.0.0.1/v1"), &[key]));
        assert!(has_key(None, &[key, ("OPENAI_BASE_URL", "https://mine.example/v1")]));
        assert!(!has_key(Some("https://api.openai.com/v1"), &[key, ("OPENAI_BASE_URL", "https://mine.example/v1")]));
    }

    #[test]
    fn a_profiles_key_goes_to_the_profiles_server_only() {
        const BOX: &str = "profile = \"box\"\n[profiles.box]\nbackend = \"openai\"\nurl = \"https://box.example/v1\"\n\
            key_env = \"BOX_KEY\"\n[profiles.usual]\nbackend = \"openai\"\nkey_env = \"BOX_KEY\"\n";
        let key = ("BOX_KEY", "sk-box-12345");
        let has_key = |wanted: WantedServer, variables: &[(&str, &str)]| {
            settled(&wanted, BOX, &[&[key], variables].concat()).unwrap().2
        };
        let elsewhere = "https://other.example/v1";
        let [openai, anthropic] = ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"].map(|name| [(name, elsewhere)]);
        assert!(has_key(wanted(None, None, None), &[]));
        assert!(has_key(wanted(None, Some("https://box.example/v2"), None), &[]));
        assert!(!has_key(wanted(None, None, None), &openai));
        assert!(!has_key(wanted(Some(Backend::Anthropic), None, None), &anthropic));
        for profile in [None, Some("box"), Some("usual")] {
            assert!(!has_key(wanted(None, Some(elsewhere), profile), &[]), "{profile:?}");
            let named = WantedServer { key_env: Some("BOX_KEY".into()), ..wanted(None, Some(elsewhere), profile) };
            assert!(has_key(named, &[]), "{profile:?}");
        }
        // Without an address of its own a profile means the usual one.
        assert!(has_key(wanted(None, None, Some("usual")), &[]));
        assert!(has_key(wanted(None, None, Some("usual")), &openai));
        assert!(!has_key(wanted(Some(Backend::Anthropic), None, Some("usual")), &[]));
    }

    #[test]
    fn a_key_in_place_of_its_name_is_not_repeated() {
        let pasted = WantedServer { key_env: Some("sk-pasted-12345".into()), ..WantedServer::default() };
        let why = settled(&pasted, "", &[]).unwrap_err();
        assert!(why.contains("take the name") && !why.contains("pasted"), "{why}");
    }

    #[test]
    fn ollamas_host_is_read_as_ollama_reads_it() {
        for (value, url) in [
            ("127.0.0.1:1", "http://127.0.0.1:1"),
            ("box", "http://box:11434"),
            (":99", "http://127.0.0.1:99"),
            ("https://box", "https://box:443"),
            ("http://box/base", "http://box:80/base"),
            ("[::1]:5", "http://[::1]:5"),
            ("[::]", "http://[::1]:11434"),
        ] {
            assert_eq!(ollama_host(value), url, "{value}");
        }
    }

    #[test]
    fn limits_come_from_the_profile() {
        let config = Config::parse(CONFIG, Shown::own("config.toml")).unwrap();
        assert_eq!(limits(&wanted(None, None, None), &config).total, Duration::from_millis(5500));
        assert_eq!(limits(&wanted(None, None, Some("far")), &config), Limits::default());
    }
}
