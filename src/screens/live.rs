//! A run that is being made, step by step: from a question or from a recorded procedure. It waits before each step, where
//! the prompt can be edited and a value overridden.

use crate::screens::screen_def::ScreenDef;
use crate::screens::wish;
use crate::widgets::sign;

pub(crate) mod begin;
pub(crate) mod breakpoint;
pub(crate) mod draw;
pub(crate) mod keys;
pub mod state;
pub(crate) mod work;

/// The screen of a run that is being made.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::SEVERITIES, &sign::OUTCOMES, &sign::VALIDITY],
    draw: |app, _, buf, look| draw::draw(&app.screens, &app.models, buf, look),
    describe: |app, look| draw::describe(&app.screens, &app.models, look),
    allowed: |app, action| keys::allowed(&app.screens, &app.models, action),
    act: |app, action, _| {
        let asked = (action, app.count);
        let wish = keys::act(&mut app.screens, &mut app.models, asked, app.presenting.is_some())?;
        Some(wish::fulfil(app, wish))
    },
    go: |app, movement| keys::go(&app.looks, &mut app.screens, movement),
    settle: Some(|app| keys::settle(app.area(), &app.looks, &app.keymap, &mut app.screens, &app.models)),
    focus: |app, at| keys::focus(&mut app.screens, at),
    click: |app, at, _| {
        keys::focus(&mut app.screens, at);
        None
    },
    ..ScreenDef::BASE
};
