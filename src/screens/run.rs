//! The run screen: steps, global state and findings, with time travel and overrides.

use crate::screens::rerun;
use crate::screens::screen_def::ScreenDef;
use crate::widgets::sign::{self, Meaning};

pub(crate) mod draw;
pub(crate) mod edit;
pub(crate) mod edits;
pub(crate) mod find;
pub(crate) mod findings;
pub(crate) mod keys;
pub mod layout;
mod messages;
pub mod pane;
pub(crate) mod pane_def;
pub(crate) mod panes;
pub(crate) mod peers;
pub(crate) mod question;
pub mod state;
pub(crate) mod step;
pub(crate) mod steps;
pub(crate) mod timeline;
pub(crate) mod variables;

/// The run screen.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&variables::LEGEND, &sign::OUTCOMES, &sign::SEVERITIES, &[REASONS], &peers::LEGEND],
    draw: |app, _, buf, look| app.screens.record().into_iter().for_each(|view| draw::draw(view, buf, look)),
    describe: |app, look| app.screens.record().map_or_else(Vec::new, |view| draw::describe(view, look)),
    explain: |app| app.screens.record().map(|view| draw::explain(view, &app.keymap)),
    allowed: |app, action| keys::allowed(&app.screens, action),
    act: |app, action, times| keys::act(app, action, times).or_else(|| rerun::keys::act(app, action)),
    go: |app, movement| keys::go(&mut app.screens, movement),
    settle: Some(|app| keys::settle(app.area(), &mut app.screens, &app.looks, &app.keymap)),
    focus: |app, at| _ = keys::focus(&mut app.screens, at),
    click: |app, at, _| keys::click(&mut app.screens, &app.looks, &app.keymap, at),
    ..ScreenDef::BASE
};

const REASONS: Meaning = (sign::REASON, "reason for the place to fix, strongest first");
