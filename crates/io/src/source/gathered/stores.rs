//! Stores of other programs: SQLite databases whose rows are the turns, events, states and checkpoints of runs. A store is
//! told by its tables together with their columns; nothing in it is loaded, imported or run.

use super::made::GatheredLines;
use crate::failure::Failure;
#[cfg(not(feature = "store"))]
use crate::source::beneath::Place;
#[cfg(not(feature = "store"))]
use crate::source::sqlite;

#[cfg(feature = "store")]
mod adk;
#[cfg(feature = "store")]
mod agents;
#[cfg(feature = "store")]
mod crewai;
pub(super) mod langgraph;
#[cfg(feature = "store")]
mod mlflow;
#[cfg(feature = "store")]
mod programs;
mod room;
#[cfg(feature = "store")]
mod rows;
mod run_lines;
mod state_run;

#[cfg(feature = "store")]
pub(crate) use programs::read;

/// Runs of a store.
pub(crate) struct StoreRuns {
    pub runs: GatheredLines,
    /// Parts that could not be read.
    pub failures: Vec<Failure>,
}

/// Says that this build reads no store.
#[cfg(not(feature = "store"))]
pub(crate) fn read(place: &Place) -> Result<Option<StoreRuns>, Failure> {
    sqlite::open(place).map(|_| None)
}

#[cfg(test)]
mod tests;
