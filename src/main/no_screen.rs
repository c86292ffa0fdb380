//! The program without its screen: the commands, and a sentence in place of the rest.

use std::path::Path;

use stepscope::cli::{DemoArgs, KeyRow, NO_SCREEN, Out, ScreenArgs};
use stepscope_base::text::Shown;
use stepscope_io::config::Config;
use stepscope_io::failure::Failure;
use stepscope_report::page::PagePicture;

fn none<T>() -> Result<T, Shown> {
    Err(Shown::own(NO_SCREEN))
}

/// Says that there is no screen.
pub(super) fn open(_: &ScreenArgs, _: &mut Out) -> Result<u8, Shown> {
    none()
}

/// Says that there is no screen to be shown.
pub(super) fn show(_: DemoArgs, _: &mut Out) -> Result<u8, Shown> {
    none()
}

/// Says that there is no screen to make a picture of.
pub(super) fn picture(_: &PagePicture<'_>) -> Result<Vec<u8>, Shown> {
    none()
}

/// Lists no keys.
pub(super) const fn keys() -> Vec<KeyRow> {
    Vec::new()
}

/// Lists no themes.
pub(super) const fn themes() -> Vec<&'static str> {
    Vec::new()
}

/// Says that nothing is copied.
pub(super) const fn clipboard() -> &'static str {
    "not used: this build has no screen"
}

/// Finds no fault: the settings of a screen mean nothing here.
pub(super) const fn check_settings(_: &Config, _: Option<&Path>) -> Result<Vec<Shown>, Failure> {
    Ok(Vec::new())
}

/// Gives back no terminal: none was taken.
pub(super) const fn give_back() {}
