//! The comparison with a baseline: every cell is a filter.

use crate::app::across::keys::{leave, leaves};
use crate::screens::screen_def::ScreenDef;
use crate::widgets::keymap::Action;
use crate::widgets::sign::{self, Meaning};

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod state;

/// The comparison.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::OUTCOMES, &CELLS, &TESTS],
    draw: |app, _, buf, look| draw::draw(app.area(), &app.across, app.kept.compare, buf, look),
    describe: |app, look| draw::describe(&app.across, app.kept.compare, look),
    allowed: |app, action| Some(keys::allowed(&app.across, app.kept.compare, &app.screens, action)),
    act: |app, action, _| match action {
        Action::Open => Some(keys::open_cell(app)),
        _ => keys::turn(&app.across, &mut app.kept.compare, action).or_else(|| leaves(action).then(|| leave(app))),
    },
    go: |app, movement| keys::go(app.area(), &app.across, &mut app.kept.compare, movement),
    click: |app, at, _| keys::click(app.area(), &app.across, &mut app.kept.compare, at),
    split: |app, body| draw::places(app.area(), &app.across, body),
    filter: |app| draw::filter(&app.across, app.kept.compare).ok(),
    ..ScreenDef::BASE
};

const CELLS: [Meaning; 4] = [
    sign::SHADES,
    ("◧", "only A correct"),
    ("◨", "only B correct"),
    ("⚑", "disputed: counted apart, because the expected answer is in doubt"),
];

const TESTS: [Meaning; 2] = [
    ("McNemar's", "exact test: how likely chance alone splits the discordant pairs so unevenly"),
    ("discordant", "pairs that only one of the two has right"),
];
