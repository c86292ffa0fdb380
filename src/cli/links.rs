//! Links from places in the output to their files, for terminals that open them (OSC 8).

use clap::ValueEnum;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rustix::system::uname;

use super::{Colour, Out};
use stepscope_io::source::input::Input;

/// Characters that are percent-encoded in an address: nearly all, so that no name of a file or a machine ends a link.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// When to print links.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LinkWhen {
    /// With colours, on a terminal known to open them, or where `FORCE_HYPERLINK` is set to 1
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Builder of the addresses of files.
pub(super) struct Links {
    host: String,
}

impl Links {
    /// Prepares links; `None`: they are not wanted, or could not be followed.
    pub(super) fn wanted(when: LinkWhen, colour: Colour, out: &Out) -> Option<Self> {
        let is_wanted = match when {
            LinkWhen::Always => true,
            LinkWhen::Never => false,
            LinkWhen::Auto => out.is_terminal() && out.colours(colour) && supports_hyperlinks::supports_hyperlinks(),
        };
        // A terminal on another machine has other files, which the name of this one tells it.
        is_wanted.then(|| Self { host: encoded(uname().nodename().to_bytes()) })
    }

    /// Returns the address of the file that an input is read from, without a line; `None` for a store, which is many
    /// files.
    pub(super) fn file(&self, input: &Input) -> Option<String> {
        let path = input.path().filter(|_| !matches!(input, Input::Answers(_)))?;
        let path = std::path::absolute(path).ok()?;
        Some(format!("file://{}{}", self.host, encoded(path.as_os_str().as_encoded_bytes())))
    }
}

fn encoded(name: &[u8]) -> String {
    percent_encode(name, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn no_name_of_a_file_ends_its_link() {
        let links = Links { host: encoded(b"my-host.local") };
        let file = |name: &[u8]| links.file(&Input::Named(PathBuf::from(OsStr::from_bytes(name)))).unwrap();
        assert_eq!(file(b"/a/b_c-1.jsonl"), "file://my-host.local/a/b_c-1.jsonl");
        assert_eq!(
            file("/a b#2?%\u{1b}\\\u{1b}]0;x\u{7}\n\u{9c}é".as_bytes()),
            "file://my-host.local/a%20b%232%3F%25%1B%5C%1B%5D0%3Bx%07%0A%C2%9C%C3%A9"
        );
        assert_eq!(file(b"/\xff\xfe"), "file://my-host.local/%FF%FE");
        assert!(file(b"a.jsonl").ends_with("/a.jsonl") && !file(b"a.jsonl").contains("local/a"), "an absolute path");
        assert_eq!(links.file(&Input::Standard), None);
    }
}
