//! The actions that can be done now. Keys, footer and palette ask `App::allowed`: a key that is shown works, a key that
//! does not says why.

use crate::app::actions::def::{First, Needs};
use crate::app::actions::may::{are_wanted, has_findings};
use crate::app::present;
use crate::app::records::current;
use crate::app::review::may::InFront;
use crate::app::state::App;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Focus;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason, need};
use stepscope_record::RecordKind;

impl App {
    /// Checks that an action can be done now; `Err` holds the reason why not.
    pub fn allowed(&self, action: Action) -> Result<(), Reason> {
        self.allowed_at(self.focus(), action)
    }

    /// Checks that an action could be done if this were in front.
    pub(crate) fn allowed_at(&self, front: Focus, action: Action) -> Result<(), Reason> {
        present::keys::allowed(self.presenting.as_ref(), &self.review, front, action)?;
        match front {
            Focus::Dialog(kind) => action.def().may_in_dialog(self, kind),
            Focus::Decision => {
                need(action.def().decides || action.is_plain(), "cancel the final verdict first (<escape>)")
            }
            Focus::Screen(screen) | Focus::Labels(screen) => {
                may_act(&self.screens, screen, action)?;
                allowed_on(self, screen, action)
            }
        }
    }
}

/// Refuses what is done to the open record while it has no place in the list: its file was replaced.
fn may_act(screens: &Screens, screen: ScreenKind, action: Action) -> Result<(), Reason> {
    let acts = action.def().is_on_record() || action == Action::Keep && screen == ScreenKind::Run;
    let lost = screens.record().is_some_and(|view| screen.is_of_record() && view.lost.is_some());
    if !acts || !lost {
        return Ok(());
    }
    need(!screens.is_looked_for(), "its file was replaced: this record is looked for in it")?;
    Err("its file was replaced, and this record is not in it as it is shown; <back>, then open it again")
}

/// Checks that an action can be done on a screen: asks what its row names first, then the screen, then the row again.
fn allowed_on(app: &App, screen: ScreenKind, action: Action) -> Result<(), Reason> {
    let def = action.def();
    let shows_record = screen == ScreenKind::Table || screen.is_of_record();
    let said = match def.first {
        First::Own(may) => may(app, screen),
        First::Review(_) if shows_record && def.judges && app.review.draft.part.is_some() => {
            Some(Err("save the item first (<save_fail>), or leave it (<put_aside>)"))
        }
        First::Review(may) if shows_record => {
            let (row, view, order) = (app.record(), app.screens.record(), app.table.sort);
            Some(may(&app.review, InFront { screen, row, view, order }))
        }
        First::Nothing | First::Review(_) => None,
    };
    said.or_else(|| if def.forks && shows_record { may_fork(&app.screens).err().map(Err) } else { None })
        .or_else(|| (screen.def().allowed)(app, action))
        .unwrap_or_else(|| match def.needs {
            Needs::Nothing => Ok(()),
            Needs::Another(why) => Err(why),
            Needs::Record(may) => may(app.screens.record()),
            Needs::Finding if screen != ScreenKind::Table => has_findings(app.screens.record()),
            Needs::Wanted | Needs::Finding => {
                let record = current(&app.screens, &app.store, &app.table);
                are_wanted(&app.store, &app.table, &app.review, record, action)
            }
            Needs::Asks(may) => may(app, action),
        })
}

/// Checks that a fork can be made of the open record, as far as the record tells.
fn may_fork(screens: &Screens) -> Result<(), Reason> {
    let Some(view) = screens.record() else { return Ok(()) };
    // A fork is bound to the whole text of its parent.
    need(view.opened.hidden.is_empty(), "fields are hidden until your verdict; <reveal> reveals them")?;
    need(view.opened.kind != RecordKind::Chain, "a chain of thought has no procedure to run again")
}
