//! Window of the dialogs: each gives its lines, and one widget places, draws and scrolls them all.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::state::App;
use crate::dialogs::dialog::Dialog;
use crate::dialogs::{contents, derivation, export, fixes, help, palette, popup, repair, rewards, views};
use crate::widgets::look::Look;
use crate::widgets::window::Window;

/// The window of the dialog in front of a drawn screen; `None`: there is none, or text is typed in it, which has a place
/// of its own.
pub(crate) fn window<'a>(app: &'a App, area: Rect, screen: &Buffer, look: Look<'a>) -> Option<Window<'a>> {
    Some(match app.screens.dialog.as_ref()?.own() {
        Dialog::Help => {
            let contexts = app.focus_below_dialog().contexts();
            help::window(help::legend(&app.review, &app.screens), contexts, area, screen, look)
        }
        Dialog::Palette(palette) => {
            let front = app.focus_below_dialog();
            let may = move |action| app.allowed_at(front, action).is_ok();
            palette::window((palette, app.palette_rows(palette)), front.contexts(), may, area, look)
        }
        Dialog::Popup(popup) => popup::window(popup, area, look),
        Dialog::Derivation(tree) => derivation::draw::window(tree, area, look),
        Dialog::Rewards => rewards::draw::window(app.screens.record()?.opened.rewards.as_ref()?, area, look),
        Dialog::Contents => contents::window(app.screens.record()?.document()?, area, look),
        Dialog::Views => views::window(&app.views, &app.table, area, look),
        Dialog::Export => export::window(&app.export, area, look),
        Dialog::Repair(repair) => repair::draw::window(repair, area, look),
        Dialog::Fixes(fixes) => fixes::window(fixes, area, look),
        Dialog::Prompt(_) | Dialog::Review(_) | Dialog::Editor(_) | Dialog::Drop(_) => return None,
    })
}
