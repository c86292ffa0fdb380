//! The way from the name of a screen to what it is.

use crate::screens::kind::{ScreenKind, screen_rows};
use crate::screens::screen_def::ScreenDef;

macro_rules! definitions {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $subject:ident, $folder:ident;)+) => {
        impl ScreenKind {
            /// Returns its definition.
            pub(crate) const fn def(self) -> &'static ScreenDef {
                match self { $(Self::$name => &crate::screens::$folder::SCREEN),+ }
            }
        }
    };
}
screen_rows!(definitions);
