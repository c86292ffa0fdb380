//! Settings of the user, and memory of the screen: folders and `config.toml` here, the session in `session`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::failure::Failure;
use crate::source::open::read_small_text;
use stepscope_base::shown;
use stepscope_base::text::Shown;

pub mod session;
/// Reading the user's own themes.
pub mod themes;
/// Tours.
pub mod tour;
/// Reading the user's own types of values.
pub mod types;
/// Verifiers as they are asked for: by options, or in a TOML file.
pub mod verifiers;

/// A larger file was not written by hand.
const MAX_CONFIG: u64 = 1 << 20;
/// Beginning of a failure.
const USE: &str = "cannot use";
/// The program's own folder in the user's folders.
const NAME: &str = "stepscope";

/// Folders of the program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Folders {
    /// Folder of `config.toml` and `themes/`.
    pub config: Option<PathBuf>,
    /// Folder of the session.
    pub state: Option<PathBuf>,
}

impl Folders {
    /// Finds the folders: `--config-dir` over `STEPSCOPE_CONFIG_DIR` over `$XDG_CONFIG_HOME/stepscope`; the session
    /// lies in `STEPSCOPE_STATE_DIR` or `$XDG_STATE_HOME/stepscope`. Without a home folder there is none.
    pub fn find(flag: Option<&Path>) -> Self {
        Self::from(flag, |name| std::env::var_os(name), Xdg::new().ok().as_ref())
    }

    fn from(flag: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>, xdg: Option<&Xdg>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = |folder: PathBuf| folder.join(NAME);
        let config = xdg.map(|xdg| own(xdg.config_dir()));
        let state = xdg.and_then(Xdg::state_dir);
        Self {
            config: flag.map(Path::to_owned).or_else(|| set("STEPSCOPE_CONFIG_DIR")).or(config),
            state: set("STEPSCOPE_STATE_DIR").or(state.map(own)),
        }
    }
}

/// The user's settings.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Config {
    /// The file, for messages about its content.
    pub file: Shown,
    /// Name or path of the theme.
    pub theme: Option<String>,
    /// True to capture the mouse.
    pub mouse: Option<bool>,
    /// Columns of the table, as they are written; the table understands them.
    pub columns: Option<Vec<String>>,
    /// Keys of actions, as they are written; the table of keys understands them.
    pub keys: Vec<Remap>,
    /// The profile that is used if no other is named.
    pub profile: Option<String>,
    /// Models and where they are, by name.
    pub profiles: BTreeMap<String, Profile>,
}

/// One `[profiles.NAME]`: a model and where it is.
#[derive(Deserialize, Clone, PartialEq, Default, Debug)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The kind of server.
    pub backend: Option<String>,
    /// Its address.
    pub url: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The environment variable that holds the key; never the key itself.
    pub key_env: Option<String>,
    /// A proxy on the way to it.
    pub proxy: Option<String>,
    /// Time until the first content, written in seconds.
    #[serde(default, deserialize_with = "timeout_of")]
    pub first_timeout: Option<Duration>,
    /// Time between two pieces of content, written in seconds.
    #[serde(default, deserialize_with = "timeout_of")]
    pub silence_timeout: Option<Duration>,
    /// Time for a whole call, written in seconds.
    #[serde(default, deserialize_with = "timeout_of")]
    pub timeout: Option<Duration>,
}

/// Longest timeout, in seconds: a week.
const LONGEST_TIMEOUT: f64 = 604_800.0;

/// Makes a timeout of a number of seconds, as flags and profiles write it.
///
/// # Errors
///
/// What to write instead, where a call could not end so.
pub fn timeout(seconds: f64) -> Result<Duration, String> {
    let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|timeout| !timeout.is_zero());
    let timeout = timeout.filter(|_| seconds <= LONGEST_TIMEOUT);
    timeout.ok_or_else(|| format!("use a number of seconds above 0, at most {LONGEST_TIMEOUT}"))
}

fn timeout_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    f64::deserialize(deserializer).and_then(|seconds| timeout(seconds).map(Some).map_err(D::Error::custom))
}

/// One line of `[keys]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remap {
    /// The action's id, as it is written.
    pub action: String,
    /// Its keys, as they are written; none: the action has no key.
    pub keys: Vec<String>,
    /// The line in the file, from 1.
    pub line: usize,
}

/// `[table]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableSettings {
    columns: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    theme: Option<String>,
    mouse: Option<bool>,
    table: Option<TableSettings>,
    #[serde(default)]
    keys: BTreeMap<Spanned<String>, KeyList>,
    profile: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

/// `"j"` or `["j", "Down"]`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a key such as \"j\", or a list of keys such as [\"j\", \"Down\"]")]
enum KeyList {
    One(String),
    Many(Vec<String>),
}

impl Config {
    /// Reads `config.toml` of a folder. That there is none is no failure.
    pub fn load(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join("config.toml");
        if std::fs::symlink_metadata(&path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(Self::default());
        }
        let text = read_small_text(&path, MAX_CONFIG, USE)?;
        Self::parse(&text, Shown::path(&path))
    }

    /// Reads settings from their text.
    pub fn parse(text: &str, file: Shown) -> Result<Self, Failure> {
        let parsed: ConfigFile = toml::from_str(text).map_err(|error| {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            Failure { what: USE, path: shown!("{file}, line {line}"), source: advice(error.message()) }
        })?;
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        let mut keys: Vec<Remap> = Vec::new();
        for (action, list) in parsed.keys {
            let line = 1 + ends.partition_point(|end| *end < action.span().start);
            let list = match list {
                KeyList::One(key) => vec![key],
                KeyList::Many(keys) => keys,
            };
            keys.push(Remap { action: action.into_inner(), keys: list, line });
        }
        keys.sort_by_key(|remap| remap.line);
        Ok(Self {
            file,
            keys,
            theme: parsed.theme,
            mouse: parsed.mouse,
            columns: parsed.table.map(|table| table.columns),
            profile: parsed.profile,
            profiles: parsed.profiles,
        })
    }

    /// Makes the failure for a line of `[keys]`, on behalf of the code that knows the table of keys.
    pub fn refuse(&self, remap: &Remap, why: &Shown) -> Failure {
        Failure { what: USE, path: shown!("{}, line {}", self.file, remap.line), source: why.clone() }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// Quotes the parser's words, which may quote the file, and says what to do.
fn advice(message: &str) -> Shown {
    let shown = Shown::line(message.as_bytes());
    let what = if message.contains("unknown field") {
        "; remove it, or check the spelling"
    } else if message.contains("invalid type") || message.contains("expected a") {
        "; write a value of that kind"
    } else {
        "; correct this line, or remove it to get the default"
    };
    shown.and(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> String {
        Config::parse(text, Shown::own("config.toml")).unwrap_err().to_string()
    }

    #[test]
    fn settings_are_read() {
        let text =
            "theme = \"light\"\nmouse = false\n\n[keys]\n\"step.next\" = [\"]\", \"Right\"]\nquit = \"Q\"\nnone = []\n";
        let config = Config::parse(text, Shown::own("config.toml")).unwrap();
        assert_eq!((config.theme.as_deref(), config.mouse), (Some("light"), Some(false)));
        let keys: Vec<_> =
            config.keys.iter().map(|remap| (remap.action.as_str(), remap.keys.len(), remap.line)).collect();
        assert_eq!(keys, [("step.next", 2, 5), ("quit", 1, 6), ("none", 0, 7)]);
        let refused = config.refuse(&config.keys[1], &Shown::own("there is no action quit"));
        assert_eq!(refused.to_string(), "cannot use config.toml, line 6: there is no action quit");
    }

    #[test]
    fn mistakes_name_line_and_remedy() {
        assert_eq!(
            failure("mouse = true\nthem = \"dark\"\n"),
            "cannot use config.toml, line 2: unknown field `them`, expected one of `theme`, `mouse`, `table`, `keys`, \
             `profile`, `profiles`; remove it, or check the spelling"
        );
        let wrong = failure("mouse = \"yes\"");
        assert!(
            wrong.contains("line 1") && wrong.contains("expected a boolean; write a value of that kind"),
            "{wrong}"
        );
        let wrong = failure("[keys]\nquit = 7\n");
        assert!(wrong.contains("line 2") && wrong.contains("a key such as \"j\""), "{wrong}");
        let hostile = failure("\"a\\u001b[31m\" = 1");
        assert!(hostile.contains("␛[31m") && !hostile.contains('\u{1b}'), "{hostile}");
        assert!(failure("theme = ").contains("correct this line"));
    }

    #[test]
    fn a_timeout_that_is_none_is_refused() {
        for seconds in ["-5", "0", "nan", "inf", "1e19"] {
            let why = failure(&format!("[profiles.box]\nmodel = \"m\"\ntimeout = {seconds}\n"));
            assert!(why.contains("line 3") && why.contains("seconds above 0, at most 604800"), "{why}");
        }
        let config = Config::parse("[profiles.box]\nfirst_timeout = 7\n", Shown::own("config.toml")).unwrap();
        assert_eq!(config.profiles["box"].first_timeout, Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_folder_without_settings_has_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Config::load(folder.path()).unwrap(), Config::default());
        std::fs::write(folder.path().join("config.toml"), "theme = 'mono'").unwrap();
        assert_eq!(Config::load(folder.path()).unwrap().theme.as_deref(), Some("mono"));
        std::fs::write(folder.path().join("config.toml"), b"\xff").unwrap();
        assert!(Config::load(folder.path()).unwrap_err().to_string().ends_with("save it as UTF-8"));
        std::fs::remove_file(folder.path().join("config.toml")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("config.toml")).unwrap();
        assert!(Config::load(folder.path()).is_err());
    }

    #[test]
    fn flags_come_before_variables() {
        let none = |_: &str| None;
        let set = |name: &str| Some(OsString::from(format!("/set/{name}")));
        assert_eq!(Folders::from(None, none, None), Folders::default());
        let folders = Folders::from(Some(Path::new("/flag")), set, None);
        assert_eq!(folders.config.unwrap(), Path::new("/flag"));
        assert_eq!(folders.state.unwrap(), Path::new("/set/STEPSCOPE_STATE_DIR"));
        assert_eq!(Folders::from(None, set, None).config.unwrap(), Path::new("/set/STEPSCOPE_CONFIG_DIR"));
        assert_eq!(Folders::from(None, |_| Some(OsString::new()), None).config, None, "an empty variable is not set");
    }
}
