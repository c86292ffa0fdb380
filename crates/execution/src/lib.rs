//! Runs that are made: prompts, the runner, forks, re-runs, sampling, repair and verifiers. What a model says comes from
//! the caller.
//!
//! Law: knows no files, no network, no async and no terminal.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

/// One call of a model: what is asked, what came, and what the reply is worth.
pub mod call;
/// The creation of a procedure for a question, up to a valid one.
pub mod create;
/// A recomputed run, kept as a fork.
pub mod exact;
/// A record and new outputs to a forked record, and which later steps are stale.
pub mod fork;
/// The generation call of a structured answer, made again.
pub mod generation;
/// A run under a person's hand, step by step.
pub mod live;
/// The one way in which models are asked: a machine, its questions, and what came.
pub mod machine;
/// One step and the state it finds -> the request, as upstream makes it.
pub mod prompt;
/// Question to a model: a prompt with all that its calls need.
mod question;
/// Repair of a procedure, with a model and without.
pub mod repair;
/// A recorded run, replayed up to a step and continued from there.
pub mod replay;
/// The re-run machine: a recorded run, continued from one of its steps.
pub mod rerun;
/// A whole procedure, run step by step as upstream's runner does.
pub mod runner;
/// The calls for one step: how they are made, and what their replies say together.
pub mod sampling;
/// The JSON of a reply at which upstream would end.
pub(crate) mod tolerant;
/// Verifiers: a completion in, a reward out.
pub mod verify;
/// The machine of a whole run, from a procedure and a question.
pub mod whole;
