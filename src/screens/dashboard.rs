//! The review dashboard: every number is a filter.

use crate::app::across::keys::{leave, leaves};
use crate::screens::cell_records;
use crate::screens::screen_def::ScreenDef;
use crate::widgets::keymap::Action;
use crate::widgets::layout::with_third_pane;
use crate::widgets::sign;

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod state;

/// The dashboard.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&[sign::AGREEMENT]],
    draw: |app, body, buf, look| draw::draw(&app.across, app.kept.dashboard, with_third_pane(body).0, buf, look),
    describe: |app, look| draw::describe(&app.across, app.kept.dashboard, look),
    allowed: |app, action| Some(keys::allowed(&app.across, app.kept.dashboard, &app.screens, action)),
    act: |app, action, _| match action {
        Action::Open => Some(cell_records::keys::open(app)),
        _ => keys::turn(&app.across, &mut app.kept.dashboard, action).or_else(|| leaves(action).then(|| leave(app))),
    },
    go: |app, movement| keys::go(app.area(), &app.across, &mut app.kept.dashboard, movement),
    click: |app, at, _| keys::click(app.area(), &app.across, &mut app.kept.dashboard, at),
    split: |_, body| with_third_pane(body),
    filter: |app| draw::filter(&app.across, app.kept.dashboard),
    ..ScreenDef::BASE
};
