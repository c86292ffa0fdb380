//! The raw JSON of a record, with its findings.

use crate::screens::screen_def::ScreenDef;
use crate::widgets::list::Move;
use crate::widgets::sign;

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod state;

/// The JSON; it fills the body.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::SEVERITIES],
    draw: |app, body, buf, look| app.screens.record().into_iter().for_each(|view| draw::draw(view, body, buf, look)),
    describe: |app, look| app.screens.record().map_or_else(Vec::new, |view| draw::describe(view, look)),
    explain: |app| app.screens.record().map(draw::explain),
    allowed: |_, action| keys::allowed(action),
    act: |app, action, _| keys::act(&mut app.screens, &mut app.status, action),
    go: |app, movement| keys::go(app.area(), &mut app.screens, movement),
    settle: Some(|app| keys::go(app.area(), &mut app.screens, Move::By(0))),
    click: |app, at, body| keys::click(&mut app.screens, at, body),
    ..ScreenDef::BASE
};
