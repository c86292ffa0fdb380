//! Checkpoints of LangGraph: each thread is a run, and each branch of it another one; a task of a superstep is a step, with
//! what it wrote. What a node read is not recorded.

mod branches;
pub(in crate::source::gathered) mod history;
mod messages;
#[cfg(feature = "store")]
mod packed;
mod snapshot;
mod tasks;
#[cfg(feature = "store")]
mod threads;
mod unread;
mod walk;

#[cfg(feature = "store")]
pub(super) use threads::read;
