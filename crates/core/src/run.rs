//! A run over time: the global state, what was recorded, forks and re-runs.

/// One call of a model: what is asked, what came, and what the reply is worth.
pub mod call;
/// A chain of thought as a run: its texts as steps, their calculations as values.
pub mod chain;
/// The time and the tokens that the steps of a recorded run took.
pub mod cost;
/// The one way in which models are asked: a machine, its questions, and what came.
pub mod drive;
/// A recomputed run, kept as a fork.
pub mod exact;
/// A record and new outputs to a forked record, and which later steps are stale.
pub mod fork;
/// Values that got lost between the steps.
pub(crate) mod lost;
/// A recorded run, replayed up to a step and continued from there.
pub mod replay;
/// The text of a reply, taken apart.
pub mod reply;
/// The re-run machine: a recorded run, continued from one of its steps.
pub mod rerun;
/// The calls for one step: how they are made, and what their replies say together.
pub mod sampling;
/// Replies as servers send them and records keep them.
pub(crate) mod saved_reply;
/// The global state over time: what every step could read and what it wrote.
pub mod state;
/// Recorded calls of the steps.
pub mod trace;
/// The machine of a whole run, from a procedure and a question.
pub mod whole;
