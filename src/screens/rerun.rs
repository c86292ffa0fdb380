//! The re-run screen: preview, call, replies and the fork.

use crate::app::records::files_of_open;
use crate::screens::screen_def::ScreenDef;
use crate::widgets::look::Look;
use crate::widgets::sign;

pub(crate) mod answer;
pub(crate) mod choosing;
pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod outcome;
pub mod state;
pub(crate) mod transition;

/// The re-run screen.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::VALIDITY, &sign::OUTCOMES, &sign::DIFFERENCES],
    draw: |app, _, buf, look| {
        draw::draw(&app.screens, (&app.models, &files_of_open(&app.screens, &app.store)), buf, look)
    },
    describe: draw::describe,
    allowed: |app, action| keys::allowed(&app.screens, &app.models, action, || app.fork_tree().len() > 1),
    act: |app, action, _| keys::act(app, action),
    go: |app, movement| keys::go(&app.looks, &mut app.screens, movement),
    settle: Some(|app| {
        let (area, files) = (app.area(), files_of_open(&app.screens, &app.store));
        let look = Look::new(&app.looks.theme, &app.keymap, false);
        keys::settle(area, &mut app.screens, (&app.models, &files), look);
    }),
    focus: |app, at| keys::focus(&mut app.screens, at),
    click: |app, at, _| {
        keys::focus(&mut app.screens, at);
        None
    },
    ..ScreenDef::BASE
};
