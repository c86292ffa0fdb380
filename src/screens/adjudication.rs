//! Adjudication: the items on which reviewers disagree.

use crate::app::across::keys::{leave, leaves};
use crate::screens::screen_def::ScreenDef;
use crate::widgets::sign;

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod labels;
pub(crate) mod state;

/// The adjudication.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::OUTCOMES, &[sign::AGREEMENT]],
    draw: |app, _, buf, look| draw::draw(app, buf, look),
    describe: |app, look| draw::describe(&app.across, &app.kept.adjudication, look),
    allowed: |app, action| Some(keys::allowed(&app.across, &app.kept.adjudication, &app.review, &app.screens, action)),
    act: |app, action, _| keys::act(app, action).or_else(|| leaves(action).then(|| leave(app))),
    go: keys::go,
    click: |app, at, _| keys::click(app, at),
    ..ScreenDef::BASE
};
