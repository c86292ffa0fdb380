//! Named views of the table, in `views.toml` of the configuration: which records, in which order, with which columns.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files::replace;
use crate::source::open::read_small_text;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// A larger file holds no views.
const MAX_VIEWS: u64 = 1 << 20;
/// Longest name of a view, in characters.
const MAX_NAME: usize = 40;
const USE: &str = "cannot use";
const SAVE: &str = "cannot save the views in";
/// Head of the file.
const HEAD: &str =
    "# Views of the table: `:view NAME` shows one. `:view save NAME` writes this file, without your comments.\n\n";

/// A view; the table says whether it can be shown.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NamedView {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// The filter, as it is typed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filter: String,
    /// The column by which the table is sorted; `None`: the records are as in their files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// Largest first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
    /// The columns, as they are typed; none: the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

/// Change of the views that are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ViewChange {
    /// Keeps one, in place of that of the same name.
    Keep(NamedView),
    /// Deletes the one of this name.
    Delete(String),
}

/// Checks a name for a view, without the blanks around it.
///
/// # Errors
///
/// The reason that no view can be called so.
pub fn check_name(typed: &str) -> Result<&str, Shown> {
    let name = typed.trim();
    let shown = Shown::line(name.as_bytes());
    if name.is_empty() {
        Err(Shown::own("type a name for the view"))
    } else if name.chars().count() > MAX_NAME {
        Err(shown!("a name has at most {MAX_NAME} characters"))
    } else if shown.as_str() != name {
        Err(shown!("a name cannot hold invisible characters: {shown}"))
    } else if name == "save" || name.starts_with("save ") {
        Err(Shown::own("\"save\" is a command; choose another name"))
    } else {
        Ok(name)
    }
}

/// Reads the views of a configuration, by name; none where there is no file.
///
/// # Errors
///
/// The reason that the file cannot be used.
pub fn read_all(config: &Path) -> Result<Vec<NamedView>, Failure> {
    let path = file_of(config);
    if std::fs::symlink_metadata(&path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(Vec::new());
    }
    let text = read_small_text(&path, MAX_VIEWS, USE)?;
    let refused = |why| Failure { what: USE, path: Shown::path(&path), source: why };
    let views: BTreeMap<String, NamedView> =
        toml::from_str(&text).map_err(|error| refused(Shown::line(error.message().as_bytes())))?;
    let named = |(name, view): (String, NamedView)| match check_name(&name) {
        Ok(checked) if checked == name => Ok(NamedView { name, ..view }),
        Ok(checked) => Err(refused(shown!("write \"{}\" without blanks around it", checked))),
        Err(why) => Err(refused(why)),
    };
    views.into_iter().map(named).collect()
}

/// Changes the views of a configuration, and returns them as they are then; what another stepscope kept meanwhile stays.
///
/// # Errors
///
/// The reason that nothing has changed.
pub fn change(config: &Path, change: &ViewChange) -> Result<Vec<NamedView>, Failure> {
    let mut views = read_all(config)?;
    let name = match change {
        ViewChange::Keep(view) => &view.name,
        ViewChange::Delete(name) => name,
    };
    views.retain(|view| view.name != *name);
    if let ViewChange::Keep(view) = change {
        views.push(view.clone());
    }
    views.sort_by(|one, other| one.name.cmp(&other.name));
    // A link to where somebody keeps their settings stays one.
    let path = std::fs::canonicalize(file_of(config)).unwrap_or_else(|_| file_of(config));
    let by_name: BTreeMap<&str, &NamedView> = views.iter().map(|view| (view.name.as_str(), view)).collect();
    let fail = |why| Failure { what: SAVE, path: Shown::path(&path), source: why };
    let text = toml::to_string(&by_name).map_err(|error| fail(Shown::error(&error)))?;
    replace(&path, format!("{HEAD}{text}").as_bytes()).map_err(|error| Failure::system(SAVE, &path, &error))?;
    Ok(views)
}

fn file_of(config: &Path) -> PathBuf {
    config.join("views.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong() -> NamedView {
        NamedView {
            name: "wrong \"ones\"".to_owned(),
            filter: "correct:false -rule:\"x\"".to_owned(),
            sort: Some("findings".to_owned()),
            descending: true,
            columns: vec!["ok".to_owned(), "question".to_owned()],
        }
    }

    #[test]
    fn views_are_read_as_they_were_kept() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("config/stepscope");
        assert_eq!(read_all(&folder).unwrap(), []);
        let all = NamedView { name: "all".to_owned(), ..NamedView::default() };
        assert_eq!(change(&folder, &ViewChange::Keep(wrong())).unwrap(), [wrong()]);
        assert_eq!(change(&folder, &ViewChange::Keep(all.clone())).unwrap(), [all.clone(), wrong()]);
        let changed = NamedView { filter: "kind:run".to_owned(), ..wrong() };
        assert_eq!(change(&folder, &ViewChange::Keep(changed.clone())).unwrap(), [all.clone(), changed.clone()]);
        assert_eq!(read_all(&folder).unwrap(), [all.clone(), changed.clone()]);
        assert_eq!(change(&folder, &ViewChange::Delete("all".to_owned())).unwrap(), [changed]);
        assert_eq!(change(&folder, &ViewChange::Delete(wrong().name)).unwrap(), []);
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("views.toml");
        for text in ["[x]\nfiler = 'a'\n", "x = 7\n", "[\" x\"]\n", "[\"a\\u001b\"]\n", "[save]\n"] {
            std::fs::write(&path, text).unwrap();
            let why = read_all(folder.path()).unwrap_err().to_string();
            assert!(why.starts_with("cannot use ") && !why.contains('\u{1b}'), "{why}");
            assert!(change(folder.path(), &ViewChange::Keep(wrong())).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn names_can_be_typed() {
        assert_eq!(check_name(" my view "), Ok("my view"));
        for name in ["", " ", "save", "save it", "a\u{202e}b", &"x".repeat(41)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
