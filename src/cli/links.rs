//! Links from places in the output to their files, for terminals that open them (OSC 8).

use std::ffi::OsString;

use clap::ValueEnum;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::cli::out::Colour;
use crate::cli::out::Out;
use stepscope_io::source::input::Input;
use stepscope_io::system::host;

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
        is_wanted.then(|| Self::of(&host(), |name| std::env::var_os(name)))
    }

    /// Prepares links to the files of a machine, for the terminal that the environment tells of.
    fn of(machine: &[u8], variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let distribution = variable("WSL_DISTRO_NAME").filter(|_| variable("WT_SESSION").is_some());
        Self {
            host: match distribution {
                // Windows Terminal opens no link with the name of a machine, and sees the files of Linux as a share.
                Some(name) => format!("wsl.localhost/{}", encoded(name.as_encoded_bytes())),
                // A terminal on another machine has other files, which the name of this one tells it.
                None => encoded(machine),
            },
        }
    }

    /// Returns the address of the file that an input is read from, without a line; `None` for a store, which is many
    /// files.
    pub(super) fn file(&self, input: &Input) -> Option<String> {
        let path = input.path().filter(|_| !matches!(input, Input::Answers(_)))?;
        let path = std::path::absolute(path).ok()?;
        let name = path.as_os_str().as_encoded_bytes();
        if cfg!(windows) {
            // No machine is named there, a drive stands behind a slash of its own, and its colon is part of the address.
            let slashed: Vec<u8> = name.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect();
            return Some(format!("file:///{}", encoded(&slashed).replacen("%3A", ":", 1)));
        }
        Some(format!("file://{}{}", self.host, encoded(name)))
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
        let links = Links::of(b"my-host.local", |_| None);
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

    #[test]
    fn windows_terminal_finds_the_files_of_linux() {
        let file = |set: &[&str]| {
            let value = |name: &str| set.contains(&name).then(|| OsString::from("Ubuntu 24"));
            Links::of(b"pc", value).file(&Input::Named(PathBuf::from("/mnt/c/a.jsonl"))).unwrap()
        };
        assert_eq!(file(&["WT_SESSION", "WSL_DISTRO_NAME"]), "file://wsl.localhost/Ubuntu%2024/mnt/c/a.jsonl");
        assert_eq!(file(&["WSL_DISTRO_NAME"]), "file://pc/mnt/c/a.jsonl");
        assert_eq!(file(&["WT_SESSION"]), "file://pc/mnt/c/a.jsonl");
    }
}
