//! Charts of all records: every bar and cell is a filter.

use crate::app::across::keys::{allowed_on_numbers, leave, leaves};
use crate::screens::cell_records;
use crate::screens::insights::draw::lines;
use crate::screens::screen_def::ScreenDef;
use crate::widgets::keymap::{Action, need};
use crate::widgets::layout::{body_height, with_third_pane};
use crate::widgets::sign::{self, Meaning};

pub(crate) mod draw;
pub(crate) mod keys;
pub mod state;

/// The charts.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&CHARTS, &CALIBRATION],
    draw: |app, body, buf, look| draw::draw(app, with_third_pane(body).0, buf, look),
    describe: |app, look| draw::describe(&app.side, &app.store, app.kept.insights, look),
    allowed: |app, action| {
        let has_records = || need(draw::filter(&app.side, &app.store, app.kept.insights).is_some(), "No records");
        Some(allowed_on_numbers(&app.screens, action, has_records))
    },
    act: |app, action, _| match action {
        Action::Open => Some(cell_records::keys::open(app)),
        _ => keys::turn(&lines(&app.side, &app.store), &mut app.kept.insights, action)
            .or_else(|| leaves(action).then(|| leave(app))),
    },
    go: |app, movement| {
        let height = body_height(app.area());
        app.kept.insights.go(movement, &lines(&app.side, &app.store), height);
    },
    click: |app, at, _| keys::click(app.area(), &lines(&app.side, &app.store), &mut app.kept.insights, at),
    split: |_, body| with_third_pane(body),
    filter: |app| draw::filter(&app.side, &app.store, app.kept.insights),
    ..ScreenDef::BASE
};

const CHARTS: [Meaning; 4] = [
    ("█", "bar: as long as its share, or its time"),
    sign::SHADES,
    ("●", "accuracy of the records in a bin"),
    ("┼", "their mean confidence"),
];

const CALIBRATION: [Meaning; 2] = [
    ("ECE", "expected calibration error: mean distance of confidence from accuracy; 0 is best"),
    ("Brier", "Brier score: mean square of the distance of confidence from the outcome, 0 or 1; 0 is best"),
];
