//! A checkpoint: the values of a graph's channels, which nodes had seen which of them, and what is said of it.

use std::collections::HashSet;

use super::super::super::plain::{Members, Plain};

#[cfg(feature = "store")]
mod stored;

#[cfg(feature = "store")]
pub(super) use stored::{points, read, value};

/// Longer notes on a checkpoint are not read.
const MAX_METADATA: usize = 4 << 20;
/// Number of variables and nodes of a graph that are looked at. Real ones have a few dozen.
pub(super) const MAX_VARIABLES: usize = 1_000;
/// Beginnings of the names of channels that are the program's own.
const OWN: [&[u8]; 4] = [b"branch:", b"join:", b"start:", b"__"];
/// Variable of a graph whose state is one value.
const ROOT: &[u8] = b"__root__";

/// A checkpoint, as far as it is read.
#[derive(Default)]
pub(super) struct Checkpoint {
    pub row: i64,
    /// Variables; channels of the program itself are left out.
    pub values: Members,
    /// Variables that it was given, if it is an input.
    pub input: Members,
    /// Tasks that were sent to nodes, each with the node and its argument.
    pub sent: Vec<Plain>,
    pub metadata: Plain,
    /// The nodes, each with the versions of the channels that it had seen.
    pub seen: Members,
    /// Variables that are stored here and else only as changes.
    pub snapshots: Vec<Vec<u8>>,
    /// Variables of which only the changes are kept here.
    pub changes_only: Vec<Vec<u8>>,
    pub saved: Option<Plain>,
}

impl Checkpoint {
    /// Returns what made it.
    pub(super) fn source(&self) -> Vec<u8> {
        self.metadata.get("source").map_or_else(Vec::new, Plain::as_text)
    }

    /// Tells whether a node may be one of those that made it, as older versions list them.
    pub(super) fn may_be_of(&self, node: &[u8]) -> bool {
        let Some(Plain::Object(members)) = self.metadata.get("writes") else { return true };
        members.iter().any(|(name, _)| name == node)
    }

    /// Returns the number of the superstep behind it.
    pub(super) fn step_after(&self) -> Plain {
        let step = self.metadata.get("step").map(Plain::json);
        let step = step.and_then(|step| std::str::from_utf8(&step).ok()?.parse::<i64>().ok());
        step.and_then(|step| step.checked_add(1))
            .map_or_else(Plain::null, |step| Plain::Raw(step.to_string().into_bytes()))
    }
}

/// Tells whether a channel is a variable.
pub(super) fn is_variable(name: &[u8]) -> bool {
    name == ROOT || !OWN.iter().any(|own| name.starts_with(own))
}

fn of(row: i64, told: Plain, metadata: Plain) -> Checkpoint {
    let mut snapshot = Checkpoint { row, metadata, saved: told.get("ts").cloned(), ..Checkpoint::default() };
    let Plain::Object(members) = told else { return snapshot };
    for (key, value) in members {
        match (key.as_slice(), value) {
            (b"channel_values", Plain::Object(values)) => {
                for (name, value) in values {
                    match name.as_slice() {
                        b"__start__" => snapshot.input = given(value),
                        b"__pregel_tasks" => snapshot.sent.extend(value.items().iter().cloned()),
                        // The channel of a node in older versions.
                        _ if value.text() == Some(&name) => {}
                        _ if is_variable(&name) && snapshot.values.len() < MAX_VARIABLES => {
                            snapshot.values.push((name, value))
                        }
                        _ => {}
                    }
                }
            }
            (b"versions_seen", Plain::Object(seen)) => {
                snapshot.seen = seen;
                snapshot.seen.truncate(MAX_VARIABLES);
            }
            // Tasks of older versions.
            (b"pending_sends", Plain::List(sent)) => snapshot.sent.extend(sent),
            _ => {}
        }
    }
    let counted = match snapshot.metadata.get("counters_since_delta_snapshot") {
        Some(Plain::Object(members)) => members.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    };
    let stored: HashSet<&[u8]> = snapshot.values.iter().map(|(name, _)| name.as_slice()).collect();
    let is_stored = |name: &Vec<u8>| stored.contains(name.as_slice());
    let counted: Vec<Vec<u8>> = counted;
    (snapshot.snapshots, snapshot.changes_only) = counted.into_iter().partition(is_stored);
    snapshot
}

/// Returns the variables that a graph was given.
fn given(value: Plain) -> Members {
    match value {
        Plain::Object(members) => members.into_iter().filter(|(name, _)| is_variable(name)).collect(),
        value if value.is_null() => Members::new(),
        value => vec![(b"input".to_vec(), value)],
    }
}
