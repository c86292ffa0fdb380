//! Reading of the user's own theme files; the screen gives them their meaning.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::source::open::read_small_text;

/// A larger file is no theme.
const MAX_THEME: u64 = 1 << 20;
const FOLDER: &str = "themes";
const READ: &str = "cannot read the theme";

/// Returns the file of the user's own theme of this name.
pub fn path(config: &Path, name: &str) -> PathBuf {
    config.join(FOLDER).join(format!("{name}.toml"))
}

/// Reads the name and text of every theme in the `themes` folder of the configuration, by name. What cannot be read is
/// left out: it is reported when it is asked for by name.
pub fn read_all(config: &Path) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(config.join(FOLDER)) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let themes = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut themes: Vec<(String, String)> =
        themes.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), read(&path).ok()?))).collect();
    themes.sort();
    themes
}

/// Reads the text of a theme's file.
pub fn read(path: &Path) -> Result<String, Failure> {
    read_small_text(path, MAX_THEME, READ)
}
