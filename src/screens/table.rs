//! The table of records: order, filter, find and the rows on screen.

use crate::screens::screen_def::ScreenDef;
use crate::widgets::sign;

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
    explain: draw::explain,
    allowed: keys::allowed,
    act: |app, action, _| keys::act(app, action),
    go: keys::go,
    settle: Some(keys::settle),
    click: keys::click,
    ..ScreenDef::BASE
};
