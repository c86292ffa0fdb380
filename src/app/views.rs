//! Named views of the table: which there are, which one is in force, and what a change of them is.

use std::path::PathBuf;

use crate::screens::table::state::{SortBy, Table};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::views::{NamedView, ViewChange, check_name};
use stepscope_io::failure::Failure;

/// Said where there are none.
const NONE: &str = "No views yet. :view save NAME keeps filter, sort and columns";

/// The views of the configuration.
#[derive(Debug, Default)]
pub struct Views {
    /// The folder that keeps them; `None`: there is no place for settings.
    pub folder: Option<PathBuf>,
    /// All of them, by name.
    pub list: Vec<NamedView>,
}

impl Views {
    /// Finds the view that the table shows now, as it is kept.
    pub(crate) fn in_force(&self, table: &Table) -> Option<&NamedView> {
        self.list.iter().find(|view| **view == view_of(table, &view.name))
    }

    /// Finds a view by its name, or by the only beginning of one.
    pub(crate) fn named(&self, typed: &str) -> Result<&NamedView, Shown> {
        let typed = typed.trim();
        let mut beginning = self.beginning(typed);
        if let Some(view) = self.list.iter().find(|view| view.name == typed).or_else(|| beginning.next()) {
            let is_clear = view.name == typed || beginning.next().is_none();
            let several = || shown!("Several views begin with \"{}\"", Shown::line(typed.as_bytes()));
            return if is_clear { Ok(view) } else { Err(several()) };
        }
        if self.list.is_empty() {
            return Err(Shown::own(NONE));
        }
        let names = Shown::listed(self.list.iter().map(|view| name_of(&view.name)), 8);
        Err(shown!("No view is called \"{}\". Views: {names}", Shown::line(typed.as_bytes())))
    }

    /// Lists the views whose names begin so, in whatever case.
    pub(crate) fn beginning(&self, typed: &str) -> impl Iterator<Item = &NamedView> {
        let typed = typed.trim().to_lowercase();
        self.list.iter().filter(move |view| view.name.to_lowercase().starts_with(&typed))
    }

    /// Checks that there are views to choose from.
    pub(crate) fn some(&self) -> Result<(), Shown> {
        if self.list.is_empty() { Err(Shown::own(NONE)) } else { Ok(()) }
    }

    /// Returns the change that keeps what the table shows under a name.
    pub(crate) fn kept(&self, typed: &str, table: &Table) -> Result<ViewChange, Shown> {
        check_name(typed).map(|name| ViewChange::Keep(view_of(table, name)))
    }

    /// Returns the change that deletes the view in a row of the list.
    pub(crate) fn deleted(&self, row: usize) -> Result<ViewChange, Shown> {
        let view = self.list.get(row).ok_or(Shown::own(NONE))?;
        Ok(ViewChange::Delete(view.name.clone()))
    }

    /// Takes in the views as they are after a change, and says what it was; `false`: it failed.
    pub(crate) fn take(&mut self, change: &ViewChange, kept: Result<Vec<NamedView>, Failure>) -> (Shown, bool) {
        let list = match kept {
            Ok(list) => list,
            Err(failure) => return (shown!("NOT SAVED: {failure}"), false),
        };
        let text = match change {
            ViewChange::Keep(view) => shown!("Saved the view {}: {}", name_of(&view.name), description(view)),
            ViewChange::Delete(name) => {
                let was = self.list.iter().find(|view| view.name == *name).map(description);
                let was = was.map_or_else(Shown::default, |was| shown!(", which was: {was}"));
                shown!("Deleted the view {}{was}", name_of(name))
            }
        };
        self.list = list;
        (text, true)
    }
}

/// Makes a view of what the table shows.
pub(crate) fn view_of(table: &Table, name: &str) -> NamedView {
    let columns = table.columns().text();
    NamedView {
        name: name.to_owned(),
        filter: table.filter_text.clone(),
        sort: (table.sort != SortBy::default()).then(|| table.sort.word().to_owned()),
        descending: table.descending,
        columns: columns.split_whitespace().map(str::to_owned).collect(),
    }
}

/// Formats the name of a view.
pub(crate) fn name_of(name: &str) -> Shown {
    Shown::line(name.as_bytes())
}

/// Describes what a view shows, in a line.
pub(crate) fn description(view: &NamedView) -> Shown {
    let filter = match view.filter.as_str() {
        "" => Shown::own("all records"),
        filter => Shown::line(filter.as_bytes()),
    };
    let way = if view.descending { ", descending" } else { "" };
    let sort = match &view.sort {
        Some(sort) => shown!(" · by {}{way}", Shown::line(sort.as_bytes())),
        None if view.descending => Shown::own(" · last first"),
        None => Shown::default(),
    };
    let columns = match view.columns.join(" ") {
        columns if columns.is_empty() => Shown::default(),
        columns => shown!(" · {}", Shown::line(columns.as_bytes())),
    };
    shown!("{filter}{sort}{columns}")
}
