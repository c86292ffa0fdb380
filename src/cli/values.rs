//! Values of options that several commands read, and how large what they name may be.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use stepscope_base::text::Shown;

/// Maximum size of a question, in bytes: longer ones are not written by hand.
pub(super) const MAX_QUESTION: u64 = 4 << 20;
/// Maximum size of a schema file, in bytes: a larger file is no schema that anyone wrote.
pub(super) const MAX_SCHEMA: u64 = 16 << 20;

/// Reads the name of a folder that is there: without its settings the usual ones would be used in silence.
pub(super) fn existing_folder() -> impl TypedValueParser<Value = PathBuf> {
    let look = |path: PathBuf| if path.is_dir() { Ok(path) } else { Err("no such folder") };
    PathBufValueParser::new().try_map(look)
}

/// Names a file that is sent: standard input by its words.
pub(super) fn source_name(path: &Path) -> Shown {
    if path.as_os_str() == "-" { Shown::own("standard input") } else { Shown::path(path) }
}
