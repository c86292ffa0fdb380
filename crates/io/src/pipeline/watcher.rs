//! Folders that are watched for changes. Only the screen follows them: a build without one reads once.

use std::path::{Path, PathBuf};

#[cfg(feature = "screen")]
use notify::{EventKind, RecursiveMode, Watcher as _, event::AccessKind, event::AccessMode};

/// Paths that changed; `None`: any may have.
pub(super) type Changed = Option<Vec<PathBuf>>;

/// A watcher of folders.
pub(super) struct FolderWatcher {
    #[cfg(feature = "screen")]
    watcher: notify::RecommendedWatcher,
}

impl FolderWatcher {
    /// Begins to watch, if the system lets it.
    #[cfg(feature = "screen")]
    pub(super) fn new(tell: impl Fn(Changed) + Send + 'static) -> Option<Self> {
        let watcher = notify::recommended_watcher(move |event| {
            if let Some(changed) = heard(event) {
                tell(changed);
            }
        });
        watcher.ok().map(|watcher| Self { watcher })
    }

    /// Watches nothing.
    #[cfg(not(feature = "screen"))]
    pub(super) fn new(_: impl Fn(Changed) + Send + 'static) -> Option<Self> {
        None
    }

    /// Watches what lies in a folder, if it can.
    pub(super) fn watch(&mut self, folder: &Path) {
        #[cfg(feature = "screen")]
        drop(self.watcher.watch(folder, RecursiveMode::NonRecursive));
        #[cfg(not(feature = "screen"))]
        let _ = folder;
    }

    /// Leaves it as it is, without telling it.
    pub(super) fn abandon(self) {
        #[cfg(feature = "screen")]
        std::mem::forget(self.watcher);
    }
}

#[cfg(feature = "screen")]
fn heard(event: notify::Result<notify::Event>) -> Option<Changed> {
    let event = event.ok()?;
    if event.need_rescan() {
        return Some(None);
    }
    let only_read = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
    (!only_read && !event.paths.is_empty()).then_some(Some(event.paths))
}
