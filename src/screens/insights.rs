//! Charts of all records: every bar and cell is a filter.

use crate::app::across::keys::leave_by;
use crate::screens::cell_records;
use crate::screens::screen_def::ScreenDef;
use crate::widgets::keymap::Action;
use crate::widgets::layout::with_third_pane;
use crate::widgets::sign::{self, Meaning};

pub(crate) mod draw;
pub(crate) mod keys;
pub mod state;

/// The charts.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&CHARTS, &CALIBRATION],
    draw: |app, body, buf, look| draw::draw(app, with_third_pane(body).0, buf, look),
    describe: |app, look| draw::describe(&app.side, &app.store, &app.kept, look),
    allowed: |app, action| Some(keys::allowed(&app.screens, &app.side, &app.store, &app.kept, action)),
    act: |app, action, _| match action {
        Action::Open => Some(cell_records::keys::open(app)),
        _ => keys::turn(&app.side, &app.store, &mut app.kept, action).or_else(|| leave_by(app, action)),
    },
    go: |app, movement| keys::go(app.area(), &mut app.kept, &app.side, &app.store, movement),
    click: |app, at, _| keys::click(app.area(), &app.side, &app.store, &mut app.kept, at),
    split: |_, body| with_third_pane(body),
    filter: |app| draw::filter(&app.side, &app.store, &app.kept),
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
