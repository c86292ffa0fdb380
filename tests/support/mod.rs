//! What several test files need.

pub(crate) mod calls;
pub(crate) mod checked;
pub(crate) mod drive;
pub(crate) mod fed;
#[allow(dead_code, reason = "tests/pty has some of it alone")]
pub(crate) mod hostile;
pub(crate) mod markup;
pub(crate) mod nasty;
pub(crate) mod oracle;
pub(crate) mod server;
