//! A record that a link leads to, while it is looked for.

use crate::screens::table::state::Search;

pub(crate) mod follow;

/// See the module.
#[derive(Debug)]
pub struct Seek {
    /// Id of the record.
    pub(crate) id: String,
    /// The step to open it at, from 1; 0 is before the first.
    pub(crate) step: Option<usize>,
    pub(crate) search: Search,
}
