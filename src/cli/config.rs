//! `stepscope config` and `stepscope doctor`: the settings in force and where each comes from, and what is wrong with them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::values::existing_folder;
use super::variables::VARIABLES;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FOUND;
use crate::cli::options::ListFormat;
use crate::cli::out::Out;
use stepscope_base::ascii::{is_utf8, locale};
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::session::Session;
use stepscope_io::config::{Config, Folders};
use stepscope_io::failure::Failure;
use stepscope_io::model::settings::WantedServer;
use stepscope_io::model::setup::Setup;
use stepscope_io::system::may_write;

// Of two commands, whose help therefore stands with their names.
#[derive(clap::Args, Clone, Debug)]
pub struct Settings {
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// Folder of config.toml, themes and schemas
    #[arg(long, value_name = "DIR", value_parser = existing_folder())]
    config_dir: Option<PathBuf>,
}

/// Line of the settings or of the checks.
struct Row {
    name: Shown,
    value: Shown,
    from: Shown,
    /// True if it is as it should be; `None`: there is nothing to judge.
    is_fine: Option<bool>,
}

impl Row {
    fn new(name: &'static str, value: Shown, from: Shown) -> Self {
        Self { name: Shown::own(name), value, from, is_fine: None }
    }

    fn checked(name: &'static str, is_fine: bool, value: Shown, advice: &'static str) -> Self {
        let from = Shown::own(if is_fine { "" } else { advice });
        Self { name: Shown::own(name), value, from, is_fine: Some(is_fine) }
    }
}

/// Prints the settings in force, each with its source.
pub(super) fn config(options: &Settings, out: &mut Out) -> Result<u8, Shown> {
    let (folders, config) = read(options)?;
    let file = |is_set: bool| if is_set { config.file.clone() } else { Shown::own("default") };
    let folder = |path: Option<&PathBuf>| path.map_or(Shown::own("none"), |path| Shown::path(path));
    // A relative folder of the desktop's means nothing.
    let counts =
        |name: &str, value: &OsStr| !value.is_empty() && (!name.starts_with("XDG") || Path::new(value).is_absolute());
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| counts(name, &value));
    let source = |flag: bool, variables: [&'static str; 2]| match variables.into_iter().find(is_set) {
        _ if flag => Shown::own("--config-dir"),
        Some(variable) => Shown::own(variable),
        None => Shown::own("default"),
    };
    // The settings come before what was chosen on the screen.
    let session = Session::load(folders.state.as_deref()).0;
    let (theme, theme_from) = match (config.theme.as_deref(), session.theme()) {
        (Some(theme), _) => (theme, config.file.clone()),
        (None, Some(theme)) => (theme, Shown::own("chosen on the screen")),
        (None, None) => ("chosen by the terminal's background", Shown::own("default")),
    };
    let mut rows = vec![
        Row::new(
            "config folder",
            folder(folders.config.as_ref()),
            source(options.config_dir.is_some(), ["STEPSCOPE_CONFIG_DIR", "XDG_CONFIG_HOME"]),
        ),
        Row::new(
            "state folder",
            folder(folders.state.as_ref()),
            source(false, ["STEPSCOPE_STATE_DIR", "XDG_STATE_HOME"]),
        ),
        Row::new("theme", Shown::line(theme.as_bytes()), theme_from),
        Row::new("mouse", shown!("{}", config.mouse.unwrap_or(true)), file(config.mouse.is_some())),
        Row::new(
            "columns",
            config
                .columns
                .as_ref()
                .map_or(Shown::own("the usual ones"), |names| Shown::line(names.join(" ").as_bytes())),
            file(config.columns.is_some()),
        ),
        Row::new(
            "profile",
            config.profile.as_ref().map_or(Shown::own("none"), |name| Shown::line(name.as_bytes())),
            file(config.profile.is_some()),
        ),
    ];
    rows.extend(config.profiles.iter().map(|(name, profile)| {
        let part = |text: &Option<String>| text.as_ref().map(|text| Shown::line(text.as_bytes()));
        let url = profile.url.as_ref().map(|url| without_password(url.as_bytes()));
        let parts: Vec<Shown> = [part(&profile.backend), part(&profile.model), url].into_iter().flatten().collect();
        let value = parts.into_iter().reduce(|all, part| all.and(" ").join(&part)).unwrap_or_default();
        let name = shown!("profile {}", Shown::line(name.as_bytes()));
        Row { name, value, from: config.file.clone(), is_fine: None }
    }));
    rows.extend(config.keys.iter().map(|remap| Row {
        name: shown!("key {}", Shown::line(remap.action.as_bytes())),
        value: Shown::line(remap.keys.join("  ").as_bytes()),
        from: shown!("{}, line {}", config.file, remap.line),
        is_fine: None,
    }));
    rows.extend(VARIABLES.into_iter().filter_map(|(name, _)| {
        let value = std::env::var_os(name)?;
        Some(Row::new(name, without_password(value.as_encoded_bytes()), Shown::own("environment")))
    }));
    print(options.format, &rows, out);
    Ok(CLEAN)
}

/// Function that tells why the screen would not start with these settings and this folder of settings, else which keys mean
/// something else because of them. The screen provides it.
pub type CheckSettings = fn(&Config, Option<&Path>) -> Result<Vec<Shown>, Failure>;

/// Checks the terminal, folders and settings. Nothing is written, and no server is asked.
pub(super) fn doctor(options: &Settings, check: CheckSettings, clipboard: &str, out: &mut Out) -> u8 {
    let read = read(options).and_then(|(folders, config)| {
        let overlaps = check(&config, folders.config.as_deref())?;
        if let Some(name) = config.profile.as_ref().filter(|name| !config.profiles.contains_key(*name)) {
            return Err(shown!("{}: no [profiles.{}]", config.file, Shown::line(name.as_bytes())));
        }
        usable_profiles(&config)?;
        Ok((config, overlaps))
    });
    let folders = Folders::find(options.config_dir.as_deref());
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let term = variable("TERM");
    let locale = locale(variable);
    let text = |value: Option<&String>| value.map_or(Shown::own("not set"), |value| Shown::line(value.as_bytes()));
    let editor = variable("VISUAL").or_else(|| variable("EDITOR"));
    let state = folders
        .state
        .as_deref()
        .map_or((false, Shown::own("none")), |folder| (is_writable(folder), Shown::path(folder)));
    let mut rows = vec![
        Row::checked(
            "terminal",
            term.as_deref().is_some_and(|term| term != "dumb"),
            text(term.as_ref()),
            "Set TERM to the name of your terminal, for example xterm-256color.",
        ),
        Row::checked(
            "locale",
            is_utf8(locale.as_deref()),
            text(locale.as_ref()),
            "Set LANG to a UTF-8 locale; until then a terminal is shown ASCII only.",
        ),
        Row::checked(
            "settings",
            read.is_ok(),
            match &read {
                Ok((config, _)) if config.file.as_str().is_empty() => Shown::own("no config.toml"),
                Ok((config, _)) => config.file.clone(),
                Err(why) => why.clone(),
            },
            "Correct it in config.toml, or in the file that is named.",
        ),
        Row::checked("state folder", state.0, state.1, "Make the folder writable, or set STEPSCOPE_STATE_DIR."),
        Row::checked("clipboard", true, Shown::prose(clipboard.as_bytes()), ""),
        // Without one, prompts are edited on the screen.
        Row::checked("editor", true, text(editor.as_ref()), ""),
    ];
    // It may be what was meant.
    let overlaps = read.iter().flat_map(|(_, overlaps)| overlaps.iter());
    rows.extend(overlaps.map(|overlap| Row::checked("keys", true, overlap.clone(), "")));
    print(options.format, &rows, out);
    if rows.iter().any(|row| row.is_fine == Some(false)) { FOUND } else { CLEAN }
}

/// Fails if a profile names no server that could be asked.
fn usable_profiles(config: &Config) -> Result<(), Shown> {
    config.profiles.keys().try_for_each(|name| {
        let wanted = WantedServer { profile: Some(name.clone()), ..WantedServer::default() };
        let checked = Setup { wanted, ..Setup::default() }.check(config);
        checked.map_err(|why| shown!("profile {}: {why}", Shown::line(name.as_bytes())))
    })
}

fn read(options: &Settings) -> Result<(Folders, Config), Shown> {
    let folders = Folders::find(options.config_dir.as_deref());
    let config = folders.config.as_deref().map_or_else(|| Ok(Config::default()), Config::load);
    config.map(|config| (folders, config)).map_err(Shown::from)
}

/// Shows a setting, unless it is an address that may carry a name and a password.
fn without_password(text: &[u8]) -> Shown {
    if text.contains(&b'@') { Shown::own("set (hidden)") } else { Shown::line(text) }
}

/// Tells whether a folder, or the nearest one above it that exists, is writable.
fn is_writable(folder: &Path) -> bool {
    let there = folder.ancestors().find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?)));
    there.is_some_and(|(folder, there)| there.is_dir() && may_write(folder))
}

fn print(format: ListFormat, rows: &[Row], out: &mut Out) {
    let width = rows.iter().map(|row| row.name.as_str().chars().count()).max().unwrap_or(0);
    for row in rows {
        match format {
            ListFormat::Text => {
                let verdict = match row.is_fine {
                    Some(true) => "ok    ",
                    Some(false) => "wrong ",
                    None => "",
                };
                let from = if row.from.as_str().is_empty() { Shown::default() } else { shown!("  ({})", row.from) };
                out.line(&shown!("{verdict}{:width$}  {}{from}", row.name, row.value));
            }
            ListFormat::Jsonl => {
                Style::SAVED.line(out, |line| {
                    _ = line
                        .put("name", &row.name)
                        .put("value", &row.value)
                        .put("from", &row.from)
                        .maybe("ok", row.is_fine);
                });
            }
        }
    }
}
