//! A command that reads its standard input, run to its end.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Runs a command with this input. A command that refuses its arguments may not wait for its input.
pub(crate) fn fed(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap()
}
