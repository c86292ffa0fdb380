//! Fixes of a procedure: looked for, offered, and previewed as a fork.

use crate::app::across::{Across, RecordHandle};
use crate::app::msg::{Effect, Effects};
use crate::app::records::files_of_open;
use crate::app::state::App;
use crate::app::status_line::Status;
use crate::dialogs::dialog::Dialog;
use crate::dialogs::repair;
use crate::screens::side_by_side::keys::{make, open_handle};
use crate::screens::side_by_side::making::{Fixes, Make};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Looks for what can be repaired of a record without a model.
pub(crate) fn look_for_fixes(across: &mut Across, handle: Option<RecordHandle>) -> Effects {
    let Some(handle) = handle else { return Vec::new() };
    across.partner_of = Some(handle.record);
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
            let files = files_of_open(&app.screens, &app.store);
            repair::refresh_repair_line(&mut app.screens, &app.models, &app.keymap, files);
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
        let started = repair::start(&mut app.screens, &mut app.models, &app.keymap);
        return started.unwrap_or_else(|why| app.status.say(why));
    }
    let Some(Dialog::Fixes(mut fixes)) = app.screens.dialog.take() else { return Vec::new() };
    let fix = fixes.list.swap_remove(app.screens.scroll.at);
    let done = shown!("{}: errors {} → {}", fix.title, fix.before, fix.after);
    let handle = open_handle(&app.screens, &app.store, &app.forks.tree);
    make(&mut app.across, handle, Make::Repair { done, procedure: fix.procedure })
}
