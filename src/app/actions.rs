//! The actions: what they are, and what they need. Their rows are in `widgets::action_rows`.

pub(crate) mod def;
pub(crate) mod may;
