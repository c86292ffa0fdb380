//! The table of records: order, filter, find and the rows on screen.

use crate::screens::screen_def::ScreenDef;
use crate::widgets::sign;

pub(crate) mod column;
pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod matches;
pub(crate) mod order;
pub(crate) mod preview;
pub(crate) mod search;
pub mod state;

/// The table; it fills the body.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::OUTCOMES, &sign::SEVERITIES, &sign::TABLE],
    draw: draw::draw,
    describe: draw::describe,
    explain: |app| draw::explain(&app.review, &app.store, &app.table),
    allowed: keys::allowed,
    act: |app, action, _| keys::act(app, action),
    go: |app, movement| keys::go(app.area(), &app.store, &mut app.table, movement),
    settle: Some(|app| keys::settle(app.area(), &app.store, &mut app.table)),
    click: keys::click,
    ..ScreenDef::BASE
};
