//! Rows as records, as a person says: columns under other names, or a map.

use std::path::PathBuf;
use std::sync::Arc;

use crate::source::columns::{Leaf, NAMED};
use crate::source::maps::RowMap;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::closest;

/// Reading of rows as records: columns under other names, and the map that a person named.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ColumnMap {
    pairs: Vec<(String, String)>,
    map: Option<Arc<RowMap>>,
    /// Paths that were named together: a record may lie over several.
    named: Vec<PathBuf>,
}

impl ColumnMap {
    /// Makes a map of keys to their columns, of which each key has one.
    pub fn new(pairs: &[(String, String)]) -> Self {
        Self { pairs: pairs.to_vec(), ..Self::default() }
    }

    /// Reads rows by a map, whatever they look like.
    #[must_use]
    pub fn with_map(self, map: RowMap) -> Self {
        Self { map: Some(Arc::new(map)), ..self }
    }

    /// Reads files along with others.
    #[must_use]
    pub(crate) fn along_with(self, named: &[PathBuf]) -> Self {
        Self { named: named.to_vec(), ..self }
    }

    /// Lists the paths that were named together.
    pub(crate) fn named(&self) -> &[PathBuf] {
        &self.named
    }

    /// Reads any row as an object.
    pub(crate) fn any_row() -> Self {
        Self::default().with_map(RowMap::any_row())
    }

    /// Tells whether every column keeps its name.
    pub const fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the map that a person named.
    pub(crate) fn row_map(&self) -> Option<&RowMap> {
        self.map.as_deref()
    }

    /// Returns the keys of a row, each with its column: those that were asked for, and the other columns under their
    /// own names. `Err`: the reason why that cannot be.
    pub(super) fn keys<'m>(&'m self, leaves: &'m [Leaf]) -> Result<Vec<(usize, &'m str)>, Shown> {
        let place = |(key, column): &'m (String, String)| {
            if let Some(place) = leaves.iter().position(|leaf| leaf.name == *column) {
                let unread = leaves.get(place).and_then(Leaf::unread_name);
                return unread.map_or(Ok((place, key.as_str())), |unread| {
                    Err(shown!("its column {} cannot be read", Shown::line(unread.as_bytes())))
                });
            }
            let names = || leaves.iter().map(|leaf| leaf.name.as_str());
            let missing = shown!("it has no column \"{}\"", Shown::line(column.as_bytes()));
            let all = || Shown::line(names().take(NAMED).collect::<Vec<_>>().join(", ").as_bytes());
            Err(match closest(column, names()) {
                Some(name) => shown!("{missing}. Did you mean \"{}\"?", Shown::line(name.as_bytes())),
                None => shown!("{missing}; its columns are {}", all()),
            })
        };
        let mapped = self.pairs.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let is_free = |(place, key): &(usize, &str)| mapped.iter().all(|(other, named)| other != place && named != key);
        let own = leaves.iter().enumerate().map(|(place, leaf)| (place, leaf.name.as_str())).filter(is_free);
        let mut keys: Vec<_> = own.chain(mapped.iter().copied()).collect();
        keys.sort_by_key(|(place, _)| *place);
        Ok(keys)
    }
}
