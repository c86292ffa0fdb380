//! Fixes of a procedure: looked for, offered, and previewed as a fork.

use crate::app::msg::{Effect, Effects};
use crate::app::state::App;
use crate::app::status_line::Status;
use crate::dialogs::dialog::Dialog;
use crate::dialogs::repair;
use crate::screens::side_by_side::keys::open_handle;
use crate::screens::side_by_side::making::{Fixes, Make};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Looks for what can be repaired without a model.
pub(crate) fn look_for_fixes(app: &mut App) -> Effects {
    let Some(handle) = open_handle(app) else { return Vec::new() };
    app.across.partner_of = Some(handle.record);
    vec![Effect::FindFixes(Box::new(handle))]
}

/// Offers the fixes that were found.
pub(crate) fn take_fixes(app: &mut App, record: usize, found: Result<Box<Fixes>, Shown>) -> Effects {
    if app.across.partner_of.take_if(|wanted| *wanted == record).is_none() {
        return Vec::new();
    }
    match found {
        Ok(fixes) => {
            app.screens.open_dialog(Dialog::Fixes(fixes));
            repair::refresh_repair_line(app);
            Vec::new()
        }
        Err(why) => {
            app.status.now = Some(Status { text: why, failed: false, refused: true });
            Vec::new()
        }
    }
}

/// Shows what the fix under the cursor changes.
pub(crate) fn open_fix(app: &mut App) -> Effects {
    if matches!(&app.screens.dialog, Some(Dialog::Fixes(fixes)) if app.screens.scroll.at >= fixes.list.len()) {
        return repair::start(app);
    }
    let Some(Dialog::Fixes(mut fixes)) = app.screens.dialog.take() else { return Vec::new() };
    let fix = fixes.list.swap_remove(app.screens.scroll.at);
    let done = shown!("{}: errors {} → {}", fix.title, fix.before, fix.after);
    app.make(Make::Repair { done, procedure: fix.procedure })
}
