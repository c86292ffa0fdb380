//! The exit codes of all commands.

/// Exit code of success: nothing to complain about.
pub const CLEAN: u8 = 0;
/// Exit code for findings at or above the severity that was asked for.
pub const FOUND: u8 = 1;
/// Exit code if something could not be read, written or understood.
pub const FAILED: u8 = 2;
/// Exit code if the model's server failed, or a run ended as upstream's would.
pub(crate) const UNANSWERED: u8 = 3;
