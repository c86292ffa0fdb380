//! The review dashboard: every number is a filter.

use crate::app::across::keys::leave_by;
use crate::screens::screen_def::ScreenDef;
use crate::widgets::layout::with_third_pane;
use crate::widgets::sign;

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod state;

/// The dashboard.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&[sign::AGREEMENT]],
    draw: |app, body, buf, look| draw::draw(app, with_third_pane(body).0, buf, look),
    describe: draw::describe,
    allowed: |app, action| Some(keys::allowed(app, action)),
    act: |app, action, _| keys::act(app, action).or_else(|| leave_by(app, action)),
    go: keys::go,
    click: |app, at, _| keys::click(app, at),
    split: |_, body| with_third_pane(body),
    filter: draw::filter,
    ..ScreenDef::BASE
};
