//! Two records side by side: baseline or parent, or a fork that is not saved yet.

use crate::app::across::keys::{leave, leaves};
use crate::screens::screen_def::ScreenDef;
use crate::widgets::sign;

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod making;
pub(crate) mod state;

/// Two records side by side.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::DIFFERENCES, &sign::OUTCOMES, &sign::SEVERITIES],
    draw: |app, body, buf, look| draw::draw(&app.screens, body, buf, look),
    describe: |app, look| draw::describe(&app.screens, look),
    allowed: |app, action| Some(keys::allowed(app, action)),
    act: |app, action, times| keys::act(app, action, times).or_else(|| leaves(action).then(|| leave(app))),
    go: |app, movement| keys::go(app.area(), &mut app.screens, movement),
    ..ScreenDef::BASE
};
