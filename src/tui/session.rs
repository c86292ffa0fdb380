//! One session at the screen: from what is to be opened to the exit code.

use std::path::{Path, PathBuf};

use crate::domain::text::Shown;
use crate::io::failure::Failure;
use crate::io::input::{expand, samples};
use crate::io::load::load;
use crate::shown;
use crate::tui::app::{App, Looks};
use crate::tui::effects::{Outbox, Performer};
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Kept, Msg};
use crate::tui::run::{self, Options};
use crate::tui::terminal::Tty;
use crate::tui::theme::{BUILT_IN, Depth, Theme, light_hint};

/// What a session begins with.
#[derive(Debug, Default)]
pub struct Start {
    /// What is to be opened; nothing opens the sample runs.
    pub paths: Vec<PathBuf>,
    /// A theme for this session alone.
    pub theme: Option<String>,
    /// Themes of the user's own: name and text.
    pub themes: Vec<(String, String)>,
    /// Changed keys: action ids and what they are bound to.
    pub keys: Vec<(String, Vec<String>)>,
    /// The mouse is left to the terminal.
    pub no_mouse: bool,
    /// What the last session kept.
    pub kept: Option<Kept>,
}

/// Runs a session; the result is the exit code, or a sentence that says why there is no screen.
pub fn open(start: &Start, keep: fn(&Kept) -> Result<(), Failure>) -> Result<u8, Shown> {
    let tty = Tty::open().map_err(|error| Shown::error(&error))?;
    let changes = start.keys.iter().map(|(id, keys)| (id.as_str(), keys.as_slice()));
    let keymap = Keymap::with_changes(changes).map_err(|error| shown!("{error}"))?;
    let outbox = Outbox::default();
    let sink = outbox.clone();
    let inputs = if start.paths.is_empty() { samples() } else { expand(&start.paths) };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let (store, loader) = load(inputs, threads, move |event| sink.send(Msg::Load(event)));
    let mut app = App::new(store, keymap, looks(start));
    app.samples = start.paths.is_empty();
    app.mouse = !start.no_mouse;
    if let Some(kept) = &start.kept {
        app.restore(kept);
    }
    if let Some(name) = &start.theme {
        app.choose_theme(Some(name));
    }
    let mut performer = Performer::new(outbox.clone(), keep);
    let options = Options { mouse: app.mouse, ask_background: app.looks.chosen.is_none() };
    let mut attached = false;
    let code = run::run(&tty, &mut app, options, |work, sender| {
        if !attached {
            attached = true;
            outbox.attach(sender.clone());
        }
        performer.perform(work);
    });
    outbox.close();
    drop(loader);
    code.map_err(|error| shown!("the terminal cannot be used: {}", Shown::error(&error)))
}

fn looks(start: &Start) -> Looks {
    let get = |name: &str| std::env::var(name).ok();
    let depth = Depth::detect(get);
    let light = get("COLORFGBG").and_then(|hint| light_hint(&hint)).unwrap_or(false);
    let theme = Theme::built_in(if light { "light" } else { "dark" }, depth).unwrap_or_default();
    let built_in = BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Looks { theme, all: built_in.chain(start.themes.iter().cloned()).collect(), chosen: None, depth }
}

/// The name that a path has in what is kept over a restart.
pub fn kept_under(paths: &[PathBuf]) -> Option<PathBuf> {
    match paths {
        [path] => std::fs::canonicalize(path).ok().filter(|path| path.as_path() != Path::new("/dev/stdin")),
        _ => None,
    }
}
