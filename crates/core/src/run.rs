//! A run over time: the global state, what was recorded, forks and re-runs.

/// A record and new outputs to a forked record, and which later steps are stale.
pub mod fork;
/// One call of a model as a machine, and what its text gives.
pub mod rerun;
/// The global state over time: what every step could read and what it wrote.
pub mod state;
/// What was recorded of every step.
pub mod trace;
