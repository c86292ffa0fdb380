//! Place in the open record that the cursor is on.

use crate::screens::json::draw::pointer_of;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use stepscope_base::json::Pointer;

/// Returns the place in the open record that the cursor is on; without one, its root.
pub(crate) fn pointer(screens: &Screens) -> Pointer {
    let Some(view) = screens.record() else { return Pointer::default() };
    match (screens.top(), view.opened.root(), view.outline.current()) {
        (ScreenKind::Json, Some(root), Some(row)) => pointer_of(root, row.node),
        _ => view.pointer(),
    }
}
